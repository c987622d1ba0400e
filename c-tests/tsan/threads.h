/* Runs eight threads that start at the same moment. */
#ifndef NETLIB_TEST_TSAN_THREADS_H
#define NETLIB_TEST_TSAN_THREADS_H

#include "tls_wire.h"

#include <sched.h>

enum { THREADS = 8 };

struct crowd {
    void (*body)(void *shared, int thread);
    void *shared;
    pthread_barrier_t start;
};

struct member {
    struct crowd *crowd;
    int thread;
};

static inline void *member_main(void *argument) {
    const struct member *member = argument;
    pthread_barrier_wait(&member->crowd->start);
    member->crowd->body(member->crowd->shared, member->thread);
    return NULL;
}

/* Runs `body` in each thread, and waits for all threads. */
static inline void in_threads(void (*body)(void *shared, int thread), void *shared) {
    struct crowd crowd = {.body = body, .shared = shared};
    struct member members[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_init(&crowd.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        members[i] = (struct member){&crowd, i};
        if (pthread_create(&threads[i], NULL, member_main, &members[i]) != 0) abort();
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&crowd.start);
}

#endif
