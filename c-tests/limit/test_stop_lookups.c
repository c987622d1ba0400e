/* Tests lookups that hang. No call waits for an abandoned lookup, and an abandoned lookup frees its memory and
 * descriptors when it ends. */
#define _GNU_SOURCE
#include "forks.h"
#include "hung_lookups.h"
#include "stop.h"

enum { MOST = 64 };

static netlib_connect *connect_to_name(const char *host, int32_t port, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new(host, port, options, &connect, &err));
    return connect;
}

/* Starts a lookup with one call of netlib_connect_step, which does not wait. */
static netlib_connect *hung_connect(const netlib_connect_options *options) {
    netlib_error *err = NULL;
    int fd = -1;
    netlib_connect *connect = connect_to_name("hung.test", 80, options);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    CHECK_INT(-1, fd);
    return connect;
}

static void hold_and_free(bool answers_first) {
    netlib_error *err = NULL;
    int descriptors = open_descriptors();
    make_lookups_hang();
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_limit *limit = limit_of(LONG);
    netlib_connect *connect = hung_connect(options);
    CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
    /* The test counts descriptors only after the lookup hangs, because the lookup's thread first opens a socket for a
     * short time to find the address families. */
    wait_until_lookups_hang(1);
    CHECK_INT(2, thread_count());
    if (answers_first) {
        release_lookups();
        wait_until_alone();
    }
    double began = netlib_current_time();
    netlib_connect_options_free(options);
    netlib_limit_free(limit);
    netlib_connect_free(connect);
    CHECK(netlib_current_time() - began < TOLERANCE);
    /* The abandoned lookup keeps no descriptor. */
    CHECK_INT(descriptors, open_descriptors());
    CHECK_INT(answers_first ? 1 : 2, thread_count());
    release_lookups();
    wait_until_alone();
    CHECK_INT(descriptors, open_descriptors());
}

/* netlib_connect_free does not wait for a lookup that hangs, or for a lookup whose result was not read. */
static void freeing_a_connect_does_not_wait_for_its_lookup(void) {
    hold_and_free(false);
    hold_and_free(true);
}

/* Frees connects at the moment when their lookups end. */
static void freeing_a_connect_while_its_lookup_ends_leaks_no_descriptor(void) {
    int descriptors = open_descriptors();
    for (int round = 0; round < 20; round++) {
        netlib_connect *connects[8];
        make_lookups_hang();
        for (int i = 0; i < 8; i++) connects[i] = hung_connect(NULL);
        release_lookups();
        for (int i = 0; i < 8; i++) netlib_connect_free(connects[i]);
        wait_until_alone();
        CHECK_INT(descriptors, open_descriptors());
    }
}

/* Checks that the lookup of a connect stays in the queue until the connect's limit ends. */
static void check_queued(const char *host, int32_t port, const netlib_connect_options *options) {
    netlib_error *err = NULL;
    int fd = -1;
    netlib_limit *brief = limit_of(SOON);
    double began = netlib_current_time();
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_create_connection(host, port, options, brief, &fd, &err));
    CHECK(netlib_current_time() - began < SOON + TOLERANCE);
    netlib_limit_free(brief);
    brief = limit_of(SOON);
    netlib_connect *connect = connect_to_name(host, port, options);
    CHECK_STATUS(NETLIB_DEADLINE_EXCEEDED, netlib_connect_run(connect, brief, &fd, &err));
    netlib_connect_free(connect);
    netlib_limit_free(brief);
}

/* At most 64 lookups run at a time. Further lookups wait in a queue. A connect that needs no lookup does not wait in
 * this queue. */
