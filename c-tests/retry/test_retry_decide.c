/* Tests netlib_retry_decide: the next step after a response or an error. */
#include "retry_makers.h"

/* Returns options that retry status 500, with a backoff factor of 1. */
static netlib_retry_options *usual(void) {
    static const int32_t codes[] = {500};
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_status_forcelist(options, codes, 1);
    netlib_retry_options_set_backoff_factor(options, 1);
    return options;
}

/* Returns the decision about a request and its response. */
static netlib_decision *decide(const netlib_retry *retry, const char *method, const char *url, int status,
                               const char *fields) {
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    netlib_url *parsed = url_of(url);
    netlib_response *response = response_of(status, fields);
    CHECK_OK(netlib_retry_decide(retry, method, parsed, response, NULL, NULL, &decision, &err));
    netlib_response_free(response);
    netlib_url_free(parsed);
    return decision;
}

static void record_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    *(double *)ctx = seconds;
    *outcome = NETLIB_OUTCOME_DONE;
}

static void each_response_is_returned_or_leads_to_a_retry_or_a_redirect(void) {
    static const struct {
        int status;
        const char *fields;
        int32_t action, counter;
        double delay;
        int32_t reason;
        double uncapped;
        const char *url, *method;
        bool resend_body;
        int32_t total;
    } rows[] = {
        {200, "", NETLIB_ACTION_RETURN_RESPONSE, NETLIB_COUNTER_NONE, 0, NETLIB_DELAY_NONE, 0, "http://h/a", "PUT",
         false, 10},
        {404, "", NETLIB_ACTION_RETURN_RESPONSE, NETLIB_COUNTER_NONE, 0, NETLIB_DELAY_NONE, 0, "http://h/a", "PUT",
         false, 10},
        {304, "Location: /b\r\n", NETLIB_ACTION_RETURN_RESPONSE, NETLIB_COUNTER_NONE, 0, NETLIB_DELAY_NONE, 0,
         "http://h/a", "PUT", false, 10},
        {500, "", NETLIB_ACTION_RETRY, NETLIB_COUNTER_STATUS, 2, NETLIB_DELAY_BACKOFF, 2, "http://h/a", "PUT", true, 9},
        {500, "Retry-After: 5\r\n", NETLIB_ACTION_RETRY, NETLIB_COUNTER_STATUS, 2, NETLIB_DELAY_BACKOFF, 2,
         "http://h/a", "PUT", true, 9},
        {503, "Retry-After: 5\r\n", NETLIB_ACTION_RETRY, NETLIB_COUNTER_STATUS, 5, NETLIB_DELAY_RETRY_AFTER, 5,
         "http://h/a", "PUT", true, 9},
        {503, "Retry-After: 50000\r\n", NETLIB_ACTION_RETRY, NETLIB_COUNTER_STATUS, 21600, NETLIB_DELAY_RETRY_AFTER,
         50000, "http://h/a", "PUT", true, 9},
        {503, "", NETLIB_ACTION_RETURN_RESPONSE, NETLIB_COUNTER_NONE, 0, NETLIB_DELAY_NONE, 0, "http://h/a", "PUT",
         false, 10},
        {302, "Location: b?c\r\n", NETLIB_ACTION_REDIRECT, NETLIB_COUNTER_REDIRECT, 0, NETLIB_DELAY_NONE, 0,
         "http://h/b?c", "PUT", true, 9},
        {307, "Location: //i/\r\nRetry-After: 4\r\n", NETLIB_ACTION_REDIRECT, NETLIB_COUNTER_REDIRECT, 4,
         NETLIB_DELAY_RETRY_AFTER, 4, "http://i/", "PUT", true, 9},
        {303, "Location: ../x/./y\r\n", NETLIB_ACTION_REDIRECT, NETLIB_COUNTER_REDIRECT, 0, NETLIB_DELAY_NONE, 0,
         "http://h/x/y", "GET", false, 9},
    };
    netlib_retry_options *options = usual();
    double slept = 0;
    netlib_retry_options_add_history(options, "PUT", "http://h/a", NULL, 500, NULL);
    netlib_retry_options_set_sleep(options, record_sleep, &slept, NULL);
    netlib_retry *retry = retry_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_decision *first = decide(retry, "PUT", "http://h/a", rows[i].status, rows[i].fields);
        netlib_decision *decision = netlib_decision_clone(first);
        netlib_decision_free(first);
        CHECK_INT(rows[i].action, netlib_decision_action(decision));
        CHECK_INT(rows[i].counter, netlib_decision_counter(decision));
        CHECK_DOUBLE(rows[i].delay, netlib_decision_delay(decision));
        CHECK_INT(rows[i].reason, netlib_decision_delay_reason(decision));
        CHECK_DOUBLE(rows[i].uncapped, netlib_decision_delay_uncapped(decision));
        netlib_error *err = NULL;
        slept = 0;
        CHECK_OK(netlib_decision_sleep(decision, NULL, &err));
        CHECK_DOUBLE(rows[i].delay, slept);
        CHECK_STR(rows[i].url, netlib_url_to_string(netlib_decision_url(decision), NULL));
        size_t len = 0;
        CHECK_STR(rows[i].method, netlib_decision_method(decision, &len));
        CHECK_INT((long long)strlen(rows[i].method), (long long)len);
        CHECK(netlib_decision_resend_body(decision) == rows[i].resend_body);
        const netlib_retry *next = netlib_decision_retry(decision);
        CHECK_INT(rows[i].total, netlib_retry_total_left(next));
        CHECK((next == retry) == (rows[i].action == NETLIB_ACTION_RETURN_RESPONSE));
        netlib_decision_free(decision);
    }
    netlib_retry_free(retry);
}

