/* Tests netlib_stream_connect and netlib_stream_fd. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "socket_peer.h"
#undef LONG /* tls_peer.h defines LONG as well */
#include "stream_kinds.h"

/* The time in seconds until a limit or a timeout ends a call. */
#define SOON 0.25

static netlib_url *url_of(const char *text) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_parse_url(text, NETLIB_NTS, &url, &err));
    return url;
}

static netlib_url *url_with_port(const char *format, int32_t port) {
    char text[200];
    snprintf(text, sizeof text, format, (int)port);
    return url_of(text);
}

struct listening {
    int fd;
    enum server_does does;
    bool is_plain;
    pthread_t thread;
};

/* Accepts one connection. Over TLS, echoes; over a plain connection, echoes until the client closes it. */
static void *accept_one(void *argument) {
    const struct listening *listening = argument;
    struct server peer = {.does = listening->does, .context = server, .fd = accept(listening->fd, NULL, NULL)};
    CHECK(peer.fd >= 0);
    if (!listening->is_plain) return server_main(&peer);
    char bytes[100];
    ssize_t got = 0;
    while ((got = recv(peer.fd, bytes, sizeof bytes, 0)) > 0) CHECK(send(peer.fd, bytes, (size_t)got, 0) == got);
    close(peer.fd);
    return NULL;
}

static void start_server(struct listening *listening, bool is_plain, int32_t *port) {
    *listening = (struct listening){.fd = listener(port), .does = SERVE_ECHO, .is_plain = is_plain};
    CHECK(pthread_create(&listening->thread, NULL, accept_one, listening) == 0);
}

static void end_server(const struct listening *listening) {
    CHECK(pthread_join(listening->thread, NULL) == 0);
    close(listening->fd);
}

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static void the_stream_of_a_url_carries_data_and_owns_its_descriptor(void) {
    static const struct {
        const char *format;
        bool is_plain;
    } rows[] = {
        {"http://127.0.0.1:%d/a?b", true},
        {"//127.0.0.1:%d", true},
        {"http://user:password@127.0.0.1:%d/", true},
        {"https://127.0.0.1:%d/", false},
        {"HTTPS://LOCALHOST:%d/", false},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct listening listening;
        int32_t port = 0;
        start_server(&listening, rows[row].is_plain, &port);
        netlib_url *url = url_with_port(rows[row].format, port);
        netlib_stream *stream = NULL;
        CHECK_OK(netlib_stream_connect(url, rows[row].is_plain ? NULL : client, NULL, NULL, &stream, &err));
        int fd = netlib_stream_fd(stream);
        CHECK(is_open(fd));
        CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
        CHECK_INT(rows[row].is_plain ? 0 : NETLIB_TLS_VERSION_1_3, netlib_stream_tls_version(stream));
        write_text(stream, "ping");
        read_text(stream, "ping");
        CHECK_OK(netlib_stream_shutdown(stream, &err));
        netlib_stream_free(stream);
        CHECK(!is_open(fd));
        netlib_url_free(url);
        end_server(&listening);
    }
}

static void an_inner_stream_keeps_the_descriptor_of_a_freed_outer_stream_open(void) {
    netlib_error *err = NULL;
    struct listening listening = {.fd = -1};
    int32_t port = 0;
    start_server(&listening, false, &port);
    netlib_url *url = url_with_port("http://localhost:%d/", port);
    netlib_stream *outer = NULL, *inner = NULL;
    CHECK_OK(netlib_stream_connect(url, NULL, NULL, NULL, &outer, &err));
    int fd = netlib_stream_fd(outer);
    CHECK_OK(netlib_tls_wrap_stream(client, outer, "localhost", &inner, &err));
    CHECK_INT(fd, netlib_stream_fd(inner));
    netlib_stream_free(outer);
    CHECK(is_open(fd));
    write_text(inner, "ping");
    read_text(inner, "ping");
    CHECK_OK(netlib_stream_shutdown(inner, &err));
    netlib_stream_free(inner);
    CHECK(!is_open(fd));
    netlib_url_free(url);
    end_server(&listening);
}

