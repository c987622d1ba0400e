/* Tests the recommended retry settings: their values, jitter kinds, Retry-After rules, decisions, and the failed
 * attempts in deadline and cancel errors. */
#include "retry_makers.h"

#include <string.h>

/* A random callback that always returns the double to which `ctx` points. */
static int32_t constant_random(void *ctx, double *value) {
    *value = *(double *)ctx;
    return 0;
}

static void recommended_options_allow_3_retries_10_redirects_and_full_jitter(void) {
    static const int32_t statuses[] = {429, 502, 503, 504};
    netlib_retry *made = retry_of(netlib_retry_options_new_recommended());
    const netlib_retry *both[] = {netlib_retry_recommended(), made};
    for (size_t i = 0; i < 2; i++) {
        const netlib_retry *retry = both[i];
        CHECK_INT(3, netlib_retry_total_left(retry));
        CHECK_INT(NETLIB_RETRY_DISABLED, netlib_retry_other_left(retry));
        CHECK_INT(10, netlib_retry_redirect_left(retry));
        CHECK_INT(NETLIB_NONE, netlib_retry_connect_left(retry));
        CHECK_INT(NETLIB_NONE, netlib_retry_read_left(retry));
        CHECK_INT(NETLIB_NONE, netlib_retry_status_left(retry));
        CHECK_INT(0, netlib_retry_total_counts_redirects(retry));
        CHECK_INT(6, (long long)netlib_retry_allowed_method_count(retry));
        CHECK(!netlib_retry_allows_any_method(retry));
        CHECK_INT(0, netlib_retry_allows_any_method_if_stale(retry));
        CHECK_INT(4, (long long)netlib_retry_status_forcelist_count(retry));
        for (size_t j = 0; j < 4; j++) CHECK_INT(statuses[j], netlib_retry_status_forcelist_at(retry, j));
        CHECK_DOUBLE(0.1, netlib_retry_backoff_factor(retry));
        CHECK_DOUBLE(20, netlib_retry_backoff_max(retry));
        CHECK_INT(NETLIB_JITTER_FULL, netlib_retry_jitter_kind(retry));
        CHECK(netlib_retry_respect_retry_after_header(retry));
        CHECK_INT(1, netlib_retry_obeys_any_retry_after(retry));
        CHECK_INT(0, (long long)netlib_retry_retry_after_status_count(retry));
        CHECK_INT(-1, netlib_retry_retry_after_status_at(retry, 0));
        CHECK_DOUBLE(120, netlib_retry_retry_after_max(retry));
        CHECK_INT(NETLIB_LONG_RETRY_AFTER_STOP, netlib_retry_long_retry_after(retry));
        CHECK_INT(1, netlib_retry_ignores_malformed_retry_after(retry));
        CHECK_INT(NETLIB_REDIRECT_SAFE, netlib_retry_redirect_profile(retry));
        CHECK(netlib_retry_raise_on_redirect(retry) && netlib_retry_raise_on_status(retry));
    }
    netlib_retry_free(made);

    /* netlib_retry_new without options uses the defaults of urllib3, not the recommended settings. */
    static const int32_t obeyed[] = {413, 429, 503};
    netlib_retry *defaults = retry_of(netlib_retry_options_new());
    CHECK_INT(1, netlib_retry_total_counts_redirects(defaults));
    CHECK_INT(NETLIB_JITTER_ADDITIVE, netlib_retry_jitter_kind(defaults));
    CHECK_INT(0, netlib_retry_obeys_any_retry_after(defaults));
    CHECK_INT(3, (long long)netlib_retry_retry_after_status_count(defaults));
    for (size_t j = 0; j < 3; j++) CHECK_INT(obeyed[j], netlib_retry_retry_after_status_at(defaults, j));
    CHECK_INT(NETLIB_LONG_RETRY_AFTER_CLAMP, netlib_retry_long_retry_after(defaults));
    CHECK_INT(0, netlib_retry_ignores_malformed_retry_after(defaults));
    netlib_retry_free(defaults);

    /* The borrowed Retry of netlib_retry_recommended can be cloned and freed like any other Retry. */
    netlib_retry *clone = netlib_retry_clone(netlib_retry_recommended());
    CHECK(clone == netlib_retry_recommended());
    netlib_retry_free(clone);
}

