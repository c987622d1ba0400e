/* Racing connects: by steps and in one call, their descriptors, timers and reports, lists of addresses and resolvers. */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const uint32_t LOOPBACK = INADDR_LOOPBACK;

static struct sockaddr_in ipv4(uint32_t address, int32_t port) {
    struct sockaddr_in in;
    memset(&in, 0, sizeof in);
    in.sin_family = AF_INET;
    in.sin_port = htons((uint16_t)port);
    in.sin_addr.s_addr = htonl(address);
    return in;
}

static void add_ipv4(netlib_addresses *list, uint32_t address, int32_t port) {
    netlib_error *err = NULL;
    struct sockaddr_in in = ipv4(address, port);
    CHECK_OK(netlib_addresses_add(list, &in, sizeof in, &err));
}

static void add_ipv6_loopback(netlib_addresses *list, int32_t port) {
    netlib_error *err = NULL;
    struct sockaddr_in6 in6;
    memset(&in6, 0, sizeof in6);
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons((uint16_t)port);
    in6.sin6_addr = in6addr_loopback;
    CHECK_OK(netlib_addresses_add(list, &in6, sizeof in6, &err));
}

/* To ports of 127.0.0.1, in this order. */
static netlib_connect *connect_to_ports(const int32_t *ports, size_t count, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    netlib_addresses *list = netlib_addresses_new();
    for (size_t i = 0; i < count; i++) add_ipv4(list, LOOPBACK, ports[i]);
    CHECK_INT((long long)count, (long long)netlib_addresses_count(list));
    CHECK_OK(netlib_connect_new_addresses("name.test", 80, list, options, &connect, &err));
    netlib_addresses_free(list);
    return connect;
}

static netlib_connect *connect_to(const char *host, int32_t port, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new(host, port, options, &connect, &err));
    return connect;
}

/* Waits as an event loop does. */
static void wait_once(const netlib_connect *connect) {
    struct pollfd fds[16];
    size_t count = netlib_connect_wait_count(connect);
    CHECK(count <= 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        fds[i].fd = netlib_connect_wait_fd(connect, i);
        fds[i].events = (short)netlib_connect_wait_events(connect, i);
        CHECK(fds[i].fd >= 0 && (fds[i].events == POLLIN || fds[i].events == POLLOUT));
        CHECK(fcntl(fds[i].fd, F_GETFD) & FD_CLOEXEC);
    }
    double seconds = netlib_connect_timer(connect);
    CHECK(seconds >= 0.0);
    CHECK(poll(fds, (nfds_t)count, seconds < LONG ? (int)(seconds * 1000) + 1 : (int)(LONG * 1000)) >= 0);
}

static netlib_status step_to_the_end(netlib_connect *connect, int *fd, netlib_error **err) {
    double began = netlib_current_time();
    netlib_status status;
    while ((status = netlib_connect_step(connect, fd, err)) == NETLIB_WANT_WRITE && IN_TIME(began)) {
        CHECK_INT(-1, *fd);
        wait_once(connect);
    }
    return status;
}

static int32_t port_of_peer(int fd) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    memset(&address, 0, sizeof address);
    CHECK(getpeername(fd, (struct sockaddr *)&address, &len) == 0);
    return ntohs(address.sin_port);
}

static void check_connection(int fd, int32_t port) {
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
    CHECK_INT(port, port_of_peer(fd));
}

/* An attempt of the report: when it began and ended is asserted by order only. */
static void check_attempt(const netlib_connect *connect, size_t index, int32_t port, netlib_status status, int32_t errnum) {
    size_t len = 0;
    CHECK_STR("127.0.0.1", netlib_connect_attempt_address(connect, index, &len));
    CHECK_INT(9, (long long)len);
    CHECK_INT(port, netlib_connect_attempt_port(connect, index));
    CHECK_INT(status, netlib_connect_attempt_status(connect, index));
    CHECK_INT(errnum, netlib_connect_attempt_errno(connect, index));
    double start = netlib_connect_attempt_start(connect, index);
    double end = netlib_connect_attempt_end(connect, index);
    CHECK(start >= (index > 0 ? netlib_connect_attempt_start(connect, index - 1) : 0.0));
    if (status == NETLIB_WANT_WRITE) CHECK_DOUBLE(-1.0, end);
    else CHECK(end >= start);
}

static netlib_connect_options *options_with(double stagger, double timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_stagger(options, stagger);
    netlib_connect_options_set_timeout(options, timeout);
    return options;
}

/* ---- who wins ---- */

static void a_silent_address_beside_a_good_one(void) {
    int32_t silent_port = 0, port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&silent_port, &filler);
    int server = listener(&port);
    const int32_t ports[] = {silent_port, port};
    netlib_connect_options *options = options_with(0.02, NETLIB_TIMEOUT_NONE);
    int before = open_descriptors();
    for (int run = 0; run < 2; run++) {
        netlib_error *err = NULL;
        netlib_connect *connect = connect_to_ports(ports, 2, options);
        CHECK_OK(run ? netlib_connect_run(connect, NULL, &fd, &err) : step_to_the_end(connect, &fd, &err));
        check_connection(fd, port);
        CHECK_INT(before + 1, open_descriptors());
        CHECK_INT(2, (long long)netlib_connect_attempt_count(connect));
        CHECK_INT(1, netlib_connect_winner(connect));
        check_attempt(connect, 0, silent_port, NETLIB_CLOSED, 0);
        check_attempt(connect, 1, port, NETLIB_OK, 0);
        /* The second had its turn when the stagger had passed. */
        CHECK(netlib_connect_attempt_start(connect, 1) - netlib_connect_attempt_start(connect, 0) >= 0.02);
        CHECK(netlib_connect_attempt_end(connect, 0) >= netlib_connect_attempt_start(connect, 1));
        close(fd);
        /* Given once. */
        CHECK_STATUS(NETLIB_CLOSED, netlib_connect_step(connect, &fd, &err));
        CHECK_INT(-1, fd);
        CHECK_STATUS(NETLIB_CLOSED, netlib_connect_run(connect, NULL, &fd, &err));
        CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
        CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_timer(connect));
        netlib_connect_free(connect);
        CHECK_INT(before, open_descriptors());
    }
    netlib_connect_options_free(options);
    close(server);
    close(filler);
    close(silent);
}