static void errors_are_retried_depending_on_status_and_method(void) {
    static const struct {
        int32_t error;
        const char *method;
        netlib_status expected;
        int32_t counter;
    } rows[] = {
        {NETLIB_CONNECT_FAILED, "POST", NETLIB_OK, NETLIB_COUNTER_CONNECT},
        {NETLIB_READ_TIMEOUT, "GET", NETLIB_OK, NETLIB_COUNTER_READ},
        {NETLIB_READ_TIMEOUT, "POST", NETLIB_READ_TIMEOUT, 0},
        {NETLIB_TLS_ALERT, "POST", NETLIB_OK, NETLIB_COUNTER_OTHER},
        {NETLIB_CANCELLED, "GET", NETLIB_CANCELLED, 0},
        {NETLIB_CONNECT_FAILED, "", NETLIB_INVALID_ARGUMENT, 0},
    };
    netlib_retry *retry = retry_of(usual());
    netlib_url *url = url_of("http://h/");
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *error = error_of(rows[i].error, NULL);
        CHECK_STATUS(rows[i].expected,
                     netlib_retry_decide(retry, rows[i].method, url, NULL, error, NULL, &decision, &err));
        CHECK((decision != NULL) == (rows[i].expected == NETLIB_OK));
        if (decision != NULL) {
            CHECK_INT(NETLIB_ACTION_RETRY, netlib_decision_action(decision));
            CHECK_INT(rows[i].counter, netlib_decision_counter(decision));
            CHECK(netlib_decision_resend_body(decision));
            CHECK_STR(rows[i].method, netlib_decision_method(decision, NULL));
            CHECK_STR("http://h/", netlib_retry_history_url(netlib_decision_retry(decision), 0, NULL));
        }
        netlib_decision_free(decision);
        netlib_error_free(error);
    }
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_decide(retry, "GET", url, NULL, NULL, NULL, &decision, &err));
    netlib_response *response = response_of(503, "Retry-After: soon\r\n");
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
    netlib_response_free(response);
    response = response_of(302, "Location: http://[::1/\r\n");
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
    netlib_response_free(response);
    CHECK(decision == NULL);
    netlib_url_free(url);
    netlib_retry_free(retry);
}

