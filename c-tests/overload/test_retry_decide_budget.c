/* Tests netlib_retry_decide with a retry budget. */
#include "budget_makers.h"
#include "retry_makers.h"

/* Makes a Retry with a budget; the statuses 502 and 503 are retried. Frees nothing. */
static netlib_retry *retry_with(netlib_retry_budget *budget, const char *key, int32_t total, int32_t raise_on_status) {
    static const int32_t codes[] = {429, 502, 503};
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_status_forcelist(options, codes, 3);
    netlib_retry_options_set_total(options, total);
    netlib_retry_options_set_raise_on_status(options, raise_on_status);
    netlib_retry_options_set_budget(options, budget, key);
    return retry_of(options);
}

/* Decides about a request to `url`. A `status` up to 999 is the status of the response; a `status` above 999 is an
 * error with the status `status` - 1000. Stores the decision, and returns the status of the call. */
static netlib_status decide_with(const netlib_retry *retry, const char *method, const char *url, int status,
                                 const char *fields, netlib_decision **decision, netlib_error **err) {
    netlib_url *parsed = url_of(url);
    bool is_error = status >= 1000;
    netlib_error *error = is_error ? error_around(status - 1000, "what failed", NULL) : NULL;
    netlib_response *response = is_error ? NULL : response_of(status, fields);
    netlib_status result = netlib_retry_decide(retry, method, parsed, response, error, NULL, decision, err);
    netlib_response_free(response);
    netlib_error_free(error);
    netlib_url_free(parsed);
    return result;
}

#define FAILED(status) (1000 + (status))

