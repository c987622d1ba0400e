/* Fuzzes chain verification with one trusted authority. A chain may be accepted only if its first certificate is one of
 * those that the authority issued, byte for byte. */
#include "../fuzz.h"

#include <dirent.h>

/* The contexts: `plain` and `strict` trust the authority; `leaf` trusts only one self-signed server certificate. */
static netlib_tls_context *plain, *strict, *leaf;
static char issued[400][100];
static size_t issued_count;
static char own[100];

/* Stores the fingerprints of all certificates in a PEM file. */
static void store_fingerprints(struct input pem) {
    static const char end[] = "-----END CERTIFICATE-----";
    netlib_error *err = NULL;
    char *text = c_string(pem.data, pem.len);
    for (char *at = text; (at = strstr(at, "-----BEGIN CERTIFICATE-----")) != NULL; at = strstr(at, end)) {
        netlib_certificate *certificate = NULL;
        if (netlib_certificate_parse(at, NETLIB_NTS, &certificate, &err) == NETLIB_OK) {
            MUST(issued_count < sizeof issued / sizeof issued[0]);
            snprintf(issued[issued_count++], sizeof issued[0], "%s", netlib_certificate_fingerprint(certificate, NULL));
        }
        netlib_certificate_free(certificate);
        netlib_error_free(err);
        err = NULL;
    }
    free(text);
}

/* Returns true if the first certificate has the fingerprint `only` or, if `only` is NULL, one of the stored
 * fingerprints. */
static bool is_issued(const uint8_t *chain, size_t len, const char *only) {
    netlib_error *err = NULL;
    netlib_certificate *first = NULL;
    bool found = false;
    /* In DER, other certificates may follow the first one, so the length of the first certificate is read from its
     * first bytes. */
    if (len > 4 && chain[0] == 0x30 && chain[1] == 0x82) {
        size_t own = 4 + ((size_t)chain[2] << 8 | chain[3]);
        if (own < len) len = own;
    }
    /* The authority may have issued a certificate that netlib_certificate_parse refuses: verify/odd.pem has an
     * extension that netlib_certificate_parse refuses. */
    if (ONE_OF(netlib_certificate_parse(chain, len, &first, &err), len, NETLIB_INVALID_PEM) != NETLIB_OK) return true;
    const char *fingerprint = netlib_certificate_fingerprint(first, NULL);
    if (only != NULL) found = strcmp(only, fingerprint) == 0;
    for (size_t i = 0; only == NULL && i < issued_count; i++) found |= strcmp(issued[i], fingerprint) == 0;
    netlib_certificate_free(first);
    return found;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static const char folder[] = "tests/certs/verify";
    netlib_error *err = NULL;
    DIR *directory = opendir(folder);
    MUST(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strstr(entry->d_name, ".pem") == NULL) continue;
        struct input file = read_file(path);
        store_fingerprints(file);
        free((void *)(uintptr_t)file.data);
    }
    closedir(directory);

    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_add_ca_file(options, "tests/certs/verify/root.pem");
    OK(netlib_tls_context_new(options, &plain, &err));
    netlib_tls_options_add_crl_file(options, "tests/certs/verify/all.crl");
    netlib_tls_options_set_verify_flags(options, NETLIB_VERIFY_FLAG_X509_STRICT | NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN);
    OK(netlib_tls_context_new(options, &strict, &err));
    netlib_tls_options_free(options);

    static const char trusted[] = "tests/certs/trust/self-signed-root.pem";
    netlib_certificate *certificate = NULL;
    struct input file = read_file(trusted);
    OK(netlib_certificate_parse(file.data, file.len, &certificate, &err));
    snprintf(own, sizeof own, "%s", netlib_certificate_fingerprint(certificate, NULL));
    netlib_certificate_free(certificate);
    free((void *)(uintptr_t)file.data);
    options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_add_ca_file(options, trusted);
    OK(netlib_tls_context_new(options, &leaf, &err));
    netlib_tls_options_free(options);
    return 0;
}

static netlib_status verify(const netlib_tls_context *context, const uint8_t *chain, size_t len, int32_t purpose,
                            const char *name) {
    netlib_error *err = NULL;
    double now = NOW;
    return ONE_OF(netlib_tls_context_verify_chain(context, chain, len, purpose, name, &now, &err), len,
                  NETLIB_CERTIFICATE_VERIFY, NETLIB_HOSTNAME_MISMATCH, NETLIB_INVALID_PEM, NETLIB_INVALID_ARGUMENT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_status for_name = verify(plain, data, size, NETLIB_PURPOSE_SERVER_AUTH, "localhost");
    netlib_status for_any = verify(plain, data, size, NETLIB_PURPOSE_SERVER_AUTH, NULL);
    netlib_status strictly = verify(strict, data, size, NETLIB_PURPOSE_SERVER_AUTH, "localhost");
    netlib_status as_client = verify(plain, data, size, NETLIB_PURPOSE_CLIENT_AUTH, NULL);
    /* A chain that is accepted with additional requirements must be accepted without these requirements. */
    if (for_name == NETLIB_OK) MUST(for_any == NETLIB_OK);
    if (strictly == NETLIB_OK) MUST(for_name == NETLIB_OK);
#ifndef ANY_SIGNATURE
    if (for_any == NETLIB_OK || as_client == NETLIB_OK) MUST(is_issued(data, size, NULL));
#else
    (void)as_client;
#endif
    /* Incident R33: a trusted certificate that is not a CA certificate matches only itself; certificates that were
     * signed with its key are refused. */
    if (verify(leaf, data, size, NETLIB_PURPOSE_SERVER_AUTH, NULL) == NETLIB_OK) MUST(is_issued(data, size, own));
    return 0;
}
