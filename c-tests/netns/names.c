/* Tests names that resolve to refused addresses, name servers that never answer, that answer for one address family
 * only, or that change their answer, and lookups without free descriptors. */
#define _GNU_SOURCE
#include "scenario.h"

#include <netdb.h>
#include <sys/resource.h>

static const char *no_answer(const char *name, int family, int query) {
    (void)name, (void)family, (void)query;
    return NULL;
}

static const char *only_ipv4_is_answered(const char *name, int family, int query) {
    (void)name, (void)query;
    return family == AF_INET ? "203.0.113.1" : NULL;
}

static const char *both_families(const char *name, int family, int query) {
    (void)query;
    if (strcmp(name, "name.test") != 0) return "";
    return family == AF_INET ? "203.0.113.1" : "2001:db8::a";
}

/* Returns a public address if the query number is even, and a private address if the query number is odd. */
static const char *rebinding(const char *name, int family, int query) {
    (void)name;
    if (family == AF_INET6) return "";
    return query % 2 == 0 ? "203.0.113.1" : "10.0.0.1";
}

static const char *rebinding_ipv6(const char *name, int family, int query) {
    static const char *const inner[] = {"fd00::1", "::ffff:10.0.0.1", "::1", "fe80::1"};
    (void)name;
    if (family == AF_INET) return "";
    return query % 2 == 0 ? "2001:db8::a" : inner[query / 2 % 4];
}

static void a_and_aaaa_records_are_queried_with_ipv6(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = both_families},
        {.address = "2001:db8::a", .answer = ACCEPTS},
        {.address = "203.0.113.1", .answer = ACCEPTS},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "2001:db8::a");
    CHECK_INT(1, seen_at(&peer, 0).ipv4_queries);
    CHECK_INT(1, seen_at(&peer, 0).ipv6_queries);
    end(&outcome);
    outcome = connect_to(api, "other.test", options, NULL);
    CHECK(netlib_error_resolver_code(outcome.err) != 0);
    CHECK_ENDED(NETLIB_NAME_RESOLUTION, outcome);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* On a machine without IPv6, the resolver sends no AAAA query. */
static void only_a_records_are_queried_without_ipv6(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = both_families},
        {.address = "203.0.113.1", .answer = ACCEPTS},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    CHECK_INT(1, seen_at(&peer, 0).ipv4_queries);
    CHECK_INT(0, seen_at(&peer, 0).ipv6_queries);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The resolver opens files and sockets. The first lookup also loads the libraries of the resolver. */
static void a_lookup_without_free_descriptors_fails_with_emfile(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = both_families},
        {.address = "2001:db8::a", .answer = ACCEPTS},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    struct rlimit files, none;
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = connect_to(api, "name.test", options, NULL);
        CHECK_ENDED(NETLIB_OK, outcome);
        end(&outcome);

        int next = dup(0);
        close(next);
        CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
        none = files;
        none.rlim_cur = (rlim_t)next;
        CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
        outcome = connect_to(api, "name.test", options, NULL);
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
        CHECK_INT(EMFILE, netlib_error_errno(outcome.err));
        CHECK_ENDED(NETLIB_NAME_RESOLUTION, outcome);
        CHECK_INT(-1, outcome.fd);
        end(&outcome);
    }
    CHECK_INT(2, seen_at(&peer, 0).ipv4_queries);
    CHECK_INT(2, seen_at(&peer, 0).ipv6_queries);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

struct canceller {
    struct peer *peer;
    const netlib_limit *limit;
};

static void *cancel_after_query(void *arg) {
    struct canceller *canceller = arg;
    await_query(canceller->peer, 0);
    netlib_limit_cancel(canceller->limit);
    return NULL;
}

/* The system's resolver waits several seconds for the name server. The connecting call returns as soon as the limit
 * ends. */
