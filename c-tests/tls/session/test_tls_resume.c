/* Tests session resumption: which sessions a context resumes, and sessions that the caller stores. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_resume.h"

/* Each function that SETTING defines changes one setting of a client context, or none. */
static int32_t right_time(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = (double)time(NULL);
    return NETLIB_OK;
}
static void keep_context(void *ctx, const char *name, netlib_tls_context **replacement, enum netlib_verdict *verdict) {
    (void)ctx, (void)name, (void)replacement;
    *verdict = NETLIB_VERDICT_ALLOW;
}
#define PIN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SETTING(name, ...) \
    static void name(netlib_tls_options *o) { __VA_ARGS__; }
SETTING(nothing, (void)o)
SETTING(ca_file, netlib_tls_options_add_ca_file(o, CERTS "other-ca.pem"))
SETTING(the_same_ca_file, netlib_tls_options_add_ca_file(o, CERTS "ca.pem"))
SETTING(ca_dir, netlib_tls_options_add_ca_dir(o, CERTS))
SETTING(system_trust, netlib_tls_options_set_system_trust(o, 1))
SETTING(embedded_trust, netlib_tls_options_set_embedded_trust(o, 1))
SETTING(crl_file, netlib_tls_options_add_crl_file(o, VERIFY "all.crl"))
SETTING(identity, netlib_tls_options_set_identity_files(o, CERTS "client.pem", CERTS "client.key"))
SETTING(another_identity, netlib_tls_options_set_identity_files(o, CERTS "self-signed.pem", CERTS "self-signed.key"))
SETTING(optional, netlib_tls_options_set_verify_mode(o, NETLIB_CERT_OPTIONAL))
SETTING(none, netlib_tls_options_set_check_hostname(o, 0); netlib_tls_options_set_verify_mode(o, NETLIB_CERT_NONE))
SETTING(no_name, netlib_tls_options_set_check_hostname(o, 0))
SETTING(pin, netlib_tls_options_add_pin(o, PIN))
SETTING(pins_replace, netlib_tls_options_add_pin(o, PIN); netlib_tls_options_set_pins_replace_chain(o, 1))
SETTING(strict, netlib_tls_options_set_verify_flags(o, NETLIB_VERIFY_FLAG_X509_STRICT))
SETTING(wall_clock, netlib_tls_options_set_wall_clock(o, right_time, NULL, NULL))
SETTING(server_name, netlib_tls_options_set_servername_callback(o, keep_context, NULL, NULL))
SETTING(protocol, netlib_tls_options_add_alpn_protocol(o, "h2"))
SETTING(ciphers, netlib_tls_options_set_ciphers(o, "TLS_AES_256_GCM_SHA384:ECDHE-ECDSA-AES256-GCM-SHA384"))
SETTING(groups, netlib_tls_options_set_key_exchange_groups(o, "secp256r1"))
SETTING(early_data, netlib_tls_options_set_early_data(o, 1))
SETTING(tickets, netlib_tls_options_set_session_tickets(o, 1))
SETTING(no_environment, netlib_tls_options_set_use_environment(o, 0))
SETTING(keylog, netlib_tls_options_set_keylog_file(o, "/dev/null"))

static void (*const settings[])(netlib_tls_options *) = {
    nothing,  ca_file,      the_same_ca_file, ca_dir,     system_trust,   embedded_trust,
    crl_file, identity,     another_identity, optional,   none,           no_name,
    pin,      pins_replace, strict,           wall_clock, server_name,    protocol,
    ciphers,  groups,       early_data,       tickets,    no_environment, keylog,
};

/* curl had defects because it reused connections of one configuration for another. In netlib, a context never resumes a
 * session of another context, even if both contexts have the same settings. */
