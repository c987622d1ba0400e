/* Implements report.h. */
#include "report.h"

#include <stdio.h>

void print_head(void) {
    puts("                            sent/s            goodput/s            extra load");
    puts("policy      trigger     during   after  before  during   after   during    after   back to 95 %");
}

void print_row(const struct scenario *scenario) {
    struct result result;
    simulate(scenario, &result);
    int end = START + scenario->lasts, last = result.seconds, back = result_recovery(&result, scenario);
    char recovery[32] = "never";
    if (back >= 0) snprintf(recovery, sizeof recovery, "%d s", back);
    printf("%-11s %-10s %7.0f %7.0f %7.0f %7.0f %7.0f %6.1f %% %6.1f %% %14s\n", scenario->policy->name,
           scenario->trigger.name, result_mean(result.sent, START, end), result_mean(result.sent, end, last),
           result_mean(result.good, BASELINE, START), result_mean(result.good, START, end),
           result_mean(result.good, end, last), 100.0 * result_extra(&result, START, end),
           100.0 * result_extra(&result, end, last), recovery);
    result_free(&result);
}

static void print_model(const struct model *model) {
    printf("%s: %s\n%.0f requests/s", model->name, model->source, model->load);
    if (model->kind != SERVER_UNLIMITED) printf(", capacity %.0f requests/s", model_capacity(model));
    printf(", timeout %.1f s, %u processes\n\n", (double)model->timeout / 1e9, model->processes);
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
    static const char *const policies[] = {"jitter", "jitter"};
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
