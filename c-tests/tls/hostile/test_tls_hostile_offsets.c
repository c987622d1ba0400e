/* Tests hostile networks between correct peers. The network truncates, splits or changes the bytes of one peer at every
 * offset, and drops, duplicates, swaps or inserts records. Both peers are engines, so no call waits. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_wire.h"

enum side { CLIENT, SERVER };

/* The kinds of sessions. */
static const struct kind {
    const char *what;
    int32_t version;
    bool has_certificate, is_resumed;
    size_t every; /* the step between tested offsets, if not every offset is tested */
} kinds[] = {
    {"TLS 1.2", NETLIB_TLS_VERSION_1_2, false, false, 1},
    {"TLS 1.3", NETLIB_TLS_VERSION_1_3, false, false, 1},
    {"TLS 1.2, client certificate", NETLIB_TLS_VERSION_1_2, true, false, 5},
    {"TLS 1.3, client certificate", NETLIB_TLS_VERSION_1_3, true, false, 5},
    {"TLS 1.2, resumed", NETLIB_TLS_VERSION_1_2, false, true, 3},
    {"TLS 1.3, resumed", NETLIB_TLS_VERSION_1_3, false, true, 13},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], ROOM = 20000 };

/* The changes made to the peer's bytes. */
enum act { NOTHING, BYTEWISE, CUT, SPLIT, FLIP, LOSE, DOUBLE, EXCHANGE, INSERT, ACTS };
static const char *const act_names[] = {"nothing", "bytewise", "cut",      "split", "flip",
                                        "lose",    "double",   "exchange", "insert"};

struct run {
    const struct kind *kind;
    enum side victim;
    enum act act;
    size_t at;            /* an offset in the peer's bytes; for the last four acts a record number */
    const char *inserted; /* the inserted record and its length */
    size_t inserted_len;
    /* The results of the run. */
    size_t bytes, records;   /* sent by the peer until the session ended */
    size_t offset_in_record; /* the offset of the byte `at` in its record */
    bool was_there;          /* true if the byte `at` exists; signatures vary in length */
    unsigned char type;      /* the type of the record `at` */
    netlib_status victims, peers;
    bool has_output, is_resumed;
    char message[200];
};

static netlib_tls_context *clients[KINDS], *servers[KINDS];
static unsigned long tally[ACTS][8];
static const netlib_status tallied[] = {
    NETLIB_OK,        NETLIB_TLS_HANDSHAKE_EOF, NETLIB_TLS_TRUNCATED,    NETLIB_TLS_PROTOCOL,
    NETLIB_TLS_ALERT, NETLIB_NOT_TLS,           NETLIB_TLS_INCOMPATIBLE, NETLIB_CERTIFICATE_VERIFY};

static void create_contexts_of_each_session_kind(void) {
    for (size_t i = 0; i < KINDS; i++) {
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_minimum_version(options, kinds[i].version);
        netlib_tls_options_set_maximum_version(options, kinds[i].version);
        netlib_tls_options_set_resumption(options, kinds[i].is_resumed);
        if (kinds[i].has_certificate)
            netlib_tls_options_set_identity_files(options, CERTS "client.pem", CERTS "client.key");
        clients[i] = context_of(options);
        options = client_options();
        netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
        netlib_tls_options_set_verify_mode(options, kinds[i].has_certificate ? NETLIB_CERT_REQUIRED : NETLIB_CERT_NONE);
        netlib_tls_options_set_resumption(options, kinds[i].is_resumed);
        servers[i] = context_of(options);
    }
}

/* Feeds bytes to the victim, and calls its handshake and read functions. */
static void pass_bytes(struct run *run, netlib_tls_engine *victim, const void *bytes, size_t len) {
    netlib_error *err = NULL;
    if (len == 0 || run->victims > NETLIB_WANT_READ) return;
    (void)feed_all(victim, bytes, len);
    netlib_status status = netlib_tls_engine_handshake(victim, &err);
    if (status == NETLIB_OK) {
        /* After the handshake, the read function processes records without data. */
        char byte;
        size_t n = 0;
        netlib_error_free(err);
        netlib_status read = netlib_tls_engine_read(victim, &byte, 1, &n, &err);
        if (read != NETLIB_WANT_READ) status = read == NETLIB_OK ? NETLIB_INTERNAL : read;
    }
    run->victims = status;
    if (err != NULL) {
        run->has_output = netlib_tls_engine_output_pending(victim) > 0;
        snprintf(run->message, sizeof run->message, "%s", netlib_error_message(err, NULL));
        netlib_error_free(err);
    }
}

