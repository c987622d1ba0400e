/* Tests TLS streams: reading, writing, the end of a session, and peers that violate the protocol. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>

static void each_invalid_handshake_fails_with_a_status_and_message_for_its_cause(void) {
    static const struct {
        enum server_does does;
        const char *raw;
        size_t len;
        netlib_status status;
        int32_t alert;
        const char *message_part;
    } rows[] = {
        {SERVE_RAW, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, NETLIB_NOT_TLS, -1, "plain HTTP"},
        {SERVE_RAW, "SSH-2.0-OpenSSH_9.2\r\n", 21, NETLIB_NOT_TLS, -1, "SSH"},
        {SERVE_RAW, "\x00\x01\x02\x03\x04\x05", 6, NETLIB_NOT_TLS, -1, "0x00"},
        {SERVE_RAW, "\x16\x09\x09\x00\x05", 5, NETLIB_NOT_TLS, -1, "0x16"},
        {SERVE_RAW_CLOSE, "", 0, NETLIB_TLS_HANDSHAKE_EOF, -1, "without answering"},
        {SERVE_RAW_CLOSE, "\x16\x03\x03\x00", 4, NETLIB_TLS_HANDSHAKE_EOF, -1, "during the TLS handshake"},
        {SERVE_RAW_CLOSE, "\x15\x03\x03\x00\x02\x02\x28", 7, NETLIB_TLS_ALERT, 40, "handshake_failure"},
        {SERVE_RAW_CLOSE, "\x15\x03\x03\x00\x02\x02\x70", 7, NETLIB_TLS_ALERT, 112, "no site with the requested name"},
        {SERVE_RAW, "\x16\x03\x03\x00\x04\x02\x00\x00\x00", 9, NETLIB_TLS_PROTOCOL, 50, "malformed"},
        {SERVE_RAW, "\x17\x03\x03\x00\x01x", 6, NETLIB_TLS_PROTOCOL, -1, "TLS protocol"},
    };
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pair pair = unix_pair();
        struct server peer = {.does = rows[i].does, .fd = pair.far, .raw = rows[i].raw, .raw_len = rows[i].len};
        server_start(&peer);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_stream_handshake(stream, &err);
        if (rows[i].alert >= 0) CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
        const char *message = netlib_error_message(err, NULL);
        CHECK(message != NULL && strstr(message, rows[i].message_part) != NULL);
        if (message != NULL && strstr(message, rows[i].message_part) == NULL)
            fprintf(stderr, "    row %zu: %s\n", i, message);
        CHECK_STATUS(rows[i].status, status);
        CHECK_STATUS(rows[i].status, netlib_stream_handshake(stream, &err));
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&peer);
    }
    /* A client sends bytes that are not TLS to a server stream. */
    netlib_tls_context *server = server_context("server");
    struct pair pair = unix_pair();
    CHECK(send(pair.near, "GET /?secret HTTP/1.1\r\n", 23, 0) == 23);
    netlib_stream *stream = accept_tls(server, pair.far);
    netlib_status status = netlib_stream_handshake(stream, &err);
    CHECK_CONTAINS("plain HTTP request", netlib_error_message(err, NULL));
    CHECK(strstr(netlib_error_message(err, NULL), "secret") == NULL);
    CHECK_STATUS(NETLIB_NOT_TLS, status);
    netlib_stream_free(stream);
    close_pair(pair);

    /* Client and server have no TLS version in common. The client gets the server's alert, and the error of the server
     * names the reason. */
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    netlib_tls_context *old = context_of(options);
    options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_3);
    netlib_tls_context *new = context_of(options);
    pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = new, .fd = pair.far};
    server_start(&peer);
    stream = wrap(old, pair.near, "localhost");
    status = netlib_stream_handshake(stream, &err);
    CHECK_INT(70, netlib_error_tls_alert(err));
    CHECK_STATUS(NETLIB_TLS_ALERT, status);
    server_join(&peer);
    CHECK_INT(NETLIB_TLS_INCOMPATIBLE, peer.status);
    CHECK(strstr(peer.message, "no TLS version in common") != NULL);
    netlib_stream_free(stream);
    close(pair.near);
    /* A server context without trust anchors cannot create client streams. */
    CHECK_STATUS(NETLIB_NO_TRUST_ANCHORS, netlib_tls_wrap_fd(new, -1, "localhost", &stream, &err));

    netlib_tls_context_free(old);
    netlib_tls_context_free(new);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void reads_distinguish_close_notify_from_a_truncated_session(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    static const struct {
        enum server_does does;
        netlib_status status;
    } rows[] = {{SERVE_CLEAN, NETLIB_END_OF_STREAM}, {SERVE_TRUNCATED, NETLIB_TLS_TRUNCATED}};
    for (size_t i = 0; i < 2; i++) {
        struct pair pair = unix_pair();
        struct server peer = {.does = rows[i].does, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        char buffer[16];
        size_t n = 0;
        CHECK_OK(netlib_stream_read(stream, buffer, 0, &n, &err));
        CHECK_OK(netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
        CHECK_INT(4, (long long)n);
        server_join(&peer);
        for (int again = 0; again < 2; again++) {
            CHECK_STATUS(rows[i].status, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
        }
        /* The peer has closed the connection. The shutdown raises no signal, and succeeds only if the peer has sent
         * close_notify. */
        netlib_status gone = netlib_stream_shutdown(stream, &err);
        CHECK_INT(rows[i].does == SERVE_CLEAN ? 0 : EPIPE, netlib_error_errno(err));
        CHECK_STATUS(rows[i].does == SERVE_CLEAN ? NETLIB_OK : NETLIB_PROTOCOL, gone);
        netlib_stream_free(stream);
        close(pair.near);
    }
    /* A client sends all of its data, and closes the connection before the server sends its last flight. The server can
     * read the data. */
    struct pair gone = unix_pair();
    netlib_stream *brief = wrap(client, gone.near, "localhost");
    netlib_stream *slow = accept_tls(server, gone.far);
    size_t n_bytes = 0;
    char received[16];
    CHECK_OK(netlib_stream_set_blocking(brief, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(slow, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(brief, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(slow, &err));
    CHECK_OK(netlib_stream_write(brief, "brief", 5, &n_bytes, &err));
    CHECK_OK(netlib_stream_shutdown(brief, &err));
    netlib_stream_free(brief);
    close(gone.near);
    CHECK_OK(netlib_stream_read(slow, received, sizeof received, &n_bytes, &err));
    CHECK_INT(5, (long long)n_bytes);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(slow, received, sizeof received, &n_bytes, &err));
    CHECK_STATUS(NETLIB_PROTOCOL, netlib_stream_write(slow, "x", 1, &n_bytes, &err));
    netlib_stream_free(slow);
    close(gone.far);
    /* The peer resets the connection during the handshake or after the handshake. */
    for (int after = 0; after < 2; after++) {
        struct pair pair = tcp_pair();
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        netlib_stream *other = accept_tls(server, pair.far);
        char buffer[4096];
        size_t n = 0;
        if (after) {
            netlib_stream_set_blocking(stream, 0, NULL);
            netlib_stream_set_blocking(other, 0, NULL);
            for (int i = 0; i < 20; i++) {
                (void)netlib_stream_handshake(stream, NULL);
                (void)netlib_stream_handshake(other, NULL);
            }
            CHECK_OK(netlib_stream_handshake(stream, &err));
            netlib_stream_set_blocking(stream, 1, NULL);
        }
        reset_connection(pair.far);
        netlib_status status = netlib_stream_read(stream, buffer, sizeof buffer, &n, &err);
        CHECK(netlib_error_errno(err) == ECONNRESET || netlib_error_errno(err) == EPIPE);
        netlib_status expected = after ? NETLIB_PROTOCOL : NETLIB_TLS_HANDSHAKE_EOF;
        CHECK_STATUS(expected, status);
        CHECK_STATUS(expected, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
        CHECK_STATUS(expected, netlib_stream_write(stream, buffer, sizeof buffer, &n, &err));
        /* Before the handshake is complete, no part of a request has reached the server. */
        CHECK_INT(after ? NETLIB_RETRY_KIND_READ : NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(expected));
        netlib_stream_free(stream);
        netlib_stream_free(other);
        close(pair.near);
    }
    /* An invalid descriptor is an error of the application, not a failure of the session. */
    netlib_stream *stream = wrap(client, -1, "localhost");
    CHECK_STATUS(NETLIB_IO, netlib_stream_handshake(stream, &err));
    CHECK_STATUS(NETLIB_IO, netlib_stream_handshake(stream, &err));
    netlib_stream_free(stream);

    /* Creating a stream on a listening socket fails, because waiting for data on this socket would never end. */
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listen(listener, 1) == 0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_fd(client, listener, "localhost", &stream, &err));
    CHECK(stream == NULL);
    close(listener);
    /* The application passes -1, the result of a failed recv, as the length. The write refuses this length. */
    stream = wrap(client, -1, "localhost");
    char some[4] = "abc";
    size_t sent = 0;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_write(stream, some, (size_t)-1, &sent, &err));
    netlib_stream_free(stream);

    /* A shutdown before the handshake sends nothing. Later writes fail. */
    struct pair pair = unix_pair();
    char byte;
    size_t n = 0;
    stream = wrap(client, pair.near, "localhost");
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK(recv(pair.far, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    CHECK_STATUS(NETLIB_CLOSED, netlib_stream_write(stream, "x", 1, &n, &err));
    /* A read after the shutdown does the handshake. Then the peer gets close_notify. */
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
    server_start(&peer);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, &byte, 1, &n, &err));
    server_join(&peer);
    CHECK_INT(NETLIB_END_OF_STREAM, peer.status);
    netlib_stream_free(stream);
    close(pair.near);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* Reader and writer threads on both sides start before any handshake. */
static void streams_read_and_write_at_the_same_time(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    static const size_t chunks[][2] = {{100000, 16384}, {16384, 100000}, {1000, 5000}};
    for (size_t row = 0; row < sizeof chunks / sizeof chunks[0]; row++) {
        struct pair pair = row == 0 ? tcp_pair() : unix_pair();
        netlib_stream *near = wrap(client, pair.near, "localhost");
        netlib_stream *far = accept_tls(server, pair.far);
        CHECK_OK(netlib_stream_set_read_timeout(near, LONG, &err));
        CHECK_OK(netlib_stream_set_write_timeout(far, LONG, &err));
        size_t total = (row == 2 ? 300 : 3000) * 1000;
        transfer_with_threads(near, far, total, chunks[row][0], chunks[row][1]);
        netlib_stream_free(near);
        netlib_stream_free(far);
        close_pair(pair);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* One thread serves both ends with non-blocking calls, over a socket with small buffers. */
static void non_blocking_streams_transfer_all_data(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    struct pair pair = unix_pair();
    int little = 4096;
    setsockopt(pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    setsockopt(pair.far, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    netlib_stream *near = wrap(client, pair.near, "localhost");
    netlib_stream *far = accept_tls(server, pair.far);
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    size_t n = 0;
    char byte;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(near, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(near, &byte, 1, &n, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_write(near, "x", 1, &n, &err));
    CHECK_INT(0, (long long)n);
    transfer_without_waiting(near, far, 400000);
    netlib_stream_free(near);
    netlib_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    each_invalid_handshake_fails_with_a_status_and_message_for_its_cause();
    reads_distinguish_close_notify_from_a_truncated_session();
    streams_read_and_write_at_the_same_time();
    non_blocking_streams_transfer_all_data();
    return report("tls stream");
}
