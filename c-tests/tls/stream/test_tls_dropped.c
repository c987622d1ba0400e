/* is_dropped on idle TLS connections: which input means that the connection is lost. */
#define _GNU_SOURCE
/* Empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_session.h"

#include <errno.h>
#include <poll.h>

/* Checks is_dropped with `why`, which the call must set, and without it. */
static void check_is_dropped(netlib_status expected, netlib_tls_stream *stream, const char *file, int line) {
    netlib_error *err = NULL;
    netlib_status why = NETLIB_INTERNAL;
    int32_t dropped = expected == NETLIB_WANT_READ;
    check_status(NETLIB_OK, netlib_tls_stream_is_dropped(stream, &dropped, &why, &err), &err, file, line, "is_dropped");
    check_str(netlib_status_name(expected), netlib_status_name(why), file, line, "why");
    check_report(dropped == (expected != NETLIB_WANT_READ), file, line, "dropped");
    dropped = !dropped;
    check_status(NETLIB_OK, netlib_tls_stream_is_dropped(stream, &dropped, NULL, &err), &err, file, line, "is_dropped");
    check_report(dropped == (expected != NETLIB_WANT_READ), file, line, "dropped, without why");
}

#define CHECK_LOOK(expected, stream) check_is_dropped((expected), (stream), __FILE__, __LINE__)

static void check_read(netlib_status expected, const char *text, netlib_tls_stream *stream, const char *file,
                       int line) {
    netlib_error *err = NULL;
    char buf[100] = "";
    size_t n = 99;
    check_status(expected, netlib_tls_stream_read(stream, buf, sizeof buf - 1, &n, &err), &err, file, line, "read");
    buf[n < sizeof buf ? n : 0] = '\0';
    check_str(text, buf, file, line, "what was read");
}

#define CHECK_READ(expected, text, stream) check_read((expected), (text), (stream), __FILE__, __LINE__)

/* The tickets arrive in one piece, and byte by byte with a partial record pending most of the time. */
static void tickets_do_not_count_as_a_drop(void) {
    netlib_error *err = NULL;
    char bytes[1000];
    struct session session = begin(unix_pair());
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    send_raw(&session, session.tickets, session.tickets_len);
    int32_t dropped = 0;
    CHECK_OK(netlib_is_connection_dropped(session.pair.near, &dropped, &err));
    CHECK(dropped); /* the answer for the descriptor, which cannot know about tickets */
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    CHECK_OK(netlib_is_connection_dropped(session.pair.near, &dropped, &err));
    CHECK(!dropped); /* the stream has processed the tickets */
    CHECK_LOOK(NETLIB_WANT_READ, session.near);

    /* The session continues, and its data is still there for the reader, however often is_dropped was called. */
    size_t len = from_server(&session, "hello", bytes, sizeof bytes);
    send_raw(&session, bytes, len);
    CHECK_LOOK(NETLIB_OK, session.near);
    CHECK_LOOK(NETLIB_OK, session.near);
    CHECK_INT(5, (long long)netlib_tls_stream_pending(session.near));
    CHECK_READ(NETLIB_OK, "hello", session.near);
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    end(&session);

    session = begin(unix_pair());
    for (size_t i = 0; i < session.tickets_len; i++) {
        send_raw(&session, session.tickets + i, 1);
        CHECK_LOOK(NETLIB_WANT_READ, session.near);
    }
    /* While half of a record is missing, the stream does not know that it is data. */
    len = from_server(&session, "hello", bytes, sizeof bytes);
    send_raw(&session, bytes, len - 1);
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    send_raw(&session, bytes + len - 1, 1);
    CHECK_LOOK(NETLIB_OK, session.near);
    CHECK_READ(NETLIB_OK, "hello", session.near);
    end(&session);
}

enum what { DATA, CLOSE, ALERT, GARBAGE, DAMAGE, HALF, CUT, RESET };