static void contexts_do_not_resume_sessions_of_other_contexts(void) {
    netlib_tls_context *server = server_of("http/1.1", NETLIB_CERT_NONE);
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
            if (under_valgrind() && i % 5 != 0) continue;
            netlib_tls_context *plain = client_of(version, NULL), *other = client_of(version, settings[i]);
            CHECK_INT(FULL, connect_to(plain, server, "localhost"));
            CHECK_INT(RESUMED, connect_to(plain, server, "localhost"));
            enum outcome outcome = connect_to(other, server, "localhost");
            CHECK(outcome == FULL || (outcome == REFUSED &&
                                      (settings[i] == pin || settings[i] == pins_replace || settings[i] == crl_file)));
            if (outcome == FULL) CHECK_INT(RESUMED, connect_to(other, server, "localhost"));
            CHECK_INT(RESUMED, connect_to(plain, server, "localhost"));
            netlib_tls_session *session = session_of(plain, server, "localhost");
            check_refused(other, "localhost", session, ANOTHER_CONTEXT);
            CHECK(netlib_tls_session_is_resumable(session));
            CHECK_INT(RESUMED, connect_with(plain, server, "localhost", session));
            netlib_tls_session_free(session);
            netlib_tls_context_free(plain);

            /* The context without a changed setting does not resume a session of the context `other`. */
            plain = client_of(version, NULL);
            CHECK_INT(FULL, connect_to(plain, server, "localhost"));
            if (outcome == FULL) {
                session = session_of(other, server, "localhost");
                check_refused(plain, "localhost", session, ANOTHER_CONTEXT);
                netlib_tls_session_free(session);
            }
            netlib_tls_context_free(plain);
            netlib_tls_context_free(other);
        }
    }
    netlib_tls_context_free(server);
}

/* A server resumes only sessions of its own context, so a session cannot bypass another context's client
 * verification. */
static void servers_resume_only_sessions_of_their_own_context(void) {
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (int row = 0; row < 2; row++) {
            netlib_tls_context *easy = server_of(NULL, NETLIB_CERT_NONE),
                               *other = server_of(NULL, row == 0 ? NETLIB_CERT_NONE : NETLIB_CERT_REQUIRED);
            netlib_tls_context *client = client_of(version, NULL);
            CHECK_INT(FULL, connect_to(client, easy, "localhost"));
            CHECK_INT(RESUMED, connect_to(client, easy, "localhost"));
            CHECK_INT(row == 0 ? FULL : REFUSED, connect_to(client, other, "localhost"));
            netlib_tls_context_free(client);
            netlib_tls_context_free(easy);
            netlib_tls_context_free(other);
        }
    }
}

/* The ways to create a client session. */
enum way { ENGINE, STREAM, NESTED, CALLBACKS, SSL_WRAP_SOCKET, WAYS };

static int32_t read_pair(void *ctx, void *buf, size_t len, size_t *n) {
    ssize_t got = read(((struct pair *)ctx)->near, buf, len);
    *n = got > 0 ? (size_t)got : 0;
    return got >= 0 ? NETLIB_OK : NETLIB_IO;
}
static int32_t write_pair(void *ctx, const void *buf, size_t len, size_t *n) {
    ssize_t put = send(((struct pair *)ctx)->near, buf, len, MSG_NOSIGNAL);
    *n = put > 0 ? (size_t)put : 0;
    return put >= 0 ? NETLIB_OK : NETLIB_IO;
}

struct far_end {
    const netlib_tls_context *context;
    int fd;
    bool is_nested;
};

/* Runs the server of a session. Does the handshakes, first that of the outer stream, writes a byte, and waits for the
 * end of the stream. */
static void *serve(void *argument) {
    struct far_end *far = argument;
    netlib_error *err = NULL;
    netlib_stream *stream = accept_tls(far->context, far->fd), *inner = NULL;
    char byte;
    size_t n;
    if (far->is_nested) CHECK_OK(netlib_tls_accept_stream(far->context, stream, &inner, &err));
    netlib_stream *used = far->is_nested ? inner : stream;
    if (netlib_stream_write(used, "x", 1, &n, NULL) == NETLIB_OK) (void)netlib_stream_read(used, &byte, 1, &n, NULL);
    netlib_stream_free(inner), netlib_stream_free(stream);
    close(far->fd);
    return NULL;
}

