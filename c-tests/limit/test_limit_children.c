/* Tests child limits: deadlines, cancels and descriptors of limits with parents, in one process and after fork(2). */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The maximum number of ancestors of a limit. */
enum { MAX_ANCESTORS = 8 };

static bool is_readable(int fd) {
    struct pollfd one = {fd, POLLIN, 0};
    CHECK(poll(&one, 1, 0) >= 0);
    CHECK((one.revents & ~POLLIN) == 0);
    return one.revents != 0;
}

static int fd_of(const netlib_limit *limit) {
    netlib_error *err = NULL;
    int fd = -1;
    CHECK_OK(netlib_limit_fd(limit, &fd, &err));
    CHECK_INT(FD_CLOEXEC, fcntl(fd, F_GETFD));
    return fd;
}

/* Makes a limit and its descendants: each limit is the parent of the next one. */
static void make_generations(netlib_limit **limits, size_t count) {
    limits[0] = limit_of(NETLIB_TIMEOUT_NONE);
    for (size_t i = 1; i < count; i++) limits[i] = child_of(limits[i - 1]);
}

static void free_limits(netlib_limit **limits, size_t count) {
    for (size_t i = 0; i < count; i++) netlib_limit_free(limits[i]);
}

static void a_child_limit_ends_at_the_earlier_deadline_of_parent_and_child(void) {
    static const struct {
        double parent, child;
        /* The remaining time of the child is at most `most` and more than `least`. */
        double most, least;
        netlib_status checked;
    } rows[] = {
        {60.0, NETLIB_TIMEOUT_NONE, 60.0, 50.0, NETLIB_OK},
        {60.0, 600.0, 60.0, 50.0, NETLIB_OK},
        {600.0, 60.0, 60.0, 50.0, NETLIB_OK},
        {NETLIB_TIMEOUT_NONE, 60.0, 60.0, 50.0, NETLIB_OK},
        {0.0, 60.0, 0.0, -1.0, NETLIB_DEADLINE_EXCEEDED},
        {60.0, 0.0, 0.0, -1.0, NETLIB_DEADLINE_EXCEEDED},
        {NETLIB_TIMEOUT_NONE, NETLIB_TIMEOUT_NONE, NETLIB_TIMEOUT_NONE, 1e300, NETLIB_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_limit *child = NULL, *parent = limit_of(rows[i].parent);
        CHECK_OK(netlib_limit_new(rows[i].child, parent, &child, &err));
        netlib_limit_free(parent);
        double left = netlib_limit_remaining(child);
        CHECK(left <= rows[i].most && left > rows[i].least);
        CHECK_STATUS(rows[i].checked, netlib_limit_check(child, &err));
        netlib_limit_free(child);
    }
}

/* Each of four limits is the parent of the next one. In each turn, the test cancels one of them, before or after it
 * opens the descriptors of all four. */
static void a_cancel_reaches_all_descendants_of_the_limit_and_no_ancestor(void) {
    enum { GENERATIONS = 4 };
    for (size_t cancelled = 0; cancelled < GENERATIONS; cancelled++) {
        for (int fds_are_open = 0; fds_are_open < 2; fds_are_open++) {
            netlib_error *err = NULL;
            netlib_limit *limits[GENERATIONS];
            int fds[GENERATIONS];
            make_generations(limits, GENERATIONS);
            for (size_t i = 0; fds_are_open && i < GENERATIONS; i++) fds[i] = fd_of(limits[i]);
            for (size_t i = 0; fds_are_open && i < GENERATIONS; i++) CHECK(!is_readable(fds[i]));
            netlib_limit_cancel(limits[cancelled]);
            for (size_t i = 0; i < GENERATIONS; i++) {
                CHECK_STATUS(i >= cancelled ? NETLIB_CANCELLED : NETLIB_OK, netlib_limit_check(limits[i], &err));
                if (fds_are_open) CHECK_INT(fds[i], fd_of(limits[i]));
                CHECK_INT(i >= cancelled, is_readable(fd_of(limits[i])));
            }
            free_limits(limits, GENERATIONS);
        }
    }
}

static void a_cancel_of_one_child_limit_does_not_cancel_its_sibling(void) {
    netlib_error *err = NULL;
    netlib_limit *parent = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_limit *one = child_of(parent), *other = child_of(parent);
    int fd = fd_of(other);
    CHECK(fd_of(one) != fd);
    netlib_limit_cancel(one);
    CHECK(!is_readable(fd));
    CHECK_STATUS(NETLIB_OK, netlib_limit_check(other, &err));
    /* A limit that is made after the cancel of its parent is cancelled from the beginning. */
    netlib_limit *late = child_of(one);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_limit_check(late, &err));
    CHECK(is_readable(fd_of(late)));
    netlib_limit_free(late);
    netlib_limit_free(one);
    netlib_limit_free(other);
    netlib_limit_free(parent);
}

