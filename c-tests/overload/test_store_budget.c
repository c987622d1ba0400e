/* Tests retry budgets whose tokens are in a store: the calls that access the store, the arguments of its callback, and
 * stores that are unavailable or answer wrongly. */
#define _GNU_SOURCE
#include "forks.h"
#include "harness.h"
#include "memory_store.h"
#include "retry_makers.h"

#include <fcntl.h>

static netlib_retry_budget *make_budget(const netlib_store *store, enum netlib_unavailable policy) {
    netlib_error *err = NULL;
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_tokens(options, 50.0, 14.0, 5.0, 1.0);
    netlib_retry_budget_options_set_store(options, store, policy);
    CHECK_OK(netlib_retry_budget_new(options, &budget, &err));
    netlib_retry_budget_options_free(options);
    return budget;
}

static netlib_status ask(netlib_retry_budget *budget, const char *key, enum netlib_budget_kind kind, uint64_t *lease) {
    netlib_error *err = NULL;
    netlib_status status = netlib_retry_budget_ask(budget, key, NETLIB_NTS, kind, lease, &err);
    CHECK_INT(status, netlib_error_status(err));
    netlib_error_free(err);
    return status;
}

static double left(netlib_retry_budget *budget, const char *key) {
    return netlib_retry_budget_left(budget, key, NETLIB_NTS);
}

static void budgets_with_a_store_share_tokens(void) {
    struct memory_store memory;
    netlib_store *store = make_memory_store(&memory, 1.0);
    netlib_retry_budget *one = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
    netlib_retry_budget *other = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
    netlib_store_free(store);
    uint64_t lease;
    CHECK_INT(NETLIB_OK, ask(one, "a", NETLIB_BUDGET_TRANSIENT, &lease));
    CHECK_INT(NETLIB_OK, ask(other, "a", NETLIB_BUDGET_THROTTLING, &lease));
    CHECK_INT(NETLIB_OK, ask(one, "a", NETLIB_BUDGET_HEDGE, &lease));
    CHECK_DOUBLE(17.0, left(one, "a"));
    CHECK_DOUBLE(31.0, left(other, "a"));
    CHECK_INT(NETLIB_OK, ask(other, "a", NETLIB_BUDGET_TRANSIENT, &lease));
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, ask(one, "a", NETLIB_BUDGET_THROTTLING, &lease));
    CHECK_DOUBLE(3.0, left(one, "a"));
    CHECK_INT(NETLIB_OK, ask(one, "b", NETLIB_BUDGET_TRANSIENT, &lease));
    CHECK_INT(2, memory.count);
    CHECK_STR("budget:a", memory.keys[0]);
    CHECK_STR("budget:b", memory.keys[1]);
    netlib_retry_budget_free(one);
    CHECK_INT(0, memory.freed);
    netlib_retry_budget_free(other);
    CHECK_INT(1, memory.freed);
}

static void only_retries_access_the_store(void) {
    struct memory_store memory;
    netlib_store *store = make_memory_store(&memory, 1.0);
    netlib_retry_budget *budget = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
    uint64_t first, retry;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_REQUEST, &first));
        netlib_retry_budget_report(budget, first, NETLIB_REPORT_SUCCESS);
    }
    CHECK_INT(0, memory.calls);
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &retry));
    CHECK_INT(2, memory.calls);
    CHECK(memory.expected == 0 && memory.desired == 36001);
    CHECK_DOUBLE(3600.0, memory.ttl);
    CHECK(memory.timeout > 0.0 && memory.timeout <= 1.0);
    netlib_retry_budget_report(budget, retry, NETLIB_REPORT_FAILURE);
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &retry));
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &retry));
    CHECK(memory.expected == 22001 && memory.desired == 8001);
    /* A denial calls the callback once, because it changes nothing. */
    memory.calls = 0;
    uint64_t denied;
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &denied));
    CHECK_INT(1, memory.calls);
    /* The tokens that successes add reach the store with the next retry. */
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_REQUEST, &first));
    netlib_retry_budget_report(budget, first, NETLIB_REPORT_SUCCESS);
    netlib_retry_budget_report(budget, retry, NETLIB_REPORT_SUCCESS);
    CHECK_INT(1, memory.calls);
    CHECK(memory.words[0] == 8001);
    CHECK_DOUBLE(23.0, left(budget, "a"));
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_THROTTLING, &retry));
    CHECK(memory.words[0] == 18001);
    netlib_retry_budget_free(budget);
    netlib_store_free(store);
}

