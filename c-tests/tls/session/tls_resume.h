/* Functions that connect two engines, return the result, and take sessions from client engines. */
#ifndef NETLIB_TEST_TLS_RESUME_H
#define NETLIB_TEST_TLS_RESUME_H

#include "tls_wire.h"

#include <time.h>

#define VERIFY CERTS "verify/"
#define ANOTHER_CONTEXT \
    "session was created by another context, which may have other trust anchors and client certificates"

static inline netlib_tls_context *client_of(int32_t version, void (*set)(netlib_tls_options *)) {
    netlib_tls_options *options = client_options();
    if (set != NULL) set(options);
    netlib_tls_options_set_maximum_version(options, version);
    return context_of(options);
}

static inline netlib_tls_context *server_of(const char *protocol, int32_t mode) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_verify_mode(options, mode);
    netlib_tls_options_set_session_tickets(options, 1);
    if (protocol != NULL) {
        netlib_tls_options_add_alpn_protocol(options, "h2");
        netlib_tls_options_add_alpn_protocol(options, protocol);
    }
    return context_of(options);
}

/* The result of a connection between two engines: a failure, a full handshake or a resumed session. */
enum outcome { REFUSED, FULL, RESUMED };

/* Does the handshake of two engines, and delivers the tickets and a byte of data. */
static inline enum outcome finish(struct wire *wire) {
    char got[10];
    struct handshake_result result = run_handshake(wire);
    if (result.client != NETLIB_OK || result.server != NETLIB_OK) return REFUSED;
    CHECK_INT(1, (long long)transfer(wire, true, "x", got, sizeof got));
    CHECK_INT(netlib_tls_engine_is_resumed(wire->server), netlib_tls_engine_is_resumed(wire->client));
    return netlib_tls_engine_is_resumed(wire->client) ? RESUMED : FULL;
}

static inline enum outcome connect_to(const netlib_tls_context *client, const netlib_tls_context *server,
                                      const char *name) {
    struct wire wire = {client_engine(client, name), server_engine(server), 20000, 0, 0};
    enum outcome outcome = finish(&wire);
    free_wire(&wire);
    return outcome;
}

/* Returns the session of a new connection. */
static inline netlib_tls_session *session_of(const netlib_tls_context *client, const netlib_tls_context *server,
                                             const char *name) {
    netlib_error *err = NULL;
    netlib_tls_session *session = NULL;
    struct wire wire = {client_engine(client, name), server_engine(server), 20000, 0, 0};
    CHECK(finish(&wire) != REFUSED);
    CHECK_OK(netlib_tls_engine_take_session(wire.client, &session, &err));
    CHECK(session != NULL);
    free_wire(&wire);
    return session;
}

static inline enum outcome connect_with(const netlib_tls_context *client, const netlib_tls_context *server,
                                        const char *name, const netlib_tls_session *session) {
    netlib_error *err = NULL;
    struct wire wire = {client_engine(client, name), server_engine(server), 20000, 0, 0};
    CHECK_OK(netlib_tls_engine_set_session(wire.client, session, &err));
    enum outcome outcome = finish(&wire);
    free_wire(&wire);
    return outcome;
}

static inline void check_refused(const netlib_tls_context *client, const char *name, const netlib_tls_session *session,
                                 const char *message) {
    netlib_error *err = NULL;
    netlib_tls_engine *engine = client_engine(client, name);
    CHECK(netlib_tls_engine_set_session(engine, session, &err) == NETLIB_INVALID_ARGUMENT && err != NULL);
    CHECK_STR(message, netlib_error_message(err, NULL));
    netlib_error_free(err);
    netlib_tls_engine_free(engine);
}

#endif
