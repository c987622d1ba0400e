/* Unix domain sockets: paths and abstract names, full backlogs, options, the policy, reports, TLS. */
#define _GNU_SOURCE
#include "tls_peer.h"
#undef LONG
#include "socket_peer.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A directory of this run, removed at its end. */
static char directory[64];

static const char *in_directory(const char *name) {
    static char path[108];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* One byte more does not fit. */
static void longest_path(char path[108]) {
    memset(path, 'p', 107);
    path[107] = 0;
    memcpy(path, directory, strlen(directory));
    path[strlen(directory)] = '/';
}

/* The sockaddr_un of a path, with its NUL, or of an abstract name. */
static socklen_t address_of(const char *name, size_t len, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    CHECK(len <= sizeof address->sun_path);
    memcpy(address->sun_path, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] != 0));
}

static int bound(const char *name, size_t len, int type) {
    struct sockaddr_un address;
    socklen_t size = address_of(name, len, &address);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (name[0] != 0) unlink(name);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0);
    return fd;
}

static int unix_listener(const char *name, size_t len) {
    int fd = bound(name, len, SOCK_STREAM);
    CHECK(listen(fd, 8) == 0);
    return fd;
}

/* A listener with a backlog that is full, and who fills it. */
static int full_listener(const char *path, int *filler) {
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

/* What a caller may do with the socket at once, and that it leads to this listener. */
static void check_connected(int fd, int server) {
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

static netlib_connect *connect_to(const char *path, size_t len, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new_unix(path, len, options, &connect, &err));
    return connect;
}

static netlib_connect_options *options_with_timeout(double seconds) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_timeout(options, seconds);
    return options;
}

/* Waits as an event loop does. */
static void wait_once(const netlib_connect *connect) {
    struct pollfd fds[4];
    size_t count = netlib_connect_wait_count(connect);
    CHECK(count <= 4);
    for (size_t i = 0; i < count && i < 4; i++) {
        fds[i].fd = netlib_connect_wait_fd(connect, i);
        fds[i].events = (short)netlib_connect_wait_events(connect, i);
    }
    double seconds = netlib_connect_timer(connect);
    CHECK(poll(fds, (nfds_t)count, seconds < LONG ? (int)(seconds * 1000) + 1 : (int)(LONG * 1000)) >= 0);
}

static netlib_status step_to_the_end(netlib_connect *connect, int *fd, netlib_error **err, int *steps) {
    double began = netlib_current_time();
    netlib_status status;
    for (*steps = 1; (status = netlib_connect_step(connect, fd, err)) == NETLIB_WANT_WRITE && IN_TIME(began); ++*steps) wait_once(connect);
    return status;
}

/* ---- names ---- */

static void names_that_connect(void) {
    char longest[108], longest_abstract[108];
    longest_path(longest);
    memset(longest_abstract, 'n', sizeof longest_abstract);
    snprintf(longest_abstract + 1, 20, "netlib-%d", (int)getpid());
    longest_abstract[0] = 0;
    char plain[108], bytes[108];
    snprintf(plain, sizeof plain, "%s/plain", directory);
    snprintf(bytes, sizeof bytes, "%s/\xff\xfe \n\"\\", directory);
    char abstract[40], with_nul[40];
    memset(abstract, 0, sizeof abstract);
    snprintf(abstract + 1, sizeof abstract - 1, "netlib %d", (int)getpid());
    memcpy(with_nul, abstract, sizeof abstract);
    const struct {
        const char *name;
        size_t len;
        bool terminated;
    } rows[] = {
        {plain, strlen(plain), true},
        {bytes, strlen(bytes), true},
        {longest, strlen(longest), true},
        {abstract, 1 + strlen(abstract + 1), false},
        /* Another name: the length counts. */
        {with_nul, 2 + strlen(abstract + 1), false},
        {longest_abstract, sizeof longest_abstract, false},
    };
    netlib_limit *lasting = limit_of(LONG);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int before = open_descriptors();
        int server = unix_listener(rows[i].name, rows[i].len);
        for (int way = 0; way < 6; way++) {
            netlib_error *err = NULL;
            int fd = -1, steps = 0;
            const netlib_limit *limit = way & 1 ? lasting : NULL;
            size_t len = rows[i].terminated && way < 2 ? NETLIB_NTS : rows[i].len;
            if (way < 2) {
                CHECK_OK(netlib_create_unix_connection(rows[i].name, len, NULL, limit, &fd, &err));
            } else if (way < 4) {
                netlib_connect *connect = connect_to(rows[i].name, len, NULL);
                CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
                CHECK_OK(step_to_the_end(connect, &fd, &err, &steps));
                /* Nothing to wait for: it is connected at once. */
                CHECK_INT(1, steps);
                CHECK_INT(-1, netlib_connect_attempt_port(connect, 0));
                netlib_connect_free(connect);
            } else {
                struct sockaddr_un address;
                socklen_t size = address_of(rows[i].name, rows[i].len, &address);
                netlib_addresses *list = netlib_addresses_new();
                CHECK_OK(netlib_addresses_add(list, &address, size, &err));
                netlib_connect *connect = NULL;
                CHECK_OK(netlib_connect_new_addresses("name.test", 80, list, NULL, &connect, &err));
                netlib_addresses_free(list);
                CHECK_OK(netlib_connect_run(connect, limit, &fd, &err));
                netlib_connect_free(connect);
            }
            check_connected(fd, server);
            close(fd);
        }
        close(server);
        /* The limit keeps the descriptor that it is cancelled by. */
        if (i > 0) CHECK_INT(before, open_descriptors());
    }
    netlib_limit_free(lasting);
}

