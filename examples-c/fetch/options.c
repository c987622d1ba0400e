/* Implements options.h. */
#define _POSIX_C_SOURCE 200809L

#include "options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void print_help(void) {
    puts("usage: fetch [options] URL\n"
         "\n"
         "  -H 'Name: value'       add a request header; may be repeated\n"
         "  -X METHOD              the request method (default: GET, or POST with -d)\n"
         "  -d TEXT | -d @FILE     send TEXT, or the contents of FILE, as the request's body\n"
         "  --query NAME=VALUE     add NAME=VALUE, percent-encoded, to the URL's query; may be repeated\n"
         "  -o FILE                write the body to FILE instead of standard output\n"
         "  --retries N            the maximum number of retries (default 3): after failed connections, broken\n"
         "                         responses, and the statuses 429, 502, 503 and 504. POST and PATCH are retried\n"
         "                         only if the server cannot have received the request. Up to 10 redirects are\n"
         "                         followed in addition\n"
         "  --connect-timeout S    the timeout for a connection to one address, in seconds (default 10)\n"
         "  --read-timeout S       the maximum time without data from the server, in seconds (default 30)\n"
         "  --minimum-speed BYTES/SECONDS\n"
         "                         end the connection if less than BYTES arrive in SECONDS of waiting, including the\n"
         "                         time that the server needs before it answers\n"
         "  --max-time S           the time limit for everything, in seconds (default: none)\n"
         "  --user USER:PASSWORD   send Basic credentials, but only to the origin of the URL\n"
         "  --proxy URL            use the proxy http://[USER:PASSWORD@]HOST:PORT, or https:// for TLS to the proxy.\n"
         "                         The proxy cannot read data that is exchanged with https servers\n"
         "  --no-proxy LIST        do not use the proxy for these hosts, in the syntax of the variable NO_PROXY:\n"
         "                         names, addresses and networks, separated by commas. Applies to redirects too\n"
         "  -v                     print events and decisions on standard error\n"
         "  --help                 print this text\n");
    puts("Connections:\n"
         "\n"
         "  --resolve HOST:PORT:ADDRESS[,ADDRESS...]\n"
         "                         connect to these addresses instead of looking up HOST for PORT; may be repeated\n"
         "  --refuse-addresses CLASSES\n"
         "                         never connect to addresses of these classes, separated by commas: all-but-global,\n"
         "                         metadata, loopback, unspecified, link-local, private, shared, multicast,\n"
         "                         reserved, documentation, benchmarking, special-purpose, unix, global. Applies to\n"
         "                         redirects too\n"
         "  --unix-socket PATH     connect to this Unix domain socket instead of the host (with --proxy: instead of\n"
         "                         the proxy); applies to redirects too\n"
         "  --abstract-unix-socket NAME\n"
         "                         connect to this name in the abstract namespace (Linux)\n"
         "  --interface NAME       send through this network interface, regardless of routes\n"
         "  --source ADDRESS[:PORT]\n"
         "                         bind to this local address; write an IPv6 address with a port as [ADDRESS]:PORT\n"
         "  --keepalive IDLE[,INTERVAL[,COUNT]]\n"
         "                         TCP keepalive: send a probe after IDLE seconds without data, then every INTERVAL\n"
         "                         seconds, and close after COUNT unanswered probes (default: the system's values)\n"
         "  --user-timeout S       close if sent data is not acknowledged for S seconds (default: the system's\n"
         "                         value)\n"
         "\n"
         "If a host has several addresses, fetch races them: each attempt starts 250 ms after the previous one, or\n"
         "as soon as that one has failed, and the first established connection is used. With --proxy, these options\n"
         "apply to the connection to the proxy; the proxy itself looks up servers and connects to them.\n");
    puts("TLS to the server:\n"
         "\n"
         "  --cacert FILE          trust only the certificates in FILE (PEM)\n"
         "  --capath DIR           trust only the certificates in the files of DIR, and those of --cacert\n"
         "  --crlfile FILE         check revocation with the CRLs in FILE, which must contain one for each issuer\n"
         "  --fingerprint HEX      the SHA-256 fingerprint of the server's certificate; no other server gets a\n"
         "                         request\n"
         "  --insecure             do not verify the server's certificate\n"
         "  --pin PIN              a SHA-256 digest, in hex or as sha256//BASE64, that a certificate or key of the\n"
         "                         verified chain must have; may be repeated, and one match is enough. With\n"
         "                         --insecure, the pin must match the server's own certificate or key\n"
         "  --cert FILE            the client certificate (PEM with its chain, or PKCS#12 with its key), which is\n"
         "                         sent only to the origin of the URL\n"
         "  --key FILE             the private key of --cert, if it is in another file\n"
         "  --pass PASSWORD        the password of the private key or of the PKCS#12 file\n"
         "  --pass-file FILE       read that password from the first line of FILE\n"
         "  --tls-max 1.2|1.3      the highest TLS version to offer\n"
         "  --ciphers LIST         the cipher suites to offer, as an OpenSSL cipher string\n"
         "  --ech LIST             use Encrypted Client Hello for the origin of the URL: LIST is the value of the\n"
         "                         parameter ech in the host's HTTPS record, in base64\n"
         "\n"
         "TLS to the proxy:\n"
         "\n"
         "  --proxy-cacert FILE    trust only the certificates in FILE (PEM)\n"
         "\n"
         "Other users of the system can see passwords in a command line; use --pass-file to avoid this.\n"
         "\n"
         "exit codes:");
