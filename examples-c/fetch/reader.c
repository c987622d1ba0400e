/* Implements reader.h. */
#include "reader.h"

#include "failure.h"

netlib_status reader_read_head(struct reader *reader, netlib_stream *stream, const char *method,
                               netlib_response **response, netlib_error **err) {
    uint64_t state = 0;
    netlib_status status = NETLIB_WANT_READ;
    reader->start = reader->end = 0;
    while (status == NETLIB_WANT_READ) {
        size_t n = 0;
        char *end = reader->buffer + reader->end;
        status = netlib_stream_read(stream, end, sizeof reader->buffer - reader->end, &n, err);
        if (status == NETLIB_END_OF_STREAM) {
            return fail(NETLIB_PROTOCOL, err, "the peer closed the connection %s",
                        reader->end == 0 ? "without an answer" : "in the middle of the response head");
        }
        if (status != NETLIB_OK) return status;
        reader->end += n;
        status =
            netlib_response_parse_final(method, reader->buffer, reader->end, &state, response, &reader->start, err);
    }
    return status;
}

netlib_status reader_read_body(struct reader *reader, netlib_stream *stream, netlib_body_decoder *decoder,
                               const uint8_t **piece, size_t *len, netlib_error **err) {
    for (;;) {
        size_t consumed = 0;
        const char *data = reader->buffer + reader->start;
        netlib_status status =
            netlib_body_decoder_decode(decoder, data, reader->end - reader->start, &consumed, piece, len, err);
        reader->start += consumed;
        if (status != NETLIB_WANT_READ) return status;
        reader->start = 0;
        status = netlib_stream_read(stream, reader->buffer, sizeof reader->buffer, &reader->end, err);
        if (status == NETLIB_END_OF_STREAM) status = netlib_body_decoder_end(decoder, err);
        if (status != NETLIB_OK) return status;
    }
}
