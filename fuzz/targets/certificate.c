/* Fuzzes the certificate parser: calls every getter, and compares each certificate with its own fingerprint and pin. */
#include "../fuzz.h"

typedef const char *getter(const netlib_certificate *, size_t *);

static getter *const getters[] = {
    netlib_certificate_subject,          netlib_certificate_issuer,
    netlib_certificate_serial,           netlib_certificate_not_before_text,
    netlib_certificate_not_after_text,   netlib_certificate_public_key_algorithm,
    netlib_certificate_public_key_curve, netlib_certificate_signature_algorithm,
    netlib_certificate_fingerprint,      netlib_certificate_public_key_pin,
};

#define GETTERS (sizeof getters / sizeof getters[0])

static void check_certificate(const netlib_certificate *certificate) {
    netlib_error *err = NULL;
    size_t len = 0, der_len = 0;
    for (size_t i = 0; i < GETTERS; i++) {
        const char *text = getters[i](certificate, &len);
        if (text != NULL) check_line(text);
        if (text != NULL) MUST(strlen(text) == len);
    }
    for (size_t i = 0; i < netlib_certificate_name_count(certificate); i++) {
        const char *name = netlib_certificate_name(certificate, i, &len);
        check_line(name);
        MUST(strlen(name) == len);
        MUST(netlib_certificate_name_kind(certificate, i) >= NETLIB_CERTIFICATE_NAME_DNS);
        MUST(netlib_certificate_name_kind(certificate, i) <= NETLIB_CERTIFICATE_NAME_URI);
    }
    (void)netlib_certificate_version(certificate);
    (void)netlib_certificate_not_before(certificate);
    (void)netlib_certificate_not_after(certificate);
    (void)netlib_certificate_public_key_bits(certificate);
    (void)netlib_certificate_is_ca(certificate);
    (void)netlib_certificate_is_self_issued(certificate);

    const uint8_t *der = netlib_certificate_der(certificate, &der_len);
    netlib_certificate *again = NULL;
    OK(netlib_assert_fingerprint(der, der_len, netlib_certificate_fingerprint(certificate, NULL), &err));
    OK(netlib_certificate_parse(der, der_len, &again, &err));
    for (size_t i = 0; i < GETTERS; i++) MUST(same_text(getters[i](certificate, NULL), getters[i](again, NULL)));
    MUST(netlib_certificate_name_count(certificate) == netlib_certificate_name_count(again));
    netlib_certificate_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    if (ONE_OF(netlib_certificate_parse(data, size, &certificate, &err), size, NETLIB_INVALID_PEM) == NETLIB_OK) {
        check_certificate(certificate);
    }
    netlib_certificate_free(certificate);
    return 0;
}
