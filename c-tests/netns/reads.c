/* Tests waiting for input from hosts that send nothing, one byte at a time, or a FIN. */
#define _GNU_SOURCE
#include "scenario.h"

static int connect_to_peer(struct peer *peer) {
    netlib_error *err = NULL;
    netlib_connect_options *options = options_for(peer, NETLIB_TIMEOUT_NONE);
    int fd = -1;
    CHECK_OK(netlib_create_connection("name.test", PORT, options, NULL, &fd, &err));
    netlib_connect_options_free(options);
    return fd;
}

static bool is_dropped(int fd) {
    netlib_error *err = NULL;
    int32_t dropped = 0;
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    return dropped;
}

static void waits_for_a_silent_peer_time_out(int tun, enum api api) {
    static const struct host hosts[] = {{.address = "2001:db8::a", .answer = ACCEPTS}};
    netlib_error *err = NULL;
    struct peer peer;
    (void)api;
    START_PEER(&peer, tun, hosts);
    int fd = connect_to_peer(&peer);
    double start = netlib_current_time();
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(fd, 0.3, NULL, &err));
    CHECK_SECONDS(0.3, netlib_current_time() - start);
    start = netlib_current_time();
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(fd, 0.0, NULL, &err));
    CHECK_SECONDS(0.0, netlib_current_time() - start);
    netlib_limit *limit = limit_of(0.3);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_wait_for_read(fd, NETLIB_TIMEOUT_NONE, limit, &err));
    CHECK_SECONDS(0.3, netlib_current_time() - start);
    netlib_limit_free(limit);
    CHECK_OK(netlib_wait_for_write(fd, 0.0, NULL, &err));
    CHECK(!is_dropped(fd));
    close(fd);
    stop_peer(&peer);
}

/* A timeout applies to each call of netlib_wait_for_read. A limit applies to all calls together. */
static void a_timeout_applies_to_each_wait_and_a_limit_to_all(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = "203.0.113.1", .answer = ACCEPTS, .data = "0123456789", .every = 0.2}};
    netlib_error *err = NULL;
    struct peer peer;
    (void)api;
    START_PEER(&peer, tun, hosts);
    int fd = connect_to_peer(&peer);
    double start = netlib_current_time();
    for (int i = 0; i < 4; i++) {
        char byte = 0;
        CHECK_OK(netlib_wait_for_read(fd, 0.2 + TOLERANCE, NULL, &err));
        CHECK_INT(1, recv(fd, &byte, 1, MSG_DONTWAIT));
        CHECK_INT("0123456789"[i], byte);
    }
    /* All calls together take longer than the timeout of a single call. */
    CHECK_SECONDS(0.75, netlib_current_time() - start);
    start = netlib_current_time();
    netlib_limit *limit = limit_of(0.5);
    netlib_status status;
    int count = 0;
    while ((status = netlib_wait_for_read(fd, 0.2 + TOLERANCE, limit, &err)) == NETLIB_OK && count < 6) {
        char byte;
        count += recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
    }
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, status);
    CHECK_SECONDS(0.5, netlib_current_time() - start);
    CHECK(count >= 1 && count <= 3);
    netlib_limit_free(limit);
    close(fd);
    stop_peer(&peer);
}

/* The application can read the bytes that arrived before the FIN. */
static void bytes_before_a_fin_are_read_first(int tun, enum api api) {
    static const struct host hosts[] = {
        {.address = "2001:db8::a", .answer = ACCEPTS, .data = "ab", .every = 0.05, .ends = true},
    };
    netlib_error *err = NULL;
    struct peer peer;
    char byte = 0;
    (void)api;
    START_PEER(&peer, tun, hosts);
    int fd = connect_to_peer(&peer);
    CHECK(!is_dropped(fd));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(netlib_wait_for_read(fd, NETLIB_TIMEOUT_NONE, NULL, &err));
        CHECK_INT(i < 2, recv(fd, &byte, 1, MSG_DONTWAIT));
    }
    CHECK(is_dropped(fd));
    close(fd);
    stop_peer(&peer);
}

int main(void) {
    static const struct scenario scenarios[] = {
        {"waits for a silent peer time out", waits_for_a_silent_peer_time_out, 1 << SEQUENTIAL, 0, NULL, NULL},
        {"a timeout applies to each wait and a limit to all", a_timeout_applies_to_each_wait_and_a_limit_to_all,
         1 << SEQUENTIAL, 0, NULL, NULL},
        {"bytes before a FIN are read first", bytes_before_a_fin_are_read_first, 1 << SEQUENTIAL, 0, NULL, NULL},
    };
    return RUN_SCENARIOS("netns reads", scenarios);
}
