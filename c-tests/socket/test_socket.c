/* Tests waiting for descriptors, the check for dropped connections, and the clock. */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

/* ---- waiting ---- */

static void a_wait_succeeds_if_the_socket_is_ready_and_times_out_otherwise(void) {
    netlib_error *err = NULL;
    int ends[2];
    connected_pair(ends);
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], 0.0, NULL, &err));
    CHECK_OK(netlib_wait_for_write(ends[0], 0.0, NULL, &err));
    CHECK_INT(1, write(ends[1], "x", 1));
    CHECK_OK(netlib_wait_for_read(ends[0], 0.0, NULL, &err));
    CHECK_OK(netlib_wait_for_read(ends[0], NETLIB_TIMEOUT_NONE, NULL, &err));
    CHECK_OK(netlib_wait_for_read(ends[0], NETLIB_TIMEOUT_DEFAULT, NULL, &err));
    CHECK_OK(netlib_wait_for_read(ends[0], 1e300, NULL, &err));

    char byte;
    CHECK_INT(1, read(ends[0], &byte, 1));
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], 0.001, NULL, &err));
    /* A socket with a full send buffer is not writable. */
    static char block[65536];
    while (send(ends[0], block, sizeof block, MSG_DONTWAIT) > 0) {}
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_write(ends[0], 0.001, NULL, &err));
    /* A socket whose peer has closed the connection is readable and writable. */
    close(ends[1]);
    CHECK_OK(netlib_wait_for_read(ends[0], LONG, NULL, &err));
    CHECK_OK(netlib_wait_for_write(ends[0], LONG, NULL, &err));
    close(ends[0]);

    /* An unconnected socket is readable and writable. */
    int unconnected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(netlib_wait_for_read(unconnected, 0.0, NULL, &err));
    CHECK_OK(netlib_wait_for_write(unconnected, 0.0, NULL, &err));
    close(unconnected);
}

static void waits_refuse_negative_timeouts_and_nan(void) {
    static const double refused[] = {-2.0, -0.5, -1e-9, -INFINITY, NAN};
    int ends[2];
    connected_pair(ends);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        netlib_error *err = NULL;
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_wait_for_read(ends[0], refused[i], NULL, &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_wait_for_write(ends[0], refused[i], NULL, &err));
    }
    close(ends[0]);
    close(ends[1]);
}

static void waits_on_closed_descriptors_fail_with_ebadf(void) {
    int ends[2];
    connected_pair(ends);
    close(ends[0]);
    close(ends[1]);
    const int closed[] = {ends[0], -1, NETLIB_FD_MANAGED, INT32_MIN};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        netlib_error *err = NULL;
        netlib_status status = netlib_wait_for_read(closed[i], LONG, NULL, &err);
        CHECK_INT(EBADF, netlib_error_errno(err));
        CHECK_STATUS(NETLIB_IO, status);
        CHECK_STATUS(NETLIB_IO, netlib_wait_for_write(closed[i], LONG, NULL, &err));
    }
}

static void waits_accept_descriptors_above_1023(void) {
    netlib_error *err = NULL;
    int ends[2];
    connected_pair(ends);
    int high = fcntl(ends[0], F_DUPFD_CLOEXEC, 1500);
    if (high < 0) {
        struct rlimit files;
        CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
        files.rlim_cur = files.rlim_max;
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
        high = fcntl(ends[0], F_DUPFD_CLOEXEC, 1500);
    }
    CHECK(high >= 1500);
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(high, 0.0, NULL, &err));
    CHECK_INT(1, write(ends[1], "x", 1));
    CHECK_OK(netlib_wait_for_read(high, LONG, NULL, &err));
    close(high);
    close(ends[0]);
    close(ends[1]);
}

