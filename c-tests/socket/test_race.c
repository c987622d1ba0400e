/* Tests races of connection attempts, with netlib_connect_step and netlib_connect_run: descriptors, timers, reports,
 * address lists and resolve callbacks. */
#define _GNU_SOURCE
#include "race_peer.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

static void add_ipv6_loopback(netlib_addresses *list, int32_t port) {
    netlib_error *err = NULL;
    struct sockaddr_in6 in6;
    memset(&in6, 0, sizeof in6);
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons((uint16_t)port);
    in6.sin6_addr = in6addr_loopback;
    CHECK_OK(netlib_addresses_add(list, &in6, sizeof in6, &err));
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

static void a_silent_address_delays_the_race_by_one_attempt_delay(void) {
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
        /* The second attempt started after the attempt delay. */
        CHECK(netlib_connect_attempt_start(connect, 1) - netlib_connect_attempt_start(connect, 0) >= 0.02);
        CHECK(netlib_connect_attempt_end(connect, 0) >= netlib_connect_attempt_start(connect, 1));
        close(fd);
        /* netlib_connect_step returns the connected socket only once. */
        CHECK_STATUS(NETLIB_CLOSED, netlib_connect_step(connect, &fd, &err));
        CHECK_INT(-1, fd);
        CHECK_STATUS(NETLIB_CLOSED, netlib_connect_run(connect, NULL, &fd, &err));
        CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
        CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_wait_seconds(connect));
        netlib_connect_free(connect);
        CHECK_INT(before, open_descriptors());
    }
    netlib_connect_options_free(options);
    close(server);
    close(filler);
    close(silent);
}

static void the_next_attempt_starts_immediately_after_a_refused_attempt(void) {
    netlib_error *err = NULL;
    int32_t first_port = 0, second_port = 0, port = 0;
    int first = bound_socket(&first_port), second = bound_socket(&second_port), server = listener(&port);
    int fd = -1;
    const int32_t ports[] = {first_port, second_port, port};
    netlib_connect_options *options = options_with(2.0, NETLIB_TIMEOUT_DEFAULT);
    netlib_connect *connect = connect_to_ports(ports, 3, options);
    double began = netlib_current_time();
    CHECK_OK(step_to_the_end(connect, &fd, &err));
    /* A failed attempt starts the next attempt without the attempt delay. */
    CHECK(netlib_current_time() - began < 2.0);
    check_connection(fd, port);
    check_attempt(connect, 0, first_port, NETLIB_CONNECT_FAILED, ECONNREFUSED);
    check_attempt(connect, 1, second_port, NETLIB_CONNECT_FAILED, ECONNREFUSED);
    check_attempt(connect, 2, port, NETLIB_OK, 0);
    CHECK_INT(2, netlib_connect_winner(connect));
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(fd);
    close(first);
    close(second);
    close(server);
}

/* The server drops the first SYN, so the first attempt takes one second. The first attempt wins although other attempts
 * start in the meantime. */
static void a_slow_attempt_continues_and_can_win_the_race(void) {
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

static void address_families_alternate_in_a_race(void) {
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
    CHECK_STATUS(NETLIB_CONNECT_FAILED, step_to_the_end(connect, &fd, &err));
    static const char *const order[] = {"::1", "127.0.0.1", "::1", "127.0.0.1"};
    CHECK_INT(4, (long long)netlib_connect_attempt_count(connect));
    for (size_t i = 0; i < 4; i++) CHECK_STR(order[i], netlib_connect_attempt_address(connect, i, NULL));
    netlib_connect_free(connect);
    close(bound);
}

static void a_race_fails_if_all_addresses_refuse_the_connection(void) {
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
        check_attempt(connect, i, ports[i], NETLIB_CONNECT_FAILED, ECONNREFUSED);
        close(bound[i]);
    }
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    CHECK_INT(-1, netlib_connect_winner(connect));
    /* Later calls return the same failure. */
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_step(connect, &fd, &err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
    CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
    netlib_connect_free(connect);
}

static void the_connect_timeout_applies_to_each_attempt_of_a_race(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&port, &filler);
    const int32_t ports[] = {port, port};
    netlib_connect_options *options = options_with(0.02, 0.05);
    netlib_connect *connect = connect_to_ports(ports, 2, options);
    CHECK_DOUBLE(0.0, netlib_connect_wait_seconds(connect));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    /* The attempt delay ends before the timeout. */
    CHECK(netlib_connect_wait_seconds(connect) <= 0.02);
    check_attempt(connect, 0, port, NETLIB_WANT_WRITE, 0);
    CHECK_INT(1, (long long)netlib_connect_wait_count(connect));
    CHECK_INT(POLLOUT, netlib_connect_wait_events(connect, 0));
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, step_to_the_end(connect, &fd, &err));
    for (size_t i = 0; i < 2; i++) {
        check_attempt(connect, i, port, NETLIB_CONNECT_TIMEOUT, 0);
        CHECK(netlib_connect_attempt_end(connect, i) - netlib_connect_attempt_start(connect, i) >= 0.05);
    }
    /* On a busy machine, both attempts may end in the same step. */
    CHECK(netlib_connect_attempt_end(connect, 1) >= netlib_connect_attempt_end(connect, 0));
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(filler);
    close(silent);
}

