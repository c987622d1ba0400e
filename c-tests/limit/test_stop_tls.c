/* Tests which events end a blocking call of a stream, and that signals do not end the call. The stream is a plain
 * stream on a descriptor, or a TLS stream on a descriptor or inside another TLS stream. In some rows, another thread
 * does the handshake during the call. */
#define _GNU_SOURCE
#include "stop.h"
#undef LONG /* tls_peer.h defines LONG as well */
#include "tls_peer.h"

#include <errno.h>
#include <sys/stat.h>

static netlib_tls_context *client, *server;

/* The objects that the current blocking call uses. */
static struct {
    struct pair pair;
    netlib_stream *outer_near, *outer_far;
    netlib_stream *near, *far; /* the two ends of the connection whose calls block */
    netlib_body_decoder *decoder;
    int listener;
    int32_t port;
    size_t n;
    bool intact;
    pthread_t other;
    netlib_status other_status;
} at;

/* More bytes than all buffers of the connection hold. */
static unsigned char data[600000];
static char scrap[65536];

/* ---- sessions ---- */

/* Runs the handshake on both ends without waiting. */
static void do_handshake(netlib_stream *near, netlib_stream *far) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    netlib_status statuses[2] = {NETLIB_WANT_READ, NETLIB_WANT_READ};
    for (int i = 0; i < 20 && (statuses[0] != NETLIB_OK || statuses[1] != NETLIB_OK); i++) {
        statuses[0] = netlib_stream_handshake(near, NULL);
        statuses[1] = netlib_stream_handshake(far, NULL);
    }
    CHECK_OK(netlib_stream_handshake(near, &err));
    CHECK_OK(netlib_stream_handshake(far, &err));
    CHECK_OK(netlib_stream_set_blocking(near, 1, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 1, &err));
}

static void open_unix_socket_pair(void) {
    at.outer_near = at.outer_far = at.near = at.far = NULL;
    at.pair = unix_pair();
}

static void open_plain_streams(void) {
    netlib_error *err = NULL;
    open_unix_socket_pair();
    CHECK_OK(netlib_stream_new_fd(at.pair.near, &at.near, &err));
    CHECK_OK(netlib_stream_new_fd(at.pair.far, &at.far, &err));
}

static void wrap_pair_as_client(void) {
    open_unix_socket_pair();
    at.near = wrap(client, at.pair.near, "localhost");
    at.far = accept_tls(server, at.pair.far);
}

static void wrap_pair_as_server(void) {
    open_unix_socket_pair();
    at.near = accept_tls(server, at.pair.near);
    at.far = wrap(client, at.pair.far, "localhost");
}

static void open_session_with_handshake(void) {
    wrap_pair_as_client();
    do_handshake(at.near, at.far);
}

static void wrap_inner_stream_as_client(void) {
    netlib_error *err = NULL;
    open_session_with_handshake();
    at.outer_near = at.near;
    at.outer_far = at.far;
    CHECK_OK(netlib_tls_wrap_stream(client, at.outer_near, "localhost", &at.near, &err));
    CHECK_OK(netlib_tls_accept_stream(server, at.outer_far, &at.far, &err));
}

static void open_inner_session_with_handshake(void) {
    wrap_inner_stream_as_client();
    do_handshake(at.near, at.far);
}

/* Writes until the socket buffers are full, so that the next write blocks. */
static void fill_socket_buffers(void) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_set_blocking(at.near, 0, &err));
    netlib_status status;
    while ((status = netlib_stream_write(at.near, data, sizeof data, &at.n, &err)) == NETLIB_OK) {}
    CHECK_STATUS(NETLIB_WANT_WRITE, status);
    CHECK_OK(netlib_stream_set_blocking(at.near, 1, &err));
}

static void open_session_with_full_buffers(void) {
    open_session_with_handshake();
    fill_socket_buffers();
}

