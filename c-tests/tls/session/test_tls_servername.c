/* Tests the server-name callback: its arguments, its results, and sessions with the context that the callback
 * selects. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_wire.h"

/* The ctx of the callback: the result that the callback returns, and the arguments that it got. */
struct chooser {
    int32_t answer;
    const netlib_tls_context *replacement; /* NULL: none */
    netlib_stream *stream;                 /* the stream on which the callback calls a getter; NULL: none */
    unsigned calls;
    char name[300]; /* "-": no name */
    pthread_t thread;
};

static void choose(void *ctx, const char *server_name, netlib_tls_context **replacement, enum netlib_verdict *verdict) {
    struct chooser *chooser = ctx;
    chooser->calls++;
    chooser->thread = pthread_self();
    snprintf(chooser->name, sizeof chooser->name, "%s", server_name != NULL ? server_name : "-");
    CHECK(*replacement == NULL);
    *replacement = netlib_tls_context_clone(chooser->replacement);
    if (chooser->stream != NULL) {
        /* The next calls wait forever if netlib holds the stream's lock. */
        CHECK_INT(0, netlib_stream_tls_version(chooser->stream));
        CHECK_INT(NETLIB_OK, netlib_stream_set_read_timeout(chooser->stream, LONG, NULL));
    }
    *verdict = chooser->answer;
}

static netlib_tls_options *options_with_callback(struct chooser *chooser) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_servername_callback(options, choose, chooser, NULL);
    return options;
}

/* Returns a client context that accepts any certificate, so that the test can check which certificate the server
 * sent. */
static netlib_tls_context *lax_client(int32_t version, const char *protocol) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_minimum_version(options, version);
    netlib_tls_options_set_maximum_version(options, version);
    if (protocol != NULL) netlib_tls_options_add_alpn_protocol(options, protocol);
    return context_of(options);
}

static netlib_tls_context *other_server(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "wrong-name.pem", CERTS "wrong-name.key");
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_add_alpn_protocol(options, "h2");
    return context_of(options);
}

/* Returns true if the server sent the certificate NAME.pem of tests/certs. */
static bool has_sent_certificate(const netlib_tls_engine *client, const char *file) {
    char path[256];
    size_t len = 0;
    snprintf(path, sizeof path, CERTS "%s", file);
    netlib_tls_context *plain = server_context(file);
    netlib_tls_context *lax = lax_client(NETLIB_TLS_VERSION_1_3, NULL);
    struct wire wire = wire_of(lax, plain, 20000);
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
    size_t expected_len = 0;
    const uint8_t *expected = netlib_tls_engine_peer_certificate(wire.client, 0, &expected_len);
    const uint8_t *actual = netlib_tls_engine_peer_certificate(client, 0, &len);
    bool same = actual != NULL && len == expected_len && memcmp(actual, expected, len) == 0;
    free_wire(&wire);
    netlib_tls_context_free(plain);
    netlib_tls_context_free(lax);
    return same;
}

