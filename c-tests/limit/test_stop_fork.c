/* Tests limits after a fork. Parent and child have separate copies of a limit, and a cancel of one copy does not affect
 * the other copy. */
#define _GNU_SOURCE
#include "forks.h"
#include "hung_lookups.h"
#include "retry_makers.h"
#include "stop.h"

#include <errno.h>

/* The duration of a short wait in seconds. Only a call that waits opens the limit's descriptor; netlib_limit_check does
 * not. */
#define SHORT_WAIT 0.001

static netlib_status wait_for(int fd, double seconds, const netlib_limit *limit) {
    netlib_error *err = NULL;
    netlib_status status = netlib_wait_for_read(fd, seconds, limit, &err);
    netlib_error_free(err);
    return status;
}

/* Waits until a signal handler cancels the limit. Returns the status of the wait. */
static netlib_status cancelled_wait(int fd, const netlib_limit *limit) {
    limit_of_handler = limit;
    handle_alarms(cancel_in_handler, SA_RESTART);
    set_timer(5000, 0);
    netlib_status status = wait_for(fd, LONG, limit);
    set_timer(0, 0);
    return status;
}

struct waiting {
    int fd;
    const netlib_limit *limit;
    netlib_status status;
};

static void *wait_in_thread(void *waiting) {
    block_alarms();
    struct waiting *w = waiting;
    w->status = wait_for(w->fd, LONG, w->limit);
    return NULL;
}

/* The child inherits the limit's descriptor if the parent waited before the fork. If the parent did not wait, the first
 * waiting call of the child opens the descriptor. */
static void cancelling_a_limit_affects_only_the_calling_process(void) {
    for (int row = 0; row < 16; row++) {
        bool parent_waited = row & 1, child_waits = row & 2, child_cancels = row & 4, in_grandchild = row & 8;
        unsigned long failed_before = checks_failed;
        netlib_error *err = NULL;
        int ends[2];
        connected_pair(ends);
        int descriptors = open_descriptors();
        netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
        if (parent_waited) CHECK_INT(NETLIB_TIMED_OUT, wait_for(ends[0], SHORT_WAIT, limit));
        struct child child = begin_child();
        if (child.process == 0) {
            if (in_grandchild) {
                /* If `child_waits` is set, the child, which is the parent of the grandchild, waits and so opens a
                 * descriptor for its copy of the limit. */
                if (child_waits) child.results[3] = wait_for(ends[0], SHORT_WAIT, limit);
                pid_t grandchild = fork();
                if (grandchild > 0) waitpid(grandchild, NULL, 0);
                if (grandchild != 0) {
                    child.results[4] = wait_for(ends[0], SHORT_WAIT, limit);
                    child.results[5] = netlib_limit_check(limit, NULL);
                    end_child();
                }
            }
            if (child_waits) child.results[0] = wait_for(ends[0], SHORT_WAIT, limit);
            if (child_cancels) {
                netlib_limit_cancel(limit);
                child.results[1] = wait_for(ends[0], LONG, limit);
            } else {
                child.results[1] = cancelled_wait(ends[0], limit);
            }
            child.results[2] = netlib_limit_check(limit, NULL);
            end_child();
        }
        join_child(&child);
        CHECK_INT(child_waits ? NETLIB_TIMED_OUT : -1, child.results[0]);
        CHECK_INT(NETLIB_CANCELLED, child.results[1]);
        CHECK_INT(NETLIB_CANCELLED, child.results[2]);
        if (in_grandchild) {
            CHECK_INT(child_waits ? NETLIB_TIMED_OUT : -1, child.results[3]);
            CHECK_INT(NETLIB_TIMED_OUT, child.results[4]);
            CHECK_INT(NETLIB_OK, child.results[5]);
        }
        drop_child(&child);
        /* The cancels in the child and grandchild do not affect the parent. */
        CHECK_OK(netlib_limit_check(limit, &err));
        CHECK_INT(NETLIB_TIMED_OUT, wait_for(ends[0], SHORT_WAIT, limit));
        CHECK_INT(NETLIB_CANCELLED, cancelled_wait(ends[0], limit));
        netlib_limit_free(limit);
        CHECK_INT(descriptors, open_descriptors());
        close(ends[0]);
        close(ends[1]);
        if (checks_failed > failed_before) fprintf(stderr, "    in row %d\n", row);
    }
}

