/* Tests a breaker that threads and processes share, its clock, and its permits that end without a report. */
#define _GNU_SOURCE
#include "forks.h"
#include "overload/breaker.h"

#include <pthread.h>

static netlib_breaker *breaker_with_permit_time(netlib_breaker_options *options, struct world *world, double seconds) {
    netlib_breaker_options_set_permit_time(options, seconds);
    return breaker_of(options, world);
}

static void a_permit_ends_once(void) {
    struct world world = {0};
    netlib_breaker *breaker = consecutive_breaker(&world, 2, 30, 300, 10);
    uint64_t permit = ask(breaker, "a");
    for (int i = 0; i < 10; i++) netlib_breaker_report(breaker, permit, NETLIB_REPORT_FAILURE);
    netlib_breaker_report(breaker, 0, NETLIB_REPORT_FAILURE);
    netlib_breaker_report(breaker, permit + 1, NETLIB_REPORT_FAILURE);
    netlib_breaker_report(breaker, UINT64_MAX, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_report(breaker, ask(breaker, "a"), NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

static void a_lost_probe_is_replaced_after_the_permit_time(void) {
    struct world world = {0};
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_ratio(options, .5, 1, 10, 100, 2);
    netlib_breaker *breaker = breaker_with_permit_time(options, &world, 60);
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    world.now = 100;
    uint64_t lost = ask(breaker, "a");
    send_requests(breaker, "a", 1, NETLIB_REPORT_SUCCESS);
    world.now = 160;
    CHECK_DOUBLE(40, wait_of(breaker, "a"));
    world.now = 160.5;
    uint64_t probe = ask(breaker, "a");
    CHECK(probe != 0);
    CHECK(ask(breaker, "a") == 0);
    netlib_breaker_report(breaker, lost, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    netlib_breaker_report(breaker, probe, NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

static void a_report_after_the_permit_time_is_ignored(void) {
    struct world world = {0};
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_consecutive(options, 1, 30, 300, 10);
    netlib_breaker *breaker = breaker_with_permit_time(options, &world, 60);
    uint64_t in_time = ask(breaker, "a"), late = ask(breaker, "b");
    world.now = 60;
    netlib_breaker_report(breaker, in_time, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    world.now = 1000;
    netlib_breaker_report(breaker, late, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "b"));
    netlib_breaker_free(breaker);
}

/* A call ends a limited number of old permits, so some of these permits have not ended yet when they are reported. */
static void late_reports_of_200_permits_are_ignored(void) {
    struct world world = {0};
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_consecutive(options, 1, 30, 300, 10);
    netlib_breaker *breaker = breaker_with_permit_time(options, &world, 60);
    uint64_t permits[200];
    for (int i = 0; i < 200; i++) permits[i] = ask(breaker, "a");
    world.now = 60.5;
    for (int i = 199; i >= 0; i--) netlib_breaker_report(breaker, permits[i], NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

static void time_continues_after_the_clock_has_stepped_back(void) {
    struct world world = {.now = 1000};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    world.now = 1003;
    CHECK_DOUBLE(2, wait_of(breaker, "a"));
    /* Another thread may have read the clock half a second ago. */
    world.now = 1002.5;
    CHECK_DOUBLE(2, wait_of(breaker, "a"));
    world.now = 1003.5;
    CHECK_DOUBLE(1.5, wait_of(breaker, "a"));
    world.now = 10;
    CHECK_DOUBLE(1.5, wait_of(breaker, "a"));
    send_requests(breaker, "b", 1, NETLIB_REPORT_FAILURE);
    CHECK_DOUBLE(5, wait_of(breaker, "b"));
    world.now = 11.5;
    CHECK(ask(breaker, "a") != 0);
    CHECK_DOUBLE(3.5, wait_of(breaker, "b"));
    netlib_breaker_free(breaker);
}

static void an_invalid_time_makes_ask_fail_and_loses_no_report(void) {
    static const double times[] = {NAN, INFINITY, -INFINITY};
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct world world = {.now = 7};
        uint64_t permit = 99;
        double seconds = 99;
        enum netlib_circuit_state state = NETLIB_CIRCUIT_OPEN;
        netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
        uint64_t asked = ask(breaker, "a");
        world.now = times[i];
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_breaker_ask(breaker, "a", 1, &permit, &seconds, &err));
        CHECK_INT(0, (long long)permit);
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_breaker_state(breaker, "a", 1, &state, &err));
        CHECK_INT(NETLIB_CIRCUIT_CLOSED, state);
        netlib_breaker_report(breaker, asked, NETLIB_REPORT_FAILURE);
        world.now = 8;
        CHECK_DOUBLE(4, wait_of(breaker, "a"));
        netlib_breaker_free(breaker);
    }
}

/* The clock of a breaker that uses and frees the breaker: the breaker holds no lock while a callback runs. */
struct reentrant {
    netlib_breaker *breaker;
    int depth;
};

static int32_t reentrant_clock(void *ctx, double *seconds) {
    struct reentrant *self = ctx;
    if (self->depth++ == 0) {
        send_requests(self->breaker, "b", 1, NETLIB_REPORT_FAILURE);
        CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(self->breaker, "b"));
        netlib_breaker_free(self->breaker);
    }
    *seconds = 1;
    return 0;
}

static void a_callback_may_use_and_free_the_breaker(void) {
    for (int call = 0; call < 3; call++) {
        struct reentrant self = {.depth = 1};
        netlib_error *err = NULL;
        uint64_t permit = 0;
        double seconds = 0;
        enum netlib_circuit_state state = NETLIB_CIRCUIT_OPEN;
        netlib_breaker_options *options = netlib_breaker_options_new();
        netlib_breaker_options_set_ratio(options, .5, 1, 10, 5, 1);
        netlib_breaker_options_set_clock(options, reentrant_clock, &self, NULL);
        CHECK_OK(netlib_breaker_new(options, &self.breaker, &err));
        netlib_breaker_options_free(options);
        CHECK_OK(netlib_breaker_ask(self.breaker, "a", 1, &permit, &seconds, &err));
        self.depth = 0;
        if (call == 0) CHECK_OK(netlib_breaker_ask(self.breaker, "a", 1, &permit, &seconds, &err));
        if (call == 1) CHECK_OK(netlib_breaker_state(self.breaker, "a", 1, &state, &err));
        if (call == 2) netlib_breaker_report(self.breaker, permit, NETLIB_REPORT_FAILURE);
    }
}

/* Parent and child have separate copies of the state, and both can report a permit from before the fork. */
static void a_forked_child_counts_separately(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 2, 10, 5, 1);
    uint64_t permit = ask(breaker, "a");
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    struct child child = begin_child();
    if (child.process == 0) {
        netlib_breaker_report(breaker, permit, NETLIB_REPORT_FAILURE);
        child.results[0] = (netlib_status)state_of(breaker, "a");
        end_child();
    }
    join_child(&child);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, child.results[0]);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_report(breaker, permit, NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    drop_child(&child);
    netlib_breaker_free(breaker);
}

enum { THREADS = 64, ROUNDS = 200 };

struct shared {
    netlib_breaker *breaker;
    pthread_barrier_t start;
    atomic_int permitted;
    uint64_t permits[THREADS];
};

static void *ask_for_probes(void *argument) {
    struct shared *shared = argument;
    pthread_barrier_wait(&shared->start);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t permit = ask(shared->breaker, "a");
        if (permit != 0) shared->permits[shared->permitted++] = permit;
    }
    return NULL;
}

static void exactly_10_of_64_threads_get_a_probe(void) {
    struct world world = {0};
    struct shared shared = {.breaker = ratio_breaker(&world, .5, 1, 10, 5, 10)};
    pthread_t threads[THREADS];
    send_requests(shared.breaker, "a", 1, NETLIB_REPORT_FAILURE);
    world.now = 5;
    pthread_barrier_init(&shared.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, ask_for_probes, &shared) != 0) abort();
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&shared.start);
    CHECK_INT(10, shared.permitted);
    for (int i = 0; i < 10; i++) netlib_breaker_report(shared.breaker, shared.permits[i], NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(shared.breaker, "a"));
    netlib_breaker_free(shared.breaker);
}

int main(void) {
    a_permit_ends_once();
    a_lost_probe_is_replaced_after_the_permit_time();
    a_report_after_the_permit_time_is_ignored();
    late_reports_of_200_permits_are_ignored();
    time_continues_after_the_clock_has_stepped_back();
    an_invalid_time_makes_ask_fail_and_loses_no_report();
    a_callback_may_use_and_free_the_breaker();
    a_forked_child_counts_separately();
    exactly_10_of_64_threads_get_a_probe();
    return report("breaker shared");
}
