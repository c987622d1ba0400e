#define _POSIX_C_SOURCE 200809L
#include "redis_store.h"

#include <hiredis/hiredis.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* Compares and swaps the word KEYS[1]. ARGV: the expected word, the desired word, the time to live in milliseconds.
 * Returns 1 if the word was the expected one, else 0; the word; and the time of the server. The words are strings,
 * because numbers of Lua have only 53 bits. */
static const char SCRIPT[] = "local time = redis.call('TIME') "
                             "local word = redis.call('GET', KEYS[1]) or '0' "
                             "if word ~= ARGV[1] then return {0, word, time[1], time[2]} end "
                             "if ARGV[2] ~= word then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end "
                             "return {1, word, time[1], time[2]}";

/* The seconds for which no connection is used after the server did not answer. */
static const double PAUSE = 1.0;

enum { MAX_IDLE = 16 };

/* The longest valid replies are an array of four short strings, and an error with a message. hiredis reads 16 KiB at
 * once, so a reply may exceed the maximum by as much. */
enum { MAX_REPLY = 4096 };

struct connection {
    redisContext *redis;
    char script[41]; /* the SHA-1 with which EVALSHA names the script */
};

/* Each call of the callback takes a connection, so that no thread waits for another thread. */
struct redis_words {
    pthread_mutex_t lock;
    struct connection idle[MAX_IDLE];
    int idle_count;
    double paused_until;
    char *address, *prefix;
};

static double monotonic_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* True if a line announces an array, a set or a map other than an array of four elements. hiredis allocates as many
 * elements as the server announces. */
static bool has_unexpected_array(const redisReader *reader) {
    for (size_t i = 0; i + 2 < reader->len; i++)
        if (memchr("*%~>", reader->buf[i], 4) != NULL && (i == 0 || reader->buf[i - 1] == '\n') &&
            memcmp(reader->buf + i, "*4\r", 3) != 0)
            return true;
    return false;
}

/* Sends the appended command, and returns its reply; NULL on failure. The limit bounds the whole exchange, even if the
 * server sends one byte at a time. */
static redisReply *exchange(redisContext *redis, const netlib_limit *limit) {
    int sent = 0;
    while (!sent)
        if (netlib_wait_for_write(redis->fd, INFINITY, limit, NULL) != NETLIB_OK ||
            redisBufferWrite(redis, &sent) != REDIS_OK)
            return NULL;
    void *reply = NULL;
    for (size_t received = 0; received <= MAX_REPLY;) {
        if (redisGetReplyFromReader(redis, &reply) != REDIS_OK || reply != NULL) return reply;
        size_t before = redis->reader->len;
        if (netlib_wait_for_read(redis->fd, INFINITY, limit, NULL) != NETLIB_OK || redisBufferRead(redis) != REDIS_OK)
            return NULL;
        received += redis->reader->len - before;
        if (has_unexpected_array(redis->reader)) return NULL;
    }
    return NULL;
}

static bool connect_to(struct connection *connection, const char *address, const netlib_limit *limit) {
    int fd = -1;
    netlib_status status = address[0] == '/'
                               ? netlib_create_unix_connection(address, strlen(address), NULL, limit, &fd, NULL)
                               : netlib_create_connection(address, 6379, NULL, limit, &fd, NULL);
    if (status != NETLIB_OK) return false;
    connection->redis = redisConnectFd(fd);
    if (connection->redis == NULL) return close(fd), false;
    redisAppendCommand(connection->redis, "SCRIPT LOAD %s", SCRIPT);
    redisReply *reply = exchange(connection->redis, limit);
    bool loaded = reply != NULL && reply->type == REDIS_REPLY_STRING && reply->len + 1 == sizeof connection->script;
    if (loaded) memcpy(connection->script, reply->str, sizeof connection->script);
    freeReplyObject(reply);
    return loaded;
}

/* Takes an idle connection, or makes one. Fails during the pause after a failure. */
static bool take(struct redis_words *words, struct connection *connection, const netlib_limit *limit) {
    pthread_mutex_lock(&words->lock);
    bool is_paused = monotonic_seconds() < words->paused_until, has_idle = !is_paused && words->idle_count > 0;
    if (has_idle) *connection = words->idle[--words->idle_count];
    pthread_mutex_unlock(&words->lock);
    return !is_paused && (has_idle || connect_to(connection, words->address, limit));
}

/* Returns a connection to the idle ones. If the server did not answer, closes this connection, on which a late answer
 * could follow, and all idle connections, which probably lead to the same server. */
