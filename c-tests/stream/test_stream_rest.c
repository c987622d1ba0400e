/* Tests functions that read or discard the rest of a response's body, and interim responses, for each kind of stream. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_reads.h"

#define LENGTH(text) "HTTP/1.1 200 OK\r\nContent-Length: " text "\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define UNTIL_CLOSE "HTTP/1.0 200 OK\r\n\r\n"

/* A response to GET whose body fits if the maximum is at least `size`. */
struct message {
    int32_t http_status;
    const char *head, *wire_body, *body;
    size_t size;
};

static const struct message messages[] = {
    {200, LENGTH("11"), "hello world", "hello world", 11},
    {200, LENGTH("0"), "", "", 0},
    {204, "HTTP/1.1 204 none\r\n\r\n", "", "", 0},
    {200, CHUNKED, "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n", "hello world", 11},
    {200, CHUNKED, "0\r\n\r\n", "", 0},
    {200, CHUNKED, "3\r\nabc\r\n0\r\nSum: 1\r\n\r\n", "abc", 3},
};
enum { MESSAGES = sizeof messages / sizeof messages[0] };

enum { WHOLE, DISCARDED, WAYS };

/* Reads or discards the rest of the body. */
static netlib_status take_rest(int way, netlib_stream *stream, netlib_body_decoder *decoder, size_t max,
                               const struct message *message, netlib_error **err) {
    if (way == DISCARDED) return netlib_stream_discard_body(stream, decoder, max, NETLIB_TIMEOUT_NONE, err);
    netlib_bytes *body = NULL;
    netlib_status status = netlib_stream_read_whole_body(stream, decoder, max, &body, err);
    CHECK((status == NETLIB_OK) == (body != NULL));
    if (status == NETLIB_OK && message != NULL) {
        size_t len = 0;
        const char *data = netlib_bytes_data(body, &len);
        CHECK_INT((long long)message->size, (long long)len);
        CHECK(memcmp(data, message->body, len + 1) == 0);
    }
    netlib_bytes_free(body);
    return status;
}

static size_t step_of(enum kind kind) { return under_valgrind() ? 17 : is_plain(kind) ? 1 : 5; }

static void the_rest_is_taken_for_every_split_and_the_next_response_follows(enum kind kind) {
    netlib_error *err = NULL;
    for (size_t row = 0; row < MESSAGES * WAYS; row++) {
        const struct message *message = &messages[row / WAYS];
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        size_t len = strlen(message->wire_body);
        for (size_t split = 0; split <= len; split += step_of(kind)) {
            set_waiting(&ends, false);
            write_bytes(ends.far, message->head, strlen(message->head));
            netlib_response *response = read_head(ends.near, "GET", message->http_status);
            netlib_body_decoder *decoder = decoder_for(response);
            write_bytes(ends.far, message->wire_body, split);
            netlib_status status = take_rest(row % WAYS, ends.near, decoder, message->size, message, &err);
            if (len > split) {
                CHECK_STATUS(NETLIB_WANT_READ, status);
                write_bytes(ends.far, message->wire_body + split, len - split);
                status = take_rest(row % WAYS, ends.near, decoder, message->size, message, &err);
            }
            CHECK_STATUS(NETLIB_OK, status);
            /* Nothing is left for another call. */
            CHECK_OK(take_rest(row % WAYS, ends.near, decoder, 0, &(struct message){200, "", "", "", 0}, &err));
            CHECK_INT((long long)message->size, (long long)netlib_body_decoder_bytes_decoded(decoder));
            CHECK_INT(1, netlib_response_keeps_alive(response, decoder));
            netlib_body_decoder_free(decoder);
            netlib_response_free(response);
            write_text(ends.far, next_head);
            netlib_response_free(read_head(ends.near, "GET", 404));
            expect_dropped(0, NETLIB_WANT_READ, ends.near);
        }
        free_ends(&ends);
    }
}

