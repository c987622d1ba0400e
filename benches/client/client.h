/*
 * client.h - what the client programs of the table `client` share: their command line, and their output.
 *
 *     PROGRAM URL CA REQUESTS PARALLEL KEEP-ALIVE RESUME
 *
 * A client sends REQUESTS requests for the URL, PARALLEL of them at a time, checks that each response has the status
 * 200 and a body of BODY_SIZE bytes, and discards the body. CA is a file with the trusted certificates. KEEP-ALIVE and
 * RESUME are 0 or 1: whether a connection carries more than one request, and whether a new connection resumes an
 * earlier TLS session. Each request may take TIMEOUT seconds.
 *
 * At the end, the client prints a line: its processor time in nanoseconds; the resident memory at the start of main,
 * the peak resident memory, and the memory of resident pages of files at the end, all in bytes; and the version of its
 * library.
 */
#ifndef BENCHES_CLIENT_H
#define BENCHES_CLIENT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BODY_SIZE = 8192, TIMEOUT = 30, MAX_PARALLEL = 64 };

struct settings {
    const char *url, *ca;
    size_t requests, parallel;
    bool keep_alive, resume;
    double start_time; /* the processor time when main began, in seconds */
    long start_memory; /* the resident memory when main began, in KiB */
};

static inline double processor_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Returns the number in a line of /proc/self/status, in KiB: "VmRSS:" for resident memory, "VmHWM:" for its peak, or
 * "RssFile:" for resident pages of files. The ru_maxrss of getrusage(2) would include the memory of the program that
 * started this one. */
static inline long memory(const char *name) {
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && kib < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) kib = atol(line + strlen(name));
    }
    if (file != NULL) fclose(file);
    return kib;
}

/* Called first in main. */
static inline struct settings begin(int argc, char **argv) {
    double start_time = processor_time();
    long start_memory = memory("VmRSS:");
    if (argc != 7 || atoi(argv[4]) > MAX_PARALLEL) {
        fprintf(stderr, "usage: %s URL CA REQUESTS PARALLEL KEEP-ALIVE RESUME\n", argv[0]);
        exit(2);
    }
    return (struct settings){.url = argv[1],
                             .ca = argv[2],
                             .requests = (size_t)atol(argv[3]),
                             .parallel = (size_t)atol(argv[4]),
                             .keep_alive = atoi(argv[5]) != 0,
                             .resume = atoi(argv[6]) != 0,
                             .start_time = start_time,
                             .start_memory = start_memory};
}

/* Called last in main. */
static inline int end(const struct settings *settings, const char *version) {
    double time = processor_time() - settings->start_time;
    printf("%.0f %ld %ld %ld %s\n", time * 1e9, settings->start_memory * 1024, memory("VmHWM:") * 1024,
           memory("RssFile:") * 1024, version);
    return 0;
}

#endif
