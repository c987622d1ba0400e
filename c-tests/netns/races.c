/* Tests which address gets the connection, and when, if hosts answer late, refuse connections or never answer. Each
 * test connects by racing and sequentially. */
#define _GNU_SOURCE
#include "scenario.h"

enum { RACE_HOSTS = 4 };

/* The value in `syn` for a host to which no SYN is sent. */
#define NO_SYN (-1.0)

/* The timeout and the expected times of racing or of sequential connecting. */
struct expectation {
    double timeout, seconds;
    /* The seconds between the first SYN at host 1 and the first SYN at each host. */
    double syn[RACE_HOSTS];
    /* The number, counted from 1, of the host whose late answer gets a RST because the attempt has ended. 0 if there is
     * no such host. */
    size_t reset;
};

struct race {
    const char *name;
    struct host hosts[RACE_HOSTS];
    /* The attempt delay in seconds. 0 means the default of 250 ms. */
    double attempt_delay;
    netlib_status status;
    const char *winner;
    struct expectation racing, sequential;
    /* The expected attempts in the report of the race. */
    struct attempt attempts[RACE_HOSTS];
};

static const struct race races[] = {
    {
        .name = "a silent address delays a race by the attempt delay, and sequential attempts by the timeout",
        .hosts = {{.address = "2001:db8::a", .answer = SILENT},
                  {.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.02}},
        .status = NETLIB_OK,
        .winner = "203.0.113.1",
        .racing = {NETLIB_TIMEOUT_NONE, 0.27, {0.0, 0.25}, 0},
        .sequential = {0.4, 0.42, {0.0, 0.4}, 0},
        .attempts = {{"2001:db8::a", NETLIB_CLOSED, 0, 0.0, 0.27}, {"203.0.113.1", NETLIB_OK, 0, 0.25, 0.27}},
    },
    {
        .name = "a refusal starts the next attempt immediately",
        .hosts = {{.address = "2001:db8::a", .answer = RESETS},
                  {.address = "203.0.113.1", .answer = SILENT},
                  {.address = "2001:db8::b", .answer = ACCEPTS}},
        .status = NETLIB_OK,
        .winner = "2001:db8::b",
        .racing = {NETLIB_TIMEOUT_NONE, 0.25, {0.0, 0.0, 0.25}, 0},
        .sequential = {0.4, 0.4, {0.0, 0.0, 0.4}, 0},
        .attempts = {{"2001:db8::a", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.0, 0.0},
                     {"203.0.113.1", NETLIB_CLOSED, 0, 0.0, 0.25},
                     {"2001:db8::b", NETLIB_OK, 0, 0.25, 0.25}},
    },
    {
        .name = "a single slow address wins",
        .hosts = {{.address = "2001:db8::a", .answer = ACCEPTS, .delay = 0.9}},
        .status = NETLIB_OK,
        .winner = "2001:db8::a",
        .racing = {NETLIB_TIMEOUT_NONE, 0.9, {0.0}, 0},
        .sequential = {NETLIB_TIMEOUT_NONE, 0.9, {0.0}, 0},
        .attempts = {{"2001:db8::a", NETLIB_OK, 0, 0.0, 0.9}},
    },
    {
        .name = "a single address that is slower than the timeout fails",
        .hosts = {{.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.9}},
        .status = NETLIB_CONNECT_TIMEOUT,
        .racing = {0.3, 0.3, {0.0}, 1},
        .sequential = {0.3, 0.3, {0.0}, 1},
        .attempts = {{"203.0.113.1", NETLIB_CONNECT_TIMEOUT, 0, 0.0, 0.3}},
    },
    {
        .name = "a later attempt can win",
        .hosts = {{.address = "2001:db8::a", .answer = ACCEPTS, .delay = 0.9},
                  {.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.1}},
        .status = NETLIB_OK,
        .winner = "203.0.113.1",
        .racing = {NETLIB_TIMEOUT_NONE, 0.35, {0.0, 0.25}, 1},
        .sequential = {0.4, 0.5, {0.0, 0.4}, 1},
        .attempts = {{"2001:db8::a", NETLIB_CLOSED, 0, 0.0, 0.35}, {"203.0.113.1", NETLIB_OK, 0, 0.25, 0.35}},
    },
    {
        .name = "the first attempt continues after the second has started",
        .hosts = {{.address = "2001:db8::a", .answer = ACCEPTS, .delay = 0.3},
                  {.address = "203.0.113.1", .answer = ACCEPTS, .delay = 0.15}},
        .status = NETLIB_OK,
        .winner = "2001:db8::a",
        .racing = {NETLIB_TIMEOUT_NONE, 0.3, {0.0, 0.25}, 2},
        .sequential = {NETLIB_TIMEOUT_NONE, 0.3, {0.0, NO_SYN}, 0},
        .attempts = {{"2001:db8::a", NETLIB_OK, 0, 0.0, 0.3}, {"203.0.113.1", NETLIB_CLOSED, 0, 0.25, 0.3}},
    },
    {
        .name = "each attempt has its own timeout",
        .hosts = {{.address = "2001:db8::a", .answer = SILENT},
                  {.address = "203.0.113.1", .answer = SILENT},
                  {.address = "2001:db8::b", .answer = ACCEPTS, .delay = 0.3}},
        .status = NETLIB_OK,
        .winner = "2001:db8::b",
        .racing = {0.4, 0.8, {0.0, 0.25, 0.5}, 0},
        .sequential = {0.4, 1.1, {0.0, 0.4, 0.8}, 0},
        .attempts = {{"2001:db8::a", NETLIB_CONNECT_TIMEOUT, 0, 0.0, 0.4},
                     {"203.0.113.1", NETLIB_CONNECT_TIMEOUT, 0, 0.25, 0.65},
                     {"2001:db8::b", NETLIB_OK, 0, 0.5, 0.8}},
    },
    {
        .name = "only the failure of the last attempt starts the next one early",
        .hosts = {{.address = "2001:db8::a", .answer = RESETS, .delay = 0.3},
                  {.address = "203.0.113.1", .answer = SILENT},
                  {.address = "2001:db8::b", .answer = RESETS, .delay = 0.1},
                  {.address = "203.0.113.2", .answer = ACCEPTS}},
        .status = NETLIB_OK,
        .winner = "203.0.113.2",
        .racing = {NETLIB_TIMEOUT_NONE, 0.6, {0.0, 0.25, 0.5, 0.6}, 0},
        .sequential = {0.4, 0.8, {0.0, 0.3, 0.7, 0.8}, 0},
        .attempts = {{"2001:db8::a", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.0, 0.3},
                     {"203.0.113.1", NETLIB_CLOSED, 0, 0.25, 0.6},
                     {"2001:db8::b", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.5, 0.6},
                     {"203.0.113.2", NETLIB_OK, 0, 0.6, 0.6}},
    },
    {
        .name = "families alternate when racing; sequential attempts keep the order of the resolver",
        .hosts = {{.address = "2001:db8::a", .answer = SILENT},
                  {.address = "2001:db8::b", .answer = SILENT},
                  {.address = "203.0.113.1", .answer = SILENT},
                  {.address = "203.0.113.2", .answer = ACCEPTS}},
        .attempt_delay = 0.1,
        .status = NETLIB_OK,
        .winner = "203.0.113.2",
        .racing = {NETLIB_TIMEOUT_NONE, 0.3, {0.0, 0.2, 0.1, 0.3}, 0},
        .sequential = {0.1, 0.3, {0.0, 0.1, 0.2, 0.3}, 0},
        .attempts = {{"2001:db8::a", NETLIB_CLOSED, 0, 0.0, 0.3},
                     {"203.0.113.1", NETLIB_CLOSED, 0, 0.1, 0.3},
                     {"2001:db8::b", NETLIB_CLOSED, 0, 0.2, 0.3},
                     {"203.0.113.2", NETLIB_OK, 0, 0.3, 0.3}},
    },
};
enum { RACES = sizeof races / sizeof races[0] };

