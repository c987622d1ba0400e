/*
 * Valid arguments for the NULL sweep, one for each type of parameter.
 *
 * For a parameter P of type T of a function F, the sweep uses the first of these macros that this file defines:
 *
 *     MAKE__F__P       for this parameter of this function
 *     MAKE__T__P       for parameters with this type and name
 *     MAKE__T          for all parameters of this type
 *
 * In the name of a macro, T has `_ptr` instead of `*`, and the const of a handle is omitted: netlib_url_ptr,
 * const_char_ptr. Output parameters for a number or a handle need no macro. Two more macros exist:
 *
 *     USE_OPTIONS__netlib_x_options(options, err)   uses options, which reports an error that a setter stored
 *     BASELINE__F                                   the status of F with valid arguments if that is a failure
 *
 * The sweep frees nothing, because each call runs in a child process that ends after the call. The sweep defines HAVE_F
 * for each function F of the header, so that this file also compiles with a part of the header.
 */
#ifndef NETLIB_TEST_NULL_MAKERS_H
#define NETLIB_TEST_NULL_MAKERS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* If an argument cannot be created, the child process ends, and the case fails. */
static inline void must(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "null_makers.h: cannot make %s\n", what);
    _exit(3);
}

#define MUST(condition) must((condition), #condition)
#define MUST_OK(call) must((call) == NETLIB_OK, #call)

/* Values of number and enum types. */
#define MAKE__int32_t 1
#define MAKE__uint32_t 1
#define MAKE__uint64_t 1
#define MAKE__int64_t 0
#define MAKE__size_t 1
#define MAKE__double 1.0
#define MAKE__void_ptr NULL
#define MAKE__size_t__index 0
#define MAKE__size_t__n 0
#define MAKE__size_t__len 4
#define MAKE__size_t__count 1
#define MAKE__netlib_status NETLIB_READ_TIMEOUT
#define MAKE__enum_netlib_budget_kind NETLIB_BUDGET_TRANSIENT
#define MAKE__enum_netlib_budget_preset NETLIB_BUDGET_GRPC
#define MAKE__enum_netlib_distinguished_name NETLIB_DISTINGUISHED_NAME_ISSUER
#define MAKE__enum_netlib_jitter_kind NETLIB_JITTER_FULL
#define MAKE__enum_netlib_long_retry_after NETLIB_LONG_RETRY_AFTER_CLAMP
#define MAKE__enum_netlib_purpose NETLIB_PURPOSE_SERVER_AUTH
#define MAKE__enum_netlib_pushback NETLIB_PUSHBACK_GRPC
#define MAKE__enum_netlib_query_format NETLIB_QUERY_FORMAT_FORM
#define MAKE__enum_netlib_redirect_profile NETLIB_REDIRECT_SAFE
#define MAKE__enum_netlib_report NETLIB_REPORT_SUCCESS
#define MAKE__enum_netlib_retry_kind NETLIB_RETRY_KIND_READ
#define MAKE__enum_netlib_ssl_version NETLIB_SSL_VERSION_TLS
#define MAKE__enum_netlib_tls_version NETLIB_TLS_VERSION_1_3
#define MAKE__enum_netlib_url_component NETLIB_URL_COMPONENT_FORM_PART
#define MAKE__enum_netlib_url_reader NETLIB_URL_READER_WHATWG
#define MAKE__enum_netlib_verify_mode NETLIB_CERT_REQUIRED

/* Texts. Each text has at least MAKE__size_t__len bytes, which is 4. */
#define MAKE__const_char_ptr "text"
#define MAKE__const_char_ptr__method "GET"
#define MAKE__const_char_ptr__request_method "GET"
#define MAKE__const_char_ptr__url "http://127.0.0.1/"
#define MAKE__const_char_ptr__host "127.0.0.1"
#define MAKE__const_char_ptr__name "x-name"
#define MAKE__const_char_ptr_const_ptr (const char *const[]){"GET"}
#define MAKE__const_int32_t_ptr (const int32_t[]){503}
#define MAKE__const_void_ptr "data"
#define MAKE__const_uint8_t_ptr (const uint8_t *)"data"
#define MAKE__void_ptr__buf (char[64]){0}

