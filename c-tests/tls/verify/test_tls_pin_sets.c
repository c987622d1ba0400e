/* Tests the pins of a context: certificates that match, certificates of an attacker that must not match, and every way
 * to create a session. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_wire.h"

#define VERIFY CERTS "verify/"

/* Reads one or two files into `text`, one after the other: a peer may send more certificates than its own. */
static size_t read_files(const char *const paths[2], char *text, size_t room) {
    size_t len = 0;
    for (int i = 0; i < 2 && paths[i] != NULL; i++) {
        FILE *file = fopen(paths[i], "r");
        CHECK(file != NULL);
        len += fread(text + len, 1, room - len, file);
        fclose(file);
    }
    CHECK(len < room);
    return len;
}

enum { PIN_ROOM = 100 };

/* Returns the pin of the first certificate of a file. "key:" has curl's format; "cert:" is the fingerprint; "colons:"
 * is the fingerprint in openssl's format; "hex:" is the digest of the key, in hex. */
static void pin_of(const char *what, char pin[PIN_ROOM]) {
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[20000], path[300];
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    snprintf(path, sizeof path, CERTS "%s", strchr(what, ':') + 1);
    size_t len = read_files((const char *const[2]){path, NULL}, text, sizeof text);
    CHECK_OK(netlib_certificate_parse(text, len, &certificate, &err));
    const char *fingerprint = netlib_certificate_fingerprint(certificate, NULL);
    const char *key = netlib_certificate_public_key_pin(certificate, &len);
    CHECK_INT(52, (long long)len);
    if (what[0] == 'k') snprintf(pin, PIN_ROOM, "%s", key);
    if (what[1] == 'e' && what[0] == 'c') snprintf(pin, PIN_ROOM, "%s", fingerprint);
    if (what[1] == 'o') {
        for (size_t i = 0; i < 32; i++) {
            snprintf(pin + 3 * i, PIN_ROOM - 3 * i, "%c%c%s",
                     fingerprint[2 * i] & (fingerprint[2 * i] > '9' ? ~32 : ~0),
                     fingerprint[2 * i + 1] & (fingerprint[2 * i + 1] > '9' ? ~32 : ~0), i < 31 ? ":" : "");
        }
    }
    if (what[0] == 'h') {
        unsigned bits = 0, held = 0;
        size_t at = 0;
        for (const char *c = key + 8; *c != '=' && *c != '\0'; c++) {
            bits = bits << 6 | (unsigned)(strchr(base64, *c) - base64);
            for (held += 6; held >= 4 && at < 64; held -= 4) {
                snprintf(pin + at, PIN_ROOM - at, "%x", bits >> (held - 4) & 15);
                at++;
            }
        }
    }
    netlib_certificate_free(certificate);
}

static void add_pins(netlib_tls_options *options, const char *const pins[2]) {
    for (int i = 0; i < 2 && pins[i] != NULL; i++) {
        char pin[PIN_ROOM];
        pin_of(pins[i], pin);
        netlib_tls_options_add_pin(options, pin);
    }
}

/* Flags for the settings of a client. */
enum { NOT_VERIFIED = 1, NO_NAME = 2, REPLACE = 4, STRICT = 8, CLOCK = 16 };

static int32_t long_ago(void *ctx, double *seconds) {
    *(int *)ctx += 1;
    *seconds = 1.6e9; /* 2020: the expired certificates were valid */
    return NETLIB_OK;
}
static int clock_calls;

static netlib_tls_options *client_with(int settings, const char *const trust[2], const char *const pins[2]) {
    netlib_tls_options *options = netlib_tls_options_new();
    for (int i = 0; i < 2 && trust[i] != NULL; i++) netlib_tls_options_add_ca_file(options, trust[i]);
    if (settings & (NOT_VERIFIED | NO_NAME)) netlib_tls_options_set_check_hostname(options, 0);
    if (settings & NOT_VERIFIED) netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    if (settings & REPLACE) netlib_tls_options_set_pins_replace_chain(options, 1);
    if (settings & STRICT) netlib_tls_options_set_verify_flags(options, NETLIB_VERIFY_FLAG_X509_STRICT);
    if (settings & CLOCK) netlib_tls_options_set_wall_clock(options, long_ago, &clock_calls, NULL);
    add_pins(options, pins);
    return options;
}