static void give_back(struct redis_words *words, struct connection *connection, bool failed) {
    if (connection->redis == NULL) return;
    pthread_mutex_lock(&words->lock);
    bool keep = !failed && words->idle_count < MAX_IDLE;
    if (keep) words->idle[words->idle_count++] = *connection;
    if (failed) words->paused_until = monotonic_seconds() + PAUSE;
    while (failed && words->idle_count > 0) redisFree(words->idle[--words->idle_count].redis);
    pthread_mutex_unlock(&words->lock);
    if (!keep) redisFree(connection->redis);
}

/* Runs a command: EVALSHA with the SHA-1 of the script, or EVAL with the script. */
static redisReply *run(redisContext *redis, const char *command, const char *script, const struct redis_words *words,
                       const char *key, size_t len, const unsigned long long word[2], double ttl,
                       const netlib_limit *limit) {
    long long milliseconds = (long long)fmin(fmax(ceil(ttl * 1000.0), 1.0), 1e15);
    redisAppendCommand(redis, "%s %s 1 %s%b %llu %llu %lld", command, script, words->prefix, key, len, word[0], word[1],
                       milliseconds);
    return exchange(redis, limit);
}

/* Parses a string of decimal digits. */
static bool read_number(const redisReply *text, uint64_t max, uint64_t *number) {
    if (text->type != REDIS_REPLY_STRING || text->len == 0) return false;
    *number = 0;
    for (size_t i = 0; i < text->len; i++) {
        if (text->str[i] < '0' || text->str[i] > '9') return false;
        uint64_t digit = (uint64_t)(text->str[i] - '0');
        if (digit > max || *number > (max - digit) / 10) return false;
        *number = *number * 10 + digit;
    }
    return true;
}

/* Parses the reply of the script. Returns NETLIB_SWAP_UNAVAILABLE for every other reply. */
static enum netlib_swap read_reply(const redisReply *reply, uint64_t expected, uint64_t *actual, double *now) {
    uint64_t word = 0, seconds = 0, microseconds = 0;
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements != 4) return NETLIB_SWAP_UNAVAILABLE;
    const redisReply *swapped = reply->element[0];
    if (swapped->type != REDIS_REPLY_INTEGER || !read_number(reply->element[1], UINT64_MAX, &word) ||
        !read_number(reply->element[2], 10000000000, &seconds) ||
        !read_number(reply->element[3], 999999, &microseconds) || swapped->integer != (word == expected))
        return NETLIB_SWAP_UNAVAILABLE;
    *actual = word;
    *now = (double)seconds + (double)microseconds / 1e6;
    return word == expected ? NETLIB_SWAP_SWAPPED : NETLIB_SWAP_CHANGED;
}

static void swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                 double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    struct redis_words *words = ctx;
    struct connection connection = {NULL, ""};
    const unsigned long long word[2] = {expected, desired};
    netlib_limit *limit = NULL;
    redisReply *reply = NULL;
    *answer = NETLIB_SWAP_UNAVAILABLE;
    if (netlib_limit_new(timeout, NULL, &limit, NULL) == NETLIB_OK && take(words, &connection, limit)) {
        reply = run(connection.redis, "EVALSHA", connection.script, words, key, len, word, ttl, limit);
        if (reply != NULL && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOSCRIPT", 8) == 0) {
            freeReplyObject(reply);
            reply = run(connection.redis, "EVAL", SCRIPT, words, key, len, word, ttl, limit);
        }
        *answer = read_reply(reply, expected, actual, now);
    }
    freeReplyObject(reply);
    give_back(words, &connection, *answer == NETLIB_SWAP_UNAVAILABLE);
    netlib_limit_free(limit);
}

static void free_words(void *ctx) {
    struct redis_words *words = ctx;
    while (words->idle_count > 0) redisFree(words->idle[--words->idle_count].redis);
    pthread_mutex_destroy(&words->lock);
    free(words->address), free(words->prefix), free(words);
}

netlib_status redis_store_new(const char *address, const char *prefix, double timeout, netlib_store **store,
                              netlib_error **err) {
    struct redis_words *words = calloc(1, sizeof *words);
    if (words == NULL || (words->address = strdup(address)) == NULL || (words->prefix = strdup(prefix)) == NULL)
        abort();
    pthread_mutex_init(&words->lock, NULL);
    return netlib_store_new(swap, timeout, words, free_words, store, err);
}
