/* Tests that the retry kind of a TLS failure depends on whether a part of the request was sent. */
#include "hostile_peer.h"
#include "retry_outcomes.h"

#include <errno.h>

static const char post[] = "POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1";

/* The state of the request when the script of the peer starts. */
enum sent { NOTHING, REQUEST, PART_OF_RESPONSE };

static const char *const sent_names[] = {"nothing sent", "request sent", "response begun"};

/* ---- engines ---- */

static void write_request(netlib_tls_engine *engine) {
    netlib_error *err = NULL;
    char bytes[1000];
    size_t n = 0;
    CHECK_OK(netlib_tls_engine_write(engine, post, sizeof post - 1, &n, &err));
    CHECK_INT((long long)sizeof post - 1, (long long)n);
    CHECK(drain_all(engine, bytes, sizeof bytes) > n);
}

static netlib_error *read_failure(netlib_tls_engine *engine) {
    netlib_error *err = NULL;
    char bytes[1000];
    size_t n = 0;
    while (netlib_tls_engine_read(engine, bytes, sizeof bytes, &n, &err) == NETLIB_OK) {}
    return err;
}

/* Checks that each later call of a failed session returns the same failure with the same retry kind. */
static void check_kept(netlib_tls_engine *engine, netlib_status status, enum netlib_retry_kind kind, const char *what) {
    netlib_error *errors[6] = {NULL};
    char byte = 0;
    size_t n = 0;
    CHECK_INT(status, netlib_tls_engine_handshake(engine, &errors[0]));
    CHECK_INT(status, netlib_tls_engine_read(engine, &byte, 1, &n, &errors[1]));
    CHECK_INT(status, netlib_tls_engine_write(engine, "x", 1, &n, &errors[2]));
    CHECK_INT(status, netlib_tls_engine_write_early_data(engine, "x", 1, &n, &errors[3]));
    CHECK_INT(status, netlib_tls_engine_feed(engine, "x", 1, &n, &errors[4]));
    CHECK_INT(status, netlib_tls_engine_shutdown(engine, &errors[5]));
    for (int i = 0; i < 6; i++) {
        check_outcomes(kind, errors[i], NULL, what);
        netlib_error_free(errors[i]);
    }
}

static const char to_http[] = "r485454502f312e31203430302042616420526571756573740d0a0d0a";

