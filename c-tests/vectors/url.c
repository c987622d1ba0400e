/* netlib_parse_url and what is read from a URL. */
#include "vectors.h"

typedef const char *(*part)(const netlib_url *url, size_t *len);

static void put_part(vectors_out *out, part part_of, const netlib_url *url) {
    size_t len = 0;
    const char *text = part_of(url, &len);
    put_text(out, text, len);
}

/* What is read from a URL goes back into its text: scheme and host given, the text parses into the same parts. */
static void parses_back(const netlib_url *url, const char *ours) {
    static const part parts[] = {netlib_url_scheme, netlib_url_auth,  netlib_url_host,
                                 netlib_url_path,   netlib_url_query, netlib_url_fragment};
    netlib_error *err = NULL;
    netlib_url *again = NULL;
    const char *host = netlib_url_host(url, NULL);
    /* A zone is written with a bare "%", as by the reference, so that one which begins with 25 reads as encoded. */
    if (netlib_url_scheme(url, NULL) == NULL || host == NULL || host[0] == '\0' || strstr(host, "%25") != NULL) return;
    bool same = netlib_parse_url(netlib_url_url(url, NULL), NETLIB_NTS, &again, &err) == NETLIB_OK;
    for (size_t i = 0; same && i < sizeof parts / sizeof parts[0]; i++) {
        const char *a = parts[i](url, NULL), *b = parts[i](again, NULL);
        same = a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
    }
    CHECK(same && netlib_url_port(url) == netlib_url_port(again));
    if (!same) fprintf(stderr, "    %s\n", ours);
    netlib_error_free(err);
    netlib_url_free(again);
}

static void answer(char *asked, vectors_out *out) {
    size_t len = 0;
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    const char *text = next_text(&asked, &len);
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
    put_part(out, netlib_url_url, url);
    CHECK_STR(netlib_url_host(url, NULL), netlib_url_hostname(url, NULL));
    parses_back(url, out->text);
    netlib_url_free(url);
}

int main(int argc, char **argv) {
    return vectors_main("url", answer, argc, argv);
}
