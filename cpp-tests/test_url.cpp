/* Text, absent values, options, errors and copies of URLs. */
#include "harness.hpp"

using netlib::status;

static void text_is_a_view_that_ends_with_nul() {
    netlib::url url = netlib::parse_url("https://user:pass@EXAMPLE.com:8443/a%20b?c=d");
    EQUAL(url.scheme(), "https");
    EQUAL(url.host(), "example.com");
    EQUAL(std::string(url.host().c_str()), "example.com");
    EQUAL(url.host().size(), std::size_t{11});
    EQUAL(url.port(), 8443);
    EQUAL(url.username(), "user");
    EQUAL(url.to_string(), "https://user:pass@example.com:8443/a%20b?c=d");
    CHECK(url.query());
    CHECK(!url.fragment());
    CHECK(url.fragment().c_str() == nullptr);
    netlib::url empty = netlib::parse_url("http://a/?#");
    CHECK(empty.query());
    CHECK(empty.query().empty());
}

static void text_arguments_take_every_kind_of_text() {
    std::string_view view = std::string_view("example.com.evil", 11);
    std::string string = "example.com";
    netlib::url parsed = netlib::parse_url(string);
    for (const netlib::c_text &host :
         {netlib::c_text("example.com"), netlib::c_text(view), netlib::c_text(string), netlib::c_text(parsed.host())}) {
        netlib::url url("https", nullptr, host, -1, "/", nullptr, nullptr);
        EQUAL(url.to_string(), "https://example.com/");
    }
    CHECK(netlib::c_text().c_str() == nullptr);
    CHECK(netlib::c_text(std::string_view()).c_str() == nullptr);
    EQUAL(std::string(netlib::c_text(std::string_view("")).c_str()), "");
}

/* C would read the text only up to the NUL. */
static void text_with_a_nul_inside_is_refused() {
    std::string host("example.com\0.evil", 17);
    std::string_view part = "a text argument contains a NUL at byte 11";
    FAILS(netlib::url("https", nullptr, host, -1, "/", nullptr, nullptr), status::invalid_argument, part);
    FAILS(netlib::url_options().host(std::string_view(host)), status::invalid_argument, part);
    FAILS(netlib::retry_options().allowed_methods({"GET", host}), status::invalid_argument, part);
    FAILS(netlib::headers_options().basic_auth(host), status::invalid_argument, part);
    FAILS(netlib::no_proxy_match(host, netlib::parse_url("http://a/")), status::invalid_argument, part);
    netlib::query query = netlib::query::parse("a=%00", netlib::query_format::form);
    FAILS(netlib::tls_options().add_ca_file(query.value(0)), status::invalid_argument, "a NUL at byte 0");
    /* The length of a URL is passed to C, which reports the NUL. */
    FAILS(netlib::parse_url_strict(std::string_view("http://a\0b/", 11)), status::invalid_url, "byte 8");
}

static void options_are_chained_and_copied() {
    netlib::url_options first = netlib::url_options().scheme("https").host("a.example").path("/x");
    netlib::url_options second = first;
    second.host("b.example").port(81);
    netlib::url of_first = netlib::url::from_options(first), of_second = netlib::url::from_options(second);
    EQUAL(of_first.to_string(), "https://a.example/x");
    EQUAL(of_second.to_string(), "https://b.example:81/x");
    netlib::url with_query = netlib::url::from_options(of_first.to_options().query("q"));
    EQUAL(with_query.to_string(), "https://a.example/x?q");
}

static void a_failed_call_throws_an_error_with_the_facts() {
    try {
        netlib::parse_url("http://[");
        CHECK(false);
    } catch (const std::exception &exception) {
        auto &error = dynamic_cast<const netlib::error &>(exception);
        EQUAL(error.status(), status::invalid_url);
        EQUAL(std::string_view(error.what()), error.message());
        EQUAL(error.message(), "the host's bracket is not closed, at byte 7");
        EQUAL(error.offset(), 7);
        netlib::error copy = error;
        CHECK(copy.handle() == error.handle());
    }
}

static void handles_are_moved_copied_and_released() {
    netlib::url url = netlib::parse_url("http://a/");
    netlib::url copy = url;
    CHECK(copy.handle() == url.handle());
    netlib::url moved = std::move(copy);
    CHECK(!copy);
    CHECK(moved);
    EQUAL(copy.host().data(), static_cast<const char *>(nullptr));
    copy = moved;
    EQUAL(copy.host(), "a");
    netlib_url *raw = moved.release();
    CHECK(!moved);
    netlib::url adopted(raw);
    EQUAL(adopted.host(), "a");
    netlib::url empty(nullptr);
    CHECK(!empty);
    static_assert(!std::is_copy_constructible_v<netlib::stream>);
    static_assert(!std::is_copy_constructible_v<netlib::timeout>);
    static_assert(std::is_copy_constructible_v<netlib::tls_options>);
    static_assert(std::is_nothrow_move_constructible_v<netlib::stream>);
    static_assert(sizeof(netlib::url) == sizeof(void *));
}

static void queries_and_headers_are_ranges() {
    netlib::query query = netlib::query::parse("a=1&b&c=", netlib::query_format::form);
    std::string seen;
    for (auto [name, value] : query) seen += std::string(name) + (value ? "=" : "!") + std::string(value) + ";";
    EQUAL(seen, "a=1;b!;c=;");
    EQUAL(query.items().size(), std::size_t{3});
    query.append("d e", std::string_view());
    EQUAL(query.to_string(), "a=1&b&c=&d+e");
    netlib::headers headers = netlib::make_headers(netlib::headers_options().add_header("A", "1").add_header("b", "2"));
    seen.clear();
    for (const netlib::headers::item &item : headers)
        seen += std::string(item.name) + ":" + std::string(item.value) + ";";
    EQUAL(seen, "A:1;b:2;");
    EQUAL(headers.get("B"), "2");
}

