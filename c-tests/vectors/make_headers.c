/* Tests netlib_make_headers. */
#include "vectors.h"

/* Reads the next word. If the word is "T", sets the flag to 1. If the word is "-", does not call the setter. Otherwise
 * sets the flag to 0. */
static void set_flag(char **words, netlib_headers_options *options, void (*set)(netlib_headers_options *, int32_t)) {
    const char *word = next_word(words);
    if (strcmp(word, "-") != 0) set(options, strcmp(word, "T") == 0);
}

static void set_accept_encoding(char *line, netlib_headers_options *options) {
    const char *kind = next_word(&line);
    if (strcmp(kind, "text") == 0) {
        netlib_headers_options_set_accept_encoding(options, next_text(&line, NULL));
    } else if (strcmp(kind, "list") == 0) {
        long count = strtol(next_word(&line), NULL, 10);
        while (count-- > 0) netlib_headers_options_add_accept_encoding(options, next_text(&line, NULL));
    } else if (strcmp(kind, "-") != 0) {
        netlib_headers_options_enable_accept_encoding(options, strcmp(kind, "T") == 0);
    }
}

static void answer(char *input, vectors_out *out) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    char *line = next_line(&input);
    set_flag(&line, options, netlib_headers_options_set_keep_alive);
    set_flag(&line, options, netlib_headers_options_set_disable_cache);
    set_accept_encoding(next_line(&input), options);
    line = next_line(&input);
    netlib_headers_options_set_user_agent(options, next_text(&line, NULL));
    line = next_line(&input);
    netlib_headers_options_set_basic_auth(options, next_text(&line, NULL));
    line = next_line(&input);
    netlib_headers_options_set_proxy_basic_auth(options, next_text(&line, NULL));
    line = next_line(&input);
    while (line != NULL && *line != '\0') netlib_headers_options_add_supported_coding(options, next_text(&line, NULL));
    netlib_status status = netlib_make_headers(options, &headers, &err);
    CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_INVALID_HEADER, status);
    if (status != NETLIB_OK) put(out, "refused");
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        size_t len = 0;
        put_string(out, netlib_headers_name(headers, i, NULL));
        const char *value = netlib_headers_value(headers, i, &len);
        put_text(out, value, len);
        end_line(out);
    }
    if (status == NETLIB_OK && netlib_headers_count(headers) == 0) put(out, "none");
    netlib_headers_free(headers);
    netlib_headers_options_free(options);
}

int main(int argc, char **argv) { return vectors_main("make_headers", answer, argc, argv); }
