/* Retry budgets. */
#include "harness.hpp"

#include <cstdlib>

#include <unistd.h>

using netlib::budget_kind;
using netlib::report;
using netlib::status;

static void a_budget_grants_retries_and_successes_return_their_cost() {
    double now = 0;
    netlib::retry_budget_options options;
    options.tokens(20, 10, 5, 1).lease_time(netlib::seconds(60)).max_keys(2);
    options.clock([&now] { return netlib::seconds(now); });
    netlib::retry_budget budget(options);
    auto lease = budget.ask("h", budget_kind::transient);
    EQUAL(budget.left("h"), 10.0);
    budget.report(lease, report::success);
    EQUAL(budget.left("h"), 20.0);
    lease = budget.ask("h", budget_kind::hedge);
    now = 61;
    budget.report(lease, report::success);
    EQUAL(budget.left("h"), 10.0);
    EQUAL(budget.left("other"), 20.0);
    /* The third key replaces "a", which has more tokens left than "h". */
    CHECK(budget.ask("a", budget_kind::throttling) != 0 && budget.ask("b", budget_kind::throttling) != 0);
    EQUAL(budget.left("h"), 10.0);
    EQUAL(budget.left("a"), 20.0);
}

static void a_denied_retry_throws_an_error_with_key_and_tokens() {
    netlib::retry_budget budget(netlib::retry_budget_options().failure_tokens(2, 1, 0.5));
    budget.report(budget.ask("h", budget_kind::request), report::failure);
    try {
        budget.ask("h", budget_kind::throttling);
        CHECK(false);
    } catch (const netlib::error &error) {
        EQUAL(error.status(), status::retry_budget_empty);
        EQUAL(error.budget_key(), "h");
        EQUAL(error.budget_left(), 1.0);
    }
}

static void a_decision_states_which_budget_denied_its_retry() {
    netlib::retry_budget budget(netlib::retry_budget_options().in_flight(0, 1));
    netlib::retry_options options;
    options.status_forcelist({503}).raise_on_status(false).budget(budget, "tenant");
    netlib::retry retry(options);
    CHECK(static_cast<bool>(retry.attached_budget()));
    EQUAL(retry.attached_budget_key(), "tenant");
    auto url = netlib::parse_url("http://h/");
    auto response = netlib::response::parse("GET", "HTTP/1.1 503 Busy\r\n\r\n").value.response;
    auto first = retry.decide("GET", url, response, {}, {});
    EQUAL(first.action(), netlib::action::retry);
    CHECK(!first.denied());
    auto second = retry.decide("GET", url, response, {}, {});
    EQUAL(second.action(), netlib::action::return_response);
    EQUAL(second.denied()->status(), status::retry_budget_empty);
    EQUAL(second.denied()->budget_key(), "tenant");
}

static void presets_and_windows_can_be_chosen() {
    netlib::retry_budget_options options;
    options.preset(netlib::budget_preset::envoy);
    EQUAL(netlib::retry_budget(options).left(""), 3.0);
    options.window(0.5, 2, netlib::seconds(10));
    EQUAL(netlib::retry_budget(options).left(""), 20.0);
    FAILS(netlib::retry_budget(options.window(0.5, 2, netlib::seconds(0))), status::invalid_argument,
          "set_window: seconds must be 1 to 60; it is 0");
}

static void two_budgets_share_a_store() {
    char path[] = "/tmp/netlib-budget-XXXXXX";
    close(mkstemp(path));
    netlib::retry_budget_options options;
    options.tokens(10, 10, 5, 1).store(netlib::store::file(path, 16), netlib::unavailable::closed);
    unlink(path);
    const netlib::retry_budget first(options), second(options);
    CHECK(first.ask("h", budget_kind::throttling) != 0);
    FAILS(second.ask("h", budget_kind::transient), status::retry_budget_empty, "has 5 tokens left; a retry costs 10");
    options.store({}, netlib::unavailable::closed);
    EQUAL(netlib::retry_budget(options).left("h"), 10.0);
    CHECK(netlib::retry_budget(options).ask("h", budget_kind::transient) != 0);
}

/* A swap callback that cannot reach its server: the policy decides. */
static void the_policy_of_a_budget_decides_while_its_store_is_unavailable() {
    auto swap = [](netlib::text, std::uint64_t, std::uint64_t, netlib::seconds, netlib::seconds, std::uint64_t &,
                   double &) { return netlib::swap::unavailable; };
    netlib::retry_budget_options options;
    options.tokens(10, 10, 5, 1);
    const netlib::store store = netlib::store::make(swap, netlib::seconds(1));
    const netlib::retry_budget open(options.store(store, netlib::unavailable::open));
    for (int i = 0; i < 3; i++) CHECK(open.ask("h", budget_kind::transient) != 0);
    const netlib::retry_budget local(options.store(store, netlib::unavailable::local));
    CHECK(local.ask("h", budget_kind::transient) != 0);
    FAILS(local.ask("h", budget_kind::transient), status::retry_budget_empty, "has 0 tokens left");
    const netlib::retry_budget closed(options.store(store, netlib::unavailable::closed));
    FAILS(closed.ask("h", budget_kind::transient), status::store_unavailable, "unavailable");
    CHECK(closed.ask("h", budget_kind::request) != 0);
}

int main() {
    a_budget_grants_retries_and_successes_return_their_cost();
    a_denied_retry_throws_an_error_with_key_and_tokens();
    a_decision_states_which_budget_denied_its_retry();
    presets_and_windows_can_be_chosen();
    two_budgets_share_a_store();
    the_policy_of_a_budget_decides_while_its_store_is_unavailable();
    return finish("test_budget");
}
