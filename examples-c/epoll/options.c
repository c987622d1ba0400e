/* Implements options.h. */
#define _POSIX_C_SOURCE 200809L

#include "options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void print_help(void) {
    puts("usage: epoll [options] URL... | -\n"
         "\n"
         "Fetches all URLs concurrently; \"-\" reads URLs from standard input, one per line. Prints a line when a\n"
         "transfer ends: status, bytes, seconds, successful attempt/attempts, address, URL, error.\n"
         "\n"
         "  --cacert FILE    trust only the certificates in FILE (PEM)\n"
         "  --timeout S      the time limit for one URL, in seconds (default 30)\n"
         "  --max-time S     the time limit for all URLs, in seconds (default: none)\n"
         "  --parallel N     the maximum number of concurrent transfers, 1 to 64 (default 50)\n"
         "  --help           print this text\n"
         "\n"
         "exit codes:\n"
         "    0  every response is complete and has a status below 400\n"
         "    1  some transfers failed\n"
         "    2  the command line, or a file that it names, is invalid");
}

static bool usage_error(const char *what, const char *why) {
    fprintf(stderr, "epoll: %s: %s (see epoll --help)\n", what, why);
    return false;
}

static bool parse_seconds(const char *text, const char *option, double *seconds) {
    char *end = NULL;
    *seconds = strtod(text, &end);
    if (end != text && *end == '\0' && *seconds > 0) return true;
    return usage_error(option, "a number of seconds above 0 is needed");
}

static bool parse_parallel(const char *text, size_t *parallel) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    *parallel = (size_t)value;
    if (end != text && *end == '\0' && value >= 1 && value <= MAX_PARALLEL) return true;
    return usage_error("--parallel", "a number from 1 to 64 is needed");
}

static bool add_url(struct options *options, const char *url) {
    char **more = realloc(options->urls, (options->url_count + 1) * sizeof *more);
    if (more != NULL) options->urls = more;
    char *copy = more != NULL ? strdup(url) : NULL;
    if (copy == NULL) return usage_error(url, "out of memory");
    options->urls[options->url_count++] = copy;
    return true;
}

/* Reads one URL per line; empty lines are ignored. */
static bool read_urls(struct options *options) {
    char *line = NULL;
    size_t size = 0;
    bool added = true;
    while (added && getline(&line, &size, stdin) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0') added = add_url(options, line);
    }
    free(line);
    if (ferror(stdin)) return usage_error("-", "standard input cannot be read");
    return added;
}

bool parse_options(struct options *options, int argc, char **argv) {
    static const struct option names[] = {
        {"cacert", required_argument, NULL, 'c'},   {"timeout", required_argument, NULL, 't'},
        {"max-time", required_argument, NULL, 'm'}, {"parallel", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 'c': options->cacert = optarg; break;
        case 't': good = parse_seconds(optarg, "--timeout", &options->timeout); break;
        case 'm': good = parse_seconds(optarg, "--max-time", &options->max_time); break;
        case 'p': good = parse_parallel(optarg, &options->parallel); break;
        case 'h': options->help = true; break;
        default: good = false; fputs("see epoll --help\n", stderr);
        }
    }
    if (!good || options->help) return good;
    for (int i = optind; i < argc && good; i++) {
        good = strcmp(argv[i], "-") == 0 ? read_urls(options) : add_url(options, argv[i]);
    }
    return good && (options->url_count > 0 || usage_error("URL", "at least one URL is needed"));
}

void free_options(struct options *options) {
    for (size_t i = 0; i < options->url_count; i++) free(options->urls[i]);
    free(options->urls);
}
