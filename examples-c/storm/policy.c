/* Implements policy.h. */
#include "policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct policy POLICIES[] = {
    {"none", "no retries", NETLIB_RETRY_DISABLED, 0.0, NETLIB_JITTER_NONE},
    {"immediate", "3 immediate retries", 3, 0.0, NETLIB_JITTER_NONE},
    {"backoff", "exponential backoff", 3, 0.1, NETLIB_JITTER_NONE},
    {"jitter", "backoff with full jitter", 3, 0.1, NETLIB_JITTER_FULL},
};
const size_t POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES;

const struct policy *policy_find(const char *name) {
    for (size_t i = 0; i < POLICY_COUNT; i++)
        if (strcmp(POLICIES[i].name, name) == 0) return &POLICIES[i];
    return NULL;
}

/* Ends the program if a call of netlib has failed, which would be a mistake in this program. */
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

void world_init(struct world *world, const double *now, uint64_t seed) {
    netlib_error *err = NULL;
    *world = (struct world){.now = now, .random = {seed}};
    check(netlib_parse_url("https://server.example/", NETLIB_NTS, &world->url, &err), &err);
    netlib_headers *headers = NULL;
    check(netlib_headers_new(NULL, 0, &headers, &err), &err);
    check(netlib_response_new("GET", 200, headers, &world->success, &err), &err);
    check(netlib_response_new("GET", 503, headers, &world->unavailable, &err), &err);
    netlib_headers_free(headers);
    check(netlib_error_new(NETLIB_CONNECT_FAILED, "connection refused", NULL, &world->refused, &err), &err);
    check(netlib_error_new(NETLIB_READ_TIMEOUT, "no response in time", NULL, &world->timeout, &err), &err);
}

void world_free(struct world *world) {
    netlib_error_free(world->timeout), netlib_error_free(world->refused);
    netlib_response_free(world->unavailable), netlib_response_free(world->success);
    netlib_url_free(world->url);
}

void process_init(struct process *process, struct world *world, const struct policy *policy) {
    netlib_error *err = NULL;
    *process = (struct process){.world = world};
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    netlib_retry_options_set_total(options, policy->retries);
    netlib_retry_options_set_backoff_factor(options, policy->backoff_factor);
    netlib_retry_options_set_jitter_kind(options, policy->jitter);
    netlib_retry_options_set_random(options, read_random, world, NULL);
    check(netlib_retry_new(options, &process->retry, &err), &err);
    netlib_retry_options_free(options);
}

void process_free(struct process *process) { netlib_retry_free(process->retry); }

bool process_decide(const struct process *process, netlib_decision **decision, enum outcome outcome, double *delay) {
    const struct world *world = process->world;
    const netlib_response *response = outcome == OUTCOME_SUCCESS       ? world->success
                                      : outcome == OUTCOME_UNAVAILABLE ? world->unavailable
                                                                       : NULL;
    const netlib_error *failure = outcome == OUTCOME_REFUSED   ? world->refused
                                  : outcome == OUTCOME_TIMEOUT ? world->timeout
                                                               : NULL;
    const netlib_retry *retry = *decision != NULL ? netlib_decision_retry(*decision) : process->retry;
    netlib_decision *next = NULL;
    netlib_error *err = NULL;
    netlib_status status = netlib_retry_decide(retry, "GET", world->url, response, failure, NULL, &next, &err);
    netlib_decision_free(*decision);
    *decision = next;
    if (status != NETLIB_OK && status != NETLIB_MAX_RETRY && status != netlib_error_status(failure))
        check(status, &err);
    netlib_error_free(err);
    *delay = netlib_decision_delay(next);
    return status == NETLIB_OK && netlib_decision_action(next) == NETLIB_ACTION_RETRY;
}
