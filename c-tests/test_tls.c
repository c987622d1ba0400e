/* TLS contexts: options, trust, identity, names, and what a handshake makes of them. */
#define _GNU_SOURCE
/* Some results are of no interest here: what comes after them is. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>

static void contexts_tell_what_they_are(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = client_context();
    CHECK_INT(NETLIB_TRUST_CUSTOM, netlib_tls_context_trust_sources(context));
    CHECK_INT(1, (long long)netlib_tls_context_trust_anchor_count(context));
    CHECK_INT(NETLIB_CERT_REQUIRED, netlib_tls_context_verify_mode(context));
    CHECK(netlib_tls_context_check_hostname(context));
    CHECK_INT(NETLIB_TLS_1_2, netlib_tls_context_minimum_version(context));
    CHECK_INT(NETLIB_TLS_1_3, netlib_tls_context_maximum_version(context));
    netlib_tls_context *other = netlib_tls_context_clone(context);
    netlib_tls_context_free(context);
    CHECK_INT(1, (long long)netlib_tls_context_trust_anchor_count(other));
    netlib_tls_context_free(other);

    /* Where the system's trust comes from. */
    static const struct {
        const char *variable;
        int32_t use_environment;
        int32_t with_custom;
        int32_t system_trust; /* -1: not set */
        netlib_status status;
        int32_t sources; /* SYSTEM stands for EMBEDDED too, where there is no system store */
        size_t anchors;  /* 0: as many as there are */
    } rows[] = {
        {NULL, 1, 0, -1, NETLIB_OK, NETLIB_TRUST_SYSTEM, 0},
        {CERTS "ca.pem", 1, 0, -1, NETLIB_OK, NETLIB_TRUST_SYSTEM, 1},
        {CERTS "ca.pem", 0, 0, -1, NETLIB_OK, NETLIB_TRUST_SYSTEM, 0},
        {CERTS "ca.pem", 1, 1, -1, NETLIB_OK, NETLIB_TRUST_CUSTOM, 1},
        {CERTS "ca.pem", 1, 1, 0, NETLIB_OK, NETLIB_TRUST_CUSTOM, 1},
        {CERTS "other-ca.pem", 1, 1, 1, NETLIB_OK, NETLIB_TRUST_CUSTOM | NETLIB_TRUST_SYSTEM, 2},
        {CERTS "ca.pem", 1, 0, 0, NETLIB_NO_TRUST_ANCHORS, 0, 0},
        {"/nonexistent/ca.pem", 1, 0, -1, NETLIB_NO_TRUST_ANCHORS, 0, 0},
        {"/nonexistent/ca.pem", 1, 1, -1, NETLIB_OK, NETLIB_TRUST_CUSTOM, 1},
    };
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].variable != NULL) setenv("SSL_CERT_FILE", rows[i].variable, 1);
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_use_environment(options, rows[i].use_environment);
        if (rows[i].with_custom) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
        if (rows[i].system_trust >= 0) netlib_tls_options_set_system_trust(options, rows[i].system_trust);
        CHECK_STATUS(rows[i].status, netlib_tls_context_new(options, &context, &err));
        int32_t sources = netlib_tls_context_trust_sources(context);
        if (sources & NETLIB_TRUST_EMBEDDED) sources ^= NETLIB_TRUST_EMBEDDED | NETLIB_TRUST_SYSTEM;
        CHECK_INT(rows[i].sources, sources);
        size_t anchors = netlib_tls_context_trust_anchor_count(context);
        CHECK(rows[i].anchors != 0 || rows[i].status != NETLIB_OK ? anchors == rows[i].anchors : anchors > 20);
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
        unsetenv("SSL_CERT_FILE");
    }
}