/* basics */
static inline netlib_error *make_error(void) {
    netlib_error *error = NULL;
    MUST_OK(netlib_error_new(NETLIB_READ_TIMEOUT, "no answer", NULL, &error, NULL));
    return error;
}
static inline netlib_status use_error_options(netlib_error_options *options, netlib_error **err) {
    netlib_error *error = NULL;
    return netlib_error_new(NETLIB_READ_TIMEOUT, "no answer", options, &error, err);
}
#define MAKE__netlib_error_ptr make_error()
#define MAKE__netlib_error_options_ptr netlib_error_options_new()
#define USE_OPTIONS__netlib_error_options(options, err) use_error_options((options), (err))

/* limit */
#ifdef HAVE_netlib_limit_new
static inline netlib_limit *make_limit(void) {
    netlib_limit *limit = NULL;
    MUST_OK(netlib_limit_new(5.0, NULL, &limit, NULL));
    /* Opens the limit's descriptor, so that a cancel wakes a waiting thread. */
    int fd = -1;
    MUST_OK(netlib_limit_fd(limit, &fd, NULL));
    return limit;
}
#endif
#define MAKE__netlib_limit_ptr make_limit()
static inline void make_interrupt(void *ctx, enum netlib_interrupt *decision) {
    (void)ctx;
    *decision = NETLIB_INTERRUPT_CONTINUE;
}
#define MAKE__netlib_interrupt_fn make_interrupt

#ifdef HAVE_netlib_percent_encode
static inline netlib_bytes *make_bytes(void) {
    netlib_bytes *bytes = NULL;
    MUST_OK(netlib_percent_encode(NETLIB_URL_COMPONENT_PATH, "data", 4, &bytes, NULL));
    return bytes;
}
#endif
#define MAKE__netlib_bytes_ptr make_bytes()

/* url */
#ifdef HAVE_netlib_parse_url
static inline netlib_url *make_url(void) {
    netlib_url *url = NULL;
    MUST_OK(netlib_parse_url("http://user:password@example.com:8080/a?b#c", NETLIB_NTS, &url, NULL));
    return url;
}
#endif
#define MAKE__netlib_url_ptr make_url()
#ifdef HAVE_netlib_url_compare_readers
static inline netlib_url_readings *make_url_readings(void) {
    netlib_url_readings *readings = NULL;
    MUST_OK(netlib_url_compare_readers("http://example.com", NETLIB_NTS, &readings, NULL));
    return readings;
}
#endif
#define MAKE__netlib_url_readings_ptr make_url_readings()
#ifdef HAVE_netlib_url_from_options
static inline netlib_status use_url_options(netlib_url_options *options, netlib_error **err) {
    netlib_url *url = NULL;
    return netlib_url_from_options(options, &url, err);
}
#endif
#define MAKE__netlib_url_options_ptr netlib_url_to_options(make_url())
#define USE_OPTIONS__netlib_url_options(options, err) use_url_options((options), (err))
#ifdef HAVE_netlib_query_parse
static inline netlib_query *make_query(void) {
    netlib_query *query = NULL;
    MUST_OK(netlib_query_parse("a=1&b", NETLIB_NTS, NETLIB_QUERY_FORMAT_FORM, &query, NULL));
    return query;
}
#endif
#define MAKE__netlib_query_ptr make_query()
#define MAKE__size_t__from 0
#define MAKE__size_t__name_len 4
#define MAKE__netlib_query_append__value_len NETLIB_NTS
#define MAKE__netlib_query_set__value_len NETLIB_NTS
#define MAKE__netlib_query_parse__len NETLIB_NTS
#define MAKE__netlib_parse_url_strict__len NETLIB_NTS
#define MAKE__netlib_url_new__scheme "http"
#define MAKE__netlib_url_new__path "/a"
#define MAKE__netlib_url_new__port 80

/* timeout */
#ifdef HAVE_netlib_timeout_new
static inline netlib_timeout *make_timeout(void) {
    netlib_timeout *timeout = NULL;
    MUST_OK(netlib_timeout_new(3.0, 1.0, 2.0, &timeout, NULL));
    return timeout;
}
/* Returns a timeout whose clock has started, for functions that need a started clock. */
static inline netlib_timeout *make_started_timeout(void) {
    netlib_timeout *timeout = make_timeout();
    MUST_OK(netlib_timeout_start_connect(timeout, NULL));
    return timeout;
}
#endif
#define MAKE__netlib_timeout_ptr make_timeout()
#define MAKE__netlib_timeout_get_connect_duration__timeout make_started_timeout()
#define MAKE__netlib_timeout_read_timeout__timeout make_started_timeout()

