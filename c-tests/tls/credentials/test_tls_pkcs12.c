/* Tests PKCS#12 identities: the result for each file of tests/certs/pkcs12, malformed files, and handshakes. The suite
 * `keys` tests PKCS#12 files that the openssl command writes. */
#include "tls_peer.h"

#define P12 CERTS "pkcs12/"
#define SETTER "netlib_tls_options_set_identity_files: "

enum { ROOM = 4096 };

static size_t slurp(const char *path, char *bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) exit(EXIT_FAILURE);
    size_t len = fread(bytes, 1, ROOM, file);
    fclose(file);
    CHECK(len > 0 && len < ROOM);
    return len;
}

static netlib_tls_options *identity(const char *path, const char *key, const char *password) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, path, key);
    if (password != NULL) netlib_tls_options_set_key_password(options, password, NETLIB_NTS);
    return options;
}

/* Creates a context from the options, copies the error message and frees the options. */
static netlib_status create_context(netlib_tls_options *options, char *message, size_t room) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    if (message != NULL) snprintf(message, room, "%s", err != NULL ? netlib_error_message(err, NULL) : "");
    CHECK((context != NULL) == (status == NETLIB_OK));
    netlib_error_free(err);
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
    return status;
}

static void pkcs12_files_need_their_password_and_no_separate_key(void) {
    static const struct {
        const char *path, *key, *password;
        netlib_status status;
        const char *message;
    } rows[] = {
        {P12 "openssl.p12", NULL, "secret", NETLIB_OK, ""},
        {P12 "openssl-legacy.p12", NULL, "secret", NETLIB_OK, ""},
        {P12 "openssl.p12", P12 "openssl.p12", "secret", NETLIB_OK, ""},
        {P12 "openssl-open.p12", NULL, NULL, NETLIB_OK, ""},
        {P12 "openssl-open.p12", NULL, "any", NETLIB_OK, ""},
        {P12 "cryptography-utf8.p12", NULL, "p\xc3\xa4ss\xf0\x9f\x94\x91", NETLIB_OK, ""},
        {P12 "cryptography-3des.p12", NULL, "p\xc3\xa4ss\xf0\x9f\x94\x91", NETLIB_OK, ""},
        {P12 "keytool.p12", NULL, "secret", NETLIB_OK, ""},
        {P12 "openssl.p12", NULL, NULL, NETLIB_PASSWORD_REQUIRED,
         SETTER "the PKCS#12 data in " P12 "openssl.p12 is encrypted, and no password was given"},
        {P12 "openssl.p12", NULL, "", NETLIB_WRONG_PASSWORD,
         SETTER "the password for the PKCS#12 data in " P12 "openssl.p12 is wrong"},
        {P12 "openssl.p12", NULL, "Secret", NETLIB_WRONG_PASSWORD,
         SETTER "the password for the PKCS#12 data in " P12 "openssl.p12 is wrong"},
        {P12 "cryptography-3des.p12", NULL, "p\xe4ss", NETLIB_WRONG_PASSWORD,
         SETTER "the password for the PKCS#12 data in " P12 "cryptography-3des.p12 is wrong"},
        {P12 "openssl.p12", CERTS "client.key", "secret", NETLIB_INVALID_ARGUMENT,
         SETTER P12 "openssl.p12 is PKCS#12 and contains its own key: " CERTS "client.key cannot be given too"},
        {CERTS "client.pem", P12 "openssl.p12", "secret", NETLIB_INVALID_ARGUMENT,
         SETTER P12 "openssl.p12 is PKCS#12: pass it in place of the chain, without a key"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[512];
        CHECK_INT(rows[i].status,
                  create_context(identity(rows[i].path, rows[i].key, rows[i].password), message, sizeof message));
        CHECK_STR(rows[i].message, message);
    }
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = identity(P12 "openssl.p12", NULL, NULL);
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    CHECK_STR("to give the password: netlib_tls_options_set_key_password", netlib_error_advice(err, NULL));
    CHECK_STATUS(NETLIB_PASSWORD_REQUIRED, status);
    netlib_tls_options_free(options);
}

static netlib_status from_memory(const char *bytes, size_t len, const char *password) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_identity(options, bytes, len, NULL, 0);
    netlib_tls_options_set_key_password(options, password, NETLIB_NTS);
    return create_context(options, NULL, 0);
}

