/* A connection of two engines in memory. The test moves the bytes, so no call waits, and every step is counted. */
#ifndef NETLIB_TEST_TLS_WIRE_H
#define NETLIB_TEST_TLS_WIRE_H

#include "tls_peer.h"

struct wire {
    netlib_tls_engine *client, *server;
    size_t piece;        /* the number of bytes that are moved at once */
    unsigned long steps; /* number of calls that could make progress */
    unsigned long bytes; /* number of bytes moved */
};

static inline netlib_tls_engine *client_engine(const netlib_tls_context *context, const char *name) {
    netlib_error *err = NULL;
    netlib_tls_engine *engine = NULL;
    CHECK_OK(netlib_tls_engine_new_client(context, name, &engine, &err));
    return engine;
}

static inline netlib_tls_engine *server_engine(const netlib_tls_context *context) {
    netlib_error *err = NULL;
    netlib_tls_engine *engine = NULL;
    CHECK_OK(netlib_tls_engine_new_server(context, &engine, &err));
    return engine;
}

static inline struct wire wire_of(const netlib_tls_context *client, const netlib_tls_context *server, size_t piece) {
    struct wire wire = {client_engine(client, "localhost"), server_engine(server), piece, 0, 0};
    return wire;
}

static inline void free_wire(struct wire *wire) {
    netlib_tls_engine_free(wire->client);
    netlib_tls_engine_free(wire->server);
}

/* Feeds all bytes, or fewer if the engine fails. Returns the number of accepted bytes. */
static inline size_t feed_all(netlib_tls_engine *engine, const void *data, size_t len) {
    size_t done = 0, n = 1;
    while (done < len && n > 0) {
        if (netlib_tls_engine_feed(engine, (const char *)data + done, len - done, &n, NULL) != NETLIB_OK) break;
        done += n;
    }
    return done;
}

static inline size_t drain_all(netlib_tls_engine *engine, void *buf, size_t len) {
    netlib_error *err = NULL;
    size_t n = 0;
    CHECK_OK(netlib_tls_engine_drain(engine, buf, len, &n, &err));
    return n;
}

/* Moves up to `piece` bytes from one engine to the other. Returns the number of bytes that were moved. */
static inline size_t move_piece(struct wire *wire, netlib_tls_engine *from, netlib_tls_engine *to) {
    char bytes[20000];
    size_t n = drain_all(from, bytes, wire->piece < sizeof bytes ? wire->piece : sizeof bytes);
    if (n > 0) (void)feed_all(to, bytes, n);
    wire->steps += n > 0 ? 2 : 1;
    wire->bytes += n;
    return n;
}

/* The results of a handshake on both sides. */
struct handshake_result {
    netlib_status client, server;
    int32_t client_alert, server_alert;
    char message[2][400];
};

static inline void handshake_step(struct wire *wire, struct handshake_result *result, bool is_server) {
    netlib_error *err = NULL;
    netlib_status *status = is_server ? &result->server : &result->client;
    if (*status != NETLIB_WANT_READ) return;
    *status = netlib_tls_engine_handshake(is_server ? wire->server : wire->client, &err);
    wire->steps++;
    if (err != NULL) {
        *(is_server ? &result->server_alert : &result->client_alert) = netlib_error_tls_alert(err);
        snprintf(result->message[is_server], sizeof result->message[0], "%s", netlib_error_message(err, NULL));
    }
    netlib_error_free(err);
}

/* Runs the handshake until neither side makes progress. */
static inline struct handshake_result run_handshake(struct wire *wire) {
    struct handshake_result result = {NETLIB_WANT_READ, NETLIB_WANT_READ, -1, -1, {"", ""}};
    size_t moved = 1;
    while (moved > 0) {
        handshake_step(wire, &result, false);
        moved = move_piece(wire, wire->client, wire->server);
        handshake_step(wire, &result, true);
        moved += move_piece(wire, wire->server, wire->client);
    }
    return result;
}

static inline void check_handshake(netlib_status client, netlib_status server, struct handshake_result outcome,
                                   const char *file, int line) {
    check_int(client, outcome.client, file, line, "the client's handshake");
    check_int(server, outcome.server, file, line, "the server's handshake");
    if (outcome.client != client)
        fprintf(stderr, "    %s: %s\n", netlib_status_name(outcome.client), outcome.message[0]);
    if (outcome.server != server)
        fprintf(stderr, "    %s: %s\n", netlib_status_name(outcome.server), outcome.message[1]);
}

#define CHECK_HANDSHAKE(client, server, outcome) check_handshake((client), (server), (outcome), __FILE__, __LINE__)

/* Writes `text` on one side, moves the records, and reads on the other side. Returns the number of bytes that were
 * read. */
static inline size_t transfer(struct wire *wire, bool from_server, const char *text, char *out, size_t room) {
    netlib_error *err = NULL;
    netlib_tls_engine *from = from_server ? wire->server : wire->client,
                      *to = from_server ? wire->client : wire->server;
    size_t len = strlen(text), written = 0, got = 0, n = 0;
    CHECK_OK(netlib_tls_engine_write(from, text, len, &written, &err));
    CHECK_INT((long long)len, (long long)written);
    for (;;) {
        size_t moved = move_piece(wire, from, to);
        netlib_status status = netlib_tls_engine_read(to, out + got, room - got, &n, &err);
        wire->steps += 2;
        got += n;
        if (status != NETLIB_OK) CHECK_STATUS(NETLIB_WANT_READ, status);
        if (status != NETLIB_OK && moved == 0) return got;
    }
}

#endif
