/* Tests the breaker that opens after consecutive failures, with the numbers of Envoy's outlier detection: 5 failures,
 * base_ejection_time 30 seconds, max_ejection_time 300 seconds, max_ejection_percent 10, interval 10 seconds. */
#include "overload/breaker.h"

static netlib_breaker *envoy_breaker(struct world *world) { return consecutive_breaker(world, 5, 30, 300, 10); }

static void a_success_resets_the_count_of_failures(void) {
    struct world world = {0};
    netlib_breaker *breaker = envoy_breaker(&world);
    for (int i = 0; i < 10; i++) {
        send_requests(breaker, "a", 4, NETLIB_REPORT_FAILURE);
        send_requests(breaker, "a", 1, NETLIB_REPORT_SUCCESS);
    }
    send_requests(breaker, "a", 2, NETLIB_REPORT_FAILURE);
    send_requests(breaker, "a", 3, NETLIB_REPORT_NONE);
    send_requests(breaker, "a", 2, NETLIB_REPORT_THROTTLED);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    CHECK_DOUBLE(30, wait_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

static void the_open_time_grows_by_30_seconds_per_opening_up_to_300_seconds(void) {
    /* Each opening follows as soon as the key has closed. */
    static const double expected[] = {30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300, 300};
    struct world world = {0};
    netlib_breaker *breaker = envoy_breaker(&world);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        send_requests(breaker, "a", 5, NETLIB_REPORT_FAILURE);
        CHECK_DOUBLE(expected[i], wait_of(breaker, "a"));
        world.now += expected[i] - 1;
        CHECK_DOUBLE(1, wait_of(breaker, "a"));
        world.now += 1;
        /* After the open time, the key is closed, not half-open: all requests are permitted. */
        CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    }
    netlib_breaker_free(breaker);
}

static void the_multiplier_decreases_by_one_for_each_10_seconds_that_the_key_is_closed(void) {
    static const struct {
        int openings;
        double closed_for, expected;
    } rows[] = {
        {1, 9.5, 60},  {1, 10, 30},   {1, 1e6, 30},  {2, 9.5, 90},  {2, 10, 60},
        {2, 19.5, 60}, {2, 20, 30},   {10, 0, 300},  {10, 30, 240}, {10, 100, 30},
        {11, 10, 300}, {11, 20, 300}, {11, 30, 270}, {40, 20, 300}, {40, 30, 270},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world world = {.now = 1000};
        netlib_breaker *breaker = envoy_breaker(&world);
        for (int n = 0; n < rows[i].openings; n++) {
            send_requests(breaker, "a", 5, NETLIB_REPORT_FAILURE);
            world.now += wait_of(breaker, "a");
        }
        world.now += rows[i].closed_for;
        send_requests(breaker, "a", 5, NETLIB_REPORT_FAILURE);
        CHECK_DOUBLE(rows[i].expected, wait_of(breaker, "a"));
        netlib_breaker_free(breaker);
    }
}

static void failures_from_before_the_key_opened_do_not_count_after_it_has_closed(void) {
    struct world world = {0};
    netlib_breaker *breaker = envoy_breaker(&world);
    uint64_t early[5];
    for (int i = 0; i < 5; i++) early[i] = ask(breaker, "a");
    send_requests(breaker, "a", 5, NETLIB_REPORT_FAILURE);
    world.now = 30;
    send_requests(breaker, "a", 4, NETLIB_REPORT_FAILURE);
    for (int i = 0; i < 5; i++) netlib_breaker_report(breaker, early[i], NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    send_requests(breaker, "a", 1, NETLIB_REPORT_FAILURE);
    CHECK_DOUBLE(60, wait_of(breaker, "a"));
    netlib_breaker_free(breaker);
}

/* Uses the keys "0", "1" and so on, and opens as many as the breaker allows. Returns the number of open keys. */
static int open_all(netlib_breaker *breaker, int keys) {
    char key[16];
    int open = 0;
    for (int i = 0; i < keys; i++) {
        snprintf(key, sizeof key, "%d", i);
        send_requests(breaker, key, 1, NETLIB_REPORT_SUCCESS);
    }
    for (int i = 0; i < keys; i++) {
        snprintf(key, sizeof key, "%d", i);
        send_requests(breaker, key, 5, NETLIB_REPORT_FAILURE);
        open += state_of(breaker, key) == NETLIB_CIRCUIT_OPEN;
    }
    return open;
}

static void at_most_the_given_percentage_of_the_keys_and_at_least_one_key_is_open(void) {
    static const struct {
        double percent;
        int keys, open;
    } rows[] = {
        {10, 1, 1},  {10, 2, 1}, {10, 9, 1}, {10, 10, 1}, {10, 19, 1},  {10, 20, 2},  {10, 100, 10},
        {0, 100, 1}, {50, 3, 1}, {50, 4, 2}, {100, 7, 7}, {33.4, 3, 1}, {66.7, 3, 2}, {99.9, 100, 99},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world world = {0};
        netlib_breaker *breaker = consecutive_breaker(&world, 5, 30, 300, rows[i].percent);
        CHECK_INT(rows[i].open, open_all(breaker, rows[i].keys));
        /* After the open time, the same number of keys may open again. */
        world.now = 30;
        CHECK_INT(rows[i].open, open_all(breaker, rows[i].keys));
        netlib_breaker_free(breaker);
    }
}

static void a_key_that_could_not_open_opens_after_5_further_failures_when_another_key_has_closed(void) {
    struct world world = {0};
    netlib_breaker *breaker = envoy_breaker(&world);
    send_requests(breaker, "b", 1, NETLIB_REPORT_SUCCESS);
    send_requests(breaker, "a", 5, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    send_requests(breaker, "b", 5, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "b"));
    world.now = 30;
    send_requests(breaker, "b", 4, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "b"));
    send_requests(breaker, "b", 1, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "b"));
    CHECK_DOUBLE(30, wait_of(breaker, "b"));
    netlib_breaker_free(breaker);
}

static void a_dropped_key_does_not_count_as_an_open_key(void) {
    struct world world = {0};
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_consecutive(options, 5, 30, 300, 10);
    netlib_breaker_options_set_max_keys(options, 1);
    netlib_breaker *breaker = breaker_of(options, &world);
    send_requests(breaker, "a", 5, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "a"));
    /* "b" replaces "a", so that no key is open. */
    send_requests(breaker, "b", 5, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    CHECK_INT(NETLIB_CIRCUIT_OPEN, state_of(breaker, "b"));
    netlib_breaker_free(breaker);
}

int main(void) {
    a_success_resets_the_count_of_failures();
    the_open_time_grows_by_30_seconds_per_opening_up_to_300_seconds();
    the_multiplier_decreases_by_one_for_each_10_seconds_that_the_key_is_closed();
    failures_from_before_the_key_opened_do_not_count_after_it_has_closed();
    at_most_the_given_percentage_of_the_keys_and_at_least_one_key_is_open();
    a_key_that_could_not_open_opens_after_5_further_failures_when_another_key_has_closed();
    a_dropped_key_does_not_count_as_an_open_key();
    return report("breaker consecutive");
}
