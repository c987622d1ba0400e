/* Tests netlib_tls_context_verify_chain: PEM and DER chains, including chains that no peer sends, and the errors. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_chains.h"

#define AS_SERVER NETLIB_PURPOSE_SERVER_AUTH
#define AS_CLIENT NETLIB_PURPOSE_CLIENT_AUTH

/* Reads a file of certificates into memory of exactly its size, so that a sanitizer detects reads beyond the end. */
static char *slurp(const char *name, size_t *len) {
    char path[256];
    snprintf(path, sizeof path, CHAINS "%s", name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (file == NULL) exit(1);
    fseek(file, 0, SEEK_END);
    *len = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*len);
    CHECK(fread(bytes, 1, *len, file) == *len);
    fclose(file);
    return bytes;
}

/* Returns the certificates of a PEM text as concatenated DER, or NULL if one of them cannot be parsed. */
static unsigned char *der_of(const char *pem, size_t pem_len, size_t *len) {
    static const char begin[] = "-----BEGIN CERTIFICATE-----";
    unsigned char *der = malloc(pem_len);
    const char *end = pem + pem_len, *at = memmem(pem, pem_len, begin, sizeof begin - 1);
    *len = 0;
    while (at != NULL) {
        netlib_certificate *certificate = NULL;
        size_t n = 0;
        if (netlib_certificate_parse(at, (size_t)(end - at), &certificate, NULL) != NETLIB_OK) {
            free(der);
            return NULL;
        }
        const uint8_t *bytes = netlib_certificate_der(certificate, &n);
        memcpy(der + *len, bytes, n);
        *len += n;
        netlib_certificate_free(certificate);
        at = memmem(at + 1, (size_t)(end - at - 1), begin, sizeof begin - 1);
    }
    return der;
}

/* Checks the error of a verification. Such an error never has an alert. */
static void check_said(const struct row *row, netlib_status status, const netlib_error *err) {
    const char *message = netlib_error_message(err, NULL), *advice = netlib_error_advice(err, NULL);
    CHECK_INT(row->status, status);
    CHECK_INT(row->problem, netlib_error_certificate_problem(err));
    CHECK_INT(row->certificate, netlib_error_certificate_index(err));
    CHECK_INT(-1, netlib_error_tls_alert(err));
    CHECK_STR(row->message, message != NULL ? message : "");
    CHECK_STR(row->advice, advice != NULL ? advice : "");
    /* The advice never recommends disabling verification. */
    CHECK(advice == NULL ||
          (strstr(advice, "set_verify_mode") == NULL && strstr(advice, "set_check_hostname") == NULL));
    if (status != row->status) fprintf(stderr, "    of %s\n", row->sent);
}

static void check_row(const struct row *row, int32_t purpose, const char *name) {
    netlib_error *err = NULL;
    double now = NOW;
    size_t len, der_len;
    char *pem = slurp(row->sent, &len);
    unsigned char *der = der_of(pem, len, &der_len);
    /* The verify mode and check_hostname do not change the result. */
    for (int32_t mode = NETLIB_CERT_NONE; mode <= NETLIB_CERT_REQUIRED; mode++) {
        netlib_tls_options *options = options_trusting(row->trusted, row->crl, row->flags);
        netlib_tls_options_set_verify_mode(options, mode);
        netlib_tls_context *context = context_of(options);
        netlib_status status = netlib_tls_context_verify_chain(context, pem, len, purpose, name, &now, &err);
        check_said(row, status, err);
        netlib_error_free(err), err = NULL;
        if (der != NULL) {
            status = netlib_tls_context_verify_chain(context, der, der_len, purpose, name, &now, &err);
            check_said(row, status, err);
            netlib_error_free(err), err = NULL;
        }
        netlib_tls_context_free(context);
    }
    free(pem);
    free(der);
}

/* The expected results are the same as those of the handshakes in test_tls_verify.c, because both files use the tables
 * of tls_chains.h. */
static void verify_chain_accepts_and_refuses_the_same_chains_as_handshakes(void) {
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) check_row(&servers[i], AS_SERVER, "localhost");
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        if (clients[i].sent != NULL) check_row(&clients[i], AS_CLIENT, NULL);
    }
}

