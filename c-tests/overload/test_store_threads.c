/* Tests that no token and no permission is lost if threads use one store at the same time: a file, and a swap
 * callback. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, RETRIES = 500, PERMISSIONS = 40000 };

static char directory[] = "/tmp/netlib-store-XXXXXX";
static char path[64];

static netlib_retry_budget *make_budget(void) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    CHECK_OK(netlib_store_file(path, 4, &store, &err));
    netlib_retry_budget_options_set_tokens(options, 100000.0, 7.0, 1.0, 1.0);
    netlib_retry_budget_options_set_store(options, store, NETLIB_UNAVAILABLE_CLOSED);
    netlib_store_free(store);
    CHECK_OK(netlib_retry_budget_new(options, &budget, &err));
    netlib_retry_budget_options_free(options);
    return budget;
}

/* Half of the threads share a budget, and each of the other threads has its own. */
static void *take_tokens(void *shared) {
    netlib_retry_budget *budget = shared != NULL ? netlib_retry_budget_clone(shared) : make_budget();
    for (int i = 0; i < RETRIES; i++) {
        uint64_t lease = 0;
        netlib_error *err = NULL;
        CHECK_OK(netlib_retry_budget_ask(budget, "a", 1, NETLIB_BUDGET_TRANSIENT, &lease, &err));
        netlib_retry_budget_report(budget, lease, NETLIB_REPORT_FAILURE);
    }
    netlib_retry_budget_free(budget);
    return NULL;
}

static void threads_that_open_one_file_lose_no_token(void) {
    netlib_retry_budget *budget = make_budget();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, take_tokens, i % 2 == 0 ? budget : NULL) != 0) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    uint64_t lease = 0;
    netlib_error *err = NULL;
    CHECK_OK(netlib_retry_budget_ask(budget, "a", 1, NETLIB_BUDGET_THROTTLING, &lease, &err));
    CHECK_DOUBLE(100000.0 - THREADS * RETRIES * 7.0 - 1.0, netlib_retry_budget_left(budget, "a", 1));
    netlib_retry_budget_free(budget);
}

/* The word of a store whose clock stands still. */
static _Atomic uint64_t word;

static void swap_word(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                      double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    (void)ctx, (void)key, (void)len, (void)ttl, (void)timeout;
    *now = 1000.0;
    bool has_swapped = atomic_compare_exchange_strong(&word, &expected, desired);
    *answer = has_swapped ? NETLIB_SWAP_SWAPPED : NETLIB_SWAP_CHANGED;
    *actual = expected;
}

static netlib_rate *make_rate(bool in_file) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    netlib_rate *rate = NULL;
    if (in_file) CHECK_OK(netlib_store_file(path, 4, &store, &err));
    else CHECK_OK(netlib_store_new(swap_word, 60.0, NULL, NULL, &store, &err));
    /* One permission in two hours: no further one becomes available while the test runs. A whole number of nanoseconds
     * for each permission is exact. */
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, 0x1p-13, PERMISSIONS);
    netlib_rate_options_set_store(options, store, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_OK(netlib_rate_new(options, &rate, &err));
    netlib_rate_options_free(options);
    netlib_store_free(store);
    return rate;
}

static atomic_int granted;

/* A thread that finds the word changed during each of 64 calls gets NETLIB_STORE_UNAVAILABLE, and asks again. */
static void *take_permissions(void *argument) {
    netlib_rate *rate = make_rate(*(const bool *)argument);
    netlib_status status = NETLIB_OK;
    while (status == NETLIB_OK || status == NETLIB_STORE_UNAVAILABLE) {
        double wait = 0.0;
        status = netlib_rate_take(rate, "a", 1, 1.0, &wait, NULL);
        granted += status == NETLIB_OK;
    }
    CHECK_INT(NETLIB_RATE_LIMITED, status);
    netlib_rate_free(rate);
    return NULL;
}

static void threads_get_each_permission_of_a_rate_once(void) {
    for (int in_file = 0; in_file < 2; in_file++) {
        bool argument = in_file != 0;
        pthread_t threads[THREADS];
        granted = 0;
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, take_permissions, &argument) != 0) abort();
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        CHECK_INT(PERMISSIONS, granted);
    }
}

int main(void) {
    alarm(60);
    if (mkdtemp(directory) == NULL) abort();
    snprintf(path, sizeof path, "%s/words", directory);
    threads_that_open_one_file_lose_no_token();
    threads_get_each_permission_of_a_rate_once();
    unlink(path), rmdir(directory);
    return report("store threads");
}
