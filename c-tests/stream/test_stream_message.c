/* Tests whole responses that are read from a stream, and their bodies, for each kind of stream. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_reads.h"

/* A response that is read in one test, and the bytes that follow it. */
struct message {
    const char *method, *head, *wire_body, *body;
    bool until_close;
};

static const struct message messages[] = {
    {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", "hello world", "hello world", false},
    {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", "", false},
    {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "", "", false},
    {"GET", "HTTP/1.1 204 none\nX: y\n\n", "", "", false},
    {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
     "5\r\nhello\r\n1;a=\"b\"\r\n \r\n5\r\nworld\r\n0\r\n\r\n", "hello world", false},
    {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n0\r\nSum: 1\r\nX: y\r\n\r\n", "abc",
     false},
    {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n", "", false},
    {"GET",
     "\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
     "abc", "abc", false},
    {"GET", "HTTP/1.0 200 OK\r\n\r\n", "until the end", "until the end", true},
};
enum { MESSAGES = sizeof messages / sizeof messages[0] };

/* Reads the body with a buffer of `size` bytes, until it is complete or the call would wait. Appends to `body`. */
static netlib_status read_body(netlib_stream *stream, netlib_body_decoder *decoder, size_t size, char *body,
                               size_t *len, netlib_error **err) {
    char buffer[200];
    for (;;) {
        size_t n = sizeof buffer;
        netlib_status status = netlib_stream_read_body(stream, decoder, buffer, size, &n, err);
        CHECK(n <= size && (status == NETLIB_OK) == (n > 0));
        if (status != NETLIB_OK) return status;
        memcpy(body + *len, buffer, n);
        *len += n;
    }
}

/* Reads as much of the message as has arrived: first the head, then the body. */
static netlib_status advance(netlib_stream *stream, const struct message *message, netlib_response **response,
                             netlib_body_decoder **decoder, size_t size, char *body, size_t *len) {
    netlib_error *err = NULL;
    if (*response == NULL) {
        netlib_status status = netlib_stream_read_response(stream, message->method, response, &err);
        if (status != NETLIB_OK) {
            CHECK_STATUS(NETLIB_WANT_READ, status);
            return status;
        }
        *decoder = decoder_for(*response);
    }
    netlib_status status = read_body(stream, *decoder, size, body, len, &err);
    CHECK_STATUS(status == NETLIB_WANT_READ ? NETLIB_WANT_READ : NETLIB_END_OF_STREAM, status);
    return status;
}

/* The distance between the offsets at which a test splits or ends a message. */
static size_t step_of(enum kind kind) { return under_valgrind() ? (is_plain(kind) ? 31 : 53) : is_plain(kind) ? 1 : 5; }

static void a_message_is_read_whole_for_every_split_and_buffer_size(enum kind kind) {
    static const size_t sizes[] = {1, 2, 7, 200};
    netlib_error *err = NULL;
    for (size_t row = 0; row < MESSAGES; row++) {
        const struct message *message = &messages[row];
        char wire[500];
        int len = snprintf(wire, sizeof wire, "%s%s%s", message->head, message->wire_body,
                           message->until_close ? "" : next_head);
        struct ends ends;
        if (!message->until_close) connect_ends(&ends, kind, unix_pair());
        for (size_t split = 0; split <= (size_t)len; split += step_of(kind)) {
            if (message->until_close) connect_ends(&ends, kind, unix_pair());
            set_waiting(&ends, false);
            size_t size = sizes[split % 4], body_len = 0;
            char body[200] = {0};
            netlib_response *response = NULL;
            netlib_body_decoder *decoder = NULL;
            write_bytes(ends.far, wire, split);
            netlib_status status = advance(ends.near, message, &response, &decoder, size, body, &body_len);
            write_bytes(ends.far, wire + split, (size_t)len - split);
            if (message->until_close) shut_down(&ends, false);
            if (status != NETLIB_END_OF_STREAM) {
                status = advance(ends.near, message, &response, &decoder, size, body, &body_len);
            }
            CHECK_STATUS(NETLIB_END_OF_STREAM, status);
            CHECK_STR(message->body, body);
            CHECK_INT((long long)strlen(message->body), (long long)netlib_body_decoder_bytes_decoded(decoder));
            CHECK_INT(message->until_close ? 0 : 1, netlib_response_keeps_alive(response, decoder));
            netlib_body_decoder_free(decoder);
            netlib_response_free(response);
            if (message->until_close) {
                free_ends(&ends);
            } else {
                netlib_response_free(read_head(ends.near, "GET", 404));
                expect_pending(0, ends.near);
                expect_dropped(0, NETLIB_WANT_READ, ends.near);
            }
        }
        if (!message->until_close) free_ends(&ends);
    }
}

static void the_peers_end_inside_a_message_is_an_error_at_every_byte(enum kind kind) {
    netlib_error *err = NULL;
    for (size_t row = 0; row < MESSAGES; row++) {
        const struct message *message = &messages[row];
        if (message->until_close) continue;
        char wire[500];
        size_t head_len = strlen(message->head);
        size_t len = head_len + strlen(message->wire_body);
        snprintf(wire, sizeof wire, "%s%s", message->head, message->wire_body);
        for (size_t end = 0; end < len; end += step_of(kind)) {
            struct ends ends;
            connect_ends(&ends, kind, unix_pair());
            write_bytes(ends.far, wire, end);
            shut_down(&ends, false);
            if (end == 0) {
                expect_no_head(ends.near, "closed the connection without a response", -1, 0);
            } else if (end < head_len) {
                expect_no_head(ends.near, "closed the connection inside the response head", (int64_t)end, end);
            } else {
                netlib_response *response = read_head(ends.near, message->method, 200);
                netlib_body_decoder *decoder = decoder_for(response);
                char body[200];
                size_t body_len = 0;
                for (int call = 0; call < 2; call++) {
                    netlib_status status = read_body(ends.near, decoder, 1 + end % 9, body, &body_len, &err);
                    CHECK_CONTAINS("the peer closed the connection ", netlib_error_message(err, NULL));
                    CHECK_STATUS(NETLIB_INCOMPLETE_READ, status);
                }
                CHECK(strncmp(message->body, body, body_len) == 0);
                netlib_body_decoder_free(decoder);
                netlib_response_free(response);
            }
            free_ends(&ends);
        }
    }
}

static void a_truncated_tls_stream_fails_with_tls_truncated(enum kind kind) {
    static const char *const starts[] = {"HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n\r\nuntil the"};
    if (is_plain(kind)) return;
    for (size_t row = 0; row < 2; row++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        write_bytes(ends.far, starts[row], strlen(starts[row]));
        CHECK(shutdown(ends.pair.far, SHUT_WR) == 0);
        netlib_response *response = NULL;
        netlib_status status = netlib_stream_read_response(ends.near, "GET", &response, &err);
        if (row == 1) {
            CHECK_STATUS(NETLIB_OK, status);
            netlib_body_decoder *decoder = decoder_for(response);
            char body[200];
            size_t len = 0;
            CHECK_STATUS(NETLIB_TLS_TRUNCATED, read_body(ends.near, decoder, 7, body, &len, &err));
            CHECK_INT(9, (long long)len);
            CHECK_INT(0, netlib_body_decoder_is_done(decoder));
            netlib_body_decoder_free(decoder);
        } else {
            CHECK_INT(17, netlib_error_offset(err));
            CHECK_STATUS(NETLIB_TLS_TRUNCATED, status);
        }
        netlib_response_free(response);
        free_ends(&ends);
    }
}

static void reading_a_message_continues_after_a_timeout_or_a_limit(enum kind kind) {
    if (has_callbacks(kind)) return;
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    netlib_limit *ended = NULL;
    CHECK_OK(netlib_limit_new(0.0, NULL, &ended, &err));
    CHECK_OK(netlib_stream_set_read_timeout(ends.near, 0.01, &err));
    write_text(ends.far, "HTTP/1.1 200 OK\r\nTransfer-Enco");
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_read_response(ends.near, "GET", &response, &err));
    netlib_stream_set_limit(ends.near, ended);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_stream_read_response(ends.near, "GET", &response, &err));
    netlib_stream_set_limit(ends.near, NULL);
    write_text(ends.far, "ding: chunked\r\n\r\n5\r\nhel");
    response = read_head(ends.near, "GET", 200);
    netlib_body_decoder *decoder = decoder_for(response);
    char body[200] = {0};
    size_t len = 0;
    CHECK_STATUS(NETLIB_READ_TIMEOUT, read_body(ends.near, decoder, 200, body, &len, &err));
    netlib_stream_set_limit(ends.near, ended);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, read_body(ends.near, decoder, 200, body, &len, &err));
    netlib_stream_set_limit(ends.near, NULL);
    write_text(ends.far, "lo\r\n0\r\n\r\n");
    CHECK_STATUS(NETLIB_END_OF_STREAM, read_body(ends.near, decoder, 200, body, &len, &err));
    CHECK_STR("hello", body);
    netlib_limit_free(ended);
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
    free_ends(&ends);
}

