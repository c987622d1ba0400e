/* resolve.h - the addresses that --resolve names, in place of what the system's resolver would find. */
#ifndef EXAMPLES_FETCH_RESOLVE_H
#define EXAMPLES_FETCH_RESOLVE_H

#include <netlib.h>
#include <stdbool.h>

struct resolve {
    struct resolve_entry {
        char *host;
        int32_t port;
        netlib_addresses *addresses;
    } *entries;
    size_t count;
};

/* Adds `HOST:PORT:ADDRESS[,ADDRESS]…`. False when it is none. */
bool resolve_add(struct resolve *resolve, const char *text);

/* The addresses that were added last for a host and port; NULL: none were. */
const netlib_addresses *resolve_find(const struct resolve *resolve, const char *host, int32_t port);

void resolve_free(struct resolve *resolve);

#endif
