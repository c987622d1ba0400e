/* Fuzzes circuit breakers: reads the input as settings, and as calls with several keys: late and repeated reports,
 * numbers that are no permit, clocks that step back or fail, and random numbers that the input sets. A model in this
 * file predicts each status, each wait and the state of each key. */
#include "../overload.h"

enum policy { RATIO, CONSECUTIVE, ADAPTIVE };

enum { MOST_EVENTS = 1200, MOST_ENDED = 64, BUCKETS = 10 };

struct settings {
    enum policy policy;
    double ratio, window, open_time, open_time_max, max_open_percent, multiplier, max_probability;
    int32_t minimum, probes, failures;
};

/* The outcomes or requests of the last seconds, each with the number of its tenth of the window. */
struct window {
    double start; /* of the current tenth */
    int64_t newest;
    struct {
        int64_t tenth;
        bool accepted;
    } events[MOST_EVENTS];
    int32_t count;
};

/* The state of a key. */
struct key_state {
    enum netlib_circuit_state state; /* with ADAPTIVE, always closed */
    int64_t round;                   /* the number of changes of `state` */
    double until;                    /* the end of the open time */
    struct window window;
    int32_t permitted, succeeded, failed; /* probes */
    double last_event;                    /* of the probes */
    int32_t failures, openings;           /* CONSECUTIVE */
};

struct fuzz {
    struct clock clock;
    double last_wait;
    double draw;
    int32_t draw_result;
    netlib_breaker *breaker;
    uint64_t permit_of_another_breaker;
    /* The model. */
    struct settings settings;
    double permit_time;
    struct model_time time;
    struct model_keys keys;
    struct model_grants permits;
    struct key_state states[KEYS];
};

/* ---- The model. ---- */

static double model_now(const struct fuzz *f) { return time_now(&f->time); }

/* Moves the window in steps of a tenth of its length. The steps begin again at `now` if the window became empty. */
static void move_window(struct fuzz *f, struct window *window) {
    double width = f->settings.window / BUCKETS, steps = floor((model_now(f) - window->start) / width);
    if (steps < 1) return;
    if (steps < BUCKETS) {
        window->newest += (int64_t)steps;
        window->start += steps * width;
    } else {
        window->newest += BUCKETS;
        window->start = model_now(f);
    }
}

static void clear_window(struct fuzz *f, struct window *window) {
    window->start = model_now(f);
    window->newest = 0;
    window->count = 0;
}

static int32_t in_window(const struct window *window, bool accepted) {
    int32_t count = 0;
    for (int32_t i = 0; i < window->count; i++)
        count += window->newest - window->events[i].tenth < BUCKETS && window->events[i].accepted == accepted;
    return count;
}

static void add_to_window(struct window *window, bool accepted) {
    window->events[window->count].tenth = window->newest;
    window->events[window->count++].accepted = accepted;
}

static double probability(struct fuzz *f, int32_t key) {
    struct window *window = &f->states[key].window;
    move_window(f, window);
    double requests = in_window(window, false), accepted = in_window(window, true);
    if (requests < f->settings.minimum) return 0;
    double result = (requests - f->settings.multiplier * accepted) / (requests + 1);
    return fmin(fmax(result, 0), f->settings.max_probability);
}

static bool is_open(const struct fuzz *f, int32_t key) {
    return f->states[key].state == NETLIB_CIRCUIT_OPEN && model_now(f) < f->states[key].until;
}

static enum netlib_circuit_state model_state(struct fuzz *f, int32_t key) {
    if (!has_key(&f->keys, key)) return NETLIB_CIRCUIT_CLOSED;
    switch (f->settings.policy) {
    case ADAPTIVE: return probability(f, key) > 0 ? NETLIB_CIRCUIT_HALF_OPEN : NETLIB_CIRCUIT_CLOSED;
    case CONSECUTIVE: return is_open(f, key) ? NETLIB_CIRCUIT_OPEN : NETLIB_CIRCUIT_CLOSED;
    default: break;
    }
    if (f->states[key].state == NETLIB_CIRCUIT_OPEN && !is_open(f, key)) return NETLIB_CIRCUIT_HALF_OPEN;
    return f->states[key].state;
}

