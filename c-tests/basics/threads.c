/* Many threads clone, read and free shared immutable handles at the same time, and create changed copies of the
 * handles. The threads also cancel a limit that all of them use. The suite `threads` compiles this program and defines
 * HAVE_F for each function F of the header. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#define NETLIB_MUST_USE
#include "harness.h"
#include "null_makers.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 500 };

/* Uses a shared handle. Returns true if all results are correct. */
typedef bool (*round_fn)(const void *shared);

struct job {
    round_fn round;
    const void *shared;
    pthread_barrier_t *start;
    unsigned long right;
};

static void *work(void *argument) {
    struct job *job = argument;
    pthread_barrier_wait(job->start);
    for (int i = 0; i < ROUNDS; i++) {
        if (job->round(job->shared)) job->right++;
    }
    return NULL;
}

static void in_threads(const char *what, round_fn round, const void *shared) {
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){round, shared, &start, 0};
        if (pthread_create(&threads[i], NULL, work, &jobs[i]) != 0) abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        check_report(jobs[i].right == ROUNDS, __FILE__, __LINE__, what);
    }
    pthread_barrier_destroy(&start);
}

static bool same(const char *expected, const char *actual) { return actual != NULL && strcmp(expected, actual) == 0; }

static bool share_error(const void *shared) {
    const netlib_error *error = shared;
    netlib_error *mine = netlib_error_clone(error);
    netlib_error *outer = NULL;
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_cause(options, mine);
    bool right = netlib_error_new(NETLIB_PROXY_FAILED, "outer", options, &outer, NULL) == NETLIB_OK;
    netlib_error_options_free(options);
    netlib_error_free(mine);
    right = right && same("no answer", netlib_error_message(netlib_error_cause(outer, 0), NULL));
    netlib_error_free(outer);
    return right && netlib_error_status(error) == NETLIB_READ_TIMEOUT;
}

static bool share_limit(const void *shared) {
    const netlib_limit *limit = shared;
    netlib_limit *mine = netlib_limit_clone(limit);
    netlib_limit_cancel(mine);
    bool right = netlib_limit_check(limit, NULL) == NETLIB_CANCELLED;
    netlib_limit_free(mine);
    return right;
}

#ifdef HAVE_netlib_url_resolve
static bool share_url(const void *shared) {
    const netlib_url *url = shared;
    netlib_url *mine = netlib_url_clone(url);
    netlib_url *next = NULL;
    bool right = netlib_url_resolve(mine, "/next?q", NETLIB_NTS, &next, NULL) == NETLIB_OK;
    netlib_url_free(mine);
    right = right && same("/next", netlib_url_path(next, NULL)) && same("example.com", netlib_url_host(url, NULL));
    /* netlib creates the text of a URL in the first call and keeps it, so every thread gets the same pointer. */
    right = right && netlib_url_to_string(url, NULL) == netlib_url_to_string(url, NULL) &&
            netlib_url_authority(url, NULL) != NULL;
    netlib_url_free(next);
    return right;
}
#endif

#ifdef HAVE_netlib_retry_increment
static bool share_retry(const void *shared) {
    const netlib_retry *retry = shared;
    netlib_error *error = make_error();
    netlib_retry *next = NULL;
    bool right = netlib_retry_increment(retry, "GET", "/", NULL, error, &next, NULL) == NETLIB_OK;
    right = right && netlib_retry_total_left(next) == 9 && netlib_retry_total_left(retry) == 10;
    right = right && netlib_retry_history_count(next) == 1 && netlib_retry_history_count(retry) == 0;
    netlib_retry_free(next);
    netlib_error_free(error);
    return right;
}
#endif

#ifdef HAVE_netlib_retry_options_set_random
/* The ctx of the callbacks of a shared Retry. The counters are atomic, because many threads run the callbacks at the
 * same time. */
struct calls {
    atomic_ulong clocks, randoms, sleeps;
};

static int32_t shared_clock(void *ctx, double *seconds) {
    atomic_fetch_add(&((struct calls *)ctx)->clocks, 1);
    *seconds = 784111777.5;
    return 0;
}

static int32_t shared_random(void *ctx, double *value) {
    atomic_fetch_add(&((struct calls *)ctx)->randoms, 1);
    *value = 0.5;
    return 0;
}

static void shared_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    atomic_fetch_add(&((struct calls *)ctx)->sleeps, 1);
    *outcome = seconds > 0 ? NETLIB_OUTCOME_DONE : NETLIB_OUTCOME_FAILED;
}

static netlib_retry *retry_with_callbacks(struct calls *calls) {
    netlib_retry *retry = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_factor(options, 1);
    netlib_retry_options_set_backoff_jitter(options, 1);
    netlib_retry_options_set_wall_clock(options, shared_clock, calls, NULL);
    netlib_retry_options_set_random(options, shared_random, calls, NULL);
    netlib_retry_options_set_sleep(options, shared_sleep, calls, NULL);
    netlib_retry_options_add_history(options, NULL, NULL, NULL, 500, NULL);
    if (netlib_retry_new(options, &retry, NULL) != NETLIB_OK) abort();
    netlib_retry_options_free(options);
    return retry;
}

