/* connection.h - a connection, and the idle connections that are kept open for later requests. */
#ifndef EXAMPLES_EPOLL_CONNECTION_H
#define EXAMPLES_EPOLL_CONNECTION_H

#include <netlib.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAX_IDLE = 64 };

struct connection {
    int fd; /* -1: no connection */
    netlib_stream *stream;
    char key[NETLIB_CONNECTION_KEY_SIZE]; /* the connection may carry all requests with this key */
};

/* The connections that carry no request, in the order in which they became idle. */
struct idle_connections {
    struct connection connections[MAX_IDLE];
    size_t count;
};

void close_connection(struct connection *connection);

/* Adds a connection to the idle connections. If there are MAX_IDLE idle connections already, closes the oldest one. */
void keep_connection(struct idle_connections *idle, struct connection *connection);

/* Removes the most recently used idle connection that has the key of `connection`, and stores it in `connection`.
 * Closes connections that their peers have dropped. Returns false if there is no connection. */
bool take_connection(struct idle_connections *idle, struct connection *connection);

#endif