static void names_that_are_refused(void) {
    static char zeros[108], long_path[4096], long_abstract[109];
    memset(long_path, 'a', sizeof long_path);
    memset(long_abstract + 1, 'a', sizeof long_abstract - 1);
    static const char of[] = "of a Unix domain socket";
    const struct {
        const char *name;
        size_t len;
        netlib_status status;
        const char *message;
        int64_t offset;
    } rows[] = {
        {"", 0, NETLIB_INVALID_ARGUMENT, "the path %s is empty", -1},
        {"", NETLIB_NTS, NETLIB_INVALID_ARGUMENT, "the path %s is empty", -1},
        {NULL, 0, NETLIB_INVALID_ARGUMENT, "the path %s is empty", -1},
        {NULL, 5, NETLIB_NULL_ARGUMENT, "path must not be NULL", -1},
        {NULL, NETLIB_NTS, NETLIB_NULL_ARGUMENT, "path must not be NULL", -1},
        {"", 1, NETLIB_INVALID_ARGUMENT, "the address %s is nothing but NUL bytes", -1},
        {zeros, sizeof zeros, NETLIB_INVALID_ARGUMENT, "the address %s is nothing but NUL bytes", -1},
        {"/a\0b", 4, NETLIB_INVALID_ARGUMENT, "the path %s has a NUL at byte 2", 2},
        {"/a", 3, NETLIB_INVALID_ARGUMENT, "the path %s has a NUL at byte 2", 2},
        {long_path, 108, NETLIB_INVALID_ARGUMENT, "the path %s has 108 bytes; at most 107 fit", -1},
        {long_path, sizeof long_path, NETLIB_INVALID_ARGUMENT, "the path %s has 4096 bytes; at most 107 fit", -1},
        {long_abstract, sizeof long_abstract, NETLIB_INVALID_ARGUMENT,
         "the abstract name %s has 109 bytes, its first NUL included; at most 108 fit", -1},
        {"/a", NETLIB_NTS - 1, NETLIB_INVALID_ARGUMENT, "len is larger than any object: 18446744073709551614", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char message[128];
        snprintf(message, sizeof message, rows[i].message, of);
        for (int way = 0; way < 2; way++) {
            netlib_error *err = NULL;
            netlib_connect *connect = NULL;
            int fd = 17;
            netlib_status status = way ? netlib_connect_new_unix(rows[i].name, rows[i].len, NULL, &connect, &err)
                                       : netlib_create_unix_connection(rows[i].name, rows[i].len, NULL, NULL, &fd, &err);
            CHECK_INT(way ? 17 : -1, fd);
            CHECK(connect == NULL);
            CHECK_STR(message, netlib_error_message(err, NULL));
            CHECK_INT(rows[i].offset, netlib_error_offset(err));
            CHECK_STATUS(rows[i].status, status);
        }
    }
}

static void lists_take_unix_addresses(void) {
    const size_t head = offsetof(struct sockaddr_un, sun_path);
    struct sockaddr_un un;
    struct sockaddr_storage storage;
    netlib_addresses *list = netlib_addresses_new();
    memset(&storage, 0, sizeof storage);
    const struct {
        const char *name;
        size_t name_len, len;
        netlib_status expected;
    } rows[] = {
        {"/s", 2, head + 3, NETLIB_OK},
        {"/s", 2, head + 2, NETLIB_OK},
        {"/s", 2, sizeof un, NETLIB_OK},
        {"/s", 2, sizeof storage, NETLIB_OK},
        {"\0s", 2, head + 2, NETLIB_OK},
        {"\0s", 2, sizeof un, NETLIB_OK},
        {"\0s", 2, sizeof storage, NETLIB_INVALID_ARGUMENT},
        {"", 0, sizeof un, NETLIB_INVALID_ARGUMENT},
        {"", 0, head, NETLIB_INVALID_ARGUMENT},
        {"", 0, 1, NETLIB_INVALID_ARGUMENT},
        {"/s", 2, NETLIB_NTS, NETLIB_INVALID_ARGUMENT},
    };
    size_t added = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        netlib_error *err = NULL;
        char bytes[1 + sizeof storage];
        memset(bytes, 0, sizeof bytes);
        address_of(rows[i].name, rows[i].name_len, &un);
        /* Anywhere in memory. */
        memcpy(bytes + 1, &un, sizeof un);
        CHECK_STATUS(rows[i].expected, netlib_addresses_add(list, bytes + 1, rows[i].len, &err));
        added += rows[i].expected == NETLIB_OK;
        CHECK_INT((long long)added, (long long)netlib_addresses_count(list));
    }
    netlib_addresses_free(list);
    /* An address that names nothing has its class all the same: what accept(2) says of most clients. */
    netlib_error *err = NULL;
    int32_t classes = 0;
    un.sun_family = AF_UNIX;
    CHECK_OK(netlib_classify_address(&un, head, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_UNIX, classes);
}

/* ---- failures ---- */

static void check_failure(const char *name, size_t len, const char *shown, const char *reason, int32_t errnum) {
    char message[400], cause[400];
    snprintf(message, sizeof message, "cannot connect to %s: %s", shown, reason);
    snprintf(cause, sizeof cause, "%s: %s (after ", shown, reason);
    for (int way = 0; way < 2; way++) {
        netlib_error *err = NULL;
        netlib_connect *connect = NULL;
        int before = open_descriptors(), fd = 17, steps = 0;
        netlib_status status;
        if (way) {
            connect = connect_to(name, len, NULL);
            status = step_to_the_end(connect, &fd, &err, &steps);
            CHECK_INT(1, steps);
            CHECK_INT(1, (long long)netlib_connect_attempt_count(connect));
            CHECK_INT(NETLIB_NEW_CONNECTION, netlib_connect_attempt_status(connect, 0));
            CHECK_INT(errnum, netlib_connect_attempt_errno(connect, 0));
            CHECK_STR(shown, netlib_connect_attempt_address(connect, 0, NULL));
            CHECK_INT(-1, netlib_connect_attempt_port(connect, 0));
        } else {
            status = netlib_create_unix_connection(name, len, NULL, NULL, &fd, &err);
        }
        CHECK_INT(-1, fd);
        CHECK_STR(message, netlib_error_message(err, NULL));
        CHECK_INT(errnum, netlib_error_errno(err));
        CHECK_INT(1, (long long)netlib_error_cause_count(err));
        const netlib_error *first = netlib_error_cause(err, 0);
        CHECK(first != NULL && strncmp(cause, netlib_error_message(first, NULL), strlen(cause)) == 0);
        CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));
        CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
        netlib_connect_free(connect);
        CHECK_INT(before, open_descriptors());
    }
}

