/* Fuzzes stores: two budgets, like those of two processes, and a rate use one store. The input sets the answers of the
 * swap callback: words that other processes changed, wrong answers, and odd times. For some inputs, the store is a file
 * with one slot, into which the input also writes arbitrary words; the rate is then left out, because the clock of the
 * file is the system's. A model in this file predicts each call of the callback, each status and each wait, and the
 * tokens of each budget. */
#include "../overload.h"

#include <unistd.h>

enum { PROCESSES = 2, MOST_CALLS = 64, MOST_PLANNED = 80 };

/* The latest time of the clocks in seconds; the nanoseconds of later times may begin again at 0. */
#define LAST_TIME 4e9

/* What the callback does in one call. */
enum behaviour {
    ANSWER,      /* compares and replaces the word */
    CHANGE_WORD, /* does so after another process has changed the word */
    UNAVAILABLE,
    FAIL,
    STORE_NO_RESULT,
    KEEP_ACTUAL, /* reports a change, but not the word */
    KEEP_NOW,
    REPORT_NO_TIME,
};

struct call {
    bool is_rate;
    int32_t key;
    uint64_t expected, desired, actual;
    int32_t result;
    double ttl, timeout, now;
};

/* The rule of both budgets, in thousandths of tokens. */
struct rule {
    bool has_costs;
    int64_t capacity, transient, throttling, gain, floor;
};

/* The tokens of a key as a process sees them, and the changes that it has not reported to the store yet. */
struct view {
    int64_t tokens, unreported;
};

struct process {
    struct clock clock;
    netlib_retry_budget *budget;
    enum netlib_unavailable policy;
    struct model_time time;
    struct model_grants leases;
    bool has_view[KEYS];
    struct view views[KEYS];
};

struct fuzz {
    bool is_file;
    int file;
    /* The words of the store: [0] of the budgets, [1] of the rate. A file has only one of each. */
    uint64_t words[2][KEYS];
    double now;
    struct {
        enum behaviour behaviour;
        uint64_t word;
    } planned[MOST_PLANNED];
    int32_t planned_count;
    struct call calls[MOST_CALLS];
    int32_t call_count;
    double timeout;
    struct rule rule;
    struct process processes[PROCESSES];
    struct clock rate_clock;
    netlib_rate *rate;
    enum netlib_unavailable rate_policy;
    double per_second, burst;
    uint64_t fill_time;
    struct model_time rate_time;
    int64_t full_at[KEYS]; /* the local state of the rate */
};

/* ---- The store. ---- */

static void give(struct call *call, int32_t result, enum netlib_swap *answer) {
    call->result = result;
    *answer = (enum netlib_swap)result;
}

static void swap(void *ctx, const char *name, size_t len, uint64_t expected, uint64_t desired, double ttl,
                 double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    struct fuzz *f = ctx;
    MUST(f->call_count < MOST_CALLS);
    struct call *call = &f->calls[f->call_count++];
    call->is_rate = len >= 5 && memcmp(name, "rate:", 5) == 0;
    size_t prefix = call->is_rate ? 5 : 7;
    MUST(call->is_rate || (len >= 7 && memcmp(name, "budget:", 7) == 0));
    for (call->key = 0; call->key < KEYS; call->key++) {
        struct key key = key_of(call->key);
        bool is_same = len - prefix == key.len && (key.len == 0 || memcmp(name + prefix, key.data, key.len) == 0);
        free(key.data);
        if (is_same) break;
    }
    MUST(call->key < KEYS);
    call->expected = expected, call->desired = desired;
    call->ttl = ttl, call->timeout = timeout, call->now = f->now;
    enum behaviour behaviour = ANSWER;
    uint64_t *word = &f->words[call->is_rate][call->key];
    if (f->planned_count > 0) {
        behaviour = f->planned[--f->planned_count].behaviour;
        if (behaviour == CHANGE_WORD) *word = f->planned[f->planned_count].word;
    }
    call->actual = expected;
    switch (behaviour) {
    case UNAVAILABLE: give(call, NETLIB_SWAP_UNAVAILABLE, answer); return;
    case FAIL: give(call, NETLIB_SWAP_FAILED, answer); return;
    case STORE_NO_RESULT: give(call, 4, answer); return;
    case KEEP_NOW: call->now = NAN; break;
    case REPORT_NO_TIME: call->now = f->call_count % 2 == 0 ? -1 : 1.8e10 + 10; break;
    default: break;
    }
    if (behaviour != KEEP_NOW) *now = call->now;
    if (behaviour == KEEP_ACTUAL) {
        give(call, NETLIB_SWAP_CHANGED, answer);
    } else if (*word != expected) {
        *actual = call->actual = *word;
        give(call, NETLIB_SWAP_CHANGED, answer);
    } else {
        *word = desired;
        give(call, NETLIB_SWAP_SWAPPED, answer);
    }
}

