/* Tests which CA certificates a context trusts, from which sources, and which certificates netlib skips. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

static char directory[64];

static void write_file(const char *name, const char *bytes, size_t len) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
}

static char *text_of(const char *path) {
    static char text[4][8192];
    static unsigned calls;
    char *into = text[calls++ % 4];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (file == NULL) exit(1);
    into[fread(into, 1, sizeof text[0] - 1, file)] = '\0';
    fclose(file);
    return into;
}

static void copy_to(const char *name, const char *path) {
    const char *text = text_of(path);
    write_file(name, text, strlen(text));
}

static void link_to(const char *name, const char *target) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    CHECK(symlink(target, path) == 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void replace_directory_with_an_empty_one(void) {
    if (directory[0] != '\0') nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    strcpy(directory, "/tmp/netlib-trust-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
}

/* Returns a text with the results of all trust getters of a context, one line for each source and for each skipped
 * certificate. "@" stands for the test directory. */
static const char *describe_trust(const netlib_tls_context *context) {
    static char out[8192];
    size_t at = 0, len = 99;
    out[0] = '\0';
    for (size_t i = 0; i < netlib_tls_context_trust_source_count(context); i++) {
        const char *name = netlib_tls_context_trust_source_name(context, i, &len);
        CHECK_INT((long long)strlen(name), (long long)len);
        size_t prefix = strlen(directory);
        bool ours = prefix > 0 && strncmp(name, directory, prefix) == 0;
        at += (size_t)snprintf(out + at, sizeof out - at, "%d %s%s %zu\n",
                               (int)netlib_tls_context_trust_source_kind(context, i), ours ? "@" : "",
                               ours ? name + prefix : name, netlib_tls_context_trust_source_anchor_count(context, i));
        size_t skipped = netlib_tls_context_trust_source_skipped_count(context, i);
        for (size_t j = 0; j < skipped; j++) {
            const char *text = netlib_tls_context_trust_source_skipped(context, i, j, &len);
            CHECK_INT((long long)strlen(text), (long long)len);
            at += (size_t)snprintf(out + at, sizeof out - at, "  %s\n", text);
        }
        CHECK_STR(NULL, netlib_tls_context_trust_source_skipped(context, i, skipped, &len));
        CHECK_INT(0, (long long)len);
    }
    size_t count = netlib_tls_context_trust_source_count(context);
    CHECK_INT(0, netlib_tls_context_trust_source_kind(context, count));
    CHECK_STR(NULL, netlib_tls_context_trust_source_name(context, count, &len));
    CHECK_INT(0, (long long)netlib_tls_context_trust_source_anchor_count(context, count));
    CHECK_INT(0, (long long)netlib_tls_context_trust_source_skipped_count(context, count));
    CHECK_STR(NULL, netlib_tls_context_trust_source_skipped(context, count, 0, NULL));
    return out;
}

#define CRL_SKIPPED \
    "  0123abcd.r0: CRLs are not read from this directory; add the file as a CRL file\n" \
    "  89abcdef.r12: CRLs are not read from this directory; add the file as a CRL file\n"