static void apply_event(struct session *session, enum what what) {
    netlib_error *err = NULL;
    char bytes[1000];
    size_t len = 0;
    switch (what) {
    case DATA: len = from_server(session, "data", bytes, sizeof bytes); break;
    case CLOSE:
        CHECK_OK(netlib_tls_engine_shutdown(session->far, &err));
        len = drain_all(session->far, bytes, sizeof bytes);
        break;
    case ALERT: /* from a server that has received invalid bytes */
        feed_all(session->far, "\x17\x03\x03\x00\x20nonsense nonsense nonsense nonse", 37);
        CHECK(netlib_tls_engine_read(session->far, bytes, sizeof bytes, &len, NULL) >= NETLIB_CERTIFICATE_VERIFY);
        len = drain_all(session->far, bytes, sizeof bytes);
        CHECK(len > 0);
        break;
    case GARBAGE: len = (size_t)snprintf(bytes, sizeof bytes, "HTTP/1.1 408 Request Timeout\r\n\r\n"); break;
    case DAMAGE:
    case HALF:
        len = from_server(session, "data", bytes, sizeof bytes);
        if (what == HALF) len /= 2;
        else bytes[len - 1] ^= 1;
        break;
    case CUT: close(session->pair.far); break;
    case RESET: reset_connection(session->pair.far); break;
    }
    if (len > 0) send_raw(session, bytes, len);
    if (what == CUT || what == RESET) session->pair.far = -1;
}

/* Rows: the input, the reason why it counts as a drop, and later reads: first data if there is any, then the same
 * reason. */
static void each_kind_of_drop_is_reported_with_its_reason(void) {
    static const struct {
        enum what what[3];
        size_t count;
        netlib_status why;
        const char *data;
        netlib_status then;
    } rows[] = {
        {{DATA}, 1, NETLIB_OK, "data", NETLIB_WANT_READ},
        {{DATA, CLOSE}, 2, NETLIB_OK, "data", NETLIB_END_OF_STREAM},
        {{DATA, CUT}, 2, NETLIB_OK, "data", NETLIB_TLS_TRUNCATED},
        {{DATA, DAMAGE}, 2, NETLIB_OK, "data", NETLIB_TLS_PROTOCOL},
        {{CLOSE}, 1, NETLIB_END_OF_STREAM, "", NETLIB_END_OF_STREAM},
        {{CLOSE, CUT}, 2, NETLIB_END_OF_STREAM, "", NETLIB_END_OF_STREAM},
        {{CUT}, 1, NETLIB_TLS_TRUNCATED, "", NETLIB_TLS_TRUNCATED},
        {{HALF, CUT}, 2, NETLIB_TLS_TRUNCATED, "", NETLIB_TLS_TRUNCATED},
        {{RESET}, 1, NETLIB_PROTOCOL, "", NETLIB_PROTOCOL},
        {{ALERT}, 1, NETLIB_TLS_ALERT, "", NETLIB_TLS_ALERT},
        {{ALERT, CUT}, 2, NETLIB_TLS_ALERT, "", NETLIB_TLS_ALERT},
        {{GARBAGE}, 1, NETLIB_TLS_PROTOCOL, "", NETLIB_TLS_PROTOCOL},
        {{GARBAGE, CUT}, 2, NETLIB_TLS_PROTOCOL, "", NETLIB_TLS_PROTOCOL},
        {{DAMAGE}, 1, NETLIB_TLS_PROTOCOL, "", NETLIB_TLS_PROTOCOL},
    };
    netlib_error *err = NULL;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int tickets = 0; tickets < 2; tickets++) {
            struct session session = begin(prompt_pair());
            /* The data arrives just before is_dropped is called, or long before it. */
            send_raw(&session, session.tickets, session.tickets_len);
            if (!tickets) CHECK_LOOK(NETLIB_WANT_READ, session.near);
            for (size_t i = 0; i < rows[row].count; i++) apply_event(&session, rows[row].what[i]);
            unsigned long failed = checks_failed;
            CHECK_LOOK(rows[row].why, session.near);
            CHECK_LOOK(rows[row].why, session.near);
            if (rows[row].why == NETLIB_OK) CHECK_READ(NETLIB_OK, rows[row].data, session.near);
            CHECK_LOOK(rows[row].then, session.near);
            CHECK_OK(netlib_tls_stream_set_blocking(session.near, 0, &err));
            CHECK_READ(rows[row].then, "", session.near);
            if (checks_failed > failed) fprintf(stderr, "    row %zu, tickets %d\n", row, tickets);
            end(&session);
        }
    }
}

