/*
 * fetch - get one URL, through whatever the network does.
 *
 * The program to start from: an HTTP/1.1 client in which every decision is a call to netlib. What to retry and how
 * long to wait, where a redirect leads and which headers may go there, whether the body has to be sent again: the
 * policy answers, this file does as it says. TLS, connecting and waiting are netlib's; what is left to do lies in
 * fetch/: http.c moves the bytes, options.c reads the command line, output.c writes the body.
 *
 *     cc fetch.c fetch/http.c fetch/options.c fetch/output.c $(pkg-config --cflags --libs netlib) -o fetch
 *     fetch -v --retries 5 -o page.html https://example.com/
 *
 * Read it from main upwards: small functions stand before the ones that use them.
 *
 * The body goes to standard output or to a file. A file appears under its name only when the body is complete: until
 * then it is FILE.part, which is written anew by every attempt. What went to standard output cannot be taken back, so
 * an attempt that breaks after its first byte is the last. The exit code says what went wrong; fetch/options.h has
 * the list.
 */
#define _POSIX_C_SOURCE 200809L

#include "fetch/http.h"
#include "fetch/options.h"
#include "fetch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the request, which changes from attempt to attempt ----------------------------------------------------------- */

struct request {
    netlib_retry *retry;
    netlib_url *url;
    char *method;
    netlib_headers *headers;
    netlib_body *body; /* NULL: none */
    int body_fd;       /* what the body is read from; -1: nothing to close */
    int64_t body_start;
    bool body_used; /* something may have been read from it */
};

/* Each failure has a counter of its own; together they bound the loop. */
static netlib_status make_retry(int32_t retries, netlib_retry **retry, netlib_error **err) {
    static const int32_t busy[] = {429, 502, 503, 504};
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, NETLIB_NONE);
    netlib_retry_options_set_connect(options, retries);
    netlib_retry_options_set_read(options, retries);
    netlib_retry_options_set_status(options, retries);
    netlib_retry_options_set_other(options, 0); /* a bad certificate is as bad the second time */
    netlib_retry_options_set_redirect(options, 10);
    netlib_retry_options_set_redirect_profile(options, NETLIB_REDIRECT_SAFE);
    netlib_retry_options_set_status_forcelist(options, busy, sizeof busy / sizeof busy[0]);
    netlib_retry_options_set_raise_on_status(options, 0); /* the last answer is delivered, whatever it is */
    netlib_retry_options_set_backoff_factor(options, 0.25);
    netlib_retry_options_set_backoff_max(options, 8.0);
    netlib_retry_options_set_retry_after_max(options, 300.0);
    netlib_status status = netlib_retry_new(options, retry, err);
    netlib_retry_options_free(options);
    return status;
}

static netlib_status make_url(const char *text, netlib_url **url, netlib_error **err) {
    netlib_status status = netlib_parse_url(text, NETLIB_NTS, url, err);
    if (status != NETLIB_OK) return status;
    const char *scheme = netlib_url_scheme(*url, NULL);
    bool is_http = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (!is_http || netlib_url_host(*url, NULL) == NULL) {
        return http_fail(NETLIB_INVALID_URL, err, "a URL that begins with http:// or https:// and a host is needed");
    }
    if (netlib_url_auth(*url, NULL) != NULL) {
        return http_fail(NETLIB_INVALID_URL, err, "a user name in the URL is not used: give it with --user");
    }
    return NETLIB_OK;
}

static netlib_status make_headers(const struct options *options, netlib_headers **headers, netlib_error **err) {
    if (!options->has_user_agent) netlib_headers_options_set_user_agent(options->headers, "fetch/" NETLIB_VERSION);
    if (options->data != NULL && !options->has_content_type) {
        netlib_headers_options_add_header(options->headers, "content-type", "application/x-www-form-urlencoded");
    }
    return netlib_make_headers(options->headers, headers, err);
}

/* Also records where the body begins, to come back to it for each attempt. */
static netlib_status make_body(struct request *request, const char *data, netlib_error **err) {
    netlib_status status;
    if (data[0] == '@') {
        request->body_fd = open(data + 1, O_RDONLY | O_CLOEXEC);
        if (request->body_fd < 0) return http_fail(NETLIB_IO, err, "cannot open %s: %s", data + 1, strerror(errno));
        status = netlib_body_from_fd(request->body_fd, &request->body, err);
    } else {
        status = netlib_body_from_memory(data, strlen(data), &request->body, err);
    }
    if (status != NETLIB_OK) return status;
    return netlib_set_file_position(request->body, NETLIB_POSITION_NONE, &request->body_start, err);
}

