/*
 * One end of a TLS session whose other end is another TLS implementation. The suite `interop` runs this program against
 * the openssl and GnuTLS command-line programs, and compares the output of both ends.
 *
 * usage: peer client port=N SETTING...    connects to 127.0.0.1
 *        peer server SETTING...           prints "port N", then accepts
 *
 * For each session, prints one line with the negotiated parameters. Writes the message of each failure to standard
 * error.
 */
#define _GNU_SOURCE
#include "settings.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The timeout in seconds of each call that waits for the peer. A call that succeeds takes less time, even on a busy
 * machine. */
#define LONG 100.0

/* The test data consists of lines of 999 letters. No line begins with a letter that s_client, s_server or gnutls-serv
 * reads as a command. */
#define LINE 1000

static char letter_at(size_t i) {
    if (i % LINE == LINE - 1) return '\n';
    return (char)('a' + ((uint32_t)i * 2654435761u >> 29));
}

/* Returns the byte at a position of the test data with each line reversed, as `s_server -rev` returns it. */
static char reversed_at(size_t i) {
    if (i % LINE == LINE - 1) return '\n';
    return letter_at(i - i % LINE + (LINE - 2 - i % LINE));
}

struct session {
    netlib_stream *stream;
    const struct settings *settings;
    netlib_status early, handshake, data, end, shutdown;
    int32_t alert, problem;
    size_t bytes;
    bool intact;
    /* The context for the next connection, with the ECHConfigList that the server has sent. NULL if the server has sent
     * no list. */
    netlib_tls_context *retry;
    const netlib_tls_context *context;
};

/* Prints the message of a failure. Stores the alert and the certificate problem of the first failure that has one of
 * them. */
static netlib_status note(struct session *session, netlib_status status, netlib_error *err) {
    if (err != NULL && session->alert < 0 && session->problem == 0) {
        session->alert = netlib_error_tls_alert(err);
        session->problem = netlib_error_certificate_problem(err);
    }
    if (err != NULL) fprintf(stderr, "peer: %s\n", netlib_error_message(err, NULL));
    size_t len = 0;
    const uint8_t *list = netlib_error_ech_retry_configs(err, &len);
    if (list != NULL && session->retry == NULL) {
        netlib_error *refused = NULL;
        if (netlib_tls_context_with_ech(session->context, list, len, &session->retry, &refused) != NETLIB_OK) {
            fprintf(stderr, "peer: its list: %s\n", netlib_error_message(refused, NULL));
            netlib_error_free(refused);
        }
    }
    netlib_error_free(err);
    return status;
}

static netlib_status write_all(netlib_stream *stream, size_t total, netlib_error **err) {
    char *data = malloc(total + 1);
    if (data == NULL) abort();
    for (size_t i = 0; i < total; i++) data[i] = letter_at(i);
    size_t n = 0;
    netlib_status status = netlib_stream_write(stream, data, total, &n, err);
    free(data);
    return status;
}

/* Writes as many bytes of early data as the settings specify. */
static void write_early(struct session *session) {
    static char data[1 << 20];
    netlib_error *err = NULL;
    size_t n = 0;
    for (size_t i = 0; i < session->settings->early; i++) data[i] = letter_at(i);
    netlib_status status = netlib_stream_write_early_data(session->stream, data, session->settings->early, &n, &err);
    session->early = note(session, status, err);
}

/* Writes the test data, except for the bytes that the peer has accepted as early data. */
static void write_rest(struct session *session) {
    static char data[1 << 20];
    netlib_error *err = NULL;
    size_t n = 0, done = netlib_stream_early_data_written(session->stream);
    if (netlib_stream_early_data_status(session->stream) != NETLIB_EARLY_DATA_ACCEPTED) done = 0;
    for (size_t i = 0; i < session->settings->bytes; i++) data[i] = letter_at(i);
    netlib_status status = netlib_stream_write(session->stream, data + done, session->settings->bytes - done, &n, &err);
    session->data = note(session, status, err);
}

/* Writes on a separate thread, because the peer answers before it has received all bytes, and stops reading until its
 * answers are read. */
static void *writer(void *argument) {
    struct session *session = argument;
    netlib_error *err = NULL;
    netlib_status status = write_all(session->stream, session->settings->bytes, &err);
    if (status != NETLIB_OK) {
        fprintf(stderr, "peer: writing: %s\n", netlib_error_message(err, NULL));
        netlib_error_free(err);
    }
    return NULL;
}

