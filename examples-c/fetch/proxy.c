/* Implements proxy.h. */
#include "proxy.h"

#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the proxy and its credentials -------------------------------------------------------------------------------- */

static netlib_status parse(const char *text, netlib_url **url, netlib_error **err) {
    netlib_error *cause = NULL;
    netlib_status status = netlib_parse_url_strict(text, NETLIB_NTS, url, &cause);
    if (status != NETLIB_OK) {
        /* Reports an invalid argument of --proxy rather than an invalid URL to fetch. */
        status = fail(NETLIB_INVALID_ARGUMENT, err, "--proxy: %s", netlib_error_message(cause, NULL));
    } else if (strcmp(netlib_url_request_uri(*url, NULL), "/") != 0) {
        status = fail(NETLIB_INVALID_ARGUMENT, err, "--proxy: the URL of a proxy must have no path");
    }
    netlib_error_free(cause);
    return status;
}

/* Stores `user:password` of the URL, percent-decoded; nothing if the URL has no user. */
static netlib_status set_credentials(struct proxy *proxy, netlib_error **err) {
    const char *user = NULL, *password = NULL;
    netlib_status status = netlib_url_username(proxy->url, &user, NULL, err);
    if (status == NETLIB_OK) status = netlib_url_password(proxy->url, &password, NULL, err);
    if (status != NETLIB_OK || user == NULL) return status;
    if (strchr(user, ':') != NULL) {
        return fail(NETLIB_INVALID_ARGUMENT, err, "--proxy: a user name must not contain a colon");
    }
    if (password == NULL) password = "";
    size_t size = strlen(user) + strlen(password) + sizeof ":";
    proxy->credentials = malloc(size);
    if (proxy->credentials == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the proxy's password");
    snprintf(proxy->credentials, size, "%s:%s", user, password);
    return NETLIB_OK;
}

netlib_status proxy_init(struct proxy *proxy, const char *text, netlib_error **err) {
    *proxy = (struct proxy){.url = NULL};
    if (text == NULL) return NETLIB_OK;
    netlib_status status = parse(text, &proxy->url, err);
    return status == NETLIB_OK ? set_credentials(proxy, err) : status;
}

void proxy_free(struct proxy *proxy) {
    free(proxy->credentials);
    netlib_url_free(proxy->url);
}

netlib_status proxy_add_credentials(const struct proxy *proxy, const netlib_headers *headers, netlib_headers **out,
                                    netlib_error **err) {
    netlib_headers_options *options =
        headers != NULL ? netlib_headers_to_options(headers) : netlib_headers_options_new();
    netlib_headers_options_set_proxy_basic_auth(options, proxy->credentials);
    netlib_status status = netlib_make_headers(options, out, err);
    netlib_headers_options_free(options);
    return status;
}

/* --- the tunnel --------------------------------------------------------------------------------------------------- */

static netlib_status send_connect(const struct proxy *proxy, netlib_stream *stream, const netlib_url *url,
                                  netlib_error **err) {
    netlib_headers *headers = NULL;
    netlib_request *request = NULL;
    size_t len = 0, n = 0;
    netlib_status status = proxy_add_credentials(proxy, NULL, &headers, err);
    if (status == NETLIB_OK) {
        status = netlib_request_new("CONNECT", url, headers, NETLIB_REQUEST_FORM_AUTHORITY, &request, err);
    }
    const char *head = netlib_request_to_wire(request, &len);
    if (status == NETLIB_OK) status = netlib_stream_write(stream, head, len, &n, err);
    netlib_request_free(request);
    netlib_headers_free(headers);
    return status;
}

/* In TLS the client sends first. Bytes that arrive before the client has sent any come from the proxy or an attacker,
 * and not from the server, so they are refused. */
netlib_status proxy_open_tunnel(const struct proxy *proxy, netlib_stream *stream, const netlib_url *url,
                                netlib_error **err) {
    netlib_response *answer = NULL;
    netlib_status status = send_connect(proxy, stream, url, err);
    if (status == NETLIB_OK) status = netlib_stream_read_response(stream, "CONNECT", &answer, err);
    if (status == NETLIB_OK) status = netlib_response_check_tunnel(answer, err);
    netlib_response_free(answer);
    size_t early = netlib_stream_pending(stream);
    if (status != NETLIB_OK || early == 0) return status;
    return fail(NETLIB_PROTOCOL, err, "it sent %zu bytes through the tunnel before the client sent any", early);
}

/* A read error of the connection to the proxy is counted as a connect error: after a read error the retry policy
 * assumes that the server may have acted on the request, but only CONNECT has been sent, and only to the proxy. */
netlib_status proxy_failed(const struct proxy *proxy, netlib_status status, netlib_error **err) {
    netlib_error *cause = *err;
    enum netlib_retry_kind kind = netlib_error_retry_kind(cause);
    if (kind == NETLIB_RETRY_KIND_NEVER) return status;
    if (kind == NETLIB_RETRY_KIND_READ) kind = NETLIB_RETRY_KIND_CONNECT;
    status = fail_counted_as(kind, NETLIB_PROXY_FAILED, cause, err, "cannot use the proxy %s: %s",
                             netlib_url_netloc(proxy->url, NULL), netlib_error_message(cause, NULL));
    netlib_error_free(cause);
    return status;
}
