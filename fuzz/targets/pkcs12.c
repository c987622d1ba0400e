/* Fuzzes the loading of PKCS#12 files: without a password, with the right password, and with an empty password. */
#include "../fuzz.h"

static netlib_status load(const uint8_t *data, size_t size, const char *password) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = options_without_trust();
    netlib_tls_options_set_identity(options, data, size, NULL, 0);
    netlib_tls_options_set_key_password(options, password, password != NULL ? NETLIB_NTS : 0);
    netlib_status status =
        ONE_OF(netlib_tls_context_new(options, &context, &err), size, NETLIB_INVALID_PEM, NETLIB_UNSUPPORTED,
               NETLIB_KEY_MISMATCH, NETLIB_PASSWORD_REQUIRED, NETLIB_WRONG_PASSWORD, NETLIB_INVALID_ARGUMENT);
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    MUST(load(data, size, NULL) != NETLIB_WRONG_PASSWORD);
    MUST(load(data, size, "secret") != NETLIB_PASSWORD_REQUIRED);
    MUST(load(data, size, "") != NETLIB_PASSWORD_REQUIRED);
    return 0;
}
