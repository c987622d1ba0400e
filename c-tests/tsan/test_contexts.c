/* Tests a client context and a server context that eight threads use at the same time: handshakes, resumption, server
 * names and key logs. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tsan/threads.h"

#include <sys/stat.h>

enum { ROUNDS = 40 };

/* The shared contexts. The server-name callback selects `other` for every name but "localhost". */
struct contexts {
    netlib_tls_context *client, *server, *other;
    atomic_uint callback_calls, resumed, result;
};

static void choose(void *ctx, const char *server_name, netlib_tls_context **replacement, enum netlib_verdict *verdict) {
    struct contexts *contexts = ctx;
    contexts->callback_calls++;
    if (server_name != NULL && strcmp(server_name, "localhost") != 0) {
        *replacement = netlib_tls_context_clone(contexts->other);
    }
    *verdict = NETLIB_VERDICT_ALLOW;
}

static netlib_tls_options *server_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return options;
}

/* Runs a session in memory in which the server sends one byte. The ClientHello contains `name`. */
static void run_session(struct contexts *contexts, const char *name) {
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    struct wire wire = {client_engine(contexts->client, name), server_engine(contexts->server), 20000, 0, 0};
    struct handshake_result result = run_handshake(&wire);
    CHECK_INT(NETLIB_OK, result.client);
    CHECK_INT(NETLIB_OK, result.server);
    CHECK_OK(netlib_tls_engine_write(wire.server, "x", 1, &n, &err));
    while (move_piece(&wire, wire.server, wire.client) > 0) continue;
    CHECK_OK(netlib_tls_engine_read(wire.client, &byte, 1, &n, &err));
    CHECK(n == 1 && byte == 'x');
    contexts->result++;
    contexts->resumed += netlib_tls_engine_is_resumed(wire.client);
    free_wire(&wire);
}

static void run_sessions(void *shared, int thread) {
    for (int i = 0; i < ROUNDS; i++) run_session(shared, (thread + i) % 4 == 0 ? "127.0.0.1" : "localhost");
}

/* Counts the lines of the key log. Each line must consist of a label, a field of 64 characters, and a secret of at
 * least 64 hexadecimal digits. */
static unsigned count_lines(const char *path) {
    unsigned whole = 0;
    char line[400], label[64], random[400], secret[400];
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        bool is_whole = sscanf(line, "%63s %399s %399s", label, random, secret) == 3 && strlen(random) == 64;
        CHECK(is_whole && strspn(secret, "0123456789abcdef") == strlen(secret) && strlen(secret) >= 64);
        whole += is_whole;
    }
    if (file != NULL) fclose(file);
    return whole;
}

static void concurrent_threads_can_share_contexts_and_a_key_log(void) {
    static const struct {
        int32_t version;
        unsigned lines; /* per session that is not resumed, at each end */
    } rows[] = {{NETLIB_TLS_VERSION_1_3, 5}, {NETLIB_TLS_VERSION_1_2, 1}};
    char folder[] = "/tmp/netlib-tsan-XXXXXX", path[100];
    CHECK(mkdtemp(folder) != NULL);
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        snprintf(path, sizeof path, "%s/keys%zu", folder, row);
        struct contexts contexts = {0};
        netlib_tls_options *options = server_options();
        contexts.other = context_of(options);
        options = server_options();
        netlib_tls_options_set_servername_callback(options, choose, &contexts, NULL);
        netlib_tls_options_set_keylog_file(options, path);
        contexts.server = context_of(options);
        options = client_options();
        netlib_tls_options_set_minimum_version(options, rows[row].version);
        netlib_tls_options_set_maximum_version(options, rows[row].version);
        netlib_tls_options_set_keylog_file(options, path);
        netlib_tls_options_set_resumption(options, 1);
        contexts.client = context_of(options);
        in_threads(run_sessions, &contexts);
        CHECK_INT(THREADS * ROUNDS, contexts.result);
        CHECK(contexts.callback_calls > 0 && contexts.callback_calls <= THREADS * ROUNDS);
        CHECK(contexts.resumed > 0);
        CHECK(count_lines(path) >= rows[row].lines * (contexts.result - contexts.resumed));
        netlib_tls_context_free(contexts.client);
        netlib_tls_context_free(contexts.server);
        netlib_tls_context_free(contexts.other);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

/* The certificate of tests/certs/server.pem. */
static char chain[8000];

/* Verifies chains with a shared context, and derives other contexts from the shared context. */
static void use_context(void *shared, int thread) {
    netlib_tls_context *context = netlib_tls_context_clone(shared);
    netlib_error *err = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(netlib_tls_context_verify_chain(context, chain, NETLIB_NTS, NETLIB_PURPOSE_SERVER_AUTH, "localhost",
                                                 NULL, &err));
        netlib_tls_options *options = netlib_tls_context_to_options(context);
        if (thread % 2 == 0) netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
        netlib_tls_context *derived = context_of(options);
        /* netlib_tls_wrap_fd and netlib_ssl_wrap_socket use parts of the context's configuration that netlib creates on
         * first use. */
        struct pair pair = unix_pair();
        netlib_stream *stream = NULL;
        netlib_stream_free(wrap(derived, pair.near, "localhost"));
        close(pair.far);
        CHECK(netlib_ssl_wrap_socket(pair.near, NULL, context, "localhost", NULL, &stream, NULL) != NETLIB_OK);
        netlib_tls_context_free(derived);
        close(pair.near);
    }
    netlib_tls_context_free(context);
}

static void concurrent_threads_can_verify_chains_and_derive_contexts(void) {
    netlib_tls_context *context = client_context();
    FILE *file = fopen(CERTS "server.pem", "r");
    CHECK(file != NULL && fread(chain, 1, sizeof chain - 1, file) > 0);
    if (file != NULL) fclose(file);
    in_threads(use_context, context);
    netlib_tls_context_free(context);
}

int main(void) {
    concurrent_threads_can_share_contexts_and_a_key_log();
    concurrent_threads_can_verify_chains_and_derive_contexts();
    return report("tsan contexts");
}
