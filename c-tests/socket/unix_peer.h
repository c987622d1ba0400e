/* Helpers of the tests of Unix domain sockets: a directory for paths, listeners, and connects. */
#ifndef NETLIB_TEST_UNIX_PEER_H
#define NETLIB_TEST_UNIX_PEER_H

#include "socket_peer.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The temporary directory of this run, which is removed at the end. */
static char directory[64];

static inline const char *in_directory(const char *name) {
    static char path[108];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Writes a path of the greatest length that fits into a sockaddr_un. */
static inline void longest_path(char path[108]) {
    memset(path, 'p', 107);
    path[107] = 0;
    memcpy(path, directory, strlen(directory));
    path[strlen(directory)] = '/';
}

/* Fills in a sockaddr_un with a path and its NUL, or with an abstract name. */
static inline socklen_t address_of(const char *name, size_t len, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    CHECK(len <= sizeof address->sun_path);
    memcpy(address->sun_path, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] != 0));
}

static inline int bound(const char *name, size_t len, int type) {
    struct sockaddr_un address;
    socklen_t size = address_of(name, len, &address);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (name[0] != 0) unlink(name);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0);
    return fd;
}

static inline int unix_listener(const char *name, size_t len) {
    int fd = bound(name, len, SOCK_STREAM);
    CHECK(listen(fd, 8) == 0);
    return fd;
}

/* Returns a listener with a full backlog, and the socket that fills it. */
static inline int full_listener(const char *path, int *filler) {
    struct sockaddr_un address;
    socklen_t size = address_of(path, strlen(path), &address);
    int fd = bound(path, strlen(path), SOCK_STREAM);
    CHECK(listen(fd, 0) == 0);
    *filler = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(connect(*filler, (struct sockaddr *)&address, size) == 0);
    int next = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(connect(next, (struct sockaddr *)&address, size) == -1 && errno == EAGAIN);
    close(next);
    return fd;
}

/* Checks the settings of the socket, and that the socket is connected to the listener `server`. */
static inline void check_connected(int fd, int server) {
    struct timeval timeout;
    socklen_t len = sizeof timeout;
    CHECK(fd >= 0);
    if (fd < 0) return;
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
    CHECK(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, &len) == 0 && timeout.tv_sec == 0 && timeout.tv_usec == 0);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &len) == 0 && timeout.tv_sec == 0 && timeout.tv_usec == 0);
    struct pollfd visited = {.fd = server, .events = POLLIN};
    if (poll(&visited, 1, (int)(LONG * 1000)) != 1) {
        CHECK(!"the connection leads to the listener");
        return;
    }
    int peer = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    char byte = 0;
    CHECK(write(peer, "x", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x');
    CHECK(write(fd, "y", 1) == 1 && read(peer, &byte, 1) == 1 && byte == 'y');
    close(peer);
}

static inline netlib_connect *connect_to(const char *path, size_t len, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new_unix(path, len, options, &connect, &err));
    return connect;
}

static inline netlib_connect_options *options_with_timeout(double seconds) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_timeout(options, seconds);
    return options;
}

/* Waits for one event with poll(2), like an event loop. */
static inline void wait_once(const netlib_connect *connect) {
    struct pollfd fds[4];
    size_t count = netlib_connect_wait_count(connect);
    CHECK(count <= 4);
    for (size_t i = 0; i < count && i < 4; i++) {
        fds[i].fd = netlib_connect_wait_fd(connect, i);
        fds[i].events = (short)netlib_connect_wait_events(connect, i);
    }
    double seconds = netlib_connect_wait_seconds(connect);
    CHECK(poll(fds, (nfds_t)count, seconds < LONG ? (int)(seconds * 1000) + 1 : (int)(LONG * 1000)) >= 0);
}

static inline netlib_status step_to_the_end(netlib_connect *connect, int *fd, netlib_error **err, int *steps) {
    double began = netlib_current_time();
    netlib_status status;
    for (*steps = 1; (status = netlib_connect_step(connect, fd, err)) == NETLIB_WANT_WRITE && IN_TIME(began); ++*steps)
        wait_once(connect);
    return status;
}

static inline void make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/netlib-unix-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
}

static inline void remove_directory(void) {
    static const char *const names[] = {"plain",  "\xff\xfe \n\"\\", "file", "idle",     "datagrams", "guarded",
                                        "full",   "drains",          "race", "resolved", "options",   "policy",
                                        "waiting"};
    for (size_t i = 0; i < COUNT(names); i++) unlink(in_directory(names[i]));
    char longest[108];
    longest_path(longest);
    unlink(longest);
    CHECK(rmdir(directory) == 0);
}

#endif
