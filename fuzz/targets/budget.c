/* Fuzzes retry budgets: reads the input as settings, and as calls with several keys: requests and reports, decisions
 * about requests, late and repeated reports, numbers that are no lease, and clocks that step back or fail. A model in
 * this file predicts each status and the tokens of each key. */
#include "../overload.h"

enum rule_kind { COSTS, FAILURES, WINDOW, IN_FLIGHT };

enum { MOST_EVENTS = 1500, CHAINS = 3, RETRIES = 3, MOST_ENDED = 64 };

/* The settings of a budget. Numbers of tokens are in thousandths. */
struct rule {
    enum rule_kind kind;
    int64_t capacity, transient, throttling, gain, floor;
    /* A window: the ratio in ten-thousandths, and the retries that are always allowed, in ten-thousandths. */
    int64_t ratio, reserve;
    double seconds;
    double in_flight_ratio;
    int32_t least;
};

/* The state of a key. A window remembers each request with the number of its tenth of the window. */
struct key_state {
    int64_t tokens;
    struct {
        double tenth;
        bool is_retry;
    } requests[MOST_EVENTS];
    int32_t request_count;
};

/* A chain of requests: the Retry of the last decision, and the lease that this Retry holds. */
struct chain {
    netlib_decision *decision;
    enum { NO_LEASE, HOLDS_LEASE, REPORTED_LEASE } lease;
    int64_t mark;
};

struct fuzz {
    struct clock clock;
    netlib_retry_budget *budget;
    uint64_t lease_of_another_budget;
    netlib_retry *retries[RETRIES];
    bool raises;
    struct chain chains[CHAINS];
    /* The model. */
    struct rule rule;
    double lease_time;
    struct model_time time;
    struct model_keys keys;
    struct model_grants leases;
    struct key_state states[KEYS];
    int64_t marks;
};

/* ---- The model. ---- */

static bool is_retry(int32_t kind) { return kind != NETLIB_BUDGET_REQUEST; }

static double tenth_of(const struct fuzz *f, double now) { return floor(now / (f->rule.seconds / 10)); }

/* Returns the requests or retries of a key that still count in the window. */
static int64_t in_window(const struct fuzz *f, int32_t key, bool retries) {
    const struct key_state *state = &f->states[key];
    double now = tenth_of(f, time_now(&f->time));
    int64_t count = 0;
    for (int32_t i = 0; i < state->request_count; i++)
        count += state->requests[i].is_retry == retries && now - state->requests[i].tenth <= 10;
    return count;
}

static int64_t in_flight(const struct fuzz *f, int32_t key, bool only_retries) {
    int64_t count = 0;
    for (int32_t i = 0; i < f->leases.count; i++) {
        const struct grant *lease = &f->leases.list[i];
        if (lease->key == key && has_state(&f->keys, key, lease->added))
            count += !only_retries || is_retry(lease->kind);
    }
    return count;
}

/* Returns the tokens in thousandths, or the retries that the budget allows at present. `is_new`: the key has no
 * state. */
static int64_t model_left(const struct fuzz *f, int32_t key, bool is_new) {
    const struct rule *rule = &f->rule;
    if (rule->kind == WINDOW) {
        int64_t requests = is_new ? 0 : in_window(f, key, false), retries = is_new ? 0 : in_window(f, key, true);
        int64_t left = (rule->ratio * requests + rule->reserve) / 10000 - retries;
        return left > 0 ? left : 0;
    }
    if (rule->kind == IN_FLIGHT) {
        int64_t all = is_new ? 0 : in_flight(f, key, false), retries = is_new ? 0 : in_flight(f, key, true);
        int64_t most = (int64_t)(rule->in_flight_ratio * (double)all);
        if (most < rule->least) most = rule->least;
        return most > retries ? most - retries : 0;
    }
    return is_new ? rule->capacity : f->states[key].tokens;
}

static int64_t model_cost(const struct rule *rule, int32_t kind) {
    if (rule->kind != COSTS || !is_retry(kind)) return 0;
    return kind == NETLIB_BUDGET_THROTTLING ? rule->throttling : rule->transient;
}

