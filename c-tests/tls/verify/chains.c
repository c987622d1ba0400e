/* Calls netlib_tls_context_verify_chain for each chain of a list. Prints the name of the status, the number of the
 * problem, and the index of the certificate. Each line of the list has these fields, separated by tabs: the CA file;
 * the file with the chain; the CRL file, or "-" for none; the number of the purpose; the server name, or "-" for none;
 * the time; the verify flags. Consecutive lines with the same CA file, CRL file and flags share a context. */
#define _GNU_SOURCE
#include "harness.h"
#include "tab_list.h"

enum { ROOM = 65536 };

/* The context of the last line, and the line's fields that determine the context. */
static struct {
    char *anchors, *lists, *flags;
    netlib_tls_context *context;
} last;

static char *copy_of(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL) exit(EXIT_FAILURE);
    return copy;
}

static void forget_context(void) {
    free(last.anchors);
    free(last.lists);
    free(last.flags);
    netlib_tls_context_free(last.context);
    memset(&last, 0, sizeof last);
}

static netlib_status make_context(const char *anchors, const char *lists, const char *flags, netlib_error **err) {
    if (last.context != NULL && strcmp(last.anchors, anchors) == 0 && strcmp(last.lists, lists) == 0 &&
        strcmp(last.flags, flags) == 0) {
        return NETLIB_OK;
    }
    forget_context();
    last.anchors = copy_of(anchors);
    last.lists = copy_of(lists);
    last.flags = copy_of(flags);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, anchors);
    if (strcmp(lists, "-") != 0) netlib_tls_options_add_crl_file(options, lists);
    netlib_tls_options_set_verify_flags(options, atoi(flags));
    netlib_status status = netlib_tls_context_new(options, &last.context, err);
    netlib_tls_options_free(options);
    return status;
}

static void verify_line(char *const *field, const char *line) {
    (void)line;
    static char chain[ROOM];
    FILE *file = fopen(field[1], "rb");
    if (file == NULL) exit(EXIT_FAILURE);
    size_t len = fread(chain, 1, ROOM, file);
    fclose(file);

    netlib_error *err = NULL;
    netlib_status status = make_context(field[0], field[2], field[6], &err);
    double time = strtod(field[5], NULL);
    const char *name = strcmp(field[4], "-") == 0 ? NULL : field[4];
    if (status == NETLIB_OK) {
        status = netlib_tls_context_verify_chain(last.context, chain, len, atoi(field[3]), name, &time, &err);
    }
    printf("%s\t%d\t%lld\n", netlib_status_name(status), (int)netlib_error_certificate_problem(err),
           (long long)netlib_error_certificate_index(err));
    netlib_error_free(err);
}

int main(int argc, char **argv) {
    for_each_line(argc == 2 ? argv[1] : NULL, verify_line);
    forget_context();
    return EXIT_SUCCESS;
}
