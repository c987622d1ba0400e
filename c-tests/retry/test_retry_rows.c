/* Tests the retry rules of the specification with tables. Also tests that runs with the same seeds have identical
 * results. The settings are tested in test_retry_settings.c. */
#include "retry_makers.h"

#include <stdint.h>

/* The result of a request: an error with the status `error`, a response with `status` and `fields`, or neither. */
struct event {
    int32_t error;
    int status;
    const char *fields;
};

static const struct event refused = {NETLIB_CONNECT_FAILED, 0, NULL};
static const struct event cut_off = {NETLIB_READ_TIMEOUT, 0, NULL};
static const struct event redirected = {0, 302, "Location: /x\r\n"};
static const struct event overloaded = {0, 503, ""};
static const struct event untrusted = {NETLIB_CERTIFICATE_VERIFY, 0, NULL};

static netlib_status increment(const netlib_retry *retry, const struct event *event, netlib_retry **next,
                               netlib_error **err) {
    netlib_error *error = event->error != 0 ? error_of(event->error, NULL) : NULL;
    netlib_response *response = event->status != 0 ? response_of(event->status, event->fields) : NULL;
    netlib_status status = netlib_retry_increment(retry, "GET", "/p", response, error, next, err);
    netlib_response_free(response);
    netlib_error_free(error);
    return status;
}

/* Returns how often netlib_retry_increment allows a retry of an event before NETLIB_MAX_RETRY, or -1 after 30
 * retries. */
static int times_retried(netlib_retry_options *options, const struct event *event) {
    netlib_retry *retry = retry_of(options);
    int times = 0;
    for (; times < 30; times++) {
        netlib_error *err = NULL;
        netlib_retry *next = NULL;
        netlib_status status = increment(retry, event, &next, &err);
        netlib_retry_free(retry);
        retry = next;
        CHECK(status == NETLIB_OK || status == NETLIB_MAX_RETRY);
        if (status != NETLIB_OK) {
            CHECK(is_exhausted(netlib_error_retry(err)));
            CHECK_INT(times + 1, (long long)netlib_retry_history_count(netlib_error_retry(err)));
        }
        netlib_error_free(err);
        if (status != NETLIB_OK) return times;
    }
    netlib_retry_free(retry);
    return -1;
}

typedef void (*count_setter)(netlib_retry_options *, int32_t);

static const struct {
    count_setter set;
    const struct event *event;
} kinds[] = {
    {netlib_retry_options_set_connect, &refused},     {netlib_retry_options_set_read, &cut_off},
    {netlib_retry_options_set_redirect, &redirected}, {netlib_retry_options_set_status, &overloaded},
    {netlib_retry_options_set_other, &untrusted},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int least(int32_t total, int32_t own) {
    if (total == NETLIB_NONE) return own == NETLIB_NONE ? -1 : own < 0 ? 0 : own;
    if (own == NETLIB_NONE || own > total) return total < 0 ? 0 : total;
    return own < 0 ? 0 : own;
}

/* The total limits all kinds of failures together; a total of NETLIB_NONE sets no limit. Each other count limits only
 * its own kind of failure. With a count of 0, the first failure is final. A negative count is already exhausted. */
static void each_retry_count_limits_its_own_kind_of_failure(void) {
    static const int32_t values[] = {NETLIB_NONE, 0, 1, 2, 5, -1, -7};
    enum { VALUES = sizeof values / sizeof values[0] };
    for (int t = 0; t < VALUES; t++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int v = 0; v < VALUES; v++) {
                for (int event = 0; event < KINDS; event++) {
                    netlib_retry_options *options = netlib_retry_options_new();
                    netlib_retry_options_set_total(options, values[t]);
                    kinds[kind].set(options, values[v]);
                    int expected = least(values[t], event == kind ? values[v] : NETLIB_NONE);
                    /* If any count is below 0, the Retry is exhausted. */
                    if (event != kind && values[v] != NETLIB_NONE && values[v] < 0) expected = 0;
                    CHECK_INT(expected, times_retried(options, kinds[event].event));
                }
            }
        }
    }
    CHECK_INT(10, times_retried(netlib_retry_options_new(), &refused));
}

