/* Implements route.h. */
#include "route.h"

#include <stdbool.h>
#include <string.h>

/* Returns true for an https URL. The URLs of fetch always have a scheme. */
static bool is_https(const netlib_url *url) { return strcmp(netlib_url_scheme(url, NULL), "https") == 0; }

static netlib_status create_context(struct route *route, enum tls_peer peer, netlib_error **err) {
    if (route->contexts[peer] != NULL) return NETLIB_OK;
    netlib_status status = tls_make_context(route->options, peer, &route->contexts[peer], err);
    /* As in OpenSSL, an unknown word in a cipher string is not an error, because it may name a cipher suite that this
     * library does not support. */
    const char *unknown = netlib_tls_context_unknown_ciphers(route->contexts[peer], NULL);
    if (unknown != NULL) trace(route->trace, "--ciphers: unknown names: %s", unknown);
    return status;
}

/* Creates the TLS contexts that the first request needs, so that files that cannot be read are reported before the
 * first connection attempt. */
netlib_status route_init(struct route *route, const struct options *options, const netlib_url *first,
                         struct trace *trace, netlib_error **err) {
    *route = (struct route){.options = options, .trace = trace, .first = netlib_url_clone(first)};
    netlib_status status =
        netlib_timeout_new(NETLIB_TIMEOUT_NONE, options->connect_timeout, options->read_timeout, &route->timeout, err);
    netlib_connect_options_use_timeout(options->sockets.options, route->timeout);
    if (status == NETLIB_OK) status = proxy_init(&route->proxy, options->proxy, err);
    if (status == NETLIB_OK && is_https(first)) status = create_context(route, TLS_ORIGIN, err);
    if (status != NETLIB_OK || route->proxy.url == NULL || !is_https(route->proxy.url)) return status;
    return create_context(route, TLS_PROXY, err);
}

void route_free(struct route *route) {
    for (int peer = 0; peer < TLS_PEERS; peer++) netlib_tls_context_free(route->contexts[peer]);
    proxy_free(&route->proxy);
    netlib_url_free(route->first);
    netlib_timeout_free(route->timeout);
}

static bool uses_proxy(const struct route *route, const netlib_url *url) {
    return route->proxy.url != NULL && !netlib_no_proxy_match(route->options->no_proxy, url);
}

netlib_status route_make_head(const struct route *route, const struct request *request, netlib_request **head,
                              netlib_error **err) {
    if (!uses_proxy(route, request->url) || is_https(request->url)) {
        return netlib_request_new(request->method, request->url, request->headers, NETLIB_REQUEST_FORM_ORIGIN, head,
                                  err);
    }
    netlib_headers *headers = NULL;
    netlib_status status = proxy_add_credentials(&route->proxy, request->headers, &headers, err);
    if (status == NETLIB_OK) {
        status = netlib_request_new(request->method, request->url, headers, NETLIB_REQUEST_FORM_ABSOLUTE, head, err);
    }
    netlib_headers_free(headers);
    return status;
}

/* --- connections -------------------------------------------------------------------------------------------------- */

static netlib_status add_tls(struct route *route, enum tls_peer peer, const netlib_url *url,
                             struct connection *connection, netlib_error **err) {
    netlib_status status = create_context(route, peer, err);
    if (status != NETLIB_OK) return status;
    return connection_add_tls(connection, route->contexts[peer], netlib_url_host(url, NULL), err);
}

/* Opens the socket and traces all connection attempts. */
static netlib_status open_socket(struct route *route, const netlib_url *url, struct connection *connection,
                                 netlib_error **err) {
    netlib_status status = connection_open(connection, url, err);
    trace_race(route->trace, connection->race);
    return status;
}

static netlib_status open_proxy(struct route *route, const netlib_url *url, struct connection *connection,
                                netlib_error **err) {
    const struct proxy *proxy = &route->proxy;
    netlib_status status = open_socket(route, proxy->url, connection, err);
    if (status == NETLIB_OK && is_https(proxy->url)) status = add_tls(route, TLS_PROXY, proxy->url, connection, err);
    if (status == NETLIB_OK) trace_connection(route->trace, "the proxy ", proxy->url, connection);
    if (status == NETLIB_OK && is_https(url)) status = proxy_open_tunnel(proxy, connection->stream, url, err);
    if (status != NETLIB_OK) return proxy_failed(proxy, status, err);
    if (is_https(url)) trace(route->trace, "  the proxy opened a tunnel to %s", netlib_url_netloc(url, NULL));
    return NETLIB_OK;
}

/* Does the TLS handshake with the server, and checks the fingerprint of its certificate. */
static netlib_status open_tls(struct route *route, const netlib_url *url, struct connection *connection,
                              netlib_error **err) {
    bool is_first = netlib_url_same_origin(url, route->first);
    netlib_status status = add_tls(route, is_first ? TLS_ORIGIN : TLS_REDIRECT, url, connection, err);
    if (status != NETLIB_OK) return status;
    trace_connection(route->trace, "", url, connection);
    return tls_check_fingerprint(route->options, connection->stream, err);
}

netlib_status route_open(struct route *route, const netlib_url *url, const netlib_limit *limit,
                         struct connection *connection, netlib_error **err) {
    bool direct = !uses_proxy(route, url);
    connection_init(connection, route->options, route->timeout, limit);
    netlib_status status = direct ? open_socket(route, url, connection, err) : open_proxy(route, url, connection, err);
    if (status != NETLIB_OK) return status;
    if (is_https(url)) return open_tls(route, url, connection, err);
    if (direct) trace_connection(route->trace, "", url, connection);
    return tls_check_fingerprint(route->options, NULL, err);
}
