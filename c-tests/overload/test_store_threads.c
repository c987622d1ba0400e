/* Threads that open one store file, take tokens and free their handles at the same time lose no token. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, RETRIES = 500 };

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

int main(void) {
    alarm(60);
    if (mkdtemp(directory) == NULL) abort();
    snprintf(path, sizeof path, "%s/words", directory);
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
    unlink(path), rmdir(directory);
    return report("store threads");
}
