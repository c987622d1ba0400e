/* Tests TLS streams over callback transports: every result of a callback, and the status that the stream returns for
 * it. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>

static netlib_tls_context *client, *server;

/* A pipe in memory with a small buffer. */
struct ring {
    unsigned char bytes[4000];
    size_t start, used;
    bool ended;
};

/* One end of a connection over two pipes, and the result that the callbacks of this end return instead of transferring
 * data. */
struct end {
    struct ring *in, *out;
    size_t most; /* the most bytes that one call transfers */
    size_t calls;
    int32_t answer; /* if not 0, returned instead of transferring data */
    size_t count;   /* the count that is stored with `answer`; SIZE_MAX: none */
};

static int32_t ring_read(void *ctx, void *buf, size_t len, size_t *n) {
    struct end *end = ctx;
    size_t i = 0;
    end->calls++;
    if (end->in->used == 0 && end->in->ended) {
        *n = 0;
        return NETLIB_OK;
    }
    for (; i < len && i < end->most && end->in->used > 0; i++) {
        ((unsigned char *)buf)[i] = end->in->bytes[end->in->start];
        end->in->start = (end->in->start + 1) % sizeof end->in->bytes;
        end->in->used--;
    }
    if (i == 0) return NETLIB_WANT_READ;
    *n = i;
    return NETLIB_OK;
}

static int32_t ring_write(void *ctx, const void *buf, size_t len, size_t *n) {
    struct end *end = ctx;
    size_t i = 0;
    end->calls++;
    for (; i < len && i < end->most && end->out->used < sizeof end->out->bytes; i++) {
        end->out->bytes[(end->out->start + end->out->used) % sizeof end->out->bytes] = ((const unsigned char *)buf)[i];
        end->out->used++;
    }
    if (i == 0) return NETLIB_WANT_WRITE;
    *n = i;
    return NETLIB_OK;
}

struct both {
    struct ring there, back;
    struct end near_end, far_end;
    netlib_stream *near, *far;
};

static void make_both(struct both *both, size_t most) {
    netlib_error *err = NULL;
    memset(both, 0, sizeof *both);
    both->near_end = (struct end){.in = &both->back, .out = &both->there, .most = most};
    both->far_end = (struct end){.in = &both->there, .out = &both->back, .most = most};
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", ring_read, ring_write, &both->near_end, NULL, &both->near,
                                       &err));
    CHECK_OK(netlib_tls_accept_callbacks(server, ring_read, ring_write, &both->far_end, NULL, &both->far, &err));
    CHECK_INT(0, (long long)(both->near_end.calls + both->far_end.calls));
}

static void free_both(struct both *both) {
    size_t calls = both->near_end.calls + both->far_end.calls;
    netlib_stream_free(both->near);
    netlib_stream_free(both->far);
    CHECK_INT((long long)calls, (long long)(both->near_end.calls + both->far_end.calls));
}

static bool is_want(netlib_status status) { return status == NETLIB_WANT_READ || status == NETLIB_WANT_WRITE; }

static void do_handshake(netlib_stream *near, netlib_stream *far) {
    netlib_error *err = NULL;
    netlib_status one = NETLIB_WANT_READ, other = NETLIB_WANT_READ;
    for (int turn = 0; turn < 100000 && (one != NETLIB_OK || other != NETLIB_OK); turn++) {
        one = netlib_stream_handshake(near, &err);
        other = netlib_stream_handshake(far, &err);
        if (!(one == NETLIB_OK || is_want(one)) || !(other == NETLIB_OK || is_want(other))) break;
    }
    CHECK_STATUS(NETLIB_OK, one);
    CHECK_STATUS(NETLIB_OK, other);
}

/* One thread drives both ends over pipes that are smaller than a record. The streams are blocking, but their callbacks
 * do not wait and transfer few bytes per call. */
static void streams_return_want_read_and_want_write_of_transport_callbacks(void) {
    static const struct {
        size_t most;
        size_t depth;
    } rows[] = {{1, 1}, {7, 1}, {5000, 1}, {5000, 2}, {700, 3}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct both both;
        make_both(&both, rows[row].most);
        netlib_stream *near = both.near, *far = both.far, *inner[4] = {NULL};
        for (size_t i = 1; i < rows[row].depth; i++) {
            CHECK_OK(netlib_tls_wrap_stream(client, near, "localhost", &inner[2 * (i - 1)], &err));
            CHECK_OK(netlib_tls_accept_stream(server, far, &inner[2 * (i - 1) + 1], &err));
            near = inner[2 * (i - 1)];
            far = inner[2 * (i - 1) + 1];
        }
        size_t n = 0;
        char byte;
        CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(far, &byte, 1, &n, &err));
        transfer_without_waiting(near, far, 100000);
        for (size_t i = 0; i < 4; i++) netlib_stream_free(inner[i]);
        free_both(&both);
    }
}

