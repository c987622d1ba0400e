/* Implements transfer.h. Each function is defined before the functions that call it. */
#define _POSIX_C_SOURCE 200809L

#include "transfer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MAX_STEPS = 16 }; /* the maximum number of steps before the next transfer continues */

/* Creates an error with a message in printf's format. Returns `status`. */
static netlib_status fail(netlib_status status, netlib_error **err, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    netlib_status made = netlib_error_new(status, message, NULL, err, NULL);
    return made == NETLIB_OK ? status : made;
}

/* --- epoll registrations ------------------------------------------------------------------------------------------ */

static netlib_status control(struct transfer *transfer, int operation, int fd, uint32_t events, netlib_error **err) {
    struct epoll_event event = {.events = events, .data = {.ptr = transfer}};
    if (epoll_ctl(transfer->shared->epoll, operation, fd, &event) == 0) return NETLIB_OK;
    return fail(NETLIB_IO, err, "epoll_ctl: %s", strerror(errno));
}

static bool is_among(int fd, const int *fds, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (fds[i] == fd) return true;
    }
    return false;
}

/* Updates the descriptors that epoll watches after netlib_connect_step has returned NETLIB_WANT_WRITE. Removes
 * descriptors that netlib no longer waits for, and adds descriptors that epoll does not watch yet. The removed
 * descriptors stay open until the next step. */
