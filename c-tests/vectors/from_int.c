/* Tests netlib_retry_from_int. If the value of a test case is a Retry, the program passes that Retry to
 * netlib_retry_resolve. */
#include "retry_vectors.h"

static netlib_retry *existing_retry(void) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, 7);
    netlib_retry_options_set_connect(options, 2);
    netlib_retry_options_set_read(options, NETLIB_RETRY_DISABLED);
    netlib_retry_options_set_raise_on_status(options, 0);
    return retry_of(options);
}

/* Returns NULL for None. */
static netlib_retry *from_word(const char *word, bool redirect, const netlib_retry *default_retry) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    if (strcmp(word, "R") == 0) return existing_retry();
    int32_t count = strcmp(word, "T") == 0 ? 1 : count_of(word);
    CHECK_OK(netlib_retry_from_int(count, redirect, default_retry, &retry, &err));
    return retry;
}

static void answer(char *input, vectors_out *out) {
    const char *retries = next_word(&input), *redirects = next_word(&input), *default_word = next_word(&input);
    bool redirect = strcmp(redirects, "T") == 0 || count_of(redirects) > 0;
    netlib_retry *default_retry = strcmp(default_word, "-") == 0 ? NULL : from_word(default_word, redirect, NULL);
    netlib_retry *own = from_word(retries, redirect, default_retry);
    const netlib_retry *retry = netlib_retry_resolve(own, default_retry);
    put_counts(out, retry);
    put_int(out, netlib_retry_raise_on_redirect(retry));
    put_int(out, netlib_retry_raise_on_status(retry));
    put_int(out, netlib_retry_is_exhausted(retry));
    netlib_retry_free(own);
    netlib_retry_free(default_retry);
}

int main(int argc, char **argv) { return vectors_main("from_int", answer, argc, argv); }