static void a_body_above_the_maximum_is_refused(enum kind kind) {
    static const struct {
        const char *head, *wire_body;
        size_t max;
        netlib_status status;
        int64_t decoded; /* the bytes that netlib_stream_read_body returns before the failure */
        const char *message;
    } rows[] = {
        /* A known length is refused before a byte of the body has arrived. */
        {LENGTH("9223372036854775807"), "", SIZE_MAX / 4, NETLIB_TOO_MUCH_DATA, 0,
         "the body has 9223372036854775807 or more bytes; the maximum is "},
        {LENGTH("4"), "", 3, NETLIB_TOO_MUCH_DATA, 0, "the body has 4 or more bytes; the maximum is 3"},
        {LENGTH("4"), "abcd", 4, NETLIB_OK, 4, NULL},
        {CHUNKED, "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", 4, NETLIB_OK, 4, NULL},
        {CHUNKED, "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", 3, NETLIB_TOO_MUCH_DATA, 2,
         "the body has 4 or more bytes; the maximum is 3"},
        {CHUNKED, "1\r\na", 0, NETLIB_TOO_MUCH_DATA, 0, "the body has 1 or more bytes; the maximum is 0"},
        {UNTIL_CLOSE, "abcd", 3, NETLIB_TOO_MUCH_DATA, 0, "the body has 4 or more bytes; the maximum is 3"},
    };
    enum { SET = WAYS };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int way = 0; way <= SET; way++) {
            netlib_error *err = NULL;
            struct ends ends;
            connect_ends(&ends, kind, unix_pair());
            write_text(ends.far, rows[row].head);
            netlib_response *response = read_head(ends.near, "GET", 200);
            netlib_body_decoder *decoder = decoder_for(response);
            write_text(ends.far, rows[row].wire_body);
            netlib_status status;
            if (way == SET) {
                size_t n = 0;
                char buffer[20];
                CHECK_OK(netlib_body_decoder_set_max_size(decoder, (int64_t)rows[row].max, &err));
                do status = netlib_stream_read_body(ends.near, decoder, buffer, sizeof buffer, &n, &err);
                while (status == NETLIB_OK);
                if (status == NETLIB_END_OF_STREAM) status = NETLIB_OK;
                CHECK_INT(rows[row].decoded, netlib_body_decoder_bytes_decoded(decoder));
            } else {
                status = take_rest(way, ends.near, decoder, rows[row].max, NULL, &err);
            }
            if (rows[row].message != NULL) CHECK_CONTAINS(rows[row].message, netlib_error_message(err, NULL));
            CHECK_STATUS(rows[row].status, status);
            CHECK_INT(status == NETLIB_OK, netlib_response_keeps_alive(response, decoder));
            netlib_body_decoder_free(decoder);
            netlib_response_free(response);
            free_ends(&ends);
        }
    }
}

static void the_rest_of_a_body_begins_after_the_bytes_that_were_read(enum kind kind) {
    for (int way = 0; way < WAYS; way++) {
        const struct message rest = {200, "", "", "lo world", 8};
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        write_text(ends.far, LENGTH("11") "hello world");
        netlib_response *response = read_head(ends.near, "GET", 200);
        netlib_body_decoder *decoder = decoder_for(response);
        char start[3];
        size_t n = 0;
        CHECK_OK(netlib_stream_read_body(ends.near, decoder, start, 3, &n, &err));
        CHECK_INT(3, (long long)n);
        CHECK_OK(take_rest(way, ends.near, decoder, 8, &rest, &err));
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        free_ends(&ends);
    }
}

static void bytes_between_two_calls_for_the_whole_body_are_an_error(enum kind kind) {
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    write_text(ends.far, LENGTH("3") "a");
    netlib_response *response = read_head(ends.near, "GET", 200);
    netlib_body_decoder *decoder = decoder_for(response);
    /* The time of a call that does not wait has no effect. */
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_discard_body(ends.near, decoder, 3, 0.0, &err));
    write_text(ends.far, "b");
    CHECK_STATUS(NETLIB_WANT_READ, take_rest(WHOLE, ends.near, decoder, 3, NULL, &err));
    write_text(ends.far, "c");
    char byte;
    size_t n = 0;
    CHECK_OK(netlib_stream_read_body(ends.near, decoder, &byte, 1, &n, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, take_rest(WHOLE, ends.near, decoder, 3, NULL, &err));
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
    free_ends(&ends);
}

/* The peer sends nothing: without the end of the wait, the test would not end. */
static void the_wait_for_the_rest_ends_in_time_and_can_continue(enum kind kind) {
    if (has_callbacks(kind)) return;
    const struct message message = {200, "", "", "abc", 3};
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        write_text(ends.far, LENGTH("3") "a");
        netlib_response *response = read_head(ends.near, "GET", 200);
        netlib_body_decoder *decoder = decoder_for(response);
        if (way == DISCARDED) {
            CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_stream_discard_body(ends.near, decoder, 3, 0.01, &err));
        } else {
            CHECK_OK(netlib_stream_set_read_timeout(ends.near, 0.01, &err));
            CHECK_STATUS(NETLIB_READ_TIMEOUT, take_rest(WHOLE, ends.near, decoder, 3, NULL, &err));
        }
        write_text(ends.far, "bc");
        CHECK_OK(take_rest(way, ends.near, decoder, 3, &message, &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_discard_body(ends.near, decoder, 3, -1.0, &err));
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        free_ends(&ends);
    }
}

