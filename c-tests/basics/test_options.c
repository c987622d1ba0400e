/* Tests the functions that every options type has: a check fails with the first error that was recorded and not removed,
 * and a clone is an independent copy. */
#include "harness.h"
#include "retry_makers.h"
#include "tls_peer.h"

#include <pthread.h>

/* ---- the options types ---- */

/* The functions of an options type. `use` makes an object from the options, and frees the object. */
struct type {
    const char *name;
    void *(*make)(void);
    void *(*clone)(const void *options);
    netlib_status (*check)(const void *options, netlib_error **err);
    netlib_status (*use)(const void *options, netlib_error **err);
    void (*free)(void *options);
};

#define TYPE(kind, maker, clone_function, check_function, free_function) \
    static void *make_##kind(void) { return maker; } \
    static void *clone_##kind(const void *options) { return clone_function(options); } \
    static netlib_status check_##kind(const void *options, netlib_error **err) { \
        return check_function(options, err); \
    } \
    static void free_##kind(void *options) { free_function(options); } \
    static const struct type kind##_type = {#kind, make_##kind, clone_##kind, check_##kind, use_##kind, free_##kind};

static netlib_status use_error(const void *options, netlib_error **err) {
    netlib_error *error = NULL;
    netlib_status status = netlib_error_new(NETLIB_IO, "x", options, &error, err);
    netlib_error_free(error);
    return status;
}

