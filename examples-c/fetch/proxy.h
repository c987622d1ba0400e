/*
 * proxy.h - a proxy: its address, its credentials, and the tunnel that it opens for CONNECT (RFC 9110 section 9.3.6).
 *
 * A failure before the tunnel is open gets the status NETLIB_PROXY_FAILED. Its cause decides how the retry policy
 * counts it.
 */
#ifndef EXAMPLES_FETCH_PROXY_H
#define EXAMPLES_FETCH_PROXY_H

#include "http.h"

#include <netlib.h>

struct proxy {
    netlib_url *url;         /* NULL: there is no proxy */
    netlib_headers *headers; /* sent to the proxy only: the credentials of its URL */
};

/* `text` is the proxy's URL; NULL: none. Free the proxy even if this fails. */
netlib_status proxy_init(struct proxy *proxy, const char *text, netlib_error **err);

/* Requests a tunnel to the origin of `url`. After that, bytes are sent to the origin and received from it. */
netlib_status proxy_open_tunnel(const struct proxy *proxy, struct http *http, const netlib_url *url,
                                netlib_error **err);

/* Turns a failure before the tunnel was open, with `status` and `*err`, into NETLIB_PROXY_FAILED. Returns the new
 * status. An expired limit and similar failures stay as they are. */
netlib_status proxy_failed(const struct proxy *proxy, netlib_status status, netlib_error **err);

void proxy_free(struct proxy *proxy);

#endif