static void all_ca_directory_files_are_read_unless_some_have_hashed_names(void) {
    static const struct {
        const char *what; /* the preparation before the directory is read */
        const char *expected;
        size_t anchors;
    } rows[] = {
        {"one", "4 @ 1\n", 1},
        {"two", "4 @ 2\n", 2},
        {"der", "4 @ 3\n", 3},
        /* The directory has the same CA certificate twice, and a second name for one file. */
        {"again", "4 @ 3\n", 3},
        {"others",
         "4 @ 3\n  README contains neither PEM nor DER certificates\n  bad.pem: certificate 0 cannot be read: the "
         "signed part at its byte 2\n"
         "  cannot read dangling: No such file or directory\n  empty contains no certificate\n  key.pem contains "
         "no certificate\n",
         3},
        {"revoked",
         "4 @ 3\n  README contains neither PEM nor DER certificates\n  bad.pem: certificate 0 cannot be read: the "
         "signed part at its byte 2\n"
         "  cannot read dangling: No such file or directory\n  empty contains no certificate\n  key.pem contains "
         "no certificate\n" CRL_SKIPPED,
         3},
        /* If the directory has hashed file names, netlib, like OpenSSL, reads only the files with these names. */
        {"hashed",
         "4 @ 1\n  README: no hashed name, as created by c_rehash, refers to this file\n"
         "  again.pem: no hashed name, as created by c_rehash, refers to this file\n"
         "  bad.pem: no hashed name, as created by c_rehash, refers to this file\n"
         "  cannot read dangling: No such file or directory\n"
         "  empty: no hashed name, as created by c_rehash, refers to this file\n"
         "  key.pem: no hashed name, as created by c_rehash, refers to this file\n"
         "  root.der: no hashed name, as created by c_rehash, refers to this file\n"
         "  two.crt: no hashed name, as created by c_rehash, refers to this file\n" CRL_SKIPPED,
         1},
    };
    netlib_error *err = NULL;
    replace_directory_with_an_empty_one();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].what, "one") == 0) {
            copy_to("one.pem", CERTS "ca.pem");
        } else if (strcmp(rows[i].what, "two") == 0) {
            copy_to("two.crt", CERTS "other-ca.pem");
        } else if (strcmp(rows[i].what, "der") == 0) {
            netlib_certificate *certificate = NULL;
            CHECK_OK(netlib_certificate_parse(text_of(CERTS "shapes/version1.pem"), NETLIB_NTS, &certificate, &err));
            size_t len;
            const char *der = (const char *)netlib_certificate_der(certificate, &len);
            write_file("root.der", der, len);
            netlib_certificate_free(certificate);
        } else if (strcmp(rows[i].what, "again") == 0) {
            copy_to("again.pem", CERTS "ca.pem");
            link_to("link.pem", "one.pem");
        } else if (strcmp(rows[i].what, "revoked") == 0) {
            copy_to("0123abcd.r0", CERTS "verify/root-and-crls.pem"); /* its CA certificate is not read */
            link_to("89abcdef.r12", "0123abcd.r0");
        } else if (strcmp(rows[i].what, "others") == 0) {
            write_file("README", "No certificate", 14);
            write_file("empty", "", 0);
            write_file(".hidden.pem", "-----BEGIN", 10);
            write_file("bad.pem", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", 59);
            copy_to("key.pem", CERTS "server.key");
            link_to("dangling", "nowhere");
            char path[256];
            snprintf(path, sizeof path, "%s/folder", directory);
            CHECK(mkdir(path, 0700) == 0);
            snprintf(path, sizeof path, "%s/pipe", directory);
            CHECK(mkfifo(path, 0600) == 0);
        } else {
            link_to("0123abcd.0", "one.pem");
        }
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_add_ca_dir(options, directory);
        CHECK_OK(netlib_tls_context_new(options, &context, &err));
        netlib_tls_options_free(options);
        CHECK_STR(rows[i].expected, describe_trust(context));
        CHECK_INT((long long)rows[i].anchors, (long long)netlib_tls_context_trust_anchor_count(context));
        CHECK_INT(NETLIB_TRUST_CUSTOM, netlib_tls_context_trust_kinds(context));
        netlib_tls_context_free(context);
    }
}

/* A client trusts the CA certificates of the directory as issuers of server certificates. */
static void authorities_of_a_ca_directory_are_trusted(void) {
    static const struct {
        const char *authority;
        netlib_status status;
    } rows[] = {{CERTS "ca.pem", NETLIB_OK}, {CERTS "other-ca.pem", NETLIB_CERTIFICATE_VERIFY}};
    netlib_tls_context *theirs = server_context("server");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        replace_directory_with_an_empty_one();
        copy_to("a.pem", rows[i].authority);
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_add_ca_dir(options, directory);
        netlib_tls_context *ours = context_of(options);
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_HANDSHAKE, .context = theirs, .fd = pair.far};
        server_start(&server);
        netlib_stream *stream = wrap(ours, pair.near, "localhost");
        CHECK_STATUS(rows[i].status, netlib_stream_handshake(stream, &err));
        netlib_stream_free(stream);
        close(pair.near);
        server_join(&server);
        netlib_tls_context_free(ours);
    }
    netlib_tls_context_free(theirs);
}

