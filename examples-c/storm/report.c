/* Implements report.h. */
#include "report.h"

#include <stdio.h>

/* Writes the time of recovery into a buffer of 32 bytes, and returns the buffer. */
static const char *format_recovery(char *buffer, int seconds) {
    if (seconds < 0) return "never";
    snprintf(buffer, 32, "%d s", seconds);
    return buffer;
}

void print_head(void) {
    puts("                            sent/s            goodput/s            extra load");
    puts("policy      trigger     during   after  before  during   after   during    after   back to 95 %");
}

void print_row(const struct scenario *scenario) {
    struct result result;
    simulate(scenario, &result);
    int end = START + scenario->lasts, last = result.seconds;
    char recovery[32];
    printf("%-11s %-10s %7.0f %7.0f %7.0f %7.0f %7.0f %6.1f %% %6.1f %% %14s\n", scenario->policy->name,
           scenario->trigger.name, result_mean(result.sent, START, end), result_mean(result.sent, end, last),
           result_mean(result.good, BASELINE, START), result_mean(result.good, START, end),
           result_mean(result.good, end, last), 100.0 * result_extra(&result, START, end),
           100.0 * result_extra(&result, end, last), format_recovery(recovery, result_recovery(&result, scenario)));
    result_free(&result);
}

static void print_model(const struct model *model) {
    printf("%s: %s\n%.0f requests/s", model->name, model->source, model->load);
    if (model->kind != SERVER_UNLIMITED) printf(", capacity %.0f requests/s", model_capacity(model));
    printf(", timeout %.1f s, %u processes\n\n", (double)model->timeout / 1e9, model->processes);
}

/* Prints the retries of each budget in outages of different lengths. */
static void print_bounds(void) {
    static const int lengths[] = {10, 60, 600};
    puts("Retries in outages of the server \"queue\", and the bound of each budget");
    puts(
        "The bound is for each of the ten processes; \"used\" is the largest part that a process used at any moment.\n");
    puts("policy        outage  requests  retries  extra load  used    held  bound");
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        const struct policy *policy = &POLICIES[p];
        for (size_t i = 0; policy->bound != NULL && i < sizeof lengths / sizeof *lengths; i++) {
            struct scenario scenario = scenario_default(model_find("queue"), policy, trigger_find("outage"));
            struct result result;
            scenario.lasts = lengths[i];
            simulate(&scenario, &result);
            double requests = result_mean(result.first, 0, result.seconds) * result.seconds;
            printf("%-11s %6d s %9.0f %8.0f %9.2f %% %3.0f %% %6s  %s\n", policy->name, lengths[i], requests,
                   result.retries, 100.0 * result.retries / requests, 100.0 * result.used,
                   result.used <= 1.0 ? "yes" : "NO", policy->bound->text);
            result_free(&result);
        }
    }
    puts("");
}

/* Prints the results for different numbers of processes with the same clients. Each process has its own budget. */
static void print_processes(void) {
    static const uint32_t counts[] = {1, 10, 100, 1000};
    puts(
        "The thousand clients in fewer or more processes, each with its own budget: an outage of the server \"queue\"\n");
    puts("policy       processes  requests  retries  back to 95 %");
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        const struct policy *policy = &POLICIES[p];
        for (size_t i = 0; policy->bound != NULL && i < sizeof counts / sizeof *counts; i++) {
            struct scenario scenario = scenario_default(model_find("queue"), policy, trigger_find("outage"));
            struct result result;
            char recovery[32];
            scenario.processes = counts[i];
            simulate(&scenario, &result);
            printf("%-11s %10u %9.0f %8.0f %13s\n", policy->name, counts[i],
                   result_mean(result.first, 0, result.seconds) * result.seconds, result.retries,
                   format_recovery(recovery, result_recovery(&result, &scenario)));
            result_free(&result);
        }
    }
}

void print_demo(void) {
    static const char *const policies[] = {"none", "jitter", "aws-2026", "grpc"};
    puts("A thousand clients, and a server that stalls for ten seconds, in virtual time:");
    print_head();
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct scenario scenario =
            scenario_default(model_find("queue"), policy_find(policies[p]), trigger_find("outage"));
        scenario.after = 30;
        print_row(&scenario);
    }
}

void print_table(void) {
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        print_model(&MODELS[m]);
        print_head();
        for (size_t p = 0; p < POLICY_COUNT; p++) {
            for (size_t t = 0; t < TRIGGER_COUNT; t++) {
                struct scenario scenario = scenario_default(&MODELS[m], &POLICIES[p], &TRIGGERS[t]);
                print_row(&scenario);
            }
        }
        puts("");
    }
    print_bounds();
    print_processes();
}

void print_csv(void) {
    puts("server,policy,trigger,sent_during,sent_after,goodput_before,goodput_during,goodput_after,extra_during,"
         "extra_after,recovery");
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        for (size_t p = 0; p < POLICY_COUNT; p++) {
            for (size_t t = 0; t < TRIGGER_COUNT; t++) {
                struct scenario scenario = scenario_default(&MODELS[m], &POLICIES[p], &TRIGGERS[t]);
                struct result result;
                simulate(&scenario, &result);
                int end = START + scenario.lasts, last = result.seconds;
                printf("%s,%s,%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.4f,%.4f,%d\n", MODELS[m].name, POLICIES[p].name,
                       TRIGGERS[t].name, result_mean(result.sent, START, end), result_mean(result.sent, end, last),
                       result_mean(result.good, BASELINE, START), result_mean(result.good, START, end),
                       result_mean(result.good, end, last), result_extra(&result, START, end),
                       result_extra(&result, end, last), result_recovery(&result, &scenario));
                result_free(&result);
            }
        }
    }
}

void print_series(void) {
    puts("policy,second,arrivals,sent,goodput");
    for (size_t p = 0; p < POLICY_COUNT; p++) {
        struct scenario scenario = scenario_default(model_find("queue"), &POLICIES[p], trigger_find("outage"));
        struct result result;
        scenario.after = 30;
        simulate(&scenario, &result);
        for (int i = BASELINE; i < result.seconds; i++)
            printf("%s,%d,%u,%u,%u\n", POLICIES[p].title, i, result.first[i], result.sent[i], result.good[i]);
        result_free(&result);
    }
}

void print_phases(void) {
    static const char *const policies[] = {"jitter", "aws-2026"};
    puts("policy,load_percent,spike,recovery");
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        for (int load = 10; load <= 90; load += 10) {
            for (int size = 1; size <= 10; size++) {
                struct scenario scenario =
                    scenario_default(model_find("queue"), policy_find(policies[p]), trigger_find("spike"));
                scenario.load = model_capacity(scenario.model) * load / 100.0;
                scenario.trigger.size = size;
                scenario.after = 60;
                struct result result;
                simulate(&scenario, &result);
                printf("%s,%d,%d,%d\n", scenario.policy->title, load, size, result_recovery(&result, &scenario));
                result_free(&result);
            }
        }
    }
}
