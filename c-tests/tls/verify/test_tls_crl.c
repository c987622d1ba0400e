/* Tests malformed CRLs: the seeds of the fuzzer, and a CRL that is truncated at each byte or has a flipped bit. Some
 * malformed CRLs made webpki 0.103.12 panic. */
#include "../../../fuzz/seeds.h"
#include "tls_chains.h"

#include <dirent.h>

static netlib_tls_options *trusting_root(const void *list, size_t len) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_add_ca_file(options, CHAINS "root.pem");
    netlib_tls_options_add_crl_data(options, list, len);
    netlib_tls_options_set_verify_flags(options, LEAF);
    return options;
}

static char *slurp(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (file == NULL) exit(EXIT_FAILURE);
    fseek(file, 0, SEEK_END);
    *len = (size_t)ftell(file);
    rewind(file);
    /* Reads a file into memory of exactly its size, so that a sanitizer detects reads beyond the end. */
    char *bytes = malloc(*len > 0 ? *len : 1);
    CHECK(fread(bytes, 1, *len, file) == *len);
    fclose(file);
    return bytes;
}

static char *revoked, *good;
static size_t revoked_len, good_len;

static netlib_status verify(const netlib_tls_context *context, const char *chain, size_t len, netlib_error **err) {
    double now = NOW;
    return netlib_tls_context_verify_chain(context, chain, len, NETLIB_PURPOSE_SERVER_AUTH, "localhost", &now, err);
}

/* Returns true if a context can be created with the CRL. If the context cannot be created, checks that the status is
 * one of three documented statuses. If the context can be created, it must refuse a revoked certificate, either as
 * revoked or because the changed CRL is not valid. */
static bool try_crl(const void *list, size_t len) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = trusting_root(list, len);
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    netlib_tls_options_free(options);
    if (status != NETLIB_OK) {
        bool documented =
            status == NETLIB_INVALID_PEM || status == NETLIB_UNSUPPORTED || status == NETLIB_INVALID_ARGUMENT;
        CHECK(documented);
        CHECK_STATUS(documented ? status : NETLIB_INVALID_PEM, status);
        return false;
    }
    status = verify(context, revoked, revoked_len, &err);
    int32_t problem = netlib_error_certificate_problem(err);
    CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
    CHECK(problem == NETLIB_CERTIFICATE_PROBLEM_REVOKED || problem == NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN);
    status = verify(context, good, good_len, &err);
    if (status != NETLIB_OK) CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
    netlib_tls_context_free(context);
    return true;
}

static void truncated_crls_are_refused_and_flipped_bits_cause_no_panic(void) {
    size_t len = 0;
    char *list = slurp(CHAINS "int.crl.der", &len);
    CHECK(try_crl(list, len));
    size_t step = under_valgrind() ? 13 : 1;
    for (size_t n = 0; n < len; n += step) {
        char *part = malloc(n > 0 ? n : 1);
        memcpy(part, list, n);
        CHECK(!try_crl(part, n));
        free(part);
    }
    size_t made = 0;
    for (size_t bit = 0; bit < len * 8; bit += step) {
        list[bit / 8] = (char)(list[bit / 8] ^ 1 << bit % 8);
        made += try_crl(list, len);
        list[bit / 8] = (char)(list[bit / 8] ^ 1 << bit % 8);
    }
    /* Many flipped bits leave the CRL well-formed: they change a serial number, a time or the signature. */
    CHECK(made > 100);
    free(list);
}

static void crls_from_the_fuzzer_seeds_cause_no_panic(void) {
    unsigned long inputs = 0;
    FILE *pack = fopen("fuzz/seeds/crl.pack", "rb");
    CHECK(pack != NULL);
    char *list;
    size_t len;
    while (pack != NULL && next_seed(pack, &list, &len)) {
        if (!under_valgrind() || inputs % 4 == 0) (void)try_crl(list, len);
        free(list);
        inputs++;
    }
    if (pack != NULL) fclose(pack);
    DIR *folder = opendir("tests/certs/verify");
    CHECK(folder != NULL);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || (under_valgrind() && inputs++ % 4 != 0)) continue;
        char path[600];
        snprintf(path, sizeof path, "tests/certs/verify/%s", entry->d_name);
        list = slurp(path, &len);
        (void)try_crl(list, len);
        free(list);
        inputs++;
    }
    if (folder != NULL) closedir(folder);
    CHECK(inputs > 100);
}

int main(void) {
    revoked = slurp(CHAINS "revoked.pem", &revoked_len);
    good = slurp(CHAINS "good.pem", &good_len);
    truncated_crls_are_refused_and_flipped_bits_cause_no_panic();
    crls_from_the_fuzzer_seeds_cause_no_panic();
    free(revoked);
    free(good);
    return report("tls_crl");
}