static void the_policy_decides_while_the_store_is_unavailable(void) {
    static const struct {
        enum netlib_unavailable policy;
        netlib_status statuses[4];
    } rows[] = {
        {NETLIB_UNAVAILABLE_LOCAL, {NETLIB_OK, NETLIB_OK, NETLIB_OK, NETLIB_RETRY_BUDGET_EMPTY}},
        {NETLIB_UNAVAILABLE_OPEN, {NETLIB_OK, NETLIB_OK, NETLIB_OK, NETLIB_OK}},
        {NETLIB_UNAVAILABLE_CLOSED,
         {NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_retry_budget *budget = make_budget(store, rows[i].policy);
        uint64_t lease;
        memory.answer = NETLIB_SWAP_UNAVAILABLE;
        for (int j = 0; j < 4; j++) CHECK_INT(rows[i].statuses[j], ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
        CHECK_INT(4, memory.calls);
        CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_REQUEST, &lease));
        /* The store is used again as soon as it answers. */
        memory.answer = -1;
        CHECK_INT(NETLIB_OK, ask(budget, "b", NETLIB_BUDGET_TRANSIENT, &lease));
        CHECK(memory.words[0] == 36001);
        netlib_retry_budget_free(budget);
        netlib_store_free(store);
    }
}

/* While the store is unavailable, the policy OPEN grants a retry below the floor, and the retry takes no token. */
/* A store that is unavailable during `failures` calls. Each of these calls takes so long that 28 requests succeed
 * meanwhile. */
struct slow_store {
    struct memory_store memory;
    netlib_retry_budget *budget;
    int failures;
};

static void slow_swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                      double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    struct slow_store *slow = ctx;
    if (slow->failures == 0) {
        memory_swap(&slow->memory, key, len, expected, desired, ttl, timeout, answer, actual, now);
        return;
    }
    slow->failures--;
    for (int i = 0; i < 28; i++) {
        uint64_t lease;
        CHECK_INT(NETLIB_OK, ask(slow->budget, "a", NETLIB_BUDGET_REQUEST, &lease));
        netlib_retry_budget_report(slow->budget, lease, NETLIB_REPORT_SUCCESS);
    }
    *answer = NETLIB_SWAP_UNAVAILABLE;
}

