/* Tests the retry kinds of stream failures: on a socket, over transport callbacks, and inside another stream. */
#define _GNU_SOURCE
#include "retry_outcomes.h"
#include "tls_session.h"

#include <errno.h>
#include <poll.h>

static const char post[] = "POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1";

/* A record that no session can decrypt. Reading the record fails with NETLIB_TLS_PROTOCOL. */
static const char garbage[5 + 32] = "\x17\x03\x03\x00\x20";

/* ---- the calls that the tests make ---- */

static netlib_status call_read(netlib_stream *stream, netlib_error **err) {
    char bytes[100];
    size_t n = 0;
    return netlib_stream_read(stream, bytes, sizeof bytes, &n, err);
}

static netlib_status call_read_without_waiting(netlib_stream *stream, netlib_error **err) {
    CHECK(netlib_stream_set_blocking(stream, 0, NULL) == NETLIB_OK);
    return call_read(stream, err);
}

static netlib_status call_read_in_time(netlib_stream *stream, netlib_error **err) {
    CHECK(netlib_stream_set_read_timeout(stream, LONG, NULL) == NETLIB_OK);
    return call_read(stream, err);
}

static netlib_status call_read_guarded(netlib_stream *stream, netlib_error **err) {
    CHECK(netlib_stream_set_minimum_throughput(stream, 1, LONG, NULL) == NETLIB_OK);
    return call_read(stream, err);
}

static netlib_status call_shutdown_both(netlib_stream *stream, netlib_error **err) {
    return netlib_stream_shutdown_both(stream, err);
}

static netlib_status call_write(netlib_stream *stream, netlib_error **err) {
    size_t n = 0;
    return netlib_stream_write(stream, post, sizeof post - 1, &n, err);
}

static netlib_status call_large_write(netlib_stream *stream, netlib_error **err) {
    static const char data[200000];
    size_t n = 0;
    return netlib_stream_write(stream, data, sizeof data, &n, err);
}

static netlib_status call_writev(netlib_stream *stream, netlib_error **err) {
    const netlib_slice slices[] = {{post, 4}, {post + 4, sizeof post - 5}};
    size_t n = 0;
    return netlib_stream_writev(stream, slices, 2, &n, err);
}

static netlib_status call_handshake(netlib_stream *stream, netlib_error **err) {
    return netlib_stream_handshake(stream, err);
}
static netlib_status call_shutdown(netlib_stream *stream, netlib_error **err) {
    return netlib_stream_shutdown(stream, err);
}

static netlib_status call_early_data(netlib_stream *stream, netlib_error **err) {
    size_t n = 0;
    return netlib_stream_write_early_data(stream, "x", 1, &n, err);
}

typedef netlib_status call(netlib_stream *stream, netlib_error **err);

static void check_call(call *act, netlib_stream *stream, netlib_status status, enum netlib_retry_kind kind,
                       const char *what) {
    netlib_error *err = NULL;
    unsigned long failed = checks_failed;
    CHECK_INT(status, act(stream, &err));
    check_outcomes(kind, err, NULL, what);
    if (checks_failed != failed) fprintf(stderr, "    %s\n", what);
    netlib_error_free(err);
}

/* Checks that every later call returns the same failure with the same retry kind. */
static void check_kept(netlib_stream *stream, netlib_status status, enum netlib_retry_kind kind, const char *what) {
    static call *const calls[] = {call_read,     call_write,      call_writev,       call_handshake,
                                  call_shutdown, call_early_data, call_shutdown_both};
    CHECK(netlib_stream_set_blocking(stream, 1, NULL) == NETLIB_OK);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i] == call_handshake) continue; /* the handshake is done */
        check_call(calls[i], stream, status, kind, what);
    }
}

/* ---- failures of streams on a socket ---- */

