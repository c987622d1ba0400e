/* Tests how a Retry counts failures and records them in its history. The settings are tested in test_retry_settings.c,
 * delays in test_retry_delay.c, and decisions in test_retry_decide.c. */
#include "retry_makers.h"

static bool is_retry(const netlib_retry *retry, const char *method, int32_t status, int32_t has_retry_after) {
    netlib_error *err = NULL;
    int32_t answer = 0;
    CHECK_OK(netlib_retry_is_retry(retry, method, status, has_retry_after, &answer, &err));
    return answer;
}

/* The counts of a Retry. */
struct counts {
    int32_t total, connect, read, redirect, status, other;
};

static void check_counts(struct counts expected, const netlib_retry *retry) {
    CHECK_INT(expected.total, netlib_retry_total_left(retry));
    CHECK_INT(expected.connect, netlib_retry_connect_left(retry));
    CHECK_INT(expected.read, netlib_retry_read_left(retry));
    CHECK_INT(expected.redirect, netlib_retry_redirect_left(retry));
    CHECK_INT(expected.status, netlib_retry_status_left(retry));
    CHECK_INT(expected.other, netlib_retry_other_left(retry));
}

/* Returns a Retry whose total is 9, and whose other counts are all 5. */
static netlib_retry *retry_with_counts(void) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, 9);
    netlib_retry_options_set_connect(options, 5);
    netlib_retry_options_set_read(options, 5);
    netlib_retry_options_set_redirect(options, 5);
    netlib_retry_options_set_status(options, 5);
    netlib_retry_options_set_other(options, 5);
    return retry_of(options);
}

