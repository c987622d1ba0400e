/* Implements policy.h. */
#include "policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bounds follow from the values of the presets, which netlib.h states with their sources. */
static const struct bound AWS_2026 = {.ratio = 1.0 / 14.0,
                                      .burst = 500.0 / 14.0,
                                      .returns_cost = true,
                                      .text = "7.1 % + 35, retries that succeed are free"};
static const struct bound AWS_2020 = {
    .ratio = 0.1, .burst = 50.0, .returns_cost = true, .text = "10 % + 50, retries that succeed are free"};
static const struct bound GRPC = {.ratio = 0.1, .burst = 5.0, .text = "10 % + 5"};
static const struct bound FINAGLE = {.ratio = 0.2, .burst = 100.0, .per_second = 10.0, .text = "20 % + 100 + 10/s"};
static const struct bound ENVOY = {.burst = 3.0, .in_flight = 0.2, .text = "20 % of those in flight, at least 3"};

/* The key of the server in budgets, breakers and hedges. */
#define KEY "server.example"

#define JITTER 3, 0.1, NETLIB_JITTER_FULL

const struct policy POLICIES[] = {
    {.name = "none", .title = "no retries", .retries = NETLIB_RETRY_DISABLED},
    {"immediate", "3 immediate retries", 3, 0.0, NETLIB_JITTER_NONE, NULL, 0, false, false},
    {"backoff", "exponential backoff", 3, 0.1, NETLIB_JITTER_NONE, NULL, 0, false, false},
    {"jitter", "backoff with full jitter", JITTER, NULL, 0, false, false},
    {"aws-2026", "jitter and budget AWS_2026", JITTER, &AWS_2026, NETLIB_BUDGET_AWS_2026, false, false},
    {"aws-2020", "jitter and budget AWS_2020", JITTER, &AWS_2020, NETLIB_BUDGET_AWS_2020, false, false},
    {"grpc", "jitter and budget GRPC", JITTER, &GRPC, NETLIB_BUDGET_GRPC, false, false},
    {"finagle", "jitter and budget FINAGLE", JITTER, &FINAGLE, NETLIB_BUDGET_FINAGLE, false, false},
    {"envoy", "jitter and budget ENVOY", JITTER, &ENVOY, NETLIB_BUDGET_ENVOY, false, false},
    {"breaker", "AWS_2026 and a breaker", JITTER, &AWS_2026, NETLIB_BUDGET_AWS_2026, true, false},
    {"hedge", "AWS_2026 and hedging", JITTER, &AWS_2026, NETLIB_BUDGET_AWS_2026, false, true},
};
const size_t POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES;

const struct policy *policy_find(const char *name) {
    for (size_t i = 0; i < POLICY_COUNT; i++)
        if (strcmp(POLICIES[i].name, name) == 0) return &POLICIES[i];
    return NULL;
}

/* Ends the program if a call of netlib has failed, which would be a bug in this program. */
static void check(netlib_status status, netlib_error **err) {
    if (status == NETLIB_OK) return;
    fprintf(stderr, "storm: %s\n", netlib_error_report(*err, NULL));
    exit(1);
}

static int32_t read_random(void *ctx, double *value) {
    struct world *world = ctx;
    *value = random_unit(&world->random);
    return 0;
}

static int32_t read_clock(void *ctx, double *seconds) {
    const struct world *world = ctx;
    *seconds = world->now;
    return 0;
}

void world_init(struct world *world, uint64_t seed) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    *world = (struct world){.random = {seed}};
    check(netlib_headers_new(NULL, 0, &headers, &err), &err);
    check(netlib_parse_url("https://server.example/", NETLIB_NTS, &world->url, &err), &err);
    check(netlib_response_new("GET", 200, headers, &world->success, &err), &err);
    check(netlib_response_new("GET", 503, headers, &world->unavailable, &err), &err);
    check(netlib_error_new(NETLIB_CONNECT_FAILED, "connection refused", NULL, &world->refused, &err), &err);
    check(netlib_error_new(NETLIB_READ_TIMEOUT, "no response in time", NULL, &world->timeout, &err), &err);
    check(netlib_error_new(NETLIB_BREAKER_OPEN, "the breaker is open", NULL, &world->open, &err), &err);
    netlib_headers_free(headers);
}

