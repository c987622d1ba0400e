/* Tests TLS that begins on a connection which has carried plain text: netlib_tls_wrap_stream in a plain stream. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_kinds.h"

static netlib_stream *inside(netlib_stream *outer, bool is_server) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    if (is_server) {
        CHECK_OK(netlib_tls_accept_stream(server, outer, &stream, &err));
    } else {
        CHECK_OK(netlib_tls_wrap_stream(client, outer, "localhost", &stream, &err));
    }
    return stream;
}

/* Makes the handshake of two TLS streams. */
static void shake_hands(netlib_stream *near, netlib_stream *far) {
    netlib_error *err = NULL;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, do_handshake, far) == 0);
    CHECK_OK(netlib_stream_handshake(near, &err));
    CHECK(pthread_join(thread, NULL) == 0);
}

static const enum kind plain_kinds[] = {PLAIN_FD, PLAIN_CALLBACKS};

/* The client sends its ClientHello directly after the plain text, without waiting for an answer. */
static void tls_begins_after_plain_text_without_losing_bytes(void) {
    for (size_t row = 0; row < 2; row++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, plain_kinds[row], unix_pair());
        write_text(ends.near, "CONNECT localhost:443 HTTP/1.1\r\n\r\n");
        netlib_stream *near = inside(ends.near, false);
        CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
        ends.near_wire.flags = MSG_DONTWAIT;
        CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(near, &err));
        ends.near_wire.flags = 0;
        CHECK_OK(netlib_stream_set_blocking(near, 1, &err));
        /* netlib_stream_is_dropped must not take a byte from the ClientHello. */
        expect_dropped(1, NETLIB_OK, ends.far);
        read_text(ends.far, "CONNECT localhost:443 HTTP/1.1\r\n\r\n");
        expect_dropped(1, NETLIB_OK, ends.far);
        netlib_stream *far = inside(ends.far, true);
        CHECK_INT(0, (long long)netlib_stream_pending(far));
        shake_hands(near, far);
        write_text(near, "request");
        read_text(far, "request");
        CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_stream_tls_version(near));
        CHECK_INT(NETLIB_TLS_VERSION_NONE, netlib_stream_tls_version(ends.near));
        netlib_stream_free(near);
        netlib_stream_free(far);
        free_ends(&ends);
    }
}

static void the_plain_stream_is_busy_until_the_inner_stream_is_freed(void) {
    for (size_t row = 0; row < 2; row++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, plain_kinds[row], unix_pair());
        netlib_stream *near = inside(ends.near, false), *far = inside(ends.far, true), *second = NULL;
        shake_hands(near, far);
        int32_t dropped = 0;
        expect_read(NETLIB_BUSY, ends.near);
        expect_write(NETLIB_BUSY, ends.near);
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_handshake(ends.near, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown(ends.near, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown_both(ends.near, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_is_dropped(ends.near, &dropped, NULL, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_tls_wrap_stream(client, ends.near, "localhost", &second, &err));
        CHECK_OK(netlib_stream_shutdown(far, &err));
        CHECK_OK(netlib_stream_shutdown_both(near, &err));
        expect_read(NETLIB_END_OF_STREAM, far);
        netlib_stream_free(near);
        netlib_stream_free(far);
        write_text(ends.near, "plain again");
        read_text(ends.far, "plain again");
        free_ends(&ends);
    }
}

static void the_inner_stream_keeps_the_plain_stream_alive(void) {
    struct ends ends;
    connect_ends(&ends, PLAIN_FD, unix_pair());
    netlib_stream *near = inside(ends.near, false), *far = inside(ends.far, true);
    netlib_stream_free(ends.near);
    netlib_stream_free(ends.far);
    shake_hands(near, far);
    write_text(far, "data");
    read_text(near, "data");
    ends.near = near;
    ends.far = far;
    free_ends(&ends);
}

static void a_plain_stream_that_cannot_send_is_refused_as_a_transport(void) {
    netlib_error *err = NULL;
    netlib_stream *inner = NULL;
    struct ends ends;
    connect_ends(&ends, PLAIN_FD, tcp_pair());
    CHECK_OK(netlib_stream_shutdown(ends.near, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, &err));
    /* The refused call leaves the stream usable. */
    write_text(ends.far, "answer");
    read_text(ends.near, "answer");
    free_ends(&ends);

    connect_ends(&ends, PLAIN_FD, tcp_pair());
    reset_connection(ends.pair.near);
    ends.pair.near = -1;
    expect_read(NETLIB_PROTOCOL, ends.far);
    CHECK_STATUS(NETLIB_PROTOCOL, netlib_tls_accept_stream(server, ends.far, &inner, &err));
    CHECK(inner == NULL);
    free_ends(&ends);

    connect_ends(&ends, PLAIN_FD, unix_pair());
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_stream(client, ends.near, NULL, &inner, &err));
    write_text(ends.near, "still plain");
    read_text(ends.far, "still plain");
    free_ends(&ends);
}

static void the_17th_tls_stream_nested_in_a_plain_stream_is_refused(void) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, PLAIN_FD, unix_pair());
    netlib_stream *outer = ends.near, *inner = NULL;
    for (int depth = 1; depth <= 16; depth++) {
        inner = inside(outer, false);
        netlib_stream_free(outer);
        outer = inner;
    }
    CHECK_STATUS(NETLIB_UNSUPPORTED, netlib_tls_wrap_stream(client, outer, "localhost", &inner, &err));
    ends.near = outer;
    free_ends(&ends);
}

