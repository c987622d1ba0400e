/* Forks a child process in the middle of a test. The child reports its results to the parent. */
#ifndef NETLIB_TEST_FORKS_H
#define NETLIB_TEST_FORKS_H

#include "harness.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t process; /* 0 in the child */
    /* The results of the child, in memory that both processes share. */
    volatile netlib_status *results;
};

/* A child that hangs is killed after this many seconds, and the test fails. */
enum { RESULTS = 8, CHILD_SECONDS = 20 };

static inline struct child begin_child(void) {
    void *memory =
        mmap(NULL, RESULTS * sizeof(netlib_status), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    struct child child = {0, memory};
    for (int i = 0; i < RESULTS; i++) child.results[i] = -1;
    child.process = fork();
    if (child.process < 0) abort();
    if (child.process == 0) alarm(CHILD_SECONDS);
    return child;
}

/* Ends the child by executing another program. If the child called exit(3), valgrind would report the memory of the
 * parent's threads and handles as leaks of the child. */
static inline void end_child(void) {
    execlp("true", "true", (char *)NULL);
    abort();
}

static inline void join_child(const struct child *child) {
    int status = -1;
    CHECK(waitpid(child->process, &status, 0) == child->process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline void drop_child(const struct child *child) {
    munmap((void *)(uintptr_t)child->results, RESULTS * sizeof(netlib_status));
}

#endif
