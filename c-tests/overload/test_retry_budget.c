/* Tests netlib_retry_budget: leases, keys, options and bad input. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "budget_makers.h"

/* The quota sequences of the AWS SDKs' "standard" retry mode, version 2.1: capacity 500, a transient retry costs 14, a
 * throttling retry 5, and a first attempt that succeeds adds 1. Source: smithy-rs, token_bucket.rs, and botocore's
 * tests of the mode. */
static void the_default_budget_follows_the_token_sequences_of_aws_standard_2_1(void) {
    enum { ASK_TRANSIENT, ASK_THROTTLING, ASK_REQUEST, SUCCESS, FAILURE, THROTTLED, NONE };
    static const struct {
        int step;
        double left;
    } rows[] = {
        /* A retry that succeeds returns its cost. */
        {ASK_TRANSIENT, 486},
        {SUCCESS, 500},
        /* Three transient retries in a row; the last one succeeds and returns only its own cost. */
        {ASK_TRANSIENT, 486},
        {FAILURE, 486},
        {ASK_TRANSIENT, 472},
        {FAILURE, 472},
        {ASK_TRANSIENT, 458},
        {SUCCESS, 472},
        {ASK_THROTTLING, 467},
        {THROTTLED, 467},
        {ASK_THROTTLING, 462},
        {NONE, 462},
        /* First attempts cost nothing, and add 1 if they succeed. */
        {ASK_REQUEST, 462},
        {SUCCESS, 463},
        {ASK_REQUEST, 463},
        {FAILURE, 463},
        {ASK_REQUEST, 463},
        {NONE, 463},
    };
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    CHECK_DOUBLE(500, left(budget, "h"));
    uint64_t lease = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        switch (rows[i].step) {
        case ASK_TRANSIENT: lease = ask(budget, "h", NETLIB_BUDGET_TRANSIENT); break;
        case ASK_THROTTLING: lease = ask(budget, "h", NETLIB_BUDGET_THROTTLING); break;
        case ASK_REQUEST: lease = ask(budget, "h", NETLIB_BUDGET_REQUEST); break;
        case SUCCESS: netlib_retry_budget_report(budget, lease, NETLIB_REPORT_SUCCESS); break;
        case FAILURE: netlib_retry_budget_report(budget, lease, NETLIB_REPORT_FAILURE); break;
        case THROTTLED: netlib_retry_budget_report(budget, lease, NETLIB_REPORT_THROTTLED); break;
        default: netlib_retry_budget_report(budget, lease, NETLIB_REPORT_NONE); break;
        }
        CHECK_DOUBLE(rows[i].left, left(budget, "h"));
    }
    netlib_retry_budget_free(budget);
}

static void a_bucket_denies_a_retry_that_costs_more_than_its_tokens(void) {
    netlib_error *err = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_tokens(options, 10, 4, 3, 0.5);
    netlib_retry_budget *budget = budget_of(options, NULL);
    uint64_t lease = 77;
    ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    ask(budget, "h", NETLIB_BUDGET_HEDGE);
    CHECK_DOUBLE(2, left(budget, "h"));
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY,
              netlib_retry_budget_ask(budget, "h", 1, NETLIB_BUDGET_TRANSIENT, &lease, &err));
    CHECK_INT(0, (long long)lease);
    CHECK_STR("the retry budget of h has 2 tokens left; a retry costs 4", netlib_error_message(err, NULL));
    netlib_error_free(err);
    CHECK_INT(0, (long long)ask(budget, "h", NETLIB_BUDGET_THROTTLING));
    CHECK_DOUBLE(2, left(budget, "h"));
    /* First attempts are allowed, and their successes allow the next retry. */
    for (int i = 0; i < 4; i++)
        netlib_retry_budget_report(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(4, left(budget, "h"));
    CHECK(ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0);
    CHECK_DOUBLE(0, left(budget, "h"));
    netlib_retry_budget_free(budget);
}

