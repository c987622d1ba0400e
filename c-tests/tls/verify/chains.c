/* Calls netlib_tls_context_verify_chain for each chain of a list. Prints the name of the status, the number of the
 * problem, and the index of the certificate. Each line of the list has these fields, separated by tabs: the CA file;
 * the file with the chain; the CRL file, or "-" for none; the number of the purpose; the server name, or "-" for none;
 * the time. */
#define _GNU_SOURCE
#include "harness.h"
#include "tab_list.h"

enum { ROOM = 65536 };

static void verify_line(char *const *field, const char *line) {
    (void)line;
    static char chain[ROOM];
    FILE *file = fopen(field[1], "rb");
    if (file == NULL) exit(EXIT_FAILURE);
    size_t len = fread(chain, 1, ROOM, file);
    fclose(file);

    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, field[0]);
    if (strcmp(field[2], "-") != 0) netlib_tls_options_add_crl_file(options, field[2]);
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    double time = strtod(field[5], NULL);
    const char *name = strcmp(field[4], "-") == 0 ? NULL : field[4];
    if (status == NETLIB_OK) {
        status = netlib_tls_context_verify_chain(context, chain, len, atoi(field[3]), name, &time, &err);
    }
    printf("%s\t%d\t%lld\n", netlib_status_name(status), (int)netlib_error_certificate_problem(err),
           (long long)netlib_error_certificate_index(err));
    netlib_error_free(err);
    netlib_tls_context_free(context);
    netlib_tls_options_free(options);
}

int main(int argc, char **argv) {
    for_each_line(argc == 2 ? argv[1] : NULL, verify_line);
    return EXIT_SUCCESS;
}