/* Chains of requests with one budget. Each row is one request; a row with `is_first` begins a new chain. */
static void decisions_ask_the_budget_and_report_outcomes(void) {
    static const struct {
        enum netlib_budget_preset preset;
        bool is_first;
        const char *method;
        int status;
        const char *fields;
        netlib_status result;
        int32_t action;
        double left; /* of http://h:80 */
    } rows[] = {
        /* A chain of three retries, which all fail. The counter is then used up, and the budget is not asked. */
        {NETLIB_BUDGET_AWS_2026, true, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 486},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 502, "", NETLIB_OK, NETLIB_ACTION_RETRY, 472},
        {NETLIB_BUDGET_AWS_2026, false, "GET", FAILED(NETLIB_READ_TIMEOUT), "", NETLIB_OK, NETLIB_ACTION_RETRY, 458},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 503, "", NETLIB_MAX_RETRY, 0, 458},
        /* The success of the second retry returns only its own cost. */
        {NETLIB_BUDGET_AWS_2026, true, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 486},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 472},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 486},
        /* A chain without a retry adds 1 if it succeeds. */
        {NETLIB_BUDGET_AWS_2026, true, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 487},
        {NETLIB_BUDGET_AWS_2026, true, "GET", 404, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 488},
        {NETLIB_BUDGET_AWS_2026, true, "GET", 500, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 488},
        /* Throttling costs 5. */
        {NETLIB_BUDGET_AWS_2026, true, "GET", 429, "", NETLIB_OK, NETLIB_ACTION_RETRY, 483},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 503, "Retry-After: 1\r\n", NETLIB_OK, NETLIB_ACTION_RETRY, 478},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 483},
        /* A request that the policy does not retry costs nothing. */
        {NETLIB_BUDGET_AWS_2026, true, "POST", 503, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 483},
        {NETLIB_BUDGET_AWS_2026, true, "POST", FAILED(NETLIB_READ_TIMEOUT), "", NETLIB_READ_TIMEOUT, 0, 483},
        {NETLIB_BUDGET_AWS_2026, true, "GET", FAILED(NETLIB_CANCELLED), "", NETLIB_CANCELLED, 0, 483},
        /* A redirect is not a retry: it counts as a success, and the budget is not asked. A redirect that answers a
         * retry does not return its cost. */
        {NETLIB_BUDGET_AWS_2026, true, "GET", 302, "Location: /x\r\n", NETLIB_OK, NETLIB_ACTION_REDIRECT, 484},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 470},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 302, "Location: /y\r\n", NETLIB_OK, NETLIB_ACTION_REDIRECT, 470},
        {NETLIB_BUDGET_AWS_2026, false, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 471},
        /* gRPC: each failure takes a token, even if it is not retried. */
        {NETLIB_BUDGET_GRPC, true, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 9},
        {NETLIB_BUDGET_GRPC, false, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 9.1},
        {NETLIB_BUDGET_GRPC, true, "POST", 503, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 8.1},
        {NETLIB_BUDGET_GRPC, true, "POST", FAILED(NETLIB_READ_TIMEOUT), "", NETLIB_READ_TIMEOUT, 0, 7.1},
        {NETLIB_BUDGET_GRPC, true, "GET", FAILED(NETLIB_CANCELLED), "", NETLIB_CANCELLED, 0, 7.1},
        {NETLIB_BUDGET_GRPC, true, "GET", FAILED(NETLIB_CONNECT_FAILED), "", NETLIB_OK, NETLIB_ACTION_RETRY, 6.1},
        {NETLIB_BUDGET_GRPC, false, "GET", 429, "", NETLIB_OK, NETLIB_ACTION_RETRY, 5.1},
        {NETLIB_BUDGET_GRPC, false, "GET", 503, "", NETLIB_MAX_RETRY, 0, 4.1},
        {NETLIB_BUDGET_GRPC, true, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 4.2},
        {NETLIB_BUDGET_GRPC, true, "GET", 307, "Location: /x\r\n", NETLIB_OK, NETLIB_ACTION_REDIRECT, 4.3},
        /* Finagle: first attempts deposit a fifth of a retry when they end. */
        {NETLIB_BUDGET_FINAGLE, true, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 99},
        {NETLIB_BUDGET_FINAGLE, false, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 98},
        {NETLIB_BUDGET_FINAGLE, false, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 98},
        {NETLIB_BUDGET_FINAGLE, true, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 98},
        {NETLIB_BUDGET_FINAGLE, true, "GET", 404, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 98},
        {NETLIB_BUDGET_FINAGLE, true, "POST", 503, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 98},
        {NETLIB_BUDGET_FINAGLE, true, "GET", 500, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 99},
        /* Envoy: a retry is in flight until its outcome is known. */
        {NETLIB_BUDGET_ENVOY, true, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 2},
        {NETLIB_BUDGET_ENVOY, false, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 2},
        {NETLIB_BUDGET_ENVOY, false, "GET", 200, "", NETLIB_OK, NETLIB_ACTION_RETURN_RESPONSE, 3},
        {NETLIB_BUDGET_ENVOY, true, "GET", 503, "", NETLIB_OK, NETLIB_ACTION_RETRY, 2},
        {NETLIB_BUDGET_ENVOY, false, "GET", 302, "Location: /x\r\n", NETLIB_OK, NETLIB_ACTION_REDIRECT, 3},
    };
    netlib_retry_budget *budget = NULL;
    netlib_retry *retry = NULL;
    netlib_decision *last = NULL;
    double now = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (i == 0 || rows[i].preset != rows[i - 1].preset) {
            netlib_retry_budget_options *options = netlib_retry_budget_options_new();
            netlib_retry_budget_options_set_preset(options, rows[i].preset);
            netlib_retry_budget_free(budget);
            budget = budget_of(options, &now);
        }
        /* The first chain shows that a chain of three failures ends at 458; the next chain starts afresh. */
        if (i == 4) {
            netlib_retry_budget_free(budget);
            budget = budget_of(netlib_retry_budget_options_new(), &now);
        }
        if (rows[i].is_first) {
            netlib_decision_free(last);
            last = NULL;
            netlib_retry_free(retry);
            bool is_grpc = rows[i].preset == NETLIB_BUDGET_GRPC;
            retry = retry_with(budget, NULL, is_grpc ? 2 : 3, 1);
        }
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        const netlib_retry *used = last != NULL ? netlib_decision_retry(last) : retry;
        netlib_status result =
            decide_with(used, rows[i].method, "http://user@H/path", rows[i].status, rows[i].fields, &decision, &err);
        CHECK_INT(rows[i].result, result);
        CHECK_INT(rows[i].action, netlib_decision_action(decision));
        CHECK(netlib_decision_denied(decision) == NULL);
        CHECK_DOUBLE(rows[i].left, left(budget, "http://h:80"));
        netlib_error_free(err);
        netlib_decision_free(last);
        last = decision;
    }
    netlib_decision_free(last);
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

