/* A swap callback that keeps its words in memory, logs its calls, and can answer wrongly. */
#ifndef NETLIB_TEST_MEMORY_STORE_H
#define NETLIB_TEST_MEMORY_STORE_H

#include "harness.h"

enum { MEMORY_WORDS = 8 };

struct memory_store {
    char keys[MEMORY_WORDS][64];
    uint64_t words[MEMORY_WORDS];
    int count;
    double now;
    int calls, freed;
    /* The arguments of the last call. */
    uint64_t expected, desired;
    double ttl, timeout;
    /* If not -1, the callback stores nothing and returns this number. */
    int answer;
    /* If true, the callback does not store its outputs. */
    bool keeps_actual, keeps_now;
    /* The number of further calls before which another process changes the word. */
    int changes;
};

static inline uint64_t *memory_word(struct memory_store *memory, const char *key, size_t len) {
    for (int i = 0; i < memory->count; i++)
        if (strlen(memory->keys[i]) == len && memcmp(memory->keys[i], key, len) == 0) return &memory->words[i];
    if (memory->count == MEMORY_WORDS || len >= sizeof memory->keys[0]) abort();
    memcpy(memory->keys[memory->count], key, len);
    return &memory->words[memory->count++];
}

static inline void memory_swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                               double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    struct memory_store *memory = ctx;
    memory->calls++;
    memory->expected = expected, memory->desired = desired, memory->ttl = ttl, memory->timeout = timeout;
    if (memory->answer != -1) {
        *answer = (enum netlib_swap)memory->answer;
        return;
    }
    uint64_t *word = memory_word(memory, key, len);
    if (!memory->keeps_now) *now = memory->now;
    if (memory->changes > 0) memory->changes--, *word = expected == 40001 ? 40002 : 40001;
    if (*word != expected) {
        if (!memory->keeps_actual) *actual = *word;
        *answer = NETLIB_SWAP_CHANGED;
        return;
    }
    *word = desired;
    *answer = NETLIB_SWAP_SWAPPED;
}

static inline void memory_free(void *ctx) { ((struct memory_store *)ctx)->freed++; }

static inline netlib_store *make_memory_store(struct memory_store *memory, double timeout) {
    *memory = (struct memory_store){.answer = -1, .now = 1000.0};
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    CHECK_OK(netlib_store_new(memory_swap, timeout, memory, memory_free, &store, &err));
    return store;
}

#endif