static void two_dead_addresses_before_a_good_one(void) {
    netlib_error *err = NULL;
    int32_t first_port = 0, second_port = 0, port = 0;
    int first = bound_socket(&first_port), second = bound_socket(&second_port), server = listener(&port);
    int fd = -1;
    const int32_t ports[] = {first_port, second_port, port};
    netlib_connect_options *options = options_with(2.0, NETLIB_TIMEOUT_DEFAULT);
    netlib_connect *connect = connect_to_ports(ports, 3, options);
    double began = netlib_current_time();
    CHECK_OK(step_to_the_end(connect, &fd, &err));
    /* No stagger passed: a failure is followed at once. */
    CHECK(netlib_current_time() - began < 2.0);
    check_connection(fd, port);
    check_attempt(connect, 0, first_port, NETLIB_NEW_CONNECTION, ECONNREFUSED);
    check_attempt(connect, 1, second_port, NETLIB_NEW_CONNECTION, ECONNREFUSED);
    check_attempt(connect, 2, port, NETLIB_OK, 0);
    CHECK_INT(2, netlib_connect_winner(connect));
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(fd);
    close(first);
    close(second);
    close(server);
}

static void *accept_all(void *server) {
    for (;;) {
        int fd = accept(*(const int *)server, NULL, NULL);
        if (fd >= 0) close(fd);
        else if (errno != EINTR) return NULL;
    }
}

/* Its first packets are dropped, so that it takes a second, with staggers of others in between. It must win. */
static void a_lone_slow_good_address(void) {
    netlib_error *err = NULL;
    int32_t silent_port = 0, port = 0, dead_port = 0;
    int silent_filler = -1, filler = -1, fd = -1;
    int silent = silent_listener(&silent_port, &silent_filler);
    int server = silent_listener(&port, &filler);
    int dead = bound_socket(&dead_port);
    close(filler);
    const int32_t ports[] = {port, silent_port, dead_port};
    netlib_connect_options *options = options_with(0.05, NETLIB_TIMEOUT_NONE);
    netlib_connect *connect = connect_to_ports(ports, 3, options);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    pthread_t acceptor;
    CHECK(pthread_create(&acceptor, NULL, accept_all, &server) == 0);
    CHECK_OK(step_to_the_end(connect, &fd, &err));
    check_connection(fd, port);
    CHECK_INT(0, netlib_connect_winner(connect));
    check_attempt(connect, 0, port, NETLIB_OK, 0);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(fd);
    shutdown(server, SHUT_RDWR);
    CHECK(pthread_join(acceptor, NULL) == 0);
    close(server);
    close(dead);
    close(silent_filler);
    close(silent);
}

static void families_alternate(void) {
    netlib_error *err = NULL;
    int fd = -1;
    int32_t port = 0;
    int bound = bound_socket(&port);
    netlib_connect *connect = NULL;
    netlib_addresses *list = netlib_addresses_new();
    for (int i = 0; i < 2; i++) add_ipv6_loopback(list, port);
    for (int i = 0; i < 2; i++) add_ipv4(list, LOOPBACK, port);
    CHECK_OK(netlib_connect_new_addresses("name.test", 80, list, NULL, &connect, &err));
    netlib_addresses_free(list);
    CHECK_STATUS(NETLIB_NEW_CONNECTION, step_to_the_end(connect, &fd, &err));
    static const char *const order[] = {"::1", "127.0.0.1", "::1", "127.0.0.1"};
    CHECK_INT(4, (long long)netlib_connect_attempt_count(connect));
    for (size_t i = 0; i < 4; i++) CHECK_STR(order[i], netlib_connect_attempt_address(connect, i, NULL));
    netlib_connect_free(connect);
    close(bound);
}

/* ---- failures ---- */

static void refusal_by_all(void) {
    netlib_error *err = NULL;
    int32_t ports[2] = {0, 0};
    int bound[2] = {bound_socket(&ports[0]), bound_socket(&ports[1])};
    int fd = 17;
    netlib_connect *connect = connect_to_ports(ports, 2, NULL);
    netlib_status status = step_to_the_end(connect, &fd, &err);
    CHECK_INT(-1, fd);
    CHECK_STR("cannot connect to name.test port 80, 2 addresses tried, the last: Connection refused",
              netlib_error_message(err, NULL));
    CHECK_INT(ECONNREFUSED, netlib_error_errno(err));
    CHECK_INT(2, (long long)netlib_error_cause_count(err));
    for (size_t i = 0; i < 2; i++) {
        char expected[64];
        const netlib_error *cause = netlib_error_cause(err, i);
        snprintf(expected, sizeof expected, "127.0.0.1 port %d: Connection refused (after ", (int)ports[i]);
        CHECK(strncmp(expected, netlib_error_message(cause, NULL), strlen(expected)) == 0);
        CHECK_INT(ECONNREFUSED, netlib_error_errno(cause));
        check_attempt(connect, i, ports[i], NETLIB_NEW_CONNECTION, ECONNREFUSED);
        close(bound[i]);
    }
    CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
    CHECK_INT(-1, netlib_connect_winner(connect));
    /* It is final. */
    CHECK_STATUS(NETLIB_NEW_CONNECTION, netlib_connect_step(connect, &fd, &err));
    CHECK_STATUS(NETLIB_NEW_CONNECTION, netlib_connect_run(connect, NULL, &fd, &err));
    CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
    netlib_connect_free(connect);
}

