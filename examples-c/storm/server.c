/* Implements server.h. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

const struct model MODELS[] = {
    {"queue", SERVER_QUEUE, 10, 10 * MS, 1010, 500 * MS, 700.0, 10, "a queue of 1,000 requests and ten workers"},
    /* The paper's web application sends 280 queries/s to a database that can answer 300 queries/s. In this model, the
     * queries share the time of the database: a query takes 100 ms while the database has spare capacity, and 10 s when
     * 3,000 queries run. The application times out after one second. */
    {"database", SERVER_SHARED, 30, 100 * MS, 3000, 1000 * MS, 210.0, 3,
     "the database of Bronson et al., \"Metastable Failures in Distributed Systems\", HotOS 2021, at 70 % load"},
    {"database-280", SERVER_SHARED, 30, 100 * MS, 3000, 1000 * MS, 280.0, 3,
     "the same database at the load of the paper, 93 %"},
    /* The service of the post needs a network delay of 10 ms on average, and up to 40 ms of work. It has no limit. */
    {"service", SERVER_UNLIMITED, 1, 20 * MS, UINT32_MAX, 500 * MS, 700.0, 10,
     "the service of M. Brooker, \"Fixing retries with token buckets and circuit breakers\", 2022"},
};
const size_t MODEL_COUNT = sizeof MODELS / sizeof *MODELS;

const struct model *model_find(const char *name) {
    for (size_t i = 0; i < MODEL_COUNT; i++)
        if (strcmp(MODELS[i].name, name) == 0) return &MODELS[i];
    return NULL;
}

double model_capacity(const struct model *model) { return model->workers * 1e9 / (double)model->service; }

void server_init(struct server *server, const struct model *model, struct events *events, uint64_t seed) {
    *server = (struct server){.model = model, .events = events, .random = {seed}, .slowness = 1.0};
    if (model->kind == SERVER_UNLIMITED) return;
    server->waiting = storm_realloc(NULL, model->limit, sizeof *server->waiting);
    server->targets = storm_realloc(NULL, model->limit, sizeof *server->targets);
}

static uint32_t ring_index(const struct server *server, uint32_t index) {
    return (server->first + index) % server->model->limit;
}

static uint32_t take_first(struct server *server) {
    uint32_t attempt = server->waiting[server->first];
    server->first = ring_index(server, 1);
    server->count--;
    return attempt;
}

/* Assigns waiting attempts to idle workers. */
static void start_workers(struct server *server, int64_t now) {
    while (!server->is_stalled && server->busy < server->model->workers && server->count > 0) {
        int64_t time = random_exponential(&server->random, server->model->service);
        server->busy++;
        events_add(server->events, now + (int64_t)((double)time * server->slowness), EVENT_SERVED, take_first(server),
                   0);
    }
}

/* Returns the work that is done for each running attempt in a nanosecond. */
static double speed(const struct server *server) {
    if (server->is_stalled || server->count == 0) return 0.0;
    double share = (double)server->model->workers / server->count;
    return (share < 1.0 ? share : 1.0) / server->slowness;
}

/* Adds the progress since the last call. Call it before the speed changes. */
static void advance(struct server *server, int64_t now) {
    server->progress += (double)(now - server->updated) * speed(server);
    server->updated = now;
}

/* Schedules the end of the attempt that began first. Call it after the speed has changed. */
static void schedule_end(struct server *server) {
    server->generation++;
    if (speed(server) == 0.0) return;
    double left = (double)server->targets[server->first] - server->progress;
    int64_t wait = left > 0.0 ? (int64_t)(left / speed(server)) + 1 : 0;
    events_add(server->events, server->updated + wait, EVENT_SERVED, server->waiting[server->first],
               server->generation);
}

/* Returns the time of an attempt of Brooker's service: a network with exponential delay, mean 10 ms, and a server that
 * needs up to 40 ms. */
static int64_t unlimited_time(struct server *server) {
    double work = random_unit(&server->random) * 2.0 * (double)server->model->service;
    return random_exponential(&server->random, 10 * MS) + (int64_t)(work * server->slowness);
}

bool server_submit(struct server *server, int64_t now, uint32_t attempt) {
    const struct model *model = server->model;
    if (model->kind == SERVER_UNLIMITED) {
        if (server->is_stalled) return false;
        events_add(server->events, now + unlimited_time(server), EVENT_SERVED, attempt, 0);
        return true;
    }
    if (server->count + (uint32_t)server->busy >= model->limit) return false;
    if (model->kind == SERVER_SHARED) {
        advance(server, now);
        server->targets[ring_index(server, server->count)] = (int64_t)server->progress + model->service;
    }
    server->waiting[ring_index(server, server->count++)] = attempt;
    if (model->kind == SERVER_SHARED) schedule_end(server);
    else start_workers(server, now);
    return true;
}

bool server_finish(struct server *server, const struct event *event, uint32_t *attempt) {
    *attempt = event->subject;
    switch (server->model->kind) {
    case SERVER_UNLIMITED: return true;
    case SERVER_QUEUE:
        server->busy--;
        start_workers(server, event->time);
        return true;
    case SERVER_SHARED:
        if (event->generation != server->generation) return false;
        advance(server, event->time);
        take_first(server);
        schedule_end(server);
        return true;
    }
    return false;
}

bool server_fails(struct server *server) { return random_unit(&server->random) < server->failing; }

void server_set(struct server *server, int64_t now, bool is_stalled, double slowness, double failing) {
    if (server->model->kind == SERVER_SHARED) advance(server, now);
    server->is_stalled = is_stalled, server->slowness = slowness, server->failing = failing;
    if (server->model->kind == SERVER_SHARED) schedule_end(server);
    if (server->model->kind == SERVER_QUEUE) start_workers(server, now);
}

void server_free(struct server *server) {
    free(server->waiting);
    free(server->targets);
}