static void a_child_of_a_freed_limit_can_be_cancelled_and_leaks_no_descriptor(void) {
    netlib_error *err = NULL;
    int before = open_descriptors();
    netlib_limit *parent = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_limit *clone = netlib_limit_clone(parent);
    netlib_limit *child = child_of(parent);
    netlib_limit_free(parent);
    int fd = fd_of(child);
    netlib_limit_cancel(clone);
    netlib_limit_free(clone);
    CHECK(is_readable(fd));
    CHECK_STATUS(NETLIB_CANCELLED, netlib_limit_check(child, &err));
    netlib_limit_free(child);
    CHECK_INT(before, open_descriptors());
}

static void a_limit_has_at_most_8_ancestors(void) {
    netlib_error *err = NULL;
    netlib_limit *limits[MAX_ANCESTORS + 1], *ninth = (netlib_limit *)limits;
    make_generations(limits, MAX_ANCESTORS + 1);
    netlib_status status = netlib_limit_new(1.0, limits[MAX_ANCESTORS], &ninth, &err);
    CHECK_STR("parent already has 8 ancestors, the maximum for a limit", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    CHECK(ninth == NULL);
    int fd = fd_of(limits[MAX_ANCESTORS]);
    CHECK(!is_readable(fd));
    netlib_limit_cancel(limits[0]);
    CHECK(is_readable(fd));
    free_limits(limits, MAX_ANCESTORS + 1);
}

/* An event loop may watch the descriptor with an epoll instance that another epoll instance watches. */
static void the_descriptor_of_a_child_limit_wakes_nested_epoll_instances(void) {
    netlib_limit *limits[3];
    make_generations(limits, 3);
    int inner = epoll_create1(EPOLL_CLOEXEC), outer = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    CHECK(epoll_ctl(inner, EPOLL_CTL_ADD, fd_of(limits[2]), &event) == 0);
    CHECK(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event) == 0);
    CHECK_INT(0, epoll_wait(outer, &event, 1, 0));
    netlib_limit_cancel(limits[0]);
    CHECK_INT(1, epoll_wait(outer, &event, 1, 0));
    CHECK_INT(1, epoll_wait(inner, &event, 1, 0));
    close(outer);
    close(inner);
    free_limits(limits, 3);
}

/* Cancels the copy of the parent limit in a forked child process. */
static void a_cancel_in_a_forked_child_does_not_reach_limits_of_the_parent_process(void) {
    for (int has_fd = 0; has_fd < 2; has_fd++) {
        netlib_error *err = NULL;
        int status = -1;
        netlib_limit *parent = limit_of(NETLIB_TIMEOUT_NONE), *child = child_of(parent);
        int fd = has_fd ? fd_of(child) : -1;
        pid_t process = fork();
        if (process == 0) {
            int own = fd_of(child);
            bool was_readable = is_readable(own);
            netlib_limit_cancel(parent);
            bool ended = netlib_limit_check(child, NULL) == NETLIB_CANCELLED && is_readable(own);
            netlib_limit_free(child);
            netlib_limit_free(parent);
            _exit(own != fd && !was_readable && ended ? 0 : 1);
        }
        CHECK(waitpid(process, &status, 0) == process);
        CHECK_INT(0, status);
        CHECK_STATUS(NETLIB_OK, netlib_limit_check(child, &err));
        CHECK(!is_readable(fd_of(child)));
        netlib_limit_cancel(parent);
        CHECK(is_readable(fd_of(child)));
        netlib_limit_free(child);
        netlib_limit_free(parent);
    }
}

