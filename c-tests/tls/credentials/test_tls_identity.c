/* Tests TLS identities: the setters, and the private keys of tests/certs in each format. The suite `keys` tests more
 * combinations of key, format and encryption. */
#include "tls_peer.h"

#define SETTER "netlib_tls_options_set_identity_files: "

/* Creates a context with an identity. Checks the status, and the error message if `message` is not NULL. */
static void check_identity(netlib_tls_options *options, netlib_status status, const char *message) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_status is = netlib_tls_context_new(options, &context, &err);
    if (message != NULL && err != NULL) CHECK_STR(message, netlib_error_message(err, NULL));
    CHECK_STATUS(status, is);
    CHECK((context != NULL) == (status == NETLIB_OK));
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
}

static netlib_tls_options *identity(const char *chain, const char *key) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, chain, key);
    return options;
}

static void encrypted_keys_load_only_with_their_password(void) {
    static const struct {
        const char *chain, *key;
    } rows[] = {
        {CERTS "server.pem", CERTS "server-encrypted.key"},
        {CERTS "server.pem", CERTS "server-encrypted-pbkdf2.key"},
        {CERTS "server.pem", CERTS "server-encrypted-scrypt.key"},
        {CERTS "server.der", CERTS "server-encrypted.der"},
        {CERTS "server.pem", CERTS "server-encrypted-sec1.key"},
        {CERTS "rsa.pem", CERTS "rsa-encrypted-pkcs1.key"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[512];
        netlib_tls_options *options = identity(rows[i].chain, rows[i].key);
        netlib_tls_options_set_key_password(options, "secret", 6);
        check_identity(options, NETLIB_OK, NULL);

        options = identity(rows[i].chain, rows[i].key);
        netlib_tls_options_set_key_password(options, "wrong", NETLIB_NTS);
        snprintf(message, sizeof message, SETTER "the password for the private key in %s is wrong", rows[i].key);
        check_identity(options, NETLIB_WRONG_PASSWORD, message);

        snprintf(message, sizeof message, SETTER "the private key in %s is encrypted, and no password was given",
                 rows[i].key);
        check_identity(identity(rows[i].chain, rows[i].key), NETLIB_PASSWORD_REQUIRED, message);

        options = identity(CERTS "client.pem", rows[i].key);
        netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
        snprintf(message, sizeof message,
                 SETTER "the private key in %s does not belong to the first certificate in " CERTS "client.pem",
                 rows[i].key);
        check_identity(options, NETLIB_KEY_MISMATCH, message);
    }
}

static void key_passwords_can_be_removed_and_replaced_and_have_at_most_1024_bytes(void) {
    const char *chain = CERTS "server.pem", *key = CERTS "server-encrypted-pbkdf2.key";
    /* The password may be set before or after the identity, with either of the two identity setters. */
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    netlib_tls_options_set_identity_files(options, chain, key);
    check_identity(options, NETLIB_OK, NULL);
    /* The last call of the password setter determines the password. */
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, "wrong", NETLIB_NTS);
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    check_identity(options, NETLIB_OK, NULL);
    /* NULL removes the password. An empty password counts as a password. */
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    netlib_tls_options_set_key_password(options, NULL, 0);
    check_identity(options, NETLIB_PASSWORD_REQUIRED, NULL);
    /* getenv returns NULL for a variable that does not exist. Passing this NULL as the password means no password. */
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, NULL, NETLIB_NTS);
    check_identity(options, NETLIB_PASSWORD_REQUIRED, NULL);
    options = client_options();
    netlib_tls_options_set_identity(options, "", NETLIB_NTS, NULL, 3);
    check_identity(options, NETLIB_NULL_ARGUMENT, "netlib_tls_options_set_identity: key must not be NULL");
    options = client_options();
    netlib_tls_options_set_identity(options, "", NETLIB_NTS, NULL, NETLIB_NTS);
    check_identity(options, NETLIB_INVALID_PEM, "netlib_tls_options_set_identity: chain contains no certificate");
    options = client_options();
    netlib_tls_options_set_ech_config_list(options, NULL, NETLIB_NTS);
    check_identity(options, NETLIB_OK, NULL);
    options = client_options();
    netlib_tls_options_set_ech_config_list(options, NULL, 3);
    check_identity(options, NETLIB_NULL_ARGUMENT,
                   "netlib_tls_options_set_ech_config_list: config_list must not be NULL");
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, "", 0);
    check_identity(options, NETLIB_WRONG_PASSWORD, NULL);
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, "", NETLIB_NTS);
    check_identity(options, NETLIB_WRONG_PASSWORD, NULL);
    /* The length argument determines the end of the password, which may contain any bytes. */
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, "secret\0more", 11);
    check_identity(options, NETLIB_WRONG_PASSWORD, NULL);
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, "secret, and more", 6);
    check_identity(options, NETLIB_OK, NULL);
    /* A password may be set although none is needed: for a key that is not encrypted, or without an identity. */
    options = identity(chain, CERTS "server.key");
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    check_identity(options, NETLIB_OK, NULL);
    options = client_options();
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    check_identity(options, NETLIB_OK, NULL);
    /* A password that is too long is refused. */
    char long_one[1025];
    memset(long_one, 'x', sizeof long_one);
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, long_one, 1024);
    check_identity(options, NETLIB_WRONG_PASSWORD, NULL);
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, long_one, 1025);
    check_identity(options, NETLIB_INVALID_ARGUMENT,
                   "netlib_tls_options_set_key_password: password must have at most 1024 bytes; it has 1025");
    options = identity(chain, key);
    netlib_tls_options_set_key_password(options, NULL, 3);
    check_identity(options, NETLIB_NULL_ARGUMENT, NULL);
    netlib_tls_options_set_key_password(NULL, "secret", NETLIB_NTS);

    /* For an encrypted key from memory without a password, the error names the setter and has advice. */
    static const char pem[] =
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
        "DEK-Info: DES-EDE3-CBC,0011223344556677\n\nAAAAAAAAAAA=\n-----END RSA PRIVATE KEY-----\n";
    static const char certificate[] = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    options = client_options();
    netlib_tls_options_set_identity(options, certificate, NETLIB_NTS, pem, NETLIB_NTS);
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    CHECK_STR("netlib_tls_options_set_identity: the private key in key is encrypted, and no password was given",
              netlib_error_message(err, NULL));
    CHECK_STR("to give the password: netlib_tls_options_set_key_password", netlib_error_advice(err, NULL));
    CHECK_STATUS(NETLIB_PASSWORD_REQUIRED, status);
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    check_identity(options, NETLIB_WRONG_PASSWORD,
                   "netlib_tls_options_set_identity: the password for the private key in key is wrong");
}

/* A server with an encrypted private key completes a handshake. */
static void a_server_with_an_encrypted_private_key_completes_a_handshake(void) {
    netlib_error *err = NULL;
    netlib_tls_options *options = identity(CERTS "server.pem", CERTS "server-encrypted-sec1.key");
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *server = context_of(options), *client = client_context();
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
    server_start(&peer);
    netlib_stream *stream = wrap(client, pair.near, "localhost");
    CHECK_OK(netlib_stream_handshake(stream, &err));
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&peer);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

int main(void) {
    encrypted_keys_load_only_with_their_password();
    key_passwords_can_be_removed_and_replaced_and_have_at_most_1024_bytes();
    a_server_with_an_encrypted_private_key_completes_a_handshake();
    return report("tls_identity");
}
