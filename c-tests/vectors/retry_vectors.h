/* Shared code of the programs that test Retry: parsing of settings and events, a clock that always returns the same
 * time, and the sum of all sleeps. */
#ifndef NETLIB_TEST_RETRY_VECTORS_H
#define NETLIB_TEST_RETRY_VECTORS_H

#include "vectors.h"

static double slept;

static inline int32_t wall_clock(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = 1700000000.25;
    return 0;
}

static inline int32_t random_number(void *ctx, double *number) {
    (void)ctx;
    *number = 0.375;
    return 0;
}

static inline void add_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    (void)ctx;
    slept += seconds;
    *outcome = NETLIB_OUTCOME_DONE;
}

static inline int32_t count_of(const char *word) {
    if (strcmp(word, "-") == 0) return NETLIB_NONE;
    if (strcmp(word, "F") == 0) return NETLIB_RETRY_DISABLED;
    return (int32_t)strtol(word, NULL, 10);
}

static inline void put_count(vectors_out *out, int32_t count) {
    if (count == NETLIB_NONE) {
        put(out, "-");
    } else if (count == NETLIB_RETRY_DISABLED) {
        put(out, "F");
    } else {
        put_int(out, count);
    }
}

static inline void put_counts(vectors_out *out, const netlib_retry *retry) {
    put_count(out, netlib_retry_total_left(retry));
    put_count(out, netlib_retry_connect_left(retry));
    put_count(out, netlib_retry_read_left(retry));
    put_count(out, netlib_retry_redirect_left(retry));
    put_count(out, netlib_retry_status_left(retry));
    put_count(out, netlib_retry_other_left(retry));
}

/* Splits a list at its commas, in place. */
static inline size_t list_of(char *text, const char **elements, size_t max) {
    size_t count = 0;
    while (*text != '\0' && count < max) {
        elements[count++] = text;
        text += strcspn(text, ",");
        if (*text == ',') *text++ = '\0';
    }
    return count;
}

/* Creates retry options from the 15 words that describe the settings in a test case. */
static inline netlib_retry_options *settings_of(char **words) {
    enum { LONGEST = 16 };
    const char *elements[LONGEST];
    int32_t codes[LONGEST];
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_total(options, count_of(next_word(words)));
    netlib_retry_options_set_connect(options, count_of(next_word(words)));
    netlib_retry_options_set_read(options, count_of(next_word(words)));
    netlib_retry_options_set_redirect(options, count_of(next_word(words)));
    netlib_retry_options_set_status(options, count_of(next_word(words)));
    netlib_retry_options_set_other(options, count_of(next_word(words)));
    char *methods = next_text(words, NULL);
    if (strcmp(methods, "*") == 0) {
        netlib_retry_options_allow_any_method(options);
    } else {
        size_t count = list_of(methods, elements, LONGEST);
        netlib_retry_options_set_allowed_methods(options, elements, count);
    }
    char *forcelist = next_text(words, NULL);
    if (forcelist != NULL) {
        size_t count = list_of(forcelist, elements, LONGEST);
        for (size_t i = 0; i < count; i++) codes[i] = (int32_t)strtol(elements[i], NULL, 10);
        netlib_retry_options_set_status_forcelist(options, codes, count);
    }
    netlib_retry_options_set_backoff_factor(options, strtod(next_word(words), NULL));
    netlib_retry_options_set_backoff_max(options, strtod(next_word(words), NULL));
    netlib_retry_options_set_backoff_jitter(options, strtod(next_word(words), NULL));
    netlib_retry_options_set_raise_on_redirect(options, count_of(next_word(words)));
    netlib_retry_options_set_raise_on_status(options, count_of(next_word(words)));
    netlib_retry_options_set_respect_retry_after_header(options, count_of(next_word(words)));
    netlib_retry_options_set_retry_after_max(options, strtod(next_word(words), NULL));
    netlib_retry_options_set_wall_clock(options, wall_clock, NULL, NULL);
    netlib_retry_options_set_random(options, random_number, NULL, NULL);
    netlib_retry_options_set_sleep(options, add_sleep, NULL, NULL);
    return options;
}

/* Returns NULL if the settings are refused. */
static inline netlib_retry *retry_of(netlib_retry_options *options) {
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    netlib_status status = netlib_retry_new(options, &retry, &err);
    CHECK(status == NETLIB_OK || status == NETLIB_INVALID_ARGUMENT);
    CHECK_STATUS(status, status);
    netlib_retry_options_free(options);
    return retry;
}

static inline netlib_status status_of(const char *name) {
    enum { MORE_THAN_THERE_ARE = 1000 };
    for (netlib_status status = 0; status < MORE_THAN_THERE_ARE; status++) {
        const char *known = netlib_status_name(status);
        if (strncmp(known, "NETLIB_", 7) == 0 && strcmp(known + 7, name) == 0) return status;
    }
    fprintf(stderr, "no status %s\n", name);
    abort();
}

/* Creates an error from its name. "PROXY_FAILED/PROTOCOL" is an error with a cause, which may have a cause as well. */
static inline netlib_error *error_of(const char *name) {
    char outer[64];
    netlib_error *cause = NULL;
    size_t len = strcspn(name, "/");
    if (name[len] == '/') cause = error_of(name + len + 1);
    snprintf(outer, sizeof outer, "%.*s", (int)len, name);
    netlib_error *error = error_around(status_of(outer), name, cause);
    netlib_error_free(cause);
    return error;
}

/* Writes the name of an error that error_of created. error_of has stored the name as the error message. */
static inline void put_error(vectors_out *out, const netlib_error *error) {
    put(out, error == NULL ? "-" : netlib_error_message(error, NULL));
}

static inline netlib_response *response_of(int32_t status, const char *location, const char *retry_after) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_response *response = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    if (location != NULL) netlib_headers_options_add_header(options, "Location", location);
    if (retry_after != NULL) netlib_headers_options_add_header(options, "Retry-After", retry_after);
    CHECK_OK(netlib_make_headers(options, &headers, &err));
    CHECK_OK(netlib_response_new("GET", status, headers, &response, &err));
    netlib_headers_free(headers);
    netlib_headers_options_free(options);
    return response;
}

/* Writes the number, or "invalid" for an invalid Retry-After. */
static inline void put_seconds(vectors_out *out, netlib_status status, netlib_error **err, double seconds) {
    CHECK(status == NETLIB_OK || status == NETLIB_INVALID_HEADER);
    check_status(status, status, err, __FILE__, __LINE__, "a status with its error");
    if (status == NETLIB_OK) {
        put_double(out, seconds);
    } else {
        put(out, "invalid");
    }
}

#endif