/* A signal every millisecond neither shortens nor lengthens a wait. */
static void waits_continue_after_signals(void) {
    netlib_error *err = NULL;
    int ends[2];
    connected_pair(ends);
    netlib_limit *limit = limit_of(LONG);
    start_ticking();
    double began = netlib_current_time();
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], 0.1, NULL, &err));
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], 0.1, limit, &err));
    CHECK(netlib_current_time() - began >= 0.2);
    CHECK(IN_TIME(began));
    CHECK(ticks > 0);
    stop_ticking();
    netlib_limit_free(limit);
    close(ends[0]);
    close(ends[1]);
}

static void a_wait_ends_at_the_earlier_of_timeout_and_deadline(void) {
    netlib_error *err = NULL;
    int ends[2];
    connected_pair(ends);
    netlib_limit *ended = limit_of(0.0);
    netlib_limit *lasting = limit_of(LONG);
    netlib_limit *short_limit = limit_of(0.02);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_wait_for_write(ends[0], LONG, ended, &err));
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], 0.02, lasting, &err));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_wait_for_read(ends[0], LONG, short_limit, &err));
    CHECK_OK(netlib_wait_for_write(ends[0], LONG, lasting, &err));
    netlib_limit_cancel(lasting);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_wait_for_write(ends[0], LONG, lasting, &err));
    netlib_limit_free(ended);
    netlib_limit_free(lasting);
    netlib_limit_free(short_limit);
    close(ends[0]);
    close(ends[1]);
}

/* A signal handler that interrupts the wait cancels the limit. */
static void a_cancel_in_the_handler_that_interrupts_a_wait_ends_the_wait(void) {
    netlib_error *err = NULL;
    int ends[2];
    connected_pair(ends);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    cancel_by_signal(limit);
    double began = netlib_current_time();
    CHECK_STATUS(NETLIB_CANCELLED, netlib_wait_for_read(ends[0], LONG, limit, &err));
    CHECK(IN_TIME(began));
    netlib_limit_free(limit);
    close(ends[0]);
    close(ends[1]);
}

/* ---- is_connection_dropped ---- */

static void closed_or_readable_connections_count_as_dropped(void) {
    netlib_error *err = NULL;
    int32_t dropped = 1;
    int ends[2];
    connected_pair(ends);
    CHECK_OK(netlib_is_connection_dropped(ends[0], &dropped, &err));
    CHECK(!dropped);
    CHECK_INT(1, write(ends[1], "x", 1));
    CHECK_OK(netlib_is_connection_dropped(ends[0], &dropped, &err));
    CHECK(dropped);
    close(ends[1]);
    char byte;
    CHECK_INT(1, read(ends[0], &byte, 1));
    CHECK_OK(netlib_is_connection_dropped(ends[0], &dropped, &err));
    CHECK(dropped);
    close(ends[0]);

    const struct {
        int fd;
        bool dropped;
    } rows[] = {{NETLIB_FD_MANAGED, false}, {-1, true}, {-3, true}, {INT32_MIN, true}, {ends[0], true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_OK(netlib_is_connection_dropped(rows[i].fd, &dropped, &err));
        CHECK_INT(rows[i].dropped, dropped);
    }
}

/* ---- connecting ---- */

static void current_time_returns_the_value_of_the_monotonic_clock(void) {
    struct timespec now;
    double before = netlib_current_time();
    clock_gettime(CLOCK_MONOTONIC, &now);
    double after = netlib_current_time();
    double between = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    CHECK(before <= between && between <= after);
}

int main(void) {
    a_wait_succeeds_if_the_socket_is_ready_and_times_out_otherwise();
    waits_refuse_negative_timeouts_and_nan();
    waits_on_closed_descriptors_fail_with_ebadf();
    waits_accept_descriptors_above_1023();
    waits_continue_after_signals();
    a_wait_ends_at_the_earlier_of_timeout_and_deadline();
    a_cancel_in_the_handler_that_interrupts_a_wait_ends_the_wait();
    closed_or_readable_connections_count_as_dropped();
    current_time_returns_the_value_of_the_monotonic_clock();
    return report("socket");
}