/* Passes a flight of the peer to the victim, with the change applied. */
static void pass_flight(struct run *run, netlib_tls_engine *victim, char *flight, size_t len) {
    size_t at = run->at, begin = run->bytes;
    bool is_here = at >= begin && at < begin + len;
    run->bytes += len;
    if (run->act < LOSE) {
        for (size_t record = 0, size = 0; is_here && record < len; record += size) {
            size = 5 + ((size_t)(unsigned char)flight[record + 3] << 8) + (unsigned char)flight[record + 4];
            if (at - begin >= record) run->offset_in_record = at - begin - record;
        }
        run->was_there |= is_here;
        switch (run->act) {
        case BYTEWISE:
            for (size_t i = 0; i < len; i++) pass_bytes(run, victim, flight + i, 1);
            return;
        case CUT: pass_bytes(run, victim, flight, is_here ? at - begin : at < begin ? 0 : len); return;
        case SPLIT:
            if (is_here) pass_bytes(run, victim, flight, at - begin);
            pass_bytes(run, victim, is_here ? flight + (at - begin) : flight, is_here ? begin + len - at : len);
            return;
        case FLIP:
            if (is_here) flight[at - begin] = (char)(flight[at - begin] ^ 1 << (at * 5 % 8));
            break;
        default: break;
        }
        pass_bytes(run, victim, flight, len);
        return;
    }
    for (size_t record = 0, size = 0; record < len; record += size, run->records++) {
        size = 5 + ((size_t)(unsigned char)flight[record + 3] << 8) + (unsigned char)flight[record + 4];
        if (run->records == at) run->type = (unsigned char)flight[record];
        size_t next = record + size < len ? 5 + ((size_t)(unsigned char)flight[record + size + 3] << 8) +
                                                (unsigned char)flight[record + size + 4]
                                          : 0;
        if (run->records == at && run->act == INSERT) pass_bytes(run, victim, run->inserted, run->inserted_len);
        if (run->records == at && run->act == EXCHANGE && next > 0) {
            pass_bytes(run, victim, flight + record + size, next);
            pass_bytes(run, victim, flight + record, size);
            run->records++;
            size += next;
            continue;
        }
        if (run->records == at && run->act == LOSE) continue;
        pass_bytes(run, victim, flight + record, size);
        if (run->records == at && run->act == DOUBLE) pass_bytes(run, victim, flight + record, size);
    }
}

static void count(const struct run *run) {
    for (size_t i = 0; i < 8; i++) tally[run->act][i] += tallied[i] == run->victims;
}

/* Runs one session. If the handshake succeeds and `act` is not CUT, the peer then sends "ping". Otherwise the
 * connection ends. */
static struct run run_session(const struct kind *kind, enum side victim, enum act act, size_t at, const char *inserted,
                              size_t inserted_len) {
    struct run run = {.kind = kind,
                      .victim = victim,
                      .act = act,
                      .at = at,
                      .inserted = inserted,
                      .inserted_len = inserted_len,
                      .victims = NETLIB_WANT_READ,
                      .peers = NETLIB_WANT_READ};
    struct wire wire = wire_of(clients[kind - kinds], servers[kind - kinds], ROOM);
    netlib_tls_engine *to = victim == CLIENT ? wire.client : wire.server,
                      *from = victim == CLIENT ? wire.server : wire.client;
    netlib_error *err = NULL;
    static char bytes[ROOM];
    if (victim == CLIENT) CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(to, &err));
    for (size_t moved = 1; moved > 0;) {
        if (run.peers == NETLIB_WANT_READ) run.peers = netlib_tls_engine_handshake(from, NULL);
        moved = drain_all(from, bytes, sizeof bytes);
        if (moved > 0) pass_flight(&run, to, bytes, moved);
        size_t answer = drain_all(to, bytes, sizeof bytes);
        (void)feed_all(from, bytes, answer);
        moved += answer;
    }
    run.is_resumed = netlib_tls_engine_is_resumed(to);
    if (act != CUT && run.peers == NETLIB_OK && run.victims == NETLIB_OK) {
        size_t n = 0;
        CHECK_OK(netlib_tls_engine_write(from, "ping", 4, &n, &err));
        (void)feed_all(to, bytes, drain_all(from, bytes, sizeof bytes));
        memset(bytes, 0, 8);
        netlib_status status = netlib_tls_engine_read(to, bytes, 8, &n, &err);
        if (status == NETLIB_OK) CHECK(n == 4 && memcmp(bytes, "ping", 4) == 0);
        else run.victims = status, run.has_output = netlib_tls_engine_output_pending(to) > 0;
        netlib_error_free(err);
        err = NULL;
    } else if (run.victims <= NETLIB_WANT_READ) {
        /* If the victim still waits for bytes, the test ends its input. */
        bool is_done = run.victims == NETLIB_OK;
        char byte;
        size_t n = 0;
        netlib_tls_engine_feed_eof(to);
        run.victims = netlib_tls_engine_read(to, &byte, 1, &n, &err);
        CHECK_INT(is_done ? NETLIB_TLS_TRUNCATED : NETLIB_TLS_HANDSHAKE_EOF, run.victims);
        CHECK_INT(-1, netlib_error_tls_alert(err));
        netlib_error_free(err);
        err = NULL;
        run.has_output = netlib_tls_engine_output_pending(to) > 0;
    }
    /* Later reads return the status of the failure. */
    if (run.victims != NETLIB_OK) {
        for (int again = 0; again < 2; again++) {
            char byte;
            size_t n = 0;
            CHECK_STATUS(run.victims, netlib_tls_engine_read(to, &byte, 1, &n, &err));
        }
    }
    count(&run);
    free_wire(&wire);
    return run;
}

