/* Tests connections that end before the first byte of a response, on new and on reused connections, for each kind of
 * stream: the status, the message, and the decisions of retry policies. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "stream_reads.h"

#include <poll.h>

/* How the server ends the connection. */
enum end {
    END_CLOSED, /* with close_notify, on a TLS stream */
    END_CUT,    /* without close_notify */
    END_RESET,
    ENDS
};

static const char *const end_names[ENDS] = {"closed", "cut", "reset"};

static void end_connection(struct ends *ends, enum end end) {
    if (end == END_CLOSED && !is_plain(ends->kind)) shut_down(ends, false);
    if (end == END_RESET) reset_connection(ends->pair.far);
    else close(ends->pair.far);
    ends->pair.far = -1;
    /* Waits until the end has arrived. */
    struct pollfd near = {.fd = ends->pair.near, .events = POLLIN};
    CHECK(poll(&near, 1, (int)(LONG * 1000)) == 1);
}

/* Sends a request and reads the response, which is complete. */
static void exchange(struct ends *ends) {
    netlib_error *err = NULL;
    char body[20];
    size_t n = 0;
    write_text(ends->near, "GET /1 HTTP/1.1\r\n\r\n");
    read_text(ends->far, "GET /1 HTTP/1.1\r\n\r\n");
    write_text(ends->far, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    netlib_response *response = read_head(ends->near, "GET", 200);
    netlib_body_decoder *decoder = decoder_for(response);
    CHECK_OK(netlib_stream_read_body(ends->near, decoder, body, sizeof body, &n, &err));
    CHECK_INT(5, (long long)n);
    CHECK(netlib_response_keeps_alive(response, decoder));
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
}

static const char post[] = "POST /2 HTTP/1.1\r\nContent-Length: 0\r\n\r\n";

/* Reads a response, which must fail. Returns the error. */
static netlib_error *failed_response(netlib_stream *stream) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    CHECK(netlib_stream_read_response(stream, "POST", &response, &err) != NETLIB_OK);
    CHECK(response == NULL);
    return err;
}

/* Writes the request, which must fail. Returns the error. */
static netlib_error *failed_write(netlib_stream *stream) {
    netlib_error *err = NULL;
    size_t n = 1;
    CHECK(netlib_stream_write(stream, post, sizeof post - 1, &n, &err) != NETLIB_OK);
    CHECK_INT(0, (long long)n);
    return err;
}

static void expect_error(netlib_status status, const char *message, const netlib_error *error) {
    CHECK_STR(netlib_status_name(status), netlib_status_name(netlib_error_status(error)));
    CHECK_CONTAINS(message, netlib_error_message(error, NULL));
    CHECK_INT(NETLIB_RETRY_KIND_READ, netlib_error_retry_kind(error));
    CHECK_INT(-1, netlib_error_offset(error));
}

/* ---- decisions ---- */

/* Checks whether a Retry whose option any_method_if_stale is `allows` repeats a request after `failure`. */
static void expect_decision(bool is_repeated, const char *method, int32_t allows, const netlib_response *response,
                            const netlib_error *failure) {
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_retry *retry = NULL, *next = NULL;
    netlib_decision *decision = NULL;
    netlib_retry_options *options = netlib_retry_options_new();
    unsigned long failed_before = checks_failed;
    netlib_retry_options_set_total(options, 3);
    netlib_retry_options_set_read(options, 2);
    netlib_retry_options_set_any_method_if_stale(options, allows);
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    CHECK_OK(netlib_parse_url("https://localhost/2", NETLIB_NTS, &url, &err));
    CHECK_INT(allows, netlib_retry_allows_any_method_if_stale(retry));
    netlib_status expected = is_repeated ? NETLIB_OK : netlib_error_status(failure);
    CHECK_STATUS(expected, netlib_retry_increment(retry, method, NULL, response, failure, &next, &err));
    CHECK_STATUS(expected, netlib_retry_decide(retry, method, url, response, failure, NULL, &decision, &err));
    if (is_repeated) {
        const netlib_retry *both[] = {next, netlib_decision_retry(decision)};
        CHECK_INT(NETLIB_ACTION_RETRY, netlib_decision_action(decision));
        CHECK_INT(NETLIB_COUNTER_READ, netlib_decision_counter(decision));
        CHECK_INT(1, netlib_decision_resend_body(decision));
        for (int i = 0; i < 2; i++) {
            CHECK_INT(2, netlib_retry_total_left(both[i]));
            CHECK_INT(1, netlib_retry_read_left(both[i]));
            CHECK_INT(allows, netlib_retry_allows_any_method_if_stale(both[i]));
        }
    }
    if (checks_failed != failed_before) {
        fprintf(stderr, "    %s with any_method_if_stale = %d, %s a response\n", method, (int)allows,
                response == NULL ? "without" : "with");
    }
    netlib_retry_options_free(options);
    netlib_retry_free(retry);
    netlib_retry_free(next);
    netlib_decision_free(decision);
    netlib_url_free(url);
}

