/* Tests which chains a handshake accepts, and the errors of refused chains. A peer sends each chain in a real
 * handshake. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_chains.h"

static int32_t report_time(void *ctx, double *seconds) {
    *seconds = *(double *)ctx;
    return 0;
}

static int32_t fail_to_report_time(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = NOW;
    return 1;
}

/* Returns options that trust a CA file of tests/certs/verify, and whose clock returns `time`. */
static netlib_tls_options *options_at(const char *trusted, const char *crl, int32_t flags, double *time) {
    netlib_tls_options *options = options_trusting(trusted, crl, flags);
    netlib_tls_options_set_wall_clock(options, report_time, time, NULL);
    return options;
}

/* Sets a chain and its key as the identity. All chains have the same key. */
static void present(netlib_tls_options *options, const char *chain) {
    char path[256];
    snprintf(path, sizeof path, CHAINS "%s", chain);
    netlib_tls_options_set_identity_files(options, path, CHAINS "leaf.key");
}

static netlib_tls_context *presenting(const char *chain) {
    netlib_tls_options *options = netlib_tls_options_new();
    present(options, chain);
    netlib_tls_options_add_ca_file(options, CHAINS "root.pem");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return context_of(options);
}

static netlib_tls_context *of_version(netlib_tls_options *options, int32_t version) {
    netlib_tls_options_set_minimum_version(options, version);
    netlib_tls_options_set_maximum_version(options, version);
    return context_of(options);
}

static void handshakes_accept_valid_and_refuse_invalid_server_chains(void) {
    static const int32_t versions[] = {NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3};
    netlib_error *err = NULL;
    double now = NOW;
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        const struct row *row = &servers[i];
        netlib_tls_context *server = presenting(row->sent);
        for (size_t j = 0; j < 2; j++) {
            netlib_tls_context *client = of_version(options_at(row->trusted, row->crl, row->flags, &now), versions[j]);
            struct pair pair = unix_pair();
            struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
            server_start(&peer);
            netlib_stream *stream = wrap(client, pair.near, "localhost");
            netlib_status status = netlib_stream_handshake(stream, &err);
            CHECK_INT(row->problem, netlib_error_certificate_problem(err));
            CHECK_INT(row->certificate, netlib_error_certificate_index(err));
            CHECK_INT(row->alert, netlib_error_tls_alert(err));
            const char *message = netlib_error_message(err, NULL), *advice = netlib_error_advice(err, NULL);
            CHECK_STR(row->message, message != NULL ? message : "");
            CHECK_STR(row->advice, advice != NULL ? advice : "");
            if (status != row->status) fprintf(stderr, "    of %s\n", row->sent);
            CHECK_STATUS(row->status, status);
            netlib_stream_free(stream);
            close(pair.near);
            server_join(&peer);
            /* The server received the alert of the client's error. */
            CHECK_INT(row->status == NETLIB_OK ? NETLIB_OK : NETLIB_TLS_ALERT, peer.status);
            CHECK_INT(row->alert, peer.alert);
            netlib_tls_context_free(client);
        }
        netlib_tls_context_free(server);
    }
}

static void handshakes_accept_valid_and_refuse_invalid_client_chains(void) {
    static const int32_t versions[] = {NETLIB_TLS_VERSION_1_2, NETLIB_TLS_VERSION_1_3};
    netlib_error *err = NULL;
    double now = NOW;
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        const struct row *row = &clients[i];
        for (size_t j = 0; j < 2; j++) {
            netlib_tls_options *options = options_at(row->trusted, row->crl, row->flags, &now);
            netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
            present(options, "good.pem");
            netlib_tls_context *server = of_version(options, versions[j]);
            options = options_at("root.pem", NULL, 0, &now);
            if (row->sent != NULL) present(options, row->sent);
            netlib_tls_context *client = context_of(options);
            struct pair pair = unix_pair();
            struct server peer = {.does = SERVE_CLEAN, .context = server, .fd = pair.far};
            server_start(&peer);
            netlib_stream *stream = wrap(client, pair.near, "localhost");
            char buffer[8];
            size_t n = 0;
            /* In TLS 1.3 the refusal arrives after the client's handshake is done. */
            netlib_status status = netlib_stream_read(stream, buffer, sizeof buffer, &n, &err);
            CHECK_INT(row->alert, netlib_error_tls_alert(err));
            CHECK_STATUS(row->status == NETLIB_OK ? NETLIB_OK : NETLIB_TLS_ALERT, status);
            if (status == NETLIB_OK) {
                CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, buffer, sizeof buffer, &n, &err));
            }
            netlib_stream_free(stream);
            close(pair.near);
            server_join(&peer);
            CHECK_INT(row->status, peer.status);
            CHECK_INT(row->problem, peer.problem);
            CHECK_INT(row->certificate, peer.certificate);
            CHECK_INT(row->alert, peer.alert);
            CHECK_STR(row->message, peer.message);
            CHECK_STR(row->advice, peer.advice);
            netlib_tls_context_free(client);
            netlib_tls_context_free(server);
        }
    }
}

