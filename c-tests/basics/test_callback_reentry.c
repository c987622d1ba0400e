/* Tests reentry: a callback uses or frees the handle of the call that runs the callback. */
#define _GNU_SOURCE
#include "callbacks.h"
#include "retry_makers.h"
#include "tls_wire.h"

/* The ctx of a callback: a handle, and the action that the callback performs on the handle. */
enum action { CALL, FREE, CALL_AND_FREE, ACTIONS };
struct own {
    enum action action;
    void *handle; /* NULL once the callback has freed it */
    const struct reentry *row;
    int depth, called, freed;
    netlib_status inner; /* the result of the call inside the callback */
};

struct reentry {
    const char *name;
    void (*make)(struct own *own);
    netlib_status (*call)(void *handle);
    void (*free)(void *handle);
    netlib_status inner, outer; /* the expected results of the call inside the callback and of the call around it */
};

static void free_ctx(void *ctx) { ((struct own *)ctx)->freed++; }

/* Performs `own->action` on the handle. Every callback calls this function first. */
static void use_handle(struct own *own) {
    own->called++;
    /* A Retry is immutable, so a callback of a Retry may call the Retry, which runs the callback again. A callback that
     * runs inside another callback does not perform the action again. */
    if (own->depth > 0 || own->handle == NULL) return;
    own->depth++;
    if (own->action != FREE) own->inner = own->row->call(own->handle);
    if (own->action != CALL) {
        own->row->free(own->handle);
        own->handle = NULL;
    }
    own->depth--;
    /* netlib frees the ctx only after the outer call has ended. */
    CHECK_INT(0, own->freed);
}

static int32_t own_number(void *ctx, double *number) {
    use_handle(ctx);
    *number = 0.5;
    return 0;
}
static void own_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    (void)seconds;
    use_handle(ctx);
    *outcome = NETLIB_OUTCOME_DONE;
}
static int32_t own_read(void *ctx, void *buf, size_t len, size_t *n) {
    (void)len;
    use_handle(ctx);
    *(char *)buf = 'x';
    *n = 1;
    return 0;
}
static int32_t own_tell(void *ctx, int64_t *pos) {
    use_handle(ctx);
    *pos = 5;
    return 0;
}
static void own_seek(void *ctx, int64_t pos, enum netlib_outcome *outcome) {
    (void)pos;
    use_handle(ctx);
    *outcome = NETLIB_OUTCOME_DONE;
}
static int32_t own_is_closed(void *ctx, int32_t *closed) {
    use_handle(ctx);
    *closed = 0;
    return 0;
}
static void own_address(void *ctx, const void *address, size_t len, int32_t classes, enum netlib_verdict *verdict) {
    (void)address, (void)len, (void)classes;
    use_handle(ctx);
    *verdict = NETLIB_VERDICT_REFUSE;
}
static int32_t own_resolve(void *ctx, const char *host, int32_t port, double seconds_left,
                           netlib_addresses *addresses) {
    (void)host, (void)port, (void)seconds_left, (void)addresses;
    use_handle(ctx);
    return NETLIB_OK;
}
static void own_servername(void *ctx, const char *server_name, netlib_tls_context **replacement,
                           enum netlib_verdict *verdict) {
    (void)server_name, (void)replacement;
    use_handle(ctx);
    *verdict = NETLIB_VERDICT_REFUSE;
}
static int32_t own_tls_read(void *ctx, void *buf, size_t len, size_t *n) {
    (void)buf, (void)len;
    use_handle(ctx);
    *n = 0;
    return NETLIB_WANT_READ;
}
static int32_t own_tls_write(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)buf, (void)len;
    use_handle(ctx);
    *n = 0;
    return NETLIB_WANT_WRITE;
}

static void free_own_timeout(void *timeout) { netlib_timeout_free(timeout); }
static void make_own_timeout(struct own *own) {
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    CHECK_OK(netlib_timeout_new(1, 1, 1, &timeout, &err));
    CHECK_OK(netlib_timeout_set_clock(timeout, own_number, own, free_ctx, &err));
    own->handle = timeout;
}
static netlib_status start_own_timeout(void *timeout) { return netlib_timeout_start_connect(timeout, NULL); }
/* Creates a timeout whose clock has started, so that a getter runs the clock callback. */
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
/* Returns NETLIB_BUSY only if start_connect and set_clock both return NETLIB_BUSY. */
static netlib_status start_or_set(void *timeout) {
    netlib_status status = netlib_timeout_start_connect(timeout, NULL);
    return status == NETLIB_BUSY ? set_own_clock(timeout) : status;
}

