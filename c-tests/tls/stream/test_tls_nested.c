/* Tests TLS in TLS: streams inside other streams, each with its own server name. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <time.h>

enum { MOST = 16 };

static netlib_tls_context *client, *server;

static netlib_stream *wrap_in(netlib_stream *outer, const char *name) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_stream(client, outer, name, &stream, &err));
    return stream;
}

static netlib_stream *accept_in(netlib_stream *outer) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_accept_stream(server, outer, &stream, &err));
    return stream;
}

/* Both ends of a connection with `depth` nested sessions. Index 0 is the outermost session. */
struct nest {
    struct pair pair;
    size_t depth;
    netlib_stream *near[MOST], *far[MOST];
};

static struct nest make_nest(struct pair pair, size_t depth) {
    struct nest nest = {.pair = pair, .depth = depth};
    nest.near[0] = wrap(client, pair.near, "localhost");
    nest.far[0] = accept_tls(server, pair.far);
    for (size_t i = 1; i < depth; i++) {
        nest.near[i] = wrap_in(nest.near[i - 1], "localhost");
        nest.far[i] = accept_in(nest.far[i - 1]);
    }
    return nest;
}

static netlib_stream *near_of(const struct nest *nest) { return nest->near[nest->depth - 1]; }
static netlib_stream *far_of(const struct nest *nest) { return nest->far[nest->depth - 1]; }

static void free_nest(struct nest *nest) {
    /* Frees the near streams from the outermost to the innermost, and the far streams from the innermost to the
     * outermost. Both orders are safe, because an inner stream keeps its outer stream alive. */
    for (size_t i = 0; i < nest->depth; i++) {
        netlib_stream_free(nest->near[i]);
        netlib_stream_free(nest->far[nest->depth - 1 - i]);
    }
    close_pair(nest->pair);
}

static void set_non_blocking(struct nest *nest) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_set_blocking(near_of(nest), 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far_of(nest), 0, &err));
}

/* Does the handshakes of both ends on one thread. */
static void do_handshakes(struct nest *nest) {
    netlib_error *err = NULL;
    netlib_status near = NETLIB_WANT_READ, far = NETLIB_WANT_READ;
    set_non_blocking(nest);
    for (int turn = 0; turn < 100 && (near != NETLIB_OK || far != NETLIB_OK); turn++) {
        near = netlib_stream_handshake(near_of(nest), &err);
        CHECK(near == NETLIB_OK || near == NETLIB_WANT_READ);
        far = netlib_stream_handshake(far_of(nest), &err);
        CHECK(far == NETLIB_OK || far == NETLIB_WANT_READ);
    }
    CHECK_INT(NETLIB_OK, near);
    CHECK_INT(NETLIB_OK, far);
    netlib_stream_set_blocking(near_of(nest), 1, NULL);
    netlib_stream_set_blocking(far_of(nest), 1, NULL);
}

/* Reader and writer threads at both ends start before any handshake. */
static void nested_tls_streams_read_and_write_at_the_same_time(void) {
    netlib_error *err = NULL;
    static const struct {
        size_t depth, total, write_chunk, read_chunk;
        bool tcp;
    } rows[] = {
        {2, 3000000, 100000, 16384, true},
        {2, 300000, 1000, 5000, false},
        {3, 2000000, 16384, 100000, false},
        {MOST, 300000, 70000, 3000, true},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct nest nest = make_nest(rows[row].tcp ? tcp_pair() : unix_pair(), rows[row].depth);
        netlib_stream *near = near_of(&nest), *far = far_of(&nest);
        CHECK_OK(netlib_stream_set_read_timeout(near, LONG, &err));
        CHECK_OK(netlib_stream_set_write_timeout(far, LONG, &err));
        transfer_with_threads(near, far, rows[row].total, rows[row].write_chunk, rows[row].read_chunk);
        for (size_t i = 0; i < rows[row].depth; i++) {
            CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_stream_tls_version(nest.near[i]));
            CHECK_INT(2, (long long)netlib_stream_peer_certificate_count(nest.near[i]) + 1);
        }
        free_nest(&nest);
    }
}