/* Verifies chains with public keys that no handshake can use. */
static void unsupported_and_weak_keys_are_refused(void) {
    static const struct row rows[] = {
        {"weak.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 0, 0,
         SERVER "has an RSA key of 1024 bits; at least 2048 are needed", ""},
        {"curve.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 0, 0,
         SERVER "has a key of 256 bits on the curve secp256k1, which is not supported", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_row(&rows[i], AS_SERVER, "localhost");
}

static void verify_chain_checks_the_server_name_only_if_it_is_given(void) {
    static const struct {
        const char *chain;
        int32_t purpose;
        const char *name;
        netlib_status status;
        const char *message;
    } rows[] = {
        {"good.pem", AS_SERVER, "localhost", NETLIB_OK, ""},
        {"good.pem", AS_SERVER, "LOCALHOST.", NETLIB_OK, ""},
        {"good.pem", AS_SERVER, "127.0.0.1", NETLIB_OK, ""},
        {"good.pem", AS_SERVER, "[fe80::1%25eth0]", NETLIB_OK, ""},
        {"good.pem", AS_SERVER, NULL, NETLIB_OK, ""},
        {"names.pem", AS_SERVER, "a.more.test", NETLIB_OK, ""},
        {"names.pem", AS_SERVER, NULL, NETLIB_OK, ""},
        {"nameless.pem", AS_SERVER, NULL, NETLIB_OK, ""},
        {"client.pem", AS_CLIENT, NULL, NETLIB_OK, ""},
        {"good.pem", AS_SERVER,
         "b\xc3\xbc"
         "cher.test",
         NETLIB_HOSTNAME_MISMATCH,
         "the certificate of the server \"xn--bcher-kva.test\" (CN=localhost) is for localhost, 127.0.0.1, fe80::1"},
        {"good.pem", AS_SERVER, "127.0.0.2", NETLIB_HOSTNAME_MISMATCH,
         "the certificate of the server \"127.0.0.2\" (CN=localhost) is for localhost, 127.0.0.1, fe80::1"},
        {"names.pem", AS_SERVER, "a.b.more.test", NETLIB_HOSTNAME_MISMATCH,
         "the certificate of the server \"a.b.more.test\" (CN=localhost) is for other.test, *.more.test, 192.0.2.1"},
        {"client.pem", AS_CLIENT, "localhost", NETLIB_HOSTNAME_MISMATCH,
         "the certificate of the client \"localhost\" (CN=localhost) contains no host name: it has no "
         "subjectAltName, and the common name is not used"},
        {"expired.pem", AS_SERVER, NULL, NETLIB_CERTIFICATE_VERIFY,
         "the certificate of the server (CN=localhost) expired on 2021-01-01 00:00:00 UTC" IT_IS},
        {"good.pem", AS_SERVER, "", NETLIB_INVALID_ARGUMENT, "name \"\" is not a host name"},
        {"good.pem", AS_SERVER, "a b", NETLIB_INVALID_ARGUMENT, "name \"a b\" is not a host name"},
        {"good.pem", AS_SERVER, "user:secret@localhost", NETLIB_INVALID_ARGUMENT, "name is not a host name"},
        {"good.pem", AS_SERVER, "\xff", NETLIB_INVALID_UTF8, "name is not valid UTF-8 at byte 0"},
        {"good.pem", 0, "localhost", NETLIB_INVALID_ARGUMENT, "purpose must be one of enum netlib_purpose; it is 0"},
        {"good.pem", 3, "localhost", NETLIB_INVALID_ARGUMENT, "purpose must be one of enum netlib_purpose; it is 3"},
    };
    netlib_error *err = NULL;
    double now = NOW;
    netlib_tls_options *options = options_trusting("root.pem", NULL, 0);
    netlib_tls_options_set_check_hostname(options, 0);
    netlib_tls_context *context = context_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len;
        char *pem = slurp(rows[i].chain, &len);
        netlib_status status =
            netlib_tls_context_verify_chain(context, pem, len, rows[i].purpose, rows[i].name, &now, &err);
        const char *message = netlib_error_message(err, NULL);
        CHECK_STR(rows[i].message, message != NULL ? message : "");
        CHECK_STATUS(rows[i].status, status);
        free(pem);
    }
    netlib_tls_context_free(context);
}

static int32_t report_time(void *ctx, double *seconds) {
    *seconds = *(double *)ctx;
    return 0;
}

static int32_t fail_to_report_time(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = NOW;
    return 1;
}

static void the_time_argument_of_verify_chain_replaces_the_clock(void) {
    static const struct {
        double time;
        netlib_status with_argument, with_clock; /* with the time as argument; with the time of the clock */
        int32_t problem;
    } rows[] = {
        {1577836800, NETLIB_OK, NETLIB_OK, 0},
        {1577836799, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID},
        {0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID},
        {4733510400.5, NETLIB_OK, NETLIB_OK, 0},
        {4733510401, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED},
        {1e15, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED},
        {-1, NETLIB_INVALID_ARGUMENT, NETLIB_CALLBACK_FAILED, 0},
        {NAN, NETLIB_INVALID_ARGUMENT, NETLIB_CALLBACK_FAILED, 0},
        {INFINITY, NETLIB_INVALID_ARGUMENT, NETLIB_CALLBACK_FAILED, 0},
        {1e300, NETLIB_INVALID_ARGUMENT, NETLIB_CALLBACK_FAILED, 0},
    };
    netlib_error *err = NULL;
    double clock = 0, now = NOW;
    size_t len, expired_len;
    char *pem = slurp("good.pem", &len), *expired = slurp("expired.pem", &expired_len);
    netlib_tls_options *options = options_trusting("root.pem", NULL, 0);
    netlib_tls_options_set_wall_clock(options, report_time, &clock, NULL);
    netlib_tls_context *context = context_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_status status = netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, NULL, &rows[i].time, &err);
        CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].with_argument, status);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clock = rows[i].time;
        netlib_status status = netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, NULL, NULL, &err);
        CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].with_clock, status);
    }
    netlib_tls_context_free(context);
    /* netlib does not call the clock if the time is an argument. */
    options = options_trusting("root.pem", NULL, 0);
    netlib_tls_options_set_wall_clock(options, fail_to_report_time, NULL, NULL);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    context = context_of(options);
    CHECK_OK(netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, NULL, &now, &err));
    CHECK_STATUS(NETLIB_CALLBACK_FAILED,
                 netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, NULL, NULL, &err));
    netlib_tls_context_free(context);
    /* Without a callback, netlib uses the system's clock. */
    context = context_of(options_trusting("root.pem", NULL, 0));
    CHECK_OK(netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, NULL, NULL, &err));
    netlib_status status = netlib_tls_context_verify_chain(context, expired, expired_len, AS_SERVER, NULL, NULL, &err);
    CHECK_INT(NETLIB_CERTIFICATE_PROBLEM_EXPIRED, netlib_error_certificate_problem(err));
    CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
    netlib_tls_context_free(context);
    free(pem);
    free(expired);
}

