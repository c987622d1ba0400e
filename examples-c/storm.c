/*
 * storm - simulates a thousand clients of a server that is disturbed for some seconds. The results show with which
 * retry policies the server recovers.
 *
 *     cc storm.c storm/[a-z]*.c $(pkg-config --cflags --libs netlib) -lm -o storm
 *     ./storm table                        every server, policy and trigger
 *     ./storm run queue jitter outage 60   one row: an outage of 60 seconds
 *
 * The simulation runs in virtual time and uses seeded random numbers, so each run prints the same numbers. netlib makes
 * every decision: the program supplies the virtual clock, the random numbers and the outcome of each attempt. The parts
 * of the program are in storm/:
 *
 *     events   the queue of events            random       seeded random numbers
 *     server   models of servers              policy       the compared policies, with netlib's objects
 *     report   tables and CSV                 simulation   clients, triggers, and the numbers to report
 *
 * The servers do not know the timeouts of the clients: a server also processes attempts whose clients have timed out.
 * If retries keep the server busy with such attempts, it does not recover even after the trigger has ended. This state
 * is called metastable.
 */
#include "storm/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(const char *model, const char *policy, const char *trigger, const char *seconds) {
    const struct trigger *found = trigger_find(trigger);
    struct scenario scenario;
    if (model_find(model) == NULL || policy_find(policy) == NULL || found == NULL || atoi(seconds) < 1) {
        fprintf(stderr, "storm: no such server, policy, trigger or time: %s %s %s %s\n", model, policy, trigger,
                seconds);
        return 2;
    }
    scenario = scenario_default(model_find(model), policy_find(policy), found);
    scenario.lasts = atoi(seconds);
    print_head();
    print_row(&scenario);
    return 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name, *what;
        void (*print)(void);
    } commands[] = {
        {"table", "the table of every server, policy and trigger", print_table},
        {"csv", "the same rows as CSV", print_csv},
        {"series", "the load and the goodput in each second of an outage, as CSV", print_series},
        {"phases", "whether the server recovers from spikes, for each load, as CSV", print_phases},
        {"demo", "an outage with four policies", print_demo},
    };
    for (size_t i = 0; argc == 2 && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            commands[i].print();
            return 0;
        }
    }
    if (argc == 6 && strcmp(argv[1], "run") == 0) return run(argv[2], argv[3], argv[4], argv[5]);
    fprintf(stderr, "usage: %s run SERVER POLICY TRIGGER SECONDS\n", argv[0]);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(stderr, "       %s %-7s  prints %s\n", argv[0], commands[i].name, commands[i].what);
    return 2;
}
