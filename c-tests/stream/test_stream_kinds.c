/* Tests that calls on a stream return the same results whether the stream is plain or TLS, on a descriptor or on
 * callbacks. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_kinds.h"

#include "forks.h"

struct sending {
    struct ends *ends;
    bool is_near;
    size_t total;
};

/* Writes the test data in pieces of growing sizes, with netlib_stream_write and netlib_stream_writev in turn. */
static void *send_data(void *argument) {
    const struct sending *sending = argument;
    netlib_stream *stream = sending->is_near ? sending->ends->near : sending->ends->far;
    netlib_error *err = NULL;
    unsigned char *bytes = malloc(sending->total);
    if (bytes == NULL) abort();
    for (size_t i = 0; i < sending->total; i++) bytes[i] = at_position(i);
    size_t done = 0;
    for (size_t call = 0; done < sending->total; call++) {
        size_t len = 1 + call * 97 % 20000, n = 0;
        if (len > sending->total - done) len = sending->total - done;
        netlib_status status;
        if (call % 2 == 0) {
            status = netlib_stream_write(stream, bytes + done, len, &n, &err);
        } else {
            netlib_slice slices[50];
            for (size_t i = 0; i < 50; i++)
                slices[i] = (netlib_slice){bytes + done + i * len / 50, (i + 1) * len / 50 - i * len / 50};
            status = netlib_stream_writev(stream, slices, 50, &n, &err);
        }
        CHECK_STATUS(NETLIB_OK, status);
        /* A callback may accept fewer bytes than the stream passes. */
        CHECK(n == len || (has_callbacks(sending->ends->kind) && n > 0));
        if (status != NETLIB_OK) break;
        done += n;
    }
    free(bytes);
    shut_down(sending->ends, sending->is_near);
    return NULL;
}

static void receive_data(netlib_stream *stream, size_t total) {
    netlib_error *err = NULL;
    unsigned char bytes[5000];
    size_t done = 0, n = 0;
    netlib_status status;
    bool is_intact = true;
    while ((status = netlib_stream_read(stream, bytes, sizeof bytes, &n, &err)) == NETLIB_OK) {
        for (size_t i = 0; i < n; i++) is_intact &= bytes[i] == at_position(done + i);
        done += n;
    }
    CHECK_STATUS(NETLIB_END_OF_STREAM, status);
    CHECK(is_intact);
    CHECK_INT((long long)total, (long long)done);
}

static void *receive_data_at_far(void *argument) {
    const struct sending *sending = argument;
    receive_data(sending->ends->far, sending->total);
    return NULL;
}

static void each_end_reads_the_bytes_that_the_other_end_writes(enum kind kind) {
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    struct sending near = {&ends, true, 700000}, far = {&ends, false, 700000};
    pthread_t threads[3];
    CHECK(pthread_create(&threads[0], NULL, send_data, &near) == 0);
    CHECK(pthread_create(&threads[1], NULL, send_data, &far) == 0);
    CHECK(pthread_create(&threads[2], NULL, receive_data_at_far, &far) == 0);
    receive_data(ends.near, near.total);
    for (size_t i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    free_ends(&ends);
}

static void calls_that_would_wait_return_want_read_and_want_write(enum kind kind) {
    const size_t total = under_valgrind() ? 300000 : 900000;
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    expect_read(NETLIB_WANT_READ, ends.near);
    unsigned char *sent = malloc(total), *received = malloc(total);
    if (sent == NULL || received == NULL) abort();
    for (size_t i = 0; i < total; i++) sent[i] = at_position(i);
    size_t written = 0, read = 0, n = 0, wants_read = 0, wants_write = 0;
    while (read < total) {
        netlib_status status = NETLIB_OK;
        while (written < total && status == NETLIB_OK) {
            status = netlib_stream_write(ends.near, sent + written, total - written, &n, &err);
            written += n;
        }
        wants_write += status == NETLIB_WANT_WRITE;
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_WRITE);
        do {
            status = netlib_stream_read(ends.far, received + read, total - read, &n, &err);
            read += n;
        } while (status == NETLIB_OK && read < total);
        wants_read += status == NETLIB_WANT_READ;
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_READ);
        if (status != NETLIB_OK && status != NETLIB_WANT_READ) break;
    }
    CHECK(memcmp(sent, received, total) == 0);
    CHECK(wants_read > 0 && wants_write > 0);
    free(sent);
    free(received);
    free_ends(&ends);
}

