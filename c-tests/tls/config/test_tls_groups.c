/* Tests the key-exchange groups that a ClientHello offers, and the group that a handshake negotiates. */
#include "tls_wire.h"

#define SETTER "netlib_tls_options_set_key_exchange_groups: "
#define ALL "X25519MLKEM768, x25519, secp256r1, secp384r1, SecP256r1MLKEM768, MLKEM768, MLKEM1024"
#define USUAL "X25519MLKEM768 x25519 secp256r1 secp384r1"

static const char *listed(const netlib_tls_context *context) {
    return join_names(context, netlib_tls_context_key_exchange_group_count, netlib_tls_context_key_exchange_group);
}

static void valid_key_exchange_group_lists_are_accepted_and_others_refused(void) {
    static const struct {
        const char *list;
        int32_t minimum, maximum; /* 0: not set */
        netlib_status status;
        long long offset;
        const char *groups; /* the groups, or the message */
        int32_t oldest;
    } rows[] = {
        {NULL, 0, 0, NETLIB_OK, -1, USUAL, NETLIB_TLS_VERSION_1_2},
        {"", 0, 0, NETLIB_OK, -1, USUAL, NETLIB_TLS_VERSION_1_2},
        {"x25519", 0, 0, NETLIB_OK, -1, "x25519", NETLIB_TLS_VERSION_1_2},
        {"P-384:?X448:prime256v1", 0, 0, NETLIB_OK, -1, "secp384r1 secp256r1", NETLIB_TLS_VERSION_1_2},
        {"x25519mlkem768:SECP256R1", 0, 0, NETLIB_OK, -1, "X25519MLKEM768 secp256r1", NETLIB_TLS_VERSION_1_2},
        /* A list with only TLS 1.3 groups requires TLS 1.3. In a mixed list, older versions ignore TLS 1.3 groups. */
        {"X25519MLKEM768", 0, 0, NETLIB_OK, -1, "X25519MLKEM768", NETLIB_TLS_VERSION_1_3},
        {"SecP256r1MLKEM768:MLKEM768:MLKEM1024", 0, 0, NETLIB_OK, -1, "SecP256r1MLKEM768 MLKEM768 MLKEM1024",
         NETLIB_TLS_VERSION_1_3},
        {NULL, 0, NETLIB_TLS_VERSION_1_2, NETLIB_OK, -1, "x25519 secp256r1 secp384r1", NETLIB_TLS_VERSION_1_2},
        {"MLKEM1024:x25519", 0, NETLIB_TLS_VERSION_1_2, NETLIB_OK, -1, "x25519", NETLIB_TLS_VERSION_1_2},
        {"X25519MLKEM768", 0, NETLIB_TLS_VERSION_1_2, NETLIB_INVALID_ARGUMENT, -1,
         SETTER "groups has none for TLS 1.2, and no other version is allowed", 0},
        {"x25519:P-521", 0, 0, NETLIB_INVALID_ARGUMENT, 7,
         SETTER "groups has \"P-521\", which is not one of " ALL ", at byte 7", 0},
        {"x25519:secp256r1:P-256", 0, 0, NETLIB_INVALID_ARGUMENT, 17, SETTER "groups lists secp256r1 twice at byte 17",
         0},
        {"x25519,secp256r1", 0, 0, NETLIB_INVALID_ARGUMENT, 0,
         SETTER "groups has \"x25519,secp256r1\", which is not one of " ALL ", at byte 0", 0},
        {":x25519", 0, 0, NETLIB_INVALID_ARGUMENT, 0, SETTER "groups has no name at byte 0", 0},
        {"x25519:", 0, 0, NETLIB_INVALID_ARGUMENT, 7, SETTER "groups has no name at byte 7", 0},
        {"?x448", 0, 0, NETLIB_INVALID_ARGUMENT, -1, SETTER "groups selects none of " ALL, 0},
        {"\xff", 0, 0, NETLIB_INVALID_ARGUMENT, 0,
         SETTER "groups has \"\\xff\", which is not one of " ALL ", at byte 0", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_key_exchange_groups(options, rows[i].list);
        if (rows[i].minimum != 0) netlib_tls_options_set_minimum_version(options, rows[i].minimum);
        if (rows[i].maximum != 0) netlib_tls_options_set_maximum_version(options, rows[i].maximum);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        if (rows[i].status == NETLIB_OK) {
            CHECK_STR(rows[i].groups, listed(context));
            CHECK_INT(rows[i].oldest, netlib_tls_context_minimum_version(context));
            CHECK_STR(NULL, netlib_tls_context_key_exchange_group(
                                context, netlib_tls_context_key_exchange_group_count(context), NULL));
        } else {
            CHECK_STR(rows[i].groups, netlib_error_message(err, NULL));
            CHECK_INT(rows[i].offset, (long long)netlib_error_offset(err));
        }
        CHECK_STATUS(rows[i].status, status);
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }

    /* The last call of the setter determines the list. NULL restores the default. */
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_key_exchange_groups(options, "MLKEM768");
    netlib_tls_options_set_key_exchange_groups(options, NULL);
    netlib_tls_context *context = context_of(options);
    CHECK_STR(USUAL, listed(context));
    netlib_tls_context_free(context);

    /* A list that is too long is refused. */
    static char longest[4098];
    netlib_error *err = NULL;
    context = NULL;
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '?';
    options = client_options();
    netlib_tls_options_set_key_exchange_groups(options, longest);
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    CHECK_STR(SETTER "groups must have at most 4096 bytes; it has 4097", netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
    netlib_tls_options_free(options);
}

static unsigned number(const unsigned char *bytes) { return (unsigned)bytes[0] << 8 | bytes[1]; }

static const char *name_of(unsigned group) {
    switch (group) {
    case 0x11ec: return "X25519MLKEM768";
    case 0x11eb: return "SecP256r1MLKEM768";
    case 0x0201: return "MLKEM768";
    case 0x0202: return "MLKEM1024";
    case 0x001d: return "x25519";
    case 0x0017: return "secp256r1";
    case 0x0018: return "secp384r1";
    default: return "?";
    }
}

struct offer {
    char groups[200], shares[200];
};

static void add(char *list, size_t room, const char *name) {
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used > 0 ? " " : "", name);
}

/* Reads the groups and key shares of the ClientHello (RFC 8446 section 4.1.2) that the first record contains. */
static struct offer read_hello(const unsigned char *bytes, size_t len) {
    struct offer offer = {"", ""};
    CHECK(len > 60 && bytes[0] == 22 && bytes[5] == 1);
    size_t end = 5 + number(bytes + 3), at = 5 + 4 + 2 + 32;
    CHECK(end <= len);
    at += 1u + bytes[at];          /* session id */
    at += 2u + number(bytes + at); /* cipher suites */
    at += 1u + bytes[at];          /* compression */
    at += 2;                       /* length of the extensions */
    while (at + 4 <= end) {
        unsigned type = number(bytes + at), size = number(bytes + at + 2);
        const unsigned char *body = bytes + at + 4;
        if (type == 10) {
            for (unsigned i = 2; i + 2 <= size; i += 2)
                add(offer.groups, sizeof offer.groups, name_of(number(body + i)));
        } else if (type == 51) {
            for (unsigned i = 2; i + 4 <= size; i += 4 + number(body + i + 2)) {
                add(offer.shares, sizeof offer.shares, name_of(number(body + i)));
            }
        }
        at += 4 + size;
    }
    CHECK_INT((long long)end, (long long)at);
    return offer;
}

static struct offer hello_of(const netlib_tls_context *context) {
    static unsigned char bytes[20000];
    netlib_error *err = NULL;
    netlib_tls_engine *engine = client_engine(context, "localhost");
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(engine, &err));
    struct offer offer = read_hello(bytes, drain_all(engine, bytes, sizeof bytes));
    netlib_tls_engine_free(engine);
    return offer;
}

