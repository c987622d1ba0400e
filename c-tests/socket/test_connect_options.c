/* Tests that sequential and racing connects set the socket options before bind(2) and connect(2). */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/utsname.h>
#include <sys/wait.h>

typedef void (*fill_fn)(netlib_connect_options *);

static netlib_status connect_with(int way, fill_fn fill, int32_t port, int *fd, netlib_error **err) {
    netlib_connect_options *options = netlib_connect_options_new();
    fill(options);
    netlib_status status = connect_by(way, "127.0.0.1", port, options, NULL, fd, err);
    netlib_connect_options_free(options);
    return status;
}

static int32_t int_option(int fd, int level, int name) {
    int value = -1;
    socklen_t len = sizeof value;
    CHECK(getsockopt(fd, level, name, &value, &len) == 0);
    return value;
}

static void raw(netlib_connect_options *o, int level, int name, int value) {
    netlib_connect_options_add_socket_option(o, level, name, &value, sizeof value);
}

/* ---- options can be read back ---- */

#define OF_SYSTEM NETLIB_TIMEOUT_DEFAULT

static void nothing(netlib_connect_options *o) { (void)o; }
static void no_delay(netlib_connect_options *o) { netlib_connect_options_set_no_delay(o, 1); }
static void delay(netlib_connect_options *o) { netlib_connect_options_set_no_delay(o, 0); }
static void delay_after_all(netlib_connect_options *o) {
    netlib_connect_options_set_no_delay(o, 1);
    netlib_connect_options_set_no_delay(o, 0);
}
static void raw_after_typed(netlib_connect_options *o) {
    netlib_connect_options_set_no_delay(o, 1);
    raw(o, IPPROTO_TCP, TCP_NODELAY, 0);
}
static void raw_before_typed(netlib_connect_options *o) {
    raw(o, IPPROTO_TCP, TCP_NODELAY, 0);
    netlib_connect_options_set_no_delay(o, 1);
}
static void raw_twice(netlib_connect_options *o) {
    raw(o, IPPROTO_TCP, TCP_NODELAY, 0);
    raw(o, IPPROTO_TCP, TCP_NODELAY, 1);
}
static void keepalive(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 30, 5, 3); }
static void keepalive_most(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 32767, 32767, 127); }
static void keepalive_least(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 1e-9, 0.001, 1); }
static void keepalive_fractions(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, 29.001, 4.999, 3);
}
static void keepalive_of_system(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, OF_SYSTEM, OF_SYSTEM, NETLIB_NONE);
}
static void keepalive_idle_alone(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, 30, OF_SYSTEM, NETLIB_NONE);
}
static void keepalive_interval_alone(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, OF_SYSTEM, 5, NETLIB_NONE);
}
static void keepalive_count_alone(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, OF_SYSTEM, OF_SYSTEM, 3);
}
static void keepalive_again(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, 30, 5, 3);
    netlib_connect_options_set_keepalive(o, 60, OF_SYSTEM, NETLIB_NONE);
}
static void raw_keepalive_off(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, 30, 5, 3);
    raw(o, SOL_SOCKET, SO_KEEPALIVE, 0);
    raw(o, IPPROTO_TCP, TCP_KEEPIDLE, 77);
}
static void user_timeout(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, 30); }
static void user_timeout_fraction(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, 0.0701); }
static void user_timeout_least(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, 1e-300); }
static void user_timeout_most(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, 2147483); }
static void user_timeout_of_system(netlib_connect_options *o) {
    netlib_connect_options_set_user_timeout(o, 30);
    netlib_connect_options_set_user_timeout(o, OF_SYSTEM);
}
static void raw_user_timeout(netlib_connect_options *o) {
    netlib_connect_options_set_user_timeout(o, 30);
    raw(o, IPPROTO_TCP, TCP_USER_TIMEOUT, 1234);
}

struct values {
    int32_t no_delay, keepalive, idle, interval, count, user_timeout;
};

/* The value of a row that does not set TCP_NODELAY: on when racing, and off when connecting sequentially. */
enum { UNSET = -1 };

