/*
 * proxy.h - parses the URL of an HTTP proxy, and opens tunnels through the proxy with CONNECT (RFC 9110 section 9.3.6).
 *
 * A failure before the tunnel is open gets the status NETLIB_PROXY_FAILED, see proxy_failed.
 */
#ifndef EXAMPLES_FETCH_PROXY_H
#define EXAMPLES_FETCH_PROXY_H

#include <netlib.h>

struct proxy {
    netlib_url *url;   /* NULL: there is no proxy */
    char *credentials; /* "user:password" of the URL, sent to the proxy only; NULL: none */
};

/* Parses the proxy's URL `text`; NULL means that there is no proxy. Call proxy_free even if this function fails. */
netlib_status proxy_init(struct proxy *proxy, const char *text, netlib_error **err);

/* Creates a copy of `headers`, which may be NULL, with the credentials for the proxy. */
netlib_status proxy_add_credentials(const struct proxy *proxy, const netlib_headers *headers, netlib_headers **out,
                                    netlib_error **err);

/* Opens a tunnel to the origin of `url`. `stream` is the stream to the proxy, and after success the tunnel. */
netlib_status proxy_open_tunnel(const struct proxy *proxy, netlib_stream *stream, const netlib_url *url,
                                netlib_error **err);

/* Replaces the error `*err` of a failure before the tunnel was open by an error with the status NETLIB_PROXY_FAILED,
 * and returns the new status. Errors that are never retried, such as an expired limit, stay as they are. */
netlib_status proxy_failed(const struct proxy *proxy, netlib_status status, netlib_error **err);

void proxy_free(struct proxy *proxy);

#endif