static netlib_status use_retry(const void *options, netlib_error **err) {
    netlib_retry *retry = NULL;
    netlib_status status = netlib_retry_new(options, &retry, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_status use_headers(const void *options, netlib_error **err) {
    netlib_headers *headers = NULL;
    netlib_status status = netlib_make_headers(options, &headers, err);
    netlib_headers_free(headers);
    return status;
}

static netlib_status use_connect(const void *options, netlib_error **err) {
    netlib_connect *connect = NULL;
    netlib_status status = netlib_connect_new("127.0.0.1", 1, options, &connect, err);
    netlib_connect_free(connect);
    return status;
}

static netlib_status use_tls(const void *options, netlib_error **err) {
    netlib_tls_context *context = NULL;
    netlib_status status = netlib_tls_context_new(options, &context, err);
    netlib_tls_context_free(context);
    return status;
}

static netlib_status use_url(const void *options, netlib_error **err) {
    netlib_url *url = NULL;
    netlib_status status = netlib_url_from_options(options, &url, err);
    netlib_url_free(url);
    return status;
}

TYPE(error, netlib_error_options_new(), netlib_error_options_clone, netlib_error_options_check,
     netlib_error_options_free)
TYPE(url, netlib_url_options_new(), netlib_url_options_clone, netlib_url_options_check, netlib_url_options_free)
TYPE(retry, netlib_retry_options_new(), netlib_retry_options_clone, netlib_retry_options_check,
     netlib_retry_options_free)
TYPE(headers, netlib_headers_options_new(), netlib_headers_options_clone, netlib_headers_options_check,
     netlib_headers_options_free)
TYPE(connect, netlib_connect_options_new(), netlib_connect_options_clone, netlib_connect_options_check,
     netlib_connect_options_free)
/* These TLS options contain a trusted certificate, so they do not depend on the system's certificates. */
TYPE(tls, client_options(), netlib_tls_options_clone, netlib_tls_options_check, netlib_tls_options_free)

static const struct type *const types[] = {&error_type,   &url_type,     &retry_type,
                                           &headers_type, &connect_type, &tls_type};
enum { TYPES = sizeof types / sizeof types[0] };

/* ---- check ---- */

static const char *const bad_names[] = {"a b"}, *const names[] = {"a"};
static const int32_t bad_codes[] = {99}, codes[] = {503};

/* Each function calls one setter. */
#define CALL(name, call) \
    static void name(void *o) { call; }
CALL(kind_bad, netlib_error_options_set_retry_kind(o, (enum netlib_retry_kind)9))
CALL(kind_good, netlib_error_options_set_retry_kind(o, NETLIB_RETRY_KIND_READ))
CALL(cause_good, netlib_error_options_set_cause(o, NULL))
CALL(url_port_bad, netlib_url_options_set_port(o, 65536))
CALL(url_port_good, netlib_url_options_set_port(o, -1))
CALL(url_auth_bad, netlib_url_options_set_auth(o, "u/"))
CALL(url_credentials, netlib_url_options_set_credentials(o, NULL, NULL))
CALL(url_credentials_bad, netlib_url_options_set_credentials(o, NULL, "p"))
CALL(url_host_good, netlib_url_options_set_host(o, "h"))
CALL(url_path_good, netlib_url_options_set_path(o, "p"))
CALL(max_bad, netlib_retry_options_set_backoff_max(o, -1))
CALL(max_worse, netlib_retry_options_set_backoff_max(o, -2))
CALL(max_good, netlib_retry_options_set_backoff_max(o, 1))
CALL(methods_bad, netlib_retry_options_set_allowed_methods(o, bad_names, 1))
CALL(methods_good, netlib_retry_options_set_allowed_methods(o, names, 1))
CALL(any_method, netlib_retry_options_allow_any_method(o))
CALL(keep_bad, netlib_retry_options_set_keep_headers_on_redirect(o, bad_names, 1))
CALL(keep_any, netlib_retry_options_keep_any_header_on_redirect(o))
CALL(statuses_bad, netlib_retry_options_set_retry_after_statuses(o, bad_codes, 1))
CALL(any_status, netlib_retry_options_obey_any_retry_after(o))
CALL(forcelist_good, netlib_retry_options_set_status_forcelist(o, codes, 1))
CALL(history_bad, netlib_retry_options_add_history(o, NULL, NULL, NULL, 0, NULL))
CALL(history_good, netlib_retry_options_add_history(o, "GET", "/", NULL, 503, NULL))
CALL(keep_alive_bad, netlib_headers_options_set_keep_alive(o, 2))
CALL(keep_alive_good, netlib_headers_options_set_keep_alive(o, 1))
CALL(encoding_bad, netlib_headers_options_set_accept_encoding(o, "a\n"))
CALL(encoding_good, netlib_headers_options_set_accept_encoding(o, "a"))
CALL(encoding_enabled, netlib_headers_options_enable_accept_encoding(o, 1))
CALL(encoding_added_bad, netlib_headers_options_add_accept_encoding(o, "b\r"))
CALL(encoding_added, netlib_headers_options_add_accept_encoding(o, "b"))
CALL(coding_bad, netlib_headers_options_add_supported_coding(o, ""))
CALL(coding_good, netlib_headers_options_add_supported_coding(o, "br"))
CALL(header_bad, netlib_headers_options_add_header(o, "a:", "v"))
CALL(header_good, netlib_headers_options_add_header(o, "a", "v"))
CALL(timeout_bad, netlib_connect_options_set_timeout(o, -5))
CALL(timeout_good, netlib_connect_options_set_timeout(o, 5))
CALL(source_bad, netlib_connect_options_set_source_address(o, "a/b", 0))
CALL(source_good, netlib_connect_options_set_source_address(o, "", 0))
CALL(refuse_bad, netlib_connect_options_refuse_addresses(o, -1))
CALL(refuse_good, netlib_connect_options_refuse_addresses(o, 0))
CALL(socket_option_bad, netlib_connect_options_add_socket_option(o, 1, 1, NULL, 1))
CALL(socket_option_good, netlib_connect_options_add_socket_option(o, 1, 1, "", 0))
CALL(mode_bad, netlib_tls_options_set_verify_mode(o, (enum netlib_verify_mode)7))
CALL(mode_none, netlib_tls_options_set_verify_mode(o, NETLIB_CERT_NONE))
CALL(hostname_on, netlib_tls_options_set_check_hostname(o, 1))
CALL(hostname_off, netlib_tls_options_set_check_hostname(o, 0))
CALL(ciphers_bad, netlib_tls_options_set_ciphers(o, "RC4"))
CALL(ciphers_good, netlib_tls_options_set_ciphers(o, NULL))
CALL(identity_bad, netlib_tls_options_set_identity(o, NULL, 1, NULL, 0))
CALL(identity_files_bad, netlib_tls_options_set_identity_files(o, NULL, NULL))
CALL(identity_files_good, netlib_tls_options_set_identity_files(o, CERTS "server.pem", CERTS "server.key"))
CALL(pin_bad, netlib_tls_options_add_pin(o, "a;b"))
CALL(pin_good, netlib_tls_options_add_pin(o, "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="))
CALL(alpn_bad, netlib_tls_options_add_alpn_protocol(o, ""))
CALL(alpn_good, netlib_tls_options_add_alpn_protocol(o, "h2"))
CALL(tickets_bad, netlib_tls_options_set_session_tickets(o, 2))
CALL(npn_bad, netlib_tls_options_set_npn_protocols(o, names, 1))
CALL(npn_good, netlib_tls_options_set_npn_protocols(o, NULL, 0))

#define RETRY "netlib_retry_options_"
#define URL "netlib_url_options_"
#define HEADERS "netlib_headers_options_"
#define CONNECT "netlib_connect_options_"
#define TLS "netlib_tls_options_"
#define MAX_BAD RETRY "set_backoff_max: must be 0 or more, or NETLIB_TIMEOUT_NONE for no bound; it is -1"
#define BAD_KIND "netlib_error_options_set_retry_kind: kind must be a netlib_retry_kind other than BY_CAUSE; it is 9"
#define BAD_METHOD RETRY "set_allowed_methods: a method must be letters, digits and !#$%&'*+-.^_`|~ only; byte 1 is not"
#define BAD_KEEP \
    RETRY "set_keep_headers_on_redirect: a header name must be letters, digits and !#$%&'*+-.^_`|~ only; byte 1 is not"
#define BAD_STATUSES RETRY "set_retry_after_statuses: status codes must be 100 to 999; one is 99"
#define BAD_HISTORY RETRY "add_history: status must be 100 to 999 or NETLIB_NONE; it is 0"
#define BAD_ENCODING HEADERS "set_accept_encoding: header accept-encoding: LF is not allowed in the value at byte 1"
#define BAD_ADDED HEADERS "add_accept_encoding: header accept-encoding: CR is not allowed in the value at byte 1"
#define BAD_HEADER HEADERS "add_header: header name beginning \"a\": \":\" is not allowed at byte 1"
#define BAD_IDENTITY TLS "set_identity: chain must not be NULL"

static void a_check_fails_with_the_first_error_that_no_later_call_removed(void) {
    /* The setters in the order of their calls, and the status and message of the error that the options then hold;
     * NETLIB_OK if they hold none. */
    static const struct {
        const struct type *type;
        void (*calls[3])(void *options);
        netlib_status status;
        const char *message;
    } rows[] = {
        {&error_type, {kind_bad}, NETLIB_INVALID_ARGUMENT, BAD_KIND},
        {&error_type, {kind_bad, kind_good}, NETLIB_OK, NULL},
        {&error_type, {kind_bad, cause_good}, NETLIB_INVALID_ARGUMENT, BAD_KIND},
        {&error_type, {kind_good, kind_bad}, NETLIB_INVALID_ARGUMENT, BAD_KIND},

        {&url_type, {url_port_bad}, NETLIB_INVALID_ARGUMENT, URL "set_port: port must be -1 to 65535; it is 65536"},
        {&url_type, {url_port_bad, url_port_good}, NETLIB_OK, NULL},
        {&url_type,
         {url_auth_bad},
         NETLIB_INVALID_URL,
         URL "set_auth: the userinfo has a character that would end it at byte 1"},
        {&url_type, {url_auth_bad, url_credentials}, NETLIB_OK, NULL},
        {&url_type,
         {url_auth_bad, url_credentials_bad},
         NETLIB_INVALID_ARGUMENT,
         URL "set_credentials: the password needs a username"},

        {&retry_type, {max_bad}, NETLIB_INVALID_ARGUMENT, MAX_BAD},
        {&retry_type, {max_bad, max_good}, NETLIB_OK, NULL},
        {&retry_type, {max_worse, max_bad}, NETLIB_INVALID_ARGUMENT, MAX_BAD},
        {&retry_type, {max_bad, forcelist_good}, NETLIB_INVALID_ARGUMENT, MAX_BAD},
        {&retry_type, {max_bad, methods_bad}, NETLIB_INVALID_ARGUMENT, MAX_BAD},
        {&retry_type, {max_bad, methods_bad, max_good}, NETLIB_INVALID_ARGUMENT, BAD_METHOD},
        {&retry_type, {max_bad, methods_bad, max_worse}, NETLIB_INVALID_ARGUMENT, BAD_METHOD},
        {&retry_type, {methods_bad, methods_good}, NETLIB_OK, NULL},
        {&retry_type, {methods_bad, any_method}, NETLIB_OK, NULL},
        {&retry_type, {any_method, methods_bad}, NETLIB_INVALID_ARGUMENT, BAD_METHOD},
        {&retry_type, {keep_bad}, NETLIB_INVALID_ARGUMENT, BAD_KEEP},
        {&retry_type, {keep_bad, keep_any}, NETLIB_OK, NULL},
        {&retry_type, {statuses_bad}, NETLIB_INVALID_ARGUMENT, BAD_STATUSES},
        {&retry_type, {statuses_bad, any_status}, NETLIB_OK, NULL},
        {&retry_type, {history_bad, history_good}, NETLIB_INVALID_ARGUMENT, BAD_HISTORY},

        {&headers_type,
         {keep_alive_bad},
         NETLIB_INVALID_ARGUMENT,
         HEADERS "set_keep_alive: keep_alive must be 0 or 1; it is 2"},
        {&headers_type, {keep_alive_bad, keep_alive_good}, NETLIB_OK, NULL},
        {&headers_type, {encoding_bad}, NETLIB_INVALID_HEADER, BAD_ENCODING},
        {&headers_type, {encoding_bad, encoding_good}, NETLIB_OK, NULL},
        {&headers_type, {encoding_bad, encoding_enabled}, NETLIB_OK, NULL},
        {&headers_type, {encoding_bad, encoding_added}, NETLIB_INVALID_HEADER, BAD_ENCODING},
        {&headers_type, {encoding_added_bad, encoding_added}, NETLIB_INVALID_HEADER, BAD_ADDED},
        {&headers_type, {encoding_added_bad, encoding_good}, NETLIB_OK, NULL},
        {&headers_type, {encoding_added_bad, encoding_bad}, NETLIB_INVALID_HEADER, BAD_ENCODING},
        {&headers_type,
         {coding_bad, coding_good},
         NETLIB_INVALID_HEADER,
         HEADERS "add_supported_coding: the coding is empty"},
        {&headers_type, {header_bad, header_good}, NETLIB_INVALID_HEADER, BAD_HEADER},

        {&connect_type,
         {timeout_bad},
         NETLIB_INVALID_ARGUMENT,
         CONNECT
         "set_timeout: timeout must be 0 seconds or more, NETLIB_TIMEOUT_NONE or NETLIB_TIMEOUT_DEFAULT; it is -5"},
        {&connect_type, {timeout_bad, timeout_good}, NETLIB_OK, NULL},
        {&connect_type,
         {source_bad},
         NETLIB_INVALID_URL,
         CONNECT "set_source_address: the host \"a/b\" has '/' at byte 1: pass only the host of the URL"},
        {&connect_type, {source_bad, source_good}, NETLIB_OK, NULL},
        {&connect_type,
         {refuse_bad, refuse_good},
         NETLIB_INVALID_ARGUMENT,
         CONNECT "refuse_addresses: classes has unknown bits: 0xffffffff"},
        {&connect_type,
         {socket_option_bad, socket_option_good},
         NETLIB_NULL_ARGUMENT,
         CONNECT "add_socket_option: value must not be NULL"},

        {&tls_type,
         {mode_bad},
         NETLIB_INVALID_ARGUMENT,
         TLS "set_verify_mode: mode must be one of enum netlib_verify_mode; it is 7"},
        {&tls_type, {mode_bad, mode_none}, NETLIB_OK, NULL},
        {&tls_type,
         {hostname_on, mode_none, hostname_off},
         NETLIB_INVALID_ARGUMENT,
         TLS "set_verify_mode: NETLIB_CERT_NONE requires that check_hostname is turned off first"},
        {&tls_type, {ciphers_bad, ciphers_good}, NETLIB_OK, NULL},
        {&tls_type, {identity_bad}, NETLIB_NULL_ARGUMENT, BAD_IDENTITY},
        {&tls_type, {identity_bad, identity_files_good}, NETLIB_OK, NULL},
        {&tls_type, {identity_files_bad, identity_bad}, NETLIB_NULL_ARGUMENT, BAD_IDENTITY},
        {&tls_type, {pin_bad, pin_good}, NETLIB_INVALID_ARGUMENT, TLS "add_pin: pin has a ';': add one pin at a time"},
        {&tls_type,
         {alpn_bad, alpn_good},
         NETLIB_INVALID_ARGUMENT,
         TLS "add_alpn_protocol: protocol must have 1 to 255 bytes; it has 0"},
        {&tls_type,
         {tickets_bad, mode_none},
         NETLIB_INVALID_ARGUMENT,
         TLS "set_session_tickets: on must be 0 or 1; it is 2"},
        {&tls_type,
         {npn_bad},
         NETLIB_UNSUPPORTED,
         TLS "set_npn_protocols: NPN was replaced by ALPN (RFC 7301): netlib_tls_options_add_alpn_protocol"},
        {&tls_type, {npn_bad, npn_good}, NETLIB_OK, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct type *type = rows[i].type;
        unsigned long failed_before = checks_failed;
        netlib_error *err = NULL;
        void *options = type->make();
        for (size_t call = 0; call < 3 && rows[i].calls[call] != NULL; call++) rows[i].calls[call](options);
        /* Two checks in a row find the same error, and making the object fails with this error. A clone has the error
         * too, even after the original is freed. */
        for (int check = 0; check < 2; check++) {
            netlib_status status = type->check(options, &err);
            CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
            CHECK_STATUS(rows[i].status, status);
        }
        netlib_status status = type->use(options, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(rows[i].status, type->check(options, NULL));
        void *clone = type->clone(options);
        type->free(options);
        status = type->check(clone, &err);
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        type->free(clone);
        if (checks_failed > failed_before) fprintf(stderr, "    row %zu, %s options\n", i, type->name);
    }
}

static void a_check_of_null_or_new_options_succeeds(void) {
    for (size_t i = 0; i < TYPES; i++) {
        netlib_error *err = NULL;
        CHECK_OK(types[i]->check(NULL, &err));
        void *options = types[i]->make();
        CHECK_OK(types[i]->check(options, &err));
        types[i]->free(options);
        CHECK(types[i]->clone(NULL) == NULL);
    }
}

static void a_check_of_tls_options_ignores_missing_files_and_contradictions(void) {
    netlib_error *err = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, "/no/such/file");
    netlib_tls_options_add_ca_data(options, "no PEM", NETLIB_NTS);
    netlib_tls_options_set_identity(options, "no PEM", NETLIB_NTS, NULL, 0);
    netlib_tls_options_set_minimum_version(options, NETLIB_TLS_VERSION_1_3);
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_2);
    CHECK_OK(netlib_tls_options_check(options, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, use_tls(options, &err));
    netlib_tls_options_set_maximum_version(options, NETLIB_TLS_VERSION_1_3);
    CHECK_STATUS(NETLIB_INVALID_PEM, use_tls(options, &err));
    netlib_tls_options_free(options);
}

static void a_valid_value_replaces_a_refused_value_of_the_same_setting(void) {
    netlib_error *err = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_backoff_max(options, 7);
    netlib_retry_options_set_backoff_factor(options, -1);
    netlib_retry_options_set_backoff_max(options, -1);
    netlib_retry_options_set_backoff_factor(options, 2);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_retry_options_check(options, &err));
    netlib_retry_options_set_total(options, 4);
    netlib_retry_options_set_backoff_max(options, 8);
    netlib_retry *retry = retry_of(options);
    CHECK_DOUBLE(8, netlib_retry_backoff_max(retry));
    CHECK_DOUBLE(2, netlib_retry_backoff_factor(retry));
    CHECK_INT(4, netlib_retry_total_left(retry));
    netlib_retry_free(retry);
}

/* ---- clone ---- */

/* Makes an object from the options, and writes a text that shows the settings which the tests change. */
typedef void describe_fn(const void *options, char text[128]);

static void describe_error(const void *options, char text[128]) {
    netlib_error *err = NULL, *error = NULL;
    CHECK_OK(netlib_error_new(NETLIB_IO, "x", options, &error, &err));
    snprintf(text, 128, "%d", (int)netlib_error_retry_kind(error));
    netlib_error_free(error);
}
static void describe_url(const void *options, char text[128]) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_url_from_options(options, &url, &err));
    snprintf(text, 128, "%s", netlib_url_to_string(url, NULL));
    netlib_url_free(url);
}
static void describe_retry(const void *options, char text[128]) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    snprintf(text, 128, "%d %g %zu", (int)netlib_retry_total_left(retry), netlib_retry_backoff_max(retry),
             netlib_retry_history_count(retry));
    netlib_retry_free(retry);
}
static void describe_headers(const void *options, char text[128]) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    CHECK_OK(netlib_make_headers(options, &headers, &err));
    snprintf(text, 128, "%s", netlib_headers_to_wire(headers, NULL));
    netlib_headers_free(headers);
}
static void describe_connect(const void *options, char text[128]) {
    netlib_error *err = NULL;
    netlib_url *url = url_of("http://example.com/");
    CHECK_OK(netlib_connection_key(url, NULL, NULL, options, NULL, 0, text, 128, &err));
    netlib_url_free(url);
}
static void describe_tls(const void *options, char text[128]) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    CHECK_OK(netlib_tls_context_new(options, &context, &err));
    snprintf(text, 128, "%s", netlib_tls_context_digest(context, NULL));
    netlib_tls_context_free(context);
}