static enum outcome connect_by(enum way way, const netlib_tls_context *client, const netlib_tls_context *server,
                               const char *name) {
    if (way == ENGINE) return connect_to(client, server, name);
    netlib_error *err = NULL;
    netlib_stream *stream = NULL, *outer = NULL;
    struct pair pair = unix_pair();
    struct far_end far = {server, pair.far, way == NESTED};
    netlib_tls_context *outside = client_context();
    pthread_t thread;
    char byte = 0;
    size_t n = 0;
    CHECK(pthread_create(&thread, NULL, serve, &far) == 0);
    if (way == STREAM) stream = wrap(client, pair.near, name);
    if (way == CALLBACKS)
        CHECK_OK(netlib_tls_wrap_callbacks(client, name, read_pair, write_pair, &pair, NULL, &stream, &err));
    if (way == SSL_WRAP_SOCKET) CHECK_OK(netlib_ssl_wrap_socket(pair.near, NULL, client, name, NULL, &stream, &err));
    if (way == NESTED) {
        outer = wrap(outside, pair.near, "localhost");
        CHECK_OK(netlib_tls_wrap_stream(client, outer, name, &stream, &err));
    }
    CHECK_OK(netlib_stream_read(stream, &byte, 1, &n, &err));
    enum outcome outcome = netlib_stream_is_resumed(stream) ? RESUMED : FULL;
    netlib_stream_free(stream), netlib_stream_free(outer);
    close(pair.near);
    pthread_join(thread, NULL);
    netlib_tls_context_free(outside);
    return outcome;
}

/* Each way to create a client session resumes the stored session, but only for the same server name. */
static void sessions_are_not_resumed_for_other_server_names(void) {
    static const char *const others[] = {"a.wild.test", "b.wild.test", "127.0.0.1", "::1", "xn--bcher-kva.test"};
    netlib_tls_context *server = server_of("http/1.1", NETLIB_CERT_NONE);
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (int checked = 0; checked < 2; checked++) {
            for (enum way first = ENGINE; first < WAYS; first++) {
                if (under_valgrind() && (int)first % 2 != checked) continue;
                netlib_tls_options *options = client_options();
                netlib_tls_options_set_maximum_version(options, version);
                netlib_tls_options_set_check_hostname(options, checked);
                netlib_tls_options_add_alpn_protocol(options, "http/1.1"); /* as netlib_ssl_wrap_socket does */
                netlib_tls_context *client = context_of(options);
                CHECK_INT(FULL, connect_by(first, client, server, "localhost"));
                for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
                    CHECK_INT(FULL, connect_by((enum way)(i % WAYS), client, server, others[i]));
                }
                for (enum way second = ENGINE; second < WAYS; second++) {
                    CHECK_INT(RESUMED, connect_by(second, client, server, second % 2 ? "LOCALHOST." : "localhost"));
                }
                for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
                    CHECK_INT(RESUMED, connect_by((enum way)((i + 1) % WAYS), client, server, others[i]));
                }
                if (!checked) {
                    CHECK_INT(FULL, connect_by(STREAM, client, server, NULL));
                    CHECK_INT(FULL, connect_by(ENGINE, client, server, ""));
                }
                netlib_tls_context_free(client);
            }
        }
    }
    netlib_tls_context_free(server);
}

/* Streams of one context that offer different ALPN protocols do not share sessions. A context that
 * netlib_ssl_wrap_socket derives does not share sessions with its original context. */
