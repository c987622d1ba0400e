/* Response heads: what a peer sends, in pieces of any size; and the same bytes as a header block. */
#include "../fuzz.h"

static netlib_retry *retry;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    netlib_error *err = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, fixed_clock, NULL);
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

/* Written out by hand, the head is read as the same. */
static void there_and_back(const netlib_response *response) {
    netlib_error *err = NULL;
    netlib_response *again = NULL;
    size_t wire_len = 0, head_len = 0;
    const netlib_headers *headers = netlib_response_headers(response);
    const char *wire = netlib_headers_wire(headers, &wire_len), *reason = netlib_response_reason(response, NULL);
    if (wire == NULL || wire_len > 100000) return;
    size_t room = wire_len + strlen(reason) + 40;
    char *text = malloc(room);
    MUST(text != NULL);
    int len = snprintf(text, room, "HTTP/1.%d %d %s\r\n%s\r\n", netlib_response_minor_version(response),
                       netlib_response_status(response), reason, wire);
    MUST(len > 0 && (size_t)len < room);
    OK(netlib_response_parse(netlib_response_request_method(response, NULL), text, (size_t)len, &again, &head_len, &err));
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

static void check_response(const netlib_response *response) {
    netlib_error *err = NULL;
    int32_t framing = -1, reason = -1;
    int64_t length = -2;
    double seconds = 0, uncapped = 0;
    size_t len = 0;
    MUST(netlib_response_status(response) >= 100 && netlib_response_status(response) <= 999);
    MUST(netlib_response_minor_version(response) == 0 || netlib_response_minor_version(response) == 1);
    check_headers(netlib_response_headers(response));
    const char *location = netlib_response_redirect_location(response, &len);
    check_text(location, len);
    if (ONE_OF(netlib_response_framing(response, &framing, &length, &err), 0, NETLIB_PROTOCOL) == NETLIB_OK) {
        MUST(framing >= NETLIB_BODY_NONE && framing <= NETLIB_BODY_UNTIL_CLOSE);
        MUST(framing == NETLIB_BODY_LENGTH ? length >= 0 : length == -1);
    }
    if (ONE_OF(netlib_retry_get_retry_after(retry, response, &seconds, &err), 1000000, NETLIB_INVALID_HEADER) == NETLIB_OK) {
        MUST(seconds == -1.0 || (seconds >= 0 && seconds <= 21600));
    }
    ONE_OF(netlib_retry_delay(retry, response, &seconds, &reason, &uncapped, &err), 1000000, NETLIB_INVALID_HEADER);
    there_and_back(response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const methods[] = {"GET", "HEAD", "CONNECT"};
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    const char *method = methods[size % 3];
    netlib_status whole = ONE_OF(netlib_response_parse(method, (const char *)data, size, &response, &head_len, &err), size,
                                 NETLIB_WANT_READ, NETLIB_PROTOCOL);
    if (whole == NETLIB_OK) {
        MUST(head_len > 0 && head_len <= size);
        check_response(response);
    }
    netlib_response_free(response);

    /* With less of it the answer is the same, or that more is needed; with all of a head that is never needed, and
     * before it is complete it is never done. */
    size_t step = size / 24 + 1;
    for (size_t n = size % step; n < size; n += step) {
        uint8_t *part = exact(data, n);
        size_t part_len = 0;
        netlib_status status = ONE_OF(netlib_response_parse(method, (const char *)part, n, &response, &part_len, &err), n,
                                      NETLIB_WANT_READ, NETLIB_PROTOCOL);
        if (whole == NETLIB_OK) MUST(status == (n < head_len ? NETLIB_WANT_READ : NETLIB_OK));
        if (whole == NETLIB_OK && status == NETLIB_OK) MUST(part_len == head_len);
        if (whole != NETLIB_OK) MUST(status == NETLIB_WANT_READ || status == whole);
        netlib_response_free(response);
        free(part);
    }
    ONE_OF(netlib_assert_header_parsing((const char *)data, size, &err), size, NETLIB_HEADER_PARSING);
    return 0;
}
