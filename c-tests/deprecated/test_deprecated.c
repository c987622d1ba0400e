/* Tests the results and the errors of the deprecated functions. */
#define NETLIB_DEPRECATED_NOTE(note)
#include "harness.h"

static void get_host_returns_scheme_host_and_port(void) {
    static const struct {
        const char *text, *scheme, *host;
        int32_t port;
    } rows[] = {
        {"http://google.com/mail/", "http", "google.com", -1},
        {"google.com:8000/mail", "http", "google.com", 8000},
        {"HTTPS://Google.com", "https", "google.com", -1},
        {"/path", "http", NULL, -1},
        {"", "http", NULL, -1},
        {"[::1]:80", "http", "[::1]", 80},
    };
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_get_host(rows[i].text, NETLIB_NTS, &url, &err));
        CHECK_STR(rows[i].scheme, netlib_url_scheme(url, NULL));
        CHECK_STR(rows[i].host, netlib_url_host(url, NULL));
        CHECK_INT(rows[i].port, netlib_url_port(url));
        netlib_url_free(url);
    }
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_get_host("http://a:b", NETLIB_NTS, &url, &err));
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_get_host("\xff", NETLIB_NTS, &url, &err));
    CHECK(url == NULL);
}

static void split_first_splits_at_the_first_delimiter(void) {
    static const char *const marks[] = {"?", "/", "="};
    static const char *const digits[] = {"1", "2", "3"};
    static const char *const long_marks[] = {"::", "b"};
    static const char *const broken[] = {"\xff"};
    static const char *const missing[] = {"a", NULL};
    static const struct {
        const char *text;
        const char *const *delimiters;
        size_t count, before_end, after_start;
        int64_t delimiter;
    } rows[] = {
        {"foo/bar?baz", marks, 3, 3, 4, 1}, {"foo/bar?baz", digits, 3, 11, 11, -1},
        {"foo", NULL, 0, 3, 3, -1},         {"a::b", long_marks, 2, 1, 2, 0},
        {"", marks, 3, 0, 0, -1},           {"x=", marks, 3, 1, 2, 2},
    };
    netlib_error *err = NULL;
    size_t before_end = 7;
    size_t after_start = 7;
    int64_t delimiter = 7;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_split_first(rows[i].text, NETLIB_NTS, rows[i].delimiters, rows[i].count, &before_end,
                                    &after_start, &delimiter, &err));
        CHECK_INT((long long)rows[i].before_end, (long long)before_end);
        CHECK_INT((long long)rows[i].after_start, (long long)after_start);
        CHECK_INT(rows[i].delimiter, delimiter);
    }
    CHECK_OK(netlib_split_first("a/b", 1, marks, 3, &before_end, &after_start, &delimiter, &err));
    CHECK_INT(-1, delimiter);
    CHECK_STATUS(NETLIB_INVALID_UTF8,
                 netlib_split_first("a", 1, broken, 1, &before_end, &after_start, &delimiter, &err));
    CHECK_STATUS(NETLIB_INVALID_UTF8,
                 netlib_split_first("\xff", 1, marks, 3, &before_end, &after_start, &delimiter, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                 netlib_split_first("a", 1, missing, 2, &before_end, &after_start, &delimiter, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                 netlib_split_first("a", 1, NULL, 1, &before_end, &after_start, &delimiter, &err));
    CHECK_INT(0, delimiter);
}

static void deprecated_retry_functions_behave_like_their_replacements(void) {
    static const char *const methods[] = {"POST"};
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_method_whitelist(options, methods, 1);
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    CHECK_INT(1, (long long)netlib_retry_allowed_method_count(retry));
    CHECK_STR("POST", netlib_retry_allowed_method(retry, 0, NULL));
    netlib_retry_free(retry);
    netlib_retry_options_free(options);

    /* netlib_retry_options_set_method_whitelist cannot be combined with set_allowed_methods, in either order, or with
     * allow_any_method. */
    for (int order = 0; order < 3; order++) {
        options = netlib_retry_options_new();
        if (order == 0) netlib_retry_options_set_allowed_methods(options, methods, 1);
        if (order == 2) netlib_retry_options_allow_any_method(options);
        netlib_retry_options_set_method_whitelist(options, methods, 1);
        if (order == 1) netlib_retry_options_set_allowed_methods(options, methods, 1);
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_new(options, &retry, &err));
        CHECK(retry == NULL);
        netlib_retry_options_free(options);
    }

    size_t count = 0;
    size_t old_count = 0;
    const char *const *list = netlib_retry_default_allowed_methods(&count);
    const char *const *old = netlib_retry_default_method_whitelist(&old_count);
    CHECK_INT((long long)count, (long long)old_count);
    for (size_t i = 0; i < count; i++) CHECK_STR(list[i], old[i]);
    old = netlib_retry_default_redirect_headers_blacklist(&old_count);
    CHECK_INT(1, (long long)old_count);
    CHECK_STR("Authorization", old[0]);
    CHECK_DOUBLE(120, netlib_backoff_max());
    CHECK_INT(3, netlib_retry_total_left(netlib_retry_default()));
    CHECK(netlib_retry_default() == netlib_retry_resolve(NULL, NULL));
}

int main(void) {
    get_host_returns_scheme_host_and_port();
    split_first_splits_at_the_first_delimiter();
    deprecated_retry_functions_behave_like_their_replacements();
    return report("deprecated");
}
