/* Tests netlib_breaker: its options, its errors, and the breaker that opens at a ratio of failures. */
#include "overload/breaker.h"

#define RATIO(...) netlib_breaker_options_set_ratio(options, __VA_ARGS__)
#define CONSECUTIVE(...) netlib_breaker_options_set_consecutive(options, __VA_ARGS__)
#define ADAPTIVE(...) netlib_breaker_options_set_adaptive(options, __VA_ARGS__)
/* Checks that the call of a setter makes the options invalid, with a message that contains `expected`. */
#define REFUSED(expected, call) \
    do { \
        netlib_breaker_options *options = netlib_breaker_options_new(); \
        netlib_error *err = NULL; \
        netlib_breaker *breaker = NULL; \
        call; \
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_breaker_options_check(options, &err)); \
        CHECK_STR("netlib_breaker_options_set_" expected, netlib_error_message(err, NULL)); \
        netlib_error_free(err); \
        err = NULL; \
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_breaker_new(options, &breaker, &err)); \
        CHECK(breaker == NULL); \
        /* Each of the three kinds of breaker replaces the refused setting. */ \
        netlib_breaker_options_set_max_keys(options, 1); \
        netlib_breaker_options_set_permit_time(options, 1); \
        netlib_breaker_options_set_adaptive(options, 2, 1, 120, 1); \
        CHECK_OK(netlib_breaker_options_check(options, &err)); \
        netlib_breaker_options_free(options); \
    } while (0)

static void a_value_out_of_range_is_refused_with_the_name_of_the_parameter(void) {
    REFUSED("ratio: ratio must be more than 0 and at most 1; it is 0", RATIO(0, 100, 30, 5, 1));
    REFUSED("ratio: ratio must be more than 0 and at most 1; it is -0.1", RATIO(-.1, 100, 30, 5, 1));
    REFUSED("ratio: ratio must be more than 0 and at most 1; it is 1.5", RATIO(1.5, 100, 30, 5, 1));
    REFUSED("ratio: ratio must be more than 0 and at most 1; it is NaN", RATIO(NAN, 100, 30, 5, 1));
    REFUSED("ratio: minimum must be at least 1; it is 0", RATIO(.1, 0, 30, 5, 1));
    REFUSED("ratio: minimum must be at least 1; it is -1", RATIO(.1, -1, 30, 5, 1));
    REFUSED("ratio: window must be 0.001 to 1000000000 seconds; it is 0", RATIO(.1, 100, 0, 5, 1));
    REFUSED("ratio: window must be 0.001 to 1000000000 seconds; it is inf", RATIO(.1, 100, INFINITY, 5, 1));
    REFUSED("ratio: window must be 0.001 to 1000000000 seconds; it is NaN", RATIO(.1, 100, NAN, 5, 1));
    REFUSED("ratio: open_time must be 0.001 to 1000000000 seconds; it is 0", RATIO(.1, 100, 30, 0, 1));
    REFUSED("ratio: open_time must be 0.001 to 1000000000 seconds; it is -5", RATIO(.1, 100, 30, -5, 1));
    REFUSED("ratio: open_time must be 0.001 to 1000000000 seconds; it is NaN", RATIO(.1, 100, 30, NAN, 1));
    REFUSED("ratio: probes must be at least 1; it is 0", RATIO(.1, 100, 30, 5, 0));
    REFUSED("ratio: probes must be at least 1; it is -1", RATIO(.1, 100, 30, 5, -1));
    REFUSED("consecutive: failures must be at least 1; it is 0", CONSECUTIVE(0, 30, 300, 10));
    REFUSED("consecutive: open_time must be 0.001 to 1000000000 seconds; it is NaN", CONSECUTIVE(5, NAN, 300, 10));
    REFUSED("consecutive: open_time_max must be 0.001 to 1000000000 seconds; it is NaN", CONSECUTIVE(5, 30, NAN, 10));
    REFUSED("consecutive: open_time_max must be 0.001 to 1000000000 seconds; it is inf",
            CONSECUTIVE(5, 30, INFINITY, 10));
    REFUSED("consecutive: open_time_max must be at least open_time, 30; it is 29", CONSECUTIVE(5, 30, 29, 10));
    REFUSED("consecutive: max_open_percent must be 0 to 100; it is -1", CONSECUTIVE(5, 30, 300, -1));
    REFUSED("consecutive: max_open_percent must be 0 to 100; it is 100.5", CONSECUTIVE(5, 30, 300, 100.5));
    REFUSED("consecutive: max_open_percent must be 0 to 100; it is NaN", CONSECUTIVE(5, 30, 300, NAN));
    REFUSED("adaptive: multiplier must be finite and at least 1; it is 0.5", ADAPTIVE(.5, 1, 120, 1));
    REFUSED("adaptive: multiplier must be finite and at least 1; it is inf", ADAPTIVE(INFINITY, 1, 120, 1));
    REFUSED("adaptive: multiplier must be finite and at least 1; it is NaN", ADAPTIVE(NAN, 1, 120, 1));
    REFUSED("adaptive: minimum must be at least 1; it is 0", ADAPTIVE(2, 0, 120, 1));
    REFUSED("adaptive: window must be 0.001 to 1000000000 seconds; it is -120", ADAPTIVE(2, 1, -120, 1));
    REFUSED("adaptive: window must be 0.001 to 1000000000 seconds; it is NaN", ADAPTIVE(2, 1, NAN, 1));
    REFUSED("adaptive: max_probability must be more than 0 and at most 1; it is NaN", ADAPTIVE(2, 1, 120, NAN));
    REFUSED("adaptive: max_probability must be more than 0 and at most 1; it is 0", ADAPTIVE(2, 1, 120, 0));
    REFUSED("adaptive: max_probability must be more than 0 and at most 1; it is 2", ADAPTIVE(2, 1, 120, 2));
    REFUSED("max_keys: max_keys must be 1 to 1048576; it is 0", netlib_breaker_options_set_max_keys(options, 0));
    REFUSED("max_keys: max_keys must be 1 to 1048576; it is 1048577",
            netlib_breaker_options_set_max_keys(options, 1048577));
    REFUSED("permit_time: seconds must be 0.001 to 1000000000 seconds; it is 0",
            netlib_breaker_options_set_permit_time(options, 0));
    REFUSED("permit_time: seconds must be 0.001 to 1000000000 seconds; it is inf",
            netlib_breaker_options_set_permit_time(options, INFINITY));
    REFUSED("permit_time: seconds must be 0.001 to 1000000000 seconds; it is NaN",
            netlib_breaker_options_set_permit_time(options, NAN));
    REFUSED("max_keys: max_keys must be 1 to 1048576; it is -1", netlib_breaker_options_set_max_keys(options, -1));
}

