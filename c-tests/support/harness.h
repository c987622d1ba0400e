/* A small test harness: CHECK macros that count passed and failed checks, and a report of the counts. */
#ifndef NETLIB_TEST_HARNESS_H
#define NETLIB_TEST_HARNESS_H

#include <math.h>
#include <netlib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The counters are atomic, because several threads may call the CHECK macros. */
static atomic_ulong checks_passed, checks_failed;

static inline void check_report(bool ok, const char *file, int line, const char *what) {
    if (ok) {
        checks_passed++;
    } else {
        checks_failed++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
}

static inline void check_int(long long expected, long long actual, const char *file, int line, const char *what) {
    check_report(expected == actual, file, line, what);
    if (expected != actual) fprintf(stderr, "    expected %lld, got %lld\n", expected, actual);
}

static inline void check_double(double expected, double actual, const char *file, int line, const char *what) {
    /* Compares without a tolerance, because the expected values are exact. Infinities of the same sign are equal, and
     * two NaNs are equal. */
    bool same = !(expected < actual) && !(expected > actual) && !isnan(expected) == !isnan(actual);
    check_report(same, file, line, what);
    if (!same) fprintf(stderr, "    expected %.17g, got %.17g\n", expected, actual);
}

/* Checks that two texts are equal. NULL is equal only to NULL. */
static inline void check_str(const char *expected, const char *actual, const char *file, int line, const char *what) {
    bool same = expected == actual || (expected != NULL && actual != NULL && strcmp(expected, actual) == 0);
    check_report(same, file, line, what);
    if (!same)
        fprintf(stderr, "    expected \"%s\", got \"%s\"\n", expected ? expected : "(NULL)",
                actual ? actual : "(NULL)");
}

/* Checks that `text` contains `part`. A NULL text contains nothing. */
static inline void check_contains(const char *part, const char *text, const char *file, int line, const char *what) {
    bool contains = text != NULL && strstr(text, part) != NULL;
    check_report(contains, file, line, what);
    if (!contains) fprintf(stderr, "    expected \"%s\" in \"%s\"\n", part, text ? text : "(NULL)");
}

/* Checks the status, and that `*err` is set if and only if the call failed. Frees the error. */
static inline void check_status(netlib_status expected, netlib_status actual, netlib_error **err, const char *file,
                                int line, const char *what) {
    check_report(expected == actual, file, line, what);
    if (expected != actual) {
        const char *message = err != NULL ? netlib_error_message(*err, NULL) : NULL;
        fprintf(stderr, "    expected %s, got %s: %s\n", netlib_status_name(expected), netlib_status_name(actual),
                message != NULL ? message : "");
    }
    if (err != NULL) {
        bool wanted = netlib_status_class(actual) > NETLIB_CLASS_PROGRESS;
        check_report((*err != NULL) == wanted, file, line, "an error object comes with failures only");
        if (*err != NULL)
            check_report(netlib_error_status(*err) == actual, file, line, "the error's status is the function's");
        netlib_error_free(*err);
        *err = NULL;
    }
}

/* Returns true under valgrind, where some tests do less, because valgrind is slow and needs memory itself. */
static inline bool under_valgrind(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

#define CHECK(condition) check_report((condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(expected, actual) check_int((expected), (actual), __FILE__, __LINE__, #actual)
#define CHECK_DOUBLE(expected, actual) check_double((expected), (actual), __FILE__, __LINE__, #actual)
#define CHECK_CONTAINS(part, text) check_contains((part), (text), __FILE__, __LINE__, #text)
#define CHECK_STR(expected, actual) check_str((expected), (actual), __FILE__, __LINE__, #actual)
/* `call` must store its error in a local variable `netlib_error *err`. */
#define CHECK_STATUS(expected, call) check_status((expected), (call), &err, __FILE__, __LINE__, #call)
#define CHECK_OK(call) CHECK_STATUS(NETLIB_OK, call)

/* Checks that `status` is one of the statuses in a list that ends with -1. */
NETLIB_MUST_USE static inline netlib_status check_described(netlib_status status, const char *function,
                                                            const netlib_status *list) {
    while (*list != status && *list != -1) list++;
    if (*list != status) {
        checks_failed++;
        fprintf(stderr, "%s returned %s, which its comment does not list\n", function, netlib_status_name(status));
    }
    return status;
}

/* A generated file with a macro for each function, which checks the returned status with check_described. */
#ifdef CHECKING_MACROS
#include CHECKING_MACROS
#endif

/* Prints the counts of passed and failed checks, and returns the exit status of main. */
static inline int report(const char *suite) {
    printf("%s: %lu passed, %lu failed\n", suite, checks_passed, checks_failed);
    return checks_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Creates an error with a cause. */
static inline netlib_error *error_around(netlib_status status, const char *message, const netlib_error *cause) {
    netlib_error *err = NULL, *error = NULL;
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_cause(options, cause);
    CHECK_OK(netlib_error_new(status, message, options, &error, &err));
    netlib_error_options_free(options);
    return error;
}

#endif
