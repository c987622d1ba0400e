/* The retry loop: netlib::attempts. */
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

/** Returns the attempts of a request with a secret header. */
static netlib::attempts attempts_of(const netlib::retry &retry, const char *method = "GET",
                                    netlib::optional_ref<netlib::limit> limit = {}) {
    auto headers = netlib::make_headers(netlib::headers_options().add_header("authorization", "secret"));
    auto url = netlib::parse_url("https://a.example/x");
    return netlib::attempts(retry, method, url, headers, std::string_view(method) == "POST", limit);
}

/** Makes attempts whose results are the heads of responses or the names of errors, and returns what happened. */
static std::string run(const std::vector<std::string> &results, const char *method = "GET") {
    std::string log;
    std::size_t at = 0;
    netlib::attempts attempts = attempts_of(policy(log), method);
    netlib::status outcome = status::send_again;
    try {
        do {
            log += std::string(attempts.method()) + " " + std::string(attempts.url()->to_string());
            log += attempts.headers()->get("authorization") ? " with secret" : "";
            log += attempts.sends_body() ? " and body; " : "; ";
            const std::string &result = results.at(at++);
            try {
                if (result == "refused") throw netlib::error(status::connect_failed, "refused");
                if (result == "bad") throw netlib::error(status::certificate_verify, "bad");
                outcome = attempts.next(response(result), {});
                if (outcome == status::ok) log += "accepted " + result;
                if (result.find("cut") != std::string::npos) throw netlib::error(status::incomplete_read, "cut");
            } catch (const netlib::error &error) {
                outcome = attempts.next({}, error);
            }
        } while (outcome == status::send_again);
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
    EQUAL(run({"303 Go\r\nLocation: /y", "503 Busy", "200 OK"}, "POST"),
          "POST https://a.example/x with secret and body; GET https://a.example/y with secret; "
          "GET https://a.example/y with secret; accepted 200 OK");
}

static void attempts_without_headers_have_empty_headers() {
    netlib::attempts attempts(*netlib::retry::recommended(), "GET", netlib::parse_url("http://a/"), {}, false);
    EQUAL(attempts.headers()->count(), 0U);
    netlib::request request = attempts.request(netlib::request_form::origin);
    EQUAL(request.to_wire(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

static void attempts_make_their_requests_and_lend_their_decisions() {
    std::string log;
    netlib::attempts attempts = attempts_of(policy(log));
    netlib::request request = attempts.request(netlib::request_form::origin);
    EQUAL(request.to_wire(), "GET /x HTTP/1.1\r\nHost: a.example\r\nauthorization: secret\r\n\r\n");
    CHECK(attempts.decision()->handle() == nullptr);
    EQUAL(attempts.decide(response("503 Busy"), {}), status::send_again);
    EQUAL(attempts.decision()->action(), netlib::action::retry);
    EQUAL(log, "");
}

/** Attempts keep the limit that was passed to their constructor. */
static void the_limit_bounds_the_wait() {
    std::string log;
    std::optional<netlib::limit> limit(10s);
    netlib::limit copy = *limit;
    netlib::attempts attempts = attempts_of(policy(log), "GET", *limit);
    limit.reset();
    EQUAL(attempts.next(response("503 Busy"), {}), status::send_again);
    copy.cancel();
    FAILS(attempts.next(response("503 Busy"), {}), status::cancelled, "");
}

/** Makes attempts that all have the same response, and returns the number of requests and the status of the end. */
static std::string run_to_the_end(netlib::retry_options options, const char *head) {
    options.total(5).status_forcelist({503});
    int requests = 0;
    netlib::attempts attempts = attempts_of(netlib::retry(options));
    netlib::status outcome = status::send_again;
    try {
        while (outcome == status::send_again) {
            if (++requests == 20) return "endless";
            try {
                outcome = attempts.next(response(head), {});
            } catch (const netlib::error &error) {
                outcome = attempts.next({}, error);
            }
        }
    } catch (const netlib::error &end) {
        FAILS(attempts.next(response("200 OK"), {}), status::closed, "has ended");
        FAILS(attempts.next({}, end), end.status(), end.what()); // no error counts twice
        CHECK(!*attempts.decision() || end.status() == status::callback_failed);
        std::string report(end.report());
        EQUAL(report.find(end.what()), 0U);
        EQUAL(report.find("the server answered"), report.rfind("the server answered"));
        return std::to_string(requests) + " " + std::string(netlib::status_name(end.status()));
    }
    return "accepted";
}

static void an_error_of_next_ends_the_loop() {
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

/** If the body of an accepted response cannot be read, the policy decides about the error. */
static void an_error_after_the_response_can_be_retried() {
    std::string log;
    netlib::attempts attempts = attempts_of(policy(log));
    netlib::error cut(status::incomplete_read, "cut");
    for (int i = 0; i < 3; i++) {
        EQUAL(attempts.next(response("200 OK"), {}), status::ok);
        EQUAL(attempts.next(response("200 OK"), cut), status::send_again);
        EQUAL(attempts.decision()->counter(), netlib::counter::read);
    }
    EQUAL(attempts.next(response("200 OK"), {}), status::ok);
    FAILS(attempts.next(response("200 OK"), cut), status::max_retry, "cut");
    EQUAL(log, "[2 s][4 s]");
}

/** A call without a result does not end the request. */
static void a_call_with_invalid_arguments_changes_nothing() {
    netlib::attempts attempts = attempts_of(*netlib::retry::recommended());
    FAILS(attempts.next({}, {}), status::invalid_argument, "both NULL");
    EQUAL(attempts.next(response("200 OK"), {}), status::ok);
    FAILS(attempts.next(response("200 OK"), {}), status::closed, "has ended");
    EQUAL(attempts.decision()->action(), netlib::action::return_response);
    FAILS(netlib::attempts(*netlib::retry::recommended(), "A B", netlib::parse_url("http://a/"), {}, false),
          status::invalid_argument, "method");
}

int main() {
    the_loop_retries_redirects_and_ends();
    a_redirect_from_post_to_get_drops_the_body_for_all_later_attempts();
    attempts_without_headers_have_empty_headers();
    attempts_make_their_requests_and_lend_their_decisions();
    an_error_of_next_ends_the_loop();
    an_empty_budget_ends_the_loop();
    an_error_after_the_response_can_be_retried();
    a_call_with_invalid_arguments_changes_nothing();
    the_limit_bounds_the_wait();
    return finish("test_attempts");
}