static void timeouts_are_each_attempt_s(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&port, &filler);
    const int32_t ports[] = {port, port};
    netlib_connect_options *options = options_with(0.02, 0.05);
    netlib_connect *connect = connect_to_ports(ports, 2, options);
    CHECK_DOUBLE(0.0, netlib_connect_timer(connect));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    /* The stagger comes first. */
    CHECK(netlib_connect_timer(connect) <= 0.02);
    check_attempt(connect, 0, port, NETLIB_WANT_WRITE, 0);
    CHECK_INT(1, (long long)netlib_connect_wait_count(connect));
    CHECK_INT(POLLOUT, netlib_connect_wait_events(connect, 0));
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, step_to_the_end(connect, &fd, &err));
    for (size_t i = 0; i < 2; i++) {
        check_attempt(connect, i, port, NETLIB_CONNECT_TIMEOUT, 0);
        CHECK(netlib_connect_attempt_end(connect, i) - netlib_connect_attempt_start(connect, i) >= 0.05);
    }
    CHECK(netlib_connect_attempt_end(connect, 1) > netlib_connect_attempt_end(connect, 0));
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(filler);
    close(silent);
}

static void what_is_refused(void) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    static const struct {
        const char *host;
        int32_t port;
        netlib_status expected;
    } hosts[] = {
        {"a..b", 80, NETLIB_INVALID_URL},
        {"user@host", 80, NETLIB_INVALID_URL},
        {"", 80, NETLIB_INVALID_URL},
        {"ab\xff", 80, NETLIB_INVALID_UTF8},
        {"127.0.0.1", 65536, NETLIB_INVALID_ARGUMENT},
        {"127.0.0.1", -1, NETLIB_INVALID_ARGUMENT},
        {NULL, 80, NETLIB_NULL_ARGUMENT},
    };
    netlib_addresses *list = netlib_addresses_new();
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_connect_new_addresses("name.test", 80, list, NULL, &connect, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_connect_new_addresses("name.test", 80, NULL, NULL, &connect, &err));
    add_ipv4(list, LOOPBACK, 0);
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        CHECK_STATUS(hosts[i].expected, netlib_connect_new(hosts[i].host, hosts[i].port, NULL, &connect, &err));
        CHECK(connect == NULL);
        CHECK_STATUS(hosts[i].expected,
                     netlib_connect_new_addresses(hosts[i].host, hosts[i].port, list, NULL, &connect, &err));
        CHECK(connect == NULL);
    }

    struct sockaddr_in in = ipv4(LOOPBACK, 80);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_addresses_add(list, &in, sizeof in - 1, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_addresses_add(list, NULL, 0, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_addresses_add(list, &in, SIZE_MAX, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_addresses_add(list, NULL, sizeof in, &err));
    in.sin_family = AF_UNSPEC;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_addresses_add(list, &in, sizeof in, &err));
    CHECK_INT(1, (long long)netlib_addresses_count(list));
    for (int i = 1; i < 1024; i++) add_ipv4(list, LOOPBACK, 0);
    in = ipv4(LOOPBACK, 80);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_addresses_add(list, &in, sizeof in, &err));
    netlib_addresses_free(list);

    static const double staggers[] = {0.0, 0.0099, 2.001, -1.0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof staggers / sizeof staggers[0]; i++) {
        netlib_connect_options *options = options_with(staggers[i], 1.0);
        netlib_status status = netlib_connect_new("127.0.0.1", 80, options, &connect, &err);
        const char *message = netlib_error_message(err, NULL);
        CHECK(message != NULL && strncmp(message, "netlib_connect_options_set_stagger: ", 36) == 0);
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        netlib_connect_options_free(options);
    }
    netlib_connect_options *sourced = netlib_connect_options_new();
    netlib_connect_options_set_source_address(sourced, "a..b", 0);
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_connect_new("127.0.0.1", 80, sourced, &connect, &err));
    netlib_connect_options_free(sourced);
    static const double bounds[] = {0.01, 2.0};
    for (size_t i = 0; i < 2; i++) {
        netlib_connect_options *options = options_with(bounds[i], 1.0);
        CHECK_OK(netlib_connect_new("127.0.0.1", 80, options, &connect, &err));
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }
}

/* Beyond the report, and of nothing. */
static void getters_of_nothing(void) {
    netlib_connect *connect = connect_to("127.0.0.1", 80, NULL);
    size_t len = 7;
    CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
    CHECK_INT(-1, netlib_connect_wait_fd(connect, 0));
    CHECK_INT(0, netlib_connect_wait_events(connect, SIZE_MAX));
    CHECK_INT(0, (long long)netlib_connect_attempt_count(connect));
    CHECK_INT(-1, netlib_connect_winner(connect));
    CHECK(netlib_connect_attempt_address(connect, 0, &len) == NULL && len == 0);
    CHECK_INT(-1, netlib_connect_attempt_port(connect, 0));
    CHECK_DOUBLE(-1.0, netlib_connect_attempt_start(connect, 0));
    CHECK_DOUBLE(-1.0, netlib_connect_attempt_end(connect, SIZE_MAX));
    CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_connect_attempt_status(connect, 0));
    CHECK_INT(0, netlib_connect_attempt_errno(connect, 0));
    netlib_connect_free(connect);
    netlib_connect_free(NULL);
    netlib_addresses_free(NULL);
    CHECK_INT(0, (long long)netlib_addresses_count(NULL));
}

struct seen {
    int count;
    struct sockaddr_in addresses[4];
};

static int32_t see(void *ctx, const void *address, size_t len, int32_t classes) {
    struct seen *seen = ctx;
    CHECK(len == sizeof(struct sockaddr_in) && (classes & NETLIB_ADDRESS_LOOPBACK) && seen->count < 4);
    memcpy(&seen->addresses[seen->count++], address, len);
    return seen->count == 1;
}

