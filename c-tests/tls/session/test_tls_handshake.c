/* Tests the negotiated parameters of TLS handshakes, and the errors of refused handshakes. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <fcntl.h>

/* Runs a session in which the server echoes some bytes, and checks the negotiated parameters. */
static void echo(const netlib_tls_context *client, const netlib_tls_context *server, const char *name,
                 int32_t version) {
    netlib_error *err = NULL;
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
    server_start(&peer);
    netlib_stream *stream = wrap(client, pair.near, name);
    size_t n = 0, len = 0;
    char buffer[16] = "";
    CHECK_INT(0, netlib_stream_tls_version(stream));
    CHECK(netlib_stream_cipher_suite(stream, NULL) == NULL);
    CHECK_INT(0, (long long)netlib_stream_peer_certificate_count(stream));
    CHECK_OK(netlib_stream_write(stream, "hello", 5, &n, &err));
    CHECK_INT(5, (long long)n);
    CHECK_OK(netlib_stream_read(stream, buffer, 2, &n, &err));
    CHECK_INT(2, (long long)n);
    CHECK_INT(3, (long long)netlib_stream_pending(stream));
    CHECK_OK(netlib_stream_read(stream, buffer + 2, sizeof buffer - 2, &n, &err));
    CHECK_STR("hello", buffer);
    CHECK_INT(version, netlib_stream_tls_version(stream));
    const char *suite = netlib_stream_cipher_suite(stream, &len);
    CHECK(suite != NULL && strncmp(suite, "TLS_", 4) == 0 && strlen(suite) == len);
    CHECK((strncmp(suite, "TLS_ECDHE_", 10) == 0) == (version == NETLIB_TLS_VERSION_1_2));
    CHECK(netlib_stream_alpn_protocol(stream, NULL) == NULL);
    CHECK_INT(1, (long long)netlib_stream_peer_certificate_count(stream));
    const uint8_t *der = netlib_stream_peer_certificate(stream, 0, &len);
    CHECK(der != NULL && len > 300 && der[0] == 0x30);
    CHECK(netlib_stream_peer_certificate(stream, 1, &len) == NULL && len == 0);
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_stream_write(stream, "x", 1, &n, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
    server_join(&peer);
    CHECK_INT(NETLIB_END_OF_STREAM, peer.status);
    netlib_stream_free(stream);
    /* netlib has neither closed the caller's descriptor nor changed its flags. */
    CHECK((fcntl(pair.near, F_GETFL) & O_NONBLOCK) == 0);
    close(pair.near);
}

static void data_is_echoed_in_both_tls_versions_with_ecdsa_and_rsa_keys(void) {
    static const char *const identities[] = {"server", "rsa"};
    static const int32_t versions[] = {NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3};
    for (size_t i = 0; i < 2; i++) {
        netlib_tls_context *server = server_context(identities[i]);
        for (size_t j = 0; j < 2; j++) {
            netlib_tls_options *options = client_options();
            netlib_tls_options_set_minimum_version(options, versions[j]);
            netlib_tls_options_set_maximum_version(options, versions[j]);
            netlib_tls_context *client = context_of(options);
            /* The second session of a context is resumed, and has the same parameters as the first. */
            echo(client, server, "localhost", versions[j]);
            echo(client, server, "localhost", versions[j]);
            netlib_tls_context_free(client);
        }
        netlib_tls_context_free(server);
    }
}

static void server_names_are_verified_regardless_of_case_trailing_dot_or_brackets(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    netlib_tls_context *client = client_context();
    static const struct {
        const char *name;
        netlib_status status;
    } rows[] = {
        {"localhost", NETLIB_OK},
        {"LOCALHOST", NETLIB_OK},
        {"localhost.", NETLIB_OK},
        {"a.wild.test", NETLIB_OK},
        {"b\xc3\xbc"
         "cher.test",
         NETLIB_OK},
        {"127.0.0.1", NETLIB_OK},
        {"::1", NETLIB_OK},
        {"[::1]", NETLIB_OK},
        {"fe80::1%eth0", NETLIB_OK},
        {"[fe80::1%25lo]", NETLIB_OK},
        {"wild.test", NETLIB_HOSTNAME_MISMATCH},
        {"a.b.wild.test", NETLIB_HOSTNAME_MISMATCH},
        {"127.0.0.2", NETLIB_HOSTNAME_MISMATCH},
        {"fe80::2%eth0", NETLIB_HOSTNAME_MISMATCH},
        {"localhost.example", NETLIB_HOSTNAME_MISMATCH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_stream *stream = wrap(client, pair.near, rows[i].name);
        CHECK_STATUS(rows[i].status, netlib_stream_handshake(stream, &err));
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&peer);
    }
    static const char *const bad[] = {NULL, "", "a b", "a..b", "[localhost]", "x/y", "."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        netlib_stream *stream = NULL;
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_fd(client, -1, bad[i], &stream, &err));
        CHECK(stream == NULL);
    }
    netlib_stream *stream = NULL;
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_tls_wrap_fd(client, -1, "\xff", &stream, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_accept_fd(client, -1, &stream, &err));
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void errors_explain_refused_certificates(void) {
    static const struct {
        const char *identity;
        netlib_status status;
        int32_t problem;
        int32_t alert;
        const char *message_part[2], *advice;
    } rows[] = {
        {"expired",
         NETLIB_CERTIFICATE_VERIFY,
         NETLIB_CERTIFICATE_PROBLEM_EXPIRED,
         45,
         {"2021-01-01 00:00:00 UTC", "localhost"},
         NULL},
        {"future",
         NETLIB_CERTIFICATE_VERIFY,
         NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID,
         45,
         {"2110-01-01 00:00:00 UTC", "localhost"},
         NULL},
        {"wrong-name",
         NETLIB_HOSTNAME_MISMATCH,
         NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH,
         42,
         {"other.test", "more.test"},
         "to accept it under one of its own names, if this is the intended peer: other.test, more.test"},
        {"wrong-purpose",
         NETLIB_CERTIFICATE_VERIFY,
         NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE,
         43,
         {"was not issued for servers", "serverAuth"},
         NULL},
        {"self-signed",
         NETLIB_CERTIFICATE_VERIFY,
         NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED,
         48,
         {"self-signed", "CN=localhost"},
         "to trust it: netlib_tls_options_add_ca_file"},
    };
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *trusting = context_of(options);
    CHECK_INT(NETLIB_CERT_NONE, netlib_tls_context_verify_mode(trusting));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_context *server = server_context(rows[i].identity);
        for (int version = 0; version < 2; version++) {
            struct pair pair = unix_pair();
            struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
            server_start(&peer);
            netlib_stream *stream = wrap(client, pair.near, "localhost");
            netlib_status status = netlib_stream_handshake(stream, &err);
            CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
            CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
            for (size_t j = 0; j < 2; j++) {
                const char *message = netlib_error_message(err, NULL);
                CHECK(message != NULL && strstr(message, rows[i].message_part[j]) != NULL);
            }
            CHECK_STR(rows[i].advice, netlib_error_advice(err, NULL));
            CHECK_STATUS(rows[i].status, status);
            /* Later calls return the status of the failed handshake. */
            size_t n = 0;
            CHECK_STATUS(rows[i].status, netlib_stream_write(stream, "x", 1, &n, &err));
            CHECK_STATUS(rows[i].status, netlib_stream_read(stream, &n, 1, &n, &err));
            CHECK_STATUS(rows[i].status, netlib_stream_shutdown(stream, &err));
            netlib_stream_free(stream);
            /* The server got an alert that names the reason. */
            server_join(&peer);
            CHECK_INT(NETLIB_TLS_ALERT, peer.status);
            CHECK_INT(rows[i].alert, peer.alert);
            close(pair.near);
        }
        echo(trusting, server, NULL, NETLIB_TLS_VERSION_1_3);
        echo(trusting, server, "localhost", NETLIB_TLS_VERSION_1_3);
        netlib_tls_context_free(server);
    }
    netlib_tls_context_free(trusting);
    netlib_tls_context_free(client);

    /* The client does not trust the issuer of the certificate. Disabling the host name check does not change the
     * result. */
    netlib_tls_context *server = server_context("server");
    for (int32_t check = 0; check < 2; check++) {
        options = netlib_tls_options_new();
        netlib_tls_options_add_ca_file(options, CERTS "other-ca.pem");
        netlib_tls_options_set_check_hostname(options, check);
        client = context_of(options);
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_stream_handshake(stream, &err);
        CHECK_INT(NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER, netlib_error_certificate_problem(err));
        CHECK_CONTAINS("netlib test CA", netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&peer);
        netlib_tls_context_free(client);
    }
    /* Without the host name check, the client accepts a certificate with any name. */
    options = client_options();
    netlib_tls_options_set_check_hostname(options, 0);
    client = context_of(options);
    CHECK_INT(NETLIB_CERT_REQUIRED, netlib_tls_context_verify_mode(client));
    echo(client, server, "elsewhere.example", NETLIB_TLS_VERSION_1_3);
    echo(client, server, NULL, NETLIB_TLS_VERSION_1_3);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void two_alpn_lists_give_a_common_protocol_or_end_the_handshake(void) {
    static const struct {
        const char *client[2], *server[2], *agreed;
        netlib_status status;
        int32_t alert;
    } rows[] = {
        {{"h2", "http/1.1"}, {"http/1.1", NULL}, "http/1.1", NETLIB_OK, -1},
        {{"http/1.1", "h2"}, {"h2", "http/1.1"}, "h2", NETLIB_OK, -1},
        {{"http/1.1", NULL}, {NULL, NULL}, "", NETLIB_OK, -1},
        {{NULL, NULL}, {"h2", NULL}, "", NETLIB_OK, -1},
        {{"h2", NULL}, {"http/1.1", NULL}, "", NETLIB_TLS_ALERT, 120},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options *server_options = client_options();
        netlib_tls_options_set_identity_files(server_options, CERTS "server-both.pem", NULL);
        for (size_t j = 0; j < 2; j++) {
            if (rows[i].client[j] != NULL) netlib_tls_options_add_alpn_protocol(options, rows[i].client[j]);
            if (rows[i].server[j] != NULL) netlib_tls_options_add_alpn_protocol(server_options, rows[i].server[j]);
        }
        netlib_tls_context *client = context_of(options);
        netlib_tls_context *server = context_of(server_options);
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_stream_handshake(stream, &err);
        CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
        CHECK_STATUS(rows[i].status, status);
        const char *agreed = netlib_stream_alpn_protocol(stream, NULL);
        CHECK_STR(rows[i].agreed, agreed != NULL ? agreed : "");
        server_join(&peer);
        CHECK_STR(rows[i].agreed, peer.alpn);
        netlib_stream_free(stream);
        close(pair.near);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

static void servers_verify_client_certificates(void) {
    static const struct {
        int32_t mode;
        const char *identity;
        netlib_status server;
        size_t certificates;
    } rows[] = {
        {NETLIB_CERT_REQUIRED, "client", NETLIB_END_OF_STREAM, 1},
        {NETLIB_CERT_OPTIONAL, "client", NETLIB_END_OF_STREAM, 1},
        {NETLIB_CERT_OPTIONAL, NULL, NETLIB_END_OF_STREAM, 0},
        {NETLIB_CERT_REQUIRED, NULL, NETLIB_CERTIFICATE_VERIFY, 0},
        {NETLIB_CERT_OPTIONAL, "self-signed", NETLIB_CERTIFICATE_VERIFY, 0},
        {NETLIB_CERT_NONE, "client", NETLIB_END_OF_STREAM, 0},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
        netlib_tls_options_set_verify_mode(options, rows[i].mode);
        netlib_tls_context *server = context_of(options);
        options = client_options();
        if (rows[i].identity != NULL) {
            char chain[256], key[256];
            snprintf(chain, sizeof chain, CERTS "%s.pem", rows[i].identity);
            snprintf(key, sizeof key, CERTS "%s.key", rows[i].identity);
            netlib_tls_options_set_identity_files(options, chain, key);
        }
        netlib_tls_context *client = context_of(options);
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        char buffer[8];
        size_t n = 0;
        CHECK_OK(netlib_stream_handshake(stream, &err));
        if (rows[i].server == NETLIB_END_OF_STREAM) {
            CHECK_OK(netlib_stream_shutdown(stream, &err));
            CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
        } else {
            /* In TLS 1.3 the refusal arrives after the client's handshake is done. */
            CHECK_STATUS(NETLIB_TLS_ALERT, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
        }
        server_join(&peer);
        CHECK_INT(rows[i].server, peer.status);
        CHECK_INT((long long)rows[i].certificates, (long long)peer.client_certificates);
        netlib_stream_free(stream);
        close(pair.near);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

int main(void) {
    data_is_echoed_in_both_tls_versions_with_ecdsa_and_rsa_keys();
    server_names_are_verified_regardless_of_case_trailing_dot_or_brackets();
    errors_explain_refused_certificates();
    two_alpn_lists_give_a_common_protocol_or_end_the_handshake();
    servers_verify_client_certificates();
    return report("tls handshake");
}