static void after_a_shutdown_reads_continue_and_writes_return_closed(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    write_text(ends.near, "last");
    shut_down(&ends, true);
    expect_write(NETLIB_CLOSED, ends.near);
    CHECK_OK(netlib_stream_shutdown(ends.near, &err));
    read_text(ends.far, "last");
    for (int i = 0; i < 2; i++) expect_read(NETLIB_END_OF_STREAM, ends.far);
    write_text(ends.far, "answer");
    read_text(ends.near, "answer");
    shut_down(&ends, false);
    for (int i = 0; i < 2; i++) expect_read(NETLIB_END_OF_STREAM, ends.near);
    CHECK_OK(netlib_stream_shutdown_both(ends.near, &err));
    free_ends(&ends);
}

static void shutdown_both_discards_data_up_to_the_peers_end(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    write_text(ends.far, "discarded");
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_shutdown_both(ends.near, &err));
    shut_down(&ends, false);
    CHECK_OK(netlib_stream_shutdown_both(ends.near, &err));
    expect_read(NETLIB_END_OF_STREAM, ends.near);
    free_ends(&ends);
}

static void shutdown_both_refuses_more_than_one_mebibyte_of_data(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    static const unsigned char zeros[10000];
    netlib_status status = NETLIB_WANT_READ;
    size_t written = 0, n = 0;
    while (status == NETLIB_WANT_READ && written < 2 * 1024 * 1024) {
        netlib_status sent = NETLIB_OK;
        while (sent == NETLIB_OK && written < 2 * 1024 * 1024) {
            sent = netlib_stream_write(ends.far, zeros, sizeof zeros, &n, &err);
            written += n;
        }
        status = netlib_stream_shutdown_both(ends.near, &err);
    }
    CHECK_STATUS(NETLIB_TOO_MUCH_DATA, status);
    CHECK(written > 1024 * 1024);
    free_ends(&ends);
}

static void is_dropped_reports_what_the_next_read_returns(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    expect_dropped(0, NETLIB_WANT_READ, ends.near);
    write_text(ends.far, "data");
    for (int i = 0; i < 2; i++) expect_dropped(1, NETLIB_OK, ends.near);
    /* To find out whether data has arrived, a plain stream on a descriptor reads no byte, a plain stream on callbacks
     * reads one byte, and a TLS stream reads a record. */
    CHECK_INT(kind == PLAIN_FD ? 0 : kind == PLAIN_CALLBACKS ? 1 : 4, (long long)netlib_stream_pending(ends.near));
    read_text(ends.near, "data");
    CHECK_INT(0, (long long)netlib_stream_pending(ends.near));
    expect_dropped(0, NETLIB_WANT_READ, ends.near);
    shut_down(&ends, true);
    expect_dropped(1, NETLIB_CLOSED, ends.near);
    expect_dropped(1, NETLIB_END_OF_STREAM, ends.far);
    expect_read(NETLIB_END_OF_STREAM, ends.far);
    CHECK_OK(netlib_stream_shutdown(ends.far, &err));
    free_ends(&ends);
}

