/* Tests hedging: the plans of requests, and the ranges of the settings. */
#include "hedge_makers.h"

enum {
    TIMER = NETLIB_HEDGE_EVENT_TIMER,
    SUCCESS = NETLIB_HEDGE_EVENT_SUCCESS,
    FAILURE = NETLIB_HEDGE_EVENT_FAILURE,
    FATAL = NETLIB_HEDGE_EVENT_FATAL,
    PUSHBACK = 100, /* netlib_hedge_plan_pushback with the wait */
    WAIT = NETLIB_HEDGE_ACTION_WAIT,
    START = NETLIB_HEDGE_ACTION_START,
    CANCEL_OTHERS = NETLIB_HEDGE_ACTION_CANCEL_OTHERS,
    DONE = NETLIB_HEDGE_ACTION_DONE,
    FAILED = NETLIB_HEDGE_ACTION_FAILED,
    MAX_STEPS = 8,
};

struct step {
    int event, attempt;
    double seconds, wait;
    int action;
    double timer; /* after the step; 0 stands for infinity */
};

static netlib_status step_status(netlib_hedge_plan *plan, const struct step *step, enum netlib_hedge_action *action,
                                 netlib_error **err) {
    if (step->event == PUSHBACK)
        return netlib_hedge_plan_pushback(plan, step->attempt, step->wait, step->seconds, action, err);
    return netlib_hedge_plan_step(plan, (enum netlib_hedge_event)step->event, step->attempt, step->seconds, action,
                                  err);
}

/* "A6" is gRPC's proposal A6; its example has 4 attempts and a hedgingDelay of 0.5 s. Polly 8's default is a second
 * attempt after 2 s. */
