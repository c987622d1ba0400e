/* Fuzzes the parser of lists of key exchange groups. An accepted list selects at least one group, and the names of the
 * selected groups select the same groups. */
#include "../fuzz.h"

static netlib_status context_of(const char *groups, size_t len, netlib_tls_context **context) {
    netlib_error *err = NULL;
    netlib_tls_options *options = options_without_trust();
    netlib_tls_options_set_key_exchange_groups(options, groups);
    netlib_status status = ONE_OF(netlib_tls_context_new(options, context, &err), len, NETLIB_INVALID_ARGUMENT);
    netlib_tls_options_free(options);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_tls_context *context = NULL, *again = NULL;
    char *text = c_string(data, size);
    if (context_of(text, size, &context) == NETLIB_OK) {
        size_t count = netlib_tls_context_key_exchange_group_count(context);
        MUST(count >= 1 && count <= 7 && strlen(text) <= 4096);
        char names[300] = "";
        for (size_t i = 0; i < count; i++) {
            strcat(names, i > 0 ? ":" : "");
            strcat(names, netlib_tls_context_key_exchange_group(context, i, NULL));
        }
        MUST(context_of(names, sizeof names, &again) == NETLIB_OK);
        MUST(netlib_tls_context_key_exchange_group_count(again) == count);
        for (size_t i = 0; i < count; i++) {
            MUST(same_text(netlib_tls_context_key_exchange_group(context, i, NULL),
                           netlib_tls_context_key_exchange_group(again, i, NULL)));
            /* No group is selected twice. */
            for (size_t k = 0; k < i; k++) {
                MUST(!same_text(netlib_tls_context_key_exchange_group(context, i, NULL),
                                netlib_tls_context_key_exchange_group(context, k, NULL)));
            }
        }
    }
    netlib_tls_context_free(context);
    netlib_tls_context_free(again);
    free(text);
    return 0;
}
