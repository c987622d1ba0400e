/* Who wins: RFC 8305 on a network whose hosts answer late, with a refusal, or not at all. */
#define _GNU_SOURCE
#include "story.h"

/* A network that swallows IPv6 costs one stagger, not one timeout. */
static void a_black_hole_beside_a_good_address(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = SILENT},
        {.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.02},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CLOSED, 0, 0.0, 0.27},
        {"203.0.113.1", NETLIB_OK, 0, 0.25, 0.27},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, way == SEQUENTIAL ? 0.4 : NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    if (way == SEQUENTIAL) {
        /* Which takes the whole timeout of the first address. */
        CHECK_SECONDS(0.42, outcome.seconds);
        CHECK_GAP(&peer, 1, 0, 0.4);
    } else {
        CHECK_SECONDS(0.27, outcome.seconds);
        CHECK_ATTEMPTS(outcome.connect, expected);
        CHECK_GAP(&peer, 1, 0, 0.25);
    }
    CHECK_INT(1, seen_at(&peer, 0).syns);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* A refusal is followed at once, silence after a stagger. */
static void two_dead_addresses_before_a_good_one(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = RESETS},
        {.address = "203.0.113.1", .answer = SILENT},
        {.address = "2001:db8::b", .answer = ACCEPTS},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.0, 0.0},
        {"203.0.113.1", NETLIB_CLOSED, 0, 0.0, 0.25},
        {"2001:db8::b", NETLIB_OK, 0, 0.25, 0.25},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, way == SEQUENTIAL ? 0.4 : NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::b");
    CHECK_SECONDS(way == SEQUENTIAL ? 0.4 : 0.25, outcome.seconds);
    CHECK_GAP(&peer, 1, 0, 0.0);
    CHECK_GAP(&peer, 2, 1, way == SEQUENTIAL ? 0.4 : 0.25);
    if (way != SEQUENTIAL) {
        CHECK_ATTEMPTS(outcome.connect, expected);
        double between = netlib_connect_attempt_start(outcome.connect, 2) - netlib_connect_attempt_start(outcome.connect, 1);
        CHECK_SECONDS(0.25, between);
        CHECK(netlib_connect_attempt_start(outcome.connect, 1) >= netlib_connect_attempt_end(outcome.connect, 0));
    }
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

static void a_lone_slow_address(int tun, enum way way) {
    static const struct host hosts[] = {{.address = "2001:db8::a", .answer = ACCEPTS, .delay = 0.9}};
    static const struct attempt expected[] = {{"2001:db8::a", NETLIB_OK, 0, 0.0, 0.9}};
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::a");
    CHECK_SECONDS(0.9, outcome.seconds);
    if (way != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

static void a_lone_address_slower_than_the_timeout(int tun, enum way way) {
    static const struct host hosts[] = {{.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.9}};
    static const struct attempt expected[] = {{"203.0.113.1", NETLIB_CONNECT_TIMEOUT, 0, 0.0, 0.3}};
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, 0.3);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_INT(-1, outcome.fd);
    CHECK_INT(1, (long long)netlib_error_cause_count(outcome.err));
    CHECK_STR("cannot connect to name.test port 80: the connect timeout passed", netlib_error_message(outcome.err, NULL));
    CHECK_INT(0, netlib_error_errno(outcome.err));
    CHECK_ENDED(NETLIB_CONNECT_TIMEOUT, outcome);
    CHECK_SECONDS(0.3, outcome.seconds);
    if (way != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    /* The socket is closed: the answer that comes at last is one to nobody. */
    await_reset(&peer, 0);
    CHECK_INT(0, seen_at(&peer, 0).opened);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The second begins late and answers soon. */
static void the_second_overtakes(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = ACCEPTS, .delay = 0.9},
        {.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.1},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CLOSED, 0, 0.0, 0.35},
        {"203.0.113.1", NETLIB_OK, 0, 0.25, 0.35},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    CHECK_SECONDS(0.35, outcome.seconds);
    CHECK_ATTEMPTS(outcome.connect, expected);
    await_reset(&peer, 0);
    CHECK_INT(0, seen_at(&peer, 0).opened);
    CHECK_INT(0, seen_at(&peer, 1).reset);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* Who has begun goes on: a stagger ends nothing. */
static void the_first_wins_after_the_second_began(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = ACCEPTS, .delay = 0.3},
        {.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.15},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_OK, 0, 0.0, 0.3},
        {"203.0.113.1", NETLIB_CLOSED, 0, 0.25, 0.3},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::a");
    CHECK_SECONDS(0.3, outcome.seconds);
    CHECK_ATTEMPTS(outcome.connect, expected);
    await_reset(&peer, 1);
    CHECK_INT(0, seen_at(&peer, 0).reset);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The connect timeout is each attempt's own, and ends what began first first. */
static void timeouts_overlap(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = SILENT},
        {.address = "203.0.113.1", .answer = SILENT},
        {.address = "2001:db8::b", .answer = ACCEPTS, .delay = 0.3},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CONNECT_TIMEOUT, 0, 0.0, 0.4},
        {"203.0.113.1", NETLIB_CONNECT_TIMEOUT, 0, 0.25, 0.65},
        {"2001:db8::b", NETLIB_OK, 0, 0.5, 0.8},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, 0.4);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::b");
    CHECK_SECONDS(0.8, outcome.seconds);
    CHECK_ATTEMPTS(outcome.connect, expected);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* A refusal brings the next turn forward only if it is of the attempt that began last. */
