/* What create_connection promises, row by row, by either way of connecting: hosts, source addresses, timeouts, the socket
 * that it gives, failures, and what is left when there is no descriptor, after thousands of calls and many threads. */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

static struct sockaddr_storage ipv4(uint32_t address, int32_t port) {
    struct sockaddr_storage storage;
    struct sockaddr_in *in = (struct sockaddr_in *)&storage;
    memset(&storage, 0, sizeof storage);
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)port);
    in->sin_addr.s_addr = htonl(address);
    return storage;
}

static struct sockaddr_storage ipv6_loopback(int32_t port) {
    struct sockaddr_storage storage;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;
    memset(&storage, 0, sizeof storage);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons((uint16_t)port);
    in6->sin6_addr = in6addr_loopback;
    return storage;
}

/* What a name stands for, and how often it was asked. */
struct answer {
    const struct sockaddr_storage *addresses;
    size_t count;
    int asked;
};

static int32_t resolve(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *addresses) {
    struct answer *answer = ctx;
    (void)host, (void)port, (void)seconds_left;
    answer->asked++;
    for (size_t i = 0; i < answer->count; i++) {
        const struct sockaddr_storage *one = &answer->addresses[i];
        size_t len = one->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        netlib_status status = netlib_addresses_add(addresses, one, len, NULL);
        if (status != NETLIB_OK) return status;
    }
    return NETLIB_OK;
}

/* A stagger longer than all that happens: a race has its attempts one after the other too. */
static netlib_connect_options *options_for(struct answer *answer, double timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, resolve, answer);
    netlib_connect_options_set_timeout(options, timeout);
    netlib_connect_options_set_stagger(options, 2.0);
    return options;
}

static struct sockaddr_in own_address(int fd) {
    struct sockaddr_in own;
    socklen_t len = sizeof own;
    memset(&own, 0, sizeof own);
    CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
    return own;
}

static int32_t port_of_peer(int fd) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    memset(&address, 0, sizeof address);
    CHECK(getpeername(fd, (struct sockaddr *)&address, &len) == 0);
    return ntohs(address.sin_port);
}

static bool has_ipv6(void) { return netlib_allowed_gai_family() == AF_UNSPEC; }

/* ---- hosts ---- */

#define A15 "aaaaaaaaaaaaaaa"
#define A63 A15 A15 A15 A15 "aaa"
#define U6 "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"

/* A name is asked for if its labels can be ones; urllib3 1.26.20 and 2.8.0 refuse the same. */
static void labels(void) {
    static const struct {
        const char *host;
        int64_t offset; /* -1: no byte of the host is meant; -2: it is a name. */
    } rows[] = {
        {A63, -2},
        {A63 ".", -2},
        {A63 "." A63, -2},
        {"a.b.", -2},
        {"b\xc3\xbc" "cher.test", -2},
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
            CHECK_INT(is_name, answer.asked);
            CHECK_INT(is_name, fd >= 0);
            close_both(fd, server);
            netlib_connect_options_free(options);
        }
    }
    close(server);
}

