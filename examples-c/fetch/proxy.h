/*
 * proxy.h - a proxy: where it is, who we are to it, and the tunnel that it opens for CONNECT (RFC 9110 section 9.3.6).
 *
 * A failure before the tunnel is open is NETLIB_PROXY_FAILED, whose cause decides how the retry policy counts it.
 */
#ifndef EXAMPLES_FETCH_PROXY_H
#define EXAMPLES_FETCH_PROXY_H

#include "http.h"

#include <netlib.h>

struct proxy {
    netlib_url *url;         /* NULL: there is no proxy */
    netlib_headers *headers; /* its own: who we are, if the URL says so. Nobody else gets them */
};

/* `text` is the proxy's URL; NULL: none. The proxy is to be freed whatever comes of it. */
netlib_status proxy_init(struct proxy *proxy, const char *text, netlib_error **err);

/* Asks for a tunnel to the origin of `url`. After it, what is sent and received is the origin's. */
netlib_status proxy_open_tunnel(const struct proxy *proxy, struct http *http, const netlib_url *url,
                                netlib_error **err);

/* Makes a failure with `status` and `*err`, before anything could reach an origin, one of the proxy. Returns the new
 * status. A limit that has passed and the like stay what they are. */
netlib_status proxy_failed(const struct proxy *proxy, netlib_status status, netlib_error **err);

void proxy_free(struct proxy *proxy);

#endif
