/* Tests Encrypted Client Hello (ECH): ECHConfigLists, the ClientHello on the wire, and servers without ECH support.
 * src/tls/config/ech/tests.rs and the suite `ech` test servers that accept ECH or send another ECHConfigList. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_wire.h"

/* HIDDEN and PUBLIC are host names of tests/certs/server.pem. ELSEWHERE is not in the certificate. */
#define HIDDEN "hidden.wild.test"
#define PUBLIC "localhost"
#define ELSEWHERE "elsewhere.test"

struct bytes {
    uint8_t at[600];
    size_t len;
};

static void put(struct bytes *to, const void *data, size_t len) {
    memcpy(to->at + to->len, data, len);
    to->len += len;
}

static void put_number(struct bytes *to, unsigned number) {
    to->at[to->len++] = (uint8_t)(number >> 8);
    to->at[to->len++] = (uint8_t)number;
}

static void put_vector(struct bytes *to, const struct bytes *data) {
    put_number(to, (unsigned)data->len);
    put(to, data->at, data->len);
}

/* Returns an ECHConfigList with one configuration for X25519, HKDF-SHA256 and AES-128-GCM. The private key is unknown,
 * so no server can decrypt the inner ClientHello. */
static struct bytes list_for(const char *public_name, unsigned version) {
    static const uint8_t begin[] = {7, 0, 0x20, 0, 32}, suites[] = {0, 4, 0, 1, 0, 1, 64};
    struct bytes contents = {{0}, 0}, config = {{0}, 0}, list = {{0}, 0};
    put(&contents, begin, sizeof begin);
    for (int i = 0; i < 32; i++) contents.at[contents.len++] = 9;
    put(&contents, suites, sizeof suites);
    contents.at[contents.len++] = (uint8_t)strlen(public_name);
    put(&contents, public_name, strlen(public_name));
    put_number(&contents, 0);
    put_number(&config, version);
    put_vector(&config, &contents);
    put_vector(&list, &config);
    return list;
}

static struct bytes base64_of(const struct bytes *data) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct bytes text = {{0}, 0};
    for (size_t i = 0; i < data->len; i += 3) {
        unsigned three = 0;
        for (size_t k = 0; k < 3; k++) three = three << 8 | (i + k < data->len ? data->at[i + k] : 0);
        for (size_t k = 0; k < 4; k++) {
            text.at[text.len++] = (uint8_t)(i + k <= data->len ? letters[three >> (18 - 6 * k) & 63] : '=');
        }
    }
    return text;
}

static netlib_tls_options *h2_options(void) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_add_alpn_protocol(options, "h2");
    return options;
}

static void check_words(const char *words, const netlib_error *err, int line) {
    const char *message = netlib_error_message(err, NULL);
    bool has = message != NULL && strstr(message, words) != NULL;
    check_report(has, __FILE__, line, words);
    if (!has) fprintf(stderr, "    the message is: %s\n", message != NULL ? message : "(NULL)");
}

/* Checks the status of a failed call and a part of its message. Does not free the error. */
#define CHECK_WORDS(expected, words, call) (CHECK_INT((expected), (call)), check_words((words), err, __LINE__))

static netlib_tls_context *hiding(const netlib_tls_context *context, const char *public_name) {
    netlib_error *err = NULL;
    netlib_tls_context *with_ech = NULL;
    struct bytes list = list_for(public_name, 0xfe0d);
    CHECK_OK(netlib_tls_context_with_ech(context, list.at, list.len, &with_ech, &err));
    return with_ech;
}

