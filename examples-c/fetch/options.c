/* See options.h. */
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
         "  -X METHOD              the method; GET unless given, POST with -d\n"
         "  -d TEXT | -d @FILE     send TEXT, or the contents of FILE, as the request's body\n"
         "  -o FILE                write the body to FILE instead of standard output\n"
         "  --retries N            how many retries in all, whatever fails: no connection, a broken response, 429,\n"
         "                         502, 503 and 504 (default 3). POST and PATCH are sent once only, unless the\n"
         "                         request cannot have arrived. Redirects do not count: there may be 10\n"
         "  --connect-timeout S    the longest wait for a connection to one address, in seconds (default 10)\n"
         "  --read-timeout S       the longest silence of the server, in seconds (default 30)\n"
         "  --minimum-speed BYTES/SECONDS\n"
         "                         give up a connection when SECONDS of waiting for the server, its time to think\n"
         "                         included, bring less than BYTES\n"
         "  --max-time S           the longest the whole may take, in seconds (default: no limit)\n"
         "  --user USER:PASSWORD   send Basic credentials, to the URL's own origin only\n"
         "  --proxy URL            go through the proxy at http://[USER:PASSWORD@]HOST:PORT, or https:// for TLS\n"
         "                         with it. What goes to https servers it cannot read\n"
         "  -v                     tell what happens, and why, on standard error\n"
         "  --help                 this text\n");
    puts("Connections:\n"
         "\n"
         "  --resolve HOST:PORT:ADDRESS[,ADDRESS...]\n"
         "                         connect to these addresses when HOST and PORT are wanted; may be repeated\n"
         "  --refuse-addresses CLASSES\n"
         "                         connect to no address of these classes, wherever redirects lead: all-but-global,\n"
         "                         or any of metadata, loopback, unspecified, link-local, private, shared, multicast,\n"
         "                         reserved, documentation, benchmarking, special-purpose, unix,\n"
         "                         global, with commas\n"
         "  --unix-socket PATH     connect to this Unix domain socket, whatever host is wanted: with --proxy it is\n"
         "                         where the proxy is, without one redirects lead there too\n"
         "  --abstract-unix-socket NAME\n"
         "                         the same, by an abstract name of Linux\n"
         "  --interface NAME       go out by this network interface, whatever the routes are\n"
         "  --source ADDRESS[:PORT]\n"
         "                         connect from this address of this machine; [ADDRESS]:PORT if it is IPv6\n"
         "  --keepalive IDLE[,INTERVAL[,COUNT]]\n"
         "                         probe when nothing has come for IDLE seconds, then each INTERVAL seconds, and give\n"
         "                         up when COUNT probes in a row stay unanswered (default of each: the system's)\n"
         "  --user-timeout S       give up when sent data stays unacknowledged for S seconds (default: the system's)\n"
         "\n"
         "Addresses race: each has its turn a quarter of a second after the one before, or when that has failed, and\n"
         "the first that is connected wins. With --proxy the addresses are the proxy's: those of servers it looks up\n"
         "and connects to itself, and what it must not reach is the matter of its own settings.\n");
    puts(
        "TLS, with the server:\n"
        "\n"
        "  --cacert FILE          trust the certificates in FILE (PEM), and no others\n"
        "  --capath DIR           trust the certificates in the files of DIR, and no others but --cacert's\n"
        "  --crlfile FILE         refuse what the lists in FILE have revoked; each issuer of a certificate needs one\n"
        "  --fingerprint HEX      the SHA-256 that a server's certificate must have; no request goes to another\n"
        "  --insecure             do not verify the server's certificate\n"
        "  --pin PIN              of the chain that was verified one certificate or key must have this SHA-256, in\n"
        "                         hex or as sha256//BASE64; may be repeated, and any of them is enough. With\n"
        "                         --insecure the server's own certificate must have it\n"
        "  --cert FILE            show this certificate (PEM with its chain, or a .p12 with its key too), to the URL's own\n"
        "                         origin only\n"
        "  --key FILE             its private key; not needed if it is in the same file\n"
        "  --pass PASSWORD        what opens the private key, or the .p12\n"
        "  --pass-file FILE       the same, as the first line of FILE\n"
        "  --tls-max 1.2|1.3      the highest version that is offered\n"
        "  --ciphers LIST         the cipher suites that are offered, in OpenSSL's language\n"
        "  --ech LIST             hide the name of the URL's own origin (Encrypted Client Hello): LIST is the ech\n"
        "                         parameter of the name's HTTPS record, in base64\n"
        "\n"
        "TLS, with the proxy:\n"
        "\n"
        "  --proxy-cacert FILE    trust the certificates in FILE (PEM), and no others\n"
        "\n"
        "Everybody on this machine can see a command line, and the passwords in it; --pass-file keeps one out.\n"
        "\n"
        "exit codes:");