static inline int32_t make_clock_answer(void *ctx, double *seconds) {
    (void)ctx;
    *seconds = 1.0;
    return 0;
}
static inline void make_sleep_answer(void *ctx, double seconds, enum netlib_outcome *outcome) {
    (void)ctx;
    (void)seconds;
    *outcome = NETLIB_OUTCOME_DONE;
}
static inline void make_ctx_free(void *ctx) { (void)ctx; }
#define MAKE__netlib_ctx_free_fn make_ctx_free
#define MAKE__netlib_clock_fn make_clock_answer
#define MAKE__netlib_wall_clock_fn make_clock_answer
#define MAKE__netlib_random_fn make_clock_answer
#define MAKE__netlib_sleep_fn make_sleep_answer

/* retry */
#ifdef HAVE_netlib_retry_new
static inline netlib_retry *make_retry(void) {
    netlib_retry *retry = NULL;
    MUST_OK(netlib_retry_new(NULL, &retry, NULL));
    return retry;
}
static inline netlib_status use_retry_options(netlib_retry_options *options, netlib_error **err) {
    netlib_retry *retry = NULL;
    return netlib_retry_new(options, &retry, err);
}
#endif
#define MAKE__netlib_retry_ptr make_retry()
#define MAKE__netlib_retry_options_ptr netlib_retry_options_new()
#define USE_OPTIONS__netlib_retry_options(options, err) use_retry_options((options), (err))
#define MAKE__netlib_retry_parse_retry_after__value "10"
#ifdef HAVE_netlib_retry_decide
static inline netlib_decision *make_decision(void) {
    netlib_decision *decision = NULL;
    netlib_error *error = make_error();
    MUST_OK(netlib_retry_decide(make_retry(), "GET", make_url(), NULL, error, NULL, &decision, NULL));
    return decision;
}
#endif
#define MAKE__netlib_decision_ptr make_decision()

#ifdef HAVE_netlib_attempts_new
static inline netlib_attempts *make_attempts(void) {
    netlib_attempts *attempts = NULL;
    netlib_error *err = NULL;
    MUST_OK(netlib_attempts_new(netlib_retry_recommended(), "GET", make_url(), NULL, 1, NULL, &attempts, &err));
    return attempts;
}
#define MAKE__netlib_attempts_ptr make_attempts()
#endif

/* overload */
#ifdef HAVE_netlib_store_new
static inline void make_swap(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired, double ttl,
                             double timeout, enum netlib_swap *answer, uint64_t *actual, double *now) {
    (void)ctx, (void)key, (void)len, (void)expected, (void)desired, (void)ttl, (void)timeout, (void)actual, (void)now;
    *answer = NETLIB_SWAP_UNAVAILABLE;
}
static inline netlib_store *make_store(void) {
    netlib_store *store = NULL;
    MUST_OK(netlib_store_new(make_swap, 1.0, NULL, NULL, &store, NULL));
    return store;
}
#define MAKE__netlib_store_swap_fn make_swap
#define MAKE__netlib_store_ptr make_store()
#define MAKE__enum_netlib_unavailable NETLIB_UNAVAILABLE_OPEN
/* The sweep leaves no file behind, because the file cannot be created. */
#define MAKE__netlib_store_file__path "/dev/null/words"
#define BASELINE__netlib_store_file NETLIB_IO
#endif