CALL(kind_connect, netlib_error_options_set_retry_kind(o, NETLIB_RETRY_KIND_CONNECT))
CALL(total, netlib_retry_options_set_total(o, 3))
CALL(agent, netlib_headers_options_set_user_agent(o, "a/1"))
CALL(no_delay, netlib_connect_options_set_no_delay(o, 1))

static void a_clone_of_options_is_an_independent_copy(void) {
    /* `before` is called before the options are cloned; `first` and `second` are then called with either the clone or
     * the original. */
    static const struct {
        const struct type *type;
        describe_fn *describe;
        void (*before)(void *options);
        void (*first)(void *options);
        void (*second)(void *options);
    } rows[] = {
        {&error_type, describe_error, kind_connect, kind_good, kind_good},
        {&url_type, describe_url, url_host_good, url_path_good, url_credentials},
        {&retry_type, describe_retry, total, max_good, history_good},
        {&headers_type, describe_headers, agent, encoding_added, header_good},
        {&headers_type, describe_headers, encoding_added, encoding_added, keep_alive_good},
        {&headers_type, describe_headers, header_good, header_good, encoding_good},
        {&headers_type, describe_headers, encoding_enabled, coding_good, header_good},
        {&connect_type, describe_connect, no_delay, timeout_good, socket_option_good},
        {&tls_type, describe_tls, identity_files_good, npn_good, alpn_good},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct type *type = rows[i].type;
        unsigned long failed_before = checks_failed;
        char unchanged[128], changed[128], text[128];
        for (int change_clone = 0; change_clone < 2; change_clone++) {
            void *original = type->make();
            rows[i].before(original);
            rows[i].describe(original, unchanged);
            void *clone = type->clone(original);
            CHECK(clone != NULL && clone != original);
            rows[i].describe(clone, text);
            CHECK_STR(unchanged, text);
            void *changing = change_clone ? clone : original, *kept = change_clone ? original : clone;
            rows[i].first(changing);
            rows[i].second(changing);
            rows[i].describe(changing, changed);
            CHECK(strcmp(unchanged, changed) != 0);
            rows[i].describe(kept, text);
            CHECK_STR(unchanged, text);
            /* After the changed options are freed, the same calls change the unchanged options in the same way. */
            type->free(changing);
            rows[i].describe(kept, text);
            CHECK_STR(unchanged, text);
            rows[i].first(kept);
            rows[i].second(kept);
            rows[i].describe(kept, text);
            CHECK_STR(changed, text);
            type->free(kept);
        }
        if (checks_failed > failed_before) fprintf(stderr, "    row %zu, %s options\n", i, type->name);
    }
}