static void a_key_has_at_most_1024_bytes(void) {
    char key[1025];
    uint64_t permit = 99;
    double seconds = 99;
    enum netlib_circuit_state state = NETLIB_CIRCUIT_OPEN;
    netlib_error *err = NULL;
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
    memset(key, 'k', sizeof key);
    CHECK_OK(netlib_breaker_ask(breaker, key, 1024, &permit, &seconds, &err));
    CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_breaker_ask(breaker, key, 1025, &permit, &seconds, &err));
    CHECK_STR("key has 1025 bytes; it must have at most 1024", netlib_error_message(err, NULL));
    CHECK_DOUBLE(-1, netlib_error_breaker_seconds(err));
    CHECK_INT(0, (long long)permit);
    netlib_error_free(err);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_breaker_state(breaker, key, 1025, &state, &err));
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state);
    /* NULL with the length 0 is the empty key. */
    err = NULL;
    CHECK_OK(netlib_breaker_ask(breaker, NULL, 0, &permit, &seconds, &err));
    netlib_breaker_report(breaker, permit, NETLIB_REPORT_FAILURE);
    CHECK_OK(netlib_breaker_state(breaker, NULL, 0, &state, &err));
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, ""));
    netlib_breaker_free(breaker);
}

static void the_error_of_a_refused_request_names_the_key_and_the_seconds(void) {
    netlib_error *err = NULL;
    uint64_t permit = 0;
    double seconds = 0;
    struct world world = {.now = 1};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
    send_requests(breaker, "https://a.example", 1, NETLIB_REPORT_FAILURE);
    world.now = 3.5;
    CHECK_INT(NETLIB_BREAKER_OPEN,
              netlib_breaker_ask(breaker, "https://a.example", NETLIB_NTS, &permit, &seconds, &err));
    CHECK_STR("the breaker permits no request for \"https://a.example\" now; ask again in 2.5 seconds",
              netlib_error_message(err, NULL));
    CHECK_DOUBLE(2.5, netlib_error_breaker_seconds(err));
    CHECK_INT(NETLIB_CLASS_RETRY, netlib_status_class(netlib_error_status(err)));
    netlib_error_free(err);
    CHECK_DOUBLE(-1, netlib_error_breaker_seconds(NULL));
    netlib_breaker_free(breaker);
}

