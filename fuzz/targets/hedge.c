/* Fuzzes hedging: reads the input as settings and as the events of requests, in any order, with times that go
 * backwards, and with attempts that do not exist. A model in this file predicts each action, each timer and the tokens
 * of the budget. The delay of a key differs from the exact percentile of the recorded latencies by at most 5 %. */
#include "../fuzz.h"

#include <math.h>

enum { MOST_ATTEMPTS = 10, COST = 100, CAPACITY = 1000, MOST_LATENCIES = 900 };

/* The model of a `netlib_hedge` with its budget. */
struct policy {
    double fixed_delay; /* NAN: the delay is a percentile */
    double percentile;
    int32_t minimum, most_attempts;
    bool has_budget;
    double tokens, latencies[MOST_LATENCIES];
    int32_t latency_count;
};

enum state { NEVER_STARTED, RUNNING, FAILED_BEFORE, CANCELLED };

/* The model of a plan. */
struct request {
    enum state attempts[MOST_ATTEMPTS + 2]; /* by number, from 1 */
    double starts[MOST_ATTEMPTS + 2];
    int32_t started, most;
    double now, delay, due, hold_until;
    bool ended, denied, records;
    enum netlib_hedge_action result;
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the exact percentile of the latencies; infinity if there are not enough of them. */
static double exact_delay(const struct policy *policy) {
    if (!isnan(policy->fixed_delay)) return policy->fixed_delay;
    if (policy->latency_count < policy->minimum) return INFINITY;
    double sorted[MOST_LATENCIES];
    memcpy(sorted, policy->latencies, sizeof sorted);
    qsort(sorted, (size_t)policy->latency_count, sizeof sorted[0], compare);
    double exact = sorted[(int32_t)ceil(policy->percentile * policy->latency_count / 100) - 1];
    return exact < 1e-4 ? 1e-4 : exact > 1e3 ? 1e3 : exact;
}

static int32_t running(const struct request *request) {
    int32_t count = 0;
    for (int32_t i = 1; i <= request->started; i++) count += request->attempts[i] == RUNNING;
    return count;
}

static void model_attempt(struct request *request) {
    request->started++;
    request->attempts[request->started] = RUNNING;
    request->starts[request->started] = request->now;
    request->due = request->started < request->most ? request->now + request->delay : INFINITY;
}

static enum netlib_hedge_action model_wait(struct request *request) {
    if (running(request) > 0 || request->due < INFINITY) return NETLIB_HEDGE_ACTION_WAIT;
    request->ended = true;
    return request->result = NETLIB_HEDGE_ACTION_FAILED;
}

static enum netlib_hedge_action model_copy(struct policy *policy, struct request *request) {
    if (policy->has_budget && policy->tokens < COST) {
        request->denied = true;
        request->most = request->started;
        request->due = INFINITY;
        return model_wait(request);
    }
    if (policy->has_budget) policy->tokens -= COST;
    model_attempt(request);
    return NETLIB_HEDGE_ACTION_START;
}

static enum netlib_hedge_action model_end(struct policy *policy, struct request *request, int32_t attempt,
                                          bool success) {
    double oldest = INFINITY;
    for (int32_t i = 1; i <= request->started; i++) {
        if (request->attempts[i] == RUNNING) oldest = fmin(oldest, request->starts[i]);
    }
    if (success && request->records) policy->latencies[policy->latency_count++] = request->now - oldest;
    if (success && policy->has_budget && attempt != 1) policy->tokens = fmin(CAPACITY, policy->tokens + COST);
    bool others = running(request) > 1;
    for (int32_t i = 1; i <= request->started; i++) {
        if (request->attempts[i] == RUNNING) request->attempts[i] = CANCELLED;
    }
    request->ended = true;
    request->due = INFINITY;
    request->result = success ? NETLIB_HEDGE_ACTION_DONE : NETLIB_HEDGE_ACTION_FAILED;
    return others ? NETLIB_HEDGE_ACTION_CANCEL_OTHERS : request->result;
}

/* Returns the action that the plan must store. `wait` is NAN unless the server pushes back. */
static enum netlib_hedge_action model_step(struct policy *policy, struct request *request, int32_t event,
                                           int32_t attempt, double wait, double seconds) {
    request->now = fmax(request->now, seconds);
    if (request->ended) return request->result;
    if (event == NETLIB_HEDGE_EVENT_TIMER)
        return request->now >= request->due ? model_copy(policy, request) : NETLIB_HEDGE_ACTION_WAIT;
    if (event == NETLIB_HEDGE_EVENT_SUCCESS) return model_end(policy, request, attempt, true);
    if (event == NETLIB_HEDGE_EVENT_FATAL) return model_end(policy, request, attempt, false);
    request->attempts[attempt] = FAILED_BEFORE;
    if (wait < 0) request->most = request->started;
    if (wait >= 0) request->hold_until = fmax(request->hold_until, request->now + wait);
    request->due = request->started < request->most ? request->hold_until : INFINITY;
    if (isnan(wait) && request->due <= request->now) return model_copy(policy, request);
    return model_wait(request);
}

/* Returns a time: often one of the last ones, sometimes an invalid one. */
static double take_seconds(struct input *input) {
    static const double special[] = {0.0, -0.0, -1.0, NAN, INFINITY, -INFINITY, 1e-9, 1e12};
    uint32_t two = take_two(input);
    return two >= 0xff00 ? special[two % 8] : two / 1024.0;
}

static void run_request(const netlib_hedge *hedge, netlib_retry_budget *budget, struct policy *policy,
                        struct input *input) {
    netlib_error *err = NULL;
    netlib_hedge_plan *plan = NULL;
    bool allowed = take_byte(input) % 8 != 0;
    double exact = exact_delay(policy), estimate = netlib_hedge_delay(hedge, "key", 3);
    MUST(estimate == exact || fabs(estimate / exact - 1) <= 0.05 + 1e-9);
    OK(netlib_hedge_start(hedge, "key", 3, allowed ? "GET" : "POST", &plan, &err));
    struct request request = {.most = allowed ? policy->most_attempts : 1, .delay = allowed ? estimate : INFINITY};
    request.records = allowed && isnan(policy->fixed_delay);
    model_attempt(&request);
    for (int events = 0; events < 40; events++) {
        MUST(netlib_hedge_plan_timer(plan) == request.due);
        MUST(netlib_hedge_plan_attempts(plan) == request.started);
        MUST((netlib_hedge_plan_denied(plan) != NULL) == request.denied);
        MUST(budget == NULL || netlib_retry_budget_left(budget, "key", 3) == policy->tokens);
        uint8_t kind = take_byte(input);
        if (kind >= 0xf0 || input->len == 0) break;
        int32_t event = kind % 6, attempt = take_byte(input) % 16 - 1;
        double wait = NAN;
        /* Half of the timers come when they are due. */
        double seconds = event == NETLIB_HEDGE_EVENT_TIMER && kind >= 0x80 && request.due < INFINITY
                             ? request.due
                             : take_seconds(input);
        bool is_pushback = event == 4;
        if (is_pushback) wait = kind & 8 ? take_seconds(input) : -take_seconds(input);
        if (is_pushback) event = NETLIB_HEDGE_EVENT_FAILURE;
        bool known = attempt >= 1 && attempt <= request.started;
        bool valid =
            event <= NETLIB_HEDGE_EVENT_FATAL && isfinite(seconds) && seconds >= 0 &&
            (!is_pushback || fabs(wait) <= 1e9) &&
            (event == NETLIB_HEDGE_EVENT_TIMER || (known && (request.ended || request.attempts[attempt] == RUNNING)));
        enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_FAILED;
        netlib_status status =
            is_pushback ? netlib_hedge_plan_pushback(plan, attempt, wait, seconds, &action, &err)
                        : netlib_hedge_plan_step(plan, (enum netlib_hedge_event)event, attempt, seconds, &action, &err);
        MUST((ONE_OF(status, 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK) == valid);
        MUST(action ==
             (valid ? model_step(policy, &request, event, attempt, wait, seconds) : NETLIB_HEDGE_ACTION_WAIT));
    }
    netlib_hedge_plan_free(plan);
    MUST(budget == NULL || netlib_retry_budget_left(budget, "key", 3) == policy->tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_hedge *hedge = NULL;
    netlib_retry_budget *budget = NULL;
    struct input input = {data, size};
    struct policy policy = {.fixed_delay = NAN, .tokens = CAPACITY};
    netlib_hedge_options *options = netlib_hedge_options_new();
    uint8_t rule = take_byte(&input);
    if (rule % 2 == 0) {
        policy.fixed_delay = take_byte(&input) / 64.0;
        netlib_hedge_options_set_delay(options, policy.fixed_delay);
    } else {
        policy.percentile = 50 + take_byte(&input) % 50;
        policy.minimum = 1 + rule / 8;
        netlib_hedge_options_set_percentile(options, policy.percentile, policy.minimum);
    }
    policy.most_attempts = 2 + take_byte(&input) % (MOST_ATTEMPTS - 1);
    netlib_hedge_options_set_max_attempts(options, policy.most_attempts);
    policy.has_budget = rule % 4 < 2;
    if (policy.has_budget) {
        netlib_retry_budget_options *limits = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_tokens(limits, CAPACITY, COST, COST, 1);
        netlib_retry_budget_options_set_clock(limits, fixed_clock, NULL, NULL);
        OK(netlib_retry_budget_new(limits, &budget, &err));
        netlib_retry_budget_options_free(limits);
        netlib_hedge_options_set_budget(options, budget);
    }
    OK(netlib_hedge_new(options, &hedge, &err));
    netlib_hedge_options_free(options);
    while (input.len > 0 && policy.latency_count < MOST_LATENCIES) run_request(hedge, budget, &policy, &input);
    netlib_hedge_free(hedge);
    netlib_retry_budget_free(budget);
    return 0;
}
