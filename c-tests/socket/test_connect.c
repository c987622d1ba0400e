/* Tests connecting: hosts, timeouts, source addresses, socket options, limits and descriptors. */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/resource.h>

static int32_t port_of_peer(int fd) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    CHECK(getpeername(fd, (struct sockaddr *)&address, &len) == 0);
    return ntohs(address.sin_port);
}

/* Checks that the socket is blocking and close-on-exec, and has no timeouts. */
static void check_default_settings(int fd) {
    struct timeval timeout;
    socklen_t len = sizeof timeout;
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
    CHECK(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, &len) == 0 && timeout.tv_sec == 0 && timeout.tv_usec == 0);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &len) == 0 && timeout.tv_sec == 0 && timeout.tv_usec == 0);
}

static void connections_to_loopback_addresses_and_names_succeed(void) {
    static const char *const hosts[] = {"127.0.0.1",        "[127.0.0.1]",        "127.1",
                                        "::ffff:127.0.0.1", "[::ffff:127.0.0.1]", "localhost"};
    int32_t port = 0;
    int server = listener(&port);
    netlib_limit *lasting = limit_of(LONG);
    const netlib_limit *const limits[] = {NULL, lasting};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        for (size_t j = 0; j < 2; j++) {
            netlib_error *err = NULL;
            int fd = -1;
            CHECK_OK(netlib_create_connection(hosts[i], port, NULL, limits[j], &fd, &err));
            CHECK(fd >= 0);
            if (fd < 0) continue;
            check_default_settings(fd);
            CHECK_INT(port, port_of_peer(fd));
            int peer = accept(server, NULL, NULL);
            char byte = 0;
            CHECK(write(peer, "x", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x');
            close(peer);
            close(fd);
        }
    }
    netlib_limit_free(lasting);
    close(server);
}

/* Connects to [::1] if the system has IPv6. */
static void connections_to_ipv6_addresses_succeed_if_the_system_has_ipv6(void) {
    netlib_error *err = NULL;
    struct sockaddr_in6 address;
    socklen_t len = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    int server = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has_ipv6 = server >= 0 && bind(server, (struct sockaddr *)&address, len) == 0;
    CHECK_INT(has_ipv6 ? AF_UNSPEC : AF_INET, netlib_allowed_gai_family());
    if (has_ipv6) {
        int fd = -1;
        CHECK(listen(server, 8) == 0 && getsockname(server, (struct sockaddr *)&address, &len) == 0);
        CHECK_OK(netlib_create_connection("[::1]", ntohs(address.sin6_port), NULL, NULL, &fd, &err));
        close(fd);
    }
    if (server >= 0) close(server);
}

static void invalid_hosts_and_ports_are_refused(void) {
    static const char label_of_64[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const struct {
        const char *host;
        int32_t port;
        netlib_status expected;
    } rows[] = {
        {"a..b", 80, NETLIB_INVALID_URL},
        {".a", 80, NETLIB_INVALID_URL},
        {"", 80, NETLIB_INVALID_URL},
        {"[]", 80, NETLIB_INVALID_URL},
        {"[::1", 80, NETLIB_INVALID_URL},
        {label_of_64, 80, NETLIB_INVALID_URL},
        {"a b", 80, NETLIB_INVALID_URL},
        {"127.0.0.1\r\nx", 80, NETLIB_INVALID_URL},
        {"ab\xff", 80, NETLIB_INVALID_UTF8},
        {"127.0.0.1", -1, NETLIB_INVALID_ARGUMENT},
        {"127.0.0.1", 65536, NETLIB_INVALID_ARGUMENT},
        {"127.0.0.1", INT32_MIN, NETLIB_INVALID_ARGUMENT},
        {"1::2::3", 80, NETLIB_NAME_RESOLUTION},
        {"127.0.0.1:80", 80, NETLIB_INVALID_URL},
        {"http://127.0.0.1/", 80, NETLIB_INVALID_URL},
        {"user@127.0.0.1", 80, NETLIB_INVALID_URL},
        {"localhost/path", 80, NETLIB_INVALID_URL},
        {"localhost?q", 80, NETLIB_INVALID_URL},
        {"localhost#f", 80, NETLIB_INVALID_URL},
        {"nonexistent.invalid", 80, NETLIB_NAME_RESOLUTION},
        {NULL, 80, NETLIB_NULL_ARGUMENT},
    };
    netlib_limit *lasting = limit_of(LONG);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        int fd = 17;
        CHECK_STATUS(rows[i].expected, netlib_create_connection(rows[i].host, rows[i].port, NULL, NULL, &fd, &err));
        CHECK_INT(-1, fd);
        CHECK_STATUS(rows[i].expected, netlib_create_connection(rows[i].host, rows[i].port, NULL, lasting, &fd, &err));
        CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                     netlib_create_connection(rows[i].host, rows[i].port, NULL, NULL, NULL, &err));
    }
    netlib_limit_free(lasting);
}

