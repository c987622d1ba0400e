/* Parses URLs, and gets five components of each, once for each line of standard input. The URLs are the first argument
 * with the numbers from 1 to COUNT at the end. Prints the sum of the lengths and ports. Each folder in bindings has this
 * program in its language.
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
    size_t size = strlen(argv[1]) + 20;
    long count = atol(argv[2]);
    char *texts = malloc(size * (size_t)count);
    if (texts == NULL) {
        return 1;
    }
    for (long i = 0; i < count; i++) {
        snprintf(texts + size * (size_t)i, size, "%s%ld", argv[1], i + 1);
    }
    while (getchar() == '\n') {
        unsigned long long sum = 0;
        for (long i = 0; i < count; i++) {
            netlib_url *url;
            if (netlib_parse_url(texts + size * (size_t)i, NETLIB_NTS, &url, NULL) != NETLIB_OK) {
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
    free(texts);
    return 0;
}
