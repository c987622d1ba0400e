/* Every callback of the header in one table each: one that fails without a word. What each may answer otherwise is
 * tested where its section is. */
#define _GNU_SOURCE
#include "retry_makers.h"
#include "tls_wire.h"

/* ---- a callback that raised: it returns 0, and has stored nothing ---- */

static int raised; /* how often */

static int32_t raise_number(void *ctx, double *number) {
    (void)ctx, (void)number;
    return raised++, 0;
}

static enum netlib_outcome raise_sleep(void *ctx, double seconds) {
    (void)ctx, (void)seconds;
    return raised++, 0;
}

static int32_t raise_count(void *ctx, void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf, (void)len, (void)n;
    return raised++, 0;
}

static int32_t raise_write(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf, (void)len, (void)n;
    return raised++, 0;
}

static int32_t raise_tell(void *ctx, int64_t *pos) {
    (void)ctx, (void)pos;
    return raised++, 0;
}

static enum netlib_outcome raise_seek(void *ctx, int64_t pos) {
    (void)ctx, (void)pos;
    return raised++, 0;
}

static int32_t raise_is_closed(void *ctx, int32_t *closed) {
    (void)ctx, (void)closed;
    return raised++, 0;
}

static enum netlib_verdict raise_address(void *ctx, const void *address, size_t len, int32_t classes) {
    (void)ctx, (void)address, (void)len, (void)classes;
    return raised++, 0;
}

static int32_t raise_resolve(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *addresses) {
    (void)ctx, (void)host, (void)port, (void)seconds_left, (void)addresses;
    return raised++, 0;
}

static enum netlib_verdict raise_servername(void *ctx, const char *server_name, netlib_tls_context **replacement) {
    (void)ctx, (void)server_name, (void)replacement;
    return raised++, 0;
}

static netlib_status of_clock(netlib_error **err) {
    netlib_timeout *timeout = NULL;
    CHECK_INT(NETLIB_OK, netlib_timeout_new(1, 1, 1, &timeout, err));
    CHECK_INT(NETLIB_OK, netlib_timeout_set_clock(timeout, raise_number, NULL, NULL, err));
    netlib_status status = netlib_timeout_start_connect(timeout, err);
    netlib_timeout_free(timeout);
    return status;
}

static netlib_retry *retry_with(netlib_retry_options *options) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    netlib_retry_options_set_backoff_factor(options, 1);
    netlib_retry_options_set_backoff_jitter(options, 1);
    for (int i = 0; i < 3; i++) netlib_retry_options_add_history(options, "GET", "/", NULL, 503, NULL);
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    return retry;
}

static netlib_status of_wall_clock(netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, raise_number, NULL, NULL);
    netlib_retry *retry = retry_with(options);
    double seconds = 0;
    netlib_status status = netlib_retry_parse_retry_after(retry, "Sun, 06 Nov 1994 08:49:47 GMT", &seconds, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_status of_sleep(netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_sleep(options, raise_sleep, NULL, NULL);
    netlib_retry *retry = retry_with(options);
    netlib_status status = netlib_retry_sleep(retry, NULL, NULL, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_status of_random(netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_random(options, raise_number, NULL, NULL);
    netlib_retry *retry = retry_with(options);
    double seconds = 0;
    netlib_status status = netlib_retry_get_backoff_time(retry, &seconds, err);
    netlib_retry_free(retry);
    return status;
}

static netlib_body *raising_body(void) {
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    CHECK_OK(netlib_body_new(raise_count, raise_tell, raise_seek, raise_is_closed, NULL, NULL, &body, &err));
    return body;
}

static netlib_status of_body_read(netlib_error **err) {
    netlib_body *body = raising_body();
    char byte;
    size_t n = 99;
    netlib_status status = netlib_body_read(body, &byte, 1, &n, err);
    CHECK_INT(0, (long long)n);
    netlib_body_free(body);
    return status;
}

/* urllib3 goes on with a body whose tell() raised, and fails when it must be sent again. */
static netlib_status of_body_tell(netlib_error **err) {
    netlib_body *body = raising_body();
    int64_t pos = 99;
    CHECK_INT(NETLIB_OK, netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, err));
    CHECK_INT(NETLIB_POSITION_FAILED, pos);
    netlib_status status = netlib_rewind_body(body, pos, err);
    netlib_body_free(body);
    return status;
}

static netlib_status of_body_seek(netlib_error **err) {
    netlib_body *body = raising_body();
    netlib_status status = netlib_rewind_body(body, 0, err);
    netlib_body_free(body);
    return status;
}

static netlib_status of_body_is_closed(netlib_error **err) {
    netlib_body *body = raising_body();
    int32_t closed = 1;
    netlib_status status = netlib_is_fp_closed(body, &closed, err);
    netlib_body_free(body);
    return status;
}

static netlib_status connect_one_way(netlib_connect_options *options, bool race, const char *host, netlib_error **err) {
    int fd = 0;
    netlib_status status = NETLIB_OK;
    if (race) {
        netlib_connect *connect = NULL;
        CHECK_INT(NETLIB_OK, netlib_connect_new(host, 9, options, &connect, err));
        status = netlib_connect_run(connect, NULL, &fd, err);
        netlib_connect_free(connect);
    } else {
        status = netlib_create_connection(host, 9, options, NULL, &fd, err);
    }
    CHECK_INT(-1, fd);
    netlib_connect_options_free(options);
    return status;
}

static netlib_connect_options *raising_address(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, raise_address, NULL, NULL);
    return options;
}

static netlib_status of_address(netlib_error **err) { return connect_one_way(raising_address(), false, "127.0.0.1", err); }
static netlib_status of_address_in_a_race(netlib_error **err) {
    return connect_one_way(raising_address(), true, "127.0.0.1", err);
}

static netlib_connect_options *raising_resolver(void) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, raise_resolve, NULL, NULL);
    return options;
}

static netlib_status of_resolve(netlib_error **err) { return connect_one_way(raising_resolver(), false, "name.test", err); }
static netlib_status of_resolve_in_a_race(netlib_error **err) {
    return connect_one_way(raising_resolver(), true, "name.test", err);
}

static netlib_status of_tls_wall_clock(netlib_error **err) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_wall_clock(options, raise_number, NULL, NULL);
    netlib_tls_context *client = context_of(options), *server = server_context("server");
    struct wire wire = wire_of(client, server, 20000);
    CHECK_INT(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {
    }
    CHECK_INT(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.server, err));
    while (move_piece(&wire, wire.server, wire.client) > 0) {
    }
    /* The server's certificate is judged now. */
    netlib_status status = netlib_tls_engine_handshake(wire.client, err);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return status;
}

