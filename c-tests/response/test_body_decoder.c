/* Tests the body decoder: bodies with a length, chunked bodies, and bodies that last until the peer closes the
 * connection. */
#include "harness.h"

#define LENGTH "Content-Length: 5\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

static netlib_body_decoder *decoder_for(const char *fields) {
    char head[256];
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    netlib_body_decoder *decoder = NULL;
    size_t head_len = 0;
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\n%s\r\n", fields);
    CHECK_OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &response, &head_len, &err));
    CHECK_OK(netlib_body_decoder_new(response, &decoder, &err));
    netlib_response_free(response);
    return decoder;
}

struct outcome {
    char body[64];
    size_t body_len, consumed;
    netlib_status status;
    netlib_error *err;
};

/* Decodes `input`, which arrives in pieces of `step` bytes. Each piece is copied into memory of its exact size, so that
 * a sanitizer detects a read beyond the end. Stops when the input is used up, or after a final status. */
static struct outcome decode(netlib_body_decoder *decoder, const char *input, size_t step) {
    struct outcome outcome = {.status = NETLIB_WANT_READ};
    size_t len = strlen(input);
    for (size_t at = 0; at < len && outcome.status == NETLIB_WANT_READ; at += step) {
        size_t left = len - at < step ? len - at : step, start = 0;
        char *piece = malloc(left);
        if (piece == NULL) abort();
        memcpy(piece, input + at, left);
        do {
            const uint8_t *body = (const uint8_t *)input;
            size_t consumed = 99, body_len = 99;
            outcome.status = netlib_body_decoder_decode(decoder, piece + start, left - start, &consumed, &body,
                                                        &body_len, &outcome.err);
            CHECK(consumed <= left - start);
            CHECK((outcome.status == NETLIB_OK) == (body_len > 0));
            CHECK((outcome.status == NETLIB_OK) == (body != NULL));
            if (outcome.status == NETLIB_OK) {
                CHECK(body + body_len == (const uint8_t *)piece + start + consumed);
                memcpy(outcome.body + outcome.body_len, body, body_len);
                outcome.body_len += body_len;
            }
            if (outcome.status == NETLIB_WANT_READ) CHECK_INT((long long)(left - start), (long long)consumed);
            start += consumed;
            outcome.consumed += consumed;
        } while (outcome.status == NETLIB_OK);
        free(piece);
    }
    return outcome;
}

static void bodies_with_each_framing_are_decoded_in_pieces_of_any_size(void) {
    static const struct {
        const char *fields, *input, *body;
        netlib_status status;
        size_t consumed;
        int64_t left;
        const char *trailers;
    } rows[] = {
        {LENGTH, "hel", "hel", NETLIB_WANT_READ, 3, 2, NULL},
        {LENGTH, "hello", "hello", NETLIB_END_OF_STREAM, 5, 0, ""},
        {LENGTH, "helloHTTP/1.1 ", "hello", NETLIB_END_OF_STREAM, 5, 0, ""},
        {"Content-Length: 0\r\n", "HTTP/1.1 ", "", NETLIB_END_OF_STREAM, 0, 0, ""},
        {CHUNKED, "3\r\nhel\r\n2;a=\"b\"\r\nlo\r\n0\r\n\r\nHTTP", "hello", NETLIB_END_OF_STREAM, 26, 0, ""},
        {CHUNKED, "5\r\nhello\r\n0\r\nA: b\r\nC:d\r\n\r\n", "hello", NETLIB_END_OF_STREAM, 26, 0, "A: b\r\nC: d\r\n"},
        {CHUNKED, "5\r\nhello\r\n0\r\nA: b\r\n", "hello", NETLIB_WANT_READ, 19, -1, NULL},
        {"", "hello", "hello", NETLIB_WANT_READ, 5, -1, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t step = 1; step <= strlen(rows[i].input); step++) {
            netlib_body_decoder *decoder = decoder_for(rows[i].fields);
            struct outcome outcome = decode(decoder, rows[i].input, step);
            CHECK_INT(rows[i].status, outcome.status);
            CHECK_STR(rows[i].body, outcome.body);
            CHECK_INT((long long)rows[i].consumed, (long long)outcome.consumed);
            CHECK_INT((long long)strlen(rows[i].body), netlib_body_decoder_bytes_decoded(decoder));
            CHECK_INT(rows[i].left, netlib_body_decoder_bytes_left(decoder));
            CHECK_INT(rows[i].trailers != NULL, netlib_body_decoder_is_done(decoder));
            const netlib_headers *trailers = netlib_body_decoder_trailers(decoder);
            CHECK_STR(rows[i].trailers, netlib_headers_to_wire(trailers, NULL));
            netlib_body_decoder_free(decoder);
        }
    }
}