static bool model_allows(const struct fuzz *f, int32_t key, int32_t kind) {
    int64_t left = model_left(f, key, false);
    if (!is_retry(kind)) return true;
    if (f->rule.kind == COSTS) return left >= model_cost(&f->rule, kind);
    if (f->rule.kind == FAILURES) return left > f->rule.floor;
    return left >= 1;
}

/* Counts a request that is about to be sent. */
static void model_take(struct fuzz *f, int32_t key, int32_t kind) {
    struct key_state *state = &f->states[key];
    state->tokens -= model_cost(&f->rule, kind);
    if (f->rule.kind == WINDOW) {
        state->requests[state->request_count].tenth = tenth_of(f, time_now(&f->time));
        state->requests[state->request_count++].is_retry = is_retry(kind);
    }
}

/* Returns the tokens after the outcome of a request. */
static int64_t model_tokens_after(const struct rule *rule, int64_t tokens, int32_t kind, int32_t outcome) {
    if (outcome == NETLIB_REPORT_SUCCESS) {
        int64_t gain = rule->kind == COSTS && is_retry(kind) ? model_cost(rule, kind) : rule->gain;
        return tokens + gain < rule->capacity ? tokens + gain : rule->capacity;
    }
    bool is_failure = outcome == NETLIB_REPORT_FAILURE || outcome == NETLIB_REPORT_THROTTLED;
    if (rule->kind != FAILURES || !is_failure) return tokens;
    return tokens > 1000 ? tokens - 1000 : 0;
}

/* The key with the most left has the lowest rank. */
static double rank(const void *ctx, int32_t key) { return -(double)model_left(ctx, key, false); }

static void model_use_key(struct fuzz *f, int32_t key) {
    if (!use_key(&f->keys, key, rank, f)) return;
    f->states[key].tokens = f->rule.capacity;
    f->states[key].request_count = 0;
}

static void model_end(struct fuzz *f, int32_t at, int32_t outcome) {
    struct grant lease = remove_grant(&f->leases, at);
    if (!has_state(&f->keys, lease.key, lease.added)) return;
    int64_t *tokens = &f->states[lease.key].tokens;
    *tokens = model_tokens_after(&f->rule, *tokens, lease.kind, outcome);
}

/* A call ends at most 64 leases that are too old, the oldest first. */
static void model_end_old(struct fuzz *f) {
    for (int32_t n = 0; n < MOST_ENDED && f->leases.count > 0; n++) {
        if (f->leases.list[0].given >= time_now(&f->time) - f->lease_time) break;
        model_end(f, 0, NETLIB_REPORT_NONE);
    }
}

static void model_report(struct fuzz *f, int32_t at, int32_t outcome) {
    if (at >= 0 && f->leases.list[at].given >= time_now(&f->time) - f->lease_time) model_end(f, at, outcome);
}

/* Returns the status of asking, without the lease. */
static netlib_status model_ask(struct fuzz *f, int32_t key, int32_t kind) {
    if (key == LONG_KEY) return NETLIB_INVALID_ARGUMENT;
    if (!clock_works(&f->clock)) return NETLIB_CALLBACK_FAILED;
    advance_time(&f->time, &f->clock);
    model_end_old(f);
    model_use_key(f, key);
    if (!model_allows(f, key, kind)) return NETLIB_RETRY_BUDGET_EMPTY;
    model_take(f, key, kind);
    return NETLIB_OK;
}

static void model_lease(struct fuzz *f, int32_t key, int32_t kind, uint64_t number, int64_t mark) {
    add_grant(&f->leases, (struct grant){.number = number,
                                         .added = f->keys.added[key],
                                         .key = key,
                                         .kind = kind,
                                         .given = time_now(&f->time),
                                         .mark = mark});
}

/* Records a first attempt that has ended, and for which the budget was not asked. An attempt that changes nothing adds
 * no key. */
