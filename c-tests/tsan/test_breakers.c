/* Tests that eight threads can use one breaker of each kind at the same time: with the same keys, with more keys than
 * the breaker has room for, and with permits that other threads report. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tsan/threads.h"

enum { ROUNDS = 3000, MAX_KEYS = 4, KEYS = 6 };

struct values {
    netlib_breaker *breaker;
    /* The last permit of each thread, which the other threads may also report. */
    _Atomic uint64_t permits[THREADS];
    atomic_int granted, refused;
};

static void use_breaker(void *shared, int thread) {
    struct values *values = shared;
    netlib_breaker *breaker = netlib_breaker_clone(values->breaker);
    for (int i = 0; i < ROUNDS; i++) {
        char key[2] = {(char)('a' + (i * (thread + 1)) % KEYS), 0};
        uint64_t permit = 0;
        double seconds = -1;
        enum netlib_circuit_state state = NETLIB_CIRCUIT_CLOSED;
        netlib_error *err = NULL;
        netlib_status status = netlib_breaker_ask(breaker, key, 1, &permit, &seconds, i % 2 == 0 ? &err : NULL);
        CHECK(status == NETLIB_OK || status == NETLIB_BREAKER_OPEN);
        CHECK((status == NETLIB_OK) == (permit != 0));
        CHECK((status == NETLIB_BREAKER_OPEN) == (seconds > 0));
        if (err != NULL) CHECK_DOUBLE(seconds, netlib_error_breaker_seconds(err));
        netlib_error_free(err);
        (status == NETLIB_OK ? &values->granted : &values->refused)[0]++;
        values->permits[thread] = permit;
        enum netlib_report outcome = (enum netlib_report)((i + thread) % 4);
        netlib_breaker_report(breaker, permit, outcome);
        netlib_breaker_report(breaker, values->permits[(thread + i) % THREADS], outcome);
        CHECK_INT(NETLIB_OK, netlib_breaker_state(breaker, key, 1, &state, NULL));
    }
    netlib_breaker_free(breaker);
}

int main(void) {
    for (int kind = 0; kind < 3; kind++) {
        netlib_error *err = NULL;
        struct values values = {0};
        netlib_breaker_options *options = netlib_breaker_options_new();
        netlib_breaker_options_set_max_keys(options, MAX_KEYS);
        /* The times are so short that keys open, become half-open and close during the test. */
        netlib_breaker_options_set_permit_time(options, .001);
        if (kind == 0) netlib_breaker_options_set_ratio(options, .5, 3, .001, .001, 2);
        if (kind == 1) netlib_breaker_options_set_consecutive(options, 2, .001, .002, 50);
        if (kind == 2) netlib_breaker_options_set_adaptive(options, 1.5, 2, .001, .9);
        CHECK_OK(netlib_breaker_new(options, &values.breaker, &err));
        netlib_breaker_options_free(options);
        in_threads(use_breaker, &values);
        CHECK_INT(THREADS * ROUNDS, values.granted + values.refused);
        CHECK(values.granted > 0);
        CHECK(values.refused > 0);
        netlib_breaker_free(values.breaker);
    }
    return report("tsan breakers");
}
