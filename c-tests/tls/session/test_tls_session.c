/* Tests the negotiated parameters of full and resumed sessions. Streams and engines must return the same parameters. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_wire.h"

static netlib_tls_context *both_of(int32_t version, bool is_server, const char *protocol, int32_t mode) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_minimum_version(options, version);
    netlib_tls_options_set_maximum_version(options, version);
    if (is_server) netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    if (!is_server && mode != NETLIB_CERT_NONE) {
        netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client.key");
    }
    if (is_server) netlib_tls_options_set_verify_mode(options, mode);
    if (protocol != NULL) netlib_tls_options_add_alpn_protocol(options, protocol);
    return context_of(options);
}

static void check_nothing_known(const netlib_tls_engine *engine) {
    size_t len = 1;
    CHECK_INT(0, netlib_tls_engine_version(engine));
    CHECK(netlib_tls_engine_cipher_suite(engine, NULL) == NULL);
    CHECK(netlib_tls_engine_key_exchange_group(engine, NULL) == NULL);
    CHECK(netlib_tls_engine_alpn_protocol(engine, NULL) == NULL);
    CHECK(netlib_tls_engine_server_name(engine, &len) == NULL && len == 0);
    CHECK(!netlib_tls_engine_is_resumed(engine));
    CHECK_INT(0, (long long)netlib_tls_engine_peer_certificate_count(engine));
    CHECK(netlib_tls_engine_peer_certificate(engine, 0, NULL) == NULL);
}

static bool is_one_of(const char *text, const char *a, const char *b) {
    return text != NULL && (strcmp(text, a) == 0 || strcmp(text, b) == 0);
}

/* A resumed session has the parameters of the full session, except that in TLS 1.2 it has no key-exchange group. A TLS
 * 1.2 session can be resumed after the handshake, a TLS 1.3 session after the next read, in which the ticket
 * arrives. */
static void full_and_resumed_sessions_have_the_same_parameters(void) {
    static const int32_t versions[] = {NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3};
    netlib_error *err = NULL;
    for (size_t i = 0; i < 2; i++) {
        for (int32_t mode = NETLIB_CERT_NONE; mode <= NETLIB_CERT_REQUIRED; mode++) {
            netlib_tls_context *client = both_of(versions[i], false, "h2", mode);
            netlib_tls_context *server = both_of(versions[i], true, "h2", mode);
            unsigned char first[2][2000];
            size_t first_len[2] = {0, 0};
            for (int round = 0; round < 3; round++) {
                struct wire wire = wire_of(client, server, 20000);
                char got[100];
                size_t n = 0;
                check_nothing_known(wire.client);
                check_nothing_known(wire.server);
                CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
                netlib_tls_engine *sides[2] = {wire.client, wire.server};
                for (int j = 0; j < 2; j++) {
                    size_t len = 0;
                    CHECK_INT(versions[i], netlib_tls_engine_version(sides[j]));
                    const char *suite = netlib_tls_engine_cipher_suite(sides[j], &len);
                    CHECK(suite != NULL && strlen(suite) == len && strncmp(suite, "TLS_", 4) == 0);
                    CHECK_STR(netlib_tls_engine_cipher_suite(sides[1 - j], NULL), suite);
                    /* A resumed TLS 1.2 session has no key exchange. */
                    const char *group = netlib_tls_engine_key_exchange_group(sides[j], NULL);
                    if (versions[i] == NETLIB_TLS_VERSION_1_3) CHECK_STR("X25519MLKEM768", group);
                    else if (round > 0) CHECK_STR(NULL, group);
                    else CHECK(is_one_of(group, "x25519", "secp256r1"));
                    CHECK_STR("h2", netlib_tls_engine_alpn_protocol(sides[j], NULL));
                    CHECK_STR("localhost", netlib_tls_engine_server_name(sides[j], &len));
                    CHECK_INT(9, (long long)len);
                    CHECK(netlib_tls_engine_is_resumed(sides[j]) == (round > 0));
                    /* In full and resumed sessions, the client has the server's certificate, and a server that requests
                     * a client certificate has the client's certificate. */
                    size_t count = j == 0 || mode != NETLIB_CERT_NONE ? 1 : 0;
                    CHECK_INT((long long)count, (long long)netlib_tls_engine_peer_certificate_count(sides[j]));
                    const uint8_t *leaf = netlib_tls_engine_peer_certificate(sides[j], 0, &len);
                    CHECK((leaf != NULL) == (count == 1));
                    CHECK(netlib_tls_engine_peer_certificate(sides[j], count, &n) == NULL && n == 0);
                    if (leaf == NULL) continue;
                    CHECK(len > 300 && len < sizeof first[j] && leaf[0] == 0x30);
                    if (round == 0) {
                        memcpy(first[j], leaf, len);
                        first_len[j] = len;
                    }
                    CHECK(len == first_len[j] && memcmp(leaf, first[j], len) == 0);
                }
                CHECK_INT(5, (long long)transfer(&wire, true, "hello", got, sizeof got));
                CHECK_INT(5, (long long)transfer(&wire, false, "hallo", got, sizeof got));
                /* Borrowed values stay valid after later calls. */
                CHECK(netlib_tls_engine_server_name(wire.client, NULL) ==
                      netlib_tls_engine_server_name(wire.client, NULL));
                CHECK_OK(netlib_tls_engine_shutdown(wire.client, &err));
                free_wire(&wire);
            }
            netlib_tls_context_free(client);
            netlib_tls_context_free(server);
        }
    }
}