#define LINE(name, code, meaning) printf("  %3d  %s\n", code, meaning);
    EXIT_CODES(LINE)
#undef LINE
}

bool usage_error(const char *option, const char *what) {
    fprintf(stderr, "fetch: %s: %s (see fetch --help)\n", option, what);
    return false;
}

static bool parse_seconds(const char *text, const char *option, double *seconds) {
    char *end = NULL;
    *seconds = strtod(text, &end);
    if (end != text && *end == '\0' && *seconds > 0) return true;
    return usage_error(option, "a number of seconds above 0 is needed");
}

static bool parse_count(const char *text, const char *option, int32_t *count) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    *count = (int32_t)value;
    if (end != text && *end == '\0' && value >= 0 && value <= 1000) return true;
    return usage_error(option, "a number from 0 to 1000 is needed");
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names != NULL && strcasecmp(name, *names) != 0) names++;
    return *names != NULL;
}

/* Adds the header `Name: value`. netlib validates name and value when the headers are created. */
static bool add_header(struct options *options, char *line) {
    static const char *const ours[] = {"connection", "content-length", "proxy-authorization", "transfer-encoding",
                                       NULL};
    char *colon = strchr(line, ':');
    if (colon == NULL) return usage_error("-H", "'Name: value' is needed");
    *colon = '\0';
    if (is_one_of(line, ours)) return usage_error(line, "fetch sets this header itself");
    if (strcasecmp(line, "user-agent") == 0) options->has_user_agent = true;
    if (strcasecmp(line, "content-type") == 0) options->has_content_type = true;
    const char *value = colon + 1;
    netlib_headers_options_add_header(options->headers, line, value + strspn(value, " \t"));
    return true;
}

static bool parse_version(const char *text, int32_t *version) {
    if (strcmp(text, "1.2") == 0) *version = NETLIB_TLS_VERSION_1_2;
    if (strcmp(text, "1.3") == 0) *version = NETLIB_TLS_VERSION_1_3;
    return *version != 0 || usage_error("--tls-max", "the version must be 1.2 or 1.3");
}

static bool add_resolve(struct options *options, const char *text) {
    return resolve_add(&options->resolve, text) || usage_error("--resolve", "HOST:PORT:ADDRESS[,ADDRESS...] is needed");
}

/* Checks the syntax of a fingerprint by comparing it with an invalid certificate: a valid fingerprint fails with
 * NETLIB_FINGERPRINT_MISMATCH. */
static bool set_fingerprint(struct options *options, const char *text) {
    netlib_error *err = NULL;
    options->fingerprint = text;
    netlib_status status = netlib_assert_fingerprint("", 1, text, &err);
    bool is_valid = status == NETLIB_FINGERPRINT_MISMATCH;
    if (!is_valid) usage_error("--fingerprint", netlib_error_message(err, NULL));
    netlib_error_free(err);
    return is_valid;
}

