/* Tests the retry kinds of errors: after a response, before the request was sent, if a proxy failed, and of the errors
 * with which a decision ends the retries. */
#include "retry_makers.h"
#include "retry_outcomes.h"

static const netlib_status statuses[] = {
    NETLIB_CONNECT_FAILED, NETLIB_TLS_HANDSHAKE_EOF, NETLIB_CERTIFICATE_VERIFY, NETLIB_TLS_PROTOCOL,
    NETLIB_READ_TIMEOUT,   NETLIB_PROXY_FAILED,      NETLIB_MAX_RETRY,          NETLIB_INVALID_URL,
    NETLIB_CANCELLED,      NETLIB_CALLBACK_FAILED,
};

/* An error that is passed together with a response counts as a read error, because the request was sent. An error of
 * the retry kind NEVER keeps its kind. */
static void retryable_errors_passed_with_a_response_are_treated_as_read_errors(void) {
    netlib_response *response = response_of(200, "");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        for (int is_caused = 0; is_caused < 2; is_caused++) {
            netlib_error *cause = error_of(NETLIB_CONNECT_FAILED, NULL);
            netlib_error *error = error_of(statuses[i], is_caused ? cause : NULL);
            bool is_never = netlib_status_retry_kind(statuses[i]) == NEVER;
            check_outcomes(is_never ? NEVER : READ, error, response, netlib_status_name(statuses[i]));
            netlib_error_free(error);
            netlib_error_free(cause);
        }
    }
    netlib_response_free(response);
}

/* If a response arrived, an outer policy must know that the server has received the request. So an error that wraps the
 * error of netlib_retry_increment then has the retry kind READ. A NETLIB_MAX_RETRY itself is never retried. */
static void errors_of_retry_increment_after_a_response_record_that_the_request_was_sent(void) {
    static const struct {
        const char *method;
        int32_t total;
        int status; /* the status of the response; 0: no response */
        netlib_status error;
        netlib_status expected;
        enum netlib_retry_kind kind, around; /* of the error, and of a NETLIB_APPLICATION_ERROR that wraps it */
    } rows[] = {
        {"POST", 10, 200, NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL, READ, READ},
        {"POST", NETLIB_RETRY_DISABLED, 200, NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL, READ, READ},
        {"POST", NETLIB_RETRY_DISABLED, 0, NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL, OTHER, OTHER},
        {"POST", 10, 200, NETLIB_CANCELLED, NETLIB_CANCELLED, NEVER, READ},
        {"GET", 0, 200, NETLIB_TLS_PROTOCOL, NETLIB_MAX_RETRY, NEVER, READ},
        {"GET", 0, 200, NETLIB_CONNECT_FAILED, NETLIB_MAX_RETRY, NEVER, READ},
        {"GET", 0, 0, NETLIB_READ_TIMEOUT, NETLIB_MAX_RETRY, NEVER, READ},
        {"POST", 0, 0, NETLIB_CONNECT_FAILED, NETLIB_MAX_RETRY, NEVER, OTHER},
        {"POST", 0, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_MAX_RETRY, NEVER, OTHER},
        {"POST", 0, 500, 0, NETLIB_MAX_RETRY, NEVER, READ},
        {"POST", 0, 302, 0, NETLIB_MAX_RETRY, NEVER, READ},
        {"POST", NETLIB_RETRY_DISABLED, 500, 0, NETLIB_RESPONSE_STATUS, READ, OTHER},
        {"POST", NETLIB_RETRY_DISABLED, 302, 0, NETLIB_TOO_MANY_REDIRECTS, READ, OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL, *error = rows[i].error != 0 ? error_of(rows[i].error, NULL) : NULL;
        netlib_response *response = rows[i].status != 0 ? response_of(rows[i].status, "Location: /b\r\n") : NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, rows[i].total);
        netlib_retry *retry = retry_of(options), *next = NULL;
        CHECK_INT(rows[i].expected, netlib_retry_increment(retry, rows[i].method, "/", response, error, &next, &err));
        netlib_error *around = error_of(NETLIB_APPLICATION_ERROR, err);
        CHECK_INT(rows[i].kind, netlib_error_retry_kind(err));
        CHECK_INT(rows[i].around, netlib_error_retry_kind(around));
        netlib_error_free(around);
        netlib_error_free(err);
        netlib_error_free(error);
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
}

/* The first attempt may have sent the request. The last attempt could not connect. */
static void max_retry_errors_record_that_an_attempt_may_have_sent_the_request(void) {
    static const netlib_status first[] = {NETLIB_READ_TIMEOUT, NETLIB_CONNECT_FAILED, 0};
    for (size_t i = 0; i < 3; i++) {
        netlib_error *err = NULL, *refused = error_of(NETLIB_CONNECT_FAILED, NULL);
        netlib_error *error = first[i] != 0 ? error_of(first[i], NULL) : NULL;
        netlib_response *response = first[i] == 0 ? response_of(500, "") : NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, 1);
        netlib_retry *retry = retry_of(options), *second = NULL, *third = NULL;
        CHECK_OK(netlib_retry_increment(retry, "GET", "/", response, error, &second, &err));
        CHECK_INT(NETLIB_MAX_RETRY, netlib_retry_increment(second, "GET", "/", NULL, refused, &third, &err));
        netlib_error *around = error_of(NETLIB_APPLICATION_ERROR, err);
        check_outcomes(NEVER, err, NULL, "after several attempts");
        check_outcomes(first[i] == NETLIB_CONNECT_FAILED ? OTHER : READ, around, NULL, "around the NETLIB_MAX_RETRY");
        netlib_error_free(around);
        netlib_error_free(err);
        netlib_error_free(error);
        netlib_error_free(refused);
        netlib_response_free(response);
        netlib_retry_free(retry);
        netlib_retry_free(second);
    }
}

