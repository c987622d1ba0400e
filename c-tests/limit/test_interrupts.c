/* Tests interrupt checks: their results, the thread on which they run, their order, and what they may do. Signals
 * arrive every millisecond until the blocking call returns. `test_stop` and `test_stop_tls` test interrupt checks with
 * every blocking call. */
#define _GNU_SOURCE
#include "retry_makers.h"
#include "stop.h"
#undef LONG /* tls_peer.h defines LONG as well */
#include "tls_peer.h"

/* One interrupt check. The checks of a test append their names to `order`. */
struct interrupter {
    char name;
    int answer;
    /* Runs before the check returns. May be NULL. */
    void (*act)(struct interrupter *self);
    netlib_limit *limit;
    netlib_stream *stream;
    int calls, freed;
};

static char order[16];
static size_t order_length;

static void run_interrupter(void *ctx, enum netlib_interrupt *decision) {
    struct interrupter *self = ctx;
    self->calls++;
    if (order_length + 1 < sizeof order) order[order_length++] = self->name;
    if (self->act != NULL) self->act(self);
    *decision = (enum netlib_interrupt)self->answer;
}

static void count_free(void *ctx) { ((struct interrupter *)ctx)->freed++; }

static netlib_limit *limit_with(struct interrupter *interrupter, const netlib_limit *parent) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new_interruptible(NETLIB_TIMEOUT_NONE, parent, run_interrupter, interrupter, count_free,
                                            &limit, &err));
    return limit;
}

/* Waits for input on a pipe without data, while signals arrive. */
static netlib_status wait_with_signals(const netlib_limit *limit, double timeout, netlib_error **err) {
    int ends[2];
    memset(order, 0, sizeof order);
    order_length = 0;
    CHECK(pipe(ends) == 0);
    start_ticking();
    netlib_status status = netlib_wait_for_read(ends[0], timeout, limit, err);
    stop_ticking();
    close(ends[0]);
    close(ends[1]);
    return status;
}

