/* Tests responses that ask the client to slow down: the base delay after throttled outcomes, the clamp of the server's
 * wait, and pushback headers.
 *
 * The rows of AWS are those of the standard retry mode 2.1 of AWS's SDKs: the constants of smithy-rs and the tests of
 * botocore. They state the delays for a random number of 1. A random callback must store less than 1, so these tests
 * store the largest double below 1, and a delay is at most one unit in the last place below its row. */
#include "retry_makers.h"

#include <float.h>
#include <math.h>

/* The largest double below 1. */
#define NEARLY_ONE (1 - DBL_EPSILON / 2)
/* The relative difference between a delay for NEARLY_ONE and the delay for 1: half an epsilon and the rounding. */
#define TOLERANCE DBL_EPSILON

static int32_t nearly_one(void *ctx, double *value) {
    (void)ctx;
    *value = NEARLY_ONE;
    return 0;
}

static bool is_close(double expected, double actual) {
    return actual <= expected && actual >= expected * (1 - TOLERANCE);
}

/* The standard mode 2.1 of AWS's SDKs, without the limit of 3 attempts. */
static netlib_retry_options *aws(void) {
    static const int32_t statuses[] = {429, 500, 502, 503, 504, 509};
    static const int32_t throttling[] = {509};
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, 100);
    netlib_retry_options_set_status_forcelist(options, statuses, 6);
    netlib_retry_options_set_backoff_factor(options, 0.05);
    netlib_retry_options_set_throttling(options, 1, throttling, 1);
    netlib_retry_options_set_backoff_max(options, 20);
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_FULL);
    netlib_retry_options_set_random(options, nearly_one, NULL, NULL);
    return options;
}

static void delays_of_aws_double_from_the_base_of_the_last_outcome_up_to_20_seconds(void) {
    static const struct {
        int status;
        bool throttled;
        double delays[11];
    } rows[] = {
        {500, false, {0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 20, 20}},
        {429, true, {1, 2, 4, 8, 16, 20, 20, 20, 20, 20, 20}},
        {509, true, {1, 2, 4, 8, 16, 20, 20, 20, 20, 20, 20}},
    };
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *response = response_of(rows[i].status, "");
        netlib_retry *retry = retry_of(aws());
        for (size_t n = 0; n < 11; n++) {
            netlib_decision *decision = NULL;
            CHECK_OK(netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
            CHECK_INT(NETLIB_ACTION_RETRY, netlib_decision_action(decision));
            CHECK_INT(rows[i].throttled, netlib_decision_throttled(decision));
            CHECK(is_close(rows[i].delays[n], netlib_decision_delay(decision)));
            netlib_retry_free(retry);
            retry = netlib_retry_clone(netlib_decision_retry(decision));
            CHECK_INT(rows[i].throttled, netlib_retry_is_throttled(retry));
            /* netlib_retry_delay computes the delay of the decision again. */
            double seconds = -1, uncapped = -1;
            enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
            CHECK_OK(netlib_retry_delay(retry, response, &seconds, &reason, &uncapped, &err));
            CHECK_DOUBLE(netlib_decision_delay(decision), seconds);
            CHECK_DOUBLE(netlib_decision_delay_uncapped(decision), uncapped);
            CHECK_INT(NETLIB_DELAY_BACKOFF, reason);
            CHECK_OK(netlib_retry_get_backoff_time(retry, &seconds, &err));
            CHECK_DOUBLE(netlib_decision_delay(decision), seconds);
            netlib_decision_free(decision);
        }
        netlib_retry_free(retry);
        netlib_response_free(response);
    }
    netlib_url_free(url);
}

/* The delays before the retries of each kind of service, and the number of retries: AWS's SDKs in the standard mode 2.1
 * make 3 attempts, and 4 for DynamoDB; the options of aws-c-io set the number. */
