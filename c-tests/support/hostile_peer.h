/* A scripted peer of a netlib engine. The engine is called the victim. First a correct peer engine runs the session up
 * to a chosen moment. From that moment a script defines every record that the victim receives, in plaintext or
 * encrypted with the keys of the session. */
#ifndef NETLIB_TEST_HOSTILE_PEER_H
#define NETLIB_TEST_HOSTILE_PEER_H

#include "hostile_keys.h"
#include "tls_wire.h"

#include <fcntl.h>
#include <malloc.h>

enum side { CLIENT, SERVER };
enum version { V12, V13 };

/* The moment at which the script starts. FIRST: a victim that is a client has sent its ClientHello; a server has
 * received nothing. MIDDLE: in TLS 1.3 the handshake keys are established: a client has the ServerHello, a server has
 * sent its flight. In TLS 1.2 a client has answered the server's first flight, and a server has answered the
 * ClientHello. DONE: the handshake is complete; the server's tickets have not been sent. */
enum moment { FIRST, MIDDLE, DONE };

static const char *const side_names[] = {"client", "server"}, *const version_names[] = {"1.2", "1.3"},
                         *const moment_names[] = {"first", "middle", "done"};

static netlib_tls_context *contexts[2][2]; /* indexed by version and side */
static int key_log = -1;

static inline void set_up(void) {
    int ends[2] = {-1, -1};
    char path[64];
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    key_log = ends[0];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    for (int i = 0; i < 4; i++) {
        enum version version = i % 2 == 0 ? V12 : V13;
        enum side side = i / 2 == 0 ? CLIENT : SERVER;
        netlib_tls_options *options = client_options();
        if (side == SERVER) {
            netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
            netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
            netlib_tls_options_set_keylog_file(options, path);
        }
        netlib_tls_options_set_resumption(options, 0);
        netlib_tls_options_set_ciphers(options, "TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-CHACHA20-POLY1305");
        netlib_tls_options_set_minimum_version(options,
                                               version == V12 ? NETLIB_TLS_VERSION_1_2 : NETLIB_TLS_VERSION_1_3);
        netlib_tls_options_set_maximum_version(options,
                                               version == V12 ? NETLIB_TLS_VERSION_1_2 : NETLIB_TLS_VERSION_1_3);
        contexts[version][side] = context_of(options);
    }
    close(ends[1]);
}

static inline void tear_down(void) {
    for (int i = 0; i < 4; i++) netlib_tls_context_free(contexts[i % 2][i / 2]);
    close(key_log);
}

struct scene {
    enum version version;
    enum side side; /* the side of the victim */
    enum moment moment;
    netlib_tls_engine *victim, *peer;
    struct keys seal, open;
};

enum { ROOM = 100000 };

/* Reads the secret after the last occurrence of a label in the key log. Sessions run one after the other, so the last
 * secret belongs to the current session. */
static inline bool logged(const char *log, const char *label, uint8_t *secret, size_t len) {
    const char *at = NULL;
    for (const char *next = log; (next = strstr(next, label)) != NULL; next++) at = next;
    if (at == NULL || (at = strchr(at, ' ')) == NULL || (at = strchr(at + 1, ' ')) == NULL) return false;
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        if (sscanf(at + 1 + 2 * i, "%2x", &byte) != 1) return false;
        secret[i] = (uint8_t)byte;
    }
    return true;
}

static inline void take_keys(struct scene *scene, const uint8_t client_random[32], const uint8_t server_random[32]) {
    char log[4096];
    uint8_t secret[2][48], block[88];
    ssize_t n = read(key_log, log, sizeof log - 1);
    log[n > 0 ? n : 0] = '\0';
    if (scene->moment == FIRST) return;
    struct keys *client = scene->side == CLIENT ? &scene->open : &scene->seal,
                *server = scene->side == CLIENT ? &scene->seal : &scene->open;
    if (scene->version == V12) {
        if (scene->moment != DONE && scene->side == SERVER) return;
        CHECK(logged(log, "CLIENT_RANDOM ", secret[0], 48));
        key_block(secret[0], server_random, client_random, block, sizeof block);
        for (int i = 0; i < 2; i++) {
            struct keys *keys = i == 0 ? client : server;
            keys->is_12 = keys->are_known = true;
            keys->seq = scene->moment == DONE || i == 0; /* 1 after Finished */
            memcpy(keys->key, block + 32 * i, 32);
            memcpy(keys->iv, block + 64 + 12 * i, 12);
        }
        return;
    }
    bool is_done = scene->moment == DONE;
    CHECK(logged(log, is_done ? "CLIENT_TRAFFIC_SECRET_0 " : "CLIENT_HANDSHAKE_TRAFFIC_SECRET ", secret[0], 32));
    /* A TLS 1.3 server uses its application keys as soon as it has sent its Finished. */
    bool is_ahead = is_done || scene->side == SERVER;
    CHECK(logged(log, is_ahead ? "SERVER_TRAFFIC_SECRET_0 " : "SERVER_HANDSHAKE_TRAFFIC_SECRET ", secret[1], 32));
    use_secret(client, secret[0]);
    use_secret(server, secret[1]);
}

