/*
 * client.h - what the clients of the table `servers` share.
 *
 * For each line of standard input, a URL, a client makes a new connection, sends a GET request, reads the response,
 * closes the connection, and prints the wall time of all this in nanoseconds. A client trusts only the certificates of
 * the file CA.
 */
#ifndef BENCHES_SERVERS_CLIENT_H
#define BENCHES_SERVERS_CLIENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The size of a response's body in bytes, and two limits in seconds. */
enum { BODY_SIZE = 8192, CONNECT_TIMEOUT = 10, TIMEOUT = 30 };

#define CA "tests/certs/ca.pem"

static inline void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static inline double wall_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline void run(void (*send_request)(void *client, const char *url), void *client) {
    char url[256];
    while (fgets(url, sizeof url, stdin) != NULL) {
        url[strcspn(url, "\n")] = '\0';
        double start = wall_time();
        send_request(client, url);
        printf("%.0f\n", wall_time() - start);
        fflush(stdout);
    }
}

#endif