static void open_inner_session_with_full_buffers(void) {
    open_inner_session_with_handshake();
    fill_socket_buffers();
}

/* Creates a server that accepts connections, but does no handshake. */
static void listen_without_handshake(void) {
    at.outer_near = at.outer_far = at.near = at.far = NULL;
    at.pair = (struct pair){-1, -1};
    at.listener = listener(&at.port);
}

static void peer_writes_text(const char *text) {
    netlib_error *err = NULL;
    size_t n = 0;
    CHECK_OK(netlib_stream_write(at.far, text, strlen(text), &n, &err));
}

static const char first_part_of_head[] = "HTTP/1.1 200 OK\r\nTransfer-Enc";

static void open_plain_streams_with_part_of_a_head(void) {
    open_plain_streams();
    peer_writes_text(first_part_of_head);
}

static void open_session_with_part_of_a_head(void) {
    open_session_with_handshake();
    peer_writes_text(first_part_of_head);
}

static void open_inner_session_with_part_of_a_head(void) {
    open_inner_session_with_handshake();
    peer_writes_text(first_part_of_head);
}

static void peer_writes_the_rest_of_the_head(void) { peer_writes_text("oding: chunked\r\n\r\n"); }

/* Reads a response head, after which the peer has sent only the size of the first chunk. */
static void read_head_of_chunked_body(void) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    peer_writes_the_rest_of_the_head();
    peer_writes_text("5\r\n");
    CHECK_OK(netlib_stream_read_response(at.near, "GET", &response, &err));
    CHECK_OK(netlib_body_decoder_new(response, &at.decoder, &err));
    netlib_response_free(response);
}

static void open_plain_streams_with_a_chunk_size(void) {
    open_plain_streams_with_part_of_a_head();
    read_head_of_chunked_body();
}

static void open_session_with_a_chunk_size(void) {
    open_session_with_part_of_a_head();
    read_head_of_chunked_body();
}

static void open_inner_session_with_a_chunk_size(void) {
    open_inner_session_with_part_of_a_head();
    read_head_of_chunked_body();
}

static void free_streams_and_close_pair(void) {
    netlib_body_decoder_free(at.decoder);
    at.decoder = NULL;
    netlib_stream_free(at.near);
    netlib_stream_free(at.far);
    netlib_stream_free(at.outer_near);
    netlib_stream_free(at.outer_far);
    close_pair(at.pair);
}

static void free_streams_and_close_listener(void) {
    free_streams_and_close_pair();
    close(at.listener);
}

/* ---- calls that block ---- */

static netlib_status handshake(const netlib_limit *limit, netlib_error **err) {
    netlib_stream_set_limit(at.near, limit);
    return netlib_stream_handshake(at.near, err);
}

static netlib_status read_one(const netlib_limit *limit, netlib_error **err) {
    char byte = 0;
    netlib_stream_set_limit(at.near, limit);
    netlib_status status = netlib_stream_read(at.near, &byte, 1, &at.n, err);
    if (status == NETLIB_OK) CHECK(at.n == 1 && byte == 'x');
    return status;
}

static netlib_status write_all(const netlib_limit *limit, netlib_error **err) {
    netlib_stream_set_limit(at.near, limit);
    return netlib_stream_write(at.near, data, sizeof data, &at.n, err);
}

static netlib_status writev_all(const netlib_limit *limit, netlib_error **err) {
    const netlib_slice slices[] = {{data, 100}, {data + 100, 50000}, {data + 50100, sizeof data - 50100}};
    netlib_stream_set_limit(at.near, limit);
    return netlib_stream_writev(at.near, slices, 3, &at.n, err);
}

static netlib_status shut_down(const netlib_limit *limit, netlib_error **err) {
    netlib_stream_set_limit(at.near, limit);
    return netlib_stream_shutdown(at.near, err);
}

