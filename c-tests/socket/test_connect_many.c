/* Tests connecting without free descriptors, to many addresses, thousands of times, and on many threads. */
#define _GNU_SOURCE
#include "connect_rows.h"

#include <pthread.h>
#include <sys/resource.h>

/* ---- connecting without free descriptors ---- */

/* Limits the process to `count` further descriptors. Returns the previous resource limit. */
static struct rlimit limit_free_descriptors(int count) {
    struct rlimit files, few;
    int highest[8];
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    for (int i = 0; i <= count; i++) highest[i] = dup(0);
    for (int i = 0; i <= count; i++) close(highest[i]);
    few = files;
    few.rlim_cur = (rlim_t)highest[count];
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    return files;
}

static void connecting_to_addresses_needs_only_one_free_descriptor(void) {
    int32_t port = 0, silent_port = 0, dead_port = 0;
    int filler = -1;
    int server = listener(&port), silent = silent_listener(&silent_port, &filler), dead = bound_socket(&dead_port);
    const struct sockaddr_storage good[] = {ipv4(INADDR_LOOPBACK, port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage dead_first[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage silent_first[] = {ipv4(INADDR_LOOPBACK, silent_port), ipv4(INADDR_LOOPBACK, port)};
    const char *no_more = "cannot open a socket: ";
    char reason[96];
    snprintf(reason, sizeof reason, "%s%s", no_more, strerror(EMFILE));
    /* The limit opens its own descriptor in the first call that waits. */
    netlib_limit *limit = limit_of(LONG);
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(filler, 0.001, limit, &err));
    const netlib_limit *const limits[] = {NULL, limit};
    /* The first lookup loads the libraries of the system's resolver. */
    int first = -1;
    CHECK_OK(netlib_create_connection("localhost", port, NULL, limit, &first, &err));
    close_both(first, server);

    for (int row = 0; row < WAYS * 2; row++) {
        int way = row / 2, fd = 17;
        struct answer answer = {good, 2, 0};
        netlib_connect_options *options = options_for(&answer, 0.06);
        struct rlimit files = limit_free_descriptors(0);
        int before = open_descriptors();
        /* Each connection attempt fails with EMFILE. */
        netlib_status status = connect_by(way, "name.test", 80, options, limits[row % 2], &fd, &err);
        CHECK_INT(EMFILE, netlib_error_errno(err));
        CHECK_INT(2, (long long)netlib_error_cause_count(err));
        for (size_t i = 0; i < 2; i++) check_cause(err, i, "127.0.0.1", port, NETLIB_CONNECT_FAILED, EMFILE, reason);
        CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));
        CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        CHECK_INT(-1, fd);
        CHECK_INT(before, open_descriptors());
        /* Before a lookup in another thread, netlib opens a descriptor. A lookup in the calling thread is the only row
         * whose status and errno depend on the machine's resolver; c-tests/netns/names.c checks it with a known one. */
        status = connect_by(way, "localhost", port, NULL, limits[row % 2], &fd, &err);
        bool in_calling_thread = way == 0 && row % 2 == 0;
        if (in_calling_thread) {
            CHECK(status == NETLIB_NAME_RESOLUTION || status == NETLIB_CONNECT_FAILED);
            netlib_error_free(err);
            err = NULL;
        } else {
            CHECK_INT(EMFILE, netlib_error_errno(err));
            CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        }
        CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));
        CHECK_INT(-1, fd);
        CHECK_INT(before, open_descriptors());
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);

        /* One descriptor is enough, because a failed attempt frees it for the next. */
        files = limit_free_descriptors(1);
        answer.addresses = dead_first;
        CHECK_OK(connect_by(way, "name.test", 80, options, limits[row % 2], &fd, &err));
        CHECK_INT(port, port_of_peer(fd));
        close_both(fd, server);
        CHECK_INT(before, open_descriptors());
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
        netlib_connect_options_free(options);
    }

    /* If no descriptor is free for the next attempt, the attempts in progress continue. The next attempt starts when a
     * failed attempt has freed its descriptor. */
    netlib_connect_options *options = netlib_connect_options_new();
    struct answer answer = {silent_first, 2, 0};
    netlib_connect_options_set_resolve_callback(options, resolve, &answer, NULL);
    netlib_connect_options_set_timeout(options, 0.5);
    netlib_connect_options_set_attempt_delay(options, 0.01);
    struct rlimit files = limit_free_descriptors(1);
    int before = open_descriptors(), fd = 17;
    double start = netlib_current_time();
    CHECK_OK(connect_by(1, "name.test", 80, options, NULL, &fd, &err));
    CHECK(netlib_current_time() - start >= 0.5);
    CHECK_INT(port, port_of_peer(fd));
    close_both(fd, server);
    CHECK_INT(before, open_descriptors());
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    netlib_connect_options_free(options);
    netlib_limit_free(limit);
    close(server);
    close(filler);
    close(silent);
    close(dead);
}

