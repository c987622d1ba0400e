/* get.c - downloads one URL with the recommended settings, and writes the response's body to standard output:
 *
 *     cc get.c $(pkg-config --cflags --libs netlib) -o get
 *     ./get https://example.com/
 *
 * Read this file from main upwards. fetch.c is a larger program, with options, proxies and request bodies. */
#include <netlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The state that all attempts share. */
struct client {
    netlib_tls_context *tls;
    netlib_limit *limit; /* bounds the whole download: all attempts, and the waits between them */
    netlib_headers *headers;
    char buffer[NETLIB_RESPONSE_HEAD_MAX]; /* received bytes */
    size_t start, end;                     /* the part of the buffer that is not used yet */
};

static netlib_status fail(netlib_status status, const char *message, netlib_error **err) {
    netlib_status made = netlib_error_new(status, message, NULL, err, NULL);
    return made == NETLIB_OK ? status : made;
}

/* Connects to the fastest address of the URL's host, and makes a stream: a TLS stream if the scheme is https. */
static netlib_status open_stream(const struct client *client, const netlib_url *url, int *fd, netlib_stream **stream,
                                 netlib_error **err) {
    const char *host = netlib_url_host(url, NULL);
    netlib_connect *connect = NULL;
    netlib_status status = netlib_connect_new(host, netlib_url_port_or_default(url), NULL, &connect, err);
    if (status == NETLIB_OK) status = netlib_connect_run(connect, client->limit, fd, err);
    netlib_connect_free(connect);
    if (status != NETLIB_OK) return status;
    bool with_tls = strcmp(netlib_url_scheme(url, NULL), "https") == 0;
    status =
        with_tls ? netlib_tls_wrap_fd(client->tls, *fd, host, stream, err) : netlib_stream_new_fd(*fd, stream, err);
    netlib_stream_set_limit(*stream, client->limit);
    return status == NETLIB_OK ? netlib_stream_set_read_timeout(*stream, NETLIB_TIMEOUT_DEFAULT, err) : status;
}

/* Sends the request, and receives the head of the response. The first write makes the TLS handshake. */
static netlib_status exchange(struct client *client, const netlib_url *url, netlib_stream *stream,
                              netlib_response **response, netlib_error **err) {
    netlib_request *request = NULL;
    uint64_t state = 0;
    size_t len = 0, n = 0;
    netlib_status status = netlib_request_new("GET", url, client->headers, NETLIB_REQUEST_FORM_ORIGIN, &request, err);
    const char *head = netlib_request_to_wire(request, &len);
    if (status == NETLIB_OK) status = netlib_stream_write(stream, head, len, &n, err);
    netlib_request_free(request);
    client->end = 0;
    while (status == NETLIB_OK && *response == NULL) {
        char *end = client->buffer + client->end;
        status = netlib_stream_read(stream, end, sizeof client->buffer - client->end, &n, err);
        if (status != NETLIB_OK) break;
        client->end += n;
        status = netlib_response_parse_final("GET", client->buffer, client->end, &state, response, &client->start, err);
        if (status == NETLIB_WANT_READ) status = NETLIB_OK;
    }
    return status == NETLIB_END_OF_STREAM ? fail(NETLIB_PROTOCOL, "the response has no complete head", err) : status;
}

/* Writes the response's body to standard output. */
static netlib_status write_body(struct client *client, netlib_stream *stream, const netlib_response *response,
                                netlib_error **err) {
    netlib_body_decoder *decoder = NULL;
    const uint8_t *piece = NULL;
    size_t consumed = 0, len = 0;
    netlib_status status = netlib_body_decoder_new(response, &decoder, err);
    while (status == NETLIB_OK) {
        const char *data = client->buffer + client->start;
        status = netlib_body_decoder_decode(decoder, data, client->end - client->start, &consumed, &piece, &len, err);
        client->start += consumed;
        if (status == NETLIB_OK && fwrite(piece, 1, len, stdout) != len) break;
        if (status != NETLIB_WANT_READ) continue;
        client->start = 0;
        status = netlib_stream_read(stream, client->buffer, sizeof client->buffer, &client->end, err);
        if (status == NETLIB_END_OF_STREAM) status = netlib_body_decoder_end(decoder, err);
    }
    netlib_body_decoder_free(decoder);
    if (status != NETLIB_OK && status != NETLIB_END_OF_STREAM) return status; /* END_OF_STREAM: the body is complete */
    return fflush(stdout) == 0 && !ferror(stdout) ? NETLIB_OK : fail(NETLIB_IO, "cannot write the body", err);
}

/* Makes one attempt, and asks the retry policy for the next step. If that is a response, writes the body. */
static netlib_status attempt(struct client *client, const netlib_retry *retry, const netlib_url *url,
                             netlib_decision **decision, netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_response *response = NULL;
    netlib_headers *headers = NULL;
    netlib_error *failure = NULL;
    int fd = -1;
    netlib_status status = open_stream(client, url, &fd, &stream, &failure);
    if (status == NETLIB_OK) status = exchange(client, url, stream, &response, &failure);
    status = netlib_retry_decide(retry, "GET", url, response, failure, client->limit, decision, err);
    if (status == NETLIB_OK && netlib_decision_action(*decision) == NETLIB_ACTION_RETURN_RESPONSE) {
        int32_t http_status = netlib_response_status(response);
        if (http_status >= 400) fprintf(stderr, "the response has the status %d\n", (int)http_status);
        status = write_body(client, stream, response, err);
    } else if (status == NETLIB_OK) {
        status = netlib_decision_headers(*decision, client->headers, &headers, err); /* drops credentials if needed */
        if (status == NETLIB_OK) netlib_headers_free(client->headers), client->headers = headers;
        if (status == NETLIB_OK) status = netlib_decision_sleep(*decision, client->limit, err);
    }
    netlib_stream_free(stream), netlib_response_free(response), netlib_error_free(failure);
    if (fd >= 0) close(fd);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s URL\n", argv[0]) < 0 ? 1 : 2;
    static struct client client;
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