static void explain(const struct run *run, unsigned long failed) {
    if (checks_failed == failed) return;
    fprintf(stderr, "    %s, %s: %s at %zu (%zu in its record): %s: %s\n", run->kind->what,
            run->victim == CLIENT ? "client" : "server", act_names[run->act], run->at, run->offset_in_record,
            netlib_status_name(run->victims), run->message);
}

/* If sessions of this kind are resumed, runs an undisturbed session first, so that the context stores a session for the
 * next handshake. */
static void store_session(const struct kind *kind) {
    if (!kind->is_resumed) return;
    struct run run = run_session(kind, CLIENT, NOTHING, 0, NULL, 0);
    CHECK_INT(NETLIB_OK, run.victims);
}

static bool is_one_of(netlib_status status, const netlib_status *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == status) return true;
    }
    return false;
}

static void change_every_offset(const struct kind *kind, enum side victim) {
    store_session(kind);
    struct run whole = run_session(kind, victim, NOTHING, 0, NULL, 0);
    CHECK_INT(NETLIB_OK, whole.victims);
    CHECK_INT(kind->is_resumed, whole.is_resumed);
    store_session(kind);
    struct run bytewise = run_session(kind, victim, BYTEWISE, 0, NULL, 0);
    CHECK_INT(NETLIB_OK, bytewise.victims);
    CHECK_INT(NETLIB_OK, bytewise.peers);

    size_t every = under_valgrind() ? 97 * kind->every : kind->every, offsets = 0;
    size_t done_at = 0;
    for (size_t at = 0; at < whole.bytes; at += at < 12 && !under_valgrind() ? 1 : every, offsets++) {
        unsigned long failed = checks_failed;
        store_session(kind);
        struct run cut = run_session(kind, victim, CUT, at, NULL, 0);
        /* From this offset on, the handshake is complete. The offset varies by some bytes, because signatures vary in
         * length. */
        if (cut.victims == NETLIB_TLS_TRUNCATED && done_at == 0) done_at = at;
        bool may_be_done = done_at > 0, may_be_under_way = done_at == 0 || at < done_at + 8;
        CHECK(cut.victims == NETLIB_TLS_TRUNCATED ? may_be_done
                                                  : cut.victims == NETLIB_TLS_HANDSHAKE_EOF && may_be_under_way);
        CHECK(!cut.has_output);
        explain(&cut, failed);
    }
    for (size_t at = 1; at < whole.bytes; at += 7 * every) {
        unsigned long failed = checks_failed;
        store_session(kind);
        struct run split = run_session(kind, victim, SPLIT, at, NULL, 0);
        CHECK_INT(NETLIB_OK, split.victims);
        CHECK_INT(NETLIB_OK, split.peers);
        explain(&split, failed);
    }
    for (size_t at = 0; at < whole.bytes; at += every) {
        unsigned long failed = checks_failed;
        store_session(kind);
        struct run flip = run_session(kind, victim, FLIP, at, NULL, 0);
        static const netlib_status allowed[] = {
            NETLIB_TLS_PROTOCOL,     NETLIB_TLS_HANDSHAKE_EOF,  NETLIB_TLS_ALERT,    NETLIB_NOT_TLS,
            NETLIB_TLS_INCOMPATIBLE, NETLIB_CERTIFICATE_VERIFY, NETLIB_TLS_TRUNCATED};
        /* TLS does not authenticate the version in a record header. TLS 1.3 does not authenticate the type in the
         * header either, because the real type is encrypted. */
        bool is_harmless = flip.offset_in_record == 1 || flip.offset_in_record == 2 ||
                           (flip.offset_in_record == 0 && kind->version == NETLIB_TLS_VERSION_1_3);
        CHECK(is_one_of(flip.victims, allowed, 7) || (flip.victims == NETLIB_OK && (is_harmless || !flip.was_there)));
        CHECK(flip.victims != NETLIB_TLS_PROTOCOL || flip.has_output);
        CHECK(flip.victims != NETLIB_CERTIFICATE_VERIFY || flip.has_output);
        explain(&flip, failed);
    }
    printf("%s, %s: %zu bytes, cut off at %zu\n", kind->what, victim == CLIENT ? "client" : "server", whole.bytes,
           offsets);
}

