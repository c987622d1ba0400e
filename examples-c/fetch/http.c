/* Implements http.h. Each function is defined before the functions that call it. */
#define _POSIX_C_SOURCE 200809L

#include "http.h"

#include "failure.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The maximum numbers of interim responses and of trailer lines, more than any honest server sends. */
enum { MAX_INTERIM_RESPONSES = 20, MAX_TRAILERS = 100 };

void http_init(struct http *http, const netlib_limit *limit) {
    connection_init(&http->connection, limit);
    http->for_proxy = NULL;
    http->start = http->end = 0;
}

void http_close(struct http *http) { connection_close(&http->connection); }

/* Receives more bytes into the buffer. */
static netlib_status fill(struct http *http, netlib_error **err) {
    memmove(http->buffer, http->buffer + http->start, http->end - http->start);
    http->end -= http->start;
    http->start = 0;
    if (http->end == HTTP_BUFFER_SIZE) {
        return fail(NETLIB_PROTOCOL, err, "%s sent a response head or line of more than %zu bytes",
                    http->connection.peer, HTTP_BUFFER_SIZE);
    }
    size_t received = 0;
    netlib_status status =
        connection_receive(&http->connection, http->buffer + http->end, HTTP_BUFFER_SIZE - http->end, &received, err);
    http->end += received;
    return status;
}

/* --- the request -------------------------------------------------------------------------------------------------- */