/* The result of using a store. */
enum update { UPDATED, NOT_AVAILABLE, CALLBACK_FAILED };

/* Computes the next word from a word and the time, and keeps the answer in `ctx`. */
typedef uint64_t (*change_fn)(void *ctx, uint64_t word, double now);

/* The model of an update of a word. Compares the calls of the callback with those that netlib must make. */
static enum update model_update(struct fuzz *f, bool is_rate, int32_t key, double ttl, change_fn change, void *ctx) {
    if (f->is_file) {
        uint64_t *word = &f->words[0][0];
        *word = change(ctx, *word, 0);
        return UPDATED;
    }
    uint64_t expected = 0, desired = 0;
    for (int32_t i = 0; i < MOST_CALLS; i++) {
        MUST(i < f->call_count);
        const struct call *call = &f->calls[i];
        MUST(call->is_rate == is_rate && call->key == key && call->ttl == ttl);
        MUST(call->timeout > 0 && call->timeout <= f->timeout);
        MUST(call->expected == expected && call->desired == desired);
        bool is_last = i == f->call_count - 1;
        bool has_swapped = call->result == NETLIB_SWAP_SWAPPED, has_time = in_range(call->now, 0, 1.8e10);
        if (call->result == NETLIB_SWAP_UNAVAILABLE) {
            MUST(is_last);
            return NOT_AVAILABLE;
        }
        /* The time of a call that has replaced the word is not used. */
        if (has_swapped && expected != desired) {
            MUST(is_last);
            return UPDATED;
        }
        if (!has_swapped && (call->result != NETLIB_SWAP_CHANGED || call->actual == expected)) has_time = false;
        if (!has_time) {
            MUST(is_last);
            return CALLBACK_FAILED;
        }
        uint64_t word = has_swapped ? expected : call->actual, next = change(ctx, word, call->now);
        if (next == word) {
            MUST(is_last);
            return UPDATED;
        }
        expected = word, desired = next;
    }
    MUST(f->call_count == MOST_CALLS);
    return NOT_AVAILABLE;
}

/* ---- The model of a budget. A word is the number of thousandths of tokens, and 1; 0 is a full bucket. ---- */

static int64_t clamp(const struct rule *rule, int64_t tokens) {
    return tokens < 0 ? 0 : tokens > rule->capacity ? rule->capacity : tokens;
}

static int64_t model_cost(const struct rule *rule, int32_t kind) {
    if (!rule->has_costs || kind == NETLIB_BUDGET_REQUEST) return 0;
    return kind == NETLIB_BUDGET_THROTTLING ? rule->throttling : rule->transient;
}

static bool model_allows(const struct rule *rule, int64_t tokens, int32_t kind) {
    if (kind == NETLIB_BUDGET_REQUEST) return true;
    return rule->has_costs ? tokens >= model_cost(rule, kind) : tokens > rule->floor;
}

/* Changes the tokens that a process sees. It reports at most twice the cost of a retry, or 2 tokens, at once. */
static void change_view(const struct rule *rule, struct view *view, int64_t change) {
    int64_t tokens = clamp(rule, view->tokens + change), most = rule->has_costs ? 2 * rule->transient : 2000;
    view->unreported += tokens - view->tokens;
    if (view->unreported > most) view->unreported = most;
    view->tokens = tokens;
}

struct question {
    const struct rule *rule;
    int64_t unreported;
    int32_t kind;
    bool is_granted;
    int64_t tokens; /* out: the tokens in the store afterwards */
};

