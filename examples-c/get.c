/* get.c - downloads one URL with the recommended settings, and writes the response's body to standard output:
 *
 *     cc get.c $(pkg-config --cflags --libs netlib) -o get
 *     ./get https://example.com/
 *
 * Read this file from main upwards. fetch.c is a larger program, with options, proxies and request bodies. */
#include <netlib.h>
#include <stdio.h>

/* The state that all attempts share. */
struct client {
    netlib_tls_context *tls;
    netlib_limit *limit; /* bounds the whole download: all attempts, and the waits between them */
    netlib_headers *headers;
};

/* Connects, sends the request, and reads the head of the response. */
static netlib_status exchange(const struct client *client, const netlib_url *url, netlib_stream **stream,
                              netlib_response **response, netlib_error **err) {
    netlib_request *request = NULL;
    size_t len = 0, n = 0;
    netlib_status status = netlib_request_new("GET", url, client->headers, NETLIB_REQUEST_FORM_ORIGIN, &request, err);
    const char *head = netlib_request_to_wire(request, &len);
    if (status == NETLIB_OK) status = netlib_stream_connect(url, client->tls, NULL, client->limit, stream, err);
    if (status == NETLIB_OK) status = netlib_stream_write(*stream, head, len, &n, err);
    if (status == NETLIB_OK) status = netlib_stream_read_response(*stream, "GET", response, err);
    netlib_request_free(request);
    return status;
}

/* Writes the response's body to standard output. */
static netlib_status write_body(netlib_stream *stream, const netlib_response *response, netlib_error **err) {
    netlib_body_decoder *decoder = NULL;
    char buffer[16384];
    size_t n = 0;
    netlib_status status = netlib_body_decoder_new(response, &decoder, err);
    while (status == NETLIB_OK) {
        status = netlib_stream_read_body(stream, decoder, buffer, sizeof buffer, &n, err);
        if (fwrite(buffer, 1, n, stdout) != n) break;
    }
    netlib_body_decoder_free(decoder);
    if (status != NETLIB_OK && status != NETLIB_END_OF_STREAM) return status; /* END_OF_STREAM: the body is complete */
    if (fflush(stdout) == 0 && !ferror(stdout)) return NETLIB_OK;
    status = netlib_error_new(NETLIB_APPLICATION_ERROR, "cannot write the body", NULL, err, NULL);
    return status == NETLIB_OK ? NETLIB_APPLICATION_ERROR : status;
}

/* Makes one attempt, and asks the retry policy for the next step. If the next step is to return the response, writes
 * its body. */
static netlib_status attempt(struct client *client, const netlib_retry *retry, const netlib_url *url,
                             netlib_decision **decision, netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_response *response = NULL;
    netlib_headers *headers = NULL;
    netlib_error *failure = NULL;
    netlib_status status = exchange(client, url, &stream, &response, &failure);
    status = netlib_retry_decide(retry, "GET", url, response, failure, client->limit, decision, err);
    if (status == NETLIB_OK && netlib_decision_action(*decision) == NETLIB_ACTION_RETURN_RESPONSE) {
        int32_t http_status = netlib_response_status(response);
        if (http_status >= 400) fprintf(stderr, "the response has the status %d\n", (int)http_status);
        status = write_body(stream, response, err);
    } else if (status == NETLIB_OK) {
        status = netlib_decision_headers(*decision, client->headers, &headers, err); /* drops credentials if needed */
        if (status == NETLIB_OK) netlib_headers_free(client->headers), client->headers = headers;
        if (status == NETLIB_OK) status = netlib_decision_sleep(*decision, client->limit, err);
    }
    netlib_stream_free(stream), netlib_response_free(response), netlib_error_free(failure);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s URL\n", argv[0]) < 0 ? 1 : 2;
    struct client client = {0};
    const netlib_retry *retry = netlib_retry_recommended();
    const netlib_header_field fields[] = {{"connection", "close"}};
    netlib_decision *decision = NULL, *next = NULL;
    netlib_url *start = NULL;
    netlib_error *err = NULL;

    netlib_status status = netlib_set_default_timeout(20.0, &err); /* to connect, and between two reads */
    if (status == NETLIB_OK) status = netlib_limit_new(120.0, NULL, &client.limit, &err);
    if (status == NETLIB_OK) status = netlib_tls_context_new(NULL, &client.tls, &err);
    if (status == NETLIB_OK) status = netlib_headers_new(fields, 1, &client.headers, &err);
    if (status == NETLIB_OK) status = netlib_parse_url_strict(argv[1], NETLIB_NTS, &start, &err);
    const netlib_url *url = start;
    while (status == NETLIB_OK) {
        status = attempt(&client, retry, url, &next, &err);
        netlib_decision_free(decision), decision = next; /* owns the Retry and the URL of the next attempt */
        if (netlib_decision_action(decision) == NETLIB_ACTION_RETURN_RESPONSE) break;
        retry = netlib_decision_retry(decision), url = netlib_decision_url(decision);
    }
    if (err != NULL) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));
    netlib_error_free(err), netlib_decision_free(decision), netlib_url_free(start);
    netlib_headers_free(client.headers), netlib_tls_context_free(client.tls), netlib_limit_free(client.limit);
    return status != NETLIB_OK;
}
