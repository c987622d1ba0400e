/* reader.h - reads a response from a stream: its head, and then its body. */
#ifndef EXAMPLES_FETCH_READER_H
#define EXAMPLES_FETCH_READER_H

#include <netlib.h>

struct reader {
    size_t start, end; /* the part of the buffer with received bytes that are not used yet */
    char buffer[NETLIB_RESPONSE_HEAD_MAX];
};

/* Reads the head of the final response. */
netlib_status reader_read_head(struct reader *reader, netlib_stream *stream, const char *method,
                               netlib_response **response, netlib_error **err);

/* Stores the next piece of the body, which is valid until the next call. Returns NETLIB_END_OF_STREAM after the last
 * piece. */
netlib_status reader_read_body(struct reader *reader, netlib_stream *stream, netlib_body_decoder *decoder,
                               const uint8_t **piece, size_t *len, netlib_error **err);

#endif