/* Returns true for methods whose requests have Content-Length: 0 if they have no body. */
static bool expects_body(const char *method) {
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

/* Writes the request's head into newly allocated memory. `length` is -1 for a body of unknown length. */
static netlib_status write_head(const struct http *http, const char *method, const netlib_url *url,
                                const netlib_headers *headers, const netlib_body *body, int64_t length, char **head,
                                size_t *head_len, netlib_error **err) {
    FILE *out = open_memstream(head, head_len);
    if (out == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the request");
    fprintf(out, "%s ", method);
    if (http->for_proxy != NULL) fprintf(out, "http://%s", netlib_url_netloc(url, NULL));
    fprintf(out, "%s HTTP/1.1\r\n", netlib_url_request_uri(url, NULL));
    if (netlib_headers_get(headers, "host", NULL) == NULL) fprintf(out, "Host: %s\r\n", netlib_url_netloc(url, NULL));
    fputs(netlib_headers_to_wire(headers, NULL), out);
    if (http->for_proxy != NULL) fputs(netlib_headers_to_wire(http->for_proxy, NULL), out);
    if (body != NULL && length < 0) {
        fputs("Transfer-Encoding: chunked\r\n", out);
    } else if (body != NULL || expects_body(method)) {
        fprintf(out, "Content-Length: %lld\r\n", body != NULL ? (long long)length : 0);
    }
    fputs("Connection: close\r\n\r\n", out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the request");
    return NETLIB_OK;
}

/* Sends exactly `length` bytes of the body, even if the file has grown: the server would take further bytes for another
 * request. */
static netlib_status send_known_body(struct http *http, netlib_body *body, int64_t length, netlib_error **err) {
    char piece[16 * 1024];
    int64_t left = length;
    while (left > 0) {
        size_t want = left < (int64_t)sizeof piece ? (size_t)left : sizeof piece;
        size_t got = 0;
        netlib_status status = netlib_body_read(body, piece, want, &got, err);
        if (status == NETLIB_END_OF_STREAM) {
            return fail(NETLIB_IO, err, "the request body ended %lld bytes early", (long long)left);
        }
        if (status == NETLIB_OK) status = connection_send(&http->connection, piece, got, err);
        if (status != NETLIB_OK) return status;
        left -= (int64_t)got;
    }
    return NETLIB_OK;
}

static netlib_status send_chunked_body(struct http *http, netlib_body *body, netlib_error **err) {
    char piece[16 * 1024];
    for (;;) {
        size_t got = 0;
        netlib_status status = netlib_body_read(body, piece, sizeof piece, &got, err);
        if (status == NETLIB_END_OF_STREAM) return connection_send(&http->connection, "0\r\n\r\n", 5, err);
        char size[32];
        int size_len = snprintf(size, sizeof size, "%zx\r\n", got);
        if (status == NETLIB_OK) status = connection_send(&http->connection, size, (size_t)size_len, err);
        if (status == NETLIB_OK) status = connection_send(&http->connection, piece, got, err);
        if (status == NETLIB_OK) status = connection_send(&http->connection, "\r\n", 2, err);
        if (status != NETLIB_OK) return status;
    }
}

netlib_status http_send(struct http *http, const char *method, const netlib_url *url, const netlib_headers *headers,
                        netlib_body *body, netlib_error **err) {
    int64_t length = -1;
    char *head = NULL;
    size_t head_len = 0;
    netlib_status status = body != NULL ? netlib_body_length(body, &length, err) : NETLIB_OK;
    if (status == NETLIB_OK) status = write_head(http, method, url, headers, body, length, &head, &head_len, err);
    if (status == NETLIB_OK) status = connection_send(&http->connection, head, head_len, err);
    free(head);
    if (status != NETLIB_OK || body == NULL) return status;
    return length < 0 ? send_chunked_body(http, body, err) : send_known_body(http, body, length, err);
}

/* --- the response ------------------------------------------------------------------------------------------------- */

static netlib_status read_one_head(struct http *http, const char *method, netlib_response **response,
                                   netlib_error **err) {
    uint64_t state = 0;
    for (;;) {
        size_t head_len = 0;
        netlib_status status = netlib_response_parse(method, http->buffer + http->start, http->end - http->start,
                                                     &state, response, &head_len, err);
        if (status != NETLIB_WANT_READ) {
            http->start += head_len;
            return status;
        }
        status = fill(http, err);
        if (status == NETLIB_END_OF_STREAM) {
            return fail(NETLIB_PROTOCOL, err, "%s closed the connection %s", http->connection.peer,
                        http->end == 0 ? "without an answer" : "in the middle of the response head");
        }
        if (status != NETLIB_OK) return status;
    }
}

netlib_status http_read_head(struct http *http, const char *method, netlib_response **response, netlib_error **err) {
    for (int interim = 0; interim < MAX_INTERIM_RESPONSES; interim++) {
        netlib_status status = read_one_head(http, method, response, err);
        if (status != NETLIB_OK || netlib_response_status(*response) >= 200) return status;
        netlib_response_free(*response);
        *response = NULL;
    }
    return fail(NETLIB_PROTOCOL, err, "%s sent %d interim responses", http->connection.peer, MAX_INTERIM_RESPONSES);
}

/* Reads one line without its line ending. The line is valid until more bytes are received. */
static netlib_status read_line(struct http *http, const char **line, netlib_error **err) {
    for (;;) {
        char *start = http->buffer + http->start;
        char *end = memchr(start, '\n', http->end - http->start);
        if (end != NULL) {
            http->start += (size_t)(end - start) + 1;
            if (end > start && end[-1] == '\r') end--;
            *end = '\0';
            *line = start;
            return NETLIB_OK;
        }
        netlib_status status = fill(http, err);
        if (status == NETLIB_END_OF_STREAM) {
            return fail(NETLIB_INCOMPLETE_READ, err, "the body ended between two chunks");
        }
        if (status != NETLIB_OK) return status;
    }
}

static netlib_status copy_exactly(struct http *http, int64_t length, http_sink sink, void *ctx, netlib_error **err) {
    int64_t left = length;
    while (left > 0) {
        netlib_status status = http->start == http->end ? fill(http, err) : NETLIB_OK;
        if (status == NETLIB_END_OF_STREAM) {
            return fail(NETLIB_INCOMPLETE_READ, err, "the body ended %lld bytes early", (long long)left);
        }
        if (status != NETLIB_OK) return status;
        size_t len = http->end - http->start;
        if ((int64_t)len > left) len = (size_t)left;
        status = sink(ctx, http->buffer + http->start, len, err);
        if (status != NETLIB_OK) return status;
        http->start += len;
        left -= (int64_t)len;
    }
    return NETLIB_OK;
}

static netlib_status copy_until_close(struct http *http, http_sink sink, void *ctx, netlib_error **err) {
    netlib_status status = NETLIB_OK;
    while (status == NETLIB_OK) {
        status = sink(ctx, http->buffer + http->start, http->end - http->start, err);
        http->start = http->end;
        if (status == NETLIB_OK) status = fill(http, err);
    }
    return status == NETLIB_END_OF_STREAM ? NETLIB_OK : status;
}

/* Parses the line before a chunk, such as `1a;name=value` (RFC 9112 section 7.1), and ignores chunk extensions. Returns
 * false if the line is invalid or the size is too large. */
static bool parse_chunk_size(const char *line, int64_t *size) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int64_t value = 0;
    size_t at = 0;
    for (; line[at] != '\0'; at++) {
        const char *digit = strchr(digits, line[at]);
        if (digit == NULL) break;
        if (value > INT64_MAX / 16 - 1) return false;
        value = value * 16 + (digit - digits) % 16;
    }
    *size = value;
    return at > 0 && (line[at] == '\0' || line[at] == ';' || line[at] == ' ' || line[at] == '\t');
}

static netlib_status skip_trailers(struct http *http, netlib_error **err) {
    for (int i = 0; i < MAX_TRAILERS; i++) {
        const char *line = NULL;
        netlib_status status = read_line(http, &line, err);
        if (status != NETLIB_OK || line[0] == '\0') return status;
    }
    return fail(NETLIB_PROTOCOL, err, "the server sent more than %d trailers", MAX_TRAILERS);
}

static netlib_status copy_chunks(struct http *http, http_sink sink, void *ctx, netlib_error **err) {
    for (;;) {
        const char *line = NULL;
        int64_t size = 0;
        netlib_status status = read_line(http, &line, err);
        if (status != NETLIB_OK) return status;
        if (!parse_chunk_size(line, &size)) {
            return fail(NETLIB_PROTOCOL, err, "the server sent a chunk without a usable size");
        }
        if (size == 0) return skip_trailers(http, err);
        status = copy_exactly(http, size, sink, ctx, err);
        if (status == NETLIB_OK) status = read_line(http, &line, err);
        if (status != NETLIB_OK) return status;
        if (line[0] != '\0') return fail(NETLIB_PROTOCOL, err, "a chunk is longer than its size");
    }
}

netlib_status http_read_body(struct http *http, const netlib_response *response, http_sink sink, void *ctx,
                             netlib_error **err) {
    enum netlib_body_framing framing = NETLIB_BODY_FRAMING_NONE;
    int64_t length = 0;
    netlib_status status = netlib_response_framing(response, &framing, &length, err);
    if (status != NETLIB_OK) return status;
    switch (framing) {
    case NETLIB_BODY_FRAMING_LENGTH: return copy_exactly(http, length, sink, ctx, err);
    case NETLIB_BODY_FRAMING_CHUNKED: return copy_chunks(http, sink, ctx, err);
    case NETLIB_BODY_FRAMING_UNTIL_CLOSE: return copy_until_close(http, sink, ctx, err);
    default: return NETLIB_OK;
    }
}
