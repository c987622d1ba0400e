/* The policies that the simulation compares. Every decision is made by netlib. */
#ifndef STORM_POLICY_H
#define STORM_POLICY_H

#include <netlib.h>
#include <stdbool.h>
#include <stddef.h>

#include "random.h"

/* The upper bound of a budget on the retries of a process: `burst`, plus `ratio` for each first attempt, plus
 * `per_second` for each second. With `returns_cost`, a retry that succeeds does not count. If `in_flight` is not 0, the
 * bound limits the retries in flight: this fraction of all requests in flight, or `burst` if that is more. */
struct bound {
    double ratio, burst, per_second, in_flight;
    bool returns_cost;
    const char *text;
};

struct policy {
    const char *name, *title;
    int32_t retries;
    double backoff_factor;
    enum netlib_jitter_kind jitter;
    const struct bound *bound; /* NULL: no budget */
    enum netlib_budget_preset preset;
    bool has_breaker, has_hedge;
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
    OUTCOME_OPEN,        /* the breaker did not permit the attempt, which was not sent */
};

/* The objects that all processes share. */
struct world {
    double now; /* the virtual time in seconds */
    struct random random;
    netlib_url *url;
    netlib_response *success, *unavailable;
    netlib_error *refused, *timeout, *open;
};

void world_init(struct world *world, uint64_t seed);
void world_free(struct world *world);

/* The objects that the clients of one process share. */
struct process {
    struct world *world;
    const struct policy *policy;
    netlib_retry *retry;
    netlib_retry_budget *budget;
    netlib_breaker *breaker;
    netlib_hedge *hedge;

    /* Counted by the simulation itself, to check the bound of the budget. */
    double first, retries, returned;
    double in_flight, retries_in_flight;
    double used; /* the largest fraction of the bound that was used; above 1 if the bound was exceeded */
};

void process_init(struct process *process, struct world *world, const struct policy *policy);
void process_free(struct process *process);

/* The state of a request. */
struct call {
    netlib_decision *decision; /* about the last attempt; NULL before the first decision */
    netlib_hedge_plan *plan;   /* NULL without hedging, and after the plan has ended */
    double start;              /* the time at which the plan began */
    uint64_t lease;            /* of the budget for a first attempt in flight; 0 for none */
    int32_t copies;            /* the number of retries and hedges */
};

/* Begins a request. The caller then sends the first attempt. */
void call_begin(struct call *call, struct process *process);

/* Returns true if the breaker permits an attempt, and stores the permit. */
bool call_permits(const struct process *process, uint64_t *permit);

/* The steps that can follow an event. */
enum next {
    NEXT_WAIT,  /* another attempt of the request is running */
    NEXT_COPY,  /* send another attempt at once */
    NEXT_RETRY, /* send another attempt after a delay */
    NEXT_END,   /* nothing: the outcome is the result of the request */
};

/* Decides the next step after the outcome of an attempt. `number` is the attempt's number in the plan, and 0 for a
 * retry. For NEXT_RETRY, `*delay` is the wait in seconds. */
enum next call_decide(struct call *call, struct process *process, enum outcome outcome, int32_t number, uint64_t permit,
                      double *delay);

/* Decides the next step when the time of `call_timer` is reached. */
enum next call_time_out(struct call *call, struct process *process);

/* Returns the time of the next hedge; infinity for none. */
double call_timer(const struct call *call);

/* Releases the objects of a request. */
void call_end(struct call *call, struct process *process);

#endif
