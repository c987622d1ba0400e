/* Tests sequential and racing connects with tables: hosts, source addresses, timeouts, settings of the socket, and
 * failures. */
#define _GNU_SOURCE
#include "connect_rows.h"

/* ---- hosts ---- */

#define A15 "aaaaaaaaaaaaaaa"
#define A63 A15 A15 A15 A15 "aaa"
#define U6 "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"

/* A host name with an invalid label is refused without a lookup. urllib3 1.26.20 and 2.8.0 refuse the same host
 * names. */
static void host_names_with_invalid_labels_are_refused_without_a_lookup(void) {
    static const struct {
        const char *host;
        int64_t offset; /* -1: no offset; -2: a valid name */
    } rows[] = {
        {A63, -2},
        {A63 ".", -2},
        {A63 "." A63, -2},
        {"a.b.", -2},
        {"b\xc3\xbc"
         "cher.test",
         -2},
        {A63 "a", 0},
        {A63 "a.test", 0},
        {"x." A63 "a", 2},
        {"x." A63 "a.", 2},
        {".", 0},
        {".a", 0},
        {"a..b", 2},
        {"a..", 2},
        {"localhost..", 10},
        {"", 0},
        {U6 U6 U6 U6 U6 U6 U6 U6 U6 U6, 0},
    };
    int32_t port = 0;
    int server = listener(&port);
    const struct sockaddr_storage good = ipv4(INADDR_LOOPBACK, port);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int way = 0; way < WAYS; way++) {
            netlib_error *err = NULL;
            int fd = 17;
            struct answer answer = {&good, 1, 0};
            netlib_connect_options *options = options_for(&answer, LONG);
            netlib_status status = connect_by(way, rows[i].host, port, options, NULL, &fd, &err);
            bool is_name = rows[i].offset == -2;
            CHECK_INT(is_name ? -1 : rows[i].offset, netlib_error_offset(err));
            CHECK_STATUS(is_name ? NETLIB_OK : NETLIB_INVALID_URL, status);
            CHECK_INT(is_name, answer.calls);
            CHECK_INT(is_name, fd >= 0);
            close_both(fd, server);
            netlib_connect_options_free(options);
        }
    }
    close(server);
}

/* A numeric host is never resolved, with or without brackets. */
static void numeric_hosts_are_not_resolved(void) {
    static const struct {
        const char *host;
        bool ipv6;
        netlib_status expected;
    } rows[] = {
        {"127.0.0.1", false, NETLIB_OK},
        {"[127.0.0.1]", false, NETLIB_OK},
        {"::1", true, NETLIB_OK},
        {"[::1]", true, NETLIB_OK},
        {"[0:0:0:0:0:0:0:1]", true, NETLIB_OK},
        {"[::0001]", true, NETLIB_OK},
        {"[]", false, NETLIB_INVALID_URL},
        {"[", false, NETLIB_INVALID_URL},
        {"]", false, NETLIB_INVALID_URL},
        {"[::1", false, NETLIB_INVALID_URL},
        {"::1]", false, NETLIB_INVALID_URL},
        {"[[::1]]", false, NETLIB_INVALID_URL},
        {"[::1]]", false, NETLIB_INVALID_URL},
        {"[::1]:80", false, NETLIB_INVALID_URL},
        {"[::1] ", false, NETLIB_INVALID_URL},
        {"[::12345]", false, NETLIB_NAME_RESOLUTION},
        {"[:::1]", false, NETLIB_NAME_RESOLUTION},
    };
    bool ipv6 = has_ipv6();
    int servers[2] = {-1, -1};
    int32_t ports[2] = {0, 0};
    servers[0] = listener(&ports[0]);
    if (ipv6) {
        struct sockaddr_storage address = ipv6_loopback(0);
        socklen_t len = sizeof(struct sockaddr_in6);
        servers[1] = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK(bind(servers[1], (struct sockaddr *)&address, len) == 0 && listen(servers[1], 128) == 0);
        CHECK(getsockname(servers[1], (struct sockaddr *)&address, &len) == 0);
        ports[1] = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].ipv6 && !ipv6) continue;
        for (int way = 0; way < WAYS; way++) {
            netlib_error *err = NULL;
            int fd = 17;
            struct answer answer = {NULL, 0, 0};
            netlib_connect_options *options = options_for(&answer, LONG);
            CHECK_STATUS(rows[i].expected,
                         connect_by(way, rows[i].host, ports[rows[i].ipv6], options, NULL, &fd, &err));
            CHECK_INT(0, answer.calls);
            CHECK_INT(rows[i].expected == NETLIB_OK, fd >= 0);
            if (fd >= 0) {
                struct sockaddr_storage peer;
                socklen_t len = sizeof peer;
                CHECK(getpeername(fd, (struct sockaddr *)&peer, &len) == 0);
                CHECK_INT(rows[i].ipv6 ? AF_INET6 : AF_INET, peer.ss_family);
                close_both(fd, servers[rows[i].ipv6]);
            }
            netlib_connect_options_free(options);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (servers[i] >= 0) close(servers[i]);
    }
}

