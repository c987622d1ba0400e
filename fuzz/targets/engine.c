/* Fuzzes TLS sessions between two engines: the input says how records are altered in transit. Either both engines
 * complete the handshake with equal results, or at least one of them has an error. The received plaintext is a prefix
 * of the sent plaintext. After an error an engine returns no plaintext. */
#include "../fuzz.h"

/* The settings of a session: flags in the first byte of an input. */
enum setting {
    ONLY_TLS_1_2 = 1,
    CLIENT_CERTIFICATE = 2,
    ALPN = 4,
    SETTINGS = 8,
    RESUME = 8, /* an unaltered session comes first, and this session resumes it */
};

/* The actions on a record in transit. A value below FLIP leaves the record unchanged. After the first byte, the input
 * contains for each record one byte that selects the action, followed by the arguments of the action. */
enum { FLIP = 4, DROP, DOUBLE, TRUNCATE, HOLD, INSERT, OVERWRITE, REFLECT, SPLIT, CUT, WRITE, SHUTDOWN, ACTIONS };

struct contexts {
    netlib_tls_context *client, *server;
};

static struct contexts contexts[SETTINGS];

static struct contexts make_contexts(int setting, int resumption) {
    netlib_error *err = NULL;
    struct contexts made = {NULL, NULL};
    for (int is_server = 0; is_server < 2; is_server++) {
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_use_environment(options, 0);
        netlib_tls_options_set_wall_clock(options, fixed_clock, NULL, NULL);
        netlib_tls_options_add_ca_file(options, "tests/certs/ca.pem");
        netlib_tls_options_set_resumption(options, resumption);
        netlib_tls_options_set_session_tickets(options, resumption);
        if (setting & ONLY_TLS_1_2) netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
        if (setting & ALPN) netlib_tls_options_add_alpn_protocol(options, "http/1.1");
        if (is_server)
            netlib_tls_options_set_identity_files(options, "tests/certs/server.pem", "tests/certs/server.key");
        if (setting & CLIENT_CERTIFICATE) {
            if (is_server) netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
            else netlib_tls_options_set_identity_files(options, "tests/certs/client.pem", "tests/certs/client.key");
        }
        OK(netlib_tls_context_new(options, is_server ? &made.server : &made.client, &err));
        netlib_tls_options_free(options);
    }
    return made;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    for (int setting = 0; setting < SETTINGS; setting++) contexts[setting] = make_contexts(setting, 0);
    return 0;
}

/* One of the two endpoints of a session. */
struct end {
    netlib_tls_engine *engine;
    struct end *peer;
    netlib_status failure; /* the first failure, which all later calls return */
    size_t sent, received; /* the numbers of plaintext bytes */
    uint8_t held[20000];   /* a record that is sent after the next one */
    size_t held_len;
    uint8_t salt;
    bool done, greeted, shut, ended, altered; /* altered: records that arrive here were altered */
};

static uint8_t plaintext(const struct end *from, size_t at) { return (uint8_t)(at * 7 + (at >> 8) + from->salt); }

/* The documented statuses that can occur in this target, whose contexts have no pins, no ECHConfigList and no failing
 * callback. */
#define HANDSHAKE_STATUSES \
    NETLIB_WANT_READ, NETLIB_CERTIFICATE_VERIFY, NETLIB_HOSTNAME_MISMATCH, NETLIB_NOT_TLS, NETLIB_TLS_ALERT, \
        NETLIB_TLS_INCOMPATIBLE, NETLIB_TLS_PROTOCOL, NETLIB_TLS_HANDSHAKE_EOF

/* Stores the first failure of an engine, and checks that all later calls return the same status. */
static void record_failure(struct end *end, netlib_status status) {
    if (end->failure != NETLIB_OK) MUST(status == end->failure);
    if (netlib_status_class(status) == NETLIB_CLASS_TLS) end->failure = status;
}

static void do_handshake(struct end *end) {
    netlib_error *err = NULL;
    if (end->done) return;
    netlib_status status = ONE_OF(netlib_tls_engine_handshake(end->engine, &err), 0, HANDSHAKE_STATUSES);
    record_failure(end, status);
    end->done = status == NETLIB_OK;
}

