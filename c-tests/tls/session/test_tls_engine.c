/* Tests TLS engines: sessions over the caller's transport, and peers that try to keep an engine busy forever. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_wire.h"

static netlib_tls_context *client_of(int32_t version) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_minimum_version(options, version);
    netlib_tls_options_set_maximum_version(options, version);
    return context_of(options);
}

static const int32_t versions[] = {NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3};

/* Moves at most 1, 7 or 20,000 bytes per call during the handshake, during data transfer, and at the end of the
 * session. */
static void sessions_transfer_all_data_even_with_one_byte_per_call(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    for (size_t i = 0; i < 2; i++) {
        static const size_t pieces[] = {1, 7, 20000};
        for (size_t j = 0; j < 3; j++) {
            netlib_tls_context *client = client_of(versions[i]); /* a new context, so that nothing is resumed */
            struct wire wire = wire_of(client, server, pieces[j]);
            char text[3000], got[4000];
            size_t n = 0;
            CHECK_INT(0, (long long)netlib_tls_engine_output_pending(wire.client));
            CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
            CHECK_INT(versions[i], netlib_tls_engine_version(wire.client));
            CHECK_INT(versions[i], netlib_tls_engine_version(wire.server));
            memset(text, 'x', sizeof text - 1);
            text[sizeof text - 1] = '\0';
            for (int direction = 0; direction < 2; direction++) {
                CHECK_INT((long long)strlen(text), (long long)transfer(&wire, direction, text, got, sizeof got));
                CHECK(memcmp(text, got, strlen(text)) == 0);
            }
            CHECK_OK(netlib_tls_engine_shutdown(wire.client, &err));
            CHECK_OK(netlib_tls_engine_shutdown(wire.client, &err));
            CHECK_STATUS(NETLIB_CLOSED, netlib_tls_engine_write(wire.client, "x", 1, &n, &err));
            while (move_piece(&wire, wire.client, wire.server) > 0) {}
            CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err));
            CHECK_OK(netlib_tls_engine_shutdown(wire.server, &err));
            while (move_piece(&wire, wire.server, wire.client) > 0) {}
            CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
            CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
            /* The session needs fewer than 8 calls per byte, plus 100 calls. */
            CHECK(wire.steps < 8 * wire.bytes + 100);
            CHECK(wire.bytes > 7000 && wire.bytes < 20000);
            free_wire(&wire);
            netlib_tls_context_free(client);
        }
    }
    netlib_tls_context_free(server);
}

/* The peer sends close_notify during the handshake. In another library, this alert caused an endless loop. In TLS 1.2,
 * and before the version is negotiated, the alert does not end the session: the next call returns WANT_READ, and only
 * the end of the transport ends the session. */
static void close_notify_during_the_handshake_causes_no_endless_loop(void) {
    static const char close_notify[] = "\x15\x03\x03\x00\x02\x01\x00";
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    char flight[20000];
    for (size_t i = 0; i < 2; i++) {
        netlib_tls_context *client = client_of(versions[i]);
        /* The receiver is a client that has sent its hello, a server that waits for a hello, or a server that has
         * answered a hello. */
        for (int row = 0; row < 3; row++) {
            struct wire wire = wire_of(client, server, 20000);
            netlib_tls_engine *receiver = row == 0 ? wire.client : wire.server;
            CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
            size_t len = drain_all(wire.client, flight, sizeof flight), n = 0;
            if (row == 2) {
                CHECK_INT((long long)len, (long long)feed_all(wire.server, flight, len));
                CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, &err));
            }
            CHECK_INT(7, (long long)feed_all(receiver, close_notify, 7));
            /* After TLS 1.3 has been negotiated, the alert ends the handshake. */
            bool is_over = row == 2 && versions[i] == NETLIB_TLS_VERSION_1_3;
            netlib_status next = is_over ? NETLIB_TLS_HANDSHAKE_EOF : NETLIB_WANT_READ;
            CHECK_STATUS(next, netlib_tls_engine_handshake(receiver, &err));
            CHECK_STATUS(next, netlib_tls_engine_read(receiver, flight, sizeof flight, &n, &err));
            CHECK_STATUS(next, netlib_tls_engine_write(receiver, "x", 1, &n, &err));
            netlib_tls_engine_feed_eof(receiver);
            CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_tls_engine_handshake(receiver, &err));
            CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_tls_engine_read(receiver, flight, sizeof flight, &n, &err));
            CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_tls_engine_write(receiver, "x", 1, &n, &err));
            CHECK_INT(0, (long long)n);
            free_wire(&wire);
        }
        netlib_tls_context_free(client);
    }
    netlib_tls_context_free(server);
}