/* Only 301, 302, 303, 307 and 308 with a Location are redirects. */
static void only_statuses_301_302_303_307_308_with_a_location_are_redirects(void) {
    for (int status = 100; status < 600; status++) {
        netlib_error *err = NULL;
        netlib_retry *next = NULL;
        const struct event event = {0, status, "Location: /x\r\n"};
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_redirect(options, 5);
        netlib_retry_options_set_status(options, 5);
        netlib_retry *retry = retry_of(options);
        CHECK_OK(increment(retry, &event, &next, &err));
        bool redirects = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
        CHECK_INT(redirects ? 4 : 5, netlib_retry_redirect_left(next));
        CHECK_INT(redirects ? 5 : 4, netlib_retry_status_left(next));
        netlib_retry_free(next);
        netlib_retry_free(retry);
    }
}

/* If the total is disabled, netlib retries nothing, follows no redirect, and returns the failure itself. */
static void each_failure_is_returned_without_a_retry_if_the_total_is_disabled(void) {
    netlib_error *err = NULL;
    netlib_retry *pool = NULL;
    netlib_retry *request = NULL;
    CHECK_OK(netlib_retry_from_int(5, 1, NULL, &pool, &err));
    CHECK_OK(netlib_retry_from_int(NETLIB_RETRY_DISABLED, 1, NULL, &request, &err));
    const netlib_retry *chosen = netlib_retry_resolve(request, pool);
    CHECK(chosen == request);
    static const struct {
        const struct event *event;
        netlib_status expected;
    } rows[] = {
        {&refused, NETLIB_CONNECT_FAILED},        {&cut_off, NETLIB_READ_TIMEOUT},
        {&redirected, NETLIB_TOO_MANY_REDIRECTS}, {&overloaded, NETLIB_RESPONSE_STATUS},
        {&untrusted, NETLIB_CERTIFICATE_VERIFY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_retry *next = NULL;
        netlib_status status = increment(chosen, rows[i].event, &next, &err);
        CHECK(next == NULL);
        CHECK(netlib_error_retry(err) == NULL);
        CHECK_INT(0, (long long)netlib_error_cause_count(err));
        if (rows[i].event->status != 0) CHECK_CONTAINS("disabled", netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].expected, status);
    }
    netlib_retry_free(pool);
    netlib_retry_free(request);
}

/* Each call of netlib_retry_increment adds a history entry with five fields, in the order of the requests. The Retry in
 * the MAX_RETRY error has all entries. */
static void each_retry_increment_adds_one_entry_to_the_history(void) {
    static const struct event *const events[] = {&refused, &overloaded, &redirected, &cut_off, &untrusted, &overloaded};
    enum { EVENTS = sizeof events / sizeof events[0] };
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    CHECK_OK(netlib_retry_from_int(EVENTS - 1, 1, NULL, &retry, &err));
    for (size_t i = 0; i < EVENTS; i++) {
        netlib_retry *next = NULL;
        netlib_status status = increment(retry, events[i], &next, &err);
        const netlib_retry *now = i < EVENTS - 1 ? next : netlib_error_retry(err);
        CHECK_INT(i < EVENTS - 1 ? NETLIB_OK : NETLIB_MAX_RETRY, status);
        CHECK_INT((long long)i + 1, (long long)netlib_retry_history_count(now));
        CHECK_INT((long long)i, (long long)netlib_retry_history_count(retry));
        for (size_t e = 0; e <= i; e++) {
            CHECK_STR("GET", netlib_retry_history_method(now, e, NULL));
            CHECK_STR("/p", netlib_retry_history_url(now, e, NULL));
            const netlib_error *error = netlib_retry_history_error(now, e);
            CHECK_INT(events[e]->error, error == NULL ? 0 : netlib_error_status(error));
            CHECK_INT(events[e]->status == 0 ? NETLIB_NONE : events[e]->status, netlib_retry_history_status(now, e));
            CHECK_STR(events[e] == &redirected ? "/x" : NULL, netlib_retry_history_redirect_location(now, e, NULL));
        }
        netlib_error_free(err);
        err = NULL;
        netlib_retry_free(retry);
        retry = next;
    }
}

static void count_sleeps(void *ctx, double seconds, enum netlib_outcome *outcome) {
    (void)seconds;
    ++*(int *)ctx;
    *outcome = NETLIB_OUTCOME_DONE;
}

/* With a backoff factor of 0.1, the successive delays are 0.0, 0.2, 0.4 …, up to backoff_max. With a factor of 0, all
 * delays are 0. */
