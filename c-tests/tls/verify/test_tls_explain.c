/* Tests the error messages of sessions with peers other than netlib. The test programs write the bytes that the peers
 * send. A TLS 1.2 server sends its certificates in plaintext before it proves possession of the key, so a test can send
 * any chain without its keys. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#define CHAINS CERTS "verify/"
#define VERSIONS \
    "to allow other versions: netlib_tls_options_set_minimum_version and netlib_tls_options_set_maximum_version"
#define CIPHERS "to allow other cipher suites: netlib_tls_options_set_ciphers"
#define PROTOCOLS "to offer other protocols: netlib_tls_options_add_alpn_protocol"
#define A_CERTIFICATE "to present a certificate: netlib_tls_options_set_identity"
#define IDENTITY "to present another certificate: netlib_tls_options_set_identity"
struct bytes {
    unsigned char at[200000];
    size_t len;
};

static void put(struct bytes *bytes, const void *data, size_t len) {
    if (bytes->len + len > sizeof bytes->at) abort();
    memcpy(bytes->at + bytes->len, data, len);
    bytes->len += len;
}

#define PUT(bytes, literal) put(bytes, literal, sizeof literal - 1)

/* Writes `inner`, preceded by its length in three bytes. */
static void put_sized(struct bytes *bytes, const struct bytes *inner) {
    unsigned char len[3] = {(unsigned char)(inner->len >> 16), (unsigned char)(inner->len >> 8),
                            (unsigned char)inner->len};
    put(bytes, len, 3);
    put(bytes, inner->at, inner->len);
}

/* Writes a handshake message in a record of its own. */
static void put_message(struct bytes *bytes, unsigned char type, const struct bytes *body) {
    size_t len = body->len + 4;
    unsigned char header[6] = {22, 3, 3, (unsigned char)(len >> 8), (unsigned char)len, type};
    put(bytes, header, 6);
    put_sized(bytes, body);
}

static int digit_of(int c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != 0 ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Writes the certificates of a PEM file as a TLS 1.2 certificate list, in which the length of each certificate precedes
 * the certificate. */
static void put_certificates(struct bytes *bytes, const char *path) {
    char line[256];
    FILE *file = fopen(path, "r");
    static struct bytes der;
    unsigned long bits = 0;
    int count = 0;
    CHECK(file != NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "-----BEGIN", 10) == 0) {
            der.len = 0, bits = 0, count = 0;
        } else if (strncmp(line, "-----END", 8) == 0) {
            put_sized(bytes, &der);
        } else {
            for (const char *c = line; digit_of(*c) >= 0; c++) {
                bits = (bits << 6 | (unsigned long)digit_of(*c)) & 0xfffffful;
                count += 6;
                if (count >= 8) {
                    unsigned char byte = (unsigned char)(bits >> (count -= 8));
                    put(&der, &byte, 1);
                }
            }
        }
    }
    if (file != NULL) fclose(file);
}

/* Writes the first flight of a TLS 1.2 server, except ServerHelloDone. ServerKeyExchange has an invalid signature.
 * `list` is the content of the Certificate message. */
static void put_flight(struct bytes *flight, const struct bytes *list, bool rsa) {
    static struct bytes body;
    body.len = 0;
    PUT(&body, "\x03\x03"
               "0123456789abcdef0123456789abcdef"
               "\x00");
    put(&body, rsa ? "\xc0\x2f\x00" : "\xc0\x2b\x00", 3);
    PUT(&body, "\x00\x0f"
               "\x00\x17\x00\x00"
               "\xff\x01\x00\x01\x00"
               "\x00\x0b\x00\x02\x01\x00");
    put_message(flight, 2, &body);
    body.len = 0;
    put_sized(&body, list);
    put_message(flight, 11, &body);
    body.len = 0;
    PUT(&body, "\x03\x00\x1d\x20"
               "\x09"
               "abcdefghijklmnopqrstuvwxyzabcde");
    put(&body, rsa ? "\x08\x04\x00\x08" : "\x04\x03\x00\x08", 4);
    PUT(&body, "\x30\x06\x02\x01\x01\x02\x01\x01");
    put_message(flight, 12, &body);
}