/* A POST is repeated only if the connection is stale, the option is set, and no response is passed. An error with the
 * failure as its cause is not a stale connection. */
static void expect_decisions(bool is_stale, const netlib_error *failure) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_response *response = NULL;
    CHECK_OK(netlib_headers_new(NULL, 0, &headers, &err));
    CHECK_OK(netlib_response_new("POST", 200, headers, &response, &err));
    expect_decision(true, "GET", 0, NULL, failure);
    expect_decision(true, "GET", 1, NULL, failure);
    expect_decision(false, "POST", 0, NULL, failure);
    expect_decision(is_stale, "POST", 1, NULL, failure);
    expect_decision(false, "POST", 1, response, failure);
    netlib_error *proxy_error = error_around(NETLIB_PROXY_FAILED, "the proxy failed", failure);
    expect_decision(true, "GET", 1, NULL, proxy_error);
    expect_decision(false, "POST", 1, NULL, proxy_error);
    netlib_error_free(proxy_error);
    netlib_response_free(response);
    netlib_headers_free(headers);
}

/* ---- the end of the connection ---- */

static void a_connection_that_ends_before_the_response_has_one_status_and_one_message(enum kind kind) {
    for (int row = 0; row < 2 * ENDS; row++) {
        bool is_reused = row >= ENDS;
        enum end end = (enum end)(row % ENDS);
        unsigned long failed_before = checks_failed;
        struct ends ends;
        connect_ends(&ends, kind, tcp_pair());
        if (is_reused) exchange(&ends);
        write_text(ends.near, post);
        read_text(ends.far, post);
        end_connection(&ends, end);
        for (int call = 0; call < 2; call++) {
            netlib_error *error = failed_response(ends.near);
            expect_error(is_reused ? NETLIB_STALE_CONNECTION : NETLIB_PROTOCOL,
                         is_reused ? " closed the reused connection without a response"
                                   : " closed the connection without a response",
                         error);
            bool has_errno = end == END_RESET && !has_callbacks(kind);
            CHECK_INT(has_errno ? ECONNRESET : 0, netlib_error_errno(error));
            if (has_errno)
                CHECK_CONTAINS("without a response: Connection reset by peer", netlib_error_message(error, NULL));
            /* If an outer TLS stream was reset or ended without close_notify, its error is a cause. */
            bool has_cause = end != END_CLOSED && (kind == TLS_IN_TLS_FD || kind == TLS_IN_TLS_CALLBACKS);
            CHECK_INT(has_cause, (long long)netlib_error_cause_count(error));
            expect_decisions(is_reused, error);
            netlib_error_free(error);
        }
        free_ends(&ends);
        if (checks_failed != failed_before) {
            fprintf(stderr, "    %s, %s connection\n", end_names[end], is_reused ? "reused" : "new");
        }
    }
}

/* A part of the message of a write that finds the connection closed. */
static const char *lost_write(enum kind kind) {
    return has_callbacks(kind) ? "the write callback reported NETLIB_PROTOCOL" : "cannot send to the ";
}

static void a_write_that_finds_the_connection_closed_reports_a_reused_one_as_stale(enum kind kind) {
    for (int is_reused = 0; is_reused < 2; is_reused++) {
        for (int end = END_CLOSED; end <= END_CUT; end++) {
            unsigned long failed_before = checks_failed;
            struct ends ends;
            /* Writing to a Unix socket whose peer is closed fails at once. */
            connect_ends(&ends, kind, unix_pair());
            if (is_reused) exchange(&ends);
            end_connection(&ends, (enum end)end);
            for (int call = 0; call < 2; call++) {
                netlib_error *error = failed_write(ends.near);
                expect_error(is_reused ? NETLIB_STALE_CONNECTION : NETLIB_PROTOCOL,
                             is_reused ? " closed the reused connection without a response" : lost_write(kind), error);
                if (call == 0) CHECK_INT(has_callbacks(kind) ? 0 : EPIPE, netlib_error_errno(error));
                if (is_reused && call == 0 && !has_callbacks(kind)) {
                    CHECK_CONTAINS("without a response: Broken pipe", netlib_error_message(error, NULL));
                }
                expect_decisions(is_reused, error);
                netlib_error_free(error);
                expect_dropped(1, end == END_CUT && !is_plain(kind) ? NETLIB_TLS_TRUNCATED : NETLIB_END_OF_STREAM,
                               ends.near);
            }
            netlib_error *error = failed_response(ends.near);
            CHECK_INT(is_reused ? NETLIB_STALE_CONNECTION : NETLIB_PROTOCOL, netlib_error_status(error));
            netlib_error_free(error);
            free_ends(&ends);
            if (checks_failed != failed_before) {
                fprintf(stderr, "    %s, %s connection\n", end_names[end], is_reused ? "reused" : "new");
            }
        }
    }
}

