/* Tests the settings of a Retry: defaults, constants, getters, and the values that netlib_retry_new refuses. */
#include "retry_makers.h"

static void a_new_retry_has_the_defaults_of_urllib3(void) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    CHECK_OK(netlib_retry_new(NULL, &retry, &err));
    CHECK_INT(10, netlib_retry_total_left(retry));
    CHECK_INT(NETLIB_NONE, netlib_retry_connect_left(retry));
    CHECK_INT(NETLIB_NONE, netlib_retry_read_left(retry));
    CHECK_INT(NETLIB_NONE, netlib_retry_redirect_left(retry));
    CHECK_INT(NETLIB_NONE, netlib_retry_status_left(retry));
    CHECK_INT(NETLIB_NONE, netlib_retry_other_left(retry));
    CHECK_DOUBLE(0, netlib_retry_backoff_factor(retry));
    CHECK_DOUBLE(120, netlib_retry_backoff_max(retry));
    CHECK_DOUBLE(0, netlib_retry_backoff_jitter(retry));
    CHECK_DOUBLE(21600, netlib_retry_retry_after_max(retry));
    CHECK(netlib_retry_raise_on_redirect(retry));
    CHECK(netlib_retry_raise_on_status(retry));
    CHECK(netlib_retry_respect_retry_after_header(retry));
    CHECK_INT(NETLIB_REDIRECT_URLLIB3, netlib_retry_redirect_profile(retry));
    CHECK_INT(0, (long long)netlib_retry_status_forcelist_count(retry));
    CHECK_INT(-1, netlib_retry_status_forcelist_at(retry, 0));
    CHECK_INT(0, (long long)netlib_retry_history_count(retry));
    CHECK(!netlib_retry_allows_any_method(retry));
    CHECK_INT(0, netlib_retry_allows_any_method_if_stale(retry));
    static const char *const methods[] = {NETLIB_RETRY_DEFAULT_ALLOWED_METHODS};
    CHECK_INT(6, (long long)netlib_retry_allowed_method_count(retry));
    for (size_t i = 0; i < 6; i++) {
        size_t len = 0;
        CHECK_STR(methods[i], netlib_retry_allowed_method(retry, i, &len));
        CHECK_INT((long long)strlen(methods[i]), (long long)len);
    }
    CHECK(netlib_retry_allowed_method(retry, 6, NULL) == NULL);
    CHECK_INT(1, (long long)netlib_retry_removed_header_count(retry));
    CHECK_STR("authorization", netlib_retry_removed_header(retry, 0, NULL));
    CHECK(netlib_retry_removed_header(retry, 1, NULL) == NULL);
    CHECK(!is_exhausted(retry));
    netlib_retry_free(retry);
}

static void retry_list_functions_return_the_values_of_the_netlib_h_macros(void) {
    static const char *const methods[] = {NETLIB_RETRY_DEFAULT_ALLOWED_METHODS};
    static const char *const headers[] = {NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT};
    static const char *const sensitive[] = {NETLIB_SENSITIVE_HEADERS};
    static const int32_t retry_after[] = {NETLIB_RETRY_AFTER_STATUS_CODES};
    static const int32_t redirect[] = {NETLIB_REDIRECT_STATUS_CODES};
    const struct {
        const char *const *(*list)(size_t *);
        const char *const *expected;
        size_t count;
    } texts[] = {
        {netlib_retry_default_allowed_methods, methods, sizeof methods / sizeof methods[0]},
        {netlib_retry_default_remove_headers_on_redirect, headers, 1},
        {netlib_sensitive_headers, sensitive, sizeof sensitive / sizeof sensitive[0]},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t count = 0;
        const char *const *list = texts[i].list(&count);
        CHECK(texts[i].list(NULL) == list);
        CHECK_INT((long long)texts[i].count, (long long)count);
        for (size_t j = 0; j < count && j < texts[i].count; j++) CHECK_STR(texts[i].expected[j], list[j]);
    }
    size_t count = 0;
    const int32_t *codes = netlib_retry_after_status_codes(&count);
    CHECK_INT(3, (long long)count);
    CHECK(memcmp(codes, retry_after, sizeof retry_after) == 0);
    codes = netlib_redirect_status_codes(&count);
    CHECK_INT(5, (long long)count);
    CHECK(memcmp(codes, redirect, sizeof redirect) == 0);
    CHECK_DOUBLE(NETLIB_RETRY_DEFAULT_BACKOFF_MAX, netlib_retry_default_backoff_max());
    CHECK_INT(10, NETLIB_RETRY_DEFAULT_TOTAL);
    CHECK_DOUBLE(21600, NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX);
}