/* An expired limit is no drop. A shutdown by this side is one. */
static void a_shutdown_counts_as_a_drop_but_an_expired_limit_does_not(void) {
    netlib_error *err = NULL;
    static char bytes[3000000];
    size_t n = 0;
    struct session session = begin(unix_pair());
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(0.0, &limit, &err));
    netlib_limit_cancel(limit);
    netlib_tls_stream_set_limit(session.near, limit);
    CHECK_OK(netlib_tls_stream_set_read_timeout(session.near, 0.0, &err));
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    send_raw(&session, session.tickets, session.tickets_len);
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    netlib_tls_stream_set_limit(session.near, NULL);
    netlib_limit_free(limit);
    CHECK_OK(netlib_tls_stream_shutdown(session.near, &err));
    CHECK_LOOK(NETLIB_CLOSED, session.near);
    apply_event(&session, CLOSE);
    CHECK_LOOK(NETLIB_END_OF_STREAM, session.near);
    end(&session);

    session = begin(unix_pair());
    CHECK_OK(netlib_tls_stream_set_blocking(session.near, 0, &err));
    CHECK_OK(netlib_tls_stream_write(session.near, bytes, sizeof bytes, &n, &err));
    CHECK(n > 0 && n < sizeof bytes);
    CHECK_LOOK(NETLIB_WANT_WRITE, session.near);
    end(&session);

    /* The descriptor is closed. */
    session = begin(unix_pair());
    close(session.pair.near);
    session.pair.near = -1;
    CHECK_LOOK(NETLIB_IO, session.near);
    end(&session);
}

