/* Tests request bodies: reading, recording the file position, and rewinding. */
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* Reads the body to its end, `step` bytes per call, and returns its content. */
static const char *read_all(netlib_body *body, size_t step) {
    static char text[256];
    size_t at = 0;
    for (;;) {
        netlib_error *err = NULL;
        size_t n = 99;
        netlib_status status = netlib_body_read(body, text + at, step, &n, &err);
        if (status != NETLIB_OK) {
            CHECK_STATUS(NETLIB_END_OF_STREAM, status);
            CHECK_INT(0, (long long)n);
            break;
        }
        CHECK(n > 0 && n <= step);
        at += n;
        if (at + step >= sizeof text) break;
    }
    text[at] = '\0';
    return text;
}

static void check_length(netlib_body *body, int64_t expected) {
    netlib_error *err = NULL;
    int64_t length = 99;
    CHECK_OK(netlib_body_length(body, &length, &err));
    CHECK_INT(expected, length);
}

/* Checks a body with the content "hello world" whose position is 6: after a rewind, the body returns "world" again. */
static void check_rewind(netlib_body *body, bool length_known) {
    netlib_error *err = NULL;
    int64_t pos = 99;
    int32_t closed = 1;
    check_length(body, length_known ? 5 : -1);
    CHECK_OK(netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err));
    CHECK_INT(6, pos);
    for (size_t step = 1; step < 12; step += 5) {
        CHECK_STR("world", read_all(body, step));
        CHECK_OK(netlib_rewind_body(body, pos, &err));
    }
    CHECK_OK(netlib_set_file_position(body, 0, &pos, &err));
    CHECK_INT(0, pos);
    CHECK_STR("hello world", read_all(body, 4));
    check_length(body, length_known ? 0 : -1);
    CHECK_OK(netlib_set_file_position(body, 100, &pos, &err));
    CHECK_INT(100, pos);
    CHECK_STR("", read_all(body, 4));
    CHECK_OK(netlib_is_fp_closed(body, &closed, &err));
    CHECK(!closed);

    static const struct {
        int64_t pos;
        netlib_status expected;
    } rows[] = {
        {NETLIB_POSITION_NONE, NETLIB_UNREWINDABLE_BODY},
        {NETLIB_POSITION_FAILED, NETLIB_UNREWINDABLE_BODY},
        {-3, NETLIB_INVALID_ARGUMENT},
        {INT64_MIN, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_STATUS(rows[i].expected, netlib_rewind_body(body, rows[i].pos, &err));
        if (rows[i].pos == NETLIB_POSITION_NONE) continue;
        pos = 99;
        CHECK_STATUS(rows[i].expected, netlib_set_file_position(body, rows[i].pos, &pos, &err));
        CHECK_INT(0, pos);
    }
}

