/* Tests limits: the deadline, netlib_limit_cancel from threads, signal handlers and forked children, and the descriptor
 * for event loops. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static netlib_limit *limit_of(double seconds) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(seconds, NULL, &limit, &err));
    return limit;
}

static void limits_refuse_only_negative_durations_and_nan(void) {
    static const struct {
        double seconds;
        netlib_status made, checked;
    } rows[] = {
        {0.0, NETLIB_OK, NETLIB_DEADLINE_EXCEEDED},
        {-0.0, NETLIB_OK, NETLIB_DEADLINE_EXCEEDED},
        {1e-9, NETLIB_OK, NETLIB_DEADLINE_EXCEEDED},
        {60.0, NETLIB_OK, NETLIB_OK},
        {1e300, NETLIB_OK, NETLIB_OK},
        {NETLIB_TIMEOUT_NONE, NETLIB_OK, NETLIB_OK},
        {NETLIB_TIMEOUT_DEFAULT, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
        {-1e-9, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
        {-INFINITY, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
        {NAN, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_limit *limit = NULL;
        CHECK_STATUS(rows[i].made, netlib_limit_new(rows[i].seconds, NULL, &limit, &err));
        CHECK((limit != NULL) == (rows[i].made == NETLIB_OK));
        if (limit != NULL) CHECK_STATUS(rows[i].checked, netlib_limit_check(limit, &err));
        netlib_limit_free(limit);
    }
}

static void the_remaining_time_never_increases_and_a_cancel_does_not_change_it(void) {
    netlib_limit *limit = limit_of(60.0);
    double before = netlib_limit_remaining(limit);
    double after = netlib_limit_remaining(limit);
    CHECK(before <= 60.0 && before > 50.0);
    CHECK(after <= before);
    netlib_limit_free(limit);

    limit = limit_of(0.0);
    CHECK_DOUBLE(0.0, netlib_limit_remaining(limit));
    netlib_limit_free(limit);

    limit = limit_of(NETLIB_TIMEOUT_NONE);
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_limit_remaining(limit));
    netlib_limit_cancel(limit);
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_limit_remaining(limit));
    netlib_limit_free(limit);
}

static void functions_on_null_limits_return_a_default_or_null_argument(void) {
    netlib_error *err = NULL;
    CHECK(netlib_limit_clone(NULL) == NULL);
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_limit_remaining(NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_limit_check(NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_limit_new(1.0, NULL, NULL, &err));
    netlib_limit_cancel(NULL);
    netlib_limit_free(NULL);
}

static void a_cancel_is_permanent_and_affects_all_clones_of_the_limit(void) {
    netlib_error *err = NULL;
    netlib_limit *limit = limit_of(0.0);
    netlib_limit *clone = netlib_limit_clone(limit);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_limit_check(clone, &err));
    netlib_limit_cancel(limit);
    netlib_limit_free(limit);
    /* A cancel takes precedence over the deadline. */
    CHECK_STATUS(NETLIB_CANCELLED, netlib_limit_check(clone, &err));
    netlib_limit_cancel(clone);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_limit_check(clone, &err));
    netlib_limit_free(clone);
}

/* Waits for input on a pipe without data, so that only the limit can end the wait. */
static netlib_status wait_silently(const netlib_limit *limit) {
    netlib_error *err = NULL;
    int ends[2];
    CHECK(pipe(ends) == 0);
    netlib_status status = netlib_wait_for_read(ends[0], 30.0, limit, &err);
    netlib_error_free(err);
    close(ends[0]);
    close(ends[1]);
    return status;
}

static void *waiter(void *limit) { return (void *)(intptr_t)wait_silently(limit); }

static void one_cancel_wakes_all_waiting_threads(void) {
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    pthread_t threads[8];
    for (size_t i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, waiter, limit) == 0);
    double began = netlib_current_time();
    netlib_limit_cancel(limit);
    for (size_t i = 0; i < 8; i++) {
        void *status = NULL;
        CHECK(pthread_join(threads[i], &status) == 0);
        CHECK_INT(NETLIB_CANCELLED, (intptr_t)status);
    }
    CHECK(netlib_current_time() - began < 10.0);
    netlib_limit_free(limit);
}

static const netlib_limit *limit_of_handler;
static volatile sig_atomic_t handler_kept_errno;

static void cancel_in_handler(int signal_number) {
    (void)signal_number;
    int kept = errno;
    errno = 4711;
    netlib_limit_cancel(limit_of_handler);
    handler_kept_errno = errno == 4711;
    errno = kept;
}

/* A signal handler that cancels the limit must end the wait, whether the signal arrives before, during or after the
 * first poll(2). The 20 delays cover all three cases. */
static void a_cancel_in_a_signal_handler_ends_the_wait(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = cancel_in_handler;
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 20; i++) {
        netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
        limit_of_handler = limit;
        handler_kept_errno = 0;
        timer_t timer;
        struct itimerspec when;
        memset(&when, 0, sizeof when);
        when.it_value.tv_nsec = 1 + i * 100000;
        CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
        CHECK(timer_settime(timer, 0, &when, NULL) == 0);
        CHECK_INT(NETLIB_CANCELLED, wait_silently(limit));
        CHECK(handler_kept_errno);
        timer_delete(timer);
        netlib_limit_free(limit);
    }
}

