/* Runs TLS on a thread with the stack size that netlib.h documents. With the argument "--measure", prints the stack use
 * of each step. */
#define _GNU_SOURCE
#include "tls_peer.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/mman.h>

/* The stack size that netlib.h documents. */
#define STATED ((size_t)64 * 1024)
/* A part of the documented stack that no call may use, so that the test detects growth before an application
 * crashes. */
#ifdef __aarch64__
#define MARGIN ((size_t)10 * 1024) /* stack frames are larger than on x86-64 */
#else
#define MARGIN ((size_t)12 * 1024)
#endif
#define GUARD ((size_t)64 * 1024)

/* main sets both variables. A library that is unoptimised or instrumented needs more stack. Under valgrind the library
 * is unoptimised. */
static size_t stack_size;
static bool is_optimised;

static bool has_optimised_library(void) {
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    Dl_info library;
    union {
        const char *(*function)(void);
        void *address;
    } symbol = {netlib_version};
    bool is_development = dladdr(symbol.address, &library) != 0 && strstr(library.dli_fname, "/debug/") != NULL;
    return !is_development && !under_valgrind();
#endif
}

struct work {
    const char *name;
    void (*run)(void);
};

static unsigned char *stack;
static bool measures;
/* If true, fills the stack with a pattern before each step, to measure the used part. The documented size does not
 * apply to an unoptimised library. Valgrind, which runs an unoptimised library, does not allow reading the stack of a
 * thread that has ended. */
static bool paints;

static void *work_main(void *work) {
    ((const struct work *)work)->run();
    return NULL;
}

/* Returns the size of the used part of the stack, including the thread's own data at the top of the stack. */
static size_t used(void) {
    size_t untouched = 0;
    while (untouched < stack_size && stack[untouched] == 0xa5) untouched++;
    return stack_size - untouched;
}

static void run_small(const struct work *work) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (paints) memset(stack, 0xa5, stack_size);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, stack_size) == 0);
    CHECK(pthread_create(&thread, &attributes, work_main, (void *)(uintptr_t)work) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    size_t bytes = paints ? used() : 0;
    if (measures) printf("%6zu  %s\n", bytes, work->name);
    bool fits = !is_optimised || bytes + MARGIN <= STATED;
    CHECK(fits);
    if (!fits) fprintf(stderr, "    %s uses %zu bytes of stack\n", work->name, bytes);
}

/* ---- contexts ---- */

static void load_identity(const char *chain, const char *key, const char *password) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, chain, key);
    if (password != NULL) netlib_tls_options_set_key_password(options, password, NETLIB_NTS);
    netlib_tls_context_free(context_of(options));
}

static void load_ecdsa_key(void) { load_identity(CERTS "server.pem", CERTS "server.key", NULL); }
static void load_rsa_key(void) { load_identity(CERTS "rsa.pem", CERTS "rsa.key", NULL); }
static void load_key_encrypted_with_scrypt(void) {
    load_identity(CERTS "server.pem", CERTS "server-encrypted-scrypt.key", "secret");
}
static void load_key_encrypted_with_pbkdf2(void) {
    load_identity(CERTS "server.pem", CERTS "server-encrypted-pbkdf2.key", "secret");
}
static void load_traditional_encrypted_key(void) {
    load_identity(CERTS "rsa.pem", CERTS "rsa-encrypted-pkcs1.key", "secret");
}
static void load_pkcs12_identity(void) { load_identity(CERTS "pkcs12/openssl.p12", NULL, "secret"); }
static void load_legacy_pkcs12_identity(void) { load_identity(CERTS "pkcs12/openssl-legacy.p12", NULL, "secret"); }

static void create_context_with_system_and_embedded_trust(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_system_trust(options, 1);
    netlib_tls_options_set_embedded_trust(options, 1);
    netlib_tls_context_free(context_of(options));
}

static void create_context_with_crls(void) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_add_crl_file(options, CERTS "verify/all.crl");
    netlib_tls_context_free(context_of(options));
}

static void verify_certificate_chains(void) {
    static const char *const names[] = {"good.pem", "good-backwards.pem", "expired.pem", "constrained.pem",
                                        "malformed-int.pem"};
    static char chain[40000];
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, CERTS "verify/root.pem");
    netlib_tls_options_add_crl_file(options, CERTS "verify/all.crl");
    netlib_tls_context *context = context_of(options);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[100];
        netlib_error *err = NULL;
        snprintf(path, sizeof path, CERTS "verify/%s", names[i]);
        FILE *file = fopen(path, "re");
        CHECK(file != NULL);
        size_t len = file != NULL ? fread(chain, 1, sizeof chain, file) : 0;
        if (file != NULL) fclose(file);
        netlib_status status =
            netlib_tls_context_verify_chain(context, chain, len, NETLIB_PURPOSE_SERVER_AUTH, "localhost", NULL, &err);
        CHECK((status == NETLIB_OK) == (err == NULL));
        netlib_error_free(err);
    }
    netlib_tls_context_free(context);
}

