/* Shared code of the fuzz targets for budgets, breakers, rates and stores: a clock that the input sets, the keys, and
 * models of the time, of the table of keys, and of the permissions without an outcome. The models follow the comments
 * of netlib.h. */
#ifndef NETLIB_FUZZ_OVERLOAD_H
#define NETLIB_FUZZ_OVERLOAD_H

#include "fuzz.h"

#include <math.h>

/* A clock callback's answer to the next calls. */
struct clock {
    double reading;
    int32_t result; /* other than 0: the clock fails */
};

static inline int32_t read_clock(void *ctx, double *seconds) {
    const struct clock *clock = ctx;
    *seconds = clock->reading;
    return clock->result;
}

/* Returns whether a call that reads the clock succeeds. */
static inline bool clock_works(const struct clock *clock) { return clock->result == 0 && fabs(clock->reading) <= 9e9; }

/* Sets a clock: forwards, back, to an extreme time, or to an answer that is no time. All times are multiples of 1/1024
 * second below 2^43, so that sums and differences of times are exact. */
static inline void change_clock(struct clock *clock, struct input *input) {
    static const double jumps[] = {0.0, 1e9, 9e9, -9e9, 9.1e9, -9.1e9, NAN, INFINITY, -INFINITY, 1e300};
    uint8_t how = take_byte(input);
    uint8_t by = take_byte(input);
    double from = isfinite(clock->reading) && fabs(clock->reading) <= 9.2e9 ? clock->reading : 1000.0;
    clock->result = 0;
    switch (how % 10) {
    case 0: clock->reading = from + by / 1024.0; break;
    case 1: clock->reading = from + by / 16.0; break;
    case 2: clock->reading = from + by / 2.0; break;
    case 3: clock->reading = from + by * 64.0; break;
    case 4: clock->reading = from - by / 256.0; break;
    case 5: clock->reading = from - 1.0; break;
    case 6: clock->reading = from - 1.0 - (1 + by) / 1024.0; break;
    case 7: clock->reading = from - by * 64.0; break;
    case 8: clock->reading = jumps[by % (sizeof jumps / sizeof jumps[0])]; break;
    default: clock->result = by % 2 == 0 ? -1 : 7; break;
    }
}

/* The time of an object. A reading that is at most 1 second below the latest one does not change the time; after a
 * larger step back, the time continues from the latest reading. The time is 0 before the first reading, and never
 * negative. */
struct model_time {
    bool is_set;
    double latest, stepped_back;
};

static inline double time_now(const struct model_time *time) { return time->latest + time->stepped_back; }

/* Reads the clock for a call; a clock that fails does not change the time. */
static inline void advance_time(struct model_time *time, const struct clock *clock) {
    if (!clock_works(clock)) return;
    if (!time->is_set) {
        time->latest = clock->reading;
        time->stepped_back = clock->reading < 0 ? -clock->reading : 0;
        time->is_set = true;
    }
    if (clock->reading < time->latest - 1.0) {
        time->stepped_back += time->latest - clock->reading;
        time->latest = clock->reading;
    } else if (clock->reading > time->latest) {
        time->latest = clock->reading;
    }
}

/* The keys of a target: the last one is too long. The key 0 is NULL. */
enum { KEYS = 7, LONG_KEY = KEYS };

struct key {
    char *data;
    size_t len;
};

/* Returns a copy of a key, which the caller frees. Its memory ends with its last byte. */
static inline struct key key_of(int32_t number) {
    static const struct {
        const char *text;
        size_t len;
    } keys[KEYS] = {{NULL, 0}, {"a", 1}, {"b", 1}, {"a\0b", 3}, {"https://h:443", 13}, {"\xff\n", 2}, {NULL, 1024}};
    struct key key = {NULL, number == LONG_KEY ? 1025 : keys[number].len};
    if (number == 0) return key;
    key.data = malloc(key.len);
    MUST(key.data != NULL);
    memset(key.data, 'k', key.len);
    if (number != LONG_KEY && keys[number].text != NULL) memcpy(key.data, keys[number].text, key.len);
    return key;
}

/* Takes the number of a key from the input; one of 32 is too long. */
static inline int32_t take_key(struct input *input) {
    uint8_t byte = take_byte(input);
    return byte % 32 == 31 ? LONG_KEY : byte % KEYS;
}

/* The model of the table of keys. If a new key is one too many, one of the 16 least recently used keys is dropped: the
 * one with the lowest rank, and of several, the least recently used one. The targets use fewer than 16 keys. */
struct model_keys {
    int32_t max_keys;
    uint64_t uses;           /* all uses of keys so far */
    uint64_t last_use[KEYS]; /* 0: the table does not have the key */
    uint64_t added[KEYS];    /* the use with which the key was added; identifies the state of a key */
};

static inline bool has_key(const struct model_keys *keys, int32_t key) { return keys->last_use[key] > 0; }

