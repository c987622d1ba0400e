/* Tests the retry kinds of errors: after a response, before the request was sent, and if a proxy failed. */
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

/* If a response arrived, an outer policy must know that the server has received the request. So the error that
 * netlib_retry_increment returns then has the retry kind READ, or NEVER if the cause has the retry kind NEVER. */
static void errors_of_retry_increment_after_a_response_are_of_kind_read_or_never(void) {
    static const struct {
        const char *method;
        int32_t total;
        int status; /* the status of the response; 0: no response */
        netlib_status error;
        netlib_status expected;
        enum netlib_retry_kind kind;
    } rows[] = {
        {"POST", 10, 200, NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL, READ},
        {"POST", NETLIB_RETRY_DISABLED, 200, NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL, READ},
        {"POST", NETLIB_RETRY_DISABLED, 0, NETLIB_TLS_PROTOCOL, NETLIB_TLS_PROTOCOL, OTHER},
        {"POST", 10, 200, NETLIB_CANCELLED, NETLIB_CANCELLED, NEVER},
        {"GET", 0, 200, NETLIB_TLS_PROTOCOL, NETLIB_MAX_RETRY, READ},
        {"GET", 0, 200, NETLIB_CONNECT_FAILED, NETLIB_MAX_RETRY, READ},
        {"GET", 0, 0, NETLIB_READ_TIMEOUT, NETLIB_MAX_RETRY, READ},
        {"POST", 0, 0, NETLIB_CONNECT_FAILED, NETLIB_MAX_RETRY, OTHER},
        {"POST", 0, 0, NETLIB_CERTIFICATE_VERIFY, NETLIB_MAX_RETRY, OTHER},
        {"POST", 0, 500, 0, NETLIB_MAX_RETRY, READ},
        {"POST", 0, 302, 0, NETLIB_MAX_RETRY, READ},
        {"POST", NETLIB_RETRY_DISABLED, 500, 0, NETLIB_RESPONSE_STATUS, READ},
        {"POST", NETLIB_RETRY_DISABLED, 302, 0, NETLIB_TOO_MANY_REDIRECTS, READ},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL, *error = rows[i].error != 0 ? error_of(rows[i].error, NULL) : NULL;
        netlib_response *response = rows[i].status != 0 ? response_of(rows[i].status, "Location: /b\r\n") : NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, rows[i].total);
        netlib_retry *retry = retry_of(options), *next = NULL;
        CHECK_INT(rows[i].expected, netlib_retry_increment(retry, rows[i].method, "/", response, error, &next, &err));
        CHECK_INT(rows[i].kind, netlib_error_retry_kind(err));
        netlib_error_free(err);
        netlib_error_free(error);
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
}

/* The first attempt may have sent the request. The last attempt could not connect. */
static void max_retry_errors_are_read_errors_if_an_attempt_may_have_sent_the_request(void) {
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
        check_outcomes(first[i] == NETLIB_CONNECT_FAILED ? OTHER : READ, err, NULL, "after several attempts");
        netlib_error_free(err);
        netlib_error_free(error);
        netlib_error_free(refused);
        netlib_response_free(response);
        netlib_retry_free(retry);
        netlib_retry_free(second);
    }
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

static void errors_about_invalid_responses_are_treated_as_read_errors(void) {
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
        {"a malformed Retry-After of a response", of_wait, "Retry-After: soon\r\n", NETLIB_INVALID_HEADER, READ},
        {"an invalid Location", of_location, "Location: http://[\r\n", NETLIB_INVALID_URL, READ},
        {"a Location without a host", of_location, "Location: http://:80/\r\n", NETLIB_INVALID_URL, READ},
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
    errors_of_retry_increment_after_a_response_are_of_kind_read_or_never();
    max_retry_errors_are_read_errors_if_an_attempt_may_have_sent_the_request();
    proxy_failures_have_the_retry_kind_of_their_cause();
    errors_about_invalid_responses_are_treated_as_read_errors();
    return report("retry_kind");
}
