/* Tests the delays of the retry policy: backoff, jitter, Retry-After, and sleeping with a limit. */
#define _POSIX_C_SOURCE 200809L
#include "retry_makers.h"

#include <pthread.h>
#include <time.h>

/* The state of the callbacks, passed as their `ctx`. */
struct virtual {
    double now, random, slept;
    int32_t result;
    int32_t outcome; /* stored by the sleep callback */
    int calls;
};

static int32_t virtual_now(void *ctx, double *seconds) {
    struct virtual *virtual = ctx;
    *seconds = virtual->now;
    return virtual->result;
}

static int32_t virtual_random(void *ctx, double *value) {
    struct virtual *virtual = ctx;
    *value = virtual->random;
    return virtual->result;
}

static void virtual_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    struct virtual *virtual = ctx;
    virtual->slept += seconds;
    virtual->calls++;
    *outcome = virtual->outcome;
}

static int32_t store_no_random(void *ctx, double *value) {
    (void)ctx;
    (void)value;
    return 0;
}

static double backoff_of(const netlib_retry *retry) {
    netlib_error *err = NULL;
    double seconds = -1;
    CHECK_OK(netlib_retry_get_backoff_time(retry, &seconds, &err));
    return seconds;
}

/* Returns a Retry with a history of `times` failures. */
static netlib_retry *failed(netlib_retry_options *options, int times) {
    for (int i = 0; i < times; i++) netlib_retry_options_add_history(options, NULL, NULL, NULL, 500, NULL);
    return retry_of(options);
}

static void backoff_doubles_up_to_its_maximum(void) {
    static const struct {
        double factor, max;
        int failures;
        double expected;
    } rows[] = {
        {0.1, 120, 0, 0},    {0.1, 120, 1, 0},
        {0.1, 120, 2, 0.2},  {0.1, 120, 3, 0.4},
        {0.5, 120, 4, 4},    {50, 120, 3, 120},
        {0, 120, 9, 0},      {1, 0, 9, 0},
        {1, 3.5, 3, 3.5},    {1, NETLIB_TIMEOUT_NONE, 11, 1024},
        {1, 120, 2000, 120},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_backoff_factor(options, rows[i].factor);
        netlib_retry_options_set_backoff_max(options, rows[i].max);
        netlib_retry *retry = failed(options, rows[i].failures);
        CHECK_DOUBLE(rows[i].expected, backoff_of(retry));
        netlib_retry_free(retry);
    }
    /* Failures before the last redirect do not increase the backoff. */
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_factor(options, 1);
    for (int i = 0; i < 5; i++) netlib_retry_options_add_history(options, NULL, NULL, NULL, 500, NULL);
    netlib_retry_options_add_history(options, NULL, NULL, NULL, 302, "/");
    netlib_retry *retry = failed(options, 2);
    CHECK_DOUBLE(2, backoff_of(retry));
    netlib_retry_free(retry);
}

