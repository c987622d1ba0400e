/* Tests a stream that many threads use at the same time: a reader, a writer, and threads that close the stream, change
 * its settings, call its getters and cancel its limit. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tsan/threads.h"

static netlib_tls_context *client, *server;

struct both {
    struct pair pair;
    netlib_stream *near, *far;
    netlib_limit *limit;
    atomic_bool is_done;
    atomic_uint getter_calls;
};

static void *handshake_far(void *argument) {
    struct both *both = argument;
    CHECK_INT(NETLIB_OK, netlib_stream_handshake(both->far, NULL));
    return NULL;
}

/* Creates both ends of a session and does the handshake, with a thread for each end. */
static void begin(struct both *both) {
    netlib_error *err = NULL;
    pthread_t thread;
    both->pair = unix_pair();
    both->near = wrap(client, both->pair.near, "localhost");
    both->far = accept_tls(server, both->pair.far);
    CHECK_OK(netlib_limit_new(LONG, NULL, &both->limit, &err));
    netlib_stream_set_limit(both->near, both->limit);
    netlib_stream_set_limit(both->far, both->limit);
    CHECK(pthread_create(&thread, NULL, handshake_far, both) == 0);
    CHECK_OK(netlib_stream_handshake(both->near, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    both->is_done = false;
    both->getter_calls = 0;
}

static void end(struct both *both) {
    netlib_stream_free(both->near);
    netlib_stream_free(both->far);
    netlib_limit_free(both->limit);
    close_pair(both->pair);
}

/* Calls every getter and setter that is allowed while other threads read and write. */
static bool call_getters(struct both *both, netlib_stream *stream) {
    int32_t dropped = 0;
    netlib_status why = NETLIB_OK;
    netlib_status status = netlib_stream_is_dropped(stream, &dropped, &why, NULL);
    bool right = status == NETLIB_OK || status == NETLIB_BUSY;
    right = right && netlib_stream_tls_version(stream) == NETLIB_TLS_VERSION_1_3;
    right = right && netlib_stream_cipher_suite(stream, NULL) != NULL;
    right = right && netlib_stream_set_read_timeout(stream, LONG, NULL) == NETLIB_OK;
    netlib_stream_set_limit(stream, both->limit);
    (void)netlib_stream_is_resumed(stream);
    (void)netlib_stream_pending(stream);
    both->getter_calls++;
    return right;
}

static void *call_getters_in_a_loop(void *argument) {
    struct both *both = argument;
    bool right = true;
    while (!both->is_done) {
        right = call_getters(both, both->near) && call_getters(both, both->far) && right;
        sched_yield();
    }
    CHECK(right);
    return NULL;
}

/* Repeats a read that returns NETLIB_BUSY. netlib_stream_is_dropped counts as a reader and a writer while it
 * runs. */
static netlib_status read_until_not_busy(netlib_stream *stream, void *buf, size_t len, size_t *n) {
    for (;;) {
        netlib_status status = netlib_stream_read(stream, buf, len, n, NULL);
        if (status != NETLIB_BUSY) return status;
        sched_yield();
    }
}

static netlib_status write_until_not_busy(netlib_stream *stream, const void *buf, size_t len) {
    for (;;) {
        size_t n = 0;
        netlib_status status =
            len > 0 ? netlib_stream_write(stream, buf, len, &n, NULL) : netlib_stream_shutdown(stream, NULL);
        if (status != NETLIB_BUSY) return status;
        sched_yield();
    }
}

static void *write_all(void *argument) {
    struct flow *flow = argument;
    unsigned char *bytes = malloc(flow->chunk);
    flow->status = NETLIB_OK;
    for (size_t done = 0; done < flow->total && flow->status == NETLIB_OK; done += flow->chunk) {
        for (size_t i = 0; i < flow->chunk; i++) bytes[i] = at_position(done + i);
        flow->status = write_until_not_busy(flow->stream, bytes, flow->chunk);
    }
    if (flow->status == NETLIB_OK) flow->status = write_until_not_busy(flow->stream, NULL, 0);
    free(bytes);
    return NULL;
}

static void *read_all(void *argument) {
    struct flow *flow = argument;
    unsigned char *bytes = malloc(flow->chunk);
    size_t done = 0, n = 0;
    while ((flow->status = read_until_not_busy(flow->stream, bytes, flow->chunk, &n)) == NETLIB_OK) {
        for (size_t i = 0; i < n; i++) flow->intact &= bytes[i] == at_position(done + i);
        done += n;
    }
    flow->intact &= done == flow->total;
    free(bytes);
    return NULL;
}

/* Transfers data in both directions, in small and large pieces, while two threads call getters and setters. */
static void concurrent_readers_and_writers_transfer_all_data(void) {
    static const size_t chunks[][2] = {{20, 40000}, {16384, 16384}, {70000, 1000}};
    for (size_t row = 0; row < sizeof chunks / sizeof *chunks; row++) {
        struct both both;
        begin(&both);
        size_t total = chunks[row][0] * (row == 0 ? 1000 : 40);
        struct flow flows[4] = {
            {both.near, total, chunks[row][0], 0, true},
            {both.far, total, chunks[row][1], 0, true},
            {both.far, total, chunks[row][0], 0, true},
            {both.near, total, chunks[row][1], 0, true},
        };
        pthread_t threads[4], getter_threads[2];
        for (size_t i = 0; i < 2; i++)
            CHECK(pthread_create(&getter_threads[i], NULL, call_getters_in_a_loop, &both) == 0);
        while (both.getter_calls == 0) sched_yield();
        for (size_t i = 0; i < 4; i++) {
            CHECK(pthread_create(&threads[i], NULL, i % 2 == 0 ? write_all : read_all, &flows[i]) == 0);
        }
        for (size_t i = 0; i < 4; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
            CHECK_INT(i % 2 == 0 ? NETLIB_OK : NETLIB_END_OF_STREAM, flows[i].status);
            CHECK(flows[i].intact);
        }
        both.is_done = true;
        for (size_t i = 0; i < 2; i++) CHECK(pthread_join(getter_threads[i], NULL) == 0);
        end(&both);
    }
}

/* Reads and writes with more threads than a stream allows. Additional calls get NETLIB_BUSY, and do not disturb the
 * calls in progress. */
static void crowd_at_one_end(void *shared, int thread) {
    struct both *both = shared;
    char bytes[200] = "x";
    size_t n = 0;
    for (int i = 0; i < 30; i++) {
        netlib_stream *stream = thread % 4 < 2 ? both->near : both->far;
        netlib_status status = thread % 2 == 0 ? netlib_stream_write(stream, bytes, sizeof bytes, &n, NULL)
                                               : netlib_stream_read(stream, bytes, 1, &n, NULL);
        CHECK(status == NETLIB_OK || status == NETLIB_BUSY || status == NETLIB_WANT_READ ||
              status == NETLIB_WANT_WRITE);
    }
}

static void many_concurrent_calls_on_a_stream_fail_only_with_netlib_busy(void) {
    netlib_error *err = NULL;
    struct both both;
    begin(&both);
    CHECK_OK(netlib_stream_set_blocking(both.near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(both.far, 0, &err));
    in_threads(crowd_at_one_end, &both);
    end(&both);
}

/* At each end two threads send close_notify, while other threads read or shut down both directions. */
static void close_or_read(void *shared, int thread) {
    struct both *both = shared;
    char byte = 0;
    size_t n = 0;
    netlib_stream *stream = thread % 2 == 0 ? both->near : both->far;
    netlib_status status = thread < 4   ? netlib_stream_shutdown(stream, NULL)
                           : thread < 6 ? netlib_stream_read(stream, &byte, 1, &n, NULL)
                                        : netlib_stream_shutdown_both(stream, NULL);
    CHECK(status == NETLIB_OK || status == NETLIB_BUSY || status == NETLIB_END_OF_STREAM);
}

static void several_threads_may_close_both_ends_of_a_session(void) {
    for (int i = 0; i < 20; i++) {
        struct both both;
        begin(&both);
        in_threads(close_or_read, &both);
        end(&both);
    }
}

/* At each end a reader and a writer wait, until one thread cancels the shared limit. */
static void wait_or_cancel(void *shared, int thread) {
    struct both *both = shared;
    char bytes[30000] = "";
    size_t n = 0;
    netlib_status status = NETLIB_OK;
    netlib_stream *stream = thread % 2 == 0 ? both->near : both->far;
    if (thread >= 4) {
        CHECK(call_getters(both, stream));
        if (thread == 7) netlib_limit_cancel(both->limit);
        return;
    }
    while (status == NETLIB_OK) {
        status = thread < 2 ? netlib_stream_write(stream, bytes, sizeof bytes, &n, NULL)
                            : netlib_stream_read(stream, bytes, 1, &n, NULL);
    }
    CHECK(status == NETLIB_CANCELLED || status == NETLIB_BUSY);
}

static void a_cancel_ends_all_concurrent_reads_and_writes(void) {
    for (int i = 0; i < 20; i++) {
        struct both both;
        begin(&both);
        in_threads(wait_or_cancel, &both);
        end(&both);
    }
}

int main(void) {
    client = client_context();
    server = server_context("server");
    concurrent_readers_and_writers_transfer_all_data();
    many_concurrent_calls_on_a_stream_fail_only_with_netlib_busy();
    several_threads_may_close_both_ends_of_a_session();
    a_cancel_ends_all_concurrent_reads_and_writes();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tsan streams");
}
