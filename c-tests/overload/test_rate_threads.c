/* Tests threads that take permissions of one key of a rate at the same time. Their clock is virtual: a thread that has
 * to wait moves the clock forward. */
#include "rate_makers.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, PER_SECOND = 20000, BURST = 50 };

/* The time in microseconds. */
static _Atomic int64_t now;
static _Atomic int64_t taken;

/* The time at which the threads end. */
static int64_t end;

static int32_t read_clock(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = (double)atomic_load(&now) / 1e6;
    return 0;
}

/* Moves the clock to `time`, unless another thread has moved it further. */
static void advance_to(int64_t time) {
    int64_t before = atomic_load(&now);
    while (before < time && !atomic_compare_exchange_weak(&now, &before, time)) continue;
}

static void *take_until_the_end(void *rate) {
    for (int64_t time; (time = atomic_load(&now)) < end;) {
        double wait = 0;
        netlib_status status = netlib_rate_take(rate, "k", 1, 1, &wait, NULL);
        if (status == NETLIB_OK) {
            atomic_fetch_add(&taken, 1);
        } else if (status == NETLIB_RATE_LIMITED) {
            advance_to(time + (int64_t)(wait * 1e6 + 0.5));
        } else {
            abort();
        }
        if (netlib_rate_report(rate, "k", 1, NETLIB_REPORT_SUCCESS, NULL) != NETLIB_OK) abort();
    }
    netlib_rate_free(rate);
    return NULL;
}

/* Each thread uses its own reference. */
static void run_threads(netlib_rate *rate) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, take_until_the_end, netlib_rate_clone(rate)) != 0) abort();
    }
    netlib_rate_free(rate);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void threads_that_share_a_limit_take_the_rate_and_at_most_the_burst_more(void) {
    /* In less than a second, a late reading does not look like a clock that was set back. */
    end = 900000;
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, PER_SECOND, BURST);
    netlib_rate_options_set_clock(options, read_clock, NULL, NULL);
    run_threads(rate_of(options, NULL));
    double seconds = (double)atomic_load(&now) / 1e6;
    CHECK((double)taken <= PER_SECOND * seconds + BURST);
    CHECK(seconds < 1);
    CHECK((double)taken >= PER_SECOND * seconds * 0.99);
}

/* A throttled key has at most twice the measured rate, which is at most the number of calls per half-second. */
static void an_adaptive_rate_makes_threads_wait_and_grants_permissions(void) {
    atomic_store(&now, 0);
    atomic_store(&taken, 0);
    end = 20000000;
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_clock(options, read_clock, NULL, NULL);
    netlib_rate *rate = rate_of(options, NULL);
    report_outcome(rate, "k", NETLIB_REPORT_THROTTLED);
    run_threads(rate);
    CHECK(taken > 0 && atomic_load(&now) >= end);
}

int main(void) {
    threads_that_share_a_limit_take_the_rate_and_at_most_the_burst_more();
    an_adaptive_rate_makes_threads_wait_and_grants_permissions();
    return report("rate_threads");
}