static void make_retry(struct own *own, netlib_retry_options *options) { own->handle = retry_after_failures(options); }
static void make_sleeping_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_sleep(options, own_sleep, own, free_ctx);
    make_retry(own, options);
}
static void make_random_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_random(options, own_number, own, free_ctx);
    make_retry(own, options);
}
static void make_wall_clock_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_wall_clock(options, own_number, own, free_ctx);
    make_retry(own, options);
}
static netlib_status sleep_of_own(void *retry) { return netlib_retry_sleep(retry, NULL, NULL, NULL); }
static netlib_status backoff_of_own(void *retry) {
    double seconds = 0;
    return netlib_retry_get_backoff_time(retry, &seconds, NULL);
}
static netlib_status parse_retry_after_of_own(void *retry) {
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
/* Decorrelated jitter calls the random callback when the next Retry is created. */
static void make_decorrelated_retry(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_jitter_kind(options, NETLIB_JITTER_DECORRELATED);
    netlib_retry_options_set_status_forcelist(options, (const int32_t[]){503}, 1);
    netlib_retry_options_set_random(options, own_number, own, free_ctx);
    make_retry(own, options);
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
/* Creates a decision that is the last owner of the sleep callback. */
static void make_sleeping_decision(struct own *own) {
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_status_forcelist(options, (const int32_t[]){503}, 1);
    netlib_retry_options_set_sleep(options, own_sleep, own, free_ctx);
    netlib_retry *retry = retry_after_failures(options);
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
    CHECK_OK(netlib_body_new(own_read, own_tell, own_seek, own_is_closed, own, free_ctx, &body, &err));
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

static void make_connect(struct own *own, netlib_connect_options *options, const char *host) {
    netlib_error *err = NULL;
    netlib_connect *connect = NULL;
    CHECK_OK(netlib_connect_new(host, 9, options, &connect, &err));
    netlib_connect_options_free(options);
    own->handle = connect;
}
static void make_connect_with_address(struct own *own) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, own_address, own, free_ctx);
    make_connect(own, options, "127.0.0.1");
}
static void make_connect_with_resolve(struct own *own) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, own_resolve, own, free_ctx);
    make_connect(own, options, "name.test");
}
static netlib_status step_own_connect(void *connect) {
    int fd = -1;
    netlib_status status = netlib_connect_step(connect, &fd, NULL);
    CHECK_INT(-1, fd);
    /* Getters return no status. Inside a callback, a getter returns the same value as for a NULL handle. */
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

static void make_options_with_address(struct own *own) {
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, own_address, own, free_ctx);
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

/* A ClientHello. A server that has received these bytes runs the server-name callback in the next call of its handshake
 * function. */
static char client_hello[20000];
static size_t client_hello_len;
static void save_client_hello_bytes(void) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_tls_engine *engine = client_engine(client, "localhost");
    CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(engine, &err));
    client_hello_len = drain_all(engine, client_hello, sizeof client_hello);
    netlib_tls_engine_free(engine);
    netlib_tls_context_free(client);
}
static netlib_tls_context *servername_context(struct own *own) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_servername_callback(options, own_servername, own, free_ctx);
    return context_of(options);
}
static void make_servername_engine(struct own *own) {
    netlib_tls_context *server = servername_context(own);
    own->handle = server_engine(server);
    netlib_tls_context_free(server);
    CHECK_INT((long long)client_hello_len, (long long)feed_all(own->handle, client_hello, client_hello_len));
}
static void make_wall_clock_engine(struct own *own) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_wall_clock(options, own_number, own, free_ctx);
    netlib_tls_context *client = context_of(options);
    own->handle = client_engine(client, "localhost");
    netlib_tls_context_free(client);
}
static netlib_status handshake_own_engine(void *engine) { return netlib_tls_engine_handshake(engine, NULL); }
static void free_own_engine(void *engine) { netlib_tls_engine_free(engine); }