static void the_server_name_callback_can_select_a_context_or_refuse_the_session(void) {
    enum replacement { NONE, OTHER, OF_A_CLIENT };
    static const struct {
        const char *server_name, *reported_name;
        int32_t answer;
        enum replacement replacement;
        netlib_status client, server;
        int32_t alert;
        const char *certificate, *message;
    } rows[] = {
        {"localhost", "localhost", NETLIB_VERDICT_ALLOW, NONE, NETLIB_OK, NETLIB_OK, -1, "server", ""},
        {"localhost", "localhost", NETLIB_VERDICT_ALLOW, OTHER, NETLIB_OK, NETLIB_OK, -1, "wrong-name", ""},
        {"B\xc3\xbc"
         "cher.Test.",
         "xn--bcher-kva.test", NETLIB_VERDICT_ALLOW, OTHER, NETLIB_OK, NETLIB_OK, -1, "wrong-name", ""},
        {"127.0.0.1", "-", NETLIB_VERDICT_ALLOW, OTHER, NETLIB_OK, NETLIB_OK, -1, "wrong-name", ""},
        {"localhost", "localhost", NETLIB_VERDICT_REFUSE, NONE, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 112, NULL,
         "alert 112 (unrecognized_name)"},
        {"127.0.0.1", "-", NETLIB_VERDICT_REFUSE, NONE, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 112, NULL,
         "the client (no server name)"},
        /* netlib becomes the owner of the reference to the selected context even if the callback refuses the
         * session. */
        {"localhost", "localhost", NETLIB_VERDICT_REFUSE, OTHER, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 112, NULL,
         "\"localhost\""},
        /* A callback of a language binding stores nothing after an exception. */
        {"localhost", "localhost", 0, NONE, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 80, NULL,
         "failed: it stored no decision"},
        {"localhost", "localhost", 0, OTHER, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 80, NULL,
         "failed: it stored no decision"},
        {"localhost", "localhost", 3, OTHER, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 80, NULL, "stored 3"},
        {"localhost", "localhost", 112, OTHER, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 80, NULL, "stored 112"},
        {"localhost", "localhost", -1, NONE, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 80, NULL, "stored -1"},
        {"localhost", "localhost", NETLIB_VERDICT_ALLOW, OF_A_CLIENT, NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, 80,
         NULL, "cannot be used for servers"},
    };
    netlib_tls_context *other = other_server();
    netlib_tls_context *of_a_client = client_context();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
            static const size_t pieces[] = {1, 20000};
            for (size_t j = 0; j < 2; j++) {
                struct chooser chooser = {.answer = rows[i].answer};
                if (rows[i].replacement != NONE)
                    chooser.replacement = rows[i].replacement == OTHER ? other : of_a_client;
                netlib_tls_context *server = context_of(options_with_callback(&chooser));
                netlib_tls_context *client = lax_client(version, NULL);
                struct wire wire = {client_engine(client, rows[i].server_name), server_engine(server), pieces[j], 0, 0};
                /* The session keeps its contexts alive. */
                netlib_tls_context_free(server);
                netlib_tls_context_free(client);
                struct handshake_result result = run_handshake(&wire);
                CHECK_HANDSHAKE(rows[i].client, rows[i].server, result);
                CHECK_INT(1, chooser.calls);
                CHECK_STR(rows[i].reported_name, chooser.name);
                CHECK(pthread_equal(pthread_self(), chooser.thread));
                CHECK_INT(rows[i].alert, result.client_alert);
                CHECK_INT(rows[i].alert, result.server_alert);
                CHECK(strstr(result.message[1], rows[i].message) != NULL);
                if (strstr(result.message[1], rows[i].message) == NULL)
                    fprintf(stderr, "    row %zu: %s\n", i, result.message[1]);
                if (rows[i].certificate != NULL) {
                    char got[20];
                    CHECK(has_sent_certificate(wire.client, rows[i].certificate));
                    const char *reported_name = netlib_tls_engine_server_name(wire.server, NULL);
                    CHECK_STR(rows[i].reported_name, reported_name != NULL ? reported_name : "-");
                    CHECK_INT(5, (long long)transfer(&wire, false, "hello", got, sizeof got));
                    CHECK_INT(5, (long long)transfer(&wire, true, "hallo", got, sizeof got));
                }
                free_wire(&wire);
            }
        }
    }
    netlib_tls_context_free(other);
    netlib_tls_context_free(of_a_client);
}

