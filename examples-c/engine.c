/*
 * engine - runs TLS over a transport that the program implements itself.
 *
 * The transport of this program is memory; other programs may use a serial line or a message queue. The program feeds
 * received bytes to a netlib_tls_engine, reads and writes plaintext, and sends the bytes that it drains:
 *
 *     feed received bytes  ->  handshake, read, write  ->  drain and send
 *
 *     cc engine.c $(pkg-config --cflags --libs netlib) -o engine
 *     engine chain.pem key.pem authority.pem localhost
 *
 * A real program is either a client or a server. This program runs both in one process: the client sends a line, and
 * the server sends the line back in upper case.
 */
#include <ctype.h>
#include <netlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct endpoint {
    const char *who;
    netlib_tls_engine *engine;
    char sent[16384]; /* bytes from the engine that the peer has not received yet */
    size_t start, end;
    bool done;
};

static void fail(const char *who, netlib_error *err) {
    const char *message = netlib_error_message(err, NULL);
    fprintf(stderr, "%s: %s\n", who, message != NULL ? message : "failed");
    netlib_error_free(err);
    exit(1);
}

/* Moves bytes from one engine to the other, as many as the other engine has room for. Returns true if bytes moved. */
static bool transfer(struct endpoint *from, struct endpoint *to) {
    netlib_error *err = NULL;
    size_t n = 0;
    bool moved = false;
    for (;;) {
        if (from->start == from->end) {
            from->start = 0;
            if (netlib_tls_engine_drain(from->engine, from->sent, sizeof from->sent, &from->end, &err) != NETLIB_OK)
                fail(from->who, err);
        }
        if (netlib_tls_engine_feed(to->engine, from->sent + from->start, from->end - from->start, &n, &err) !=
            NETLIB_OK)
            fail(to->who, err);
        if (n == 0) return moved;
        from->start += n;
        moved = true;
    }
}

/* Reads all plaintext that has arrived. The server sends the text back in upper case; the client prints the text. */
static void read_plaintext(struct endpoint *end, bool is_server) {
    netlib_error *err = NULL;
    char text[1024];
    size_t n = 0, written = 0;
    netlib_status status;
    while ((status = netlib_tls_engine_read(end->engine, text, sizeof text, &n, &err)) == NETLIB_OK) {
        if (is_server) {
            for (size_t i = 0; i < n; i++) text[i] = (char)toupper((unsigned char)text[i]);
            status = netlib_tls_engine_write(end->engine, text, n, &written, &err);
            if (status != NETLIB_OK) break;
        } else {
            printf("%.*s", (int)n, text);
        }
    }
    if (status == NETLIB_END_OF_STREAM && !end->done) {
        end->done = true;
        status = netlib_tls_engine_shutdown(end->engine, &err);
    }
    /* A real program would first send the engine's output: it contains an alert that tells the peer the reason. */
    if (netlib_status_class(status) > NETLIB_CLASS_PROGRESS) fail(end->who, err);
}

static netlib_tls_context *make_context(netlib_tls_options *options) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    if (netlib_tls_context_new(options, &context, &err) != NETLIB_OK) fail("context", err);
    netlib_tls_options_free(options);
    return context;
}

int main(int argc, char **argv) {
    static const char greeting[] = "hello over tls\n";
    static struct endpoint client = {.who = "client"}, server = {.who = "server"};
    netlib_error *err = NULL;
    size_t n = 0;
    bool greeted = false;
    if (argc != 5) {
        fprintf(stderr, "usage: engine CHAIN.pem KEY.pem AUTHORITY.pem HOST\n");
        return 2;
    }
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, argv[1], argv[2]);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE); /* clients need no certificate */
    netlib_tls_context *server_context = make_context(options);
    options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, argv[3]);
    netlib_tls_context *client_context = make_context(options);
    if (netlib_tls_engine_new_client(client_context, argv[4], &client.engine, &err) != NETLIB_OK) fail("client", err);
    if (netlib_tls_engine_new_server(server_context, &server.engine, &err) != NETLIB_OK) fail("server", err);

    while (!client.done || !server.done) {
        read_plaintext(&client, false);
        if (!greeted && netlib_tls_engine_handshake(client.engine, NULL) == NETLIB_OK) {
            greeted = true;
            fprintf(stderr, "%s, %s\n", netlib_tls_engine_cipher_suite(client.engine, NULL),
                    netlib_tls_engine_key_exchange_group(client.engine, NULL));
            if (netlib_tls_engine_write(client.engine, greeting, strlen(greeting), &n, &err) != NETLIB_OK ||
                netlib_tls_engine_shutdown(client.engine, &err) != NETLIB_OK)
                fail("client", err);
        }
        bool sent = transfer(&client, &server);
        read_plaintext(&server, true);
        bool received = transfer(&server, &client);
        if (!sent && !received && (!client.done || !server.done)) return 1;
    }
    netlib_tls_engine_free(client.engine);
    netlib_tls_engine_free(server.engine);
    netlib_tls_context_free(client_context);
    netlib_tls_context_free(server_context);
    return 0;
}
