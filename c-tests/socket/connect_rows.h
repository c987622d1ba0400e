/* Helpers of tests that connect sequentially and by racing: a resolve callback, options that use the callback, and
 * checks. */
#ifndef NETLIB_TEST_CONNECT_ROWS_H
#define NETLIB_TEST_CONNECT_ROWS_H

#include "socket_peer.h"

#include <errno.h>

static inline struct sockaddr_storage ipv4(uint32_t address, int32_t port) {
    struct sockaddr_storage storage;
    struct sockaddr_in *in = (struct sockaddr_in *)&storage;
    memset(&storage, 0, sizeof storage);
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)port);
    in->sin_addr.s_addr = htonl(address);
    return storage;
}

static inline struct sockaddr_storage ipv6_loopback(int32_t port) {
    struct sockaddr_storage storage;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;
    memset(&storage, 0, sizeof storage);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons((uint16_t)port);
    in6->sin6_addr = in6addr_loopback;
    return storage;
}

/* The addresses that the resolve callback returns, and the number of its calls. */
struct answer {
    const struct sockaddr_storage *addresses;
    size_t count;
    int calls;
};

static inline int32_t resolve(void *ctx, const char *host, int32_t port, double seconds_left,
                              netlib_addresses *addresses) {
    struct answer *answer = ctx;
    (void)host, (void)port, (void)seconds_left;
    answer->calls++;
    for (size_t i = 0; i < answer->count; i++) {
        const struct sockaddr_storage *one = &answer->addresses[i];
        size_t len = one->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        netlib_status status = netlib_addresses_add(addresses, one, len, NULL);
        if (status != NETLIB_OK) return status;
    }
    return NETLIB_OK;
}

/* The attempt delay is longer than any test, so that even racing attempts run one after the other. */
static inline netlib_connect_options *options_for(struct answer *answer, double timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, resolve, answer, NULL);
    netlib_connect_options_set_timeout(options, timeout);
    netlib_connect_options_set_attempt_delay(options, 2.0);
    return options;
}

static inline struct sockaddr_in local_address(int fd) {
    struct sockaddr_in own;
    socklen_t len = sizeof own;
    memset(&own, 0, sizeof own);
    CHECK(getsockname(fd, (struct sockaddr *)&own, &len) == 0);
    return own;
}

static inline int32_t port_of_peer(int fd) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    memset(&address, 0, sizeof address);
    CHECK(getpeername(fd, (struct sockaddr *)&address, &len) == 0);
    return ntohs(address.sin_port);
}

static inline bool has_ipv6(void) { return netlib_allowed_gai_family() == AF_UNSPEC; }

/* Checks that the message of a cause is "ADDRESS port PORT: REASON (after S s)", and returns S. */
static inline double check_cause(const netlib_error *err, size_t index, const char *address, int32_t port,
                                 netlib_status status, int32_t errnum, const char *reason) {
    const netlib_error *cause = netlib_error_cause(err, index);
    const char *message = netlib_error_message(cause, NULL);
    char expected[128], rest[8] = "";
    double seconds = -1.0;
    int end = snprintf(expected, sizeof expected, "%s port %d: %s (after ", address, (int)port, reason);
    CHECK(message != NULL && strncmp(expected, message, (size_t)end) == 0);
    if (message != NULL && strlen(message) > (size_t)end) CHECK(sscanf(message + end, "%lf %7s", &seconds, rest) == 2);
    CHECK_STR("s)", rest);
    CHECK_INT(status, netlib_error_status(cause));
    CHECK_INT(errnum, netlib_error_errno(cause));
    CHECK_INT(0, (long long)netlib_error_cause_count(cause));
    return seconds;
}

#endif
