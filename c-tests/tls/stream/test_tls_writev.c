/* Tests writes of several slices, and the shutdown of both directions. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>

static netlib_tls_context *client, *server;

struct ends {
    struct pair pair;
    netlib_stream *near, *far;
};

static struct ends make_ends(void) {
    netlib_error *err = NULL;
    struct ends ends = {.pair = unix_pair()};
    netlib_status near = NETLIB_WANT_READ, far = NETLIB_WANT_READ;
    ends.near = wrap(client, ends.pair.near, "localhost");
    ends.far = accept_tls(server, ends.pair.far);
    CHECK_OK(netlib_stream_set_blocking(ends.near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(ends.far, 0, &err));
    for (int turn = 0; turn < 10 && (near != NETLIB_OK || far != NETLIB_OK); turn++) {
        near = netlib_stream_handshake(ends.near, &err);
        far = netlib_stream_handshake(ends.far, &err);
    }
    CHECK_OK(near);
    CHECK_OK(far);
    return ends;
}

static void free_ends(struct ends *ends) {
    netlib_stream_free(ends->near);
    netlib_stream_free(ends->far);
    close_pair(ends->pair);
}

/* Each row has the lengths of the slices, and the expected plaintext lengths of the records. */
static void slices_are_joined_into_full_records(void) {
    enum { FULL = 16384 };
    static const struct {
        size_t pieces[6];
        size_t count;
        size_t repeat; /* how often the first slice is repeated */
        size_t records[8];
    } rows[] = {
        {{5}, 1, 1, {5}},
        {{1, 2, 3}, 3, 1, {6}},
        {{0, 4, 0}, 3, 1, {4}},
        {{1}, 1, 1024, {1024}},
        {{100}, 1, 1000, {FULL, FULL, FULL, FULL, FULL, FULL, 100000 - 6 * FULL}},
        {{FULL, 1}, 2, 1, {FULL, 1}},
        {{FULL - 1, 1, 1}, 3, 1, {FULL, 1}},
        /* Headers and a body. */
        {{200, 40000}, 2, 1, {FULL, FULL, 40200 - 2 * FULL}},
        {{40000, 2}, 2, 1, {FULL, FULL, 40002 - 2 * FULL}},
        /* A chunked body: "5000\r\n", data, "\r\n". */
        {{6, 20480, 2, 6, 20480, 2}, 6, 1, {FULL, FULL, 40976 - 2 * FULL}},
    };
    static unsigned char data[200000], received[200000], raw[300000];
    for (size_t i = 0; i < sizeof data; i++) data[i] = at_position(i);
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct ends ends = make_ends();
        int much = 1 << 20;
        setsockopt(ends.pair.near, SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
        netlib_slice slices[1024];
        size_t count = 0, total = 0, n = 0;
        for (size_t i = 0; i < rows[row].count; i++) {
            for (size_t k = 0; k < (i == 0 ? rows[row].repeat : 1); k++) {
                slices[count].data = rows[row].pieces[i] == 0 ? NULL : data + total;
                slices[count++].len = rows[row].pieces[i];
                total += rows[row].pieces[i];
            }
        }
        CHECK_OK(netlib_stream_set_blocking(ends.near, 1, &err));
        CHECK_OK(netlib_stream_set_write_timeout(ends.near, LONG, &err));
        CHECK_OK(netlib_stream_writev(ends.near, slices, count, &n, &err));
        CHECK_INT((long long)total, (long long)n);
        /* Checks the lengths of the records on the wire. Header, content type and tag of a TLS 1.3 record together have
         * 22 bytes. */
        ssize_t got = recv(ends.pair.far, raw, sizeof raw, MSG_PEEK | MSG_DONTWAIT);
        size_t at = 0, record = 0;
        while (got > 0 && at + 5 <= (size_t)got && record < 8) {
            size_t size = 5 + ((size_t)raw[at + 3] << 8 | raw[at + 4]);
            CHECK_INT((long long)rows[row].records[record], (long long)size - 22);
            at += size;
            record++;
        }
        CHECK(record == 8 || rows[row].records[record] == 0);
        CHECK(at == (size_t)got || (size_t)got < at);
        size_t read = 0;
        while (read < total) {
            if (netlib_stream_read(ends.far, received + read, sizeof received - read, &n, &err) != NETLIB_OK) break;
            read += n;
        }
        CHECK_INT((long long)total, (long long)read);
        CHECK(memcmp(received, data, total) == 0);
        free_ends(&ends);
    }
}

