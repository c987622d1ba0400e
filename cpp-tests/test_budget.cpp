/* Retry budgets. */
#include "harness.hpp"

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

int main() {
    a_budget_grants_retries_and_successes_return_their_cost();
    a_denied_retry_throws_an_error_with_key_and_tokens();
    a_decision_states_which_budget_denied_its_retry();
    presets_and_windows_can_be_chosen();
    return finish("test_budget");
}
