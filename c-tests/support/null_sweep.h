/* Runs each call of the NULL sweep in a child process, so that a crash or a hang makes only one case fail. */
#ifndef NETLIB_TEST_NULL_SWEEP_H
#define NETLIB_TEST_NULL_SWEEP_H

#include <netlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call that takes longer than this number of seconds counts as hanging. */
#ifndef SWEEP_SECONDS
#define SWEEP_SECONDS 20
#endif

/* The exit status of a passed case. The status is not 0, because a child whose thread is cancelled ends with status
 * 0. */
#define SWEEP_PASSED 42

struct sweep_case {
    const char *what;
    void (*call)(void);
};

static const char *sweep_current;
static int sweep_failures;

static inline void expect(bool ok, const char *what) {
    if (ok) return;
    sweep_failures++;
    fprintf(stderr, "%s: failed: %s\n", sweep_current, what);
}

static inline void expect_text(bool ok, const char *what, netlib_status status, const netlib_error *err) {
    if (ok) return;
    const char *message = netlib_error_message(err, NULL);
    sweep_failures++;
    fprintf(stderr, "%s: failed: %s; it returned %s: %s\n", sweep_current, what, netlib_status_name(status),
            message != NULL ? message : "(no message)");
}

/* Checks that the status is NETLIB_NULL_ARGUMENT, and that the message names the parameter and, for options, the
 * setter. */
static inline void expect_refused(netlib_status status, const netlib_error *err, const char *param,
                                  const char *setter) {
    expect_text(status == NETLIB_NULL_ARGUMENT, "NETLIB_NULL_ARGUMENT is returned", status, err);
    const char *message = netlib_error_message(err, NULL);
    bool named = message != NULL && strstr(message, param) != NULL && strstr(message, setter) != NULL;
    expect_text(named, "the message names the parameter", status, err);
}

/* Checks that the status is neither NETLIB_NULL_ARGUMENT nor NETLIB_INTERNAL. */
static inline void expect_accepted(netlib_status status, const netlib_error *err) {
    expect_text(status != NETLIB_NULL_ARGUMENT && status != NETLIB_INTERNAL, "NULL is accepted", status, err);
}

/* Checks that the call with valid arguments returns the expected status. If this call failed, the result of a call with
 * one NULL argument would prove nothing. */
static inline void expect_valid(netlib_status status, const netlib_error *err, netlib_status expected) {
    bool progress = expected == NETLIB_OK && netlib_status_class(status) == NETLIB_CLASS_PROGRESS;
    expect_text(status == expected || progress, "the arguments are valid", status, err);
}

/* Cancels the calling thread, which ends at its next cancellation point. */
static inline void begin_canceled(void) { pthread_cancel(pthread_self()); }

static inline void end_canceled(void) {
    int state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    expect(state == PTHREAD_CANCEL_ENABLE, "the thread can be canceled again");
}

/* Runs one case in a child process. Returns true if the case passed. */
static inline bool sweep_one(const struct sweep_case *one) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SWEEP_SECONDS);
        sweep_current = one->what;
        one->call();
        fflush(NULL);
        _exit(sweep_failures == 0 ? SWEEP_PASSED : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fprintf(stderr, "%s: failed: no child process\n", one->what);
        return false;
    }
    if (WIFSIGNALED(status)) {
        bool hung = WTERMSIG(status) == SIGALRM;
        fprintf(stderr, "%s: failed: it %s (signal %d)\n", one->what, hung ? "hangs" : "crashes", WTERMSIG(status));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) fprintf(stderr, "%s: failed: it is canceled\n", one->what);
    return WIFEXITED(status) && WEXITSTATUS(status) == SWEEP_PASSED;
}

static inline int sweep(const struct sweep_case *cases, size_t count) {
    unsigned long passed = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (sweep_one(&cases[i])) {
            passed++;
        } else {
            failed++;
        }
    }
    printf("nulls: %lu passed, %lu failed\n", passed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
