/* Tests plain streams: descriptors that are refused, results of callbacks, retry kinds, and functions for TLS. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_kinds.h"

#include <fcntl.h>
#include <poll.h>

static netlib_stream *plain_on(int fd) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_stream_new_fd(fd, &stream, &err));
    return stream;
}

static void pipes_datagram_sockets_and_listening_sockets_are_refused(void) {
    netlib_error *err = NULL;
    int ends[2] = {-1, -1};
    CHECK(pipe(ends) == 0);
    struct sockaddr_in address;
    const struct {
        int fd;
        const char *message_part;
    } rows[] = {
        {ends[0], "is not a stream socket"},
        {ends[1], "is not a stream socket"},
        {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "is not a stream socket"},
        {tcp_listener(&address), "is a listening socket"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_stream *stream = (netlib_stream *)&address;
        netlib_status status = netlib_stream_new_fd(rows[row].fd, &stream, &err);
        CHECK_CONTAINS(rows[row].message_part, netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        CHECK(stream == NULL);
        close(rows[row].fd);
    }
}

static void stream_calls_on_a_descriptor_that_is_not_open_return_netlib_io(void) {
    static const int fds[] = {-1, 1000000};
    for (size_t row = 0; row < sizeof fds / sizeof fds[0]; row++) {
        for (int32_t blocking = 0; blocking < 2; blocking++) {
            netlib_error *err = NULL;
            netlib_stream *stream = plain_on(fds[row]);
            CHECK_OK(netlib_stream_set_blocking(stream, blocking, &err));
            for (int i = 0; i < 2; i++) {
                expect_read(NETLIB_IO, stream);
                expect_write(NETLIB_IO, stream);
                expect_dropped(1, NETLIB_IO, stream);
            }
            CHECK_STATUS(NETLIB_IO, netlib_stream_shutdown_both(stream, &err));
            netlib_stream_free(stream);
        }
    }
}

static void a_stream_ignores_o_nonblock_and_leaves_it_unchanged(void) {
    static const int flags[] = {0, O_NONBLOCK};
    for (size_t row = 0; row < 2; row++) {
        netlib_error *err = NULL;
        struct pair pair = unix_pair();
        CHECK(fcntl(pair.near, F_SETFL, flags[row]) == 0);
        netlib_stream *stream = plain_on(pair.near);
        CHECK_OK(netlib_stream_set_blocking(stream, 0, &err));
        expect_read(NETLIB_WANT_READ, stream);
        CHECK_OK(netlib_stream_set_blocking(stream, 1, &err));
        CHECK_OK(netlib_stream_set_read_timeout(stream, 0.02, &err));
        expect_read(NETLIB_READ_TIMEOUT, stream);
        CHECK(send(pair.far, "data", 4, 0) == 4);
        read_text(stream, "data");
        CHECK_INT(flags[row], fcntl(pair.near, F_GETFL) & O_NONBLOCK);
        netlib_stream_free(stream);
        CHECK(fcntl(pair.near, F_GETFD) >= 0);
        close_pair(pair);
    }
}

static void *send_later(void *fd) {
    usleep(20000);
    CHECK(send(*(int *)fd, "late", 4, MSG_NOSIGNAL) == 4);
    return NULL;
}

static void a_read_without_limits_waits_on_blocking_and_nonblocking_descriptors(void) {
    static const int flags[] = {0, O_NONBLOCK};
    for (size_t row = 0; row < 2; row++) {
        struct pair pair = unix_pair();
        CHECK(fcntl(pair.near, F_SETFL, flags[row]) == 0);
        netlib_stream *stream = plain_on(pair.near);
        for (int i = 0; i < 2; i++) {
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, send_later, &pair.far) == 0);
            read_text(stream, "late");
            CHECK(pthread_join(thread, NULL) == 0);
        }
        netlib_stream_free(stream);
        close_pair(pair);
    }
}

static void empty_reads_and_writes_succeed_without_io(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = plain_on(-1);
    size_t n = 1;
    CHECK_OK(netlib_stream_read(stream, NULL, 0, &n, &err));
    CHECK_INT(0, (long long)n);
    n = 1;
    CHECK_OK(netlib_stream_write(stream, NULL, 0, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_OK(netlib_stream_writev(stream, (const netlib_slice[]){{NULL, 0}, {NULL, 0}}, 2, &n, &err));
    CHECK_INT(0, (long long)n);
    netlib_stream_free(stream);
}

/* The result that both callbacks of a stream return, and the number of their calls. */
struct result {
    int32_t answer;
    size_t count; /* the count that is stored; SIZE_MAX: none */
    size_t calls;
    netlib_stream *stream; /* the stream that the callback uses, if any */
};

