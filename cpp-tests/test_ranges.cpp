/* The elements of handles, for range-for, and handles that other handles own. */
#include "harness.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>

using netlib::status;
using namespace std::chrono_literals;

static void causes_of_an_error_are_borrowed_errors() {
    netlib::error first(status::connect_failed, "first");
    netlib::error second(status::protocol, "second", netlib::error_options().cause(first).http_status(503));
    EQUAL(second.http_status(), 503);
    std::string seen;
    for (netlib::borrowed<netlib::error> cause : second.causes()) seen += cause->message();
    EQUAL(seen, "first");
    netlib::borrowed<netlib::error> cause = second.cause(0);
    CHECK(cause);
    netlib::error copy = *cause;
    CHECK(copy.handle() == cause.handle());
    CHECK(!second.cause(1));
    cause = second.cause(1);
    CHECK(!cause);
    cause = copy.cause(0);
    EQUAL(std::string(netlib::error(nullptr).what()), "netlib::error without a handle");
}

static void a_range_of_a_borrowed_object_is_valid_after_the_borrowed_object_is_gone() {
    netlib::error first(status::io, "first");
    netlib::error second(status::protocol, "second", netlib::error_options().cause(first));
    netlib::error third(status::connect_failed, "third", netlib::error_options().cause(second));
    std::string seen;
    for (netlib::borrowed<netlib::error> cause : third.cause(0)->causes()) seen += cause->message();
    EQUAL(seen, "first");
}

static void the_history_of_a_retry_is_a_range_of_structs() {
    netlib::error refused(status::connect_failed, "refused");
    netlib::retry retry(netlib::retry_options()
                            .add_history("GET", "http://a/", {}, 503, nullptr)
                            .add_history("PUT", nullptr, refused, netlib::none, nullptr));
    std::string seen;
    for (const netlib::retry::history_item &item : retry.history()) {
        seen += std::string(item.method) + " " + (item.url ? std::string(item.url) : "-") + " " +
                std::to_string(item.status) + " " + (item.error ? std::string(item.error->message()) : "-") + "; ";
    }
    EQUAL(seen, "GET http://a/ 503 -; PUT - -2147483648 refused; ");
    EQUAL(retry.history()[1].method, "PUT");
    seen.clear();
    for (netlib::text method : retry.allowed_methods()) seen += std::string(method) + " ";
    EQUAL(seen, "DELETE GET HEAD OPTIONS PUT TRACE ");
    seen.clear();
    netlib::retry listed(netlib::retry_options().status_forcelist({502, 500}));
    for (std::int32_t code : listed.status_forcelist()) seen += std::to_string(code) + " ";
    EQUAL(seen, "500 502 ");
    std::vector<std::int32_t> codes = {429};
    netlib::retry of_vector(netlib::retry_options().status_forcelist(codes));
    EQUAL(of_vector.status_forcelist()[0], 429);
    seen.clear();
    for (const char *name : netlib::retry_default_remove_headers_on_redirect()) seen += name;
    EQUAL(seen, "Authorization");
}

static void attempts_of_a_connection_are_a_range_of_structs() {
    netlib::connect connect("127.0.0.1", 1, netlib::connect_options().timeout(5s));
    FAILS(connect.run(netlib::limit(10s)), status::connect_failed, "127.0.0.1 port 1");
    int count = 0;
    for (const auto &attempt : connect.attempts()) {
        ++count;
        EQUAL(attempt.address, "127.0.0.1");
        EQUAL(attempt.port, 1);
        EQUAL(attempt.status, status::connect_failed);
        EQUAL(attempt.errno_, ECONNREFUSED);
        CHECK(attempt.end >= attempt.start);
    }
    EQUAL(count, 1);
}

static void contexts_and_certificates_list_their_parts() {
    netlib::tls_context context(netlib::tls_options()
                                    .add_ca_file("tests/certs/ca.pem")
                                    .add_alpn_protocol("http/1.1")
                                    .minimum_version(netlib::tls_version::v1_3));
    EQUAL(context.minimum_version(), netlib::tls_version::v1_3);
    EQUAL(context.alpn_protocols()[0], "http/1.1");
    EQUAL(context.trust_anchors().size(), std::size_t{1});
    EQUAL(context.trust_sources()[0].name, "tests/certs/ca.pem");
    EQUAL(context.trust_sources()[0].anchor_count, std::size_t{1});
    EQUAL(context.cipher_suites()[0].cipher_suite.empty(), false);
    std::ifstream file("tests/certs/ca.pem");
    std::string pem((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    netlib::certificate authority = netlib::certificate::parse(pem);
    CHECK(authority.is_ca());
    netlib::certificate again = netlib::certificate::parse(authority.der());
    EQUAL(again.fingerprint(), authority.fingerprint());
    FAILS(netlib::tls_context(netlib::tls_options().add_ca_file("tests/certs/missing.pem")), status::io, "missing.pem");
    netlib::tls_options same = context.to_options();
    netlib::tls_context of_same(same);
    EQUAL(of_same.digest(), context.digest());
}

static void optional_arguments_accept_objects_and_borrowed_objects() {
    netlib::limit parent(30s);
    netlib::limit child(10s, parent), alone(10s), none(10s, nullptr);
    parent.cancel();
    FAILS(child.check(), status::cancelled, "");
    alone.check();
    none.check();
    netlib::error cause(status::protocol, "cause");
    netlib::error outer(status::protocol, "outer", netlib::error_options().cause(cause));
    netlib::error again(status::protocol, "again", netlib::error_options().cause(outer.cause(0)));
    EQUAL(again.cause(0)->message(), "cause");
}

static void durations_of_every_unit_are_seconds() {
    netlib::timeout timeout(1500ms, 1min, netlib::timeout_none());
    EQUAL(timeout.configured_total().count(), 1.5);
    EQUAL(timeout.configured_connect().count(), 60.0);
    CHECK(timeout.configured_read() == netlib::timeout_none());
    netlib::timeout copy = timeout.clone();
    EQUAL(copy.configured_total().count(), 1.5);
    EQUAL(netlib::default_timeout().count(), netlib::timeout_none().count());
    CHECK(netlib::limit(10s).remaining() <= 10s);
}

int main() {
    causes_of_an_error_are_borrowed_errors();
    a_range_of_a_borrowed_object_is_valid_after_the_borrowed_object_is_gone();
    the_history_of_a_retry_is_a_range_of_structs();
    attempts_of_a_connection_are_a_range_of_structs();
    contexts_and_certificates_list_their_parts();
    optional_arguments_accept_objects_and_borrowed_objects();
    durations_of_every_unit_are_seconds();
    return finish("test_ranges");
}