/* Reads the password from the first line of a file, without its line ending. The file may be a pipe. */
static bool read_password(struct options *options, const char *path) {
    FILE *file = fopen(path, "r");
    bool read = file != NULL && fgets(options->pass_of_file, sizeof options->pass_of_file, file) != NULL;
    if (file != NULL) fclose(file);
    if (!read) return usage_error("--pass-file", "the file cannot be read, or is empty");
    size_t len = strcspn(options->pass_of_file, "\r\n");
    if (len + 1 == sizeof options->pass_of_file) return usage_error("--pass-file", "the password is too long");
    options->pass_of_file[len] = '\0';
    options->pass = options->pass_of_file;
    return true;
}

static bool add_pin(struct options *options, const char *pin) {
    enum { MAX_PINS = sizeof options->pins / sizeof options->pins[0] };
    if (options->pin_count == MAX_PINS) return usage_error("--pin", "too many pins");
    options->pins[options->pin_count++] = pin;
    return true;
}

static bool add_pair(struct options *options, const char *pair) {
    enum { MAX_PAIRS = sizeof options->pairs / sizeof options->pairs[0] };
    if (pair[0] == '\0') return usage_error("--query", "NAME=VALUE is needed");
    if (options->pair_count == MAX_PAIRS) return usage_error("--query", "too many pairs");
    options->pairs[options->pair_count++] = pair;
    return true;
}

/* The values of options that have no single-letter form. */
enum {
    OPT_QUERY = 256,
    OPT_RETRIES,
    OPT_CONNECT_TIMEOUT,
    OPT_READ_TIMEOUT,
    OPT_MAX_TIME,
    OPT_USER,
    OPT_PROXY,
    OPT_NO_PROXY,
    OPT_RESOLVE,
    OPT_UNIX_SOCKET,
    OPT_ABSTRACT_UNIX_SOCKET,
    OPT_INTERFACE,
    OPT_SOURCE,
    OPT_REFUSE_ADDRESSES,
    OPT_KEEPALIVE,
    OPT_USER_TIMEOUT,
    OPT_MINIMUM_SPEED,
    OPT_CACERT,
    OPT_CAPATH,
    OPT_CRLFILE,
    OPT_FINGERPRINT,
    OPT_INSECURE,
    OPT_CERT,
    OPT_KEY,
    OPT_PASS,
    OPT_PASS_FILE,
    OPT_TLS_MAX,
    OPT_CIPHERS,
    OPT_ECH,
    OPT_PIN,
    OPT_PROXY_CACERT,
    OPT_HELP
};

