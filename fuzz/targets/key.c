/* Fuzzes the loading of private keys: PEM and DER; PKCS#8, PKCS#1 and SEC1; encrypted and unencrypted; also a PEM text
 * with a certificate and a key. */
#include "../fuzz.h"

static struct input chain;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    chain = read_file("tests/certs/server.pem");
    return 0;
}

static netlib_status load(const uint8_t *certificate, size_t certificate_len, const uint8_t *key, size_t key_len,
                          const char *password) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = options_without_trust();
    netlib_tls_options_set_identity(options, certificate, certificate_len, key, key_len);
    netlib_tls_options_set_key_password(options, password, password != NULL ? NETLIB_NTS : 0);
    netlib_status status = ONE_OF(netlib_tls_context_new(options, &context, &err), certificate_len + key_len,
                                  NETLIB_INVALID_PEM, NETLIB_UNSUPPORTED, NETLIB_KEY_MISMATCH, NETLIB_PASSWORD_REQUIRED,
                                  NETLIB_WRONG_PASSWORD, NETLIB_INVALID_ARGUMENT);
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    /* A key that can be loaded without a password can be loaded with a password. */
    netlib_status without = load(chain.data, chain.len, data, size, NULL);
    MUST(without != NETLIB_WRONG_PASSWORD);
    netlib_status with = load(chain.data, chain.len, data, size, "secret");
    MUST(with != NETLIB_PASSWORD_REQUIRED);
    if (without == NETLIB_OK) MUST(with == NETLIB_OK);
    (void)load(data, size, NULL, 0, "secret");
    return 0;
}
