/* Implements connection.h. */
#define _POSIX_C_SOURCE 200809L

#include "connection.h"

#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- connecting --------------------------------------------------------------------------------------------------- */

void connection_init(struct connection *connection, const netlib_limit *limit) {
    *connection = (struct connection){.fd = -1, .limit = limit, .peer = "the server"};
}

/* Makes the socket non-blocking, so that all waiting is done by netlib, which observes the limits. */
static netlib_status make_nonblocking(int fd, netlib_error **err) {
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) return NETLIB_OK;
    return fail(NETLIB_IO, err, "cannot make the socket non-blocking: %s", strerror(errno));
}

/* Returns the connect and read timeouts of a new copy of `timeout`, so that the duration of one attempt does not
 * shorten the timeouts of the next. */
static netlib_status new_timeouts(const netlib_timeout *timeout, double *connect, double *read, netlib_error **err) {
    netlib_timeout *clock = netlib_timeout_clone(timeout);
    netlib_status status = netlib_timeout_start_connect(clock, err);
    *connect = netlib_timeout_connect_timeout(clock);
    if (status == NETLIB_OK) status = netlib_timeout_read_timeout(clock, read, err);
    netlib_timeout_free(clock);
    return status;
}

/* Creates a netlib_connect to the Unix domain socket, to the addresses of --resolve, or to the addresses that the
 * system's resolver returns. The address policy of --refuse-addresses applies to each address. */
static netlib_status create_connect(const struct options *options, const netlib_url *url, double timeout,
                                    netlib_connect **race, netlib_error **err) {
    const struct sockets *sockets = &options->sockets;
    netlib_connect_options_set_timeout(sockets->options, timeout);
    if (sockets->unix_path != NULL) {
        return netlib_connect_new_unix(sockets->unix_path, sockets->unix_path_len, sockets->options, race, err);
    }
    const char *host = netlib_url_host(url, NULL);
    int32_t port = netlib_url_port_or_default(url);
    const netlib_addresses *addresses = resolve_find(&options->resolve, host, port);
    if (addresses == NULL) return netlib_connect_new(host, port, sockets->options, race, err);
    return netlib_connect_new_addresses(host, port, addresses, sockets->options, race, err);
}

/* Sets the minimum throughput (--minimum-speed) that the peer must reach. */
static netlib_status set_minimum_speed(struct connection *connection, const struct sockets *sockets,
                                       netlib_error **err) {
    connection->minimum_bytes = sockets->minimum_bytes;
    connection->minimum_seconds = sockets->minimum_seconds;
    return netlib_throughput_new(sockets->minimum_bytes, sockets->minimum_seconds, &connection->throughput, err);
}

netlib_status connection_open(struct connection *connection, const struct options *options, const netlib_url *url,
                              const netlib_timeout *timeout, netlib_error **err) {
    double connect_timeout = 0;
    netlib_status status = new_timeouts(timeout, &connect_timeout, &connection->read_timeout, err);
    if (status == NETLIB_OK) status = set_minimum_speed(connection, &options->sockets, err);
    if (status == NETLIB_OK) status = create_connect(options, url, connect_timeout, &connection->race, err);
    if (status == NETLIB_OK) status = netlib_connect_run(connection->race, connection->limit, &connection->fd, err);
    return status == NETLIB_OK ? make_nonblocking(connection->fd, err) : status;
}

/* Replaces netlib's message about a peer that is too slow by one that names the peer and the command-line option. */
static netlib_status name_slow_peer(const struct connection *connection, netlib_status status, netlib_error **err) {
    if (status != NETLIB_TOO_SLOW) return status;
    netlib_error *cause = *err;
    *err = NULL;
    status = fail_because(NETLIB_TOO_SLOW, cause, err, "%s was slower than --minimum-speed %zu/%g", connection->peer,
                          connection->minimum_bytes, connection->minimum_seconds);
    netlib_error_free(cause);
    return status;
}

/* --- TLS ---------------------------------------------------------------------------------------------------------- */

netlib_stream *connection_tls(const struct connection *connection) {
    return connection->tls_count > 0 ? connection->tls[connection->tls_count - 1] : NULL;
}

