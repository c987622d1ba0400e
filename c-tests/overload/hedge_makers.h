/* Makes hedges and their plans. */
#ifndef NETLIB_TEST_HEDGE_MAKERS_H
#define NETLIB_TEST_HEDGE_MAKERS_H

#include "harness.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof(array)[0])

static inline netlib_hedge *hedge_of(netlib_hedge_options *options) {
    netlib_error *err = NULL;
    netlib_hedge *hedge = NULL;
    CHECK_OK(netlib_hedge_new(options, &hedge, &err));
    netlib_hedge_options_free(options);
    return hedge;
}

static inline netlib_hedge *fixed(double delay, int32_t max_attempts) {
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_delay(options, delay);
    netlib_hedge_options_set_max_attempts(options, max_attempts);
    return hedge_of(options);
}

static inline netlib_hedge *percentile(double percent, int32_t minimum_samples, int32_t max_keys) {
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_percentile(options, percent, minimum_samples);
    netlib_hedge_options_set_max_keys(options, max_keys);
    return hedge_of(options);
}

static inline netlib_hedge_plan *plan_of(const netlib_hedge *hedge, const char *key, const char *method) {
    netlib_error *err = NULL;
    netlib_hedge_plan *plan = NULL;
    CHECK_OK(netlib_hedge_start(hedge, key, NETLIB_NTS, method, &plan, &err));
    return plan;
}

/* Reports an event, and checks the action that the plan stores. */
static inline void step_to(enum netlib_hedge_action expected, netlib_hedge_plan *plan, enum netlib_hedge_event event,
                           int32_t attempt, double seconds) {
    netlib_error *err = NULL;
    enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_FAILED;
    CHECK_OK(netlib_hedge_plan_step(plan, event, attempt, seconds, &action, &err));
    CHECK_INT(expected, action);
}

#endif
