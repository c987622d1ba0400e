/* Tests TLS contexts: options, trust, identity, and the names of constants. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>

static void getters_of_a_context_return_its_settings(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = client_context();
    CHECK_INT(NETLIB_TRUST_CUSTOM, netlib_tls_context_trust_kinds(context));
    CHECK_INT(1, (long long)netlib_tls_context_trust_anchor_count(context));
    CHECK_INT(NETLIB_CERT_REQUIRED, netlib_tls_context_verify_mode(context));
    CHECK(netlib_tls_context_check_hostname(context));
    CHECK_INT(NETLIB_TLS_VERSION_1_2, netlib_tls_context_minimum_version(context));
    CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_tls_context_maximum_version(context));
    netlib_tls_context *other = netlib_tls_context_clone(context);
    netlib_tls_context_free(context);
    CHECK_INT(1, (long long)netlib_tls_context_trust_anchor_count(other));
    netlib_tls_context_free(other);

    /* The sources of a context's trust anchors, depending on SSL_CERT_FILE and on the options. */
    static const struct {
        const char *variable;
        int32_t use_environment;
        int32_t with_custom;
        int32_t system_trust; /* -1: not set */
        netlib_status status;
        int32_t sources; /* SYSTEM also means EMBEDDED, if there is no system store */
        size_t anchors;  /* 0: the number is not checked */
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
        int32_t sources = netlib_tls_context_trust_kinds(context);
        if (sources & NETLIB_TRUST_EMBEDDED) sources ^= NETLIB_TRUST_EMBEDDED | NETLIB_TRUST_SYSTEM;
        CHECK_INT(rows[i].sources, sources);
        size_t anchors = netlib_tls_context_trust_anchor_count(context);
        CHECK(rows[i].anchors != 0 || rows[i].status != NETLIB_OK ? anchors == rows[i].anchors : anchors > 20);
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
        unsetenv("SSL_CERT_FILE");
    }
}

