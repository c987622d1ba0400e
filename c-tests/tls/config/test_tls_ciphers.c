/* Tests cipher strings: the suites that OpenSSL selects, the suites in the ClientHello, and errors. */
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#ifndef VECTORS
#define VECTORS "tests/vectors/openssl-3.0/ciphers.txt"
#endif

/* Returns options of a client that has no trust anchors and does not verify certificates, so that creating the context
 * reads no file. */
static netlib_tls_options *bare_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return options;
}

/* Decodes in place a text that tests/vectors/common.py has encoded. */
static void decode(char *text) {
    char *to = text;
    for (char *from = text; *from != '\0'; from++) {
        if (*from != '\\') {
            *to++ = *from;
        } else if (from[1] == 'x') {
            char digits[3] = {from[2], from[3], '\0'};
            *to++ = (char)strtol(digits, NULL, 16);
            from += 3;
        } else {
            if (from[1] == 's') *to++ = ' ';
            from++;
        }
    }
    *to = '\0';
}

/* Returns the cipher suites of a context as OpenSSL names, separated by spaces. */
static const char *offered(const netlib_tls_context *context) {
    return join_names(context, netlib_tls_context_cipher_suite_count, netlib_tls_context_cipher_suite_openssl_name);
}

static void cipher_strings_select_the_suites_that_openssl_selects(void) {
    static char line[20000], string[20000];
    FILE *file = fopen(VECTORS, "r");
    CHECK(file != NULL);
    unsigned long strings = 0, different = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '>') {
            memcpy(string, line + 2, strlen(line + 2) + 1);
            decode(string);
        }
        /* For netlib and urllib3, an empty cipher string means the default. OpenSSL refuses an empty string. */
        if (line[0] != '<' || string[0] == '\0') continue;
        const char *expected = line + 2;
        netlib_tls_options *options = bare_options();
        netlib_tls_context *context = NULL;
        netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
        netlib_tls_options_set_ciphers(options, string);
        netlib_status status = netlib_tls_context_new(options, &context, NULL);
        const char *got = status == NETLIB_OK                 ? offered(context)
                          : status == NETLIB_NO_CIPHER_SUITES ? "none"
                          : status == NETLIB_INVALID_ARGUMENT ? "invalid"
                                                              : netlib_status_name(status);
        strings++;
        if (strcmp(expected, got) != 0) {
            different++;
            fprintf(stderr, "\"%s\": OpenSSL selects %s, netlib %s\n", string, expected, got);
        }
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
    if (file != NULL) fclose(file);
    CHECK(strings > 2000);
    CHECK_INT(0, (long long)different);
}

#define ALL13 "TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 TLS_AES_128_GCM_SHA256"
#define RSA128 "ECDHE-RSA-AES128-GCM-SHA256"
#define EXISTING \
    "ECDHE-ECDSA-AES256-GCM-SHA384, ECDHE-RSA-AES256-GCM-SHA384, ECDHE-ECDSA-CHACHA20-POLY1305, " \
    "ECDHE-RSA-CHACHA20-POLY1305, ECDHE-ECDSA-AES128-GCM-SHA256, ECDHE-RSA-AES128-GCM-SHA256, " \
    "TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, TLS_AES_128_GCM_SHA256"
#define SETTER "netlib_tls_options_set_ciphers: "

/* By default, the cipher suite that is fastest on this processor is first. A unit test covers the orders with and
 * without AES instructions. */
static void the_default_cipher_order_depends_on_the_processor(void) {
    static const char with_aes[] =
        "TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 "
        "ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-GCM-SHA256 ECDHE-ECDSA-AES256-GCM-SHA384 "
        "ECDHE-RSA-AES256-GCM-SHA384 ECDHE-ECDSA-CHACHA20-POLY1305 ECDHE-RSA-CHACHA20-POLY1305";
    static const char without[] =
        "TLS_CHACHA20_POLY1305_SHA256 TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 "
        "ECDHE-ECDSA-CHACHA20-POLY1305 ECDHE-RSA-CHACHA20-POLY1305 ECDHE-ECDSA-AES128-GCM-SHA256 "
        "ECDHE-RSA-AES128-GCM-SHA256 ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-GCM-SHA384";
    netlib_tls_context *context = context_of(bare_options());
    const char *expected = strcmp(offered(context), without) == 0 ? without : with_aes;
#if defined __x86_64__ || defined __i386__
    expected = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") ? with_aes : without;
#endif
    CHECK_STR(expected, offered(context));
    netlib_tls_context_free(context);
    /* The cipher string "DEFAULT" selects the order of OpenSSL. */
    netlib_tls_options *options = bare_options();
    netlib_tls_options_set_ciphers(options, "DEFAULT");
    context = context_of(options);
    CHECK_STR(ALL13 " ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-GCM-SHA384 ECDHE-ECDSA-CHACHA20-POLY1305 "
                    "ECDHE-RSA-CHACHA20-POLY1305 ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-GCM-SHA256",
              offered(context));
    netlib_tls_context_free(context);
}