static struct values values_of(int fd) {
    struct values values = {
        int_option(fd, IPPROTO_TCP, TCP_NODELAY) != 0, int_option(fd, SOL_SOCKET, SO_KEEPALIVE) != 0,
        int_option(fd, IPPROTO_TCP, TCP_KEEPIDLE),     int_option(fd, IPPROTO_TCP, TCP_KEEPINTVL),
        int_option(fd, IPPROTO_TCP, TCP_KEEPCNT),      int_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT),
    };
    return values;
}

static void no_delay_keepalive_and_user_timeout_options_are_set_on_the_socket(void) {
    int bare = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct values system = values_of(bare);
    close(bare);
    const struct {
        fill_fn fill;
        struct values expected;
    } rows[] = {
        {nothing, {UNSET, 0, system.idle, system.interval, system.count, 0}},
        {no_delay, {1, 0, system.idle, system.interval, system.count, 0}},
        {delay, {0, 0, system.idle, system.interval, system.count, 0}},
        {delay_after_all, {0, 0, system.idle, system.interval, system.count, 0}},
        {raw_after_typed, {0, 0, system.idle, system.interval, system.count, 0}},
        {raw_before_typed, {0, 0, system.idle, system.interval, system.count, 0}},
        {raw_twice, {1, 0, system.idle, system.interval, system.count, 0}},
        {keepalive, {UNSET, 1, 30, 5, 3, 0}},
        {keepalive_most, {UNSET, 1, 32767, 32767, 127, 0}},
        {keepalive_least, {UNSET, 1, 1, 1, 1, 0}},
        {keepalive_fractions, {UNSET, 1, 30, 5, 3, 0}},
        {keepalive_of_system, {UNSET, 1, system.idle, system.interval, system.count, 0}},
        {keepalive_idle_alone, {UNSET, 1, 30, system.interval, system.count, 0}},
        {keepalive_interval_alone, {UNSET, 1, system.idle, 5, system.count, 0}},
        {keepalive_count_alone, {UNSET, 1, system.idle, system.interval, 3, 0}},
        {keepalive_again, {UNSET, 1, 60, system.interval, system.count, 0}},
        {raw_keepalive_off, {UNSET, 0, 77, 5, 3, 0}},
        {user_timeout, {UNSET, 0, system.idle, system.interval, system.count, 30000}},
        {user_timeout_fraction, {UNSET, 0, system.idle, system.interval, system.count, 71}},
        {user_timeout_least, {UNSET, 0, system.idle, system.interval, system.count, 1}},
        {user_timeout_most, {UNSET, 0, system.idle, system.interval, system.count, 2147483000}},
        {user_timeout_of_system, {UNSET, 0, system.idle, system.interval, system.count, 0}},
        {raw_user_timeout, {UNSET, 0, system.idle, system.interval, system.count, 1234}},
    };
    CHECK_INT(0, system.no_delay);
    CHECK_INT(0, system.keepalive);
    CHECK_INT(0, system.user_timeout);
    int32_t port = 0;
    int server = listener(&port);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int way = 0; way < WAYS; way++) {
            netlib_error *err = NULL;
            int fd = -1;
            CHECK_OK(connect_with(way, rows[i].fill, port, &fd, &err));
            struct values values = values_of(fd), expected = rows[i].expected;
            if (expected.no_delay == UNSET) expected.no_delay = way;
            bool same = memcmp(&expected, &values, sizeof values) == 0;
            CHECK(same);
            if (!same) {
                fprintf(stderr, "    row %zu, way %d: got %d %d %d %d %d %d\n", i, way, values.no_delay,
                        values.keepalive, values.idle, values.interval, values.count, values.user_timeout);
            }
            close_both(fd, server);
        }
    }
    close(server);
}

/* ---- invalid values ---- */