static void a_long_body_arrives_whole(enum kind kind) {
    const size_t size = under_valgrind() ? 30000 : 3000000;
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        char *wire = malloc(size + 200);
        if (wire == NULL) abort();
        size_t len = (size_t)sprintf(wire, is_chunked ? CHUNKED "%zX\r\n" : LENGTH("%zu"), size);
        const size_t start = len;
        for (size_t i = 0; i < size; i++) wire[len++] = (char)at_position(i);
        if (is_chunked) len += (size_t)sprintf(wire + len, "\r\n0\r\n\r\n");
        struct writing writing = {ends.far, wire, len, 50000};
        pthread_t thread = start_writing(&writing);
        netlib_response *response = read_head(ends.near, "GET", 200);
        netlib_body_decoder *decoder = decoder_for(response);
        netlib_bytes *body = NULL;
        size_t read = 0;
        CHECK_OK(netlib_stream_read_whole_body(ends.near, decoder, size, &body, &err));
        const char *data = netlib_bytes_data(body, &read);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_INT((long long)size, (long long)read);
        CHECK(read == size && memcmp(data, wire + start, size) == 0);
        free(wire);
        netlib_bytes_free(body);
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        free_ends(&ends);
    }
}

static void interim_responses_are_returned_one_by_one(enum kind kind) {
    static const char wire[] = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" LENGTH("1") "a";
    static const int32_t statuses[] = {103, 100, 200};
    const size_t len = sizeof wire - 2; /* the heads, without the body */
    for (size_t split = 0; split <= len; split += step_of(kind)) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        set_waiting(&ends, false);
        write_bytes(ends.far, wire, split);
        bool has_all = split == len;
        for (size_t i = 0; i < 3; i++) {
            netlib_response *response = NULL;
            netlib_status status = netlib_stream_read_next_response(ends.near, "GET", &response, &err);
            if (status == NETLIB_WANT_READ) {
                CHECK(!has_all);
                /* A call for the final response sees the same bytes, and takes none of them. */
                CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read_response(ends.near, "GET", &response, &err));
                write_bytes(ends.far, wire + split, len + 1 - split);
                has_all = true;
                status = netlib_stream_read_next_response(ends.near, "GET", &response, &err);
            }
            CHECK_STATUS(NETLIB_OK, status);
            CHECK_INT(statuses[i], netlib_response_status(response));
            netlib_response_free(response);
        }
        free_ends(&ends);
    }
}

static void an_interim_response_is_returned_after_a_call_that_skipped_it(enum kind kind) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    set_waiting(&ends, false);
    write_text(ends.far, "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 2");
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read_response(ends.near, "GET", &response, &err));
    CHECK_OK(netlib_stream_read_next_response(ends.near, "GET", &response, &err));
    CHECK_INT(103, netlib_response_status(response));
    netlib_response_free(response);
    free_ends(&ends);
}

static void a_negative_maximum_is_refused(void) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t len = 0;
    CHECK_OK(netlib_response_parse("GET", UNTIL_CLOSE, NETLIB_NTS, NULL, &response, &len, &err));
    netlib_body_decoder *decoder = decoder_for(response);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_body_decoder_set_max_size(decoder, -1, &err));
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    for (int row = 0; row < KINDS; row++) {
        enum kind kind = (enum kind)row;
        unsigned long failed_before = checks_failed;
        the_rest_is_taken_for_every_split_and_the_next_response_follows(kind);
        a_body_above_the_maximum_is_refused(kind);
        the_rest_of_a_body_begins_after_the_bytes_that_were_read(kind);
        bytes_between_two_calls_for_the_whole_body_are_an_error(kind);
        the_wait_for_the_rest_ends_in_time_and_can_continue(kind);
        a_long_body_arrives_whole(kind);
        interim_responses_are_returned_one_by_one(kind);
        an_interim_response_is_returned_after_a_call_that_skipped_it(kind);
        if (checks_failed != failed_before) fprintf(stderr, "the checks above failed for %s\n", kind_names[kind]);
    }
    a_negative_maximum_is_refused();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("rest of a body");
}
