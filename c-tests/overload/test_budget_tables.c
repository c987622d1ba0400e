/* Replays the published tests of other libraries' retry budgets, and bugs that other libraries had. */
#include "budget_makers.h"

/* The steps of a table. `n` is the number of repetitions, except for WAIT. */
enum op {
    SUCCEED, /* a first attempt that succeeds */
    FAIL,    /* a first attempt that fails */
    BEGIN,   /* a first attempt whose outcome stays unknown */
    GRANTED, /* a transient retry, which is allowed; its outcome stays unknown */
    DENIED,  /* a transient retry, which is denied */
    GRANTED_THROTTLING,
    DENIED_THROTTLING,
    RETRY_OK,     /* the last retry succeeds */
    RETRY_FAILED, /* the last retry fails */
    OTHER_KEY,    /* a transient retry with another key, which is allowed */
    WAIT          /* `n` milliseconds pass */
};

struct step {
    enum op op;
    int n;
    double left; /* afterwards; -1: not compared */
};

struct table {
    const char *source;
    void (*set)(netlib_retry_budget_options *options);
    struct step steps[24]; /* ends with a step whose `n` is 0 */
};

static void aws_2026(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_AWS_2026);
}
static void aws_2020(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_AWS_2020);
}
static void grpc(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_GRPC);
}
static void finagle(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_FINAGLE);
}
static void envoy(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_ENVOY);
}
static void tokens_15(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_tokens(options, 15, 10, 5, 1);
}
static void grpc_4(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_failure_tokens(options, 4, 1.6, 0.5);
}
static void tower_1s_0_100(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_window(options, 1, 0, 1);
}
static void tower_1s_0_50(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_window(options, 0.5, 0, 1);
}
static void tower_1s_5_100(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_window(options, 1, 5, 1);
}
static void envoy_without_budget(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_in_flight(options, 0, 3);
}
static void envoy_20_5(netlib_retry_budget_options *options) {
    netlib_retry_budget_options_set_in_flight(options, 0.2, 5);
}