/* Returns whether a state is still that of its key. `added`: the use with which its key was added. */
static inline bool has_state(const struct model_keys *keys, int32_t key, uint64_t added) {
    return has_key(keys, key) && keys->added[key] == added;
}

static inline int32_t keys_count(const struct model_keys *keys) {
    int32_t count = 0;
    for (int32_t key = 0; key < KEYS; key++) count += has_key(keys, key);
    return count;
}

static inline void drop_key(struct model_keys *keys, double (*rank)(const void *ctx, int32_t key), const void *ctx) {
    int32_t dropped = -1;
    for (int32_t key = 0; key < KEYS; key++) {
        if (!has_key(keys, key)) continue;
        double difference = dropped < 0 ? -1 : rank(ctx, key) - rank(ctx, dropped);
        bool is_older = dropped < 0 || keys->last_use[key] < keys->last_use[dropped];
        if (difference < 0 || (difference == 0 && is_older)) dropped = key;
    }
    keys->last_use[dropped] = 0;
}

/* Uses a key, and returns whether it was added. */
static inline bool use_key(struct model_keys *keys, int32_t key, double (*rank)(const void *ctx, int32_t key),
                           const void *ctx) {
    bool is_new = !has_key(keys, key);
    if (is_new && keys_count(keys) == keys->max_keys) drop_key(keys, rank, ctx);
    keys->last_use[key] = ++keys->uses;
    if (is_new) keys->added[key] = keys->uses;
    return is_new;
}

/* A permission whose outcome was not reported yet: a lease of a budget or a permit of a breaker. */
struct grant {
    uint64_t number, added; /* `added`: that of the key's state */
    int32_t key, kind;
    double given;
    int64_t mark; /* belongs to the model that made the grant */
};

/* The grants in the order in which they were given, and the numbers of some that have ended. */
enum { MOST_GRANTS = 400, ENDED = 8 };

struct model_grants {
    struct grant list[MOST_GRANTS];
    int32_t count;
    uint64_t ended[ENDED];
    uint32_t ended_count;
};

/* Returns the place of the grant with this number; -1 if there is none. A grant whose number is not known has the
 * number 0. */
static inline int32_t find_grant(const struct model_grants *grants, uint64_t number) {
    for (int32_t i = 0; i < grants->count; i++)
        if (number != 0 && grants->list[i].number == number) return i;
    return -1;
}

static inline void add_grant(struct model_grants *grants, struct grant grant) {
    MUST(find_grant(grants, grant.number) < 0);
    for (uint32_t i = 0; i < ENDED; i++) MUST(grant.number == 0 || grant.number != grants->ended[i]);
    MUST(grants->count < MOST_GRANTS);
    grants->list[grants->count++] = grant;
}

static inline struct grant remove_grant(struct model_grants *grants, int32_t at) {
    struct grant grant = grants->list[at];
    grants->count--;
    memmove(&grants->list[at], &grants->list[at + 1], (size_t)(grants->count - at) * sizeof grant);
    grants->ended[grants->ended_count++ % ENDED] = grant.number;
    return grant;
}

/* Takes the number of a grant: one without an outcome, one that has ended, or one that was never given. */
static inline uint64_t take_grant_number(struct model_grants *grants, uint64_t of_another_object, struct input *input) {
    uint8_t byte = take_byte(input);
    uint64_t live = grants->count > 0 ? grants->list[byte % grants->count].number : 0;
    uint64_t invented[] = {0, UINT64_MAX, 1, live + (1 << 20), live ^ (uint64_t)1 << 32, live << 32, of_another_object};
    if (byte < 192 && live != 0) return live;
    if (byte < 224) return grants->ended[byte % ENDED];
    return invented[byte % (sizeof invented / sizeof invented[0])];
}

/* Takes an outcome, sometimes a number that is none. */
static inline int32_t take_outcome(struct input *input) {
    static const int32_t invalid[] = {4, -1, INT32_MAX, INT32_MIN};
    uint8_t byte = take_byte(input);
    return byte < 240 ? byte % 4 : invalid[byte % 4];
}

/* An outcome that is no `netlib_report` counts as NETLIB_REPORT_NONE. */
static inline int32_t known_outcome(int32_t outcome) {
    return outcome >= NETLIB_REPORT_SUCCESS && outcome <= NETLIB_REPORT_NONE ? outcome : NETLIB_REPORT_NONE;
}

static inline bool in_range(double value, double min, double max) { return value >= min && value <= max; }

/* Checks that netlib's result is the model's. */
#define SAME(model, result) \
    do { \
        double model_ = (double)(model), result_ = (double)(result); \
        if (!(model_ == result_)) { \
            fprintf(stderr, "%s is %.17g; the model has %.17g\n", #result, result_, model_); \
            must_failed(__FILE__, __LINE__, #model " == " #result); \
        } \
    } while (0)

/* Returns one of the numbers of a constant array. */
#define PICK(input, ...) \
    ((const double[]){__VA_ARGS__}[take_byte(input) % (sizeof((const double[]){__VA_ARGS__}) / sizeof(double))])

#endif