static int32_t return_result(void *ctx, size_t *n) {
    struct end *end = ctx;
    end->calls++;
    if (end->count != SIZE_MAX) *n = end->count;
    return end->answer;
}
static int32_t read_or_return_result(void *ctx, void *buf, size_t len, size_t *n) {
    struct end *end = ctx;
    if (end->answer == NETLIB_OK && end->count == 1) return ring_read(ctx, buf, len, n);
    return return_result(ctx, n);
}
static int32_t write_or_return_result(void *ctx, const void *buf, size_t len, size_t *n) {
    struct end *end = ctx;
    if (end->answer == NETLIB_OK && end->count == 1) return ring_write(ctx, buf, len, n);
    return return_result(ctx, n);
}

/* Tests every result of the read and the write callback after the handshake, and the status that the stream returns. */
static void each_transport_callback_result_is_mapped_to_a_stream_status(void) {
    static const struct {
        int32_t answer;
        size_t count;
        netlib_status of_read, of_write;
        bool final;
        const char *message_part;
    } rows[] = {
        {NETLIB_WANT_READ, 0, NETLIB_WANT_READ, NETLIB_WANT_READ, false, ""},
        {NETLIB_WANT_WRITE, SIZE_MAX, NETLIB_WANT_WRITE, NETLIB_WANT_WRITE, false, ""},
        {NETLIB_WANT_READ, 77, NETLIB_WANT_READ, NETLIB_WANT_READ, false, ""},
        {NETLIB_CANCELLED, 0, NETLIB_CANCELLED, NETLIB_CANCELLED, false, "callback reported NETLIB_CANCELLED"},
        {NETLIB_DEADLINE_EXCEEDED, 0, NETLIB_DEADLINE_EXCEEDED, NETLIB_DEADLINE_EXCEEDED, false, "DEADLINE_EXCEEDED"},
        {NETLIB_READ_TIMEOUT, 0, NETLIB_READ_TIMEOUT, NETLIB_READ_TIMEOUT, false, "NETLIB_READ_TIMEOUT"},
        {NETLIB_WRITE_TIMEOUT, 5, NETLIB_WRITE_TIMEOUT, NETLIB_WRITE_TIMEOUT, false, "NETLIB_WRITE_TIMEOUT"},
        {NETLIB_IO, 0, NETLIB_IO, NETLIB_IO, false, "NETLIB_IO"},
        {NETLIB_CALLBACK_FAILED, 0, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false, "NETLIB_CALLBACK_FAILED"},
        {NETLIB_PROTOCOL, 0, NETLIB_PROTOCOL, NETLIB_PROTOCOL, true, "NETLIB_PROTOCOL"},
        {NETLIB_TIMED_OUT, 0, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false, "failure: 102"},
        {-1, 0, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false, "failure: -1"},
        {1, 0, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false, "failure: 1"},
        {INT32_MIN, 0, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false, "failure: -2147483648"},
        /* An invalid count is a permanent failure, because netlib does not know which bytes were transferred. */
        {NETLIB_OK, SIZE_MAX, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, true, "stored no count"},
        {NETLIB_OK, SIZE_MAX - 1, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, true,
         "reported 18446744073709551614 bytes"},
        {NETLIB_OK, 1 << 20, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, true,
         "reported 1048576 bytes for a buffer of"},
        /* A read callback reports the end of the transport with 0 bytes or NETLIB_END_OF_STREAM. For a write callback,
         * these results are failures. */
        {NETLIB_OK, 0, NETLIB_TLS_TRUNCATED, NETLIB_CALLBACK_FAILED, true, ""},
        {NETLIB_END_OF_STREAM, 0, NETLIB_TLS_TRUNCATED, NETLIB_CALLBACK_FAILED, false, ""},
        {NETLIB_TLS_TRUNCATED, 0, NETLIB_TLS_TRUNCATED, NETLIB_TLS_TRUNCATED, false, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int reads = 0; reads < 2; reads++) {
            netlib_error *err = NULL;
            struct both both;
            make_both(&both, 5000);
            netlib_stream_free(both.near);
            both.near_end.count = 1;
            CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", read_or_return_result, write_or_return_result,
                                               &both.near_end, NULL, &both.near, &err));
            do_handshake(both.near, both.far);
            char buffer[8];
            size_t n = 9;
            /* Empties the pipe, so that no pending input affects the result. */
            CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(both.near, buffer, sizeof buffer, &n, &err));
            CHECK_OK(netlib_stream_write(both.far, "back", 4, &n, &err));
            both.near_end.answer = rows[i].answer;
            both.near_end.count = rows[i].count;
            netlib_status expected = reads ? rows[i].of_read : rows[i].of_write;
            netlib_status status = reads ? netlib_stream_read(both.near, buffer, sizeof buffer, &n, &err)
                                         : netlib_stream_write(both.near, "there", 5, &n, &err);
            const char *message = err != NULL ? netlib_error_message(err, NULL) : "";
            if (strstr(message, rows[i].message_part) == NULL) fprintf(stderr, "    row %zu: %s\n", i, message);
            CHECK(strstr(message, rows[i].message_part) != NULL);
            if (expected == NETLIB_CALLBACK_FAILED || expected == NETLIB_IO) {
                CHECK(strstr(message, reads ? "read callback" : "write callback") != NULL);
            }
            CHECK_INT(0, (long long)n);
            if (status != expected) fprintf(stderr, "    row %zu, %s\n", i, reads ? "read" : "write");
            CHECK_STATUS(expected, status);

            /* When the callbacks succeed again, a failed call can be repeated, except after the end of the transport or
             * a permanent failure. */
            both.near_end.answer = NETLIB_OK;
            both.near_end.count = 1;
            bool ended = reads && rows[i].of_read == NETLIB_TLS_TRUNCATED;
            if (reads) {
                status = netlib_stream_read(both.near, buffer, sizeof buffer, &n, &err);
            } else {
                status = netlib_stream_write(both.near, "there", 5, &n, &err);
            }
            CHECK_STATUS(ended || rows[i].final ? expected : NETLIB_OK, status);
            if (!reads && status == NETLIB_OK) {
                CHECK_OK(netlib_stream_read(both.far, buffer, sizeof buffer, &n, &err));
                CHECK_INT(5, (long long)n);
                CHECK(memcmp(buffer, "there", 5) == 0);
            }
            free_both(&both);
        }
    }
    /* The transport ends during the handshake. */
    netlib_error *err = NULL;
    struct both both;
    make_both(&both, 5000);
    both.back.ended = true;
    CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_stream_handshake(both.near, &err));
    free_both(&both);
}

