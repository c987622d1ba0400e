/* A call that runs out of memory while it copies an argument fails with NETLIB_OUT_OF_MEMORY. Each row of the table
 * runs in its own process, whose address space has no room for another copy of `text`. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "harness.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The length of `text`. The length is below every size limit of netlib, but exceeds the free space of the heap. If the
 * test cannot limit the address space, the length is SMALL. */
static size_t size = (size_t)12 * 1024 * 1024;
enum { SMALL = 4096 };
static char *text;

/* ---- steps before the memory limit is set, and calls after it is set ---- */

static netlib_headers_options *header_options;
static netlib_headers *headers;

static void prepare_nothing(void) {}

static netlib_status create_error(void) {
    netlib_error *error = NULL;
    netlib_status status = netlib_error_new(NETLIB_IO, text, NULL, &error, NULL);
    netlib_error_free(error);
    return status;
}

static netlib_status try_headers(netlib_headers_options *options) {
    netlib_headers *result = NULL;
    netlib_status status = netlib_make_headers(options, &result, NULL);
    netlib_headers_free(result);
    netlib_headers_options_free(options);
    return status;
}

#define SETTER(name, call) \
    static netlib_status name(void) { \
        netlib_headers_options *options = netlib_headers_options_new(); \
        call; \
        return try_headers(options); \
    }
SETTER(set_accept_encoding, netlib_headers_options_set_accept_encoding(options, text))
SETTER(add_accept_encoding, netlib_headers_options_add_accept_encoding(options, text))
SETTER(add_second_accept_encoding, netlib_headers_options_add_accept_encoding(options, "gzip");
       netlib_headers_options_add_accept_encoding(options, text))
SETTER(add_supported_coding, netlib_headers_options_add_supported_coding(options, text))
SETTER(set_user_agent, netlib_headers_options_set_user_agent(options, text))
SETTER(set_basic_auth, netlib_headers_options_set_basic_auth(options, text + size / 2))
SETTER(set_proxy_basic_auth, netlib_headers_options_set_proxy_basic_auth(options, text + size / 2))
SETTER(add_header_with_long_name, netlib_headers_options_add_header(options, text, ""))
SETTER(add_header_with_long_value, netlib_headers_options_add_header(options, "n", text))

static void set_long_user_agent(void) {
    header_options = netlib_headers_options_new();
    netlib_headers_options_set_user_agent(header_options, text);
}

/* Options and their clone share a long value. A setter of another setting does not copy the long value; a setter that
 * adds to the long value copies it. */
#define ADDER(name, add_long, add_short) \
    static void name##_long(void) { \
        header_options = netlib_headers_options_new(); \
        add_long; \
        netlib_headers_options_set_proxy_basic_auth(header_options, text + size / 2); \
    } \
    static netlib_status name##_to_clone(void) { \
        netlib_headers_options *clone = netlib_headers_options_clone(header_options); \
        netlib_headers_options_set_user_agent(clone, "x"); \
        CHECK(netlib_headers_options_check(clone, NULL) == NETLIB_OK); \
        add_short; \
        netlib_status status = netlib_headers_options_check(clone, NULL); \
        CHECK(netlib_headers_options_check(header_options, NULL) == NETLIB_OK); \
        netlib_headers_options_free(clone); \
        netlib_headers_options_free(header_options); \
        return status; \
    }
ADDER(add_header, netlib_headers_options_add_header(header_options, "n", text),
      netlib_headers_options_add_header(clone, "n", "v"))
ADDER(add_accept_encoding, netlib_headers_options_add_accept_encoding(header_options, text),
      netlib_headers_options_add_accept_encoding(clone, "x"))
ADDER(add_supported_coding, netlib_headers_options_add_supported_coding(header_options, text),
      netlib_headers_options_add_supported_coding(clone, "x"))

static void make_headers_with_long_user_agent(void) {
    set_long_user_agent();
    CHECK(netlib_make_headers(header_options, &headers, NULL) == NETLIB_OK);
    netlib_headers_options_free(header_options);
}

static netlib_status make_headers(void) { return try_headers(header_options); }

static netlib_status write_headers(void) {
    size_t len = 99;
    bool failed = netlib_headers_to_wire(headers, &len) == NULL;
    CHECK(!failed || len == 0);
    netlib_headers_free(headers);
    return failed ? NETLIB_OUT_OF_MEMORY : NETLIB_OK;
}