static void options_and_their_clone_record_errors_independently(void) {
    static const struct {
        const struct type *type;
        void (*bad)(void *options);
        void (*good)(void *options);
    } rows[] = {
        {&error_type, kind_bad, kind_good},
        {&retry_type, max_bad, max_good},
        {&headers_type, encoding_bad, encoding_good},
        {&connect_type, timeout_bad, timeout_good},
        {&tls_type, mode_bad, mode_none},
        {&url_type, url_port_bad, url_port_good},
    };
    CHECK_INT(TYPES, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct type *type = rows[i].type;
        void *options = type->make();
        void *clone = type->clone(options);
        rows[i].bad(clone);
        CHECK_INT(NETLIB_OK, type->check(options, NULL));
        CHECK(type->check(clone, NULL) != NETLIB_OK);
        void *second = type->clone(clone);
        rows[i].good(second);
        CHECK_INT(NETLIB_OK, type->check(second, NULL));
        CHECK(type->check(clone, NULL) != NETLIB_OK);
        type->free(clone);
        type->free(options);
        CHECK_INT(NETLIB_OK, type->use(second, NULL));
        type->free(second);
    }
}

static void count_free(void *ctx) { ++*(int *)ctx; }

static void user_data_is_freed_once_when_the_options_and_their_clone_are_freed(void) {
    for (int clone_first = 0; clone_first < 2; clone_first++) {
        int freed = 0;
        netlib_error_options *options = netlib_error_options_new();
        netlib_error_options_set_user_data(options, &freed, count_free);
        netlib_error_options *clone = netlib_error_options_clone(options);
        kind_good(clone);
        netlib_error_options_free(clone_first ? clone : options);
        CHECK_INT(0, freed);
        netlib_error_options_free(clone_first ? options : clone);
        CHECK_INT(1, freed);
    }
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 50 };

