/* Tests netlib_connect_options_use_timeout and netlib_stream_use_timeout: which limits of a timeout they copy, when the
 * total limit passes, and the status of a call that the total limit ends. */
#define _GNU_SOURCE
#include "race_peer.h"
#undef LONG /* tls_peer.h defines LONG as well */
#include "tls_peer.h"

/* SOON is the time in seconds until a total limit passes. */
#define SOON 0.05
static const double NONE = NETLIB_TIMEOUT_NONE;

/* The time that the clock callback returns. */
static double fake_time;

static int32_t tell_fake_time(void *ctx, double *now) {
    (void)ctx;
    *now = fake_time;
    return 0;
}

static int32_t fail_to_tell_time(void *ctx, double *now) {
    (void)ctx, (void)now;
    return 1;
}

static netlib_timeout *timeout_of(double total, double connect, double read) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    CHECK_OK(netlib_timeout_new(total, connect, read, &timeout, &err));
    return timeout;
}

/* Returns a timeout with a total limit of 100 seconds, of which `left` seconds are left. */
static netlib_timeout *timeout_with_rest(double left, double connect, double read) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = timeout_of(100, connect, read);
    CHECK_OK(netlib_timeout_set_clock(timeout, tell_fake_time, NULL, NULL, &err));
    fake_time = 5000;
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    fake_time = 5100 - left;
    return timeout;
}

static netlib_connect_options *options_using(netlib_timeout *timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_use_timeout(options, timeout);
    /* The options have copied the limits of the timeout. */
    netlib_timeout_free(timeout);
    return options;
}

static void a_connect_operation_returns_connect_timeout_after_its_total_limit(void) {
    int32_t port = 0;
    int filler = -1, silent = silent_listener(&port, &filler);
    /* The clock of the timeout has been started only in the second round. */
    for (int started = 0; started < 2; started++) {
        netlib_connect_options *options =
            options_using(started ? timeout_with_rest(SOON, NONE, NONE) : timeout_of(SOON, NONE, NONE));
        for (int call = 0; call < 3; call++) {
            netlib_error *err = NULL;
            int fd = -1;
            netlib_status status;
            double began = netlib_current_time();
            netlib_connect *connect = connect_to_ports(&port, 1, options);
            if (call == 0) status = netlib_connect_run(connect, NULL, &fd, &err);
            else if (call == 1) status = step_to_the_end(connect, &fd, &err);
            else status = netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err);
            CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
            double took = netlib_current_time() - began;
            CHECK(took < 10.0);
            /* Without a running clock, the total limit starts anew with each operation. */
            if (!started) CHECK(took >= SOON - 0.001);
            if (started && call > 0) CHECK(took < SOON || under_valgrind());
            netlib_connect_free(connect);
        }
        netlib_connect_options_free(options);
    }
    close(filler);
    close(silent);
}

static void the_connect_limit_applies_to_each_address(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int filler = -1, fd = -1, silent = silent_listener(&port, &filler);
    const int32_t ports[] = {port, port};
    netlib_connect_options *options = options_using(timeout_of(NONE, SOON, NONE));
    netlib_connect *connect = connect_to_ports(ports, 2, options);
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, netlib_connect_run(connect, NULL, &fd, &err));
    CHECK_INT(2, (long long)netlib_connect_attempt_count(connect));
    double end = netlib_connect_attempt_end(connect, 1), start = netlib_connect_attempt_start(connect, 1);
    CHECK(end - start >= SOON - 0.001);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    close(filler);
    close(silent);
}

static void a_total_limit_ends_an_operation_that_waits_for_addresses(void) {
    netlib_error *err = NULL;
    int fd = -1;
    double soon = under_valgrind() ? 3.0 : 0.3;
    netlib_connect_options *options = options_using(timeout_of(soon, NONE, NONE));
    netlib_connect_options_set_supply_addresses(options, 1);
    netlib_connect *connect = connect_to("name.test", 80, options);
    CHECK_STATUS(NETLIB_WANT_ADDRESSES, netlib_connect_step(connect, &fd, &err));
    CHECK(netlib_connect_wait_seconds(connect) <= soon);
    wait_once(connect);
    netlib_status status = netlib_connect_step(connect, &fd, &err);
    CHECK_STR("cannot connect to name.test port 80: the total timeout has passed", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, status);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
}