static const struct table tables[] = {
    {"botocore and smithy-rs, standard mode 2.1: a retry that succeeds returns its cost",
     aws_2026,
     {{GRANTED, 1, 486}, {RETRY_OK, 1, 500}}},
    {"botocore and smithy-rs, standard mode 2.1: three transient retries fail",
     aws_2026,
     {{GRANTED, 1, 486},
      {RETRY_FAILED, 1, 486},
      {GRANTED, 1, 472},
      {RETRY_FAILED, 1, 472},
      {GRANTED, 1, 458},
      {RETRY_FAILED, 1, 458}}},
    {"smithy-rs, standard mode 2.1: throttling costs 5",
     aws_2026,
     {{GRANTED_THROTTLING, 1, 495}, {RETRY_FAILED, 1, 495}, {GRANTED_THROTTLING, 1, 490}, {RETRY_OK, 1, 495}}},
    {"smithy-rs, standard mode 2.1: 35 transient retries empty a full bucket",
     aws_2026,
     {{GRANTED, 35, 10}, {DENIED, 2, 10}, {GRANTED_THROTTLING, 2, 0}, {DENIED_THROTTLING, 1, 0}}},
    {"aws-c-io, standard_retry_test.c: failure exhausts the bucket",
     tokens_15,
     {{GRANTED, 1, 5}, {GRANTED_THROTTLING, 1, 0}, {DENIED_THROTTLING, 2, 0}, {OTHER_KEY, 1, 0}}},
    {"aws-c-io, standard_retry_test.c: failure recovers",
     tokens_15,
     {{GRANTED, 1, 5},
      {GRANTED_THROTTLING, 1, 0},
      {DENIED_THROTTLING, 1, 0},
      {SUCCEED, 5, 5},
      {GRANTED_THROTTLING, 1, 0},
      {DENIED_THROTTLING, 1, 0}}},
    {"aws-c-io, standard_retry_strategy.c: the costs of version 2.0",
     aws_2020,
     {{GRANTED, 1, 490},
      {RETRY_FAILED, 1, 490},
      {GRANTED_THROTTLING, 1, 485},
      {SUCCEED, 1, 486},
      {GRANTED, 48, 6},
      {DENIED, 1, 6}}},
    {"grpc, retry_throttle_test.cc: ServerRetryThrottleData, Basic",
     grpc_4,
     {{FAIL, 1, 3},      {GRANTED, 1, 3},   {SUCCEED, 1, 4},  {FAIL, 1, 3},      {GRANTED, 1, 3}, {FAIL, 1, 2},
      {DENIED, 1, 2},    {FAIL, 1, 1},      {DENIED, 1, 1},   {FAIL, 1, 0},      {FAIL, 1, 0},    {DENIED, 1, 0},
      {SUCCEED, 1, 1.6}, {SUCCEED, 1, 3.2}, {FAIL, 1, 2.2},   {GRANTED, 1, 2.2}, {FAIL, 1, 1.2},  {DENIED, 1, 1.2},
      {SUCCEED, 1, 2.8}, {FAIL, 1, 1.8},    {DENIED, 1, 1.8}, {SUCCEED, 1, 3.4}, {FAIL, 1, 2.4}}},
    {"gRPC proposal A6: the bucket of the example, and userver, retry_budget_test.cpp: base",
     grpc,
     {{GRANTED, 1, 10}, {FAIL, 4, 6}, {GRANTED, 1, 6}, {FAIL, 1, 5}, {DENIED, 1, 5}}},
    {"userver, retry_budget_test.cpp: replenish",
     grpc,
     {{FAIL, 10, 0},
      {FAIL, 1, 0},
      {DENIED, 1, 0},
      {SUCCEED, 50, 5},
      {DENIED, 1, 5},
      {SUCCEED, 1, 5.1},
      {GRANTED, 1, 5.1}}},
    {"gRPC proposal A6: the outcome of a retry counts as that of a first attempt",
     grpc,
     {{GRANTED, 1, 10}, {RETRY_FAILED, 1, 9}, {GRANTED, 1, 9}, {RETRY_OK, 1, 9.1}}},
    {"tower, tps_budget.rs: tps_empty", tower_1s_0_100, {{DENIED, 1, 0}}},
    {"tower, tps_budget.rs: tps_leaky", tower_1s_0_100, {{SUCCEED, 1, 1}, {WAIT, 3000, 0}, {DENIED, 1, 0}}},
    {"tower, tps_budget.rs: tps_slots",
     tower_1s_0_50,
     {{FAIL, 2, 1},
      {WAIT, 901, 1},
      {GRANTED, 1, 0},
      {WAIT, 2001, 0},
      {FAIL, 1, 0},
      {WAIT, 301, 0},
      {FAIL, 1, 1},
      {WAIT, 801, 0},
      {FAIL, 1, 1},
      {GRANTED, 1, 0}}},
    {"tower, tps_budget.rs: tps_reserve", tower_1s_5_100, {{GRANTED, 5, 0}, {DENIED, 1, 0}}},
    {"Finagle, RetryBudget: the defaults are 10 s, 10 retries per second and 20 %",
     finagle,
     {{GRANTED, 100, 0},
      {DENIED, 1, 0},
      {SUCCEED, 4, 0},
      {DENIED, 1, 0},
      {SUCCEED, 1, 1},
      {GRANTED, 1, 0},
      {WAIT, 11001, 100}}},
    {"Envoy, resource_manager_impl_test.cc: min_retry_concurrency 5",
     envoy_20_5,
     {{GRANTED, 1, 4}, {GRANTED, 4, 0}, {DENIED, 1, 0}, {RETRY_FAILED, 1, 1}, {GRANTED, 1, 0}}},
    {"Envoy, resource_manager_impl.h: 20 % of the active requests, but at least 3",
     envoy,
     {{GRANTED, 3, 0},
      {DENIED, 1, 0},
      {BEGIN, 16, 0},
      {DENIED, 1, 0},
      {BEGIN, 1, 1},
      {GRANTED, 1, 0},
      {BEGIN, 4, 1},
      {RETRY_OK, 1, 1},
      {GRANTED, 1, 1},
      {GRANTED, 1, 0},
      {DENIED, 1, 0}}},
    {"Envoy, CircuitBreakers: without a retry budget, max_retries allows 3 retries in flight",
     envoy_without_budget,
     {{BEGIN, 100, 3}, {GRANTED, 3, 0}, {DENIED, 1, 0}, {RETRY_OK, 1, 1}, {GRANTED, 1, 0}}},
};

