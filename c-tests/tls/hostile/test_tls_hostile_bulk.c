/* Tests hostile peers that send large amounts: tickets and key updates between data in both directions, messages in
 * thousands of records, and endless certificate chains. The tests measure bytes, records and memory in use. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "hostile_peer.h"

enum { KIB = 1024 };

/* Decrypts the victim's output, and compares each byte of data with at_position. Returns the length of the data. */
static size_t read_data(struct scene *scene, size_t received, unsigned *updates) {
    static uint8_t output[400 * KIB];
    size_t len = drain_all(scene->victim, output, sizeof output), data = 0;
    for (size_t at = 0, size = 0; at < len; at += size) {
        uint8_t *text = NULL, type = 0;
        size_t count = 0;
        size = 5 + ((size_t)output[at + 3] << 8) + output[at + 4];
        CHECK(open_record(&scene->open, output + at, size, &text, &count, &type));
        if (type == 22) {
            CHECK(count == 5 && memcmp(text, "\x18\x00\x00\x01", 5) == 0);
            next_secret(&scene->open);
            ++*updates;
            continue;
        }
        CHECK_INT(23, type);
        bool intact = true;
        for (size_t i = 0; i < count; i++) intact &= text[i] == at_position(received + data + i);
        CHECK(intact);
        data += count;
    }
    return data;
}

/* Sends data in both directions. In every turn the peer updates its keys, and sends tickets if the victim is a client.
 * In every third turn the peer also requests that the victim updates its keys. */
static void key_updates_and_tickets_do_not_disturb_data(enum side side) {
    enum { TURNS = 60 };
    static uint8_t records[ROOM], data[16 * KIB];
    netlib_error *err = NULL;
    struct scene scene = begin_scene(V13, side, DONE);
    struct reaction reaction = {.status = NETLIB_WANT_READ};
    size_t sent = 0, written = 0, received = 0, got = 0;
    unsigned update_requests = 0, updates = 0;
    long long before = memory_in_use();
    for (unsigned turn = 0; turn < (under_valgrind() ? 6 : TURNS); turn++) {
        size_t len = 0;
        for (unsigned i = 0; i < 3; i++) {
            size_t size = (turn * 997 + i * 5003) % sizeof data + 1;
            for (size_t j = 0; j < size; j++) data[j] = at_position(sent + j);
            len += seal(&scene.seal, 23, data, size, turn % 7 * 10, records + len);
            sent += size;
            if (side == CLIENT)
                len += write_script(&scene, "s22:0400001100000e1000000000000004010203040000", records + len);
            if (i == 1)
                len += write_script(&scene, turn % 3 == 0 ? "s22:1800000101 k" : "s22:1800000100 k", records + len);
        }
        update_requests += turn % 3 == 0;
        /* Feeds the records in pieces that do not end at record boundaries. */
        for (size_t done = 0, n = 1; done < len && n > 0; done += n) {
            size_t piece = len - done < 7000 + turn ? len - done : 7000 + turn;
            CHECK_OK(netlib_tls_engine_feed(scene.victim, records + done, piece, &n, &err));
            for (;;) {
                static uint8_t room[20 * KIB];
                size_t count = 0;
                reaction.status = netlib_tls_engine_read(scene.victim, room, sizeof room, &count, &err);
                if (reaction.status != NETLIB_OK) break;
                bool intact = true;
                for (size_t i = 0; i < count; i++) intact &= room[i] == at_position(got + i);
                CHECK(intact);
                got += count;
            }
            CHECK_STATUS(NETLIB_WANT_READ, reaction.status);
        }
        for (size_t i = 0; i < 5000; i++) data[i] = at_position(written + i);
        size_t n = 0;
        CHECK_OK(netlib_tls_engine_write(scene.victim, data, 5000, &n, &err));
        written += n;
        received += read_data(&scene, received, &updates);
        CHECK_INT((long long)written, (long long)received);
    }
    CHECK_INT((long long)sent, (long long)got);
    CHECK_INT(update_requests, updates);
    CHECK(memory_in_use() - before < 180 * KIB);
    end_scene(&scene);
}

/* A victim that writes no data answers a thousand KeyUpdate requests with a single KeyUpdate, which precedes its next
 * data. */
static void a_thousand_key_update_requests_are_answered_with_one_key_update(void) {
    struct scene scene = begin_scene(V13, CLIENT, DONE);
    netlib_error *err = NULL;
    static uint8_t record[ROOM];
    struct reaction reaction = {.status = NETLIB_WANT_READ};
    unsigned updates = 0;
    size_t n = 0;
    for (unsigned i = 0; i < 1000; i++) {
        size_t len = write_script(&scene, "s22:1800000101 k s23:41", record);
        CHECK_INT(NETLIB_WANT_READ, feed_and_process(&scene, record, len, &reaction));
        CHECK_INT(0, (long long)netlib_tls_engine_output_pending(scene.victim));
    }
    uint8_t first = at_position(0);
    CHECK_OK(netlib_tls_engine_write(scene.victim, &first, 1, &n, &err));
    CHECK_INT(1, (long long)read_data(&scene, 0, &updates));
    CHECK_INT(1, updates);
    end_scene(&scene);
}

