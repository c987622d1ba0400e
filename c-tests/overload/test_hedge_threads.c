/* Tests that 64 threads may use the latencies of one key at the same time, and that a forked child has its own. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64, REQUESTS = 200, KEYS = 4 };

static netlib_hedge *hedge_of(int32_t max_keys) {
    netlib_error *err = NULL;
    netlib_hedge *hedge = NULL;
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_percentile(options, 50, 1);
    netlib_hedge_options_set_max_keys(options, max_keys);
    CHECK_OK(netlib_hedge_new(options, &hedge, &err));
    netlib_hedge_options_free(options);
    return hedge;
}

/* Runs a request with two attempts. The second attempt is answered at the time `seconds`. */
static void request(const netlib_hedge *hedge, const char *key, double seconds) {
    netlib_error *err = NULL;
    netlib_hedge_plan *plan = NULL;
    enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_WAIT;
    CHECK_OK(netlib_hedge_start(hedge, key, 1, "GET", &plan, &err));
    CHECK(netlib_hedge_plan_timer(plan) > 0);
    CHECK_OK(netlib_hedge_plan_step(plan, NETLIB_HEDGE_EVENT_FAILURE, 1, 0.0, &action, &err));
    CHECK_INT(NETLIB_HEDGE_ACTION_START, action);
    CHECK_OK(netlib_hedge_plan_step(plan, NETLIB_HEDGE_EVENT_SUCCESS, 2, seconds, &action, &err));
    CHECK_INT(NETLIB_HEDGE_ACTION_DONE, action);
    netlib_hedge_plan_free(plan);
}

struct member {
    netlib_hedge *hedge;
    int thread, keys;
};

static void *run(void *argument) {
    const struct member *member = argument;
    netlib_hedge *hedge = netlib_hedge_clone(member->hedge);
    for (int i = 0; i < REQUESTS; i++) {
        char key = (char)('a' + (member->thread + i) % member->keys);
        request(hedge, &key, 0.1 * (member->thread + 1));
        (void)netlib_hedge_delay(hedge, &key, 1);
    }
    netlib_hedge_free(hedge);
    return NULL;
}

static void run_threads(netlib_hedge *hedge, int keys) {
    pthread_t threads[THREADS];
    struct member members[THREADS];
    for (int i = 0; i < THREADS; i++) {
        members[i] = (struct member){hedge, i, keys};
        if (pthread_create(&threads[i], NULL, run, &members[i]) != 0) abort();
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void the_latencies_of_64_threads_stay_within_their_range(void) {
    netlib_hedge *hedge = hedge_of(1);
    run_threads(hedge, 1);
    double delay = netlib_hedge_delay(hedge, "a", 1);
    CHECK(delay >= 0.095 && delay <= 6.72);
    netlib_hedge_free(hedge);
}

static void keys_that_64_threads_drop_and_add_again_stay_consistent(void) {
    netlib_hedge *hedge = hedge_of(KEYS - 1);
    run_threads(hedge, KEYS);
    int kept = 0;
    for (char key = 'a'; key < 'a' + KEYS; key++) kept += netlib_hedge_delay(hedge, &key, 1) < INFINITY;
    CHECK(kept < KEYS);
    netlib_hedge_free(hedge);
}

static void parent_and_forked_child_count_separately(void) {
    netlib_hedge *hedge = hedge_of(1);
    for (int i = 0; i < 3; i++) request(hedge, "a", 1.0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 9; i++) request(hedge, "a", 100.0);
        bool separate = netlib_hedge_delay(hedge, "a", 1) > 90.0;
        netlib_hedge_free(hedge);
        _exit(separate && checks_failed == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(netlib_hedge_delay(hedge, "a", 1) < 1.06);
    netlib_hedge_free(hedge);
}

int main(void) {
    alarm(120);
    the_latencies_of_64_threads_stay_within_their_range();
    keys_that_64_threads_drop_and_add_again_stay_consistent();
    parent_and_forked_child_count_separately();
    return report("hedge threads");
}
