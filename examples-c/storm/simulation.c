/* Implements simulation.h. */
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define REFUSAL INT64_C(1000000) /* the time after which a client knows that the server refused an attempt */

const struct trigger TRIGGERS[] = {
    {"spike", TRIGGER_SPIKE, 3.0},         {"ramp", TRIGGER_RAMP, 3.0},        {"outage", TRIGGER_OUTAGE, 0.0},
    {"brown-out", TRIGGER_BROWN_OUT, 3.0}, {"failing", TRIGGER_FAILING, 0.01},
};
const size_t TRIGGER_COUNT = sizeof TRIGGERS / sizeof *TRIGGERS;

const struct trigger *trigger_find(const char *name) {
    for (size_t i = 0; i < TRIGGER_COUNT; i++)
        if (strcmp(TRIGGERS[i].name, name) == 0) return &TRIGGERS[i];
    return NULL;
}

enum { NO_INDEX = UINT32_MAX };

struct attempt {
    uint32_t request;            /* NO_INDEX after the client has timed out */
    uint32_t request_generation; /* if the request has another generation, it has ended without this attempt */
    uint32_t generation;
    uint32_t next_free;
    int32_t number; /* in the plan of the request; 0 for a retry */
    enum outcome refusal;
    uint64_t permit; /* of the breaker */
};

struct request {
    uint32_t process;
    uint32_t generation;
    uint32_t next_free;
    struct call call;
};

struct simulation {
    const struct scenario *scenario;
    struct result *result;
    struct events events;
    struct server server;
    struct world world;
    struct process *processes;
    struct random arrivals; /* its own generator, so that the policy does not change the arrivals */
    int64_t now;
    struct attempt *attempts;
    uint32_t attempt_count, free_attempt;
    struct request *requests;
    uint32_t request_count, free_request;
};

struct scenario scenario_default(const struct model *model, const struct policy *policy,
                                 const struct trigger *trigger) {
    return (struct scenario){model, policy, *trigger, 10, 90, model->load, model->processes, 1};
}

static bool is_triggered(const struct simulation *s) {
    return s->now >= START * SECOND && s->now < (START + s->scenario->lasts) * SECOND;
}

/* Returns the present load divided by the scenario's load. */
static double load_factor(const struct simulation *s) {
    const struct trigger *trigger = &s->scenario->trigger;
    if (!is_triggered(s)) return 1.0;
    if (trigger->kind == TRIGGER_SPIKE) return trigger->size;
    if (trigger->kind != TRIGGER_RAMP) return 1.0;
    return 1.0 + (trigger->size - 1.0) * (s->world.now - START) / s->scenario->lasts;
}

static void count(const struct simulation *s, uint32_t *counts) { counts[s->now / SECOND]++; }

static uint32_t new_request(struct simulation *s) {
    if (s->free_request == NO_INDEX) {
        s->requests = storm_realloc(s->requests, s->request_count + 1, sizeof *s->requests);
        s->requests[s->request_count] = (struct request){.next_free = NO_INDEX};
        s->free_request = s->request_count++;
    }
    uint32_t id = s->free_request;
    s->free_request = s->requests[id].next_free;
    return id;
}

static uint32_t new_attempt(struct simulation *s, uint32_t request) {
    if (s->free_attempt == NO_INDEX) {
        s->attempts = storm_realloc(s->attempts, s->attempt_count + 1, sizeof *s->attempts);
        s->attempts[s->attempt_count] = (struct attempt){.next_free = NO_INDEX};
        s->free_attempt = s->attempt_count++;
    }
    uint32_t id = s->free_attempt;
    s->free_attempt = s->attempts[id].next_free;
    s->attempts[id].request = request;
    s->attempts[id].request_generation = s->requests[request].generation;
    return id;
}

/* Releases an attempt that neither the server nor the network holds any more. */
static void release_attempt(struct simulation *s, uint32_t id) {
    s->attempts[id].generation++;
    s->attempts[id].next_free = s->free_attempt;
    s->free_attempt = id;
}

static struct process *process_of(const struct simulation *s, uint32_t request) {
    return &s->processes[s->requests[request].process];
}

