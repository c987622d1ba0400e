/* Replaces getaddrinfo of the C library. A lookup of "hung.test" hangs until release_lookups is called. */
#ifndef NETLIB_TEST_HUNG_LOOKUPS_H
#define NETLIB_TEST_HUNG_LOOKUPS_H

#include "harness.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lookup_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t lookup_released = PTHREAD_COND_INITIALIZER;
static bool lookups_hang = true;
/* The number of lookups that hang now. */
static int hung_lookups;

/* The handlers of pthread_atfork(3) unlock the lock in a forked child, even if another thread of the parent held the
 * lock. */
static void lock_before_fork(void) { pthread_mutex_lock(&lookup_lock); }

static void unlock_in_parent(void) { pthread_mutex_unlock(&lookup_lock); }

static void reset_in_child(void) {
    lookup_released = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_mutex_unlock(&lookup_lock);
}

__attribute__((constructor)) static void lock_across_forks(void) {
    pthread_atfork(lock_before_fork, unlock_in_parent, reset_in_child);
}

static inline void release_lookups(void) {
    pthread_mutex_lock(&lookup_lock);
    lookups_hang = false;
    pthread_cond_broadcast(&lookup_released);
    pthread_mutex_unlock(&lookup_lock);
}

/* Waits until `count` lookups hang. Their threads then do nothing until release_lookups is called. */
static inline void wait_until_lookups_hang(int count) {
    for (double began = netlib_current_time();;) {
        pthread_mutex_lock(&lookup_lock);
        int hung = hung_lookups;
        pthread_mutex_unlock(&lookup_lock);
        if (hung == count) return;
        if (netlib_current_time() - began > 10.0) {
            CHECK_INT(count, hung);
            return;
        }
        sched_yield();
    }
}

static inline void make_lookups_hang(void) {
    pthread_mutex_lock(&lookup_lock);
    lookups_hang = true;
    pthread_mutex_unlock(&lookup_lock);
}

/* Resolves "hung.test" and "good.test" to 127.0.0.1. Other host names do not exist. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    struct in_addr address;
    (void)service;
    if (inet_pton(AF_INET, host, &address) != 1) {
        bool hangs = strcmp(host, "hung.test") == 0;
        if ((hints->ai_flags & AI_NUMERICHOST) || (!hangs && strcmp(host, "good.test") != 0)) return EAI_NONAME;
        pthread_mutex_lock(&lookup_lock);
        hung_lookups += hangs;
        while (hangs && lookups_hang) pthread_cond_wait(&lookup_released, &lookup_lock);
        hung_lookups -= hangs;
        pthread_mutex_unlock(&lookup_lock);
        address.s_addr = htonl(INADDR_LOOPBACK);
    }
    struct answer {
        struct addrinfo info;
        struct sockaddr_in address;
    } *answer = calloc(1, sizeof *answer);
    if (answer == NULL) return EAI_MEMORY;
    answer->address.sin_family = AF_INET;
    answer->address.sin_addr = address;
    answer->info.ai_family = AF_INET;
    answer->info.ai_socktype = SOCK_STREAM;
    answer->info.ai_addrlen = sizeof answer->address;
    answer->info.ai_addr = (struct sockaddr *)&answer->address;
    *found = &answer->info;
    return 0;
}

void freeaddrinfo(struct addrinfo *found) { free(found); }

#endif
