/* Passes CR, LF and NUL in every text argument. Each call must either refuse these bytes or keep them out of every
 * output. */
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#define NETLIB_DEPRECATED_NOTE(note)
#include "harness.h"

/* Set if an output contains CR, LF or NUL. */
static bool leaked;

static void check_output(const char *out, size_t len) {
    if (out == NULL) return;
    if (memchr(out, '\r', len) != NULL || memchr(out, '\n', len) != NULL || memchr(out, '\0', len) != NULL)
        leaked = true;
}

/* ---- headers ---- */

/* Creates the headers of the options, checks their wire format without the final CRLF, and returns the status. */
static netlib_status check_headers(netlib_headers_options *options) {
    netlib_headers *headers = NULL;
    netlib_status status = netlib_make_headers(options, &headers, NULL);
    size_t len = 0;
    const char *wire = netlib_headers_to_wire(headers, &len);
    if (wire != NULL && len >= 2) check_output(wire, len - 2);
    netlib_headers_free(headers);
    netlib_headers_options_free(options);
    return status;
}

#define SETTER(name, call) \
    static netlib_status name(const char *text, size_t len) { \
        (void)len; \
        netlib_headers_options *options = netlib_headers_options_new(); \
        call; \
        return check_headers(options); \
    }
SETTER(accept_encoding, netlib_headers_options_set_accept_encoding(options, text))
SETTER(add_accept_encoding, netlib_headers_options_add_accept_encoding(options, text))
SETTER(supported_coding, netlib_headers_options_add_supported_coding(options, text);
       netlib_headers_options_enable_accept_encoding(options, 1))
SETTER(user_agent, netlib_headers_options_set_user_agent(options, text))
SETTER(basic_auth, netlib_headers_options_set_basic_auth(options, text))
SETTER(proxy_basic_auth, netlib_headers_options_set_proxy_basic_auth(options, text))
SETTER(header_name, netlib_headers_options_add_header(options, text, "value"))
SETTER(header_value, netlib_headers_options_add_header(options, "Name", text))

/* ---- responses ---- */

static netlib_status check_response(netlib_status status, netlib_response *response) {
    size_t len = 0;
    const char *text = netlib_response_request_method(response, &len);
    check_output(text, len);
    text = netlib_response_reason(response, &len);
    check_output(text, len);
    text = netlib_response_redirect_location(response, &len);
    check_output(text, len);
    const netlib_headers *headers = netlib_response_headers(response);
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        text = netlib_headers_name(headers, i, &len);
        check_output(text, len);
        text = netlib_headers_value(headers, i, &len);
        check_output(text, len);
    }
    netlib_response_free(response);
    return status;
}

static netlib_status response_method(const char *text, size_t len) {
    (void)len;
    netlib_headers *headers = NULL;
    CHECK(netlib_make_headers(NULL, &headers, NULL) == NETLIB_OK);
    netlib_response *response = NULL;
    netlib_status status = netlib_response_new(text, 200, headers, &response, NULL);
    netlib_headers_free(headers);
    return check_response(status, response);
}

static netlib_status parsed(const char *method, const char *before, const char *text, size_t len, const char *after) {
    char head[256];
    size_t used = strlen(before);
    memcpy(head, before, used);
    memcpy(head + used, text, len);
    memcpy(head + used + len, after, strlen(after));
    netlib_response *response = NULL;
    size_t head_len = 0;
    netlib_status status =
        netlib_response_parse(method, head, used + len + strlen(after), NULL, &response, &head_len, NULL);
    return check_response(status, response);
}

static netlib_status parse_method(const char *text, size_t len) {
    (void)len;
    return parsed(text, "", "", 0, "HTTP/1.1 200 OK\r\n\r\n");
}
static netlib_status parse_reason(const char *text, size_t len) {
    return parsed("GET", "HTTP/1.1 200 ", text, len, "\r\n\r\n");
}
static netlib_status parse_name(const char *text, size_t len) {
    return parsed("GET", "HTTP/1.1 200 OK\r\n", text, len, ": value\r\n\r\n");
}
static netlib_status parse_value(const char *text, size_t len) {
    return parsed("GET", "HTTP/1.1 302 OK\r\nLocation: ", text, len, "\r\n\r\n");
}

/* ---- URLs ---- */

static netlib_status check_url(netlib_status status, netlib_url *url) {
    const char *(*const parts[])(const netlib_url *, size_t *) = {
        netlib_url_scheme,   netlib_url_auth,      netlib_url_host,   netlib_url_path,        netlib_url_query,
        netlib_url_fragment, netlib_url_authority, netlib_url_netloc, netlib_url_request_uri, netlib_url_to_string};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t len = 0;
        const char *text = parts[i](url, &len);
        check_output(text, len);
    }
    netlib_url_free(url);
    return status;
}

