/* Tests URLs: parsing, getters of the parts, resolving references, and origins. */
#include "harness.h"

/* Each row has the input and the expected result of each getter. NULL means that the part is absent. */
static const struct {
    const char *text, *scheme, *auth, *host;
    int32_t port;
    const char *path, *query, *fragment, *authority, *netloc, *request_uri, *url;
} parsed[] = {
    {"", NULL, NULL, NULL, -1, NULL, NULL, NULL, NULL, NULL, "/", ""},
    {"http://google.com/mail/", "http", NULL, "google.com", -1, "/mail/", NULL, NULL, "google.com", "google.com",
     "/mail/", "http://google.com/mail/"},
    {"google.com:80", NULL, NULL, "google.com", 80, NULL, NULL, NULL, "google.com:80", "google.com:80", "/",
     "google.com:80"},
    {"localhost:8080", NULL, NULL, "localhost", 8080, NULL, NULL, NULL, "localhost:8080", "localhost:8080", "/",
     "localhost:8080"},
    {"/foo?bar", NULL, NULL, NULL, -1, "/foo", "bar", NULL, NULL, NULL, "/foo?bar", "/foo?bar"},
    {"HTTPS://u:p@Example.COM:0443/a/../b c?d#e", "https", "u:p", "example.com", 443, "/b%20c", "d", "e",
     "u:p@example.com:443", "example.com:443", "/b%20c?d", "https://u:p@example.com:443/b%20c?d#e"},
    {"http://h:?#", "http", NULL, "h", -1, "", "", "", "h", "h", "/?", "http://h?#"},
    {"http://b\xc3\xbc"
     "cher.de",
     "http", NULL, "xn--bcher-kva.de", -1, NULL, NULL, NULL, "xn--bcher-kva.de", "xn--bcher-kva.de", "/",
     "http://xn--bcher-kva.de"},
    {"http://[FE80::1%25eth0]:1/", "http", NULL, "[fe80::1%eth0]", 1, "/", NULL, NULL, "[fe80::1%eth0]:1",
     "[fe80::1%eth0]:1", "/", "http://[fe80::1%eth0]:1/"},
    {"http://1.2.3.4", "http", NULL, "1.2.3.4", -1, NULL, NULL, NULL, "1.2.3.4", "1.2.3.4", "/", "http://1.2.3.4"},
    {"FTP://U@H/ /..", "ftp", "U", "H", -1, "/ /..", NULL, NULL, "U@H", "H", "/ /..", "ftp://U@H/ /.."},
    /* The rows of the table in the documentation of netlib_parse_url, and more text without "//". */
    {"mailto:x@y", "mailto", NULL, NULL, -1, "/x@y", NULL, NULL, NULL, NULL, "/x@y", "mailto:///x@y"},
    {"MAILTO:X@y?subject=a b", "mailto", NULL, NULL, -1, "/X@y", "subject=a b", NULL, NULL, NULL, "/X@y?subject=a b",
     "mailto:///X@y?subject=a b"},
    {"tel:5551234", "tel", NULL, NULL, -1, "/5551234", NULL, NULL, NULL, NULL, "/5551234", "tel:///5551234"},
    {"http:g", "http", NULL, NULL, -1, "/g", NULL, NULL, NULL, NULL, "/g", "http:///g"},
    {"user:pw@h", "user", NULL, NULL, -1, "/pw@h", NULL, NULL, NULL, NULL, "/pw@h", "user:///pw@h"},
    {"ftp://U@H/A b", "ftp", "U", "H", -1, "/A b", NULL, NULL, "U@H", "H", "/A b", "ftp://U@H/A b"},
    {"//h/x", NULL, NULL, "h", -1, "/x", NULL, NULL, "h", "h", "/x", "h/x"},
    {"///x", NULL, NULL, NULL, -1, "/x", NULL, NULL, NULL, NULL, "/x", "/x"},
    {"example.com/a", NULL, NULL, "example.com", -1, "/a", NULL, NULL, "example.com", "example.com", "/a",
     "example.com/a"},
    {"x:99999", "x", NULL, NULL, -1, "/99999", NULL, NULL, NULL, NULL, "/99999", "x:///99999"},
    {"a.b://x", NULL, NULL, "a.b", -1, "//x", NULL, NULL, "a.b", "a.b", "//x", "a.b//x"},
    {"urn:isbn:123", "urn", NULL, NULL, -1, "/isbn:123", NULL, NULL, NULL, NULL, "/isbn:123", "urn:///isbn:123"},
    {"file:/etc", "file", NULL, NULL, -1, "/etc", NULL, NULL, NULL, NULL, "/etc", "file:///etc"},
    {"git+ssh://git@h/r", "git+ssh", "git", "h", -1, "/r", NULL, NULL, "git@h", "h", "/r", "git+ssh://git@h/r"},
    {"c:\\a", "c", NULL, NULL, -1, "/\\a", NULL, NULL, NULL, NULL, "/\\a", "c:///\\a"},
    {"x:", "x", NULL, NULL, -1, NULL, NULL, NULL, NULL, NULL, "/", "x://"},
    {"http://a\\@b", "http", NULL, "a", -1, "/%5C@b", NULL, NULL, "a", "a", "/%5C@b", "http://a/%5C@b"},
};

