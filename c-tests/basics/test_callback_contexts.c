/* Tests the ctx of callbacks: netlib calls ctx_free once, when the last owner of the ctx is freed, and ctx_free may use
 * the handle that has the callback. */
#define _GNU_SOURCE
#include "callbacks.h"
#include "tls_wire.h"

/* A ctx that counts how often it was freed. */
struct counted {
    int freed;
};

static void count_free(void *ctx) { ((struct counted *)ctx)->freed++; }

/* The ctx_free function that the setters below pass to netlib. */
static netlib_ctx_free_fn ctx_free = count_free;

typedef void set_fn(void *options, bool with_function, struct counted *ctx);

#define SETTER(name, call, function) \
    static void name(void *options, bool with_function, struct counted *ctx) { \
        call(options, with_function ? function : NULL, ctx, ctx_free); \
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
                 netlib_timeout_set_clock(timeout, with_function ? raise_number : NULL, ctx, ctx_free, &err));
}
static void set_started_clock(void *timeout, bool with_function, struct counted *ctx) {
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR,
                 netlib_timeout_set_clock(timeout, with_function ? raise_number : NULL, ctx, ctx_free, &err));
}

/* An options type, and functions that create objects from the options. Each of these objects holds its own reference to
 * the callback. */
enum { KEPT = 6 };
struct kind {
    void *(*new_options)(void);
    void (*free_options)(void *options);
    void (*make)(void *options, void *kept[KEPT]);
    void (*free_kept)(void *kept[KEPT], int at);
};

static void *new_retry_options(void) { return netlib_retry_options_new(); }
static void free_retry_options(void *options) { netlib_retry_options_free(options); }
static void make_retries(void *options, void *kept[KEPT]) {
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
    kept[5] = netlib_retry_options_clone(options);
}
static void free_retries(void *kept[KEPT], int at) {
    if (at < 3) netlib_retry_free(kept[at]);
    if (at == 3 || at == 5) netlib_retry_options_free(kept[at]);
    if (at == 4) netlib_error_free(kept[at]);
}

static void *new_connect_options(void) { return netlib_connect_options_new(); }
static void free_connect_options(void *options) { netlib_connect_options_free(options); }
static void make_connects(void *options, void *kept[KEPT]) {
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
    kept[2] = netlib_connect_options_clone(options);
}
static void free_connects(void *kept[KEPT], int at) {
    if (at < 2) netlib_connect_free(kept[at]);
    if (at == 2) netlib_connect_options_free(kept[at]);
}

static void *new_tls_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    return options;
}
static void free_tls_options(void *options) { netlib_tls_options_free(options); }
static void make_tls(void *options, void *kept[KEPT]) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    CHECK_OK(netlib_tls_context_new(options, &context, &err));
    kept[0] = context;
    kept[1] = netlib_tls_context_clone(context);
    kept[2] = server_engine(context);
    kept[3] = netlib_tls_context_to_options(context);
    kept[4] = client_engine(context, "localhost");
    kept[5] = netlib_tls_options_clone(options);
}
static void free_tls(void *kept[KEPT], int at) {
    if (at < 2) netlib_tls_context_free(kept[at]);
    if (at == 3 || at == 5) netlib_tls_options_free(kept[at]);
    if (at == 2 || at == 4) netlib_tls_engine_free(kept[at]);
}

static void *new_timeout(void) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    CHECK_OK(netlib_timeout_new(1, 1, 1, &timeout, &err));
    return timeout;
}
static void free_timeout(void *timeout) { netlib_timeout_free(timeout); }
static void make_timeouts(void *timeout, void *kept[KEPT]) { kept[0] = netlib_timeout_clone(timeout); }
static void free_timeouts(void *kept[KEPT], int at) { netlib_timeout_free(kept[at]); }