static void model_first_attempt(struct fuzz *f, int32_t key, int32_t outcome) {
    const struct rule *rule = &f->rule;
    bool changes_new = rule->kind == WINDOW;
    if (rule->kind == FAILURES) changes_new = outcome == NETLIB_REPORT_FAILURE || outcome == NETLIB_REPORT_THROTTLED;
    if (!has_key(&f->keys, key) && !changes_new) return;
    model_use_key(f, key);
    model_take(f, key, NETLIB_BUDGET_REQUEST);
    int64_t *tokens = &f->states[key].tokens;
    *tokens = model_tokens_after(rule, *tokens, NETLIB_BUDGET_REQUEST, outcome);
}

/* ---- The calls. ---- */

static double as_returned(const struct fuzz *f, int64_t left) {
    return f->rule.kind == COSTS || f->rule.kind == FAILURES ? (double)left / 1000.0 : (double)left;
}

static void check_left(struct fuzz *f, int32_t number) {
    struct key key = key_of(number);
    double left = netlib_retry_budget_left(f->budget, key.data, key.len);
    free(key.data);
    if (number == LONG_KEY) {
        SAME(-1.0, left);
        return;
    }
    model_end_old(f);
    SAME(as_returned(f, model_left(f, number, !has_key(&f->keys, number))), left);
}

/* Checks the error of a denied retry. */
static void check_denial(const struct fuzz *f, const netlib_error *error, int32_t number) {
    struct key key = key_of(number);
    size_t len = 77;
    const char *found = netlib_error_budget_key(error, &len);
    MUST(found != NULL && len == key.len && (len == 0 || memcmp(found, key.data, len) == 0));
    SAME(as_returned(f, model_left(f, number, false)), netlib_error_budget_left(error));
    free(key.data);
}

static void ask(struct fuzz *f, int32_t number, int32_t kind) {
    netlib_error *err = NULL;
    uint64_t lease = 77;
    struct key key = key_of(number);
    netlib_status status =
        netlib_retry_budget_ask(f->budget, key.data, key.len, (enum netlib_budget_kind)kind, &lease, &err);
    check_error(status, err, 0);
    free(key.data);
    bool is_kind = kind >= NETLIB_BUDGET_REQUEST && kind <= NETLIB_BUDGET_HEDGE;
    netlib_status expected = is_kind ? model_ask(f, number, kind) : NETLIB_INVALID_ARGUMENT;
    SAME(expected, status);
    MUST((lease != 0) == (status == NETLIB_OK));
    if (status == NETLIB_OK) model_lease(f, number, kind, lease, 0);
    if (status == NETLIB_RETRY_BUDGET_EMPTY) check_denial(f, err, number);
    netlib_error_free(err);
    check_left(f, number);
}

static void report(struct fuzz *f, struct input *input) {
    uint64_t number = take_grant_number(&f->leases, f->lease_of_another_budget, input);
    int32_t outcome = take_outcome(input);
    netlib_retry_budget_report(f->budget, number, (enum netlib_report)outcome);
    int32_t at = find_grant(&f->leases, number), key = at >= 0 ? f->leases.list[at].key : 0;
    advance_time(&f->time, &f->clock);
    model_end_old(f);
    model_report(f, find_grant(&f->leases, number), known_outcome(outcome));
    check_left(f, key);
}

/* ---- Decisions. ---- */

