/* Tests netlib_rate with a limit: the answers of GCRA, clocks, keys, options and bad input. */
#include "rate_makers.h"

#include <math.h>

/* The test table of redis-cell, a Redis module for GCRA, with 5 permissions at once and 1 per second. The rows in which
 * redis-cell only reads the state are left out. */
static void a_limit_gives_the_answers_of_redis_cell(void) {
    static const struct {
        double now, n, wait;
    } rows[] = {
        {0, 1, 0},   {0, 1, 0}, {0, 1, 0}, {0, 1, 0},   {0, 1, 0},   {0, 1, 1},   {3, 1, 0},
        {3.1, 1, 0}, {4, 1, 0}, {8, 1, 0}, {9.5, 1, 0}, {9.5, 2, 0}, {9.5, 5, 3},
    };
    /* The answers do not depend on the time at which the clock starts. */
    static const double starts[] = {0, -1000, 1.7e9};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        double now = 0;
        netlib_rate *rate = limit_of(1, 5, &now);
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            now = starts[i] + rows[j].now;
            CHECK(fabs(rows[j].wait - take(rate, "foo", rows[j].n)) < 1.5e-6);
        }
        netlib_rate_free(rate);
    }
    /* The command of redis-cell's README: CL.THROTTLE user123 15 30 60 1 has a limit of 16 and one more every 2 s. */
    double now = 0;
    netlib_rate *rate = limit_of(30.0 / 60, 15 + 1, &now);
    for (int i = 0; i < 16; i++) CHECK_DOUBLE(0, take(rate, "user123", 1));
    CHECK_DOUBLE(2, take(rate, "user123", 1));
    netlib_rate_free(rate);
}

/* smithy-rs computed a wait below a nanosecond as 0, and its client then slept for 0 seconds again and again. */
static void a_wait_of_less_than_a_nanosecond_is_a_microsecond(void) {
    double now = 0;
    netlib_rate *limit = limit_of(2e9, 2, &now);
    CHECK_DOUBLE(0, take(limit, "k", 2));
    CHECK_DOUBLE(1e-6, take(limit, "k", 1));
    now += 1e-6;
    CHECK_DOUBLE(0, take(limit, "k", 1));
    netlib_rate_free(limit);

    /* An adaptive rate of 0.5 per second, whose bucket lacks a fraction of a token. */
    netlib_rate *adaptive = rate_of(netlib_rate_options_new(), &now);
    report_outcome(adaptive, "k", NETLIB_REPORT_THROTTLED);
    int calls = 0;
    for (double wait; (wait = take(adaptive, "k", 1)) > 0 && calls < 10; calls++) {
        CHECK(wait >= 1e-6);
        /* The timer is a nanosecond early. */
        now += wait - (calls == 0 ? 1e-9 : 0);
    }
    CHECK_INT(2, calls);
    netlib_rate_free(adaptive);
}

/* The quotient of two doubles may be more than the number of microseconds. */
static void a_wait_of_whole_microseconds_is_not_rounded_up(void) {
    static const double bursts[] = {79, 158, 159, 316, 627, 637};
    for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++) {
        double now = 0;
        netlib_rate *rate = limit_of(10000, bursts[i], &now);
        CHECK_DOUBLE(0, take(rate, "k", bursts[i]));
        CHECK_DOUBLE(bursts[i] / 10000, take(rate, "k", bursts[i]));
        netlib_rate_free(rate);
    }
}

/* After each wait, and not before, the permission is available. */
static void a_client_that_waits_between_calls_gets_the_rate_and_at_most_the_burst_more(void) {
    static const struct {
        double per_second, burst, n;
    } rows[] = {{1, 1, 1}, {10, 5, 1}, {3, 3, 1}, {7, 20, 3}, {1000, 1, 1}, {0.1, 1, 0.3}, {1e8, 65536, 1500}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double start = 1000, now = start, taken = 0, most = rows[i].burst;
        netlib_rate *rate = limit_of(rows[i].per_second, rows[i].burst, &now);
        for (int calls = 0; calls < 2000; calls++) {
            double wait = take(rate, "k", rows[i].n);
            if (wait > 0) now += wait;
            else taken += rows[i].n;
            most = rows[i].per_second * (now - start) + rows[i].burst;
            CHECK(taken <= most * (1 + 1e-9));
        }
        CHECK(taken >= 0.99 * (most - rows[i].burst));
        netlib_rate_free(rate);
    }
}

/* Each row: a reading of the clock, and the seconds to wait for a permission of a limit of 1 per second and 2 at once,
 * whose two permissions were taken at the time 1,000,000. */