static void options_are_checked(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    enum what { MINIMUM, MAXIMUM, MODE, HOSTNAME, SYSTEM, ENVIRONMENT, ALPN };
    static const struct {
        enum what what;
        int32_t value;
        netlib_status status;
        const char *setter;
    } rows[] = {
        {MINIMUM, NETLIB_TLS_1_3, NETLIB_OK, NULL},
        {MINIMUM, NETLIB_TLS_MINIMUM_SUPPORTED, NETLIB_OK, NULL},
        {MAXIMUM, NETLIB_TLS_MAXIMUM_SUPPORTED, NETLIB_OK, NULL},
        {MINIMUM, 0x0301, NETLIB_UNSUPPORTED, "netlib_tls_options_set_minimum_version"},
        {MAXIMUM, 0x0302, NETLIB_UNSUPPORTED, "netlib_tls_options_set_maximum_version"},
        {MAXIMUM, 5, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_maximum_version"},
        {MODE, 3, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_verify_mode"},
        {HOSTNAME, 2, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_check_hostname"},
        {SYSTEM, -1, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_system_trust"},
        {ENVIRONMENT, 7, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_use_environment"},
        {ALPN, 0, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_add_alpn_protocol"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        switch (rows[i].what) {
        case MINIMUM: netlib_tls_options_set_minimum_version(options, rows[i].value); break;
        case MAXIMUM: netlib_tls_options_set_maximum_version(options, rows[i].value); break;
        case MODE: netlib_tls_options_set_verify_mode(options, rows[i].value); break;
        case HOSTNAME: netlib_tls_options_set_check_hostname(options, rows[i].value); break;
        case SYSTEM: netlib_tls_options_set_system_trust(options, rows[i].value); break;
        case ENVIRONMENT: netlib_tls_options_set_use_environment(options, rows[i].value); break;
        case ALPN: netlib_tls_options_add_alpn_protocol(options, ""); break;
        }
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        if (rows[i].setter != NULL) CHECK(strstr(netlib_error_message(err, NULL), rows[i].setter) != NULL);
        CHECK_STATUS(rows[i].status, status);
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_1_3);
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_1_2);
    netlib_status above = netlib_tls_context_new(options, &context, &err);
    CHECK_STR("netlib_tls_options_set_minimum_version: the minimum version TLS 1.3 is above the maximum TLS 1.2",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, above);
    netlib_tls_options_free(options);
    options = netlib_tls_options_new();
    netlib_tls_options_set_system_trust(options, 0);
    netlib_status nobody = netlib_tls_context_new(options, &context, &err);
    CHECK_STR("netlib_tls_options_set_system_trust: certificates are to be verified, but no authority is trusted",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_NO_TRUST_ANCHORS, nobody);
    netlib_tls_options_free(options);

    /* Python's tie. */
    options = client_options();
    netlib_tls_options_set_check_hostname(options, 1);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_context_new(options, &context, &err));
    netlib_tls_options_free(options);
    options = client_options();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_check_hostname(options, 1);
    context = context_of(options);
    CHECK_INT(NETLIB_CERT_REQUIRED, netlib_tls_context_verify_mode(context));
    netlib_tls_context_free(context);
    options = client_options();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_OPTIONAL);
    context = context_of(options);
    CHECK_INT(NETLIB_CERT_OPTIONAL, netlib_tls_context_verify_mode(context));
    CHECK(netlib_tls_context_check_hostname(context));
    /* The name is checked whenever the certificate is. */
    netlib_tls_stream *stream = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_fd(context, -1, NULL, &stream, &err));
    netlib_tls_context *server = server_context("wrong-name");
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
    server_start(&peer);
    stream = wrap(context, pair.near, "localhost");
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_tls_stream_handshake(stream, &err));
    netlib_tls_stream_free(stream);
    close(pair.near);
    server_join(&peer);
    netlib_tls_context_free(server);
    netlib_tls_context_free(context);
}

static size_t slurp(const char *path, char *buffer, size_t room) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t len = file != NULL ? fread(buffer, 1, room - 1, file) : 0;
    if (file != NULL) fclose(file);
    buffer[len] = '\0';
    return len;
}

