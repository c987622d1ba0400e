/*
 * store_redis - takes permissions from a rate that all copies of the program share, on any number of hosts.
 *
 *     cc store_redis.c store_redis/redis_store.c $(pkg-config --cflags --libs netlib hiredis) -pthread -lm -o store_redis
 *     ./store_redis 127.0.0.1 10 5 & ./store_redis 127.0.0.1 10 5
 *
 * Each copy takes permissions from the rate of 10 per second for 5 seconds, and prints how many it got. The copies
 * together get at most 10 per second, and 10 at the start. store_redis/redis_store.c keeps the state of the rate on the
 * Redis server, and is meant to be copied.
 *
 * Read this file from main upwards.
 */
#define _POSIX_C_SOURCE 200809L
#include "store_redis/redis_store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static netlib_status make_rate(const char *address, double per_second, netlib_rate **rate, netlib_error **err) {
    netlib_store *store = NULL;
    netlib_status status = redis_store_new(address, "example:", 0.1, &store, err);
    if (status != NETLIB_OK) return status;
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, per_second, 10.0);
    /* While the server is unavailable, this process has the whole rate. CLOSED would stop all requests instead. */
    netlib_rate_options_set_store(options, store, NETLIB_UNAVAILABLE_LOCAL);
    status = netlib_rate_new(options, rate, err);
    netlib_rate_options_free(options);
    netlib_store_free(store);
    return status;
}

static netlib_status take_permissions(netlib_rate *rate, double seconds, int *count, netlib_error **err) {
    netlib_limit *limit = NULL;
    netlib_status status = netlib_limit_new(seconds, NULL, &limit, err);
    while (status == NETLIB_OK && netlib_limit_remaining(limit) > 0.0) {
        double wait = 0.0;
        status = netlib_rate_take(rate, "upstream.example", NETLIB_NTS, 1.0, &wait, err);
        if (status == NETLIB_OK) ++*count; /* here, a program sends its request */
        if (status != NETLIB_RATE_LIMITED) continue;
        struct timespec pause = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
        nanosleep(&pause, NULL);
        status = NETLIB_OK;
    }
    netlib_limit_free(limit);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: %s ADDRESS PER_SECOND SECONDS\n", argv[0]), 2;
    signal(SIGPIPE, SIG_IGN); /* hiredis does not prevent the signal when the server closes a connection */
    netlib_rate *rate = NULL;
    netlib_error *err = NULL;
    int count = 0;
    netlib_status status = make_rate(argv[1], atof(argv[2]), &rate, &err);
    if (status == NETLIB_OK) status = take_permissions(rate, atof(argv[3]), &count, &err);
    if (err != NULL) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));
    printf("%d permissions\n", count);
    netlib_error_free(err);
    netlib_rate_free(rate);
    return status != NETLIB_OK;
}
