/*
 * http.h - one HTTP/1.1 exchange over one connection.
 *
 * What a client has to do itself between netlib's parts: write the request, collect the response's head, take the body
 * out of its framing. It decides nothing: every function does one step and says how it went, as netlib's functions do.
 *
 *     http_init -> a route opens the connection -> http_send -> http_read_head -> http_read_body -> http_close
 */
#ifndef EXAMPLES_FETCH_HTTP_H
#define EXAMPLES_FETCH_HTTP_H

#include "connection.h"

#include <netlib.h>

/* The longest response head, and the most that is read at once. */
#define HTTP_BUFFER_SIZE ((size_t)64 * 1024)

struct http {
    struct connection connection;
    const netlib_headers *for_proxy; /* borrowed; not NULL: a proxy reads the requests, which name the whole URL and
                                        carry these headers too */
    size_t start, end;               /* what of the buffer has been received and not yet used */
    char buffer[HTTP_BUFFER_SIZE];
};

/* Where http_read_body puts the body, piece by piece. */
typedef netlib_status (*http_sink)(void *ctx, const char *data, size_t len, netlib_error **err);

/* Not connected yet; http_close is fine from now on. `limit` may be NULL. */
void http_init(struct http *http, const netlib_limit *limit);

/* Sends a request. `body` may be NULL. */
netlib_status http_send(struct http *http, const char *method, const netlib_url *url, const netlib_headers *headers,
                        netlib_body *body, netlib_error **err);

/* Reads the head of the final response; interim ones (1xx) are skipped. */
netlib_status http_read_head(struct http *http, const char *method, netlib_response **response, netlib_error **err);

/* Reads the whole body. A body that ends too early is an error, never a short body. */
netlib_status http_read_body(struct http *http, const netlib_response *response, http_sink sink, void *ctx,
                             netlib_error **err);

void http_close(struct http *http);

#endif
