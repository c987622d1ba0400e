/* Circuit breakers. */
#include "harness.hpp"

using netlib::circuit_state;
using netlib::status;
using namespace std::chrono_literals;

static void a_refused_request_throws_an_error_with_the_seconds_to_wait() {
    double now = 0;
    auto clock = [&now] { return netlib::seconds(now); };
    netlib::breaker breaker(netlib::breaker_options().ratio(.5, 1, 10s, 5s, 1).clock(clock));
    breaker.report(breaker.ask("a").permit, netlib::report::failure);
    now = 3.5;
    FAILS(breaker.ask("a"), status::breaker_open, "ask again in 1.5 seconds");
    try {
        breaker.ask("a");
    } catch (const netlib::error &error) {
        EQUAL(error.breaker_seconds().count(), 1.5);
    }
    EQUAL(breaker.state("a"), circuit_state::open);
    EQUAL(breaker.state("b"), circuit_state::closed);
    now = 5;
    netlib::breaker clone = breaker;
    EQUAL(clone.state("a"), circuit_state::half_open);
    clone.report(breaker.ask("a").permit, netlib::report::success);
    EQUAL(breaker.state("a"), circuit_state::closed);
}

static void callbacks_of_options_set_the_time_and_the_random_numbers() {
    double random = 0;
    netlib::breaker_options options;
    options.consecutive(5, 30s, 300s, 10).adaptive(2, 1, 120s, 1).permit_time(60s).max_keys(8);
    netlib::breaker breaker(options.random([&random] { return random; }));
    breaker.report(breaker.ask("").permit, netlib::report::throttled);
    random = .49;
    FAILS(breaker.ask(""), status::breaker_open, "the breaker permits no request for \"\"");
    random = .75;
    CHECK(breaker.ask("").permit != 0);
    FAILS(netlib::breaker(netlib::breaker_options().max_keys(0)), status::invalid_argument, "max_keys must be 1 to");
}

static void consecutive_failures_open_a_key_and_old_permits_change_nothing() {
    double now = 0;
    netlib::breaker_options options;
    options.consecutive(1, 30s, 300s, 100).permit_time(60s).clock([&now] { return netlib::seconds(now); });
    netlib::breaker breaker(options);
    auto late = breaker.ask("late").permit;
    breaker.report(breaker.ask("a").permit, netlib::report::failure);
    EQUAL(breaker.state("a"), circuit_state::open);
    FAILS(breaker.ask("a"), status::breaker_open, "ask again in 30 seconds");
    now = 61;
    breaker.report(late, netlib::report::failure);
    EQUAL(breaker.state("late"), circuit_state::closed);
}

int main() {
    a_refused_request_throws_an_error_with_the_seconds_to_wait();
    callbacks_of_options_set_the_time_and_the_random_numbers();
    consecutive_failures_open_a_key_and_old_permits_change_nothing();
    return finish("breaker");
}
