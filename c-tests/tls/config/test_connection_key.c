/* Tests which settings change a connection key and a context digest. The tables `rows` and `connects` have a row for
 * every setter of TLS options and of connect options. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#define NETLIB_DEPRECATED_NOTE(note)
#include "tls_peer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define VERIFY CERTS "verify/"
#define PIN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MOST_ROWS 200

struct key {
    char text[NETLIB_CONNECTION_KEY_SIZE];
};

static netlib_url *url_of(const char *text) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    if (text != NULL) CHECK_OK(netlib_parse_url(text, NETLIB_NTS, &url, &err));
    return url;
}

static struct key key_of(const char *address, const char *over, const netlib_tls_context *context,
                         const netlib_connect_options *options, const netlib_slice *slices, size_t count) {
    netlib_error *err = NULL;
    struct key key;
    memset(&key, 'x', sizeof key);
    netlib_url *url = url_of(address), *proxy = url_of(over);
    CHECK_OK(netlib_connection_key(url, proxy, context, options, slices, count, key.text, sizeof key.text, &err));
    CHECK_INT(64, (long long)strlen(key.text));
    CHECK_INT(64, (long long)strspn(key.text, "0123456789abcdef"));
    netlib_url_free(url), netlib_url_free(proxy);
    return key;
}

static struct key digest_of(const netlib_tls_context *context) {
    struct key key;
    size_t len = 0;
    const char *digest = netlib_tls_context_digest(context, &len);
    CHECK(digest != NULL && len == 64 && strlen(digest) == 64 && strspn(digest, "0123456789abcdef") == 64);
    snprintf(key.text, sizeof key.text, "%s", digest != NULL ? digest : "");
    CHECK(digest == netlib_tls_context_digest(context, NULL));
    return key;
}

/* Pairs of callbacks. The key can distinguish the callbacks of a pair only by their addresses. */
static int32_t clock_a(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = 1.0;
    return NETLIB_OK;
}
static int32_t clock_b(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = 2.0;
    return NETLIB_OK;
}
static void name_a(void *ctx, const char *name, netlib_tls_context **replacement, enum netlib_verdict *verdict) {
    (void)ctx, (void)name, (void)replacement;
    *verdict = NETLIB_VERDICT_ALLOW;
}
static void name_b(void *ctx, const char *name, netlib_tls_context **replacement, enum netlib_verdict *verdict) {
    (void)ctx, (void)name, (void)replacement;
    *verdict = NETLIB_VERDICT_REFUSE;
}
static void address_a(void *ctx, const void *address, size_t len, int32_t classes, enum netlib_verdict *verdict) {
    (void)ctx, (void)address, (void)len, (void)classes;
    *verdict = NETLIB_VERDICT_ALLOW;
}
static void address_b(void *ctx, const void *address, size_t len, int32_t classes, enum netlib_verdict *verdict) {
    (void)ctx, (void)address, (void)len, (void)classes;
    *verdict = NETLIB_VERDICT_REFUSE;
}
static int32_t resolve_a(void *ctx, const char *host, int32_t port, double left, netlib_addresses *list) {
    (void)ctx, (void)host, (void)port, (void)left, (void)list;
    return NETLIB_OK;
}
static int32_t resolve_b(void *ctx, const char *host, int32_t port, double left, netlib_addresses *list) {
    (void)ctx, (void)host, (void)port, (void)left, (void)list;
    return NETLIB_NAME_RESOLUTION;
}

static int ctx_a, ctx_b;
static char scratch[100], text[40000], key_text[10000];
static size_t text_len, key_len;

static void read_text(const char *path, char *to, size_t room, size_t *len) {
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    *len = fread(to, 1, room, file);
    CHECK(*len > 0 && *len < room);
    fclose(file);
}

/* The effect that the setting of a row must have on the key. */
enum effect {
    CHANGES, /* no other row has the same key */
    AS_BASE, /* the key equals the key of the first row */
    AS_LAST, /* the key equals the key of the last row before it that has CHANGES */
    REFUSED, /* every value except the default is refused */
};

typedef netlib_tls_options tls;
#define ROW(name, ...) \
    static void name(tls *o) { __VA_ARGS__; }
ROW(base, (void)o)
ROW(ca_file, netlib_tls_options_add_ca_file(o, CERTS "other-ca.pem"))
ROW(ca_data, read_text(CERTS "other-ca.pem", text, sizeof text, &text_len);
    netlib_tls_options_add_ca_data(o, text, text_len))