static void valid_ech_config_lists_are_accepted_and_malformed_ones_refused(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = context_of(h2_options()), *made = NULL;
    struct bytes list = list_for(PUBLIC, 0xfe0d), text = base64_of(&list);
    size_t len = 1;
    CHECK(netlib_tls_context_ech_config_list(context, &len) == NULL && len == 0);
    CHECK_STR(NULL, netlib_tls_context_ech_public_name(context, NULL));
    CHECK_INT(NETLIB_TLS_VERSION_1_2, netlib_tls_context_minimum_version(context));
    for (int as_text = 0; as_text < 3; as_text++) {
        const struct bytes *given = as_text > 0 ? &text : &list;
        CHECK_OK(netlib_tls_context_with_ech(context, given->at, as_text == 2 ? NETLIB_NTS : given->len, &made, &err));
        const uint8_t *kept = netlib_tls_context_ech_config_list(made, &len);
        CHECK_INT((long long)list.len, (long long)len);
        CHECK(kept != NULL && memcmp(kept, list.at, len) == 0);
        CHECK_STR(PUBLIC, netlib_tls_context_ech_public_name(made, NULL));
        CHECK_INT(NETLIB_TLS_VERSION_1_3, netlib_tls_context_minimum_version(made));
        CHECK_INT(3, (long long)netlib_tls_context_cipher_suite_count(made));
        CHECK_STR("h2", netlib_tls_context_alpn_protocol(made, 0, NULL));
        /* Options that are created from the context have the ECHConfigList. After the list is removed from the options,
         * a context that is created from the options has no ECH. */
        netlib_tls_options *options = netlib_tls_context_to_options(made);
        netlib_tls_context_free(made);
        CHECK_OK(netlib_tls_context_new(options, &made, &err));
        CHECK_STR(PUBLIC, netlib_tls_context_ech_public_name(made, NULL));
        netlib_tls_context_free(made);
        netlib_tls_options_set_ech_config_list(options, NULL, 0);
        made = context_of(options);
        CHECK(netlib_tls_context_ech_config_list(made, NULL) == NULL);
        CHECK_INT(NETLIB_TLS_VERSION_1_2, netlib_tls_context_minimum_version(made));
        netlib_tls_context_free(made);
    }
    static const struct {
        const char *text;
        netlib_status status;
        int64_t offset;
        const char *message_part;
    } bad[] = {
        {"", NETLIB_INVALID_ARGUMENT, 0, "is empty"},
        {"AEX+D?", NETLIB_INVALID_ARGUMENT, 5, "neither an ECHConfigList nor base64"},
        {"AEX+DQ=A", NETLIB_INVALID_ARGUMENT, 6, "neither an ECHConfigList nor base64"},
        {"AEX+DQBB", NETLIB_INVALID_ARGUMENT, 6, "ends in the middle of the list"},
        {"AAA=", NETLIB_INVALID_ARGUMENT, 2, "no configuration"},
        {"AAT+CgAA", NETLIB_UNSUPPORTED, -1, "number 1 has version 0xfe0a"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_WORDS(bad[i].status, bad[i].message_part,
                    netlib_tls_context_with_ech(context, bad[i].text, NETLIB_NTS, &made, &err));
        CHECK_INT(bad[i].offset, netlib_error_offset(err));
        CHECK(made == NULL);
        netlib_error_free(err);
        netlib_tls_options *options = h2_options();
        netlib_tls_options_set_ech_config_list(options, bad[i].text, NETLIB_NTS);
        CHECK_WORDS(bad[i].status, "netlib_tls_options_set_ech_config_list: config_list ",
                    netlib_tls_context_new(options, &made, &err));
        netlib_error_free(err);
        netlib_tls_options_free(options);
    }
    netlib_tls_context_free(context);
}

/* A setting that contradicts ECH makes the call fail that creates the context or the engine. */
static void settings_that_contradict_ech_are_refused(void) {
    netlib_error *err = NULL;
    netlib_tls_context *made = NULL;
    netlib_tls_engine *engine = NULL;
    struct bytes list = list_for(PUBLIC, 0xfe0d);
    for (int i = 0; i < 6; i++) {
        netlib_tls_options *options = h2_options();
        if (i % 2 == 0) netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
        if (i % 2 == 1) netlib_tls_options_set_option_bits(options, NETLIB_OP_NO_TLSv1_3);
        if (i < 3) {
            netlib_tls_context *context = context_of(options);
            CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_tls_context_with_ech(context, list.at, list.len, &made, &err));
            netlib_tls_context_free(context);
        } else {
            if (i == 3) netlib_tls_options_set_ech_grease(options, 1);
            if (i != 3) netlib_tls_options_set_ech_config_list(options, list.at, list.len);
            CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_tls_context_new(options, &made, &err));
            netlib_tls_options_free(options);
        }
        check_words("Encrypted Client Hello needs TLS 1.3", err, __LINE__);
        netlib_error_free(err);
    }
    netlib_tls_options *options = h2_options();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_check_hostname(options, 0);
    netlib_tls_context *context = context_of(options), *with_ech = hiding(context, PUBLIC);
    CHECK_WORDS(NETLIB_INVALID_ARGUMENT, "netlib supports for clients only",
                netlib_tls_engine_new_server(with_ech, &engine, &err));
    netlib_error_free(err);
    static const struct {
        const char *name, *message_part;
    } nameless[] = {{"127.0.0.1", "an IP address"}, {"[::1]", "an IP address"}, {NULL, "missing"}, {"", "missing"}};
    for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++) {
        CHECK_WORDS(NETLIB_INVALID_ARGUMENT, nameless[i].message_part,
                    netlib_tls_engine_new_client(with_ech, nameless[i].name, &engine, &err));
        netlib_error_free(err);
        CHECK_OK(netlib_tls_engine_new_client(context, nameless[i].name, &engine, &err));
        netlib_tls_engine_free(engine);
    }
    netlib_tls_context_free(with_ech);
    netlib_tls_context_free(context);
}