/* Runs a handshake between a server with a valid chain and a client with these options. Frees the options. */
static netlib_status handshake(netlib_tls_options *options, const char *chain, netlib_error **err) {
    netlib_tls_context *client = context_of(options);
    netlib_tls_context *server = presenting(chain);
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
    server_start(&peer);
    netlib_stream *stream = wrap(client, pair.near, "localhost");
    netlib_status status = netlib_stream_handshake(stream, err);
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&peer);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return status;
}

static void certificate_validity_is_checked_with_the_time_of_the_clock_callback(void) {
    static const struct {
        double time;
        netlib_status status;
        int32_t problem;
        const char *crl;
        int64_t certificate;
        const char *chain;
    } rows[] = {
        {1577836800, NETLIB_OK, 0, NULL, -1, "good.pem"},
        {1577836799, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID, NULL, 0, "good.pem"},
        {0, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID, NULL, 0, "good.pem"},
        {4733510400.5, NETLIB_OK, 0, NULL, -1, "good.pem"},
        {4733510401, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED, NULL, 0, "good.pem"},
        {1e15, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_EXPIRED, NULL, 0, "good.pem"},
        {1600000000, NETLIB_OK, 0, NULL, -1, "expired-int.pem"},
        {1600000000, NETLIB_OK, 0, "int-expired.crl", -1, "good.pem"},
        {1609459199, NETLIB_OK, 0, "int-expired.crl", -1, "good.pem"},
        {1609459200, NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN, "int-expired.crl", 0,
         "good.pem"},
        {-1, NETLIB_CALLBACK_FAILED, 0, NULL, -1, "good.pem"},
        {-0.5, NETLIB_CALLBACK_FAILED, 0, NULL, -1, "good.pem"},
        {NAN, NETLIB_CALLBACK_FAILED, 0, NULL, -1, "good.pem"},
        {INFINITY, NETLIB_CALLBACK_FAILED, 0, NULL, -1, "good.pem"},
        {1e300, NETLIB_CALLBACK_FAILED, 0, NULL, -1, "good.pem"},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double time = rows[i].time;
        netlib_tls_options *options = options_at("root.pem", rows[i].crl, rows[i].crl != NULL ? LEAF : 0, &time);
        netlib_status status = handshake(options, rows[i].chain, &err);
        CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
        CHECK_INT(rows[i].certificate, netlib_error_certificate_index(err));
        CHECK_STATUS(rows[i].status, status);
    }
    double now = NOW;
    netlib_tls_options *options = options_at("root.pem", NULL, 0, &now);
    netlib_tls_options_set_wall_clock(options, fail_to_report_time, NULL, NULL);
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, handshake(options, "good.pem", &err));
    /* Without the callback, the client uses the system's clock. */
    now = 0;
    options = options_at("root.pem", NULL, 0, &now);
    netlib_tls_options_set_wall_clock(options, NULL, NULL, NULL);
    CHECK_OK(handshake(options, "good.pem", &err));
    netlib_tls_options_set_wall_clock(NULL, report_time, &now, NULL);
    /* A client without verification does not call the clock. */
    options = options_at("root.pem", NULL, 0, &now);
    netlib_tls_options_set_wall_clock(options, fail_to_report_time, NULL, NULL);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    CHECK_OK(handshake(options, "expired.pem", &err));
}

struct watch {
    netlib_stream *stream;
    unsigned calls;
};

static int32_t count_and_use_stream(void *ctx, double *seconds) {
    struct watch *watch = ctx;
    watch->calls++;
    /* The next calls wait forever if netlib holds the stream's lock. */
    CHECK_INT(0, netlib_stream_tls_version(watch->stream));
    CHECK_INT(NETLIB_BUSY, netlib_stream_handshake(watch->stream, NULL));
    *seconds = NOW;
    return 0;
}

/* Each side calls its own clock once per handshake, even if the application calls the handshake function several
 * times. */
