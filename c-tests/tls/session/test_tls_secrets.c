/* Searches freed memory for secrets. The malloc of this program never reuses memory and never changes a freed block, so
 * all secrets that netlib did not wipe remain in the heap. The program searches for session secrets from the key log,
 * values derived from them, private keys, passwords, credentials and plaintext. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "hostile_keys.h"
#include "tls_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* A sanitizer replaces malloc, so this program must not replace malloc as well. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 0
#endif
#ifndef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 1
#endif

static char *arena;
static size_t used;

/* The blocks in the order of the malloc calls. If threads call malloc at the same time, their blocks are in any
 * order. */
static struct {
    size_t start, size;
} blocks[1 << 20];
static size_t block_count;

#if HAS_OWN_MALLOC
#define ARENA ((size_t)1 << 31)
enum { HEADER = 16 };

static void *allocate(size_t size, size_t alignment) {
    if (arena == NULL) {
        void *all = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) abort();
        arena = all;
    }
    if (alignment < HEADER) alignment = HEADER;
    size_t end, start;
    do {
        end = __atomic_load_n(&used, __ATOMIC_RELAXED);
        start = (end + HEADER + alignment - 1) / alignment * alignment;
        if (size > ARENA - start) return NULL;
    } while (!__atomic_compare_exchange_n(&used, &end, start + size, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    memcpy(arena + start - HEADER, &size, sizeof size);
    size_t number = __atomic_fetch_add(&block_count, 1, __ATOMIC_RELAXED);
    if (number >= sizeof blocks / sizeof blocks[0]) abort();
    blocks[number].start = start, blocks[number].size = size;
    return arena + start;
}

void *malloc(size_t size) { return allocate(size, HEADER); }

/* The arena contains zeros, and each byte is allocated only once, so calloc needs no memset. */
void *calloc(size_t count, size_t size) {
    size_t all;
    return __builtin_mul_overflow(count, size, &all) ? NULL : allocate(all, HEADER);
}

void free(void *block) { (void)block; }

static size_t size_of(const void *block) {
    size_t size;
    memcpy(&size, (const char *)block - HEADER, sizeof size);
    return size;
}

void *realloc(void *block, size_t size) {
    void *moved = allocate(size, HEADER);
    if (block != NULL && moved != NULL) memcpy(moved, block, size_of(block) < size ? size_of(block) : size);
    return moved;
}

void *memalign(size_t alignment, size_t size) { return allocate(size, alignment); }
void *aligned_alloc(size_t alignment, size_t size) { return allocate(size, alignment); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = allocate(size, alignment);
    return *block == NULL ? ENOMEM : 0;
}
#endif

/* ---- the secrets that the program searches for ---- */

struct secret {
    char name[64];
    size_t len;
    uint8_t bytes[64];
};
static struct secret secrets[4000];
static size_t secret_count;

static void add_secret(const char *kind, const char *name, const void *bytes, size_t len) {
    struct secret *secret = &secrets[secret_count++];
    if (secret_count > sizeof secrets / sizeof secrets[0] || len > sizeof secret->bytes) abort();
    snprintf(secret->name, sizeof secret->name, "%s%s", kind, name);
    memcpy(secret->bytes, bytes, len);
    secret->len = len;
}

/* Adds a TLS 1.3 traffic secret with SHA-256, and the values derived from it. */
static void add_traffic_secret(const char *label, const uint8_t secret[32], size_t key_len) {
    uint8_t derived[32];
    bool is_traffic = strstr(label, "TRAFFIC") != NULL;
    add_secret("", label, secret, 32);
    if (!is_traffic) return;
    expand_label(secret, "key", derived, key_len);
    add_secret("key of ", label, derived, key_len);
    expand_label(secret, "iv", derived, 12);
    add_secret("iv of ", label, derived, 12);
    expand_label(secret, "finished", derived, 32);
    add_secret("finished key of ", label, derived, 32);
    expand_label(secret, "traffic upd", derived, 32);
    add_secret("next of ", label, derived, 32);
}

/* Adds a TLS 1.2 master secret, and the keys of both directions. */
static void add_master_secret(const uint8_t master[48], const uint8_t randoms[2][32], size_t key_len, size_t iv_len) {
    uint8_t block[88];
    add_secret("", "master secret", master, 48);
    key_block(master, randoms[1], randoms[0], block, sizeof block);
    for (size_t i = 0; i < 2; i++) add_secret("key of ", "TLS 1.2", block + i * key_len, key_len);
    for (size_t i = 0; i < 2 && iv_len == 12; i++)
        add_secret("iv of ", "TLS 1.2", block + 2 * key_len + i * iv_len, iv_len);
}

static int key_log = -1;
static char key_log_path[64];

static void set_up_key_log(void) {
    int ends[2] = {-1, -1};
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    key_log = ends[0];
    snprintf(key_log_path, sizeof key_log_path, "/dev/fd/%d", ends[1]);
}

static uint8_t nibble(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* Adds the secrets that were logged since the last call. Both sides log the same secrets. Returns the number of
 * lines. */
static size_t add_logged(const uint8_t randoms[2][32], size_t key_len, size_t iv_len) {
    static char log[65536];
    size_t count = 0;
    ssize_t n = read(key_log, log, sizeof log - 1);
    log[n > 0 ? n : 0] = '\0';
    for (char *line = log, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, count++) {
        char *random = strchr(line, ' '), *hex = strchr(random + 1, ' ') + 1;
        uint8_t secret[48];
        size_t len = (size_t)(end - hex) / 2;
        if (len > sizeof secret) abort();
        for (size_t i = 0; i < len; i++) secret[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
        /* In addition to the bytes of the secret, adds the first 32 hexadecimal digits of the secret, as in the key log
         * line. */
        add_secret("key log of ", "a secret", hex, 32);
        *random = '\0';
        if (len == 48) {
            add_master_secret(secret, randoms, key_len, iv_len);
        } else {
            add_traffic_secret(line, secret, key_len);
        }
    }
    return count;
}

/* Adds the first 30 bytes of an EC key in PKCS#8, and the PEM text of these bytes up to the end of its first line. */
static void add_key(const char *name, const char *pem) {
    const char *at =
        strchr(strstr(pem, "PRIVATE KEY-----"), '\n') + 1 + 48; /* skips 36 bytes of algorithm and version */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t der[30];
    add_secret("PEM of ", name, at, 16);
    for (size_t i = 0; i < sizeof der; i += 3) {
        uint32_t bits = 0;
        for (size_t j = 0; j < 4; j++, at++) {
            at += *at == '\n';
            bits = bits << 6 | (uint32_t)(strchr(digits, *at) - digits);
        }
        der[i] = (uint8_t)(bits >> 16), der[i + 1] = (uint8_t)(bits >> 8), der[i + 2] = (uint8_t)bits;
    }
    add_secret("", name, der, sizeof der);
}

/* ---- the operations that use the secrets ---- */

static const char PASSWORD[] = "a password that opens nothing", BASIC[] = "user:basic credentials",
                  TO_SERVER[] = "plaintext of the client", TO_CLIENT[] = "plaintext of the server",
                  URL_PASSWORD[] = "password-of-a-url";

static char *read_file(const char *path) {
    static char text[4][16384];
    static unsigned calls;
    char *into = text[calls++ % 4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, into, sizeof text[0] - 1);
    CHECK(n > 0);
    into[n > 0 ? n : 0] = '\0';
    close(fd);
    return into;
}

static netlib_tls_context *context_with(const char *identity, const char *ciphers, int32_t version, bool is_server,
                                        bool early) {
    char path[128];
    netlib_tls_options *options = client_options();
    snprintf(path, sizeof path, CERTS "%s.pem", identity);
    const char *chain = read_file(path);
    snprintf(path, sizeof path, CERTS "%s.key", identity);
    const char *key = read_file(path);
    netlib_tls_options_set_identity(options, chain, NETLIB_NTS, key, NETLIB_NTS);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
    netlib_tls_options_set_minimum_version(options, version);
    netlib_tls_options_set_maximum_version(options, version);
    netlib_tls_options_set_ciphers(options, ciphers);
    netlib_tls_options_set_keylog_file(options, key_log_path);
    if (early && !is_server) netlib_tls_options_set_early_data(options, 1);
    return context_of(options);
}

/* Copies the random value of a hello. The random value has the same offset in ClientHello and ServerHello. */
static void note_random(const uint8_t *flight, size_t len, uint8_t random[32]) {
    if (len > 43 && flight[0] == 22 && (flight[5] == 1 || flight[5] == 2)) memcpy(random, flight + 11, 32);
}

/* Runs both sides of a session with data, a key update and close_notify. Stores the random values of the hellos. */
static bool session_of(const netlib_tls_context *client, const netlib_tls_context *server, uint8_t randoms[2][32]) {
    static uint8_t flight[100000];
    struct wire wire = wire_of(client, server, 20000);
    netlib_error *err = NULL;
    char got[64];
    size_t n = 0;
    netlib_status statuses[2] = {NETLIB_WANT_READ, NETLIB_WANT_READ};
    for (int turn = 0; turn < 10 && (statuses[0] != NETLIB_OK || statuses[1] != NETLIB_OK); turn++) {
        for (int side = 0; side < 2; side++) {
            netlib_tls_engine *engine = side == 0 ? wire.client : wire.server;
            statuses[side] = netlib_tls_engine_handshake(engine, &err);
            size_t len = drain_all(engine, flight, sizeof flight);
            if (turn == 0) note_random(flight, len, randoms[side]);
            feed_all(side == 0 ? wire.server : wire.client, flight, len);
        }
    }
    CHECK_STATUS(NETLIB_OK, statuses[0]);
    CHECK_STATUS(NETLIB_OK, statuses[1]);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(netlib_tls_engine_write(wire.client, TO_SERVER, sizeof TO_SERVER, &n, &err));
        while (move_piece(&wire, wire.client, wire.server) > 0) {}
        CHECK_OK(netlib_tls_engine_read(wire.server, got, i == 0 ? 7 : sizeof got, &n, &err));
        CHECK_OK(netlib_tls_engine_write(wire.server, TO_CLIENT, sizeof TO_CLIENT, &n, &err));
        while (move_piece(&wire, wire.server, wire.client) > 0) {}
        if (i < 2) CHECK_OK(netlib_tls_engine_read(wire.client, got, sizeof got, &n, &err));
    }
    bool is_resumed = netlib_tls_engine_is_resumed(wire.client) != 0;
    /* The application does not read this data, so a buffer still contains it when the engine is freed. */
    free_wire(&wire);
    return is_resumed;
}

/* Runs sessions with the cipher suites of TLS 1.3 that use SHA-256, and with those of TLS 1.2 that use SHA-256 and
 * ECDSA. Each context has three sessions, and the second and third are resumed. */
static void run_sessions_with_sha256_suites(void) {
    static const struct {
        const char *ciphers;
        int32_t version;
        size_t key_len, iv_len;
    } rows[] = {
        {"TLS_AES_128_GCM_SHA256", NETLIB_TLS_VERSION_1_3, 16, 12},
        {"TLS_CHACHA20_POLY1305_SHA256", NETLIB_TLS_VERSION_1_3, 32, 12},
        {"ECDHE-ECDSA-AES128-GCM-SHA256", NETLIB_TLS_VERSION_1_2, 16, 4},
        {"ECDHE-ECDSA-CHACHA20-POLY1305", NETLIB_TLS_VERSION_1_2, 32, 12},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_context *client = context_with("client", rows[i].ciphers, rows[i].version, false, i == 0);
        netlib_tls_context *server = context_with("server", rows[i].ciphers, rows[i].version, true, false);
        for (int j = 0; j < 3; j++) {
            uint8_t randoms[2][32] = {{0}, {0}};
            CHECK_INT(j > 0, session_of(client, server, randoms));
            CHECK(add_logged((const uint8_t(*)[32])randoms, rows[i].key_len, rows[i].iv_len) >= 2);
        }
        netlib_tls_context_free(client);
        netlib_tls_context_free(server);
    }
}

/* Runs a session with streams, which have a fast path for reads and writes. */
static void run_session_over_streams(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context(), *server = server_context("server");
    struct pair pair = unix_pair();
    netlib_stream *near = wrap(client, pair.near, "localhost"), *far = accept_tls(server, pair.far);
    char got[64];
    size_t n = 0;
    netlib_status statuses[2] = {NETLIB_WANT_READ, NETLIB_WANT_READ};
    CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
    CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
    for (int turn = 0; turn < 100 && (statuses[0] != NETLIB_OK || statuses[1] != NETLIB_OK); turn++) {
        statuses[0] = netlib_stream_handshake(near, &err);
        statuses[1] = netlib_stream_handshake(far, &err);
    }
    CHECK_STATUS(NETLIB_OK, statuses[1]);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(netlib_stream_write(near, TO_SERVER, sizeof TO_SERVER, &n, &err));
        CHECK_OK(netlib_stream_read(far, got, i == 0 ? 7 : sizeof got, &n, &err));
        CHECK_OK(netlib_stream_write(far, TO_CLIENT, sizeof TO_CLIENT, &n, &err));
        CHECK_OK(netlib_stream_read(near, got, i == 0 ? 7 : sizeof got, &n, &err));
    }
    netlib_stream_free(near);
    netlib_stream_free(far);
    close_pair(pair);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* Clones the options and calls a setter of the clone, so that the clone has its own copies of the secrets. Then frees
 * the clone and the options. */
static void free_with_changed_clone(netlib_tls_options *options) {
    netlib_tls_options *clone = netlib_tls_options_clone(options);
    netlib_tls_options_set_resumption(clone, 0);
    netlib_tls_options_free(clone);
    netlib_tls_options_free(options);
}

/* Uses a wrong key password, and credentials in headers and in a URL. */
static void use_passwords_and_credentials(void) {
    static const char *const keys[] = {"client-encrypted.key"};
    netlib_error *err = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char path[128];
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = client_options();
        snprintf(path, sizeof path, CERTS "%s", keys[i]);
        netlib_tls_options_set_identity_files(options, CERTS "client.pem", path);
        netlib_tls_options_set_key_password(options, PASSWORD, NETLIB_NTS);
        CHECK_STATUS(NETLIB_WRONG_PASSWORD, netlib_tls_context_new(options, &context, &err));
        free_with_changed_clone(options);
    }

    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    netlib_headers_options_set_basic_auth(options, BASIC);
    netlib_headers_options_set_proxy_basic_auth(options, BASIC);
    CHECK_OK(netlib_make_headers(options, &headers, &err));
    const char *value = netlib_headers_get(headers, "authorization", NULL);
    CHECK(value != NULL && strlen(value) == 6 + (sizeof BASIC - 1 + 2) / 3 * 4);
    if (value != NULL) add_secret("", "Basic credentials in base64", value + 6, 28);
    CHECK(netlib_headers_to_wire(headers, NULL) != NULL);
    netlib_headers_options *clone = netlib_headers_options_clone(options);
    netlib_headers_options_set_keep_alive(clone, 1);
    netlib_headers_options_add_header(clone, "authorization", value != NULL ? value : "");
    netlib_headers_options *second = netlib_headers_options_clone(clone);
    netlib_headers_options_add_header(second, "a", "b");
    netlib_headers_options_free(options);
    netlib_headers_options_free(clone);
    netlib_headers_options_free(second);
    netlib_headers_free(headers);

    netlib_url *url = NULL, *next = NULL;
    CHECK_OK(netlib_parse_url("http://user:password-of-a-url@example.com/", NETLIB_NTS, &url, &err));
    CHECK_OK(netlib_url_resolve(url, "/next", NETLIB_NTS, &next, &err));
    netlib_url_free(url);
    netlib_url_free(next);
}

/* ---- the search for secrets in freed memory ---- */

/* The secrets that may remain in freed memory. The document docs/explanation/security.md names the code that leaves
 * each secret. rustls leaves all of these secrets except the last. No secret may remain in netlib's record buffers,
 * which the search recognizes by their size. */
static const char *const may_be_left[] = {
    "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
    "SERVER_HANDSHAKE_TRAFFIC_SECRET",
    "CLIENT_TRAFFIC_SECRET_0",
    "SERVER_TRAFFIC_SECRET_0",
    "EXPORTER_SECRET",
    "iv of CLIENT_EARLY_TRAFFIC_SECRET",
    "iv of CLIENT_HANDSHAKE_TRAFFIC_SECRET",
    "iv of SERVER_HANDSHAKE_TRAFFIC_SECRET",
    "iv of CLIENT_TRAFFIC_SECRET_0",
    "iv of SERVER_TRAFFIC_SECRET_0",
    "master secret",
    "key of TLS 1.2",
    "iv of TLS 1.2",
    "plaintext to the server",
    "plaintext to the client",
    "password of a URL",
};
enum { LEFT = sizeof may_be_left / sizeof may_be_left[0], RECORD_BUFFER = 68 * 1024 };

static size_t size_of_block_at(size_t at) {
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].start <= at && at < blocks[i].start + blocks[i].size) return blocks[i].size;
    }
    return 0;
}