#define PART(name, scheme, auth, host, path, query, fragment) \
    static netlib_status name(const char *text, size_t len) { \
        (void)len; \
        netlib_url *url = NULL; \
        netlib_status status = netlib_url_new(scheme, auth, host, -1, path, query, fragment, &url, NULL); \
        return check_url(status, url); \
    }
PART(url_scheme, text, NULL, "h", NULL, NULL, NULL)
PART(url_auth, "http", text, "h", NULL, NULL, NULL)
PART(url_host, "http", NULL, text, NULL, NULL, NULL)
PART(url_path, "http", NULL, "h", text, NULL, NULL)
PART(url_query, "http", NULL, "h", "/", text, NULL)
PART(url_fragment, "http", NULL, "h", "/", NULL, text)

static netlib_status url_text(const char *text, size_t len) {
    netlib_url *url = NULL;
    netlib_status status = netlib_parse_url(text, len, &url, NULL);
    return check_url(status, url);
}
static netlib_status url_in_path(const char *text, size_t len) {
    char whole[64] = "http://h/";
    memcpy(whole + 9, text, len);
    return url_text(whole, 9 + len);
}
static netlib_status url_in_host(const char *text, size_t len) {
    char whole[64] = "http://";
    memcpy(whole + 7, text, len);
    return url_text(whole, 7 + len);
}
static netlib_status url_as_http(const char *text, size_t len) {
    netlib_url *url = NULL;
    netlib_status status = netlib_get_host(text, len, &url, NULL);
    return check_url(status, url);
}
static netlib_status reference(const char *text, size_t len) {
    netlib_url *base = NULL, *url = NULL;
    CHECK(netlib_parse_url("http://h/a", NETLIB_NTS, &base, NULL) == NETLIB_OK);
    netlib_status status = netlib_url_resolve(base, text, len, &url, NULL);
    netlib_url_free(base);
    return check_url(status, url);
}

/* ---- hosts ---- */

static netlib_status connect_host(const char *text, size_t len) {
    (void)len;
    int fd = -1;
    return netlib_create_connection(text, 1, NULL, NULL, &fd, NULL);
}
static netlib_status source_host(const char *text, size_t len) {
    (void)len;
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_source_address(options, text, 0);
    int fd = -1;
    netlib_status status = netlib_create_connection("127.0.0.1", 1, options, NULL, &fd, NULL);
    netlib_connect_options_free(options);
    return status;
}
static netlib_tls_context *context;
static netlib_status server_hostname(const char *text, size_t len) {
    (void)len;
    netlib_stream *stream = NULL;
    netlib_status status = netlib_tls_wrap_fd(context, 0, text, &stream, NULL);
    netlib_stream_free(stream);
    return status;
}

/* ---- retry policies ---- */

static netlib_status create_retry(netlib_retry_options *options) {
    netlib_retry *retry = NULL;
    netlib_status status = netlib_retry_new(options, &retry, NULL);
    netlib_retry_free(retry);
    netlib_retry_options_free(options);
    return status;
}
static netlib_status allowed_method(const char *text, size_t len) {
    (void)len;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_allowed_methods(options, &text, 1);
    return create_retry(options);
}
static netlib_status method_whitelist(const char *text, size_t len) {
    (void)len;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_method_whitelist(options, &text, 1);
    return create_retry(options);
}
static netlib_status removed_header(const char *text, size_t len) {
    (void)len;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_remove_headers_on_redirect(options, &text, 1);
    return create_retry(options);
}
/* Checks the method that a decision returns for the next request. */
static netlib_status decision_method(const char *text, size_t len) {
    (void)len;
    netlib_url *url = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    CHECK(netlib_parse_url("http://h/", NETLIB_NTS, &url, NULL) == NETLIB_OK);
    CHECK(netlib_response_parse("GET", "HTTP/1.1 302 x\r\nLocation: /\r\n\r\n", NETLIB_NTS, NULL, &response, &head_len,
                                NULL) == NETLIB_OK);
    netlib_decision *decision = NULL;
    netlib_status status =
        netlib_retry_decide(netlib_retry_resolve(NULL, NULL), text, url, response, NULL, NULL, &decision, NULL);
    size_t out = 0;
    const char *method = netlib_decision_method(decision, &out);
    check_output(method, out);
    netlib_decision_free(decision);
    netlib_response_free(response);
    netlib_url_free(url);
    return status;
}

/* ---- errors: the message is one line ---- */

static netlib_status error_message(const char *text, size_t len) {
    (void)len;
    netlib_error *error = NULL;
    netlib_status status = netlib_error_new(NETLIB_IO, text, NULL, &error, NULL);
    size_t out = 0;
    const char *message = netlib_error_message(error, &out);
    check_output(message, out);
    netlib_error_free(error);
    return status;
}

