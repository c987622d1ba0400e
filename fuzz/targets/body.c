/* Fuzzes the body decoder, the chunk encoder, and reading a body from a stream. The first two bytes of the input select
 * the head of the response, the decoder's settings and the sizes of the pieces; the rest of the input contains the
 * received bytes. */
#include "../fuzz.h"

struct result {
    netlib_status status;
    int64_t offset;
    char message[160];
    uint8_t *body;
    size_t body_len, consumed;
};

static netlib_response *parse(const char *head) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &response, &head_len, &err));
    return response;
}

static netlib_body_decoder *make_decoder(const netlib_response *response, unsigned settings) {
    netlib_error *err = NULL;
    netlib_body_decoder *decoder = NULL;
    OK(netlib_body_decoder_new(response, &decoder, &err));
    if ((settings & 1) != 0) OK(netlib_body_decoder_set_allow_bare_lf(decoder, 1, &err));
    if ((settings & 2) != 0) OK(netlib_body_decoder_set_limits(decoder, 8, 24, 2, &err));
    return decoder;
}

/* Decodes the input in pieces of `step` bytes, and then tells the decoder that the connection was closed. */
static struct result decode(netlib_body_decoder *decoder, struct input input, size_t step) {
    const size_t size = input.len;
    struct result result = {.status = NETLIB_OK, .offset = -1, .body = exact(NULL, 0)};
    netlib_error *err = NULL;
    result.body = realloc(result.body, input.len + 1);
    MUST(result.body != NULL);
    bool closed = false;
    struct input piece = {input.data, 0};
    uint8_t *copy = exact(NULL, 0), *at = copy;
    do {
        const uint8_t *body = copy;
        size_t consumed = 99, body_len = 99;
        result.status = netlib_body_decoder_decode(decoder, at, piece.len, &consumed, &body, &body_len, &err);
        MUST(consumed <= piece.len);
        if (result.status == NETLIB_OK) {
            /* The piece of the body is not empty, and ends where the consumed bytes end. */
            MUST(body_len > 0 && body_len <= consumed && body + body_len == at + consumed);
            memcpy(result.body + result.body_len, body, body_len);
            result.body_len += body_len;
        } else {
            MUST(body == NULL && body_len == 0);
        }
        MUST(netlib_body_decoder_bytes_decoded(decoder) == (int64_t)result.body_len);
        at += consumed;
        piece.len -= consumed;
        result.consumed += consumed;
        if (result.status == NETLIB_WANT_READ) {
            MUST(piece.len == 0 && !closed);
            if (input.len > 0) {
                piece = take(&input, step);
                free(copy);
                at = copy = exact(piece.data, piece.len);
                result.status = NETLIB_OK;
            } else {
                closed = true;
                result.status = netlib_body_decoder_end(decoder, &err);
            }
        }
    } while (result.status == NETLIB_OK);
    free(copy);
    if (err != NULL) {
        snprintf(result.message, sizeof result.message, "%s", netlib_error_message(err, NULL));
        result.offset = netlib_error_offset(err);
        MUST((result.status == NETLIB_PROTOCOL) == (result.offset >= 0));
    }
    ONE_OF(result.status, size, NETLIB_END_OF_STREAM, NETLIB_PROTOCOL, NETLIB_INCOMPLETE_READ);
    MUST(netlib_body_decoder_is_done(decoder) == (result.status == NETLIB_END_OF_STREAM));
    return result;
}

/* The bytes that a stream receives, in pieces of at most `step` bytes. */
struct source {
    struct input rest;
    size_t step;
};

static int32_t give_piece(void *ctx, void *buf, size_t len, size_t *n) {
    struct source *source = ctx;
    struct input piece = take(&source->rest, len < source->step ? len : source->step);
    if (piece.len > 0) memcpy(buf, piece.data, piece.len);
    *n = piece.len;
    return NETLIB_OK;
}

static int32_t refuse_bytes(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf, (void)len, (void)n;
    return -1;
}

static netlib_stream *make_stream(struct source *source) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    OK(netlib_stream_new_callbacks(give_piece, refuse_bytes, source, NULL, &stream, &err));
    return stream;
}

/* A stream with the same bytes gives the same body, and then the bytes that follow the body. */
static void check_stream(const char *head, unsigned settings, struct input input, size_t step, struct result whole) {
    netlib_error *err = NULL;
    size_t head_len = strlen(head), size = 1 + step * 7 % 40, n = 99, len = 0;
    uint8_t *bytes = malloc(head_len + input.len), *buf = malloc(size);
    MUST(bytes != NULL && buf != NULL);
    memcpy(bytes, head, head_len);
    if (input.len > 0) memcpy(bytes + head_len, input.data, input.len);
    struct source source = {{bytes, head_len + input.len}, step};
    netlib_stream *stream = make_stream(&source);
    netlib_response *response = NULL;
    OK(netlib_stream_read_response(stream, "GET", &response, &err));
    netlib_body_decoder *decoder = make_decoder(response, settings);
    netlib_status status;
    while ((status = netlib_stream_read_body(stream, decoder, buf, size, &n, &err)) == NETLIB_OK) {
        MUST(n > 0 && n <= size && len + n <= whole.body_len);
        MUST(memcmp(whole.body + len, buf, n) == 0);
        len += n;
    }
    MUST(status == whole.status && n == 0 && len == whole.body_len && netlib_error_offset(err) == whole.offset);
    MUST(err == NULL || strncmp(whole.message, netlib_error_message(err, NULL), sizeof whole.message - 1) == 0);
    netlib_error_free(err);
    err = NULL;
    if (status == NETLIB_END_OF_STREAM) {
        const uint8_t *next = input.data + whole.consumed;
        size_t left = input.len - whole.consumed;
        while (netlib_stream_read(stream, buf, size, &n, &err) == NETLIB_OK) {
            MUST(n > 0 && n <= left && memcmp(next, buf, n) == 0);
            next += n;
            left -= n;
        }
        MUST(left == 0 && err == NULL);
    }
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
    netlib_stream_free(stream);
    free(bytes);
    free(buf);
}