static void run_table(const struct table *table) {
    double now = 5;
    unsigned long failed = checks_failed;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    table->set(options);
    netlib_retry_budget *budget = budget_of(options, &now);
    uint64_t last = 0;
    for (const struct step *step = table->steps; step->n > 0; step++) {
        for (int i = 0; i < (step->op == WAIT ? 1 : step->n); i++) {
            switch (step->op) {
            case SUCCEED: end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_SUCCESS); break;
            case FAIL: end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_FAILURE); break;
            case BEGIN: CHECK(ask(budget, "h", NETLIB_BUDGET_REQUEST) != 0); break;
            case GRANTED: CHECK((last = ask(budget, "h", NETLIB_BUDGET_TRANSIENT)) != 0); break;
            case DENIED: CHECK(ask(budget, "h", NETLIB_BUDGET_TRANSIENT) == 0); break;
            case GRANTED_THROTTLING: CHECK((last = ask(budget, "h", NETLIB_BUDGET_THROTTLING)) != 0); break;
            case DENIED_THROTTLING: CHECK(ask(budget, "h", NETLIB_BUDGET_THROTTLING) == 0); break;
            case RETRY_OK: end(budget, last, NETLIB_REPORT_SUCCESS); break;
            case RETRY_FAILED: end(budget, last, NETLIB_REPORT_FAILURE); break;
            case OTHER_KEY: CHECK(ask(budget, "other", NETLIB_BUDGET_TRANSIENT) != 0); break;
            case WAIT:
                /* netlib_retry_budget_left does not read the clock; a report of no lease does. */
                now += step->n / 1000.0;
                end(budget, 0, NETLIB_REPORT_NONE);
                break;
            }
        }
        CHECK_DOUBLE(step->left, left(budget, "h"));
        if (checks_failed > failed) {
            fprintf(stderr, "    in step %d of \"%s\"\n", (int)(step - table->steps) + 1, table->source);
            break;
        }
    }
    netlib_retry_budget_free(budget);
}

/* The following tests replay bugs of other libraries. */

static void a_retry_that_waits_for_its_backoff_is_in_flight_and_counts(void) {
    static const struct table table = {
        "envoy#30205", envoy, {{BEGIN, 10, 3}, {GRANTED, 3, 0}, {WAIT, 30000, 0}, {DENIED, 10, 0}}};
    run_table(&table);
}

static void successes_refill_an_empty_bucket(void) {
    static const struct table table = {"aws-sdk-go-v2#3550",
                                       aws_2026,
                                       {{GRANTED, 35, 10},
                                        {GRANTED_THROTTLING, 2, 0},
                                        {DENIED, 1, 0},
                                        {SUCCEED, 13, 13},
                                        {DENIED, 1, 13},
                                        {SUCCEED, 1, 14},
                                        {GRANTED, 1, 0},
                                        {SUCCEED, 1000, 500}}};
    run_table(&table);
}

static void requests_that_outlast_the_window_count_when_they_begin(void) {
    static const struct table table = {
        "go-zero#5011",
        finagle,
        {{GRANTED, 100, 0}, {BEGIN, 50, 10}, {GRANTED, 10, 0}, {WAIT, 8000, 0}, {DENIED, 1, 0}}};
    run_table(&table);
}

static void a_client_with_one_request_gets_the_minimum_of_a_ratio_budget(void) {
    static const struct table rows[] = {
        {"grpc-go#7539 and failsafe-go#106: a window", finagle, {{FAIL, 1, 100}, {GRANTED, 3, 97}}},
        {"grpc-go#7539 and failsafe-go#106: in flight", envoy, {{BEGIN, 1, 3}, {GRANTED, 3, 0}}},
    };
    run_table(&rows[0]);
    run_table(&rows[1]);
}

/* Finagle's RetryBudgetTest: of 10,000 requests, the number of retries is the ratio of the requests plus the minimum,
 * with an error of at most 1. */
