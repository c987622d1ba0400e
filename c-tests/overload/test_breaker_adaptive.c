/* Tests the breaker that refuses a random fraction of the requests: the client-side throttling of Google's book "Site
 * Reliability Engineering", chapter "Handling Overload". */
#include "overload/breaker.h"

/* Asks for `requests` requests, which the breaker permits. The first `accepted` requests succeed. */
static void fill(struct world *world, netlib_breaker *breaker, int requests, int accepted) {
    world->random = 1 - 0x1p-53;
    for (int i = 0; i < requests; i++) {
        uint64_t permit = ask(breaker, "a");
        netlib_breaker_report(breaker, permit, i < accepted ? NETLIB_REPORT_SUCCESS : NETLIB_REPORT_FAILURE);
    }
}

/* Returns whether a request with this random number is permitted. */
static bool is_permitted(struct world *world, netlib_breaker *breaker, double random) {
    world->random = random;
    return ask(breaker, "a") != 0;
}

/* p = max(0, (requests - K * accepts) / (requests + 1)). A request is refused if its random number is below p, so the
 * request with p itself is permitted, and the request with the next smaller number is refused. */
static void the_probability_is_that_of_the_formula(void) {
    static const struct {
        double multiplier;
        int requests, accepted;
        double max, p;
    } rows[] = {
        {2, 0, 0, 1, 0},
        {2, 1, 0, 1, 1.0 / 2},
        {2, 9, 0, 1, 9.0 / 10},
        {2, 99, 0, 1, 99.0 / 100},
        {2, 100, 100, 1, 0},
        {2, 100, 51, 1, 0},
        {2, 100, 50, 1, 0},
        {2, 100, 49, 1, 2.0 / 101},
        {2, 100, 25, 1, 50.0 / 101},
        {2, 1000, 100, 1, 800.0 / 1001},
        {1.1, 100, 90, 1, (100 - 1.1 * 90) / 101},
        {1.1, 100, 91, 1, 0},
        {1, 100, 100, 1, 0},
        {1, 100, 99, 1, 1.0 / 101},
        /* Envoy's admission control with its defaults: K = 1 / 0.95, at most 0.8. */
        {1 / .95, 1000, 950, .8, 0},
        {1 / .95, 1000, 940, .8, (1000 - 1 / .95 * 940) / 1001},
        {1 / .95, 1000, 500, .8, (1000 - 1 / .95 * 500) / 1001},
        {1 / .95, 1000, 0, .8, .8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int below = 0; below < 2; below++) {
            struct world world = {0};
            netlib_breaker *breaker = adaptive_breaker(&world, rows[i].multiplier, 1, 120, rows[i].max);
            fill(&world, breaker, rows[i].requests, rows[i].accepted);
            CHECK_INT(rows[i].p > 0 ? NETLIB_CIRCUIT_HALF_OPEN : NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
            if (below == 0) CHECK(is_permitted(&world, breaker, rows[i].p));
            if (below == 1 && rows[i].p > 0) CHECK(!is_permitted(&world, breaker, nextafter(rows[i].p, 0)));
            netlib_breaker_free(breaker);
        }
    }
}

static void a_clone_of_the_options_keeps_the_rule_and_the_callbacks(void) {
    struct world world = {0};
    netlib_error *err = NULL;
    netlib_breaker *breaker = NULL;
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_adaptive(options, 2, 1, 120, 1);
    netlib_breaker_options_set_clock(options, world_clock, &world, NULL);
    netlib_breaker_options_set_random(options, world_random, &world, NULL);
    netlib_breaker_options *clone = netlib_breaker_options_clone(options);
    netlib_breaker_options_set_consecutive(options, 1, 1, 1, 100);
    netlib_breaker_options_set_random(options, NULL, NULL, NULL);
    netlib_breaker_options_free(options);
    CHECK_OK(netlib_breaker_new(clone, &breaker, &err));
    netlib_breaker_options_free(clone);
    fill(&world, breaker, 9, 0);
    CHECK(!is_permitted(&world, breaker, .899));
    CHECK_INT(10, world.random_calls);
    netlib_breaker_free(breaker);
}

static void a_request_counts_before_it_is_sent_and_also_if_it_is_refused(void) {
    struct world world = {.random = 1 - 0x1p-53};
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 1, 120, 1);
    /* Nine requests that have no outcome yet: p = 9 / 10. The refused tenth request makes it 10 / 11. */
    for (int i = 0; i < 9; i++) CHECK(ask(breaker, "a") != 0);
    CHECK(!is_permitted(&world, breaker, .899));
    CHECK(!is_permitted(&world, breaker, .909));
    CHECK(is_permitted(&world, breaker, .917));
    CHECK(is_permitted(&world, breaker, .924));
    netlib_breaker_free(breaker);
}

static void requests_that_are_reported_as_none_do_not_count(void) {
    struct world world = {.random = 1 - 0x1p-53};
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 1, 120, 1);
    uint64_t permits[9];
    for (int i = 0; i < 9; i++) permits[i] = ask(breaker, "a");
    for (int i = 0; i < 8; i++) netlib_breaker_report(breaker, permits[i], NETLIB_REPORT_NONE);
    CHECK(!is_permitted(&world, breaker, .499));
    /* Two requests count: p = 2 / 3. */
    CHECK(is_permitted(&world, breaker, .667));
    world.now = 130;
    netlib_breaker_report(breaker, permits[8], NETLIB_REPORT_NONE);
    CHECK(is_permitted(&world, breaker, 0));
    CHECK(is_permitted(&world, breaker, .5));
    netlib_breaker_free(breaker);
}

