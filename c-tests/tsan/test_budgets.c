/* Tests a retry budget that eight threads use at the same time: leases, dropped keys, leases that age out, and a shared
 * Retry. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tsan/threads.h"

#include "../overload/budget_makers.h"

enum { ROUNDS = 300 };

struct shared {
    netlib_retry_budget *budget;
    netlib_retry *retry; /* a Retry with the budget */
    atomic_long milliseconds;
    atomic_ulong granted;
};

static int32_t read_shared_time(void *ctx, double *seconds) {
    struct shared *shared = ctx;
    *seconds = (double)(shared->milliseconds += 5) / 1000;
    return 0;
}

static void use_budget(void *argument, int thread) {
    struct shared *shared = argument;
    static const char *const keys[] = {"a", "b", "c", "d"};
    netlib_retry_budget *budget = netlib_retry_budget_clone(shared->budget);
    for (int i = 0; i < ROUNDS; i++) {
        const char *key = keys[(thread + i) % 4];
        uint64_t first = ask(budget, key, NETLIB_BUDGET_REQUEST);
        uint64_t retry = ask(budget, key, NETLIB_BUDGET_TRANSIENT);
        shared->granted += retry != 0;
        end(budget, first, (enum netlib_report)(i % 4));
        /* Some reports are lost, and some are made twice. */
        if (i % 5 != 0) end(budget, retry, NETLIB_REPORT_SUCCESS);
        if (i % 7 == 0) end(budget, retry, NETLIB_REPORT_FAILURE);
        CHECK(left(budget, key) >= 0);
    }
    netlib_retry_budget_free(budget);
}

/* Decides with a shared Retry, and with the Retry that another thread may decide with, too. */
static void decide(void *argument, int thread) {
    struct shared *shared = argument;
    netlib_error *err = NULL, *refused = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_parse_url(thread % 2 == 0 ? "http://a/" : "http://b/", NETLIB_NTS, &url, &err));
    CHECK_OK(netlib_error_new(NETLIB_CONNECT_FAILED, "refused", NULL, &refused, &err));
    for (int i = 0; i < ROUNDS; i++) {
        netlib_decision *decision = NULL, *again = NULL;
        netlib_status status = netlib_retry_decide(shared->retry, "GET", url, NULL, refused, NULL, &decision, NULL);
        CHECK(status == NETLIB_OK || status == NETLIB_MAX_RETRY);
        if (status != NETLIB_OK) continue;
        shared->granted++;
        netlib_retry *next = netlib_retry_clone(netlib_decision_retry(decision));
        netlib_decision_free(decision);
        if (i % 3 != 0 && netlib_retry_decide(next, "GET", url, NULL, refused, NULL, &again, NULL) == NETLIB_OK)
            netlib_decision_free(again);
        netlib_retry_free(next);
    }
    netlib_error_free(refused);
    netlib_url_free(url);
}

static void threads_can_share_a_budget_of_each_preset(void) {
    static const enum netlib_budget_preset presets[] = {NETLIB_BUDGET_AWS_2026, NETLIB_BUDGET_GRPC,
                                                        NETLIB_BUDGET_FINAGLE, NETLIB_BUDGET_ENVOY};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        struct shared shared = {0};
        netlib_error *err = NULL;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_preset(options, presets[i]);
        netlib_retry_budget_options_set_max_keys(options, 3);
        netlib_retry_budget_options_set_lease_time(options, 2);
        netlib_retry_budget_options_set_clock(options, read_shared_time, &shared, NULL);
        shared.budget = budget_of(options, NULL);
        netlib_retry_options *retry_options = netlib_retry_options_new();
        netlib_retry_options_set_budget(retry_options, shared.budget, NULL);
        CHECK_OK(netlib_retry_new(retry_options, &shared.retry, &err));
        netlib_retry_options_free(retry_options);
        in_threads(use_budget, &shared);
        CHECK(shared.granted > 0);
        in_threads(decide, &shared);
        /* Once all leases have ended, a budget for requests in flight allows three retries again. */
        shared.milliseconds += 10000;
        end(shared.budget, 0, NETLIB_REPORT_NONE);
        if (presets[i] == NETLIB_BUDGET_ENVOY) {
            CHECK_DOUBLE(3, left(shared.budget, "a"));
            CHECK_DOUBLE(3, left(shared.budget, "http://a:80"));
        }
        netlib_retry_free(shared.retry);
        netlib_retry_budget_free(shared.budget);
    }
}

int main(void) {
    threads_can_share_a_budget_of_each_preset();
    return report("budgets with threads");
}