/* An address is never looked up, in brackets or without. */
static void addresses_and_brackets(void) {
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
            CHECK_STATUS(rows[i].expected, connect_by(way, rows[i].host, ports[rows[i].ipv6], options, NULL, &fd, &err));
            CHECK_INT(0, answer.asked);
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

static void source_addresses(void) {
    static const struct {
        const char *host;
        int port; /* Whose choice: the system's, a free one, one that somebody has. */
        uint32_t address;
        int32_t errnum;
        const char *reason; /* NULL: it connects. */
    } rows[] = {
        {"", SYSTEMS, INADDR_LOOPBACK, 0, NULL},
        {"", FREE, INADDR_LOOPBACK, 0, NULL},
        {"127.0.0.2", SYSTEMS, INADDR_LOOPBACK + 1, 0, NULL},
        {"127.0.0.2", FREE, INADDR_LOOPBACK + 1, 0, NULL},
        {"[127.0.0.2]", FREE, INADDR_LOOPBACK + 1, 0, NULL},
        {"127.2", SYSTEMS, INADDR_LOOPBACK + 1, 0, NULL},
        {"localhost", FREE, INADDR_LOOPBACK, 0, NULL},
        {"0.0.0.0", SYSTEMS, INADDR_LOOPBACK, 0, NULL},
        {"::1", SYSTEMS, 0, 0, "the source address has no IPv4 form"},
        {"::", FREE, 0, 0, "the source address has no IPv4 form"},
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
            /* Somebody else may take the free one in between. */
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
                struct sockaddr_in own = own_address(fd);
                CHECK_INT(rows[i].address, ntohl(own.sin_addr.s_addr));
                if (rows[i].port == SYSTEMS) CHECK(own.sin_port != 0);
                else CHECK_INT(own_port, ntohs(own.sin_port));
                /* With a reset, so that a port is free again at once. */
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
            CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
        }
    }
    CHECK_INT(before, open_descriptors());
    close(server);
}

/* An address of the other family is passed over, as the reference has it. */
static void a_source_address_of_one_family(void) {
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
        CHECK_INT(INADDR_LOOPBACK + 1, ntohl(own_address(fd).sin_addr.s_addr));
        close(fd);
        netlib_connect_options_free(options);
    }
    close(server);
}

/* ---- the socket ---- */

/* However it was waited for, and also after an address that gave none. */
static void the_socket_is_plain(void) {
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

/* "ADDRESS port PORT: REASON (after S s)"; S is returned. */
static double check_cause(const netlib_error *err, size_t index, const char *address, int32_t port, netlib_status status,
                          int32_t errnum, const char *reason) {
    const netlib_error *cause = netlib_error_cause(err, index);
    const char *message = netlib_error_message(cause, NULL);
    char expected[128], rest[8] = "";
    double seconds = -1.0;
    int end = snprintf(expected, sizeof expected, "%s port %d: %s (after ", address, (int)port, reason);
    CHECK(message != NULL && strncmp(expected, message, (size_t)end) == 0);
    if (message != NULL && strlen(message) > (size_t)end) CHECK(sscanf(message + end, "%lf %7s", &seconds, rest) == 2);
    CHECK_STR("s)", rest);
    CHECK_INT(status, netlib_error_status(cause));
    CHECK_INT(errnum, netlib_error_errno(cause));
    CHECK_INT(0, (long long)netlib_error_cause_count(cause));
    return seconds;
}

/* One cause for each address, in the order in which they were tried, with how long it took. */
static void each_address_is_a_cause(void) {
    const char *refused = strerror(ECONNREFUSED);
    int32_t first_port = 0, silent_port = 0, last_port = 0;
    int filler = -1;
    int first = bound_socket(&first_port), silent = silent_listener(&silent_port, &filler), last = bound_socket(&last_port);
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
        double spent = check_cause(err, 0, "127.0.0.1", first_port, NETLIB_NEW_CONNECTION, ECONNREFUSED, refused);
        double waited = check_cause(err, 1, "127.0.0.1", silent_port, NETLIB_CONNECT_TIMEOUT, 0, "the connect timeout passed");
        CHECK(waited >= 0.06);
        spent += waited + check_cause(err, 2, "127.0.0.2", last_port, NETLIB_NEW_CONNECTION, ECONNREFUSED, refused);
        CHECK(spent <= took + 0.002); /* Each is rounded to a millisecond. */
        CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
        CHECK_INT(-1, fd);
        CHECK_INT(1, answer.asked);
        netlib_connect_options_free(options);
    }
    netlib_limit_free(lasting);
    close(first);
    close(filler);
    close(silent);
    close(last);
}

/* Two silent addresses have a whole timeout each, and the third its own. */
static void each_address_has_the_timeout(void) {
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
    int asked;
};

