/*
 * sockets.h - the command line's word on connections: by which way they go, what they are watched for, and how much
 * they must bring. netlib says which values are none, before anybody is connected to.
 */
#ifndef EXAMPLES_FETCH_SOCKETS_H
#define EXAMPLES_FETCH_SOCKETS_H

#include <netlib.h>
#include <stdbool.h>

struct sockets {
    netlib_connect_options *options; /* for every connection */
    char *unix_path;                 /* NULL: connections are TCP's. An abstract name begins with a NUL */
    size_t unix_path_len;
    /* The least that each time of waiting must bring; 0 bytes: nothing is asked. */
    size_t minimum_bytes;
    double minimum_seconds;
};

void sockets_init(struct sockets *sockets);

/* Each takes one option's value as given. False when it is none, and it has been said why. */
bool sockets_set_interface(struct sockets *sockets, const char *name);
bool sockets_set_source(struct sockets *sockets, const char *text);
bool sockets_set_unix(struct sockets *sockets, const char *path);
bool sockets_set_abstract_unix(struct sockets *sockets, const char *name);
bool sockets_set_keepalive(struct sockets *sockets, const char *text);
bool sockets_set_user_timeout(struct sockets *sockets, const char *text);
bool sockets_set_least_speed(struct sockets *sockets, const char *text);
bool sockets_refuse_addresses(struct sockets *sockets, const char *names);

void sockets_free(struct sockets *sockets);

#endif