static void malformed_certificate_chains_are_refused(void) {
    static const struct {
        const char *chain;
        size_t len;
        netlib_status status;
        int32_t problem;
        const char *message;
    } rows[] = {
        {NULL, 0, NETLIB_INVALID_PEM, 0, "chain contains no certificate"},
        {"", 0, NETLIB_INVALID_PEM, 0, "chain contains no certificate"},
        {NULL, 1, NETLIB_NULL_ARGUMENT, 0, "chain must not be NULL"},
        {"text", NETLIB_NTS, NETLIB_INVALID_PEM, 0, "chain contains neither PEM nor DER certificates"},
        {"-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n", NETLIB_NTS, NETLIB_INVALID_PEM, 0,
         "chain contains no certificate"},
        {"\x30\x01", 2, NETLIB_INVALID_PEM, 0, "chain contains neither PEM nor DER certificates"},
        /* The next row is a complete DER sequence, so netlib tries to verify it as a certificate. A handshake with this
         * certificate fails with the same status, NETLIB_CERTIFICATE_VERIFY. */
        {"\x30\x00", 2, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_MALFORMED,
         "the certificate of the server \"localhost\" cannot be parsed: it is not valid DER"},
    };
    netlib_error *err = NULL;
    double now = NOW;
    netlib_tls_context *context = context_of(options_trusting("root.pem", NULL, 0));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_status status =
            netlib_tls_context_verify_chain(context, rows[i].chain, rows[i].len, AS_SERVER, "localhost", &now, &err);
        const char *message = netlib_error_message(err, NULL);
        CHECK_STR(rows[i].message, message != NULL ? message : "");
        CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].status, status);
    }
    netlib_tls_context_free(context);
}

