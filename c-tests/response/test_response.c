/* Tests response heads: parsing, getters and body framing. */
#include "harness.h"

static netlib_response *parse(const char *method, const char *head, size_t *head_len) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t len = 0;
    CHECK_OK(
        netlib_response_parse(method, head, NETLIB_NTS, NULL, &response, head_len != NULL ? head_len : &len, &err));
    return response;
}

static void parsing_returns_want_read_until_the_response_head_is_complete(void) {
    static const struct {
        const char *head;
        int32_t status, minor_version;
        const char *reason, *wire, *location;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\n", 200, 1, "OK",
         "Content-Length: 5\r\nSet-Cookie: a\r\nset-cookie: b\r\n", NULL},
        {"HTTP/1.0 302 Moved  here\nlocation:  /next \nA: b\n  c\n\n", 302, 0, "Moved  here",
         "location: /next\r\nA: b c\r\n", "/next"},
        {"\r\nHTTP/1.1 100\r\n\r\n", 100, 1, "", "", NULL},
        {"HTTP/1.1 308 \r\nLocation:\r\n\r\n", 308, 1, "", "Location: \r\n", NULL},
        {"HTTP/1.1 304 x\r\nLocation: /a\r\n\r\n", 304, 1, "x", "Location: /a\r\n", NULL},
        {"HTTP/1.1 301 x\r\nLocation: /a\r\nLocation: /b\r\n\r\n", 301, 1, "x", "Location: /a\r\nLocation: /b\r\n",
         "/a, /b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t whole = strlen(rows[i].head);
        char *text = malloc(whole + 5);
        CHECK(text != NULL);
        if (text == NULL) return;
        memcpy(text, rows[i].head, whole);
        memcpy(text + whole, "body", 5);
        size_t head_len = 0;
        netlib_response *response = parse("GET", text, &head_len);
        CHECK_INT((long long)whole, (long long)head_len);
        CHECK_INT(rows[i].status, netlib_response_status(response));
        CHECK_INT(rows[i].minor_version, netlib_response_minor_version(response));
        size_t len = 99;
        CHECK_STR(rows[i].reason, netlib_response_reason(response, &len));
        CHECK_INT((long long)strlen(rows[i].reason), (long long)len);
        CHECK_STR(rows[i].wire, netlib_headers_to_wire(netlib_response_headers(response), NULL));
        CHECK_STR(rows[i].location, netlib_response_redirect_location(response, NULL));
        CHECK_STR("GET", netlib_response_request_method(response, &len));
        CHECK_INT(3, (long long)len);
        netlib_response_free(response);

        /* Parses every shorter prefix of the head, copied into memory of its exact size, so that a sanitizer detects a
         * read beyond the end. */
        for (size_t cut = 0; cut < whole; cut++) {
            char *piece = malloc(cut + 1);
            if (piece == NULL) break;
            memcpy(piece, rows[i].head, cut);
            netlib_error *err = NULL;
            response = (netlib_response *)text;
            head_len = 99;
            CHECK_STATUS(NETLIB_WANT_READ, netlib_response_parse("GET", piece, cut, NULL, &response, &head_len, &err));
            CHECK(response == NULL);
            CHECK_INT(0, (long long)head_len);
            free(piece);
        }
        free(text);
    }
}

