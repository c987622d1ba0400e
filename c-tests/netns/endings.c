/* Tests that a deadline, a timeout or a cancel from another thread ends the attempts to connect to hosts that never
 * answer. */
#define _GNU_SOURCE
#include "scenario.h"

static const struct host silent_hosts[] = {
    {.address = "2001:db8::a", .answer = SILENT},
    {.address = "203.0.113.1", .answer = SILENT},
    {.address = "2001:db8::b", .answer = SILENT},
};

static void a_deadline_ends_all_attempts(int tun, enum api api) {
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_DEADLINE_EXCEEDED, 0, 0.0, 0.6},
        {"203.0.113.1", NETLIB_DEADLINE_EXCEEDED, 0, 0.25, 0.6},
        {"2001:db8::b", NETLIB_DEADLINE_EXCEEDED, 0, 0.5, 0.6},
    };
    static const char *const message =
        "cannot connect to name.test port 80, 3 addresses tried, the last: the limit's deadline has passed";
    struct peer peer;
    START_PEER(&peer, tun, silent_hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_limit *limit = limit_of(0.6);
    struct outcome outcome = connect_to(api, "name.test", options, limit);
    CHECK_INT(-1, outcome.fd);
    /* Sequential connecting spends all of the time on its first attempt. */
    CHECK_INT(api == SEQUENTIAL ? 1 : 3, (long long)netlib_error_cause_count(outcome.err));
    if (api != SEQUENTIAL) CHECK_STR(message, netlib_error_message(outcome.err, NULL));
    CHECK_ENDED(NETLIB_DEADLINE_EXCEEDED, outcome);
    /* The 0.6 s until the deadline began shortly before the call. */
    CHECK_SECONDS(0.59, outcome.seconds);
    if (api == SEQUENTIAL) {
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

static void *cancel_after_syn(void *arg) {
    struct canceller *canceller = arg;
    await_syns(canceller->peer, canceller->host, 1);
    canceller->cancelled = netlib_current_time();
    netlib_limit_cancel(canceller->limit);
    return NULL;
}

/* Cancels after the last attempt has started. Sequential connecting starts only one attempt. */
static void a_cancel_ends_all_attempts(int tun, enum api api) {
    struct peer peer;
    START_PEER(&peer, tun, silent_hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    struct canceller canceller = {&peer, api == SEQUENTIAL ? 0 : 2, limit, 0.0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_after_syn, &canceller) == 0);
    struct outcome outcome = connect_to(api, "name.test", options, limit);
    double ended = netlib_current_time();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_SECONDS(0.0, ended - canceller.cancelled);
    CHECK_INT(-1, outcome.fd);
    CHECK_INT(api == SEQUENTIAL ? 1 : 3, (long long)netlib_error_cause_count(outcome.err));
    CHECK_ENDED(NETLIB_CANCELLED, outcome);
    if (api != SEQUENTIAL) {
        CHECK_INT(3, (long long)netlib_connect_attempt_count(outcome.connect));
        for (size_t i = 0; i < 3; i++) CHECK_INT(NETLIB_CANCELLED, netlib_connect_attempt_status(outcome.connect, i));
        CHECK_INT(-1, netlib_connect_winner(outcome.connect));
    }
    end(&outcome);
    netlib_limit_free(limit);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

static void the_earlier_of_timeout_and_deadline_sets_the_status(int tun, enum api api) {
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
        struct outcome outcome = connect_to(api, "name.test", options, limit);
        CHECK_ENDED(rows[i].expected, outcome);
        CHECK_SECONDS(0.19, outcome.seconds);
        end(&outcome);
        netlib_limit_free(limit);
        netlib_connect_options_free(options);
    }
    stop_peer(&peer);
}

int main(void) {
    static const struct scenario scenarios[] = {
        {"a deadline ends all attempts", a_deadline_ends_all_attempts, ALL_APIS, 0, NULL, NULL},
        {"a cancel ends all attempts", a_cancel_ends_all_attempts, ALL_APIS, 0, NULL, NULL},
        {"the earlier of timeout and deadline sets the status", the_earlier_of_timeout_and_deadline_sets_the_status,
         ALL_APIS, 0, NULL, NULL},
    };
    return RUN_SCENARIOS("netns endings", scenarios);
}
