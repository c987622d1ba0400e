/* request.h - the request, which changes from attempt to attempt. */
#ifndef EXAMPLES_FETCH_REQUEST_H
#define EXAMPLES_FETCH_REQUEST_H

#include "options.h"

#include <netlib.h>
#include <stdbool.h>

struct request {
    netlib_retry *retry;
    netlib_url *url;
    char *method;
    netlib_headers *headers;
    netlib_body *body; /* NULL: none */
    int body_fd;       /* what the body is read from; -1: nothing to close */
    int64_t body_start;
    bool body_used; /* something may have been read from it */
};

/* As the command line asks for it. The request is to be freed whatever comes of it. */
netlib_status request_init(struct request *request, const struct options *options, netlib_error **err);

/* Turns the request into the next one, as it was decided. */
netlib_status request_follow(struct request *request, const netlib_decision *decision, netlib_error **err);

void request_free(struct request *request);

#endif