static void body_from_memory_can_be_read_and_rewound(void) {
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    char source[] = "hello world";
    CHECK_OK(netlib_body_from_memory(source, NETLIB_NTS, &body, &err));
    memset(source, 'x', sizeof source);
    char start[6];
    size_t n = 0;
    CHECK_OK(netlib_body_read(body, start, sizeof start, &n, &err));
    CHECK_INT(6, (long long)n);
    CHECK(memcmp(start, "hello ", 6) == 0);
    n = 99;
    CHECK_OK(netlib_body_read(body, NULL, 0, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_read(body, NULL, 1, &n, &err));
    check_rewind(body, true);
    netlib_body_free(body);

    CHECK_OK(netlib_body_from_memory(NULL, 0, &body, &err));
    check_length(body, 0);
    CHECK_STR("", read_all(body, 1));
    netlib_body_free(body);
}

static void a_body_from_a_file_can_be_rewound_and_does_not_close_the_fd(void) {
    char path[] = "/tmp/netlib-test-body-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && unlink(path) == 0);
    CHECK(write(fd, "hello world", 11) == 11 && lseek(fd, 6, SEEK_SET) == 6);
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    CHECK_OK(netlib_body_from_fd(fd, &body, &err));
    check_rewind(body, true);

    /* Freeing a body does not close its descriptor. netlib_is_fp_closed reports whether the descriptor of a body has
     * been closed. */
    netlib_body *other = NULL;
    CHECK_OK(netlib_body_from_fd(fd, &other, &err));
    netlib_body_free(body);
    CHECK(fcntl(fd, F_GETFD) >= 0);
    close(fd);
    int32_t closed = 0;
    CHECK_OK(netlib_is_fp_closed(other, &closed, &err));
    CHECK(closed);
    int64_t pos = 99;
    CHECK_OK(netlib_set_file_position(other, NETLIB_POSITION_NONE, &pos, &err));
    CHECK_INT(NETLIB_POSITION_FAILED, pos);
    char byte;
    size_t n = 99;
    netlib_status status = netlib_body_read(other, &byte, 1, &n, &err);
    CHECK_INT(EBADF, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    status = netlib_body_length(other, &pos, &err);
    CHECK_INT(EBADF, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    netlib_body_free(other);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_body_from_fd(-1, &body, &err));
    CHECK(body == NULL);
}

static void body_from_a_pipe_cannot_be_rewound(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    CHECK_OK(netlib_body_from_fd(ends[0], &body, &err));
    check_length(body, -1);
    int64_t pos = 99;
    CHECK_OK(netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err));
    CHECK_INT(NETLIB_POSITION_FAILED, pos);
    CHECK_STATUS(NETLIB_UNREWINDABLE_BODY, netlib_rewind_body(body, pos, &err));
    netlib_status status = netlib_rewind_body(body, 0, &err);
    CHECK_INT(ESPIPE, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_UNREWINDABLE_BODY, status);
    /* A pipe without data, in non-blocking mode. */
    CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    char byte;
    size_t n = 99;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_body_read(body, &byte, 1, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK(write(ends[1], "ab", 2) == 2);
    close(ends[1]);
    CHECK_STR("ab", read_all(body, 10));
    netlib_body_free(body);
    close(ends[0]);
}

/* A sparse file of 5 GiB has positions that do not fit in 32 bits. */
static void file_positions_above_4_gib_are_exact(void) {
    const int64_t far = 5368709120;
    char path[] = "/tmp/netlib-test-body-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && unlink(path) == 0);
    CHECK(ftruncate(fd, far) == 0 && pwrite(fd, "end", 3, far) == 3);
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    int64_t pos = 99;
    CHECK_OK(netlib_body_from_fd(fd, &body, &err));
    check_length(body, far + 3);
    CHECK_OK(netlib_set_file_position(body, far, &pos, &err));
    CHECK_INT(far, pos);
    CHECK_OK(netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err));
    CHECK_INT(far, pos);
    CHECK_STR("end", read_all(body, 10));
    CHECK_OK(netlib_rewind_body(body, far + 1, &err));
    CHECK_STR("nd", read_all(body, 10));
    netlib_body_free(body);
    close(fd);
}

/* Reads from a pipe. A deadline ends a call that waits for data. If the limit has ended before the call, the call fails
 * even if data is available. */
static void a_deadline_or_a_cancel_ends_a_body_read(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    char byte = 0;
    size_t n = 99;
    CHECK_OK(netlib_body_from_fd(ends[0], &body, &err));
    static const struct {
        double seconds;
        bool cancel, writes;
        netlib_status expected;
    } rows[] = {
        {0.02, false, false, NETLIB_DEADLINE_EXCEEDED},
        {NETLIB_TIMEOUT_NONE, true, false, NETLIB_CANCELLED},
        {30, false, true, NETLIB_OK},
        {0, false, true, NETLIB_DEADLINE_EXCEEDED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_limit *limit = NULL;
        CHECK_OK(netlib_limit_new(rows[i].seconds, NULL, &limit, &err));
        netlib_body_set_limit(body, limit);
        if (rows[i].cancel) netlib_limit_cancel(limit);
        /* The body keeps its own reference to the limit. */
        netlib_limit_free(limit);
        if (rows[i].writes) CHECK(write(ends[1], "x", 1) == 1);
        n = 99;
        CHECK_STATUS(rows[i].expected, netlib_body_read(body, &byte, 1, &n, &err));
        CHECK_INT(rows[i].expected == NETLIB_OK, (long long)n);
    }
    netlib_body_set_limit(body, NULL);
    CHECK_OK(netlib_body_read(body, &byte, 1, &n, &err));
    netlib_body_set_limit(NULL, NULL);
    netlib_body_free(body);
    close(ends[0]);
    close(ends[1]);
}

static int interrupted_pipe = -1;

static void write_a_byte(int signal) {
    (void)signal;
    ssize_t written = write(interrupted_pipe, "x", 1);
    (void)written;
}

/* The handler of the signal that interrupts the read writes the byte for which the read waits. */
static void a_signal_does_not_end_a_body_read(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    interrupted_pipe = ends[1];
    struct sigaction action = {.sa_handler = write_a_byte}, before;
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    CHECK_OK(netlib_body_from_fd(ends[0], &body, &err));
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    char byte = 0;
    size_t n = 0;
    CHECK_OK(netlib_body_read(body, &byte, 1, &n, &err));
    CHECK(n == 1 && byte == 'x');
    netlib_body_free(body);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
    close(ends[0]);
    close(ends[1]);
}

/* The ctx of a body with callbacks, and the invalid results that the callbacks return. */
struct own {
    const char *text;
    int64_t at;
    int32_t result;      /* returned by all callbacks except seek */
    int32_t sought;      /* stored by seek instead of NETLIB_OUTCOME_DONE if not 0; -1 stands for 0 */
    size_t extra;        /* number of bytes beyond the buffer that read claims to have stored */
    int64_t tell_result; /* position that tell returns if not 0 */
    int32_t closed;
    bool stores_nothing; /* the callbacks leave their outputs unchanged */
};

static int32_t own_read(void *ctx, void *buf, size_t len, size_t *n) {
    struct own *own = ctx;
    if (own->stores_nothing) return 0;
    size_t size = strlen(own->text);
    size_t left = (size_t)own->at < size ? size - (size_t)own->at : 0;
    size_t count = left < len ? left : len;
    memcpy(buf, own->text + (size - left), count);
    own->at += (int64_t)count;
    *n = own->extra > 0 ? len + own->extra : count;
    return own->result;
}

static int32_t own_tell(void *ctx, int64_t *pos) {
    struct own *own = ctx;
    if (!own->stores_nothing) *pos = own->tell_result != 0 ? own->tell_result : own->at;
    return own->result;
}

static void own_seek(void *ctx, int64_t pos, enum netlib_outcome *outcome) {
    struct own *own = ctx;
    own->at = pos;
    *outcome = own->sought == 0 ? NETLIB_OUTCOME_DONE : own->sought == -1 ? 0 : own->sought;
}

static int32_t own_is_closed(void *ctx, int32_t *closed) {
    struct own *own = ctx;
    if (!own->stores_nothing) *closed = own->closed;
    return own->result;
}

static void bodies_with_a_seek_callback_can_be_rewound(void) {
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    struct own own = {.text = "hello world", .at = 6};
    CHECK_OK(netlib_body_new(own_read, own_tell, own_seek, own_is_closed, &own, NULL, &body, &err));
    check_rewind(body, false);
    int32_t closed = 0;
    own.closed = 1;
    CHECK_OK(netlib_is_fp_closed(body, &closed, &err));
    CHECK(closed);
    netlib_body_free(body);

    CHECK_OK(netlib_body_new(own_read, NULL, NULL, NULL, &own, NULL, &body, &err));
    int64_t pos = 99;
    CHECK_OK(netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err));
    CHECK_INT(NETLIB_POSITION_NONE, pos);
    CHECK_STATUS(NETLIB_UNREWINDABLE_BODY, netlib_rewind_body(body, pos, &err));
    CHECK_STATUS(NETLIB_UNREWINDABLE_BODY, netlib_rewind_body(body, 0, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_is_fp_closed(body, &closed, &err));
    netlib_body_free(body);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                 netlib_body_new(NULL, own_tell, own_seek, own_is_closed, NULL, NULL, &body, &err));
    CHECK(body == NULL);
}

static void calls_fail_if_a_body_callback_returns_an_invalid_result(void) {
    static const struct {
        struct own own;
        netlib_status read, tell;
        int64_t tell_result;
        netlib_status seek, closed;
    } rows[] = {
        {{.text = "abc", .result = 7},
         NETLIB_CALLBACK_FAILED,
         NETLIB_OK,
         NETLIB_POSITION_FAILED,
         NETLIB_OK,
         NETLIB_CALLBACK_FAILED},
        {{.text = "abc", .result = -1},
         NETLIB_CALLBACK_FAILED,
         NETLIB_OK,
         NETLIB_POSITION_FAILED,
         NETLIB_OK,
         NETLIB_CALLBACK_FAILED},
        {{.text = "abc", .sought = -1}, NETLIB_OK, NETLIB_OK, 2, NETLIB_UNREWINDABLE_BODY, NETLIB_OK},
        {{.text = "abc", .sought = 2}, NETLIB_OK, NETLIB_OK, 2, NETLIB_UNREWINDABLE_BODY, NETLIB_OK},
        {{.text = "abc", .sought = INT32_MIN}, NETLIB_OK, NETLIB_OK, 2, NETLIB_UNREWINDABLE_BODY, NETLIB_OK},
        {{.text = "abc", .extra = 1}, NETLIB_CALLBACK_FAILED, NETLIB_OK, 2, NETLIB_OK, NETLIB_OK},
        {{.text = "abc", .extra = SIZE_MAX / 2}, NETLIB_CALLBACK_FAILED, NETLIB_OK, 2, NETLIB_OK, NETLIB_OK},
        {{.text = "abc", .tell_result = -1}, NETLIB_OK, NETLIB_CALLBACK_FAILED, 0, NETLIB_OK, NETLIB_OK},
        {{.text = "abc", .tell_result = INT64_MIN + 1}, NETLIB_OK, NETLIB_CALLBACK_FAILED, 0, NETLIB_OK, NETLIB_OK},
        {{.text = "abc", .closed = 2}, NETLIB_OK, NETLIB_OK, 2, NETLIB_OK, NETLIB_CALLBACK_FAILED},
        {{.text = "abc", .stores_nothing = true},
         NETLIB_CALLBACK_FAILED,
         NETLIB_OK,
         NETLIB_POSITION_FAILED,
         NETLIB_OK,
         NETLIB_CALLBACK_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_body *body = NULL;
        struct own own = rows[i].own;
        CHECK_OK(netlib_body_new(own_read, own_tell, own_seek, own_is_closed, &own, NULL, &body, &err));
        char buf[2];
        size_t n = 99;
        CHECK_STATUS(rows[i].read, netlib_body_read(body, buf, sizeof buf, &n, &err));
        CHECK_INT(rows[i].read == NETLIB_OK ? 2 : 0, (long long)n);
        int64_t pos = 99;
        CHECK_STATUS(rows[i].tell, netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err));
        CHECK_INT(rows[i].tell_result, pos);
        netlib_status status = netlib_rewind_body(body, 0, &err);
        if (rows[i].seek != NETLIB_OK)
            CHECK_INT(NETLIB_CALLBACK_FAILED, netlib_error_status(netlib_error_cause(err, 0)));
        CHECK_STATUS(rows[i].seek, status);
        int32_t closed = 1;
        CHECK_STATUS(rows[i].closed, netlib_is_fp_closed(body, &closed, &err));
        CHECK(!closed);
        netlib_body_free(body);
    }
}

static void null_arguments_of_body_functions_are_refused(void) {
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    size_t n = 99;
    char byte;
    int64_t number = 99;
    int32_t closed = 1;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_from_memory(NULL, 1, &body, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_from_memory("", 0, NULL, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_read(NULL, &byte, 1, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_length(NULL, &number, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_set_file_position(NULL, 0, &number, &err));
    CHECK_INT(0, number);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_rewind_body(NULL, 0, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_is_fp_closed(NULL, &closed, &err));
    CHECK(!closed);
    netlib_body_free(NULL);
}

int main(void) {
    body_from_memory_can_be_read_and_rewound();
    a_body_from_a_file_can_be_rewound_and_does_not_close_the_fd();
    file_positions_above_4_gib_are_exact();
    body_from_a_pipe_cannot_be_rewound();
    a_deadline_or_a_cancel_ends_a_body_read();
    a_signal_does_not_end_a_body_read();
    bodies_with_a_seek_callback_can_be_rewound();
    calls_fail_if_a_body_callback_returns_an_invalid_result();
    null_arguments_of_body_functions_are_refused();
    return report("body");
}
