/* URLs from untrusted sources: the strict profile, the comparison of readers, credentials, the redacted form. */
#include "harness.h"

#include <time.h>

#define RFC3986 NETLIB_URL_READER_RFC3986
#define WHATWG NETLIB_URL_READER_WHATWG
#define NETLIB NETLIB_URL_READER_NETLIB
#define ACCEPTANCE NETLIB_URL_DIFFERENCE_ACCEPTANCE
#define SCHEME NETLIB_URL_DIFFERENCE_SCHEME
#define HOST NETLIB_URL_DIFFERENCE_HOST
#define PORT NETLIB_URL_DIFFERENCE_PORT

/* The readings of an RFC 3986 parser and a WHATWG parser as "scheme host port", NULL if the parser refuses the text;
 * the parts in which the readings differ; and true if the strict profile accepts the text. */
static const struct {
    const char *text;
    size_t len;
    const char *rfc3986, *whatwg;
    int32_t differences;
    bool strict;
} confusers[] = {
    /* both parsers read the same */
    {"http://example.com", 18, "http example.com 80", "http example.com 80", 0, true},
    {"HTTP://Example.COM:80/a?b#c", 27, "http example.com 80", "http example.com 80", 0, true},
    {"https://h:443/", 14, "https h 443", "https h 443", 0, true},
    {"https://h", 9, "https h 443", "https h 443", 0, true},
    {"http://h:0080/", 14, "http h 80", "http h 80", 0, false},
    {"http://h:", 9, "http h 80", "http h 80", 0, false},
    {"http://user:pass@h:8080/", 24, "http h 8080", "http h 8080", 0, true},
    {"http://a@b@h/", 13, "http h 80", "http h 80", 0, false},
    {"http://h#@evil", 14, "http h 80", "http h 80", 0, true},
    {"http://h?@evil", 14, "http h 80", "http h 80", 0, true},
    {"http://h/@evil", 14, "http h 80", "http h 80", 0, true},
    {"http://%65xample.com/", 21, "http example.com 80", "http example.com 80", 0, false},
    {"http://example%2Ecom/", 21, "http example.com 80", "http example.com 80", 0, false},
    {"http://%31%32%37.0.0.1/", 23, "http 127.0.0.1 80", "http 127.0.0.1 80", 0, false},
    {"http://b\xc3\xbc"
     "cher.de/",
     18, "http xn--bcher-kva.de 80", "http xn--bcher-kva.de 80", 0, true},
    {"http://B\xc3\x9c"
     "CHER.de/",
     18, "http xn--bcher-kva.de 80", "http xn--bcher-kva.de 80", 0, true},
    {"http://xn--bcher-kva.de/", 24, "http xn--bcher-kva.de 80", "http xn--bcher-kva.de 80", 0, true},
    {"http://1.2.3.4:8080", 19, "http 1.2.3.4 8080", "http 1.2.3.4 8080", 0, true},
    {"http://[::1]/", 13, "http [::1] 80", "http [::1] 80", 0, true},
    {"http://[0:0:0:0:0:0:0:1]:80", 27, "http [0:0:0:0:0:0:0:1] 80", "http [::1] 80", 0, true},
    {"http://[::FFFF:127.0.0.1]/", 26, "http [::ffff:127.0.0.1] 80", "http [::ffff:7f00:1] 80", 0, true},
    {"http://example.com./", 20, "http example.com. 80", "http example.com. 80", 0, false},
    {"http://a_b/", 11, "http a_b 80", "http a_b 80", 0, true},
    {"http://a!$&'()*+,;=b/", 21, "http a!$&'()*+,;=b 80", "http a!$&'()*+,;=b 80", 0, false},
    {"ws://h", 6, "ws h 80", "ws h 80", 0, false},
    {"wss://h:443", 11, "wss h 443", "wss h 443", 0, false},
    {"ftp://h:21/", 11, "ftp h 21", "ftp h 21", 0, false},
    {"mailto:me@h", 11, "mailto - -1", "mailto - -1", 0, false},
    {"data:text/plain,x", 17, "data - -1", "data - -1", 0, false},
    {"file:///etc/passwd", 18, "file  -1", "file - -1", 0, false},
    {"x:", 2, "x - -1", "x - -1", 0, false},
    {"foo://Host:1/a", 14, "foo host 1", "foo Host 1", 0, false},
    {"localhost:8080/a", 16, "localhost - -1", "localhost - -1", 0, false},
    {"example.com:80", 14, "example.com - -1", "example.com - -1", 0, false},
    {"http://h:0/", 11, "http h 0", "http h 0", 0, false},
    /* both parsers refuse */
    {"foo", 3, NULL, NULL, 0, false},
    {"/path", 5, NULL, NULL, 0, false},
    {"?q", 2, NULL, NULL, 0, false},
    {"#f", 2, NULL, NULL, 0, false},
    {"", 0, NULL, NULL, 0, false},
    {":", 1, NULL, NULL, 0, false},
    {"1http://h", 9, NULL, NULL, 0, false},
    {"http://h:80:90/", 15, NULL, NULL, 0, false},
    {"http://h:8a/", 12, NULL, NULL, 0, false},
    {"http://[::1", 11, NULL, NULL, 0, false},
    {"http://[::1].p/", 15, NULL, NULL, 0, false},
    {"http://p.[::1]/", 15, NULL, NULL, 0, false},
    {"http://[v1.x]y/", 15, NULL, NULL, 0, false},
    {"http://[1.2.3.4]/", 17, NULL, NULL, 0, false},
    {"http://user@h:x/", 16, NULL, NULL, 0, false},
    {"http://h:-1/", 12, NULL, NULL, 0, false},
    /* backslashes */
    {"http://good\\@evil/", 18, "http evil 80", "http good 80", HOST, false},
    {"http://evil\\good/", 17, "http evil\\good 80", "http evil 80", HOST, false},
    {"http://evil\\.good/", 18, "http evil\\.good 80", "http evil 80", HOST, false},
    {"http:\\\\evil", 11, "http - 80", "http evil 80", HOST, false},
    {"http:\\evil", 10, "http - 80", "http evil 80", HOST, false},
    {"http:/\\evil", 11, "http - 80", "http evil 80", HOST, false},
    {"http://good:80\\@evil:81/", 24, "http evil 81", "http good 80", HOST | PORT, false},
    {"\\\\evil", 6, NULL, NULL, 0, false},
    {"foo://good\\@evil", 16, "foo evil -1", "foo evil -1", 0, false},
    {"http://u\\:p@h/", 14, "http h 80", "http u 80", HOST, false},
    /* slashes */
    {"http:/evil", 10, "http - 80", "http evil 80", HOST, false},
    {"http:evil", 9, "http - 80", "http evil 80", HOST, false},
    {"http:///evil", 12, "http  80", "http evil 80", HOST, false},
    {"http:////evil/x", 15, "http  80", "http evil 80", HOST, false},
    {"https:evil:8443", 15, "https - 443", "https evil 8443", HOST | PORT, false},
    {"//evil/", 7, "- evil -1", NULL, ACCEPTANCE, false},
    {"///evil", 7, "-  -1", NULL, ACCEPTANCE, false},
    {"http://", 7, "http  80", NULL, ACCEPTANCE, false},
    {"http:", 5, "http - 80", NULL, ACCEPTANCE, false},
    {"http:///", 8, "http  80", NULL, ACCEPTANCE, false},
    {"http://u@/", 10, "http  80", NULL, ACCEPTANCE, false},
    {"http://:80/", 11, "http  80", NULL, ACCEPTANCE, false},
    {"http://?evil", 12, "http  80", NULL, ACCEPTANCE, false},
    {"ws:evil", 7, "ws - 80", "ws evil 80", HOST, false},
    {"file://localhost/x", 18, "file localhost -1", "file - -1", HOST, false},
    {"file://h/x", 10, "file h -1", "file h -1", 0, false},
    {"file:x", 6, "file - -1", "file - -1", 0, false},
    /* blanks and controls */
    {" http://h/", 10, NULL, "http h 80", ACCEPTANCE, false},
    {"http://h /", 10, "http h  80", NULL, ACCEPTANCE, false},
    {"http://h ", 9, "http h  80", "http h 80", HOST, false},
    {"http://h\t", 9, "http h\t 80", "http h 80", HOST, false},
    {"\thttp://h", 9, NULL, "http h 80", ACCEPTANCE, false},
    {"ht\ntp://h/", 10, NULL, "http h 80", ACCEPTANCE, false},
    {"http://ev\til.com/", 17, "http ev\til.com 80", "http evil.com 80", HOST, false},
    {"http://ev\nil.com/", 17, "http ev\nil.com 80", "http evil.com 80", HOST, false},
    {"http://good\t@evil/", 18, "http evil 80", "http evil 80", 0, false},
    {"http://h:8\n0/", 13, NULL, "http h 80", ACCEPTANCE, false},
    {"http://h:80 /", 13, NULL, NULL, 0, false},
    {"http:/\t/h/", 10, "http - 80", "http h 80", HOST, false},
    {"http://a b/", 11, "http a b 80", NULL, ACCEPTANCE, false},
    {"http://a\x01"
     "b/",
     11,
     "http a\x01"
     "b 80",
     NULL, ACCEPTANCE, false},
    {"http://a\x7f"
     "b/",
     11,
     "http a\x7f"
     "b 80",
     NULL, ACCEPTANCE, false},
    {"\x00http://h", 9, NULL, "http h 80", ACCEPTANCE, false},
    {"http://h/a b", 12, "http h 80", "http h 80", 0, false},
    {"http://a\x00"
     "b/",
     11, NULL, NULL, 0, false},
    /* percent */
    {"http://evil%2fgood/", 19, "http evil%2Fgood 80", NULL, ACCEPTANCE, false},
    {"http://evil%00good/", 19, "http evil%00good 80", NULL, ACCEPTANCE, false},
    {"http://evil%40good/", 19, "http evil%40good 80", NULL, ACCEPTANCE, false},
    {"http://a%20b/", 13, "http a%20b 80", NULL, ACCEPTANCE, false},
    {"http://a%zz/", 12, "http a%zz 80", NULL, ACCEPTANCE, false},
    {"http://%e2%98%83.com/", 21, "http %E2%98%83.com 80", "http xn--n3h.com 80", HOST, false},
    {"http://b%C3%BCcher.de/", 22, "http b%C3%BCcher.de 80", "http xn--bcher-kva.de 80", HOST, false},
    {"http://%", 8, "http % 80", NULL, ACCEPTANCE, false},
    /* numbers */
    {"http://0x7f.1/", 14, "http 0x7f.1 80", "http 127.0.0.1 80", HOST, false},
    {"http://0177.0.0.1/", 18, "http 0177.0.0.1 80", "http 127.0.0.1 80", HOST, false},
    {"http://2130706433/", 18, "http 2130706433 80", "http 127.0.0.1 80", HOST, false},
    {"http://127.1/", 13, "http 127.1 80", "http 127.0.0.1 80", HOST, false},
    {"http://0x7f000001/", 18, "http 0x7f000001 80", "http 127.0.0.1 80", HOST, false},
    {"http://1.2.3.4./", 16, "http 1.2.3.4. 80", "http 1.2.3.4 80", HOST, false},
    {"http://256.1.1.1/", 17, "http 256.1.1.1 80", NULL, ACCEPTANCE, false},
    {"http://1.2.3.4.5/", 17, "http 1.2.3.4.5 80", NULL, ACCEPTANCE, false},
    {"http://a.1/", 11, "http a.1 80", NULL, ACCEPTANCE, false},
    {"http://0x/", 10, "http 0x 80", "http 0.0.0.0 80", HOST, false},
    {"http://127.0.0.01/", 18, "http 127.0.0.01 80", "http 127.0.0.1 80", HOST, false},
    {"foo://127.1/", 12, "foo 127.1 -1", "foo 127.1 -1", 0, false},
    {"ftp://0x7f.1/", 13, "ftp 0x7f.1 21", "ftp 127.0.0.1 21", HOST, false},
    /* ports */
    {"http://h:65535/", 15, "http h 65535", "http h 65535", 0, true},
    {"http://h:65536/", 15, "http h 65536", NULL, ACCEPTANCE, false},
    {"http://h:65616/", 15, "http h 65616", NULL, ACCEPTANCE, false},
    {"http://h:99999999999999999999/", 30, "http h 2147483647", NULL, ACCEPTANCE, false},
    {"http://h:00000000000000000000080/", 33, "http h 80", "http h 80", 0, false},
    {"foo://h:65536", 13, "foo h 65536", NULL, ACCEPTANCE, false},
    /* IDNA */
    {"http://\xef\xbd\x85vil.com/", 18, "http \xef\xbd\x85vil.com 80", "http evil.com 80", HOST, false},
    {"http://evil\xe3\x80\x82"
     "com/",
     18,
     "http evil\xe3\x80\x82"
     "com 80",
     "http evil.com 80", HOST, false},
    {"http://evil\xef\xbc\x8e"
     "com/",
     18,
     "http evil\xef\xbc\x8e"
     "com 80",
     "http evil.com 80", HOST, false},
    {"http://ev\xc2\xadil.com/", 18, "http ev\xc2\xadil.com 80", "http evil.com 80", HOST, false},
    {"http://\xef\xbc\x91"
     "27.0.0.1/",
     19,
     "http \xef\xbc\x91"
     "27.0.0.1 80",
     "http 127.0.0.1 80", HOST, false},
    {"http://fa\xc3\x9f.de/", 15, "http fa\xc3\x9f.de 80", "http xn--fa-hia.de 80", HOST, false},
    {"http://evil\xef\xbc\x8f.good.com/", 24, "http evil\xef\xbc\x8f.good.com 80", NULL, ACCEPTANCE, false},
    {"http://evil\xe2\x84\x80.good.com/", 24, "http evil\xe2\x84\x80.good.com 80", NULL, ACCEPTANCE, false},
    {"http://\xe2\x84\xaa.com/", 15, "http \xe2\x84\xaa.com 80", "http k.com 80", HOST, false},
    {"http://bu\xcc\x88"
     "cher.de/",
     19,
     "http bu\xcc\x88"
     "cher.de 80",
     "http xn--bcher-kva.de 80", HOST, false},
    {"http://1a.\xd7\x90\xd7\x91/", 15, "http 1a.\xd7\x90\xd7\x91 80", NULL, ACCEPTANCE, false},
    {"http://xn--a/", 13, "http xn--a 80", NULL, ACCEPTANCE, false},
    {"http://xn--example-.org/", 24, "http xn--example-.org 80", NULL, ACCEPTANCE, false},
    {"http://\xe2\x92\x88"
     "com/",
     14,
     "http \xe2\x92\x88"
     "com 80",
     NULL, ACCEPTANCE, false},
    {"http://a\xe2\x80\x8b"
     "b/",
     13,
     "http a\xe2\x80\x8b"
     "b 80",
     "http ab 80", HOST, false},
    {"http://\xf0\x9f\x92\xa9.la/", 15, "http xn--ls8h.la 80", "http xn--ls8h.la 80", 0, true},
    {"foo://b\xc3\xbc"
     "cher/",
     14, "foo xn--bcher-kva -1", "foo b%C3%BCcher -1", HOST, false},
    /* brackets */
    {"http://[fe80::1%25eth0]/", 24, "http [fe80::1%eth0] 80", NULL, ACCEPTANCE, false},
    {"http://[fe80::1%eth0]/", 22, "http [fe80::1%eth0] 80", NULL, ACCEPTANCE, false},
    {"http://[v1.x]/", 14, "http [v1.x] 80", NULL, ACCEPTANCE, false},
    {"http://[::ffff:7f00:1]/", 23, "http [::ffff:7f00:1] 80", "http [::ffff:7f00:1] 80", 0, true},
    {"http://[::1]x/", 14, NULL, NULL, 0, false},
    {"http://[]/", 10, NULL, NULL, 0, false},
    {"http://[h]/", 11, NULL, NULL, 0, false},
    {"http://a[b]/", 12, "http a[b] 80", NULL, ACCEPTANCE, false},
    {"http://[::127.0.0.01]/", 22, NULL, NULL, 0, false},
    /* characters */
    {"http://a<b/", 11, "http a<b 80", NULL, ACCEPTANCE, false},
    {"http://a|b/", 11, "http a|b 80", NULL, ACCEPTANCE, false},
    {"http://a^b/", 11, "http a^b 80", NULL, ACCEPTANCE, false},
    {"http://a\"b/", 11, "http a\"b 80", "http a\"b 80", 0, false},
    {"http://a`b/", 11, "http a`b 80", "http a`b 80", 0, false},
    {"http://a{b}/", 12, "http a{b} 80", "http a{b} 80", 0, false},
    {"http://a\xc2\x80"
     "b/",
     12,
     "http a\xc2\x80"
     "b 80",
     NULL, ACCEPTANCE, false},
    {"https://good;evil/", 18, "https good;evil 443", "https good;evil 443", 0, false},
    {"http://u[@h/", 12, "http h 80", "http h 80", 0, false},
    {"http://good#\\@evil/", 19, "http good 80", "http good 80", 0, false},
    {"http://1.1.1.1 &@2.2.2.2# @3.3.3.3/", 35, "http 2.2.2.2 80", "http 2.2.2.2 80", 0, false},
    {"http://good:80@evil:81", 22, "http evil 81", "http evil 81", 0, true},
    {"http://u:p:q@h", 14, "http h 80", "http h 80", 0, true},
    {"http://@h", 9, "http h 80", "http h 80", 0, false},
    {"http://:@h", 10, "http h 80", "http h 80", 0, true},
    {"a.b+c-d://h", 11, "a.b+c-d h -1", "a.b+c-d h -1", 0, false},
    {"a_b://h", 7, NULL, NULL, 0, false},
};