static void sessions_are_not_shared_with_derived_contexts(void) {
    netlib_tls_context *server = server_of("http/1.1", NETLIB_CERT_NONE);
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        netlib_tls_context *client = client_of(version, protocol);
        CHECK_INT(FULL, connect_by(STREAM, client, server, "localhost"));
        CHECK_INT(FULL, connect_by(SSL_WRAP_SOCKET, client, server, "localhost"));
        CHECK_INT(RESUMED, connect_by(SSL_WRAP_SOCKET, client, server, "localhost"));
        CHECK_INT(RESUMED, connect_by(STREAM, client, server, "localhost"));

        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
            void (*const set)(netlib_tls_options *) = settings[i];
            if (set != ca_file && set != ca_dir && set != embedded_trust && set != identity && set != another_identity)
                continue;
            netlib_error *err = NULL;
            netlib_tls_options *options = netlib_tls_options_new();
            set(options);
            for (int round = 0; round < 2; round++) {
                netlib_stream *stream = NULL;
                struct pair pair = unix_pair();
                struct server far = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
                server_start(&far);
                CHECK_OK(netlib_ssl_wrap_socket(pair.near, options, client, "localhost", NULL, &stream, &err));
                CHECK(!netlib_stream_is_resumed(stream));
                netlib_stream_free(stream);
                close(pair.near);
                server_join(&far);
            }
            netlib_tls_options_free(options);
        }
        netlib_tls_context_free(client);
    }
    netlib_tls_context_free(server);
}

/* A TLS 1.3 session can be resumed once, and a TLS 1.2 session several times. */
static void a_taken_session_is_resumed_only_by_an_engine_on_which_it_is_set(void) {
    netlib_tls_context *server = server_of(NULL, NETLIB_CERT_NONE);
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        netlib_error *err = NULL;
        netlib_tls_session *none = NULL, *session = NULL, *older = NULL;
        size_t len = 0;
        bool is_once = version == NETLIB_TLS_VERSION_1_3;
        netlib_tls_context *client = client_of(version, NULL);
        CHECK_INT(0, (long long)netlib_tls_context_session_count(client));
        struct wire wire = wire_of(client, server, 20000);
        CHECK_OK(netlib_tls_engine_take_session(wire.client, &none, &err));
        CHECK(none == NULL);
        long long before = (long long)time(NULL);
        CHECK_INT(FULL, finish(&wire));
        CHECK_INT(is_once ? 2 : 1, (long long)netlib_tls_context_session_count(client));
        CHECK_OK(netlib_tls_engine_take_session(wire.client, &session, &err));
        CHECK_INT(is_once ? 1 : 0, (long long)netlib_tls_context_session_count(client));
        CHECK_OK(netlib_tls_engine_take_session(wire.client, &older, &err));
        CHECK((older != NULL) == is_once && older != session);
        CHECK_OK(netlib_tls_engine_take_session(wire.client, &none, &err));
        CHECK(none == NULL);
        CHECK(netlib_tls_engine_take_session(wire.server, &none, &err) == NETLIB_INVALID_ARGUMENT && none == NULL);
        CHECK_STR("cannot take a session from a server's stream: only clients store and resume sessions",
                  netlib_error_message(err, NULL));
        netlib_error_free(err);
        err = NULL;
        /* A client engine accepts no session after the handshake, and a server engine never accepts a session. */
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_set_session(wire.client, session, &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_set_session(wire.server, session, &err));
        free_wire(&wire);

        CHECK_STR("localhost", netlib_tls_session_server_name(session, &len));
        CHECK_INT(9, (long long)len);
        CHECK_INT(version, netlib_tls_session_version(session));
        /* time(2) may be a clock tick behind the clock that netlib reads. */
        struct timespec after;
        CHECK(clock_gettime(CLOCK_REALTIME, &after) == 0);
        CHECK(netlib_tls_session_time(session) >= before && netlib_tls_session_time(session) <= after.tv_sec);
        CHECK(netlib_tls_session_is_resumable(session));

        /* The context no longer stores the session. The next connection does a full handshake, and stores a different
         * session. */
        netlib_tls_session *clone = netlib_tls_session_clone(session);
        CHECK_INT(FULL, connect_to(client, server, "localhost"));
        CHECK_INT(RESUMED, connect_with(client, server, "localhost", session));
        CHECK_INT(!is_once, netlib_tls_session_is_resumable(session));
        CHECK_INT(!is_once, netlib_tls_session_is_resumable(clone));
        if (is_once) {
            check_refused(client, "localhost", clone,
                          "session was already used: a TLS 1.3 ticket is for one connection only");
            CHECK_INT(RESUMED, connect_with(client, server, "LocalHost.", older));
        } else {
            CHECK_INT(RESUMED, connect_with(client, server, "localhost", clone));
        }
        netlib_tls_session_free(clone), netlib_tls_session_free(session), netlib_tls_session_free(older);

        /* Only the connection on which the session was set resumes the session. Another connection, whose handshake
         * runs after the session was set, does a full handshake. */
        session = session_of(client, server, "localhost");
        netlib_tls_context_forget_sessions(client);
        CHECK_INT(0, (long long)netlib_tls_context_session_count(client));
        wire = wire_of(client, server, 20000);
        CHECK_OK(netlib_tls_engine_set_session(wire.client, session, &err));
        CHECK_INT(FULL, connect_to(client, server, "localhost"));
        CHECK_INT(RESUMED, finish(&wire));
        free_wire(&wire);

        /* Passing NULL to netlib_tls_engine_set_session removes a session that was set before. The connection does a
         * full handshake, and the context stores the new session. */
        netlib_tls_session *unused = session_of(client, server, "localhost");
        wire = wire_of(client, server, 20000);
        CHECK_OK(netlib_tls_engine_set_session(wire.client, unused, &err));
        CHECK_OK(netlib_tls_engine_set_session(wire.client, NULL, &err));
        netlib_tls_context_forget_sessions(client);
        CHECK_INT(FULL, finish(&wire));
        free_wire(&wire);
        CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
        netlib_tls_session_free(unused);
        CHECK_INT(FULL, connect_with(client, server, "localhost", NULL));

        /* A server that does not know the session does a full handshake. */
        netlib_tls_context *other_server = server_of(NULL, NETLIB_CERT_NONE);
        netlib_tls_session_free(session);
        session = session_of(client, server, "localhost");
        CHECK_INT(FULL, connect_with(client, other_server, "localhost", session));
        netlib_tls_context_free(other_server);
        netlib_tls_session_free(session);

        /* A session outlives its context, but can no longer be resumed. */
        session = session_of(client, server, "localhost");
        netlib_tls_context_free(client);
        client = client_of(version, NULL);
        check_refused(client, "localhost", session, ANOTHER_CONTEXT);
        netlib_tls_session_free(session);
        netlib_tls_context_free(client);
    }
    netlib_tls_context_free(server);
}