static char conditional[8192]; /* ca.pem as OpenSSL's TRUSTED CERTIFICATE, without any conditions */

static const char *with_label(char *into, size_t size, const char *pem, const char *label) {
    const char *start = strchr(pem, '\n'), *end = strstr(pem, "-----END");
    snprintf(into, size, "-----BEGIN %s-----%.*s-----END %s-----\n", label, (int)(end - start), start, label);
    return into;
}

static void trust_sources_without_a_usable_certificate_are_refused(void) {
    enum setter { FILE_SETTER, DIR_SETTER, DATA_SETTER };
    with_label(conditional, sizeof conditional, text_of(CERTS "ca.pem"), "TRUSTED CERTIFICATE");
    replace_directory_with_an_empty_one();
    char empty[64], only_key[160];
    snprintf(empty, sizeof empty, "%s", directory);
    directory[0] = '\0';
    replace_directory_with_an_empty_one();
    copy_to("key.pem", CERTS "server.key");
    snprintf(only_key, sizeof only_key, "%s", directory);
    const struct {
        enum setter setter;
        const char *value;
        netlib_status status;
        int os_errno;
        const char *message; /* the message after the setter's name; %s is the value */
    } rows[] = {
        {DIR_SETTER, "/nonexistent", NETLIB_IO, ENOENT, "cannot read CA directory %s: No such file or directory"},
        {DIR_SETTER, CERTS "ca.pem", NETLIB_IO, ENOTDIR, "cannot read CA directory %s: Not a directory"},
        {DIR_SETTER, empty, NETLIB_INVALID_PEM, 0, "CA directory %s contains no usable certificate"},
        {DIR_SETTER, only_key, NETLIB_INVALID_PEM, 0,
         "CA directory %s contains no usable certificate: key.pem contains no certificate"},
        {FILE_SETTER, "/nonexistent", NETLIB_IO, ENOENT, "cannot read CA file %s: No such file or directory"},
        {FILE_SETTER, CERTS "server.key", NETLIB_INVALID_PEM, 0, "CA file %s contains no certificate"},
        {DATA_SETTER, "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", NETLIB_INVALID_PEM, 0,
         "CA data contains no usable certificate: certificate 0 cannot be read: the signed part at its byte 2"},
        {DATA_SETTER, conditional, NETLIB_INVALID_PEM, 0,
         "CA data contains only certificates in OpenSSL's TRUSTED CERTIFICATE form: trust settings are not "
         "supported; openssl x509 converts such a certificate to the plain form"},
    };
    static const char *const names[] = {"netlib_tls_options_add_ca_file", "netlib_tls_options_add_ca_dir",
                                        "netlib_tls_options_add_ca_data"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = netlib_tls_options_new();
        if (rows[i].setter == FILE_SETTER) netlib_tls_options_add_ca_file(options, rows[i].value);
        if (rows[i].setter == DIR_SETTER) netlib_tls_options_add_ca_dir(options, rows[i].value);
        if (rows[i].setter == DATA_SETTER) netlib_tls_options_add_ca_data(options, rows[i].value, NETLIB_NTS);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        char expected[512];
        int at = snprintf(expected, sizeof expected, "%s: ", names[rows[i].setter]);
        const char *hole = strstr(rows[i].message, "%s");
        if (hole == NULL) {
            snprintf(expected + at, sizeof expected - (size_t)at, "%s", rows[i].message);
        } else {
            snprintf(expected + at, sizeof expected - (size_t)at, "%.*s%s%s", (int)(hole - rows[i].message),
                     rows[i].message, rows[i].value, hole + 2);
        }
        CHECK_STR(expected, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].os_errno, netlib_error_errno(err));
        CHECK_STATUS(rows[i].status, status);
        CHECK(context == NULL);
        netlib_tls_options_free(options);
    }
    replace_directory_with_an_empty_one();
    CHECK(remove(empty) == 0);
}

