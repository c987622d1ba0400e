/* TLS streams: reading, writing, ending, waiting, and peers that misbehave. */
#define _GNU_SOURCE
/* Some results are of no interest here: what comes after them is. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>

static void what_the_peer_may_do(void) {
    static const struct {
        enum server_does does;
        const char *raw;
        size_t len;
        netlib_status status;
        int32_t alert;
        const char *says;
    } rows[] = {
        {SERVE_RAW, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, NETLIB_NOT_TLS, -1, "plain HTTP"},
        {SERVE_RAW, "SSH-2.0-OpenSSH_9.2\r\n", 21, NETLIB_NOT_TLS, -1, "SSH"},
        {SERVE_RAW, "\x00\x01\x02\x03\x04\x05", 6, NETLIB_NOT_TLS, -1, "0x00"},
        {SERVE_RAW, "\x16\x09\x09\x00\x05", 5, NETLIB_NOT_TLS, -1, "0x16"},
        {SERVE_RAW_CLOSE, "", 0, NETLIB_TLS_HANDSHAKE_EOF, -1, "without answering"},
        {SERVE_RAW_CLOSE, "\x16\x03\x03\x00", 4, NETLIB_TLS_HANDSHAKE_EOF, -1, "during the TLS handshake"},
        {SERVE_RAW_CLOSE, "\x15\x03\x03\x00\x02\x02\x28", 7, NETLIB_TLS_ALERT, 40, "handshake_failure"},
        {SERVE_RAW_CLOSE, "\x15\x03\x03\x00\x02\x02\x70", 7, NETLIB_TLS_ALERT, 112, "no site of the name"},
        {SERVE_RAW, "\x16\x03\x03\x00\x04\x02\x00\x00\x00", 9, NETLIB_TLS_PROTOCOL, 50, "malformed"},
        {SERVE_RAW, "\x17\x03\x03\x00\x01x", 6, NETLIB_TLS_PROTOCOL, -1, "TLS protocol"},
    };
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pair pair = unix_pair();
        struct server peer = {.does = rows[i].does, .fd = pair.far, .raw = rows[i].raw, .raw_len = rows[i].len};
        server_start(&peer);
        netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_tls_stream_handshake(stream, &err);
        if (rows[i].alert >= 0) CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
        const char *message = netlib_error_message(err, NULL);
        CHECK(message != NULL && strstr(message, rows[i].says) != NULL);
        if (message != NULL && strstr(message, rows[i].says) == NULL) fprintf(stderr, "    row %zu: %s\n", i, message);
        CHECK_STATUS(rows[i].status, status);
        CHECK_STATUS(rows[i].status, netlib_tls_stream_handshake(stream, &err));
        netlib_tls_stream_free(stream);
        close(pair.near);
        server_join(&peer);
    }
    /* The same on the server's side. */
    netlib_tls_context *server = server_context("server");
    struct pair pair = unix_pair();
    CHECK(send(pair.near, "GET /?secret HTTP/1.1\r\n", 23, 0) == 23);
    netlib_tls_stream *stream = accept_tls(server, pair.far);
    netlib_status status = netlib_tls_stream_handshake(stream, &err);
    CHECK(strstr(netlib_error_message(err, NULL), "plain HTTP request") != NULL);
    CHECK(strstr(netlib_error_message(err, NULL), "secret") == NULL);
    CHECK_STATUS(NETLIB_NOT_TLS, status);
    netlib_tls_stream_free(stream);
    close_pair(pair);

    /* No version in common: the server's alert, and the reason on its side. */
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_1_2);
    netlib_tls_context *old = context_of(options);
    options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_1_3);
    netlib_tls_context *new = context_of(options);
    pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = new, .fd = pair.far};
    server_start(&peer);
    stream = wrap(old, pair.near, "localhost");
    status = netlib_tls_stream_handshake(stream, &err);
    CHECK_INT(70, netlib_error_tls_alert(err));
    CHECK_STATUS(NETLIB_TLS_ALERT, status);
    server_join(&peer);
    CHECK_INT(NETLIB_TLS_PROTOCOL, peer.status);
    CHECK(strstr(peer.message, "no TLS version in common") != NULL);
    netlib_tls_stream_free(stream);
    close(pair.near);
    /* A server's context without trust cannot connect. */
    CHECK_STATUS(NETLIB_NO_TRUST_ANCHORS, netlib_tls_wrap_fd(new, -1, "localhost", &stream, &err));

    netlib_tls_context_free(old);
    netlib_tls_context_free(new);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void ends_are_told_apart(void) {
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
        netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
        char buffer[16];
        size_t n = 0;
        CHECK_OK(netlib_tls_stream_read(stream, buffer, 0, &n, &err));
        CHECK_OK(netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
        CHECK_INT(4, (long long)n);
        server_join(&peer);
        for (int again = 0; again < 2; again++) {
            CHECK_STATUS(rows[i].status, netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
        }
        /* The peer is gone altogether: no signal, and only a clean end makes our own last word needless. */
        netlib_status gone = netlib_tls_stream_shutdown(stream, &err);
        CHECK_INT(rows[i].does == SERVE_CLEAN ? 0 : EPIPE, netlib_error_errno(err));
        CHECK_STATUS(rows[i].does == SERVE_CLEAN ? NETLIB_OK : NETLIB_PROTOCOL, gone);
        netlib_tls_stream_free(stream);
        close(pair.near);
    }
    /* A client that says all it has to say and is gone before the server's last flight: what it said can be read. */
    struct pair gone = unix_pair();
    netlib_tls_stream *brief = wrap(client, gone.near, "localhost");
    netlib_tls_stream *slow = accept_tls(server, gone.far);
    size_t said = 0;
    char heard[16];
    CHECK_OK(netlib_tls_stream_set_blocking(brief, 0, &err));
    CHECK_OK(netlib_tls_stream_set_blocking(slow, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(brief, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(slow, &err));
    CHECK_OK(netlib_tls_stream_write(brief, "brief", 5, &said, &err));
    CHECK_OK(netlib_tls_stream_shutdown(brief, &err));
    netlib_tls_stream_free(brief);
    close(gone.near);
    CHECK_OK(netlib_tls_stream_read(slow, heard, sizeof heard, &said, &err));
    CHECK_INT(5, (long long)said);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(slow, heard, sizeof heard, &said, &err));
    CHECK_STATUS(NETLIB_PROTOCOL, netlib_tls_stream_write(slow, "x", 1, &said, &err));
    netlib_tls_stream_free(slow);
    close(gone.far);
    /* A reset, in the handshake and after it. */
    for (int after = 0; after < 2; after++) {
        struct pair pair = tcp_pair();
        netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
        netlib_tls_stream *other = accept_tls(server, pair.far);
        char buffer[4096];
        size_t n = 0;
        if (after) {
            netlib_tls_stream_set_blocking(stream, 0, NULL);
            netlib_tls_stream_set_blocking(other, 0, NULL);
            for (int i = 0; i < 20; i++) {
                (void)netlib_tls_stream_handshake(stream, NULL);
                (void)netlib_tls_stream_handshake(other, NULL);
            }
            CHECK_OK(netlib_tls_stream_handshake(stream, &err));
            netlib_tls_stream_set_blocking(stream, 1, NULL);
        }
        reset_connection(pair.far);
        netlib_status status = netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err);
        CHECK(netlib_error_errno(err) == ECONNRESET || netlib_error_errno(err) == EPIPE);
        netlib_status expected = after ? NETLIB_PROTOCOL : NETLIB_TLS_HANDSHAKE_EOF;
        CHECK_STATUS(expected, status);
        CHECK_STATUS(expected, netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
        CHECK_STATUS(expected, netlib_tls_stream_write(stream, buffer, sizeof buffer, &n, &err));
        /* Before the handshake is done nothing of a request has reached the server. */
        CHECK_INT(after ? NETLIB_RETRY_KIND_READ : NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(expected));
        netlib_tls_stream_free(stream);
        netlib_tls_stream_free(other);
        close(pair.near);
    }
    /* Bad descriptors are the program's mistakes, and no failure of the session. */
    netlib_tls_stream *stream = wrap(client, -1, "localhost");
    CHECK_STATUS(NETLIB_IO, netlib_tls_stream_handshake(stream, &err));
    CHECK_STATUS(NETLIB_IO, netlib_tls_stream_handshake(stream, &err));
    netlib_tls_stream_free(stream);

    /* A listening socket would be waited on for ever. */
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listen(listener, 1) == 0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_fd(client, listener, "localhost", &stream, &err));
    CHECK(stream == NULL);
    close(listener);
    /* The result of a receive that failed is no length. */
    stream = wrap(client, -1, "localhost");
    char some[4] = "abc";
    size_t sent = 0;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_stream_write(stream, some, (size_t)-1, &sent, &err));
    netlib_tls_stream_free(stream);

    /* A shutdown before the handshake: nothing is sent, and nothing can be written. */
    struct pair pair = unix_pair();
    char byte;
    size_t n = 0;
    stream = wrap(client, pair.near, "localhost");
    CHECK_OK(netlib_tls_stream_shutdown(stream, &err));
    CHECK(recv(pair.far, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    CHECK_STATUS(NETLIB_CLOSED, netlib_tls_stream_write(stream, "x", 1, &n, &err));
    /* Reading still shakes hands, and the peer is told then. */
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
    server_start(&peer);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(stream, &byte, 1, &n, &err));
    server_join(&peer);
    CHECK_INT(NETLIB_END_OF_STREAM, peer.status);
    netlib_tls_stream_free(stream);
    close(pair.near);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

struct flow {
    netlib_tls_stream *stream;
    size_t total;
    size_t chunk;
    netlib_status status;
    bool intact;
};

static unsigned char at_position(size_t i) { return (unsigned char)((i * 2654435761u) >> 24); }

static void *write_flow(void *argument) {
    struct flow *flow = argument;
    unsigned char *bytes = malloc(flow->chunk);
    netlib_error *err = NULL;
    flow->status = NETLIB_OK;
    for (size_t done = 0; done < flow->total && flow->status == NETLIB_OK;) {
        size_t len = flow->total - done < flow->chunk ? flow->total - done : flow->chunk, n = 0;
        for (size_t i = 0; i < len; i++) bytes[i] = at_position(done + i);
        flow->status = netlib_tls_stream_write(flow->stream, bytes, len, &n, &err);
        done += n;
    }
    if (flow->status == NETLIB_OK) flow->status = netlib_tls_stream_shutdown(flow->stream, &err);
    netlib_error_free(err);
    free(bytes);
    return NULL;
}

static void *read_flow(void *argument) {
    struct flow *flow = argument;
    unsigned char *bytes = malloc(flow->chunk);
    netlib_error *err = NULL;
    size_t done = 0;
    flow->intact = true;
    for (;;) {
        size_t n = 0;
        flow->status = netlib_tls_stream_read(flow->stream, bytes, flow->chunk, &n, &err);
        if (flow->status != NETLIB_OK) break;
        for (size_t i = 0; i < n; i++) flow->intact &= bytes[i] == at_position(done + i);
        done += n;
    }
    flow->intact &= done == flow->total;
    netlib_error_free(err);
    free(bytes);
    return NULL;
}

/* Reader and writer threads on both sides at once; none of them has shaken hands before. */
static void both_ways_at_once(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    static const size_t chunks[][2] = {{100000, 16384}, {16384, 100000}, {1000, 5000}};
    for (size_t row = 0; row < sizeof chunks / sizeof chunks[0]; row++) {
        struct pair pair = row == 0 ? tcp_pair() : unix_pair();
        netlib_tls_stream *near = wrap(client, pair.near, "localhost");
        netlib_tls_stream *far = accept_tls(server, pair.far);
        CHECK_OK(netlib_tls_stream_set_read_timeout(near, LONG, &err));
        CHECK_OK(netlib_tls_stream_set_write_timeout(far, LONG, &err));
        size_t total = (row == 2 ? 300 : 3000) * 1000;
        struct flow flows[4] = {
            {near, total, chunks[row][0], 0, true},
            {far, total, chunks[row][1], 0, true},
            {far, total, chunks[row][0], 0, true},
            {near, total, chunks[row][1], 0, true},
        };
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++) {
            CHECK(pthread_create(&threads[i], NULL, i % 2 == 0 ? write_flow : read_flow, &flows[i]) == 0);
        }
        for (size_t i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        for (size_t i = 0; i < 4; i++) {
            CHECK_INT(i % 2 == 0 ? NETLIB_OK : NETLIB_END_OF_STREAM, flows[i].status);
            CHECK(flows[i].intact);
        }
        netlib_tls_stream_free(near);
        netlib_tls_stream_free(far);
        close_pair(pair);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* One thread, both ends, calls that never wait, and a socket with little room. */
static void without_waiting(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    struct pair pair = unix_pair();
    int little = 4096;
    setsockopt(pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    setsockopt(pair.far, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    netlib_tls_stream *near = wrap(client, pair.near, "localhost");
    netlib_tls_stream *far = accept_tls(server, pair.far);
    CHECK_OK(netlib_tls_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_tls_stream_set_blocking(far, 0, &err));
    size_t n = 0;
    char byte;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(near, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_read(near, &byte, 1, &n, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_write(near, "x", 1, &n, &err));
    CHECK_INT(0, (long long)n);

    enum { TOTAL = 400000 };
    static unsigned char sent[TOTAL], received[TOTAL];
    for (size_t i = 0; i < TOTAL; i++) sent[i] = at_position(i);
    size_t written = 0, read = 0, wants_read = 0, wants_write = 0;
    bool shut = false, ended = false;
    for (long turn = 0; turn < 1000000 && !ended; turn++) {
        netlib_status status;
        if (written < TOTAL) {
            status = netlib_tls_stream_write(near, sent + written, TOTAL - written, &n, &err);
            written += n;
        } else if (!shut) {
            status = netlib_tls_stream_shutdown(near, &err);
            shut = status == NETLIB_OK;
        } else {
            status = NETLIB_OK;
        }
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_WRITE || status == NETLIB_WANT_READ);
        wants_write += status == NETLIB_WANT_WRITE;
        status = netlib_tls_stream_read(far, received + read, TOTAL - read < 1 ? 1 : TOTAL - read, &n, &err);
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_READ || status == NETLIB_WANT_WRITE ||
              status == NETLIB_END_OF_STREAM);
        wants_read += status == NETLIB_WANT_READ;
        ended = status == NETLIB_END_OF_STREAM;
        read += n;
    }
    CHECK(ended);
    CHECK_INT(TOTAL, (long long)written);
    CHECK_INT(TOTAL, (long long)read);
    CHECK(memcmp(sent, received, TOTAL) == 0);
    CHECK(wants_read > 0 && wants_write > 0);
    netlib_tls_stream_free(near);
    netlib_tls_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* Two ends that have shaken hands. */
static void established(const netlib_tls_context *client, const netlib_tls_context *server, struct pair pair,
                        netlib_tls_stream **near, netlib_tls_stream **far) {
    netlib_error *err = NULL;
    *near = wrap(client, pair.near, "localhost");
    *far = accept_tls(server, pair.far);
    CHECK_OK(netlib_tls_stream_set_blocking(*near, 0, &err));
    CHECK_OK(netlib_tls_stream_set_blocking(*far, 0, &err));
    for (int i = 0; i < 10; i++) {
        (void)netlib_tls_stream_handshake(*near, NULL);
        (void)netlib_tls_stream_handshake(*far, NULL);
    }
    CHECK_OK(netlib_tls_stream_handshake(*near, &err));
    CHECK_OK(netlib_tls_stream_handshake(*far, &err));
    CHECK_OK(netlib_tls_stream_set_blocking(*near, 1, &err));
    CHECK_OK(netlib_tls_stream_set_blocking(*far, 1, &err));
}

static void timeouts_end_calls_and_not_sessions(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    static char bytes[3000000], buffer[65536];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)at_position(i);
    size_t n = 0;

    /* In the handshake: nobody answers. Then somebody does. */
    struct pair pair = unix_pair();
    netlib_tls_stream *near = wrap(client, pair.near, "localhost");
    CHECK_OK(netlib_tls_stream_set_read_timeout(near, 0.01, &err));
    netlib_status status = netlib_tls_stream_handshake(near, &err);
    CHECK(strstr(netlib_error_message(err, NULL), "handshake") != NULL);
    CHECK_STATUS(NETLIB_READ_TIMEOUT, status);
    struct server peer = {.does = SERVE_CLEAN, .context = server, .fd = pair.far};
    server_start(&peer);
    CHECK_OK(netlib_tls_stream_set_read_timeout(near, LONG, &err));
    CHECK_OK(netlib_tls_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_INT(4, (long long)n);
    server_join(&peer);
    netlib_tls_stream_free(near);
    close(pair.near);

    /* Reading, after which reading goes on. */
    netlib_tls_stream *far = NULL;
    pair = unix_pair();
    established(client, server, pair, &near, &far);
    CHECK_OK(netlib_tls_stream_set_read_timeout(near, 0.0, &err));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_tls_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_OK(netlib_tls_stream_set_read_timeout(near, 0.005, &err));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_tls_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_OK(netlib_tls_stream_write(far, "late", 4, &n, &err));
    CHECK_OK(netlib_tls_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_INT(4, (long long)n);

    /* Writing to somebody who does not read, then to one who does: the same bytes again, none of them twice. */
    CHECK_OK(netlib_tls_stream_set_write_timeout(near, 0.01, &err));
    CHECK_STATUS(NETLIB_WRITE_TIMEOUT, netlib_tls_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_WRITE_TIMEOUT, netlib_tls_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_stream_write(near, bytes, 1, &n, &err));
    CHECK_OK(netlib_tls_stream_set_write_timeout(near, LONG, &err));
    struct flow flow = {far, sizeof bytes, 50000, 0, true};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_flow, &flow) == 0);
    CHECK_OK(netlib_tls_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_INT(sizeof bytes, (long long)n);
    CHECK_OK(netlib_tls_stream_shutdown(near, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(flow.intact);
    CHECK_INT(NETLIB_END_OF_STREAM, flow.status);
    static const double bad[] = {-2.0, -0.5};
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_stream_set_read_timeout(near, bad[i], &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_stream_set_write_timeout(near, bad[i], &err));
    }
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_stream_set_blocking(near, 2, &err));
    CHECK_OK(netlib_tls_stream_set_read_timeout(near, NETLIB_TIMEOUT_DEFAULT, &err));
    netlib_tls_stream_free(near);
    netlib_tls_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

struct waiter {
    netlib_tls_stream *stream;
    bool writes;
    netlib_status status;
    char byte;
};

static void *wait_in_a_call(void *argument) {
    struct waiter *waiter = argument;
    static char bytes[3000000];
    size_t n = 0;
    waiter->status = waiter->writes ? netlib_tls_stream_write(waiter->stream, bytes, sizeof bytes, &n, NULL)
                                    : netlib_tls_stream_read(waiter->stream, &waiter->byte, 1, &n, NULL);
    return NULL;
}

/* Until the thread is in the call, by what only then is true: its role is taken. */
static void until_taken(netlib_tls_stream *stream, bool writes) {
    for (;;) {
        size_t n = 0;
        char byte;
        netlib_status status =
            writes ? netlib_tls_stream_write(stream, "", 0, &n, NULL) : netlib_tls_stream_read(stream, &byte, 0, &n, NULL);
        if (status == NETLIB_BUSY) return;
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
}

static void limits_end_every_wait(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    char byte;
    size_t n = 0;
    for (int stage = 0; stage < 3; stage++) { /* in the handshake, reading, writing */
        for (int cancel = 0; cancel < 2; cancel++) {
            struct pair pair = unix_pair();
            netlib_tls_stream *near = NULL, *far = NULL;
            if (stage == 0) {
                near = wrap(client, pair.near, "localhost");
            } else {
                established(client, server, pair, &near, &far);
            }
            netlib_limit *limit = NULL;
            CHECK_OK(netlib_limit_new(cancel ? NETLIB_TIMEOUT_NONE : 0.02, &limit, &err));
            CHECK_OK(netlib_tls_stream_set_limit(near, limit, &err));
            struct waiter waiter = {near, stage == 2, NETLIB_OK, 0};
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, wait_in_a_call, &waiter) == 0);
            if (cancel) {
                until_taken(near, stage == 2);
                netlib_limit_cancel(limit);
            }
            CHECK(pthread_join(thread, NULL) == 0);
            netlib_status expected = cancel ? NETLIB_CANCELLED : NETLIB_DEADLINE_EXCEEDED;
            CHECK_INT(expected, waiter.status);
            /* It stays so, until the stream has another limit. */
            if (stage < 2) {
                CHECK_STATUS(expected, netlib_tls_stream_read(near, &byte, 1, &n, &err));
            }
            CHECK_OK(netlib_tls_stream_set_limit(near, NULL, &err));
            if (stage == 1) {
                CHECK_OK(netlib_tls_stream_write(far, "x", 1, &n, &err));
                CHECK_OK(netlib_tls_stream_read(near, &byte, 1, &n, &err));
            }
            netlib_limit_free(limit);
            netlib_tls_stream_free(near);
            netlib_tls_stream_free(far);
            close_pair(pair);
        }
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void one_reader_and_one_writer(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    struct pair pair = unix_pair();
    netlib_tls_stream *near = NULL, *far = NULL;
    established(client, server, pair, &near, &far);
    struct waiter waiter = {near, false, NETLIB_OK, 0};
    pthread_t thread;
    char byte;
    size_t n = 0;
    CHECK(pthread_create(&thread, NULL, wait_in_a_call, &waiter) == 0);
    until_taken(near, false);
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_stream_read(near, &byte, 1, &n, &err));
    /* Writing is not disturbed by the reader, who is waiting. */
    CHECK_OK(netlib_tls_stream_write(near, "ping", 4, &n, &err));
    char buffer[8];
    CHECK_OK(netlib_tls_stream_read(far, buffer, sizeof buffer, &n, &err));
    CHECK_INT(4, (long long)n);
    CHECK_OK(netlib_tls_stream_write(far, "!", 1, &n, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_OK, waiter.status);
    CHECK(waiter.byte == '!');

    waiter.writes = true;
    CHECK(pthread_create(&thread, NULL, wait_in_a_call, &waiter) == 0);
    until_taken(near, true);
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_stream_write(near, "x", 1, &n, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_stream_shutdown(near, &err));
    close(pair.far);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_PROTOCOL, waiter.status);
    netlib_tls_stream_free(near);
    netlib_tls_stream_free(far);
    close(pair.near);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* Passes everything on, one byte at a time, until either side ends. */
static void *drip(void *argument) {
    struct pair *between = argument;
    bool open[2] = {true, true};
    while (open[0] || open[1]) {
        struct pollfd fds[2] = {{open[0] ? between->near : -1, POLLIN, 0}, {open[1] ? between->far : -1, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0) break;
        for (int i = 0; i < 2; i++) {
            int from = i == 0 ? between->near : between->far, to = i == 0 ? between->far : between->near;
            char byte;
            if (!open[i] || fds[i].revents == 0) continue;
            open[i] = recv(from, &byte, 1, 0) == 1 && send(to, &byte, 1, MSG_NOSIGNAL) == 1;
            if (!open[i]) shutdown(to, SHUT_WR);
        }
    }
    return NULL;
}

static void a_peer_that_sends_byte_by_byte(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    struct pair left = unix_pair(), right = unix_pair();
    struct pair between = {left.far, right.near};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, drip, &between) == 0);
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = right.far};
    server_start(&peer);
    netlib_tls_stream *stream = wrap(client, left.near, "localhost");
    char sent[3000], received[3000];
    size_t n = 0;
    memset(sent, 'd', sizeof sent);
    CHECK_OK(netlib_tls_stream_write(stream, sent, sizeof sent, &n, &err));
    for (size_t read = 0; read < sizeof received; read += n) {
        netlib_status status = netlib_tls_stream_read(stream, received + read, sizeof received - read, &n, &err);
        CHECK_OK(status);
        if (status != NETLIB_OK) break;
    }
    CHECK(memcmp(sent, received, sizeof sent) == 0);
    CHECK_OK(netlib_tls_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(stream, received, 1, &n, &err));
    netlib_tls_stream_free(stream);
    close(left.near);
    server_join(&peer);
    CHECK(pthread_join(thread, NULL) == 0);
    close_pair(between);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    what_the_peer_may_do();
    ends_are_told_apart();
    both_ways_at_once();
    without_waiting();
    timeouts_end_calls_and_not_sessions();
    limits_end_every_wait();
    one_reader_and_one_writer();
    a_peer_that_sends_byte_by_byte();
    return report("tls stream");
}