static int32_t no_random(void *ctx, double *value) {
    (void)ctx, (void)value;
    return 1;
}

/* Sets one count to 1. */
static void set_status(netlib_retry_options *options) { netlib_retry_options_set_status(options, 1); }
static void set_redirect(netlib_retry_options *options) { netlib_retry_options_set_redirect(options, 1); }
static void set_read(netlib_retry_options *options) { netlib_retry_options_set_read(options, 1); }
static void set_nothing(netlib_retry_options *options) { (void)options; }

static void set_empty_budget(netlib_retry_options *options) {
    netlib_error *err = NULL;
    uint64_t lease = 0;
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *empty = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_tokens(empty, 2, 2, 2, 1);
    CHECK_OK(netlib_retry_budget_new(empty, &budget, &err));
    CHECK_OK(netlib_retry_budget_ask(budget, "https://h:443", NETLIB_NTS, NETLIB_BUDGET_TRANSIENT, &lease, &err));
    netlib_retry_options_set_budget(options, budget, NULL);
    netlib_retry_budget_options_free(empty);
    netlib_retry_budget_free(budget);
}

static void set_safe(netlib_retry_options *options) {
    netlib_retry_options_set_redirect_profile(options, NETLIB_REDIRECT_SAFE);
}

static void set_stop(netlib_retry_options *options) {
    netlib_retry_options_set_retry_after_max(options, 10);
    netlib_retry_options_set_long_retry_after(options, NETLIB_LONG_RETRY_AFTER_STOP);
}

static void set_bad_random(netlib_retry_options *options) {
    netlib_retry_options_set_backoff_factor(options, 1);
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_FULL);
    netlib_retry_options_set_random(options, no_random, NULL, NULL);
}

/* The loop passes the error of a decision to the next decision, as if the error were the failure of the request. Each
 * attempt has the same result: a response with `status` and `fields`, or the failure `failure`. */
