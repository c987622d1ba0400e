/*
 * engine - runs TLS over a transport that the program implements itself.
 *
 * This program uses a socket pair and poll(2) as the transport; other programs may use another transport, such as a
 * serial line or a message queue. The program feeds received bytes to a netlib_tls_engine, reads and writes plaintext,
 * and sends the bytes that it drains from the engine:
 *
 *     feed received bytes  ->  handshake, read, write  ->  drain and send
 *
 *     cc engine.c $(pkg-config --cflags --libs netlib) -o engine
 *     engine chain.pem key.pem authority.pem localhost
 *
 * A real program is either a client or a server. This program runs both in one process: the client sends a line, and
 * the server sends the line back in upper case.
 */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <netlib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct endpoint {
    const char *who;
    netlib_tls_engine *engine;
    int fd;
    char out[16384]; /* drained, but not sent yet */
    size_t out_start, out_end;
    bool done;
};

static void fail(const char *who, netlib_error *err) {
    const char *message = netlib_error_message(err, NULL);
    fprintf(stderr, "%s: %s\n", who, message != NULL ? message : "failed");
    netlib_error_free(err);
    exit(1);
}

/* Sends as much of the engine's output as the socket accepts without blocking. */
static void send_output(struct endpoint *end) {
    for (;;) {
        if (end->out_start == end->out_end) {
            netlib_error *err = NULL;
            end->out_start = 0;
            if (netlib_tls_engine_drain(end->engine, end->out, sizeof end->out, &end->out_end, &err) != NETLIB_OK)
                fail(end->who, err);
            if (end->out_end == 0) return;
        }
        ssize_t sent =
            send(end->fd, end->out + end->out_start, end->out_end - end->out_start, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent <= 0) return; /* poll(2) reports when there is room again */
        end->out_start += (size_t)sent;
    }
}

/* Receives available bytes and feeds them to the engine. The engine has room for all received bytes, because the
 * program has read all earlier data. */
static void feed_input(struct endpoint *end) {
    char in[16384];
    netlib_error *err = NULL;
    size_t n = 0;
    ssize_t got = recv(end->fd, in, sizeof in, MSG_DONTWAIT);
    if (got < 0) return;
    if (got == 0) {
        netlib_tls_engine_feed_eof(end->engine);
    } else if (netlib_tls_engine_feed(end->engine, in, (size_t)got, &n, &err) != NETLIB_OK) {
        fail(end->who, err);
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
    if (netlib_status_class(status) > NETLIB_CLASS_PROGRESS) {
        send_output(end); /* sends the alert that tells the peer the reason */
        fail(end->who, err);
    }
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
    netlib_error *err = NULL;
    int fds[2];
    size_t n = 0;
    bool greeted = false;
    if (argc != 5) {
        fprintf(stderr, "usage: engine CHAIN.pem KEY.pem AUTHORITY.pem HOST\n");
        return 2;
    }
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, argv[1], argv[2]);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE); /* clients need no certificate */
    netlib_tls_context *server = make_context(options);
    options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, argv[3]);
    netlib_tls_context *client = make_context(options);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) return 1;

    static struct endpoint ends[2] = {{.who = "client"}, {.who = "server"}};
    for (int i = 0; i < 2; i++) ends[i].fd = fds[i];
    if (netlib_tls_engine_new_client(client, argv[4], &ends[0].engine, &err) != NETLIB_OK) fail("client", err);
    if (netlib_tls_engine_new_server(server, &ends[1].engine, &err) != NETLIB_OK) fail("server", err);

    while (!ends[0].done || !ends[1].done) {
        struct pollfd polled[2];
        for (int i = 0; i < 2; i++) {
            read_plaintext(&ends[i], i == 1);
            if (i == 0 && !greeted && netlib_tls_engine_handshake(ends[0].engine, NULL) == NETLIB_OK) {
                greeted = true;
                fprintf(stderr, "%s, %s\n", netlib_tls_engine_cipher_suite(ends[0].engine, NULL),
                        netlib_tls_engine_key_exchange_group(ends[0].engine, NULL));
                if (netlib_tls_engine_write(ends[0].engine, greeting, strlen(greeting), &n, &err) != NETLIB_OK ||
                    netlib_tls_engine_shutdown(ends[0].engine, &err) != NETLIB_OK)
                    fail("client", err);
            }
            send_output(&ends[i]);
            polled[i].fd = fds[i];
            polled[i].events = (short)(POLLIN | (ends[i].out_start < ends[i].out_end ? POLLOUT : 0));
        }
        if (ends[0].done && ends[1].done) break;
        if (poll(polled, 2, 10000) <= 0) return 1;
        for (int i = 0; i < 2; i++) {
            if (polled[i].revents & (POLLIN | POLLHUP)) feed_input(&ends[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        netlib_tls_engine_free(ends[i].engine);
        close(fds[i]);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return 0;
}
