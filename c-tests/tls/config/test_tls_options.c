/* Tests every TLS option: its default, valid and invalid values, and its getter. Also tests options that are created
 * from a context. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#define NETLIB_DEPRECATED_NOTE(note)
#include "tls_peer.h"

#include <errno.h>

/* Returns options of a client without verification, so that creating the context reads no file. */
static netlib_tls_options *bare_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return options;
}

/* The option bits that are set in every context. */
static const int64_t ALWAYS = NETLIB_OP_NO_SSLv3 | NETLIB_OP_NO_TLSv1 | NETLIB_OP_NO_TLSv1_1 |
                              NETLIB_OP_NO_COMPRESSION | NETLIB_OP_NO_RENEGOTIATION |
                              NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT | 0x10000 | 0x80000 | INT64_C(0x300000000);
static const int64_t USUAL = NETLIB_OP_NO_TICKET | NETLIB_OP_CIPHER_SERVER_PREFERENCE;

static void a_new_tls_context_allows_tls_1_2_and_1_3_and_resumption(void) {
    netlib_tls_context *context = context_of(bare_options());
    CHECK_INT(16, netlib_tls_context_protocol(context));
    CHECK_INT(NETLIB_TLS_VERSION_1_2, netlib_tls_context_minimum_version(context));
    CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_tls_context_maximum_version(context));
    CHECK_INT(ALWAYS | USUAL, netlib_tls_context_option_bits(context));
    CHECK(netlib_tls_context_resumption(context));
    CHECK(!netlib_tls_context_hostname_checks_common_name(context));
    CHECK(!netlib_tls_context_post_handshake_auth(context));
    CHECK_INT(0, (long long)netlib_tls_context_alpn_protocol_count(context));
    CHECK_STR(NULL, netlib_tls_context_alpn_protocol(context, 0, NULL));
    CHECK_STR(NULL, netlib_tls_context_keylog_file(context, NULL));
    CHECK_INT(9, (long long)netlib_tls_context_cipher_suite_count(context));
    netlib_tls_context_free(context);
}

enum what {
    NOTHING,
    MINIMUM,
    MAXIMUM,
    EXACT,
    BITS,
    TICKETS,
    RESUMPTION,
    NPN,
    COMMON_NAME,
    POST_HANDSHAKE,
    ALPN,
    KEYLOG
};

static void set(netlib_tls_options *options, enum what what, int64_t value) {
    static const char *const protocols[] = {"spdy/3"};
    switch (what) {
    case NOTHING: break;
    case MINIMUM: netlib_tls_options_set_minimum_version(options, (int32_t)value); break;
    case MAXIMUM: netlib_tls_options_set_maximum_version(options, (int32_t)value); break;
    case EXACT: netlib_tls_options_set_ssl_version(options, (int32_t)value); break;
    case BITS: netlib_tls_options_set_option_bits(options, value); break;
    case TICKETS: netlib_tls_options_set_session_tickets(options, (int32_t)value); break;
    case RESUMPTION: netlib_tls_options_set_resumption(options, (int32_t)value); break;
    case NPN: netlib_tls_options_set_npn_protocols(options, protocols, (size_t)value); break;
    case COMMON_NAME: netlib_tls_options_set_hostname_checks_common_name(options, (int32_t)value); break;
    case POST_HANDSHAKE: netlib_tls_options_set_post_handshake_auth(options, (int32_t)value); break;
    case ALPN: netlib_tls_options_add_alpn_protocol(options, value == 0 ? "" : "h2"); break;
    case KEYLOG: netlib_tls_options_set_keylog_file(options, "/nonexistent/keys"); break;
    }
}

