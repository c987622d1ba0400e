/* Tests netlib_url_options, from which URLs and changed copies of URLs are made. */
#include "harness.h"

enum component { SCHEME, AUTH, HOST, PATH, QUERY, FRAGMENT };
typedef void setter(netlib_url_options *options, const char *value);
static setter *const setters[] = {netlib_url_options_set_scheme, netlib_url_options_set_auth,
                                  netlib_url_options_set_host,   netlib_url_options_set_path,
                                  netlib_url_options_set_query,  netlib_url_options_set_fragment};

static netlib_url_options *options_of(const char *text) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_parse_url(text, NETLIB_NTS, &url, &err));
    netlib_url_options *options = netlib_url_to_options(url);
    netlib_url_free(url);
    return options;
}

/* Makes the URL, compares its text, and frees the options. */
static void check_url(const char *expected, netlib_url_options *options) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_url_from_options(options, &url, &err));
    CHECK_STR(expected, netlib_url_to_string(url, NULL));
    netlib_url_free(url);
    netlib_url_options_free(options);
}

#define ALL "http://u:p@h:81/p?q#f"

static void changing_one_component_keeps_the_others(void) {
    static const struct {
        const char *url;
        enum component component;
        const char *value, *expected;
    } rows[] = {
        {ALL, SCHEME, "HTTPS", "https://u:p@h:81/p?q#f"},
        {ALL, SCHEME, NULL, "//u:p@h:81/p?q#f"},
        {ALL, AUTH, "x%3ay", "http://x%3Ay@h:81/p?q#f"},
        {ALL, AUTH, NULL, "http://h:81/p?q#f"},
        {ALL, HOST, "Example.COM", "http://u:p@example.com:81/p?q#f"},
        {ALL, HOST, "[::1]", "http://u:p@[::1]:81/p?q#f"},
        {ALL, PATH, "a b/../c", "http://u:p@h:81/c?q#f"},
        {ALL, PATH, "/@evil:80", "http://u:p@h:81/@evil:80?q#f"},
        {ALL, PATH, NULL, "http://u:p@h:81?q#f"},
        {ALL, QUERY, "a=b c", "http://u:p@h:81/p?a=b%20c#f"},
        {ALL, QUERY, "", "http://u:p@h:81/p?#f"},
        {ALL, QUERY, NULL, "http://u:p@h:81/p#f"},
        {ALL, FRAGMENT, "x#y", "http://u:p@h:81/p?q#x%23y"},
        {ALL, FRAGMENT, NULL, "http://u:p@h:81/p?q"},
        {"http://h", PATH, "//x", "http://h//x"},
        {"/a", PATH, "//x", "/.//x"},
        {"http://[fe80::1%25eth0]/", PATH, "/a", "http://[fe80::1%eth0]/a"},
        {"ftp://H/a b", SCHEME, "http", "http://h/a%20b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_url_options *options = options_of(rows[i].url);
        setters[rows[i].component](options, rows[i].value);
        check_url(rows[i].expected, options);
    }
    netlib_url_options *options = options_of(ALL);
    netlib_url_options_set_port(options, -1);
    check_url("http://u:p@h/p?q#f", options);
}

static void a_value_that_would_begin_another_component_is_refused(void) {
    static const struct {
        enum component component;
        const char *value, *message;
    } rows[] = {
        {SCHEME, "ht:tp",
         "netlib_url_options_set_scheme: the scheme has a character that is not a letter, digit, \"+\" or \"-\" at byte "
         "2"},
        {AUTH, "u@h/", "netlib_url_options_set_auth: the userinfo has a character that would end it at byte 3"},
        {HOST, "h/@", "netlib_url_options_set_host: the host has a character that is not allowed in a host at byte 1"},
        {HOST, "h:80", "netlib_url_options_set_host: the host has a character that is not allowed in a host at byte 1"},
        {HOST, "u@h", "netlib_url_options_set_host: the host has a character that is not allowed in a host at byte 1"},
        {HOST, "h\r\nX: y", "netlib_url_options_set_host: the host has a space or control character at byte 1"},
        {PATH, "/a?x", "netlib_url_options_set_path: the path has a character that would end it at byte 2"},
        {PATH, "?x#y", "netlib_url_options_set_path: the path has a character that would end it at byte 0"},
        {PATH, "/\r\n", "netlib_url_options_set_path: the path has a line break or NUL at byte 1"},
        {QUERY, "a#b", "netlib_url_options_set_query: the query has a character that would end it at byte 1"},
        {FRAGMENT, "a\n", "netlib_url_options_set_fragment: the fragment has a line break or NUL at byte 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        netlib_url_options *options = options_of(ALL);
        setters[rows[i].component](options, rows[i].value);
        netlib_status status = netlib_url_from_options(options, &url, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_INVALID_URL, status);
        CHECK(url == NULL);
        CHECK_STATUS(NETLIB_INVALID_URL, netlib_url_options_check(options, &err));
        setters[rows[i].component](options, NULL);
        CHECK_OK(netlib_url_options_check(options, &err));
        netlib_url_options_free(options);
    }
}

static void url_from_options_refuses_userinfo_without_a_host(void) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_url_options *options = netlib_url_options_new();
    netlib_url_options_set_auth(options, "u");
    CHECK_OK(netlib_url_options_check(options, &err));
    netlib_status status = netlib_url_from_options(options, &url, &err);
    CHECK_STR("the URL has userinfo or a port but no host", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_URL, status);
    netlib_url_options_set_host(options, "h");
    check_url("u@h", options);

    options = netlib_url_options_new();
    netlib_url_options_set_path(options, "\xff");
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_url_from_options(options, &url, &err));
    netlib_url_options_free(options);
    check_url("", NULL);
}