static void invalid_tls_options_are_refused(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    enum what { MINIMUM, MAXIMUM, MODE, HOSTNAME, SYSTEM, ENVIRONMENT, ALPN, ALPN_LIST };
    static const struct {
        enum what what;
        int32_t value;
        netlib_status status;
        const char *setter;
    } rows[] = {
        {MINIMUM, NETLIB_TLS_VERSION_1_3, NETLIB_OK, NULL},
        {MINIMUM, NETLIB_TLS_VERSION_MINIMUM_SUPPORTED, NETLIB_OK, NULL},
        {MAXIMUM, NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED, NETLIB_OK, NULL},
        {MINIMUM, 0x0301, NETLIB_OK, NULL},
        {MINIMUM, 0x02ff, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_minimum_version"},
        {MAXIMUM, 0x0302, NETLIB_UNSUPPORTED, "netlib_tls_options_set_maximum_version"},
        {MAXIMUM, 5, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_maximum_version"},
        {MODE, 3, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_verify_mode"},
        {HOSTNAME, 2, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_check_hostname"},
        {SYSTEM, -1, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_system_trust"},
        {ENVIRONMENT, 7, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_use_environment"},
        {ALPN, 0, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_add_alpn_protocol"},
        {ALPN_LIST, 0, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_add_alpn_protocol: protocol has a comma (at byte 2)"},
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
        case ALPN_LIST: netlib_tls_options_add_alpn_protocol(options, "h2,http/1.1"); break;
        }
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        if (rows[i].setter != NULL) CHECK_CONTAINS(rows[i].setter, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_3);
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    netlib_status above = netlib_tls_context_new(options, &context, &err);
    CHECK_STR("netlib_tls_options_set_minimum_version: the minimum version TLS 1.3 is above the maximum TLS 1.2",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, above);
    netlib_tls_options_free(options);
    options = netlib_tls_options_new();
    netlib_tls_options_set_system_trust(options, 0);
    netlib_status nobody = netlib_tls_context_new(options, &context, &err);
    CHECK_STR("netlib_tls_options_set_system_trust: certificates cannot be verified, because no authority is trusted",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_NO_TRUST_ANCHORS, nobody);
    netlib_tls_options_free(options);

    /* As in Python, check_hostname requires certificate verification. */
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
    /* The verify mode CERT_OPTIONAL includes the host name check. */
    netlib_stream *stream = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_wrap_fd(context, -1, NULL, &stream, &err));
    netlib_tls_context *server = server_context("wrong-name");
    struct pair pair = unix_pair();
    struct server peer = {.does = SERVE_HANDSHAKE, .context = server, .fd = pair.far};
    server_start(&peer);
    stream = wrap(context, pair.near, "localhost");
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_stream_handshake(stream, &err));
    netlib_stream_free(stream);
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

static void ca_certificates_and_identities_load_from_files_and_memory(void) {
    netlib_error *err = NULL;
    static const struct {
        const char *ca, *chain, *key;
        netlib_status status;
        const char *message_part;
    } rows[] = {
        {"ca.pem", "server.pem", "server.key", NETLIB_OK, NULL},
        {"ca.pem", "server.pem", "server-sec1.key", NETLIB_OK, NULL},
        {"ca.pem", "server.der", "server-key.der", NETLIB_OK, NULL},
        {"ca.pem", "server-both.pem", NULL, NETLIB_OK, NULL},
        {"ca.pem", "rsa.pem", "rsa.key", NETLIB_OK, NULL},
        {"ca.pem", "rsa.pem", "rsa-pkcs1.key", NETLIB_OK, NULL},
        {"ca.pem", "server.pem", "client.key", NETLIB_KEY_MISMATCH, "client.key"},
        {"ca.pem", "server.pem", "rsa.key", NETLIB_KEY_MISMATCH, "rsa.key"},
        {"ca.pem", "server.pem", "server-encrypted.key", NETLIB_PASSWORD_REQUIRED, "encrypted"},
        {"ca.pem", "server.pem", "nonexistent.key", NETLIB_IO, "nonexistent.key"},
        {"ca.pem", "server.pem", "ca.pem", NETLIB_INVALID_PEM, "contains no private key"},
        {"ca.pem", "server.pem", NULL, NETLIB_INVALID_PEM, "contains no private key"},
        {"ca.pem", "server.key", NULL, NETLIB_INVALID_PEM, "contains no certificate"},
        {"ca.pem", "make.sh", "server.key", NETLIB_INVALID_PEM,
         "make.sh contains neither PEM nor DER certificates, nor PKCS#12"},
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
            if (rows[i].message_part != NULL && !from_memory) {
                CHECK_CONTAINS(rows[i].message_part, netlib_error_message(err, NULL));
            }
            if (rows[i].status == NETLIB_IO) CHECK_INT(ENOENT, netlib_error_errno(err));
            /* netlib reads files and parses certificates only when it creates the context, so the error must name the
             * setter that got the invalid file or data. */
            static const char *const setters[] = {
                "netlib_tls_options_add_ca_file: ", "netlib_tls_options_add_ca_data: ",
                "netlib_tls_options_set_identity_files: ", "netlib_tls_options_set_identity: "};
            const char *setter = setters[(rows[i].chain != NULL ? 2 : 0) + from_memory];
            if (rows[i].message_part != NULL)
                CHECK(strncmp(netlib_error_message(err, NULL), setter, strlen(setter)) == 0);
            CHECK_STATUS(rows[i].status, status);
            netlib_tls_context_free(context);
            netlib_tls_options_free(options);
        }
    }
    /* With NETLIB_NTS, the text ends at its NUL. */
    char ca[8192];
    slurp(CERTS "ca.pem", ca, sizeof ca);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_data(options, ca, NETLIB_NTS);
    netlib_tls_context_free(context_of(options));
}

/* The CA file is a pipe, as with <(cat ca.pem) in a shell. A pipe is not a regular file and can be read only once. */
static void ca_certificates_can_be_read_from_a_pipe(void) {
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

/* Arguments that are too large are refused before netlib copies them. */
static void tls_inputs_above_16_mib_are_refused(void) {
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
    /* An error message contains only a part of a long text. */
    netlib_error *err = NULL;
    int32_t number = 99;
    netlib_status status = netlib_resolve_cert_reqs(data, &number, &err);
    CHECK(strlen(netlib_error_message(err, NULL)) < 250);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_context *context = client_context();
    netlib_stream *stream = NULL;
    status = netlib_tls_wrap_fd(context, -1, data, &stream, &err);
    CHECK_STR("server_hostname is not a host name", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_context_free(context);
    free(data);
}

static void names_of_tls_constants_are_resolved_to_their_numbers(void) {
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
    getters_of_a_context_return_its_settings();
    invalid_tls_options_are_refused();
    ca_certificates_and_identities_load_from_files_and_memory();
    ca_certificates_can_be_read_from_a_pipe();
    tls_inputs_above_16_mib_are_refused();
    names_of_tls_constants_are_resolved_to_their_numbers();
    return report("tls");
}