ROW(ca_dir, netlib_tls_options_add_ca_dir(o, scratch))
ROW(ca_again, netlib_tls_options_add_ca_file(o, CERTS "ca.pem"))
ROW(other_ca, netlib_tls_options_add_ca_file(o, VERIFY "root.pem"))
ROW(both_cas, netlib_tls_options_add_ca_file(o, VERIFY "root.pem");
    netlib_tls_options_add_ca_file(o, CERTS "other-ca.pem"))
ROW(cas_both, netlib_tls_options_add_ca_file(o, CERTS "other-ca.pem");
    netlib_tls_options_add_ca_file(o, VERIFY "root.pem"))
ROW(one_key, netlib_tls_options_add_ca_file(o, VERIFY "self-signed-ca.pem"))
ROW(one_key_again, netlib_tls_options_add_ca_file(o, VERIFY "self-signed-expired.pem"))
ROW(no_system, netlib_tls_options_set_system_trust(o, 0))
ROW(embedded, netlib_tls_options_set_embedded_trust(o, 1))
ROW(identity_files, netlib_tls_options_set_identity_files(o, CERTS "client.pem", CERTS "client.key"))
ROW(identity, read_text(CERTS "client.pem", text, sizeof text, &text_len);
    read_text(CERTS "client.key", key_text, sizeof key_text, &key_len);
    netlib_tls_options_set_identity(o, text, text_len, key_text, key_len))
ROW(encrypted, netlib_tls_options_set_identity_files(o, CERTS "client.pem", CERTS "client-encrypted.key");
    netlib_tls_options_set_key_password(o, "secret", 6))
ROW(other_identity, netlib_tls_options_set_identity_files(o, CERTS "server.pem", CERTS "server.key"))
ROW(password, netlib_tls_options_set_key_password(o, "unused", 6))
ROW(none, netlib_tls_options_set_check_hostname(o, 0); netlib_tls_options_set_verify_mode(o, NETLIB_CERT_NONE))
ROW(optional, netlib_tls_options_set_verify_mode(o, NETLIB_CERT_OPTIONAL))
ROW(required, netlib_tls_options_set_verify_mode(o, NETLIB_CERT_REQUIRED))
ROW(no_name, netlib_tls_options_set_check_hostname(o, 0))
ROW(name, netlib_tls_options_set_check_hostname(o, 1))
ROW(pin, netlib_tls_options_add_pin(o, PIN))
ROW(pin_twice, netlib_tls_options_add_pin(o, PIN); netlib_tls_options_add_pin(o, PIN))
ROW(two_pins, netlib_tls_options_add_pin(o, PIN);
    netlib_tls_options_add_pin(o, "sha256//ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="))
ROW(other_pin, netlib_tls_options_add_pin(o, "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"))
ROW(key_pin, netlib_tls_options_add_pin(
                 o, "sha256//ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8=")) /* the same digest, but of a key */
ROW(replace, netlib_tls_options_add_pin(o, PIN); netlib_tls_options_set_pins_replace_chain(o, 1))
ROW(crl_file, netlib_tls_options_add_crl_file(o, VERIFY "int.crl"))
ROW(crl_data, read_text(VERIFY "int.crl.der", text, sizeof text, &text_len);
    netlib_tls_options_add_crl_data(o, text, text_len))
ROW(other_crl, netlib_tls_options_add_crl_file(o, VERIFY "int-expired.crl"))
ROW(leaf_crl, netlib_tls_options_add_crl_file(o, VERIFY "int.crl");
    netlib_tls_options_set_verify_flags(o, NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF))