/* Only the selected context determines the versions, the ALPN protocols and the verification of clients. */
static void a_context_selected_by_server_name_sets_versions_alpn_and_verification(void) {
    static const struct {
        int32_t minimum;
        int32_t mode;
        int32_t version;   /* the client's TLS version */
        const char *offer; /* the client's ALPN protocol */
        netlib_status client, server;
        int32_t alert;
    } rows[] = {
        {NETLIB_TLS_VERSION_1_2, NETLIB_CERT_NONE, NETLIB_TLS_VERSION_1_2, "h2", NETLIB_OK, NETLIB_OK, -1},
        {NETLIB_TLS_VERSION_1_2, NETLIB_CERT_NONE, NETLIB_TLS_VERSION_1_3, "h2", NETLIB_OK, NETLIB_OK, -1},
        {NETLIB_TLS_VERSION_1_2, NETLIB_CERT_NONE, NETLIB_TLS_VERSION_1_3, "http/1.1", NETLIB_TLS_ALERT,
         NETLIB_TLS_INCOMPATIBLE, 120},
        {NETLIB_TLS_VERSION_1_3, NETLIB_CERT_NONE, NETLIB_TLS_VERSION_1_2, "h2", NETLIB_TLS_ALERT,
         NETLIB_TLS_INCOMPATIBLE, 70},
        {NETLIB_TLS_VERSION_1_2, NETLIB_CERT_REQUIRED, NETLIB_TLS_VERSION_1_2, "h2", NETLIB_TLS_ALERT,
         NETLIB_CERTIFICATE_VERIFY, 116},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_identity_files(options, CERTS "wrong-name.pem", CERTS "wrong-name.key");
        netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
        netlib_tls_options_set_verify_mode(options, rows[i].mode);
        netlib_tls_options_set_minimum_version(options, rows[i].minimum);
        netlib_tls_options_add_alpn_protocol(options, "h2");
        netlib_tls_context *other = context_of(options);
        struct chooser chooser = {.answer = NETLIB_VERDICT_ALLOW, .replacement = other};
        options = options_with_callback(&chooser);
        /* The original context would refuse each of these clients. */
        netlib_tls_options_add_alpn_protocol(options, "acme-tls/1");
        netlib_tls_context *server = context_of(options);
        netlib_tls_context *client = lax_client(rows[i].version, rows[i].offer);
        struct wire wire = wire_of(client, server, 20000);
        struct handshake_result result = run_handshake(&wire);
        CHECK_HANDSHAKE(rows[i].client, rows[i].server, result);
        CHECK_INT(rows[i].alert, result.client_alert);
        CHECK_INT(1, chooser.calls);
        CHECK_STR(rows[i].client == NETLIB_OK ? "h2" : NULL, netlib_tls_engine_alpn_protocol(wire.client, NULL));
        CHECK_INT(rows[i].client == NETLIB_OK ? rows[i].version : 0, netlib_tls_engine_version(wire.server));
        free_wire(&wire);
        /* netlib does not call the callback of the selected context, which could select other contexts forever. */
        struct chooser second = {.answer = 112};
        netlib_tls_context *with_callback_too = context_of(options_with_callback(&second));
        chooser.replacement = with_callback_too;
        wire = wire_of(client, server, 20000);
        result = run_handshake(&wire);
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, result);
        CHECK_INT(2, chooser.calls);
        CHECK_INT(0, second.calls);
        free_wire(&wire);
        netlib_tls_context_free(with_callback_too);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
        netlib_tls_context_free(other);
    }
}

/* If the first message is not a ClientHello, the server answers like a server without a callback, and does not call the
 * callback. */
