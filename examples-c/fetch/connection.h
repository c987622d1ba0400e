/*
 * connection.h - a connection with TLS layers: none for http, one for https, two for https through an https proxy. All
 * layers are netlib_streams, so callers read and write without knowing the number of layers.
 *
 *     connection_init -> connection_open -> connection_add_tls … -> calls on connection.stream -> connection_close
 */
#ifndef EXAMPLES_FETCH_CONNECTION_H
#define EXAMPLES_FETCH_CONNECTION_H

#include "options.h"

#include <netlib.h>
#include <stdbool.h>

struct connection {
    const struct options *options;
    const netlib_timeout *timeout;
    const netlib_limit *limit; /* ends every wait */
    netlib_connect *race;      /* the attempts and their results; NULL before connection_open */
    int fd;                    /* -1: closed */
    netlib_stream *stream;     /* the innermost layer; NULL before connection_open */
    bool is_nested;            /* true if the innermost layer is a TLS stream inside another TLS stream */
};

/* Initialises a connection without connecting, and borrows the arguments. After connection_init, connection_close may
 * be called at any time. */
void connection_init(struct connection *connection, const struct options *options, const netlib_timeout *timeout,
                     const netlib_limit *limit);

/* Connects to the host and port of `url`, or to the Unix domain socket of the options. */
netlib_status connection_open(struct connection *connection, const netlib_url *url, netlib_error **err);

/* Adds a TLS layer inside the existing layers and does the handshake. The peer's certificate must match `host`. */
netlib_status connection_add_tls(struct connection *connection, const netlib_tls_context *context, const char *host,
                                 netlib_error **err);

/* Closes the connection without sending close_notify, because no more data is needed. */
void connection_close(struct connection *connection);

#endif
