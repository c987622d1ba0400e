/* One simulation: clients that begin requests at random times, independently of the server (an open loop), a server,
 * and a trigger that disturbs both for some seconds. */
#ifndef STORM_SIMULATION_H
#define STORM_SIMULATION_H

#include "policy.h"
#include "server.h"

enum trigger_kind {
    TRIGGER_SPIKE,     /* `size` times the load */
    TRIGGER_RAMP,      /* a load that grows to `size` times the load */
    TRIGGER_OUTAGE,    /* a server that accepts attempts until it is full, but processes none */
    TRIGGER_BROWN_OUT, /* a server that needs `size` times the time */
    TRIGGER_FAILING,   /* a server that fails the fraction `size` of its responses */
};

struct trigger {
    const char *name;
    enum trigger_kind kind;
    double size;
};

extern const struct trigger TRIGGERS[];
extern const size_t TRIGGER_COUNT;

/* Returns the trigger with this name, or NULL. */
const struct trigger *trigger_find(const char *name);

enum {
    CLIENTS = 1000,
    BASELINE = 10, /* the second at which the measurement of the level before the trigger begins */
    START = 20,    /* the second at which the trigger begins */
    WINDOW = 5,    /* seconds over which the goodput is averaged, to find the time of recovery */
    STEADY = 10,   /* the number of consecutive windows with the earlier goodput after which the server has recovered */
};

struct scenario {
    const struct model *model;
    const struct policy *policy;
    struct trigger trigger;
    int lasts;   /* the seconds from the beginning to the end of the trigger */
    int after;   /* the seconds from the end of the trigger to the end of the simulation */
    double load; /* first attempts per second */
    uint32_t processes;
    uint64_t seed;
};

struct result {
    int seconds;
    uint32_t *first; /* for each second, the number of first attempts */
    uint32_t *sent;  /* for each second, the number of attempts */
    uint32_t *good;  /* for each second, the number of requests that succeeded */
    double retries;  /* the number of retries and hedges */
    double used;     /* the largest fraction of the budget's bound that a process used; above 1 if one exceeded it */
};

/* Returns the scenario in which the trigger lasts ten seconds, with the load and the processes of the model. */
struct scenario scenario_default(const struct model *model, const struct policy *policy, const struct trigger *trigger);

void simulate(const struct scenario *scenario, struct result *result);

/* Returns the mean of counts per second from the second `from` to before the second `to`. */
double result_mean(const uint32_t *counts, int from, int to);

/* Returns the number of retries and hedges, divided by the number of first attempts. */
double result_extra(const struct result *result, int from, int to);

/* Returns the seconds from the end of the trigger until the goodput, divided by the arrivals, is at least 95 % of the
 * level before the trigger for ten seconds; -1 if it does not return before the end of the simulation. */
int result_recovery(const struct result *result, const struct scenario *scenario);

void result_free(struct result *result);

#endif