/* One thread serves both ends with non-blocking calls, over a socket with small buffers. */
static void nested_non_blocking_streams_transfer_all_data(void) {
    netlib_error *err = NULL;
    for (size_t depth = 2; depth <= 3; depth++) {
        struct nest nest = make_nest(unix_pair(), depth);
        int little = 4096;
        setsockopt(nest.pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
        setsockopt(nest.pair.far, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
        netlib_stream *near = near_of(&nest), *far = far_of(&nest);
        set_non_blocking(&nest);
        size_t n = 0;
        char byte;
        CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(near, &err));
        CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(near, &byte, 1, &n, &err));
        CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_write(near, "x", 1, &n, &err));
        CHECK_INT(0, (long long)n);
        transfer_without_waiting(near, far, 400000);
        free_nest(&nest);
    }
}

/* An https proxy and the server behind it: an outer session with the context `outer` that carries a session with the
 * context `inner`. */
struct proxy {
    struct pair pair;
    const netlib_tls_context *outer, *inner;
    netlib_status outer_status, inner_status;
    int32_t alert;
    pthread_t thread;
};

static void *proxy_main(void *argument) {
    struct proxy *proxy = argument;
    netlib_stream *outer = accept_tls(proxy->outer, proxy->pair.far), *inner = NULL;
    netlib_error *err = NULL;
    char byte;
    size_t n = 0;
    proxy->alert = -1;
    proxy->outer_status = netlib_stream_handshake(outer, &err);
    proxy->inner_status = proxy->outer_status;
    if (proxy->outer_status == NETLIB_OK) {
        CHECK_OK(netlib_tls_accept_stream(proxy->inner, outer, &inner, &err));
        proxy->inner_status = netlib_stream_handshake(inner, &err);
        /* The handshake of a TLS 1.3 server is complete before the client refuses the certificate. The next read gets
         * the alert. */
        if (proxy->inner_status == NETLIB_OK) proxy->inner_status = netlib_stream_read(inner, &byte, 1, &n, &err);
    }
    proxy->alert = netlib_error_tls_alert(err);
    netlib_error_free(err);
    netlib_stream_free(inner);
    netlib_stream_free(outer);
    return NULL;
}

/* A certificate for another name makes only the handshake of its own layer fail. */
static void each_tls_layer_verifies_its_own_server_name(void) {
    netlib_tls_context *other = server_context("wrong-name");
    const struct {
        const netlib_tls_context *outer, *inner;
        const char *outer_name, *inner_name;
        netlib_status status;
        const char *message_part;
    } rows[] = {
        {server, server, "localhost", "127.0.0.1", NETLIB_OK, ""},
        {other, server, "localhost", "127.0.0.1", NETLIB_HOSTNAME_MISMATCH, "\"localhost\""},
        {server, other, "localhost", "127.0.0.1", NETLIB_HOSTNAME_MISMATCH, "\"127.0.0.1\""},
        {other, other, "localhost", "127.0.0.1", NETLIB_HOSTNAME_MISMATCH, "\"localhost\""},
        /* The certificate matches the name of one layer only, so the handshake of the other layer fails. */
        {server, server, "localhost", "elsewhere.example", NETLIB_HOSTNAME_MISMATCH, "\"elsewhere.example\""},
        {server, server, "elsewhere.example", "localhost", NETLIB_HOSTNAME_MISMATCH, "\"elsewhere.example\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        struct proxy proxy = {.pair = unix_pair(), .outer = rows[i].outer, .inner = rows[i].inner};
        netlib_stream *outer = wrap(client, proxy.pair.near, rows[i].outer_name);
        netlib_stream *inner = wrap_in(outer, rows[i].inner_name);
        CHECK(pthread_create(&proxy.thread, NULL, proxy_main, &proxy) == 0);
        netlib_status status = netlib_stream_handshake(inner, &err);
        const char *message = err != NULL ? netlib_error_message(err, NULL) : "";
        CHECK(strstr(message, rows[i].message_part) != NULL);
        if (strstr(message, rows[i].message_part) == NULL) fprintf(stderr, "    row %zu: %s\n", i, message);
        if (status != NETLIB_OK)
            CHECK_INT(NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH, netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].status, status);
        size_t n = 0;
        CHECK_STATUS(rows[i].status, netlib_stream_write(inner, "x", 1, &n, &err));
        CHECK(pthread_join(proxy.thread, NULL) == 0);
        bool outer_is_right = netlib_stream_tls_version(outer) != 0;
        CHECK_INT(outer_is_right ? NETLIB_OK : NETLIB_TLS_ALERT, proxy.outer_status);
        CHECK_INT(status == NETLIB_OK ? NETLIB_OK : NETLIB_TLS_ALERT, proxy.inner_status);
        CHECK_INT(status == NETLIB_OK ? -1 : 42, proxy.alert);
        netlib_stream_free(inner);
        netlib_stream_free(outer);
        close_pair(proxy.pair);
    }
    /* Creating an inner client stream without a server name fails. */
    netlib_error *err = NULL;
    netlib_stream *outer = wrap(client, -1, "localhost"), *inner = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_stream(client, outer, NULL, &inner, &err));
    CHECK(inner == NULL);
    /* After the failure, the outer stream is not busy: its handshake tries to use the invalid descriptor. */
    netlib_status status = netlib_stream_handshake(outer, &err);
    CHECK_STATUS(NETLIB_IO, status);
    netlib_stream_free(outer);
    netlib_tls_context_free(other);
}