static void the_bases_and_attempts_of_aws_services_can_be_set(void) {
    static const struct {
        double base;
        int32_t retries;
        double delays[9];
    } rows[] = {
        {0.05, 2, {0.05, 0.1}},
        {0.025, 3, {0.025, 0.05, 0.1}},
        {0.5, 8, {0.5, 1, 2, 4, 8, 16, 20, 20}},
    };
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    netlib_response *response = response_of(500, "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = aws();
        netlib_retry_options_set_total(options, rows[i].retries);
        netlib_retry_options_set_backoff_factor(options, rows[i].base);
        netlib_retry *retry = retry_of(options);
        for (int n = 0; n <= rows[i].retries; n++) {
            netlib_decision *decision = NULL;
            bool ends = n == rows[i].retries;
            CHECK_INT(ends ? NETLIB_MAX_RETRY : NETLIB_OK,
                      netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
            CHECK(is_close(rows[i].delays[n], netlib_decision_delay(decision)));
            netlib_retry_free(retry);
            retry = netlib_retry_clone(netlib_decision_retry(decision));
            netlib_decision_free(decision);
            netlib_error_free(err), err = NULL;
        }
        netlib_retry_free(retry);
    }
    netlib_response_free(response);
    netlib_url_free(url);
}

/* Each step has the outcome of one request. The base of the last outcome and the number of failures in a row, of all
 * kinds, determine the delay. */
static void the_base_changes_with_each_outcome_and_failures_of_all_kinds_count(void) {
    static const struct {
        int status; /* 0 for an error */
        const char *fields;
        int http_status; /* of the error */
        bool throttled;
        double delay;
    } rows[] = {
        {500, "", 0, false, 0.05},
        {429, "", 0, true, 2},
        {503, "", 0, false, 0.2},
        /* A Retry-After of 0 does not replace the backoff. */
        {503, "Retry-After: 0\r\n", 0, true, 8},
        {0, "", NETLIB_NONE, false, 0.8},
        {0, "", 509, true, 20},
        {0, "", 503, false, 3.2},
        {302, "Location: /x\r\n", 0, false, 0},
        {429, "", 0, true, 1},
    };
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    netlib_retry *retry = retry_of(aws());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *response = NULL;
        netlib_error *error = NULL;
        if (rows[i].status) {
            response = response_of(rows[i].status, rows[i].fields);
        } else {
            netlib_error_options *options = netlib_error_options_new();
            if (rows[i].http_status != NETLIB_NONE) {
                netlib_error_options_set_http_status(options, rows[i].http_status);
            }
            CHECK_OK(netlib_error_new(NETLIB_READ_TIMEOUT, "no answer", options, &error, &err));
            netlib_error_options_free(options);
        }
        netlib_decision *decision = NULL;
        CHECK_OK(netlib_retry_decide(retry, "GET", url, response, error, NULL, &decision, &err));
        CHECK_INT(rows[i].throttled, netlib_decision_throttled(decision));
        CHECK_INT(rows[i].throttled, netlib_retry_is_throttled(netlib_decision_retry(decision)));
        CHECK(is_close(rows[i].delay, netlib_decision_delay(decision)));
        netlib_retry_free(retry);
        retry = netlib_retry_clone(netlib_decision_retry(decision));
        netlib_decision_free(decision);
        netlib_response_free(response);
        netlib_error_free(error);
    }
    netlib_retry_free(retry);
    netlib_url_free(url);
}

static void a_throttled_response_that_is_returned_is_throttled(void) {
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    netlib_response *busy = response_of(429, ""), *ok = response_of(200, "");
    netlib_decision *decision = NULL;
    CHECK_OK(netlib_retry_decide(netlib_retry_recommended(), "POST", url, busy, NULL, NULL, &decision, &err));
    CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(decision));
    CHECK_INT(1, netlib_decision_throttled(decision));
    CHECK_INT(0, netlib_retry_is_throttled(netlib_decision_retry(decision)));
    netlib_decision_free(decision);
    CHECK_OK(netlib_retry_decide(netlib_retry_recommended(), "GET", url, ok, NULL, NULL, &decision, &err));
    CHECK_INT(0, netlib_decision_throttled(decision));
    netlib_decision_free(decision);
    netlib_response_free(busy);
    netlib_response_free(ok);
    netlib_url_free(url);
}

/* The backoff of decorrelated jitter is factor + random * (3 * previous - factor), with a factor of 0.05 or 1. */
static void decorrelated_jitter_continues_from_the_previous_delay_of_another_class(void) {
    static const struct {
        int status;
        double delay;
    } rows[] = {{500, 0.15}, {429, 3}, {500, 9}, {429, 20}};
    netlib_error *err = NULL;
    netlib_retry_options *options = aws();
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_DECORRELATED);
    netlib_retry *retry = retry_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *response = response_of(rows[i].status, "");
        netlib_retry *next = NULL;
        double seconds = -1;
        CHECK_OK(netlib_retry_increment(retry, "GET", NULL, response, NULL, &next, &err));
        CHECK_OK(netlib_retry_get_backoff_time(next, &seconds, &err));
        CHECK(fabs(seconds - rows[i].delay) < 1e-14);
        netlib_retry_free(retry);
        retry = next;
        netlib_response_free(response);
    }
    netlib_retry_free(retry);
}