static netlib_status set_method(struct request *request, const char *method, netlib_error **err) {
    char *copy = strdup(method);
    if (copy == NULL) return http_fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the method");
    free(request->method);
    request->method = copy;
    return NETLIB_OK;
}

static netlib_status make_request(struct request *request, const struct options *options, netlib_error **err) {
    const char *method = options->method != NULL ? options->method : options->data != NULL ? "POST" : "GET";
    netlib_status status = make_url(options->url, &request->url, err);
    if (status == NETLIB_OK) status = set_method(request, method, err);
    if (status == NETLIB_OK) status = make_retry(options->retries, &request->retry, err);
    if (status == NETLIB_OK) status = make_headers(options, &request->headers, err);
    if (status == NETLIB_OK && options->data != NULL) status = make_body(request, options->data, err);
    return status;
}

static void drop_body(struct request *request) {
    netlib_body_free(request->body);
    request->body = NULL;
    if (request->body_fd >= 0) close(request->body_fd);
    request->body_fd = -1;
}

static void free_request(struct request *request) {
    drop_body(request);
    netlib_headers_free(request->headers);
    netlib_retry_free(request->retry);
    netlib_url_free(request->url);
    free(request->method);
}

/* Turns the request into the next one, as it was decided. */
static netlib_status follow(struct request *request, const netlib_decision *decision, netlib_error **err) {
    netlib_headers *headers = NULL;
    netlib_status status = netlib_decision_headers(decision, request->headers, &headers, err);
    if (status != NETLIB_OK) return status;
    netlib_headers_free(request->headers);
    request->headers = headers;

    netlib_retry_free(request->retry);
    request->retry = netlib_retry_clone(netlib_decision_retry(decision));
    netlib_url_free(request->url);
    request->url = netlib_url_clone(netlib_decision_url(decision));

    if (!netlib_decision_resend_body(decision)) drop_body(request);
    if (request->body != NULL && request->body_used) {
        status = netlib_rewind_body(request->body, request->body_start, err);
    }
    return status == NETLIB_OK ? set_method(request, netlib_decision_method(decision, NULL), err) : status;
}

/* --- the trace (-v) ----------------------------------------------------------------------------------------------- */

/* What stays the same for all attempts. */
struct client {
    const struct options *options;
    netlib_limit *limit;
    netlib_timeout *timeout;
    netlib_tls_context *tls; /* NULL until the first https URL */
    struct output output;
    int attempts;
    int32_t status; /* of the response that was delivered */
};