/* Closed keys are dropped first. */
static double rank(const void *ctx, int32_t key) {
    return model_state((struct fuzz *)(uintptr_t)ctx, key) == NETLIB_CIRCUIT_CLOSED ? 0 : 1;
}

static void enter(struct key_state *state, enum netlib_circuit_state next) {
    state->state = next;
    state->round++;
}

static void open_ratio(struct fuzz *f, struct key_state *state) {
    state->until = model_now(f) + f->settings.open_time;
    enter(state, NETLIB_CIRCUIT_OPEN);
}

static void report_probe(struct fuzz *f, struct key_state *state, int32_t outcome) {
    const struct settings *settings = &f->settings;
    if (outcome == NETLIB_REPORT_NONE) {
        state->permitted--;
        return;
    }
    state->last_event = model_now(f);
    if (outcome == NETLIB_REPORT_SUCCESS) {
        state->succeeded++;
    } else {
        state->failed++;
    }
    if ((double)state->failed / settings->probes >= settings->ratio) {
        open_ratio(f, state);
    } else if (state->succeeded + state->failed == settings->probes) {
        clear_window(f, &state->window);
        enter(state, NETLIB_CIRCUIT_CLOSED);
    }
}

static void report_ratio(struct fuzz *f, struct key_state *state, int32_t outcome) {
    if (state->state == NETLIB_CIRCUIT_HALF_OPEN) {
        report_probe(f, state, outcome);
        return;
    }
    if (outcome == NETLIB_REPORT_NONE) return;
    move_window(f, &state->window);
    add_to_window(&state->window, outcome == NETLIB_REPORT_SUCCESS);
    int32_t failures = in_window(&state->window, false), all = failures + in_window(&state->window, true);
    if (outcome == NETLIB_REPORT_SUCCESS || all < f->settings.minimum) return;
    if ((double)failures / all >= f->settings.ratio) open_ratio(f, state);
}

static void open_consecutive(struct fuzz *f, struct key_state *state) {
    const struct settings *settings = &f->settings;
    int32_t open = 0;
    for (int32_t key = 0; key < KEYS; key++) open += has_key(&f->keys, key) && is_open(f, key);
    if (open > 0 && 100.0 * (open + 1) / keys_count(&f->keys) > settings->max_open_percent) return;
    double sweeps = floor((model_now(f) - state->until) / 10);
    state->openings = sweeps < state->openings ? state->openings - (int32_t)sweeps : 0;
    if ((state->openings - 1) * settings->open_time < settings->open_time_max) state->openings++;
    state->until = model_now(f) + fmin(state->openings * settings->open_time, settings->open_time_max);
    enter(state, NETLIB_CIRCUIT_OPEN);
}

static void report_consecutive(struct fuzz *f, struct key_state *state, int32_t outcome) {
    if (outcome == NETLIB_REPORT_NONE) return;
    state->failures = outcome == NETLIB_REPORT_SUCCESS ? 0 : state->failures + 1;
    if (state->failures < f->settings.failures) return;
    state->failures = 0;
    open_consecutive(f, state);
}

static void report_adaptive(struct fuzz *f, struct key_state *state, int64_t tenth, int32_t outcome) {
    struct window *window = &state->window;
    move_window(f, window);
    if (outcome == NETLIB_REPORT_SUCCESS) add_to_window(window, true);
    if (outcome != NETLIB_REPORT_NONE || window->newest - tenth >= BUCKETS) return;
    for (int32_t i = 0; i < window->count; i++) {
        if (window->events[i].tenth != tenth || window->events[i].accepted) continue;
        window->events[i] = window->events[--window->count];
        return;
    }
}

static void model_end(struct fuzz *f, int32_t at, int32_t outcome) {
    struct grant permit = remove_grant(&f->permits, at);
    struct key_state *state = &f->states[permit.key];
    if (!has_state(&f->keys, permit.key, permit.added)) return;
    if (f->settings.policy == ADAPTIVE) {
        report_adaptive(f, state, permit.mark, outcome);
    } else if (state->round == permit.mark && f->settings.policy == RATIO) {
        report_ratio(f, state, outcome);
    } else if (state->round == permit.mark) {
        report_consecutive(f, state, outcome);
    }
}