static const struct plan_row {
    const char *name, *method;
    double delay;
    int32_t max_attempts, started;
    struct step steps[MAX_STEPS];
} plan_rows[] = {
    {"A6: further attempts start at 0.5, 1 and 1.5 s",
     "GET",
     0.5,
     4,
     4,
     {{TIMER, 0, 0.5, 0, START, 1.0},
      {TIMER, 0, 1.0, 0, START, 1.5},
      {TIMER, 0, 1.5, 0, START, 0},
      {SUCCESS, 2, 1.6, 0, CANCEL_OTHERS, 0}}},
    {"A6: the first answer before the delay", "GET", 0.5, 4, 1, {{SUCCESS, 1, 0.4, 0, DONE, 0}}},
    {"A6: a non-fatal failure starts the next attempt at once, and the delay begins again",
     "GET",
     0.5,
     4,
     3,
     {{FAILURE, 1, 0.1, 0, START, 0.6}, {TIMER, 0, 0.5, 0, WAIT, 0.6}, {TIMER, 0, 0.6, 0, START, 1.1}}},
    {"A6: a fatal failure cancels all other attempts",
     "GET",
     0.5,
     4,
     2,
     {{TIMER, 0, 0.5, 0, START, 1.0},
      {FATAL, 1, 0.75, 0, CANCEL_OTHERS, 0},
      {SUCCESS, 2, 0.8, 0, FAILED, 0},
      {TIMER, 0, 1.0, 0, FAILED, 0}}},
    {"A6: a fatal failure of the only attempt", "GET", 0.5, 4, 1, {{FATAL, 1, 0.25, 0, FAILED, 0}}},
    {"A6: all attempts fail",
     "GET",
     0.5,
     4,
     4,
     {{FAILURE, 1, 0.1, 0, START, 0.6},
      {FAILURE, 2, 0.25, 0, START, 0.75},
      {FAILURE, 3, 0.3, 0, START, 0},
      {FAILURE, 4, 0.4, 0, FAILED, 0}}},
    {"A6: a pushback of 2 s delays the next attempt",
     "GET",
     0.5,
     4,
     3,
     {{PUSHBACK, 1, 0.25, 2.0, WAIT, 2.25},
      {TIMER, 0, 0.5, 0, WAIT, 2.25},
      {TIMER, 0, 2.25, 0, START, 2.75},
      {TIMER, 0, 2.75, 0, START, 3.25}}},
    {"A6: pushback \"do not retry\" to the only attempt", "GET", 0.5, 4, 1, {{PUSHBACK, 1, 0.25, -1.0, FAILED, 0}}},
    {"A6: pushback \"do not retry\" while another attempt runs",
     "GET",
     0.5,
     4,
     2,
     {{TIMER, 0, 0.5, 0, START, 1.0},
      {PUSHBACK, 2, 0.75, -1.0, WAIT, 0},
      {TIMER, 0, 1.0, 0, WAIT, 0},
      {SUCCESS, 1, 2.0, 0, DONE, 0}}},
    {"A6: the request fails after a pushback to the last attempt",
     "GET",
     0.5,
     2,
     2,
     {{FAILURE, 1, 0.25, 0, START, 0}, {PUSHBACK, 2, 0.5, 1.0, FAILED, 0}}},
    {"a failure of another attempt does not shorten a pushback",
     "GET",
     0.5,
     4,
     3,
     {{TIMER, 0, 0.5, 0, START, 1.0},
      {PUSHBACK, 1, 0.75, 2.0, WAIT, 2.75},
      {FAILURE, 2, 1.0, 0, WAIT, 2.75},
      {TIMER, 0, 2.75, 0, START, 3.25}}},
    {"Polly 8: the second attempt starts after 2 s",
     "GET",
     2.0,
     2,
     2,
     {{TIMER, 0, 1.999, 0, WAIT, 2.0}, {TIMER, 0, 2.0, 0, START, 0}, {SUCCESS, 2, 2.5, 0, CANCEL_OTHERS, 0}}},
    {"10 attempts with delay 0 start at once",
     "GET",
     0.0,
     10,
     8,
     {{TIMER, 0, 0, 0, START, 1e-300},
      {TIMER, 0, 0, 0, START, 1e-300},
      {TIMER, 0, 0, 0, START, 1e-300},
      {TIMER, 0, 0, 0, START, 1e-300},
      {TIMER, 0, 0, 0, START, 1e-300},
      {TIMER, 0, 0, 0, START, 1e-300},
      {TIMER, 0, 0, 0, START, 1e-300}}},
    {"POST is not hedged, not even after a failure",
     "POST",
     0.5,
     4,
     1,
     {{TIMER, 0, 9.0, 0, WAIT, 0}, {FAILURE, 1, 9.0, 0, FAILED, 0}}},
    {"events after DONE change nothing",
     "GET",
     0.5,
     4,
     1,
     {{SUCCESS, 1, 0.25, 0, DONE, 0},
      {SUCCESS, 1, 0.25, 0, DONE, 0},
      {FATAL, 1, 0.5, 0, DONE, 0},
      {TIMER, 0, 0.5, 0, DONE, 0},
      {PUSHBACK, 1, 0.5, 1.0, DONE, 0}}},
    {"a time before an earlier one counts as the earlier one",
     "GET",
     0.5,
     4,
     3,
     {{TIMER, 0, 0.75, 0, START, 1.25},
      {TIMER, 0, 0.5, 0, WAIT, 1.25},
      {FAILURE, 2, 0.0, 0, START, 1.25},
      {PUSHBACK, 1, 0.0, 1.0, WAIT, 1.75}}},
};

static void each_sequence_of_events_gives_the_expected_actions_and_timers(void) {
    for (size_t i = 0; i < LENGTH_OF(plan_rows); i++) {
        const struct plan_row *row = &plan_rows[i];
        unsigned long failed = checks_failed;
        netlib_hedge *hedge = fixed(row->delay, row->max_attempts);
        netlib_hedge_plan *plan = plan_of(hedge, "https://a.example", row->method);
        bool allowed = strcmp(row->method, "POST") != 0;
        CHECK_DOUBLE(allowed ? row->delay : INFINITY, netlib_hedge_plan_timer(plan));
        CHECK_DOUBLE(row->delay, netlib_hedge_delay(hedge, "any", NETLIB_NTS));
        netlib_hedge_free(hedge); /* the plan keeps a reference */
        for (const struct step *step = row->steps; step < row->steps + MAX_STEPS; step++) {
            if (step->action == WAIT && step->timer <= 0 && step->seconds <= 0) break;
            netlib_error *err = NULL;
            enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_FAILED;
            CHECK_STATUS(NETLIB_OK, step_status(plan, step, &action, &err));
            CHECK_INT(step->action, action);
            double timer = step->timer <= 0 ? INFINITY : step->timer <= 1e-300 ? 0.0 : step->timer;
            CHECK_DOUBLE(timer, netlib_hedge_plan_timer(plan));
        }
        CHECK_INT(row->started, netlib_hedge_plan_attempts(plan));
        netlib_hedge_plan_free(plan);
        if (checks_failed != failed) fprintf(stderr, "    in the row \"%s\"\n", row->name);
    }
}