/* ---- sessions with one side on the small stack and the other side on a large stack ---- */

struct side {
    netlib_tls_context *context;
    int fd;
    bool is_server;
    int depth; /* the number of streams that run inside one another */
    unsigned resumed;
};

enum { DEEPEST = 16 };

static void talk(struct side *side) {
    static char room[2][1 << 16];
    netlib_error *err = NULL;
    netlib_stream *streams[DEEPEST];
    for (int i = 0; i < side->depth; i++) {
        if (i == 0)
            streams[i] =
                side->is_server ? accept_tls(side->context, side->fd) : wrap(side->context, side->fd, "localhost");
        else if (side->is_server) CHECK_OK(netlib_tls_accept_stream(side->context, streams[i - 1], &streams[i], &err));
        else CHECK_OK(netlib_tls_wrap_stream(side->context, streams[i - 1], "localhost", &streams[i], &err));
    }
    netlib_stream *stream = streams[side->depth - 1];
    char *bytes = room[side->is_server];
    size_t n = 0, got = 0;
    CHECK_OK(netlib_stream_handshake(stream, &err));
    side->resumed += (unsigned)netlib_stream_is_resumed(stream);
    if (side->is_server) CHECK_OK(netlib_stream_write(stream, bytes, sizeof room[0], &n, &err));
    for (; got < sizeof room[0]; got += n) {
        n = 0;
        CHECK_OK(netlib_stream_read(stream, bytes, sizeof room[0], &n, &err));
        if (n == 0) break;
    }
    if (!side->is_server) CHECK_OK(netlib_stream_write(stream, bytes, sizeof room[0], &n, &err));
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, bytes, sizeof room[0], &n, &err));
    CHECK(netlib_stream_peer_certificate_count(stream) > 0 || side->is_server);
    for (int i = side->depth; i-- > 0;) netlib_stream_free(streams[i]);
}

static void *talk_main(void *side) {
    talk(side);
    return NULL;
}

static struct settings {
    const char *key;
    int32_t version;
    bool mutual, small_is_server, grease;
    int depth;
} settings;

static netlib_tls_context *side_context(bool is_server) {
    static char chain[100], key[100];
    netlib_tls_options *options = client_options();
    const char *name = is_server ? settings.key : settings.mutual ? "client" : NULL;
    if (name != NULL) {
        snprintf(chain, sizeof chain, CERTS "%s.pem", name);
        snprintf(key, sizeof key, CERTS "%s.key", name);
        netlib_tls_options_set_identity_files(options, chain, key);
    }
    if (is_server)
        netlib_tls_options_set_verify_mode(options, settings.mutual ? NETLIB_CERT_REQUIRED : NETLIB_CERT_NONE);
    if (settings.grease && !is_server) netlib_tls_options_set_ech_grease(options, 1);
    netlib_tls_options_set_session_tickets(options, 1);
    netlib_tls_options_set_maximum_version(options, settings.version);
    return context_of(options);
}

/* Runs a full and a resumed session. */
static void run_full_and_resumed_session(void) {
    struct side client = {side_context(false), -1, false, settings.depth, 0},
                server = {side_context(true), -1, true, settings.depth, 0};
    for (int round = 0; round < 2; round++) {
        struct pair pair = unix_pair();
        pthread_t other;
        pthread_attr_t attributes;
        client.fd = pair.near;
        server.fd = pair.far;
        CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
        CHECK(pthread_create(&other, &attributes, talk_main, settings.small_is_server ? &client : &server) == 0);
        talk(settings.small_is_server ? &server : &client);
        CHECK(pthread_join(other, NULL) == 0);
        pthread_attr_destroy(&attributes);
        close_pair(pair);
    }
    /* With deeply nested streams, the context may no longer store the session that should be resumed. */
    CHECK(client.resumed > 0 || settings.depth > 2);
    netlib_tls_context_free(client.context);
    netlib_tls_context_free(server.context);
}

/* Runs a handshake with a refused certificate, including the creation of the error message. */
static void run_handshake_with_refused_certificate(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = client_context();
    struct pair pair = unix_pair();
    struct server server = {.does = SERVE_HANDSHAKE, .context = server_context("wrong-name"), .fd = pair.far};
    netlib_stream *stream = wrap(context, pair.near, "localhost");
    server_start(&server);
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_stream_handshake(stream, &err));
    netlib_stream_free(stream);
    close(pair.near);
    server_join(&server);
    netlib_tls_context_free((netlib_tls_context *)(uintptr_t)server.context);
    netlib_tls_context_free(context);
}

