/*
 * epoll - fetches many URLs concurrently in one thread.
 *
 * Use this program as a template for a client with an event loop: only epoll_wait(2) blocks. netlib_connect_step looks
 * up the host name and races connection attempts to its addresses without blocking. TLS functions return
 * NETLIB_WANT_READ or NETLIB_WANT_WRITE instead of blocking. epoll_wait returns at the latest when the next timer
 * expires. This file contains the event loop; epoll/ contains the other parts:
 *
 *     transfer     the transfer of one URL: what to do now, and what to wait for
 *     connection   connections that are kept open for later requests
 *     options      the command line
 *
 *     cc epoll.c epoll/[a-z]*.c $(pkg-config --cflags --libs netlib) -o epoll
 *     epoll --timeout 5 https://example.com/ https://example.org/
 *
 * When the transfer of a URL ends, the program prints a line: the status of the response (--- if there is none), the
 * size of the body in bytes, the duration in seconds, the number of the successful connection attempt and the number of
 * all attempts (1/2), the connected address, the URL, and the error, if any. If the transfer uses the connection of an
 * earlier transfer, the line contains "0/0 -" instead of the attempts and the address. A failed transfer does not
 * affect the other transfers.
 *
 * The program does not retry, except if a server closes the connection of an earlier transfer without a response. To
 * add retries and redirects, call netlib_retry_decide as fetch.c does, and add a timer for the delay that
 * netlib_decision_delay returns.
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

enum exit_code { EXIT_ALL_SUCCEEDED, EXIT_SOME_FAILED, EXIT_NOT_STARTED };

struct loop {
    struct shared shared;
    struct transfer *transfers; /* the started transfers, then room for one transfer per remaining URL */
    struct transfer **active;
    size_t active_count;
    bool all_succeeded;
};

/* --- the event loop ----------------------------------------------------------------------------------------------- */

/* Returns the timeout for epoll_wait, rounded up so that epoll_wait does not return just before a timer expires. A
 * program with thousands of transfers should keep the timers in a heap instead of searching them. */
static int milliseconds_to_wait(const struct loop *loop) {
    double seconds = 60;
    for (size_t i = 0; i < loop->active_count; i++) {
        double timer = transfer_timer(loop->active[i]);
        if (timer < seconds) seconds = timer;
    }
    return seconds > 0 ? (int)(seconds * 1000) + 1 : 0;
}

/* Advances the transfers whose timer has expired. Once the program's limit is cancelled, advances all transfers, which
 * ends them. Removes finished transfers from the array of active transfers. */
static void handle_timers(struct loop *loop) {
    bool cancelled = netlib_limit_check(loop->shared.limit, NULL) == NETLIB_CANCELLED;
    for (size_t i = 0; i < loop->active_count;) {
        struct transfer *transfer = loop->active[i];
        if (cancelled || transfer_timer(transfer) <= 0) transfer_advance(transfer);
        if (transfer_is_done(transfer)) {
            loop->all_succeeded = loop->all_succeeded && transfer->succeeded;
            loop->active[i] = loop->active[--loop->active_count];
        } else {
            i++;
        }
    }
}

static bool run(struct loop *loop, const struct options *options) {
    struct epoll_event events[MAX_PARALLEL];
    size_t started = 0;
    while (started < options->url_count || loop->active_count > 0) {
        while (started < options->url_count && loop->active_count < options->parallel) {
            struct transfer *transfer = &loop->transfers[started];
            transfer_start(transfer, &loop->shared, options->urls[started++]);
            loop->active[loop->active_count++] = transfer;
        }
        int ready = epoll_wait(loop->shared.epoll, events, MAX_PARALLEL, milliseconds_to_wait(loop));
        if (ready < 0 && errno != EINTR) return false;
        for (int i = 0; i < ready; i++) {
            /* An event without a transfer belongs to the descriptor of the program's limit. handle_timers checks this
             * limit. */
            if (events[i].data.ptr != NULL) transfer_advance(events[i].data.ptr);
        }
        handle_timers(loop);
    }
    return true;
}

/* --- main --------------------------------------------------------------------------------------------------------- */

static netlib_limit *interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    netlib_limit_cancel(interrupted);
}

/* Makes SIGINT and SIGTERM cancel the program's limit. epoll watches the descriptor of the limit, so a signal wakes
 * epoll_wait even if the signal arrives just before epoll_wait is called. A second signal kills the process. */
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
    *loop = (struct loop){.shared = {.timeout = options->timeout}, .all_succeeded = true};
    loop->shared.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->transfers = calloc(options->url_count, sizeof *loop->transfers);
    loop->active = calloc(options->parallel, sizeof(struct transfer *));
    if (loop->shared.epoll < 0 || loop->transfers == NULL || loop->active == NULL) {
        perror("epoll");
        return false;
    }
    netlib_status status = netlib_limit_new(options->max_time, NULL, &loop->shared.limit, &err);
    if (status == NETLIB_OK) status = netlib_limit_fd(loop->shared.limit, &limit_fd, &err);
    if (status == NETLIB_OK) status = make_context(options->cacert, &loop->shared.tls, &err);
    if (status == NETLIB_OK) status = make_headers(&loop->shared.headers, &err);
    if (status != NETLIB_OK) fprintf(stderr, "epoll: %s\n", netlib_error_report(err, NULL));
    netlib_error_free(err);
    if (status != NETLIB_OK) return false;
    if (!handle_interrupts(loop, limit_fd)) {
        perror("epoll");
        return false;
    }
    return true;
}

static void loop_free(struct loop *loop) {
    netlib_limit_cancel(loop->shared.limit);
    for (size_t i = 0; i < loop->active_count; i++) transfer_advance(loop->active[i]);
    for (size_t i = 0; i < loop->shared.idle.count; i++) close_connection(&loop->shared.idle.connections[i]);
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
    enum exit_code code = EXIT_NOT_STARTED;
    if (loop_init(&loop, options)) {
        bool ran = run(&loop, options);
        if (!ran) perror("epoll");
        code = ran && loop.all_succeeded ? EXIT_ALL_SUCCEEDED : EXIT_SOME_FAILED;
    }
    loop_free(&loop);
    return code;
}

int main(int argc, char **argv) {
    struct options options = {.timeout = 30.0, .max_time = NETLIB_TIMEOUT_NONE, .parallel = 50};
    enum exit_code code = EXIT_NOT_STARTED;
    setvbuf(stdout, NULL, _IOLBF, 0); /* writes each line when its URL ends, even into a pipe */
    if (parse_options(&options, argc, argv)) {
        if (options.help) print_help();
        code = options.help ? EXIT_ALL_SUCCEEDED : fetch_all(&options);
    }
    free_options(&options);
    return (int)code;
}
