/* Tests the report of an error: its text, its maximum length, and its lifetime. */
#define _GNU_SOURCE
#include "retry_makers.h"

#include <pthread.h>

#define MAX_LENGTH 65536
#define ELLIPSIS "\xe2\x80\xa6"

static void a_report_has_the_message_then_indented_lines_for_advice_and_causes(void) {
    size_t len = 99;
    CHECK(netlib_error_report(NULL, &len) == NULL);
    CHECK_INT(0, (long long)len);

    netlib_error *leaf = error_around(NETLIB_CONNECT_FAILED, "refused", NULL);
    CHECK_STR("refused", netlib_error_report(leaf, &len));
    CHECK_INT(7, (long long)len);
    netlib_error *middle = error_around(NETLIB_PROXY_FAILED, "line 1\nline 2", leaf);
    CHECK_STR("line 1\\nline 2\n  cause: refused", netlib_error_report(middle, NULL));
    netlib_error *outer = error_around(NETLIB_APPLICATION_ERROR, "", middle);
    CHECK_STR("\n  cause: line 1\\nline 2\n    cause: refused", netlib_error_report(outer, NULL));

    netlib_error *advised = NULL;
    CHECK_INT(NETLIB_INVALID_ARGUMENT,
              netlib_assert_fingerprint("-----BEGIN CERTIFICATE-----\n", NETLIB_NTS, "00", &advised));
    netlib_error *around = error_around(NETLIB_APPLICATION_ERROR, "it broke", advised);
    char expected[600];
    snprintf(expected, sizeof expected, "it broke\n  cause: %s\n    advice: %s", netlib_error_message(advised, NULL),
             netlib_error_advice(advised, NULL));
    CHECK(netlib_error_advice(advised, NULL) != NULL);
    CHECK_STR(expected, netlib_error_report(around, NULL));
    netlib_error_free(around);
    netlib_error_free(advised);
    netlib_error_free(outer);
    netlib_error_free(middle);
    netlib_error_free(leaf);
}

static void several_causes_in_a_report_are_numbered(void) {
    netlib_error *err = NULL, *refused = error_around(NETLIB_CONNECT_FAILED, "refused", NULL),
                 *proxy = error_around(NETLIB_PROXY_FAILED, "no proxy", refused);
    netlib_retry *retry = retry_of(netlib_retry_options_new()), *next = NULL, *second = NULL;
    netlib_limit *limit = NULL;
    netlib_decision *decision = NULL;
    netlib_url *url = url_of("http://user:password@h/?key=secret");
    CHECK_OK(netlib_retry_increment(retry, "GET", "/", NULL, refused, &next, &err));
    CHECK_OK(netlib_retry_increment(next, "GET", "/", NULL, proxy, &second, &err));
    CHECK_OK(netlib_limit_new(NETLIB_TIMEOUT_NONE, NULL, &limit, &err));
    netlib_limit_cancel(limit);
    netlib_status status = netlib_retry_decide(second, "GET", url, NULL, refused, limit, &decision, &err);
    CHECK_STR(
        "the limit was cancelled\n  cause 1: refused\n  cause 2: no proxy\n    cause: refused\n  cause 3: refused",
        netlib_error_report(err, NULL));
    CHECK_STATUS(NETLIB_CANCELLED, status);

    netlib_retry_free(second);
    netlib_retry_free(next);
    netlib_retry_free(retry);
    netlib_limit_free(limit);
    netlib_url_free(url);
    netlib_error_free(proxy);
    netlib_error_free(refused);
}

