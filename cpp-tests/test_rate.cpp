/* Rates, and the retry settings for servers that ask their clients to slow down. */
#include "harness.hpp"

#include <cstdlib>

#include <unistd.h>

using netlib::seconds;
using netlib::status;
using namespace std::chrono_literals;

static void a_limited_request_has_a_wait_and_a_progress_status() {
    double now = 0;
    netlib::rate_options options;
    options.limit(2, 1).max_keys(8).clock([&now] { return now; });
    netlib::rate rate(options);
    CHECK(rate.take("key", 1));
    netlib::progress<seconds> limited = rate.take("key", 1);
    CHECK(!limited);
    EQUAL(limited.status, status::rate_limited);
    EQUAL(limited->count(), 0.5);
    now += limited->count();
    CHECK(rate.take("key", 1));
    CHECK(rate.take("another key", 1));
    FAILS(rate.take("key", 2), status::invalid_argument, "burst");
    netlib::rate copy = rate;
    EQUAL(copy.take("key", 1).status, status::rate_limited);
}

static void an_adaptive_rate_limits_after_a_throttled_report() {
    double now = 0;
    netlib::rate_options options;
    options.limit(1, 1).adaptive().clock([&now] { return now; });
    netlib::rate rate(options);
    CHECK(rate.take("key", 100));
    rate.report("key", netlib::report::throttled);
    netlib::progress<seconds> limited = rate.take("key", 1);
    EQUAL(limited->count(), 2.0);
    options.limit(0, 1);
    FAILS(options.check(), status::invalid_argument, "per_second");
}

static void a_further_key_replaces_the_least_recently_used_one() {
    netlib::rate_options options;
    netlib::rate rate(options.limit(1, 1).max_keys(1).clock([] { return seconds(0); }));
    CHECK(rate.take("a", 1));
    EQUAL(rate.take("a", 1).status, status::rate_limited);
    CHECK(rate.take("b", 1));
    CHECK(rate.take("a", 1));
}

static void the_policy_of_a_rate_decides_while_its_store_is_unavailable() {
    auto swap = [](netlib::text, std::uint64_t, std::uint64_t, seconds, seconds, std::uint64_t &, double &) {
        return netlib::swap::unavailable;
    };
    const netlib::store store = netlib::store::make(swap, 1s);
    netlib::rate_options options;
    netlib::rate open(options.limit(0.001, 1).store(store, netlib::unavailable::open));
    netlib::rate local(options.store(store, netlib::unavailable::local));
    netlib::rate closed(options.store(store, netlib::unavailable::closed));
    CHECK(open.take("key", 1) && open.take("key", 1));
    CHECK(local.take("key", 1) && !local.take("key", 1));
    FAILS(closed.take("key", 1), status::store_unavailable, "unavailable");
}

static void two_rates_share_a_store() {
    char path[] = "/tmp/netlib-rate-XXXXXX";
    close(mkstemp(path));
    netlib::store store = netlib::store::file(path, 16);
    unlink(path);
    netlib::rate_options options;
    options.limit(0.001, 1).store(store, netlib::unavailable::closed);
    netlib::rate first(options), second(options);
    CHECK(first.take("key", 1));
    EQUAL(second.take("key", 1).status, status::rate_limited);
}

static void settings_for_throttling_can_be_read_back() {
    netlib::retry_options options;
    const std::int32_t statuses[] = {509};
    options.throttling(1s, statuses).retry_after_clamp(5s).pushback_header("x-wait", netlib::pushback::grpc);
    netlib::retry retry(options);
    EQUAL(retry.throttling_base().count(), 1.0);
    EQUAL(retry.throttling_status_count(), 1u);
    EQUAL(retry.throttling_status_at(0), 509);
    EQUAL(retry.retry_after_clamp().count(), 5.0);
    EQUAL(retry.pushback_header(), std::string_view("x-wait"));
    EQUAL(retry.pushback_kind(), netlib::pushback::grpc);
    CHECK(!retry.is_throttled());
}

static void a_callable_can_store_the_words_of_a_store() {
    std::uint64_t word = 0;
    std::string name;
    auto swap = [&](netlib::text key, std::uint64_t expected, std::uint64_t desired, seconds ttl, seconds,
                    std::uint64_t &actual, double &now) {
        name = key;
        EQUAL(ttl.count(), 1.0);
        now = 1000;
        actual = word;
        if (word != expected) return netlib::swap::changed;
        word = desired;
        return netlib::swap::swapped;
    };
    netlib::rate_options options;
    options.limit(1, 1).store(netlib::store::make(swap, 1s), netlib::unavailable::closed);
    netlib::rate first(options), second(options);
    CHECK(first.take(std::string_view("keys", 3), 1));
    EQUAL(name, "rate:key");
    netlib::progress<seconds> limited = second.take("key", 1);
    EQUAL(limited->count(), 1.0);
}

int main() {
    a_limited_request_has_a_wait_and_a_progress_status();
    an_adaptive_rate_limits_after_a_throttled_report();
    a_further_key_replaces_the_least_recently_used_one();
    the_policy_of_a_rate_decides_while_its_store_is_unavailable();
    two_rates_share_a_store();
    a_callable_can_store_the_words_of_a_store();
    settings_for_throttling_can_be_read_back();
    return finish("rate");
}
