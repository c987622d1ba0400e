/* options.h - the command line of epoll, and the URLs that it names. */
#ifndef EXAMPLES_EPOLL_OPTIONS_H
#define EXAMPLES_EPOLL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The number of names that a process looks up at the same time. A program with a resolver of its own, which uses
 * netlib_connect_new_addresses, does not have this limit. */
enum { MOST_PARALLEL = 64 };

struct options {
    char **urls; /* owned, the array and each text */
    size_t url_count;
    const char *cacert;
    double timeout, max_time;
    size_t parallel;
    bool help;
};

/* Reads the command line and, for the URL "-", standard input. If they are invalid, prints the reason and returns
 * false. Free the options in either case. */
bool parse_options(struct options *options, int argc, char **argv);

void print_help(void);

void free_options(struct options *options);

#endif
