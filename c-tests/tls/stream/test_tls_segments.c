/* Counts the TCP segments of a first request: a segment for each send, because TCP_NODELAY is set. If the first write
 * of a stream performs the handshake, its last flight and the data share a segment, and so do the tickets and the
 * response of a server. */
#include "tls_peer.h"

#include <linux/tcp.h>

static void turn_nagle_off(int fd) { CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0); }

/* Returns the number of segments with data that a socket has sent. */
static unsigned segments(int fd) {
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0);
    CHECK(len >= offsetof(struct tcp_info, tcpi_data_segs_out) + sizeof info.tcpi_data_segs_out);
    return info.tcpi_data_segs_out;
}

/* A call of one side. WAIT is a read for which no data has arrived. */
enum step { DONE, SHAKE, SEND, RECEIVE, WAIT };

struct side {
    netlib_stream *stream;
    const enum step *next;
};

/* Makes calls until one of them has to wait. Returns true when the side has made all its calls. */
static bool go_on(struct side *side) {
    netlib_error *err = NULL;
    char buf[16];
    size_t n = 0;
    netlib_status status = NETLIB_OK;
    switch (*side->next) {
    case DONE: return true;
    case SHAKE: status = netlib_stream_handshake(side->stream, &err); break;
    case SEND: status = netlib_stream_write(side->stream, "data", 4, &n, &err); break;
    case RECEIVE: status = netlib_stream_read(side->stream, buf, sizeof buf, &n, &err); break;
    case WAIT: CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(side->stream, buf, sizeof buf, &n, &err)); break;
    }
    if (status == NETLIB_WANT_READ) return false;
    CHECK_OK(status);
    side->next++;
    return go_on(side);
}

/* Runs an exchange, in which no call waits. */
static void run(struct side *near, struct side *far) {
    bool near_done = false, far_done = false;
    for (int round = 0; round < 20 && !(near_done && far_done); round++) {
        near_done = go_on(near);
        far_done = go_on(far);
    }
    CHECK(near_done && far_done);
}

static netlib_tls_context *client_of(int32_t version) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_maximum_version(options, version);
    return context_of(options);
}

int main(void) {
    const struct {
        const char *name;
        enum netlib_tls_version version;
        bool resumed;
        enum step near[4], far[4];
        unsigned sent_near, sent_far;
    } rows[] = {
        /* ClientHello; Finished and request. ServerHello to Finished; tickets and response. */
        {"1.3", NETLIB_TLS_VERSION_1_3, false, {SEND, RECEIVE, DONE}, {RECEIVE, SEND, DONE}, 2, 2},
        {"1.3 resumed", NETLIB_TLS_VERSION_1_3, true, {SEND, RECEIVE, DONE}, {RECEIVE, SEND, DONE}, 2, 2},
        /* The client sends the request when it has received the server's Finished. */
        {"1.2", NETLIB_TLS_VERSION_1_2, false, {SEND, RECEIVE, DONE}, {RECEIVE, SEND, DONE}, 3, 3},
        {"1.2 resumed", NETLIB_TLS_VERSION_1_2, true, {SEND, RECEIVE, DONE}, {RECEIVE, SEND, DONE}, 2, 2},
        {"1.3, server first", NETLIB_TLS_VERSION_1_3, false, {RECEIVE, DONE}, {SEND, DONE}, 2, 2},
        /* A server sends its tickets before it waits. */
        {"1.3, server waits", NETLIB_TLS_VERSION_1_3, false, {SEND, RECEIVE, DONE}, {RECEIVE, WAIT, SEND, DONE}, 2, 3},
        /* netlib_stream_handshake keeps nothing. */
        {"1.3, handshake first",
         NETLIB_TLS_VERSION_1_3,
         false,
         {SHAKE, SEND, RECEIVE, DONE},
         {SHAKE, RECEIVE, SEND, DONE},
         3,
         3},
    };
    netlib_error *err = NULL;
    netlib_tls_context *server = server_context("server");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_context *client = client_of(rows[i].version);
        for (int connection = rows[i].resumed ? 0 : 1; connection < 2; connection++) {
            struct pair pair = tcp_pair();
            turn_nagle_off(pair.near);
            turn_nagle_off(pair.far);
            struct side near = {wrap(client, pair.near, "localhost"), rows[i].near};
            struct side far = {accept_tls(server, pair.far), rows[i].far};
            CHECK_OK(netlib_stream_set_blocking(near.stream, 0, &err));
            CHECK_OK(netlib_stream_set_blocking(far.stream, 0, &err));
            run(&near, &far);
            if (connection == 1) {
                CHECK_INT(rows[i].resumed, netlib_stream_is_resumed(near.stream));
                unsigned sent_near = segments(pair.near), sent_far = segments(pair.far);
                CHECK_INT(rows[i].sent_near, sent_near);
                CHECK_INT(rows[i].sent_far, sent_far);
                if (sent_near != rows[i].sent_near || sent_far != rows[i].sent_far)
                    fprintf(stderr, "    TLS %s\n", rows[i].name);
            }
            netlib_stream_free(near.stream);
            netlib_stream_free(far.stream);
            close_pair(pair);
        }
        netlib_tls_context_free(client);
    }
    netlib_tls_context_free(server);
    return report("tls segments");
}
