/* netlib reads files and environment variables only while it creates a TLS context. Therefore a request never contains
 * credentials that netlib found on the system, for example in a netrc file. This program replaces the functions that
 * open files or read the environment with functions that count their calls. `environ` points to an unreadable page
 * during the test, so any direct access to the environment ends the process. */
#define _GNU_SOURCE
#include "retry_makers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static unsigned long opened_files, environment_reads;

/* Calls the function of the C library that this program replaces. */
#define NEXT(type, name) \
    ((union { \
        void *symbol; \
        type function; \
    }){dlsym(RTLD_NEXT, #name)}) \
        .function

typedef int (*open_fn)(const char *, int, ...);
typedef int (*openat_fn)(int, const char *, int, ...);
typedef char *(*getenv_fn)(const char *);

static mode_t mode_of(int flags, va_list rest) { return (flags & O_CREAT) != 0 ? (mode_t)va_arg(rest, unsigned) : 0; }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        opened_files++; \
        return NEXT(open_fn, name)(path, flags, mode); \
    }
#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        opened_files++; \
        return NEXT(openat_fn, name)(directory, path, flags, mode); \
    }
#define GETENV(name) \
    char *name(const char *variable) { \
        environment_reads++; \
        return NEXT(getenv_fn, name)(variable); \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
GETENV(getenv)
GETENV(secure_getenv)

/* Parses, builds, resolves and writes URLs. */
static void parse_build_and_resolve_urls(void) {
    static const char *const texts[] = {"http://user:pw@b\xc3\xbc"
                                        "cher.test:8080/a/../b?q#f",
                                        "[::1]:80", "~/.netrc", "file:///etc/passwd", "/p?q"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        netlib_error *err = NULL;
        netlib_url *url = NULL;
        netlib_url *next = NULL;
        CHECK_OK(netlib_parse_url(texts[i], NETLIB_NTS, &url, &err));
        CHECK(netlib_url_to_string(url, NULL) != NULL);
        (void)netlib_url_authority(url, NULL);
        (void)netlib_url_request_uri(url, NULL);
        CHECK_OK(netlib_url_resolve(url, "../x?y", NETLIB_NTS, &next, &err));
        netlib_url_free(next);
        netlib_url_free(url);
    }
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    CHECK_OK(netlib_url_new("http", "me:pw", "h.test", 80, "/", NULL, NULL, &url, &err));
    netlib_url_free(url);
}

/* Creates headers with and without credentials. */
static void create_request_headers(void) {
    netlib_error *err = NULL;
    netlib_headers *made = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    CHECK_OK(netlib_make_headers(options, &made, &err));
    CHECK_INT(0, (long long)netlib_headers_count(made));
    netlib_headers_free(made);
    netlib_headers_options_set_keep_alive(options, 1);
    netlib_headers_options_enable_accept_encoding(options, 1);
    netlib_headers_options_set_basic_auth(options, "user:pass");
    netlib_headers_options_set_proxy_basic_auth(options, "user:pass");
    CHECK_OK(netlib_make_headers(options, &made, &err));
    CHECK_STR("Basic dXNlcjpwYXNz", netlib_headers_get(made, "authorization", NULL));
    CHECK(netlib_headers_to_wire(made, NULL) != NULL);
    netlib_headers_free(made);
    netlib_headers_options_free(options);
}

/* Uses a retry policy with redirects to other origins, and the system's clock, random source and sleep. */
static void follow_decisions_of_a_retry_policy(void) {
    static const char *const fields[] = {
        "Location: http://other.test/\r\n",
        "Location: /next\r\n",
        "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        "",
    };
    static const int statuses[] = {302, 303, 503, 500};
    static const int32_t codes[] = {500, 503};
    netlib_error *err = NULL;
    netlib_url *url = NULL;
    netlib_headers *request = NULL;
    netlib_headers_options *header_options = netlib_headers_options_new();
    netlib_headers_options_set_basic_auth(header_options, "user:pass");
    CHECK_OK(netlib_make_headers(header_options, &request, &err));
    netlib_headers_options_free(header_options);
    netlib_retry_options *options = netlib_retry_options_new();
    netlib_retry_options_set_status_forcelist(options, codes, 2);
    netlib_retry_options_set_backoff_jitter(options, 0.001);
    netlib_retry_options_add_sensitive_headers(options);
    netlib_retry_options_set_redirect_profile(options, NETLIB_REDIRECT_SAFE);
    netlib_retry *retry = retry_of(options);
    CHECK_OK(netlib_parse_url("http://first.test/", NETLIB_NTS, &url, &err));
    for (int i = 0; i < 8; i++) {
        netlib_decision *decision = NULL;
        netlib_headers *next = NULL;
        netlib_response *response = response_of(statuses[i % 4], fields[i % 4]);
        CHECK_OK(netlib_retry_decide(retry, "GET", url, response, NULL, NULL, &decision, &err));
        CHECK_OK(netlib_decision_headers(decision, request, &next, &err));
        CHECK(netlib_headers_get(next, "authorization", NULL) == NULL);
        CHECK_OK(netlib_decision_sleep(decision, NULL, &err));
        netlib_retry_free(retry);
        netlib_url_free(url);
        retry = netlib_retry_clone(netlib_decision_retry(decision));
        url = netlib_url_clone(netlib_decision_url(decision));
        netlib_headers_free(next);
        netlib_response_free(response);
        netlib_decision_free(decision);
    }
    netlib_error *error = error_of(NETLIB_CONNECT_FAILED, NULL);
    for (netlib_status status = NETLIB_OK; status == NETLIB_OK;) {
        netlib_retry *next = NULL;
        status = netlib_retry_increment(retry, "GET", "/", NULL, error, &next, &err);
        netlib_retry_free(retry);
        retry = next;
    }
    CHECK_INT(NETLIB_MAX_RETRY, netlib_error_status(err));
    CHECK(netlib_error_message(err, NULL) != NULL);
    netlib_error_free(err);
    netlib_error_free(error);
    netlib_headers_free(request);
    netlib_url_free(url);
}

/* Uses limits, timeouts and responses, and tries to connect to a numeric address. */
static void use_limits_timeouts_and_responses_and_attempt_a_connection(void) {
    netlib_error *err = NULL;
    netlib_limit *limit = NULL;
    netlib_timeout *timeout = NULL;
    netlib_response *response = response_of(200, "Content-Length: 3\r\n");
    enum netlib_body_framing framing = NETLIB_BODY_FRAMING_NONE;
    int64_t length = 0;
    double seconds = 0;
    int fd = -1;
    CHECK_OK(netlib_response_framing(response, &framing, &length, &err));
    netlib_response_free(response);
    CHECK_OK(netlib_assert_header_parsing("A: b\r\n\r\n", NETLIB_NTS, &err));
    CHECK_OK(netlib_limit_new(0.001, NULL, &limit, &err));
    CHECK_OK(netlib_timeout_from_float(1, &timeout, &err));
    CHECK_OK(netlib_timeout_start_connect(timeout, &err));
    CHECK_OK(netlib_timeout_get_connect_duration(timeout, &seconds, &err));
    netlib_timeout_free(timeout);
    CHECK_STATUS(NETLIB_CONNECT_FAILED, netlib_create_connection("127.0.0.1", 1, NULL, NULL, &fd, &err));
    netlib_limit_free(limit);
}

static void call_functions_that_do_not_use_tls(void) {
    parse_build_and_resolve_urls();
    create_request_headers();
    follow_decisions_of_a_retry_policy();
    use_limits_timeouts_and_responses_and_attempt_a_connection();
}

static void functions_that_do_not_use_tls_read_no_file_and_no_environment_variable(void) {
    char **const usual = environ;
    void *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(closed != MAP_FAILED);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        opened_files = environment_reads = 0;
        environ = closed;
        call_functions_that_do_not_use_tls();
        environ = usual;
        _exit(opened_files != 0 ? 2 : environment_reads != 0 ? 3 : checks_failed != 0 ? 4 : 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(0, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    munmap(closed, 4096);
}

/* Creating a TLS context reads SSL_CERT_FILE and opens the file that the variable names, so the counters must count
 * both. */
static void creating_a_tls_context_opens_a_file_and_reads_environment_variables(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    unsetenv("SSL_CERT_DIR");
    setenv("SSL_CERT_FILE", "/nonexistent/ca.pem", 1);
    opened_files = environment_reads = 0;
    CHECK_STATUS(NETLIB_NO_TRUST_ANCHORS, netlib_tls_context_new(NULL, &context, &err));
    CHECK(environment_reads > 0);
    CHECK(opened_files > 0);
    netlib_tls_context_free(context);
    unsetenv("SSL_CERT_FILE");
}

/* If use_environment is 0, creating a context reads no environment variable, and a client context without verification
 * opens no file. */
static void disabling_use_environment_prevents_reads_of_environment_variables(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_use_environment(options, 0);
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    setenv("SSLKEYLOGFILE", "/nonexistent/keys", 1);
    opened_files = environment_reads = 0;
    CHECK_OK(netlib_tls_context_new(options, &context, &err));
    CHECK_INT(0, (long long)environment_reads);
    CHECK_INT(0, (long long)opened_files);
    netlib_tls_context_free(context);
    netlib_tls_options_set_use_environment(options, 1);
    CHECK_STATUS(NETLIB_IO, netlib_tls_context_new(options, &context, &err));
    CHECK(environment_reads > 0);
    unsetenv("SSLKEYLOGFILE");
    netlib_tls_options_free(options);
}

int main(void) {
    functions_that_do_not_use_tls_read_no_file_and_no_environment_variable();
    creating_a_tls_context_opens_a_file_and_reads_environment_variables();
    disabling_use_environment_prevents_reads_of_environment_variables();
    return report("ambient");
}