/* The bytes after the defect stay unread, so the connection counts as dropped. */
static void a_malformed_chunk_is_refused_after_the_chunks_before_it_are_returned(enum kind kind) {
    static const struct {
        const char *wire_body, *body;
        int64_t offset;
    } rows[] = {
        {"3\r\nabc\r\n0x\r\n", "abc", 9},
        {"0x\r\n", "", 1},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        write_text(ends.far, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        write_text(ends.far, rows[row].wire_body);
        netlib_response *response = read_head(ends.near, "GET", 200);
        netlib_body_decoder *decoder = decoder_for(response);
        char bytes[20];
        size_t n = 1, len = strlen(rows[row].body);
        CHECK_OK(netlib_stream_read_body(ends.near, decoder, bytes, 0, &n, &err));
        CHECK_INT(0, (long long)n);
        if (len > 0) {
            CHECK_OK(netlib_stream_read_body(ends.near, decoder, bytes, sizeof bytes, &n, &err));
            CHECK(n == len && memcmp(bytes, rows[row].body, len) == 0);
        }
        for (int call = 0; call < 2; call++) {
            netlib_status status = netlib_stream_read_body(ends.near, decoder, bytes, sizeof bytes, &n, &err);
            CHECK_INT(rows[row].offset, netlib_error_offset(err));
            CHECK_STATUS(NETLIB_PROTOCOL, status);
            expect_dropped(1, NETLIB_OK, ends.near);
        }
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        free_ends(&ends);
    }
}

static void bytes_after_a_body_with_a_length_stay_in_the_socket(enum kind kind) {
    if (kind != PLAIN_FD) return;
    netlib_error *err = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    write_text(ends.far, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    netlib_response *response = read_head(ends.near, "GET", 200);
    write_text(ends.far, "abcNEXT");
    netlib_body_decoder *decoder = decoder_for(response);
    char body[200] = {0};
    size_t len = 0;
    CHECK_STATUS(NETLIB_END_OF_STREAM, read_body(ends.near, decoder, 200, body, &len, &err));
    CHECK_STR("abc", body);
    CHECK_INT(4, recv(ends.pair.near, body, sizeof body, MSG_DONTWAIT | MSG_PEEK));
    expect_pending(0, ends.near);
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
    free_ends(&ends);
}

static void long_bodies_arrive_intact_and_unread_bytes_are_bounded(enum kind kind) {
    const size_t body = under_valgrind() ? 30000 : 300000, tail = under_valgrind() ? 300000 : 600000;
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        netlib_error *err = NULL;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        char *wire = malloc(body + tail + 100);
        unsigned char *buffer = malloc(body + tail);
        if (wire == NULL || buffer == NULL) abort();
        size_t len = (size_t)sprintf(wire,
                                     is_chunked ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%zX\r\n"
                                                : "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                                     body);
        for (size_t i = 0; i < body; i++) wire[len++] = (char)at_position(i);
        if (is_chunked) len += (size_t)sprintf(wire + len, "\r\n0\r\n\r\n");
        for (size_t i = 0; i < tail; i++) wire[len++] = (char)at_position(i + 7);
        struct writing writing = {ends.far, wire, len, 50000};
        pthread_t thread = start_writing(&writing);
        netlib_response *response = read_head(ends.near, "GET", 200);
        netlib_body_decoder *decoder = decoder_for(response);
        size_t read = 0, n = 0;
        bool is_intact = true;
        netlib_status status;
        while ((status = netlib_stream_read_body(ends.near, decoder, buffer, body + tail, &n, &err)) == NETLIB_OK) {
            for (size_t i = 0; i < n; i++) is_intact &= buffer[i] == at_position(read + i);
            read += n;
        }
        CHECK_STATUS(NETLIB_END_OF_STREAM, status);
        CHECK_INT((long long)body, (long long)read);
        CHECK(netlib_stream_pending(ends.near) <= NETLIB_RESPONSE_HEAD_MAX);
        for (read = 0; read < tail && netlib_stream_read(ends.near, buffer, 5000, &n, NULL) == NETLIB_OK; read += n) {
            for (size_t i = 0; i < n; i++) is_intact &= buffer[i] == at_position(read + i + 7);
        }
        CHECK_INT((long long)tail, (long long)read);
        CHECK(is_intact);
        CHECK(pthread_join(thread, NULL) == 0);
        free(wire);
        free(buffer);
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        free_ends(&ends);
    }
}

/* A response in memory, which a read callback returns in pieces as large as the stream asks for. */
struct memory {
    const char *bytes;
    size_t left, largest; /* the largest number of bytes that the stream asked for */
};

static int32_t read_memory(void *ctx, void *buf, size_t len, size_t *n) {
    struct memory *memory = ctx;
    if (len > memory->largest) memory->largest = len;
    *n = len < memory->left ? len : memory->left;
    memcpy(buf, memory->bytes, *n);
    memory->bytes += *n;
    memory->left -= *n;
    return NETLIB_OK;
}

static void a_read_asks_for_no_more_bytes_than_the_message_may_have(void) {
    static const struct {
        const char *head;
        size_t buffer, largest;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", 1000000, 100000 - (4096 - 43)},
        {"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", 5000, 5000},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 1000000, NETLIB_RESPONSE_HEAD_MAX},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 5000, 5000},
        {"HTTP/1.1 200 OK\r\n\r\n", 1000000, 1000000},
    };
    enum { TOTAL = 1000000 };
    char *buffer = malloc(TOTAL), *wire = malloc(TOTAL);
    if (buffer == NULL || wire == NULL) abort();
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        memset(wire, '0', TOTAL);
        size_t len = (size_t)sprintf(wire, "%sFFFFF\r\n", rows[row].head);
        wire[len] = 'x';
        struct memory memory = {wire, TOTAL, 0};
        netlib_stream *stream = NULL;
        CHECK_OK(netlib_stream_new_callbacks(read_memory, wire_write, &memory, NULL, &stream, &err));
        netlib_response *response = read_head(stream, "GET", 200);
        CHECK_INT(4096, (long long)memory.largest);
        netlib_body_decoder *decoder = decoder_for(response);
        memory.largest = 0;
        size_t n = 0;
        for (int call = 0; call < 2; call++) {
            CHECK_OK(netlib_stream_read_body(stream, decoder, buffer, rows[row].buffer, &n, &err));
        }
        CHECK_INT((long long)rows[row].largest, (long long)memory.largest);
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        netlib_stream_free(stream);
    }
    free(buffer);
    free(wire);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    a_read_asks_for_no_more_bytes_than_the_message_may_have();
    for (int row = 0; row < KINDS; row++) {
        enum kind kind = (enum kind)row;
        unsigned long failed_before = checks_failed;
        a_message_is_read_whole_for_every_split_and_buffer_size(kind);
        the_peers_end_inside_a_message_is_an_error_at_every_byte(kind);
        a_truncated_tls_stream_fails_with_tls_truncated(kind);
        reading_a_message_continues_after_a_timeout_or_a_limit(kind);
        a_malformed_chunk_is_refused_after_the_chunks_before_it_are_returned(kind);
        bytes_after_a_body_with_a_length_stay_in_the_socket(kind);
        long_bodies_arrive_intact_and_unread_bytes_are_bounded(kind);
        if (checks_failed != failed_before) fprintf(stderr, "the checks above failed for %s\n", kind_names[kind]);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream messages");
}