static const struct option long_options[] = {
    {"query", required_argument, NULL, OPT_QUERY},
    {"retries", required_argument, NULL, OPT_RETRIES},
    {"connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT},
    {"read-timeout", required_argument, NULL, OPT_READ_TIMEOUT},
    {"max-time", required_argument, NULL, OPT_MAX_TIME},
    {"user", required_argument, NULL, OPT_USER},
    {"proxy", required_argument, NULL, OPT_PROXY},
    {"no-proxy", required_argument, NULL, OPT_NO_PROXY},
    {"resolve", required_argument, NULL, OPT_RESOLVE},
    {"unix-socket", required_argument, NULL, OPT_UNIX_SOCKET},
    {"abstract-unix-socket", required_argument, NULL, OPT_ABSTRACT_UNIX_SOCKET},
    {"interface", required_argument, NULL, OPT_INTERFACE},
    {"source", required_argument, NULL, OPT_SOURCE},
    {"refuse-addresses", required_argument, NULL, OPT_REFUSE_ADDRESSES},
    {"keepalive", required_argument, NULL, OPT_KEEPALIVE},
    {"user-timeout", required_argument, NULL, OPT_USER_TIMEOUT},
    {"minimum-speed", required_argument, NULL, OPT_MINIMUM_SPEED},
    {"cacert", required_argument, NULL, OPT_CACERT},
    {"capath", required_argument, NULL, OPT_CAPATH},
    {"crlfile", required_argument, NULL, OPT_CRLFILE},
    {"fingerprint", required_argument, NULL, OPT_FINGERPRINT},
    {"insecure", no_argument, NULL, OPT_INSECURE},
    {"cert", required_argument, NULL, OPT_CERT},
    {"key", required_argument, NULL, OPT_KEY},
    {"pass", required_argument, NULL, OPT_PASS},
    {"pass-file", required_argument, NULL, OPT_PASS_FILE},
    {"tls-max", required_argument, NULL, OPT_TLS_MAX},
    {"ciphers", required_argument, NULL, OPT_CIPHERS},
    {"ech", required_argument, NULL, OPT_ECH},
    {"pin", required_argument, NULL, OPT_PIN},
    {"proxy-cacert", required_argument, NULL, OPT_PROXY_CACERT},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static bool parse_option(struct options *options, int option, char *value) {
    switch (option) {
    case 'H': return add_header(options, value);
    case 'X': options->method = value; return true;
    case 'd': options->data = value; return true;
    case 'o': options->output = value; return true;
    case 'v': options->verbose = true; return true;
    case OPT_QUERY: return add_pair(options, value);
    case OPT_RETRIES: return parse_count(value, "--retries", &options->retries);
    case OPT_CONNECT_TIMEOUT: return parse_seconds(value, "--connect-timeout", &options->connect_timeout);
    case OPT_READ_TIMEOUT: return parse_seconds(value, "--read-timeout", &options->read_timeout);
    case OPT_MAX_TIME: return parse_seconds(value, "--max-time", &options->max_time);
    case OPT_USER: netlib_headers_options_set_basic_auth(options->headers, value); return true;
    case OPT_PROXY: options->proxy = value; return true;
    case OPT_NO_PROXY: options->no_proxy = value; return true;
    case OPT_RESOLVE: return add_resolve(options, value);
    case OPT_UNIX_SOCKET: return sockets_set_unix(&options->sockets, value);
    case OPT_ABSTRACT_UNIX_SOCKET: return sockets_set_abstract_unix(&options->sockets, value);
    case OPT_INTERFACE: return sockets_set_interface(&options->sockets, value);
    case OPT_SOURCE: return sockets_set_source(&options->sockets, value);
    case OPT_REFUSE_ADDRESSES: return sockets_refuse_addresses(&options->sockets, value);
    case OPT_KEEPALIVE: return sockets_set_keepalive(&options->sockets, value);
    case OPT_USER_TIMEOUT: return sockets_set_user_timeout(&options->sockets, value);
    case OPT_MINIMUM_SPEED: return sockets_set_minimum_speed(&options->sockets, value);
    case OPT_CACERT: options->cacert = value; return true;
    case OPT_CAPATH: options->capath = value; return true;
    case OPT_CRLFILE: options->crlfile = value; return true;
    case OPT_FINGERPRINT: return set_fingerprint(options, value);
    case OPT_INSECURE: options->insecure = true; return true;
    case OPT_CERT: options->cert = value; return true;
    case OPT_KEY: options->key = value; return true;
    case OPT_PASS: options->pass = value; return true;
    case OPT_PASS_FILE: return read_password(options, value);
    case OPT_TLS_MAX: return parse_version(value, &options->tls_max);
    case OPT_CIPHERS: options->ciphers = value; return true;
    case OPT_ECH: options->ech = value; return true;
    case OPT_PIN: return add_pin(options, value);
    case OPT_PROXY_CACERT: options->proxy_cacert = value; return true;
    case OPT_HELP: options->help = true; return true;
    default: fputs("see fetch --help\n", stderr); return false;
    }
}

bool parse_options(struct options *options, int argc, char **argv) {
    int option;
    while ((option = getopt_long(argc, argv, "H:X:d:o:v", long_options, NULL)) != -1) {
        if (!parse_option(options, option, optarg)) return false;
    }
    if (options->help) return true;
    if (optind + 1 != argc) return usage_error("URL", "exactly one URL is needed");
    if (options->key != NULL && options->cert == NULL) return usage_error("--key", "needs --cert");
    options->url = argv[optind];
    return true;
}

void free_options(struct options *options) {
    sockets_free(&options->sockets);
    resolve_free(&options->resolve);
    netlib_headers_options_free(options->headers);
}