static int32_t return_result(struct result *result, size_t *n) {
    result->calls++;
    if (result->stream != NULL) {
        netlib_error *err = NULL;
        netlib_stream *inner = NULL;
        int32_t dropped = 0;
        expect_read(NETLIB_BUSY, result->stream);
        expect_write(NETLIB_BUSY, result->stream);
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_handshake(result->stream, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown(result->stream, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown_both(result->stream, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_stream_is_dropped(result->stream, &dropped, NULL, &err));
        CHECK_STATUS(NETLIB_BUSY, netlib_tls_wrap_stream(client, result->stream, "localhost", &inner, &err));
        CHECK_OK(netlib_stream_set_read_timeout(result->stream, 1.0, &err));
        netlib_stream_free(result->stream);
        result->stream = NULL;
    }
    if (result->count != SIZE_MAX) *n = result->count;
    return result->answer;
}

static int32_t read_result(void *ctx, void *buf, size_t len, size_t *n) {
    memset(buf, 'x', len);
    return return_result(ctx, n);
}

static int32_t write_result(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)buf, (void)len;
    return return_result(ctx, n);
}

static netlib_stream *plain_with(struct result *result) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_stream_new_callbacks(read_result, write_result, result, NULL, &stream, &err));
    CHECK_INT(0, (long long)result->calls);
    return stream;
}

static void each_callback_result_is_mapped_to_a_stream_status(void) {
    static const struct {
        int32_t answer;
        size_t count;
        netlib_status of_read, of_write;
        bool is_final;
    } rows[] = {
        {NETLIB_OK, 1, NETLIB_OK, NETLIB_OK, false},
        {NETLIB_OK, 0, NETLIB_END_OF_STREAM, NETLIB_CALLBACK_FAILED, true},
        {NETLIB_OK, 2, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, true},
        {NETLIB_OK, SIZE_MAX, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, true},
        {NETLIB_OK, SIZE_MAX - 1, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, true},
        {NETLIB_WANT_READ, SIZE_MAX, NETLIB_WANT_READ, NETLIB_WANT_READ, false},
        {NETLIB_WANT_WRITE, 1, NETLIB_WANT_WRITE, NETLIB_WANT_WRITE, false},
        {NETLIB_TIMED_OUT, 1, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false},
        {NETLIB_CANCELLED, 1, NETLIB_CANCELLED, NETLIB_CANCELLED, false},
        {NETLIB_READ_TIMEOUT, 1, NETLIB_READ_TIMEOUT, NETLIB_READ_TIMEOUT, false},
        {NETLIB_TLS_TRUNCATED, 1, NETLIB_TLS_TRUNCATED, NETLIB_TLS_TRUNCATED, false},
        {NETLIB_PROTOCOL, 1, NETLIB_PROTOCOL, NETLIB_PROTOCOL, true},
        {NETLIB_TLS_HANDSHAKE_EOF, 1, NETLIB_TLS_HANDSHAKE_EOF, NETLIB_TLS_HANDSHAKE_EOF, true},
        {-1, 1, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false},
        {1, 1, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false},
        {INT32_MAX, 1, NETLIB_CALLBACK_FAILED, NETLIB_CALLBACK_FAILED, false},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int writes = 0; writes < 2; writes++) {
            netlib_error *err = NULL;
            struct result result = {.answer = rows[row].answer, .count = rows[row].count};
            netlib_stream *stream = plain_with(&result);
            char bytes[1];
            size_t n = 9;
            netlib_status expected = writes ? rows[row].of_write : rows[row].of_read;
            netlib_status status =
                writes ? netlib_stream_write(stream, "x", 1, &n, &err) : netlib_stream_read(stream, bytes, 1, &n, &err);
            CHECK_STATUS(expected, status);
            CHECK_INT(expected == NETLIB_OK, (long long)n);
            CHECK_INT(1, (long long)result.calls);
            /* After a final failure, the callback is not called again. */
            result.answer = NETLIB_OK;
            result.count = 1;
            status =
                writes ? netlib_stream_write(stream, "x", 1, &n, &err) : netlib_stream_read(stream, bytes, 1, &n, &err);
            CHECK_STATUS(rows[row].is_final ? expected : NETLIB_OK, status);
            CHECK_INT(rows[row].is_final ? 1 : 2, (long long)result.calls);
            netlib_stream_free(stream);
        }
    }
}