static netlib_status of_tls_servername(netlib_error **err) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_system_trust(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_servername_callback(options, raise_servername, NULL, NULL);
    netlib_tls_context *server = context_of(options), *client = client_context();
    struct wire wire = wire_of(client, server, 20000);
    CHECK_INT(NETLIB_WANT_READ, netlib_tls_engine_handshake(wire.client, err));
    while (move_piece(&wire, wire.client, wire.server) > 0) {
    }
    netlib_status status = netlib_tls_engine_handshake(wire.server, err);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return status;
}

static int32_t write_all(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf;
    *n = len;
    return NETLIB_OK;
}

static netlib_status shake_over(netlib_tls_read_fn read_fn, netlib_tls_write_fn write_fn, netlib_error **err) {
    netlib_tls_context *context = client_context();
    netlib_tls_stream *stream = NULL;
    CHECK_INT(NETLIB_OK, netlib_tls_wrap_callbacks(context, "localhost", read_fn, write_fn, NULL, NULL, &stream, err));
    netlib_status status = netlib_tls_stream_handshake(stream, err);
    netlib_tls_stream_free(stream);
    netlib_tls_context_free(context);
    return status;
}

static netlib_status of_tls_read(netlib_error **err) { return shake_over(raise_count, write_all, err); }
static netlib_status of_tls_write(netlib_error **err) { return shake_over(raise_count, raise_write, err); }

static void r34_a_callback_that_raised(void) {
    static const struct {
        const char *type;
        netlib_status (*call)(netlib_error **err);
        netlib_status expected;
    } rows[] = {
        {"netlib_clock_fn", of_clock, NETLIB_CALLBACK_FAILED},
        {"netlib_wall_clock_fn", of_wall_clock, NETLIB_CALLBACK_FAILED},
        {"netlib_sleep_fn", of_sleep, NETLIB_CALLBACK_FAILED},
        {"netlib_random_fn", of_random, NETLIB_CALLBACK_FAILED},
        {"netlib_body_read_fn", of_body_read, NETLIB_CALLBACK_FAILED},
        {"netlib_body_tell_fn", of_body_tell, NETLIB_UNREWINDABLE_BODY},
        {"netlib_body_seek_fn", of_body_seek, NETLIB_UNREWINDABLE_BODY},
        {"netlib_body_is_closed_fn", of_body_is_closed, NETLIB_CALLBACK_FAILED},
        {"netlib_address_fn", of_address, NETLIB_CALLBACK_FAILED},
        {"netlib_address_fn, racing", of_address_in_a_race, NETLIB_CALLBACK_FAILED},
        {"netlib_resolve_fn", of_resolve, NETLIB_NAME_RESOLUTION},
        {"netlib_resolve_fn, racing", of_resolve_in_a_race, NETLIB_NAME_RESOLUTION},
        {"netlib_wall_clock_fn of TLS", of_tls_wall_clock, NETLIB_CALLBACK_FAILED},
        {"netlib_tls_servername_fn", of_tls_servername, NETLIB_CALLBACK_FAILED},
        {"netlib_tls_read_fn", of_tls_read, NETLIB_CALLBACK_FAILED},
        {"netlib_tls_write_fn", of_tls_write, NETLIB_CALLBACK_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        unsigned long failed_before = checks_failed;
        raised = 0;
        CHECK_STATUS(rows[i].expected, rows[i].call(&err));
        CHECK_INT(1, raised);
        if (checks_failed > failed_before) fprintf(stderr, "    %s\n", rows[i].type);
    }
}

/* ---- an address callback that fails ends the connect ---- */

/* Fails for the address whose turn has this number, and allows the others. */
struct nth {
    int fails_at, asked;
};

static enum netlib_verdict fail_at(void *ctx, const void *address, size_t len, int32_t classes) {
    struct nth *nth = ctx;
    (void)address, (void)len, (void)classes;
    return nth->asked++ == nth->fails_at ? NETLIB_VERDICT_FAILED : NETLIB_VERDICT_ALLOW;
}

static int32_t two_addresses(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *list) {
    const struct sockaddr_in *listening = ctx;
    (void)host, (void)port, (void)seconds_left;
    /* Nobody listens at port 1: the first attempt fails at once. */
    struct sockaddr_in refusing = *listening;
    refusing.sin_port = htons(1);
    if (netlib_addresses_add(list, &refusing, sizeof refusing, NULL) != NETLIB_OK) return NETLIB_IO;
    return netlib_addresses_add(list, listening, sizeof *listening, NULL);
}

static void r34_no_other_address_is_tried(void) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    CHECK(bind(server, (struct sockaddr *)&at, size) == 0 && listen(server, 8) == 0);
    CHECK(getsockname(server, (struct sockaddr *)&at, &size) == 0);
    for (int fails_at = 0; fails_at < 3; fails_at++) {
        for (int race = 0; race < 2; race++) {
            netlib_error *err = NULL;
            struct nth nth = {fails_at, 0};
            netlib_connect_options *options = netlib_connect_options_new();
            netlib_connect_options_set_resolve_callback(options, two_addresses, &at, NULL);
            netlib_connect_options_set_address_callback(options, fail_at, &nth, NULL);
            int fd = -1;
            netlib_status status = NETLIB_OK;
            netlib_connect *connect = NULL;
            if (race) {
                CHECK_OK(netlib_connect_new("name.test", 80, options, &connect, &err));
                status = netlib_connect_run(connect, NULL, &fd, &err);
            } else {
                status = netlib_create_connection("name.test", 80, options, NULL, &fd, &err);
            }
            if (fails_at < 2) {
                CHECK_INT(fails_at + 1, (long long)netlib_error_cause_count(err));
                CHECK_INT(NETLIB_CALLBACK_FAILED, netlib_error_status(netlib_error_cause(err, (size_t)fails_at)));
                CHECK_INT(-1, fd);
                CHECK_STATUS(NETLIB_CALLBACK_FAILED, status);
                CHECK_INT(fails_at + 1, nth.asked);
                /* It is final. */
                if (race) CHECK_STATUS(NETLIB_CALLBACK_FAILED, netlib_connect_step(connect, &fd, &err));
                CHECK_INT(fails_at + 1, nth.asked);
            } else {
                CHECK_OK(status);
                CHECK(fd >= 0);
                close(fd);
            }
            netlib_connect_free(connect);
            netlib_connect_options_free(options);
        }
    }
    close(server);
}

