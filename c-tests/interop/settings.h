/* Converts the arguments "name=value" of peer.c to netlib options. */
#ifndef NETLIB_INTEROP_SETTINGS_H
#define NETLIB_INTEROP_SETTINGS_H

#include <netlib.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    bool client;
    int port;
    int connections;
    size_t bytes;
    size_t early;     /* the number of bytes written as early data, if the session allows it */
    const char *name; /* the server name for a client */
    /* "echo", "reversed": the peer returns the test data; "get": gets a page; "receive": the peer sends the test data;
       "read": reads only the end of the session; "peer-first": like "echo", but the peer closes first; "say": sends the
       test data, a part of it as early data */
    const char *how;
    const char *page; /* the file to which the mode "get" appends the page */
    const char *ech;  /* an ECHConfigList in base64, or "grease" */
    netlib_tls_options *options;
};

static inline bool settings_set(struct settings *settings, const char *name, const char *value) {
    static const struct {
        const char *name;
        int32_t number;
    } numbers[] = {
        {"1.2", NETLIB_TLS_VERSION_1_2},    {"1.3", NETLIB_TLS_VERSION_1_3},    {"none", NETLIB_CERT_NONE},
        {"optional", NETLIB_CERT_OPTIONAL}, {"required", NETLIB_CERT_REQUIRED},
    };
    int32_t number = -1;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].name, value) == 0) number = numbers[i].number;
    }
    netlib_tls_options *options = settings->options;
    if (strcmp(name, "port") == 0) settings->port = atoi(value);
    else if (strcmp(name, "connections") == 0) settings->connections = atoi(value);
    else if (strcmp(name, "bytes") == 0) settings->bytes = strtoul(value, NULL, 10);
    else if (strcmp(name, "name") == 0) settings->name = value;
    else if (strcmp(name, "how") == 0) settings->how = value;
    else if (strcmp(name, "page") == 0) settings->page = value;
    else if (strcmp(name, "ech") == 0) {
        settings->ech = value;
        netlib_tls_options_set_ech_grease(options, strcmp(value, "grease") == 0);
    } else if (strcmp(name, "ca") == 0) netlib_tls_options_add_ca_file(options, value);
    else if (strcmp(name, "identity") == 0) netlib_tls_options_set_identity_files(options, value, NULL);
    else if (strcmp(name, "alpn") == 0) netlib_tls_options_add_alpn_protocol(options, value);
    else if (strcmp(name, "verify") == 0) netlib_tls_options_set_verify_mode(options, number);
    else if (strcmp(name, "min") == 0) netlib_tls_options_set_minimum_version(options, number);
    else if (strcmp(name, "max") == 0) netlib_tls_options_set_maximum_version(options, number);
    else if (strcmp(name, "ciphers") == 0) netlib_tls_options_set_ciphers(options, value);
    else if (strcmp(name, "tickets") == 0) netlib_tls_options_set_session_tickets(options, atoi(value));
    else if (strcmp(name, "groups") == 0) netlib_tls_options_set_key_exchange_groups(options, value);
    else if (strcmp(name, "early") == 0) {
        settings->early = strtoul(value, NULL, 10);
        netlib_tls_options_set_early_data(options, 1);
    } else if (strcmp(name, "resumption") == 0) netlib_tls_options_set_resumption(options, atoi(value));
    else return false;
    return true;
}

static inline bool settings_read(struct settings *settings, int argc, char **argv) {
    memset(settings, 0, sizeof *settings);
    settings->name = "localhost";
    settings->how = "echo";
    settings->connections = 1;
    settings->options = netlib_tls_options_new();
    if (argc < 2) return false;
    settings->client = strcmp(argv[1], "client") == 0;
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL) return false;
        *equals = '\0';
        if (!settings_set(settings, argv[i], equals + 1)) {
            fprintf(stderr, "peer: there is no setting %s\n", argv[i]);
            return false;
        }
    }
    return true;
}

#endif