static netlib_tls_context *server_with(const char *const sent[2], const char *key) {
    char chain[20000];
    char secret[20000];
    netlib_tls_options *options = netlib_tls_options_new();
    size_t len = read_files(sent, chain, sizeof chain),
           key_len = read_files((const char *const[2]){key, NULL}, secret, sizeof secret);
    netlib_tls_options_set_identity(options, chain, len, secret, key_len);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return context_of(options);
}

/* Does a handshake. Returns true if the session of the client is resumed. */
static bool is_resumed_after_handshake(const netlib_tls_context *client, const netlib_tls_context *server) {
    struct wire wire = wire_of(client, server, 20000);
    char got[10];
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
    CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got)); /* the tickets arrive with this data */
    bool is_resumed = netlib_tls_engine_is_resumed(wire.client);
    free_wire(&wire);
    return is_resumed;
}

#define SERVER {CERTS "server.pem", NULL}, CERTS "server.key"
#define GOOD {VERIFY "good.pem", NULL}, VERIFY "leaf.key"
/* The chain of an attacker: a certificate of another trusted CA, followed by all pinned certificates. */
#define ATTACK {CERTS "server.pem", VERIFY "good-backwards.pem"}, CERTS "server.key"
#define CA {CERTS "ca.pem", NULL}
#define ROOT {VERIFY "root.pem", NULL}
#define BOTH {CERTS "ca.pem", VERIFY "root.pem"}
#define NOBODY {NULL, NULL}
#define MISMATCH NETLIB_FINGERPRINT_MISMATCH, NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED
#define MATCH NETLIB_OK, NETLIB_CERTIFICATE_PROBLEM_NONE
#define WRONG_NAME NETLIB_HOSTNAME_MISMATCH, NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH
#define VERIFY_AND(problem) NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_##problem

