/*
 * pool - sends many requests from several threads, on connections that are kept alive.
 *
 *     cc pool.c $(pkg-config --cflags --libs netlib) -pthread -o pool
 *     ./pool 4 200 https://example.com/ https://example.org/ http://example.net/
 *
 * The program sends 200 requests, in turn to the three URLs, from 4 threads, discards the bodies of the responses, and
 * prints how many requests used an open connection again. A connection may serve a request if netlib_connection_key
 * returns the key of the connection for the request. netlib_stream_is_dropped checks an idle connection before a
 * request is sent on it, and netlib_response_keeps_alive tells whether a connection returns to the pool after a
 * response. A request whose connection was stale (NETLIB_STALE_CONNECTION) is repeated on a new connection.
 *
 * Read this file from main upwards.
 */
#include <netlib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64, MAX_URLS = 16 };

struct connection {
    char key[NETLIB_CONNECTION_KEY_SIZE];
    netlib_stream *stream;
    struct connection *next; /* the next idle connection of the pool */
};

/* The state that all threads share. */
struct pool {
    netlib_tls_context *tls;
    netlib_limit *limit; /* bounds the whole program */
    netlib_url *urls[MAX_URLS];
    size_t url_count;
    long request_count;

    pthread_mutex_t mutex;   /* protects the fields below; no thread waits for the network while it holds the mutex */
    struct connection *idle; /* the connections that carry no request, the one used last first */
    long next_request, succeeded, opened, reused;
};

static netlib_status fail(netlib_status status, const char *message, netlib_error **err) {
    netlib_status made = netlib_error_new(status, message, NULL, err, NULL);
    return made == NETLIB_OK ? status : made;
}

/* --- the pool ----------------------------------------------------------------------------------------------------- */

static void close_connection(struct connection *connection) {
    netlib_stream_free(connection->stream);
    free(connection);
}

/* Removes an idle connection with this key from the pool. Returns NULL if there is none. */
static struct connection *remove_idle(struct pool *pool, const char *key) {
    pthread_mutex_lock(&pool->mutex);
    struct connection **link = &pool->idle;
    while (*link != NULL && strcmp((*link)->key, key) != 0) link = &(*link)->next;
    struct connection *found = *link;
    if (found != NULL) *link = found->next;
    pthread_mutex_unlock(&pool->mutex);
    return found;
}

/* Returns an idle connection that the peer has not dropped, or NULL. Closes idle connections with this key that the
 * peer has dropped. */
static struct connection *reuse_connection(struct pool *pool, const char *key) {
    struct connection *connection = NULL;
    while ((connection = remove_idle(pool, key)) != NULL) {
        int32_t dropped = 1;
        netlib_status status = netlib_stream_is_dropped(connection->stream, &dropped, NULL, NULL);
        if (status == NETLIB_OK && !dropped) return connection;
        close_connection(connection);
    }
    return NULL;
}

/* Stores in `*connection` a connection for a request to the URL: an idle connection if `may_reuse` and there is one,
 * otherwise a new one. */