static int32_t cancel_and_refuse(void *ctx, const void *address, size_t len, int32_t classes) {
    struct canceller *canceller = ctx;
    (void)address, (void)len, (void)classes;
    canceller->asked++;
    netlib_limit_cancel(canceller->limit);
    return 1;
}

/* Between two addresses that wait for nothing the limit is asked as well, before anything is done for the second. */
static void a_limit_ends_between_two_addresses(void) {
    int32_t port = 0;
    int server = listener(&port);
    const struct sockaddr_storage addresses[] = {ipv4(INADDR_LOOPBACK, port), ipv4(INADDR_LOOPBACK, port)};
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        int fd = -1;
        struct answer answer = {addresses, 2, 0};
        struct canceller canceller = {limit_of(LONG), 0};
        netlib_connect_options *options = options_for(&answer, LONG);
        netlib_connect_options_set_address_callback(options, cancel_and_refuse, &canceller);
        netlib_status status = connect_by(way, "name.test", 80, options, canceller.limit, &fd, &err);
        CHECK_INT(-1, fd);
        CHECK_INT(1, canceller.asked);
        CHECK_STR("cannot connect to name.test port 80: the limit was cancelled", netlib_error_message(err, NULL));
        CHECK_INT(1, (long long)netlib_error_cause_count(err));
        CHECK_INT(NETLIB_ADDRESS_REFUSED, netlib_error_status(netlib_error_cause(err, 0)));
        CHECK_STATUS(NETLIB_CANCELLED, status);
        netlib_connect_options_free(options);
        netlib_limit_free(canceller.limit);
    }
    close(server);
}

/* Of the process, asked for when the connect happens. */
static void the_default_timeout(void) {
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

/* ---- no descriptor is free ---- */

/* Room for so many descriptors more; what it was before is returned. */
static struct rlimit leave(int free_ones) {
    struct rlimit files, few;
    int highest[8];
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    for (int i = 0; i <= free_ones; i++) highest[i] = dup(0);
    for (int i = 0; i <= free_ones; i++) close(highest[i]);
    few = files;
    few.rlim_cur = (rlim_t)highest[free_ones];
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    return files;
}

static void no_descriptor_is_free(void) {
    int32_t port = 0, silent_port = 0, dead_port = 0;
    int filler = -1;
    int server = listener(&port), silent = silent_listener(&silent_port, &filler), dead = bound_socket(&dead_port);
    const struct sockaddr_storage good[] = {ipv4(INADDR_LOOPBACK, port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage dead_first[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage silent_first[] = {ipv4(INADDR_LOOPBACK, silent_port), ipv4(INADDR_LOOPBACK, port)};
    const char *no_more = "cannot open a socket: ";
    char reason[96];
    snprintf(reason, sizeof reason, "%s%s", no_more, strerror(EMFILE));
    /* It opens its own at its first wait. */
    netlib_limit *limit = limit_of(LONG);
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_TIMEOUT, netlib_wait_for_read(filler, 0.001, limit, &err));
    const netlib_limit *const limits[] = {NULL, limit};

    for (int row = 0; row < WAYS * 2; row++) {
        int way = row / 2, fd = 17;
        struct answer answer = {good, 2, 0};
        netlib_connect_options *options = options_for(&answer, 0.06);
        struct rlimit files = leave(0);
        int before = open_descriptors();
        /* Every address fails so, as any other failure does. */
        netlib_status status = connect_by(way, "name.test", 80, options, limits[row % 2], &fd, &err);
        CHECK_INT(EMFILE, netlib_error_errno(err));
        CHECK_INT(2, (long long)netlib_error_cause_count(err));
        for (size_t i = 0; i < 2; i++) check_cause(err, i, "127.0.0.1", port, NETLIB_NEW_CONNECTION, EMFILE, reason);
        CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));
        CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
        CHECK_INT(-1, fd);
        CHECK_INT(before, open_descriptors());
        /* A lookup that needs some itself: without a limit, the system's. */
        status = connect_by(way, "localhost", port, NULL, limits[row % 2], &fd, &err);
        bool by_resolver = way == 0 && row % 2 == 0;
        CHECK_INT(EMFILE, netlib_error_errno(err));
        CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));
        CHECK_STATUS(by_resolver ? NETLIB_NAME_RESOLUTION : NETLIB_NEW_CONNECTION, status);
        CHECK_INT(-1, fd);
        CHECK_INT(before, open_descriptors());
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);

        /* One is enough: that of an address that failed is there for the next. A race keeps it for a step. */
        files = leave(1 + way);
        answer.addresses = dead_first;
        CHECK_OK(connect_by(way, "name.test", 80, options, limits[row % 2], &fd, &err));
        CHECK_INT(port, port_of_peer(fd));
        close_both(fd, server);
        CHECK_INT(before, open_descriptors());
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
        netlib_connect_options_free(options);
    }

    /* In the middle of a race: who has begun goes on. */
    netlib_connect_options *options = netlib_connect_options_new();
    struct answer answer = {silent_first, 2, 0};
    netlib_connect_options_set_resolve_callback(options, resolve, &answer);
    netlib_connect_options_set_timeout(options, 0.5);
    netlib_connect_options_set_stagger(options, 0.01);
    struct rlimit files = leave(1);
    int before = open_descriptors(), fd = 17;
    netlib_status status = connect_by(1, "name.test", 80, options, NULL, &fd, &err);
    CHECK_INT(2, (long long)netlib_error_cause_count(err));
    check_cause(err, 0, "127.0.0.1", silent_port, NETLIB_CONNECT_TIMEOUT, 0, "the connect timeout passed");
    check_cause(err, 1, "127.0.0.1", port, NETLIB_NEW_CONNECTION, EMFILE, reason);
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
    CHECK_INT(-1, fd);
    CHECK_INT(before, open_descriptors());
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    netlib_connect_options_free(options);
    netlib_limit_free(limit);
    close(server);
    close(filler);
    close(silent);
    close(dead);
}