static const struct row {
    const char *sent[2], *key;
    int settings;
    const char *trust[2], *pins[2];
    netlib_status status;
    int32_t problem;
} rows[] = {
    /* The client checks the pins in addition to the chain. */
    {SERVER, 0, CA, {"key:server.pem"}, MATCH},
    {SERVER, 0, CA, {"cert:server.pem"}, MATCH},
    {SERVER, 0, CA, {"colons:server.pem"}, MATCH},
    {SERVER, 0, CA, {"hex:server.pem"}, MATCH},
    {SERVER, 0, CA, {"key:ca.pem"}, MATCH},
    {SERVER, 0, CA, {"hex:ca.pem"}, MATCH},
    {SERVER, 0, CA, {"cert:ca.pem"}, MATCH},
    {SERVER, 0, CA, {"key:wrong-name.pem", "key:server.pem"}, MATCH},
    {SERVER, 0, CA, {"key:server.pem", "cert:wrong-name.pem"}, MATCH},
    {SERVER, STRICT, CA, {"key:ca.pem"}, MATCH},
    {SERVER, 0, CA, {"key:wrong-name.pem"}, MISMATCH},
    {SERVER, 0, CA, {"cert:wrong-name.pem"}, MISMATCH},
    {SERVER, 0, CA, {"key:other-ca.pem", "key:wrong-name.pem"}, MISMATCH},
    {SERVER, STRICT, CA, {"key:other-ca.pem"}, MISMATCH},
    {SERVER, 0, {CERTS "ca.pem", CERTS "other-ca.pem"}, {"key:other-ca.pem"}, MISMATCH},
    {GOOD, 0, ROOT, {"key:verify/good.pem"}, MATCH},
    {GOOD, 0, ROOT, {"key:verify/int.pem"}, MATCH},
    {GOOD, 0, ROOT, {"cert:verify/int.pem"}, MATCH},
    {GOOD, 0, ROOT, {"key:verify/root.pem"}, MATCH},
    {GOOD, 0, ROOT, {"cert:verify/root.pem"}, MATCH},
    {GOOD, 0, {VERIFY "int.pem"}, {"cert:verify/int.pem"}, MATCH},
    {{VERIFY "good-backwards.pem"}, VERIFY "leaf.key", 0, {VERIFY "int.pem"}, {"key:verify/root.pem"}, MISMATCH},
    /* A pin of a certificate that is not on the verified path does not match, even if the peer sends the
     * certificate. */
    {ATTACK, 0, BOTH, {"key:verify/good.pem"}, MISMATCH},
    {ATTACK, 0, BOTH, {"cert:verify/good.pem"}, MISMATCH},
    {ATTACK, 0, BOTH, {"key:verify/int.pem"}, MISMATCH},
    {ATTACK, 0, BOTH, {"cert:verify/int.pem"}, MISMATCH},
    {ATTACK, 0, BOTH, {"key:verify/root.pem"}, MISMATCH},
    {ATTACK, 0, BOTH, {"cert:verify/root.pem"}, MISMATCH},
    {ATTACK, 0, BOTH, {"key:server.pem"}, MATCH},
    /* Failures that do not concern the pins have the same errors as without pins. */
    {{CERTS "expired.pem"}, CERTS "expired.key", 0, CA, {"key:expired.pem"}, VERIFY_AND(EXPIRED)},
    {{CERTS "expired.pem"}, CERTS "expired.key", CLOCK, CA, {"key:expired.pem"}, MATCH},
    {{CERTS "expired.pem"}, CERTS "expired.key", CLOCK, CA, {"key:server.pem"}, MISMATCH},
    {{CERTS "wrong-purpose.pem"}, CERTS "wrong-purpose.key", 0, CA, {"key:ca.pem"}, VERIFY_AND(WRONG_PURPOSE)},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", 0, CA, {"key:wrong-name.pem"}, WRONG_NAME},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", 0, CA, {"key:server.pem"}, WRONG_NAME},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", NO_NAME, CA, {"key:wrong-name.pem"}, MATCH},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", NO_NAME, CA, {"key:server.pem"}, MISMATCH},
    {{CERTS "self-signed.pem"}, CERTS "self-signed.key", 0, CA, {"key:self-signed.pem"}, VERIFY_AND(SELF_SIGNED)},
    {{CERTS "self-signed.pem"}, CERTS "self-signed.key", 0, {CERTS "self-signed.pem"}, {"key:self-signed.pem"}, MATCH},
    {{CERTS "self-signed.pem"}, CERTS "self-signed.key", 0, {CERTS "self-signed.pem"}, {"key:ca.pem"}, MISMATCH},
    {{VERIFY "self-signed-ca.pem"},
     VERIFY "leaf.key",
     0,
     {VERIFY "self-signed-ca.pem"},
     {"cert:verify/self-signed-ca.pem"},
     MATCH},
    {{VERIFY "self-signed-ca.pem"}, VERIFY "leaf.key", 0, {VERIFY "self-signed-ca.pem"}, {"key:server.pem"}, MISMATCH},
    {{VERIFY "only-leaf.pem"}, VERIFY "leaf.key", 0, {VERIFY "only-leaf.pem"}, {"key:verify/only-leaf.pem"}, MATCH},
    {GOOD, 0, {VERIFY "only-leaf.pem"}, {"key:verify/int.pem"}, MISMATCH},
    /* If verification is disabled, only a pin of the peer's own certificate matches. */
    {SERVER, NOT_VERIFIED, NOBODY, {"key:server.pem"}, MATCH},
    {SERVER, NOT_VERIFIED, NOBODY, {"cert:server.pem"}, MATCH},
    {SERVER, NOT_VERIFIED, CA, {"key:ca.pem", "cert:ca.pem"}, MISMATCH},
    {SERVER, NOT_VERIFIED, NOBODY, {"key:wrong-name.pem"}, MISMATCH},
    {SERVER, NOT_VERIFIED | CLOCK, NOBODY, {"key:server.pem"}, MATCH},
    {GOOD, NOT_VERIFIED, NOBODY, {"key:verify/int.pem", "cert:verify/int.pem"}, MISMATCH},
    {ATTACK, NOT_VERIFIED, NOBODY, {"key:verify/good.pem", "cert:verify/good.pem"}, MISMATCH},
    {{CERTS "expired.pem"}, CERTS "expired.key", NOT_VERIFIED, NOBODY, {"key:expired.pem"}, MATCH},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", NOT_VERIFIED, NOBODY, {"key:wrong-name.pem"}, MATCH},
    /* The client checks the pins instead of the chain. The client does not verify issuer, time and purpose, but
     * verifies the name. */
    {{CERTS "self-signed.pem"}, CERTS "self-signed.key", REPLACE, NOBODY, {"key:self-signed.pem"}, MATCH},
    {{CERTS "self-signed.pem"}, CERTS "self-signed.key", REPLACE, NOBODY, {"cert:self-signed.pem"}, MATCH},
    {{CERTS "self-signed.pem"}, CERTS "self-signed.key", REPLACE, NOBODY, {"key:server.pem"}, MISMATCH},
    {{CERTS "self-signed.pem"},
     CERTS "self-signed.key",
     REPLACE,
     {CERTS "self-signed.pem"},
     {"key:server.pem"},
     MISMATCH},
    {{VERIFY "self-signed-ca.pem"}, VERIFY "leaf.key", REPLACE, NOBODY, {"cert:verify/self-signed-ca.pem"}, MATCH},
    {{VERIFY "self-signed-expired.pem"}, VERIFY "leaf.key", REPLACE, NOBODY, {"key:verify/only-leaf.pem"}, MATCH},
    {{CERTS "expired.pem"}, CERTS "expired.key", REPLACE, NOBODY, {"cert:expired.pem"}, MATCH},
    {{CERTS "expired.pem"}, CERTS "expired.key", REPLACE | CLOCK, NOBODY, {"cert:expired.pem"}, MATCH},
    {{CERTS "future.pem"}, CERTS "future.key", REPLACE, NOBODY, {"key:future.pem"}, MATCH},
    {{CERTS "wrong-purpose.pem"}, CERTS "wrong-purpose.key", REPLACE, NOBODY, {"key:wrong-purpose.pem"}, MATCH},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", REPLACE, NOBODY, {"key:wrong-name.pem"}, WRONG_NAME},
    {{CERTS "wrong-name.pem"}, CERTS "wrong-name.key", REPLACE | NO_NAME, NOBODY, {"key:wrong-name.pem"}, MATCH},
    {SERVER, REPLACE, CA, {"key:ca.pem", "cert:ca.pem"}, MISMATCH},
    {GOOD, REPLACE, ROOT, {"key:verify/int.pem", "key:verify/root.pem"}, MISMATCH},
    {ATTACK, REPLACE, BOTH, {"key:verify/good.pem", "cert:verify/good.pem"}, MISMATCH},
};