static void no_delay_2(netlib_connect_options *o) { netlib_connect_options_set_no_delay(o, 2); }
static void no_delay_none(netlib_connect_options *o) { netlib_connect_options_set_no_delay(o, NETLIB_NONE); }
static void idle_0(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 0, 5, 3); }
static void idle_negative(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, -2, 5, 3); }
static void idle_much(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 32767.5, 5, 3); }
static void idle_nan(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, NAN, 5, 3); }
static void interval_none(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, 30, NETLIB_TIMEOUT_NONE, 3);
}
static void count_0(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 30, 5, 0); }
static void count_128(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 30, 5, 128); }
static void count_negative(netlib_connect_options *o) { netlib_connect_options_set_keepalive(o, 30, 5, -1); }
static void count_false(netlib_connect_options *o) {
    netlib_connect_options_set_keepalive(o, 30, 5, NETLIB_RETRY_DISABLED);
}
static void seconds_0(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, 0); }
static void seconds_much(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, 2147484); }
static void seconds_none(netlib_connect_options *o) { netlib_connect_options_set_user_timeout(o, NETLIB_TIMEOUT_NONE); }
static void name_empty(netlib_connect_options *o) { netlib_connect_options_set_interface(o, ""); }
static void name_long(netlib_connect_options *o) { netlib_connect_options_set_interface(o, "sixteen-bytes-xx"); }
static void name_line(netlib_connect_options *o) { netlib_connect_options_set_interface(o, "lo\n"); }
static void name_no_text(netlib_connect_options *o) { netlib_connect_options_set_interface(o, "lo\xff"); }
static void name_null(netlib_connect_options *o) { netlib_connect_options_set_interface(o, NULL); }
static void interface_empty_and_seconds_replaced(netlib_connect_options *o) {
    netlib_connect_options_set_user_timeout(o, 0);
    netlib_connect_options_set_interface(o, "");
    netlib_connect_options_set_user_timeout(o, 1);
}

static void invalid_connect_option_values_are_refused(void) {
    static const struct {
        fill_fn fill;
        netlib_status status;
        const char *setter, *message;
    } rows[] = {
        {no_delay_2, NETLIB_INVALID_ARGUMENT, "no_delay", "enable must be 0 or 1; it is 2"},
        {no_delay_none, NETLIB_INVALID_ARGUMENT, "no_delay", "enable must be 0 or 1; it is -2147483648"},
        {idle_0, NETLIB_INVALID_ARGUMENT, "keepalive", "idle must be more than 0 and at most 32767 seconds; it is 0"},
        {idle_negative, NETLIB_INVALID_ARGUMENT, "keepalive",
         "idle must be more than 0 and at most 32767 seconds; it is -2"},
        {idle_much, NETLIB_INVALID_ARGUMENT, "keepalive",
         "idle must be more than 0 and at most 32767 seconds; it is 32767.5"},
        {idle_nan, NETLIB_INVALID_ARGUMENT, "keepalive",
         "idle must be more than 0 and at most 32767 seconds; it is NaN"},
        {interval_none, NETLIB_INVALID_ARGUMENT, "keepalive",
         "interval must be more than 0 and at most 32767 seconds; it is inf"},
        {count_0, NETLIB_INVALID_ARGUMENT, "keepalive", "count must be 1 to 127; it is 0"},
        {count_128, NETLIB_INVALID_ARGUMENT, "keepalive", "count must be 1 to 127; it is 128"},
        {count_negative, NETLIB_INVALID_ARGUMENT, "keepalive", "count must be 1 to 127; it is -1"},
        {count_false, NETLIB_INVALID_ARGUMENT, "keepalive", "count must be 1 to 127; it is -2147483647"},
        {seconds_0, NETLIB_INVALID_ARGUMENT, "user_timeout",
         "seconds must be more than 0 and at most 2147483 seconds; it is 0"},
        {seconds_much, NETLIB_INVALID_ARGUMENT, "user_timeout",
         "seconds must be more than 0 and at most 2147483 seconds; it is 2147484"},
        {seconds_none, NETLIB_INVALID_ARGUMENT, "user_timeout",
         "seconds must be more than 0 and at most 2147483 seconds; it is inf"},
        {name_empty, NETLIB_INVALID_ARGUMENT, "interface", "name is empty"},
        {name_long, NETLIB_INVALID_ARGUMENT, "interface", "name has 16 bytes; an interface name has at most 15"},
        {name_line, NETLIB_INVALID_ARGUMENT, "interface",
         "name has a character at byte 2 that is not allowed in an interface name"},
        {name_no_text, NETLIB_INVALID_UTF8, "interface", "name is not valid UTF-8 at byte 2"},
        {name_null, NETLIB_NULL_ARGUMENT, "interface", "name must not be NULL"},
        {interface_empty_and_seconds_replaced, NETLIB_INVALID_ARGUMENT, "interface", "name is empty"},
    };
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int way = 0; way < WAYS; way++) {
            netlib_error *err = NULL;
            int fd = 17;
            char expected[160];
            netlib_status status = connect_with(way, rows[i].fill, 80, &fd, &err);
            snprintf(expected, sizeof expected, "netlib_connect_options_set_%s: %s", rows[i].setter, rows[i].message);
            CHECK_STR(expected, netlib_error_message(err, NULL));
            CHECK_INT(-1, fd);
            CHECK_STATUS(rows[i].status, status);
        }
    }
    CHECK_INT(before, open_descriptors());
    netlib_connect_options_set_no_delay(NULL, 1);
    netlib_connect_options_set_keepalive(NULL, 1, 1, 1);
    netlib_connect_options_set_user_timeout(NULL, 1);
    netlib_connect_options_set_interface(NULL, "lo");
}

