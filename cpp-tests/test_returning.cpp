// flags: -fno-exceptions
/* Results instead of exceptions. */
#include <netlib.hpp>

#define FAILS(expression, wanted, part) \
    do { \
        auto refused = (expression); \
        CHECK(!refused.has_value()); \
        EQUAL(refused.error().status(), wanted); \
        CHECK(std::string_view(refused.error().message()).find(part) != std::string_view::npos); \
    } while (false)
#include "harness.hpp"

using netlib::status;
using namespace std::chrono_literals;

static void a_result_holds_the_value_or_the_error() {
    auto url = netlib::parse_url("https://a.example:81/");
    CHECK(url);
    CHECK(url.has_value());
    EQUAL(url->port(), 81);
    EQUAL((*url).host(), "a.example");
    CHECK(!url.error());
    netlib::url taken = *std::move(url);
    EQUAL(taken.host(), "a.example");
    auto failed = netlib::parse_url("http://[");
    CHECK(!failed);
    EQUAL(failed.error().status(), status::invalid_url);
    EQUAL(failed.error().offset(), 7);
    netlib::expected<netlib::url> copy = failed;
    CHECK(copy.error().handle() == failed.error().handle());
    auto made = netlib::error::make(status::protocol, "mine");
    CHECK(made);
    EQUAL(made->message(), "mine");
    FAILS(netlib::error::make(status::ok, "mine"), status::invalid_argument, "status");
    netlib::error error = netlib::parse_url("http://[").error();
    EQUAL(error.message(), "the host's bracket is not closed, at byte 7");
}

template <class T, class = void> constexpr bool has_arrow = false;
template <class T> constexpr bool has_arrow<T, std::void_t<decltype(std::declval<T>().operator->())>> = true;

static void a_result_that_is_a_truth_value_is_not_tested_by_if() {
    static_assert(std::is_constructible_v<bool, netlib::expected<int>>);
    static_assert(std::is_constructible_v<bool, netlib::expected<void>>);
    static_assert(!std::is_constructible_v<bool, netlib::expected<bool>>);
    netlib::url url = *netlib::parse_url("http://a.example/");
    auto matches = netlib::no_proxy_match("b.example", url);
    CHECK(matches.has_value());
    CHECK(!*matches);
}

static void a_temporary_result_does_not_lend_its_value() {
    using netlib::expected, netlib::progress, netlib::url;
    static_assert(has_arrow<expected<url> &> && has_arrow<const expected<url> &> && !has_arrow<expected<url>>);
    static_assert(has_arrow<progress<url> &> && !has_arrow<progress<url>>);
    static_assert(std::is_same_v<decltype(netlib::parse_url("").error()), netlib::error>);
}

static void a_result_without_a_value_is_success_or_an_error() {
    netlib::limit limit = *netlib::limit::make(10s);
    CHECK(limit.check());
    limit.cancel();
    FAILS(limit.check(), status::cancelled, "");
}

static void progress_is_a_value() {
    netlib::limit limit = *netlib::limit::make(10s);
    netlib::stream stream = *netlib::stream::new_callbacks(
        [](netlib::span<std::uint8_t>) { return netlib::progress<std::size_t>{status::want_read, 0}; },
        [](netlib::span<const std::uint8_t> data) { return data.size(); });
    char buf[4];
    auto n = stream.read(buf);
    CHECK(n);
    EQUAL(n->status, status::want_read);
    CHECK(!*n);
    EQUAL(**stream.write("abc"), std::size_t{3});
    limit.cancel();
    stream.set_limit(limit);
    FAILS(stream.read(buf), status::cancelled, "");
    EQUAL(*stream.handshake(), status::ok);
}

static void text_with_a_nul_inside_is_refused() {
    std::string host("example.com\0.evil", 17);
    FAILS(netlib::url::make("https", nullptr, host, -1, "/", nullptr, nullptr), status::invalid_url, "");
    FAILS(netlib::url_options().host(std::string_view(host)).check(), status::invalid_url, "");
    FAILS(netlib::tls_options().add_alpn_protocol(host).check(), status::invalid_argument, "");
    FAILS(netlib::tls_context::make(netlib::tls_options().add_ca_file(host)), status::io, "");
    FAILS(netlib::headers_options().add_header("a", host).check(), status::invalid_header, "");
    FAILS(netlib::connect::make(host, 443), status::invalid_url, "");
    FAILS(netlib::retry::make(netlib::retry_options().allowed_methods({host})), status::invalid_argument, "");
    FAILS(netlib::headers_options().basic_auth(host).check(), status::invalid_header, "authorization");
    FAILS(netlib::headers_options().proxy_basic_auth(host).check(), status::invalid_header, "proxy-authorization");
    FAILS(netlib::url_options().credentials(host, nullptr).check(), status::invalid_url, "longer than 16 MiB");
    FAILS(netlib::url_options().credentials("user", host).check(), status::invalid_url, "longer than 16 MiB");
    netlib::url url = *netlib::parse_url("http://a.example/");
    std::string list("a.example,b\0.example", 20);
    FAILS(netlib::no_proxy_match(list, url), status::invalid_argument, "contains a NUL");
    CHECK(*netlib::no_proxy_match("a.example", url));
    CHECK(!*netlib::no_proxy_match(std::string("b.example"), url));
}

static void attempts_return_errors() {
    netlib::retry_options options = netlib::retry_options::new_recommended();
    options.sleep([](netlib::seconds) { return netlib::outcome::done; });
    netlib::retry retry = *netlib::retry::make(options);
    std::string log;
    netlib::error refused = *netlib::error::make(status::connect_failed, "refused");
    auto busy = *netlib::response::parse("GET", "HTTP/1.1 503 Busy\r\n\r\n");
    auto attempts = *netlib::attempts::make(retry, "GET", *netlib::parse_url("http://a/"), {}, false);
    netlib::expected<status> outcome = status::send_again;
    while (outcome && *outcome == status::send_again) {
        outcome = log.empty() ? attempts.next(busy->response, {}) : attempts.next({}, refused);
        log += "attempt;";
    }
    log += netlib::status_name(outcome.error().status());
    EQUAL(log, "attempt;attempt;attempt;attempt;NETLIB_MAX_RETRY");
}

int main() {
    static_assert(!std::is_constructible_v<netlib::limit, netlib::seconds>,
                  "constructors that may fail need exceptions");
    a_result_holds_the_value_or_the_error();
    a_result_that_is_a_truth_value_is_not_tested_by_if();
    a_temporary_result_does_not_lend_its_value();
    a_result_without_a_value_is_success_or_an_error();
    progress_is_a_value();
    text_with_a_nul_inside_is_refused();
    attempts_return_errors();
    return finish("test_returning");
}