static void at_most_64_lookups_run_at_once_and_further_lookups_are_queued(void) {
    netlib_error *err = NULL;
    netlib_connect *connects[MOST], *queued[8];
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    int descriptors = open_descriptors();
    netlib_limit *limit = limit_of(LONG);
    for (int round = 0; round < 2; round++) {
        make_lookups_hang();
        for (int i = 0; i < MOST; i++) connects[i] = hung_connect(NULL);
        wait_until_lookups_hang(MOST);
        check_queued("good.test", port, NULL);
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_set_source_address(options, "good.test", 0);
        check_queued("127.0.0.1", port, options);
        netlib_connect_options_free(options);
        /* Neither of these calls waits in the queue: a numeric address needs no lookup, and without a limit the calling
         * thread does the lookup itself. */
        CHECK_OK(netlib_create_connection("127.0.0.1", port, NULL, limit, &fd, &err));
        close(fd);
        CHECK_OK(netlib_create_connection("good.test", port, NULL, NULL, &fd, &err));
        close(fd);
        /* An event loop sees no difference between a queued lookup and a slow lookup. */
        for (int i = 0; i < 8; i++) {
            queued[i] = connect_to_name("good.test", port, NULL);
            CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(queued[i], &fd, &err));
            CHECK_INT(1, (long long)netlib_connect_wait_count(queued[i]));
            CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(netlib_connect_wait_fd(queued[i], 0), 0, NULL, &err));
        }
        CHECK_INT(MOST + 1, thread_count());
        /* An abandoned lookup counts towards the 64 lookups until it ends. Therefore at most 64 lookups wait for a
         * resolver that hangs. */
        for (int i = 0; i < MOST; i++) netlib_connect_free(connects[i]);
        check_queued("good.test", port, NULL);
        netlib_connect_free(queued[3]);
        release_lookups();
        /* The descriptor of a connect becomes readable when its queued lookup has ended. */
        for (int i = 0; i < 8; i++) {
            if (i == 3) continue;
            CHECK_OK(netlib_wait_for_read(netlib_connect_wait_fd(queued[i], 0), LONG, NULL, &err));
            CHECK_OK(netlib_connect_run(queued[i], limit, &fd, &err));
            close(fd);
            netlib_connect_free(queued[i]);
        }
        wait_until_alone();
        CHECK_OK(netlib_create_connection("good.test", port, NULL, limit, &fd, &err));
        close(fd);
        wait_until_alone();
        /* One more descriptor is open than before the lookups: the descriptor of the limit. */
        CHECK_INT(descriptors + 1, open_descriptors());
    }
    netlib_limit_free(limit);
    close(server);
}

enum { CALLERS = 200 };

static void *connect_in_turn(void *port) {
    netlib_limit *limit = limit_of(LONG);
    int fd = -1;
    netlib_status status = netlib_create_connection("hung.test", *(const int32_t *)port, NULL, limit, &fd, NULL);
    netlib_limit_free(limit);
    if (fd >= 0) close(fd);
    return status == NETLIB_OK ? port : NULL;
}

/* 200 threads look up a host name at the same time. At most 64 lookups run at a time, and all lookups succeed. */
static void two_hundred_concurrent_lookups_all_succeed(void) {
    pthread_t threads[CALLERS];
    int32_t port = 0;
    int served = 0, server = listener(&port);
    CHECK(listen(server, CALLERS) == 0);
    make_lookups_hang();
    for (int i = 0; i < CALLERS; i++) CHECK(pthread_create(&threads[i], NULL, connect_in_turn, &port) == 0);
    wait_until_lookups_hang(MOST);
    release_lookups();
    for (int i = 0; i < CALLERS; i++) {
        void *done = NULL;
        CHECK(pthread_join(threads[i], &done) == 0);
        served += done != NULL;
    }
    CHECK_INT(CALLERS, served);
    wait_until_alone();
    close(server);
}

static void *begin_and_end(void *unused) {
    (void)unused;
    netlib_connect_free(hung_connect(NULL));
    return hung_connect(NULL);
}

/* One thread starts a lookup and ends. Another thread continues the connect and gets the result of the lookup. */
static void a_lookup_outlives_the_thread_that_started_it(void) {
    netlib_error *err = NULL;
    int fd = -1;
    make_lookups_hang();
    pthread_t thread;
    void *connect = NULL;
    CHECK(pthread_create(&thread, NULL, begin_and_end, NULL) == 0);
    CHECK(pthread_join(thread, &connect) == 0);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(connect, &fd, &err));
    release_lookups();
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_connect_run(connect, NULL, &fd, &err));
    netlib_connect_free(connect);
    wait_until_alone();
}

/* A forked child has the connects of its parent, but not the threads of the lookups. Therefore the child can run 64
 * lookups itself, and restarts a lookup that was queued in the parent. */
