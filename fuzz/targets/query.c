/* Fuzzes percent-encoding and queries: the first byte selects the component and the format; the rest is data to encode,
 * text to decode, and a query to parse, change and serialise. */
#include "../fuzz.h"

static bool same_bytes(const netlib_bytes *bytes, const uint8_t *data, size_t size) {
    size_t len = 0;
    const char *text = netlib_bytes_data(bytes, &len);
    return text != NULL && len == size && memcmp(text, data, len) == 0 && text[len] == 0;
}

/* Checks that a text can be a query: printable ASCII without "#". */
static void check_query_text(const char *text, size_t len) {
    check_text(text, len);
    for (; *text != 0; text++) MUST(*text > ' ' && *text < 0x7f && *text != '#');
}

/* Encodes data and decodes the result, which must equal the data. The data is first the input, and then the decoded
 * input. */
static void encode_and_decode(enum netlib_url_component component, const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_bytes *encoded = NULL, *decoded = NULL;
    size_t len = 0;
    if (ONE_OF(netlib_percent_encode(component, data, size, &encoded, &err), size, NETLIB_INVALID_URL) == NETLIB_OK) {
        const char *text = netlib_bytes_data(encoded, &len);
        check_text(text, len);
        for (size_t i = 0; i < len; i++) MUST(text[i] > ' ' && text[i] < 0x7f);
        OK(netlib_percent_decode(component, text, len, &decoded, &err));
        MUST(same_bytes(decoded, data, size));
        netlib_bytes_free(decoded);
        netlib_bytes_free(encoded);
    } else {
        MUST(component == NETLIB_URL_COMPONENT_PATH_SEGMENT && size <= 2);
    }
    if (ONE_OF(netlib_percent_decode(component, (const char *)data, size, &decoded, &err), size, NETLIB_INVALID_URL) ==
        NETLIB_OK) {
        netlib_bytes *again = NULL;
        const char *bytes = netlib_bytes_data(decoded, &len);
        if (ONE_OF(netlib_percent_encode(component, bytes, len, &encoded, &err), size, NETLIB_INVALID_URL) ==
            NETLIB_OK) {
            OK(netlib_percent_decode(component, netlib_bytes_data(encoded, NULL), NETLIB_NTS, &again, &err));
            MUST(same_bytes(again, (const uint8_t *)bytes, len));
            netlib_bytes_free(again);
            netlib_bytes_free(encoded);
        }
        netlib_bytes_free(decoded);
    }
}

static bool same_part(const char *a, size_t a_len, const char *b, size_t b_len) {
    return (a == NULL) == (b == NULL) && a_len == b_len && (a == NULL || memcmp(a, b, a_len) == 0);
}

static void check_same_pairs(const netlib_query *a, const netlib_query *b) {
    MUST(netlib_query_count(a) == netlib_query_count(b));
    for (size_t i = 0; i < netlib_query_count(a); i++) {
        size_t a_len = 0, b_len = 0;
        const char *of_a = netlib_query_name(a, i, &a_len), *of_b = netlib_query_name(b, i, &b_len);
        MUST(of_a != NULL && of_a[a_len] == 0 && same_part(of_a, a_len, of_b, b_len));
        of_a = netlib_query_value(a, i, &a_len), of_b = netlib_query_value(b, i, &b_len);
        MUST(same_part(of_a, a_len, of_b, b_len));
    }
}

/* Checks that the text of a query is parsed into the pairs of the query, and can be the query of a URL. */
static void round_trip(const netlib_query *query, enum netlib_query_format format) {
    netlib_error *err = NULL;
    netlib_query *again = NULL;
    netlib_url *url = NULL;
    size_t len = 0;
    const char *text = netlib_query_to_string(query, &len);
    check_query_text(text, len);
    OK(netlib_query_parse(text, len, format, &again, &err));
    check_same_pairs(query, again);
    MUST(strcmp(text, netlib_query_to_string(again, NULL)) == 0);
    netlib_query_free(again);
    OK(netlib_url_new("https", NULL, "h", -1, "/", text, NULL, &url, &err));
    MUST(strcmp(text, netlib_url_query(url, NULL)) == 0);
    netlib_url_free(url);
}

static void change(netlib_query *query, struct input input) {
    netlib_error *err = NULL;
    for (int i = 0; i < 8 && input.len > 0; i++) {
        uint8_t what = take_byte(&input);
        struct input name = take(&input, what >> 2 & 7), value = take(&input, what >> 5);
        const char *name_data = (const char *)name.data, *value_data = (const char *)value.data;
        size_t count = netlib_query_count(query), found = netlib_query_find(query, name_data, name.len, 0);
        MUST(found <= count);
        switch (what & 3) {
        case 0:
            MUST((netlib_query_remove(query, name_data, name.len) > 0) == (found < count));
            MUST(netlib_query_find(query, name_data, name.len, 0) == netlib_query_count(query));
            break;
        case 1: /* The arguments are borrowed from the query. */
            value_data = netlib_query_value(query, 0, &value.len);
            name_data = netlib_query_name(query, count - 1, &name.len);
            if (name_data == NULL || (name.len == 0 && value_data == NULL)) break;
            OK(netlib_query_set(query, name_data, name.len, value_data, value.len, &err));
            break;
        default:
            if (name.len == 0 && value.len == 0) break;
            OK((what & 1 ? netlib_query_set : netlib_query_append)(query, name_data, name.len, value_data, value.len,
                                                                   &err));
            MUST(netlib_query_find(query, name_data, name.len, 0) < netlib_query_count(query));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_query *query = NULL;
    struct input input = {data, size};
    uint8_t choice = take_byte(&input);
    enum netlib_query_format format = choice & 1 ? NETLIB_QUERY_FORMAT_RFC3986 : NETLIB_QUERY_FORMAT_FORM;
    uint8_t *text = exact(input.data, input.len);
    encode_and_decode((enum netlib_url_component)((choice >> 1) % 7), text, input.len);
    struct input changes = input, first = take_until(&changes, '\n');
    if (ONE_OF(netlib_query_parse((const char *)text, first.len, format, &query, &err), first.len,
               NETLIB_INVALID_URL) == NETLIB_OK) {
        round_trip(query, format);
        change(query, changes);
        round_trip(query, format);
    }
    netlib_query_free(query);
    free(text);
    return 0;
}
