/* Fuzzes the parser of Retry-After. The delay is never negative and never above the maximum, and a delay below the
 * maximum does not depend on the maximum. */
#include "../fuzz.h"

static netlib_retry *bounded, *unbounded;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    netlib_error *err = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, fixed_clock, NULL, NULL);
    OK(netlib_retry_new(options, &bounded, &err));
    netlib_retry_options_set_retry_after_max(options, NETLIB_TIMEOUT_NONE);
    OK(netlib_retry_new(options, &unbounded, &err));
    netlib_retry_options_free(options);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    double most = -2, all = -2;
    char *text = c_string(data, size);
    netlib_status status =
        ONE_OF(netlib_retry_parse_retry_after(bounded, text, &most, &err), size, NETLIB_INVALID_HEADER);
    MUST(ONE_OF(netlib_retry_parse_retry_after(unbounded, text, &all, &err), size, NETLIB_INVALID_HEADER) == status);
    if (status == NETLIB_OK) {
        MUST(all >= 0);
        MUST(most == (all < 21600 ? all : 21600));
    }
    free(text);
    return 0;
}