static const struct kind retry_kind = {new_retry_options, free_retry_options, make_retries, free_retries};
static const struct kind connect_kind = {new_connect_options, free_connect_options, make_connects, free_connects};
static const struct kind tls_kind = {new_tls_options, free_tls_options, make_tls, free_tls};
static const struct kind timeout_kind = {new_timeout, free_timeout, make_timeouts, free_timeouts};
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

static void callback_setters_free_each_ctx_once(void) {
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        const struct kind *kind = setters[i].kind;
        unsigned long failed_before = checks_failed;
        struct counted a = {0}, b = {0};
        /* A setter with NULL options, or with a NULL function, frees the ctx immediately. */
        setters[i].set(NULL, true, &a);
        CHECK_INT(1, a.freed);
        void *options = kind->new_options();
        setters[i].set(options, false, &b);
        CHECK_INT(1, b.freed);
        /* A second call of the setter replaces the callback and frees the first ctx. The options are the only owner of
         * the second ctx. */
        a.freed = b.freed = 0;
        setters[i].set(options, true, &a);
        CHECK_INT(0, a.freed);
        setters[i].set(options, true, &b);
        CHECK_INT(1, a.freed);
        CHECK_INT(0, b.freed);
        kind->free_options(options);
        CHECK_INT(1, a.freed);
        CHECK_INT(1, b.freed);
        /* A NULL function removes the callback, and frees the ctx that was passed with the NULL function. */
        a.freed = b.freed = 0;
        options = kind->new_options();
        setters[i].set(options, true, &a);
        setters[i].set(options, false, &b);
        CHECK_INT(1, a.freed);
        CHECK_INT(1, b.freed);
        kind->free_options(options);
        CHECK_INT(1, a.freed);
        /* In each turn of the loop, a different object that was created from the options is the last owner of the
         * ctx. */
        for (int last = 0; last < KEPT; last++) {
            a.freed = b.freed = 0;
            void *kept[KEPT] = {NULL};
            options = kind->new_options();
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
    /* A setter of a callback keeps the ctx even if the options have recorded an error of another setter. */
    struct counted a = {0};
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_timeout(options, -5);
    set_address(options, true, &a);
    CHECK_INT(0, a.freed);
    netlib_connect_options_free(options);
    CHECK_INT(1, a.freed);
    /* A timeout whose clock has started refuses another clock callback. */
    netlib_error *err = NULL;
    netlib_timeout *timeout = new_timeout();
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR, netlib_timeout_set_clock(timeout, raise_number, &a, count_free, &err));
    CHECK_INT(2, a.freed);
    netlib_timeout_free(timeout);
    CHECK_INT(2, a.freed);
}

/* A ctx whose ctx_free sets another callback on the handle, or frees the handle. */
enum action { SET_AGAIN, FREE_HANDLE, ACTIONS };
struct acting {
    struct counted counted; /* first, because `set_fn` takes its address */
    enum action action;
    set_fn *set;
    void (*free_options)(void *options);
    void *options;
    struct counted *again;
};

static void act_and_count(void *ctx) {
    struct acting *acting = ctx;
    acting->counted.freed++;
    ctx_free = count_free;
    if (acting->action == SET_AGAIN) acting->set(acting->options, true, acting->again);
    if (acting->action == FREE_HANDLE) acting->free_options(acting->options);
}