void world_free(struct world *world) {
    netlib_error_free(world->open), netlib_error_free(world->timeout), netlib_error_free(world->refused);
    netlib_response_free(world->unavailable), netlib_response_free(world->success);
    netlib_url_free(world->url);
}

static void make_budget(struct process *process, const struct policy *policy) {
    netlib_error *err = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_preset(options, policy->preset);
    netlib_retry_budget_options_set_clock(options, read_clock, process->world, NULL);
    check(netlib_retry_budget_new(options, &process->budget, &err), &err);
    netlib_retry_budget_options_free(options);
}

static void make_breaker(struct process *process) {
    netlib_error *err = NULL;
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_clock(options, read_clock, process->world, NULL);
    check(netlib_breaker_new(options, &process->breaker, &err), &err);
    netlib_breaker_options_free(options);
}

static void make_hedge(struct process *process) {
    netlib_error *err = NULL;
    netlib_hedge_options *options = netlib_hedge_options_new();
    netlib_hedge_options_set_budget(options, process->budget);
    check(netlib_hedge_new(options, &process->hedge, &err), &err);
    netlib_hedge_options_free(options);
}

void process_init(struct process *process, struct world *world, const struct policy *policy) {
    netlib_error *err = NULL;
    *process = (struct process){.world = world, .policy = policy};
    if (policy->bound != NULL) make_budget(process, policy);
    if (policy->has_breaker) make_breaker(process);
    if (policy->has_hedge) make_hedge(process);
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    netlib_retry_options_set_total(options, policy->retries);
    netlib_retry_options_set_backoff_factor(options, policy->backoff_factor);
    netlib_retry_options_set_jitter_kind(options, policy->jitter);
    netlib_retry_options_set_random(options, read_random, world, NULL);
    netlib_retry_options_set_budget(options, process->budget, KEY);
    check(netlib_retry_new(options, &process->retry, &err), &err);
    netlib_retry_options_free(options);
}

void process_free(struct process *process) {
    netlib_retry_free(process->retry);
    netlib_hedge_free(process->hedge), netlib_breaker_free(process->breaker);
    netlib_retry_budget_free(process->budget);
}

/* Counts a retry or a hedge that netlib has granted, and compares the counts with the bound of the budget. */
static void count_copy(struct call *call, struct process *process) {
    const struct bound *bound = process->policy->bound;
    process->retries++;
    if (call->copies++ == 0) process->retries_in_flight++;
    if (bound == NULL) return;
    double spent = process->retries - (bound->returns_cost ? process->returned : 0.0);
    double allowed = bound->burst + bound->ratio * process->first + bound->per_second * process->world->now;
    if (bound->in_flight > 0.0) {
        spent = process->retries_in_flight;
        allowed = fmax(bound->burst, bound->in_flight * process->in_flight);
    }
    process->used = fmax(process->used, spent / allowed);
}

void call_begin(struct call *call, struct process *process) {
    netlib_error *err = NULL;
    *call = (struct call){.start = process->world->now};
    process->first++;
    process->in_flight++;
    if (process->hedge != NULL) {
        check(netlib_hedge_start(process->hedge, KEY, NETLIB_NTS, "GET", &call->plan, &err), &err);
    } else if (process->policy->bound != NULL && process->policy->bound->in_flight > 0.0) {
        /* This budget must know the first attempts in flight, but netlib_retry_decide is called only when they end. */
        enum netlib_budget_kind kind = NETLIB_BUDGET_REQUEST;
        check(netlib_retry_budget_ask(process->budget, KEY, NETLIB_NTS, kind, &call->lease, &err), &err);
    }
}