static void connect_new_refuses_a_null_timeout_and_a_clock_that_goes_backwards(void) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    netlib_connect_options *options = options_using(NULL);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_connect_new("127.0.0.1", 80, options, &connect, &err));
    netlib_connect_options_free(options);

    netlib_timeout *timeout = timeout_with_rest(10, NONE, NONE);
    fake_time = 4000;
    options = options_using(timeout);
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_connect_new("127.0.0.1", 80, options, &connect, &err));
    netlib_connect_options_free(options);
}

/* A plain stream or a TLS stream whose peer sends nothing. */
struct quiet {
    struct pair pair;
    netlib_tls_context *context;
    netlib_stream *stream;
};

static struct quiet quiet_stream(bool with_tls) {
    netlib_error *err = NULL;
    struct quiet quiet = {.pair = unix_pair()};
    if (with_tls) {
        quiet.context = client_context();
        quiet.stream = wrap(quiet.context, quiet.pair.near, "localhost");
    } else {
        CHECK_OK(netlib_stream_new_fd(quiet.pair.near, &quiet.stream, &err));
    }
    return quiet;
}

static void free_quiet_stream(struct quiet *quiet) {
    netlib_stream_free(quiet->stream);
    netlib_tls_context_free(quiet->context);
    close_pair(quiet->pair);
}

static void reads_end_with_read_timeout_when_the_read_or_total_limit_has_passed(void) {
    static const struct {
        double rest, read; /* `rest` of the total limit; NETLIB_TIMEOUT_NONE for no total limit */
        const char *plain_message;
    } rows[] = {
        {SOON, 100, "the total timeout has passed"},
        {SOON, NETLIB_TIMEOUT_NONE, "the total timeout has passed"},
        {NETLIB_TIMEOUT_NONE, SOON, "nothing arrived from the peer for 0.05 s"},
        {1, SOON, "nothing arrived from the peer for 0.05 s"},
        {0, 50, "the total timeout has passed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int with_tls = 0; with_tls < 2; with_tls++) {
            netlib_error *err = NULL;
            char byte = 0;
            size_t n = 0;
            struct quiet quiet = quiet_stream(with_tls);
            /* A TLS client must send its ClientHello before the total limit passes. */
            double rest = with_tls && rows[i].rest > 0 ? rows[i].rest * (under_valgrind() ? 60 : 10) : rows[i].rest;
            netlib_timeout *timeout =
                rows[i].rest > 1e9 ? timeout_of(NONE, NONE, rows[i].read) : timeout_with_rest(rest, NONE, rows[i].read);
            CHECK_OK(netlib_stream_use_timeout(quiet.stream, timeout, &err));
            netlib_timeout_free(timeout);
            double began = netlib_current_time();
            netlib_status status = netlib_stream_read(quiet.stream, &byte, 1, &n, &err);
            double took = netlib_current_time() - began;
            CHECK(took < 10.0);
            if (rows[i].rest > 0) CHECK(took >= SOON / 2);
            if (!with_tls) CHECK_STR(rows[i].plain_message, netlib_error_message(err, NULL));
            /* Before a TLS client reads, it sends a ClientHello. */
            CHECK_STATUS(with_tls && rows[i].rest == 0 ? NETLIB_WRITE_TIMEOUT : NETLIB_READ_TIMEOUT, status);
            free_quiet_stream(&quiet);
        }
    }
}

static void reads_of_available_data_fail_after_the_total_limit_until_it_is_replaced(void) {
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    struct quiet quiet = quiet_stream(false);
    CHECK(write(quiet.pair.far, "x", 1) == 1);
    for (int blocking = 0; blocking < 2; blocking++) {
        CHECK_OK(netlib_stream_set_blocking(quiet.stream, blocking, &err));
        netlib_timeout *passed = timeout_with_rest(0, NONE, NONE);
        CHECK_OK(netlib_stream_use_timeout(quiet.stream, passed, &err));
        netlib_timeout_free(passed);
        CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_read(quiet.stream, &byte, 1, &n, &err));
    }
    netlib_timeout *without_total = timeout_of(NONE, NONE, 30);
    CHECK_OK(netlib_stream_use_timeout(quiet.stream, without_total, &err));
    netlib_timeout_free(without_total);
    CHECK_OK(netlib_stream_read(quiet.stream, &byte, 1, &n, &err));
    CHECK(n == 1 && byte == 'x');
    free_quiet_stream(&quiet);
}

