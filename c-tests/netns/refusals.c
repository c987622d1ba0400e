/* Tests each kind of refusal: RST and the ICMP errors. The error reports the errno and the duration of each attempt. */
#define _GNU_SOURCE
#include "scenario.h"

/* The delay of an ICMP error in seconds. If the error arrived during connect(2), the kernel would ignore it and repeat
 * the SYN after one second. */
#define ICMP_DELAY 0.03

struct refusal {
    struct host host;
    int errnum;
};

/* The address families alternate, so that racing and sequential connecting try the hosts in the same order. */
static const struct refusal refusals[] = {
    {{.address = "2001:db8::a", .answer = RESETS}, ECONNREFUSED},
    {{.address = "203.0.113.1", .answer = RESETS}, ECONNREFUSED},
    {{.address = "2001:db8::b", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 0}, ENETUNREACH},   /* no route */
    {{.address = "203.0.113.2", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 0}, ENETUNREACH},   /* network */
    {{.address = "2001:db8::c", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 1}, EACCES},        /* prohibited */
    {{.address = "203.0.113.3", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 13}, EHOSTUNREACH}, /* prohibited */
    {{.address = "2001:db8::d", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 3}, EHOSTUNREACH},  /* address */
    {{.address = "203.0.113.4", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 1}, EHOSTUNREACH},  /* host */
    {{.address = "2001:db8::e", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 4}, ECONNREFUSED},  /* port */
    {{.address = "203.0.113.5", .answer = UNREACHABLE, .delay = ICMP_DELAY, .code = 3}, ECONNREFUSED},  /* port */
};
enum { COUNT = sizeof refusals / sizeof refusals[0] };

/* Checks a cause: "ADDRESS port 80: TEXT (after S s)". */
static void check_cause(const netlib_error *cause, const struct refusal *refusal) {
    char expected[128];
    snprintf(expected, sizeof expected, "%s port 80: %s (after ", refusal->host.address, strerror(refusal->errnum));
    const char *message = netlib_error_message(cause, NULL);
    size_t len = strlen(expected);
    double seconds = -1.0;
    char rest[8] = "";
    CHECK(message != NULL && strncmp(expected, message, len) == 0);
    if (message != NULL && strlen(message) > len) CHECK_INT(2, sscanf(message + len, "%lf %7s", &seconds, rest));
    CHECK_STR("s)", rest);
    CHECK_SECONDS(refusal->host.delay, seconds);
    CHECK_INT(refusal->errnum, netlib_error_errno(cause));
    CHECK_INT(NETLIB_CONNECT_FAILED, netlib_error_status(cause));
}

static void each_refusal_is_reported_with_its_errno(int tun, enum api api) {
    struct host hosts[COUNT];
    struct attempt expected[COUNT];
    double elapsed = 0.0;
    for (int i = 0; i < COUNT; i++) {
        hosts[i] = refusals[i].host;
        expected[i].address = hosts[i].address;
        expected[i].status = NETLIB_CONNECT_FAILED;
        expected[i].errnum = refusals[i].errnum;
        expected[i].start = elapsed;
        expected[i].end = elapsed += hosts[i].delay;
    }
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    /* A refusal starts the next attempt immediately, even if the attempt delay has not passed. */
    netlib_connect_options_set_attempt_delay(options, 2.0);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_INT(-1, outcome.fd);
    CHECK_STR("cannot connect to name.test port 80, 10 addresses tried, the last: Connection refused",
              netlib_error_message(outcome.err, NULL));
    CHECK_INT(ECONNREFUSED, netlib_error_errno(outcome.err));
    CHECK_INT(COUNT, (long long)netlib_error_cause_count(outcome.err));
    for (size_t i = 0; i < COUNT; i++) check_cause(netlib_error_cause(outcome.err, i), &refusals[i]);
    CHECK_ENDED(NETLIB_CONNECT_FAILED, outcome);
    CHECK_SECONDS(elapsed, outcome.seconds);
    if (api != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    for (size_t i = 1; i < COUNT; i++) CHECK_GAP(&peer, i, i - 1, hosts[i - 1].delay);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The error of the whole call is the error of the attempt that ended last, even if another attempt started later. */
static void the_error_is_that_of_the_attempt_that_ended_last(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = UNREACHABLE, .delay = 0.6, .code = 1},
        {.address = "203.0.113.1", .answer = RESETS, .delay = 0.1},
    };
    static const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CONNECT_FAILED, EACCES, 0.0, 0.6},
        {"203.0.113.1", NETLIB_CONNECT_FAILED, ECONNREFUSED, 0.25, 0.35},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_STR("cannot connect to name.test port 80, 2 addresses tried, the last: Permission denied",
              netlib_error_message(outcome.err, NULL));
    CHECK_INT(EACCES, netlib_error_errno(outcome.err));
    CHECK_ENDED(NETLIB_CONNECT_FAILED, outcome);
    CHECK_SECONDS(0.6, outcome.seconds);
    CHECK_ATTEMPTS(outcome.connect, expected);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

int main(void) {
    static const struct scenario scenarios[] = {
        {"each refusal is reported with its errno", each_refusal_is_reported_with_its_errno, ALL_APIS, 0, NULL, NULL},
        {"the error is that of the attempt that ended last", the_error_is_that_of_the_attempt_that_ended_last,
         RACING_APIS, 0, NULL, NULL},
    };
    return RUN_SCENARIOS("netns refusals", scenarios);
}