static void invalid_arguments_of_connect_functions_are_refused(void) {
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
        CHECK(message != NULL && strncmp(message, "netlib_connect_options_set_attempt_delay: ", 36) == 0);
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

/* The connect has not started, so it has no attempts and no descriptors, and every index is out of range. */
static void connect_getters_return_a_default_value_for_indexes_out_of_range(void) {
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

static void refuse_first_address(void *ctx, const void *address, size_t len, int32_t classes,
                                 enum netlib_verdict *verdict) {
    struct seen *seen = ctx;
    CHECK(len == sizeof(struct sockaddr_in) && (classes & NETLIB_ADDRESS_CLASS_LOOPBACK) && seen->count < 4);
    memcpy(&seen->addresses[seen->count++], address, len);
    *verdict = seen->count == 1 ? NETLIB_VERDICT_REFUSE : NETLIB_VERDICT_ALLOW;
}

/* The policy checks each address when its attempt starts. If the policy refuses an address, the next attempt starts
 * immediately. */
static void the_address_policy_is_applied_when_each_attempt_starts(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    struct seen seen = {0};
    netlib_connect_options *options = options_with(2.0, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_PRIVATE);
    netlib_connect_options_set_address_callback(options, refuse_first_address, &seen, NULL);
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

    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_LOOPBACK);
    CHECK_OK(netlib_connect_new_addresses("name.test", port, list, options, &connect, &err));
    netlib_status status = netlib_connect_run(connect, NULL, &fd, &err);
    CHECK_INT(3, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_ADDRESS_REFUSED, status);
    netlib_connect_free(connect);
    netlib_addresses_free(list);
    netlib_connect_options_free(options);
    close(server);
}

static void hosts_and_source_addresses_given_as_names_are_resolved(void) {
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

    /* Frees the connect during its lookup. */
    connect = connect_to("nonexistent.invalid", port, NULL);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(1, (long long)netlib_connect_wait_count(connect));
    CHECK_INT(POLLIN, netlib_connect_wait_events(connect, 0));
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_wait_seconds(connect));
    double began = netlib_current_time();
    netlib_connect_free(connect);
    CHECK(netlib_current_time() - began < 1.0);

    /* netlib resolves the source address before the host. */
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

struct resolve_callback {
    int calls;
    char host[64];
    int32_t port;
    double seconds_left;
    int32_t answer;
    int count;
    int32_t answer_port;
};

static int32_t resolve_with_row(void *ctx, const char *host, int32_t port, double seconds_left,
                                netlib_addresses *addresses) {
    struct resolve_callback *callback = ctx;
    callback->calls++;
    snprintf(callback->host, sizeof callback->host, "%s", host);
    callback->port = port;
    callback->seconds_left = seconds_left;
    for (int i = 0; i < callback->count; i++) add_ipv4(addresses, LOOPBACK, callback->answer_port);
    return callback->answer;
}

#define CALLBACK_RETURNED "cannot resolve xn--bcher-kva.test: the resolve callback returned "

static void resolve_callbacks_replace_the_system_resolver(void) {
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
        {NETLIB_NAME_RESOLUTION, 1, 0, NETLIB_NAME_RESOLUTION, CALLBACK_RETURNED "NETLIB_NAME_RESOLUTION"},
        {NETLIB_DEADLINE_EXCEEDED, 0, 0, NETLIB_DEADLINE_EXCEEDED, NULL},
        {NETLIB_WANT_READ, 1, 0, NETLIB_CALLBACK_FAILED, CALLBACK_RETURNED "NETLIB_WANT_READ"},
        {NETLIB_IO, 0, 0, NETLIB_CONNECT_FAILED, NULL},
        {-2, 1, 0, NETLIB_CALLBACK_FAILED, CALLBACK_RETURNED "-2"},
        {12345, 1, 0, NETLIB_CALLBACK_FAILED, CALLBACK_RETURNED "12345"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct resolve_callback callback = {0};
        callback.answer = rows[i].answer;
        callback.count = rows[i].count;
        callback.answer_port = rows[i].port;
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_set_resolve_callback(options, resolve_with_row, &callback, NULL);

        netlib_connect *connect = connect_to("B\xc3\xbc"
                                             "cher.TEST",
                                             port, options);
        CHECK_INT(0, callback.calls);
        netlib_status status = step_to_the_end(connect, &fd, &err);
        if (rows[i].message != NULL) CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].expected, status);
        CHECK_INT(1, callback.calls);
        CHECK_STR("xn--bcher-kva.test", callback.host);
        CHECK_INT(port, callback.port);
        CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, callback.seconds_left);
        if (fd >= 0) close(fd);
        netlib_connect_free(connect);

        connect = connect_to("name.test", port, options);
        CHECK_STATUS(rows[i].expected, netlib_connect_run(connect, lasting, &fd, &err));
        CHECK(callback.seconds_left > 0.0 && callback.seconds_left <= LONG);
        if (fd >= 0) close(fd);
        netlib_connect_free(connect);

        /* netlib_create_connection calls the resolve callback for a host name. For a numeric host, neither
         * netlib_create_connection nor netlib_connect_run calls the callback. */
        CHECK_STATUS(rows[i].expected, netlib_create_connection("name.test", port, options, lasting, &fd, &err));
        CHECK_INT(3, callback.calls);
        if (fd >= 0) close(fd);
        CHECK_OK(netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err));
        close(fd);
        connect = connect_to("127.0.0.1", port, options);
        CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
        close(fd);
        CHECK_INT(3, callback.calls);
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }
    /* If the limit has ended, netlib does not call the callback. */
    struct resolve_callback never = {0};
    netlib_limit *ended = limit_of(0.0);
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, resolve_with_row, &never, NULL);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection("name.test", port, options, ended, &fd, &err));
    CHECK_INT(0, never.calls);
    netlib_connect_options_free(options);
    netlib_limit_free(ended);
    netlib_connect_options_set_resolve_callback(NULL, resolve_with_row, NULL, NULL);
    netlib_limit_free(lasting);
    close(server);
}