static void put_hello_done(struct bytes *flight) {
    static struct bytes body;
    put_message(flight, 14, &body);
}

/* A peer that sends `bytes`, and then reads an alert. Unless `speaks_first` is true, the peer waits for data before it
 * sends. */
struct script {
    int fd;
    const struct bytes *bytes;
    bool speaks_first, closes;
    int alert; /* -1: none */
    pthread_t thread;
};

static void *play_script(void *argument) {
    struct script *script = argument;
    unsigned char record[20000];
    size_t have = 0;
    script->alert = -1;
    ssize_t got = script->speaks_first ? 1 : recv(script->fd, record, sizeof record, 0);
    for (size_t sent = 0; got > 0 && sent < script->bytes->len;) {
        ssize_t n = send(script->fd, script->bytes->at + sent, script->bytes->len - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += (size_t)n;
    }
    while (!script->closes && (got = recv(script->fd, record + have, sizeof record - have, 0)) > 0) {
        have += (size_t)got;
        while (have >= 5 && have >= 5u + (size_t)(record[3] << 8 | record[4])) {
            size_t len = 5u + (size_t)(record[3] << 8 | record[4]);
            if (record[0] == 21 && len == 7) script->alert = record[6];
            memmove(record, record + len, have - len);
            have -= len;
        }
    }
    close(script->fd);
    return NULL;
}

/* Runs the handshake of a client with a scripted server. Returns the status. Stores the error in `err`, and stores in
 * `script` the alert that the client sent. */
static netlib_status handshake_with(netlib_tls_context *client, struct script *script, netlib_error **err) {
    struct pair pair = unix_pair();
    script->fd = pair.far;
    CHECK(pthread_create(&script->thread, NULL, play_script, script) == 0);
    netlib_stream *stream = wrap(client, pair.near, "localhost");
    netlib_status status = netlib_stream_handshake(stream, err);
    netlib_stream_free(stream);
    close(pair.near);
    CHECK(pthread_join(script->thread, NULL) == 0);
    return status;
}

static void check_error(const netlib_error *err, int32_t alert, const char *message, const char *advice) {
    const char *actual_message = netlib_error_message(err, NULL), *actual_advice = netlib_error_advice(err, NULL);
    CHECK_STR(message, actual_message != NULL ? actual_message : "");
    CHECK_STR(advice, actual_advice != NULL ? actual_advice : "");
    CHECK_INT(alert, netlib_error_tls_alert(err));
}

static void errors_explain_refused_server_certificates(void) {
    static const struct {
        const char *chain;
        const char *raw;
        size_t raw_len;
        bool rsa;
        int32_t mode, problem;
        int64_t certificate;
        int32_t alert;
        const char *message, *advice;
    } rows[] = {
        {"weak.pem", NULL, 0, true, NETLIB_CERT_REQUIRED, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 0, 42,
         "the certificate of the server \"localhost\" (CN=localhost) has an RSA key of 1024 bits; at least 2048 "
         "are needed",
         ""},
        {"weak.pem", NULL, 0, true, NETLIB_CERT_NONE, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 0, 42,
         "the certificate of the server \"localhost\" (CN=localhost) has an RSA key of 1024 bits; at least 2048 "
         "are needed",
         ""},
        {"curve.pem", NULL, 0, false, NETLIB_CERT_REQUIRED, NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY, 0, 42,
         "the certificate of the server \"localhost\" (CN=localhost) has a key of 256 bits on the curve "
         "secp256k1, which is "
         "not supported",
         ""},
        {"good.pem", NULL, 0, false, NETLIB_CERT_REQUIRED, NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE, 0, 51,
         "the certificate of the server \"localhost\" (CN=localhost) may belong to another peer: this peer did "
         "not prove that it has the private key (the handshake signature is wrong)",
         ""},
        {"expired-int.pem", NULL, 0, false, NETLIB_CERT_NONE, NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE, 0, 51,
         "the certificate of the server \"localhost\" (CN=localhost) may belong to another peer: this peer did "
         "not prove that it has the private key (the handshake signature is wrong)",
         ""},
        {NULL, "\x00\x00\x02\x30\x00", 5, false, NETLIB_CERT_REQUIRED, NETLIB_CERTIFICATE_PROBLEM_MALFORMED, 0, 42,
         "the certificate of the server \"localhost\" cannot be parsed: it is not valid DER", ""},
        {NULL, "", 0, false, NETLIB_CERT_REQUIRED, NETLIB_CERTIFICATE_PROBLEM_MISSING, -1, 50,
         "the server \"localhost\" presented no certificate", ""},
    };
    netlib_error *err = NULL;
    static struct bytes flight, list;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, CHAINS "%s", rows[i].chain != NULL ? rows[i].chain : "");
        flight.len = list.len = 0;
        if (rows[i].chain != NULL) put_certificates(&list, path);
        else put(&list, rows[i].raw, rows[i].raw_len);
        put_flight(&flight, &list, rows[i].rsa);
        put_hello_done(&flight);
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_add_ca_file(options, CHAINS "root.pem");
        netlib_tls_options_set_verify_mode(options, rows[i].mode);
        netlib_tls_context *client = context_of(options);
        struct script script = {.bytes = &flight};
        netlib_status status = handshake_with(client, &script, &err);
        CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
        CHECK_INT(rows[i].certificate, netlib_error_certificate_index(err));
        check_error(err, rows[i].alert, rows[i].message, rows[i].advice);
        CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
        CHECK_INT(rows[i].alert, script.alert);
        netlib_tls_context_free(client);
    }
}