/* The server answers before it closes a reused connection, so the write is no sign of a stale connection. */
static void a_write_does_not_report_a_stale_connection_if_an_answer_has_arrived(enum kind kind) {
    static const char *const answers[] = {"HTTP/1.1 408 x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 x\r\n\r\n", "H"};
    for (size_t row = 0; row < sizeof answers / sizeof answers[0]; row++) {
        unsigned long failed_before = checks_failed;
        struct ends ends;
        connect_ends(&ends, kind, unix_pair());
        exchange(&ends);
        write_text(ends.far, answers[row]);
        end_connection(&ends, END_CLOSED);
        netlib_error *error = failed_write(ends.near);
        expect_error(NETLIB_PROTOCOL, lost_write(kind), error);
        expect_decisions(false, error);
        netlib_error_free(error);
        if (row == 0) {
            netlib_response_free(read_head(ends.near, "POST", 408));
        } else {
            error = failed_response(ends.near);
            CHECK_STR("NETLIB_PROTOCOL", netlib_status_name(netlib_error_status(error)));
            CHECK_INT((long long)strlen(answers[row]), netlib_error_offset(error));
            expect_decisions(false, error);
            netlib_error_free(error);
            error = failed_write(ends.near);
            CHECK_STR("NETLIB_PROTOCOL", netlib_status_name(netlib_error_status(error)));
            netlib_error_free(error);
        }
        free_ends(&ends);
        if (checks_failed != failed_before) fprintf(stderr, "    after the answer %s\n", answers[row]);
    }
}

/* ---- reuse ---- */

/* How the application reads the body of the first response. */
enum reading {
    BY_BODY_FUNCTION, /* with netlib_stream_read_body, until the decoder is done */
    BY_READ,          /* with netlib_stream_read */
    NOT_AT_ALL,
};

static void a_connection_is_reused_after_the_response_functions_have_read_a_whole_response(enum kind kind) {
    static const struct {
        const char *method, *head, *body;
        enum reading reading;
        const char *more; /* bytes after the response, which netlib_stream_read returns */
        bool is_reused;
    } rows[] = {
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", "hello", BY_BODY_FUNCTION, "", true},
        {"GET", "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", BY_BODY_FUNCTION, "",
         true},
        {"GET", "HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\n", "x", BY_BODY_FUNCTION, "", true},
        {"GET", "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n", "", NOT_AT_ALL, "", true},
        {"GET", "HTTP/1.1 204 x\r\n\r\n", "", BY_BODY_FUNCTION, "", true},
        {"HEAD", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", "", NOT_AT_ALL, "", true},
        {"CONNECT", "HTTP/1.1 407 x\r\nContent-Length: 1\r\n\r\n", "x", BY_BODY_FUNCTION, "", true},
        /* The bytes after the response may belong to the next response. */
        {"GET", "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n", "", NOT_AT_ALL, "HTTP/1.1 100 x\r\n\r\n", false},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\n", "x", BY_BODY_FUNCTION, "H", false},
        /* The response is not complete, or the stream does not know its end. */
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", "", NOT_AT_ALL, "", false},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", "hel", BY_BODY_FUNCTION, "", false},
        {"GET", "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n", "hello", BY_READ, "", false},
        {"GET", "HTTP/1.1 200 x\r\n\r\n", "hello", BY_BODY_FUNCTION, "", false},
        /* The connection is no HTTP connection any more, and no request was sent in the tunnel. */
        {"CONNECT", "HTTP/1.1 200 x\r\n\r\n", "", BY_BODY_FUNCTION, "", false},
        {"GET", "HTTP/1.1 101 x\r\n\r\n", "", BY_BODY_FUNCTION, "", false},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        unsigned long failed_before = checks_failed;
        netlib_error *err = NULL;
        struct ends ends;
        char bytes[40];
        size_t n = 0;
        connect_ends(&ends, kind, unix_pair());
        set_waiting(&ends, false);
        write_text(ends.far, rows[row].head);
        write_text(ends.far, rows[row].body);
        netlib_response *response = NULL;
        CHECK_OK(netlib_stream_read_response(ends.near, rows[row].method, &response, &err));
        netlib_body_decoder *decoder = decoder_for(response);
        if (rows[row].reading == BY_READ) read_text(ends.near, rows[row].body);
        netlib_status status = NETLIB_OK;
        while (rows[row].reading == BY_BODY_FUNCTION && status == NETLIB_OK && !netlib_body_decoder_is_done(decoder)) {
            status = netlib_stream_read_body(ends.near, decoder, bytes, sizeof bytes, &n, NULL);
        }
        write_text(ends.far, rows[row].more);
        read_text(ends.near, rows[row].more);
        end_connection(&ends, END_CLOSED);
        netlib_error *error = failed_response(ends.near);
        CHECK_STR(rows[row].is_reused ? "NETLIB_STALE_CONNECTION" : "NETLIB_PROTOCOL",
                  netlib_status_name(netlib_error_status(error)));
        netlib_error_free(error);
        netlib_body_decoder_free(decoder);
        netlib_response_free(response);
        free_ends(&ends);
        if (checks_failed != failed_before) fprintf(stderr, "    row %zu: %s\n", row, rows[row].head);
    }
}