static void malformed_chunked_bodies_fail_with_an_offset_and_stay_failed(void) {
    static const struct {
        const char *input, *message;
        int64_t offset;
    } rows[] = {
        {"0x5\r\n", "\"x\" is not allowed in a chunk size at byte 1", 1},
        {"+5\r\n", "\"+\" is not allowed in a chunk size at byte 0", 0},
        {"5 \r\n", "a space is not allowed in a chunk size at byte 1", 1},
        {"5\n", "LF is not allowed in a chunk size at byte 1", 1},
        {"00000000000000001\r\n", "a chunk size has more than 16 digits at byte 16", 16},
        {"8000000000000000\r\n", "a chunk size is larger than 9223372036854775807 at byte 15", 15},
        {"5\r\nhello!", "\"!\" follows the data of a chunk; CRLF must follow at byte 8", 8},
        {"5; a\r\n", "a space is not allowed in a chunk extension at byte 2", 2},
        {"0\r\nA: b\n", "a trailer line ends with LF without CR at byte 7", 7},
        {"0\r\nA: b\r\n c\r\n", "a trailer line begins with whitespace at byte 9", 9},
        {"0\r\nHost: b\r\n", "trailer: header Host: a trailer must not contain this header; the line begins at byte 3",
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t step = 1; step <= strlen(rows[i].input); step++) {
            netlib_body_decoder *decoder = decoder_for(CHUNKED);
            struct outcome outcome = decode(decoder, rows[i].input, step);
            netlib_error *err = outcome.err;
            CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
            CHECK_INT(rows[i].offset, netlib_error_offset(err));
            CHECK_STATUS(NETLIB_PROTOCOL, outcome.status);
            size_t consumed = 99, body_len = 99;
            const uint8_t *body = NULL;
            netlib_status again =
                netlib_body_decoder_decode(decoder, "0\r\n\r\n", 5, &consumed, &body, &body_len, &err);
            CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
            CHECK_STATUS(NETLIB_PROTOCOL, again);
            CHECK(consumed == 0 && body_len == 0);
            CHECK_STATUS(NETLIB_PROTOCOL, netlib_body_decoder_end(decoder, &err));
            CHECK_INT(0, netlib_body_decoder_is_done(decoder));
            CHECK(netlib_body_decoder_trailers(decoder) == NULL);
            netlib_body_decoder_free(decoder);
        }
    }
}

