/* Fuzzes netlib_request_new, and checks each head that it makes with a strict parser in this file. A head must have one
 * request line with the method and the target, then Host once, then exactly the given fields, then the empty line. */
#include "../fuzz.h"

/* The input: a byte that selects one of three common methods or the method that follows; a method up to a LF; the URL
 * up to a LF; then lines "name:value". */
struct parts {
    uint8_t choice;
    char *method;
    netlib_url *url;
    netlib_headers *headers;
};

static netlib_headers *make_headers(struct input *input) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    while (input->len > 0) {
        struct input line = take_until(input, '\n');
        struct input name = take_until(&line, ':');
        char *text[2] = {c_string(name.data, name.len), c_string(line.data, line.len)};
        netlib_headers_options_add_header(options, text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
    (void)ONE_OF(netlib_make_headers(options, &headers, &err), 1 << 24, NETLIB_INVALID_HEADER);
    netlib_headers_options_free(options);
    return headers;
}

/* Compares the next bytes with `text`, and skips them. */
static void expect(const char **at, const char *text) {
    size_t len = strlen(text);
    MUST(strncmp(*at, text, len) == 0);
    *at += len;
}

/* Returns the length of the line, which must end with CRLF and contain no other CR, LF or NUL. */
static size_t line_len(const char *at) {
    size_t len = strcspn(at, "\r\n");
    MUST(at[len] == '\r' && at[len + 1] == '\n');
    return len;
}

static bool is_host(const char *name, size_t len) {
    static const char host[] = "host";
    if (len != 4) return false;
    for (size_t i = 0; i < 4; i++) {
        if ((name[i] | 0x20) != host[i]) return false;
    }
    return true;
}

/* Checks that the request target has the form `form`, and contains no byte that would end the target, no fragment and
 * no userinfo. */
static void check_target(const struct parts *parts, enum netlib_request_form form, const char *target, size_t len) {
    MUST(len > 0);
    for (size_t i = 0; i < len; i++) MUST(target[i] > ' ' && target[i] < 0x7f && target[i] != '#' && target[i] != '\\');
    size_t uri_len = 0;
    const char *uri = netlib_url_request_uri(parts->url, &uri_len), *path = memchr(target, '/', len);
    switch (form) {
    case NETLIB_REQUEST_FORM_ORIGIN: MUST(len == uri_len && memcmp(target, uri, len) == 0); break;
    case NETLIB_REQUEST_FORM_ABSOLUTE:
        MUST(path != NULL && path[1] == '/' && path[-1] == ':');
        path = memchr(path + 2, '/', len - (size_t)(path + 2 - target));
        MUST(path != NULL && memchr(target, '@', (size_t)(path - target)) == NULL);
        MUST(len - (size_t)(path - target) == uri_len && memcmp(path, uri, uri_len) == 0);
        break;
    case NETLIB_REQUEST_FORM_AUTHORITY: {
        size_t port = len;
        while (port > 0 && target[port - 1] >= '0' && target[port - 1] <= '9') port--;
        MUST(port < len && port > 1 && target[port - 1] == ':');
        MUST(memchr(target, '@', len) == NULL && memchr(target, '/', len) == NULL && memchr(target, '?', len) == NULL);
        MUST(strtol(target + port, NULL, 10) == netlib_url_port_or_default(parts->url));
        break;
    }
    case NETLIB_REQUEST_FORM_ASTERISK: MUST(len == 1 && target[0] == '*'); break;
    }
}

static void check_head(const struct parts *parts, enum netlib_request_form form, const char *head, size_t head_len) {
    const char *at = head;
    MUST(strlen(head) == head_len && head_len > 4);
    size_t len = line_len(at);
    const char *end = at + len;
    expect(&at, parts->method);
    MUST(strcspn(parts->method, " \t\r\n:/") == strlen(parts->method));
    expect(&at, " ");
    size_t target_len = strcspn(at, " ");
    check_target(parts, form, at, target_len);
    at += target_len;
    expect(&at, " HTTP/1.1");
    MUST(at == end);
    expect(&at, "\r\n");

    /* The first field is Host, and its value has no byte that could begin another component of a URL. */
    len = line_len(at);
    MUST(len > 6 && is_host(at, 4) && at[4] == ':' && at[5] == ' ');
    for (size_t i = 6; i < len; i++) MUST(at[i] > ' ' && at[i] < 0x7f && strchr("@/?#\\\"<>", at[i]) == NULL);
    at += len;
    expect(&at, "\r\n");

    size_t lengths = 0, encodings = 0, count = parts->headers != NULL ? netlib_headers_count(parts->headers) : 0;
    for (size_t i = 0; i < count; i++) {
        size_t name_len = 0;
        const char *name = netlib_headers_name(parts->headers, i, &name_len);
        if (is_host(name, name_len)) continue;
        expect(&at, name);
        expect(&at, ": ");
        const char *value = netlib_headers_value(parts->headers, i, NULL);
        for (size_t j = 0; value[j] != 0; j++) MUST(value[j] == '\t' || ((value[j] & 0xe0) != 0 && value[j] != 0x7f));
        expect(&at, value);
        expect(&at, "\r\n");
    }
    expect(&at, "\r\n");
    MUST(*at == 0);
    if (parts->headers == NULL) return;
    MUST(netlib_headers_get_count(parts->headers, "host") <= 1);
    lengths = netlib_headers_get_count(parts->headers, "content-length");
    encodings = netlib_headers_get_count(parts->headers, "transfer-encoding");
    MUST(lengths + encodings <= 1);
    if (form == NETLIB_REQUEST_FORM_AUTHORITY) MUST(lengths == 0 && encodings == 0);
    if (lengths == 1) {
        const char *digits = netlib_headers_get(parts->headers, "content-length", NULL);
        MUST(digits[0] != 0 && strspn(digits, "0123456789") == strlen(digits));
    }
}

static void check_request(const struct parts *parts, enum netlib_request_form form) {
    netlib_error *err = NULL;
    netlib_request *request = NULL;
    size_t len = 0;
    netlib_status status = ONE_OF(netlib_request_new(parts->method, parts->url, parts->headers, form, &request, &err),
                                  1 << 24, NETLIB_INVALID_ARGUMENT, NETLIB_INVALID_URL, NETLIB_INVALID_HEADER);
    MUST((request != NULL) == (status == NETLIB_OK));
    if (status == NETLIB_OK) {
        MUST((strcmp(parts->method, "CONNECT") == 0) == (form == NETLIB_REQUEST_FORM_AUTHORITY));
        MUST(form != NETLIB_REQUEST_FORM_ASTERISK || strcmp(parts->method, "OPTIONS") == 0);
        const char *head = netlib_request_to_wire(request, &len);
        check_head(parts, form, head, len);
    }
    netlib_request_free(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const methods[] = {NULL, "GET", "CONNECT", "OPTIONS"};
    netlib_error *err = NULL;
    struct input input = {data, size};
    struct parts parts = {.choice = take_byte(&input)};
    struct input method = take_until(&input, '\n'), url = take_until(&input, '\n');
    const char *common = methods[parts.choice % 4];
    parts.method = common != NULL ? c_string(common, strlen(common)) : c_string(method.data, method.len);
    netlib_status status = ONE_OF(netlib_parse_url((const char *)url.data, url.len, &parts.url, &err), url.len,
                                  NETLIB_INVALID_URL, NETLIB_INVALID_UTF8);
    if (status == NETLIB_OK) {
        parts.headers = make_headers(&input);
        for (int form = NETLIB_REQUEST_FORM_ORIGIN; form <= NETLIB_REQUEST_FORM_ASTERISK; form++) {
            check_request(&parts, (enum netlib_request_form)form);
        }
    }
    netlib_headers_free(parts.headers);
    netlib_url_free(parts.url);
    free(parts.method);
    return 0;
}