/* ---- interfaces ---- */

static void interface_loopback(netlib_connect_options *o) { netlib_connect_options_set_interface(o, "lo"); }
static void interface_unknown(netlib_connect_options *o) { netlib_connect_options_set_interface(o, "no-such-device0"); }
/* netlib applies the interface before added socket options, regardless of the order of the setters. */
static void interface_unknown_and_raw_unknown(netlib_connect_options *o) {
    raw(o, 999, 1, 1);
    netlib_connect_options_set_interface(o, "no-such-device0");
}
static void raw_unknown(netlib_connect_options *o) {
    raw(o, 999, 1, 1);
    netlib_connect_options_set_no_delay(o, 1);
}

static void sockets_are_bound_to_the_interface_or_the_attempt_fails(void) {
    int32_t port = 0;
    int server = listener(&port);
    int before = open_descriptors();
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        int fd = -1;
        CHECK_OK(connect_with(way, interface_loopback, port, &fd, &err));
        char name[IFNAMSIZ] = "";
        socklen_t len = sizeof name;
        CHECK(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len) == 0);
        CHECK_STR("lo", name);
        close_both(fd, server);

        static const struct {
            fill_fn fill;
            int32_t errnum;
            const char *step;
        } rows[] = {
            {interface_unknown, ENODEV, "cannot bind to interface no-such-device0"},
            {interface_unknown_and_raw_unknown, ENODEV, "cannot bind to interface no-such-device0"},
            {raw_unknown, EOPNOTSUPP, "cannot set socket option 1 of level 999"},
        };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            netlib_status status = connect_with(way, rows[i].fill, port, &fd, &err);
            char expected[160];
            /* For an unknown level, some kernels return ENOPROTOOPT instead of EOPNOTSUPP. */
            int32_t errnum = netlib_error_errno(err);
            CHECK(errnum == rows[i].errnum || (rows[i].errnum == EOPNOTSUPP && errnum == ENOPROTOOPT));
            snprintf(expected, sizeof expected, "cannot connect to 127.0.0.1 port %d: %s: %s", (int)port, rows[i].step,
                     strerror(errnum));
            CHECK_STR(expected, netlib_error_message(err, NULL));
            CHECK_INT(1, (long long)netlib_error_cause_count(err));
            CHECK_INT(errnum, netlib_error_errno(netlib_error_cause(err, 0)));
            CHECK_INT(-1, fd);
            CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
            CHECK_INT(before, open_descriptors());
        }
    }
    close(server);
}

/* Since Linux 5.7, unprivileged processes may bind an unbound socket to an interface. */
static void unprivileged_processes_may_bind_to_an_interface_since_linux_5_7(void) {
    struct utsname name;
    int major = 0, minor = 0;
    CHECK(uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2);
    int32_t expected = major > 5 || (major == 5 && minor >= 7) ? 0 : EPERM;
    int32_t port = 0;
    int server = listener(&port);
    for (int way = 0; way < WAYS; way++) {
        pid_t child = fork();
        if (child == 0) {
            netlib_error *err = NULL;
            int fd = -1;
            if (getuid() == 0 && setuid(65534) != 0) _exit(99);
            netlib_status status = connect_with(way, interface_loopback, port, &fd, &err);
            int32_t errnum = netlib_error_errno(err);
            _exit(status == (errnum ? NETLIB_CONNECT_FAILED : NETLIB_OK) ? errnum : 98);
        }
        int status = 0;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        CHECK_INT(expected, WEXITSTATUS(status));
    }
    close(server);
}