/* Returns the body of an extension of a ClientHello, or NULL. The ClientHello must be in a single record. */
static const uint8_t *extension_of(const uint8_t *record, size_t len, unsigned kind, size_t *body_len) {
    size_t at = 5 + 4 + 2 + 32;
    at += 1 + record[at];
    at += 2 + (size_t)(record[at] << 8 | record[at + 1]);
    at += 1 + record[at];
    at += 2;
    while (at + 4 <= len) {
        *body_len = (size_t)(record[at + 2] << 8 | record[at + 3]);
        if ((unsigned)(record[at] << 8 | record[at + 1]) == kind) return record + at + 4;
        at += 4 + *body_len;
    }
    CHECK_INT((long long)len, (long long)at);
    return NULL;
}

static void check_server_name(const char *expected, const uint8_t *record, size_t len) {
    char name[256] = "";
    size_t body_len = 0;
    const uint8_t *body = extension_of(record, len, 0, &body_len);
    CHECK(body != NULL && body_len > 5 && body_len < sizeof name);
    memcpy(name, body + 5, body_len - 5);
    CHECK_STR(expected, name);
}

/* A session with a server that does not support ECH, and the expected result. */
static const struct ending {
    const char *public_name; /* NULL: no ECH; "": GREASE */
    const char *name;
    bool pinned, unnamed;
    netlib_status status, server;
    int32_t ech, alert;
    const char *message_part, *advice;
} endings[] = {
    {NULL, HIDDEN, false, false, NETLIB_OK, NETLIB_OK, NETLIB_ECH_NOT_OFFERED, -1, NULL, NULL},
    {"", HIDDEN, false, false, NETLIB_OK, NETLIB_OK, NETLIB_ECH_GREASE, -1, NULL, NULL},
    {"", "127.0.0.1", false, false, NETLIB_OK, NETLIB_OK, NETLIB_ECH_GREASE, -1, NULL, NULL},
    {PUBLIC, HIDDEN, false, false, NETLIB_TLS_ECH_REJECTED, NETLIB_TLS_ALERT, NETLIB_ECH_REJECTED, 121,
     "the server \"localhost\" rejected Encrypted Client Hello for \"hidden.wild.test\", and sent no "
     "configuration to use instead",
     "to connect without Encrypted Client Hello"},
    /* After a rejection, the client checks that the certificate contains the public name, and does not check the inner
     * name. */
    {PUBLIC, ELSEWHERE, false, false, NETLIB_TLS_ECH_REJECTED, NETLIB_TLS_ALERT, NETLIB_ECH_REJECTED, 121,
     "for \"elsewhere.test\"", "to connect without Encrypted Client Hello"},
    {ELSEWHERE, HIDDEN, false, false, NETLIB_HOSTNAME_MISMATCH, NETLIB_TLS_ALERT, NETLIB_ECH_REJECTED, 42,
     "the server \"elsewhere.test\" (which rejected Encrypted Client Hello for \"hidden.wild.test\")", ""},
    {ELSEWHERE, HIDDEN, false, true, NETLIB_TLS_ECH_REJECTED, NETLIB_TLS_ALERT, NETLIB_ECH_REJECTED, 121,
     "rejected Encrypted Client Hello", "to connect without Encrypted Client Hello"},
    /* After a rejection the client also checks its pins. */
    {PUBLIC, HIDDEN, true, false, NETLIB_FINGERPRINT_MISMATCH, NETLIB_TLS_ALERT, NETLIB_ECH_REJECTED, 46,
     "the server \"localhost\" (which rejected", "netlib_tls_options_add_pin"},
    /* The inner name may be the same as the public name. */
    {PUBLIC, PUBLIC, false, false, NETLIB_TLS_ECH_REJECTED, NETLIB_TLS_ALERT, NETLIB_ECH_REJECTED, 121,
     "rejected Encrypted Client Hello", "to connect without Encrypted Client Hello"},
};