static void unusable_ca_certificates_are_skipped_and_listed(void) {
    char data[32768];
    snprintf(data, sizeof data, "%s%s%s%s", text_of(CERTS "ca.pem"),
             "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", text_of(CERTS "other-ca.pem"),
             conditional);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_data(options, data, NETLIB_NTS);
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    netlib_tls_context *context = context_of(options);
    CHECK_STR(
        "4 CA data 2\n"
        "  certificate 1 cannot be read: the signed part at its byte 2\n"
        "  certificates in OpenSSL's TRUSTED CERTIFICATE form (1): trust settings are not supported; openssl x509 "
        "converts such a certificate to the plain form\n"
        "4 " CERTS "ca.pem 1\n",
        describe_trust(context));
    CHECK_INT(2, (long long)netlib_tls_context_trust_anchor_count(context));
    netlib_tls_context_free(context);
}

static void embedded_and_system_trust_can_be_selected(void) {
    static const struct {
        int32_t embedded, system; /* -1: not set */
        bool custom, environment;
        const char *expected; /* for EMBEDDED without the count */
        int32_t sources;
    } rows[] = {
        {1, -1, false, true, "2 embedded ", NETLIB_TRUST_EMBEDDED},
        {1, 0, false, true, "2 embedded ", NETLIB_TRUST_EMBEDDED},
        {1, 1, false, true,
         "1 " CERTS "other-ca.pem 1\n1 " CERTS
         "nowhere 0\n  cannot read directory: No such file or directory\n2 embedded ",
         NETLIB_TRUST_SYSTEM | NETLIB_TRUST_EMBEDDED},
        {1, -1, true, true, "4 " CERTS "ca.pem 1\n2 embedded ", NETLIB_TRUST_CUSTOM | NETLIB_TRUST_EMBEDDED},
        {0, -1, true, true, "4 " CERTS "ca.pem 1\n", NETLIB_TRUST_CUSTOM},
        {-1, 1, true, true,
         "4 " CERTS "ca.pem 1\n1 " CERTS "other-ca.pem 1\n1 " CERTS
         "nowhere 0\n  cannot read directory: No such file or directory\n",
         NETLIB_TRUST_CUSTOM | NETLIB_TRUST_SYSTEM},
    };
    setenv("SSL_CERT_FILE", CERTS "other-ca.pem", 1);
    setenv("SSL_CERT_DIR", CERTS "nowhere", 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        if (rows[i].embedded >= 0) netlib_tls_options_set_embedded_trust(options, rows[i].embedded);
        if (rows[i].system >= 0) netlib_tls_options_set_system_trust(options, rows[i].system);
        if (rows[i].custom) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
        netlib_tls_context *context = context_of(options);
        const char *all = describe_trust(context);
        CHECK(strncmp(rows[i].expected, all, strlen(rows[i].expected)) == 0);
        bool embedded = (rows[i].sources & NETLIB_TRUST_EMBEDDED) != 0;
        if (!embedded) CHECK_STR(rows[i].expected, all);
        CHECK_INT(rows[i].sources, netlib_tls_context_trust_kinds(context));
        CHECK_INT(embedded, netlib_tls_context_trust_anchor_count(context) > 50);
        netlib_tls_context_free(context);
    }
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
}