static void check_refused(const struct row *row, netlib_tls_context *client, netlib_tls_context *server,
                          const char *label) {
    netlib_error *err = NULL;
    char expected[PIN_ROOM], text[200], got[10];
    size_t n = 0;
    /* A write immediately after the handshake fails and sends nothing. */
    struct wire wire = wire_of(client, server, 20000);
    struct handshake_result result = run_handshake(&wire);
    if (result.client != row->status) fprintf(stderr, "%s\n", label);
    CHECK_INT(row->status, result.client);
    CHECK_STATUS(row->status, netlib_tls_engine_write(wire.client, "secret", 6, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK(netlib_tls_engine_write(wire.client, "secret", 6, &n, &err) == row->status && err != NULL);
    CHECK_INT(row->problem, netlib_error_certificate_problem(err));
    CHECK_INT(0, netlib_error_certificate_index(err));
    if (row->problem == NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED) {
        snprintf(text, sizeof text, "key:%s", row->sent[0] + strlen(CERTS));
        pin_of(text, expected);
        CHECK_STR(expected, netlib_error_public_key_pin(err, &n));
        CHECK_INT(52, (long long)n);
        char fingerprint[PIN_ROOM], path[200];
        snprintf(path, sizeof path, "cert:%s", row->sent[0] + strlen(CERTS));
        pin_of(path, fingerprint);
        CHECK_STR(fingerprint, netlib_error_actual_fingerprint(err, NULL));
        CHECK_STR(NULL, netlib_error_expected_fingerprint(err, NULL));
        bool is_leaf_alone = row->settings & (NOT_VERIFIED | REPLACE);
        snprintf(text, sizeof text, " is not pinned%s: the pin of its key is %s",
                 is_leaf_alone ? "" : ", and no authority above it is", expected);
        const char *message = err != NULL ? netlib_error_message(err, NULL) : "";
        CHECK(strncmp(message, "the certificate of the server \"localhost\" (CN=localhost) ", 57) == 0);
        CHECK_STR(text, strstr(message, " is not"));
        CHECK_STR("to accept it, if it is known to be the right one: netlib_tls_options_add_pin",
                  netlib_error_advice(err, NULL));
        CHECK_INT(46, netlib_error_tls_alert(err));
        CHECK_INT(NETLIB_TLS_ALERT, result.server);
        CHECK_INT(46, result.server_alert);
    }
    netlib_error_free(err);
    err = NULL;
    CHECK(netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err) != NETLIB_OK && n == 0);
    netlib_error_free(err);
    free_wire(&wire);
}

static void pins_match_only_certificates_on_the_verified_path(void) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        netlib_tls_context *server = server_with(row->sent, row->key);
        for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
            char label[100];
            snprintf(label, sizeof label, "row %zu, version 0x%x", i, (unsigned)version);
            netlib_tls_options *options = client_with(row->settings, row->trust, row->pins);
            netlib_tls_options_set_maximum_version(options, version);
            netlib_tls_context *client = context_of(options);
            CHECK_INT(row->pins[1] != NULL ? 2 : 1, (long long)netlib_tls_context_pin_count(client));
            CHECK_INT((row->settings & REPLACE) != 0, netlib_tls_context_pins_replace_chain(client));
            if (row->settings & REPLACE && row->trust[0] == NULL) CHECK_INT(0, netlib_tls_context_trust_kinds(client));
            clock_calls = 0;
            for (int round = 0; round < 2; round++) {
                /* The context does not store a session that was refused. */
                if (row->status != NETLIB_OK) check_refused(row, client, server, label);
                else CHECK_INT(round, is_resumed_after_handshake(client, server));
            }
            CHECK((clock_calls > 0) == (row->settings & CLOCK && !(row->settings & (REPLACE | NOT_VERIFIED))));
            netlib_tls_context_free(client);
        }
        netlib_tls_context_free(server);
    }
}