static void nothing_is_refused_below_the_minimum(void) {
    struct world world = {.random = 0};
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 100, 120, 1);
    for (int i = 0; i < 100; i++) CHECK(ask(breaker, "a") != 0);
    CHECK_INT(NETLIB_CIRCUIT_HALF_OPEN, state_of(breaker, "a"));
    CHECK(ask(breaker, "a") == 0);
    netlib_breaker_free(breaker);
}

/* A breaker of go-zero counted requests only when they ended. */
static void a_server_that_answers_nothing_is_noticed_before_the_first_timeout(void) {
    struct world world = {0};
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 10, 10, 1);
    int permitted = 0;
    for (int i = 0; i < 1000; i++) {
        world.now = i / 100.0;
        permitted += is_permitted(&world, breaker, (i * 37 % 100) / 100.0);
    }
    /* 10 requests pass below the minimum; then request i passes with the probability 1 / (i + 1). */
    CHECK(permitted >= 10 && permitted < 30);
    netlib_breaker_free(breaker);
}

static void a_server_that_is_slower_than_the_window_is_not_throttled(void) {
    struct world world = {.random = 0};
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 26, 1, 1);
    uint64_t permits[200];
    /* Ten requests per second, each of which succeeds after 2.5 seconds. */
    for (int i = 0; i < 200; i++) {
        world.now = i * .1;
        if (i >= 25) netlib_breaker_report(breaker, permits[i - 25], NETLIB_REPORT_SUCCESS);
        permits[i] = ask(breaker, "a");
        CHECK(permits[i] != 0);
    }
    netlib_breaker_free(breaker);
}

static void a_refused_request_may_ask_again_when_the_window_moves(void) {
    struct world world = {.now = 100};
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 1, 120, 1);
    fill(&world, breaker, 9, 0);
    world.random = 0;
    CHECK_DOUBLE(12, wait_of(breaker, "a"));
    world.now = 111;
    CHECK_DOUBLE(1, wait_of(breaker, "a"));
    /* Never 0, even if less than a microsecond is missing. */
    world.now = nextafter(112, 0);
    CHECK_DOUBLE(1e-6, wait_of(breaker, "a"));
    world.now = 112;
    CHECK_DOUBLE(12, wait_of(breaker, "a"));
    /* At 220, the first bucket expires; three refused requests remain. */
    world.now = 220;
    CHECK(!is_permitted(&world, breaker, .49));
    netlib_breaker_free(breaker);
}

static void without_a_callback_the_refused_fraction_is_random(void) {
    netlib_error *err = NULL;
    netlib_breaker *breaker = NULL;
    netlib_breaker_options *options = netlib_breaker_options_new();
    netlib_breaker_options_set_adaptive(options, 1, 1, 1e6, .5);
    CHECK_OK(netlib_breaker_new(options, &breaker, &err));
    netlib_breaker_options_free(options);
    int permitted = 0;
    for (int i = 0; i < 10000; i++) permitted += ask(breaker, "a") != 0;
    /* 10,000 draws with the probability 0.5: the standard deviation is 50. */
    CHECK(permitted > 4500 && permitted < 5500);
    netlib_breaker_free(breaker);
}

static void an_invalid_random_number_is_refused_and_counts_no_request(void) {
    static const double numbers[] = {-.1, 1, NAN, INFINITY};
    struct world world = {0};
    netlib_error *err = NULL;
    uint64_t permit = 99;
    double seconds = 99;
    netlib_breaker *breaker = adaptive_breaker(&world, 2, 1, 120, 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        world.random = numbers[i];
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_breaker_ask(breaker, "a", 1, &permit, &seconds, &err));
        CHECK_INT(0, (long long)permit);
        CHECK_DOUBLE(0, seconds);
    }
    world.random = 0, world.result = 1;
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_breaker_ask(breaker, "a", 1, &permit, &seconds, &err));
    world.result = 0;
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state_of(breaker, "a"));
    netlib_breaker_free(breaker);
    /* The other breakers need no random number. */
    world = (struct world){.random = NAN};
    breaker = ratio_breaker(&world, .5, 1, 10, 5, 1);
    send_requests(breaker, "a", 1, NETLIB_REPORT_SUCCESS);
    CHECK_INT(0, world.random_calls);
    CHECK_INT(2, world.clock_calls);
    netlib_breaker_free(breaker);
}

int main(void) {
    the_probability_is_that_of_the_formula();
    a_clone_of_the_options_keeps_the_rule_and_the_callbacks();
    a_request_counts_before_it_is_sent_and_also_if_it_is_refused();
    requests_that_are_reported_as_none_do_not_count();
    nothing_is_refused_below_the_minimum();
    a_server_that_answers_nothing_is_noticed_before_the_first_timeout();
    a_server_that_is_slower_than_the_window_is_not_throttled();
    a_refused_request_may_ask_again_when_the_window_moves();
    without_a_callback_the_refused_fraction_is_random();
    an_invalid_random_number_is_refused_and_counts_no_request();
    return report("breaker adaptive");
}