/* For a child limit, netlib_limit_fd opens three descriptors: one of the child, one of its parent, and the returned
 * descriptor, which reports a cancel of either limit. */
static void limit_fd_of_a_child_limit_fails_without_three_free_descriptors(void) {
    netlib_error *err = NULL;
    struct rlimit files, none;
    netlib_limit *parent = limit_of(60.0), *child = child_of(parent);
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    for (int room = 0; room < 3; room++) {
        int next = dup(0), fd = 17;
        close(next);
        none = files;
        none.rlim_cur = (rlim_t)(next + room);
        CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
        netlib_status status = netlib_limit_fd(child, &fd, &err);
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
        CHECK_INT(EMFILE, netlib_error_errno(err));
        CHECK_STATUS(NETLIB_IO, status);
        CHECK_INT(-1, fd);
        /* Closes the descriptors that the failed call has opened. */
        netlib_limit_free(child);
        netlib_limit_free(parent);
        parent = limit_of(60.0);
        child = child_of(parent);
    }
    CHECK(!is_readable(fd_of(child)));
    netlib_limit_free(child);
    netlib_limit_free(parent);
}

static void *wait_for_a_silent_descriptor(void *limit) {
    netlib_error *err = NULL;
    int ends[2];
    CHECK(pipe(ends) == 0);
    netlib_status status = netlib_wait_for_read(ends[0], LONG, limit, &err);
    netlib_error_free(err);
    close(ends[0]);
    close(ends[1]);
    return (void *)(intptr_t)status;
}

/* Makes child limits, each of which ends one wait and is freed, until the parent limit is cancelled. */
static void *make_children_until_cancelled(void *parent) {
    intptr_t status = NETLIB_OK;
    while (status != NETLIB_CANCELLED) {
        netlib_error *err = NULL;
        netlib_limit *child = NULL;
        CHECK_OK(netlib_limit_new(0.001, parent, &child, &err));
        status = (intptr_t)wait_for_a_silent_descriptor(child);
        netlib_limit_free(child);
    }
    return NULL;
}

static void one_cancel_of_a_parent_limit_wakes_the_waits_on_all_child_limits(void) {
    netlib_limit *parent = limit_of(NETLIB_TIMEOUT_NONE), *children[8];
    pthread_t waiting[8], making[8];
    for (size_t i = 0; i < 8; i++) {
        children[i] = child_of(parent);
        CHECK(pthread_create(&waiting[i], NULL, wait_for_a_silent_descriptor, children[i]) == 0);
        CHECK(pthread_create(&making[i], NULL, make_children_until_cancelled, parent) == 0);
    }
    double began = netlib_current_time();
    netlib_limit_cancel(parent);
    for (size_t i = 0; i < 8; i++) {
        void *status = NULL;
        CHECK(pthread_join(waiting[i], &status) == 0);
        CHECK_INT(NETLIB_CANCELLED, (intptr_t)status);
        CHECK(pthread_join(making[i], NULL) == 0);
    }
    CHECK(IN_TIME(began));
    free_limits(children, 8);
    netlib_limit_free(parent);
}

int main(void) {
    a_child_limit_ends_at_the_earlier_deadline_of_parent_and_child();
    a_cancel_reaches_all_descendants_of_the_limit_and_no_ancestor();
    a_cancel_of_one_child_limit_does_not_cancel_its_sibling();
    a_child_of_a_freed_limit_can_be_cancelled_and_leaks_no_descriptor();
    a_limit_has_at_most_8_ancestors();
    the_descriptor_of_a_child_limit_wakes_nested_epoll_instances();
    a_cancel_in_a_forked_child_does_not_reach_limits_of_the_parent_process();
    limit_fd_of_a_child_limit_fails_without_three_free_descriptors();
    one_cancel_of_a_parent_limit_wakes_the_waits_on_all_child_limits();
    return report("limit children");
}
