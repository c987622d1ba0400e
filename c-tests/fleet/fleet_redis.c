/* A fleet with the store of examples-c/store_redis on a Redis server: processes that are killed, and a server that is
 * slow, stopped and restarted. */
#define _GNU_SOURCE
#include "fleet.h"
#include "store_redis/redis_store.h"

#include <hiredis/hiredis.h>

static char directory[] = "/tmp/netlib-redis-XXXXXX";
static char address[64];
static pid_t server;

static redisContext *connect_to_server(void) {
    redisContext *redis = redisConnectUnix(address);
    if (redis != NULL && redis->err == 0) return redis;
    if (redis != NULL) redisFree(redis);
    return NULL;
}

/* Starts the server, and waits until it answers. The server writes each change to the file system before it answers, so
 * a server that is killed loses no change. */
static void start_server(void) {
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", address, "--dir", directory, "--save", "",
               "--appendonly", "yes", "--appendfsync", "no", "--logfile", "redis.log", (char *)NULL);
        _exit(1);
    }
    for (;;) {
        redisContext *redis = connect_to_server();
        redisReply *reply = redis != NULL ? redisCommand(redis, "PING") : NULL;
        bool is_ready = reply != NULL && reply->type == REDIS_REPLY_STATUS;
        freeReplyObject(reply);
        if (redis != NULL) redisFree(redis);
        if (is_ready) return;
        if (waitpid(server, NULL, WNOHANG) != 0) abort();
        sleep_seconds(0.005);
    }
}

static void kill_server(void) {
    CHECK_INT(0, kill(server, SIGKILL));
    CHECK(waitpid(server, NULL, 0) == server);
}

/* Runs a command. Returns the number in the answer, and 0 if the answer is not a text. */
static unsigned long long run_command(const char *command) {
    redisContext *redis = connect_to_server();
    CHECK(redis != NULL);
    if (redis == NULL) return 0;
    redisReply *reply = redisCommand(redis, command);
    CHECK(reply != NULL && reply->type != REDIS_REPLY_ERROR);
    unsigned long long number = reply != NULL && reply->str != NULL ? strtoull(reply->str, NULL, 10) : 0;
    freeReplyObject(reply);
    redisFree(redis);
    return number;
}

static void remove_directory(void) {
    pid_t process = fork();
    if (process == 0) {
        execlp("rm", "rm", "-r", directory, (char *)NULL);
        _exit(1);
    }
    CHECK(waitpid(process, NULL, 0) == process);
}

static netlib_status open_redis(netlib_store **store, netlib_error **err) {
    /* Longer than the machine may stop the server: each operation must succeed. */
    return redis_store_new(address, "test:", 30.0, store, err);
}

static netlib_rate *make_rate(double timeout, double per_second, double burst, enum netlib_unavailable policy) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    netlib_rate *rate = NULL;
    CHECK_OK(redis_store_new(address, "test:", timeout, &store, &err));
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, per_second, burst);
    netlib_rate_options_set_store(options, store, policy);
    CHECK_OK(netlib_rate_new(options, &rate, &err));
    netlib_rate_options_free(options);
    netlib_store_free(store);
    return rate;
}

static netlib_status take(netlib_rate *rate, const char *key) {
    double wait;
    return netlib_rate_take(rate, key, NETLIB_NTS, 1.0, &wait, NULL);
}

/* Repeats the call until the store answers again: the adapter does not contact a failed server for a second. */
static netlib_status take_when_available(netlib_rate *rate, const char *key) {
    netlib_status status = take(rate, key);
    for (int i = 0; i < 5000 && status == NETLIB_STORE_UNAVAILABLE; i++) sleep_seconds(0.001), status = take(rate, key);
    return status;
}

static void a_fleet_gets_what_the_rate_allows(void) {
    struct fleet fleet = {3, 2, 300.0, 300.0, 2.0, 0, CLOCK_REALTIME, open_redis, NULL};
    run_fleet(&fleet, "Redis");
    run_command("FLUSHALL");
    fleet.kills = 10;
    run_fleet(&fleet, "Redis, with 10 processes killed");
}

