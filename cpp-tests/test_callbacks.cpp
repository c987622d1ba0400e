/* Callable objects as callbacks: their types, their lifetime, and exceptions. */
#include "harness.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

using netlib::status;
using namespace std::chrono_literals;

static std::string message_of(const std::exception &exception) { return exception.what(); }

/** Returns the message of the exception that a call throws. */
template <class Call> static std::string thrown(Call call) {
    try {
        call();
    } catch (const std::runtime_error &error) {
        return "runtime_error " + message_of(error);
    } catch (const netlib::error &error) {
        return "netlib::error " + std::string(netlib::status_name(error.status()));
    }
    return "nothing";
}

static void a_callable_is_freed_with_its_last_holder() {
    auto token = std::make_shared<int>(0);
    std::weak_ptr<int> alive = token;
    netlib::retry_options options;
    options.random([token] { return 0.25; });
    token.reset();
    CHECK(!alive.expired());
    netlib::retry retry(options);
    options = netlib::retry_options();
    CHECK(!alive.expired());
    retry = netlib::retry(nullptr);
    CHECK(alive.expired());
}

static void a_callable_is_freed_if_the_call_fails() {
    auto token = std::make_shared<int>(0);
    FAILS(netlib::limit::new_interruptible(netlib::seconds(-5), {}, [token] { return netlib::interrupt::continue_; }),
          status::invalid_argument, "seconds");
    EQUAL(token.use_count(), 1L);
}

static void nullptr_removes_a_callback() {
    int calls = 0;
    netlib::retry_options options;
    options.backoff_factor(1s).backoff_jitter(1s).random([&calls] { return ++calls, 0.5; });
    options.add_history("GET", nullptr, {}, 503, nullptr).add_history("GET", nullptr, {}, 503, nullptr);
    EQUAL(netlib::retry(options).get_backoff_time().count(), 2.5);
    EQUAL(calls, 1);
    options.random(nullptr);
    netlib::retry(options).get_backoff_time();
    EQUAL(calls, 1);
}

static void seconds_and_outcomes_are_converted() {
    netlib::seconds slept = 0s;
    netlib::retry_options options = netlib::retry_options().backoff_factor(2s);
    options.sleep([&slept](netlib::seconds time) { return slept += time, netlib::outcome::done; });
    options.add_history("GET", nullptr, {}, 503, nullptr).add_history("GET", nullptr, {}, 503, nullptr);
    netlib::retry(options).sleep({});
    EQUAL(slept.count(), 4.0);
    netlib::timeout timeout(10s, netlib::timeout_none(), netlib::timeout_none());
    double now = 100;
    timeout.set_clock([&now] { return netlib::seconds(now); });
    timeout.start_connect();
    now = 103;
    EQUAL(timeout.get_connect_duration().count(), 3.0);
    EQUAL(timeout.read_timeout().count(), 7.0);
}

