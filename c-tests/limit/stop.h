/* Runs each blocking call of a table with every event that must end the call, and with signals that must not end the
 * call. */
#ifndef NETLIB_TEST_STOP_H
#define NETLIB_TEST_STOP_H

#include "socket_peer.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

/* A blocking call, and the functions that prepare, release and check the call. */
struct phase {
    const char *name;
    void (*set_up)(void);
    /* Makes the blocking call with `limit`. If the blocking call has no parameter for a limit, this function first sets
     * `limit` on the handle of the call. */
    netlib_status (*call)(const netlib_limit *limit, netlib_error **err);
    /* Runs on another thread and makes the blocking call succeed. `release` is NULL if the call cannot succeed within a
     * short time. */
    void (*release)(void);
    /* Checks the effect of a successful call. NULL means that there is nothing to check. */
    void (*check)(void);
    void (*tear_down)(void);
    /* True if signals do not interrupt a wait of netlib, because the thread waits in a poll(2) of the test, or for
     * another thread. */
    bool is_not_interrupted;
};

/* SOON is the time in seconds until a deadline passes, and TOLERANCE the time that a busy machine may add. */
#define SOON 0.02
#define TOLERANCE 1.0

static bool prints_times;
/* True after the blocking call has returned. Some `release` functions run until this variable is true. */
static atomic_int call_has_returned;

/* Returns the microseconds between two signals. Under valgrind, signal handlers are too slow for one signal per
 * millisecond. */
static inline long tick_interval_us(void) { return under_valgrind() ? 10000 : 1000; }

static inline void handle_alarms(void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
}

static inline void set_timer(long first_us, long interval_us) {
    struct itimerval timer = {{0, interval_us}, {0, first_us}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static inline void short_pause(void) {
    struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
}

/* Blocks SIGALRM in this thread, so that signals go to the thread that makes the call. */
static inline void block_alarms(void) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
}

/* Returns the number of threads of the process. */
static inline int thread_count(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
    if (tasks != NULL) closedir(tasks);
#ifdef __SANITIZE_THREAD__
    /* ThreadSanitizer's runtime starts a background thread when the program starts its first thread. */
    count -= count > 1;
#endif
    return count;
}

static inline bool first_thread_sleeps(void) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *file = fopen(path, "re");
    if (file == NULL) return true;
    char *read = fgets(line, sizeof line, file);
    fclose(file);
    const char *state = read != NULL ? strrchr(line, ')') : NULL;
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}

static inline void wait_until_alone(void) {
    for (double began = netlib_current_time(); thread_count() > 1;) {
        if (!IN_TIME(began)) {
            CHECK(!"a thread is left");
            return;
        }
        short_pause();
    }
}

static inline void *cancel_when_asleep(void *limit) {
    block_alarms();
    for (double began = netlib_current_time(); !first_thread_sleeps() && IN_TIME(began);) short_pause();
    netlib_limit_cancel(limit);
    return NULL;
}

/* The interrupt check of the limit: what it returns, and how often and on which thread it was called. */
static struct {
    enum netlib_interrupt answer;
    atomic_int calls;
    atomic_bool is_on_other_thread;
    pthread_t waiting;
    bool is_used;
} interrupt;

static inline void check_interrupt(void *ctx, enum netlib_interrupt *decision) {
    (void)ctx;
    interrupt.calls++;
    if (!pthread_equal(interrupt.waiting, pthread_self())) interrupt.is_on_other_thread = true;
    *decision = interrupt.answer;
}

/* Returns a limit without a deadline, whose interrupt check is `check_interrupt`. */
static inline netlib_limit *interruptible_limit(enum netlib_interrupt answer) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    interrupt.answer = answer;
    interrupt.calls = 0;
    interrupt.is_on_other_thread = false;
    interrupt.waiting = pthread_self();
    interrupt.is_used = true;
    CHECK_OK(netlib_limit_new_interruptible(NETLIB_TIMEOUT_NONE, NULL, check_interrupt, NULL, NULL, &limit, &err));
    return limit;
}

static inline void *release_after_ticks(void *phase) {
    block_alarms();
    /* The blocking call must continue while at least 8 signals arrive and interrupt checks run. */
    double began = netlib_current_time();
    while ((ticks < 8 || (interrupt.is_used && interrupt.calls < 2)) && IN_TIME(began)) short_pause();
    ((const struct phase *)phase)->release();
    return NULL;
}

enum stop {
    DEADLINE,
    CANCELLED_BEFORE,
    CANCELLED_BY_THREAD,
    CANCELLED_BY_HANDLER,
    CANCELLED_BY_RESTARTING_HANDLER,
    PARENT_DEADLINE,
    PARENT_CANCELLED_BEFORE,
    PARENT_CANCELLED_BY_THREAD,
    PARENT_CANCELLED_BY_HANDLER,
    TICKS_TO_DEADLINE,
    TICKS_TO_SUCCESS,
    STOPPED_BY_CHECK,
    STOPPED_BY_CHECK_OF_PARENT,
    CHECK_FAILS,
    CHECK_CONTINUES_TO_SUCCESS,
    STOPS
};

static const char *const stop_names[] = {
    "the deadline passes",
    "cancelled before the call",
    "cancelled by a thread",
    "cancelled by a handler",
    "cancelled by a handler with SA_RESTART",
    "the deadline of the parent passes",
    "parent cancelled before the call",
    "parent cancelled by a thread",
    "parent cancelled by a handler",
    "signals until the deadline",
    "signals until the call is released",
    "interrupt check stops the wait",
    "interrupt check of the parent stops the wait",
    "interrupt check fails",
    "interrupt check continues until the call is released",
};