/* Of the protocols that the client offers, the server selects the one that comes first in the server's own list. If the
 * client offers no protocol, the server selects none. */
static void the_server_selects_the_alpn_protocol_that_is_first_in_its_own_list(void) {
    static const struct {
        const char *client[2], *server[2];
        const char *picked;
        netlib_status status; /* the status of the client */
    } rows[] = {
        {{"a", "b"}, {"b", "a"}, "b", NETLIB_OK},    {{"b", "a"}, {"a", "b"}, "a", NETLIB_OK},
        {{"a", NULL}, {"b", "a"}, "a", NETLIB_OK},   {{NULL, NULL}, {"b", "a"}, NULL, NETLIB_OK},
        {{"a", "b"}, {NULL, NULL}, NULL, NETLIB_OK}, {{"a", "b"}, {"c", "A"}, NULL, NETLIB_TLS_ALERT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
            netlib_tls_options *options[2] = {client_options(), client_options()};
            netlib_tls_options_set_maximum_version(options[0], version);
            netlib_tls_options_set_identity_files(options[1], CERTS "server.pem", CERTS "server.key");
            netlib_tls_options_set_verify_mode(options[1], NETLIB_CERT_NONE);
            for (int j = 0; j < 2; j++) {
                if (rows[i].client[j] != NULL) netlib_tls_options_add_alpn_protocol(options[0], rows[i].client[j]);
                if (rows[i].server[j] != NULL) netlib_tls_options_add_alpn_protocol(options[1], rows[i].server[j]);
            }
            netlib_tls_context *client = context_of(options[0]), *server = context_of(options[1]);
            struct wire wire = wire_of(client, server, 20000);
            struct handshake_result result = run_handshake(&wire);
            CHECK_INT(rows[i].status, result.client);
            CHECK_INT(rows[i].status == NETLIB_OK ? -1 : 120, result.client_alert);
            CHECK_STR(rows[i].picked, netlib_tls_engine_alpn_protocol(wire.client, NULL));
            CHECK_STR(rows[i].picked, netlib_tls_engine_alpn_protocol(wire.server, NULL));
            free_wire(&wire);
            netlib_tls_context_free(client);
            netlib_tls_context_free(server);
        }
    }
}

/* A session is not resumed for another server name, without a server name, or by another context. */
static void sessions_are_not_resumed_for_other_server_names_or_by_other_contexts(void) {
    netlib_tls_context *client = both_of(NETLIB_TLS_VERSION_1_3, false, NULL, NETLIB_CERT_NONE);
    netlib_tls_context *other = both_of(NETLIB_TLS_VERSION_1_3, false, NULL, NETLIB_CERT_NONE);
    netlib_tls_context *server = both_of(NETLIB_TLS_VERSION_1_3, true, NULL, NETLIB_CERT_NONE);
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_check_hostname(options, 0);
    netlib_tls_context *nameless = context_of(options);
    const struct {
        const netlib_tls_context *client;
        const char *name;
        bool is_resumed;
        const char *clients_name, *servers_name;
    } rows[] = {
        {client, "localhost", false, "localhost", "localhost"},
        {client, "LOCALHOST.", true, "localhost", "localhost"},
        {client, "a.wild.test", false, "a.wild.test", "a.wild.test"},
        {client, "127.0.0.1", false, "127.0.0.1", NULL},
        {client, "[::1]", false, "::1", NULL},
        {client, "fe80::1%eth0", false, "fe80::1", NULL},
        {client,
         "b\xc3\xbc"
         "cher.test",
         false, "xn--bcher-kva.test", "xn--bcher-kva.test"},
        {other, "localhost", false, "localhost", "localhost"},
        {nameless, NULL, false, NULL, NULL},
        {nameless, NULL, false, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wire wire = {client_engine(rows[i].client, rows[i].name), server_engine(server), 20000, 0, 0};
        char got[10];
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
        CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got));
        CHECK_INT(rows[i].is_resumed, netlib_tls_engine_is_resumed(wire.client));
        CHECK_INT(rows[i].is_resumed, netlib_tls_engine_is_resumed(wire.server));
        CHECK_STR(rows[i].clients_name, netlib_tls_engine_server_name(wire.client, NULL));
        CHECK_STR(rows[i].servers_name, netlib_tls_engine_server_name(wire.server, NULL));
        free_wire(&wire);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(other);
    netlib_tls_context_free(server);
    netlib_tls_context_free(nameless);
}

