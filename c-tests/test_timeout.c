/* Time limits: every combination of fields, the clock's states, the process default. The clock is the test's. */
#include "harness.h"

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

/* The limits, then the connect limit and, 4 seconds after the start, the read limit. */
static void limits_combine(void) {
    static const struct {
        double total, connect, read, connect_timeout, read_timeout;
    } rows[] = {
        {NONE, DEFAULT, DEFAULT, DEFAULT, DEFAULT}, {NONE, NONE, NONE, NONE, NONE}, {NONE, 1, 2, 1, 2},
        {NONE, DEFAULT, 2, DEFAULT, 2},             {NONE, 1, NONE, 1, NONE},       {10, DEFAULT, DEFAULT, 10, 6},
        {10, NONE, NONE, 10, 6},                    {10, 1, 2, 1, 2},               {10, 11, 7, 10, 6},
        {10, 5, DEFAULT, 5, 6},                     {3, 1, 2, 1, 0},                {3, DEFAULT, NONE, 3, 0},
        {4, 4, 4, 4, 0},                            {4.5, DEFAULT, 0.25, 4.5, 0.25},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_timeout *timeout = NULL;
        test_clock clock = {1000, 0, 0};
        double seconds = 99;
        bool has_total = rows[i].total < NONE;
        CHECK_OK(netlib_timeout_new(rows[i].total, rows[i].connect, rows[i].read, &timeout, &err));
        CHECK_DOUBLE(rows[i].total, netlib_timeout_total(timeout));
        CHECK_DOUBLE(rows[i].connect, netlib_timeout_connect(timeout));
        CHECK_DOUBLE(rows[i].read, netlib_timeout_read(timeout));
        CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, &err));
        CHECK_OK(netlib_timeout_connect_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(rows[i].connect_timeout, seconds);
        CHECK_STATUS(has_total ? NETLIB_TIMEOUT_STATE : NETLIB_OK, netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(has_total ? 0 : rows[i].read_timeout, seconds);
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        clock.now += 4;
        CHECK_OK(netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(rows[i].read_timeout, seconds);
        CHECK_OK(netlib_timeout_connect_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(rows[i].connect_timeout, seconds);
        CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
        CHECK_DOUBLE(4, seconds);
        netlib_timeout_free(timeout);
    }
}

static void fields_are_checked(void) {
    static const double bad[] = {0.0, -0.0, -0.5, -2.0, (double)NAN, (double)-INFINITY};
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct {
            double total, connect, read;
            const char *field;
        } rows[] = {{bad[i], 1, 1, "total must be "}, {1, bad[i], 1, "connect must be "}, {1, 1, bad[i], "read must be "}};
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

static void from_float(void) {
    static const double values[] = {2.5, NONE, DEFAULT};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        netlib_error *err = NULL;
        netlib_timeout *timeout = NULL;
        double seconds = 0;
        CHECK_OK(netlib_timeout_from_float(values[i], &timeout, &err));
        CHECK_DOUBLE(NONE, netlib_timeout_total(timeout));
        CHECK_OK(netlib_timeout_connect_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(values[i], seconds);
        CHECK_OK(netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(values[i], seconds);
        netlib_timeout_free(timeout);
    }
}

static void clock_states(void) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    test_clock clock = {5, 0, 0};
    double seconds = 99;
    CHECK_OK(netlib_timeout_new(10, DEFAULT, DEFAULT, &timeout, &err));
    CHECK_STATUS(NETLIB_TIMEOUT_STATE, netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
    CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, &err));
    CHECK_INT(0, clock.calls);
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    clock.now = 5.25;
    CHECK_STATUS(NETLIB_TIMEOUT_STATE, netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    CHECK_DOUBLE(0.25, seconds);
    CHECK_STATUS(NETLIB_TIMEOUT_STATE, netlib_timeout_set_clock(timeout, NULL, NULL, &err));

    netlib_timeout *copy = netlib_timeout_clone(timeout);
    netlib_timeout_free(timeout);
    CHECK_STATUS(NETLIB_TIMEOUT_STATE, netlib_timeout_get_connect_duration(copy, &seconds, &err));
    CHECK_DOUBLE(10, netlib_timeout_total(copy));
    CHECK_OK(netlib_timeout_start_connect(copy, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(copy, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
    netlib_timeout_free(copy);

    /* The system's own clock. */
    CHECK_OK(netlib_timeout_from_float(1, &timeout, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    CHECK(seconds >= 0);
    netlib_timeout_free(timeout);
}

static void hostile_clocks(void) {
    static const struct {
        double start, later;
        int32_t result;
    } rows[] = {
        {0, (double)NAN, 0}, {0, (double)INFINITY, 0}, {0, (double)-INFINITY, 0}, {1, 0.5, 0}, {0, 1, 7}, {-1e308, 1e308, 0},
    };
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    double seconds = 99;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_clock clock = {rows[i].start, 0, 0};
        CHECK_OK(netlib_timeout_new(10, DEFAULT, DEFAULT, &timeout, &err));
        CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, &err));
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        clock.now = rows[i].later;
        clock.result = rows[i].result;
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_get_connect_duration(timeout, &seconds, &err));
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_read_timeout(timeout, &seconds, &err));
        CHECK_DOUBLE(0, seconds);
        netlib_timeout_free(timeout);
    }
    CHECK_OK(netlib_timeout_from_float(1, &timeout, &err));
    CHECK_OK(netlib_timeout_set_clock(timeout, forgetful_clock, NULL, &err));
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_set_clock(timeout, NULL, NULL, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    netlib_timeout_free(timeout);
}

static void process_default(void) {
    netlib_error *err = NULL;
    CHECK_DOUBLE(NONE, netlib_default_timeout());
    CHECK_OK(netlib_set_default_timeout(7.5, &err));
    CHECK_DOUBLE(7.5, netlib_default_timeout());
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_set_default_timeout(DEFAULT, &err));
    CHECK_DOUBLE(7.5, netlib_default_timeout());
    CHECK_OK(netlib_set_default_timeout(NONE, NULL));
    CHECK_DOUBLE(NONE, netlib_default_timeout());
}

static void null_handles(void) {
    netlib_error *err = NULL;
    double seconds = 99;
    CHECK(netlib_timeout_clone(NULL) == NULL);
    netlib_timeout_free(NULL);
    CHECK_DOUBLE(NONE, netlib_timeout_total(NULL));
    CHECK_DOUBLE(DEFAULT, netlib_timeout_connect(NULL));
    CHECK_DOUBLE(DEFAULT, netlib_timeout_read(NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_set_clock(NULL, NULL, NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_start_connect(NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_get_connect_duration(NULL, &seconds, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_connect_timeout(NULL, &seconds, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_timeout_read_timeout(NULL, &seconds, &err));
    CHECK_DOUBLE(0, seconds);
}

int main(void) {
    limits_combine();
    fields_are_checked();
    from_float();
    clock_states();
    hostile_clocks();
    process_default();
    null_handles();
    return report("timeout");
}
