/* Tests the protection of applications against untrusted URLs: the strict profile, percent-decoded credentials, the
 * redacted form, and linear parsing time. Differences between URL parsers are tested in test_url_readers.c. */
#include "harness.h"

#include <time.h>

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
        {"http://user:secret@a\\b/", NETLIB_INVALID_URL, 20,
         "the host has a character that is not allowed in a host name at byte 20"},
        {"http://se cret@h", NETLIB_INVALID_URL, 9,
         "the userinfo has a character that RFC 3986 does not allow there, at byte 9"},
        {"http://a@b@c", NETLIB_INVALID_URL, 10, "the authority has a second \"@\" at byte 10"},
        {"http://h:0", NETLIB_INVALID_URL, 9, "the port is 0, at byte 9"},
        {"http://127.1/", NETLIB_INVALID_URL, 7,
         "the host ends in a number and is not a dotted-decimal IPv4 address, at byte 7"},
        {"http://h/a/%2e%2E", NETLIB_INVALID_URL, 11, "the path has a percent-encoded dot segment at byte 11"},
        {"http://h/../a", NETLIB_INVALID_URL, 9, "the path has a \"..\" segment that leads above its root at byte 9"},
        {"http://h/?a[]=1", NETLIB_INVALID_URL, 11,
         "the query has a character that RFC 3986 does not allow there, at byte 11"},
        {"http://h/%4", NETLIB_INVALID_URL, 9,
         "the path has a \"%\" that does not begin a percent-encoding, at byte 9"},
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
    /* The length, not the NUL, decides where the text ends. */
    CHECK_OK(netlib_parse_url_strict("http://host/ab cd", 14, &url, &err));
    CHECK_STR("http://host/ab", netlib_url_to_string(url, NULL));
    netlib_url_free(url);
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_parse_url_strict("http://h/a\0b", 12, &url, &err));
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_parse_url_strict(NULL, 0, &url, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_parse_url_strict(NULL, NETLIB_NTS, &url, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_parse_url_strict("http://h", NETLIB_NTS, NULL, &err));
}

static void redacted_urls_contain_no_credentials_query_values_or_fragment(void) {
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
        /* The prefix "/." keeps a parser from reading the path of the redacted form as a host. */
        {"////x/y", "/.//x/y"},
        {"////u:p@h/x", "/***@h/x"},
        {"//http:80/x", "//http:80/x"},
        {"//user:pw@h", "***@h"},
        {"[fe80::1%252500]", "[fe80::1%252500]"},
        /* The redacted form is one line, and contains no terminal control characters. */
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

/* Each row has the expected user name and password, or NULL if absent, and the offset of an encoded NUL in each of
 * them, or -1. */
static void credentials_are_percent_decoded_and_encoded_nul_is_refused(void) {
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
    CHECK_STR("the password has an encoded NUL, which would end the string, at byte 11",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_URL, status);
    len = 99;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_url_username(NULL, &text, &len, &err));
    CHECK(text == NULL && len == 0);
    netlib_url_free(url);
}

/* Passes CR, LF and NUL in every argument of the functions that create a URL. The functions refuse or percent-encode
 * these bytes, so the URL and its request target never contain them. */
static void cr_lf_and_nul_reach_no_url_and_no_request_target(void) {
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

/* Returns a text of `len` bytes that consists of `before`, repetitions of `unit`, and `after`. */
static char *hostile(const char *before, const char *unit, const char *after, size_t len) {
    char *text = malloc(len + 1);
    size_t start = strlen(before), end = len - strlen(after), n = strlen(unit);
    if (text == NULL) abort();
    memcpy(text, before, start);
    for (size_t at = start; at < end; at++) text[at] = unit[(at - start) % n];
    strcpy(text + end, after);
    return text;
}

/* Passes the text to all functions that parse URLs, in two runs. Returns the processor time of the faster run in
 * seconds. */
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

/* Linear parsing takes 16 times as long for a text of 16 times the length. Quadratic parsing would take 256 times as
 * long. The test allows a factor of 64, because other programs use the machine as well. */
static void url_parsing_takes_linear_time(void) {
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
    redacted_urls_contain_no_credentials_query_values_or_fragment();
    credentials_are_percent_decoded_and_encoded_nul_is_refused();
    cr_lf_and_nul_reach_no_url_and_no_request_target();
    url_parsing_takes_linear_time();
    return report("url_safety");
}