static void failures_say_what_is_wrong(void) {
    static const char no_listener[] = "Connection refused: nobody listens on it, or it is no socket";
    const char *path = in_directory("absent");
    check_failure(path, strlen(path), path, "No such file or directory", ENOENT);
    path = in_directory("file/absent");
    int file = open(in_directory("file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    path = in_directory("file/absent");
    check_failure(path, strlen(path), path, "Not a directory", ENOTDIR);
    path = in_directory("file");
    check_failure(path, strlen(path), path, no_listener, ECONNREFUSED);
    close(file);
    path = in_directory("idle");
    int idle = bound(path, strlen(path), SOCK_STREAM);
    check_failure(path, strlen(path), path, no_listener, ECONNREFUSED);
    close(idle);
    /* As a server that has died leaves it. */
    check_failure(path, strlen(path), path, no_listener, ECONNREFUSED);
    path = in_directory("datagrams");
    int datagrams = bound(path, strlen(path), SOCK_DGRAM);
    check_failure(path, strlen(path), path, "Protocol wrong type for socket: it is not a stream socket", EPROTOTYPE);
    close(datagrams);
    check_failure("\0netlib, absent", 15, "@netlib, absent", "Connection refused: nobody listens on this name", ECONNREFUSED);
    /* What cannot be shown. */
    check_failure("/absent/\xff\n\\\xc3\xbc", 13, "/absent/\\xff\\x0a\\\\\xc3\xbc", "No such file or directory", ENOENT);
    check_failure("\0a\0\x80", 4, "@a\\x00\\x80", "Connection refused: nobody listens on this name", ECONNREFUSED);
}

/* In a process without privileges, for whom the permissions count. */
static void permissions(void) {
    const char *path = in_directory("guarded");
    int server = unix_listener(path, strlen(path));
    CHECK(chmod(directory, 0755) == 0 && chmod(path, 0400) == 0);
    pid_t child = fork();
    if (child == 0) {
        checks_passed = checks_failed = 0;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
        check_failure(path, strlen(path), path,
                      "Permission denied: this needs write permission for the socket and search permission for the way to it",
                      EACCES);
        _exit(checks_failed > 0 || checks_passed == 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(server);
}

/* ---- a backlog that is full ---- */

static double cpu_seconds(void) {
    struct timespec now;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What ends a wait for room that never comes. */
static void a_backlog_that_stays_full(void) {
    const char *path = in_directory("full");
    int filler = -1;
    int server = full_listener(path, &filler);
    static const struct {
        double timeout, limit;
        bool cancelled;
        netlib_status expected;
        const char *reason;
        double at_least;
    } rows[] = {
        {0.25, 0, false, NETLIB_CONNECT_TIMEOUT, "the connect timeout passed", 0.25},
        {0.25, LONG, false, NETLIB_CONNECT_TIMEOUT, "the connect timeout passed", 0.25},
        {0.0, 0, false, NETLIB_CONNECT_TIMEOUT, "the connect timeout passed", 0.0},
        {NETLIB_TIMEOUT_DEFAULT, 0.25, false, NETLIB_DEADLINE_EXCEEDED, "the limit's deadline has passed", 0.25},
        {LONG, 0.25, false, NETLIB_DEADLINE_EXCEEDED, "the limit's deadline has passed", 0.25},
        {LONG, LONG, true, NETLIB_CANCELLED, "the limit was cancelled", 0.0},
    };
    char message[256];
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(message, sizeof message, "cannot connect to %s: %s", path, rows[i].reason);
        netlib_connect_options *options = options_with_timeout(rows[i].timeout);
        for (int way = 0; way < 3; way++) {
            netlib_error *err = NULL;
            netlib_connect *connect = way ? connect_to(path, NETLIB_NTS, options) : NULL;
            int before = open_descriptors(), fd = 17, steps = 0;
            double began = netlib_current_time(), cpu_began = cpu_seconds();
            netlib_limit *limit = rows[i].limit > 0 ? limit_of(rows[i].limit) : NULL;
            /* A signal handler cancels, in the middle of the wait. */
            limit_of_handler = limit;
            if (rows[i].cancelled) {
                struct sigaction action = {.sa_handler = cancel_in_handler};
                sigaction(SIGALRM, &action, NULL);
                struct itimerval soon = {{0, 0}, {0, 30000}};
                setitimer(ITIMER_REAL, &soon, NULL);
            }
            netlib_status status;
            if (way == 0) {
                status = netlib_create_unix_connection(path, NETLIB_NTS, options, limit, &fd, &err);
            } else if (way == 1) {
                status = netlib_connect_run(connect, limit, &fd, &err);
            } else {
                CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
                status = netlib_connect_step(connect, &fd, &err);
                for (steps = 1; status == NETLIB_WANT_WRITE && IN_TIME(began); steps++) {
                    /* The limit's descriptor alone, and never longer than 5 ms. */
                    CHECK_INT(limit != NULL, (long long)netlib_connect_wait_count(connect));
                    double timer = netlib_connect_timer(connect);
                    CHECK(timer >= 0.0 && timer <= 0.005);
                    CHECK_INT(NETLIB_WANT_WRITE, netlib_connect_attempt_status(connect, 0));
                    struct pollfd woken = {.fd = netlib_connect_wait_fd(connect, 0), .events = POLLIN};
                    poll(&woken, 1, (int)(timer * 1000) + 1);
                    status = netlib_connect_step(connect, &fd, &err);
                }
            }
            double took = netlib_current_time() - began, cpu = cpu_seconds() - cpu_began;
            CHECK(took >= rows[i].at_least && took < 10.0);
            /* It waits; it does not spin. */
            CHECK(steps <= took / 0.001 + 2);
            if (rows[i].at_least > 0.2) CHECK(cpu < took / 4);
            CHECK_INT(-1, fd);
            CHECK_STR(message, netlib_error_message(err, NULL));
            CHECK_INT(0, netlib_error_errno(err));
            CHECK_INT(1, (long long)netlib_error_cause_count(err));
            if (way) CHECK_INT(rows[i].expected, netlib_connect_attempt_status(connect, 0));
            CHECK_STATUS(rows[i].expected, status);
            netlib_connect_free(connect);
            netlib_limit_free(limit);
            CHECK_INT(before, open_descriptors());
        }
        netlib_connect_options_free(options);
    }
    close(filler);
    close(server);
}

struct drain {
    int server;
    pthread_t thread;
};

/* Gives the others time to find it full; if they have not, the test sees less, but nothing wrong. */
static void *accept_late(void *argument) {
    poll(NULL, 0, 30);
    close(accept(((struct drain *)argument)->server, NULL, NULL));
    return NULL;
}

static void a_backlog_that_drains(void) {
    const char *path = in_directory("drains");
    netlib_limit *lasting = limit_of(LONG);
    netlib_connect_options *never = options_with_timeout(NETLIB_TIMEOUT_NONE), *late = options_with_timeout(LONG);
    netlib_connect_options *sndtimeo = options_with_timeout(NETLIB_TIMEOUT_NONE);
    struct timeval ms = {0, 1000};
    netlib_connect_options_add_socket_option(sndtimeo, SOL_SOCKET, SO_SNDTIMEO, &ms, sizeof ms);
    const struct {
        const netlib_connect_options *options;
        const netlib_limit *limit;
        bool disturbed;
    } rows[] = {
        /* In connect(2) itself, which a signal ends without a connection. */
        {never, NULL, false}, {never, NULL, true}, {sndtimeo, NULL, false},
        {never, lasting, false}, {late, NULL, false}, {late, lasting, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int way = 0; way < 2; way++) {
            netlib_error *err = NULL;
            int filler = -1, fd = -1;
            struct drain drain = {.server = full_listener(path, &filler)};
            netlib_connect *connect = way ? connect_to(path, NETLIB_NTS, rows[i].options) : NULL;
            sigset_t alarm;
            sigemptyset(&alarm);
            sigaddset(&alarm, SIGALRM);
            /* The signals are for this thread. */
            pthread_sigmask(SIG_BLOCK, &alarm, NULL);
            CHECK(pthread_create(&drain.thread, NULL, accept_late, &drain) == 0);
            pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
            if (rows[i].disturbed) start_ticking();
            CHECK_OK(way ? netlib_connect_run(connect, rows[i].limit, &fd, &err)
                         : netlib_create_unix_connection(path, NETLIB_NTS, rows[i].options, rows[i].limit, &fd, &err));
            stop_ticking();
            CHECK(pthread_join(drain.thread, NULL) == 0);
            if (rows[i].options == sndtimeo) {
                struct timeval none = {0, 0};
                CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) == 0);
            }
            check_connected(fd, drain.server);
            netlib_connect_free(connect);
            close(fd);
            close(filler);
            close(drain.server);
        }
    }
    /* By steps: room comes between two of them. */
    netlib_error *err = NULL;
    int filler = -1, fd = -1, steps = 0;
    int server = full_listener(path, &filler);
    netlib_connect *connect = connect_to(path, NETLIB_NTS, never);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
        CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
        wait_once(connect);
    }
    close(accept(server, NULL, NULL));
    CHECK_OK(step_to_the_end(connect, &fd, &err, &steps));
    check_connected(fd, server);
    CHECK_INT(NETLIB_OK, netlib_connect_attempt_status(connect, 0));
    netlib_connect_free(connect);
    close(fd);
    close(filler);
    close(server);

    /* Or its listener goes. */
    server = full_listener(path, &filler);
    connect = connect_to(path, NETLIB_NTS, never);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    close(server);
    CHECK_STATUS(NETLIB_NEW_CONNECTION, step_to_the_end(connect, &fd, &err, &steps));
    CHECK_INT(ECONNREFUSED, netlib_connect_attempt_errno(connect, 0));
    netlib_connect_free(connect);
    close(filler);

    /* Or it is freed. */
    int before = open_descriptors();
    server = full_listener(path, &filler);
    connect = connect_to(path, NETLIB_NTS, never);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    netlib_connect_free(connect);
    close(filler);
    close(server);
    CHECK_INT(before, open_descriptors());
    netlib_connect_options_free(never);
    netlib_connect_options_free(late);
    netlib_connect_options_free(sndtimeo);
    netlib_limit_free(lasting);
}

/* ---- races ---- */

static void a_full_backlog_beside_others(void) {
    netlib_error *err = NULL;
    const char *path = in_directory("race");
    int filler = -1, fd = -1, steps = 0;
    int32_t port = 0, dead_port = 0;
    int full = full_listener(path, &filler), server = listener(&port), dead = bound_socket(&dead_port);
    struct sockaddr_un un;
    socklen_t size = address_of(path, strlen(path), &un);
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)dead_port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    netlib_addresses *list = netlib_addresses_new();
    CHECK_OK(netlib_addresses_add(list, &un, size, &err));
    CHECK_OK(netlib_addresses_add(list, &in, sizeof in, &err));
    in.sin_port = 0;
    CHECK_OK(netlib_addresses_add(list, &in, sizeof in, &err));
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_stagger(options, 0.02);
    /* Of which the Unix socket has no use: that it cannot be had is told by the others alone. */
    netlib_connect_options_set_source_address(options, "127.0.0.1", 0);
    int no_delay = 1;
    netlib_connect_options_add_socket_option(options, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new_addresses("name.test", port, list, options, &connect, &err));
    CHECK_OK(step_to_the_end(connect, &fd, &err, &steps));
    struct sockaddr_in peer;
    size = sizeof peer;
    CHECK(getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && ntohs(peer.sin_port) == port);
    const struct {
        const char *address;
        int32_t port, status, errnum;
    } report[] = {
        {path, -1, NETLIB_CLOSED, 0},
        {"127.0.0.1", dead_port, NETLIB_NEW_CONNECTION, ECONNREFUSED},
        {"127.0.0.1", port, NETLIB_OK, 0},
    };
    CHECK_INT(COUNT(report), (long long)netlib_connect_attempt_count(connect));
    for (size_t i = 0; i < COUNT(report); i++) {
        CHECK_STR(report[i].address, netlib_connect_attempt_address(connect, i, NULL));
        CHECK_INT(report[i].port, netlib_connect_attempt_port(connect, i));
        CHECK_INT(report[i].status, netlib_connect_attempt_status(connect, i));
        CHECK_INT(report[i].errnum, netlib_connect_attempt_errno(connect, i));
    }
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    netlib_addresses_free(list);
    close(fd);
    close(filler);
    close(full);
    close(server);
    close(dead);
}