static void a_denied_retry_ends_as_if_the_retries_were_used_up(void) {
    static const struct {
        int32_t raise_on_status;
        int status;
        netlib_status result, cause;
        const char *message; /* also the first line of the report */
    } rows[] = {
        {0, 503, NETLIB_OK, 0, NULL},
        {1, 503, NETLIB_MAX_RETRY, NETLIB_RESPONSE_STATUS,
         "the retry budget allows no further retry for GET http://h/p: the server answered 503"},
        {0, FAILED(NETLIB_READ_TIMEOUT), NETLIB_MAX_RETRY, NETLIB_READ_TIMEOUT,
         "the retry budget allows no further retry for GET http://h/p: what failed"},
        {1, FAILED(NETLIB_READ_TIMEOUT), NETLIB_MAX_RETRY, NETLIB_READ_TIMEOUT,
         "the retry budget allows no further retry for GET http://h/p: what failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_tokens(options, 15, 10, 5, 1);
        netlib_retry_budget *budget = budget_of(options, NULL);
        ask(budget, "tenant", NETLIB_BUDGET_TRANSIENT);
        netlib_retry *retry = retry_with(budget, "tenant", 3, rows[i].raise_on_status);
        CHECK_INT(rows[i].result,
                  decide_with(retry, "GET", "http://h/p?q=secret", rows[i].status, "", &decision, &err));
        const netlib_error *denied = netlib_decision_denied(decision);
        if (rows[i].result == NETLIB_OK) {
            CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(decision));
            CHECK_INT(NETLIB_COUNTER_STATUS, netlib_decision_counter(decision));
            CHECK_DOUBLE(0, netlib_decision_delay(decision));
            CHECK(netlib_decision_retry(decision) == retry);
        } else {
            CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
            char report[300];
            snprintf(report, sizeof report, "%s\n  cause: %s", rows[i].message,
                     netlib_error_message(netlib_error_cause(err, 1), NULL));
            CHECK_STR(report, netlib_error_report(err, NULL));
            CHECK_INT(2, (long long)netlib_error_cause_count(err));
            CHECK_INT(rows[i].cause, netlib_error_status(netlib_error_cause(err, 0)));
            denied = netlib_error_cause(err, 1);
            const netlib_retry *spent = netlib_error_retry(err);
            CHECK(spent != NULL && !is_exhausted(spent));
            CHECK_INT(1, (long long)netlib_retry_history_count(spent));
        }
        CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, netlib_error_status(denied));
        CHECK_STR("tenant", netlib_error_budget_key(denied, NULL));
        CHECK_DOUBLE(5, netlib_error_budget_left(denied));
        CHECK_STR("the retry budget of tenant has 5 tokens left; a retry costs 10", netlib_error_message(denied, NULL));
        CHECK_DOUBLE(5, left(budget, "tenant"));
        netlib_error_free(err);
        netlib_decision_free(decision);
        netlib_retry_free(retry);
        netlib_retry_budget_free(budget);
    }
}