static void tls_versions_and_cipher_strings_restrict_each_other(void) {
    static const struct {
        const char *string;
        int32_t minimum, maximum; /* 0: not set */
        netlib_status status;
        const char *offers; /* the offered suites, or the message */
        int32_t oldest, newest;
    } rows[] = {
        {RSA128, 0, 0, NETLIB_OK, ALL13 " " RSA128, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3},
        {RSA128, 0, NETLIB_TLS_VERSION_1_2, NETLIB_OK, RSA128, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2},
        {RSA128, NETLIB_TLS_VERSION_1_3, 0, NETLIB_OK, ALL13, NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3},
        {"TLS_AES_128_GCM_SHA256", 0, 0, NETLIB_OK, "TLS_AES_128_GCM_SHA256", NETLIB_TLS_VERSION_1_3,
         NETLIB_TLS_VERSION_1_3},
        {"TLS_AES_128_GCM_SHA256:" RSA128, 0, 0, NETLIB_OK, "TLS_AES_128_GCM_SHA256 " RSA128, NETLIB_TLS_VERSION_1_2,
         NETLIB_TLS_VERSION_1_3},
        {"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:" RSA128, NETLIB_TLS_VERSION_1_3, 0, NETLIB_OK,
         "TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384", NETLIB_TLS_VERSION_1_3, NETLIB_TLS_VERSION_1_3},
        {RSA128 ":!TLS_AES_128_GCM_SHA256:!TLS_AES_256_GCM_SHA384:!TLS_CHACHA20_POLY1305_SHA256", 0, 0, NETLIB_OK,
         RSA128, NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_2},
        {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0, NETLIB_TLS_VERSION_1_2, NETLIB_OK, RSA128, NETLIB_TLS_VERSION_1_2,
         NETLIB_TLS_VERSION_1_2},
        {"TLS_AES_128_GCM_SHA256", 0, NETLIB_TLS_VERSION_1_2, NETLIB_NO_CIPHER_SUITES,
         SETTER "ciphers selects none of TLS 1.2, and no other version is allowed", 0, 0},
        {RSA128 ":!TLS_AES_128_GCM_SHA256:!TLS_AES_256_GCM_SHA384:!TLS_CHACHA20_POLY1305_SHA256",
         NETLIB_TLS_VERSION_1_3, 0, NETLIB_NO_CIPHER_SUITES,
         SETTER "ciphers selects none of TLS 1.3, and no other version is allowed", 0, 0},
        {"AES128-SHA", 0, 0, NETLIB_NO_CIPHER_SUITES,
         SETTER "ciphers selects none of " EXISTING "; unknown: AES128-SHA", 0, 0},
        {"kRSA:RC4", 0, 0, NETLIB_NO_CIPHER_SUITES, SETTER "ciphers selects none of " EXISTING, 0, 0},
        {"HIGH:$", 0, 0, NETLIB_INVALID_ARGUMENT,
         SETTER "ciphers has \"$\" at byte 5, where a cipher suite or keyword is expected", 0, 0},
        {"HIGH@SECLEVEL=4", 0, 0, NETLIB_UNSUPPORTED,
         SETTER "ciphers has @SECLEVEL=4 at byte 4, but the minimum key sizes are always those of level 2", 0, 0},
        {"SUITEB192", 0, 0, NETLIB_UNSUPPORTED,
         SETTER "ciphers selects Suite B, which also restricts curves and signatures: list the cipher suites instead",
         0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = bare_options();
        netlib_tls_options_set_ciphers(options, rows[i].string);
        if (rows[i].minimum != 0) netlib_tls_options_set_minimum_version(options, rows[i].minimum);
        if (rows[i].maximum != 0) netlib_tls_options_set_maximum_version(options, rows[i].maximum);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        if (rows[i].status == NETLIB_OK) {
            CHECK_STR(rows[i].offers, offered(context));
            CHECK_INT(rows[i].oldest, netlib_tls_context_minimum_version(context));
            CHECK_INT(rows[i].newest, netlib_tls_context_maximum_version(context));
        } else {
            CHECK_STR(rows[i].offers, netlib_error_message(err, NULL));
        }
        CHECK_STATUS(rows[i].status, status);
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
}

static void cipher_strings_up_to_16384_bytes_may_be_empty_or_have_unknown_names(void) {
    netlib_error *err = NULL;
    static const char *const usual[] = {NULL, "", "DEFAULT"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        netlib_tls_options *options = bare_options();
        netlib_tls_options_set_ciphers(options, RSA128);
        netlib_tls_options_set_ciphers(options, usual[i]); /* the later call wins */
        netlib_tls_context *context = context_of(options);
        CHECK_INT(9, (long long)netlib_tls_context_cipher_suite_count(context));
        CHECK_STR(NULL, netlib_tls_context_unknown_ciphers(context, NULL));
        size_t len = 7;
        CHECK_STR(NULL, netlib_tls_context_cipher_suite(context, 9, &len));
        CHECK_INT(0, (long long)len);
        CHECK_STR(NULL, netlib_tls_context_cipher_suite_openssl_name(context, SIZE_MAX, NULL));
        netlib_tls_context_free(context);
    }
    netlib_tls_options *options = bare_options();
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    netlib_tls_options_set_ciphers(options, "ECHDE+AESGCM:" RSA128 ":!3DES:DES-CBC3-SHA");
    netlib_tls_context *context = context_of(options);
    size_t len = 0;
    CHECK_STR("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", netlib_tls_context_cipher_suite(context, 0, &len));
    CHECK_INT(37, (long long)len);
    CHECK_STR("ECHDE:DES-CBC3-SHA", netlib_tls_context_unknown_ciphers(context, &len));
    CHECK_INT(18, (long long)len);
    netlib_tls_context_free(context);

    /* Parsing takes time and memory proportional to the length of the cipher string, which is limited. */
    static char longest[16 * 1024 + 2];
    memset(longest, '+', sizeof longest - 1);
    for (size_t i = 0; i < sizeof longest - 1; i += 2) longest[i] = 'x';
    memcpy(longest, "HIGH:", 5);
    netlib_tls_context *made = NULL;
    options = bare_options();
    netlib_tls_options_set_ciphers(options, longest);
    netlib_status status = netlib_tls_context_new(options, &made, &err);
    CHECK_STR(SETTER "ciphers must have at most 16384 bytes; it has 16385", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_options_free(options);
    longest[sizeof longest - 2] = '\0';
    options = bare_options();
    netlib_tls_options_set_ciphers(options, longest);
    netlib_tls_context_free(context_of(options));
}

/* A handshake uses a suite that the cipher strings of both sides select, and fails if there is none. */
static void handshakes_use_a_suite_that_both_sides_allow(void) {
    static const struct {
        const char *client, *server;
        int32_t prefers_server; /* the server's NETLIB_OP_CIPHER_SERVER_PREFERENCE */
        const char *suite;      /* NULL: the two sides have no suite in common */
    } rows[] = {
        {"TLS_CHACHA20_POLY1305_SHA256", NULL, 1, "TLS_CHACHA20_POLY1305_SHA256"},
        {"ECDHE-ECDSA-CHACHA20-POLY1305:!TLS_AES_256_GCM_SHA384:!TLS_AES_128_GCM_SHA256:!TLS_CHACHA20_POLY1305_SHA256",
         NULL, 1, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
        {"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256", 1,
         "TLS_AES_256_GCM_SHA384"},
        {"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256", 0,
         "TLS_AES_128_GCM_SHA256"},
        {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", 1, NULL},
        {"aRSA:!TLS_AES_256_GCM_SHA384:!TLS_AES_128_GCM_SHA256:!TLS_CHACHA20_POLY1305_SHA256", NULL, 1, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_ciphers(options, rows[i].server);
        netlib_tls_options_set_option_bits(options, rows[i].prefers_server ? NETLIB_OP_CIPHER_SERVER_PREFERENCE : 0);
        netlib_tls_context *server_side = context_of(options);
        options = client_options();
        netlib_tls_options_set_ciphers(options, rows[i].client);
        netlib_tls_context *client_side = context_of(options);
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = server_side, .fd = pair.far};
        server_start(&server);
        netlib_stream *stream = wrap(client_side, pair.near, "localhost");
        netlib_status status = netlib_stream_handshake(stream, &err);
        CHECK((status == NETLIB_OK) == (rows[i].suite != NULL));
        CHECK_STR(rows[i].suite, netlib_stream_cipher_suite(stream, NULL));
        netlib_error_free(err);
        close(pair.near);
        server_join(&server);
        netlib_stream_free(stream);
        netlib_tls_context_free(client_side);
        netlib_tls_context_free(server_side);
    }
}

int main(void) {
    cipher_strings_select_the_suites_that_openssl_selects();
    the_default_cipher_order_depends_on_the_processor();
    tls_versions_and_cipher_strings_restrict_each_other();
    cipher_strings_up_to_16384_bytes_may_be_empty_or_have_unknown_names();
    handshakes_use_a_suite_that_both_sides_allow();
    return report("tls_ciphers");
}