/* Sends endless tickets. A byte of data follows each ticket, so that the limit on records without data does not end the
 * session. The client stores only a few tickets, whether the tickets are small or 60,000 bytes long. */
static void endless_tickets_use_bounded_memory(void) {
    static uint8_t record[ROOM], ticket[ROOM];
    netlib_tls_options *options = netlib_tls_context_to_options(contexts[V13][CLIENT]);
    netlib_tls_options_set_resumption(options, 1);
    netlib_tls_context *other = contexts[V13][CLIENT];
    contexts[V13][CLIENT] = context_of(options);
    for (int large = 0; large < 2; large++) {
        struct scene scene = begin_scene(V13, CLIENT, DONE);
        struct reaction reaction = {.status = NETLIB_WANT_READ};
        size_t size = large ? 60000 : 200;
        long long before = memory_in_use();
        for (unsigned i = 0; i < (under_valgrind() ? 20
                                  : large          ? 60
                                                   : 2000) &&
                             reaction.status == NETLIB_WANT_READ;
             i++) {
            uint8_t head[15] = {4, 0, (uint8_t)((13 + size) >> 8), (uint8_t)(13 + size), 0, 0, 14, 16, 0, 0, 0,
                                0, 0, (uint8_t)(size >> 8),        (uint8_t)size};
            memset(ticket, (int)i, sizeof ticket);
            memcpy(ticket, head, sizeof head);
            memset(ticket + sizeof head + size, 0, 2);
            size_t len = 0, whole = sizeof head + size + 2;
            for (size_t done = 0; done < whole; done += 16384)
                len +=
                    seal(&scene.seal, 22, ticket + done, whole - done < 16384 ? whole - done : 16384, 0, record + len);
            len += write_script(&scene, "s23:41", record + len);
            reaction.status = feed_and_process(&scene, record, len, &reaction);
            CHECK_INT(i + 1, (long long)reaction.plain);
        }
        CHECK_STR("NETLIB_WANT_READ", netlib_status_name(reaction.status));
        if (reaction.message[0] != '\0') fprintf(stderr, "    %s\n", reaction.message);
        printf("tickets of %zu bytes: memory grown by %lld KiB\n", size, (reaction.growth - before) / KIB);
        CHECK(reaction.growth - before < (large ? 900 : 200) * KIB);
        end_scene(&scene);
    }
    netlib_tls_context_free(contexts[V13][CLIENT]);
    contexts[V13][CLIENT] = other;
}

/* Sends a handshake message of 65,000 bytes in records of one byte. The victim refuses the message after 68 KiB of
 * records, even if each call passes one byte. Encrypted records are longer, so fewer of them reach the limit. */
static void a_handshake_message_in_one_byte_records_is_refused_after_68_kib(void) {
    for (int sealed = 0; sealed < 2; sealed++) {
        struct scene scene = begin_scene(V13, CLIENT, sealed ? MIDDLE : FIRST);
        struct reaction reaction = {.status = NETLIB_WANT_READ, .alert = -1, .alert_sent = NO_ALERT};
        static uint8_t record[ROOM];
        size_t bytes = 0, feeds = 0;
        long long before = memory_in_use();
        (void)drain_all(scene.victim, record, sizeof record);
        for (unsigned i = 0; i < 65000 && reaction.status == NETLIB_WANT_READ; i++) {
            size_t len = write_script(&scene,
                                      sealed   ? i == 0 ? "s22:0b00fde8" : "s22:00"
                                      : i == 0 ? "p22:0200fde8"
                                               : "p22:00",
                                      record);
            size_t step = under_valgrind() ? len : 1;
            for (size_t done = 0; done < len && reaction.status == NETLIB_WANT_READ;
                 done += step, feeds++, bytes += step) {
                reaction.status = feed_and_process(&scene, record + done, step, &reaction);
            }
        }
        read_output(&scene, &reaction);
        CHECK_STR("NETLIB_TLS_PROTOCOL", netlib_status_name(reaction.status));
        CHECK_INT(50, reaction.alert);
        CHECK_INT(50, reaction.alert_sent);
        CHECK(strstr(reaction.message, "more than 64 KiB of records without completing a handshake message") != NULL);
        CHECK(bytes > 68 * KIB && bytes <= 68 * KIB + 50);
        CHECK(reaction.growth - before < 700 * KIB);
        printf("a message in pieces of a byte%s: refused after %zu bytes in %zu calls, memory grown by %lld KiB\n",
               sealed ? ", sealed" : "", bytes, feeds, (reaction.growth - before) / KIB);
        check_failure_is_permanent(&scene, &reaction, "pieces");
        end_scene(&scene);
    }
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 20000);
    CHECK(file != NULL && fread(text, 1, 19999, file) > 0);
    if (file != NULL) fclose(file);
    return text;
}

