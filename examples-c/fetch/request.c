/* Implements request.h. */
#define _POSIX_C_SOURCE 200809L

#include "request.h"

#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Creates a retry policy with the recommended settings and the number of retries from the command line. */
static netlib_status make_retry(int32_t retries, netlib_retry **retry, netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    netlib_retry_options_set_total(options, retries);
    netlib_retry_options_set_raise_on_status(options, 0); /* the last response is delivered with any status */
    netlib_status status = netlib_retry_new(options, retry, err);
    netlib_retry_options_free(options);
    return status;
}

static netlib_status make_url(const char *text, netlib_url **url, netlib_error **err) {
    netlib_status status = netlib_parse_url(text, NETLIB_NTS, url, err);
    if (status != NETLIB_OK) return status;
    const char *scheme = netlib_url_scheme(*url, NULL);
    bool is_http = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (!is_http || netlib_url_host(*url, NULL) == NULL) {
        return fail(NETLIB_INVALID_URL, err, "an http:// or https:// URL with a host is required");
    }
    if (netlib_url_auth(*url, NULL) != NULL) {
        return fail(NETLIB_INVALID_URL, err, "user names in URLs are not supported: use --user");
    }
    return NETLIB_OK;
}

static netlib_status make_headers(const struct options *options, netlib_headers **headers, netlib_error **err) {
    if (!options->has_user_agent) netlib_headers_options_set_user_agent(options->headers, "fetch/" NETLIB_VERSION);
    if (options->data != NULL && !options->has_content_type) {
        netlib_headers_options_add_header(options->headers, "content-type", "application/x-www-form-urlencoded");
    }
    return netlib_make_headers(options->headers, headers, err);
}

/* Creates the request's body, and stores the body's start position, so that each attempt can rewind the body. */
static netlib_status make_body(struct request *request, const char *data, netlib_error **err) {
    netlib_status status;
    if (data[0] == '@') {
        request->body_fd = open(data + 1, O_RDONLY | O_CLOEXEC);
        if (request->body_fd < 0) return fail(NETLIB_IO, err, "cannot open %s: %s", data + 1, strerror(errno));
        status = netlib_body_from_fd(request->body_fd, &request->body, err);
    } else {
        status = netlib_body_from_memory(data, strlen(data), &request->body, err);
    }
    if (status != NETLIB_OK) return status;
    return netlib_set_file_position(request->body, NETLIB_POSITION_NONE, &request->body_start, err);
}

static netlib_status set_method(struct request *request, const char *method, netlib_error **err) {
    char *copy = strdup(method);
    if (copy == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the method");
    free(request->method);
    request->method = copy;
    return NETLIB_OK;
}

netlib_status request_init(struct request *request, const struct options *options, netlib_error **err) {
    *request = (struct request){.body_fd = -1};
    const char *method = options->method != NULL ? options->method : options->data != NULL ? "POST" : "GET";
    netlib_status status = make_url(options->url, &request->url, err);
    if (status == NETLIB_OK) status = set_method(request, method, err);
    if (status == NETLIB_OK) status = make_retry(options->retries, &request->retry, err);
    if (status == NETLIB_OK) status = make_headers(options, &request->headers, err);
    if (status == NETLIB_OK && options->data != NULL) status = make_body(request, options->data, err);
    return status;
}

static void drop_body(struct request *request) {
    netlib_body_free(request->body);
    request->body = NULL;
    if (request->body_fd >= 0) close(request->body_fd);
    request->body_fd = -1;
}

void request_free(struct request *request) {
    drop_body(request);
    netlib_headers_free(request->headers);
    netlib_retry_free(request->retry);
    netlib_url_free(request->url);
    free(request->method);
}

netlib_status request_follow(struct request *request, const netlib_decision *decision, netlib_error **err) {
    netlib_headers *headers = NULL;
    netlib_status status = netlib_decision_headers(decision, request->headers, &headers, err);
    if (status != NETLIB_OK) return status;
    netlib_headers_free(request->headers);
    request->headers = headers;

    netlib_retry_free(request->retry);
    request->retry = netlib_retry_clone(netlib_decision_retry(decision));
    netlib_url_free(request->url);
    request->url = netlib_url_clone(netlib_decision_url(decision));

    if (!netlib_decision_resend_body(decision)) drop_body(request);
    if (request->body != NULL && request->body_used) {
        status = netlib_rewind_body(request->body, request->body_start, err);
    }
    return status == NETLIB_OK ? set_method(request, netlib_decision_method(decision, NULL), err) : status;
}
