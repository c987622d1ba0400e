/* Tests errors of the application: NETLIB_APPLICATION_ERROR, and user data with its destructor. */
#define _GNU_SOURCE
#include "retry_makers.h"

#include <pthread.h>

/* User data that counts how often it was freed, and records the thread that freed it. */
struct exception {
    const char *text;
    atomic_int freed;
    pthread_t freed_by;
    netlib_error *inner; /* freed together with the exception; may be NULL */
};

static void free_exception(void *ctx) {
    struct exception *exception = ctx;
    exception->freed++;
    exception->freed_by = pthread_self();
    netlib_error_free(exception->inner);
}

static netlib_error *error_with(netlib_status status, struct exception *exception) {
    netlib_error *err = NULL, *error = NULL;
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_user_data(options, exception, free_exception);
    CHECK_OK(netlib_error_new(status, exception->text, options, &error, &err));
    netlib_error_options_free(options);
    return error;
}

static void application_errors_have_a_class_of_their_own_and_retry_kind_other(void) {
    netlib_error *err = NULL, *error = NULL;
    CHECK_INT(1100, NETLIB_APPLICATION_ERROR);
    CHECK_INT(NETLIB_CLASS_APPLICATION, netlib_status_class(NETLIB_APPLICATION_ERROR));
    CHECK_INT(NETLIB_RETRY_KIND_OTHER, netlib_status_retry_kind(NETLIB_APPLICATION_ERROR));
    CHECK_STR("NETLIB_APPLICATION_ERROR", netlib_status_name(NETLIB_APPLICATION_ERROR));
    CHECK_OK(netlib_error_new(NETLIB_APPLICATION_ERROR, "ValueError: no", NULL, &error, &err));
    CHECK_INT(NETLIB_APPLICATION_ERROR, netlib_error_status(error));
    CHECK_STR("ValueError: no", netlib_error_message(error, NULL));
    CHECK(netlib_error_user_data(error) == NULL);
    netlib_error_free(error);
    CHECK(netlib_error_user_data(NULL) == NULL);
}

/* In each turn of the outer loop, a different holder of the user data is freed last. */
static void user_data_is_freed_once_when_its_last_holder_is_freed(void) {
    enum { OPTIONS, FIRST, SECOND, CLONE, WRAPPER, HISTORY, EXHAUSTED, NOT_RETRIED, HOLDERS };
    for (int last = 0; last < HOLDERS; last++) {
        netlib_error *err = NULL, *first = NULL, *second = NULL;
        struct exception exception = {.text = "ValueError: no"};
        netlib_error_options *options = netlib_error_options_new();
        netlib_error_options_set_user_data(options, &exception, free_exception);
        CHECK_OK(netlib_error_new(NETLIB_APPLICATION_ERROR, exception.text, options, &first, &err));
        CHECK_OK(netlib_error_new(NETLIB_APPLICATION_ERROR, exception.text, options, &second, &err));
        CHECK(netlib_error_user_data(first) == &exception);
        CHECK(netlib_error_user_data(second) == &exception);
        netlib_error *wrapper = error_around(NETLIB_PROXY_FAILED, "the proxy failed", second);
        CHECK(netlib_error_user_data(wrapper) == NULL);
        CHECK(netlib_error_user_data(netlib_error_cause(wrapper, 0)) == &exception);

        /* The history of a Retry and the cause of a NETLIB_MAX_RETRY error hold the user data too. */
        netlib_retry_options *policy = netlib_retry_options_new();
        netlib_retry_options_set_total(policy, 1);
        netlib_retry *retry = retry_of(policy), *next = NULL, *none = NULL;
        CHECK_OK(netlib_retry_increment(retry, "GET", "/", NULL, first, &next, &err));
        CHECK(netlib_error_user_data(netlib_retry_history_error(next, 0)) == &exception);
        netlib_error *exhausted = NULL, *not_retried = NULL;
        CHECK_INT(NETLIB_MAX_RETRY, netlib_retry_increment(next, "GET", "/", NULL, first, &none, &exhausted));
        CHECK(netlib_error_user_data(exhausted) == NULL);
        CHECK(netlib_error_user_data(netlib_error_cause(exhausted, 0)) == &exception);
        CHECK(netlib_error_user_data(netlib_retry_history_error(netlib_error_retry(exhausted), 1)) == &exception);

        /* An error that is not retried is returned as a copy. */
        policy = netlib_retry_options_new();
        netlib_retry_options_set_total(policy, NETLIB_RETRY_DISABLED);
        netlib_retry *disabled = retry_of(policy);
        CHECK_INT(NETLIB_APPLICATION_ERROR,
                  netlib_retry_increment(disabled, "GET", "/", NULL, first, &none, &not_retried));
        CHECK(netlib_error_user_data(not_retried) == &exception);
        netlib_retry_free(disabled);
        netlib_retry_free(retry);

        netlib_error *errors[HOLDERS] = {NULL,    first, second,    netlib_error_clone(first),
                                         wrapper, NULL,  exhausted, not_retried};
        for (int turn = 0; turn < 2; turn++) {
            if (turn == 1) CHECK_INT(0, exception.freed);
            for (int holder = 0; holder < HOLDERS; holder++) {
                if ((holder == last) != (turn == 1)) continue;
                if (holder == OPTIONS) netlib_error_options_free(options);
                if (holder == HISTORY) netlib_retry_free(next);
                netlib_error_free(errors[holder]);
            }
        }
        CHECK_INT(1, exception.freed);
    }
}

