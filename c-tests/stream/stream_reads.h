/* Reads response heads and bodies from streams, for tests that run with each kind of stream. */
#ifndef NETLIB_TEST_STREAM_READS_H
#define NETLIB_TEST_STREAM_READS_H

#include "stream_kinds.h"

/* The head of a response without a body, which follows another response. */
static const char next_head[] = "HTTP/1.1 404 next\r\nContent-Length: 0\r\n\r\n";

static inline void write_bytes(netlib_stream *stream, const char *bytes, size_t len) {
    netlib_error *err = NULL;
    size_t n = 0;
    if (len == 0) return;
    CHECK_OK(netlib_stream_write(stream, bytes, len, &n, &err));
    CHECK_INT((long long)len, (long long)n);
}

static inline void expect_pending(size_t expected, netlib_stream *stream) {
    CHECK_INT((long long)expected, (long long)netlib_stream_pending(stream));
}

/* Reads a response head, which must have this status code. */
static inline netlib_response *read_head(netlib_stream *stream, const char *method, int32_t http_status) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    CHECK_OK(netlib_stream_read_response(stream, method, &response, &err));
    CHECK_INT(http_status, netlib_response_status(response));
    return response;
}

static inline netlib_body_decoder *decoder_for(const netlib_response *response) {
    netlib_error *err = NULL;
    netlib_body_decoder *decoder = NULL;
    CHECK_OK(netlib_body_decoder_new(response, &decoder, &err));
    return decoder;
}

/* Reads the head, which must fail with NETLIB_PROTOCOL, and leave `pending` bytes unread; SIZE_MAX for any number. */
static inline void expect_no_head(netlib_stream *stream, const char *message, int64_t offset, size_t pending) {
    /* The second call returns the same error. */
    for (int call = 0; call < 2; call++) {
        netlib_error *err = NULL;
        netlib_response *response = NULL;
        netlib_status status = netlib_stream_read_response(stream, "GET", &response, &err);
        CHECK_CONTAINS(message, netlib_error_message(err, NULL));
        CHECK_INT(offset, netlib_error_offset(err));
        CHECK_INT(NETLIB_RETRY_KIND_READ, netlib_error_retry_kind(err));
        CHECK_STATUS(NETLIB_PROTOCOL, status);
        CHECK(response == NULL);
        if (pending != SIZE_MAX) expect_pending(pending, stream);
    }
}

/* Data that a thread writes, because it may not fit in the socket. */
struct writing {
    netlib_stream *stream;
    char *bytes;
    size_t len, step;
};

static inline void *write_in_steps(void *argument) {
    const struct writing *writing = argument;
    netlib_error *err = NULL;
    for (size_t at = 0, n = 0; at < writing->len; at += n) {
        size_t len = writing->len - at < writing->step ? writing->len - at : writing->step;
        netlib_status status = netlib_stream_write(writing->stream, writing->bytes + at, len, &n, &err);
        CHECK_STATUS(NETLIB_OK, status);
        if (status != NETLIB_OK) break;
    }
    return NULL;
}

static inline pthread_t start_writing(struct writing *writing) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_in_steps, writing) == 0);
    return thread;
}

#endif
