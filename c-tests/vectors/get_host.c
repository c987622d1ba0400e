/* Tests netlib_get_host. */
#include "vectors.h"

static void answer(char *input, vectors_out *out) {
    size_t len = 0;
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    const char *text = next_text(&input, &len);
    netlib_status status = netlib_get_host(text, len, &url, &err);
    CHECK_STATUS(status, status);
    if (status != NETLIB_OK) {
        put(out, status == NETLIB_INVALID_URL ? "!" : netlib_status_name(status));
        return;
    }
    put_string(out, netlib_url_scheme(url, NULL));
    put_string(out, netlib_url_host(url, NULL));
    if (netlib_url_port(url) == -1) {
        put(out, "-");
    } else {
        put_int(out, netlib_url_port(url));
    }
    netlib_url_free(url);
}

int main(int argc, char **argv) { return vectors_main("get_host", answer, argc, argv); }