static void an_exception_of_a_callback_is_thrown_by_the_outer_call() {
    netlib::timeout timeout(10s, 10s, 10s);
    timeout.set_clock([]() -> netlib::seconds { throw std::runtime_error("no clock"); });
    EQUAL(thrown([&] { timeout.start_connect(); }), "runtime_error no clock");
    timeout.set_clock([] { return std::nan(""); });
    EQUAL(thrown([&] { timeout.start_connect(); }), "netlib::error NETLIB_CALLBACK_FAILED");
    timeout.set_clock([]() -> double { throw netlib::error(status::protocol, "of the callback"); });
    EQUAL(thrown([&] { timeout.start_connect(); }), "netlib::error NETLIB_PROTOCOL");
    /* Every kind of callback, by the calls that invoke it. */
    netlib::limit limit =
        netlib::limit::new_interruptible(30s, {}, []() -> netlib::interrupt { throw std::runtime_error("interrupt"); });
    netlib::retry_options options = netlib::retry_options().backoff_factor(1s);
    options.sleep([](netlib::seconds) -> netlib::outcome { throw std::runtime_error("sleep"); });
    options.add_history("GET", nullptr, {}, 503, nullptr).add_history("GET", nullptr, {}, 503, nullptr);
    EQUAL(thrown([&] { netlib::retry(options).sleep({}, limit); }), "runtime_error sleep");
    netlib::body body =
        netlib::body::make([](netlib::span<std::uint8_t>) -> std::size_t { throw std::runtime_error("read"); },
                           []() -> std::int64_t { throw std::runtime_error("tell"); },
                           [](std::int64_t) -> netlib::outcome { throw std::runtime_error("seek"); },
                           []() -> bool { throw std::runtime_error("is_closed"); });
    char buf[8];
    EQUAL(thrown([&] { (void)body.read(buf); }), "runtime_error read");
    EQUAL(thrown([&] { netlib::is_fp_closed(body); }), "runtime_error is_closed");
    EQUAL(thrown([&] { netlib::rewind_body(body, 3); }), "runtime_error seek");
    netlib::connect_options connect;
    connect.resolve_callback([](netlib::text, std::int32_t, netlib::seconds, netlib::addresses &) -> void {
        throw std::runtime_error("resolve");
    });
    EQUAL(thrown([&] { netlib::create_connection("a.test", 80, connect); }), "runtime_error resolve");
    connect = netlib::connect_options();
    connect.address_callback([](netlib::span<const std::uint8_t>, netlib::address_class) -> netlib::verdict {
        throw std::runtime_error("address");
    });
    EQUAL(thrown([&] { netlib::create_connection("127.0.0.1", 80, connect); }), "runtime_error address");
}

/* netlib records a position that could not be told, and the call succeeds. */
static void an_exception_is_thrown_even_if_the_outer_call_succeeds() {
    netlib::body body =
        netlib::body::make([](netlib::span<std::uint8_t>) { return 0; },
                           []() -> std::int64_t { throw std::runtime_error("tell"); }, nullptr, nullptr);
    EQUAL(thrown([&] { netlib::set_file_position(body, netlib::position_none); }), "runtime_error tell");
    char buf[1];
    EQUAL(thrown([&] { (void)body.read(buf); }), "nothing");
}

static void a_resolver_supplies_addresses_and_the_descriptor_is_closed() {
    netlib::descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    CHECK(::bind(listener, reinterpret_cast<sockaddr *>(&address), len) == 0 && ::listen(listener, 1) == 0);
    CHECK(::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &len) == 0);
    std::string seen;
    netlib::connect_options options;
    options.resolve_callback([&](netlib::text host, std::int32_t port, netlib::seconds left, netlib::addresses &list) {
        seen = std::string(host) + ":" + std::to_string(port) + (left.count() > 0 ? " later" : " now");
        list.add(netlib::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t *>(&address), sizeof address));
        EQUAL(list.count(), std::size_t{1});
    });
    int fd = -1;
    {
        netlib::descriptor connected = netlib::create_connection("a.test", ntohs(address.sin_port), options);
        fd = connected;
        CHECK(!netlib::is_connection_dropped(connected));
        netlib::descriptor moved = std::move(connected);
        EQUAL(connected.get(), -1);
        EQUAL(moved.get(), fd);
        CHECK(::fcntl(fd, F_GETFD) >= 0);
    }
    CHECK(::fcntl(fd, F_GETFD) == -1);
    EQUAL(seen, "a.test:" + std::to_string(ntohs(address.sin_port)) + " later");
    static_assert(!std::is_convertible_v<netlib::descriptor, int>, "a temporary descriptor would be closed at once");
    /* The descriptor of a limit belongs to the limit. */
    static_assert(std::is_same_v<decltype(std::declval<netlib::limit>().fd()), int>);
    options.resolve_callback([](netlib::text, std::int32_t, netlib::seconds, netlib::addresses &) {});
    FAILS(netlib::create_connection("a.test", 80, options), status::name_resolution, "a.test");
}

