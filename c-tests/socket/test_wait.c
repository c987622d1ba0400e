/* Tests netlib_wait: the events that it reports, its timeout and its errors. */
#define _GNU_SOURCE
#include "socket_peer.h"

static void netlib_wait_stores_which_of_the_requested_events_are_ready(void) {
    netlib_error *err = NULL;
    int ends[2];
    connected_pair(ends);
    static char block[65536];
    enum { BOTH = POLLIN | POLLOUT };
    static const struct {
        bool has_input, is_full, is_hung_up;
        int32_t events, ready;
    } rows[] = {
        {false, false, false, POLLIN, 0},     {false, false, false, POLLOUT, POLLOUT},
        {false, false, false, BOTH, POLLOUT}, {true, false, false, POLLIN, POLLIN},
        {true, false, false, BOTH, BOTH},     {true, true, false, POLLOUT, 0},
        {true, true, false, BOTH, POLLIN},    {true, true, true, POLLOUT, POLLOUT},
        {true, true, true, BOTH, BOTH},
    };
    bool had_input = false, was_full = false, was_hung_up = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].has_input && !had_input) CHECK(write(ends[1], "x", 1) == 1);
        while (rows[i].is_full && !was_full && send(ends[0], block, sizeof block, MSG_DONTWAIT) > 0) {}
        if (rows[i].is_hung_up && !was_hung_up) close(ends[1]);
        had_input = rows[i].has_input, was_full = rows[i].is_full, was_hung_up = rows[i].is_hung_up;
        /* With a limit, netlib_wait also polls the descriptor of the limit. */
        for (int with_limit = 0; with_limit < 2; with_limit++) {
            netlib_limit *limit = with_limit ? limit_of(LONG) : NULL;
            for (int waits = 0; waits < 2; waits++) {
                int32_t ready = 77;
                double timeout = rows[i].ready == 0 ? waits * 0.01 : waits * LONG;
                CHECK_STATUS(rows[i].ready == 0 ? NETLIB_TIMED_OUT : NETLIB_OK,
                             netlib_wait(ends[0], rows[i].events, timeout, limit, &ready, &err));
                CHECK_INT(rows[i].ready, ready);
            }
            netlib_limit_free(limit);
        }
    }
    close(ends[0]);
}

static void invalid_arguments_of_netlib_wait_are_refused(void) {
    int ends[2];
    connected_pair(ends);
    static const struct {
        bool is_open;
        int32_t events;
        double timeout;
        netlib_status status;
        const char *message;
    } rows[] = {
        {true, 0, 0, NETLIB_INVALID_ARGUMENT, "events must be POLLIN, POLLOUT or the sum of both; it is 0"},
        {true, -1, 0, NETLIB_INVALID_ARGUMENT, "events must be POLLIN, POLLOUT or the sum of both; it is -1"},
        {true, POLLIN | POLLERR, 0, NETLIB_INVALID_ARGUMENT,
         "events must be POLLIN, POLLOUT or the sum of both; it is 9"},
        {true, 65536 + POLLIN, 0, NETLIB_INVALID_ARGUMENT,
         "events must be POLLIN, POLLOUT or the sum of both; it is 65537"},
        {true, POLLIN, -2, NETLIB_INVALID_ARGUMENT,
         "timeout must be 0 seconds or more, NETLIB_TIMEOUT_NONE or NETLIB_TIMEOUT_DEFAULT; it is -2"},
        {false, POLLIN, 0, NETLIB_IO, "descriptor -1 is not open: Bad file descriptor (os error 9)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        int32_t ready = 77;
        netlib_status status =
            netlib_wait(rows[i].is_open ? ends[0] : -1, rows[i].events, rows[i].timeout, NULL, &ready, &err);
        if (rows[i].status != NETLIB_IO) CHECK_STR(rows[i].message, netlib_error_message(err, NULL));
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(0, ready);
    }
    netlib_error *err = NULL;
    CHECK_STATUS(NETLIB_NULL_ARGUMENT, netlib_wait(ends[0], POLLOUT, 0, NULL, NULL, &err));
    close(ends[0]);
    close(ends[1]);
}

static void an_ended_limit_ends_netlib_wait_even_if_the_descriptor_is_ready(void) {
    int ends[2];
    connected_pair(ends);
    for (int cancel = 0; cancel < 2; cancel++) {
        netlib_error *err = NULL;
        int32_t ready = 77;
        netlib_limit *limit = limit_of(cancel ? LONG : 0.0);
        if (cancel) netlib_limit_cancel(limit);
        CHECK_STATUS(cancel ? NETLIB_CANCELLED : NETLIB_DEADLINE_EXCEEDED,
                     netlib_wait(ends[0], POLLIN | POLLOUT, LONG, limit, &ready, &err));
        CHECK_INT(0, ready);
        netlib_limit_free(limit);
    }
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    netlib_wait_stores_which_of_the_requested_events_are_ready();
    invalid_arguments_of_netlib_wait_are_refused();
    an_ended_limit_ends_netlib_wait_even_if_the_descriptor_is_ready();
    return report("wait");
}
