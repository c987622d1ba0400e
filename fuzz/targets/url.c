/* Fuzzes the URL parsers: parses the whole input as a URL, then parses the first line as a base URL, resolves the rest
 * of the input as a reference against this base URL, moves components of the rest into the base URL, and matches the
 * base URL against the rest as a list of hosts without a proxy. */
#include "../fuzz.h"

struct parts {
    const char *scheme, *auth, *host, *path, *query, *fragment;
    int32_t port;
};

typedef const char *getter(const netlib_url *, size_t *);

static const char *text_of(getter *get, const netlib_url *url) {
    size_t len = 0;
    const char *text = get(url, &len);
    check_text(text, len);
    return text;
}

static struct parts parts_of(const netlib_url *url) {
    struct parts parts = {text_of(netlib_url_scheme, url),
                          text_of(netlib_url_auth, url),
                          text_of(netlib_url_host, url),
                          text_of(netlib_url_path, url),
                          text_of(netlib_url_query, url),
                          text_of(netlib_url_fragment, url),
                          netlib_url_port(url)};
    return parts;
}

static bool same_parts(struct parts a, struct parts b) {
    return same_text(a.scheme, b.scheme) && same_text(a.auth, b.auth) && same_text(a.host, b.host) &&
           same_text(a.path, b.path) && same_text(a.query, b.query) && same_text(a.fragment, b.fragment) &&
           a.port == b.port;
}

static void check_url(const netlib_url *url) {
    netlib_error *err = NULL;
    const char *text = NULL;
    MUST(netlib_url_port(url) >= -1 && netlib_url_port(url) <= 65535);
    MUST(netlib_url_port_or_default(url) >= netlib_url_port(url));
    MUST(text_of(netlib_url_request_uri, url)[0] == '/');
    (void)text_of(netlib_url_authority, url);
    (void)text_of(netlib_url_netloc, url);
    check_line(text_of(netlib_url_redacted, url));
    MUST(same_text(netlib_url_hostname(url, NULL), netlib_url_host(url, NULL)));
    ONE_OF(netlib_url_username(url, &text, NULL, &err), NETLIB_URL_MAX, NETLIB_INVALID_URL);
    ONE_OF(netlib_url_password(url, &text, NULL, &err), NETLIB_URL_MAX, NETLIB_INVALID_URL);
}

/* Serialises a URL and parses the resulting text. The parsed URL must have the same components as the original URL. */
static void round_trip(const netlib_url *url) {
    netlib_error *err = NULL;
    netlib_url *again = NULL;
    const char *host = netlib_url_host(url, NULL);
    if (host != NULL && host[0] == 0) return;
    size_t len = 0;
    const char *text = netlib_url_to_string(url, &len);
    check_text(text, len);
    if (len > NETLIB_URL_MAX) return;
    OK(netlib_parse_url(text, len, &again, &err));
    MUST(same_parts(parts_of(url), parts_of(again)));
    MUST(strcmp(text, netlib_url_to_string(again, NULL)) == 0);
    MUST(netlib_url_same_origin(url, again) == 1);
    netlib_url_free(again);
}

/* Builds a URL from components. If netlib accepts the components, parsing the URL's text must return the same
 * components. */
static void from_parts(struct parts parts) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    if (ONE_OF(netlib_url_new(parts.scheme, parts.auth, parts.host, parts.port, parts.path, parts.query, parts.fragment,
                              &url, &err),
               NETLIB_URL_MAX, NETLIB_INVALID_URL) == NETLIB_OK) {
        check_url(url);
        round_trip(url);
    }
    netlib_url_free(url);
}

/* Makes options from a URL, and the URL again from the options. Then moves each component of `other` that a setter
 * accepts into the URL. If netlib accepts the components together, parsing the URL's text must return the same
 * components. */
static void change(const netlib_url *url, const netlib_url *other) {
    netlib_error *err = NULL;
    netlib_url *again = NULL, *changed = NULL;
    netlib_url_options *options = netlib_url_to_options(url);
    MUST(options != NULL);
    size_t len = 0;
    (void)netlib_url_to_string(url, &len);
    const char *host = netlib_url_host(url, NULL);
    if (len <= NETLIB_URL_MAX && (host == NULL || host[0] != 0)) {
        OK(netlib_url_from_options(options, &again, &err));
        MUST(same_parts(parts_of(url), parts_of(again)));
        netlib_url_free(again);
    }
    struct parts parts = parts_of(other);
    if (parts.scheme != NULL) netlib_url_options_set_scheme(options, parts.scheme);
    if (parts.auth != NULL) netlib_url_options_set_credentials(options, parts.auth, parts.path);
    if (parts.host != NULL) netlib_url_options_set_host(options, parts.host);
    if (parts.path != NULL) netlib_url_options_set_path(options, parts.path);
    if (parts.query != NULL) netlib_url_options_set_query(options, parts.query);
    if (parts.fragment != NULL) netlib_url_options_set_fragment(options, parts.fragment);
    netlib_url_options_set_port(options, parts.port);
    if (ONE_OF(netlib_url_from_options(options, &changed, &err), NETLIB_URL_MAX, NETLIB_INVALID_URL) == NETLIB_OK) {
        check_url(changed);
        round_trip(changed);
        if (parts.auth != NULL) {
            const char *text = NULL;
            OK(netlib_url_username(changed, &text, &len, &err));
            MUST(same_text(text, parts.auth));
            OK(netlib_url_password(changed, &text, &len, &err));
            MUST(same_text(text, parts.path));
        }
    }
    netlib_url_free(changed);
    netlib_url_options_free(options);
}