/* Each address is judged when its turn comes, and a refusal is followed at once. */
static void refused_addresses(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    struct seen seen = {0};
    netlib_connect_options *options = options_with(2.0, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_PRIVATE);
    netlib_connect_options_set_address_callback(options, see, &seen);
    netlib_connect *connect = NULL;
    netlib_addresses *list = netlib_addresses_new();
    add_ipv4(list, UINT32_C(0x0a000001), 0);
    add_ipv4(list, LOOPBACK, 1);
    add_ipv4(list, LOOPBACK, 0);
    CHECK_OK(netlib_connect_new_addresses("name.test", port, list, options, &connect, &err));
    double began = netlib_current_time();
    CHECK_OK(step_to_the_end(connect, &fd, &err));
    CHECK(netlib_current_time() - began < 2.0);
    check_connection(fd, port);
    CHECK_STR("10.0.0.1", netlib_connect_attempt_address(connect, 0, NULL));
    CHECK_INT(port, netlib_connect_attempt_port(connect, 0));
    CHECK_INT(NETLIB_ADDRESS_REFUSED, netlib_connect_attempt_status(connect, 0));
    check_attempt(connect, 1, 1, NETLIB_ADDRESS_REFUSED, 0);
    check_attempt(connect, 2, port, NETLIB_OK, 0);
    CHECK_INT(2, seen.count);
    CHECK_INT(1, ntohs(seen.addresses[0].sin_port));
    CHECK_INT(port, ntohs(seen.addresses[1].sin_port));
    close(fd);
    netlib_connect_free(connect);

    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_LOOPBACK);
    CHECK_OK(netlib_connect_new_addresses("name.test", port, list, options, &connect, &err));
    netlib_status status = netlib_connect_run(connect, NULL, &fd, &err);
    CHECK_INT(3, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_ADDRESS_REFUSED, status);
    netlib_connect_free(connect);
    netlib_addresses_free(list);
    netlib_connect_options_free(options);
    close(server);
}

/* ---- limits ---- */

static void a_limit_ends_a_race(void) {
    netlib_error *err = NULL;
    int32_t silent_port = 0, dead_port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&silent_port, &filler);
    int dead = bound_socket(&dead_port);
    const int32_t ports[] = {silent_port, dead_port, silent_port};
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    int before = open_descriptors();
    for (int run = 0; run < 2; run++) {
        netlib_limit *limit = limit_of(0.2);
        netlib_connect *connect = connect_to_ports(ports, 3, options);
        double began = netlib_current_time();
        netlib_status status;
        if (run) {
            status = netlib_connect_run(connect, limit, &fd, &err);
        } else {
            CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
            status = step_to_the_end(connect, &fd, &err);
        }
        netlib_limit_free(limit);
        CHECK(IN_TIME(began));
        CHECK_STR("cannot connect to name.test port 80, 3 addresses tried, the last: the limit's deadline has passed",
                  netlib_error_message(err, NULL));
        CHECK_INT(3, (long long)netlib_error_cause_count(err));
        CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, status);
        check_attempt(connect, 0, silent_port, NETLIB_DEADLINE_EXCEEDED, 0);
        check_attempt(connect, 1, dead_port, NETLIB_NEW_CONNECTION, ECONNREFUSED);
        check_attempt(connect, 2, silent_port, NETLIB_DEADLINE_EXCEEDED, 0);
        netlib_connect_free(connect);
        CHECK_INT(before, open_descriptors());
    }

    /* A cancel wakes who waits for the descriptors: the limit's own is one of them. */
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect *connect = connect_to_ports(ports, 1, options);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(2, (long long)netlib_connect_wait_count(connect));
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_timer(connect));
    netlib_limit_cancel(limit);
    double began = netlib_current_time();
    wait_once(connect);
    CHECK(IN_TIME(began));
    CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_step(connect, &fd, &err));
    CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_step(connect, &fd, &err));
    netlib_connect_free(connect);

    /* Ended before it began. */
    connect = connect_to("localhost", silent_port, options);
    netlib_status status = netlib_connect_run(connect, limit, &fd, &err);
    char expected[96];
    snprintf(expected, sizeof expected, "cannot connect to localhost port %d: the limit was cancelled", (int)silent_port);
    CHECK_STR(expected, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_CANCELLED, status);
    netlib_connect_free(connect);

    /* A limit that is taken away ends nothing. */
    connect = connect_to_ports(ports, 1, options);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_OK(netlib_connect_set_limit(connect, NULL, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    CHECK_INT(before, open_descriptors());

    /* From a signal handler, in the middle of a wait, with a signal each millisecond before. */
    limit = limit_of(NETLIB_TIMEOUT_NONE);
    limit_of_handler = limit;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = cancel_in_handler;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval once = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &once, NULL);
    connect = connect_to_ports(ports, 1, options);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_run(connect, limit, &fd, &err));
    netlib_connect_free(connect);
    netlib_limit_free(limit);

    start_ticking();
    limit = limit_of(0.1);
    connect = connect_to_ports(ports, 3, options);
    began = netlib_current_time();
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_connect_run(connect, limit, &fd, &err));
    CHECK(netlib_current_time() - began >= 0.09 && IN_TIME(began));
    stop_ticking();
    netlib_connect_free(connect);
    netlib_limit_free(limit);

    netlib_connect_options_free(options);
    close(dead);
    close(filler);
    close(silent);
}

/* ---- names ---- */

