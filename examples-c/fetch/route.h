/*
 * route.h - how fetch gets to a server: directly or through a proxy, in clear or with TLS.
 *
 *     http  URL, no proxy      TCP
 *     http  URL, proxy         TCP to the proxy, with TLS if it is an https one; the proxy reads the requests
 *     https URL, no proxy      TCP, TLS
 *     https URL, http proxy    TCP to the proxy, CONNECT, TLS to the server
 *     https URL, https proxy   TCP to the proxy, TLS to it, CONNECT, TLS to the server inside of that
 *
 * Each layer of TLS proves the name of its own end.
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
    netlib_url *first; /* what the command line names */
    struct proxy proxy;
    netlib_tls_context *contexts[TLS_PEERS]; /* each made when it is first needed, then for every connection */
};

/* `options`, `trace` and `first` are borrowed or copied. The route is to be freed whatever comes of it. */
netlib_status route_init(struct route *route, const struct options *options, const netlib_url *first,
                         struct trace *trace, netlib_error **err);

/* Opens the connection of `http` for requests to `url`. */
netlib_status route_open(struct route *route, const netlib_url *url, struct http *http, netlib_error **err);

void route_free(struct route *route);

#endif
