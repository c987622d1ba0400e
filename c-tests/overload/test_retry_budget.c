/* Tests netlib_retry_budget: leases, keys, options and bad input. */
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

int main(void) {
    the_default_budget_follows_the_token_sequences_of_aws_standard_2_1();
    a_bucket_denies_a_retry_that_costs_more_than_its_tokens();
    a_second_report_and_a_report_of_an_unknown_lease_change_nothing();
    a_lease_without_a_report_ends_after_the_lease_time_and_returns_nothing();
    each_key_has_a_bucket_of_its_own();
    return report("retry budget");
}
