/* Implements proxy.h. */
#define _POSIX_C_SOURCE 200809L

#include "proxy.h"

#include "failure.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the proxy and its credentials -------------------------------------------------------------------------------- */

static netlib_status parse(const char *text, netlib_url **url, netlib_error **err) {
    netlib_error *cause = NULL;
    netlib_status status = netlib_parse_url_strict(text, NETLIB_NTS, url, &cause);
    if (status != NETLIB_OK) {
        /* Reports an invalid argument of --proxy rather than an invalid URL to fetch. */
        status = fail_because(NETLIB_INVALID_ARGUMENT, cause, err, "--proxy: %s", netlib_error_message(cause, NULL));
    } else if (strcmp(netlib_url_request_uri(*url, NULL), "/") != 0) {
        status = fail(NETLIB_INVALID_ARGUMENT, err, "--proxy: the URL of a proxy must have no path");
    }
    netlib_error_free(cause);
    return status;
}

/* Stores `user:password` of the URL, percent-decoded, in `credentials`; NULL if the URL has no user. */
static netlib_status credentials_of(const netlib_url *url, char **credentials, netlib_error **err) {
    const char *user = NULL, *password = NULL;
    netlib_status status = netlib_url_username(url, &user, NULL, err);
    if (status == NETLIB_OK) status = netlib_url_password(url, &password, NULL, err);
    if (status != NETLIB_OK || user == NULL) return status;
    if (strchr(user, ':') != NULL) {
        return fail(NETLIB_INVALID_ARGUMENT, err, "--proxy: a user name must not contain a colon");
    }
    if (password == NULL) password = "";
    size_t size = strlen(user) + strlen(password) + sizeof ":";
    *credentials = malloc(size);
    if (*credentials == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the proxy's password");
    snprintf(*credentials, size, "%s:%s", user, password);
    return NETLIB_OK;
}

netlib_status proxy_init(struct proxy *proxy, const char *text, netlib_error **err) {
    *proxy = (struct proxy){.url = NULL};
    if (text == NULL) return NETLIB_OK;
    char *credentials = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    netlib_status status = parse(text, &proxy->url, err);
    if (status == NETLIB_OK) status = credentials_of(proxy->url, &credentials, err);
    netlib_headers_options_set_proxy_basic_auth(options, credentials);
    if (status == NETLIB_OK) status = netlib_make_headers(options, &proxy->headers, err);
    netlib_headers_options_free(options);
    free(credentials);
    return status;
}

void proxy_free(struct proxy *proxy) {
    netlib_headers_free(proxy->headers);
    netlib_url_free(proxy->url);
}

/* --- the tunnel --------------------------------------------------------------------------------------------------- */

static netlib_status send_connect(const struct proxy *proxy, struct http *http, const netlib_url *url,
                                  netlib_error **err) {
    const char *host = netlib_url_host(url, NULL);
    int port = (int)netlib_url_port_or_default(url);
    char *head = NULL;
    size_t head_len = 0;
    FILE *out = open_memstream(&head, &head_len);
    if (out == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the request");
    fprintf(out, "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n", host, port, host, port);
    fprintf(out, "%s\r\n", netlib_headers_to_wire(proxy->headers, NULL));
    bool failed = ferror(out) != 0;
    netlib_status status = NETLIB_OK;
    if (fclose(out) != 0 || failed) status = fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the request");
    if (status == NETLIB_OK) status = connection_send(&http->connection, head, head_len, err);
    free(head);
    return status;
}

/* Creates the error for a proxy that answered with a status other than 2xx. After a 5xx status the request is retried,
 * because the proxy may reach the server later; after other statuses it is not. */
static netlib_status refused(const struct proxy *proxy, const netlib_response *answer, netlib_error **err) {
    int code = (int)netlib_response_status(answer);
    const char *reason = netlib_response_reason(answer, NULL);
    bool may_change = code >= 500;
    netlib_status status = fail_counted_as(may_change ? NETLIB_RETRY_KIND_CONNECT : NETLIB_RETRY_KIND_OTHER,
                                           may_change ? NETLIB_CONNECT_FAILED : NETLIB_RESPONSE_STATUS, NULL, err,
                                           "it answered %d %s%s", code, reason != NULL ? reason : "",
                                           code == 407 ? ": add a user and a password to --proxy" : "");
    return proxy_failed(proxy, status, err);
}

/* Checks the proxy's answer to CONNECT. A 2xx status opens the tunnel; a body that the headers announce is ignored. In
 * TLS the client sends first, so bytes after the head come not from the server but from the proxy or an attacker, and
 * are refused. */
static netlib_status check_answer(const struct proxy *proxy, const struct http *http, const netlib_response *answer,
                                  netlib_error **err) {
    int code = (int)netlib_response_status(answer);
    if (code < 200 || code > 299) return refused(proxy, answer, err);
    if (http->start == http->end) return NETLIB_OK;
    netlib_status status = fail(NETLIB_PROTOCOL, err, "it sent %zu bytes through the tunnel before the client sent any",
                                http->end - http->start);
    return proxy_failed(proxy, status, err);
}

netlib_status proxy_open_tunnel(const struct proxy *proxy, struct http *http, const netlib_url *url,
                                netlib_error **err) {
    netlib_response *answer = NULL;
    netlib_status status = send_connect(proxy, http, url, err);
    if (status == NETLIB_OK) status = http_read_head(http, "CONNECT", &answer, err);
    status = status == NETLIB_OK ? check_answer(proxy, http, answer, err) : proxy_failed(proxy, status, err);
    netlib_response_free(answer);
    return status;
}

/* Turns a read error into a connect error. After a read error the retry policy assumes that the server may have acted
 * on the request, but only CONNECT has been sent, and only to the proxy. */
static netlib_error *as_connect_error(netlib_error *error) {
    if (netlib_error_retry_kind(error) != NETLIB_RETRY_KIND_READ) return error;
    netlib_error *connect_error = NULL;
    fail_counted_as(NETLIB_RETRY_KIND_CONNECT, NETLIB_CONNECT_FAILED, error, &connect_error,
                    "the request did not reach the server");
    netlib_error_free(error);
    return connect_error;
}

netlib_status proxy_failed(const struct proxy *proxy, netlib_status status, netlib_error **err) {
    if (netlib_error_retry_kind(*err) == NETLIB_RETRY_KIND_NEVER) return status;
    netlib_error *what = *err, *cause = as_connect_error(netlib_error_clone(what));
    *err = NULL;
    status = fail_because(NETLIB_PROXY_FAILED, cause, err, "cannot use the proxy %s: %s",
                          netlib_url_netloc(proxy->url, NULL), netlib_error_message(what, NULL));
    netlib_error_free(cause);
    netlib_error_free(what);
    return status;
}
