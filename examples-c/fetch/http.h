/*
 * http.h - sends one HTTP/1.1 request and receives its response over one connection.
 *
 * This file implements the parts of HTTP that netlib leaves to the client: it writes the request, collects the
 * response's head, and decodes the framing of the body. Decisions about retries and redirects are made by the caller.
 *
 *     http_init -> a route opens the connection -> http_send -> http_read_head -> http_read_body -> http_close
 */
#ifndef EXAMPLES_FETCH_HTTP_H
#define EXAMPLES_FETCH_HTTP_H

#include "connection.h"

#include <netlib.h>

/* The maximum size of a response head, and the maximum number of bytes per read. */
#define HTTP_BUFFER_SIZE ((size_t)64 * 1024)

struct http {
    struct connection connection;
    const netlib_headers *for_proxy; /* borrowed; headers for a proxy that reads the requests, or NULL */
    size_t start, end;               /* the part of the buffer with received bytes that are not used yet */
    char buffer[HTTP_BUFFER_SIZE];
};

/* A callback to which http_read_body passes the body, piece by piece. */
typedef netlib_status (*http_sink)(void *ctx, const char *data, size_t len, netlib_error **err);

/* Initialises `http` without connecting. After http_init, http_close may be called at any time. `limit` may
 * be NULL, which means no limit. */
void http_init(struct http *http, const netlib_limit *limit);

/* Sends a request. `body` may be NULL. */
netlib_status http_send(struct http *http, const char *method, const netlib_url *url, const netlib_headers *headers,
                        netlib_body *body, netlib_error **err);

/* Reads the head of the final response, skipping interim responses (1xx). */
netlib_status http_read_head(struct http *http, const char *method, netlib_response **response, netlib_error **err);

/* Reads the whole body and passes it to `sink`. Fails if the connection ends before the body is complete. */
netlib_status http_read_body(struct http *http, const netlib_response *response, http_sink sink, void *ctx,
                             netlib_error **err);

void http_close(struct http *http);

#endif