/* If the handshake after CONNECT fails, no request has been sent, although the plain stream has sent bytes. */
static void retry_kinds_of_inner_stream_errors_ignore_bytes_sent_as_plain_text(void) {
    static const struct {
        bool handshake_done, request_sent;
        netlib_status status;
        enum netlib_retry_kind expected;
    } rows[] = {
        {false, false, NETLIB_TLS_HANDSHAKE_EOF, NETLIB_RETRY_KIND_CONNECT},
        {true, false, NETLIB_TLS_TRUNCATED, NETLIB_RETRY_KIND_READ},
        {true, true, NETLIB_TLS_TRUNCATED, NETLIB_RETRY_KIND_READ},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, PLAIN_FD, unix_pair());
        write_text(ends.near, "CONNECT");
        read_text(ends.far, "CONNECT");
        netlib_stream *near = inside(ends.near, false), *far = inside(ends.far, true);
        if (rows[row].handshake_done) shake_hands(near, far);
        if (rows[row].request_sent) write_text(near, "GET");
        CHECK(shutdown(ends.pair.far, SHUT_WR) == 0);
        char byte;
        size_t n = 0;
        netlib_status status = netlib_stream_read(near, &byte, 1, &n, &err);
        CHECK_INT(rows[row].expected, netlib_error_retry_kind(err));
        CHECK_STATUS(rows[row].status, status);
        netlib_stream_free(near);
        netlib_stream_free(far);
        free_ends(&ends);
    }
}

/* Once the inner stream has sent bytes, a failure of the plain stream has the retry kind READ, although the application
 * has written nothing to the plain stream itself. */
static void bytes_of_the_inner_stream_count_as_sent_by_the_plain_stream(void) {
    for (int sends = 0; sends < 2; sends++) {
        netlib_error *err = NULL;
        struct pair pair = unix_pair();
        struct wire wire = {.fd = pair.near, .flags = MSG_DONTWAIT};
        netlib_stream *stream = NULL;
        CHECK_OK(netlib_stream_new_callbacks(wire_read, wire_write, &wire, NULL, &stream, &err));
        netlib_stream *inner = inside(stream, false);
        if (sends) CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(inner, &err));
        netlib_stream_free(inner);
        /* A failure whose status has the retry kind OTHER. */
        wire.failure = NETLIB_TLS_PROTOCOL;
        char byte;
        size_t n = 0;
        netlib_status status = netlib_stream_read(stream, &byte, 1, &n, &err);
        CHECK_INT(sends ? NETLIB_RETRY_KIND_READ : NETLIB_RETRY_KIND_OTHER, netlib_error_retry_kind(err));
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
        netlib_stream_free(stream);
        close_pair(pair);
    }
}

/* The results that the callbacks of a plain stream return. A write callback that succeeds with the count 0 sends all
 * bytes. */
struct script {
    int32_t read_answer;
    size_t read_count;
    int32_t write_answer;
    size_t write_count;
    int reads, writes; /* the numbers of calls */
};

static int32_t read_script(void *ctx, void *buf, size_t len, size_t *n) {
    struct script *script = ctx;
    script->reads++;
    memset(buf, 'x', len);
    *n = script->read_count;
    return script->read_answer;
}

static int32_t write_script(void *ctx, const void *buf, size_t len, size_t *n) {
    struct script *script = ctx;
    (void)buf;
    script->writes++;
    *n = script->write_count == 0 ? len : script->write_count;
    return script->write_answer;
}

static netlib_stream *plain_with(struct script *script) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_stream_new_callbacks(read_script, write_script, script, NULL, &stream, &err));
    return stream;
}