#define CHECK_BUSY(call) \
    do { \
        netlib_status is_busy = (call); \
        const char *why = err != NULL ? netlib_error_message(err, NULL) : ""; \
        CHECK_STR("another stream uses this one as its transport: use that stream, or free it first", why); \
        CHECK_STATUS(NETLIB_BUSY, is_busy); \
    } while (0)

/* Only the inner stream can use the outer stream until the inner stream is freed. */
static void the_outer_stream_is_busy_until_the_inner_one_is_freed(void) {
    netlib_error *err = NULL;
    struct nest nest = make_nest(unix_pair(), 1);
    netlib_stream *near = nest.near[0], *far = nest.far[0], *third = NULL;
    char buffer[64];
    size_t n = 0;
    do_handshakes(&nest);
    CHECK_OK(netlib_stream_write(far, "first", 5, &n, &err));
    CHECK_OK(netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_INT(5, (long long)n);

    netlib_stream *inner = wrap_in(near, "localhost"), *inner_far = accept_in(far);
    CHECK_BUSY(netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_BUSY(netlib_stream_read(near, buffer, 0, &n, &err));
    CHECK_BUSY(netlib_stream_write(near, "x", 1, &n, &err));
    CHECK_BUSY(netlib_stream_writev(near, NULL, 0, &n, &err));
    CHECK_BUSY(netlib_stream_handshake(near, &err));
    CHECK_BUSY(netlib_stream_shutdown(near, &err));
    CHECK_BUSY(netlib_stream_shutdown_both(near, &err));
    CHECK_BUSY(netlib_tls_wrap_stream(client, near, "localhost", &third, &err));
    CHECK_BUSY(netlib_tls_accept_stream(server, near, &third, &err));
    CHECK(third == NULL);
    CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_stream_tls_version(near));
    CHECK_INT(0, (long long)netlib_stream_pending(near));
    CHECK(netlib_stream_cipher_suite(near, NULL) != NULL);

    struct nest pair = {.pair = nest.pair, .depth = 1, .near = {inner}, .far = {inner_far}};
    do_handshakes(&pair);
    CHECK_OK(netlib_stream_write(inner, "inside", 6, &n, &err));
    CHECK_OK(netlib_stream_read(inner_far, buffer, sizeof buffer, &n, &err));
    CHECK_INT(6, (long long)n);
    CHECK(memcmp(buffer, "inside", 6) == 0);

    /* One thread shuts down both ends. Each call sends the close_notify for which the other end waits. */
    CHECK_OK(netlib_stream_set_blocking(inner, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_shutdown_both(inner, &err));
    CHECK_OK(netlib_stream_shutdown_both(inner_far, &err));
    CHECK_OK(netlib_stream_shutdown_both(inner, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_stream_write(inner, "x", 1, &n, &err));
    netlib_stream_free(inner);
    netlib_stream_free(inner_far);
    CHECK_OK(netlib_stream_write(near, "after", 5, &n, &err));
    CHECK_OK(netlib_stream_read(far, buffer, sizeof buffer, &n, &err));
    CHECK_INT(5, (long long)n);
    CHECK(memcmp(buffer, "after", 5) == 0);
    CHECK_OK(netlib_stream_shutdown(near, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(far, buffer, sizeof buffer, &n, &err));
    /* A stream that has been shut down cannot become the transport of another stream. */
    CHECK_STATUS(NETLIB_CLOSED, netlib_tls_wrap_stream(client, near, "localhost", &third, &err));
    free_nest(&nest);

    /* A stream with an incomplete write cannot become a transport until the application completes the write. */
    nest = make_nest(unix_pair(), 1);
    near = nest.near[0];
    int little = 4096;
    setsockopt(nest.pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    do_handshakes(&nest);
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    static char much[200000];
    netlib_status status;
    do status = netlib_stream_write(near, much, sizeof much, &n, &err);
    while (status == NETLIB_OK);
    CHECK_STATUS(NETLIB_WANT_WRITE, status);
    status = netlib_tls_wrap_stream(client, near, "localhost", &third, &err);
    CHECK_CONTAINS("not finished", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_BUSY, status);
    free_nest(&nest);

    /* An inner stream is freed in the middle of a write. The outer stream first sends the remaining bytes of that
     * write, and then continues. */
    nest = make_nest(unix_pair(), 1);
    near = nest.near[0];
    far = nest.far[0];
    setsockopt(nest.pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    do_handshakes(&nest);
    inner = wrap_in(near, "localhost");
    inner_far = accept_in(far);
    struct nest both = {.pair = nest.pair, .depth = 1, .near = {inner}, .far = {inner_far}};
    do_handshakes(&both);
    CHECK_OK(netlib_stream_set_blocking(inner, 0, &err));
    do status = netlib_stream_write(inner, much, sizeof much, &n, &err);
    while (status == NETLIB_OK);
    CHECK_STATUS(NETLIB_WANT_WRITE, status);
    netlib_stream_free(inner);
    netlib_stream_free(inner_far);
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    char last = 0;
    for (status = NETLIB_WANT_WRITE; status == NETLIB_WANT_WRITE;) {
        status = netlib_stream_write(near, "!", 1, &n, &err);
        while (netlib_stream_read(far, much, sizeof much, &n, NULL) == NETLIB_OK) last = much[n - 1];
    }
    CHECK_OK(status);
    CHECK_INT('!', last);
    free_nest(&nest);

    /* The number of nested streams is limited, so that they do not exhaust the stack. */
    nest = make_nest(unix_pair(), MOST);
    CHECK_STATUS(NETLIB_UNSUPPORTED, netlib_tls_wrap_stream(client, near_of(&nest), "localhost", &third, &err));
    CHECK_STATUS(NETLIB_UNSUPPORTED, netlib_tls_accept_stream(server, far_of(&nest), &third, &err));
    free_nest(&nest);
}

/* The status of the innermost stream is NETLIB_END_OF_STREAM if its peer has sent close_notify, and
 * NETLIB_TLS_TRUNCATED otherwise. */
static void only_close_notify_of_the_innermost_stream_gives_end_of_stream(void) {
    static const struct {
        bool inner_closes, outer_closes;
        netlib_status status;
    } rows[] = {
        {true, true, NETLIB_END_OF_STREAM},
        {true, false, NETLIB_END_OF_STREAM},
        {false, true, NETLIB_TLS_TRUNCATED},
        {false, false, NETLIB_TLS_TRUNCATED},
    };
    for (size_t depth = 2; depth <= 3; depth++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            netlib_error *err = NULL;
            struct nest nest = make_nest(unix_pair(), depth);
            netlib_stream *near = near_of(&nest), *far = far_of(&nest);
            char buffer[16];
            size_t n = 0;
            do_handshakes(&nest);
            CHECK_OK(netlib_stream_write(far, "data", 4, &n, &err));
            if (rows[i].inner_closes) CHECK_OK(netlib_stream_shutdown(far, &err));
            netlib_stream_free(far);
            nest.far[depth - 1] = NULL;
            if (rows[i].outer_closes) CHECK_OK(netlib_stream_shutdown(nest.far[depth - 2], &err));
            close(nest.pair.far);
            nest.pair.far = -1;
            CHECK_OK(netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
            CHECK_INT(4, (long long)n);
            for (int again = 0; again < 2; again++) {
                netlib_status status = netlib_stream_read(near, buffer, sizeof buffer, &n, &err);
                /* If the connection ended without any close_notify, the error has the truncation of the outer stream as
                 * its cause. */
                size_t causes = rows[i].inner_closes || rows[i].outer_closes ? 0 : 1;
                CHECK_INT((long long)causes, (long long)netlib_error_cause_count(err));
                CHECK_STATUS(rows[i].status, status);
            }
            /* shutdown_both succeeds if the peer's close_notify has arrived. Otherwise the call fails, because the
             * close_notify can never arrive. */
            CHECK_STATUS(rows[i].inner_closes ? NETLIB_OK : NETLIB_PROTOCOL, netlib_stream_shutdown_both(near, &err));
            free_nest(&nest);
        }
    }
    /* The peer of the outer stream closes the connection during the inner handshake. */
    for (int properly = 0; properly < 2; properly++) {
        netlib_error *err = NULL;
        struct nest nest = make_nest(unix_pair(), 1);
        do_handshakes(&nest);
        netlib_stream *inner = wrap_in(nest.near[0], "localhost");
        if (properly) CHECK_OK(netlib_stream_shutdown(nest.far[0], &err));
        shutdown(nest.pair.far, SHUT_WR);
        CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_stream_handshake(inner, &err));
        netlib_stream_free(inner);
        free_nest(&nest);
    }
    /* The peer resets the connection before or after the inner handshake. Before this handshake is complete, no part of
     * a request has been sent. */
    for (int after = 0; after < 2; after++) {
        netlib_error *err = NULL;
        struct nest nest = make_nest(tcp_pair(), 1);
        do_handshakes(&nest);
        netlib_stream *inner = wrap_in(nest.near[0], "localhost"), *inner_far = accept_in(nest.far[0]);
        if (after) {
            struct nest pair = {.pair = nest.pair, .depth = 1, .near = {inner}, .far = {inner_far}};
            do_handshakes(&pair);
        }
        reset_connection(nest.pair.far);
        nest.pair.far = -1;
        char byte;
        size_t n = 0;
        netlib_status expected = after ? NETLIB_PROTOCOL : NETLIB_TLS_HANDSHAKE_EOF;
        netlib_status status = netlib_stream_read(inner, &byte, 1, &n, &err);
        CHECK(netlib_error_errno(err) == ECONNRESET || netlib_error_errno(err) == EPIPE);
        CHECK_STATUS(expected, status);
        CHECK_STATUS(expected, netlib_stream_read(inner, &byte, 1, &n, &err));
        CHECK_STATUS(expected, netlib_stream_write(inner, &byte, 1, &n, &err));
        netlib_stream_free(inner);
        netlib_stream_free(inner_far);
        free_nest(&nest);
    }
}

static double seconds_since(double then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - then;
}

static void *cancel_soon(void *limit) {
    struct timespec little = {0, 20000000};
    nanosleep(&little, NULL);
    netlib_limit_cancel(limit);
    return NULL;
}

/* The limit and the timeouts of the inner stream apply, not those of the outer stream. */
static void calls_on_the_inner_stream_use_the_inner_limit_and_timeouts(void) {
    netlib_error *err = NULL;
    struct nest nest = make_nest(unix_pair(), 3);
    netlib_stream *near = near_of(&nest);
    char byte;
    size_t n = 0;
    do_handshakes(&nest);
    netlib_limit *ended = NULL, *limit = NULL;
    CHECK_OK(netlib_limit_new(0, NULL, &ended, &err));
    for (size_t i = 0; i < 2; i++) {
        netlib_stream_set_limit(nest.near[i], ended);
        CHECK_OK(netlib_stream_set_read_timeout(nest.near[i], 0, &err));
        CHECK_OK(netlib_stream_set_blocking(nest.near[i], 0, &err));
    }
    CHECK_OK(netlib_stream_set_read_timeout(near, 0.03, &err));
    double began = seconds_since(0);
    netlib_status status = netlib_stream_read(near, &byte, 1, &n, &err);
    CHECK_STR("nothing arrived from the server \"localhost\" for 0.03 s", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, status);
    CHECK(seconds_since(began) >= 0.03);
    CHECK_OK(netlib_stream_set_read_timeout(near, NETLIB_TIMEOUT_NONE, &err));

    /* A deadline, or a cancel by another thread, ends a read that waits for the socket of the outermost stream. */
    CHECK_OK(netlib_limit_new(0.03, NULL, &limit, &err));
    netlib_stream_set_limit(near, limit);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_stream_read(near, &byte, 1, &n, &err));
    netlib_limit_free(limit);
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_stream_set_limit(near, limit);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_soon, limit) == 0);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_read(near, &byte, 1, &n, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_write(near, "x", 1, &n, &err));
    netlib_stream_set_limit(near, NULL);
    /* None of these failures ended the session, and no byte is sent twice. */
    CHECK_OK(netlib_stream_write(near, "xy", 2, &n, &err));
    char two[4];
    CHECK_OK(netlib_stream_read(far_of(&nest), two, sizeof two, &n, &err));
    CHECK(n >= 1 && two[0] == 'x');
    if (n == 1) CHECK_OK(netlib_stream_read(far_of(&nest), two + 1, 3, &n, &err));
    CHECK(two[1] == 'y');

    /* The peer never answers the handshake. */
    CHECK_OK(netlib_stream_set_read_timeout(near, 0.01, &err));
    struct pair silent = unix_pair();
    netlib_stream *outer = wrap(client, silent.near, "localhost"), *inner = wrap_in(outer, "127.0.0.1");
    CHECK_OK(netlib_stream_set_read_timeout(inner, 0.01, &err));
    status = netlib_stream_handshake(inner, &err);
    CHECK_STR("nothing arrived from the server \"127.0.0.1\" for 0.01 s during the TLS handshake",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, status);
    netlib_stream_free(outer);
    netlib_stream_free(inner);
    close_pair(silent);
    netlib_limit_free(limit);
    netlib_limit_free(ended);
    free_nest(&nest);
}

/* ---- inherited limit and timeouts ---- */

/* The settings that a row of a test makes on a stream. */
enum setting {
    NO_SETTING,
    LIMIT, /* a limit that is cancelled before the tested call */
    NO_LIMIT,
    READ_10_MS,
    READ_20_MS,
    NO_READ_TIMEOUT,
    WRITE_10_MS,
    WRITE_20_MS,
    TOTAL_PASSED, /* a total timeout that passes before the tested call */
};

static void set(netlib_stream *stream, enum setting setting, const netlib_limit *limit) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    switch (setting) {
    case NO_SETTING: break;
    case LIMIT: netlib_stream_set_limit(stream, limit); break;
    case NO_LIMIT: netlib_stream_set_limit(stream, NULL); break;
    case READ_10_MS: CHECK_OK(netlib_stream_set_read_timeout(stream, 0.01, &err)); break;
    case READ_20_MS: CHECK_OK(netlib_stream_set_read_timeout(stream, 0.02, &err)); break;
    case NO_READ_TIMEOUT: CHECK_OK(netlib_stream_set_read_timeout(stream, NETLIB_TIMEOUT_NONE, &err)); break;
    case WRITE_10_MS: CHECK_OK(netlib_stream_set_write_timeout(stream, 0.01, &err)); break;
    case WRITE_20_MS: CHECK_OK(netlib_stream_set_write_timeout(stream, 0.02, &err)); break;
    case TOTAL_PASSED:
        CHECK_OK(netlib_timeout_new(1e-9, NETLIB_TIMEOUT_NONE, NETLIB_TIMEOUT_NONE, &timeout, &err));
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        CHECK_OK(netlib_stream_use_timeout(stream, timeout, &err));
        netlib_timeout_free(timeout);
        break;
    }
}

static netlib_stream *plain_on(int fd) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_stream_new_fd(fd, &stream, &err));
    return stream;
}

