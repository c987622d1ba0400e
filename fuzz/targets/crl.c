/* Fuzzes the CRL parser (incident R25). No input may make netlib accept a revoked certificate: altering the CRL makes
 * the CRL's signature invalid. */
#include "../fuzz.h"

static struct input root, revoked, good;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    root = read_file("tests/certs/verify/root.pem");
    revoked = read_file("tests/certs/verify/revoked.pem");
    good = read_file("tests/certs/verify/good.pem");
    return 0;
}

static netlib_status verify(const netlib_tls_context *context, struct input chain) {
    netlib_error *err = NULL;
    double now = NOW;
    return ONE_OF(netlib_tls_context_verify_chain(context, chain.data, chain.len, NETLIB_PURPOSE_SERVER_AUTH,
                                                  "localhost", &now, &err),
                  chain.len, NETLIB_CERTIFICATE_VERIFY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_add_ca_data(options, root.data, root.len);
    netlib_tls_options_add_crl_data(options, data, size);
    netlib_tls_options_set_verify_flags(options, NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF);
    if (ONE_OF(netlib_tls_context_new(options, &context, &err), size, NETLIB_INVALID_PEM, NETLIB_UNSUPPORTED,
               NETLIB_INVALID_ARGUMENT) == NETLIB_OK) {
        netlib_status status = verify(context, revoked);
#ifndef ANY_SIGNATURE
        MUST(status != NETLIB_OK);
#endif
        (void)status;
        (void)verify(context, good);
    }
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
    return 0;
}
