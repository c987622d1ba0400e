/* The retry loop for range-for. */
#include "harness.hpp"

using netlib::status;
using namespace std::chrono_literals;

/** Returns recommended options that do not wait, and that record the waits. */
static netlib::retry policy(std::string &log) {
    netlib::retry_options options = netlib::retry_options::new_recommended();
    options.jitter_kind(netlib::jitter_kind::none).backoff_factor(1s).sleep([&log](netlib::seconds time) {
        log += "[" + std::to_string(static_cast<int>(time.count())) + " s]";
        return netlib::outcome::done;
    });
    return netlib::retry(options);
}

static netlib::response response(const std::string &head) {
    return netlib::response::parse("GET", "HTTP/1.1 " + head + "\r\n\r\n").value.response;
}

static netlib::request_parts parts(const char *method = "GET", const char *url = "https://a.example/x") {
    auto headers = netlib::make_headers(netlib::headers_options().add_header("authorization", "secret"));
    return {method, netlib::parse_url(url), headers};
}

/** Makes attempts whose results are the heads of responses or the names of errors, and returns what happened. */
static std::string run(const std::vector<std::string> &results, netlib::request_parts request = parts()) {
    std::string log;
    std::size_t at = 0;
    try {
        for (auto &attempt : netlib::attempts(policy(log), std::move(request))) {
            log += attempt.method() + " " + std::string(attempt.url().to_string());
            log += attempt.headers().get("authorization") ? " with secret" : "";
            log += attempt.sends_body() ? "; " : " without body; ";
            const std::string &result = results.at(at++);
            if (result == "end") continue;
            try {
                if (result == "refused") throw netlib::error(status::connect_failed, "refused");
                if (result == "bad") throw netlib::error(status::certificate_verify, "bad");
                if (attempt.accept(response(result))) log += "accepted " + result;
                if (result.find("cut") != std::string::npos) throw netlib::error(status::incomplete_read, "cut");
            } catch (const netlib::error &error) {
                attempt.failed(error);
            }
        }
    } catch (const netlib::error &error) {
        log += "failed " + std::string(netlib::status_name(error.status()));
    }
    return log + (at == results.size() ? "" : "; not all results were used");
}

static void the_loop_retries_redirects_and_ends() {
    const struct {
        std::vector<std::string> results;
        std::string expected;
    } rows[] = {
        {{"200 OK"}, "GET https://a.example/x with secret; accepted 200 OK"},
        {{"404 No"}, "GET https://a.example/x with secret; accepted 404 No"},
        {{"end"}, "GET https://a.example/x with secret; "},
        {{"503 Busy", "200 OK"},
         "GET https://a.example/x with secret; GET https://a.example/x with secret; accepted 200 OK"},
        {{"refused", "refused", "200 OK"},
         "GET https://a.example/x with secret; GET https://a.example/x with secret; [2 s]"
         "GET https://a.example/x with secret; accepted 200 OK"},
        {{"302 Go\r\nLocation: https://b.example/y", "200 OK"},
         "GET https://a.example/x with secret; GET https://b.example/y; accepted 200 OK"},
        {{"302 Go\r\nLocation: /y", "200 OK"},
         "GET https://a.example/x with secret; GET https://a.example/y with secret; accepted 200 OK"},
        {{"302 Go\r\nLocation: http://a.example/y"},
         "GET https://a.example/x with secret; failed NETLIB_UNSAFE_REDIRECT"},
        {{"refused", "refused", "refused", "refused"},
         "GET https://a.example/x with secret; GET https://a.example/x with secret; [2 s]"
         "GET https://a.example/x with secret; [4 s]GET https://a.example/x with secret; failed NETLIB_MAX_RETRY"},
        {{"bad"}, "GET https://a.example/x with secret; failed NETLIB_CERTIFICATE_VERIFY"},
        {{"200 cut"}, "GET https://a.example/x with secret; accepted 200 cutfailed NETLIB_INCOMPLETE_READ"},
    };
    for (const auto &row : rows) EQUAL(run(row.results), row.expected);
}

static void a_redirect_from_post_to_get_drops_the_body_for_all_later_attempts() {
    EQUAL(run({"303 Go\r\nLocation: /y", "503 Busy", "200 OK"}, parts("POST")),
          "POST https://a.example/x with secret; GET https://a.example/y with secret without body; "
          "GET https://a.example/y with secret without body; accepted 200 OK");
}

static void parts_without_headers_stay_without_headers() {
    EQUAL(run({"503 Busy", "200 OK"}, {"GET", netlib::parse_url("http://a/"), netlib::headers(nullptr)}),
          "GET http://a/; GET http://a/; accepted 200 OK");
}

static void an_attempt_makes_its_request() {
    std::string log;
    for (auto &attempt : netlib::attempts(policy(log), parts())) {
        netlib::request request = attempt.request();
        EQUAL(request.to_wire(), "GET /x HTTP/1.1\r\nHost: a.example\r\nauthorization: secret\r\n\r\n");
        CHECK(attempt.decision().handle() == nullptr);
        CHECK(!attempt.accept(response("503 Busy")));
        EQUAL(attempt.decision().action(), netlib::action::retry);
        break;
    }
    EQUAL(log, "");
}

static void the_limit_bounds_the_wait() {
    std::string log;
    netlib::limit limit(10s);
    limit.cancel();
    netlib::attempts attempts(policy(log), parts(), limit);
    FAILS((*attempts.begin()).accept(response("503 Busy")), status::cancelled, "");
}