/* A connect that has ended or is freed leaves no registration in an epoll instance. The next connect gets the same
 * descriptor numbers, which the application can register again. A later cancel of the limit causes no event in the
 * epoll instance. */
static void ended_or_freed_connects_leave_no_registration_in_epoll(void) {
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
        /* A connect that wins immediately has no descriptors to wait for. */
        for (size_t i = 0; i < netlib_connect_wait_count(connect); i++) {
            CHECK(!epoll_has(epoll, netlib_connect_wait_fd(connect, i),
                             (uint32_t)netlib_connect_wait_events(connect, i)));
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

/* A connect uses one descriptor for its limit, even if the application replaces the limit repeatedly, and none after
 * the connect has ended. */
static void a_connect_uses_one_descriptor_for_its_limit(void) {
    netlib_error *err = NULL;
    int32_t port = 0, dead_port = 0;
    int server = listener(&port), dead = bound_socket(&dead_port);
    netlib_limit *limits[] = {limit_of(LONG), limit_of(LONG)};
    /* Each limit opens its own descriptor in the first call that waits. */
    for (int i = 0; i < 2; i++) CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(server, 0.001, limits[i], &err));
    int before = open_descriptors();
    for (int wins = 0; wins < 2; wins++) {
        int fd = -1;
        const int32_t ports[] = {wins ? port : dead_port};
        netlib_connect *connect = connect_to_ports(ports, 1, NULL);
        for (int i = 0; i < 6; i++) {
            CHECK_OK(netlib_connect_set_limit(connect, limits[i % 2], &err));
            CHECK_INT(before + 1, open_descriptors());
        }
        CHECK_STATUS(wins ? NETLIB_OK : NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
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

int main(void) {
    a_silent_address_delays_the_race_by_one_attempt_delay();
    the_next_attempt_starts_immediately_after_a_refused_attempt();
    a_slow_attempt_continues_and_can_win_the_race();
    address_families_alternate_in_a_race();
    a_race_fails_if_all_addresses_refuse_the_connection();
    the_connect_timeout_applies_to_each_attempt_of_a_race();
    invalid_arguments_of_connect_functions_are_refused();
    connect_getters_return_a_default_value_for_indexes_out_of_range();
    the_address_policy_is_applied_when_each_attempt_starts();
    hosts_and_source_addresses_given_as_names_are_resolved();
    resolve_callbacks_replace_the_system_resolver();
    ended_or_freed_connects_leave_no_registration_in_epoll();
    a_connect_uses_one_descriptor_for_its_limit();
    return report("race");
}
