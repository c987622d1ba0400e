/* Tests the encoder for chunked request bodies, alone and together with the body decoder. */
#include "harness.h"

enum { AROUND = NETLIB_CHUNK_PREFIX_SIZE + NETLIB_CHUNK_SUFFIX_SIZE };

static void data_becomes_a_chunk_and_the_rest_of_the_buffer_is_unchanged(void) {
    static const struct {
        size_t data_len;
        const char *size_line;
    } rows[] = {{1, "1\r\n"}, {9, "9\r\n"}, {10, "a\r\n"}, {255, "ff\r\n"}, {256, "100\r\n"}, {65535, "ffff\r\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size = rows[i].data_len + AROUND, chunk_len = 0, line_len = strlen(rows[i].size_line);
        char *buf = malloc(size);
        if (buf == NULL) abort();
        memset(buf, 'x', size);
        const uint8_t *chunk = NULL;
        netlib_error *err = NULL;
        CHECK_OK(netlib_chunk_encode(buf, size, rows[i].data_len, &chunk, &chunk_len, &err));
        CHECK_INT((long long)(line_len + rows[i].data_len + 2), (long long)chunk_len);
        CHECK(chunk == (const uint8_t *)buf + NETLIB_CHUNK_PREFIX_SIZE - line_len);
        CHECK(memcmp(chunk, rows[i].size_line, line_len) == 0);
        CHECK(memcmp(chunk + chunk_len - 3, "x\r\n", 3) == 0);
        CHECK(buf[0] == 'x' && buf[NETLIB_CHUNK_PREFIX_SIZE] == 'x');
        free(buf);
    }
}

static void encoding_empty_data_writes_no_chunk(void) {
    char buf[AROUND];
    const uint8_t *chunk = NULL;
    size_t chunk_len = 99;
    netlib_error *err = NULL;
    CHECK_OK(netlib_chunk_encode(buf, sizeof buf, 0, &chunk, &chunk_len, &err));
    CHECK_INT(0, (long long)chunk_len);
}

static netlib_headers *one_header(const char *name, const char *value) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    netlib_headers_options_add_header(options, name, value);
    CHECK_OK(netlib_make_headers(options, &headers, &err));
    netlib_headers_options_free(options);
    return headers;
}

static void the_last_chunk_ends_the_body_with_the_trailer(void) {
    char buf[64];
    size_t len = 0;
    netlib_error *err = NULL;
    CHECK_OK(netlib_chunk_encode_last(NULL, buf, 5, &len, &err));
    CHECK(len == 5 && memcmp(buf, "0\r\n\r\n", 5) == 0);
    netlib_headers *trailers = one_header("ETag", "\"x\"");
    CHECK_OK(netlib_chunk_encode_last(trailers, buf, 16, &len, &err));
    CHECK(len == 16 && memcmp(buf, "0\r\nETag: \"x\"\r\n\r\n", 16) == 0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_chunk_encode_last(trailers, buf, 15, &len, &err));
    CHECK_INT(0, (long long)len);
    netlib_headers_free(trailers);
    trailers = one_header("transfer-encoding", "chunked");
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_chunk_encode_last(trailers, buf, sizeof buf, &len, &err));
    netlib_headers_free(trailers);
    trailers = one_header("A", "b\fc");
    netlib_status status = netlib_chunk_encode_last(trailers, buf, sizeof buf, &len, &err);
    CHECK_STR("trailers: header A: byte 0x0c is not allowed in the value at byte 1", netlib_error_message(err, NULL));
    CHECK_INT(1, netlib_error_offset(err));
    CHECK_STATUS(NETLIB_INVALID_HEADER, status);
    netlib_headers_free(trailers);
}

static void buffers_that_are_too_small_are_refused(void) {
    char buf[AROUND + 4];
    const uint8_t *chunk = (const uint8_t *)buf;
    size_t len = 99;
    netlib_error *err = NULL;
    netlib_status status = netlib_chunk_encode(buf, sizeof buf, 5, &chunk, &len, &err);
    CHECK_STR("size must be at least 25; it is 24", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    CHECK(chunk == NULL && len == 0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_chunk_encode(buf, sizeof buf, SIZE_MAX, &chunk, &len, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_chunk_encode(NULL, 0, 1, &chunk, &len, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_chunk_encode(NULL, 30, 1, &chunk, &len, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_chunk_encode_last(NULL, buf, 4, &len, &err));
}

/* Encodes a body that is read in pieces of `piece` bytes, and decodes the encoded bytes. */
static void an_encoded_body_is_decoded_to_the_same_bytes_and_trailer(void) {
    static const char text[] = "The quick brown fox jumps over the lazy dog.";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        char buf[sizeof text + AROUND], wire[1024], decoded[sizeof text] = {0};
        size_t wire_len = 0, n = 0, chunk_len = 0, decoded_len = 0, at = 0;
        const uint8_t *chunk = NULL;
        netlib_error *err = NULL;
        netlib_body *body = NULL;
        CHECK_OK(netlib_body_from_memory(text, sizeof text - 1, &body, &err));
        while (netlib_body_read(body, buf + NETLIB_CHUNK_PREFIX_SIZE, piece, &n, &err) == NETLIB_OK) {
            CHECK_OK(netlib_chunk_encode(buf, sizeof buf, n, &chunk, &chunk_len, &err));
            memcpy(wire + wire_len, chunk, chunk_len);
            wire_len += chunk_len;
        }
        netlib_headers *trailers = one_header("Digest", "fox");
        CHECK_OK(netlib_chunk_encode_last(trailers, wire + wire_len, sizeof wire - wire_len, &n, &err));
        wire_len += n;
        netlib_headers_free(trailers);
        netlib_body_free(body);

        static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        netlib_response *response = NULL;
        netlib_body_decoder *decoder = NULL;
        CHECK_OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &response, &n, &err));
        CHECK_OK(netlib_body_decoder_new(response, &decoder, &err));
        while (netlib_body_decoder_decode(decoder, wire + at, wire_len - at, &n, &chunk, &chunk_len, &err) ==
               NETLIB_OK) {
            memcpy(decoded + decoded_len, chunk, chunk_len);
            decoded_len += chunk_len;
            at += n;
        }
        CHECK_INT(1, netlib_body_decoder_is_done(decoder));
        CHECK_STR(text, decoded);
        CHECK_STR("fox", netlib_headers_get(netlib_body_decoder_trailers(decoder), "digest", NULL));
        netlib_error_free(err);
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
    }
}

int main(void) {
    data_becomes_a_chunk_and_the_rest_of_the_buffer_is_unchanged();
    encoding_empty_data_writes_no_chunk();
    the_last_chunk_ends_the_body_with_the_trailer();
    buffers_that_are_too_small_are_refused();
    an_encoded_body_is_decoded_to_the_same_bytes_and_trailer();
    return report("chunks");
}