static void successive_backoff_delays_double_up_to_the_maximum(void) {
    static const double expected[] = {0.0, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0};
    for (int with_factor = 0; with_factor < 2; with_factor++) {
        netlib_error *err = NULL;
        int sleeps = 0;
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_backoff_factor(options, with_factor ? 0.1 : 0);
        netlib_retry_options_set_backoff_max(options, 5);
        netlib_retry_options_set_sleep(options, count_sleeps, &sleeps, NULL);
        netlib_retry *retry = retry_of(options);
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            netlib_retry *next = NULL;
            double seconds = -1;
            CHECK_OK(increment(retry, &refused, &next, &err));
            CHECK_OK(netlib_retry_get_backoff_time(next, &seconds, &err));
            CHECK_DOUBLE(with_factor ? expected[i] : 0, seconds);
            CHECK_OK(netlib_retry_sleep(next, NULL, NULL, &err));
            netlib_retry_free(retry);
            retry = next;
        }
        CHECK_INT(with_factor ? 7 : 0, sleeps);
        netlib_retry_free(retry);
    }
}

/* For the statuses 413, 429 and 503, the delay is the number of seconds in Retry-After, if respect_retry_after_header
 * is set. For other statuses, or without the setting, the delay is the backoff. */
static void retry_after_is_obeyed_only_for_413_429_and_503(void) {
    for (int respect = 0; respect < 2; respect++) {
        netlib_retry_options *options = netlib_retry_options_new();
        netlib_retry_options_set_respect_retry_after_header(options, respect);
        netlib_retry_options_set_backoff_factor(options, 1);
        for (int i = 0; i < 2; i++) netlib_retry_options_add_history(options, NULL, NULL, NULL, 500, NULL);
        netlib_retry *retry = retry_of(options);
        for (int status = 200; status < 600; status++) {
            netlib_error *err = NULL;
            double seconds = -1, uncapped = -1;
            enum netlib_delay_reason reason = NETLIB_DELAY_NONE;
            int32_t is_retry = 0;
            bool counts = respect && (status == 413 || status == 429 || status == 503);
            netlib_response *response = response_of(status, "Retry-After: 9\r\n");
            CHECK_OK(netlib_retry_delay(retry, response, &seconds, &reason, &uncapped, &err));
            CHECK_DOUBLE(counts ? 9 : 2, seconds);
            CHECK_INT(counts ? NETLIB_DELAY_RETRY_AFTER : NETLIB_DELAY_BACKOFF, reason);
            CHECK_OK(netlib_retry_is_retry(retry, "GET", status, 1, &is_retry, &err));
            CHECK(is_retry == counts);
            netlib_response_free(response);
        }
        netlib_retry_free(retry);
    }
}

/* The ctx of the callbacks in one run. The random numbers depend on a seed, and each sleep advances the clock. */
struct world {
    uint64_t seed;
    double now;
};