/* SSL_CERT_FILE names a missing file, so netlib fails to create a context that reads the system's CA certificates. */
static void contexts_that_verify_no_peers_read_no_system_authorities_by_default(void) {
    enum { UNSET = -1 };
    static const struct {
        bool has_identity;
        int32_t server_only, mode, system_trust;
        bool has_custom;
        netlib_status status;
        int32_t kinds;
    } rows[] = {
        {true, 0, UNSET, UNSET, false, NETLIB_NO_TRUST_ANCHORS, 0}, /* the context could create client sessions */
        {true, 0, NETLIB_CERT_NONE, UNSET, false, NETLIB_OK, 0},
        {true, 1, UNSET, UNSET, false, NETLIB_OK, 0},
        {true, 1, NETLIB_CERT_NONE, UNSET, false, NETLIB_OK, 0},
        {true, 1, NETLIB_CERT_OPTIONAL, UNSET, false, NETLIB_NO_TRUST_ANCHORS, 0},
        {true, 1, NETLIB_CERT_REQUIRED, UNSET, false, NETLIB_NO_TRUST_ANCHORS, 0},
        {true, 1, NETLIB_CERT_REQUIRED, UNSET, true, NETLIB_OK, NETLIB_TRUST_CUSTOM},
        {true, 1, UNSET, 1, false, NETLIB_NO_TRUST_ANCHORS, 0},
        {true, 1, UNSET, UNSET, true, NETLIB_OK, NETLIB_TRUST_CUSTOM},
        {false, 1, UNSET, 0, false, NETLIB_INVALID_ARGUMENT, 0},
        {false, 2, UNSET, 0, false, NETLIB_INVALID_ARGUMENT, 0},
    };
    setenv("SSL_CERT_FILE", "/nonexistent", 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = netlib_tls_options_new();
        if (rows[i].has_identity)
            netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
        netlib_tls_options_set_server_only(options, rows[i].server_only);
        if (rows[i].mode != UNSET) netlib_tls_options_set_verify_mode(options, rows[i].mode);
        if (rows[i].system_trust != UNSET) netlib_tls_options_set_system_trust(options, rows[i].system_trust);
        if (rows[i].has_custom) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
        CHECK_STATUS(rows[i].status, netlib_tls_context_new(options, &context, &err));
        CHECK_INT(rows[i].kinds, netlib_tls_context_trust_kinds(context));
        netlib_tls_options_free(options);
        netlib_tls_context_free(context);
    }
    unsetenv("SSL_CERT_FILE");
}

/* A server-only context creates server sessions, but no client sessions. */
static void a_server_only_context_creates_no_client_sessions(void) {
    static const char NOT_A_CLIENTS[] =
        "netlib_tls_options_set_server_only: the context is for servers only: create another one for clients";
    netlib_error *err = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_server_only(options, 1);
    netlib_tls_context *theirs = context_of(options), *ours = client_context();
    struct pair pair = unix_pair();
    struct server server = {.does = SERVE_HANDSHAKE, .context = theirs, .fd = pair.far};
    server_start(&server);
    netlib_stream *stream = wrap(ours, pair.near, "localhost");
    CHECK_OK(netlib_stream_handshake(stream, &err));
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&server);
    CHECK_INT(NETLIB_OK, server.status);

    netlib_tls_engine *engine = NULL;
    netlib_status refused = netlib_tls_engine_new_client(theirs, "localhost", &engine, &err);
    CHECK_STR(NOT_A_CLIENTS, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, refused);
    refused = netlib_tls_wrap_fd(theirs, 0, "localhost", &stream, &err);
    CHECK_STR(NOT_A_CLIENTS, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, refused);
    /* Options that are created from a server-only context are server-only as well. */
    netlib_tls_context *same = NULL;
    options = netlib_tls_context_to_options(theirs);
    CHECK_OK(netlib_tls_context_new(options, &same, &err));
    CHECK_INT(0, netlib_tls_context_trust_kinds(same));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_new_client(same, "localhost", &engine, &err));
    netlib_tls_context_free(same);
    netlib_tls_options_set_server_only(options, 0);
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    CHECK_OK(netlib_tls_context_new(options, &same, &err));
    CHECK_OK(netlib_tls_engine_new_client(same, "localhost", &engine, &err));
    netlib_tls_engine_free(engine);
    netlib_tls_context_free(same);
    netlib_tls_options_free(options);
    netlib_tls_context_free(theirs);
    netlib_tls_context_free(ours);
}