static void bytes_are_spans_of_any_container() {
    std::string string = "a/b";
    std::vector<char> chars(string.begin(), string.end());
    std::uint8_t array[] = {'a', '/', 'b'};
    for (netlib::span<const std::uint8_t> data :
         {netlib::span<const std::uint8_t>(string), netlib::span<const std::uint8_t>(chars),
          netlib::span<const std::uint8_t>(array), netlib::span<const std::uint8_t>("a/b"),
          netlib::span<const std::uint8_t>(std::string_view("a/b"))}) {
        netlib::bytes encoded = netlib::percent_encode(netlib::url_component::path_segment, data);
        EQUAL(encoded.data(), "a%2Fb");
    }
    EQUAL(netlib::as_text(netlib::span<const std::uint8_t>(array).subspan(1)), "/b");
    EQUAL(netlib::as_text(netlib::span<const std::uint8_t>(array).subspan(4)), "");
    char buf[8];
    EQUAL(netlib::span<std::uint8_t>(buf).size(), std::size_t{8});
    static_assert(!std::is_constructible_v<netlib::span<std::uint8_t>, const std::string &>);
    static_assert(!std::is_constructible_v<netlib::span<const std::uint8_t>, const std::vector<int> &>);
}

/* Only a NUL at the end is the end of a literal. */
static void a_span_of_a_const_char_array_ends_at_the_bound_of_the_array() {
    static const char tag[4] = {'a', 'b', 'c', 'd'};
    static const char with_nul[4] = {'a', '\0', 'b', 'c'};
    static const char padded[6] = "ab";
    const char *pointer = "ab";
    using bytes = netlib::span<const std::uint8_t>;
    const struct {
        bytes got;
        std::string_view expected;
    } rows[] = {
        {tag, "abcd"},
        {with_nul, {"a\0bc", 4}},
        {padded, {"ab\0\0\0", 5}},
        {"a\0b", {"a\0b", 3}},
        {"ab\0", {"ab\0", 3}},
        {"ab", "ab"},
        {"", ""},
        {pointer, "ab"},
    };
    for (const auto &row : rows) EQUAL(netlib::as_text(row.got), row.expected);
    netlib::bytes of_tag = netlib::percent_encode(netlib::url_component::path_segment, tag);
    EQUAL(of_tag.data(), "abcd");
    netlib::bytes of_nul = netlib::percent_encode(netlib::url_component::path_segment, with_nul);
    EQUAL(of_nul.data(), "a%00bc");
}

static void bits_are_joined() {
    netlib::address_class classes = netlib::classify_address_text("127.0.0.1");
    EQUAL(classes, netlib::address_class::loopback);
    EQUAL(netlib::url_compare_readers("http://a:80x@b/")
              .differences(netlib::url_reader::rfc3986, netlib::url_reader::netlib),
          netlib::url_difference{});
    CHECK((netlib::address_class::loopback | netlib::address_class::private_) ==
          static_cast<netlib::address_class>(2 | 16));
}

/* Defines NAME<T>: true if the expression compiles for an `object` of type T. */
#define COMPILES(name, expression) \
    template <class T, class = void> constexpr bool name = false; \
    template <class T> constexpr bool name<T, std::void_t<decltype(expression)>> = true
#define object std::declval<T>()

COMPILES(has_text, object.host());
COMPILES(has_text_that_may_fail, object.username());
COMPILES(has_number, object.port());
COMPILES(has_owned_result, object.to_options());
COMPILES(has_span, object.der());
COMPILES(has_range, object.causes());
COMPILES(has_borrowed, object.cause(0));
COMPILES(has_begin, object.begin());

static void only_objects_with_a_name_lend_their_memory() {
    using netlib::certificate, netlib::error, netlib::headers, netlib::query, netlib::url;
    static_assert(has_text<url &> && has_text<const url &> && !has_text<url> && !has_text<const url>);
    static_assert(has_text_that_may_fail<url &> && !has_text_that_may_fail<url>);
    static_assert(has_span<certificate &> && !has_span<certificate>);
    static_assert(has_range<error &> && has_range<const error &> && !has_range<error> && !has_range<const error>);
    static_assert(has_borrowed<error &> && !has_borrowed<error>);
    static_assert(has_begin<query &> && !has_begin<query> && has_begin<headers &> && !has_begin<headers>);
    static_assert(has_number<url> && has_owned_result<url>);
    /* Range-for keeps a temporary object until the loop ends. */
    std::string seen;
    for (auto [name, value] : netlib::query::parse("a=1", netlib::query_format::form)) seen += name, seen += value;
    EQUAL(seen, "a1");
}

int main() {
    text_is_a_view_that_ends_with_nul();
    text_arguments_take_every_kind_of_text();
    text_with_a_nul_inside_is_refused();
    options_are_chained_and_copied();
    a_failed_call_throws_an_error_with_the_facts();
    handles_are_moved_copied_and_released();
    queries_and_headers_are_ranges();
    bytes_are_spans_of_any_container();
    a_span_of_a_const_char_array_ends_at_the_bound_of_the_array();
    bits_are_joined();
    only_objects_with_a_name_lend_their_memory();
    return finish("test_url");
}