static void invalid_events_are_refused_by_name_and_leave_the_plan_unchanged(void) {
    static const struct {
        struct step step;
        const char *message;
    } rows[] = {
        {{SUCCESS, 3, 1, 0, 0, 0}, "attempt must be 1 to 2, the number of started attempts; it is 3"},
        {{FAILURE, 0, 1, 0, 0, 0}, "attempt must be 1 to 2, the number of started attempts; it is 0"},
        {{FATAL, INT32_MIN, 1, 0, 0, 0}, "attempt must be 1 to 2, the number of started attempts; it is -2147483648"},
        {{PUSHBACK, INT32_MAX, 1, 1, 0, 0}, "attempt must be 1 to 2, the number of started attempts; it is 2147483647"},
        {{SUCCESS, 1, 1, 0, 0, 0}, "attempt 1 has already failed"},
        {{PUSHBACK, 1, 1, 1, 0, 0}, "attempt 1 has already failed"},
        {{SUCCESS, 2, NAN, 0, 0, 0}, "seconds must be 0 or more and finite; it is NaN"},
        {{TIMER, 0, -1e-9, 0, 0, 0}, "seconds must be 0 or more and finite; it is -0.000000001"},
        {{TIMER, 0, INFINITY, 0, 0, 0}, "seconds must be 0 or more and finite; it is inf"},
        {{PUSHBACK, 2, -INFINITY, 1, 0, 0}, "seconds must be 0 or more and finite; it is -inf"},
        {{PUSHBACK, 2, 1, NAN, 0, 0}, "wait must be -1000000000 to 1000000000; it is NaN"},
        {{PUSHBACK, 2, 1, INFINITY, 0, 0}, "wait must be -1000000000 to 1000000000; it is inf"},
        {{PUSHBACK, 2, 1, -INFINITY, 0, 0}, "wait must be -1000000000 to 1000000000; it is -inf"},
        {{PUSHBACK, 2, 1, 1.1e9, 0, 0}, "wait must be -1000000000 to 1000000000; it is 1100000000"},
        {{PUSHBACK, 2, 1, -1.1e9, 0, 0}, "wait must be -1000000000 to 1000000000; it is -1100000000"},
        {{4, 2, 1, 0, 0, 0}, "event must be a netlib_hedge_event; it is 4"},
        {{-1, 2, 1, 0, 0, 0}, "event must be a netlib_hedge_event; it is -1"},
    };
    netlib_error *err = NULL;
    enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_WAIT;
    netlib_hedge *hedge = fixed(0.5, 3);
    netlib_hedge_plan *plan = plan_of(hedge, "", "GET");
    step_to(NETLIB_HEDGE_ACTION_START, plan, NETLIB_HEDGE_EVENT_FAILURE, 1, 0.25);
    for (size_t i = 0; i < LENGTH_OF(rows); i++) {
        action = NETLIB_HEDGE_ACTION_FAILED;
        netlib_status status = step_status(plan, &rows[i].step, &action, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        CHECK_INT(NETLIB_HEDGE_ACTION_WAIT, action); /* outputs are zeroed */
        CHECK_DOUBLE(0.75, netlib_hedge_plan_timer(plan));
    }
    CHECK_INT(2, netlib_hedge_plan_attempts(plan));
    /* An unknown attempt is refused after the end, too. */
    step_to(NETLIB_HEDGE_ACTION_DONE, plan, NETLIB_HEDGE_EVENT_SUCCESS, 2, 0.5);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_hedge_plan_step(plan, NETLIB_HEDGE_EVENT_SUCCESS, 3, 1, &action, &err));
    step_to(NETLIB_HEDGE_ACTION_DONE, plan, NETLIB_HEDGE_EVENT_SUCCESS, 1, 1);
    netlib_hedge_plan_free(plan);
    netlib_hedge_free(hedge);
}