#ifdef HAVE_netlib_retry_budget_new
static inline netlib_retry_budget *make_retry_budget(void) {
    netlib_retry_budget *budget = NULL;
    MUST_OK(netlib_retry_budget_new(NULL, &budget, NULL));
    return budget;
}
static inline netlib_status use_retry_budget_options(netlib_retry_budget_options *options, netlib_error **err) {
    netlib_retry_budget *budget = NULL;
    return netlib_retry_budget_new(options, &budget, err);
}
#endif
#define MAKE__netlib_retry_budget_ptr make_retry_budget()
#define MAKE__netlib_retry_budget_options_ptr netlib_retry_budget_options_new()
#define USE_OPTIONS__netlib_retry_budget_options(options, err) use_retry_budget_options((options), (err))
#ifdef HAVE_netlib_breaker_new
static inline netlib_breaker *make_breaker(void) {
    netlib_breaker *breaker = NULL;
    MUST_OK(netlib_breaker_new(NULL, &breaker, NULL));
    return breaker;
}
static inline netlib_status use_breaker_options(netlib_breaker_options *options, netlib_error **err) {
    netlib_breaker *breaker = NULL;
    return netlib_breaker_new(options, &breaker, err);
}
#endif
#define MAKE__netlib_breaker_ptr make_breaker()
#define MAKE__netlib_breaker_options_ptr netlib_breaker_options_new()
#define USE_OPTIONS__netlib_breaker_options(options, err) use_breaker_options((options), (err))
#ifdef HAVE_netlib_rate_new
static inline netlib_rate *make_rate(void) {
    netlib_rate *rate = NULL;
    MUST_OK(netlib_rate_new(NULL, &rate, NULL));
    return rate;
}
static inline netlib_status use_rate_options(netlib_rate_options *options, netlib_error **err) {
    netlib_rate *rate = NULL;
    return netlib_rate_new(options, &rate, err);
}
#endif
#define MAKE__netlib_rate_ptr make_rate()
#define MAKE__netlib_rate_options_ptr netlib_rate_options_new()
#define USE_OPTIONS__netlib_rate_options(options, err) use_rate_options((options), (err))
#ifdef HAVE_netlib_hedge_start
static inline netlib_hedge *make_hedge(void) {
    netlib_hedge *hedge = NULL;
    MUST_OK(netlib_hedge_new(NULL, &hedge, NULL));
    return hedge;
}
static inline netlib_hedge_plan *make_hedge_plan(void) {
    netlib_hedge_plan *plan = NULL;
    MUST_OK(netlib_hedge_start(make_hedge(), "key", 3, "GET", &plan, NULL));
    return plan;
}
static inline netlib_status use_hedge_options(netlib_hedge_options *options, netlib_error **err) {
    netlib_hedge *hedge = NULL;
    return netlib_hedge_new(options, &hedge, err);
}
#endif
#define MAKE__netlib_hedge_ptr make_hedge()
#define MAKE__netlib_hedge_plan_ptr make_hedge_plan()
#define MAKE__netlib_hedge_options_ptr netlib_hedge_options_new()
#define USE_OPTIONS__netlib_hedge_options(options, err) use_hedge_options((options), (err))
#define MAKE__netlib_hedge_options_set_percentile__percentile 95.0
#define MAKE__netlib_hedge_options_set_max_attempts__max_attempts 2
#define MAKE__enum_netlib_hedge_event NETLIB_HEDGE_EVENT_SUCCESS

/* headers */
#ifdef HAVE_netlib_make_headers
static inline netlib_status use_headers_options(netlib_headers_options *options, netlib_error **err) {
    netlib_headers *headers = NULL;
    return netlib_make_headers(options, &headers, err);
}
static inline netlib_headers *make_headers(void) {
    netlib_headers *headers = NULL;
    netlib_headers_options *options = netlib_headers_options_new();
    netlib_headers_options_set_user_agent(options, "sweep");
    MUST_OK(netlib_make_headers(options, &headers, NULL));
    netlib_headers_options_free(options);
    return headers;
}
#endif
#define MAKE__netlib_headers_ptr make_headers()
#define MAKE__netlib_headers_options_ptr netlib_headers_options_new()
#define USE_OPTIONS__netlib_headers_options(options, err) use_headers_options((options), (err))

/* request */
#ifdef HAVE_netlib_request_new
static inline netlib_request *make_request(void) {
    netlib_request *request = NULL;
    MUST_OK(netlib_request_new("GET", make_url(), NULL, NETLIB_REQUEST_FORM_ORIGIN, &request, NULL));
    return request;
}
#endif
#define MAKE__netlib_request_ptr make_request()
#define MAKE__enum_netlib_request_form NETLIB_REQUEST_FORM_ORIGIN

