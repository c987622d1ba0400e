/* The library is loaded, used and closed in one thread, which then ends: its thread-local destructors run after
 * dlclose. Run by the suite threads, with LIBRARY defined as the shared library's path; not linked with it. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dlfcn.h>
#include <netlib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

typedef netlib_status (*error_new_fn)(netlib_status, const char *, const netlib_error *, netlib_error **, netlib_error **);
typedef void (*error_free_fn)(netlib_error *);
typedef const char *(*error_message_fn)(const netlib_error *, size_t *);

static int checks_passed, checks_failed;

static void check(bool ok, const char *what) {
    if (ok) {
        checks_passed++;
        return;
    }
    checks_failed++;
    fprintf(stderr, "dlopen: failed: %s\n", what);
}

/* POSIX lets a pointer from dlsym be a function's; ISO C has no cast for it. */
static void symbol(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    memcpy(function, &address, sizeof address);
}

static void *use_in_thread(void *answer) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        return NULL;
    }
    error_new_fn error_new;
    error_free_fn error_free;
    error_message_fn error_message;
    symbol(library, "netlib_error_new", &error_new);
    symbol(library, "netlib_error_free", &error_free);
    symbol(library, "netlib_error_message", &error_message);
    netlib_error *error = NULL;
    netlib_error *err = NULL;
    bool right = error_new(NETLIB_IO, "in a thread", NULL, &error, NULL) == NETLIB_OK;
    right = right && strcmp(error_message(error, NULL), "in a thread") == 0;
    right = right && error_new(NETLIB_OK, "no failure", NULL, &(netlib_error *){NULL}, &err) == NETLIB_INVALID_ARGUMENT;
    error_free(error);
    error_free(err);
    *(bool *)answer = dlclose(library) == 0 && right;
    return NULL;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        bool right[THREADS] = {false};
        for (int i = 0; i < THREADS; i++) {
            if (pthread_create(&threads[i], NULL, use_in_thread, &right[i]) != 0) abort();
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            check(right[i], "a thread loads, uses and closes the library, and ends");
        }
    }
#ifdef RTLD_NOLOAD
    check(dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD) != NULL, "the library stays mapped after dlclose");
#endif
    printf("dlopen: %d passed, %d failed\n", checks_passed, checks_failed);
    return checks_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