static netlib_status shut_down_both(const netlib_limit *limit, netlib_error **err) {
    netlib_stream_set_limit(at.near, limit);
    return netlib_stream_shutdown_both(at.near, err);
}

static netlib_status wrap_socket(const netlib_limit *limit, netlib_error **err) {
    return netlib_ssl_wrap_socket(at.pair.near, NULL, client, "localhost", limit, &at.near, err);
}

static netlib_status read_response(const netlib_limit *limit, netlib_error **err) {
    netlib_response *response = NULL;
    netlib_stream_set_limit(at.near, limit);
    netlib_status status = netlib_stream_read_response(at.near, "GET", &response, err);
    if (status == NETLIB_OK) CHECK_INT(200, netlib_response_status(response));
    netlib_response_free(response);
    return status;
}

static netlib_status read_body(const netlib_limit *limit, netlib_error **err) {
    char bytes[10] = "";
    netlib_stream_set_limit(at.near, limit);
    netlib_status status = netlib_stream_read_body(at.near, at.decoder, bytes, sizeof bytes, &at.n, err);
    CHECK_INT(status == NETLIB_OK ? 5 : 0, (long long)at.n);
    if (status == NETLIB_OK) CHECK(memcmp(bytes, "chunk", 5) == 0);
    return status;
}

static netlib_status connect_stream(const netlib_limit *limit, netlib_error **err) {
    char text[64];
    netlib_url *url = NULL;
    snprintf(text, sizeof text, "https://127.0.0.1:%d/", (int)at.port);
    CHECK_INT(NETLIB_OK, netlib_parse_url(text, NETLIB_NTS, &url, NULL));
    netlib_status status = netlib_stream_connect(url, client, NULL, limit, &at.near, err);
    netlib_url_free(url);
    return status;
}

/* ---- events that let the call continue ---- */

static void peer_does_handshake(void) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_handshake(at.far, &err));
}

static void peer_wraps_its_socket_and_does_handshake(void) {
    at.far = accept_tls(server, at.pair.far);
    peer_does_handshake();
}

static void peer_accepts_connection_and_does_handshake(void) {
    at.pair.far = accept(at.listener, NULL, NULL);
    peer_wraps_its_socket_and_does_handshake();
}

static void peer_writes_a_byte(void) { peer_writes_text("x"); }

static void peer_writes_a_chunk(void) { peer_writes_text("chunk\r\n0\r\n\r\n"); }

static void peer_reads_and_compares_all_data(void) {
    netlib_error *err = NULL;
    size_t done = 0, n = 0;
    at.intact = true;
    while (done < sizeof data) {
        netlib_status status = netlib_stream_read(at.far, scrap, sizeof scrap, &n, &err);
        CHECK_OK(status);
        if (status != NETLIB_OK || n > sizeof data - done) break;
        at.intact &= memcmp(scrap, data + done, n) == 0;
        done += n;
    }
    at.intact &= done == sizeof data;
}

/* Reads and discards the bytes of the socket until the blocking call has returned. */
static void peer_discards_bytes_until_the_call_ends(void) {
    for (double began = netlib_current_time(); !call_has_returned && IN_TIME(began); short_pause()) {
        while (recv(at.pair.far, scrap, sizeof scrap, MSG_DONTWAIT) > 0) {}
    }
}

static void peer_shuts_down(void) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_shutdown(at.far, &err));
}

static void check_that_all_data_arrived(void) {
    CHECK(at.intact);
    CHECK_INT(sizeof data, (long long)at.n);
}

/* ---- a handshake on another thread ---- */

static void *do_handshake_in_thread(void *unused) {
    (void)unused;
    block_alarms();
    at.other_status = netlib_stream_handshake(at.near, NULL);
    return NULL;
}