static netlib_tls_context *client_of(const struct ending *row) {
    netlib_tls_options *options = h2_options();
    if (row->public_name != NULL && row->public_name[0] == '\0') netlib_tls_options_set_ech_grease(options, 1);
    if (row->unnamed) netlib_tls_options_set_check_hostname(options, 0);
    if (row->pinned) {
        netlib_tls_options_add_pin(options, "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    }
    netlib_tls_context *context = context_of(options);
    CHECK_INT(row->public_name != NULL && row->public_name[0] == '\0', netlib_tls_context_ech_grease(context));
    if (row->public_name == NULL || row->public_name[0] == '\0') return context;
    netlib_tls_context *with_ech = hiding(context, row->public_name);
    netlib_tls_context_free(context);
    return with_ech;
}

static void check_ending(const struct ending *row) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_of(row), *server = server_context("server");
    struct wire wire = {client_engine(client, row->name), server_engine(server), 20000, 0, 0};
    bool is_hidden =
        row->public_name != NULL && row->public_name[0] != '\0' && strcmp(row->public_name, row->name) != 0;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, &err));
    static uint8_t sent[20000];
    size_t sent_len = drain_all(wire.client, sent, sizeof sent);
    size_t len = 0;
    CHECK_INT(row->public_name != NULL, extension_of(sent, sent_len, 0xfe0d, &len) != NULL);
    if (strcmp(row->name, "127.0.0.1") != 0)
        check_server_name(is_hidden ? row->public_name : row->name, sent, sent_len);
    if (is_hidden) CHECK(memmem(sent, sent_len, row->name, strlen(row->name)) == NULL);
    CHECK_INT(row->ech == NETLIB_ECH_REJECTED ? NETLIB_ECH_OFFERED : row->ech,
              netlib_tls_engine_ech_status(wire.client));
    CHECK_INT((long long)sent_len, (long long)feed_all(wire.server, sent, sent_len));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, &err));
    CHECK_INT(NETLIB_ECH_NOT_OFFERED, netlib_tls_engine_ech_status(wire.server));
    struct bytes answer;
    while ((answer.len = drain_all(wire.server, answer.at, sizeof answer.at)) > 0) {
        (void)feed_all(wire.client, answer.at, answer.len);
    }
    netlib_status status = netlib_tls_engine_handshake(wire.client, &err);
    CHECK_INT(row->status, status);
    CHECK_INT(row->ech, netlib_tls_engine_ech_status(wire.client));
    CHECK_INT(row->alert, err != NULL ? netlib_error_tls_alert(err) : -1);
    if (row->message_part != NULL) {
        check_words(row->message_part, err, __LINE__);
        CHECK(strstr(netlib_error_advice(err, NULL) != NULL ? netlib_error_advice(err, NULL) : "", row->advice) !=
              NULL);
        CHECK(status != NETLIB_HOSTNAME_MISMATCH || netlib_error_advice(err, NULL) == NULL);
        CHECK(netlib_error_ech_retry_configs(err, &len) == NULL && len == 0);
        CHECK_STR(NULL, netlib_tls_engine_server_name(wire.client, NULL));
        /* A later write returns the failure of the handshake. */
        netlib_error *again = NULL;
        CHECK_INT(row->status, netlib_tls_engine_write(wire.client, "GET", 3, &len, &again));
        CHECK_STR(netlib_error_message(err, NULL), netlib_error_message(again, NULL));
        netlib_error_free(again);
    }
    netlib_error_free(err);
    sent_len = drain_all(wire.client, sent, sizeof sent);
    if (is_hidden) CHECK(memmem(sent, sent_len, row->name, strlen(row->name)) == NULL);
    (void)feed_all(wire.server, sent, sent_len);
    err = NULL;
    (void)netlib_tls_engine_handshake(wire.server, NULL);
    char byte;
    status = netlib_tls_engine_read(wire.server, &byte, 1, &len, &err);
    CHECK_INT(row->server == NETLIB_OK ? NETLIB_WANT_READ : row->server, status);
    if (err != NULL) CHECK_INT(row->alert, netlib_error_tls_alert(err));
    netlib_error_free(err);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* A client whose ECH is rejected sends no certificate, even if the server requests one. */