static void make_reading_stream(struct own *own) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", own_tls_read, write_all, own, free_ctx, &stream, &err));
    netlib_tls_context_free(client);
    own->handle = stream;
}
static void make_writing_stream(struct own *own) {
    netlib_error *err = NULL;
    netlib_tls_context *client = client_context();
    netlib_stream *stream = NULL;
    CHECK_OK(netlib_tls_wrap_callbacks(client, "localhost", own_tls_read, own_tls_write, own, free_ctx, &stream, &err));
    netlib_tls_context_free(client);
    own->handle = stream;
}
/* Creates an inner stream over an outer stream. The callbacks belong to the outer stream. */
static void make_inner_stream(struct own *own) {
    netlib_error *err = NULL;
    make_writing_stream(own);
    netlib_tls_context *client = client_context();
    netlib_stream *outer = own->handle, *inner = NULL;
    CHECK_OK(netlib_tls_wrap_stream(client, outer, "localhost", &inner, &err));
    netlib_stream_free(outer);
    netlib_tls_context_free(client);
    own->handle = inner;
}
static int descriptors[2];
static void make_servername_stream(struct own *own) {
    netlib_error *err = NULL;
    netlib_tls_context *server = servername_context(own);
    netlib_stream *stream = NULL;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors) == 0);
    CHECK_INT((long long)client_hello_len, send(descriptors[1], client_hello, client_hello_len, MSG_NOSIGNAL));
    CHECK_OK(netlib_tls_accept_fd(server, descriptors[0], &stream, &err));
    netlib_tls_context_free(server);
    own->handle = stream;
}
static netlib_status handshake_own_stream(void *stream) { return netlib_stream_handshake(stream, NULL); }
static netlib_status read_own_stream(void *stream) {
    char byte;
    size_t n = 0;
    return netlib_stream_read(stream, &byte, 1, &n, NULL);
}
static netlib_status write_own_stream(void *stream) {
    size_t n = 0;
    return netlib_stream_write(stream, "x", 1, &n, NULL);
}
static void free_own_stream(void *stream) { netlib_stream_free(stream); }

