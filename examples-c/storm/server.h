/* Models of a server. The server does not know the timeouts of its clients: an attempt whose client has timed out stays
 * in the queue, and is processed in vain. This wasted work can keep a server overloaded after the cause has ended. */
#ifndef STORM_SERVER_H
#define STORM_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "random.h"

enum server_kind {
    SERVER_QUEUE,     /* workers take attempts from a queue; the time of the work is exponentially distributed */
    SERVER_SHARED,    /* attempts run at once, and share the workers equally; each needs the same time */
    SERVER_UNLIMITED, /* every attempt has its own worker at every load */
};

struct model {
    const char *name;
    enum server_kind kind;
    int workers;
    int64_t service;    /* nanoseconds of a worker's time that an attempt needs, on average */
    uint32_t limit;     /* the server refuses an attempt if this number of attempts wait or run */
    int64_t timeout;    /* nanoseconds that a client waits for the response to an attempt */
    double load;        /* first attempts per second */
    uint32_t processes; /* the clients belong to this number of processes */
    const char *source;
};

extern const struct model MODELS[];
extern const size_t MODEL_COUNT;

/* Returns the model with this name, or NULL. */
const struct model *model_find(const char *name);

/* Returns the number of attempts that the server can process in a second. */
double model_capacity(const struct model *model);

struct server {
    const struct model *model;
    struct events *events;
    struct random random;
    bool is_stalled; /* the server accepts attempts, but processes none */
    double slowness; /* the factor by which each attempt takes longer */
    double failing;  /* the fraction of the responses that are failures */

    uint32_t *waiting; /* a ring of `limit` waiting attempts; for SERVER_SHARED, of the running attempts */
    int64_t *targets;  /* for SERVER_SHARED, the value of `progress` at which each attempt of the ring ends */
    uint32_t first, count;
    int busy;
    double progress; /* for SERVER_SHARED, the work in ns done for an attempt that has run since time 0 */
    int64_t updated; /* the time at which `progress` was computed */
    uint32_t generation;
};

void server_init(struct server *server, const struct model *model, struct events *events, uint64_t seed);

/* Accepts an attempt, or returns false if the server is full. EVENT_SERVED with this attempt marks the end of an
 * accepted attempt. */
bool server_submit(struct server *server, int64_t now, uint32_t attempt);

/* Handles an EVENT_SERVED. Returns false if the event is outdated; otherwise stores the attempt that has ended. */
bool server_finish(struct server *server, const struct event *event, uint32_t *attempt);

/* Returns true if the next response is a failure. */
bool server_fails(struct server *server);

/* Changes the state of the server. */
void server_set(struct server *server, int64_t now, bool is_stalled, double slowness, double failing);

void server_free(struct server *server);

#endif