static uint64_t roll(uint64_t *seed) {
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = (*seed ^ (*seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static int32_t world_random(void *ctx, double *value) {
    *value = (double)(roll(&((struct world *)ctx)->seed) >> 11) / 9007199254740992.0;
    return 0;
}

static int32_t world_now(void *ctx, double *seconds) {
    *seconds = ((struct world *)ctx)->now;
    return 0;
}

static void world_sleep(void *ctx, double seconds, enum netlib_outcome *outcome) {
    ((struct world *)ctx)->now += seconds;
    *outcome = NETLIB_OUTCOME_DONE;
}

enum { STEPS = 400, RECORD = 1 << 18 };

/* The results of a run, written one after the other as bytes. */
struct record {
    unsigned char *bytes;
    size_t used;
};

static void put(struct record *record, const void *bytes, size_t size) {
    if (record->used + size > RECORD) abort();
    memcpy(record->bytes + record->used, bytes, size);
    record->used += size;
}

static void put_text(struct record *record, const char *text) { put(record, text, strlen(text) + 1); }

static void put_int(struct record *record, long long number) { put(record, &number, sizeof number); }

static void put_double(struct record *record, double number) { put(record, &number, sizeof number); }

/* Passes random events to netlib_retry_decide, and records all results. `events` is the seed of the events, and `seed`
 * is the seed of the callbacks. */
static void run(uint64_t events, uint64_t seed, struct record *record) {
    static const char *const fields[] = {
        "Retry-After: 3\r\n",
        "Retry-After: Tue, 14 Nov 2023 23:00:00 GMT\r\n",
        "Location: /next\r\n",
        "Location: http://other.test/\r\n",
        "",
    };
    static const int statuses[] = {200, 301, 303, 307, 429, 500, 503};
    static const int32_t codes[] = {500, 503};
    static const int32_t errors[] = {NETLIB_CONNECT_FAILED, NETLIB_READ_TIMEOUT, NETLIB_CERTIFICATE_VERIFY};
    struct world world = {seed, 1700000000.25};
    netlib_retry *retry = NULL;
    netlib_url *url = NULL;
    for (int step = 0; step < STEPS; step++) {
        netlib_error *err = NULL;
        netlib_decision *decision = NULL;
        if (retry == NULL) {
            netlib_retry_options *options = netlib_retry_options_new();
            netlib_retry_options_set_status_forcelist(options, codes, 2);
            netlib_retry_options_set_backoff_factor(options, 0.1);
            netlib_retry_options_set_backoff_jitter(options, 0.7);
            netlib_retry_options_set_wall_clock(options, world_now, &world, NULL);
            netlib_retry_options_set_sleep(options, world_sleep, &world, NULL);
            netlib_retry_options_set_random(options, world_random, &world, NULL);
            retry = retry_of(options);
            CHECK_OK(netlib_parse_url("http://first.test/", NETLIB_NTS, &url, &err));
        }
        bool failed = roll(&events) % 2 == 0;
        netlib_error *error = failed ? error_of(errors[roll(&events) % 3], NULL) : NULL;
        netlib_response *response = failed ? NULL : response_of(statuses[roll(&events) % 7], fields[roll(&events) % 5]);
        netlib_status status = netlib_retry_decide(retry, "GET", url, response, error, NULL, &decision, &err);
        put_int(record, status);
        put_text(record, err != NULL ? netlib_error_message(err, NULL) : "");
        netlib_error_free(err);
        err = NULL;
        netlib_response_free(response);
        netlib_error_free(error);
        bool continues = status == NETLIB_OK && netlib_decision_action(decision) != NETLIB_ACTION_RETURN_RESPONSE;
        if (continues) {
            CHECK_OK(netlib_decision_sleep(decision, NULL, &err));
            put_int(record, netlib_decision_action(decision));
            put_int(record, netlib_decision_counter(decision));
            put_double(record, netlib_decision_delay(decision));
            put_double(record, netlib_decision_delay_uncapped(decision));
            put_int(record, netlib_decision_delay_reason(decision));
            put_text(record, netlib_url_to_string(netlib_decision_url(decision), NULL));
            put_int(record, (long long)netlib_decision_dropped_header_count(decision));
            put_double(record, world.now);
        }
        netlib_retry *next = continues ? netlib_retry_clone(netlib_decision_retry(decision)) : NULL;
        netlib_url *next_url = continues ? netlib_url_clone(netlib_decision_url(decision)) : NULL;
        if (next != NULL) {
            put_int(record, netlib_retry_total_left(next));
            put_int(record, (long long)netlib_retry_history_count(next));
        }
        netlib_retry_free(retry);
        netlib_url_free(url);
        netlib_decision_free(decision);
        retry = next;
        url = next_url;
    }
    netlib_retry_free(retry);
    netlib_url_free(url);
}

static void random_retry_runs_with_the_same_seed_have_identical_results(void) {
    struct record records[4];
    static const uint64_t seeds[4][2] = {{1, 2}, {1, 2}, {1, 3}, {4, 2}};
    for (int i = 0; i < 4; i++) {
        records[i] = (struct record){malloc(RECORD), 0};
        if (records[i].bytes == NULL) abort();
        run(seeds[i][0], seeds[i][1], &records[i]);
    }
    CHECK(records[0].used > 10000);
    CHECK(records[0].used == records[1].used && memcmp(records[0].bytes, records[1].bytes, records[0].used) == 0);
    /* Another seed of the callbacks leads to different delays for the same events. Another seed of the events leads to
     * a different run. */
    CHECK(records[0].used != records[2].used || memcmp(records[0].bytes, records[2].bytes, records[0].used) != 0);
    CHECK(records[0].used != records[3].used || memcmp(records[0].bytes, records[3].bytes, records[0].used) != 0);
    for (int i = 0; i < 4; i++) free(records[i].bytes);
}

int main(void) {
    each_retry_count_limits_its_own_kind_of_failure();
    only_statuses_301_302_303_307_308_with_a_location_are_redirects();
    each_failure_is_returned_without_a_retry_if_the_total_is_disabled();
    each_retry_increment_adds_one_entry_to_the_history();
    successive_backoff_delays_double_up_to_the_maximum();
    retry_after_is_obeyed_only_for_413_429_and_503();
    random_retry_runs_with_the_same_seed_have_identical_results();
    return report("retry_rows");
}
