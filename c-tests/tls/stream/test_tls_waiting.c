/* Tests waiting calls of TLS streams: timeouts, limits, concurrent threads, and slow peers. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

/* Connects two streams and does the handshake. */
static void do_handshake(const netlib_tls_context *client, const netlib_tls_context *server, struct pair pair,
                         netlib_stream **near, netlib_stream **far) {
    netlib_error *err = NULL;
    *near = wrap(client, pair.near, "localhost");
    *far = accept_tls(server, pair.far);
    CHECK_OK(netlib_stream_set_blocking(*near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(*far, 0, &err));
    for (int i = 0; i < 10; i++) {
        (void)netlib_stream_handshake(*near, NULL);
        (void)netlib_stream_handshake(*far, NULL);
    }
    CHECK_OK(netlib_stream_handshake(*near, &err));
    CHECK_OK(netlib_stream_handshake(*far, &err));
    CHECK_OK(netlib_stream_set_blocking(*near, 1, &err));
    CHECK_OK(netlib_stream_set_blocking(*far, 1, &err));
}

static void a_timeout_ends_the_call_but_not_the_session(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    static char bytes[3000000], buffer[65536];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)at_position(i);
    size_t n = 0;

    /* During the handshake, the peer first does not answer, and answers after the timeout. */
    struct pair pair = unix_pair();
    netlib_stream *near = wrap(client, pair.near, "localhost");
    CHECK_OK(netlib_stream_set_read_timeout(near, 0.01, &err));
    netlib_status status = netlib_stream_handshake(near, &err);
    CHECK_CONTAINS("handshake", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, status);
    struct server peer = {.does = SERVE_CLEAN, .context = server, .fd = pair.far};
    server_start(&peer);
    CHECK_OK(netlib_stream_set_read_timeout(near, LONG, &err));
    CHECK_OK(netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_INT(4, (long long)n);
    server_join(&peer);
    netlib_stream_free(near);
    close(pair.near);

    /* Reading can continue after a read timeout. */
    netlib_stream *far = NULL;
    pair = unix_pair();
    do_handshake(client, server, pair, &near, &far);
    CHECK_OK(netlib_stream_set_read_timeout(near, 0.0, &err));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_OK(netlib_stream_set_read_timeout(near, 0.005, &err));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_OK(netlib_stream_write(far, "late", 4, &n, &err));
    CHECK_OK(netlib_stream_read(near, buffer, sizeof buffer, &n, &err));
    CHECK_INT(4, (long long)n);

    /* The peer reads only after the write timeout. The application passes the same bytes again, and no byte is sent
     * twice. */
    CHECK_OK(netlib_stream_set_write_timeout(near, 0.01, &err));
    CHECK_STATUS(NETLIB_WRITE_TIMEOUT, netlib_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_WRITE_TIMEOUT, netlib_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_write(near, bytes, 1, &n, &err));
    CHECK_OK(netlib_stream_set_write_timeout(near, LONG, &err));
    struct flow flow = {far, sizeof bytes, 50000, 0, true};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_flow, &flow) == 0);
    CHECK_OK(netlib_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_INT(sizeof bytes, (long long)n);
    CHECK_OK(netlib_stream_shutdown(near, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(flow.intact);
    CHECK_INT(NETLIB_END_OF_STREAM, flow.status);
    static const double bad[] = {-2.0, -0.5};
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_set_read_timeout(near, bad[i], &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_set_write_timeout(near, bad[i], &err));
    }
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_set_blocking(near, 2, &err));
    CHECK_OK(netlib_stream_set_read_timeout(near, NETLIB_TIMEOUT_DEFAULT, &err));
    netlib_stream_free(near);
    netlib_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

struct waiter {
    netlib_stream *stream;
    bool writes;
    netlib_status status;
    char byte;
};

static void *wait_in_a_call(void *argument) {
    struct waiter *waiter = argument;
    static char bytes[3000000];
    size_t n = 0;
    waiter->status = waiter->writes ? netlib_stream_write(waiter->stream, bytes, sizeof bytes, &n, NULL)
                                    : netlib_stream_read(waiter->stream, &waiter->byte, 1, &n, NULL);
    return NULL;
}

/* Waits until the other thread is in its call, so that the stream has a reader or a writer. */
static void until_taken(netlib_stream *stream, bool writes) {
    for (;;) {
        size_t n = 0;
        char byte;
        netlib_status status =
            writes ? netlib_stream_write(stream, "", 0, &n, NULL) : netlib_stream_read(stream, &byte, 0, &n, NULL);
        if (status == NETLIB_BUSY) return;
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
}

static void limits_end_handshakes_reads_and_writes_that_wait(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    char byte;
    size_t n = 0;
    for (int stage = 0; stage < 3; stage++) { /* 0: handshake, 1: read, 2: write */
        for (int cancel = 0; cancel < 2; cancel++) {
            struct pair pair = unix_pair();
            netlib_stream *near = NULL, *far = NULL;
            if (stage == 0) {
                near = wrap(client, pair.near, "localhost");
            } else {
                do_handshake(client, server, pair, &near, &far);
            }
            netlib_limit *limit = NULL;
            CHECK_OK(netlib_limit_new(cancel ? NETLIB_TIMEOUT_NONE : 0.02, NULL, &limit, &err));
            netlib_stream_set_limit(near, limit);
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
            /* Later calls return the status of this limit until the stream gets another limit. */
            if (stage < 2) {
                CHECK_STATUS(expected, netlib_stream_read(near, &byte, 1, &n, &err));
            }
            netlib_stream_set_limit(near, NULL);
            if (stage == 1) {
                CHECK_OK(netlib_stream_write(far, "x", 1, &n, &err));
                CHECK_OK(netlib_stream_read(near, &byte, 1, &n, &err));
            }
            netlib_limit_free(limit);
            netlib_stream_free(near);
            netlib_stream_free(far);
            close_pair(pair);
        }
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void a_second_concurrent_read_or_write_returns_busy(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    struct pair pair = unix_pair();
    netlib_stream *near = NULL, *far = NULL;
    do_handshake(client, server, pair, &near, &far);
    struct waiter waiter = {near, false, NETLIB_OK, 0};
    pthread_t thread;
    char byte;
    size_t n = 0;
    CHECK(pthread_create(&thread, NULL, wait_in_a_call, &waiter) == 0);
    until_taken(near, false);
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_read(near, &byte, 1, &n, &err));
    /* A reader that waits does not block a writer. */
    CHECK_OK(netlib_stream_write(near, "ping", 4, &n, &err));
    char buffer[8];
    CHECK_OK(netlib_stream_read(far, buffer, sizeof buffer, &n, &err));
    CHECK_INT(4, (long long)n);
    CHECK_OK(netlib_stream_write(far, "!", 1, &n, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_OK, waiter.status);
    CHECK(waiter.byte == '!');

    waiter.writes = true;
    CHECK(pthread_create(&thread, NULL, wait_in_a_call, &waiter) == 0);
    until_taken(near, true);
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_write(near, "x", 1, &n, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown(near, &err));
    close(pair.far);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_PROTOCOL, waiter.status);
    netlib_stream_free(near);
    netlib_stream_free(far);
    close(pair.near);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* Forwards one byte at a time in both directions, until both directions have ended. */
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

static void handshakes_and_reads_succeed_if_bytes_arrive_one_at_a_time(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_context *server = server_context("server");
    struct pair left = unix_pair(), right = unix_pair();
    struct pair between = {left.far, right.near};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, drip, &between) == 0);
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = right.far};
    server_start(&peer);
    netlib_stream *stream = wrap(client, left.near, "localhost");
    char sent[3000], received[3000];
    size_t n = 0;
    memset(sent, 'd', sizeof sent);
    CHECK_OK(netlib_stream_write(stream, sent, sizeof sent, &n, &err));
    for (size_t read = 0; read < sizeof received; read += n) {
        netlib_status status = netlib_stream_read(stream, received + read, sizeof received - read, &n, &err);
        CHECK_OK(status);
        if (status != NETLIB_OK) break;
    }
    CHECK(memcmp(sent, received, sizeof sent) == 0);
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, received, 1, &n, &err));
    netlib_stream_free(stream);
    close(left.near);
    server_join(&peer);
    CHECK(pthread_join(thread, NULL) == 0);
    close_pair(between);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    a_timeout_ends_the_call_but_not_the_session();
    limits_end_handshakes_reads_and_writes_that_wait();
    a_second_concurrent_read_or_write_returns_busy();
    handshakes_and_reads_succeed_if_bytes_arrive_one_at_a_time();
    return report("tls waiting");
}