/* Writes until the peer, which reads nothing, leaves no room. Returns the status of the write that fails. */
static netlib_status write_until_failure(netlib_stream *stream, netlib_error **err) {
    static char much[100000];
    size_t n = 0;
    netlib_status status = NETLIB_OK;
    while (status == NETLIB_OK) status = netlib_stream_write(stream, much, sizeof much, &n, err);
    return status;
}

/* The peer never answers. In each row, the handshake, a read or a write of the inner stream ends by a setting of the
 * outer stream, or by a setting of its own. */
static void an_inner_stream_begins_with_the_limit_and_the_timeouts_of_the_outer_stream(void) {
    enum call { HANDSHAKE, READ, WRITE };
    static const char *const call_names[] = {"handshake", "read", "write"};
    static const struct {
        enum call call;
        enum setting outer[2], inner[2], outer_later;
        netlib_status status;
        const char *message;
    } rows[] = {
        {HANDSHAKE, {LIMIT}, {0}, 0, NETLIB_CANCELLED, "cancelled"},
        {HANDSHAKE, {READ_10_MS}, {0}, 0, NETLIB_READ_TIMEOUT, "\"127.0.0.1\" for 0.01 s during the TLS handshake"},
        {HANDSHAKE, {TOTAL_PASSED}, {0}, 0, NETLIB_WRITE_TIMEOUT, "the total timeout has passed"},
        {READ, {READ_10_MS}, {0}, 0, NETLIB_READ_TIMEOUT, "nothing arrived from the server \"127.0.0.1\" for 0.01 s"},
        {READ, {LIMIT}, {0}, 0, NETLIB_CANCELLED, "cancelled"},
        {WRITE, {WRITE_10_MS}, {0}, 0, NETLIB_WRITE_TIMEOUT, "could be sent to the server \"127.0.0.1\" for 0.01 s"},
        {WRITE, {LIMIT}, {0}, 0, NETLIB_CANCELLED, "cancelled"},
        /* Both streams have a setting. */
        {HANDSHAKE, {READ_10_MS}, {READ_20_MS}, 0, NETLIB_READ_TIMEOUT, "for 0.02 s"},
        {READ, {READ_20_MS}, {READ_10_MS}, 0, NETLIB_READ_TIMEOUT, "for 0.01 s"},
        {WRITE, {WRITE_10_MS}, {WRITE_20_MS}, 0, NETLIB_WRITE_TIMEOUT, "for 0.02 s"},
        {HANDSHAKE, {LIMIT, READ_10_MS}, {NO_LIMIT}, 0, NETLIB_READ_TIMEOUT, "for 0.01 s"},
        {READ, {READ_10_MS}, {NO_READ_TIMEOUT, LIMIT}, 0, NETLIB_CANCELLED, "cancelled"},
        /* A setting that changes after the inner stream was made has no effect on the inner stream. */
        {HANDSHAKE, {READ_10_MS}, {0}, READ_20_MS, NETLIB_READ_TIMEOUT, "for 0.01 s"},
        {READ, {READ_10_MS}, {0}, LIMIT, NETLIB_READ_TIMEOUT, "for 0.01 s"},
        {READ, {LIMIT}, {0}, NO_LIMIT, NETLIB_CANCELLED, "cancelled"},
    };
    alarm(60); /* Without the settings, the calls would never return. */
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        size_t row = i / 2;
        bool is_tls = i % 2 == 1;
        unsigned long failed_before = checks_failed;
        netlib_error *err = NULL;
        char byte;
        size_t n = 0;
        netlib_limit *limit = NULL;
        CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
        struct pair pair = unix_pair();
        netlib_stream *outer = is_tls ? wrap(client, pair.near, "localhost") : plain_on(pair.near);
        netlib_stream *far = is_tls ? accept_tls(server, pair.far) : plain_on(pair.far), *inner_far = NULL;
        struct nest nest = {.pair = pair, .depth = 1, .near = {outer}, .far = {far}};
        if (is_tls && rows[row].call != HANDSHAKE) do_handshakes(&nest);
        set(outer, rows[row].outer[0], limit);
        set(outer, rows[row].outer[1], limit);
        netlib_stream *inner = wrap_in(outer, "127.0.0.1");
        if (rows[row].call != HANDSHAKE) {
            inner_far = accept_in(far);
            struct nest inners = {.pair = pair, .depth = 1, .near = {inner}, .far = {inner_far}};
            do_handshakes(&inners);
        }
        set(inner, rows[row].inner[0], limit);
        set(inner, rows[row].inner[1], limit);
        set(outer, rows[row].outer_later, limit);
        netlib_limit_cancel(limit);
        netlib_limit_free(limit);
        netlib_status status = rows[row].call == HANDSHAKE ? netlib_stream_handshake(inner, &err)
                               : rows[row].call == READ    ? netlib_stream_read(inner, &byte, 1, &n, &err)
                                                           : write_until_failure(inner, &err);
        CHECK_CONTAINS(rows[row].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[row].status, status);
        netlib_stream_free(inner);
        netlib_stream_free(inner_far);
        free_nest(&nest);
        if (checks_failed != failed_before) {
            fprintf(stderr, "    row %zu: %s in a %s stream\n", row, call_names[rows[row].call],
                    is_tls ? "TLS" : "plain");
        }
    }
    alarm(0);
}

