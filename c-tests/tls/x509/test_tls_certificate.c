/* Tests the getters of certificates, and fingerprints. The expected values of the certificate
 * tests/certs/shapes/NAME.pem are in NAME.txt, as the openssl command prints them. */
#include "tls_peer.h"

/* Reads a file into memory of exactly its size, so that a sanitizer detects reads beyond the end. */
static unsigned char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (file == NULL) exit(1);
    fseek(file, 0, SEEK_END);
    *len = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*len);
    CHECK(fread(bytes, 1, *len, file) == *len);
    fclose(file);
    return bytes;
}

static netlib_certificate *certificate_of(const char *path) {
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    size_t len;
    unsigned char *bytes = read_file(path, &len);
    CHECK_OK(netlib_certificate_parse(bytes, len, &certificate, &err));
    free(bytes);
    return certificate;
}

static void getters_return_the_fields_of_a_certificate(void) {
    size_t len = 99;
    netlib_certificate *server = certificate_of(CERTS "server.der");
    netlib_certificate *certificate = netlib_certificate_clone(server);
    netlib_certificate_free(server);
    CHECK_STR("CN=localhost", netlib_certificate_subject(certificate, &len));
    CHECK_INT(12, (long long)len);
    CHECK_STR("O=netlib tests,CN=netlib test CA", netlib_certificate_issuer(certificate, &len));
    CHECK_INT(32, (long long)len);
    CHECK_STR("9F885FF78E7198D21C1B42A0A49F8A3C", netlib_certificate_serial(certificate, &len));
    CHECK_INT(32, (long long)len);
    CHECK_INT(3, netlib_certificate_version(certificate));
    CHECK_DOUBLE(1577836800.0, netlib_certificate_not_before(certificate));
    CHECK_DOUBLE(4733510400.0, netlib_certificate_not_after(certificate));
    CHECK_STR("2020-01-01 00:00:00 UTC", netlib_certificate_not_before_text(certificate, &len));
    CHECK_STR("2120-01-01 00:00:00 UTC", netlib_certificate_not_after_text(certificate, &len));
    CHECK_INT(23, (long long)len);
    CHECK_STR("EC", netlib_certificate_public_key_algorithm(certificate, &len));
    CHECK_STR("secp256r1", netlib_certificate_public_key_curve(certificate, &len));
    CHECK_INT(9, (long long)len);
    CHECK_INT(256, (long long)netlib_certificate_public_key_bits(certificate));
    CHECK_STR("ecdsa-with-SHA256", netlib_certificate_signature_algorithm(certificate, &len));
    CHECK_INT(17, (long long)len);
    CHECK(!netlib_certificate_is_ca(certificate) && !netlib_certificate_is_self_issued(certificate));
    CHECK_STR("0b76175bd53f172ebf7b96c27297dcb682b00dc581a1552cf432fb8f45ec2349",
              netlib_certificate_fingerprint(certificate, &len));
    CHECK_INT(64, (long long)len);
    size_t der_len;
    unsigned char *der = read_file(CERTS "server.der", &der_len);
    const uint8_t *borrowed = netlib_certificate_der(certificate, &len);
    CHECK(len == der_len && memcmp(borrowed, der, len) == 0);
    free(der);
    netlib_certificate_free(certificate);
}

#define SUBJECT NETLIB_DISTINGUISHED_NAME_SUBJECT
#define ISSUER NETLIB_DISTINGUISHED_NAME_ISSUER