static int32_t resolve_to_path(void *ctx, const char *host, int32_t port, double left, netlib_addresses *addresses) {
    (void)port;
    (void)left;
    struct sockaddr_un un;
    CHECK_STR("docker.test", host);
    return netlib_addresses_add(addresses, &un, address_of(ctx, strlen(ctx), &un), NULL);
}

static void a_resolver_may_answer_with_a_path(void) {
    char path[108];
    snprintf(path, sizeof path, "%s/resolved", directory);
    int server = unix_listener(path, strlen(path));
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, resolve_to_path, path);
    for (int way = 0; way < 2; way++) {
        netlib_error *err = NULL;
        netlib_connect *connect = NULL;
        int fd = -1;
        if (way) {
            CHECK_OK(netlib_connect_new("docker.test", 80, options, &connect, &err));
            CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
            netlib_connect_free(connect);
        } else {
            CHECK_OK(netlib_create_connection("docker.test", 80, options, NULL, &fd, &err));
        }
        check_connected(fd, server);
        close(fd);
    }
    netlib_connect_options_free(options);
    close(server);
}

/* ---- options and policy ---- */

static void options_of_ip_are_passed_over(void) {
    const char *path = in_directory("options");
    int server = unix_listener(path, strlen(path));
    netlib_connect_options *options = netlib_connect_options_new();
    int one = 1, size = 20000;
    /* None of these could be had. */
    netlib_connect_options_set_source_address(options, "nonexistent.invalid", 1);
    netlib_connect_options_add_socket_option(options, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    netlib_connect_options_add_socket_option(options, IPPROTO_IP, -1, &one, sizeof one);
    netlib_connect_options_add_socket_option(options, IPPROTO_IPV6, -1, &one, sizeof one);
    netlib_connect_options_add_socket_option(options, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    for (int way = 0; way < 2; way++) {
        netlib_error *err = NULL;
        netlib_connect *connect = way ? connect_to(path, NETLIB_NTS, options) : NULL;
        int fd = -1;
        CHECK_OK(way ? netlib_connect_run(connect, NULL, &fd, &err)
                     : netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err));
        int buffer = 0;
        socklen_t len = sizeof buffer;
        CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, &len) == 0 && buffer == 2 * size);
        check_connected(fd, server);
        close(fd);
        netlib_connect_free(connect);
    }
    /* One that cannot be set fails. */
    netlib_connect_options_add_socket_option(options, SOL_SOCKET, -1, &one, sizeof one);
    netlib_error *err = NULL;
    int fd = -1;
    netlib_status status = netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err);
    char message[256];
    snprintf(message, sizeof message, "cannot connect to %s: cannot set socket option -1 of level %d: Protocol not available", path,
             SOL_SOCKET);
    CHECK_STR(message, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_NEW_CONNECTION, status);
    netlib_connect_options_free(options);
    /* A setter's mistake is told here too. */
    options = options_with_timeout(-7.0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err));
    netlib_connect_options_free(options);
    close(server);
}