static void retry_decide_fails_or_returns_the_response_if_no_retry_is_left(void) {
    static const struct {
        int32_t total, redirect, raise;
        int status;
        netlib_status expected, reason;
        int32_t counter;
    } rows[] = {
        {0, NETLIB_NONE, 1, 302, NETLIB_MAX_RETRY, NETLIB_TOO_MANY_REDIRECTS, 0},
        {0, NETLIB_NONE, 0, 302, NETLIB_OK, NETLIB_OK, NETLIB_COUNTER_REDIRECT},
        {10, 0, 1, 302, NETLIB_MAX_RETRY, NETLIB_TOO_MANY_REDIRECTS, 0},
        {10, 0, 0, 302, NETLIB_OK, NETLIB_OK, NETLIB_COUNTER_REDIRECT},
        {10, NETLIB_RETRY_DISABLED, 1, 302, NETLIB_OK, NETLIB_OK, NETLIB_COUNTER_REDIRECT},
        {NETLIB_RETRY_DISABLED, NETLIB_NONE, 1, 302, NETLIB_OK, NETLIB_OK, NETLIB_COUNTER_REDIRECT},
        {NETLIB_RETRY_DISABLED, NETLIB_NONE, 1, 500, NETLIB_OK, NETLIB_OK, NETLIB_COUNTER_STATUS},
        {0, NETLIB_NONE, 1, 500, NETLIB_MAX_RETRY, NETLIB_RESPONSE_STATUS, 0},
        {0, NETLIB_NONE, 0, 500, NETLIB_OK, NETLIB_OK, NETLIB_COUNTER_STATUS},
    };
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_retry_options *options = usual();
        netlib_retry_options_set_total(options, rows[i].total);
        netlib_retry_options_set_redirect(options, rows[i].redirect);
        netlib_retry_options_set_raise_on_redirect(options, rows[i].raise);
        netlib_retry_options_set_raise_on_status(options, rows[i].raise);
        netlib_retry *retry = retry_of(options);
        netlib_response *response = response_of(rows[i].status, "Location: /b\r\n");
        netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err);
        if (rows[i].expected == NETLIB_MAX_RETRY) {
            CHECK_INT(rows[i].reason, netlib_error_status(netlib_error_cause(err, 0)));
            CHECK(is_exhausted(netlib_error_retry(err)));
        } else {
            CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(decision));
            CHECK_INT(rows[i].counter, netlib_decision_counter(decision));
            CHECK(netlib_decision_retry(decision) == retry);
        }
        CHECK_STATUS(rows[i].expected, status);
        netlib_response_free(response);
        netlib_decision_free(decision);
        netlib_retry_free(retry);
    }
    netlib_url_free(url);
}

/* Checks the headers of each request in a chain of redirects. The caller always passes the headers of the first
 * request. */
static void headers_dropped_on_a_redirect_stay_dropped_on_later_redirects(void) {
    static const char *const names[] = {"authorization", "X-API-Key", "Content-Type", "Accept"};
    static const struct {
        int32_t profile;
        struct {
            const char *url, *method;
            int status;
            const char *fields, *kept;
        } hops[4];
    } chains[] = {
        {NETLIB_REDIRECT_URLLIB3,
         {{"http://a/", "POST", 307, "Location: /b\r\n", "authorization X-API-Key Content-Type Accept "},
          {"http://a/b", "POST", 307, "Location: http://b/\r\n", "X-API-Key Content-Type Accept "},
          {"http://b/", "POST", 307, "Location: /c\r\n", "X-API-Key Content-Type Accept "},
          {"http://b/c", "POST", 303, "Location: http://a/\r\n", "X-API-Key Accept "}}},
        {NETLIB_REDIRECT_SAFE,
         {{"http://a/", "PUT", 308, "Location: https://a/\r\n", "Content-Type Accept "},
          {"https://a/", "PUT", 500, "", "Content-Type Accept "},
          {"https://a/", "PUT", 303, "Location: /\r\n", "Accept "},
          {"https://a/", "GET", 500, "", "Accept "}}},
        {NETLIB_REDIRECT_SAFE,
         {{"http://a/", "POST", 302, "Location: http://A:80/\r\n", "authorization X-API-Key Accept "},
          {"http://a/", "GET", 302, "Location: http://x.a/\r\n", "Accept "},
          {"http://x.a/", "GET", 302, "Location: http://a/\r\n", "Accept "},
          {"http://a/", "GET", 302, "Location: http://a/\r\n", "Accept "}}},
    };
    netlib_headers *request = headers_of(names, 4);
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        netlib_retry_options *options = usual();
        netlib_retry_options_set_redirect_profile(options, chains[i].profile);
        netlib_retry *retry = retry_of(options);
        for (size_t hop = 0; hop < 4; hop++) {
            netlib_error *err = NULL;
            netlib_headers *next = NULL;
            netlib_decision *decision = decide(retry, chains[i].hops[hop].method, chains[i].hops[hop].url,
                                               chains[i].hops[hop].status, chains[i].hops[hop].fields);
            CHECK_OK(netlib_decision_headers(decision, request, &next, &err));
            char kept[256] = "";
            for (size_t h = 0; h < netlib_headers_count(next); h++) {
                strcat(kept, netlib_headers_name(next, h, NULL));
                strcat(kept, " ");
            }
            CHECK_STR(chains[i].hops[hop].kept, kept);
            netlib_retry_free(retry);
            retry = netlib_retry_clone(netlib_decision_retry(decision));
            netlib_headers_free(next);
            netlib_decision_free(decision);
        }
        netlib_retry_free(retry);
    }
    CHECK_INT(4, (long long)netlib_headers_count(request));
    netlib_headers_free(request);
}

