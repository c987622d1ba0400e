/* A fuzz target with a deliberate bug, which shows that fuzzing works. A URL with a port and a query triggers the bug.
 * Starting from the seed "http://a/", the fuzzer finds such a URL only if it measures the coverage of the library. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    netlib_url *url = NULL;
    if (netlib_parse_url((const char *)data, size, &url, NULL) == NETLIB_OK) {
        bool wanted = netlib_url_port(url) > 0 && netlib_url_query(url, NULL) != NULL;
        volatile char *four = malloc(4);
        four[wanted ? 4 : 3] = 1;
        free((void *)four);
    }
    netlib_url_free(url);
    return 0;
}
