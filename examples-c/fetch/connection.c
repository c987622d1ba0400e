/* Implements connection.h. */
#include "connection.h"

#include <unistd.h>

void connection_init(struct connection *connection, const struct options *options, const netlib_timeout *timeout,
                     const netlib_limit *limit) {
    *connection = (struct connection){.options = options, .timeout = timeout, .limit = limit, .fd = -1};
}

/* Creates a netlib_connect to the Unix domain socket, to the addresses of --resolve, or to the addresses that the
 * system's resolver returns. The address policy of --refuse-addresses applies to each address. */
static netlib_status create_connect(const struct options *options, const netlib_url *url, netlib_connect **race,
                                    netlib_error **err) {
    const struct sockets *sockets = &options->sockets;
    if (sockets->unix_path != NULL) {
        return netlib_connect_new_unix(sockets->unix_path, sockets->unix_path_len, sockets->options, race, err);
    }
    const char *host = netlib_url_host(url, NULL);
    int32_t port = netlib_url_port_or_default(url);
    const netlib_addresses *addresses = resolve_find(&options->resolve, host, port);
    if (addresses == NULL) return netlib_connect_new(host, port, sockets->options, race, err);
    return netlib_connect_new_addresses(host, port, addresses, sockets->options, race, err);
}

/* Makes `stream` the innermost layer. The limit and the timeouts of the innermost layer apply to the layers below. */
static netlib_status set_stream(struct connection *connection, netlib_stream *stream, netlib_error **err) {
    const struct options *options = connection->options;
    netlib_stream_free(connection->stream); /* a stream keeps the streams below it alive */
    connection->stream = stream;
    netlib_stream_set_limit(stream, connection->limit);
    netlib_status status = netlib_stream_use_timeout(stream, connection->timeout, err);
    if (status == NETLIB_OK) status = netlib_stream_set_write_timeout(stream, options->read_timeout, err);
    if (status != NETLIB_OK) return status;
    return netlib_stream_set_minimum_throughput(stream, options->sockets.minimum_bytes,
                                                options->sockets.minimum_seconds, err);
}

netlib_status connection_open(struct connection *connection, const netlib_url *url, netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_status status = create_connect(connection->options, url, &connection->race, err);
    if (status == NETLIB_OK) status = netlib_connect_run(connection->race, connection->limit, &connection->fd, err);
    if (status == NETLIB_OK) status = netlib_stream_new_fd(connection->fd, &stream, err);
    return status == NETLIB_OK ? set_stream(connection, stream, err) : status;
}

netlib_status connection_add_tls(struct connection *connection, const netlib_tls_context *context, const char *host,
                                 netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_status status = netlib_tls_wrap_stream(context, connection->stream, host, &stream, err);
    if (status != NETLIB_OK) return status;
    connection->is_nested = netlib_stream_tls_version(connection->stream) != NETLIB_TLS_VERSION_NONE;
    status = set_stream(connection, stream, err);
    return status == NETLIB_OK ? netlib_stream_handshake(stream, err) : status;
}

void connection_close(struct connection *connection) {
    netlib_stream_free(connection->stream);
    if (connection->fd >= 0) close(connection->fd);
    netlib_connect_free(connection->race);
    *connection = (struct connection){.fd = -1};
}
