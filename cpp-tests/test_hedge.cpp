/* Hedging: a plan starts a second attempt, and a budget denies the third. */
#include "harness.hpp"

using namespace std::chrono_literals;
using netlib::hedge_action;
using netlib::hedge_event;

static netlib::hedge hedge(const netlib::retry_budget &budget) {
    netlib::hedge_options options;
    options.delay(0.5s).max_attempts(3).max_keys(8).allowed_methods({"GET", "HEAD"}).budget(budget);
    return netlib::hedge(options);
}

static void a_plan_starts_hedges_until_the_budget_denies_one() {
    netlib::retry_budget_options limits;
    limits.tokens(14, 14, 5, 1);
    const netlib::retry_budget budget(limits);
    netlib::hedge_plan plan = hedge(budget).start("a", "GET");
    CHECK(plan.timer() == 0.5s && plan.attempts() == 1);
    CHECK(plan.step(hedge_event::timer, 0, 0.5s) == hedge_action::start);
    CHECK(!plan.denied());
    CHECK(plan.step(hedge_event::timer, 0, 1s) == hedge_action::wait);
    EQUAL(plan.denied()->status(), netlib::status::retry_budget_empty);
    CHECK(plan.pushback(1, -1s, 1s) == hedge_action::wait);
    CHECK(plan.step(hedge_event::success, 2, 2s) == hedge_action::done);
    CHECK(budget.left("a") == 14.0);
    CHECK(hedge(budget).start("a", "PUT").timer() == netlib::timeout_none());
}

static void a_pushback_sets_the_time_of_the_next_attempt() {
    netlib::hedge_options options;
    netlib::hedge_plan plan = netlib::hedge(options.delay(0.5s)).start("a", "GET");
    CHECK(plan.pushback(1, 2s, 0.25s) == hedge_action::wait);
    CHECK(plan.timer() == 2.25s);
}

static void a_percentile_is_a_number_and_not_a_time() {
    netlib::hedge_options options;
    options.percentile(50, 1);
    const netlib::hedge latencies(options);
    netlib::hedge_plan plan = latencies.start("a", "GET");
    CHECK(plan.step(hedge_event::success, 1, 1s) == hedge_action::done);
    CHECK(latencies.delay("a") > 0.94s && latencies.delay("a") < 1.06s);
    const netlib::hedge one_key(options.max_keys(1));
    CHECK(one_key.start("a", "GET").step(hedge_event::success, 1, 1s) == hedge_action::done);
    CHECK(one_key.start("b", "GET").step(hedge_event::success, 1, 1s) == hedge_action::done);
    CHECK(one_key.delay("a") == netlib::timeout_none() && one_key.delay("b") < 1.06s);
    options.percentile(0.95, 1);
    FAILS(options.check(), netlib::status::invalid_argument, "percentile must be 50 to 99.9; it is 0.95");
}

int main() {
    a_plan_starts_hedges_until_the_budget_denies_one();
    a_pushback_sets_the_time_of_the_next_attempt();
    a_percentile_is_a_number_and_not_a_time();
    return finish("test_hedge");
}