static void names(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    static const char *const hosts[] = {"localhost", "127.0.0.1", "127.1", "[127.0.0.1]"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        netlib_connect *connect = connect_to(hosts[i], port, NULL);
        CHECK_OK(step_to_the_end(connect, &fd, &err));
        check_connection(fd, port);
        close(fd);
        netlib_connect_free(connect);
    }
    netlib_connect *connect = connect_to("nonexistent.invalid", port, NULL);
    netlib_status status = step_to_the_end(connect, &fd, &err);
    CHECK(netlib_error_resolver_code(err) != 0);
    CHECK_STATUS(NETLIB_NAME_RESOLUTION, status);
    CHECK_INT(0, (long long)netlib_connect_attempt_count(connect));
    netlib_connect_free(connect);

    /* Freed in the middle of its lookup. */
    connect = connect_to("nonexistent.invalid", port, NULL);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(1, (long long)netlib_connect_wait_count(connect));
    CHECK_INT(POLLIN, netlib_connect_wait_events(connect, 0));
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_timer(connect));
    double began = netlib_current_time();
    netlib_connect_free(connect);
    CHECK(netlib_current_time() - began < 1.0);

    /* The source address is looked up first. */
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_source_address(options, "localhost", 0);
    connect = connect_to("localhost", port, options);
    CHECK_OK(step_to_the_end(connect, &fd, &err));
    close(fd);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    options = netlib_connect_options_new();
    netlib_connect_options_set_source_address(options, "nonexistent.invalid", 0);
    connect = connect_to("127.0.0.1", port, options);
    status = step_to_the_end(connect, &fd, &err);
    CHECK(strncmp("source address: cannot resolve nonexistent.invalid: ", netlib_error_message(err, NULL), 52) == 0);
    CHECK_STATUS(NETLIB_NAME_RESOLUTION, status);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(server);
}

struct asked {
    int calls;
    char host[64];
    int32_t port;
    double seconds_left;
    int32_t answer;
    int count;
    int32_t answer_port;
};

static int32_t resolve_as_told(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *addresses) {
    struct asked *asked = ctx;
    asked->calls++;
    snprintf(asked->host, sizeof asked->host, "%s", host);
    asked->port = port;
    asked->seconds_left = seconds_left;
    for (int i = 0; i < asked->count; i++) add_ipv4(addresses, LOOPBACK, asked->answer_port);
    return asked->answer;
}

#define TOLD "cannot resolve xn--bcher-kva.test: the resolve callback returned "

static void a_resolver_of_the_program(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    netlib_limit *lasting = limit_of(LONG);
    const struct {
        int32_t answer;
        int count;
        int32_t port;
        netlib_status expected;
        const char *message;
    } rows[] = {
        {NETLIB_OK, 1, 0, NETLIB_OK, NULL},
        {NETLIB_OK, 2, port, NETLIB_OK, NULL},
        {NETLIB_OK, 0, 0, NETLIB_NAME_RESOLUTION, "xn--bcher-kva.test has no addresses"},
        {NETLIB_NAME_RESOLUTION, 1, 0, NETLIB_NAME_RESOLUTION, TOLD "NETLIB_NAME_RESOLUTION"},
        {NETLIB_DEADLINE_EXCEEDED, 0, 0, NETLIB_DEADLINE_EXCEEDED, NULL},
        {NETLIB_WANT_READ, 1, 0, NETLIB_CALLBACK_FAILED, TOLD "NETLIB_WANT_READ"},
        {NETLIB_IO, 0, 0, NETLIB_NEW_CONNECTION, NULL},
        {-2, 1, 0, NETLIB_CALLBACK_FAILED, TOLD "-2"},
        {12345, 1, 0, NETLIB_CALLBACK_FAILED, TOLD "12345"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct asked asked = {0};
        asked.answer = rows[i].answer;
        asked.count = rows[i].count;
        asked.answer_port = rows[i].port;
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_set_resolve_callback(options, resolve_as_told, &asked);

        netlib_connect *connect = connect_to("B\xc3\xbc" "cher.TEST", port, options);
        CHECK_INT(0, asked.calls);
        netlib_status status = step_to_the_end(connect, &fd, &err);
        if (rows[i].message != NULL) CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].expected, status);
        CHECK_INT(1, asked.calls);
        CHECK_STR("xn--bcher-kva.test", asked.host);
        CHECK_INT(port, asked.port);
        CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, asked.seconds_left);
        if (fd >= 0) close(fd);
        netlib_connect_free(connect);

        connect = connect_to("name.test", port, options);
        CHECK_STATUS(rows[i].expected, netlib_connect_run(connect, lasting, &fd, &err));
        CHECK(asked.seconds_left > 0.0 && asked.seconds_left <= LONG);
        if (fd >= 0) close(fd);
        netlib_connect_free(connect);

        /* The sequential connect asks it too; nobody asks it for an address. */
        CHECK_STATUS(rows[i].expected, netlib_create_connection("name.test", port, options, lasting, &fd, &err));
        CHECK_INT(3, asked.calls);
        if (fd >= 0) close(fd);
        CHECK_OK(netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err));
        close(fd);
        connect = connect_to("127.0.0.1", port, options);
        CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
        close(fd);
        CHECK_INT(3, asked.calls);
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }
    /* Nobody is asked when the time is over. */
    struct asked never = {0};
    netlib_limit *over = limit_of(0.0);
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, resolve_as_told, &never);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection("name.test", port, options, over, &fd, &err));
    CHECK_INT(0, never.calls);
    netlib_connect_options_free(options);
    netlib_limit_free(over);
    netlib_connect_options_set_resolve_callback(NULL, resolve_as_told, NULL);
    netlib_limit_free(lasting);
    close(server);
}

/* ---- event loops ---- */

/* An epoll loop that keeps what it has registered, and compares numbers: none may come to mean another socket. */
static void epoll_by_difference(void) {
    netlib_error *err = NULL;
    int32_t dead_port = 0, silent_port = 0;
    int filler = -1, fd = -1;
    int dead = bound_socket(&dead_port);
    int silent = silent_listener(&silent_port, &filler);
    const int32_t ports[] = {silent_port, dead_port, silent_port, dead_port, silent_port};
    netlib_connect_options *options = options_with(0.01, 0.035);
    netlib_connect *connect = connect_to_ports(ports, 5, options);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool registered[1024] = {false};
    netlib_status status;
    double began = netlib_current_time();
    while ((status = netlib_connect_step(connect, &fd, &err)) == NETLIB_WANT_WRITE && IN_TIME(began)) {
        bool wanted[1024] = {false};
        for (size_t i = 0; i < netlib_connect_wait_count(connect); i++) {
            struct epoll_event event;
            memset(&event, 0, sizeof event);
            int one = netlib_connect_wait_fd(connect, i);
            CHECK(one >= 0 && one < 1024);
            wanted[one] = true;
            event.events = (uint32_t)netlib_connect_wait_events(connect, i);
            event.data.fd = one;
            /* What was registered still is: adding it again is refused. */
            int added = epoll_ctl(epoll, EPOLL_CTL_ADD, one, &event);
            CHECK(registered[one] ? added == -1 && errno == EEXIST : added == 0);
            registered[one] = true;
        }
        for (int one = 0; one < 1024; one++) {
            if (!registered[one] || wanted[one]) continue;
            CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, one, NULL) == 0); /* It is still open. */
            registered[one] = false;
        }
        struct epoll_event event;
        double seconds = netlib_connect_timer(connect);
        CHECK(seconds <= 0.035);
        CHECK(epoll_wait(epoll, &event, 1, (int)(seconds * 1000) + 1) >= 0);
    }
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
    CHECK_INT(5, (long long)netlib_connect_attempt_count(connect));
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(epoll);
    close(dead);
    close(filler);
    close(silent);
}

