/* options.h - parses the command line of epoll and the list of URLs. */
#ifndef EXAMPLES_EPOLL_OPTIONS_H
#define EXAMPLES_EPOLL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Limits the number of concurrent transfers, because netlib looks up at most 64 host names at the same time in a
 * process. Programs that resolve names themselves and call netlib_connect_new_addresses do not have this limit. */
enum { MAX_PARALLEL = 64 };

struct options {
    char **urls; /* owned: both the array and its strings */
    size_t url_count;
    const char *cacert;
    double timeout, max_time;
    size_t parallel;
    bool help;
};

/* Parses the command line; if a URL is "-", reads URLs from standard input. If the input is invalid, prints the reason
 * and returns false. Call free_options after success and after failure. */
bool parse_options(struct options *options, int argc, char **argv);

void print_help(void);

void free_options(struct options *options);

#endif
