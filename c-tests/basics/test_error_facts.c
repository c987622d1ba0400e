/* Tests the values that errors record: HTTP status codes, invalid timeouts, problems of rewinding, and fingerprints. */
#define _GNU_SOURCE
#include "retry_makers.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static void errors_about_a_response_record_its_http_status(void) {
    static const struct {
        const char *label;
        int32_t total;
        int redirect_profile;
        int code;
        const char *fields;
        netlib_status expected;
        int http_status, cause_http_status;
    } rows[] = {
        {"too many error responses", 0, NETLIB_REDIRECT_SAFE, 500, "", NETLIB_MAX_RETRY, 500, 500},
        {"too many redirects", 0, NETLIB_REDIRECT_SAFE, 302, "Location: /b\r\n", NETLIB_MAX_RETRY, 302, 302},
        {"a Retry-After that is too long", 3, NETLIB_REDIRECT_SAFE, 503, "Retry-After: 90\r\n", NETLIB_MAX_RETRY, 503,
         503},
        {"a malformed Retry-After", 3, NETLIB_REDIRECT_SAFE, 503, "Retry-After: soon\r\n", NETLIB_INVALID_HEADER, 503,
         0},
        {"a malformed Location", 3, NETLIB_REDIRECT_SAFE, 301, "Location: http://[::1/\r\n", NETLIB_INVALID_URL, 301,
         0},
        {"a redirect that the profile refuses", 3, NETLIB_REDIRECT_SAFE, 307, "Location: ftp://h/\r\n",
         NETLIB_UNSAFE_REDIRECT, 307, 0},
    };
    static const int32_t retried[] = {500};
    netlib_url *url = url_of("http://h/");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, rows[i].total);
        netlib_retry_options_set_status_forcelist(options, retried, 1);
        netlib_retry_options_set_redirect_profile(options, rows[i].redirect_profile);
        netlib_retry_options_set_retry_after_max(options, 60);
        netlib_retry_options_set_long_retry_after(options, NETLIB_LONG_RETRY_AFTER_STOP);
        netlib_retry *retry = retry_of(options);
        netlib_response *response = response_of(rows[i].code, rows[i].fields);
        netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err);
        if (status != rows[i].expected) fprintf(stderr, "%s\n", rows[i].label);
        CHECK_INT(rows[i].http_status, netlib_error_http_status(err));
        CHECK_INT(rows[i].cause_http_status, netlib_error_http_status(netlib_error_cause(err, 0)));
        CHECK_STATUS(rows[i].expected, status);
        netlib_response_free(response);
        netlib_retry_free(retry);
    }
    netlib_url_free(url);
    CHECK_INT(0, netlib_error_http_status(NULL));
}

/* Returns an error that the application makes, with a netlib status and an HTTP status code. */
static netlib_error *error_with_http_status(netlib_status status, int32_t http_status) {
    netlib_error *err = NULL, *error = NULL;
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_http_status(options, http_status);
    CHECK_OK(netlib_error_new(status, "it broke", options, &error, &err));
    netlib_error_options_free(options);
    return error;
}

static void a_max_retry_error_has_the_http_status_of_its_cause(void) {
    static const int codes[] = {0, 407};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        netlib_error *err = NULL, *error = error_with_http_status(NETLIB_PROXY_FAILED, codes[i]);
        netlib_retry *next = NULL;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, 0);
        netlib_retry *retry = retry_of(options);
        netlib_status status = netlib_retry_increment(retry, "GET", "/", NULL, error, &next, &err);
        CHECK_INT(codes[i], netlib_error_http_status(err));
        CHECK_INT(codes[i], netlib_error_http_status(netlib_error_cause(err, 0)));
        CHECK_STATUS(NETLIB_MAX_RETRY, status);
        netlib_retry_free(retry);
        netlib_error_free(error);
    }
}