/* ---- ctx_free: called once, when the last holder is gone ---- */

struct counted {
    int freed;
};

static void count_free(void *ctx) { ((struct counted *)ctx)->freed++; }

/* What the setters below give as ctx_free. */
static netlib_ctx_free_fn release = count_free;

typedef void set_fn(void *options, bool with_function, struct counted *ctx);

#define SETTER(name, call, function)                                          \
    static void name(void *options, bool with_function, struct counted *ctx) { \
        call(options, with_function ? function : NULL, ctx, release);         \
    }
SETTER(set_wall_clock, netlib_retry_options_set_wall_clock, raise_number)
SETTER(set_sleep, netlib_retry_options_set_sleep, raise_sleep)
SETTER(set_random, netlib_retry_options_set_random, raise_number)
SETTER(set_address, netlib_connect_options_set_address_callback, raise_address)
SETTER(set_resolve, netlib_connect_options_set_resolve_callback, raise_resolve)
SETTER(set_tls_wall_clock, netlib_tls_options_set_wall_clock, raise_number)
SETTER(set_servername, netlib_tls_options_set_servername_callback, raise_servername)
static void set_clock(void *timeout, bool with_function, struct counted *ctx) {
    netlib_error *err = NULL;
    CHECK_STATUS(timeout == NULL ? NETLIB_NULL_ARGUMENT : NETLIB_OK,
                 netlib_timeout_set_clock(timeout, with_function ? raise_number : NULL, ctx, release, &err));
}
static void set_started_clock(void *timeout, bool with_function, struct counted *ctx) {
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR,
                 netlib_timeout_set_clock(timeout, with_function ? raise_number : NULL, ctx, release, &err));
}

/* Options, and what is made of them: each keeps the callback alone when the others are freed. */
enum { KEPT = 5 };
struct kind {
    void *(*options)(void);
    void (*free_options)(void *options);
    void (*make)(void *options, void *kept[KEPT]);
    void (*free_kept)(void *kept[KEPT], int at);
};

static void *new_retry_options(void) { return netlib_retry_options_new(); }
static void free_retry_options(void *options) { netlib_retry_options_free(options); }
static void make_of_retry(void *options, void *kept[KEPT]) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL, *next = NULL, *none = NULL;
    netlib_retry_options_set_total(options, 1);
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    netlib_error *refused = NULL;
    CHECK_OK(netlib_error_new(NETLIB_CONNECT_FAILED, "refused", NULL, &refused, &err));
    CHECK_OK(netlib_retry_increment(retry, "GET", "/", NULL, refused, &next, &err));
    netlib_error *exhausted = NULL;
    CHECK_INT(NETLIB_MAX_RETRY, netlib_retry_increment(next, "GET", "/", NULL, refused, &none, &exhausted));
    netlib_error_free(refused);
    kept[0] = retry;
    kept[1] = netlib_retry_clone(retry);
    kept[2] = next;
    kept[3] = netlib_retry_to_options(next);
    kept[4] = exhausted;
}
static void free_of_retry(void *kept[KEPT], int at) {
    if (at < 3) netlib_retry_free(kept[at]);
    if (at == 3) netlib_retry_options_free(kept[at]);
    if (at == 4) netlib_error_free(kept[at]);
}

static void *new_connect_options(void) { return netlib_connect_options_new(); }
static void free_connect_options(void *options) { netlib_connect_options_free(options); }
static void make_of_connect(void *options, void *kept[KEPT]) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new("name.test", 80, options, &connect, &err));
    kept[0] = connect;
    netlib_connect *ended = NULL;
    int fd = -1;
    CHECK_OK(netlib_connect_new("127.0.0.1", 1, options, &ended, &err));
    netlib_status status = netlib_connect_run(ended, NULL, &fd, &err);
    CHECK(status != NETLIB_OK);
    netlib_error_free(err);
    kept[1] = ended;
}
static void free_of_connect(void *kept[KEPT], int at) { netlib_connect_free(kept[at]); }

static void *new_tls_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    return options;
}
static void free_tls_options(void *options) { netlib_tls_options_free(options); }
static void make_of_tls(void *options, void *kept[KEPT]) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    CHECK_OK(netlib_tls_context_new(options, &context, &err));
    kept[0] = context;
    kept[1] = netlib_tls_context_clone(context);
    kept[2] = server_engine(context);
    kept[3] = netlib_tls_context_to_options(context);
    kept[4] = client_engine(context, "localhost");
}
static void free_of_tls(void *kept[KEPT], int at) {
    if (at < 2) netlib_tls_context_free(kept[at]);
    if (at == 3) netlib_tls_options_free(kept[at]);
    if (at == 2 || at == 4) netlib_tls_engine_free(kept[at]);
}

static void *new_timeout(void) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    CHECK_OK(netlib_timeout_new(1, 1, 1, &timeout, &err));
    return timeout;
}
static void free_timeout(void *timeout) { netlib_timeout_free(timeout); }
static void make_of_timeout(void *timeout, void *kept[KEPT]) { kept[0] = netlib_timeout_clone(timeout); }
static void free_of_timeout(void *kept[KEPT], int at) { netlib_timeout_free(kept[at]); }

static const struct kind retry_kind = {new_retry_options, free_retry_options, make_of_retry, free_of_retry};
static const struct kind connect_kind = {new_connect_options, free_connect_options, make_of_connect, free_of_connect};
static const struct kind tls_kind = {new_tls_options, free_tls_options, make_of_tls, free_of_tls};
static const struct kind timeout_kind = {new_timeout, free_timeout, make_of_timeout, free_of_timeout};
static const struct {
    const char *name;
    set_fn *set;
    const struct kind *kind;
} setters[] = {
    {"netlib_retry_options_set_wall_clock", set_wall_clock, &retry_kind},
    {"netlib_retry_options_set_sleep", set_sleep, &retry_kind},
    {"netlib_retry_options_set_random", set_random, &retry_kind},
    {"netlib_connect_options_set_address_callback", set_address, &connect_kind},
    {"netlib_connect_options_set_resolve_callback", set_resolve, &connect_kind},
    {"netlib_tls_options_set_wall_clock", set_tls_wall_clock, &tls_kind},
    {"netlib_tls_options_set_servername_callback", set_servername, &tls_kind},
    {"netlib_timeout_set_clock", set_clock, &timeout_kind},
};

