/* What ends a connect to hosts that never answer: a deadline, or a cancel from another thread. */
#define _GNU_SOURCE
#include "story.h"

static const struct host black_holes[] = {
    {.address = "2001:db8::a", .answer = SILENT},
    {.address = "203.0.113.1", .answer = SILENT},
    {.address = "2001:db8::b", .answer = SILENT},
};

static void black_holes_and_a_deadline(int tun, enum way way) {
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_DEADLINE_EXCEEDED, 0, 0.0, 0.6},
        {"203.0.113.1", NETLIB_DEADLINE_EXCEEDED, 0, 0.25, 0.6},
        {"2001:db8::b", NETLIB_DEADLINE_EXCEEDED, 0, 0.5, 0.6},
    };
    static const char *const message =
        "cannot connect to name.test port 80, 3 addresses tried, the last: the limit's deadline has passed";
    struct peer peer;
    START_PEER(&peer, tun, black_holes);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_limit *limit = limit_of(0.6);
    struct outcome outcome = connect_to(way, "name.test", options, limit);
    CHECK_INT(-1, outcome.fd);
    /* One after the other, the first takes all the time there is. */
    CHECK_INT(way == SEQUENTIAL ? 1 : 3, (long long)netlib_error_cause_count(outcome.err));
    if (way != SEQUENTIAL) CHECK_STR(message, netlib_error_message(outcome.err, NULL));
    CHECK_ENDED(NETLIB_DEADLINE_EXCEEDED, outcome);
    /* The limit is a little older than the call. */
    CHECK_SECONDS(0.59, outcome.seconds);
    if (way == SEQUENTIAL) {
        CHECK_INT(0, seen_at(&peer, 1).syns + seen_at(&peer, 2).syns);
    } else {
        struct attempt early[3];
        memcpy(early, expected, sizeof early);
        for (int i = 0; i < 3; i++) early[i].end -= 0.01;
        CHECK_ATTEMPTS(outcome.connect, early);
    }
    end(&outcome);
    netlib_limit_free(limit);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

struct canceller {
    struct peer *peer;
    size_t host;
    const netlib_limit *limit;
    double cancelled;
};

static void *cancel_when_asked(void *arg) {
    struct canceller *canceller = arg;
    await_syns(canceller->peer, canceller->host, 1);
    canceller->cancelled = netlib_current_time();
    netlib_limit_cancel(canceller->limit);
    return NULL;
}

/* When packets to the last address are on their way: the first, if one waits for the other. */
static void black_holes_and_a_cancel(int tun, enum way way) {
    struct peer peer;
    START_PEER(&peer, tun, black_holes);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    struct canceller canceller = {&peer, way == SEQUENTIAL ? 0 : 2, limit, 0.0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_when_asked, &canceller) == 0);
    struct outcome outcome = connect_to(way, "name.test", options, limit);
    double ended = netlib_current_time();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_SECONDS(0.0, ended - canceller.cancelled);
    CHECK_INT(-1, outcome.fd);
    CHECK_INT(way == SEQUENTIAL ? 1 : 3, (long long)netlib_error_cause_count(outcome.err));
    CHECK_ENDED(NETLIB_CANCELLED, outcome);
    if (way != SEQUENTIAL) {
        CHECK_INT(3, (long long)netlib_connect_attempt_count(outcome.connect));
        for (size_t i = 0; i < 3; i++) CHECK_INT(NETLIB_CANCELLED, netlib_connect_attempt_status(outcome.connect, i));
        CHECK_INT(-1, netlib_connect_winner(outcome.connect));
    }
    end(&outcome);
    netlib_limit_free(limit);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The nearer of the two ends an attempt. */
static void a_timeout_and_a_deadline(int tun, enum way way) {
    static const struct host hosts[] = {{.address = "203.0.113.1", .answer = SILENT}};
    static const struct {
        double timeout, deadline;
        netlib_status expected;
    } rows[] = {
        {0.2, 5.0, NETLIB_CONNECT_TIMEOUT},
        {5.0, 0.2, NETLIB_DEADLINE_EXCEEDED},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    for (size_t i = 0; i < 2; i++) {
        netlib_connect_options *options = options_for(&peer, rows[i].timeout);
        netlib_limit *limit = limit_of(rows[i].deadline);
        struct outcome outcome = connect_to(way, "name.test", options, limit);
        CHECK_ENDED(rows[i].expected, outcome);
        CHECK_SECONDS(0.19, outcome.seconds);
        end(&outcome);
        netlib_limit_free(limit);
        netlib_connect_options_free(options);
    }
    stop_peer(&peer);
}

int main(void) {
    static const struct story stories[] = {
        {"black holes and a deadline", black_holes_and_a_deadline, RUN, 0},
        {"black holes and a deadline", black_holes_and_a_deadline, STEPS, 0},
        {"black holes and a deadline", black_holes_and_a_deadline, SEQUENTIAL, 0},
        {"black holes and a cancel", black_holes_and_a_cancel, RUN, 0},
        {"black holes and a cancel", black_holes_and_a_cancel, STEPS, 0},
        {"black holes and a cancel", black_holes_and_a_cancel, SEQUENTIAL, 0},
        {"a timeout and a deadline", a_timeout_and_a_deadline, RUN, 0},
        {"a timeout and a deadline", a_timeout_and_a_deadline, STEPS, 0},
        {"a timeout and a deadline", a_timeout_and_a_deadline, SEQUENTIAL, 0},
    };
    return TELL("netns endings", stories);
}