static void each_read_callback_result_is_mapped_to_a_result_of_is_dropped(void) {
    static const struct {
        int32_t answer;
        size_t count;
        netlib_status status;
        int32_t dropped;
        netlib_status why;
    } rows[] = {
        {NETLIB_OK, 1, NETLIB_OK, 1, NETLIB_OK},
        {NETLIB_OK, 0, NETLIB_OK, 1, NETLIB_END_OF_STREAM},
        {NETLIB_OK, 2, NETLIB_OK, 1, NETLIB_CALLBACK_FAILED},
        {NETLIB_WANT_READ, 0, NETLIB_OK, 0, NETLIB_WANT_READ},
        {NETLIB_WANT_WRITE, 0, NETLIB_OK, 0, NETLIB_WANT_READ},
        {NETLIB_PROTOCOL, 0, NETLIB_OK, 1, NETLIB_PROTOCOL},
        {NETLIB_CANCELLED, 0, NETLIB_CANCELLED, 0, NETLIB_OK},
        {-1, 0, NETLIB_CALLBACK_FAILED, 0, NETLIB_OK},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct result result = {.answer = rows[row].answer, .count = rows[row].count};
        netlib_stream *stream = plain_with(&result);
        int32_t dropped = -1;
        netlib_status why = -1;
        CHECK_STATUS(rows[row].status, netlib_stream_is_dropped(stream, &dropped, &why, &err));
        CHECK_INT(rows[row].dropped, dropped);
        CHECK_INT(rows[row].why, why);
        netlib_stream_free(stream);
    }
}

static void a_callback_may_free_its_stream_but_not_read_or_write(void) {
    for (int call = 0; call < 3; call++) {
        netlib_error *err = NULL;
        struct result result = {.answer = NETLIB_OK, .count = 1};
        netlib_stream *stream = plain_with(&result);
        result.stream = stream;
        char bytes[1];
        size_t n = 0;
        int32_t dropped = 0;
        if (call == 2) {
            CHECK_OK(netlib_stream_is_dropped(stream, &dropped, NULL, &err));
            CHECK_INT(1, dropped);
            continue;
        }
        CHECK_OK(call == 1 ? netlib_stream_write(stream, "x", 1, &n, &err)
                           : netlib_stream_read(stream, bytes, 1, &n, &err));
        CHECK_INT(1, (long long)n);
    }
}

static void count_free(void *ctx) { (*(int *)ctx)++; }

static void ctx_free_runs_once_when_the_stream_is_freed_or_refused(void) {
    netlib_error *err = NULL;
    int freed = 0;
    netlib_stream *stream = NULL;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                 netlib_stream_new_callbacks(NULL, wire_write, &freed, count_free, &stream, &err));
    CHECK_INT(1, freed);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_stream_new_callbacks(wire_read, NULL, &freed, count_free, &stream, &err));
    CHECK_INT(2, freed);
    CHECK_OK(netlib_stream_new_callbacks(wire_read, wire_write, &freed, count_free, &stream, &err));
    CHECK_INT(2, freed);
    netlib_stream *inner = NULL;
    CHECK_OK(netlib_tls_wrap_stream(client, stream, "localhost", &inner, &err));
    netlib_stream_free(stream);
    CHECK_INT(2, freed);
    netlib_stream_free(inner);
    CHECK_INT(3, freed);
}