static void a_final_failure_or_end_that_the_inner_stream_finds_also_ends_the_plain_stream(void) {
    static const struct {
        struct script script;
        netlib_status inner, outer_read, outer_write;
    } rows[] = {
        {{NETLIB_OK, SIZE_MAX, NETLIB_OK, 0, 0, 0},
         NETLIB_CALLBACK_FAILED,
         NETLIB_CALLBACK_FAILED,
         NETLIB_CALLBACK_FAILED},
        {{NETLIB_OK, 0, NETLIB_OK, 0, 0, 0}, NETLIB_TLS_HANDSHAKE_EOF, NETLIB_END_OF_STREAM, NETLIB_OK},
        {{NETLIB_END_OF_STREAM, 0, NETLIB_OK, 0, 0, 0}, NETLIB_TLS_HANDSHAKE_EOF, NETLIB_END_OF_STREAM, NETLIB_OK},
        {{NETLIB_PROTOCOL, 0, NETLIB_OK, 0, 0, 0}, NETLIB_PROTOCOL, NETLIB_PROTOCOL, NETLIB_PROTOCOL},
        {{NETLIB_CANCELLED, 0, NETLIB_OK, 0, 0, 0}, NETLIB_CANCELLED, NETLIB_OK, NETLIB_OK},
        {{-1, 0, NETLIB_OK, 0, 0, 0}, NETLIB_CALLBACK_FAILED, NETLIB_OK, NETLIB_OK},
        {{NETLIB_OK, 1, NETLIB_OK, SIZE_MAX, 0, 0}, NETLIB_CALLBACK_FAILED, NETLIB_OK, NETLIB_CALLBACK_FAILED},
        {{NETLIB_CANCELLED, 0, NETLIB_PROTOCOL, 0, 0, 0}, NETLIB_PROTOCOL, NETLIB_OK, NETLIB_PROTOCOL},
        {{NETLIB_OK, 1, -1, 0, 0, 0}, NETLIB_CALLBACK_FAILED, NETLIB_OK, NETLIB_OK},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct script script = rows[row].script;
        netlib_stream *stream = plain_with(&script);
        netlib_stream *inner = inside(stream, false);
        CHECK_STATUS(rows[row].inner, netlib_stream_handshake(inner, &err));
        netlib_stream_free(inner);
        script = (struct script){NETLIB_OK, 1, NETLIB_OK, 1, 0, 0};
        char byte;
        size_t n = 0;
        CHECK_STATUS(rows[row].outer_write, netlib_stream_write(stream, "x", 1, &n, &err));
        CHECK_INT(rows[row].outer_write == NETLIB_OK, script.writes);
        CHECK_STATUS(rows[row].outer_read, netlib_stream_read(stream, &byte, 1, &n, &err));
        CHECK_INT(rows[row].outer_read == NETLIB_OK, script.reads);
        netlib_stream_free(stream);
    }
}

static void a_handshake_inside_a_plain_stream_that_has_ended_fails_without_reading(void) {
    netlib_error *err = NULL;
    struct script script = {NETLIB_OK, 0, NETLIB_OK, 0, 0, 0};
    netlib_stream *stream = plain_with(&script);
    expect_read(NETLIB_END_OF_STREAM, stream);
    netlib_stream *inner = inside(stream, false);
    script.read_count = 1;
    CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_stream_handshake(inner, &err));
    CHECK_INT(1, script.reads);
    netlib_stream_free(inner);
    netlib_stream_free(stream);
}

static void an_inner_tls_stream_ignores_the_settings_of_its_plain_stream(void) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, PLAIN_FD, unix_pair());
    netlib_limit *cancelled = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &cancelled, &err));
    netlib_limit_cancel(cancelled);
    netlib_stream *near = inside(ends.near, false), *far = inside(ends.far, true);
    netlib_stream_set_limit(ends.near, cancelled);
    CHECK_OK(netlib_stream_set_blocking(ends.near, 0, &err));
    CHECK_OK(netlib_stream_set_read_timeout(ends.near, 0.0, &err));
    shake_hands(near, far);
    CHECK_OK(netlib_stream_set_read_timeout(near, 0.02, &err));
    expect_read(NETLIB_READ_TIMEOUT, near);
    CHECK_OK(netlib_stream_set_minimum_throughput(near, 1, 0.01, &err));
    expect_read(NETLIB_TOO_SLOW, near);
    netlib_stream_set_limit(near, cancelled);
    expect_read(NETLIB_CANCELLED, near);
    netlib_stream_free(near);
    netlib_stream_free(far);
    expect_read(NETLIB_CANCELLED, ends.near);
    netlib_limit_free(cancelled);
    free_ends(&ends);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    tls_begins_after_plain_text_without_losing_bytes();
    the_plain_stream_is_busy_until_the_inner_stream_is_freed();
    the_inner_stream_keeps_the_plain_stream_alive();
    a_plain_stream_that_cannot_send_is_refused_as_a_transport();
    the_17th_tls_stream_nested_in_a_plain_stream_is_refused();
    retry_kinds_of_inner_stream_errors_ignore_bytes_sent_as_plain_text();
    bytes_of_the_inner_stream_count_as_sent_by_the_plain_stream();
    a_final_failure_or_end_that_the_inner_stream_finds_also_ends_the_plain_stream();
    a_handshake_inside_a_plain_stream_that_has_ended_fails_without_reading();
    an_inner_tls_stream_ignores_the_settings_of_its_plain_stream();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream upgrade");
}