static uint64_t ask_word(void *ctx, uint64_t word, double now) {
    (void)now;
    struct question *question = ctx;
    const struct rule *rule = question->rule;
    bool is_full = word == 0 || word - 1 > (uint64_t)rule->capacity;
    int64_t tokens = clamp(rule, (is_full ? rule->capacity : (int64_t)word - 1) + question->unreported);
    question->is_granted = model_allows(rule, tokens, question->kind);
    if (question->is_granted) tokens -= model_cost(rule, question->kind);
    question->tokens = tokens;
    /* A denial without changes to report leaves the word as it is. */
    return question->is_granted || question->unreported != 0 ? (uint64_t)tokens + 1 : word;
}

static struct view *view_of(const struct fuzz *f, struct process *process, int32_t key) {
    if (!process->has_view[key]) process->views[key] = (struct view){f->rule.capacity, 0};
    process->has_view[key] = true;
    return &process->views[key];
}

static netlib_status ask_locally(const struct fuzz *f, struct view *view, int32_t kind) {
    if (!model_allows(&f->rule, view->tokens, kind)) return NETLIB_RETRY_BUDGET_EMPTY;
    change_view(&f->rule, view, -model_cost(&f->rule, kind));
    return NETLIB_OK;
}

static void end_old(struct process *process) {
    while (process->leases.count > 0 && process->leases.list[0].given < time_now(&process->time) - 300)
        (void)remove_grant(&process->leases, 0);
}

static netlib_status model_ask(struct fuzz *f, struct process *process, int32_t key, int32_t kind) {
    if (key == LONG_KEY) return NETLIB_INVALID_ARGUMENT;
    if (!clock_works(&process->clock)) return NETLIB_CALLBACK_FAILED;
    advance_time(&process->time, &process->clock);
    end_old(process);
    struct view *view = view_of(f, process, key);
    if (kind == NETLIB_BUDGET_REQUEST) return ask_locally(f, view, kind);
    struct question question = {&f->rule, view->unreported, kind, false, 0};
    switch (model_update(f, false, key, 3600, ask_word, &question)) {
    case UPDATED:
        *view = (struct view){question.tokens, 0};
        return question.is_granted ? NETLIB_OK : NETLIB_RETRY_BUDGET_EMPTY;
    case CALLBACK_FAILED: return NETLIB_CALLBACK_FAILED;
    default: break;
    }
    if (process->policy == NETLIB_UNAVAILABLE_CLOSED) return NETLIB_STORE_UNAVAILABLE;
    if (process->policy == NETLIB_UNAVAILABLE_LOCAL) return ask_locally(f, view, kind);
    change_view(&f->rule, view, -model_cost(&f->rule, kind));
    return NETLIB_OK;
}

static void model_report(const struct fuzz *f, struct process *process, const struct grant *lease, int32_t outcome) {
    const struct rule *rule = &f->rule;
    struct view *view = &process->views[lease->key];
    bool is_failure = outcome == NETLIB_REPORT_FAILURE || outcome == NETLIB_REPORT_THROTTLED;
    if (outcome == NETLIB_REPORT_SUCCESS) {
        bool returns = rule->has_costs && lease->kind != NETLIB_BUDGET_REQUEST;
        change_view(rule, view, returns ? model_cost(rule, lease->kind) : rule->gain);
    } else if (is_failure && !rule->has_costs) {
        change_view(rule, view, -1000);
    }
}

/* ---- The model of a rate: a word is the nanosecond at which the key has all its permissions. ---- */

static uint64_t sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

struct purchase {
    uint64_t fill_time, cost;
    uint64_t wait; /* out: in nanoseconds; 0 if the permissions were taken */
};

static uint64_t take_from_word(void *ctx, uint64_t word, double seconds) {
    struct purchase *purchase = ctx;
    uint64_t now = (uint64_t)(seconds * 1e9), limit = sum(now, purchase->fill_time);
    /* The time has stepped back by more than a second: the key is empty, and fills from now on. */
    if (word > sum(limit, 1000000000)) word = limit;
    uint64_t next = sum(word > now ? word : now, purchase->cost);
    purchase->wait = next > limit ? next - limit : 0;
    return next > limit ? word : next;
}

static void check_wait(uint64_t nanoseconds, netlib_status status, double wait) {
    SAME(nanoseconds == 0 ? NETLIB_OK : NETLIB_RATE_LIMITED, status);
    SAME((double)(nanoseconds / 1000 + (nanoseconds % 1000 != 0)) / 1e6, wait);
}

