/* Fuzzes the parser of cipher strings. An accepted string selects at least one cipher suite, and the names of the
 * selected suites form an accepted string. */
#include "../fuzz.h"

static netlib_status context_of(const char *ciphers, size_t len, netlib_tls_context **context) {
    netlib_error *err = NULL;
    netlib_tls_options *options = options_without_trust();
    netlib_tls_options_set_ciphers(options, ciphers);
    netlib_status status = ONE_OF(netlib_tls_context_new(options, context, &err), len, NETLIB_INVALID_ARGUMENT,
                                  NETLIB_UNSUPPORTED, NETLIB_NO_CIPHER_SUITES, NETLIB_INVALID_UTF8);
    netlib_tls_options_free(options);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_tls_context *context = NULL, *again = NULL;
    char *text = c_string(data, size);
    if (context_of(text, size, &context) == NETLIB_OK) {
        size_t count = netlib_tls_context_cipher_suite_count(context), len = 0;
        MUST(count >= 1 && count <= 9);
        const char *unknown = netlib_tls_context_unknown_ciphers(context, &len);
        check_text(unknown, len);
        /* The joined names form an accepted cipher string that selects at least as many suites. */
        char names[1000] = "";
        for (size_t i = 0; i < count; i++) {
            strcat(names, i > 0 ? ":" : "");
            strcat(names, netlib_tls_context_cipher_suite(context, i, NULL));
        }
        MUST(context_of(names, sizeof names, &again) == NETLIB_OK);
        MUST(netlib_tls_context_cipher_suite_count(again) >= count);
    }
    netlib_tls_context_free(context);
    netlib_tls_context_free(again);
    free(text);
    return 0;
}