static void setters_release_once(void) {
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        const struct kind *kind = setters[i].kind;
        unsigned long failed_before = checks_failed;
        struct counted a = {0}, b = {0};
        /* NULL options; no function. */
        setters[i].set(NULL, true, &a);
        CHECK_INT(1, a.freed);
        void *options = kind->options();
        setters[i].set(options, false, &b);
        CHECK_INT(1, b.freed);
        /* Replaced; kept by options alone. */
        a.freed = b.freed = 0;
        setters[i].set(options, true, &a);
        CHECK_INT(0, a.freed);
        setters[i].set(options, true, &b);
        CHECK_INT(1, a.freed);
        CHECK_INT(0, b.freed);
        kind->free_options(options);
        CHECK_INT(1, a.freed);
        CHECK_INT(1, b.freed);
        /* Taken away by NULL, whose own ctx goes as well. */
        a.freed = b.freed = 0;
        options = kind->options();
        setters[i].set(options, true, &a);
        setters[i].set(options, false, &b);
        CHECK_INT(1, a.freed);
        CHECK_INT(1, b.freed);
        kind->free_options(options);
        CHECK_INT(1, a.freed);
        /* Each thing made of the options is the last holder in turn. */
        for (int last = 0; last < KEPT; last++) {
            a.freed = b.freed = 0;
            void *kept[KEPT] = {NULL};
            options = kind->options();
            setters[i].set(options, true, &a);
            kind->make(options, kept);
            setters[i].set(options, true, &b);
            CHECK_INT(0, a.freed);
            CHECK_INT(0, b.freed);
            kind->free_options(options);
            CHECK_INT(1, b.freed);
            for (int at = 0; at < KEPT; at++) {
                if (at != last && kept[at] != NULL) kind->free_kept(kept, at);
            }
            if (kept[last] != NULL) {
                CHECK_INT(0, a.freed);
                kind->free_kept(kept, last);
            }
            CHECK_INT(1, a.freed);
            CHECK_INT(1, b.freed);
        }
        if (checks_failed > failed_before) fprintf(stderr, "    %s\n", setters[i].name);
    }
    /* Options that have a bad value keep nothing more. */
    struct counted a = {0};
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_timeout(options, -5);
    set_address(options, true, &a);
    CHECK_INT(1, a.freed);
    netlib_connect_options_free(options);
    CHECK_INT(1, a.freed);
    /* A started timeout refuses another clock. */
    netlib_error *err = NULL;
    netlib_timeout *timeout = new_timeout();
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_timeout_set_clock(timeout, raise_number, &a, count_free, &err));
    CHECK_INT(2, a.freed);
    netlib_timeout_free(timeout);
    CHECK_INT(2, a.freed);
}

/* ---- ctx_free may use and free the handle of the setter that runs it ---- */

enum release_act { SETS_AGAIN, FREES, RELEASE_ACTS };
struct releasing {
    struct counted counted; /* First: `set_fn` takes it. */
    enum release_act act;
    set_fn *set;
    void (*free_options)(void *options);
    void *options;
    struct counted *again;
};

static void act_on_release(void *ctx) {
    struct releasing *releasing = ctx;
    releasing->counted.freed++;
    release = count_free;
    if (releasing->act == SETS_AGAIN) releasing->set(releasing->options, true, releasing->again);
    if (releasing->act == FREES) releasing->free_options(releasing->options);
}

static void r37_ctx_free_uses_and_frees_the_options(void) {
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        /* The ctx of the replaced callback, or a new one that has no function to go with it. */
        for (int replaced = 0; replaced < 2; replaced++) {
            for (enum release_act act = SETS_AGAIN; act < RELEASE_ACTS; act++) {
                unsigned long failed_before = checks_failed;
                const struct kind *kind = setters[i].kind;
                struct counted again = {0}, next = {0};
                struct releasing acting = {{0}, act, setters[i].set, kind->free_options, kind->options(), &again};
                release = act_on_release;
                setters[i].set(acting.options, replaced, &acting.counted);
                release = count_free;
                if (replaced) {
                    CHECK_INT(0, acting.counted.freed);
                    setters[i].set(acting.options, true, &next);
                }
                CHECK_INT(1, acting.counted.freed);
                /* The setter in ctx_free comes last, so its callback stays. All are freed with the options. */
                CHECK_INT(replaced, next.freed);
                CHECK_INT(0, again.freed);
                if (act == SETS_AGAIN) {
                    kind->free_options(acting.options);
                    CHECK_INT(1, again.freed);
                }
                CHECK_INT(1, acting.counted.freed);
                if (checks_failed > failed_before)
                    fprintf(stderr, "    %s, replaced %d, act %d\n", setters[i].name, replaced, (int)act);
            }
        }
    }
    /* Refused: a started timeout keeps its clock. */
    netlib_error *err = NULL;
    for (enum release_act act = SETS_AGAIN; act < RELEASE_ACTS; act++) {
        struct counted again = {0};
        netlib_timeout *timeout = new_timeout();
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        struct releasing acting = {{0}, act, set_started_clock, free_timeout, timeout, &again};
        CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR,
                     netlib_timeout_set_clock(timeout, raise_number, &acting, act_on_release, &err));
        CHECK_INT(1, acting.counted.freed);
        CHECK_INT(act == SETS_AGAIN, again.freed);
        if (act == SETS_AGAIN) netlib_timeout_free(timeout);
    }
}

