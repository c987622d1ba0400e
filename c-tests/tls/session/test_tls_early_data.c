/* Tests the calls that write early data in sessions that can send none, because netlib's servers do not allow early
 * data. The suite `interop` tests early data with OpenSSL servers, and unit tests cover servers that accept or reject
 * early data. */
#include "tls_wire.h"

static const char request[] = "GET / HTTP/1.1\r\n\r\n";

static netlib_tls_options *willing_options(void) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_early_data(options, 1);
    return options;
}

static void early_data_requires_resumption_and_at_most_one_alpn_protocol(void) {
    static const struct {
        int32_t on, protocols, resumption;
        netlib_status status;
        const char *message, *advice;
    } rows[] = {
        {0, 2, 1, NETLIB_OK, NULL, NULL},
        {1, 0, 1, NETLIB_OK, NULL, NULL},
        {1, 1, 1, NETLIB_OK, NULL, NULL},
        {0, 0, 0, NETLIB_OK, NULL, NULL},
        {1, 2, 1, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_set_early_data: early data is sent before an ALPN protocol is negotiated, and "
         "several protocols are offered",
         "to offer a single protocol: netlib_tls_options_add_alpn_protocol, called once"},
        {1, 0, 0, NETLIB_INVALID_ARGUMENT,
         "netlib_tls_options_set_early_data: early data needs resumption, which is off",
         "to turn it on: netlib_tls_options_set_resumption with 1"},
        {2, 0, 1, NETLIB_INVALID_ARGUMENT, "netlib_tls_options_set_early_data: on must be 0 or 1; it is 2", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_early_data(options, rows[i].on);
        if (rows[i].protocols > 0) netlib_tls_options_add_alpn_protocol(options, "http/1.1");
        if (rows[i].protocols > 1) netlib_tls_options_add_alpn_protocol(options, "h2");
        netlib_tls_options_set_resumption(options, rows[i].resumption);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STR(rows[i].advice, netlib_error_advice(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(rows[i].on == 1 && status == NETLIB_OK, netlib_tls_context_early_data(context));
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
    netlib_tls_context *context = client_context();
    CHECK(!netlib_tls_context_early_data(context));
    netlib_tls_options *options = netlib_tls_context_to_options(context);
    netlib_tls_options_set_early_data(options, 1);
    netlib_tls_context *other = context_of(options);
    CHECK(netlib_tls_context_early_data(other));
    netlib_tls_context_free(context);
    netlib_tls_context_free(other);
}

static void check_engine(netlib_tls_engine *engine) {
    netlib_error *err = NULL;
    size_t n = 7, before = netlib_tls_engine_output_pending(engine);
    CHECK_INT(0, (long long)netlib_tls_engine_early_data_left(engine));
    CHECK_OK(netlib_tls_engine_write_early_data(engine, request, sizeof request - 1, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_OK(netlib_tls_engine_write_early_data(engine, NULL, 0, &n, &err));
    CHECK_INT(0, (long long)netlib_tls_engine_early_data_written(engine));
    CHECK_INT(NETLIB_EARLY_DATA_NOT_SENT, netlib_tls_engine_early_data_status(engine));
    CHECK_INT((long long)before, (long long)netlib_tls_engine_output_pending(engine));
}

/* The first client has no session to resume. The later clients have tickets that do not allow early data. Both sides
 * try to write early data before and after the handshake. */
static void engines_write_no_early_data_without_a_ticket_that_allows_it(void) {
    netlib_tls_context *near = context_of(willing_options()), *far = server_context("server");
    for (int round = 0; round < 3; round++) {
        netlib_error *err = NULL;
        char out[100];
        struct wire wire = wire_of(near, far, 20000);
        check_engine(wire.client);
        check_engine(wire.server);
        struct handshake_result result = run_handshake(&wire);
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, result);
        CHECK_INT(round > 0, netlib_tls_engine_is_resumed(wire.client));
        check_engine(wire.client);
        check_engine(wire.server);
        CHECK_INT((long long)sizeof request - 1, (long long)transfer(&wire, false, request, out, sizeof out));
        CHECK_INT(4, (long long)transfer(&wire, true, "okay", out, sizeof out));
        CHECK_OK(netlib_tls_engine_shutdown(wire.client, &err));
        size_t n = 0;
        CHECK_STATUS(NETLIB_CLOSED, netlib_tls_engine_write_early_data(wire.client, request, 1, &n, &err));
        free_wire(&wire);
    }
    netlib_tls_context_free(near);
    netlib_tls_context_free(far);
}

/* Runs the example in the documentation of netlib_stream_write_early_data with a server that does not allow early
 * data. */
static void streams_write_no_early_data_without_a_ticket_that_allows_it(void) {
    netlib_tls_context *near = context_of(willing_options()), *far = server_context("server");
    for (int round = 0; round < 2; round++) {
        netlib_error *err = NULL;
        char buf[100];
        size_t n = 7, written = 0, len = sizeof request - 1;
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_ECHO, .context = far, .fd = pair.far};
        server_start(&server);
        netlib_stream *stream = wrap(near, pair.near, "localhost");
        CHECK_INT(0, (long long)netlib_stream_early_data_left(stream));
        CHECK_OK(netlib_stream_write_early_data(stream, request, len, &n, &err));
        CHECK_INT(0, (long long)n);
        CHECK_INT(0, (long long)netlib_stream_early_data_written(stream));
        CHECK_OK(netlib_stream_handshake(stream, &err));
        CHECK_INT(NETLIB_EARLY_DATA_NOT_SENT, netlib_stream_early_data_status(stream));
        if (netlib_stream_early_data_status(stream) != NETLIB_EARLY_DATA_ACCEPTED) n = 0;
        CHECK_OK(netlib_stream_write(stream, request + n, len - n, &written, &err));
        CHECK_OK(netlib_stream_read(stream, buf, sizeof buf, &n, &err));
        CHECK_INT((long long)len, (long long)n);
        CHECK_INT(round > 0, netlib_stream_is_resumed(stream));
        CHECK_OK(netlib_stream_shutdown(stream, &err));
        CHECK_STATUS(NETLIB_CLOSED, netlib_stream_write_early_data(stream, request, len, &n, &err));
        CHECK_INT(0, (long long)n);
        close(pair.near);
        server_join(&server);
        netlib_stream_free(stream);
    }
    netlib_tls_context_free(near);
    netlib_tls_context_free(far);
}

int main(void) {
    early_data_requires_resumption_and_at_most_one_alpn_protocol();
    engines_write_no_early_data_without_a_ticket_that_allows_it();
    streams_write_no_early_data_without_a_ticket_that_allows_it();
    return report("tls_early_data");
}
