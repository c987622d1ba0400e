/* Tests the version functions, the table of statuses, and error objects. */
#include "harness.h"

static void netlib_nts_and_netlib_timeout_none_return_the_macro_values(void) {
    CHECK(netlib_nts() == NETLIB_NTS);
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_timeout_none());
}

static void library_and_header_have_the_same_version(void) {
    CHECK_STR(NETLIB_VERSION, netlib_version());
    CHECK_INT(NETLIB_VERSION_NUMBER, netlib_version_number());
}

static void unknown_statuses_are_named_unknown_and_have_retry_kind_never(void) {
    static const int32_t unknown[] = {-1, 1, 99, 199, 1999, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        CHECK_STR("NETLIB_UNKNOWN_STATUS", netlib_status_name(unknown[i]));
        CHECK_STR("unknown status", netlib_status_text(unknown[i]));
        CHECK_INT(NETLIB_CLASS_SYSTEM, netlib_status_class(unknown[i]));
        CHECK_INT(NETLIB_RETRY_KIND_NEVER, netlib_status_retry_kind(unknown[i]));
    }
}

static void errors_are_created_only_with_failure_statuses(void) {
    static const struct {
        int32_t status;
        netlib_status expected;
    } rows[] = {
        {NETLIB_READ_TIMEOUT, NETLIB_OK},
        {NETLIB_PROTOCOL, NETLIB_OK},
        {NETLIB_OK, NETLIB_INVALID_ARGUMENT},
        {NETLIB_WANT_READ, NETLIB_INVALID_ARGUMENT},
        {NETLIB_TIMED_OUT, NETLIB_INVALID_ARGUMENT},
        {-7, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_error *made = NULL;
        CHECK_STATUS(rows[i].expected, netlib_error_new(rows[i].status, "it broke", NULL, &made, &err));
        CHECK((made != NULL) == (rows[i].expected == NETLIB_OK));
        if (made != NULL) {
            CHECK_INT(rows[i].status, netlib_error_status(made));
            CHECK_STR("it broke", netlib_error_message(made, NULL));
        }
        netlib_error_free(made);
    }
}

static void getters_return_the_fields_of_an_error(void) {
    netlib_error *err = NULL;
    netlib_error *cause = NULL;
    netlib_error *error = NULL;
    size_t len = 0;
    CHECK_OK(netlib_error_new(NETLIB_CONNECT_FAILED, "refused", NULL, &cause, &err));
    error = error_around(NETLIB_PROXY_FAILED, "line 1\nline 2", cause);
    netlib_error_free(cause);

    CHECK_STR("line 1\\nline 2", netlib_error_message(error, &len));
    CHECK_INT(14, (long long)len);
    CHECK_INT(0, netlib_error_errno(error));
    CHECK_INT(0, netlib_error_resolver_code(error));
    CHECK_INT(-1, netlib_error_tls_alert(error));
    CHECK_INT(NETLIB_CERTIFICATE_PROBLEM_NONE, netlib_error_certificate_problem(error));
    CHECK_INT(-1, netlib_error_certificate_index(error));
    CHECK_INT(-1, netlib_error_offset(error));
    CHECK_STR(NULL, netlib_error_advice(error, &len));
    CHECK_INT(0, (long long)len);
    CHECK_INT(1, (long long)netlib_error_cause_count(error));
    CHECK_STR("refused", netlib_error_message(netlib_error_cause(error, 0), NULL));
    CHECK(netlib_error_cause(error, 1) == NULL);

    netlib_error *other = netlib_error_clone(error);
    netlib_error_free(error);
    CHECK_STR("refused", netlib_error_message(netlib_error_cause(other, 0), NULL));
    netlib_error_free(other);
}

/* Short names of the retry kinds, for the tables. */
#define UNSET (-1)
#define NEVER NETLIB_RETRY_KIND_NEVER
#define CONNECT NETLIB_RETRY_KIND_CONNECT
#define READ NETLIB_RETRY_KIND_READ
#define OTHER NETLIB_RETRY_KIND_OTHER

/* Creates an error with a status, a retry kind (UNSET for none) and a cause, which may be NULL. */
static netlib_error *error_with(netlib_status status, int32_t kind, const netlib_error *cause) {
    netlib_error *err = NULL, *error = NULL;
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_cause(options, cause);
    if (kind != UNSET) netlib_error_options_set_retry_kind(options, (enum netlib_retry_kind)kind);
    CHECK_OK(netlib_error_new(status, "it broke", options, &error, &err));
    netlib_error_options_free(options);
    return error;
}

static void an_explicit_retry_kind_overrides_the_kinds_of_status_and_cause(void) {
    static const struct {
        int32_t status, kind;             /* of the error */
        int32_t cause_status, cause_kind; /* of the cause; status 0: no cause */
        int32_t expected;
    } rows[] = {
        {NETLIB_CONNECT_FAILED, UNSET, 0, UNSET, CONNECT},
        {NETLIB_PROTOCOL, UNSET, 0, UNSET, READ},
        {NETLIB_CERTIFICATE_VERIFY, UNSET, 0, UNSET, OTHER},
        {NETLIB_CANCELLED, UNSET, 0, UNSET, NEVER},
        /* An error about a response implies that the request was sent. */
        {NETLIB_HEADER_PARSING, UNSET, 0, UNSET, READ},
        {NETLIB_INVALID_HEADER, UNSET, 0, UNSET, READ},
        {NETLIB_RESPONSE_STATUS, UNSET, 0, UNSET, READ},
        {NETLIB_TOO_MANY_REDIRECTS, UNSET, 0, UNSET, READ},
        /* A retry kind that the caller sets overrides the kind of the status. */
        {NETLIB_CONNECT_FAILED, READ, 0, UNSET, READ},
        {NETLIB_PROTOCOL, OTHER, 0, UNSET, OTHER},
        {NETLIB_CANCELLED, CONNECT, 0, UNSET, CONNECT},
        {NETLIB_IO, NEVER, 0, UNSET, NEVER},
        {NETLIB_PROXY_FAILED, READ, 0, UNSET, READ},
        /* A proxy error has the retry kind of its cause. */
        {NETLIB_PROXY_FAILED, UNSET, 0, UNSET, OTHER},
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_CONNECT_FAILED, UNSET, CONNECT},
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_CERTIFICATE_VERIFY, UNSET, OTHER},
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_READ_TIMEOUT, UNSET, READ},
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_READ_TIMEOUT, CONNECT, CONNECT},
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_CANCELLED, UNSET, NEVER},
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_DEADLINE_EXCEEDED, UNSET, NEVER},
        /* A retry kind set on the proxy error overrides the kind of its cause. */
        {NETLIB_PROXY_FAILED, CONNECT, NETLIB_READ_TIMEOUT, UNSET, CONNECT},
        {NETLIB_PROXY_FAILED, CONNECT, NETLIB_CANCELLED, UNSET, CONNECT},
        {NETLIB_PROXY_FAILED, OTHER, NETLIB_CONNECT_FAILED, UNSET, OTHER},
        /* The cause has the retry kind READ, so the request was sent. */
        {NETLIB_PROXY_FAILED, UNSET, NETLIB_TLS_PROTOCOL, READ, READ},
        {NETLIB_CONNECT_FAILED, UNSET, NETLIB_TLS_PROTOCOL, READ, READ},
        {NETLIB_TLS_ALERT, UNSET, NETLIB_CONNECT_FAILED, READ, READ},
        {NETLIB_CANCELLED, UNSET, NETLIB_TLS_PROTOCOL, READ, NEVER},
        {NETLIB_PROXY_FAILED, CONNECT, NETLIB_TLS_PROTOCOL, READ, CONNECT},
        {NETLIB_CONNECT_FAILED, UNSET, NETLIB_CANCELLED, NEVER, CONNECT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *cause =
            rows[i].cause_status != 0 ? error_with(rows[i].cause_status, rows[i].cause_kind, NULL) : NULL;
        netlib_error *error = error_with(rows[i].status, rows[i].kind, cause),
                     *outer = error_with(NETLIB_APPLICATION_ERROR, UNSET, error);
        CHECK_INT(rows[i].expected, netlib_error_retry_kind(error));
        CHECK_INT(rows[i].status, netlib_error_status(error));
        CHECK_INT(cause != NULL, (long long)netlib_error_cause_count(error));
        CHECK(netlib_error_cause(error, 0) == cause);
        /* `outer` has the retry kind READ only if READ was set explicitly on `error`, or on its cause and no kind was
         * set on `error`. `outer` does not inherit a retry kind that follows from the status of `error`. */
        bool is_known = rows[i].kind == READ || (rows[i].cause_kind == READ && rows[i].kind == UNSET);
        CHECK_INT(is_known ? READ : OTHER, netlib_error_retry_kind(outer));
        netlib_error_free(outer);
        netlib_error_free(error);
        netlib_error_free(cause);
    }
    CHECK_INT(NEVER, netlib_error_retry_kind(NULL));
}

