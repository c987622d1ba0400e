/* Tests netlib_url_compare_readers, which reports where an RFC 3986 parser, a WHATWG parser and netlib read a URL
 * differently. */
#include "harness.h"

#define RFC3986 NETLIB_URL_READER_RFC3986
#define WHATWG NETLIB_URL_READER_WHATWG
#define NETLIB NETLIB_URL_READER_NETLIB
#define ACCEPTANCE NETLIB_URL_DIFFERENCE_ACCEPTANCE
#define SCHEME NETLIB_URL_DIFFERENCE_SCHEME
#define HOST NETLIB_URL_DIFFERENCE_HOST
#define PORT NETLIB_URL_DIFFERENCE_PORT

/* Each row has the input; the expected results of an RFC 3986 parser and of a WHATWG parser as "scheme host port", or
 * NULL if the parser refuses the input; the parts in which the results differ; and true if the strict profile accepts
 * the input. */
static const struct {
    const char *text;
    size_t len;
    const char *rfc3986, *whatwg;
    int32_t differences;
    bool strict;
} confusers[] = {
    /* Inputs for which the RFC 3986 parser and the WHATWG parser return the same parts. */
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
    /* Inputs that the RFC 3986 parser and the WHATWG parser refuse. */
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
    /* Inputs with spaces and control characters. */
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

/* Compares netlib's lenient parser with the RFC 3986 parser and the WHATWG parser. For netlib, a text without a scheme
 * begins with a host. As in the WHATWG standard, a backslash ends the authority. */
static void compare_readers_includes_the_lenient_parser_of_netlib(void) {
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

    /* For a value that enum netlib_url_reader does not have, the getters return the results of a parser that refuses
     * the URL. */
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

int main(void) {
    compare_readers_reports_where_two_parsers_differ();
    compare_readers_includes_the_lenient_parser_of_netlib();
    return report("url_readers");
}
