/* Creates a context with each identity of a list, and compares the status with the one in the list. Each line of the
 * list has these fields, separated by tabs: the name of the expected status; "file" or "memory"; the path of the chain;
 * the path of the key, or "-" for none; "-" for no password, or "+" and the password; a part of the expected error
 * message, or nothing. */
#define _GNU_SOURCE
#include "harness.h"
#include "tab_list.h"

/* Reads a file. The caller frees the bytes. */
static char *slurp(const char *path, size_t *len) {
    enum { ROOM = 65536 };
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(ROOM);
    *len = 0;
    if (file == NULL || bytes == NULL) exit(EXIT_FAILURE);
    *len = fread(bytes, 1, ROOM, file);
    fclose(file);
    return bytes;
}

static void check_line(char *const *field, const char *line) {
    const char *chain = field[2], *key = strcmp(field[3], "-") == 0 ? NULL : field[3];
    const char *password = field[4][0] == '-' ? NULL : field[4] + 1;
    bool from_memory = strcmp(field[1], "memory") == 0;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    /* Password and identity may be set in either order. */
    if (password != NULL && !from_memory) netlib_tls_options_set_key_password(options, password, NETLIB_NTS);
    if (from_memory) {
        size_t chain_len = 0, key_len = 0;
        char *chain_bytes = slurp(chain, &chain_len), *key_bytes = key != NULL ? slurp(key, &key_len) : NULL;
        netlib_tls_options_set_identity(options, chain_bytes, chain_len, key_bytes, key_len);
        free(chain_bytes);
        free(key_bytes);
    } else {
        netlib_tls_options_set_identity_files(options, chain, key);
    }
    if (password != NULL && from_memory) netlib_tls_options_set_key_password(options, password, strlen(password));

    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    const char *message = err != NULL ? netlib_error_message(err, NULL) : "";
    const char *setter = from_memory ? "netlib_tls_options_set_identity: " : "netlib_tls_options_set_identity_files: ";
    const char *input = from_memory ? (key != NULL ? "key" : "chain") : (key != NULL ? key : chain);
    bool is_expected = strcmp(netlib_status_name(status), field[0]) == 0 && (context != NULL) == (status == NETLIB_OK);
    if (status != NETLIB_OK) {
        is_expected = is_expected && strncmp(message, setter, strlen(setter)) == 0 && strstr(message, input) != NULL &&
                      strstr(message, field[5]) != NULL;
    }
    if (password != NULL && strlen(password) > 5) is_expected = is_expected && strstr(message, password) == NULL;
    check_report(is_expected, "keys", 0, line);
    if (!is_expected) {
        fprintf(stderr, "    expected %s, got %s: %s\n", field[0], netlib_status_name(status), message);
    }
    netlib_error_free(err);
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
}

int main(int argc, char **argv) {
    for_each_line(argc == 2 ? argv[1] : NULL, check_line);
    return report("keys");
}