/* A write that times out can be continued. No byte is lost or sent twice. */
static void a_write_can_be_continued_after_a_timeout(void) {
    netlib_error *err = NULL;
    struct nest nest = make_nest(unix_pair(), 3);
    netlib_stream *near = near_of(&nest), *far = far_of(&nest);
    int little = 4096;
    setsockopt(nest.pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    do_handshakes(&nest);
    enum { TOTAL = 300000 };
    static unsigned char sent[TOTAL], received[TOTAL];
    for (size_t i = 0; i < TOTAL; i++) sent[i] = at_position(i);
    CHECK_OK(netlib_stream_set_write_timeout(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    size_t n = 0, read = 0, late = 0;
    netlib_status status = NETLIB_WRITE_TIMEOUT;
    for (long turn = 0; turn < 100000 && status == NETLIB_WRITE_TIMEOUT; turn++) {
        status = netlib_stream_write(near, sent, TOTAL, &n, &err);
        late += status == NETLIB_WRITE_TIMEOUT;
        netlib_error_free(err);
        CHECK_INT(status == NETLIB_OK ? TOTAL : 0, (long long)n);
        netlib_status drained = NETLIB_OK;
        while (drained == NETLIB_OK && read < TOTAL) {
            drained = netlib_stream_read(far, received + read, TOTAL - read, &n, &err);
            read += n;
        }
    }
    CHECK_INT(NETLIB_OK, status);
    CHECK(late > 0);
    CHECK_INT(TOTAL, (long long)read);
    CHECK(memcmp(sent, received, TOTAL) == 0);
    free_nest(&nest);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    nested_tls_streams_read_and_write_at_the_same_time();
    nested_non_blocking_streams_transfer_all_data();
    each_tls_layer_verifies_its_own_server_name();
    the_outer_stream_is_busy_until_the_inner_one_is_freed();
    only_close_notify_of_the_innermost_stream_gives_end_of_stream();
    calls_on_the_inner_stream_use_the_inner_limit_and_timeouts();
    an_inner_stream_begins_with_the_limit_and_the_timeouts_of_the_outer_stream();
    a_write_can_be_continued_after_a_timeout();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls nested");
}