static void error_options_accept_only_0_and_three_digit_http_status_codes(void) {
    static const struct {
        int32_t http_status;
        netlib_status expected;
    } rows[] = {
        {0, NETLIB_OK},
        {100, NETLIB_OK},
        {999, NETLIB_OK},
        {99, NETLIB_INVALID_ARGUMENT},
        {1000, NETLIB_INVALID_ARGUMENT},
        {-1, NETLIB_INVALID_ARGUMENT},
        {65636, NETLIB_INVALID_ARGUMENT},
        {INT32_MIN, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[120];
        netlib_error *err = NULL, *error = NULL;
        netlib_error_options *options = netlib_error_options_new();
        netlib_error_options_set_http_status(options, rows[i].http_status);
        netlib_status status = netlib_error_new(NETLIB_RESPONSE_STATUS, "it broke", options, &error, &err);
        snprintf(message, sizeof message,
                 "netlib_error_options_set_http_status: http_status must be 100 to 999, or 0; it is %d",
                 (int)rows[i].http_status);
        CHECK_STR(rows[i].expected == NETLIB_OK ? NULL : message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].expected == NETLIB_OK ? rows[i].http_status : 0, netlib_error_http_status(error));
        CHECK_STATUS(rows[i].expected, status);
        netlib_error_free(error);
        netlib_error_options_free(options);
    }
}