/* Resolves each host to 127.0.0.1, and frees the URL that the outer call is using. */
static int32_t free_url_and_resolve(void *ctx, const char *host, int32_t port, double left,
                                    netlib_addresses *addresses) {
    netlib_url **url = ctx;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    (void)host, (void)left;
    netlib_url_free(*url);
    *url = NULL;
    return netlib_addresses_add(addresses, &address, sizeof address, NULL);
}

static void a_resolve_callback_may_free_the_url(void) {
    netlib_error *err = NULL;
    struct listening listening;
    int32_t port = 0;
    start_server(&listening, false, &port);
    netlib_url *url = url_with_port("https://localhost:%d/", port);
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, free_url_and_resolve, &url, NULL);
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_stream_connect(url, client, options, NULL, &stream, &err));
    CHECK(url == NULL);
    CHECK_STR("localhost", netlib_stream_server_name(stream, NULL));
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    netlib_stream_free(stream);
    netlib_connect_options_free(options);
    end_server(&listening);
}

static void a_refused_url_or_a_failed_connection_leaves_no_descriptor_open(void) {
    static const struct {
        const char *format;
        bool has_context;
        netlib_status status;
        const char *message;
    } rows[] = {
        {"ftp://localhost:%d/", true, NETLIB_UNSUPPORTED,
         "url has the scheme \"ftp\"; only http and https are supported"},
        {"mailto:a@b%d", true, NETLIB_UNSUPPORTED, "url has the scheme \"mailto\"; only http and https are supported"},
        {"https://localhost:%d/", false, NETLIB_INVALID_ARGUMENT,
         "context must not be NULL for a URL with the scheme https"},
        {"/path/%d", true, NETLIB_INVALID_URL, "url has no host to connect to"},
        {"http://localhost..:%d/", true, NETLIB_INVALID_URL, "the host \"localhost..\" has an empty label"},
        {"http://127.0.0.1:%d/", true, NETLIB_CONNECT_FAILED, "cannot connect to 127.0.0.1"},
        {"https://127.0.0.1:%d/", true, NETLIB_CONNECT_FAILED, "cannot connect to 127.0.0.1"},
    };
    int32_t port = 0;
    int refusing = bound_socket(&port);
    int before = open_descriptors();
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        netlib_url *url = url_with_port(rows[row].format, port);
        netlib_stream *stream = NULL;
        netlib_status status =
            netlib_stream_connect(url, rows[row].has_context ? client : NULL, NULL, NULL, &stream, &err);
        CHECK_CONTAINS(rows[row].message, netlib_error_message(err, NULL));
        bool never_reached = status == NETLIB_UNSUPPORTED || status == NETLIB_INVALID_ARGUMENT;
        enum netlib_retry_kind kind = never_reached                     ? NETLIB_RETRY_KIND_NEVER
                                      : status == NETLIB_CONNECT_FAILED ? NETLIB_RETRY_KIND_CONNECT
                                                                        : NETLIB_RETRY_KIND_OTHER;
        CHECK_INT(kind, netlib_error_retry_kind(err));
        CHECK_STATUS(rows[row].status, status);
        CHECK(stream == NULL);
        netlib_url_free(url);
    }
    CHECK_INT(before, open_descriptors());
    close(refusing);
}

static void a_failed_handshake_closes_the_descriptor(void) {
    netlib_error *err = NULL;
    struct listening listening = {.fd = -1};
    int32_t port = 0;
    int before = open_descriptors();
    /* The plain server echoes the ClientHello. */
    start_server(&listening, true, &port);
    netlib_url *url = url_with_port("https://localhost:%d/", port);
    netlib_stream *stream = NULL;
    CHECK_STATUS(NETLIB_TLS_PROTOCOL, netlib_stream_connect(url, client, NULL, NULL, &stream, &err));
    CHECK(stream == NULL);
    end_server(&listening);
    netlib_url_free(url);
    CHECK_INT(before, open_descriptors());
}