/* Does the handshakes of both streams. Returns the status of `near`, and stores the error message of `near`. */
static netlib_status handshake_streams(netlib_stream *near, netlib_stream *far, char message[400]) {
    netlib_error *err = NULL;
    netlib_status status = NETLIB_WANT_READ;
    netlib_stream_set_blocking(near, 0, NULL);
    netlib_stream_set_blocking(far, 0, NULL);
    for (int turn = 0; turn < 100 && status == NETLIB_WANT_READ; turn++) {
        status = netlib_stream_handshake(near, &err);
        snprintf(message, 400, "%s", err != NULL ? netlib_error_message(err, NULL) : "");
        netlib_error_free(err);
        err = NULL;
        (void)netlib_stream_handshake(far, NULL);
    }
    char byte = 0;
    size_t n = 0;
    if (status == NETLIB_OK) {
        CHECK_OK(netlib_stream_write(far, "x", 1, &n, &err));
        CHECK_OK(netlib_stream_read(near, &byte, 1, &n, &err));
    }
    return status;
}

/* In curl, one way to create a session did not check pins. In netlib, the context checks its pins in every session,
 * without a call by the application. The rows differ in the verification, in the TLS version, and in whether the
 * session runs inside another stream. */
static void the_context_checks_pins_in_full_resumed_and_nested_sessions(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    for (int row = 0; row < 24; row++) {
        bool is_right = row & 1;
        int settings = row & 2 ? NOT_VERIFIED : row & 8 ? REPLACE : 0;
        int32_t version = row & 4 ? NETLIB_TLS_VERSION_1_2 : NETLIB_TLS_VERSION_1_3;
        bool is_nested = row >= 16;
        const char *const pins[2] = {is_right ? "key:server.pem" : "key:wrong-name.pem", NULL};
        netlib_tls_options *options = client_with(settings, (const char *const[2])CA, pins);
        netlib_tls_options_set_maximum_version(options, version);
        netlib_tls_context *pinned = context_of(options), *outer = client_context();
        for (int round = 0; round < 2; round++) {
            struct pair pair = unix_pair();
            char message[400];
            netlib_stream *near = wrap(is_nested ? outer : pinned, pair.near, "localhost"), *inner_near = NULL;
            netlib_stream *far = accept_tls(server, pair.far), *inner_far = NULL;
            if (is_nested) {
                CHECK_INT(NETLIB_OK, handshake_streams(near, far, message));
                CHECK_OK(netlib_tls_wrap_stream(pinned, near, "localhost", &inner_near, &err));
                CHECK_OK(netlib_tls_accept_stream(server, far, &inner_far, &err));
            }
            netlib_stream *verifier = is_nested ? inner_near : near;
            netlib_status status = handshake_streams(verifier, is_nested ? inner_far : far, message);
            CHECK_INT(is_right ? NETLIB_OK : NETLIB_FINGERPRINT_MISMATCH, status);
            CHECK_INT(is_right && round > 0, netlib_stream_is_resumed(verifier));
            CHECK((strstr(message, "the pin of its key is sha256//") != NULL) == !is_right);
            netlib_stream_free(inner_near), netlib_stream_free(inner_far);
            netlib_stream_free(near), netlib_stream_free(far);
            close_pair(pair);
        }
        netlib_tls_context_free(pinned);
        netlib_tls_context_free(outer);
    }
    netlib_tls_context_free(server);
}

