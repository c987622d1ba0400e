/* Tests which events end a blocking call. The calls wait for sockets and lookups, connect, sleep, and read bodies. Each
 * call runs with a deadline, with cancels from threads and signal handlers, with interrupt checks, and with a signal
 * every millisecond, which must not end the call. */
#define _GNU_SOURCE
#include "hung_lookups.h"
#include "retry_makers.h"
#include "stop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/un.h>

/* The objects that the current blocking call uses. */
static struct {
    int ends[2];
    int server, filler;
    int32_t port;
    int fd;
    netlib_connect_options *options;
    netlib_connect *connect;
    netlib_stream *stream;
    netlib_retry *retry;
    netlib_response *response;
    netlib_decision *decision;
    netlib_body *body;
    netlib_throughput *throughput;
    double began;
} at;

/* ---- waiting for a descriptor ---- */

static char block[65536];

static void open_socket_pair(void) { connected_pair(at.ends); }

static void open_socket_pair_with_full_buffer(void) {
    connected_pair(at.ends);
    while (send(at.ends[0], block, sizeof block, MSG_DONTWAIT) > 0) {}
}

static void close_socket_pair(void) {
    close(at.ends[0]);
    close(at.ends[1]);
}

static netlib_status wait_to_read(const netlib_limit *limit, netlib_error **err) {
    return netlib_wait_for_read(at.ends[0], LONG, limit, err);
}

static netlib_status wait_to_write(const netlib_limit *limit, netlib_error **err) {
    return netlib_wait_for_write(at.ends[0], NETLIB_TIMEOUT_NONE, limit, err);
}

/* Waits for input and output. The socket buffer is full, so only input ends the wait. */
static netlib_status wait_for_both_events(const netlib_limit *limit, netlib_error **err) {
    int32_t ready = -1;
    netlib_status status = netlib_wait(at.ends[0], POLLIN | POLLOUT, LONG, limit, &ready, err);
    CHECK_INT(status == NETLIB_OK ? POLLIN : 0, ready);
    return status;
}

static void write_a_byte_to_the_peer_socket(void) { CHECK(write(at.ends[1], "x", 1) == 1); }

static void read_all_bytes_at_the_peer_socket(void) {
    while (recv(at.ends[1], block, sizeof block, MSG_DONTWAIT) > 0) {}
}

static void check_that_the_socket_is_writable(void) { CHECK(send(at.ends[0], "x", 1, MSG_DONTWAIT) == 1); }

/* Creates a throughput guard whose minimum is too low to end the wait. */
static void open_socket_pair_with_throughput_guard(void) {
    netlib_error *err = NULL;
    open_socket_pair();
    CHECK_OK(netlib_throughput_new(1, LONG, &at.throughput, &err));
}

static netlib_status wait_with_throughput_guard(const netlib_limit *limit, netlib_error **err) {
    return netlib_throughput_wait_for_read(at.throughput, at.ends[0], NETLIB_TIMEOUT_NONE, limit, err);
}

static void free_throughput_guard_and_socket_pair(void) {
    netlib_throughput_free(at.throughput);
    close_socket_pair();
}

/* ---- connecting ---- */

/* A listener with a full backlog, which answers no SYN. All calls that connect to a silent server share it, because
 * filling the backlog takes time. */
static int silent, silent_filler;
static int32_t silent_port;

static void create_options_for_the_silent_server(void) {
    at.fd = at.server = at.filler = -1;
    at.port = silent_port;
    at.options = netlib_connect_options_new();
    netlib_connect_options_set_attempt_delay(at.options, 0.01);
}

/* Creates a connect that races eight copies of one silent address. The first step or run starts the race. The race does
 * not end while the backlog of the silent server is full. */
static void create_race_to_silent_addresses(void) {
    netlib_error *err = NULL;
    struct sockaddr_in address;
    create_options_for_the_silent_server();
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    netlib_addresses *list = netlib_addresses_new();
    for (int i = 0; i < 8; i++) CHECK_OK(netlib_addresses_add(list, &address, sizeof address, &err));
    CHECK_OK(netlib_connect_new_addresses("name.test", at.port, list, at.options, &at.connect, &err));
    netlib_addresses_free(list);
}