/* Ends the input of the client or of the server after different numbers of bytes. The status is NETLIB_TLS_TRUNCATED if
 * that side has completed its handshake, and NETLIB_TLS_HANDSHAKE_EOF otherwise. Unit tests end the input after every
 * byte of the first flights. */
static void truncated_sessions_fail_with_tls_handshake_eof_or_tls_truncated(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    for (size_t i = 0; i < 2; i++) {
        for (int to_server = 0; to_server < 2; to_server++) {
            unsigned long done = 0;
            for (size_t cut = 0; done == 0; cut += cut < 12 ? 1 : 37) {
                netlib_tls_context *client = client_of(versions[i]);
                struct wire wire = wire_of(client, server, 20000);
                netlib_tls_engine *victim = to_server ? wire.server : wire.client;
                netlib_tls_engine *other = to_server ? wire.client : wire.server;
                netlib_status status = NETLIB_WANT_READ, others = NETLIB_WANT_READ;
                size_t left = cut;
                char bytes[20000];
                for (int turn = 0; turn < 6 && status == NETLIB_WANT_READ; turn++) {
                    if (others == NETLIB_WANT_READ) others = netlib_tls_engine_handshake(other, NULL);
                    size_t n = drain_all(other, bytes, left < sizeof bytes ? left : sizeof bytes);
                    left -= n;
                    CHECK_INT((long long)n, (long long)feed_all(victim, bytes, n));
                    status = netlib_tls_engine_handshake(victim, &err);
                    if (status == NETLIB_OK) break;
                    CHECK_STATUS(NETLIB_WANT_READ, status);
                    n = drain_all(victim, bytes, sizeof bytes);
                    (void)feed_all(other, bytes, n);
                }
                size_t n = 0;
                netlib_tls_engine_feed_eof(victim);
                netlib_tls_engine_feed_eof(victim);
                CHECK_STATUS(NETLIB_CLOSED, netlib_tls_engine_feed(victim, "x", 1, &n, &err));
                netlib_status expected = status == NETLIB_OK ? NETLIB_TLS_TRUNCATED : NETLIB_TLS_HANDSHAKE_EOF;
                CHECK_STATUS(expected, netlib_tls_engine_read(victim, bytes, sizeof bytes, &n, &err));
                CHECK_STATUS(expected, netlib_tls_engine_read(victim, bytes, sizeof bytes, &n, &err));
                if (status == NETLIB_OK) done = cut;
                free_wire(&wire);
                netlib_tls_context_free(client);
            }
            CHECK(done > 100);
        }
    }
    netlib_tls_context_free(server);
}