bool call_permits(const struct process *process, uint64_t *permit) {
    double seconds = 0.0;
    netlib_error *err = NULL;
    *permit = 0;
    if (process->breaker == NULL) return true;
    netlib_status status = netlib_breaker_ask(process->breaker, KEY, NETLIB_NTS, permit, &seconds, &err);
    if (status != NETLIB_BREAKER_OPEN) check(status, &err);
    netlib_error_free(err);
    return status == NETLIB_OK;
}

/* Reports an event to the plan, and returns the next step. */
static enum next follow(struct call *call, struct process *process, enum netlib_hedge_event event, int32_t number) {
    netlib_error *err = NULL;
    enum netlib_hedge_action action;
    double seconds = process->world->now - call->start;
    check(netlib_hedge_plan_step(call->plan, event, number, seconds, &action, &err), &err);
    if (action == NETLIB_HEDGE_ACTION_WAIT) return NEXT_WAIT;
    if (action != NETLIB_HEDGE_ACTION_START) return NEXT_END;
    count_copy(call, process);
    return NEXT_COPY;
}

/* Asks the retry policy, which asks the budget before it grants a retry. */
static enum next decide(struct call *call, struct process *process, enum outcome outcome, double *delay) {
    const struct world *world = process->world;
    const netlib_response *const responses[] = {world->success, world->unavailable, NULL, NULL, NULL};
    const netlib_error *const errors[] = {NULL, NULL, world->refused, world->timeout, world->open};
    const netlib_retry *retry = call->decision != NULL ? netlib_decision_retry(call->decision) : process->retry;
    netlib_decision *next = NULL;
    netlib_error *err = NULL;
    netlib_status status =
        netlib_retry_decide(retry, "GET", world->url, responses[outcome], errors[outcome], NULL, &next, &err);
    netlib_decision_free(call->decision);
    call->decision = next;
    if (status != NETLIB_MAX_RETRY && status != netlib_error_status(errors[outcome])) check(status, &err);
    netlib_error_free(err);
    *delay = netlib_decision_delay(next);
    return status == NETLIB_OK && netlib_decision_action(next) == NETLIB_ACTION_RETRY ? NEXT_RETRY : NEXT_END;
}

enum next call_decide(struct call *call, struct process *process, enum outcome outcome, int32_t number, uint64_t permit,
                      double *delay) {
    bool succeeded = outcome == OUTCOME_SUCCESS;
    netlib_breaker_report(process->breaker, permit, succeeded ? NETLIB_REPORT_SUCCESS : NETLIB_REPORT_FAILURE);
    netlib_retry_budget_report(process->budget, call->lease, NETLIB_REPORT_NONE);
    call->lease = 0;
    if (succeeded && number != 1 && call->copies > 0) process->returned++;
    if (call->plan != NULL) {
        enum netlib_hedge_event event = succeeded ? NETLIB_HEDGE_EVENT_SUCCESS : NETLIB_HEDGE_EVENT_FAILURE;
        enum next next = follow(call, process, event, number);
        if (next != NEXT_END) return next;
        netlib_hedge_plan_free(call->plan);
        call->plan = NULL;
    }
    enum next next = decide(call, process, outcome, delay);
    if (next == NEXT_RETRY) count_copy(call, process);
    return next;
}

double call_timer(const struct call *call) {
    return call->plan != NULL ? call->start + netlib_hedge_plan_timer(call->plan) : INFINITY;
}

enum next call_time_out(struct call *call, struct process *process) {
    if (call->plan == NULL) return NEXT_WAIT;
    return follow(call, process, NETLIB_HEDGE_EVENT_TIMER, 0);
}

void call_end(struct call *call, struct process *process) {
    process->in_flight--;
    if (call->copies > 0) process->retries_in_flight--;
    netlib_decision_free(call->decision);
    netlib_hedge_plan_free(call->plan);
    *call = (struct call){0};
}
