/* Tests netlib_assert_fingerprint with the peer certificate of each kind of session: verified or not, TLS 1.2 or 1.3,
 * full or resumed, on a socket or inside another stream. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_peer.h"

enum { MOST = 2 };

/* Stores in `hex` the SHA-256 fingerprint of the first certificate of a file. */
static void fingerprint_of(const char *file, char hex[65]) {
    static char bytes[8000];
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    FILE *stream = fopen(file, "rb");
    CHECK(stream != NULL);
    size_t len = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    CHECK_OK(netlib_certificate_parse(bytes, len, &certificate, &err));
    snprintf(hex, 65, "%s", netlib_certificate_fingerprint(certificate, NULL));
    netlib_certificate_free(certificate);
}

static netlib_tls_context *client_with(int32_t mode, int32_t version) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_check_hostname(options, mode != NETLIB_CERT_NONE);
    netlib_tls_options_set_verify_mode(options, mode);
    netlib_tls_options_set_maximum_version(options, version);
    return context_of(options);
}

/* Does the handshake, and lets the client read a byte. The tickets arrive together with this byte. */
static void begin_session(netlib_stream *near, netlib_stream *far) {
    netlib_error *err = NULL;
    netlib_status one = NETLIB_WANT_READ, other = NETLIB_WANT_READ;
    size_t n = 0;
    char byte = 0;
    netlib_stream_set_blocking(near, 0, NULL);
    netlib_stream_set_blocking(far, 0, NULL);
    for (int turn = 0; turn < 100 && (one != NETLIB_OK || other != NETLIB_OK); turn++) {
        one = netlib_stream_handshake(near, &err);
        CHECK(one == NETLIB_OK || one == NETLIB_WANT_READ);
        other = netlib_stream_handshake(far, &err);
        CHECK(other == NETLIB_OK || other == NETLIB_WANT_READ);
    }
    CHECK_OK(netlib_stream_write(far, "x", 1, &n, &err));
    CHECK_OK(netlib_stream_read(near, &byte, 1, &n, &err));
    CHECK_INT('x', byte);
}

/* In curl, one way to create a session did not check pins. The rows differ in the verification, in the TLS version, and
 * in whether the session runs inside another stream. */
static void fingerprints_can_be_checked_in_full_resumed_and_nested_sessions(void) {
    netlib_error *err = NULL;
    char right[65], wrong[65];
    fingerprint_of(CERTS "server.pem", right);
    fingerprint_of(CERTS "wrong-name.pem", wrong);
    netlib_tls_context *server = server_context("server");
    for (int row = 0; row < 8; row++) {
        int32_t mode = row & 1 ? NETLIB_CERT_NONE : NETLIB_CERT_REQUIRED;
        int32_t version = row & 2 ? NETLIB_TLS_VERSION_1_2 : NETLIB_TLS_VERSION_1_3;
        size_t depth = row & 4 ? 2 : 1;
        netlib_tls_context *client = client_with(mode, version);
        for (int round = 0; round < 2; round++) {
            struct pair pair = unix_pair();
            netlib_stream *near[MOST] = {wrap(client, pair.near, "localhost"), NULL};
            netlib_stream *far[MOST] = {accept_tls(server, pair.far), NULL};
            for (size_t layer = 0; layer < depth; layer++) {
                if (layer > 0) {
                    CHECK_OK(netlib_tls_wrap_stream(client, near[0], "localhost", &near[1], &err));
                    CHECK_OK(netlib_tls_accept_stream(server, far[0], &far[1], &err));
                }
                begin_session(near[layer], far[layer]);
                /* Even the first inner session is resumed, because it uses the context and server name for which the
                 * outer session has stored tickets. */
                CHECK(netlib_stream_is_resumed(near[layer]) == (round > 0 || layer > 0));
                size_t len = 0;
                const uint8_t *leaf = netlib_stream_peer_certificate(near[layer], 0, &len);
                CHECK_OK(netlib_assert_fingerprint(leaf, len, right, &err));
                CHECK_STATUS(NETLIB_FINGERPRINT_MISMATCH, netlib_assert_fingerprint(leaf, len, wrong, &err));
                /* A peer without a certificate matches no fingerprint. */
                leaf = netlib_stream_peer_certificate(far[layer], 0, &len);
                CHECK_STATUS(NETLIB_FINGERPRINT_MISMATCH, netlib_assert_fingerprint(leaf, len, right, &err));
            }
            for (size_t layer = 0; layer < depth; layer++) {
                netlib_stream_free(near[layer]);
                netlib_stream_free(far[layer]);
            }
            close_pair(pair);
        }
        netlib_tls_context_free(client);
    }
    netlib_error_free(err);
    netlib_tls_context_free(server);
}

int main(void) {
    fingerprints_can_be_checked_in_full_resumed_and_nested_sessions();
    return report("tls pins");
}
