/* Runs `first` and `second` on two threads at the same time, or with the argument "order" one after the other. The
 * suite `tsan` generates both functions. */
#define NETLIB_MUST_USE
#include <netlib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int plain;
static char text[] = "http://h";
static netlib_error *error;
static netlib_retry_options *options;
static netlib_timeout *timeout;
static netlib_url *url;

/* One thread calls signal_done and the other calls wait. The relaxed atomic operations create no happens-before order
 * between the threads. */
static atomic_int is_done;
static inline void signal_done(void) { atomic_store_explicit(&is_done, 1, memory_order_relaxed); }
static inline void wait(void) {
    while (atomic_load_explicit(&is_done, memory_order_relaxed) == 0) sched_yield();
}

void first(void);
void second(void);

/* Keeps both threads alive until both are done, because ThreadSanitizer may mistake a new thread for one that has
 * ended. This wait creates no happens-before order between the threads. */
static atomic_int running;
static void wait_for_both(void) {
    atomic_fetch_sub_explicit(&running, 1, memory_order_relaxed);
    while (atomic_load_explicit(&running, memory_order_relaxed) > 0) sched_yield();
}

static void *run_first(void *unused) {
    first();
    wait_for_both();
    return unused;
}

static void *run_second(void *unused) {
    second();
    wait_for_both();
    return unused;
}

int main(int argc, char **argv) {
    (void)plain, (void)text, (void)url;
    bool in_order = argc > 1 && strcmp(argv[1], "order") == 0;
    if (netlib_error_new(NETLIB_IO, "x", NULL, &error, NULL) != NETLIB_OK) abort();
    if (netlib_timeout_new(1, 1, 1, &timeout, NULL) != NETLIB_OK) abort();
    options = netlib_retry_options_new();
    running = in_order ? 1 : 2;
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, run_first, NULL) != 0) abort();
    if (in_order) pthread_join(threads[0], NULL);
    if (pthread_create(&threads[1], NULL, run_second, NULL) != 0) abort();
    if (!in_order) pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    netlib_url_free(url);
    netlib_timeout_free(timeout);
    netlib_retry_options_free(options);
    netlib_error_free(error);
    return 0;
}
