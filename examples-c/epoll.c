/*
 * epoll - get many URLs at once, in one thread.
 *
 * Start from this program if yours has an event loop: only epoll_wait(2) waits. Connecting is a race in steps that
 * includes the lookup of the name. TLS calls return NETLIB_WANT_READ or NETLIB_WANT_WRITE. The wait ends when the
 * nearest timer expires. This file is the loop; epoll/ contains the rest:
 *
 *     transfer   the transfer of one URL: what to do now, and what to wait for
 *     body       decodes a response's body, without a descriptor
 *     options    the command line
 *
 *     cc epoll.c epoll/[a-z]*.c $(pkg-config --cflags --libs netlib) -o epoll
 *     epoll --timeout 5 https://example.com/ https://example.org/
 *
 * The program prints a line for each URL when its transfer ends: the status of the response (--- if there is none),
 * the size of the body in bytes, the seconds, which of how many connection attempts succeeded and its address, the
 * URL, and the error. A failure of one URL does not affect the others.
 *
 * Each URL is requested once, without retries. netlib_retry_decide with netlib_retry_recommended decides what to retry
 * and when, and where a redirect leads: see fetch.c. Its delay needs one more timer.
 */
#define _POSIX_C_SOURCE 200809L

#include "epoll/options.h"
#include "epoll/transfer.h"

#include <errno.h>
#include <netlib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum exit_code { EXIT_ALL_WORKED, EXIT_NOT_ALL_WORKED, EXIT_NOT_BEGUN };

struct loop {
    struct shared shared;
    struct transfer *transfers; /* one for each URL: the started ones, then room for the others */
    struct transfer **active;
    size_t active_count;
    bool all_worked;
};

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Rounds up, because a wait that ends early would be followed by another. For thousands of transfers, keep the timers
 * in a heap. */
static int milliseconds_to_wait(const struct loop *loop) {
    double seconds = 60;
    for (size_t i = 0; i < loop->active_count; i++) {
        double timer = transfer_timer(loop->active[i]);
        if (timer < seconds) seconds = timer;
    }
    return seconds > 0 ? (int)(seconds * 1000) + 1 : 0;
}

/* Advances transfers whose timer has expired, or cancels all of them after an interrupt. Removes the finished ones. */
static void look_after(struct loop *loop) {
    bool cancelled = netlib_limit_check(loop->shared.limit, NULL) == NETLIB_CANCELLED;
    for (size_t i = 0; i < loop->active_count;) {
        struct transfer *transfer = loop->active[i];
        if (cancelled) {
            transfer_cancel(transfer);
        } else if (!transfer_is_done(transfer) && transfer_timer(transfer) <= 0) {
            transfer_advance(transfer);
        }
        if (transfer_is_done(transfer)) {
            loop->all_worked = loop->all_worked && transfer->worked;
            loop->active[i] = loop->active[--loop->active_count];
        } else {
            i++;
        }
    }
}

static bool run(struct loop *loop, const struct options *options) {
    struct epoll_event events[MOST_PARALLEL];
    size_t begun = 0;
    while (begun < options->url_count || loop->active_count > 0) {
        while (begun < options->url_count && loop->active_count < options->parallel) {
            struct transfer *transfer = &loop->transfers[begun];
            transfer_start(transfer, &loop->shared, options->urls[begun++]);
            loop->active[loop->active_count++] = transfer;
        }
        int ready = epoll_wait(loop->shared.epoll, events, MOST_PARALLEL, milliseconds_to_wait(loop));
        if (ready < 0 && errno != EINTR) return false;
        for (int i = 0; i < ready; i++) {
            /* An event without a transfer belongs to the limit, which look_after checks. */
            if (events[i].data.ptr != NULL) transfer_advance(events[i].data.ptr);
        }
        look_after(loop);
    }
    return true;
}

/* --- main --------------------------------------------------------------------------------------------------------- */

static netlib_limit *interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    netlib_limit_cancel(interrupted);
}