/* ---- many addresses ---- */

/* Connects with netlib_connect_new_addresses to the list that the function `resolve` fills. */
static netlib_status connect_to_list(const struct answer *answer, int *fd, netlib_error **err) {
    netlib_connect *connect = NULL;
    netlib_addresses *addresses = netlib_addresses_new();
    struct answer copy = *answer;
    CHECK(resolve(&copy, "", 0, 0, addresses) == NETLIB_OK);
    *fd = -1;
    netlib_status status = netlib_connect_new_addresses("name.test", 80, addresses, NULL, &connect, err);
    netlib_addresses_free(addresses);
    if (status == NETLIB_OK) status = netlib_connect_run(connect, NULL, fd, err);
    netlib_connect_free(connect);
    return status;
}

enum { ANSWER = 200, TRIED = 64 };

/* Only the first 64 addresses are tried, in order. A race first reorders the addresses so that the families alternate,
 * and then truncates the list. */
static void at_most_64_addresses_are_tried(void) {
    int32_t port = 0, dead_port = 0;
    int server = listener(&port), dead = bound_socket(&dead_port);
    const struct {
        size_t count;
        int good; /* index of the address that accepts; -1: none */
        bool first_are_ipv6;
    } rows[] = {
        {TRIED, -1, false},     {TRIED, TRIED - 1, false}, {TRIED + 1, -1, false},     {ANSWER, TRIED - 1, false},
        {ANSWER, TRIED, false}, {ANSWER, -1, false},       {ANSWER, ANSWER - 1, true},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct sockaddr_storage addresses[ANSWER];
        size_t count = rows[row].count;
        if (rows[row].first_are_ipv6 && !has_ipv6()) continue;
        for (size_t i = 0; i < count; i++) {
            addresses[i] = rows[row].first_are_ipv6 ? ipv6_loopback(dead_port) : ipv4(INADDR_LOOPBACK, dead_port);
            if ((int)i == rows[row].good) addresses[i] = ipv4(INADDR_LOOPBACK, port);
        }
        struct answer answer = {addresses, count, 0};
        netlib_connect_options *options = options_for(&answer, LONG);
        for (int way = 0; way < WAYS + 1; way++) {
            netlib_error *err = NULL;
            int fd = 17;
            bool reached = rows[row].good >= 0 && (rows[row].good < TRIED || (rows[row].first_are_ipv6 && way > 0));
            netlib_status status = way < WAYS ? connect_by(way, "name.test", 80, options, NULL, &fd, &err)
                                              : connect_to_list(&answer, &fd, &err);
            if (!reached) {
                char expected[128];
                if (count > TRIED)
                    snprintf(expected, sizeof expected,
                             "cannot connect to name.test port 80, %d of %zu addresses tried, the last: %s", TRIED,
                             count, strerror(ECONNREFUSED));
                else
                    snprintf(expected, sizeof expected,
                             "cannot connect to name.test port 80, %d addresses tried, the last: %s", TRIED,
                             strerror(ECONNREFUSED));
                CHECK_STR(expected, netlib_error_message(err, NULL));
                CHECK_INT(TRIED, (long long)netlib_error_cause_count(err));
            }
            CHECK_STATUS(reached ? NETLIB_OK : NETLIB_CONNECT_FAILED, status);
            close_both(fd, server);
        }
        netlib_connect_options_free(options);
    }
    close(server);
    close(dead);
}

/* ---- many connect operations ---- */

/* Returns the lowest free descriptor number, which changes if a descriptor leaks. */
static int next_descriptor(void) {
    int next = dup(0);
    close(next);
    return next;
}

enum { MANY = 2000 };

/* Connects sequentially and by racing. Each connect succeeds after a failed attempt, succeeds while a slower attempt is
 * in progress, or fails. The limit has no deadline, because the duration depends on the machine. */
