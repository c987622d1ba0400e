/* Fuzzes the parsers of header blocks and of response heads. The parsers of response heads receive the input in pieces
 * of any size. One parser skips interim responses, and one parser does not. */
#include "../fuzz.h"

static netlib_retry *retry;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    netlib_error *err = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, fixed_clock, NULL, NULL);
    OK(netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    return 0;
}

static void check_headers(const netlib_headers *headers) {
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        size_t len = 0;
        const char *name = netlib_headers_name(headers, i, &len);
        check_text(name, len);
        MUST(len > 0 && strpbrk(name, " \t:\"(),/;<=>?@[\\]{}") == NULL);
        const char *value = netlib_headers_value(headers, i, &len);
        check_text(value, len);
        MUST(netlib_headers_get(headers, name, NULL) != NULL && netlib_headers_get_count(headers, name) > 0);
    }
}

/* Serialises a parsed head and parses the resulting text. Both parsed heads must have the same headers. */
static void round_trip(const netlib_response *response) {
    netlib_error *err = NULL;
    netlib_response *again = NULL;
    size_t wire_len = 0, head_len = 0;
    const netlib_headers *headers = netlib_response_headers(response);
    const char *wire = netlib_headers_to_wire(headers, &wire_len), *reason = netlib_response_reason(response, NULL);
    if (wire == NULL || wire_len > 100000) return;
    size_t room = wire_len + strlen(reason) + 40;
    char *text = malloc(room);
    MUST(text != NULL);
    int len = snprintf(text, room, "HTTP/1.%d %d %s\r\n%s\r\n", netlib_response_minor_version(response),
                       netlib_response_status(response), reason, wire);
    MUST(len > 0 && (size_t)len < room);
    OK(netlib_response_parse(netlib_response_request_method(response, NULL), text, (size_t)len, NULL, &again, &head_len,
                             &err));
    MUST(head_len == (size_t)len);
    const netlib_headers *same = netlib_response_headers(again);
    MUST(netlib_headers_count(same) == netlib_headers_count(headers));
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        MUST(strcmp(netlib_headers_name(same, i, NULL), netlib_headers_name(headers, i, NULL)) == 0);
        MUST(strcmp(netlib_headers_value(same, i, NULL), netlib_headers_value(headers, i, NULL)) == 0);
    }
    netlib_response_free(again);
    free(text);
}

/* Checks that every coding begins with a token, and that every quoted string has a closing quote. netlib refuses other
 * values, because another parser could find the coding "chunked" in them. */
static void check_codings(const netlib_headers *headers) {
    for (size_t i = 0; i < netlib_headers_get_count(headers, "transfer-encoding"); i++) {
        const char *at = netlib_headers_get_at(headers, "transfer-encoding", i, NULL);
        for (;; at++) {
            at += strspn(at, " \t");
            size_t name = strcspn(at, " \t,;\"");
            MUST(name > 0 && at[name] != '"');
            at += name + strspn(at + name, " \t");
            MUST(strchr(",;", *at) != NULL); /* strchr also finds the terminating NUL */
            for (int quoted = 0; *at != '\0' && (*at != ',' || quoted); at++) {
                if (*at == '"') quoted = !quoted;
                if (quoted && *at == '\\') at++;
                MUST(*at != '\0' && !(quoted && at[1] == '\0'));
            }
            if (*at == '\0') break;
        }
    }
}

static void check_framing(const netlib_response *response) {
    netlib_error *err = NULL;
    enum netlib_body_framing framing = NETLIB_BODY_FRAMING_NONE;
    int64_t length = -2;
    const char *method = netlib_response_request_method(response, NULL);
    int32_t status = netlib_response_status(response);
    if (ONE_OF(netlib_response_framing(response, &framing, &length, &err), 0, NETLIB_PROTOCOL) != NETLIB_OK) return;
    MUST(framing <= NETLIB_BODY_FRAMING_UNTIL_CLOSE);
    MUST(framing == NETLIB_BODY_FRAMING_LENGTH ? length >= 0 : length == -1);
    int no_body = status < 200 || status == 204 || status == 304 || strcmp(method, "HEAD") == 0 ||
                  (strcmp(method, "CONNECT") == 0 && status < 300);
    MUST((framing == NETLIB_BODY_FRAMING_NONE) == no_body);
    if (framing == NETLIB_BODY_FRAMING_CHUNKED || framing == NETLIB_BODY_FRAMING_UNTIL_CLOSE) {
        check_codings(netlib_response_headers(response));
    }
}

static void check_response(const netlib_response *response) {
    netlib_error *err = NULL;
    enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
    double seconds = 0, uncapped = 0;
    size_t len = 0;
    MUST(netlib_response_status(response) >= 100 && netlib_response_status(response) <= 999);
    MUST(netlib_response_minor_version(response) == 0 || netlib_response_minor_version(response) == 1);
    check_headers(netlib_response_headers(response));
    const char *location = netlib_response_redirect_location(response, &len);
    check_text(location, len);
    check_framing(response);
    if (ONE_OF(netlib_retry_get_retry_after(retry, response, &seconds, &err), 1000000, NETLIB_INVALID_HEADER) ==
        NETLIB_OK) {
        MUST(seconds == -1.0 || (seconds >= 0 && seconds <= 21600));
    }
    ONE_OF(netlib_retry_delay(retry, response, &seconds, &reason, &uncapped, &err), 1000000, NETLIB_INVALID_HEADER);
    round_trip(response);
}

