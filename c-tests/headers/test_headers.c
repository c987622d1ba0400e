/* Tests creating request headers, and the getters of a header list. */
#include "harness.h"

typedef netlib_headers_options options;

static netlib_headers *make(const options *o) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    CHECK_OK(netlib_make_headers(o, &headers, &err));
    return headers;
}

static void keep_alive(options *o) { netlib_headers_options_set_keep_alive(o, 1); }
static void no_keep_alive(options *o) { netlib_headers_options_set_keep_alive(o, 0); }
static void no_cache(options *o) { netlib_headers_options_set_disable_cache(o, 1); }
static void cache(options *o) { netlib_headers_options_set_disable_cache(o, 0); }
static void agent(options *o) { netlib_headers_options_set_user_agent(o, "Batman/1.0"); }
static void no_agent(options *o) { netlib_headers_options_set_user_agent(o, NULL); }
static void empty_agent(options *o) { netlib_headers_options_set_user_agent(o, ""); }
static void auth(options *o) { netlib_headers_options_set_basic_auth(o, "Aladdin:open sesame"); }
static void auth_utf8(options *o) { netlib_headers_options_set_basic_auth(o, "test:123\xc2\xa3"); }
static void auth_latin1(options *o) { netlib_headers_options_set_basic_auth(o, "test:123\xa3"); }
static void no_auth(options *o) { netlib_headers_options_set_basic_auth(o, NULL); }
static void proxy_auth(options *o) { netlib_headers_options_set_proxy_basic_auth(o, "a:b"); }
static void no_proxy_auth(options *o) { netlib_headers_options_set_proxy_basic_auth(o, ""); }
static void encoding_true(options *o) { netlib_headers_options_enable_accept_encoding(o, 1); }
static void encoding_false(options *o) {
    encoding_true(o);
    netlib_headers_options_enable_accept_encoding(o, 0);
}
static void encoding_supported(options *o) {
    netlib_headers_options_add_supported_coding(o, "br");
    encoding_true(o);
    netlib_headers_options_add_supported_coding(o, "zstd");
}
static void supported_only(options *o) { netlib_headers_options_add_supported_coding(o, "br"); }
static void encoding_text(options *o) { netlib_headers_options_set_accept_encoding(o, "identity;q=1, *;q=0"); }
static void encoding_none(options *o) { netlib_headers_options_set_accept_encoding(o, NULL); }
static void encoding_list(options *o) {
    netlib_headers_options_add_accept_encoding(o, "foo");
    netlib_headers_options_add_accept_encoding(o, "bar");
}
static void added(options *o) {
    netlib_headers_options_add_header(o, "X-A", "1");
    netlib_headers_options_add_header(o, "x-a", "");
}
static void everything(options *o) {
    added(o);
    no_cache(o);
    proxy_auth(o);
    auth(o);
    keep_alive(o);
    agent(o);
    encoding_true(o);
}
static void nothing(options *o) { (void)o; }

static const char EVERYTHING[] =
    "accept-encoding: gzip,deflate\r\nuser-agent: Batman/1.0\r\nconnection: keep-alive\r\n"
    "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\nproxy-authorization: Basic YTpi\r\n"
    "cache-control: no-cache\r\nX-A: 1\r\nx-a: \r\n";