static void take_permissions(struct fuzz *f, int32_t number, double n) {
    netlib_error *err = NULL;
    double wait = 77;
    struct key key = key_of(number);
    f->call_count = 0;
    netlib_status status = netlib_rate_take(f->rate, key.data, key.len, n, &wait, &err);
    check_error(status, err, 0);
    netlib_error_free(err);
    free(key.data);
    if (number == LONG_KEY || !(n > 0 && n <= f->burst)) {
        SAME(NETLIB_INVALID_ARGUMENT, status);
        return;
    }
    double cost = fmin(ceil(n / f->per_second * 1e9), (double)f->fill_time);
    struct purchase purchase = {f->fill_time, (uint64_t)cost, 0};
    switch (model_update(f, true, number, (double)f->fill_time / 1e9, take_from_word, &purchase)) {
    case UPDATED: check_wait(purchase.wait, status, wait); return;
    case CALLBACK_FAILED: SAME(NETLIB_CALLBACK_FAILED, status); return;
    default: break;
    }
    if (f->rate_policy == NETLIB_UNAVAILABLE_OPEN) {
        SAME(NETLIB_OK, status);
    } else if (f->rate_policy == NETLIB_UNAVAILABLE_CLOSED) {
        SAME(NETLIB_STORE_UNAVAILABLE, status);
    } else if (!clock_works(&f->rate_clock)) {
        SAME(NETLIB_CALLBACK_FAILED, status);
    } else {
        advance_time(&f->rate_time, &f->rate_clock);
        int64_t now = llround(time_now(&f->rate_time) * 1e9), limit = now + (int64_t)f->fill_time;
        int64_t next = (f->full_at[number] > now ? f->full_at[number] : now) + (int64_t)cost;
        if (next <= limit) f->full_at[number] = next;
        check_wait(next <= limit ? 0 : (uint64_t)(next - limit), status, wait);
    }
}

/* ---- The calls of a budget. ---- */

static void check_left(struct fuzz *f, struct process *process, int32_t number) {
    if (number == LONG_KEY) return;
    struct key key = key_of(number);
    double left = netlib_retry_budget_left(process->budget, key.data, key.len);
    free(key.data);
    SAME((double)(process->has_view[number] ? process->views[number].tokens : f->rule.capacity) / 1000, left);
}

static void check_file(const struct fuzz *f) {
    uint64_t word = 77;
    if (!f->is_file) return;
    MUST(pread(f->file, &word, sizeof word, 64) == sizeof word);
    MUST(word == f->words[0][0]);
}

static void ask(struct fuzz *f, struct process *process, int32_t number, int32_t kind) {
    netlib_error *err = NULL;
    uint64_t lease = 77;
    struct key key = key_of(number);
    f->call_count = 0;
    netlib_status status =
        netlib_retry_budget_ask(process->budget, key.data, key.len, (enum netlib_budget_kind)kind, &lease, &err);
    check_error(status, err, 0);
    free(key.data);
    SAME(model_ask(f, process, number, kind), status);
    MUST((lease != 0) == (status == NETLIB_OK));
    if (status == NETLIB_RETRY_BUDGET_EMPTY)
        SAME((double)process->views[number].tokens / 1000, netlib_error_budget_left(err));
    netlib_error_free(err);
    if (status == NETLIB_OK)
        add_grant(&process->leases,
                  (struct grant){.number = lease, .key = number, .kind = kind, .given = time_now(&process->time)});
    check_left(f, process, number);
    check_file(f);
}

static void report(struct fuzz *f, struct process *process, struct input *input) {
    uint64_t of_other_process = f->processes[process == f->processes].leases.list[0].number;
    uint64_t number = take_grant_number(&process->leases, of_other_process, input);
    int32_t outcome = take_outcome(input), key = 0;
    netlib_retry_budget_report(process->budget, number, (enum netlib_report)outcome);
    advance_time(&process->time, &process->clock);
    end_old(process);
    int32_t at = find_grant(&process->leases, number);
    if (at >= 0) {
        struct grant lease = remove_grant(&process->leases, at);
        key = lease.key;
        model_report(f, process, &lease, known_outcome(outcome));
    }
    check_left(f, process, key);
}

