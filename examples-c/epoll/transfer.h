/*
 * transfer.h - one URL on its way, as an event loop has it: nothing waits here.
 *
 *     transfer_start -> transfer_advance when epoll has an event for it, or transfer_timer is 0 … -> transfer_is_done
 *
 * A transfer goes from phase to phase. Each is a function that does what can be done now, and says what it waits for.
 */
#ifndef EXAMPLES_EPOLL_TRANSFER_H
#define EXAMPLES_EPOLL_TRANSFER_H

#include "body.h"

#include <netlib.h>
#include <stdbool.h>
#include <stdint.h>

/* What all transfers share. */
struct shared {
    int epoll;           /* an event's data.ptr is the transfer that it is for */
    double timeout;      /* of each, in seconds */
    netlib_limit *limit; /* over everything */
    netlib_tls_context *tls;
    netlib_headers *headers;
};

enum phase { CONNECTING, SHAKING_HANDS, SENDING, READING_HEAD, READING_BODY, DONE };

struct transfer {
    const struct shared *shared;
    const char *text; /* the URL as it was given */
    enum phase phase;
    bool worked; /* when it is done: a response came, complete, with a status below 400 */
    bool again;  /* there is more to do at once */
    double began;
    netlib_url *url;
    netlib_limit *limit;
    netlib_connect *connect; /* kept to the end for its report */
    int *raced;              /* the descriptors of the connect that epoll watches */
    size_t raced_count;
    int fd;          /* the connection; -1: none */
    uint32_t events; /* what epoll watches `fd` for; 0: it does not */
    netlib_tls_stream *tls;
    uint64_t head_state; /* how much of the head in the buffer netlib_response_parse has parsed */
    netlib_response *response;
    int interim_responses;
    struct body body;
    size_t start, end; /* of the buffer: what is to be sent, or was received and not yet used */
    char *buffer;
};

/* `shared` and `text` are borrowed until it is done, the transfer's own memory until the turn of the loop is over:
 * epoll may still have events for it. */
void transfer_start(struct transfer *transfer, const struct shared *shared, const char *text);

/* Goes on as far as that is possible without waiting; to be early does no harm. A transfer that is done has printed its
 * line and released everything. */
void transfer_advance(struct transfer *transfer);

/* In how many seconds it wants to be advanced although no descriptor is ready; 0 when it is done, too. */
double transfer_timer(const struct transfer *transfer);

/* Ends it. */
void transfer_cancel(struct transfer *transfer);

bool transfer_is_done(const struct transfer *transfer);

#endif