static void each_headers_option_adds_its_headers(void) {
    static const struct {
        void (*choose)(options *);
        const char *wire;
    } rows[] = {
        {nothing, ""},
        {keep_alive, "connection: keep-alive\r\n"},
        {no_keep_alive, ""},
        {no_cache, "cache-control: no-cache\r\n"},
        {cache, ""},
        {agent, "user-agent: Batman/1.0\r\n"},
        {no_agent, ""},
        {empty_agent, ""},
        {auth, "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"},
        {auth_utf8, "authorization: Basic dGVzdDoxMjPCow==\r\n"},
        {auth_latin1, "authorization: Basic dGVzdDoxMjOj\r\n"},
        {no_auth, ""},
        {proxy_auth, "proxy-authorization: Basic YTpi\r\n"},
        {no_proxy_auth, ""},
        {encoding_true, "accept-encoding: gzip,deflate\r\n"},
        {encoding_false, ""},
        {encoding_supported, "accept-encoding: gzip,deflate,br,zstd\r\n"},
        {supported_only, ""},
        {encoding_text, "accept-encoding: identity;q=1, *;q=0\r\n"},
        {encoding_none, ""},
        {encoding_list, "accept-encoding: foo,bar\r\n"},
        {added, "X-A: 1\r\nx-a: \r\n"},
        {everything, EVERYTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        options *o = netlib_headers_options_new();
        rows[i].choose(o);
        netlib_headers *headers = make(o);
        size_t len = 0;
        CHECK_STR(rows[i].wire, netlib_headers_to_wire(headers, &len));
        CHECK_INT((long long)strlen(rows[i].wire), (long long)len);
        netlib_headers_free(headers);
        netlib_headers_options_free(o);
    }
    netlib_headers *none = make(NULL);
    CHECK_INT(0, (long long)netlib_headers_count(none));
    netlib_headers_free(none);
}

static void bad_truth(options *o) { netlib_headers_options_set_keep_alive(o, 2); }
static void bad_agent(options *o) { netlib_headers_options_set_user_agent(o, "a\r\nX-Injected: b"); }
static void bad_encoding(options *o) { netlib_headers_options_set_accept_encoding(o, "gzip\n"); }
static void bad_element(options *o) { netlib_headers_options_add_accept_encoding(o, "\r"); }
static void null_element(options *o) { netlib_headers_options_add_accept_encoding(o, NULL); }
static void bad_coding(options *o) { netlib_headers_options_add_supported_coding(o, "b r"); }
static void coding_not_utf8(options *o) { netlib_headers_options_add_supported_coding(o, "\xff"); }
static void bad_name(options *o) { netlib_headers_options_add_header(o, "Authorization: Basic c2VjcmV0", "x"); }
static void empty_name(options *o) { netlib_headers_options_add_header(o, "", "x"); }
static void bad_value(options *o) { netlib_headers_options_add_header(o, "Authorization", "secret\nX: y"); }
static void null_value(options *o) { netlib_headers_options_add_header(o, "X", NULL); }
static void first_counts(options *o) {
    bad_value(o);
    bad_truth(o);
}

static void make_headers_fails_with_an_error_about_the_first_invalid_option(void) {
    static const struct {
        void (*choose)(options *);
        netlib_status status;
        int64_t offset;
        const char *message;
    } rows[] = {
        {bad_truth, NETLIB_INVALID_ARGUMENT, -1,
         "netlib_headers_options_set_keep_alive: keep_alive must be 0 or 1; it is 2"},
        {bad_agent, NETLIB_INVALID_HEADER, 1,
         "netlib_headers_options_set_user_agent: header user-agent: CR is not allowed in the value at byte 1"},
        {bad_encoding, NETLIB_INVALID_HEADER, 4,
         "netlib_headers_options_set_accept_encoding: header accept-encoding: LF is not allowed in the value at "
         "byte 4"},
        {bad_element, NETLIB_INVALID_HEADER, 0,
         "netlib_headers_options_add_accept_encoding: header accept-encoding: CR is not allowed in the value at "
         "byte 0"},
        {null_element, NETLIB_NULL_ARGUMENT, -1, "netlib_headers_options_add_accept_encoding: coding must not be NULL"},
        {bad_coding, NETLIB_INVALID_HEADER, 1,
         "netlib_headers_options_add_supported_coding: coding \"b r\": a space is not allowed at byte 1"},
        {coding_not_utf8, NETLIB_INVALID_UTF8, 0,
         "netlib_headers_options_add_supported_coding: coding is not valid UTF-8 at byte 0"},
        {bad_name, NETLIB_INVALID_HEADER, 13,
         "netlib_headers_options_add_header: header name beginning \"Authorization\": \":\" is not allowed at byte 13"},
        {empty_name, NETLIB_INVALID_HEADER, 0, "netlib_headers_options_add_header: a header's name is empty"},
        {bad_value, NETLIB_INVALID_HEADER, 6,
         "netlib_headers_options_add_header: header Authorization: LF is not allowed in the value at byte 6"},
        {null_value, NETLIB_NULL_ARGUMENT, -1, "netlib_headers_options_add_header: value must not be NULL"},
        {first_counts, NETLIB_INVALID_HEADER, 6,
         "netlib_headers_options_add_header: header Authorization: LF is not allowed in the value at byte 6"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        options *o = netlib_headers_options_new();
        rows[i].choose(o);
        netlib_error *err = NULL;
        netlib_headers *headers = NULL;
        netlib_status status = netlib_make_headers(o, &headers, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_STATUS(rows[i].status, status);
        CHECK(headers == NULL);
        netlib_headers_options_free(o);
    }
}

static void getters_find_headers_by_index_and_name(void) {
    options *o = netlib_headers_options_new();
    everything(o);
    netlib_headers *headers = make(o);
    netlib_headers_options_free(o);
    size_t len = 99;
    CHECK_INT(8, (long long)netlib_headers_count(headers));
    CHECK_STR("X-A", netlib_headers_name(headers, 6, &len));
    CHECK_INT(3, (long long)len);
    CHECK_STR("1", netlib_headers_value(headers, 6, NULL));
    CHECK_STR("", netlib_headers_value(headers, 7, &len));
    CHECK_INT(0, (long long)len);
    CHECK_STR(NULL, netlib_headers_name(headers, 8, NULL));
    len = 99;
    CHECK_STR(NULL, netlib_headers_value(headers, SIZE_MAX, &len));
    CHECK_INT(0, (long long)len);
    CHECK_STR("1", netlib_headers_get(headers, "x-A", &len));
    CHECK_INT(1, (long long)len);
    CHECK_STR(NULL, netlib_headers_get(headers, "x", NULL));
    CHECK_STR(NULL, netlib_headers_get(headers, NULL, NULL));
    CHECK_STR(NULL, netlib_headers_get(headers, "\xff", NULL));
    CHECK_INT(2, (long long)netlib_headers_get_count(headers, "X-a"));
    CHECK_INT(0, (long long)netlib_headers_get_count(headers, ""));
    CHECK_INT(0, (long long)netlib_headers_get_count(headers, NULL));
    CHECK_STR("1", netlib_headers_get_at(headers, "X-A", 0, NULL));
    CHECK_STR("", netlib_headers_get_at(headers, "X-A", 1, &len));
    CHECK_STR(NULL, netlib_headers_get_at(headers, "X-A", 2, NULL));
    CHECK(netlib_headers_to_wire(headers, NULL) == netlib_headers_to_wire(headers, NULL));

    netlib_headers *other = netlib_headers_clone(headers);
    netlib_headers_free(headers);
    CHECK_STR(EVERYTHING, netlib_headers_to_wire(other, NULL));
    netlib_headers_free(other);
}

static void headers_are_the_same_after_conversion_to_options_and_back(void) {
    options *o = netlib_headers_options_new();
    everything(o);
    netlib_headers *headers = make(o);
    netlib_headers_options_free(o);

    options *again = netlib_headers_to_options(headers);
    netlib_headers_free(headers);
    netlib_headers *same = make(again);
    CHECK_STR(EVERYTHING, netlib_headers_to_wire(same, NULL));
    netlib_headers_free(same);

    netlib_headers_options_set_user_agent(again, "Robin/1.0");
    netlib_headers_options_set_keep_alive(again, 0);
    netlib_headers_options_set_basic_auth(again, NULL);
    netlib_headers_options_set_proxy_basic_auth(again, NULL);
    netlib_headers *varied = make(again);
    CHECK_STR(
        "accept-encoding: gzip,deflate\r\nuser-agent: Robin/1.0\r\ncache-control: no-cache\r\nX-A: 1\r\nx-a: \r\n",
        netlib_headers_to_wire(varied, NULL));
    netlib_headers_free(varied);
    netlib_headers_options_free(again);
}

static void a_list_of_fields_becomes_headers_in_the_same_order(void) {
    const netlib_header_field fields[] = {{"X-A", "1"}, {"x-a", ""}, {"accept", "\tb\xff"}};
    static const char *const wires[] = {"", "X-A: 1\r\n", "X-A: 1\r\nx-a: \r\n",
                                        "X-A: 1\r\nx-a: \r\naccept: \tb\xff\r\n"};
    for (size_t count = 0; count < sizeof wires / sizeof wires[0]; count++) {
        netlib_error *err = NULL;
        netlib_headers *headers = NULL;
        CHECK_OK(netlib_headers_new(count == 0 ? NULL : fields, count, &headers, &err));
        CHECK_INT((long long)count, (long long)netlib_headers_count(headers));
        CHECK_STR(wires[count], netlib_headers_to_wire(headers, NULL));
        netlib_headers_free(headers);
    }
}

static void invalid_fields_are_refused_with_their_index_and_the_byte_offset(void) {
    static const struct {
        netlib_header_field field; /* the second of three fields */
        netlib_status status;
        int64_t offset;
        const char *message;
    } rows[] = {
        {{NULL, "v"}, NETLIB_NULL_ARGUMENT, -1, "fields[1]: name must not be NULL"},
        {{"n", NULL}, NETLIB_NULL_ARGUMENT, -1, "fields[1]: value must not be NULL"},
        {{"", "v"}, NETLIB_INVALID_HEADER, 0, "fields[1]: a header's name is empty"},
        {{"n:", "v"},
         NETLIB_INVALID_HEADER,
         1,
         "fields[1]: header name beginning \"n\": \":\" is not allowed at byte 1"},
        {{"n", "secret\r\nX: y"},
         NETLIB_INVALID_HEADER,
         6,
         "fields[1]: header n: CR is not allowed in the value at byte 6"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        const netlib_header_field fields[] = {{"a", "b"}, rows[i].field, {NULL, NULL}};
        netlib_headers *headers = (netlib_headers *)(uintptr_t)fields;
        netlib_status status = netlib_headers_new(fields, 3, &headers, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_STATUS(rows[i].status, status);
        CHECK(headers == NULL);
    }
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_headers_new(NULL, 1, &headers, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_headers_new(&(netlib_header_field){"a", "b"}, SIZE_MAX, &headers, &err));
}

static void a_copy_has_one_field_with_the_given_name(void) {
    static const struct {
        const char *name, *value;
        const char *wire;  /* of the changed list, after x: 1, Y: 2, X: 3, z: 4 */
        const char *added; /* of a changed empty list */
    } rows[] = {
        {"x", "5", "x: 5\r\nY: 2\r\nz: 4\r\n", "x: 5\r\n"},
        {"X", "", "X: \r\nY: 2\r\nz: 4\r\n", "X: \r\n"},
        {"y", "\xff", "x: 1\r\ny: \xff\r\nX: 3\r\nz: 4\r\n", "y: \xff\r\n"},
        {"new", "5", "x: 1\r\nY: 2\r\nX: 3\r\nz: 4\r\nnew: 5\r\n", "new: 5\r\n"},
        {"X", NULL, "Y: 2\r\nz: 4\r\n", ""},
        {"new", NULL, "x: 1\r\nY: 2\r\nX: 3\r\nz: 4\r\n", ""},
    };
    const netlib_header_field fields[] = {{"x", "1"}, {"Y", "2"}, {"X", "3"}, {"z", "4"}};
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    CHECK_OK(netlib_headers_new(fields, 4, &headers, &err));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_headers *changed = NULL, *added = NULL;
        CHECK_OK(netlib_headers_with(headers, rows[i].name, rows[i].value, &changed, &err));
        CHECK_STR(rows[i].wire, netlib_headers_to_wire(changed, NULL));
        CHECK_OK(netlib_headers_with(NULL, rows[i].name, rows[i].value, &added, &err));
        CHECK_STR(rows[i].added, netlib_headers_to_wire(added, NULL));
        netlib_headers_free(changed);
        netlib_headers_free(added);
    }
    CHECK_STR("x: 1\r\nY: 2\r\nX: 3\r\nz: 4\r\n", netlib_headers_to_wire(headers, NULL));
    netlib_headers *changed = headers;
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_headers_with(headers, "x", "5\r", &changed, &err));
    CHECK(changed == NULL);
    CHECK_STATUS(NETLIB_INVALID_HEADER, netlib_headers_with(headers, "x:", NULL, &changed, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_headers_with(headers, NULL, "5", &changed, &err));
    netlib_headers_free(headers);
}

static void functions_on_null_headers_return_an_empty_value_or_null_argument(void) {
    size_t len = 99;
    netlib_error *err = NULL;
    CHECK_INT(0, (long long)netlib_headers_count(NULL));
    CHECK_STR(NULL, netlib_headers_to_wire(NULL, &len));
    CHECK_INT(0, (long long)len);
    CHECK(netlib_headers_clone(NULL) == NULL);
    CHECK(netlib_headers_to_options(NULL) == NULL);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_make_headers(NULL, NULL, &err));
    everything(NULL);
    netlib_headers_free(NULL);
    netlib_headers_options_free(NULL);
}

int main(void) {
    each_headers_option_adds_its_headers();
    make_headers_fails_with_an_error_about_the_first_invalid_option();
    getters_find_headers_by_index_and_name();
    headers_are_the_same_after_conversion_to_options_and_back();
    a_list_of_fields_becomes_headers_in_the_same_order();
    invalid_fields_are_refused_with_their_index_and_the_byte_offset();
    a_copy_has_one_field_with_the_given_name();
    functions_on_null_headers_return_an_empty_value_or_null_argument();
    return report("headers");
}