static void the_clock_callback_is_called_once_per_handshake_with_no_lock_held(void) {
    netlib_error *err = NULL;
    struct watch watches[2] = {{NULL, 0}, {NULL, 0}};
    netlib_stream *streams[2];
    netlib_tls_context *contexts[2];
    struct pair pair = unix_pair();
    for (size_t i = 0; i < 2; i++) {
        netlib_tls_options *options = options_at("root.pem", NULL, 0, NULL);
        present(options, i == 0 ? "client.pem" : "good.pem");
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
        netlib_tls_options_set_wall_clock(options, count_and_use_stream, &watches[i], NULL);
        contexts[i] = context_of(options);
        streams[i] = i == 0 ? wrap(contexts[i], pair.near, "localhost") : accept_tls(contexts[i], pair.far);
        watches[i].stream = streams[i];
        CHECK_OK(netlib_stream_set_blocking(streams[i], 0, &err));
    }
    for (size_t turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < 2; i++) {
            netlib_status status = netlib_stream_handshake(streams[i], &err);
            CHECK(status == NETLIB_OK || status == NETLIB_WANT_READ);
            CHECK_INT(1, watches[i].calls);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(netlib_stream_handshake(streams[i], &err));
        CHECK(netlib_stream_peer_certificate_count(streams[i]) > 0);
        netlib_stream_free(streams[i]);
        netlib_tls_context_free(contexts[i]);
    }
    close_pair(pair);
}

