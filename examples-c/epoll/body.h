/*
 * body.h - decodes a response's body: removes its framing. Bytes go in as they arrive, in pieces of any size.
 *
 * It uses no descriptor and stores no bytes, so it works with any transport.
 */
#ifndef EXAMPLES_EPOLL_BODY_H
#define EXAMPLES_EPOLL_BODY_H

#include <netlib.h>

struct body {
    int64_t bytes; /* of the decoded body, so far */
    int64_t left;  /* bytes of the body, or of the chunk, that are still missing */
    enum netlib_body_framing framing;
    enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER } expected; /* the next element of a chunked body */
    int trailers;
};

/* Prepares for the body that follows the head of `response`. */
netlib_status body_begin(struct body *body, const netlib_response *response, netlib_error **err);

/* Uses up to `len` bytes of `data` and stores their number in `used`. NETLIB_OK: the body is complete.
 * NETLIB_WANT_READ: it is incomplete; pass the unused bytes again, followed by new ones. */
netlib_status body_take(struct body *body, const char *data, size_t len, size_t *used, netlib_error **err);

/* Handles the end of the stream. Returns NETLIB_OK if the end of the stream is a valid end of this body. */
netlib_status body_end(const struct body *body, netlib_error **err);

#endif