static void a_stream_continues_after_a_timeout_or_a_cancellation(enum kind kind) {
    if (has_callbacks(kind)) return;
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    netlib_limit *cancelled = NULL, *ended = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &cancelled, &err));
    netlib_limit_cancel(cancelled);
    CHECK_OK(netlib_limit_new(0.0, NULL, &ended, &err));

    CHECK_OK(netlib_stream_set_read_timeout(ends.near, 0.02, &err));
    expect_read(NETLIB_READ_TIMEOUT, ends.near);
    CHECK_OK(netlib_stream_set_minimum_throughput(ends.near, 1, 0.01, &err));
    expect_read(NETLIB_TOO_SLOW, ends.near);
    CHECK_OK(netlib_stream_set_minimum_throughput(ends.near, 0, 0, &err));
    netlib_stream_set_limit(ends.near, cancelled);
    expect_read(NETLIB_CANCELLED, ends.near);
    netlib_stream_set_limit(ends.near, ended);
    expect_read(NETLIB_DEADLINE_EXCEEDED, ends.near);
    netlib_stream_set_limit(ends.near, NULL);
    write_text(ends.far, "late");
    read_text(ends.near, "late");

    /* The first write sends a part of its data. The repeated write sends the rest, and returns the length of the whole
     * data. */
    enum { TOTAL = 700000 };
    unsigned char *bytes = malloc(TOTAL);
    if (bytes == NULL) abort();
    for (size_t i = 0; i < TOTAL; i++) bytes[i] = at_position(i);
    CHECK_OK(netlib_stream_set_write_timeout(ends.near, 0.02, &err));
    size_t n = 1;
    CHECK_STATUS(NETLIB_WRITE_TIMEOUT, netlib_stream_write(ends.near, bytes, TOTAL, &n, &err));
    CHECK_INT(0, (long long)n);
    netlib_stream_set_limit(ends.near, cancelled);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_write(ends.near, bytes, TOTAL, &n, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_write(ends.near, bytes, 10, &n, &err));
    netlib_stream_set_limit(ends.near, NULL);
    expect_dropped(1, NETLIB_WANT_WRITE, ends.near);
    netlib_stream *inner = NULL;
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, &err));
    CHECK_OK(netlib_stream_set_write_timeout(ends.near, NETLIB_TIMEOUT_NONE, &err));
    pthread_t thread;
    struct sending far = {&ends, false, TOTAL};
    CHECK(pthread_create(&thread, NULL, receive_data_at_far, &far) == 0);
    CHECK_OK(netlib_stream_write(ends.near, bytes, TOTAL, &n, &err));
    CHECK_INT(TOTAL, (long long)n);
    shut_down(&ends, true);
    CHECK(pthread_join(thread, NULL) == 0);
    free(bytes);
    netlib_limit_free(cancelled);
    netlib_limit_free(ended);
    free_ends(&ends);
}

static void after_a_cancellation_non_blocking_reads_fail_and_writes_succeed(enum kind kind) {
    if (has_callbacks(kind)) return;
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_stream_set_limit(ends.near, limit);
    CHECK_OK(netlib_stream_set_blocking(ends.near, 0, &err));
    expect_read(NETLIB_WANT_READ, ends.near);
    netlib_limit_cancel(limit);
    expect_read(NETLIB_CANCELLED, ends.near);
    write_text(ends.near, "after the limit");
    read_text(ends.far, "after the limit");
    netlib_limit_free(limit);
    free_ends(&ends);
}

static void a_reset_connection_fails_with_protocol_and_stays_failed(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, tcp_pair());
    write_text(ends.near, "request");
    read_text(ends.far, "request");
    reset_connection(ends.pair.far);
    ends.pair.far = -1;
    char byte;
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        netlib_status status = netlib_stream_read(ends.near, &byte, 1, &n, &err);
        CHECK_INT(NETLIB_RETRY_KIND_READ, netlib_error_retry_kind(err));
        CHECK_STATUS(NETLIB_PROTOCOL, status);
    }
    expect_write(NETLIB_PROTOCOL, ends.near);
    expect_dropped(1, NETLIB_PROTOCOL, ends.near);
    CHECK_OK(netlib_stream_handshake(ends.near, &err));
    CHECK_STATUS(NETLIB_PROTOCOL, netlib_stream_shutdown(ends.near, &err));
    free_ends(&ends);
}