static void throttling_settings_can_be_read_back_and_are_not_set_by_default(void) {
    netlib_retry *retry = retry_of(aws());
    for (int i = 0; i < 2; i++) {
        CHECK_DOUBLE(1, netlib_retry_throttling_base(retry));
        CHECK_INT(1, (long long)netlib_retry_throttling_status_count(retry));
        CHECK_INT(509, netlib_retry_throttling_status_at(retry, 0));
        CHECK_INT(-1, netlib_retry_throttling_status_at(retry, 1));
        netlib_retry_options *options = netlib_retry_to_options(retry);
        netlib_retry_free(retry);
        retry = retry_of(options);
    }
    netlib_retry_free(retry);
    const netlib_retry *unset[] = {netlib_retry_resolve(NULL, NULL), netlib_retry_recommended(), NULL};
    for (size_t i = 0; i < 3; i++) {
        CHECK_DOUBLE(-1, netlib_retry_throttling_base(unset[i]));
        CHECK_INT(0, (long long)netlib_retry_throttling_status_count(unset[i]));
        CHECK_INT(0, netlib_retry_is_throttled(unset[i]));
    }
    CHECK_INT(0, netlib_decision_throttled(NULL));
    /* An entry of the history that the application added. */
    static const struct {
        int32_t status;
        bool throttled;
    } rows[] = {{429, true}, {509, true}, {503, false}, {500, false}, {NETLIB_NONE, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = aws();
        netlib_retry_options_add_history(options, "GET", "/", NULL, rows[i].status, NULL);
        retry = retry_of(options);
        CHECK_INT(rows[i].throttled, netlib_retry_is_throttled(retry));
        netlib_retry_free(retry);
    }
}

/* The rows of AWS and gRPC: the wait that the server asks for, after the first failure. */
static void pushback_headers_set_the_wait_or_end_the_retries(void) {
    enum { NONE = -1 };
#define AWS_NAME "x-amz-retry-after"
#define GRPC_NAME "grpc-retry-pushback-ms"
#define AWS AWS_NAME, NETLIB_PUSHBACK_MILLISECONDS
#define GRPC GRPC_NAME, NETLIB_PUSHBACK_GRPC
#define WAIT "X-Wait", NETLIB_PUSHBACK_MILLISECONDS
    static const struct {
        const char *header;
        enum netlib_pushback kind;
        double clamp; /* NONE: not set */
        const char *fields;
        enum netlib_delay_reason reason;
        double delay; /* NONE: the retries end */
    } rows[] = {
        /* The rows of AWS: the header is clamped to [backoff, backoff + 5 s]. */
        {AWS, 5, AWS_NAME ": 1500", NETLIB_DELAY_PUSHBACK, 1.5},
        {AWS, 5, AWS_NAME ": 10000", NETLIB_DELAY_PUSHBACK, 5.05},
        {AWS, 5, AWS_NAME ": 0", NETLIB_DELAY_BACKOFF, .05},
        {AWS, 5, AWS_NAME ": invalid", NETLIB_DELAY_BACKOFF, .05},
        /* Further values. */
        {WAIT, 5, "x-wait: 20", NETLIB_DELAY_BACKOFF, .05},
        {WAIT, 5, "x-wait: -1", NETLIB_DELAY_BACKOFF, .05},
        {WAIT, 0, "x-wait: 1500", NETLIB_DELAY_PUSHBACK, .05},
        {WAIT, NETLIB_TIMEOUT_NONE, "x-wait: 20", NETLIB_DELAY_BACKOFF, .05},
        {WAIT, NETLIB_TIMEOUT_NONE, "x-wait: 20000", NETLIB_DELAY_PUSHBACK, 20},
        {WAIT, NONE, "x-wait: 20", NETLIB_DELAY_PUSHBACK, .02},
        {WAIT, NONE, "x-wait: 0", NETLIB_DELAY_BACKOFF, .05},
        {WAIT, NONE, "x-wait: 1.5\r\nRetry-After: 3", NETLIB_DELAY_RETRY_AFTER, 3},
        {WAIT, NONE, "x-wait: 20\r\nRetry-After: 3", NETLIB_DELAY_PUSHBACK, .02},
        {WAIT, NONE, "x-wait: 60001", NETLIB_DELAY_PUSHBACK, 60},
        {WAIT, NONE, "X-Other: 20", NETLIB_DELAY_BACKOFF, .05},
        /* The clamp of Retry-After. */
        {NULL, NETLIB_PUSHBACK_MILLISECONDS, 5, "Retry-After: 3", NETLIB_DELAY_RETRY_AFTER, 3},
        {NULL, NETLIB_PUSHBACK_MILLISECONDS, 5, "Retry-After: 10", NETLIB_DELAY_RETRY_AFTER, 5.05},
        {NULL, NETLIB_PUSHBACK_MILLISECONDS, 5, "Retry-After: 0", NETLIB_DELAY_BACKOFF, .05},
        {NULL, NETLIB_PUSHBACK_MILLISECONDS, 5, "x-wait: 1500", NETLIB_DELAY_BACKOFF, .05},
        /* The rows of gRPC. */
        {GRPC, NONE, GRPC_NAME ": 1500", NETLIB_DELAY_PUSHBACK, 1.5},
        {GRPC, NONE, GRPC_NAME ": 0", NETLIB_DELAY_PUSHBACK, 0},
        {GRPC, 5, GRPC_NAME ": 0", NETLIB_DELAY_BACKOFF, .05},
        {GRPC, NONE, GRPC_NAME ": -1", NETLIB_DELAY_PUSHBACK, NONE},
        {GRPC, 5, GRPC_NAME ": never", NETLIB_DELAY_PUSHBACK, NONE},
        {GRPC, NONE, GRPC_NAME ":", NETLIB_DELAY_PUSHBACK, NONE},
        {GRPC, NONE, GRPC_NAME ": 2147483648", NETLIB_DELAY_PUSHBACK, NONE},
        {GRPC, NONE, GRPC_NAME ": 1\r\n" GRPC_NAME ": 1", NETLIB_DELAY_PUSHBACK, NONE},
        {GRPC, NONE, "Retry-After: 3", NETLIB_DELAY_RETRY_AFTER, 3},
    };
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[128];
        snprintf(fields, sizeof fields, "%s\r\n", rows[i].fields);
        netlib_response *response = response_of(503, fields);
        netlib_retry_options *options = aws();
        netlib_retry_options_set_throttling(options, .05, NULL, 0);
        netlib_retry_options_set_retry_after_max(options, 60);
        netlib_retry_options_set_pushback_header(options, rows[i].header, rows[i].kind);
        if (rows[i].clamp >= 0) netlib_retry_options_set_retry_after_clamp(options, rows[i].clamp);
        netlib_retry *retry = retry_of(options), *next = NULL;
        netlib_decision *decision = NULL;
        bool ends = rows[i].delay < 0;
        netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err);
        double seconds = -1, uncapped = -1;
        enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
        if (ends) {
            CHECK_INT(NETLIB_MAX_RETRY, status);
            CHECK_STR("the retries end for GET http://h/: the server answered 503 and asked not to retry, with the "
                      "header grpc-retry-pushback-ms",
                      netlib_error_message(err, NULL));
            CHECK_INT(NETLIB_RESPONSE_STATUS, netlib_error_status(netlib_error_cause(err, 0)));
            CHECK_INT(503, netlib_error_http_status(err));
            CHECK_INT(1, (long long)netlib_retry_history_count(netlib_error_retry(err)));
            netlib_error_free(err);
        } else {
            CHECK_OK(status);
            CHECK_INT(NETLIB_ACTION_RETRY, netlib_decision_action(decision));
            CHECK_INT(rows[i].reason, netlib_decision_delay_reason(decision));
            CHECK(is_close(rows[i].delay, netlib_decision_delay(decision)));
        }
        /* netlib_retry_delay computes the delay of the decision. */
        CHECK_OK(netlib_retry_increment(retry, "GET", NULL, response, NULL, &next, &err));
        status = netlib_retry_delay(next, response, &seconds, &reason, &uncapped, &err);
        CHECK_INT(ends ? NETLIB_MAX_RETRY : NETLIB_OK, status);
        if (ends) netlib_error_free(err);
        else CHECK_DOUBLE(netlib_decision_delay(decision), seconds);
        CHECK_INT(ends ? NETLIB_DELAY_NONE : netlib_decision_delay_reason(decision), reason);
        netlib_decision_free(decision);
        netlib_retry_free(next);
        netlib_retry_free(retry);
        netlib_response_free(response);
    }
    netlib_url_free(url);
}