/* A context with pins does not resume a session that was created without pins or with other pins. */
static void sessions_are_not_resumed_by_contexts_with_different_pins(void) {
    netlib_tls_context *server = server_context("server");
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_maximum_version(options, version);
        netlib_tls_context *plain = context_of(options);
        CHECK(!is_resumed_after_handshake(plain, server));
        CHECK(is_resumed_after_handshake(plain, server));
        CHECK_INT(0, (long long)netlib_tls_context_pin_count(plain));

        options = netlib_tls_context_to_options(plain);
        add_pins(options, (const char *const[2]){"key:wrong-name.pem", NULL});
        netlib_tls_context *wrong = context_of(options);
        struct wire wire = wire_of(wrong, server, 20000);
        CHECK_HANDSHAKE(NETLIB_FINGERPRINT_MISMATCH, NETLIB_TLS_ALERT, run_handshake(&wire));
        free_wire(&wire);

        /* Options that are created from a context have its pins. After another pin is added to the options, the
         * certificate of the server matches. */
        options = netlib_tls_context_to_options(wrong);
        netlib_tls_context *copy = context_of(options);
        CHECK_INT(1, (long long)netlib_tls_context_pin_count(copy));
        wire = wire_of(copy, server, 20000);
        CHECK_HANDSHAKE(NETLIB_FINGERPRINT_MISMATCH, NETLIB_TLS_ALERT, run_handshake(&wire));
        free_wire(&wire);
        options = netlib_tls_context_to_options(copy);
        add_pins(options, (const char *const[2]){"cert:server.pem", NULL});
        netlib_tls_context *right = context_of(options);
        CHECK_INT(2, (long long)netlib_tls_context_pin_count(right));
        CHECK(!is_resumed_after_handshake(right, server));
        CHECK(is_resumed_after_handshake(right, server));
        netlib_tls_context_free(plain), netlib_tls_context_free(wrong);
        netlib_tls_context_free(copy), netlib_tls_context_free(right);
    }
    netlib_tls_context_free(server);
}

/* The pins of a server context apply to the certificates of clients. */
static void servers_check_client_certificates_against_the_pins_of_their_context(void) {
    static const struct {
        int32_t mode;
        bool replaces;
        const char *trust[2], *pins[2], *certificate, *key;
        netlib_status status;
        int32_t problem;
    } client_rows[] = {
        {NETLIB_CERT_REQUIRED, false, CA, {"key:client.pem"}, CERTS "client.pem", CERTS "client.key", MATCH},
        {NETLIB_CERT_REQUIRED, false, CA, {"cert:client.pem"}, CERTS "client.pem", CERTS "client.key", MATCH},
        {NETLIB_CERT_REQUIRED, false, CA, {"cert:ca.pem"}, CERTS "client.pem", CERTS "client.key", MATCH},
        {NETLIB_CERT_REQUIRED, false, CA, {"key:server.pem"}, CERTS "client.pem", CERTS "client.key", MISMATCH},
        {NETLIB_CERT_REQUIRED, false, CA, {"key:client.pem"}, NULL, NULL, VERIFY_AND(MISSING)},
        {NETLIB_CERT_OPTIONAL, false, CA, {"key:client.pem"}, NULL, NULL, MATCH},
        {NETLIB_CERT_OPTIONAL, false, CA, {"key:client.pem"}, CERTS "client.pem", CERTS "client.key", MATCH},
        {NETLIB_CERT_OPTIONAL, false, CA, {"key:server.pem"}, CERTS "client.pem", CERTS "client.key", MISMATCH},
        {NETLIB_CERT_REQUIRED, true, NOBODY, {"key:client.pem"}, CERTS "client.pem", CERTS "client.key", MATCH},
        {NETLIB_CERT_REQUIRED,
         true,
         NOBODY,
         {"cert:self-signed.pem"},
         CERTS "self-signed.pem",
         CERTS "self-signed.key",
         MATCH},
        {NETLIB_CERT_REQUIRED, true, CA, {"cert:ca.pem"}, CERTS "client.pem", CERTS "client.key", MISMATCH},
        {NETLIB_CERT_REQUIRED, true, NOBODY, {"key:client.pem"}, NULL, NULL, VERIFY_AND(MISSING)},
        {NETLIB_CERT_OPTIONAL,
         true,
         NOBODY,
         {"key:client.pem"},
         CERTS "self-signed.pem",
         CERTS "self-signed.key",
         MISMATCH},
    };
    for (size_t i = 0; i < sizeof client_rows / sizeof client_rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_options *options =
            client_with(client_rows[i].replaces ? REPLACE : 0, client_rows[i].trust, client_rows[i].pins);
        netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
        netlib_tls_options_set_verify_mode(options, client_rows[i].mode);
        netlib_tls_context *server = context_of(options);
        options = client_options();
        if (client_rows[i].certificate != NULL)
            netlib_tls_options_set_identity_files(options, client_rows[i].certificate, client_rows[i].key);
        netlib_tls_context *client = context_of(options);
        for (int round = 0; round < 2; round++) {
            struct wire wire = wire_of(client, server, 20000);
            struct handshake_result result = run_handshake(&wire);
            CHECK_INT(client_rows[i].status, result.server);
            if (client_rows[i].status == NETLIB_OK) {
                char got[10];
                CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got));
                CHECK_INT(round, netlib_tls_engine_is_resumed(wire.server));
            } else {
                size_t n = 0;
                char byte;
                CHECK(netlib_tls_engine_read(wire.server, &byte, 1, &n, &err) == client_rows[i].status && err != NULL);
                CHECK_INT(client_rows[i].problem, netlib_error_certificate_problem(err));
                bool is_pin = client_rows[i].problem == NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED;
                CHECK((strstr(netlib_error_message(err, NULL), "the certificate of the client (CN=") != NULL) ==
                      is_pin);
                netlib_error_free(err);
                err = NULL;
            }
            free_wire(&wire);
        }
        netlib_tls_context_free(server);
        netlib_tls_context_free(client);
    }
}