/* ---- many ---- */

static void *accept_all(void *server) {
    for (;;) {
        int fd = accept(*(const int *)server, NULL, NULL);
        if (fd >= 0) close(fd);
        else if (errno != EINTR) return NULL;
    }
}

/* The lowest number that is free, which a descriptor that was lost would have. */
static int next_descriptor(void) {
    int next = dup(0);
    close(next);
    return next;
}

enum { MANY = 2000 };

/* Sequential and racing, after failures, with losers in the race, and failing. The limit has no deadline: all of it
 * takes as long as the machine wants. */
static void thousands_in_a_row(void) {
    int32_t port = 0, silent_port = 0, dead_port = 0;
    int filler = -1;
    int server = listener(&port), silent = silent_listener(&silent_port, &filler), dead = bound_socket(&dead_port);
    const struct sockaddr_storage dead_first[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage silent_first[] = {ipv4(INADDR_LOOPBACK, silent_port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage all_silent[] = {silent_first[0], silent_first[0]};
    const struct sockaddr_storage all_dead[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK + 1, dead_port)};
    const struct {
        int way;
        const struct sockaddr_storage *addresses;
        double timeout;
        netlib_status expected;
        int times;
    } rows[] = {
        {0, dead_first, NETLIB_TIMEOUT_NONE, NETLIB_OK, MANY},
        {1, dead_first, NETLIB_TIMEOUT_NONE, NETLIB_OK, MANY},
        {0, all_dead, LONG, NETLIB_NEW_CONNECTION, MANY},
        {1, all_dead, LONG, NETLIB_NEW_CONNECTION, MANY},
        /* Each takes a timeout, or a stagger. */
        {0, silent_first, 0.01, NETLIB_OK, 50},
        {1, silent_first, NETLIB_TIMEOUT_NONE, NETLIB_OK, 100},
        {0, all_silent, 0.005, NETLIB_CONNECT_TIMEOUT, 50},
        {1, all_silent, 0.015, NETLIB_CONNECT_TIMEOUT, 50},
    };
    netlib_limit *lasting = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_TIMEOUT, netlib_wait_for_read(filler, 0.001, lasting, &err));
    int before = open_descriptors(), next = next_descriptor();
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct answer answer = {rows[row].addresses, 2, 0};
        netlib_connect_options *options = options_for(&answer, rows[row].timeout);
        netlib_connect_options_set_stagger(options, 0.01);
        int right = 0;
        for (int i = 0; i < rows[row].times; i++) {
            int fd = -1;
            netlib_status status = connect_by(rows[row].way, "name.test", 80, options, i % 2 ? lasting : NULL, &fd, &err);
            right += status == rows[row].expected && (fd >= 0) == (status == NETLIB_OK);
            netlib_error_free(err);
            close_both(fd, server);
        }
        CHECK_INT(rows[row].times, right);
        CHECK_INT(before, open_descriptors());
        CHECK_INT(next, next_descriptor());
        netlib_connect_options_free(options);
    }
    netlib_limit_free(lasting);
    close(filler);
    close(silent);
    close(dead);
    close(server);
}