static netlib_status watch_race(struct transfer *transfer, netlib_error **err) {
    size_t count = netlib_connect_wait_count(transfer->connect);
    int *fds = calloc(count > 0 ? count : 1, sizeof *fds);
    if (fds == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for %zu descriptors", count);
    netlib_status status = NETLIB_OK;
    for (size_t i = 0; i < count; i++) fds[i] = netlib_connect_wait_fd(transfer->connect, i);
    for (size_t i = 0; i < transfer->watched_count && status == NETLIB_OK; i++) {
        if (is_among(transfer->watched[i], fds, count)) continue;
        status = control(transfer, EPOLL_CTL_DEL, transfer->watched[i], 0, err);
    }
    for (size_t i = 0; i < count && status == NETLIB_OK; i++) {
        if (is_among(fds[i], transfer->watched, transfer->watched_count)) continue;
        /* The flags of poll(2) and epoll have the same values. */
        uint32_t events = (uint32_t)netlib_connect_wait_events(transfer->connect, i);
        status = control(transfer, EPOLL_CTL_ADD, fds[i], events, err);
    }
    free(transfer->watched);
    transfer->watched = fds;
    transfer->watched_count = count;
    return status;
}

/* Stops watching all descriptors after the last connection step. Errors are ignored, because the kernel has already
 * removed the descriptors that netlib closed. The connected socket and the descriptor of the limit are still open. */
static void unwatch_race(struct transfer *transfer) {
    for (size_t i = 0; i < transfer->watched_count; i++) {
        (void)epoll_ctl(transfer->shared->epoll, EPOLL_CTL_DEL, transfer->watched[i], NULL);
    }
    free(transfer->watched);
    transfer->watched = NULL;
    transfer->watched_count = 0;
}

static netlib_status watch_connection(struct transfer *transfer, uint32_t events, netlib_error **err) {
    if (transfer->events == events) return NETLIB_OK;
    int operation = transfer->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    transfer->events = events;
    return control(transfer, operation, transfer->connection.fd, events, err);
}

/* --- the phases --------------------------------------------------------------------------------------------------- */

/* Each phase has a function that returns NETLIB_OK if it made progress, and NETLIB_WANT_READ or NETLIB_WANT_WRITE if
 * the transfer must wait. Any other status ends the transfer. */

/* Makes a non-blocking stream on the connection: a TLS stream for https, and a plain stream for http. */
static netlib_status make_stream(struct transfer *transfer, netlib_error **err) {
    const char *host = netlib_url_host(transfer->url, NULL);
    bool is_https = strcmp(netlib_url_scheme(transfer->url, NULL), "https") == 0;
    netlib_status status = is_https ? netlib_tls_wrap_fd(transfer->shared->tls, transfer->connection.fd, host,
                                                         &transfer->connection.stream, err)
                                    : netlib_stream_new_fd(transfer->connection.fd, &transfer->connection.stream, err);
    return status == NETLIB_OK ? netlib_stream_set_blocking(transfer->connection.stream, 0, err) : status;
}

static netlib_status advance_connect(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_connect_step(transfer->connect, &transfer->connection.fd, err);
    if (status == NETLIB_WANT_WRITE) {
        netlib_status watched = watch_race(transfer, err);
        return watched == NETLIB_OK ? status : watched;
    }
    unwatch_race(transfer);
    if (status == NETLIB_OK) status = make_stream(transfer, err);
    if (status == NETLIB_OK) transfer->phase = HANDSHAKING;
    return status;
}

/* A plain stream has no handshake, and the call succeeds at once. */
static netlib_status do_handshake(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_stream_handshake(transfer->connection.stream, err);
    if (status == NETLIB_OK) transfer->phase = SENDING;
    return status;
}

static netlib_status send_request(struct transfer *transfer, netlib_error **err) {
    size_t len = 0, n = 0;
    const char *head = netlib_request_to_wire(transfer->request, &len);
    netlib_status status =
        netlib_stream_write(transfer->connection.stream, head + transfer->sent, len - transfer->sent, &n, err);
    transfer->sent += n;
    if (transfer->sent == len) transfer->phase = READING_HEAD;
    return status;
}

static netlib_status read_head(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_stream_read_response(transfer->connection.stream, "GET", &transfer->response, err);
    if (status == NETLIB_OK) status = netlib_body_decoder_new(transfer->response, &transfer->decoder, err);
    if (status == NETLIB_OK) transfer->phase = READING_BODY;
    return status;
}

/* Reads the body, whose bytes the decoder counts. A real program would store the bytes. */
static netlib_status read_body(struct transfer *transfer, netlib_error **err) {
    static char body[64 * 1024];
    size_t n = 0;
    netlib_status status =
        netlib_stream_read_body(transfer->connection.stream, transfer->decoder, body, sizeof body, &n, err);
    if (status != NETLIB_END_OF_STREAM) return status;
    transfer->phase = DONE;
    return NETLIB_OK;
}

static const struct {
    netlib_status (*step)(struct transfer *transfer, netlib_error **err);
    const char *doing;
} phases[] = {
    [CONNECTING] = {advance_connect, ""},
    [HANDSHAKING] = {do_handshake, "in the TLS handshake: "},
    [SENDING] = {send_request, "sending the request: "},
    [READING_HEAD] = {read_head, "waiting for the answer: "},
    [READING_BODY] = {read_body, "reading the body: "},
};

/* --- start and end ------------------------------------------------------------------------------------------------ */

/* Prints the phase, the message and the name of the status. */
static void print_failure(const struct transfer *transfer, netlib_status status, const netlib_error *err) {
    const char *message = netlib_error_message(err, NULL);
    if (message == NULL) message = netlib_status_text(status);
    printf(": %s%s (%s)", phases[transfer->phase].doing, message, netlib_status_name(status));
}

static void print_line(const struct transfer *transfer, netlib_status status, const netlib_error *err) {
    int32_t answer = netlib_response_status(transfer->response);
    int32_t winner = netlib_connect_winner(transfer->connect);
    const char *address = winner >= 0 ? netlib_connect_attempt_address(transfer->connect, (size_t)winner, NULL) : "-";
    const char *user = netlib_url_auth(transfer->url, NULL);
    if (answer >= 200) printf("%d", (int)answer);
    else fputs("---", stdout);
    printf("  %lld bytes  %.3f s  %d/%zu %s  %s", (long long)netlib_body_decoder_bytes_decoded(transfer->decoder),
           netlib_current_time() - transfer->start_time, (int)winner + 1,
           netlib_connect_attempt_count(transfer->connect), address,
           user != NULL ? netlib_url_redacted(transfer->url, NULL) : transfer->text);
    if (status != NETLIB_OK) print_failure(transfer, status, err);
    putchar('\n');
}

/* Keeps the connection for a later transfer if the server keeps it open and no bytes follow the response. An idle
 * connection is not watched: take_connection finds out whether the server has closed it. */
static void release_connection(struct transfer *transfer) {
    if (transfer->phase != DONE || !netlib_response_keeps_alive(transfer->response, transfer->decoder)) return;
    if (netlib_stream_pending(transfer->connection.stream) > 0) return;
    if (transfer->events != 0) (void)epoll_ctl(transfer->shared->epoll, EPOLL_CTL_DEL, transfer->connection.fd, NULL);
    keep_connection(&transfer->shared->idle, &transfer->connection);
}

/* Ends a transfer and frees its resources. Closing a descriptor also removes the descriptor from epoll. Freeing the
 * netlib_connect abandons its lookup and all its connection attempts. */
static void finish(struct transfer *transfer, netlib_status status, const netlib_error *err) {
    print_line(transfer, status, err);
    transfer->succeeded = status == NETLIB_OK && netlib_response_status(transfer->response) < 400;
    unwatch_race(transfer);
    release_connection(transfer);
    close_connection(&transfer->connection);
    netlib_connect_free(transfer->connect);
    netlib_request_free(transfer->request);
    netlib_body_decoder_free(transfer->decoder);
    netlib_response_free(transfer->response);
    netlib_limit_free(transfer->limit);
    netlib_url_free(transfer->url);
    transfer->phase = DONE;
}

static netlib_status parse(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_parse_url(transfer->text, NETLIB_NTS, &transfer->url, err);
    if (status != NETLIB_OK) return status;
    const netlib_url *url = transfer->url;
    const char *scheme = netlib_url_scheme(url, NULL);
    bool is_http = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (is_http && netlib_url_host(url, NULL) != NULL && netlib_url_auth(url, NULL) == NULL) return NETLIB_OK;
    return fail(NETLIB_INVALID_URL, err, "an http:// or https:// URL with a host and without a user is required");
}

static netlib_status start_connect(struct transfer *transfer, netlib_error **err) {
    const char *host = netlib_url_host(transfer->url, NULL);
    int32_t port = netlib_url_port_or_default(transfer->url);
    transfer->phase = CONNECTING;
    netlib_status status = netlib_connect_new(host, port, NULL, &transfer->connect, err);
    return status == NETLIB_OK ? netlib_connect_set_limit(transfer->connect, transfer->limit, err) : status;
}

/* Makes the objects of a transfer. The limit of the transfer is a child of the program's limit. */
static netlib_status prepare(struct transfer *transfer, netlib_error **err) {
    struct shared *shared = transfer->shared;
    struct connection *connection = &transfer->connection;
    netlib_status status = parse(transfer, err);
    if (status != NETLIB_OK) return status;
    status =
        netlib_request_new("GET", transfer->url, shared->headers, NETLIB_REQUEST_FORM_ORIGIN, &transfer->request, err);
    if (status == NETLIB_OK) status = netlib_limit_new(shared->timeout, shared->limit, &transfer->limit, err);
    if (status == NETLIB_OK) {
        status = netlib_connection_key(transfer->url, NULL, shared->tls, NULL, NULL, 0, connection->key,
                                       sizeof connection->key, err);
    }
    if (status != NETLIB_OK) return status;
    if (!take_connection(&shared->idle, connection)) return start_connect(transfer, err);
    transfer->phase = SENDING;
    transfer->can_continue = true;
    return NETLIB_OK;
}

/* Starts again with a new connection if the transfer used an idle connection and the server has closed it without a
 * response. A GET may be repeated. Frees the error of the idle connection. */
static netlib_status reconnect(struct transfer *transfer, netlib_status status, netlib_error **err) {
    if (status != NETLIB_STALE_CONNECTION) return status;
    close_connection(&transfer->connection);
    transfer->events = 0;
    transfer->sent = 0;
    netlib_error_free(*err);
    return start_connect(transfer, err);
}

void transfer_start(struct transfer *transfer, struct shared *shared, const char *text) {
    *transfer = (struct transfer){
        .shared = shared, .text = text, .connection = {.fd = -1}, .start_time = netlib_current_time()};
    netlib_error *err = NULL;
    netlib_status status = prepare(transfer, &err);
    if (status != NETLIB_OK) finish(transfer, status, err);
    netlib_error_free(err);
}

/* Makes at most MAX_STEPS steps, so that a transfer with much data does not delay the other transfers. */
void transfer_advance(struct transfer *transfer) {
    if (transfer->phase == DONE) return; /* an earlier event of this turn has ended the transfer */
    netlib_error *err = NULL;
    netlib_status status = NETLIB_OK;
    /* While connecting, netlib_connect_step checks the limit. */
    if (transfer->phase != CONNECTING) status = netlib_limit_check(transfer->limit, &err);
    for (int i = 0; i < MAX_STEPS && status == NETLIB_OK && transfer->phase != DONE; i++) {
        status = phases[transfer->phase].step(transfer, &err);
    }
    status = reconnect(transfer, status, &err);
    transfer->can_continue = status == NETLIB_OK;
    if (status == NETLIB_WANT_READ || status == NETLIB_WANT_WRITE) {
        uint32_t events = status == NETLIB_WANT_READ ? EPOLLIN : EPOLLOUT;
        status = transfer->phase == CONNECTING ? NETLIB_OK : watch_connection(transfer, events, &err);
    }
    if (status != NETLIB_OK || transfer->phase == DONE) finish(transfer, status, err);
    netlib_error_free(err);
}

double transfer_timer(const struct transfer *transfer) {
    if (transfer->can_continue || transfer->phase == DONE) return 0;
    if (transfer->phase == CONNECTING) return netlib_connect_wait_seconds(transfer->connect); /* includes the limit */
    return netlib_limit_remaining(transfer->limit);
}

bool transfer_is_done(const struct transfer *transfer) { return transfer->phase == DONE; }
