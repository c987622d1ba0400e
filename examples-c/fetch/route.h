/*
 * route.h - opens a connection to a server: directly or through a proxy, in plaintext or with TLS. Makes the heads of
 * requests, whose form depends on the route.
 *
 *     http  URL, no proxy      TCP
 *     http  URL, proxy         TCP to the proxy, with TLS for an https proxy; the proxy reads the requests
 *     https URL, no proxy      TCP, TLS
 *     https URL, http proxy    TCP to the proxy, CONNECT, TLS to the server
 *     https URL, https proxy   TCP to the proxy, TLS to it, CONNECT, TLS to the server inside it
 *
 * Each TLS layer verifies that the certificate of its own peer matches the peer's name.
 */
#ifndef EXAMPLES_FETCH_ROUTE_H
#define EXAMPLES_FETCH_ROUTE_H

#include "connection.h"
#include "options.h"
#include "proxy.h"
#include "request.h"
#include "tls.h"
#include "trace.h"

#include <netlib.h>

struct route {
    const struct options *options;
    struct trace *trace;
    netlib_timeout *timeout; /* for connecting, and for each read */
    netlib_url *first;       /* the URL of the command line */
    struct proxy proxy;
    netlib_tls_context *contexts[TLS_PEERS]; /* each is created when first needed, and then used for all connections */
};

/* Initialises the route. Borrows `options` and `trace`, and copies `first`. Call route_free even if this function
 * fails. */
netlib_status route_init(struct route *route, const struct options *options, const netlib_url *first,
                         struct trace *trace, netlib_error **err);

/* Makes the head of the request: with the absolute URL and the proxy's credentials if a proxy reads the request. */
netlib_status route_make_head(const struct route *route, const struct request *request, netlib_request **head,
                              netlib_error **err);

/* Opens a connection for a request to `url`. Call connection_close even if this function fails. */
netlib_status route_open(struct route *route, const netlib_url *url, const netlib_limit *limit,
                         struct connection *connection, netlib_error **err);

void route_free(struct route *route);

#endif