static void set_session_refuses_sessions_of_other_servers_or_alpn_protocols(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server = server_of("http/1.1", NETLIB_CERT_NONE),
                       *client = client_of(NETLIB_TLS_VERSION_1_3, no_name);
    netlib_tls_session *session = session_of(client, server, "localhost");
    check_refused(client, "127.0.0.1", session, "session belongs to the server \"localhost\", not to \"127.0.0.1\"");
    check_refused(client, NULL, session,
                  "session belongs to the server \"localhost\", but this connection has no server name");
    /* A session that one engine refused can be set on another engine. */
    CHECK_INT(RESUMED, connect_with(client, server, "localhost", session));
    netlib_tls_session_free(session);

    /* netlib_ssl_wrap_socket replaces the ALPN protocols, so its session cannot be used for a stream with other
     * protocols. */
    struct pair pair = unix_pair();
    struct far_end far = {server, pair.far, false};
    netlib_stream *stream = NULL;
    pthread_t thread;
    char byte;
    size_t n;
    CHECK(pthread_create(&thread, NULL, serve, &far) == 0);
    CHECK_OK(netlib_ssl_wrap_socket(pair.near, NULL, client, "localhost", NULL, &stream, &err));
    CHECK_OK(netlib_stream_read(stream, &byte, 1, &n, &err));
    CHECK_OK(netlib_stream_take_session(stream, &session, &err));
    check_refused(client, "localhost", session, "session was created with other ALPN protocols");
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_set_session(stream, session, &err));
    netlib_tls_session_free(session);
    netlib_stream_free(stream);
    close(pair.near);
    pthread_join(thread, NULL);
    netlib_tls_context_free(client);

    netlib_tls_options *options = client_options();
    netlib_tls_options_set_resumption(options, 0);
    netlib_tls_context *forgetful = context_of(options);
    CHECK_INT(FULL, connect_to(forgetful, server, "localhost"));
    CHECK_INT(FULL, connect_to(forgetful, server, "localhost"));
    CHECK_INT(0, (long long)netlib_tls_context_session_count(forgetful));
    client = client_context();
    session = session_of(client, server, "localhost");
    check_refused(forgetful, "localhost", session,
                  "resumption is off in the context: netlib_tls_options_set_resumption");
    CHECK_INT(FULL, connect_with(forgetful, server, "localhost", NULL));
    netlib_tls_session_free(session);
    netlib_tls_context_free(forgetful);

    /* A TLS 1.2 session that was used in a failed handshake cannot be resumed again. */
    netlib_tls_context_free(client);
    client = client_of(NETLIB_TLS_VERSION_1_2, NULL);
    session = session_of(client, server, "localhost");
    struct wire wire = wire_of(client, server, 20000);
    CHECK_OK(netlib_tls_engine_set_session(wire.client, session, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
    CHECK_INT(7, (long long)feed_all(wire.client, "\x15\x03\x03\x00\x02\x02\x28", 7));
    CHECK_STATUS(NETLIB_TLS_ALERT, netlib_tls_engine_handshake(wire.client, &err));
    free_wire(&wire);
    CHECK(!netlib_tls_session_is_resumable(session));
    check_refused(client, "localhost", session, "session has failed in a handshake");
    netlib_tls_session_free(session);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* Streams on descriptors take and resume sessions as engines do. */
static void sessions_taken_from_a_stream_are_resumed_by_another_stream(void) {
    netlib_tls_context *server = server_of(NULL, NETLIB_CERT_NONE);
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        netlib_tls_context *client = client_of(version, NULL);
        netlib_tls_session *session = NULL;
        for (int round = 0; round < 4; round++) {
            netlib_error *err = NULL;
            struct pair pair = unix_pair();
            struct far_end far = {server, pair.far, false};
            pthread_t thread;
            char byte;
            size_t n;
            CHECK(pthread_create(&thread, NULL, serve, &far) == 0);
            netlib_stream *stream = wrap(client, pair.near, "localhost");
            if (session != NULL) CHECK_OK(netlib_stream_set_session(stream, session, &err));
            netlib_tls_session_free(session);
            session = NULL;
            CHECK_OK(netlib_stream_read(stream, &byte, 1, &n, &err));
            CHECK_INT(round > 0, netlib_stream_is_resumed(stream));
            CHECK_OK(netlib_stream_take_session(stream, &session, &err));
            CHECK(session != NULL);
            netlib_tls_context_forget_sessions(client);
            netlib_stream_free(stream);
            close(pair.near);
            pthread_join(thread, NULL);
        }
        netlib_tls_session_free(session);
        netlib_tls_context_free(client);
    }
    netlib_tls_context_free(server);
}

/* A context stores at most 8 sessions per server name and 256 sessions in total, and keeps the most recently used
 * sessions. */
static void a_context_stores_at_most_8_sessions_per_name_and_256_in_total(void) {
    netlib_tls_context *server = server_of(NULL, NETLIB_CERT_NONE),
                       *client = client_of(NETLIB_TLS_VERSION_1_3, no_name);
    for (int i = 0; i < 12; i++) CHECK_INT(i == 0 ? FULL : RESUMED, connect_to(client, server, "localhost"));
    CHECK_INT(8, (long long)netlib_tls_context_session_count(client));
    char name[40];
    for (int i = 0; i < 140; i++) {
        snprintf(name, sizeof name, "host%d.test", i);
        CHECK_INT(FULL, connect_to(client, server, name));
        if (i % 20 == 0) CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
    }
    CHECK_INT(256, (long long)netlib_tls_context_session_count(client));
    CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
    CHECK_INT(RESUMED, connect_to(client, server, "host139.test"));
    CHECK_INT(FULL, connect_to(client, server, "host0.test"));
    netlib_tls_context_forget_sessions(client);
    CHECK_INT(FULL, connect_to(client, server, "host139.test"));
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* The state of a thread. The threads share a context, resume only sessions of their own connections, and use each
 * ticket once. */
struct sharing {
    netlib_tls_context *client, *server;
    const char *name;
    bool ok;
};

static void *share_stored_sessions(void *argument) {
    struct sharing *it = argument;
    netlib_tls_session *session = NULL;
    it->ok = true;
    for (int i = 0; i < 40; i++) {
        netlib_tls_engine *ends[2] = {NULL, NULL};
        char bytes[20000];
        bool given = session != NULL;
        it->ok &= netlib_tls_engine_new_client(it->client, it->name, &ends[0], NULL) == NETLIB_OK;
        it->ok &= netlib_tls_engine_new_server(it->server, &ends[1], NULL) == NETLIB_OK;
        if (given) it->ok &= netlib_tls_engine_set_session(ends[0], session, NULL) == NETLIB_OK;
        netlib_tls_session_free(session);
        session = NULL;
        for (int turn = 0; turn < 6; turn++) {
            size_t len = 0, n = 0;
            (void)netlib_tls_engine_handshake(ends[turn % 2], NULL);
            it->ok &= netlib_tls_engine_drain(ends[turn % 2], bytes, sizeof bytes, &len, NULL) == NETLIB_OK;
            it->ok &= netlib_tls_engine_feed(ends[1 - turn % 2], bytes, len, &n, NULL) == NETLIB_OK && n == len;
            (void)netlib_tls_engine_read(ends[1 - turn % 2], bytes, sizeof bytes, &n, NULL);
        }
        it->ok &= netlib_tls_engine_version(ends[0]) == NETLIB_TLS_VERSION_1_3 &&
                  netlib_tls_engine_version(ends[1]) == NETLIB_TLS_VERSION_1_3;
        it->ok &= netlib_tls_engine_is_resumed(ends[0]) == netlib_tls_engine_is_resumed(ends[1]);
        if (given) it->ok &= netlib_tls_engine_is_resumed(ends[0]);
        if (i % 3 != 0) it->ok &= netlib_tls_engine_take_session(ends[0], &session, NULL) == NETLIB_OK;
        if (session != NULL) it->ok &= strcmp(netlib_tls_session_server_name(session, NULL), it->name) == 0;
        if (i % 10 == 9) netlib_tls_context_forget_sessions(it->client);
        it->ok &= netlib_tls_context_session_count(it->client) <= 256;
        netlib_tls_engine_free(ends[0]), netlib_tls_engine_free(ends[1]);
    }
    netlib_tls_session_free(session);
    return NULL;
}

static void concurrent_threads_can_take_and_resume_sessions_of_one_context(void) {
    netlib_tls_context *client = client_context(), *server = server_of(NULL, NETLIB_CERT_NONE);
    struct sharing sharing[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        sharing[i] = (struct sharing){client, server, i % 2 ? "localhost" : "a.wild.test", false};
        CHECK(pthread_create(&threads[i], NULL, share_stored_sessions, &sharing[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(sharing[i].ok);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    contexts_do_not_resume_sessions_of_other_contexts();
    servers_resume_only_sessions_of_their_own_context();
    sessions_are_not_resumed_for_other_server_names();
    sessions_are_not_shared_with_derived_contexts();
    a_taken_session_is_resumed_only_by_an_engine_on_which_it_is_set();
    set_session_refuses_sessions_of_other_servers_or_alpn_protocols();
    sessions_taken_from_a_stream_are_resumed_by_another_stream();
    a_context_stores_at_most_8_sessions_per_name_and_256_in_total();
    concurrent_threads_can_take_and_resume_sessions_of_one_context();
    return report("tls resume");
}