static void jitter_is_added_and_random_numbers_below_0_or_not_below_1_are_refused(void) {
    static const struct {
        double random;
        int32_t result;
        netlib_status expected;
        double seconds;
    } rows[] = {
        {0, 0, NETLIB_OK, 2},
        {0.5, 0, NETLIB_OK, 4.5},
        {0.75, 0, NETLIB_OK, 5.5},
        {1, 0, NETLIB_CALLBACK_FAILED, 0},
        {-0.5, 0, NETLIB_CALLBACK_FAILED, 0},
        {NAN, 0, NETLIB_CALLBACK_FAILED, 0},
        {INFINITY, 0, NETLIB_CALLBACK_FAILED, 0},
        {0.5, 1, NETLIB_CALLBACK_FAILED, 0},
        {0.5, -1, NETLIB_CALLBACK_FAILED, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct virtual virtual = {.random = rows[i].random, .result = rows[i].result};
        netlib_error *err = NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_backoff_factor(options, 1);
        netlib_retry_options_set_backoff_max(options, 5.5);
        netlib_retry_options_set_backoff_jitter(options, 5);
        netlib_retry_options_set_random(options, virtual_random, &virtual, NULL);
        netlib_retry *retry = failed(options, 2);
        double seconds = 9;
        CHECK_STATUS(rows[i].expected, netlib_retry_get_backoff_time(retry, &seconds, &err));
        CHECK_DOUBLE(rows[i].seconds, seconds);
        netlib_retry_free(retry);
    }
    /* Without a random callback, the system's random source is used. */
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_jitter(options, 5);
    netlib_retry_options_set_random(options, store_no_random, NULL, NULL);
    netlib_retry_options_set_random(options, NULL, NULL, NULL);
    netlib_retry *retry = failed(options, 2);
    bool differ = false;
    double first = backoff_of(retry);
    for (int i = 0; i < 50; i++) {
        double seconds = backoff_of(retry);
        CHECK(seconds >= 0 && seconds < 5);
        differ = differ || seconds < first || seconds > first;
    }
    CHECK(differ);
    netlib_retry_free(retry);
}

static void retry_after_is_parsed_and_capped(void) {
    static const struct {
        const char *value;
        double max;
        netlib_status expected;
        double seconds;
    } rows[] = {
        {"0", 60, NETLIB_OK, 0},
        {"5", 60, NETLIB_OK, 5},
        {" 61\t", 60, NETLIB_OK, 60},
        {"99999999999999999999999999999999999999", 60, NETLIB_OK, 60},
        {"99999", NETLIB_TIMEOUT_NONE, NETLIB_OK, 99999},
        {"Sun, 06 Nov 1994 08:49:47 GMT", 60, NETLIB_OK, 9.5},
        {"Sunday, 06-Nov-94 08:49:47 GMT", 60, NETLIB_OK, 9.5},
        {"Sun Nov  6 08:49:47 1994", 60, NETLIB_OK, 9.5},
        {"06 Nov 1994 09:49:47 +0100", 60, NETLIB_OK, 9.5},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 60, NETLIB_OK, 0},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 60, NETLIB_OK, 0},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 60, NETLIB_OK, 60},
        {"", 60, NETLIB_INVALID_HEADER, 0},
        {"-5", 60, NETLIB_INVALID_HEADER, 0},
        {"1.5", 60, NETLIB_INVALID_HEADER, 0},
        {"soon", 60, NETLIB_INVALID_HEADER, 0},
        {"\xff\xfe", 60, NETLIB_INVALID_HEADER, 0},
        {"Sun, 06 Nov 1994", 60, NETLIB_INVALID_HEADER, 0},
    };
    struct virtual virtual = {.now = 784111777.5};
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_retry_after_max(options, rows[i].max);
        netlib_retry_options_set_wall_clock(options, virtual_now, &virtual, NULL);
        netlib_retry *retry = retry_of(options);
        double seconds = 9;
        CHECK_STATUS(rows[i].expected, netlib_retry_parse_retry_after(retry, rows[i].value, &seconds, &err));
        CHECK_DOUBLE(rows[i].seconds, seconds);
        char fields[128];
        snprintf(fields, sizeof fields, "rEtry-aFter: %s\r\n", rows[i].value);
        netlib_response *response = response_of(200, fields);
        CHECK_STATUS(rows[i].expected, netlib_retry_get_retry_after(retry, response, &seconds, &err));
        CHECK_DOUBLE(rows[i].seconds, seconds);
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
    double seconds = 9;
    const netlib_retry *retry = netlib_retry_resolve(NULL, NULL);
    netlib_response *response = response_of(503, "");
    CHECK_OK(netlib_retry_get_retry_after(retry, response, &seconds, &err));
    CHECK_DOUBLE(-1, seconds);
    netlib_response_free(response);
    response = response_of(503, "Retry-After: 1\r\nRetry-After: 2\r\n");
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_retry_get_retry_after(retry, response, &seconds, &err));
    netlib_response_free(response);
    /* With the system's clock, a Retry-After date in 1994 is in the past. */
    CHECK_OK(netlib_retry_parse_retry_after(retry, "Sun, 06 Nov 1994 08:49:47 GMT", &seconds, &err));
    CHECK_DOUBLE(0, seconds);

    const double senseless[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 4; i++) {
        virtual = (struct virtual){.now = i < 3 ? senseless[i] : 0, .result = i == 3};
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_wall_clock(options, virtual_now, &virtual, NULL);
        netlib_retry *made = retry_of(options);
        CHECK_STATUS(NETLIB_CALLBACK_FAILED,
                     netlib_retry_parse_retry_after(made, "Sun, 06 Nov 1994 08:49:47 GMT", &seconds, &err));
        /* For a Retry-After with a number of seconds, netlib does not call the clock. */
        CHECK_OK(netlib_retry_parse_retry_after(made, "3", &seconds, &err));
        netlib_retry_free(made);
    }
}