static void writev_with_invalid_slices_sends_nothing(void) {
    netlib_error *err = NULL;
    struct ends ends = make_ends();
    static netlib_slice slices[1025];
    size_t n = 7;
    CHECK_OK(netlib_stream_writev(ends.near, NULL, 0, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_OK(netlib_stream_writev(ends.near, slices, 1024, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_writev(ends.near, slices, 1025, &n, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_writev(ends.near, slices, SIZE_MAX, &n, &err));
    slices[2].len = 3;
    netlib_status status = netlib_stream_writev(ends.near, slices, 3, &n, &err);
    CHECK_STR("slices[2]: data must not be NULL", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, status);
    slices[0].data = slices[1].data = slices[2].data = "abc";
    slices[0].len = SIZE_MAX;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_writev(ends.near, slices, 3, &n, &err));
    slices[0].len = slices[1].len = (size_t)-1 / 2;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_writev(ends.near, slices, 3, &n, &err));
    CHECK_INT(0, (long long)n);
    /* The stream has sent no bytes. */
    char byte;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(ends.far, &byte, 1, &n, &err));
    free_ends(&ends);
}

/* Writes without blocking over a socket with small buffers. After an incomplete write, the application passes the
 * remaining bytes in other slices. */
static void an_incomplete_writev_can_be_continued_with_other_slices(void) {
    netlib_error *err = NULL;
    enum { TOTAL = 300000 };
    static unsigned char sent[TOTAL], received[TOTAL];
    for (size_t i = 0; i < TOTAL; i++) sent[i] = at_position(i);
    struct ends ends = make_ends();
    int little = 4096;
    setsockopt(ends.pair.near, SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
    size_t written = 0, read = 0, n = 0, wants = 0;
    unsigned cut = 1;
    for (long turn = 0; turn < 100000 && read < TOTAL; turn++) {
        netlib_slice slices[5];
        size_t from = written;
        for (size_t i = 0; i < 5; i++) {
            cut = cut * 1103515245u + 12345u;
            size_t len = i == 4 ? TOTAL - from : (cut >> 8) % 30000;
            if (len > TOTAL - from) len = TOTAL - from;
            slices[i].data = sent + from;
            slices[i].len = len;
            from += len;
        }
        netlib_status status = netlib_stream_writev(ends.near, slices, 5, &n, &err);
        written += n;
        CHECK(status == NETLIB_OK || status == NETLIB_WANT_WRITE);
        wants += status == NETLIB_WANT_WRITE;
        do {
            status = netlib_stream_read(ends.far, received + read, TOTAL - read + 1, &n, &err);
            read += n;
        } while (status == NETLIB_OK && read < TOTAL);
    }
    CHECK_INT(TOTAL, (long long)written);
    CHECK(memcmp(sent, received, TOTAL) == 0);
    CHECK(wants > 0);

    /* The second call passes fewer bytes than netlib has already encrypted. */
    static unsigned char much[TOTAL];
    netlib_status status;
    netlib_slice all = {much, sizeof much}, two[2] = {{much, 1}, {much, 1}};
    do status = netlib_stream_writev(ends.near, &all, 1, &n, &err);
    while (status == NETLIB_OK);
    CHECK_STATUS(NETLIB_WANT_WRITE, status);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_stream_writev(ends.near, two, 2, &n, &err));
    free_ends(&ends);
}

/* A thread that writes `total` bytes and sends close_notify. */
static void *send_much(void *argument) {
    struct flow *flow = argument;
    static char zeros[65536];
    size_t n = 0;
    flow->status = NETLIB_OK;
    for (size_t done = 0; done < flow->total && flow->status == NETLIB_OK; done += n) {
        size_t len = flow->total - done < sizeof zeros ? flow->total - done : sizeof zeros;
        flow->status = netlib_stream_write(flow->stream, zeros, len, &n, NULL);
    }
    if (flow->status == NETLIB_OK) flow->status = netlib_stream_shutdown(flow->stream, NULL);
    return NULL;
}

/* The peer sends no bytes, as many bytes as shutdown_both discards, or one byte more. */
static void shutdown_both_discards_at_most_1_mib(void) {
    netlib_error *err = NULL;
    static const struct {
        size_t total;
        netlib_status status;
    } rows[] = {{0, NETLIB_OK}, {1024 * 1024, NETLIB_OK}, {1024 * 1024 + 1, NETLIB_TOO_MUCH_DATA}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ends ends = make_ends();
        CHECK_OK(netlib_stream_set_blocking(ends.near, 1, &err));
        CHECK_OK(netlib_stream_set_blocking(ends.far, 1, &err));
        struct flow flow = {.stream = ends.far, .total = rows[i].total};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, send_much, &flow) == 0);
        netlib_status status = netlib_stream_shutdown_both(ends.near, &err);
        if (rows[i].status != NETLIB_OK) {
            CHECK_CONTAINS("the server \"localhost\" sent more than", netlib_error_message(err, NULL));
        }
        CHECK_STATUS(rows[i].status, status);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_INT(NETLIB_OK, flow.status);
        free_ends(&ends);
    }
    /* The limit on discarded bytes applies to all calls together, because a peer may send bytes forever. */
    struct ends ends = make_ends();
    static char zeros[100000];
    size_t n = 0, sent = 0;
    netlib_status status = NETLIB_WANT_READ;
    while (status == NETLIB_WANT_READ && sent < 10 * 1024 * 1024) {
        (void)netlib_stream_write(ends.far, zeros, sizeof zeros, &n, NULL);
        sent += n;
        status = netlib_stream_shutdown_both(ends.near, NULL);
    }
    CHECK_INT(NETLIB_TOO_MUCH_DATA, status);
    CHECK(sent > 1024 * 1024 && sent <= 1024 * 1024 + sizeof zeros);
    CHECK_STATUS(NETLIB_TOO_MUCH_DATA, netlib_stream_shutdown_both(ends.near, &err));
    /* The application can still read the remaining bytes. */
    (void)netlib_stream_write(ends.far, zeros, sizeof zeros, &n, NULL);
    CHECK_OK(netlib_stream_read(ends.near, zeros, sizeof zeros, &n, &err));
    free_ends(&ends);
}

