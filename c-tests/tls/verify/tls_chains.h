/* The chains in tests/certs/verify and the expected result of each. Handshakes and netlib_tls_context_verify_chain must
 * return this result. */
#ifndef NETLIB_TEST_TLS_CHAINS_H
#define NETLIB_TEST_TLS_CHAINS_H

#include "tls_peer.h"

#define CHAINS CERTS "verify/"
#define TRUST(name) "to trust the authority \"" name "\": netlib_tls_options_add_ca_file with its certificate"
#define TRUST_ROOT TRUST("CN=unknown root")
#define TRUST_INT TRUST("CN=netlib intermediate")
#define OWN_NAMES(names) "to accept it under one of its own names, if this is the intended peer: " names
#define TRUST_IT "to trust it: netlib_tls_options_add_ca_file"
#define ADD_CRL "to add a current CRL: netlib_tls_options_add_crl_file"
#define NO_HANDSHAKES "may not sign handshakes (its keyUsage lacks digitalSignature)"
#define STRICT NETLIB_VERIFY_FLAG_X509_STRICT
#define LEAF NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF
#define CHAIN NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN

/* The time at which the chains are verified: 2026-01-01 00:00:00 UTC. */
#define NOW 1767225600.0
#define IT_IS "; the time is 2026-01-01 00:00:00 UTC"

/* A row for a server chain is verified with the name "localhost", and a row for a client chain without a name. The
 * alert is the one that a session sends. */
struct row {
    const char *sent, *trusted, *crl;
    int32_t flags;
    netlib_status status;
    int32_t problem;
    int64_t certificate;
    int32_t alert;
    const char *message, *advice;
};

#define SERVER "the certificate of the server \"localhost\" (CN=localhost) "
#define ENDS(name) \
    "the certificate chain of the server \"localhost\" ends at the trusted certificate \"CN=" name " root\", which "
#define ITSELF_ONLY ": it is trusted only as a peer's own certificate"
#define ISSUER "certificate 1 of the chain of the server \"localhost\" "