/* Starts a thread whose handshake call has no limit. A limit that is set later does not apply to a call in progress. */
static void start_thread_that_does_the_handshake(void) {
    wrap_pair_as_client();
    CHECK(pthread_create(&at.other, NULL, do_handshake_in_thread, NULL) == 0);
    /* Waits until the thread has sent the ClientHello. */
    struct pollfd hello = {.fd = at.pair.far, .events = POLLIN};
    CHECK(poll(&hello, 1, (int)(LONG * 1000)) == 1);
}

static void peer_does_handshake_and_writes_a_byte(void) {
    peer_does_handshake();
    peer_writes_a_byte();
}

static void end_handshake_thread_and_session(void) {
    shutdown(at.pair.far, SHUT_RDWR);
    CHECK(pthread_join(at.other, NULL) == 0);
    /* The limit that stopped the call of the first thread must not have stopped the handshake call of the other
     * thread. */
    CHECK(at.other_status == NETLIB_OK || at.other_status == NETLIB_TLS_HANDSHAKE_EOF);
    free_streams_and_close_pair();
}

static const struct phase phases[] = {
    {"handshake", wrap_pair_as_client, handshake, peer_does_handshake, NULL, free_streams_and_close_pair, false},
    {"handshake of a server", wrap_pair_as_server, handshake, peer_does_handshake, NULL, free_streams_and_close_pair,
     false},
    {"netlib_ssl_wrap_socket", open_unix_socket_pair, wrap_socket, peer_wraps_its_socket_and_does_handshake, NULL,
     free_streams_and_close_pair, false},
    {"first read", wrap_pair_as_client, read_one, peer_does_handshake_and_writes_a_byte, NULL,
     free_streams_and_close_pair, false},
    {"first write", wrap_pair_as_client, write_all, peer_reads_and_compares_all_data, check_that_all_data_arrived,
     free_streams_and_close_pair, false},
    {"read", open_session_with_handshake, read_one, peer_writes_a_byte, NULL, free_streams_and_close_pair, false},
    {"write", open_session_with_handshake, write_all, peer_reads_and_compares_all_data, check_that_all_data_arrived,
     free_streams_and_close_pair, false},
    {"writev", open_session_with_handshake, writev_all, peer_reads_and_compares_all_data, check_that_all_data_arrived,
     free_streams_and_close_pair, false},
    {"shutdown", open_session_with_full_buffers, shut_down, peer_discards_bytes_until_the_call_ends, NULL,
     free_streams_and_close_pair, false},
    {"shutdown_both", open_session_with_handshake, shut_down_both, peer_shuts_down, NULL, free_streams_and_close_pair,
     false},
    {"read while another thread does the handshake", start_thread_that_does_the_handshake, read_one,
     peer_does_handshake_and_writes_a_byte, NULL, end_handshake_thread_and_session, true},
    {"write while another thread does the handshake", start_thread_that_does_the_handshake, write_all,
     peer_reads_and_compares_all_data, check_that_all_data_arrived, end_handshake_thread_and_session, true},
    {"inner handshake", wrap_inner_stream_as_client, handshake, peer_does_handshake, NULL, free_streams_and_close_pair,
     false},
    {"inner first read", wrap_inner_stream_as_client, read_one, peer_does_handshake_and_writes_a_byte, NULL,
     free_streams_and_close_pair, false},
    {"inner read", open_inner_session_with_handshake, read_one, peer_writes_a_byte, NULL, free_streams_and_close_pair,
     false},
    {"inner write", open_inner_session_with_handshake, write_all, peer_reads_and_compares_all_data,
     check_that_all_data_arrived, free_streams_and_close_pair, false},
    {"inner writev", open_inner_session_with_handshake, writev_all, peer_reads_and_compares_all_data,
     check_that_all_data_arrived, free_streams_and_close_pair, false},
    {"inner shutdown", open_inner_session_with_full_buffers, shut_down, peer_discards_bytes_until_the_call_ends, NULL,
     free_streams_and_close_pair, false},
    {"inner shutdown_both", open_inner_session_with_handshake, shut_down_both, peer_shuts_down, NULL,
     free_streams_and_close_pair, false},
    {"netlib_stream_connect, handshake", listen_without_handshake, connect_stream,
     peer_accepts_connection_and_does_handshake, NULL, free_streams_and_close_listener, false},
    {"plain read", open_plain_streams, read_one, peer_writes_a_byte, NULL, free_streams_and_close_pair, false},
    {"plain write", open_plain_streams, write_all, peer_reads_and_compares_all_data, check_that_all_data_arrived,
     free_streams_and_close_pair, false},
    {"plain writev", open_plain_streams, writev_all, peer_reads_and_compares_all_data, check_that_all_data_arrived,
     free_streams_and_close_pair, false},
    {"plain shutdown_both", open_plain_streams, shut_down_both, peer_shuts_down, NULL, free_streams_and_close_pair,
     false},
    {"plain read_response", open_plain_streams_with_part_of_a_head, read_response, peer_writes_the_rest_of_the_head,
     NULL, free_streams_and_close_pair, false},
    {"plain read_body", open_plain_streams_with_a_chunk_size, read_body, peer_writes_a_chunk, NULL,
     free_streams_and_close_pair, false},
    {"read_response", open_session_with_part_of_a_head, read_response, peer_writes_the_rest_of_the_head, NULL,
     free_streams_and_close_pair, false},
    {"read_body", open_session_with_a_chunk_size, read_body, peer_writes_a_chunk, NULL, free_streams_and_close_pair,
     false},
    {"inner read_response", open_inner_session_with_part_of_a_head, read_response, peer_writes_the_rest_of_the_head,
     NULL, free_streams_and_close_pair, false},
    {"inner read_body", open_inner_session_with_a_chunk_size, read_body, peer_writes_a_chunk, NULL,
     free_streams_and_close_pair, false},
};

