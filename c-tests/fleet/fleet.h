/* A fleet: processes whose threads take permissions from one rate as fast as they can, and count them. */
#ifndef NETLIB_TEST_FLEET_H
#define NETLIB_TEST_FLEET_H

#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROCESSES = 8 };

/* The counters of a fleet, in memory that its processes share. Times are nanoseconds of the store's clock. */
struct counts {
    atomic_llong granted, failed;
    atomic_llong first_begin, first_end, last_end; /* of the first granted call, and of the last one */
    atomic_int threads_ready;
    atomic_bool start, stop;
};

struct fleet {
    int processes, threads;
    double per_second, burst, seconds;
    int kills;
    /* The clock of the store: the server is on this host, so it has the clocks of this host. */
    clockid_t clock;
    netlib_status (*open)(netlib_store **store, netlib_error **err);
    struct counts *counts;
};

static inline long long nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void sleep_seconds(double seconds) {
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&left, NULL);
}

static inline void lower(atomic_llong *number, long long other) {
    long long now = *number;
    while (other < now && !atomic_compare_exchange_weak(number, &now, other)) {}
}

static inline void raise_to(atomic_llong *number, long long other) {
    long long now = *number;
    while (other > now && !atomic_compare_exchange_weak(number, &now, other)) {}
}

struct worker {
    const struct fleet *fleet;
    netlib_rate *rate;
};

/* Takes permissions until the fleet stops and the rate is used up. If the rate is never used up, which is a defect, the
 * counters exceed the limit. */
static inline void *run_worker(void *ctx) {
    const struct worker *worker = ctx;
    const struct fleet *fleet = worker->fleet;
    struct counts *counts = fleet->counts;
    counts->threads_ready++;
    while (!counts->start) sleep_seconds(0.0005);
    for (int after_stop = 0; after_stop < 2000;) {
        double wait = 0.0;
        bool is_last = counts->stop;
        long long begin = nanoseconds(fleet->clock);
        netlib_status status = netlib_rate_take(worker->rate, "upstream", NETLIB_NTS, 1.0, &wait, NULL);
        long long end = nanoseconds(fleet->clock);
        if (status == NETLIB_OK) {
            counts->granted++;
            after_stop += is_last;
            lower(&counts->first_begin, begin), lower(&counts->first_end, end), raise_to(&counts->last_end, end);
            continue;
        }
        if (status != NETLIB_RATE_LIMITED) counts->failed++;
        if (is_last) return NULL;
        sleep_seconds(wait > 0.0 && wait < 0.005 ? wait : 0.005);
    }
    return NULL;
}

static inline pid_t start_process(const struct fleet *fleet) {
    pid_t process = fork();
    if (process != 0) return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    netlib_store *store = NULL;
    struct worker worker = {fleet, NULL};
    if (fleet->open(&store, NULL) != NETLIB_OK) _exit(1);
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, fleet->per_second, fleet->burst);
    netlib_rate_options_set_store(options, store, NETLIB_UNAVAILABLE_CLOSED);
    if (netlib_rate_new(options, &worker.rate, NULL) != NETLIB_OK) _exit(2);
    pthread_t threads[64];
    for (int i = 0; i < fleet->threads; i++)
        if (pthread_create(&threads[i], NULL, run_worker, &worker) != 0) _exit(3);
    for (int i = 0; i < fleet->threads; i++) pthread_join(threads[i], NULL);
    _exit(0);
}

/* Runs a fleet, kills random processes of it, and checks that it got at least 99 % and at most 100 % of the permissions
 * that the rate allows. Each thread of a killed process may have taken one permission without counting it. */
static inline void run_fleet(struct fleet *fleet, const char *what) {
    struct counts *counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED) abort();
    counts->first_begin = counts->first_end = INT64_MAX;
    fleet->counts = counts;
    pid_t processes[MAX_PROCESSES];
    for (int i = 0; i < fleet->processes; i++) processes[i] = start_process(fleet);
    while (counts->threads_ready < fleet->processes * fleet->threads) sleep_seconds(0.001);
    long long end = nanoseconds(fleet->clock) + (long long)(fleet->seconds * 1e9);
    counts->start = true;
    srand(1);
    for (int kill_number = 0; kill_number < fleet->kills; kill_number++) {
        sleep_seconds(fleet->seconds / (fleet->kills + 1) * (0.5 + rand() / (double)RAND_MAX));
        int i = rand() % fleet->processes;
        kill(processes[i], SIGKILL);
        CHECK(waitpid(processes[i], NULL, 0) == processes[i]);
        processes[i] = start_process(fleet);
    }
    while (nanoseconds(fleet->clock) < end) sleep_seconds(0.001);
    long long stop = nanoseconds(fleet->clock);
    counts->stop = true;
    for (int i = 0; i < fleet->processes; i++) {
        int status = -1;
        CHECK(waitpid(processes[i], &status, 0) == processes[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    long long granted = counts->granted, uncounted = (long long)fleet->kills * fleet->threads;
    double longest = (double)(counts->last_end - counts->first_begin) / 1e9;
    double shortest = (double)(stop - counts->first_end) / 1e9;
    double most = fleet->per_second * longest + fleet->burst;
    double least = 0.99 * (fleet->per_second * shortest + fleet->burst);
    printf("%s: %d processes of %d threads got %lld permissions; %.1f to %.1f are allowed\n", what, fleet->processes,
           fleet->threads, granted, least, most);
    CHECK((double)granted <= most);
    CHECK((double)(granted + uncounted) >= least);
    CHECK_INT(0, counts->failed);
    munmap(counts, sizeof *counts);
}

#endif
