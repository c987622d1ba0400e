/* Tests timeouts: combinations of their fields, the states of the clock, and the default timeout of the process. Most
 * tests pass a callback as the clock. The last tests measure timeouts on real sockets. */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <netdb.h>
#include <pthread.h>
#include <time.h>

typedef struct {
    double now;
    int32_t result;
    int calls;
} test_clock;

static int32_t read_clock(void *ctx, double *seconds) {
    test_clock *clock = ctx;
    clock->calls++;
    *seconds = clock->now;
    return clock->result;
}

static int32_t forgetful_clock(void *ctx, double *seconds) {
    (void)ctx;
    (void)seconds;
    return 0;
}

#define NONE NETLIB_TIMEOUT_NONE
#define DEFAULT NETLIB_TIMEOUT_DEFAULT

/* Each row has the configured values, the expected connect timeout, and the expected read timeout 4 seconds after the
 * start of the clock. */
static void connect_and_read_timeouts_are_capped_by_the_total(void) {
    static const struct {
        double total, connect, read, connect_timeout, read_timeout;
    } rows[] = {
        {NONE, DEFAULT, DEFAULT, DEFAULT, DEFAULT},
        {NONE, NONE, NONE, NONE, NONE},
        {NONE, 1, 2, 1, 2},
        {NONE, DEFAULT, 2, DEFAULT, 2},
        {NONE, 1, NONE, 1, NONE},
        {10, DEFAULT, DEFAULT, 10, 6},
        {10, NONE, NONE, 10, 6},
        {10, 1, 2, 1, 2},
        {10, 11, 7, 10, 6},
        {10, 5, DEFAULT, 5, 6},
        {3, 1, 2, 1, 0},
        {3, DEFAULT, NONE, 3, 0},
        {4, 4, 4, 4, 0},
        {4.5, DEFAULT, 0.25, 4.5, 0.25},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_timeout *timeout = NULL;
        test_clock clock = {1000, 0, 0};
        double seconds = 99;
        bool has_total = rows[i].total < NONE;
        CHECK_OK(netlib_timeout_new(rows[i].total, rows[i].connect, rows[i].read, &timeout, &err));
        CHECK_DOUBLE(rows[i].total, netlib_timeout_configured_total(timeout));
        CHECK_DOUBLE(rows[i].connect, netlib_timeout_configured_connect(timeout));
        CHECK_DOUBLE(rows[i].read, netlib_timeout_configured_read(timeout));
        CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, NULL, &err));
        CHECK_DOUBLE(rows[i].connect_timeout, netlib_timeout_connect_timeout(timeout));
        CHECK_STATUS(has_total ? NETLIB_TIMEOUT_STATE_ERROR : NETLIB_OK,
                     netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(has_total ? 0 : rows[i].read_timeout, seconds);
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        clock.now += 4;
        CHECK_OK(netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(rows[i].read_timeout, seconds);
        CHECK_DOUBLE(rows[i].connect_timeout, netlib_timeout_connect_timeout(timeout));
        CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
        CHECK_DOUBLE(4, seconds);
        netlib_timeout_free(timeout);
    }
}

static void errors_of_invalid_timeouts_name_the_field(void) {
    static const double bad[] = {0.0, -0.0, -0.5, -2.0, (double)NAN, (double)-INFINITY};
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct {
            double total, connect, read;
            const char *field;
        } rows[] = {
            {bad[i], 1, 1, "total must be "}, {1, bad[i], 1, "connect must be "}, {1, 1, bad[i], "read must be "}};
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            netlib_status status = netlib_timeout_new(rows[j].total, rows[j].connect, rows[j].read, &timeout, &err);
            CHECK(strncmp(netlib_error_message(err, NULL), rows[j].field, strlen(rows[j].field)) == 0);
            CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        }
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_timeout_from_float(bad[i], &timeout, &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_set_default_timeout(bad[i], &err));
        CHECK(timeout == NULL);
    }
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_timeout_new(DEFAULT, 1, 1, &timeout, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_new(1, 1, 1, NULL, &err));
}

static void timeout_from_float_sets_the_connect_and_read_timeouts(void) {
    static const double values[] = {2.5, NONE, DEFAULT};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        netlib_error *err = NULL;
        netlib_timeout *timeout = NULL;
        double seconds = 0;
        CHECK_OK(netlib_timeout_from_float(values[i], &timeout, &err));
        CHECK_DOUBLE(NONE, netlib_timeout_configured_total(timeout));
        CHECK_DOUBLE(values[i], netlib_timeout_connect_timeout(timeout));
        CHECK_OK(netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(values[i], seconds);
        netlib_timeout_free(timeout);
    }
}

