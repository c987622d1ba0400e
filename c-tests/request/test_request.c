/* Tests netlib_request_new: the request heads that it makes, and the requests that it refuses. */
#include "harness.h"

struct field {
    const char *name, *value;
};

static netlib_headers *make_headers(const struct field *fields) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    for (; fields->name != NULL; fields++) netlib_headers_options_add_header(options, fields->name, fields->value);
    CHECK_OK(netlib_make_headers(options, &headers, &err));
    netlib_headers_options_free(options);
    return headers;
}

static netlib_url *make_url(const char *text) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_parse_url(text, NETLIB_NTS, &url, &err));
    return url;
}

static void each_request_form_has_its_target_and_begins_its_fields_with_host(void) {
    static const struct {
        const char *method, *url;
        struct field fields[3];
        enum netlib_request_form form;
        const char *head;
    } rows[] = {
        {"GET", "http://h", {{NULL, NULL}}, NETLIB_REQUEST_FORM_ORIGIN, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"GET",
         "https://u:p@H:8443/a b?c#d",
         {{"A", "b"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         "GET /a%20b?c HTTP/1.1\r\nHost: h:8443\r\nA: b\r\n\r\n"},
        {"GET",
         "http://h",
         {{"A", "b"}, {"host", "x.test:1"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         "GET / HTTP/1.1\r\nhost: x.test:1\r\nA: b\r\n\r\n"},
        {"GET",
         "http://[fe80::1%25eth0]/",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ORIGIN,
         "GET / HTTP/1.1\r\nHost: [fe80::1]\r\n\r\n"},
        {"POST",
         "h/a",
         {{"Content-Length", "5"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"},
        {"POST",
         "h/a",
         {{"Transfer-Encoding", "chunked"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {"GET",
         "http://u:p@h:81/a?b#c",
         {{"Proxy-Authorization", "Basic YTpi"}},
         NETLIB_REQUEST_FORM_ABSOLUTE,
         "GET http://h:81/a?b HTTP/1.1\r\nHost: h:81\r\nProxy-Authorization: Basic YTpi\r\n\r\n"},
        {"GET", "h", {{"Host", "H"}}, NETLIB_REQUEST_FORM_ABSOLUTE, "GET http://h/ HTTP/1.1\r\nHost: H\r\n\r\n"},
        {"CONNECT",
         "https://u:p@h/a?b",
         {{"Proxy-Authorization", "Basic YTpi"}},
         NETLIB_REQUEST_FORM_AUTHORITY,
         "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic YTpi\r\n\r\n"},
        {"CONNECT",
         "https://[::1]:8443",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_AUTHORITY,
         "CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n"},
        {"OPTIONS",
         "http://h:81/a?b",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ASTERISK,
         "OPTIONS * HTTP/1.1\r\nHost: h:81\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_request *request = NULL;
        netlib_url *url = make_url(rows[i].url);
        netlib_headers *headers = make_headers(rows[i].fields);
        size_t len = 99;
        CHECK_OK(netlib_request_new(rows[i].method, url, headers, rows[i].form, &request, &err));
        netlib_url_free(url);
        netlib_headers_free(headers);
        CHECK_STR(rows[i].head, netlib_request_to_wire(request, &len));
        CHECK_INT((long long)strlen(rows[i].head), (long long)len);
        netlib_request *again = netlib_request_clone(request);
        netlib_request_free(request);
        CHECK_STR(rows[i].head, netlib_request_to_wire(again, NULL));
        netlib_request_free(again);
    }
}

static void malformed_and_ambiguous_requests_are_refused(void) {
    static const struct {
        const char *method, *url;
        struct field fields[3];
        enum netlib_request_form form;
        netlib_status status;
        int64_t offset;
        const char *message;
    } rows[] = {
        {"", "http://h", {{NULL, NULL}}, NETLIB_REQUEST_FORM_ORIGIN, NETLIB_INVALID_ARGUMENT, 0, "method is empty"},
        {"GET / HTTP/1.1\r\nA: ",
         "http://h",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_ARGUMENT,
         3,
         "method: a space is not allowed at byte 3"},
        {"\xc3\xa9",
         "http://h",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_ARGUMENT,
         0,
         "method is not ASCII at byte 0"},
        {"CONNECT",
         "http://h",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ABSOLUTE,
         NETLIB_INVALID_ARGUMENT,
         -1,
         "the method CONNECT needs the authority form"},
        {"GET",
         "http://h",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_AUTHORITY,
         NETLIB_INVALID_ARGUMENT,
         -1,
         "the authority form needs the method CONNECT"},
        {"GET",
         "http://h",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ASTERISK,
         NETLIB_INVALID_ARGUMENT,
         -1,
         "the asterisk form needs the method OPTIONS"},
        {"GET",
         "http://h",
         {{NULL, NULL}},
         (enum netlib_request_form)4,
         NETLIB_INVALID_ARGUMENT,
         -1,
         "form must be a netlib_request_form; it is 4"},
        {"GET",
         "/a",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_URL,
         -1,
         "neither the URL nor the headers have a host, which HTTP/1.1 requires"},
        {"GET",
         "/a",
         {{"Host", "h"}},
         NETLIB_REQUEST_FORM_ABSOLUTE,
         NETLIB_INVALID_URL,
         -1,
         "the absolute form needs a URL with a host"},
        {"CONNECT",
         "ssh://h",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_AUTHORITY,
         NETLIB_INVALID_URL,
         -1,
         "the authority form needs a URL with a port: its scheme has no default port"},
        {"CONNECT",
         "http://h:0",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_AUTHORITY,
         NETLIB_INVALID_URL,
         -1,
         "the authority form needs a URL with a port other than 0"},
        {"GET",
         "x://h/a b",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_URL,
         2,
         "the request target: a space is not allowed at byte 2"},
        {"GET",
         "x://h\xc3\xa9/",
         {{NULL, NULL}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_URL,
         1,
         "the URL's host: byte 0xc3 is not allowed at byte 1"},
        {"GET",
         "http://h",
         {{"Host", "a"}, {"host", "a"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header Host: there are several fields"},
        {"GET",
         "http://h",
         {{"Host", "secret@h"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         6,
         "header Host: \"@\" is not allowed in the value at byte 6"},
        {"GET",
         "http://h",
         {{"Host", "x"}},
         NETLIB_REQUEST_FORM_ABSOLUTE,
         NETLIB_INVALID_HEADER,
         -1,
         "header Host: the value differs from host and port of the request target"},
        {"POST",
         "http://h",
         {{"Content-Length", "1"}, {"content-length", "2"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header Content-Length: there are several fields"},
        {"POST",
         "http://h",
         {{"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header Content-Length: not allowed together with Transfer-Encoding"},
        {"POST",
         "http://h",
         {{"Content-Length", "0x5"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header content-length: \"0x5\" is not a number"},
        {"POST",
         "http://h",
         {{"Transfer-Encoding", "gzip"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header Transfer-Encoding: chunked must be the last coding of a request"},
        {"POST",
         "http://h",
         {{"Transfer-Encoding", "gzip"}, {"Transfer-Encoding", "chunked"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header Transfer-Encoding: there are several fields"},
        {"POST",
         "http://h",
         {{"Connection", "close, transfer-encoding"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         -1,
         "header Connection: the option Transfer-Encoding is not allowed"},
        {"GET",
         "http://h",
         {{"X-Key", "secret\x0bTransfer-Encoding: chunked"}},
         NETLIB_REQUEST_FORM_ORIGIN,
         NETLIB_INVALID_HEADER,
         6,
         "header X-Key: byte 0x0b is not allowed in the value at byte 6"},
        {"CONNECT",
         "https://h",
         {{"Content-Length", "0"}},
         NETLIB_REQUEST_FORM_AUTHORITY,
         NETLIB_INVALID_HEADER,
         -1,
         "header Content-Length: a CONNECT request has no body"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = make_url(rows[i].url);
        netlib_headers *headers = make_headers(rows[i].fields);
        netlib_request *request = (netlib_request *)headers;
        netlib_status status = netlib_request_new(rows[i].method, url, headers, rows[i].form, &request, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_INT(rows[i].status == NETLIB_INVALID_URL ? NETLIB_RETRY_KIND_OTHER : NETLIB_RETRY_KIND_NEVER,
                  netlib_error_retry_kind(err));
        CHECK_STATUS(rows[i].status, status);
        CHECK(request == NULL);
        netlib_url_free(url);
        netlib_headers_free(headers);
    }
}

static void a_request_that_is_made_without_headers_has_only_the_field_host(void) {
    netlib_error *err = NULL;
    netlib_request *request = NULL;
    netlib_url *url = make_url("http://h/a");
    CHECK_OK(netlib_request_new("DELETE", url, NULL, NETLIB_REQUEST_FORM_ORIGIN, &request, &err));
    CHECK_STR("DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n", netlib_request_to_wire(request, NULL));
    netlib_request_free(request);
    netlib_url_free(url);
}

static void functions_on_null_requests_return_null(void) {
    size_t len = 99;
    CHECK_STR(NULL, netlib_request_to_wire(NULL, &len));
    CHECK_INT(0, (long long)len);
    CHECK(netlib_request_clone(NULL) == NULL);
    netlib_request_free(NULL);
}

int main(void) {
    each_request_form_has_its_target_and_begins_its_fields_with_host();
    malformed_and_ambiguous_requests_are_refused();
    a_request_that_is_made_without_headers_has_only_the_field_host();
    functions_on_null_requests_return_null();
    return report("request");
}
