/* Tests TLS after fork(2). Contexts work in a forked child, but streams and engines of the parent fail in the child. */
#define _GNU_SOURCE
#include "forks.h"
#include "tls_resume.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

enum { KINDS = 4, BUSY = 2 };

/* All threads and the forked children share these contexts. */
static netlib_tls_context *clients[2], *servers[2];
static atomic_int stop_shaking;
static atomic_ulong handshakes_by_threads;

/* Does a handshake in memory. `kind` selects TLS 1.2 or 1.3, and a server with an ECDSA or an RSA key. */
static enum outcome handshake_in_memory(int kind) {
    return connect_to(clients[kind & 1], servers[kind >> 1], "localhost");
}

static void *keep_shaking(void *first) {
    for (int kind = *(const int *)first; !stop_shaking; kind++) {
        CHECK(handshake_in_memory(kind % KINDS) != REFUSED);
        /* After the stored sessions have been removed, the next handshakes are full handshakes, which use the private
         * key. */
        if (kind % 5 == 0) netlib_tls_context_forget_sessions(clients[kind & 1]);
        handshakes_by_threads++;
    }
    return NULL;
}

/* Ends a child without a leak check, because threads of the parent owned memory that the child cannot free. */
static void exit_without_leak_check(void) {
    if (under_valgrind()) end_child();
    _exit(0);
}

/* Returns true if the child exited with status 0. */
static bool child_shakes(int kind) {
    struct child child = begin_child();
    if (child.process == 0) {
        child.results[0] = (netlib_status)handshake_in_memory(kind);
        child.results[1] = netlib_tls_context_session_count(clients[kind & 1]) > 0;
        netlib_tls_context_forget_sessions(clients[kind & 1]);
        /* A forked child creates contexts, shares them with threads, and frees them. */
        if (kind == 0) netlib_tls_context_free(client_context());
        exit_without_leak_check();
    }
    int status = -1;
    CHECK(waitpid(child.process, &status, 0) == child.process);
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFSIGNALED(status)) fprintf(stderr, "    the child was killed by signal %d\n", WTERMSIG(status));
    bool done = ended && (child.results[0] == FULL || child.results[0] == RESUMED) && child.results[1] == 1;
    drop_child(&child);
    return done;
}

/* The process forks while its threads use the session stores, the ticket keys, the shared private keys and the random
 * generator. */