static void run_sessions_of_every_kind(void) {
    static const struct settings rows[] = {
        {"server", NETLIB_TLS_VERSION_1_3, false, false, false, 1},
        {"server", NETLIB_TLS_VERSION_1_3, false, true, false, 1},
        {"server", NETLIB_TLS_VERSION_1_2, false, false, false, 1},
        {"server", NETLIB_TLS_VERSION_1_2, false, true, false, 1},
        {"rsa", NETLIB_TLS_VERSION_1_3, true, false, false, 1},
        {"rsa", NETLIB_TLS_VERSION_1_3, true, true, false, 1},
        {"rsa", NETLIB_TLS_VERSION_1_2, true, false, false, 1},
        {"rsa", NETLIB_TLS_VERSION_1_2, true, true, false, 1},
        {"server", NETLIB_TLS_VERSION_1_3, false, false, true, 1},
        {"server", NETLIB_TLS_VERSION_1_3, false, false, false, 2},
        {"server", NETLIB_TLS_VERSION_1_3, false, true, false, 2},
        {"server", NETLIB_TLS_VERSION_1_3, false, false, false, DEEPEST},
        {"server", NETLIB_TLS_VERSION_1_3, false, true, false, DEEPEST},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[100];
        settings = rows[i];
        snprintf(name, sizeof name, "%s, TLS %s, key %s%s%s, %d deep", settings.small_is_server ? "server" : "client",
                 settings.version == NETLIB_TLS_VERSION_1_3 ? "1.3" : "1.2", settings.key,
                 settings.mutual ? ", both with certificates" : "", settings.grease ? ", ECH GREASE" : "",
                 settings.depth);
        struct work work = {name, run_full_and_resumed_session};
        run_small(&work);
    }
}

/* ---- connecting, URLs and retry policies ---- */

static int32_t find(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *addresses) {
    struct sockaddr_in address;
    (void)host, (void)seconds_left;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)(ctx != NULL ? *(const int *)ctx : port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return netlib_addresses_add(addresses, &address, sizeof address, NULL);
}

static void connect_by_name_and_by_callback(void) {
    struct sockaddr_in address;
    int listener = tcp_listener(&address), port = ntohs(address.sin_port);
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    netlib_connect *connect = NULL;
    netlib_connect_options *options = netlib_connect_options_new();
    int fd = -1;
    netlib_connect_options_set_resolve_callback(options, find, &port, NULL);
    CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
    CHECK_OK(netlib_create_connection("name.test", port, options, limit, &fd, &err));
    close(fd);
    /* The lookup runs on a thread that netlib creates. */
    CHECK_OK(netlib_create_connection("localhost", port, NULL, limit, &fd, &err));
    close(fd);
    CHECK_OK(netlib_connect_new("name.test", port, options, &connect, &err));
    CHECK_OK(netlib_connect_run(connect, limit, &fd, &err));
    close(fd);
    netlib_connect_free(connect);
    netlib_connect_options_free(options);
    netlib_limit_free(limit);
    close(listener);
}

static void create_urls_and_retries(void) {
    netlib_error *err = NULL, *failed = NULL;
    netlib_url *url = NULL, *none = NULL;
    netlib_retry *retry = NULL;
    CHECK_OK(netlib_parse_url("HTTPS://user:pw@B\xc3\xbc"
                              "cher.example:443/a/../b?q=%41#f",
                              NETLIB_NTS, &url, &err));
    CHECK(netlib_url_redacted(url, NULL) != NULL);
    CHECK_OK(netlib_retry_new(NULL, &retry, &err));
    CHECK(netlib_parse_url("http://[", NETLIB_NTS, &none, &failed) != NETLIB_OK);
    netlib_error_free(failed);
    netlib_retry_free(retry);
    netlib_url_free(url);
}

int main(int argc, char **argv) {
    static const struct work works[] = {
        {"context, ECDSA key", load_ecdsa_key},
        {"context, RSA key", load_rsa_key},
        {"context, key with scrypt", load_key_encrypted_with_scrypt},
        {"context, key with PBKDF2", load_key_encrypted_with_pbkdf2},
        {"context, traditional encrypted key", load_traditional_encrypted_key},
        {"context, PKCS#12", load_pkcs12_identity},
        {"context, legacy PKCS#12", load_legacy_pkcs12_identity},
        {"context, system and embedded authorities", create_context_with_system_and_embedded_trust},
        {"context, CRLs", create_context_with_crls},
        {"verification of chains", verify_certificate_chains},
        {"a certificate that is refused", run_handshake_with_refused_certificate},
        {"connecting", connect_by_name_and_by_callback},
        {"URLs and retries", create_urls_and_retries},
    };
    measures = argc > 1 && strcmp(argv[1], "--measure") == 0;
    is_optimised = has_optimised_library();
    paints = is_optimised || measures;
    /* On aarch64, glibc creates no thread with a stack of less than 128 KiB. */
    size_t smallest = (size_t)PTHREAD_STACK_MIN;
    stack_size = !is_optimised ? 16 * STATED : smallest > STATED ? smallest : STATED;
    unsigned char *region =
        mmap(NULL, stack_size + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED || mprotect(region + GUARD, stack_size, PROT_READ | PROT_WRITE) != 0) abort();
    stack = region + GUARD;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) run_small(&works[i]);
    run_sessions_of_every_kind();
    munmap(region, stack_size + GUARD);
    return report("tls stack");
}
