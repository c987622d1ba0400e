/* Tests netlib_parse_url and the getters of a URL. */
#include "vectors.h"

typedef const char *(*part)(const netlib_url *url, size_t *len);

static void put_part(vectors_out *out, part part_of, const netlib_url *url) {
    size_t len = 0;
    const char *text = part_of(url, &len);
    put_text(out, text, len);
}

/* Checks that parsing the text of a URL returns a URL with the same text and the same parts, except for an empty
 * host. */
static void check_round_trip(const netlib_url *url) {
    static const part parts[] = {netlib_url_scheme, netlib_url_auth,     netlib_url_host,     netlib_url_path,
                                 netlib_url_query,  netlib_url_fragment, netlib_url_to_string};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    netlib_error *err = NULL;
    netlib_url *again = NULL;
    const char *host = netlib_url_host(url, NULL);
    CHECK_OK(netlib_parse_url(netlib_url_to_string(url, NULL), NETLIB_NTS, &again, &err));
    for (size_t i = host != NULL && host[0] == '\0' ? PARTS - 1 : 0; i < PARTS; i++) {
        CHECK_STR(parts[i](url, NULL), parts[i](again, NULL));
    }
    CHECK_INT(netlib_url_port(url), netlib_url_port(again));
    netlib_url_free(again);
}

static void answer(char *input, vectors_out *out) {
    size_t len = 0;
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    const char *text = next_text(&input, &len);
    netlib_status status = netlib_parse_url(text, len, &url, &err);
    if (status != NETLIB_OK) {
        put(out, status == NETLIB_INVALID_URL ? "!" : netlib_status_name(status));
        CHECK_STATUS(status, status);
        return;
    }
    put_part(out, netlib_url_scheme, url);
    put_part(out, netlib_url_auth, url);
    put_part(out, netlib_url_host, url);
    if (netlib_url_port(url) == -1) {
        put(out, "-");
    } else {
        put_int(out, netlib_url_port(url));
    }
    put_part(out, netlib_url_path, url);
    put_part(out, netlib_url_query, url);
    put_part(out, netlib_url_fragment, url);
    put_part(out, netlib_url_authority, url);
    put_part(out, netlib_url_netloc, url);
    put_part(out, netlib_url_request_uri, url);
    put_part(out, netlib_url_to_string, url);
    CHECK_STR(netlib_url_host(url, NULL), netlib_url_hostname(url, NULL));
    check_round_trip(url);
    netlib_url_free(url);
}

int main(int argc, char **argv) { return vectors_main("url", answer, argc, argv); }