/* response */
#ifdef HAVE_netlib_response_parse
#define SWEEP_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
static inline netlib_response *make_response(void) {
    netlib_response *response = NULL;
    size_t head_len = 0;
    MUST_OK(netlib_response_parse("GET", SWEEP_HEAD, NETLIB_NTS, NULL, &response, &head_len, NULL));
    return response;
}
#endif
#ifdef HAVE_netlib_response_check_tunnel
static inline netlib_response *make_connect_response(void) {
    netlib_response *response = NULL;
    size_t head_len = 0;
    MUST_OK(netlib_response_parse("CONNECT", SWEEP_HEAD, NETLIB_NTS, NULL, &response, &head_len, NULL));
    return response;
}
#endif
#define MAKE__netlib_response_ptr make_response()
#define MAKE__netlib_response_check_tunnel__response make_connect_response()
#define MAKE__netlib_response_new__status 200
#define MAKE__netlib_response_parse__head SWEEP_HEAD
#define MAKE__netlib_response_parse__len (sizeof SWEEP_HEAD - 1)
#define MAKE__netlib_response_parse__state (&(uint64_t){0})
#define MAKE__netlib_response_parse_final__head SWEEP_HEAD
#define MAKE__netlib_response_parse_final__len (sizeof SWEEP_HEAD - 1)
#define MAKE__netlib_response_parse_final__state (&(uint64_t){0})
#define MAKE__netlib_assert_header_parsing__block "A: b\r\n\r\n"
#define MAKE__netlib_assert_header_parsing__len 8
#ifdef HAVE_netlib_body_decoder_new
static inline netlib_body_decoder *make_body_decoder(void) {
    netlib_body_decoder *decoder = NULL;
    MUST_OK(netlib_body_decoder_new(make_response(), &decoder, NULL));
    return decoder;
}
#endif
#define MAKE__netlib_body_decoder_ptr make_body_decoder()
#define MAKE__netlib_body_decoder_set_limits__max_trailer 2

/* body */
static inline int32_t make_body_read(void *ctx, void *buf, size_t len, size_t *n) {
    (void)ctx;
    (void)buf;
    (void)len;
    *n = 0;
    return 0;
}
static inline int32_t make_body_tell(void *ctx, int64_t *position) {
    (void)ctx;
    *position = 0;
    return 0;
}
static inline void make_body_seek(void *ctx, int64_t position, enum netlib_outcome *outcome) {
    (void)ctx;
    (void)position;
    *outcome = NETLIB_OUTCOME_DONE;
}
static inline int32_t make_body_is_closed(void *ctx, int32_t *closed) {
    (void)ctx;
    *closed = 0;
    return 0;
}
#define MAKE__netlib_body_read_fn make_body_read
#define MAKE__netlib_body_tell_fn make_body_tell
#define MAKE__netlib_body_seek_fn make_body_seek
#define MAKE__netlib_body_is_closed_fn make_body_is_closed
#ifdef HAVE_netlib_body_from_memory
static inline netlib_body *make_body(void) {
    netlib_body *body = NULL;
    MUST_OK(netlib_body_from_memory("data", 4, &body, NULL));
    return body;
}
#endif
#define MAKE__netlib_body_ptr make_body()
#define MAKE__netlib_chunk_encode__size 64
#define MAKE__netlib_chunk_encode__data_len 4
#define MAKE__netlib_chunk_encode_last__size 64