static const char *reading(const netlib_url_readings *readings, int32_t reader, char *into, size_t size) {
    size_t scheme_len, host_len;
    const char *scheme = netlib_url_readings_scheme(readings, reader, &scheme_len);
    const char *host = netlib_url_readings_host(readings, reader, &host_len);
    if (!netlib_url_readings_accepted(readings, reader)) {
        CHECK(scheme == NULL && host == NULL && scheme_len == 0 && host_len == 0);
        CHECK_INT(-1, netlib_url_readings_port(readings, reader));
        return NULL;
    }
    CHECK_INT((long long)scheme_len, scheme != NULL ? (long long)strlen(scheme) : 0);
    CHECK_INT((long long)host_len, host != NULL ? (long long)strlen(host) : 0);
    snprintf(into, size, "%s %s %d", scheme != NULL ? scheme : "-", host != NULL ? host : "-",
             (int)netlib_url_readings_port(readings, reader));
    return into;
}

static void compare_readers_reports_where_two_parsers_differ(void) {
    char text[256];
    for (size_t i = 0; i < sizeof confusers / sizeof confusers[0]; i++) {
        netlib_error *err = NULL;
        netlib_url_readings *readings = NULL;
        netlib_url *url = NULL;
        CHECK_OK(netlib_url_compare_readers(confusers[i].text, confusers[i].len, &readings, &err));
        CHECK_STR(confusers[i].rfc3986, reading(readings, RFC3986, text, sizeof text));
        CHECK_STR(confusers[i].whatwg, reading(readings, WHATWG, text, sizeof text));
        CHECK_INT(confusers[i].differences, netlib_url_readings_differences(readings, RFC3986, WHATWG));
        CHECK_INT(confusers[i].differences, netlib_url_readings_differences(readings, WHATWG, RFC3986));
        CHECK_STATUS(confusers[i].strict ? NETLIB_OK : NETLIB_INVALID_URL,
                     netlib_parse_url_strict(confusers[i].text, confusers[i].len, &url, &err));
        if (confusers[i].strict) {
            CHECK_INT(0, netlib_url_readings_differences(readings, RFC3986, NETLIB));
            CHECK_INT(0, netlib_url_readings_differences(readings, WHATWG, NETLIB));
            CHECK_STR(netlib_url_readings_host(readings, NETLIB, NULL), netlib_url_host(url, NULL));
            CHECK_INT(netlib_url_readings_port(readings, NETLIB), netlib_url_port_or_default(url));
        }
        netlib_url_free(url);
        netlib_url_readings_free(readings);
    }
    CHECK(sizeof confusers / sizeof confusers[0] >= 80);
}

