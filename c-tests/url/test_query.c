/* Tests queries: parsing, changing and serialising. */
#include "harness.h"

static netlib_query *parse(const char *text, enum netlib_query_format format) {
    netlib_error *err = NULL;
    netlib_query *query = NULL;
    CHECK_OK(netlib_query_parse(text, NETLIB_NTS, format, &query, &err));
    return query;
}

static void query_text_is_parsed_into_pairs_and_serialised_again(void) {
    static const struct {
        enum netlib_query_format format;
        const char *text;
        size_t count;
        const char *name, *value; /* of the last pair */
        const char *again;
    } rows[] = {
        {NETLIB_QUERY_FORMAT_FORM, NULL, 0, NULL, NULL, ""},
        {NETLIB_QUERY_FORMAT_FORM, "", 0, NULL, NULL, ""},
        {NETLIB_QUERY_FORMAT_FORM, "&&", 0, NULL, NULL, ""},
        {NETLIB_QUERY_FORMAT_FORM, "a=1&b=2", 2, "b", "2", "a=1&b=2"},
        {NETLIB_QUERY_FORMAT_FORM, "wsdl", 1, "wsdl", NULL, "wsdl"},
        {NETLIB_QUERY_FORMAT_FORM, "a=", 1, "a", "", "a="},
        {NETLIB_QUERY_FORMAT_FORM, "=", 1, "", "", "="},
        {NETLIB_QUERY_FORMAT_FORM, "a=b=c", 1, "a", "b=c", "a=b%3Dc"},
        {NETLIB_QUERY_FORMAT_FORM, "q=a+b%2Bc", 1, "q", "a b+c", "q=a+b%2Bc"},
        {NETLIB_QUERY_FORMAT_RFC3986, "q=a+b%2Bc%20d", 1, "q", "a+b+c d", "q=a%2Bb%2Bc%20d"},
        {NETLIB_QUERY_FORMAT_RFC3986, "a;b=%e9~*", 1, "a;b", "\xe9~*", "a%3Bb=%E9~%2A"},
        {NETLIB_QUERY_FORMAT_FORM, "a;b=%e9~*", 1, "a;b", "\xe9~*", "a%3Bb=%E9%7E*"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_query *query = parse(rows[i].text, rows[i].format);
        size_t len = 99;
        CHECK_INT((long long)rows[i].count, (long long)netlib_query_count(query));
        CHECK_STR(rows[i].name, netlib_query_name(query, rows[i].count - 1, NULL));
        CHECK_STR(rows[i].value, netlib_query_value(query, rows[i].count - 1, NULL));
        CHECK_STR(rows[i].again, netlib_query_to_string(query, &len));
        CHECK_INT((long long)strlen(rows[i].again), (long long)len);
        netlib_query_free(query);
    }
}

static void invalid_query_text_is_refused_with_an_offset(void) {
    static const struct {
        const char *text;
        int64_t offset;
    } rows[] = {{"%", 0}, {"a=1&b=%4", 6}, {"&&%zz=1", 2}, {"a=%41%", 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_query *query = NULL;
        netlib_status status = netlib_query_parse(rows[i].text, NETLIB_NTS, NETLIB_QUERY_FORMAT_FORM, &query, &err);
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_STATUS(NETLIB_INVALID_URL, status);
        CHECK(query == NULL);
    }
    netlib_error *err = NULL;
    netlib_query *query = NULL;
    netlib_status status = netlib_query_parse("a", 1, 2, &query, &err);
    CHECK_STR("format must be a netlib_query_format; it is 2", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
}

static void pairs_are_appended_replaced_and_removed(void) {
    netlib_error *err = NULL;
    netlib_query *query = parse("a=1&b=2&a=3&c", NETLIB_QUERY_FORMAT_FORM);
    CHECK_OK(netlib_query_set(query, "a", NETLIB_NTS, "x y", NETLIB_NTS, &err));
    CHECK_STR("a=x+y&b=2&c", netlib_query_to_string(query, NULL));
    CHECK_OK(netlib_query_append(query, "d\0e", 3, "&=#", 3, &err));
    CHECK_OK(netlib_query_append(query, "b", 1, NULL, 0, &err));
    CHECK_STR("a=x+y&b=2&c&d%00e=%26%3D%23&b", netlib_query_to_string(query, NULL));
    CHECK_OK(netlib_query_set(query, "c", 1, "", 0, &err));
    CHECK_OK(netlib_query_set(query, "f", 1, NULL, NETLIB_NTS, &err));
    CHECK_STR("a=x+y&b=2&c=&d%00e=%26%3D%23&b&f", netlib_query_to_string(query, NULL));
    CHECK_INT(1, (long long)netlib_query_find(query, "b", 1, 0));
    CHECK_INT(4, (long long)netlib_query_find(query, "b", 1, 2));
    CHECK_INT(6, (long long)netlib_query_find(query, "b", 1, 5));
    CHECK_INT(6, (long long)netlib_query_find(query, "B", 1, 0));
    CHECK_INT(3, (long long)netlib_query_find(query, "d\0e", 3, 0));
    CHECK_INT(6, (long long)netlib_query_find(query, "a", 1, (size_t)-1));
    CHECK(netlib_query_value(query, netlib_query_find(query, "x", 1, 0), NULL) == NULL);
    CHECK_INT(6, (long long)netlib_query_find(query, NULL, 0, 0));
    CHECK_INT(6, (long long)netlib_query_find(query, NULL, 3, 0));
    CHECK_INT(2, (long long)netlib_query_remove(query, "b", 1));
    CHECK_INT(0, (long long)netlib_query_remove(query, "absent", NETLIB_NTS));
    CHECK_STR("a=x+y&c=&d%00e=%26%3D%23&f", netlib_query_to_string(query, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_query_append(query, "", 0, NULL, 0, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_query_set(query, NULL, 0, NULL, 0, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_query_append(query, NULL, 1, "v", 1, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_query_append(query, "n", 1, NULL, 1, &err));
    CHECK_INT(4, (long long)netlib_query_count(query));
    netlib_query_free(query);
}

/* The arguments point to text of the query that the calls change. */
static void query_calls_accept_names_and_values_of_the_query_that_they_change(void) {
    netlib_error *err = NULL;
    size_t len = 0;
    netlib_query *query = parse("a=1&b=2&a=3", NETLIB_QUERY_FORMAT_FORM);
    const char *b = netlib_query_name(query, 1, NULL);
    for (int i = 0; i < 100; i++) {
        CHECK_OK(netlib_query_append(query, b, 1, netlib_query_value(query, 0, NULL), NETLIB_NTS, &err));
    }
    CHECK_STR("b", b);
    const char *a = netlib_query_name(query, 2, &len);
    CHECK_OK(netlib_query_set(query, a, len, netlib_query_value(query, 2, NULL), NETLIB_NTS, &err));
    CHECK_STR("3", netlib_query_value(query, 0, NULL));
    CHECK_INT(102, (long long)netlib_query_count(query));
    CHECK_INT(101, (long long)netlib_query_remove(query, netlib_query_name(query, 1, NULL), 1));
    CHECK_STR("a=3", netlib_query_to_string(query, NULL));
    netlib_query_free(query);
}

static void a_query_refuses_more_than_65536_pairs(void) {
    netlib_error *err = NULL;
    netlib_query *query = parse(NULL, NETLIB_QUERY_FORMAT_FORM);
    for (int i = 0; i < NETLIB_QUERY_MAX_PAIRS; i++) {
        if (netlib_query_append(query, "a", 1, NULL, 0, NULL) != NETLIB_OK) CHECK(false);
    }
    netlib_status status = netlib_query_append(query, "a", 1, NULL, 0, &err);
    CHECK_STR("the query has more than 65536 pairs", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_URL, status);
    CHECK_INT(NETLIB_QUERY_MAX_PAIRS, (long long)netlib_query_count(query));
    netlib_query_free(query);
}

static void functions_on_a_null_query_return_null_or_zero(void) {
    size_t len = 99;
    CHECK_INT(0, (long long)netlib_query_count(NULL));
    CHECK_INT(0, (long long)netlib_query_find(NULL, "a", 1, 0));
    CHECK_INT(0, (long long)netlib_query_remove(NULL, "a", 1));
    CHECK(netlib_query_name(NULL, 0, &len) == NULL && len == 0);
    CHECK(netlib_query_value(NULL, 0, &len) == NULL && len == 0);
    CHECK(netlib_query_to_string(NULL, &len) == NULL && len == 0);
    netlib_query_free(NULL);
}

int main(void) {
    query_text_is_parsed_into_pairs_and_serialised_again();
    invalid_query_text_is_refused_with_an_offset();
    pairs_are_appended_replaced_and_removed();
    query_calls_accept_names_and_values_of_the_query_that_they_change();
    a_query_refuses_more_than_65536_pairs();
    functions_on_a_null_query_return_null_or_zero();
    return report("query");
}
