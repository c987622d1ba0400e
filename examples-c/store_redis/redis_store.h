/* The words of a netlib_store on a Redis server. */
#ifndef REDIS_STORE_H
#define REDIS_STORE_H

#include <netlib.h>

/* Makes a store. `address` is the path of a Unix domain socket, or an IP address with the port 6379. The names of the
 * words begin with `prefix`. Each call ends after at most `timeout` seconds. After fork(2), the child must make a store
 * of its own, because it must not use the connections of its parent. */
NETLIB_MUST_USE netlib_status redis_store_new(const char *address, const char *prefix, double timeout,
                                              netlib_store **store, netlib_error **err);

#endif