ROW(strict, netlib_tls_options_set_verify_flags(o, NETLIB_VERIFY_FLAG_X509_STRICT))
ROW(clock_1, netlib_tls_options_set_wall_clock(o, clock_a, &ctx_a, NULL))
ROW(clock_2, netlib_tls_options_set_wall_clock(o, clock_a, &ctx_b, NULL))
ROW(clock_3, netlib_tls_options_set_wall_clock(o, clock_b, &ctx_a, NULL))
ROW(no_clock, netlib_tls_options_set_wall_clock(o, NULL, &ctx_a, NULL))
ROW(minimum, netlib_tls_options_set_minimum_version(o, NETLIB_TLS_VERSION_1_3))
ROW(maximum, netlib_tls_options_set_maximum_version(o, NETLIB_TLS_VERSION_1_2))
ROW(method, netlib_tls_options_set_ssl_version(o, NETLIB_SSL_VERSION_TLSv1_2))
ROW(h2, netlib_tls_options_add_alpn_protocol(o, "h2"))
ROW(h2_http, netlib_tls_options_add_alpn_protocol(o, "h2"); netlib_tls_options_add_alpn_protocol(o, "http/1.1"))
ROW(http_h2, netlib_tls_options_add_alpn_protocol(o, "http/1.1"); netlib_tls_options_add_alpn_protocol(o, "h2"))
ROW(run_together, netlib_tls_options_add_alpn_protocol(o, "h2http/1.1"))
ROW(resumption, netlib_tls_options_set_resumption(o, 0))
ROW(tickets, netlib_tls_options_set_session_tickets(o, 1))
ROW(keylog, netlib_tls_options_set_keylog_file(o, "/dev/null"))
ROW(other_keylog, netlib_tls_options_set_keylog_file(o, "/dev/zero"))
ROW(no_keylog, netlib_tls_options_set_keylog_file(o, NULL))
ROW(no_environment, netlib_tls_options_set_use_environment(o, 0))
ROW(ciphers, netlib_tls_options_set_ciphers(o, "ECDHE-RSA-AES256-GCM-SHA384"))
ROW(ciphers_named, netlib_tls_options_set_ciphers(o, "ECDHE-RSA-AES256-GCM-SHA384:no-such-suite"))
ROW(ciphers_13, netlib_tls_options_set_ciphers(o, "TLS_AES_256_GCM_SHA384"))
ROW(groups, netlib_tls_options_set_key_exchange_groups(o, "x25519:secp256r1"))
ROW(groups_named, netlib_tls_options_set_key_exchange_groups(o, "X25519:P-256"))
ROW(groups_backwards, netlib_tls_options_set_key_exchange_groups(o, "secp256r1:x25519"))
ROW(early_data, netlib_tls_options_set_early_data(o, 1))
/* ECHConfigLists with one X25519 key, for front.example and for other.example. */
ROW(ech, netlib_tls_options_set_ech_config_list(
             o, "AED+DQA8BwAgACAJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQAEAAEAAUANZnJvbnQuZXhhbXBsZQAA", NETLIB_NTS))
ROW(other_ech,
    netlib_tls_options_set_ech_config_list(
        o, "AED+DQA8BwAgACAJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQAEAAEAAUANb3RoZXIuZXhhbXBsZQAA", NETLIB_NTS))
ROW(ech_grease, netlib_tls_options_set_ech_grease(o, 1))
ROW(order, netlib_tls_options_set_option_bits(o, NETLIB_OP_ALL | NETLIB_OP_CIPHER_SERVER_PREFERENCE))
ROW(servername_1, netlib_tls_options_set_servername_callback(o, name_a, &ctx_a, NULL))
ROW(servername_2, netlib_tls_options_set_servername_callback(o, name_b, &ctx_a, NULL))
ROW(servername_3, netlib_tls_options_set_servername_callback(o, name_a, &ctx_b, NULL))
ROW(server_only, netlib_tls_options_set_identity_files(o, CERTS "client.pem", CERTS "client.key");
    netlib_tls_options_set_server_only(o, 1))
ROW(keep_trust_anchors, netlib_tls_options_set_keep_trust_anchors(o, 1))
ROW(npn, netlib_tls_options_set_npn_protocols(o, (const char *const[]){"h2"}, 1))
ROW(common_name, netlib_tls_options_set_hostname_checks_common_name(o, 1))
ROW(post_handshake, netlib_tls_options_set_post_handshake_auth(o, 1))