static void receive(struct end *end) {
    netlib_error *err = NULL;
    uint8_t bytes[5000];
    netlib_status status = NETLIB_OK;
    while (status == NETLIB_OK) {
        size_t n = 0, room = 1 + (end->received * 13 + 4999) % sizeof bytes;
        status = ONE_OF(netlib_tls_engine_read(end->engine, bytes, room, &n, &err), 0, HANDSHAKE_STATUSES,
                        NETLIB_END_OF_STREAM, NETLIB_TLS_TRUNCATED);
        MUST(status == NETLIB_OK ? n > 0 && n <= room : n == 0);
        record_failure(end, status);
#ifndef PEER_HAS_KEYS
        for (size_t i = 0; i < n; i++) MUST(bytes[i] == plaintext(end->peer, end->received + i));
        MUST(end->received + n <= end->peer->sent);
        if (status == NETLIB_END_OF_STREAM) MUST(end->peer->shut && end->received == end->peer->sent);
#endif
        end->received += n;
    }
    MUST(end->ended ? status == NETLIB_END_OF_STREAM : true);
    end->ended = status == NETLIB_END_OF_STREAM;
}

static void write_some(struct end *end, size_t len) {
    netlib_error *err = NULL;
    uint8_t bytes[1500];
    len = len < sizeof bytes ? len : sizeof bytes;
    for (size_t i = 0; i < len; i++) bytes[i] = plaintext(end, end->sent + i);
    size_t n = 0;
    netlib_status status = ONE_OF(netlib_tls_engine_write(end->engine, bytes, len, &n, &err), 0, HANDSHAKE_STATUSES,
                                  NETLIB_WANT_WRITE, NETLIB_CLOSED, NETLIB_TLS_TRUNCATED);
    MUST(status == NETLIB_OK ? n <= len : n == 0);
    end->sent += n;
}

static void shut(struct end *end) {
    netlib_error *err = NULL;
    netlib_status status =
        ONE_OF(netlib_tls_engine_shutdown(end->engine, &err), 0, HANDSHAKE_STATUSES, NETLIB_TLS_TRUNCATED);
    if (status == NETLIB_OK) end->shut = true;
}

static void work(struct end *end) {
    do_handshake(end);
    if (end->done && !end->greeted && end->failure == NETLIB_OK) {
        end->greeted = true;
        write_some(end, 100);
    }
    receive(end);
}

/* Feeds bytes to an engine. Whenever the engine accepts no more bytes, does the handshake and reads plaintext. */
static void feed(struct end *to, const uint8_t *bytes, size_t len) {
    netlib_error *err = NULL;
    while (len > 0) {
        size_t n = 0;
        uint8_t *copy = exact(bytes, len);
        netlib_status status = ONE_OF(netlib_tls_engine_feed(to->engine, copy, len, &n, &err), len, HANDSHAKE_STATUSES,
                                      NETLIB_CLOSED, NETLIB_TLS_TRUNCATED);
        free(copy);
        if (status != NETLIB_OK) return;
        MUST(n <= len);
        bytes += n;
        len -= n;
        work(to);
        if (n == 0) return;
    }
}

static void cut(struct end *end) {
    netlib_tls_engine_feed_eof(end->engine);
    work(end);
}

/* Applies the next action of the input to a record, and feeds the record to the other engine. */
static void travel(struct end *from, uint8_t *record, size_t len, struct input *input) {
    struct end *to = from->peer;
    uint8_t action = take_byte(input) % ACTIONS;
    size_t at = action == FLIP || action == TRUNCATE || action == OVERWRITE ? take_two(input) % len : 0;
    to->altered |= action >= FLIP && action <= REFLECT;
    switch (action) {
    case FLIP: {
        uint8_t bits = take_byte(input);
        record[at] ^= bits != 0 ? bits : 1;
        break;
    }
    case DROP: return;
    case DOUBLE: feed(to, record, len); break;
    case TRUNCATE: len = at; break;
    case HOLD:
        if (from->held_len > 0 || len > sizeof from->held) break;
        memcpy(from->held, record, len);
        from->held_len = len;
        return;
    case INSERT: {
        struct input more = take(input, take_byte(input));
        feed(to, more.data, more.len);
        break;
    }
    case OVERWRITE: {
        struct input over = take(input, take_byte(input));
        if (over.len > len - at) over.len = len - at;
        if (over.len > 0) memcpy(record + at, over.data, over.len);
        break;
    }
    case REFLECT:
        from->altered = true;
        feed(from, record, len);
        break;
    case SPLIT: {
        size_t first = take_byte(input) % len;
        feed(to, record, first);
        record += first;
        len -= first;
        break;
    }
    case CUT:
        to->altered = true;
        cut(to);
        break;
    case WRITE: write_some(from, take_two(input)); break;
    case SHUTDOWN: shut(to); break;
    default: break;
    }
    feed(to, record, len);
    if (from->held_len > 0 && action != HOLD) {
        size_t held = from->held_len;
        from->held_len = 0;
        feed(to, from->held, held);
    }
}