/* A row of the table in the test below, and the options that a thread uses: a clone or the original. */
struct task {
    const struct type *type;
    describe_fn *describe;
    void (*set)(void *options);
    void *clone;
    char text[128];
};

static void *change_clone_and_free(void *argument) {
    struct task *task = argument;
    void *second = task->type->clone(task->clone);
    task->set(task->clone);
    task->describe(task->clone, task->text);
    task->set(second);
    task->type->free(task->clone);
    task->type->free(second);
    return NULL;
}

static void threads_can_change_clones_of_the_same_options_at_the_same_time(void) {
    static const struct task rows[] = {
        {&error_type, describe_error, kind_good, NULL, ""},
        {&retry_type, describe_retry, history_good, NULL, ""},
        {&headers_type, describe_headers, header_good, NULL, ""},
        {&connect_type, describe_connect, socket_option_good, NULL, ""},
        {&tls_type, describe_tls, alpn_good, NULL, ""},
        {&url_type, describe_url, url_path_good, NULL, ""},
    };
    CHECK_INT(TYPES, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char expected[128];
        void *changed = rows[i].type->make();
        rows[i].set(changed);
        rows[i].describe(changed, expected);
        rows[i].type->free(changed);
        for (int round = 0; round < ROUNDS; round++) {
            struct task tasks[THREADS];
            pthread_t threads[THREADS];
            void *options = rows[i].type->make();
            for (int t = 0; t < THREADS; t++) {
                tasks[t] = rows[i];
                tasks[t].clone = t == 0 ? options : rows[i].type->clone(options);
            }
            for (int t = 0; t < THREADS; t++) {
                CHECK(pthread_create(&threads[t], NULL, change_clone_and_free, &tasks[t]) == 0);
            }
            for (int t = 0; t < THREADS; t++) {
                CHECK(pthread_join(threads[t], NULL) == 0);
                CHECK_STR(expected, tasks[t].text);
            }
        }
    }
}

int main(void) {
    a_check_fails_with_the_first_error_that_no_later_call_removed();
    a_check_of_null_or_new_options_succeeds();
    a_check_of_tls_options_ignores_missing_files_and_contradictions();
    a_valid_value_replaces_a_refused_value_of_the_same_setting();
    a_clone_of_options_is_an_independent_copy();
    options_and_their_clone_record_errors_independently();
    user_data_is_freed_once_when_the_options_and_their_clone_are_freed();
    threads_can_change_clones_of_the_same_options_at_the_same_time();
    return report("options");
}