#define LOCALHOST "the server \"localhost\" "
#define ENDED LOCALHOST "ended the session during the TLS handshake with alert "

static void errors_explain_failed_handshakes_with_servers(void) {
    static const struct {
        const char *bytes;
        size_t len;
        bool closes;
        int32_t minimum;
        netlib_status status;
        int32_t alert; /* the alert that was received or sent */
        const char *message, *advice;
    } rows[] = {
        /* The server selects TLS 1.2 although the client offers only TLS 1.3, or the server selects TLS 1.0. */
        {"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03"
         "0123456789abcdef0123456789abcdef"
         "\x00\xc0\x2b\x00",
         47, false, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_INCOMPATIBLE, 70,
         LOCALHOST "and this side have no TLS version in common", VERSIONS},
        {"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01"
         "0123456789abcdef0123456789abcdef"
         "\x00\xc0\x13\x00",
         47, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_INCOMPATIBLE, 70,
         LOCALHOST "offers neither TLS 1.2 nor TLS 1.3; netlib supports no older version", ""},
        {"\x15\x03\x03\x00\x02\x02\x28", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 40,
         ENDED "40 (handshake_failure): client and server have no TLS version, cipher suite or parameters in common",
         ""},
        {"\x15\x03\x03\x00\x02\x02\x47", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 71,
         ENDED
         "71 (insufficient_security): client and server have no TLS version, cipher suite or parameters in common",
         ""},
        {"\x15\x03\x01\x00\x02\x02\x46", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 70,
         ENDED "70 (protocol_version): it offers neither TLS 1.2 nor TLS 1.3", ""},
        /* The server may require a feature that the client's options disable. */
        {"\x15\x03\x01\x00\x02\x02\x46", 7, false, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_ALERT, 70,
         ENDED "70 (protocol_version): it does not offer TLS 1.2 or 1.3, or only versions that these options exclude",
         VERSIONS},
        {"\x15\x03\x03\x00\x02\x02\x28", 7, false, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_ALERT, 40,
         ENDED "40 (handshake_failure): client and server have no TLS version, cipher suite or parameters in common",
         VERSIONS},
        {"\x15\x03\x03\x00\x02\x02\x70", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 112,
         ENDED "112 (unrecognized_name): it has no site with the requested name", ""},
        {"\x15\x03\x03\x00\x02\x02\x78", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 120,
         ENDED "120 (no_application_protocol): no ALPN protocol in common", PROTOCOLS},
        {"\x15\x03\x03\x00\x02\x02\x74", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 116,
         ENDED "116 (certificate_required): it requires a client certificate", A_CERTIFICATE},
        {"\x15\x03\x03\x00\x02\x02\x2a", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 42,
         ENDED "42 (bad_certificate): it does not accept this side's certificate", IDENTITY},
        {"\x15\x03\x03\x00\x02\x02\x2c", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 44,
         ENDED "44 (certificate_revoked): it regards this side's certificate as revoked", IDENTITY},
        {"\x15\x03\x03\x00\x02\x02\x2d", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 45,
         ENDED
         "45 (certificate_expired): according to its clock, this side's certificate has expired or is not yet valid",
         IDENTITY},
        {"\x15\x03\x03\x00\x02\x02\x30", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 48,
         ENDED "48 (unknown_ca): it does not trust the issuer of this side's certificate, or an intermediate "
               "certificate is missing",
         IDENTITY},
        {"\x15\x03\x03\x00\x02\x02\x50", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 80,
         ENDED "80 (internal_error)", ""},
        {"\x15\x03\x03\x00\x02\x02\xee", 7, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_ALERT, 238, ENDED "238 (unknown)",
         ""},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", 28, false, NETLIB_TLS_VERSION_1_2, NETLIB_NOT_TLS, 50,
         LOCALHOST "does not speak TLS on this connection: it answered in plain HTTP", ""},
        {"", 0, true, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_HANDSHAKE_EOF, -1,
         LOCALHOST "closed the connection without answering the TLS handshake", ""},
        {"\x16\x03\x03\x00\x2a\x02\x00", 7, true, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_HANDSHAKE_EOF, -1,
         LOCALHOST "closed the connection during the TLS handshake", ""},
        {"\x16\x03\x03\x00\x04\x02\x00\x00\x00", 9, false, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_PROTOCOL, 50,
         LOCALHOST "sent a malformed TLS message: the field \"protocol version\" is truncated", ""},
    };
    netlib_error *err = NULL;
    static struct bytes bytes;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_minimum_version(options, rows[i].minimum);
        netlib_tls_context *client = context_of(options);
        bytes.len = 0;
        put(&bytes, rows[i].bytes, rows[i].len);
        struct script script = {.bytes = &bytes, .closes = rows[i].closes};
        netlib_status status = handshake_with(client, &script, &err);
        check_error(err, rows[i].alert, rows[i].message, rows[i].advice);
        CHECK_STATUS(rows[i].status, status);
        if (status == NETLIB_TLS_INCOMPATIBLE || status == NETLIB_TLS_PROTOCOL) CHECK_INT(rows[i].alert, script.alert);
        netlib_tls_context_free(client);
    }
}