static void a_client_whose_ech_is_rejected_sends_no_certificate(void) {
    netlib_error *err = NULL;
    netlib_tls_options *options = h2_options();
    netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client.key");
    netlib_tls_context *context = context_of(options), *with_ech = hiding(context, PUBLIC);
    options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_OPTIONAL);
    netlib_tls_context *server = context_of(options);
    for (int hides = 0; hides < 2; hides++) {
        struct wire wire = {client_engine(hides ? with_ech : context, HIDDEN), server_engine(server), 20000, 0, 0};
        struct handshake_result outcome = run_handshake(&wire);
        CHECK_INT(hides ? NETLIB_TLS_ECH_REJECTED : NETLIB_OK, outcome.client);
        CHECK_INT(NETLIB_OK, outcome.server);
        CHECK_INT(hides ? 0 : 1, (long long)netlib_tls_engine_peer_certificate_count(wire.server));
        char byte;
        size_t n = 0;
        CHECK_INT(hides ? NETLIB_TLS_ALERT : NETLIB_WANT_READ, netlib_tls_engine_read(wire.server, &byte, 1, &n, &err));
        if (hides) check_words("121 (ech_required)", err, __LINE__);
        netlib_error_free(err);
        err = NULL;
        free_wire(&wire);
    }
    netlib_tls_context_free(server);
    netlib_tls_context_free(with_ech);
    netlib_tls_context_free(context);
}

/* A context with ECH and the context without ECH from which it was derived never resume each other's sessions. */
static void contexts_with_and_without_ech_do_not_share_sessions(void) {
    netlib_tls_context *context = context_of(h2_options()), *with_ech = hiding(context, PUBLIC);
    netlib_tls_context *server = server_context("server");
    bool resumed[3];
    for (int i = 0; i < 3; i++) {
        struct wire wire = {client_engine(context, HIDDEN), server_engine(server), 20000, 0, 0};
        char got[10];
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
        CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got));
        resumed[i] = netlib_tls_engine_is_resumed(wire.client);
        free_wire(&wire);
        struct wire rejected = {client_engine(with_ech, HIDDEN), server_engine(server), 20000, 0, 0};
        struct handshake_result outcome = run_handshake(&rejected);
        CHECK_INT(NETLIB_TLS_ECH_REJECTED, outcome.client);
        free_wire(&rejected);
    }
    CHECK(!resumed[0] && resumed[1] && resumed[2]);
    CHECK(netlib_tls_context_resumption(context) && !netlib_tls_context_resumption(with_ech));
    netlib_tls_options *early = h2_options();
    netlib_tls_options_set_early_data(early, 1);
    netlib_tls_context *hasty = context_of(early), *hasty_with_ech = hiding(hasty, PUBLIC);
    CHECK(netlib_tls_context_early_data(hasty) && !netlib_tls_context_early_data(hasty_with_ech));
    netlib_tls_context_free(hasty_with_ech), netlib_tls_context_free(hasty);
    netlib_error *err = NULL;
    netlib_tls_engine *engine = client_engine(with_ech, HIDDEN);
    static uint8_t sent[20000];
    size_t len = 0;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(engine, &err));
    CHECK(extension_of(sent, drain_all(engine, sent, sizeof sent), 41, &len) == NULL);
    netlib_tls_engine_free(engine);

    /* A session of the context without ECH cannot be set on an engine of the context with ECH. Removing the sessions of
     * the context with ECH leaves the sessions of the context without ECH. */
    struct wire wire = {client_engine(context, HIDDEN), server_engine(server), 20000, 0, 0};
    char got[10];
    netlib_tls_session *session = NULL;
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
    CHECK_INT(1, (long long)transfer(&wire, true, "x", got, sizeof got));
    CHECK_OK(netlib_tls_engine_take_session(wire.client, &session, &err));
    CHECK(session != NULL);
    free_wire(&wire);
    size_t count = netlib_tls_context_session_count(context);
    CHECK(count > 0);
    CHECK_INT(0, (long long)netlib_tls_context_session_count(with_ech));
    netlib_tls_context_forget_sessions(with_ech);
    CHECK_INT((long long)count, (long long)netlib_tls_context_session_count(context));
    engine = client_engine(with_ech, HIDDEN);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_tls_engine_set_session(engine, session, &err));
    netlib_tls_engine_free(engine);
    CHECK(netlib_tls_session_is_resumable(session));
    netlib_tls_session_free(session);
    netlib_tls_context_free(server);
    netlib_tls_context_free(with_ech);
    netlib_tls_context_free(context);
}