/* A timeout of a reused connection does not make it stale. */
static void only_the_end_of_the_connection_makes_it_stale(enum kind kind) {
    if (has_callbacks(kind)) return;
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    struct ends ends;
    connect_ends(&ends, kind, unix_pair());
    exchange(&ends);
    CHECK_OK(netlib_stream_set_read_timeout(ends.near, 0.01, &err));
    write_text(ends.near, post);
    CHECK_STATUS(NETLIB_READ_TIMEOUT, netlib_stream_read_response(ends.near, "POST", &response, &err));
    read_text(ends.far, post);
    end_connection(&ends, END_CLOSED);
    CHECK_STATUS(NETLIB_STALE_CONNECTION, netlib_stream_read_response(ends.near, "POST", &response, &err));
    free_ends(&ends);
}

/* Reads a response. If the main thread uses the stream at this moment, reads again. */
static void *read_in_thread(void *stream) {
    netlib_error *error = failed_response(stream);
    while (netlib_error_status(error) == NETLIB_BUSY) {
        netlib_error_free(error);
        error = failed_response(stream);
    }
    return error;
}

/* While another thread reads, a write does not look for the response. */
static void a_write_during_a_read_leaves_the_stale_connection_to_the_read(void) {
    struct ends ends;
    pthread_t thread;
    void *of_read = NULL;
    connect_ends(&ends, PLAIN_FD, unix_pair());
    exchange(&ends);
    CHECK(pthread_create(&thread, NULL, read_in_thread, ends.near) == 0);
    int32_t dropped = 0;
    /* Waits until the thread reads. */
    while (netlib_stream_is_dropped(ends.near, &dropped, NULL, NULL) != NETLIB_BUSY) sched_yield();
    CHECK(shutdown(ends.pair.near, SHUT_WR) == 0);
    netlib_error *error = failed_write(ends.near);
    expect_error(NETLIB_PROTOCOL, "cannot send to the peer", error);
    netlib_error_free(error);
    end_connection(&ends, END_CLOSED);
    CHECK(pthread_join(thread, &of_read) == 0);
    expect_error(NETLIB_STALE_CONNECTION, "the peer closed the reused connection without a response", of_read);
    netlib_error_free(of_read);
    free_ends(&ends);
}

int main(void) {
    client = client_context();
    server = server_context("server");
    a_write_during_a_read_leaves_the_stale_connection_to_the_read();
    for (int row = 0; row < KINDS; row++) {
        enum kind kind = (enum kind)row;
        unsigned long failed_before = checks_failed;
        a_connection_that_ends_before_the_response_has_one_status_and_one_message(kind);
        a_write_that_finds_the_connection_closed_reports_a_reused_one_as_stale(kind);
        a_write_does_not_report_a_stale_connection_if_an_answer_has_arrived(kind);
        a_connection_is_reused_after_the_response_functions_have_read_a_whole_response(kind);
        only_the_end_of_the_connection_makes_it_stale(kind);
        if (checks_failed != failed_before) fprintf(stderr, "the checks above failed for %s\n", kind_names[kind]);
    }
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
    return report("stale connections");
}
