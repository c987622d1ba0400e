/* Stories: each is told in a process and a network of its own, all at the same time. */
#ifndef NETLIB_TEST_STORY_H
#define NETLIB_TEST_STORY_H

#include "peer.h"

#include <sys/types.h>
#include <sys/wait.h>

/* What a busy machine may add to a time. Times are never shorter than they should be. */
#define ROOM 0.5
/* A story that takes so many seconds has hung. */
enum { STORY_SECONDS = 40, STORIES_MAX = 32, PORT = 80 };
/* The suite's word for "not on this machine". */
enum { EXIT_SKIPPED = 77 };

/* The ways to connect to a name: netlib_connect_run, the loop around netlib_connect_step, netlib_create_connection. */
enum way { RUN, STEPS, SEQUENTIAL };
static const char *const way_names[] = {"run", "steps", "sequential"};

struct story {
    const char *name;
    void (*tell)(int tun, enum way way);
    enum way way;
    unsigned network;
};

/* ---- connecting ---- */

struct outcome {
    enum way way;
    netlib_status status;
    int fd;
    double seconds;
    netlib_error *err;
    /* NULL if SEQUENTIAL. */
    netlib_connect *connect;
};

/* The resolver of the stories: all hosts that connections can be made to, in the order of the script. */
static inline int32_t all_hosts(void *ctx, const char *name, int32_t port, double seconds_left, netlib_addresses *addresses) {
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

/* Of the peer's hosts; a NULL peer leaves names to the system. The stagger is the default. */
static inline netlib_connect_options *options_for(struct peer *peer, double timeout) {
    netlib_connect_options *options = netlib_connect_options_new();
    if (peer != NULL) netlib_connect_options_set_resolve_callback(options, all_hosts, peer, NULL);
    netlib_connect_options_set_timeout(options, timeout);
    return options;
}

static inline netlib_limit *limit_of(double seconds) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    CHECK_OK(netlib_limit_new(seconds, &limit, &err));
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

static inline struct outcome connect_to(enum way way, const char *name, const netlib_connect_options *options,
                                        const netlib_limit *limit) {
    struct outcome outcome = {.way = way, .fd = -1};
    netlib_error *err = NULL;
    double began = netlib_current_time();
    if (way == SEQUENTIAL) {
        outcome.status = netlib_create_connection(name, PORT, options, limit, &outcome.fd, &outcome.err);
    } else {
        CHECK_OK(netlib_connect_new(name, PORT, options, &outcome.connect, &err));
        if (way == RUN) {
            outcome.status = netlib_connect_run(outcome.connect, limit, &outcome.fd, &outcome.err);
        } else {
            CHECK_OK(netlib_connect_set_limit(outcome.connect, limit, &err));
            outcome.status = step_to_the_end(outcome.connect, &outcome.fd, &outcome.err);
        }
    }
    outcome.seconds = netlib_current_time() - began;
    return outcome;
}

/* Checks how it ended; after that there is no error to look at. */
#define CHECK_ENDED(expected, outcome) \
    check_status((expected), (outcome).status, &(outcome).err, __FILE__, __LINE__, "how connecting ended")

static inline void end(struct outcome *outcome) {
    if (outcome->fd >= 0) CHECK(close(outcome->fd) == 0);
    netlib_error_free(outcome->err);
    netlib_connect_free(outcome->connect);
}

/* ---- what came of it ---- */

static inline void check_seconds(double least, double seconds, const char *file, int line) {
    bool ok = seconds >= least && seconds <= least + ROOM;
    check_report(ok, file, line, "it takes as long as it should");
    if (!ok) fprintf(stderr, "    expected %.3f to %.3f s, got %.3f s\n", least, least + ROOM, seconds);
}

#define CHECK_SECONDS(least, seconds) check_seconds((least), (seconds), __FILE__, __LINE__)

/* An attempt, as the report has it: seconds from the first step. */
struct attempt {
    const char *address;
    netlib_status status;
    int errnum;
    double start, end;
};

static inline void check_attempts(const netlib_connect *connect, const struct attempt *expected, size_t count, const char *file,
                                  int line) {
    int32_t winner = -1;
    check_int((long long)count, (long long)netlib_connect_attempt_count(connect), file, line, "the number of attempts");
    for (size_t i = 0; i < count; i++) {
        check_str(expected[i].address, netlib_connect_attempt_address(connect, i, NULL), file, line, "whose turn it is");
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

/* The packets of one attempt come so many seconds after those of another, as the hosts saw it: a host that was late to
 * look at the earlier one makes the time a little shorter. */
static inline void check_gap(struct peer *peer, size_t host, size_t after, double least, const char *file, int line) {
    double gap = seen_at(peer, host).first - seen_at(peer, after).first;
    bool ok = gap > least - 0.1 && gap < least + ROOM;
    check_report(ok, file, line, "packets are sent in their order and time");
    if (!ok) fprintf(stderr, "    host %zu %.3f s after host %zu, expected %.3f s\n", host, gap, after, least);
}

#define CHECK_GAP(peer, host, after, least) check_gap((peer), (host), (after), (least), __FILE__, __LINE__)

/* The connection is blocking, and one to this address. */
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

/* ---- telling them ---- */

struct told {
    pid_t pid;
    int counts;
};

/* The text of `no_network` comes through the pipe too. */
struct result {
    unsigned long passed, failed;
    char reason[sizeof no_network];
};

static inline struct told begin_story(const struct story *story, unsigned network) {
    struct told told = {-1, -1};
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) return told;
    told.pid = fork();
    if (told.pid == 0) {
        struct result result;
        memset(&result, 0, sizeof result);
        alarm(STORY_SECONDS);
        checks_passed = checks_failed = 0;
        int tun = open_network(network);
        snprintf(result.reason, sizeof result.reason, "%s", tun < 0 ? no_network : "");
        if (tun >= 0 && story != NULL) story->tell(tun, story->way);
        result.passed = checks_passed;
        result.failed = checks_failed;
        bool whole = write(ends[1], &result, sizeof result) == (ssize_t)sizeof result;
        /* By exit: what the library left to threads of its own must not stand in the way. */
        exit(whole ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(ends[1]);
    told.counts = ends[0];
    return told;
}

/* Whether the process ended as it should. */
static inline bool end_story(const struct told *told, struct result *result) {
    int status = -1;
    memset(result, 0, sizeof *result);
    bool whole = told->pid > 0 && read(told->counts, result, sizeof *result) == (ssize_t)sizeof *result;
    if (told->pid > 0) waitpid(told->pid, &status, 0);
    close(told->counts);
    return whole && status == 0;
}

/* Whether this machine allows such networks. If not, says why. */
static inline bool has_networks(unsigned network) {
    struct result result;
    struct told told = begin_story(NULL, network);
    bool ended = end_story(&told, &result);
    if (!ended) return true; /* The stories will say. */
    if (result.reason[0] != '\0') printf("skipped: %s\n", result.reason);
    return result.reason[0] == '\0';
}

/* The body of main. */
static inline int tell_stories(const char *name, const struct story *stories, size_t count) {
    struct told told[STORIES_MAX];
    char names[STORIES_MAX][80];
    unsigned network = 0;
    for (size_t i = 0; i < count; i++) network |= stories[i].network & WITH_NAMESERVER;
    if (!has_networks(network)) return EXIT_SKIPPED;
    CHECK(count <= STORIES_MAX);
    for (size_t i = 0; i < count && i < STORIES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "%s (%s)", stories[i].name, way_names[stories[i].way]);
        told[i] = begin_story(&stories[i], stories[i].network);
    }
    for (size_t i = 0; i < count && i < STORIES_MAX; i++) {
        struct result result;
        bool ended = end_story(&told[i], &result);
        CHECK(ended && result.reason[0] == '\0');
        checks_passed += result.passed;
        checks_failed += result.failed;
        if (!ended) fprintf(stderr, "    the story \"%s\" crashed or hung\n", names[i]);
        else if (result.reason[0] != '\0') fprintf(stderr, "    the story \"%s\": %s\n", names[i], result.reason);
        else if (result.failed > 0) fprintf(stderr, "    in the story \"%s\"\n", names[i]);
        else if (result.passed == 0) CHECK(!"a story checks something");
    }
    return report(name);
}

#define TELL(name, stories) tell_stories((name), (stories), sizeof(stories) / sizeof *(stories))

#endif