/* Finds the final response with netlib_response_parse, and compares the result with netlib_response_parse_final, which
 * receives the input whole and in pieces. */
static void check_final(const char *method, const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_response *found = NULL, *response = NULL;
    netlib_status expected = NETLIB_OK;
    size_t start = 0, skipped = 0, head_len = 0;
    if (size > 256 * 1024) return;
    for (;; skipped++) {
        expected = ONE_OF(
            netlib_response_parse(method, (const char *)data + start, size - start, NULL, &found, &head_len, &err),
            size - start, NETLIB_WANT_READ, NETLIB_PROTOCOL);
        start += head_len;
        int32_t status = netlib_response_status(found);
        if (expected != NETLIB_OK || status >= 200 || status == 101) break;
        netlib_response_free(found);
        found = NULL;
        if (skipped == 16) expected = NETLIB_PROTOCOL;
        if (skipped == 16) break;
    }
    size_t step = size / 16 + 1, end = 0;
    uint64_t state = 0;
    netlib_status status = NETLIB_WANT_READ;
    while (status == NETLIB_WANT_READ && end < size) {
        end = end + step < size ? end + step : size;
        uint8_t *part = exact(data, end);
        status =
            ONE_OF(netlib_response_parse_final(method, (const char *)part, end, &state, &response, &head_len, &err),
                   end, NETLIB_WANT_READ, NETLIB_PROTOCOL);
        MUST(state == 0 || status == NETLIB_WANT_READ);
        free(part);
    }
    MUST(status == expected);
    MUST((response == NULL) == (found == NULL));
    if (found != NULL) {
        MUST(head_len == start && netlib_response_status(response) == netlib_response_status(found));
        MUST(same_text(netlib_headers_to_wire(netlib_response_headers(response), NULL),
                       netlib_headers_to_wire(netlib_response_headers(found), NULL)));
    }
    netlib_response_free(response);
    memcpy(&state, data, size < sizeof state ? size : sizeof state);
    if (ONE_OF(netlib_response_parse_final(method, (const char *)data, size, &state, &response, &head_len, &err), size,
               NETLIB_WANT_READ, NETLIB_PROTOCOL, NETLIB_INVALID_ARGUMENT) == NETLIB_OK) {
        MUST(expected == NETLIB_OK && head_len == start);
    }
    netlib_response_free(response);
    netlib_response_free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const methods[] = {"GET", "HEAD", "CONNECT"};
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    const char *method = methods[size % 3];
    netlib_status whole =
        ONE_OF(netlib_response_parse(method, (const char *)data, size, NULL, &response, &head_len, &err), size,
               NETLIB_WANT_READ, NETLIB_PROTOCOL);
    if (whole == NETLIB_OK) {
        MUST(head_len > 0 && head_len <= size);
        check_response(response);
    }
    netlib_response_free(response);

    /* A prefix of the input gives the same result as the whole input, or NETLIB_WANT_READ. A complete head never gives
     * NETLIB_WANT_READ, and an incomplete one never succeeds. */
    size_t step = size / 24 + 1;
    uint64_t state = 0;
    for (size_t n = size % step; n < size; n += step) {
        uint8_t *part = exact(data, n);
        size_t part_len = 0;
        netlib_status status =
            ONE_OF(netlib_response_parse(method, (const char *)part, n, NULL, &response, &part_len, &err), n,
                   NETLIB_WANT_READ, NETLIB_PROTOCOL);
        netlib_response *further = NULL;
        size_t further_len = 0;
        MUST(ONE_OF(netlib_response_parse(method, (const char *)part, n, &state, &further, &further_len, &err), n,
                    NETLIB_WANT_READ, NETLIB_PROTOCOL) == status);
        MUST(further_len == part_len && (further == NULL) == (response == NULL));
        MUST(state == 0 || status == NETLIB_WANT_READ);
        netlib_response_free(further);
        if (whole == NETLIB_OK) MUST(status == (n < head_len ? NETLIB_WANT_READ : NETLIB_OK));
        if (whole == NETLIB_OK && status == NETLIB_OK) MUST(part_len == head_len);
        if (whole != NETLIB_OK) MUST(status == NETLIB_WANT_READ || status == whole);
        netlib_response_free(response);
        free(part);
    }
    /* A wrong value of the parser's state is refused, or has no effect on the result. */
    memcpy(&state, data, size < sizeof state ? size : sizeof state);
    state &= size % 2 == 0 ? 0x3fffffffff : UINT64_MAX;
    size_t other_len = 0;
    if (ONE_OF(netlib_response_parse(method, (const char *)data, size, &state, &response, &other_len, &err), size,
               NETLIB_WANT_READ, NETLIB_PROTOCOL, NETLIB_INVALID_ARGUMENT) == NETLIB_OK) {
        MUST(whole == NETLIB_OK && other_len == head_len);
    }
    netlib_response_free(response);
    check_final(method, data, size);
    ONE_OF(netlib_assert_header_parsing((const char *)data, size, &err), size, NETLIB_HEADER_PARSING);
    return 0;
}
