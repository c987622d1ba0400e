/* Tests the choice of address families on machines with IPv6, without an IPv6 route, and without IPv6. */
#define _GNU_SOURCE
#include "scenario.h"

static const struct host hosts[] = {
    {.address = "2001:db8::a", .answer = ACCEPTS},
    {.address = "203.0.113.1", .answer = ACCEPTS},
};

static void ipv6_addresses_are_tried_first(int tun, enum api api) {
    static const struct attempt expected[] = {{"2001:db8::a", NETLIB_OK, 0, 0.0, 0.0}};
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    CHECK_INT(AF_UNSPEC, netlib_allowed_gai_family());
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::a");
    if (api != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    CHECK_INT(0, seen_at(&peer, 1).syns);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* An attempt to an unreachable address fails immediately, and then the next attempt starts immediately. */
static void falls_back_to_ipv4(int tun, enum api api, int errnum) {
    const struct attempt expected[] = {
        {"2001:db8::a", NETLIB_CONNECT_FAILED, errnum, 0.0, 0.0},
        {"203.0.113.1", NETLIB_OK, 0, 0.0, 0.0},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_set_attempt_delay(options, 2.0);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    CHECK_SECONDS(0.0, outcome.seconds);
    if (api != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    CHECK_INT(0, seen_at(&peer, 0).syns);
    end(&outcome);

    /* If the only address is unreachable, connecting fails with the errno of the attempt. */
    outcome = connect_to(api, "2001:db8::a", options, NULL);
    CHECK_INT(1, (long long)netlib_error_cause_count(outcome.err));
    CHECK_INT(errnum, netlib_error_errno(outcome.err));
    CHECK_ENDED(NETLIB_CONNECT_FAILED, outcome);
    CHECK_SECONDS(0.0, outcome.seconds);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

static void without_ipv6_connects_fall_back_to_ipv4(int tun, enum api api) {
    CHECK_INT(AF_INET, netlib_allowed_gai_family());
    falls_back_to_ipv4(tun, api, EADDRNOTAVAIL);
}

/* The loopback device has an IPv6 address, so the resolver returns addresses of both families. */
static void without_a_route_connects_fall_back_to_ipv4(int tun, enum api api) {
    CHECK_INT(AF_UNSPEC, netlib_allowed_gai_family());
    falls_back_to_ipv4(tun, api, ENETUNREACH);
}

int main(void) {
    static const struct scenario scenarios[] = {
        {"IPv6 addresses are tried first", ipv6_addresses_are_tried_first, ALL_APIS, 0, NULL, NULL},
        {"without IPv6 connects fall back to IPv4", without_ipv6_connects_fall_back_to_ipv4, ALL_APIS, WITHOUT_IPV6,
         NULL, NULL},
        {"without a route connects fall back to IPv4", without_a_route_connects_fall_back_to_ipv4, ALL_APIS,
         WITHOUT_IPV6_ROUTE, NULL, NULL},
    };
    return RUN_SCENARIOS("netns families", scenarios);
}
