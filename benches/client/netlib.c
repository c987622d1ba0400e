/*
 * netlib.c - the client of the table `client` that uses netlib with epoll, like examples-c/epoll.c.
 *
 * Each transfer sends one request after the other. The TLS context keeps the TLS sessions and the trusted certificates.
 */
#include "client.h"

#include <errno.h>
#include <netlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MAX_WATCHED = 4 };

struct loop {
    const struct settings *settings;
    int epoll;
    double next_timer; /* no timer of a transfer expires before this time */
    size_t started, done;
    netlib_url *url;
    netlib_tls_context *tls;
    netlib_limit *limit; /* the parent of the limits of all requests */
    netlib_request *request;
};

enum phase { CONNECTING, SENDING, READING_HEAD, READING_BODY, DONE };

struct transfer {
    enum phase phase;
    double timer; /* the time at which the transfer must advance, even without an event */
    netlib_limit *limit;
    netlib_connect *connect;
    int watched[MAX_WATCHED];
    size_t watched_count;
    int fd;
    uint32_t events; /* the events that epoll watches `fd` for; 0: not watched */
    netlib_stream *stream;
    size_t sent;
    netlib_response *response;
    netlib_body_decoder *decoder;
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "netlib: %s: %s\n", what, why);
    exit(1);
}

static void check(netlib_status status, netlib_error *err) {
    if (status != NETLIB_OK) fail(netlib_status_name(status), err != NULL ? netlib_error_report(err, NULL) : "");
}

static void control(const struct loop *loop, int operation, int fd, uint32_t events, struct transfer *transfer) {
    struct epoll_event event = {.events = events, .data = {.ptr = transfer}};
    if (epoll_ctl(loop->epoll, operation, fd, &event) != 0) fail("epoll_ctl", strerror(errno));
}

static bool is_among(int fd, const int *fds, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (fds[i] == fd) return true;
    }
    return false;
}

