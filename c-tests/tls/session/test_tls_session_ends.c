/* Tests when sessions can no longer be resumed: after a certificate of the chain has expired according to the caller's
 * clock, and after the server has used a newer TLS version. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_resume.h"

static void none(netlib_tls_options *options) {
    netlib_tls_options_set_check_hostname(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
}

static void identity(netlib_tls_options *options) {
    netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client.key");
}

/* The time that the clock callback returns. */
static double clock_seconds;
static int32_t report_clock(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = clock_seconds;
    return NETLIB_OK;
}

/* Reads the validity dates of the certificate expired.pem. */
static void read_validity(double *first, double *last) {
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    char text[8000];
    FILE *file = fopen(CERTS "expired.pem", "r");
    CHECK(file != NULL);
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    CHECK_OK(netlib_certificate_parse(text, len, &certificate, &err));
    *first = (double)netlib_certificate_not_before(certificate);
    *last = (double)netlib_certificate_not_after(certificate);
    netlib_certificate_free(certificate);
}

/* A certificate can expire after its verification. A resumed handshake does not verify the certificate again, so the
 * session must expire with the certificate. */
static void sessions_expire_with_the_peer_certificate(void) {
    double first, last;
    read_validity(&first, &last);

    netlib_tls_context *server = server_context("expired");
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (int row = 0; row < 3; row++) {
            /* If the client does not verify the validity dates, the session does not expire. */
            netlib_tls_options *options = client_options();
            netlib_tls_options_set_maximum_version(options, version);
            netlib_tls_options_set_wall_clock(options, report_clock, NULL, NULL);
            if (row == 2) none(options);
            netlib_tls_context *client = context_of(options);
            clock_seconds = row == 0 ? last - 1000 : last;
            CHECK_INT(FULL, connect_to(client, server, "localhost"));
            CHECK_INT(row == 1 ? FULL : RESUMED, connect_to(client, server, "localhost"));
            CHECK((netlib_tls_context_session_count(client) > 0) == (row != 1));
            netlib_tls_session *session = session_of(client, server, "localhost");
            CHECK_INT(row != 1, netlib_tls_session_is_resumable(session));
            if (row == 1) check_refused(client, "localhost", session, "session is too old to be resumed");
            netlib_tls_session_free(session);
            netlib_tls_context_free(client);
        }
    }
    netlib_tls_context_free(server);
}

/* While the time of the clock is outside the validity period of the certificate, the client resumes no session. */
static void sessions_are_resumed_only_while_the_certificate_is_valid(void) {
    netlib_error *err = NULL;
    double first, last;
    read_validity(&first, &last);

    const struct {
        double then;
        enum outcome outcome;
    } rows[] = {{first, RESUMED},
                {last - 1, RESUMED},
                {first - 1, REFUSED},
                {last + 1, REFUSED},
                {(double)time(NULL), REFUSED}};
    netlib_tls_context *server = server_context("expired");
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            netlib_tls_options *options = client_options();
            netlib_tls_options_set_maximum_version(options, version);
            netlib_tls_options_set_wall_clock(options, report_clock, NULL, NULL);
            netlib_tls_context *client = context_of(options);
            bool stays = rows[i].outcome == RESUMED;
            clock_seconds = last - 1000;
            netlib_tls_session *session = session_of(client, server, "localhost");
            CHECK_INT(version == NETLIB_TLS_VERSION_1_2 ? FULL : RESUMED, connect_to(client, server, "localhost"));
            clock_seconds = rows[i].then;
            CHECK_INT(rows[i].outcome, connect_to(client, server, "localhost"));
            CHECK((netlib_tls_context_session_count(client) > 0) == stays);
            /* The application has taken this session from the context. In the next handshake netlib calls the clock,
             * and only then detects that the session has expired. */
            struct wire wire = wire_of(client, server, 20000);
            CHECK_OK(netlib_tls_engine_set_session(wire.client, session, &err));
            CHECK_INT(rows[i].outcome, finish(&wire));
            CHECK_INT(stays && version == NETLIB_TLS_VERSION_1_2, netlib_tls_session_is_resumable(session));
            free_wire(&wire);
            netlib_tls_session_free(session);
            /* The clock is set back. If netlib has removed the session, a full handshake verifies the server again. */
            clock_seconds = last - 1000;
            CHECK_INT(stays ? RESUMED : FULL, connect_to(client, server, "localhost"));
            CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
            netlib_tls_context_free(client);
        }
    }
    netlib_tls_context_free(server);
}