/* Sends an attempt, unless the breaker refuses it. */
static void send_attempt(struct simulation *s, uint32_t request, int32_t number) {
    uint32_t id = new_attempt(s, request);
    struct attempt *attempt = &s->attempts[id];
    attempt->number = number;
    if (!call_permits(process_of(s, request), &attempt->permit)) {
        attempt->refusal = OUTCOME_OPEN;
        events_add(&s->events, s->now, EVENT_REFUSED, id, 0);
        return;
    }
    count(s, s->result->sent);
    if (!server_submit(&s->server, s->now, id)) {
        attempt->refusal = s->server.is_stalled ? OUTCOME_REFUSED : OUTCOME_UNAVAILABLE;
        events_add(&s->events, s->now + REFUSAL, EVENT_REFUSED, id, 0);
    }
    events_add(&s->events, s->now + s->scenario->model->timeout, EVENT_TIMEOUT, id, attempt->generation);
}

/* Sends a copy if that is the next step, and schedules the timer of the plan. */
static void continue_plan(struct simulation *s, uint32_t id, enum next next) {
    struct call *call = &s->requests[id].call;
    if (next == NEXT_COPY) send_attempt(s, id, netlib_hedge_plan_attempts(call->plan));
    double timer = call_timer(call);
    if (isinf(timer)) return;
    int64_t time = (int64_t)(timer * 1e9) + 1;
    events_add(&s->events, time > s->now ? time : s->now + 1, EVENT_TIMER, id, s->requests[id].generation);
}

static void end_request(struct simulation *s, uint32_t id) {
    struct request *request = &s->requests[id];
    call_end(&request->call, process_of(s, id));
    request->generation++;
    request->next_free = s->free_request;
    s->free_request = id;
}

static void end_attempt(struct simulation *s, uint32_t id, enum outcome outcome) {
    struct attempt *attempt = &s->attempts[id];
    uint32_t request_id = attempt->request;
    attempt->request = NO_INDEX;
    if (request_id == NO_INDEX || attempt->request_generation != s->requests[request_id].generation) return;
    struct request *request = &s->requests[request_id];
    struct process *process = process_of(s, request_id);
    double delay = 0.0;
    enum next next = call_decide(&request->call, process, outcome, attempt->number, attempt->permit, &delay);
    switch (next) {
    case NEXT_WAIT: break;
    case NEXT_COPY: continue_plan(s, request_id, next); break;
    case NEXT_RETRY:
        events_add(&s->events, s->now + (int64_t)(delay * 1e9), EVENT_RETRY, request_id, request->generation);
        break;
    case NEXT_END:
        if (outcome == OUTCOME_SUCCESS) count(s, s->result->good);
        end_request(s, request_id);
        break;
    }
}

/* Begins a request of a random client, and schedules the next arrival. The arrivals of all clients together are one
 * Poisson process. If the trigger changes the load, the arrivals are generated at the highest load, and some are
 * dropped at random. */
static void arrive(struct simulation *s) {
    const struct trigger *trigger = &s->scenario->trigger;
    bool changes_load = trigger->kind == TRIGGER_SPIKE || trigger->kind == TRIGGER_RAMP;
    double highest = changes_load && trigger->size > 1.0 ? trigger->size : 1.0;
    int64_t gap = random_exponential(&s->arrivals, (int64_t)(1e9 / (s->scenario->load * highest)));
    events_add(&s->events, s->now + gap, EVENT_ARRIVAL, 0, 0);
    bool is_kept = random_unit(&s->arrivals) * highest < load_factor(s);
    uint32_t client = (uint32_t)(random_unit(&s->arrivals) * CLIENTS);
    if (!is_kept) return;
    uint32_t request = new_request(s);
    s->requests[request].process = client % s->scenario->processes;
    count(s, s->result->first);
    call_begin(&s->requests[request].call, process_of(s, request));
    send_attempt(s, request, 1);
    continue_plan(s, request, NEXT_WAIT);
}

static void apply_trigger(struct simulation *s) {
    enum trigger_kind kind = s->scenario->trigger.kind;
    double size = s->scenario->trigger.size;
    bool begins = is_triggered(s);
    server_set(&s->server, s->now, begins && kind == TRIGGER_OUTAGE, begins && kind == TRIGGER_BROWN_OUT ? size : 1.0,
               begins && kind == TRIGGER_FAILING ? size : 0.0);
}

