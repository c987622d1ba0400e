/* Checks the decisions of several retry policies about each kind of failure. */
#ifndef NETLIB_TEST_RETRY_OUTCOMES_H
#define NETLIB_TEST_RETRY_OUTCOMES_H

#include "harness.h"

/* Short names of the retry kinds, for the tables. */
#define NEVER NETLIB_RETRY_KIND_NEVER
#define CONNECT NETLIB_RETRY_KIND_CONNECT
#define READ NETLIB_RETRY_KIND_READ
#define OTHER NETLIB_RETRY_KIND_OTHER

enum { DEFAULT_RETRY, NEW_RETRY, OTHER_ALONE, CONNECT_ALONE, RETRIES };

static const char *const retry_names[] = {"the default Retry", "netlib_retry_new(NULL)", "other = 10", "connect = 10"};

static inline netlib_retry *retry_number(int number) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    netlib_retry_options *options = NULL;
    if (number == DEFAULT_RETRY) return netlib_retry_clone(netlib_retry_resolve(NULL, NULL));
    if (number != NEW_RETRY) {
        options = netlib_retry_options_new();
        netlib_retry_options_set_total(options, NETLIB_NONE);
        if (number == OTHER_ALONE) netlib_retry_options_set_other(options, 10);
        if (number == CONNECT_ALONE) netlib_retry_options_set_connect(options, 10);
    }
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    return retry;
}

static const int32_t counters[] = {
    [NETLIB_RETRY_KIND_CONNECT] = NETLIB_COUNTER_CONNECT,
    [NETLIB_RETRY_KIND_READ] = NETLIB_COUNTER_READ,
    [NETLIB_RETRY_KIND_OTHER] = NETLIB_COUNTER_OTHER,
};

/* Checks the decisions about a GET and a POST with each Retry. The decision either repeats the request and counts the
 * failure as `kind`, or returns the failure unchanged. A POST is not repeated after a read error. A failure of the
 * retry kind NEVER is always returned. `response` may be NULL. */
static inline void check_outcomes(enum netlib_retry_kind kind, const netlib_error *failure,
                                  const netlib_response *response, const char *what) {
    static const char *const methods[] = {"GET", "POST"};
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    unsigned long failed = checks_failed;
    CHECK_OK(netlib_parse_url("https://h/", NETLIB_NTS, &url, &err));
    CHECK(failure != NULL);
    for (int i = 0; i < 2 * RETRIES && failure != NULL; i++) {
        unsigned long before = checks_failed;
        netlib_decision *decision = NULL;
        netlib_retry *retry = retry_number(i / 2);
        bool is_repeated = kind != NETLIB_RETRY_KIND_NEVER && (kind != NETLIB_RETRY_KIND_READ || i % 2 == 0);
        netlib_status status =
            netlib_retry_decide(retry, methods[i % 2], url, response, failure, NULL, &decision, &err);
        CHECK_INT(is_repeated ? NETLIB_OK : netlib_error_status(failure), status);
        if (status == NETLIB_OK) {
            CHECK_INT(NETLIB_ACTION_RETRY, netlib_decision_action(decision));
            CHECK_INT(counters[kind], netlib_decision_counter(decision));
        }
        if (checks_failed != before) fprintf(stderr, "    %s with %s\n", methods[i % 2], retry_names[i / 2]);
        netlib_error_free(err);
        netlib_decision_free(decision);
        netlib_retry_free(retry);
    }
    if (response == NULL) CHECK_INT(kind, netlib_error_retry_kind(failure));
    if (checks_failed != failed) {
        fprintf(stderr, "    %s: %s: %s\n", what, netlib_status_name(netlib_error_status(failure)),
                netlib_error_message(failure, NULL));
    }
    netlib_url_free(url);
}

#endif
