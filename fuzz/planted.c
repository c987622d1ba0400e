/* A bug that was put here to be found: it shows only for a URL with a port and a query, which the seed "http://a/" is far from
 * unless the fuzzer sees which way the library went. */
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
