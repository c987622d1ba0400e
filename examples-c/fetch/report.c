/* Implements report.h. */
#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* --- the exit code ------------------------------------------------------------------------------------------------ */

static enum exit_code code_of_certificate(const netlib_error *error) {
    switch (netlib_error_certificate_problem(error)) {
    case NETLIB_CERTIFICATE_PROBLEM_EXPIRED:
    case NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID: return EXIT_CERTIFICATE_TIME;
    case NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH: return EXIT_CERTIFICATE_NAME;
    case NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED:
    case NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN:
    case NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER: return EXIT_CERTIFICATE_ISSUER;
    default: return EXIT_CERTIFICATE;
    }
}

/* Returns true if the request was not sent because one of its headers is invalid. */
static bool is_about_request(const netlib_error *error) {
    return netlib_error_retry_kind(error) == NETLIB_RETRY_KIND_NEVER;
}

/* Returns the exit code for a status. Some statuses have their own exit code; the others have the code of their
 * class. */
static enum exit_code code_of(netlib_status status, const netlib_error *error) {
    switch (status) {
    case NETLIB_INVALID_PEM:
    case NETLIB_KEY_MISMATCH:
    case NETLIB_NO_TRUST_ANCHORS: return EXIT_LOCAL;
    case NETLIB_INVALID_HEADER: return is_about_request(error) ? EXIT_USAGE : EXIT_PROTOCOL;
    case NETLIB_NAME_RESOLUTION: return EXIT_RESOLVE;
    case NETLIB_CONNECT_TIMEOUT: return EXIT_CONNECT_TIMEOUT;
    case NETLIB_ADDRESS_REFUSED: return EXIT_REFUSED;
    case NETLIB_TOO_SLOW: return EXIT_TOO_SLOW;
    case NETLIB_PROXY_FAILED: return EXIT_PROXY;
    case NETLIB_FINGERPRINT_MISMATCH: return EXIT_CERTIFICATE;
    case NETLIB_CERTIFICATE_VERIFY:
    case NETLIB_HOSTNAME_MISMATCH: return code_of_certificate(error);
    case NETLIB_READ_TIMEOUT:
    case NETLIB_WRITE_TIMEOUT: return EXIT_SILENCE;
    case NETLIB_DEADLINE_EXCEEDED: return EXIT_MAX_TIME;
    case NETLIB_CANCELLED: return EXIT_INTERRUPTED;
    case NETLIB_INCOMPLETE_READ:
    case NETLIB_TLS_TRUNCATED: return EXIT_INCOMPLETE;
    case NETLIB_TOO_MANY_REDIRECTS:
    case NETLIB_UNSAFE_REDIRECT: return EXIT_REDIRECT;
    case NETLIB_UNREWINDABLE_BODY: return EXIT_BODY;
    default: break;
    }
    switch (netlib_status_class(status)) {
    case NETLIB_CLASS_ARGUMENT: return EXIT_USAGE;
    case NETLIB_CLASS_URL: return EXIT_URL;
    case NETLIB_CLASS_CONNECT: return EXIT_CONNECT;
    case NETLIB_CLASS_TLS: return EXIT_TLS;
    case NETLIB_CLASS_HTTP: return EXIT_PROTOCOL;
    default: return EXIT_LOCAL;
    }
}

/* --- the advice --------------------------------------------------------------------------------------------------- */

/* The command-line options that correspond to netlib's functions. netlib's advice names a function, for example "to
 * trust the authority …: netlib_tls_options_add_ca_file"; users of fetch need the option instead, which differs for
 * servers and proxies. */
static const struct setting {
    const char *setter, *for_server, *for_proxy;
} settings[] = {
    {"netlib_tls_options_add_ca_file", "--cacert FILE", "--proxy-cacert FILE"},
    {"netlib_tls_options_add_crl_file", "--crlfile FILE", NULL},
    {"netlib_tls_options_add_pin", "--pin PIN", NULL},
    {"netlib_tls_options_set_identity", "--cert FILE and --key FILE", NULL},
    {"netlib_headers_options_set_proxy_basic_auth", NULL, "--proxy with a user and a password"},
    {"netlib_tls_options_set_key_password", "--pass PASSWORD or --pass-file FILE", NULL},
    {"a context without an ECHConfigList", "without --ech", NULL},
};

