/* Helpers of the TLS tests: contexts with the certificates of tests/certs, connected descriptors, and servers on
 * threads. */
#ifndef NETLIB_TEST_TLS_PEER_H
#define NETLIB_TEST_TLS_PEER_H

#include "harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* The path is relative, because the tests run in the root of the repository. */
#ifndef CERTS
#define CERTS "tests/certs/"
#endif

/* A timeout in seconds, which only a hanging test reaches. */
#define LONG 60.0

struct pair {
    int near, far;
};

static inline struct pair unix_pair(void) {
    int fds[2] = {-1, -1};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct pair pair = {fds[0], fds[1]};
    return pair;
}

/* Returns a TCP listener on a free port of 127.0.0.1, and stores its address. */
static inline int tcp_listener(struct sockaddr_in *address) {
    socklen_t len = sizeof *address;
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)address, len) == 0 && listen(listener, 4) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)address, &len) == 0);
    return listener;
}

/* Returns the two ends of a TCP connection, which can be reset, unlike a Unix socket pair. */
static inline struct pair tcp_pair(void) {
    struct pair pair = {-1, -1};
    struct sockaddr_in address;
    int listener = tcp_listener(&address);
    pair.near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(pair.near, (struct sockaddr *)&address, sizeof address) == 0);
    pair.far = accept(listener, NULL, NULL);
    CHECK(pair.far >= 0);
    close(listener);
    return pair;
}

static inline void close_pair(struct pair pair) {
    if (pair.near >= 0) close(pair.near);
    if (pair.far >= 0) close(pair.far);
}

/* Closes the socket with a reset. */
static inline void reset_connection(int fd) {
    struct linger now = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

/* Creates a context and frees the options. */
static inline netlib_tls_context *context_of(netlib_tls_options *options) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    CHECK_OK(netlib_tls_context_new(options, &context, &err));
    netlib_tls_options_free(options);
    return context;
}

/* Returns a server context with the certificate NAME.pem and the key NAME.key of tests/certs. The context requests no
 * client certificate. */
static inline netlib_tls_context *server_context(const char *name) {
    char chain[256], key[256];
    snprintf(chain, sizeof chain, CERTS "%s.pem", name);
    snprintf(key, sizeof key, CERTS "%s.key", name);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, chain, key);
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return context_of(options);
}

/* Returns options of a client that trusts tests/certs/ca.pem. */
static inline netlib_tls_options *client_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    return options;
}

static inline netlib_tls_context *client_context(void) { return context_of(client_options()); }

static inline netlib_stream *wrap(const netlib_tls_context *context, int fd, const char *name) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_fd(context, fd, name, &stream, &err));
    return stream;
}

static inline netlib_stream *accept_tls(const netlib_tls_context *context, int fd) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_accept_fd(context, fd, &stream, &err));
    return stream;
}

/* The behaviour of a server thread. */
enum server_does {
    SERVE_ECHO,      /* echoes until the client's close_notify, then sends its own */
    SERVE_HANDSHAKE, /* only does the handshake */
    SERVE_CLEAN,     /* sends "data" and close_notify */
    SERVE_TRUNCATED, /* sends "data" and closes the descriptor */
    SERVE_RAW,       /* sends `raw` in plaintext and reads until the client closes */
    SERVE_RAW_CLOSE, /* sends `raw` and closes the descriptor */
};

struct server {
    enum server_does does;
    const netlib_tls_context *context;
    int fd; /* owned */
    const char *raw;
    size_t raw_len;
    netlib_status status; /* the status of its last call */
    int32_t alert, problem;
    int64_t certificate;
    char message[400], advice[200];
    size_t client_certificates;
    char alpn[32];
    pthread_t thread;
};

