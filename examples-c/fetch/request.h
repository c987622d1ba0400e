/* request.h - the HTTP request, which redirects may change between attempts, and its transmission. */
#ifndef EXAMPLES_FETCH_REQUEST_H
#define EXAMPLES_FETCH_REQUEST_H

#include "options.h"

#include <netlib.h>
#include <stdbool.h>

struct request {
    netlib_retry *retry;
    netlib_url *url;
    char *method;
    netlib_headers *headers; /* all headers except Host and Proxy-Authorization */
    netlib_body *body;       /* NULL: none */
    int body_fd;             /* the source of the body; -1: nothing to close */
    int64_t body_start;
    int64_t body_length; /* -1: unknown, so the body is sent in chunks */
    bool body_used;      /* true if a part of the body may have been read */
};

/* Creates the request from the command line. Call request_free even if this function fails. */
netlib_status request_init(struct request *request, const struct options *options, netlib_error **err);

/* Sends the head and the body. `head` was made from the request. */
netlib_status request_send(struct request *request, const netlib_request *head, netlib_stream *stream,
                           netlib_error **err);

/* Changes the request for the next attempt as the retry policy has decided. */
netlib_status request_follow(struct request *request, const netlib_decision *decision, netlib_error **err);

void request_free(struct request *request);

#endif