/* netlib's lenient parser: a text without a scheme has a host, and a backslash ends the authority, as in the WHATWG
 * standard. */
static void compare_readers_includes_the_lenient_parser(void) {
    static const struct {
        const char *text, *netlib;
        int32_t from_rfc3986, from_whatwg;
    } rows[] = {
        {"http://h", "http h 80", 0, 0},
        {"http://good\\@evil", "http good 80", HOST, 0},
        {"localhost:8080/a", "- localhost 8080", SCHEME | HOST | PORT, SCHEME | HOST | PORT},
        {"example.com/a", "- example.com 80", ACCEPTANCE, ACCEPTANCE},
        {"//h", "- h 80", PORT, ACCEPTANCE},
        {"http:h", "http - 80", 0, HOST},
        {"http://0x7f.1", "http 0x7f.1 80", 0, HOST},
        {"http://\xef\xbd\x85vil.com", "http evil.com 80", HOST, 0},
        {"http://[fe80::1%25eth0]", "http [fe80::1%eth0] 80", 0, ACCEPTANCE},
        {"http://h:65536", NULL, ACCEPTANCE, 0},
        {"/a", NULL, 0, 0},
    };
    char text[256];
    netlib_error *err = NULL;
    netlib_url_readings *readings = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_url_compare_readers(rows[i].text, NETLIB_NTS, &readings, &err));
        netlib_url_readings *other = netlib_url_readings_clone(readings);
        netlib_url_readings_free(readings);
        CHECK_STR(rows[i].netlib, reading(other, NETLIB, text, sizeof text));
        CHECK_INT(rows[i].from_rfc3986, netlib_url_readings_differences(other, RFC3986, NETLIB));
        CHECK_INT(rows[i].from_whatwg, netlib_url_readings_differences(other, NETLIB, WHATWG));
        CHECK_INT(0, netlib_url_readings_differences(other, NETLIB, NETLIB));
        netlib_url_readings_free(other);
    }
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_url_compare_readers("http://\xff", NETLIB_NTS, &readings, &err));
    CHECK(readings == NULL);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_url_compare_readers(NULL, 1, &readings, &err));

    /* Unknown readers fail closed. */
    CHECK_OK(netlib_url_compare_readers("http://h", NETLIB_NTS, &readings, &err));
    CHECK_INT(-1, netlib_url_readings_differences(readings, RFC3986, 3));
    CHECK_INT(-1, netlib_url_readings_differences(readings, -1, RFC3986));
    CHECK_INT(-1, netlib_url_readings_differences(NULL, RFC3986, WHATWG));
    CHECK(!netlib_url_readings_accepted(readings, 3) && !netlib_url_readings_accepted(NULL, RFC3986));
    CHECK(netlib_url_readings_scheme(readings, 3, NULL) == NULL);
    CHECK(netlib_url_readings_host(readings, INT32_MIN, NULL) == NULL);
    CHECK_INT(-1, netlib_url_readings_port(readings, INT32_MAX));
    netlib_url_readings_free(readings);
    netlib_url_readings_free(NULL);
    CHECK(netlib_url_readings_clone(NULL) == NULL);
}

