/* options.h - parses fetch's command line, and defines its exit codes. */
#ifndef EXAMPLES_FETCH_OPTIONS_H
#define EXAMPLES_FETCH_OPTIONS_H

#include "resolve.h"
#include "sockets.h"

#include <netlib.h>
#include <stdbool.h>

/* The exit codes, one for each kind of failure; --help prints this list. */
#define EXIT_CODES(X) \
    X(EXIT_DONE, 0, "the response is complete, and its status is below 400") \
    X(EXIT_LOCAL, 1, "a local failure: a file, memory or another resource") \
    X(EXIT_USAGE, 2, "the command line is invalid") \
    X(EXIT_URL, 3, "the URL, or the target of a redirect, is invalid") \
    X(EXIT_RESOLVE, 4, "the host name could not be resolved") \
    X(EXIT_CONNECT, 5, "no connection: refused or unreachable") \
    X(EXIT_CONNECT_TIMEOUT, 6, "no connection within --connect-timeout") \
    X(EXIT_CERTIFICATE_TIME, 7, "the certificate has expired, or is not valid yet") \
    X(EXIT_CERTIFICATE_NAME, 8, "the certificate is not valid for the host") \
    X(EXIT_CERTIFICATE_ISSUER, 9, "the certificate's issuer is not trusted") \
    X(EXIT_CERTIFICATE, 10, "the certificate was refused for another reason") \
    X(EXIT_TLS, 11, "TLS failed for another reason") \
    X(EXIT_SILENCE, 12, "the server sent no data for --read-timeout") \
    X(EXIT_MAX_TIME, 13, "--max-time has expired, or would expire before the next attempt") \
    X(EXIT_PROTOCOL, 14, "the server did not speak HTTP, or dropped the connection") \
    X(EXIT_INCOMPLETE, 15, "the response ended early") \
    X(EXIT_REDIRECT, 16, "too many redirects, or one that is not safe to follow") \
    X(EXIT_BODY, 17, "the request's body could not be sent again") \
    X(EXIT_PROXY, 18, "the proxy failed: no connection, no TLS, or no tunnel") \
    X(EXIT_REFUSED, 19, "the host has no address that --refuse-addresses allows") \
    X(EXIT_TOO_SLOW, 20, "the server was slower than --minimum-speed") \
    X(EXIT_STATUS, 22, "the status was 400 or above; the body is complete") \
    X(EXIT_INTERRUPTED, 130, "interrupted")

enum exit_code {
#define ENUMERATOR(name, code, meaning) name = code,
    EXIT_CODES(ENUMERATOR)
#undef ENUMERATOR
};

struct options {
    const char *url;
    const char *method;    /* NULL: GET, or POST with data */
    const char *data;      /* as given with -d; NULL: no body */
    const char *output;    /* NULL: standard output */
    const char *pairs[64]; /* of --query: "NAME=VALUE" or "NAME" */
    size_t pair_count;
    /* TLS options: the file name or string from the command line; NULL if the option was not given. */
    const char *cacert, *capath, *crlfile;
    const char *cert, *key, *pass;
    const char *fingerprint, *ciphers, *ech;
    const char *pins[16];
    size_t pin_count;
    int32_t tls_max; /* an enum netlib_tls_version; 0: the highest supported version */
    const char *proxy, *no_proxy, *proxy_cacert;
    struct resolve resolve;
    struct sockets sockets;
    int32_t retries;
    double connect_timeout, read_timeout, max_time;
    bool insecure, verbose, help;
    netlib_headers_options *headers;
    bool has_user_agent, has_content_type; /* given with -H, so fetch does not add its own */
    char pass_of_file[1024];               /* the storage of `pass` if it was read from a file */
};

/* Parses the command line. If the command line is invalid, prints the reason and returns false. Call free_options after
 * success and after failure. */
bool parse_options(struct options *options, int argc, char **argv);

void free_options(struct options *options);

/* Prints an error message about an option. Returns false. */
bool usage_error(const char *option, const char *what);

void print_help(void);

#endif