static void resolving_an_unknown_name_fails_with_the_resolver_code(void) {
    netlib_error *err = NULL;
    int fd = -1;
    netlib_status status = netlib_create_connection("nonexistent.invalid", 80, NULL, NULL, &fd, &err);
    /* The resolver code is EAI_NONAME, or EAI_AGAIN if no name server can be reached. */
    int32_t code = netlib_error_resolver_code(err);
    CHECK(code != 0);
    char expected[256];
    snprintf(expected, sizeof expected, "cannot resolve nonexistent.invalid: %s", gai_strerror((int)code));
    CHECK_STR(expected, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_NAME_RESOLUTION, status);
}

static void the_error_of_a_refused_connection_has_host_port_and_errno(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int bound = bound_socket(&port);
    netlib_status status = netlib_create_connection("127.0.0.1", port, NULL, NULL, &fd, &err);
    char expected[128];
    snprintf(expected, sizeof expected, "cannot connect to 127.0.0.1 port %d: Connection refused", (int)port);
    CHECK_STR(expected, netlib_error_message(err, NULL));
    CHECK_INT(ECONNREFUSED, netlib_error_errno(err));
    CHECK_INT(1, (long long)netlib_error_cause_count(err));
    const netlib_error *cause = netlib_error_cause(err, 0);
    CHECK_INT(NETLIB_CONNECT_FAILED, netlib_error_status(cause));
    CHECK_INT(ECONNREFUSED, netlib_error_errno(cause));
    snprintf(expected, sizeof expected, "127.0.0.1 port %d: Connection refused (after ", (int)port);
    const char *message = netlib_error_message(cause, NULL);
    CHECK(message != NULL && strncmp(message, expected, strlen(expected)) == 0);
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    close(bound);
}

/* Connects with the options that `fill` sets. */
static netlib_status connect_with(void (*fill)(netlib_connect_options *), int32_t port, int *fd, netlib_error **err) {
    netlib_connect_options *options = netlib_connect_options_new();
    fill(options);
    netlib_status status = netlib_create_connection("127.0.0.1", port, options, NULL, fd, err);
    netlib_connect_options_free(options);
    return status;
}

static void timeout_short(netlib_connect_options *o) { netlib_connect_options_set_timeout(o, 0.05); }
static void timeout_long(netlib_connect_options *o) { netlib_connect_options_set_timeout(o, LONG); }
static void timeout_none(netlib_connect_options *o) { netlib_connect_options_set_timeout(o, NETLIB_TIMEOUT_NONE); }
static void timeout_nan(netlib_connect_options *o) { netlib_connect_options_set_timeout(o, NAN); }
static void timeout_negative(netlib_connect_options *o) { netlib_connect_options_set_timeout(o, -3.0); }