static void the_strict_profile_refuses_ambiguous_urls(void) {
    static const struct {
        const char *text, *url;
    } accepted[] = {
        {"HTTPS://User:pass@Example.COM:8443/a/../b%2fc?q=1#f", "https://User:pass@example.com:8443/b%2Fc?q=1#f"},
        {"http://B\xc3\x9c"
         "CHER.de",
         "http://xn--bcher-kva.de"},
        {"http://[2001:DB8::1]:80/", "http://[2001:db8::1]:80/"},
        {"http://127.0.0.1?#", "http://127.0.0.1?#"},
    };
    static const struct {
        const char *text;
        netlib_status status;
        int64_t offset;
        const char *message;
    } refused[] = {
        {"", NETLIB_INVALID_URL, 0, "the URL has no scheme, at byte 0"},
        {"example.com/a", NETLIB_INVALID_URL, 0, "the URL has no scheme, at byte 0"},
        {"gopher://h:70/_x", NETLIB_INVALID_URL, 0, "the scheme is neither http nor https, at byte 0"},
        {"http:/h", NETLIB_INVALID_URL, 4, "the scheme is not followed by \"://\" at byte 4"},
        {"http://user:secret@a\\b/", NETLIB_INVALID_URL, 20, "the host has a character that no name has at byte 20"},
        {"http://se cret@h", NETLIB_INVALID_URL, 9,
         "the userinfo has a character that RFC 3986 does not allow there, at byte 9"},
        {"http://a@b@c", NETLIB_INVALID_URL, 10, "the authority has a second \"@\" at byte 10"},
        {"http://h:0", NETLIB_INVALID_URL, 9, "the port is 0, at byte 9"},
        {"http://127.1/", NETLIB_INVALID_URL, 7,
         "the host ends in a number and is not four decimal numbers up to 255, at byte 7"},
        {"http://h/a/%2e%2E", NETLIB_INVALID_URL, 11, "the path has a percent-encoded dot segment at byte 11"},
        {"http://h/../a", NETLIB_INVALID_URL, 9, "the path climbs above its root at byte 9"},
        {"http://h/?a[]=1", NETLIB_INVALID_URL, 11,
         "the query has a character that RFC 3986 does not allow there, at byte 11"},
        {"http://h/%4", NETLIB_INVALID_URL, 9, "the path has a \"%\" that begins no percent-encoding, at byte 9"},
        {"http://h/\xff", NETLIB_INVALID_UTF8, 9, "the URL is not valid UTF-8 at byte 9"},
    };
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        CHECK_OK(netlib_parse_url_strict(accepted[i].text, NETLIB_NTS, &url, &err));
        CHECK_STR(accepted[i].url, netlib_url_to_string(url, NULL));
        netlib_url_free(url);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        netlib_status status = netlib_parse_url_strict(refused[i].text, NETLIB_NTS, &url, &err);
        CHECK(url == NULL);
        CHECK_INT(refused[i].offset, netlib_error_offset(err));
        CHECK_STR(refused[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(refused[i].status, status);
    }
    /* The length decides where the text ends, not the NUL. */
    CHECK_OK(netlib_parse_url_strict("http://host/ab cd", 14, &url, &err));
    CHECK_STR("http://host/ab", netlib_url_to_string(url, NULL));
    netlib_url_free(url);
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_parse_url_strict("http://h/a\0b", 12, &url, &err));
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_parse_url_strict(NULL, 0, &url, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_parse_url_strict(NULL, NETLIB_NTS, &url, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_parse_url_strict("http://h", NETLIB_NTS, NULL, &err));
}

static void the_redacted_form_has_no_credentials_or_values(void) {
    static const struct {
        const char *text, *redacted;
    } rows[] = {
        {"http://h", "http://h"},
        {"http://h/a?#", "http://h/a?#"},
        {"https://user:pass@Example.com:8443/a%20b?id=1&key=s=ecret&&bare&empty=#token",
         "https://***@example.com:8443/a%20b?id=***&key=***&&***&empty=#***"},
        {"https://TOKEN@h/", "https://***@h/"},
        {"http://:p@h", "http://***@h"},
        {"http://[::1%25eth0]:1/?a;b", "http://[::1%eth0]:1/?***"},
        {"user:password@host/x", "user:///***@host/x"},
        {"user:pass@word@host", "user:///***@host"},
        {"http://h/a@b", "http://h/a@b"},
        {"mailto:me@h", "mailto:///***@h"},
        {"h/a?b=c", "h/a?b=***"},
        {"/a?b=c#d", "/a?b=***#***"},
        {"", ""},
        /* The prefix that keeps a path from being read as a host is also in the redacted form. */
        {"////x/y", "/.//x/y"},
        {"////u:p@h/x", "/***@h/x"},
        {"//http:80/x", "//http:80/x"},
        {"//user:pw@h", "***@h"},
        {"[fe80::1%252500]", "[fe80::1%252500]"},
        /* The result is one line without control characters for a terminal. */
        {"ftp://h/\x1b[2J \xc2\x9b", "ftp://h/%1B[2J%20%C2%9B"},
    };
    size_t len = 99;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        CHECK_OK(netlib_parse_url(rows[i].text, NETLIB_NTS, &url, &err));
        CHECK_STR(rows[i].redacted, netlib_url_redacted(url, &len));
        CHECK_INT((long long)strlen(rows[i].redacted), (long long)len);
        CHECK(netlib_url_redacted(url, NULL) == netlib_url_redacted(url, NULL));
        netlib_url_free(url);
    }
    CHECK(netlib_url_redacted(NULL, &len) == NULL);
    CHECK_INT(0, (long long)len);
    static const struct {
        const char *reference, *redacted;
    } resolved[] = {
        {"mailto:me@h", "mailto:***@h"},
        {"x:y/z", "x:y/z"},
        {"x:/..//y", "x:/.//y"},
    };
    for (size_t i = 0; i < sizeof resolved / sizeof resolved[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *base = NULL;
        netlib_url *url = NULL;
        CHECK_OK(netlib_parse_url("http://h/", NETLIB_NTS, &base, &err));
        CHECK_OK(netlib_url_resolve(base, resolved[i].reference, NETLIB_NTS, &url, &err));
        CHECK_STR(resolved[i].redacted, netlib_url_redacted(url, NULL));
        netlib_url_free(url);
        netlib_url_free(base);
    }
}

/* The user name and the password, NULL if absent. The offset is that of an encoded NUL, -1 if there is none. */
static void credentials_are_percent_decoded_without_nul(void) {
    static const struct {
        const char *text, *username, *password;
        int64_t username_nul, password_nul;
    } rows[] = {
        {"http://h", NULL, NULL, -1, -1},
        {"http://@h", NULL, NULL, -1, -1},
        {"http://user@h", "user", NULL, -1, -1},
        {"http://user:@h", "user", "", -1, -1},
        {"http://:pass@h", "", "pass", -1, -1},
        {"http://:@h", "", "", -1, -1},
        {"http://a:b:c@h", "a", "b:c", -1, -1},
        {"http://me%40x%3a:p%2F%25%e9@h", "me@x:", "p/%\xe9", -1, -1},
        {"http://a@b:c@h", "a@b", "c", -1, -1},
        {"http://u%zz%:p@h", "u%zz%", "p", -1, -1},
        {"ftp://u%zz%4:%@h", "u%zz%4", "%", -1, -1},
        {"http://u%00x:p@h", NULL, "p", 1, -1},
        {"http://user:p%00@h", "user", NULL, -1, 6},
        {"http://%00:%00@h", NULL, NULL, 0, 4},
        {"http://a%41%00:b%42%00@h", NULL, NULL, 4, 12},
    };
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    const char *text = NULL;
    size_t len = 99;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_parse_url(rows[i].text, NETLIB_NTS, &url, &err));
        for (int twice = 0; twice < 2; twice++) {
            netlib_status status = netlib_url_username(url, &text, &len, &err);
            CHECK_STR(rows[i].username, text);
            CHECK_INT(text != NULL ? (long long)strlen(text) : 0, (long long)len);
            CHECK_INT(rows[i].username_nul, netlib_error_offset(err));
            CHECK_STATUS(rows[i].username_nul < 0 ? NETLIB_OK : NETLIB_INVALID_URL, status);
            status = netlib_url_password(url, &text, &len, &err);
            CHECK_STR(rows[i].password, text);
            CHECK_INT(text != NULL ? (long long)strlen(text) : 0, (long long)len);
            CHECK_INT(rows[i].password_nul, netlib_error_offset(err));
            CHECK_STATUS(rows[i].password_nul < 0 ? NETLIB_OK : NETLIB_INVALID_URL, status);
        }
        netlib_url_free(url);
    }
    CHECK_OK(netlib_parse_url("http://user:secret%00@h", NETLIB_NTS, &url, &err));
    netlib_status status = netlib_url_password(url, &text, NULL, &err);
    CHECK_STR("the password has an encoded NUL, which would end it, at byte 11", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_URL, status);
    len = 99;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_url_username(NULL, &text, &len, &err));
    CHECK(text == NULL && len == 0);
    netlib_url_free(url);
}

