/* See http.h. Read it from the end to the beginning, or from http_open downwards: small functions stand before the
 * ones that use them. */
#define _POSIX_C_SOURCE 200809L

#include "http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* More interim responses, or more trailer lines, than any honest server sends. */
enum { MOST_INTERIM_RESPONSES = 20, MOST_TRAILERS = 100 };

netlib_status http_fail(netlib_status status, netlib_error **err, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    netlib_status made = netlib_error_new(status, message, NULL, err, NULL);
    if (made == NETLIB_INVALID_UTF8) {
        /* A file's name may be anything; a message is text. */
        for (char *c = message; *c != '\0'; c++) *c = (unsigned char)*c < 0x80 ? *c : '?';
        made = netlib_error_new(status, message, NULL, err, NULL);
    }
    return made == NETLIB_OK ? status : made;
}

/* --- connecting --------------------------------------------------------------------------------------------------- */

bool http_is_secure(const netlib_url *url) {
    return strcmp(netlib_url_scheme(url, NULL), "https") == 0;
}

/* Sockets of our own are non-blocking: a wait is then always netlib's, which knows the limits. */
static netlib_status make_nonblocking(int fd, netlib_error **err) {
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0) return NETLIB_OK;
    return http_fail(NETLIB_IO, err, "cannot make the socket non-blocking: %s", strerror(errno));
}

static netlib_status open_tcp(struct http *http, const netlib_url *url, double connect_timeout, netlib_error **err) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_timeout(options, connect_timeout);
    netlib_status status = netlib_create_connection(netlib_url_host(url, NULL), netlib_url_port_or_default(url), options,
                                                    http->limit, &http->fd, err);
    netlib_connect_options_free(options);
    if (status != NETLIB_OK) {
        http->fd = -1;
        return status;
    }
    return make_nonblocking(http->fd, err);
}

static netlib_status open_tls(struct http *http, const netlib_url *url, const netlib_tls_context *tls,
                              netlib_error **err) {
    netlib_status status = netlib_tls_wrap_fd(tls, http->fd, netlib_url_host(url, NULL), &http->tls, err);
    if (status == NETLIB_OK) status = netlib_tls_stream_set_limit(http->tls, http->limit, err);
    if (status == NETLIB_OK) status = netlib_tls_stream_set_read_timeout(http->tls, http->read_timeout, err);
    if (status == NETLIB_OK) status = netlib_tls_stream_set_write_timeout(http->tls, http->read_timeout, err);
    if (status == NETLIB_OK) status = netlib_tls_stream_handshake(http->tls, err);
    return status;
}

/* Each connection has a clock of its own, so that the limits of one attempt do not run on into the next. */
static netlib_status limits_of(const netlib_timeout *timeout, double *connect, double *read, netlib_error **err) {
    netlib_timeout *clock = netlib_timeout_clone(timeout);
    netlib_status status = netlib_timeout_start_connect(clock, err);
    if (status == NETLIB_OK) status = netlib_timeout_connect_timeout(clock, connect, err);
    if (status == NETLIB_OK) status = netlib_timeout_read_timeout(clock, read, err);
    netlib_timeout_free(clock);
    return status;
}

void http_init(struct http *http, const netlib_limit *limit) {
    http->fd = -1;
    http->tls = NULL;
    http->limit = limit;
    http->start = http->end = 0;
}

netlib_status http_open(struct http *http, const netlib_url *url, const netlib_timeout *timeout,
                        const netlib_tls_context *tls, netlib_error **err) {
    double connect_timeout = 0;
    netlib_status status = limits_of(timeout, &connect_timeout, &http->read_timeout, err);
    if (status == NETLIB_OK) status = open_tcp(http, url, connect_timeout, err);
    if (status == NETLIB_OK && http_is_secure(url)) status = open_tls(http, url, tls, err);
    return status;
}

/* No closing message: the response has been read to its end, or is of no interest any more. */
void http_close(struct http *http) {
    netlib_tls_stream_free(http->tls);
    http->tls = NULL;
    if (http->fd >= 0) close(http->fd);
    http->fd = -1;
}

/* --- bytes in and out --------------------------------------------------------------------------------------------- */

