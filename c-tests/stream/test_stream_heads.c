/* Tests response heads that are read from a stream, and the unread bytes after them, for each kind of stream. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_reads.h"

#include "forks.h"

static void a_reset_inside_a_head_has_the_number_of_received_bytes_as_offset(void) {
    static const char *const starts[] = {"", "HTTP/1.1 100 x\r\n\r\n", "HTTP/1.1 200 OK\r\n"};
    for (size_t row = 0; row < 3; row++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, PLAIN_FD, tcp_pair());
        write_bytes(ends.far, starts[row], strlen(starts[row]));
        netlib_response *response = NULL;
        set_waiting(&ends, false);
        if (row > 0) {
            CHECK_OK(netlib_wait_for_read(ends.pair.near, 5.0, NULL, &err));
            CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read_response(ends.near, "GET", &response, &err));
        }
        reset_connection(ends.pair.far);
        ends.pair.far = -1;
        set_waiting(&ends, true);
        netlib_status status = netlib_stream_read_response(ends.near, "GET", &response, &err);
        CHECK_INT(row == 0 ? -1 : (long long)strlen(starts[row]), netlib_error_offset(err));
        CHECK_STATUS(NETLIB_PROTOCOL, status);
        free_ends(&ends);
    }
}

/* A head of exactly `len` bytes. */
static char *head_of(size_t len) {
    static const char start[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ", end[] = "\r\n\r\n";
    char *head = malloc(len);
    if (head == NULL) abort();
    memset(head, 'x', len);
    memcpy(head, start, sizeof start - 1);
    memcpy(head + len - (sizeof end - 1), end, sizeof end - 1);
    return head;
}

static void a_head_of_262144_bytes_is_read_and_a_longer_head_is_refused(enum kind kind) {
    for (size_t extra = 0; extra < 2; extra++) {
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        size_t len = NETLIB_RESPONSE_HEAD_MAX + extra;
        struct writing writing = {ends.far, head_of(len), len, 3000};
        pthread_t thread = start_writing(&writing);
        if (extra == 0) {
            netlib_response_free(read_head(ends.near, "GET", 200));
            expect_pending(0, ends.near);
        } else {
            expect_no_head(ends.near, "the head has more than 262144 bytes", 262144, NETLIB_RESPONSE_HEAD_MAX);
            char bytes[1000];
            size_t n = 0, read = 0;
            while (read < len && netlib_stream_read(ends.near, bytes, sizeof bytes, &n, NULL) == NETLIB_OK) read += n;
            CHECK_INT((long long)len, (long long)read);
        }
        CHECK(pthread_join(thread, NULL) == 0);
        free(writing.bytes);
        free_ends(&ends);
    }
}

static void sixteen_interim_responses_are_skipped_and_seventeen_are_refused(enum kind kind) {
    for (size_t count = 16; count <= 17; count++) {
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        for (size_t i = 0; i < count; i++) write_text(ends.far, "HTTP/1.1 103 x\r\nA: b\r\n\r\n");
        write_text(ends.far, next_head);
        if (count == 16) {
            netlib_response_free(read_head(ends.near, "GET", 404));
        } else {
            expect_no_head(ends.near, "the peer sent more than 16 interim responses", 16 * 24, SIZE_MAX);
        }
        free_ends(&ends);
    }
}

static void a_head_that_arrives_byte_by_byte_is_parsed_in_linear_time(enum kind kind) {
    struct ends ends;
    if (kind != PLAIN_CALLBACKS && kind != PLAIN_FD) return;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    size_t len = under_valgrind() ? 1000 : 150000;
    char *head = head_of(len);
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    for (size_t at = 0; at < len; at++) {
        CHECK_INT(NETLIB_WANT_READ, netlib_stream_read_response(ends.near, "GET", &response, NULL));
        size_t n = 0;
        CHECK_INT(NETLIB_OK, netlib_stream_write(ends.far, head + at, 1, &n, NULL));
    }
    CHECK_OK(netlib_stream_read_response(ends.near, "GET", &response, &err));
    netlib_response_free(response);
    free(head);
    free_ends(&ends);
}

static void bytes_that_are_not_a_response_stay_unread(enum kind kind) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    write_text(ends.far, "SSH-2.0-x\r\n");
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_read_response(ends.near, "G T", &response, &err));
    expect_no_head(ends.near, "the peer is an SSH server", 0, 11);
    expect_dropped(1, NETLIB_OK, ends.near);
    read_text(ends.near, "SSH-2.0-x\r\n");
    write_text(ends.far, "HTTP/1.1 200 OK\r\n");
    expect_pending(0, ends.near);
    set_waiting(&ends, false);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read_response(ends.near, "GET", &response, &err));
    expect_pending(17, ends.near);
    read_text(ends.near, "HTTP/1.1 200");
    /* A read has taken the front of an incomplete head: the rest is not a response. */
    expect_no_head(ends.near, "the peer does not speak HTTP", 0, 5);
    free_ends(&ends);
}

