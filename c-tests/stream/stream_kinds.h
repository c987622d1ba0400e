/* Connects two streams of one kind: plain, TLS, TLS inside a plain stream, or TLS inside TLS; on a descriptor or on
 * callbacks. */
#ifndef NETLIB_TEST_STREAM_KINDS_H
#define NETLIB_TEST_STREAM_KINDS_H

#include "tls_peer.h"

#include <errno.h>

enum kind {
    PLAIN_FD,
    TLS_FD,
    PLAIN_CALLBACKS,
    TLS_CALLBACKS,
    TLS_IN_PLAIN_FD,
    TLS_IN_PLAIN_CALLBACKS,
    TLS_IN_TLS_FD,
    TLS_IN_TLS_CALLBACKS,
    KINDS
};

static const char *const kind_names[KINDS] = {
    "plain fd",        "TLS on fd",
    "plain callbacks", "TLS callbacks",
    "TLS in plain fd", "TLS in plain callbacks",
    "TLS in TLS fd",   "TLS in TLS callbacks",
};

static inline bool is_plain(enum kind kind) { return kind == PLAIN_FD || kind == PLAIN_CALLBACKS; }

static inline bool has_callbacks(enum kind kind) {
    return kind == PLAIN_CALLBACKS || kind == TLS_CALLBACKS || kind == TLS_IN_PLAIN_CALLBACKS ||
           kind == TLS_IN_TLS_CALLBACKS;
}

static netlib_tls_context *client, *server;

/* The `ctx` of callbacks that use a socket. */
struct wire {
    int fd;
    int flags;       /* MSG_DONTWAIT, or 0 if the callbacks wait */
    int32_t failure; /* if not 0, the status that the read callback returns */
};

static inline int32_t wire_status(netlib_status want) {
    if (errno == EAGAIN) return want;
    return errno == ECONNRESET || errno == EPIPE ? NETLIB_PROTOCOL : -1;
}

static inline int32_t wire_read(void *ctx, void *buf, size_t len, size_t *n) {
    const struct wire *wire = ctx;
    if (wire->failure != 0) return wire->failure;
    ssize_t got = recv(wire->fd, buf, len, wire->flags);
    if (got < 0) return wire_status(NETLIB_WANT_READ);
    *n = (size_t)got;
    return NETLIB_OK;
}

static inline int32_t wire_write(void *ctx, const void *buf, size_t len, size_t *n) {
    const struct wire *wire = ctx;
    ssize_t sent = send(wire->fd, buf, len, wire->flags | MSG_NOSIGNAL);
    if (sent < 0) return wire_status(NETLIB_WANT_WRITE);
    *n = (size_t)sent;
    return NETLIB_OK;
}

/* Two connected streams. If they are TLS streams, their handshake is complete. */
struct ends {
    enum kind kind;
    struct pair pair;
    struct wire near_wire, far_wire;
    netlib_stream *near, *far;
};

static inline netlib_stream *new_plain(enum kind kind, struct wire *wire) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    if (has_callbacks(kind)) {
        CHECK_OK(netlib_stream_new_callbacks(wire_read, wire_write, wire, NULL, &stream, &err));
    } else {
        CHECK_OK(netlib_stream_new_fd(wire->fd, &stream, &err));
    }
    return stream;
}

static inline netlib_stream *new_stream(enum kind kind, struct wire *wire, bool is_server) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL, *outer = NULL;
    switch (kind) {
    case PLAIN_FD:
    case PLAIN_CALLBACKS: return new_plain(kind, wire);
    case TLS_FD: return is_server ? accept_tls(server, wire->fd) : wrap(client, wire->fd, "localhost");
    case TLS_CALLBACKS:
        if (is_server) {
            CHECK_OK(netlib_tls_accept_callbacks(server, wire_read, wire_write, wire, NULL, &stream, &err));
        } else {
            CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", wire_read, wire_write, wire, NULL, &stream, &err));
        }
        return stream;
    default:
        outer = kind == TLS_IN_TLS_FD          ? new_stream(TLS_FD, wire, is_server)
                : kind == TLS_IN_TLS_CALLBACKS ? new_stream(TLS_CALLBACKS, wire, is_server)
                                               : new_plain(kind, wire);
        if (is_server) {
            CHECK_OK(netlib_tls_accept_stream(server, outer, &stream, &err));
        } else {
            CHECK_OK(netlib_tls_wrap_stream(client, outer, "localhost", &stream, &err));
        }
        netlib_stream_free(outer);
        return stream;
    }
}