static void an_error_with_which_a_decision_ended_the_retries_is_never_retried(void) {
    static const struct {
        void (*set)(netlib_retry_options *options);
        int status;
        const char *fields;
        netlib_status failure;
        int requests;
        netlib_status end;
    } rows[] = {
        {set_status, 503, "", 0, 2, NETLIB_MAX_RETRY},
        {set_redirect, 302, "Location: /x\r\n", 0, 2, NETLIB_MAX_RETRY},
        {set_read, 0, "", NETLIB_READ_TIMEOUT, 2, NETLIB_MAX_RETRY},
        {set_nothing, 503, "", 0, 6, NETLIB_MAX_RETRY},
        {set_empty_budget, 503, "", 0, 1, NETLIB_MAX_RETRY},
        {set_stop, 503, "Retry-After: 11\r\n", 0, 1, NETLIB_MAX_RETRY},
        {set_safe, 302, "Location: http://h/\r\n", 0, 1, NETLIB_UNSAFE_REDIRECT},
        {set_nothing, 302, "Location: http://[\r\n", 0, 1, NETLIB_INVALID_URL},
        {set_nothing, 503, "Retry-After: soon\r\n", 0, 1, NETLIB_INVALID_HEADER},
        {set_bad_random, 503, "", 0, 1, NETLIB_CALLBACK_FAILED},
    };
    netlib_url *url = url_of("https://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static const int32_t forced[] = {503};
        unsigned long before = checks_failed;
        netlib_error *err = NULL, *again = NULL, *failure = rows[i].failure ? error_of(rows[i].failure, NULL) : NULL;
        netlib_response *response = rows[i].status ? response_of(rows[i].status, rows[i].fields) : NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, 5);
        netlib_retry_options_set_status_forcelist(options, forced, 1);
        rows[i].set(options);
        netlib_retry *retry = retry_of(options), *next = NULL;
        netlib_decision *decision = NULL;
        int requests = 0;
        netlib_status status = NETLIB_OK;
        while (status == NETLIB_OK && requests < 20) {
            requests++;
            netlib_error_free(err);
            status = netlib_retry_decide(retry, "GET", url, response, failure, NULL, &decision, &err);
            if (status != NETLIB_OK) {
                status = netlib_retry_decide(retry, "GET", url, NULL, err, NULL, &decision, &again);
                if (status != NETLIB_OK) break;
            }
            netlib_retry_free(retry);
            retry = netlib_retry_clone(netlib_decision_retry(decision));
            netlib_decision_free(decision);
        }
        CHECK_INT(rows[i].requests, requests);
        CHECK_INT(rows[i].end, status);
        CHECK_INT(NEVER, netlib_error_retry_kind(err));
        CHECK_STR(netlib_error_report(err, NULL), netlib_error_report(again, NULL));
        CHECK(netlib_error_retry(again) == netlib_error_retry(err));
        netlib_error_free(again);
        CHECK_INT(rows[i].end, netlib_retry_increment(retry, "GET", "/", NULL, err, &next, &again));
        CHECK_STR(netlib_error_report(err, NULL), netlib_error_report(again, NULL));
        netlib_error_free(again);
        check_outcomes(NEVER, err, NULL, "the error of a decision");
        netlib_error *around = error_of(NETLIB_APPLICATION_ERROR, err);
        CHECK_INT(READ, netlib_error_retry_kind(around));
        if (checks_failed != before) fprintf(stderr, "    row %zu\n", i);
        netlib_error_free(around);
        netlib_error_free(err);
        netlib_error_free(failure);
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
    netlib_url_free(url);
}

/* Tests errors of a proxy, and of a proxy that was reached through another proxy. The policy repeats no POST that the
 * server may have received, and no cancelled request. */
static void proxy_failures_have_the_retry_kind_of_their_cause(void) {
    static const struct {
        netlib_status cause; /* OK: no cause */
        enum netlib_retry_kind kind;
    } rows[] = {
        {NETLIB_OK, OTHER},
        {NETLIB_CONNECT_FAILED, CONNECT},
        {NETLIB_CONNECT_TIMEOUT, CONNECT},
        {NETLIB_CERTIFICATE_VERIFY, OTHER},
        {NETLIB_INVALID_URL, OTHER},
        {NETLIB_READ_TIMEOUT, READ},
        {NETLIB_IO, READ},
        {NETLIB_PROTOCOL, READ},
        {NETLIB_INCOMPLETE_READ, READ},
        {NETLIB_RESPONSE_STATUS, READ},
        {NETLIB_CANCELLED, NEVER},
        {NETLIB_DEADLINE_EXCEEDED, NEVER},
        {NETLIB_ADDRESS_REFUSED, NEVER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *name = rows[i].cause == NETLIB_OK ? "no cause" : netlib_status_name(rows[i].cause);
        netlib_error *cause = rows[i].cause == NETLIB_OK ? NULL : error_of(rows[i].cause, NULL);
        netlib_error *inner = error_of(NETLIB_PROXY_FAILED, cause), *outer = error_of(NETLIB_PROXY_FAILED, inner);
        check_outcomes(rows[i].kind, inner, NULL, name);
        check_outcomes(rows[i].kind, outer, NULL, name);
        netlib_error_free(outer);
        netlib_error_free(inner);
        netlib_error_free(cause);
    }
}

/* Each function whose name begins with `of_` returns an error that netlib reports about a request or a response. */
static netlib_error *of_head(const char *head) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t used = 0;
    CHECK(netlib_response_parse("POST", head, NETLIB_NTS, NULL, &response, &used, &err) != NETLIB_OK);
    return err;
}