static void callbacks_may_use_and_free_their_handle(void) {
    static const struct reentry rows[] = {
        {"netlib_clock_fn", make_own_timeout, start_own_timeout, free_own_timeout, NETLIB_BUSY, NETLIB_OK},
        {"netlib_clock_fn, another setter", make_own_timeout, start_or_set, free_own_timeout, NETLIB_BUSY, NETLIB_OK},
        {"netlib_clock_fn, read_timeout", make_started_timeout, read_own_timeout, free_own_timeout, NETLIB_BUSY,
         NETLIB_OK},
        {"netlib_clock_fn, duration", make_started_timeout, duration_of_own_timeout, free_own_timeout, NETLIB_BUSY,
         NETLIB_OK},
        {"netlib_wall_clock_fn", make_wall_clock_retry, parse_retry_after_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_sleep_fn", make_sleeping_retry, sleep_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn", make_random_retry, backoff_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn, delay", make_random_retry, delay_of_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn, increment", make_decorrelated_retry, increment_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_random_fn, decide", make_decorrelated_retry, decide_and_free, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_sleep_fn, sleep_for_retry", make_sleeping_retry, sleep_for_own, free_own_retry, NETLIB_OK, NETLIB_OK},
        {"netlib_sleep_fn, of a decision", make_sleeping_decision, sleep_of_decision, free_own_decision, NETLIB_OK,
         NETLIB_OK},
        {"netlib_wall_clock_fn, get_retry_after", make_wall_clock_retry, retry_after_of_own, free_own_retry, NETLIB_OK,
         NETLIB_OK},
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
        {"netlib_tls_servername_fn of an engine", make_servername_engine, handshake_own_engine, free_own_engine,
         NETLIB_BUSY, NETLIB_CALLBACK_FAILED},
        {"netlib_wall_clock_fn of an engine", make_wall_clock_engine, handshake_own_engine, free_own_engine,
         NETLIB_BUSY, NETLIB_WANT_READ},
        {"netlib_tls_servername_fn of a stream", make_servername_stream, handshake_own_stream, free_own_stream,
         NETLIB_BUSY, NETLIB_CALLBACK_FAILED},
        {"netlib_stream_read_fn", make_reading_stream, handshake_own_stream, free_own_stream, NETLIB_BUSY,
         NETLIB_WANT_READ},
        {"netlib_stream_read_fn, read", make_reading_stream, read_own_stream, free_own_stream, NETLIB_BUSY,
         NETLIB_WANT_READ},
        {"netlib_stream_read_fn, write", make_reading_stream, write_own_stream, free_own_stream, NETLIB_BUSY,
         NETLIB_WANT_READ},
        {"netlib_stream_write_fn", make_writing_stream, handshake_own_stream, free_own_stream, NETLIB_BUSY,
         NETLIB_WANT_WRITE},
        {"netlib_stream_write_fn, read", make_writing_stream, read_own_stream, free_own_stream, NETLIB_BUSY,
         NETLIB_WANT_WRITE},
        {"netlib_stream_write_fn of the outer stream", make_inner_stream, handshake_own_stream, free_own_stream,
         NETLIB_BUSY, NETLIB_WANT_WRITE},
    };
    save_client_hello_bytes();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (enum action action = CALL; action < ACTIONS; action++) {
            unsigned long failed_before = checks_failed;
            struct own own = {.action = action, .row = &rows[i], .inner = -1};
            rows[i].make(&own);
            void *handle = own.handle;
            CHECK_INT(rows[i].outer, rows[i].call(handle));
            CHECK(own.called >= 1);
            if (action != FREE) CHECK_INT(rows[i].inner, own.inner);
            if (action == CALL) {
                CHECK_INT(0, own.freed);
                rows[i].free(handle);
            }
            /* netlib has called ctx_free once. use_handle checks that netlib did not call ctx_free during the outer
             * call. */
            CHECK_INT(1, own.freed);
            if (rows[i].make == make_servername_stream) {
                close(descriptors[0]);
                close(descriptors[1]);
            }
            if (checks_failed > failed_before) fprintf(stderr, "    %s, action %d\n", rows[i].name, (int)action);
        }
    }
}

/* netlib_create_connection holds its own reference to the options, so a callback may change or free the options. */
static void callbacks_may_change_and_free_the_options_in_use(void) {
    static const struct reentry row = {"options", make_options_with_address, change_own_options, free_own_options,
                                       NETLIB_OK, NETLIB_ADDRESS_REFUSED};
    for (enum action action = CALL; action < ACTIONS; action++) {
        struct own own = {.action = action, .row = &row, .inner = -1};
        row.make(&own);
        void *handle = own.handle;
        CHECK_INT(row.outer, create_own(handle));
        CHECK_INT(1, own.called);
        if (action == CALL) row.free(handle);
        CHECK_INT(1, own.freed);
    }
}

static int32_t add_and_free(void *ctx, const char *host, int32_t port, double seconds_left, netlib_addresses *list) {
    const struct sockaddr_in *address = ctx;
    (void)host, (void)port, (void)seconds_left;
    for (int i = 0; i < 2; i++) {
        if (netlib_addresses_add(list, address, sizeof *address, NULL) != NETLIB_OK) return NETLIB_IO;
        netlib_addresses_free(list);
        CHECK_INT(i + 1, (long long)netlib_addresses_count(list));
    }
    return NETLIB_OK;
}

/* netlib owns the address list that a resolve callback fills. Inside the callback, netlib_addresses_free does
 * nothing. */
static void resolve_callbacks_cannot_free_the_address_list(void) {
    netlib_error *err = NULL;
    /* Nothing listens on port 1. */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(1), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_resolve_callback(options, add_and_free, &address, NULL);
    int fd = -1;
    netlib_status status = netlib_create_connection("name.test", 80, options, NULL, &fd, &err);
    CHECK_INT(2, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    netlib_connect_options_free(options);
}

int main(void) {
    callbacks_may_use_and_free_their_handle();
    callbacks_may_change_and_free_the_options_in_use();
    resolve_callbacks_cannot_free_the_address_list();
    return report("callback_reentry");
}