static netlib_status convert_headers_to_options(void) {
    netlib_headers_options *options = netlib_headers_to_options(headers);
    netlib_headers_free(headers);
    netlib_headers_options_set_user_agent(options, NULL); /* does not remove the error */
    netlib_status status = netlib_headers_options_check(options, NULL);
    netlib_headers_options_free(options);
    return status;
}

static void make_empty_headers(void) { CHECK(netlib_make_headers(NULL, &headers, NULL) == NETLIB_OK); }

static netlib_status create_response(void) {
    netlib_response *response = NULL;
    netlib_status status = netlib_response_new(text, 200, headers, &response, NULL);
    netlib_response_free(response);
    netlib_headers_free(headers);
    return status;
}

static netlib_status body(void) {
    netlib_body *copy = NULL;
    netlib_status status = netlib_body_from_memory(text, size, &copy, NULL);
    netlib_body_free(copy);
    return status;
}

static netlib_status add_socket_option(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_add_socket_option(options, 0, 0, text, size);
    int fd = -1;
    netlib_status status = netlib_create_connection("127.0.0.1", 0, options, NULL, &fd, NULL);
    netlib_connect_options_free(options);
    return status;
}

/* A connect holds a reference to its options. A setter that is called later copies the options, but shares the long
 * socket option. */
static netlib_connect_options *connect_options;
static netlib_connect *connecting;

static void create_connect_with_long_socket_option(void) {
    connect_options = netlib_connect_options_new();
    netlib_connect_options_add_socket_option(connect_options, 0, 0, text, size);
    CHECK(netlib_connect_new("127.0.0.1", 0, connect_options, &connecting, NULL) == NETLIB_OK);
}

static netlib_status add_second_socket_option(void) {
    netlib_connect_options_set_no_delay(connect_options, true);
    netlib_connect_options_add_socket_option(connect_options, 0, 0, text, size);
    netlib_connect_free(connecting);
    netlib_status status = netlib_connect_new("127.0.0.1", 0, connect_options, &connecting, NULL);
    netlib_connect_free(connecting);
    netlib_connect_options_free(connect_options);
    return status;
}

static netlib_status try_context(netlib_tls_options *options) {
    netlib_tls_context *result = NULL;
    netlib_status status = netlib_tls_context_new(options, &result, NULL);
    netlib_tls_context_free(result);
    netlib_tls_options_free(options);
    return status;
}

static netlib_status add_ca_data(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_data(options, text, size);
    return try_context(options);
}

static netlib_status set_identity_chain(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity(options, text, size, NULL, 0);
    return try_context(options);
}

static netlib_status set_identity_key(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity(options, "x", 1, text, size);
    return try_context(options);
}

/* ---- data whose decoded form is as large as the copied text ---- */

static netlib_tls_options *tls_options;

static const char ONE[] = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";

/* Fills `text` with one PEM section of base64, or with one DER element if `label` is NULL. */
static void fill(const char *label) {
    memset(text, 'A', size);
    if (label == NULL) {
        unsigned char head[] = {0x30,
                                0x84,
                                0,
                                (unsigned char)((size - 6) >> 16),
                                (unsigned char)((size - 6) >> 8),
                                (unsigned char)(size - 6)};
        memcpy(text, head, sizeof head);
        return;
    }
    char line[64];
    size_t begin = (size_t)snprintf(line, sizeof line, "-----BEGIN %s-----\n", label);
    memcpy(text, line, begin);
    size_t end = (size_t)snprintf(line, sizeof line, "\n-----END %s-----\n", label), body = size - begin - end;
    /* The base64 text has a multiple of four characters; newlines fill the rest. */
    memset(text + begin + body / 4 * 4, '\n', body % 4);
    memcpy(text + size - end, line, end);
}

/* Fills `text` with PKCS#12 data whose content is a constructed OCTET STRING with one segment. */
static void set_long_pkcs12_identity(void) {
    static const unsigned char head[] = {0x30, 0x80, 2,    1, 3, 0x30, 0x80, 6,    9,    0x2a, 0x86, 0x48,
                                         0x86, 0xf7, 0x0d, 1, 7, 1,    0xa0, 0x80, 0x24, 0x80, 0x04, 0x84};
    enum { LEN = 4, ENDS = 4 * 2 };
    size_t len = size - sizeof head - LEN - ENDS;
    unsigned char digits[LEN] = {0, (unsigned char)(len >> 16), (unsigned char)(len >> 8), (unsigned char)len};
    memset(text, 'A', size);
    memcpy(text, head, sizeof head);
    memcpy(text + sizeof head, digits, LEN);
    memset(text + size - ENDS, 0, ENDS);
    tls_options = netlib_tls_options_new();
    netlib_tls_options_set_identity(tls_options, text, size, NULL, 0);
}