/* Loading a truncated file returns NETLIB_INVALID_PEM. Loading a changed file succeeds or returns one of the four
 * documented statuses below. Unit tests check the exact status. */
static void truncated_pkcs12_data_is_refused_and_changed_data_causes_no_crash(void) {
    static const char *const files[] = {P12 "openssl.p12", P12 "openssl-legacy.p12", P12 "pbmac1-sha256-sha256.p12",
                                        P12 "openssl-open.p12"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char bytes[ROOM];
        size_t len = slurp(files[i], bytes);
        CHECK_INT(NETLIB_OK, from_memory(bytes, len, "secret"));
        for (size_t at = 0; at < len; at += under_valgrind() ? 61 : 1) {
            netlib_status status = from_memory(bytes, at, "secret");
            CHECK(status == NETLIB_INVALID_PEM);
            bytes[at] ^= 0x10;
            status = from_memory(bytes, len, "secret");
            CHECK(status == NETLIB_OK || status == NETLIB_INVALID_PEM || status == NETLIB_WRONG_PASSWORD ||
                  status == NETLIB_UNSUPPORTED || status == NETLIB_KEY_MISMATCH);
            bytes[at] ^= 0x10;
        }
    }
}

/* The server requires a client certificate. The client sends the certificate of the PKCS#12 file and the CA certificate
 * in the file. */
static void clients_and_servers_send_the_certificates_of_a_pkcs12_file(void) {
    static const struct {
        const char *path, *password;
    } rows[] = {
        {P12 "openssl.p12", "secret"},  {P12 "openssl-legacy.p12", "secret"},
        {P12 "openssl-open.p12", NULL}, {P12 "pbmac1-sha512-sha512.p12", "secret"},
        {P12 "keytool.p12", "secret"},
    };
    char expected[ROOM];
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
    netlib_tls_context *server = context_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
            netlib_error *err = NULL;
            options = identity(rows[i].path, NULL, rows[i].password);
            netlib_tls_options_set_minimum_version(options, version);
            netlib_tls_options_set_maximum_version(options, version);
            netlib_tls_context *client = context_of(options);
            struct pair pair = unix_pair();
            struct server peer = {.does = SERVE_CLEAN, .context = server, .fd = pair.far};
            server_start(&peer);
            netlib_stream *stream = wrap(client, pair.near, "localhost");
            size_t got = 0;
            CHECK_OK(netlib_stream_read(stream, expected, sizeof expected, &got, &err));
            CHECK(got == 4);
            netlib_stream_free(stream);
            close(pair.near);
            server_join(&peer);
            CHECK_INT(2, (long long)peer.client_certificates);
            netlib_tls_context_free(client);
        }
    }
    netlib_tls_context_free(server);

    /* A server sends the certificate of the PKCS#12 file to a client that does not verify certificates. */
    options = identity(P12 "openssl.p12", NULL, "secret");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    server = context_of(options);
    options = client_options();
    netlib_tls_options_set_check_hostname(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *client = context_of(options);
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
    server_start(&peer);
    netlib_stream *stream = wrap(client, pair.near, "localhost");
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_handshake(stream, &err));
    CHECK_INT(2, (long long)netlib_stream_peer_certificate_count(stream));
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&peer);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    pkcs12_files_need_their_password_and_no_separate_key();
    truncated_pkcs12_data_is_refused_and_changed_data_causes_no_crash();
    clients_and_servers_send_the_certificates_of_a_pkcs12_file();
    return report("tls_pkcs12");
}