/* Creates a listener and connect options, and makes lookups of "hung.test" hang. */
static void create_listener_and_make_lookups_hang(void) {
    at.fd = at.filler = -1;
    at.server = listener(&at.port);
    at.options = netlib_connect_options_new();
    make_lookups_hang();
}

static void create_connect_to_a_name_whose_lookup_hangs(void) {
    netlib_error *err = NULL;
    create_listener_and_make_lookups_hang();
    CHECK_OK(netlib_connect_new("hung.test", at.port, at.options, &at.connect, &err));
}

static void set_a_source_address_whose_lookup_hangs(void) {
    create_listener_and_make_lookups_hang();
    netlib_connect_options_set_source_address(at.options, "hung.test", 0);
}

static void create_connect_with_a_source_address_whose_lookup_hangs(void) {
    netlib_error *err = NULL;
    set_a_source_address_whose_lookup_hangs();
    CHECK_OK(netlib_connect_new("127.0.0.1", at.port, at.options, &at.connect, &err));
}

static netlib_status create(const netlib_limit *limit, netlib_error **err) {
    return netlib_create_connection("127.0.0.1", at.port, at.options, limit, &at.fd, err);
}

static netlib_status create_by_name(const netlib_limit *limit, netlib_error **err) {
    return netlib_create_connection("hung.test", at.port, at.options, limit, &at.fd, err);
}

/* Blocks in connect(2) until the server answers. */
static netlib_status create_without_limit(const netlib_limit *limit, netlib_error **err) {
    (void)limit;
    return netlib_create_connection("127.0.0.1", at.port, NULL, NULL, &at.fd, err);
}

/* Connects a plain stream to `host`, and stores a copy of its descriptor. */
static netlib_status connect_plain_stream(const char *host, const netlib_limit *limit, netlib_error **err) {
    char text[64];
    netlib_url *url = NULL;
    snprintf(text, sizeof text, "http://%s:%d/", host, (int)at.port);
    CHECK_INT(NETLIB_OK, netlib_parse_url(text, NETLIB_NTS, &url, NULL));
    netlib_status status = netlib_stream_connect(url, NULL, at.options, limit, &at.stream, err);
    netlib_url_free(url);
    if (status == NETLIB_OK) at.fd = fcntl(netlib_stream_fd(at.stream), F_DUPFD_CLOEXEC, 0);
    return status;
}

static netlib_status connect_stream(const netlib_limit *limit, netlib_error **err) {
    return connect_plain_stream("127.0.0.1", limit, err);
}

static netlib_status connect_stream_by_name(const netlib_limit *limit, netlib_error **err) {
    return connect_plain_stream("hung.test", limit, err);
}

static netlib_status run(const netlib_limit *limit, netlib_error **err) {
    return netlib_connect_run(at.connect, limit, &at.fd, err);
}

/* Connects with netlib_connect_step and poll(2), like an event loop. */
static netlib_status step(const netlib_limit *limit, netlib_error **err) {
    netlib_status status = netlib_connect_set_limit(at.connect, limit, err);
    while (status == NETLIB_OK && (status = netlib_connect_step(at.connect, &at.fd, err)) == NETLIB_WANT_WRITE) {
        struct pollfd fds[16];
        size_t count = netlib_connect_wait_count(at.connect);
        CHECK(count <= 16);
        for (size_t i = 0; i < count && i < 16; i++) {
            fds[i].fd = netlib_connect_wait_fd(at.connect, i);
            fds[i].events = (short)netlib_connect_wait_events(at.connect, i);
        }
        double seconds = netlib_connect_wait_seconds(at.connect);
        (void)poll(fds, (nfds_t)count, seconds < LONG ? (int)(seconds * 1000) + 1 : -1);
        status = NETLIB_OK;
    }
    return status;
}

static void check_that_the_socket_is_connected(void) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    memset(&address, 0, sizeof address);
    CHECK(getpeername(at.fd, (struct sockaddr *)&address, &len) == 0);
    CHECK_INT(at.port, ntohs(address.sin_port));
    CHECK(!(fcntl(at.fd, F_GETFL) & O_NONBLOCK));
}

