/* Breakers whose clock and random numbers the test sets. */
#ifndef NETLIB_TEST_BREAKER_H
#define NETLIB_TEST_BREAKER_H

#include "harness.h"

/* The time and the random number that the callbacks of a breaker store. */
struct world {
    double now, random;
    atomic_int clock_calls, random_calls;
    int32_t result; /* of both callbacks */
};

static inline int32_t world_clock(void *ctx, double *seconds) {
    struct world *world = ctx;
    world->clock_calls++;
    *seconds = world->now;
    return world->result;
}

static inline int32_t world_random(void *ctx, double *value) {
    struct world *world = ctx;
    world->random_calls++;
    *value = world->random;
    return world->result;
}

/* Creates a breaker that uses the callbacks of `world`, and frees `options`. */
static inline netlib_breaker *breaker_of(netlib_breaker_options *options, struct world *world) {
    netlib_error *err = NULL;
    netlib_breaker *breaker = NULL;
    netlib_breaker_options_set_clock(options, world_clock, world, NULL);
    netlib_breaker_options_set_random(options, world_random, world, NULL);
    CHECK_OK(netlib_breaker_new(options, &breaker, &err));
    netlib_breaker_options_free(options);
    return breaker;
}

static inline netlib_breaker *ratio_breaker(struct world *world, double ratio, int minimum, double window,
                                            double open_time, int probes) {
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_ratio(options, ratio, minimum, window, open_time, probes);
    return breaker_of(options, world);
}

static inline netlib_breaker *consecutive_breaker(struct world *world, int failures, double open_time,
                                                  double open_time_max, double max_open_percent) {
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_consecutive(options, failures, open_time, open_time_max, max_open_percent);
    return breaker_of(options, world);
}

static inline netlib_breaker *adaptive_breaker(struct world *world, double multiplier, int minimum, double window,
                                               double max_probability) {
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_adaptive(options, multiplier, minimum, window, max_probability);
    return breaker_of(options, world);
}

/* Asks for a request and returns its permit; 0 if the breaker refuses the request. */
static inline uint64_t ask(const netlib_breaker *breaker, const char *key) {
    uint64_t permit = 99;
    double seconds = -1;
    netlib_status status = netlib_breaker_ask(breaker, key, NETLIB_NTS, &permit, &seconds, NULL);
    if (status == NETLIB_OK) {
        CHECK(permit != 0);
        CHECK_DOUBLE(0, seconds);
    } else {
        CHECK_INT(NETLIB_BREAKER_OPEN, status);
        CHECK_INT(0, (long long)permit);
        CHECK(seconds >= 1e-6);
    }
    return permit;
}

/* Asks for a request that the breaker must refuse. Returns the seconds to wait. */
static inline double wait_of(const netlib_breaker *breaker, const char *key) {
    netlib_error *err = NULL;
    uint64_t permit = 99;
    double seconds = -1;
    CHECK_INT(NETLIB_BREAKER_OPEN, netlib_breaker_ask(breaker, key, NETLIB_NTS, &permit, &seconds, &err));
    CHECK_INT(NETLIB_BREAKER_OPEN, netlib_error_status(err));
    CHECK_DOUBLE(seconds, netlib_error_breaker_seconds(err));
    CHECK_INT(0, (long long)permit);
    netlib_error_free(err);
    return seconds;
}

/* Sends `count` requests with the same outcome. The breaker must permit all of them. */
static inline void send_requests(const netlib_breaker *breaker, const char *key, int count,
                                 enum netlib_report outcome) {
    for (int i = 0; i < count; i++) {
        uint64_t permit = ask(breaker, key);
        CHECK(permit != 0);
        netlib_breaker_report(breaker, permit, outcome);
    }
}

static inline enum netlib_circuit_state state_of(const netlib_breaker *breaker, const char *key) {
    enum netlib_circuit_state state = (enum netlib_circuit_state)99;
    netlib_error *err = NULL;
    CHECK_OK(netlib_breaker_state(breaker, key, NETLIB_NTS, &state, &err));
    return state;
}

#endif
