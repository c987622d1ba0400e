/* Creates retry budgets with a clock that the test sets. */
#ifndef NETLIB_TEST_BUDGET_MAKERS_H
#define NETLIB_TEST_BUDGET_MAKERS_H

#include "clock.h"

/* Makes a budget and frees the options. `now` is the time of its clock, and may be NULL. */
static inline netlib_retry_budget *budget_of(netlib_retry_budget_options *options, double *now) {
    netlib_error *err = NULL;
    netlib_retry_budget *budget = NULL;
    if (now != NULL) netlib_retry_budget_options_set_clock(options, read_time, now, NULL);
    CHECK_OK(netlib_retry_budget_new(options, &budget, &err));
    netlib_retry_budget_options_free(options);
    return budget;
}

/* Asks for a request; returns the lease, or 0 if the request is denied. */
static inline uint64_t ask(const netlib_retry_budget *budget, const char *key, enum netlib_budget_kind kind) {
    netlib_error *err = NULL;
    uint64_t lease = 77;
    netlib_status status = netlib_retry_budget_ask(budget, key, NETLIB_NTS, kind, &lease, &err);
    CHECK_INT(lease == 0 ? NETLIB_RETRY_BUDGET_EMPTY : NETLIB_OK, status);
    CHECK((err != NULL) == (lease == 0));
    netlib_error_free(err);
    return lease;
}

static inline void end(const netlib_retry_budget *budget, uint64_t lease, enum netlib_report outcome) {
    netlib_retry_budget_report(budget, lease, outcome);
}

static inline double left(const netlib_retry_budget *budget, const char *key) {
    return netlib_retry_budget_left(budget, key, NETLIB_NTS);
}

#endif
