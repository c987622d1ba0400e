/* Helper functions of all fuzz targets: readers for the input, and checks. A failed check ends the program, and
 * libFuzzer stores the input. */
#ifndef NETLIB_FUZZ_H
#define NETLIB_FUZZ_H

#include <netlib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's two entry points. Every target defines LLVMFuzzerTestOneInput; a target that prepares contexts or options
 * also defines LLVMFuzzerInitialize. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Restarts the random number generator for keys and nonces, so that the same input gives the same session, byte for
 * byte. Has no effect in a program that is built with replay.c, which uses the system's random numbers. */
void fuzz_reset_random(void);

#define MUST(condition) \
    do { \
        if (!(condition)) must_failed(__FILE__, __LINE__, #condition); \
    } while (0)

static inline void must_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

/* Checks that a string is one printable line. */
static inline void check_line(const char *text) {
    MUST(text != NULL);
    for (; *text != 0; text++) MUST((unsigned char)*text >= 0x20 && *text != 0x7f);
}

/* Checks that an error object exists only after a failure, has the status of the call, and has a message of one
 * line. */
static inline void check_error(netlib_status status, const netlib_error *error, size_t len) {
    MUST((error != NULL) == (netlib_status_class(status) > NETLIB_CLASS_PROGRESS));
    if (error == NULL) return;
    MUST(netlib_error_status(error) == status);
    check_line(netlib_error_message(error, NULL));
    if (netlib_error_advice(error, NULL) != NULL) check_line(netlib_error_advice(error, NULL));
    MUST(netlib_error_offset(error) >= -1 && netlib_error_offset(error) <= (int64_t)len);
    for (size_t i = 0; i < netlib_error_cause_count(error); i++) {
        check_line(netlib_error_message(netlib_error_cause(error, i), NULL));
    }
}

/* Checks that the documentation of the function lists the status. NETLIB_INTERNAL, the status of a panic, is never
 * listed. `len` is the length of the input that the error's offset refers to. */
static inline netlib_status check_status(const char *file, int line, const char *call, netlib_status status,
                                         netlib_error **err, size_t len, const netlib_status *documented) {
    bool found = status == NETLIB_OK;
    for (; *documented != NETLIB_OK; documented++) found |= status == *documented;
    if (!found) {
        fprintf(stderr, "%s:%d: %s is %s: %s\n", file, line, call, netlib_status_name(status),
                *err != NULL ? netlib_error_message(*err, NULL) : "");
        abort();
    }
    check_error(status, *err, len);
    netlib_error_free(*err);
    *err = NULL;
    return status;
}

/* Makes a call that passes &err of a `netlib_error *err` in scope, and checks its status and error. The arguments after
 * `call` are the length of the input and the documented statuses other than NETLIB_OK. */
#define ONE_OF(call, len, ...) \
    check_status(__FILE__, __LINE__, #call, (call), &err, (len), (const netlib_status[]){__VA_ARGS__, NETLIB_OK})
#define OK(call) \
    MUST(check_status(__FILE__, __LINE__, #call, (call), &err, 0, (const netlib_status[]){NETLIB_OK}) == NETLIB_OK)

/* Checks a string that netlib returned: its length is the returned length, and it contains no control character that
 * ends a line. */
static inline void check_text(const char *text, size_t len) {
    if (text == NULL) return;
    MUST(strlen(text) == len);
    MUST(strpbrk(text, "\r\n") == NULL);
}

static inline bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Returns a copy whose allocation ends with a terminating NUL, so that AddressSanitizer detects a read beyond the
 * NUL. */
static inline char *c_string(const void *data, size_t size) {
    char *text = malloc(size + 1);
    MUST(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* Returns a copy whose allocation ends with the last byte of the data, without a NUL. */
static inline uint8_t *exact(const void *data, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    MUST(copy != NULL);
    if (size > 0) memcpy(copy, data, size);
    return copy;
}

/* The part of a fuzz input that is not used yet. */
struct input {
    const uint8_t *data;
    size_t len;
};

/* Takes the next byte; returns 0 at the end of the input. */
static inline uint8_t take_byte(struct input *input) {
    if (input->len == 0) return 0;
    input->len--;
    return *input->data++;
}

static inline uint32_t take_two(struct input *input) {
    uint32_t high = take_byte(input);
    return high << 8 | take_byte(input);
}

/* Takes the next `len` bytes of the input, or fewer at its end. */
static inline struct input take(struct input *input, size_t len) {
    struct input taken = {input->data, len < input->len ? len : input->len};
    input->data += taken.len;
    input->len -= taken.len;
    return taken;
}

/* Takes the bytes before the next byte `end`, and skips that byte. Takes the rest of the input if it contains no byte
 * `end`. */
static inline struct input take_until(struct input *input, char end) {
    const uint8_t *at = input->len > 0 ? memchr(input->data, end, input->len) : NULL;
    struct input taken = take(input, at != NULL ? (size_t)(at - input->data) : input->len);
    if (at != NULL) (void)take_byte(input);
    return taken;
}

/* 2026-01-01 00:00:00 UTC. On 2026-01-01 the certificates of tests/certs/verify are valid or expired as their file
 * names say. */
#define NOW 1767225600.0

static inline int32_t fixed_clock(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = NOW;
    return NETLIB_OK;
}

/* Reads a file; the path is relative to the project's root, where the targets run. */
static inline struct input read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    MUST(file != NULL);
    MUST(fseek(file, 0, SEEK_END) == 0);
    long len = ftell(file);
    MUST(len >= 0 && fseek(file, 0, SEEK_SET) == 0);
    uint8_t *data = malloc((size_t)len + 1);
    MUST(data != NULL && fread(data, 1, (size_t)len, file) == (size_t)len);
    fclose(file);
    struct input all = {data, (size_t)len};
    return all;
}

/* Returns options of a context that verifies no certificate and ignores the environment. */
static inline netlib_tls_options *options_without_trust(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    return options;
}

#endif