/* Checks that all parsers of netlib find the same components in a URL that the strict profile accepts. */
static void strict(const uint8_t *data, size_t size, const netlib_url *lenient) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_url_readings *readings = NULL;
    netlib_status status = ONE_OF(netlib_parse_url_strict((const char *)data, size, &url, &err), size,
                                  NETLIB_INVALID_URL, NETLIB_INVALID_UTF8);
    netlib_status compared = ONE_OF(netlib_url_compare_readers((const char *)data, size, &readings, &err), size,
                                    NETLIB_INVALID_URL, NETLIB_INVALID_UTF8);
    if (status == NETLIB_OK) {
        MUST(lenient != NULL && compared == NETLIB_OK);
        MUST(same_parts(parts_of(url), parts_of(lenient)));
        for (int32_t reader = NETLIB_URL_READER_RFC3986; reader < NETLIB_URL_READER_NETLIB; reader++) {
            MUST(netlib_url_readings_differences(readings, reader, NETLIB_URL_READER_NETLIB) == 0);
        }
    }
    for (int32_t reader = 0; readings != NULL && reader <= NETLIB_URL_READER_NETLIB; reader++) {
        size_t len = 0;
        const char *text = netlib_url_readings_host(readings, reader, &len);
        if (text != NULL) MUST(strlen(text) == len);
        text = netlib_url_readings_scheme(readings, reader, &len);
        if (text != NULL) MUST(strlen(text) == len);
        MUST(netlib_url_readings_port(readings, reader) >= -1);
    }
    netlib_url_readings_free(readings);
    netlib_url_free(url);
}

/* Compares two hosts. An empty host equals an absent one: "x://@" has an empty host but is written as "x://", which has
 * no host. urllib3 treats both URLs in the same way. */
static bool same_host(const char *a, const char *b) {
    return same_text(a != NULL && *a == 0 ? NULL : a, b != NULL && *b == 0 ? NULL : b);
}

static netlib_url *resolve_again(const netlib_url *base, const netlib_url *url) {
    netlib_error *err = NULL;
    netlib_url *again = NULL;
    size_t len = 0;
    const char *text = netlib_url_to_string(url, &len);
    if (len <= NETLIB_URL_MAX) OK(netlib_url_resolve(base, text, len, &again, &err));
    return again;
}

/* Checks that resolving a reference without an authority keeps the authority of the base URL. If the resolved URL is
 * resolved again, the result has the same host, and differs from the resolved URL at most by dot segments that were in
 * the path of the base URL (RFC 3986 section 5.2.2). */
static void resolve(const netlib_url *base, struct input reference) {
    netlib_error *err = NULL;
    netlib_url *url = NULL, *again = NULL, *third = NULL;
    uint8_t *text = exact(reference.data, reference.len);
    netlib_status status = ONE_OF(netlib_url_resolve(base, (const char *)text, reference.len, &url, &err),
                                  reference.len, NETLIB_INVALID_URL, NETLIB_INVALID_UTF8);
    if (status == NETLIB_OK) {
        check_url(url);
        bool within = reference.len == 0 || text[0] == '?' || text[0] == '#' ||
                      (text[0] == '/' && (reference.len == 1 || (text[1] != '/' && text[1] != '\\')));
        if (within) {
            struct parts here = parts_of(base), there = parts_of(url);
            MUST(same_text(here.scheme, there.scheme) && same_text(here.host, there.host) && here.port == there.port);
            MUST(same_text(here.auth, there.auth));
        }
        if (netlib_url_scheme(url, NULL) != NULL) again = resolve_again(base, url);
        if (again != NULL) {
            struct parts first = parts_of(url), second = parts_of(again);
            MUST(same_text(first.scheme, second.scheme) && same_text(first.auth, second.auth));
            MUST(same_host(first.host, second.host) && first.port == second.port);
            third = resolve_again(base, again);
            MUST(same_text(netlib_url_to_string(third, NULL), netlib_url_to_string(again, NULL)));
        }
    }
    free(text);
    netlib_url_free(url);
    netlib_url_free(again);
    netlib_url_free(third);
}

/* Checks that an entry which matches also matches in a longer list, and that only a URL with a host matches. */
static void match_no_proxy(const netlib_url *url, struct input list) {
    static const char more[] = ",*";
    char *text = c_string(list.data, list.len);
    size_t len = strlen(text);
    char *longer = malloc(len + sizeof more);
    MUST(longer != NULL);
    memcpy(longer, text, len);
    memcpy(longer + len, more, sizeof more);
    int32_t matches = netlib_no_proxy_match(text, url), any = netlib_no_proxy_match("*", url);
    MUST(matches == 0 || matches == 1);
    MUST(netlib_no_proxy_match(longer, url) == any);
    MUST(matches <= any);
    MUST(any == 0 || netlib_url_host(url, NULL) != NULL);
    free(longer);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    netlib_url *url = NULL, *base = NULL;
    if (ONE_OF(netlib_parse_url((const char *)data, size, &url, &err), size, NETLIB_INVALID_URL, NETLIB_INVALID_UTF8) ==
        NETLIB_OK) {
        check_url(url);
        round_trip(url);
        from_parts(parts_of(url));
    }
    strict(data, size, url);
    netlib_url_free(url);
    url = NULL;

    struct input rest = {data, size}, line = take_until(&rest, '\n');
    if (ONE_OF(netlib_parse_url((const char *)line.data, line.len, &base, &err), line.len, NETLIB_INVALID_URL,
               NETLIB_INVALID_UTF8) == NETLIB_OK) {
        resolve(base, rest);
        match_no_proxy(base, rest);
        if (ONE_OF(netlib_parse_url((const char *)rest.data, rest.len, &url, &err), rest.len, NETLIB_INVALID_URL,
                   NETLIB_INVALID_UTF8) == NETLIB_OK) {
            change(base, url);
            netlib_url_free(url);
        }
    }
    netlib_url_free(base);
    return 0;
}