static void a_second_report_and_a_report_of_an_unknown_lease_change_nothing(void) {
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    uint64_t lease = ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    netlib_retry_budget_report(budget, lease, NETLIB_REPORT_SUCCESS);
    netlib_retry_budget_report(budget, lease, NETLIB_REPORT_SUCCESS);
    const uint64_t unknown[] = {0, 1, UINT64_MAX, lease + 7, lease ^ 1};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        if (unknown[i] != lease + 1) netlib_retry_budget_report(budget, unknown[i], NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(486, left(budget, "h"));
    netlib_retry_budget_free(budget);
}

static void a_lease_without_a_report_ends_after_the_lease_time_and_returns_nothing(void) {
    double now = 1000;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_lease_time(options, 60);
    netlib_retry_budget *budget = budget_of(options, &now);
    uint64_t first = ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    now = 1001;
    uint64_t second = ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    CHECK_DOUBLE(472, left(budget, "h"));
    now = 1060.5;
    netlib_retry_budget_report(budget, first, NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(472, left(budget, "h"));
    netlib_retry_budget_report(budget, second, NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(486, left(budget, "h"));
    netlib_retry_budget_free(budget);
}

/* A call ends a limited number of old leases, so some of these leases have not ended yet when they are reported. */
static void late_reports_of_200_leases_return_nothing(void) {
    double now = 0;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_tokens(options, 1000, 1, 1, 1);
    netlib_retry_budget_options_set_lease_time(options, 60);
    netlib_retry_budget *budget = budget_of(options, &now);
    uint64_t leases[200];
    for (int i = 0; i < 200; i++) leases[i] = ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    now = 60.5;
    for (int i = 199; i >= 0; i--) end(budget, leases[i], NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(800, left(budget, "h"));
    netlib_retry_budget_free(budget);
}

static void each_key_has_a_bucket_of_its_own(void) {
    netlib_error *err = NULL;
    uint64_t lease = 0;
    char longest[1025];
    memset(longest, 'k', sizeof longest);
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    ask(budget, "a", NETLIB_BUDGET_TRANSIENT);
    CHECK_OK(netlib_retry_budget_ask(budget, NULL, 0, NETLIB_BUDGET_THROTTLING, &lease, &err));
    CHECK_OK(netlib_retry_budget_ask(budget, "a\0b", 3, NETLIB_BUDGET_THROTTLING, &lease, &err));
    CHECK_OK(netlib_retry_budget_ask(budget, longest, 1024, NETLIB_BUDGET_TRANSIENT, &lease, &err));
    CHECK_DOUBLE(486, left(budget, "a"));
    CHECK_DOUBLE(495, left(budget, ""));
    CHECK_DOUBLE(495, netlib_retry_budget_left(budget, NULL, 0));
    CHECK_DOUBLE(495, netlib_retry_budget_left(budget, "a\0b", 3));
    CHECK_DOUBLE(486, netlib_retry_budget_left(budget, longest, 1024));
    CHECK_DOUBLE(500, left(budget, "b"));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_retry_budget_ask(budget, longest, 1025, NETLIB_BUDGET_TRANSIENT, &lease, &err));
    CHECK_DOUBLE(-1, netlib_retry_budget_left(budget, longest, 1025));
    CHECK_DOUBLE(-1, netlib_retry_budget_left(NULL, "a", 1));
    netlib_retry_budget_free(budget);
}

static void a_dropped_key_starts_again_with_a_full_budget(void) {
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_max_keys(options, 2);
    netlib_retry_budget *budget = budget_of(options, NULL);
    uint64_t a = ask(budget, "a", NETLIB_BUDGET_TRANSIENT);
    uint64_t b = ask(budget, "b", NETLIB_BUDGET_TRANSIENT);
    ask(budget, "a", NETLIB_BUDGET_TRANSIENT);
    /* Reading the tokens of `b` does not count as a use of `b`. */
    CHECK_DOUBLE(486, left(budget, "b"));
    ask(budget, "c", NETLIB_BUDGET_THROTTLING);
    CHECK_DOUBLE(472, left(budget, "a"));
    CHECK_DOUBLE(500, left(budget, "b"));
    CHECK_DOUBLE(495, left(budget, "c"));
    /* The lease of a dropped key changes nothing, even if the key is used again. "c" has more tokens left than "a". */
    ask(budget, "b", NETLIB_BUDGET_TRANSIENT);
    CHECK_DOUBLE(500, left(budget, "c"));
    end(budget, b, NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(486, left(budget, "b"));
    end(budget, a, NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(486, left(budget, "a"));
    netlib_retry_budget_free(budget);
}

/* A server that redirects to many origins, each of which fails once, does not refill an empty budget. */
static void a_budget_that_is_used_up_stays_when_many_keys_are_used(void) {
    static const enum netlib_budget_preset presets[] = {NETLIB_BUDGET_AWS_2026, NETLIB_BUDGET_GRPC,
                                                        NETLIB_BUDGET_FINAGLE, NETLIB_BUDGET_ENVOY};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        double now = 0;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_preset(options, presets[i]);
        netlib_retry_budget_options_set_max_keys(options, 32);
        netlib_retry_budget *budget = budget_of(options, &now);
        uint64_t lease = 0;
        while ((lease = ask(budget, "empty", NETLIB_BUDGET_TRANSIENT)) != 0)
            if (presets[i] == NETLIB_BUDGET_GRPC) end(budget, lease, NETLIB_REPORT_FAILURE);
        double before = left(budget, "empty");
        for (int j = 0; j < 1000; j++) {
            char key[16];
            snprintf(key, sizeof key, "%d", j);
            lease = ask(budget, key, NETLIB_BUDGET_TRANSIENT);
            if (presets[i] != NETLIB_BUDGET_ENVOY) end(budget, lease, NETLIB_REPORT_FAILURE);
        }
        CHECK_DOUBLE(before, left(budget, "empty"));
        CHECK_INT(0, (long long)ask(budget, "empty", NETLIB_BUDGET_TRANSIENT));
        netlib_retry_budget_free(budget);
    }
}

static void a_lost_report_occupies_a_retry_in_flight_until_the_lease_time_has_passed(void) {
    double now = 0;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_ENVOY);
    netlib_retry_budget *budget = budget_of(options, &now);
    for (int i = 0; i < 3; i++, now += 1) CHECK(ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0);
    now = 300;
    CHECK_INT(0, (long long)ask(budget, "h", NETLIB_BUDGET_TRANSIENT));
    now = 300.5;
    CHECK(ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0);
    CHECK_INT(0, (long long)ask(budget, "h", NETLIB_BUDGET_TRANSIENT));
    netlib_retry_budget_free(budget);
}

static void time_continues_after_a_clock_has_stepped_back(void) {
    double now = 100;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_window(options, 1, 0, 10);
    netlib_retry_budget *budget = budget_of(options, &now);
    end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_FAILURE);
    /* A late reading of another thread does not change the time. */
    now = 99.5;
    end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_FAILURE);
    CHECK_DOUBLE(2, left(budget, "h"));
    now = -1e9;
    CHECK(ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0);
    now = -1e9 + 9.5;
    CHECK(ask(budget, "h", NETLIB_BUDGET_REQUEST) != 0);
    CHECK_DOUBLE(2, left(budget, "h"));
    now = -1e9 + 11.5;
    CHECK(ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0);
    CHECK_INT(0, (long long)ask(budget, "h", NETLIB_BUDGET_TRANSIENT));
    netlib_retry_budget_free(budget);
}

static int32_t fail_to_read_time(void *ctx, double *seconds) {
    *seconds = 1;
    return *(int32_t *)ctx;
}

static void a_failing_clock_makes_ask_fail_but_not_report(void) {
    static const struct {
        int32_t result;
        double time;
        const char *message;
    } rows[] = {
        {1, 1, "the clock callback reported failure: 1"},
        {0, NAN, "the clock callback reported NaN s; it must report at most 9000000000 s"},
        {0, INFINITY, "the clock callback reported inf s; it must report at most 9000000000 s"},
    };
    char long_key[1025];
    memset(long_key, 'k', sizeof long_key);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        double now = 0;
        int32_t result = 0;
        uint64_t lease = 0, denied = 77;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        if (rows[i].result != 0) netlib_retry_budget_options_set_clock(options, fail_to_read_time, &result, NULL);
        netlib_retry_budget *budget = budget_of(options, rows[i].result != 0 ? NULL : &now);
        CHECK_OK(netlib_retry_budget_ask(budget, "h", 1, NETLIB_BUDGET_TRANSIENT, &lease, &err));
        result = rows[i].result;
        now = rows[i].time;
        CHECK_INT(NETLIB_CALLBACK_FAILED,
                  netlib_retry_budget_ask(budget, "h", 1, NETLIB_BUDGET_TRANSIENT, &denied, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        netlib_error_free(err);
        CHECK_INT(0, (long long)denied);
        /* A key that is too long is refused before the clock is read. */
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_budget_ask(budget, long_key, sizeof long_key,
                                                                      NETLIB_BUDGET_TRANSIENT, &denied, &err));
        CHECK_DOUBLE(486, left(budget, "h"));
        end(budget, lease, NETLIB_REPORT_SUCCESS);
        CHECK_DOUBLE(500, left(budget, "h"));
        netlib_retry_budget_free(budget);
    }
}

static void an_unknown_outcome_counts_as_none_and_an_unknown_kind_is_refused(void) {
    netlib_error *err = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_failure_tokens(options, 10, 1, 0.5);
    netlib_retry_budget *budget = budget_of(options, NULL);
    static const int32_t unknown[] = {-1, 4, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        uint64_t lease = 0;
        end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), (enum netlib_report)unknown[i]);
        CHECK_DOUBLE(10, left(budget, "h"));
        char message[64];
        snprintf(message, sizeof message, "kind must be a netlib_budget_kind; it is %d", unknown[i]);
        CHECK_INT(NETLIB_INVALID_ARGUMENT,
                  netlib_retry_budget_ask(budget, "h", 1, (enum netlib_budget_kind)unknown[i], &lease, &err));
        CHECK_STR(message, netlib_error_message(err, NULL));
        netlib_error_free(err), err = NULL;
    }
    netlib_retry_budget_free(budget);
}