static void an_expired_total_limit_ends_tls_reads_even_if_data_is_available(void) {
    netlib_error *err = NULL;
    char bytes[1000] = {0};
    size_t n = 0, received = 0;
    struct pair pair = unix_pair();
    netlib_tls_context *client = client_context(), *server = server_context("server");
    netlib_stream *near = wrap(client, pair.near, "localhost"), *far = accept_tls(server, pair.far);
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    for (int turn = 0; turn < 10; turn++) {
        bool near_is_done = netlib_stream_handshake(near, NULL) == NETLIB_OK;
        bool far_is_done = netlib_stream_handshake(far, NULL) == NETLIB_OK;
        if (near_is_done && far_is_done) break;
    }
    CHECK_OK(netlib_stream_write(far, bytes, sizeof bytes, &n, &err));
    CHECK_OK(netlib_stream_set_blocking(near, 1, &err));
    netlib_timeout *passed = timeout_with_rest(0, NONE, NONE);
    CHECK_OK(netlib_stream_use_timeout(near, passed, &err));
    netlib_timeout_free(passed);
    netlib_status status = NETLIB_OK;
    while (status == NETLIB_OK && received < sizeof bytes) {
        status = netlib_stream_read(near, bytes, sizeof bytes, &n, &err);
        received += n;
    }
    CHECK_STATUS(NETLIB_READ_TIMEOUT, status);
    CHECK_INT(0, (long long)received);
    netlib_stream_free(near);
    netlib_stream_free(far);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    close_pair(pair);
}

static void a_write_ends_with_write_timeout_when_the_total_limit_has_passed(void) {
    static char block[4 << 20];
    for (int passed = 0; passed < 2; passed++) {
        netlib_error *err = NULL;
        size_t n = 0;
        struct quiet quiet = quiet_stream(false);
        netlib_timeout *timeout = timeout_with_rest(passed ? 0 : SOON, NONE, NONE);
        CHECK_OK(netlib_stream_use_timeout(quiet.stream, timeout, &err));
        netlib_timeout_free(timeout);
        double began = netlib_current_time();
        netlib_status status = netlib_stream_write(quiet.stream, block, sizeof block, &n, &err);
        CHECK(netlib_current_time() - began < 10.0);
        CHECK_STR("the total timeout has passed", netlib_error_message(err, NULL));
        CHECK_STATUS(NETLIB_WRITE_TIMEOUT, status);
        free_quiet_stream(&quiet);
    }
}

static void a_stream_refuses_a_total_limit_without_a_running_clock(void) {
    netlib_error *err = NULL;
    struct quiet quiet = quiet_stream(false);
    netlib_timeout *timeout = timeout_of(10, NONE, NONE);
    netlib_status status = netlib_stream_use_timeout(quiet.stream, timeout, &err);
    CHECK_STR("the timeout's clock has not been started", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, status);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_stream_use_timeout(quiet.stream, NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_stream_use_timeout(NULL, timeout, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_stream_use_timeout(quiet.stream, timeout, &err));
    netlib_timeout_free(timeout);

    timeout = timeout_of(10, NONE, NONE);
    CHECK_OK(netlib_timeout_set_clock(timeout, fail_to_tell_time, NULL, NULL, &err));
    CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_timeout_start_connect(timeout, &err));
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_stream_use_timeout(quiet.stream, timeout, &err));
    netlib_timeout_free(timeout);
    free_quiet_stream(&quiet);
}

static void a_total_limit_does_not_change_the_connection_key(void) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    char keys[2][NETLIB_CONNECTION_KEY_SIZE];
    CHECK_OK(netlib_parse_url("http://example.com", NETLIB_NTS, &url, &err));
    for (int i = 0; i < 2; i++) {
        netlib_connect_options *options = options_using(timeout_of(10 + i, 7, NONE));
        CHECK_OK(netlib_connection_key(url, NULL, NULL, options, NULL, 0, keys[i], sizeof keys[i], &err));
        netlib_connect_options_free(options);
    }
    CHECK_STR(keys[0], keys[1]);
    netlib_url_free(url);
}

int main(void) {
    /* If the total limit has no effect, a call never returns, and SIGALRM ends the test. */
    alarm(60);
    a_total_limit_does_not_change_the_connection_key();
    a_connect_operation_returns_connect_timeout_after_its_total_limit();
    the_connect_limit_applies_to_each_address();
    a_total_limit_ends_an_operation_that_waits_for_addresses();
    connect_new_refuses_a_null_timeout_and_a_clock_that_goes_backwards();
    reads_end_with_read_timeout_when_the_read_or_total_limit_has_passed();
    reads_of_available_data_fail_after_the_total_limit_until_it_is_replaced();
    an_expired_total_limit_ends_tls_reads_even_if_data_is_available();
    a_write_ends_with_write_timeout_when_the_total_limit_has_passed();
    a_stream_refuses_a_total_limit_without_a_running_clock();
    return report("use timeout");
}