/* The ctx of callbacks that call the functions of two streams. Calls on the stream that runs the callbacks fail. Calls
 * on the other stream carry TLS in TLS. */
struct user {
    netlib_stream *own, *other;
    size_t refused, calls;
};

static void use_own(struct user *user) {
    netlib_error *err = NULL;
    netlib_stream *third = NULL;
    char byte;
    size_t n = 0;
    user->calls++;
    netlib_status statuses[] = {
        netlib_stream_read(user->own, &byte, 1, &n, NULL),
        netlib_stream_write(user->own, "x", 1, &n, NULL),
        netlib_stream_handshake(user->own, NULL),
        netlib_stream_shutdown(user->own, NULL),
        netlib_stream_shutdown_both(user->own, NULL),
        netlib_tls_wrap_stream(client, user->own, "localhost", &third, &err),
    };
    netlib_error_free(err);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        CHECK_INT(NETLIB_BUSY, statuses[i]);
        user->refused += statuses[i] == NETLIB_BUSY;
    }
    CHECK_INT(0, (long long)netlib_stream_pending(user->own));
    (void)netlib_stream_tls_version(user->own);
}

static int32_t user_read(void *ctx, void *buf, size_t len, size_t *n) {
    struct user *user = ctx;
    use_own(user);
    return netlib_stream_read(user->other, buf, len, n, NULL);
}

static int32_t user_write(void *ctx, const void *buf, size_t len, size_t *n) {
    struct user *user = ctx;
    use_own(user);
    return netlib_stream_write(user->other, buf, len, n, NULL);
}

