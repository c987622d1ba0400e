/* Tests heads of interim (1xx) responses: each can be parsed, and netlib_response_parse_final skips them. */
#include "harness.h"

static void interim_responses_are_parsed_one_by_one(void) {
    const char *text =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\n\r\n";
    static const int32_t statuses[] = {100, 103, 201};
    for (size_t i = 0; i < 3; i++) {
        netlib_error *err = NULL;
        netlib_response *response = NULL;
        size_t head_len = 0;
        CHECK_OK(netlib_response_parse("PUT", text, NETLIB_NTS, NULL, &response, &head_len, &err));
        CHECK_INT(statuses[i], netlib_response_status(response));
        netlib_response_free(response);
        text += head_len;
    }
    CHECK_STR("", text);
}

/* Passes the input in pieces of `step` bytes, with a state. */
static netlib_status parse_final(const char *input, size_t len, size_t step, netlib_response **response,
                                 size_t *head_len, netlib_error **err) {
    uint64_t state = 0;
    netlib_status status = NETLIB_WANT_READ;
    for (size_t end = 0; status == NETLIB_WANT_READ && end < len;) {
        end = end + step < len ? end + step : len;
        status = netlib_response_parse_final("GET", input, end, &state, response, head_len, err);
        CHECK((state != 0) == (status == NETLIB_WANT_READ));
    }
    return status;
}

static void interim_responses_are_skipped_until_the_final_head_is_parsed(void) {
    static const struct {
        const char *heads;
        int32_t status;
        const char *wire;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 200, "A: b\r\n"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nB: c\r\n\r\n", 201, "B: c\r\n"},
        {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102\n\n\r\nHTTP/1.0 404\n\n", 404, ""},
        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 101, "Upgrade: x\r\n"},
        {"HTTP/1.1 100\r\n\r\nHTTP/1.1 101 x\r\n\r\n", 101, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char input[256];
        size_t whole = strlen(rows[i].heads);
        int len = snprintf(input, sizeof input, "%sHTTP/1.1 100 body\r\n\r\n", rows[i].heads);
        for (size_t step = 1; step <= (size_t)len; step++) {
            netlib_error *err = NULL;
            netlib_response *response = NULL;
            size_t head_len = 99;
            CHECK_OK(parse_final(input, (size_t)len, step, &response, &head_len, &err));
            CHECK_INT(rows[i].status, netlib_response_status(response));
            CHECK_STR(rows[i].wire, netlib_headers_to_wire(netlib_response_headers(response), NULL));
            CHECK_INT((long long)whole, (long long)head_len);
            netlib_response_free(response);
        }
        netlib_error *err = NULL;
        netlib_response *response = NULL;
        size_t head_len = 99;
        CHECK_STATUS(NETLIB_WANT_READ,
                     netlib_response_parse_final("GET", input, whole - 1, NULL, &response, &head_len, &err));
        CHECK(response == NULL && head_len == 0);
    }
}

static void a_17th_interim_response_or_a_malformed_one_is_refused_with_an_offset(void) {
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    static const char final[] = "HTTP/1.1 200 OK\r\n\r\n";
    enum { LEN = sizeof interim - 1 };
    char input[17 * LEN + sizeof final] = "";
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 99;
    for (int i = 0; i < 16; i++) strcat(input, interim);
    strcat(input, final);
    CHECK_OK(netlib_response_parse_final("GET", input, NETLIB_NTS, NULL, &response, &head_len, &err));
    CHECK_INT((long long)strlen(input), (long long)head_len);
    netlib_response_free(response);

    memcpy(input + (size_t)16 * LEN, interim, LEN);
    for (size_t step = 1; step <= sizeof input; step *= 7) {
        netlib_status status = parse_final(input, (size_t)17 * LEN, step, &response, &head_len, &err);
        CHECK_STR("the peer sent more than 16 interim responses; the last of them begins at byte 400",
                  netlib_error_message(err, NULL));
        CHECK_INT(400, netlib_error_offset(err));
        CHECK_STATUS(NETLIB_PROTOCOL, status);
        CHECK(response == NULL && head_len == 0);
    }

    static const char defect[] = "HTTP/1.1 100 x\r\nA : b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    netlib_status status = netlib_response_parse_final("GET", defect, NETLIB_NTS, NULL, &response, &head_len, &err);
    CHECK_STR("header A: whitespace before the colon at byte 17", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_PROTOCOL, status);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_response_parse_final("G T", final, NETLIB_NTS, NULL, &response, &head_len, &err));
    /* A state that a call of netlib_response_parse_final has stored after an interim head. */
    uint64_t state = 0;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_response_parse_final("GET", input, 30, &state, &response, &head_len, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_response_parse("GET", input, 30, &state, &response, &head_len, &err));
    CHECK(state == 0);
}

/* Parses 16 interim responses of almost 16 KiB, with one more byte in each call. Without the state, the calls would
 * parse 34 billion bytes in total. */
static void interim_heads_received_byte_by_byte_are_parsed_in_linear_time(void) {
    enum { INTERIM = 16000, WHOLE = 16 * INTERIM + 19 };
    char *input = malloc(WHOLE);
    CHECK(input != NULL);
    if (input == NULL) return;
    memset(input, 'a', WHOLE);
    for (size_t i = 0; i < 16; i++) {
        memcpy(input + i * INTERIM, "HTTP/1.1 103 x\r\nA:", 18);
        memcpy(input + (i + 1) * INTERIM - 4, "\r\n\r\n", 4);
    }
    memcpy(input + (size_t)16 * INTERIM, "HTTP/1.1 200 OK\r\n\r\n", 19);
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    CHECK_OK(parse_final(input, WHOLE, 1, &response, &head_len, &err));
    CHECK_INT(WHOLE, (long long)head_len);
    CHECK_INT(200, netlib_response_status(response));
    netlib_response_free(response);
    free(input);
}

int main(void) {
    interim_responses_are_parsed_one_by_one();
    interim_responses_are_skipped_until_the_final_head_is_parsed();
    a_17th_interim_response_or_a_malformed_one_is_refused_with_an_offset();
    interim_heads_received_byte_by_byte_are_parsed_in_linear_time();
    return report("interim responses");
}