static void a_pushback_without_raise_on_status_returns_the_response(void) {
    static const struct {
        const char *fields;
        double uncapped;
    } rows[] = {{"X-Wait: -1\r\n", INFINITY}, {"X-Wait: 60001\r\n", 60.001}};
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < 4; i++) {
        bool raises = i < 2;
        netlib_response *response = response_of(503, rows[i % 2].fields);
        netlib_retry_options *options = aws();
        netlib_retry_options_set_pushback_header(options, "x-wait", NETLIB_PUSHBACK_GRPC);
        netlib_retry_options_set_retry_after_max(options, 60);
        netlib_retry_options_set_long_retry_after(options, NETLIB_LONG_RETRY_AFTER_STOP);
        netlib_retry_options_set_raise_on_status(options, raises);
        netlib_retry *retry = retry_of(options);
        netlib_decision *decision = NULL;
        netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err);
        if (raises) {
            CHECK_INT(NETLIB_MAX_RETRY, status);
            if (i == 1) {
                CHECK_STR("the retries end for GET http://h/: the server answered 503 with a x-wait of 60.001 s, more "
                          "than retry_after_max (60 s)",
                          netlib_error_message(err, NULL));
            }
            netlib_error_free(err);
        } else {
            CHECK_OK(status);
            CHECK_INT(NETLIB_ACTION_RETURN_RESPONSE, netlib_decision_action(decision));
            CHECK_DOUBLE(0, netlib_decision_delay(decision));
            CHECK_INT(NETLIB_DELAY_PUSHBACK, netlib_decision_delay_reason(decision));
            CHECK_DOUBLE(rows[i % 2].uncapped, netlib_decision_delay_uncapped(decision));
        }
        netlib_decision_free(decision);
        netlib_retry_free(retry);
        netlib_response_free(response);
    }
    netlib_url_free(url);
}

