/* Tests netlib_attempts: the loop over the attempts of a request. */
#include "retry_makers.h"

/* What an attempt ends with: a response, or an error, or both. */
struct outcome {
    int status; /* 0: no response */
    const char *fields;
    netlib_status error; /* NETLIB_OK: no error */
};

/* What is then the present attempt, or the status with which the request has ended. */
struct expected {
    netlib_status status;
    const char *method, *url, *headers;
    bool sends_body;
    double slept;
};

static void record_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    *(double *)ctx += seconds;
    *outcome = NETLIB_OUTCOME_DONE;
}

static void fail_to_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    (void)ctx, (void)seconds, (void)outcome;
}

/* Returns the recommended policy with backoffs of 2 and 4 seconds, which `slept` counts, and with any method. */
static netlib_retry_options *usual(double *slept) {
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_NONE);
    netlib_retry_options_set_backoff_factor(options, 1);
    netlib_retry_options_allow_any_method(options);
    netlib_retry_options_set_sleep(options, record_sleep, slept, NULL);
    return options;
}

/* Returns the attempts of a request to http://a/x, whose body has the type "text/plain". */
static netlib_attempts *attempts_of(netlib_retry_options *options, const char *method, const netlib_limit *limit) {
    static const netlib_header_field fields[] = {{"Authorization", "secret"}, {"Content-Type", "text/plain"}};
    netlib_error *err = NULL;
    netlib_attempts *attempts = NULL;
    netlib_headers *headers = NULL;
    netlib_url *url = url_of("http://a/x");
    netlib_retry *retry = retry_of(options);
    CHECK_OK(netlib_headers_new(fields, 2, &headers, &err));
    CHECK_OK(netlib_attempts_new(retry, method, url, headers, 1, limit, &attempts, &err));
    /* The attempts keep references to all handles. */
    netlib_headers_free(headers);
    netlib_url_free(url);
    netlib_retry_free(retry);
    return attempts;
}

/* Passes an outcome to netlib_attempts_next or netlib_attempts_decide. */
static netlib_status take(netlib_attempts *attempts, struct outcome outcome, bool waits, netlib_error **err) {
    netlib_response *response = outcome.status == 0 ? NULL : response_of(outcome.status, outcome.fields);
    netlib_error *error = outcome.error == NETLIB_OK ? NULL : error_of(outcome.error, NULL);
    netlib_status status = waits ? netlib_attempts_next(attempts, response, error, err)
                                 : netlib_attempts_decide(attempts, response, error, err);
    netlib_response_free(response);
    netlib_error_free(error);
    return status;
}

static void check_present(const netlib_attempts *attempts, struct expected expected) {
    size_t len = 0;
    CHECK_STR(expected.method, netlib_attempts_method(attempts, &len));
    CHECK_INT((long long)strlen(expected.method), (long long)len);
    CHECK_STR(expected.url, netlib_url_to_string(netlib_attempts_url(attempts), NULL));
    char names[100] = "";
    const netlib_headers *headers = netlib_attempts_headers(attempts);
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        strcat(strcat(names, netlib_headers_name(headers, i, NULL)), " ");
    }
    CHECK_STR(expected.headers, names);
    CHECK_INT(expected.sends_body, netlib_attempts_sends_body(attempts));
}