/* Functions that take several callbacks with one ctx. */
static void constructors_release_once(void) {
    netlib_error *err = NULL;
    struct counted ctx = {0};
    netlib_body *body = NULL;
    static const struct {
        netlib_body_tell_fn tell;
        netlib_body_seek_fn seek;
        netlib_body_is_closed_fn is_closed;
    } rows[] = {{raise_tell, raise_seek, raise_is_closed}, {NULL, raise_seek, NULL}, {NULL, NULL, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ctx.freed = 0;
        CHECK_OK(netlib_body_new(raise_count, rows[i].tell, rows[i].seek, rows[i].is_closed, &ctx, count_free, &body, &err));
        CHECK_INT(0, ctx.freed);
        netlib_body_free(body);
        CHECK_INT(1, ctx.freed);
    }
    ctx.freed = 0;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_new(NULL, raise_tell, raise_seek, raise_is_closed, &ctx, count_free, &body, &err));
    CHECK_INT(1, ctx.freed);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_new(raise_count, NULL, NULL, NULL, &ctx, count_free, NULL, &err));
    CHECK_INT(2, ctx.freed);

    netlib_tls_context *client = client_context(), *server = server_context("server");
    netlib_tls_stream *stream = NULL, *inner = NULL;
    ctx.freed = 0;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", raise_count, write_all, &ctx, count_free, &stream, &err));
    CHECK_OK(netlib_tls_wrap_stream(client, stream, "localhost", &inner, &err));
    netlib_tls_stream_free(stream);
    CHECK_INT(0, ctx.freed);
    netlib_tls_stream_free(inner);
    CHECK_INT(1, ctx.freed);
    CHECK_OK(netlib_tls_accept_callbacks(server, raise_count, write_all, &ctx, count_free, &stream, &err));
    netlib_tls_stream_free(stream);
    CHECK_INT(2, ctx.freed);
    /* Failures. */
    static const struct {
        bool context, read, write, stream;
        const char *name;
        netlib_status status;
    } failures[] = {
        {false, true, true, true, "localhost", NETLIB_NULL_ARGUMENT}, {true, false, true, true, "localhost", NETLIB_NULL_ARGUMENT},
        {true, true, false, true, "localhost", NETLIB_NULL_ARGUMENT}, {true, true, true, false, "localhost", NETLIB_NULL_ARGUMENT},
        {true, true, true, true, "a b", NETLIB_INVALID_ARGUMENT},     {true, true, true, true, NULL, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        ctx.freed = 0;
        CHECK_STATUS(failures[i].status,
                     netlib_tls_wrap_callbacks(failures[i].context ? client : NULL, failures[i].name,
                                               failures[i].read ? raise_count : NULL, failures[i].write ? write_all : NULL, &ctx,
                                               count_free, failures[i].stream ? &stream : NULL, &err));
        CHECK_INT(1, ctx.freed);
        if (failures[i].status != NETLIB_NULL_ARGUMENT) continue;
        CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                     netlib_tls_accept_callbacks(failures[i].context ? server : NULL, failures[i].read ? raise_count : NULL,
                                                 failures[i].write ? write_all : NULL, &ctx, count_free,
                                                 failures[i].stream ? &stream : NULL, &err));
        CHECK_INT(2, ctx.freed);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* ---- ctx_free runs under no lock ---- */

/* What a server-name callback hands over, and the stream it is called for. */
struct switching {
    netlib_tls_context *next;
    netlib_tls_stream *stream;
    int freed;
    int32_t version; /* what the stream said when ctx was released */
};

static enum netlib_verdict switch_context(void *ctx, const char *server_name, netlib_tls_context **replacement) {
    struct switching *switching = ctx;
    (void)server_name;
    /* The only reference: the stream's. */
    *replacement = switching->next;
    switching->next = NULL;
    return NETLIB_VERDICT_ALLOW;
}

static void use_the_stream(void *ctx) {
    struct switching *switching = ctx;
    switching->freed++;
    /* Would wait for itself if the stream's lock were held. */
    if (switching->stream != NULL) switching->version = netlib_tls_stream_version(switching->stream);
}

static int32_t never_called(void *ctx, double *seconds) {
    (void)ctx, (void)seconds;
    return CHECK(false), 1;
}

/* The server drops the context that asked, or the one that the callback chose and that is no server's. */
static void r37_ctx_free_runs_under_no_lock(void) {
    for (int unusable = 0; unusable < 2; unusable++) {
        netlib_error *err = NULL;
        struct switching switching = {.version = -1}, chosen = {.version = -1};
        netlib_tls_options *options = unusable ? client_options() : new_tls_options();
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_wall_clock(options, never_called, &chosen, use_the_stream);
        switching.next = context_of(options);
        options = new_tls_options();
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_servername_callback(options, switch_context, &switching, use_the_stream);
        netlib_tls_context *asking = context_of(options), *client = client_context();
        struct pair pair = unix_pair();
        netlib_tls_stream *near = wrap(client, pair.near, "localhost"), *far = accept_tls(asking, pair.far);
        netlib_tls_context_free(asking);
        chosen.stream = switching.stream = far;
        CHECK_OK(netlib_tls_stream_set_blocking(near, 0, &err));
        CHECK_OK(netlib_tls_stream_set_blocking(far, 0, &err));
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_stream_handshake(near, &err));
        netlib_status status = netlib_tls_stream_handshake(far, &err);
        CHECK_STATUS(unusable ? NETLIB_CALLBACK_FAILED : NETLIB_WANT_READ, status);
        CHECK_INT(0, switching.freed + chosen.freed);
        chosen.stream = switching.stream = NULL;
        netlib_tls_stream_free(far);
        CHECK_INT(1, switching.freed);
        CHECK_INT(1, chosen.freed);
        netlib_tls_stream_free(near);
        netlib_tls_context_free(client);
        close_pair(pair);
    }
}

/* ---- a callback that calls its own handle, or frees it ---- */

/* One call of netlib, and what its callback is to do in the middle of it. */
enum act { CALL, FREE, CALL_AND_FREE, ACTS };
struct own {
    enum act act;
    void *handle;
    const struct reentry *row;
    int depth, called, freed;
    netlib_status inner; /* what the callback's own call returned */
};

struct reentry {
    const char *name;
    void (*make)(struct own *own);
    netlib_status (*call)(void *handle);
    void (*free)(void *handle);
    /* What the call in the callback returns; what the outer call returns. */
    netlib_status inner, outer;
};

static void release_own(void *ctx) { ((struct own *)ctx)->freed++; }

/* In each callback. */
static void act_on_own(struct own *own) {
    own->called++;
    /* A Retry is immutable, so that its calls may be nested: once is enough. A handle is freed once. */
    if (own->depth > 0 || own->handle == NULL) return;
    own->depth++;
    if (own->act != FREE) own->inner = own->row->call(own->handle);
    if (own->act != CALL) {
        own->row->free(own->handle);
        own->handle = NULL;
    }
    own->depth--;
    /* The handle lives on until the outer call ends. */
    CHECK_INT(0, own->freed);
}