static void every_retry_setting_can_be_read_back(void) {
    static const char *const methods[] = {"post", "GET", "Post", "M-SEARCH"};
    static const int32_t codes[] = {503, 500, 503};
    static const char *const names[] = {"X-Key", "COOKIE", "cookie"};
    netlib_error *failure = error_of(NETLIB_READ_TIMEOUT, NULL);
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, 1);
    netlib_retry_options_set_connect(options, 2);
    netlib_retry_options_set_read(options, NETLIB_RETRY_DISABLED);
    netlib_retry_options_set_redirect(options, 4);
    netlib_retry_options_set_status(options, -5);
    netlib_retry_options_set_other(options, INT32_MAX);
    netlib_retry_options_set_allowed_methods(options, methods, 4);
    netlib_retry_options_set_any_method_if_stale(options, 1);
    netlib_retry_options_set_status_forcelist(options, codes, 3);
    netlib_retry_options_set_backoff_factor(options, 0.25);
    netlib_retry_options_set_backoff_max(options, NETLIB_TIMEOUT_NONE);
    netlib_retry_options_set_backoff_jitter(options, 0.5);
    netlib_retry_options_set_retry_after_max(options, 7);
    netlib_retry_options_set_raise_on_redirect(options, 0);
    netlib_retry_options_set_raise_on_status(options, 0);
    netlib_retry_options_set_respect_retry_after_header(options, 0);
    netlib_retry_options_set_remove_headers_on_redirect(options, names, 3);
    netlib_retry_options_set_redirect_profile(options, NETLIB_REDIRECT_SAFE);
    netlib_retry_options_add_history(options, "GET", "/a", failure, NETLIB_NONE, NULL);
    netlib_retry_options_add_history(options, NULL, NULL, NULL, 302, "/b");
    netlib_error_free(failure);
    netlib_retry *first = retry_of(options);
    netlib_retry *second = retry_of(netlib_retry_to_options(first));
    netlib_retry *third = netlib_retry_clone(second);
    netlib_retry_free(first);
    netlib_retry_free(second);

    CHECK_INT(1, netlib_retry_total_left(third));
    CHECK_INT(2, netlib_retry_connect_left(third));
    CHECK_INT(NETLIB_RETRY_DISABLED, netlib_retry_read_left(third));
    CHECK_INT(4, netlib_retry_redirect_left(third));
    CHECK_INT(-5, netlib_retry_status_left(third));
    CHECK_INT(INT32_MAX, netlib_retry_other_left(third));
    CHECK_INT(3, (long long)netlib_retry_allowed_method_count(third));
    CHECK_INT(1, netlib_retry_allows_any_method_if_stale(third));
    CHECK_STR("GET", netlib_retry_allowed_method(third, 0, NULL));
    CHECK_STR("M-SEARCH", netlib_retry_allowed_method(third, 1, NULL));
    CHECK_STR("POST", netlib_retry_allowed_method(third, 2, NULL));
    CHECK_INT(2, (long long)netlib_retry_status_forcelist_count(third));
    CHECK_INT(500, netlib_retry_status_forcelist_at(third, 0));
    CHECK_INT(503, netlib_retry_status_forcelist_at(third, 1));
    CHECK_DOUBLE(0.25, netlib_retry_backoff_factor(third));
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_retry_backoff_max(third));
    CHECK_DOUBLE(0.5, netlib_retry_backoff_jitter(third));
    CHECK_DOUBLE(7, netlib_retry_retry_after_max(third));
    CHECK(!netlib_retry_raise_on_redirect(third));
    CHECK(!netlib_retry_raise_on_status(third));
    CHECK(!netlib_retry_respect_retry_after_header(third));
    CHECK_INT(NETLIB_REDIRECT_SAFE, netlib_retry_redirect_profile(third));
    CHECK_INT(2, (long long)netlib_retry_removed_header_count(third));
    CHECK_STR("cookie", netlib_retry_removed_header(third, 0, NULL));
    CHECK_STR("x-key", netlib_retry_removed_header(third, 1, NULL));
    CHECK_INT(2, (long long)netlib_retry_history_count(third));
    CHECK_STR("GET", netlib_retry_history_method(third, 0, NULL));
    CHECK_STR("/a", netlib_retry_history_url(third, 0, NULL));
    CHECK_INT(NETLIB_READ_TIMEOUT, netlib_error_status(netlib_retry_history_error(third, 0)));
    CHECK_INT(NETLIB_NONE, netlib_retry_history_status(third, 0));
    CHECK_STR(NULL, netlib_retry_history_redirect_location(third, 0, NULL));
    CHECK_STR(NULL, netlib_retry_history_method(third, 1, NULL));
    CHECK_STR(NULL, netlib_retry_history_url(third, 1, NULL));
    CHECK(netlib_retry_history_error(third, 1) == NULL);
    CHECK_INT(302, netlib_retry_history_status(third, 1));
    size_t len = 0;
    CHECK_STR("/b", netlib_retry_history_redirect_location(third, 1, &len));
    CHECK_INT(2, (long long)len);
    CHECK_STR("/a", netlib_retry_history_redacted_url(third, 0, &len));
    CHECK_INT(2, (long long)len);
    CHECK_STR(NULL, netlib_retry_history_redacted_url(third, 1, &len));
    CHECK_INT(0, (long long)len);
    CHECK_STR(NULL, netlib_retry_history_redacted_redirect_location(third, 0, NULL));
    CHECK_STR("/b", netlib_retry_history_redacted_redirect_location(third, 1, NULL));
    CHECK_STR(NULL, netlib_retry_history_redacted_url(third, 2, NULL));
    CHECK_STR(NULL, netlib_retry_history_redacted_url(NULL, 0, NULL));
    CHECK_STR(NULL, netlib_retry_history_redacted_redirect_location(NULL, 0, NULL));
    /* Getters with an index beyond the end of the history return no value. */
    CHECK_STR(NULL, netlib_retry_history_method(third, 2, NULL));
    CHECK(netlib_retry_history_error(third, 2) == NULL);
    CHECK_INT(NETLIB_NONE, netlib_retry_history_status(third, 2));
    CHECK(is_exhausted(third));
    netlib_retry_free(third);
}