enum { THREADS = 8, ROUNDS = 100 };

struct caller {
    const struct sockaddr_storage *addresses;
    const netlib_limit *limit;
    int32_t port;
    int right;
};

static void *connect_often(void *arg) {
    struct caller *caller = arg;
    struct answer answer = {caller->addresses, 2, 0};
    netlib_connect_options *options = options_for(&answer, LONG);
    for (int i = 0; i < ROUNDS; i++) {
        netlib_error *err = NULL;
        int fd = -1;
        netlib_status status = connect_by(i % WAYS, "name.test", 80, options, i % 3 ? caller->limit : NULL, &fd, &err);
        struct sockaddr_in peer;
        socklen_t len = sizeof peer;
        memset(&peer, 0, sizeof peer);
        caller->right += status == NETLIB_OK && err == NULL && getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
                         ntohs(peer.sin_port) == caller->port;
        netlib_error_free(err);
        if (fd >= 0) close(fd);
    }
    netlib_connect_options_free(options);
    return NULL;
}

/* With one limit, each to a server of its own. */
static void many_threads_at_once(void) {
    int before = open_descriptors();
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    int32_t dead_port = 0;
    int dead = bound_socket(&dead_port);
    int servers[THREADS];
    struct sockaddr_storage addresses[THREADS][2];
    struct caller callers[THREADS];
    pthread_t acceptors[THREADS], threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){addresses[i], limit, 0, 0};
        servers[i] = listener(&callers[i].port);
        addresses[i][0] = ipv4(INADDR_LOOPBACK, dead_port);
        addresses[i][1] = ipv4(INADDR_LOOPBACK, callers[i].port);
        CHECK(pthread_create(&acceptors[i], NULL, accept_all, &servers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, connect_often, &callers[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_INT(ROUNDS, callers[i].right);
        shutdown(servers[i], SHUT_RDWR);
        CHECK(pthread_join(acceptors[i], NULL) == 0);
        close(servers[i]);
    }
    netlib_limit_free(limit);
    close(dead);
    CHECK_INT(before, open_descriptors());
}

int main(void) {
    labels();
    addresses_and_brackets();
    source_addresses();
    a_source_address_of_one_family();
    the_socket_is_plain();
    each_address_is_a_cause();
    each_address_has_the_timeout();
    a_limit_ends_between_two_addresses();
    the_default_timeout();
    no_descriptor_is_free();
    thousands_in_a_row();
    many_threads_at_once();
    return report("connect_rows");
}