static void a_connection_attempt_ends_at_its_timeout(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1;
    int fd = -1;
    int silent = silent_listener(&port, &filler);
    double began = netlib_current_time();
    netlib_status status = connect_with(timeout_short, port, &fd, &err);
    CHECK(netlib_current_time() - began >= 0.05);
    CHECK(IN_TIME(began));
    CHECK_INT(1, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
    CHECK_INT(-1, fd);

    /* A signal every millisecond neither shortens the wait nor makes the call fail. */
    start_ticking();
    began = netlib_current_time();
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, connect_with(timeout_short, port, &fd, &err));
    CHECK(netlib_current_time() - began >= 0.05);
    stop_ticking();
    close(filler);
    close(silent);

    int server = listener(&port);
    CHECK_OK(connect_with(timeout_long, port, &fd, &err));
    close(fd);
    CHECK_OK(connect_with(timeout_none, port, &fd, &err));
    close(fd);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, connect_with(timeout_nan, port, &fd, &err));
    status = connect_with(timeout_negative, port, &fd, &err);
    const char *message = netlib_error_message(err, NULL);
    CHECK(message != NULL && strncmp(message, "netlib_connect_options_set_timeout: ", 36) == 0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    close(server);
}

/* Connecting takes one second, because the first packets are dropped. A signal every millisecond does not end the
 * attempt, with or without a limit. */
static void signals_do_not_end_a_connection_attempt(void) {
    netlib_limit *lasting = limit_of(LONG);
    const netlib_limit *const limits[] = {NULL, lasting};
    for (size_t i = 0; i < 2; i++) {
        netlib_error *err = NULL;
        int32_t port = 0;
        int filler = -1;
        int fd = -1;
        int server = silent_listener(&port, &filler);
        close(filler);
        start_ticking();
        pthread_t acceptor;
        CHECK(pthread_create(&acceptor, NULL, accept_all, &server) == 0);
        CHECK_OK(netlib_create_connection("127.0.0.1", port, NULL, limits[i], &fd, &err));
        check_default_settings(fd);
        CHECK_INT(port, port_of_peer(fd));
        close(fd);
        shutdown(server, SHUT_RDWR);
        CHECK(pthread_join(acceptor, NULL) == 0);
        stop_ticking();
        close(server);
    }
    netlib_limit_free(lasting);
}

static void source_default(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "", 0); }
static void source_loopback(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "127.0.0.1", 0); }
static void source_name(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "localhost", 0); }
static void source_foreign(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "192.0.2.1", 0); }
static void source_ipv6(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "::1", 0); }
static void source_bad_port(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "", 65536); }
static void source_bad_host(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "a..b", 0); }
static void source_null(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, NULL, 0); }
static int32_t free_port;
static void source_port(netlib_connect_options *o) { netlib_connect_options_set_source_address(o, "", free_port); }

static void connecting_binds_the_source_address_and_fails_if_that_is_impossible(void) {
    static const struct {
        void (*fill)(netlib_connect_options *);
        netlib_status expected;
        int32_t errnum;
    } rows[] = {
        {source_default, NETLIB_OK, 0},
        {source_loopback, NETLIB_OK, 0},
        {source_name, NETLIB_OK, 0},
        {source_foreign, NETLIB_CONNECT_FAILED, EADDRNOTAVAIL},
        {source_ipv6, NETLIB_CONNECT_FAILED, 0},
        {source_bad_port, NETLIB_INVALID_ARGUMENT, 0},
        {source_bad_host, NETLIB_INVALID_URL, 0},
        {source_null, NETLIB_NULL_ARGUMENT, 0},
    };
    int32_t port = 0;
    int server = listener(&port);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        int fd = -1;
        netlib_status status = connect_with(rows[i].fill, port, &fd, &err);
        CHECK_INT(rows[i].errnum, netlib_error_errno(err));
        CHECK_STATUS(rows[i].expected, status);
        if (fd >= 0) close(fd);
    }

    netlib_error *err = NULL;
    int fd = -1;
    close(bound_socket(&free_port));
    CHECK_OK(connect_with(source_port, port, &fd, &err));
    struct sockaddr_in own;
    socklen_t len = sizeof own;
    CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
    CHECK_INT(free_port, ntohs(own.sin_port));
    close(fd);
    close(server);
}