static void a_forked_child_has_its_own_lookup_queue(void) {
    netlib_error *err = NULL;
    netlib_connect *connects[MOST];
    int32_t port = 0;
    int fd = -1;
    int server = listener(&port);
    make_lookups_hang();
    for (int i = 0; i < MOST; i++) connects[i] = hung_connect(NULL);
    wait_until_lookups_hang(MOST);
    netlib_connect *queued = connect_to_name("good.test", port, NULL);
    CHECK_STATUS(NETLIB_WANT_WRITE, netlib_connect_step(queued, &fd, &err));
    struct child child = begin_child();
    if (child.process == 0) {
        netlib_limit *limit = limit_of(LONG);
        child.results[0] = netlib_create_connection("good.test", port, NULL, limit, &fd, NULL);
        child.results[1] = netlib_connect_run(queued, limit, &fd, NULL);
        netlib_connect_free(queued);
        end_child();
    }
    join_child(&child);
    CHECK_INT(NETLIB_OK, child.results[0]);
    CHECK_INT(NETLIB_OK, child.results[1]);
    drop_child(&child);
    /* The 64 lookups of the parent still run, and the queued lookup of the parent has not started. */
    check_queued("good.test", port, NULL);
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(netlib_connect_wait_fd(queued, 0), 0, NULL, &err));
    for (int i = 0; i < MOST; i++) netlib_connect_free(connects[i]);
    release_lookups();
    CHECK_OK(netlib_connect_run(queued, NULL, &fd, &err));
    close(fd);
    netlib_connect_free(queued);
    wait_until_alone();
    close(server);
}

/* ---- the process ends while lookups hang ---- */

static netlib_connect *kept;
static netlib_limit *kept_limit;

static void free_connect_and_limit_at_exit(void) {
    netlib_connect_free(kept);
    netlib_limit_free(kept_limit);
}

static void *exit_in_thread(void *code) { exit(*(int *)code); }

/* Ends this process with one abandoned and one active lookup. `how` names the way in which the process ends. Returns
 * only if the process ends by returning from main. */
static void end_process(const char *how) {
    static int code = 7;
    netlib_error *err = NULL;
    int fd = -1;
    alarm((unsigned)LONG);
    kept_limit = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_limit *brief = limit_of(0.001);
    kept = hung_connect(NULL);
    if (atexit(free_connect_and_limit_at_exit) != 0) abort();
    if (netlib_create_connection("hung.test", 80, NULL, brief, &fd, &err) != NETLIB_DEADLINE_EXCEEDED) abort();
    netlib_error_free(err);
    netlib_limit_free(brief);
    if (strcmp(how, "exit") == 0) exit(code);
    if (strcmp(how, "answered at exit") == 0) {
        release_lookups();
        exit(code);
    }
    if (strcmp(how, "exit in a thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, exit_in_thread, &code) != 0) abort();
        netlib_status status = netlib_create_connection("hung.test", 80, NULL, NULL, &fd, NULL);
        fprintf(stderr, "%s\n", netlib_status_name(status));
        abort();
    }
}

static void exit_does_not_wait_for_hanging_lookups(char *program) {
    static const char *const ways[] = {"exit", "answered at exit", "exit in a thread", "return from main"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int status = -1;
        double began = netlib_current_time();
        pid_t child = fork();
        if (child == 0) {
            execl(program, program, "--end", ways[i], (char *)NULL);
            _exit(1);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
            fprintf(stderr, "    %s: status %x\n", ways[i], (unsigned)status);
        CHECK(IN_TIME(began));
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--end") == 0) {
        end_process(argv[2]);
        return 7;
    }
    freeing_a_connect_does_not_wait_for_its_lookup();
    freeing_a_connect_while_its_lookup_ends_leaks_no_descriptor();
    at_most_64_lookups_run_at_once_and_further_lookups_are_queued();
    two_hundred_concurrent_lookups_all_succeed();
    a_lookup_outlives_the_thread_that_started_it();
    a_forked_child_has_its_own_lookup_queue();
    exit_does_not_wait_for_hanging_lookups(argv[0]);
    return report("stop lookups");
}
