/* Calls that run out of memory while they copy an argument fail with NETLIB_OUT_OF_MEMORY. Each row runs in its own
 * process, whose address space has no room for another copy of the text. */
#define _GNU_SOURCE
/* Allows ignored results. */
#define NETLIB_MUST_USE
#include "harness.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The length of `text`: below every size limit, but far more than the heap has free. `SMALL` if the memory cannot be
 * limited. */
static size_t size = (size_t)12 * 1024 * 1024;
enum { SMALL = 4096 };
static char *text;

/* ---- the calls: steps before and after the memory limit ---- */

static netlib_headers_options *header_options;
static netlib_headers *headers;

static void prepare_nothing(void) {}

static netlib_status error_message(void) {
    netlib_error *error = NULL;
    netlib_status status = netlib_error_new(NETLIB_IO, text, NULL, &error, NULL);
    netlib_error_free(error);
    return status;
}

static netlib_status made(netlib_headers_options *options) {
    netlib_headers *made_headers = NULL;
    netlib_status status = netlib_make_headers(options, &made_headers, NULL);
    netlib_headers_free(made_headers);
    netlib_headers_options_free(options);
    return status;
}

#define SETTER(name, call) \
    static netlib_status name(void) { \
        netlib_headers_options *options = netlib_headers_options_new(); \
        call; \
        return made(options); \
    }
SETTER(accept_encoding, netlib_headers_options_set_accept_encoding(options, text))
SETTER(add_accept_encoding, netlib_headers_options_add_accept_encoding(options, text))
SETTER(next_accept_encoding, netlib_headers_options_add_accept_encoding(options, "gzip");
       netlib_headers_options_add_accept_encoding(options, text))
SETTER(supported_coding, netlib_headers_options_add_supported_coding(options, text))
SETTER(user_agent, netlib_headers_options_set_user_agent(options, text))
SETTER(basic_auth, netlib_headers_options_set_basic_auth(options, text + size / 2))
SETTER(proxy_basic_auth, netlib_headers_options_set_proxy_basic_auth(options, text + size / 2))
SETTER(header_name, netlib_headers_options_add_header(options, text, ""))
SETTER(header_value, netlib_headers_options_add_header(options, "n", text))

static void set_long_user_agent(void) {
    header_options = netlib_headers_options_new();
    netlib_headers_options_set_user_agent(header_options, text);
}

static void make_headers_with_long_user_agent(void) {
    set_long_user_agent();
    CHECK(netlib_make_headers(header_options, &headers, NULL) == NETLIB_OK);
    netlib_headers_options_free(header_options);
}

static netlib_status make_headers(void) { return made(header_options); }

static netlib_status wire(void) {
    size_t len = 99;
    bool failed = netlib_headers_to_wire(headers, &len) == NULL;
    CHECK(!failed || len == 0);
    netlib_headers_free(headers);
    return failed ? NETLIB_OUT_OF_MEMORY : NETLIB_OK;
}

static netlib_status to_options(void) {
    netlib_headers_options *options = netlib_headers_to_options(headers);
    netlib_headers_free(headers);
    netlib_headers_options_free(options);
    return options == NULL ? NETLIB_OUT_OF_MEMORY : NETLIB_OK;
}

static void make_empty_headers(void) { CHECK(netlib_make_headers(NULL, &headers, NULL) == NETLIB_OK); }