static inline void *do_handshake(void *stream) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_handshake(stream, &err));
    return NULL;
}

/* Sets whether calls on both streams wait, and whether the callbacks of the streams wait. */
static inline void set_waiting(struct ends *ends, bool waits) {
    netlib_error *err = NULL;
    ends->near_wire.flags = ends->far_wire.flags = waits ? 0 : MSG_DONTWAIT;
    CHECK_OK(netlib_stream_set_blocking(ends->near, waits, &err));
    CHECK_OK(netlib_stream_set_blocking(ends->far, waits, &err));
}

static inline void connect_ends(struct ends *ends, enum kind kind, struct pair pair) {
    netlib_error *err = NULL;
    pthread_t thread;
    ends->kind = kind;
    ends->pair = pair;
    ends->near_wire = (struct wire){.fd = pair.near};
    ends->far_wire = (struct wire){.fd = pair.far};
    ends->near = new_stream(kind, &ends->near_wire, false);
    ends->far = new_stream(kind, &ends->far_wire, true);
    CHECK(pthread_create(&thread, NULL, do_handshake, ends->far) == 0);
    CHECK_OK(netlib_stream_handshake(ends->near, &err));
    CHECK(pthread_join(thread, NULL) == 0);
}

static inline void free_ends(struct ends *ends) {
    netlib_stream_free(ends->near);
    netlib_stream_free(ends->far);
    close_pair(ends->pair);
}

/* Shuts down the sending direction of a stream. A plain stream on callbacks cannot do this, so the test shuts down the
 * socket itself. */
static inline void shut_down(struct ends *ends, bool is_near) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_shutdown(is_near ? ends->near : ends->far, &err));
    if (ends->kind == PLAIN_CALLBACKS) CHECK(shutdown(is_near ? ends->pair.near : ends->pair.far, SHUT_WR) == 0);
}

static inline void write_text(netlib_stream *stream, const char *text) {
    netlib_error *err = NULL;
    size_t n = 0;
    CHECK_OK(netlib_stream_write(stream, text, strlen(text), &n, &err));
    CHECK_INT((long long)strlen(text), (long long)n);
}

/* Reads exactly `text`, and no byte more. */
static inline void read_text(netlib_stream *stream, const char *text) {
    netlib_error *err = NULL;
    char bytes[200] = {0};
    size_t done = 0, n = 0, len = strlen(text);
    while (done < len) {
        netlib_status status = netlib_stream_read(stream, bytes + done, len - done, &n, &err);
        CHECK_STATUS(NETLIB_OK, status);
        if (status != NETLIB_OK) return;
        done += n;
    }
    CHECK_STR(text, bytes);
}

static inline void expect_read(netlib_status expected, netlib_stream *stream) {
    netlib_error *err = NULL;
    char byte;
    size_t n = 1;
    CHECK_STATUS(expected, netlib_stream_read(stream, &byte, 1, &n, &err));
    CHECK_INT(0, (long long)n);
}

static inline void expect_write(netlib_status expected, netlib_stream *stream) {
    netlib_error *err = NULL;
    size_t n = 1;
    CHECK_STATUS(expected, netlib_stream_write(stream, "x", 1, &n, &err));
    CHECK_INT(0, (long long)n);
}

static inline void expect_dropped(int32_t expected, netlib_status expected_why, netlib_stream *stream) {
    netlib_error *err = NULL;
    int32_t dropped = -1;
    netlib_status why = -1;
    CHECK_OK(netlib_stream_is_dropped(stream, &dropped, &why, &err));
    CHECK_INT(expected, dropped);
    CHECK_INT(expected_why, why);
}

#endif