static int32_t own_number(void *ctx, double *number) {
    act_on_own(ctx);
    *number = 0.5;
    return 0;
}
static enum netlib_outcome own_sleep(void *ctx, double seconds) {
    (void)seconds;
    act_on_own(ctx);
    return NETLIB_OUTCOME_DONE;
}
static int32_t own_read(void *ctx, void *buf, size_t len, size_t *n) {
    (void)len;
    act_on_own(ctx);
    *(char *)buf = 'x';
    *n = 1;
    return 0;
}
static int32_t own_tell(void *ctx, int64_t *pos) {
    act_on_own(ctx);
    *pos = 5;
    return 0;
}
static enum netlib_outcome own_seek(void *ctx, int64_t pos) {
    (void)pos;
    act_on_own(ctx);
    return NETLIB_OUTCOME_DONE;
}
static int32_t own_is_closed(void *ctx, int32_t *closed) {
    act_on_own(ctx);
    *closed = 0;
    return 0;
}
static enum netlib_verdict own_address(void *ctx, const void *address, size_t len, int32_t classes) {
    (void)address, (void)len, (void)classes;
    act_on_own(ctx);
    return NETLIB_VERDICT_REFUSE;
}
static int32_t own_resolve(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *addresses) {
    (void)host, (void)port, (void)seconds_left, (void)addresses;
    act_on_own(ctx);
    return NETLIB_OK;
}
static enum netlib_verdict own_servername(void *ctx, const char *server_name, netlib_tls_context **replacement) {
    (void)server_name, (void)replacement;
    act_on_own(ctx);
    return NETLIB_VERDICT_REFUSE;
}
static int32_t own_tls_read(void *ctx, void *buf, size_t len, size_t *n) {
    (void)buf, (void)len;
    act_on_own(ctx);
    *n = 0;
    return NETLIB_WANT_READ;
}
static int32_t own_tls_write(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)buf, (void)len;
    act_on_own(ctx);
    *n = 0;
    return NETLIB_WANT_WRITE;
}

static void make_own_timeout(struct own *own) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = new_timeout();
    CHECK_OK(netlib_timeout_set_clock(timeout, own_number, own, release_own, &err));
    own->handle = timeout;
}
static netlib_status start_own_timeout(void *timeout) { return netlib_timeout_start_connect(timeout, NULL); }
/* Started before, so that its callback runs in the getter. */
static void make_started_timeout(struct own *own) {
    make_own_timeout(own);
    netlib_error *err = NULL;
    own->depth = 1;
    CHECK_OK(netlib_timeout_start_connect(own->handle, &err));
    own->depth = own->called = 0;
}
static netlib_status read_own_timeout(void *timeout) {
    double seconds = 0;
    return netlib_timeout_read_timeout(timeout, &seconds, NULL);
}
static netlib_status duration_of_own_timeout(void *timeout) {
    double seconds = 0;
    return netlib_timeout_get_connect_duration(timeout, &seconds, NULL);
}
static netlib_status set_own_clock(void *timeout) { return netlib_timeout_set_clock(timeout, NULL, NULL, NULL, NULL); }
static netlib_status start_or_set(void *timeout) {
    /* Within the callback every call is refused in the same way. */
    netlib_status status = netlib_timeout_start_connect(timeout, NULL);
    return status == NETLIB_BUSY ? set_own_clock(timeout) : status;
}

static void make_retry_of(struct own *own, netlib_retry_options *options) { own->handle = retry_with(options); }
static void make_sleeping_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_sleep(options, own_sleep, own, release_own);
    make_retry_of(own, options);
}
static void make_random_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_random(options, own_number, own, release_own);
    make_retry_of(own, options);
}
static void make_dated_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, own_number, own, release_own);
    make_retry_of(own, options);
}
static netlib_status sleep_of_own(void *retry) { return netlib_retry_sleep(retry, NULL, NULL, NULL); }
static netlib_status backoff_of_own(void *retry) {
    double seconds = 0;
    return netlib_retry_get_backoff_time(retry, &seconds, NULL);
}
static netlib_status date_of_own(void *retry) {
    double seconds = 0;
    return netlib_retry_parse_retry_after(retry, "Sun, 06 Nov 1994 08:49:47 GMT", &seconds, NULL);
}
static netlib_status delay_of_own(void *retry) {
    double seconds = 0, uncapped = 0;
    enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
    return netlib_retry_delay(retry, NULL, &seconds, &reason, &uncapped, NULL);
}
static netlib_status sleep_for_own(void *retry) {
    netlib_response *response = response_of(503, "Retry-After: 1\r\n");
    int32_t slept = 0;
    netlib_status status = netlib_retry_sleep_for_retry(retry, response, NULL, &slept, NULL);
    netlib_response_free(response);
    return status;
}
static netlib_status retry_after_of_own(void *retry) {
    netlib_response *response = response_of(503, "Retry-After: Sun, 06 Nov 1994 08:49:47 GMT\r\n");
    double seconds = 0;
    netlib_status status = netlib_retry_get_retry_after(retry, response, &seconds, NULL);
    netlib_response_free(response);
    return status;
}
/* Its random numbers are drawn where the next Retry is made. */
static void make_drawing_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_DECORRELATED);
    netlib_retry_options_set_status_forcelist(options, (const int32_t[]){503}, 1);
    netlib_retry_options_set_random(options, own_number, own, release_own);
    make_retry_of(own, options);
}
static netlib_status increment_own(void *retry) {
    netlib_response *response = response_of(503, "");
    netlib_retry *next = NULL;
    netlib_status status = netlib_retry_increment(retry, "GET", "/", response, NULL, &next, NULL);
    netlib_response_free(response);
    netlib_retry_free(next);
    return status;
}
static netlib_status decide_own(const netlib_retry *retry, netlib_decision **decision) {
    netlib_url *url = NULL;
    CHECK_INT(NETLIB_OK, netlib_parse_url("http://a.test/", NETLIB_NTS, &url, NULL));
    netlib_response *response = response_of(503, "");
    netlib_status status = netlib_retry_decide(retry, "GET", url, response, NULL, NULL, decision, NULL);
    netlib_response_free(response);
    netlib_url_free(url);
    return status;
}
static netlib_status decide_and_free(void *retry) {
    netlib_decision *decision = NULL;
    netlib_status status = decide_own(retry, &decision);
    netlib_decision_free(decision);
    return status;
}
/* The decision is the last to hold the callback. */
static void make_sleeping_decision(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_status_forcelist(options, (const int32_t[]){503}, 1);
    netlib_retry_options_set_sleep(options, own_sleep, own, release_own);
    netlib_retry *retry = retry_with(options);
    netlib_decision *decision = NULL;
    CHECK_INT(NETLIB_OK, decide_own(retry, &decision));
    netlib_retry_free(retry);
    own->handle = decision;
}
static netlib_status sleep_of_decision(void *decision) { return netlib_decision_sleep(decision, NULL, NULL); }
static void free_own_decision(void *decision) { netlib_decision_free(decision); }
static void free_own_retry(void *retry) { netlib_retry_free(retry); }