/* ---- source addresses ---- */

enum { SYSTEMS, FREE, TAKEN };

static void the_source_address_is_bound_or_the_attempt_fails(void) {
    static const struct {
        const char *host;
        int port; /* chosen by the system, free, or in use */
        uint32_t address;
        int32_t errnum;
        const char *reason; /* NULL: it connects */
    } rows[] = {
        {"", SYSTEMS, INADDR_LOOPBACK, 0, NULL},
        {"", FREE, INADDR_LOOPBACK, 0, NULL},
        {"127.0.0.2", SYSTEMS, INADDR_LOOPBACK + 1, 0, NULL},
        {"127.0.0.2", FREE, INADDR_LOOPBACK + 1, 0, NULL},
        {"[127.0.0.2]", FREE, INADDR_LOOPBACK + 1, 0, NULL},
        {"127.2", SYSTEMS, INADDR_LOOPBACK + 1, 0, NULL},
        {"localhost", FREE, INADDR_LOOPBACK, 0, NULL},
        {"0.0.0.0", SYSTEMS, INADDR_LOOPBACK, 0, NULL},
        {"::1", SYSTEMS, 0, 0, "the source address cannot be used for IPv4"},
        {"::", FREE, 0, 0, "the source address cannot be used for IPv4"},
        {"192.0.2.1", SYSTEMS, 0, EADDRNOTAVAIL, "cannot bind to 192.0.2.1 port 0: "},
        {"", TAKEN, 0, EADDRINUSE, "cannot bind to 0.0.0.0 port PORT: "},
        {"127.0.0.1", TAKEN, 0, EADDRINUSE, "cannot bind to 127.0.0.1 port PORT: "},
    };
    int32_t port = 0;
    int server = listener(&port);
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int way = 0; way < WAYS; way++) {
            netlib_error *err = NULL;
            int fd = 17;
            int32_t own_port = 0;
            netlib_status status = NETLIB_OK;
            /* Tries several ports, because another process may take a free port first. */
            for (int turn = 0; turn < 3; turn++) {
                if (rows[i].port == FREE) close(bound_socket(&own_port));
                if (rows[i].port == TAKEN) own_port = port;
                netlib_connect_options *options = netlib_connect_options_new();
                netlib_connect_options_set_source_address(options, rows[i].host, own_port);
                netlib_error_free(err);
                status = connect_by(way, "127.0.0.1", port, options, NULL, &fd, &err);
                netlib_connect_options_free(options);
                if (rows[i].port != FREE || netlib_error_errno(err) != EADDRINUSE) break;
            }
            if (rows[i].reason == NULL) {
                CHECK_OK(status);
                struct sockaddr_in own = local_address(fd);
                CHECK_INT(rows[i].address, ntohl(own.sin_addr.s_addr));
                if (rows[i].port == SYSTEMS) CHECK(own.sin_port != 0);
                else CHECK_INT(own_port, ntohs(own.sin_port));
                /* Closing with a reset makes the port free immediately. */
                const struct linger now = {1, 0};
                CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
                close_both(fd, server);
                continue;
            }
            char expected[160], reason[96];
            snprintf(reason, sizeof reason, "%s", rows[i].reason);
            char *at = strstr(reason, "PORT");
            if (at != NULL) snprintf(at, sizeof reason - (size_t)(at - reason), "%d: ", (int)own_port);
            snprintf(expected, sizeof expected, "cannot connect to 127.0.0.1 port %d: %s%s", (int)port, reason,
                     rows[i].errnum ? strerror(rows[i].errnum) : "");
            CHECK_STR(expected, netlib_error_message(err, NULL));
            CHECK_INT(rows[i].errnum, netlib_error_errno(err));
            CHECK_INT(1, (long long)netlib_error_cause_count(err));
            CHECK_INT(-1, fd);
            CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        }
    }
    CHECK_INT(before, open_descriptors());
    close(server);
}