static void retry_settings_can_be_read_back_and_invalid_values_are_refused(void) {
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    static const int32_t codes[] = {503, 500, 503};
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_EQUAL);
    netlib_retry_options_set_retry_after_statuses(options, codes, 3);
    netlib_retry_options_set_long_retry_after(options, NETLIB_LONG_RETRY_AFTER_CLAMP);
    netlib_retry_options_set_ignore_malformed_retry_after(options, 0);
    netlib_retry_options_set_total_counts_redirects(options, 1);
    netlib_retry *first = retry_of(options);
    netlib_retry *again = retry_of(netlib_retry_to_options(first));
    const netlib_retry *both[] = {first, again};
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(NETLIB_JITTER_EQUAL, netlib_retry_jitter_kind(both[i]));
        CHECK_INT(0, netlib_retry_obeys_any_retry_after(both[i]));
        CHECK_INT(2, (long long)netlib_retry_retry_after_status_count(both[i]));
        CHECK_INT(500, netlib_retry_retry_after_status_at(both[i], 0));
        CHECK_INT(503, netlib_retry_retry_after_status_at(both[i], 1));
        CHECK_INT(NETLIB_LONG_RETRY_AFTER_CLAMP, netlib_retry_long_retry_after(both[i]));
        CHECK_INT(0, netlib_retry_ignores_malformed_retry_after(both[i]));
        CHECK_INT(1, netlib_retry_total_counts_redirects(both[i]));
    }
    netlib_retry_free(again);
    options = netlib_retry_to_options(first);
    netlib_retry_free(first);
    netlib_retry_options_obey_any_retry_after(options);
    first = retry_of(options);
    CHECK_INT(1, netlib_retry_obeys_any_retry_after(first));
    netlib_retry_free(first);

    static const int32_t wrong[] = {99};
    for (int i = 0; i < 7; i++) {
        netlib_error *err = NULL;
        netlib_retry *retry = NULL;
        options = netlib_retry_options_new();
        if (i == 0) netlib_retry_options_set_jitter_kind(options, 5);
        if (i == 1) netlib_retry_options_set_jitter_kind(options, -1);
        if (i == 2) netlib_retry_options_set_long_retry_after(options, 2);
        if (i == 3) netlib_retry_options_set_retry_after_statuses(options, wrong, 1);
        if (i == 4) netlib_retry_options_set_retry_after_statuses(options, NULL, 1);
        if (i == 5) netlib_retry_options_set_ignore_malformed_retry_after(options, 2);
        if (i == 6) netlib_retry_options_set_total_counts_redirects(options, -1);
        CHECK_STATUS(i == 4 ? NETLIB_NULL_ARGUMENT : NETLIB_INVALID_ARGUMENT, netlib_retry_new(options, &retry, &err));
        CHECK(retry == NULL);
        netlib_retry_options_free(options);
    }
}