/* Each setter with values that it refuses. */
static void each_bad_parameter_is_refused_with_the_name_of_its_setter(void) {
    enum { PRESET, TOKENS, FAILURE_TOKENS, WINDOW, IN_FLIGHT, LEASE_TIME, MAX_KEYS };
    static const struct {
        int setter;
        double a, b, c, d;
        const char *message;
    } rows[] = {
        {PRESET, 5, 0, 0, 0, "preset: preset must be a netlib_budget_preset; it is 5"},
        {PRESET, -1, 0, 0, 0, "preset: preset must be a netlib_budget_preset; it is -1"},
        {TOKENS, 0, 1, 1, 1, "tokens: capacity must be 0.001 to 4000000; it is 0"},
        {TOKENS, 4000001, 1, 1, 1, "tokens: capacity must be 0.001 to 4000000; it is 4000001"},
        {TOKENS, INFINITY, 1, 1, 1, "tokens: capacity must be 0.001 to 4000000; it is inf"},
        {TOKENS, NAN, 1, 1, 1, "tokens: capacity must be 0.001 to 4000000; it is NaN"},
        {TOKENS, 10, 0, 1, 1, "tokens: transient_cost must be 0.001 to 4000000; it is 0"},
        {TOKENS, 10, -1, 1, 1, "tokens: transient_cost must be 0.001 to 4000000; it is -1"},
        {TOKENS, 10, NAN, 1, 1, "tokens: transient_cost must be 0.001 to 4000000; it is NaN"},
        {TOKENS, 10, 11, 1, 1, "tokens: transient_cost must be at most capacity; otherwise no retry would be allowed"},
        {TOKENS, 10, 1, 0, 1, "tokens: throttling_cost must be 0.001 to 4000000; it is 0"},
        {TOKENS, 10, 1, NAN, 1, "tokens: throttling_cost must be 0.001 to 4000000; it is NaN"},
        {TOKENS, 10, 1, 11, 1, "tokens: throttling_cost must be at most capacity; otherwise no retry would be allowed"},
        {TOKENS, 10, 1, 1, 0, "tokens: gain must be 0.001 to 4000000; it is 0"},
        {TOKENS, 10, 1, 1, -INFINITY, "tokens: gain must be 0.001 to 4000000; it is -inf"},
        {TOKENS, 10, 1, 1, 4000001, "tokens: gain must be 0.001 to 4000000; it is 4000001"},
        {TOKENS, 10, 1, 1, NAN, "tokens: gain must be 0.001 to 4000000; it is NaN"},
        {FAILURE_TOKENS, 0, 1, 0.5, 0, "failure_tokens: capacity must be 0.001 to 4000000; it is 0"},
        {FAILURE_TOKENS, NAN, 1, 0.5, 0, "failure_tokens: capacity must be 0.001 to 4000000; it is NaN"},
        {FAILURE_TOKENS, 10, 0, 0.5, 0, "failure_tokens: gain must be 0.001 to 4000000; it is 0"},
        {FAILURE_TOKENS, 10, NAN, 0.5, 0, "failure_tokens: gain must be 0.001 to 4000000; it is NaN"},
        {FAILURE_TOKENS, 10, 1, 1, 0, "failure_tokens: floor must be 0 or more and less than 1; it is 1"},
        {FAILURE_TOKENS, 10, 1, -0.5, 0, "failure_tokens: floor must be 0 or more and less than 1; it is -0.5"},
        {FAILURE_TOKENS, 10, 1, NAN, 0, "failure_tokens: floor must be 0 or more and less than 1; it is NaN"},
        {WINDOW, -1, 1, 10, 0, "window: ratio must be 0.0001 to 1000; it is -1"},
        {WINDOW, 1001, 1, 10, 0, "window: ratio must be 0.0001 to 1000; it is 1001"},
        {WINDOW, NAN, 1, 10, 0, "window: ratio must be 0.0001 to 1000; it is NaN"},
        {WINDOW, 0, 0, 10, 0,
         "window: ratio and least_per_second must not both be 0, because no retry would be allowed"},
        {WINDOW, 0.1, -1, 10, 0, "window: least_per_second must be 0 to 1000000; it is -1"},
        {WINDOW, 0.1, NAN, 10, 0, "window: least_per_second must be 0 to 1000000; it is NaN"},
        {WINDOW, 0.1, 1000001, 10, 0, "window: least_per_second must be 0 to 1000000; it is 1000001"},
        {WINDOW, 0.1, 5, 0, 0, "window: seconds must be 1 to 60; it is 0"},
        {WINDOW, 0.1, 5, 61, 0, "window: seconds must be 1 to 60; it is 61"},
        {WINDOW, 0.1, 5, INFINITY, 0, "window: seconds must be 1 to 60; it is inf"},
        {WINDOW, 0.1, 5, NAN, 0, "window: seconds must be 1 to 60; it is NaN"},
        {IN_FLIGHT, -0.5, 1, 0, 0, "in_flight: ratio must be 0 to 1; it is -0.5"},
        {IN_FLIGHT, 1.5, 1, 0, 0, "in_flight: ratio must be 0 to 1; it is 1.5"},
        {IN_FLIGHT, NAN, 1, 0, 0, "in_flight: ratio must be 0 to 1; it is NaN"},
        {IN_FLIGHT, 0.5, -1, 0, 0, "in_flight: least must be 0 to 1000000; it is -1"},
        {IN_FLIGHT, 0.5, 1000001, 0, 0, "in_flight: least must be 0 to 1000000; it is 1000001"},
        {IN_FLIGHT, 0, 0, 0, 0, "in_flight: ratio and least must not both be 0, because no retry would be allowed"},
        {LEASE_TIME, 0, 0, 0, 0, "lease_time: seconds must be 0.001 to 1000000000; it is 0"},
        {LEASE_TIME, -5, 0, 0, 0, "lease_time: seconds must be 0.001 to 1000000000; it is -5"},
        {LEASE_TIME, INFINITY, 0, 0, 0, "lease_time: seconds must be 0.001 to 1000000000; it is inf"},
        {LEASE_TIME, 1e12, 0, 0, 0, "lease_time: seconds must be 0.001 to 1000000000; it is 1000000000000"},
        {LEASE_TIME, NAN, 0, 0, 0, "lease_time: seconds must be 0.001 to 1000000000; it is NaN"},
        {MAX_KEYS, 0, 0, 0, 0, "max_keys: max_keys must be 1 to 1048576; it is 0"},
        {MAX_KEYS, -1, 0, 0, 0, "max_keys: max_keys must be 1 to 1048576; it is -1"},
        {MAX_KEYS, 1048577, 0, 0, 0, "max_keys: max_keys must be 1 to 1048576; it is 1048577"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double a = rows[i].a, b = rows[i].b, c = rows[i].c, d = rows[i].d;
        netlib_error *err = NULL;
        netlib_retry_budget *budget = NULL;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        switch (rows[i].setter) {
        case PRESET: netlib_retry_budget_options_set_preset(options, (enum netlib_budget_preset)(int32_t)a); break;
        case TOKENS: netlib_retry_budget_options_set_tokens(options, a, b, c, d); break;
        case FAILURE_TOKENS: netlib_retry_budget_options_set_failure_tokens(options, a, b, c); break;
        case WINDOW: netlib_retry_budget_options_set_window(options, a, b, c); break;
        case IN_FLIGHT: netlib_retry_budget_options_set_in_flight(options, a, (int32_t)b); break;
        case LEASE_TIME: netlib_retry_budget_options_set_lease_time(options, a); break;
        default: netlib_retry_budget_options_set_max_keys(options, (int32_t)a); break;
        }
        char expected[256];
        snprintf(expected, sizeof expected, "netlib_retry_budget_options_set_%s", rows[i].message);
        netlib_retry_budget_options *copy = netlib_retry_budget_options_clone(options);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_retry_budget_options_check(copy, &err));
        CHECK_STR(expected, netlib_error_message(err, NULL));
        netlib_error_free(err);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_retry_budget_new(options, &budget, &err));
        CHECK_STR(expected, netlib_error_message(err, NULL));
        CHECK(budget == NULL);
        netlib_error_free(err);
        err = NULL;
        /* Another setter of the rule replaces a refused rule. */
        netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_ENVOY);
        bool is_rule = rows[i].setter < LEASE_TIME;
        CHECK_STATUS(is_rule ? NETLIB_OK : NETLIB_INVALID_ARGUMENT, netlib_retry_budget_options_check(options, &err));
        netlib_retry_budget_options_free(copy);
        netlib_retry_budget_options_free(options);
    }
    netlib_error *err = NULL;
    CHECK_OK(netlib_retry_budget_options_check(NULL, &err));
}