/* Reads the clock, and ends at most 64 permits that are too old, the oldest first. */
static void model_advance(struct fuzz *f) {
    advance_time(&f->time, &f->clock);
    for (int32_t n = 0; n < MOST_ENDED && f->permits.count > 0; n++) {
        if (f->permits.list[0].given >= model_now(f) - f->permit_time) break;
        model_end(f, 0, NETLIB_REPORT_NONE);
    }
}

/* Returns the wait; 0 if the request is permitted. Stores the mark of the permit. */
static double ask_ratio(struct fuzz *f, struct key_state *state, int64_t *mark) {
    double now = model_now(f);
    if (state->state == NETLIB_CIRCUIT_OPEN) {
        if (now < state->until) return state->until - now;
        enter(state, NETLIB_CIRCUIT_HALF_OPEN);
        state->permitted = state->succeeded = state->failed = 0;
        state->last_event = now;
    }
    if (state->state == NETLIB_CIRCUIT_HALF_OPEN) {
        double further = state->last_event + f->settings.open_time;
        if (state->permitted >= f->settings.probes && now < further) return further - now;
        state->permitted++;
        state->last_event = now;
    }
    *mark = state->round;
    return 0;
}

static double ask_consecutive(struct fuzz *f, struct key_state *state, int64_t *mark) {
    if (state->state == NETLIB_CIRCUIT_OPEN) {
        if (model_now(f) < state->until) return state->until - model_now(f);
        enter(state, NETLIB_CIRCUIT_CLOSED);
    }
    *mark = state->round;
    return 0;
}

static double ask_adaptive(struct fuzz *f, int32_t key, int64_t *mark) {
    struct window *window = &f->states[key].window;
    double limit = probability(f, key);
    add_to_window(window, false);
    *mark = window->newest;
    return f->draw < limit ? f->settings.window / BUCKETS - (model_now(f) - window->start) : 0;
}

static void add_state(struct fuzz *f, int32_t key) {
    struct key_state *state = &f->states[key];
    state->state = NETLIB_CIRCUIT_CLOSED;
    state->round = state->failures = state->openings = 0;
    state->until = model_now(f);
    clear_window(f, &state->window);
}

static netlib_status model_ask(struct fuzz *f, int32_t key, double *wait, int64_t *mark) {
    *wait = 0;
    if (key == LONG_KEY) return NETLIB_INVALID_ARGUMENT;
    if (!clock_works(&f->clock)) return NETLIB_CALLBACK_FAILED;
    bool is_adaptive = f->settings.policy == ADAPTIVE;
    bool draws = f->draw_result == 0 && f->draw >= 0 && f->draw < 1;
    if (is_adaptive && !draws) return NETLIB_CALLBACK_FAILED;
    model_advance(f);
    if (use_key(&f->keys, key, rank, f)) add_state(f, key);
    struct key_state *state = &f->states[key];
    switch (f->settings.policy) {
    case RATIO: *wait = ask_ratio(f, state, mark); break;
    case CONSECUTIVE: *wait = ask_consecutive(f, state, mark); break;
    default: *wait = ask_adaptive(f, key, mark); break;
    }
    if (*wait == 0) return NETLIB_OK;
    *wait = fmax(*wait, 1e-6);
    return NETLIB_BREAKER_OPEN;
}

/* ---- The calls. ---- */

static void check_state(struct fuzz *f, int32_t number) {
    netlib_error *err = NULL;
    struct key key = key_of(number);
    enum netlib_circuit_state state = NETLIB_CIRCUIT_OPEN;
    netlib_status status = netlib_breaker_state(f->breaker, key.data, key.len, &state, &err);
    check_error(status, err, 0);
    netlib_error_free(err);
    free(key.data);
    netlib_status expected = number == LONG_KEY        ? NETLIB_INVALID_ARGUMENT
                             : !clock_works(&f->clock) ? NETLIB_CALLBACK_FAILED
                                                       : NETLIB_OK;
    SAME(expected, status);
    if (status == NETLIB_OK) model_advance(f);
    SAME(status == NETLIB_OK ? model_state(f, number) : NETLIB_CIRCUIT_CLOSED, state);
}