static const struct {
    const char *setter; /* without netlib_tls_options_ */
    void (*set)(tls *);
    enum effect effect;
} rows[] = {
    {"", base, CHANGES},
    {"add_ca_file", ca_file, CHANGES},
    {"add_ca_data", ca_data, AS_LAST},
    {"add_ca_dir", ca_dir, AS_LAST},
    {"add_ca_file", ca_again, AS_BASE},
    {"add_ca_file", other_ca, CHANGES},
    {"add_ca_file", both_cas, CHANGES},
    {"add_ca_file", cas_both, AS_LAST},
    {"add_ca_file", one_key, CHANGES},
    {"add_ca_file", one_key_again, CHANGES}, /* the same certificate: first as an authority, now as the peer's own */
    {"set_system_trust", no_system, AS_BASE},
    {"set_embedded_trust", embedded, CHANGES},
    {"set_identity_files", identity_files, CHANGES},
    {"set_identity", identity, AS_LAST},
    {"set_key_password", encrypted, AS_LAST},
    {"set_identity_files", other_identity, CHANGES},
    {"set_key_password", password, AS_BASE},
    {"set_verify_mode", none, CHANGES},
    {"set_verify_mode", optional, CHANGES},
    {"set_verify_mode", required, CHANGES}, /* the default of servers differs from that of clients */
    {"set_check_hostname", no_name, CHANGES},
    {"set_check_hostname", name, AS_BASE},
    {"add_pin", pin, CHANGES},
    {"add_pin", pin_twice, AS_LAST},
    {"add_pin", two_pins, CHANGES},
    {"add_pin", other_pin, CHANGES},
    {"add_pin", key_pin, CHANGES},
    {"set_pins_replace_chain", replace, CHANGES},
    {"add_crl_file", crl_file, CHANGES},
    {"add_crl_data", crl_data, AS_LAST},
    {"add_crl_file", other_crl, CHANGES},
    {"set_verify_flags", leaf_crl, CHANGES},
    {"set_verify_flags", strict, CHANGES},
    {"set_wall_clock", clock_1, CHANGES},
    {"set_wall_clock", clock_2, CHANGES},
    {"set_wall_clock", clock_3, CHANGES},
    {"set_wall_clock", no_clock, AS_BASE},
    {"set_minimum_version", minimum, CHANGES},
    {"set_maximum_version", maximum, CHANGES},
    {"set_ssl_version", method, AS_LAST},
    {"add_alpn_protocol", h2, CHANGES},
    {"add_alpn_protocol", h2_http, CHANGES},
    {"add_alpn_protocol", http_h2, CHANGES},
    {"add_alpn_protocol", run_together, CHANGES},
    {"set_resumption", resumption, CHANGES},
    {"set_session_tickets", tickets, CHANGES},
    {"set_keylog_file", keylog, CHANGES},
    {"set_keylog_file", other_keylog, CHANGES},
    {"set_keylog_file", no_keylog, AS_BASE},
    {"set_use_environment", no_environment, AS_BASE},
    {"set_ciphers", ciphers, CHANGES},
    {"set_ciphers", ciphers_named, AS_LAST},
    {"set_ciphers", ciphers_13, CHANGES},
    {"set_key_exchange_groups", groups, CHANGES},
    {"set_key_exchange_groups", groups_named, AS_LAST},
    {"set_key_exchange_groups", groups_backwards, CHANGES},
    {"set_early_data", early_data, CHANGES},
    {"set_ech_config_list", ech, CHANGES},
    {"set_ech_config_list", other_ech, CHANGES},
    {"set_ech_grease", ech_grease, CHANGES},
    {"set_option_bits", order, CHANGES},
    {"set_servername_callback", servername_1, CHANGES},
    {"set_servername_callback", servername_2, CHANGES},
    {"set_servername_callback", servername_3, CHANGES},
    {"set_server_only", server_only, CHANGES},
    {"set_keep_trust_anchors", keep_trust_anchors, AS_BASE},
    {"set_npn_protocols", npn, REFUSED},
    {"set_hostname_checks_common_name", common_name, REFUSED},
    {"set_post_handshake_auth", post_handshake, REFUSED},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef netlib_connect_options con;
#define CON(name, ...) \
    static void name(con *o) { __VA_ARGS__; }
CON(c_base, (void)o)
CON(c_timeout, netlib_connect_options_set_timeout(o, 5.0))
CON(c_no_timeout, netlib_connect_options_set_timeout(o, NETLIB_TIMEOUT_NONE))
CON(c_default_timeout, netlib_connect_options_set_timeout(o, NETLIB_TIMEOUT_DEFAULT))
CON(c_source, netlib_connect_options_set_source_address(o, "127.0.0.1", 0))
CON(c_source_port, netlib_connect_options_set_source_address(o, "127.0.0.1", 1024))
CON(c_port, netlib_connect_options_set_source_address(o, "", 1024))
CON(c_interface, netlib_connect_options_set_interface(o, "lo"))
CON(c_interface_2, netlib_connect_options_set_interface(o, "eth0"))
CON(c_no_delay, netlib_connect_options_set_no_delay(o, 1))
CON(c_delay, netlib_connect_options_set_no_delay(o, 0))
CON(c_keepalive, netlib_connect_options_set_keepalive(o, NETLIB_TIMEOUT_DEFAULT, NETLIB_TIMEOUT_DEFAULT, NETLIB_NONE))
CON(c_keepalive_1, netlib_connect_options_set_keepalive(o, 1.0, NETLIB_TIMEOUT_DEFAULT, NETLIB_NONE))
CON(c_keepalive_2, netlib_connect_options_set_keepalive(o, NETLIB_TIMEOUT_DEFAULT, 1.0, NETLIB_NONE))
CON(c_keepalive_3, netlib_connect_options_set_keepalive(o, NETLIB_TIMEOUT_DEFAULT, NETLIB_TIMEOUT_DEFAULT, 1))
CON(c_user_timeout, netlib_connect_options_set_user_timeout(o, 1.0))
CON(c_option, netlib_connect_options_add_socket_option(o, 1, 2, &(int){1}, sizeof(int)))
CON(c_option_2, netlib_connect_options_add_socket_option(o, 1, 2, &(int){0}, sizeof(int)))
CON(c_option_3, netlib_connect_options_add_socket_option(o, 2, 1, &(int){1}, sizeof(int)))
CON(c_option_4, netlib_connect_options_add_socket_option(o, 1, 3, &(int){1}, sizeof(int)))
CON(c_option_5, netlib_connect_options_add_socket_option(o, 2, 2, &(int){1}, sizeof(int)))
CON(c_options, c_option(o); c_option_2(o))
CON(c_options_2, c_option_2(o); c_option(o))
CON(c_refuse, netlib_connect_options_refuse_addresses(o, NETLIB_ADDRESS_CLASS_PRIVATE))
CON(c_refuse_2, netlib_connect_options_refuse_addresses(o, NETLIB_ADDRESS_CLASS_METADATA))
CON(c_refuse_none, netlib_connect_options_refuse_addresses(o, 0))
CON(c_address_1, netlib_connect_options_set_address_callback(o, address_a, &ctx_a, NULL))
CON(c_address_2, netlib_connect_options_set_address_callback(o, address_b, &ctx_a, NULL))
CON(c_address_3, netlib_connect_options_set_address_callback(o, address_a, &ctx_b, NULL))
CON(c_resolve_1, netlib_connect_options_set_resolve_callback(o, resolve_a, &ctx_a, NULL))
CON(c_resolve_2, netlib_connect_options_set_resolve_callback(o, resolve_b, &ctx_a, NULL))
CON(c_resolve_3, netlib_connect_options_set_resolve_callback(o, resolve_a, &ctx_b, NULL))
static void use_timeout(con *o, double total, double connect) {
    netlib_timeout *timeout = NULL;
    netlib_error *err = NULL;
    CHECK_OK(netlib_timeout_new(total, connect, 3.0, &timeout, &err));
    netlib_connect_options_use_timeout(o, timeout);
    netlib_timeout_free(timeout);
}
CON(c_use_timeout, use_timeout(o, NETLIB_TIMEOUT_NONE, 7.0))
CON(c_use_total, use_timeout(o, 20.0, 8.0))
CON(c_use_default, use_timeout(o, NETLIB_TIMEOUT_NONE, NETLIB_TIMEOUT_DEFAULT))
CON(c_supply, netlib_connect_options_set_supply_addresses(o, 1))
CON(c_no_supply, netlib_connect_options_set_supply_addresses(o, 0))
CON(c_ipv4, netlib_connect_options_set_address_family(o, NETLIB_ADDRESS_FAMILY_IPV4))
CON(c_ipv6, netlib_connect_options_set_address_family(o, NETLIB_ADDRESS_FAMILY_IPV6))
CON(c_any_family, netlib_connect_options_set_address_family(o, NETLIB_ADDRESS_FAMILY_ANY))
CON(c_stagger, netlib_connect_options_set_attempt_delay(o, 0.5))

static const struct {
    const char *setter; /* without netlib_connect_options_ */
    void (*set)(con *);
    enum effect effect;
} connects[] = {
    {"", c_base, CHANGES},
    {"set_timeout", c_timeout, CHANGES},
    {"set_timeout", c_no_timeout, CHANGES},
    {"set_timeout", c_default_timeout, AS_BASE},
    {"set_source_address", c_source, CHANGES},
    {"set_source_address", c_source_port, CHANGES},
    {"set_source_address", c_port, CHANGES},
    {"set_interface", c_interface, CHANGES},
    {"set_interface", c_interface_2, CHANGES},
    {"set_no_delay", c_no_delay, AS_BASE}, /* the default */
    {"set_no_delay", c_delay, CHANGES},
    {"set_keepalive", c_keepalive, CHANGES},
    {"set_keepalive", c_keepalive_1, CHANGES},
    {"set_keepalive", c_keepalive_2, CHANGES},
    {"set_keepalive", c_keepalive_3, CHANGES},
    {"set_user_timeout", c_user_timeout, CHANGES},
    {"add_socket_option", c_option, CHANGES},
    {"add_socket_option", c_option_2, CHANGES},
    {"add_socket_option", c_option_3, CHANGES},
    {"add_socket_option", c_option_4, CHANGES},
    {"add_socket_option", c_option_5, CHANGES},
    {"add_socket_option", c_options, CHANGES},
    {"add_socket_option", c_options_2, CHANGES},
    {"refuse_addresses", c_refuse, CHANGES},
    {"refuse_addresses", c_refuse_2, CHANGES},
    {"refuse_addresses", c_refuse_none, AS_BASE},
    {"set_address_callback", c_address_1, CHANGES},
    {"set_address_callback", c_address_2, CHANGES},
    {"set_address_callback", c_address_3, CHANGES},
    {"set_resolve_callback", c_resolve_1, CHANGES},
    {"set_resolve_callback", c_resolve_2, CHANGES},
    {"set_resolve_callback", c_resolve_3, CHANGES},
    {"set_attempt_delay", c_stagger, CHANGES},
    {"use_timeout", c_use_timeout, CHANGES},
    {"use_timeout", c_use_total, CHANGES},
    {"use_timeout", c_use_default, AS_BASE},
    {"set_supply_addresses", c_supply, CHANGES},
    {"set_supply_addresses", c_no_supply, AS_BASE},
    {"set_address_family", c_ipv4, CHANGES},
    {"set_address_family", c_ipv6, CHANGES},
    {"set_address_family", c_any_family, AS_BASE},
};
enum { CONNECTS = sizeof connects / sizeof connects[0] };

/* Checks that all rows with the effect CHANGES have different keys. A row with the effect AS_BASE must have the key of
 * the first row, and a row with AS_LAST the key of the last CHANGES row before it. */
static void check_keys(const char *label, const struct key *keys, const enum effect *effects, int count) {
    for (int i = 0, last = 0; i < count; i++) {
        if (effects[i] == CHANGES) last = i;
        if (effects[i] == REFUSED) continue;
        int as = effects[i] == AS_BASE ? 0 : last;
        for (int j = 0; j < count; j++) {
            if (effects[j] != CHANGES) continue;
            bool is_one = strcmp(keys[i].text, keys[j].text) == 0;
            if (is_one != (j == as)) fprintf(stderr, "%s: rows %d and %d\n", label, i, j);
            CHECK(is_one == (j == as));
        }
    }
}

static netlib_tls_options *options_of(void (*set)(tls *)) {
    netlib_tls_options *options = client_options();
    set(options);
    return options;
}

/* curl had defects because its comparison of connections left settings out. In netlib, every setting of a context that
 * affects its connections is part of the connection key. */
static void tls_settings_that_affect_connections_change_the_connection_key(void) {
    static struct key digests[ROWS], keys[ROWS];
    enum effect effects[ROWS];
    for (int i = 0; i < ROWS; i++) {
        netlib_error *err = NULL;
        effects[i] = rows[i].effect;
        if (effects[i] == REFUSED) {
            netlib_tls_context *none_made = NULL;
            netlib_tls_options *options = options_of(rows[i].set);
            CHECK_STATUS(NETLIB_UNSUPPORTED, netlib_tls_context_new(options, &none_made, &err));
            netlib_tls_options_free(options);
            continue;
        }
        netlib_tls_context *context = context_of(options_of(rows[i].set)), *twin = context_of(options_of(rows[i].set));
        digests[i] = digest_of(context);
        CHECK_STR(digests[i].text, digest_of(twin).text);
        keys[i] = key_of("https://example.com", NULL, context, NULL, NULL, 0);
        CHECK_STR(keys[i].text, key_of("https://example.com", NULL, twin, NULL, NULL, 0).text);
        netlib_tls_context *copy = context_of(netlib_tls_context_to_options(context));
        CHECK_STR(digests[i].text, digest_of(copy).text);
        netlib_tls_context_free(copy);
        netlib_tls_context_free(context), netlib_tls_context_free(twin);
    }
    check_keys("digests", digests, effects, ROWS);
    check_keys("keys", keys, effects, ROWS);
    CHECK_STR(NULL, netlib_tls_context_digest(NULL, NULL));
}

/* A derived context has its own digest, even if the digest of its original context has already been computed. The
 * digest of the derived context equals the digest of a context that is created with the same options. */
static void an_ech_config_list_changes_the_digest_of_a_context(void) {
    netlib_tls_context *plain = client_context(),
                       *made[2] = {context_of(options_of(ech)), context_of(options_of(other_ech))};
    struct key before = digest_of(plain);
    for (int i = 0; i < 2; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *derived = NULL, *again = NULL;
        size_t len = 0, other_len = 0;
        const uint8_t *list = netlib_tls_context_ech_config_list(made[i], &len);
        const uint8_t *other = netlib_tls_context_ech_config_list(made[1 - i], &other_len);
        CHECK_OK(netlib_tls_context_with_ech(plain, other, other_len, &derived, &err));
        CHECK_STR(digest_of(made[1 - i]).text, digest_of(derived).text);
        CHECK_OK(netlib_tls_context_with_ech(derived, list, len, &again, &err));
        CHECK_STR(digest_of(made[i]).text, digest_of(again).text);
        CHECK(strcmp(digest_of(again).text, before.text) != 0);
        netlib_tls_context_free(derived), netlib_tls_context_free(again);
    }
    CHECK_STR(before.text, digest_of(plain).text);
    netlib_tls_context_free(made[0]), netlib_tls_context_free(made[1]);
    netlib_tls_context_free(plain);
}

static void every_connect_option_setter_can_change_the_connection_key(void) {
    static struct key keys[CONNECTS];
    enum effect effects[CONNECTS];
    for (int i = 0; i < CONNECTS; i++) {
        effects[i] = connects[i].effect;
        for (int round = 0; round < 2; round++) {
            netlib_connect_options *options = netlib_connect_options_new();
            connects[i].set(options);
            struct key key = key_of("http://example.com", NULL, NULL, options, NULL, 0);
            if (round > 0) CHECK_STR(keys[i].text, key.text);
            keys[i] = key;
            netlib_connect_options_free(options);
        }
    }
    check_keys("connects", keys, effects, CONNECTS);
    CHECK_STR(keys[0].text, key_of("http://example.com", NULL, NULL, NULL, NULL, 0).text);
}

/* Fails if netlib.h has an option setter without a row in `rows` or `connects`. */
static void every_tls_and_connect_option_setter_has_a_connection_key_test(void) {
    static char header[1 << 20];
    FILE *file = fopen("include/netlib.h", "r");
    CHECK(file != NULL);
    size_t len = fread(header, 1, sizeof header - 1, file), setters = 0;
    fclose(file);
    CHECK(len < sizeof header - 1);
    for (int kind = 0; kind < 2; kind++) {
        const char *prefix = kind == 0 ? "\nvoid netlib_tls_options_" : "\nvoid netlib_connect_options_";
        for (const char *at = header; (at = strstr(at, prefix)) != NULL;) {
            at += strlen(prefix);
            size_t name_len = strcspn(at, "(");
            if (name_len == 4 && strncmp(at, "free", 4) == 0) continue;
            bool found = false;
            for (int i = 0; i < (kind == 0 ? ROWS : CONNECTS); i++) {
                const char *setter = kind == 0 ? rows[i].setter : connects[i].setter;
                found |= strlen(setter) == name_len && strncmp(setter, at, name_len) == 0;
            }
            if (!found) fprintf(stderr, "no row for %.*s\n", (int)name_len, at);
            CHECK(found);
            setters++;
        }
    }
    CHECK(setters >= 40);
}

/* Moving a byte from one part of a key to the next part gives a different key. */
static void connection_keys_differ_if_any_part_differs(void) {
    static struct key keys[MOST_ROWS];
    enum effect effects[MOST_ROWS];
    int count = 0;
    netlib_tls_context *context = client_context(), *other = context_of(options_of(h2));
    struct key digest = digest_of(context);
    const netlib_slice digest_slice = {digest.text, 64}, pieces[] = {{"a", 1}, {"b", 1}},
                       backwards[] = {{"b", 1}, {"a", 1}}, together = {"ab", 2}, nothing = {NULL, 0},
                       two_nothings[] = {{NULL, 0}, {NULL, 0}};
#define KEY(what, ...) (effects[count] = what, keys[count++] = key_of(__VA_ARGS__))
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, NULL, 0);
    KEY(AS_BASE, "HTTPS://EXAMPLE.com:443/a?b#c", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "http://example.com/", NULL, NULL, NULL, NULL, 0);
    KEY(AS_LAST, "//example.com:80", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com:444/", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "https://example.org/", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "https://user:password@example.com/", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "https://user:passwort@example.com/", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "https://user@example.com/", NULL, NULL, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", NULL, context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", NULL, other, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, &digest_slice, 1);
    KEY(CHANGES, "https://example.com/", "http://proxy.example:3128", context, NULL, NULL, 0);
    KEY(AS_LAST, "https://example.com/", "HTTP://PROXY.example:3128/", context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", "https://proxy.example:3128", context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", "http://proxy.example", context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", "http://a:b@proxy.example:3128", context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", "http://a:c@proxy.example:3128", context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", "http://a:c@proxy.example:3128", context, NULL, &digest_slice, 1);
    KEY(CHANGES, "http://proxy.example:3128", "https://example.com/", context, NULL, NULL, 0);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, pieces, 2);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, backwards, 2);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, &together, 1);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, pieces, 1);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, &nothing, 1);
    KEY(CHANGES, "https://example.com/", NULL, NULL, NULL, two_nothings, 2);
    check_keys("parts", keys, effects, count);
    netlib_tls_context_free(context), netlib_tls_context_free(other);
}

