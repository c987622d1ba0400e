/* Tests connect operations whose application supplies the addresses, and the address family of connect options. */
#define _GNU_SOURCE
#include "race_peer.h"

#include <arpa/inet.h>

static netlib_connect_options *supplying_options(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_supply_addresses(options, 1);
    return options;
}

static netlib_connect *connect_that_wants_addresses(int32_t port, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    int fd = 17;
    netlib_connect *connect = connect_to("name.test", port, options);
    CHECK_STATUS(NETLIB_WANT_ADDRESSES, netlib_connect_step(connect, &fd, &err));
    CHECK(err == NULL);
    CHECK_INT(-1, fd);
    return connect;
}

static void a_connect_operation_continues_with_supplied_addresses(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int server = listener(&port), fd = -1;
    netlib_connect_options *options = supplying_options();
    for (int runs = 0; runs < 2; runs++) {
        netlib_connect *connect = connect_that_wants_addresses(port, options);
        CHECK_STATUS(NETLIB_WANT_ADDRESSES, netlib_connect_step(connect, &fd, &err));
        CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
        CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_connect_wait_seconds(connect));
        netlib_addresses *list = netlib_addresses_new();
        add_ipv4(list, LOOPBACK, 0);
        CHECK_OK(netlib_connect_supply_addresses(connect, list, &err));
        CHECK_DOUBLE(0.0, netlib_connect_wait_seconds(connect));
        /* Addresses can be supplied only once. */
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_connect_supply_addresses(connect, list, &err));
        netlib_addresses_free(list);
        if (runs) CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
        else CHECK_STATUS(NETLIB_OK, step_to_the_end(connect, &fd, &err));
        check_attempt(connect, 0, port, NETLIB_OK, 0);
        close_both(fd, server);
        netlib_connect_free(connect);
    }
    /* A numeric host needs no supplied addresses. */
    netlib_connect *connect = connect_to("127.0.0.1", port, options);
    CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
    close_both(fd, server);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(server);
}