/* An interrupt cancels the overall limit. epoll watches the descriptor of the limit, so the interrupt wakes epoll even
 * if it comes just before the wait. A second interrupt kills the process. */
static bool handle_interrupts(struct loop *loop, int limit_fd) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = NULL}};
    interrupted = loop->shared.limit;
    return epoll_ctl(loop->shared.epoll, EPOLL_CTL_ADD, limit_fd, &event) == 0 &&
           sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGTERM, &action, NULL) == 0;
}

static netlib_status make_context(const char *cacert, netlib_tls_context **context, netlib_error **err) {
    netlib_tls_options *options = netlib_tls_options_new();
    if (cacert != NULL) netlib_tls_options_add_ca_file(options, cacert);
    netlib_tls_options_add_alpn_protocol(options, "http/1.1");
    netlib_status status = netlib_tls_context_new(options, context, err);
    netlib_tls_options_free(options);
    return status;
}

static netlib_status make_headers(netlib_headers **headers, netlib_error **err) {
    netlib_headers_options *options = netlib_headers_options_new();
    netlib_headers_options_set_user_agent(options, "epoll/" NETLIB_VERSION);
    netlib_status status = netlib_make_headers(options, headers, err);
    netlib_headers_options_free(options);
    return status;
}

static bool loop_init(struct loop *loop, const struct options *options) {
    netlib_error *err = NULL;
    int limit_fd = -1;
    *loop = (struct loop){.shared = {.timeout = options->timeout}, .all_worked = true};
    loop->shared.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->transfers = calloc(options->url_count, sizeof *loop->transfers);
    loop->active = calloc(options->parallel, sizeof(struct transfer *));
    if (loop->shared.epoll < 0 || loop->transfers == NULL || loop->active == NULL) {
        perror("epoll");
        return false;
    }
    netlib_status status = netlib_limit_new(options->max_time, &loop->shared.limit, &err);
    if (status == NETLIB_OK) status = netlib_limit_fd(loop->shared.limit, &limit_fd, &err);
    if (status == NETLIB_OK) status = make_context(options->cacert, &loop->shared.tls, &err);
    if (status == NETLIB_OK) status = make_headers(&loop->shared.headers, &err);
    if (status != NETLIB_OK) fprintf(stderr, "epoll: %s\n", netlib_error_message(err, NULL));
    netlib_error_free(err);
    if (status != NETLIB_OK) return false;
    if (!handle_interrupts(loop, limit_fd)) {
        perror("epoll");
        return false;
    }
    return true;
}

static void loop_free(struct loop *loop) {
    for (size_t i = 0; i < loop->active_count; i++) transfer_cancel(loop->active[i]);
    netlib_headers_free(loop->shared.headers);
    netlib_tls_context_free(loop->shared.tls);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    netlib_limit_free(loop->shared.limit);
    free(loop->active);
    free(loop->transfers);
    if (loop->shared.epoll >= 0) close(loop->shared.epoll);
}

static enum exit_code fetch_all(const struct options *options) {
    struct loop loop;
    enum exit_code code = EXIT_NOT_BEGUN;
    if (loop_init(&loop, options)) {
        bool ran = run(&loop, options);
        if (!ran) perror("epoll");
        code = ran && loop.all_worked ? EXIT_ALL_WORKED : EXIT_NOT_ALL_WORKED;
    }
    loop_free(&loop);
    return code;
}

int main(int argc, char **argv) {
    struct options options = {.timeout = 30.0, .max_time = NETLIB_TIMEOUT_NONE, .parallel = 50};
    enum exit_code code = EXIT_NOT_BEGUN;
    setvbuf(stdout, NULL, _IOLBF, 0); /* writes each line when its URL ends, even into a pipe */
    if (parse_options(&options, argc, argv)) {
        if (options.help) print_help();
        code = options.help ? EXIT_ALL_WORKED : fetch_all(&options);
    }
    free_options(&options);
    return (int)code;
}