static void option_values(netlib_connect_options *o) {
    const int on = 1;
    const int size = 100000;
    netlib_connect_options_add_socket_option(o, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    netlib_connect_options_add_socket_option(o, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    netlib_connect_options_add_socket_option(o, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}
static void option_unknown(netlib_connect_options *o) {
    const int on = 1;
    netlib_connect_options_add_socket_option(o, 999, 1, &on, sizeof on);
}
static void option_empty(netlib_connect_options *o) {
    netlib_connect_options_add_socket_option(o, SOL_SOCKET, SO_KEEPALIVE, NULL, 0);
}
static void option_null(netlib_connect_options *o) {
    netlib_connect_options_add_socket_option(o, SOL_SOCKET, SO_KEEPALIVE, NULL, sizeof(int));
}

static int32_t int_option(int fd, int level, int name) {
    int value = -1;
    socklen_t len = sizeof value;
    CHECK(getsockopt(fd, level, name, &value, &len) == 0);
    return value;
}

static void added_socket_options_are_set_or_the_connection_attempt_fails(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    CHECK_OK(netlib_create_connection("127.0.0.1", port, NULL, NULL, &fd, &err));
    CHECK_INT(0, int_option(fd, IPPROTO_TCP, TCP_NODELAY));
    close(fd);
    CHECK_OK(connect_with(option_values, port, &fd, &err));
    CHECK(int_option(fd, IPPROTO_TCP, TCP_NODELAY) != 0);
    CHECK(int_option(fd, SOL_SOCKET, SO_KEEPALIVE) != 0);
    CHECK_INT(200000, int_option(fd, SOL_SOCKET, SO_RCVBUF)); /* Linux doubles the size for its own bookkeeping. */
    close(fd);

    netlib_status status = connect_with(option_unknown, port, &fd, &err);
    CHECK(netlib_error_errno(err) != 0);
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    status = connect_with(option_empty, port, &fd, &err);
    CHECK_INT(EINVAL, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, connect_with(option_null, port, &fd, &err));
    close(server);

    netlib_connect_options_set_timeout(NULL, 1.0);
    netlib_connect_options_set_source_address(NULL, "", 0);
    netlib_connect_options_add_socket_option(NULL, 0, 0, NULL, 0);
    netlib_connect_options_free(NULL);
}

/* ---- limits ---- */

struct connecting {
    const netlib_limit *limit;
    int32_t port;
    netlib_status status;
    int fd;
};

static void *connect_silently(void *arg) {
    struct connecting *c = arg;
    netlib_error *err = NULL;
    c->status = netlib_create_connection("127.0.0.1", c->port, NULL, c->limit, &c->fd, &err);
    netlib_error_free(err);
    return NULL;
}

static void a_deadline_or_a_cancel_ends_create_connection(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1;
    int fd = -1;
    int silent = silent_listener(&port, &filler);

    netlib_limit *limit = limit_of(0.05);
    double began = netlib_current_time();
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection("127.0.0.1", port, NULL, limit, &fd, &err));
    CHECK(IN_TIME(began));
    /* If the limit has ended, the error names host and port, and no address is tried. */
    netlib_status status = netlib_create_connection("127.0.0.1", port, NULL, limit, &fd, &err);
    char expected[128];
    snprintf(expected, sizeof expected, "cannot connect to 127.0.0.1 port %d: the limit's deadline has passed",
             (int)port);
    CHECK_STR(expected, netlib_error_message(err, NULL));
    CHECK_INT(0, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, status);
    status = netlib_create_connection("name.invalid", 80, NULL, limit, &fd, &err);
    CHECK_STR("cannot connect to name.invalid port 80: the limit's deadline has passed",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, status);
    netlib_limit_free(limit);

    /* Another thread cancels the limit. */
    limit = limit_of(NETLIB_TIMEOUT_NONE);
    struct connecting c = {limit, port, NETLIB_OK, -1};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, connect_silently, &c) == 0);
    began = netlib_current_time();
    /* After this pause, the other thread's call usually waits for the connection already. If not, the cancel must still
     * end the call. */
    CHECK(poll(NULL, 0, 20) == 0);
    netlib_limit_cancel(limit);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_CANCELLED, c.status);
    CHECK_INT(-1, c.fd);
    CHECK(IN_TIME(began));
    netlib_limit_free(limit);

    /* A signal handler cancels the limit. */
    limit = limit_of(NETLIB_TIMEOUT_NONE);
    cancel_by_signal(limit);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_create_connection("127.0.0.1", port, NULL, limit, &fd, &err));
    CHECK(IN_TIME(began));
    netlib_limit_free(limit);
    close(filler);
    close(silent);
}

