/* Implements body.h. */
#include "body.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TRAILERS = 100 };

static netlib_status fail(netlib_status status, const char *message, netlib_error **err) {
    netlib_status made = netlib_error_new(status, message, NULL, err, NULL);
    return made == NETLIB_OK ? status : made;
}

netlib_status body_begin(struct body *body, const netlib_response *response, netlib_error **err) {
    *body = (struct body){.expected = CHUNK_SIZE};
    return netlib_response_framing(response, &body->framing, &body->left, err);
}

/* Counts received bytes as body data, up to the end of the body or of the current chunk. Returns the number of bytes
 * used. */
static size_t take_data(struct body *body, size_t len) {
    size_t taken = (int64_t)len < body->left ? len : (size_t)body->left;
    body->bytes += (int64_t)taken;
    body->left -= (int64_t)taken;
    return taken;
}

/* Parses the line before a chunk, such as `1a;name=value` (RFC 9112 section 7.1), and ignores chunk extensions. Returns
 * false if the line is invalid or the size is too large. */
static bool parse_chunk_size(const char *line, size_t len, int64_t *size) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int64_t value = 0;
    size_t at = 0;
    for (; at < len; at++) {
        const char *digit = memchr(digits, line[at], sizeof digits - 1);
        if (digit == NULL) break;
        if (value > INT64_MAX / 16 - 1) return false;
        value = value * 16 + (digit - digits) % 16;
    }
    *size = value;
    return at > 0 && (at == len || strchr("; \t", line[at]) != NULL);
}

/* Handles a line between chunks or after the last chunk. Sets `done` after the last line of the body. */
static netlib_status take_line(struct body *body, const char *line, size_t len, bool *done, netlib_error **err) {
    switch (body->expected) {
    case CHUNK_SIZE:
        if (!parse_chunk_size(line, len, &body->left)) {
            return fail(NETLIB_PROTOCOL, "the server sent a chunk without a usable size", err);
        }
        body->expected = body->left > 0 ? CHUNK_DATA : TRAILER;
        return NETLIB_OK;
    case CHUNK_END:
        if (len > 0) return fail(NETLIB_PROTOCOL, "a chunk is longer than its size", err);
        body->expected = CHUNK_SIZE;
        return NETLIB_OK;
    default:
        *done = len == 0;
        if (*done || ++body->trailers <= MAX_TRAILERS) return NETLIB_OK;
        return fail(NETLIB_PROTOCOL, "the server sent too many trailers", err);
    }
}

static netlib_status take_chunks(struct body *body, const char *data, size_t len, size_t *used, netlib_error **err) {
    bool done = false;
    while (!done) {
        if (body->expected == CHUNK_DATA) {
            *used += take_data(body, len - *used);
            if (body->left > 0) return NETLIB_WANT_READ;
            body->expected = CHUNK_END;
        }
        const char *line = data + *used;
        const char *end = memchr(line, '\n', len - *used);
        if (end == NULL) return NETLIB_WANT_READ;
        *used += (size_t)(end - line) + 1;
        if (end > line && end[-1] == '\r') end--;
        netlib_status status = take_line(body, line, (size_t)(end - line), &done, err);
        if (status != NETLIB_OK) return status;
    }
    return NETLIB_OK;
}

netlib_status body_take(struct body *body, const char *data, size_t len, size_t *used, netlib_error **err) {
    *used = 0;
    switch (body->framing) {
    case NETLIB_BODY_FRAMING_LENGTH: *used = take_data(body, len); return body->left > 0 ? NETLIB_WANT_READ : NETLIB_OK;
    case NETLIB_BODY_FRAMING_CHUNKED: return take_chunks(body, data, len, used, err);
    case NETLIB_BODY_FRAMING_UNTIL_CLOSE:
        *used = len;
        body->bytes += (int64_t)len;
        return NETLIB_WANT_READ;
    default: return NETLIB_OK;
    }
}

netlib_status body_end(const struct body *body, netlib_error **err) {
    char message[64];
    switch (body->framing) {
    case NETLIB_BODY_FRAMING_LENGTH:
        snprintf(message, sizeof message, "the body ended %lld bytes early", (long long)body->left);
        return fail(NETLIB_INCOMPLETE_READ, message, err);
    case NETLIB_BODY_FRAMING_CHUNKED: return fail(NETLIB_INCOMPLETE_READ, "the body ended before its last chunk", err);
    default: return NETLIB_OK;
    }
}
