/* Tests callbacks that store nothing, as a callback of a language binding does after an exception. The call that runs
 * such a callback fails. Other results of callbacks are tested in the test programs of each handle type. */
#define _GNU_SOURCE
#include "callbacks.h"
#include "tls_wire.h"

/* Each function whose name begins with `of_` makes one call that runs such a callback, and returns the status of that
 * call. */

static netlib_status of_clock(netlib_error **err) {
    netlib_timeout *timeout = NULL;
    CHECK_INT(NETLIB_OK, netlib_timeout_new(1, 1, 1, &timeout, err));
    CHECK_INT(NETLIB_OK, netlib_timeout_set_clock(timeout, raise_number, NULL, NULL, err));
    netlib_status status = netlib_timeout_start_connect(timeout, err);
    netlib_timeout_free(timeout);
    return status;
}

static netlib_status of_wall_clock(netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, raise_number, NULL, NULL);
    netlib_retry *retry = retry_after_failures(options);
    double seconds = 0;
    netlib_status status = netlib_retry_parse_retry_after(retry, "Sun, 06 Nov 1994 08:49:47 GMT", &seconds, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_status of_sleep(netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_sleep(options, raise_sleep, NULL, NULL);
    netlib_retry *retry = retry_after_failures(options);
    netlib_status status = netlib_retry_sleep(retry, NULL, NULL, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_status of_random(netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_random(options, raise_number, NULL, NULL);
    netlib_retry *retry = retry_after_failures(options);
    double seconds = 0;
    netlib_status status = netlib_retry_get_backoff_time(retry, &seconds, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_body *raising_body(void) {
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    CHECK_OK(netlib_body_new(raise_count, raise_tell, raise_seek, raise_is_closed, NULL, NULL, &body, &err));
    return body;
}

static netlib_status of_body_read(netlib_error **err) {
    netlib_body *body = raising_body();
    char byte;
    size_t n = 99;
    netlib_status status = netlib_body_read(body, &byte, 1, &n, err);
    CHECK_INT(0, (long long)n);
    netlib_body_free(body);
    return status;
}

/* As in urllib3, a body whose tell callback raises an exception can be sent once, but not again. */
static netlib_status of_body_tell(netlib_error **err) {
    netlib_body *body = raising_body();
    int64_t pos = 99;
    CHECK_INT(NETLIB_OK, netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, err));
    CHECK_INT(NETLIB_POSITION_FAILED, pos);
    netlib_status status = netlib_rewind_body(body, pos, err);
    netlib_body_free(body);
    return status;
}

static netlib_status of_body_seek(netlib_error **err) {
    netlib_body *body = raising_body();
    netlib_status status = netlib_rewind_body(body, 0, err);
    netlib_body_free(body);
    return status;
}

static netlib_status of_body_is_closed(netlib_error **err) {
    netlib_body *body = raising_body();
    int32_t closed = 1;
    netlib_status status = netlib_is_fp_closed(body, &closed, err);
    netlib_body_free(body);
    return status;
}

static netlib_status connect_one_way(netlib_connect_options *options, bool race, const char *host, netlib_error **err) {
    int fd = 0;
    netlib_status status = NETLIB_OK;
    if (race) {
        netlib_connect *connect = NULL;
        CHECK_INT(NETLIB_OK, netlib_connect_new(host, 9, options, &connect, err));
        status = netlib_connect_run(connect, NULL, &fd, err);
        netlib_connect_free(connect);
    } else {
        status = netlib_create_connection(host, 9, options, NULL, &fd, err);
    }
    CHECK_INT(-1, fd);
    netlib_connect_options_free(options);
    return status;
}

static netlib_connect_options *raising_address(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, raise_address, NULL, NULL);
    return options;
}

static netlib_status of_address(netlib_error **err) {
    return connect_one_way(raising_address(), false, "127.0.0.1", err);
}
static netlib_status of_address_racing(netlib_error **err) {
    return connect_one_way(raising_address(), true, "127.0.0.1", err);
}

static netlib_connect_options *raising_resolver(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, raise_resolve, NULL, NULL);
    return options;
}

static netlib_status of_resolve(netlib_error **err) {
    return connect_one_way(raising_resolver(), false, "name.test", err);
}
static netlib_status of_resolve_racing(netlib_error **err) {
    return connect_one_way(raising_resolver(), true, "name.test", err);
}

static netlib_status of_tls_wall_clock(netlib_error **err) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_wall_clock(options, raise_number, NULL, NULL);
    netlib_tls_context *client = context_of(options), *server = server_context("server");
    struct wire wire = wire_of(client, server, 20000);
    CHECK_INT(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {}
    CHECK_INT(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, err));
    while (move_piece(&wire, wire.server, wire.client) > 0) {}
    /* This handshake call verifies the server's certificate, and for that purpose calls the wall clock. */
    netlib_status status = netlib_tls_engine_handshake(wire.client, err);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return status;
}

static netlib_status of_tls_servername(netlib_error **err) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_servername_callback(options, raise_servername, NULL, NULL);
    netlib_tls_context *server = context_of(options), *client = client_context();
    struct wire wire = wire_of(client, server, 20000);
    CHECK_INT(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {}
    netlib_status status = netlib_tls_engine_handshake(wire.server, err);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return status;
}

static netlib_status handshake_over(netlib_stream_read_fn read_fn, netlib_stream_write_fn write_fn,
                                    netlib_error **err) {
    netlib_tls_context *context = client_context();
    netlib_stream *stream = NULL;
    CHECK_INT(NETLIB_OK, netlib_tls_wrap_callbacks(context, "localhost", read_fn, write_fn, NULL, NULL, &stream, err));
    netlib_status status = netlib_stream_handshake(stream, err);
    netlib_stream_free(stream);
    netlib_tls_context_free(context);
    return status;
}

static netlib_status of_tls_read(netlib_error **err) { return handshake_over(raise_count, write_all, err); }
static netlib_status of_tls_write(netlib_error **err) { return handshake_over(raise_count, raise_write, err); }

static void calls_fail_if_their_callback_raises_an_exception(void) {
    static const struct {
        const char *type;
        netlib_status (*call)(netlib_error **err);
        netlib_status expected;
    } rows[] = {
        {"netlib_clock_fn", of_clock, NETLIB_CALLBACK_FAILED},
        {"netlib_wall_clock_fn", of_wall_clock, NETLIB_CALLBACK_FAILED},
        {"netlib_sleep_fn", of_sleep, NETLIB_CALLBACK_FAILED},
        {"netlib_random_fn", of_random, NETLIB_CALLBACK_FAILED},
        {"netlib_body_read_fn", of_body_read, NETLIB_CALLBACK_FAILED},
        {"netlib_body_tell_fn", of_body_tell, NETLIB_UNREWINDABLE_BODY},
        {"netlib_body_seek_fn", of_body_seek, NETLIB_UNREWINDABLE_BODY},
        {"netlib_body_is_closed_fn", of_body_is_closed, NETLIB_CALLBACK_FAILED},
        {"netlib_address_fn", of_address, NETLIB_CALLBACK_FAILED},
        {"netlib_address_fn, racing", of_address_racing, NETLIB_CALLBACK_FAILED},
        {"netlib_resolve_fn", of_resolve, NETLIB_NAME_RESOLUTION},
        {"netlib_resolve_fn, racing", of_resolve_racing, NETLIB_NAME_RESOLUTION},
        {"netlib_wall_clock_fn of TLS", of_tls_wall_clock, NETLIB_CALLBACK_FAILED},
        {"netlib_tls_servername_fn", of_tls_servername, NETLIB_CALLBACK_FAILED},
        {"netlib_stream_read_fn", of_tls_read, NETLIB_CALLBACK_FAILED},
        {"netlib_stream_write_fn", of_tls_write, NETLIB_CALLBACK_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        unsigned long failed_before = checks_failed;
        raised = 0;
        CHECK_STATUS(rows[i].expected, rows[i].call(&err));
        CHECK_INT(1, raised);
        if (checks_failed > failed_before) fprintf(stderr, "    %s\n", rows[i].type);
    }
}

/* The ctx of an address callback that fails in its call number `fails_at`, counted from 0, and allows the address in
 * all other calls. */
struct nth {
    int fails_at, calls;
};

static void fail_at(void *ctx, const void *address, size_t len, int32_t classes, enum netlib_verdict *verdict) {
    struct nth *nth = ctx;
    (void)address, (void)len, (void)classes;
    *verdict = nth->calls++ == nth->fails_at ? NETLIB_VERDICT_FAILED : NETLIB_VERDICT_ALLOW;
}

/* Resolves every name to two addresses: first an address that refuses connections, then the address in `ctx`. */
static int32_t two_addresses(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *list) {
    const struct sockaddr_in *listening = ctx;
    (void)host, (void)port, (void)seconds_left;
    /* Nothing listens on port 1. */
    struct sockaddr_in refusing = *listening;
    refusing.sin_port = htons(1);
    if (netlib_addresses_add(list, &refusing, sizeof refusing, NULL) != NETLIB_OK) return NETLIB_IO;
    return netlib_addresses_add(list, listening, sizeof *listening, NULL);
}

static void no_further_address_is_tried_after_an_address_callback_fails(void) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    CHECK(bind(server, (struct sockaddr *)&at, size) == 0 && listen(server, 8) == 0);
    CHECK(getsockname(server, (struct sockaddr *)&at, &size) == 0);
    for (int fails_at = 0; fails_at < 3; fails_at++) {
        for (int race = 0; race < 2; race++) {
            netlib_error *err = NULL;
            struct nth nth = {fails_at, 0};
            netlib_connect_options *options = netlib_connect_options_new();
            netlib_connect_options_set_resolve_callback(options, two_addresses, &at, NULL);
            netlib_connect_options_set_address_callback(options, fail_at, &nth, NULL);
            int fd = -1;
            netlib_status status = NETLIB_OK;
            netlib_connect *connect = NULL;
            if (race) {
                CHECK_OK(netlib_connect_new("name.test", 80, options, &connect, &err));
                status = netlib_connect_run(connect, NULL, &fd, &err);
            } else {
                status = netlib_create_connection("name.test", 80, options, NULL, &fd, &err);
            }
            if (fails_at < 2) {
                CHECK_INT(fails_at + 1, (long long)netlib_error_cause_count(err));
                CHECK_INT(NETLIB_CALLBACK_FAILED, netlib_error_status(netlib_error_cause(err, (size_t)fails_at)));
                CHECK_INT(-1, fd);
                CHECK_STATUS(NETLIB_CALLBACK_FAILED, status);
                CHECK_INT(fails_at + 1, nth.calls);
                /* A later call of netlib_connect_step returns the same status and runs no callback. */
                if (race) CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_connect_step(connect, &fd, &err));
                CHECK_INT(fails_at + 1, nth.calls);
            } else {
                CHECK_OK(status);
                CHECK(fd >= 0);
                close(fd);
            }
            netlib_connect_free(connect);
            netlib_connect_options_free(options);
        }
    }
    close(server);
}

int main(void) {
    calls_fail_if_their_callback_raises_an_exception();
    no_further_address_is_tried_after_an_address_callback_fails();
    return report("callbacks");
}
