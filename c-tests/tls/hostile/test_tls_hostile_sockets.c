/* Tests hostile peers at the other end of a socket. The connection ends with FIN or RST after every byte of the peer's
 * flights. After a protocol violation, the peer gets an alert over the socket. The peer is an engine that the test
 * controls. Before the stream reads, the bytes have been sent or the connection has ended, so no call waits. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "hostile_peer.h"

#include <errno.h>
#include <netinet/tcp.h>

enum end { FIN, RST };
static const char *const end_names[] = {"FIN", "RST"};

/* A stream, and the peer engine at the other end of its socket. */
struct session {
    struct pair pair;
    netlib_stream *outer, *victim; /* `outer` is NULL unless TLS in TLS is tested */
    netlib_tls_engine *outer_peer, *peer;
    netlib_limit *limit;
};

static struct pair prompt_pair(void) {
    struct pair pair = tcp_pair();
    CHECK(setsockopt(pair.far, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0);
    CHECK(setsockopt(pair.near, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0);
    return pair;
}

/* Reads the bytes that the victim has sent, and feeds the peer with these bytes. */
static void receive_far(struct session *session) {
    static char bytes[ROOM];
    ssize_t n = 0;
    if (session->pair.far < 0) return;
    while ((n = recv(session->pair.far, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        if (session->outer_peer == NULL) {
            (void)feed_all(session->peer, bytes, (size_t)n);
            continue;
        }
        (void)feed_all(session->outer_peer, bytes, (size_t)n);
        size_t got = 0;
        while (netlib_tls_engine_read(session->outer_peer, bytes, sizeof bytes, &got, NULL) == NETLIB_OK)
            (void)feed_all(session->peer, bytes, got);
    }
}

/* Drains the bytes that the peer sends next. */
static size_t from_peer(struct session *session, char *bytes, size_t room) {
    size_t n = drain_all(session->peer, bytes, room), written = 0;
    if (session->outer_peer == NULL || n == 0) return n;
    netlib_error *err = NULL;
    CHECK_OK(netlib_tls_engine_write(session->outer_peer, bytes, n, &written, &err));
    CHECK_INT((long long)n, (long long)written);
    return drain_all(session->outer_peer, bytes, room);
}

static struct session begin_session(enum version version, enum side side, bool is_nested) {
    struct session session = {.pair = prompt_pair()};
    netlib_error *err = NULL;
    static char bytes[ROOM];
    CHECK_OK(netlib_limit_new(LONG, NULL, &session.limit, &err));
    if (is_nested) {
        session.outer = wrap(contexts[V13][CLIENT], session.pair.near, "localhost");
        session.outer_peer = server_engine(contexts[V13][SERVER]);
        CHECK_OK(netlib_stream_set_blocking(session.outer, 0, &err));
        for (int turn = 0; turn < 2; turn++) {
            CHECK_STATUS(turn == 0 ? NETLIB_WANT_READ : NETLIB_OK, netlib_stream_handshake(session.outer, &err));
            ssize_t n = recv(session.pair.far, bytes, sizeof bytes, 0);
            (void)feed_all(session.outer_peer, bytes, (size_t)n);
            (void)netlib_tls_engine_handshake(session.outer_peer, NULL);
            size_t len = drain_all(session.outer_peer, bytes, sizeof bytes);
            CHECK_INT((long long)len, send(session.pair.far, bytes, len, MSG_NOSIGNAL));
        }
    }
    if (is_nested && side == CLIENT)
        CHECK_OK(netlib_tls_wrap_stream(contexts[version][CLIENT], session.outer, "localhost", &session.victim, &err));
    else if (is_nested)
        CHECK_OK(netlib_tls_accept_stream(contexts[version][SERVER], session.outer, &session.victim, &err));
    else
        session.victim = side == CLIENT ? wrap(contexts[version][CLIENT], session.pair.near, "localhost")
                                        : accept_tls(contexts[version][SERVER], session.pair.near);
    session.peer = side == CLIENT ? server_engine(contexts[version][SERVER])
                                  : client_engine(contexts[version][CLIENT], "localhost");
    /* Only a call that hangs reaches this timeout. */
    netlib_stream_set_limit(session.victim, session.limit);
    CHECK_OK(netlib_stream_set_blocking(session.victim, 0, &err));
    return session;
}

static void end_session(struct session *session) {
    netlib_stream_free(session->victim);
    netlib_stream_free(session->outer);
    netlib_tls_engine_free(session->peer);
    netlib_tls_engine_free(session->outer_peer);
    netlib_limit_free(session->limit);
    close_pair(session->pair);
    char log[4096];
    while (read(key_log, log, sizeof log) > 0) {}
}

static unsigned long ended[2][2]; /* [FIN or RST][in the handshake or after it] */

/* Runs a session in which the peer sends `cut` bytes and then ends the connection. Returns false if the peer had fewer
 * bytes to send. */
static bool cut_off(enum version version, enum side side, enum end how, bool is_blocking, bool is_nested, size_t cut) {
    struct session session = begin_session(version, side, is_nested);
    static char bytes[ROOM];
    netlib_error *err = NULL;
    size_t sent = 0, n = 0;
    bool is_gone = false, is_done = false;
    unsigned long failed = checks_failed;
    netlib_status status = NETLIB_WANT_READ;
    for (int turn = 0; turn < 5 && !is_gone; turn++) {
        if (!is_done) {
            status = netlib_stream_handshake(session.victim, &err);
            CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_WANT_READ, status);
            is_done = status == NETLIB_OK;
        }
        receive_far(&session);
        (void)netlib_tls_engine_handshake(session.peer, NULL);
        size_t len = from_peer(&session, bytes, sizeof bytes);
        is_gone = sent + len >= cut;
        size_t count = is_gone ? cut - sent : len;
        if (count > 0) CHECK_INT((long long)count, send(session.pair.far, bytes, count, MSG_NOSIGNAL));
        sent += count;
    }
    if (is_gone) {
        if (how == FIN) close(session.pair.far);
        else reset_connection(session.pair.far);
        session.pair.far = -1;
        CHECK_OK(netlib_stream_set_blocking(session.victim, is_blocking, &err));
        if (!is_done) {
            status = netlib_stream_handshake(session.victim, &err);
            is_done = status == NETLIB_OK;
            if (!is_done) {
                /* After RST, the errno is ECONNRESET, or EPIPE if a write failed first. After FIN, the errno may be
                 * 0. */
                int32_t error = netlib_error_errno(err);
                CHECK(error == 0 || error == ECONNRESET || error == EPIPE);
                CHECK(how == FIN || error != 0);
                CHECK_INT(-1, netlib_error_tls_alert(err));
                CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, status);
            }
        }
        ended[how][is_done]++;
        for (int again = 0; again < 2; again++) {
            status = netlib_stream_read(session.victim, bytes, 10, &n, &err);
            /* After RST, a read returns NETLIB_TLS_TRUNCATED if the write of the last flight has already reported the
             * reset. */
            netlib_status expected = !is_done                                  ? NETLIB_TLS_HANDSHAKE_EOF
                                     : how == RST && status == NETLIB_PROTOCOL ? NETLIB_PROTOCOL
                                                                               : NETLIB_TLS_TRUNCATED;
            CHECK_STATUS(expected, status);
            CHECK_INT(0, (long long)n);
        }
    }
    if (checks_failed != failed) {
        fprintf(stderr, "    TLS %s, %s, %s after %zu bytes, %s%s\n", version_names[version], side_names[side],
                end_names[how], cut, is_blocking ? "blocking" : "not blocking", is_nested ? ", nested" : "");
    }
    end_session(&session);
    return is_gone;
}

static void handshakes_and_reads_fail_if_the_connection_ends_after_any_byte(void) {
    for (int i = 0; i < 8; i++) {
        enum version version = i % 2 == 0 ? V12 : V13;
        enum side side = i / 2 % 2 == 0 ? CLIENT : SERVER;
        bool is_nested = i >= 4;
        size_t step = (is_nested ? 23u : 1u) * (under_valgrind() ? 61u : 1u), count = 0, cut = 0;
        for (bool more = true; more; cut += step, count++) {
            /* At each offset the connection ends in one session with FIN and in another with RST. In one of the two
             * sessions the stream is blocking. */
            more = cut_off(version, side, FIN, count % 2 == 0, is_nested, cut);
            if (more) more = cut_off(version, side, RST, count % 2 != 0, is_nested, cut);
        }
        printf("TLS %s, %s%s: cut off at %zu places of %zu bytes\n", version_names[version], side_names[side],
               is_nested ? " in TLS" : "", count - 1, cut - step);
    }
}

/* ---- sealed records over a socket ---- */

/* Returns a client stream after its handshake. Stores the keys of the server in `scene`. */
static struct session begin_sealed(enum version version, struct scene *scene) {
    struct session session = begin_session(version, CLIENT, false);
    static char bytes[ROOM];
    static uint8_t randoms[2][32];
    netlib_error *err = NULL;
    size_t len = 0;
    for (int turn = 0; turn < 2; turn++) {
        (void)netlib_stream_handshake(session.victim, NULL);
        ssize_t n = recv(session.pair.far, bytes, sizeof bytes, 0);
        if (turn == 0) memcpy(randoms[0], bytes + 11, 32);
        (void)feed_all(session.peer, bytes, (size_t)n);
        (void)netlib_tls_engine_handshake(session.peer, NULL);
        len = drain_all(session.peer, bytes, sizeof bytes);
        if (turn == 0) memcpy(randoms[1], bytes + 11, 32);
        if (turn == 0 || version == V12) CHECK_INT((long long)len, send(session.pair.far, bytes, len, MSG_NOSIGNAL));
    }
    CHECK_OK(netlib_stream_handshake(session.victim, &err));
    *scene = (struct scene){.version = version, .side = CLIENT, .moment = DONE};
    take_keys(scene, randoms[0], randoms[1]);
    return session;
}

static void send_script(struct session *session, struct scene *scene, const char *script) {
    static uint8_t records[ROOM];
    size_t len = write_script(scene, script, records);
    CHECK_INT((long long)len, send(session->pair.far, records, len, MSG_NOSIGNAL));
}

/* Reads the alerts that arrived over the socket. Returns the last alert. */
static int alert_at_peer(struct session *session, struct scene *scene) {
    static uint8_t output[ROOM];
    int alert_sent = NO_ALERT;
    ssize_t len = recv(session->pair.far, output, sizeof output, MSG_DONTWAIT);
    for (size_t at = 0, size = 0; len > 0 && at < (size_t)len; at += size) {
        uint8_t *text = NULL, type = 0;
        size_t count = 0;
        size = 5 + ((size_t)output[at + 3] << 8) + output[at + 4];
        CHECK(open_record(&scene->open, output + at, size, &text, &count, &type));
        if (type == 21 && count == 2) alert_sent = text[0] == 2 ? text[1] : WARNING + text[1];
    }
    return alert_sent;
}

/* An idle TLS 1.2 stream receives renegotiation requests. netlib declines the first request, and the connection stays
 * usable. After the second request, the connection counts as dropped, and reads fail. */
static void a_second_renegotiation_request_ends_an_idle_session(void) {
    for (int by_read = 0; by_read < 2; by_read++) {
        struct scene scene;
        struct session session = begin_sealed(V12, &scene);
        netlib_error *err = NULL;
        netlib_status why = NETLIB_INTERNAL;
        int32_t dropped = 1;
        char byte;
        size_t n = 0;
        send_script(&session, &scene, "s22:00000000");
        if (by_read) {
            CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(session.victim, &byte, 1, &n, &err));
        } else {
            CHECK_OK(netlib_stream_is_dropped(session.victim, &dropped, &why, &err));
            CHECK(!dropped && why == NETLIB_WANT_READ);
        }
        CHECK_INT(WARNING + 100, alert_at_peer(&session, &scene)); /* no_renegotiation */
        /* The session continues. */
        send_script(&session, &scene, "s23:41");
        CHECK_OK(netlib_stream_read(session.victim, &byte, 1, &n, &err));
        CHECK_OK(netlib_stream_write(session.victim, "x", 1, &n, &err));
        CHECK_INT(NO_ALERT, alert_at_peer(&session, &scene));
        send_script(&session, &scene, "s22:00000000");
        if (by_read) {
            CHECK_STATUS(NETLIB_TLS_PROTOCOL, netlib_stream_read(session.victim, &byte, 1, &n, &err));
        } else {
            CHECK_OK(netlib_stream_is_dropped(session.victim, &dropped, &why, &err));
            CHECK(dropped && why == NETLIB_TLS_PROTOCOL);
        }
        CHECK_INT(50, alert_at_peer(&session, &scene));
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, netlib_stream_read(session.victim, &byte, 1, &n, &err));
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, netlib_stream_write(session.victim, "x", 1, &n, &err));
        end_session(&session);
    }
}