/* The getters of a stream return the same values as the getters of an engine. */
static void streams_return_the_same_session_parameters_as_engines(void) {
    netlib_error *err = NULL;
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        netlib_tls_context *client = both_of(version, false, NULL, NETLIB_CERT_REQUIRED);
        netlib_tls_context *server = both_of(version, true, NULL, NETLIB_CERT_REQUIRED);
        for (int round = 0; round < 2; round++) {
            struct pair pair = unix_pair();
            struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
            netlib_stream *stream = wrap(client, pair.near, "localhost");
            size_t n = 0, len = 1;
            char got[10];
            CHECK(netlib_stream_key_exchange_group(stream, NULL) == NULL);
            CHECK(netlib_stream_server_name(stream, &len) == NULL && len == 0);
            CHECK(!netlib_stream_is_resumed(stream));
            server_start(&peer);
            CHECK_OK(netlib_stream_write(stream, "x", 1, &n, &err));
            CHECK_OK(netlib_stream_read(stream, got, sizeof got, &n, &err));
            const char *group = netlib_stream_key_exchange_group(stream, &len);
            if (version == NETLIB_TLS_VERSION_1_3) CHECK_STR("X25519MLKEM768", group);
            else CHECK(round > 0 ? group == NULL : is_one_of(group, "x25519", "secp256r1"));
            CHECK_STR("localhost", netlib_stream_server_name(stream, NULL));
            CHECK_INT(round > 0, netlib_stream_is_resumed(stream));
            CHECK_INT(1, (long long)netlib_stream_peer_certificate_count(stream));
            CHECK_OK(netlib_stream_shutdown(stream, &err));
            server_join(&peer);
            CHECK_INT(1, (long long)peer.client_certificates);
            netlib_stream_free(stream);
            close(pair.near);
        }
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

/* Returns true if the server sends a ticket. In TLS 1.2 a ticket is a plaintext handshake message: NewSessionTicket (4)
 * before the server's Finished. */
static bool gives_ticket(bool at_client, bool at_server, bool resumes) {
    netlib_tls_context *contexts[2];
    for (int is_server = 0; is_server < 2; is_server++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
        netlib_tls_options_set_session_tickets(options, is_server ? at_server : at_client);
        if (is_server) {
            netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
            netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
            netlib_tls_options_set_resumption(options, resumes);
        }
        contexts[is_server] = context_of(options);
    }
    struct wire wire = wire_of(contexts[0], contexts[1], 20000);
    unsigned char flight[20000];
    bool found = false;
    netlib_error *err = NULL;
    for (int turn = 0; turn < 4; turn++) {
        netlib_status status = netlib_tls_engine_handshake(wire.client, &err);
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_READ);
        (void)move_piece(&wire, wire.client, wire.server);
        status = netlib_tls_engine_handshake(wire.server, &err);
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_READ);
        size_t len = drain_all(wire.server, flight, sizeof flight);
        for (size_t at = 0; at + 6 <= len && flight[at] == 22;
             at += 5u + (size_t)(flight[at + 3] << 8 | flight[at + 4])) {
            found |= flight[at + 5] == 4;
        }
        CHECK_INT((long long)len, (long long)feed_all(wire.client, flight, len));
    }
    CHECK_OK(netlib_tls_engine_handshake(wire.client, &err));
    CHECK_OK(netlib_tls_engine_handshake(wire.server, &err));
    free_wire(&wire);
    netlib_tls_context_free(contexts[0]);
    netlib_tls_context_free(contexts[1]);
    return found;
}

static void session_tickets_are_sent_only_if_both_sides_enable_them(void) {
    for (int row = 0; row < 8; row++) {
        bool at_client = row & 1, at_server = row & 2, resumes = row & 4;
        CHECK_INT(at_client && at_server && resumes, gives_ticket(at_client, at_server, resumes));
    }
}

