/* Tests the names and the key lengths of negotiated cipher suites, on engines and on streams. The names are those of
 * `openssl ciphers -stdname`. */
#define _GNU_SOURCE
#include "tls_wire.h"

static const struct {
    const char *openssl, *iana;
    int bits;
    const char *server;
} suites[] = {
    {"TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", 256, "server"},
    {"TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", 256, "rsa"},
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", 128, "server"},
    {"ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 256, "server"},
    {"ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 256, "rsa"},
    {"ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 256, "server"},
    {"ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 256, "rsa"},
    {"ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 128, "server"},
    {"ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 128, "rsa"},
};
enum { COUNT = sizeof suites / sizeof suites[0], TLS13_COUNT = 3 };

static netlib_tls_context *client_with_suite(size_t i) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_ciphers(options, suites[i].openssl);
    int32_t version = i < TLS13_COUNT ? NETLIB_TLS_VERSION_1_3 : NETLIB_TLS_VERSION_1_2;
    netlib_tls_options_set_minimum_version(options, version);
    netlib_tls_options_set_maximum_version(options, version);
    return context_of(options);
}

static void engines_return_names_and_key_length_of_the_negotiated_suite(void) {
    for (size_t i = 0; i < COUNT; i++) {
        netlib_tls_context *client = client_with_suite(i), *server = server_context(suites[i].server);
        struct wire wire = wire_of(client, server, 20000);
        netlib_tls_engine *sides[2] = {wire.client, wire.server};
        size_t len = 99;
        for (int j = 0; j < 2; j++) {
            CHECK_STR(NULL, netlib_tls_engine_cipher_suite_openssl_name(sides[j], &len));
            CHECK_INT(0, (long long)len);
            CHECK_INT(0, netlib_tls_engine_cipher_suite_bits(sides[j]));
        }
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
        for (int j = 0; j < 2; j++) {
            CHECK_STR(suites[i].iana, netlib_tls_engine_cipher_suite(sides[j], NULL));
            CHECK_STR(suites[i].openssl, netlib_tls_engine_cipher_suite_openssl_name(sides[j], &len));
            CHECK_INT((long long)strlen(suites[i].openssl), (long long)len);
            CHECK_INT(suites[i].bits, netlib_tls_engine_cipher_suite_bits(sides[j]));
        }
        free_wire(&wire);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
    CHECK_INT(0, netlib_tls_engine_cipher_suite_bits(NULL));
}

static void streams_return_names_and_key_length_of_the_negotiated_suite(void) {
    for (size_t i = 0; i < COUNT; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *client = client_with_suite(i), *server_side = server_context(suites[i].server);
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = server_side, .fd = pair.far};
        server_start(&server);
        netlib_stream *stream = wrap(client, pair.near, "localhost");
        size_t len = 99;
        CHECK_STR(NULL, netlib_stream_cipher_suite_openssl_name(stream, &len));
        CHECK_INT(0, (long long)len);
        CHECK_INT(0, netlib_stream_cipher_suite_bits(stream));
        CHECK_OK(netlib_stream_handshake(stream, &err));
        CHECK_STR(suites[i].iana, netlib_stream_cipher_suite(stream, NULL));
        CHECK_STR(suites[i].openssl, netlib_stream_cipher_suite_openssl_name(stream, &len));
        CHECK_INT((long long)strlen(suites[i].openssl), (long long)len);
        CHECK_INT(suites[i].bits, netlib_stream_cipher_suite_bits(stream));
        close(pair.near);
        server_join(&server);
        netlib_stream_free(stream);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server_side);
    }
    CHECK_INT(0, netlib_stream_cipher_suite_bits(NULL));
}

int main(void) {
    engines_return_names_and_key_length_of_the_negotiated_suite();
    streams_return_names_and_key_length_of_the_negotiated_suite();
    return report("tls suite names");
}
