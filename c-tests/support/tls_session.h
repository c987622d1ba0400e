/* A session between a client stream and a server engine. The test decides when the stream gets which bytes of the
 * engine. */
#ifndef NETLIB_TEST_TLS_SESSION_H
#define NETLIB_TEST_TLS_SESSION_H

#include "tls_wire.h"

#include <netinet/tcp.h>

/* main creates and frees the contexts. */
static netlib_tls_context *client, *server;

/* A client stream, and a server engine. The test moves the bytes between the stream's socket and the engine. */
struct session {
    struct pair pair;
    netlib_stream *near;
    netlib_tls_engine *far;
    char tickets[4000];
    size_t tickets_len;
};

/* Returns a TCP connection without Nagle's algorithm, so that the peer can read sent bytes immediately. */
static inline struct pair prompt_pair(void) {
    struct pair pair = tcp_pair();
    CHECK(setsockopt(pair.far, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0);
    return pair;
}

static inline void send_raw(struct session *session, const void *bytes, size_t len) {
    CHECK_INT((long long)len, send(session->pair.far, bytes, len, MSG_NOSIGNAL));
}

/* Feeds the server engine with the bytes that the client has sent. */
static inline void receive_far(struct session *session) {
    char bytes[20000];
    ssize_t n = 0;
    while ((n = recv(session->pair.far, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        CHECK_INT(n, (long long)feed_all(session->far, bytes, (size_t)n));
    }
}

/* Creates a session and does the handshake. The tickets of the server are in `tickets`, and have not been sent. */
static inline struct session begin(struct pair pair) {
    struct session session = {.pair = pair, .near = wrap(client, pair.near, "localhost"), .far = server_engine(server)};
    netlib_error *err = NULL;
    char bytes[20000];
    CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    send_raw(&session, bytes, drain_all(session.far, bytes, sizeof bytes));
    CHECK_OK(netlib_stream_handshake(session.near, &err));
    CHECK_OK(netlib_stream_set_blocking(session.near, 1, &err)); /* no call may wait from now on */
    receive_far(&session);
    CHECK_OK(netlib_tls_engine_handshake(session.far, &err));
    session.tickets_len = drain_all(session.far, session.tickets, sizeof session.tickets);
    CHECK(session.tickets_len > 100 && session.tickets_len < sizeof session.tickets);
    return session;
}

static inline void end(struct session *session) {
    netlib_stream_free(session->near);
    netlib_tls_engine_free(session->far);
    close_pair(session->pair);
}

static inline size_t from_server(struct session *session, const char *text, char *bytes, size_t room) {
    netlib_error *err = NULL;
    size_t n = 0;
    CHECK_OK(netlib_tls_engine_write(session->far, text, strlen(text), &n, &err));
    return drain_all(session->far, bytes, room);
}

#endif