static void read_expected(struct session *session) {
    static char buffer[20000];
    while (session->data == NETLIB_OK && session->bytes < session->settings->bytes) {
        netlib_error *err = NULL;
        size_t n = 0, room = session->settings->bytes - session->bytes;
        if (room > sizeof buffer) room = sizeof buffer;
        netlib_status status = netlib_stream_read(session->stream, buffer, room, &n, &err);
        session->data = note(session, status, err);
        bool reversed = strcmp(session->settings->how, "reversed") == 0;
        for (size_t i = 0; i < n; i++, session->bytes++) {
            session->intact &= buffer[i] == (reversed ? reversed_at(session->bytes) : letter_at(session->bytes));
        }
    }
}

/* Gets a page from the server and appends it to a file. */
static void get_page(struct session *session) {
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    static char buffer[20000];
    netlib_error *err = NULL;
    size_t n = 0;
    FILE *page = fopen(session->settings->page, "a");
    if (page == NULL) abort();
    netlib_status status = netlib_stream_write(session->stream, request, sizeof request - 1, &n, &err);
    session->data = note(session, status, err);
    while (session->data == NETLIB_OK) {
        status = netlib_stream_read(session->stream, buffer, sizeof buffer, &n, &err);
        if (status == NETLIB_END_OF_STREAM) break;
        session->data = note(session, status, err);
        if (fwrite(buffer, 1, n, page) != n) abort();
    }
    fclose(page);
}

static netlib_status read_end(struct session *session) {
    netlib_error *err = NULL;
    char byte;
    size_t n = 0;
    netlib_status status = netlib_stream_read(session->stream, &byte, 1, &n, &err);
    return note(session, status, err);
}

static void shut_down(struct session *session) {
    netlib_error *err = NULL;
    netlib_status status = netlib_stream_shutdown(session->stream, &err);
    session->shutdown = note(session, status, err);
}

/* A client sends the test data, and reads it back from the server. A server reads the test data, and sends it back. */
static void exchange(struct session *session, bool client) {
    const char *how = session->settings->how;
    if (strcmp(how, "get") == 0) {
        get_page(session);
    } else if (strcmp(how, "say") == 0) {
        write_rest(session);
    } else if (strcmp(how, "receive") == 0) {
        read_expected(session);
    } else if (strcmp(how, "read") != 0 && client) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, writer, session) != 0) abort();
        read_expected(session);
        pthread_join(thread, NULL);
    } else if (strcmp(how, "read") != 0) {
        netlib_error *err = NULL;
        read_expected(session);
        if (session->data == NETLIB_OK) {
            netlib_status status = write_all(session->stream, session->bytes, &err);
            session->data = note(session, status, err);
        }
    }
    /* The peer ends the session without data if it has connected only to get a session that it can resume. */
    if (session->data == NETLIB_END_OF_STREAM) shut_down(session);
    if (session->data != NETLIB_OK) return;
    /* In the modes "read" and "peer-first", the peer sends close_notify before this program does. */
    if (strcmp(how, "read") == 0 || strcmp(how, "peer-first") == 0) {
        session->end = read_end(session);
        shut_down(session);
    } else {
        shut_down(session);
        session->end = read_end(session);
    }
}

static const char *text_or_dash(const char *text) { return text != NULL ? text : "-"; }