/* The key depends on the file content that netlib loaded, not on the path, and not on later changes of the file. */
static void the_connection_key_depends_on_file_contents_not_on_paths(void) {
    char path[150], command[300];
    snprintf(path, sizeof path, "%s/authority.pem", scratch);
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, path);
    snprintf(command, sizeof command, "cp %s %s", CERTS "ca.pem", path);
    CHECK(system(command) == 0);
    netlib_error *err = NULL;
    netlib_tls_context *first = NULL, *second = NULL, *named = client_context();
    CHECK_OK(netlib_tls_context_new(options, &first, &err));
    snprintf(command, sizeof command, "cp %s %s", CERTS "other-ca.pem", path);
    CHECK(system(command) == 0);
    CHECK_OK(netlib_tls_context_new(options, &second, &err));
    CHECK_STR(digest_of(named).text, digest_of(first).text);
    CHECK(strcmp(digest_of(first).text, digest_of(second).text) != 0);
    netlib_tls_options_free(options);
    netlib_tls_context_free(first), netlib_tls_context_free(second), netlib_tls_context_free(named);
    unlink(path);
}

static void invalid_arguments_give_no_connection_key(void) {
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://example.com"), *path = url_of("/a");
    netlib_connect_options *options = netlib_connect_options_new();
    char key[NETLIB_CONNECTION_KEY_SIZE + 1] = "x";
    CHECK(netlib_connection_key(url, NULL, NULL, NULL, NULL, 0, key, 64, &err) == NETLIB_INVALID_ARGUMENT);
    CHECK_STR("size must be at least 65; it is 64", netlib_error_message(err, NULL));
    CHECK_STR("", key);
    netlib_error_free(err);
    err = NULL;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_connection_key(url, NULL, NULL, NULL, NULL, 0, NULL, 0, &err));
    key[0] = 'x';
    CHECK(netlib_connection_key(path, NULL, NULL, NULL, NULL, 0, key, sizeof key, &err) == NETLIB_INVALID_ARGUMENT);
    CHECK_STR("url has no host", netlib_error_message(err, NULL));
    CHECK_STR("", key);
    netlib_error_free(err);
    err = NULL;
    CHECK(netlib_connection_key(url, path, NULL, NULL, NULL, 0, key, sizeof key, &err) == NETLIB_INVALID_ARGUMENT);
    CHECK_STR("proxy has no host", netlib_error_message(err, NULL));
    netlib_error_free(err);
    err = NULL;
    netlib_connect_options_set_attempt_delay(options, -1.0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT,
                 netlib_connection_key(url, NULL, NULL, options, NULL, 0, key, sizeof key, &err));
    netlib_connect_options_free(options);
    netlib_url_free(url), netlib_url_free(path);
}

int main(void) {
    char copy[200];
    /* A key log file makes the key of a context unique, so the tests run without SSLKEYLOGFILE. */
    unsetenv("SSLKEYLOGFILE");
    snprintf(scratch, sizeof scratch, "/tmp/netlib-key-XXXXXX");
    CHECK(mkdtemp(scratch) != NULL);
    snprintf(copy, sizeof copy, "cp %s %s", CERTS "other-ca.pem", scratch);
    CHECK(system(copy) == 0);
    tls_settings_that_affect_connections_change_the_connection_key();
    an_ech_config_list_changes_the_digest_of_a_context();
    every_connect_option_setter_can_change_the_connection_key();
    every_tls_and_connect_option_setter_has_a_connection_key_test();
    connection_keys_differ_if_any_part_differs();
    snprintf(copy, sizeof copy, "%s/other-ca.pem", scratch);
    unlink(copy);
    the_connection_key_depends_on_file_contents_not_on_paths();
    CHECK(rmdir(scratch) == 0);
    invalid_arguments_give_no_connection_key();
    return report("connection key");
}