static void run_race(int tun, enum api api, const void *row) {
    const struct race *race = row;
    const struct expectation *expected = api == SEQUENTIAL ? &race->sequential : &race->racing;
    size_t count = 0;
    while (count < RACE_HOSTS && race->hosts[count].address != NULL) count++;
    struct peer peer;
    start_peer(&peer, tun, race->hosts, count);
    netlib_connect_options *options = options_for(&peer, expected->timeout);
    if (race->attempt_delay > 0.0) netlib_connect_options_set_attempt_delay(options, race->attempt_delay);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_INT(race->winner != NULL, outcome.fd >= 0);
    if (race->winner != NULL) {
        CHECK_CONNECTED(outcome.fd, race->winner);
    } else {
        CHECK_STR("cannot connect to name.test port 80: the connect timeout passed",
                  netlib_error_message(outcome.err, NULL));
        CHECK_INT((long long)count, (long long)netlib_error_cause_count(outcome.err));
        CHECK_INT(0, netlib_error_errno(outcome.err));
    }
    CHECK_ENDED(race->status, outcome);
    CHECK_SECONDS(expected->seconds, outcome.seconds);
    if (api != SEQUENTIAL) check_attempts(outcome.connect, race->attempts, count, __FILE__, __LINE__);
    for (size_t i = 0; i < count; i++) {
        bool has_syn = expected->syn[i] >= 0.0;
        if (i > 0 && has_syn) CHECK_GAP(&peer, i, 0, expected->syn[i]);
        /* The tolerance of CHECK_GAP exceeds a short delay, so the test also compares the order of the SYNs. */
        for (size_t j = 0; j < count && has_syn; j++) {
            if (expected->syn[j] > expected->syn[i]) CHECK(seen_at(&peer, i).first < seen_at(&peer, j).first);
        }
        if (!has_syn) CHECK_INT(0, seen_at(&peer, i).syns);
        /* The kernel repeats a SYN after one second, so a shorter attempt sends exactly one SYN. */
        if (has_syn && outcome.seconds < 0.9) CHECK_INT(1, seen_at(&peer, i).syns);
        if (race->winner != NULL && strcmp(race->winner, race->hosts[i].address) == 0)
            CHECK_INT(0, seen_at(&peer, i).reset);
    }
    if (expected->reset > 0) {
        await_reset(&peer, expected->reset - 1);
        CHECK_INT(0, seen_at(&peer, expected->reset - 1).opened);
    }
    /* An attempt starts after the attempt delay has passed or after the previous attempt has failed, never earlier. */
    for (size_t i = 1; i < count && api != SEQUENTIAL; i++) {
        double start = netlib_connect_attempt_start(outcome.connect, i);
        double delay = race->attempt_delay > 0.0 ? race->attempt_delay : 0.25;
        bool after_delay = start - netlib_connect_attempt_start(outcome.connect, i - 1) >= delay;
        bool after_failure = start >= netlib_connect_attempt_end(outcome.connect, i - 1);
        CHECK(after_delay || after_failure);
    }
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

int main(void) {
    struct scenario scenarios[RACES];
    memset(scenarios, 0, sizeof scenarios);
    for (size_t i = 0; i < RACES; i++) {
        scenarios[i].name = races[i].name;
        scenarios[i].run_row = run_race;
        scenarios[i].row = &races[i];
        scenarios[i].apis = ALL_APIS;
    }
    return RUN_SCENARIOS("netns races", scenarios);
}