static void a_failure_after_data_was_sent_or_received_has_retry_kind_read(void) {
    static const struct {
        const char *first; /* the call before the failing read */
        enum netlib_retry_kind expected;
    } rows[] = {
        {"nothing", NETLIB_RETRY_KIND_OTHER},
        {"empty write", NETLIB_RETRY_KIND_OTHER},
        {"write that waits", NETLIB_RETRY_KIND_READ},
        {"write", NETLIB_RETRY_KIND_READ},
        {"read", NETLIB_RETRY_KIND_READ},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct result result = {.answer = NETLIB_OK, .count = 1};
        netlib_stream *stream = plain_with(&result);
        char bytes[1];
        size_t n = 0;
        switch (row) {
        case 0: break;
        case 1: CHECK_OK(netlib_stream_write(stream, "", 0, &n, &err)); break;
        case 2:
            result.answer = NETLIB_WANT_WRITE;
            CHECK_STATUS(NETLIB_WANT_WRITE, netlib_stream_write(stream, "x", 1, &n, &err));
            break;
        case 3: CHECK_OK(netlib_stream_write(stream, "x", 1, &n, &err)); break;
        default: CHECK_OK(netlib_stream_read(stream, bytes, 1, &n, &err)); break;
        }
        /* A failure whose status has the retry kind OTHER. */
        result.answer = NETLIB_TLS_PROTOCOL;
        netlib_status status = netlib_stream_read(stream, bytes, 1, &n, &err);
        CHECK_INT(rows[row].expected, netlib_error_retry_kind(err));
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
        netlib_stream_free(stream);
    }
}

