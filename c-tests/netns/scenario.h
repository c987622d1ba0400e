/* Runs all connection scenarios at the same time, each in its own process with its own network. */
#ifndef NETLIB_TEST_SCENARIO_H
#define NETLIB_TEST_SCENARIO_H

#include "peer.h"

#include <sys/types.h>
#include <sys/wait.h>

/* The seconds by which a measured time may exceed the expected time on a busy machine. */
#define TOLERANCE 0.5
/* A scenario that takes longer than SCENARIO_SECONDS counts as hanging, and is killed. */
enum { SCENARIO_SECONDS = 40, CHILDREN_MAX = 48, PORT = 80 };
/* The exit status by which the suite recognizes that this machine does not allow network namespaces. */
enum { EXIT_SKIPPED = 77 };

/* The functions that connect: netlib_connect_run, a loop of netlib_connect_step, and netlib_create_connection, whose
 * attempts are sequential. */
enum api { RUN, STEPS, SEQUENTIAL, APIS };
static const char *const api_names[] = {"run", "steps", "sequential"};

/* Bit masks of values of enum api. */
enum { RACING_APIS = 1 << RUN | 1 << STEPS, ALL_APIS = RACING_APIS | 1 << SEQUENTIAL };

/* A test that runs once for each function in `apis`. Either `run` or `run_row` is set; `run_row` gets `row`. */
struct scenario {
    const char *name;
    void (*run)(int tun, enum api api);
    unsigned apis;
    unsigned network;
    void (*run_row)(int tun, enum api api, const void *row);
    const void *row;
};

/* ---- connecting ---- */

struct outcome {
    netlib_status status;
    int fd;
    double seconds;
    netlib_error *err;
    /* The netlib_connect handle of a racing API. NULL for SEQUENTIAL. */
    netlib_connect *connect;
};

/* A resolve callback that returns, in their order, all hosts of a peer except name servers. */
static inline int32_t all_hosts(void *ctx, const char *name, int32_t port, double seconds_left,
                                netlib_addresses *addresses) {
    const struct peer *peer = ctx;
    (void)name, (void)port, (void)seconds_left;
    for (size_t i = 0; i < peer->count; i++) {
        netlib_error *err = NULL;
        struct sockaddr_in in = {.sin_family = AF_INET};
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
        if (peer->hosts[i].answer == ANSWERS_NAMES) continue;
        if (inet_pton(AF_INET, peer->hosts[i].address, &in.sin_addr) == 1) {
            CHECK_OK(netlib_addresses_add(addresses, &in, sizeof in, &err));
        } else {
            CHECK_INT(1, inet_pton(AF_INET6, peer->hosts[i].address, &in6.sin6_addr));
            CHECK_OK(netlib_addresses_add(addresses, &in6, sizeof in6, &err));
        }
    }
    return NETLIB_OK;
}

/* Returns options that resolve every name to the hosts of a peer. If `peer` is NULL, the system resolves names. */
static inline netlib_connect_options *options_for(struct peer *peer, double timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    if (peer != NULL) netlib_connect_options_set_resolve_callback(options, all_hosts, peer, NULL);
    netlib_connect_options_set_timeout(options, timeout);
    return options;
}

static inline netlib_limit *limit_of(double seconds) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(seconds, NULL, &limit, &err));
    return limit;
}

static inline netlib_status step_to_the_end(netlib_connect *connect, int *fd, netlib_error **err) {
    netlib_status status;
    while ((status = netlib_connect_step(connect, fd, err)) == NETLIB_WANT_WRITE) {
        struct pollfd fds[16];
        nfds_t count = 0;
        for (; count < netlib_connect_wait_count(connect) && count < 16; count++) {
            fds[count].fd = netlib_connect_wait_fd(connect, count);
            fds[count].events = (short)netlib_connect_wait_events(connect, count);
        }
        double seconds = netlib_connect_wait_seconds(connect);
        poll(fds, count, seconds < 60.0 ? (int)(seconds * 1000) + 1 : 60000);
    }
    return status;
}

