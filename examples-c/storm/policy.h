/* The policies that the simulation compares. Every decision is made by netlib. */
#ifndef STORM_POLICY_H
#define STORM_POLICY_H

#include <netlib.h>
#include <stdbool.h>
#include <stddef.h>

#include "random.h"

struct policy {
    const char *name, *title;
    int32_t retries;
    double backoff_factor;
    enum netlib_jitter_kind jitter;
};

extern const struct policy POLICIES[];
extern const size_t POLICY_COUNT;

/* Returns the policy with this name, or NULL. */
const struct policy *policy_find(const char *name);

/* The outcomes of an attempt. */
enum outcome {
    OUTCOME_SUCCESS,     /* a response with the status 200 */
    OUTCOME_UNAVAILABLE, /* a response with the status 503 */
    OUTCOME_REFUSED,     /* the connection was refused */
    OUTCOME_TIMEOUT,     /* no response within the client's timeout */
};

/* The objects that all processes share. */
struct world {
    const double *now; /* the virtual time in seconds */
    struct random random;
    netlib_url *url;
    netlib_response *success, *unavailable;
    netlib_error *refused, *timeout;
};

void world_init(struct world *world, const double *now, uint64_t seed);
void world_free(struct world *world);

/* What the clients in one process share. */
struct process {
    struct world *world;
    netlib_retry *retry;
};

void process_init(struct process *process, struct world *world, const struct policy *policy);
void process_free(struct process *process);

/* Decides what follows an attempt. `*decision` is the decision about the last attempt of the request, or NULL. Returns
 * true if another attempt follows after `*delay` seconds. */
bool process_decide(const struct process *process, netlib_decision **decision, enum outcome outcome, double *delay);

#endif
