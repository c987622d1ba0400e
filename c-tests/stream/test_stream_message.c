/* Tests response heads and bodies that are read from a stream, for each kind of stream. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_kinds.h"

#include "forks.h"

static void write_bytes(netlib_stream *stream, const char *bytes, size_t len) {
    netlib_error *err = NULL;
    size_t n = 0;
    if (len == 0) return;
    CHECK_OK(netlib_stream_write(stream, bytes, len, &n, &err));
    CHECK_INT((long long)len, (long long)n);
}

static void expect_pending(size_t expected, netlib_stream *stream) {
    CHECK_INT((long long)expected, (long long)netlib_stream_pending(stream));
}

/* Reads a response head, which must have this status code. */
static netlib_response *read_head(netlib_stream *stream, const char *method, int32_t http_status) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    CHECK_OK(netlib_stream_read_response(stream, method, &response, &err));
    CHECK_INT(http_status, netlib_response_status(response));
    return response;
}

static netlib_body_decoder *decoder_for(const netlib_response *response) {
    netlib_error *err = NULL;
    netlib_body_decoder *decoder = NULL;
    CHECK_OK(netlib_body_decoder_new(response, &decoder, &err));
    return decoder;
}

/* A response that is read in one test, and the bytes that follow it. */
struct message {
    const char *method, *head, *wire_body, *body;
    bool until_close;
};

static const char next_head[] = "HTTP/1.1 404 next\r\nContent-Length: 0\r\n\r\n";

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
        for (size_t split = 0; split <= (size_t)len; split += message->until_close ? 3 : 1) {
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

int main(void) {
    client = client_context();
    server = server_context("server");
    for (int row = 0; row < KINDS; row++) {
        enum kind kind = (enum kind)row;
        unsigned long failed_before = checks_failed;
        a_message_is_read_whole_for_every_split_and_buffer_size(kind);
        if (checks_failed != failed_before) fprintf(stderr, "the checks above failed for %s\n", kind_names[kind]);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream messages");
}