static void only_documented_secrets_are_left_in_freed_memory(void) {
    unsigned long found[LEFT] = {0};
    bool verbose = getenv("SECRETS_VERBOSE") != NULL;
    /* The search does not include memory that the search itself allocates. */
    size_t end = used;
    for (size_t i = 0; i < secret_count; i++) {
        const char *at = arena;
        while (at != NULL && (at = memmem(at, end - (size_t)(at - arena), secrets[i].bytes, secrets[i].len)) != NULL) {
            size_t size = size_of_block_at((size_t)(at - arena)), known = 0;
            while (known < LEFT && strcmp(may_be_left[known], secrets[i].name) != 0) known++;
            if (verbose) printf("%s: in a block of %zu bytes\n", secrets[i].name, size);
            if (known == LEFT || size == RECORD_BUFFER)
                fprintf(stderr, "    %s is left in a block of %zu bytes\n", secrets[i].name, size);
            CHECK(known < LEFT && size != RECORD_BUFFER);
            if (known < LEFT) found[known]++;
            at++;
        }
    }
    for (size_t i = 0; i < LEFT; i++) {
        if (found[i] == 0 && HAS_OWN_MALLOC) printf("no longer left: %s\n", may_be_left[i]);
    }
    printf("%zu secrets looked for in %zu freed blocks of %zu bytes together\n", secret_count, block_count, used);
}

int main(void) {
    set_up_key_log();
    add_secret("", "password", PASSWORD, sizeof PASSWORD - 1);
    add_secret("", "plaintext to the server", TO_SERVER, sizeof TO_SERVER - 1);
    add_secret("", "plaintext to the client", TO_CLIENT, sizeof TO_CLIENT - 1);
    add_secret("", "Basic credentials", BASIC, sizeof BASIC - 1);
    add_secret("", "password of a URL", URL_PASSWORD, sizeof URL_PASSWORD - 1);
    add_key("private key of the server", read_file(CERTS "server.key"));
    add_key("private key of the client", read_file(CERTS "client.key"));
    run_sessions_with_sha256_suites();
    run_session_over_streams();
    use_passwords_and_credentials();
    only_documented_secrets_are_left_in_freed_memory();
    return report("tls secrets");
}
