/* Counts the system calls of reads and writes on a plain stream. The functions recv, send, sendmsg and poll of this
 * program replace those of the C library. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

static struct {
    int receives, sends, vectored_sends, polls;
    /* If 0 or more, a byte is written to this descriptor as soon as poll is called. */
    int fd_written_during_poll;
} seen;

static void reset_counts(int fd_written_during_poll) {
    memset(&seen, 0, sizeof seen);
    seen.fd_written_during_poll = fd_written_during_poll;
}

static void write_a_byte_from_the_peer(void) {
    int fd = seen.fd_written_during_poll;
    seen.fd_written_during_poll = -1;
    if (fd >= 0) CHECK(write(fd, "x", 1) == 1);
}

ssize_t recv(int fd, void *room, size_t len, int flags) {
    /* If netlib repeats recv without waiting, a byte arrives after 100 calls, so that the test fails instead of
     * hanging. */
    if (++seen.receives == 100) write_a_byte_from_the_peer();
    return syscall(SYS_recvfrom, fd, room, len, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t len, int flags) {
    seen.sends++;
    CHECK((flags & MSG_NOSIGNAL) != 0 && (flags & MSG_DONTWAIT) != 0);
    return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    seen.vectored_sends++;
    CHECK((flags & MSG_NOSIGNAL) != 0 && (flags & MSG_DONTWAIT) != 0);
    return syscall(SYS_sendmsg, fd, message, flags);
}

int poll(struct pollfd *fds, nfds_t count, int ms) {
    seen.polls++;
    write_a_byte_from_the_peer();
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, count, ms < 0 ? NULL : &wait, NULL, 0);
}

/* Checks the numbers of recv and poll calls of a read whose byte has arrived before the read (`at_once`) or arrives
 * during poll. */
static void check_calls_of_read(const char *what, netlib_stream *stream, int peer, bool at_once, int receives,
                                int polls) {
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    if (at_once) CHECK(write(peer, "x", 1) == 1);
    reset_counts(at_once ? -1 : peer);
    CHECK_OK(netlib_stream_read(stream, &byte, 1, &n, &err));
    if (seen.receives != receives || seen.polls != polls) printf("%s:\n", what);
    CHECK_INT('x', byte);
    CHECK_INT(receives, seen.receives);
    CHECK_INT(polls, seen.polls);
}

static void a_read_calls_poll_only_if_no_data_is_available(void) {
    netlib_error *err = NULL;
    struct pair pair = unix_pair();
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_stream_new_fd(pair.near, &stream, &err));
    check_calls_of_read("no limit and no timeout", stream, pair.far, true, 1, 0);
    CHECK_OK(netlib_stream_set_read_timeout(stream, LONG, &err));
    check_calls_of_read("a timeout", stream, pair.far, true, 1, 0);
    check_calls_of_read("a timeout, no input yet", stream, pair.far, false, 2, 1);
    check_calls_of_read("a timeout, after a wait", stream, pair.far, true, 1, 0);
    CHECK_OK(netlib_stream_set_read_timeout(stream, NETLIB_TIMEOUT_NONE, &err));
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    netlib_stream_set_limit(stream, limit);
    check_calls_of_read("a limit", stream, pair.far, true, 1, 0);
    check_calls_of_read("a limit, no input yet", stream, pair.far, false, 2, 1);
    netlib_stream_set_limit(stream, NULL);
    netlib_limit_free(limit);
    CHECK_OK(netlib_stream_set_minimum_throughput(stream, 1, LONG, &err));
    check_calls_of_read("a minimum throughput", stream, pair.far, true, 1, 0);
    check_calls_of_read("a minimum throughput, no input yet", stream, pair.far, false, 2, 1);
    CHECK_OK(netlib_stream_set_minimum_throughput(stream, 0, LONG, &err));
    check_calls_of_read("limit, timeout and minimum removed", stream, pair.far, true, 1, 0);
    CHECK(fcntl(pair.near, F_SETFL, O_NONBLOCK) == 0);
    check_calls_of_read("the first read on a non-blocking descriptor", stream, pair.far, false, 2, 1);
    check_calls_of_read("a later read on a non-blocking descriptor", stream, pair.far, false, 2, 1);
    check_calls_of_read("a read of available data", stream, pair.far, true, 1, 0);
    netlib_stream_free(stream);
    close_pair(pair);
}

static void a_write_sends_up_to_32_slices_with_one_system_call(void) {
    static const struct {
        size_t slices;
        int sends, vectored_sends;
    } rows[] = {{1, 1, 0}, {2, 0, 1}, {32, 0, 1}, {33, 1, 1}, {64, 0, 2}, {1000, 0, 32}};
    static const char text[1000] = "slices";
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        netlib_error *err = NULL;
        struct pair pair = unix_pair();
        netlib_stream *stream = NULL;
        netlib_slice slices[1000];
        char received[1000];
        size_t n = 0;
        for (size_t i = 0; i < rows[row].slices; i++) slices[i] = (netlib_slice){text + i, 1};
        CHECK_OK(netlib_stream_new_fd(pair.near, &stream, &err));
        reset_counts(-1);
        CHECK_OK(netlib_stream_writev(stream, slices, rows[row].slices, &n, &err));
        CHECK_INT((long long)rows[row].slices, (long long)n);
        CHECK_INT(rows[row].sends, seen.sends);
        CHECK_INT(rows[row].vectored_sends, seen.vectored_sends);
        CHECK_INT(0, seen.polls);
        CHECK(read(pair.far, received, sizeof received) == (ssize_t)n && memcmp(received, text, n) == 0);
        netlib_stream_free(stream);
        close_pair(pair);
    }
}

int main(void) {
    a_read_calls_poll_only_if_no_data_is_available();
    a_write_sends_up_to_32_slices_with_one_system_call();
    return report("stream calls");
}
