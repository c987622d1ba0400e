/*
 * route.h - opens a connection to a server: directly or through a proxy, in plaintext or with TLS.
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

#include "http.h"
#include "options.h"
#include "proxy.h"
#include "tls.h"
#include "trace.h"

#include <netlib.h>

struct route {
    const struct options *options;
    struct trace *trace;
    netlib_timeout *timeout;
    netlib_url *first; /* the URL of the command line */
    struct proxy proxy;
    netlib_tls_context *contexts[TLS_PEERS]; /* each is created when first needed, and then used for all connections */
};

/* Initialises the route. Borrows `options` and `trace`, and copies `first`. Call route_free even if this function
 * fails. */
netlib_status route_init(struct route *route, const struct options *options, const netlib_url *first,
                         struct trace *trace, netlib_error **err);

/* Opens the connection of `http` for a request to `url`. */
netlib_status route_open(struct route *route, const netlib_url *url, struct http *http, netlib_error **err);

void route_free(struct route *route);

#endif