static void free_connect_and_close_sockets(void) {
    netlib_stream_free(at.stream);
    netlib_connect_free(at.connect);
    netlib_connect_options_free(at.options);
    at.stream = NULL;
    at.connect = NULL;
    at.options = NULL;
    if (at.fd >= 0) close(at.fd);
    if (at.filler >= 0) close(at.filler);
    if (at.server >= 0) close(at.server);
}

/* Frees the connect, and then lets the abandoned lookup end. The lookup's thread frees the memory of the lookup. */
static void free_connect_and_end_lookups(void) {
    free_connect_and_close_sockets();
    release_lookups();
    wait_until_alone();
}

/* ---- connecting to a Unix domain socket ---- */

static struct {
    struct sockaddr_un address;
    socklen_t len;
    size_t name_len;
} local;

/* Creates a Unix domain listener with an abstract name and a full backlog, and a connect to that name. */
static void open_unix_listener_with_full_backlog(void) {
    netlib_error *err = NULL;
    memset(&local, 0, sizeof local);
    local.address.sun_family = AF_UNIX;
    local.name_len = 1 + (size_t)snprintf(local.address.sun_path + 1, 64, "netlib-test-stop-%d", (int)getpid());
    local.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + local.name_len);
    at.fd = at.filler = -1;
    at.server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(at.server, (struct sockaddr *)&local.address, local.len) == 0);
    CHECK(listen(at.server, 0) == 0);
    for (bool has_room = true; has_room;) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        has_room = connect(fd, (struct sockaddr *)&local.address, local.len) == 0;
        if (!has_room) CHECK_INT(EAGAIN, errno);
        close(fd); /* A connected socket stays in the backlog after close. */
    }
    at.options = netlib_connect_options_new();
    CHECK_OK(netlib_connect_new_unix(local.address.sun_path, local.name_len, at.options, &at.connect, &err));
}

static netlib_status create_local(const netlib_limit *limit, netlib_error **err) {
    return netlib_create_unix_connection(local.address.sun_path, local.name_len, at.options, limit, &at.fd, err);
}

static void accept_one_unix_connection(void) { close(accept(at.server, NULL, NULL)); }

static void check_that_the_unix_socket_is_connected(void) {
    struct sockaddr_un address;
    socklen_t len = sizeof address;
    CHECK(getpeername(at.fd, (struct sockaddr *)&address, &len) == 0);
    CHECK_INT(local.len, len);
    CHECK(memcmp(address.sun_path, local.address.sun_path, local.name_len) == 0);
    CHECK(!(fcntl(at.fd, F_GETFL) & O_NONBLOCK));
}

/* ---- sleeping ---- */

/* The backoff in seconds. BRIEFLY is a backoff of 200 signal intervals, so many signals arrive even on a busy
 * machine. */
static double backoff = LONG;
#define BRIEFLY (200 * (double)tick_interval_us() / 1e6)

static void create_retry_with_backoff(void) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_factor(options, backoff / 2);
    for (int i = 0; i < 2; i++) netlib_retry_options_add_history(options, "GET", "/", NULL, 500, NULL);
    at.retry = retry_of(options);
    at.began = netlib_current_time();
}

static void create_response_with_retry_after(void) {
    netlib_retry_options *options = netlib_retry_options_new();
    at.retry = retry_of(options);
    at.response = response_of(503, "Retry-After: 60\r\n");
}

static void create_decision_with_delay(void) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    static const int32_t codes[] = {503};
    netlib_retry_options_set_status_forcelist(options, codes, 1);
    at.retry = retry_of(options);
    at.response = response_of(503, "Retry-After: 60\r\n");
    CHECK_OK(netlib_parse_url("http://name.test/", NETLIB_NTS, &url, &err));
    CHECK_OK(netlib_retry_decide(at.retry, "GET", url, at.response, NULL, NULL, &at.decision, &err));
    netlib_url_free(url);
}

static netlib_status sleep_backoff(const netlib_limit *limit, netlib_error **err) {
    return netlib_retry_sleep(at.retry, NULL, limit, err);
}

static netlib_status sleep_retry_after(const netlib_limit *limit, netlib_error **err) {
    int32_t slept = 1;
    return netlib_retry_sleep_for_retry(at.retry, at.response, limit, &slept, err);
}