static void the_server_name_callback_is_not_called_without_a_client_hello(void) {
    static const struct {
        const char *bytes;
        size_t len;
        netlib_status status;
    } rows[] = {
        {"GET / HTTP/1.1\r\n\r\n", 18, NETLIB_NOT_TLS},
        {"\x16\x09\x09\x00\x05", 5, NETLIB_NOT_TLS},
        {"\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9, NETLIB_TLS_PROTOCOL},                      /* a ServerHello */
        {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10, NETLIB_TLS_PROTOCOL},                 /* a one-byte hello */
        {"\x16\x03\x01\x00\x02\x01\x00\x15\x03\x03\x00\x02\x01\x5a", 14, NETLIB_TLS_PROTOCOL}, /* alert in the hello */
        {"\x15\x03\x03\x00\x02\x02\x28", 7, NETLIB_TLS_ALERT},
        {"\x17\x03\x03\x00\x01x", 6, NETLIB_TLS_PROTOCOL},
        {"\x16\x03\x01\x00\x00", 5, NETLIB_TLS_PROTOCOL},
    };
    netlib_error *err = NULL;
    struct chooser chooser = {.answer = NETLIB_VERDICT_ALLOW};
    netlib_tls_context *with_callback = context_of(options_with_callback(&chooser)), *plain = server_context("server");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t piece = 1; piece <= rows[i].len; piece += rows[i].len - 1) {
            netlib_tls_engine *engines[2] = {server_engine(with_callback), server_engine(plain)};
            char sent[2][100];
            size_t len[2];
            int32_t alert[2];
            for (int j = 0; j < 2; j++) {
                netlib_status status = NETLIB_WANT_READ;
                for (size_t at = 0; at < rows[i].len && status == NETLIB_WANT_READ; at += piece) {
                    size_t n = rows[i].len - at < piece ? rows[i].len - at : piece;
                    CHECK_INT((long long)n, (long long)feed_all(engines[j], rows[i].bytes + at, n));
                    netlib_error_free(err);
                    status = netlib_tls_engine_handshake(engines[j], &err);
                }
                alert[j] = netlib_error_tls_alert(err);
                if (status != rows[i].status) fprintf(stderr, "    row %zu by %zu, engine %d\n", i, piece, j);
                CHECK_STATUS(rows[i].status, status);
                len[j] = drain_all(engines[j], sent[j], sizeof sent[j]);
                netlib_tls_engine_free(engines[j]);
            }
            CHECK_INT(alert[1], alert[0]);
            CHECK(len[0] == len[1] && memcmp(sent[0], sent[1], len[0]) == 0);
        }
    }
    CHECK_INT(0, chooser.calls);
    /* The server ignores a warning alert before the hello, and calls the callback when the hello arrives. */
    netlib_tls_context *client = lax_client(NETLIB_TLS_VERSION_1_3, NULL);
    struct wire wire = wire_of(client, with_callback, 20000);
    chooser.answer = NETLIB_VERDICT_REFUSE;
    CHECK_INT(7, (long long)feed_all(wire.server, "\x15\x03\x03\x00\x02\x01\x5a", 7));
    CHECK_HANDSHAKE(NETLIB_TLS_ALERT, NETLIB_CALLBACK_FAILED, run_handshake(&wire));
    CHECK_INT(1, chooser.calls);
    free_wire(&wire);
    /* If the transport ends in the middle of the hello, the server does not call the callback. */
    for (size_t cut = 0; cut < 300; cut += 3) {
        char hello[4000];
        netlib_tls_engine *from = client_engine(client, "localhost"), *to = server_engine(with_callback);
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(from, &err));
        CHECK(drain_all(from, hello, sizeof hello) > 300);
        CHECK_INT((long long)cut, (long long)feed_all(to, hello, cut));
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(to, &err));
        netlib_tls_engine_feed_eof(to);
        CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_tls_engine_handshake(to, &err));
        netlib_tls_engine_free(from);
        netlib_tls_engine_free(to);
    }
    CHECK_INT(1, chooser.calls);
    /* Sends an endless ClientHello. */
    netlib_tls_engine *engine = server_engine(with_callback);
    netlib_status status = NETLIB_WANT_READ;
    unsigned steps = 0;
    CHECK_INT(9, (long long)feed_all(engine, "\x16\x03\x01\x00\x04\x01\x00\xfd\xe8", 9));
    while (status == NETLIB_WANT_READ && steps++ < 20000) {
        size_t n = 0;
        status = netlib_tls_engine_feed(engine, "\x16\x03\x01\x00\x01x", 6, &n, &err);
        if (status == NETLIB_OK) status = netlib_tls_engine_handshake(engine, &err);
    }
    CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
    CHECK(steps < 13000);
    CHECK_INT(1, chooser.calls);
    netlib_tls_engine_free(engine);
    netlib_tls_context_free(client);
    netlib_tls_context_free(with_callback);
    netlib_tls_context_free(plain);
}

