/* Tests the minimum throughput of TLS streams and descriptors with slow peers. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_session.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>

/* A minimum throughput in bytes per window that no peer of these tests reaches. */
#define MUCH 1000000000

/* The throughput window in seconds. The window is short compared with the time that a `struct drip` takes to send all
 * of its bytes. The tests call drip_stop, so they do not wait until all bytes have been sent slowly. */
#define WINDOW 0.05

/* A peer that sends `step` bytes every millisecond. After drip_stop the peer sends all remaining bytes at once. */
struct drip {
    int fd;
    const char *bytes;
    size_t len, step;
    atomic_bool stop;
    pthread_t thread;
};

static void *drip_main(void *argument) {
    struct drip *drip = argument;
    for (size_t i = 0; i < drip->len;) {
        size_t len = drip->len - i < drip->step ? drip->len - i : drip->step;
        if (atomic_load(&drip->stop)) len = drip->len - i;
        else if (poll(NULL, 0, 1) == 0 && len == drip->len - i) continue;
        ssize_t sent = send(drip->fd, drip->bytes + i, len, MSG_NOSIGNAL);
        if (sent < 0) break;
        i += (size_t)sent;
    }
    return NULL;
}

static void drip_start(struct drip *drip) {
    atomic_init(&drip->stop, false);
    CHECK(pthread_create(&drip->thread, NULL, drip_main, drip) == 0);
}

static void drip_stop(struct drip *drip) {
    atomic_store(&drip->stop, true);
    CHECK(pthread_join(drip->thread, NULL) == 0);
}

/* Reads until a call returns a status other than NETLIB_OK. Returns the number of bytes, and stores the error
 * message. */
static size_t read_on(netlib_stream *stream, netlib_status expected, char *message, size_t room) {
    netlib_error *err = NULL;
    static char buf[20000];
    size_t n = 0, total = 0;
    netlib_status status = NETLIB_OK;
    while ((status = netlib_stream_read(stream, buf, sizeof buf, &n, &err)) == NETLIB_OK) total += n;
    snprintf(message, room, "%s", err != NULL ? netlib_error_message(err, NULL) : "");
    CHECK_STATUS(expected, status);
    return total;
}

/* The server sends nothing, or slowly sends one of the following: records with one byte of data, each of which would
 * restart a read timeout; tickets, which are records without data; or one large record. After the failure, reading can
 * continue, and no data is lost. */
static void reads_fail_when_the_peer_sends_below_the_minimum_throughput(void) {
    enum { RECORDS, TICKETS, LARGE, SILENCE, KINDS };
    netlib_error *err = NULL;
    static char bytes[400000], large[16385], message[400], expected[400];
    memset(large, 'x', sizeof large - 1);
    for (int kind = 0; kind < KINDS; kind++) {
        struct session session = begin(unix_pair());
        size_t len = 0, data = 0, step = 1;
        if (kind != TICKETS) send_raw(&session, session.tickets, session.tickets_len);
        if (kind == RECORDS) {
            for (; data < 3000; data++) len += from_server(&session, "x", bytes + len, sizeof bytes - len);
            step = len / data;
        } else if (kind == TICKETS) {
            len = session.tickets_len;
            memcpy(bytes, session.tickets, len);
        } else if (kind == LARGE) {
            data = sizeof large - 1;
            len = from_server(&session, large, bytes, sizeof bytes);
        }
        CHECK_OK(netlib_stream_set_read_timeout(session.near, LONG, &err));
        CHECK_OK(netlib_stream_set_minimum_throughput(session.near, MUCH, WINDOW, &err));
        struct drip drip = {.fd = session.pair.far, .bytes = bytes, .len = len, .step = step};
        drip_start(&drip);
        double began = netlib_current_time();
        size_t received = read_on(session.near, NETLIB_TOO_SLOW, message, sizeof message);
        double took = netlib_current_time() - began;
        CHECK(took >= WINDOW * 0.9 && took < LONG);
        CHECK(kind == RECORDS ? received < data : received == 0);
        snprintf(expected, sizeof expected, "%zu bytes arrived from the server \"localhost\" in ", received);
        CHECK(strstr(message, " s of waiting; the minimum is 1000000000 in 0.05 s") != NULL);
        message[strlen(expected)] = '\0';
        CHECK_STR(expected, message);
        /* The next read starts a new throughput window. */
        received += read_on(session.near, NETLIB_TOO_SLOW, message, sizeof message);
        drip_stop(&drip);
        CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 0, 0.0, &err));
        CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
        received += read_on(session.near, NETLIB_WANT_READ, message, sizeof message);
        CHECK_INT((long long)data, (long long)received);
        end(&session);
    }
}