/* CR, LF and NUL in every argument of functions that create a URL are refused or percent-encoded. They are never in the
 * URL or its request target. */
static void r13_cr_lf_and_nul_never_reach_a_url_or_target(void) {
    static const char *const texts[] = {"%chttp://h/",  "ht%ctp://h",   "http://%cu:p@h", "http://u:%cp@h",
                                        "http://h%c/",  "http://%ch",   "http://h:8%c0",  "http://h/%c",
                                        "http://h/?%c", "http://h/#%c", "ftp://u%c@h",    "ftp://h%c/",
                                        "ftp://h/%c",   "ftp://h/?%c",  "ftp://h/#%c",    "h%c/",
                                        "/%c",          "//h%c",        "http://[::1%c]", "http://[::1%%25%c]"};
    static const char bytes[] = {'\r', '\n', '\0'};
    char text[64];
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_url *base = NULL;
    CHECK_OK(netlib_parse_url("http://u:p@h/a?b", NETLIB_NTS, &base, &err));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t b = 0; b < sizeof bytes; b++) {
            size_t len = (size_t)snprintf(text, sizeof text, texts[i], bytes[b]);
            CHECK_STATUS(NETLIB_INVALID_URL, netlib_parse_url_strict(text, len, &url, &err));
            for (int how = 0; how < 2; how++) {
                netlib_status status = how == 0 ? netlib_parse_url(text, len, &url, NULL)
                                                : netlib_url_resolve(base, text, len, &url, NULL);
                size_t url_len = 0, target_len = 0;
                const char *whole = netlib_url_to_string(url, &url_len);
                const char *target = netlib_url_request_uri(url, &target_len);
                CHECK(status == NETLIB_OK || (status == NETLIB_INVALID_URL && url == NULL));
                CHECK(url == NULL || (strpbrk(whole, "\r\n") == NULL && strlen(whole) == url_len));
                CHECK(url == NULL || (strpbrk(target, "\r\n") == NULL && strlen(target) == target_len));
                netlib_url_free(url);
            }
        }
    }
    netlib_url_free(base);
    for (size_t part = 0; part < 6; part++) {
        for (size_t b = 0; b < 2; b++) {
            const char *parts[] = {"http", "u", "h", "/a", "b", "c"};
            snprintf(text, sizeof text, "%s%cX", parts[part], bytes[b]);
            parts[part] = text;
            CHECK_STATUS(NETLIB_INVALID_URL,
                         netlib_url_new(parts[0], parts[1], parts[2], 80, parts[3], parts[4], parts[5], &url, &err));
            CHECK(url == NULL);
        }
    }
}

