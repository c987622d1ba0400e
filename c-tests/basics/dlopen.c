/* Threads load the library with dlopen, use it, close it and end. Their thread-local destructors and an abandoned
 * lookup run after dlclose. The suite `threads` compiles this program without linking the library, and defines LIBRARY
 * as the path of the shared library. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netlib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 3 };

typedef netlib_status (*error_new_fn)(netlib_status, const char *, const netlib_error *, netlib_error **,
                                      netlib_error **);
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

/* POSIX allows converting a pointer from dlsym to a function pointer; ISO C has no cast for it. */
static void symbol(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    memcpy(function, &address, sizeof address);
}

/* Replaces the C library's getaddrinfo. The program is linked with -rdynamic, so that the shared library finds this
 * function. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool released;
static int lookups, lookups_ended;

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    (void)host, (void)service, (void)found;
    if (hints->ai_flags & AI_NUMERICHOST) return EAI_NONAME;
    pthread_mutex_lock(&lock);
    lookups++;
    pthread_cond_broadcast(&changed);
    while (!released) pthread_cond_wait(&changed, &lock);
    lookups_ended++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return EAI_AGAIN;
}

typedef netlib_status (*connect_new_fn)(const char *, int32_t, const netlib_connect_options *, netlib_connect **,
                                        netlib_error **);
typedef netlib_status (*connect_step_fn)(netlib_connect *, int *, netlib_error **);
typedef void (*connect_free_fn)(netlib_connect *);

/* Starts a lookup that hangs, and frees the connect while the lookup is in progress. */
static bool look_up(void *library) {
    connect_new_fn connect_new;
    connect_step_fn connect_step;
    connect_free_fn connect_free;
    netlib_connect *connect = NULL;
    int fd = -1;
    symbol(library, "netlib_connect_new", &connect_new);
    symbol(library, "netlib_connect_step", &connect_step);
    symbol(library, "netlib_connect_free", &connect_free);
    bool right = connect_new("name.test", 80, NULL, &connect, NULL) == NETLIB_OK;
    right = right && connect_step(connect, &fd, NULL) == NETLIB_WANT_WRITE;
    connect_free(connect);
    return right;
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
    right = look_up(library) && right;
    *(bool *)answer = dlclose(library) == 0 && right;
    return NULL;
}

static int threads_left(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return -1;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

int main(void) {
    alarm(60);
    for (int round = 0; round < ROUNDS; round++) {
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
    bool stays = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD) != NULL;
    check(stays, "the library stays mapped after dlclose");
    if (!stays) released = true;
#endif
    /* When the hanging lookups are released, they return into code of the library, which must still be mapped. */
    pthread_mutex_lock(&lock);
    while (!released && lookups < ROUNDS * THREADS) pthread_cond_wait(&changed, &lock);
    released = true;
    pthread_cond_broadcast(&changed);
    while (lookups_ended < lookups) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 10000 && threads_left() > 1; i++) nanosleep(&(struct timespec){0, 1000000}, NULL);
    check(threads_left() == 1, "abandoned lookups end after dlclose");
    printf("dlopen: %d passed, %d failed\n", checks_passed, checks_failed);
    return checks_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