/* The limit is the timeout of the store. */
static void a_server_that_does_not_answer_delays_a_call_by_at_most_the_limit_and_20_ms(void) {
    enum { ROUNDS = 3 };
    static const struct {
        enum netlib_unavailable policy;
        netlib_status status;
    } rows[] = {{NETLIB_UNAVAILABLE_LOCAL, NETLIB_OK},
                {NETLIB_UNAVAILABLE_OPEN, NETLIB_OK},
                {NETLIB_UNAVAILABLE_CLOSED, NETLIB_STORE_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netlib_rate *rate = make_rate(0.1, 1000.0, 1000.0, rows[i].policy);
        CHECK_INT(NETLIB_OK, take(rate, "slow"));
        CHECK_INT(0, kill(server, SIGSTOP));
        long long begin = nanoseconds(CLOCK_MONOTONIC);
        CHECK_INT(rows[i].status, take(rate, "slow"));
        double seconds = (double)(nanoseconds(CLOCK_MONOTONIC) - begin) / 1e9;
        CHECK(seconds >= 0.1 && seconds <= 0.12);
        /* The adapter does not ask the server again for a second. */
        begin = nanoseconds(CLOCK_MONOTONIC);
        CHECK_INT(rows[i].status, take(rate, "slow"));
        CHECK((double)(nanoseconds(CLOCK_MONOTONIC) - begin) / 1e9 <= 0.02);
        CHECK_INT(0, kill(server, SIGCONT));
        CHECK_INT(NETLIB_OK, take_when_available(rate, "slow"));
        netlib_rate_free(rate);
    }
}

static void a_call_waits_for_a_busy_server_within_the_timeout(void) {
    netlib_rate *rate = make_rate(1.0, 1000.0, 1000.0, NETLIB_UNAVAILABLE_CLOSED);
    redisContext *redis = connect_to_server();
    CHECK(redis != NULL && redisAppendCommand(redis, "DEBUG SLEEP 0.2") == REDIS_OK);
    int done = 0;
    while (!done && redisBufferWrite(redis, &done) == REDIS_OK) {}
    CHECK_INT(NETLIB_OK, take(rate, "busy"));
    redisFree(redis);
    netlib_rate_free(rate);
}

static void a_restarted_server_still_has_the_words(void) {
    netlib_rate *rate = make_rate(1.0, 0.001, 5.0, NETLIB_UNAVAILABLE_CLOSED);
    for (int i = 0; i < 5; i++) CHECK_INT(NETLIB_OK, take(rate, "restart"));
    CHECK_INT(NETLIB_RATE_LIMITED, take(rate, "restart"));
    kill_server();
    CHECK_INT(NETLIB_STORE_UNAVAILABLE, take(rate, "restart"));
    start_server();
    CHECK_INT(NETLIB_RATE_LIMITED, take_when_available(rate, "restart"));
    netlib_rate_free(rate);
}

static void a_server_that_has_dropped_the_script_gets_it_again(void) {
    netlib_rate *rate = make_rate(1.0, 0.001, 2.0, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_INT(NETLIB_OK, take(rate, "script"));
    run_command("SCRIPT FLUSH");
    CHECK_INT(NETLIB_OK, take(rate, "script"));
    run_command("SCRIPT FLUSH");
    CHECK_INT(NETLIB_RATE_LIMITED, take(rate, "script"));
    netlib_rate_free(rate);
}

enum { THREADS = 4, TAKES = 300 };

static atomic_llong granted;

static void *take_often(void *rate) {
    for (int i = 0; i < TAKES; i++) granted += take(rate, "word") == NETLIB_OK;
    return NULL;
}

/* Runs `run` in `count` threads, and `meanwhile` in this thread. */
static void run_threads(int count, void *(*run)(void *), netlib_rate *rate, void (*meanwhile)(void)) {
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run, rate) != 0) abort();
    meanwhile();
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void do_nothing(void) {}

static void continue_later(void) {
    sleep_seconds(0.2);
    CHECK_INT(0, kill(server, SIGCONT));
}

/* A permission adds 1 ns to the word, so the words of two threads differ by 1. The words have more digits than a number
 * of Lua can represent. */
static void threads_lose_no_update_although_words_differ_only_by_1(void) {
    netlib_rate *rate = make_rate(1.0, 1e9, 1e18, NETLIB_UNAVAILABLE_CLOSED);
    unsigned long long start = (unsigned long long)nanoseconds(CLOCK_REALTIME) + 500000000000000000u;
    char command[64];
    snprintf(command, sizeof command, "SET test:rate:word %llu", start);
    run_command(command);
    run_threads(THREADS, take_often, rate, do_nothing);
    CHECK(granted > THREADS * TAKES / 2);
    CHECK_INT(granted, (long long)(run_command("GET test:rate:word") - start));
    netlib_rate_free(rate);
}

static void *take_while_stopped(void *rate) {
    CHECK_INT(NETLIB_OK, take(rate, "idle"));
    return NULL;
}

/* While the server is stopped, each of two threads makes a connection to it. Then the server is killed. The first
 * failure closes both connections, so after the pause, the first call reaches the new server. */
static void idle_connections_to_a_killed_server_are_closed_together(void) {
    netlib_rate *rate = make_rate(5.0, 0.001, 5.0, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_INT(0, kill(server, SIGSTOP));
    run_threads(2, take_while_stopped, rate, continue_later);
    kill_server();
    start_server();
    CHECK_INT(NETLIB_STORE_UNAVAILABLE, take(rate, "idle"));
    sleep_seconds(1.05);
    CHECK_INT(NETLIB_OK, take(rate, "idle"));
    netlib_rate_free(rate);
}

int main(void) {
    alarm(60);
    signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(directory) == NULL) abort();
    snprintf(address, sizeof address, "%s/socket", directory);
    start_server();
    a_fleet_gets_what_the_rate_allows();
    a_server_that_does_not_answer_delays_a_call_by_at_most_the_limit_and_20_ms();
    a_call_waits_for_a_busy_server_within_the_timeout();
    a_restarted_server_still_has_the_words();
    a_server_that_has_dropped_the_script_gets_it_again();
    threads_lose_no_update_although_words_differ_only_by_1();
    idle_connections_to_a_killed_server_are_closed_together();
    kill_server();
    remove_directory();
    return report("fleet redis");
}
