/* Tests races in event loops, and limits that end races. */
#define _GNU_SOURCE
#include "race_peer.h"

#include <errno.h>
#include <sys/epoll.h>

static void a_deadline_or_a_cancel_ends_a_race(void) {
    netlib_error *err = NULL;
    int32_t silent_port = 0, dead_port = 0;
    int filler = -1, fd = -1;
    int silent = silent_listener(&silent_port, &filler);
    int dead = bound_socket(&dead_port);
    const int32_t ports[] = {silent_port, dead_port, silent_port};
    netlib_connect_options *options = options_with(0.01, NETLIB_TIMEOUT_NONE);
    int before = open_descriptors();
    for (int run = 0; run < 2; run++) {
        netlib_limit *limit = limit_of(under_valgrind() ? 2.0 : 0.2);
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
        check_attempt(connect, 1, dead_port, NETLIB_CONNECT_FAILED, ECONNREFUSED);
        check_attempt(connect, 2, silent_port, NETLIB_DEADLINE_EXCEEDED, 0);
        netlib_connect_free(connect);
        CHECK_INT(before, open_descriptors());
    }

    /* A cancel wakes poll(2) on the descriptors of the connect, because one of these descriptors reports the cancel. */
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect *connect = connect_to_ports(ports, 1, options);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(2, (long long)netlib_connect_wait_count(connect));
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_wait_seconds(connect));
    netlib_limit_cancel(limit);
    double began = netlib_current_time();
    wait_once(connect);
    CHECK(IN_TIME(began));
    CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_step(connect, &fd, &err));
    CHECK_STATUS(NETLIB_CANCELLED, netlib_connect_step(connect, &fd, &err));
    netlib_connect_free(connect);

    /* The limit has ended before the first step. */
    connect = connect_to("localhost", silent_port, options);
    netlib_status status = netlib_connect_run(connect, limit, &fd, &err);
    char expected[96];
    snprintf(expected, sizeof expected, "cannot connect to localhost port %d: the limit was cancelled",
             (int)silent_port);
    CHECK_STR(expected, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_CANCELLED, status);
    netlib_connect_free(connect);

    /* A limit that the application has removed has no effect. */
    connect = connect_to_ports(ports, 1, options);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_OK(netlib_connect_set_limit(connect, NULL, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    CHECK_INT(before, open_descriptors());

    /* In the first race, a signal handler cancels the limit during the wait. In the second race, the deadline ends the
     * race, although a signal arrives every millisecond. */
    limit = limit_of(NETLIB_TIMEOUT_NONE);
    cancel_by_signal(limit);
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

/* Simulates an event loop that keeps its epoll registrations and compares descriptor numbers. netlib must not reuse a
 * descriptor number within a step. */
static void an_event_loop_may_keep_its_epoll_registrations_between_steps(void) {
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
            /* epoll refuses to add a registered descriptor again. */
            int added = epoll_ctl(epoll, EPOLL_CTL_ADD, one, &event);
            CHECK(registered[one] ? added == -1 && errno == EEXIST : added == 0);
            registered[one] = true;
        }
        for (int one = 0; one < 1024; one++) {
            if (!registered[one] || wanted[one]) continue;
            CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, one, NULL) == 0); /* the descriptor is still open */
            registered[one] = false;
        }
        struct epoll_event event;
        double seconds = netlib_connect_wait_seconds(connect);
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

/* Connects that share a limit have separate descriptors for the limit. All of these descriptors can be registered in
 * one epoll instance, and a cancel wakes each connect. After the limit of a connect is removed, the next step does not
 * reuse the descriptor number of that limit. */
static void connects_that_share_a_limit_can_be_registered_in_one_epoll(void) {
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
            CHECK(!epoll_has(epoll, netlib_connect_wait_fd(connects[i], j),
                             (uint32_t)netlib_connect_wait_events(connects[i], j)));
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

    /* The descriptor that reports the end of the limit is read-only, so the application cannot write to it. */
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

static void cancel_and_refuse(void *ctx, const void *address, size_t len, int32_t classes,
                              enum netlib_verdict *verdict) {
    (void)address;
    (void)len;
    (void)classes;
    netlib_limit_cancel(ctx);
    *verdict = NETLIB_VERDICT_REFUSE;
}

/* If the limit is cancelled during a step in which several attempts fail, the step ends. */
static void a_cancel_ends_a_step_in_which_attempts_fail(void) {
    netlib_error *err = NULL;
    int fd = -1;
    const int32_t ports[] = {1, 2, 3};
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, cancel_and_refuse, limit, NULL);
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

int main(void) {
    a_deadline_or_a_cancel_ends_a_race();
    an_event_loop_may_keep_its_epoll_registrations_between_steps();
    connects_that_share_a_limit_can_be_registered_in_one_epoll();
    a_cancel_ends_a_step_in_which_attempts_fail();
    return report("race loop");
}