static void each_outcome_leads_to_the_next_attempt_or_to_the_end(void) {
#define ALL "Authorization Content-Type "
    static const struct {
        const char *method;
        struct {
            struct outcome outcome;
            struct expected expected;
        } steps[5];
    } rows[] = {
        {"GET", {{{200, "", 0}, {NETLIB_OK, "GET", "http://a/x", ALL, true, 0}}}},
        {"GET", {{{404, "", 0}, {NETLIB_OK, "GET", "http://a/x", ALL, true, 0}}}},
        {"POST",
         {{{503, "", 0}, {NETLIB_SEND_AGAIN, "POST", "http://a/x", ALL, true, 0}},
          {{0, "", NETLIB_CONNECT_FAILED}, {NETLIB_SEND_AGAIN, "POST", "http://a/x", ALL, true, 2}},
          {{503, "Retry-After: 7\r\n", 0}, {NETLIB_SEND_AGAIN, "POST", "http://a/x", ALL, true, 7}},
          {{503, "", 0}, {NETLIB_MAX_RETRY, "POST", "http://a/x", ALL, true, 0}}}},
        /* The body stays dropped, and the credentials too. */
        {"POST",
         {{{303, "Location: /y\r\n", 0}, {NETLIB_SEND_AGAIN, "GET", "http://a/y", "Authorization ", false, 0}},
          {{503, "", 0}, {NETLIB_SEND_AGAIN, "GET", "http://a/y", "Authorization ", false, 0}},
          {{200, "", 0}, {NETLIB_OK, "GET", "http://a/y", "Authorization ", false, 0}}}},
        {"POST",
         {{{307, "Location: http://b/\r\n", 0}, {NETLIB_SEND_AGAIN, "POST", "http://b/", "Content-Type ", true, 0}},
          {{308, "Location: http://a/z\r\n", 0}, {NETLIB_SEND_AGAIN, "POST", "http://a/z", "Content-Type ", true, 0}},
          {{301, "Location: /\r\n", 0}, {NETLIB_SEND_AGAIN, "GET", "http://a/", "", false, 0}}}},
        {"GET", {{{0, "", NETLIB_CERTIFICATE_VERIFY}, {NETLIB_CERTIFICATE_VERIFY, "GET", "http://a/x", ALL, true, 0}}}},
        {"GET", {{{302, "Location: ftp://a/\r\n", 0}, {NETLIB_UNSAFE_REDIRECT, "GET", "http://a/x", ALL, true, 0}}}},
        /* The body of a response that was accepted cannot be read. */
        {"GET",
         {{{200, "", 0}, {NETLIB_OK, "GET", "http://a/x", ALL, true, 0}},
          {{200, "", NETLIB_INCOMPLETE_READ}, {NETLIB_SEND_AGAIN, "GET", "http://a/x", ALL, true, 0}},
          {{200, "", 0}, {NETLIB_OK, "GET", "http://a/x", ALL, true, 0}},
          {{200, "", NETLIB_CANCELLED}, {NETLIB_CANCELLED, "GET", "http://a/x", ALL, true, 0}}}},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        size_t row = i / 2;
        bool waits = i % 2 == 0;
        unsigned long failed_before = checks_failed;
        double slept = 0;
        netlib_attempts *attempts = attempts_of(usual(&slept), rows[row].method, NULL);
        CHECK(netlib_attempts_decision(attempts) == NULL);
        check_present(attempts, (struct expected){NETLIB_OK, rows[row].method, "http://a/x", ALL, true, 0});
        for (size_t j = 0; j < 5 && rows[row].steps[j].expected.method != NULL; j++) {
            struct expected expected = rows[row].steps[j].expected;
            netlib_error *err = NULL;
            slept = 0;
            CHECK_STATUS(expected.status, take(attempts, rows[row].steps[j].outcome, waits, &err));
            check_present(attempts, expected);
            const netlib_decision *decision = netlib_attempts_decision(attempts);
            CHECK_DOUBLE(waits ? expected.slept : 0, slept);
            CHECK_DOUBLE(expected.slept, netlib_decision_delay(decision));
            CHECK((decision != NULL) == (expected.status == NETLIB_OK || expected.status == NETLIB_SEND_AGAIN));
        }
        if (checks_failed != failed_before) fprintf(stderr, "    row %zu, %s\n", row, waits ? "next" : "decide");
        netlib_attempts_free(attempts);
    }
}

static void after_the_end_nothing_is_counted(void) {
    static const struct {
        struct outcome outcomes[2];
        bool sleep_fails;
        netlib_status first, last;
    } rows[] = {
        {{{200, "", 0}, {503, "", 0}}, false, NETLIB_OK, NETLIB_CLOSED},
        {{{200, "", 0}, {0, "", NETLIB_READ_TIMEOUT}}, false, NETLIB_OK, NETLIB_READ_TIMEOUT},
        {{{0, "", NETLIB_CANCELLED}, {503, "", 0}}, false, NETLIB_CANCELLED, NETLIB_CLOSED},
        {{{0, "", NETLIB_CANCELLED}, {0, "", NETLIB_CONNECT_FAILED}}, false, NETLIB_CANCELLED, NETLIB_CONNECT_FAILED},
        {{{503, "Retry-After: 1\r\n", 0}, {503, "", 0}}, true, NETLIB_CALLBACK_FAILED, NETLIB_CLOSED},
        {{{503, "Retry-After: 1\r\n", 0}, {0, "", NETLIB_READ_TIMEOUT}},
         true,
         NETLIB_CALLBACK_FAILED,
         NETLIB_READ_TIMEOUT},
        /* Without an outcome, the request does not end. */
        {{{0}, {200, "", 0}}, false, NETLIB_INVALID_ARGUMENT, NETLIB_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned long failed_before = checks_failed;
        double slept = 0;
        netlib_error *err = NULL;
        netlib_retry_options *options = usual(&slept);
        if (rows[i].sleep_fails) netlib_retry_options_set_sleep(options, fail_to_sleep, NULL, NULL);
        netlib_attempts *attempts = attempts_of(options, "GET", NULL);
        CHECK_STATUS(rows[i].first, take(attempts, rows[i].outcomes[0], true, &err));
        CHECK_STATUS(rows[i].last, take(attempts, rows[i].outcomes[1], true, &err));
        if (rows[i].last == NETLIB_CLOSED)
            CHECK_STATUS(NETLIB_CLOSED, take(attempts, (struct outcome){0}, false, &err));
        if (checks_failed != failed_before) fprintf(stderr, "    row %zu\n", i);
        netlib_attempts_free(attempts);
    }
}

static void the_limit_ends_the_wait(void) {
    double slept = 0;
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(100, NULL, &limit, &err));
    netlib_attempts *attempts = attempts_of(usual(&slept), "GET", limit);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED,
                 take(attempts, (struct outcome){503, "Retry-After: 110\r\n", 0}, true, &err));
    netlib_attempts_free(attempts);
    attempts = attempts_of(usual(&slept), "GET", limit);
    CHECK_STATUS(NETLIB_SEND_AGAIN, take(attempts, (struct outcome){503, "", 0}, true, &err));
    CHECK(netlib_attempts_limit(attempts) == limit);
    netlib_limit_cancel(limit);
    netlib_limit_free(limit);
    CHECK_STATUS(NETLIB_CANCELLED, take(attempts, (struct outcome){503, "", 0}, true, &err));
    netlib_attempts_free(attempts);
}