static void the_clock_starts_once_and_clones_have_unstarted_clocks(void) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    test_clock clock = {5, 0, 0};
    double seconds = 99;
    CHECK_OK(netlib_timeout_new(10, DEFAULT, DEFAULT, &timeout, &err));
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
    CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, NULL, &err));
    CHECK_INT(0, clock.calls);
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    clock.now = 5.25;
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    CHECK_DOUBLE(0.25, seconds);
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_timeout_set_clock(timeout, NULL, NULL, NULL, &err));

    netlib_timeout *copy = netlib_timeout_clone(timeout);
    netlib_timeout_free(timeout);
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_timeout_get_connect_duration(copy, &seconds, &err));
    CHECK_DOUBLE(10, netlib_timeout_configured_total(copy));
    CHECK_OK(netlib_timeout_start_connect(copy, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(copy, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
    netlib_timeout_free(copy);

    /* Without a callback, the timeout uses the system's clock. */
    CHECK_OK(netlib_timeout_from_float(1, &timeout, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    CHECK(seconds >= 0);
    netlib_timeout_free(timeout);
}

static void timeout_calls_fail_if_the_clock_returns_an_invalid_time(void) {
    static const struct {
        double start, later;
        int32_t result;
    } rows[] = {
        {0, (double)NAN, 0}, {0, (double)INFINITY, 0}, {0, (double)-INFINITY, 0}, {1, 0.5, 0},
        {0, 1, 7},           {-1e308, 1e308, 0},
    };
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    double seconds = 99;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_clock clock = {rows[i].start, 0, 0};
        CHECK_OK(netlib_timeout_new(10, DEFAULT, DEFAULT, &timeout, &err));
        CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, NULL, &err));
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        clock.now = rows[i].later;
        clock.result = rows[i].result;
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_get_connect_duration(timeout, &seconds, &err));
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(0, seconds);
        netlib_timeout_free(timeout);
    }
    CHECK_OK(netlib_timeout_from_float(1, &timeout, &err));
    CHECK_OK(netlib_timeout_set_clock(timeout, forgetful_clock, NULL, NULL, &err));
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_set_clock(timeout, NULL, NULL, NULL, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    netlib_timeout_free(timeout);
}

static void the_default_timeout_of_the_process_can_be_set_and_reset(void) {
    netlib_error *err = NULL;
    CHECK_DOUBLE(NONE, netlib_default_timeout());
    CHECK_OK(netlib_set_default_timeout(7.5, &err));
    CHECK_DOUBLE(7.5, netlib_default_timeout());
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_set_default_timeout(DEFAULT, &err));
    CHECK_DOUBLE(7.5, netlib_default_timeout());
    CHECK_OK(netlib_set_default_timeout(NONE, NULL));
    CHECK_DOUBLE(NONE, netlib_default_timeout());
}

static void pause_for(double seconds) {
    struct timespec wait = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&wait, NULL);
}

/* A server that sends single bytes with pauses. */
enum { BYTES = 6 };
static const double gap = 0.1;

static void *send_slowly(void *fd) {
    for (int i = 0; i < BYTES; i++) {
        pause_for(gap);
        if (write(*(int *)fd, "x", 1) != 1) abort();
    }
    return NULL;
}

/* The read timeout applies to the gap between two reads. A server that sends a byte within each gap is never too slow,
 * even if the whole response takes longer than the timeout. */
static void the_read_timeout_applies_to_the_gap_between_reads(void) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    pthread_t server;
    int ends[2];
    double seconds = 0;
    connected_pair(ends);
    /* All gaps together exceed the read timeout, but each gap is a fifth of the timeout. */
    CHECK_OK(netlib_timeout_new(NONE, DEFAULT, 5 * gap, &timeout, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    double began = netlib_current_time();
    CHECK(pthread_create(&server, NULL, send_slowly, &ends[1]) == 0);
    for (int i = 0; i < BYTES; i++) {
        char byte = 0;
        CHECK_OK(netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(5 * gap, seconds);
        CHECK_OK(netlib_wait_for_read(ends[0], seconds, NULL, &err));
        CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    }
    CHECK(netlib_current_time() - began > 5 * gap);
    pthread_join(server, NULL);
    /* The server sends no further byte, so the gap exceeds the read timeout. */
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], seconds, NULL, &err));
    netlib_timeout_free(timeout);
    close(ends[0]);
    close(ends[1]);
}

/* Replaces getaddrinfo of the C library. The lookup of "slow.test" takes `lookup_seconds` and returns 127.0.0.1. */
static double lookup_seconds;

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    (void)hints;
    static struct {
        struct addrinfo info;
        struct sockaddr_in address;
    } answer;
    if (host == NULL || strcmp(host, "slow.test") != 0) return EAI_NONAME;
    pause_for(lookup_seconds);
    memset(&answer, 0, sizeof answer);
    answer.address.sin_family = AF_INET;
    answer.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    answer.address.sin_port = htons((uint16_t)(service != NULL ? atoi(service) : 0));
    answer.info.ai_family = AF_INET;
    answer.info.ai_socktype = SOCK_STREAM;
    answer.info.ai_addrlen = sizeof answer.address;
    answer.info.ai_addr = (struct sockaddr *)&answer.address;
    *found = &answer.info;
    return 0;
}