/* Returns the valid chain, followed by `count` unrelated certificates of `size` bytes. */
static unsigned char *padded(size_t count, size_t size, size_t *len) {
    size_t pem_len;
    char *pem = slurp("good.pem", &pem_len);
    unsigned char *good = der_of(pem, pem_len, len);
    unsigned char *bytes = calloc(*len + count * size, 1);
    memcpy(bytes, good, *len);
    for (size_t i = 0; i < count; i++, *len += size) {
        unsigned char *at = bytes + *len;
        size_t inner = size - 5;
        memcpy(at, "\x30\x83", 2);
        at[2] = (unsigned char)(inner >> 16), at[3] = (unsigned char)(inner >> 8), at[4] = (unsigned char)inner;
    }
    free(pem);
    free(good);
    return bytes;
}

static void verify_chain_accepts_at_most_256_certificates_of_65535_bytes(void) {
    static const struct {
        size_t count, size;
        netlib_status status;
        const char *message;
    } rows[] = {
        {254, 65535, NETLIB_OK, ""},
        {255, 70, NETLIB_INVALID_ARGUMENT, "chain has 257 certificates; at most 256 are allowed"},
        {1, 65536, NETLIB_INVALID_ARGUMENT, "certificate 2 of chain has 65536 bytes; at most 65535 are allowed"},
        {1000, 16777, NETLIB_INVALID_ARGUMENT, "chain must have at most 16 MiB; it has 16777"},
    };
    netlib_error *err = NULL;
    double now = NOW;
    netlib_tls_context *context = context_of(options_trusting("root.pem", NULL, 0));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len;
        unsigned char *chain = padded(rows[i].count, rows[i].size, &len);
        netlib_status status = netlib_tls_context_verify_chain(context, chain, len, AS_SERVER, "localhost", &now, &err);
        const char *message = netlib_error_message(err, NULL);
        CHECK(strncmp(rows[i].message, message != NULL ? message : "", strlen(rows[i].message)) == 0);
        CHECK_STATUS(rows[i].status, status);
        free(chain);
    }
    netlib_tls_context_free(context);
}

/* Changes each byte of a chain, and truncates the chain at each byte. netlib refuses all these chains, and the error of
 * each failed verification names a problem. */
static void a_chain_with_any_changed_byte_or_truncated_anywhere_is_refused(void) {
    netlib_error *err = NULL;
    double now = NOW;
    size_t pem_len, len, refused = 0;
    char *pem = slurp("good.pem", &pem_len);
    unsigned char *der = der_of(pem, pem_len, &len);
    netlib_tls_context *context = context_of(options_trusting("root.pem", "all.crl", STRICT));
    for (size_t i = 0; i < 2 * len; i++) {
        unsigned char *copy = malloc(len);
        memcpy(copy, der, len);
        size_t n = i < len ? len : i - len;
        if (i < len) copy[i] ^= (unsigned char)(1 + i % 255);
        netlib_status status = netlib_tls_context_verify_chain(context, copy, n, AS_SERVER, "localhost", &now, &err);
        bool is_refusal = status == NETLIB_CERTIFICATE_VERIFY || status == NETLIB_HOSTNAME_MISMATCH;
        CHECK(is_refusal || status == NETLIB_INVALID_PEM);
        CHECK(is_refusal == (netlib_error_certificate_problem(err) != 0));
        refused += status != NETLIB_OK;
        netlib_error_free(err), err = NULL;
        free(copy);
    }
    CHECK_INT((long long)(2 * len), (long long)refused);
    netlib_tls_context_free(context);
    free(pem);
    free(der);
}

