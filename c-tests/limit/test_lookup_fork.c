/* Tests a fork at the moment when the thread of a lookup reports the result. */
#define _GNU_SOURCE
#include "forks.h"
#include "hung_lookups.h"
#include "stop.h"

#include <sys/syscall.h>

static atomic_bool is_armed, is_reporting, has_forked;

/* Replaces write(2), with which the thread of a lookup wakes the waiting thread. If `is_armed` is set, blocks until the
 * fork has finished, but at most 0.2 s, because the fork may wait for this thread. */
ssize_t write(int fd, const void *buf, size_t len) {
    if (atomic_exchange(&is_armed, false)) {
        double began = netlib_current_time();
        is_reporting = true;
        while (!has_forked && netlib_current_time() - began < 0.2) sched_yield();
    }
    return syscall(SYS_write, fd, buf, len);
}

/* The child frees its copy of the connect, which must close all descriptors of the lookup in the child. */
static void freeing_a_connect_in_a_forked_child_closes_its_lookup_descriptors(void) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    int fd = -1;
    int descriptors = open_descriptors();
    CHECK_OK(netlib_connect_new("hung.test", 80, NULL, &connect, &err));
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    wait_until_lookups_hang(1);
    is_armed = true;
    release_lookups();
    for (double began = netlib_current_time(); !is_reporting && netlib_current_time() - began < 10;) sched_yield();
    CHECK(is_reporting);
    struct child child = begin_child();
    if (child.process == 0) {
        netlib_connect_free(connect);
        child.results[0] = open_descriptors();
        end_child();
    }
    has_forked = true;
    join_child(&child);
    CHECK_INT(descriptors, child.results[0]);
    drop_child(&child);
    netlib_connect_free(connect);
    wait_until_alone();
    CHECK_INT(descriptors, open_descriptors());
}

int main(void) {
    freeing_a_connect_in_a_forked_child_closes_its_lookup_descriptors();
    return report("lookup fork");
}