/* As in urllib3, an attempt fails if the address and the source address have different families, and the next address
 * is tried. */
static void addresses_of_another_family_than_the_source_address_are_skipped(void) {
    int32_t port = 0;
    int server = listener(&port);
    const struct sockaddr_storage both[] = {ipv6_loopback(port), ipv4(INADDR_LOOPBACK, port)};
    for (int way = 0; way < WAYS && has_ipv6(); way++) {
        netlib_error *err = NULL;
        int fd = -1;
        struct answer answer = {both, 2, 0};
        netlib_connect_options *options = options_for(&answer, LONG);
        netlib_connect_options_set_source_address(options, "127.0.0.2", 0);
        CHECK_OK(connect_by(way, "name.test", port, options, NULL, &fd, &err));
        CHECK_INT(INADDR_LOOPBACK + 1, ntohl(local_address(fd).sin_addr.s_addr));
        close(fd);
        netlib_connect_options_free(options);
    }
    close(server);
}

/* ---- the socket ---- */

/* The socket has the same settings after sequential and racing connecting, with or without a failed attempt before. */
static void connected_sockets_are_blocking_close_on_exec_and_without_timeouts(void) {
    int32_t port = 0, dead_port = 0;
    int server = listener(&port);
    int dead = bound_socket(&dead_port);
    const struct sockaddr_storage addresses[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK, port)};
    static const double timeouts[] = {NETLIB_TIMEOUT_DEFAULT, NETLIB_TIMEOUT_NONE, 5.0};
    netlib_limit *lasting = limit_of(LONG);
    const netlib_limit *const limits[] = {NULL, lasting};
    for (int row = 0; row < WAYS * 3 * 2; row++) {
        netlib_error *err = NULL;
        int fd = -1;
        struct answer answer = {addresses, 2, 0};
        netlib_connect_options *options = options_for(&answer, timeouts[row / 2 % 3]);
        CHECK_OK(connect_by(row / 6, "name.test", port, options, limits[row % 2], &fd, &err));
        CHECK_INT(FD_CLOEXEC, fcntl(fd, F_GETFD));
        CHECK_INT(0, fcntl(fd, F_GETFL) & (O_NONBLOCK | O_ASYNC));
        static const int names[] = {SO_RCVTIMEO, SO_SNDTIMEO};
        for (int i = 0; i < 2; i++) {
            struct timeval timeout = {1, 1};
            socklen_t len = sizeof timeout;
            CHECK(getsockopt(fd, SOL_SOCKET, names[i], &timeout, &len) == 0);
            CHECK(timeout.tv_sec == 0 && timeout.tv_usec == 0);
        }
        int error = -1;
        socklen_t len = sizeof error;
        CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0);
        CHECK_INT(port, port_of_peer(fd));
        close_both(fd, server);
        netlib_connect_options_free(options);
    }
    netlib_limit_free(lasting);
    close(dead);
    close(server);
}