static void invalid_response_heads_are_refused_with_an_offset(void) {
    static const struct {
        const char *head;
        int64_t offset;
        const char *message;
    } rows[] = {
        {"SSH-2.0-x", 0, "the peer is an SSH server at byte 0"},
        {"\x15\x03\x03", 0, "the peer answered with a TLS alert: it expects TLS here at byte 0"},
        {"HTTP/2 200\r\n", 0, "the peer answered with a version of HTTP that is neither 1.0 nor 1.1 at byte 0"},
        {"HTTP/1.1 1000\r\n", 9, "the status is not three digits, 100 to 999, at byte 9"},
        {"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", 18, "header A: whitespace before the colon at byte 18"},
        {"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", 21, "header A: CR is not allowed in the value at byte 21"},
        {"HTTP/1.1 200 OK\r\n A: b\r\n\r\n", 17, "the first header line begins with whitespace at byte 17"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_response *response = NULL;
        size_t head_len = 99;
        netlib_status status = netlib_response_parse("GET", rows[i].head, NETLIB_NTS, NULL, &response, &head_len, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_STATUS(NETLIB_PROTOCOL, status);
        CHECK(response == NULL);
        CHECK_INT(0, (long long)head_len);
    }
    static const char with_nul[] = "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n";
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    CHECK_STATUS(NETLIB_PROTOCOL,
                 netlib_response_parse("GET", with_nul, sizeof with_nul - 1, NULL, &response, &head_len, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_response_parse("G T", "", 0, NULL, &response, &head_len, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_response_parse("\xff", "", 0, NULL, &response, &head_len, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_response_parse("GET", NULL, 0, NULL, &response, &head_len, &err));
}

static void a_response_head_above_256_kib_is_refused(void) {
    size_t most = NETLIB_RESPONSE_HEAD_MAX;
    CHECK_INT(262144, NETLIB_RESPONSE_HEAD_MAX);
    char *endless = malloc(most);
    CHECK(endless != NULL);
    if (endless == NULL) return;
    memset(endless, 'a', most);
    memcpy(endless, "HTTP/1.1 200 ", 13);
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_response_parse("GET", endless, most - 1, NULL, &response, &head_len, &err));
    CHECK_STATUS(NETLIB_PROTOCOL, netlib_response_parse("GET", endless, most, NULL, &response, &head_len, &err));
    free(endless);
}

/* The application appends received bytes to its buffer and passes the parser state to the next call. One state is used
 * for a whole connection. */
static void parsing_a_head_in_pieces_takes_linear_time_with_a_parser_state(void) {
    static const char stream[] =
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nbody";
    for (size_t step = 1; step < sizeof stream; step++) {
        static const int32_t statuses[] = {103, 200};
        uint64_t state = 0;
        size_t start = 0, end = 0, heads = 0;
        while (heads < 2 && end < sizeof stream - 1) {
            end = end + step < sizeof stream - 1 ? end + step : sizeof stream - 1;
            netlib_status status = NETLIB_OK;
            while (status == NETLIB_OK && heads < 2) {
                netlib_error *err = NULL;
                netlib_response *response = NULL;
                size_t head_len = 99;
                status = netlib_response_parse("GET", stream + start, end - start, &state, &response, &head_len, &err);
                CHECK((state == 0) == (status == NETLIB_OK || end == start));
                if (status != NETLIB_OK) CHECK_STATUS(NETLIB_WANT_READ, status);
                if (status == NETLIB_OK) CHECK_INT(statuses[heads++], netlib_response_status(response));
                start += head_len;
                netlib_response_free(response);
            }
        }
        CHECK_STR("body", stream + start);
    }

    /* Parses the largest head, with one more byte in each call. Without the state, the calls would parse 34 billion
     * bytes in total. */
    size_t most = 256 * 1024;
    char *large = malloc(most);
    CHECK(large != NULL);
    if (large == NULL) return;
    memset(large, 'a', most);
    memcpy(large, "HTTP/1.1 200 OK\r\nA:", 19);
    memcpy(large + most - 4, "\r\n\r\n", 4);
    uint64_t state = 0;
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    for (size_t end = 1; end < most; end++) {
        if (netlib_response_parse("GET", large, end, &state, &response, &head_len, &err) != NETLIB_WANT_READ) {
            CHECK_INT((long long)most, (long long)end);
            break;
        }
    }
    CHECK_OK(netlib_response_parse("GET", large, most, &state, &response, &head_len, &err));
    CHECK_INT((long long)most, (long long)head_len);
    CHECK(state == 0);
    netlib_response_free(response);
    free(large);
}

/* netlib_response_parse refuses a parser state that cannot belong to the passed bytes. Any other wrong state does not
 * change the parsed response. */
static void a_wrong_parser_state_never_changes_the_parsed_response(void) {
    static const char head[] = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n";
    uint64_t state = 0;
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 99;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_response_parse("GET", head, 24, &state, &response, &head_len, &err));
    uint64_t kept = state;
    CHECK(kept != 0);
    /* The application has emptied its buffer, so the state points beyond the end of the bytes. */
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_response_parse("GET", head, 3, &state, &response, &head_len, &err));
    CHECK(state == 0 && response == NULL && head_len == 0);
    state = UINT64_MAX;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_response_parse("GET", head, NETLIB_NTS, &state, &response, &head_len, &err));
    CHECK(state == 0);
    /* A state with one flipped bit leads to a refusal, to NETLIB_WANT_READ, or to the correct response. */
    for (int bit = 0; bit < 64; bit++) {
        state = kept ^ (uint64_t)1 << bit;
        netlib_status status = netlib_response_parse("GET", head, NETLIB_NTS, &state, &response, &head_len, &err);
        CHECK(status == NETLIB_OK || status == NETLIB_INVALID_ARGUMENT || status == NETLIB_PROTOCOL ||
              status == NETLIB_WANT_READ);
        if (status == NETLIB_OK) {
            CHECK_INT(25, (long long)head_len);
            CHECK_STR("A: b\r\n", netlib_headers_to_wire(netlib_response_headers(response), NULL));
        }
        netlib_error_free(err);
        err = NULL;
        netlib_response_free(response);
    }
}

/* Older servers send a Location with ISO 8859-1 bytes. As in browsers, the URL of the next request has the same bytes,
 * percent-encoded. */
static void a_location_that_is_not_utf8_is_percent_encoded(void) {
    static const struct {
        const char *location, *read, *url;
    } rows[] = {
        {"/caf\xe9?q=\xff", "/caf%E9?q=%FF", "http://a.test/caf%E9?q=%FF"},
        {"/caf\xc3\xa9", "/caf\xc3\xa9", "http://a.test/caf%C3%A9"},
        {"//b.test/\xc3\xa9\xe9", "//b.test/\xc3\xa9%E9", "http://b.test/%C3%A9%E9"},
    };
    netlib_error *err = NULL;
    netlib_url *base = NULL;
    CHECK_OK(netlib_parse_url("http://a.test/x", NETLIB_NTS, &base, &err));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char head[128];
        snprintf(head, sizeof head, "HTTP/1.1 302 Found\r\nLocation: %s\r\n\r\n", rows[i].location);
        netlib_response *response = parse("GET", head, NULL);
        CHECK_STR(rows[i].read, netlib_response_redirect_location(response, NULL));
        CHECK_STR(rows[i].location, netlib_headers_get(netlib_response_headers(response), "location", NULL));
        netlib_decision *decision = NULL;
        CHECK_OK(
            netlib_retry_decide(netlib_retry_resolve(NULL, NULL), "GET", base, response, NULL, NULL, &decision, &err));
        CHECK_STR(rows[i].url, netlib_url_to_string(netlib_decision_url(decision), NULL));
        netlib_decision_free(decision);
        netlib_response_free(response);
    }
    netlib_url_free(base);
}