/* ---- order of system calls ---- */

static int32_t source_port;

static void shared_source(netlib_connect_options *o) {
    netlib_connect_options_set_source_address(o, "127.0.0.2", source_port);
}
static void own_source(netlib_connect_options *o) {
    netlib_connect_options_set_source_address(o, "127.0.0.2", source_port);
    raw(o, SOL_SOCKET, SO_REUSEADDR, 0);
}

/* Opens two connections from one source port to two servers. Sockets can share a port only if SO_REUSEADDR is set
 * before bind(2). netlib sets SO_REUSEADDR by default, and an added socket option can reset it. */
static void socket_options_are_set_before_bind(void) {
    int32_t ports[2] = {0, 0};
    int servers[2] = {listener(&ports[0]), listener(&ports[1])};
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        int fds[2] = {-1, -1}, refused = -1;
        close(bound_socket(&source_port));
        CHECK_OK(connect_with(way, shared_source, ports[0], &fds[0], &err));
        netlib_status status = connect_with(way, own_source, ports[1], &refused, &err);
        char expected[128];
        snprintf(expected, sizeof expected, "cannot connect to 127.0.0.1 port %d: cannot bind to 127.0.0.2 port %d: %s",
                 (int)ports[1], (int)source_port, strerror(EADDRINUSE));
        CHECK_STR(expected, netlib_error_message(err, NULL));
        CHECK_INT(EADDRINUSE, netlib_error_errno(err));
        CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        CHECK_OK(connect_with(way, shared_source, ports[1], &fds[1], &err));
        for (int i = 0; i < 2; i++) {
            struct sockaddr_in own;
            socklen_t len = sizeof own;
            memset(&own, 0, sizeof own);
            CHECK(getsockname(fds[i], (struct sockaddr *)&own, &len) == 0);
            CHECK_INT(source_port, ntohs(own.sin_port));
            CHECK_INT(INADDR_LOOPBACK + 1, ntohl(own.sin_addr.s_addr));
            close(fds[i]);
        }
    }
    for (int i = 0; i < 2; i++) close(servers[i]);
}

static void small_segments(netlib_connect_options *o) { raw(o, IPPROTO_TCP, TCP_MAXSEG, 500); }

/* The SYN contains the maximum segment size, so the server sees the size only if it was set before connect(2). */
static void socket_options_are_set_before_connect(void) {
    int32_t port = 0;
    int server = listener(&port);
    static const fill_fn fills[] = {nothing, small_segments};
    for (int way = 0; way < WAYS; way++) {
        for (int small = 0; small < 2; small++) {
            netlib_error *err = NULL;
            int fd = -1;
            CHECK_OK(connect_with(way, fills[small], port, &fd, &err));
            int accepted = accept(server, NULL, NULL);
            CHECK_INT(small, int_option(accepted, IPPROTO_TCP, TCP_MAXSEG) <= 500);
            close(accepted);
            close(fd);
        }
    }
    close(server);
}

static void user_timeout_short(netlib_connect_options *o) {
    netlib_connect_options_set_timeout(o, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_set_user_timeout(o, 0.05);
}

/* Linux checks the user timeout when it repeats the SYN after one second. */
static void tcp_user_timeout_ends_a_connection_attempt(void) {
    int32_t port = 0;
    int filler = -1;
    int silent = silent_listener(&port, &filler);
    for (int way = 0; way < WAYS; way++) {
        netlib_error *err = NULL;
        int fd = -1;
        double began = netlib_current_time();
        netlib_status status = connect_with(way, user_timeout_short, port, &fd, &err);
        CHECK_INT(ETIMEDOUT, netlib_error_errno(err));
        CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
        CHECK(netlib_current_time() - began >= 0.05 && IN_TIME(began));
    }
    close(filler);
    close(silent);
}

int main(void) {
    no_delay_keepalive_and_user_timeout_options_are_set_on_the_socket();
    invalid_connect_option_values_are_refused();
    sockets_are_bound_to_the_interface_or_the_attempt_fails();
    unprivileged_processes_may_bind_to_an_interface_since_linux_5_7();
    socket_options_are_set_before_bind();
    socket_options_are_set_before_connect();
    tcp_user_timeout_ends_a_connection_attempt();
    return report("connect_options");
}