static void stream_calls_in_a_transport_callback_return_busy_only_on_its_stream(void) {
    netlib_error *err = NULL;
    struct both both;
    make_both(&both, 5000);
    struct user near = {.other = both.near}, far = {.other = both.far};
    CHECK_OK(netlib_tls_wrap_callbacks(client, "127.0.0.1", user_read, user_write, &near, NULL, &near.own, &err));
    CHECK_OK(netlib_tls_accept_callbacks(server, user_read, user_write, &far, NULL, &far.own, &err));
    do_handshake(near.own, far.own);
    char buffer[8];
    size_t n = 0;
    CHECK_OK(netlib_stream_write(near.own, "inside", 6, &n, &err));
    CHECK_OK(netlib_stream_read(far.own, buffer, sizeof buffer, &n, &err));
    CHECK_INT(6, (long long)n);
    CHECK(near.calls > 2 && near.refused == 6 * near.calls);
    CHECK(far.calls > 2 && far.refused == 6 * far.calls);
    /* The outer stream ends with close_notify, which the inner stream reports as a truncation. */
    CHECK_OK(netlib_stream_shutdown(both.near, &err));
    CHECK_STATUS(NETLIB_TLS_TRUNCATED, netlib_stream_read(far.own, buffer, sizeof buffer, &n, &err));
    netlib_stream_free(near.own);
    netlib_stream_free(far.own);
    free_both(&both);
}

/* netlib checks the limit of a stream before each call of a transport callback. */
static void the_limit_of_a_stream_is_checked_before_each_transport_callback(void) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    struct both both;
    make_both(&both, 5000);
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_stream_set_limit(both.near, limit);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(both.near, &err));
    netlib_limit_cancel(limit);
    size_t calls = both.near_end.calls, n = 0;
    char byte;
    for (int blocking = 0; blocking < 2; blocking++) {
        CHECK_OK(netlib_stream_set_blocking(both.near, blocking, &err));
        CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_handshake(both.near, &err));
        CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_read(both.near, &byte, 1, &n, &err));
        CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_write(both.near, "x", 1, &n, &err));
    }
    CHECK_INT((long long)calls, (long long)both.near_end.calls);
    netlib_stream_set_limit(both.near, NULL);
    do_handshake(both.near, both.far);
    netlib_stream_set_limit(both.near, limit);
    calls = both.near_end.calls;
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_write(both.near, "x", 1, &n, &err));
    CHECK_INT((long long)calls, (long long)both.near_end.calls);
    netlib_limit_free(limit);
    free_both(&both);
}

/* The ctx of callbacks that block like a blocking socket. A reader thread and a writer thread wait in the callbacks at
 * the same time. */
struct wire {
    int fd;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_reading;
};

static int32_t wire_read(void *ctx, void *buf, size_t len, size_t *n) {
    struct wire *wire = ctx;
    pthread_mutex_lock(&wire->lock);
    wire->is_reading = true;
    pthread_cond_broadcast(&wire->changed);
    pthread_mutex_unlock(&wire->lock);
    ssize_t got = recv(wire->fd, buf, len, 0);
    if (got < 0) return NETLIB_PROTOCOL;
    *n = (size_t)got;
    return NETLIB_OK;
}

static int32_t wire_write(void *ctx, const void *buf, size_t len, size_t *n) {
    struct wire *wire = ctx;
    ssize_t put = send(wire->fd, buf, len, MSG_NOSIGNAL);
    if (put < 0) return NETLIB_PROTOCOL;
    *n = (size_t)put;
    return NETLIB_OK;
}

static void two_threads_can_read_and_write_over_blocking_transport_callbacks(void) {
    netlib_error *err = NULL;
    struct pair pair = tcp_pair();
    struct wire near_wire = {pair.near, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct wire far_wire = {pair.far, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    netlib_stream *near = NULL, *far = NULL;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", wire_read, wire_write, &near_wire, NULL, &near, &err));
    CHECK_OK(netlib_tls_accept_callbacks(server, wire_read, wire_write, &far_wire, NULL, &far, &err));
    transfer_with_threads(near, far, 1000000, 50000, 3000);
    netlib_stream_free(near);
    netlib_stream_free(far);
    close_pair(pair);

    /* While one thread waits in the read callback, another thread may write to the stream, but may not read, shut down
     * both directions, or wrap the stream. */
    pair = unix_pair();
    near_wire.fd = pair.near;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", wire_read, wire_write, &near_wire, NULL, &near, &err));
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
    server_start(&peer);
    CHECK_OK(netlib_stream_handshake(near, &err));
    near_wire.is_reading = false;
    struct flow reader = {near, 4, 100, 0, false};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_flow, &reader) == 0);
    pthread_mutex_lock(&near_wire.lock);
    while (!near_wire.is_reading) pthread_cond_wait(&near_wire.changed, &near_wire.lock);
    pthread_mutex_unlock(&near_wire.lock);
    unsigned char bytes[4] = {at_position(0), at_position(1), at_position(2), at_position(3)};
    char byte;
    size_t n = 0;
    netlib_stream *third = NULL;
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_read(near, &byte, 1, &n, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown_both(near, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_wrap_stream(client, near, "localhost", &third, &err));
    CHECK_OK(netlib_stream_handshake(near, &err));
    CHECK_OK(netlib_stream_write(near, bytes, sizeof bytes, &n, &err));
    CHECK_OK(netlib_stream_shutdown(near, &err));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_END_OF_STREAM, reader.status);
    CHECK(reader.intact);
    server_join(&peer);
    netlib_stream_free(near);
    close(pair.near);
}