static const struct {
    const char *record;
    size_t len;
    /* For TLS 1.2 and for TLS 1.3: true if the session continues after this record arrives during the handshake. */
    bool continues[2];
} inserts[] = {
    {"\x14\x03\x03\x00\x01\x01", 6, {false, true}},  /* change_cipher_spec */
    {"\x14\x03\x03\x00\x01\x02", 6, {false, false}}, /* change_cipher_spec with another value */
    {"\x14\x03\x03\x00\x00", 5, {false, false}},     /* empty records */
    {"\x15\x03\x03\x00\x00", 5, {false, false}},
    {"\x16\x03\x03\x00\x00", 5, {false, false}},
    {"\x17\x03\x03\x00\x00", 5, {false, false}},
    {"\x18\x03\x03\x00\x00", 5, {false, false}},
    {"\x15\x03\x03\x00\x02\x01\x5a", 7, {true, true}},           /* user_canceled */
    {"\x15\x03\x03\x00\x02\x01\x00", 7, {true, true}},           /* close_notify */
    {"\x15\x03\x03\x00\x02\x01\x70", 7, {true, true}},           /* unrecognized_name, a warning */
    {"\x15\x03\x03\x00\x02\x02\x28", 7, {false, false}},         /* handshake_failure */
    {"\x16\x03\x03\x00\x04\x00\x00\x00\x00", 9, {false, false}}, /* hello_request */
    {"\x16\x03\x03\x00\x04\x0e\x00\x00\x00", 9, {false, false}}, /* server_hello_done */
    {"\x17\x03\x03\x00\x01x", 6, {false, false}},                /* data */
    {"\x17\x03\x03\x00\x20xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 37, {false, false}},
    {"GET / HTTP/1.1\r\n\r\n", 18, {false, false}},
};

static void change_every_record(const struct kind *kind, enum side victim) {
    store_session(kind);
    size_t records = run_session(kind, victim, LOSE, 1000, NULL, 0).records;
    bool is_13 = kind->version == NETLIB_TLS_VERSION_1_3;
    for (size_t at = 0; at < records; at++) {
        for (enum act act = LOSE; act < INSERT; act++) {
            unsigned long failed = checks_failed;
            store_session(kind);
            struct run run = run_session(kind, victim, act, at, NULL, 0);
            /* A session survives only if the record that is lost or swapped with the next record is a TLS 1.3
             * change_cipher_spec. The last record cannot be swapped, because no record follows it. */
            bool is_nothing = is_13 && run.type == 20;
            bool is_last = act == EXCHANGE && run.victims == NETLIB_OK;
            CHECK(run.victims != NETLIB_OK || is_nothing || is_last);
            CHECK(!is_nothing || act == EXCHANGE || run.victims == NETLIB_OK);
            CHECK(run.victims != NETLIB_TLS_PROTOCOL || run.has_output);
            explain(&run, failed);
        }
        for (size_t i = 0; i < sizeof inserts / sizeof inserts[0]; i++) {
            if (under_valgrind() && (at + i) % 8 != 0) continue;
            unsigned long failed = checks_failed;
            store_session(kind);
            struct run run = run_session(kind, victim, INSERT, at, inserts[i].record, inserts[i].len);
            CHECK(run.victims != NETLIB_OK || inserts[i].continues[is_13]);
            CHECK(run.victims != NETLIB_TLS_PROTOCOL || run.has_output);
            if (checks_failed != failed) fprintf(stderr, "    insert %zu\n", i);
            explain(&run, failed);
        }
    }
}

int main(void) {
    create_contexts_of_each_session_kind();
    for (size_t i = 0; i < KINDS; i++) {
        for (int victim = CLIENT; victim <= SERVER; victim++) {
            change_every_offset(&kinds[i], (enum side)victim);
            change_every_record(&kinds[i], (enum side)victim);
        }
    }
    for (int act = CUT; act < ACTS; act++) {
        printf("%s:", act_names[act]);
        for (size_t i = 0; i < 8; i++) {
            if (tally[act][i] > 0) printf(" %s %lu", netlib_status_name(tallied[i]), tally[act][i]);
        }
        printf("\n");
    }
    for (size_t i = 0; i < KINDS; i++) {
        netlib_tls_context_free(clients[i]);
        netlib_tls_context_free(servers[i]);
    }
    return report("tls hostile offsets");
}
