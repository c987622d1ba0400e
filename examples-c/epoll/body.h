/*
 * body.h - decodes the framing of a response's body. The caller passes bytes as they arrive, in pieces of any size.
 *
 * The decoder uses no descriptor and stores no bytes, so it works with any transport.
 */
#ifndef EXAMPLES_EPOLL_BODY_H
#define EXAMPLES_EPOLL_BODY_H

#include <netlib.h>

struct body {
    int64_t bytes; /* the number of decoded bytes so far */
    int64_t left;  /* bytes of the body, or of the chunk, that are still missing */
    enum netlib_body_framing framing;
    enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER } expected; /* the next element of a chunked body */
    int trailers;
};

/* Prepares `body` for the body that follows the head of `response`. */
netlib_status body_begin(struct body *body, const netlib_response *response, netlib_error **err);

/* Decodes up to `len` bytes of `data` and stores in `used` how many bytes were used. Returns NETLIB_OK if the body is
 * complete. Returns NETLIB_WANT_READ if the body is incomplete; the next call must pass the unused bytes again,
 * followed by new bytes. */
netlib_status body_take(struct body *body, const char *data, size_t len, size_t *used, netlib_error **err);

/* Handles the end of the connection's data. Returns NETLIB_OK if the body may end there, otherwise an error. */
netlib_status body_end(const struct body *body, netlib_error **err);

#endif