static void blocking_connect_calls_fail_if_no_addresses_were_supplied(void) {
    static const char message[] =
        "the options leave the name lookup to the application, which has supplied no addresses";
    netlib_error *err = NULL;
    int32_t port = 0;
    int server = listener(&port), fd = -1;
    netlib_connect_options *options = supplying_options();
    netlib_status status = netlib_create_connection("name.test", port, options, NULL, &fd, &err);
    CHECK_STR(message, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_connect *connect = connect_to("name.test", port, options);
    status = netlib_connect_run(connect, NULL, &fd, &err);
    CHECK_STR(message, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    /* After the refused call, the operation continues to wait for addresses. */
    netlib_addresses *list = netlib_addresses_new();
    add_ipv4(list, LOOPBACK, port);
    CHECK_OK(netlib_connect_supply_addresses(connect, list, &err));
    CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
    close_both(fd, server);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_connect_supply_addresses(connect, list, &err));
    netlib_connect_free(connect);
    /* Before the first step, the operation does not wait for addresses yet. */
    connect = connect_to("name.test", port, options);
    status = netlib_connect_supply_addresses(connect, list, &err);
    CHECK_STR("the connect operation does not wait for addresses", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_connect_free(connect);
    /* The name of a source address would need a lookup too. */
    netlib_connect_options_set_source_address(options, "source.test", 0);
    connect = connect_to("name.test", port, options);
    status = netlib_connect_step(connect, &fd, &err);
    CHECK_STR("source address: the options leave name lookups to the application, so the host must be an address",
              netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_connect_free(connect);
    netlib_addresses_free(list);
    netlib_connect_options_free(options);
    close(server);
}

static void supplying_an_empty_address_list_or_an_error_ends_connecting(void) {
    static const struct {
        netlib_status supplied, status;
        const char *message;
    } rows[] = {
        {NETLIB_OK, NETLIB_NAME_RESOLUTION, "name.test has no addresses"},
        {NETLIB_NAME_RESOLUTION, NETLIB_NAME_RESOLUTION, "SERVFAIL"},
        {NETLIB_IO, NETLIB_CONNECT_FAILED, "cannot connect to name.test port 80: SERVFAIL"},
        {NETLIB_CANCELLED, NETLIB_CANCELLED, "cannot connect to name.test port 80: SERVFAIL"},
    };
    netlib_connect_options *options = supplying_options();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL, *error = NULL;
        int fd = -1;
        netlib_connect *connect = connect_that_wants_addresses(80, options);
        if (rows[i].supplied == NETLIB_OK) {
            netlib_addresses *list = netlib_addresses_new();
            CHECK_OK(netlib_connect_supply_addresses(connect, list, &err));
            netlib_addresses_free(list);
        } else {
            CHECK_OK(netlib_error_new(rows[i].supplied, "SERVFAIL", NULL, &error, &err));
            CHECK_OK(netlib_connect_supply_error(connect, error, &err));
            netlib_error_free(error);
        }
        for (int again = 0; again < 2; again++) {
            netlib_status status = netlib_connect_step(connect, &fd, &err);
            CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
            CHECK_STATUS(rows[i].status, status);
        }
        netlib_connect_free(connect);
    }
    netlib_connect_options_free(options);
}

static void the_limit_ends_an_operation_that_waits_for_addresses(void) {
    netlib_connect_options *options = supplying_options();
    for (int cancel = 0; cancel < 2; cancel++) {
        netlib_error *err = NULL;
        int fd = -1;
        double soon = under_valgrind() ? 3.0 : 0.3;
        netlib_limit *parent = limit_of(cancel ? NETLIB_TIMEOUT_NONE : soon);
        netlib_limit *limit = child_of(parent);
        netlib_connect *connect = connect_to("name.test", 80, options);
        CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
        CHECK_STATUS(NETLIB_WANT_ADDRESSES, netlib_connect_step(connect, &fd, &err));
        CHECK_INT(1, (long long)netlib_connect_wait_count(connect));
        CHECK(cancel ? netlib_connect_wait_seconds(connect) == NETLIB_TIMEOUT_NONE
                     : netlib_connect_wait_seconds(connect) <= soon);
        if (cancel) netlib_limit_cancel(parent);
        wait_once(connect);
        CHECK_STATUS(cancel ? NETLIB_CANCELLED : NETLIB_DEADLINE_EXCEEDED, netlib_connect_step(connect, &fd, &err));
        netlib_connect_free(connect);
        netlib_limit_free(limit);
        netlib_limit_free(parent);
    }
    netlib_connect_options_free(options);
}

static void the_address_policy_applies_to_supplied_addresses(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int server = listener(&port), fd = -1;
    netlib_connect_options *options = supplying_options();
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_LOOPBACK);
    netlib_connect *connect = connect_that_wants_addresses(port, options);
    netlib_addresses *list = netlib_addresses_new();
    add_ipv4(list, LOOPBACK, port);
    CHECK_OK(netlib_connect_supply_addresses(connect, list, &err));
    CHECK_STATUS(NETLIB_ADDRESS_REFUSED, netlib_connect_step(connect, &fd, &err));
    netlib_addresses_free(list);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(server);
}

/* Adds ::1 and 127.0.0.1. */
static void add_both_families(netlib_addresses *list) {
    netlib_error *err = NULL;
    struct sockaddr_in6 in6;
    memset(&in6, 0, sizeof in6);
    in6.sin6_family = AF_INET6;
    in6.sin6_addr = in6addr_loopback;
    CHECK_OK(netlib_addresses_add(list, &in6, sizeof in6, &err));
    add_ipv4(list, LOOPBACK, 0);
}

static int32_t resolve_both(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *list) {
    (void)ctx, (void)host, (void)port, (void)seconds_left;
    add_both_families(list);
    return 0;
}

static void only_addresses_of_the_selected_family_are_tried(void) {
    enum source { LIST, SUPPLIED, CALLBACK, SOURCES };
    static const struct {
        enum netlib_address_family family;
        const char *first; /* the address of the first attempt */
        size_t count;      /* the number of attempts, if the first one fails */
    } rows[] = {
        {NETLIB_ADDRESS_FAMILY_ANY, "::1", 2},
        {NETLIB_ADDRESS_FAMILY_IPV4, "127.0.0.1", 1},
        {NETLIB_ADDRESS_FAMILY_IPV6, "::1", 1},
    };
    int32_t port = 0;
    int closed = bound_socket(&port);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int source = LIST; source < SOURCES; source++) {
            netlib_error *err = NULL;
            int fd = -1;
            netlib_connect_options *options = source == SUPPLIED ? supplying_options() : netlib_connect_options_new();
            netlib_connect_options_set_address_family(options, rows[i].family);
            if (source == CALLBACK) netlib_connect_options_set_resolve_callback(options, resolve_both, NULL, NULL);
            netlib_addresses *list = netlib_addresses_new();
            add_both_families(list);
            netlib_connect *connect = NULL;
            if (source == LIST)
                CHECK_OK(netlib_connect_new_addresses("name.test", port, list, options, &connect, &err));
            else connect = connect_to("name.test", port, options);
            if (source == SUPPLIED) {
                CHECK_STATUS(NETLIB_WANT_ADDRESSES, netlib_connect_step(connect, &fd, &err));
                CHECK_OK(netlib_connect_supply_addresses(connect, list, &err));
            }
            CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
            CHECK_INT((long long)rows[i].count, (long long)netlib_connect_attempt_count(connect));
            CHECK_STR(rows[i].first, netlib_connect_attempt_address(connect, 0, NULL));
            netlib_connect_free(connect);
            netlib_addresses_free(list);
            netlib_connect_options_free(options);
        }
    }
    close(closed);
}