/* The parent cancels its copy of the limit while the child waits. Then the child cancels its own copy. */
static void a_cancel_wakes_only_waits_of_the_same_process(void) {
    int ends[2], turn[2];
    connected_pair(ends);
    connected_pair(turn);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    CHECK_INT(NETLIB_TIMED_OUT, wait_for(ends[0], SHORT_WAIT, limit));
    struct waiting waiting = {ends[0], limit, NETLIB_OK};
    struct child child = begin_child();
    pthread_t thread;
    char byte;
    if (child.process == 0) {
        if (pthread_create(&thread, NULL, wait_in_thread, &waiting) != 0) abort();
        /* The parent sends this byte after it has cancelled its copy of the limit. The child's copy must not be
         * cancelled. */
        if (read(turn[1], &byte, 1) != 1) abort();
        child.results[0] = netlib_limit_check(limit, NULL);
        child.results[1] = wait_for(ends[0], 0.005, limit);
        netlib_limit_cancel(limit);
        pthread_join(thread, NULL);
        child.results[2] = waiting.status;
        end_child();
    }
    CHECK(pthread_create(&thread, NULL, wait_in_thread, &waiting) == 0);
    netlib_limit_cancel(limit);
    CHECK(write(turn[0], "x", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(NETLIB_CANCELLED, waiting.status);
    join_child(&child);
    CHECK_INT(NETLIB_OK, child.results[0]);
    CHECK_INT(NETLIB_TIMED_OUT, child.results[1]);
    CHECK_INT(NETLIB_CANCELLED, child.results[2]);
    drop_child(&child);
    netlib_limit_free(limit);
    close(ends[0]);
    close(ends[1]);
    close(turn[0]);
    close(turn[1]);
}

/* If a limit is cancelled before the fork, the copies in parent and child are both cancelled. */
static void a_limit_cancelled_before_a_fork_is_cancelled_in_both_processes(void) {
    int ends[2];
    connected_pair(ends);
    for (int waited = 0; waited < 2; waited++) {
        netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
        if (waited) CHECK_INT(NETLIB_TIMED_OUT, wait_for(ends[0], SHORT_WAIT, limit));
        netlib_limit_cancel(limit);
        struct child child = begin_child();
        if (child.process == 0) {
            child.results[0] = wait_for(ends[0], LONG, limit);
            end_child();
        }
        CHECK_INT(NETLIB_CANCELLED, wait_for(ends[0], LONG, limit));
        join_child(&child);
        CHECK_INT(NETLIB_CANCELLED, child.results[0]);
        drop_child(&child);
        netlib_limit_free(limit);
    }
    close(ends[0]);
    close(ends[1]);
}

/* The child continues a race that the parent started. A cancel in the child ends the race, because the child opens a
 * descriptor for its copy of the limit. */
static void a_cancel_in_a_forked_child_ends_an_inherited_connection_attempt(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1, fd = -1;
    int server = silent_listener(&port, &filler);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new("127.0.0.1", port, NULL, &connect, &err));
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    struct child child = begin_child();
    if (child.process == 0) {
        limit_of_handler = limit;
        handle_alarms(cancel_in_handler, 0);
        set_timer(5000, 0);
        child.results[0] = netlib_connect_run(connect, NULL, &fd, NULL);
        end_child();
    }
    join_child(&child);
    CHECK_INT(NETLIB_CANCELLED, child.results[0]);
    drop_child(&child);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    close(filler);
    close(server);
}

/* The thread of a lookup exists only in the parent, but parent and child share the descriptor that reports the result.
 * Therefore a child that continues the connect starts its own lookup with its own descriptor. */
static void a_forked_child_repeats_the_lookup_of_its_parent(void) {
    netlib_error *err = NULL;
    static const char *const sources[] = {NULL, "hung.test"};
    for (size_t source = 0; source < 2; source++) {
        for (int answered = 0; answered < 2; answered++) {
            make_lookups_hang();
            int32_t port = 0;
            int server = listener(&port), fd = -1;
            netlib_connect_options *options = netlib_connect_options_new();
            if (sources[source] != NULL) netlib_connect_options_set_source_address(options, sources[source], 0);
            netlib_connect *connect = NULL;
            CHECK_OK(netlib_connect_new("hung.test", port, options, &connect, &err));
            CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
            int ready = netlib_connect_wait_fd(connect, 0);
            if (answered) { /* the parent has the result before the child checks */
                release_lookups();
                CHECK_OK(netlib_wait_for_read(ready, LONG, NULL, &err));
            }
            struct child child = begin_child();
            if (child.process == 0) {
                release_lookups();
                netlib_limit *limit = limit_of(10);
                child.results[0] = netlib_connect_step(connect, &fd, NULL);
                child.results[1] = netlib_connect_wait_fd(connect, 0) != ready;
                child.results[2] = netlib_connect_run(connect, limit, &fd, NULL);
                child.results[3] = netlib_connect_attempt_status(connect, 0);
                netlib_connect_free(connect);
                end_child();
            }
            join_child(&child);
            CHECK_INT(NETLIB_WANT_WRITE, child.results[0]);
            CHECK_INT(1, child.results[1]);
            CHECK_INT(NETLIB_OK, child.results[2]);
            CHECK_INT(NETLIB_OK, child.results[3]);
            drop_child(&child);
            release_lookups();
            CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
            close(fd);
            netlib_connect_free(connect);
            netlib_connect_options_free(options);
            close(server);
        }
    }
}

/* The application writes to the limit's own descriptor, or to the descriptor of a lookup that an event loop polls. The
 * waiting calls must fail with an error, and must not poll in an endless loop. */
static void waits_fail_if_the_application_writes_to_a_netlib_descriptor(void) {
    netlib_error *err = NULL;
    char text[200];
    int ends[2], fd = -1;
    int32_t port = 0;
    int filler = -1, server = silent_listener(&port, &filler);
    connected_pair(ends);
    /* The application cannot write to the descriptor of a limit with a deadline. */
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new("127.0.0.1", port, NULL, &connect, &err));
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    uint64_t one = 1;
    /* The descriptor that netlib_connect_wait_fd returns for event loops becomes readable when the limit's own
     * descriptor becomes readable. The application cannot write to the descriptor for event loops. */
    int pollable = netlib_connect_wait_fd(connect, netlib_connect_wait_count(connect) - 1);
    CHECK(write(pollable, &one, sizeof one) == -1);
    int own = -1;
    CHECK_OK(netlib_limit_fd(limit, &own, &err));
    CHECK(write(own, &one, sizeof one) == sizeof one);
    netlib_status status = netlib_wait_for_read(ends[0], LONG, limit, &err);
    CHECK_STR("the application closed the limit's own descriptor or wrote to it", netlib_error_message(err, NULL));
    CHECK_INT(EBADF, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_factor(options, 5);
    for (int i = 0; i < 2; i++) netlib_retry_options_add_history(options, "GET", "/", NULL, 500, NULL);
    netlib_retry *retry = retry_of(options);
    CHECK_STATUS(NETLIB_IO, netlib_retry_sleep(retry, NULL, limit, &err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
    /* Later calls of netlib_connect_step return the same failure. */
    CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(NETLIB_CONNECT_FAILED, netlib_connect_attempt_status(connect, 0));
    netlib_connect_free(connect);
    make_lookups_hang();
    CHECK_OK(netlib_connect_new("hung.test", port, NULL, &connect, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK(write(netlib_connect_wait_fd(connect, 0), &one, sizeof one) == sizeof one);
    netlib_limit *one_second = limit_of(1);
    CHECK_INT(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, one_second, &fd, &err));
    snprintf(text, sizeof text,
             "cannot connect to hung.test port %d: the application closed a descriptor of the connection attempt or "
             "wrote to it",
             port);
    CHECK_STR(text, netlib_error_message(err, NULL));
    CHECK_INT(EBADF, netlib_error_errno(err));
    netlib_error_free(err);
    netlib_limit_free(one_second);
    release_lookups();
    netlib_retry_free(retry);
    netlib_connect_free(connect);
    netlib_limit_free(limit);
    close(ends[0]);
    close(ends[1]);
    close(filler);
    close(server);
}

int main(void) {
    cancelling_a_limit_affects_only_the_calling_process();
    a_cancel_wakes_only_waits_of_the_same_process();
    a_limit_cancelled_before_a_fork_is_cancelled_in_both_processes();
    a_cancel_in_a_forked_child_ends_an_inherited_connection_attempt();
    a_forked_child_repeats_the_lookup_of_its_parent();
    waits_fail_if_the_application_writes_to_a_netlib_descriptor();
    return report("stop fork");
}