/* ---- The input. ---- */

static uint64_t take_word(const struct fuzz *f, struct input *input) {
    uint64_t words[] = {0,
                        1,
                        2,
                        (uint64_t)f->rule.capacity,
                        (uint64_t)f->rule.capacity + 1,
                        (uint64_t)f->rule.capacity + 2,
                        UINT32_MAX,
                        (uint64_t)UINT32_MAX + 1,
                        (uint64_t)UINT32_MAX + 2,
                        UINT64_MAX,
                        (uint64_t)INT64_MAX,
                        (uint64_t)(f->now * 1e9),
                        (uint64_t)(f->now * 1e9) + f->fill_time,
                        sum((uint64_t)(f->now * 1e9) + f->fill_time, 1000000000),
                        sum((uint64_t)(f->now * 1e9) + f->fill_time, 1000000001),
                        0};
    uint8_t byte = take_byte(input);
    return byte < 128 ? words[byte % 16] : (uint64_t)(byte - 128) * (uint64_t)f->rule.capacity / 127;
}

/* Plans what the callback does in the next calls. */
static void plan(struct fuzz *f, struct input *input) {
    uint8_t byte = take_byte(input);
    int32_t times = byte >= 0xf0 ? 66 : 1;
    uint64_t word = take_word(f, input);
    for (int32_t i = 0; i < times && f->planned_count < MOST_PLANNED; i++) {
        f->planned[f->planned_count].behaviour = byte % 8;
        f->planned[f->planned_count++].word = word ^ (uint64_t)(i % 2);
    }
}

static void change_store_time(struct fuzz *f, struct input *input) {
    static const double jumps[] = {0, 1.8e10, 1e9, 1.7999999999e10};
    uint8_t how = take_byte(input), by = take_byte(input);
    double now = f->now;
    switch (how % 8) {
    case 0: now += by / 1024.0; break;
    case 1: now += by / 16.0; break;
    case 2: now += by * 64.0; break;
    case 3: now -= by / 256.0; break;
    case 4: now -= 1.0; break;
    case 5: now -= by * 16.0; break;
    default: now = how % 8 == 6 ? jumps[by % 4] : now + by / 1e9; break;
    }
    if (in_range(now, 0, 1.8e10)) f->now = now;
}

static void change_process_clock(struct clock *clock, const struct model_time *time, struct input *input) {
    struct clock before = *clock;
    struct model_time next = *time;
    change_clock(clock, input);
    advance_time(&next, clock);
    if (time_now(&next) > LAST_TIME) *clock = before;
}

/* Writes an arbitrary word into the store, as another program could. */
static void write_word(struct fuzz *f, struct input *input) {
    bool is_rate = take_byte(input) % 2 == 1;
    int32_t key = f->is_file ? 0 : take_byte(input) % KEYS;
    uint64_t word = take_word(f, input);
    f->words[is_rate && !f->is_file][key] = word;
    if (f->is_file) MUST(pwrite(f->file, &word, sizeof word, 64) == sizeof word);
}

/* Makes a store; a file is unlinked at once, so that it is removed in any case. */
static void make_stores(struct fuzz *f, netlib_store **stores) {
    netlib_error *err = NULL;
    if (!f->is_file) {
        OK(netlib_store_new(swap, f->timeout, f, NULL, &stores[0], &err));
        stores[1] = netlib_store_clone(stores[0]);
        return;
    }
    char path[] = "/tmp/netlib-fuzz-XXXXXX";
    f->file = mkstemp(path);
    MUST(f->file >= 0);
    for (int32_t i = 0; i < PROCESSES; i++) OK(netlib_store_file(path, 1, &stores[i], &err));
    MUST(unlink(path) == 0);
}