/* The bytes of the handshake count towards the minimum throughput. A handshake that was too slow can be continued. */
static void handshake_bytes_count_towards_the_minimum_throughput(void) {
    netlib_error *err = NULL;
    char bytes[20000];
    struct session session = {.pair = unix_pair(), .far = server_engine(server)};
    session.near = wrap(client, session.pair.near, "localhost");
    CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    size_t len = drain_all(session.far, bytes, sizeof bytes);
    CHECK(len > 1000);
    CHECK_OK(netlib_stream_set_blocking(session.near, 1, &err));
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, MUCH, WINDOW, &err));
    send_raw(&session, bytes, 100);
    struct drip drip = {.fd = session.pair.far, .bytes = bytes + 100, .len = len - 100, .step = 1};
    drip_start(&drip);
    netlib_status status = netlib_stream_handshake(session.near, &err);
    CHECK_CONTAINS(" s of waiting during the TLS handshake; the minimum is", netlib_error_message(err, NULL));
    long received = atol(netlib_error_message(err, NULL));
    CHECK(received >= 100 && received < (long)len);
    CHECK_STATUS(NETLIB_TOO_SLOW, status);
    drip_stop(&drip);
    CHECK_OK(netlib_stream_handshake(session.near, &err));
    end(&session);

    /* All bytes have arrived before the window ends, so the handshake succeeds with the lowest minimum. */
    session = (struct session){.pair = unix_pair(), .far = server_engine(server)};
    session.near = wrap(client, session.pair.near, "localhost");
    CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 1, LONG, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(session.near, &err));
    receive_far(&session);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(session.far, &err));
    send_raw(&session, bytes, drain_all(session.far, bytes, sizeof bytes));
    CHECK_OK(netlib_stream_handshake(session.near, &err));
    end(&session);
}

static void spin(double seconds) {
    for (double until = netlib_current_time() + seconds; netlib_current_time() < until;) {}
}

/* For a non-blocking stream, the time between WANT_READ and the next call counts as waiting. The next call reads before
 * it checks the throughput. */
static void non_blocking_streams_read_before_they_check_throughput(void) {
    netlib_error *err = NULL;
    char bytes[1000], message[400];
    size_t n = 0;
    struct session session = begin(unix_pair());
    send_raw(&session, session.tickets, session.tickets_len);
    CHECK_OK(netlib_stream_set_blocking(session.near, 0, &err));
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 1, LONG, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err));
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 1, WINDOW, &err));
    netlib_status status = NETLIB_WANT_READ;
    while (status == NETLIB_WANT_READ) status = netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err);
    CHECK_STATUS(NETLIB_TOO_SLOW, status);

    /* The data arrived late, but before the next call. */
    size_t len = from_server(&session, "late", bytes, sizeof bytes);
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(session.near, message, 1, &n, &err));
    spin(WINDOW);
    send_raw(&session, bytes, len);
    CHECK_OK(netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err));
    CHECK_INT(4, (long long)n);
    end(&session);
}

/* A read fails with the status of the bound that is exceeded first: the read timeout, the minimum throughput, or the
 * limit of the stream. */
