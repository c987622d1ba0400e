/* Tests netlib_no_proxy_match, which matches URLs against a list in the syntax of NO_PROXY. */
#include "harness.h"

static void no_proxy_entries_match_the_hosts_that_they_name(void) {
    static const struct {
        const char *list, *url;
        int32_t matches;
    } rows[] = {
        {"", "http://example.com", 0},
        {"*", "http://example.com", 1},
        {"a.org,*", "http://[::1]", 1},
        {"*:8080", "http://h", 0},
        {"example.com", "http://example.com", 1},
        {"example.com", "http://www.example.com", 1},
        {"example.com", "http://badexample.com", 0},
        {"example.com", "http://example.com.evil.org", 0},
        {".example.com", "http://example.com", 1},
        {".example.com", "http://www.example.com", 1},
        {"*.example.com", "http://example.com", 0},
        {"*.example.com", "http://www.example.com", 1},
        {"EXAMPLE.com", "http://www.Example.COM", 1},
        {"example.com.", "http://example.com", 1},
        {"example.com", "http://example.com.", 1},
        {".", "http://example.com.", 0},
        {"a.org, example.com", "http://example.com", 1},
        {"a.org example.com", "http://example.com", 1},
        {"a.org;example.com", "http://example.com", 0},
        {"example.com:8080", "http://example.com:8080", 1},
        {"example.com:8080", "http://example.com", 0},
        {"example.com:80", "http://example.com", 1},
        {"example.com:443", "https://example.com", 1},
        {"example.com:65616", "http://example.com", 0},
        {"192.0.2.1", "http://192.0.2.1", 1},
        {"192.0.2.1", "http://a.192.0.2.1", 0},
        {"2.1", "http://192.0.2.1", 0},
        {"192.0.2.1:80", "http://192.0.2.1", 1},
        {"192.0.2.1:81", "http://192.0.2.1", 0},
        {"::1", "http://[::1]:8080", 1},
        {"[::1]", "http://[::1]:8080", 1},
        {"[::1]:8080", "http://[::1]:8080", 1},
        {"[::1]:8080", "http://[::1]", 0},
        {"192.0.2.1", "http://[::ffff:192.0.2.1]", 1},
        {"fe80::1", "http://[fe80::1%25eth0]", 1},
        {"10.0.0.0/8", "http://10.255.0.1", 1},
        {"10.0.0.0/8", "http://11.0.0.1", 0},
        {"10.0.0.0/8", "http://10.example.com", 0},
        {"10.0.0.0/33", "http://10.0.0.0", 0},
        {"10.0.0.0/8:80", "http://10.0.0.0", 0},
        {"2001:db8::/32", "http://[2001:db8:1::1]", 1},
        {"2001:db8::/32", "http://[2001:db9::1]", 0},
        {"0.0.0.0/0", "http://[::1]", 0},
        {"http://example.com", "http://example.com", 0},
        {"\xff,example.com", "http://example.com", 1},
        {"*", "/path", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        CHECK_OK(netlib_parse_url(rows[i].url, NETLIB_NTS, &url, &err));
        int32_t matches = netlib_no_proxy_match(rows[i].list, url);
        if (matches != rows[i].matches) fprintf(stderr, "list \"%s\", URL %s\n", rows[i].list, rows[i].url);
        CHECK_INT(rows[i].matches, matches);
        netlib_url_free(url);
    }
}

static void a_null_list_or_url_matches_nothing(void) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_parse_url("http://h", NETLIB_NTS, &url, &err));
    CHECK_INT(0, netlib_no_proxy_match(NULL, url));
    CHECK_INT(0, netlib_no_proxy_match("*", NULL));
    netlib_url_free(url);
}

int main(void) {
    no_proxy_entries_match_the_hosts_that_they_name();
    a_null_list_or_url_matches_nothing();
    return report("no_proxy");
}