#define LINE(name, code, meaning) printf("  %3d  %s\n", code, meaning);
    EXIT_CODES(LINE)
#undef LINE
}

bool usage_error(const char *option, const char *what) {
    fprintf(stderr, "fetch: %s: %s (fetch --help explains)\n", option, what);
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

/* Adds `Name: value`. netlib validates both when the headers are created. */
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

/* Checks the method, the only part of the request that netlib does not validate. */
static bool is_token(const char *method) {
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return method[0] != '\0' && method[strspn(method, allowed)] == '\0';
}

static bool parse_version(const char *text, int32_t *version) {
    if (strcmp(text, "1.2") == 0) *version = NETLIB_TLS_VERSION_1_2;
    if (strcmp(text, "1.3") == 0) *version = NETLIB_TLS_VERSION_1_3;
    return *version != 0 || usage_error("--tls-max", "1.2 and 1.3 are the versions there are");
}

static bool add_resolve(struct options *options, const char *text) {
    return resolve_add(&options->resolve, text) ||
           usage_error("--resolve", "HOST:PORT:ADDRESS is needed, and more addresses after commas");
}

/* Uses netlib to check the form of a fingerprint, by matching it against a certificate that no server has. */
static bool set_fingerprint(struct options *options, const char *text) {
    netlib_error *err = NULL;
    options->fingerprint = text;
    netlib_status status = netlib_assert_fingerprint("", 1, text, &err);
    bool fits = status == NETLIB_FINGERPRINT_MISMATCH;
    if (!fits) usage_error("--fingerprint", netlib_error_message(err, NULL));
    netlib_error_free(err);
    return fits;
}

/* Reads the first line, without its line ending. The file may be a pipe. */
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
    enum { MOST = sizeof options->pins / sizeof options->pins[0] };
    if (options->pin_count == MOST) return usage_error("--pin", "too many of them");
    options->pins[options->pin_count++] = pin;
    return true;
}

/* Options without a letter. */
enum {
    OPT_RETRIES = 256,
    OPT_CONNECT_TIMEOUT,
    OPT_READ_TIMEOUT,
    OPT_MAX_TIME,
    OPT_USER,
    OPT_PROXY,
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
    {"retries", required_argument, NULL, OPT_RETRIES},
    {"connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT},
    {"read-timeout", required_argument, NULL, OPT_READ_TIMEOUT},
    {"max-time", required_argument, NULL, OPT_MAX_TIME},
    {"user", required_argument, NULL, OPT_USER},
    {"proxy", required_argument, NULL, OPT_PROXY},
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
    case 'X': options->method = value; return is_token(value) || usage_error("-X", "this is no method");
    case 'd': options->data = value; return true;
    case 'o': options->output = value; return true;
    case 'v': options->verbose = true; return true;
    case OPT_RETRIES: return parse_count(value, "--retries", &options->retries);
    case OPT_CONNECT_TIMEOUT: return parse_seconds(value, "--connect-timeout", &options->connect_timeout);
    case OPT_READ_TIMEOUT: return parse_seconds(value, "--read-timeout", &options->read_timeout);
    case OPT_MAX_TIME: return parse_seconds(value, "--max-time", &options->max_time);
    case OPT_USER: netlib_headers_options_set_basic_auth(options->headers, value); return true;
    case OPT_PROXY: options->proxy = value; return true;
    case OPT_RESOLVE: return add_resolve(options, value);
    case OPT_UNIX_SOCKET: return sockets_set_unix(&options->sockets, value);
    case OPT_ABSTRACT_UNIX_SOCKET: return sockets_set_abstract_unix(&options->sockets, value);
    case OPT_INTERFACE: return sockets_set_interface(&options->sockets, value);
    case OPT_SOURCE: return sockets_set_source(&options->sockets, value);
    case OPT_REFUSE_ADDRESSES: return sockets_refuse_addresses(&options->sockets, value);
    case OPT_KEEPALIVE: return sockets_set_keepalive(&options->sockets, value);
    case OPT_USER_TIMEOUT: return sockets_set_user_timeout(&options->sockets, value);
    case OPT_MINIMUM_SPEED: return sockets_set_least_speed(&options->sockets, value);
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
    default: fputs("fetch --help explains the options\n", stderr); return false;
    }
}

bool parse_options(struct options *options, int argc, char **argv) {
    int option;
    while ((option = getopt_long(argc, argv, "H:X:d:o:v", long_options, NULL)) != -1) {
        if (!parse_option(options, option, optarg)) return false;
    }
    if (options->help) return true;
    if (optind + 1 != argc) return usage_error("URL", "exactly one is needed");
    if (options->key != NULL && options->cert == NULL) return usage_error("--key", "it is of no use without --cert");
    options->url = argv[optind];
    return true;
}

void free_options(struct options *options) {
    sockets_free(&options->sockets);
    resolve_free(&options->resolve);
    netlib_headers_options_free(options->headers);
}
