/* Tests netlib_stream_is_dropped on idle TLS streams: after which input the connection counts as dropped. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_session.h"

#include <errno.h>
#include <poll.h>

/* Calls is_dropped with and without `why`, and checks the result and the reason. */
static void check_is_dropped(netlib_status expected, netlib_stream *stream, const char *file, int line) {
    netlib_error *err = NULL;
    netlib_status why = NETLIB_INTERNAL;
    int32_t dropped = expected == NETLIB_WANT_READ;
    check_status(NETLIB_OK, netlib_stream_is_dropped(stream, &dropped, &why, &err), &err, file, line, "is_dropped");
    check_str(netlib_status_name(expected), netlib_status_name(why), file, line, "why");
    check_report(dropped == (expected != NETLIB_WANT_READ), file, line, "dropped");
    dropped = !dropped;
    check_status(NETLIB_OK, netlib_stream_is_dropped(stream, &dropped, NULL, &err), &err, file, line, "is_dropped");
    check_report(dropped == (expected != NETLIB_WANT_READ), file, line, "dropped, without why");
}

#define CHECK_DROPPED(expected, stream) check_is_dropped((expected), (stream), __FILE__, __LINE__)

static void check_read(netlib_status expected, const char *text, netlib_stream *stream, const char *file, int line) {
    netlib_error *err = NULL;
    char buf[100] = "";
    size_t n = 99;
    check_status(expected, netlib_stream_read(stream, buf, sizeof buf - 1, &n, &err), &err, file, line, "read");
    buf[n < sizeof buf ? n : 0] = '\0';
    check_str(text, buf, file, line, "what was read");
}

#define CHECK_READ(expected, text, stream) check_read((expected), (text), (stream), __FILE__, __LINE__)

/* The tickets arrive in one piece in the first session. In the second session they arrive byte by byte, so the stream
 * usually has an incomplete record. */
static void a_connection_with_unread_tickets_does_not_count_as_dropped(void) {
    netlib_error *err = NULL;
    char bytes[1000];
    struct session session = begin(unix_pair());
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    send_raw(&session, session.tickets, session.tickets_len);
    int32_t dropped = 0;
    CHECK_OK(netlib_is_connection_dropped(session.pair.near, &dropped, &err));
    CHECK(dropped); /* without the stream, netlib cannot recognize tickets */
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    CHECK_OK(netlib_is_connection_dropped(session.pair.near, &dropped, &err));
    CHECK(!dropped); /* the stream has processed the tickets */
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);

    /* Several calls of is_dropped do not consume the data of the session. A later read returns the data. */
    size_t len = from_server(&session, "hello", bytes, sizeof bytes);
    send_raw(&session, bytes, len);
    CHECK_DROPPED(NETLIB_OK, session.near);
    CHECK_DROPPED(NETLIB_OK, session.near);
    CHECK_INT(5, (long long)netlib_stream_pending(session.near));
    CHECK_READ(NETLIB_OK, "hello", session.near);
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    end(&session);

    session = begin(unix_pair());
    for (size_t i = 0; i < session.tickets_len; i++) {
        send_raw(&session, session.tickets + i, 1);
        CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    }
    /* While the end of a record is missing, the stream does not know that the record contains data. */
    len = from_server(&session, "hello", bytes, sizeof bytes);
    send_raw(&session, bytes, len - 1);
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    send_raw(&session, bytes + len - 1, 1);
    CHECK_DROPPED(NETLIB_OK, session.near);
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

/* Each row has the input, the reason that is_dropped reports, the data that a later read returns, and the status of the
 * read after that. */
