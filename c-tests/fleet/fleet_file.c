/* A fleet with a store in a file, without and with processes that are killed; and processes that share the tokens of a
 * budget. */
#define _GNU_SOURCE
#include "fleet.h"

static char directory[] = "/tmp/netlib-fleet-XXXXXX";
static char path[64];

static netlib_status open_file(netlib_store **store, netlib_error **err) {
    return netlib_store_file(path, 1024, store, err);
}

enum { RETRIES = 1000000, COST = 2, PROCESSES = 4, KILLS = 20 };

static netlib_retry_budget *make_budget(void) {
    netlib_store *store = NULL;
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_tokens(options, (double)RETRIES * COST, COST, COST, 1.0);
    if (open_file(&store, NULL) != NETLIB_OK) abort();
    netlib_retry_budget_options_set_store(options, store, NETLIB_UNAVAILABLE_CLOSED);
    netlib_store_free(store);
    if (netlib_retry_budget_new(options, &budget, NULL) != NETLIB_OK) abort();
    netlib_retry_budget_options_free(options);
    return budget;
}

/* Asks for retries until the budget is empty. Counts the granted retries in memory that the processes share. */
static pid_t start_retries(atomic_llong *granted) {
    pid_t process = fork();
    if (process != 0) return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    netlib_retry_budget *budget = make_budget();
    for (;;) {
        uint64_t lease = 0;
        netlib_status status =
            netlib_retry_budget_ask(budget, "upstream", NETLIB_NTS, NETLIB_BUDGET_TRANSIENT, &lease, NULL);
        if (status != NETLIB_OK) _exit(status == NETLIB_RETRY_BUDGET_EMPTY ? 0 : 1);
        (*granted)++;
        netlib_retry_budget_report(budget, lease, NETLIB_REPORT_FAILURE);
    }
}

/* Failures return no tokens, so the processes together get the retries of one bucket, and no more. A killed process may
 * have got one retry that it did not count. */
static void processes_that_are_killed_get_each_token_of_a_budget_at_most_once(void) {
    atomic_llong *granted = mmap(NULL, sizeof *granted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (granted == MAP_FAILED) abort();
    pid_t processes[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) processes[i] = start_retries(granted);
    int kills = 0;
    while (kills < KILLS && *granted < RETRIES) {
        sleep_seconds(0.002 + 0.01 * rand() / RAND_MAX);
        int i = rand() % PROCESSES;
        CHECK_INT(0, kill(processes[i], SIGKILL));
        CHECK(waitpid(processes[i], NULL, 0) == processes[i]);
        processes[i] = start_retries(granted);
        kills++;
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK(waitpid(processes[i], &status, 0) == processes[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    printf("file, a budget: %d processes got %lld of %d retries, with %d processes killed\n", PROCESSES,
           (long long)*granted, RETRIES, kills);
    CHECK(*granted <= RETRIES && *granted >= RETRIES - kills);
    CHECK(kills > 0);
    munmap(granted, sizeof *granted);
}

int main(void) {
    alarm(60);
    if (mkdtemp(directory) == NULL) abort();
    snprintf(path, sizeof path, "%s/words", directory);
    processes_that_are_killed_get_each_token_of_a_budget_at_most_once();
    unlink(path);
    struct fleet fleet = {4, 4, 2000.0, 1000.0, 2.0, 0, CLOCK_MONOTONIC, open_file, NULL};
    run_fleet(&fleet, "file");
    unlink(path);
    fleet.kills = 20;
    run_fleet(&fleet, "file, with 20 processes killed");
    unlink(path), rmdir(directory);
    return report("fleet file");
}