/* Returns a text of `len` bytes: `before`, repetitions of `unit`, `after`. */
static char *hostile(const char *before, const char *unit, const char *after, size_t len) {
    char *text = malloc(len + 1);
    size_t start = strlen(before), end = len - strlen(after), n = strlen(unit);
    if (text == NULL) abort();
    memcpy(text, before, start);
    for (size_t at = start; at < end; at++) text[at] = unit[(at - start) % n];
    strcpy(text + end, after);
    return text;
}

/* Calls all functions that parse the text. Returns the seconds of processor time, the smaller of two runs. */
static double measure_seconds(const char *text, size_t len) {
    double least = 1e9;
    for (int run = 0; run < 2; run++) {
        netlib_url *url = NULL;
        netlib_url_readings *readings = NULL;
        const char *credential = NULL;
        netlib_status status;
        clock_t start = clock();
        status = netlib_parse_url_strict(text, len, &url, NULL);
        netlib_url_free(url);
        status = netlib_parse_url(text, len, &url, NULL);
        if (status == NETLIB_OK) status = netlib_url_username(url, &credential, NULL, NULL);
        if (status == NETLIB_OK) status = netlib_url_password(url, &credential, NULL, NULL);
        netlib_url_to_string(url, NULL);
        netlib_url_redacted(url, NULL);
        netlib_url_free(url);
        status = netlib_url_compare_readers(text, len, &readings, NULL);
        netlib_url_readings_free(readings);
        (void)status;
        double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (taken < least) least = taken;
    }
    return least;
}