/* Sends floods of records that cost the peer little and make no progress. */
static void floods_of_useless_records_end_the_session(void) {
    static const struct {
        const char *record;
        size_t len;
    } rows[] = {
        {"\x16\x03\x03\x00\x00", 5},                 /* an empty handshake record */
        {"\x14\x03\x03\x00\x01\x01", 6},             /* change_cipher_spec */
        {"\x15\x03\x03\x00\x02\x01\x00", 7},         /* warnings: close_notify */
        {"\x15\x03\x03\x00\x02\x01\x5a", 7},         /* warnings: user_canceled */
        {"\x15\x03\x03\x00\x02\x01\x64", 7},         /* warnings: no_renegotiation */
        {"\x17\x03\x03\x00\x00", 5},                 /* empty application data */
        {"\x16\x03\x03\x00\x04\x00\x00\x00\x00", 9}, /* hello_request */
    };
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context(), *server = server_context("server");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int to_server = 0; to_server < 2; to_server++) {
            struct wire wire = wire_of(client, server, 20000);
            netlib_tls_engine *victim = to_server ? wire.server : wire.client;
            netlib_status status = NETLIB_WANT_READ;
            unsigned steps = 0;
            for (; status == NETLIB_WANT_READ && steps < 1000; steps++) {
                (void)feed_all(victim, rows[i].record, rows[i].len);
                status = netlib_tls_engine_handshake(victim, &err);
            }
            CHECK(steps < 100);
            if (steps >= 100) fprintf(stderr, "    row %zu goes on\n", i);
            CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
            free_wire(&wire);
        }
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* An engine whose output is not drained, or whose data is not read, uses bounded memory. */
static void undrained_and_unread_engines_use_bounded_memory(void) {
    enum { KIB = 1024, LARGE = 4 * 1024 * KIB };
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context(), *server = server_context("server");
    struct wire wire = wire_of(client, server, 20000);
    unsigned char *data = malloc(LARGE), *got = malloc(LARGE);
    size_t written = 0, read = 0, n = 0;
    for (size_t i = 0; i < LARGE; i++) data[i] = at_position(i);
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));

    CHECK_OK(netlib_tls_engine_write(wire.client, data, LARGE, &written, &err));
    CHECK(written >= 256 * KIB && written <= 320 * KIB);
    CHECK(netlib_tls_engine_output_pending(wire.client) >= 256 * KIB);
    CHECK(netlib_tls_engine_output_pending(wire.client) <= 321 * KIB);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_tls_engine_write(wire.client, data, LARGE, &n, &err));
    CHECK_INT(0, (long long)n);

    /* If the application does not read, the engine accepts 68 KiB of input. After the application has read, the engine
     * accepts further input. */
    unsigned char *records = malloc(400 * KIB);
    size_t len = drain_all(wire.client, records, 400 * KIB), fed = 0;
    CHECK_INT(0, (long long)netlib_tls_engine_output_pending(wire.client));
    CHECK_OK(netlib_tls_engine_feed(wire.server, records, len, &fed, &err));
    CHECK_INT(68 * KIB, (long long)fed);
    CHECK_OK(netlib_tls_engine_feed(wire.server, records + fed, len - fed, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK(netlib_tls_engine_pending(wire.server) > 0);

    /* The test passes the bytes that a call did not accept to the next call. */
    unsigned steps = 0;
    while (read < LARGE && steps++ < 2000) {
        netlib_status status = netlib_tls_engine_read(wire.server, got + read, LARGE - read, &n, &err);
        read += n;
        if (status == NETLIB_OK) continue;
        CHECK_STATUS(NETLIB_WANT_READ, status);
        if (fed == len) {
            status = netlib_tls_engine_write(wire.client, data + written, LARGE - written, &n, &err);
            CHECK_OK(status);
            written += n;
            len = drain_all(wire.client, records, 400 * KIB);
            fed = 0;
        }
        CHECK_OK(netlib_tls_engine_feed(wire.server, records + fed, len - fed, &n, &err));
        CHECK(n > 0);
        fed += n;
    }
    CHECK_INT(LARGE, (long long)read);
    CHECK(memcmp(data, got, LARGE) == 0);
    CHECK(steps < 600);
    free(data);
    free(got);
    free(records);
    free_wire(&wire);

    /* Sends a handshake message of 65,000 bytes in records of one byte. */
    wire = wire_of(client, server, 20000);
    CHECK_INT(9, (long long)feed_all(wire.server, "\x16\x03\x01\x00\x04\x01\x00\xfd\xe8", 9));
    netlib_status status = NETLIB_WANT_READ;
    for (steps = 0; status == NETLIB_WANT_READ && steps < 20000; steps++) {
        status = netlib_tls_engine_feed(wire.server, "\x16\x03\x01\x00\x01x", 6, &n, &err);
        if (status == NETLIB_OK) status = netlib_tls_engine_handshake(wire.server, &err);
    }
    CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
    CHECK(steps < 13000);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void end_of_stream_and_failures_of_an_engine_are_permanent(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context(), *server = server_context("server"),
                       *wrong = server_context("wrong-name");
    char got[100];
    size_t n = 0;

    /* The client ends the session with close_notify. The server ignores later input. */
    struct wire wire = wire_of(client, server, 20000);
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
    CHECK_INT(5, (long long)transfer(&wire, false, "hello", got, sizeof got));
    CHECK_OK(netlib_tls_engine_write(wire.client, "last words", 10, &n, &err));
    CHECK_OK(netlib_tls_engine_shutdown(wire.client, &err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {}
    CHECK_OK(netlib_tls_engine_read(wire.server, got, 4, &n, &err));
    CHECK_INT(6, (long long)netlib_tls_engine_pending(wire.server));
    CHECK_OK(netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err));
    CHECK_INT(6, (long long)n);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err));
    static const char rest[100000];
    CHECK_INT(sizeof rest, (long long)feed_all(wire.server, rest, sizeof rest));
    netlib_tls_engine_feed_eof(wire.server);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err));
    /* After the client's close_notify, the server can send data to the client. */
    CHECK_INT(6, (long long)transfer(&wire, true, "answer", got, sizeof got));
    /* The transport ends without close_notify. The client can first read the data that arrived before the end. */
    CHECK_OK(netlib_tls_engine_write(wire.server, "more", 4, &n, &err));
    while (move_piece(&wire, wire.server, wire.client) > 0) {}
    netlib_tls_engine_feed_eof(wire.client);
    CHECK_OK(netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
    CHECK_INT(4, (long long)n);
    CHECK_STATUS(NETLIB_TLS_TRUNCATED, netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
    free_wire(&wire);

    /* After a failure the peer gets an alert, and later calls return the same failure. */
    wire = wire_of(client, wrong, 20000);
    struct handshake_result result = run_handshake(&wire);
    CHECK_HANDSHAKE(NETLIB_HOSTNAME_MISMATCH, NETLIB_TLS_ALERT, result);
    CHECK_INT(42, result.server_alert);
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_tls_engine_shutdown(wire.client, &err));
    CHECK_INT(0, netlib_tls_engine_version(wire.client));
    free_wire(&wire);

    /* The client sends its data and close_notify together with its last handshake flight. The server writes its answer
     * before it reads the close_notify. The next read returns NETLIB_END_OF_STREAM. */
    wire = wire_of(client, server, 20000);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {}
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, &err));
    while (move_piece(&wire, wire.server, wire.client) > 0) {}
    CHECK_OK(netlib_tls_engine_write(wire.client, "brief", 5, &n, &err));
    CHECK_OK(netlib_tls_engine_shutdown(wire.client, &err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {}
    CHECK_OK(netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err));
    CHECK_INT(5, (long long)n);
    CHECK_OK(netlib_tls_engine_write(wire.server, "answer", 6, &n, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.server, got, sizeof got, &n, &err));
    free_wire(&wire);

    /* Both sides get input that is not TLS. */
    wire = wire_of(client, server, 20000);
    CHECK_INT(16, (long long)feed_all(wire.server, "GET / HTTP/1.1\r\n", 16));
    CHECK_STATUS(NETLIB_NOT_TLS, netlib_tls_engine_handshake(wire.server, &err));
    CHECK_INT(19, (long long)feed_all(wire.client, "HTTP/1.1 400 Bad\r\n\r\n", 19));
    CHECK_STATUS(NETLIB_NOT_TLS, netlib_tls_engine_handshake(wire.client, &err));
    free_wire(&wire);

    /* The read and write functions do the handshake. A shutdown that is called before the handshake takes effect after
     * the handshake. */
    wire = wire_of(client, server, 20000);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_write(wire.client, "x", 1, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK(netlib_tls_engine_output_pending(wire.client) > 0);
    CHECK_OK(netlib_tls_engine_shutdown(wire.server, &err));
    CHECK_OK(netlib_tls_engine_read(wire.client, got, 0, &n, &err));
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_tls_engine_write(wire.server, "x", 1, &n, &err));
    CHECK_OK(netlib_tls_engine_write(wire.client, NULL, 0, &n, &err));
    free_wire(&wire);

    /* Invalid arguments are refused. */
    netlib_tls_engine *engine = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_new_client(client, NULL, &engine, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_new_client(client, "not a host", &engine, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_new_server(client, &engine, &err));
    CHECK(engine == NULL);
    engine = client_engine(client, "localhost");
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_feed(engine, got, (size_t)-1, &n, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_drain(engine, got, (size_t)-1, &n, &err));
    CHECK_OK(netlib_tls_engine_drain(engine, NULL, 0, &n, &err));
    netlib_tls_engine_free(engine);
    netlib_tls_engine_free(NULL);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    netlib_tls_context_free(wrong);
}

/* During and after the handshake, the victim receives bytes that are not TLS in place of a record, for example from a
 * proxy that reports an error. The error message names the kind of the bytes, but does not contain them. */
static void plaintext_in_place_of_a_record_ends_the_session_with_a_protocol_error(void) {
    static const struct {
        const char *bytes, *is;
    } rows[] = {
        {"HTTP/1.1 400 Bad Request secret\r\n\r\n", "a plain HTTP response"},
        {"POST /secret HTTP/1.1\r\n\r\n", "a plain HTTP request"},
        {"SSH-2.0-secret\r\n", "SSH"},
        {"220 secret\r\n", "a greeting of a mail or FTP server"},
        {"\x80secret", "bytes that begin with 0x80"},
        {"\x17\x04\x03secret", "bytes that begin with 0x17"},
    };
    netlib_tls_context *server = server_context("server");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] * 8; i++) {
        const char *bytes = rows[i / 8].bytes;
        bool to_server = i % 2 != 0, is_done = i / 2 % 2 != 0;
        netlib_tls_context *client = client_of(versions[i / 4 % 2]);
        struct wire wire = wire_of(client, server, 20000);
        netlib_tls_engine *victim = to_server ? wire.server : wire.client;
        netlib_error *err = NULL;
        char got[20], message[160];
        size_t n = 0;
        /* The victim has received at least one record of the ClientHello or of the server's first flight. */
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
        while (move_piece(&wire, wire.client, wire.server) > 0) {}
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, &err));
        if (is_done) {
            CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
        } else if (!to_server) {
            static unsigned char flight[20000];
            CHECK(drain_all(wire.server, flight, sizeof flight) > 5);
            (void)feed_all(wire.client, flight, 5u + ((size_t)flight[3] << 8 | flight[4]));
            CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
        }
        while (drain_all(victim, got, sizeof got) > 0) {}
        (void)feed_all(victim, bytes, strlen(bytes));
        netlib_status status = is_done ? netlib_tls_engine_read(victim, got, sizeof got, &n, &err)
                                       : netlib_tls_engine_handshake(victim, &err);
        snprintf(message, sizeof message, "%s sent data %s that is not TLS: %s",
                 to_server ? "the client" : "the server \"localhost\"",
                 is_done ? "in the middle of the TLS session" : "during the TLS handshake", rows[i / 8].is);
        CHECK_STR(message, netlib_error_message(err, NULL));
        CHECK_INT(50, netlib_error_tls_alert(err));
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
        CHECK(netlib_tls_engine_output_pending(victim) > 0);
        free_wire(&wire);
        netlib_tls_context_free(client);
    }
    netlib_tls_context_free(server);
}

