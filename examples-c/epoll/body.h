/*
 * body.h - a response's body, taken out of its framing: bytes go in as they come, in pieces of any size.
 *
 * It touches no descriptor and keeps no bytes, so it fits whatever brings them.
 */
#ifndef EXAMPLES_EPOLL_BODY_H
#define EXAMPLES_EPOLL_BODY_H

#include <netlib.h>

struct body {
    int64_t bytes; /* of the body itself, so far */
    int64_t left;  /* of the body, or of the chunk, still to come */
    enum netlib_body_framing framing;
    enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER } expected; /* of a body in chunks */
    int trailers;
};

/* The body that follows the head of `response`. */
netlib_status body_begin(struct body *body, const netlib_response *response, netlib_error **err);

/* Takes what it can of `data`: `used` bytes. NETLIB_OK: the body is complete. NETLIB_WANT_READ: it is not; bring what
 * was not used again, with more behind it. */
netlib_status body_take(struct body *body, const char *data, size_t len, size_t *used, netlib_error **err);

/* The peer has closed its side. NETLIB_OK if that is how this body ends. */
netlib_status body_end(const struct body *body, netlib_error **err);

#endif