/* socket: descriptors on which no call blocks */
static inline int make_readable_fd(void) {
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MUST(write(pair[1], "data", 4) == 4);
    return pair[0];
}
/* Returns a port with a listener. */
static inline int32_t make_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(fd >= 0);
    MUST(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    MUST(listen(fd, 8) == 0);
    MUST(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    return ntohs(address.sin_port);
}
#define MAKE__int make_readable_fd()
#define MAKE__int32_t__port make_port()
#ifdef HAVE_netlib_create_connection
static inline netlib_status use_connect_options(netlib_connect_options *options, netlib_error **err) {
    int fd = -1;
    return netlib_create_connection("127.0.0.1", make_port(), options, NULL, &fd, err);
}
#endif
#ifdef HAVE_netlib_stream_connect
/* Returns the URL of a listener. Its scheme is http, so that no call waits for a handshake. */
static inline netlib_url *make_listener_url(void) {
    netlib_url *url = NULL;
    MUST_OK(netlib_url_new("http", NULL, "127.0.0.1", make_port(), NULL, NULL, NULL, &url, NULL));
    return url;
}
#endif
#define MAKE__netlib_stream_connect__url make_listener_url()
#define MAKE__netlib_connect_options_ptr netlib_connect_options_new()
#define USE_OPTIONS__netlib_connect_options(options, err) use_connect_options((options), (err))
/* Return the address of a listening port, as a sockaddr and as an address list. */
#ifdef HAVE_netlib_connect_new_addresses
static inline const void *make_sockaddr(void) {
    static struct sockaddr_in address;
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)make_port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return &address;
}
static inline netlib_addresses *make_addresses(void) {
    netlib_addresses *addresses = netlib_addresses_new();
    MUST_OK(netlib_addresses_add(addresses, make_sockaddr(), sizeof(struct sockaddr_in), NULL));
    return addresses;
}
static inline netlib_connect *make_connect(void) {
    netlib_connect *connect = NULL;
    MUST_OK(netlib_connect_new("127.0.0.1", make_port(), NULL, &connect, NULL));
    return connect;
}
/* Returns a netlib_connect whose run has ended, so that the result of netlib_connect_step does not depend on time. */
static inline netlib_connect *make_ended_connect(void) {
    netlib_connect *connect = make_connect();
    int fd = -1;
    MUST_OK(netlib_connect_run(connect, NULL, &fd, NULL));
    return connect;
}
static inline int32_t make_resolve(void *ctx, const char *host, int32_t port, double left,
                                   netlib_addresses *addresses) {
    (void)ctx;
    (void)host;
    (void)port;
    (void)left;
    return netlib_addresses_add(addresses, make_sockaddr(), sizeof(struct sockaddr_in), NULL);
}
#endif
/* Returns the abstract name of a listening socket. The system chooses the name, which always has six bytes. */
static inline const char *make_unix_name(void) {
    static struct sockaddr_un address;
    address.sun_family = AF_UNIX;
    socklen_t len = sizeof address.sun_family;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    MUST(bind(fd, (const struct sockaddr *)&address, len) == 0 && listen(fd, 8) == 0);
    len = sizeof address;
    MUST(getsockname(fd, (struct sockaddr *)&address, &len) == 0 && len == sizeof address.sun_family + 6);
    return address.sun_path;
}
#define MAKE__netlib_create_unix_connection__path make_unix_name()
#define MAKE__netlib_create_unix_connection__len 6
#define MAKE__netlib_connect_new_unix__path make_unix_name()
#define MAKE__netlib_connect_new_unix__len 6

#ifdef HAVE_netlib_throughput_new
static inline netlib_throughput *make_throughput(void) {
    netlib_throughput *throughput = NULL;
    MUST_OK(netlib_throughput_new(1, 60.0, &throughput, NULL));
    return throughput;
}
#endif
#define MAKE__netlib_throughput_ptr make_throughput()
#define MAKE__netlib_addresses_ptr make_addresses()
#define MAKE__netlib_addresses_add__address make_sockaddr()
#define MAKE__netlib_addresses_add__len sizeof(struct sockaddr_in)
#define MAKE__netlib_connect_ptr make_connect()
#define MAKE__netlib_connect_step__connect make_ended_connect()
#define BASELINE__netlib_connect_step NETLIB_CLOSED
#define MAKE__netlib_resolve_fn make_resolve
#define MAKE__enum_netlib_address_family NETLIB_ADDRESS_FAMILY_IPV4
#define MAKE__netlib_wait__events 1 /* POLLIN */
#define BASELINE__netlib_connect_supply_addresses NETLIB_INVALID_ARGUMENT
#define BASELINE__netlib_connect_supply_error NETLIB_INVALID_ARGUMENT
#define BASELINE__netlib_stream_use_timeout NETLIB_TIMEOUT_STATE_ERROR
#define MAKE__netlib_connect_options_add_socket_option__level SOL_SOCKET
#define MAKE__netlib_connect_options_add_socket_option__name SO_KEEPALIVE
#define MAKE__netlib_connect_options_add_socket_option__value (&(int){1})
#ifdef HAVE_netlib_connect_options_set_address_callback
static inline void make_address_answer(void *ctx, const void *address, size_t len, int32_t classes,
                                       enum netlib_verdict *verdict) {
    (void)ctx;
    (void)address;
    (void)len;
    (void)classes;
    *verdict = NETLIB_VERDICT_ALLOW;
}
#endif
#define MAKE__netlib_address_fn make_address_answer
#define MAKE__netlib_classify_address__address (&(struct sockaddr_in){.sin_family = AF_INET})
#define MAKE__netlib_classify_address__len sizeof(struct sockaddr_in)
#define MAKE__netlib_classify_address_text__text "127.0.0.1"