static bool share_retry_with_callbacks(const void *shared) {
    const netlib_retry *retry = shared;
    netlib_error *error = make_error();
    netlib_retry *next = NULL;
    double seconds = 0;
    bool right = netlib_retry_increment(retry, "GET", "/", NULL, error, &next, NULL) == NETLIB_OK;
    right = right && netlib_retry_get_backoff_time(next, &seconds, NULL) == NETLIB_OK && seconds > 2.4 && seconds < 2.6;
    right = right && netlib_retry_sleep(next, NULL, NULL, NULL) == NETLIB_OK;
    right =
        right && netlib_retry_parse_retry_after(retry, "Sun, 06 Nov 1994 08:49:47 GMT", &seconds, NULL) == NETLIB_OK;
    netlib_retry_free(next);
    netlib_error_free(error);
    return right && seconds > 9.4 && seconds < 9.6;
}
#endif

#ifdef HAVE_netlib_make_headers
static bool share_headers(const void *shared) {
    const netlib_headers *headers = shared;
    netlib_headers *mine = netlib_headers_clone(headers);
    bool right =
        same("sweep", netlib_headers_get(mine, "User-Agent", NULL)) && netlib_headers_to_wire(mine, NULL) != NULL;
    netlib_headers_free(mine);
    return right;
}
#endif

#ifdef HAVE_netlib_response_parse
static bool share_response(const void *shared) {
    const netlib_response *response = shared;
    netlib_response *mine = netlib_response_clone(response);
    bool right = same("0", netlib_headers_get(netlib_response_headers(mine), "content-length", NULL));
    netlib_response_free(mine);
    return right && netlib_response_status(response) == 200;
}
#endif

#ifdef HAVE_netlib_tls_context_new
static bool share_tls_context(const void *shared) {
    const netlib_tls_context *context = shared;
    netlib_tls_context *mine = netlib_tls_context_clone(context);
    netlib_stream *stream = NULL;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return false;
    bool right = netlib_tls_wrap_fd(mine, pair[0], "localhost", &stream, NULL) == NETLIB_OK;
    netlib_tls_context_free(mine);
    netlib_stream_free(stream);
    close(pair[0]);
    close(pair[1]);
    return right;
}
#endif

#ifdef HAVE_netlib_certificate_parse
static bool share_certificate(const void *shared) {
    const netlib_certificate *certificate = shared;
    netlib_certificate *mine = netlib_certificate_clone(certificate);
    const char *text = netlib_certificate_fingerprint(mine, NULL);
    size_t len;
    const uint8_t *der = netlib_certificate_der(certificate, &len);
    bool right = netlib_assert_fingerprint(der, len, text, NULL) == NETLIB_OK;
    netlib_certificate_free(mine);
    return right;
}
#endif

/* Creates a handle, calls the function `round` with the handle in all threads, and frees the handle. */
#define SHARE(type, made, round, what) \
    do { \
        type *shared = (made); \
        in_threads((what), (round), shared); \
        type##_free(shared); \
    } while (0)

int main(void) {
    SHARE(netlib_error, make_error(), share_error, "threads share an error");
    SHARE(netlib_limit, make_limit(), share_limit, "threads share a limit");
#ifdef HAVE_netlib_url_resolve
    SHARE(netlib_url, make_url(), share_url, "threads share a URL");
#endif
#ifdef HAVE_netlib_retry_increment
    SHARE(netlib_retry, make_retry(), share_retry, "threads share a Retry");
#endif
#ifdef HAVE_netlib_retry_options_set_random
    struct calls calls = {0};
    netlib_retry *calling = retry_with_callbacks(&calls);
    in_threads("threads share a Retry with callbacks", share_retry_with_callbacks, calling);
    netlib_retry_free(calling);
    const unsigned long rounds = THREADS * ROUNDS;
    bool each = calls.clocks == rounds && calls.randoms == 2 * rounds && calls.sleeps == rounds;
    check_report(each, __FILE__, __LINE__, "each callback was called the expected number of times");
#endif
#ifdef HAVE_netlib_make_headers
    SHARE(netlib_headers, make_headers(), share_headers, "threads share headers");
#endif
#ifdef HAVE_netlib_response_parse
    SHARE(netlib_response, make_response(), share_response, "threads share a response");
#endif
#ifdef HAVE_netlib_tls_context_new
    SHARE(netlib_tls_context, make_tls_context(), share_tls_context, "threads share a TLS context");
#endif
#ifdef HAVE_netlib_certificate_parse
    SHARE(netlib_certificate, make_certificate(), share_certificate, "threads share a certificate");
#endif
    return report("threads");
}
