/*
 * fetch - fetches one URL, with retries, redirects, proxies and TLS.
 *
 * Use this program as a template for a blocking HTTP/1.1 client. netlib's retry policy decides what to retry, how long
 * to wait, which URL to request after a redirect, which headers to send to that URL, and whether to send the body
 * again; this file carries out these decisions. netlib also connects, speaks TLS, makes the heads of requests, and
 * parses responses. The other parts of the program are in fetch/:
 *
 *     options     the command line                  connection   a racing connect, and the streams on its socket
 *     sockets     connection options                resolve      addresses from the command line
 *     request     the request, and how it changes   route        opens a connection, directly or through a proxy
 *     trace       the output of -v                  proxy        CONNECT, the tunnel through a proxy
 *     output      the destination of the body       tls          trust and identity, separate for each peer
 *     report      exit codes and advice             failure      errors of fetch's own
 *
 *     cc fetch.c fetch/[a-z]*.c $(pkg-config --cflags --libs netlib) -o fetch
 *     fetch -v --retries 5 -o page.html https://example.com/
 *
 * Read this file from main upwards: each function is defined before the functions that call it.
 *
 * The program writes the response's body to standard output or to a file. Until the body is complete, the file is
 * called FILE.part, which every attempt overwrites; then the program renames FILE.part to FILE. Bytes on standard
 * output cannot be replaced, so an attempt that fails after writing a byte to standard output is not repeated. The exit
 * code tells the kind of failure; fetch/options.h lists the codes.
 */
#define _POSIX_C_SOURCE 200809L

#include "fetch/connection.h"
#include "fetch/options.h"
#include "fetch/output.h"
#include "fetch/report.h"
#include "fetch/request.h"
#include "fetch/route.h"
#include "fetch/trace.h"

#include <signal.h>
#include <stdbool.h>

/* The state that all attempts share. */
struct client {
    const struct options *options;
    netlib_limit *limit;
    struct route route;
    struct output output;
    struct trace trace;
    int attempts;
    int32_t status; /* the status of the response whose body was written to the output */
};

/* --- one attempt -------------------------------------------------------------------------------------------------- */

/* Connects, sends the request and reads the response's head, but not its body. */
static netlib_status exchange(struct client *client, struct request *request, struct connection *connection,
                              netlib_response **response, netlib_error **err) {
    netlib_request *head = NULL;
    netlib_status status = route_make_head(&client->route, request, &head, err);
    if (status == NETLIB_OK) status = route_open(&client->route, request->url, client->limit, connection, err);
    if (status == NETLIB_OK) status = request_send(request, head, connection->stream, err);
    if (status == NETLIB_OK) status = netlib_stream_read_response(connection->stream, request->method, response, err);
    if (status == NETLIB_OK) trace_response(&client->trace, *response);
    netlib_request_free(head);
    return status;
}

/* Copies the response's body to the output. */
static netlib_status copy_body(struct output *output, netlib_stream *stream, netlib_body_decoder *decoder,
                               netlib_error **err) {
    static char buffer[64 * 1024];
    netlib_status status = output_begin(output, netlib_body_decoder_bytes_left(decoder), err);
    while (status == NETLIB_OK) {
        size_t n = 0;
        status = netlib_stream_read_body(stream, decoder, buffer, sizeof buffer, &n, err);
        if (status == NETLIB_OK) status = output_write(output, buffer, n, err);
    }
    output_erase_progress(output);
    return status == NETLIB_END_OF_STREAM ? output_complete(output, err) : status;
}

/* Delivers the response: copies its body to the output, which is discarded if the body is not complete. */
static netlib_status deliver(struct client *client, netlib_stream *stream, const netlib_response *response,
                             netlib_error **err) {
    netlib_body_decoder *decoder = NULL;
    netlib_status status = netlib_body_decoder_new(response, &decoder, err);
    if (status == NETLIB_OK) status = copy_body(&client->output, stream, decoder, err);
    netlib_body_decoder_free(decoder);
    if (status != NETLIB_OK) {
        output_discard(&client->output);
        return status;
    }
    client->status = netlib_response_status(response);
    trace(&client->trace, "  the body is complete: %lld bytes", (long long)client->output.written);
    return NETLIB_OK;
}

