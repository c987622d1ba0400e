/* Tests netlib_url_new. For each test case, netlib's answer is the text of the URL that netlib_url_new creates from the
 * URL parts in the case. */
#include "vectors.h"

static void answer(char *input, vectors_out *out) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    const char *scheme = next_text(&input, NULL), *auth = next_text(&input, NULL), *host = next_text(&input, NULL);
    const char *port = next_word(&input), *path = next_text(&input, NULL), *query = next_text(&input, NULL);
    const char *fragment = next_text(&input, NULL);
    netlib_status status =
        netlib_url_new(scheme, auth, host, strcmp(port, "-") == 0 ? -1 : atoi(port), path, query, fragment, &url, &err);
    if (status != NETLIB_OK) {
        put(out, status == NETLIB_INVALID_URL ? "!" : netlib_status_name(status));
        netlib_error_free(err);
        return;
    }
    put_string(out, netlib_url_to_string(url, NULL));
    netlib_url_free(url);
}

int main(int argc, char **argv) { return vectors_main("url_new", answer, argc, argv); }
