/* Helpers of the tests that race connection attempts. */
#ifndef NETLIB_TEST_RACE_PEER_H
#define NETLIB_TEST_RACE_PEER_H

#include "socket_peer.h"

#include <errno.h>
#include <sys/epoll.h>

static const uint32_t LOOPBACK = INADDR_LOOPBACK;

static inline struct sockaddr_in ipv4(uint32_t address, int32_t port) {
    struct sockaddr_in in;
    memset(&in, 0, sizeof in);
    in.sin_family = AF_INET;
    in.sin_port = htons((uint16_t)port);
    in.sin_addr.s_addr = htonl(address);
    return in;
}

static inline void add_ipv4(netlib_addresses *list, uint32_t address, int32_t port) {
    netlib_error *err = NULL;
    struct sockaddr_in in = ipv4(address, port);
    CHECK_OK(netlib_addresses_add(list, &in, sizeof in, &err));
}

/* Returns a connect that tries the ports of 127.0.0.1 in the given order. */
static inline netlib_connect *connect_to_ports(const int32_t *ports, size_t count,
                                               const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    netlib_addresses *list = netlib_addresses_new();
    for (size_t i = 0; i < count; i++) add_ipv4(list, LOOPBACK, ports[i]);
    CHECK_INT((long long)count, (long long)netlib_addresses_count(list));
    CHECK_OK(netlib_connect_new_addresses("name.test", 80, list, options, &connect, &err));
    netlib_addresses_free(list);
    return connect;
}

static inline netlib_connect *connect_to(const char *host, int32_t port, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new(host, port, options, &connect, &err));
    return connect;
}

/* Waits for one event with poll(2), like an event loop. */
static inline void wait_once(const netlib_connect *connect) {
    struct pollfd fds[16];
    size_t count = netlib_connect_wait_count(connect);
    CHECK(count <= 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        fds[i].fd = netlib_connect_wait_fd(connect, i);
        fds[i].events = (short)netlib_connect_wait_events(connect, i);
        CHECK(fds[i].fd >= 0 && (fds[i].events == POLLIN || fds[i].events == POLLOUT));
        CHECK(fcntl(fds[i].fd, F_GETFD) & FD_CLOEXEC);
    }
    double seconds = netlib_connect_wait_seconds(connect);
    CHECK(seconds >= 0.0);
    CHECK(poll(fds, (nfds_t)count, seconds < LONG ? (int)(seconds * 1000) + 1 : (int)(LONG * 1000)) >= 0);
}

static inline netlib_status step_to_the_end(netlib_connect *connect, int *fd, netlib_error **err) {
    double began = netlib_current_time();
    netlib_status status;
    while ((status = netlib_connect_step(connect, fd, err)) == NETLIB_WANT_WRITE && IN_TIME(began)) {
        CHECK_INT(-1, *fd);
        wait_once(connect);
    }
    return status;
}

/* Checks one attempt in the report of `connect`. Of its times, checks only the order, not the values. */
static inline void check_attempt(const netlib_connect *connect, size_t index, int32_t port, netlib_status status,
                                 int32_t errnum) {
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

static inline netlib_connect_options *options_with(double stagger, double timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_attempt_delay(options, stagger);
    netlib_connect_options_set_timeout(options, timeout);
    return options;
}

/* Registers the descriptor in the epoll instance. Returns true if it was already registered. */
static inline bool epoll_has(int epoll, int fd, uint32_t events) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = events;
    event.data.fd = fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) return false;
    CHECK_INT(EEXIST, errno);
    return true;
}

#endif