/* Creates a TLS stream on the socket or, if there is a TLS layer already, inside that layer. */
static netlib_status wrap(const struct connection *connection, const netlib_tls_context *context, const char *host,
                          netlib_stream **stream, netlib_error **err) {
    netlib_stream *outer = connection_tls(connection);
    if (outer == NULL) return netlib_tls_wrap_fd(context, connection->fd, host, stream, err);
    return netlib_tls_wrap_stream(context, outer, host, stream, err);
}

netlib_status connection_add_tls(struct connection *connection, const netlib_tls_context *context, const char *host,
                                 netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_status status = wrap(connection, context, host, &stream, err);
    if (status != NETLIB_OK) return status;
    connection->tls[connection->tls_count++] = stream;
    netlib_stream_set_limit(stream, connection->limit);
    status = netlib_stream_set_read_timeout(stream, connection->read_timeout, err);
    if (status == NETLIB_OK) status = netlib_stream_set_write_timeout(stream, connection->read_timeout, err);
    if (status == NETLIB_OK) {
        status =
            netlib_stream_set_minimum_throughput(stream, connection->minimum_bytes, connection->minimum_seconds, err);
    }
    if (status == NETLIB_OK) status = netlib_stream_handshake(stream, err);
    return name_slow_peer(connection, status, err);
}

/* Closes the connection without sending close_notify, because no more data is needed. */
void connection_close(struct connection *connection) {
    while (connection->tls_count > 0) netlib_stream_free(connection->tls[--connection->tls_count]);
    if (connection->fd >= 0) close(connection->fd);
    connection->fd = -1;
    netlib_throughput_free(connection->throughput);
    netlib_connect_free(connection->race);
    connection->throughput = NULL;
    connection->race = NULL;
}

/* --- sending and receiving ---------------------------------------------------------------------------------------- */

static netlib_status send_plaintext(struct connection *connection, const char *data, size_t len, netlib_error **err) {
    while (len > 0) {
        ssize_t sent = send(connection->fd, data, len, MSG_NOSIGNAL);
        if (sent >= 0) {
            data += sent;
            len -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            netlib_status status =
                netlib_wait_for_write(connection->fd, connection->read_timeout, connection->limit, err);
            if (status == NETLIB_TIMED_OUT) {
                return fail(NETLIB_WRITE_TIMEOUT, err, "%s accepted no data for %g s", connection->peer,
                            connection->read_timeout);
            }
            if (status != NETLIB_OK) return status;
        } else if (errno != EINTR) {
            return fail(NETLIB_PROTOCOL, err, "cannot send to %s: %s", connection->peer, strerror(errno));
        }
    }
    return NETLIB_OK;
}

static netlib_status receive_plaintext(struct connection *connection, char *data, size_t len, size_t *received,
                                       netlib_error **err) {
    for (;;) {
        netlib_status status = netlib_throughput_wait_for_read(connection->throughput, connection->fd,
                                                               connection->read_timeout, connection->limit, err);
        if (status == NETLIB_TIMED_OUT) {
            return fail(NETLIB_READ_TIMEOUT, err, "%s sent nothing for %g s", connection->peer,
                        connection->read_timeout);
        }
        if (status != NETLIB_OK) return status;
        ssize_t got = recv(connection->fd, data, len, 0);
        if (got >= 0) {
            *received = (size_t)got;
            netlib_throughput_add(connection->throughput, *received);
            return got > 0 ? NETLIB_OK : NETLIB_END_OF_STREAM;
        }
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
            return fail(NETLIB_PROTOCOL, err, "cannot receive from %s: %s", connection->peer, strerror(errno));
        }
    }
}

netlib_status connection_send(struct connection *connection, const char *data, size_t len, netlib_error **err) {
    netlib_stream *tls = connection_tls(connection);
    size_t sent = 0;
    if (tls != NULL) return netlib_stream_write(tls, data, len, &sent, err);
    return send_plaintext(connection, data, len, err);
}

netlib_status connection_receive(struct connection *connection, char *data, size_t len, size_t *received,
                                 netlib_error **err) {
    netlib_stream *tls = connection_tls(connection);
    netlib_status status = tls != NULL ? netlib_stream_read(tls, data, len, received, err)
                                       : receive_plaintext(connection, data, len, received, err);
    return name_slow_peer(connection, status, err);
}