/* A flood of useless records over a socket ends the session after as many records as a flood between engines in memory,
 * and the peer gets an alert. */
static void floods_of_useless_records_end_the_session_with_an_alert_to_the_peer(void) {
    static const struct {
        const char *first, *then;
        unsigned ends;
    } rows[] = {
        {"", "s22:0400001100000e1000000000000004010203040000", 6097}, /* tickets without data */
        {"s22:0b00fde8", "s22:00", 3027},                             /* a handshake message in pieces */
    };
    netlib_error *err = NULL;
    for (size_t i = 0; i < 2 && !under_valgrind(); i++) {
        struct scene scene;
        struct session session = begin_sealed(V13, &scene);
        netlib_status status = NETLIB_WANT_READ;
        unsigned times = 0;
        char byte;
        size_t n = 0;
        if (rows[i].first[0] != '\0') send_script(&session, &scene, rows[i].first);
        for (; status == NETLIB_WANT_READ && times < 7000; times++) {
            send_script(&session, &scene, rows[i].then);
            status = netlib_stream_read(session.victim, &byte, 1, &n, &err);
            if (status == NETLIB_WANT_READ) continue;
            CHECK_INT(50, netlib_error_tls_alert(err));
            CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
        }
        CHECK_INT(rows[i].ends, times);
        CHECK_INT(50, alert_at_peer(&session, &scene));
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, netlib_stream_read(session.victim, &byte, 1, &n, &err));
        end_session(&session);
    }
}