/* Range-for destroys temporary objects in its arguments before the first attempt. */
static void attempts_keep_a_temporary_limit() {
    std::string log;
    auto cancelled = [] {
        netlib::limit limit(10s);
        limit.cancel();
        return limit;
    };
    for (auto &attempt : netlib::attempts(policy(log), parts(), cancelled()))
        FAILS(attempt.accept(response("503 Busy")), status::cancelled, "");
    std::optional<netlib::limit> limit(10s);
    netlib::limit copy = *limit;
    netlib::attempts attempts(policy(log), parts(), *limit);
    limit.reset();
    CHECK(!(*attempts.begin()).accept(response("503 Busy")));
    copy.cancel();
    FAILS((*attempts.begin()).accept(response("503 Busy")), status::cancelled, "");
}

/** Makes attempts that all have the same response, and returns the number of requests and the status of the end. */
static std::string run_to_the_end(netlib::retry_options options, const char *head) {
    options.total(5).status_forcelist({503});
    int requests = 0;
    netlib::attempts attempts(netlib::retry(options), parts());
    try {
        for (auto &attempt : attempts) {
            if (++requests == 20) return "endless";
            try {
                attempt.accept(response(head));
            } catch (const netlib::error &error) {
                attempt.failed(error);
            }
        }
    } catch (const netlib::error &error) {
        for (auto &attempt : attempts) CHECK(attempt.url().to_string().empty()); // the end has no further attempt
        std::string report(error.report());
        EQUAL(report.find(error.what()), 0U);
        EQUAL(report.find("the server answered"), report.rfind("the server answered"));
        return std::to_string(requests) + " " + std::string(netlib::status_name(error.status()));
    }
    return "accepted";
}

static void the_error_of_accept_ends_the_loop() {
    using netlib::retry_options;
    const char *busy = "503 Busy", *moved = "302 Go\r\nLocation: /y";
    auto safe = retry_options().redirect_profile(netlib::redirect_profile::safe);
    auto stop = retry_options().retry_after_max(10s).long_retry_after(netlib::long_retry_after::stop);
    auto failing = retry_options().backoff_factor(1s).sleep([](netlib::seconds) { return netlib::outcome::failed; });
    EQUAL(run_to_the_end(retry_options().status(1), busy), "2 NETLIB_MAX_RETRY");
    EQUAL(run_to_the_end(retry_options().redirect(1), moved), "2 NETLIB_MAX_RETRY");
    EQUAL(run_to_the_end(retry_options(), busy), "6 NETLIB_MAX_RETRY");
    EQUAL(run_to_the_end(stop, "503 Busy\r\nRetry-After: 11"), "1 NETLIB_MAX_RETRY");
    EQUAL(run_to_the_end(safe, "302 Go\r\nLocation: http://a.example/"), "1 NETLIB_UNSAFE_REDIRECT");
    EQUAL(run_to_the_end(retry_options(), "302 Go\r\nLocation: http://["), "1 NETLIB_INVALID_URL");
    EQUAL(run_to_the_end(retry_options(), "503 Busy\r\nRetry-After: soon"), "1 NETLIB_INVALID_HEADER");
    EQUAL(run_to_the_end(failing, busy), "2 NETLIB_CALLBACK_FAILED");
}

static void an_empty_budget_ends_the_loop() {
    netlib::retry_budget budget(netlib::retry_budget_options().tokens(2, 2, 2, 1));
    netlib::retry_options options;
    options.budget(budget, nullptr);
    EQUAL(run_to_the_end(options, "503 Busy"), "2 NETLIB_MAX_RETRY");
    EQUAL(run_to_the_end(options, "503 Busy"), "1 NETLIB_MAX_RETRY");
}

/** After `accept` has returned false, an attempt counts no further response and no failure. */
static void an_attempt_that_continues_counts_once() {
    netlib::attempts attempts(netlib::retry(netlib::retry_options().total(1).status_forcelist({503})), parts());
    int requests = 0;
    for (auto &attempt : attempts) {
        if (++requests == 2) break;
        CHECK(!attempt.accept(response("503 Busy")));
        CHECK(!attempt.accept(response("503 Busy")));
        attempt.failed(netlib::error(status::connect_failed, "late"));
    }
    EQUAL(requests, 2);
}

/** After the end, an attempt counts no further failure. */
static void an_attempt_that_has_ended_returns_each_error() {
    netlib::attempts attempts(netlib::retry(netlib::retry_options().total(0)), parts());
    netlib::attempt &attempt = *attempts.begin();
    FAILS(attempt.failed(netlib::error(status::connect_failed, "refused")), status::max_retry, "refused");
    CHECK(!attempt.decision());
    FAILS(attempt.failed(netlib::error(status::connect_failed, "late")), status::connect_failed, "late");
    CHECK(!(attempts.begin() != attempts.end()));
}

int main() {
    the_loop_retries_redirects_and_ends();
    a_redirect_from_post_to_get_drops_the_body_for_all_later_attempts();
    parts_without_headers_stay_without_headers();
    an_attempt_makes_its_request();
    the_error_of_accept_ends_the_loop();
    an_empty_budget_ends_the_loop();
    an_attempt_that_continues_counts_once();
    an_attempt_that_has_ended_returns_each_error();
    the_limit_bounds_the_wait();
    attempts_keep_a_temporary_limit();
    return finish("test_attempts");
}