static void is_dropped_reports_why_a_connection_counts_as_dropped(void) {
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
            /* If `tickets` is 1, is_dropped has not processed the tickets before the events of the row. */
            send_raw(&session, session.tickets, session.tickets_len);
            if (!tickets) CHECK_DROPPED(NETLIB_WANT_READ, session.near);
            for (size_t i = 0; i < rows[row].count; i++) apply_event(&session, rows[row].what[i]);
            unsigned long failed = checks_failed;
            CHECK_DROPPED(rows[row].why, session.near);
            CHECK_DROPPED(rows[row].why, session.near);
            if (rows[row].why == NETLIB_OK) CHECK_READ(NETLIB_OK, rows[row].data, session.near);
            CHECK_DROPPED(rows[row].then, session.near);
            CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
            CHECK_READ(rows[row].then, "", session.near);
            if (checks_failed > failed) fprintf(stderr, "    row %zu, tickets %d\n", row, tickets);
            end(&session);
        }
    }
}

/* After the limit of a stream has ended, the connection does not count as dropped. After netlib_stream_shutdown, the
 * connection counts as dropped. */
static void a_connection_counts_as_dropped_after_shutdown_not_after_an_expired_limit(void) {
    netlib_error *err = NULL;
    static char bytes[3000000];
    size_t n = 0;
    struct session session = begin(unix_pair());
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(0.0, NULL, &limit, &err));
    netlib_limit_cancel(limit);
    netlib_stream_set_limit(session.near, limit);
    CHECK_OK(netlib_stream_set_read_timeout(session.near, 0.0, &err));
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    send_raw(&session, session.tickets, session.tickets_len);
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    netlib_stream_set_limit(session.near, NULL);
    netlib_limit_free(limit);
    CHECK_OK(netlib_stream_shutdown(session.near, &err));
    CHECK_DROPPED(NETLIB_CLOSED, session.near);
    apply_event(&session, CLOSE);
    CHECK_DROPPED(NETLIB_END_OF_STREAM, session.near);
    end(&session);

    session = begin(unix_pair());
    CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
    CHECK_OK(netlib_stream_write(session.near, bytes, sizeof bytes, &n, &err));
    CHECK(n > 0 && n < sizeof bytes);
    CHECK_DROPPED(NETLIB_WANT_WRITE, session.near);
    end(&session);

    /* is_dropped reports NETLIB_IO for a stream whose descriptor has been closed. */
    session = begin(unix_pair());
    close(session.pair.near);
    session.pair.near = -1;
    CHECK_DROPPED(NETLIB_IO, session.near);
    end(&session);
}

static void is_dropped_does_not_disturb_the_handshake(void) {
    netlib_error *err = NULL;
    char bytes[20000];
    struct session session = {.pair = prompt_pair()};
    session.near = wrap(client, session.pair.near, "localhost");
    session.far = server_engine(server);
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(session.near, &err));
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    size_t len = drain_all(session.far, bytes, sizeof bytes);
    /* The flight of the server arrives in pieces. The later handshake must get all pieces in order. */
    for (size_t i = 0; i < len; i += 400) {
        send_raw(&session, bytes + i, len - i < 400 ? len - i : 400);
        CHECK_DROPPED(NETLIB_WANT_READ, session.near);
        CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    }
    CHECK_OK(netlib_stream_handshake(session.near, &err));
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    end(&session);

    /* Only the handshake can interpret handshake bytes, so is_dropped stores them, at most until the stream's buffer is
     * full. */
    static const char zeros[100000];
    session = (struct session){.pair = unix_pair()};
    session.near = wrap(client, session.pair.near, "localhost");
    send_raw(&session, zeros, sizeof zeros);
    for (int i = 0; i < 3; i++) CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    CHECK_STATUS(NETLIB_NOT_TLS, netlib_stream_handshake(session.near, &err));
    CHECK_DROPPED(NETLIB_NOT_TLS, session.near);
    end(&session);

    /* The connection ends before the handshake is complete. */
    for (int row = 0; row < 4; row++) {
        session = (struct session){.pair = prompt_pair()};
        session.near = wrap(client, session.pair.near, "localhost");
        CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
        if (row == 1) {
            CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(session.near, &err));
            while (recv(session.pair.far, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
        }
        if (row == 3) send_raw(&session, "\x15\x03\x03\x00\x02\x02\x28", 7);
        if (row == 2) reset_connection(session.pair.far);
        else if (row < 3) close(session.pair.far);
        if (row < 3) session.pair.far = -1;
        /* Before the handshake is complete, is_dropped does not look for an alert. The handshake reports the alert. */
        CHECK_DROPPED(row == 3 ? NETLIB_WANT_READ : NETLIB_TLS_HANDSHAKE_EOF, session.near);
        CHECK_STATUS(row == 3 ? NETLIB_TLS_ALERT : NETLIB_TLS_HANDSHAKE_EOF,
                     netlib_stream_handshake(session.near, &err));
        CHECK_DROPPED(row == 3 ? NETLIB_TLS_ALERT : NETLIB_TLS_HANDSHAKE_EOF, session.near);
        netlib_stream_free(session.near);
        close_pair(session.pair);
    }
}