/** The bytes on their way in one direction. */
struct memory {
    std::string data;
    std::size_t read(netlib::span<std::uint8_t> buf) {
        std::size_t n = data.copy(reinterpret_cast<char *>(buf.data()), buf.size());
        data.erase(0, n);
        return n;
    }
};

static void a_stream_reads_and_writes_with_callables() {
    memory in, out;
    netlib::stream stream = netlib::stream::new_callbacks(
        [&](netlib::span<std::uint8_t> buf) -> netlib::progress<std::size_t> {
            if (in.data.empty()) return {status::want_read, 0};
            return {status::ok, in.read(buf)};
        },
        [&](netlib::span<const std::uint8_t> data) { return out.data += netlib::as_text(data), data.size(); });
    char buf[4];
    auto none = stream.read(buf);
    CHECK(!none);
    EQUAL(none.status, status::want_read);
    in.data = "hello";
    auto some = stream.read(buf);
    CHECK(some);
    EQUAL(*some, std::size_t{4});
    EQUAL(std::string_view(buf, *some), "hell");
    EQUAL(*stream.write("GET"), std::size_t{3});
    std::string tail = "/";
    EQUAL(*stream.writev({netlib::slice(" "), netlib::slice(tail)}), std::size_t{2});
    EQUAL(out.data, "GET /");
    in.data = "o";
    EQUAL(*stream.read(buf), std::size_t{1});
    in.data = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, then";
    netlib::response response = *stream.read_response("GET");
    EQUAL(response.status(), 200);
    netlib::body_decoder decoder(response);
    std::string body;
    netlib::status last = status::ok;
    while (last == status::ok) {
        auto piece = stream.read_body(decoder, buf);
        body.append(buf, *piece);
        last = piece.status;
    }
    EQUAL(body, "hi");
    EQUAL(last, status::end_of_stream);
    std::string rest(20, '-');
    EQUAL(*stream.read(rest), std::size_t{6});
    EQUAL(rest.substr(0, 6), ", then");
}

static void a_failing_transport_throws_its_own_exception() {
    netlib::stream stream = netlib::stream::new_callbacks(
        [](netlib::span<std::uint8_t>) -> std::size_t { throw std::runtime_error("transport"); },
        [](netlib::span<const std::uint8_t> data) { return data.size(); });
    char buf[4];
    EQUAL(thrown([&] { (void)stream.read(buf); }), "runtime_error transport");
    EQUAL(thrown([&] { (void)stream.write("x"); }), "nothing");
}

static void exceptions_of_nested_calls_reach_the_outermost_caller() {
    netlib::timeout inner(10s, 10s, 10s), outer(10s, 10s, 10s);
    inner.set_clock([]() -> double { throw std::runtime_error("inner"); });
    outer.set_clock([&]() -> double { return inner.start_connect(), 1.0; });
    EQUAL(thrown([&] { outer.start_connect(); }), "runtime_error inner");
    outer.set_clock([&]() -> double {
        EQUAL(thrown([&] { inner.start_connect(); }), "runtime_error inner");
        return 1.0;
    });
    EQUAL(thrown([&] { outer.start_connect(); }), "nothing");
}

int main() {
    a_callable_is_freed_with_its_last_holder();
    a_callable_is_freed_if_the_call_fails();
    nullptr_removes_a_callback();
    seconds_and_outcomes_are_converted();
    an_exception_of_a_callback_is_thrown_by_the_outer_call();
    an_exception_is_thrown_even_if_the_outer_call_succeeds();
    a_resolver_supplies_addresses_and_the_descriptor_is_closed();
    a_stream_reads_and_writes_with_callables();
    a_failing_transport_throws_its_own_exception();
    exceptions_of_nested_calls_reach_the_outermost_caller();
    return finish("test_callbacks");
}
