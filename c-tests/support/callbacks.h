/* Callbacks of every type that store nothing, and return 0 if they have a result, as a callback of a language binding
 * may do after an exception. */
#ifndef NETLIB_TEST_CALLBACKS_H
#define NETLIB_TEST_CALLBACKS_H

#include "harness.h"

/* The number of calls of the callbacks below. */
static int raised;

static inline int32_t raise_number(void *ctx, double *number) {
    (void)ctx, (void)number;
    return raised++, 0;
}

static inline void raise_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    (void)ctx, (void)seconds;
    CHECK_INT(NETLIB_OUTCOME_FAILED, *outcome);
    raised++;
}

static inline int32_t raise_count(void *ctx, void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf, (void)len, (void)n;
    return raised++, 0;
}

static inline int32_t raise_write(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf, (void)len, (void)n;
    return raised++, 0;
}

static inline int32_t raise_tell(void *ctx, int64_t *pos) {
    (void)ctx, (void)pos;
    return raised++, 0;
}

static inline void raise_seek(void *ctx, int64_t pos, enum netlib_outcome *outcome) {
    (void)ctx, (void)pos;
    CHECK_INT(NETLIB_OUTCOME_FAILED, *outcome);
    raised++;
}

static inline int32_t raise_is_closed(void *ctx, int32_t *closed) {
    (void)ctx, (void)closed;
    return raised++, 0;
}

static inline void raise_address(void *ctx, const void *address, size_t len, int32_t classes,
                                 enum netlib_verdict *verdict) {
    (void)ctx, (void)address, (void)len, (void)classes;
    CHECK_INT(NETLIB_VERDICT_FAILED, *verdict);
    raised++;
}

static inline int32_t raise_resolve(void *ctx, const char *host, int32_t port, double seconds_left,
                                    netlib_addresses *addresses) {
    (void)ctx, (void)host, (void)port, (void)seconds_left, (void)addresses;
    return raised++, 0;
}

static inline void raise_servername(void *ctx, const char *server_name, netlib_tls_context **replacement,
                                    enum netlib_verdict *verdict) {
    (void)ctx, (void)server_name, (void)replacement;
    CHECK_INT(NETLIB_VERDICT_FAILED, *verdict);
    raised++;
}

/* A write callback of a TLS transport that accepts all bytes and discards them. */
static inline int32_t write_all(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx, (void)buf;
    *n = len;
    return NETLIB_OK;
}

/* Returns a Retry with three failures in its history. Computing its delay calls the random source. */
static inline netlib_retry *retry_after_failures(netlib_retry_options *options) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    netlib_retry_options_set_backoff_factor(options, 1);
    netlib_retry_options_set_backoff_jitter(options, 1);
    for (int i = 0; i < 3; i++) netlib_retry_options_add_history(options, "GET", "/", NULL, 503, NULL);
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    netlib_retry_options_free(options);
    return retry;
}

#endif
