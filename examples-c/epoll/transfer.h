/*
 * transfer.h - transfers one URL in an event loop. No function in this file blocks.
 *
 *     transfer_start -> transfer_advance when epoll has an event for it, or transfer_timer is 0 … -> transfer_is_done
 *
 * A transfer goes through the phases below. A transfer begins with SENDING if an idle connection can carry its request.
 * The function of a phase does as much as possible without blocking, then returns whether to wait for reading or for
 * writing.
 */
#ifndef EXAMPLES_EPOLL_TRANSFER_H
#define EXAMPLES_EPOLL_TRANSFER_H

#include "connection.h"

#include <netlib.h>
#include <stdbool.h>
#include <stdint.h>

/* The state that all transfers share. */
struct shared {
    int epoll;           /* an event's data.ptr is its transfer */
    double timeout;      /* the timeout of each transfer, in seconds */
    netlib_limit *limit; /* the limit of the whole program, the parent of the limit of each transfer */
    netlib_tls_context *tls;
    netlib_headers *headers;
    struct idle_connections idle;
};

enum phase { CONNECTING, HANDSHAKING, SENDING, READING_HEAD, READING_BODY, DONE };

struct transfer {
    struct shared *shared;
    const char *text; /* the URL as given on the command line */
    enum phase phase;
    bool succeeded;    /* when done: true if the response was complete and its status was below 400 */
    bool can_continue; /* true if the transfer can continue at once */
    double start_time;
    netlib_url *url;
    netlib_limit *limit;
    netlib_connect *connect; /* kept until the end for its report */
    int *watched;            /* the descriptors of the connect that epoll watches */
    size_t watched_count;
    struct connection connection;
    uint32_t events; /* the events that epoll watches the connection for; 0: not watched */
    netlib_request *request;
    size_t sent; /* how many bytes of the request were sent */
    netlib_response *response;
    netlib_body_decoder *decoder;
};

/* Starts a transfer, which borrows `shared` and `text` until it is done. Keep the memory of the transfer until all
 * events of the current epoll_wait have been handled, because one of them may refer to the transfer. */
void transfer_start(struct transfer *transfer, struct shared *shared, const char *text);

/* Advances the transfer by a limited number of steps without blocking. May be called at any time. If the transfer ends
 * during this call, the call prints the transfer's line and frees its resources. */
void transfer_advance(struct transfer *transfer);

/* Returns the number of seconds after which transfer_advance must be called even if no descriptor is ready. Returns 0
 * if the transfer is done. */
double transfer_timer(const struct transfer *transfer);

bool transfer_is_done(const struct transfer *transfer);

#endif