/* Asks the retry policy what to do after a response or a failure. */
static netlib_status decide(struct client *client, const struct request *request, const netlib_response *response,
                            const netlib_error *failure, netlib_decision **decision, netlib_error **err) {
    if (failure != NULL) trace_error(&client->trace, failure);
    netlib_status status = netlib_retry_decide(request->retry, request->method, request->url, response, failure,
                                               client->limit, decision, err);
    if (status == NETLIB_OK) trace_decision(&client->trace, request, *decision);
    return status;
}

/* Prepares the next attempt: changes the request as decided, and waits for the delay of the decision. */
static netlib_status prepare_next_attempt(struct client *client, struct request *request,
                                          const netlib_decision *decision, netlib_error **err) {
    netlib_status status = request_follow(request, decision, err);
    return status == NETLIB_OK ? netlib_decision_sleep(decision, client->limit, err) : status;
}

/* Makes one attempt: connects, exchanges request and response, and asks the retry policy for the next step. Sets `done`
 * if the response's body was written completely. */
static netlib_status attempt(struct client *client, struct request *request, bool *done, netlib_error **err) {
    struct connection connection = {.fd = -1};
    netlib_response *response = NULL;
    netlib_error *failure = NULL;
    netlib_decision *decision = NULL;

    trace_attempt(&client->trace, ++client->attempts, request);
    netlib_status status = exchange(client, request, &connection, &response, &failure);
    if (status == NETLIB_OK || failure != NULL) {
        status = decide(client, request, response, failure, &decision, err);
    }
    if (status == NETLIB_OK && netlib_decision_action(decision) == NETLIB_ACTION_RETURN_RESPONSE) {
        status = deliver(client, connection.stream, response, &failure);
        *done = status == NETLIB_OK;
        if (failure != NULL && output_can_restart(&client->output)) {
            /* If the body was not received completely, the retry policy decides whether to repeat the request. */
            netlib_decision_free(decision);
            netlib_response_free(response);
            decision = NULL;
            response = NULL;
            status = decide(client, request, response, failure, &decision, err);
        } else if (failure != NULL) {
            *err = netlib_error_clone(failure);
        }
    }
    connection_close(&connection);
    if (status == NETLIB_OK && !*done) status = prepare_next_attempt(client, request, decision, err);

    netlib_decision_free(decision);
    netlib_response_free(response);
    netlib_error_free(failure);
    return status;
}

/* --- main --------------------------------------------------------------------------------------------------------- */

static netlib_limit *volatile overall_limit;

/* Cancels the limit of all waiting calls, which then return at once. netlib_limit_cancel may be called in a signal
 * handler. */
static void on_interrupt(int signal_number) {
    (void)signal_number;
    netlib_limit_cancel(overall_limit);
}

static void handle_interrupts(netlib_limit *limit) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    overall_limit = limit;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static netlib_status start(struct client *client, struct request *request, netlib_error **err) {
    const struct options *options = client->options;
    client->trace = (struct trace){.on = options->verbose, .output = &client->output};
    output_init(&client->output, options->output);
    netlib_status status = request_init(request, options, err);
    if (status == NETLIB_OK) status = netlib_limit_new(options->max_time, NULL, &client->limit, err);
    if (status != NETLIB_OK) return status;
    handle_interrupts(client->limit);
    netlib_body_set_limit(request->body, client->limit);
    return route_init(&client->route, options, request->url, &client->trace, err);
}

static void free_client(struct client *client) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    route_free(&client->route);
    netlib_limit_free(client->limit);
    output_free(&client->output);
}

static enum exit_code fetch(const struct options *options) {
    struct client client = {.options = options};
    struct request request;
    netlib_error *err = NULL;
    bool done = false;

    netlib_status status = start(&client, &request, &err);
    while (status == NETLIB_OK && !done) status = attempt(&client, &request, &done, &err);

    enum exit_code code =
        done ? report_status(client.status) : report_failure(options, &client.output, client.attempts, status, err);
    netlib_error_free(err);
    request_free(&request);
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
    sockets_init(&options.sockets);
    enum exit_code code = EXIT_USAGE;
    if (parse_options(&options, argc, argv)) {
        if (options.help) print_help();
        code = options.help ? EXIT_DONE : fetch(&options);
    }
    free_options(&options);
    return (int)code;
}