/* If the peer sends a flood of records before the key exchange, the session ends with an alert to the peer, for clients
 * and for servers. */
static void too_many_records_before_the_key_exchange_cause_an_alert_to_the_peer(void) {
    for (int side = CLIENT; side <= SERVER; side++) {
        struct session session = begin_session(V13, (enum side)side, false);
        netlib_error *err = NULL;
        netlib_status status = netlib_stream_handshake(session.victim, &err);
        CHECK_STATUS(NETLIB_WANT_READ, status);
        unsigned char bytes[4000];
        if (side == CLIENT) CHECK(recv(session.pair.far, bytes, sizeof bytes, 0) > 100);
        static const char head[] = "\x16\x03\x03\x00\x04\x02\x00\xfd\xe8", piece[] = "\x16\x03\x03\x00\x01";
        CHECK_INT(9, send(session.pair.far, head, 9, MSG_NOSIGNAL));
        unsigned sent = 9;
        for (; status == NETLIB_WANT_READ && sent < 100000; sent += 6000) {
            for (size_t i = 0; i < 600; i++) memcpy(bytes + i * 6, piece, 6);
            CHECK_INT(3600, send(session.pair.far, bytes, 3600, MSG_NOSIGNAL));
            CHECK_INT(2400, send(session.pair.far, bytes, 2400, MSG_NOSIGNAL));
            status = netlib_stream_handshake(session.victim, &err);
            if (status != NETLIB_WANT_READ) CHECK_STATUS(NETLIB_TLS_PROTOCOL, status);
        }
        CHECK_INT(NETLIB_TLS_PROTOCOL, status);
        CHECK(sent > 68000 && sent <= 76000);
        CHECK_INT(7, recv(session.pair.far, bytes, sizeof bytes, MSG_DONTWAIT));
        CHECK(memcmp(bytes, "\x15\x03\x03\x00\x02\x02\x32", 7) == 0);
        CHECK_STATUS(NETLIB_TLS_PROTOCOL, netlib_stream_handshake(session.victim, &err));
        end_session(&session);
    }
}

int main(void) {
    set_up();
    handshakes_and_reads_fail_if_the_connection_ends_after_any_byte();
    too_many_records_before_the_key_exchange_cause_an_alert_to_the_peer();
    a_second_renegotiation_request_ends_an_idle_session();
    floods_of_useless_records_end_the_session_with_an_alert_to_the_peer();
    for (int how = 0; how < 2; how++)
        printf("%s: %lu in the handshake, %lu after it\n", end_names[how], ended[how][0], ended[how][1]);
    tear_down();
    return report("tls hostile sockets");
}