static void run_session(struct session *session, bool client) {
    netlib_error *err = NULL;
    if (netlib_stream_set_read_timeout(session->stream, LONG, NULL) != NETLIB_OK) abort();
    if (netlib_stream_set_write_timeout(session->stream, LONG, NULL) != NETLIB_OK) abort();
    size_t left = netlib_stream_early_data_left(session->stream);
    if (session->settings->early > 0) write_early(session);
    netlib_status status = netlib_stream_handshake(session->stream, &err);
    session->handshake = note(session, status, err);
    if (status == NETLIB_OK) exchange(session, client);
    int32_t version = netlib_stream_tls_version(session->stream);
    if (session->settings->early > 0) {
        static const char *const names[] = {"not-sent", "rejected", "accepted", "undecided"};
        printf("early=%s allowed=%zu written=%zu %s ", netlib_status_name(session->early), left,
               netlib_stream_early_data_written(session->stream),
               names[netlib_stream_early_data_status(session->stream)]);
    }
    printf("handshake=%s", netlib_status_name(session->handshake));
    printf(" version=%s", version == NETLIB_TLS_VERSION_1_3 ? "1.3" : version == NETLIB_TLS_VERSION_1_2 ? "1.2" : "-");
    printf(" suite=%s", text_or_dash(netlib_stream_cipher_suite(session->stream, NULL)));
    printf(" group=%s", text_or_dash(netlib_stream_key_exchange_group(session->stream, NULL)));
    printf(" resumed=%s", netlib_stream_is_resumed(session->stream) ? "yes" : "no");
    printf(" name=%s", text_or_dash(netlib_stream_server_name(session->stream, NULL)));
    printf(" alpn=%s", text_or_dash(netlib_stream_alpn_protocol(session->stream, NULL)));
    printf(" certificates=%zu", netlib_stream_peer_certificate_count(session->stream));
    printf(" bytes=%zu intact=%s", session->bytes, session->intact ? "yes" : "no");
    printf(" data=%s end=%s", netlib_status_name(session->data), netlib_status_name(session->end));
    if (session->settings->ech != NULL) printf(" ech=%d", (int)netlib_stream_ech_status(session->stream));
    printf(" shutdown=%s alert=%d problem=%d\n", netlib_status_name(session->shutdown), (int)session->alert,
           (int)session->problem);
    fflush(stdout);
    netlib_stream_free(session->stream);
}

/* Reads all pending bytes before closing the socket. Unread bytes would cause a reset, after which the peer could lose
 * the final alert. */
static void close_gently(int fd) {
    static char buffer[20000];
    struct timeval limit = {(time_t)LONG, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    shutdown(fd, SHUT_WR);
    while (recv(fd, buffer, sizeof buffer, 0) > 0) {}
    close(fd);
}

static struct sockaddr_in loopback(const struct settings *settings) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)settings->port);
    return address;
}

static int print_error(const char *what, netlib_error *err) {
    fprintf(stderr, "peer: %s: %s\n", what, err != NULL ? netlib_error_message(err, NULL) : "the system refuses");
    netlib_error_free(err);
    return 1;
}

int main(int argc, char **argv) {
    struct settings settings;
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    if (!settings_read(&settings, argc, argv)) return 2;
    netlib_status status = netlib_tls_context_new(settings.options, &context, &err);
    netlib_tls_options_free(settings.options);
    if (status != NETLIB_OK) {
        printf("context=%s\n", netlib_status_name(status));
        return print_error("the context", err);
    }
    struct sockaddr_in address = loopback(&settings);
    socklen_t len = sizeof address;
    int listener = -1;
    if (!settings.client) {
        listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 4) != 0 ||
            getsockname(listener, (struct sockaddr *)&address, &len) != 0) {
            return print_error("listening", NULL);
        }
        printf("port %d\n", (int)ntohs(address.sin_port));
        fflush(stdout);
    }
    netlib_tls_context *plain = context;
    if (settings.ech != NULL && strcmp(settings.ech, "grease") != 0) {
        status = netlib_tls_context_with_ech(plain, settings.ech, NETLIB_NTS, &context, &err);
        if (status != NETLIB_OK) return print_error("the list", err);
    } else {
        plain = netlib_tls_context_clone(context);
    }
    for (int i = 0; i < settings.connections; i++) {
        int fd;
        struct session session = {.settings = &settings, .alert = -1, .intact = true, .context = plain};
        if (settings.client) {
            fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (connect(fd, (struct sockaddr *)&address, len) != 0) return print_error("connecting", NULL);
            status = netlib_tls_wrap_fd(context, fd, settings.name, &session.stream, &err);
        } else {
            fd = accept(listener, NULL, NULL);
            if (fd < 0) return print_error("accepting", NULL);
            status = netlib_tls_accept_fd(context, fd, &session.stream, &err);
        }
        if (status != NETLIB_OK) return print_error("the stream", err);
        run_session(&session, settings.client);
        close_gently(fd);
        if (session.retry != NULL) {
            netlib_tls_context_free(context);
            context = session.retry;
        }
    }
    if (listener >= 0) close(listener);
    netlib_tls_context_free(context);
    netlib_tls_context_free(plain);
    return 0;
}