static void handle(struct simulation *s, const struct event *event) {
    uint32_t id = event->subject;
    switch (event->kind) {
    case EVENT_ARRIVAL: arrive(s); break;
    case EVENT_TRIGGER: apply_trigger(s); break;
    case EVENT_RETRY:
        if (event->generation == s->requests[id].generation) send_attempt(s, id, 0);
        break;
    case EVENT_SERVED:
        if (!server_finish(&s->server, event, &id)) break;
        end_attempt(s, id, server_fails(&s->server) ? OUTCOME_UNAVAILABLE : OUTCOME_SUCCESS);
        release_attempt(s, id);
        break;
    case EVENT_REFUSED:
        end_attempt(s, id, s->attempts[id].refusal);
        release_attempt(s, id);
        break;
    case EVENT_TIMEOUT:
        if (event->generation == s->attempts[id].generation) end_attempt(s, id, OUTCOME_TIMEOUT);
        break;
    case EVENT_TIMER:
        if (event->generation == s->requests[id].generation)
            continue_plan(s, id, call_time_out(&s->requests[id].call, process_of(s, id)));
        break;
    }
}

void simulate(const struct scenario *scenario, struct result *result) {
    struct simulation s = {.scenario = scenario, .result = result, .free_attempt = NO_INDEX, .free_request = NO_INDEX};
    int64_t end = (START + scenario->lasts + scenario->after) * SECOND;
    size_t seconds = (size_t)(end / SECOND);
    *result = (struct result){(int)seconds,
                              calloc(seconds, sizeof(uint32_t)),
                              calloc(seconds, sizeof(uint32_t)),
                              calloc(seconds, sizeof(uint32_t)),
                              0.0,
                              0.0};
    if (result->first == NULL || result->sent == NULL || result->good == NULL) abort();
    s.arrivals.state = scenario->seed;
    server_init(&s.server, scenario->model, &s.events, scenario->seed + 1);
    world_init(&s.world, scenario->seed + 2);
    s.processes = storm_realloc(NULL, scenario->processes, sizeof *s.processes);
    for (uint32_t i = 0; i < scenario->processes; i++) process_init(&s.processes[i], &s.world, scenario->policy);
    events_add(&s.events, START * SECOND, EVENT_TRIGGER, 0, 0);
    events_add(&s.events, (START + scenario->lasts) * SECOND, EVENT_TRIGGER, 0, 0);
    events_add(&s.events, 0, EVENT_ARRIVAL, 0, 0);
    for (struct event event = events_take(&s.events); event.time < end; event = events_take(&s.events)) {
        s.now = event.time;
        s.world.now = (double)s.now / 1e9;
        handle(&s, &event);
    }
    for (uint32_t i = 0; i < s.request_count; i++) call_end(&s.requests[i].call, process_of(&s, i));
    for (uint32_t i = 0; i < scenario->processes; i++) {
        result->retries += s.processes[i].retries;
        result->used = fmax(result->used, s.processes[i].used);
        process_free(&s.processes[i]);
    }
    free(s.requests), free(s.attempts), free(s.processes);
    world_free(&s.world), server_free(&s.server), events_free(&s.events);
}

double result_mean(const uint32_t *counts, int from, int to) {
    double sum = 0.0;
    for (int i = from; i < to; i++) sum += counts[i];
    return sum / (to - from);
}

double result_extra(const struct result *result, int from, int to) {
    return result_mean(result->sent, from, to) / result_mean(result->first, from, to) - 1.0;
}

/* Returns the fraction of the requests that succeed, which does not depend on the random number of arrivals in a
 * second. */
static double success(const struct result *result, int from, int to) {
    return result_mean(result->good, from, to) / result_mean(result->first, from, to);
}

int result_recovery(const struct result *result, const struct scenario *scenario) {
    int end = START + scenario->lasts;
    double level = 0.95 * success(result, BASELINE, START);
    for (int second = end, steady = 0; second + WINDOW <= result->seconds; second++) {
        steady = success(result, second, second + WINDOW) >= level ? steady + 1 : 0;
        if (steady == STEADY) return second + 1 - STEADY - end;
    }
    return -1;
}

void result_free(struct result *result) { free(result->first), free(result->sent), free(result->good); }
