/*
 * http.h - one HTTP/1.1 exchange over one connection.
 *
 * What a client has to do itself between netlib's parts: write the request, collect the response's head, take the body
 * out of its framing. It decides nothing: every function does one step and says how it went, as netlib's functions do.
 *
 *     http_init -> http_open -> http_send -> http_read_head -> http_read_body -> http_close
 */
#ifndef EXAMPLES_HTTP_H
#define EXAMPLES_HTTP_H

#include <netlib.h>

/* The longest response head, and the most that is read at once. */
#define HTTP_BUFFER_SIZE ((size_t)64 * 1024)

struct http {
    int fd;                    /* -1: closed */
    netlib_tls_stream *tls;    /* NULL: plain HTTP */
    const netlib_limit *limit; /* borrowed: ends every wait */
    double read_timeout;       /* the longest silence of the server, in seconds */
    size_t start, end;         /* what of the buffer has been received and not yet used */
    char buffer[HTTP_BUFFER_SIZE];
};

/* Where http_read_body puts the body, piece by piece. */
typedef netlib_status (*http_sink)(void *ctx, const char *data, size_t len, netlib_error **err);

/* Whether the URL, which has a scheme, is an https one. */
bool http_is_secure(const netlib_url *url);

/* Not connected yet; http_close is fine from now on. `limit` may be NULL. */
void http_init(struct http *http, const netlib_limit *limit);

/* Connects to the URL's host, with TLS for https. `timeout` gives the limits; its clock is not touched. `tls` may be
 * NULL for http. */
netlib_status http_open(struct http *http, const netlib_url *url, const netlib_timeout *timeout,
                        const netlib_tls_context *tls, netlib_error **err);

/* Sends a request. `body` may be NULL. */
netlib_status http_send(struct http *http, const char *method, const netlib_url *url, const netlib_headers *headers,
                        netlib_body *body, netlib_error **err);

/* Reads the head of the final response; interim ones (1xx) are skipped. */
netlib_status http_read_head(struct http *http, const char *method, netlib_response **response, netlib_error **err);

/* Reads the whole body. A body that ends too early is an error, never a short body. */
netlib_status http_read_body(struct http *http, const netlib_response *response, http_sink sink, void *ctx,
                             netlib_error **err);

void http_close(struct http *http);

/* Makes an error of ours, so that netlib's retry policy and our users see one kind of error. Returns `status`.
 * `err` is not NULL, here and above: an error that nobody sees could not be retried. */
netlib_status http_fail(netlib_status status, netlib_error **err, const char *format, ...);

#endif
