/* Tests an adaptive netlib_rate with the tables of AWS's SDKs. */
#define _POSIX_C_SOURCE 200809L
#include "rate_makers.h"

#include <math.h>
#include <unistd.h>

/* Returns the rate at which the bucket fills, which must be more than 1, so that the capacity equals the rate. The
 * bucket is emptied first. If it then has t tokens, the wait for one token is (1 - t) / rate, and the wait for a full
 * bucket is (rate - t) / rate. */
static double fill_rate(const netlib_rate *rate) {
    double one = 0;
    while (one <= 0) one = take(rate, "k", 1);
    return 1 / (1 - (take(rate, "k", 1e6) - one));
}

/* The table of the test of smithy-rs for a client that sends a request every 0.2 seconds. */
static void reports_change_the_rate_as_in_smithy(void) {
    static const struct {
        double now, fill_rate; /* 0: the rate is not limited yet */
        bool throttled;
    } rows[] = {
        {0.2, 0, false},
        {0.4, 0, false},
        {0.6, 0, false},
        {0.8, 0, false},
        {1.0, 0, false},
        {1.2, 0, false},
        {1.4, 0, false},
        {1.6, 0, false},
        {1.8, 0, false},
        {2.0, 3.0284799999999996, true},
        {2.2, 3.48663917347026, false},
        {2.4, 3.821874416040255, false},
        {2.6, 4.053385727709987, false},
        {2.8, 4.200373108479454, false},
        {3.0, 4.282036558348658, false},
        {3.2, 2.99742559084406, true},
        {3.4, 3.4522263943863463, false},
    };
    double now = 0;
    netlib_rate *rate = rate_of(netlib_rate_options_new(), &now);
    CHECK_DOUBLE(0, take(rate, "k", 1));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        now = rows[i].now;
        report_outcome(rate, "k", rows[i].throttled ? NETLIB_REPORT_THROTTLED : NETLIB_REPORT_SUCCESS);
        if (rows[i].fill_rate > 0) {
            /* A wait is rounded up to a microsecond. */
            CHECK(fabs(fill_rate(rate) - rows[i].fill_rate) < 1e-4);
        } else {
            CHECK_DOUBLE(0, take(rate, "k", 1e6));
        }
    }
    /* Other keys are not limited. */
    CHECK_DOUBLE(0, take(rate, "other", 1e6));
    netlib_rate_free(rate);
}

/* A client that is throttled at a measured rate of 8 continues with 8 * 0.7. */
static void a_throttled_request_lowers_a_rate_of_8_to_5_6(void) {
    static const enum netlib_report outcomes[] = {NETLIB_REPORT_SUCCESS, NETLIB_REPORT_FAILURE};
    for (size_t i = 0; i < 2; i++) {
        double now = 0;
        netlib_rate *rate = rate_of(netlib_rate_options_new(), &now);
        CHECK_DOUBLE(0, take(rate, "k", 1));
        /* 5 reports in half a second, with the weight 0.8, are a rate of 8. NONE does not count. */
        for (int j = 1; j <= 4; j++) {
            now = j / 10.0;
            report_outcome(rate, "k", outcomes[i]);
            report_outcome(rate, "k", NETLIB_REPORT_NONE);
        }
        now = 0.5;
        report_outcome(rate, "k", NETLIB_REPORT_THROTTLED);
        CHECK(fabs(fill_rate(rate) - 5.6) < 1e-4);
        netlib_rate_free(rate);
    }
}

/* Returns whether the fill rate is the expected one. A wait is rounded up to a microsecond, so the error of the fill
 * rate grows with its square. */
static bool fills_at(const netlib_rate *rate, double expected) {
    return fabs(fill_rate(rate) - expected) < 2e-6 * expected * expected;
}

static void report_successes(const netlib_rate *rate, int count) {
    for (int i = 0; i < count; i++) report_outcome(rate, "k", NETLIB_REPORT_SUCCESS);
}

