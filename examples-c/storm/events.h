/* The future events of a simulation, ordered by virtual time. */
#ifndef STORM_EVENTS_H
#define STORM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

enum event_kind {
    EVENT_ARRIVAL, /* a client begins a request */
    EVENT_RETRY,   /* the wait of a request before its next attempt ends */
    EVENT_SERVED,  /* the server has finished an attempt */
    EVENT_REFUSED, /* the client receives the refusal of an attempt */
    EVENT_TIMEOUT, /* the client's timeout of an attempt ends */
    EVENT_TIMER,   /* the hedging timer of a request ends */
    EVENT_TRIGGER, /* the trigger begins or ends */
};

struct event {
    int64_t time;   /* in nanoseconds since the simulation began */
    uint64_t order; /* the number of the event: events with equal times occur in the order in which they were added */
    enum event_kind kind;
    uint32_t subject;    /* the attempt or request; 0 if the kind has none */
    uint32_t generation; /* the event is ignored if the generation of the subject has changed */
};

struct events {
    struct event *heap;
    size_t count, size;
    uint64_t added;
};

void events_add(struct events *events, int64_t time, enum event_kind kind, uint32_t subject, uint32_t generation);

/* Removes and returns the earliest event. There must be one. */
struct event events_take(struct events *events);

void events_free(struct events *events);

/* Returns memory for `count` elements of `size` bytes, with the contents of `old`; ends the program on failure. */
void *storm_realloc(void *old, size_t count, size_t size);

#endif