static void thousands_of_connections_leak_no_descriptor(void) {
    int32_t port = 0, silent_port = 0, dead_port = 0;
    int filler = -1;
    int server = listener(&port), silent = silent_listener(&silent_port, &filler), dead = bound_socket(&dead_port);
    const struct sockaddr_storage dead_first[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage silent_first[] = {ipv4(INADDR_LOOPBACK, silent_port), ipv4(INADDR_LOOPBACK, port)};
    const struct sockaddr_storage all_silent[] = {silent_first[0], silent_first[0]};
    const struct sockaddr_storage all_dead[] = {ipv4(INADDR_LOOPBACK, dead_port), ipv4(INADDR_LOOPBACK + 1, dead_port)};
    const struct {
        int way;
        const struct sockaddr_storage *addresses;
        double timeout;
        netlib_status expected;
        int times;
    } rows[] = {
        {0, dead_first, NETLIB_TIMEOUT_NONE, NETLIB_OK, MANY},
        {1, dead_first, NETLIB_TIMEOUT_NONE, NETLIB_OK, MANY},
        {0, all_dead, LONG, NETLIB_CONNECT_FAILED, MANY},
        {1, all_dead, LONG, NETLIB_CONNECT_FAILED, MANY},
        /* Each of these connects lasts for a timeout or an attempt delay. */
        {0, silent_first, 0.01, NETLIB_OK, 50},
        {1, silent_first, NETLIB_TIMEOUT_NONE, NETLIB_OK, 100},
        {0, all_silent, 0.005, NETLIB_CONNECT_TIMEOUT, 50},
        {1, all_silent, 0.015, NETLIB_CONNECT_TIMEOUT, 50},
    };
    netlib_limit *lasting = limit_of(NETLIB_TIMEOUT_NONE);
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(filler, 0.001, lasting, &err));
    int before = open_descriptors(), next = next_descriptor();
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct answer answer = {rows[row].addresses, 2, 0};
        netlib_connect_options *options = options_for(&answer, rows[row].timeout);
        netlib_connect_options_set_attempt_delay(options, 0.01);
        int right = 0;
        for (int i = 0; i < rows[row].times; i++) {
            int fd = -1;
            netlib_status status =
                connect_by(rows[row].way, "name.test", 80, options, i % 2 ? lasting : NULL, &fd, &err);
            right += status == rows[row].expected && (fd >= 0) == (status == NETLIB_OK);
            netlib_error_free(err);
            close_both(fd, server);
        }
        CHECK_INT(rows[row].times, right);
        CHECK_INT(before, open_descriptors());
        CHECK_INT(next, next_descriptor());
        netlib_connect_options_free(options);
    }
    netlib_limit_free(lasting);
    close(filler);
    close(silent);
    close(dead);
    close(server);
}

enum { THREADS = 8, ROUNDS = 100 };

struct caller {
    const struct sockaddr_storage *addresses;
    const netlib_limit *limit;
    int32_t port;
    int right;
};

static void *connect_often(void *arg) {
    struct caller *caller = arg;
    struct answer answer = {caller->addresses, 2, 0};
    netlib_connect_options *options = options_for(&answer, LONG);
    for (int i = 0; i < ROUNDS; i++) {
        netlib_error *err = NULL;
        int fd = -1;
        netlib_status status = connect_by(i % WAYS, "name.test", 80, options, i % 3 ? caller->limit : NULL, &fd, &err);
        struct sockaddr_in peer;
        socklen_t len = sizeof peer;
        memset(&peer, 0, sizeof peer);
        caller->right += status == NETLIB_OK && err == NULL && getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
                         ntohs(peer.sin_port) == caller->port;
        netlib_error_free(err);
        if (fd >= 0) close(fd);
    }
    netlib_connect_options_free(options);
    return NULL;
}

/* All threads share a limit. Each thread connects to its own server. */
static void concurrent_connects_reach_the_servers_that_were_requested(void) {
    int before = open_descriptors();
    netlib_limit *limit = limit_of(NETLIB_TIMEOUT_NONE);
    int32_t dead_port = 0;
    int dead = bound_socket(&dead_port);
    int servers[THREADS];
    struct sockaddr_storage addresses[THREADS][2];
    struct caller callers[THREADS];
    pthread_t acceptors[THREADS], threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){addresses[i], limit, 0, 0};
        servers[i] = listener(&callers[i].port);
        addresses[i][0] = ipv4(INADDR_LOOPBACK, dead_port);
        addresses[i][1] = ipv4(INADDR_LOOPBACK, callers[i].port);
        CHECK(pthread_create(&acceptors[i], NULL, accept_all, &servers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, connect_often, &callers[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_INT(ROUNDS, callers[i].right);
        shutdown(servers[i], SHUT_RDWR);
        CHECK(pthread_join(acceptors[i], NULL) == 0);
        close(servers[i]);
    }
    netlib_limit_free(limit);
    close(dead);
    CHECK_INT(before, open_descriptors());
}

int main(void) {
    connecting_to_addresses_needs_only_one_free_descriptor();
    at_most_64_addresses_are_tried();
    thousands_of_connections_leak_no_descriptor();
    concurrent_connects_reach_the_servers_that_were_requested();
    return report("connect_many");
}