#define FILLED(name, label, call) \
    static void name(void) { \
        fill(label); \
        tls_options = netlib_tls_options_new(); \
        call; \
    }
FILLED(add_long_ca_pem, "CERTIFICATE", netlib_tls_options_add_ca_data(tls_options, text, size))
FILLED(add_long_ca_der, NULL, netlib_tls_options_add_ca_data(tls_options, text, size))
FILLED(add_long_crl_pem, "X509 CRL", netlib_tls_options_add_ca_file(tls_options, "tests/certs/ca.pem");
       netlib_tls_options_add_crl_data(tls_options, text, size))
FILLED(add_long_crl_der, NULL, netlib_tls_options_add_ca_file(tls_options, "tests/certs/ca.pem");
       netlib_tls_options_add_crl_data(tls_options, text, size))
FILLED(set_long_chain_pem, "CERTIFICATE", netlib_tls_options_set_identity(tls_options, text, size, "x", 1))
FILLED(set_long_chain_der, NULL, netlib_tls_options_set_identity(tls_options, text, size, "x", 1))
FILLED(set_long_key_pem, "PRIVATE KEY", netlib_tls_options_set_identity(tls_options, ONE, sizeof ONE - 1, text, size))

static netlib_status make_context(void) { return try_context(tls_options); }

/* Loads an encrypted key whose scrypt parameters need 128 MiB (N is 2^17, r is 8, p is 1). If the test cannot limit the
 * address space, it changes N to a number that is not a power of two, so that the key is invalid. */
static netlib_status derive_key_with_scrypt(void) {
    unsigned char key[] = {
        0x30, 0x74, 0x30, 0x50, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d, 0x30, 0x43,
        0x30, 0x22, 0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b, 0x30, 0x15, 0x04, 0x08,
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x02, 0x03, 0x02, 0x00, 0x00, 0x02, 0x01, 0x08, 0x02,
        0x01, 0x01, 0x30, 0x1d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a, 0x04, 0x10,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
        0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    };
    enum { N = 44 };
    if (size == SMALL) key[N]++;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity(options, ONE, NETLIB_NTS, key, sizeof key);
    netlib_tls_options_set_key_password(options, "secret", NETLIB_NTS);
    return try_context(options);
}

static netlib_url_options *url_options;

static void set_long_path(void) {
    url_options = netlib_url_options_new();
    netlib_url_options_set_path(url_options, text);
}

static netlib_status make_url_from_clone(void) {
    netlib_url_options *clone = netlib_url_options_clone(url_options);
    netlib_url_options_set_fragment(clone, "x");
    CHECK(netlib_url_options_check(clone, NULL) == NETLIB_OK);
    netlib_url *url = NULL;
    netlib_status status = netlib_url_from_options(clone, &url, NULL);
    netlib_url_free(url);
    netlib_url_options_free(clone);
    netlib_url_options_free(url_options);
    return status;
}

static netlib_url *url;

/* Parses a URL from `text`, so that no other memory of this size is free when the address space is limited. */
static void parse_long_url(void) {
    memcpy(text, "http://x/", 9);
    CHECK(netlib_parse_url_strict(text, size, &url, NULL) == NETLIB_OK);
}

static netlib_status convert_url_to_options(void) {
    netlib_url_options *options = netlib_url_to_options(url);
    netlib_url_free(url);
    netlib_url_options_set_path(options, NULL); /* does not remove the error */
    netlib_status status = netlib_url_options_check(options, NULL);
    netlib_url_options_free(options);
    return status;
}

static netlib_status compare_url_readers(void) {
    netlib_url_readings *compared = NULL;
    memcpy(text, "http://", 7);
    netlib_status status = netlib_url_compare_readers(text, size, &compared, NULL);
    netlib_url_readings_free(compared);
    return status;
}

/* ---- input that is too long is refused before netlib copies the input ---- */

static netlib_status set_source_address(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_source_address(options, text, 0);
    int fd = -1;
    netlib_status status = netlib_create_connection("127.0.0.1", 0, options, NULL, &fd, NULL);
    netlib_connect_options_free(options);
    /* netlib refuses such a long host with NETLIB_INVALID_URL before it copies the host. This function then returns
     * NETLIB_OUT_OF_MEMORY, which the table expects. */
    return status == NETLIB_INVALID_URL && size > SMALL ? NETLIB_OUT_OF_MEMORY : status;
}