struct asked {
    int32_t answer;
    int calls;
    int32_t classes;
    size_t len;
    unsigned char bytes[sizeof(struct sockaddr_storage)];
};

static int32_t ask(void *ctx, const void *address, size_t len, int32_t classes) {
    struct asked *asked = ctx;
    asked->calls++;
    asked->classes = classes;
    asked->len = len;
    if (len <= sizeof asked->bytes) memcpy(asked->bytes, address, len);
    return asked->answer;
}

static void the_policy(void) {
    char abstract[40] = {0};
    snprintf(abstract + 1, sizeof abstract - 1, "netlib policy %d", (int)getpid());
    char path[108];
    snprintf(path, sizeof path, "%s/policy", directory);
    const struct {
        const char *name;
        size_t len;
        char shown[120];
    } *row, rows[] = {{path, strlen(path), ""}, {abstract, 1 + strlen(abstract + 1), "@"}};
    for (row = rows; row < rows + COUNT(rows); row++) {
        netlib_error *err = NULL;
        char shown[128], message[256];
        snprintf(shown, sizeof shown, "%s%s", row->shown, row->name + (row->name[0] == 0));
        struct sockaddr_un un;
        socklen_t size = address_of(row->name, row->len, &un);
        int server = unix_listener(row->name, row->len), fd = -1;
        struct asked asked = {0};
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_set_address_callback(options, ask, &asked);
        netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_ALL_BUT_GLOBAL & ~NETLIB_ADDRESS_UNIX);
        for (int way = 0; way < 2; way++) {
            netlib_connect *connect = way ? connect_to(row->name, row->len, options) : NULL;
            asked = (struct asked){0};
            CHECK_OK(way ? netlib_connect_run(connect, NULL, &fd, &err)
                         : netlib_create_unix_connection(row->name, row->len, options, NULL, &fd, &err));
            CHECK_INT(1, asked.calls);
            CHECK_INT(NETLIB_ADDRESS_UNIX, asked.classes);
            CHECK_INT((long long)size, (long long)asked.len);
            CHECK(memcmp(&un, asked.bytes, size) == 0);
            check_connected(fd, server);
            close(fd);
            netlib_connect_free(connect);
        }
        /* Refused by the callback, then by its class, which the callback does not see. */
        asked = (struct asked){.answer = -3};
        for (int by_class = 0; by_class < 2; by_class++) {
            snprintf(message, sizeof message,
                     by_class ? "cannot connect to %s: the address policy refuses %s: unix"
                              : "cannot connect to %s: the address callback refuses %s (unix): -3",
                     shown, shown);
            for (int way = 0; way < 2; way++) {
                netlib_connect *connect = way ? connect_to(row->name, row->len, options) : NULL;
                netlib_status status = way ? netlib_connect_run(connect, NULL, &fd, &err)
                                           : netlib_create_unix_connection(row->name, row->len, options, NULL, &fd, &err);
                CHECK_INT(-1, fd);
                CHECK_STR(message, netlib_error_message(err, NULL));
                CHECK_STATUS(NETLIB_ADDRESS_REFUSED, status);
                netlib_connect_free(connect);
            }
            CHECK_INT(2, asked.calls);
            netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_UNIX);
        }
        struct pollfd visited = {.fd = server, .events = POLLIN};
        CHECK_INT(0, poll(&visited, 1, 0));
        netlib_connect_options_free(options);
        close(server);
    }
    /* While a backlog is full the address is not asked about again: it is the same attempt. */
    netlib_error *err = NULL;
    int filler = -1, fd = -1;
    int server = full_listener(path, &filler);
    struct asked asked = {0};
    netlib_connect_options *options = options_with_timeout(0.05);
    netlib_connect_options_set_address_callback(options, ask, &asked);
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err));
    CHECK_INT(1, asked.calls);
    netlib_connect_options_free(options);
    close(filler);
    close(server);
}

