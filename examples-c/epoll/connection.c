/* Implements connection.h. */
#include "connection.h"

#include <string.h>
#include <unistd.h>

void close_connection(struct connection *connection) {
    netlib_stream_free(connection->stream);
    if (connection->fd >= 0) close(connection->fd);
    connection->stream = NULL;
    connection->fd = -1;
}

static struct connection remove_connection(struct idle_connections *idle, size_t index) {
    struct connection removed = idle->connections[index];
    size_t after = --idle->count - index;
    memmove(&idle->connections[index], &idle->connections[index + 1], after * sizeof removed);
    return removed;
}

void keep_connection(struct idle_connections *idle, struct connection *connection) {
    if (idle->count == MAX_IDLE) {
        struct connection oldest = remove_connection(idle, 0);
        close_connection(&oldest);
    }
    idle->connections[idle->count++] = *connection;
    connection->stream = NULL;
    connection->fd = -1;
}

bool take_connection(struct idle_connections *idle, struct connection *connection) {
    for (size_t i = idle->count; i > 0; i--) {
        if (strcmp(idle->connections[i - 1].key, connection->key) != 0) continue;
        struct connection found = remove_connection(idle, i - 1);
        int32_t dropped = 1;
        netlib_status status = netlib_stream_is_dropped(found.stream, &dropped, NULL, NULL);
        if (status == NETLIB_OK && !dropped) {
            *connection = found;
            return true;
        }
        close_connection(&found);
    }
    return false;
}