/* Streams over descriptors use ECH, and so does netlib_ssl_wrap_socket, which returns no stream if the handshake
 * fails. */
static void streams_and_wrap_socket_use_ech(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    netlib_tls_context *context = context_of(h2_options()), *with_ech = hiding(context, PUBLIC);
    struct pair pair = unix_pair();
    CHECK_OK(netlib_tls_wrap_fd(with_ech, pair.near, HIDDEN, &stream, &err));
    CHECK_INT(NETLIB_ECH_OFFERED, netlib_stream_ech_status(stream));
    close(pair.far);
    CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_stream_handshake(stream, &err));
    CHECK_INT(NETLIB_ECH_OFFERED, netlib_stream_ech_status(stream));
    netlib_stream_free(stream);
    close(pair.near);
    /* netlib_ssl_wrap_socket uses the ECHConfigList of the options, even if the context has a list. */
    struct bytes list = list_for(PUBLIC, 0xfe0d);
    netlib_tls_context *elsewhere = hiding(context, ELSEWHERE);
    const netlib_tls_context *given[] = {context, elsewhere};
    for (int i = 0; i < 4; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_ech_config_list(options, list.at, list.len);
        if (i >= 2) netlib_tls_options_add_ca_file(options, CERTS "other-ca.pem"); /* netlib derives a context */
        pair = unix_pair();
        CHECK(shutdown(pair.far, SHUT_WR) == 0);
        CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF,
                     netlib_ssl_wrap_socket(pair.near, options, given[i % 2], HIDDEN, NULL, &stream, &err));
        static uint8_t sent[20000];
        ssize_t len = recv(pair.far, sent, sizeof sent, MSG_DONTWAIT);
        CHECK(len > 0);
        if (len > 0) check_server_name(PUBLIC, sent, (size_t)len);
        close_pair(pair);
        netlib_tls_options_free(options);
    }
    /* If the options have no ECHConfigList, netlib_ssl_wrap_socket uses the list of the context, with and without other
     * options. */
    for (int i = 0; i < 2; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        if (i > 0) netlib_tls_options_add_ca_file(options, CERTS "other-ca.pem");
        pair = unix_pair();
        CHECK(shutdown(pair.far, SHUT_WR) == 0);
        CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF,
                     netlib_ssl_wrap_socket(pair.near, options, elsewhere, HIDDEN, NULL, &stream, &err));
        static uint8_t sent[20000];
        ssize_t len = recv(pair.far, sent, sizeof sent, MSG_DONTWAIT);
        CHECK(len > 0);
        if (len > 0) check_server_name(ELSEWHERE, sent, (size_t)len);
        close_pair(pair);
        netlib_tls_options_free(options);
    }
    netlib_tls_context_free(elsewhere);
    netlib_tls_context_free(with_ech);
    netlib_tls_context_free(context);
}

int main(void) {
    valid_ech_config_lists_are_accepted_and_malformed_ones_refused();
    settings_that_contradict_ech_are_refused();
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) check_ending(&endings[i]);
    a_client_whose_ech_is_rejected_sends_no_certificate();
    contexts_with_and_without_ech_do_not_share_sessions();
    streams_and_wrap_socket_use_ech();
    return report("tls ech");
}
