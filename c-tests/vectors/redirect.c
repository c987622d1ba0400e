/* Tests the URL that netlib_retry_decide returns for the request after a redirect. */
#include "retry_vectors.h"

static void answer(char *input, vectors_out *out) {
    size_t len = 0;
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_decision *decision = NULL;
    const char *text = next_text(&input, &len);
    CHECK_OK(netlib_parse_url(text, len, &url, &err));
    netlib_response *response = response_of(302, next_text(&input, NULL), NULL);
    netlib_retry *retry = retry_of(netlib_retry_options_new());
    netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err);
    put_string(out, status == NETLIB_OK ? netlib_url_to_string(netlib_decision_url(decision), NULL) : "!");
    netlib_error_free(err);
    netlib_decision_free(decision);
    netlib_response_free(response);
    netlib_retry_free(retry);
    netlib_url_free(url);
}

int main(int argc, char **argv) { return vectors_main("redirect", answer, argc, argv); }