/* One exchange with the store adds at most 28 tokens, the cost of two retries. */
static void a_process_pays_one_maximum_into_a_store_that_is_available_again(void) {
    static const enum netlib_unavailable policies[] = {NETLIB_UNAVAILABLE_CLOSED, NETLIB_UNAVAILABLE_LOCAL};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct slow_store slow = {.memory = {.answer = -1, .now = 1000.0}};
        netlib_error *err = NULL;
        netlib_store *store = NULL;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new(); /* 500 tokens, a retry costs 14 */
        CHECK_OK(netlib_store_new(slow_swap, 1.0, &slow, NULL, &store, &err));
        netlib_retry_budget_options_set_store(options, store, policies[i]);
        CHECK_OK(netlib_retry_budget_new(options, &slow.budget, &err));
        netlib_retry_budget_options_free(options);
        netlib_store_free(store);
        uint64_t lease;
        *memory_word(&slow.memory, "budget:a", 8) = 10001; /* 10 tokens */
        CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, ask(slow.budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
        slow.failures = 15;
        while (slow.failures > 0) (void)ask(slow.budget, "a", NETLIB_BUDGET_TRANSIENT, &lease);
        CHECK_INT(NETLIB_OK, ask(slow.budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
        CHECK(slow.memory.words[0] <= 24001);
        if (policies[i] == NETLIB_UNAVAILABLE_CLOSED) CHECK_DOUBLE(24.0, left(slow.budget, "a"));
        int granted = 1;
        while (granted < 100 && ask(slow.budget, "a", NETLIB_BUDGET_TRANSIENT, &lease) == NETLIB_OK) granted++;
        CHECK_INT(policies[i] == NETLIB_UNAVAILABLE_CLOSED ? 2 : 1, granted);
        netlib_retry_budget_free(slow.budget);
    }
}

static void an_open_budget_of_failure_tokens_takes_tokens_for_failures_only(void) {
    struct memory_store memory;
    netlib_error *err = NULL;
    netlib_store *store = make_memory_store(&memory, 1.0);
    netlib_retry_budget *budget = NULL;
    netlib_retry_budget_options *options = netlib_retry_budget_options_new();
    netlib_retry_budget_options_set_failure_tokens(options, 10.0, 1.0, 0.5);
    netlib_retry_budget_options_set_store(options, store, NETLIB_UNAVAILABLE_OPEN);
    CHECK_OK(netlib_retry_budget_new(options, &budget, &err));
    netlib_retry_budget_options_free(options);
    uint64_t lease;
    for (int i = 0; i < 6; i++) {
        CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_REQUEST, &lease));
        netlib_retry_budget_report(budget, lease, NETLIB_REPORT_FAILURE);
    }
    memory.answer = NETLIB_SWAP_UNAVAILABLE;
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
    CHECK_DOUBLE(4.0, left(budget, "a"));
    memory.answer = -1;
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
    CHECK(memory.words[0] == 4001);
    netlib_retry_budget_free(budget);
    netlib_store_free(store);
}

static void wrong_answers_of_the_callback_fail_the_call_under_every_policy(void) {
    static const struct {
        int answer;
        bool keeps_actual, keeps_now;
        double now;
        const char *message;
    } rows[] = {
        {NETLIB_SWAP_FAILED, false, false, 1.0, "the swap callback failed: it stored no decision"},
        {4, false, false, 1.0, "the swap callback stored 4; it must store a netlib_swap"},
        {-1000, false, false, 1.0, "the swap callback stored -1000; it must store a netlib_swap"},
        {-1, true, false, 1.0, "the swap callback reported that the word changed from 0 to 0"},
        {-1, false, true, 1.0, "the swap callback reported the time NaN; it must report 0 to 18000000000 seconds"},
        {-1, false, false, -1.0, "the swap callback reported the time -1; it must report 0 to 18000000000 seconds"},
        {-1, false, false, HUGE_VAL,
         "the swap callback reported the time inf; it must report 0 to 18000000000 seconds"},
    };
    for (int policy = NETLIB_UNAVAILABLE_LOCAL; policy <= NETLIB_UNAVAILABLE_CLOSED; policy++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct memory_store memory;
            netlib_store *store = make_memory_store(&memory, 1.0);
            netlib_retry_budget *budget = make_budget(store, (enum netlib_unavailable)policy);
            *memory_word(&memory, "budget:a", 8) = 40001;
            memory.answer = rows[i].answer, memory.now = rows[i].now;
            memory.keeps_actual = rows[i].keeps_actual, memory.keeps_now = rows[i].keeps_now;
            netlib_error *err = NULL;
            uint64_t lease = 1;
            CHECK_INT(NETLIB_CALLBACK_FAILED,
                      netlib_retry_budget_ask(budget, "a", 1, NETLIB_BUDGET_TRANSIENT, &lease, &err));
            CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
            CHECK(lease == 0 && memory.calls == 1 && memory.words[0] == 40001);
            netlib_error_free(err);
            netlib_retry_budget_free(budget);
            netlib_store_free(store);
        }
    }
}

