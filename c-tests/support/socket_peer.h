/* Helpers of the socket tests: listeners, connected descriptors, and signals that interrupt calls. */
#ifndef NETLIB_TEST_SOCKET_PEER_H
#define NETLIB_TEST_SOCKET_PEER_H

#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* A timeout in seconds, which only a hanging test reaches. */
#define LONG 30.0
#define IN_TIME(began) (netlib_current_time() - (began) < 10.0)

static inline int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 4096; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static inline netlib_limit *limit_of(double seconds) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(seconds, NULL, &limit, &err));
    return limit;
}

/* Returns a child of the limit `parent`. The child itself has no deadline. */
static inline netlib_limit *child_of(const netlib_limit *parent) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(NETLIB_TIMEOUT_NONE, parent, &limit, &err));
    return limit;
}

/* Returns a TCP socket that is bound to a free port of 127.0.0.1. The system refuses connections to the port until the
 * socket listens. */
static inline int bound_socket(int32_t *port) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static inline int listener(int32_t *port) {
    int fd = bound_socket(port);
    CHECK(listen(fd, 128) == 0);
    return fd;
}

/* Returns a listener whose backlog is full, so that the system answers no SYN. The socket `filler` fills the backlog
 * until it is closed. */
static inline int silent_listener(int32_t *port, int *filler) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    int fd = bound_socket(port);
    CHECK(listen(fd, 0) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    for (int i = 0; i < 64; i++) {
        *filler = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        struct pollfd writable = {.fd = *filler, .events = POLLOUT};
        if (connect(*filler, (struct sockaddr *)&address, len) != 0 && poll(&writable, 1, 100) == 0) return fd;
        close(*filler); /* a connected socket stays in the backlog after close */
    }
    CHECK(!"the backlog does not fill");
    return fd;
}

/* The ways to connect: 0 sequentially, 1 by racing. */
enum { WAYS = 2 };

static inline netlib_status connect_by(int way, const char *host, int32_t port, const netlib_connect_options *options,
                                       const netlib_limit *limit, int *fd, netlib_error **err) {
    if (way == 0) return netlib_create_connection(host, port, options, limit, fd, err);
    netlib_connect *connect = NULL;
    *fd = -1;
    netlib_status status = netlib_connect_new(host, port, options, &connect, err);
    if (status == NETLIB_OK) status = netlib_connect_run(connect, limit, fd, err);
    netlib_connect_free(connect);
    return status;
}

/* A thread that accepts and closes connections until the listener `*server` is shut down. */
static inline void *accept_all(void *server) {
    for (;;) {
        int fd = accept(*(const int *)server, NULL, NULL);
        if (fd >= 0) close(fd);
        else if (errno != EINTR) return NULL;
    }
}

/* Closes both ends of a connection. `fd` is -1 if there is no connection. */
static inline void close_both(int fd, int server) {
    if (fd < 0) return;
    close(fd);
    close(accept(server, NULL, NULL));
}

static inline void connected_pair(int ends[2]) { CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }

static atomic_int ticks;

static inline void tick(int signal_number) {
    (void)signal_number;
    ticks++;
}

static inline void start_ticking(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    sigaction(SIGALRM, &action, NULL);
    ticks = 0;
    struct itimerval every_ms = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every_ms, NULL);
}

static inline void stop_ticking(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
}

static const netlib_limit *limit_of_handler;

static inline void cancel_in_handler(int signal_number) {
    (void)signal_number;
    netlib_limit_cancel(limit_of_handler);
}

/* Cancels the limit in a signal handler, 20 ms from now. */
static inline void cancel_by_signal(const netlib_limit *limit) {
    limit_of_handler = limit;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = cancel_in_handler;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval once = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &once, NULL);
}

/* The ctx of record_address: the result that the callback returns, and its last arguments. */
struct address_callback {
    int32_t answer;
    int calls;
    int32_t classes;
    size_t len;
    unsigned char bytes[128];
};

static inline void record_address(void *ctx, const void *address, size_t len, int32_t classes,
                                  enum netlib_verdict *verdict) {
    struct address_callback *callback = ctx;
    callback->calls++;
    callback->classes = classes;
    callback->len = len;
    if (len <= sizeof callback->bytes) memcpy(callback->bytes, address, len);
    *verdict = callback->answer;
}

#endif