static void trust_and_identity_in_every_form(void) {
    netlib_error *err = NULL;
    static const struct {
        const char *ca, *chain, *key;
        netlib_status status;
        const char *says;
    } rows[] = {
        {"ca.pem", "server.pem", "server.key", NETLIB_OK, NULL},
        {"ca.pem", "server.pem", "server-sec1.key", NETLIB_OK, NULL},
        {"ca.pem", "server.der", "server-key.der", NETLIB_OK, NULL},
        {"ca.pem", "server-both.pem", NULL, NETLIB_OK, NULL},
        {"ca.pem", "rsa.pem", "rsa.key", NETLIB_OK, NULL},
        {"ca.pem", "rsa.pem", "rsa-pkcs1.key", NETLIB_OK, NULL},
        {"ca.pem", "server.pem", "client.key", NETLIB_KEY_MISMATCH, "client.key"},
        {"ca.pem", "server.pem", "rsa.key", NETLIB_KEY_MISMATCH, "rsa.key"},
        {"ca.pem", "server.pem", "server-encrypted.key", NETLIB_UNSUPPORTED, "encrypted"},
        {"ca.pem", "server.pem", "nonexistent.key", NETLIB_IO, "nonexistent.key"},
        {"ca.pem", "server.pem", "ca.pem", NETLIB_INVALID_PEM, "holds no private key"},
        {"ca.pem", "server.pem", NULL, NETLIB_INVALID_PEM, "holds no private key"},
        {"ca.pem", "server.key", NULL, NETLIB_INVALID_PEM, "holds no certificate"},
        {"ca.pem", "make.sh", "server.key", NETLIB_INVALID_PEM, "make.sh"},
        {"nonexistent.pem", NULL, NULL, NETLIB_IO, "nonexistent.pem"},
        {"server.key", NULL, NULL, NETLIB_INVALID_PEM, "server.key"},
        {"make.sh", NULL, NULL, NETLIB_INVALID_PEM, "make.sh"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int from_memory = 0; from_memory < 2; from_memory++) {
            char ca[256], chain[256], key[256], data[8192];
            snprintf(ca, sizeof ca, CERTS "%s", rows[i].ca);
            snprintf(chain, sizeof chain, CERTS "%s", rows[i].chain != NULL ? rows[i].chain : "");
            snprintf(key, sizeof key, CERTS "%s", rows[i].key != NULL ? rows[i].key : "");
            if (from_memory && rows[i].status == NETLIB_IO) continue;
            netlib_tls_options *options = netlib_tls_options_new();
            if (from_memory) {
                size_t len = slurp(ca, data, sizeof data);
                netlib_tls_options_add_ca_data(options, data, len);
            } else {
                netlib_tls_options_add_ca_file(options, ca);
            }
            if (rows[i].chain != NULL && from_memory) {
                char key_data[8192];
                size_t len = slurp(chain, data, sizeof data);
                size_t key_len = rows[i].key != NULL ? slurp(key, key_data, sizeof key_data) : 0;
                netlib_tls_options_set_identity(options, data, len, rows[i].key != NULL ? key_data : NULL, key_len);
            } else if (rows[i].chain != NULL) {
                netlib_tls_options_set_identity_files(options, chain, rows[i].key != NULL ? key : NULL);
            }
            netlib_tls_context *context = NULL;
            netlib_status status = netlib_tls_context_new(options, &context, &err);
            if (rows[i].says != NULL && !from_memory) {
                CHECK(strstr(netlib_error_message(err, NULL), rows[i].says) != NULL);
            }
            if (rows[i].status == NETLIB_IO) CHECK_INT(ENOENT, netlib_error_errno(err));
            /* What is found out only now names its setter all the same. */
            static const char *const setters[] = {
                "netlib_tls_options_add_ca_file: ", "netlib_tls_options_add_ca_data: ",
                "netlib_tls_options_set_identity_files: ", "netlib_tls_options_set_identity: "};
            const char *setter = setters[(rows[i].chain != NULL ? 2 : 0) + from_memory];
            if (rows[i].says != NULL) CHECK(strncmp(netlib_error_message(err, NULL), setter, strlen(setter)) == 0);
            CHECK_STATUS(rows[i].status, status);
            netlib_tls_context_free(context);
            netlib_tls_options_free(options);
        }
    }
    /* Text to its NUL. */
    char ca[8192];
    slurp(CERTS "ca.pem", ca, sizeof ca);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_data(options, ca, NETLIB_NTS);
    netlib_tls_context_free(context_of(options));
}