/* ---- timeouts and failures ---- */

/* The error has one cause per address, in the order of the attempts, with the duration of each attempt. */
static void connect_errors_have_one_cause_per_address(void) {
    const char *refused = strerror(ECONNREFUSED);
    int32_t first_port = 0, silent_port = 0, last_port = 0;
    int filler = -1;
    int first = bound_socket(&first_port), silent = silent_listener(&silent_port, &filler),
        last = bound_socket(&last_port);
    const struct sockaddr_storage addresses[] = {
        ipv4(INADDR_LOOPBACK, first_port),
        ipv4(INADDR_LOOPBACK, silent_port),
        ipv4(INADDR_LOOPBACK + 1, last_port),
    };
    netlib_limit *lasting = limit_of(LONG);
    const netlib_limit *const limits[] = {NULL, lasting};
    for (int row = 0; row < WAYS * 2; row++) {
        netlib_error *err = NULL;
        int fd = 17;
        struct answer answer = {addresses, 3, 0};
        netlib_connect_options *options = options_for(&answer, 0.06);
        double began = netlib_current_time();
        netlib_status status = connect_by(row / 2, "name.test", 4711, options, limits[row % 2], &fd, &err);
        double took = netlib_current_time() - began;
        CHECK_STR("cannot connect to name.test port 4711, 3 addresses tried, the last: Connection refused",
                  netlib_error_message(err, NULL));
        CHECK_INT(ECONNREFUSED, netlib_error_errno(err));
        CHECK_INT(3, (long long)netlib_error_cause_count(err));
        double spent = check_cause(err, 0, "127.0.0.1", first_port, NETLIB_CONNECT_FAILED, ECONNREFUSED, refused);
        double waited =
            check_cause(err, 1, "127.0.0.1", silent_port, NETLIB_CONNECT_TIMEOUT, 0, "the connect timeout passed");
        CHECK(waited >= 0.06);
        spent += waited + check_cause(err, 2, "127.0.0.2", last_port, NETLIB_CONNECT_FAILED, ECONNREFUSED, refused);
        CHECK(spent <= took + 0.002); /* durations are rounded to milliseconds */
        CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        CHECK_INT(-1, fd);
        CHECK_INT(1, answer.calls);
        netlib_connect_options_free(options);
    }
    netlib_limit_free(lasting);
    close(first);
    close(filler);
    close(silent);
    close(last);
}

/* The attempt to each of the two silent addresses lasts for the whole connect timeout. */
static void each_address_gets_the_whole_connect_timeout(void) {
    int32_t silent_port = 0, port = 0;
    int filler = -1;
    int silent = silent_listener(&silent_port, &filler), server = listener(&port);
    const struct sockaddr_storage addresses[] = {
        ipv4(INADDR_LOOPBACK, silent_port),
        ipv4(INADDR_LOOPBACK, silent_port),
        ipv4(INADDR_LOOPBACK, port),
    };
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        int fd = -1;
        struct answer answer = {addresses, 3, 0};
        netlib_connect_options *options = options_for(&answer, 0.06);
        double began = netlib_current_time();
        CHECK_OK(connect_by(way, "name.test", 80, options, NULL, &fd, &err));
        double took = netlib_current_time() - began;
        CHECK(took >= 0.12 && IN_TIME(began));
        CHECK_INT(port, port_of_peer(fd));
        close_both(fd, server);
        netlib_connect_options_free(options);
    }
    close(filler);
    close(silent);
    close(server);
}

struct canceller {
    netlib_limit *limit;
    int calls;
};

static void cancel_and_refuse(void *ctx, const void *address, size_t len, int32_t classes,
                              enum netlib_verdict *verdict) {
    struct canceller *canceller = ctx;
    (void)address, (void)len, (void)classes;
    canceller->calls++;
    netlib_limit_cancel(canceller->limit);
    *verdict = NETLIB_VERDICT_REFUSE;
}