/* Whether epoll knows a descriptor already. */
static bool epoll_has(int epoll, int fd, uint32_t events) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = events;
    event.data.fd = fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return false;
    CHECK_INT(EEXIST, errno);
    return true;
}

/* A connect that ends, or is freed, leaves nothing of a shared limit in epoll: the next one, which gets the same numbers,
 * can be added, and a cancel tells of it alone. */
static void epoll_forgets_the_limit_of_a_connect(void) {
    netlib_error *err = NULL;
    int32_t port = 0, silent_port = 0;
    int filler = -1, fd = -1;
    int server = listener(&port);
    int silent = silent_listener(&silent_port, &filler);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int round = 0; round < 6; round++) {
        bool wins = round % 2 == 0;
        netlib_connect *connect = connect_to("127.0.0.1", wins ? port : silent_port, NULL);
        CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
        netlib_status status = netlib_connect_step(connect, &fd, &err);
        /* Before a connect that wins at once there is nothing to wait for. */
        for (size_t i = 0; i < netlib_connect_wait_count(connect); i++) {
            CHECK(!epoll_has(epoll, netlib_connect_wait_fd(connect, i), (uint32_t)netlib_connect_wait_events(connect, i)));
        }
        if (wins && status == NETLIB_WANT_WRITE) status = netlib_connect_run(connect, NULL, &fd, &err);
        CHECK_STATUS(wins ? NETLIB_OK : NETLIB_WANT_WRITE, status);
        if (fd >= 0) close(fd);
        netlib_connect_free(connect);
    }
    netlib_limit_cancel(limit);
    struct epoll_event event;
    CHECK_INT(0, epoll_wait(epoll, &event, 1, 0));
    netlib_limit_free(limit);
    close(epoll);
    close(filler);
    close(silent);
    close(server);
}

/* Connects that share a limit share no descriptor: one epoll takes them all, and a cancel wakes each. A limit that is
 * replaced leaves its number to nobody for a step. */
static void limits_in_an_event_loop(void) {
    netlib_error *err = NULL;
    int32_t silent_port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&silent_port, &filler);
    const int32_t ports[] = {silent_port, silent_port, silent_port};
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    int before = open_descriptors();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect *connects[2];
    for (size_t i = 0; i < 2; i++) {
        connects[i] = connect_to_ports(ports, 1, options);
        CHECK_OK(netlib_connect_set_limit(connects[i], limit, &err));
        CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connects[i], &fd, &err));
        CHECK_INT(2, (long long)netlib_connect_wait_count(connects[i]));
        for (size_t j = 0; j < 2; j++) {
            CHECK(!epoll_has(epoll, netlib_connect_wait_fd(connects[i], j), (uint32_t)netlib_connect_wait_events(connects[i], j)));
        }
    }
    netlib_limit_cancel(limit);
    struct epoll_event events[4];
    CHECK_INT(2, epoll_wait(epoll, events, 4, (int)LONG * 1000));
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_step(connects[i], &fd, &err));
        netlib_connect_free(connects[i]);
    }
    netlib_limit_free(limit);
    close(epoll);
    CHECK_INT(before, open_descriptors());

    netlib_connect *connect = connect_to_ports(ports, 3, options);
    limit = limit_of(NETLIB_TIMEOUT_NONE);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    netlib_limit_free(limit);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    int of_limit = netlib_connect_wait_fd(connect, 1);
    CHECK_OK(netlib_connect_set_limit(connect, NULL, &err));
    CHECK_INT(1, (long long)netlib_connect_wait_count(connect));
    wait_once(connect);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(2, (long long)netlib_connect_attempt_count(connect));
    CHECK(netlib_connect_wait_fd(connect, 1) != of_limit && fcntl(of_limit, F_GETFD) >= 0);
    wait_once(connect);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK(netlib_connect_wait_fd(connect, 2) == of_limit || fcntl(of_limit, F_GETFD) < 0);
    netlib_connect_free(connect);
    CHECK_INT(before, open_descriptors());

    /* A program that writes to it wakes nobody else: what is waited for only follows the limit. */
    connect = connect_to_ports(ports, 1, options);
    limit = limit_of(LONG);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    uint64_t one = 1;
    CHECK(write(netlib_connect_wait_fd(connect, 1), &one, sizeof one) == -1);
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    CHECK_INT(before, open_descriptors());
    netlib_connect_options_free(options);
    close(filler);
    close(silent);
}

/* ---- ports ---- */