/* Makes an adaptive rate whose client is throttled at the time 2, at a measured rate of `max_rate` (8 or 10). */
static netlib_rate *throttled_at_2(double *now, int max_rate) {
    *now = 0;
    netlib_rate *rate = rate_of(netlib_rate_options_new(), now);
    CHECK_DOUBLE(0, take(rate, "k", 1));
    /* The report at the time 2 is the last one of 2 * max_rate / 0.8 reports in 2 seconds. */
    report_successes(rate, max_rate * 10 / 4 - 1);
    *now = 2;
    report_outcome(rate, "k", NETLIB_REPORT_THROTTLED);
    CHECK(fills_at(rate, 0.7 * max_rate));
    return rate;
}

/* The cubic function is max_rate at K seconds after the throttled request, and max_rate + 0.4 at K + 1 seconds. The
 * values of K are those of botocore's tests. */
static void the_rate_is_the_earlier_rate_again_after_the_time_k_of_botocore(void) {
    static const struct {
        int max_rate;
        double k;
    } rows[] = {{10, 1.9574338205844317}, {8, 1.8171205928321397}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int after = -1; after <= 1; after++) {
            double now = 0;
            netlib_rate *rate = throttled_at_2(&now, rows[i].max_rate);
            /* Many reports at one time do not change the fill rate, but raise the measured rate, which limits it. */
            report_successes(rate, 50);
            now = 2 + rows[i].k + after;
            report_outcome(rate, "k", NETLIB_REPORT_SUCCESS);
            CHECK(fills_at(rate, rows[i].max_rate + 0.4 * after));
            netlib_rate_free(rate);
        }
    }
}

/* The tables of the cubic function in the tests of smithy-rs and aws-sdk-go-v2, with the time 5 for the throttled
 * request. The rows of the second table after the second throttled request are left out: the original tests set a state
 * for them that no sequence of requests reaches. */
static void the_cubic_rates_are_those_of_smithy(void) {
    static const struct {
        bool begins, throttled;
        double time, fill_rate;
    } rows[] = {
        {true, false, 5, 7},
        {false, false, 6, 9.64893600966},
        {false, false, 7, 10.000030849917364},
        {false, false, 8, 10.453284520772092},
        {false, false, 9, 13.408697022224185},
        {false, false, 10, 21.26626835427364},
        {false, false, 11, 36.425998516920465},
        {true, false, 5, 7},
        {false, false, 6, 9.64893600966},
        {false, true, 7, 6.754255206761999},
        {false, true, 8, 4.727978644733399},
    };
    double now = 0;
    netlib_rate *rate = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].begins) {
            netlib_rate_free(rate);
            rate = throttled_at_2(&now, 10);
            continue;
        }
        report_successes(rate, 50);
        now = rows[i].time - 3;
        report_outcome(rate, "k", rows[i].throttled ? NETLIB_REPORT_THROTTLED : NETLIB_REPORT_SUCCESS);
        CHECK(fills_at(rate, rows[i].fill_rate));
    }
    netlib_rate_free(rate);
}

/* A client that sends whenever the rate allows it, to a server that throttles above 10 requests per second. */
static void a_throttled_client_sends_about_as_fast_as_the_server_allows(void) {
    double now = 0, allowance = 10, last = 0;
    int sent = 0, throttled = 0;
    netlib_rate *rate = rate_of(netlib_rate_options_new(), &now);
    while (now < 600) {
        double wait = take(rate, "k", 1);
        if (wait > 0) {
            now += wait;
            continue;
        }
        /* Without a limit, the client sends 100 requests per second. */
        now += 0.01;
        allowance = fmin(10, allowance + 10 * (now - last));
        last = now;
        bool refused = allowance < 1;
        if (!refused) allowance -= 1;
        report_outcome(rate, "k", refused ? NETLIB_REPORT_THROTTLED : NETLIB_REPORT_SUCCESS);
        sent++;
        throttled += refused;
    }
    printf("adaptive: %d requests in 600 s, %d of them throttled\n", sent, throttled);
    CHECK(sent - throttled > 600 * 10 * 7 / 10);
    CHECK(throttled < sent / 10);
    netlib_rate_free(rate);
}