static void credentials_are_encoded_and_read_back(void) {
    static const struct {
        const char *username, *password, *url;
    } rows[] = {
        {"user", "p@ss:/w%rd", "http://user:p%40ss%3A%2Fw%25rd@h"},
        {"a:b", NULL, "http://a%3Ab@h"},
        {"user", "", "http://user:@h"},
        {NULL, NULL, "http://h"},
        {"", NULL, "http://h"},
        {"\xff", "\n", "http://%FF:%0A@h"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        const char *text = NULL;
        netlib_url_options *options = options_of("http://old@h");
        netlib_url_options_set_credentials(options, rows[i].username, rows[i].password);
        CHECK_OK(netlib_url_from_options(options, &url, &err));
        CHECK_STR(rows[i].url, netlib_url_to_string(url, NULL));
        CHECK_OK(netlib_url_username(url, &text, NULL, &err));
        CHECK_STR(rows[i].username != NULL && rows[i].username[0] != 0 ? rows[i].username : NULL, text);
        CHECK_OK(netlib_url_password(url, &text, NULL, &err));
        CHECK_STR(rows[i].password, text);
        netlib_url_free(url);
        netlib_url_options_free(options);
    }
}

static void options_of_a_url_without_slashes_add_a_leading_slash_to_the_path(void) {
    netlib_error *err = NULL;
    netlib_url *base = NULL, *url = NULL;
    CHECK_OK(netlib_parse_url("http://h/", NETLIB_NTS, &base, &err));
    CHECK_OK(netlib_url_resolve(base, "mailto:a@b", NETLIB_NTS, &url, &err));
    CHECK_STR("mailto:a@b", netlib_url_to_string(url, NULL));
    check_url("mailto:///a@b", netlib_url_to_options(url));
    netlib_url_free(url);
    netlib_url_free(base);
    CHECK(netlib_url_to_options(NULL) == NULL);
}

int main(void) {
    changing_one_component_keeps_the_others();
    a_value_that_would_begin_another_component_is_refused();
    url_from_options_refuses_userinfo_without_a_host();
    credentials_are_encoded_and_read_back();
    options_of_a_url_without_slashes_add_a_leading_slash_to_the_path();
    return report("url options");
}