static netlib_tls_context *client_of(const char *list, int32_t maximum) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_key_exchange_groups(options, list);
    if (maximum != 0) netlib_tls_options_set_maximum_version(options, maximum);
    return context_of(options);
}

static netlib_tls_context *server_of(const char *list) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_key_exchange_groups(options, list);
    return context_of(options);
}

static void the_client_hello_offers_the_listed_groups_and_key_shares(void) {
    static const struct {
        const char *list;
        int32_t maximum;
        const char *groups, *shares;
    } rows[] = {
        {NULL, 0, USUAL, "X25519MLKEM768 x25519"},
        {NULL, NETLIB_TLS_VERSION_1_2, "x25519 secp256r1 secp384r1", ""},
        {"X25519MLKEM768", 0, "X25519MLKEM768", "X25519MLKEM768"},
        {"X25519MLKEM768:secp256r1:x25519", 0, "X25519MLKEM768 secp256r1 x25519", "X25519MLKEM768 x25519"},
        {"x25519:X25519MLKEM768", 0, "x25519 X25519MLKEM768", "x25519"},
        {"secp384r1:x25519", 0, "secp384r1 x25519", "secp384r1"},
        {"SecP256r1MLKEM768:P-256", 0, "SecP256r1MLKEM768 secp256r1", "SecP256r1MLKEM768 secp256r1"},
        {"MLKEM1024", 0, "MLKEM1024", "MLKEM1024"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_context *context = client_of(rows[i].list, rows[i].maximum);
        struct offer offer = hello_of(context);
        CHECK_STR(rows[i].groups, offer.groups);
        CHECK_STR(rows[i].shares, offer.shares);
        netlib_tls_context_free(context);
    }
}

/* Each row has the lists of client and server, and the negotiated group. If the group is NULL, the handshake fails, and
 * the error of each side that set a list has advice that names the setter. */
static void handshakes_negotiate_a_group_that_both_sides_list(void) {
    static const struct {
        const char *client, *server;
        int32_t maximum;
        const char *group, *next_share; /* the key share in the client's next hello to this server */
    } rows[] = {
        {NULL, NULL, 0, "X25519MLKEM768", "X25519MLKEM768 x25519"},
        {NULL, NULL, NETLIB_TLS_VERSION_1_2, "x25519", ""},
        {NULL, "secp256r1:secp384r1", NETLIB_TLS_VERSION_1_2, "secp256r1", ""},
        /* The server accepts the second key share of the ClientHello without a HelloRetryRequest. */
        {NULL, "secp384r1:x25519", 0, "x25519", "x25519"},
        /* The server sends a HelloRetryRequest. In its next session, the client sends the correct key share in the
         * first ClientHello. */
        {NULL, "secp384r1", 0, "secp384r1", "secp384r1"},
        {"secp256r1:MLKEM1024", "MLKEM1024", 0, "MLKEM1024", "MLKEM1024"},
        /* The order of the client's list determines the group. */
        {"secp384r1:x25519", "x25519:secp384r1", 0, "secp384r1", "secp384r1"},
        {"SecP256r1MLKEM768", "SecP256r1MLKEM768", 0, "SecP256r1MLKEM768", "SecP256r1MLKEM768"},
        {"x25519", "secp256r1", 0, NULL, NULL},
        {NULL, "MLKEM1024", 0, NULL, NULL},
        {"MLKEM768", NULL, 0, NULL, NULL},
    };
    static const char advice[] = "to allow other groups: netlib_tls_options_set_key_exchange_groups";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_context *near = client_of(rows[i].client, rows[i].maximum), *far = server_of(rows[i].server);
        struct wire wire = wire_of(near, far, 20000);
        struct handshake_result result = run_handshake(&wire);
        if (rows[i].group != NULL) {
            char out[10];
            CHECK_HANDSHAKE(NETLIB_OK, NETLIB_OK, result);
            CHECK_STR(rows[i].group, netlib_tls_engine_key_exchange_group(wire.client, NULL));
            CHECK_STR(rows[i].group, netlib_tls_engine_key_exchange_group(wire.server, NULL));
            CHECK_INT(4, (long long)transfer(&wire, true, "data", out, sizeof out));
            CHECK_STR(rows[i].next_share, hello_of(near).shares);
        } else {
            netlib_error *err = NULL;
            CHECK_HANDSHAKE(NETLIB_TLS_ALERT, NETLIB_TLS_INCOMPATIBLE, result);
            CHECK_INT(40, result.client_alert);
            CHECK_INT(40, result.server_alert);
            CHECK_STR("the client and this side have no key-exchange group in common", result.message[1]);
            netlib_status status = netlib_tls_engine_handshake(wire.server, &err);
            CHECK_STR(rows[i].server != NULL ? advice : NULL, netlib_error_advice(err, NULL));
            CHECK_STATUS(NETLIB_TLS_INCOMPATIBLE, status);
            status = netlib_tls_engine_handshake(wire.client, &err);
            CHECK_STR(rows[i].client != NULL ? advice : NULL, netlib_error_advice(err, NULL));
            CHECK_STATUS(NETLIB_TLS_ALERT, status);
        }
        free_wire(&wire);
        netlib_tls_context_free(near);
        netlib_tls_context_free(far);
    }
}

int main(void) {
    valid_key_exchange_group_lists_are_accepted_and_others_refused();
    the_client_hello_offers_the_listed_groups_and_key_shares();
    handshakes_negotiate_a_group_that_both_sides_list();
    return report("tls_groups");
}