static void errors_of_invalid_retry_settings_name_the_setter(void) {
    static const char *const bad_token[] = {"GET", "a b"};
    static const char *const hole[] = {"GET", NULL};
    static const int32_t bad_code[] = {500, 99};
    for (int i = 0; i < 22; i++) {
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_status expected = NETLIB_INVALID_ARGUMENT;
        const char *setter = "";
        switch (i) {
        case 0: netlib_retry_options_set_status(options, NETLIB_RETRY_DISABLED), setter = "set_status"; break;
        case 1:
            netlib_retry_options_set_status_forcelist(options, &(int32_t){1000}, 1), setter = "set_status_forcelist";
            break;
        case 2: netlib_retry_options_set_allowed_methods(options, bad_token, 2), setter = "set_allowed_methods"; break;
        case 3:
            netlib_retry_options_set_allowed_methods(options, hole, 2), setter = "set_allowed_methods",
                                                                        expected = NETLIB_NULL_ARGUMENT;
            break;
        case 4:
            netlib_retry_options_set_allowed_methods(options, NULL, 1), setter = "set_allowed_methods",
                                                                        expected = NETLIB_NULL_ARGUMENT;
            break;
        case 5:
            netlib_retry_options_set_allowed_methods(options, bad_token, SIZE_MAX), setter = "set_allowed_methods";
            break;
        case 6: netlib_retry_options_set_status_forcelist(options, bad_code, 2), setter = "set_status_forcelist"; break;
        case 7:
            netlib_retry_options_set_status_forcelist(options, NULL, 3), setter = "set_status_forcelist",
                                                                         expected = NETLIB_NULL_ARGUMENT;
            break;
        case 8: netlib_retry_options_set_backoff_factor(options, -1), setter = "set_backoff_factor"; break;
        case 9: netlib_retry_options_set_backoff_factor(options, NAN), setter = "set_backoff_factor"; break;
        case 10: netlib_retry_options_set_backoff_factor(options, INFINITY), setter = "set_backoff_factor"; break;
        case 11: netlib_retry_options_set_backoff_max(options, NAN), setter = "set_backoff_max"; break;
        case 12: netlib_retry_options_set_backoff_jitter(options, INFINITY), setter = "set_backoff_jitter"; break;
        case 13: netlib_retry_options_set_retry_after_max(options, -0.5), setter = "set_retry_after_max"; break;
        case 14: netlib_retry_options_set_raise_on_redirect(options, 2), setter = "set_raise_on_redirect"; break;
        case 15: netlib_retry_options_set_raise_on_status(options, -1), setter = "set_raise_on_status"; break;
        case 16:
            netlib_retry_options_set_respect_retry_after_header(options, 7), setter = "set_respect_retry_after_header";
            break;
        case 17:
            netlib_retry_options_set_remove_headers_on_redirect(options, bad_token, 2),
                setter = "set_remove_headers_on_redirect";
            break;
        case 18: netlib_retry_options_set_redirect_profile(options, 2), setter = "set_redirect_profile"; break;
        case 19:
            netlib_retry_options_add_history(options, "a\r\nb", NULL, NULL, NETLIB_NONE, NULL), setter = "add_history";
            break;
        case 20: netlib_retry_options_set_any_method_if_stale(options, 2), setter = "set_any_method_if_stale"; break;
        default: netlib_retry_options_add_history(options, NULL, NULL, NULL, 0, NULL), setter = "add_history"; break;
        }
        /* The error names the first refused setting, even if the value of a later setter is refused too. */
        netlib_retry_options_set_jitter_kind(options, (enum netlib_jitter_kind)99);
        netlib_error *err = NULL;
        netlib_retry *retry = NULL;
        netlib_status status = netlib_retry_new(options, &retry, &err);
        char name[128];
        snprintf(name, sizeof name, "netlib_retry_options_%s: ", setter);
        CHECK(strncmp(netlib_error_message(err, NULL), name, strlen(name)) == 0);
        CHECK_STATUS(expected, status);
        CHECK(retry == NULL);
        netlib_retry_options_free(options);
    }
}

int main(void) {
    a_new_retry_has_the_defaults_of_urllib3();
    retry_list_functions_return_the_values_of_the_netlib_h_macros();
    every_retry_setting_can_be_read_back();
    errors_of_invalid_retry_settings_name_the_setter();
    return report("retry_settings");
}