static void calls_in_a_forked_child_return_closed(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    struct child child = begin_child();
    if (child.process == 0) {
        char byte;
        size_t n = 0;
        int32_t dropped = 0;
        netlib_stream *inner = NULL;
        child.results[0] = netlib_stream_read(ends.near, &byte, 1, &n, NULL);
        child.results[1] = netlib_stream_write(ends.near, "x", 1, &n, NULL);
        child.results[2] = netlib_stream_handshake(ends.near, NULL);
        child.results[3] = netlib_stream_shutdown(ends.near, NULL);
        child.results[4] = netlib_stream_shutdown_both(ends.near, NULL);
        child.results[5] = netlib_stream_is_dropped(ends.near, &dropped, NULL, NULL);
        child.results[6] = netlib_stream_set_blocking(ends.near, 0, NULL);
        child.results[7] = netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, NULL);
        netlib_stream_free(ends.near);
        end_child();
    }
    join_child(&child);
    for (int i = 0; i < RESULTS; i++) CHECK_INT(NETLIB_CLOSED, child.results[i]);
    drop_child(&child);
    write_text(ends.near, "after");
    read_text(ends.far, "after");
    CHECK_OK(netlib_stream_shutdown(ends.near, &err));
    free_ends(&ends);
}

struct reading {
    netlib_stream *stream;
    atomic_bool has_begun;
};

static void *read_one_byte(void *argument) {
    struct reading *reading = argument;
    atomic_store(&reading->has_begun, true);
    char byte = 0;
    size_t n = 0;
    netlib_status status = NETLIB_BUSY;
    /* The read fails with NETLIB_BUSY while the inner stream of the main thread exists. */
    while (status == NETLIB_BUSY) status = netlib_stream_read(reading->stream, &byte, 1, &n, NULL);
    CHECK_INT(NETLIB_OK, status);
    CHECK_INT('x', byte);
    return NULL;
}

static void a_second_concurrent_read_returns_busy_and_a_write_succeeds(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    struct reading reading = {ends.near, false};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_one_byte, &reading) == 0);
    while (!atomic_load(&reading.has_begun)) usleep(100);
    /* An inner stream can be made until the other thread has begun to read. Making one calls no callback, which might
     * block. */
    netlib_stream *inner = NULL;
    while (netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, NULL) == NETLIB_OK) {
        netlib_stream_free(inner);
        usleep(100);
    }
    expect_read(NETLIB_BUSY, ends.near);
    int32_t dropped = 0;
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_is_dropped(ends.near, &dropped, NULL, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_shutdown_both(ends.near, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, &err));
    write_text(ends.near, "written");
    read_text(ends.far, "written");
    write_text(ends.far, "x");
    CHECK(pthread_join(thread, NULL) == 0);
    free_ends(&ends);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    for (int row = 0; row < KINDS; row++) {
        enum kind kind = (enum kind)row;
        unsigned long failed_before = checks_failed;
        each_end_reads_the_bytes_that_the_other_end_writes(kind);
        calls_that_would_wait_return_want_read_and_want_write(kind);
        after_a_shutdown_reads_continue_and_writes_return_closed(kind);
        shutdown_both_discards_data_up_to_the_peers_end(kind);
        shutdown_both_refuses_more_than_one_mebibyte_of_data(kind);
        is_dropped_reports_what_the_next_read_returns(kind);
        a_stream_continues_after_a_timeout_or_a_cancellation(kind);
        after_a_cancellation_non_blocking_reads_fail_and_writes_succeed(kind);
        a_reset_connection_fails_with_protocol_and_stays_failed(kind);
        calls_in_a_forked_child_return_closed(kind);
        a_second_concurrent_read_returns_busy_and_a_write_succeeds(kind);
        if (checks_failed != failed_before) fprintf(stderr, "the checks above failed for %s\n", kind_names[kind]);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream kinds");
}
