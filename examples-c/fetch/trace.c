/* Implements trace.h. */
#include "trace.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void trace(struct trace *trace, const char *format, ...) {
    if (!trace->on) return;
    output_erase_progress(trace->output);
    va_list arguments;
    va_start(arguments, format);
    fputs("* ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

void trace_attempt(struct trace *to, int number, const struct request *request) {
    const netlib_url *url = request->url;
    trace(to, "attempt %d: %s %s://%s%s", number, request->method, netlib_url_scheme(url, NULL),
          netlib_url_netloc(url, NULL), netlib_url_request_uri(url, NULL));
}

static const char *outcome_of(const netlib_connect *race, size_t index) {
    int32_t status = netlib_connect_attempt_status(race, index), errnum = netlib_connect_attempt_errno(race, index);
    if (status == NETLIB_OK) return "connected";
    if (status == NETLIB_CLOSED) return "closed, another attempt was faster";
    if (status == NETLIB_ADDRESS_REFUSED) return "not tried because of --refuse-addresses";
    return errnum != 0 ? strerror(errnum) : netlib_status_text(status);
}

void trace_race(struct trace *to, const netlib_connect *race) {
    for (size_t i = 0; i < netlib_connect_attempt_count(race); i++) {
        char port[32] = ""; /* Unix domain sockets have none */
        int number = netlib_connect_attempt_port(race, i);
        if (number >= 0) snprintf(port, sizeof port, " port %d", number);
        trace(to, "  %s%s, %.3f to %.3f s: %s", netlib_connect_attempt_address(race, i, NULL), port,
              netlib_connect_attempt_start(race, i), netlib_connect_attempt_end(race, i), outcome_of(race, i));
    }
}

void trace_connection(struct trace *to, const char *whose, const netlib_url *url, const struct connection *connection) {
    enum netlib_tls_version version = netlib_stream_tls_version(connection->stream);
    if (version == NETLIB_TLS_VERSION_NONE) {
        trace(to, "  connected to %s%s", whose, netlib_url_netloc(url, NULL));
    } else {
        trace(to, "  connected to %s%s with TLS %s, %s%s", whose, netlib_url_netloc(url, NULL),
              version == NETLIB_TLS_VERSION_1_3 ? "1.3" : "1.2", netlib_stream_cipher_suite(connection->stream, NULL),
              connection->is_nested ? ", inside the TLS session with the proxy" : "");
    }
}

void trace_response(struct trace *to, const netlib_response *response) {
    const netlib_headers *headers = netlib_response_headers(response);
    const char *reason = netlib_response_reason(response, NULL);
    trace(to, "  the server answered %d %s", (int)netlib_response_status(response), reason != NULL ? reason : "");
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        trace(to, "    %s: %s", netlib_headers_name(headers, i, NULL), netlib_headers_value(headers, i, NULL));
    }
}

static void trace_error_at(struct trace *to, const netlib_error *error, int depth) {
    trace(to, "%*s%s (%s)", 2 * depth, "", netlib_error_message(error, NULL),
          netlib_status_name(netlib_error_status(error)));
    for (size_t i = 0; i < netlib_error_cause_count(error); i++) {
        trace_error_at(to, netlib_error_cause(error, i), depth + 1);
    }
}

void trace_error(struct trace *to, const netlib_error *error) { trace_error_at(to, error, 1); }

/* Returns the name of the counter that the retry was taken from, and stores in `left` how many retries are left.
 * Redirects have their own counter; all other retries share the total. */
static const char *counter_of(const netlib_decision *decision, int32_t *left) {
    const netlib_retry *retry = netlib_decision_retry(decision);
    int32_t counter = netlib_decision_counter(decision);
    *left = counter == NETLIB_COUNTER_REDIRECT ? netlib_retry_redirect_left(retry) : netlib_retry_total_left(retry);
    switch (counter) {
    case NETLIB_COUNTER_CONNECT: return "connect";
    case NETLIB_COUNTER_READ: return "read";
    case NETLIB_COUNTER_REDIRECT: return "redirect";
    case NETLIB_COUNTER_STATUS: return "status";
    case NETLIB_COUNTER_OTHER: return "other";
    default: return "total";
    }
}

static void trace_delay(struct trace *to, const netlib_decision *decision) {
    double delay = netlib_decision_delay(decision);
    double uncapped = netlib_decision_delay_uncapped(decision);
    bool asked = netlib_decision_delay_reason(decision) == NETLIB_DELAY_RETRY_AFTER;
    const char *reason = asked ? "the server asked for it with Retry-After" : "exponential backoff";
    if (delay <= 0) {
        trace(to, "     at once");
    } else if (uncapped > delay) {
        trace(to, "     waits %g s instead of %g s: %s", delay, uncapped, reason);
    } else {
        trace(to, "     waits %g s: %s", delay, reason);
    }
}

/* Prints which headers of the request are dropped, and whether the body is dropped. */
static void trace_dropped(struct trace *to, const struct request *request, const netlib_decision *decision) {
    for (size_t i = 0; i < netlib_decision_dropped_header_count(decision); i++) {
        const char *name = netlib_decision_dropped_header(decision, i, NULL);
        if (netlib_headers_get(request->headers, name, NULL) != NULL) trace(to, "     drops the header %s", name);
    }
    if (request->body != NULL && !netlib_decision_resend_body(decision)) trace(to, "     drops the body");
}

/* Prints that there is no retry because Retry-After is above the maximum. */
static void trace_end(struct trace *to, const netlib_decision *decision) {
    if (netlib_decision_delay_reason(decision) != NETLIB_DELAY_RETRY_AFTER) return;
    trace(to, "  -> no retry: the server asked for a delay of %g s, more than %g s",
          netlib_decision_delay_uncapped(decision), netlib_retry_retry_after_max(netlib_decision_retry(decision)));
}

void trace_decision(struct trace *to, const struct request *request, const netlib_decision *decision) {
    if (netlib_decision_action(decision) == NETLIB_ACTION_RETURN_RESPONSE) {
        trace_end(to, decision);
        return;
    }
    int32_t left = 0;
    const char *counter = counter_of(decision, &left);
    bool redirect = netlib_decision_action(decision) == NETLIB_ACTION_REDIRECT;
    trace(to, "  -> %s: takes 1 from the counter \"%s\", %d left", redirect ? "redirect" : "retry", counter, (int)left);
    trace_delay(to, decision);
    trace_dropped(to, request, decision);
}