static inline struct scene begin_scene(enum version version, enum side side, enum moment moment) {
    struct scene scene = {.version = version, .side = side, .moment = moment};
    netlib_tls_engine *client = client_engine(contexts[version][CLIENT], "localhost"),
                      *server = server_engine(contexts[version][SERVER]);
    netlib_error *err = NULL;
    static uint8_t flight[ROOM];
    uint8_t randoms[2][32] = {{0}, {0}};
    scene.victim = side == CLIENT ? client : server;
    scene.peer = side == CLIENT ? server : client;
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(client, &err));
    size_t len = drain_all(client, flight, sizeof flight);
    memcpy(randoms[0], flight + 11, 32);
    if (moment != FIRST) {
        feed_all(server, flight, len);
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(server, &err));
        len = drain_all(server, flight, sizeof flight);
        memcpy(randoms[1], flight + 11, 32);
        if (side == CLIENT || moment == DONE) {
            /* Feeds the whole flight of the server to the client. At the moment MIDDLE of TLS 1.3, feeds only the
             * ServerHello. */
            bool is_part = version == V13 && moment == MIDDLE;
            feed_all(client, flight, is_part ? 5 + ((size_t)flight[3] << 8) + flight[4] : len);
            CHECK_STATUS(version == V13 && !is_part ? NETLIB_OK : NETLIB_WANT_READ,
                         netlib_tls_engine_handshake(client, &err));
            len = drain_all(client, flight, sizeof flight);
        }
    }
    if (moment == DONE || (moment == MIDDLE && version == V12 && side == CLIENT)) {
        feed_all(server, flight, len);
        CHECK_OK(netlib_tls_engine_handshake(server, &err));
        len = drain_all(server, flight, sizeof flight);
        if (version == V12 && moment == DONE) {
            feed_all(client, flight, len);
            CHECK_OK(netlib_tls_engine_handshake(client, &err));
        }
    }
    take_keys(&scene, randoms[0], randoms[1]);
    return scene;
}

static inline void end_scene(struct scene *scene) {
    netlib_tls_engine_free(scene->victim);
    netlib_tls_engine_free(scene->peer);
}

/* ---- scripts ---- */

static inline uint8_t hex_digit(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* Writes the records of a script to `out` and returns their length. A script is a list of words separated by spaces:
 *   p22:0e000000      a record of type 22 in plaintext; p22.0301:… with another version
 *   s22:18000000      the same, sealed
 *   s23:+9            a record with 9 zeros after its text; s23:ff+3~7 also adds 7 zeros of padding
 *   r1603             these bytes without a record header; r+9: 9 zeros
 *   k                 use the next keys from here on, as after a key update */
static inline size_t write_script(struct scene *scene, const char *script, uint8_t *out) {
    static uint8_t text[ROOM];
    size_t at = 0;
    for (const char *c = script; *c != '\0';) {
        char kind = *c++;
        unsigned type = 0, version = 0x0303;
        size_t len = 0, padding = 0;
        if (kind == ' ') continue;
        if (kind == 'p' || kind == 's') {
            while (*c >= '0' && *c <= '9') type = type * 10 + (unsigned)(*c++ - '0');
            if (*c == '.')
                version = (unsigned)hex_digit(c[1]) << 12 | (unsigned)hex_digit(c[2]) << 8 |
                          (unsigned)hex_digit(c[3]) << 4 | hex_digit(c[4]),
                c += 5;
            CHECK(*c == ':');
            c++;
        }
        while ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')) {
            text[len++] = (uint8_t)(hex_digit(c[0]) << 4 | hex_digit(c[1]));
            c += 2;
        }
        if (*c == '+') {
            size_t zeros = (size_t)strtoul(c + 1, (char **)(uintptr_t)&c, 10);
            memset(text + len, 0, zeros);
            len += zeros;
        }
        if (*c == '~') padding = (size_t)strtoul(c + 1, (char **)(uintptr_t)&c, 10);
        if (kind == 'k') {
            next_secret(&scene->seal);
        } else if (kind == 's') {
            at += seal(&scene->seal, (uint8_t)type, text, len, padding, out + at);
        } else {
            uint8_t head[5] = {(uint8_t)type, (uint8_t)(version >> 8), (uint8_t)version, (uint8_t)(len >> 8),
                               (uint8_t)len};
            if (kind == 'p') memcpy(out + at, head, 5), at += 5;
            memcpy(out + at, text, len);
            at += len;
        }
    }
    return at;
}

/* ---- the reaction of the victim ---- */

enum { NO_ALERT = -1, WARNING = 1000 };