static void redirects_to_other_origins_drop_sensitive_headers_of_the_policy(void) {
    static const char *const names[] = {NETLIB_SENSITIVE_HEADERS};
    const size_t count = sizeof names / sizeof names[0];
    netlib_headers *request = headers_of(names, count);
    for (int with = 0; with < 2; with++) {
        netlib_error *err = NULL;
        netlib_headers *next = NULL;
        netlib_retry_options *options = usual();
        if (with) netlib_retry_options_add_sensitive_headers(options);
        netlib_retry *retry = retry_of(options);
        CHECK_INT(with ? (long long)count : 1, (long long)netlib_retry_removed_header_count(retry));
        netlib_decision *decision = decide(retry, "GET", "http://a/", 302, "Location: http://b/\r\n");
        CHECK_OK(netlib_decision_headers(decision, request, &next, &err));
        CHECK_INT(with ? 0 : (long long)count - 1, (long long)netlib_headers_count(next));
        CHECK_INT(with ? (long long)count : 1, (long long)netlib_decision_dropped_header_count(decision));
        size_t len = 0;
        CHECK_STR(with ? "access-token" : "authorization", netlib_decision_dropped_header(decision, 0, &len));
        CHECK_INT(with ? 12 : 13, (long long)len);
        CHECK_STR(NULL, netlib_decision_dropped_header(decision, count, &len));
        CHECK_INT(0, (long long)len);
        netlib_headers_free(next);
        netlib_decision_free(decision);
        netlib_retry_free(retry);
    }
    netlib_headers_free(request);
}