/* A text of 16 times the length takes about 16 times as long; quadratic work would take 256 times as long. The margin
 * allows for other work on the machine. */
static void r14_parsing_takes_linear_time(void) {
    static const struct {
        const char *before, *after;
    } places[] = {{"http://", ""}, {"http://", "@h/"}, {"http://h/", ""}, {"http://h?", ""}};
    static const char *const units[] = {"@", "[", "%", "%41",    "a.", "/..",      "/a/..",     "\\",      "?",
                                        "#", "&", "=", "xn--a.", "1.", "\xc3\xa9", "\xc3\xa9.", "\xcc\x88"};
    const size_t small = 480, large = 16 * small;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t j = 0; j < sizeof units / sizeof units[0]; j++) {
            char *short_text = hostile(places[i].before, units[j], places[i].after, small);
            char *long_text = hostile(places[i].before, units[j], places[i].after, large);
            double one = measure_seconds(short_text, small), many = measure_seconds(long_text, large);
            bool linear = many <= 64 * one + 0.002;
            CHECK(linear);
            if (!linear) fprintf(stderr, "    %.20s: %g s, %g s\n", short_text, one, many);
            free(short_text);
            free(long_text);
        }
    }
}

int main(void) {
    the_strict_profile_refuses_ambiguous_urls();
    compare_readers_reports_where_two_parsers_differ();
    compare_readers_includes_the_lenient_parser();
    the_redacted_form_has_no_credentials_or_values();
    credentials_are_percent_decoded_without_nul();
    r13_cr_lf_and_nul_never_reach_a_url_or_target();
    r14_parsing_takes_linear_time();
    return report("url_safety");
}