/* The expected attributes are those that `openssl x509 -subject -nameopt oid,sep_multiline,utf8` prints. */
static void subject_and_issuer_attributes_are_listed_in_certificate_order(void) {
    static const struct {
        const char *path;
        enum netlib_distinguished_name name;
        struct {
            const char *oid, *short_name, *value;
            int rdn;
        } attributes[20];
    } rows[] = {
        {CERTS "server.pem", SUBJECT, {{"2.5.4.3", "CN", "localhost", 0}}},
        {CERTS "server.pem", ISSUER, {{"2.5.4.3", "CN", "netlib test CA", 0}, {"2.5.4.10", "O", "netlib tests", 1}}},
        {CERTS "shapes/rich.pem",
         SUBJECT,
         {{"2.5.4.6", "C", "DE", 0},
          {"2.5.4.8", "ST", "Baden-W\xc3\xbcrttemberg", 1},
          {"2.5.4.7", "L", "K\xc3\xb6ln", 2},
          {"2.5.4.17", "postalCode", "50667", 3},
          {"2.5.4.9", "street",
           "Stra\xc3\x9f"
           "e 1",
           4},
          {"2.5.4.10", "O", "Example, Inc. <test> \"quoted\"; a+b", 5},
          {"2.5.4.11", "OU", "\\23one", 6},
          {"2.5.4.11", "OU", " two ", 7},
          {"0.9.2342.19200300.100.1.25", "DC", "example", 8},
          {"0.9.2342.19200300.100.1.25", "DC", "com", 9},
          {"0.9.2342.19200300.100.1.1", "UID", "u1", 10},
          {"2.3.4.5", NULL, "unknown", 11},
          {"1.2.840.113549.1.9.1", "emailAddress", "who@example.com", 12},
          {"2.5.4.5", "serialNumber", "42", 13},
          {"2.5.4.42", "GN", "Given", 14},
          {"2.5.4.4", "SN", "Sur=name", 15},
          {"2.5.4.12", "title", "Dr", 16},
          {"2.5.4.3", "CN", "back\\\\slash", 16}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_certificate *certificate = certificate_of(rows[i].path);
        enum netlib_distinguished_name name = rows[i].name;
        size_t count = 0, len = 99;
        for (; rows[i].attributes[count].oid != NULL; count++) {
            const char *value = rows[i].attributes[count].value;
            CHECK_STR(rows[i].attributes[count].oid, netlib_certificate_attribute_oid(certificate, name, count, NULL));
            CHECK_STR(rows[i].attributes[count].short_name,
                      netlib_certificate_attribute_short_name(certificate, name, count, NULL));
            CHECK_STR(value, netlib_certificate_attribute_value(certificate, name, count, &len));
            CHECK_INT((long long)strlen(value), (long long)len);
            CHECK_INT(rows[i].attributes[count].rdn, netlib_certificate_attribute_rdn(certificate, name, count));
        }
        CHECK_INT((long long)count, (long long)netlib_certificate_attribute_count(certificate, name));
        CHECK(netlib_certificate_attribute_oid(certificate, name, count, &len) == NULL && len == 0);
        CHECK(netlib_certificate_attribute_short_name(certificate, name, count, &len) == NULL);
        CHECK(netlib_certificate_attribute_value(certificate, name, count, &len) == NULL);
        CHECK_INT(-1, netlib_certificate_attribute_rdn(certificate, name, count));
        /* Numbers that enum netlib_distinguished_name does not have. */
        static const int32_t unknown[] = {-1, 2, INT32_MAX};
        for (size_t j = 0; j < sizeof unknown / sizeof unknown[0]; j++) {
            name = (enum netlib_distinguished_name)unknown[j];
            CHECK_INT(0, (long long)netlib_certificate_attribute_count(certificate, name));
            CHECK(netlib_certificate_attribute_oid(certificate, name, 0, NULL) == NULL);
            CHECK_INT(-1, netlib_certificate_attribute_rdn(certificate, name, 0));
        }
        netlib_certificate_free(certificate);
    }
    CHECK_INT(0, (long long)netlib_certificate_attribute_count(NULL, SUBJECT));
    CHECK_INT(-1, netlib_certificate_attribute_rdn(NULL, SUBJECT, 0));
}

static void subject_alternative_names_are_listed_in_order(void) {
    static const struct {
        const char *path;
        struct {
            int32_t kind;
            const char *text;
        } names[8];
    } rows[] = {
        {CERTS "server.pem",
         {{NETLIB_CERTIFICATE_NAME_DNS, "localhost"},
          {NETLIB_CERTIFICATE_NAME_DNS, "*.wild.test"},
          {NETLIB_CERTIFICATE_NAME_DNS, "xn--bcher-kva.test"},
          {NETLIB_CERTIFICATE_NAME_IP, "127.0.0.1"},
          {NETLIB_CERTIFICATE_NAME_IP, "::1"},
          {NETLIB_CERTIFICATE_NAME_IP, "fe80::1"}}},
        {CERTS "shapes/rich.pem",
         {{NETLIB_CERTIFICATE_NAME_DNS, "example.com"},
          {NETLIB_CERTIFICATE_NAME_DNS, "*.example.com"},
          {NETLIB_CERTIFICATE_NAME_IP, "192.0.2.1"},
          {NETLIB_CERTIFICATE_NAME_EMAIL, "who@example.com"},
          {NETLIB_CERTIFICATE_NAME_URI, "https://example.com/a?b"},
          {NETLIB_CERTIFICATE_NAME_IP, "2001:db8::1"}}},
        {CERTS "shapes/version1.pem", {{0, NULL}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_certificate *certificate = certificate_of(rows[i].path);
        size_t count = 0;
        for (; rows[i].names[count].text != NULL; count++) {
            size_t len = 99;
            CHECK_INT(rows[i].names[count].kind, netlib_certificate_name_kind(certificate, count));
            CHECK_STR(rows[i].names[count].text, netlib_certificate_name(certificate, count, &len));
            CHECK_INT((long long)strlen(rows[i].names[count].text), (long long)len);
        }
        CHECK_INT((long long)count, (long long)netlib_certificate_name_count(certificate));
        CHECK_INT(0, netlib_certificate_name_kind(certificate, count));
        CHECK_STR(NULL, netlib_certificate_name(certificate, count, NULL));
        CHECK_STR(NULL, netlib_certificate_name(certificate, SIZE_MAX, NULL));
        netlib_certificate_free(certificate);
    }
}

static void keys_and_signatures_have_openssl_algorithm_names(void) {
    static const struct {
        const char *name, *serial, *algorithm, *curve;
        size_t bits;
        const char *signature;
        bool is_ca;
        int32_t version;
    } rows[] = {
        {"rich", "F1E2D3", "EC", "secp384r1", 384, "ecdsa-with-SHA384", false, 3},
        {"authority", "-FF", "EC", "secp521r1", 521, "ecdsa-with-SHA512", true, 3},
        {"brainpool", "00", "EC", "brainpoolP256r1", 256, "ecdsa-with-SHA1", false, 3},
        {"ed25519", NULL, "ED25519", NULL, 256, "ED25519", false, 3},
        {"ed448", NULL, "ED448", NULL, 456, "ED448", false, 3},
        {"md5", NULL, "RSA", NULL, 1023, "md5WithRSAEncryption", false, 3},
        {"pss", NULL, "RSA", NULL, 3072, "rsassaPss", false, 3},
        {"pss-key", NULL, "RSA-PSS", NULL, 2048, "rsassaPss", false, 3},
        {"dsa", NULL, "DSA", NULL, 1024, "dsa_with_SHA256", false, 3},
        {"version1", NULL, "RSA", NULL, 2048, "sha256WithRSAEncryption", true, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, CERTS "shapes/%s.pem", rows[i].name);
        netlib_certificate *certificate = certificate_of(path);
        if (rows[i].serial != NULL) CHECK_STR(rows[i].serial, netlib_certificate_serial(certificate, NULL));
        CHECK_STR(rows[i].algorithm, netlib_certificate_public_key_algorithm(certificate, NULL));
        CHECK_STR(rows[i].curve, netlib_certificate_public_key_curve(certificate, NULL));
        CHECK_INT((long long)rows[i].bits, (long long)netlib_certificate_public_key_bits(certificate));
        CHECK_STR(rows[i].signature, netlib_certificate_signature_algorithm(certificate, NULL));
        CHECK_INT(rows[i].is_ca, netlib_certificate_is_ca(certificate));
        CHECK_INT(rows[i].version, netlib_certificate_version(certificate));
        CHECK(netlib_certificate_is_self_issued(certificate));
        netlib_certificate_free(certificate);
    }
    netlib_certificate *rich = certificate_of(CERTS "shapes/rich.pem");
    CHECK_STR("CN=back\\\\slash+title=Dr,SN=Sur=name,GN=Given,serialNumber=42,emailAddress=who@example.com,"
              "2.3.4.5=#0C07756E6B6E6F776E,UID=u1,DC=com,DC=example,OU=\\ two\\ ,OU=\\#one,"
              "O=Example\\, Inc. \\<test\\> \\\"quoted\\\"\\; a\\+b,street=Stra\303\237e 1,postalCode=50667,"
              "L=K\303\266ln,ST=Baden-W\303\274rttemberg,C=DE",
              netlib_certificate_subject(rich, NULL));
    netlib_certificate_free(rich);
}

/* Returns a certificate in which one text is replaced by another text of the same length. The signature is then
 * invalid, but parsing does not check the signature. */
static netlib_certificate *replace_text(const char *path, const char *from, const char *to, size_t text_len) {
    netlib_error *err = NULL;
    netlib_certificate *certificate = certificate_of(path), *altered = NULL;
    size_t len;
    const uint8_t *der = netlib_certificate_der(certificate, &len);
    unsigned char *copy = malloc(len);
    memcpy(copy, der, len);
    for (size_t i = 0; i + text_len <= len; i++) {
        if (memcmp(copy + i, from, text_len) == 0) memcpy(copy + i, to, text_len);
    }
    CHECK_OK(netlib_certificate_parse(copy, len, &altered, &err));
    free(copy);
    netlib_certificate_free(certificate);
    return altered;
}

static void certificate_texts_contain_no_nul_and_no_line_break(void) {
    static const struct {
        const char *path, *from, *to;
        size_t len;
        const char *subject, *name; /* `name`: the first of the subject alternative names */
    } rows[] = {
        {CERTS "server.pem", "localhost", "good\0evil", 9, "CN=good\\00evil", "good\\00evil"},
        {CERTS "server.pem", "localhost", "a\r\nCN=b\\c", 9, "CN=a\\0D\\0ACN=b\\\\c", "a\\0D\\0ACN=b\\\\c"},
        {CERTS "server.pem", "localhost", "a,CN=b+c\"", 9, "CN=a\\,CN=b\\+c\\\"", "a,CN=b+c\""},
        {CERTS "server.pem", "localhost", "\xff\x1b[2J\xe2\x80\xae!", 9, "CN=\\FF\\1B[2J\\E2\\80\\AE!",
         "\\FF\\1B[2J\\E2\\80\\AE!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_certificate *certificate = replace_text(rows[i].path, rows[i].from, rows[i].to, rows[i].len);
        CHECK_STR(rows[i].subject, netlib_certificate_subject(certificate, NULL));
        CHECK_STR(rows[i].name, netlib_certificate_name(certificate, 0, NULL));
        netlib_certificate_free(certificate);
    }
}

static void invalid_certificates_are_refused_with_a_message(void) {
    size_t der_len;
    unsigned char *der = read_file(CERTS "server.der", &der_len);
    unsigned char *longer = calloc(1, der_len + 1), *huge = calloc(1, 70000);
    memcpy(longer, der, der_len);
    memcpy(huge, "\x30\x83\x01\x00\x00", 5);
    const char *no_base64 = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n";
    const char *key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    const struct {
        const void *data;
        size_t len;
        netlib_status status;
        size_t offset; /* SIZE_MAX: the error has no offset */
        const char *message;
    } rows[] = {
        {NULL, 0, NETLIB_INVALID_PEM, 0,
         "data is not a certificate: the certificate cannot be read at byte 0 of the DER"},
        {"text", 4, NETLIB_INVALID_PEM, 0,
         "data is not a certificate: the certificate cannot be read at byte 0 of the DER"},
        {der, der_len - 1, NETLIB_INVALID_PEM, 0,
         "data is not a certificate: the certificate cannot be read at byte 0 of the DER"},
        {longer, der_len + 1, NETLIB_INVALID_PEM, 513,
         "data is not a certificate: the end of the certificate cannot be read at byte 513 of the DER"},
        {huge, 65536 + 5, NETLIB_INVALID_PEM, SIZE_MAX, "a certificate has at most 65535 bytes; this has 65541"},
        {huge, 5, NETLIB_INVALID_PEM, 0,
         "data is not a certificate: the certificate cannot be read at byte 0 of the DER"},
        {key, NETLIB_NTS, NETLIB_INVALID_PEM, SIZE_MAX, "data is PEM without a certificate"},
        {no_base64, NETLIB_NTS, NETLIB_INVALID_PEM, SIZE_MAX, NULL},
        {"-----BEGIN CERTIFICATE-----\nMAMC", NETLIB_NTS, NETLIB_INVALID_PEM, SIZE_MAX, NULL},
        {"-----BEGIN CERTIFICATE-----\nMAMCAQA=\n-----END CERTIFICATE-----\n", NETLIB_NTS, NETLIB_INVALID_PEM, SIZE_MAX,
         "data is not a certificate: the signed part cannot be read at byte 2 of the DER"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_certificate *certificate = NULL;
        netlib_status status = netlib_certificate_parse(rows[i].data, rows[i].len, &certificate, &err);
        CHECK(certificate == NULL);
        if (rows[i].message != NULL) CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].offset == SIZE_MAX ? -1 : (long long)rows[i].offset, netlib_error_offset(err));
        CHECK_STATUS(rows[i].status, status);
    }
    /* The parser reads the first of several certificates, and ignores text before it. */
    netlib_certificate *both = certificate_of(CERTS "server-both.pem");
    CHECK_STR("CN=localhost", netlib_certificate_subject(both, NULL));
    netlib_certificate_free(both);
    free(longer);
    free(huge);
    free(der);
}

#define MD5 "ba6cb8e62655f67ce5b85e69622c119e"
#define SHA1 "36ac106866da2e94ce8a1541dcc5b1d907b7dbc2"
#define SHA256 "0b76175bd53f172ebf7b96c27297dcb682b00dc581a1552cf432fb8f45ec2349"
#define ZEROS32 "00000000000000000000000000000000"
#define LENGTHS "fingerprint must have 32 (MD5), 40 (SHA-1) or 64 (SHA-256) hex digits; it has "
#define NO_HEX "fingerprint has a character other than hex digits and colons at byte "
#define NONE "there is no certificate to compare the fingerprint with: the peer sent none"

/* urllib3 2.8.0 accepts and refuses the same fingerprints as netlib, except that urllib3 accepts the digest of an empty
 * certificate. */
static void fingerprints_match_as_in_urllib3(void) {
    size_t der_len;
    unsigned char *der = read_file(CERTS "server.der", &der_len);
    static const struct {
        bool no_certificate;
        const char *fingerprint;
        netlib_status status;
        const char *message;
        int64_t offset;
    } rows[] = {
        {false, MD5, NETLIB_OK, NULL, -1},
        {false, SHA1, NETLIB_OK, NULL, -1},
        {false, SHA256, NETLIB_OK, NULL, -1},
        {false, "36AC106866DA2E94CE8A1541DCC5B1D907B7DBC2", NETLIB_OK, NULL, -1},
        {false, "BA:6c:b8:e6:26:55:f6:7c:e5:b8:5e:69:62:2c:11:9e", NETLIB_OK, NULL, -1},
        {false,
         "::b"
         "a6cb8e62655f67ce5b85e69622c119e:",
         NETLIB_OK, NULL, -1},
        {false, ZEROS32, NETLIB_FINGERPRINT_MISMATCH,
         "the certificate's MD5 fingerprint is " MD5 "; expected: " ZEROS32, -1},
        {false, "36:AC:10:68:66:DA:2E:94:CE:8A:15:41:DC:C5:B1:D9:07:B7:DB:C3", NETLIB_FINGERPRINT_MISMATCH,
         "the certificate's SHA-1 fingerprint is " SHA1 "; expected: 36ac106866da2e94ce8a1541dcc5b1d907b7dbc3", -1},
        {false, ZEROS32 ZEROS32, NETLIB_FINGERPRINT_MISMATCH,
         "the certificate's SHA-256 fingerprint is " SHA256 "; expected: " ZEROS32 ZEROS32, -1},
        {false, "", NETLIB_INVALID_ARGUMENT, LENGTHS "0", -1},
        {false, ":::", NETLIB_INVALID_ARGUMENT, LENGTHS "0", -1},
        {false, "a", NETLIB_INVALID_ARGUMENT, LENGTHS "1", -1},
        {false, ZEROS32 "0000000000000000000000000000000", NETLIB_INVALID_ARGUMENT, LENGTHS "63", -1},
        {false, ZEROS32 ZEROS32 "0", NETLIB_INVALID_ARGUMENT, LENGTHS "65", -1},
        {false, ZEROS32 ZEROS32 ZEROS32 ZEROS32, NETLIB_INVALID_ARGUMENT, LENGTHS "128", -1},
        {false, "g0000000000000000000000000000000", NETLIB_INVALID_ARGUMENT, NO_HEX "0", 0},
        {false, SHA256 "\n", NETLIB_INVALID_ARGUMENT, NO_HEX "64", 64},
        {false, "ba 6c", NETLIB_INVALID_ARGUMENT, NO_HEX "2", 2},
        {false, "sha256:" SHA256, NETLIB_INVALID_ARGUMENT, NO_HEX "0", 0},
        {false, "00\303\251", NETLIB_INVALID_ARGUMENT, NO_HEX "2", 2},
        {true, SHA256, NETLIB_FINGERPRINT_MISMATCH, NONE, -1},
        {true, "", NETLIB_FINGERPRINT_MISMATCH, NONE, -1},
        /* The SHA-256 of an empty certificate. */
        {true, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", NETLIB_FINGERPRINT_MISMATCH, NONE,
         -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        size_t len = rows[i].no_certificate ? 0 : der_len;
        netlib_status status = netlib_assert_fingerprint(der, len, rows[i].fingerprint, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_INT(rows[i].no_certificate ? NETLIB_CERTIFICATE_PROBLEM_MISSING : NETLIB_CERTIFICATE_PROBLEM_NONE,
                  netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].status, status);
    }
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_FINGERPRINT_MISMATCH, netlib_assert_fingerprint(NULL, der_len, SHA256, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_assert_fingerprint(der, der_len, NULL, &err));
    free(der);
    size_t pem_len;
    unsigned char *pem = read_file(CERTS "server.pem", &pem_len);
    netlib_status of_text = netlib_assert_fingerprint(pem, pem_len, SHA256, &err);
    CHECK_STR("cert is PEM; it must be DER, because the fingerprint is a digest of the DER encoding",
              netlib_error_message(err, NULL));
    CHECK_STR("to convert it: netlib_certificate_parse, whose certificate has a netlib_certificate_fingerprint too",
              netlib_error_advice(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, of_text);
    free(pem);
}

/* An application can parse the peer certificate of a session, and compare its fingerprint with an expected one. */
static void the_peer_certificate_can_be_parsed_and_its_fingerprint_checked(void) {
    netlib_error *err = NULL;
    netlib_tls_context *ours = client_context(), *theirs = server_context("server");
    struct pair pair = unix_pair();
    struct server server = {.does = SERVE_HANDSHAKE, .context = theirs, .fd = pair.far};
    server_start(&server);
    netlib_stream *stream = wrap(ours, pair.near, "localhost");
    size_t len = 99;
    CHECK(netlib_stream_peer_certificate(stream, 0, &len) == NULL && len == 0);
    CHECK_STATUS(NETLIB_FINGERPRINT_MISMATCH, netlib_assert_fingerprint(NULL, len, SHA256, &err));
    CHECK_OK(netlib_stream_handshake(stream, &err));
    const uint8_t *der = netlib_stream_peer_certificate(stream, 0, &len);
    netlib_certificate *certificate = NULL;
    CHECK_OK(netlib_certificate_parse(der, len, &certificate, &err));
    CHECK_OK(netlib_assert_fingerprint(der, len, SHA256, &err));
    netlib_stream_free(stream);
    CHECK_STR("CN=localhost", netlib_certificate_subject(certificate, NULL));
    CHECK_STR(SHA256, netlib_certificate_fingerprint(certificate, NULL));
    netlib_certificate_free(certificate);
    server_join(&server);
    close(pair.near);
    netlib_tls_context_free(ours);
    netlib_tls_context_free(theirs);
}

int main(void) {
    getters_return_the_fields_of_a_certificate();
    subject_and_issuer_attributes_are_listed_in_certificate_order();
    subject_alternative_names_are_listed_in_order();
    keys_and_signatures_have_openssl_algorithm_names();
    certificate_texts_contain_no_nul_and_no_line_break();
    invalid_certificates_are_refused_with_a_message();
    fingerprints_match_as_in_urllib3();
    the_peer_certificate_can_be_parsed_and_its_fingerprint_checked();
    return report("tls_certificate");
}