static netlib_error *of_framing(const char *fields) {
    netlib_error *err = NULL;
    netlib_response *response = response_of(200, fields);
    enum netlib_body_framing framing = NETLIB_BODY_FRAMING_NONE;
    int64_t length = 0;
    CHECK(netlib_response_framing(response, &framing, &length, &err) != NETLIB_OK);
    netlib_response_free(response);
    return err;
}

static netlib_error *of_block(const char *block) {
    netlib_error *err = NULL;
    CHECK(netlib_assert_header_parsing(block, NETLIB_NTS, &err) != NETLIB_OK);
    return err;
}

static netlib_error *of_retry_after(const char *value) {
    netlib_error *err = NULL;
    double seconds = 0;
    netlib_retry *retry = retry_number(DEFAULT_RETRY);
    CHECK(netlib_retry_parse_retry_after(retry, value, &seconds, &err) != NETLIB_OK);
    netlib_retry_free(retry);
    return err;
}

static netlib_error *of_decision(int status, const char *fields) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_decision *decision = NULL;
    netlib_retry *retry = retry_number(NEW_RETRY);
    netlib_response *response = response_of(status, fields);
    CHECK_OK(netlib_parse_url("https://h/", NETLIB_NTS, &url, &err));
    CHECK(netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err) != NETLIB_OK);
    netlib_response_free(response);
    netlib_retry_free(retry);
    netlib_url_free(url);
    return err;
}

static netlib_error *of_wait(const char *value) { return of_decision(503, value); }
static netlib_error *of_location(const char *value) { return of_decision(302, value); }

static netlib_error *of_request_header(const char *value) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    netlib_headers_options_add_header(options, "X-Order", value);
    CHECK(netlib_make_headers(options, &headers, &err) != NETLIB_OK);
    netlib_headers_options_free(options);
    return err;
}

static netlib_error *of_own_url(const char *text) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK(netlib_parse_url(text, NETLIB_NTS, &url, &err) != NETLIB_OK);
    return err;
}

/* The error of a decision ends the retries. The errors of other functions about invalid responses are read errors. */
static void errors_about_invalid_responses_are_read_errors_or_end_the_retries(void) {
    static const struct {
        const char *what;
        netlib_error *(*make)(const char *);
        const char *text;
        netlib_status status;
        enum netlib_retry_kind kind;
    } rows[] = {
        {"bytes that are not HTTP", of_head, "SSH-2.0", NETLIB_PROTOCOL, READ},
        {"a head cut by a NUL", of_head, "HTTP/1.1 200 OK\r\nA: b\x01\r\n: x\r\n\r\n", NETLIB_PROTOCOL, READ},
        {"two content lengths", of_framing, "Content-Length: 1\r\nContent-Length: 2\r\n", NETLIB_PROTOCOL, READ},
        {"a header defect", of_block, "no colon\r\n", NETLIB_HEADER_PARSING, READ},
        {"a malformed Retry-After", of_retry_after, "soon", NETLIB_INVALID_HEADER, READ},
        {"a malformed Retry-After of a response", of_wait, "Retry-After: soon\r\n", NETLIB_INVALID_HEADER, NEVER},
        {"an invalid Location", of_location, "Location: http://[\r\n", NETLIB_INVALID_URL, NEVER},
        {"a Location without a host", of_location, "Location: http://:80/\r\n", NETLIB_INVALID_URL, NEVER},
        /* The last two errors concern the request itself, which was not sent. */
        {"a request's header", of_request_header, "a\nb", NETLIB_INVALID_HEADER, NEVER},
        {"the request's URL", of_own_url, "http://[", NETLIB_INVALID_URL, OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *error = rows[i].make(rows[i].text);
        CHECK_INT(rows[i].status, netlib_error_status(error));
        check_outcomes(rows[i].kind, error, NULL, rows[i].what);
        netlib_error_free(error);
    }
}

int main(void) {
    retryable_errors_passed_with_a_response_are_treated_as_read_errors();
    errors_of_retry_increment_after_a_response_record_that_the_request_was_sent();
    max_retry_errors_record_that_an_attempt_may_have_sent_the_request();
    an_error_with_which_a_decision_ended_the_retries_is_never_retried();
    proxy_failures_have_the_retry_kind_of_their_cause();
    errors_about_invalid_responses_are_read_errors_or_end_the_retries();
    return report("retry_kind");
}