/* tls; the sweep writes a certificate and its key */
#ifdef HAVE_netlib_tls_context_new
#define CERT_FILE TEST_DIRECTORY "/cert.pem"
#define KEY_FILE TEST_DIRECTORY "/key.pem"
static inline char *make_text_of(const char *path) {
    static char text[2][16384];
    static unsigned calls;
    char *into = text[calls++ % 2];
    FILE *file = fopen(path, "rb");
    MUST(file != NULL);
    size_t n = fread(into, 1, sizeof text[0] - 1, file);
    into[n] = '\0';
    fclose(file);
    return into;
}
static inline netlib_tls_options *make_tls_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_add_ca_file(options, CERT_FILE);
    return options;
}
static inline netlib_tls_context *make_tls_context(void) {
    netlib_tls_context *context = NULL;
    netlib_tls_options *options = make_tls_options();
    netlib_tls_options_set_identity_files(options, CERT_FILE, KEY_FILE);
    MUST_OK(netlib_tls_context_new(options, &context, NULL));
    netlib_tls_options_free(options);
    return context;
}
static inline netlib_status use_tls_options(netlib_tls_options *options, netlib_error **err) {
    netlib_tls_context *context = NULL;
    return netlib_tls_context_new(options, &context, err);
}
/* Returns a stream in non-blocking mode, because its peer sends nothing. */
static inline netlib_stream *make_tls_stream(void) {
    netlib_stream *stream = NULL;
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MUST_OK(netlib_tls_wrap_fd(make_tls_context(), pair[0], "localhost", &stream, NULL));
    MUST_OK(netlib_stream_set_blocking(stream, 0, NULL));
    return stream;
}
/* Returns a socket whose peer has sent close_notify. */
static inline int make_ended_socket(void) {
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MUST(shutdown(pair[1], SHUT_WR) == 0);
    return pair[0];
}
#endif
/* Callbacks of a transport that transfers no bytes. */
static inline int32_t make_stream_read(void *ctx, void *buf, size_t len, size_t *n) {
    (void)ctx;
    (void)buf;
    (void)len;
    (void)n;
    return 100; /* NETLIB_WANT_READ */
}
static inline int32_t make_stream_write(void *ctx, const void *buf, size_t len, size_t *n) {
    (void)ctx;
    (void)buf;
    (void)len;
    (void)n;
    return 101; /* NETLIB_WANT_WRITE */
}
#define MAKE__netlib_stream_read_fn make_stream_read
#define MAKE__netlib_stream_write_fn make_stream_write
#ifdef HAVE_netlib_stream_writev
static const netlib_slice make_slice = {"data", 4};
#endif
#define MAKE__netlib_slice_ptr &make_slice
#ifdef HAVE_netlib_headers_new
static const netlib_header_field make_header_field = {"name", "value"};
#endif
#define MAKE__netlib_header_field_ptr &make_header_field
#ifdef HAVE_netlib_tls_engine_new_client
static inline netlib_tls_engine *make_tls_engine(void) {
    netlib_tls_engine *engine = NULL;
    MUST_OK(netlib_tls_engine_new_client(make_tls_context(), "localhost", &engine, NULL));
    return engine;
}
#endif
#define MAKE__netlib_tls_engine_ptr make_tls_engine()
#ifdef HAVE_netlib_tls_options_set_servername_callback
static inline void make_servername_answer(void *ctx, const char *server_name, netlib_tls_context **replacement,
                                          enum netlib_verdict *verdict) {
    (void)ctx;
    (void)server_name;
    (void)replacement;
    *verdict = NETLIB_VERDICT_ALLOW;
}
#endif
#define MAKE__netlib_tls_servername_fn make_servername_answer
#define MAKE__netlib_tls_options_ptr make_tls_options()
#define USE_OPTIONS__netlib_tls_options(options, err) use_tls_options((options), (err))
#define MAKE__netlib_tls_context_ptr make_tls_context()
#define MAKE__netlib_tls_context_verify_chain__chain make_text_of(CERT_FILE)
#define MAKE__netlib_tls_context_verify_chain__len NETLIB_NTS
#define MAKE__netlib_tls_context_verify_chain__name "localhost"
#define MAKE__netlib_tls_context_verify_chain__time (&(const double){1767225600.0})
#ifdef HAVE_netlib_certificate_parse
static inline netlib_certificate *make_certificate(void) {
    netlib_certificate *certificate = NULL;
    MUST_OK(netlib_certificate_parse(make_text_of(CERT_FILE), NETLIB_NTS, &certificate, NULL));
    return certificate;
}
#endif
#define MAKE__netlib_tls_options_add_ca_dir__path TEST_DIRECTORY
#define MAKE__netlib_certificate_ptr make_certificate()
#define MAKE__netlib_certificate_parse__data make_text_of(CERT_FILE)
#define MAKE__netlib_certificate_parse__len NETLIB_NTS
#define MAKE__const_char_ptr__fingerprint "900150983cd24fb0d6963f7d28e17f72" /* MD5 of "abc" */
#define MAKE__netlib_assert_fingerprint__cert "abc"
#define MAKE__netlib_assert_fingerprint__cert_len 3
#define MAKE__netlib_stream_ptr make_tls_stream()
#define MAKE__const_char_ptr__server_hostname "localhost"
#define MAKE__const_char_ptr__path CERT_FILE
#define MAKE__const_char_ptr__chain_path CERT_FILE
#define MAKE__const_char_ptr__key_path KEY_FILE
#define MAKE__const_char_ptr__chain make_text_of(CERT_FILE)
#define MAKE__const_char_ptr__key make_text_of(KEY_FILE)
/* An ECHConfigList for "localhost". */
#define MAKE__const_void_ptr__config_list \
    "ADz+DQA4BwAgACAJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQAEAAEAAUAJbG9jYWxob3N0AAA="