/* ---- descriptors ---- */

static void connecting_leaks_no_descriptor(void) {
    int32_t port = 0, refused_port = 0;
    int server = listener(&port);
    int bound = bound_socket(&refused_port);
    netlib_limit *lasting = limit_of(LONG);
    netlib_error *err = NULL;
    int fd = -1;
    /* The limit opens its own descriptor in the first call that waits. */
    CHECK_OK(netlib_limit_fd(lasting, &fd, &err));

    int before = open_descriptors();
    for (int i = 0; i < 100; i++) {
        const netlib_limit *limit = i % 2 == 0 ? lasting : NULL;
        CHECK_OK(netlib_create_connection("127.0.0.1", port, NULL, limit, &fd, &err));
        close(fd);
        close(accept(server, NULL, NULL));
        CHECK_STATUS(NETLIB_CONNECT_FAILED,
                     netlib_create_connection("127.0.0.1", refused_port, NULL, limit, &fd, &err));
    }
    CHECK_STATUS(NETLIB_NAME_RESOLUTION,
                 netlib_create_connection("nonexistent.invalid", port, NULL, lasting, &fd, &err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, connect_with(option_unknown, port, &fd, &err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, connect_with(source_foreign, port, &fd, &err));
    CHECK_INT(before, open_descriptors());
    netlib_limit_free(lasting);
    CHECK(open_descriptors() < before); /* The descriptor of the limit is closed as well. */
    close(server);
    close(bound);
}

/* If no descriptor is free, each call that opens a descriptor fails with EMFILE. When a descriptor is free again, the
 * calls succeed. */
static void calls_without_a_free_descriptor_fail_with_emfile(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int ends[2];
    int server = listener(&port);
    connected_pair(ends);
    netlib_limit *limit = limit_of(LONG);
    struct rlimit files;
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    int next = dup(0);
    close(next);
    struct rlimit few = {(rlim_t)next, files.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    /* Without a free descriptor, netlib cannot test whether the system has IPv6, and assumes that it has. */
    bool knows_ipv6 = socket(AF_INET6, SOCK_STREAM, 0) < 0 && errno == EMFILE;
    CHECK_INT(knows_ipv6 ? AF_UNSPEC : AF_INET, netlib_allowed_gai_family());

    netlib_status status = netlib_create_connection("127.0.0.1", port, NULL, NULL, &fd, &err);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    status = netlib_wait_for_read(ends[0], LONG, limit, &err);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    /* If a lookup fails because no descriptor is free, the returned status has the retry kind CONNECT. */
    status = netlib_create_connection("localhost", port, NULL, limit, &fd, &err);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));

    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    CHECK_OK(netlib_create_connection("127.0.0.1", port, NULL, limit, &fd, &err));
    close(fd);
    netlib_limit_free(limit);
    close(ends[0]);
    close(ends[1]);
    close(server);
}

int main(void) {
    connections_to_loopback_addresses_and_names_succeed();
    connections_to_ipv6_addresses_succeed_if_the_system_has_ipv6();
    invalid_hosts_and_ports_are_refused();
    resolving_an_unknown_name_fails_with_the_resolver_code();
    the_error_of_a_refused_connection_has_host_port_and_errno();
    a_connection_attempt_ends_at_its_timeout();
    signals_do_not_end_a_connection_attempt();
    connecting_binds_the_source_address_and_fails_if_that_is_impossible();
    added_socket_options_are_set_or_the_connection_attempt_fails();
    a_deadline_or_a_cancel_ends_create_connection();
    connecting_leaks_no_descriptor();
    calls_without_a_free_descriptor_fail_with_emfile();
    return report("connect");
}