/* Polly's CircuitBreakerConstants: a ratio of 0.1 of at least 100 in 30 seconds, open for 5 seconds. */
static void the_defaults_are_those_of_polly(void) {
    struct world world = {0};
    netlib_breaker *breaker = breaker_of(netlib_breaker_options_new(), &world);
    /* 99 failures are fewer than the minimum. */
    send_requests(breaker, "a", 99, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    CHECK_DOUBLE(5, wait_of(breaker, "a"));
    /* 9 of 100 are less than the ratio, 10 of 100 are the ratio. */
    send_requests(breaker, "b", 90, NETLIB_REPORT_SUCCESS);
    send_requests(breaker, "b", 9, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "b"));
    send_requests(breaker, "b", 1, NETLIB_REPORT_THROTTLED);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "b"));
    /* 10 of 101 are less than the ratio. */
    send_requests(breaker, "c", 91, NETLIB_REPORT_SUCCESS);
    send_requests(breaker, "c", 10, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "c"));
    /* After 30 seconds, the 101 outcomes have expired. */
    world.now = 30;
    send_requests(breaker, "c", 99, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "c"));
    send_requests(breaker, "c", 1, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "c"));
    netlib_breaker_free(breaker);
}

/* resilience4j's CircuitBreakerConfig: 50 % of 100, open for 60 seconds, 10 probes. The key closes if fewer than half
 * of the probes fail. The default window of resilience4j counts 100 calls; this test uses a window of time, which
 * resilience4j has, too. */
static void the_constants_of_resilience4j_close_a_key_if_4_of_10_probes_fail_and_open_it_if_5_fail(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 100, 100, 60, 10);
    for (int failed = 4; failed <= 5; failed++) {
        const char *key = failed == 4 ? "four" : "five";
        uint64_t probes[10];
        world.now = 1000 * failed;
        send_requests(breaker, key, 50, NETLIB_REPORT_SUCCESS);
        send_requests(breaker, key, 50, NETLIB_REPORT_FAILURE);
        CHECK_DOUBLE(60, wait_of(breaker, key));
        world.now += 59.5;
        CHECK_DOUBLE(.5, wait_of(breaker, key));
        world.now += .5;
        CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, key));
        for (int i = 0; i < 10; i++) probes[i] = ask(breaker, key);
        CHECK_DOUBLE(60, wait_of(breaker, key));
        for (int i = 0; i < 9; i++)
            netlib_breaker_report(breaker, probes[i], i < 4 ? NETLIB_REPORT_FAILURE : NETLIB_REPORT_SUCCESS);
        CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, key));
        netlib_breaker_report(breaker, probes[9], failed == 5 ? NETLIB_REPORT_FAILURE : NETLIB_REPORT_SUCCESS);
        CHECK_INT(failed == 5 ? NETLIB_CIRCUIT_OPEN : NETLIB_CIRCUIT_CLOSED, state_of(breaker, key));
        if (failed == 5) break;
        /* The outcomes from before the opening do not count for the closed key. */
        send_requests(breaker, key, 99, NETLIB_REPORT_FAILURE);
        CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, key));
    }
    netlib_breaker_free(breaker);
}

/* A half-open breaker of pensyve let every request through. */
static void a_half_open_key_permits_exactly_the_probes(void) {
    for (int probes = 1; probes <= 5; probes++) {
        struct world world = {0};
        netlib_breaker *breaker = ratio_breaker(&world, 1, 1, 10, 5, probes);
        uint64_t permits[5];
        send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
        world.now = 5;
        for (int i = 0; i < probes; i++) {
            permits[i] = ask(breaker, "a");
            CHECK(permits[i] != 0);
        }
        for (int i = 0; i < 1000; i++) CHECK(ask(breaker, "a") == 0);
        /* Each success but the last one leaves the key half-open, and permits no further request. */
        for (int i = 0; i < probes; i++) {
            CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
            CHECK(ask(breaker, "a") == 0);
            netlib_breaker_report(breaker, permits[i], NETLIB_REPORT_SUCCESS);
        }
        CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
        CHECK(ask(breaker, "a") != 0);
        netlib_breaker_free(breaker);
    }
}

