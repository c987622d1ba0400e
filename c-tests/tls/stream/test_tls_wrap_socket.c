/* Tests netlib_ssl_wrap_socket with the parameters of urllib3, with and without a context. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#define NETLIB_DEPRECATED_NOTE(note)
#include "tls_peer.h"

#include <fcntl.h>

/* Returns a server context with the ALPN protocols h2 and http/1.1. If `requires_certificate` is true, the server
 * requires a client certificate. */
static netlib_tls_context *server_of(bool requires_certificate) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    netlib_tls_options_set_verify_mode(options, requires_certificate ? NETLIB_CERT_REQUIRED : NETLIB_CERT_NONE);
    netlib_tls_options_add_alpn_protocol(options, "h2");
    netlib_tls_options_add_alpn_protocol(options, "http/1.1");
    return context_of(options);
}

/* Flags for the settings of the options and of the context. */
enum {
    CA = 1,
    OTHER_CA = 2,
    CA_DATA = 4,
    IDENTITY = 8,
    H2 = 16,
    TLS12 = 32,
    TLS13 = 64,
    NOT_VERIFIED = 128,
    ABSENT = 256, /* NULL is passed instead of the options or the context */
    SYSTEM = 512,
    EXACT12 = 1024,
    CHACHA = 2048,
    CA_DIR = 4096,
    ENCRYPTED = 8192, /* the identity's key is encrypted, and its password is set */
    LOCKED = 16384,   /* the identity's key is encrypted, and no password is set */
    EMBEDDED = 32768,
    NO_SYSTEM = 65536,
    P256 = 131072,  /* P-256 as the only group */
    EARLY = 262144, /* early data */
    HTTP = 524288,  /* "http/1.1", after "h2" if both are set */
    PKCS12 = 1048576,
};

/* The path of a CA directory, and the path of the CA certificate in this directory. */
static char directory[] = "/tmp/netlib-cas-XXXXXX", in_directory[64];

static netlib_tls_options *options_with(int has) {
    if (has & ABSENT) return NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    if (has & CA) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    if (has & OTHER_CA) netlib_tls_options_add_ca_file(options, CERTS "other-ca.pem");
    if (has & CA_DATA) {
        char pem[8192];
        FILE *file = fopen(CERTS "ca.pem", "r");
        size_t len = file != NULL ? fread(pem, 1, sizeof pem, file) : 0;
        if (file != NULL) fclose(file);
        netlib_tls_options_add_ca_data(options, pem, len);
    }
    if (has & IDENTITY) netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client.key");
    if (has & CA_DIR) netlib_tls_options_add_ca_dir(options, directory);
    if (has & (ENCRYPTED | LOCKED)) {
        netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client-encrypted.key");
        if (has & ENCRYPTED) netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    }
    if (has & EMBEDDED) netlib_tls_options_set_embedded_trust(options, 1);
    if (has & H2) netlib_tls_options_add_alpn_protocol(options, "h2");
    if (has & HTTP) netlib_tls_options_add_alpn_protocol(options, "http/1.1");
    if (has & P256) netlib_tls_options_set_key_exchange_groups(options, "secp256r1");
    if (has & EARLY) netlib_tls_options_set_early_data(options, 1);
    if (has & PKCS12) {
        netlib_tls_options_set_identity_files(options, CERTS "pkcs12/openssl.p12", NULL);
        netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    }
    if (has & TLS12) netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    if (has & TLS13) netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_3);
    if (has & NOT_VERIFIED) netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    if (has & NO_SYSTEM) netlib_tls_options_set_system_trust(options, 0);
    if (has & SYSTEM) netlib_tls_options_set_system_trust(options, 1);
    if (has & EXACT12) netlib_tls_options_set_ssl_version(options, NETLIB_SSL_VERSION_TLSv1_2);
    if (has & CHACHA) netlib_tls_options_set_ciphers(options, "TLS_CHACHA20_POLY1305_SHA256");
    return options;
}