static void retry_increment_decrements_the_total_and_the_count_of_the_failure_kind(void) {
    static const struct {
        int32_t error, status;
        const char *fields;
        struct counts after;
        int32_t recorded;
        const char *location;
    } rows[] = {
        {NETLIB_CONNECT_FAILED, 0, NULL, {8, 4, 5, 5, 5, 5}, NETLIB_NONE, NULL},
        {NETLIB_NAME_RESOLUTION, 0, NULL, {8, 4, 5, 5, 5, 5}, NETLIB_NONE, NULL},
        {NETLIB_CONNECT_TIMEOUT, 0, NULL, {8, 4, 5, 5, 5, 5}, NETLIB_NONE, NULL},
        {NETLIB_READ_TIMEOUT, 0, NULL, {8, 5, 4, 5, 5, 5}, NETLIB_NONE, NULL},
        {NETLIB_PROTOCOL, 0, NULL, {8, 5, 4, 5, 5, 5}, NETLIB_NONE, NULL},
        {NETLIB_CERTIFICATE_VERIFY, 0, NULL, {8, 5, 5, 5, 5, 4}, NETLIB_NONE, NULL},
        {NETLIB_PROXY_FAILED, 0, NULL, {8, 5, 5, 5, 5, 4}, NETLIB_NONE, NULL},
        {0, 302, "Location: /x\r\n", {8, 5, 5, 4, 5, 5}, 302, "/x"},
        {0, 308, "Location: http://b/\r\n", {8, 5, 5, 4, 5, 5}, 308, "http://b/"},
        {0, 302, "", {8, 5, 5, 5, 4, 5}, 302, NULL},
        {0, 200, "Location: /x\r\n", {8, 5, 5, 5, 4, 5}, 200, NULL},
        {0, 503, "", {8, 5, 5, 5, 4, 5}, 503, NULL},
        {0, 0, NULL, {8, 5, 5, 5, 5, 5}, NETLIB_NONE, NULL},
        /* If an error and a response are passed, the error is counted, but as a read error, because the response proves
         * that the request was sent. */
        {NETLIB_CONNECT_FAILED, 503, "", {8, 5, 4, 5, 5, 5}, NETLIB_NONE, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_retry *next = NULL;
        netlib_error *error = rows[i].error != 0 ? error_of(rows[i].error, NULL) : NULL;
        netlib_response *response = rows[i].status != 0 ? response_of(rows[i].status, rows[i].fields) : NULL;
        netlib_retry *retry = retry_with_counts();
        CHECK_OK(netlib_retry_increment(retry, "GET", "/u?q", response, error, &next, &err));
        check_counts(rows[i].after, next);
        check_counts((struct counts){9, 5, 5, 5, 5, 5}, retry);
        CHECK_INT(0, (long long)netlib_retry_history_count(retry));
        CHECK_INT(1, (long long)netlib_retry_history_count(next));
        CHECK_STR("GET", netlib_retry_history_method(next, 0, NULL));
        CHECK_STR("/u?q", netlib_retry_history_url(next, 0, NULL));
        CHECK((netlib_retry_history_error(next, 0) != NULL) == (error != NULL));
        CHECK_INT(rows[i].recorded, netlib_retry_history_status(next, 0));
        CHECK_STR(rows[i].location, netlib_retry_history_redirect_location(next, 0, NULL));
        netlib_retry_free(next);
        netlib_retry_free(retry);
        netlib_response_free(response);
        netlib_error_free(error);
    }
}

static void a_proxy_failure_is_counted_like_its_cause(void) {
    static const struct {
        netlib_status cause;
        const char *method;
        bool is_counted;
        struct counts after;
    } rows[] = {
        {NETLIB_CONNECT_FAILED, "GET", true, {8, 4, 5, 5, 5, 5}},
        {NETLIB_CONNECT_FAILED, "POST", true, {8, 4, 5, 5, 5, 5}},
        {NETLIB_CONNECT_FAILED, NULL, true, {8, 4, 5, 5, 5, 5}},
        {NETLIB_CERTIFICATE_VERIFY, "POST", true, {8, 5, 5, 5, 5, 4}},
        {NETLIB_READ_TIMEOUT, "GET", true, {8, 5, 4, 5, 5, 5}},
        {NETLIB_READ_TIMEOUT, "POST", false, {0}},
        {NETLIB_READ_TIMEOUT, NULL, false, {0}},
        {NETLIB_CANCELLED, "GET", false, {0}},
        {NETLIB_DEADLINE_EXCEEDED, "GET", false, {0}},
        {NETLIB_ADDRESS_REFUSED, "GET", false, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL, *cause = error_of(rows[i].cause, NULL), *error = error_of(NETLIB_PROXY_FAILED, cause);
        netlib_retry *retry = retry_with_counts(), *next = NULL;
        netlib_status status = netlib_retry_increment(retry, rows[i].method, "/", NULL, error, &next, &err);
        CHECK_STATUS(rows[i].is_counted ? NETLIB_OK : NETLIB_PROXY_FAILED, status);
        if (next != NULL && rows[i].is_counted) check_counts(rows[i].after, next);
        netlib_retry_free(next);
        netlib_retry_free(retry);
        netlib_error_free(error);
        netlib_error_free(cause);
    }
}

static void retry_increment_fails_if_the_policy_allows_no_retry(void) {
    enum { TOTAL, CONNECT, READ, REDIRECT, OTHER, NOTHING };
    static const struct {
        int which;
        int32_t count;
        const char *method;
        int32_t error, status;
        netlib_status expected, reason;
    } rows[] = {
        {TOTAL, 0, "GET", NETLIB_CONNECT_FAILED, 0, NETLIB_MAX_RETRY, NETLIB_CONNECT_FAILED},
        {TOTAL, 0, "GET", 0, 302, NETLIB_MAX_RETRY, NETLIB_TOO_MANY_REDIRECTS},
        {TOTAL, 0, "GET", 0, 500, NETLIB_MAX_RETRY, NETLIB_RESPONSE_STATUS},
        {TOTAL, 0, "GET", 0, 0, NETLIB_MAX_RETRY, NETLIB_RESPONSE_STATUS},
        {TOTAL, NETLIB_RETRY_DISABLED, "GET", NETLIB_CONNECT_FAILED, 0, NETLIB_CONNECT_FAILED, NETLIB_OK},
        {TOTAL, NETLIB_RETRY_DISABLED, "GET", 0, 500, NETLIB_RESPONSE_STATUS, NETLIB_OK},
        {TOTAL, NETLIB_RETRY_DISABLED, "GET", 0, 302, NETLIB_TOO_MANY_REDIRECTS, NETLIB_OK},
        {TOTAL, NETLIB_RETRY_DISABLED, "GET", 0, 0, NETLIB_RESPONSE_STATUS, NETLIB_OK},
        {CONNECT, 0, "POST", NETLIB_CONNECT_FAILED, 0, NETLIB_MAX_RETRY, NETLIB_CONNECT_FAILED},
        {CONNECT, NETLIB_RETRY_DISABLED, "GET", NETLIB_CONNECT_FAILED, 0, NETLIB_CONNECT_FAILED, NETLIB_OK},
        {CONNECT, NETLIB_RETRY_DISABLED, "GET", NETLIB_READ_TIMEOUT, 0, NETLIB_OK, NETLIB_OK},
        {READ, 0, "GET", NETLIB_READ_TIMEOUT, 0, NETLIB_MAX_RETRY, NETLIB_READ_TIMEOUT},
        {READ, NETLIB_RETRY_DISABLED, "GET", NETLIB_READ_TIMEOUT, 0, NETLIB_READ_TIMEOUT, NETLIB_OK},
        {OTHER, 0, "GET", NETLIB_CERTIFICATE_VERIFY, 0, NETLIB_MAX_RETRY, NETLIB_CERTIFICATE_VERIFY},
        {OTHER, NETLIB_RETRY_DISABLED, "GET", NETLIB_CERTIFICATE_VERIFY, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_OK},
        {OTHER, NETLIB_RETRY_DISABLED, "POST", NETLIB_CONNECT_FAILED, 0, NETLIB_OK, NETLIB_OK},
        {REDIRECT, 0, "GET", 0, 302, NETLIB_MAX_RETRY, NETLIB_TOO_MANY_REDIRECTS},
        {REDIRECT, NETLIB_RETRY_DISABLED, "GET", 0, 302, NETLIB_MAX_RETRY, NETLIB_TOO_MANY_REDIRECTS},
        {NOTHING, 0, "POST", NETLIB_READ_TIMEOUT, 0, NETLIB_READ_TIMEOUT, NETLIB_OK},
        {NOTHING, 0, NULL, NETLIB_READ_TIMEOUT, 0, NETLIB_READ_TIMEOUT, NETLIB_OK},
        {NOTHING, 0, NULL, NETLIB_CONNECT_FAILED, 0, NETLIB_OK, NETLIB_OK},
        {NOTHING, 0, "GET", NETLIB_CANCELLED, 0, NETLIB_CANCELLED, NETLIB_OK},
        {NOTHING, 0, "GET", NETLIB_DEADLINE_EXCEEDED, 0, NETLIB_DEADLINE_EXCEEDED, NETLIB_OK},
        {NOTHING, 0, "G T", NETLIB_CONNECT_FAILED, 0, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
        {NOTHING, 0, "GE\xff", NETLIB_CONNECT_FAILED, 0, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = netlib_retry_options_new();
        if (rows[i].which == TOTAL) netlib_retry_options_set_total(options, rows[i].count);
        if (rows[i].which == CONNECT) netlib_retry_options_set_connect(options, rows[i].count);
        if (rows[i].which == READ) netlib_retry_options_set_read(options, rows[i].count);
        if (rows[i].which == REDIRECT) netlib_retry_options_set_redirect(options, rows[i].count);
        if (rows[i].which == OTHER) netlib_retry_options_set_other(options, rows[i].count);
        /* netlib_retry_increment ignores raise_on_redirect and raise_on_status. */
        netlib_retry_options_set_raise_on_redirect(options, 0);
        netlib_retry_options_set_raise_on_status(options, 0);
        netlib_retry *retry = retry_of(options);
        netlib_error *err = NULL;
        netlib_retry *next = NULL;
        netlib_error *error = rows[i].error != 0 ? error_of(rows[i].error, NULL) : NULL;
        netlib_response *response = rows[i].status != 0 ? response_of(rows[i].status, "Location: /x\r\n") : NULL;
        const char *url = "http://me:secret1@h/p?token=secret2";
        netlib_status status = netlib_retry_increment(retry, rows[i].method, url, response, error, &next, &err);
        CHECK((next != NULL) == (rows[i].expected == NETLIB_OK));
        if (rows[i].expected == NETLIB_MAX_RETRY) {
            CHECK_INT(1, (long long)netlib_error_cause_count(err));
            CHECK_INT(rows[i].reason, netlib_error_status(netlib_error_cause(err, 0)));
            const netlib_retry *exhausted = netlib_error_retry(err);
            CHECK(is_exhausted(exhausted));
            CHECK_STR(url, netlib_retry_history_url(exhausted, 0, NULL));
            CHECK_CONTAINS("http://h/p", netlib_error_message(err, NULL));
        } else {
            CHECK(netlib_error_retry(err) == NULL);
            if (error != NULL && rows[i].expected == rows[i].error)
                CHECK_STR("what failed", netlib_error_message(err, NULL));
        }
        if (err != NULL) CHECK(strstr(netlib_error_message(err, NULL), "secret") == NULL);
        CHECK_STATUS(rows[i].expected, status);
        netlib_retry_free(next);
        netlib_retry_free(retry);
        netlib_response_free(response);
        netlib_error_free(error);
    }
}

static void a_clone_of_the_exhausted_retry_outlives_its_error(void) {
    netlib_error *err = NULL;
    netlib_error *error = error_of(NETLIB_CONNECT_FAILED, NULL);
    netlib_retry *retry = NULL;
    netlib_retry *next = NULL;
    CHECK_OK(netlib_retry_from_int(1, 1, NULL, &retry, &err));
    CHECK_OK(netlib_retry_increment(retry, "GET", "/1", NULL, error, &next, &err));
    netlib_retry_free(retry);
    CHECK_INT(NETLIB_MAX_RETRY, netlib_retry_increment(next, "GET", "/2", NULL, error, &retry, &err));
    netlib_retry_free(next);
    netlib_error_free(error);
    netlib_retry *exhausted = netlib_retry_clone(netlib_error_retry(err));
    netlib_error_free(err);
    err = NULL;
    CHECK_INT(1, netlib_retry_is_exhausted(exhausted));
    CHECK_INT(-1, netlib_retry_total_left(exhausted));
    CHECK_INT(2, (long long)netlib_retry_history_count(exhausted));
    CHECK_STR("/2", netlib_retry_history_url(exhausted, 1, NULL));
    CHECK_STR("what failed", netlib_error_message(netlib_retry_history_error(exhausted, 1), NULL));
    netlib_retry_free(exhausted);
}

static void a_disabled_total_or_redirect_count_clears_raise_on_redirect(void) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, NETLIB_RETRY_DISABLED);
    netlib_retry *retry = retry_of(options);
    CHECK_INT(NETLIB_RETRY_DISABLED, netlib_retry_total_left(retry));
    CHECK_INT(0, netlib_retry_redirect_left(retry));
    CHECK(!netlib_retry_raise_on_redirect(retry));
    CHECK(netlib_retry_raise_on_status(retry));
    CHECK(!is_exhausted(retry));
    netlib_retry_free(retry);

    options = netlib_retry_options_new();
    netlib_retry_options_set_redirect(options, NETLIB_RETRY_DISABLED);
    retry = retry_of(options);
    CHECK_INT(10, netlib_retry_total_left(retry));
    CHECK_INT(0, netlib_retry_redirect_left(retry));
    CHECK(!netlib_retry_raise_on_redirect(retry));
    netlib_retry_free(retry);
}

static void retry_from_int_sets_counts_and_retry_resolve_prefers_its_first_argument(void) {
    netlib_error *err = NULL;
    netlib_retry *made = NULL;
    netlib_retry *other = NULL;
    static const struct {
        int32_t count, redirect, total, redirects;
        bool raises;
    } rows[] = {
        {7, 1, 7, NETLIB_NONE, true},           {7, 0, 7, 0, false},
        {0, 1, 0, NETLIB_NONE, true},           {NETLIB_RETRY_DISABLED, 1, NETLIB_RETRY_DISABLED, 0, false},
        {NETLIB_NONE, 1, 3, NETLIB_NONE, true}, {NETLIB_NONE, 0, 3, NETLIB_NONE, true},
        {-4, 1, -4, NETLIB_NONE, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_retry_from_int(rows[i].count, rows[i].redirect, NULL, &made, &err));
        CHECK_INT(rows[i].total, netlib_retry_total_left(made));
        CHECK_INT(rows[i].redirects, netlib_retry_redirect_left(made));
        CHECK(netlib_retry_raise_on_redirect(made) == rows[i].raises);
        netlib_retry_free(made);
    }
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_from_int(1, 2, NULL, &made, &err));
    CHECK(made == NULL);

    CHECK_OK(netlib_retry_from_int(5, 1, NULL, &other, &err));
    CHECK_OK(netlib_retry_from_int(NETLIB_NONE, 0, other, &made, &err));
    CHECK(made == other);
    netlib_retry_free(made);
    CHECK_OK(netlib_retry_from_int(6, 1, other, &made, &err));
    CHECK_INT(6, netlib_retry_total_left(made));

    CHECK(netlib_retry_resolve(made, other) == made);
    CHECK(netlib_retry_resolve(NULL, other) == other);
    CHECK_INT(3, netlib_retry_total_left(netlib_retry_resolve(NULL, NULL)));
    CHECK(netlib_retry_resolve(NULL, NULL) == netlib_retry_resolve(NULL, NULL));
    netlib_retry *kept = netlib_retry_clone(netlib_retry_resolve(NULL, NULL));
    netlib_retry_free(kept);
    netlib_retry_free(made);
    netlib_retry_free(other);
}

static void is_retry_depends_on_method_status_and_retry_after(void) {
    static const int32_t codes[] = {500, 429};
    static const struct {
        int32_t total;
        const char *method;
        int32_t status, has_retry_after;
        bool expected, expected_without_respect;
    } rows[] = {
        {10, "GET", 500, 0, true, true},
        {10, "get", 500, 0, true, true},
        {10, "POST", 500, 0, false, false},
        {10, "GET", 502, 0, false, false},
        {10, "GET", 502, 1, false, false},
        {10, "GET", 503, 0, false, false},
        {10, "GET", 503, 1, true, false},
        {10, "GET", 413, 1, true, false},
        {10, "GET", 429, 0, true, true},
        {10, "POST", 503, 1, false, false},
        {0, "GET", 503, 1, false, false},
        {NETLIB_NONE, "GET", 503, 1, false, false},
        {NETLIB_RETRY_DISABLED, "GET", 503, 1, false, false},
        {-1, "GET", 503, 1, true, false},
        {0, "GET", 500, 0, true, true},
        {10, "GET", -1, 1, false, false},
        {10, "GET", INT32_MIN, 1, false, false},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, rows[i / 2].total);
        netlib_retry_options_set_status_forcelist(options, codes, 2);
        netlib_retry_options_set_respect_retry_after_header(options, i % 2 == 0);
        netlib_retry *retry = retry_of(options);
        bool expected = i % 2 == 0 ? rows[i / 2].expected : rows[i / 2].expected_without_respect;
        CHECK(is_retry(retry, rows[i / 2].method, rows[i / 2].status, rows[i / 2].has_retry_after) == expected);
        netlib_retry_free(retry);
    }
    netlib_error *err = NULL;
    int32_t answer = 1;
    const netlib_retry *retry = netlib_retry_resolve(NULL, NULL);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_is_retry(retry, "", 500, 0, &answer, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_is_retry(retry, "\xff", 500, 0, &answer, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_is_retry(retry, "GET", 500, 2, &answer, &err));
    CHECK(!answer);

    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_status_forcelist(options, codes, 2);
    netlib_retry_options_set_allowed_methods(options, NULL, 0);
    netlib_retry *none = retry_of(options);
    CHECK(!is_retry(none, "GET", 500, 0));
    CHECK_INT(0, (long long)netlib_retry_allowed_method_count(none));
    options = netlib_retry_to_options(none);
    netlib_retry_options_allow_any_method(options);
    netlib_retry *any = retry_of(options);
    CHECK(netlib_retry_allows_any_method(any));
    CHECK(is_retry(any, "PATCH", 500, 0));
    netlib_retry_free(any);
    netlib_retry_free(none);
}

static void functions_on_null_retries_return_an_empty_or_default_value(void) {
    CHECK(netlib_retry_clone(NULL) == NULL);
    netlib_retry_free(NULL);
    netlib_retry_options_free(NULL);
    CHECK(netlib_retry_to_options(NULL) == NULL);
    CHECK_INT(NETLIB_NONE, netlib_retry_total_left(NULL));
    CHECK_DOUBLE(120, netlib_retry_backoff_max(NULL));
    CHECK(netlib_error_retry(NULL) == NULL);
    netlib_retry_options_set_total(NULL, 3);
    netlib_retry_options_add_sensitive_headers(NULL);
}

/* Applications log the history after a failure. Therefore each URL of the history is also available without its
 * secrets. */
static void the_retry_history_returns_each_url_with_and_without_its_secrets(void) {
    static const struct {
        const char *text, *redacted;
    } rows[] = {
        {"https://user:password@host/path?key=secret&b=#token", "https://***@host/path?key=***&b=#***"},
        {"/path?secret", "/path?***"},
        {"http://[secret", "***"},
        {"http://h/\xff", "***"},
        {"", ""},
    };
    netlib_error *err = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options_add_history(options, "GET", rows[i].text, NULL, 302, rows[i].text);
    }
    netlib_retry *retry = NULL;
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = 99;
        const char *borrowed = netlib_retry_history_redacted_url(retry, i, &len);
        CHECK_STR(rows[i].redacted, borrowed);
        CHECK_INT((long long)strlen(rows[i].redacted), (long long)len);
        CHECK(netlib_retry_history_redacted_url(retry, i, NULL) == borrowed);
        CHECK_STR(rows[i].redacted, netlib_retry_history_redacted_redirect_location(retry, i, NULL));
        CHECK_STR(rows[i].text, netlib_retry_history_url(retry, i, NULL));
    }
    netlib_retry_free(retry);
}

int main(void) {
    the_retry_history_returns_each_url_with_and_without_its_secrets();
    retry_increment_decrements_the_total_and_the_count_of_the_failure_kind();
    a_proxy_failure_is_counted_like_its_cause();
    retry_increment_fails_if_the_policy_allows_no_retry();
    a_clone_of_the_exhausted_retry_outlives_its_error();
    a_disabled_total_or_redirect_count_clears_raise_on_redirect();
    retry_from_int_sets_counts_and_retry_resolve_prefers_its_first_argument();
    is_retry_depends_on_method_status_and_retry_after();
    functions_on_null_retries_return_an_empty_or_default_value();
    return report("retry");
}