/* ---- what is done with the socket ---- */

static void waiting_and_dropping(void) {
    netlib_error *err = NULL;
    const char *path = in_directory("waiting");
    int server = unix_listener(path, strlen(path)), fd = -1;
    CHECK_OK(netlib_create_unix_connection(path, NETLIB_NTS, NULL, NULL, &fd, &err));
    int peer = accept(server, NULL, NULL);
    bool dropped = true;
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(!dropped);
    CHECK_STATUS(NETLIB_TIMEOUT, netlib_wait_for_read(fd, 0.0, NULL, &err));
    CHECK_OK(netlib_wait_for_write(fd, 0.0, NULL, &err));
    CHECK(write(peer, "x", 1) == 1);
    CHECK_OK(netlib_wait_for_read(fd, LONG, NULL, &err));
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(dropped);
    char byte = 0;
    CHECK(read(fd, &byte, 1) == 1);
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(!dropped);
    /* Without reading what this end has sent: a reset. */
    CHECK(write(fd, "y", 1) == 1);
    close(peer);
    CHECK_OK(netlib_wait_for_read(fd, LONG, NULL, &err));
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(dropped);
    close(fd);
    close(server);
}

static void tls_over_it(void) {
    netlib_error *err = NULL;
    char abstract[40] = {0};
    snprintf(abstract + 1, sizeof abstract - 1, "netlib tls %d", (int)getpid());
    size_t len = 1 + strlen(abstract + 1);
    int listening = unix_listener(abstract, len), fd = -1;
    netlib_limit *limit = limit_of(LONG);
    CHECK_OK(netlib_create_unix_connection(abstract, len, NULL, limit, &fd, &err));
    netlib_tls_context *client = client_context(), *context = server_context("server");
    struct server server = {.does = SERVE_ECHO, .context = context, .fd = accept(listening, NULL, NULL)};
    server_start(&server);
    netlib_tls_stream *stream = wrap(client, fd, "localhost");
    size_t n = 0;
    char answer[64] = "";
    CHECK_OK(netlib_tls_stream_write(stream, "over a path", 11, &n, &err));
    CHECK_INT(11, (long long)n);
    for (size_t got = 0; got < 11; got += n) {
        if (netlib_tls_stream_read(stream, answer + got, sizeof answer - 1 - got, &n, &err) != NETLIB_OK) break;
    }
    CHECK_STR("over a path", answer);
    CHECK_OK(netlib_tls_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_tls_stream_read(stream, answer, sizeof answer, &n, &err));
    server_join(&server);
    CHECK_INT(NETLIB_END_OF_STREAM, server.status);
    netlib_tls_stream_free(stream);
    close(fd);

    /* The name of a certificate is still asked for: there is none in a path. */
    CHECK_OK(netlib_create_unix_connection(abstract, len, NULL, limit, &fd, &err));
    server.fd = accept(listening, NULL, NULL);
    server.does = SERVE_HANDSHAKE;
    server_start(&server);
    stream = wrap(client, fd, "other.test");
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_tls_stream_handshake(stream, &err));
    server_join(&server);
    netlib_tls_stream_free(stream);
    close(fd);
    netlib_tls_context_free(client);
    netlib_tls_context_free(context);
    netlib_limit_free(limit);
    close(listening);
}

static void remove_directory(void) {
    static const char *const names[] = {"plain", "\xff\xfe \n\"\\", "file",  "idle",     "datagrams", "guarded", "full",
                                        "drains", "race",           "resolved", "options", "policy",   "waiting"};
    for (size_t i = 0; i < COUNT(names); i++) unlink(in_directory(names[i]));
    char longest[108];
    longest_path(longest);
    unlink(longest);
    CHECK(rmdir(directory) == 0);
}

int main(void) {
    snprintf(directory, sizeof directory, "/tmp/netlib-unix-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    names_that_connect();
    names_that_are_refused();
    lists_take_unix_addresses();
    failures_say_what_is_wrong();
    permissions();
    a_backlog_that_stays_full();
    a_backlog_that_drains();
    a_full_backlog_beside_others();
    a_resolver_may_answer_with_a_path();
    options_of_ip_are_passed_over();
    the_policy();
    waiting_and_dropping();
    tls_over_it();
    remove_directory();
    return report("unix");
}
