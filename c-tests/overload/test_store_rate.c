/* Tests rates whose state is in a store: the arguments of its callback, steps of its clock, and failures. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "memory_store.h"

#include <unistd.h>

static netlib_rate *make_rate(const netlib_store *store, double per_second, double burst,
                              enum netlib_unavailable policy) {
    netlib_error *err = NULL;
    netlib_rate *rate = NULL;
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, per_second, burst);
    netlib_rate_options_set_store(options, store, policy);
    CHECK_OK(netlib_rate_new(options, &rate, &err));
    netlib_rate_options_free(options);
    return rate;
}

/* Takes a permission, and returns the seconds to wait; 0 if the permission was granted, -1 if the call failed. */
static double take(netlib_rate *rate) {
    double wait = 0.0;
    netlib_error *err = NULL;
    netlib_status status = netlib_rate_take(rate, "a", 1, 1.0, &wait, &err);
    netlib_error_free(err);
    return status == NETLIB_OK ? 0.0 : status == NETLIB_RATE_LIMITED ? wait : -1.0;
}

static void rates_with_a_store_share_permissions_by_the_clock_of_the_store(void) {
    struct memory_store memory;
    netlib_store *store = make_memory_store(&memory, 1.0);
    netlib_rate *one = make_rate(store, 2.0, 3.0, NETLIB_UNAVAILABLE_CLOSED);
    netlib_rate *other = make_rate(store, 2.0, 3.0, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_DOUBLE(0.0, take(one));
    CHECK_DOUBLE(0.0, take(other));
    CHECK_DOUBLE(0.0, take(one));
    CHECK_INT(6, memory.calls);
    CHECK_DOUBLE(1.5, memory.ttl);
    CHECK_DOUBLE(0.5, take(one));
    CHECK_DOUBLE(0.5, take(other));
    /* A denial calls the callback once, because it changes nothing. */
    CHECK_INT(8, memory.calls);
    CHECK_STR("rate:a", memory.keys[0]);
    memory.now += 0.5;
    CHECK_DOUBLE(0.0, take(other));
    CHECK_DOUBLE(0.5, take(one));
    netlib_rate_free(one), netlib_rate_free(other), netlib_store_free(store);
}

/* Each row: the step of the clock of the store after the bucket of 10 permissions was emptied, and the number of
 * permissions that are then granted at once. */
static void steps_of_the_clock_of_the_store_grant_at_most_one_burst(void) {
    static const struct {
        double step;
        int granted;
        double wait;
    } rows[] = {
        {0.0, 0, 1.0},   {1.0, 1, 1.0},  {9.0, 9, 1.0},  {10.0, 10, 1.0},  {1e6, 10, 1.0},
        {1e10, 10, 1.0}, {-0.5, 0, 1.5}, {-2.0, 0, 1.0}, {-900.0, 0, 1.0}, {-1000.0, 0, 1.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_rate *rate = make_rate(store, 1.0, 10.0, NETLIB_UNAVAILABLE_CLOSED);
        for (int j = 0; j < 10; j++) CHECK_DOUBLE(0.0, take(rate));
        memory.now += rows[i].step;
        int granted = 0;
        double wait = 0.0;
        while (granted < 20 && (wait = take(rate)) == 0.0) granted++;
        CHECK_INT(rows[i].granted, granted);
        CHECK(fabs(wait - rows[i].wait) < 1e-5);
        /* From then on, the bucket fills at its rate. */
        memory.now += 2.0001 + (rows[i].wait - 1.0);
        CHECK_DOUBLE(0.0, take(rate));
        CHECK_DOUBLE(0.0, take(rate));
        CHECK(take(rate) > 0.0);
        netlib_rate_free(rate), netlib_store_free(store);
    }
}

static void words_that_no_rate_wrote_count_as_an_empty_bucket_or_a_full_one(void) {
    static const struct {
        uint64_t word;
        int granted;
    } rows[] = {{1, 3}, {1000, 3}, {UINT64_MAX, 0}, {(uint64_t)1 << 63, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_rate *rate = make_rate(store, 1.0, 3.0, NETLIB_UNAVAILABLE_CLOSED);
        *memory_word(&memory, "rate:a", 6) = rows[i].word;
        int granted = 0;
        while (granted < 10 && take(rate) == 0.0) granted++;
        CHECK_INT(rows[i].granted, granted);
        memory.now += 1.0;
        CHECK_DOUBLE(0.0, take(rate));
        netlib_rate_free(rate), netlib_store_free(store);
    }
}

static void the_policy_decides_while_the_store_is_unavailable(void) {
    static const struct {
        enum netlib_unavailable policy;
        int granted;
        netlib_status last;
    } rows[] = {{NETLIB_UNAVAILABLE_LOCAL, 3, NETLIB_RATE_LIMITED},
                {NETLIB_UNAVAILABLE_OPEN, 10, NETLIB_OK},
                {NETLIB_UNAVAILABLE_CLOSED, 0, NETLIB_STORE_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_rate *rate = make_rate(store, 0.001, 3.0, rows[i].policy);
        memory.answer = NETLIB_SWAP_UNAVAILABLE;
        int granted = 0;
        netlib_status status = NETLIB_OK;
        double wait;
        while (granted < 10 && (status = netlib_rate_take(rate, "a", 1, 1.0, &wait, NULL)) == NETLIB_OK) granted++;
        CHECK_INT(rows[i].granted, granted);
        CHECK_INT(rows[i].last, status);
        memory.answer = -1;
        CHECK_DOUBLE(0.0, take(rate));
        netlib_rate_free(rate), netlib_store_free(store);
    }
}

int main(void) {
    alarm(60);
    rates_with_a_store_share_permissions_by_the_clock_of_the_store();
    steps_of_the_clock_of_the_store_grant_at_most_one_burst();
    words_that_no_rate_wrote_count_as_an_empty_bucket_or_a_full_one();
    the_policy_decides_while_the_store_is_unavailable();
    return report("store rate");
}