static void is_dropped_does_not_disturb_the_handshake(void) {
    netlib_error *err = NULL;
    char bytes[20000];
    struct session session = {.pair = prompt_pair()};
    session.near = wrap(client, session.pair.near, "localhost");
    session.far = server_engine(server);
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    CHECK_OK(netlib_tls_stream_set_blocking(session.near, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(session.near, &err));
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    size_t len = drain_all(session.far, bytes, sizeof bytes);
    /* In pieces: the handshake later gets all of them in order. */
    for (size_t i = 0; i < len; i += 400) {
        send_raw(&session, bytes + i, len - i < 400 ? len - i : 400);
        CHECK_LOOK(NETLIB_WANT_READ, session.near);
        CHECK_LOOK(NETLIB_WANT_READ, session.near);
    }
    CHECK_OK(netlib_tls_stream_handshake(session.near, &err));
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    end(&session);

    /* is_dropped leaves more than a buffer of handshake bytes alone: only the handshake can interpret them. */
    static const char zeros[100000];
    session = (struct session){.pair = unix_pair()};
    session.near = wrap(client, session.pair.near, "localhost");
    send_raw(&session, zeros, sizeof zeros);
    for (int i = 0; i < 3; i++) CHECK_LOOK(NETLIB_WANT_READ, session.near);
    CHECK_STATUS(NETLIB_NOT_TLS, netlib_tls_stream_handshake(session.near, &err));
    CHECK_LOOK(NETLIB_NOT_TLS, session.near);
    end(&session);

    /* The connection ends before the handshake is done. */
    for (int row = 0; row < 4; row++) {
        session = (struct session){.pair = prompt_pair()};
        session.near = wrap(client, session.pair.near, "localhost");
        CHECK_OK(netlib_tls_stream_set_blocking(session.near, 0, &err));
        if (row == 1) {
            CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(session.near, &err));
            while (recv(session.pair.far, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
        }
        if (row == 3) send_raw(&session, "\x15\x03\x03\x00\x02\x02\x28", 7);
        if (row == 2) reset_connection(session.pair.far);
        else if (row < 3) close(session.pair.far);
        if (row < 3) session.pair.far = -1;
        /* The handshake reports an alert; is_dropped does not look for one. */
        CHECK_LOOK(row == 3 ? NETLIB_WANT_READ : NETLIB_TLS_HANDSHAKE_EOF, session.near);
        CHECK_STATUS(row == 3 ? NETLIB_TLS_ALERT : NETLIB_TLS_HANDSHAKE_EOF,
                     netlib_tls_stream_handshake(session.near, &err));
        CHECK_LOOK(row == 3 ? NETLIB_TLS_ALERT : NETLIB_TLS_HANDSHAKE_EOF, session.near);
        netlib_tls_stream_free(session.near);
        close_pair(session.pair);
    }
}

/* Sleeps, because valgrind runs one thread at a time and also schedules spinning threads. */
static void let_other_threads_run(void) { poll(NULL, 0, 1); }

static void *read_until_told(void *argument) {
    size_t n = 0;
    char buf[10];
    netlib_status status; /* BUSY while the other thread calls is_dropped */
    while ((status = netlib_tls_stream_read(argument, buf, sizeof buf, &n, NULL)) == NETLIB_BUSY)
        let_other_threads_run();
    return (void *)(intptr_t)status;
}

static void is_dropped_returns_busy_during_another_call(void) {
    netlib_error *err = NULL;
    netlib_status why = NETLIB_OK, status = NETLIB_OK;
    int32_t dropped = 1;
    char bytes[1000];
    struct session session = begin(unix_pair());
    send_raw(&session, session.tickets, session.tickets_len);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_until_told, session.near) == 0);
    /* Waits until the other thread is in its call. */
    while ((status = netlib_tls_stream_is_dropped(session.near, &dropped, &why, NULL)) == NETLIB_OK) {
        let_other_threads_run();
    }
    CHECK_INT(NETLIB_BUSY, status);
    CHECK(!dropped && why == NETLIB_OK);
    send_raw(&session, bytes, from_server(&session, "x", bytes, sizeof bytes));
    void *read = NULL;
    CHECK(pthread_join(thread, &read) == 0);
    CHECK_INT(NETLIB_OK, (intptr_t)read);
    CHECK_LOOK(NETLIB_WANT_READ, session.near);

    /* The same while another stream runs inside this one. */
    netlib_tls_stream *inner = NULL;
    CHECK_OK(netlib_tls_wrap_stream(client, session.near, "localhost", &inner, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_stream_is_dropped(session.near, &dropped, &why, &err));
    netlib_tls_stream_free(inner);
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    end(&session);
}

/* TLS in TLS: tickets of both streams, data of the inner one, the end of either. */
static void is_dropped_reports_the_end_of_either_tls_layer(void) {
    netlib_error *err = NULL;
    size_t n = 0;
    for (int row = 0; row < 4; row++) {
        struct pair pair = prompt_pair();
        netlib_tls_stream *outer[2] = {wrap(client, pair.near, "localhost"), accept_tls(server, pair.far)}, *inner[2];
        CHECK_OK(netlib_tls_wrap_stream(client, outer[0], "localhost", &inner[0], &err));
        CHECK_OK(netlib_tls_accept_stream(server, outer[1], &inner[1], &err));
        netlib_status done[2] = {NETLIB_WANT_READ, NETLIB_WANT_READ};
        for (int side = 0; side < 2; side++) CHECK_OK(netlib_tls_stream_set_blocking(inner[side], 0, &err));
        for (int turn = 0; turn < 100 && (done[0] != NETLIB_OK || done[1] != NETLIB_OK); turn++) {
            for (int side = 0; side < 2; side++) done[side] = netlib_tls_stream_handshake(inner[side], NULL);
        }
        CHECK(done[0] == NETLIB_OK && done[1] == NETLIB_OK);
        CHECK_OK(netlib_tls_stream_set_blocking(inner[0], 1, &err));
        CHECK_LOOK(NETLIB_WANT_READ, inner[0]);
        if (row == 0) CHECK_OK(netlib_tls_stream_write(inner[1], "data", 4, &n, &err));
        if (row == 1) CHECK_OK(netlib_tls_stream_shutdown(inner[1], &err));
        if (row == 2) netlib_tls_stream_free(inner[1]), CHECK_OK(netlib_tls_stream_shutdown(outer[1], &err));
        if (row == 3) reset_connection(pair.far), pair.far = -1;
        static const netlib_status why[] = {NETLIB_OK, NETLIB_END_OF_STREAM, NETLIB_TLS_TRUNCATED, NETLIB_PROTOCOL};
        CHECK_LOOK(why[row], inner[0]);
        CHECK_READ(why[row], row == 0 ? "data" : "", inner[0]);
        CHECK_LOOK(row == 0 ? NETLIB_WANT_READ : why[row], inner[0]);
        netlib_tls_stream_free(inner[0]);
        if (row != 2) netlib_tls_stream_free(inner[1]);
        for (int side = 0; side < 2; side++) netlib_tls_stream_free(outer[side]);
        close_pair(pair);
    }
}

/* A callback transport: a descriptor, one byte at a time, or a failure. */
struct functions {
    int fd;
    int32_t failure;
    netlib_tls_stream *stream;
    netlib_status inside;
};

static int32_t read_one(void *ctx, void *buf, size_t len, size_t *n) {
    struct functions *functions = ctx;
    if (functions->failure != 0) return functions->failure;
    int32_t dropped = 0;
    netlib_status why = NETLIB_OK;
    if (functions->stream != NULL)
        functions->inside = netlib_tls_stream_is_dropped(functions->stream, &dropped, &why, NULL);
    ssize_t got = recv(functions->fd, buf, len > 0, MSG_DONTWAIT);
    if (got < 0) return NETLIB_WANT_READ;
    *n = (size_t)got;
    return NETLIB_OK;
}

static int32_t write_all(void *ctx, const void *buf, size_t len, size_t *n) {
    ssize_t sent = send(((struct functions *)ctx)->fd, buf, len, MSG_NOSIGNAL);
    if (sent < 0) return errno;
    *n = (size_t)sent;
    return NETLIB_OK;
}

static void is_dropped_works_over_callback_transports(void) {
    netlib_error *err = NULL;
    char bytes[20000];
    int32_t dropped = 1;
    netlib_status why = NETLIB_OK;
    struct session session = {.pair = unix_pair(), .far = server_engine(server)};
    struct functions functions = {session.pair.near, 0, NULL, NETLIB_OK};
    CHECK_OK(
        netlib_tls_wrap_callbacks(client, "localhost", read_one, write_all, &functions, NULL, &session.near, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    send_raw(&session, bytes, drain_all(session.far, bytes, sizeof bytes));
    CHECK_OK(netlib_tls_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_OK(netlib_tls_engine_handshake(session.far, &err));
    send_raw(&session, bytes, drain_all(session.far, bytes, sizeof bytes));
    functions.stream = session.near;
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    CHECK_INT(NETLIB_BUSY, functions.inside);
    functions.stream = NULL;
    CHECK_INT(0, recv(session.pair.near, bytes, 1, MSG_DONTWAIT) > 0);

    /* A failed callback says nothing about the connection, except if its status says that the connection is gone. */
    functions.failure = 1;
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_tls_stream_is_dropped(session.near, &dropped, &why, &err));
    CHECK(!dropped);
    functions.failure = NETLIB_CANCELLED;
    CHECK_STATUS(NETLIB_CANCELLED, netlib_tls_stream_is_dropped(session.near, &dropped, &why, &err));
    functions.failure = 0;
    CHECK_LOOK(NETLIB_WANT_READ, session.near);
    apply_event(&session, DATA);
    CHECK_LOOK(NETLIB_OK, session.near);
    CHECK_READ(NETLIB_OK, "data", session.near);
    functions.failure = NETLIB_PROTOCOL;
    CHECK_LOOK(NETLIB_PROTOCOL, session.near);
    end(&session);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    tickets_do_not_count_as_a_drop();
    each_kind_of_drop_is_reported_with_its_reason();
    a_shutdown_counts_as_a_drop_but_an_expired_limit_does_not();
    is_dropped_does_not_disturb_the_handshake();
    is_dropped_returns_busy_during_another_call();
    is_dropped_reports_the_end_of_either_tls_layer();
    is_dropped_works_over_callback_transports();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls_dropped");
}
