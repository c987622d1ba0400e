/* Tests that eight threads may be the first to use a value at the same time: a value of the process, or one that a
 * handle creates on first use. For values of the process, each row runs in its own process, which has not called netlib
 * before. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tsan/threads.h"

#include <sys/wait.h>

static void create_context(void *shared, int thread) {
    (void)shared;
    netlib_tls_context *made = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    if (thread % 2 == 0) netlib_tls_options_add_ca_file(options, CERTS "ca.pem");
    if (thread % 4 == 1) netlib_tls_options_set_embedded_trust(options, 1);
    if (thread == 4) netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    if (thread == 6) netlib_tls_options_set_ciphers(options, "HIGH:!AES256");
    /* Threads 3 and 7 read the system's CA certificates, which some machines do not have. */
    netlib_status status = netlib_tls_context_new(options, &made, NULL);
    CHECK(status == NETLIB_OK || thread % 4 == 3);
    netlib_tls_context_free(made);
    netlib_tls_options_free(options);
}

static void use_defaults(void *shared, int thread) {
    (void)shared;
    netlib_error *err = NULL;
    CHECK_OK(netlib_set_default_timeout(thread + 1, &err));
    double seconds = netlib_default_timeout();
    CHECK(seconds >= 1 && seconds <= THREADS);
    netlib_retry *retry = netlib_retry_clone(netlib_retry_resolve(NULL, NULL));
    CHECK_INT(3, netlib_retry_total_left(retry));
    netlib_retry_free(retry);
}

static const char head[] = "HTTP/1.1 303 See Other\r\nLocation: https://other.example/\r\nContent-Length: 0\r\n\r\n";

static void follow_redirect(void *shared, int thread) {
    (void)shared;
    netlib_error *err = NULL;
    netlib_retry *retry = NULL;
    netlib_url *url = NULL;
    netlib_response *response = NULL;
    netlib_decision *decision = NULL;
    size_t used = 0;
    netlib_retry_options *options = netlib_retry_options_new();
    if (thread % 2 == 0) netlib_retry_options_set_redirect_profile(options, NETLIB_REDIRECT_SAFE);
    CHECK_OK(netlib_retry_new(options, &retry, &err));
    CHECK_OK(netlib_parse_url("https://user:secret@example.com/", NETLIB_NTS, &url, &err));
    CHECK_OK(netlib_response_parse("POST", head, NETLIB_NTS, NULL, &response, &used, &err));
    CHECK_OK(netlib_retry_decide(retry, "POST", url, response, NULL, NULL, &decision, &err));
    CHECK_INT(NETLIB_ACTION_REDIRECT, netlib_decision_action(decision));
    netlib_decision_free(decision);
    netlib_response_free(response);
    netlib_url_free(url);
    netlib_retry_free(retry);
    netlib_retry_options_free(options);
}

static void use_random_numbers(void *shared, int thread) {
    (void)shared;
    (void)thread;
    netlib_error *err = NULL;
    netlib_certificate *certificate = NULL;
    netlib_headers *headers = NULL;
    char pem[8000] = "";
    FILE *file = fopen(CERTS "server.pem", "r");
    CHECK(file != NULL && fread(pem, 1, sizeof pem - 1, file) > 0);
    if (file != NULL) fclose(file);
    CHECK_OK(netlib_certificate_parse(pem, NETLIB_NTS, &certificate, &err));
    CHECK(netlib_certificate_fingerprint(certificate, NULL) != NULL);
    CHECK_OK(netlib_make_headers(NULL, &headers, &err));
    netlib_headers_free(headers);
    netlib_certificate_free(certificate);
}

static void do_handshake(void *shared, int thread) {
    (void)shared;
    (void)thread;
    netlib_tls_context *client = client_context(), *server = server_context("server");
    struct wire wire = wire_of(client, server, 20000);
    struct handshake_result result = run_handshake(&wire);
    CHECK_INT(NETLIB_OK, result.client);
    CHECK_INT(NETLIB_OK, result.server);
    free_wire(&wire);
    netlib_tls_context_free(client);
    netlib_tls_context_free(server);
}

static void first_calls_of_a_process_may_be_concurrent(void) {
    static const struct {
        const char *name;
        void (*body)(void *shared, int thread);
    } rows[] = {
        {"contexts", create_context},         {"defaults", use_defaults},   {"redirects", follow_redirect},
        {"certificates", use_random_numbers}, {"handshakes", do_handshake},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int round = 0; round < 5; round++) {
            int status = 1;
            fflush(NULL);
            pid_t child = fork();
            if (child == 0) {
                in_threads(rows[i].body, NULL);
                exit(checks_failed == 0 ? 0 : 1); /* 66 if ThreadSanitizer found a race */
            }
            CHECK(waitpid(child, &status, 0) == child);
            CHECK_INT(0, status);
            if (status != 0) fprintf(stderr, "    row \"%s\"\n", rows[i].name);
        }
    }
}