static netlib_status response_method(void) {
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

static netlib_status socket_option(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_add_socket_option(options, 0, 0, text, size);
    int fd = -1;
    netlib_status status = netlib_create_connection("127.0.0.1", 0, options, NULL, &fd, NULL);
    netlib_connect_options_free(options);
    return status;
}

/* A connect keeps the options that it was created with. A later call of a setter copies the options, but not this
 * value. */
static netlib_connect_options *connect_options;
static netlib_connect *connecting;

static void create_connect_with_long_socket_option(void) {
    connect_options = netlib_connect_options_new();
    netlib_connect_options_add_socket_option(connect_options, 0, 0, text, size);
    CHECK(netlib_connect_new("127.0.0.1", 0, connect_options, &connecting, NULL) == NETLIB_OK);
}

static netlib_status next_socket_option(void) {
    netlib_connect_options_set_no_delay(connect_options, true);
    netlib_connect_options_add_socket_option(connect_options, 0, 0, text, size);
    netlib_connect_free(connecting);
    netlib_status status = netlib_connect_new("127.0.0.1", 0, connect_options, &connecting, NULL);
    netlib_connect_free(connecting);
    netlib_connect_options_free(connect_options);
    return status;
}

static netlib_status context(netlib_tls_options *options) {
    netlib_tls_context *made_context = NULL;
    netlib_status status = netlib_tls_context_new(options, &made_context, NULL);
    netlib_tls_context_free(made_context);
    netlib_tls_options_free(options);
    return status;
}

static netlib_status ca_data(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_data(options, text, size);
    return context(options);
}

static netlib_status identity_chain(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity(options, text, size, NULL, 0);
    return context(options);
}

static netlib_status identity_key(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity(options, "x", 1, text, size);
    return context(options);
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

/* Fills `text` with PKCS#12 data whose content is a constructed string with one part. */
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
FILLED(ca_pem, "CERTIFICATE", netlib_tls_options_add_ca_data(tls_options, text, size))
FILLED(ca_der, NULL, netlib_tls_options_add_ca_data(tls_options, text, size))
FILLED(crl_pem, "X509 CRL", netlib_tls_options_add_ca_file(tls_options, "tests/certs/ca.pem");
       netlib_tls_options_add_crl_data(tls_options, text, size))
FILLED(crl_der, NULL, netlib_tls_options_add_ca_file(tls_options, "tests/certs/ca.pem");
       netlib_tls_options_add_crl_data(tls_options, text, size))
FILLED(chain_pem, "CERTIFICATE", netlib_tls_options_set_identity(tls_options, text, size, "x", 1))
FILLED(chain_der, NULL, netlib_tls_options_set_identity(tls_options, text, size, "x", 1))
FILLED(key_pem, "PRIVATE KEY", netlib_tls_options_set_identity(tls_options, ONE, sizeof ONE - 1, text, size))

static netlib_status make_context(void) { return context(tls_options); }

/* A key whose scrypt parameters need 128 MiB (N is 2^17, r is 8, p is 1). If the memory cannot be limited, N is not a
 * power of two, so the key is invalid. */
static netlib_status key_derivation(void) {
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
    return context(options);
}

static netlib_status readings(void) {
    netlib_url_readings *compared = NULL;
    memcpy(text, "http://", 7);
    netlib_status status = netlib_url_compare_readers(text, size, &compared, NULL);
    netlib_url_readings_free(compared);
    return status;
}

/* ---- input that is too long is refused before it is copied ---- */

static netlib_status source_address(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_source_address(options, text, 0);
    int fd = -1;
    netlib_status status = netlib_create_connection("127.0.0.1", 0, options, NULL, &fd, NULL);
    netlib_connect_options_free(options);
    /* Returns the same status as the other rows. */
    return status == NETLIB_INVALID_URL && size > SMALL ? NETLIB_OUT_OF_MEMORY : status;
}

/* ---- running the rows ---- */

/* Valgrind and AddressSanitizer need memory themselves, so under them the calls run without a memory limit. */
static bool can_limit_address_space(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return !under_valgrind();
#endif
}

/* Limits the address space to what is in use, plus a little for errors and messages. */
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
        const char *what;
        void (*before)(void);
        netlib_status (*call)(void);
    } rows[] = {
        {"an error's message", prepare_nothing, error_message},
        {"set_accept_encoding", prepare_nothing, accept_encoding},
        {"add_accept_encoding", prepare_nothing, add_accept_encoding},
        {"add_accept_encoding, the second", prepare_nothing, next_accept_encoding},
        {"add_supported_coding", prepare_nothing, supported_coding},
        {"set_user_agent", prepare_nothing, user_agent},
        {"set_basic_auth", prepare_nothing, basic_auth},
        {"set_proxy_basic_auth", prepare_nothing, proxy_basic_auth},
        {"add_header, name", prepare_nothing, header_name},
        {"add_header, value", prepare_nothing, header_value},
        {"make_headers", set_long_user_agent, make_headers},
        {"headers_wire", make_headers_with_long_user_agent, wire},
        {"headers_to_options", make_headers_with_long_user_agent, to_options},
        {"response_new", make_empty_headers, response_method},
        {"body_from_memory", prepare_nothing, body},
        {"add_socket_option", prepare_nothing, socket_option},
        {"add_socket_option, the second", create_connect_with_long_socket_option, next_socket_option},
        {"add_ca_data", prepare_nothing, ca_data},
        {"set_identity, chain", prepare_nothing, identity_chain},
        {"set_identity, key", prepare_nothing, identity_key},
        {"add_ca_data, decoded", ca_pem, make_context},
        {"add_ca_data, DER", ca_der, make_context},
        {"add_crl_data, decoded", crl_pem, make_context},
        {"add_crl_data, DER", crl_der, make_context},
        {"set_identity, chain, decoded", chain_pem, make_context},
        {"set_identity, chain, DER", chain_der, make_context},
        {"set_identity, PKCS#12", set_long_pkcs12_identity, make_context},
        {"set_identity, key, decoded", key_pem, make_context},
        {"scrypt", prepare_nothing, key_derivation},
        {"url_compare_readers", prepare_nothing, readings},
        {"set_source_address", prepare_nothing, source_address},
    };
    bool limited = can_limit_address_space();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            rows[i].before();
            if (limited) limit_address_space();
            netlib_status status = rows[i].call();
            bool good = checks_failed == 0 && (status == NETLIB_OUT_OF_MEMORY) == limited;
            if (!good) fprintf(stderr, "%s: %s\n", rows[i].what, netlib_status_name(status));
            free(text);
            _exit(good ? 0 : 1);
        }
        int how = 0;
        CHECK(waitpid(child, &how, 0) == child);
        if (WIFSIGNALED(how)) fprintf(stderr, "%s: signal %d\n", rows[i].what, WTERMSIG(how));
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