static inline void server_note(struct server *server, netlib_status status, netlib_error *err) {
    server->status = status;
    server->alert = netlib_error_tls_alert(err);
    server->problem = netlib_error_certificate_problem(err);
    server->certificate = netlib_error_certificate_index(err);
    snprintf(server->advice, sizeof server->advice, "%s",
             err != NULL && netlib_error_advice(err, NULL) != NULL ? netlib_error_advice(err, NULL) : "");
    snprintf(server->message, sizeof server->message, "%s", err != NULL ? netlib_error_message(err, NULL) : "");
    netlib_error_free(err);
}

static inline void *server_main(void *argument) {
    struct server *server = argument;
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    char buffer[40000];
    size_t n = 0;
    server->status = NETLIB_OK;
    server->alert = -1;
    if (server->does == SERVE_RAW || server->does == SERVE_RAW_CLOSE) {
        /* Waits for the ClientHello. The client sends no further bytes before the server answers. */
        ssize_t got = recv(server->fd, buffer, sizeof buffer, 0);
        if (got > 0) got = send(server->fd, server->raw, server->raw_len, MSG_NOSIGNAL);
        if (server->does == SERVE_RAW) {
            while (got > 0) got = recv(server->fd, buffer, sizeof buffer, 0);
        }
        close(server->fd);
        return NULL;
    }
    netlib_status status = netlib_tls_accept_fd(server->context, server->fd, &stream, &err);
    if (status == NETLIB_OK) status = netlib_stream_handshake(stream, &err);
    if (status == NETLIB_OK) {
        const char *alpn = netlib_stream_alpn_protocol(stream, NULL);
        snprintf(server->alpn, sizeof server->alpn, "%s", alpn != NULL ? alpn : "");
        server->client_certificates = netlib_stream_peer_certificate_count(stream);
    }
    if (server->does == SERVE_ECHO) {
        while (status == NETLIB_OK) {
            status = netlib_stream_read(stream, buffer, sizeof buffer, &n, &err);
            if (status == NETLIB_OK) status = netlib_stream_write(stream, buffer, n, &n, &err);
        }
    } else if (status == NETLIB_OK && server->does != SERVE_HANDSHAKE) {
        status = netlib_stream_write(stream, "data", 4, &n, &err);
    }
    server_note(server, status, err);
    if (server->does == SERVE_CLEAN || (server->does == SERVE_ECHO && status == NETLIB_END_OF_STREAM)) {
        netlib_status ended = netlib_stream_shutdown(stream, NULL);
        if (ended != NETLIB_OK) server->status = ended;
    }
    netlib_stream_free(stream);
    close(server->fd);
    return NULL;
}

static inline void server_start(struct server *server) {
    CHECK(pthread_create(&server->thread, NULL, server_main, server) == 0);
}

static inline void server_join(struct server *server) { CHECK(pthread_join(server->thread, NULL) == 0); }

struct flow {
    netlib_stream *stream;
    size_t total;
    size_t chunk;
    netlib_status status;
    bool intact;
};

/* Returns the byte at a position of the test data. Neighbouring bytes differ, so a test detects lost, repeated and
 * moved bytes. */
static inline unsigned char at_position(size_t i) { return (unsigned char)((i * 2654435761u) >> 24); }

static inline void *write_flow(void *argument) {
    struct flow *flow = argument;
    unsigned char *bytes = malloc(flow->chunk);
    netlib_error *err = NULL;
    flow->status = NETLIB_OK;
    for (size_t done = 0; done < flow->total && flow->status == NETLIB_OK;) {
        size_t len = flow->total - done < flow->chunk ? flow->total - done : flow->chunk, n = 0;
        for (size_t i = 0; i < len; i++) bytes[i] = at_position(done + i);
        flow->status = netlib_stream_write(flow->stream, bytes, len, &n, &err);
        done += n;
    }
    if (flow->status == NETLIB_OK) flow->status = netlib_stream_shutdown(flow->stream, &err);
    netlib_error_free(err);
    free(bytes);
    return NULL;
}