/* For streams on descriptors, the callback runs on the thread that does the handshake, and netlib does not hold the
 * stream's lock. */
static void the_server_name_callback_runs_on_the_handshake_thread(void) {
    netlib_error *err = NULL;
    netlib_tls_context *other = other_server();
    netlib_tls_context *client = lax_client(NETLIB_TLS_VERSION_1_3, "h2");
    static const int32_t answers[] = {NETLIB_VERDICT_ALLOW, NETLIB_VERDICT_REFUSE};
    for (size_t i = 0; i < 2; i++) {
        struct chooser chooser = {.answer = answers[i], .replacement = other};
        netlib_tls_context *server = context_of(options_with_callback(&chooser));
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
        netlib_stream *stream = wrap(client, pair.near, "www.example");
        server_start(&peer);
        netlib_status status = netlib_stream_handshake(stream, &err);
        CHECK_INT(answers[i] == NETLIB_VERDICT_ALLOW ? -1 : 112, netlib_error_tls_alert(err));
        CHECK_STATUS(answers[i] == NETLIB_VERDICT_ALLOW ? NETLIB_OK : NETLIB_TLS_ALERT, status);
        CHECK_STR(answers[i] == NETLIB_VERDICT_ALLOW ? "h2" : NULL, netlib_stream_alpn_protocol(stream, NULL));
        if (status == NETLIB_OK) CHECK_OK(netlib_stream_shutdown(stream, &err));
        server_join(&peer);
        CHECK_INT(answers[i] == NETLIB_VERDICT_ALLOW ? NETLIB_END_OF_STREAM : NETLIB_CALLBACK_FAILED, peer.status);
        CHECK_INT(answers[i] == NETLIB_VERDICT_ALLOW ? -1 : 112, peer.alert);
        CHECK_STR("www.example", chooser.name);
        CHECK_INT(1, chooser.calls);
        CHECK(pthread_equal(chooser.thread, peer.thread));
        netlib_stream_free(stream);
        close(pair.near);
        netlib_tls_context_free(server);
    }
    /* The callback calls functions of the stream that is doing the handshake. */
    struct chooser chooser = {.answer = NETLIB_VERDICT_ALLOW, .replacement = other};
    netlib_tls_context *server = context_of(options_with_callback(&chooser));
    struct pair pair = unix_pair();
    netlib_stream *near = wrap(client, pair.near, "www.example");
    netlib_stream *far = accept_tls(server, pair.far);
    chooser.stream = far;
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(near, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(far, &err));
    CHECK_INT(1, chooser.calls);
    CHECK_OK(netlib_stream_handshake(near, &err));
    CHECK_OK(netlib_stream_handshake(far, &err));
    CHECK_STR("www.example", netlib_stream_server_name(far, NULL));
    CHECK_INT(1, chooser.calls);
    netlib_stream_free(near);
    netlib_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(server);
    netlib_tls_context_free(client);
    netlib_tls_context_free(other);
    /* A server context needs an identity even if it has a server-name callback. */
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_servername_callback(options, choose, NULL, NULL);
    netlib_tls_context *none = context_of(options);
    netlib_tls_engine *engine = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_new_server(none, &engine, &err));
    /* The callback of a client's context is never called. */
    engine = client_engine(none, "localhost");
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(engine, &err));
    netlib_tls_engine_free(engine);
    netlib_tls_context_free(none);
}

int main(void) {
    the_server_name_callback_can_select_a_context_or_refuse_the_session();
    a_context_selected_by_server_name_sets_versions_alpn_and_verification();
    the_server_name_callback_is_not_called_without_a_client_hello();
    the_server_name_callback_runs_on_the_handshake_thread();
    return report("test_tls_servername");
}