/* Updates the descriptors that epoll watches for the connect operation. */
static void watch_connect(const struct loop *loop, struct transfer *transfer) {
    int fds[MAX_WATCHED];
    size_t count = netlib_connect_wait_count(transfer->connect);
    if (count > MAX_WATCHED) fail("connect", "too many descriptors");
    for (size_t i = 0; i < count; i++) fds[i] = netlib_connect_wait_fd(transfer->connect, i);
    for (size_t i = 0; i < transfer->watched_count; i++) {
        int fd = transfer->watched[i];
        if (!is_among(fd, fds, count)) control(loop, EPOLL_CTL_DEL, fd, 0, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        if (is_among(fds[i], transfer->watched, transfer->watched_count)) continue;
        control(loop, EPOLL_CTL_ADD, fds[i], (uint32_t)netlib_connect_wait_events(transfer->connect, i), transfer);
    }
    memcpy(transfer->watched, fds, count * sizeof *fds);
    transfer->watched_count = count;
}

static netlib_status advance_connect(const struct loop *loop, struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_connect_step(transfer->connect, &transfer->fd, err);
    if (status == NETLIB_WANT_WRITE) watch_connect(loop, transfer);
    if (status != NETLIB_OK) return status;
    /* The connection is still watched, and the other descriptors are closed. */
    if (is_among(transfer->fd, transfer->watched, transfer->watched_count)) transfer->events = EPOLLOUT;
    transfer->watched_count = 0;
    status = netlib_tls_wrap_fd(loop->tls, transfer->fd, netlib_url_host(loop->url, NULL), &transfer->stream, err);
    if (status == NETLIB_OK) status = netlib_stream_set_blocking(transfer->stream, 0, err);
    transfer->phase = SENDING;
    return status;
}

static netlib_status send_request(const struct loop *loop, struct transfer *transfer, netlib_error **err) {
    size_t len = 0, n = 0;
    const char *head = netlib_request_to_wire(loop->request, &len);
    netlib_status status = netlib_stream_write(transfer->stream, head + transfer->sent, len - transfer->sent, &n, err);
    transfer->sent += n;
    if (transfer->sent == len) transfer->phase = READING_HEAD;
    return status;
}

static netlib_status read_head(struct transfer *transfer, netlib_error **err) {
    netlib_status status = netlib_stream_read_response(transfer->stream, "GET", &transfer->response, err);
    if (status == NETLIB_OK) status = netlib_body_decoder_new(transfer->response, &transfer->decoder, err);
    if (status == NETLIB_OK) transfer->phase = READING_BODY;
    return status;
}

static netlib_status read_body(struct transfer *transfer, netlib_error **err) {
    static char body[16384];
    size_t n = 0;
    netlib_status status = netlib_stream_read_body(transfer->stream, transfer->decoder, body, sizeof body, &n, err);
    if (status != NETLIB_END_OF_STREAM) return status;
    transfer->phase = DONE;
    return NETLIB_OK;
}

static void close_connection(struct transfer *transfer) {
    netlib_stream_free(transfer->stream);
    netlib_connect_free(transfer->connect);
    if (transfer->fd >= 0) close(transfer->fd);
    transfer->stream = NULL;
    transfer->connect = NULL;
    transfer->fd = -1;
    transfer->events = 0;
}

/* Starts a request: on the connection of the previous request, if there is one, else on a new connection. */
static void start(struct loop *loop, struct transfer *transfer) {
    netlib_error *err = NULL;
    netlib_status status = netlib_limit_new(TIMEOUT, loop->limit, &transfer->limit, &err);
    transfer->sent = 0;
    transfer->phase = transfer->stream != NULL ? SENDING : CONNECTING;
    if (transfer->stream == NULL && status == NETLIB_OK) {
        const char *host = netlib_url_host(loop->url, NULL);
        status = netlib_connect_new(host, netlib_url_port_or_default(loop->url), NULL, &transfer->connect, &err);
        if (status == NETLIB_OK) status = netlib_connect_set_limit(transfer->connect, transfer->limit, &err);
    }
    check(status, err);
    loop->started++;
}

/* Checks the response, and releases all that the next request does not use. */
static void finish(struct loop *loop, struct transfer *transfer) {
    if (netlib_response_status(transfer->response) != 200 ||
        netlib_body_decoder_bytes_decoded(transfer->decoder) != BODY_SIZE) {
        fail("transfer", "not the expected response");
    }
    bool keeps_alive = loop->settings->keep_alive &&
                       netlib_response_keeps_alive(transfer->response, transfer->decoder) &&
                       netlib_stream_pending(transfer->stream) == 0;
    if (!keeps_alive) close_connection(transfer);
    netlib_body_decoder_free(transfer->decoder);
    netlib_response_free(transfer->response);
    netlib_limit_free(transfer->limit);
    transfer->decoder = NULL;
    transfer->response = NULL;
    loop->done++;
}

static netlib_status step(const struct loop *loop, struct transfer *transfer, netlib_error **err) {
    switch (transfer->phase) {
    case CONNECTING: return advance_connect(loop, transfer, err);
    case SENDING: return send_request(loop, transfer, err);
    case READING_HEAD: return read_head(transfer, err);
    default: return read_body(transfer, err);
    }
}

/* Advances a transfer as far as possible without waiting. */
static void advance(struct loop *loop, struct transfer *transfer) {
    netlib_error *err = NULL;
    netlib_status status = NETLIB_OK;
    if (transfer->phase == DONE) return;
    if (transfer->phase != CONNECTING) status = netlib_limit_check(transfer->limit, &err);
    while (status == NETLIB_OK) {
        status = step(loop, transfer, &err);
        if (transfer->phase != DONE) continue;
        finish(loop, transfer);
        if (loop->started == loop->settings->requests) return;
        start(loop, transfer);
    }
    if (status != NETLIB_WANT_READ && status != NETLIB_WANT_WRITE) check(status, err);
    uint32_t events = status == NETLIB_WANT_READ ? EPOLLIN : EPOLLOUT;
    if (transfer->phase != CONNECTING && transfer->events != events) {
        control(loop, transfer->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, transfer->fd, events, transfer);
        transfer->events = events;
    }
    transfer->timer =
        netlib_current_time() + (transfer->phase == CONNECTING ? netlib_connect_wait_seconds(transfer->connect)
                                                               : netlib_limit_remaining(transfer->limit));
    if (transfer->timer < loop->next_timer) loop->next_timer = transfer->timer;
}

/* Advances the transfers whose timer has expired, and returns the timeout of epoll_wait in milliseconds. */
static int handle_timers(struct loop *loop, struct transfer *transfers) {
    double now = netlib_current_time();
    if (loop->next_timer <= now) {
        loop->next_timer = now + TIMEOUT;
        for (size_t i = 0; i < loop->settings->parallel; i++) {
            struct transfer *transfer = &transfers[i];
            if (transfer->phase != DONE && transfer->timer <= now) advance(loop, transfer);
            if (transfer->phase != DONE && transfer->timer < loop->next_timer) loop->next_timer = transfer->timer;
        }
    }
    return loop->next_timer > now ? (int)((loop->next_timer - now) * 1000) + 1 : 0;
}

static void run(struct loop *loop, struct transfer *transfers) {
    struct epoll_event events[MAX_PARALLEL];
    for (size_t i = 0; i < loop->settings->parallel; i++) {
        transfers[i].fd = -1;
        start(loop, &transfers[i]);
        advance(loop, &transfers[i]);
    }
    while (loop->done < loop->settings->requests) {
        int ready = epoll_wait(loop->epoll, events, MAX_PARALLEL, handle_timers(loop, transfers));
        if (ready < 0 && errno != EINTR) fail("epoll_wait", strerror(errno));
        for (int i = 0; i < ready; i++) advance(loop, events[i].data.ptr);
    }
}

static void make(struct loop *loop) {
    const struct settings *settings = loop->settings;
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_headers_options *fields = netlib_headers_options_new();
    netlib_headers_options_add_header(fields, "Accept", "*/*");
    if (!settings->keep_alive) netlib_headers_options_add_header(fields, "Connection", "close");
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, settings->ca);
    netlib_tls_options_set_resumption(options, settings->resume);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll < 0) fail("epoll_create1", strerror(errno));
    netlib_status status = netlib_parse_url(settings->url, NETLIB_NTS, &loop->url, &err);
    if (status == NETLIB_OK) status = netlib_tls_context_new(options, &loop->tls, &err);
    if (status == NETLIB_OK) status = netlib_make_headers(fields, &headers, &err);
    if (status == NETLIB_OK) status = netlib_limit_new(NETLIB_TIMEOUT_NONE, NULL, &loop->limit, &err);
    if (status == NETLIB_OK) {
        status = netlib_request_new("GET", loop->url, headers, NETLIB_REQUEST_FORM_ORIGIN, &loop->request, &err);
    }
    check(status, err);
    netlib_headers_free(headers);
    netlib_headers_options_free(fields);
    netlib_tls_options_free(options);
}

int main(int argc, char **argv) {
    struct settings settings = begin(argc, argv);
    struct loop loop = {.settings = &settings, .next_timer = NETLIB_TIMEOUT_NONE};
    static struct transfer transfers[MAX_PARALLEL];
    make(&loop);
    run(&loop, transfers);
    for (size_t i = 0; i < settings.parallel; i++) close_connection(&transfers[i]);
    netlib_request_free(loop.request);
    netlib_tls_context_free(loop.tls);
    netlib_limit_free(loop.limit);
    netlib_url_free(loop.url);
    close(loop.epoll);
    return end(&settings, "netlib " NETLIB_VERSION);
}