static void sleeps_last_as_long_as_the_delay(void) {
    static const struct {
        int status; /* 0: no response */
        const char *fields;
        int32_t respect;
        int failures;
        double seconds;
        int32_t reason;
        double uncapped;
        bool slept_for_retry;
        double slept;
    } rows[] = {
        {0, NULL, 1, 0, 0, NETLIB_DELAY_NONE, 0, false, 0},
        {0, NULL, 1, 3, 4, NETLIB_DELAY_BACKOFF, 4, false, 0},
        {0, NULL, 1, 5, 10, NETLIB_DELAY_BACKOFF, 16, false, 0},
        {503, "Retry-After: 7\r\n", 1, 3, 7, NETLIB_DELAY_RETRY_AFTER, 7, true, 7},
        {429, "Retry-After: 7\r\n", 1, 3, 7, NETLIB_DELAY_RETRY_AFTER, 7, true, 7},
        {413, "Retry-After: 7\r\n", 1, 0, 7, NETLIB_DELAY_RETRY_AFTER, 7, true, 7},
        {503, "Retry-After: 70\r\n", 1, 3, 60, NETLIB_DELAY_RETRY_AFTER, 70, true, 60},
        {503, "Retry-After: 0\r\n", 1, 3, 4, NETLIB_DELAY_BACKOFF, 4, false, 0},
        {503, "", 1, 3, 4, NETLIB_DELAY_BACKOFF, 4, false, 0},
        {503, "Retry-After: 7\r\n", 0, 3, 4, NETLIB_DELAY_BACKOFF, 4, true, 7},
        {500, "Retry-After: 7\r\n", 1, 3, 4, NETLIB_DELAY_BACKOFF, 4, true, 7},
        {302, "Retry-After: 7\r\n", 1, 0, 0, NETLIB_DELAY_NONE, 0, true, 7},
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct virtual virtual = {.outcome = NETLIB_OUTCOME_DONE};
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_backoff_factor(options, 1);
        netlib_retry_options_set_backoff_max(options, 10);
        netlib_retry_options_set_retry_after_max(options, 60);
        netlib_retry_options_set_respect_retry_after_header(options, rows[i].respect);
        netlib_retry_options_set_sleep(options, virtual_sleep, &virtual, NULL);
        netlib_retry *retry = failed(options, rows[i].failures);
        netlib_response *response = rows[i].status != 0 ? response_of(rows[i].status, rows[i].fields) : NULL;
        double seconds = 99;
        double uncapped = 99;
        enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
        CHECK_OK(netlib_retry_delay(retry, response, &seconds, &reason, &uncapped, &err));
        CHECK_DOUBLE(rows[i].seconds, seconds);
        CHECK_INT(rows[i].reason, reason);
        CHECK_DOUBLE(rows[i].uncapped, uncapped);
        CHECK_INT(0, virtual.calls);
        CHECK_OK(netlib_retry_sleep(retry, response, NULL, &err));
        CHECK_DOUBLE(rows[i].seconds, virtual.slept);
        CHECK_INT(rows[i].seconds > 0, virtual.calls);
        if (response != NULL) {
            int32_t slept = !rows[i].slept_for_retry;
            virtual.slept = 0;
            CHECK_OK(netlib_retry_sleep_for_retry(retry, response, NULL, &slept, &err));
            CHECK(slept == rows[i].slept_for_retry);
            CHECK_DOUBLE(rows[i].slept, virtual.slept);
        }
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
}

static double seconds_now(void) { return netlib_current_time(); }

static void *cancel_soon(void *limit) {
    struct timespec wait = {.tv_nsec = 20000000};
    nanosleep(&wait, NULL);
    netlib_limit_cancel(limit);
    return NULL;
}

static void sleeps_end_with_the_limit_and_fail_if_the_sleep_callback_fails(void) {
    netlib_error *err = NULL;
    netlib_response *response = response_of(503, "Retry-After: 3600\r\n");
    const netlib_retry *retry = netlib_retry_resolve(NULL, NULL);
    netlib_limit *limit = NULL;
    int32_t slept = 1;

    CHECK_OK(netlib_limit_new(0.02, NULL, &limit, &err));
    double before = seconds_now();
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_retry_sleep(retry, response, limit, &err));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_retry_sleep_for_retry(retry, response, limit, &slept, &err));
    CHECK(!slept);
    CHECK(seconds_now() - before < 60);
    netlib_limit_free(limit);

    CHECK_OK(netlib_limit_new(NETLIB_TIMEOUT_NONE, NULL, &limit, &err));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_soon, limit) == 0);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_retry_sleep(retry, response, limit, &err));
    pthread_join(thread, NULL);
    /* If the limit is cancelled, the call fails even if the delay is 0. */
    CHECK_STATUS(NETLIB_CANCELLED, netlib_retry_sleep(retry, NULL, limit, &err));
    CHECK_STATUS(NETLIB_CANCELLED, netlib_retry_sleep_for_retry(retry, NULL, limit, &slept, &err));
    CHECK_OK(netlib_retry_sleep_for_retry(retry, NULL, NULL, &slept, &err));
    CHECK(!slept);

    /* If the limit has ended, netlib does not call the sleep callback. */
    struct virtual virtual = {.outcome = NETLIB_OUTCOME_DONE};
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_sleep(options, virtual_sleep, &virtual, NULL);
    netlib_retry *with_callback = retry_of(options);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_retry_sleep(with_callback, response, limit, &err));
    CHECK_INT(0, virtual.calls);
    CHECK_OK(netlib_retry_sleep(with_callback, response, NULL, &err));
    CHECK_INT(1, virtual.calls);
    static const int32_t failures[] = {NETLIB_OUTCOME_FAILED, 2, 5, -1, INT32_MIN};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        virtual.outcome = failures[i];
        CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_retry_sleep(with_callback, response, NULL, &err));
    }
    netlib_retry_free(with_callback);
    netlib_limit_free(limit);
    netlib_response_free(response);

    /* Without a sleep callback, netlib sleeps for the whole delay. */
    response = response_of(503, "Retry-After: 1\r\n");
    options = netlib_retry_options_new();
    netlib_retry_options_set_retry_after_max(options, 0.03);
    netlib_retry *brief = retry_of(options);
    before = seconds_now();
    CHECK_OK(netlib_retry_sleep(brief, response, NULL, &err));
    CHECK(seconds_now() - before >= 0.029);
    netlib_retry_free(brief);
    netlib_response_free(response);
}

int main(void) {
    backoff_doubles_up_to_its_maximum();
    jitter_is_added_and_random_numbers_below_0_or_not_below_1_are_refused();
    retry_after_is_parsed_and_capped();
    sleeps_last_as_long_as_the_delay();
    sleeps_end_with_the_limit_and_fail_if_the_sleep_callback_fails();
    return report("retry_delay");
}