static inline void run_phase(const struct phase *phase, enum stop stop) {
    unsigned long failed_before = checks_failed;
    bool by_time = stop == DEADLINE || stop == PARENT_DEADLINE || stop == TICKS_TO_DEADLINE;
    bool has_parent = stop >= PARENT_DEADLINE && stop <= PARENT_CANCELLED_BY_HANDLER;
    bool by_thread = stop == CANCELLED_BY_THREAD || stop == PARENT_CANCELLED_BY_THREAD;
    bool by_handler =
        stop == CANCELLED_BY_HANDLER || stop == CANCELLED_BY_RESTARTING_HANDLER || stop == PARENT_CANCELLED_BY_HANDLER;
    bool has_check = stop >= STOPPED_BY_CHECK;
    bool by_release = stop == TICKS_TO_SUCCESS || stop == CHECK_CONTINUES_TO_SUCCESS;
    netlib_error *err = NULL;
    pthread_t helper;
    bool has_helper = false;
    long interval = tick_interval_us();
    int descriptors = open_descriptors();
    phase->set_up();
    double seconds = stop == TICKS_TO_DEADLINE  ? 2 * SOON
                     : by_time                  ? SOON
                     : stop == TICKS_TO_SUCCESS ? LONG
                                                : NETLIB_TIMEOUT_NONE;
    ticks = 0;
    call_has_returned = 0;
    double began = netlib_current_time();
    /* Cancels, deadlines and interrupt checks belong to the limit `ending`. The blocking call gets `limit`, which is a
     * clone or a child of `ending`. */
    interrupt.is_used = false;
    netlib_limit *ending = !has_check                           ? limit_of(seconds)
                           : stop == CHECK_CONTINUES_TO_SUCCESS ? interruptible_limit(NETLIB_INTERRUPT_CONTINUE)
                           : stop == CHECK_FAILS                ? interruptible_limit(NETLIB_INTERRUPT_FAILED)
                                                                : interruptible_limit(NETLIB_INTERRUPT_STOP);
    netlib_limit *limit =
        has_parent || stop == STOPPED_BY_CHECK_OF_PARENT ? child_of(ending) : netlib_limit_clone(ending);
    limit_of_handler = ending;
    if (stop == CANCELLED_BEFORE || stop == PARENT_CANCELLED_BEFORE) netlib_limit_cancel(ending);
    if (by_thread) has_helper = pthread_create(&helper, NULL, cancel_when_asleep, ending) == 0;
    if (by_handler) {
        handle_alarms(cancel_in_handler, stop == CANCELLED_BY_RESTARTING_HANDLER ? SA_RESTART : 0);
        set_timer(10000, 0);
    }
    if (stop == TICKS_TO_DEADLINE || stop == TICKS_TO_SUCCESS || has_check) {
        handle_alarms(tick, 0);
        set_timer(interval, interval);
    }
    if (by_release) has_helper = pthread_create(&helper, NULL, release_after_ticks, (void *)(uintptr_t)phase) == 0;
    netlib_status status = phase->call(limit, &err);
    double took = netlib_current_time() - began;
    set_timer(0, 0);
    call_has_returned = 1;
    if (has_helper) CHECK(pthread_join(helper, NULL) == 0);
    netlib_status expected = by_time               ? NETLIB_DEADLINE_EXCEEDED
                             : by_release          ? NETLIB_OK
                             : stop == CHECK_FAILS ? NETLIB_CALLBACK_FAILED
                             : has_check           ? NETLIB_INTERRUPTED
                                                   : NETLIB_CANCELLED;
    CHECK_STATUS(expected, status);
    /* A deadline must end the blocking call within the tolerance. For all other events, a third of LONG is enough. */
    if (by_time) CHECK(took >= seconds && took < seconds + TOLERANCE);
    else CHECK(took < LONG / 3);
    if (stop == TICKS_TO_DEADLINE) CHECK(ticks > 0);
    if (by_release) CHECK(ticks >= 8);
    if (has_check) CHECK(!interrupt.is_on_other_thread);
    if (has_check && !by_release) CHECK_INT(1, interrupt.calls);
    if (has_check && by_release) CHECK(interrupt.calls >= 2);
    if (by_release && phase->check != NULL) phase->check();
    netlib_limit_free(limit);
    netlib_limit_free(ending);
    phase->tear_down();
    CHECK_INT(descriptors, open_descriptors());
    if (prints_times && by_time)
        printf("%-40s %-40s %+.1f ms\n", phase->name, stop_names[stop], (took - seconds) * 1e3);
    if (checks_failed > failed_before)
        fprintf(stderr, "    in %s: %s, after %.3f s\n", phase->name, stop_names[stop], took);
}

/* Runs each blocking call with each event. If the program has an argument, prints the time between the deadline and the
 * return of each call. */
static inline void run_phases(const struct phase *phases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int stop = 0; stop < STOPS; stop++) {
            bool by_release = stop == TICKS_TO_SUCCESS || stop == CHECK_CONTINUES_TO_SUCCESS;
            if (by_release && phases[i].release == NULL) continue;
            if (stop >= STOPPED_BY_CHECK && phases[i].is_not_interrupted) continue;
            run_phase(&phases[i], (enum stop)stop);
        }
    }
}

#endif