/* Sleeps for a millisecond. Valgrind runs only one thread at a time, so a thread that spins would delay the others. */
static void let_other_threads_run(void) { poll(NULL, 0, 1); }

static void *read_until_not_busy(void *argument) {
    size_t n = 0;
    char buf[10];
    netlib_status status; /* BUSY while the other thread calls is_dropped */
    while ((status = netlib_stream_read(argument, buf, sizeof buf, &n, NULL)) == NETLIB_BUSY) let_other_threads_run();
    return (void *)(intptr_t)status;
}

static void is_dropped_returns_busy_while_another_thread_reads_the_stream(void) {
    netlib_error *err = NULL;
    netlib_status why = NETLIB_OK, status = NETLIB_OK;
    int32_t dropped = 1;
    char bytes[1000];
    struct session session = begin(unix_pair());
    send_raw(&session, session.tickets, session.tickets_len);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_until_not_busy, session.near) == 0);
    /* Waits until the other thread is in its call of netlib_stream_read. */
    while ((status = netlib_stream_is_dropped(session.near, &dropped, &why, NULL)) == NETLIB_OK) {
        let_other_threads_run();
    }
    CHECK_INT(NETLIB_BUSY, status);
    CHECK(!dropped && why == NETLIB_OK);
    send_raw(&session, bytes, from_server(&session, "x", bytes, sizeof bytes));
    void *read = NULL;
    CHECK(pthread_join(thread, &read) == 0);
    CHECK_INT(NETLIB_OK, (intptr_t)read);
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);

    /* is_dropped returns NETLIB_BUSY while an inner stream uses this stream as its transport. */
    netlib_stream *inner = NULL;
    CHECK_OK(netlib_tls_wrap_stream(client, session.near, "localhost", &inner, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_is_dropped(session.near, &dropped, &why, &err));
    netlib_stream_free(inner);
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    end(&session);
}

/* Tests is_dropped with TLS in TLS: tickets of both streams, data of the inner stream, and the end of either stream. */
static void is_dropped_reports_the_end_of_either_tls_layer(void) {
    netlib_error *err = NULL;
    size_t n = 0;
    for (int row = 0; row < 4; row++) {
        struct pair pair = prompt_pair();
        netlib_stream *outer[2] = {wrap(client, pair.near, "localhost"), accept_tls(server, pair.far)}, *inner[2];
        CHECK_OK(netlib_tls_wrap_stream(client, outer[0], "localhost", &inner[0], &err));
        CHECK_OK(netlib_tls_accept_stream(server, outer[1], &inner[1], &err));
        netlib_status done[2] = {NETLIB_WANT_READ, NETLIB_WANT_READ};
        for (int side = 0; side < 2; side++) CHECK_OK(netlib_stream_set_blocking(inner[side], 0, &err));
        for (int turn = 0; turn < 100 && (done[0] != NETLIB_OK || done[1] != NETLIB_OK); turn++) {
            for (int side = 0; side < 2; side++) done[side] = netlib_stream_handshake(inner[side], NULL);
        }
        CHECK(done[0] == NETLIB_OK && done[1] == NETLIB_OK);
        CHECK_OK(netlib_stream_set_blocking(inner[0], 1, &err));
        CHECK_DROPPED(NETLIB_WANT_READ, inner[0]);
        if (row == 0) CHECK_OK(netlib_stream_write(inner[1], "data", 4, &n, &err));
        if (row == 1) CHECK_OK(netlib_stream_shutdown(inner[1], &err));
        if (row == 2) netlib_stream_free(inner[1]), CHECK_OK(netlib_stream_shutdown(outer[1], &err));
        if (row == 3) reset_connection(pair.far), pair.far = -1;
        static const netlib_status why[] = {NETLIB_OK, NETLIB_END_OF_STREAM, NETLIB_TLS_TRUNCATED, NETLIB_PROTOCOL};
        CHECK_DROPPED(why[row], inner[0]);
        CHECK_READ(why[row], row == 0 ? "data" : "", inner[0]);
        CHECK_DROPPED(row == 0 ? NETLIB_WANT_READ : why[row], inner[0]);
        netlib_stream_free(inner[0]);
        if (row != 2) netlib_stream_free(inner[1]);
        for (int side = 0; side < 2; side++) netlib_stream_free(outer[side]);
        close_pair(pair);
    }
}

