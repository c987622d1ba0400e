/* Parses a URL, gets five components and frees the URL, COUNT times for each line of standard input. Prints the sum of
 * the lengths and ports. Each folder in bindings has this program in its language.
 *
 * usage: cost URL COUNT
 */
#include <netlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    size_t url_len = strlen(argv[1]);
    long count = atol(argv[2]);
    while (getchar() == '\n') {
        unsigned long long sum = 0;
        for (long i = 0; i < count; i++) {
            netlib_url *url;
            if (netlib_parse_url(argv[1], url_len, &url, NULL) != NETLIB_OK) {
                return 1;
            }
            size_t scheme, host, path, query;
            netlib_url_scheme(url, &scheme);
            netlib_url_host(url, &host);
            netlib_url_path(url, &path);
            netlib_url_query(url, &query);
            sum += scheme + host + path + query + (unsigned)netlib_url_port(url);
            netlib_url_free(url);
        }
        printf("%llu\n", sum);
        fflush(stdout);
    }
    return 0;
}