/* A server that requests no client certificate would never check its pins, so netlib refuses to create its sessions. */
static void pins_of_a_server_that_requests_no_client_certificate_are_refused(void) {
    for (int row = 0; row < 3; row++) {
        netlib_error *err = NULL;
        netlib_tls_engine *engine = NULL;
        netlib_stream *stream = NULL;
        struct pair pair = unix_pair();
        netlib_tls_options *options =
            client_with(row == 1   ? NOT_VERIFIED
                        : row == 2 ? REPLACE
                                   : 0,
                        (const char *const[2])CA, (const char *const[2]){"key:client.pem", NULL});
        netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
        netlib_tls_context *context = context_of(options);
        CHECK(netlib_tls_engine_new_server(context, &engine, &err) == NETLIB_INVALID_ARGUMENT && engine == NULL);
        CHECK_STR("there are pins, but no client certificate is requested", netlib_error_message(err, NULL));
        CHECK_STR("to request client certificates: netlib_tls_options_set_verify_mode with NETLIB_CERT_REQUIRED",
                  netlib_error_advice(err, NULL));
        netlib_error_free(err);
        err = NULL;
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_accept_fd(context, pair.far, &stream, &err));
        /* The context, which cannot create server sessions, can create client sessions. */
        stream = wrap(context, pair.near, "localhost");
        netlib_stream_free(stream);
        netlib_tls_context_free(context);
        close_pair(pair);
    }
}