void freeaddrinfo(struct addrinfo *found) { (void)found; }

/* The connect timeout applies to each connection attempt, but not to the lookup, whether the lookup runs on the calling
 * thread or on another thread. A netlib_limit applies to the lookup and the attempts. */
static void the_connect_timeout_excludes_the_name_lookup(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    netlib_limit *lasting = limit_of(LONG);
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_timeout(options, 0.2);
    lookup_seconds = 0.3;
    const netlib_limit *const limits[] = {NULL, lasting};
    for (int i = 0; i < 2; i++) {
        double began = netlib_current_time();
        CHECK_OK(netlib_create_connection("slow.test", port, options, limits[i], &fd, &err));
        CHECK(netlib_current_time() - began >= 0.29);
        if (fd >= 0) close(fd);
    }
    netlib_limit *brief = limit_of(0.05);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection("slow.test", port, options, brief, &fd, &err));
    netlib_limit_free(brief);
    netlib_limit_free(lasting);
    netlib_connect_options_free(options);
    close(server);
}

/* An operation without its own timeout uses the default timeout of the process. */
static void options_without_a_timeout_use_the_process_default(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1;
    int fd = -1;
    int server = silent_listener(&port, &filler);
    netlib_limit *lasting = limit_of(LONG);
    netlib_limit *brief = limit_of(0.1);
    netlib_connect_options *unset = netlib_connect_options_new();
    netlib_connect_options *as_default = netlib_connect_options_new();
    netlib_connect_options *none = netlib_connect_options_new();
    netlib_connect_options_set_timeout(as_default, DEFAULT);
    netlib_connect_options_set_timeout(none, NONE);
    CHECK_OK(netlib_set_default_timeout(0.05, &err));
    const netlib_connect_options *const default_ones[] = {NULL, unset, as_default};
    for (int i = 0; i < 3; i++) {
        double began = netlib_current_time();
        CHECK_STATUS(NETLIB_CONNECT_TIMEOUT,
                     netlib_create_connection("127.0.0.1", port, default_ones[i], lasting, &fd, &err));
        CHECK(IN_TIME(began));
    }
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection("127.0.0.1", port, none, brief, &fd, &err));
    int ends[2];
    connected_pair(ends);
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(ends[0], DEFAULT, lasting, &err));
    /* netlib reads the default timeout when the operation starts, so options that were created earlier use the new
     * value. */
    CHECK_OK(netlib_set_default_timeout(NONE, &err));
    netlib_limit *short_one = limit_of(0.1);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection("127.0.0.1", port, unset, short_one, &fd, &err));
    netlib_limit_free(short_one);
    netlib_limit_free(brief);
    netlib_limit_free(lasting);
    netlib_connect_options_free(unset);
    netlib_connect_options_free(as_default);
    netlib_connect_options_free(none);
    close(ends[0]);
    close(ends[1]);
    close(filler);
    close(server);
}

static void functions_on_null_timeouts_fail_or_return_a_default_value(void) {
    netlib_error *err = NULL;
    double seconds = 99;
    CHECK(netlib_timeout_clone(NULL) == NULL);
    netlib_timeout_free(NULL);
    CHECK_DOUBLE(NONE, netlib_timeout_configured_total(NULL));
    CHECK_DOUBLE(DEFAULT, netlib_timeout_configured_connect(NULL));
    CHECK_DOUBLE(DEFAULT, netlib_timeout_configured_read(NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_set_clock(NULL, NULL, NULL, NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_start_connect(NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_get_connect_duration(NULL, &seconds, &err));
    CHECK_DOUBLE(NETLIB_TIMEOUT_DEFAULT, netlib_timeout_connect_timeout(NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_read_timeout(NULL, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
}

int main(void) {
    connect_and_read_timeouts_are_capped_by_the_total();
    errors_of_invalid_timeouts_name_the_field();
    timeout_from_float_sets_the_connect_and_read_timeouts();
    the_clock_starts_once_and_clones_have_unstarted_clocks();
    timeout_calls_fail_if_the_clock_returns_an_invalid_time();
    the_default_timeout_of_the_process_can_be_set_and_reset();
    the_read_timeout_applies_to_the_gap_between_reads();
    the_connect_timeout_excludes_the_name_lookup();
    options_without_a_timeout_use_the_process_default();
    functions_on_null_timeouts_fail_or_return_a_default_value();
    return report("timeout");
}