/* A TLS 1.2 server sends handshake_failure or bad_certificate after the client has sent no certificate, or a
 * certificate that the server refuses. */
static void errors_explain_refused_client_certificates(void) {
    static const struct {
        const char *identity;
        const char *scheme; /* the signature scheme that the server accepts */
        const char *alert;
        const char *message, *advice;
    } rows[] = {
        {NULL, "\x04\x03", "\x28", ENDED "40 (handshake_failure): it requested a certificate, and none was sent",
         A_CERTIFICATE},
        {NULL, "\x04\x03", "\x2a", ENDED "42 (bad_certificate): it requested a certificate, and none was sent",
         A_CERTIFICATE},
        {"client", "\x08\x07", "\x28",
         ENDED
         "40 (handshake_failure): it requested a certificate, and none was sent: this side's key supports none of "
         "the requested signature schemes",
         IDENTITY},
        {"client", "\x04\x03", "\x28",
         ENDED "40 (handshake_failure): it requested a certificate, and may have rejected the one that was sent",
         IDENTITY},
        {"client", "\x04\x03", "\x2a", ENDED "42 (bad_certificate): it does not accept this side's certificate",
         IDENTITY},
        {NULL, "\x04\x03", "\x50", ENDED "80 (internal_error)", ""},
    };
    netlib_error *err = NULL;
    static struct bytes flight, list, body;
    list.len = 0;
    put_certificates(&list, CHAINS "good.pem");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        flight.len = body.len = 0;
        put_flight(&flight, &list, false);
        PUT(&body, "\x01\x40\x00\x02");
        put(&body, rows[i].scheme, 2);
        PUT(&body, "\x00\x00");
        put_message(&flight, 13, &body);
        PUT(&flight, "\x15\x03\x03\x00\x02\x02");
        put(&flight, rows[i].alert, 1);
        netlib_tls_options *options = client_options();
        if (rows[i].identity != NULL)
            netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client.key");
        netlib_tls_context *client = context_of(options);
        struct script script = {.bytes = &flight};
        netlib_status status = handshake_with(client, &script, &err);
        check_error(err, (unsigned char)rows[i].alert[0], rows[i].message, rows[i].advice);
        CHECK_STATUS(NETLIB_TLS_ALERT, status);
        netlib_tls_context_free(client);
    }
}