/* The handles of one round. Their texts are created on first use. */
struct values {
    netlib_url *url;
    netlib_headers *headers;
    netlib_response *response;
    netlib_retry *retry;
    netlib_decision *decision;
    const char *seen[THREADS][8];
};

static void read_all(void *shared, int thread) {
    struct values *values = shared;
    netlib_url *url = netlib_url_clone(values->url);
    const char **seen = values->seen[thread];
    seen[0] = netlib_url_to_string(url, NULL);
    seen[1] = netlib_url_redacted(url, NULL);
    seen[2] = netlib_url_authority(url, NULL);
    seen[3] = netlib_url_request_uri(url, NULL);
    seen[4] = netlib_url_netloc(url, NULL);
    seen[5] = netlib_headers_to_wire(values->headers, NULL);
    seen[6] = netlib_url_to_string(netlib_decision_url(values->decision), NULL);
    seen[7] = netlib_headers_to_wire(netlib_response_headers(values->response), NULL);
    CHECK(netlib_retry_history_count(netlib_decision_retry(values->decision)) == 1);
    netlib_url_free(url);
}

static void first_reads_of_a_handle_may_be_concurrent(void) {
    netlib_error *err = NULL;
    for (int round = 0; round < 50; round++) {
        struct values values = {0};
        size_t used = 0;
        CHECK_OK(netlib_parse_url("https://user:secret@example.com:8443/a/../b?q#f", NETLIB_NTS, &values.url, &err));
        CHECK_OK(netlib_make_headers(NULL, &values.headers, &err));
        CHECK_OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &values.response, &used, &err));
        CHECK_OK(netlib_retry_new(NULL, &values.retry, &err));
        CHECK_OK(
            netlib_retry_decide(values.retry, "GET", values.url, values.response, NULL, NULL, &values.decision, &err));
        in_threads(read_all, &values);
        /* All threads got the same pointers. */
        for (int thread = 1; thread < THREADS; thread++) {
            CHECK(memcmp(values.seen[0], values.seen[thread], sizeof values.seen[0]) == 0);
        }
        CHECK_STR("https://user:secret@example.com:8443/b?q#f", values.seen[0][0]);
        netlib_decision_free(values.decision);
        netlib_retry_free(values.retry);
        netlib_response_free(values.response);
        netlib_headers_free(values.headers);
        netlib_url_free(values.url);
    }
}

/* Frees the reference of this thread. The last thread frees the shared value. */
static void free_own(void *shared, int thread) {
    netlib_url *own = ((netlib_url **)shared)[thread];
    CHECK_STR("example.com", netlib_url_host(own, NULL));
    netlib_url_free(own);
}

static void free_own_error(void *shared, int thread) {
    netlib_error *own = ((netlib_error **)shared)[thread];
    CHECK_STR("inner", netlib_error_message(netlib_error_cause(own, 0), NULL));
    netlib_error_free(own);
}

static void owners_of_a_shared_value_may_free_it_concurrently(void) {
    netlib_error *err = NULL;
    for (int round = 0; round < 50; round++) {
        netlib_url *urls[THREADS] = {NULL};
        netlib_error *errors[THREADS] = {NULL}, *inner = NULL;
        CHECK_OK(netlib_parse_url("http://example.com/", NETLIB_NTS, &urls[0], &err));
        CHECK_OK(netlib_error_new(NETLIB_IO, "inner", NULL, &inner, &err));
        errors[0] = error_around(NETLIB_PROXY_FAILED, "outer", inner);
        netlib_error_free(inner);
        for (int i = 1; i < THREADS; i++) {
            urls[i] = netlib_url_clone(urls[0]);
            errors[i] = netlib_error_clone(errors[0]);
        }
        in_threads(free_own, urls);
        in_threads(free_own_error, errors);
    }
}

/* Waits with a shared limit. Some threads also get the limit's descriptor, and one thread cancels the limit. */
static void use_limit(void *shared, int thread) {
    netlib_limit *limit = netlib_limit_clone(shared);
    netlib_error *err = NULL;
    struct pair silent = unix_pair();
    int fd = -1;
    if (thread % 2 == 0) CHECK_OK(netlib_limit_fd(limit, &fd, &err));
    if (thread == 5) netlib_limit_cancel(limit);
    CHECK_STATUS(NETLIB_CANCELLED, netlib_wait_for_read(silent.near, LONG, limit, &err));
    CHECK_INT(NETLIB_CANCELLED, netlib_limit_check(limit, NULL));
    close_pair(silent);
    netlib_limit_free(limit);
}

static void concurrent_threads_can_share_a_limit(void) {
    netlib_error *err = NULL;
    for (int round = 0; round < 50; round++) {
        netlib_limit *limit = NULL;
        CHECK_OK(netlib_limit_new(LONG, NULL, &limit, &err));
        in_threads(use_limit, limit);
        netlib_limit_free(limit);
    }
}

int main(void) {
    first_calls_of_a_process_may_be_concurrent();
    first_reads_of_a_handle_may_be_concurrent();
    owners_of_a_shared_value_may_free_it_concurrently();
    concurrent_threads_can_share_a_limit();
    return report("tsan first");
}