static void malformed_pins_are_refused_with_a_message(void) {
#define HEX32 "0123456789abcdef0123456789ABCDEF"
    static const char *const bad[][2] = {
        {NULL, "pin is NULL"},
        {"", "pin must have 64 hex digits (SHA-256); it has 0"},
        {HEX32, "pin must have 64 hex digits; it has 32: MD5 and SHA-1 can be forged"},
        {HEX32 "01234567", "pin must have 64 hex digits; it has 40: MD5 and SHA-1 can be forged"},
        {HEX32 HEX32 "0", "pin must have 64 hex digits (SHA-256); it has 65"},
        {HEX32 "x" HEX32, "pin must be hex digits, or sha256// and base64; it has a 'x' at byte 32"},
        {"sha256//AAAA", "pin must have 44 characters of base64 after sha256//; it has 4"},
        {"sha1//AAAA", "pin must be hex digits, or sha256// and base64; it has a '/' at byte 4"},
        {HEX32 HEX32 ";" HEX32 HEX32, "pin has a ';': add one pin at a time"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        char message[200];
        netlib_tls_options *options = client_options();
        netlib_tls_options_add_pin(options, HEX32 HEX32);
        netlib_tls_options_add_pin(options, bad[i][0]);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        CHECK_INT(i == 0 ? NETLIB_NULL_ARGUMENT : NETLIB_INVALID_ARGUMENT, status);
        snprintf(message, sizeof message, "netlib_tls_options_add_pin: %s", bad[i][1]);
        if (i > 0) CHECK_STR(message, netlib_error_message(err, NULL));
        CHECK(context == NULL);
        netlib_error_free(err);
        netlib_tls_options_free(options);
    }
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_pins_replace_chain(options, 1);
    CHECK(netlib_tls_context_new(options, &context, &err) == NETLIB_INVALID_ARGUMENT);
    CHECK_STR("netlib_tls_options_set_pins_replace_chain: pins are to replace chain verification, but there is no pin",
              netlib_error_message(err, NULL));
    CHECK_STR("to add one: netlib_tls_options_add_pin", netlib_error_advice(err, NULL));
    netlib_error_free(err);
    netlib_tls_options_free(options);
}

/* netlib_ssl_wrap_socket checks the server's certificate against the pins of the options or against the pins of the
 * context. If both the options and the context have pins, netlib_ssl_wrap_socket fails. */
static void wrap_socket_checks_pins_of_options_or_context_and_refuses_pins_in_both(void) {
    netlib_tls_context *server = server_context("server");
    static const struct {
        bool has_context;
        int context_asks, options_ask;
        const char *of_context, *of_options;
        bool adds_trust;
        netlib_status status;
    } calls[] = {
        {false, 0, 0, NULL, "key:server.pem", true, NETLIB_OK},
        {false, 0, 0, NULL, "key:client.pem", true, NETLIB_FINGERPRINT_MISMATCH},
        {true, 0, 0, NULL, "key:server.pem", false, NETLIB_OK},
        {true, 0, 0, NULL, "key:client.pem", false, NETLIB_FINGERPRINT_MISMATCH},
        {true, 0, 0, NULL, "key:client.pem", true, NETLIB_FINGERPRINT_MISMATCH},
        {true, NOT_VERIFIED, 0, NULL, "key:client.pem", false, NETLIB_FINGERPRINT_MISMATCH},
        {true, 0, REPLACE, NULL, "key:server.pem", false, NETLIB_OK},
        {true, 0, REPLACE, NULL, "key:ca.pem", false, NETLIB_FINGERPRINT_MISMATCH},
        {true, 0, 0, "key:server.pem", NULL, false, NETLIB_OK},
        {true, 0, 0, "key:client.pem", NULL, false, NETLIB_FINGERPRINT_MISMATCH},
        {true, 0, 0, "key:client.pem", NULL, true, NETLIB_FINGERPRINT_MISMATCH},
        {true, REPLACE, 0, "key:ca.pem", NULL, true, NETLIB_FINGERPRINT_MISMATCH},
        {true, 0, 0, "key:server.pem", "key:server.pem", false, NETLIB_INVALID_ARGUMENT},
        {true, 0, REPLACE, "key:server.pem", NULL, false, NETLIB_INVALID_ARGUMENT},
        {true, 0, REPLACE, NULL, NULL, false, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_stream *stream = NULL;
        const char *const trust[2] = CA, *const nobody[2] = NOBODY;
        if (calls[i].has_context) {
            context = context_of(
                client_with(calls[i].context_asks, trust, (const char *const[2]){calls[i].of_context, NULL}));
        }
        netlib_tls_options *options = client_with(calls[i].options_ask, calls[i].adds_trust ? trust : nobody,
                                                  (const char *const[2]){calls[i].of_options, NULL});
        struct pair pair = unix_pair();
        struct server far = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&far);
        CHECK_STATUS(calls[i].status,
                     netlib_ssl_wrap_socket(pair.near, options, context, "localhost", NULL, &stream, &err));
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&far);
        netlib_tls_options_free(options);
        netlib_tls_context_free(context);
    }
    netlib_tls_context_free(server);
}

int main(void) {
    pins_match_only_certificates_on_the_verified_path();
    the_context_checks_pins_in_full_resumed_and_nested_sessions();
    sessions_are_not_resumed_by_contexts_with_different_pins();
    servers_check_client_certificates_against_the_pins_of_their_context();
    pins_of_a_server_that_requests_no_client_certificate_are_refused();
    malformed_pins_are_refused_with_a_message();
    wrap_socket_checks_pins_of_options_or_context_and_refuses_pins_in_both();
    return report("tls pin sets");
}