/* The state of a thread. Two threads use contexts with opposite settings, and each session must have the settings of
 * its own context. */
struct opposite {
    const netlib_tls_context *client, *server, *others_server;
    int32_t version;
    const char *alpn;
    netlib_status cross_client, cross_server;
    unsigned char leaf[2000];
    size_t leaf_len;
    unsigned wrong;
};

static netlib_tls_context *opposite_context(bool is_strict, bool is_server) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_system_trust(options, 0);
    if (is_strict) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    if (is_server || !is_strict) netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_2);
    netlib_tls_options_set_maximum_version(options, is_strict ? NETLIB_TLS_VERSION_1_3 : NETLIB_TLS_VERSION_1_2);
    netlib_tls_options_add_alpn_protocol(options, is_strict ? "h2" : "http/1.1");
    if (is_strict && !is_server) netlib_tls_options_add_alpn_protocol(options, "http/1.1");
    if (is_server) {
        netlib_tls_options_set_identity_files(options, is_strict ? CERTS "server.pem" : CERTS "self-signed.pem",
                                              is_strict ? CERTS "server.key" : CERTS "self-signed.key");
    }
    return context_of(options);
}

static void *opposite_main(void *argument) {
    struct opposite *my = argument;
    for (int i = 0; i < 40; i++) {
        struct wire wire = {NULL, NULL, 20000, 0, 0};
        size_t len = 0;
        (void)netlib_tls_engine_new_client(my->client, "localhost", &wire.client, NULL);
        (void)netlib_tls_engine_new_server(my->server, &wire.server, NULL);
        struct handshake_result result = run_handshake(&wire);
        const char *alpn = netlib_tls_engine_alpn_protocol(wire.client, NULL);
        const uint8_t *leaf = netlib_tls_engine_peer_certificate(wire.client, 0, &len);
        my->wrong += result.client != NETLIB_OK || result.server != NETLIB_OK ||
                     netlib_tls_engine_version(wire.client) != my->version || alpn == NULL ||
                     strcmp(alpn, my->alpn) != 0 || len != my->leaf_len || memcmp(leaf, my->leaf, len) != 0;
        free_wire(&wire);
        /* The peer is a server of the other thread's context, which the other thread uses at the same time. */
        (void)netlib_tls_engine_new_client(my->client, "localhost", &wire.client, NULL);
        (void)netlib_tls_engine_new_server(my->others_server, &wire.server, NULL);
        result = run_handshake(&wire);
        my->wrong += result.client != my->cross_client || result.server != my->cross_server;
        free_wire(&wire);
    }
    return NULL;
}