/* The ctx of a read callback that returns `first` and then repeats `then` forever, at most `most` bytes per call. */
struct script {
    const char *first, *then;
    size_t first_len, then_len, at, most, calls;
};

static int32_t script_read(void *ctx, void *buf, size_t len, size_t *n) {
    struct script *script = ctx;
    script->calls++;
    for (*n = 0; *n < len && *n < script->most; ++*n, ++script->at) {
        bool is_first = script->at < script->first_len;
        if (!is_first && script->then_len == 0) break;
        ((char *)buf)[*n] =
            is_first ? script->first[script->at] : script->then[(script->at - script->first_len) % script->then_len];
    }
    return *n > 0 ? NETLIB_OK : NETLIB_WANT_READ;
}

static int32_t script_write(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)buf;
    ((struct script *)ctx)->calls++;
    *n = len;
    return NETLIB_OK;
}

/* Whatever bytes the peer sends, the handshake call must fail or return NETLIB_WANT_READ instead of running forever. */
static void handshakes_with_endless_or_incomplete_input_do_not_loop_forever(void) {
#define CLOSE "\x15\x03\x03\x00\x02\x01\x00"
    static const struct {
        const char *first, *then;
        size_t first_len, then_len;
        netlib_status status;
    } rows[] = {
        /* The peer sends close_notify during the handshake, alone, repeated, or followed by data. */
        {CLOSE, "", 7, 0, NETLIB_WANT_READ},
        {CLOSE, CLOSE, 7, 7, NETLIB_TLS_PROTOCOL},
        {CLOSE, "\x17\x03\x03\x00\x01x", 7, 6, NETLIB_TLS_PROTOCOL},
        /* The peer sends endless warnings, empty records, an endless handshake message, or half a record. */
        {"", "\x15\x03\x03\x00\x02\x01\x5a", 0, 7, NETLIB_TLS_PROTOCOL},
        {"", "\x16\x03\x03\x00\x00", 0, 5, NETLIB_TLS_PROTOCOL},
        {"\x16\x03\x03\x00\x04\x02\x00\xff\xff", "\x16\x03\x03\x00\x04zzzz", 9, 9, NETLIB_TLS_PROTOCOL},
        {"\x16\x03\x03\x00\x04\x02", "", 6, 0, NETLIB_WANT_READ},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t most = 1; most <= 100000; most *= 100000) {
            netlib_error *err = NULL;
            netlib_stream *stream = NULL;
            struct script script = {.first = rows[i].first,
                                    .then = rows[i].then,
                                    .first_len = rows[i].first_len,
                                    .then_len = rows[i].then_len,
                                    .most = most};
            CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", script_read, script_write, &script, NULL, &stream,
                                               &err));
            netlib_status status = netlib_stream_handshake(stream, &err);
            if (status != rows[i].status) fprintf(stderr, "    row %zu by %zu, %zu calls\n", i, most, script.calls);
            CHECK_STATUS(rows[i].status, status);
            /* A handshake message may have 64 KiB, which takes up to 65,536 calls with one byte each. */
            CHECK(script.calls < 70000);
            netlib_stream_free(stream);
        }
    }
}

int main(void) {
    client = client_context();
    server = server_context("server");
    streams_return_want_read_and_want_write_of_transport_callbacks();
    each_transport_callback_result_is_mapped_to_a_stream_status();
    stream_calls_in_a_transport_callback_return_busy_only_on_its_stream();
    the_limit_of_a_stream_is_checked_before_each_transport_callback();
    two_threads_can_read_and_write_over_blocking_transport_callbacks();
    handshakes_with_endless_or_incomplete_input_do_not_loop_forever();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls callbacks");
}