/* The outcomes of requests, and what a Retry that retries 429 and 503 decides. */
static const struct outcome {
    const char *method, *head;
    netlib_status error;
    int32_t report, kind; /* `kind`: that of the retry; NETLIB_BUDGET_REQUEST: no retry */
    int32_t action;
} outcomes[] = {
    {"GET", "HTTP/1.1 200 A\r\n\r\n", 0, NETLIB_REPORT_SUCCESS, 0, NETLIB_ACTION_RETURN_RESPONSE},
    {"GET", "HTTP/1.1 503 B\r\n\r\n", 0, NETLIB_REPORT_FAILURE, NETLIB_BUDGET_TRANSIENT, NETLIB_ACTION_RETRY},
    {"GET", "HTTP/1.1 429 C\r\n\r\n", 0, NETLIB_REPORT_THROTTLED, NETLIB_BUDGET_THROTTLING, NETLIB_ACTION_RETRY},
    {"GET", "HTTP/1.1 404 D\r\n\r\n", 0, NETLIB_REPORT_SUCCESS, 0, NETLIB_ACTION_RETURN_RESPONSE},
    {"GET", "HTTP/1.1 500 E\r\n\r\n", 0, NETLIB_REPORT_NONE, 0, NETLIB_ACTION_RETURN_RESPONSE},
    {"GET", "HTTP/1.1 302 F\r\nLocation: /x\r\n\r\n", 0, NETLIB_REPORT_SUCCESS, 0, NETLIB_ACTION_REDIRECT},
    {"POST", "HTTP/1.1 503 G\r\n\r\n", 0, NETLIB_REPORT_FAILURE, 0, NETLIB_ACTION_RETURN_RESPONSE},
    {"GET", NULL, NETLIB_CONNECT_FAILED, NETLIB_REPORT_FAILURE, NETLIB_BUDGET_TRANSIENT, NETLIB_ACTION_RETRY},
    {"GET", NULL, NETLIB_CANCELLED, NETLIB_REPORT_NONE, 0, 0},
};

enum { OUTCOMES = sizeof outcomes / sizeof outcomes[0] };

static netlib_url *url;
static netlib_response *responses[OUTCOMES];
static netlib_error *errors[OUTCOMES];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    netlib_error *err = NULL;
    netlib_error_options *options = netlib_error_options_new();
    OK(netlib_parse_url("https://user@H/path", NETLIB_NTS, &url, &err));
    for (size_t i = 0; i < OUTCOMES; i++) {
        size_t used = 0;
        if (outcomes[i].head != NULL) {
            OK(netlib_response_parse("GET", outcomes[i].head, NETLIB_NTS, NULL, &responses[i], &used, &err));
        } else {
            OK(netlib_error_new(outcomes[i].error, "the request failed", options, &errors[i], &err));
        }
    }
    netlib_error_options_free(options);
    return 0;
}

/* The keys of the Retrys: 0 is the key of `netlib_retry_options_set_budget`, 4 the origin of the URL. */
static const struct {
    const char *key;
    int32_t number;
} retry_keys[RETRIES] = {{"", 0}, {"a", 1}, {NULL, 4}};

static void make_retries(struct fuzz *f) {
    static const int32_t codes[] = {429, 503};
    netlib_error *err = NULL;
    for (int32_t i = 0; i < RETRIES; i++) {
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_status_forcelist(options, codes, 2);
        netlib_retry_options_set_total(options, NETLIB_NONE);
        netlib_retry_options_set_raise_on_status(options, f->raises);
        netlib_retry_options_set_budget(options, f->budget, retry_keys[i].key);
        OK(netlib_retry_new(options, &f->retries[i], &err));
        netlib_retry_options_free(options);
    }
}

static void free_decision(struct fuzz *f, struct chain *chain) {
    /* A lease whose Retry is freed ends without an outcome. The call does not read the clock. */
    if (chain->lease == HOLDS_LEASE) {
        for (int32_t i = 0; i < f->leases.count; i++) {
            if (f->leases.list[i].number != 0 || f->leases.list[i].mark != chain->mark) continue;
            model_end(f, i, NETLIB_REPORT_NONE);
            break;
        }
    }
    netlib_decision_free(chain->decision);
    *chain = (struct chain){NULL, NO_LEASE, 0};
}