static netlib_status acquire(struct pool *pool, const netlib_url *url, const netlib_limit *limit, bool may_reuse,
                             struct connection **connection, netlib_error **err) {
    char key[NETLIB_CONNECTION_KEY_SIZE];
    netlib_status status = netlib_connection_key(url, NULL, pool->tls, NULL, NULL, 0, key, sizeof key, err);
    if (status != NETLIB_OK) return status;
    *connection = may_reuse ? reuse_connection(pool, key) : NULL;
    bool reused = *connection != NULL;
    if (!reused) {
        *connection = calloc(1, sizeof **connection);
        if (*connection == NULL) return fail(NETLIB_OUT_OF_MEMORY, "no memory for a connection", err);
        memcpy((*connection)->key, key, sizeof key);
        status = netlib_stream_connect(url, pool->tls, NULL, limit, &(*connection)->stream, err);
    }
    netlib_stream_set_limit((*connection)->stream, limit); /* each request has its own limit */
    pthread_mutex_lock(&pool->mutex);
    if (reused) pool->reused++;
    else if (status == NETLIB_OK) pool->opened++;
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

/* Returns a connection to the pool, or closes it if it cannot carry another request. */
static void release(struct pool *pool, struct connection *connection, bool keeps_alive) {
    if (!keeps_alive) {
        close_connection(connection);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    connection->next = pool->idle;
    pool->idle = connection;
    pthread_mutex_unlock(&pool->mutex);
}

/* --- one request -------------------------------------------------------------------------------------------------- */

static netlib_status send_request(netlib_stream *stream, const netlib_attempts *attempts, netlib_error **err) {
    netlib_request *request = NULL;
    size_t len = 0, n = 0;
    netlib_status status = netlib_attempts_request(attempts, NETLIB_REQUEST_FORM_ORIGIN, &request, err);
    const char *head = netlib_request_to_wire(request, &len);
    if (status == NETLIB_OK) status = netlib_stream_write(stream, head, len, &n, err);
    netlib_request_free(request);
    return status;
}

/* Reads a response, and discards its body. Sets `keeps_alive` if the connection can carry another request. */
static netlib_status read_response(netlib_stream *stream, netlib_response **response, bool *keeps_alive,
                                   netlib_error **err) {
    char buffer[16384];
    netlib_body_decoder *decoder = NULL;
    size_t n = 0;
    netlib_status status = netlib_stream_read_response(stream, "GET", response, err);
    if (status == NETLIB_OK) status = netlib_body_decoder_new(*response, &decoder, err);
    while (status == NETLIB_OK) status = netlib_stream_read_body(stream, decoder, buffer, sizeof buffer, &n, err);
    *keeps_alive = netlib_response_keeps_alive(*response, decoder);
    netlib_body_decoder_free(decoder);
    return status == NETLIB_END_OF_STREAM ? NETLIB_OK : status; /* END_OF_STREAM: the body is complete */
}

/* Makes one attempt, and passes its outcome to the retry policy, which waits before another attempt. If a peer closes an
 * idle connection at the moment at which the request is sent, the attempt fails with NETLIB_STALE_CONNECTION, and the
 * retry policy repeats the request. Sets `is_stale` in this case: other idle connections to the peer may be stale too,
 * so the next attempt uses a new connection. The policy would not repeat a POST, unless
 * netlib_retry_options_set_any_method_if_stale allows this. */
static netlib_status attempt(struct pool *pool, netlib_attempts *attempts, const netlib_limit *limit, bool *is_stale,
                             int32_t *http_status, netlib_error **err) {
    struct connection *connection = NULL;
    netlib_response *response = NULL;
    netlib_error *failure = NULL;
    bool keeps_alive = false;
    netlib_status status = acquire(pool, netlib_attempts_url(attempts), limit, !*is_stale, &connection, &failure);
    if (status == NETLIB_OK) status = send_request(connection->stream, attempts, &failure);
    if (status == NETLIB_OK) status = read_response(connection->stream, &response, &keeps_alive, &failure);
    if (connection != NULL) release(pool, connection, keeps_alive);
    *is_stale = status == NETLIB_STALE_CONNECTION;
    status = netlib_attempts_next(attempts, response, failure, err);
    *http_status = netlib_response_status(response);
    netlib_response_free(response), netlib_error_free(failure);
    return status;
}

/* Sends a request until the retry policy returns a response. The request has 30 seconds, all attempts included. */
static netlib_status get(struct pool *pool, const netlib_url *url, int32_t *http_status, netlib_error **err) {
    netlib_limit *limit = NULL;
    netlib_attempts *attempts = NULL;
    bool is_stale = false;
    netlib_status status = netlib_limit_new(30.0, pool->limit, &limit, err);
    if (status == NETLIB_OK) {
        status = netlib_attempts_new(netlib_retry_recommended(), "GET", url, NULL, 0, limit, &attempts, err);
    }
    if (status == NETLIB_OK) {
        do status = attempt(pool, attempts, limit, &is_stale, http_status, err);
        while (status == NETLIB_SEND_AGAIN);
    }
    netlib_attempts_free(attempts), netlib_limit_free(limit);
    return status;
}

/* --- the threads -------------------------------------------------------------------------------------------------- */

static void *work(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        pthread_mutex_lock(&pool->mutex);
        long request = pool->next_request++;
        pthread_mutex_unlock(&pool->mutex);
        if (request >= pool->request_count) return NULL;

        const netlib_url *url = pool->urls[(size_t)request % pool->url_count];
        netlib_error *err = NULL;
        int32_t http_status = 0;
        netlib_status status = get(pool, url, &http_status, &err);
        if (status != NETLIB_OK) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));
        netlib_error_free(err);
        pthread_mutex_lock(&pool->mutex);
        if (status == NETLIB_OK && http_status < 400) pool->succeeded++;
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void run_threads(struct pool *pool, long count) {
    pthread_t threads[MAX_THREADS];
    long started = 0;
    while (started < count && pthread_create(&threads[started], NULL, work, pool) == 0) started++;
    for (long i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    static struct pool pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    long threads = argc > 3 ? atol(argv[1]) : 0;
    pool.request_count = argc > 3 ? atol(argv[2]) : 0;
    if (threads < 1 || threads > MAX_THREADS || pool.request_count < 1 || argc - 3 > MAX_URLS) {
        fprintf(stderr, "usage: %s THREADS REQUESTS URL...\n", argv[0]);
        return 2;
    }
    netlib_error *err = NULL;
    netlib_status status = netlib_set_default_timeout(10.0, &err); /* to connect, and between two reads */
    if (status == NETLIB_OK) status = netlib_limit_new(300.0, NULL, &pool.limit, &err);
    if (status == NETLIB_OK) status = netlib_tls_context_new(NULL, &pool.tls, &err);
    for (int i = 3; i < argc && status == NETLIB_OK; i++) {
        status = netlib_parse_url_strict(argv[i], NETLIB_NTS, &pool.urls[pool.url_count++], &err);
    }
    if (status == NETLIB_OK) run_threads(&pool, threads);
    if (err != NULL) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));

    long used = pool.opened + pool.reused;
    printf("%ld of %ld requests succeeded\n", pool.succeeded, pool.request_count);
    printf("%ld connections, reused %ld times (%.1f %% of the attempts)\n", pool.opened, pool.reused,
           used > 0 ? 100.0 * (double)pool.reused / (double)used : 0.0);
    while (pool.idle != NULL) {
        struct connection *next = pool.idle->next;
        close_connection(pool.idle);
        pool.idle = next;
    }
    for (size_t i = 0; i < pool.url_count; i++) netlib_url_free(pool.urls[i]);
    netlib_error_free(err), netlib_tls_context_free(pool.tls), netlib_limit_free(pool.limit);
    return status == NETLIB_OK && pool.succeeded == pool.request_count ? 0 : 1;
}