static void a_word_that_others_change_each_time_makes_the_store_unavailable_after_64_calls(void) {
    struct memory_store memory;
    netlib_store *store = make_memory_store(&memory, 1.0);
    netlib_retry_budget *budget = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
    uint64_t lease;
    memory.changes = 63;
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_THROTTLING, &lease));
    CHECK_INT(64, memory.calls);
    memory.calls = 0, memory.changes = 1000;
    CHECK_INT(NETLIB_STORE_UNAVAILABLE, ask(budget, "a", NETLIB_BUDGET_THROTTLING, &lease));
    CHECK_INT(64, memory.calls);
    netlib_retry_budget_free(budget);
    netlib_store_free(store);
}

static void words_that_no_budget_wrote_count_as_full(void) {
    static const uint64_t words[] = {50002, UINT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 32};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_retry_budget *budget = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
        uint64_t lease;
        *memory_word(&memory, "budget:a", 8) = words[i];
        CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
        CHECK(memory.words[0] == 36001);
        netlib_retry_budget_free(budget);
        netlib_store_free(store);
    }
}

static void budgets_without_a_bucket_of_tokens_refuse_a_store(void) {
    for (int mode = 0; mode < 4; mode++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_error *err = NULL;
        netlib_retry_budget *budget = NULL;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_store(options, store, NETLIB_UNAVAILABLE_LOCAL);
        if (mode == 0) netlib_retry_budget_options_set_window(options, 0.2, 10.0, 10.0);
        if (mode == 1) netlib_retry_budget_options_set_in_flight(options, 0.2, 3);
        if (mode == 2) netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_FINAGLE);
        if (mode == 3) netlib_retry_budget_options_set_preset(options, NETLIB_BUDGET_ENVOY);
        CHECK_INT(NETLIB_UNSUPPORTED, netlib_retry_budget_new(options, &budget, &err));
        CHECK_STR("netlib_retry_budget_options_set_store: a store keeps only buckets of tokens, and the options choose "
                  "another rule",
                  netlib_error_message(err, NULL));
        netlib_error_free(err), err = NULL;
        netlib_retry_budget_options_set_store(options, NULL, NETLIB_UNAVAILABLE_LOCAL);
        CHECK_OK(netlib_retry_budget_new(options, &budget, &err));
        netlib_retry_budget_free(budget);
        netlib_retry_budget_options_free(options);
        netlib_store_free(store);
        CHECK_INT(1, memory.freed);
    }
}

static void an_unknown_policy_is_refused_by_name(void) {
    static const struct {
        int policy;
        const char *message;
    } rows[] = {
        {3, "netlib_retry_budget_options_set_store: unavailable must be a netlib_unavailable; it is 3"},
        {-1, "netlib_retry_budget_options_set_store: unavailable must be a netlib_unavailable; it is -1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_store memory;
        netlib_store *store = make_memory_store(&memory, 1.0);
        netlib_error *err = NULL;
        netlib_retry_budget *budget = NULL;
        netlib_retry_budget_options *options = netlib_retry_budget_options_new();
        netlib_retry_budget_options_set_store(options, store, (enum netlib_unavailable)rows[i].policy);
        CHECK_INT(NETLIB_INVALID_ARGUMENT, netlib_retry_budget_new(options, &budget, &err));
        CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        netlib_error_free(err), err = NULL;
        /* A later call replaces the refused value. */
        netlib_retry_budget_options_set_store(options, store, NETLIB_UNAVAILABLE_CLOSED);
        CHECK_OK(netlib_retry_budget_options_check(options, &err));
        netlib_retry_budget_options_free(options);
        netlib_store_free(store);
        CHECK_INT(1, memory.freed);
    }
}

/* The timeout of the callback is the rest of the store's timeout or of the limit, whichever ends first. */
static void the_limit_of_a_decision_bounds_the_time_that_the_store_gets(void) {
    static const struct {
        double limit, timeout, longest;
    } rows[] = {{NETLIB_TIMEOUT_NONE, 30.0, 30.0}, {20.0, 30.0, 20.0}, {40.0, 30.0, 30.0}};
    static const int32_t statuses[] = {503};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int cancelled = 0; cancelled < 2; cancelled++) {
            struct memory_store memory;
            netlib_store *store = make_memory_store(&memory, rows[i].timeout);
            netlib_retry_budget *budget = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
            netlib_error *err = NULL;
            netlib_limit *limit = NULL;
            netlib_decision *decision = NULL;
            netlib_retry_options *options = netlib_retry_options_new();
            netlib_retry_options_set_status_forcelist(options, statuses, 1);
            netlib_retry_options_set_budget(options, budget, "a");
            netlib_retry *retry = retry_of(options);
            netlib_url *url = url_of("http://h/");
            netlib_response *response = response_of(503, "");
            CHECK_OK(netlib_limit_new(rows[i].limit, NULL, &limit, &err));
            if (cancelled) netlib_limit_cancel(limit);
            CHECK_INT(cancelled ? NETLIB_CANCELLED : NETLIB_OK,
                      netlib_retry_decide(retry, "GET", url, response, NULL, limit, &decision, &err));
            if (cancelled) {
                /* An ended limit costs no tokens. */
                CHECK_INT(0, memory.calls);
                CHECK_DOUBLE(50.0, left(budget, "a"));
                netlib_error_free(err);
            } else {
                CHECK_INT(2, memory.calls);
                CHECK(memory.timeout <= rows[i].longest && memory.timeout > rows[i].longest - 10.0);
                CHECK_DOUBLE(36.0, left(budget, "a"));
            }
            netlib_decision_free(decision);
            netlib_limit_free(limit);
            netlib_response_free(response);
            netlib_url_free(url);
            netlib_retry_free(retry);
            netlib_retry_budget_free(budget);
            netlib_store_free(store);
        }
    }
}