static void set_rule(struct fuzz *f, netlib_retry_budget_options *options, uint8_t which, struct input *input) {
    double capacity = PICK(input, 500, 10, 28, 1, 0.001, 4e6);
    double gain = PICK(input, 1, 0.1, 0.001, 4e6, 14);
    f->rule = (struct rule){.capacity = llround(capacity * 1000), .gain = llround(gain * 1000)};
    f->rule.has_costs = which % 2 == 0;
    if (f->rule.has_costs) {
        double transient = fmin(PICK(input, 14, 5, 1, 0.001, 500), capacity);
        double throttling = fmin(PICK(input, 5, 1, 28, 0.001), capacity);
        f->rule.transient = llround(transient * 1000);
        f->rule.throttling = llround(throttling * 1000);
        netlib_retry_budget_options_set_tokens(options, capacity, transient, throttling, gain);
    } else {
        double floor = PICK(input, 0.5, 0, 0.25);
        f->rule.floor = llround(floor * (double)f->rule.capacity);
        if (f->rule.floor == f->rule.capacity) f->rule.floor--;
        netlib_retry_budget_options_set_failure_tokens(options, capacity, gain, floor);
    }
}

static void make_objects(struct fuzz *f, struct input *input) {
    netlib_error *err = NULL;
    netlib_store *stores[PROCESSES];
    uint8_t flags = take_byte(input), policies = take_byte(input);
    f->is_file = flags % 8 == 7;
    f->timeout = flags & 8 ? 3600 : NETLIB_TIMEOUT_NONE;
    f->now = PICK(input, 1000, 0, 1.7e9, 1.8e10);
    make_stores(f, stores);
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    set_rule(f, options, flags / 16, input);
    for (int32_t i = 0; i < PROCESSES; i++, policies /= 3) {
        struct process *process = &f->processes[i];
        process->policy = (enum netlib_unavailable)(policies % 3);
        process->clock.reading = 1000;
        netlib_retry_budget_options_set_store(options, stores[i], process->policy);
        netlib_retry_budget_options_set_clock(options, read_clock, &process->clock, NULL);
        OK(netlib_retry_budget_new(options, &process->budget, &err));
    }
    netlib_retry_budget_options_free(options);
    f->rate_policy = (enum netlib_unavailable)(policies % 3);
    f->rate_clock.reading = 1000;
    f->per_second = PICK(input, 1, 10, 0.1, 1000, 3, 1e6);
    f->burst = PICK(input, 5, 1, 10, 0.5, 1000, 2.5);
    f->fill_time = (uint64_t)(f->burst / f->per_second * 1e9);
    netlib_rate_options *limits = netlib_rate_options_new();
    netlib_rate_options_set_limit(limits, f->per_second, f->burst);
    netlib_rate_options_set_store(limits, stores[0], f->rate_policy);
    netlib_rate_options_set_clock(limits, read_clock, &f->rate_clock, NULL);
    OK(netlib_rate_new(limits, &f->rate, &err));
    netlib_rate_options_free(limits);
    for (int32_t i = 0; i < PROCESSES; i++) netlib_store_free(stores[i]);
    for (int32_t key = 0; key < KEYS; key++) f->full_at[key] = INT64_MIN;
}

static void run(struct fuzz *f, struct input *input) {
    static const double numbers[] = {1, 1, 0.5, 5, 2.5, 1e-9, 0, NAN};
    while (input->len > 0) {
        uint8_t event = take_byte(input);
        struct process *process = &f->processes[event / 16 % PROCESSES];
        if (process->leases.count == MOST_GRANTS) break;
        switch (event % 16) {
        case 0:
        case 1:
        case 2:
        case 3: ask(f, process, take_key(input), event / 32 % 4); break;
        case 4: ask(f, process, take_key(input), NETLIB_BUDGET_REQUEST); break;
        case 5:
        case 6:
        case 7: report(f, process, input); break;
        case 8:
        case 9:
        case 10:
            if (!f->is_file) take_permissions(f, take_key(input), numbers[event / 32]);
            break;
        case 11: change_process_clock(&process->clock, &process->time, input); break;
        case 12:
            change_store_time(f, input);
            change_process_clock(&f->rate_clock, &f->rate_time, input);
            break;
        case 13:
        case 14: plan(f, input); break;
        default: write_word(f, input); break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fuzz fuzz;
    struct fuzz *f = &fuzz;
    struct input input = {data, size};
    memset(f, 0, sizeof *f);
    make_objects(f, &input);
    run(f, &input);
    for (int32_t i = 0; i < PROCESSES; i++) {
        for (int32_t key = 0; key < KEYS; key++) check_left(f, &f->processes[i], key);
        netlib_retry_budget_free(f->processes[i].budget);
    }
    netlib_rate_free(f->rate);
    if (f->is_file) close(f->file);
    return 0;
}
