/* Tests a limit of netlib_rate that processes share in a store. */
#include "rate_makers.h"

/* A store with one word. */
struct word {
    uint64_t value;
    double now, ttl;
    int calls, freed;
    char key[32];
    bool is_unavailable;
};

static void swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                 double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    struct word *word = ctx;
    CHECK(timeout > 0 && timeout <= 60);
    word->calls++;
    word->ttl = ttl;
    snprintf(word->key, sizeof word->key, "%.*s", (int)len, key);
    if (word->is_unavailable) {
        *answer = NETLIB_SWAP_UNAVAILABLE;
        return;
    }
    *now = word->now;
    *actual = word->value;
    *answer = word->value == expected ? NETLIB_SWAP_SWAPPED : NETLIB_SWAP_CHANGED;
    if (word->value == expected) word->value = desired;
}

static void count_free(void *ctx) { ((struct word *)ctx)->freed++; }

/* Makes a limit in a store that keeps its word in `word`. `clock` is the time of the process. */
static netlib_rate *shared(struct word *word, double *clock, enum netlib_unavailable unavailable) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    CHECK_OK(netlib_store_new(swap, 60, word, count_free, &store, &err));
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, 2, 4);
    netlib_rate_options_set_store(options, store, unavailable);
    netlib_store_free(store);
    return rate_of(options, clock);
}

static void two_processes_share_the_word_of_a_key(void) {
    struct word word = {.now = 1000};
    double clock = 0;
    netlib_rate *first = shared(&word, &clock, NETLIB_UNAVAILABLE_LOCAL);
    netlib_rate *second = shared(&word, &clock, NETLIB_UNAVAILABLE_LOCAL);
    CHECK_DOUBLE(0, take(first, "k", 3));
    CHECK_INT(2, word.calls); /* one reads the word, and one changes it */
    CHECK_STR("rate:k", word.key);
    CHECK_DOUBLE(2, word.ttl); /* 4 permissions at 2 per second */
    CHECK_DOUBLE(0, take(second, "k", 1));
    CHECK_DOUBLE(0.5, take(first, "k", 1));
    /* The clock of the store measures the time; the clock of the process has no effect. */
    clock += 100;
    CHECK_DOUBLE(0.5, take(second, "k", 1));
    word.now += 0.5;
    CHECK_DOUBLE(0, take(first, "k", 1));
    CHECK_DOUBLE(0.5, take(second, "k", 1));
    /* A denied request does not change the word, and reads it once. */
    int calls = word.calls;
    uint64_t value = word.value;
    CHECK_DOUBLE(1.5, take(first, "k", 3));
    CHECK_INT(calls + 1, word.calls);
    CHECK(value == word.value);
    /* A clock that was set back by more than a second: the key is empty at that time. */
    word.now -= 500;
    CHECK_DOUBLE(0.5, take(first, "k", 1));
    word.now += 0.5;
    CHECK_DOUBLE(0, take(first, "k", 1));
    /* If the store has lost a word, the key is full. */
    word.value = 0;
    CHECK_DOUBLE(0, take(second, "k", 4));
    netlib_rate_free(first);
    CHECK_INT(1, word.freed);
    netlib_rate_free(second);
    CHECK_INT(2, word.freed);
}

static void the_policy_decides_until_the_store_answers_again(void) {
    static const struct {
        enum netlib_unavailable policy;
        netlib_status statuses[6];
    } rows[] = {
        {NETLIB_UNAVAILABLE_LOCAL, {0, 0, 0, 0, NETLIB_RATE_LIMITED, NETLIB_RATE_LIMITED}},
        {NETLIB_UNAVAILABLE_OPEN, {0, 0, 0, 0, 0, 0}},
        {NETLIB_UNAVAILABLE_CLOSED,
         {NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE,
          NETLIB_STORE_UNAVAILABLE, NETLIB_STORE_UNAVAILABLE}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct word word = {.now = 1000};
        double clock = 0, wait = 7;
        netlib_rate *rate = shared(&word, &clock, rows[i].policy);
        CHECK_DOUBLE(0, take(rate, "k", 4));
        CHECK_DOUBLE(0.5, take(rate, "k", 1));
        /* The state of the process starts full. */
        word.is_unavailable = true;
        for (size_t j = 0; j < 6; j++) {
            netlib_error *err = NULL;
            CHECK_INT(rows[i].statuses[j], netlib_rate_take(rate, "k", 1, 1, &wait, &err));
            CHECK((err != NULL) == (rows[i].statuses[j] == NETLIB_STORE_UNAVAILABLE));
            CHECK_DOUBLE(rows[i].statuses[j] == NETLIB_RATE_LIMITED ? 0.5 : 0, wait);
            netlib_error_free(err);
        }
        /* As soon as the store answers, the word counts again. */
        word.is_unavailable = false;
        CHECK_DOUBLE(0.5, take(rate, "k", 1));
        netlib_rate_free(rate);
    }
}

int main(void) {
    two_processes_share_the_word_of_a_key();
    the_policy_decides_until_the_store_answers_again();
    return report("rate_store");
}