#define MAKE__netlib_tls_context_with_ech__len NETLIB_NTS
#define MAKE__netlib_tls_options_set_ech_config_list__len NETLIB_NTS
#define MAKE__const_void_ptr__chain make_text_of(CERT_FILE)
#define MAKE__const_void_ptr__key make_text_of(KEY_FILE)
#define MAKE__size_t__chain_len NETLIB_NTS
#define MAKE__size_t__key_len NETLIB_NTS
#define MAKE__netlib_tls_options_add_ca_data__data make_text_of(CERT_FILE)
#define MAKE__netlib_tls_options_add_ca_data__len NETLIB_NTS
#define MAKE__const_char_ptr__candidate "CERT_REQUIRED"
#define MAKE__netlib_resolve_ssl_version__candidate "PROTOCOL_TLS"
#define MAKE__netlib_ssl_wrap_socket__fd make_ended_socket()
#define MAKE__netlib_ssl_wrap_socket__tls_options make_tls_options()
#define BASELINE__netlib_ssl_wrap_socket NETLIB_TLS_HANDSHAKE_EOF
#define MAKE__const_char_ptr__ciphers "HIGH"
#ifdef HAVE_netlib_tls_engine_take_session
static inline netlib_tls_context *make_resuming_context(void) {
    static netlib_tls_context *context;
    if (context == NULL) context = make_tls_context();
    return context;
}
static inline netlib_stream *make_resuming_stream(void) {
    netlib_stream *stream = NULL;
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MUST_OK(netlib_tls_wrap_fd(make_resuming_context(), pair[0], "localhost", &stream, NULL));
    return stream;
}
static inline netlib_tls_engine *make_resuming_engine(void) {
    netlib_tls_engine *engine = NULL;
    MUST_OK(netlib_tls_engine_new_client(make_resuming_context(), "localhost", &engine, NULL));
    return engine;
}
static inline netlib_tls_session *make_tls_session(void) {
    netlib_tls_engine *ends[2] = {make_resuming_engine(), NULL};
    netlib_tls_session *session = NULL;
    MUST_OK(netlib_tls_engine_new_server(make_resuming_context(), &ends[1], NULL));
    for (int turn = 0; turn < 8; turn++) {
        char bytes[20000];
        size_t len = 0, n = 0;
        (void)netlib_tls_engine_handshake(ends[turn % 2], NULL);
        MUST_OK(netlib_tls_engine_drain(ends[turn % 2], bytes, sizeof bytes, &len, NULL));
        MUST_OK(netlib_tls_engine_feed(ends[1 - turn % 2], bytes, len, &n, NULL));
        (void)netlib_tls_engine_read(ends[1 - turn % 2], bytes, sizeof bytes, &n, NULL);
    }
    MUST_OK(netlib_tls_engine_take_session(ends[0], &session, NULL));
    MUST(session != NULL);
    return session;
}
#endif
#define MAKE__netlib_tls_session_ptr make_tls_session()
#define MAKE__netlib_stream_set_session__stream make_resuming_stream()
#define MAKE__netlib_tls_engine_set_session__engine make_resuming_engine()
#define MAKE__netlib_connection_key__key (char[NETLIB_CONNECTION_KEY_SIZE]){0}
#define MAKE__netlib_connection_key__size NETLIB_CONNECTION_KEY_SIZE

#endif