/* netlib checks the limit between two attempts even if no attempt waits. */
static void a_cancel_between_two_connection_attempts_prevents_the_second(void) {
    int32_t port = 0;
    int server = listener(&port);
    const struct sockaddr_storage addresses[] = {ipv4(INADDR_LOOPBACK, port), ipv4(INADDR_LOOPBACK, port)};
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        int fd = -1;
        struct answer answer = {addresses, 2, 0};
        struct canceller canceller = {limit_of(LONG), 0};
        netlib_connect_options *options = options_for(&answer, LONG);
        netlib_connect_options_set_address_callback(options, cancel_and_refuse, &canceller, NULL);
        netlib_status status = connect_by(way, "name.test", 80, options, canceller.limit, &fd, &err);
        CHECK_INT(-1, fd);
        CHECK_INT(1, canceller.calls);
        CHECK_STR("cannot connect to name.test port 80: the limit was cancelled", netlib_error_message(err, NULL));
        CHECK_INT(1, (long long)netlib_error_cause_count(err));
        CHECK_INT(NETLIB_ADDRESS_REFUSED, netlib_error_status(netlib_error_cause(err, 0)));
        CHECK_STATUS(NETLIB_CANCELLED, status);
        netlib_connect_options_free(options);
        netlib_limit_free(canceller.limit);
    }
    close(server);
}

/* The default timeout of the process is read when the connect starts. */
static void the_default_timeout_is_read_when_connecting_starts(void) {
    int32_t port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&port, &filler);
    netlib_error *err = NULL;
    netlib_limit *lasting = limit_of(LONG);
    netlib_connect_options *unset = netlib_connect_options_new();
    netlib_connect_options *none = netlib_connect_options_new();
    netlib_connect_options_set_timeout(none, NETLIB_TIMEOUT_NONE);
    netlib_connect *early = NULL;
    CHECK_OK(netlib_connect_new("127.0.0.1", port, NULL, &early, &err));
    CHECK_OK(netlib_set_default_timeout(0.05, &err));
    const netlib_connect_options *const default_ones[] = {NULL, unset};
    for (int row = 0; row < WAYS * 2; row++) {
        double began = netlib_current_time();
        netlib_status status = connect_by(row / 2, "127.0.0.1", port, default_ones[row % 2], lasting, &fd, &err);
        CHECK(check_cause(err, 0, "127.0.0.1", port, NETLIB_CONNECT_TIMEOUT, 0, "the connect timeout passed") >= 0.05);
        CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
        CHECK(IN_TIME(began));
    }
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, netlib_connect_run(early, lasting, &fd, &err));
    netlib_connect_free(early);
    for (int way = 0; way < WAYS; way++) {
        netlib_limit *brief = limit_of(0.1);
        CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, connect_by(way, "127.0.0.1", port, none, brief, &fd, &err));
        netlib_limit_free(brief);
    }
    CHECK_OK(netlib_set_default_timeout(NETLIB_TIMEOUT_NONE, &err));
    netlib_connect_options_free(none);
    netlib_connect_options_free(unset);
    netlib_limit_free(lasting);
    close(filler);
    close(silent);
}

int main(void) {
    host_names_with_invalid_labels_are_refused_without_a_lookup();
    numeric_hosts_are_not_resolved();
    the_source_address_is_bound_or_the_attempt_fails();
    addresses_of_another_family_than_the_source_address_are_skipped();
    connected_sockets_are_blocking_close_on_exec_and_without_timeouts();
    connect_errors_have_one_cause_per_address();
    each_address_gets_the_whole_connect_timeout();
    a_cancel_between_two_connection_attempts_prevents_the_second();
    the_default_timeout_is_read_when_connecting_starts();
    return report("connect_rows");
}