/* Writes the ClientHello of a TLS 1.2 client that offers one cipher suite, one group, one signature scheme and one ALPN
 * protocol. Group 0 means no group. */
static void put_hello(struct bytes *bytes, const char *suite, const char *group, const char *scheme, const char *alpn) {
    static struct bytes body;
    unsigned char len[2];
    body.len = 0;
    PUT(&body, "\x03\x03"
               "0123456789abcdef0123456789abcdef"
               "\x00"
               "\x00\x02");
    put(&body, suite, 2);
    PUT(&body, "\x01\x00");
    size_t extensions = (group[0] != 0 || group[1] != 0 ? 8u : 0u) + 6 + 8 + 4 + (alpn != NULL ? 7 + strlen(alpn) : 0);
    len[0] = (unsigned char)(extensions >> 8), len[1] = (unsigned char)extensions;
    put(&body, len, 2);
    if (group[0] != 0 || group[1] != 0) {
        PUT(&body, "\x00\x0a\x00\x04\x00\x02");
        put(&body, group, 2);
    }
    PUT(&body, "\x00\x0b\x00\x02\x01\x00"
               "\x00\x0d\x00\x04\x00\x02");
    put(&body, scheme, 2);
    PUT(&body, "\x00\x17\x00\x00");
    if (alpn != NULL) {
        unsigned char header[7] = {0,
                                   16,
                                   0,
                                   (unsigned char)(strlen(alpn) + 3),
                                   0,
                                   (unsigned char)(strlen(alpn) + 1),
                                   (unsigned char)strlen(alpn)};
        put(&body, header, 7);
        put(&body, alpn, strlen(alpn));
    }
    put_message(bytes, 1, &body);
}

#define NO_ECDHE "the client offers no ephemeral key exchange on elliptic curves (ECDHE), and netlib supports no other"

static void errors_explain_failed_handshakes_with_clients(void) {
    static const struct {
        const char *suite, *group, *scheme, *alpn;
        int32_t minimum, alert;
        const char *message, *advice;
    } rows[] = {
        {"\x00\x2f", "\x00\x1d", "\x04\x03", NULL, NETLIB_TLS_VERSION_1_2, 40,
         "the client and this side have no cipher suite in common", ""},
        {"\xc0\x2b", "\x00\x01", "\x04\x03", NULL, NETLIB_TLS_VERSION_1_2, 40,
         "the client and this side have no key-exchange group in common", ""},
        {"\xc0\x2b", "\x00\x00", "\x04\x03", NULL, NETLIB_TLS_VERSION_1_2, 40,
         "the client and this side have no key-exchange group in common", ""},
        /* RSA key exchange and finite-field Diffie-Hellman use no ECDHE group. */
        {"\x00\x2f", "\x00\x00", "\x04\x03", NULL, NETLIB_TLS_VERSION_1_2, 40, NO_ECDHE, ""},
        {"\x00\x9e", "\x01\x00", "\x04\x03", NULL, NETLIB_TLS_VERSION_1_2, 40, NO_ECDHE, ""},
        {"\xc0\x2b", "\x00\x1d", "\x05\x03", NULL, NETLIB_TLS_VERSION_1_2, 40,
         "no TLS session with the client is possible: incompatible signing key", ""},
        {"\xc0\x2b", "\x00\x1d", "\x04\x03", NULL, NETLIB_TLS_VERSION_1_3, 70,
         "the client and this side have no TLS version in common", VERSIONS},
        {"\xc0\x2b", "\x00\x1d", "\x04\x03", "spdy", NETLIB_TLS_VERSION_1_2, 120,
         "the client and this side have no ALPN protocol in common", PROTOCOLS},
    };
    static struct bytes hello;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_minimum_version(options, rows[i].minimum);
        netlib_tls_options_add_alpn_protocol(options, "http/1.1");
        netlib_tls_context *context = context_of(options);
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = context, .fd = pair.far};
        server_start(&server);
        hello.len = 0;
        put_hello(&hello, rows[i].suite, rows[i].group, rows[i].scheme, rows[i].alpn);
        struct script script = {.fd = pair.near, .bytes = &hello, .speaks_first = true};
        play_script(&script);
        server_join(&server);
        CHECK_INT(NETLIB_TLS_INCOMPATIBLE, server.status);
        CHECK_STR(rows[i].message, server.message);
        CHECK_STR(rows[i].advice, server.advice);
        CHECK_INT(rows[i].alert, server.alert);
        if (rows[i].alert != -1) CHECK_INT(rows[i].alert, script.alert);
        netlib_tls_context_free(context);
    }
}