static void failed_reads_have_retry_kind_other_before_the_request_and_read_after_it(void) {
    static const struct {
        const char *what;
        call *act;
    } rows[] = {
        {"a read", call_read},
        {"a read without waiting", call_read_without_waiting},
        {"a read with a timeout", call_read_in_time},
        {"a read with a minimum throughput", call_read_guarded},
        {"a shutdown that waits for the peer's", call_shutdown_both},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        bool is_sent = i % 2 == 1;
        struct session session = begin(prompt_pair());
        netlib_error *err = NULL;
        if (is_sent) CHECK_OK(call_write(session.near, &err));
        send_raw(&session, garbage, sizeof garbage);
        enum netlib_retry_kind kind = is_sent ? READ : OTHER;
        check_call(rows[i / 2].act, session.near, NETLIB_TLS_PROTOCOL, kind, rows[i / 2].what);
        if (rows[i / 2].act != call_shutdown_both)
            check_kept(session.near, NETLIB_TLS_PROTOCOL, kind, rows[i / 2].what);
        end(&session);
    }
}

/* The peer resets the connection before the write. The failure has the retry kind READ, because the write has already
 * encrypted data. */
static void failed_writes_on_a_reset_connection_have_retry_kind_read(void) {
    static const struct {
        const char *what;
        call *act;
    } rows[] = {{"a write", call_write}, {"a large write", call_large_write}, {"a write of pieces", call_writev}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct session session = begin(prompt_pair());
        reset_connection(session.pair.far);
        session.pair.far = -1;
        check_call(rows[i].act, session.near, NETLIB_PROTOCOL, READ, rows[i].what);
        end(&session);
    }
}

