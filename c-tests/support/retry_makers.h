/* Creates retries, errors, responses, URLs and headers for tests. */
#ifndef NETLIB_TEST_RETRY_MAKERS_H
#define NETLIB_TEST_RETRY_MAKERS_H

#include "harness.h"

static inline netlib_retry *retry_of(netlib_retry_options *options) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    return retry;
}

static inline netlib_error *error_of(netlib_status status, const netlib_error *cause) {
    return error_around(status, "what failed", cause);
}

/* Creates a response; `fields` are its header lines. */
static inline netlib_response *response_of(int status, const char *fields) {
    char head[512];
    size_t used = 0;
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    snprintf(head, sizeof head, "HTTP/1.1 %d X\r\n%s\r\n", status, fields);
    CHECK_OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &response, &used, &err));
    return response;
}

static inline bool is_exhausted(const netlib_retry *retry) { return netlib_retry_is_exhausted(retry); }

static inline netlib_url *url_of(const char *text) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_parse_url(text, NETLIB_NTS, &url, &err));
    return url;
}

/* Creates headers with these names, each with the value "secret". */
static inline netlib_headers *headers_of(const char *const *names, size_t count) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    for (size_t i = 0; i < count; i++) netlib_headers_options_add_header(options, names[i], "secret");
    CHECK_OK(netlib_make_headers(options, &headers, &err));
    netlib_headers_options_free(options);
    return headers;
}

#endif
