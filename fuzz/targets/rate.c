/* Fuzzes rates: reads the input as a limit or an adaptive rate, and as calls with several keys, and with clocks that
 * step back or fail. A model in this file predicts each status and each wait. The model of a limit counts
 * nanoseconds. The model of an adaptive rate may differ from netlib by rounding errors: by a microsecond and a part of
 * 1e-9. */
#include "../overload.h"

/* The latest time of an input in seconds; the nanoseconds of later times may begin again at 0. */
#define LAST_TIME 4e9

/* The state of a key. */
struct key_state {
    int64_t full_at; /* of a limit: the nanosecond at which the key has all its permissions */
    /* An adaptive rate. */
    bool is_limited;
    double now, tokens, fill_rate, capacity, last_throttled, max_rate, measured_rate, half_second, reports;
};

struct fuzz {
    struct clock clock;
    double last_wait;
    netlib_rate *rate;
    /* The model. */
    bool is_adaptive;
    double per_second, burst;
    int64_t fill_time;
    struct model_time time;
    struct model_keys keys;
    struct key_state states[KEYS];
};

static int64_t now_of(const struct fuzz *f) { return llround(time_now(&f->time) * 1e9); }

/* A limit drops the key that is full first; it does not matter which one of several keys that are full. */
static double rank(const void *ctx, int32_t key) {
    const struct fuzz *f = ctx;
    if (f->is_adaptive) return f->states[key].is_limited;
    return f->states[key].full_at > now_of(f) ? (double)(f->states[key].full_at - now_of(f)) : 0;
}

static struct key_state *model_key(struct fuzz *f, int32_t key) {
    advance_time(&f->time, &f->clock);
    struct key_state *state = &f->states[key];
    double now = time_now(&f->time);
    if (use_key(&f->keys, key, rank, f)) {
        *state = (struct key_state){.full_at = INT64_MIN,
                                    .now = now,
                                    .fill_rate = 1,
                                    .capacity = 1,
                                    .last_throttled = now,
                                    .half_second = floor(now)};
    }
    return state;
}

/* ---- Limits. ---- */

/* Returns the wait in nanoseconds; 0 if the permissions were taken. */
static int64_t take_from_limit(const struct fuzz *f, struct key_state *state, double n) {
    int64_t now = now_of(f);
    double exact_cost = ceil(n / f->per_second * 1e9);
    int64_t cost = exact_cost < (double)f->fill_time ? (int64_t)exact_cost : f->fill_time;
    int64_t full_at = (state->full_at > now ? state->full_at : now) + cost;
    if (full_at > now + f->fill_time) return full_at - (now + f->fill_time);
    state->full_at = full_at;
    return 0;
}

static void check_limit(const struct fuzz *f, struct key_state *state, double n, netlib_status status, double wait) {
    int64_t expected = take_from_limit(f, state, n);
    SAME(expected == 0 ? NETLIB_OK : NETLIB_RATE_LIMITED, status);
    SAME((double)((expected + 999) / 1000) / 1e6, wait);
}

/* ---- Adaptive rates: CUBIC (RFC 9438) with the constants of botocore. ---- */

static void fill(struct key_state *state, double now) {
    state->tokens = fmin((now - state->now) * state->fill_rate + state->tokens, state->capacity);
    state->now = now;
}

static void check_adaptive(const struct fuzz *f, struct key_state *state, double n, netlib_status status, double wait) {
    fill(state, time_now(&f->time));
    double missing = state->is_limited ? fmin(n, state->capacity) - state->tokens : 0;
    bool is_close = fabs(missing) <= 1e-9 * (1 + state->capacity);
    if (!is_close) SAME(missing > 0 ? NETLIB_RATE_LIMITED : NETLIB_OK, status);
    if (status == NETLIB_OK) {
        SAME(0.0, wait);
        if (state->is_limited) state->tokens -= n;
        return;
    }
    SAME(NETLIB_RATE_LIMITED, status);
    double expected = fmax(missing / state->fill_rate, 1e-6);
    MUST(fabs(wait - expected) <= 1.001e-6 + 1e-9 * expected);
    MUST(wait >= 0.999999e-6 && (wait > 1e6 || fabs(wait * 1e6 - nearbyint(wait * 1e6)) < 1e-3));
}

static void report_adaptive(const struct fuzz *f, struct key_state *state, bool is_throttled) {
    fill(state, time_now(&f->time));
    /* The measured rate: the reports of each half second, smoothed. */
    double half_second = floor(state->now * 2) / 2;
    state->reports++;
    if (half_second > state->half_second) {
        double rate = state->reports / (half_second - state->half_second);
        state->measured_rate = rate * 0.8 + state->measured_rate * (1 - 0.8);
        state->half_second = half_second;
        state->reports = 0;
    }
    double rate;
    if (is_throttled) {
        state->max_rate = state->measured_rate;
        if (state->is_limited && state->fill_rate < state->max_rate) state->max_rate = state->fill_rate;
        state->is_limited = true;
        state->last_throttled = state->now;
        rate = state->max_rate * 0.7;
    } else {
        double k = cbrt(state->max_rate * (1 - 0.7) / 0.4);
        rate = 0.4 * pow(state->now - state->last_throttled - k, 3) + state->max_rate;
    }
    state->fill_rate = fmax(fmin(rate, 2 * state->measured_rate), 0.5);
    state->capacity = fmax(state->fill_rate, 1);
    state->tokens = fmin(state->tokens, state->capacity);
}

/* ---- The calls. ---- */