static void ctx_free_may_use_and_free_the_handle_of_its_callback(void) {
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        /* If `replaced` is 1, the setter frees the ctx of the replaced callback. If `replaced` is 0, the setter frees
         * the ctx that was passed with a NULL function. */
        for (int replaced = 0; replaced < 2; replaced++) {
            for (enum action action = SET_AGAIN; action < ACTIONS; action++) {
                unsigned long failed_before = checks_failed;
                const struct kind *kind = setters[i].kind;
                struct counted again = {0}, next = {0};
                struct acting acting = {{0}, action, setters[i].set, kind->free_options, kind->new_options(), &again};
                ctx_free = act_and_count;
                setters[i].set(acting.options, replaced, &acting.counted);
                ctx_free = count_free;
                if (replaced) {
                    CHECK_INT(0, acting.counted.freed);
                    setters[i].set(acting.options, true, &next);
                }
                CHECK_INT(1, acting.counted.freed);
                /* The callback that ctx_free sets is the last one that is set, so its ctx is freed only together with
                 * the options. */
                CHECK_INT(replaced, next.freed);
                CHECK_INT(0, again.freed);
                if (action == SET_AGAIN) {
                    kind->free_options(acting.options);
                    CHECK_INT(1, again.freed);
                }
                CHECK_INT(1, acting.counted.freed);
                if (checks_failed > failed_before)
                    fprintf(stderr, "    %s, replaced %d, action %d\n", setters[i].name, replaced, (int)action);
            }
        }
    }
    /* A timeout whose clock has started refuses the clock callback and frees its ctx. */
    netlib_error *err = NULL;
    for (enum action action = SET_AGAIN; action < ACTIONS; action++) {
        struct counted again = {0};
        netlib_timeout *timeout = new_timeout();
        CHECK_OK(netlib_timeout_start_connect(timeout, &err));
        struct acting acting = {{0}, action, set_started_clock, free_timeout, timeout, &again};
        CHECK_STATUS(NETLIB_TIMEOUT_STATE_ERROR,
                     netlib_timeout_set_clock(timeout, raise_number, &acting, act_and_count, &err));
        CHECK_INT(1, acting.counted.freed);
        CHECK_INT(action == SET_AGAIN, again.freed);
        if (action == SET_AGAIN) netlib_timeout_free(timeout);
    }
}