static void wrap_socket_applies_options_and_context_as_urllib3_does(void) {
    static const struct {
        int options, context;
        const char *ssl_cert_file; /* the system's authorities */
        const char *name;
        netlib_status status;
        const char *alpn;
        int32_t version;
        size_t client_certificates;
    } rows[] = {
        /* Without options and context, netlib trusts the system's CA certificates. */
        {ABSENT, ABSENT, CERTS "ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {ABSENT, ABSENT, CERTS "other-ca.pem", "localhost", NETLIB_CERTIFICATE_VERIFY, "", 0, 0},
        {0, ABSENT, CERTS "ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        /* These rows have options, but no context. */
        {CA, ABSENT, CERTS "other-ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA_DATA, ABSENT, CERTS "other-ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {OTHER_CA, ABSENT, CERTS "ca.pem", "localhost", NETLIB_CERTIFICATE_VERIFY, "", 0, 0},
        {OTHER_CA | SYSTEM, ABSENT, CERTS "ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA, ABSENT, NULL, "elsewhere.test", NETLIB_HOSTNAME_MISMATCH, "", 0, 0},
        {CA | EXACT12, ABSENT, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_2, 0},
        {CA | H2, ABSENT, NULL, "localhost", NETLIB_OK, "h2", NETLIB_TLS_VERSION_1_3, 0},
        {CA | IDENTITY, ABSENT, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {CA_DIR, ABSENT, CERTS "other-ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA | ENCRYPTED, ABSENT, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {CA | LOCKED, ABSENT, NULL, "localhost", NETLIB_PASSWORD_REQUIRED, "", 0, 0},
        {NOT_VERIFIED, ABSENT, CERTS "other-ca.pem", NULL, NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA, ABSENT, NULL, NULL, NETLIB_INVALID_ARGUMENT, "", 0, 0},
        {CA | EXACT12 | TLS12, ABSENT, NULL, "localhost", NETLIB_INVALID_ARGUMENT, "", 0, 0},
        {CA | TLS12 | CHACHA, ABSENT, NULL, "localhost", NETLIB_NO_CIPHER_SUITES, "", 0, 0},
        /* These rows have a context, but no options. netlib replaces the ALPN protocols of the context. */
        {ABSENT, CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {ABSENT, CA | H2, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {0, CA | H2 | TLS12, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_2, 0},
        {ABSENT, NOT_VERIFIED | H2, NULL, NULL, NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {ABSENT, CA | IDENTITY, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        /* With options and a context, the settings of the context apply. */
        {NOT_VERIFIED, OTHER_CA, CERTS "ca.pem", "localhost", NETLIB_CERTIFICATE_VERIFY, "", 0, 0},
        {TLS13, CA | TLS12, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_2, 0},
        {EXACT12, CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        /* With options and a context, netlib adds the CA certificates and the identity of the options to those of the
         * context. */
        {CA, OTHER_CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA | TLS13, OTHER_CA | TLS12, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_2, 0},
        {CA_DATA, OTHER_CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {OTHER_CA, CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {OTHER_CA, 0, CERTS "ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {SYSTEM, OTHER_CA, CERTS "ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {IDENTITY, CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {CA_DIR, OTHER_CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {EMBEDDED, CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA, EMBEDDED, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {EMBEDDED, OTHER_CA, CERTS "ca.pem", "localhost", NETLIB_CERTIFICATE_VERIFY, "", 0, 0},
        /* The context has an identity, but no trust anchors. netlib trusts only the CA certificates of the options. */
        {0, IDENTITY | NO_SYSTEM, CERTS "ca.pem", "localhost", NETLIB_NO_TRUST_ANCHORS, "", 0, 0},
        {EMBEDDED, IDENTITY | NO_SYSTEM, CERTS "ca.pem", "localhost", NETLIB_CERTIFICATE_VERIFY, "", 0, 0},
        {CA, IDENTITY | NO_SYSTEM, CERTS "other-ca.pem", "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {ENCRYPTED, CA | IDENTITY, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {IDENTITY, CA | ENCRYPTED, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {LOCKED, CA | ENCRYPTED, NULL, "localhost", NETLIB_PASSWORD_REQUIRED, "", 0, 0},
        {IDENTITY | H2, CA, NULL, "localhost", NETLIB_OK, "h2", NETLIB_TLS_VERSION_1_3, 1},
        {H2, CA, NULL, "localhost", NETLIB_OK, "h2", NETLIB_TLS_VERSION_1_3, 0},
        /* The groups of the context apply, in the context itself and in a context that netlib derives from it. */
        {CA | P256, ABSENT, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {0, CA | P256, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {P256, CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA, OTHER_CA | P256, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA | P256, OTHER_CA, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        /* Early data requires a single ALPN protocol. If the options have several protocols, netlib disables the early
         * data of the context. */
        {CA | EARLY, ABSENT, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {CA | EARLY | H2 | HTTP, ABSENT, NULL, "localhost", NETLIB_INVALID_ARGUMENT, "", 0, 0},
        {0, CA | EARLY | H2, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 0},
        {H2 | HTTP, CA | EARLY, NULL, "localhost", NETLIB_OK, "h2", NETLIB_TLS_VERSION_1_3, 0},
        {H2 | HTTP | CA, OTHER_CA | EARLY | H2, NULL, "localhost", NETLIB_OK, "h2", NETLIB_TLS_VERSION_1_3, 0},
        /* With a PKCS#12 identity, the client sends its own certificate and the CA certificate in the PKCS#12 file. */
        {CA | PKCS12, ABSENT, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 2},
        {PKCS12, CA | IDENTITY, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 2},
        {IDENTITY, CA | PKCS12, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 1},
        {CA, OTHER_CA | PKCS12, NULL, "localhost", NETLIB_OK, "http/1.1", NETLIB_TLS_VERSION_1_3, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_stream *stream = (netlib_stream *)1;
        size_t n = 0;
        char back[8];
        if (rows[i].ssl_cert_file != NULL) setenv("SSL_CERT_FILE", rows[i].ssl_cert_file, 1);
        netlib_tls_options *options = options_with(rows[i].options);
        netlib_tls_context *context = rows[i].context & ABSENT ? NULL : context_of(options_with(rows[i].context));
        netlib_tls_context *server_side = server_of(rows[i].client_certificates > 0);
        struct pair pair = unix_pair();
        int flags = fcntl(pair.near, F_GETFL);
        struct server server = {.does = SERVE_ECHO, .context = server_side, .fd = pair.far};
        server_start(&server);
        netlib_status status = netlib_ssl_wrap_socket(pair.near, options, context, rows[i].name, NULL, &stream, &err);
        if (status != rows[i].status) fprintf(stderr, "row %zu\n", i);
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(status == NETLIB_OK, stream != NULL);
        CHECK_INT(flags, fcntl(pair.near, F_GETFL));
        if (status == NETLIB_OK) {
            CHECK_INT(rows[i].version, netlib_stream_tls_version(stream));
            bool is_p256 = (rows[i].context & ABSENT ? rows[i].options : rows[i].context) & P256;
            const char *other = rows[i].version == NETLIB_TLS_VERSION_1_3 ? "X25519MLKEM768" : "x25519";
            CHECK_STR(is_p256 ? "secp256r1" : other, netlib_stream_key_exchange_group(stream, NULL));
            CHECK_OK(netlib_stream_write(stream, "ping", 4, &n, &err));
            CHECK_OK(netlib_stream_read(stream, back, sizeof back, &n, &err));
            CHECK(n == 4 && memcmp(back, "ping", 4) == 0);
            CHECK_OK(netlib_stream_shutdown(stream, &err));
        }
        netlib_tls_options_free(options);
        netlib_tls_context_free(context);
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&server);
        CHECK_STR(rows[i].alpn, server.alpn);
        CHECK_INT((long long)rows[i].client_certificates, (long long)server.client_certificates);
        netlib_tls_context_free(server_side);
        unsetenv("SSL_CERT_FILE");
    }
}

static void the_limit_of_wrap_socket_applies_only_to_the_handshake(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    netlib_limit *limit = NULL;
    netlib_tls_context *context = client_context();
    /* The peer does not answer the handshake. */
    struct pair pair = unix_pair();
    CHECK_OK(netlib_limit_new(0.05, NULL, &limit, &err));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED,
                 netlib_ssl_wrap_socket(pair.near, NULL, context, "localhost", limit, &stream, &err));
    CHECK(stream == NULL && fcntl(pair.near, F_GETFD) >= 0);
    netlib_limit_free(limit);
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_limit_cancel(limit);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_ssl_wrap_socket(pair.near, NULL, context, "localhost", limit, &stream, &err));
    netlib_limit_free(limit);
    close_pair(pair);

    /* The limit that was passed to netlib_ssl_wrap_socket does not apply to later calls. */
    netlib_tls_context *server_side = server_of(false);
    pair = unix_pair();
    struct server server = {.does = SERVE_ECHO, .context = server_side, .fd = pair.far};
    server_start(&server);
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    CHECK_OK(netlib_ssl_wrap_socket(pair.near, NULL, context, "localhost", limit, &stream, &err));
    netlib_limit_cancel(limit);
    char back[8];
    size_t n = 0;
    CHECK_OK(netlib_stream_write(stream, "ping", 4, &n, &err));
    CHECK_OK(netlib_stream_read(stream, back, sizeof back, &n, &err));
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    netlib_limit_free(limit);
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&server);
    netlib_tls_context_free(server_side);
    netlib_tls_context_free(context);
}

/* A context caches its configuration for clients that have no server name. netlib must not use this configuration if
 * the ALPN protocols are replaced. */
static void wrap_socket_replaces_alpn_protocols_of_a_client_without_a_server_name(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    netlib_tls_context *context = context_of(options_with(NOT_VERIFIED | H2)), *server_side = server_of(false);
    static const char *const expected[] = {"h2", "http/1.1", "h2"};
    for (size_t i = 0; i < 3; i++) {
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = server_side, .fd = pair.far};
        server_start(&server);
        if (i == 1) {
            CHECK_OK(netlib_ssl_wrap_socket(pair.near, NULL, context, NULL, NULL, &stream, &err));
        } else {
            stream = wrap(context, pair.near, NULL);
            CHECK_OK(netlib_stream_handshake(stream, &err));
        }
        CHECK_STR(expected[i], netlib_stream_alpn_protocol(stream, NULL));
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&server);
        CHECK_STR(expected[i], server.alpn);
    }
    netlib_tls_context_free(server_side);
    netlib_tls_context_free(context);
}

/* As with Python's load_verify_locations, netlib loads CRLs together with the CA certificates. */
static void wrap_socket_uses_the_crls_of_the_options_with_the_given_context(void) {
    static const struct {
        const char *authority, *list; /* the CA certificate and the CRL in the options */
        netlib_status status;
        int32_t problem;
    } rows[] = {
        {NULL, NULL, NETLIB_OK, 0},
        {NULL, CERTS "verify/all.crl", NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOKED},
        {CERTS "other-ca.pem", CERTS "verify/all.crl", NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOKED},
        {CERTS "other-ca.pem", NULL, NETLIB_OK, 0},
    };
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, CERTS "verify/root.pem");
    netlib_tls_context *context = context_of(options);
    options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "verify/revoked.pem", CERTS "verify/leaf.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *server_side = context_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_stream *stream = NULL;
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = server_side, .fd = pair.far};
        server_start(&server);
        options = netlib_tls_options_new();
        if (rows[i].authority != NULL) netlib_tls_options_add_ca_file(options, rows[i].authority);
        if (rows[i].list != NULL) netlib_tls_options_add_crl_file(options, rows[i].list);
        netlib_status status = netlib_ssl_wrap_socket(pair.near, options, context, "localhost", NULL, &stream, &err);
        CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].status, status);
        netlib_tls_options_free(options);
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&server);
    }
    netlib_tls_context_free(server_side);
    netlib_tls_context_free(context);
}

static void invalid_arguments_of_wrap_socket_are_refused(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    netlib_tls_context *context = client_context();
    CHECK_STATUS(NETLIB_IO, netlib_ssl_wrap_socket(-1, NULL, context, "localhost", NULL, &stream, &err));
    /* An invalid verify mode in the options makes the call fail, although the verify mode of the context would
     * apply. */
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_verify_mode(options, 9);
    netlib_status status = netlib_ssl_wrap_socket(-1, options, context, "localhost", NULL, &stream, &err);
    CHECK_STR("netlib_tls_options_set_verify_mode: mode must be one of enum netlib_verify_mode; it is 9",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_options_free(options);
    /* The CA certificates of the options cannot be loaded. */
    options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, "/nonexistent/ca.pem");
    CHECK_STATUS(NETLIB_IO, netlib_ssl_wrap_socket(-1, options, context, "localhost", NULL, &stream, &err));
    netlib_tls_options_free(options);
    netlib_tls_context_free(context);
}

int main(void) {
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    unsetenv("SSLKEYLOGFILE");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(in_directory, sizeof in_directory, "%s/ca.pem", directory);
    char authority[4096];
    CHECK(realpath(CERTS "ca.pem", authority) != NULL && symlink(authority, in_directory) == 0);
    wrap_socket_applies_options_and_context_as_urllib3_does();
    the_limit_of_wrap_socket_applies_only_to_the_handshake();
    wrap_socket_replaces_alpn_protocols_of_a_client_without_a_server_name();
    wrap_socket_uses_the_crls_of_the_options_with_the_given_context();
    invalid_arguments_of_wrap_socket_are_refused();
    unlink(in_directory);
    CHECK(rmdir(directory) == 0);
    return report("tls_wrap_socket");
}