static void tls_functions_on_a_plain_stream_return_empty_values_or_unsupported(void) {
    netlib_error *err = NULL;
    struct pair pair = unix_pair();
    netlib_stream *stream = plain_on(pair.near);
    size_t n = 1;
    CHECK_OK(netlib_stream_handshake(stream, &err));
    CHECK_OK(netlib_stream_write_early_data(stream, "early", 5, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_INT(NETLIB_EARLY_DATA_NOT_SENT, netlib_stream_early_data_status(stream));
    CHECK_INT(0, (long long)netlib_stream_early_data_left(stream));
    CHECK_INT(0, (long long)netlib_stream_early_data_written(stream));
    CHECK_INT(0, (long long)netlib_stream_peer_certificate_count(stream));
    CHECK(netlib_stream_peer_certificate(stream, 0, &n) == NULL);
    CHECK_INT(0, (long long)n);
    CHECK(netlib_stream_alpn_protocol(stream, NULL) == NULL);
    CHECK(netlib_stream_server_name(stream, NULL) == NULL);
    CHECK_INT(NETLIB_TLS_VERSION_NONE, netlib_stream_tls_version(stream));
    CHECK(netlib_stream_cipher_suite(stream, NULL) == NULL);
    CHECK(netlib_stream_cipher_suite_openssl_name(stream, NULL) == NULL);
    CHECK_INT(0, netlib_stream_cipher_suite_bits(stream));
    CHECK(netlib_stream_key_exchange_group(stream, NULL) == NULL);
    CHECK_INT(0, netlib_stream_is_resumed(stream));
    CHECK_INT(NETLIB_ECH_NOT_OFFERED, netlib_stream_ech_status(stream));
    netlib_tls_session *session = (netlib_tls_session *)&pair;
    CHECK_OK(netlib_stream_take_session(stream, &session, &err));
    CHECK(session == NULL);
    netlib_status status = netlib_stream_set_session(stream, NULL, &err);
    CHECK_STR("this is a plain stream, which has no TLS session", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_UNSUPPORTED, status);
    CHECK(recv(pair.far, &n, 1, MSG_DONTWAIT) == -1);
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_stream_write_early_data(stream, "early", 5, &n, &err));
    netlib_stream_free(stream);
    close_pair(pair);
}

static void errors_of_a_plain_stream_call_the_other_side_the_peer(void) {
    netlib_error *err = NULL;
    struct pair pair = tcp_pair();
    netlib_stream *stream = plain_on(pair.near);
    char byte;
    size_t n = 0;
    CHECK_OK(netlib_stream_set_read_timeout(stream, 0.01, &err));
    netlib_status status = netlib_stream_read(stream, &byte, 1, &n, &err);
    CHECK_STR("nothing arrived from the peer for 0.01 s", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, status);
    reset_connection(pair.far);
    status = netlib_stream_read(stream, &byte, 1, &n, &err);
    CHECK_CONTAINS("cannot receive from the peer: ", netlib_error_message(err, NULL));
    CHECK_INT(ECONNRESET, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_PROTOCOL, status);
    netlib_stream_free(stream);
    /* A second stream on the same socket finds the connection closed. */
    stream = plain_on(pair.near);
    status = netlib_stream_shutdown(stream, &err);
    CHECK_CONTAINS("cannot shut down the connection to the peer: ", netlib_error_message(err, NULL));
    CHECK_INT(ENOTCONN, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_PROTOCOL, status);
    netlib_stream_free(stream);
    close(pair.near);
}

static void a_second_shutdown_returns_the_status_of_the_first(void) {
    static const struct {
        bool peer_ended; /* the stream has read the end of the peer's data */
        bool peer_reset;
        bool is_open; /* the descriptor of the stream is open */
        netlib_status shutdown, write;
    } rows[] = {
        {false, false, true, NETLIB_OK, NETLIB_CLOSED}, {true, false, true, NETLIB_OK, NETLIB_CLOSED},
        {true, true, true, NETLIB_OK, NETLIB_CLOSED},   {false, true, true, NETLIB_PROTOCOL, NETLIB_PROTOCOL},
        {false, false, false, NETLIB_IO, NETLIB_IO},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct pair pair = tcp_pair();
        netlib_stream *stream = plain_on(pair.near);
        if (rows[row].peer_ended) {
            CHECK(shutdown(pair.far, SHUT_WR) == 0);
            expect_read(NETLIB_END_OF_STREAM, stream);
        }
        if (rows[row].peer_reset) {
            struct pollfd reset = {.fd = pair.near}; /* poll(2) waits for POLLERR and POLLHUP */
            reset_connection(pair.far);
            CHECK_INT(1, poll(&reset, 1, -1));
        }
        if (!rows[row].is_open) close(pair.near);
        for (int call = 0; call < 3; call++) CHECK_STATUS(rows[row].shutdown, netlib_stream_shutdown(stream, &err));
        expect_write(rows[row].write, stream);
        netlib_stream_free(stream);
        if (rows[row].is_open) close(pair.near);
        if (!rows[row].peer_reset) close(pair.far);
    }
}

int main(void) {
    client = client_context();
    server = server_context("server");
    pipes_datagram_sockets_and_listening_sockets_are_refused();
    stream_calls_on_a_descriptor_that_is_not_open_return_netlib_io();
    a_stream_ignores_o_nonblock_and_leaves_it_unchanged();
    a_read_without_limits_waits_on_blocking_and_nonblocking_descriptors();
    empty_reads_and_writes_succeed_without_io();
    each_callback_result_is_mapped_to_a_stream_status();
    each_read_callback_result_is_mapped_to_a_result_of_is_dropped();
    a_callback_may_free_its_stream_but_not_read_or_write();
    ctx_free_runs_once_when_the_stream_is_freed_or_refused();
    a_failure_after_data_was_sent_or_received_has_retry_kind_read();
    tls_functions_on_a_plain_stream_return_empty_values_or_unsupported();
    errors_of_a_plain_stream_call_the_other_side_the_peer();
    a_second_shutdown_returns_the_status_of_the_first();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream plain");
}