static size_t leaf_of(const netlib_tls_context *client, const netlib_tls_context *server, unsigned char *into) {
    struct wire wire = wire_of(client, server, 20000);
    size_t len = 0;
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
    const uint8_t *leaf = netlib_tls_engine_peer_certificate(wire.client, 0, &len);
    CHECK(leaf != NULL && len < 2000);
    memcpy(into, leaf, len);
    free_wire(&wire);
    return len;
}

static void concurrent_handshakes_use_the_settings_of_their_contexts(void) {
    netlib_tls_context *clients[2], *servers[2];
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) {
        clients[i] = opposite_context(i == 0, false);
        servers[i] = opposite_context(i == 0, true);
    }
    struct opposite sides[2] = {
        /* The strict client refuses the certificate of the lax server. The lax client and the strict server have no
         * ALPN protocol in common. */
        {clients[0],
         servers[0],
         servers[1],
         NETLIB_TLS_VERSION_1_3,
         "h2",
         NETLIB_CERTIFICATE_VERIFY,
         NETLIB_TLS_ALERT,
         {0},
         0,
         0},
        {clients[1],
         servers[1],
         servers[0],
         NETLIB_TLS_VERSION_1_2,
         "http/1.1",
         NETLIB_TLS_ALERT,
         NETLIB_TLS_INCOMPATIBLE,
         {0},
         0,
         0},
    };
    struct opposite mine[4];
    for (int i = 0; i < 4; i++) {
        mine[i] = sides[i % 2];
        mine[i].leaf_len = leaf_of(clients[i % 2], servers[i % 2], mine[i].leaf);
    }
    CHECK(mine[0].leaf_len != mine[1].leaf_len || memcmp(mine[0].leaf, mine[1].leaf, mine[0].leaf_len) != 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, opposite_main, &mine[i]) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_INT(0, mine[i].wrong);
    }
    for (int i = 0; i < 2; i++) {
        netlib_tls_context_free(clients[i]);
        netlib_tls_context_free(servers[i]);
    }
}

int main(void) {
    sessions_transfer_all_data_even_with_one_byte_per_call();
    close_notify_during_the_handshake_causes_no_endless_loop();
    truncated_sessions_fail_with_tls_handshake_eof_or_tls_truncated();
    floods_of_useless_records_end_the_session();
    undrained_and_unread_engines_use_bounded_memory();
    end_of_stream_and_failures_of_an_engine_are_permanent();
    plaintext_in_place_of_a_record_ends_the_session_with_a_protocol_error();
    concurrent_handshakes_use_the_settings_of_their_contexts();
    return report("test_tls_engine");
}
