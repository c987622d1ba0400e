/* Tests the sockets of races: source ports, and sockets that connect to themselves. Also tests that netlib closes each
 * socket exactly once. */
#define _GNU_SOURCE
#include "race_peer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* All attempts of a race share the source port, including attempts in progress and failed attempts. */
static void attempts_of_a_race_share_the_source_port(void) {
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
        check_attempt(connect, 1, dead_port, NETLIB_CONNECT_FAILED, ECONNREFUSED);
        check_attempt(connect, 2, port, NETLIB_OK, 0);
        struct sockaddr_in own;
        socklen_t len = sizeof own;
        CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
        CHECK_INT(own_port, ntohs(own.sin_port));
        /* Closes the sockets with a reset, so that the port is free in the next turn of the loop. */
        struct linger at_once = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
        close(accept(server, NULL, NULL));
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }

    /* The attempt fails if another socket uses the source port. */
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_set_source_address(options, "127.0.0.1", dead_port);
    netlib_connect *connect = connect_to_ports(ports + 2, 1, options);
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
    check_attempt(connect, 0, port, NETLIB_CONNECT_FAILED, EADDRINUSE);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);

#ifdef IP_BIND_ADDRESS_NO_PORT
    /* Without a source port, connect(2) chooses the port. connect(2) can choose from more ports than bind(2). */
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

/* A TCP socket can connect to itself if no other socket listens on the port. A source port that equals the destination
 * port makes this happen. */
static void a_socket_connected_to_itself_is_refused(void) {
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
        CHECK_CONTAINS(": no socket listens on this port, and the socket connected to itself: ",
                       netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        netlib_connect *connect = connect_to_ports(&port, 1, options);
        CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
        check_attempt(connect, 0, port, NETLIB_CONNECT_FAILED, ECONNREFUSED);
        netlib_connect_free(connect);
        netlib_connect_options_free(options);
    }
    /* After the refusal, no socket occupies the port, so a server can bind it. */
    struct sockaddr_in in = ipv4(LOOPBACK, port);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(server, (struct sockaddr *)&in, sizeof in) == 0);
    close(server);
}

static void races_leak_no_descriptor(void) {
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

    /* If no descriptor is free, an attempt or a lookup fails. */
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
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    netlib_connect_free(connect);
    connect = connect_to("localhost", port, options);
    status = netlib_connect_step(connect, &fd, &err);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    netlib_connect_free(connect);
    netlib_limit *limit = limit_of(LONG);
    connect = connect_to_ports(good, 2, options);
    CHECK_STATUS(NETLIB_IO, netlib_connect_set_limit(connect, limit, &err));
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);

    netlib_connect_options_set_attempt_delay(NULL, 0.5);
    netlib_connect_options_free(options);
    close(server);
    close(dead);
    close(filler);
    close(silent);
}

/* A thread that opens and closes descriptors as fast as possible. If netlib closes a descriptor twice, the second close
 * closes a descriptor of this thread. The thread then fails to close this descriptor itself. */
struct trap {
    atomic_bool stop;
    unsigned long rounds, disturbed;
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
        trap->disturbed += !whole;
    }
    return NULL;
}

static void no_socket_of_a_race_is_closed_twice(void) {
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

        /* Frees or cancels the connect during the race or during the lookup. */
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
        CHECK_STATUS(NETLIB_CONNECT_FAILED,
                     netlib_create_connection("127.0.0.1", dead_port, options, limit, &fd, &err));
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
        CHECK_INT(0, (long long)traps[i].disturbed);
    }
    netlib_connect_options_free(options);
    close(server);
    close(dead);
    close(filler);
    close(silent);
}

int main(void) {
    attempts_of_a_race_share_the_source_port();
    a_socket_connected_to_itself_is_refused();
    races_leak_no_descriptor();
    no_socket_of_a_race_is_closed_twice();
    return report("race sockets");
}