static netlib_connect_options *options_with_timeout(double total, double read) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    CHECK_OK(netlib_timeout_new(total, LONG, read, &timeout, &err));
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_use_timeout(options, timeout);
    netlib_timeout_free(timeout);
    return options;
}

/* A server that never sends a byte. Limits and timeouts end the handshake, or the first read of a plain stream. */
static void limits_and_timeouts_end_the_handshake_and_later_reads(void) {
    static const double NONE = NETLIB_TIMEOUT_NONE;
    static const struct {
        double limit, total, read, process_default;
        netlib_status status;
        const char *message;
    } rows[] = {
        {SOON, NONE, NONE, NONE, NETLIB_DEADLINE_EXCEEDED, ""},
        {LONG, SOON, NONE, NONE, NETLIB_READ_TIMEOUT, "the total timeout has passed"},
        {LONG, NONE, SOON, NONE, NETLIB_READ_TIMEOUT, "for 0.25 s"},
        {LONG, NONE, NETLIB_TIMEOUT_DEFAULT, SOON, NETLIB_READ_TIMEOUT, "for 0.25 s"},
        {LONG, 0, 0, SOON, NETLIB_READ_TIMEOUT, "for 0.25 s"}, /* options without a timeout */
    };
    int32_t port = 0;
    int silent = listener(&port);
    CHECK(fcntl(silent, F_SETFL, O_NONBLOCK) == 0); /* on a slow machine, a call may end before it connects */
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int is_tls = 0; is_tls < 2; is_tls++) {
            netlib_error *err = NULL;
            netlib_url *url = url_with_port(is_tls ? "https://127.0.0.1:%d" : "http://127.0.0.1:%d", port);
            netlib_connect_options *options = NULL;
            if (rows[row].read > 0 || rows[row].total > 0) {
                options = options_with_timeout(rows[row].total, rows[row].read);
            }
            netlib_limit *limit = limit_of(rows[row].limit);
            netlib_stream *stream = NULL;
            CHECK_OK(netlib_set_default_timeout(rows[row].process_default, &err));
            double began = netlib_current_time();
            netlib_status status = netlib_stream_connect(url, client, options, limit, &stream, &err);
            CHECK_INT(NETLIB_OK, netlib_set_default_timeout(NONE, NULL));
            netlib_limit_free(limit); /* the stream keeps a reference */
            if (!is_tls) {
                char byte;
                size_t n = 0;
                CHECK_OK(status);
                status = netlib_stream_read(stream, &byte, 1, &n, &err);
            }
            CHECK(netlib_current_time() - began >= SOON / 2 && IN_TIME(began));
            CHECK_CONTAINS(rows[row].message, netlib_error_message(err, NULL));
            CHECK_STATUS(rows[row].status, status);
            netlib_stream_free(stream);
            netlib_connect_options_free(options);
            netlib_url_free(url);
            close(accept(silent, NULL, NULL));
        }
    }
    close(silent);
}

static void stream_fd_is_the_descriptor_or_minus_1_for_callbacks(void) {
    CHECK_INT(-1, netlib_stream_fd(NULL));
    for (int row = 0; row < KINDS; row++) {
        struct ends ends;
        connect_ends(&ends, (enum kind)row, unix_pair());
        CHECK_INT(has_callbacks((enum kind)row) ? -1 : ends.pair.near, netlib_stream_fd(ends.near));
        int near = ends.pair.near;
        netlib_stream_free(ends.near);
        ends.near = NULL;
        CHECK(is_open(near));
        free_ends(&ends);
    }
}

int main(void) {
    client = client_context();
    server = server_context("server");
    the_stream_of_a_url_carries_data_and_owns_its_descriptor();
    an_inner_stream_keeps_the_descriptor_of_a_freed_outer_stream_open();
    a_resolve_callback_may_free_the_url();
    a_refused_url_or_a_failed_connection_leaves_no_descriptor_open();
    a_failed_handshake_closes_the_descriptor();
    limits_and_timeouts_end_the_handshake_and_later_reads();
    stream_fd_is_the_descriptor_or_minus_1_for_callbacks();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stream connections");
}