/* Drains all records of an engine and sends them. Returns true if the engine had records to send. */
static bool send_records(struct end *from, struct input *input) {
    netlib_error *err = NULL;
    static uint8_t bytes[400000];
    size_t n = 0;
    OK(netlib_tls_engine_drain(from->engine, bytes, sizeof bytes, &n, &err));
    uint8_t *wire = exact(bytes, n);
    for (size_t at = 0; at < n;) {
        MUST(n - at > 5);
        size_t len = 5 + ((size_t)wire[at + 3] << 8 | wire[at + 4]);
        MUST(len <= n - at && len <= 5 + 16384 + 256);
        uint8_t *record = exact(wire + at, len);
        travel(from, record, len, input);
        free(record);
        at += len;
    }
    free(wire);
    return n > 0;
}

static void agree(const struct end *client, const struct end *server) {
    MUST(netlib_tls_engine_version(client->engine) == netlib_tls_engine_version(server->engine));
    MUST(same_text(netlib_tls_engine_cipher_suite(client->engine, NULL),
                   netlib_tls_engine_cipher_suite(server->engine, NULL)));
    MUST(same_text(netlib_tls_engine_key_exchange_group(client->engine, NULL),
                   netlib_tls_engine_key_exchange_group(server->engine, NULL)));
    MUST(same_text(netlib_tls_engine_alpn_protocol(client->engine, NULL),
                   netlib_tls_engine_alpn_protocol(server->engine, NULL)));
    MUST(netlib_tls_engine_is_resumed(client->engine) == netlib_tls_engine_is_resumed(server->engine));
    MUST(same_text(netlib_tls_engine_server_name(server->engine, NULL), "localhost"));
    MUST(netlib_tls_engine_peer_certificate_count(client->engine) > 0);
}

static void session(struct contexts contexts, int setting, struct input *input) {
    netlib_error *err = NULL;
    static struct end ends[2];
    memset(ends, 0, sizeof ends);
    struct end *client = &ends[0], *server = &ends[1];
    client->peer = server, server->peer = client, server->salt = 101;
    OK(netlib_tls_engine_new_client(contexts.client, "localhost", &client->engine, &err));
    OK(netlib_tls_engine_new_server(contexts.server, &server->engine, &err));
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < 2; i++) {
            work(&ends[i]);
            more |= send_records(&ends[i], input);
        }
    }
    if (client->done && server->done) agree(client, server);
    if (client->done && (setting & CLIENT_CERTIFICATE) && server->done) {
        MUST(netlib_tls_engine_peer_certificate_count(server->engine) > 0);
    }
    if (!client->altered && !server->altered) {
        for (int i = 0; i < 2; i++) {
            MUST(ends[i].done && ends[i].failure == NETLIB_OK);
            MUST(ends[i].received == ends[i].peer->sent);
            MUST(ends[i].ended == ends[i].peer->shut);
        }
    }
    /* An engine that has received no close_notify must report the truncation. */
    for (int i = 0; i < 2; i++) {
        cut(&ends[i]);
        MUST(ends[i].ended || ends[i].failure != NETLIB_OK);
        netlib_tls_engine_free(ends[i].engine);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size}, nothing = {NULL, 0};
    int setting = take_byte(&input), kind = setting % SETTINGS;
    fuzz_reset_random();
    if (!(setting & RESUME)) {
        session(contexts[kind], kind, &input);
        return 0;
    }
    struct contexts fresh = make_contexts(kind, 1);
    session(fresh, kind, &nothing);
    session(fresh, kind, &input);
    netlib_tls_context_free(fresh.client);
    netlib_tls_context_free(fresh.server);
    return 0;
}