enum { REFUSED, HARMLESS };

static void cr_lf_and_nul_in_an_argument_reach_no_output(void) {
    static const struct {
        const char *what;
        netlib_status (*build)(const char *text, size_t len);
        int outcome;
        bool takes_length; /* takes a length, so the text can contain NUL */
    } rows[] = {
        {"set_accept_encoding", accept_encoding, REFUSED, false},
        {"add_accept_encoding", add_accept_encoding, REFUSED, false},
        {"add_supported_coding", supported_coding, REFUSED, false},
        {"set_user_agent", user_agent, REFUSED, false},
        {"set_basic_auth", basic_auth, HARMLESS, false}, /* in base64 */
        {"set_proxy_basic_auth", proxy_basic_auth, HARMLESS, false},
        {"add_header, name", header_name, REFUSED, false},
        {"add_header, value", header_value, REFUSED, false},
        {"response_new, method", response_method, REFUSED, false},
        {"response_parse, method", parse_method, REFUSED, false},
        {"response_parse, reason", parse_reason, HARMLESS, true}, /* LF ends the line */
        {"response_parse, name", parse_name, HARMLESS, true},
        {"response_parse, value", parse_value, HARMLESS, true},
        {"url_new, scheme", url_scheme, REFUSED, false},
        {"url_new, auth", url_auth, HARMLESS, false}, /* percent-encoded, as in urllib3 */
        {"url_new, host", url_host, REFUSED, false},
        {"url_new, path", url_path, HARMLESS, false},
        {"url_new, query", url_query, HARMLESS, false},
        {"url_new, fragment", url_fragment, HARMLESS, false},
        {"parse_url", url_text, HARMLESS, true},
        {"parse_url, in the path", url_in_path, HARMLESS, true},
        {"parse_url, in the host", url_in_host, HARMLESS, true},
        {"get_host", url_as_http, HARMLESS, true},
        {"url_resolve", reference, HARMLESS, true},
        {"create_connection, host", connect_host, REFUSED, false},
        {"set_source_address, host", source_host, REFUSED, false},
        {"tls_wrap_fd, server_hostname", server_hostname, REFUSED, false},
        {"set_allowed_methods", allowed_method, REFUSED, false},
        {"set_method_whitelist", method_whitelist, REFUSED, false},
        {"set_remove_headers_on_redirect", removed_header, REFUSED, false},
        {"retry_decide, method", decision_method, REFUSED, false},
        {"error_new, message", error_message, HARMLESS, false},
    };
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {{"\r", 1},           {"\n", 1},    {"\r\n", 2}, {"\n\r", 2},
               {"\r\nX: y\r\n", 8}, {"\r\n ", 3}, {"\0", 1},   {"\0\r\n", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        /* Every function must accept the text "ab", into which the loop below inserts CR, LF and NUL. `connect_host`
         * and `source_host` are left out, because "ab" is a valid host name and would start a lookup. */
        if (rows[i].build != connect_host && rows[i].build != source_host) {
            netlib_status good = rows[i].build("ab", 2);
            if (good != NETLIB_OK) fprintf(stderr, "%s: good text: %s\n", rows[i].what, netlib_status_name(good));
            CHECK(good == NETLIB_OK && !leaked);
        }
        for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
            bool with_nul = memchr(bad[b].bytes, '\0', bad[b].len) != NULL;
            if (with_nul && !rows[i].takes_length) continue;
            for (size_t at = 0; at <= 2; at++) {
                char text[16] = "ab";
                memmove(text + at + bad[b].len, text + at, 2 - at);
                memcpy(text + at, bad[b].bytes, bad[b].len);
                text[2 + bad[b].len] = '\0';
                leaked = false;
                netlib_status status = rows[i].build(text, 2 + bad[b].len);
                int32_t class = netlib_status_class(status);
                bool refused =
                    class == NETLIB_CLASS_ARGUMENT || class == NETLIB_CLASS_URL || class == NETLIB_CLASS_HTTP;
                bool fine = !leaked && (refused || rows[i].outcome == HARMLESS);
                if (!fine)
                    fprintf(stderr, "%s, bytes %zu at %zu: %s\n", rows[i].what, b, at, netlib_status_name(status));
                CHECK(fine);
            }
        }
    }
}

int main(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_check_hostname(options, 0);
    CHECK(netlib_tls_context_new(options, &context, NULL) == NETLIB_OK);
    netlib_tls_options_free(options);
    cr_lf_and_nul_in_an_argument_reach_no_output();
    netlib_tls_context_free(context);
    return report("injection");
}