static void the_safe_profile_refuses_redirects_from_https_to_http(void) {
    static const struct {
        int32_t profile;
        const char *url, *fields;
        netlib_status expected;
    } rows[] = {
        {NETLIB_REDIRECT_SAFE, "https://a/", "Location: http://a/\r\n", NETLIB_UNSAFE_REDIRECT},
        {NETLIB_REDIRECT_SAFE, "https://a/", "Location: ftp://a/\r\n", NETLIB_UNSAFE_REDIRECT},
        {NETLIB_REDIRECT_SAFE, "http://a/", "Location: https://a/\r\n", NETLIB_OK},
        {NETLIB_REDIRECT_URLLIB3, "https://a/", "Location: http://a/\r\n", NETLIB_OK},
        {NETLIB_REDIRECT_URLLIB3, "https://a/", "Location: javascript:alert(1)\r\n", NETLIB_INVALID_URL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_url *url = url_of(rows[i].url);
        netlib_response *response = response_of(301, rows[i].fields);
        netlib_retry_options *options = usual();
        netlib_retry_options_set_redirect_profile(options, rows[i].profile);
        netlib_retry *retry = retry_of(options);
        CHECK_STATUS(rows[i].expected, netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        netlib_decision_free(decision);
        netlib_retry_free(retry);
        netlib_response_free(response);
        netlib_url_free(url);
    }
}

static void retry_decide_fails_if_the_delay_exceeds_the_remaining_time(void) {
    static const struct {
        double seconds;
        bool cancel;
        int status;
        const char *fields;
        netlib_status expected;
    } rows[] = {
        {60, false, 503, "Retry-After: 3600\r\n", NETLIB_DEADLINE_EXCEEDED},
        {7200, false, 503, "Retry-After: 3600\r\n", NETLIB_OK},
        {NETLIB_TIMEOUT_NONE, false, 503, "Retry-After: 3600\r\n", NETLIB_OK},
        {60, false, 302, "Location: /\r\nRetry-After: 3600\r\n", NETLIB_DEADLINE_EXCEEDED},
        {0, false, 500, "", NETLIB_DEADLINE_EXCEEDED},
        {60, false, 500, "", NETLIB_OK},
        {NETLIB_TIMEOUT_NONE, true, 500, "", NETLIB_CANCELLED},
        {0, true, 200, "", NETLIB_OK},
    };
    netlib_url *url = url_of("http://h/");
    netlib_retry *retry = retry_of(usual());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_limit *limit = NULL;
        netlib_decision *decision = NULL;
        netlib_response *response = response_of(rows[i].status, rows[i].fields);
        CHECK_OK(netlib_limit_new(rows[i].seconds, NULL, &limit, &err));
        if (rows[i].cancel) netlib_limit_cancel(limit);
        netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, limit, &decision, &err);
        if (rows[i].expected != NETLIB_OK) {
            CHECK_INT(NETLIB_RESPONSE_STATUS, netlib_error_status(netlib_error_cause(err, 0)));
        }
        CHECK_STATUS(rows[i].expected, status);
        netlib_decision_free(decision);
        netlib_limit_free(limit);
        netlib_response_free(response);
    }
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    netlib_decision *decision = NULL;
    netlib_error *error = error_of(NETLIB_CONNECT_FAILED, NULL);
    CHECK_OK(netlib_limit_new(0, NULL, &limit, &err));
    netlib_status status = netlib_retry_decide(retry, "GET", url, NULL, error, limit, &decision, &err);
    CHECK_STR("what failed", netlib_error_message(netlib_error_cause(err, 0), NULL));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, status);
    netlib_limit_free(limit);
    netlib_error_free(error);
    netlib_retry_free(retry);
    netlib_url_free(url);
}

/* Borrowed values are valid until the decision is freed. Clones of borrowed values outlive the decision. */
static void clones_of_borrowed_values_outlive_the_decision(void) {
    netlib_retry *retry = retry_of(usual());
    netlib_decision *decision = decide(retry, "GET", "http://h/", 302, "Location: /x\r\n");
    netlib_retry_free(retry);
    netlib_retry *next = netlib_retry_clone(netlib_decision_retry(decision));
    netlib_url *url = netlib_url_clone(netlib_decision_url(decision));
    netlib_decision_free(decision);
    CHECK_INT(1, (long long)netlib_retry_history_count(next));
    CHECK_STR("/x", netlib_url_path(url, NULL));
    netlib_retry_free(next);
    netlib_url_free(url);

    netlib_decision_free(NULL);
    CHECK(netlib_decision_clone(NULL) == NULL);
    CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(NULL));
    CHECK(netlib_decision_retry(NULL) == NULL);
    CHECK(netlib_decision_url(NULL) == NULL);
    CHECK(netlib_decision_method(NULL, NULL) == NULL);
    CHECK_DOUBLE(0, netlib_decision_delay(NULL));
}

int main(void) {
    each_response_is_returned_or_leads_to_a_retry_or_a_redirect();
    errors_are_retried_depending_on_status_and_method();
    retry_decide_fails_or_returns_the_response_if_no_retry_is_left();
    headers_dropped_on_a_redirect_stay_dropped_on_later_redirects();
    redirects_to_other_origins_drop_sensitive_headers_of_the_policy();
    the_safe_profile_refuses_redirects_from_https_to_http();
    retry_decide_fails_if_the_delay_exceeds_the_remaining_time();
    clones_of_borrowed_values_outlive_the_decision();
    return report("retry_decide");
}