/* In each row the peer sends the bytes that `script` describes. If `script` is NULL, the connection ends. */
static void the_retry_kind_depends_on_whether_the_request_was_sent(void) {
    static const struct {
        enum moment moment;
        enum sent sent;
        const char *script;
        netlib_status status[2]; /* TLS 1.2 and 1.3 */
        enum netlib_retry_kind kind;
        bool is_kept; /* true: the session has failed; false: only its input has ended */
    } rows[] = {
        {FIRST, NOTHING, NULL, {NETLIB_TLS_HANDSHAKE_EOF, NETLIB_TLS_HANDSHAKE_EOF}, CONNECT, false},
        {FIRST, NOTHING, to_http, {NETLIB_NOT_TLS, NETLIB_NOT_TLS}, OTHER, true},
        {FIRST, NOTHING, "p21:0228", {NETLIB_TLS_ALERT, NETLIB_TLS_ALERT}, OTHER, true},
        {FIRST, NOTHING, "p22:ff000000", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, OTHER, true},
        {MIDDLE, NOTHING, NULL, {NETLIB_TLS_HANDSHAKE_EOF, NETLIB_TLS_HANDSHAKE_EOF}, CONNECT, false},
        {MIDDLE, NOTHING, to_http, {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, OTHER, true},
        {MIDDLE, NOTHING, "p21:0228", {NETLIB_TLS_ALERT, NETLIB_TLS_ALERT}, OTHER, true},
        {MIDDLE, NOTHING, "p23:+40", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, OTHER, true},
        /* An idle session fails. The retry kind shows that the next request was not sent. */
        {DONE, NOTHING, NULL, {NETLIB_TLS_TRUNCATED, NETLIB_TLS_TRUNCATED}, READ, false},
        {DONE, NOTHING, "s21:0228", {NETLIB_TLS_ALERT, NETLIB_TLS_ALERT}, OTHER, true},
        {DONE, NOTHING, "p23:+40", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, OTHER, true},
        {DONE, NOTHING, to_http, {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, OTHER, true},
        /* The session fails after the request was sent. */
        {DONE, REQUEST, NULL, {NETLIB_TLS_TRUNCATED, NETLIB_TLS_TRUNCATED}, READ, false},
        {DONE, REQUEST, "s21:0228", {NETLIB_TLS_ALERT, NETLIB_TLS_ALERT}, READ, true},
        {DONE, REQUEST, "s21:0274", {NETLIB_TLS_ALERT, NETLIB_TLS_ALERT}, READ, true},
        {DONE, REQUEST, "p21:0228", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
        {DONE, REQUEST, "p23:+40", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
        {DONE, REQUEST, "s22:ff000000", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
        {DONE, REQUEST, "p23:+20000", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
        {DONE, REQUEST, to_http, {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
        /* The session fails after a part of the response has arrived. The client has not sent a request in these
         * rows. */
        {DONE, PART_OF_RESPONSE, NULL, {NETLIB_TLS_TRUNCATED, NETLIB_TLS_TRUNCATED}, READ, false},
        {DONE, PART_OF_RESPONSE, "s21:0228", {NETLIB_TLS_ALERT, NETLIB_TLS_ALERT}, READ, true},
        {DONE, PART_OF_RESPONSE, "p23:+40", {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
        {DONE, PART_OF_RESPONSE, to_http, {NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL}, READ, true},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        enum version version = i % 2 == 0 ? V12 : V13;
        static uint8_t records[ROOM];
        char what[120];
        snprintf(what, sizeof what, "%s, %s, TLS %s, %s", moment_names[rows[i / 2].moment],
                 sent_names[rows[i / 2].sent], version_names[version],
                 rows[i / 2].script != NULL ? rows[i / 2].script : "end");
        struct scene scene = begin_scene(version, CLIENT, rows[i / 2].moment);
        if (rows[i / 2].sent == REQUEST) write_request(scene.victim);
        if (rows[i / 2].sent == PART_OF_RESPONSE)
            feed_all(scene.victim, records, write_script(&scene, "s23:485454502f312e3120323030", records));
        if (rows[i / 2].script != NULL)
            feed_all(scene.victim, records, write_script(&scene, rows[i / 2].script, records));
        else netlib_tls_engine_feed_eof(scene.victim);
        netlib_error *failure = read_failure(scene.victim);
        CHECK_INT(rows[i / 2].status[version], netlib_error_status(failure));
        check_outcomes(rows[i / 2].kind, failure, NULL, what);
        if (rows[i / 2].is_kept) check_kept(scene.victim, netlib_error_status(failure), rows[i / 2].kind, what);
        netlib_error_free(failure);
        end_scene(&scene);
    }
}

/* Data counts as sent when netlib has encrypted it, even if the bytes were not transmitted. */
static void encrypted_data_counts_as_sent(void) {
    for (int is_written = 0; is_written < 2; is_written++) {
        struct scene scene = begin_scene(V13, CLIENT, DONE);
        netlib_error *err = NULL;
        uint8_t record[100];
        size_t n = 0;
        CHECK_OK(netlib_tls_engine_write(scene.victim, post, 0, &n, &err)); /* an empty write */
        if (is_written) CHECK_OK(netlib_tls_engine_write(scene.victim, post, 1, &n, &err));
        feed_all(scene.victim, record, write_script(&scene, "p23:+40", record));
        netlib_error *failure = read_failure(scene.victim);
        check_outcomes(is_written ? READ : OTHER, failure, NULL, is_written ? "one byte" : "no byte");
        netlib_error_free(failure);
        end_scene(&scene);
    }
}

static void refused_certificates_have_retry_kind_other(void) {
    static const struct {
        const char *certificate, *name;
        netlib_status status;
    } rows[] = {
        {"server", "other.example", NETLIB_HOSTNAME_MISMATCH},
        {"self-signed", "localhost", NETLIB_CERTIFICATE_VERIFY},
    };
    netlib_tls_context *client = client_context();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *server = server_context(rows[i].certificate);
        struct wire wire = {client_engine(client, rows[i].name), server_engine(server), 20000, 0, 0};
        struct handshake_result result = run_handshake(&wire);
        CHECK_INT(rows[i].status, result.client);
        CHECK_INT(rows[i].status, netlib_tls_engine_handshake(wire.client, &err));
        check_outcomes(OTHER, err, NULL, rows[i].certificate);
        check_kept(wire.client, rows[i].status, OTHER, rows[i].certificate);
        netlib_error_free(err);
        free_wire(&wire);
        netlib_tls_context_free(server);
    }
    netlib_tls_context_free(client);
}

/* ---- early data ---- */

/* A ticket that allows 16384 bytes of early data. netlib's own servers never send such a ticket. The fields are
 * lifetime, age_add, nonce, ticket and extension. */
static const char ticket[] = "s22:0400001e 00000e10 00000001 0100 0008 0102030405060708 0008 002a 0004 00004000";

/* Returns a client that has written the request as early data. */
static netlib_tls_engine *early_client(const netlib_tls_context *context) {
    netlib_error *err = NULL;
    size_t n = 0;
    netlib_tls_engine *engine = client_engine(context, "localhost");
    CHECK(netlib_tls_engine_early_data_left(engine) > sizeof post);
    CHECK_OK(netlib_tls_engine_write_early_data(engine, post, sizeof post - 1, &n, &err));
    CHECK_INT((long long)sizeof post - 1, (long long)n);
    return engine;
}

/* Lets a client receive the ticket, so that the context stores a session that allows early data. */
static void receive_ticket_that_allows_early_data(void) {
    char script[200];
    static uint8_t records[ROOM];
    size_t len = 0;
    for (const char *c = ticket; *c != '\0'; c++) {
        if (*c != ' ') script[len++] = *c;
    }
    script[len] = '\0';
    struct scene scene = begin_scene(V13, CLIENT, DONE);
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    feed_all(scene.victim, records, write_script(&scene, script, records));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_read(scene.victim, &byte, 1, &n, &err));
    end_scene(&scene);
}

static void early_data_counts_as_sent(void) {
    enum { CUT, NOT_TLS, ALERT, CORRUPTED, REJECTED_AND_CUT, REJECTED_AND_CORRUPTED, REJECTED_AND_UNTRUSTED, ENDS };
    static const struct {
        const char *name;
        netlib_status status;
    } rows[ENDS] = {
        [CUT] = {"cut", NETLIB_TLS_HANDSHAKE_EOF},
        [NOT_TLS] = {"no TLS", NETLIB_NOT_TLS},
        [ALERT] = {"alert", NETLIB_TLS_ALERT},
        [CORRUPTED] = {"corrupted", NETLIB_TLS_PROTOCOL},
        [REJECTED_AND_CUT] = {"rejected, then cut", NETLIB_TLS_HANDSHAKE_EOF},
        [REJECTED_AND_CORRUPTED] = {"rejected, then corrupted", NETLIB_TLS_PROTOCOL},
        [REJECTED_AND_UNTRUSTED] = {"rejected, then another certificate", NETLIB_CERTIFICATE_VERIFY},
    };
    netlib_tls_context *usual = contexts[V13][CLIENT], *untrusted = server_context("self-signed");
    netlib_tls_options *options = netlib_tls_context_to_options(usual);
    netlib_tls_options_set_resumption(options, 1);
    netlib_tls_options_set_early_data(options, 1);
    contexts[V13][CLIENT] = context_of(options);
    for (int end = 0; end < ENDS; end++) {
        static uint8_t flight[ROOM], answer[ROOM];
        netlib_error *err = NULL;
        receive_ticket_that_allows_early_data();
        netlib_tls_engine *client = early_client(contexts[V13][CLIENT]);
        netlib_tls_engine *server = server_engine(end == REJECTED_AND_UNTRUSTED ? untrusted : contexts[V13][SERVER]);
        feed_all(server, flight, drain_all(client, flight, sizeof flight));
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(server, &err));
        size_t len = drain_all(server, answer, sizeof answer);
        size_t first = 5 + ((size_t)answer[3] << 8) + answer[4];
        CHECK(len > first + 100);
        if (end == NOT_TLS) memcpy(answer, "HTTP/1.1 400 Bad Request\r\n\r\n", len = 28);
        if (end == ALERT) memcpy(answer, "\x15\x03\x03\x00\x02\x02\x28", len = 7);
        if (end == CORRUPTED) answer[5] = 0xff;
        if (end == REJECTED_AND_CUT) len = first + 6;
        if (end == REJECTED_AND_CORRUPTED) answer[len - 1] ^= 1;
        if (end != CUT) feed_all(client, answer, len);
        if (end == CUT || end == REJECTED_AND_CUT) netlib_tls_engine_feed_eof(client);
        netlib_error *failure = read_failure(client);
        CHECK_INT(rows[end].status, netlib_error_status(failure));
        CHECK_INT((long long)sizeof post - 1, (long long)netlib_tls_engine_early_data_written(client));
        check_outcomes(READ, failure, NULL, rows[end].name);
        netlib_error_free(failure);
        netlib_tls_engine_free(client);
        netlib_tls_engine_free(server);
    }
    netlib_tls_context_free(contexts[V13][CLIENT]);
    netlib_tls_context_free(untrusted);
    contexts[V13][CLIENT] = usual;
}

/* ---- a man in the middle ---- */

struct order_server {
    int orders;
};

/* Sends a request and receives a response through an attacker who flips a bit of the first record of the response.
 * Returns the error of the client, or NULL if the response arrives. If the bit is in the length of the record, the
 * client may wait for more bytes until the connection ends. */
static netlib_error *exchange(enum version version, struct order_server *shop, size_t at, uint8_t bit,
                              size_t *record_len) {
    static const char response[] = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    netlib_error *err = NULL;
    static uint8_t bytes[ROOM];
    char request[sizeof post];
    size_t n = 0;
    struct wire wire = wire_of(contexts[version][CLIENT], contexts[version][SERVER], 20000);
    struct handshake_result result = run_handshake(&wire);
    CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, result);
    shop->orders += transfer(&wire, false, post, request, sizeof request) == sizeof post - 1;
    CHECK_OK(netlib_tls_engine_write(wire.server, response, sizeof response - 1, &n, &err));
    *record_len = drain_all(wire.server, bytes, sizeof bytes);
    bytes[at] ^= bit;
    feed_all(wire.client, bytes, *record_len);
    netlib_tls_engine_feed_eof(wire.client);
    netlib_status status = netlib_tls_engine_read(wire.client, request, sizeof request, &n, &err);
    CHECK(status != NETLIB_WANT_READ);
    free_wire(&wire);
    return err;
}

/* Sends a POST until the retry policy stops. Returns how often the server received the POST. */
static int place_order(enum version version, const netlib_retry *policy, size_t at, uint8_t bit, size_t *record_len) {
    struct order_server shop = {0};
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_retry *retry = netlib_retry_clone(policy);
    CHECK_OK(netlib_parse_url("https://localhost/orders", NETLIB_NTS, &url, &err));
    for (bool is_over = false; !is_over;) {
        netlib_decision *decision = NULL;
        netlib_error *failure = exchange(version, &shop, at, bit, record_len);
        if (failure == NULL) break;
        is_over = netlib_retry_decide(retry, "POST", url, NULL, failure, NULL, &decision, NULL) != NETLIB_OK;
        netlib_retry_free(retry);
        retry = netlib_retry_clone(netlib_decision_retry(decision));
        netlib_decision_free(decision);
        netlib_error_free(failure);
    }
    netlib_retry_free(retry);
    netlib_url_free(url);
    return shop.orders;
}

static void a_post_is_not_repeated_after_a_flipped_bit_in_the_response(void) {
    for (int version = V12; version <= V13; version++) {
        size_t len = 1, flips = 0;
        for (size_t at = 0; at < len; at++) {
            for (int policy = DEFAULT_RETRY; policy <= NEW_RETRY; policy++) {
                netlib_retry *retry = retry_number(policy);
                unsigned long failed = checks_failed;
                CHECK_INT(
                    1, place_order((enum version)version, retry, at, (uint8_t)(1 << (at + (size_t)policy) % 8), &len));
                if (checks_failed != failed)
                    fprintf(stderr, "    TLS %s, byte %zu, %s\n", version_names[version], at, retry_names[policy]);
                netlib_retry_free(retry);
                flips++;
            }
        }
        CHECK(len > 60 && flips == 2 * len);
    }
}

int main(void) {
    set_up();
    the_retry_kind_depends_on_whether_the_request_was_sent();
    encrypted_data_counts_as_sent();
    refused_certificates_have_retry_kind_other();
    early_data_counts_as_sent();
    a_post_is_not_repeated_after_a_flipped_bit_in_the_response();
    tear_down();
    return report("tls_retry");
}