static void options_refuse_values_outside_of_their_range(void) {
    static const char *const methods[] = {"GET", "a b"};
    static const struct {
        int setting;
        double value;
        int32_t number;
        const char *message;
    } rows[] = {
        {0, NAN, 0, "netlib_hedge_options_set_delay: seconds must be 0 to 1000000000; it is NaN"},
        {0, INFINITY, 0, "netlib_hedge_options_set_delay: seconds must be 0 to 1000000000; it is inf"},
        {0, -1, 0, "netlib_hedge_options_set_delay: seconds must be 0 to 1000000000; it is -1"},
        {0, 1.1e9, 0, "netlib_hedge_options_set_delay: seconds must be 0 to 1000000000; it is 1100000000"},
        {1, NAN, 1, "netlib_hedge_options_set_percentile: percentile must be 50 to 99.9; it is NaN"},
        {1, 0.95, 1, "netlib_hedge_options_set_percentile: percentile must be 50 to 99.9; it is 0.95"},
        {1, 100, 1, "netlib_hedge_options_set_percentile: percentile must be 50 to 99.9; it is 100"},
        {1, 95, 0, "netlib_hedge_options_set_percentile: minimum_samples must be 1 to 1000; it is 0"},
        {1, 95, 1001, "netlib_hedge_options_set_percentile: minimum_samples must be 1 to 1000; it is 1001"},
        {1, 95, -1, "netlib_hedge_options_set_percentile: minimum_samples must be 1 to 1000; it is -1"},
        {2, 0, 1, "netlib_hedge_options_set_max_attempts: max_attempts must be 2 to 10; it is 1"},
        {2, 0, 11, "netlib_hedge_options_set_max_attempts: max_attempts must be 2 to 10; it is 11"},
        {3, 0, 0, "netlib_hedge_options_set_max_keys: max_keys must be 1 to 1048576; it is 0"},
        {3, 0, 1048577, "netlib_hedge_options_set_max_keys: max_keys must be 1 to 1048576; it is 1048577"},
        {3, 0, -1, "netlib_hedge_options_set_max_keys: max_keys must be 1 to 1048576; it is -1"},
        {4, 0, 2, "netlib_hedge_options_set_allowed_methods: a method must be letters"},
    };
    for (size_t i = 0; i < LENGTH_OF(rows); i++) {
        netlib_error *err = NULL;
        netlib_hedge *hedge = NULL;
        netlib_hedge_options *options = netlib_hedge_options_new();
        switch (rows[i].setting) {
        case 0: netlib_hedge_options_set_delay(options, rows[i].value); break;
        case 1: netlib_hedge_options_set_percentile(options, rows[i].value, rows[i].number); break;
        case 2: netlib_hedge_options_set_max_attempts(options, rows[i].number); break;
        case 3: netlib_hedge_options_set_max_keys(options, rows[i].number); break;
        default: netlib_hedge_options_set_allowed_methods(options, methods, (size_t)rows[i].number);
        }
        netlib_hedge_options *copy = netlib_hedge_options_clone(options);
        netlib_status status = netlib_hedge_options_check(copy, &err);
        CHECK_CONTAINS(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_hedge_new(options, &hedge, &err));
        CHECK(hedge == NULL);
        netlib_hedge_options_free(copy);
        netlib_hedge_options_free(options);
    }
}

static void a_delay_and_a_percentile_replace_each_other(void) {
    netlib_error *err = NULL;
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_delay(options, NAN);
    netlib_hedge_options_set_percentile(options, 50, 1); /* removes the error of the delay */
    CHECK_OK(netlib_hedge_options_check(options, &err));
    netlib_hedge *hedge = hedge_of(netlib_hedge_options_clone(options));
    CHECK_DOUBLE(INFINITY, netlib_hedge_delay(hedge, "a", 1));
    netlib_hedge_free(hedge);
    netlib_hedge_options_set_delay(options, 0.25);
    hedge = hedge_of(options);
    CHECK_DOUBLE(0.25, netlib_hedge_delay(hedge, "a", 1));
    netlib_hedge_free(hedge);
}

