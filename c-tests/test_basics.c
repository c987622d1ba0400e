/* Versions, the status table, and errors. */
#include "harness.h"

static void versions_agree(void) {
    CHECK_STR(NETLIB_VERSION, netlib_version());
    CHECK_INT(NETLIB_VERSION_NUMBER, netlib_version_number());
}

static void unknown_statuses_have_answers(void) {
    static const int32_t unknown[] = {-1, 1, 99, 104, 1999, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        CHECK_STR("NETLIB_UNKNOWN_STATUS", netlib_status_name(unknown[i]));
        CHECK_STR("unknown status", netlib_status_text(unknown[i]));
        CHECK_INT(NETLIB_CLASS_SYSTEM, netlib_status_class(unknown[i]));
        CHECK_INT(NETLIB_RETRY_KIND_NEVER, netlib_status_retry_kind(unknown[i]));
    }
}

static void errors_of_the_caller(void) {
    static const struct {
        int32_t status;
        netlib_status expected;
    } rows[] = {
        {NETLIB_READ_TIMEOUT, NETLIB_OK},          {NETLIB_PROTOCOL, NETLIB_OK},
        {NETLIB_OK, NETLIB_INVALID_ARGUMENT},      {NETLIB_WANT_READ, NETLIB_INVALID_ARGUMENT},
        {NETLIB_TIMEOUT, NETLIB_INVALID_ARGUMENT}, {-7, NETLIB_INVALID_ARGUMENT},
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

static void facts_of_an_error(void) {
    netlib_error *err = NULL;
    netlib_error *cause = NULL;
    netlib_error *error = NULL;
    size_t len = 0;
    CHECK_OK(netlib_error_new(NETLIB_NEW_CONNECTION, "refused", NULL, &cause, &err));
    CHECK_OK(netlib_error_new(NETLIB_PROXY, "line 1\nline 2", cause, &error, &err));
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

static void bad_text_is_refused(void) {
    netlib_error *err = NULL;
    netlib_error *error = NULL;
    netlib_status status = netlib_error_new(NETLIB_PROTOCOL, "ab\xff", NULL, &error, &err);
    CHECK_INT(2, netlib_error_offset(err));
    CHECK_STR("message is not valid UTF-8 at byte 2", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_UTF8, status);
    CHECK(error == NULL);
}

int main(void) {
    versions_agree();
    unknown_statuses_have_answers();
    errors_of_the_caller();
    facts_of_an_error();
    bad_text_is_refused();
    return report("basics");
}