/* A request whose body could not be read counts as one first attempt, which earns half a retry. */
static void an_error_of_the_body_is_not_reported_to_the_budget_again(void) {
    double slept = 0;
    netlib_error *err = NULL;
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *settings = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_window(settings, 0.5, 0, 10);
    CHECK_OK(netlib_retry_budget_new(settings, &budget, &err));
    netlib_retry_options *options = usual(&slept);
    netlib_retry_options_set_budget(options, budget, NULL);
    netlib_attempts *attempts = attempts_of(options, "GET", NULL);
    CHECK_STATUS(NETLIB_OK, take(attempts, (struct outcome){200, "", 0}, true, &err));
    CHECK_STATUS(NETLIB_MAX_RETRY, take(attempts, (struct outcome){200, "", NETLIB_INCOMPLETE_READ}, true, &err));
    netlib_attempts_free(attempts);
    netlib_retry_budget_free(budget);
    netlib_retry_budget_options_free(settings);
}

static int calls_of_use_attempts;

/* A sleep callback that uses the attempts for which it waits, and frees them. */
static void use_attempts(void *ctx, double seconds, enum netlib_outcome *outcome) {
    netlib_attempts *attempts = *(netlib_attempts **)ctx;
    netlib_error *err = NULL;
    (void)seconds;
    calls_of_use_attempts++;
    CHECK_STATUS(NETLIB_BUSY, take(attempts, (struct outcome){200, "", 0}, true, &err));
    CHECK(netlib_attempts_url(attempts) == NULL);
    netlib_attempts_free(attempts);
    *outcome = NETLIB_OUTCOME_DONE;
}

static void attempts_are_busy_while_they_wait(void) {
    netlib_error *err = NULL;
    netlib_attempts *attempts = NULL;
    double slept = 0;
    netlib_retry_options *options = usual(&slept);
    netlib_retry_options_set_sleep(options, use_attempts, &attempts, NULL);
    attempts = attempts_of(options, "GET", NULL);
    CHECK_STATUS(NETLIB_SEND_AGAIN, take(attempts, (struct outcome){503, "Retry-After: 1\r\n", 0}, true, &err));
    CHECK_INT(1, calls_of_use_attempts);
}

static void attempts_make_the_heads_of_their_requests(void) {
    static const struct {
        enum netlib_request_form form;
        netlib_status status;
        const char *head;
    } rows[] = {
        {NETLIB_REQUEST_FORM_ORIGIN, NETLIB_OK, "GET /y HTTP/1.1\r\nHost: b\r\n\r\n"},
        {NETLIB_REQUEST_FORM_ABSOLUTE, NETLIB_OK, "GET http://b/y HTTP/1.1\r\nHost: b\r\n\r\n"},
        {NETLIB_REQUEST_FORM_ASTERISK, NETLIB_INVALID_ARGUMENT, NULL},
        {9, NETLIB_INVALID_ARGUMENT, NULL},
    };
    double slept = 0;
    netlib_error *err = NULL;
    netlib_attempts *attempts = attempts_of(usual(&slept), "POST", NULL);
    CHECK_STATUS(NETLIB_SEND_AGAIN, take(attempts, (struct outcome){303, "Location: http://b/y#f\r\n", 0}, true, &err));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_request *request = NULL;
        CHECK_STATUS(rows[i].status, netlib_attempts_request(attempts, rows[i].form, &request, &err));
        CHECK_STR(rows[i].head, netlib_request_to_wire(request, NULL));
        netlib_request_free(request);
    }
    netlib_attempts_free(attempts);
}

