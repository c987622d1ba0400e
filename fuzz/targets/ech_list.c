/* Fuzzes the parser of ECHConfigLists, which come from the DNS. A context stores an accepted list unchanged, or decoded
 * if the list is base64. The context's ClientHello contains the public name but not the server's name. */
#include "../fuzz.h"

#define HIDDEN "hidden.wild.test"

static netlib_tls_context *plain;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    netlib_error *err = NULL;
    netlib_tls_options *options = options_without_trust();
    OK(netlib_tls_context_new(options, &plain, &err));
    netlib_tls_options_free(options);
    return 0;
}

/* Creates a context with the list, through the options or from an existing context. If the list is invalid, stores the
 * error's offset in *at. */
static netlib_status context_of(const uint8_t *list, size_t len, bool by_setter, netlib_tls_context **context,
                                int64_t *at) {
    netlib_error *err = NULL;
    netlib_status status;
    if (by_setter) {
        netlib_tls_options *options = options_without_trust();
        netlib_tls_options_set_ech_config_list(options, list, len);
        status = netlib_tls_context_new(options, context, &err);
        netlib_tls_options_free(options);
    } else {
        status = netlib_tls_context_with_ech(plain, list, len, context, &err);
    }
    *at = netlib_error_offset(err);
    MUST((status == NETLIB_INVALID_ARGUMENT) == (*at >= 0));
    return ONE_OF(status, len, NETLIB_INVALID_ARGUMENT, NETLIB_UNSUPPORTED);
}

static bool has(const uint8_t *bytes, size_t len, const char *text) {
    return memmem(bytes, len, text, strlen(text)) != NULL;
}

static void say_hello(const netlib_tls_context *context, const char *public_name) {
    netlib_error *err = NULL;
    netlib_tls_engine *engine = NULL;
    uint8_t hello[20000];
    size_t len = 0;
    OK(netlib_tls_engine_new_client(context, HIDDEN, &engine, &err));
    MUST(ONE_OF(netlib_tls_engine_handshake(engine, &err), 0, NETLIB_WANT_READ) == NETLIB_WANT_READ);
    MUST(netlib_tls_engine_ech_status(engine) == NETLIB_ECH_OFFERED);
    OK(netlib_tls_engine_drain(engine, hello, sizeof hello, &len, &err));
    MUST(len > 0 && len < sizeof hello && netlib_tls_engine_output_pending(engine) == 0);
    MUST(has(hello, len, public_name));
    MUST(!has(hello, len, HIDDEN) || strstr(public_name, HIDDEN) != NULL);
    netlib_tls_engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_tls_context *context = NULL, *again = NULL;
    int64_t at, again_at;
    uint8_t *list = exact(data, size);
    fuzz_reset_random();
    netlib_status status = context_of(list, size, true, &context, &at);
    /* Creating a context from options with the list, and deriving a context with the list, must have the same
     * result. */
    MUST(context_of(list, size, false, &again, &again_at) == status && again_at == at);
    netlib_tls_context_free(again);
    again = NULL;
    if (status == NETLIB_OK) {
        size_t len = 0, again_len = 0, name_len = 0;
        const uint8_t *kept = netlib_tls_context_ech_config_list(context, &len);
        const char *public_name = netlib_tls_context_ech_public_name(context, &name_len);
        MUST(len > 4 && len == 2 + ((size_t)kept[0] << 8 | kept[1]));
        /* The context returns the list unchanged or, if the input is base64, the shorter decoded list. */
        MUST(len == size ? memcmp(kept, list, len) == 0 : len < size);
        check_line(public_name);
        MUST(name_len == strlen(public_name) && name_len >= 1 && name_len <= 255 && has(kept, len, public_name));
        MUST(netlib_tls_context_minimum_version(context) == NETLIB_TLS_VERSION_1_3);
        MUST(context_of(kept, len, true, &again, &again_at) == NETLIB_OK);
        const uint8_t *kept_again = netlib_tls_context_ech_config_list(again, &again_len);
        MUST(again_len == len && memcmp(kept_again, kept, len) == 0);
        MUST(same_text(netlib_tls_context_ech_public_name(again, NULL), public_name));
        say_hello(context, public_name);
    }
    netlib_tls_context_free(context);
    netlib_tls_context_free(again);
    free(list);
    return 0;
}