static void invalid_tls_option_values_are_refused_with_a_message(void) {
#define SETTER(name) "netlib_tls_options_" name ": "
#define CONFLICT SETTER("set_ssl_version") "an exact version and a minimum or maximum version exclude each other"
    static const struct {
        enum what first;
        int64_t value;
        enum what second;
        int64_t other;
        netlib_status status;
        const char *message;
    } rows[] = {
        {MINIMUM, 0x0305, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_minimum_version") "version must be one of enum netlib_tls_version; it is 773"},
        {MAXIMUM, 0x0302, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_maximum_version") "TLS 1.1 is not supported; the oldest supported version is TLS 1.2"},
        {MAXIMUM, 7, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_maximum_version") "version must be one of enum netlib_tls_version; it is 7"},
        {MINIMUM, NETLIB_TLS_VERSION_1_3, MAXIMUM, NETLIB_TLS_VERSION_1_2, NETLIB_INVALID_ARGUMENT,
         SETTER("set_minimum_version") "the minimum version TLS 1.3 is above the maximum TLS 1.2"},
        {EXACT, 0, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_ssl_version") "PROTOCOL_SSLv2 is not supported; the oldest supported version is TLS 1.2"},
        {EXACT, 1, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_ssl_version") "PROTOCOL_SSLv3 is not supported; the oldest supported version is TLS 1.2"},
        {EXACT, 3, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_ssl_version") "PROTOCOL_TLSv1 is not supported; the oldest supported version is TLS 1.2"},
        {EXACT, 4, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_ssl_version") "PROTOCOL_TLSv1_1 is not supported; the oldest supported version is TLS 1.2"},
        {EXACT, 6, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_ssl_version") "version must be a number of netlib_resolve_ssl_version; it is 6"},
        {EXACT, NETLIB_TLS_VERSION_1_2, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_ssl_version") "version must be a number of netlib_resolve_ssl_version; it is 771"},
        {EXACT, NETLIB_SSL_VERSION_TLSv1_2, MINIMUM, NETLIB_TLS_VERSION_1_2, NETLIB_INVALID_ARGUMENT, CONFLICT},
        {MAXIMUM, NETLIB_TLS_VERSION_1_3, EXACT, NETLIB_SSL_VERSION_TLSv1_2, NETLIB_INVALID_ARGUMENT, CONFLICT},
        {EXACT, NETLIB_SSL_VERSION_TLS_SERVER, MAXIMUM, NETLIB_TLS_VERSION_1_3, NETLIB_INVALID_ARGUMENT, CONFLICT},
        {EXACT, NETLIB_SSL_VERSION_TLSv1_2, BITS, NETLIB_OP_NO_TLSv1_2, NETLIB_INVALID_ARGUMENT,
         SETTER("set_option_bits") "TLS 1.2 is excluded, and no other version is allowed"},
        {MINIMUM, NETLIB_TLS_VERSION_1_3, BITS, NETLIB_OP_NO_TLSv1_3, NETLIB_INVALID_ARGUMENT,
         SETTER("set_option_bits") "TLS 1.3 is excluded, and no other version is allowed"},
        {BITS, NETLIB_OP_NO_TLSv1_2 | NETLIB_OP_NO_TLSv1_3, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_option_bits") "OP_NO_TLSv1_2 and OP_NO_TLSv1_3 together exclude every version"},
        {BITS, INT64_C(0x1000000000) | NETLIB_OP_NO_TICKET | 0x20, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_option_bits") "bits has unknown bits: 0x1000000020"},
        {BITS, INT64_MIN, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_option_bits") "bits has unknown bits: 0x8000000000000000"},
        {BITS, NETLIB_OP_IGNORE_UNEXPECTED_EOF, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER(
             "set_option_bits") "OP_IGNORE_UNEXPECTED_EOF: an end without close_notify is always NETLIB_TLS_TRUNCATED"},
        {BITS, NETLIB_OP_ENABLE_KTLS, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_option_bits") "OP_ENABLE_KTLS: kernel TLS is not used"},
        {BITS, 0x40000, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_option_bits") "OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION: there is no renegotiation"},
        {TICKETS, 2, NOTHING, 0, NETLIB_INVALID_ARGUMENT, SETTER("set_session_tickets") "on must be 0 or 1; it is 2"},
        {RESUMPTION, -1, NOTHING, 0, NETLIB_INVALID_ARGUMENT, SETTER("set_resumption") "on must be 0 or 1; it is -1"},
        {NPN, 1, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_npn_protocols") "NPN was replaced by ALPN (RFC 7301): netlib_tls_options_add_alpn_protocol"},
        {COMMON_NAME, 1, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_hostname_checks_common_name") "host names are compared with subject alternative names only (RFC "
                                                   "9525)"},
        {COMMON_NAME, 2, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_hostname_checks_common_name") "on must be 0 or 1; it is 2"},
        {POST_HANDSHAKE, 1, NOTHING, 0, NETLIB_UNSUPPORTED,
         SETTER("set_post_handshake_auth") "a client certificate is sent only during the handshake"},
        {POST_HANDSHAKE, 2, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("set_post_handshake_auth") "on must be 0 or 1; it is 2"},
        {ALPN, 0, NOTHING, 0, NETLIB_INVALID_ARGUMENT,
         SETTER("add_alpn_protocol") "protocol must have 1 to 255 bytes; it has 0"},
        {KEYLOG, 0, NOTHING, 0, NETLIB_IO,
         SETTER("set_keylog_file") "cannot open key log /nonexistent/keys: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = bare_options();
        set(options, rows[i].first, rows[i].value);
        set(options, rows[i].second, rows[i].other);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        CHECK(context == NULL);
        netlib_tls_options_free(options);
    }
}

static void getters_return_the_tls_option_values_that_were_set(void) {
    static const struct {
        enum what first;
        int64_t value;
        enum what second;
        int64_t other;
        int32_t oldest, newest;
        int64_t governed; /* the bits that the getter returns besides ALWAYS */
    } rows[] = {
        {MINIMUM, NETLIB_TLS_VERSION_1_3, NOTHING, 0, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3, USUAL},
        {MINIMUM, NETLIB_TLS_VERSION_MINIMUM_SUPPORTED, MAXIMUM, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2,
         NETLIB_TLS_VERSION_1_2, USUAL},
        {MINIMUM, NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED, NOTHING, 0, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3,
         USUAL},
        /* The minimum versions SSL 3.0, TLS 1.0 and TLS 1.1 are raised to TLS 1.2. */
        {MINIMUM, 0x0300, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
        {MINIMUM, 0x0301, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
        {MINIMUM, 0x0302, MAXIMUM, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2, USUAL},
        {MINIMUM, NETLIB_TLS_VERSION_1_3, MINIMUM, 0x0302, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
        {EXACT, NETLIB_SSL_VERSION_TLSv1_2, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2, USUAL},
        {EXACT, NETLIB_SSL_VERSION_TLS, MINIMUM, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3,
         USUAL},
        {EXACT, NETLIB_SSL_VERSION_TLS_CLIENT, MAXIMUM, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2,
         NETLIB_TLS_VERSION_1_2, USUAL},
        {EXACT, NETLIB_SSL_VERSION_TLS_SERVER, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
        {EXACT, NETLIB_SSL_VERSION_TLSv1_2, EXACT, NETLIB_SSL_VERSION_TLS, NETLIB_TLS_VERSION_1_2,
         NETLIB_TLS_VERSION_1_3, USUAL},
        {BITS, 0, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, 0},
        {BITS, NETLIB_OP_NO_TLSv1_2, NOTHING, 0, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3, NETLIB_OP_NO_TLSv1_2},
        {BITS, NETLIB_OP_NO_TLSv1_3, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2, NETLIB_OP_NO_TLSv1_3},
        {BITS, NETLIB_OP_NO_TICKET, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, NETLIB_OP_NO_TICKET},
        {BITS, NETLIB_OP_CIPHER_SERVER_PREFERENCE, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3,
         NETLIB_OP_CIPHER_SERVER_PREFERENCE},
        /* The option bits that urllib3 sets, the values that urllib3 itself defines for NO_SSLv2 and NO_SSLv3, and all
         * bits that are always set. */
        {BITS, NETLIB_OP_NO_SSLv2 | NETLIB_OP_NO_SSLv3 | NETLIB_OP_NO_COMPRESSION | NETLIB_OP_NO_TICKET, NOTHING, 0,
         NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, NETLIB_OP_NO_TICKET},
        {BITS, 0x1000000, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, 0x1000000},
        {BITS, NETLIB_OP_ALL | NETLIB_OP_SINGLE_DH_USE | NETLIB_OP_SINGLE_ECDH_USE | NETLIB_OP_LEGACY_SERVER_CONNECT,
         NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, NETLIB_OP_ALL | NETLIB_OP_LEGACY_SERVER_CONNECT},
        /* If two setters change the same setting, the last call determines the value. */
        {TICKETS, 1, NOTHING, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, NETLIB_OP_CIPHER_SERVER_PREFERENCE},
        {TICKETS, 1, TICKETS, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
        {TICKETS, 1, BITS, NETLIB_OP_NO_TICKET, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, NETLIB_OP_NO_TICKET},
        {BITS, NETLIB_OP_NO_TICKET, TICKETS, 1, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, 0},
        {BITS, 0, TICKETS, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, NETLIB_OP_NO_TICKET},
        {NPN, 0, COMMON_NAME, 0, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
        {POST_HANDSHAKE, 0, RESUMPTION, 1, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3, USUAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = bare_options();
        set(options, rows[i].first, rows[i].value);
        set(options, rows[i].second, rows[i].other);
        netlib_tls_context *context = context_of(options);
        CHECK_INT(rows[i].oldest, netlib_tls_context_minimum_version(context));
        CHECK_INT(rows[i].newest, netlib_tls_context_maximum_version(context));
        CHECK_INT(ALWAYS | rows[i].governed, netlib_tls_context_option_bits(context));
        netlib_tls_context_free(context);
    }
    /* Setting a bit that is always set succeeds. */
    for (int64_t bit = 1; bit != 0 && bit <= ALWAYS; bit <<= 1) {
        if ((ALWAYS & bit) == 0) continue;
        netlib_tls_options *options = bare_options();
        netlib_tls_options_set_option_bits(options, bit);
        netlib_tls_context *context = context_of(options);
        CHECK_INT(ALWAYS, netlib_tls_context_option_bits(context));
        netlib_tls_context_free(context);
    }
    netlib_tls_options *options = bare_options();
    netlib_tls_options_set_resumption(options, 0);
    netlib_tls_options_add_alpn_protocol(options, "h2");
    netlib_tls_options_add_alpn_protocol(options, "http/1.1");
    netlib_tls_context *context = context_of(options);
    size_t len = 0;
    CHECK(!netlib_tls_context_resumption(context));
    CHECK_INT(2, (long long)netlib_tls_context_alpn_protocol_count(context));
    CHECK_STR("h2", netlib_tls_context_alpn_protocol(context, 0, NULL));
    CHECK_STR("http/1.1", netlib_tls_context_alpn_protocol(context, 1, &len));
    CHECK_INT(8, (long long)len);
    CHECK_STR(NULL, netlib_tls_context_alpn_protocol(context, 2, &len));
    CHECK_INT(0, (long long)len);
    netlib_tls_context_free(context);
}

static size_t two_bytes(const unsigned char *at) { return (size_t)at[0] << 8 | at[1]; }

/* Returns true if the ClientHello has an extension (RFC 8446 section 4.1.2). */
static bool hello_has(netlib_tls_options *options, size_t extension) {
    netlib_error *err = NULL;
    netlib_tls_context *context = context_of(options);
    struct pair pair = unix_pair();
    netlib_stream *stream = wrap(context, pair.near, "localhost");
    unsigned char hello[16384];
    CHECK_OK(netlib_stream_set_blocking(stream, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(stream, &err));
    ssize_t size = recv(pair.far, hello, sizeof hello, 0);
    size_t at = 5 + 4 + 2 + 32; /* record, message, version, random */
    bool found = false;
    CHECK(size > 100);
    at += 1u + hello[at];            /* session id */
    at += 2 + two_bytes(hello + at); /* suites */
    at += 1u + hello[at];            /* compression */
    size_t end = at + 2 + two_bytes(hello + at);
    CHECK_INT((long long)size, (long long)end);
    for (at += 2; at + 4 <= end; at += 4 + two_bytes(hello + at + 2)) found |= two_bytes(hello + at) == extension;
    netlib_stream_free(stream);
    netlib_tls_context_free(context);
    close_pair(pair);
    return found;
}

static void the_session_ticket_extension_is_sent_only_with_tickets_and_resumption(void) {
    enum { SESSION_TICKET = 35, SUPPORTED_VERSIONS = 43, POST_HANDSHAKE_AUTH = 49, NEXT_PROTOCOL = 13172 };
    netlib_tls_options *options = bare_options();
    CHECK(hello_has(options, SUPPORTED_VERSIONS));
    CHECK(!hello_has(bare_options(), SESSION_TICKET));
    CHECK(!hello_has(bare_options(), POST_HANDSHAKE_AUTH));
    CHECK(!hello_has(bare_options(), NEXT_PROTOCOL));
    options = bare_options();
    netlib_tls_options_set_option_bits(options, 0);
    CHECK(hello_has(options, SESSION_TICKET));
    options = bare_options();
    netlib_tls_options_set_session_tickets(options, 1);
    CHECK(hello_has(options, SESSION_TICKET));
    options = bare_options();
    netlib_tls_options_set_session_tickets(options, 1);
    netlib_tls_options_set_resumption(options, 0);
    CHECK(!hello_has(options, SESSION_TICKET));
}

static void a_context_made_from_the_options_of_another_has_the_same_settings(void) {
    netlib_error *err = NULL;
    CHECK(netlib_tls_context_to_options(NULL) == NULL);
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_3);
    netlib_tls_options_set_option_bits(options, NETLIB_OP_NO_TICKET);
    netlib_tls_options_set_ciphers(options, "TLS_AES_128_GCM_SHA256:NOPE");
    netlib_tls_options_add_alpn_protocol(options, "h2");
    netlib_tls_options_set_check_hostname(options, 0);
    netlib_tls_options_set_resumption(options, 0);
    netlib_tls_context *context = NULL;
    CHECK_OK(netlib_tls_context_new(options, &context, &err));
    /* Later setter calls change the options, but not the context. */
    netlib_tls_options_add_alpn_protocol(options, "late");
    netlib_tls_options_free(options);

    for (int round = 0; round < 2; round++) {
        options = netlib_tls_context_to_options(context);
        netlib_tls_context *same = context_of(options);
        CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_tls_context_minimum_version(same));
        CHECK_INT(ALWAYS | NETLIB_OP_NO_TICKET, netlib_tls_context_option_bits(same));
        CHECK_INT(1, (long long)netlib_tls_context_cipher_suite_count(same));
        CHECK_STR("NOPE", netlib_tls_context_unknown_ciphers(same, NULL));
        CHECK_INT(1, (long long)netlib_tls_context_alpn_protocol_count(same));
        CHECK_STR("h2", netlib_tls_context_alpn_protocol(same, 0, NULL));
        CHECK_INT(NETLIB_TRUST_CUSTOM, netlib_tls_context_trust_kinds(same));
        CHECK_INT(1, (long long)netlib_tls_context_trust_anchor_count(same));
        CHECK(!netlib_tls_context_check_hostname(same));
        CHECK(!netlib_tls_context_resumption(same));
        netlib_tls_context_free(same);

        /* Changing the options that were created from a context does not change the context. */
        options = netlib_tls_context_to_options(context);
        netlib_tls_options_set_ciphers(options, NULL);
        netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_2);
        netlib_tls_options_add_alpn_protocol(options, "http/1.1");
        netlib_tls_context *other = context_of(options);
        CHECK_INT(NETLIB_TLS_VERSION_1_2, netlib_tls_context_minimum_version(other));
        CHECK_INT(9, (long long)netlib_tls_context_cipher_suite_count(other));
        CHECK_INT(2, (long long)netlib_tls_context_alpn_protocol_count(other));
        netlib_tls_context_free(other);
    }
    netlib_tls_context_free(context);

    /* netlib reads the files again when another context is created from the options. */
    char path[] = "/tmp/netlib-ca-XXXXXX";
    int fd = mkstemp(path);
    FILE *from = fopen(CERTS "ca.pem", "r");
    char pem[8192];
    size_t len = from != NULL ? fread(pem, 1, sizeof pem, from) : 0;
    CHECK(fd >= 0 && len > 0 && write(fd, pem, len) == (ssize_t)len);
    if (from != NULL) fclose(from);
    close(fd);
    options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, path);
    context = context_of(options);
    unlink(path);
    options = netlib_tls_context_to_options(context);
    netlib_tls_context *again = NULL;
    netlib_status status = netlib_tls_context_new(options, &again, &err);
    CHECK_INT(ENOENT, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    netlib_tls_options_free(options);
    netlib_tls_context_free(context);
}

int main(void) {
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    unsetenv("SSLKEYLOGFILE");
    a_new_tls_context_allows_tls_1_2_and_1_3_and_resumption();
    invalid_tls_option_values_are_refused_with_a_message();
    getters_return_the_tls_option_values_that_were_set();
    the_session_ticket_extension_is_sent_only_with_tickets_and_resumption();
    a_context_made_from_the_options_of_another_has_the_same_settings();
    return report("tls_options");
}