static const struct row servers[] = {
    {"good.pem", "root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"good-backwards.pem", "root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"only-leaf.pem", "int.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"good.pem", "root.pem", NULL, STRICT, NETLIB_OK, 0, -1, -1, "", ""},
    {"good.pem", "root.pem", "all.crl", 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"good.pem", "root.pem", "int.crl.der", LEAF, NETLIB_OK, 0, -1, -1, "", ""},
    {"revoked-int.pem", "root.pem", "all.crl", LEAF, NETLIB_OK, 0, -1, -1, "", ""},
    {"strict-no-authority-key.pem", "root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    /* The peer's own certificate is a trust anchor. */
    {"self-signed.pem", "self-signed.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"self-signed-ca.pem", "self-signed-ca.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"only-leaf.pem", "only-leaf.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"../trust/self-signed-root.pem", "../trust/self-signed-root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"../trust/leaf-root.pem", "../trust/leaf-root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"../trust/plain-root.pem", "../trust/plain-root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"self-signed-expired.pem", "self-signed-expired.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_EXPIRED, 0, 45, SERVER "expired on 2021-01-01 00:00:00 UTC" IT_IS, ""},
    {"self-signed-client.pem", "self-signed-client.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 0, 43,
     "the certificate of the server \"localhost\" (CN=a client) was not issued for servers (its "
     "extendedKeyUsage lacks serverAuth)",
     ""},

    {"expired.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED, 0, 45,
     SERVER "expired on 2021-01-01 00:00:00 UTC" IT_IS, ""},
    {"future.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID, 0, 45,
     SERVER "is valid only from 2110-01-01 00:00:00 UTC" IT_IS, ""},
    {"expired-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED, 1, 45,
     ISSUER "(CN=expired intermediate) expired on 2021-01-01 00:00:00 UTC" IT_IS, ""},
    {"future-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID, 1, 45,
     ISSUER "(CN=future intermediate) is valid only from 2110-01-01 00:00:00 UTC" IT_IS, ""},
    {"unknown.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER, 1, 48,
     ISSUER
     "(CN=unknown intermediate) was issued by \"CN=unknown root\", which is not trusted and was not sent: trust that authority, "
     "unless it is an intermediate that the server should send",
     TRUST_ROOT},
    {"unknown-root.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER, 2,
     48,
     "certificate 2 of the chain of the server \"localhost\" (CN=unknown root) is the root of the chain and is "
     "not trusted",
     TRUST_ROOT},
    {"only-leaf.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER, 0, 48,
     SERVER "was issued by \"CN=netlib intermediate\", which is not trusted and was not sent: trust that authority, "
            "unless it is an intermediate that the server should send",
     TRUST_INT},
    /* The certificate contains the URL of its issuer's certificate, so the error message can mention a missing
     * intermediate certificate. */
    {"../trust/ca-issuers.pem", "other-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN, 0, 48,
     SERVER
     "was issued by \"CN=netlib root\", which is not trusted and whose certificate was not sent: either trust that authority, or the server's administrator must configure the intermediate certificates",
     TRUST("CN=netlib root")},
    {"unrelated.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN, 0,
     48,
     SERVER
     "was issued by \"CN=netlib intermediate\", which is not trusted and whose certificate is not among the others "
     "that were sent: the server's administrator must configure the right intermediate certificates",
     TRUST_INT},
    {"self-signed.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED, 0, 48,
     SERVER "is self-signed and not trusted", TRUST_IT},
    {"self-signed-ca.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED, 0,
     48, SERVER "is self-signed and not trusted", TRUST_IT},
    {"authority.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_AUTHORITY_AS_LEAF, 0,
     43, SERVER "is a CA certificate (CA:TRUE), which a peer must not use as its own", ""},
    {"names.pem", "root.pem", NULL, 0, NETLIB_HOSTNAME_MISMATCH, NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH, 0, 42,
     SERVER "is for other.test, *.more.test, 192.0.2.1", OWN_NAMES("other.test, *.more.test, 192.0.2.1")},
    {"nameless.pem", "root.pem", NULL, 0, NETLIB_HOSTNAME_MISMATCH, NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH, 0, 42,
     SERVER "contains no host name: it has no subjectAltName, and the common name is not used", ""},
    {"purpose.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 0, 43,
     SERVER "was not issued for servers (its extendedKeyUsage lacks serverAuth)", ""},
    {"purpose-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 1, 43,
     ISSUER "(CN=intermediate for clients) was not issued for servers (its extendedKeyUsage lacks "
            "serverAuth)",
     ""},
    {"no-handshake.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 0,
     43, SERVER NO_HANDSHAKES, ""},
    {"no-handshake.pem", "root.pem", NULL, STRICT, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE,
     0, 43, SERVER NO_HANDSHAKES, ""},
    {"self-signed-no-handshake.pem", "self-signed-no-handshake.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 0, 43, SERVER NO_HANDSHAKES, ""},
    {"not-authority.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_CA, 1, 43,
     ISSUER "(CN=no authority) has issued another certificate, but is not a CA certificate (it lacks CA:TRUE)", ""},
    {"strict-no-sign.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_CA, 1, 43,
     ISSUER
     "(CN=intermediate of another kind) has issued another certificate, but may not (its keyUsage lacks keyCertSign)",
     ""},
    {"too-long.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH, 2, 46,
     "certificate 2 of the chain of the server \"localhost\" (CN=last intermediate) allows 0 authorities below it "
     "(pathlen); there are 1",
     ""},
    {"constrained.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NAME_CONSTRAINTS, 0,
     46, SERVER "is for a name that an authority above it may not certify (nameConstraints)", ""},
    {"weak-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 1, 42,
     ISSUER "(CN=weak intermediate) has an RSA key of 1024 bits; at least 2048 are needed", ""},
    {"curve-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 1, 42,
     ISSUER "(CN=intermediate of another curve) has a key of 256 bits on the curve secp256k1, which is not supported",
     ""},
    {"sha1.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WEAK_SIGNATURE, 0, 42,
     SERVER "has a signature that can be forged (sha1WithRSAEncryption)", ""},
    {"md5.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WEAK_SIGNATURE, 0, 42,
     SERVER "has a signature that can be forged (md5WithRSAEncryption)", ""},
    {"bad-signature.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE, 0,
     51, SERVER "has a signature that was not made with its issuer's key: the certificate was altered or forged", ""},
    {"malformed-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_MALFORMED, 1, 42,
     ISSUER "cannot be parsed: it is not valid DER", ""},

    {"revoked.pem", "root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"revoked.pem", "root.pem", "all.crl", 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOKED, 0, 44,
     SERVER "has been revoked by its authority", ""},
    {"revoked.pem", "root.pem", "int.crl.der", LEAF, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOKED, 0,
     44, SERVER "has been revoked by its authority", ""},
    {"revoked-int.pem", "root.pem", "root-and-crls.pem", CHAIN, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_REVOKED, 1, 44, ISSUER "(CN=revoked intermediate) has been revoked by its authority",
     ""},
    {"good.pem", "root.pem", "other-root.crl", 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN, 1, 48,
     ISSUER "(CN=netlib intermediate) may have been revoked: no CRL of \"CN=netlib root\" was added", ADD_CRL},
    {"good.pem", "root.pem", "int-expired.crl", LEAF, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN, 0, 48,
     SERVER "may have been revoked: the CRL of \"CN=netlib intermediate\" expired on 2021-01-01 00:00:00 UTC" IT_IS,
     ADD_CRL},
    {"no-lists.pem", "root.pem", "all.crl", CHAIN, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN, 0, 48,
     SERVER "may have been revoked: \"CN=intermediate without lists\" may not sign CRLs (its keyUsage lacks cRLSign)",
     ADD_CRL},
    {"good.pem", "root.pem", "int-forged.crl", LEAF, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN, 0, 48,
     SERVER "may have been revoked: a CRL has a signature that was not made with its issuer's key", ADD_CRL},

    /* Chains that end at a trusted certificate whose extensions do not allow the chain. */
    {"../trust/self-signed.pem", "../trust/self-signed-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_NOT_CA, -1, 43,
     ENDS("self-signed") "may not issue certificates (its basicConstraints say CA:FALSE)" ITSELF_ONLY, ""},
    {"../trust/leaf.pem", "../trust/leaf-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_NOT_CA, -1, 43,
     "the certificate chain of the server \"localhost\" ends at the trusted certificate \"CN=leaf\", which may "
     "not issue "
     "certificates (its basicConstraints say CA:FALSE)" ITSELF_ONLY,
     ""},
    {"../trust/clients.pem", "../trust/clients-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, -1, 43,
     ENDS("clients") "was not issued for servers (its extendedKeyUsage lacks serverAuth)", ""},
    {"../trust/short.pem", "../trust/short-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH, -1, 46,
     ENDS("short") "allows 0 authorities below it (pathlen); there are 1", ""},
    {"../trust/plain.pem", "../trust/plain-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_NOT_CA, -1, 43,
     ENDS("plain") "may not issue certificates (it has neither basicConstraints nor keyUsage)" ITSELF_ONLY, ""},
    {"../trust/no-sign.pem", "../trust/no-sign-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_NOT_CA, -1, 43,
     ENDS("no-sign") "may not issue certificates (its keyUsage lacks keyCertSign)" ITSELF_ONLY, ""},
    {"../trust/critical.pem", "../trust/critical-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_CRITICAL_EXTENSION, -1, 46,
     ENDS("critical") "has a critical extension that netlib does not support (1.2.3.4)", ""},
    {"../trust/expired.pem", "../trust/expired-root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_EXPIRED, -1, 45, ENDS("expired") "expired on 2021-01-01 00:00:00 UTC" IT_IS, ""},
    {"../trust/no-lists.pem", "../trust/no-lists-root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"../trust/no-lists.pem", "../trust/no-lists-root.pem", "../trust/no-lists.crl", 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN, 0, 48,
     SERVER "may have been revoked: \"CN=no-lists root\" may not sign CRLs (its keyUsage lacks cRLSign)", ADD_CRL},

    {"strict-no-authority-key.pem", "root.pem", NULL, STRICT, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_OTHER, 0, 46,
     SERVER "breaks a rule of RFC 5280: it has no authorityKeyIdentifier (4.2.1.1)", ""},
    {"strict-serial.pem", "root.pem", NULL, STRICT, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_OTHER, 0, 46,
     SERVER "breaks a rule of RFC 5280: its serial number is not positive, or is longer than 20 bytes (4.1.2.2)", ""},
    {"strict-not-critical.pem", "root.pem", NULL, STRICT, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_OTHER,
     1, 46,
     ISSUER "(CN=intermediate of another kind) breaks a rule of RFC 5280: its basicConstraints are not marked critical "
            "(4.2.1.9)",
     ""},
    {"strict-no-key.pem", "root.pem", NULL, STRICT, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_OTHER, 1, 46,
     ISSUER "(CN=intermediate of another kind) breaks a rule of RFC 5280: it has no subjectKeyIdentifier (4.2.1.2)",
     ""},
};

#define CLIENT "the certificate of the client (CN=localhost) "

static const struct row clients[] = {
    {"client.pem", "root.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"client.pem", "root.pem", "all.crl", STRICT, NETLIB_OK, 0, -1, -1, "", ""},
    {"self-signed-client.pem", "self-signed-client.pem", NULL, 0, NETLIB_OK, 0, -1, -1, "", ""},
    {"revoked-client.pem", "root.pem", "all.crl", 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOKED, 0,
     44, CLIENT "has been revoked by its authority", ""},
    {"client.pem", "root.pem", "int.crl", 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN,
     1, 48,
     "certificate 1 of the chain of the client (CN=netlib intermediate) may have been revoked: no CRL of "
     "\"CN=netlib root\" "
     "was added",
     ADD_CRL},
    {"good.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 0, 43,
     CLIENT "was not issued for clients (its extendedKeyUsage lacks clientAuth)", ""},
    {"self-signed-no-handshake.pem", "self-signed-no-handshake.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY,
     NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE, 0, 43, CLIENT NO_HANDSHAKES, ""},
    {"self-signed-client.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED,
     0, 48, "the certificate of the client (CN=a client) is self-signed and not trusted", TRUST_IT},
    {"client-only.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER, 0,
     48,
     CLIENT "was issued by \"CN=netlib intermediate\", which is not trusted and was not sent: trust that authority, "
            "unless it is an intermediate that the client should send",
     TRUST_INT},
    {"client-expired-int.pem", "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED, 1,
     45, "certificate 1 of the chain of the client (CN=expired intermediate) expired on 2021-01-01 00:00:00 UTC" IT_IS,
     ""},
    {NULL, "root.pem", NULL, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_MISSING, -1, 116,
     "the client presented no certificate", ""},
};

/* Returns options that trust a CA file of tests/certs/verify. If `crl` is not NULL, the options also use a CRL file. */
static inline netlib_tls_options *options_trusting(const char *trusted, const char *crl, int32_t flags) {
    char path[256];
    netlib_tls_options *options = netlib_tls_options_new();
    snprintf(path, sizeof path, CHAINS "%s", trusted);
    netlib_tls_options_add_ca_file(options, path);
    if (crl != NULL) {
        snprintf(path, sizeof path, CHAINS "%s", crl);
        netlib_tls_options_add_crl_file(options, path);
    }
    netlib_tls_options_set_verify_flags(options, flags);
    return options;
}

#endif
