/* Limits: deadline, trigger, and what may pull it. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static netlib_limit *limit_of(double seconds) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(seconds, &limit, &err));
    return limit;
}

static void which_seconds_are_allowed(void) {
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
        CHECK_STATUS(rows[i].made, netlib_limit_new(rows[i].seconds, &limit, &err));
        CHECK((limit != NULL) == (rows[i].made == NETLIB_OK));
        if (limit != NULL) CHECK_STATUS(rows[i].checked, netlib_limit_check(limit, &err));
        netlib_limit_free(limit);
    }
}

static void time_left(void) {
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

static void null_limits(void) {
    netlib_error *err = NULL;
    CHECK(netlib_limit_clone(NULL) == NULL);
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_limit_remaining(NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_limit_check(NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_limit_new(1.0, NULL, &err));
    netlib_limit_cancel(NULL);
    netlib_limit_free(NULL);
}

static void a_cancel_is_for_all_clones_and_for_good(void) {
    netlib_error *err = NULL;
    netlib_limit *limit = limit_of(0.0);
    netlib_limit *clone = netlib_limit_clone(limit);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_limit_check(clone, &err));
    netlib_limit_cancel(limit);
    netlib_limit_free(limit);
    /* Cancelling wins over the deadline. */
    CHECK_STATUS(NETLIB_CANCELLED, netlib_limit_check(clone, &err));
    netlib_limit_cancel(clone);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_limit_check(clone, &err));
    netlib_limit_free(clone);
}

/* Waits on a pipe that stays silent; the limit alone can end it. */
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

static void *waiter(void *limit) {
    return (void *)(intptr_t)wait_silently(limit);
}

static void one_cancel_wakes_many_threads(void) {
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
    errno = 4711;
    netlib_limit_cancel(limit_of_handler);
    handler_kept_errno = errno == 4711;
}

/* Whether the signal comes before, during or after the first poll, the wait must end: all are tried. */
static void a_signal_handler_may_cancel(void) {
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

static void the_deadline_ends_a_wait(void) {
    netlib_limit *limit = limit_of(0.05);
    double began = netlib_current_time();
    CHECK_INT(NETLIB_DEADLINE_EXCEEDED, wait_silently(limit));
    double took = netlib_current_time() - began;
    CHECK(took >= 0.04 && took < 10.0);
    CHECK_INT(NETLIB_DEADLINE_EXCEEDED, wait_silently(limit));
    netlib_limit_free(limit);
}

int main(void) {
    which_seconds_are_allowed();
    time_left();
    null_limits();
    a_cancel_is_for_all_clones_and_for_good();
    one_cancel_wakes_many_threads();
    a_signal_handler_may_cancel();
    the_deadline_ends_a_wait();
    return report("limit");
}