/* Checks that the context kept the trust anchor with this index, and that it is the first certificate of the file
 * `path`. If `path` is NULL, checks that the context kept no such trust anchor. */
static void check_trust_anchor(const netlib_tls_context *context, size_t index, const char *path) {
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    size_t len = 99, expected_len = 0;
    const uint8_t *der = netlib_tls_context_trust_anchor(context, index, &len), *expected = NULL;
    if (path != NULL) {
        CHECK_OK(netlib_certificate_parse(text_of(path), NETLIB_NTS, &certificate, &err));
        expected = netlib_certificate_der(certificate, &expected_len);
    }
    CHECK((der != NULL) == (path != NULL));
    CHECK_INT((long long)expected_len, (long long)len);
    CHECK(der == NULL || (len == expected_len && memcmp(der, expected, len) == 0));
    netlib_certificate_free(certificate);
}

static void contexts_keep_the_certificates_of_trust_anchors_only_on_request(void) {
    static const struct {
        int32_t keep; /* -1: the default */
        bool has_custom, has_system, has_embedded;
        const char *anchors[3];
    } rows[] = {
        {-1, true, false, false, {NULL, NULL, NULL}},
        {0, true, false, false, {NULL, NULL, NULL}},
        {1, true, false, false, {CERTS "ca.pem", CERTS "other-ca.pem", NULL}},
        {1, false, true, false, {CERTS "verify/root.pem", NULL, NULL}},
        {0, false, true, false, {NULL, NULL, NULL}},
        {1, true, true, false, {CERTS "ca.pem", CERTS "other-ca.pem", CERTS "verify/root.pem"}},
        {1, false, false, true, {NULL, NULL, NULL}},
        {1, true, false, true, {CERTS "ca.pem", CERTS "other-ca.pem", NULL}},
    };
    setenv("SSL_CERT_FILE", CERTS "verify/root.pem", 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        if (rows[i].keep >= 0) netlib_tls_options_set_keep_trust_anchors(options, rows[i].keep);
        netlib_tls_options_set_system_trust(options, rows[i].has_system);
        netlib_tls_options_set_embedded_trust(options, rows[i].has_embedded);
        if (rows[i].has_custom) {
            netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
            netlib_tls_options_add_ca_file(options, CERTS "other-ca.pem");
            netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
        }
        netlib_tls_context *context = context_of(options);
        size_t count = netlib_tls_context_trust_anchor_count(context);
        if (rows[i].has_embedded) {
            CHECK(count > 50);
        } else {
            CHECK_INT((rows[i].has_custom ? 2 : 0) + (rows[i].has_system ? 1 : 0), (long long)count);
        }
        for (size_t at = 0; at < 3; at++) check_trust_anchor(context, at, rows[i].anchors[at]);
        check_trust_anchor(context, count, NULL);
        check_trust_anchor(context, SIZE_MAX, NULL);
        /* A context that is created from another context's options keeps the certificates of the same trust anchors. */
        netlib_tls_context *same = context_of(netlib_tls_context_to_options(context));
        netlib_tls_context_free(context);
        for (size_t at = 0; at < 3; at++) check_trust_anchor(same, at, rows[i].anchors[at]);
        netlib_tls_context_free(same);
    }
    unsetenv("SSL_CERT_FILE");
    check_trust_anchor(NULL, 0, NULL);
}

int main(void) {
    all_ca_directory_files_are_read_unless_some_have_hashed_names();
    authorities_of_a_ca_directory_are_trusted();
    trust_sources_without_a_usable_certificate_are_refused();
    unusable_ca_certificates_are_skipped_and_listed();
    embedded_and_system_trust_can_be_selected();
    contexts_that_verify_no_peers_read_no_system_authorities_by_default();
    a_server_only_context_creates_no_client_sessions();
    contexts_keep_the_certificates_of_trust_anchors_only_on_request();
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return report("tls_trust");
}
