/*
 * connection.h - a socket with TLS layers: none for http, one for https, two for https through an https proxy. Callers
 * send and receive without knowing the number of layers.
 *
 *     connection_init -> connection_open -> connection_add_tls … -> connection_send, connection_receive
 *         -> connection_close
 */
#ifndef EXAMPLES_FETCH_CONNECTION_H
#define EXAMPLES_FETCH_CONNECTION_H

#include "options.h"

#include <netlib.h>

/* The maximum number of TLS layers: one to the proxy, and one inside it to the server. */
enum { MAX_TLS_LAYERS = 2 };

struct connection {
    netlib_connect *race;               /* the attempts and their results; NULL before connection_open */
    int fd;                             /* -1: closed */
    netlib_stream *tls[MAX_TLS_LAYERS]; /* the outermost layer first */
    size_t tls_count;
    const netlib_limit *limit;     /* borrowed: ends every wait */
    netlib_throughput *throughput; /* the minimum throughput in plaintext; TLS streams get the values below */
    size_t minimum_bytes;          /* to receive in each `minimum_seconds` of waiting; 0: no minimum */
    double minimum_seconds;
    double read_timeout; /* the longest silence of the peer, in seconds */
    const char *peer;    /* the name of the peer in messages: "the server", "the proxy" */
};

/* Initialises a connection without connecting. After connection_init, connection_close may be called at any time.
 * `limit` may be NULL, which means no limit. */
void connection_init(struct connection *connection, const netlib_limit *limit);

/* Connects to the host and port of `url`, or to the Unix domain socket of the options. `timeout` contains the timeouts;
 * its clock must not have been started. */
netlib_status connection_open(struct connection *connection, const struct options *options, const netlib_url *url,
                              const netlib_timeout *timeout, netlib_error **err);

/* Adds a TLS layer inside the existing layers and does the handshake. The peer's certificate must match `host`. */
netlib_status connection_add_tls(struct connection *connection, const netlib_tls_context *context, const char *host,
                                 netlib_error **err);

/* Returns the innermost TLS layer; NULL if the connection is in plaintext. */
netlib_stream *connection_tls(const struct connection *connection);

/* Sends all `len` bytes. */
netlib_status connection_send(struct connection *connection, const char *data, size_t len, netlib_error **err);

/* Receives at least one byte. Returns NETLIB_END_OF_STREAM if the peer has closed the connection. */
netlib_status connection_receive(struct connection *connection, char *data, size_t len, size_t *received,
                                 netlib_error **err);

void connection_close(struct connection *connection);

#endif
