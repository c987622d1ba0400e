/*
 * transfer.h - the transfer of one URL in an event loop: no function here waits.
 *
 *     transfer_start -> transfer_advance when epoll has an event for it, or transfer_timer is 0 … -> transfer_is_done
 *
 * A transfer goes through phases. The function of a phase does everything that is possible now, then returns what to
 * wait for.
 */
#ifndef EXAMPLES_EPOLL_TRANSFER_H
#define EXAMPLES_EPOLL_TRANSFER_H

#include "body.h"

#include <netlib.h>
#include <stdbool.h>
#include <stdint.h>

/* The state that all transfers share. */
struct shared {
    int epoll;           /* an event's data.ptr is its transfer */
    double timeout;      /* of each transfer, in seconds */
    netlib_limit *limit; /* the limit of the whole program */
    netlib_tls_context *tls;
    netlib_headers *headers;
};

enum phase { CONNECTING, SHAKING_HANDS, SENDING, READING_HEAD, READING_BODY, DONE };

struct transfer {
    const struct shared *shared;
    const char *text; /* the URL as given on the command line */
    enum phase phase;
    bool worked; /* when done: true if the response was complete and its status was below 400 */
    bool again;  /* true if the transfer can continue at once */
    double began;
    netlib_url *url;
    netlib_limit *limit;
    netlib_connect *connect; /* kept until the end for its report */
    int *raced;              /* the descriptors of the connect that epoll watches */
    size_t raced_count;
    int fd;          /* the connection; -1: none */
    uint32_t events; /* the events that epoll watches `fd` for; 0: not watched */
    netlib_tls_stream *tls;
    uint64_t head_state; /* how much of the head in the buffer netlib_response_parse has parsed */
    netlib_response *response;
    int interim_responses;
    struct body body;
    size_t start, end; /* of the buffer: the bytes to send, or the received bytes that are not used yet */
    char *buffer;
};

/* Borrows `shared` and `text` until the transfer is done. Keep the memory of the transfer itself until the current turn
 * of the loop has ended, because epoll may still have events for it. */
void transfer_start(struct transfer *transfer, const struct shared *shared, const char *text);

/* Advances the transfer as far as possible without waiting. Calling it too early does no harm. When the transfer is
 * done, it has printed its line and released its resources. */
void transfer_advance(struct transfer *transfer);

/* Returns the seconds after which the transfer must be advanced even if no descriptor is ready. Returns 0 if it is
 * done. */
double transfer_timer(const struct transfer *transfer);

/* Cancels the transfer. */
void transfer_cancel(struct transfer *transfer);

bool transfer_is_done(const struct transfer *transfer);

#endif