/* A port of one's own serves each attempt of a race, those under way beside it and those that failed. */
static void a_source_port_for_all_attempts(void) {
    netlib_error *err = NULL;
    int32_t silent_port = 0, dead_port = 0, port = 0, own_port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&silent_port, &filler), dead = bound_socket(&dead_port), server = listener(&port);
    close(bound_socket(&own_port));
    const int32_t ports[] = {silent_port, dead_port, port};
    static const char *const hosts[] = {"127.0.0.1", ""};
    for (size_t i = 0; i < 2; i++) {
        netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
        netlib_connect_options_set_source_address(options, hosts[i], own_port);
        netlib_connect *connect = connect_to_ports(ports, 3, options);
        CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
        check_attempt(connect, 0, silent_port, NETLIB_CLOSED, 0);
        check_attempt(connect, 1, dead_port, NETLIB_NEW_CONNECTION, ECONNREFUSED);
        check_attempt(connect, 2, port, NETLIB_OK, 0);
        struct sockaddr_in own;
        socklen_t len = sizeof own;
        CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
        CHECK_INT(own_port, ntohs(own.sin_port));
        /* Closed by a reset, so that the port is free for the second run. */
        struct linger at_once = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
        close(accept(server, NULL, NULL));
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }

    /* Somebody else's stays his. */
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_set_source_address(options, "127.0.0.1", dead_port);
    netlib_connect *connect = connect_to_ports(ports + 2, 1, options);
    CHECK_STATUS(NETLIB_NEW_CONNECTION, netlib_connect_run(connect, NULL, &fd, &err));
    check_attempt(connect, 0, port, NETLIB_NEW_CONNECTION, EADDRINUSE);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);

#ifdef IP_BIND_ADDRESS_NO_PORT
    /* An address without a port leaves the port to connect(2), which has more of them. */
    options = netlib_connect_options_new();
    netlib_connect_options_set_source_address(options, "127.0.0.1", 0);
    CHECK_OK(netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err));
    int late = 0;
    socklen_t len = sizeof late;
    CHECK(getsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, &len) == 0 && late == 1);
    close(fd);
    netlib_connect_options_free(options);
#endif
    close(server);
    close(dead);
    close(filler);
    close(silent);
}

/* Where nobody listens a socket may be connected to itself: here it has no choice. */
static void a_connection_to_itself_is_none(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    close(bound_socket(&port));
    static const double timeouts[] = {NETLIB_TIMEOUT_NONE, LONG};
    for (size_t i = 0; i < 2; i++) {
        netlib_connect_options *options = options_with(0.01, timeouts[i]);
        netlib_connect_options_set_source_address(options, "127.0.0.1", port);
        netlib_status status = netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err);
        CHECK_INT(-1, fd);
        CHECK_INT(ECONNREFUSED, netlib_error_errno(err));
        CHECK(strstr(netlib_error_message(err, NULL), ": nobody listens there, so that the socket was connected to itself: ") != NULL);
        CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
        netlib_connect *connect = connect_to_ports(&port, 1, options);
        CHECK_STATUS(NETLIB_NEW_CONNECTION, netlib_connect_run(connect, NULL, &fd, &err));
        check_attempt(connect, 0, port, NETLIB_NEW_CONNECTION, ECONNREFUSED);
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }
    /* The port is the server's to take. */
    struct sockaddr_in in = ipv4(LOOPBACK, port);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(server, (struct sockaddr *)&in, sizeof in) == 0);
    close(server);
}

static int32_t cancel_and_refuse(void *ctx, const void *address, size_t len, int32_t classes) {
    (void)address;
    (void)len;
    (void)classes;
    netlib_limit_cancel(ctx);
    return 1;
}

/* A limit ends a step, too, in which one address after the other fails. */
static void a_limit_ends_a_step(void) {
    netlib_error *err = NULL;
    int fd = -1;
    const int32_t ports[] = {1, 2, 3};
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, cancel_and_refuse, limit);
    netlib_connect *connect = connect_to_ports(ports, 3, options);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    netlib_status status = netlib_connect_step(connect, &fd, &err);
    CHECK_STR("cannot connect to name.test port 80: the limit was cancelled", netlib_error_message(err, NULL));
    CHECK_INT(1, (long long)netlib_error_cause_count(err));
    CHECK_INT(NETLIB_ADDRESS_REFUSED, netlib_error_status(netlib_error_cause(err, 0)));
    CHECK_STATUS(NETLIB_CANCELLED, status);
    CHECK_INT(1, (long long)netlib_connect_attempt_count(connect));
    check_attempt(connect, 0, 1, NETLIB_ADDRESS_REFUSED, 0);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    netlib_limit_free(limit);
}

/* However often it is replaced, and none once it is over. */
static void a_limit_costs_one_descriptor(void) {
    netlib_error *err = NULL;
    int32_t port = 0, dead_port = 0;
    int server = listener(&port), dead = bound_socket(&dead_port);
    netlib_limit *limits[] = {limit_of(LONG), limit_of(LONG)};
    /* Which have one each, from the first wait on. */
    for (int i = 0; i < 2; i++) CHECK_STATUS(NETLIB_TIMEOUT, netlib_wait_for_read(server, 0.001, limits[i], &err));
    int before = open_descriptors();
    for (int wins = 0; wins < 2; wins++) {
        int fd = -1;
        const int32_t ports[] = {wins ? port : dead_port};
        netlib_connect *connect = connect_to_ports(ports, 1, NULL);
        for (int i = 0; i < 6; i++) {
            CHECK_OK(netlib_connect_set_limit(connect, limits[i % 2], &err));
            CHECK_INT(before + 1, open_descriptors());
        }
        CHECK_STATUS(wins ? NETLIB_OK : NETLIB_NEW_CONNECTION, netlib_connect_run(connect, NULL, &fd, &err));
        CHECK_INT(before + wins, open_descriptors());
        for (int i = 0; i < 6; i++) CHECK_OK(netlib_connect_set_limit(connect, limits[i % 2], &err));
        CHECK_INT(before + wins, open_descriptors());
        netlib_connect_free(connect);
        close_both(fd, server);
        CHECK_INT(before, open_descriptors());
    }
    netlib_limit_free(limits[0]);
    netlib_limit_free(limits[1]);
    close(server);
    close(dead);
}