static void the_error_of_a_denial_has_the_key_and_the_tokens_left(void) {
    static const struct {
        enum netlib_budget_preset preset;
        int granted;
        double left;
        const char *message;
    } rows[] = {
        {NETLIB_BUDGET_AWS_2026, 35, 10, "the retry budget of h\\u{0}x has 10 tokens left; a hedge costs 14"},
        {NETLIB_BUDGET_AWS_2020, 50, 0, "the retry budget of h\\u{0}x has 0 tokens left; a hedge costs 10"},
        {NETLIB_BUDGET_GRPC, 0, 5, "the retry budget of h\\u{0}x has 5 tokens left; a hedge needs more than 5"},
        {NETLIB_BUDGET_FINAGLE, 100, 0,
         "the retry budget of h\\u{0}x is used up: the requests of the last 10 s allow no further hedge"},
        {NETLIB_BUDGET_ENVOY, 3, 0,
         "the retry budget of h\\u{0}x allows no further hedge: 3 of at most 3 retries are in flight"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        uint64_t lease = 0;
        size_t len = 0;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_preset(options, rows[i].preset);
        netlib_retry_budget *budget = budget_of(options, NULL);
        netlib_retry_budget *clone = netlib_retry_budget_clone(budget);
        netlib_retry_budget_free(budget);
        for (int n = 0; n < 5 && rows[i].preset == NETLIB_BUDGET_GRPC; n++) {
            CHECK_OK(netlib_retry_budget_ask(clone, "h\0x", 3, NETLIB_BUDGET_REQUEST, &lease, &err));
            end(clone, lease, NETLIB_REPORT_THROTTLED);
        }
        for (int n = 0; n < rows[i].granted; n++)
            CHECK_OK(netlib_retry_budget_ask(clone, "h\0x", 3, NETLIB_BUDGET_HEDGE, &lease, &err));
        CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY,
                  netlib_retry_budget_ask(clone, "h\0x", 3, NETLIB_BUDGET_HEDGE, &lease, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(0, memcmp("h\0x", netlib_error_budget_key(err, &len), 4));
        CHECK_INT(3, (long long)len);
        CHECK_DOUBLE(rows[i].left, netlib_error_budget_left(err));
        CHECK_DOUBLE(rows[i].left, netlib_retry_budget_left(clone, "h\0x", 3));
        CHECK_INT(NETLIB_RETRY_KIND_NEVER, netlib_error_retry_kind(err));
        netlib_error_free(err);
        netlib_retry_budget_free(clone);
    }
    netlib_error *err = NULL, *other = NULL;
    size_t len = 7;
    CHECK_OK(netlib_error_new(NETLIB_READ_TIMEOUT, "x", NULL, &other, &err));
    CHECK_STR(NULL, netlib_error_budget_key(other, &len));
    CHECK_INT(0, (long long)len);
    CHECK_DOUBLE(-1, netlib_error_budget_left(other));
    CHECK_DOUBLE(-1, netlib_error_budget_left(NULL));
    netlib_error_free(other);
}

/* A forked child has a copy of the state: neither process sees the requests of the other. */
static void parent_and_child_count_separately_after_fork(void) {
    netlib_retry_budget *budget = budget_of(netlib_retry_budget_options_new(), NULL);
    uint64_t lease = ask(budget, "h", NETLIB_BUDGET_TRANSIENT);
    pid_t child = fork();
    if (child == 0) {
        bool ok = left(budget, "h") == 486;
        ok = ok && ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0 && left(budget, "h") == 472;
        end(budget, lease, NETLIB_REPORT_SUCCESS);
        ok = ok && left(budget, "h") == 486;
        netlib_retry_budget_free(budget);
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    CHECK_DOUBLE(486, left(budget, "h"));
    end(budget, lease, NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(500, left(budget, "h"));
    netlib_retry_budget_free(budget);
}

struct worker {
    const netlib_retry_budget *budget;
    unsigned long granted;
};

static void *ask_until_denied(void *arg) {
    struct worker *worker = arg;
    while (ask(worker->budget, "h", NETLIB_BUDGET_TRANSIENT) != 0) worker->granted++;
    return NULL;
}

static void *take_and_return(void *arg) {
    struct worker *worker = arg;
    for (int i = 0; i < 200; i++) {
        uint64_t lease = ask(worker->budget, "h", NETLIB_BUDGET_TRANSIENT);
        if (lease == 0) continue;
        worker->granted++;
        end(worker->budget, lease, NETLIB_REPORT_SUCCESS);
    }
    return NULL;
}

static void the_tokens_of_one_key_are_exact_with_64_threads(void) {
    static const struct {
        void *(*run)(void *);
        double left;
        unsigned long granted; /* 0: not compared */
    } rows[] = {{ask_until_denied, 6, 71}, {take_and_return, 1000, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pthread_t threads[64];
        struct worker workers[64];
        unsigned long granted = 0;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_tokens(options, 1000, 14, 5, 1);
        netlib_retry_budget *budget = budget_of(options, NULL);
        for (size_t t = 0; t < 64; t++) {
            workers[t] = (struct worker){budget, 0};
            CHECK_INT(0, pthread_create(&threads[t], NULL, rows[i].run, &workers[t]));
        }
        for (size_t t = 0; t < 64; t++) {
            pthread_join(threads[t], NULL);
            granted += workers[t].granted;
        }
        if (rows[i].granted != 0) CHECK_INT((long long)rows[i].granted, (long long)granted);
        CHECK_DOUBLE(rows[i].left, left(budget, "h"));
        netlib_retry_budget_free(budget);
    }
}

int main(void) {
    the_default_budget_follows_the_token_sequences_of_aws_standard_2_1();
    a_bucket_denies_a_retry_that_costs_more_than_its_tokens();
    a_second_report_and_a_report_of_an_unknown_lease_change_nothing();
    a_lease_without_a_report_ends_after_the_lease_time_and_returns_nothing();
    late_reports_of_200_leases_return_nothing();
    each_key_has_a_bucket_of_its_own();
    a_dropped_key_starts_again_with_a_full_budget();
    a_budget_that_is_used_up_stays_when_many_keys_are_used();
    a_lost_report_occupies_a_retry_in_flight_until_the_lease_time_has_passed();
    time_continues_after_a_clock_has_stepped_back();
    a_failing_clock_makes_ask_fail_but_not_report();
    an_unknown_outcome_counts_as_none_and_an_unknown_kind_is_refused();
    each_bad_parameter_is_refused_with_the_name_of_its_setter();
    the_error_of_a_denial_has_the_key_and_the_tokens_left();
    parent_and_child_count_separately_after_fork();
    the_tokens_of_one_key_are_exact_with_64_threads();
    return report("retry budget");
}