struct reaction {
    netlib_status status;
    int32_t alert;    /* the alert of the error */
    int alert_sent;   /* the last alert to the peer: its number, plus WARNING for a warning */
    unsigned times;   /* how often the script was played */
    unsigned answers; /* number of records to the peer */
    size_t plain;     /* bytes of plaintext that the victim returned */
    long long growth; /* the largest growth of the memory in use since the start */
    char message[240];
};

static inline long long memory_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (long long)(info.uordblks + info.hblkhd);
}

/* Calls the victim's handshake or read function, which processes the input. */
static inline netlib_status process_input(struct scene *scene, struct reaction *reaction) {
    netlib_error *err = NULL;
    netlib_status status;
    static uint8_t room[20000];
    if (scene->moment != DONE) {
        status = netlib_tls_engine_handshake(scene->victim, &err);
    } else {
        size_t n = 0;
        while ((status = netlib_tls_engine_read(scene->victim, room, sizeof room, &n, &err)) == NETLIB_OK)
            reaction->plain += n;
    }
    if (err != NULL) {
        reaction->alert = netlib_error_tls_alert(err);
        snprintf(reaction->message, sizeof reaction->message, "%s", netlib_error_message(err, NULL));
        netlib_error_free(err);
    }
    long long growth = memory_in_use();
    if (growth > reaction->growth) reaction->growth = growth;
    return status;
}

/* Drains the output of the victim, and records the alerts in it. */
static inline void read_output(struct scene *scene, struct reaction *reaction) {
    static uint8_t output[ROOM];
    size_t len = drain_all(scene->victim, output, sizeof output);
    for (size_t at = 0, size = 0; at + 5 <= len; at += size) {
        uint8_t *text = output + at + 5, type = output[at];
        size_t count = (size_t)output[at + 3] << 8 | output[at + 4];
        size = 5 + count;
        bool is_open = type == 21 && count == 2;
        if (!is_open) (void)open_record(&scene->open, output + at, size, &text, &count, &type);
        if (type == 21 && count == 2) reaction->alert_sent = text[0] == 2 ? text[1] : WARNING + text[1];
        if (!is_open && type == 22 && count == 5 && text[0] == 24) next_secret(&scene->open);
        reaction->answers++;
    }
}

/* Feeds all bytes to the victim. The victim processes its input whenever its buffer is full, and at the end. */
static inline netlib_status feed_and_process(struct scene *scene, const uint8_t *bytes, size_t len,
                                             struct reaction *reaction) {
    netlib_status status = NETLIB_WANT_READ;
    for (size_t done = 0, n = 0; done < len && status == NETLIB_WANT_READ; done += n) {
        netlib_error *err = NULL;
        status = netlib_tls_engine_feed(scene->victim, bytes + done, len - done, &n, &err);
        if (status != NETLIB_OK) {
            reaction->alert = netlib_error_tls_alert(err);
            snprintf(reaction->message, sizeof reaction->message, "%s", netlib_error_message(err, NULL));
            netlib_error_free(err);
            return status;
        }
        status = process_input(scene, reaction);
    }
    return status;
}

/* Plays the script `times` times, but stops as soon as the victim fails. */
static inline struct reaction play(struct scene *scene, const char *script, unsigned times) {
    struct reaction reaction = {.status = NETLIB_WANT_READ, .alert = -1, .alert_sent = NO_ALERT};
    static uint8_t records[ROOM];
    long long before = memory_in_use();
    if (scene->moment == FIRST && scene->side == CLIENT)
        netlib_tls_engine_drain(scene->victim, records, sizeof records, &(size_t){0}, NULL);
    while (reaction.times < times && reaction.status == NETLIB_WANT_READ) {
        reaction.times++;
        size_t len = write_script(scene, script, records);
        reaction.status = feed_and_process(scene, records, len, &reaction);
        read_output(scene, &reaction);
    }
    reaction.growth = reaction.growth > before ? reaction.growth - before : 0;
    return reaction;
}

/* Checks that a failed victim returns the same status from every function, and has no further output for its peer. */
static inline void check_failure_is_permanent(struct scene *scene, const struct reaction *reaction, const char *what) {
    netlib_error *err = NULL;
    char byte = 0;
    size_t n = 0;
    unsigned long failed = checks_failed;
    CHECK_STATUS(reaction->status, netlib_tls_engine_handshake(scene->victim, &err));
    CHECK_STATUS(reaction->status, netlib_tls_engine_read(scene->victim, &byte, 1, &n, &err));
    CHECK_STATUS(reaction->status, netlib_tls_engine_write(scene->victim, "x", 1, &n, &err));
    CHECK_STATUS(reaction->status, netlib_tls_engine_feed(scene->victim, "x", 1, &n, &err));
    CHECK_STATUS(reaction->status, netlib_tls_engine_shutdown(scene->victim, &err));
    CHECK_STATUS(reaction->status, netlib_tls_engine_handshake(scene->victim, &err));
    CHECK_INT(0, (long long)netlib_tls_engine_output_pending(scene->victim));
    if (checks_failed != failed) fprintf(stderr, "    %s\n", what);
}

#endif