/* A session expires as soon as the server's certificate, an intermediate certificate or the CRL expires. */
static void sessions_expire_with_intermediate_certificates_and_crls(void) {
    static const struct {
        const char *chain, *list;
        double then; /* the first second at which a handshake would be refused */
    } rows[] = {
        {"good.pem", NULL, 4733510400.0},        /* 2120 */
        {"expired-int.pem", NULL, 1609459200.0}, /* 2021 */
        {"good.pem", "int-expired.crl", 1609459200.0},
        {"good.pem", "all.crl", 4733510400.0},
    };
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            char path[200];
            netlib_tls_options *options = netlib_tls_options_new();
            snprintf(path, sizeof path, VERIFY "%s", rows[i].chain);
            netlib_tls_options_set_identity_files(options, path, VERIFY "leaf.key");
            netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
            netlib_tls_context *server = context_of(options);
            options = netlib_tls_options_new();
            netlib_tls_options_add_ca_file(options, VERIFY "root.pem");
            if (rows[i].list != NULL) {
                snprintf(path, sizeof path, VERIFY "%s", rows[i].list);
                netlib_tls_options_add_crl_file(options, path);
                netlib_tls_options_set_verify_flags(options, NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF);
            }
            netlib_tls_options_set_maximum_version(options, version);
            netlib_tls_options_set_wall_clock(options, report_clock, NULL, NULL);
            netlib_tls_context *client = context_of(options);
            clock_seconds = 1590000000; /* 2020 */
            CHECK_INT(FULL, connect_to(client, server, "localhost"));
            CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
            clock_seconds = rows[i].then - 1;
            CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
            clock_seconds = rows[i].then + 1;
            CHECK_INT(REFUSED, connect_to(client, server, "localhost"));
            netlib_tls_context_free(client);
            netlib_tls_context_free(server);
        }
    }
}

/* After a server has used TLS 1.3, the client offers it no TLS 1.2 session. */
static void stored_tls_1_2_sessions_are_removed_after_a_tls_1_3_handshake(void) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    netlib_tls_context *older = context_of(options), *newer = server_of(NULL, NETLIB_CERT_NONE);
    netlib_tls_context *client = client_of(NETLIB_TLS_VERSION_1_3, NULL);
    CHECK_INT(FULL, connect_to(client, older, "localhost"));
    CHECK_INT(1, (long long)netlib_tls_context_session_count(client));
    CHECK_INT(RESUMED, connect_to(client, older, "localhost"));
    CHECK_INT(FULL, connect_to(client, newer, "localhost"));
    CHECK_INT(2, (long long)netlib_tls_context_session_count(client));
    CHECK_INT(FULL, connect_to(client, older, "localhost"));
    netlib_tls_context_free(client);
    netlib_tls_context_free(newer);
    netlib_tls_context_free(older);
}

/* A client that resumes a session sends no certificate. If the server verifies clients, the certificate that the client
 * sent in the full handshake must still be valid. */
static void sessions_expire_with_the_client_certificate(void) {
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        for (int32_t mode = NETLIB_CERT_NONE; mode <= NETLIB_CERT_REQUIRED; mode++) {
            netlib_tls_options *options = netlib_tls_options_new();
            netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
            netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
            netlib_tls_options_set_verify_mode(options, mode);
            netlib_tls_options_set_wall_clock(options, report_clock, NULL, NULL);
            netlib_tls_context *server = context_of(options), *client = client_of(version, identity);
            bool verifies_clients = mode != NETLIB_CERT_NONE;
            clock_seconds = 4733510400.0; /* the last second of the client certificate */
            CHECK_INT(FULL, connect_to(client, server, "localhost"));
            CHECK_INT(RESUMED, connect_to(client, server, "localhost"));
            clock_seconds += 1;
            struct wire wire = wire_of(client, server, 20000);
            struct handshake_result result = run_handshake(&wire);
            CHECK_INT(verifies_clients ? NETLIB_CERTIFICATE_VERIFY : NETLIB_OK, result.server);
            CHECK(
                (strstr(result.message[1], "expired on 2120-01-01 00:00:00 UTC; the time is 2120-01-01 00:00:01 UTC") !=
                 NULL) == verifies_clients);
            if (verifies_clients) {
                char byte;
                size_t n;
                CHECK_INT(NETLIB_CERTIFICATE_VERIFY, netlib_tls_engine_read(wire.server, &byte, 1, &n, NULL));
                CHECK_INT(NETLIB_CERTIFICATE_VERIFY, netlib_tls_engine_write(wire.server, "x", 1, &n, NULL));
            }
            free_wire(&wire);
            netlib_tls_context_forget_sessions(client);
            CHECK_INT(verifies_clients ? REFUSED : FULL, connect_to(client, server, "localhost"));
            netlib_tls_context_free(client);
            netlib_tls_context_free(server);
        }
    }
}
int main(void) {
    sessions_expire_with_the_peer_certificate();
    sessions_are_resumed_only_while_the_certificate_is_valid();
    sessions_expire_with_intermediate_certificates_and_crls();
    stored_tls_1_2_sessions_are_removed_after_a_tls_1_3_handshake();
    sessions_expire_with_the_client_certificate();
    return report("tls session ends");
}