static void shutdown_both_waits_for_the_peers_close_notify(void) {
    netlib_error *err = NULL;
    char buffer[16];
    size_t n = 0;
    /* The two non-blocking streams shut down one after the other. shutdown_both discards data that has not been
     * read. */
    struct ends ends = make_ends();
    CHECK_OK(netlib_stream_write(ends.far, "late", 4, &n, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_shutdown_both(ends.near, &err));
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_shutdown_both(ends.near, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(ends.far, buffer, sizeof buffer, &n, &err));
    CHECK_OK(netlib_stream_shutdown_both(ends.far, &err));
    CHECK_OK(netlib_stream_shutdown_both(ends.near, &err));
    CHECK_OK(netlib_stream_shutdown_both(ends.near, &err));
    CHECK_STATUS(NETLIB_CLOSED, netlib_stream_write(ends.near, "x", 1, &n, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(ends.near, buffer, sizeof buffer, &n, &err));
    /* No bytes of the session remain on the descriptors. */
    CHECK(recv(ends.pair.near, buffer, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    CHECK(recv(ends.pair.far, buffer, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    free_ends(&ends);

    /* The peer closes the connection, with or without close_notify. */
    for (int properly = 0; properly < 2; properly++) {
        ends = make_ends();
        if (properly) CHECK_OK(netlib_stream_shutdown(ends.far, &err));
        shutdown(ends.pair.far, SHUT_WR);
        CHECK_STATUS(properly ? NETLIB_OK : NETLIB_TLS_TRUNCATED, netlib_stream_shutdown_both(ends.near, &err));
        free_ends(&ends);
        ends = make_ends();
        if (properly) CHECK_OK(netlib_stream_shutdown(ends.far, &err));
        close(ends.pair.far);
        ends.pair.far = -1;
        for (int again = 0; again < 2; again++) {
            CHECK_STATUS(properly ? NETLIB_OK : NETLIB_PROTOCOL, netlib_stream_shutdown_both(ends.near, &err));
        }
        free_ends(&ends);
    }
    /* If the peer sends nothing, the read timeout ends a blocking call. The call can be repeated. */
    ends = make_ends();
    CHECK_OK(netlib_stream_set_blocking(ends.near, 1, &err));
    CHECK_OK(netlib_stream_set_read_timeout(ends.near, 0.01, &err));
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_shutdown_both(ends.near, &err));
    CHECK_OK(netlib_stream_shutdown(ends.far, &err));
    CHECK_OK(netlib_stream_shutdown_both(ends.near, &err));
    free_ends(&ends);
    /* Before the handshake, shutdown_both has no session to close. */
    struct pair pair = unix_pair();
    netlib_stream *stream = wrap(client, pair.near, "localhost");
    CHECK_OK(netlib_stream_shutdown_both(stream, &err));
    CHECK(recv(pair.far, buffer, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    netlib_stream_free(stream);
    close_pair(pair);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    slices_are_joined_into_full_records();
    writev_with_invalid_slices_sends_nothing();
    an_incomplete_writev_can_be_continued_with_other_slices();
    shutdown_both_waits_for_the_peers_close_notify();
    shutdown_both_discards_at_most_1_mib();
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls writev");
}