/* ---- running the rows ---- */

/* Returns false under valgrind and the sanitizers, which need much address space themselves. */
static bool can_limit_address_space(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return !under_valgrind();
#endif
}

/* Limits the address space to its current size plus 1 MiB for errors and messages. */
static void limit_address_space(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    if (file != NULL) fclose(file);
    rlim_t in_use = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit = {in_use + 1024 * 1024, in_use + 1024 * 1024};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void calls_without_enough_memory_return_out_of_memory(void) {
    static const struct {
        const char *name;
        void (*prepare)(void);
        netlib_status (*call)(void);
    } rows[] = {
        {"error_new", prepare_nothing, create_error},
        {"set_accept_encoding", prepare_nothing, set_accept_encoding},
        {"add_accept_encoding", prepare_nothing, add_accept_encoding},
        {"add_accept_encoding, the second", prepare_nothing, add_second_accept_encoding},
        {"add_supported_coding", prepare_nothing, add_supported_coding},
        {"set_user_agent", prepare_nothing, set_user_agent},
        {"set_basic_auth", prepare_nothing, set_basic_auth},
        {"set_proxy_basic_auth", prepare_nothing, set_proxy_basic_auth},
        {"add_header, name", prepare_nothing, add_header_with_long_name},
        {"add_header, value", prepare_nothing, add_header_with_long_value},
        {"make_headers", set_long_user_agent, make_headers},
        {"headers_to_wire", make_headers_with_long_user_agent, write_headers},
        {"headers_to_options", make_headers_with_long_user_agent, convert_headers_to_options},
        {"add_header to a clone", add_header_long, add_header_to_clone},
        {"add_accept_encoding to a clone", add_accept_encoding_long, add_accept_encoding_to_clone},
        {"add_supported_coding to a clone", add_supported_coding_long, add_supported_coding_to_clone},
        {"response_new", make_empty_headers, create_response},
        {"body_from_memory", prepare_nothing, body},
        {"add_socket_option", prepare_nothing, add_socket_option},
        {"add_socket_option, the second", create_connect_with_long_socket_option, add_second_socket_option},
        {"add_ca_data", prepare_nothing, add_ca_data},
        {"set_identity, chain", prepare_nothing, set_identity_chain},
        {"set_identity, key", prepare_nothing, set_identity_key},
        {"add_ca_data, PEM", add_long_ca_pem, make_context},
        {"add_ca_data, DER", add_long_ca_der, make_context},
        {"add_crl_data, PEM", add_long_crl_pem, make_context},
        {"add_crl_data, DER", add_long_crl_der, make_context},
        {"set_identity, chain in PEM", set_long_chain_pem, make_context},
        {"set_identity, chain in DER", set_long_chain_der, make_context},
        {"set_identity, PKCS#12", set_long_pkcs12_identity, make_context},
        {"set_identity, key in PEM", set_long_key_pem, make_context},
        {"set_key_password, scrypt", prepare_nothing, derive_key_with_scrypt},
        {"url_from_options with a clone", set_long_path, make_url_from_clone},
        {"url_to_options", parse_long_url, convert_url_to_options},
        {"url_compare_readers", prepare_nothing, compare_url_readers},
        {"set_source_address", prepare_nothing, set_source_address},
    };
    bool limited = can_limit_address_space();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            rows[i].prepare();
            if (limited) limit_address_space();
            netlib_status status = rows[i].call();
            bool good = checks_failed == 0 && (status == NETLIB_OUT_OF_MEMORY) == limited;
            if (!good) fprintf(stderr, "%s: %s\n", rows[i].name, netlib_status_name(status));
            free(text);
            _exit(good ? 0 : 1);
        }
        int how = 0;
        CHECK(waitpid(child, &how, 0) == child);
        if (WIFSIGNALED(how)) fprintf(stderr, "%s: signal %d\n", rows[i].name, WTERMSIG(how));
        CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
}

int main(void) {
    if (!can_limit_address_space()) size = SMALL;
    text = malloc(size + 1);
    CHECK(text != NULL);
    if (text == NULL) return EXIT_FAILURE;
    memset(text, 'x', size);
    text[size] = '\0';
    calls_without_enough_memory_return_out_of_memory();
    free(text);
    return report("memory");
}