static void the_result_of_the_interrupt_check_determines_the_status_of_the_wait(void) {
    static const struct {
        int answer;
        netlib_status status;
        const char *message;
    } rows[] = {
        {NETLIB_INTERRUPT_STOP, NETLIB_INTERRUPTED, "the interrupt callback stopped the wait"},
        {NETLIB_INTERRUPT_FAILED, NETLIB_CALLBACK_FAILED, "the interrupt callback failed: it stored no decision"},
        {3, NETLIB_CALLBACK_FAILED,
         "the interrupt callback stored 3; it must store NETLIB_INTERRUPT_CONTINUE or NETLIB_INTERRUPT_STOP"},
        {-1, NETLIB_CALLBACK_FAILED,
         "the interrupt callback stored -1; it must store NETLIB_INTERRUPT_CONTINUE or NETLIB_INTERRUPT_STOP"},
        {NETLIB_INTERRUPTED, NETLIB_CALLBACK_FAILED,
         "the interrupt callback stored 506; it must store NETLIB_INTERRUPT_CONTINUE or NETLIB_INTERRUPT_STOP"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        struct interrupter interrupter = {.name = 'x', .answer = rows[i].answer};
        netlib_limit *limit = limit_with(&interrupter, NULL);
        netlib_status status = wait_with_signals(limit, 30.0, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(1, interrupter.calls);
        /* The interrupt check ends only the wait. The limit can be used again. */
        CHECK_STATUS(NETLIB_OK, netlib_limit_check(limit, &err));
        interrupter.answer = NETLIB_INTERRUPT_CONTINUE;
        CHECK_STATUS(NETLIB_TIMED_OUT, wait_with_signals(limit, 0.05, &err));
        CHECK(interrupter.calls >= 2);
        netlib_limit_free(limit);
        CHECK_INT(1, interrupter.freed);
    }
    CHECK_INT(NETLIB_CLASS_TIME, netlib_status_class(NETLIB_INTERRUPTED));
    CHECK_INT(NETLIB_RETRY_KIND_NEVER, netlib_status_retry_kind(NETLIB_INTERRUPTED));
}

/* The interrupt check of the child limit runs first, then the check of its parent, then the check of its
 * grandparent. */
static void no_interrupt_check_runs_after_one_that_stops_the_wait_or_fails(void) {
    static const struct {
        int child, parent, grandparent;
        const char *order;
        netlib_status status;
    } rows[] = {
        {NETLIB_INTERRUPT_STOP, NETLIB_INTERRUPT_STOP, NETLIB_INTERRUPT_STOP, "c", NETLIB_INTERRUPTED},
        {NETLIB_INTERRUPT_CONTINUE, NETLIB_INTERRUPT_STOP, NETLIB_INTERRUPT_FAILED, "cp", NETLIB_INTERRUPTED},
        {NETLIB_INTERRUPT_CONTINUE, NETLIB_INTERRUPT_CONTINUE, NETLIB_INTERRUPT_STOP, "cpg", NETLIB_INTERRUPTED},
        {NETLIB_INTERRUPT_CONTINUE, NETLIB_INTERRUPT_FAILED, NETLIB_INTERRUPT_STOP, "cp", NETLIB_CALLBACK_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        struct interrupter child = {.name = 'c', .answer = rows[i].child};
        struct interrupter parent = {.name = 'p', .answer = rows[i].parent};
        struct interrupter grandparent = {.name = 'g', .answer = rows[i].grandparent};
        netlib_limit *eldest = limit_with(&grandparent, NULL);
        netlib_limit *middle = limit_with(&parent, eldest);
        netlib_limit *youngest = limit_with(&child, middle);
        netlib_limit_free(eldest);
        netlib_limit_free(middle);
        CHECK_INT(0, parent.freed + grandparent.freed);
        netlib_status status = wait_with_signals(youngest, 30.0, &err);
        CHECK_STATUS(rows[i].status, status);
        CHECK_STR(rows[i].order, order);
        netlib_limit_free(youngest);
        CHECK_INT(3, child.freed + parent.freed + grandparent.freed);
    }
}

static void cancel_own_limit(struct interrupter *self) { netlib_limit_cancel(self->limit); }

static void use_own_limit(struct interrupter *self) {
    netlib_error *err = NULL;
    netlib_limit *child = child_of(self->limit);
    CHECK_STATUS(NETLIB_OK, netlib_limit_check(child, &err));
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(STDOUT_FILENO, 0.0, self->limit, &err));
    netlib_limit_free(child);
}

static void an_interrupt_check_may_use_and_cancel_the_limit_of_the_wait(void) {
    netlib_error *err = NULL;
    struct interrupter interrupter = {.answer = NETLIB_INTERRUPT_CONTINUE, .act = cancel_own_limit};
    netlib_limit *limit = interrupter.limit = limit_with(&interrupter, NULL);
    CHECK_STATUS(NETLIB_CANCELLED, wait_with_signals(limit, 30.0, &err));
    CHECK(interrupter.calls >= 1);
    netlib_limit_free(limit);

    int pipe_ends[2], kept = dup(STDOUT_FILENO);
    CHECK(pipe(pipe_ends) == 0);
    fflush(stdout);
    CHECK(dup2(pipe_ends[0], STDOUT_FILENO) >= 0);
    struct interrupter user = {.answer = NETLIB_INTERRUPT_STOP, .act = use_own_limit};
    limit = user.limit = limit_with(&user, NULL);
    netlib_status status = wait_with_signals(limit, 30.0, &err);
    CHECK(dup2(kept, STDOUT_FILENO) >= 0);
    CHECK_STATUS(NETLIB_INTERRUPTED, status);
    netlib_limit_free(limit);
    close(kept);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

/* Calls functions on the stream from the interrupt check, while the stream's handshake waits. */
static void use_the_waiting_stream(struct interrupter *self) {
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_read(self->stream, &byte, 1, &n, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_write(self->stream, &byte, 1, &n, &err));
    CHECK_STATUS(NETLIB_BUSY, netlib_stream_handshake(self->stream, &err));
}

static void free_the_waiting_stream(struct interrupter *self) {
    if (self->calls == 1) netlib_stream_free(self->stream);
}

static void replace_the_limit_of_the_waiting_stream(struct interrupter *self) {
    netlib_stream_set_limit(self->stream, NULL);
}

static void an_interrupt_check_may_free_the_waiting_stream_but_not_read_or_write(void) {
    static const struct {
        void (*act)(struct interrupter *self);
        bool frees;
    } rows[] = {
        {use_the_waiting_stream, false},
        {free_the_waiting_stream, true},
        {replace_the_limit_of_the_waiting_stream, false},
    };
    netlib_tls_context *context = client_context();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        struct pair pair = unix_pair();
        struct interrupter interrupter = {.answer = NETLIB_INTERRUPT_STOP, .act = rows[i].act};
        netlib_stream *stream = interrupter.stream = wrap(context, pair.near, "localhost");
        netlib_limit *limit = limit_with(&interrupter, NULL);
        netlib_stream_set_limit(stream, limit);
        netlib_limit_free(limit);
        start_ticking();
        netlib_status status = netlib_stream_handshake(stream, &err);
        stop_ticking();
        CHECK_STATUS(NETLIB_INTERRUPTED, status);
        CHECK_INT(1, interrupter.calls);
        if (!rows[i].frees) netlib_stream_free(stream);
        CHECK_INT(1, interrupter.freed);
        close_pair(pair);
    }
    netlib_tls_context_free(context);
}

/* The ctx_free of a limit runs without the lock of the stream, so it may use the stream. */
static netlib_stream *stream_of_ctx_free;
static int calls_of_ctx_free;

static void use_stream_in_ctx_free(void *ctx) {
    (void)ctx;
    calls_of_ctx_free++;
    netlib_stream_set_limit(stream_of_ctx_free, NULL);
    CHECK_INT(0, (long long)netlib_stream_pending(stream_of_ctx_free));
}

static void release_own_limit(void *ctx, enum netlib_interrupt *decision) {
    (void)ctx;
    netlib_stream_set_limit(stream_of_ctx_free, NULL);
    *decision = NETLIB_INTERRUPT_STOP;
}

static void ctx_free_of_a_limit_may_use_the_stream_that_releases_the_limit(void) {
    netlib_tls_context *context = client_context();
    /* In the second round, the interrupt check removes the limit from the stream, so that the waiting call holds the
     * last reference to the limit. */
    for (int released_by_call = 0; released_by_call < 2; released_by_call++) {
        netlib_error *err = NULL;
        netlib_limit *limit = NULL;
        struct pair pair = unix_pair();
        netlib_stream *stream = stream_of_ctx_free = wrap(context, pair.near, "localhost");
        CHECK_OK(netlib_limit_new_interruptible(30.0, NULL, release_own_limit, &calls_of_ctx_free,
                                                use_stream_in_ctx_free, &limit, &err));
        netlib_stream_set_limit(stream, limit);
        netlib_limit_free(limit);
        calls_of_ctx_free = 0;
        if (released_by_call) {
            start_ticking();
            netlib_status status = netlib_stream_handshake(stream, &err);
            stop_ticking();
            CHECK_STATUS(NETLIB_INTERRUPTED, status);
        } else {
            netlib_stream_set_limit(stream, NULL);
        }
        CHECK_INT(1, calls_of_ctx_free);
        netlib_stream_free(stream);
        close_pair(pair);
    }
    netlib_tls_context_free(context);
}

static netlib_retry *retry_to_free;

static void free_the_sleeping_retry(struct interrupter *self) {
    (void)self;
    netlib_retry_free(retry_to_free);
    retry_to_free = NULL;
}

static void an_interrupt_check_may_free_the_retry_that_sleeps(void) {
    netlib_error *err = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_factor(options, 20);
    for (int i = 0; i < 2; i++) netlib_retry_options_add_history(options, "GET", "/", NULL, 500, NULL);
    retry_to_free = retry_of(options);
    struct interrupter interrupter = {.answer = NETLIB_INTERRUPT_STOP, .act = free_the_sleeping_retry};
    netlib_limit *limit = limit_with(&interrupter, NULL);
    start_ticking();
    netlib_status status = netlib_retry_sleep(retry_to_free, NULL, limit, &err);
    stop_ticking();
    CHECK(retry_to_free == NULL);
    CHECK_INT(2, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_INTERRUPTED, status);
    netlib_limit_free(limit);
}

static void ctx_is_freed_if_the_interruptible_limit_cannot_be_created(void) {
    static const struct {
        double seconds;
        bool has_check, has_output;
        netlib_status status;
    } rows[] = {
        {-1.0, true, true, NETLIB_INVALID_ARGUMENT},
        {1.0, false, true, NETLIB_NULL_ARGUMENT},
        {1.0, true, false, NETLIB_NULL_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        struct interrupter interrupter = {.freed = 0};
        netlib_limit *limit = (netlib_limit *)order;
        CHECK_STATUS(rows[i].status, netlib_limit_new_interruptible(
                                         rows[i].seconds, NULL, rows[i].has_check ? run_interrupter : NULL,
                                         &interrupter, count_free, rows[i].has_output ? &limit : NULL, &err));
        CHECK_INT(1, interrupter.freed);
        if (rows[i].has_output) CHECK(limit == NULL);
    }
}

/* A thread that waits with the limit. */
struct waiter {
    netlib_limit *limit;
    bool is_signalled; /* the test sends signals to the thread */
    pthread_t thread;
    atomic_int is_done;
    netlib_status status;
};

static atomic_int checks_on_signalled_thread, checks_on_other_threads;
static _Thread_local bool is_signalled_thread;

static void stop_and_note_thread(void *ctx, enum netlib_interrupt *decision) {
    (void)ctx;
    if (is_signalled_thread) checks_on_signalled_thread++;
    else checks_on_other_threads++;
    *decision = NETLIB_INTERRUPT_STOP;
}

static void *wait_on_thread(void *ctx) {
    struct waiter *waiter = ctx;
    is_signalled_thread = waiter->is_signalled;
    int ends[2];
    CHECK(pipe(ends) == 0);
    waiter->status = netlib_wait_for_read(ends[0], 30.0, waiter->limit, NULL);
    close(ends[0]);
    close(ends[1]);
    waiter->is_done = 1;
    return NULL;
}

static void a_signal_ends_only_the_wait_of_the_thread_that_handles_it(void) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    struct waiter waiters[2];
    handle_alarms(tick, 0);
    checks_on_signalled_thread = checks_on_other_threads = 0;
    CHECK_OK(netlib_limit_new_interruptible(NETLIB_TIMEOUT_NONE, NULL, stop_and_note_thread, NULL, NULL, &limit, &err));
    for (size_t i = 0; i < 2; i++) {
        waiters[i].limit = limit;
        waiters[i].is_signalled = i == 0;
        waiters[i].is_done = 0;
        CHECK(pthread_create(&waiters[i].thread, NULL, wait_on_thread, &waiters[i]) == 0);
    }
    /* A signal interrupts the wait only if it arrives during the wait, so the test sends signals until the wait
     * ends. */
    for (double began = netlib_current_time(); !waiters[0].is_done && IN_TIME(began);) {
        CHECK(pthread_kill(waiters[0].thread, SIGALRM) == 0);
        short_pause();
    }
    CHECK(pthread_join(waiters[0].thread, NULL) == 0);
    CHECK_INT(NETLIB_INTERRUPTED, waiters[0].status);
    CHECK(!waiters[1].is_done);
    netlib_limit_cancel(limit);
    CHECK(pthread_join(waiters[1].thread, NULL) == 0);
    CHECK_INT(NETLIB_CANCELLED, waiters[1].status);
    CHECK_INT(1, checks_on_signalled_thread);
    CHECK_INT(0, checks_on_other_threads);
    netlib_limit_free(limit);
}

int main(void) {
    the_result_of_the_interrupt_check_determines_the_status_of_the_wait();
    no_interrupt_check_runs_after_one_that_stops_the_wait_or_fails();
    an_interrupt_check_may_use_and_cancel_the_limit_of_the_wait();
    an_interrupt_check_may_free_the_waiting_stream_but_not_read_or_write();
    ctx_free_of_a_limit_may_use_the_stream_that_releases_the_limit();
    an_interrupt_check_may_free_the_retry_that_sleeps();
    ctx_is_freed_if_the_interruptible_limit_cannot_be_created();
    a_signal_ends_only_the_wait_of_the_thread_that_handles_it();
    return report("interrupts");
}