static void ask(struct fuzz *f, int32_t number, bool takes_error) {
    netlib_error *err = NULL;
    uint64_t permit = 77;
    int64_t mark = 0;
    double seconds = 77, wait;
    struct key key = key_of(number);
    netlib_status status =
        netlib_breaker_ask(f->breaker, key.data, key.len, &permit, &seconds, takes_error ? &err : NULL);
    free(key.data);
    SAME(model_ask(f, number, &wait, &mark), status);
    SAME(wait, seconds);
    f->last_wait = wait;
    MUST((permit != 0) == (status == NETLIB_OK));
    if (takes_error) {
        check_error(status, err, 0);
        SAME(status == NETLIB_BREAKER_OPEN ? wait : -1.0, netlib_error_breaker_seconds(err));
        netlib_error_free(err);
    }
    if (status == NETLIB_OK) {
        add_grant(
            &f->permits,
            (struct grant){
                .number = permit, .added = f->keys.added[number], .key = number, .given = model_now(f), .mark = mark});
    }
}

static void report(struct fuzz *f, struct input *input) {
    uint64_t number = take_grant_number(&f->permits, f->permit_of_another_breaker, input);
    int32_t outcome = take_outcome(input), key = 0;
    netlib_breaker_report(f->breaker, number, (enum netlib_report)outcome);
    model_advance(f);
    int32_t at = find_grant(&f->permits, number);
    if (at >= 0) key = f->permits.list[at].key;
    if (at >= 0 && f->permits.list[at].given >= model_now(f) - f->permit_time) model_end(f, at, known_outcome(outcome));
    check_state(f, key);
}

static int32_t draw(void *ctx, double *value) {
    const struct fuzz *f = ctx;
    *value = f->draw;
    return f->draw_result;
}

static void change_draw(struct fuzz *f, struct input *input) {
    static const double special[] = {1.0, NAN, -0.25, INFINITY, -0.0, 0.99999999999999989, 1e-300, -INFINITY};
    uint8_t byte = take_byte(input);
    f->draw_result = byte == 255;
    f->draw = byte < 200 ? byte / 200.0 : special[byte % 8];
}

/* ---- The input. ---- */

/* Sets a policy in the options and in the model. Returns whether the options must accept it. */
static bool set_policy(struct settings *settings, netlib_breaker_options *options, struct input *input) {
    uint8_t which = take_byte(input);
    *settings = (struct settings){.policy = which % 3};
    bool is_ratio = settings->policy == RATIO;
    if (settings->policy == CONSECUTIVE) {
        int32_t failures = (int32_t)PICK(input, 1, 2, 3, 5, 0);
        double open_time = PICK(input, 30, 1, 0.5, 0.001, 10, 1e9, 0.0005, NAN);
        double open_time_max = PICK(input, 300, 30, 1, 1e9, 2.5, 45, 2e9);
        double percent = PICK(input, 10, 0, 34, 50, 67, 100, -1, NAN);
        netlib_breaker_options_set_consecutive(options, failures, open_time, open_time_max, percent);
        settings->failures = failures;
        settings->open_time = open_time;
        settings->open_time_max = open_time_max;
        settings->max_open_percent = percent;
        return failures > 0 && in_range(open_time, 0.001, 1e9) && in_range(open_time_max, open_time, 1e9) &&
               in_range(percent, 0, 100);
    }
    double ratio = is_ratio ? PICK(input, 0.5, 0.1, 1, 0.001, 0.3, 0, 1.1, NAN)
                            : PICK(input, 2, 1, 1.1, 1 / 0.95, 1e9, 0.9, INFINITY, 1.5);
    int32_t minimum = (int32_t)PICK(input, 1, 2, 3, 5, 10, 0);
    double window = PICK(input, 10, 30, 1, 2.5, 1e9, 0.001, 120, 0.0009);
    settings->minimum = minimum;
    settings->window = window;
    bool is_valid = minimum > 0 && in_range(window, 0.001, 1e9);
    if (is_ratio) {
        double open_time = PICK(input, 5, 0.5, 60, 0.001, 1e9, 1, 1e10);
        int32_t probes = (int32_t)PICK(input, 1, 2, 3, 10, 0);
        netlib_breaker_options_set_ratio(options, ratio, minimum, window, open_time, probes);
        settings->ratio = ratio;
        settings->open_time = open_time;
        settings->probes = probes;
        return is_valid && ratio > 0 && ratio <= 1 && in_range(open_time, 0.001, 1e9) && probes > 0;
    }
    double most = PICK(input, 1, 0.8, 0.5, 0, 1.1, 0.01);
    netlib_breaker_options_set_adaptive(options, ratio, minimum, window, most);
    settings->multiplier = ratio;
    settings->max_probability = most;
    return is_valid && ratio >= 1 && isfinite(ratio) && most > 0 && most <= 1;
}

