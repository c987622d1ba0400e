/*
 * http.h - one HTTP/1.1 exchange over one connection.
 *
 * Does the parts of HTTP that netlib leaves to the client: writes the request, collects the response's head, and
 * decodes the framing of the body. It makes no decisions: each function does one step and returns its status.
 *
 *     http_init -> a route opens the connection -> http_send -> http_read_head -> http_read_body -> http_close
 */
#ifndef EXAMPLES_FETCH_HTTP_H
#define EXAMPLES_FETCH_HTTP_H

#include "connection.h"

#include <netlib.h>

/* The maximum size of a response head, and of one read. */
#define HTTP_BUFFER_SIZE ((size_t)64 * 1024)

struct http {
    struct connection connection;
    const netlib_headers *for_proxy; /* borrowed; headers for a proxy that reads the requests, or NULL */
    size_t start, end;               /* of the buffer: the received bytes that are not used yet */
    char buffer[HTTP_BUFFER_SIZE];
};

/* Receives the body from http_read_body, piece by piece. */
typedef netlib_status (*http_sink)(void *ctx, const char *data, size_t len, netlib_error **err);

/* Initialises without connecting. http_close may be called from now on. `limit` may be NULL. */
void http_init(struct http *http, const netlib_limit *limit);

/* Sends a request. `body` may be NULL. */
netlib_status http_send(struct http *http, const char *method, const netlib_url *url, const netlib_headers *headers,
                        netlib_body *body, netlib_error **err);

/* Reads the head of the final response. Skips interim responses (1xx). */
netlib_status http_read_head(struct http *http, const char *method, netlib_response **response, netlib_error **err);

/* Reads the whole body. Fails if the body ends too early. */
netlib_status http_read_body(struct http *http, const netlib_response *response, http_sink sink, void *ctx,
                             netlib_error **err);

void http_close(struct http *http);

#endif