static void no_descriptor_is_lost(void) {
    netlib_error *err = NULL;
    int32_t port = 0, dead_port = 0, silent_port = 0;
    int filler = -1, fd = -1;
    int server = listener(&port);
    int dead = bound_socket(&dead_port);
    int silent = silent_listener(&silent_port, &filler);
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    const int32_t good[] = {dead_port, port};
    const int32_t endless[] = {silent_port};
    int before = open_descriptors();
    for (int i = 0; i < 200; i++) {
        netlib_connect *connect = connect_to_ports(good, 2, options);
        CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
        netlib_connect_free(connect);
        close(fd);
        close(accept(server, NULL, NULL));
    }
    netlib_connect *connect = connect_to_ports(endless, 1, options);
    for (int i = 0; i < 1000; i++) CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(before + 1, open_descriptors());
    CHECK_INT(1, (long long)netlib_connect_attempt_count(connect));
    netlib_connect_free(connect);
    CHECK_INT(before, open_descriptors());

    /* None is free: a failed attempt like any other, and a failed lookup is one to connect. */
    struct rlimit files;
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    int next = dup(0);
    close(next);
    struct rlimit few = {(rlim_t)next, files.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    connect = connect_to_ports(good, 2, options);
    netlib_status status = netlib_connect_run(connect, NULL, &fd, &err);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_INT(2, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
    netlib_connect_free(connect);
    connect = connect_to("localhost", port, options);
    status = netlib_connect_step(connect, &fd, &err);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
    netlib_connect_free(connect);
    netlib_limit *limit = limit_of(LONG);
    connect = connect_to_ports(good, 2, options);
    CHECK_STATUS(NETLIB_IO, netlib_connect_set_limit(connect, limit, &err));
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);

    netlib_connect_options_set_stagger(NULL, 0.5);
    netlib_connect_options_free(options);
    close(server);
    close(dead);
    close(filler);
    close(silent);
}

/* Opens and closes descriptors of its own, as fast as it can: a number that somebody else closes twice is its own in
 * between, and then not what it was. */
struct trap {
    volatile sig_atomic_t stop;
    unsigned long rounds, sprung;
};

static void *watch_own_descriptors(void *arg) {
    struct trap *trap = arg;
    while (!trap->stop) {
        int ends[2];
        struct stat before[2], after;
        bool whole = pipe2(ends, O_CLOEXEC) == 0;
        for (int i = 0; i < 2; i++) whole = whole && fstat(ends[i], &before[i]) == 0;
        sched_yield();
        for (int i = 0; i < 2; i++) {
            whole = whole && fstat(ends[i], &after) == 0 && after.st_ino == before[i].st_ino;
            whole = close(ends[i]) == 0 && whole;
        }
        trap->rounds++;
        trap->sprung += !whole;
    }
    return NULL;
}

static void r28_each_descriptor_is_closed_once(void) {
    netlib_error *err = NULL;
    int32_t port = 0, dead_port = 0, silent_port = 0;
    int filler = -1, fd = -1;
    int server = listener(&port);
    int dead = bound_socket(&dead_port);
    int silent = silent_listener(&silent_port, &filler);
    const int32_t won[] = {silent_port, dead_port, port};
    const int32_t lost[] = {dead_port, silent_port};
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    struct trap traps[2];
    pthread_t threads[2];
    memset(traps, 0, sizeof traps);
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, watch_own_descriptors, &traps[i]) == 0);
    for (int i = 0; i < 40; i++) {
        netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
        netlib_connect *connect = connect_to_ports(won, 3, options);
        CHECK_OK(netlib_connect_run(connect, limit, &fd, &err));
        netlib_connect_free(connect);
        CHECK(close(fd) == 0 && close(accept(server, NULL, NULL)) == 0);

        /* Freed in the race, cancelled in it, freed in the lookup, cancelled in it. */
        for (int j = 0; j < 4; j++) {
            connect = j < 2 ? connect_to_ports(lost, 2, options) : connect_to("nonexistent.invalid", port, options);
            CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
            if (j < 2 || i % 8 == 0) CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
            if (j % 2 == 1) netlib_limit_cancel(limit);
            if (j % 2 == 1) CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_step(connect, &fd, &err));
            netlib_connect_free(connect);
            if (j % 2 == 0) continue;
            netlib_limit_free(limit);
            limit = limit_of(NETLIB_TIMEOUT_NONE);
        }
        CHECK_STATUS(NETLIB_NEW_CONNECTION, netlib_create_connection("127.0.0.1", dead_port, options, limit, &fd, &err));
        CHECK_OK(netlib_create_connection("localhost", port, options, limit, &fd, &err));
        CHECK(close(fd) == 0 && close(accept(server, NULL, NULL)) == 0);
        netlib_limit_free(limit);
    }
    for (int i = 0; i < 2000; i++) {
        netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
        netlib_connect *connect = connect_to_ports(won + 1, 2, options);
        CHECK_OK(netlib_connect_run(connect, limit, &fd, &err));
        netlib_connect_free(connect);
        netlib_limit_free(limit);
        CHECK(close(fd) == 0 && close(accept(server, NULL, NULL)) == 0);
    }
    for (int i = 0; i < 2; i++) {
        traps[i].stop = 1;
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(traps[i].rounds > 0);
        CHECK_INT(0, (long long)traps[i].sprung);
    }
    netlib_connect_options_free(options);
    close(server);
    close(dead);
    close(filler);
    close(silent);
}

int main(void) {
    a_silent_address_beside_a_good_one();
    two_dead_addresses_before_a_good_one();
    a_lone_slow_good_address();
    families_alternate();
    refusal_by_all();
    timeouts_are_each_attempt_s();
    what_is_refused();
    getters_of_nothing();
    refused_addresses();
    a_limit_ends_a_race();
    names();
    a_resolver_of_the_program();
    epoll_by_difference();
    limits_in_an_event_loop();
    epoll_forgets_the_limit_of_a_connect();
    a_limit_ends_a_step();
    a_source_port_for_all_attempts();
    a_connection_to_itself_is_none();
    a_limit_costs_one_descriptor();
    no_descriptor_is_lost();
    r28_each_descriptor_is_closed_once();
    return report("race");
}