static void a_read_returns_the_status_of_the_bound_that_is_exceeded_first(void) {
    netlib_error *err = NULL;
    char bytes[1000];
    size_t n = 0;
    struct session session = begin(unix_pair());
    send_raw(&session, session.tickets, session.tickets_len);
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 1, LONG, &err));
    CHECK_OK(netlib_stream_set_read_timeout(session.near, 0.01, &err));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err));
    CHECK_OK(netlib_stream_set_read_timeout(session.near, LONG, &err));
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 1, 0.01, &err));
    CHECK_STATUS(NETLIB_TOO_SLOW, netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err));
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(0.01, NULL, &limit, &err));
    netlib_stream_set_limit(session.near, limit);
    CHECK_OK(netlib_stream_set_minimum_throughput(session.near, 1, LONG, &err));
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err));
    netlib_limit_cancel(limit);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_stream_read(session.near, bytes, sizeof bytes, &n, &err));
    netlib_stream_set_limit(session.near, NULL);
    netlib_limit_free(limit);

    /* Values that disable the minimum throughput, and values that are refused. */
    static const struct {
        size_t bytes;
        double seconds;
        netlib_status status;
    } rows[] = {
        {0, 1.0, NETLIB_OK},
        {0, 0.0, NETLIB_OK},
        {0, NAN, NETLIB_OK},
        {1, INFINITY, NETLIB_OK},
        {1, 1e300, NETLIB_OK},
        {SIZE_MAX, 1e-300, NETLIB_OK},
        {1, 0.0, NETLIB_INVALID_ARGUMENT},
        {1, -1.0, NETLIB_INVALID_ARGUMENT},
        {1, NAN, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_throughput *throughput = NULL;
        CHECK_STATUS(rows[row].status,
                     netlib_stream_set_minimum_throughput(session.near, rows[row].bytes, rows[row].seconds, &err));
        CHECK_STATUS(rows[row].status, netlib_throughput_new(rows[row].bytes, rows[row].seconds, &throughput, &err));
        CHECK((throughput != NULL) == (rows[row].status == NETLIB_OK));
        netlib_throughput_free(throughput);
    }
    end(&session);
}

static int32_t wait_and_read(void *ctx, void *buf, size_t len, size_t *n) {
    ssize_t got = recv(*(int *)ctx, buf, len, 0);
    if (got < 0) return errno;
    *n = (size_t)got;
    return NETLIB_OK;
}

static int32_t just_write(void *ctx, const void *buf, size_t len, size_t *n) {
    ssize_t sent = send(*(int *)ctx, buf, len, MSG_NOSIGNAL);
    if (sent < 0) return errno;
    *n = (size_t)sent;
    return NETLIB_OK;
}

/* A record of the outer stream arrives slowly, over a descriptor or over blocking callbacks. The application reads the
 * inner stream, so the minimum throughput of the inner stream applies. */
static void reads_of_the_inner_stream_use_the_inner_minimum_throughput(void) {
    netlib_error *err = NULL;
    static char bytes[60000], text[16001], message[400];
    size_t n = 0;
    memset(text, 'x', sizeof text - 1);
    for (int functions = 0; functions < 2; functions++) {
        struct session outer = {.pair = unix_pair(), .far = server_engine(server)};
        if (functions) {
            CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", wait_and_read, just_write, &outer.pair.near, NULL,
                                               &outer.near, &err));
        } else {
            outer.near = wrap(client, outer.pair.near, "localhost");
        }
        netlib_stream *inner = NULL;
        /* The minimum throughput of the outer stream has no effect. */
        CHECK_OK(netlib_stream_set_minimum_throughput(outer.near, MUCH, 1e-9, &err));
        CHECK_OK(netlib_tls_wrap_stream(client, outer.near, "localhost", &inner, &err));
        /* The peer runs on this thread, because the other thread does the handshake of the client stream. */
        netlib_tls_engine *far = server_engine(server);
        pthread_t thread;
        CHECK_OK(netlib_stream_set_read_timeout(inner, LONG, &err));
        struct flow flow = {.stream = inner, .total = 1, .chunk = 1};
        CHECK(pthread_create(&thread, NULL, write_flow, &flow) == 0);
        netlib_status status = NETLIB_WANT_READ;
        while (status == NETLIB_WANT_READ) {
            ssize_t got = recv(outer.pair.far, bytes, sizeof bytes, 0);
            if (got <= 0) break;
            feed_all(outer.far, bytes, (size_t)got);
            if (netlib_tls_engine_handshake(outer.far, NULL) == NETLIB_OK) {
                while (netlib_tls_engine_read(outer.far, bytes, sizeof bytes, &n, NULL) == NETLIB_OK)
                    feed_all(far, bytes, n);
                status = netlib_tls_engine_handshake(far, NULL);
                size_t len = drain_all(far, bytes, sizeof bytes);
                CHECK_OK(netlib_tls_engine_write(outer.far, bytes, len, &n, &err));
            }
            send_raw(&outer, bytes, drain_all(outer.far, bytes, sizeof bytes));
        }
        CHECK_INT(NETLIB_OK, status);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_INT(NETLIB_OK, flow.status);

        CHECK_OK(netlib_tls_engine_write(far, text, sizeof text - 1, &n, &err));
        size_t len = drain_all(far, bytes, sizeof bytes);
        CHECK_OK(netlib_tls_engine_write(outer.far, bytes, len, &n, &err));
        CHECK_INT((long long)len, (long long)n);
        len = drain_all(outer.far, bytes, sizeof bytes);
        CHECK_OK(netlib_stream_set_minimum_throughput(inner, MUCH, WINDOW, &err));
        struct drip drip = {.fd = outer.pair.far, .bytes = bytes, .len = len, .step = 1};
        drip_start(&drip);
        CHECK_INT(0, (long long)read_on(inner, NETLIB_TOO_SLOW, message, sizeof message));
        CHECK(strncmp(message, "0 bytes arrived from the server \"localhost\" in ", 44) == 0);
        drip_stop(&drip);
        CHECK_OK(netlib_stream_set_minimum_throughput(inner, 1, LONG, &err));
        size_t total = 0;
        while (total < sizeof text - 1 && netlib_stream_read(inner, message, sizeof message, &n, &err) == NETLIB_OK)
            total += n;
        CHECK_INT(sizeof text - 1, (long long)total);
        netlib_stream_free(inner);
        netlib_tls_engine_free(far);
        end(&outer);
    }
}