static inline struct outcome connect_to(enum api api, const char *name, const netlib_connect_options *options,
                                        const netlib_limit *limit) {
    struct outcome outcome = {.fd = -1};
    netlib_error *err = NULL;
    double start = netlib_current_time();
    if (api == SEQUENTIAL) {
        outcome.status = netlib_create_connection(name, PORT, options, limit, &outcome.fd, &outcome.err);
    } else {
        CHECK_OK(netlib_connect_new(name, PORT, options, &outcome.connect, &err));
        if (api == RUN) {
            outcome.status = netlib_connect_run(outcome.connect, limit, &outcome.fd, &outcome.err);
        } else {
            CHECK_OK(netlib_connect_set_limit(outcome.connect, limit, &err));
            outcome.status = step_to_the_end(outcome.connect, &outcome.fd, &outcome.err);
        }
    }
    outcome.seconds = netlib_current_time() - start;
    return outcome;
}

/* Checks the status and frees the error. */
#define CHECK_ENDED(expected, outcome) \
    check_status((expected), (outcome).status, &(outcome).err, __FILE__, __LINE__, "the status of the connect")

static inline void end(struct outcome *outcome) {
    if (outcome->fd >= 0) CHECK(close(outcome->fd) == 0);
    netlib_error_free(outcome->err);
    netlib_connect_free(outcome->connect);
}

/* ---- results ---- */

static inline void check_seconds(double least, double seconds, const char *file, int line) {
    bool ok = seconds >= least && seconds <= least + TOLERANCE;
    check_report(ok, file, line, "the duration");
    if (!ok) fprintf(stderr, "    expected %.3f to %.3f s, got %.3f s\n", least, least + TOLERANCE, seconds);
}

#define CHECK_SECONDS(least, seconds) check_seconds((least), (seconds), __FILE__, __LINE__)

/* An attempt in the report of a connect. Times are in seconds since the first step. */
struct attempt {
    const char *address;
    netlib_status status;
    int errnum;
    double start, end;
};

static inline void check_attempts(const netlib_connect *connect, const struct attempt *expected, size_t count,
                                  const char *file, int line) {
    int32_t winner = -1;
    check_int((long long)count, (long long)netlib_connect_attempt_count(connect), file, line, "the number of attempts");
    for (size_t i = 0; i < count; i++) {
        check_str(expected[i].address, netlib_connect_attempt_address(connect, i, NULL), file, line,
                  "the address of the attempt");
        check_int(PORT, netlib_connect_attempt_port(connect, i), file, line, "the port");
        check_int(expected[i].status, netlib_connect_attempt_status(connect, i), file, line, expected[i].address);
        check_int(expected[i].errnum, netlib_connect_attempt_errno(connect, i), file, line, expected[i].address);
        check_seconds(expected[i].start, netlib_connect_attempt_start(connect, i), file, line);
        check_seconds(expected[i].end, netlib_connect_attempt_end(connect, i), file, line);
        if (expected[i].status == NETLIB_OK) winner = (int32_t)i;
    }
    check_int(winner, netlib_connect_winner(connect), file, line, "the winner");
}

#define CHECK_ATTEMPTS(connect, expected) \
    check_attempts((connect), (expected), sizeof(expected) / sizeof *(expected), __FILE__, __LINE__)

/* Checks the time between the first packets at two hosts. The time may be up to 0.1 s shorter than expected, because
 * the test may read the earlier packet late. */
static inline void check_gap(struct peer *peer, size_t host, size_t after, double expected, const char *file,
                             int line) {
    double gap = seen_at(peer, host).first - seen_at(peer, after).first;
    bool ok = gap > expected - 0.1 && gap < expected + TOLERANCE;
    check_report(ok, file, line, "the time between packets");
    if (!ok) fprintf(stderr, "    host %zu %.3f s after host %zu, expected %.3f s\n", host, gap, after, expected);
}

#define CHECK_GAP(peer, host, after, expected) check_gap((peer), (host), (after), (expected), __FILE__, __LINE__)

/* Checks that the socket is blocking and connected to `address`. */
static inline void check_connected(int fd, const char *address, const char *file, int line) {
    struct sockaddr_storage to;
    socklen_t len = sizeof to;
    char text[INET6_ADDRSTRLEN] = "";
    memset(&to, 0, sizeof to);
    check_report(fd >= 0 && getpeername(fd, (struct sockaddr *)&to, &len) == 0, file, line, "there is a connection");
    const void *bytes = &((const struct sockaddr_in *)&to)->sin_addr;
    if (to.ss_family == AF_INET6) bytes = &((const struct sockaddr_in6 *)&to)->sin6_addr;
    inet_ntop(to.ss_family, bytes, text, sizeof text);
    check_str(address, text, file, line, "the address that is connected to");
    check_report(!(fcntl(fd, F_GETFL) & O_NONBLOCK), file, line, "the connection is blocking");
}