static netlib_status sleep_decision(const netlib_limit *limit, netlib_error **err) {
    return netlib_decision_sleep(at.decision, limit, err);
}

static void check_that_the_sleep_was_long_enough(void) { CHECK(netlib_current_time() - at.began >= backoff); }

static void free_retry_objects(void) {
    netlib_decision_free(at.decision);
    netlib_response_free(at.response);
    netlib_retry_free(at.retry);
    at.decision = NULL;
    at.response = NULL;
    at.retry = NULL;
}

static void do_nothing(void) {}

/* ---- bodies ---- */

static void create_body_from_a_pipe(void) {
    netlib_error *err = NULL;
    CHECK(pipe2(at.ends, O_CLOEXEC) == 0);
    CHECK_OK(netlib_body_from_fd(at.ends[0], &at.body, &err));
}

static netlib_status read_body(const netlib_limit *limit, netlib_error **err) {
    char bytes[4] = "";
    size_t n = 0;
    netlib_body_set_limit(at.body, limit);
    netlib_status status = netlib_body_read(at.body, bytes, sizeof bytes, &n, err);
    if (status == NETLIB_OK) CHECK(n == 1 && bytes[0] == 'x');
    return status;
}

static void free_body_and_close_pipe(void) {
    netlib_body_free(at.body);
    close_socket_pair();
}

static const struct phase phases[] = {
    {"netlib_wait_for_read", open_socket_pair, wait_to_read, write_a_byte_to_the_peer_socket, NULL, close_socket_pair,
     false},
    {"netlib_wait_for_write", open_socket_pair_with_full_buffer, wait_to_write, read_all_bytes_at_the_peer_socket,
     check_that_the_socket_is_writable, close_socket_pair, false},
    {"netlib_wait", open_socket_pair_with_full_buffer, wait_for_both_events, write_a_byte_to_the_peer_socket, NULL,
     close_socket_pair, false},
    {"netlib_throughput_wait_for_read", open_socket_pair_with_throughput_guard, wait_with_throughput_guard,
     write_a_byte_to_the_peer_socket, NULL, free_throughput_guard_and_socket_pair, false},
    {"netlib_create_connection", create_options_for_the_silent_server, create, NULL, NULL,
     free_connect_and_close_sockets, false},
    {"netlib_create_connection, lookup", create_listener_and_make_lookups_hang, create_by_name, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, false},
    {"netlib_create_connection, source", set_a_source_address_whose_lookup_hangs, create, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, false},
    {"netlib_stream_connect", create_options_for_the_silent_server, connect_stream, NULL, NULL,
     free_connect_and_close_sockets, false},
    {"netlib_stream_connect, lookup", create_listener_and_make_lookups_hang, connect_stream_by_name, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, false},
    {"netlib_stream_connect, source", set_a_source_address_whose_lookup_hangs, connect_stream, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, false},
    {"netlib_connect_run", create_race_to_silent_addresses, run, NULL, NULL, free_connect_and_close_sockets, false},
    {"netlib_connect_run, lookup", create_connect_to_a_name_whose_lookup_hangs, run, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, false},
    {"netlib_connect_run, source", create_connect_with_a_source_address_whose_lookup_hangs, run, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, false},
    {"netlib_connect_step", create_race_to_silent_addresses, step, NULL, NULL, free_connect_and_close_sockets, true},
    {"netlib_connect_step, lookup", create_connect_to_a_name_whose_lookup_hangs, step, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, true},
    {"netlib_connect_step, source", create_connect_with_a_source_address_whose_lookup_hangs, step, release_lookups,
     check_that_the_socket_is_connected, free_connect_and_end_lookups, true},
    {"netlib_create_unix_connection", open_unix_listener_with_full_backlog, create_local, accept_one_unix_connection,
     check_that_the_unix_socket_is_connected, free_connect_and_close_sockets, false},
    {"netlib_connect_run, local", open_unix_listener_with_full_backlog, run, accept_one_unix_connection,
     check_that_the_unix_socket_is_connected, free_connect_and_close_sockets, false},
    {"netlib_connect_step, local", open_unix_listener_with_full_backlog, step, accept_one_unix_connection,
     check_that_the_unix_socket_is_connected, free_connect_and_close_sockets, true},
    {"netlib_retry_sleep", create_retry_with_backoff, sleep_backoff, NULL, NULL, free_retry_objects, false},
    {"netlib_retry_sleep_for_retry", create_response_with_retry_after, sleep_retry_after, NULL, NULL,
     free_retry_objects, false},
    {"netlib_decision_sleep", create_decision_with_delay, sleep_decision, NULL, NULL, free_retry_objects, false},
    {"netlib_body_read", create_body_from_a_pipe, read_body, write_a_byte_to_the_peer_socket, NULL,
     free_body_and_close_pipe, false},
};

