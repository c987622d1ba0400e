/* A machine with IPv6, with IPv6 that leads nowhere, and without. */
#define _GNU_SOURCE
#include "story.h"

static const struct host hosts[] = {
    {.address = "2001:db8::a", .answer = ACCEPTS},
    {.address = "203.0.113.1", .answer = ACCEPTS},
};

static void with_ipv6(int tun, enum way way) {
    static const struct attempt expected[] = {{"2001:db8::a", NETLIB_OK, 0, 0.0, 0.0}};
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    CHECK_INT(AF_UNSPEC, netlib_allowed_gai_family());
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::a");
    if (way != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    CHECK_INT(0, seen_at(&peer, 1).syns);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* An address that the system cannot send to at all fails at once, and the next is tried at once. */
static void to_ipv4_at_once(int tun, enum way way, int errnum) {
    const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CONNECT_FAILED, errnum, 0.0, 0.0},
        {"203.0.113.1", NETLIB_OK, 0, 0.0, 0.0},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_set_attempt_delay(options, 2.0);
    struct outcome outcome = connect_to(way, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    CHECK_SECONDS(0.0, outcome.seconds);
    if (way != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    CHECK_INT(0, seen_at(&peer, 0).syns);
    end(&outcome);

    /* The host has no other address. */
    outcome = connect_to(way, "2001:db8::a", options, NULL);
    CHECK_INT(1, (long long)netlib_error_cause_count(outcome.err));
    CHECK_INT(errnum, netlib_error_errno(outcome.err));
    CHECK_ENDED(NETLIB_CONNECT_FAILED, outcome);
    CHECK_SECONDS(0.0, outcome.seconds);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

static void without_ipv6(int tun, enum way way) {
    CHECK_INT(AF_INET, netlib_allowed_gai_family());
    to_ipv4_at_once(tun, way, EADDRNOTAVAIL);
}

/* It is there for the machine itself, so names are asked for both. */
static void with_ipv6_that_leads_nowhere(int tun, enum way way) {
    CHECK_INT(AF_UNSPEC, netlib_allowed_gai_family());
    to_ipv4_at_once(tun, way, ENETUNREACH);
}

int main(void) {
    static const struct story stories[] = {
        {"with IPv6", with_ipv6, RUN, 0},
        {"with IPv6", with_ipv6, STEPS, 0},
        {"with IPv6", with_ipv6, SEQUENTIAL, 0},
        {"without IPv6", without_ipv6, RUN, WITHOUT_IPV6},
        {"without IPv6", without_ipv6, STEPS, WITHOUT_IPV6},
        {"without IPv6", without_ipv6, SEQUENTIAL, WITHOUT_IPV6},
        {"with IPv6 that leads nowhere", with_ipv6_that_leads_nowhere, RUN, WITHOUT_IPV6_ROUTE},
        {"with IPv6 that leads nowhere", with_ipv6_that_leads_nowhere, STEPS, WITHOUT_IPV6_ROUTE},
        {"with IPv6 that leads nowhere", with_ipv6_that_leads_nowhere, SEQUENTIAL, WITHOUT_IPV6_ROUTE},
    };
    return TELL("netns families", stories);
}