static void a_cause_whose_message_ends_the_message_of_the_error_has_no_line(void) {
    /* A message of more than 256 characters is truncated in the message of the NETLIB_MAX_RETRY error. */
    char long_message[301] = {0}, long_report[700];
    memset(long_message, 'x', sizeof long_message - 1);
    snprintf(long_report, sizeof long_report, "the retries are used up for GET /: %.256s" ELLIPSIS "\n  cause: %s",
             long_message, long_message);
    const struct {
        const char *message, *cause, *report;
    } rows[] = {
        {"refused", NULL, "the retries are used up for GET /: refused"},
        {"no proxy", "refused", "the retries are used up for GET /: no proxy\n  cause: refused"},
        {"no proxy: refused", "refused", "the retries are used up for GET /: no proxy: refused"},
        {"was refused", "refused", "the retries are used up for GET /: was refused\n  cause: refused"},
        {long_message, NULL, long_report},
    };
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, 0);
    netlib_retry *once = retry_of(options), *next = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_error *leaf = rows[i].cause ? error_around(NETLIB_CONNECT_FAILED, rows[i].cause, NULL) : NULL;
        netlib_error *error = error_around(NETLIB_CONNECT_FAILED, rows[i].message, leaf);
        netlib_status status = netlib_retry_increment(once, "GET", "/", NULL, error, &next, &err);
        CHECK_STR(rows[i].report, netlib_error_report(err, NULL));
        CHECK_STR(rows[i].message, netlib_error_message(netlib_error_cause(err, 0), NULL));
        CHECK_STATUS(NETLIB_MAX_RETRY, status);
        netlib_error_free(error);
        netlib_error_free(leaf);
    }
    netlib_retry_free(once);
}

/* Each character of the messages has two bytes. The end of a truncated report must not split a character. */
static void a_report_is_truncated_at_65536_bytes(void) {
    enum { CHARACTERS = 9000 };
    static char message[2 * CHARACTERS + 1];
    for (size_t i = 0; i < CHARACTERS; i++) memcpy(message + 2 * i, "\xc3\xa9", 2);
    netlib_error *error = NULL;
    /* A report has room for three of these messages, and for the start of a fourth. */
    for (int depth = 1; depth <= 16; depth++) {
        netlib_error *outer = error_around(NETLIB_APPLICATION_ERROR, message, error);
        netlib_error_free(error);
        error = outer;
        size_t len = 0;
        const char *report = netlib_error_report(error, &len);
        size_t whole = 0;
        for (int line = 0; line < depth; line++) whole += strlen(message) + (line > 0 ? 8 + 2 * (size_t)line : 0);
        if (depth <= 3) {
            CHECK_INT((long long)whole, (long long)len);
        } else {
            CHECK(len > MAX_LENGTH - 2 && len <= MAX_LENGTH);
            CHECK_STR(ELLIPSIS, report + len - strlen(ELLIPSIS));
            CHECK(memcmp(report + len - strlen(ELLIPSIS) - 2, "\xc3\xa9", 2) == 0);
        }
        CHECK_INT((long long)strlen(report), (long long)len);
    }
    netlib_error_free(error);
}

static void a_report_of_100_nested_errors_has_at_most_16_causes(void) {
    netlib_error *error = NULL;
    for (int depth = 0; depth < 100; depth++) {
        netlib_error *outer = error_around(NETLIB_APPLICATION_ERROR, "x", error);
        netlib_error_free(error);
        error = outer;
    }
    int lines = 1;
    for (const char *c = netlib_error_report(error, NULL); *c != '\0'; c++) lines += *c == '\n';
    CHECK(lines > 1 && lines <= 17);
    netlib_error_free(error);
}

enum { THREADS = 4 };
static pthread_barrier_t barrier;

static void *report_of(void *error) {
    pthread_barrier_wait(&barrier);
    return (void *)(uintptr_t)netlib_error_report(error, NULL);
}

static void an_error_has_one_report_for_all_its_clones_and_all_threads(void) {
    netlib_error *leaf = error_around(NETLIB_CONNECT_FAILED, "refused", NULL);
    netlib_error *error = error_around(NETLIB_PROXY_FAILED, "no proxy", leaf), *clone = netlib_error_clone(error);
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, report_of, error);
    void *report = NULL;
    for (int i = 0; i < THREADS; i++) {
        void *of_thread = NULL;
        pthread_join(threads[i], &of_thread);
        if (i == 0) report = of_thread;
        CHECK(report == of_thread);
    }
    pthread_barrier_destroy(&barrier);
    netlib_error_free(error);
    netlib_error_free(leaf);
    CHECK(netlib_error_report(clone, NULL) == report);
    CHECK_STR("no proxy\n  cause: refused", report);
    netlib_error_free(clone);
}

int main(void) {
    a_report_has_the_message_then_indented_lines_for_advice_and_causes();
    several_causes_in_a_report_are_numbered();
    a_cause_whose_message_ends_the_message_of_the_error_has_no_line();
    a_report_is_truncated_at_65536_bytes();
    a_report_of_100_nested_errors_has_at_most_16_causes();
    an_error_has_one_report_for_all_its_clones_and_all_threads();
    return report("error report");
}