static void make_own_body(struct own *own) {
    netlib_error *err = NULL;
    netlib_body *body = NULL;
    CHECK_OK(netlib_body_new(own_read, own_tell, own_seek, own_is_closed, own, release_own, &body, &err));
    own->handle = body;
}
static netlib_status read_own_body(void *body) {
    char byte;
    size_t n = 0;
    return netlib_body_read(body, &byte, 1, &n, NULL);
}
static netlib_status tell_own_body(void *body) {
    int64_t pos = 0;
    return netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, NULL);
}
static netlib_status seek_own_body(void *body) { return netlib_rewind_body(body, 3, NULL); }
static netlib_status is_own_body_closed(void *body) {
    int32_t closed = 0;
    return netlib_is_fp_closed(body, &closed, NULL);
}
static void free_own_body(void *body) { netlib_body_free(body); }

static void make_connect_of(struct own *own, netlib_connect_options *options, const char *host) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new(host, 9, options, &connect, &err));
    netlib_connect_options_free(options);
    own->handle = connect;
}
static void make_connect_with_address(struct own *own) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, own_address, own, release_own);
    make_connect_of(own, options, "127.0.0.1");
}
static void make_connect_with_resolve(struct own *own) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, own_resolve, own, release_own);
    make_connect_of(own, options, "name.test");
}
static netlib_status step_own_connect(void *connect) {
    int fd = -1;
    netlib_status status = netlib_connect_step(connect, &fd, NULL);
    CHECK_INT(-1, fd);
    /* Getters have no status: they answer as for NULL. */
    if (status == NETLIB_BUSY) {
        CHECK_INT(0, (long long)netlib_connect_wait_count(connect));
        CHECK_INT(NETLIB_BUSY, netlib_connect_set_limit(connect, NULL, NULL));
    }
    return status;
}
static netlib_status run_own_connect(void *connect) {
    int fd = -1;
    return netlib_connect_run(connect, NULL, &fd, NULL);
}
static void free_own_connect(void *connect) { netlib_connect_free(connect); }

/* create_connection uses options while it runs callbacks: these may be changed or freed. */
static void make_options_with_address(struct own *own) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, own_address, own, release_own);
    own->handle = options;
}
static netlib_status change_own_options(void *options) {
    netlib_connect_options_set_address_callback(options, NULL, NULL, NULL);
    return NETLIB_OK;
}
static netlib_status create_own(void *options) {
    int fd = -1;
    return netlib_create_connection("127.0.0.1", 9, options, NULL, &fd, NULL);
}
static void free_own_options(void *options) { netlib_connect_options_free(options); }

/* An engine that has all it needs for its callback to be called by the next handshake call. */
static char hello[20000];
static size_t hello_len;
static void say_hello(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_engine *engine = client_engine(client, "localhost");
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(engine, &err));
    hello_len = drain_all(engine, hello, sizeof hello);
    netlib_tls_engine_free(engine);
    netlib_tls_context_free(client);
}
static netlib_tls_context *asking_server(struct own *own) {
    netlib_tls_options *options = new_tls_options();
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_servername_callback(options, own_servername, own, release_own);
    return context_of(options);
}
static void make_asking_engine(struct own *own) {
    netlib_tls_context *server = asking_server(own);
    own->handle = server_engine(server);
    netlib_tls_context_free(server);
    CHECK_INT((long long)hello_len, (long long)feed_all(own->handle, hello, hello_len));
}
static void make_timed_engine(struct own *own) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_wall_clock(options, own_number, own, release_own);
    netlib_tls_context *client = context_of(options);
    own->handle = client_engine(client, "localhost");
    netlib_tls_context_free(client);
}
static netlib_status shake_own_engine(void *engine) { return netlib_tls_engine_handshake(engine, NULL); }
static void free_own_engine(void *engine) { netlib_tls_engine_free(engine); }

static void make_reading_stream(struct own *own) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", own_tls_read, write_all, own, release_own, &stream, &err));
    netlib_tls_context_free(client);
    own->handle = stream;
}
static void make_writing_stream(struct own *own) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", own_tls_read, own_tls_write, own, release_own, &stream, &err));
    netlib_tls_context_free(client);
    own->handle = stream;
}
/* The callback is the transport's of the stream below. */
static void make_inner_stream(struct own *own) {
    netlib_error *err = NULL;
    make_writing_stream(own);
    netlib_tls_context *client = client_context();
    netlib_tls_stream *outer = own->handle, *inner = NULL;
    CHECK_OK(netlib_tls_wrap_stream(client, outer, "localhost", &inner, &err));
    netlib_tls_stream_free(outer);
    netlib_tls_context_free(client);
    own->handle = inner;
}
/* On a descriptor, with a context that asks. */
static int descriptors[2];
static void make_asking_stream(struct own *own) {
    netlib_error *err = NULL;
    netlib_tls_context *server = asking_server(own);
    netlib_tls_stream *stream = NULL;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors) == 0);
    CHECK_INT((long long)hello_len, send(descriptors[1], hello, hello_len, MSG_NOSIGNAL));
    CHECK_OK(netlib_tls_accept_fd(server, descriptors[0], &stream, &err));
    netlib_tls_context_free(server);
    own->handle = stream;
}
static netlib_status shake_own_stream(void *stream) { return netlib_tls_stream_handshake(stream, NULL); }
static netlib_status read_own_stream(void *stream) {
    char byte;
    size_t n = 0;
    return netlib_tls_stream_read(stream, &byte, 1, &n, NULL);
}
static netlib_status write_own_stream(void *stream) {
    size_t n = 0;
    return netlib_tls_stream_write(stream, "x", 1, &n, NULL);
}
static void free_own_stream(void *stream) { netlib_tls_stream_free(stream); }