static void time_continues_after_the_clock_has_stepped_back(void) {
    static const struct {
        double reading, wait;
    } rows[] = {
        {1e6, 1},
        /* A late reading of another thread does not change the time. */
        {1e6 - 1, 1},
        {1e6 + 0.5, 0.5},
        {1e6 - 0.25, 0.5},
        {5e5, 0.5},
        {5e5 + 0.25, 0.25},
        {5e5 + 0.5, 0},
        {5e5 + 0.5, 1},
        {-5e8, 1},
        {-5e8 + 1, 0},
    };
    double now = 1e6;
    netlib_rate *rate = limit_of(1, 2, &now);
    CHECK_DOUBLE(0, take(rate, "k", 2));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        now = rows[i].reading;
        CHECK_DOUBLE(rows[i].wait, take(rate, "k", 1));
    }
    CHECK_DOUBLE(1, take(rate, "k", 1));
    /* A step forward fills the burst, and no more. */
    now += 1e9;
    CHECK_DOUBLE(0, take(rate, "k", 2));
    CHECK_DOUBLE(1, take(rate, "k", 1));
    /* The largest and the smallest time, after and before each other. */
    static const double odd[] = {8.9e9, -9e9, 9e9, 0};
    for (size_t i = 0; i < 20 * sizeof odd / sizeof odd[0]; i++) {
        now = odd[i % (sizeof odd / sizeof odd[0])];
        CHECK(take(rate, "k", 1) <= 2);
        /* At no time are there more permissions than the burst. */
        CHECK(take(rate, "k", 1) + take(rate, "k", 1) > 0);
    }
    netlib_rate_free(rate);
    /* A time that is no number of seconds is an error. */
    static const double invalid[] = {NAN, INFINITY, -INFINITY, 1e10, -1e300};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        netlib_error *err = NULL;
        double wait = 7;
        now = invalid[i];
        rate = limit_of(1, 2, &now);
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_rate_take(rate, "k", 1, 1, &wait, &err));
        CHECK_DOUBLE(0, wait);
        netlib_rate_free(rate);
        rate = rate_of(netlib_rate_options_new(), &now);
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_rate_take(rate, "k", 1, 1, &wait, &err));
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_rate_report(rate, "k", 1, NETLIB_REPORT_SUCCESS, &err));
        netlib_rate_free(rate);
    }
}

static void keys_have_separate_limits_and_the_least_recently_used_one_is_dropped(void) {
    double now = 0;
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, 1, 1);
    netlib_rate_options_set_max_keys(options, 2);
    netlib_rate *rate = rate_of(options, &now), *same = netlib_rate_clone(rate);
    CHECK_DOUBLE(0, take(rate, "a", 1));
    CHECK_DOUBLE(0, take(same, "b", 1));
    CHECK_DOUBLE(1, take(rate, "a", 1));
    /* "c" replaces "b". */
    CHECK_DOUBLE(0, take(rate, "c", 1));
    CHECK_DOUBLE(1, take(rate, "a", 1));
    CHECK_DOUBLE(0, take(rate, "b", 1));
    netlib_rate_free(same);
    netlib_rate_free(rate);
    /* NULL is a key. */
    netlib_error *err = NULL;
    double wait = -1;
    rate = limit_of(1, 1, NULL);
    CHECK_OK(netlib_rate_take(rate, NULL, 0, 1, &wait, &err));
    CHECK_INT(NETLIB_RATE_LIMITED, netlib_rate_take(rate, NULL, 0, 1, &wait, &err));
    CHECK(wait > 0 && wait <= 1);
    /* A report changes nothing. */
    CHECK_OK(netlib_rate_report(rate, NULL, 0, NETLIB_REPORT_THROTTLED, &err));
    netlib_rate_free(rate);
}

/* A limit with 5 permissions, and an adaptive rate of 0.5 per second. */
static void a_key_without_permissions_stays_when_many_keys_are_used(void) {
    for (int is_adaptive = 0; is_adaptive < 2; is_adaptive++) {
        double now = 0;
        netlib_rate_options *options = netlib_rate_options_new();
        if (!is_adaptive) netlib_rate_options_set_limit(options, 1, 5);
        netlib_rate_options_set_max_keys(options, 32);
        netlib_rate *rate = rate_of(options, &now);
        CHECK_DOUBLE(0, take(rate, "empty", 5));
        report_outcome(rate, "empty", NETLIB_REPORT_THROTTLED);
        for (int i = 0; i < 1000; i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            CHECK_DOUBLE(0, take(rate, key, 1));
        }
        CHECK_DOUBLE(is_adaptive ? 2 : 1, take(rate, "empty", 1));
        netlib_rate_free(rate);
    }
}