/* The error of each side has advice about cipher strings only if that side has set a cipher string. */
static void errors_explain_cipher_strings_without_a_common_suite(void) {
    static const struct {
        const char *client, *server;
    } rows[] = {{"aRSA", NULL}, {NULL, "TLS_AES_128_GCM_SHA256:aRSA"}, {"AES128", "AES256:CHACHA20"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_options *options = client_options();
        if (rows[i].client != NULL) netlib_tls_options_set_ciphers(options, rows[i].client);
        netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
        netlib_tls_context *client = context_of(options);
        options = client_options();
        netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        if (rows[i].server != NULL) netlib_tls_options_set_ciphers(options, rows[i].server);
        netlib_tls_context *far = context_of(options);
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = far, .fd = pair.far};
        server_start(&server);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_stream_handshake(stream, &err);
        check_error(
            err, 40,
            ENDED "40 (handshake_failure): client and server have no TLS version, cipher suite or parameters in common",
            rows[i].client != NULL ? CIPHERS : VERSIONS);
        CHECK_STATUS(NETLIB_TLS_ALERT, status);
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&server);
        CHECK_STR("the client and this side have no cipher suite in common", server.message);
        CHECK_STR(rows[i].server != NULL ? CIPHERS : "", server.advice);
        CHECK_INT(NETLIB_TLS_INCOMPATIBLE, server.status);
        netlib_tls_context_free(client);
        netlib_tls_context_free(far);
    }
}

/* A handshake message arrives in records of one byte. The message is below the limit on messages, but its records
 * exceed the limit on buffered records. */
static void a_handshake_message_in_more_than_64_kib_of_records_is_refused(void) {
    netlib_error *err = NULL;
    static struct bytes bytes;
    bytes.len = 0;
    PUT(&bytes, "\x16\x03\x03\x00\x04\x02\x00\x70\x00");
    for (int i = 0; i < 12000; i++) PUT(&bytes, "\x16\x03\x03\x00\x01\x00");
    netlib_tls_context *client = client_context();
    struct script script = {.bytes = &bytes};
    netlib_status status = handshake_with(client, &script, &err);
    check_error(err, 50,
                "the server \"localhost\" sent more than 64 KiB of records without completing a handshake message: the "
                "message is too large, or is split into too many records",
                "");
    CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
    netlib_tls_context_free(client);
}

int main(void) {
    errors_explain_refused_server_certificates();
    errors_explain_failed_handshakes_with_servers();
    errors_explain_refused_client_certificates();
    errors_explain_failed_handshakes_with_clients();
    errors_explain_cipher_strings_without_a_common_suite();
    a_handshake_message_in_more_than_64_kib_of_records_is_refused();
    return report("tls explain");
}
