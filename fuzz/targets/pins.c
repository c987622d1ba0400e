/* Fuzzes the parsers of pins and fingerprints. A pin is accepted only if it consists of 64 hex digits, or of "sha256//"
 * and base64. */
#include "../fuzz.h"

static struct input der;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    der = read_file("tests/certs/server.der");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    char *text = c_string(data, size);
    netlib_tls_options *options = options_without_trust();
    netlib_tls_options_add_pin(options, text);
    if (ONE_OF(netlib_tls_context_new(options, &context, &err), size, NETLIB_INVALID_ARGUMENT, NETLIB_INVALID_UTF8) ==
        NETLIB_OK) {
        MUST(netlib_tls_context_pin_count(context) == 1);
        MUST(strlen(text) >= 43 && strpbrk(text, "\r\n") == NULL);
    }
    netlib_status status = ONE_OF(netlib_assert_fingerprint(der.data, der.len, text, &err), size,
                                  NETLIB_FINGERPRINT_MISMATCH, NETLIB_INVALID_ARGUMENT, NETLIB_INVALID_UTF8);
    if (status != NETLIB_INVALID_ARGUMENT && status != NETLIB_INVALID_UTF8) {
        size_t digits = 0;
        for (const char *at = text; *at != 0; at++) digits += *at != ':';
        MUST(digits == 32 || digits == 40 || digits == 64);
        MUST(ONE_OF(netlib_assert_fingerprint(NULL, 0, text, &err), size, NETLIB_FINGERPRINT_MISMATCH) != NETLIB_OK);
    }
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
    free(text);
    return 0;
}
