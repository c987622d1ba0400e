/* Tests percent-encoding and decoding. */
#include "harness.h"

/* Encodes data, compares the text, and decodes the text again. */
static void check_encoding(enum netlib_url_component component, const char *data, size_t data_len, const char *text) {
    netlib_error *err = NULL;
    netlib_bytes *encoded = NULL, *decoded = NULL;
    size_t len = 0;
    CHECK_OK(netlib_percent_encode(component, data, data_len, &encoded, &err));
    CHECK_STR(text, netlib_bytes_data(encoded, &len));
    CHECK_INT((long long)strlen(text), (long long)len);
    CHECK_OK(netlib_percent_decode(component, netlib_bytes_data(encoded, NULL), NETLIB_NTS, &decoded, &err));
    const char *again = netlib_bytes_data(decoded, &len);
    CHECK(again != NULL && len == data_len && memcmp(again, data, len) == 0 && again[len] == 0);
    netlib_bytes_free(encoded);
    netlib_bytes_free(decoded);
}

#define TEXT(text) (text), sizeof(text) - 1

static void data_is_encoded_for_each_component_and_decoded_again(void) {
    check_encoding(NETLIB_URL_COMPONENT_USERINFO_PART, TEXT("p:@/?#%"), "p%3A%40%2F%3F%23%25");
    check_encoding(NETLIB_URL_COMPONENT_PATH_SEGMENT, TEXT("a/b\\..\0\xff~"), "a%2Fb%5C..%00%FF~");
    check_encoding(NETLIB_URL_COMPONENT_PATH, TEXT("/a b/%41?"), "/a%20b/%2541%3F");
    check_encoding(NETLIB_URL_COMPONENT_QUERY_PART, TEXT("a b+c&d=e~*"), "a%20b%2Bc%26d%3De~%2A");
    check_encoding(NETLIB_URL_COMPONENT_FORM_PART, TEXT("a b+c&d=e~*"), "a+b%2Bc%26d%3De%7E*");
    check_encoding(NETLIB_URL_COMPONENT_QUERY, TEXT("a=b c&d=/?#"), "a=b%20c&d=/?%23");
    check_encoding(NETLIB_URL_COMPONENT_FRAGMENT, TEXT("a#\"b"), "a%23%22b");
    check_encoding(NETLIB_URL_COMPONENT_QUERY_PART, TEXT("\r\n\x7f"), "%0D%0A%7F");
    check_encoding(NETLIB_URL_COMPONENT_PATH, TEXT(""), "");
}

static void text_with_a_stray_percent_sign_is_refused_with_its_offset(void) {
    static const struct {
        const char *text;
        int64_t offset;
    } rows[] = {{"%", 0}, {"a%", 1}, {"a%4", 1}, {"%41%4g", 3}, {"%%41", 0}, {"% 1", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_bytes *data = NULL;
        netlib_status status =
            netlib_percent_decode(NETLIB_URL_COMPONENT_PATH_SEGMENT, rows[i].text, NETLIB_NTS, &data, &err);
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        CHECK_STATUS(NETLIB_INVALID_URL, status);
        CHECK(data == NULL);
    }
}

static void dot_segments_and_unknown_components_are_refused(void) {
    netlib_error *err = NULL;
    netlib_bytes *bytes = NULL;
    CHECK_STATUS(NETLIB_INVALID_URL,
                 netlib_percent_encode(NETLIB_URL_COMPONENT_PATH_SEGMENT, "..", NETLIB_NTS, &bytes, &err));
    CHECK_STATUS(NETLIB_INVALID_URL, netlib_percent_encode(NETLIB_URL_COMPONENT_PATH_SEGMENT, ".", 1, &bytes, &err));
    CHECK(bytes == NULL);
    CHECK_OK(netlib_percent_encode(NETLIB_URL_COMPONENT_PATH, "..", 2, &bytes, &err));
    CHECK_STR("..", netlib_bytes_data(bytes, NULL));
    netlib_bytes_free(bytes);

    netlib_status status = netlib_percent_encode(7, "a", 1, &bytes, &err);
    CHECK_STR("component must be a netlib_url_component; it is 7", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_percent_decode(-1, "a", 1, &bytes, &err));
}

static void percent_encode_and_decode_refuse_data_longer_than_16_mib(void) {
    netlib_error *err = NULL;
    netlib_bytes *bytes = NULL;
    size_t len = 0;
    char *data = calloc(1, NETLIB_URL_MAX + 1);
    if (data == NULL) abort();
    CHECK_STATUS(NETLIB_INVALID_URL,
                 netlib_percent_encode(NETLIB_URL_COMPONENT_PATH, data, NETLIB_URL_MAX + 1, &bytes, &err));
    CHECK_STATUS(NETLIB_INVALID_URL,
                 netlib_percent_decode(NETLIB_URL_COMPONENT_PATH, data, NETLIB_URL_MAX + 1, &bytes, &err));
    CHECK_OK(netlib_percent_encode(NETLIB_URL_COMPONENT_PATH, data, NETLIB_URL_MAX, &bytes, &err));
    (void)netlib_bytes_data(bytes, &len);
    CHECK_INT(3LL * NETLIB_URL_MAX, (long long)len);
    netlib_bytes_free(bytes);
    free(data);
}

static void cloned_bytes_stay_valid_when_the_original_is_freed(void) {
    netlib_error *err = NULL;
    netlib_bytes *bytes = NULL;
    size_t len = 99;
    CHECK_OK(netlib_percent_decode(NETLIB_URL_COMPONENT_FORM_PART, "a%00+b", NETLIB_NTS, &bytes, &err));
    netlib_bytes *other = netlib_bytes_clone(bytes);
    netlib_bytes_free(bytes);
    const char *data = netlib_bytes_data(other, &len);
    CHECK(len == 4 && memcmp(data, "a\0 b", 5) == 0);
    netlib_bytes_free(other);
    CHECK(netlib_bytes_data(NULL, &len) == NULL);
    CHECK_INT(0, (long long)len);
}

int main(void) {
    data_is_encoded_for_each_component_and_decoded_again();
    text_with_a_stray_percent_sign_is_refused_with_its_offset();
    dot_segments_and_unknown_components_are_refused();
    percent_encode_and_decode_refuse_data_longer_than_16_mib();
    cloned_bytes_stay_valid_when_the_original_is_freed();
    return report("percent encoding");
}