/* Tests functions that take several callbacks and one ctx. */
static void body_and_stream_constructors_free_the_ctx_once(void) {
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
        CHECK_OK(
            netlib_body_new(raise_count, rows[i].tell, rows[i].seek, rows[i].is_closed, &ctx, count_free, &body, &err));
        CHECK_INT(0, ctx.freed);
        netlib_body_free(body);
        CHECK_INT(1, ctx.freed);
    }
    ctx.freed = 0;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                 netlib_body_new(NULL, raise_tell, raise_seek, raise_is_closed, &ctx, count_free, &body, &err));
    CHECK_INT(1, ctx.freed);
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_body_new(raise_count, NULL, NULL, NULL, &ctx, count_free, NULL, &err));
    CHECK_INT(2, ctx.freed);

    netlib_tls_context *client = client_context(), *server = server_context("server");
    netlib_stream *stream = NULL, *inner = NULL;
    ctx.freed = 0;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", raise_count, write_all, &ctx, count_free, &stream, &err));
    CHECK_OK(netlib_tls_wrap_stream(client, stream, "localhost", &inner, &err));
    netlib_stream_free(stream);
    CHECK_INT(0, ctx.freed);
    netlib_stream_free(inner);
    CHECK_INT(1, ctx.freed);
    CHECK_OK(netlib_tls_accept_callbacks(server, raise_count, write_all, &ctx, count_free, &stream, &err));
    netlib_stream_free(stream);
    CHECK_INT(2, ctx.freed);
    /* Calls that fail free the ctx before they return. */
    static const struct {
        bool context, read, write, stream;
        const char *name;
        netlib_status status;
    } failures[] = {
        {false, true, true, true, "localhost", NETLIB_NULL_ARGUMENT},
        {true, false, true, true, "localhost", NETLIB_NULL_ARGUMENT},
        {true, true, false, true, "localhost", NETLIB_NULL_ARGUMENT},
        {true, true, true, false, "localhost", NETLIB_NULL_ARGUMENT},
        {true, true, true, true, "a b", NETLIB_INVALID_ARGUMENT},
        {true, true, true, true, NULL, NETLIB_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        ctx.freed = 0;
        CHECK_STATUS(failures[i].status,
                     netlib_tls_wrap_callbacks(failures[i].context ? client : NULL, failures[i].name,
                                               failures[i].read ? raise_count : NULL,
                                               failures[i].write ? write_all : NULL, &ctx, count_free,
                                               failures[i].stream ? &stream : NULL, &err));
        CHECK_INT(1, ctx.freed);
        if (failures[i].status != NETLIB_NULL_ARGUMENT) continue;
        CHECK_STATUS(NETLIB_NULL_ARGUMENT,
                     netlib_tls_accept_callbacks(failures[i].context ? server : NULL,
                                                 failures[i].read ? raise_count : NULL,
                                                 failures[i].write ? write_all : NULL, &ctx, count_free,
                                                 failures[i].stream ? &stream : NULL, &err));
        CHECK_INT(2, ctx.freed);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

/* The context that a server-name callback selects, and the stream whose handshake runs the callback. */
struct switching {
    netlib_tls_context *next;
    netlib_stream *stream;
    int freed;
    int32_t version; /* the TLS version that ctx_free read from the stream */
};

static void switch_context(void *ctx, const char *server_name, netlib_tls_context **replacement,
                           enum netlib_verdict *verdict) {
    struct switching *switching = ctx;
    (void)server_name;
    /* Gives the stream the only reference to the context. */
    *replacement = switching->next;
    switching->next = NULL;
    *verdict = NETLIB_VERDICT_ALLOW;
}

static void read_version(void *ctx) {
    struct switching *switching = ctx;
    switching->freed++;
    /* netlib_stream_tls_version takes the stream's lock, so the test deadlocks if netlib holds the lock when it calls
     * ctx_free. */
    if (switching->stream != NULL) switching->version = netlib_stream_tls_version(switching->stream);
}

static int32_t fail_if_called(void *ctx, double *seconds) {
    (void)ctx, (void)seconds;
    return CHECK(false), 1;
}

/* A server stream keeps its original context, and the context that the servername callback has selected, until the
 * stream is freed. Therefore the handshake runs no ctx_free, even if servers cannot use the selected context. */
static void ctx_free_runs_while_no_lock_is_held(void) {
    for (int unusable = 0; unusable < 2; unusable++) {
        netlib_error *err = NULL;
        struct switching switching = {.version = -1}, chosen = {.version = -1};
        netlib_tls_options *options = unusable ? client_options() : new_tls_options();
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_wall_clock(options, fail_if_called, &chosen, read_version);
        switching.next = context_of(options);
        options = new_tls_options();
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_set_servername_callback(options, switch_context, &switching, read_version);
        netlib_tls_context *original = context_of(options), *client = client_context();
        struct pair pair = unix_pair();
        netlib_stream *near = wrap(client, pair.near, "localhost"), *far = accept_tls(original, pair.far);
        netlib_tls_context_free(original);
        chosen.stream = switching.stream = far;
        CHECK_OK(netlib_stream_set_blocking(near, 0, &err));
        CHECK_OK(netlib_stream_set_blocking(far, 0, &err));
        CHECK_STATUS(NETLIB_WANT_READ, netlib_stream_handshake(near, &err));
        netlib_status status = netlib_stream_handshake(far, &err);
        CHECK_STATUS(unusable ? NETLIB_CALLBACK_FAILED : NETLIB_WANT_READ, status);
        CHECK_INT(0, switching.freed + chosen.freed);
        chosen.stream = switching.stream = NULL;
        netlib_stream_free(far);
        CHECK_INT(1, switching.freed);
        CHECK_INT(1, chosen.freed);
        netlib_stream_free(near);
        netlib_tls_context_free(client);
        close_pair(pair);
    }
}

int main(void) {
    callback_setters_free_each_ctx_once();
    ctx_free_may_use_and_free_the_handle_of_its_callback();
    body_and_stream_constructors_free_the_ctx_once();
    ctx_free_runs_while_no_lock_is_held();
    return report("callback_contexts");
}