/* A shell's <(cat ca.pem): not a regular file, and gone once it is read. */
static void authorities_come_from_a_pipe(void) {
    char data[8192], path[32];
    size_t len = slurp(CERTS "ca.pem", data, sizeof data);
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], data, len) == (ssize_t)len);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, path);
    netlib_tls_context *context = context_of(options);
    CHECK_INT(1, (long long)netlib_tls_context_trust_anchor_count(context));
    netlib_tls_context_free(context);
    close(ends[0]);
}

/* Sizes come from the caller: beyond what makes sense they are refused before anything is copied. */
static void what_is_too_large_is_refused(void) {
    size_t len = (size_t)16 * 1024 * 1024 + 1;
    char *data = malloc(len + 1);
    CHECK(data != NULL);
    if (data == NULL) return;
    memset(data, 'x', len);
    data[len] = '\0';
    enum { CA_DATA, CHAIN, KEY, CA_PATH, CHAIN_PATH, KEY_PATH };
    static const char *const messages[] = {
        "netlib_tls_options_add_ca_data: data must have at most 16 MiB; it has 16777217 bytes",
        "netlib_tls_options_set_identity: chain must have at most 16 MiB; it has 16777217 bytes",
        "netlib_tls_options_set_identity: key must have at most 16 MiB; it has 16777217 bytes",
        "netlib_tls_options_add_ca_file: path has 16777217 bytes; a path has at most 4096",
        "netlib_tls_options_set_identity_files: chain_path has 16777217 bytes; a path has at most 4096",
        "netlib_tls_options_set_identity_files: key_path has 16777217 bytes; a path has at most 4096",
    };
    for (int what = CA_DATA; what <= KEY_PATH; what++) {
        netlib_tls_options *options = netlib_tls_options_new();
        switch (what) {
        case CA_DATA: netlib_tls_options_add_ca_data(options, data, len); break;
        case CHAIN: netlib_tls_options_set_identity(options, data, NETLIB_NTS, NULL, 0); break;
        case KEY: netlib_tls_options_set_identity(options, "", 0, data, len); break;
        case CA_PATH: netlib_tls_options_add_ca_file(options, data); break;
        case CHAIN_PATH: netlib_tls_options_set_identity_files(options, data, NULL); break;
        case KEY_PATH: netlib_tls_options_set_identity_files(options, "x", data); break;
        }
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        CHECK_STR(messages[what], netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        netlib_tls_options_free(options);
    }
    /* Text that is only looked at is shown in part. */
    netlib_error *err = NULL;
    int32_t number = 99;
    netlib_status status = netlib_resolve_cert_reqs(data, &number, &err);
    CHECK(strlen(netlib_error_message(err, NULL)) < 250);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_context *context = client_context();
    netlib_tls_stream *stream = NULL;
    status = netlib_tls_wrap_fd(context, -1, data, &stream, &err);
    CHECK_STR("server_hostname is not a host name", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_context_free(context);
    free(data);
}

/* One session: an echo of a few bytes, and what is known of it. */
static void echo(const netlib_tls_context *client, const netlib_tls_context *server, const char *name, int32_t version) {
    netlib_error *err = NULL;
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
    server_start(&peer);
    netlib_tls_stream *stream = wrap(client, pair.near, name);
    size_t n = 0, len = 0;
    char buffer[16] = "";
    CHECK_INT(0, netlib_tls_stream_version(stream));
    CHECK(netlib_tls_stream_cipher_suite(stream, NULL) == NULL);
    CHECK_INT(0, (long long)netlib_tls_stream_peer_certificate_count(stream));
    CHECK_OK(netlib_tls_stream_write(stream, "hello", 5, &n, &err));
    CHECK_INT(5, (long long)n);
    CHECK_OK(netlib_tls_stream_read(stream, buffer, 2, &n, &err));
    CHECK_INT(2, (long long)n);
    CHECK_INT(3, (long long)netlib_tls_stream_pending(stream));
    CHECK_OK(netlib_tls_stream_read(stream, buffer + 2, sizeof buffer - 2, &n, &err));
    CHECK_STR("hello", buffer);
    CHECK_INT(version, netlib_tls_stream_version(stream));
    const char *suite = netlib_tls_stream_cipher_suite(stream, &len);
    CHECK(suite != NULL && strncmp(suite, "TLS_", 4) == 0 && strlen(suite) == len);
    CHECK((strncmp(suite, "TLS_ECDHE_", 10) == 0) == (version == NETLIB_TLS_1_2));
    CHECK(netlib_tls_stream_alpn_protocol(stream, NULL) == NULL);
    CHECK_INT(1, (long long)netlib_tls_stream_peer_certificate_count(stream));
    const uint8_t *der = netlib_tls_stream_peer_certificate(stream, 0, &len);
    CHECK(der != NULL && len > 300 && der[0] == 0x30);
    CHECK(netlib_tls_stream_peer_certificate(stream, 1, &len) == NULL && len == 0);
    CHECK_OK(netlib_tls_stream_shutdown(stream, &err));
    CHECK_OK(netlib_tls_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_tls_stream_write(stream, "x", 1, &n, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
    server_join(&peer);
    CHECK_INT(NETLIB_END_OF_STREAM, peer.status);
    netlib_tls_stream_free(stream);
    /* The descriptor is the caller's, as he made it. */
    CHECK((fcntl(pair.near, F_GETFL) & O_NONBLOCK) == 0);
    close(pair.near);
}

static void both_versions_and_key_types(void) {
    static const char *const identities[] = {"server", "rsa"};
    static const int32_t versions[] = {NETLIB_TLS_1_2, NETLIB_TLS_1_3};
    for (size_t i = 0; i < 2; i++) {
        netlib_tls_context *server = server_context(identities[i]);
        for (size_t j = 0; j < 2; j++) {
            netlib_tls_options *options = client_options();
            netlib_tls_options_set_minimum_version(options, versions[j]);
            netlib_tls_options_set_maximum_version(options, versions[j]);
            netlib_tls_context *client = context_of(options);
            /* The second session of a context is resumed; it looks the same. */
            echo(client, server, "localhost", versions[j]);
            echo(client, server, "localhost", versions[j]);
            netlib_tls_context_free(client);
        }
        netlib_tls_context_free(server);
    }
}

static void names_as_they_are_written(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    netlib_tls_context *client = client_context();
    static const struct {
        const char *name;
        netlib_status status;
    } rows[] = {
        {"localhost", NETLIB_OK},
        {"LOCALHOST", NETLIB_OK},
        {"localhost.", NETLIB_OK},
        {"a.wild.test", NETLIB_OK},
        {"b\xc3\xbc" "cher.test", NETLIB_OK},
        {"127.0.0.1", NETLIB_OK},
        {"::1", NETLIB_OK},
        {"[::1]", NETLIB_OK},
        {"fe80::1%eth0", NETLIB_OK},
        {"[fe80::1%25lo]", NETLIB_OK},
        {"wild.test", NETLIB_HOSTNAME_MISMATCH},
        {"a.b.wild.test", NETLIB_HOSTNAME_MISMATCH},
        {"127.0.0.2", NETLIB_HOSTNAME_MISMATCH},
        {"fe80::2%eth0", NETLIB_HOSTNAME_MISMATCH},
        {"localhost.example", NETLIB_HOSTNAME_MISMATCH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_tls_stream *stream = wrap(client, pair.near, rows[i].name);
        CHECK_STATUS(rows[i].status, netlib_tls_stream_handshake(stream, &err));
        netlib_tls_stream_free(stream);
        close(pair.near);
        server_join(&peer);
    }
    static const char *const bad[] = {NULL, "", "a b", "a..b", "[localhost]", "x/y", "."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        netlib_tls_stream *stream = NULL;
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_fd(client, -1, bad[i], &stream, &err));
        CHECK(stream == NULL);
    }
    netlib_tls_stream *stream = NULL;
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_tls_wrap_fd(client, -1, "\xff", &stream, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_accept_fd(client, -1, &stream, &err));
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

#define ACCEPT_ANY "to accept it all the same: netlib_tls_options_set_verify_mode with NETLIB_CERT_NONE"

static void refused_certificates_explain_themselves(void) {
    static const struct {
        const char *identity;
        netlib_status status;
        int32_t problem;
        int32_t alert;
        const char *says[2], *advice;
    } rows[] = {
        {"expired", NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_EXPIRED, 45,
         {"2021-01-01 00:00:00 UTC", "localhost"}, ACCEPT_ANY},
        {"future", NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_NOT_YET_VALID, 45,
         {"2110-01-01 00:00:00 UTC", "localhost"}, ACCEPT_ANY},
        {"wrong-name", NETLIB_HOSTNAME_MISMATCH, NETLIB_CERTIFICATE_NAME_MISMATCH, 42,
         {"other.test", "more.test"},
         "to accept any name: netlib_tls_options_set_check_hostname with 0"},
        {"wrong-purpose", NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_WRONG_PURPOSE, 43,
         {"purpose", "server authentication"}, ACCEPT_ANY},
        {"self-signed", NETLIB_CERTIFICATE_VERIFY, NETLIB_CERTIFICATE_UNKNOWN_ISSUER, 48,
         {"self-signed", "CN=localhost"}, "to trust it: netlib_tls_options_add_ca_data"},
    };
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_context *trusting = context_of(options);
    CHECK_INT(NETLIB_CERT_NONE, netlib_tls_context_verify_mode(trusting));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_context *server = server_context(rows[i].identity);
        for (int version = 0; version < 2; version++) {
            struct pair pair = unix_pair();
            struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
            server_start(&peer);
            netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
            netlib_status status = netlib_tls_stream_handshake(stream, &err);
            CHECK_INT(rows[i].problem, netlib_error_certificate_problem(err));
            CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
            for (size_t j = 0; j < 2; j++) {
                const char *message = netlib_error_message(err, NULL);
                CHECK(message != NULL && strstr(message, rows[i].says[j]) != NULL);
            }
            CHECK_STR(rows[i].advice, netlib_error_advice(err, NULL));
            CHECK_STATUS(rows[i].status, status);
            /* Sticky. */
            size_t n = 0;
            CHECK_STATUS(rows[i].status, netlib_tls_stream_write(stream, "x", 1, &n, &err));
            CHECK_STATUS(rows[i].status, netlib_tls_stream_read(stream, &n, 1, &n, &err));
            CHECK_STATUS(rows[i].status, netlib_tls_stream_shutdown(stream, &err));
            netlib_tls_stream_free(stream);
            /* The server was told why. */
            server_join(&peer);
            CHECK_INT(NETLIB_TLS_ALERT, peer.status);
            CHECK_INT(rows[i].alert, peer.alert);
            close(pair.near);
        }
        echo(trusting, server, NULL, NETLIB_TLS_1_3);
        echo(trusting, server, "localhost", NETLIB_TLS_1_3);
        netlib_tls_context_free(server);
    }
    netlib_tls_context_free(trusting);
    netlib_tls_context_free(client);

    /* Another authority is trusted than the one that issued it; the name check off changes nothing about that. */
    netlib_tls_context *server = server_context("server");
    for (int32_t check = 0; check < 2; check++) {
        options = netlib_tls_options_new();
        netlib_tls_options_add_ca_file(options, CERTS "other-ca.pem");
        netlib_tls_options_set_check_hostname(options, check);
        client = context_of(options);
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_tls_stream_handshake(stream, &err);
        CHECK_INT(NETLIB_CERTIFICATE_UNKNOWN_ISSUER, netlib_error_certificate_problem(err));
        CHECK(strstr(netlib_error_message(err, NULL), "netlib test CA") != NULL);
        CHECK_STATUS(NETLIB_CERTIFICATE_VERIFY, status);
        netlib_tls_stream_free(stream);
        close(pair.near);
        server_join(&peer);
        netlib_tls_context_free(client);
    }
    /* Of the name, the check off forgives everything. */
    options = client_options();
    netlib_tls_options_set_check_hostname(options, 0);
    client = context_of(options);
    CHECK_INT(NETLIB_CERT_REQUIRED, netlib_tls_context_verify_mode(client));
    echo(client, server, "elsewhere.example", NETLIB_TLS_1_3);
    echo(client, server, NULL, NETLIB_TLS_1_3);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void protocols_are_agreed_on(void) {
    static const struct {
        const char *client[2], *server[2], *agreed;
        netlib_status status;
        int32_t alert;
    } rows[] = {
        {{"h2", "http/1.1"}, {"http/1.1", NULL}, "http/1.1", NETLIB_OK, -1},
        {{"http/1.1", "h2"}, {"h2", "http/1.1"}, "h2", NETLIB_OK, -1},
        {{"http/1.1", NULL}, {NULL, NULL}, "", NETLIB_OK, -1},
        {{NULL, NULL}, {"h2", NULL}, "", NETLIB_OK, -1},
        {{"h2", NULL}, {"http/1.1", NULL}, "", NETLIB_TLS_ALERT, 120},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options *server_options = client_options();
        netlib_tls_options_set_identity_files(server_options, CERTS "server-both.pem", NULL);
        for (size_t j = 0; j < 2; j++) {
            if (rows[i].client[j] != NULL) netlib_tls_options_add_alpn_protocol(options, rows[i].client[j]);
            if (rows[i].server[j] != NULL) netlib_tls_options_add_alpn_protocol(server_options, rows[i].server[j]);
        }
        netlib_tls_context *client = context_of(options);
        netlib_tls_context *server = context_of(server_options);
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
        netlib_status status = netlib_tls_stream_handshake(stream, &err);
        CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
        CHECK_STATUS(rows[i].status, status);
        const char *agreed = netlib_tls_stream_alpn_protocol(stream, NULL);
        CHECK_STR(rows[i].agreed, agreed != NULL ? agreed : "");
        server_join(&peer);
        CHECK_STR(rows[i].agreed, peer.alpn);
        netlib_tls_stream_free(stream);
        close(pair.near);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

static void clients_can_have_certificates(void) {
    static const struct {
        int32_t mode;
        const char *identity;
        netlib_status server;
        size_t certificates;
    } rows[] = {
        {NETLIB_CERT_REQUIRED, "client", NETLIB_END_OF_STREAM, 1},
        {NETLIB_CERT_OPTIONAL, "client", NETLIB_END_OF_STREAM, 1},
        {NETLIB_CERT_OPTIONAL, NULL, NETLIB_END_OF_STREAM, 0},
        {NETLIB_CERT_REQUIRED, NULL, NETLIB_CERTIFICATE_VERIFY, 0},
        {NETLIB_CERT_OPTIONAL, "self-signed", NETLIB_CERTIFICATE_VERIFY, 0},
        {NETLIB_CERT_NONE, "client", NETLIB_END_OF_STREAM, 0},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
        netlib_tls_options_set_verify_mode(options, rows[i].mode);
        netlib_tls_context *server = context_of(options);
        options = client_options();
        if (rows[i].identity != NULL) {
            char chain[256], key[256];
            snprintf(chain, sizeof chain, CERTS "%s.pem", rows[i].identity);
            snprintf(key, sizeof key, CERTS "%s.key", rows[i].identity);
            netlib_tls_options_set_identity_files(options, chain, key);
        }
        netlib_tls_context *client = context_of(options);
        struct pair pair = unix_pair();
        struct server peer = {.does = SERVE_ECHO, .context = server, .fd = pair.far};
        server_start(&peer);
        netlib_tls_stream *stream = wrap(client, pair.near, "localhost");
        char buffer[8];
        size_t n = 0;
        CHECK_OK(netlib_tls_stream_handshake(stream, &err));
        if (rows[i].server == NETLIB_END_OF_STREAM) {
            CHECK_OK(netlib_tls_stream_shutdown(stream, &err));
            CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
        } else {
            /* In TLS 1.3 the refusal comes after the client's handshake is done. */
            CHECK_STATUS(NETLIB_TLS_ALERT, netlib_tls_stream_read(stream, buffer, sizeof buffer, &n, &err));
        }
        server_join(&peer);
        CHECK_INT(rows[i].server, peer.status);
        CHECK_INT((long long)rows[i].certificates, (long long)peer.client_certificates);
        netlib_tls_stream_free(stream);
        close(pair.near);
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

/* A stream and its position in a pseudo-random sequence, checked on arrival. */
static void names_of_constants(void) {
    netlib_error *err = NULL;
    static const struct {
        bool version;
        const char *candidate;
        netlib_status status;
        int32_t number;
    } rows[] = {
        {false, NULL, NETLIB_OK, NETLIB_CERT_REQUIRED},
        {false, "CERT_NONE", NETLIB_OK, NETLIB_CERT_NONE},
        {false, "OPTIONAL", NETLIB_OK, NETLIB_CERT_OPTIONAL},
        {false, "REQUIRED", NETLIB_OK, NETLIB_CERT_REQUIRED},
        {false, "7", NETLIB_OK, 7},
        {false, "required", NETLIB_INVALID_ARGUMENT, 0},
        {false, "\xff", NETLIB_INVALID_UTF8, 0},
        {true, NULL, NETLIB_OK, 2},
        {true, "PROTOCOL_TLS", NETLIB_OK, 2},
        {true, "SSLv23", NETLIB_OK, 2},
        {true, "TLSv1_2", NETLIB_OK, 5},
        {true, "PROTOCOL_TLS_CLIENT", NETLIB_OK, 16},
        {true, "-1", NETLIB_OK, -1},
        {true, "TLSv9", NETLIB_INVALID_ARGUMENT, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t number = 99;
        CHECK_STATUS(rows[i].status, rows[i].version ? netlib_resolve_ssl_version(rows[i].candidate, &number, &err)
                                                     : netlib_resolve_cert_reqs(rows[i].candidate, &number, &err));
        CHECK_INT(rows[i].number, number);
    }
}

int main(void) {
    contexts_tell_what_they_are();
    options_are_checked();
    trust_and_identity_in_every_form();
    authorities_come_from_a_pipe();
    what_is_too_large_is_refused();
    both_versions_and_key_types();
    names_as_they_are_written();
    refused_certificates_explain_themselves();
    protocols_are_agreed_on();
    clients_can_have_certificates();
    names_of_constants();
    return report("tls");
}