static void error_options_refuse_unknown_retry_kinds_and_keep_only_the_last_cause(void) {
    static const int32_t bad[] = {UNSET, NETLIB_RETRY_KIND_BY_CAUSE, 5, INT32_MIN, INT32_MAX};
    netlib_error *err = NULL, *error = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char message[120];
        netlib_error_options *options = netlib_error_options_new();
        netlib_error_options_set_retry_kind(options, (enum netlib_retry_kind)bad[i]);
        netlib_status status = netlib_error_new(NETLIB_IO, "it broke", options, &error, &err);
        snprintf(message, sizeof message,
                 "netlib_error_options_set_retry_kind: kind must be a netlib_retry_kind other than BY_CAUSE; it is %d",
                 (int)bad[i]);
        CHECK_STR(message, netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        CHECK(error == NULL);
        netlib_error_options_free(options);
    }
    /* The last call of netlib_error_options_set_cause determines the cause. The options can be reused, and can be freed
     * before the errors. */
    netlib_error *first = error_with(NETLIB_IO, UNSET, NULL), *second = error_with(NETLIB_PROTOCOL, UNSET, NULL);
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_cause(options, first);
    netlib_error_options_set_cause(options, second);
    CHECK_OK(netlib_error_new(NETLIB_PROXY_FAILED, "it broke", options, &error, &err));
    netlib_error_options_set_cause(options, NULL);
    netlib_error *alone = NULL;
    CHECK_OK(netlib_error_new(NETLIB_PROXY_FAILED, "it broke", options, &alone, &err));
    netlib_error_options_free(options);
    netlib_error_free(first);
    netlib_error_free(second);
    CHECK_INT(NETLIB_PROTOCOL, netlib_error_status(netlib_error_cause(error, 0)));
    CHECK_INT(1, (long long)netlib_error_cause_count(error));
    CHECK_INT(0, (long long)netlib_error_cause_count(alone));
    netlib_error_free(error);
    netlib_error_free(alone);
    netlib_error_options_free(NULL);
}

static void error_messages_that_are_not_utf8_are_refused(void) {
    netlib_error *err = NULL;
    netlib_error *error = NULL;
    netlib_status status = netlib_error_new(NETLIB_PROTOCOL, "ab\xff", NULL, &error, &err);
    CHECK_INT(2, netlib_error_offset(err));
    CHECK_STR("message is not valid UTF-8 at byte 2", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_UTF8, status);
    CHECK(error == NULL);
}

int main(void) {
    netlib_nts_and_netlib_timeout_none_return_the_macro_values();
    library_and_header_have_the_same_version();
    unknown_statuses_are_named_unknown_and_have_retry_kind_never();
    errors_are_created_only_with_failure_statuses();
    getters_return_the_fields_of_an_error();
    an_explicit_retry_kind_overrides_the_kinds_of_status_and_cause();
    error_options_refuse_unknown_retry_kinds_and_keep_only_the_last_cause();
    error_messages_that_are_not_utf8_are_refused();
    return report("basics");
}