static void bad_settings_are_refused_with_the_parameter_in_the_message(void) {
    static const struct {
        double per_second, burst;
        int32_t max_keys;
        const char *message;
    } rows[] = {
        {0, 1, 1, "netlib_rate_options_set_limit: per_second must be more than 0 and finite; it is 0"},
        {-1, 1, 1, "netlib_rate_options_set_limit: per_second must be more than 0 and finite; it is -1"},
        {NAN, 1, 1, "netlib_rate_options_set_limit: per_second must be more than 0 and finite; it is NaN"},
        {INFINITY, 1, 1, "netlib_rate_options_set_limit: per_second must be more than 0 and finite; it is inf"},
        {1, 0, 1, "netlib_rate_options_set_limit: burst must be more than 0 and finite; it is 0"},
        {1, NAN, 1, "netlib_rate_options_set_limit: burst must be more than 0 and finite; it is NaN"},
        {1, -1, 1, "netlib_rate_options_set_limit: burst must be more than 0 and finite; it is -1"},
        {1, INFINITY, 1, "netlib_rate_options_set_limit: burst must be more than 0 and finite; it is inf"},
        {1, 2e9, 1,
         "netlib_rate_options_set_limit: burst / per_second must be 0.000000001 to 1000000000 seconds; it is "
         "2000000000 seconds"},
        {1, 1, 0, "netlib_rate_options_set_max_keys: max_keys must be 1 to 1048576; it is 0"},
        {1, 1, -1, "netlib_rate_options_set_max_keys: max_keys must be 1 to 1048576; it is -1"},
        {1, 1, 1048577, "netlib_rate_options_set_max_keys: max_keys must be 1 to 1048576; it is 1048577"},
    };
    netlib_error *err = NULL;
    netlib_rate *rate = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_rate_options *options = netlib_rate_options_new(), *copy = NULL;
        netlib_rate_options_set_limit(options, rows[i].per_second, rows[i].burst);
        netlib_rate_options_set_max_keys(options, rows[i].max_keys);
        copy = netlib_rate_options_clone(options);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_options_check(copy, NULL));
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_new(copy, &rate, &err));
        CHECK(rate == NULL);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        netlib_error_free(err);
        netlib_rate_options_free(copy);
        /* A later call, also of the alternative setter, replaces a refused value. */
        netlib_rate_options_set_adaptive(options);
        netlib_rate_options_set_max_keys(options, 1048576);
        rate = rate_of(options, NULL);
        netlib_rate_free(rate);
        rate = NULL;
    }
}

static void bad_arguments_are_refused_with_the_parameter_in_the_message(void) {
    static const struct {
        bool limit;
        double n;
        const char *message;
    } rows[] = {
        {true, 0, "n must be more than 0 and at most burst (5); it is 0"},
        {true, -1, "n must be more than 0 and at most burst (5); it is -1"},
        {true, NAN, "n must be more than 0 and at most burst (5); it is NaN"},
        {true, 6, "n must be more than 0 and at most burst (5); it is 6"},
        {false, 0, "n must be more than 0 and at most 1000000000; it is 0"},
        {false, NAN, "n must be more than 0 and at most 1000000000; it is NaN"},
        {false, INFINITY, "n must be more than 0 and at most 1000000000; it is inf"},
        {false, 1000000001, "n must be more than 0 and at most 1000000000; it is 1000000001"},
    };
    netlib_error *err = NULL;
    char key[1025];
    memset(key, 'k', sizeof key);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_rate *rate = rows[i].limit ? limit_of(1, 5, NULL) : rate_of(netlib_rate_options_new(), NULL);
        double wait = 7;
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_take(rate, "k", 1, rows[i].n, &wait, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_DOUBLE(0, wait);
        netlib_error_free(err);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_take(rate, key, 1025, 1, &wait, &err));
        CHECK_STR("key has 1025 bytes; it must have at most 1024", netlib_error_message(err, NULL));
        netlib_error_free(err);
        CHECK_OK(netlib_rate_take(rate, key, 1024, 1, &wait, &err));
        if (!rows[i].limit) CHECK_OK(netlib_rate_take(rate, "k", 1, 1e9, &wait, &err));
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_report(rate, "k", 1, (enum netlib_report)4, &err));
        CHECK_STR("outcome must be a netlib_report; it is 4", netlib_error_message(err, NULL));
        netlib_error_free(err);
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_rate_report(rate, key, 1025, NETLIB_REPORT_SUCCESS, &err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_rate_report(rate, key, 1025, NETLIB_REPORT_NONE, &err));
        netlib_rate_free(rate);
    }
}

int main(void) {
    a_limit_gives_the_answers_of_redis_cell();
    a_wait_of_less_than_a_nanosecond_is_a_microsecond();
    a_wait_of_whole_microseconds_is_not_rounded_up();
    a_client_that_waits_between_calls_gets_the_rate_and_at_most_the_burst_more();
    time_continues_after_the_clock_has_stepped_back();
    keys_have_separate_limits_and_the_least_recently_used_one_is_dropped();
    a_key_without_permissions_stays_when_many_keys_are_used();
    bad_settings_are_refused_with_the_parameter_in_the_message();
    bad_arguments_are_refused_with_the_parameter_in_the_message();
    return report("rate");
}