static void a_closed_connection_completes_only_a_close_delimited_body(void) {
    static const struct {
        const char *fields, *input;
        netlib_status status;
        const char *message;
    } rows[] = {
        {"", "", NETLIB_OK, NULL},
        {"", "hello", NETLIB_OK, NULL},
        {LENGTH, "hello", NETLIB_OK, NULL},
        {CHUNKED, "0\r\n\r\n", NETLIB_OK, NULL},
        {LENGTH, "hel", NETLIB_INCOMPLETE_READ, "the peer closed the connection after 3 of 5 bytes of the body"},
        {CHUNKED, "0\r\n\r", NETLIB_INCOMPLETE_READ,
         "the peer closed the connection inside a chunked body, after 4 bytes"},
        {CHUNKED, "", NETLIB_INCOMPLETE_READ, "the peer closed the connection inside a chunked body, after 0 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_body_decoder *decoder = decoder_for(rows[i].fields);
        netlib_error *err = NULL;
        decode(decoder, rows[i].input, 99);
        netlib_status status = netlib_body_decoder_end(decoder, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(rows[i].status == NETLIB_OK, netlib_body_decoder_is_done(decoder));
        size_t consumed = 99, body_len = 99;
        const uint8_t *body = NULL;
        CHECK_STATUS(rows[i].status == NETLIB_OK ? NETLIB_END_OF_STREAM : rows[i].status,
                     netlib_body_decoder_decode(decoder, "more", 4, &consumed, &body, &body_len, &err));
        CHECK_INT(0, (long long)consumed);
        netlib_body_decoder_free(decoder);
    }
}

static void decoder_limits_and_allow_bare_lf_decide_which_bodies_are_accepted(void) {
    static const struct {
        const char *input;
        size_t limits[3]; /* the chunk-size line, the trailer, the number of trailer fields */
        int32_t allow_bare_lf;
        netlib_status status;
    } rows[] = {
        {"0;a=b\r\n\r\n", {5, 2, 0}, 0, NETLIB_END_OF_STREAM},     {"0;a=bc\r\n\r\n", {5, 2, 0}, 0, NETLIB_PROTOCOL},
        {"0\r\nA: b\r\n\r\n", {1, 8, 1}, 0, NETLIB_END_OF_STREAM}, {"0\r\nA: b\r\n\r\n", {1, 7, 1}, 0, NETLIB_PROTOCOL},
        {"0\r\nA: b\r\n\r\n", {1, 8, 0}, 0, NETLIB_PROTOCOL},      {"1\na\n0\nA: b\n\n", {1, 8, 1}, 0, NETLIB_PROTOCOL},
        {"1\na\n0\nA: b\n\n", {1, 8, 1}, 1, NETLIB_END_OF_STREAM},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_body_decoder *decoder = decoder_for(CHUNKED);
        const size_t *limits = rows[i].limits;
        CHECK_OK(netlib_body_decoder_set_limits(decoder, limits[0], limits[1], limits[2], &err));
        CHECK_OK(netlib_body_decoder_set_allow_bare_lf(decoder, rows[i].allow_bare_lf, &err));
        struct outcome outcome = decode(decoder, rows[i].input, 3);
        err = outcome.err;
        CHECK_STATUS(rows[i].status, outcome.status);
        netlib_body_decoder_free(decoder);
    }
}

/* Decodes a prefix and then up to `size` bytes of filler. Returns the status of the last call. */
static netlib_status flood(const char *prefix, const char *filler, size_t size, int64_t *offset) {
    netlib_body_decoder *decoder = decoder_for(CHUNKED);
    struct outcome outcome = decode(decoder, prefix, 99);
    for (size_t sent = 0; sent < size && outcome.status == NETLIB_WANT_READ; sent += strlen(filler)) {
        outcome = decode(decoder, filler, 99);
    }
    *offset = netlib_error_offset(outcome.err);
    netlib_error_free(outcome.err);
    netlib_body_decoder_free(decoder);
    return outcome.status;
}

static void size_lines_over_4_kib_trailers_over_16_kib_or_100_fields_are_refused(void) {
    int64_t offset = 0;
    CHECK_INT(NETLIB_WANT_READ, flood("0;", "a", 4094, &offset));
    CHECK_INT(NETLIB_PROTOCOL, flood("0;", "a", 4095, &offset));
    CHECK_INT(4096, offset);
    CHECK_INT(NETLIB_WANT_READ, flood("0\r\nA: ", "b", 16384 - 3, &offset));
    CHECK_INT(NETLIB_PROTOCOL, flood("0\r\nA: ", "b", 16384 - 2, &offset));
    CHECK_INT(3 + 16384, offset);
    CHECK_INT(NETLIB_WANT_READ, flood("0\r\n", "A:\r\n", 400, &offset));
    CHECK_INT(NETLIB_PROTOCOL, flood("0\r\n", "A:\r\n", 404, &offset));
    CHECK_INT(3 + 400, offset);
}

static void invalid_arguments_of_the_body_decoder_are_refused(void) {
    netlib_error *err = NULL;
    netlib_body_decoder *decoder = decoder_for(CHUNKED);
    static const size_t limits[][3] = {{0, 2, 0}, {65537, 2, 0}, {1, 1, 0}, {1, 262145, 0}, {1, 2, 1001}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                     netlib_body_decoder_set_limits(decoder, limits[i][0], limits[i][1], limits[i][2], &err));
    }
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_body_decoder_set_allow_bare_lf(decoder, 2, &err));
    size_t consumed = 0, body_len = 0;
    const uint8_t *body = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_body_decoder_decode(decoder, "0", NETLIB_NTS, &consumed, &body, &body_len, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_body_decoder_decode(decoder, NULL, 0, &consumed, &body, &body_len, &err));
    netlib_body_decoder_free(decoder);
    CHECK_INT(-1, netlib_body_decoder_bytes_left(NULL));
    CHECK_INT(0, netlib_body_decoder_bytes_decoded(NULL));
    CHECK_INT(0, netlib_body_decoder_is_done(NULL));
    CHECK(netlib_body_decoder_trailers(NULL) == NULL);
}

static void a_response_with_two_content_lengths_has_no_body_decoder(void) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    netlib_body_decoder *decoder = NULL;
    size_t head_len = 0;
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n";
    CHECK_OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &response, &head_len, &err));
    CHECK_STATUS(NETLIB_PROTOCOL, netlib_body_decoder_new(response, &decoder, &err));
    CHECK(decoder == NULL);
    netlib_response_free(response);
}

int main(void) {
    bodies_with_each_framing_are_decoded_in_pieces_of_any_size();
    malformed_chunked_bodies_fail_with_an_offset_and_stay_failed();
    a_closed_connection_completes_only_a_close_delimited_body();
    decoder_limits_and_allow_bare_lf_decide_which_bodies_are_accepted();
    size_lines_over_4_kib_trailers_over_16_kib_or_100_fields_are_refused();
    invalid_arguments_of_the_body_decoder_are_refused();
    a_response_with_two_content_lengths_has_no_body_decoder();
    return report("body_decoder");
}