static void windows_allow_the_ratios_that_finagle_tests(void) {
    static const struct {
        double seconds, least_per_second, ratio;
    } rows[] = {
        {60, 0, 0.1},  {60, 0, 0.5},   {60, 0, 0.25},   {60, 0, 0.75}, {60, 0, 0.99}, {60, 0, 0.999}, {60, 0, 0.9999},
        {60, 0, 0.01}, {60, 0, 0.001}, {60, 0, 0.0001}, {1, 10, 0},    {2, 5, 0},     {1, 10, 0.1},   {2, 5, 0.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double now = 0, least = rows[i].least_per_second * rows[i].seconds;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_window(options, rows[i].ratio, rows[i].least_per_second, rows[i].seconds);
        netlib_retry_budget *budget = budget_of(options, &now);
        CHECK_DOUBLE(least, left(budget, "h"));
        int retried = 0;
        for (int request = 0; request < 10000; request++) {
            end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_FAILURE);
            retried += ask(budget, "h", NETLIB_BUDGET_TRANSIENT) != 0;
        }
        CHECK(fabs(retried - (10000 * rows[i].ratio + least)) <= 1);
        netlib_retry_budget_free(budget);
    }
    /* With a ratio of 2, 10,000 requests allow 20,000 retries. */
    double now = 0;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_window(options, 2, 0, 60);
    netlib_retry_budget *budget = budget_of(options, &now);
    for (int i = 0; i < 10000; i++) end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_FAILURE);
    CHECK_DOUBLE(20000, left(budget, "h"));
    netlib_retry_budget_free(budget);
}

/* The number of retries is the ratio of the requests, rounded down, although a double may be slightly less. */
static void a_window_allows_its_ratio_of_the_requests_exactly(void) {
    static const struct {
        double ratio;
        int requests;
        double expected;
    } rows[] = {{0.6, 4, 2},     {0.6, 5, 3},      {0.57, 100, 57}, {1.0 / 3, 2, 0},
                {1.0 / 3, 3, 1}, {0.7, 1000, 700}, {700, 3, 2100}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double now = 0;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_window(options, rows[i].ratio, 0, 10);
        netlib_retry_budget *budget = budget_of(options, &now);
        for (int n = 0; n < rows[i].requests; n++) CHECK(ask(budget, "h", NETLIB_BUDGET_REQUEST) != 0);
        CHECK_DOUBLE(rows[i].expected, left(budget, "h"));
        netlib_retry_budget_free(budget);
    }
}

/* In an outage in which every request fails, with a client that retries each failure at once, the retries stay within
 * the preset's ratio of the first attempts plus its burst. */
static void presets_bound_the_retries_of_an_outage_of_any_length(void) {
    static const struct {
        enum netlib_budget_preset preset;
        int most_retries; /* of 10,000 requests in 100 s */
    } rows[] = {
        {NETLIB_BUDGET_AWS_2026, 35},
        {NETLIB_BUDGET_AWS_2020, 50},
        {NETLIB_BUDGET_GRPC, 3},
        /* 20 % of the requests, and 10 per second for the time of the outage and of one window. */
        {NETLIB_BUDGET_FINAGLE, 2000 + 10 * 110},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double now = 0;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_preset(options, rows[i].preset);
        netlib_retry_budget *budget = budget_of(options, &now);
        int retries = 0;
        for (int request = 0; request < 10000; request++) {
            now = request / 100.0;
            end(budget, ask(budget, "h", NETLIB_BUDGET_REQUEST), NETLIB_REPORT_FAILURE);
            uint64_t lease;
            for (int retry = 0; retry < 3 && (lease = ask(budget, "h", NETLIB_BUDGET_TRANSIENT)) != 0; retry++) {
                end(budget, lease, NETLIB_REPORT_FAILURE);
                retries++;
            }
        }
        CHECK(retries > 0 && retries <= rows[i].most_retries);
        if (i < 3) CHECK_INT(rows[i].most_retries, retries);
        netlib_retry_budget_free(budget);
    }
}

int main(void) {
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) run_table(&tables[i]);
    a_retry_that_waits_for_its_backoff_is_in_flight_and_counts();
    successes_refill_an_empty_bucket();
    requests_that_outlast_the_window_count_when_they_begin();
    a_client_with_one_request_gets_the_minimum_of_a_ratio_budget();
    windows_allow_the_ratios_that_finagle_tests();
    a_window_allows_its_ratio_of_the_requests_exactly();
    presets_bound_the_retries_of_an_outage_of_any_length();
    return report("budget tables");
}