static void a_failed_probe_opens_the_key_for_another_open_time(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .1, 1, 10, 5, 3);
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    world.now = 6;
    uint64_t failing = ask(breaker, "a"), late = ask(breaker, "a");
    world.now = 7;
    netlib_breaker_report(breaker, failing, NETLIB_REPORT_FAILURE);
    CHECK_DOUBLE(5, wait_of(breaker, "a"));
    /* The probe that ends after the key has opened again changes nothing. */
    world.now = 8;
    netlib_breaker_report(breaker, late, NETLIB_REPORT_FAILURE);
    CHECK_DOUBLE(4, wait_of(breaker, "a"));
    world.now = 12;
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

static void outcomes_of_requests_from_before_the_opening_do_not_count_as_probes(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 2, 10, 5, 1);
    uint64_t early[3] = {ask(breaker, "a"), ask(breaker, "a"), ask(breaker, "a")};
    send_requests(breaker, "a", 2, NETLIB_REPORT_FAILURE);
    netlib_breaker_report(breaker, early[0], NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    world.now = 5;
    uint64_t probe = ask(breaker, "a");
    netlib_breaker_report(breaker, early[1], NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    netlib_breaker_report(breaker, early[2], NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    netlib_breaker_report(breaker, probe, NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

static void a_probe_without_an_outcome_is_replaced_by_another_probe(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    world.now = 5;
    uint64_t cancelled = ask(breaker, "a");
    CHECK(ask(breaker, "a") == 0);
    netlib_breaker_report(breaker, cancelled, NETLIB_REPORT_NONE);
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    /* An unknown outcome counts as NETLIB_REPORT_NONE. */
    netlib_breaker_report(breaker, ask(breaker, "a"), (enum netlib_report)77);
    uint64_t probe = ask(breaker, "a");
    CHECK(probe != 0);
    CHECK(ask(breaker, "a") == 0);
    netlib_breaker_report(breaker, probe, NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

/* The reports of all probes but the last are lost or late. Each row is a time at which a request is permitted. */
static void a_half_open_key_permits_a_further_probe_when_nothing_happened_for_the_open_time(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 2);
    uint64_t probes[4];
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    world.now = 5;
    probes[0] = ask(breaker, "a");
    world.now = 6;
    probes[1] = ask(breaker, "a");
    CHECK_DOUBLE(5, wait_of(breaker, "a"));
    world.now = 10.5;
    CHECK_DOUBLE(.5, wait_of(breaker, "a"));
    world.now = 11;
    probes[2] = ask(breaker, "a");
    CHECK(probes[2] != 0);
    CHECK_DOUBLE(5, wait_of(breaker, "a"));
    /* An outcome starts the time again; a report without an outcome does not, and replaces only its own probe. */
    world.now = 12;
    netlib_breaker_report(breaker, probes[0], NETLIB_REPORT_SUCCESS);
    CHECK_DOUBLE(5, wait_of(breaker, "a"));
    world.now = 13;
    netlib_breaker_report(breaker, probes[2], NETLIB_REPORT_NONE);
    CHECK_DOUBLE(4, wait_of(breaker, "a"));
    world.now = 17;
    probes[3] = ask(breaker, "a");
    CHECK(probes[3] != 0);
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    netlib_breaker_report(breaker, probes[3], NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    /* The lost probe belongs to an earlier state of the key. */
    netlib_breaker_report(breaker, probes[1], NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

/* Polly 7 permits one probe per open time while a key is half-open, so that lost outcomes do not block it. */
static void a_half_open_key_without_any_report_permits_one_request_per_open_time(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    int permitted = 0;
    for (world.now = 5; world.now < 105; world.now += .25) permitted += ask(breaker, "a") != 0;
    CHECK_INT(20, permitted);
    netlib_breaker_free(breaker);
}

/* A breaker of go-zero did not open if the timeout of the requests was longer than its window. */
static void failures_count_even_if_the_timeout_is_longer_than_the_window(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 20, 10, 5, 1);
    uint64_t permits[60];
    /* One request per second; each ends with a timeout after 40 seconds. */
    for (int second = 0; second < 60; second++) {
        world.now = second;
        permits[second] = ask(breaker, "a");
        if (second >= 40) {
            netlib_breaker_report(breaker, permits[second - 40], NETLIB_REPORT_FAILURE);
            netlib_breaker_report(breaker, permits[second - 20], NETLIB_REPORT_FAILURE);
        }
        /* At the second 49, 20 failures were reported within the last 10 seconds. */
        CHECK_INT(second < 49   ? NETLIB_CIRCUIT_CLOSED
                  : second < 54 ? NETLIB_CIRCUIT_OPEN
                                : NETLIB_CIRCUIT_HALF_OPEN,
                  state_of(breaker, "a"));
        if (second == 54) break;
    }
    netlib_breaker_free(breaker);
}

/* In pybreaker, a second breaker with the same storage closed the shared breaker. */
static void a_clone_shares_the_state_and_a_new_key_closes_no_other_key(void) {
    struct world world = {0};
    netlib_breaker *breaker = ratio_breaker(&world, .5, 1, 10, 5, 1), *clone = netlib_breaker_clone(breaker);
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(clone, "a"));
    netlib_breaker_free(breaker);
    send_requests(clone, "b", 1, NETLIB_REPORT_SUCCESS);
    netlib_breaker *another = netlib_breaker_clone(clone);
    CHECK_DOUBLE(5, wait_of(another, "a"));
    world.now = 5;
    uint64_t probe = ask(clone, "a");
    CHECK(ask(another, "a") == 0);
    netlib_breaker_report(another, probe, NETLIB_REPORT_SUCCESS);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(clone, "a"));
    netlib_breaker_free(another);
    netlib_breaker_free(clone);
}

static void the_least_recently_used_key_is_dropped_if_no_key_is_closed(void) {
    struct world world = {0};
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_ratio(options, .5, 1, 10, 5, 1);
    netlib_breaker_options_set_max_keys(options, 2);
    netlib_breaker *breaker = breaker_of(options, &world);
    uint64_t early = ask(breaker, "a");
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    send_requests(breaker, "b", 1, NETLIB_REPORT_FAILURE);
    /* A refused request also uses its key, and netlib_breaker_state does not. */
    CHECK(ask(breaker, "a") == 0);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "b"));
    send_requests(breaker, "c", 1, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "b"));
    /* The report of a request from before its key was dropped changes nothing. */
    send_requests(breaker, "d", 1, NETLIB_REPORT_SUCCESS);
    netlib_breaker_report(breaker, early, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "c"));
    netlib_breaker_free(breaker);
}

/* A server that redirects to many origins, each of which fails a few requests, does not close its own key. */
static void a_key_that_is_not_closed_stays_when_many_closed_keys_are_used(void) {
    for (int kind = 0; kind < 3; kind++) {
        struct world world = {.random = .99};
        netlib_breaker_options *options = netlib_breaker_options_new();
        if (kind == 0) netlib_breaker_options_set_ratio(options, .5, 4, 10, 5, 1);
        if (kind == 1) netlib_breaker_options_set_consecutive(options, 4, 30, 300, 10);
        if (kind == 2) netlib_breaker_options_set_adaptive(options, 2, 4, 120, 1);
        netlib_breaker_options_set_max_keys(options, 32);
        netlib_breaker *breaker = breaker_of(options, &world);
        send_requests(breaker, "failing", 4, NETLIB_REPORT_FAILURE);
        int32_t expected = kind == 2 ? NETLIB_CIRCUIT_HALF_OPEN : NETLIB_CIRCUIT_OPEN;
        CHECK_INT(expected, state_of(breaker, "failing"));
        for (int i = 0; i < 1000; i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            send_requests(breaker, key, 3, NETLIB_REPORT_FAILURE);
        }
        CHECK_INT(expected, state_of(breaker, "failing"));
        netlib_breaker_free(breaker);
    }
}

int main(void) {
    a_value_out_of_range_is_refused_with_the_name_of_the_parameter();
    a_key_has_at_most_1024_bytes();
    the_error_of_a_refused_request_names_the_key_and_the_seconds();
    the_defaults_are_those_of_polly();
    the_constants_of_resilience4j_close_a_key_if_4_of_10_probes_fail_and_open_it_if_5_fail();
    a_half_open_key_permits_exactly_the_probes();
    a_failed_probe_opens_the_key_for_another_open_time();
    outcomes_of_requests_from_before_the_opening_do_not_count_as_probes();
    a_probe_without_an_outcome_is_replaced_by_another_probe();
    a_half_open_key_permits_a_further_probe_when_nothing_happened_for_the_open_time();
    a_half_open_key_without_any_report_permits_one_request_per_open_time();
    failures_count_even_if_the_timeout_is_longer_than_the_window();
    a_clone_shares_the_state_and_a_new_key_closes_no_other_key();
    the_least_recently_used_key_is_dropped_if_no_key_is_closed();
    a_key_that_is_not_closed_stays_when_many_closed_keys_are_used();
    return report("breaker");
}
