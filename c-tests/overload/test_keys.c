/* Tests that each function of overload protection that takes a key refuses a key that is too long, with a message that
 * names the parameter. */
#include "harness.h"

struct objects {
    netlib_retry_budget *budget;
    netlib_breaker *breaker;
    netlib_hedge *hedge;
    netlib_rate *limit, *adaptive;
};

static netlib_status ask_budget(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    uint64_t lease = 7;
    netlib_status status = netlib_retry_budget_ask(objects->budget, key, len, NETLIB_BUDGET_TRANSIENT, &lease, err);
    CHECK((lease != 0) == (status == NETLIB_OK));
    CHECK((netlib_retry_budget_left(objects->budget, key, len) >= 0) == (status == NETLIB_OK));
    return status;
}

static netlib_status ask_breaker(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    uint64_t permit = 7;
    double seconds = 7;
    netlib_status status = netlib_breaker_ask(objects->breaker, key, len, &permit, &seconds, err);
    CHECK((permit != 0) == (status == NETLIB_OK));
    CHECK_DOUBLE(0, seconds);
    return status;
}

static netlib_status read_state(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    enum netlib_circuit_state state = NETLIB_CIRCUIT_OPEN;
    netlib_status status = netlib_breaker_state(objects->breaker, key, len, &state, err);
    CHECK_INT(NETLIB_CIRCUIT_CLOSED, state);
    return status;
}

static netlib_status start_hedge(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    netlib_hedge_plan *plan = NULL;
    netlib_status status = netlib_hedge_start(objects->hedge, key, len, "GET", &plan, err);
    CHECK((plan != NULL) == (status == NETLIB_OK));
    CHECK_DOUBLE(NETLIB_TIMEOUT_NONE, netlib_hedge_delay(objects->hedge, key, len));
    netlib_hedge_plan_free(plan);
    return status;
}

static netlib_status take_limit(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    double wait = 7;
    netlib_status status = netlib_rate_take(objects->limit, key, len, 1, &wait, err);
    CHECK_DOUBLE(0, wait);
    return status;
}

static netlib_status take_adaptive(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    double wait = 7;
    netlib_status status = netlib_rate_take(objects->adaptive, key, len, 1, &wait, err);
    CHECK_DOUBLE(0, wait);
    return status;
}

static netlib_status report_rate(const struct objects *objects, const char *key, size_t len, netlib_error **err) {
    return netlib_rate_report(objects->adaptive, key, len, NETLIB_REPORT_SUCCESS, err);
}

static void each_function_refuses_a_key_of_more_than_1024_bytes_by_name(void) {
    enum { LONGEST = 1024, BUFFER = 1 << 20 };
    static const struct {
        const char *name;
        netlib_status (*call)(const struct objects *objects, const char *key, size_t len, netlib_error **err);
    } functions[] = {
        {"netlib_retry_budget_ask", ask_budget}, {"netlib_breaker_ask", ask_breaker},
        {"netlib_breaker_state", read_state},    {"netlib_hedge_start", start_hedge},
        {"netlib_rate_take", take_limit},        {"netlib_rate_take, adaptive", take_adaptive},
        {"netlib_rate_report", report_rate},
    };
    /* A length above SIZE_MAX / 2 is refused before a byte is read. */
    static const struct {
        size_t len;
        const char *message; /* NULL: the key is accepted */
    } rows[] = {
        {0, NULL},
        {LONGEST, NULL},
        {LONGEST + 1, "key has 1025 bytes; it must have at most 1024"},
        {BUFFER, "key has 1048576 bytes; it must have at most 1024"},
        {SIZE_MAX / 2 + 1, "len is larger than any object: 9223372036854775808"},
        {SIZE_MAX - 1, "len is larger than any object: 18446744073709551614"},
    };
    netlib_error *err = NULL;
    struct objects objects = {0};
    char *key = calloc(1, BUFFER);
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, 1000, 1000);
    CHECK_OK(netlib_retry_budget_new(NULL, &objects.budget, &err));
    CHECK_OK(netlib_breaker_new(NULL, &objects.breaker, &err));
    CHECK_OK(netlib_hedge_new(NULL, &objects.hedge, &err));
    CHECK_OK(netlib_rate_new(options, &objects.limit, &err));
    CHECK_OK(netlib_rate_new(NULL, &objects.adaptive, &err));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        unsigned long failed = checks_failed;
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            if (sizeof(size_t) < 8 && rows[j].len > BUFFER) continue;
            CHECK_INT(rows[j].message == NULL ? NETLIB_OK : NETLIB_INVALID_ARGUMENT,
                      functions[i].call(&objects, key, rows[j].len, &err));
            CHECK_STR(rows[j].message, netlib_error_message(err, NULL));
            netlib_error_free(err), err = NULL;
        }
        if (checks_failed > failed) fprintf(stderr, "    in %s\n", functions[i].name);
    }
    netlib_rate_options_free(options);
    netlib_rate_free(objects.adaptive), netlib_rate_free(objects.limit);
    netlib_hedge_free(objects.hedge), netlib_breaker_free(objects.breaker);
    netlib_retry_budget_free(objects.budget);
    free(key);
}

int main(void) {
    each_function_refuses_a_key_of_more_than_1024_bytes_by_name();
    return report("keys");
}