/* Returns the command-line option that implements the advice; NULL if fetch has no such option. */
static const char *option_for(const char *advice, bool for_proxy) {
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strstr(advice, settings[i].setter) == NULL) continue;
        return for_proxy ? settings[i].for_proxy : settings[i].for_server;
    }
    return NULL;
}

/* Returns the names of the options that may have left client and server without a common TLS version or cipher suite;
 * NULL if no option can have caused the error. */
static const char *restrictive_options(const struct options *options, const netlib_error *error) {
    enum { HANDSHAKE_FAILURE = 40, PROTOCOL_VERSION = 70, INSUFFICIENT_SECURITY = 71 };
    int32_t alert = netlib_error_tls_alert(error);
    bool in_common = netlib_error_status(error) != NETLIB_TLS_INCOMPATIBLE && alert != HANDSHAKE_FAILURE &&
                     alert != PROTOCOL_VERSION && alert != INSUFFICIENT_SECURITY;
    if (in_common) return NULL;
    if (options->ciphers != NULL) return options->tls_max != 0 ? "--ciphers and --tls-max" : "--ciphers";
    return options->tls_max != 0 ? "--tls-max" : NULL;
}

/* Prints the first advice in the chain of causes, which begins with the outermost error. */
static void print_advice(const struct options *options, const netlib_error *error) {
    bool for_proxy = false;
    for (; error != NULL; error = netlib_error_cause(error, 0)) {
        if (netlib_error_status(error) == NETLIB_PROXY_FAILED) for_proxy = true;
        const char *advice = netlib_error_advice(error, NULL);
        const char *option = advice != NULL ? option_for(advice, for_proxy) : NULL;
        const char *narrow = for_proxy ? NULL : restrictive_options(options, error);
        if (option != NULL) {
            fprintf(stderr, "       %.*s: %s\n", (int)strcspn(advice, ":"), advice, option);
        } else if (narrow != NULL) {
            fprintf(stderr, "       to offer more: without %s\n", narrow);
        } else {
            continue;
        }
        return;
    }
}

/* --- the message -------------------------------------------------------------------------------------------------- */

/* Returns the error to print. If the retries are used up, returns the failure of the last attempt. */
static const netlib_error *reason_of(const netlib_error *error) {
    const netlib_error *cause = netlib_error_cause(error, 0);
    return netlib_error_status(error) == NETLIB_MAX_RETRY && cause != NULL ? cause : error;
}

/* Returns a message about an option without the name of the netlib function at its beginning, which means nothing to
 * users of fetch. */
static const char *without_setter(const char *message) {
    const char *colon = strncmp(message, "netlib_", strlen("netlib_")) == 0 ? strstr(message, ": ") : NULL;
    return colon != NULL ? colon + 2 : message;
}

/* Returns the option whose limit ended the transfer, followed by ": "; "" if no such limit ended it. */
static const char *limiting_option(enum exit_code code) {
    if (code == EXIT_MAX_TIME) return "--max-time: ";
    return code == EXIT_TOO_SLOW ? "--minimum-speed: " : "";
}

enum exit_code report_failure(const struct options *options, const struct output *output, int attempts,
                              netlib_status status, const netlib_error *error) {
    const netlib_error *reason = reason_of(error);
    if (reason != NULL) status = netlib_error_status(reason);
    const char *message = reason != NULL ? netlib_error_message(reason, NULL) : netlib_status_text(status);
    enum exit_code code = code_of(status, reason);

    fprintf(stderr, "fetch: %s%s", limiting_option(code), without_setter(message));
    if (attempts > 1) fprintf(stderr, " (attempt %d)", attempts);
    if (!output_can_restart(output)) {
        fprintf(stderr, "; the output has only the first %lld bytes", (long long)output->written);
    }
    fputc('\n', stderr);
    print_advice(options, reason);
    return code;
}

enum exit_code report_status(int32_t status) {
    if (status < 400) return EXIT_DONE;
    fprintf(stderr, "fetch: the server answered %d\n", (int)status);
    return EXIT_STATUS;
}
