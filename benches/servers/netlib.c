/*
 * netlib.c - the client of the table `servers` that uses netlib.
 *
 * usage: netlib [no-delay-off]
 */
#include "client.h"

#include <netlib.h>
#include <stdbool.h>

struct client {
    netlib_tls_context *tls;
    netlib_connect_options *options;
};

static void check(netlib_status status, netlib_error *err) {
    if (status != NETLIB_OK) fail(netlib_status_name(status), netlib_error_report(err, NULL));
}

/* Returns the number of bytes of the body. */
static size_t read_body(netlib_stream *stream, const netlib_response *response) {
    char buffer[16384];
    size_t n = 0, len = 0;
    netlib_body_decoder *decoder = NULL;
    netlib_error *err = NULL;
    netlib_status status = netlib_body_decoder_new(response, &decoder, &err);
    while (status == NETLIB_OK) {
        status = netlib_stream_read_body(stream, decoder, buffer, sizeof buffer, &n, &err);
        len += n;
    }
    if (status != NETLIB_END_OF_STREAM) check(status, err);
    netlib_body_decoder_free(decoder);
    return len;
}

static void send_request(void *ctx, const char *text) {
    const struct client *client = ctx;
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_request *request = NULL;
    netlib_limit *limit = NULL;
    netlib_stream *stream = NULL;
    netlib_response *response = NULL;
    size_t len = 0, n = 0;
    netlib_status status = netlib_parse_url_strict(text, NETLIB_NTS, &url, &err);
    if (status == NETLIB_OK) status = netlib_request_new("GET", url, NULL, NETLIB_REQUEST_FORM_ORIGIN, &request, &err);
    if (status == NETLIB_OK) status = netlib_limit_new(TIMEOUT, NULL, &limit, &err);
    if (status == NETLIB_OK) status = netlib_stream_connect(url, client->tls, client->options, limit, &stream, &err);
    const char *head = netlib_request_to_wire(request, &len);
    if (status == NETLIB_OK) status = netlib_stream_write(stream, head, len, &n, &err);
    if (status == NETLIB_OK) status = netlib_stream_read_response(stream, "GET", &response, &err);
    check(status, err);
    size_t body = read_body(stream, response);
    if (netlib_response_status(response) != 200 || body != BODY_SIZE) fail(text, "not the expected response");
    check(netlib_stream_shutdown(stream, &err), err);
    netlib_stream_free(stream);
    netlib_response_free(response);
    netlib_limit_free(limit);
    netlib_request_free(request);
    netlib_url_free(url);
}

int main(int argc, char **argv) {
    bool no_delay = argc < 2 || strcmp(argv[1], "no-delay-off") != 0;
    struct client client = {.options = netlib_connect_options_new()};
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    netlib_tls_options *tls = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(tls, CA);
    netlib_tls_options_set_resumption(tls, 0);
    check(netlib_tls_context_new(tls, &client.tls, &err), err);
    check(netlib_timeout_new(NETLIB_TIMEOUT_NONE, CONNECT_TIMEOUT, TIMEOUT, &timeout, &err), err);
    netlib_connect_options_use_timeout(client.options, timeout);
    if (!no_delay) netlib_connect_options_set_no_delay(client.options, 0);
    run(send_request, &client);
    netlib_timeout_free(timeout);
    netlib_connect_options_free(client.options);
    netlib_tls_context_free(client.tls);
    netlib_tls_options_free(tls);
    return 0;
}