static netlib_status send_all(struct http *http, const char *data, size_t len, netlib_error **err) {
    if (http->tls != NULL) {
        size_t sent = 0;
        return netlib_tls_stream_write(http->tls, data, len, &sent, err);
    }
    while (len > 0) {
        ssize_t sent = send(http->fd, data, len, MSG_NOSIGNAL);
        if (sent >= 0) {
            data += sent;
            len -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            netlib_status status = netlib_wait_for_write(http->fd, http->read_timeout, http->limit, err);
            if (status == NETLIB_TIMEOUT) {
                return http_fail(NETLIB_WRITE_TIMEOUT, err, "the server took nothing for %g s", http->read_timeout);
            }
            if (status != NETLIB_OK) return status;
        } else if (errno != EINTR) {
            return http_fail(NETLIB_PROTOCOL, err, "cannot send to the server: %s", strerror(errno));
        }
    }
    return NETLIB_OK;
}

/* NETLIB_END_OF_STREAM when the server has closed its side. */
static netlib_status receive(struct http *http, char *data, size_t len, size_t *received, netlib_error **err) {
    if (http->tls != NULL) return netlib_tls_stream_read(http->tls, data, len, received, err);
    for (;;) {
        netlib_status status = netlib_wait_for_read(http->fd, http->read_timeout, http->limit, err);
        if (status == NETLIB_TIMEOUT) {
            return http_fail(NETLIB_READ_TIMEOUT, err, "the server sent nothing for %g s", http->read_timeout);
        }
        if (status != NETLIB_OK) return status;
        ssize_t got = recv(http->fd, data, len, 0);
        if (got >= 0) {
            *received = (size_t)got;
            return got > 0 ? NETLIB_OK : NETLIB_END_OF_STREAM;
        }
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
            return http_fail(NETLIB_PROTOCOL, err, "cannot receive from the server: %s", strerror(errno));
        }
    }
}

/* Receives more into the buffer. */
static netlib_status fill(struct http *http, netlib_error **err) {
    memmove(http->buffer, http->buffer + http->start, http->end - http->start);
    http->end -= http->start;
    http->start = 0;
    if (http->end == HTTP_BUFFER_SIZE) {
        return http_fail(NETLIB_PROTOCOL, err, "the server sent a head or a line of more than %zu bytes",
                         HTTP_BUFFER_SIZE);
    }
    size_t received = 0;
    netlib_status status = receive(http, http->buffer + http->end, HTTP_BUFFER_SIZE - http->end, &received, err);
    http->end += received;
    return status;
}

/* --- the request -------------------------------------------------------------------------------------------------- */

/* A request of these methods without a body says so. */
static bool expects_body(const char *method) {
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

/* The head as it goes onto the wire, in memory of its own. `length` is -1 for a body of unknown length. */
static netlib_status write_head(const char *method, const netlib_url *url, const netlib_headers *headers,
                                const netlib_body *body, int64_t length, char **head, size_t *head_len,
                                netlib_error **err) {
    FILE *out = open_memstream(head, head_len);
    if (out == NULL) return http_fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the request");
    fprintf(out, "%s %s HTTP/1.1\r\n", method, netlib_url_request_uri(url, NULL));
    if (netlib_headers_get(headers, "host", NULL) == NULL) fprintf(out, "Host: %s\r\n", netlib_url_netloc(url, NULL));
    fputs(netlib_headers_wire(headers, NULL), out);
    if (body != NULL && length < 0) {
        fputs("Transfer-Encoding: chunked\r\n", out);
    } else if (body != NULL || expects_body(method)) {
        fprintf(out, "Content-Length: %lld\r\n", body != NULL ? (long long)length : 0);
    }
    fputs("Connection: close\r\n\r\n", out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) return http_fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the request");
    return NETLIB_OK;
}

/* A body that turns out longer or shorter than announced would be taken for another request by the server. */
static netlib_status send_known_body(struct http *http, netlib_body *body, int64_t length, netlib_error **err) {
    char piece[16 * 1024];
    int64_t left = length;
    while (left > 0) {
        size_t want = left < (int64_t)sizeof piece ? (size_t)left : sizeof piece;
        size_t got = 0;
        netlib_status status = netlib_body_read(body, piece, want, &got, err);
        if (status == NETLIB_END_OF_STREAM) {
            return http_fail(NETLIB_IO, err, "the request's body ended %lld bytes early", (long long)left);
        }
        if (status == NETLIB_OK) status = send_all(http, piece, got, err);
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
        if (status == NETLIB_END_OF_STREAM) return send_all(http, "0\r\n\r\n", 5, err);
        char size[32];
        int size_len = snprintf(size, sizeof size, "%zx\r\n", got);
        if (status == NETLIB_OK) status = send_all(http, size, (size_t)size_len, err);
        if (status == NETLIB_OK) status = send_all(http, piece, got, err);
        if (status == NETLIB_OK) status = send_all(http, "\r\n", 2, err);
        if (status != NETLIB_OK) return status;
    }
}

netlib_status http_send(struct http *http, const char *method, const netlib_url *url, const netlib_headers *headers,
                        netlib_body *body, netlib_error **err) {
    int64_t length = -1;
    char *head = NULL;
    size_t head_len = 0;
    netlib_status status = body != NULL ? netlib_body_length(body, &length, err) : NETLIB_OK;
    if (status == NETLIB_OK) status = write_head(method, url, headers, body, length, &head, &head_len, err);
    if (status == NETLIB_OK) status = send_all(http, head, head_len, err);
    free(head);
    if (status != NETLIB_OK || body == NULL) return status;
    return length < 0 ? send_chunked_body(http, body, err) : send_known_body(http, body, length, err);
}

/* --- the response ------------------------------------------------------------------------------------------------- */

static netlib_status read_one_head(struct http *http, const char *method, netlib_response **response,
                                   netlib_error **err) {
    for (;;) {
        size_t head_len = 0;
        netlib_status status = netlib_response_parse(method, http->buffer + http->start, http->end - http->start,
                                                     response, &head_len, err);
        if (status != NETLIB_WANT_READ) {
            http->start += head_len;
            return status;
        }
        status = fill(http, err);
        if (status == NETLIB_END_OF_STREAM) {
            return http_fail(NETLIB_PROTOCOL, err, "the server closed the connection %s",
                             http->end == 0 ? "without an answer" : "in the middle of the response's head");
        }
        if (status != NETLIB_OK) return status;
    }
}

netlib_status http_read_head(struct http *http, const char *method, netlib_response **response, netlib_error **err) {
    for (int interim = 0; interim < MOST_INTERIM_RESPONSES; interim++) {
        netlib_status status = read_one_head(http, method, response, err);
        if (status != NETLIB_OK || netlib_response_status(*response) >= 200) return status;
        netlib_response_free(*response);
        *response = NULL;
    }
    return http_fail(NETLIB_PROTOCOL, err, "the server sent %d interim responses", MOST_INTERIM_RESPONSES);
}

/* One line without its end, valid until more is received. */
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
            return http_fail(NETLIB_INCOMPLETE_READ, err, "the body ended between two chunks");
        }
        if (status != NETLIB_OK) return status;
    }
}

