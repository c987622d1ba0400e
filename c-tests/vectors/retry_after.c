/* Tests netlib_retry_parse_retry_after, and netlib_retry_get_retry_after if a header can contain the value. */
#include "retry_vectors.h"

static void answer(char *input, vectors_out *out) {
    netlib_error *err = NULL;
    double seconds = 0, same = 0;
    bool bounded = strcmp(next_word(&input), "bounded") == 0;
    const char *value = next_text(&input, NULL);
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, wall_clock, NULL, NULL);
    if (!bounded) netlib_retry_options_set_retry_after_max(options, NETLIB_TIMEOUT_NONE);
    netlib_retry *retry = retry_of(options);
    netlib_status status = netlib_retry_parse_retry_after(retry, value, &seconds, &err);
    put_seconds(out, status, &err, seconds);
    netlib_response *response = response_of(503, NULL, value);
    CHECK_STATUS(status, netlib_retry_get_retry_after(retry, response, &same, &err));
    CHECK_DOUBLE(seconds, same);
    netlib_response_free(response);
    netlib_retry_free(retry);
}

int main(int argc, char **argv) { return vectors_main("retry_after", answer, argc, argv); }