static void allowed_methods_replace_the_idempotent_methods(void) {
    static const struct {
        const char *method;
        bool idempotent, listed;
    } rows[] = {
        {"GET", true, false},  {"get", true, false},    {"HEAD", true, false},  {"OPTIONS", true, false},
        {"PUT", true, false},  {"DELETE", true, false}, {"TRACE", true, false}, {"POST", false, true},
        {"post", false, true}, {"PATCH", false, false}, {"M-X", false, true},
    };
    static const char *const methods[] = {"Post", "m-x"};
    netlib_hedge *by_default = fixed(0.5, 2);
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_delay(options, 0.5);
    netlib_hedge_options_set_allowed_methods(options, methods, 2);
    netlib_hedge *listed = hedge_of(options);
    for (size_t i = 0; i < LENGTH_OF(rows); i++) {
        netlib_hedge_plan *plan = plan_of(by_default, "a", rows[i].method);
        CHECK_DOUBLE(rows[i].idempotent ? 0.5 : INFINITY, netlib_hedge_plan_timer(plan));
        netlib_hedge_plan_free(plan);
        plan = plan_of(listed, "a", rows[i].method);
        CHECK_DOUBLE(rows[i].listed ? 0.5 : INFINITY, netlib_hedge_plan_timer(plan));
        netlib_hedge_plan_free(plan);
    }
    netlib_error *err = NULL;
    netlib_hedge_plan *plan = NULL;
    static char key[1025];
    CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_hedge_start(listed, "a", 1, "GE T", &plan, &err));
    CHECK_CONTAINS("method", netlib_error_message(err, NULL));
    netlib_error_free(err);
    CHECK(plan == NULL);
    CHECK_OK(netlib_hedge_start(listed, key, 1024, "GET", &plan, &err));
    netlib_hedge_plan_free(plan);
    CHECK_OK(netlib_hedge_start(listed, NULL, 0, "GET", &plan, &err));
    netlib_hedge_plan_free(plan);
    netlib_hedge_free(listed);
    netlib_hedge_free(by_default);
}

static void a_budget_denies_hedges_and_the_plan_returns_the_error(void) {
    netlib_error *err = NULL;
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *budget_options = netlib_retry_budget_options_new();
    /* One hedge costs 14 of 14 tokens. A plan does not report its first attempt. */
    netlib_retry_budget_options_set_tokens(budget_options, 14, 14, 5, 1);
    CHECK_OK(netlib_retry_budget_new(budget_options, &budget, &err));
    netlib_retry_budget_options_free(budget_options);
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_delay(options, 0.5);
    netlib_hedge_options_set_max_attempts(options, 3);
    netlib_hedge_options_set_budget(options, budget);
    netlib_hedge *hedge = hedge_of(options);

    netlib_hedge_plan *plan = plan_of(hedge, "a", "GET");
    CHECK_DOUBLE(14.0, netlib_retry_budget_left(budget, "a", 1));
    step_to(NETLIB_HEDGE_ACTION_START, plan, NETLIB_HEDGE_EVENT_TIMER, 0, 0.5);
    CHECK(netlib_hedge_plan_denied(plan) == NULL);
    CHECK_DOUBLE(0.0, netlib_retry_budget_left(budget, "a", 1));
    step_to(NETLIB_HEDGE_ACTION_WAIT, plan, NETLIB_HEDGE_EVENT_TIMER, 0, 1.0);
    CHECK_DOUBLE(INFINITY, netlib_hedge_plan_timer(plan));
    CHECK_INT(2, netlib_hedge_plan_attempts(plan));
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, netlib_error_status(netlib_hedge_plan_denied(plan)));
    CHECK_STR("the retry budget of a has 0 tokens left; a hedge costs 14",
              netlib_error_message(netlib_hedge_plan_denied(plan), NULL));

    /* Another key has its own tokens, and a POST has no further attempt. */
    netlib_hedge_plan *other = plan_of(hedge, "b", "POST");
    step_to(NETLIB_HEDGE_ACTION_FAILED, other, NETLIB_HEDGE_EVENT_FAILURE, 1, 0.1);
    CHECK(netlib_hedge_plan_denied(other) == NULL);
    CHECK_DOUBLE(14.0, netlib_retry_budget_left(budget, "b", 1));
    netlib_hedge_plan_free(other);

    step_to(NETLIB_HEDGE_ACTION_CANCEL_OTHERS, plan, NETLIB_HEDGE_EVENT_SUCCESS, 1, 1.5);
    CHECK_DOUBLE(0.0, netlib_retry_budget_left(budget, "a", 1));
    netlib_hedge_plan_free(plan);

    /* After a failure without tokens, the request has failed. */
    plan = plan_of(hedge, "a", "GET");
    step_to(NETLIB_HEDGE_ACTION_FAILED, plan, NETLIB_HEDGE_EVENT_FAILURE, 1, 0.1);
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, netlib_error_status(netlib_hedge_plan_denied(plan)));
    netlib_hedge_plan_free(plan);
    netlib_hedge_free(hedge);
    netlib_retry_budget_free(budget);
}