static char path[64];

static void a_child_process_shares_the_tokens_of_a_file(void) {
    char directory[] = "/tmp/netlib-store-XXXXXX";
    if (mkdtemp(directory) == NULL) abort();
    snprintf(path, sizeof path, "%s/words", directory);
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    CHECK_OK(netlib_store_file(path, 1, &store, &err));
    netlib_retry_budget *budget = make_budget(store, NETLIB_UNAVAILABLE_CLOSED);
    uint64_t lease;
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease));
    struct child child = begin_child();
    if (child.process == 0) {
        /* One retry with the inherited handle, one with a handle of its own, and one of a key with the same slot. */
        child.results[0] = ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease);
        netlib_store *reopened = NULL;
        child.results[1] = netlib_store_file(path, 1, &reopened, NULL);
        child.results[2] = ask(make_budget(reopened, NETLIB_UNAVAILABLE_CLOSED), "b", NETLIB_BUDGET_TRANSIENT, &lease);
        child.results[3] = ask(budget, "a", NETLIB_BUDGET_TRANSIENT, &lease);
        end_child();
    }
    join_child(&child);
    CHECK_INT(NETLIB_OK, child.results[0]);
    CHECK_INT(NETLIB_OK, child.results[1]);
    CHECK_INT(NETLIB_OK, child.results[2]);
    CHECK_INT(NETLIB_RETRY_BUDGET_EMPTY, child.results[3]);
    drop_child(&child);
    CHECK_INT(NETLIB_OK, ask(budget, "a", NETLIB_BUDGET_THROTTLING, &lease));
    CHECK_DOUBLE(3.0, left(budget, "a"));
    netlib_retry_budget_free(budget);
    netlib_store_free(store);
    unlink(path), rmdir(directory);
}

int main(void) {
    alarm(60);
    budgets_with_a_store_share_tokens();
    only_retries_access_the_store();
    the_policy_decides_while_the_store_is_unavailable();
    a_process_pays_one_maximum_into_a_store_that_is_available_again();
    an_open_budget_of_failure_tokens_takes_tokens_for_failures_only();
    wrong_answers_of_the_callback_fail_the_call_under_every_policy();
    a_word_that_others_change_each_time_makes_the_store_unavailable_after_64_calls();
    words_that_no_budget_wrote_count_as_full();
    budgets_without_a_bucket_of_tokens_refuse_a_store();
    an_unknown_policy_is_refused_by_name();
    the_limit_of_a_decision_bounds_the_time_that_the_store_gets();
    a_child_process_shares_the_tokens_of_a_file();
    return report("store budget");
}