/* Decides about a request of a chain. `is_again`: uses the Retry of the last decision once more afterwards. */
static void decide(struct fuzz *f, struct chain *chain, int32_t retry, const struct outcome *outcome, bool is_again) {
    netlib_error *err = NULL;
    netlib_decision *decision = NULL;
    size_t number = (size_t)(outcome - outcomes);
    int32_t key = retry_keys[retry].number;
    const netlib_retry *used = chain->decision != NULL ? netlib_decision_retry(chain->decision) : f->retries[retry];
    netlib_status status =
        netlib_retry_decide(used, outcome->method, url, responses[number], errors[number], NULL, &decision, &err);
    check_error(status, err, 0);
    /* The report. */
    if (chain->lease != REPORTED_LEASE) {
        advance_time(&f->time, &f->clock);
        model_end_old(f);
    }
    if (chain->lease == NO_LEASE) model_first_attempt(f, key, outcome->report);
    if (chain->lease == HOLDS_LEASE) {
        int32_t at = 0;
        while (at < f->leases.count && (f->leases.list[at].number != 0 || f->leases.list[at].mark != chain->mark)) at++;
        /* A redirect that answers a retry returns nothing. */
        bool is_redirect = outcome->action == NETLIB_ACTION_REDIRECT;
        model_report(f, at < f->leases.count ? at : -1, is_redirect ? NETLIB_REPORT_NONE : outcome->report);
        chain->lease = REPORTED_LEASE;
    }
    /* The decision. */
    netlib_status asked = NETLIB_OK;
    bool asks = outcome->kind != NETLIB_BUDGET_REQUEST;
    if (asks) asked = model_ask(f, key, outcome->kind);
    bool is_error = outcome->head == NULL, is_denied = asked == NETLIB_RETRY_BUDGET_EMPTY;
    netlib_status expected = NETLIB_OK;
    if (is_error && !asks) expected = outcome->error;
    if (asked == NETLIB_CALLBACK_FAILED) expected = NETLIB_CALLBACK_FAILED;
    if (is_denied && (is_error || f->raises)) expected = NETLIB_MAX_RETRY;
    SAME(expected, status);
    if (status == NETLIB_OK) {
        SAME(is_denied ? NETLIB_ACTION_RETURN_RESPONSE : outcome->action, netlib_decision_action(decision));
        SAME(outcome->report == NETLIB_REPORT_THROTTLED, netlib_decision_throttled(decision));
        MUST((netlib_decision_denied(decision) != NULL) == is_denied);
        if (is_denied) check_denial(f, netlib_decision_denied(decision), key);
    } else {
        MUST(decision == NULL);
    }
    if (status == NETLIB_MAX_RETRY) {
        size_t causes = netlib_error_cause_count(err);
        MUST(causes > 0);
        check_denial(f, netlib_error_cause(err, causes - 1), key);
    }
    netlib_error_free(err);
    struct chain next = {decision, chain->lease, chain->mark};
    bool is_granted = asks && status == NETLIB_OK && !is_denied;
    if (is_granted) {
        next.lease = HOLDS_LEASE;
        next.mark = ++f->marks;
        model_lease(f, key, outcome->kind, 0, next.mark);
    } else if (outcome->action == NETLIB_ACTION_REDIRECT) {
        next.lease = NO_LEASE;
    }
    if (is_again) {
        free_decision(f, &next);
    } else if (decision != NULL) {
        netlib_decision_free(chain->decision);
        *chain = next;
    }
    check_left(f, key);
}

static void decide_once(struct fuzz *f, struct input *input) {
    uint8_t byte = take_byte(input);
    struct chain *chain = &f->chains[byte % CHAINS];
    const struct outcome *outcome = &outcomes[take_byte(input) % OUTCOMES];
    if (byte >= 0xe0) {
        free_decision(f, chain);
    } else {
        decide(f, chain, byte % CHAINS, outcome, byte % 32 == 3);
    }
}

/* ---- The input. ---- */

static int64_t thousandths(double tokens) { return (int64_t)llround(tokens * 1000); }