/* If the limit has ended, netlib_ssl_wrap_socket fails before it creates a context from the options and reads any
 * file. */
static void context_creation_reads_no_file_after_the_limit_has_ended(void) {
    netlib_error *err = NULL;
    netlib_stream *stream = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, CERTS "no such file");
    for (int ended = 0; ended < 3; ended++) {
        netlib_limit *limit = limit_of(ended == 1 ? 0.0 : LONG);
        if (ended == 2) netlib_limit_cancel(limit);
        const netlib_status expected[] = {NETLIB_IO, NETLIB_DEADLINE_EXCEEDED, NETLIB_CANCELLED};
        CHECK_STATUS(expected[ended], netlib_ssl_wrap_socket(0, options, NULL, "localhost", limit, &stream, &err));
        netlib_limit_free(limit);
    }
    netlib_tls_options_free(options);
}

/* ---- callback transports ---- */

struct dripping {
    netlib_limit *limit;
    int calls;
};

/* A read callback that returns an incomplete record, one byte per call. */
static int32_t drip(void *ctx, void *buf, size_t len, size_t *n) {
    static const unsigned char record[] = {22, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc};
    struct dripping *dripping = ctx;
    size_t call = (size_t)dripping->calls++;
    CHECK(len > 0);
    *(unsigned char *)buf = call < sizeof record ? record[call] : 0;
    *n = 1;
    if (dripping->calls == 20) netlib_limit_cancel(dripping->limit);
    return NETLIB_OK;
}

static int32_t swallow(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx;
    (void)buf;
    *n = len;
    return NETLIB_OK;
}

/* netlib checks the limit between two calls of the transport callbacks, not while a callback runs. */
static void a_cancel_ends_the_handshake_between_two_transport_callbacks(void) {
    netlib_error *err = NULL;
    struct dripping dripping = {limit_of(LONG), 0};
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", drip, swallow, &dripping, NULL, &stream, &err));
    netlib_stream_set_limit(stream, dripping.limit);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_handshake(stream, &err));
    CHECK_INT(20, dripping.calls);
    netlib_stream_free(stream);
    netlib_limit_free(dripping.limit);
}