/* Returns a context whose chain is a valid certificate, followed by `copies` copies of a CA certificate. */
static netlib_tls_context *long_chain(const char *authority, unsigned copies, bool is_server) {
    char *leaf = read_file(is_server ? CERTS "server.pem" : CERTS "client.pem"),
         *key = read_file(is_server ? CERTS "server.key" : CERTS "client.key");
    char *ca = read_file(authority), *chain = calloc(1, strlen(leaf) + copies * strlen(ca) + 1),
         *end = chain + strlen(leaf);
    memcpy(chain, leaf, strlen(leaf));
    for (unsigned i = 0; i < copies; i++, end += strlen(ca)) memcpy(end, ca, strlen(ca));
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity(options, chain, strlen(chain), key, strlen(key));
    netlib_tls_options_set_resumption(options, 0);
    if (is_server) netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    free(leaf), free(key), free(ca), free(chain);
    return context_of(options);
}

static void long_certificate_chains_use_bounded_memory_and_a_bounded_search(void) {
    static const struct {
        const char *authority;
        unsigned copies;
        netlib_status status;
        int32_t alert;
    } rows[] = {
        /* All CA certificates have the same subject and issuer, so the number of possible paths is exponential. netlib
         * limits the search. */
        {CERTS "ca.pem", 10, NETLIB_CERTIFICATE_VERIFY, 46}, {CERTS "ca.pem", 100, NETLIB_CERTIFICATE_VERIFY, 46},
        {CERTS "ca.pem", 1000, NETLIB_TLS_PROTOCOL, 50},     {CERTS "other-ca.pem", 10, NETLIB_OK, -1},
        {CERTS "other-ca.pem", 100, NETLIB_OK, -1},          {CERTS "other-ca.pem", 1000, NETLIB_TLS_PROTOCOL, 50},
    };
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_REQUIRED);
    netlib_tls_options_set_resumption(options, 0);
    netlib_tls_context *verifier = context_of(options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int to_server = 0; to_server < 2; to_server++) {
            netlib_tls_context *chain = long_chain(rows[i].authority, rows[i].copies, !to_server);
            struct wire wire = to_server ? wire_of(chain, verifier, 20000) : wire_of(verifier, chain, 20000);
            long long before = memory_in_use();
            struct handshake_result reaction = run_handshake(&wire);
            netlib_tls_engine *victim = to_server ? wire.server : wire.client;
            CHECK_STR(netlib_status_name(rows[i].status),
                      netlib_status_name(to_server ? reaction.server : reaction.client));
            CHECK_INT(rows[i].alert, to_server ? reaction.server_alert : reaction.client_alert);
            if (rows[i].status == NETLIB_OK) {
                CHECK_INT(rows[i].copies + 1, (long long)netlib_tls_engine_peer_certificate_count(victim));
            } else {
                /* A peer that is a server gets the victim's alert during the handshake. A peer that is a client gets
                 * the victim's alert in its next read after the handshake. */
                netlib_error *err = NULL;
                size_t n = 0;
                netlib_status peer_status =
                    netlib_tls_engine_read(to_server ? wire.client : wire.server, &(char){0}, 1, &n, &err);
                CHECK_INT(rows[i].alert, netlib_error_tls_alert(err));
                CHECK_STATUS(NETLIB_TLS_ALERT, peer_status);
            }
            long long growth = memory_in_use() - before;
            printf("%u certificates to a %s: %s after %lu bytes, memory grown by %lld KiB\n", rows[i].copies + 1,
                   side_names[to_server], netlib_status_name(to_server ? reaction.server : reaction.client), wire.bytes,
                   growth / KIB);
            CHECK(growth < 600 * KIB);
            free_wire(&wire);
            netlib_tls_context_free(chain);
        }
    }
    netlib_tls_context_free(verifier);
}

int main(void) {
    set_up();
    key_updates_and_tickets_do_not_disturb_data(CLIENT);
    key_updates_and_tickets_do_not_disturb_data(SERVER);
    a_thousand_key_update_requests_are_answered_with_one_key_update();
    endless_tickets_use_bounded_memory();
    a_handshake_message_in_one_byte_records_is_refused_after_68_kib();
    long_certificate_chains_use_bounded_memory_and_a_bounded_search();
    tear_down();
    return report("tls hostile bulk");
}