static void children_forked_during_handshakes_can_do_handshakes(void) {
    const int forks = under_valgrind() ? 10 : 1000;
    pthread_t threads[BUSY];
    int first[BUSY], done = 0;
    for (int i = 0; i < 2; i++) clients[i] = client_of(i == 0 ? NETLIB_TLS_VERSION_1_2 : NETLIB_TLS_VERSION_1_3, NULL);
    for (int i = 0; i < 2; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_identity_files(options, i == 0 ? CERTS "server.pem" : CERTS "rsa.pem",
                                              i == 0 ? CERTS "server.key" : CERTS "rsa.key");
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_session_tickets(options, 1);
        servers[i] = context_of(options);
    }
    stop_shaking = 0;
    for (int i = 0; i < BUSY; i++) {
        first[i] = i;
        CHECK(pthread_create(&threads[i], NULL, keep_shaking, &first[i]) == 0);
    }
    while (done < forks && child_shakes(done % KINDS)) done++;
    stop_shaking = 1;
    for (int i = 0; i < BUSY; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_INT(forks, done);
    CHECK(handshakes_by_threads > (unsigned long)forks / 10);
    for (int i = 0; i < 2; i++) {
        netlib_tls_context_free(clients[i]);
        netlib_tls_context_free(servers[i]);
    }
}

/* ---- streams and engines belong to the process that made them ---- */

/* Checks a call that must fail with NETLIB_CLOSED in a child. */
static void check_closed(netlib_status status, netlib_error **err, const char *what, int owner, const char *call) {
    char expected[200];
    snprintf(expected, sizeof expected,
             "this %s was created by process %d; process %d is a forked child and cannot use it", what, owner,
             (int)getpid());
    CHECK_INT(NETLIB_CLOSED, status);
    CHECK_STR(expected, netlib_error_message(*err, NULL));
    if (status != NETLIB_CLOSED) fprintf(stderr, "    %s\n", call);
    netlib_error_free(*err);
    *err = NULL;
}

#define CHECK_CLOSED(what, call) check_closed((call), &err, (what), owner, #call)

static void use_foreign_stream(netlib_stream *stream, int owner) {
    netlib_error *err = NULL;
    netlib_tls_session *session = NULL;
    char bytes[16] = "child";
    const netlib_slice pieces[2] = {{bytes, 2}, {bytes, 3}};
    size_t n = 0;
    CHECK_CLOSED("stream", netlib_stream_write(stream, bytes, 5, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_CLOSED("stream", netlib_stream_writev(stream, pieces, 2, &n, &err));
    CHECK_CLOSED("stream", netlib_stream_write_early_data(stream, bytes, 5, &n, &err));
    CHECK_CLOSED("stream", netlib_stream_read(stream, bytes, sizeof bytes, &n, &err));
    CHECK_CLOSED("stream", netlib_stream_handshake(stream, &err));
    CHECK_CLOSED("stream", netlib_stream_shutdown(stream, &err));
    CHECK_CLOSED("stream", netlib_stream_shutdown_both(stream, &err));
    CHECK_CLOSED("stream", netlib_stream_take_session(stream, &session, &err));
    CHECK_INT(0, (long long)netlib_stream_pending(stream));
}

static void use_foreign_engine(netlib_tls_engine *engine, int owner) {
    netlib_error *err = NULL;
    char bytes[16] = "child";
    size_t n = 0;
    CHECK_CLOSED("engine", netlib_tls_engine_write(engine, bytes, 5, &n, &err));
    CHECK_CLOSED("engine", netlib_tls_engine_write_early_data(engine, bytes, 5, &n, &err));
    CHECK_CLOSED("engine", netlib_tls_engine_read(engine, bytes, sizeof bytes, &n, &err));
    CHECK_CLOSED("engine", netlib_tls_engine_handshake(engine, &err));
    CHECK_CLOSED("engine", netlib_tls_engine_shutdown(engine, &err));
    CHECK_CLOSED("engine", netlib_tls_engine_feed(engine, bytes, 5, &n, &err));
    CHECK_CLOSED("engine", netlib_tls_engine_drain(engine, bytes, sizeof bytes, &n, &err));
    CHECK_INT(0, (long long)n);
    CHECK_INT(0, (long long)netlib_tls_engine_pending(engine));
}

/* Forks with fork(2), or with a raw clone(2), which does not run the handlers of pthread_atfork(3). */
static pid_t fork_as(bool raw) { return raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork(); }

/* Waits for the child. A failed check in the child makes the test in the parent fail. */
static void join_checks(pid_t process) {
    int status = -1;
    CHECK(waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void exit_with_check_result(unsigned long failed_before) {
    bool failed = checks_failed > failed_before;
    if (under_valgrind()) execlp(failed ? "false" : "true", "child", (char *)NULL);
    _exit(failed);
}

static bool is_silent(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Two processes that encrypt with the same state would use each nonce twice. */
static void a_forked_child_cannot_use_its_parents_stream(void) {
    netlib_tls_context *server_side = server_context("server"), *client_side = client_context();
    for (int row = 0; row < 4; row++) {
        bool raw = row & 1, established = row & 2;
        netlib_error *err = NULL;
        struct pair pair = unix_pair();
        struct server server = {.does = SERVE_ECHO, .context = server_side, .fd = pair.far};
        netlib_stream *stream = wrap(client_side, pair.near, "localhost");
        char bytes[16] = "";
        size_t n = 0;
        int owner = (int)getpid();
        if (established) {
            server_start(&server);
            CHECK_OK(netlib_stream_write(stream, "one", 3, &n, &err));
            CHECK_OK(netlib_stream_read(stream, bytes, sizeof bytes, &n, &err));
            CHECK(n == 3 && memcmp(bytes, "one", 3) == 0);
        }
        unsigned long failed_before = checks_failed;
        pid_t child = fork_as(raw);
        if (child == 0) {
            alarm(CHILD_SECONDS);
            use_foreign_stream(stream, owner);
            netlib_stream_free(stream);
            /* Freeing the stream sends nothing and leaves the connection open. */
            CHECK(is_silent(pair.near));
            exit_with_check_result(failed_before);
        }
        join_checks(child);
        if (!established) {
            CHECK(is_silent(pair.far));
            server_start(&server);
        }
        CHECK_OK(netlib_stream_write(stream, "two", 3, &n, &err));
        CHECK_OK(netlib_stream_read(stream, bytes, sizeof bytes, &n, &err));
        CHECK(n == 3 && memcmp(bytes, "two", 3) == 0);
        CHECK_OK(netlib_stream_shutdown_both(stream, &err));
        netlib_stream_free(stream);
        server_join(&server);
        CHECK_INT(NETLIB_END_OF_STREAM, server.status);
        close(pair.near);
        if (checks_failed > failed_before) fprintf(stderr, "    in row %d\n", row);
    }
    netlib_tls_context_free(server_side);
    netlib_tls_context_free(client_side);
}

static void a_forked_child_cannot_use_its_parents_engine(void) {
    netlib_tls_context *server_side = server_context("server"), *client_side = client_context();
    for (int raw = 0; raw < 2; raw++) {
        struct wire wire = wire_of(client_side, server_side, 20000);
        char out[16];
        int owner = (int)getpid();
        CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, run_handshake(&wire));
        unsigned long failed_before = checks_failed;
        pid_t child = fork_as(raw);
        if (child == 0) {
            alarm(CHILD_SECONDS);
            use_foreign_engine(wire.client, owner);
            use_foreign_engine(wire.server, owner);
            free_wire(&wire);
            exit_with_check_result(failed_before);
        }
        join_checks(child);
        CHECK_INT(4, (long long)transfer(&wire, false, "data", out, sizeof out));
        free_wire(&wire);
    }
    netlib_tls_context_free(server_side);
    netlib_tls_context_free(client_side);
}

/* ---- forks inside a callback, and streams inside other streams ---- */

struct forking_transport {
    int fd;
    bool armed;
    pid_t child;
};

static int32_t receive_from(void *ctx, void *buf, size_t len, size_t *n) {
    struct forking_transport *transport = ctx;
    ssize_t got = recv(transport->fd, buf, len, 0);
    *n = got > 0 ? (size_t)got : 0;
    return got >= 0 ? NETLIB_OK : NETLIB_IO;
}

static int32_t send_to(void *ctx, const void *buf, size_t len, size_t *n) {
    struct forking_transport *transport = ctx;
    *n = len;
    if (transport->armed && (transport->child = fork()) == 0) return NETLIB_OK; /* the parent sends the bytes */
    ssize_t sent = send(transport->fd, buf, len, MSG_NOSIGNAL);
    *n = sent > 0 ? (size_t)sent : 0;
    return sent >= 0 ? NETLIB_OK : NETLIB_IO;
}

/* A callback forks. The call that runs the callback then fails in the child and continues in the parent. */
static void a_call_whose_callback_forks_fails_only_in_the_child(void) {
    netlib_error *err = NULL;
    netlib_tls_context *server_side = server_context("server"), *client_side = client_context();
    struct pair pair = unix_pair();
    struct server server = {.does = SERVE_ECHO, .context = server_side, .fd = pair.far};
    struct forking_transport transport = {pair.near, false, -1};
    netlib_stream *stream = NULL;
    char bytes[16] = "";
    size_t n = 0;
    int owner = (int)getpid();
    server_start(&server);
    CHECK_OK(
        netlib_tls_wrap_callbacks(client_side, "localhost", receive_from, send_to, &transport, NULL, &stream, &err));
    CHECK_OK(netlib_stream_handshake(stream, &err));
    unsigned long failed_before = checks_failed;
    transport.armed = true;
    netlib_status status = netlib_stream_write(stream, "one", 3, &n, &err);
    transport.armed = false;
    if (transport.child == 0) {
        alarm(CHILD_SECONDS);
        check_closed(status, &err, "stream", owner, "the write that forked");
        netlib_stream_free(stream);
        exit_with_check_result(failed_before);
    }
    join_checks(transport.child);
    CHECK_STATUS(NETLIB_OK, status);
    CHECK_OK(netlib_stream_read(stream, bytes, sizeof bytes, &n, &err));
    CHECK(n == 3 && memcmp(bytes, "one", 3) == 0);
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&server);
    netlib_tls_context_free(server_side);
    netlib_tls_context_free(client_side);
}

int main(void) {
    a_forked_child_cannot_use_its_parents_stream();
    a_forked_child_cannot_use_its_parents_engine();
    a_call_whose_callback_forks_fails_only_in_the_child();
    children_forked_during_handshakes_can_do_handshakes();
    return report("tls fork");
}