static void a_limit_ends_the_lookup_at_a_silent_name_server(int tun, enum api api) {
    static const struct host hosts[] = {{.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = no_answer}};
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    struct canceller canceller = {&peer, limit};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_after_query, &canceller) == 0);
    struct outcome outcome = connect_to(api, "name.test", options, limit);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_STR("cannot connect to name.test port 80: the limit was cancelled", netlib_error_message(outcome.err, NULL));
    CHECK_ENDED(NETLIB_CANCELLED, outcome);
    CHECK_SECONDS(0.0, outcome.seconds);
    end(&outcome);
    netlib_limit_free(limit);

    limit = limit_of(0.4);
    outcome = connect_to(api, "name.test", options, limit);
    CHECK_INT(-1, outcome.fd);
    CHECK_STR("cannot connect to name.test port 80: the limit's deadline has passed",
              netlib_error_message(outcome.err, NULL));
    CHECK_INT(0, (long long)netlib_error_cause_count(outcome.err));
    CHECK_ENDED(NETLIB_DEADLINE_EXCEEDED, outcome);
    CHECK_SECONDS(0.39, outcome.seconds);
    if (api != SEQUENTIAL) CHECK_INT(0, (long long)netlib_connect_attempt_count(outcome.connect));
    end(&outcome);
    netlib_limit_free(limit);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* The system's resolver waits for the missing AAAA answer until its own timeout. A limit ends the call earlier. */
static void a_limit_ends_the_wait_for_an_aaaa_answer(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = only_ipv4_is_answered},
        {.address = "203.0.113.1", .answer = ACCEPTS},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    netlib_limit *limit = limit_of(0.4);
    struct outcome outcome = connect_to(api, "name.test", options, limit);
    CHECK_ENDED(NETLIB_DEADLINE_EXCEEDED, outcome);
    CHECK_SECONDS(0.39, outcome.seconds);
    end(&outcome);
    netlib_limit_free(limit);

    limit = limit_of(20.0);
    outcome = connect_to(api, "name.test", options, limit);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    CHECK(outcome.seconds >= 1.0);
    CHECK(seen_at(&peer, 0).ipv6_queries >= 2);
    end(&outcome);
    netlib_limit_free(limit);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* Returns the number of addresses that the application's own lookup of the name returns. */
static int count_addresses(const char *name, int family) {
    struct addrinfo hints, *found = NULL;
    int count = 0;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    CHECK_INT(0, getaddrinfo(name, NULL, &hints, &found));
    for (struct addrinfo *one = found; one != NULL; one = one->ai_next) count++;
    if (found != NULL) freeaddrinfo(found);
    return count;
}

static void check_refused(struct outcome *outcome) {
    CHECK_INT(-1, outcome->fd);
    CHECK_INT(1, (long long)netlib_error_cause_count(outcome->err));
    CHECK_ENDED(NETLIB_ADDRESS_REFUSED, *outcome);
    if (outcome->connect != NULL) {
        CHECK_INT(1, (long long)netlib_connect_attempt_count(outcome->connect));
        CHECK_INT(NETLIB_ADDRESS_REFUSED, netlib_connect_attempt_status(outcome->connect, 0));
    }
}

/* The application resolves and checks the name itself, and gets a public address. The name server's next answer is a
 * private address, which netlib must refuse. */
static void a_rebound_name_reaches_no_refused_address(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = rebinding},
        {.address = "203.0.113.1", .answer = ACCEPTS},
        {.address = "10.0.0.1", .answer = ACCEPTS},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_PRIVATE);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(1, count_addresses("name.test", AF_INET));
        struct outcome outcome = connect_to(api, "name.test", options, NULL);
        check_refused(&outcome);
        end(&outcome);
    }
    CHECK_INT(0, seen_at(&peer, 1).syns + seen_at(&peer, 2).syns);
    /* Each connect resolves the name once, and connects to the address that it has checked. */
    for (int i = 0; i < 4; i++) {
        struct outcome outcome = connect_to(api, "name.test", options, NULL);
        if (i % 2 == 0) {
            CHECK_ENDED(NETLIB_OK, outcome);
            CHECK_CONNECTED(outcome.fd, "203.0.113.1");
        } else {
            check_refused(&outcome);
        }
        end(&outcome);
    }
    CHECK_INT(10, seen_at(&peer, 0).ipv4_queries);
    CHECK_INT(2, seen_at(&peer, 1).syns);
    CHECK_INT(0, seen_at(&peer, 2).syns);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

