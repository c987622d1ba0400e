/* Tests netlib_retry_decide with a loop that follows each decision. Each test case contains the replies of the
 * server. */
#include "retry_vectors.h"

/* If a test case leads to more requests than this, netlib's answer is "goes on", which differs from urllib3's answer:
 * urllib3 never sends that many requests. */
enum { MOST_SENDS = 100 };

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* A request, and the seconds that the client slept before the request. */
typedef struct {
    netlib_retry *retry;
    netlib_url *url;
    netlib_headers *headers;
    char method[16];
    bool body;
    double sleep;
} request;

static void put_sent(vectors_out *out, const request *sent) {
    enum { LONGEST = 16 };
    char names[LONGEST][32];
    const char *sorted[LONGEST];
    vectors_out list = {0};
    size_t count = netlib_headers_count(sent->headers);
    put_bytes(&list, "", 0);
    for (size_t i = 0; i < count && i < LONGEST; i++) {
        snprintf(names[i], sizeof names[i], "%s", netlib_headers_name(sent->headers, i, NULL));
        for (char *at = names[i]; *at != '\0'; at++) *at = (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
        sorted[i] = names[i];
    }
    qsort(sorted, count, sizeof sorted[0], by_name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) put_bytes(&list, ",", 1);
        put_bytes(&list, sorted[i], strlen(sorted[i]));
    }
    put(out, "sent");
    put(out, sent->method);
    put_int(out, sent->body);
    put_string(out, list.text);
    put_double(out, sent->sleep);
    end_line(out);
    free(list.text);
}

/* Replaces the request with the next request that the decision describes. */
static void follow(request *next, const netlib_decision *decision) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    CHECK_OK(netlib_decision_headers(decision, next->headers, &headers, &err));
    netlib_headers_free(next->headers);
    next->headers = headers;
    next->body = next->body && netlib_decision_resend_body(decision);
    slept = 0;
    CHECK_OK(netlib_decision_sleep(decision, NULL, &err));
    CHECK_DOUBLE(netlib_decision_delay(decision), slept);
    next->sleep = slept;
    snprintf(next->method, sizeof next->method, "%s", netlib_decision_method(decision, NULL));
    netlib_retry *retry = netlib_retry_clone(netlib_decision_retry(decision));
    netlib_url *url = netlib_url_clone(netlib_decision_url(decision));
    netlib_retry_free(next->retry);
    netlib_url_free(next->url);
    next->retry = retry;
    next->url = url;
}

/* Decides about the reply to a request. Returns true if the decision is to send another request. */
static bool take(request *sent, char *reply, vectors_out *out) {
    netlib_error *err = NULL, *error = NULL;
    netlib_response *response = NULL;
    netlib_decision *decision = NULL;
    if (strcmp(next_word(&reply), "error") == 0) {
        error = error_of(next_text(&reply, NULL));
    } else {
        int32_t status = count_of(next_word(&reply));
        const char *location = next_text(&reply, NULL);
        response = response_of(status, location, next_text(&reply, NULL));
    }
    netlib_status status =
        netlib_retry_decide(sent->retry, sent->method, sent->url, response, error, NULL, &decision, &err);
    bool again = status == NETLIB_OK && netlib_decision_action(decision) != NETLIB_ACTION_RETURN_RESPONSE;
    if (again) {
        follow(sent, decision);
    } else if (status == NETLIB_OK) {
        put(out, "end response");
        put_int(out, netlib_response_status(response));
    } else if (status == NETLIB_MAX_RETRY) {
        put(out, "end max");
    } else {
        put(out, "end cause");
        CHECK(error != NULL && status == netlib_error_status(error));
    }
    CHECK_STATUS(status, status);
    netlib_error_free(err);
    netlib_error_free(error);
    netlib_response_free(response);
    netlib_decision_free(decision);
    return again;
}

static void answer(char *input, vectors_out *out) {
    enum { LONGEST = 8 };
    static const char *const names[] = {"Authorization", "Content-Length",      "Content-Type",
                                        "Cookie",        "Proxy-Authorization", "X-Key"};
    netlib_error *err = NULL;
    request sent = {0};
    char *line = next_line(&input);
    netlib_retry_options *settings = settings_of(&line);
    char *remove = next_text(&line, NULL);
    if (remove != NULL) {
        const char *elements[LONGEST];
        size_t count = list_of(remove, elements, LONGEST);
        netlib_retry_options_set_remove_headers_on_redirect(settings, elements, count);
    }
    sent.retry = retry_of(settings);
    if (sent.retry == NULL) {
        put(out, "refused");
        return;
    }
    snprintf(sent.method, sizeof sent.method, "%s", next_word(&line));
    sent.body = count_of(next_word(&line)) == 1;
    netlib_headers_options *options = netlib_headers_options_new();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        netlib_headers_options_add_header(options, names[i], "v");
    CHECK_OK(netlib_make_headers(options, &sent.headers, &err));
    netlib_headers_options_free(options);
    CHECK_OK(netlib_parse_url("http://a/", NETLIB_NTS, &sent.url, &err));
    bool again = true;
    for (int sends = 0; again && sends < MOST_SENDS; sends++) {
        char last[] = "response 404 - -";
        put_sent(out, &sent);
        line = next_line(&input);
        again = take(&sent, line == NULL ? last : line, out);
    }
    if (again) put(out, "goes on");
    netlib_retry_free(sent.retry);
    netlib_headers_free(sent.headers);
    netlib_url_free(sent.url);
}

int main(int argc, char **argv) { return vectors_main("decide", answer, argc, argv); }