/* The recommended policy: 3 retries and 10 redirects. urllib3's policy, whose total counts redirects: 2 in all. */
static void after_progress_failures_count_from_the_start_but_redirects_stay(void) {
    enum { RESTART = -1 };
    static const struct {
        bool recommended;
        struct {
            int status; /* 503, a redirect, or RESTART */
            netlib_status expected;
            double slept;
        } steps[7];
    } rows[] = {
        {true,
         {{503, NETLIB_SEND_AGAIN, 0},
          {503, NETLIB_SEND_AGAIN, 2},
          {RESTART, NETLIB_OK, 0},
          {503, NETLIB_SEND_AGAIN, 0},
          {503, NETLIB_SEND_AGAIN, 2},
          {503, NETLIB_SEND_AGAIN, 4},
          {503, NETLIB_MAX_RETRY, 0}}},
        {false,
         {{302, NETLIB_SEND_AGAIN, 0},
          {503, NETLIB_SEND_AGAIN, 0},
          {RESTART, NETLIB_OK, 0},
          {503, NETLIB_SEND_AGAIN, 0},
          {503, NETLIB_MAX_RETRY, 0}}},
        {false,
         {{302, NETLIB_SEND_AGAIN, 0},
          {RESTART, NETLIB_OK, 0},
          {302, NETLIB_SEND_AGAIN, 0},
          {RESTART, NETLIB_OK, 0},
          {302, NETLIB_MAX_RETRY, 0}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double slept = 0;
        netlib_retry_options *options = usual(&slept);
        if (!rows[i].recommended) {
            netlib_retry_options_set_total(options, 2);
            netlib_retry_options_set_total_counts_redirects(options, 1);
        }
        netlib_attempts *attempts = attempts_of(options, "GET", NULL);
        for (size_t j = 0; j < 7 && rows[i].steps[j].status != 0; j++) {
            netlib_error *err = NULL;
            if (rows[i].steps[j].status == RESTART) {
                netlib_attempts_reset_failures(attempts);
                continue;
            }
            struct outcome outcome = {rows[i].steps[j].status, "Location: http://a/y\r\n", 0};
            unsigned long failed_before = checks_failed;
            slept = 0;
            CHECK_STATUS(rows[i].steps[j].expected, take(attempts, outcome, true, &err));
            CHECK_DOUBLE(rows[i].steps[j].slept, slept);
            if (checks_failed != failed_before) fprintf(stderr, "    row %zu, step %zu\n", i, j);
        }
        netlib_attempts_free(attempts);
    }
    netlib_attempts_reset_failures(NULL);
}

static void a_header_is_set_for_all_attempts_that_follow(void) {
    netlib_error *err = NULL;
    double slept = 0;
    netlib_attempts *attempts = attempts_of(usual(&slept), "GET", NULL);
    CHECK_OK(netlib_attempts_set_header(attempts, "Range", "bytes=5-", &err));
    CHECK_OK(netlib_attempts_set_header(attempts, "content-type", NULL, &err));
    CHECK_STR("Authorization: secret\r\nRange: bytes=5-\r\n",
              netlib_headers_to_wire(netlib_attempts_headers(attempts), NULL));
    CHECK_STATUS(NETLIB_SEND_AGAIN, take(attempts, (struct outcome){302, "Location: http://b/\r\n", 0}, true, &err));
    CHECK_STR("Range: bytes=5-\r\n", netlib_headers_to_wire(netlib_attempts_headers(attempts), NULL));
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_attempts_set_header(attempts, "Range", "a\nb", &err));
    CHECK_STR("Range: bytes=5-\r\n", netlib_headers_to_wire(netlib_attempts_headers(attempts), NULL));
    netlib_attempts_free(attempts);
}

static void invalid_arguments_make_no_attempts(void) {
    static const struct {
        const char *method;
        int32_t has_body;
    } rows[] = {{"", 0}, {"A B", 0}, {"GET", 2}, {"GET", -1}};
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://a/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_attempts *attempts = NULL;
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_attempts_new(netlib_retry_recommended(), rows[i].method, url, NULL,
                                                                  rows[i].has_body, NULL, &attempts, &err));
        CHECK(attempts == NULL);
    }
    netlib_url_free(url);
}

int main(void) {
    each_outcome_leads_to_the_next_attempt_or_to_the_end();
    after_the_end_nothing_is_counted();
    the_limit_ends_the_wait();
    an_error_of_the_body_is_not_reported_to_the_budget_again();
    attempts_are_busy_while_they_wait();
    attempts_make_the_heads_of_their_requests();
    after_progress_failures_count_from_the_start_but_redirects_stay();
    a_header_is_set_for_all_attempts_that_follow();
    invalid_arguments_make_no_attempts();
    return report("attempts");
}