static void a_rebound_ipv6_name_reaches_no_refused_address(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = NAMESERVER_IPV4, .answer = ANSWERS_NAMES, .find = rebinding_ipv6},
        {.address = "2001:db8::a", .answer = ACCEPTS},
        {.address = "fd00::1", .answer = ACCEPTS},
        {.address = "10.0.0.1", .answer = ACCEPTS},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(NULL, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_PRIVATE | NETLIB_ADDRESS_CLASS_LOOPBACK |
                                                         NETLIB_ADDRESS_CLASS_LINK_LOCAL);
    for (int i = 0; i < 8; i++) {
        struct outcome outcome = connect_to(api, "name.test", options, NULL);
        if (i % 2 == 0) CHECK_ENDED(NETLIB_OK, outcome);
        else check_refused(&outcome);
        end(&outcome);
    }
    CHECK_INT(4, seen_at(&peer, 1).syns);
    CHECK_INT(0, seen_at(&peer, 2).syns + seen_at(&peer, 3).syns);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

/* netlib sends no packet to a refused address, and tries the next address immediately. */
static void refused_addresses_are_skipped_without_a_packet(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = "fd00::1", .answer = ACCEPTS},
        {.address = "10.0.0.1", .answer = ACCEPTS},
        {.address = "::ffff:10.0.0.1", .answer = ACCEPTS},
        {.address = "203.0.113.1", .answer = ACCEPTS},
    };
    static const struct attempt expected[] = {
        {"fd00::1", NETLIB_ADDRESS_REFUSED, 0, 0.0, 0.0},
        {"10.0.0.1", NETLIB_ADDRESS_REFUSED, 0, 0.0, 0.0},
        {"::ffff:10.0.0.1", NETLIB_ADDRESS_REFUSED, 0, 0.0, 0.0},
        {"203.0.113.1", NETLIB_OK, 0, 0.0, 0.0},
    };
    struct peer peer;
    START_PEER(&peer, tun, hosts);
    netlib_connect_options *options = options_for(&peer, NETLIB_TIMEOUT_NONE);
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_PRIVATE);
    netlib_connect_options_set_attempt_delay(options, 2.0);
    struct outcome outcome = connect_to(api, "name.test", options, NULL);
    CHECK_ENDED(NETLIB_OK, outcome);
    CHECK_CONNECTED(outcome.fd, "203.0.113.1");
    CHECK_SECONDS(0.0, outcome.seconds);
    if (api != SEQUENTIAL) CHECK_ATTEMPTS(outcome.connect, expected);
    for (size_t i = 0; i < 3; i++) CHECK_INT(0, seen_at(&peer, i).syns);
    end(&outcome);
    netlib_connect_options_free(options);
    stop_peer(&peer);
}

int main(void) {
    static const struct scenario scenarios[] = {
        {"A and AAAA records are queried with IPv6", a_and_aaaa_records_are_queried_with_ipv6, ALL_APIS,
         WITH_NAMESERVER, NULL, NULL},
        {"only A records are queried without IPv6", only_a_records_are_queried_without_ipv6, 1 << RUN | 1 << SEQUENTIAL,
         WITH_NAMESERVER | WITHOUT_IPV6, NULL, NULL},
        {"a lookup without free descriptors fails with EMFILE", a_lookup_without_free_descriptors_fails_with_emfile,
         1 << SEQUENTIAL, WITH_NAMESERVER, NULL, NULL},
        {"a limit ends the lookup at a silent name server", a_limit_ends_the_lookup_at_a_silent_name_server, ALL_APIS,
         WITH_NAMESERVER, NULL, NULL},
        {"a limit ends the wait for an AAAA answer", a_limit_ends_the_wait_for_an_aaaa_answer,
         1 << RUN | 1 << SEQUENTIAL, WITH_NAMESERVER, NULL, NULL},
        {"a rebound name reaches no refused address", a_rebound_name_reaches_no_refused_address, ALL_APIS,
         WITH_NAMESERVER, NULL, NULL},
        {"a rebound IPv6 name reaches no refused address", a_rebound_ipv6_name_reaches_no_refused_address,
         1 << RUN | 1 << SEQUENTIAL, WITH_NAMESERVER, NULL, NULL},
        {"refused addresses are skipped without a packet", refused_addresses_are_skipped_without_a_packet, ALL_APIS, 0,
         NULL, NULL},
    };
    return RUN_SCENARIOS("netns names", scenarios);
}
