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
#include <sys/socket.h>
#include <unistd.h>

/* The maximum size of a request or of a response head, and the maximum number of bytes per read. */
#define BUFFER_SIZE ((size_t)64 * 1024)

enum {
    MAX_STEPS = 16,            /* the maximum number of steps before the next transfer continues */
    MAX_INTERIM_RESPONSES = 20 /* more than any honest server sends */
};

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
    return control(transfer, operation, transfer->fd, events, err);
}

/* --- sending and receiving ---------------------------------------------------------------------------------------- */

/* Returns `wanted` if send(2) or recv(2) would have blocked, otherwise an error. The socket itself is blocking, but
 * MSG_DONTWAIT makes each call non-blocking. */
static netlib_status blocked_or_failed(netlib_status wanted, const char *what, netlib_error **err) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return wanted;
    return fail(NETLIB_PROTOCOL, err, "cannot %s: %s", what, strerror(errno));
}

static netlib_status send_some(struct transfer *transfer, netlib_error **err) {
    const char *data = transfer->buffer + transfer->start;
    size_t len = transfer->end - transfer->start, sent = 0;
    if (transfer->tls != NULL) {
        netlib_status status = netlib_stream_write(transfer->tls, data, len, &sent, err);
        transfer->start += sent;
        return status;
    }
    ssize_t n = send(transfer->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return blocked_or_failed(NETLIB_WANT_WRITE, "send", err);
    transfer->start += (size_t)n;
    return NETLIB_OK;
}

/* Appends received bytes to the buffer. Returns NETLIB_END_OF_STREAM if the peer has closed the connection. */
static netlib_status receive_some(struct transfer *transfer, netlib_error **err) {
    memmove(transfer->buffer, transfer->buffer + transfer->start, transfer->end - transfer->start);
    transfer->end -= transfer->start;
    transfer->start = 0;
    char *room = transfer->buffer + transfer->end;
    size_t len = BUFFER_SIZE - transfer->end, got = 0;
    if (len == 0) return fail(NETLIB_PROTOCOL, err, "the response head or a line has more than %zu bytes", BUFFER_SIZE);
    if (transfer->tls != NULL) {
        netlib_status status = netlib_stream_read(transfer->tls, room, len, &got, err);
        transfer->end += got;
        return status;
    }
    ssize_t n = recv(transfer->fd, room, len, MSG_DONTWAIT);
    if (n < 0) return blocked_or_failed(NETLIB_WANT_READ, "receive", err);
    transfer->end += (size_t)n;
    return n > 0 ? NETLIB_OK : NETLIB_END_OF_STREAM;
}

/* --- the phases --------------------------------------------------------------------------------------------------- */

/* Each phase has a function that returns NETLIB_OK if it made progress, and NETLIB_WANT_READ or NETLIB_WANT_WRITE if
 * the transfer must wait. Any other status ends the transfer. */

static bool is_https(const struct transfer *transfer) {
    return strcmp(netlib_url_scheme(transfer->url, NULL), "https") == 0;
}

static netlib_status write_request(struct transfer *transfer, netlib_error **err) {
    int len = snprintf(transfer->buffer, BUFFER_SIZE, "GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n",
                       netlib_url_request_uri(transfer->url, NULL), netlib_url_netloc(transfer->url, NULL),
                       netlib_headers_to_wire(transfer->shared->headers, NULL));
    if (len < 0 || (size_t)len >= BUFFER_SIZE) return fail(NETLIB_INVALID_URL, err, "the URL is too long to send");
    transfer->start = 0;
    transfer->end = (size_t)len;
    transfer->phase = SENDING;
    return NETLIB_OK;
}

static netlib_status advance_connect(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_connect_step(transfer->connect, &transfer->fd, err);
    if (status == NETLIB_WANT_WRITE) {
        netlib_status watched = watch_race(transfer, err);
        return watched == NETLIB_OK ? status : watched;
    }
    unwatch_race(transfer);
    if (status != NETLIB_OK) return status;
    if (!is_https(transfer)) return write_request(transfer, err);
    const char *host = netlib_url_host(transfer->url, NULL);
    status = netlib_tls_wrap_fd(transfer->shared->tls, transfer->fd, host, &transfer->tls, err);
    if (status == NETLIB_OK) status = netlib_stream_set_blocking(transfer->tls, 0, err);
    transfer->phase = HANDSHAKING;
    return status;
}

static netlib_status do_handshake(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_stream_handshake(transfer->tls, err);
    return status == NETLIB_OK ? write_request(transfer, err) : status;
}

static netlib_status send_request(struct transfer *transfer, netlib_error **err) {
    netlib_status status = send_some(transfer, err);
    if (transfer->start == transfer->end) transfer->phase = READING_HEAD;
    return status;
}

static netlib_status read_head(struct transfer *transfer, netlib_error **err) {
    netlib_status status = receive_some(transfer, err);
    if (status == NETLIB_END_OF_STREAM) {
        return fail(NETLIB_PROTOCOL, err, "the server closed the connection %s",
                    transfer->end == 0 ? "without an answer" : "in the middle of the response head");
    }
    while (status == NETLIB_OK) {
        netlib_response *response = NULL;
        size_t head_len = 0;
        status = netlib_response_parse("GET", transfer->buffer + transfer->start, transfer->end - transfer->start,
                                       &transfer->head_state, &response, &head_len, err);
        if (status == NETLIB_WANT_READ) return NETLIB_OK; /* the next step checks for more bytes */
        if (status != NETLIB_OK) break;
        transfer->start += head_len;
        netlib_response_free(transfer->response);
        transfer->response = response;
        if (netlib_response_status(response) >= 200) {
            transfer->phase = READING_BODY;
            return body_begin(&transfer->body, response, err);
        }
        if (++transfer->interim_responses == MAX_INTERIM_RESPONSES) {
            return fail(NETLIB_PROTOCOL, err, "the server sent %d interim responses", MAX_INTERIM_RESPONSES);
        }
    }
    return status;
}

/* Reads the body and counts its bytes. A real program would store the bytes here. */
static netlib_status read_body(struct transfer *transfer, netlib_error **err) {
    size_t used = 0;
    netlib_status status =
        body_take(&transfer->body, transfer->buffer + transfer->start, transfer->end - transfer->start, &used, err);
    transfer->start += used;
    if (status == NETLIB_OK) transfer->phase = DONE;
    if (status != NETLIB_WANT_READ) return status;
    status = receive_some(transfer, err);
    if (status != NETLIB_END_OF_STREAM) return status;
    status = body_end(&transfer->body, err);
    if (status == NETLIB_OK) transfer->phase = DONE;
    return status;
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
    printf(": %s%s (%s)", transfer->connect != NULL ? phases[transfer->phase].doing : "", message,
           netlib_status_name(status));
}

static void print_line(const struct transfer *transfer, netlib_status status, const netlib_error *err) {
    int32_t answer = netlib_response_status(transfer->response);
    int32_t winner = netlib_connect_winner(transfer->connect);
    const char *address = winner >= 0 ? netlib_connect_attempt_address(transfer->connect, (size_t)winner, NULL) : "-";
    const char *user = netlib_url_auth(transfer->url, NULL);
    if (answer >= 200) printf("%d", (int)answer);
    else fputs("---", stdout);
    printf("  %lld bytes  %.3f s  %d/%zu %s  %s", (long long)transfer->body.bytes,
           netlib_current_time() - transfer->start_time, (int)winner + 1,
           netlib_connect_attempt_count(transfer->connect), address,
           user != NULL ? netlib_url_redacted(transfer->url, NULL) : transfer->text);
    if (status != NETLIB_OK) print_failure(transfer, status, err);
    putchar('\n');
}

/* Ends a transfer and frees its resources. Closing a descriptor also removes the descriptor from epoll. Freeing the
 * netlib_connect abandons its lookup and all its connection attempts. */
static void finish(struct transfer *transfer, netlib_status status, const netlib_error *err) {
    print_line(transfer, status, err);
    transfer->succeeded = status == NETLIB_OK && netlib_response_status(transfer->response) < 400;
    unwatch_race(transfer);
    netlib_stream_free(transfer->tls);
    if (transfer->fd >= 0) close(transfer->fd);
    netlib_connect_free(transfer->connect);
    netlib_response_free(transfer->response);
    netlib_limit_free(transfer->limit);
    netlib_url_free(transfer->url);
    free(transfer->buffer);
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

/* Creates the limit of a transfer, which expires after the transfer's timeout but no later than the overall limit. */
static netlib_status set_limit(struct transfer *transfer, netlib_error **err) {
    const struct shared *shared = transfer->shared;
    netlib_status status = netlib_limit_check(shared->limit, err);
    double seconds = netlib_limit_remaining(shared->limit);
    if (seconds > shared->timeout) seconds = shared->timeout;
    if (status == NETLIB_OK) status = netlib_limit_new(seconds, NULL, &transfer->limit, err);
    if (status == NETLIB_OK) status = netlib_connect_set_limit(transfer->connect, transfer->limit, err);
    return status;
}

void transfer_start(struct transfer *transfer, const struct shared *shared, const char *text) {
    *transfer = (struct transfer){.shared = shared, .text = text, .fd = -1, .start_time = netlib_current_time()};
    netlib_error *err = NULL;
    netlib_status status = parse(transfer, &err);
    if (status == NETLIB_OK) {
        status = netlib_connect_new(netlib_url_host(transfer->url, NULL), netlib_url_port_or_default(transfer->url),
                                    NULL, &transfer->connect, &err);
    }
    if (status == NETLIB_OK) status = set_limit(transfer, &err);
    if (status == NETLIB_OK && (transfer->buffer = malloc(BUFFER_SIZE)) == NULL) {
        status = fail(NETLIB_OUT_OF_MEMORY, &err, "no memory for a buffer");
    }
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

void transfer_cancel(struct transfer *transfer) {
    netlib_limit_cancel(transfer->limit);
    transfer_advance(transfer);
}

bool transfer_is_done(const struct transfer *transfer) { return transfer->phase == DONE; }