/* Every call after a final result gives the same result. */
static void check_final(netlib_body_decoder *decoder, netlib_status final, size_t size) {
    netlib_error *err = NULL;
    const uint8_t *body = NULL;
    size_t consumed = 99, body_len = 99;
    MUST(ONE_OF(netlib_body_decoder_decode(decoder, "0", 1, &consumed, &body, &body_len, &err), size, final) == final);
    MUST(consumed == 0 && body == NULL && body_len == 0);
    netlib_status end = final == NETLIB_END_OF_STREAM ? NETLIB_OK : final;
    MUST(ONE_OF(netlib_body_decoder_end(decoder, &err), size, final) == end);
}

static bool same_headers(const netlib_headers *a, const netlib_headers *b) {
    return same_text(netlib_headers_to_wire(a, NULL), netlib_headers_to_wire(b, NULL));
}

/* Encodes a decoded body and its trailer in chunks, and decodes the result. */
static void round_trip(const struct result *decoded, const netlib_headers *trailers, size_t step) {
    netlib_error *err = NULL;
    size_t wire_len = 0, len = 0;
    netlib_headers_to_wire(trailers, &wire_len);
    size_t around = NETLIB_CHUNK_PREFIX_SIZE + NETLIB_CHUNK_SUFFIX_SIZE;
    size_t room = (decoded->body_len / step + 1) * around + decoded->body_len + 5 + wire_len;
    uint8_t *encoded = exact(NULL, 0), *buf = malloc(step + around);
    encoded = realloc(encoded, room);
    MUST(encoded != NULL && buf != NULL);
    struct input body = {decoded->body, decoded->body_len};
    while (body.len > 0) {
        const uint8_t *chunk = NULL;
        size_t chunk_len = 0;
        struct input data = take(&body, step);
        memcpy(buf + NETLIB_CHUNK_PREFIX_SIZE, data.data, data.len);
        OK(netlib_chunk_encode(buf, step + around, data.len, &chunk, &chunk_len, &err));
        memcpy(encoded + len, chunk, chunk_len);
        len += chunk_len;
    }
    size_t last_len = 0;
    OK(netlib_chunk_encode_last(trailers, encoded + len, room - len, &last_len, &err));
    struct input input = {encoded, len + last_len};
    netlib_response *response = parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    netlib_body_decoder *decoder = make_decoder(response, 0);
    OK(netlib_body_decoder_set_limits(decoder, 4096, 262144, 1000, &err));
    struct result again = decode(decoder, input, step);
    MUST(again.status == NETLIB_END_OF_STREAM && again.consumed == input.len && again.body_len == decoded->body_len);
    MUST(memcmp(again.body, decoded->body, again.body_len) == 0);
    MUST(same_headers(netlib_body_decoder_trailers(decoder), trailers));
    free(again.body);
    free(encoded);
    free(buf);
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const heads[] = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
    };
    struct input input = {data, size};
    unsigned settings = take_byte(&input);
    size_t step = 1 + take_byte(&input) % 32;
    netlib_response *response = parse(heads[settings >> 2 & 3]);
    netlib_body_decoder *decoder = make_decoder(response, settings);
    struct result whole = decode(decoder, input, SIZE_MAX);
    const size_t steps[] = {1, step};
    for (size_t i = 0; i < 2; i++) {
        netlib_body_decoder *other = make_decoder(response, settings);
        struct result pieces = decode(other, input, steps[i]);
        MUST(pieces.status == whole.status && pieces.offset == whole.offset);
        MUST(strcmp(pieces.message, whole.message) == 0);
        /* A call that fails consumes nothing, so the number of bytes consumed by the earlier calls depends on the
         * pieces. */
        MUST(whole.status == NETLIB_PROTOCOL || pieces.consumed == whole.consumed);
        MUST(pieces.body_len == whole.body_len && memcmp(pieces.body, whole.body, whole.body_len) == 0);
        MUST(same_headers(netlib_body_decoder_trailers(other), netlib_body_decoder_trailers(decoder)));
        free(pieces.body);
        netlib_body_decoder_free(other);
    }
    check_stream(heads[settings >> 2 & 3], settings, input, step, whole);
    check_stream(heads[settings >> 2 & 3], settings, input, SIZE_MAX, whole);
    check_final(decoder, whole.status, input.len);
    const netlib_headers *trailers = netlib_body_decoder_trailers(decoder);
    MUST((trailers != NULL) == (whole.status == NETLIB_END_OF_STREAM));
    MUST(netlib_response_keeps_alive(response, decoder) == (trailers != NULL && (settings >> 2 & 3) != 3));
    if (trailers != NULL) round_trip(&whole, trailers, step);
    free(whole.body);
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
    return 0;
}
