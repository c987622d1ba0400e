/* Tests connecting to Unix domain sockets with full backlogs, alone and in races. */
#define _GNU_SOURCE
#include "unix_peer.h"

#include <netinet/tcp.h>
#include <pthread.h>
#include <time.h>

/* ---- full backlogs ---- */

static double cpu_seconds(void) {
    struct timespec now;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A timeout, a deadline or a cancel ends the wait if the backlog stays full. */
static void limits_and_timeouts_end_the_wait_for_room_in_a_full_backlog(void) {
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
            /* A signal handler cancels the limit during the wait. */
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
                    /* An event loop waits only for the descriptor of the limit, and for at most 5 ms. */
                    CHECK_INT(limit != NULL, (long long)netlib_connect_wait_count(connect));
                    double timer = netlib_connect_wait_seconds(connect);
                    CHECK(timer >= 0.0 && timer <= 0.005);
                    CHECK_INT(NETLIB_WANT_WRITE, netlib_connect_attempt_status(connect, 0));
                    struct pollfd woken = {.fd = netlib_connect_wait_fd(connect, 0), .events = POLLIN};
                    poll(&woken, 1, (int)(timer * 1000) + 1);
                    status = netlib_connect_step(connect, &fd, &err);
                }
            }
            double took = netlib_current_time() - began, cpu = cpu_seconds() - cpu_began;
            CHECK(took >= rows[i].at_least && took < 10.0);
            /* The number of steps shows that the call does not poll in an endless loop. The processor time is not
             * checked under valgrind, where some calls take long. */
            CHECK(steps <= took / 0.001 + 2);
            if (rows[i].at_least > 0.2 && !under_valgrind()) CHECK(cpu < took / 4);
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

/* Waits before it accepts a connection. During this wait the connect usually finds the backlog full. If it does not,
 * the test passes without testing the wait of the connect. */
static void *accept_late(void *argument) {
    poll(NULL, 0, 30);
    close(accept(((struct drain *)argument)->server, NULL, NULL));
    return NULL;
}

static void a_connection_attempt_succeeds_after_the_backlog_drains(void) {
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
        /* If neither a limit nor a timeout is set, the call waits in connect(2), which a signal interrupts. */
        {never, NULL, false},    {never, NULL, true}, {sndtimeo, NULL, false},
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
            /* Only this thread gets the signals. */
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
    /* The backlog drains between two steps. */
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

    /* The listener closes between two steps. */
    server = full_listener(path, &filler);
    connect = connect_to(path, NETLIB_NTS, never);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    close(server);
    CHECK_STATUS(NETLIB_CONNECT_FAILED, step_to_the_end(connect, &fd, &err, &steps));
    CHECK_INT(ECONNREFUSED, netlib_connect_attempt_errno(connect, 0));
    netlib_connect_free(connect);
    close(filler);

    /* The connect is freed between two steps. */
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

static void a_full_backlog_does_not_block_a_race(void) {
    netlib_error *err = NULL;
    const char *path = in_directory("race");
    int filler = -1, fd = -1, steps = 0;
    int32_t port = 0, dead_port = 0;
    int full = full_listener(path, &filler), server = listener(&port), dead = bound_socket(&dead_port);
    struct sockaddr_un un;
    socklen_t size = address_of(path, strlen(path), &un);
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)dead_port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    netlib_addresses *list = netlib_addresses_new();
    CHECK_OK(netlib_addresses_add(list, &un, size, &err));
    CHECK_OK(netlib_addresses_add(list, &in, sizeof in, &err));
    in.sin_port = 0;
    CHECK_OK(netlib_addresses_add(list, &in, sizeof in, &err));
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_attempt_delay(options, 0.02);
    /* The source address and the TCP option apply only to the attempts to IP addresses, not to the attempt to the Unix
     * domain socket. */
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
        {"127.0.0.1", dead_port, NETLIB_CONNECT_FAILED, ECONNREFUSED},
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

static void a_resolve_callback_may_return_a_unix_path(void) {
    char path[108];
    snprintf(path, sizeof path, "%s/resolved", directory);
    int server = unix_listener(path, strlen(path));
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, resolve_to_path, path, NULL);
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

int main(void) {
    make_directory();
    limits_and_timeouts_end_the_wait_for_room_in_a_full_backlog();
    a_connection_attempt_succeeds_after_the_backlog_drains();
    a_full_backlog_does_not_block_a_race();
    a_resolve_callback_may_return_a_unix_path();
    remove_directory();
    return report("unix waiting");
}