static netlib_status copy_exactly(struct http *http, int64_t length, http_sink sink, void *ctx, netlib_error **err) {
    int64_t left = length;
    while (left > 0) {
        netlib_status status = http->start == http->end ? fill(http, err) : NETLIB_OK;
        if (status == NETLIB_END_OF_STREAM) {
            return http_fail(NETLIB_INCOMPLETE_READ, err, "the body ended %lld bytes early", (long long)left);
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

/* `1a;name=value`: RFC 9112 section 7.1. Extensions are skipped. False when it is none, or too large to count. */
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
    for (int i = 0; i < MOST_TRAILERS; i++) {
        const char *line = NULL;
        netlib_status status = read_line(http, &line, err);
        if (status != NETLIB_OK || line[0] == '\0') return status;
    }
    return http_fail(NETLIB_PROTOCOL, err, "the server sent more than %d trailers", MOST_TRAILERS);
}

static netlib_status copy_chunks(struct http *http, http_sink sink, void *ctx, netlib_error **err) {
    for (;;) {
        const char *line = NULL;
        int64_t size = 0;
        netlib_status status = read_line(http, &line, err);
        if (status != NETLIB_OK) return status;
        if (!parse_chunk_size(line, &size)) {
            return http_fail(NETLIB_PROTOCOL, err, "the server sent a chunk without a usable size");
        }
        if (size == 0) return skip_trailers(http, err);
        status = copy_exactly(http, size, sink, ctx, err);
        if (status == NETLIB_OK) status = read_line(http, &line, err);
        if (status != NETLIB_OK) return status;
        if (line[0] != '\0') return http_fail(NETLIB_PROTOCOL, err, "a chunk is longer than its size");
    }
}

netlib_status http_read_body(struct http *http, const netlib_response *response, http_sink sink, void *ctx,
                             netlib_error **err) {
    int32_t framing = NETLIB_BODY_NONE;
    int64_t length = 0;
    netlib_status status = netlib_response_framing(response, &framing, &length, err);
    if (status != NETLIB_OK) return status;
    switch (framing) {
        case NETLIB_BODY_LENGTH: return copy_exactly(http, length, sink, ctx, err);
        case NETLIB_BODY_CHUNKED: return copy_chunks(http, sink, ctx, err);
        case NETLIB_BODY_UNTIL_CLOSE: return copy_until_close(http, sink, ctx, err);
        default: return NETLIB_OK;
    }
}
