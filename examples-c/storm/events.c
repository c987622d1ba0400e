/* Implements events.h with a binary heap. */
#include "events.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *storm_realloc(void *old, size_t count, size_t size) {
    void *memory = realloc(old, count * size);
    if (memory == NULL) {
        fputs("storm: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static bool is_before(const struct event *a, const struct event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void events_add(struct events *events, int64_t time, enum event_kind kind, uint32_t subject, uint32_t generation) {
    if (events->count == events->size) {
        events->size = events->size == 0 ? 1024 : 2 * events->size;
        events->heap = storm_realloc(events->heap, events->size, sizeof *events->heap);
    }
    struct event event = {time, events->added++, kind, subject, generation};
    size_t at = events->count++;
    for (; at > 0 && is_before(&event, &events->heap[(at - 1) / 2]); at = (at - 1) / 2)
        events->heap[at] = events->heap[(at - 1) / 2];
    events->heap[at] = event;
}

struct event events_take(struct events *events) {
    struct event first = events->heap[0], last = events->heap[--events->count];
    size_t at = 0;
    for (size_t child = 1; child < events->count; child = 2 * at + 1) {
        if (child + 1 < events->count && is_before(&events->heap[child + 1], &events->heap[child])) child++;
        if (!is_before(&events->heap[child], &last)) break;
        events->heap[at] = events->heap[child];
        at = child;
    }
    events->heap[at] = last;
    return first;
}

void events_free(struct events *events) { free(events->heap); }