static void errors_of_invalid_timeouts_record_which_timeout_is_invalid(void) {
    static const double bad[] = {0.0, -0.5, (double)NAN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct {
            double total, connect, read;
            enum netlib_timeout_kind expected;
        } rows[] = {
            {bad[i], 1, 1, NETLIB_TIMEOUT_KIND_TOTAL},        {1, bad[i], 1, NETLIB_TIMEOUT_KIND_CONNECT},
            {1, 1, bad[i], NETLIB_TIMEOUT_KIND_READ},         {bad[i], bad[i], bad[i], NETLIB_TIMEOUT_KIND_TOTAL},
            {1, bad[i], bad[i], NETLIB_TIMEOUT_KIND_CONNECT},
        };
        netlib_error *err = NULL;
        netlib_timeout *timeout = NULL;
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            netlib_status status = netlib_timeout_new(rows[j].total, rows[j].connect, rows[j].read, &timeout, &err);
            CHECK_INT(rows[j].expected, netlib_error_invalid_timeout(err));
            CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        }
        netlib_status status = netlib_timeout_from_float(bad[i], &timeout, &err);
        CHECK_INT(NETLIB_TIMEOUT_KIND_CONNECT, netlib_error_invalid_timeout(err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        status = netlib_set_default_timeout(bad[i], &err);
        CHECK_INT(NETLIB_TIMEOUT_KIND_NONE, netlib_error_invalid_timeout(err));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    }
    CHECK_INT(NETLIB_TIMEOUT_KIND_NONE, netlib_error_invalid_timeout(NULL));
}

static int32_t read_nothing(void *ctx, void *buf, size_t len, size_t *n) {
    (void)ctx;
    (void)buf;
    (void)len;
    *n = 0;
    return 0;
}

static void fail_to_seek(void *ctx, int64_t pos, enum netlib_outcome *outcome) {
    (void)ctx;
    (void)pos;
    *outcome = NETLIB_OUTCOME_FAILED;
}

static void a_failed_body_rewind_records_its_reason_in_the_error(void) {
    enum { MEMORY, PIPE, WITHOUT_SEEK, WITH_SEEK };
    static const struct {
        int body;
        int64_t pos;
        enum netlib_rewind_problem expected;
        int errnum;
        netlib_status cause;
    } rows[] = {
        {MEMORY, NETLIB_POSITION_NONE, NETLIB_REWIND_PROBLEM_NO_POSITION, 0, NETLIB_OK},
        {MEMORY, NETLIB_POSITION_FAILED, NETLIB_REWIND_PROBLEM_POSITION_FAILED, 0, NETLIB_OK},
        {PIPE, NETLIB_POSITION_FAILED, NETLIB_REWIND_PROBLEM_POSITION_FAILED, 0, NETLIB_OK},
        {PIPE, 0, NETLIB_REWIND_PROBLEM_SEEK_FAILED, ESPIPE, NETLIB_OK},
        {WITHOUT_SEEK, NETLIB_POSITION_NONE, NETLIB_REWIND_PROBLEM_NO_POSITION, 0, NETLIB_OK},
        {WITHOUT_SEEK, 0, NETLIB_REWIND_PROBLEM_NO_SEEK, 0, NETLIB_OK},
        {WITH_SEEK, 0, NETLIB_REWIND_PROBLEM_SEEK_FAILED, 0, NETLIB_CALLBACK_FAILED},
    };
    int ends[2];
    CHECK(pipe(ends) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_body *body = NULL;
        switch (rows[i].body) {
        case MEMORY: CHECK_OK(netlib_body_from_memory("x", 1, &body, &err)); break;
        case PIPE: CHECK_OK(netlib_body_from_fd(ends[0], &body, &err)); break;
        default:
            CHECK_OK(netlib_body_new(read_nothing, NULL, rows[i].body == WITH_SEEK ? fail_to_seek : NULL, NULL, NULL,
                                     NULL, &body, &err));
        }
        netlib_status status = netlib_rewind_body(body, rows[i].pos, &err);
        CHECK_INT(rows[i].expected, netlib_error_rewind_problem(err));
        CHECK_INT(rows[i].errnum, netlib_error_errno(err));
        CHECK_INT(rows[i].cause, netlib_error_status(netlib_error_cause(err, 0)));
        CHECK_STATUS(NETLIB_UNREWINDABLE_BODY, status);
        netlib_body_free(body);
    }
    close(ends[0]);
    close(ends[1]);
    netlib_error *made = error_with_http_status(NETLIB_UNREWINDABLE_BODY, 0);
    CHECK_INT(NETLIB_REWIND_PROBLEM_NONE, netlib_error_rewind_problem(made));
    CHECK_INT(NETLIB_REWIND_PROBLEM_NONE, netlib_error_rewind_problem(NULL));
    netlib_error_free(made);
}

/* The digests of the three bytes "abc". */
#define MD5_OF_ABC "900150983cd24fb0d6963f7d28e17f72"
#define SHA1_OF_ABC "a9993e364706816aba3e25717850c26c9cd0d89d"
#define SHA256_OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void a_fingerprint_mismatch_records_the_expected_and_the_actual_digest(void) {
    static const struct {
        const char *certificate, *fingerprint;
        netlib_status status;
        const char *expected, *actual;
    } rows[] = {
        {"abc", "00:01:50:98:3C:D2:4F:B0:D6:96:3F:7D:28:E1:7F:72", NETLIB_FINGERPRINT_MISMATCH,
         "000150983cd24fb0d6963f7d28e17f72", MD5_OF_ABC},
        {"abc", "09993e364706816aba3e25717850c26c9cd0d89d", NETLIB_FINGERPRINT_MISMATCH,
         "09993e364706816aba3e25717850c26c9cd0d89d", SHA1_OF_ABC},
        {"abc", "0A7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", NETLIB_FINGERPRINT_MISMATCH,
         "0a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", SHA256_OF_ABC},
        {"", SHA256_OF_ABC, NETLIB_FINGERPRINT_MISMATCH, NULL, NULL},
        {"abc", "ba", NETLIB_INVALID_ARGUMENT, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        size_t len = 99;
        netlib_status status =
            netlib_assert_fingerprint(rows[i].certificate, strlen(rows[i].certificate), rows[i].fingerprint, &err);
        CHECK_STR(rows[i].expected, netlib_error_expected_fingerprint(err, &len));
        CHECK_INT(rows[i].expected != NULL ? (long long)strlen(rows[i].expected) : 0, (long long)len);
        CHECK_STR(rows[i].actual, netlib_error_actual_fingerprint(err, &len));
        CHECK_INT(rows[i].actual != NULL ? (long long)strlen(rows[i].actual) : 0, (long long)len);
        CHECK_STR(NULL, netlib_error_public_key_pin(err, &len));
        CHECK_STATUS(rows[i].status, status);
    }
}

int main(void) {
    errors_about_a_response_record_its_http_status();
    a_max_retry_error_has_the_http_status_of_its_cause();
    error_options_accept_only_0_and_three_digit_http_status_codes();
    errors_of_invalid_timeouts_record_which_timeout_is_invalid();
    a_failed_body_rewind_records_its_reason_in_the_error();
    a_fingerprint_mismatch_records_the_expected_and_the_actual_digest();
    return report("error facts");
}
