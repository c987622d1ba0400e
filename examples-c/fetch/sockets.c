/* Implements sockets.h. */
#define _POSIX_C_SOURCE 200809L

#include "sockets.h"

#include "options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void sockets_init(struct sockets *sockets) { *sockets = (struct sockets){.options = netlib_connect_options_new()}; }

void sockets_free(struct sockets *sockets) {
    netlib_connect_options_free(sockets->options);
    free(sockets->unix_path);
}

/* --- checking options --------------------------------------------------------------------------------------------- */

/* Prints netlib's message about an option, without the name of the netlib function at its beginning. Returns false. */
static bool print_error(const char *option, netlib_error *err) {
    const char *message = netlib_error_message(err, NULL);
    const char *colon = strncmp(message, "netlib_", strlen("netlib_")) == 0 ? strstr(message, ": ") : NULL;
    usage_error(option, colon != NULL ? colon + 2 : message);
    netlib_error_free(err);
    return false;
}

/* Checks the options. `option` was set last, and all earlier options have been checked, so an error is about
 * `option`. */
static bool check(const struct sockets *sockets, const char *option) {
    netlib_error *err = NULL;
    return netlib_connect_options_check(sockets->options, &err) == NETLIB_OK || print_error(option, err);
}

/* --- addresses and interfaces ------------------------------------------------------------------------------------- */

bool sockets_set_interface(struct sockets *sockets, const char *name) {
    netlib_connect_options_set_interface(sockets->options, name);
    return check(sockets, "--interface");
}

/* Returns the colon before the port; NULL if there is no port. The colons of an IPv6 address without brackets are not
 * separators, because an IPv6 address with a port must be in brackets. */
static const char *colon_of_port(const char *text) {
    const char *colon = strrchr(text, ':');
    bool is_inside = colon != NULL && (text[0] == '[' ? colon[-1] != ']' : strchr(text, ':') != colon);
    return is_inside ? NULL : colon;
}

/* Parses `ADDRESS[:PORT]`. */
bool sockets_set_source(struct sockets *sockets, const char *text) {
    const char *colon = colon_of_port(text);
    char *end = NULL;
    long port = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    if (colon != NULL && (colon[1] < '0' || colon[1] > '9' || *end != '\0' || port > 65535)) {
        return usage_error("--source", "the port is invalid");
    }
    char *host = strndup(text, colon != NULL ? (size_t)(colon - text) : strlen(text));
    if (host == NULL) return usage_error("--source", "out of memory");
    netlib_connect_options_set_source_address(sockets->options, host, (int32_t)port);
    free(host);
    return check(sockets, "--source");
}

/* Sets the path of a Unix domain socket; the last option on the command line counts. `nuls` is the number of NUL bytes
 * before the name: 1 for a name in the abstract namespace. */
static bool set_unix(struct sockets *sockets, const char *option, size_t nuls, const char *name) {
    size_t len = nuls + strlen(name);
    free(sockets->unix_path);
    sockets->unix_path = calloc(len + 1, 1);
    sockets->unix_path_len = len;
    if (sockets->unix_path == NULL) return usage_error(option, "out of memory");
    memcpy(sockets->unix_path + nuls, name, len - nuls);
    /* Checks the path by creating a netlib_connect that is never started. */
    netlib_connect *connect = NULL;
    netlib_error *err = NULL;
    netlib_status status = netlib_connect_new_unix(sockets->unix_path, len, sockets->options, &connect, &err);
    netlib_connect_free(connect);
    return status == NETLIB_OK || print_error(option, err);
}

bool sockets_set_unix(struct sockets *sockets, const char *path) { return set_unix(sockets, "--unix-socket", 0, path); }

bool sockets_set_abstract_unix(struct sockets *sockets, const char *name) {
    return set_unix(sockets, "--abstract-unix-socket", 1, name);
}

/* Returns the address class with this name; 0 if there is none. */
static int32_t address_class(const char *name, size_t len) {
    static const char all[] = "all-but-global";
    if (len == strlen(all) && strncmp(name, all, len) == 0) return NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL;
    for (int32_t class = 1; netlib_address_class_name(class) != NULL; class *= 2) {
        const char *known = netlib_address_class_name(class);
        if (len == strlen(known) && strncmp(name, known, len) == 0) return class;
    }
    return 0;
}

/* Parses names of address classes separated by commas, and adds them to the refused classes. */
bool sockets_refuse_addresses(struct sockets *sockets, const char *names) {
    for (;;) {
        size_t len = strcspn(names, ",");
        int32_t class = address_class(names, len);
        if (class == 0) return usage_error("--refuse-addresses", "unknown address class");
        netlib_connect_options_refuse_addresses(sockets->options, class);
        if (names[len] == '\0') return true;
        names += len + 1;
    }
}

/* --- keepalive and throughput ------------------------------------------------------------------------------------- */

/* Parses a number of seconds at `*at`, and moves `*at` to the first character after it. netlib checks the range. */
static bool read_seconds(const char **at, double *seconds) {
    char *end = NULL;
    *seconds = strtod(*at, &end);
    bool is_number = end != *at && *seconds > 0;
    *at = end;
    return is_number;
}

/* Parses an integer at `*at`, and moves `*at` to the first character after it. */
static bool read_count(const char **at, long *count) {
    char *end = NULL;
    *count = strtol(*at, &end, 10);
    bool is_number = end != *at && *count >= 0;
    *at = end;
    return is_number;
}

/* Returns true and advances `*at` if `*at` points to a comma. */
static bool read_comma(const char **at) {
    bool comes = **at == ',';
    if (comes) ++*at;
    return comes;
}

/* Parses `IDLE[,INTERVAL[,COUNT]]`. Missing values get the system's defaults. */
bool sockets_set_keepalive(struct sockets *sockets, const char *text) {
    double idle = 0, interval = NETLIB_TIMEOUT_DEFAULT;
    long count = NETLIB_NONE;
    bool usable = read_seconds(&text, &idle);
    if (usable && read_comma(&text)) {
        usable = read_seconds(&text, &interval);
        if (usable && read_comma(&text)) usable = read_count(&text, &count) && count <= INT32_MAX;
    }
    if (!usable || *text != '\0') return usage_error("--keepalive", "IDLE[,INTERVAL[,COUNT]] is needed, in seconds");
    netlib_connect_options_set_keepalive(sockets->options, idle, interval, (int32_t)count);
    return check(sockets, "--keepalive");
}

bool sockets_set_user_timeout(struct sockets *sockets, const char *text) {
    double seconds = 0;
    if (!read_seconds(&text, &seconds) || *text != '\0') {
        return usage_error("--user-timeout", "a number of seconds above 0 is needed");
    }
    netlib_connect_options_set_user_timeout(sockets->options, seconds);
    return check(sockets, "--user-timeout");
}

/* Parses the argument `BYTES/SECONDS` of --minimum-speed. */
bool sockets_set_minimum_speed(struct sockets *sockets, const char *text) {
    long bytes = 0;
    double seconds = 0;
    if (!read_count(&text, &bytes) || *text++ != '/' || !read_seconds(&text, &seconds) || *text != '\0') {
        return usage_error("--minimum-speed", "BYTES/SECONDS is needed, such as 1000/30");
    }
    sockets->minimum_bytes = (size_t)bytes;
    sockets->minimum_seconds = seconds;
    return true;
}
