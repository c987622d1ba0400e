/* Implements resolve.h. */
#define _POSIX_C_SOURCE 200809L

#include "resolve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* Adds an address with port 0, which netlib replaces by the port of the connection. */
static bool add_address(netlib_addresses *addresses, const char *text) {
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1) {
        return netlib_addresses_add(addresses, &ipv4, sizeof ipv4, NULL) == NETLIB_OK;
    }
    if (inet_pton(AF_INET6, text, &ipv6.sin6_addr) == 1) {
        return netlib_addresses_add(addresses, &ipv6, sizeof ipv6, NULL) == NETLIB_OK;
    }
    return false;
}

/* Parses `ADDRESS[,ADDRESS]…`; each address may be in brackets. */
static bool add_addresses(netlib_addresses *addresses, const char *list) {
    for (;;) {
        char text[INET6_ADDRSTRLEN + sizeof "[]"];
        size_t len = strcspn(list, ","), shown = len;
        const char *start = list;
        if (len >= 2 && list[0] == '[' && list[len - 1] == ']') {
            start++;
            shown -= 2;
        }
        if (shown >= sizeof text) return false;
        memcpy(text, start, shown);
        text[shown] = '\0';
        if (!add_address(addresses, text)) return false;
        if (list[len] == '\0') return true;
        list += len + 1;
    }
}

/* Parses `PORT:`. Returns the text after the colon; NULL if the port is invalid. */
static const char *parse_port(const char *text, int32_t *port) {
    char *end = NULL;
    long value = strtol(text, &end, 10);
    *port = (int32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == ':' && value >= 1 && value <= 65535 ? end + 1 : NULL;
}

bool resolve_add(struct resolve *resolve, const char *text) {
    struct resolve_entry entry = {.host = NULL};
    size_t host_len = strcspn(text, ":");
    if (host_len == 0 || text[host_len] != ':') return false;
    const char *list = parse_port(text + host_len + 1, &entry.port);
    struct resolve_entry *more = realloc(resolve->entries, (resolve->count + 1) * sizeof *more);
    if (more != NULL) resolve->entries = more;
    if (list == NULL || more == NULL || (entry.host = strndup(text, host_len)) == NULL) return false;
    entry.addresses = netlib_addresses_new();
    resolve->entries[resolve->count++] = entry;
    return add_addresses(entry.addresses, list);
}

const netlib_addresses *resolve_find(const struct resolve *resolve, const char *host, int32_t port) {
    for (size_t i = resolve->count; i > 0; i--) {
        const struct resolve_entry *entry = &resolve->entries[i - 1];
        if (entry->port == port && strcasecmp(entry->host, host) == 0) return entry->addresses;
    }
    return NULL;
}

void resolve_free(struct resolve *resolve) {
    for (size_t i = 0; i < resolve->count; i++) {
        netlib_addresses_free(resolve->entries[i].addresses);
        free(resolve->entries[i].host);
    }
    free(resolve->entries);
}