static void bytes_after_a_101_response_are_read_first_without_waiting(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    write_text(ends.far, "HTTP/1.1 101 x\r\n\r\nabcdef");
    netlib_response_free(read_head(ends.near, "GET", 101));
    expect_pending(6, ends.near);
    expect_dropped(1, NETLIB_OK, ends.near);
    expect_pending(6, ends.near);
    netlib_limit *cancelled = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &cancelled, &err));
    netlib_limit_cancel(cancelled);
    netlib_stream_set_limit(ends.near, cancelled);
    read_text(ends.near, "ab");
    netlib_stream_set_limit(ends.near, NULL);
    netlib_limit_free(cancelled);
    netlib_stream *inner = NULL;
    netlib_status status = netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, &err);
    CHECK_STR("the outer stream has 4 unread bytes, which the peer sent before the TLS handshake",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
    struct child child = begin_child();
    if (child.process == 0) {
        char byte;
        size_t n = 0;
        netlib_response *response = NULL;
        netlib_body_decoder *decoder = NULL;
        CHECK(netlib_response_parse("GET", "HTTP/1.0 200 x\r\n\r\n", NETLIB_NTS, NULL, &response, &n, NULL) ==
              NETLIB_OK);
        CHECK(netlib_body_decoder_new(response, &decoder, NULL) == NETLIB_OK);
        child.results[0] = netlib_stream_read(ends.near, &byte, 1, &n, NULL);
        child.results[1] = netlib_stream_read_response(ends.near, "GET", &response, NULL);
        child.results[2] = netlib_stream_read_body(ends.near, decoder, &byte, 1, &n, NULL);
        end_child();
    }
    join_child(&child);
    for (int i = 0; i < 3; i++) CHECK_INT(NETLIB_CLOSED, child.results[i]);
    drop_child(&child);
    read_text(ends.near, "cdef");
    expect_pending(0, ends.near);
    CHECK_OK(netlib_tls_wrap_stream(client, ends.near, "localhost", &inner, &err));
    netlib_stream_free(inner);
    free_ends(&ends);
}

/* docs/guide/event-loop.md warns that no further event follows. */
static void a_response_that_arrives_at_once_is_read_after_one_event(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    write_text(ends.far, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    write_text(ends.far, "hello");
    write_text(ends.far, "world");
    CHECK_OK(netlib_wait_for_read(ends.pair.near, LONG, NULL, &err));
    netlib_response *response = read_head(ends.near, "GET", 200);
    netlib_body_decoder *decoder = decoder_for(response);
    char body[16] = "";
    size_t len = 0, n = 0;
    netlib_status status = NETLIB_OK;
    while (status == NETLIB_OK) {
        CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends.pair.near, 0, NULL, &err));
        status = netlib_stream_read_body(ends.near, decoder, body + len, 4, &n, &err);
        len += n;
        CHECK(len <= 10);
    }
    CHECK_STATUS(NETLIB_END_OF_STREAM, status);
    CHECK_STR("helloworld", body);
    netlib_body_decoder_free(decoder), netlib_response_free(response);
    free_ends(&ends);
}

static void a_shutdown_of_both_directions_discards_unread_bytes(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    write_text(ends.far, "HTTP/1.1 101 x\r\n\r\nabcdef");
    netlib_response_free(read_head(ends.near, "GET", 101));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_shutdown_both(ends.near, &err));
    expect_pending(0, ends.near);
    shut_down(&ends, false);
    CHECK_OK(netlib_stream_shutdown_both(ends.near, &err));
    expect_read(NETLIB_END_OF_STREAM, ends.near);
    free_ends(&ends);
}

/* A thread that waits for a response. */
static void *await_response(void *stream) {
    netlib_response_free(read_head(stream, "GET", 404));
    return NULL;
}

static void a_second_reader_gets_busy_while_a_head_is_read(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    write_text(ends.far, "HTTP/1.1 404 next\r\nContent");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, await_response, ends.near) == 0);
    /* A read of 0 bytes succeeds until the other thread has begun to read. */
    char byte;
    size_t n = 0;
    while (netlib_stream_read(ends.near, &byte, 0, &n, NULL) == NETLIB_OK) usleep(100);
    expect_read(NETLIB_BUSY, ends.near);
    netlib_response *response = NULL;
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_read_response(ends.near, "GET", &response, &err));
    write_text(ends.near, "written");
    read_text(ends.far, "written");
    write_text(ends.far, "-Length: 0\r\n\r\n");
    CHECK(pthread_join(thread, NULL) == 0);
    free_ends(&ends);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    for (int row = 0; row < KINDS; row++) {
        enum kind kind = (enum kind)row;
        unsigned long failed_before = checks_failed;
        a_head_of_262144_bytes_is_read_and_a_longer_head_is_refused(kind);
        sixteen_interim_responses_are_skipped_and_seventeen_are_refused(kind);
        a_head_that_arrives_byte_by_byte_is_parsed_in_linear_time(kind);
        bytes_that_are_not_a_response_stay_unread(kind);
        bytes_after_a_101_response_are_read_first_without_waiting(kind);
        a_response_that_arrives_at_once_is_read_after_one_event(kind);
        a_shutdown_of_both_directions_discards_unread_bytes(kind);
        a_second_reader_gets_busy_while_a_head_is_read(kind);
        if (checks_failed != failed_before) fprintf(stderr, "the checks above failed for %s\n", kind_names[kind]);
    }
    a_reset_inside_a_head_has_the_number_of_received_bytes_as_offset();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream heads");
}