static void a_host_without_an_address_of_the_selected_family_fails_to_resolve(void) {
    static const struct {
        const char *host;
        enum netlib_address_family family;
        const char *message;
    } rows[] = {
        {"127.0.0.1", NETLIB_ADDRESS_FAMILY_IPV6, "127.0.0.1 has no IPv6 addresses"},
        {"::1", NETLIB_ADDRESS_FAMILY_IPV4, "::1 has no IPv4 addresses"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        int fd = -1;
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_set_address_family(options, rows[i].family);
        netlib_status status = netlib_create_connection(rows[i].host, 80, options, NULL, &fd, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_NAME_RESOLUTION, status);
        netlib_connect_options_free(options);
    }
    /* A name lookup asks only for addresses of the selected family, so localhost is 127.0.0.1. */
    netlib_error *err = NULL;
    int32_t port = 0;
    int server = listener(&port), fd = -1;
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_family(options, NETLIB_ADDRESS_FAMILY_IPV4);
    netlib_connect *connect = connect_to("localhost", port, options);
    CHECK_OK(netlib_connect_run(connect, NULL, &fd, &err));
    CHECK_STR("127.0.0.1", netlib_connect_attempt_address(connect, 0, NULL));
    close_both(fd, server);
    netlib_connect_free(connect);
    netlib_connect_options_set_address_family(options, (enum netlib_address_family)3);
    netlib_status status = netlib_connect_new("localhost", port, options, &connect, &err);
    CHECK(netlib_error_message(err, NULL) != NULL &&
          strstr(netlib_error_message(err, NULL), "netlib_connect_options_set_address_family: family") != NULL);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_connect_options_free(options);
    close(server);
}

int main(void) {
    a_connect_operation_continues_with_supplied_addresses();
    blocking_connect_calls_fail_if_no_addresses_were_supplied();
    supplying_an_empty_address_list_or_an_error_ends_connecting();
    the_limit_ends_an_operation_that_waits_for_addresses();
    the_address_policy_applies_to_supplied_addresses();
    only_addresses_of_the_selected_family_are_tried();
    a_host_without_an_address_of_the_selected_family_fails_to_resolve();
    return report("supply addresses");
}