/* A sleep that signals interrupt still lasts for its full duration. */
static void signals_do_not_shorten_a_sleep(void) {
    backoff = BRIEFLY;
    const struct phase brief = {
        "netlib_retry_sleep, brief",          create_retry_with_backoff, sleep_backoff, do_nothing,
        check_that_the_sleep_was_long_enough, free_retry_objects,        false};
    run_phase(&brief, TICKS_TO_SUCCESS);
    backoff = LONG;
}

/* Makes room in the backlog. The server then answers the SYN that the kernel repeats after one second. */
static void make_room_in_the_full_backlog(void) {
    /* Closes the client's end of the connection that filled the backlog, then accepts this connection. */
    CHECK(dup2(silent, silent_filler) == silent_filler);
    int fd = accept(silent, NULL, NULL);
    CHECK(fd >= 0);
    close(fd);
}

static void a_connection_attempt_succeeds_despite_signals(void) {
    static const struct phase slow[] = {
        {"netlib_connect_run, slow", create_race_to_silent_addresses, run, make_room_in_the_full_backlog,
         check_that_the_socket_is_connected, free_connect_and_close_sockets, false},
        {"netlib_create_connection, slow", create_options_for_the_silent_server, create, make_room_in_the_full_backlog,
         check_that_the_socket_is_connected, free_connect_and_close_sockets, false},
        {"netlib_create_connection, slow, no limit", create_options_for_the_silent_server, create_without_limit,
         make_room_in_the_full_backlog, check_that_the_socket_is_connected, free_connect_and_close_sockets, false},
    };
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        silent = silent_listener(&silent_port, &silent_filler);
        run_phase(&slow[i], TICKS_TO_SUCCESS);
        close(silent_filler);
        close(silent);
    }
}

/* If all addresses fail immediately, one call of netlib_connect_step tries 64 addresses. After a cancel, the call tries
 * no address. */
static void one_connect_step_tries_at_most_64_failing_addresses(void) {
    enum { MANY = 1000, TRIED = 64 };
    netlib_error *err = NULL;
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    int32_t port = 0;
    int fd = -1;
    int dead = bound_socket(&port);
    CHECK(getsockname(dead, (struct sockaddr *)&address, &len) == 0);
    netlib_addresses *list = netlib_addresses_new();
    for (int i = 0; i < MANY; i++) CHECK_OK(netlib_addresses_add(list, &address, sizeof address, &err));
    for (int cancel = 0; cancel < 2; cancel++) {
        netlib_connect *connect = NULL;
        netlib_limit *limit = limit_of(LONG);
        CHECK_OK(netlib_connect_new_addresses("name.test", port, list, NULL, &connect, &err));
        CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
        if (cancel) netlib_limit_cancel(limit);
        CHECK_STATUS(cancel ? NETLIB_CANCELLED : NETLIB_CONNECT_FAILED, netlib_connect_step(connect, &fd, &err));
        CHECK_INT(cancel ? 0 : TRIED, (long long)netlib_connect_attempt_count(connect));
        netlib_connect_free(connect);
        netlib_limit_free(limit);
    }
    netlib_addresses_free(list);
    close(dead);
}

int main(int argc, char **argv) {
    (void)argv;
    prints_times = argc > 1;
    silent = silent_listener(&silent_port, &silent_filler);
    run_phases(phases, sizeof phases / sizeof phases[0]);
    close(silent_filler);
    close(silent);
    signals_do_not_shorten_a_sleep();
    a_connection_attempt_succeeds_despite_signals();
    one_connect_step_tries_at_most_64_failing_addresses();
    return report("stop");
}