static void crls_and_verify_flags_determine_which_revocation_checks_are_on(void) {
    static const struct {
        const char *crl;
        int32_t flags;
        netlib_status status;
        const char *message;
        int32_t in_force;
    } rows[] = {
        {NULL, 0, NETLIB_OK, "", 0x88000},
        {NULL, 0x8000, NETLIB_OK, "", 0x88000},
        {NULL, 0x80020, NETLIB_OK, "", 0x88020},
        {CHAINS "all.crl", 0, NETLIB_OK, "", 0x8800c},
        {CHAINS "all.crl", 0x20, NETLIB_OK, "", 0x8802c},
        {CHAINS "all.crl", 0x4, NETLIB_OK, "", 0x88004},
        {CHAINS "int.crl.der", 0xc, NETLIB_OK, "", 0x8800c},
        {NULL, 0x4, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_set_verify_flags: revocation checks are on, but no CRL was added", 0},
        {NULL, 0xc, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_set_verify_flags: revocation checks are on, but no CRL was added", 0},
        {NULL, 0x8, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_set_verify_flags: flags has 0x8, which is valid only together with 0x4: see "
         "NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN",
         0},
        {NULL, 0x1020, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_set_verify_flags: flags must be bits of enum netlib_verify_flag; it has 0x1000", 0},
        {NULL, NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS, NETLIB_UNSUPPORTED,
         "netlib_tls_options_set_verify_flags: proxy certificates (RFC 3820, "
         "NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS) are not "
         "accepted",
         0},
        {CERTS "nonexistent.crl", 0, NETLIB_IO,
         "netlib_tls_options_add_crl_file: cannot read CRL file " CERTS "nonexistent.crl: No such file or directory",
         0},
        {CERTS "ca.pem", 0, NETLIB_INVALID_PEM,
         "netlib_tls_options_add_crl_file: CRL file " CERTS "ca.pem contains no CRL (X509 CRL)", 0},
        {CERTS "server.der", 0, NETLIB_INVALID_PEM,
         "netlib_tls_options_add_crl_file: CRL file " CERTS "server.der: CRL 0 is not valid DER", 0},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        if (rows[i].crl != NULL) netlib_tls_options_add_crl_file(options, rows[i].crl);
        netlib_tls_options_set_verify_flags(options, rows[i].flags);
        netlib_tls_context *context = NULL;
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        const char *message = netlib_error_message(err, NULL);
        CHECK_STR(rows[i].message, message != NULL ? message : "");
        CHECK_STATUS(rows[i].status, status);
        if (context != NULL) CHECK_INT(rows[i].in_force, netlib_tls_context_verify_flags(context));
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
    CHECK_INT(NETLIB_VERIFY_FLAG_DEFAULT, netlib_tls_context_verify_flags(NULL));
    netlib_tls_options_add_crl_file(NULL, "x");
    netlib_tls_options_add_crl_data(NULL, "x", 1);
    netlib_tls_options_set_verify_flags(NULL, 0);

    netlib_tls_options *options = client_options();
    netlib_tls_options_add_crl_data(options, "no list", NETLIB_NTS);
    netlib_tls_context *context = NULL;
    CHECK_STATUS(NETLIB_INVALID_PEM, netlib_tls_context_new(options, &context, &err));
    netlib_tls_options_free(options);

    /* A handshake fails if a CRL from memory revokes the certificate. */
    char text[8192];
    FILE *file = fopen(CHAINS "all.crl", "r");
    size_t len = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file != NULL) fclose(file);
    CHECK(len > 500 && len < sizeof text);
    double now = NOW;
    options = options_at("root.pem", NULL, 0, &now);
    netlib_tls_options_add_crl_data(options, text, len);
    netlib_status status = handshake(options, "revoked.pem", &err);
    CHECK_INT(NETLIB_CERTIFICATE_PROBLEM_REVOKED, netlib_error_certificate_problem(err));
    CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
}

/* CVE-2019-11324: if the caller sets CA certificates, they replace those of the system. A certificate that only the
 * system trusts is refused. */
static void custom_ca_certificates_replace_the_system_trust(void) {
    static const struct {
        bool custom, system;
        netlib_status status;
        int32_t sources;
    } rows[] = {
        {false, false, NETLIB_OK, NETLIB_TRUST_SYSTEM},
        {true, false, NETLIB_CERTIFICATE_VERIFY, NETLIB_TRUST_CUSTOM},
        {true, true, NETLIB_OK, NETLIB_TRUST_CUSTOM | NETLIB_TRUST_SYSTEM},
    };
    netlib_error *err = NULL;
    setenv("SSL_CERT_FILE", CHAINS "root.pem", 1);
    unsetenv("SSL_CERT_DIR");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        if (rows[i].custom) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
        if (rows[i].system) netlib_tls_options_set_system_trust(options, 1);
        netlib_tls_context *context = NULL;
        CHECK_OK(netlib_tls_context_new(options, &context, &err));
        CHECK_INT(rows[i].sources, netlib_tls_context_trust_kinds(context));
        netlib_tls_context_free(context);
        netlib_status status = handshake(options, "good.pem", &err);
        int32_t problem = rows[i].status == NETLIB_OK ? 0 : NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER;
        CHECK_INT(problem, netlib_error_certificate_problem(err));
        CHECK_STATUS(rows[i].status, status);
    }
    unsetenv("SSL_CERT_FILE");
}

/* Chains that end at a CA certificate of the system get the same checks as chains that end at a CA certificate of the
 * caller. */
static void chains_to_system_and_custom_authorities_get_the_same_checks(void) {
    netlib_error *err = NULL;
    double now = NOW;
    unsetenv("SSL_CERT_DIR");
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        const struct row *row = &servers[i];
        if (row->crl != NULL || row->flags != 0) continue;
        char path[256];
        snprintf(path, sizeof path, CHAINS "%s", row->trusted);
        setenv("SSL_CERT_FILE", path, 1);
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_wall_clock(options, report_time, &now, NULL);
        netlib_status status = handshake(options, row->sent, &err);
        CHECK_INT(row->problem, netlib_error_certificate_problem(err));
        CHECK_STATUS(row->status, status);
    }
    unsetenv("SSL_CERT_FILE");
}

/* CVE-2025-27809: without a server name, netlib_tls_wrap_fd creates a client stream only if the host name check is
 * disabled. The call sends nothing. */
static void client_streams_need_a_server_name_for_the_host_name_check(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    static const char *const nobody[] = {NULL, ""};
    for (int named = 0; named < 2; named++) {
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_add_ca_file(options, CHAINS "root.pem");
        if (!named) netlib_tls_options_set_check_hostname(options, 0);
        netlib_tls_context *client = context_of(options);
        for (size_t i = 0; i < 2; i++) {
            struct pair pair = unix_pair();
            netlib_status status = netlib_tls_wrap_fd(client, pair.near, nobody[i], &stream, &err);
            if (named) {
                CHECK_STR("server_hostname is missing: without it, the server's identity cannot be verified",
                          netlib_error_message(err, NULL));
                CHECK_STR(NULL, netlib_error_advice(err, NULL));
                CHECK(stream == NULL);
            }
            CHECK_STATUS(named ? NETLIB_INVALID_ARGUMENT : NETLIB_OK, status);
            netlib_stream_free(stream);
            char byte;
            CHECK(recv(pair.far, &byte, 1, MSG_DONTWAIT) <= 0);
            close_pair(pair);
        }
        netlib_tls_context_free(client);
    }
}

int main(void) {
    handshakes_accept_valid_and_refuse_invalid_server_chains();
    chains_to_system_and_custom_authorities_get_the_same_checks();
    handshakes_accept_valid_and_refuse_invalid_client_chains();
    certificate_validity_is_checked_with_the_time_of_the_clock_callback();
    the_clock_callback_is_called_once_per_handshake_with_no_lock_held();
    crls_and_verify_flags_determine_which_revocation_checks_are_on();
    custom_ca_certificates_replace_the_system_trust();
    client_streams_need_a_server_name_for_the_host_name_check();
    return report("tls verify");
}