/* Makes the breaker; returns whether the settings are valid. */
static bool make_breaker(struct fuzz *f, struct input *input) {
    netlib_error *err = NULL;
    netlib_breaker_options *options = netlib_breaker_options_new();
    uint8_t flags = take_byte(input);
    bool is_valid = true;
    f->settings = (struct settings){.ratio = 0.1, .minimum = 100, .window = 30, .open_time = 5, .probes = 1};
    /* The last call of a setter counts. */
    for (int32_t i = flags % 4 == 0 ? 0 : flags % 4 == 3 ? 2 : 1; i > 0; i--)
        is_valid = set_policy(&f->settings, options, input);
    f->permit_time = 300;
    if (flags & 4) {
        f->permit_time = PICK(input, 1, 0.5, 60, 1e9, 0.001, 0.0005, INFINITY);
        netlib_breaker_options_set_permit_time(options, f->permit_time);
        is_valid = is_valid && in_range(f->permit_time, 0.001, 1e9);
    }
    f->keys.max_keys = 1024;
    if (flags & 8) {
        f->keys.max_keys = (int32_t)PICK(input, 1, 2, 3, 1048576, 0, 4);
        netlib_breaker_options_set_max_keys(options, f->keys.max_keys);
        is_valid = is_valid && f->keys.max_keys > 0;
    }
    f->clock.reading = PICK(input, 1000, 0, -5, 8999999999.0);
    netlib_breaker_options_set_clock(options, read_clock, &f->clock, NULL);
    netlib_breaker_options_set_random(options, draw, f, NULL);
    netlib_breaker_options *clone = netlib_breaker_options_clone(options);
    netlib_breaker_options_free(options);
    bool is_checked = ONE_OF(netlib_breaker_options_check(clone, &err), 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK;
    bool is_made = ONE_OF(netlib_breaker_new(clone, &f->breaker, &err), 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK;
    netlib_breaker_options_free(clone);
    MUST(is_checked == is_valid && is_made == is_valid);
    return is_valid;
}

static bool has_room(const struct fuzz *f, int32_t calls) {
    if (f->permits.count + calls > MOST_GRANTS) return false;
    for (int32_t key = 0; key < KEYS; key++)
        if (f->states[key].window.count + calls > MOST_EVENTS) return false;
    return true;
}

static void run(struct fuzz *f, struct input *input) {
    while (input->len > 0 && has_room(f, 100)) {
        uint8_t event = take_byte(input);
        int32_t key;
        switch (event % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
            key = take_key(input);
            ask(f, key, event & 16);
            check_state(f, key);
            break;
        case 5:
        case 6:
        case 7:
        case 8:
        case 9: report(f, input); break;
        case 10:
        case 11:
        case 12: change_clock(&f->clock, input); break;
        case 13:
            /* Half of the calls come when the last wait has passed. */
            if (event & 16) f->clock.reading += f->last_wait;
            check_state(f, take_key(input));
            break;
        case 14:
            key = take_key(input);
            for (int32_t n = take_byte(input) % 90; n > 0; n--) ask(f, key, event & 16);
            break;
        default: change_draw(f, input); break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fuzz fuzz;
    struct fuzz *f = &fuzz;
    struct input input = {data, size};
    netlib_error *err = NULL;
    memset(f, 0, sizeof *f);
    if (make_breaker(f, &input)) {
        double seconds;
        netlib_breaker *other = NULL;
        OK(netlib_breaker_new(NULL, &other, &err));
        OK(netlib_breaker_ask(other, NULL, 0, &f->permit_of_another_breaker, &seconds, &err));
        run(f, &input);
        for (int32_t key = 0; key < KEYS; key++) check_state(f, key);
        netlib_breaker_free(other);
    } else {
        MUST(f->breaker == NULL);
    }
    netlib_breaker_free(f->breaker);
    return 0;
}
