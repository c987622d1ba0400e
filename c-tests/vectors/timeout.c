/* Tests the functions netlib_timeout_* with a clock callback. */
#include "vectors.h"

static int32_t read_clock(void *ctx, double *seconds) {
    *seconds = *(const double *)ctx;
    return 0;
}

static double number_of(const char *word) {
    if (strcmp(word, "-") == 0) return NETLIB_TIMEOUT_NONE;
    if (strcmp(word, "D") == 0) return NETLIB_TIMEOUT_DEFAULT;
    if (strcmp(word, "T") == 0) return true;
    if (strcmp(word, "F") == 0) return false;
    return strtod(word, NULL);
}

static void put_answer(vectors_out *out, const netlib_timeout *timeout,
                       netlib_status (*getter)(const netlib_timeout *, double *, netlib_error **)) {
    netlib_error *err = NULL;
    double seconds = 0;
    netlib_status status = getter(timeout, &seconds, &err);
    CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_TIMEOUT_STATE_ERROR, status);
    if (status != NETLIB_OK) {
        put(out, "state");
    } else if (seconds < 0) {
        CHECK_DOUBLE(NETLIB_TIMEOUT_DEFAULT, seconds);
        put(out, "D");
    } else if (isinf(seconds)) {
        put(out, "-");
    } else {
        put_double(out, seconds);
    }
}

static netlib_status connect_timeout(const netlib_timeout *timeout, double *seconds, netlib_error **err) {
    (void)err;
    *seconds = netlib_timeout_connect_timeout(timeout);
    return NETLIB_OK;
}

static void put_answers(vectors_out *out, const netlib_timeout *timeout) {
    put_answer(out, timeout, connect_timeout);
    put_answer(out, timeout, netlib_timeout_read_timeout);
    put_answer(out, timeout, netlib_timeout_get_connect_duration);
    end_line(out);
}

/* Writes the names of the values that netlib refuses if only that value is set. */
static void put_refused(vectors_out *out, const double *values, bool is_float) {
    static const char *const fields[] = {"total", "connect", "read"};
    put(out, "refused");
    for (size_t i = 0; i < (is_float ? 1 : 3); i++) {
        netlib_error *err = NULL;
        netlib_timeout *timeout = NULL;
        double each[] = {NETLIB_TIMEOUT_NONE, NETLIB_TIMEOUT_NONE, NETLIB_TIMEOUT_NONE};
        const char *field = is_float ? "timeout" : fields[i];
        each[i] = values[i];
        netlib_status status = is_float ? netlib_timeout_from_float(values[0], &timeout, &err)
                                        : netlib_timeout_new(each[0], each[1], each[2], &timeout, &err);
        if (status != NETLIB_OK) {
            CHECK(strncmp(netlib_error_message(err, NULL), field, strlen(field)) == 0);
            put(out, field);
        }
        CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_INVALID_ARGUMENT, status);
        netlib_timeout_free(timeout);
    }
}

static void answer(char *input, vectors_out *out) {
    static const double later[] = {0, 0.5, 4, 1000};
    netlib_error *err = NULL;
    netlib_timeout *timeout = NULL;
    double clock = 100, values[3] = {0};
    bool is_float = strcmp(next_word(&input), "float") == 0;
    for (size_t i = 0; i < (is_float ? 1 : 3); i++) values[i] = number_of(next_word(&input));
    netlib_status status = is_float ? netlib_timeout_from_float(values[0], &timeout, &err)
                                    : netlib_timeout_new(values[0], values[1], values[2], &timeout, &err);
    CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_INVALID_ARGUMENT, status);
    if (status != NETLIB_OK) {
        put_refused(out, values, is_float);
        return;
    }
    CHECK_OK(netlib_timeout_set_clock(timeout, read_clock, &clock, NULL, &err));
    put_answers(out, timeout);
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    status = netlib_timeout_start_connect(timeout, &err);
    put(out, status == NETLIB_TIMEOUT_STATE_ERROR ? "state" : "started twice");
    CHECK_STATUS(status, status);
    end_line(out);
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        clock = 100 + later[i];
        put_answers(out, timeout);
    }
    netlib_timeout *clone = netlib_timeout_clone(timeout);
    put_answer(out, clone, netlib_timeout_read_timeout);
    put_answer(out, clone, netlib_timeout_get_connect_duration);
    netlib_timeout_free(clone);
    netlib_timeout_free(timeout);
}

int main(int argc, char **argv) { return vectors_main("timeout", answer, argc, argv); }