/* The ctx of callbacks that transfer one byte per call over a descriptor, or fail. */
struct functions {
    int fd;
    int32_t failure;
    netlib_stream *stream;
    netlib_status inside;
};

static int32_t read_one(void *ctx, void *buf, size_t len, size_t *n) {
    struct functions *functions = ctx;
    if (functions->failure != 0) return functions->failure;
    int32_t dropped = 0;
    netlib_status why = NETLIB_OK;
    if (functions->stream != NULL)
        functions->inside = netlib_stream_is_dropped(functions->stream, &dropped, &why, NULL);
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

static void is_dropped_reports_the_lost_connection_of_a_callback_transport(void) {
    netlib_error *err = NULL;
    char bytes[20000];
    int32_t dropped = 1;
    netlib_status why = NETLIB_OK;
    struct session session = {.pair = unix_pair(), .far = server_engine(server)};
    struct functions functions = {session.pair.near, 0, NULL, NETLIB_OK};
    CHECK_OK(
        netlib_tls_wrap_callbacks(client, "localhost", read_one, write_all, &functions, NULL, &session.near, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    send_raw(&session, bytes, drain_all(session.far, bytes, sizeof bytes));
    CHECK_OK(netlib_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_OK(netlib_tls_engine_handshake(session.far, &err));
    send_raw(&session, bytes, drain_all(session.far, bytes, sizeof bytes));
    functions.stream = session.near;
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    CHECK_INT(NETLIB_BUSY, functions.inside);
    functions.stream = NULL;
    CHECK_INT(0, recv(session.pair.near, bytes, 1, MSG_DONTWAIT) > 0);

    /* If a callback fails, the connection counts as dropped only if the status of the callback reports the loss of the
     * connection. */
    functions.failure = 1;
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_stream_is_dropped(session.near, &dropped, &why, &err));
    CHECK(!dropped);
    functions.failure = NETLIB_CANCELLED;
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_is_dropped(session.near, &dropped, &why, &err));
    functions.failure = 0;
    CHECK_DROPPED(NETLIB_WANT_READ, session.near);
    apply_event(&session, DATA);
    CHECK_DROPPED(NETLIB_OK, session.near);
    CHECK_READ(NETLIB_OK, "data", session.near);
    functions.failure = NETLIB_PROTOCOL;
    CHECK_DROPPED(NETLIB_PROTOCOL, session.near);
    end(&session);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    a_connection_with_unread_tickets_does_not_count_as_dropped();
    is_dropped_reports_why_a_connection_counts_as_dropped();
    a_connection_counts_as_dropped_after_shutdown_not_after_an_expired_limit();
    is_dropped_does_not_disturb_the_handshake();
    is_dropped_returns_busy_while_another_thread_reads_the_stream();
    is_dropped_reports_the_end_of_either_tls_layer();
    is_dropped_reports_the_lost_connection_of_a_callback_transport();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls_dropped");
}