/* Before a redirect, the backoff is 0. */
static void the_clamp_limits_the_retry_after_of_a_redirect_and_pushback_is_ignored(void) {
    static const struct {
        const char *fields;
        double delay;
    } rows[] = {
        {"Location: /x\r\nRetry-After: 10\r\n", 5},
        {"Location: /x\r\nRetry-After: 3\r\n", 3},
        {"Location: /x\r\nx-wait: 1000\r\n", 0},
        {"Location: /x\r\nx-wait: -1\r\n", 0},
    };
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *response = response_of(302, rows[i].fields);
        netlib_retry_options *options = aws();
        netlib_retry_options_set_retry_after_clamp(options, 5);
        netlib_retry_options_set_pushback_header(options, "x-wait", NETLIB_PUSHBACK_GRPC);
        netlib_retry *retry = retry_of(options);
        netlib_decision *decision = NULL;
        CHECK_OK(netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        CHECK_INT(NETLIB_ACTION_REDIRECT, netlib_decision_action(decision));
        CHECK_DOUBLE(rows[i].delay, netlib_decision_delay(decision));
        netlib_decision_free(decision);
        netlib_retry_free(retry);
        netlib_response_free(response);
    }
    netlib_url_free(url);
}

static void clamp_and_pushback_settings_can_be_read_back_and_invalid_ones_are_refused(void) {
    netlib_error *err = NULL;
    netlib_retry_options *options = aws();
    netlib_retry *retry = retry_of(netlib_retry_options_clone(options));
    for (int i = 0; i < 2; i++) {
        const netlib_retry *unset = i == 0 ? retry : NULL;
        CHECK_DOUBLE(-1, netlib_retry_retry_after_clamp(unset));
        CHECK(netlib_retry_pushback_header(unset, NULL) == NULL);
        CHECK_INT(NETLIB_PUSHBACK_MILLISECONDS, netlib_retry_pushback_kind(unset));
    }
    netlib_retry_free(retry);
    netlib_retry_options_set_retry_after_clamp(options, 5);
    netlib_retry_options_set_pushback_header(options, "X-Wait", NETLIB_PUSHBACK_GRPC);
    retry = retry_of(options);
    options = netlib_retry_to_options(retry);
    netlib_retry_free(retry);
    retry = retry_of(netlib_retry_options_clone(options));
    size_t len = 0;
    CHECK_DOUBLE(5, netlib_retry_retry_after_clamp(retry));
    CHECK_STR("X-Wait", netlib_retry_pushback_header(retry, &len));
    CHECK_INT(6, (long long)len);
    CHECK_INT(NETLIB_PUSHBACK_GRPC, netlib_retry_pushback_kind(retry));
    netlib_retry_free(retry);
    netlib_retry_options_set_pushback_header(options, NULL, NETLIB_PUSHBACK_GRPC);
    retry = retry_of(netlib_retry_options_clone(options));
    CHECK(netlib_retry_pushback_header(retry, NULL) == NULL);
    netlib_retry_free(retry);

    static const struct {
        double more; /* 0: valid */
        const char *name;
        int kind;
        const char *message;
    } rows[] = {
        {-1, "a", 0,
         "netlib_retry_options_set_retry_after_clamp: more: must be 0 or more, or NETLIB_TIMEOUT_NONE for "
         "no bound; it is -1"},
        {NAN, "a", 0,
         "netlib_retry_options_set_retry_after_clamp: more: must be 0 or more, or NETLIB_TIMEOUT_NONE for "
         "no bound; it is NaN"},
        {0, "a b", 0,
         "netlib_retry_options_set_pushback_header: a header name must be letters, digits and "
         "!#$%&'*+-.^_`|~ only; byte 1 is not"},
        {0, "", 0, "netlib_retry_options_set_pushback_header: a header name must not be empty"},
        {0, "a", 2, "netlib_retry_options_set_pushback_header: kind must be a netlib_pushback; it is 2"},
        {0, NULL, -1, "netlib_retry_options_set_pushback_header: kind must be a netlib_pushback; it is -1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *invalid = netlib_retry_options_clone(options);
        netlib_retry_options_set_retry_after_clamp(invalid, rows[i].more);
        netlib_retry_options_set_pushback_header(invalid, rows[i].name, (enum netlib_pushback)rows[i].kind);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_retry_new(invalid, &retry, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        netlib_error_free(err);
        netlib_retry_options_free(invalid);
    }
    netlib_retry_options_free(options);
}

static void invalid_throttling_settings_are_refused_with_the_parameter_in_the_message(void) {
    static const struct {
        double base;
        int32_t status;
        const char *message;
    } rows[] = {
        {-1, 509, "netlib_retry_options_set_throttling: base: must be 0 or more and finite; it is -1"},
        {NAN, 509, "netlib_retry_options_set_throttling: base: must be 0 or more and finite; it is NaN"},
        {INFINITY, 509, "netlib_retry_options_set_throttling: base: must be 0 or more and finite; it is inf"},
        {1, 99, "netlib_retry_options_set_throttling: statuses: status codes must be 100 to 999; one is 99"},
    };
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry_options *options = aws();
        netlib_retry_options_set_throttling(options, rows[i].base, &rows[i].status, 1);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_retry_new(options, &retry, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        netlib_error_free(err);
        /* A later valid value replaces the refused one. */
        netlib_retry_options_set_throttling(options, 0, NULL, 0);
        retry = retry_of(options);
        CHECK_DOUBLE(0, netlib_retry_throttling_base(retry));
        netlib_retry_free(retry);
    }
}

int main(void) {
    delays_of_aws_double_from_the_base_of_the_last_outcome_up_to_20_seconds();
    the_bases_and_attempts_of_aws_services_can_be_set();
    the_base_changes_with_each_outcome_and_failures_of_all_kinds_count();
    a_throttled_response_that_is_returned_is_throttled();
    decorrelated_jitter_continues_from_the_previous_delay_of_another_class();
    throttling_settings_can_be_read_back_and_are_not_set_by_default();
    pushback_headers_set_the_wait_or_end_the_retries();
    a_pushback_without_raise_on_status_returns_the_response();
    the_clamp_limits_the_retry_after_of_a_redirect_and_pushback_is_ignored();
    clamp_and_pushback_settings_can_be_read_back_and_invalid_ones_are_refused();
    invalid_throttling_settings_are_refused_with_the_parameter_in_the_message();
    return report("throttling");
}