static void a_2xx_response_to_connect_opens_a_tunnel_and_others_are_proxy_failures(void) {
    static const struct {
        const char *method, *head;
        netlib_status status;
        int32_t http_status;
        enum netlib_retry_kind kind;
        const char *message, *advice;
    } rows[] = {
        {"CONNECT", "HTTP/1.1 200 OK\r\n\r\n", NETLIB_OK, 0, NETLIB_RETRY_KIND_NEVER, NULL, NULL},
        {"CONNECT", "HTTP/1.0 299\r\nContent-Length: 5\r\n\r\nbytes", NETLIB_OK, 0, NETLIB_RETRY_KIND_NEVER, NULL,
         NULL},
        {"CONNECT", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", NETLIB_OK, 0, NETLIB_RETRY_KIND_NEVER,
         NULL, NULL},
        {"CONNECT", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", NETLIB_PROXY_FAILED, 407,
         NETLIB_RETRY_KIND_OTHER, "the proxy answered CONNECT with 407 Proxy Authentication Required",
         "to send credentials to the proxy: netlib_headers_options_set_proxy_basic_auth"},
        {"CONNECT", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", NETLIB_PROXY_FAILED, 302, NETLIB_RETRY_KIND_OTHER,
         "the proxy answered CONNECT with 302 Found", NULL},
        {"CONNECT", "HTTP/1.1 502\r\n\r\n", NETLIB_PROXY_FAILED, 502, NETLIB_RETRY_KIND_CONNECT,
         "the proxy answered CONNECT with 502", NULL},
        {"GET", "HTTP/1.1 200 OK\r\n\r\n", NETLIB_INVALID_ARGUMENT, 0, NETLIB_RETRY_KIND_NEVER,
         "the response belongs to a request with a method other than CONNECT", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_response *response = parse(rows[i].method, rows[i].head, NULL);
        netlib_status status = netlib_response_check_tunnel(response, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STR(rows[i].advice, netlib_error_advice(err, NULL));
        CHECK_INT(rows[i].http_status, netlib_error_http_status(err));
        CHECK_INT(rows[i].kind, netlib_error_retry_kind(err));
        CHECK_STATUS(rows[i].status, status);
        netlib_response_free(response);
    }
    /* netlib_response_new makes a response without a reason phrase. */
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_response *response = NULL;
    CHECK_OK(netlib_make_headers(NULL, &headers, &err));
    CHECK_OK(netlib_response_new("CONNECT", 403, headers, &response, &err));
    netlib_status status = netlib_response_check_tunnel(response, &err);
    CHECK_STR("the proxy answered CONNECT with 403", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_PROXY_FAILED, status);
    netlib_response_free(response);
    netlib_headers_free(headers);
}

static void responses_can_be_created_from_method_status_and_headers(void) {
    netlib_error *err = NULL;
    netlib_headers_options *o = netlib_headers_options_new();
    netlib_headers_options_add_header(o, "LOCATION", "../up");
    netlib_headers *headers = NULL;
    CHECK_OK(netlib_make_headers(o, &headers, &err));
    netlib_headers_options_free(o);
    netlib_response *response = NULL;
    CHECK_OK(netlib_response_new("head", 307, headers, &response, &err));
    netlib_headers_free(headers);

    netlib_response *other = netlib_response_clone(response);
    netlib_response_free(response);
    CHECK_INT(307, netlib_response_status(other));
    CHECK_STR("head", netlib_response_request_method(other, NULL));
    CHECK_STR("../up", netlib_response_redirect_location(other, NULL));
    CHECK_STR(NULL, netlib_response_reason(other, NULL));
    CHECK_INT(-1, netlib_response_minor_version(other));
    netlib_headers *kept = netlib_headers_clone(netlib_response_headers(other));
    netlib_response_free(other);
    CHECK_STR("../up", netlib_headers_get(kept, "location", NULL));

    static const struct {
        const char *method;
        int32_t status;
        netlib_status expected;
    } rows[] = {
        {"GET", 100, NETLIB_OK},
        {"GET", 999, NETLIB_OK},
        {"GET", 99, NETLIB_INVALID_ARGUMENT},
        {"GET", 1000, NETLIB_INVALID_ARGUMENT},
        {"GET", -200, NETLIB_INVALID_ARGUMENT},
        {"GET", 65736, NETLIB_INVALID_ARGUMENT},
        {"", 200, NETLIB_INVALID_ARGUMENT},
        {"GET\r\n", 200, NETLIB_INVALID_ARGUMENT},
        {"\xff", 200, NETLIB_INVALID_ARGUMENT},
        {NULL, 200, NETLIB_NULL_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_STATUS(rows[i].expected, netlib_response_new(rows[i].method, rows[i].status, kept, &response, &err));
        CHECK((response != NULL) == (rows[i].expected == NETLIB_OK));
        netlib_response_free(response);
    }
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_response_new("GET", 200, NULL, &response, &err));
    netlib_headers_free(kept);
}

static void body_framing_follows_method_status_and_header_fields(void) {
    static const struct {
        const char *method, *head;
        netlib_status status;
        int32_t framing;
        int64_t length;
    } rows[] = {
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_LENGTH, 5},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5, 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_LENGTH, 5},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 9223372036854775807\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_LENGTH,
         INT64_MAX},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 5\r\n\r\n", NETLIB_OK,
         NETLIB_BODY_FRAMING_CHUNKED, -1},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_UNTIL_CLOSE, -1},
        {"GET", "HTTP/1.1 200 x\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_UNTIL_CLOSE, -1},
        {"HEAD", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_NONE, -1},
        {"GET", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_NONE, -1},
        {"GET", "HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_NONE, -1},
        {"GET", "HTTP/1.1 101 x\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_NONE, -1},
        {"CONNECT", "HTTP/1.1 200 x\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_NONE, -1},
        {"CONNECT", "HTTP/1.1 502 x\r\nContent-Length: 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_LENGTH, 5},
        {"head", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_LENGTH, 5},
        {"Connect", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n", NETLIB_OK, NETLIB_BODY_FRAMING_CHUNKED, -1},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 9223372036854775808\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: -1\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip\", chunked\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: gzip;a=\"b, chunked\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: \r\nContent-Length: 5\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: x chunked\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked,\r\n\r\n", NETLIB_PROTOCOL, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_response *response = parse(rows[i].method, rows[i].head, NULL);
        enum netlib_body_framing framing = NETLIB_BODY_FRAMING_CHUNKED;
        int64_t length = 99;
        CHECK_STATUS(rows[i].status, netlib_response_framing(response, &framing, &length, &err));
        CHECK_INT(rows[i].framing, framing);
        CHECK_INT(rows[i].length, length);
        netlib_response_free(response);
    }
}

static void is_response_to_head_ignores_the_case_of_the_method(void) {
    static const struct {
        const char *method;
        bool expected;
    } rows[] = {{"HEAD", true}, {"Head", true}, {"GET", false}, {"HEADER", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *response = parse(rows[i].method, "HTTP/1.1 200 OK\r\n\r\n", NULL);
        CHECK_INT(rows[i].expected, netlib_is_response_to_head(response));
        netlib_response_free(response);
    }
}

static void functions_on_null_responses_return_an_empty_value_or_null_argument(void) {
    netlib_error *err = NULL;
    size_t len = 99, head_len = 99;
    netlib_response *response = NULL;
    enum netlib_body_framing framing = NETLIB_BODY_FRAMING_CHUNKED;
    CHECK_INT(0, netlib_response_status(NULL));
    CHECK_INT(-1, netlib_response_minor_version(NULL));
    CHECK(netlib_response_headers(NULL) == NULL);
    CHECK_STR(NULL, netlib_response_request_method(NULL, &len));
    CHECK_INT(0, (long long)len);
    CHECK_STR(NULL, netlib_response_reason(NULL, NULL));
    CHECK_STR(NULL, netlib_response_redirect_location(NULL, NULL));
    CHECK(netlib_response_clone(NULL) == NULL);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_response_parse("GET", NULL, 1, NULL, &response, &head_len, &err));
    CHECK_INT(0, (long long)head_len);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_response_framing(NULL, &framing, NULL, &err));
    CHECK_INT(0, framing);
    CHECK_INT(0, netlib_is_response_to_head(NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_assert_header_parsing(NULL, NETLIB_NTS, &err));
    netlib_response_free(NULL);
}

int main(void) {
    parsing_returns_want_read_until_the_response_head_is_complete();
    invalid_response_heads_are_refused_with_an_offset();
    a_response_head_above_256_kib_is_refused();
    parsing_a_head_in_pieces_takes_linear_time_with_a_parser_state();
    a_wrong_parser_state_never_changes_the_parsed_response();
    a_location_that_is_not_utf8_is_percent_encoded();
    a_2xx_response_to_connect_opens_a_tunnel_and_others_are_proxy_failures();
    responses_can_be_created_from_method_status_and_headers();
    body_framing_follows_method_status_and_header_fields();
    is_response_to_head_ignores_the_case_of_the_method();
    functions_on_null_responses_return_an_empty_value_or_null_argument();
    return report("response");
}