/* ---- creating a context ---- */

static char fifo[64];

static void *write_authority_slowly(void *pem) {
    block_alarms();
    int fd = open(fifo, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    size_t len = strlen(pem), half = len / 2;
    CHECK(write(fd, pem, half) == (ssize_t)half);
    for (double began = netlib_current_time(); ticks < 20 && IN_TIME(began);) short_pause();
    CHECK(write(fd, (char *)pem + half, len - half) == (ssize_t)(len - half));
    close(fd);
    return NULL;
}

/* A CA file that is a pipe makes netlib wait for data. Signals do not end the wait, and no byte is lost. */
static void signals_do_not_interrupt_the_creation_of_a_context(void) {
    static char pem[8192];
    FILE *file = fopen(CERTS "ca.pem", "re");
    CHECK(file != NULL && fread(pem, 1, sizeof pem - 1, file) > 0);
    if (file != NULL) fclose(file);
    snprintf(fifo, sizeof fifo, "/tmp/netlib-stop-%d", (int)getpid());
    CHECK(mkfifo(fifo, 0600) == 0);
    pthread_t writer;
    ticks = 0;
    handle_alarms(tick, 0);
    set_timer(tick_interval_us(), tick_interval_us());
    CHECK(pthread_create(&writer, NULL, write_authority_slowly, pem) == 0);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, fifo);
    netlib_tls_context *context = context_of(options);
    set_timer(0, 0);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(context != NULL && ticks >= 20);
    netlib_tls_context_free(context);
    unlink(fifo);
}

/* A write that a limit has stopped can be continued with another limit. No byte is lost or repeated. */
static void writes_that_are_stopped_and_continued_lose_no_bytes(void) {
    netlib_error *err = NULL;
    for (int inner = 0; inner < 2; inner++) {
        inner ? open_inner_session_with_handshake() : open_session_with_handshake();
        pthread_t reader;
        struct flow flow = {at.far, sizeof data, 10000, NETLIB_OK, false};
        netlib_status status = NETLIB_DEADLINE_EXCEEDED;
        for (int stops = 0; status != NETLIB_OK && stops < 100000; stops++) {
            /* Each limit lasts longer than the previous limit, so that the write finishes even on a slow machine. */
            netlib_limit *limit = limit_of(0.0005 * (1 + stops / 20));
            netlib_stream_set_limit(at.near, limit);
            status = netlib_stream_write(at.near, data, sizeof data, &at.n, &err);
            CHECK(status == NETLIB_OK || status == NETLIB_DEADLINE_EXCEEDED);
            netlib_error_free(err);
            err = NULL;
            netlib_limit_free(limit);
            if (stops == 3) CHECK(pthread_create(&reader, NULL, read_flow, &flow) == 0);
        }
        CHECK_INT(NETLIB_OK, status);
        CHECK_INT(sizeof data, (long long)at.n);
        netlib_stream_set_limit(at.near, NULL);
        CHECK_OK(netlib_stream_shutdown(at.near, &err));
        CHECK(pthread_join(reader, NULL) == 0);
        CHECK(flow.intact);
        CHECK_INT(NETLIB_END_OF_STREAM, flow.status);
        free_streams_and_close_pair();
    }
}

int main(int argc, char **argv) {
    (void)argv;
    prints_times = argc > 1;
    for (size_t i = 0; i < sizeof data; i++) data[i] = at_position(i);
    client = client_context();
    server = server_context("server");
    run_phases(phases, sizeof phases / sizeof phases[0]);
    context_creation_reads_no_file_after_the_limit_has_ended();
    a_cancel_ends_the_handshake_between_two_transport_callbacks();
    signals_do_not_interrupt_the_creation_of_a_context();
    writes_that_are_stopped_and_continued_lose_no_bytes();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stop tls");
}
