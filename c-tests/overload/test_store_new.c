/* Tests the arguments and the ownership of netlib_store_new. */
#include "harness.h"

static int calls, freed;

static void swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                 double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    (void)ctx, (void)key, (void)len, (void)expected, (void)desired, (void)ttl, (void)timeout, (void)actual, (void)now;
    calls++;
    *answer = NETLIB_SWAP_UNAVAILABLE;
}

static void count_free(void *ctx) {
    CHECK(ctx == &freed);
    freed++;
}

static void a_timeout_that_is_not_above_0_is_refused_and_the_ctx_released(void) {
    static const struct {
        double timeout;
        const char *message;
    } rows[] = {
        {0.0, "timeout must be more than 0, or NETLIB_TIMEOUT_NONE; it is 0"},
        {-1.0, "timeout must be more than 0, or NETLIB_TIMEOUT_NONE; it is -1"},
        {-HUGE_VAL, "timeout must be more than 0, or NETLIB_TIMEOUT_NONE; it is -inf"},
        {NAN, "timeout must be more than 0, or NETLIB_TIMEOUT_NONE; it is NaN"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netlib_error *err = NULL;
        netlib_store *store = NULL;
        freed = 0;
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_store_new(swap, rows[i].timeout, &freed, count_free, &store, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK(store == NULL && freed == 1);
        netlib_error_free(err);
    }
}

static void a_store_without_a_callback_is_refused_and_the_ctx_released(void) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    freed = 0;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_store_new(NULL, 1.0, &freed, count_free, &store, &err));
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_store_new(swap, 1.0, &freed, count_free, NULL, &err));
    CHECK(store == NULL && freed == 2);
}

static void the_ctx_is_released_with_the_last_reference_to_the_store(void) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    freed = 0;
    CHECK_OK(netlib_store_new(swap, NETLIB_TIMEOUT_NONE, &freed, count_free, &store, &err));
    netlib_store *clone = netlib_store_clone(store);
    netlib_store_free(store);
    CHECK_INT(0, freed);
    netlib_store_free(clone);
    CHECK_INT(1, freed);
    netlib_store_free(NULL);
    CHECK(netlib_store_clone(NULL) == NULL);
    CHECK_INT(0, calls);
}

int main(void) {
    a_timeout_that_is_not_above_0_is_refused_and_the_ctx_released();
    a_store_without_a_callback_is_refused_and_the_ctx_released();
    the_ctx_is_released_with_the_last_reference_to_the_store();
    return report("store new");
}
