/* Makes rates with a clock that the test sets. */
#ifndef NETLIB_TEST_RATE_MAKERS_H
#define NETLIB_TEST_RATE_MAKERS_H

#include "clock.h"

/* Makes a rate and frees the options. `now` is the time of its clock, and may be NULL. */
static inline netlib_rate *rate_of(netlib_rate_options *options, double *now) {
    netlib_error *err = NULL;
    netlib_rate *rate = NULL;
    if (now != NULL) netlib_rate_options_set_clock(options, read_time, now, NULL);
    CHECK_OK(netlib_rate_new(options, &rate, &err));
    netlib_rate_options_free(options);
    return rate;
}

static inline netlib_rate *limit_of(double per_second, double burst, double *now) {
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, per_second, burst);
    return rate_of(options, now);
}

/* Takes permissions; returns the seconds to wait, 0 if they were taken. */
static inline double take(const netlib_rate *rate, const char *key, double n) {
    netlib_error *err = NULL;
    double wait = -1;
    netlib_status status = netlib_rate_take(rate, key, NETLIB_NTS, n, &wait, &err);
    CHECK_INT(wait > 0 ? NETLIB_RATE_LIMITED : NETLIB_OK, status);
    CHECK(err == NULL);
    return wait;
}

static inline void report_outcome(const netlib_rate *rate, const char *key, enum netlib_report outcome) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_rate_report(rate, key, NETLIB_NTS, outcome, &err));
}

#endif