/* Checks that come before the budget: the retry does not take place, so it costs nothing. */
static void a_retry_that_another_rule_ends_costs_nothing(void) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    netlib_decision *decision = NULL;
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    netlib_url *url = url_of("http://h/");
    netlib_response *malformed = response_of(503, "Retry-After: soon\r\n");
    netlib_response *late = response_of(503, "Retry-After: 60\r\n");
    netlib_retry *retry = retry_with(budget, "k", 3, 1), *none = retry_with(budget, "k", 0, 1);
    CHECK_OK(netlib_limit_new(5, NULL, &limit, &err));
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_retry_decide(retry, "GET", url, malformed, NULL, NULL, &decision, &err));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_retry_decide(retry, "GET", url, late, NULL, limit, &decision, &err));
    CHECK_STATUS(NETLIB_MAX_RETRY, netlib_retry_decide(none, "GET", url, late, NULL, NULL, &decision, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_decide(retry, "G T", url, late, NULL, NULL, &decision, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_decide(retry, "GET", url, NULL, NULL, NULL, &decision, &err));
    CHECK_DOUBLE(500, left(budget, "k"));
    netlib_limit_free(limit);
    netlib_response_free(malformed);
    netlib_response_free(late);
    netlib_retry_free(retry);
    netlib_retry_free(none);
    netlib_url_free(url);
    netlib_retry_budget_free(budget);
}

static void a_second_decision_for_the_same_outcome_costs_a_second_retry(void) {
    netlib_error *err = NULL;
    netlib_decision *first = NULL, *second = NULL, *done = NULL;
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    netlib_retry *retry = retry_with(budget, "k", 3, 1);
    CHECK_OK(decide_with(retry, "GET", "http://h/", 503, "", &first, &err));
    CHECK_OK(decide_with(retry, "GET", "http://h/", 503, "", &second, &err));
    CHECK_DOUBLE(472, left(budget, "k"));
    /* The success of one retry is reported once, even if it is decided twice: the second call counts as a first
     * attempt's success only if the Retry has no lease. */
    CHECK_OK(decide_with(netlib_decision_retry(first), "GET", "http://h/", 200, "", &done, &err));
    netlib_decision_free(done);
    CHECK_DOUBLE(486, left(budget, "k"));
    CHECK_OK(decide_with(netlib_decision_retry(first), "GET", "http://h/", 200, "", &done, &err));
    netlib_decision_free(done);
    CHECK_DOUBLE(486, left(budget, "k"));
    netlib_decision_free(first);
    netlib_decision_free(second);
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

static void a_retry_that_is_freed_without_a_decision_ends_its_lease(void) {
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_ENVOY);
    netlib_retry_budget *budget = budget_of(options, NULL);
    netlib_retry *retry = retry_with(budget, NULL, 3, 1);
    CHECK_OK(decide_with(retry, "GET", "https://h/", 503, "", &decision, &err));
    netlib_retry *next = netlib_retry_clone(netlib_decision_retry(decision));
    netlib_decision_free(decision);
    CHECK_DOUBLE(2, left(budget, "https://h:443"));
    netlib_retry_options *copy = netlib_retry_to_options(next);
    netlib_retry_free(next);
    CHECK_DOUBLE(2, left(budget, "https://h:443"));
    netlib_retry_options_free(copy);
    CHECK_DOUBLE(3, left(budget, "https://h:443"));
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

/* A server that answers each retry with a redirect, and each redirected request with a failure. */
static void redirects_between_failures_do_not_refill_the_budget(void) {
    netlib_error *err = NULL;
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    netlib_retry *retry = retry_with(budget, "k", 100, 0);
    netlib_decision *last = NULL;
    int retries = 0;
    for (;;) {
        netlib_decision *decision = NULL;
        const netlib_retry *used = last != NULL ? netlib_decision_retry(last) : retry;
        bool is_retry = last != NULL && netlib_decision_action(last) == NETLIB_ACTION_RETRY;
        CHECK_OK(decide_with(used, "GET", "http://h/", is_retry ? 302 : 503, is_retry ? "Location: /x\r\n" : "",
                             &decision, &err));
        netlib_decision_free(last);
        last = decision;
        if (netlib_decision_action(last) == NETLIB_ACTION_RETURN_RESPONSE) break;
        retries += netlib_decision_action(last) == NETLIB_ACTION_RETRY;
    }
    CHECK_INT(35, retries);
    CHECK_DOUBLE(10, left(budget, "k"));
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, netlib_error_status(netlib_decision_denied(last)));
    netlib_decision_free(last);
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

/* A redirect reports to the key of the server that sent it; the next request uses the key of the new server. */
static void each_origin_of_a_chain_has_its_own_budget(void) {
    netlib_error *err = NULL;
    netlib_decision *retry_at_a = NULL, *redirect = NULL, *retry_at_b = NULL;
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    netlib_retry *retry = retry_with(budget, NULL, 5, 1);
    CHECK_OK(decide_with(retry, "GET", "http://a:8080/", 503, "", &retry_at_a, &err));
    CHECK_DOUBLE(486, left(budget, "http://a:8080"));
    CHECK_OK(decide_with(netlib_decision_retry(retry_at_a), "GET", "http://a:8080/", 307, "Location: https://b/\r\n",
                         &redirect, &err));
    CHECK_DOUBLE(486, left(budget, "http://a:8080"));
    CHECK_OK(decide_with(netlib_decision_retry(redirect), "GET", "https://b/", 503, "", &retry_at_b, &err));
    CHECK_DOUBLE(486, left(budget, "http://a:8080"));
    CHECK_DOUBLE(486, left(budget, "https://b:443"));
    netlib_decision_free(retry_at_a);
    netlib_decision_free(redirect);
    netlib_decision_free(retry_at_b);
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

/* aws-sdk-rust#1234: a refactoring removed the token bucket from the configuration, and nobody noticed. */
static void a_budget_stays_attached_to_every_retry_that_is_made_from_a_retry(void) {
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    netlib_retry *incremented = NULL;
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    netlib_retry *retry = retry_with(budget, "k", 5, 1);
    netlib_retry *copy = retry_of(netlib_retry_to_options(retry));
    CHECK_OK(netlib_retry_increment(retry, "GET", NULL, NULL, NULL, &incremented, &err));
    CHECK_OK(decide_with(copy, "GET", "http://h/", 503, "", &decision, &err));
    const netlib_retry *retries[] = {retry, copy, incremented, netlib_decision_retry(decision)};
    for (size_t i = 0; i < sizeof retries / sizeof retries[0]; i++) {
        size_t len = 0;
        CHECK(netlib_retry_attached_budget(retries[i]) == budget);
        CHECK_STR("k", netlib_retry_attached_budget_key(retries[i], &len));
        CHECK_INT(1, (long long)len);
    }
    /* Increment neither asks nor reports. */
    CHECK_DOUBLE(486, left(budget, "k"));
    netlib_retry_options *options = netlib_retry_to_options(retry);
    netlib_retry_options_set_budget(options, NULL, NULL);
    netlib_retry *detached = retry_of(options);
    CHECK(netlib_retry_attached_budget(detached) == NULL);
    CHECK(netlib_retry_attached_budget(NULL) == NULL);
    CHECK_STR(NULL, netlib_retry_attached_budget_key(detached, NULL));
    netlib_decision_free(decision);
    netlib_retry_free(detached);
    netlib_retry_free(incremented);
    netlib_retry_free(copy);
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

static int32_t refuse_time(void *ctx, double *seconds) {
    *seconds = 0;
    return *(int *)ctx;
}

static void bad_keys_and_failing_clocks_are_errors(void) {
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    int result = 3;
    char longest[1026];
    memset(longest, 'k', sizeof longest - 1);
    longest[1025] = 0;
    netlib_retry_budget_options *budget_options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_clock(budget_options, refuse_time, &result, NULL);
    netlib_retry_budget *budget = budget_of(budget_options, NULL);
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_budget(options, budget, longest);
    CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_retry_options_check(options, &err));
    CHECK_STR("netlib_retry_options_set_budget: key has 1025 bytes; it must have at most 1024",
              netlib_error_message(err, NULL));
    netlib_error_free(err);
    err = NULL;
    netlib_retry_options_set_budget(options, budget, longest + 1);
    CHECK_OK(netlib_retry_options_check(options, &err));
    netlib_retry_options_free(options);
    netlib_retry *retry = retry_with(budget, NULL, 3, 0);
    /* A response that needs no retry is returned although the clock of the budget fails. */
    CHECK_OK(decide_with(retry, "GET", "http://h/", 200, "", &decision, &err));
    CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(decision));
    netlib_decision_free(decision);
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, decide_with(retry, "GET", "http://h/", 503, "", &decision, &err));
    result = 0;
    CHECK_OK(decide_with(retry, "GET", "http://h/", 503, "", &decision, &err));
    netlib_decision_free(decision);
    netlib_retry_free(retry);
    netlib_retry_budget_free(budget);
}

int main(void) {
    decisions_ask_the_budget_and_report_outcomes();
    a_denied_retry_ends_as_if_the_retries_were_used_up();
    a_retry_that_another_rule_ends_costs_nothing();
    a_second_decision_for_the_same_outcome_costs_a_second_retry();
    a_retry_that_is_freed_without_a_decision_ends_its_lease();
    redirects_between_failures_do_not_refill_the_budget();
    each_origin_of_a_chain_has_its_own_budget();
    a_budget_stays_attached_to_every_retry_that_is_made_from_a_retry();
    bad_keys_and_failing_clocks_are_errors();
    return report("retry decisions with a budget");
}