static void parse_url_splits_a_url_into_its_components(void) {
    for (size_t i = 0; i < sizeof parsed / sizeof parsed[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        CHECK_OK(netlib_parse_url(parsed[i].text, NETLIB_NTS, &url, &err));
        CHECK_STR(parsed[i].scheme, netlib_url_scheme(url, NULL));
        CHECK_STR(parsed[i].auth, netlib_url_auth(url, NULL));
        CHECK_STR(parsed[i].host, netlib_url_host(url, NULL));
        CHECK_STR(parsed[i].host, netlib_url_hostname(url, NULL));
        CHECK_INT(parsed[i].port, netlib_url_port(url));
        CHECK_STR(parsed[i].path, netlib_url_path(url, NULL));
        CHECK_STR(parsed[i].query, netlib_url_query(url, NULL));
        CHECK_STR(parsed[i].fragment, netlib_url_fragment(url, NULL));
        CHECK_STR(parsed[i].authority, netlib_url_authority(url, NULL));
        CHECK_STR(parsed[i].netloc, netlib_url_netloc(url, NULL));
        CHECK_STR(parsed[i].request_uri, netlib_url_request_uri(url, NULL));
        CHECK_STR(parsed[i].url, netlib_url_to_string(url, NULL));
        netlib_url_free(url);
    }
}

/* Parsing the text of a URL returns a URL with the same parts and the same text. */
static void parsing_the_text_of_a_url_returns_an_equal_url(void) {
    for (size_t i = 0; i < sizeof parsed / sizeof parsed[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        netlib_url *again = NULL;
        CHECK_OK(netlib_parse_url(parsed[i].text, NETLIB_NTS, &url, &err));
        CHECK_OK(netlib_parse_url(netlib_url_to_string(url, NULL), NETLIB_NTS, &again, &err));
        CHECK_STR(parsed[i].scheme, netlib_url_scheme(again, NULL));
        CHECK_STR(parsed[i].auth, netlib_url_auth(again, NULL));
        CHECK_STR(parsed[i].host, netlib_url_host(again, NULL));
        CHECK_INT(parsed[i].port, netlib_url_port(again));
        CHECK_STR(parsed[i].path, netlib_url_path(again, NULL));
        CHECK_STR(parsed[i].query, netlib_url_query(again, NULL));
        CHECK_STR(parsed[i].fragment, netlib_url_fragment(again, NULL));
        CHECK_STR(parsed[i].url, netlib_url_to_string(again, NULL));
        netlib_url_free(again);
        netlib_url_free(url);
    }
}

static void url_texts_end_at_their_length_not_at_a_nul(void) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    size_t len = 99;
    /* The length, not the NUL, decides where the text ends; (NULL, 0) is an empty text. */
    CHECK_OK(netlib_parse_url("http://host/abcdef", 13, &url, &err));
    netlib_url *other = netlib_url_clone(url);
    netlib_url_free(url);
    CHECK_STR("/a", netlib_url_path(other, &len));
    CHECK_INT(2, (long long)len);
    CHECK_STR("http://host/a", netlib_url_to_string(other, &len));
    CHECK_INT(13, (long long)len);
    CHECK(netlib_url_to_string(other, NULL) == netlib_url_to_string(other, NULL));
    CHECK(netlib_url_query(other, &len) == NULL);
    CHECK_INT(0, (long long)len);
    netlib_url_free(other);
    CHECK_OK(netlib_parse_url(NULL, 0, &url, &err));
    CHECK_STR("", netlib_url_to_string(url, NULL));
    netlib_url_free(url);
    CHECK_OK(netlib_parse_url("http://h/a\0b", 12, &url, NULL));
    CHECK_STR("/a%00b", netlib_url_path(url, NULL));
    netlib_url_free(url);

    netlib_url_free(NULL);
    CHECK(netlib_url_clone(NULL) == NULL);
    CHECK_INT(-1, netlib_url_port(NULL));
    CHECK_INT(-1, netlib_url_port_or_default(NULL));
    len = 99;
    CHECK(netlib_url_to_string(NULL, &len) == NULL);
    CHECK_INT(0, (long long)len);
}

static void invalid_urls_are_refused_with_an_offset(void) {
    static const struct {
        const char *text;
        netlib_status status;
        int64_t offset;
        const char *message;
    } rows[] = {
        {"http://h:65536", NETLIB_INVALID_URL, 9, "the port is larger than 65535, at byte 9"},
        {"http://h:8x", NETLIB_INVALID_URL, 10, "the port has a character that is not a digit at byte 10"},
        {"http://user:secret@a b", NETLIB_INVALID_URL, 20, "the host has a space or control character at byte 20"},
        {"http://user:sec/ret@h", NETLIB_INVALID_URL, 12, "the port has a character that is not a digit at byte 12"},
        {"http://[::1", NETLIB_INVALID_URL, 7, "the host's bracket is not closed, at byte 7"},
        {"ftp://h/a\nb", NETLIB_INVALID_URL, 9, "the path has a line break or NUL at byte 9"},
        {"http://h/\xff", NETLIB_INVALID_UTF8, 9, "the URL is not valid UTF-8 at byte 9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        netlib_status status = netlib_parse_url(rows[i].text, NETLIB_NTS, &url, &err);
        CHECK(url == NULL);
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
    }
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_parse_url(NULL, 1, &url, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_parse_url("x", NETLIB_NTS, NULL, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_parse_url("x", (size_t)-2, &url, &err));
}

static void url_new_builds_a_url_or_refuses_an_invalid_component(void) {
    static const struct {
        const char *scheme, *auth, *host;
        int32_t port;
        const char *path, *query, *fragment;
        netlib_status status;
        const char *url;
    } rows[] = {
        {"HTTP", "u:p", "Host", 80, "x y", "q", "f", NETLIB_OK, "http://u:p@host:80/x%20y?q#f"},
        {NULL, NULL, NULL, -1, NULL, NULL, NULL, NETLIB_OK, ""},
        {NULL, NULL, "localhost", 0, "/", "", NULL, NETLIB_OK, "localhost:0/?"},
        {"https", NULL, "[::1]", 65535, NULL, NULL, "", NETLIB_OK, "https://[::1]:65535#"},
        {"http", NULL, "h", 65536, NULL, NULL, NULL, NETLIB_INVALID_ARGUMENT, NULL},
        {"http", NULL, "h", -2, NULL, NULL, NULL, NETLIB_INVALID_ARGUMENT, NULL},
        {"http", NULL, "h/x", -1, NULL, NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", NULL, "u@h", -1, NULL, NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", NULL, "h\r\nX: y", -1, NULL, NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"ht:tp", NULL, "h", -1, NULL, NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", "u", NULL, -1, NULL, NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", "u#", "h", -1, NULL, NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", NULL, "h", -1, "/a?b", NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", NULL, "h", -1, "/a\n", NULL, NULL, NETLIB_INVALID_URL, NULL},
        {"http", NULL, "h", -1, NULL, "a#b", NULL, NETLIB_INVALID_URL, NULL},
        {"http", NULL, "h", -1, NULL, NULL, "a\r", NETLIB_INVALID_URL, NULL},
        {NULL, NULL, NULL, -1, "//h", NULL, NULL, NETLIB_OK, "/.//h"},
        {"http", NULL, "h", -1, "/\xff", NULL, NULL, NETLIB_INVALID_UTF8, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        CHECK_STATUS(rows[i].status, netlib_url_new(rows[i].scheme, rows[i].auth, rows[i].host, rows[i].port,
                                                    rows[i].path, rows[i].query, rows[i].fragment, &url, &err));
        CHECK_STR(rows[i].url, netlib_url_to_string(url, NULL));
        netlib_url_free(url);
    }
}

static void port_or_default_returns_80_and_443_for_http_and_https(void) {
    static const struct {
        const char *url;
        int32_t port;
    } rows[] = {
        {"http://h/", 80}, {"https://h/", 443}, {"HTTPS://h:8443/", 8443},
        {"h/path", 80},    {"http://h:0", 0},   {"ftp://h/", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        CHECK_OK(netlib_parse_url(rows[i].url, NETLIB_NTS, &url, &err));
        CHECK_INT(rows[i].port, netlib_url_port_or_default(url));
        netlib_url_free(url);
    }
}

static void references_are_resolved_against_a_base_url(void) {
    static const struct {
        const char *base, *reference, *url, *request_uri;
    } rows[] = {
        {"http://a/b/c/d;p?q", "g", "http://a/b/c/g", "/b/c/g"},
        {"http://a/b/c/d;p?q", "//g", "http://g", "/"},
        {"http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q", "/b/c/d;p?q"},
        {"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y", "/b/c/d;p?y"},
        {"http://a/b/c/d;p?q", "../../../g", "http://a/g", "/g"},
        {"http://u:p@a:8080/b", "/c d", "http://u:p@a:8080/c%20d", "/c%20d"},
        {"http://u:p@a:8080/b", "HTTPS://B/c", "https://b/c", "/c"},
        /* A reference with a scheme does not inherit the base URL's host (RFC 3986 section 5.4.2). The request target
         * of such a URL begins with "/". */
        {"http://a/b/c/d;p?q", "http:g", "http:g", "/g"},
        {"http://a/b/c/d;p?q", "http:g?y", "http:g?y", "/g?y"},
        {"http://a/b/c/d;p?q", "mailto:x@y", "mailto:x@y", "/x@y"},
        {"http://a/b/c/d;p?q", "http:", "http:", "/"},
    };
    netlib_error *err = NULL;
    netlib_url *base = NULL;
    netlib_url *url = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_parse_url(rows[i].base, NETLIB_NTS, &base, &err));
        CHECK_OK(netlib_url_resolve(base, rows[i].reference, NETLIB_NTS, &url, &err));
        CHECK_STR(rows[i].url, netlib_url_to_string(url, NULL));
        CHECK_STR(rows[i].request_uri, netlib_url_request_uri(url, NULL));
        netlib_url_free(url);
        netlib_url_free(base);
    }
    CHECK_OK(netlib_parse_url("http://a", NETLIB_NTS, &base, &err));
    CHECK_OK(netlib_url_resolve(base, NULL, 0, &url, &err));
    netlib_url_free(url);
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_url_resolve(base, "//h:x", NETLIB_NTS, &url, &err));
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_url_resolve(base, "\xff", 1, &url, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_url_resolve(NULL, "x", 1, &url, &err));
    CHECK(url == NULL);
    netlib_url_free(base);
}

static void same_origin_compares_scheme_host_and_port(void) {
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"http://h", "HTTP://u@H:80/x", true}, {"https://h", "https://h:443", true}, {"http://h", "https://h", false},
        {"http://h", "http://h:8080", false},  {"http://h", "http://x.h", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *a = NULL;
        netlib_url *b = NULL;
        CHECK_OK(netlib_parse_url(rows[i].a, NETLIB_NTS, &a, &err));
        CHECK_OK(netlib_parse_url(rows[i].b, NETLIB_NTS, &b, &err));
        CHECK_INT(rows[i].same, netlib_url_same_origin(a, b));
        CHECK_INT(0, netlib_url_same_origin(a, NULL));
        netlib_url_free(a);
        netlib_url_free(b);
    }
}

/* A URL of NETLIB_URL_MAX bytes is accepted. A longer URL is refused with the offset NETLIB_URL_MAX. */
static void urls_longer_than_16_mib_are_refused(void) {
    char *text = malloc(NETLIB_URL_MAX + 1);
    netlib_error *err = NULL;
    netlib_url *base = NULL;
    CHECK_OK(netlib_parse_url("http://h", NETLIB_NTS, &base, &err));
    if (text == NULL) {
        CHECK(text != NULL);
        netlib_url_free(base);
        return;
    }
    memset(text, 'a', NETLIB_URL_MAX + 1);
    memcpy(text, "http://h/", 9);
    for (size_t more = 0; more < 2; more++) {
        netlib_status expected = more == 0 ? NETLIB_OK : NETLIB_INVALID_URL;
        int64_t offset = more == 0 ? -1 : NETLIB_URL_MAX;
        for (int function = 0; function < 4; function++) {
            netlib_url *url = NULL;
            netlib_url_readings *readings = NULL;
            size_t len = NETLIB_URL_MAX + more;
            /* Under valgrind, the URL of NETLIB_URL_MAX bytes is skipped, because parsing it would take a minute, and
             * shorter texts test the same code. */
            if (under_valgrind() && more == 0) continue;
            netlib_status status = function == 0   ? netlib_parse_url(text, len, &url, &err)
                                   : function == 1 ? netlib_parse_url_strict(text, len, &url, &err)
                                   : function == 2 ? netlib_url_resolve(base, text, len, &url, &err)
                                                   : netlib_url_compare_readers(text, len, &readings, &err);
            CHECK_INT(expected, status);
            CHECK_INT(offset, netlib_error_offset(err));
            netlib_error_free(err);
            netlib_url_free(url);
            netlib_url_readings_free(readings);
        }
    }
    netlib_url_free(base);
    free(text);
}

int main(void) {
    parse_url_splits_a_url_into_its_components();
    parsing_the_text_of_a_url_returns_an_equal_url();
    url_texts_end_at_their_length_not_at_a_nul();
    urls_longer_than_16_mib_are_refused();
    invalid_urls_are_refused_with_an_offset();
    url_new_builds_a_url_or_refuses_an_invalid_component();
    port_or_default_returns_80_and_443_for_http_and_https();
    references_are_resolved_against_a_base_url();
    same_origin_compares_scheme_host_and_port();
    return report("url");
}
