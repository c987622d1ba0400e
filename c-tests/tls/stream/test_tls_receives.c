/* Counts the system calls of a read. If nothing but input can end the wait, a read calls recv without poll. With a
 * limit or a timeout, or on a non-blocking descriptor, a read calls poll first. The functions recv and poll of this
 * program replace those of the C library. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

static struct {
    int receives, polls;
    /* If set, the peer writes a byte as soon as poll is called. */
    netlib_stream *writes_during_poll;
} seen;

static void write_a_byte_from_the_peer(void) {
    netlib_stream *peer = seen.writes_during_poll;
    netlib_error *err = NULL;
    size_t n = 0;
    seen.writes_during_poll = NULL;
    if (peer != NULL) CHECK_OK(netlib_stream_write(peer, "x", 1, &n, &err));
}

ssize_t recv(int fd, void *room, size_t len, int flags) {
    /* If netlib repeats recv without waiting, a byte arrives after 100 calls, so that the test fails instead of
     * hanging. */
    if (++seen.receives == 100) write_a_byte_from_the_peer();
    return syscall(SYS_recvfrom, fd, room, len, flags, NULL, NULL);
}

int poll(struct pollfd *fds, nfds_t count, int ms) {
    seen.polls++;
    write_a_byte_from_the_peer();
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, count, ms < 0 ? NULL : &wait, NULL, 0);
}

static void do_handshake(netlib_stream *near, netlib_stream *far) {
    netlib_error *err = NULL;
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    for (int i = 0; i < 10; i++) {
        (void)netlib_stream_handshake(near, NULL);
        (void)netlib_stream_handshake(far, NULL);
    }
    /* Reads the tickets of the server. */
    char byte;
    size_t n = 0;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_read(near, &byte, 1, &n, &err));
    CHECK_OK(netlib_stream_set_blocking(near, 1, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 1, &err));
}

/* Checks the numbers of recv and poll calls of a read whose byte has arrived before the read (`at_once`) or arrives
 * during poll. */
static void check_calls_of_read(const char *what, netlib_stream *near, netlib_stream *far, bool at_once, int receives,
                                int polls) {
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    if (at_once) CHECK_OK(netlib_stream_write(far, "x", 1, &n, &err));
    seen.receives = seen.polls = 0;
    seen.writes_during_poll = at_once ? NULL : far;
    CHECK_OK(netlib_stream_read(near, &byte, 1, &n, &err));
    if (seen.receives != receives || seen.polls != polls) printf("%s:\n", what);
    CHECK_INT('x', byte);
    CHECK_INT(receives, seen.receives);
    CHECK_INT(polls, seen.polls);
}

int main(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context(), *server = server_context("server");
    struct pair pair = unix_pair();
    netlib_stream *near = wrap(client, pair.near, "localhost"), *far = accept_tls(server, pair.far);
    do_handshake(near, far);

    check_calls_of_read("no limit and no timeout", near, far, true, 1, 0);
    CHECK_OK(netlib_stream_set_read_timeout(near, LONG, &err));
    check_calls_of_read("a timeout", near, far, true, 1, 1);
    check_calls_of_read("a timeout, no input yet", near, far, false, 1, 1);
    CHECK_OK(netlib_stream_set_read_timeout(near, NETLIB_TIMEOUT_NONE, &err));
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_stream_set_limit(near, limit);
    check_calls_of_read("a limit", near, far, false, 1, 1);
    netlib_stream_set_limit(near, NULL);
    netlib_limit_free(limit);
    CHECK_OK(netlib_stream_set_minimum_throughput(near, 1, LONG, &err));
    check_calls_of_read("a minimum throughput", near, far, false, 1, 1);
    CHECK_OK(netlib_stream_set_minimum_throughput(near, 0, LONG, &err));
    check_calls_of_read("limit, timeout and minimum removed", near, far, true, 1, 0);

    CHECK(fcntl(pair.near, F_SETFL, O_NONBLOCK) == 0);
    check_calls_of_read("the first read on a non-blocking descriptor", near, far, false, 2, 1);
    check_calls_of_read("a later read on a non-blocking descriptor", near, far, false, 1, 1);

    netlib_stream_free(near);
    netlib_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("tls receives");
}