static void timeouts_and_lost_connections_after_the_request_have_retry_kind_read(void) {
    static const struct {
        const char *what;
        bool is_reset, is_closed;
        netlib_status status;
    } rows[] = {
        {"silence", false, false, NETLIB_READ_TIMEOUT},
        {"the end of the connection", false, true, NETLIB_TLS_TRUNCATED},
        {"a reset", true, true, NETLIB_PROTOCOL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct session session = begin(prompt_pair());
        netlib_error *err = NULL;
        CHECK_OK(call_write(session.near, &err));
        receive_far(&session);
        if (rows[i].is_reset) reset_connection(session.pair.far);
        else if (rows[i].is_closed) close(session.pair.far);
        if (rows[i].is_closed) session.pair.far = -1;
        CHECK_OK(netlib_stream_set_read_timeout(session.near, rows[i].is_closed ? LONG : 0.01, &err));
        check_call(call_read, session.near, rows[i].status, READ, rows[i].what);
        end(&session);
    }
    /* The caller cancels the limit of the stream before the read. A cancelled request is never retried, even if nothing
     * was sent. */
    struct session session = begin(prompt_pair());
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(call_write(session.near, &err));
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_limit_cancel(limit);
    netlib_stream_set_limit(session.near, limit);
    check_call(call_read, session.near, NETLIB_CANCELLED, NEVER, "cancelled");
    netlib_limit_free(limit);
    end(&session);
}

static void failed_handshakes_have_retry_kind_connect_or_other_but_not_read(void) {
    static const struct {
        const char *what, *bytes;
        size_t len;
        netlib_status status;
        enum netlib_retry_kind kind;
    } rows[] = {
        {"the end of the connection", "", 0, NETLIB_TLS_HANDSHAKE_EOF, CONNECT},
        {"bytes that are not TLS", "HTTP/1.1 400 X\r\n\r\n", 18, NETLIB_NOT_TLS, OTHER},
        {"an alert", "\x15\x03\x03\x00\x02\x02\x28", 7, NETLIB_TLS_ALERT, OTHER},
    };
    /* A write does the handshake first, and accepts no data if the handshake fails. */
    static call *const calls[] = {call_handshake, call_write, call_read};
    for (size_t i = 0; i < 3 * sizeof rows / sizeof rows[0]; i++) {
        struct pair pair = prompt_pair();
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        CHECK_INT((long long)rows[i / 3].len, send(pair.far, rows[i / 3].bytes, rows[i / 3].len, MSG_NOSIGNAL));
        CHECK(shutdown(pair.far, SHUT_WR) == 0);
        check_call(calls[i % 3], stream, rows[i / 3].status, rows[i / 3].kind, rows[i / 3].what);
        check_call(calls[(i + 1) % 3], stream, rows[i / 3].status, rows[i / 3].kind, rows[i / 3].what);
        netlib_stream_free(stream);
        close_pair(pair);
    }
    /* No server listens on the port. */
    struct pair gone = tcp_pair();
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    netlib_error *err = NULL;
    int fd = -1;
    CHECK(getsockname(gone.far, (struct sockaddr *)&address, &len) == 0);
    close_pair(gone);
    CHECK_INT(NETLIB_CONNECT_FAILED,
              netlib_create_connection("127.0.0.1", ntohs(address.sin_port), NULL, NULL, &fd, &err));
    check_outcomes(CONNECT, err, NULL, "nobody listens");
    netlib_error_free(err);
}

/* ---- failures of streams inside another stream ---- */

struct nest {
    struct pair pair;
    netlib_stream *near[2], *far[2];
};

static void handshake_until(netlib_stream *near, netlib_stream *far, netlib_status expected, netlib_error **failure) {
    netlib_error *err = NULL;
    netlib_status status = NETLIB_WANT_READ, other = NETLIB_WANT_READ;
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    for (int turn = 0; turn < 100 && (status == NETLIB_WANT_READ || (status == NETLIB_OK && other == NETLIB_WANT_READ));
         turn++) {
        status = netlib_stream_handshake(near, failure);
        if (other == NETLIB_WANT_READ) other = netlib_stream_handshake(far, &err);
        netlib_error_free(err);
        err = NULL;
    }
    CHECK_INT(expected, status);
    if (expected == NETLIB_OK) CHECK_INT(NETLIB_OK, other);
}

/* Creates the outer session, over which the client sends a CONNECT request and receives the response. The inner stream
 * verifies the certificate for `name`. */
static struct nest begin_nest(const char *name) {
    static const char connect[] = "CONNECT localhost:443 HTTP/1.1\r\n\r\n";
    struct nest nest = {.pair = prompt_pair()};
    netlib_error *err = NULL;
    char bytes[100];
    size_t n = 0;
    nest.near[0] = wrap(client, nest.pair.near, "localhost");
    nest.far[0] = accept_tls(server, nest.pair.far);
    handshake_until(nest.near[0], nest.far[0], NETLIB_OK, &err);
    CHECK_OK(netlib_stream_write(nest.near[0], connect, sizeof connect - 1, &n, &err));
    CHECK_OK(netlib_stream_read(nest.far[0], bytes, sizeof bytes, &n, &err));
    CHECK_OK(netlib_stream_write(nest.far[0], "HTTP/1.1 200 OK\r\n\r\n", 19, &n, &err));
    CHECK_OK(netlib_stream_read(nest.near[0], bytes, sizeof bytes, &n, &err));
    CHECK_OK(netlib_tls_wrap_stream(client, nest.near[0], name, &nest.near[1], &err));
    CHECK_OK(netlib_tls_accept_stream(server, nest.far[0], &nest.far[1], &err));
    return nest;
}

static void end_nest(struct nest *nest) {
    for (int i = 1; i >= 0; i--) {
        netlib_stream_free(nest->near[i]);
        netlib_stream_free(nest->far[i]);
    }
    close_pair(nest->pair);
}

/* Calls `act` with the non-blocking inner stream until `act` fails. Returns the error. */
static netlib_error *inner_failure(struct nest *nest, call *act, netlib_status expected) {
    netlib_error *err = NULL;
    netlib_status status = NETLIB_WANT_READ;
    CHECK(netlib_stream_set_blocking(nest->near[1], 0, NULL) == NETLIB_OK);
    for (int turn = 0; turn < 100 && (status == NETLIB_WANT_READ || status == NETLIB_OK); turn++) {
        status = act(nest->near[1], &err);
    }
    CHECK_INT(expected, status);
    return err;
}

/* The outer stream has transferred the CONNECT request and the inner handshake, but not the request to the server. */
static void inner_stream_errors_before_the_request_have_retry_kind_connect_or_other(void) {
    static const struct {
        const char *what, *name;
        bool is_garbage, is_over;
        netlib_status status;
        enum netlib_retry_kind kind;
    } rows[] = {
        {"the outer record is garbage", "localhost", true, false, NETLIB_TLS_PROTOCOL, OTHER},
        {"the connection ends", "localhost", false, true, NETLIB_TLS_HANDSHAKE_EOF, CONNECT},
        {"a certificate for another name", "other.example", false, false, NETLIB_HOSTNAME_MISMATCH, OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nest nest = begin_nest(rows[i].name);
        netlib_error *failure = NULL;
        if (rows[i].is_garbage)
            CHECK_INT((long long)sizeof garbage, send(nest.pair.far, garbage, sizeof garbage, MSG_NOSIGNAL));
        if (rows[i].is_over) CHECK(shutdown(nest.pair.far, SHUT_WR) == 0);
        if (rows[i].is_garbage || rows[i].is_over) failure = inner_failure(&nest, call_handshake, rows[i].status);
        else handshake_until(nest.near[1], nest.far[1], rows[i].status, &failure);
        check_outcomes(rows[i].kind, failure, NULL, rows[i].what);
        netlib_error_free(failure);
        /* The inner stream returns the same failure with its own retry kind, although the outer stream has sent the
         * CONNECT request. */
        failure = inner_failure(&nest, call_write, rows[i].status);
        check_outcomes(rows[i].kind, failure, NULL, rows[i].what);
        netlib_error_free(failure);
        if (rows[i].is_garbage) {
            netlib_stream_free(nest.near[1]);
            nest.near[1] = NULL;
            check_call(call_read, nest.near[0], NETLIB_TLS_PROTOCOL, READ, "the outer stream itself");
        }
        end_nest(&nest);
    }
}

static void inner_stream_errors_after_the_request_have_retry_kind_read(void) {
    for (int row = 0; row < 3; row++) {
        static const char *const whats[] = {"the outer record is garbage", "the inner record is garbage",
                                            "the connection ends"};
        struct nest nest = begin_nest("localhost");
        netlib_error *err = NULL;
        size_t n = 0;
        handshake_until(nest.near[1], nest.far[1], NETLIB_OK, &err);
        CHECK_OK(netlib_stream_write(nest.near[1], post, sizeof post - 1, &n, &err));
        if (row == 0) CHECK_INT((long long)sizeof garbage, send(nest.pair.far, garbage, sizeof garbage, MSG_NOSIGNAL));
        if (row == 1) {
            netlib_stream_free(nest.far[1]);
            nest.far[1] = NULL;
            CHECK_OK(netlib_stream_write(nest.far[0], garbage, sizeof garbage, &n, &err));
        }
        if (row == 2) CHECK(shutdown(nest.pair.far, SHUT_WR) == 0);
        netlib_error *failure = inner_failure(&nest, call_read, row == 2 ? NETLIB_TLS_TRUNCATED : NETLIB_TLS_PROTOCOL);
        check_outcomes(READ, failure, NULL, whats[row]);
        netlib_error_free(failure);
        end_nest(&nest);
    }
}

/* ---- failures of streams over transport callbacks ---- */

/* Transport callbacks of an inner stream: they read and write the outer stream, and return the statuses of the outer
 * stream. Data that the application has sent over the outer stream does not count as data that the inner stream has
 * sent. */
static netlib_status carried_read(void *ctx, void *buf, size_t len, size_t *n) {
    return netlib_stream_read(ctx, buf, len, n, NULL);
}

static netlib_status carried_write(void *ctx, const void *buf, size_t len, size_t *n) {
    return netlib_stream_write(ctx, buf, len, n, NULL);
}

static void callback_errors_have_retry_kind_other_before_the_request_and_read_after(void) {
    for (int is_sent = 0; is_sent < 2; is_sent++) {
        struct nest nest = {.pair = prompt_pair()};
        netlib_error *err = NULL;
        size_t n = 0;
        nest.near[0] = wrap(client, nest.pair.near, "localhost");
        nest.far[0] = accept_tls(server, nest.pair.far);
        handshake_until(nest.near[0], nest.far[0], NETLIB_OK, &err);
        CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", carried_read, carried_write, nest.near[0], NULL,
                                           &nest.near[1], &err));
        CHECK_OK(netlib_tls_accept_stream(server, nest.far[0], &nest.far[1], &err));
        if (is_sent) {
            handshake_until(nest.near[1], nest.far[1], NETLIB_OK, &err);
            CHECK_OK(netlib_stream_write(nest.near[1], post, sizeof post - 1, &n, &err));
        }
        CHECK_INT((long long)sizeof garbage, send(nest.pair.far, garbage, sizeof garbage, MSG_NOSIGNAL));
        netlib_error *failure = inner_failure(&nest, call_read, NETLIB_TLS_PROTOCOL);
        check_outcomes(is_sent ? READ : OTHER, failure, NULL, is_sent ? "callbacks, sent" : "callbacks");
        netlib_error_free(failure);
        end_nest(&nest);
    }
}

