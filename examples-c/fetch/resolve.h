/* resolve.h - stores the addresses of --resolve, which replace those of the system's resolver. */
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

/* Adds the addresses of an argument `HOST:PORT:ADDRESS[,ADDRESS]…`. Returns false if the argument is invalid. */
bool resolve_add(struct resolve *resolve, const char *text);

/* Returns the addresses that were added last for the host and port; NULL if none were added. */
const netlib_addresses *resolve_find(const struct resolve *resolve, const char *host, int32_t port);

void resolve_free(struct resolve *resolve);

#endif
