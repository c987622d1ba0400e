/* get.c - downloads one URL with the recommended settings, and writes the response's body to standard output:
 *
 *     cc get.c $(pkg-config --cflags --libs netlib) -o get
 *     ./get https://example.com/
 *
 * Read this file from main upwards. fetch.c is a larger program, with options, proxies and request bodies. */
#include <netlib.h>
#include <stdio.h>

/* Connects, sends the request of the present attempt, and reads the head of the response. Stores the stream and the
 * response, or the failure. */
static void exchange(const netlib_attempts *attempts, const netlib_tls_context *tls, netlib_stream **stream,
                     netlib_response **response, netlib_error **failure) {
    netlib_request *request = NULL;
    size_t len = 0, n = 0;
    netlib_status status = netlib_attempts_request(attempts, NETLIB_REQUEST_FORM_ORIGIN, &request, failure);
    const char *head = netlib_request_to_wire(request, &len), *method = netlib_attempts_method(attempts, NULL);
    const netlib_url *url = netlib_attempts_url(attempts);
    const netlib_limit *limit = netlib_attempts_limit(attempts);
    if (status == NETLIB_OK) status = netlib_stream_connect(url, tls, NULL, limit, stream, failure);
    if (status == NETLIB_OK) status = netlib_stream_write(*stream, head, len, &n, failure);
    if (status == NETLIB_OK) status = netlib_stream_read_response(*stream, method, response, failure);
    netlib_request_free(request);
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

/* Makes attempts until a response is the result of the request, and writes the body of this response. */
static netlib_status download(netlib_attempts *attempts, const netlib_tls_context *tls, netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_response *response = NULL;
    netlib_status status;
    do {
        netlib_error *failure = NULL;
        netlib_stream_free(stream), stream = NULL;
        netlib_response_free(response), response = NULL;
        exchange(attempts, tls, &stream, &response, &failure);
        status = netlib_attempts_next(attempts, response, failure, err); /* decides, and waits before a retry */
        netlib_error_free(failure);
    } while (status == NETLIB_SEND_AGAIN);
    if (status == NETLIB_OK) {
        int32_t http_status = netlib_response_status(response);
        if (http_status >= 400) fprintf(stderr, "the response has the status %d\n", (int)http_status);
        status = write_body(stream, response, err);
    }
    netlib_stream_free(stream), netlib_response_free(response);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s URL\n", argv[0]) < 0 ? 1 : 2;
    const netlib_retry *retry = netlib_retry_recommended();
    const netlib_header_field fields[] = {{"connection", "close"}};
    netlib_tls_context *tls = NULL;
    netlib_limit *limit = NULL; /* bounds the whole download: all attempts, and the waits between them */
    netlib_headers *headers = NULL;
    netlib_url *url = NULL;
    netlib_attempts *attempts = NULL;
    netlib_error *err = NULL;

    netlib_status status = netlib_set_default_timeout(20.0, &err); /* to connect, and between two reads */
    if (status == NETLIB_OK) status = netlib_limit_new(120.0, NULL, &limit, &err);
    if (status == NETLIB_OK) status = netlib_tls_context_new(NULL, &tls, &err);
    if (status == NETLIB_OK) status = netlib_headers_new(fields, 1, &headers, &err);
    if (status == NETLIB_OK) status = netlib_parse_url_strict(argv[1], NETLIB_NTS, &url, &err);
    if (status == NETLIB_OK) status = netlib_attempts_new(retry, "GET", url, headers, 0, limit, &attempts, &err);
    if (status == NETLIB_OK) status = download(attempts, tls, &err);
    if (err != NULL) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));
    netlib_error_free(err), netlib_attempts_free(attempts), netlib_url_free(url), netlib_headers_free(headers);
    netlib_tls_context_free(tls), netlib_limit_free(limit);
    return status != NETLIB_OK;
}