static void a_context_without_trust_anchors_verifies_no_chain(void) {
    netlib_error *err = NULL;
    size_t len;
    char *pem = slurp("good.pem", &len);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *context = context_of(options);
    netlib_status status = netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, NULL, NULL, &err);
    const char *message = netlib_error_message(err, NULL), *advice = netlib_error_advice(err, NULL);
    CHECK_STR("certificates cannot be verified, because no authority is trusted", message != NULL ? message : "");
    CHECK_STR("to trust one: netlib_tls_options_add_ca_file, netlib_tls_options_add_ca_data or "
              "netlib_tls_options_set_system_trust",
              advice != NULL ? advice : "");
    CHECK_STATUS(NETLIB_NO_TRUST_ANCHORS, status);
    netlib_tls_context_free(context);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_tls_context_verify_chain(NULL, pem, len, AS_SERVER, NULL, NULL, &err));
    free(pem);
}

/* netlib checks the pins in addition to the chain, or instead of the chain, regardless of the verify mode. */
static void verify_chain_checks_the_pins_of_the_context(void) {
    static const struct {
        const char *trusted, *pinned;
        bool replaces;
        netlib_status status;
    } rows[] = {
        {"root.pem", "good.pem", false, NETLIB_OK},
        {"root.pem", "root.pem", false, NETLIB_OK},
        {"root.pem", "weak.pem", false, NETLIB_FINGERPRINT_MISMATCH},
        {"self-signed.pem", "good.pem", false, NETLIB_CERTIFICATE_VERIFY},
        {NULL, "good.pem", false, NETLIB_NO_TRUST_ANCHORS},
        {NULL, "good.pem", true, NETLIB_OK},
        {NULL, "weak.pem", true, NETLIB_FINGERPRINT_MISMATCH},
        {"root.pem", "root.pem", true, NETLIB_FINGERPRINT_MISMATCH},
    };
    netlib_error *err = NULL;
    double now = NOW;
    size_t len, pinned_len;
    char *pem = slurp("good.pem", &len);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *pinned = slurp(rows[i].pinned, &pinned_len);
        netlib_certificate *certificate = NULL;
        CHECK_STATUS(NETLIB_OK, netlib_certificate_parse(pinned, pinned_len, &certificate, NULL));
        for (int32_t mode = NETLIB_CERT_NONE; mode <= NETLIB_CERT_REQUIRED; mode++) {
            netlib_tls_options *options = netlib_tls_options_new();
            if (rows[i].trusted != NULL) {
                char path[256];
                snprintf(path, sizeof path, CHAINS "%s", rows[i].trusted);
                netlib_tls_options_add_ca_file(options, path);
            } else {
                netlib_tls_options_set_system_trust(options, 0);
            }
            netlib_tls_options_set_verify_mode(options, mode);
            netlib_tls_options_add_pin(options, netlib_certificate_public_key_pin(certificate, NULL));
            netlib_tls_options_set_pins_replace_chain(options, rows[i].replaces);
            netlib_tls_context *context = NULL;
            netlib_status status = netlib_tls_context_new(options, &context, &err);
            if (context != NULL) {
                status = netlib_tls_context_verify_chain(context, pem, len, AS_SERVER, "localhost", &now, &err);
            }
            CHECK_STATUS(rows[i].status, status);
            netlib_error_free(err), err = NULL;
            netlib_tls_context_free(context);
            netlib_tls_options_free(options);
        }
        netlib_certificate_free(certificate);
        free(pinned);
    }
    free(pem);
}

int main(void) {
    verify_chain_accepts_and_refuses_the_same_chains_as_handshakes();
    unsupported_and_weak_keys_are_refused();
    verify_chain_checks_the_server_name_only_if_it_is_given();
    the_time_argument_of_verify_chain_replaces_the_clock();
    malformed_certificate_chains_are_refused();
    verify_chain_accepts_at_most_256_certificates_of_65535_bytes();
    a_chain_with_any_changed_byte_or_truncated_anywhere_is_refused();
    a_context_without_trust_anchors_verifies_no_chain();
    verify_chain_checks_the_pins_of_the_context();
    return report("tls_chain");
}