/* The application reads a slow descriptor itself, and waits with netlib_throughput_wait_for_read. */
static void throughput_waits_fail_below_the_minimum_throughput(void) {
    netlib_error *err = NULL;
    netlib_throughput *throughput = NULL;
    static char bytes[20000];
    char buf[100], message[400] = "";
    struct pair pair = unix_pair();
    CHECK_OK(netlib_throughput_new(MUCH, WINDOW, &throughput, &err));
    struct drip drip = {.fd = pair.far, .bytes = bytes, .len = sizeof bytes, .step = 1};
    drip_start(&drip);
    netlib_status status = NETLIB_OK;
    size_t total = 0;
    while ((status = netlib_throughput_wait_for_read(throughput, pair.near, LONG, NULL, &err)) == NETLIB_OK) {
        ssize_t n = recv(pair.near, buf, sizeof buf, MSG_DONTWAIT);
        CHECK(n > 0);
        netlib_throughput_add(throughput, (size_t)n);
        total += (size_t)n;
    }
    snprintf(message, sizeof message, "%s", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_TOO_SLOW, status);
    CHECK(total < sizeof bytes);
    CHECK(strstr(message, " s of waiting; the minimum is 1000000000 in 0.05 s") != NULL);
    snprintf(buf, sizeof buf, "%zu bytes arrived from descriptor %d in ", total, pair.near);
    message[strlen(buf)] = '\0';
    CHECK_STR(buf, message);
    drip_stop(&drip);
    netlib_throughput_free(throughput);
    while (recv(pair.near, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}

    /* The status of a failed wait depends on whether the timeout, the limit or the minimum throughput was exceeded.
     * After a failure, the next call starts a new window. */
    CHECK_OK(netlib_throughput_new(2, LONG, &throughput, &err));
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_throughput_wait_for_read(throughput, pair.near, 0.0, NULL, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_throughput_wait_for_read(throughput, pair.near, NAN, NULL, &err));
    CHECK_STATUS(NETLIB_IO, netlib_throughput_wait_for_read(throughput, -1, 0.0, NULL, &err));
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_limit_cancel(limit);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_throughput_wait_for_read(throughput, pair.near, LONG, limit, &err));
    netlib_limit_free(limit);
    netlib_throughput_free(throughput);
    CHECK_OK(netlib_throughput_new(2, 0.01, &throughput, &err));
    for (int turn = 0; turn < 3; turn++) {
        CHECK_STATUS(NETLIB_TOO_SLOW,
                     netlib_throughput_wait_for_read(throughput, pair.near, NETLIB_TIMEOUT_NONE, NULL, &err));
    }
    netlib_throughput_add(throughput, 2);
    netlib_throughput_add(NULL, 2);
    close(pair.far);
    pair.far = -1;
    CHECK_OK(netlib_throughput_wait_for_read(throughput, pair.near, LONG, NULL, &err));
    netlib_throughput_free(throughput);
    netlib_throughput_free(NULL);
    close_pair(pair);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    reads_fail_when_the_peer_sends_below_the_minimum_throughput();
    handshake_bytes_count_towards_the_minimum_throughput();
    non_blocking_streams_read_before_they_check_throughput();
    a_read_returns_the_status_of_the_bound_that_is_exceeded_first();
    reads_of_the_inner_stream_use_the_inner_minimum_throughput();
    throughput_waits_fail_below_the_minimum_throughput();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("throughput");
}