/* A session is resumed only if neither side has disabled resumption. */
static void either_side_can_disable_resumption(void) {
    static const int32_t versions[] = {NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3};
    for (int row = 0; row < 16; row++) {
        bool at_client = row & 2, at_server = row & 4, tickets = row & 8;
        netlib_tls_options *near = client_options(), *far = client_options();
        netlib_tls_options_set_maximum_version(near, versions[row & 1]);
        netlib_tls_options_set_resumption(near, at_client);
        netlib_tls_options_set_resumption(far, at_server);
        netlib_tls_options_set_session_tickets(near, tickets);
        netlib_tls_options_set_session_tickets(far, tickets);
        netlib_tls_options_set_identity_files(far, CERTS "server.pem", CERTS "server.key");
        netlib_tls_options_set_verify_mode(far, NETLIB_CERT_NONE);
        netlib_tls_context *client = context_of(near), *server = context_of(far);
        for (int round = 0; round < 3; round++) {
            struct wire wire = wire_of(client, server, 20000);
            char got[10];
            CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
            CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got));
            CHECK_INT(round > 0 && at_client && at_server, netlib_tls_engine_is_resumed(wire.client));
            CHECK_INT(round > 0 && at_client && at_server, netlib_tls_engine_is_resumed(wire.server));
            free_wire(&wire);
        }
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

/* A server sends the subject names of its CA certificates, by which a client with several certificates selects one. In
 * TLS 1.2 the CertificateRequest is plaintext, so the test can read the names. */
static void servers_send_the_subject_names_of_their_ca_certificates(void) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    netlib_tls_context *client = context_of(options);
    netlib_tls_context *server = both_of(NETLIB_TLS_VERSION_1_2, true, NULL, NETLIB_CERT_OPTIONAL);
    struct wire wire = wire_of(client, server, 20000);
    netlib_error *err = NULL;
    unsigned char flight[20000];
    static const char name[] = "netlib test CA";
    bool asked = false, named = false;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
    CHECK(move_piece(&wire, wire.client, wire.server) > 0);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, &err));
    size_t len = drain_all(wire.server, flight, sizeof flight);
    for (size_t at = 0; at + 9 <= len;) {
        size_t end = at + 5u + (size_t)(flight[at + 3] << 8 | flight[at + 4]);
        /* A record may contain several handshake messages. */
        for (size_t m = at + 5; m + 4 <= end && end <= len;) {
            size_t size = (size_t)(flight[m + 1] << 16 | flight[m + 2] << 8 | flight[m + 3]);
            if (flight[m] == 13) {
                asked = true;
                named = memmem(flight + m, size + 4, name, sizeof name - 1) != NULL;
            }
            m += 4 + size;
        }
        at = end;
    }
    CHECK(asked && named);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void subject_of(const void *der, size_t len, char subject[100]) {
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    CHECK_OK(netlib_certificate_parse(der, len, &certificate, &err));
    const char *text = netlib_certificate_subject(certificate, NULL);
    snprintf(subject, 100, "%s", text != NULL ? text : "");
    netlib_certificate_free(certificate);
}

/* The getters return the peer's own certificate first, and then the other certificates in the order in which the peer
 * sent them, also in a resumed session. */
static void the_peer_certificate_chain_keeps_its_order(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, CERTS "verify/root.pem");
    netlib_tls_context *client = context_of(options);
    options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "verify/good.pem", CERTS "verify/leaf.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *server = context_of(options);
    for (int round = 0; round < 2; round++) {
        struct wire wire = wire_of(client, server, 20000);
        char got[10], subject[100];
        size_t len = 0;
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
        CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got));
        CHECK_INT(round, netlib_tls_engine_is_resumed(wire.client));
        CHECK_INT(2, (long long)netlib_tls_engine_peer_certificate_count(wire.client));
        static const char *const subjects[] = {"CN=localhost", "CN=netlib intermediate"};
        for (size_t i = 0; i < 2; i++) {
            const uint8_t *der = netlib_tls_engine_peer_certificate(wire.client, i, &len);
            subject_of(der, len, subject);
            CHECK_STR(subjects[i], subject);
        }
        free_wire(&wire);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    the_peer_certificate_chain_keeps_its_order();
    either_side_can_disable_resumption();
    servers_send_the_subject_names_of_their_ca_certificates();
    full_and_resumed_sessions_have_the_same_parameters();
    session_tickets_are_sent_only_if_both_sides_enable_them();
    the_server_selects_the_alpn_protocol_that_is_first_in_its_own_list();
    sessions_are_not_resumed_for_other_server_names_or_by_other_contexts();
    streams_return_the_same_session_parameters_as_engines();
    return report("test_tls_session");
}