static void take_permissions(struct fuzz *f, int32_t number, double n) {
    netlib_error *err = NULL;
    double wait = 77;
    struct key key = key_of(number);
    netlib_status status = netlib_rate_take(f->rate, key.data, key.len, n, &wait, &err);
    check_error(status, err, 0);
    netlib_error_free(err);
    free(key.data);
    bool is_valid = n > 0 && (f->is_adaptive ? n <= 1e9 : n <= f->burst);
    if (!is_valid || number == LONG_KEY || !clock_works(&f->clock)) {
        SAME(is_valid && number != LONG_KEY ? NETLIB_CALLBACK_FAILED : NETLIB_INVALID_ARGUMENT, status);
        SAME(0.0, wait);
        return;
    }
    f->last_wait = wait;
    (f->is_adaptive ? check_adaptive : check_limit)(f, model_key(f, number), n, status, wait);
}

static void report(struct fuzz *f, int32_t number, int32_t outcome) {
    netlib_error *err = NULL;
    struct key key = key_of(number);
    netlib_status status = netlib_rate_report(f->rate, key.data, key.len, (enum netlib_report)outcome, &err);
    check_error(status, err, 0);
    netlib_error_free(err);
    free(key.data);
    netlib_status expected = NETLIB_OK;
    bool changes = f->is_adaptive && known_outcome(outcome) != NETLIB_REPORT_NONE;
    if (changes && !clock_works(&f->clock)) expected = NETLIB_CALLBACK_FAILED;
    if (number == LONG_KEY || outcome != known_outcome(outcome)) expected = NETLIB_INVALID_ARGUMENT;
    SAME(expected, status);
    if (changes && status == NETLIB_OK) report_adaptive(f, model_key(f, number), outcome == NETLIB_REPORT_THROTTLED);
}

/* ---- The input. ---- */

/* Makes the rate; returns whether the settings are valid. */
static bool make_rate(struct fuzz *f, struct input *input) {
    netlib_error *err = NULL;
    netlib_rate_options *options = netlib_rate_options_new();
    uint8_t flags = take_byte(input);
    bool is_valid = true;
    f->is_adaptive = flags % 4 == 0;
    if (flags & 2) {
        f->per_second = PICK(input, 1, 10, 0.1, 1000, 3, 1e6, 0.001, 3e8, 0, INFINITY, NAN, 1e-9);
        f->burst = PICK(input, 5, 1, 10, 0.5, 1e6, 1000, 2.5, 1e-9, 0, NAN, INFINITY, 0.3);
        double fill_time = f->burst / f->per_second * 1e9;
        is_valid = f->per_second > 0 && isfinite(f->per_second) && f->burst > 0 && isfinite(f->burst) &&
                   in_range(fill_time, 1, 1e18);
        if (is_valid) f->fill_time = (int64_t)fill_time;
        netlib_rate_options_set_limit(options, f->per_second, f->burst);
    }
    if (flags % 4 == 1 || flags % 8 == 7) {
        netlib_rate_options_set_adaptive(options);
        is_valid = f->is_adaptive = true;
    }
    f->keys.max_keys = 1024;
    if (flags & 16) {
        f->keys.max_keys = (int32_t)PICK(input, 1, 2, 3, 1048576, 0, 4);
        netlib_rate_options_set_max_keys(options, f->keys.max_keys);
        is_valid = is_valid && f->keys.max_keys > 0;
    }
    f->clock.reading = PICK(input, 1000, 0, -5, 1e9, -1e9);
    netlib_rate_options_set_clock(options, read_clock, &f->clock, NULL);
    netlib_rate_options *clone = netlib_rate_options_clone(options);
    netlib_rate_options_free(options);
    bool is_checked = ONE_OF(netlib_rate_options_check(clone, &err), 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK;
    bool is_made = ONE_OF(netlib_rate_new(clone, &f->rate, &err), 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK;
    netlib_rate_options_free(clone);
    MUST(is_checked == is_valid && is_made == is_valid);
    return is_valid;
}

static double take_n(const struct fuzz *f, struct input *input) {
    static const double numbers[] = {1, 1, 1, 2, 0.5, 5, 1e-9, 3, 0.1, 2.5, 1000, 1e300, 0, -1, NAN, INFINITY};
    uint8_t byte = take_byte(input);
    if (byte < 128) return numbers[byte % 16];
    return f->is_adaptive ? byte / 32.0 : f->burst * (byte - 127) / 128;
}

static void run(struct fuzz *f, struct input *input) {
    while (input->len > 0) {
        uint8_t event = take_byte(input);
        int32_t key = take_key(input);
        double n;
        switch (event % 8) {
        case 0:
        case 1: take_permissions(f, key, take_n(f, input)); break;
        case 2:
            n = take_n(f, input);
            for (int32_t times = 2 + event / 8; times > 0; times--) take_permissions(f, key, n);
            break;
        case 3:
            /* Takes permissions when the last wait has passed. */
            if (time_now(&f->time) + f->last_wait < LAST_TIME / 2) f->clock.reading += f->last_wait;
            take_permissions(f, key, take_n(f, input));
            break;
        case 4: report(f, key, take_outcome(input)); break;
        case 5:
            for (int32_t times = 2 + event / 8; times > 0; times--) report(f, key, key % 2);
            break;
        default: change_clock(&f->clock, input); break;
        }
        struct model_time next = f->time;
        advance_time(&next, &f->clock);
        if (time_now(&next) > LAST_TIME) break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fuzz fuzz;
    struct input input = {data, size};
    memset(&fuzz, 0, sizeof fuzz);
    if (make_rate(&fuzz, &input)) {
        run(&fuzz, &input);
    } else {
        MUST(fuzz.rate == NULL);
    }
    netlib_rate_free(fuzz.rate);
    return 0;
}