static void trace(struct client *client, const char *format, ...) {
    if (!client->options->verbose) return;
    output_erase_progress(&client->output);
    va_list arguments;
    va_start(arguments, format);
    fputs("* ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void trace_error(struct client *client, const netlib_error *error, int depth) {
    trace(client, "%*s%s (%s)", 2 * depth, "", netlib_error_message(error, NULL),
          netlib_status_name(netlib_error_status(error)));
    for (size_t i = 0; i < netlib_error_cause_count(error); i++) {
        trace_error(client, netlib_error_cause(error, i), depth + 1);
    }
}

static void trace_attempt(struct client *client, const struct request *request) {
    client->attempts++;
    trace(client, "attempt %d: %s %s://%s%s", client->attempts, request->method, netlib_url_scheme(request->url, NULL),
          netlib_url_netloc(request->url, NULL), netlib_url_request_uri(request->url, NULL));
}

static void trace_connection(struct client *client, const struct http *http) {
    if (http->tls == NULL) {
        trace(client, "  connected");
    } else {
        int32_t version = netlib_tls_stream_version(http->tls);
        trace(client, "  connected with %s, %s", version == NETLIB_TLS_1_3 ? "TLS 1.3" : "TLS 1.2",
              netlib_tls_stream_cipher_suite(http->tls, NULL));
    }
}

static void trace_response(struct client *client, const netlib_response *response) {
    const netlib_headers *headers = netlib_response_headers(response);
    const char *reason = netlib_response_reason(response, NULL);
    trace(client, "  the server answered %d %s", (int)netlib_response_status(response), reason != NULL ? reason : "");
    for (size_t i = 0; i < netlib_headers_count(headers); i++) {
        trace(client, "    %s: %s", netlib_headers_name(headers, i, NULL), netlib_headers_value(headers, i, NULL));
    }
}

/* The counter's name, and what is left in it. */
static const char *counter_of(const netlib_decision *decision, int32_t *left) {
    const netlib_retry *retry = netlib_decision_retry(decision);
    switch (netlib_decision_counter(decision)) {
        case NETLIB_COUNTER_CONNECT: *left = netlib_retry_connect(retry); return "connect";
        case NETLIB_COUNTER_READ: *left = netlib_retry_read(retry); return "read";
        case NETLIB_COUNTER_REDIRECT: *left = netlib_retry_redirect(retry); return "redirect";
        case NETLIB_COUNTER_STATUS: *left = netlib_retry_status(retry); return "status";
        case NETLIB_COUNTER_OTHER: *left = netlib_retry_other(retry); return "other";
        default: *left = netlib_retry_total(retry); return "total";
    }
}

static void trace_delay(struct client *client, const netlib_decision *decision) {
    double delay = netlib_decision_delay(decision);
    double uncapped = netlib_decision_delay_uncapped(decision);
    bool asked = netlib_decision_delay_reason(decision) == NETLIB_DELAY_RETRY_AFTER;
    const char *reason = asked ? "the server asked for it with Retry-After" : "exponential backoff";
    if (delay <= 0) {
        trace(client, "     at once");
    } else if (uncapped > delay) {
        trace(client, "     waits %g s, not %g s: %s", delay, uncapped, reason);
    } else {
        trace(client, "     waits %g s: %s", delay, reason);
    }
}

/* Of the headers that must not go on, those that the request really has. */
static void trace_dropped(struct client *client, const struct request *request, const netlib_decision *decision) {
    for (size_t i = 0; i < netlib_decision_dropped_header_count(decision); i++) {
        const char *name = netlib_decision_dropped_header(decision, i, NULL);
        if (netlib_headers_get(request->headers, name, NULL) != NULL) trace(client, "     drops the header %s", name);
    }
    if (request->body != NULL && !netlib_decision_resend_body(decision)) trace(client, "     drops the body");
}

static void trace_decision(struct client *client, const struct request *request, const netlib_decision *decision) {
    int32_t left = 0;
    const char *counter = counter_of(decision, &left);
    bool redirect = netlib_decision_action(decision) == NETLIB_ACTION_REDIRECT;
    trace(client, "  -> %s: takes 1 from the counter \"%s\", %d left", redirect ? "redirect" : "retry", counter,
          (int)left);
    trace_delay(client, decision);
    trace_dropped(client, request, decision);
}

/* --- one attempt -------------------------------------------------------------------------------------------------- */

/* The first https URL makes the context; it then serves every connection. */
static netlib_status make_tls(struct client *client, netlib_error **err) {
    if (client->tls != NULL) return NETLIB_OK;
    netlib_tls_options *options = netlib_tls_options_new();
    if (client->options->cacert != NULL) {
        netlib_tls_options_add_ca_file(options, client->options->cacert);
        netlib_tls_options_set_system_trust(options, 0);
    }
    if (client->options->insecure) {
        netlib_tls_options_set_check_hostname(options, 0);
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    }
    netlib_tls_options_add_alpn_protocol(options, "http/1.1");
    netlib_status status = netlib_tls_context_new(options, &client->tls, err);
    netlib_tls_options_free(options);
    return status;
}

/* Connects, sends the request and reads the response's head. The body is still to come. */
static netlib_status exchange(struct client *client, struct request *request, struct http *http,
                              netlib_response **response, netlib_error **err) {
    netlib_status status = http_is_secure(request->url) ? make_tls(client, err) : NETLIB_OK;
    if (status == NETLIB_OK) status = http_open(http, request->url, client->timeout, client->tls, err);
    if (status != NETLIB_OK) return status;
    trace_connection(client, http);
    request->body_used = true;
    status = http_send(http, request->method, request->url, request->headers, request->body, err);
    if (status == NETLIB_OK) status = http_read_head(http, request->method, response, err);
    if (status == NETLIB_OK) trace_response(client, *response);
    return status;
}

/* Brings the body to the output. */
static netlib_status deliver(struct client *client, struct http *http, const netlib_response *response,
                             netlib_error **err) {
    int32_t framing = NETLIB_BODY_NONE;
    int64_t length = -1;
    netlib_status status = netlib_response_framing(response, &framing, &length, err);
    if (status != NETLIB_OK) return status;
    status = output_begin(&client->output, framing == NETLIB_BODY_LENGTH ? length : -1, err);
    if (status == NETLIB_OK) status = http_read_body(http, response, output_write, &client->output, err);
    output_erase_progress(&client->output);
    if (status == NETLIB_OK) status = output_complete(&client->output, err);
    if (status != NETLIB_OK) {
        output_discard(&client->output);
        return status;
    }
    client->status = netlib_response_status(response);
    trace(client, "  the body is complete: %lld bytes", (long long)client->output.written);
    return NETLIB_OK;
}

/* The policy's answer to what happened: a response, or a failure. */
static netlib_status decide(struct client *client, const struct request *request, const netlib_response *response,
                            const netlib_error *failure, netlib_decision **decision, netlib_error **err) {
    if (failure != NULL) trace_error(client, failure, 1);
    return netlib_retry_decide(request->retry, request->method, request->url, response, failure, client->limit, decision,
                               err);
}

/* Turns the request into the next one, and waits as long as it was decided. */
static netlib_status go_on(struct client *client, struct request *request, const netlib_decision *decision,
                           netlib_error **err) {
    trace_decision(client, request, decision);
    netlib_status status = follow(request, decision, err);
    return status == NETLIB_OK ? netlib_decision_sleep(decision, client->limit, err) : status;
}

/* From connecting to the decision what comes next. `done`: nothing does, the body is delivered. */
static netlib_status attempt(struct client *client, struct request *request, bool *done, netlib_error **err) {
    struct http http;
    http_init(&http, client->limit);
    netlib_response *response = NULL;
    netlib_error *failure = NULL;
    netlib_decision *decision = NULL;

    trace_attempt(client, request);
    netlib_status status = exchange(client, request, &http, &response, &failure);
    if (status == NETLIB_OK || failure != NULL) {
        status = decide(client, request, response, failure, &decision, err);
    }
    if (status == NETLIB_OK && netlib_decision_action(decision) == NETLIB_ACTION_RETURN_RESPONSE) {
        status = deliver(client, &http, response, &failure);
        *done = status == NETLIB_OK;
        if (failure != NULL && output_can_restart(&client->output)) {
            /* The broken body is a failure like any other. */
            netlib_decision_free(decision);
            netlib_response_free(response);
            decision = NULL;
            response = NULL;
            status = decide(client, request, response, failure, &decision, err);
        } else if (failure != NULL) {
            *err = netlib_error_clone(failure);
        }
    }
    http_close(&http);
    if (status == NETLIB_OK && !*done) status = go_on(client, request, decision, err);

    netlib_decision_free(decision);
    netlib_response_free(response);
    netlib_error_free(failure);
    return status;
}

/* --- how it ended ------------------------------------------------------------------------------------------------- */

static enum exit_code code_of_certificate(const netlib_error *error) {
    switch (netlib_error_certificate_problem(error)) {
        case NETLIB_CERTIFICATE_PROBLEM_EXPIRED:
        case NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID: return EXIT_CERTIFICATE_TIME;
        case NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH: return EXIT_CERTIFICATE_NAME;
        case NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER: return EXIT_CERTIFICATE_ISSUER;
        default: return EXIT_CERTIFICATE;
    }
}

/* The statuses that matter here by name, all others by their class. */
static enum exit_code code_of(const struct client *client, netlib_status status, const netlib_error *error) {
    switch (status) {
        case NETLIB_INVALID_PEM:
        case NETLIB_NO_TRUST_ANCHORS: return EXIT_LOCAL;
        case NETLIB_INVALID_HEADER: return client->attempts == 0 ? EXIT_USAGE : EXIT_PROTOCOL;
        case NETLIB_NAME_RESOLUTION: return EXIT_RESOLVE;
        case NETLIB_CONNECT_TIMEOUT: return EXIT_CONNECT_TIMEOUT;
        case NETLIB_CERTIFICATE_VERIFY:
        case NETLIB_HOSTNAME_MISMATCH: return code_of_certificate(error);
        case NETLIB_READ_TIMEOUT:
        case NETLIB_WRITE_TIMEOUT: return EXIT_SILENCE;
        case NETLIB_DEADLINE_EXCEEDED: return EXIT_MAX_TIME;
        case NETLIB_CANCELLED: return EXIT_INTERRUPTED;
        case NETLIB_INCOMPLETE_READ:
        case NETLIB_TLS_TRUNCATED: return EXIT_INCOMPLETE;
        case NETLIB_TOO_MANY_REDIRECTS:
        case NETLIB_UNSAFE_REDIRECT: return EXIT_REDIRECT;
        case NETLIB_UNREWINDABLE_BODY: return EXIT_BODY;
        default: break;
    }
    switch (netlib_status_class(status)) {
        case NETLIB_CLASS_ARGUMENT: return EXIT_USAGE;
        case NETLIB_CLASS_URL: return EXIT_URL;
        case NETLIB_CLASS_CONNECT: return EXIT_CONNECT;
        case NETLIB_CLASS_TLS: return EXIT_TLS;
        case NETLIB_CLASS_HTTP: return EXIT_PROTOCOL;
        default: return EXIT_LOCAL;
    }
}

/* When the retries are used up, what used them up is what the user wants to know. */
static const netlib_error *reason_of(const netlib_error *error) {
    const netlib_error *cause = netlib_error_cause(error, 0);
    return netlib_error_status(error) == NETLIB_MAX_RETRY && cause != NULL ? cause : error;
}

static enum exit_code report_failure(const struct client *client, netlib_status status, const netlib_error *error) {
    const netlib_error *reason = reason_of(error);
    if (reason != NULL) status = netlib_error_status(reason);
    const char *message = reason != NULL ? netlib_error_message(reason, NULL) : netlib_status_text(status);
    enum exit_code code = code_of(client, status, reason);

    fprintf(stderr, "fetch: %s%s", code == EXIT_MAX_TIME ? "--max-time: " : "", message);
    if (client->attempts > 1) fprintf(stderr, " (attempt %d)", client->attempts);
    if (!output_can_restart(&client->output)) {
        fprintf(stderr, "; the output is not complete, it has the first %lld bytes", (long long)client->output.written);
    }
    fputc('\n', stderr);
    return code;
}

static enum exit_code report_status(int32_t status) {
    if (status < 400) return EXIT_DONE;
    fprintf(stderr, "fetch: the server answered %d\n", (int)status);
    return EXIT_STATUS;
}

/* --- from the start ----------------------------------------------------------------------------------------------- */

static netlib_limit *volatile limit_of_everything;

/* Cancelling a limit is one of the few things that a signal handler may do: whatever waits comes back at once. */
static void on_interrupt(int signal_number) {
    (void)signal_number;
    netlib_limit_cancel(limit_of_everything);
}

static void handle_interrupts(netlib_limit *limit) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    limit_of_everything = limit;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static netlib_status make_client(struct client *client, netlib_error **err) {
    const struct options *options = client->options;
    netlib_status status = netlib_limit_new(options->max_time, &client->limit, err);
    if (status == NETLIB_OK) handle_interrupts(client->limit);
    if (status != NETLIB_OK) return status;
    return netlib_timeout_new(NETLIB_TIMEOUT_NONE, options->connect_timeout, options->read_timeout, &client->timeout,
                              err);
}

static void free_client(struct client *client) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    netlib_tls_context_free(client->tls);
    netlib_timeout_free(client->timeout);
    netlib_limit_free(client->limit);
    output_free(&client->output);
}

static enum exit_code fetch(const struct options *options) {
    struct client client = {.options = options};
    struct request request = {.body_fd = -1};
    netlib_error *err = NULL;
    bool done = false;

    output_init(&client.output, options->output);
    netlib_status status = make_client(&client, &err);
    if (status == NETLIB_OK) status = make_request(&request, options, &err);
    while (status == NETLIB_OK && !done) status = attempt(&client, &request, &done, &err);

    enum exit_code code = done ? report_status(client.status) : report_failure(&client, status, err);
    netlib_error_free(err);
    free_request(&request);
    free_client(&client);
    return code;
}

int main(int argc, char **argv) {
    struct options options = {
        .retries = 3,
        .connect_timeout = 10.0,
        .read_timeout = 30.0,
        .max_time = NETLIB_TIMEOUT_NONE,
        .headers = netlib_headers_options_new(),
    };
    enum exit_code code = EXIT_USAGE;
    if (parse_options(&options, argc, argv)) {
        if (options.help) print_help();
        code = options.help ? EXIT_DONE : fetch(&options);
    }
    netlib_headers_options_free(options.headers);
    return (int)code;
}
