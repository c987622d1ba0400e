/* Tests netlib_retry_increment, and the getters of the Retry before and after the call. */
#include "retry_vectors.h"

static void put_sleep(vectors_out *out, const netlib_retry *retry, const netlib_response *response) {
    netlib_error *err = NULL;
    slept = 0;
    netlib_status status = netlib_retry_sleep(retry, response, NULL, &err);
    put_seconds(out, status, &err, slept);
}

static void put_state(vectors_out *out, const netlib_retry *retry) {
    netlib_error *err = NULL;
    double backoff = 0;
    put_counts(out, retry);
    put_int(out, netlib_retry_raise_on_redirect(retry));
    put_int(out, netlib_retry_is_exhausted(retry));
    CHECK_OK(netlib_retry_get_backoff_time(retry, &backoff, &err));
    put_double(out, backoff);
    put_sleep(out, retry, NULL);
    size_t count = netlib_retry_history_count(retry);
    put_int(out, (long long)count);
    if (count == 0) return;
    int32_t status = netlib_retry_history_status(retry, count - 1);
    put_string(out, netlib_retry_history_method(retry, count - 1, NULL));
    put_string(out, netlib_retry_history_url(retry, count - 1, NULL));
    put_error(out, netlib_retry_history_error(retry, count - 1));
    put_count(out, status == -1 ? NETLIB_NONE : status);
    put_string(out, netlib_retry_history_redirect_location(retry, count - 1, NULL));
}

/* Checks that the history of `after` is the history of `before` with one more entry. */
static void check_history_is_kept(const netlib_retry *before, const netlib_retry *after) {
    size_t count = netlib_retry_history_count(before);
    CHECK_INT((long long)count + 1, (long long)netlib_retry_history_count(after));
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(netlib_retry_history_method(before, i, NULL), netlib_retry_history_method(after, i, NULL));
        CHECK_STR(netlib_retry_history_url(before, i, NULL), netlib_retry_history_url(after, i, NULL));
        CHECK_INT(netlib_retry_history_status(before, i), netlib_retry_history_status(after, i));
        CHECK_STR(netlib_retry_history_redirect_location(before, i, NULL),
                  netlib_retry_history_redirect_location(after, i, NULL));
        CHECK_STR(netlib_error_message(netlib_retry_history_error(before, i), NULL),
                  netlib_error_message(netlib_retry_history_error(after, i), NULL));
    }
}

static void put_answered(vectors_out *out, const netlib_retry *retry, const char *method,
                         const netlib_response *response, bool has_retry_after) {
    netlib_error *err = NULL;
    int32_t is_retry = 0, did = 0;
    double seconds = 0;
    put(out, "answered");
    if (method == NULL) {
        put(out, "-");
    } else {
        CHECK_OK(
            netlib_retry_is_retry(retry, method, netlib_response_status(response), has_retry_after, &is_retry, &err));
        put_int(out, is_retry);
    }
    netlib_status status = netlib_retry_get_retry_after(retry, response, &seconds, &err);
    if (status == NETLIB_OK && seconds < 0) {
        put(out, "-");
    } else {
        put_seconds(out, status, &err, seconds);
    }
    put_sleep(out, retry, response);
    slept = 0;
    status = netlib_retry_sleep_for_retry(retry, response, NULL, &did, &err);
    put_seconds(out, status, &err, slept);
    CHECK(did == (slept > 0));
    end_line(out);
}

/* Writes the error that ended the retries: either the error that the application reported, or netlib's error about a
 * response. */
static void put_reason(vectors_out *out, const netlib_error *reason, const netlib_error *reported,
                       const netlib_response *response) {
    char code[16] = "";
    if (response != NULL) snprintf(code, sizeof code, "%d", (int)netlib_response_status(response));
    if (reported != NULL) {
        put_error(out, reason);
        CHECK_INT(netlib_error_status(reported), netlib_error_status(reason));
    } else if (netlib_error_status(reason) == NETLIB_TOO_MANY_REDIRECTS) {
        put(out, "redirects");
    } else if (netlib_error_status(reason) == NETLIB_RESPONSE_STATUS && response == NULL) {
        put(out, "nothing");
    } else {
        CHECK_INT(NETLIB_RESPONSE_STATUS, netlib_error_status(reason));
        CHECK_CONTAINS(code, netlib_error_message(reason, NULL));
        put(out, "status");
        put(out, code);
    }
}

static void put_failure(vectors_out *out, const netlib_error *failure, const netlib_error *reported,
                        const netlib_response *response, const netlib_retry *before) {
    const netlib_retry *exhausted = netlib_error_retry(failure);
    if (netlib_error_status(failure) != NETLIB_MAX_RETRY) {
        put(out, "cause");
        put_reason(out, failure, reported, response);
        CHECK(exhausted == NULL);
        return;
    }
    put(out, "max");
    CHECK_INT(1, (long long)netlib_error_cause_count(failure));
    put_reason(out, netlib_error_cause(failure, 0), reported, response);
    put_state(out, exhausted);
    check_history_is_kept(before, exhausted);
}

/* Calls netlib_retry_increment with one event. Returns the next Retry, or `retry` itself if the call fails. */
static netlib_retry *after_event(netlib_retry *retry, char *event, vectors_out *out) {
    netlib_error *err = NULL, *error = NULL;
    netlib_response *response = NULL;
    netlib_retry *next = NULL;
    const char *method = next_text(&event, NULL), *url = next_text(&event, NULL), *what = next_word(&event);
    if (strcmp(what, "error") == 0) {
        error = error_of(next_text(&event, NULL));
    } else if (strcmp(what, "response") == 0) {
        int32_t status = count_of(next_word(&event));
        const char *location = next_text(&event, NULL), *retry_after = next_text(&event, NULL);
        response = response_of(status, location, retry_after);
        put_answered(out, retry, method, response, retry_after != NULL && retry_after[0] != '\0');
    }
    vectors_out before = {0}, after = {0};
    put_state(&before, retry);
    netlib_status status = netlib_retry_increment(retry, method, url, response, error, &next, &err);
    put_state(&after, retry);
    CHECK_STR(before.text, after.text);
    free(before.text);
    free(after.text);
    if (status == NETLIB_OK) {
        put(out, "next");
        put_state(out, next);
        check_history_is_kept(retry, next);
        netlib_retry_free(retry);
        retry = next;
    } else {
        CHECK(next == NULL);
        put_failure(out, err, error, response, retry);
        CHECK_STATUS(status, status);
    }
    end_line(out);
    netlib_error_free(error);
    netlib_response_free(response);
    return retry;
}

static void answer(char *input, vectors_out *out) {
    char *line = next_line(&input);
    netlib_retry *retry = retry_of(settings_of(&line));
    if (retry == NULL) {
        put(out, "refused");
        return;
    }
    put_state(out, retry);
    end_line(out);
    while ((line = next_line(&input)) != NULL) retry = after_event(retry, line, out);
    netlib_retry_free(retry);
}

int main(int argc, char **argv) { return vectors_main("retry", answer, argc, argv); }
