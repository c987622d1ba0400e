/* options.h - the command line of epoll, and the URLs that it names. */
#ifndef EXAMPLES_EPOLL_OPTIONS_H
#define EXAMPLES_EPOLL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* So many names are looked up at once in a process. Who has a resolver of his own, for netlib_connect_new_addresses,
 * knows no such bound. */
enum { MOST_PARALLEL = 64 };

struct options {
    char **urls; /* owned, as each of them */
    size_t url_count;
    const char *cacert;
    double timeout, max_time;
    size_t parallel;
    bool help;
};

/* Fills in what the command line and, for the URL "-", standard input say. False when that cannot be used; it has been
 * said why. To be freed in any case. */
bool parse_options(struct options *options, int argc, char **argv);

void print_help(void);

void free_options(struct options *options);

#endif