static void a_late_refusal_of_the_first(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = RESETS, .delay = 0.3},
        {.address = "203.0.113.1", .answer = SILENT},
        {.address = "2001:db8::b", .answer = RESETS, .delay = 0.1},
        {.address = "203.0.113.2", .answer = ACCEPTS},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.0, 0.3},
        {"203.0.113.1", NETLIB_CLOSED, 0, 0.25, 0.6},
        {"2001:db8::b", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.5, 0.6},
        {"203.0.113.2", NETLIB_OK, 0, 0.6, 0.6},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.2");
    CHECK_ATTEMPTS(outcome.connect, expected);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The resolver had IPv6 first. */
static void families_take_turns(int tun, enum way way) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = SILENT},
        {.address = "2001:db8::b", .answer = SILENT},
        {.address = "203.0.113.1", .answer = SILENT},
        {.address = "203.0.113.2", .answer = ACCEPTS},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CLOSED, 0, 0.0, 0.3},
        {"203.0.113.1", NETLIB_CLOSED, 0, 0.1, 0.3},
        {"2001:db8::b", NETLIB_CLOSED, 0, 0.2, 0.3},
        {"203.0.113.2", NETLIB_OK, 0, 0.3, 0.3},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, way == SEQUENTIAL ? 0.1 : NETLIB_TIMEOUT_NONE);
    netlib_connect_options_set_attempt_delay(options, 0.1);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.2");
    if (way == SEQUENTIAL) {
        /* Which keeps the resolver's order. */
        CHECK_SECONDS(0.3, outcome.seconds);
        for (size_t i = 1; i < 4; i++) CHECK_GAP(&peer, i, i - 1, 0.1);
    } else {
        CHECK_ATTEMPTS(outcome.connect, expected);
        CHECK_GAP(&peer, 2, 0, 0.1);
        CHECK_GAP(&peer, 1, 2, 0.1);
        CHECK_GAP(&peer, 3, 1, 0.1);
    }
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

int main(void) {
    static const struct story stories[] = {
        {"a black hole beside a good address", a_black_hole_beside_a_good_address, RUN, 0},
        {"a black hole beside a good address", a_black_hole_beside_a_good_address, STEPS, 0},
        {"a black hole beside a good address", a_black_hole_beside_a_good_address, SEQUENTIAL, 0},
        {"two dead addresses before a good one", two_dead_addresses_before_a_good_one, RUN, 0},
        {"two dead addresses before a good one", two_dead_addresses_before_a_good_one, STEPS, 0},
        {"two dead addresses before a good one", two_dead_addresses_before_a_good_one, SEQUENTIAL, 0},
        {"a lone slow address", a_lone_slow_address, RUN, 0},
        {"a lone slow address", a_lone_slow_address, STEPS, 0},
        {"a lone slow address", a_lone_slow_address, SEQUENTIAL, 0},
        {"a lone address slower than the timeout", a_lone_address_slower_than_the_timeout, RUN, 0},
        {"a lone address slower than the timeout", a_lone_address_slower_than_the_timeout, STEPS, 0},
        {"a lone address slower than the timeout", a_lone_address_slower_than_the_timeout, SEQUENTIAL, 0},
        {"the second overtakes", the_second_overtakes, RUN, 0},
        {"the second overtakes", the_second_overtakes, STEPS, 0},
        {"the first wins after the second began", the_first_wins_after_the_second_began, RUN, 0},
        {"the first wins after the second began", the_first_wins_after_the_second_began, STEPS, 0},
        {"timeouts overlap", timeouts_overlap, RUN, 0},
        {"timeouts overlap", timeouts_overlap, STEPS, 0},
        {"a late refusal of the first", a_late_refusal_of_the_first, RUN, 0},
        {"families take turns", families_take_turns, RUN, 0},
        {"families take turns", families_take_turns, SEQUENTIAL, 0},
    };
    return TELL("netns races", stories);
}
