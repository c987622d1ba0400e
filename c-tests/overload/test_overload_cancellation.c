/* Tests that pthread_cancel(3) does not take effect inside a callback of a budget, a breaker, a rate, a hedge or a
 * store. The functions that call these callbacks leave cancellation enabled, so the callbacks disable it. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"
#include "memory_store.h"

#include <pthread.h>

static int clock_calls;

/* A clock that contains a cancellation point. */
static int32_t cancellation_clock(void *ctx, double *seconds) {
    (void)ctx;
    pthread_testcancel();
    clock_calls++;
    *seconds = 1.0;
    return NETLIB_OK;
}

/* A swap callback that contains a cancellation point. */
static void cancellation_swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                              double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    pthread_testcancel();
    memory_swap(ctx, key, len, expected, desired, ttl, timeout, answer, actual, now);
}

struct objects {
    netlib_retry_budget *budget;
    netlib_breaker *breaker;
    netlib_rate *rate;
    netlib_hedge *hedge;
};

/* Calls every function that calls a callback. */
static void *call_with_pending_cancellation(void *argument) {
    struct objects *objects = argument;
    uint64_t number = 0;
    double seconds = 0.0;
    netlib_hedge_plan *plan = NULL;
    enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_WAIT;
    pthread_cancel(pthread_self());
    netlib_status statuses[] = {
        netlib_retry_budget_ask(objects->budget, "a", 1, NETLIB_BUDGET_TRANSIENT, &number, NULL),
        (netlib_retry_budget_report(objects->budget, number, NETLIB_REPORT_SUCCESS), NETLIB_OK),
        netlib_breaker_ask(objects->breaker, "a", 1, &number, &seconds, NULL),
        (netlib_breaker_report(objects->breaker, number, NETLIB_REPORT_SUCCESS), NETLIB_OK),
        netlib_rate_take(objects->rate, "a", 1, 1.0, &seconds, NULL),
        netlib_hedge_start(objects->hedge, "a", 1, "GET", &plan, NULL),
        netlib_hedge_plan_step(plan, NETLIB_HEDGE_EVENT_TIMER, 0, 2.0, &action, NULL),
        (netlib_hedge_plan_free(plan), NETLIB_OK),
    };
    int state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    CHECK_INT(PTHREAD_CANCEL_ENABLE, state);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) CHECK_INT(NETLIB_OK, statuses[i]);
    CHECK_INT(NETLIB_HEDGE_ACTION_START, action);
    return argument;
}

static void a_pending_cancellation_does_not_take_effect_in_a_callback(void) {
    struct memory_store memory = {.answer = -1, .now = 1000.0};
    struct objects objects = {0};
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    CHECK_OK(netlib_store_new(cancellation_swap, 1.0, &memory, NULL, &store, &err));
    netlib_retry_budget_options *budget = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_clock(budget, cancellation_clock, NULL, NULL);
    netlib_retry_budget_options_set_store(budget, store, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_OK(netlib_retry_budget_new(budget, &objects.budget, &err));
    netlib_breaker_options *breaker = netlib_breaker_options_new();
    netlib_breaker_options_set_clock(breaker, cancellation_clock, NULL, NULL);
    CHECK_OK(netlib_breaker_new(breaker, &objects.breaker, &err));
    netlib_rate_options *rate = netlib_rate_options_new();
    netlib_rate_options_set_limit(rate, 1.0, 1.0);
    netlib_rate_options_set_store(rate, store, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_OK(netlib_rate_new(rate, &objects.rate, &err));
    netlib_hedge_options *hedge = netlib_hedge_options_new();
    netlib_hedge_options_set_delay(hedge, 1.0);
    netlib_hedge_options_set_budget(hedge, objects.budget);
    CHECK_OK(netlib_hedge_new(hedge, &objects.hedge, &err));

    pthread_t thread;
    void *result = NULL;
    CHECK_INT(0, pthread_create(&thread, NULL, call_with_pending_cancellation, &objects));
    CHECK_INT(0, pthread_join(thread, &result));
    CHECK(result == &objects);
    CHECK_INT(6, clock_calls);
    CHECK_INT(5, memory.calls);

    netlib_retry_budget_options_free(budget), netlib_breaker_options_free(breaker);
    netlib_rate_options_free(rate), netlib_hedge_options_free(hedge);
    netlib_hedge_free(objects.hedge), netlib_rate_free(objects.rate);
    netlib_breaker_free(objects.breaker), netlib_retry_budget_free(objects.budget);
    netlib_store_free(store);
}

int main(void) {
    a_pending_cancellation_does_not_take_effect_in_a_callback();
    return report("overload cancellation");
}