static void r37_callbacks_call_and_free_their_handles(void) {
    static const struct reentry rows[] = {
        {"netlib_clock_fn", make_own_timeout, start_own_timeout, free_timeout, NETLIB_BUSY, NETLIB_OK},
        {"netlib_clock_fn, another setter", make_own_timeout, start_or_set, free_timeout, NETLIB_BUSY, NETLIB_OK},
        {"netlib_clock_fn, read_timeout", make_started_timeout, read_own_timeout, free_timeout, NETLIB_BUSY, NETLIB_OK},
        {"netlib_clock_fn, duration", make_started_timeout, duration_of_own_timeout, free_timeout, NETLIB_BUSY, NETLIB_OK},
        {"netlib_wall_clock_fn", make_dated_retry, date_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_sleep_fn", make_sleeping_retry, sleep_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn", make_random_retry, backoff_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn, delay", make_random_retry, delay_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn, increment", make_drawing_retry, increment_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn, decide", make_drawing_retry, decide_and_free, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_sleep_fn, sleep_for_retry", make_sleeping_retry, sleep_for_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_sleep_fn, of a decision", make_sleeping_decision, sleep_of_decision, free_own_decision, NETLIB_OK, NETLIB_OK},
        {"netlib_wall_clock_fn, get_retry_after", make_dated_retry, retry_after_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_body_read_fn", make_own_body, read_own_body, free_own_body, NETLIB_BUSY, NETLIB_OK},
        {"netlib_body_tell_fn", make_own_body, tell_own_body, free_own_body, NETLIB_BUSY, NETLIB_OK},
        {"netlib_body_seek_fn", make_own_body, seek_own_body, free_own_body, NETLIB_BUSY, NETLIB_OK},
        {"netlib_body_is_closed_fn", make_own_body, is_own_body_closed, free_own_body, NETLIB_BUSY, NETLIB_OK},
        {"netlib_address_fn", make_connect_with_address, step_own_connect, free_own_connect, NETLIB_BUSY,
         NETLIB_ADDRESS_REFUSED},
        {"netlib_address_fn, run", make_connect_with_address, run_own_connect, free_own_connect, NETLIB_BUSY,
         NETLIB_ADDRESS_REFUSED},
        {"netlib_resolve_fn", make_connect_with_resolve, step_own_connect, free_own_connect, NETLIB_BUSY,
         NETLIB_NAME_RESOLUTION},
        {"netlib_resolve_fn, run", make_connect_with_resolve, run_own_connect, free_own_connect, NETLIB_BUSY,
         NETLIB_NAME_RESOLUTION},
        {"netlib_tls_servername_fn of an engine", make_asking_engine, shake_own_engine, free_own_engine, NETLIB_BUSY,
         NETLIB_CALLBACK_FAILED},
        {"netlib_wall_clock_fn of an engine", make_timed_engine, shake_own_engine, free_own_engine, NETLIB_BUSY,
         NETLIB_WANT_READ},
        {"netlib_tls_servername_fn of a stream", make_asking_stream, shake_own_stream, free_own_stream, NETLIB_BUSY,
         NETLIB_CALLBACK_FAILED},
        {"netlib_tls_read_fn", make_reading_stream, shake_own_stream, free_own_stream, NETLIB_BUSY, NETLIB_WANT_READ},
        {"netlib_tls_read_fn, read", make_reading_stream, read_own_stream, free_own_stream, NETLIB_BUSY, NETLIB_WANT_READ},
        {"netlib_tls_read_fn, write", make_reading_stream, write_own_stream, free_own_stream, NETLIB_BUSY, NETLIB_WANT_READ},
        {"netlib_tls_write_fn", make_writing_stream, shake_own_stream, free_own_stream, NETLIB_BUSY, NETLIB_WANT_WRITE},
        {"netlib_tls_write_fn, read", make_writing_stream, read_own_stream, free_own_stream, NETLIB_BUSY, NETLIB_WANT_WRITE},
        {"netlib_tls_write_fn, from above", make_inner_stream, shake_own_stream, free_own_stream, NETLIB_BUSY, NETLIB_WANT_WRITE},
    };
    say_hello();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (enum act act = CALL; act < ACTS; act++) {
            unsigned long failed_before = checks_failed;
            struct own own = {.act = act, .row = &rows[i], .inner = -1};
            rows[i].make(&own);
            void *handle = own.handle;
            CHECK_INT(rows[i].outer, rows[i].call(handle));
            CHECK(own.called >= 1);
            if (act != FREE) CHECK_INT(rows[i].inner, own.inner);
            if (act == CALL) {
                CHECK_INT(0, own.freed);
                rows[i].free(handle);
            }
            /* Freed once, and only when the call was over. */
            CHECK_INT(1, own.freed);
            if (rows[i].make == make_asking_stream) {
                close(descriptors[0]);
                close(descriptors[1]);
            }
            if (checks_failed > failed_before) fprintf(stderr, "    %s, act %d\n", rows[i].name, (int)act);
        }
    }
}

/* Options in use by a call are not the callback's to see: it may change and free them. */
static void r37_callbacks_change_and_free_options(void) {
    static const struct reentry row = {"options", make_options_with_address, change_own_options, free_own_options,
                                       NETLIB_OK, NETLIB_ADDRESS_REFUSED};
    for (enum act act = CALL; act < ACTS; act++) {
        struct own own = {.act = act, .row = &row, .inner = -1};
        row.make(&own);
        void *handle = own.handle;
        CHECK_INT(row.outer, create_own(handle));
        CHECK_INT(1, own.called);
        if (act == CALL) row.free(handle);
        CHECK_INT(1, own.freed);
    }
}

static int32_t free_the_list(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *list) {
    int32_t status = two_addresses(ctx, host, port, seconds_left, list);
    netlib_addresses_free(list);
    CHECK_INT(2, (long long)netlib_addresses_count(list));
    netlib_addresses_free(list);
    return status;
}

/* The list that a resolver fills is netlib's: to free it has no effect. */
static void r37_a_resolver_frees_its_list(void) {
    netlib_error *err = NULL;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(1), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, free_the_list, &at, NULL);
    int fd = -1;
    netlib_status status = netlib_create_connection("name.test", 80, options, NULL, &fd, &err);
    CHECK_INT(2, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    netlib_connect_options_free(options);
}

int main(void) {
    r34_a_callback_that_raised();
    r34_no_other_address_is_tried();
    setters_release_once();
    r37_ctx_free_uses_and_frees_the_options();
    constructors_release_once();
    r37_ctx_free_runs_under_no_lock();
    r37_callbacks_call_and_free_their_handles();
    r37_callbacks_change_and_free_options();
    r37_a_resolver_frees_its_list();
    return report("callbacks");
}