/* The history of a Retry keeps a copy of each error. A NETLIB_MAX_RETRY error contains a Retry. If such an error is the
 * cause of a copied error, the cause in the copy contains no Retry. */
static void the_retry_history_keeps_user_data_of_errors_caused_by_max_retry_errors(void) {
    netlib_error *err = NULL, *exhausted = NULL, *around = NULL;
    struct exception exception = {.text = "ValueError: no"};
    netlib_retry_options *policy = netlib_retry_options_new();
    netlib_retry_options_set_total(policy, 0);
    netlib_retry *once = retry_of(policy), *often = retry_of(netlib_retry_options_new()), *next = NULL;
    netlib_error *refused = error_of(NETLIB_CONNECT_FAILED, NULL);
    CHECK_INT(NETLIB_MAX_RETRY, netlib_retry_increment(once, "GET", "/", NULL, refused, &next, &exhausted));
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_user_data(options, &exception, free_exception);
    netlib_error_options_set_cause(options, exhausted);
    CHECK_OK(netlib_error_new(NETLIB_APPLICATION_ERROR, exception.text, options, &around, &err));
    netlib_error_options_free(options);
    CHECK_OK(netlib_retry_increment(often, "GET", "/", NULL, around, &next, &err));
    netlib_error_free(around);
    const netlib_error *kept = netlib_retry_history_error(next, 0);
    CHECK(netlib_error_retry(netlib_error_cause(kept, 0)) == NULL);
    CHECK(netlib_error_user_data(kept) == &exception);
    CHECK_INT(0, exception.freed);
    netlib_retry_free(next);
    CHECK_INT(1, exception.freed);
    netlib_error_free(exhausted);
    netlib_error_free(refused);
    netlib_retry_free(often);
    netlib_retry_free(once);
}

static void the_user_data_setter_frees_replaced_data_and_data_that_it_cannot_keep(void) {
    netlib_error *err = NULL, *error = NULL;
    struct exception a = {.text = "a"}, b = {.text = "b"}, c = {.text = "c"};
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_user_data(options, &a, free_exception);
    netlib_error_options_set_user_data(options, &b, free_exception);
    CHECK_INT(1, a.freed);
    CHECK_INT(0, b.freed);
    CHECK_OK(netlib_error_new(NETLIB_APPLICATION_ERROR, "x", options, &error, &err));
    CHECK(netlib_error_user_data(error) == &b);
    /* Without a destructor, netlib keeps the pointer, but frees nothing. */
    netlib_error_options_set_user_data(options, &c, NULL);
    netlib_error_free(error);
    CHECK_INT(1, b.freed);
    CHECK_OK(netlib_error_new(NETLIB_APPLICATION_ERROR, "x", options, &error, &err));
    CHECK(netlib_error_user_data(error) == &c);
    netlib_error_free(error);
    netlib_error_options_free(options);
    CHECK_INT(0, c.freed);
    netlib_error_options_set_user_data(NULL, &c, free_exception);
    CHECK_INT(1, c.freed);
}

static void a_user_data_destructor_may_free_another_error_that_has_user_data(void) {
    struct exception inner = {.text = "inner"}, outer = {.text = "outer"};
    outer.inner = error_with(NETLIB_APPLICATION_ERROR, &inner);
    netlib_error *error = error_with(NETLIB_APPLICATION_ERROR, &outer);
    netlib_error_free(error);
    CHECK_INT(1, outer.freed);
    CHECK_INT(1, inner.freed);
}

enum { THREADS = 4, ROUNDS = 200 };
static pthread_barrier_t barrier;

static void *use_and_free(void *error) {
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        netlib_error *clone = netlib_error_clone(error);
        struct exception *exception = netlib_error_user_data(clone);
        CHECK(exception != NULL && strcmp(exception->text, "shared") == 0);
        netlib_error_free(clone);
    }
    netlib_error_free(error);
    return NULL;
}

static void *free_error(void *error) {
    netlib_error_free(error);
    return NULL;
}

static void user_data_is_freed_once_on_the_thread_that_frees_the_last_error(void) {
    struct exception exception = {.text = "shared"};
    netlib_error *error = error_with(NETLIB_APPLICATION_ERROR, &exception);
    pthread_t threads[THREADS], last;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use_and_free, netlib_error_clone(error));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    CHECK_INT(0, exception.freed);
    pthread_create(&last, NULL, free_error, error);
    pthread_join(last, NULL);
    CHECK_INT(1, exception.freed);
    CHECK(pthread_equal(last, exception.freed_by));

    /* Any of the threads may free the last error. */
    struct exception raced = {.text = "shared"};
    error = error_with(NETLIB_APPLICATION_ERROR, &raced);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, use_and_free, i == 0 ? error : netlib_error_clone(error));
    }
    bool is_one_of_them = false;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) is_one_of_them |= pthread_equal(threads[i], raced.freed_by);
    pthread_barrier_destroy(&barrier);
    CHECK_INT(1, raced.freed);
    CHECK(is_one_of_them);
}

int main(void) {
    application_errors_have_a_class_of_their_own_and_retry_kind_other();
    user_data_is_freed_once_when_its_last_holder_is_freed();
    the_retry_history_keeps_user_data_of_errors_caused_by_max_retry_errors();
    the_user_data_setter_frees_replaced_data_and_data_that_it_cannot_keep();
    a_user_data_destructor_may_free_another_error_that_has_user_data();
    user_data_is_freed_once_on_the_thread_that_frees_the_last_error();
    return report("error user data");
}
