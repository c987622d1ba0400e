/* Tests the latencies that a hedge keeps for each key, and the fraction of the requests that get a second attempt. */
#include "hedge_makers.h"

/* Runs a request whose only attempt takes `seconds`. */
static void succeed(const netlib_hedge *hedge, const char *key, double seconds) {
    netlib_hedge_plan *plan = plan_of(hedge, key, "GET");
    step_to(NETLIB_HEDGE_ACTION_DONE, plan, NETLIB_HEDGE_EVENT_SUCCESS, 1, seconds);
    netlib_hedge_plan_free(plan);
}

static uint64_t seed;

/* Returns a number from 0 up to 1, from a linear congruential generator (Knuth's MMIX). */
static double random_number(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double uniform(void) { return 0.01 + 0.19 * random_number(); }
static double exponential(void) { return 0.001 - 0.05 * log(1.0 - random_number()); }
static double bimodal(void) { return random_number() < 0.9 ? 0.004 + 0.002 * random_number() : 1 + random_number(); }
static double constant(void) { return 0.025; }

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void the_delay_differs_from_the_exact_percentile_by_at_most_5_percent(void) {
    enum { SAMPLES = 1500 };
    static const struct {
        const char *name;
        double (*latency)(void);
    } rows[] = {{"uniform", uniform}, {"exponential", exponential}, {"bimodal", bimodal}, {"constant", constant}};
    static const double percentiles[] = {50, 75, 90, 95, 99, 99.9};
    static double latencies[SAMPLES];
    for (size_t i = 0; i < LENGTH_OF(rows); i++) {
        for (size_t p = 0; p < LENGTH_OF(percentiles); p++) {
            netlib_hedge *hedge = percentile(percentiles[p], 1, 1);
            seed = p;
            for (size_t n = 0; n < SAMPLES; n++) succeed(hedge, rows[i].name, latencies[n] = rows[i].latency());
            qsort(latencies, SAMPLES, sizeof latencies[0], compare);
            double exact = latencies[(size_t)ceil(percentiles[p] * SAMPLES / 100) - 1];
            double estimate = netlib_hedge_delay(hedge, rows[i].name, NETLIB_NTS);
            CHECK(fabs(estimate / exact - 1) <= 0.05 + 1e-12);
            netlib_hedge_plan *plan = plan_of(hedge, rows[i].name, "GET");
            CHECK_DOUBLE(estimate, netlib_hedge_plan_timer(plan));
            netlib_hedge_plan_free(plan);
            netlib_hedge_free(hedge);
        }
    }
}

static void the_timer_is_infinite_until_the_key_has_enough_latencies(void) {
    netlib_hedge *hedge = hedge_of(netlib_hedge_options_new()); /* the defaults: p95 of at least 100 latencies */
    for (int i = 0; i < 99; i++) succeed(hedge, "a", 0.1);
    netlib_hedge_plan *plan = plan_of(hedge, "a", "GET");
    CHECK_DOUBLE(INFINITY, netlib_hedge_plan_timer(plan));
    /* A failure starts the second attempt, although the delay is unknown. */
    step_to(NETLIB_HEDGE_ACTION_START, plan, NETLIB_HEDGE_EVENT_FAILURE, 1, 0.1);
    step_to(NETLIB_HEDGE_ACTION_DONE, plan, NETLIB_HEDGE_EVENT_SUCCESS, 2, 0.2);
    netlib_hedge_plan_free(plan);
    double delay = netlib_hedge_delay(hedge, "a", 1);
    CHECK(delay >= 0.095 && delay <= 0.105);
    CHECK_DOUBLE(INFINITY, netlib_hedge_delay(hedge, "b", 1));
    netlib_hedge_free(hedge);
}

static void old_latencies_leave_after_2000_further_ones(void) {
    netlib_hedge *hedge = percentile(95, 1, 1);
    for (int i = 0; i < 1000; i++) succeed(hedge, "a", 10.0);
    for (int i = 0; i < 1000; i++) succeed(hedge, "a", 0.1);
    CHECK(netlib_hedge_delay(hedge, "a", 1) > 9.4);
    succeed(hedge, "a", 0.1);
    CHECK(netlib_hedge_delay(hedge, "a", 1) < 0.106);
    netlib_hedge_free(hedge);
}

static void a_further_key_drops_the_least_recently_used_key(void) {
    netlib_hedge *hedge = percentile(95, 1, 2);
    succeed(hedge, "a", 1.0);
    netlib_hedge_plan *plan = plan_of(hedge, "b", "GET");
    succeed(hedge, "a", 1.0);
    succeed(hedge, "c", 1.0); /* drops "b", whose plan still works */
    step_to(NETLIB_HEDGE_ACTION_DONE, plan, NETLIB_HEDGE_EVENT_SUCCESS, 1, 5.0);
    netlib_hedge_plan_free(plan);
    CHECK_DOUBLE(INFINITY, netlib_hedge_delay(hedge, "b", 1));
    CHECK(netlib_hedge_delay(hedge, "a", 1) < 1.06 && netlib_hedge_delay(hedge, "c", 1) < 1.06);
    netlib_hedge_free(hedge);
}

/* Dean and Barroso, "The Tail at Scale": with the 95th percentile as the delay, about 5 % of the requests get a second
 * attempt. Here, the latencies of the attempts are independent. */
static void about_5_percent_of_the_requests_get_a_second_attempt(void) {
    enum { REQUESTS = 20000, WARM_UP = 2000 };
    netlib_hedge *hedge = hedge_of(netlib_hedge_options_new());
    int hedges = 0, late = 0, late_without_hedge = 0;
    double exact = 0.001 - 0.05 * log(0.05), limit = 0.001 - 0.05 * log(0.005);
    seed = 1;
    for (int i = 0; i < REQUESTS; i++) {
        netlib_error *err = NULL;
        enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_WAIT;
        netlib_hedge_plan *plan = plan_of(hedge, "a", "GET");
        double first = exponential(), delay = netlib_hedge_plan_timer(plan), answer = first;
        int32_t winner = 1;
        if (delay < first) {
            step_to(NETLIB_HEDGE_ACTION_START, plan, NETLIB_HEDGE_EVENT_TIMER, 0, delay);
            double second = delay + exponential();
            if (second < first) answer = second, winner = 2;
        }
        CHECK_OK(netlib_hedge_plan_step(plan, NETLIB_HEDGE_EVENT_SUCCESS, winner, answer, &action, &err));
        netlib_hedge_plan_free(plan);
        if (i < WARM_UP) continue;
        hedges += delay < first;
        late += answer > limit;
        late_without_hedge += first > limit;
        CHECK(fabs(delay / exact - 1) < 0.15);
    }
    double fraction = (double)hedges / (REQUESTS - WARM_UP);
    printf("hedge: %.1f %% of the requests get a second attempt; %d instead of %d answers are late\n", 100 * fraction,
           late, late_without_hedge);
    CHECK(fraction > 0.04 && fraction < 0.06);
    /* Of the first attempts, 0.5 % take longer than the limit. */
    CHECK(late_without_hedge > 60 && late_without_hedge < 120);
    CHECK(late < late_without_hedge / 2);
    netlib_hedge_free(hedge);
}

int main(void) {
    the_delay_differs_from_the_exact_percentile_by_at_most_5_percent();
    the_timer_is_infinite_until_the_key_has_enough_latencies();
    old_latencies_leave_after_2000_further_ones();
    a_further_key_drops_the_least_recently_used_key();
    about_5_percent_of_the_requests_get_a_second_attempt();
    return report("hedge latencies");
}
