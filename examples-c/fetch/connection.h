/*
 * connection.h - a socket, and the layers of TLS on it: none for http, one for https, two for https through an https
 * proxy. Who uses it sends and receives, and need not know how many there are.
 *
 *     connection_init -> connection_open -> connection_add_tls … -> connection_send, connection_receive
 *         -> connection_close
 */
#ifndef EXAMPLES_FETCH_CONNECTION_H
#define EXAMPLES_FETCH_CONNECTION_H

#include "options.h"

#include <netlib.h>

/* One to the proxy, and one inside of it to the server. */
enum { MOST_TLS_LAYERS = 2 };

struct connection {
    netlib_connect *race;                    /* who was tried, with what result; NULL before connection_open */
    int fd;                                  /* -1: closed */
    netlib_tls_stream *tls[MOST_TLS_LAYERS]; /* from the outside in */
    size_t tls_count;
    const netlib_limit *limit;     /* borrowed: ends every wait */
    netlib_throughput *throughput; /* for what comes in clear: the same that TLS is asked for */
    size_t minimum_bytes;          /* how many each `minimum_seconds` of waiting must bring; 0: as few as it likes */
    double minimum_seconds;
    double read_timeout; /* the longest silence of the peer, in seconds */
    const char *peer;    /* who answers: "the server", "the proxy" */
};

/* Not connected yet; connection_close is fine from now on. `limit` may be NULL. */
void connection_init(struct connection *connection, const netlib_limit *limit);

/* Connects to the host and port of `url`, or to the Unix domain socket that the options name. `timeout` gives the
 * limits; its clock is not touched. */
netlib_status connection_open(struct connection *connection, const struct options *options, const netlib_url *url,
                              const netlib_timeout *timeout, netlib_error **err);

/* Adds a layer of TLS inside of those that are there, and shakes hands: with who is called `host`, and can prove it. */
netlib_status connection_add_tls(struct connection *connection, const netlib_tls_context *context, const char *host,
                                 netlib_error **err);

/* The innermost layer; NULL when what is sent goes out in clear. */
netlib_tls_stream *connection_tls(const struct connection *connection);

/* Sends all of it. */
netlib_status connection_send(struct connection *connection, const char *data, size_t len, netlib_error **err);

/* Receives some bytes. NETLIB_END_OF_STREAM when the peer has closed its side. */
netlib_status connection_receive(struct connection *connection, char *data, size_t len, size_t *received,
                                 netlib_error **err);

void connection_close(struct connection *connection);

#endif