/* Sets a rule in the options and in the model. Returns whether the options must accept it. */
static bool set_rule(struct rule *rule, netlib_retry_budget_options *options, struct input *input) {
    static const struct rule presets[] = {
        {.kind = COSTS, .capacity = 500000, .transient = 14000, .throttling = 5000, .gain = 1000},
        {.kind = COSTS, .capacity = 500000, .transient = 10000, .throttling = 5000, .gain = 1000},
        {.kind = FAILURES, .capacity = 10000, .gain = 100, .floor = 5000},
        {.kind = WINDOW, .ratio = 2000, .reserve = 1000000, .seconds = 10},
        {.kind = IN_FLIGHT, .in_flight_ratio = 0.2, .least = 3},
    };
    uint8_t which = take_byte(input);
    if (which % 8 < 3) {
        int32_t preset = which == 255 ? -1 : which / 8 % 6;
        netlib_retry_budget_options_set_preset(options, (enum netlib_budget_preset)preset);
        if (preset < 0 || preset >= 5) return false;
        *rule = presets[preset];
        return true;
    }
    if (which % 8 < 5) {
        double capacity = PICK(input, 500, 28, 10, 1, 0.001, 4e6, 15.5, 4000001);
        double transient = PICK(input, 14, 10, 1, 0.001, 0.5, 28, 0.1, 4e6);
        double throttling = PICK(input, 5, 0.001, 1, 28, 0.1, 0.0009, 10, NAN);
        double gain = PICK(input, 1, 0.1, 0.001, 4e6, 0.3, 7, 0, 14);
        netlib_retry_budget_options_set_tokens(options, capacity, transient, throttling, gain);
        *rule = (struct rule){.kind = COSTS,
                              .capacity = thousandths(capacity),
                              .transient = thousandths(transient),
                              .throttling = thousandths(isnan(throttling) ? 0 : throttling),
                              .gain = thousandths(gain)};
        return in_range(capacity, 0.001, 4e6) && in_range(transient, 0.001, capacity) &&
               in_range(throttling, 0.001, capacity) && in_range(gain, 0.001, 4e6);
    }
    if (which % 8 == 5) {
        double capacity = PICK(input, 10, 3, 1, 0.001, 4e6, 0.999);
        double gain = PICK(input, 0.1, 1, 0.001, 4e6, 0.3, -1);
        double floor = PICK(input, 0.5, 0, 0.999, 0.3337, 1, -0.5, 0.29, NAN);
        netlib_retry_budget_options_set_failure_tokens(options, capacity, gain, floor);
        *rule = (struct rule){.kind = FAILURES, .capacity = thousandths(capacity), .gain = thousandths(gain)};
        if (!in_range(gain, 0.001, 4e6) || !(floor >= 0 && floor < 1)) return false;
        rule->floor = llround(floor * (double)rule->capacity);
        if (rule->floor == rule->capacity) rule->floor--;
        return true;
    }
    if (which % 8 == 6) {
        double ratio = PICK(input, 0.2, 0, 0.0001, 0.3, 0.6, 0.57, 1, 2.5, 1000, 0.7, 1001, NAN);
        double least = PICK(input, 0, 10, 0.1, 0.05, 1e6, 3, -1, 1);
        double seconds = PICK(input, 10, 1, 2, 60, 4, 0.5);
        netlib_retry_budget_options_set_window(options, ratio, least, seconds);
        *rule = (struct rule){.kind = WINDOW, .seconds = seconds};
        if (!(ratio == 0 || in_range(ratio, 0.0001, 1000)) || !in_range(least, 0, 1e6)) return false;
        rule->ratio = llround(ratio * 10000);
        rule->reserve = llround(least * seconds * 10000);
        return in_range(seconds, 1, 60) && (ratio > 0 || least > 0);
    }
    double ratio = PICK(input, 0.2, 0, 0.5, 1, 0.25, 1.1, NAN, 0.001);
    int32_t least = (int32_t)PICK(input, 3, 0, 1, 2, 1000000, -1, 1000001, 5);
    netlib_retry_budget_options_set_in_flight(options, ratio, least);
    *rule = (struct rule){.kind = IN_FLIGHT, .in_flight_ratio = ratio, .least = least};
    return in_range(ratio, 0, 1) && least >= 0 && least <= 1000000 && (ratio > 0 || least > 0);
}

