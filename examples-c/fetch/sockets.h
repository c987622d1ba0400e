/*
 * sockets.h - the connection options of the command line: source address, interface, keepalive, and minimum throughput.
 * Invalid values are rejected before the first connection attempt.
 */
#ifndef EXAMPLES_FETCH_SOCKETS_H
#define EXAMPLES_FETCH_SOCKETS_H

#include <netlib.h>
#include <stdbool.h>

struct sockets {
    netlib_connect_options *options; /* for every connection */
    char *unix_path;                 /* NULL: use TCP. An abstract name begins with a NUL */
    size_t unix_path_len;
    /* The minimum throughput: bytes to receive in `minimum_seconds` of waiting. 0 bytes: no minimum. */
    size_t minimum_bytes;
    double minimum_seconds;
};

void sockets_init(struct sockets *sockets);

/* Each function from sockets_set_interface to sockets_refuse_addresses sets one option. If the value is invalid, the
 * function prints the reason and returns false. */
bool sockets_set_interface(struct sockets *sockets, const char *name);
bool sockets_set_source(struct sockets *sockets, const char *text);
bool sockets_set_unix(struct sockets *sockets, const char *path);
bool sockets_set_abstract_unix(struct sockets *sockets, const char *name);
bool sockets_set_keepalive(struct sockets *sockets, const char *text);
bool sockets_set_user_timeout(struct sockets *sockets, const char *text);
bool sockets_set_minimum_speed(struct sockets *sockets, const char *text);
bool sockets_refuse_addresses(struct sockets *sockets, const char *names);

void sockets_free(struct sockets *sockets);

#endif