/* Checks the backoffs before five consecutive retries. The random callback returns the value `random` of the row. */
static void each_jitter_kind_computes_delays_from_backoff_and_random_number(void) {
    const double nearly_one = 0.99999999999999988898; /* 1 - 2^-53 */
    const struct {
        int32_t kind;
        double random;
        double seconds[5];
    } rows[] = {
        {NETLIB_JITTER_ADDITIVE, 0, {0, 0.25, 0.5, 1, 1}},
        {NETLIB_JITTER_ADDITIVE, 0.5, {0, 0.375, 0.625, 1, 1}},
        {NETLIB_JITTER_NONE, 0.5, {0, 0.25, 0.5, 1, 1}},
        {NETLIB_JITTER_FULL, 0, {0, 0, 0, 0, 0}},
        {NETLIB_JITTER_FULL, 0.5, {0.0625, 0.125, 0.25, 0.5, 0.5}},
        {NETLIB_JITTER_FULL,
         nearly_one,
         {0.125 * nearly_one, 0.25 * nearly_one, 0.5 * nearly_one, nearly_one, nearly_one}},
        {NETLIB_JITTER_EQUAL, 0, {0.0625, 0.125, 0.25, 0.5, 0.5}},
        {NETLIB_JITTER_EQUAL, 0.5, {0.09375, 0.1875, 0.375, 0.75, 0.75}},
        {NETLIB_JITTER_EQUAL, nearly_one, {0.125, 0.25, 0.5, 1, 1}},
        {NETLIB_JITTER_DECORRELATED, 0, {0.125, 0.125, 0.125, 0.125, 0.125}},
        {NETLIB_JITTER_DECORRELATED, 0.5, {0.25, 0.4375, 0.71875, 1, 1}},
        {NETLIB_JITTER_DECORRELATED, nearly_one, {0.375, 1, 1, 1, 1}},
    };
    netlib_error *err = NULL;
    netlib_error *failure = error_of(NETLIB_READ_TIMEOUT, NULL);
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double random = rows[i].random;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_backoff_factor(options, 0.125);
        netlib_retry_options_set_backoff_max(options, 1);
        netlib_retry_options_set_backoff_jitter(options, 0.25);
        netlib_retry_options_set_jitter_kind(options, rows[i].kind);
        netlib_retry_options_set_random(options, constant_random, &random, NULL);
        netlib_retry *counted = retry_of(options), *decided = netlib_retry_clone(counted);
        double seconds = 9;
        CHECK_OK(netlib_retry_get_backoff_time(counted, &seconds, &err));
        CHECK_DOUBLE(0, seconds);
        for (int n = 0; n < 5; n++) {
            /* netlib_retry_increment and netlib_retry_decide lead to the same delays, and a delay stays the same if it
             * is read twice. */
            netlib_retry *next = NULL;
            netlib_decision *decision = NULL;
            CHECK_OK(netlib_retry_increment(counted, "GET", "/", NULL, failure, &next, &err));
            CHECK_OK(netlib_retry_decide(decided, "GET", url, NULL, failure, NULL, &decision, &err));
            for (int times_read = 0; times_read < 2; times_read++) {
                CHECK_OK(netlib_retry_get_backoff_time(next, &seconds, &err));
                CHECK_DOUBLE(rows[i].seconds[n], seconds);
            }
            CHECK_DOUBLE(rows[i].seconds[n], netlib_decision_delay(decision));
            CHECK_INT(rows[i].seconds[n] > 0 ? NETLIB_DELAY_BACKOFF : NETLIB_DELAY_NONE,
                      netlib_decision_delay_reason(decision));
            netlib_retry_free(counted);
            netlib_retry_free(decided);
            counted = next;
            decided = netlib_retry_clone(netlib_decision_retry(decision));
            netlib_decision_free(decision);
        }
        netlib_retry_free(counted);
        netlib_retry_free(decided);
    }

    /* With decorrelated jitter, the delay of a Retry stays the same even if the random callback returns another number.
     * A redirect restarts the sequence of delays. If the random callback fails, netlib_retry_increment fails, and the
     * Retry can still be used. */
    double random = 0.5, seconds = 9;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_factor(options, 1);
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_DECORRELATED);
    netlib_retry_options_set_random(options, constant_random, &random, NULL);
    netlib_retry *retry = retry_of(options), *next = NULL;
    CHECK_OK(netlib_retry_increment(retry, "GET", "/", NULL, failure, &next, &err));
    random = 0.75;
    CHECK_OK(netlib_retry_get_backoff_time(next, &seconds, &err));
    CHECK_DOUBLE(2, seconds);
    netlib_retry *varied = retry_of(netlib_retry_to_options(next));
    CHECK_OK(netlib_retry_get_backoff_time(varied, &seconds, &err));
    CHECK_DOUBLE(2, seconds);
    netlib_retry_free(varied);
    random = 1;
    netlib_retry *none = NULL;
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_retry_increment(next, "GET", "/", NULL, failure, &none, &err));
    CHECK(none == NULL);
    random = 0.5;
    netlib_retry *second = NULL, *redirected = NULL, *after = NULL;
    CHECK_OK(netlib_retry_increment(next, "GET", "/", NULL, failure, &second, &err));
    CHECK_OK(netlib_retry_get_backoff_time(second, &seconds, &err));
    CHECK_DOUBLE(3.5, seconds);
    netlib_response *moved = response_of(302, "Location: /x\r\n");
    CHECK_OK(netlib_retry_increment(second, "GET", "/", moved, NULL, &redirected, &err));
    CHECK_OK(netlib_retry_get_backoff_time(redirected, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
    CHECK_OK(netlib_retry_increment(redirected, "GET", "/", NULL, failure, &after, &err));
    CHECK_OK(netlib_retry_get_backoff_time(after, &seconds, &err));
    CHECK_DOUBLE(2, seconds);
    netlib_response_free(moved);
    netlib_retry_free(after);
    netlib_retry_free(redirected);
    netlib_retry_free(second);
    netlib_retry_free(next);
    netlib_retry_free(retry);
    netlib_url_free(url);
    netlib_error_free(failure);
}

/* Returns the recommended options with a random callback that returns 0.5. */
static netlib_retry_options *recommended(void) {
    static double half = 0.5;
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    netlib_retry_options_set_random(options, constant_random, &half, NULL);
    return options;
}

/* Tests the decisions of the recommended settings about the first response. */
static void recommended_options_retry_only_statuses_429_502_503_and_504(void) {
    static const struct {
        const char *method;
        int status;
        const char *fields;
        int32_t action;
        double delay;
        int32_t reason;
    } rows[] = {
        {"GET", 200, "", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"GET", 200, "Retry-After: 1\r\n", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"GET", 404, "", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"GET", 413, "Retry-After: 1\r\n", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"GET", 500, "Retry-After: 1\r\n", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"GET", 429, "", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 502, "", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"PUT", 503, "", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 504, "", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"POST", 503, "", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"POST", 503, "Retry-After: 1\r\n", NETLIB_ACTION_RETURN_RESPONSE, 0, NETLIB_DELAY_NONE},
        {"GET", 429, "Retry-After: 7\r\n", NETLIB_ACTION_RETRY, 7, NETLIB_DELAY_RETRY_AFTER},
        {"GET", 502, "Retry-After: 7\r\n", NETLIB_ACTION_RETRY, 7, NETLIB_DELAY_RETRY_AFTER},
        {"GET", 504, "Retry-After: 120\r\n", NETLIB_ACTION_RETRY, 120, NETLIB_DELAY_RETRY_AFTER},
        {"GET", 503, "Retry-After: 0\r\n", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 503, "Retry-After: soon\r\n", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 503, "Retry-After: -1\r\n", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 503, "Retry-After: 1.5\r\n", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 503, "Retry-After: \r\n", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"GET", 503, "Retry-After: 1\r\nRetry-After: 2\r\n", NETLIB_ACTION_RETRY, 0.05, NETLIB_DELAY_BACKOFF},
        {"POST", 301, "Location: /x\r\n", NETLIB_ACTION_REDIRECT, 0, NETLIB_DELAY_NONE},
        {"GET", 302, "Location: /x\r\nRetry-After: 3\r\n", NETLIB_ACTION_REDIRECT, 3, NETLIB_DELAY_RETRY_AFTER},
        {"GET", 302, "Location: /x\r\nRetry-After: soon\r\n", NETLIB_ACTION_REDIRECT, 0, NETLIB_DELAY_NONE},
    };
    netlib_error *err = NULL;
    netlib_retry *retry = retry_of(recommended());
    netlib_url *url = url_of("https://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_decision *decision = NULL;
        netlib_response *response = response_of(rows[i].status, rows[i].fields);
        CHECK_OK(netlib_retry_decide(retry, rows[i].method, url, response, NULL, NULL, &decision, &err));
        CHECK_INT(rows[i].action, netlib_decision_action(decision));
        CHECK_DOUBLE(rows[i].delay, netlib_decision_delay(decision));
        CHECK_INT(rows[i].reason, netlib_decision_delay_reason(decision));
        if (rows[i].action == NETLIB_ACTION_RETRY) {
            CHECK_INT(2, netlib_retry_total_left(netlib_decision_retry(decision)));
            double seconds = 9, uncapped = 9;
            enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
            CHECK_OK(netlib_retry_delay(netlib_decision_retry(decision), response, &seconds, &reason, &uncapped, &err));
            CHECK_DOUBLE(rows[i].delay, seconds);
        }
        netlib_decision_free(decision);
        netlib_response_free(response);
    }

    /* A redirect from https to http is refused. netlib_retry_get_retry_after ignores a malformed Retry-After, but
     * netlib_retry_parse_retry_after fails. */
    netlib_decision *decision = NULL;
    netlib_response *response = response_of(302, "Location: http://h/\r\n");
    CHECK_STATUS(NETLIB_UNSAFE_REDIRECT, netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
    netlib_response_free(response);
    response = response_of(503, "Retry-After: soon\r\n");
    double seconds = 9;
    CHECK_OK(netlib_retry_get_retry_after(retry, response, &seconds, &err));
    CHECK_DOUBLE(-1, seconds);
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_retry_parse_retry_after(retry, "soon", &seconds, &err));
    netlib_response_free(response);
    netlib_retry_free(retry);

    /* A malformed Retry-After that is ignored does not make a status retryable. A clock that fails makes the decision
     * fail, but netlib calls the clock only if the decision depends on the time. */
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_ignore_malformed_retry_after(options, 1);
    netlib_retry_options_set_wall_clock(options, constant_random, &(double){NAN}, NULL);
    retry = retry_of(options);
    for (int i = 0; i < 2; i++) {
        response = response_of(i == 0 ? 200 : 503, "Retry-After: Sun, 06 Nov 1994 08:49:47 GMT\r\n");
        CHECK_STATUS(i == 0 ? NETLIB_OK : NETLIB_CALLBACK_FAILED,
                     netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        netlib_decision_free(decision);
        netlib_response_free(response);
    }
    for (int i = 0; i < 2; i++) {
        response = response_of(503, i == 0 ? "Retry-After: soon\r\n" : "Retry-After: 5\r\n");
        CHECK_OK(netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        CHECK_INT(i == 0 ? NETLIB_ACTION_RETURN_RESPONSE : NETLIB_ACTION_RETRY, netlib_decision_action(decision));
        netlib_decision_free(decision);
        netlib_response_free(response);
    }
    netlib_retry_free(retry);
    netlib_url_free(url);
}

/* Every attempt of the request fails. Retries the request until the policy refuses another retry. */
static void recommended_options_retry_errors_at_most_three_times(void) {
    static const struct {
        netlib_status status;
        const char *method;
        int retries;
        netlib_status end;
    } rows[] = {
        {NETLIB_CONNECT_FAILED, "GET", 3, NETLIB_MAX_RETRY},
        {NETLIB_CONNECT_FAILED, "POST", 3, NETLIB_MAX_RETRY},
        {NETLIB_CONNECT_TIMEOUT, "POST", 3, NETLIB_MAX_RETRY},
        {NETLIB_READ_TIMEOUT, "GET", 3, NETLIB_MAX_RETRY},
        {NETLIB_READ_TIMEOUT, "POST", 0, NETLIB_READ_TIMEOUT},
        {NETLIB_PROTOCOL, "DELETE", 3, NETLIB_MAX_RETRY},
        {NETLIB_PROTOCOL, "PATCH", 0, NETLIB_PROTOCOL},
        {NETLIB_CANCELLED, "GET", 0, NETLIB_CANCELLED},
        /* A failure that is never retried is returned unchanged. */
        {NETLIB_CERTIFICATE_VERIFY, "GET", 0, NETLIB_CERTIFICATE_VERIFY},
        {NETLIB_HOSTNAME_MISMATCH, "GET", 0, NETLIB_HOSTNAME_MISMATCH},
        {NETLIB_FINGERPRINT_MISMATCH, "PUT", 0, NETLIB_FINGERPRINT_MISMATCH},
        {NETLIB_TLS_ALERT, "GET", 0, NETLIB_TLS_ALERT},
        {NETLIB_PROXY_FAILED, "GET", 0, NETLIB_PROXY_FAILED},
        {NETLIB_APPLICATION_ERROR, "GET", 0, NETLIB_APPLICATION_ERROR},
    };
    static const double delays[] = {0.05, 0.1, 0.2};
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *failure = error_of(rows[i].status, NULL);
        netlib_retry *retry = retry_of(recommended());
        netlib_decision *decision = NULL;
        for (int n = 0; n < rows[i].retries; n++) {
            CHECK_OK(netlib_retry_decide(retry, rows[i].method, url, NULL, failure, NULL, &decision, &err));
            CHECK_DOUBLE(delays[n], netlib_decision_delay(decision));
            netlib_retry_free(retry);
            retry = netlib_retry_clone(netlib_decision_retry(decision));
            netlib_decision_free(decision);
        }
        CHECK_STATUS(rows[i].end,
                     netlib_retry_decide(retry, rows[i].method, url, NULL, failure, NULL, &decision, &err));
        netlib_retry_free(retry);
        netlib_error_free(failure);
    }
    netlib_url_free(url);
}

/* One request can have ten redirects and three retries. */
static void redirects_do_not_consume_the_three_retries_of_recommended_options(void) {
    netlib_error *err = NULL;
    netlib_retry *retry = retry_of(recommended());
    netlib_url *url = url_of("http://h/");
    netlib_response *moved = response_of(302, "Location: /x\r\n"), *busy = response_of(503, "");
    netlib_decision *decision = NULL;
    for (int n = 0; n < 13; n++) {
        const netlib_response *response = n < 5 || n >= 8 ? moved : busy;
        CHECK_OK(netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        netlib_retry_free(retry);
        retry = netlib_retry_clone(netlib_decision_retry(decision));
        netlib_decision_free(decision);
    }
    CHECK_INT(0, netlib_retry_total_left(retry));
    CHECK_INT(0, netlib_retry_redirect_left(retry));
    for (int i = 0; i < 2; i++) {
        CHECK_INT(NETLIB_MAX_RETRY,
                  netlib_retry_decide(retry, "GET", url, i == 0 ? moved : busy, NULL, NULL, &decision, &err));
        CHECK_INT(i == 0 ? NETLIB_TOO_MANY_REDIRECTS : NETLIB_RESPONSE_STATUS,
                  netlib_error_status(netlib_error_cause(err, 0)));
        netlib_error_free(err);
    }
    netlib_retry_free(retry);

    /* If the total is disabled, netlib follows no redirect. */
    netlib_retry_options *options = recommended();
    netlib_retry_options_set_total(options, NETLIB_RETRY_DISABLED);
    retry = retry_of(options);
    CHECK_OK(netlib_retry_decide(retry, "GET", url, moved, NULL, NULL, &decision, &err));
    CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(decision));
    netlib_decision_free(decision);
    netlib_retry_free(retry);
    netlib_response_free(moved);
    netlib_response_free(busy);
    netlib_url_free(url);
}

/* Tests responses whose Retry-After exceeds retry_after_max. */
static void a_long_retry_after_is_clamped_or_stops_the_retries(void) {
    static const struct {
        int32_t over_max;
        int status;
        const char *fields;
        int32_t raise;
        netlib_status expected;
        int32_t action;
        double delay, uncapped;
        const char *message; /* the message of the cause */
    } rows[] = {
        {NETLIB_LONG_RETRY_AFTER_CLAMP, 503, "Retry-After: 121\r\n", 1, NETLIB_OK, NETLIB_ACTION_RETRY, 120, 121, NULL},
        {NETLIB_LONG_RETRY_AFTER_STOP, 503, "Retry-After: 120\r\n", 1, NETLIB_OK, NETLIB_ACTION_RETRY, 120, 120, NULL},
        {NETLIB_LONG_RETRY_AFTER_STOP, 503, "Retry-After: 121\r\n", 1, NETLIB_MAX_RETRY, 0, 0, 0,
         "the server answered 503 with a Retry-After of 121 s, more than retry_after_max (120 s)"},
        {NETLIB_LONG_RETRY_AFTER_STOP, 503, "Retry-After: 121\r\n", 0, NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 0, 121,
         NULL},
        {NETLIB_LONG_RETRY_AFTER_STOP, 429, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n", 0, NETLIB_OK,
         NETLIB_ACTION_RETURN_RESPONSE, 0, -1, NULL},
        {NETLIB_LONG_RETRY_AFTER_STOP, 302, "Location: /x\r\nRetry-After: 3600\r\n", 1, NETLIB_MAX_RETRY, 0, 0, 0,
         "the server answered 302 with a Retry-After of 3600 s, more than retry_after_max (120 s)"},
        {NETLIB_LONG_RETRY_AFTER_STOP, 302, "Location: /x\r\nRetry-After: 3600\r\n", 0, NETLIB_OK,
         NETLIB_ACTION_RETURN_RESPONSE, 0, 3600, NULL},
        /* The status 404 is not retried, so its Retry-After is ignored. */
        {NETLIB_LONG_RETRY_AFTER_STOP, 404, "Retry-After: 3600\r\n", 1, NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 0, 0,
         NULL},
    };
    netlib_url *url = url_of("http://user:pw@h/p?key=secret");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_retry_options *options = recommended();
        netlib_retry_options_set_long_retry_after(options, rows[i].over_max);
        netlib_retry_options_set_raise_on_status(options, rows[i].raise);
        netlib_retry_options_set_raise_on_redirect(options, rows[i].raise);
        netlib_retry *retry = retry_of(options);
        netlib_response *response = response_of(rows[i].status, rows[i].fields);
        CHECK_INT(rows[i].expected, netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        if (rows[i].expected == NETLIB_OK) {
            CHECK_INT(rows[i].action, netlib_decision_action(decision));
            CHECK_DOUBLE(rows[i].delay, netlib_decision_delay(decision));
            if (rows[i].uncapped >= 0) CHECK_DOUBLE(rows[i].uncapped, netlib_decision_delay_uncapped(decision));
            CHECK_INT(rows[i].status == 404 ? NETLIB_DELAY_NONE : NETLIB_DELAY_RETRY_AFTER,
                      netlib_decision_delay_reason(decision));
        } else {
            CHECK_INT(1, (long long)netlib_error_cause_count(err));
            CHECK_INT(NETLIB_RESPONSE_STATUS, netlib_error_status(netlib_error_cause(err, 0)));
            CHECK_STR(rows[i].message, netlib_error_message(netlib_error_cause(err, 0), NULL));
            const netlib_retry *left = netlib_error_retry(err);
            CHECK_INT(1, (long long)netlib_retry_history_count(left));
            CHECK_INT(rows[i].status, netlib_retry_history_status(left, 0));
            CHECK(!is_exhausted(left));
            const char *message = netlib_error_message(err, NULL);
            CHECK(strstr(message, "the retries end for GET http://h/p: the server answered ") == message);
            CHECK(strstr(message, "pw") == NULL && strstr(message, "secret") == NULL);
            netlib_error_free(err);
        }
        netlib_decision_free(decision);
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
    netlib_url_free(url);

    /* With the recommended settings, netlib_retry_delay and netlib_retry_sleep fail with NETLIB_MAX_RETRY if
     * Retry-After exceeds retry_after_max. netlib_retry_get_retry_after and netlib_retry_parse_retry_after succeed, and
     * store the number of seconds in the header value. */
    netlib_error *err = NULL;
    netlib_retry *retry = retry_of(recommended());
    netlib_response *response = response_of(503, "Retry-After: 3600\r\n");
    double seconds = 9, uncapped = 9;
    enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
    CHECK_STATUS(NETLIB_MAX_RETRY, netlib_retry_delay(retry, response, &seconds, &reason, &uncapped, &err));
    CHECK_STATUS(NETLIB_MAX_RETRY, netlib_retry_sleep(retry, response, NULL, &err));
    CHECK_OK(netlib_retry_get_retry_after(retry, response, &seconds, &err));
    CHECK_DOUBLE(3600, seconds);
    CHECK_OK(netlib_retry_parse_retry_after(retry, "86400", &seconds, &err));
    CHECK_DOUBLE(86400, seconds);
    netlib_response_free(response);
    netlib_retry_free(retry);
}

/* After a 503 and a read timeout, a call fails because of the deadline or a cancel of its limit. The error of the call
 * has these two failed attempts as causes. */
static void deadline_and_cancel_errors_have_the_failed_attempts_as_causes(void) {
    netlib_url *url = url_of("http://h/");
    netlib_error *err = NULL, *failure = error_of(NETLIB_READ_TIMEOUT, NULL);
    netlib_response *busy = response_of(503, "Retry-After: 60\r\n");
    netlib_limit *limit = NULL, *cancelled = NULL;
    CHECK_OK(netlib_limit_new(30, NULL, &limit, &err));
    CHECK_OK(netlib_limit_new(30, NULL, &cancelled, &err));
    netlib_limit_cancel(cancelled);

    netlib_retry *retry = retry_of(recommended());
    netlib_decision *first = NULL, *second = NULL, *none = NULL;
    CHECK_OK(netlib_retry_decide(retry, "GET", url, busy, NULL, NULL, &first, &err));
    CHECK_OK(netlib_retry_decide(netlib_decision_retry(first), "GET", url, NULL, failure, NULL, &second, &err));
    const netlib_retry *after = netlib_decision_retry(second);
    netlib_error *stopped = error_of(NETLIB_DEADLINE_EXCEEDED, failure);

    for (int i = 0; i < 7; i++) {
        netlib_status status = NETLIB_OK;
        netlib_retry *next = NULL;
        int32_t slept = 0;
        /* In case 0, the delay is longer than the 30 s of the limit. In cases 1 to 4, the limit is cancelled. In cases
         * 5 and 6, the third attempt has failed because its limit ended. */
        if (i == 0) status = netlib_retry_decide(after, "GET", url, busy, NULL, limit, &none, &err);
        if (i == 1) status = netlib_retry_decide(after, "GET", url, busy, NULL, cancelled, &none, &err);
        if (i == 2) status = netlib_decision_sleep(second, cancelled, &err);
        if (i == 3) status = netlib_retry_sleep(after, NULL, cancelled, &err);
        if (i == 4) status = netlib_retry_sleep_for_retry(after, NULL, cancelled, &slept, &err);
        if (i == 5) status = netlib_retry_decide(after, "GET", url, NULL, stopped, NULL, &none, &err);
        if (i == 6) status = netlib_retry_increment(after, "GET", "/", NULL, stopped, &next, &err);
        CHECK_INT(i == 0 || i >= 5 ? NETLIB_DEADLINE_EXCEEDED : NETLIB_CANCELLED, status);
        /* The failed attempts come after the causes that the error already had. */
        size_t at = i >= 5 ? 1 : 0, count = i <= 1 ? 3 : at + 2;
        CHECK_INT((long long)count, (long long)netlib_error_cause_count(err));
        CHECK_STR("the server answered 503", netlib_error_message(netlib_error_cause(err, at), NULL));
        CHECK_INT(NETLIB_RESPONSE_STATUS, netlib_error_status(netlib_error_cause(err, at)));
        CHECK_STR("what failed", netlib_error_message(netlib_error_cause(err, at + 1), NULL));
        CHECK_INT(NETLIB_READ_TIMEOUT, netlib_error_status(netlib_error_cause(err, at + 1)));
        if (i <= 1) CHECK_STR("the server answered 503", netlib_error_message(netlib_error_cause(err, 2), NULL));
        netlib_error_free(err);
        err = NULL;
    }
    netlib_decision_free(second);
    netlib_decision_free(first);
    netlib_error_free(stopped);
    netlib_retry_free(retry);

    /* Only the last 16 attempts of a long history become causes of an error. An error that is repeatedly passed to
     * netlib_retry_decide gets at most 64 causes. */
    netlib_retry_options *options = netlib_retry_options_new();
    for (int i = 0; i < 40; i++) netlib_retry_options_add_history(options, "GET", "/", NULL, 500 + i, NULL);
    retry = retry_of(options);
    CHECK_INT(NETLIB_CANCELLED, netlib_retry_sleep(retry, NULL, cancelled, &err));
    CHECK_INT(16, (long long)netlib_error_cause_count(err));
    CHECK_STR("the server answered 524", netlib_error_message(netlib_error_cause(err, 0), NULL));
    CHECK_STR("the server answered 539", netlib_error_message(netlib_error_cause(err, 15), NULL));
    for (int i = 0; i < 10; i++) {
        netlib_error *again = NULL;
        CHECK_INT(NETLIB_CANCELLED, netlib_retry_decide(retry, "GET", url, NULL, err, NULL, &none, &again));
        netlib_error_free(err);
        err = again;
    }
    CHECK_INT(64, (long long)netlib_error_cause_count(err));
    netlib_error_free(err);
    netlib_retry_free(retry);

    netlib_limit_free(limit);
    netlib_limit_free(cancelled);
    netlib_response_free(busy);
    netlib_error_free(failure);
    netlib_url_free(url);
}

/* Checks which headers the default and the recommended policy send to another origin. */
static void the_recommended_policy_sends_no_secret_headers_to_other_origins(void) {
    static const struct {
        const char *name;
        bool urllib3, recommended;
    } rows[] = {
        {"Authorization", false, false},      {"Cookie", true, false}, {"X-Api-Key", true, false},
        {"Proxy-Authorization", true, false}, {"Host", true, false},   {"Accept", true, true},
    };
    netlib_error *err = NULL;
    netlib_url *url = url_of("https://h/");
    netlib_response *moved = response_of(302, "Location: https://other/\r\n");
    netlib_retry *defaults = retry_of(netlib_retry_options_new());
    for (int i = 0; i < 2; i++) {
        netlib_decision *decision = NULL;
        const netlib_retry *retry = i == 0 ? defaults : netlib_retry_recommended();
        CHECK_OK(netlib_retry_decide(retry, "GET", url, moved, NULL, NULL, &decision, &err));
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            bool kept = i == 0 ? rows[j].urllib3 : rows[j].recommended;
            CHECK_INT(!kept, netlib_decision_drops_header(decision, rows[j].name));
        }
        netlib_decision_free(decision);
    }
    netlib_retry_free(defaults);
    netlib_response_free(moved);
    netlib_url_free(url);
}

int main(void) {
    recommended_options_allow_3_retries_10_redirects_and_full_jitter();
    retry_settings_can_be_read_back_and_invalid_values_are_refused();
    each_jitter_kind_computes_delays_from_backoff_and_random_number();
    recommended_options_retry_only_statuses_429_502_503_and_504();
    recommended_options_retry_errors_at_most_three_times();
    redirects_do_not_consume_the_three_retries_of_recommended_options();
    a_long_retry_after_is_clamped_or_stops_the_retries();
    deadline_and_cancel_errors_have_the_failed_attempts_as_causes();
    the_recommended_policy_sends_no_secret_headers_to_other_origins();
    return report("retry_recommended");
}