#define CHECK_CONNECTED(fd, address) check_connected((fd), (address), __FILE__, __LINE__)

/* ---- running scenarios ---- */

struct child {
    pid_t pid;
    int results;
};

/* The result of a scenario, which the child process writes to its pipe. */
struct result {
    unsigned long passed, failed;
    char reason[sizeof no_network];
};

/* Starts a scenario in a child process. If `scenario` is NULL, the child only opens the network. */
static inline struct child start_scenario(const struct scenario *scenario, enum api api, unsigned network) {
    struct child child = {-1, -1};
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) return child;
    child.pid = fork();
    if (child.pid == 0) {
        struct result result;
        memset(&result, 0, sizeof result);
        alarm(SCENARIO_SECONDS);
        checks_passed = checks_failed = 0;
        int tun = open_network(network);
        snprintf(result.reason, sizeof result.reason, "%s", tun < 0 ? no_network : "");
        if (tun >= 0 && scenario != NULL && scenario->row != NULL) scenario->run_row(tun, api, scenario->row);
        else if (tun >= 0 && scenario != NULL) scenario->run(tun, api);
        result.passed = checks_passed;
        result.failed = checks_failed;
        bool whole = write(ends[1], &result, sizeof result) == (ssize_t)sizeof result;
        /* Ends the child even if threads of abandoned lookups still run, because exit(3) does not wait for threads. */
        exit(whole ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(ends[1]);
    child.results = ends[0];
    return child;
}

/* Waits for a child process. Returns false if the child crashed or hung. */
static inline bool await_scenario(const struct child *child, struct result *result) {
    int status = -1;
    memset(result, 0, sizeof *result);
    bool whole = child->pid > 0 && read(child->results, result, sizeof *result) == (ssize_t)sizeof *result;
    if (child->pid > 0) waitpid(child->pid, &status, 0);
    close(child->results);
    return whole && status == 0;
}

/* Returns true if this machine allows network namespaces. Otherwise prints the reason. */
static inline bool has_networks(unsigned network) {
    struct result result;
    struct child child = start_scenario(NULL, RUN, network);
    if (!await_scenario(&child, &result)) return true; /* The scenarios will fail and show the reason. */
    if (result.reason[0] != '\0') printf("skipped: %s\n", result.reason);
    return result.reason[0] == '\0';
}

/* Runs all scenarios at the same time, and returns the exit status of main. */
static inline int run_scenarios(const char *name, const struct scenario *scenarios, size_t count) {
    struct child children[CHILDREN_MAX];
    char names[CHILDREN_MAX][128];
    unsigned network = 0;
    size_t started = 0;
    for (size_t i = 0; i < count; i++) network |= scenarios[i].network & WITH_NAMESERVER;
    if (!has_networks(network)) return EXIT_SKIPPED;
    for (size_t i = 0; i < count; i++) {
        for (int api = 0; api < APIS; api++) {
            if (!(scenarios[i].apis & 1u << api)) continue;
            CHECK(started < CHILDREN_MAX);
            if (started >= CHILDREN_MAX) continue;
            snprintf(names[started], sizeof names[started], "%s (%s)", scenarios[i].name, api_names[api]);
            children[started++] = start_scenario(&scenarios[i], (enum api)api, scenarios[i].network);
        }
    }
    for (size_t i = 0; i < started; i++) {
        struct result result;
        bool ended = await_scenario(&children[i], &result);
        CHECK(ended && result.reason[0] == '\0');
        checks_passed += result.passed;
        checks_failed += result.failed;
        if (!ended) fprintf(stderr, "    scenario \"%s\" crashed or hung\n", names[i]);
        else if (result.reason[0] != '\0') fprintf(stderr, "    scenario \"%s\": %s\n", names[i], result.reason);
        else if (result.failed > 0) fprintf(stderr, "    in scenario \"%s\"\n", names[i]);
        else if (result.passed == 0) CHECK(!"a scenario has checks");
    }
    return report(name);
}

#define RUN_SCENARIOS(name, scenarios) run_scenarios((name), (scenarios), sizeof(scenarios) / sizeof *(scenarios))

#endif