static inline void *read_flow(void *argument) {
    struct flow *flow = argument;
    unsigned char *bytes = malloc(flow->chunk);
    netlib_error *err = NULL;
    size_t done = 0;
    flow->intact = true;
    for (;;) {
        size_t n = 0;
        flow->status = netlib_stream_read(flow->stream, bytes, flow->chunk, &n, &err);
        if (flow->status != NETLIB_OK) break;
        for (size_t i = 0; i < n; i++) flow->intact &= bytes[i] == at_position(done + i);
        done += n;
    }
    flow->intact &= done == flow->total;
    netlib_error_free(err);
    free(bytes);
    return NULL;
}

/* Transfers `total` bytes in each direction, with a reader thread and a writer thread at each end. The ends write
 * `write_chunk` bytes per call, and read up to `read_chunk` bytes per call. */
static inline void transfer_with_threads(netlib_stream *near, netlib_stream *far, size_t total, size_t write_chunk,
                                         size_t read_chunk) {
    struct flow flows[4] = {
        {near, total, write_chunk, 0, true},
        {far, total, read_chunk, 0, true},
        {far, total, write_chunk, 0, true},
        {near, total, read_chunk, 0, true},
    };
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, i % 2 == 0 ? write_flow : read_flow, &flows[i]) == 0);
    }
    for (size_t i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(i % 2 == 0 ? NETLIB_OK : NETLIB_END_OF_STREAM, flows[i].status);
        CHECK(flows[i].intact);
    }
}

/* Writes `total` bytes and close_notify at one end and reads them at the other, on one thread with calls that do not
 * wait. Checks that calls at both ends have returned WANT_READ or WANT_WRITE. */
static inline void transfer_without_waiting(netlib_stream *near, netlib_stream *far, size_t total) {
    netlib_error *err = NULL;
    unsigned char *sent = malloc(total), *received = malloc(total + 1);
    if (sent == NULL || received == NULL) abort();
    for (size_t i = 0; i < total; i++) sent[i] = at_position(i);
    size_t written = 0, read = 0, wants_read = 0, wants_write = 0, n = 0;
    bool is_shut_down = false, has_ended = false, has_failed = false;
    for (long turn = 0; turn < 3000000 && !has_ended && !has_failed; turn++) {
        netlib_status status = NETLIB_OK;
        if (written < total) {
            status = netlib_stream_write(near, sent + written, total - written, &n, &err);
            written += n;
        } else if (!is_shut_down) {
            status = netlib_stream_shutdown(near, &err);
            is_shut_down = status == NETLIB_OK;
        }
        wants_write += status == NETLIB_WANT_WRITE;
        has_failed = status != NETLIB_OK && status != NETLIB_WANT_WRITE && status != NETLIB_WANT_READ;
        CHECK(!has_failed);
        if (has_failed) CHECK_OK(status);
        status = netlib_stream_read(far, received + read, read < total ? total - read : 1, &n, &err);
        read += n;
        wants_read += status == NETLIB_WANT_READ;
        has_ended = status == NETLIB_END_OF_STREAM;
        bool reads = has_ended || status == NETLIB_OK || status == NETLIB_WANT_READ || status == NETLIB_WANT_WRITE;
        CHECK(reads && read <= total);
        if (!reads) CHECK_OK(status);
        has_failed = has_failed || !reads || read > total;
    }
    CHECK(has_ended);
    CHECK_INT((long long)total, (long long)written);
    CHECK_INT((long long)total, (long long)read);
    CHECK(memcmp(sent, received, total) == 0);
    CHECK(wants_read > 0 && wants_write > 0);
    free(sent);
    free(received);
}

typedef size_t count_fn(const netlib_tls_context *context);
typedef const char *name_fn(const netlib_tls_context *context, size_t index, size_t *len);

/* Returns the names of all items of a list of the context, separated by spaces. */
static inline const char *join_names(const netlib_tls_context *context, count_fn *count, name_fn *name_at) {
    static char text[1000];
    text[0] = '\0';
    for (size_t i = 0; i < count(context); i++) {
        size_t len = 0, used = strlen(text);
        const char *name = name_at(context, i, &len);
        CHECK(name != NULL && strlen(name) == len);
        snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", name);
    }
    return text;
}

#endif