/* A request for more than the capacity waits until the bucket is full, and the requests after it wait longer. */
static void a_request_for_more_than_the_capacity_makes_the_tokens_negative(void) {
    double now = 0;
    netlib_rate *rate = rate_of(netlib_rate_options_new(), &now);
    report_outcome(rate, "k", NETLIB_REPORT_THROTTLED); /* 0.5 per second */
    CHECK_DOUBLE(2, take(rate, "k", 3));
    now += 2;
    CHECK_DOUBLE(0, take(rate, "k", 3));
    CHECK_DOUBLE(6, take(rate, "k", 1));
    now += 6;
    CHECK_DOUBLE(0, take(rate, "k", 1));
    netlib_rate_free(rate);
}

static void time_continues_after_the_clock_has_stepped_back(void) {
    double now = 1000;
    netlib_rate *rate = rate_of(netlib_rate_options_new(), &now);
    report_outcome(rate, "k", NETLIB_REPORT_THROTTLED); /* 0.5 per second */
    CHECK_DOUBLE(2, take(rate, "k", 1));
    /* A late reading of another thread does not change the time. */
    now = 999.5;
    CHECK_DOUBLE(2, take(rate, "k", 1));
    now = 1000.25;
    CHECK_DOUBLE(1.75, take(rate, "k", 1));
    now = -1e9;
    CHECK_DOUBLE(1.75, take(rate, "k", 1));
    /* A new key begins at the same time. */
    report_outcome(rate, "new", NETLIB_REPORT_THROTTLED);
    now = -1e9 + 1;
    CHECK_DOUBLE(.75, take(rate, "k", 1));
    CHECK_DOUBLE(1, take(rate, "new", 1));
    now = -1e9 + 1.75;
    CHECK_DOUBLE(0, take(rate, "k", 1));
    netlib_rate_free(rate);
}

static void an_adaptive_rate_is_the_default_and_cannot_have_a_store(void) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    netlib_rate *rate = NULL;
    char path[] = "/tmp/netlib-rate-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(0, unlink(path));
    CHECK_OK(netlib_rate_new(NULL, &rate, &err));
    CHECK_DOUBLE(0, take(rate, "k", 1e6));
    netlib_rate_free(rate);
    CHECK_OK(netlib_store_file(path, 16, &store, &err));
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_store(options, store, NETLIB_UNAVAILABLE_LOCAL);
    CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_new(options, &rate, &err));
    CHECK_STR("a rate with a store needs a limit: a store cannot share an adaptive rate",
              netlib_error_message(err, NULL));
    netlib_error_free(err);
    netlib_rate_options_set_store(options, store, (enum netlib_unavailable)3);
    CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_rate_new(options, &rate, &err));
    CHECK_STR("netlib_rate_options_set_store: unavailable must be a netlib_unavailable; it is 3",
              netlib_error_message(err, NULL));
    netlib_error_free(err);
    netlib_rate_options_set_store(options, NULL, NETLIB_UNAVAILABLE_LOCAL);
    CHECK_OK(netlib_rate_new(options, &rate, &err));
    netlib_rate_free(rate);
    netlib_rate_options_free(options);
    netlib_store_free(store);
    CHECK_INT(0, unlink(path));
}

int main(void) {
    reports_change_the_rate_as_in_smithy();
    a_throttled_request_lowers_a_rate_of_8_to_5_6();
    the_rate_is_the_earlier_rate_again_after_the_time_k_of_botocore();
    the_cubic_rates_are_those_of_smithy();
    a_throttled_client_sends_about_as_fast_as_the_server_allows();
    a_request_for_more_than_the_capacity_makes_the_tokens_negative();
    time_continues_after_the_clock_has_stepped_back();
    an_adaptive_rate_is_the_default_and_cannot_have_a_store();
    return report("rate_adaptive");
}
