/* Fuzzes the loading of trusted authorities from memory, in PEM or DER. Usable certificates become trust anchors, and
 * the others are listed as skipped. */
#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_add_ca_data(options, data, size);
    netlib_status status =
        ONE_OF(netlib_tls_context_new(options, &context, &err), size, NETLIB_INVALID_PEM, NETLIB_NO_TRUST_ANCHORS);
    if (status == NETLIB_OK) {
        size_t anchors = netlib_tls_context_trust_anchor_count(context), sum = 0, len = 0;
        MUST(anchors > 0);
        for (size_t i = 0; i < netlib_tls_context_trust_source_count(context); i++) {
            sum += netlib_tls_context_trust_source_anchor_count(context, i);
            MUST(netlib_tls_context_trust_source_name(context, i, NULL) != NULL);
            for (size_t j = 0; j < netlib_tls_context_trust_source_skipped_count(context, i); j++) {
                const char *skipped = netlib_tls_context_trust_source_skipped(context, i, j, &len);
                check_line(skipped);
                MUST(strlen(skipped) == len);
            }
        }
        MUST(sum == anchors);
    }
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
    return 0;
}