struct failing_clock {
    netlib_hedge_plan *plan; /* freed and stepped by the clock; NULL: the clock only fails */
    int32_t result;
    netlib_status status;
};

static int32_t read_failing_clock(void *ctx, double *seconds) {
    struct failing_clock *clock = ctx;
    *seconds = 1.0;
    if (clock->plan != NULL) {
        enum netlib_hedge_action action;
        clock->status = netlib_hedge_plan_step(clock->plan, NETLIB_HEDGE_EVENT_TIMER, 0, 9.0, &action, NULL);
        CHECK_DOUBLE(INFINITY, netlib_hedge_plan_timer(clock->plan));
        netlib_hedge_plan_free(clock->plan);
        clock->plan = NULL;
    }
    return clock->result;
}

static void a_failing_clock_of_the_budget_denies_hedges_and_may_free_the_plan(void) {
    netlib_error *err = NULL;
    struct failing_clock clock = {NULL, 0, NETLIB_OK};
    netlib_retry_budget *budget = NULL;
    netlib_hedge_plan *plan = NULL;
    netlib_retry_budget_options *budget_options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_clock(budget_options, read_failing_clock, &clock, NULL);
    CHECK_OK(netlib_retry_budget_new(budget_options, &budget, &err));
    netlib_retry_budget_options_free(budget_options);
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_delay(options, 0.5);
    netlib_hedge_options_set_budget(options, budget);
    netlib_hedge *hedge = hedge_of(options);

    plan = plan_of(hedge, "a", "GET");
    clock.result = 1;
    step_to(NETLIB_HEDGE_ACTION_WAIT, plan, NETLIB_HEDGE_EVENT_TIMER, 0, 0.5);
    CHECK_INT(NETLIB_CALLBACK_FAILED, netlib_error_status(netlib_hedge_plan_denied(plan)));
    netlib_hedge_plan_free(plan);

    clock.result = 0;
    clock.plan = plan = plan_of(hedge, "a", "GET");
    step_to(NETLIB_HEDGE_ACTION_START, plan, NETLIB_HEDGE_EVENT_TIMER, 0, 0.5);
    CHECK_INT(NETLIB_BUSY, clock.status);
    CHECK(clock.plan == NULL);
    netlib_hedge_free(hedge);
    netlib_retry_budget_free(budget);
}

static void getters_of_null_return_their_documented_values(void) {
    CHECK_DOUBLE(INFINITY, netlib_hedge_plan_timer(NULL));
    CHECK_INT(0, netlib_hedge_plan_attempts(NULL));
    CHECK(netlib_hedge_plan_denied(NULL) == NULL);
    CHECK_DOUBLE(INFINITY, netlib_hedge_delay(NULL, "a", 1));
    CHECK(netlib_hedge_clone(NULL) == NULL);
    netlib_hedge_plan_free(NULL);
    netlib_hedge_free(NULL);
    netlib_hedge_options_free(NULL);
}

int main(void) {
    each_sequence_of_events_gives_the_expected_actions_and_timers();
    invalid_events_are_refused_by_name_and_leave_the_plan_unchanged();
    options_refuse_values_outside_of_their_range();
    a_delay_and_a_percentile_replace_each_other();
    allowed_methods_replace_the_idempotent_methods();
    a_budget_denies_hedges_and_the_plan_returns_the_error();
    a_failing_clock_of_the_budget_denies_hedges_and_may_free_the_plan();
    getters_of_null_return_their_documented_values();
    return report("hedge");
}