/* ---- a man in the middle, on a socket ---- */

static void a_post_over_a_socket_is_not_repeated_after_a_flipped_response_bit(void) {
    static const size_t places[] = {0, 3, 4, 5, 20}; /* type, both bytes of the length, ciphertext */
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        netlib_retry *retry = NULL;
        int orders = 0;
        CHECK_OK(netlib_parse_url("https://localhost/orders", NETLIB_NTS, &url, &err));
        CHECK_OK(netlib_retry_new(NULL, &retry, &err));
        for (bool is_over = false; !is_over && orders < 20;) {
            struct session session = begin(prompt_pair());
            char bytes[1000];
            size_t n = 0;
            netlib_error *failure = NULL;
            netlib_decision *decision = NULL;
            CHECK_OK(call_write(session.near, &err));
            CHECK_INT(1, poll(&(struct pollfd){session.pair.far, POLLIN, 0}, 1, (int)LONG * 1000));
            receive_far(&session);
            CHECK_OK(netlib_tls_engine_read(session.far, bytes, sizeof bytes, &n, &err));
            orders += n == sizeof post - 1 && memcmp(bytes, post, n) == 0;
            size_t len =
                from_server(&session, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", bytes, sizeof bytes);
            bytes[places[i]] ^= 1;
            send_raw(&session, bytes, len);
            CHECK(shutdown(session.pair.far, SHUT_WR) == 0);
            CHECK(call_read(session.near, &failure) != NETLIB_OK);
            is_over = netlib_retry_decide(retry, "POST", url, NULL, failure, NULL, &decision, NULL) != NETLIB_OK;
            netlib_retry_free(retry);
            retry = netlib_retry_clone(netlib_decision_retry(decision));
            netlib_decision_free(decision);
            netlib_error_free(failure);
            end(&session);
        }
        CHECK_INT(1, orders);
        netlib_retry_free(retry);
        netlib_url_free(url);
    }
}

int main(void) {
    client = client_context();
    server = server_context("server");
    failed_reads_have_retry_kind_other_before_the_request_and_read_after_it();
    failed_writes_on_a_reset_connection_have_retry_kind_read();
    timeouts_and_lost_connections_after_the_request_have_retry_kind_read();
    failed_handshakes_have_retry_kind_connect_or_other_but_not_read();
    inner_stream_errors_before_the_request_have_retry_kind_connect_or_other();
    inner_stream_errors_after_the_request_have_retry_kind_read();
    callback_errors_have_retry_kind_other_before_the_request_and_read_after();
    a_post_over_a_socket_is_not_repeated_after_a_flipped_response_bit();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls_retry_streams");
}