static void a_wait_ends_at_the_deadline(void) {
    netlib_limit *limit = limit_of(0.05);
    double began = netlib_current_time();
    CHECK_INT(NETLIB_DEADLINE_EXCEEDED, wait_silently(limit));
    double took = netlib_current_time() - began;
    CHECK(took >= 0.04 && took < 10.0);
    CHECK_INT(NETLIB_DEADLINE_EXCEEDED, wait_silently(limit));
    netlib_limit_free(limit);
}

static bool is_readable(int fd) {
    struct pollfd one = {fd, POLLIN, 0};
    CHECK(poll(&one, 1, 0) >= 0);
    CHECK((one.revents & ~POLLIN) == 0);
    return one.revents != 0;
}

static int fd_of(const netlib_limit *limit) {
    netlib_error *err = NULL;
    int fd = 17;
    CHECK_OK(netlib_limit_fd(limit, &fd, &err));
    CHECK(fd >= 0);
    return fd;
}

static void the_descriptor_of_a_limit_becomes_readable_at_a_cancel_and_at_a_deadline(void) {
    for (int row = 0; row < 4; row++) {
        bool passed = row & 1, early = row & 2;
        netlib_limit *limit = limit_of(passed ? 0.0 : NETLIB_TIMEOUT_NONE);
        netlib_limit *clone = netlib_limit_clone(limit);
        if (early) netlib_limit_cancel(limit);
        int fd = fd_of(limit);
        CHECK_INT(early || passed, is_readable(fd));
        if (!passed && !early) CHECK_INT(NETLIB_OK, netlib_limit_check(limit, NULL));
        netlib_limit_free(limit);
        CHECK_INT(fd, fd_of(clone));
        netlib_limit_cancel(clone);
        netlib_limit_cancel(clone);
        CHECK(is_readable(fd));
        CHECK_INT(NETLIB_CANCELLED, wait_silently(clone));
        CHECK(is_readable(fd));
        CHECK_INT(fd, fd_of(clone));
        netlib_limit_free(clone);
        CHECK(fcntl(fd, F_GETFD) < 0);
    }
}

/* Without the deadline of the child or of its parent, the poll would wait for 30 seconds. */
static void a_poll_on_the_descriptor_of_a_limit_ends_at_the_deadline(void) {
    static const double rows[][2] = {{0.02, NETLIB_TIMEOUT_NONE}, {3600.0, 0.02}, {0.02, 3600.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_limit *parent = limit_of(rows[i][0]), *child = NULL;
        CHECK_OK(netlib_limit_new(rows[i][1], parent, &child, &err));
        struct pollfd one = {fd_of(child), POLLIN, 0};
        CHECK_INT(1, poll(&one, 1, 30000));
        CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_limit_check(child, &err));
        CHECK_INT(1, poll(&one, 1, 0));
        netlib_limit_free(parent);
        netlib_limit_free(child);
    }
}

static void a_cancel_wakes_a_poll_on_the_descriptor_of_the_limit(void) {
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = cancel_in_handler;
    sigaction(SIGALRM, &action, NULL);
    limit_of_handler = limit;
    struct pollfd one = {fd_of(limit), POLLIN, 0};
    CHECK_INT(FD_CLOEXEC, fcntl(one.fd, F_GETFD));
    alarm(1);
    while (poll(&one, 1, 30000) < 0) CHECK_INT(EINTR, errno);
    CHECK_INT(POLLIN, one.revents);
    netlib_limit_free(limit);
}

/* A forked child cancels its own copy of the limit. The descriptor of the parent's copy must not become readable. */
static void a_limit_has_its_own_descriptor_in_a_forked_child(void) {
    for (int child_is_cancelled = 0; child_is_cancelled < 2; child_is_cancelled++) {
        netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
        int fd = fd_of(limit), status = -1;
        pid_t child = fork();
        if (child == 0) {
            if (child_is_cancelled) netlib_limit_cancel(limit);
            int own = fd_of(limit);
            _exit(own != fd && is_readable(own) == child_is_cancelled && !is_readable(fd) ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_INT(0, status);
        CHECK(!is_readable(fd));
        netlib_limit_cancel(limit);
        CHECK(is_readable(fd));
        netlib_limit_free(limit);
    }
}

static void limit_fd_fails_without_a_free_descriptor(void) {
    netlib_error *err = NULL;
    int fd = 17;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_limit_fd(NULL, &fd, &err));
    CHECK_INT(-1, fd);
    struct rlimit files, none;
    netlib_limit *limit = limit_of(60.0);
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    none = files;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    fd = 17;
    netlib_status status = netlib_limit_fd(limit, &fd, &err);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    CHECK_INT(EMFILE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    CHECK_INT(-1, fd);
    CHECK(!is_readable(fd_of(limit)));
    netlib_limit_free(limit);
}

int main(void) {
    limits_refuse_only_negative_durations_and_nan();
    the_remaining_time_never_increases_and_a_cancel_does_not_change_it();
    functions_on_null_limits_return_a_default_or_null_argument();
    a_cancel_is_permanent_and_affects_all_clones_of_the_limit();
    one_cancel_wakes_all_waiting_threads();
    a_cancel_in_a_signal_handler_ends_the_wait();
    a_wait_ends_at_the_deadline();
    the_descriptor_of_a_limit_becomes_readable_at_a_cancel_and_at_a_deadline();
    a_poll_on_the_descriptor_of_a_limit_ends_at_the_deadline();
    a_cancel_wakes_a_poll_on_the_descriptor_of_the_limit();
    a_limit_has_its_own_descriptor_in_a_forked_child();
    limit_fd_fails_without_a_free_descriptor();
    return report("limit");
}