/* Makes the budget; returns whether the settings are valid. */
static bool make_budget(struct fuzz *f, struct input *input) {
    netlib_error *err = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    uint8_t flags = take_byte(input);
    bool is_valid = true;
    f->rule = (struct rule){.kind = COSTS, .capacity = 500000, .transient = 14000, .throttling = 5000, .gain = 1000};
    /* The last call of a setter counts. */
    for (int32_t i = flags % 4 == 0 ? 0 : flags % 4 == 3 ? 2 : 1; i > 0; i--)
        is_valid = set_rule(&f->rule, options, input);
    f->lease_time = 300;
    if (flags & 4) {
        f->lease_time = PICK(input, 1, 0.5, 60, 1e9, 0.001, 1e300, 0, INFINITY);
        netlib_retry_budget_options_set_lease_time(options, f->lease_time);
        is_valid = is_valid && f->lease_time >= 0.001 && f->lease_time <= 1e9;
    }
    f->keys.max_keys = 1024;
    if (flags & 8) {
        f->keys.max_keys = (int32_t)PICK(input, 1, 2, 3, 1048576, 0, 4);
        netlib_retry_budget_options_set_max_keys(options, f->keys.max_keys);
        is_valid = is_valid && f->keys.max_keys > 0;
    }
    f->raises = flags & 16;
    f->clock.reading = PICK(input, 1000, 0, -5, 8999999999.0);
    netlib_retry_budget_options_set_clock(options, read_clock, &f->clock, NULL);
    netlib_retry_budget_options *clone = netlib_retry_budget_options_clone(options);
    netlib_retry_budget_options_free(options);
    bool is_checked = ONE_OF(netlib_retry_budget_options_check(clone, &err), 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK;
    bool is_made = ONE_OF(netlib_retry_budget_new(clone, &f->budget, &err), 0, NETLIB_INVALID_ARGUMENT) == NETLIB_OK;
    netlib_retry_budget_options_free(clone);
    MUST(is_checked == is_valid && is_made == is_valid);
    return is_valid;
}

static bool has_room(const struct fuzz *f, int32_t calls) {
    if (f->leases.count + calls > MOST_GRANTS) return false;
    for (int32_t key = 0; key < KEYS; key++)
        if (f->states[key].request_count + calls > MOST_EVENTS) return false;
    return true;
}

static void run(struct fuzz *f, struct input *input) {
    static const int32_t kinds[] = {0, 1, 2, 3, 0, 1, 1, 4, 0, 1, 2, 3, 0, 1, 0, -1};
    while (input->len > 0 && has_room(f, 100)) {
        uint8_t event = take_byte(input);
        int32_t key;
        switch (event % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4: ask(f, take_key(input), kinds[event / 16]); break;
        case 5:
        case 6:
        case 7:
        case 8: report(f, input); break;
        case 9:
        case 10:
        case 11: change_clock(&f->clock, input); break;
        case 12: check_left(f, take_key(input)); break;
        case 13:
            key = take_key(input);
            for (int32_t n = take_byte(input) % 90; n > 0; n--) ask(f, key, kinds[event / 16]);
            break;
        default: decide_once(f, input); break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct fuzz fuzz;
    struct fuzz *f = &fuzz;
    struct input input = {data, size};
    netlib_error *err = NULL;
    memset(f, 0, sizeof *f);
    if (make_budget(f, &input)) {
        netlib_retry_budget *other = NULL;
        OK(netlib_retry_budget_new(NULL, &other, &err));
        OK(netlib_retry_budget_ask(other, NULL, 0, NETLIB_BUDGET_TRANSIENT, &f->lease_of_another_budget, &err));
        make_retries(f);
        run(f, &input);
        for (int32_t i = 0; i < CHAINS; i++) free_decision(f, &f->chains[i]);
        for (int32_t key = 0; key < KEYS; key++) check_left(f, key);
        for (int32_t i = 0; i < RETRIES; i++) netlib_retry_free(f->retries[i]);
        netlib_retry_budget_free(other);
    } else {
        MUST(f->budget == NULL);
    }
    netlib_retry_budget_free(f->budget);
    return 0;
}
