/*
 * netlib.h - the small but hard parts of an HTTP client
 *
 * netlib implements retry policies, time limits, URLs, request heads, connecting, streams with and without TLS on a
 * socket that you already have, request bodies that can be sent again, and the parsing of response heads and bodies.
 * Each part works without the others, and none of them runs an event loop of its own.
 *
 * netlib does not implement HTTP/2 and HTTP/3, cookies, caching, SOCKS proxies, or authentication schemes other than
 * the headers for Basic authentication. netlib does not decode content codings such as gzip: a program that requests a
 * compressed response decompresses it itself. netlib contains no pool of connections, reads no proxy settings, and
 * sends no request on its own.
 *
 * Each section begins with a line of "=". Long sections consist of chapters, which begin with "----".
 *
 * This file is generated from the sources of the library. To change it, change the sources and run `make header`.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * `cc example.c $(pkg-config --cflags --libs netlib)` compiles a program that uses netlib. A longer example is the file
 * examples-c/get.c, which retries after failures and follows redirects, with the recommended retry settings.
 * The program below sends one request, and prints the body of the response.
 *
 *     #include <netlib.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv) {
 *         if (argc != 2) return fprintf(stderr, "usage: %s https://host/path\n", argv[0]), 2;
 *         char buf[16384];
 *         size_t len = 0, n = 0;
 *         netlib_limit *limit = NULL;
 *         netlib_tls_context *tls = NULL;
 *         netlib_url *url = NULL;
 *         netlib_request *request = NULL;
 *         netlib_stream *stream = NULL;
 *         netlib_response *response = NULL;
 *         netlib_body_decoder *decoder = NULL;
 *         netlib_error *err = NULL;
 *         // The limit of 30 seconds bounds the time of all calls together. After a failure, no later call is made.
 *         netlib_status status = netlib_limit_new(30.0, NULL, &limit, &err);
 *         // One context per process suffices. It speaks TLS 1.2 and 1.3, and verifies certificates and host names.
 *         if (!status) status = netlib_tls_context_new(NULL, &tls, &err);
 *         // The strict parser is for URLs from untrusted sources.
 *         if (!status) status = netlib_parse_url_strict(argv[1], NETLIB_NTS, &url, &err);
 *         if (!status) status = netlib_request_new("GET", url, NULL, NETLIB_REQUEST_FORM_ORIGIN, &request, &err);
 *         if (!status) status = netlib_stream_connect(url, tls, NULL, limit, &stream, &err);
 *         const char *head = netlib_request_to_wire(request, &len);
 *         if (!status) status = netlib_stream_write(stream, head, len, &n, &err);
 *         if (!status) status = netlib_stream_read_response(stream, "GET", &response, &err);
 *         if (!status) status = netlib_body_decoder_new(response, &decoder, &err);
 *         while (!status) {
 *             status = netlib_stream_read_body(stream, decoder, buf, sizeof buf, &n, &err);
 *             if (fwrite(buf, 1, n, stdout) != n) break;
 *         }
 *         if (err != NULL) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));
 *         netlib_error_free(err), netlib_body_decoder_free(decoder), netlib_response_free(response);
 *         netlib_stream_free(stream), netlib_request_free(request), netlib_url_free(url);
 *         netlib_tls_context_free(tls), netlib_limit_free(limit);
 *         return status != NETLIB_END_OF_STREAM || fflush(stdout) != 0; // END_OF_STREAM: the body is complete
 *     }
 *
 * CONVENTIONS. The following conventions hold for all functions. The comment of a function does not repeat the
 * conventions, but states exceptions to them.
 *
 * OWNERSHIP. The caller owns a handle that is stored through a `netlib_x **` parameter or returned as a non-const
 * `netlib_x *`: free the handle once with netlib_x_free, which accepts NULL and does no I/O. The caller also owns a
 * descriptor that is stored through an `int *` parameter, and closes it. A returned const pointer is borrowed from the
 * first argument, and valid until that argument is freed. No function takes ownership of a handle: before a function
 * returns, it copies its inputs, and takes its own references to handles that it keeps. An `int fd` argument is
 * borrowed. A function first zeroes its outputs (and sets an output descriptor to -1), and fills the outputs only on
 * success. An output must not alias an input or another output. netlib_x_clone returns another reference to the same
 * object; netlib_x_options_clone returns an independent copy.
 *
 * NULL. A pointer argument must not be NULL, unless the comment of the parameter says "May be NULL". In addition, NULL
 * is accepted for:
 *     - the first argument of a function without a status, if it is a handle: a setter or netlib_x_free then does
 *       nothing, and a getter returns NULL or 0, or the value that its comment gives "for NULL";
 *     - `err`; `ctx` and `ctx_free` of a callback;
 *     - a `const netlib_limit *` that is not the first argument (no limit), and a `const netlib_x_options *`
 *       (defaults);
 *     - the `size_t *len` or `size_t *count` that comes with a returned pointer;
 *     - a buffer or array whose length is 0 or NETLIB_NTS. NULL with another length is NETLIB_NULL_ARGUMENT.
 * For NULL in any other place, a function that returns a status fails with NETLIB_NULL_ARGUMENT and a message that
 * names the parameter. A setter of options records the error (see OPTIONS), and any other function without a status
 * returns the same as for a NULL handle. As a text argument, NULL means that the text is absent, and "" that the text
 * is present and empty.
 *
 * ERRORS. A function that can fail returns a netlib_status, which is NETLIB_OK (0) on success, and its last parameter
 * is a `netlib_error **err`. The function overwrites *err, but never frees its old value: on success and for a status
 * of NETLIB_CLASS_PROGRESS it stores NULL, otherwise an error that the caller owns. In addition to the statuses that
 * its comment lists, any function may return NETLIB_OK, NETLIB_NULL_ARGUMENT, NETLIB_INVALID_ARGUMENT (for a length
 * that no object can have), NETLIB_OUT_OF_MEMORY, and NETLIB_INTERNAL (for a bug of netlib that netlib caught). If a
 * small allocation fails, the process aborts. netlib never raises SIGPIPE.
 *
 * THREADS. The comment of each handle type contains a tag, which holds for every function that takes such a handle:
 *     Immutable           use it from any threads at once. A function that makes a change returns a new handle. Cloning
 *                         is fast.
 *     Thread-safe         call it from any threads at once.
 *     Concurrent          one reader and one writer at once.
 *     One call at a time  any thread may make the call.
 * The tag "@threads" of a function states an exception. netlib has no thread affinity, no initialisation, no
 * thread-local last error, and no global setting except the default timeout. pthread_cancel, unless it is
 * asynchronous, does not end a thread during a netlib call or its callbacks, but at the first cancellation point after
 * the call. To end a call that waits, use netlib_limit_cancel.
 *
 * WAITING. A function may wait in two cases: its comment has the tag "@blocks", which states when the function waits;
 * or it has a parameter `const netlib_limit *limit`, and does more than store the limit. "@blocks never" marks a
 * function with the parameter `limit` that does not wait. No other function waits.
 *
 * TEXT. Names, paths, methods, header names and header values are NUL-terminated `const char *` arguments, in UTF-8 by
 * default. Data (URLs, response heads, PEM, DER) is passed as a pointer and a length in bytes; for a NUL-terminated
 * string, the length may be NETLIB_NTS. An array is passed with the number of its elements. Returned text is
 * NUL-terminated; its `size_t *len` receives the length without the NUL. An `index` is 0 to count - 1; for a larger
 * index, a getter returns the same as for NULL.
 *
 * NUMBERS. Seconds have the type double. Retry counters have the type int32_t: NETLIB_NONE means no limit; with
 * NETLIB_RETRY_DISABLED, the first error or response is returned unchanged; with 0, the first retry fails with
 * NETLIB_MAX_RETRY; any other negative counter, such as -1, is used up. Truth values have the type int32_t and are 0 or
 * 1; a function refuses any other value. A parameter for one value of an enum has the type `enum netlib_x`: a C++
 * compiler refuses any other value; a C compiler warns about a value of another enum (-Wextra), but not about a plain
 * number. If the number is no value of the enum, the function fails with NETLIB_INVALID_ARGUMENT. A parameter for
 * several bits of an enum (a bit mask) has an integer type.
 *
 * OPTIONS. A setter of a netlib_x_options returns nothing. If a setter refuses a value, the setting keeps its earlier
 * value, and the options record an error whose message begins with the name of the setter. The next call of the setter,
 * or of another setter of the same setting (such as netlib_tls_options_set_identity_files after
 * netlib_tls_options_set_identity), removes the error; if that call refuses its value, it records a new error. Calls of
 * an add_ function, or of netlib_connect_options_refuse_addresses, add to a setting, and remove no error.
 * If errors remain, netlib_x_options_check and every function that uses the options fail with the oldest of them.
 * netlib_x_options_check makes no object and reads no file. netlib_x_options_clone copies the settings and the errors;
 * the copy and the original share the `ctx` of a callback.
 *
 * CALLBACKS. netlib invokes a callback only during a netlib call (the outer call), on the thread of that call and
 * without holding a lock. A callback may call netlib. The first argument of a callback is the `ctx` that was passed
 * with the callback; `ctx_free`, if any, releases the `ctx`: see netlib_ctx_free_fn. While a callback runs, the handle
 * of the outer call is busy: calls on a one-call-at-a-time handle, and reads, writes, handshakes and shutdowns of a
 * stream, fail with NETLIB_BUSY; functions without a status return the same as for NULL. The callback may free that
 * handle, which is then released when the outer call ends. The other arguments of the outer call must stay alive until
 * the outer call returns. A callback that decides or acts returns nothing, and stores a netlib_verdict,
 * netlib_outcome, netlib_interrupt or netlib_swap; netlib presets this output to FAILED. Every other callback returns 0
 * for success, and counts as failed if it does not store an output. A callback must return: do not leave it by longjmp,
 * pthread_exit or a C++ exception.
 * The tag "@called-by" of a callback's type names the functions that may invoke the callback.
 *
 * VERSIONS. The tag "@since" names the release that introduced a function, if that is later than 0.1.0.
 *
 * OTHER LIBRARIES. In a comment, "Corresponds to OpenSSL's X" means that X is the nearest equivalent in OpenSSL.
 *
 * FORK. After fork(2), even in a process with several threads, the child may use every handle of its parent except
 * streams and engines. Memory is copied, so cancelling a limit in one process ends no wait in the other process.
 * Descriptors are shared, so only one of the two processes may continue to use a netlib_connect. A netlib_stream or
 * netlib_tls_engine works only in the process that made it, because two processes would encrypt with the same key and
 * nonce. The same rule holds for plain streams. In another process, reads, writes, handshakes and shutdowns of a
 * stream fail with NETLIB_CLOSED, and so do the calls on an engine. Freeing a stream or engine in another process
 * releases memory, sends nothing, and does not affect the connection. fork waits until no thread is inside a step of a
 * TLS handshake: usually less than a millisecond, at most one second. After one second, fork continues, and a TLS
 * context that was in use may stay locked in the child. After _Fork, or a clone that does not run the pthread_atfork
 * handlers, calls on streams and engines also fail in the child (on Linux), but a context that another thread was using
 * may stay locked. vfork and posix_spawn are safe.
 *
 * STACK. A thread that calls netlib needs 64 KiB of stack, TLS included: a handshake uses up to 42 KiB, and a
 * handshake of a stream inside 15 other streams up to 50 KiB. Add the stack that your callbacks need. If you connect
 * without a limit, also add the stack that getaddrinfo(3) needs, because getaddrinfo then runs on the calling thread.
 *
 * ENVIRONMENT. netlib_tls_context_new reads the environment variables SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE.
 * SSL_CERT_FILE names a file with trusted certificates, and SSL_CERT_DIR names directories (separated by ":") with such
 * files; netlib reads them instead of the operating system's certificates. SSLKEYLOGFILE names a file to which netlib
 * writes session secrets. netlib_tls_options_set_use_environment with 0 makes netlib ignore all three variables.
 *
 * RETRIES. New programs use netlib_retry_recommended, or netlib_retry_options_new_recommended to change some of the
 * recommended settings. The recommended settings allow at most 3 retries, each after a random backoff: below 0.1
 * seconds, then below 0.2, then below 0.4. No backoff exceeds 20 seconds, even if you allow more retries. The statuses
 * 429, 502, 503 and 504 are retried. Only a request with the method DELETE, GET, HEAD, OPTIONS, PUT or TRACE is
 * retried after a response, or after a read error. A request with any other method, such as POST or PATCH, is retried
 * only if it was not sent (NETLIB_RETRY_KIND_CONNECT). A Retry-After header of up to 120 seconds is obeyed, a longer
 * one ends the retries, and a malformed one is ignored. At most 10 redirects are followed, never from https to http,
 * and a redirect to another origin drops credentials and Host. netlib_retry_new(NULL, ...) uses the defaults of
 * urllib3: up to 10 retries, without a wait unless a Retry-After header asks for one; Cookie, X-Api-Key,
 * Proxy-Authorization and Host are sent to every origin that a redirect names, even over plain http.
 *
 * A REQUEST uses the following functions:
 *     URL          netlib_parse_url, or netlib_parse_url_strict for a URL from an untrusted source; netlib_url_host,
 *                  netlib_url_port_or_default; netlib_url_redacted for a log; netlib_url_to_options and netlib_query
 *                  to change a URL; netlib_no_proxy_match to find out whether to use a proxy
 *     time         netlib_limit_new, with a parent limit that Ctrl-C cancels; netlib_timeout_new,
 *                  netlib_connect_options_use_timeout, netlib_timeout_start_connect, netlib_stream_use_timeout
 *     connect      netlib_tls_context_new once; netlib_stream_connect, which connects and makes the TLS handshake;
 *                  netlib_connect_options_refuse_addresses for a URL from an untrusted source. For an http server
 *                  behind a proxy, connect to the proxy, and send requests of the form NETLIB_REQUEST_FORM_ABSOLUTE;
 *                  for an https server, send CONNECT, then netlib_tls_wrap_stream inside the stream to the proxy
 *     in steps     netlib_connect_new and netlib_connect_run, which race the addresses of the host, or
 *                  netlib_create_connection, which tries one address after the other; then netlib_stream_new_fd for
 *                  http, or netlib_tls_wrap_fd for https
 *     send         netlib_headers_new or netlib_make_headers; netlib_request_new and netlib_request_to_wire for the
 *                  head; netlib_set_file_position to record the start of a body, netlib_body_read for its bytes,
 *                  netlib_chunk_encode for a body of unknown length; netlib_stream_write or netlib_stream_writev
 *     receive      netlib_stream_read_response; netlib_body_decoder_new, then netlib_stream_read_body until the body is
 *                  complete, or netlib_stream_read_whole_body for a body that fits in memory. For bytes from another
 *                  source, netlib_response_parse_final and netlib_body_decoder_decode
 *     decide       netlib_attempts_new with netlib_retry_recommended, once per request. Then netlib_attempts_next after
 *                  every response and every error: it decides, and waits before another attempt. After
 *                  NETLIB_SEND_AGAIN, the getters describe the next request. Pass errors of netlib unchanged: they
 *                  record whether a part of the request was sent (netlib_error_retry_kind). For failures of your own
 *                  HTTP layer, and for statuses without an error, make an error with netlib_error_new (of the kind
 *                  NETLIB_RETRY_KIND_READ if a byte was sent)
 *     repeat       netlib_rewind_body if netlib_attempts_sends_body is 1 and the body was sent before
 *     reuse        netlib_response_keeps_alive after the body; before a connection is used again,
 *                  netlib_stream_is_dropped, and netlib_stream_set_limit with the limit of the next request;
 *                  netlib_connection_key to find the requests that may share the connection
 *     report       netlib_error_report for a log; netlib_error_message for users; netlib_error_advice for developers
 *
 * AN EVENT LOOP (poll, epoll, kqueue, libuv) uses the following functions instead, which never wait:
 *     connect      netlib_connect_new, netlib_connect_set_limit, then netlib_connect_step while it returns
 *                  NETLIB_WANT_WRITE. Between steps, wait for the events of netlib_connect_wait_events on all
 *                  netlib_connect_wait_count descriptors of netlib_connect_wait_fd. Wait at most as long as the
 *                  smallest netlib_connect_wait_seconds of all your connect operations. The comment of struct
 *                  netlib_connect shows the loop. If the application has a resolver of its own, use
 *                  netlib_connect_options_set_supply_addresses
 *     stream       netlib_stream_new_fd or netlib_tls_wrap_fd, then netlib_stream_set_blocking with 0; wait for the
 *                  event of NETLIB_WANT_READ or NETLIB_WANT_WRITE; the descriptor of netlib_limit_fd wakes the loop
 *                  when a limit ends
 *     retry        netlib_attempts_decide instead of netlib_attempts_next, and a timer with the time that
 *                  netlib_decision_delay returns for netlib_attempts_decision
 */
#ifndef NETLIB_H
#define NETLIB_H

#include <stddef.h>
#include <stdint.h>

/** The major version of this header. */
#define NETLIB_VERSION_MAJOR 0
/** The minor version of this header. */
#define NETLIB_VERSION_MINOR 1
/** The patch version of this header. */
#define NETLIB_VERSION_PATCH 0
/** The version of this header, as text. Compare it with netlib_version(), the version of the library. */
#define NETLIB_VERSION "0.1.0"
/** The version of this header as a number. Compare it with netlib_version_number(), the version of the library. */
#define NETLIB_VERSION_NUMBER (NETLIB_VERSION_MAJOR * 1000000 + NETLIB_VERSION_MINOR * 1000 + NETLIB_VERSION_PATCH)

/*
 * Tools that parse declarations (cffi, LuaJIT's ffi.cdef, PHP's FFI::cdef) can read netlib.cdef.h. For netlib.h, the
 * output of `cc -E -P -DNETLIB_PLAIN_C` has the same declarations as netlib.cdef.h: neither of the two has attributes,
 * underlying types of enums, or assertions.
 */

/** Makes the compiler warn when a result is ignored. Define the macro as empty to turn the warning off. */
#ifndef NETLIB_MUST_USE
#if (defined(__GNUC__) || defined(__clang__)) && !defined(NETLIB_PLAIN_C)
#define NETLIB_MUST_USE __attribute__((warn_unused_result))
#else
#define NETLIB_MUST_USE
#endif
#endif

/** Makes the compiler warn when a deprecated name is used. Define the macro as empty to turn the warning off. */
#ifndef NETLIB_DEPRECATED_NOTE
#if (defined(__GNUC__) || defined(__clang__)) && !defined(NETLIB_PLAIN_C)
#define NETLIB_DEPRECATED_NOTE(note) __attribute__((deprecated(note)))
#else
#define NETLIB_DEPRECATED_NOTE(note)
#endif
#endif

/** Makes int32_t the underlying type of the enums, in C++11 and C23. In older C, an assertion checks the size of the
 * enums. */
#ifndef NETLIB_INT32
#if defined(NETLIB_PLAIN_C)
#define NETLIB_INT32
#elif defined(__cplusplus) && __cplusplus >= 201103L
#define NETLIB_INT32 : int32_t
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define NETLIB_INT32 : int32_t
#else
#define NETLIB_INT32
#endif
#endif

/** The value to pass as the length of NUL-terminated text. See netlib_nts. */
#define NETLIB_NTS ((size_t)-1)
/** The value for an absent number. As a retry counter, the value means no limit (None in urllib3). */
enum NETLIB_INT32 { NETLIB_NONE = INT32_MIN };
/** As a retry counter, the value that disables retries (False in urllib3). With the counter 0, in contrast, the first
 * retry fails with NETLIB_MAX_RETRY. */
enum NETLIB_INT32 { NETLIB_RETRY_DISABLED = INT32_MIN + 1 };
/** As a timeout in seconds, the value for the process default, which netlib_set_default_timeout sets. */
#define NETLIB_TIMEOUT_DEFAULT (-1.0)
/** As a timeout in seconds, the value for no limit: infinity, the HUGE_VAL of <math.h>. See netlib_timeout_none. */
#if defined(__GNUC__) || defined(__clang__)
#define NETLIB_TIMEOUT_NONE __builtin_inf()
#else
#include <math.h>
#define NETLIB_TIMEOUT_NONE HUGE_VAL
#endif
/** The position of a body for which no position was recorded. */
enum NETLIB_INT32 { NETLIB_POSITION_NONE = -1 };
/** The position of a body that could not report its position. */
enum NETLIB_INT32 { NETLIB_POSITION_FAILED = -2 };
/** As the descriptor for netlib_is_connection_dropped, the value for a connection that the application's platform
 * manages and that never counts as dropped. */
enum NETLIB_INT32 { NETLIB_FD_MANAGED = -2 };

/* The next macros initialise arrays: static const char *const methods[] = {NETLIB_RETRY_DEFAULT_ALLOWED_METHODS}; */
/** The methods that may be retried by default. netlib_retry_default_allowed_methods() returns the same list. */
#define NETLIB_RETRY_DEFAULT_ALLOWED_METHODS "DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"
/** The request headers that are dropped by default on a redirect to another origin. */
#define NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT "Authorization"
/** The HTTP status codes of responses whose Retry-After header is obeyed by default. netlib_retry_after_status_codes()
 * returns the same list. */
#define NETLIB_RETRY_AFTER_STATUS_CODES 413, 429, 503
/** The HTTP status codes of redirects. netlib_redirect_status_codes() returns the same list. */
#define NETLIB_REDIRECT_STATUS_CODES 301, 302, 303, 307, 308
/** The request headers that carry credentials. netlib_sensitive_headers() returns the same list. */
#define NETLIB_SENSITIVE_HEADERS \
    "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Access-Token", "API-Key", "API-Token", \
    "APIKey", "Auth-Token", "X-API-Key", "X-APIKey", "X-API-Secret", "X-API-Token", "X-Auth", "X-Auth-Key", \
    "X-Auth-Token", "X-Authorization", "X-Access-Token", "X-Client-Secret", "X-CSRF-Token", \
    "X-Forwarded-Access-Token", "X-ID-Token", "X-Refresh-Token", "X-Secret-Key", "X-Session-Token", \
    "X-Subject-Token", "X-Token", "X-XSRF-Token", "Circle-Token", "DD-API-Key", "DD-Application-Key", \
    "Deploy-Token", "Job-Token", "Ocp-Apim-Subscription-Key", "Private-Token", "X-Algolia-API-Key", \
    "X-Amz-Security-Token", "X-Appwrite-Key", "X-Cisco-Meraki-API-Key", "X-CMC_PRO_API_KEY", "X-Consul-Token", \
    "X-Figma-Token", "X-Functions-Key", "X-GitHub-Token", "X-Gitlab-Token", "X-Goog-API-Key", \
    "X-Goog-IAM-Authorization-Token", "X-Hasura-Admin-Secret", "X-Honeycomb-Team", "X-Insert-Key", \
    "X-License-Key", "X-MBX-APIKEY", "X-Ms-Authorization-Auxiliary", "X-N8N-API-Key", "X-NuGet-ApiKey", \
    "X-Parse-Master-Key", "X-Parse-REST-API-Key", "X-Plex-Token", "X-Postmark-Server-Token", "X-Query-Key", \
    "X-RapidAPI-Key", "X-Redmine-API-Key", "X-Riot-Token", "X-Shopify-Access-Token", "X-TrackerToken", \
    "X-Vault-Token", "XI-API-Key"

/* The handles, in the order of their sections. */
typedef struct netlib_error netlib_error;
typedef struct netlib_error_options netlib_error_options;
typedef struct netlib_bytes netlib_bytes;
typedef struct netlib_limit netlib_limit;
typedef struct netlib_url netlib_url;
typedef struct netlib_url_options netlib_url_options;
typedef struct netlib_query netlib_query;
typedef struct netlib_url_readings netlib_url_readings;
typedef struct netlib_timeout netlib_timeout;
typedef struct netlib_retry netlib_retry;
typedef struct netlib_retry_options netlib_retry_options;
typedef struct netlib_decision netlib_decision;
typedef struct netlib_store netlib_store;
typedef struct netlib_retry_budget netlib_retry_budget;
typedef struct netlib_retry_budget_options netlib_retry_budget_options;
typedef struct netlib_breaker netlib_breaker;
typedef struct netlib_breaker_options netlib_breaker_options;
typedef struct netlib_hedge netlib_hedge;
typedef struct netlib_hedge_options netlib_hedge_options;
typedef struct netlib_hedge_plan netlib_hedge_plan;
typedef struct netlib_rate netlib_rate;
typedef struct netlib_rate_options netlib_rate_options;
typedef struct netlib_headers netlib_headers;
typedef struct netlib_headers_options netlib_headers_options;
typedef struct netlib_request netlib_request;
typedef struct netlib_attempts netlib_attempts;
typedef struct netlib_response netlib_response;
typedef struct netlib_body_decoder netlib_body_decoder;
typedef struct netlib_body netlib_body;
typedef struct netlib_connect_options netlib_connect_options;
typedef struct netlib_addresses netlib_addresses;
typedef struct netlib_connect netlib_connect;
typedef struct netlib_throughput netlib_throughput;
typedef struct netlib_stream netlib_stream;
typedef struct netlib_tls_context netlib_tls_context;
typedef struct netlib_tls_options netlib_tls_options;
typedef struct netlib_tls_engine netlib_tls_engine;
typedef struct netlib_tls_session netlib_tls_session;
typedef struct netlib_certificate netlib_certificate;

#ifdef __cplusplus
extern "C" {
#endif

/* ==================================================================================================================
 * basics: Versions, statuses and errors.
 * ================================================================================================================== */

/** All statuses. A code divided by 100 is the number of its class in `enum netlib_class`. */
enum netlib_status_code NETLIB_INT32 {
    /** Success. */
    NETLIB_OK = 0,
    /** More input is needed: wait until the descriptor is readable and call again. */
    NETLIB_WANT_READ = 100,
    /** Output is pending: wait until the descriptor is writable and call again. */
    NETLIB_WANT_WRITE = 101,
    /** The wait timed out before the event occurred. */
    NETLIB_TIMED_OUT = 102,
    /** The stream ended cleanly. */
    NETLIB_END_OF_STREAM = 103,
    /** The addresses of the host are needed: supply them and call again. */
    NETLIB_WANT_ADDRESSES = 104,
    /** The rate allows nothing at present: wait and call again. */
    NETLIB_RATE_LIMITED = 105,
    /** Another attempt of the request follows. */
    NETLIB_SEND_AGAIN = 106,
    /** A pointer that must not be NULL is NULL. */
    NETLIB_NULL_ARGUMENT = 200,
    /** An argument's value is not allowed. */
    NETLIB_INVALID_ARGUMENT = 201,
    /** Text is not valid UTF-8. */
    NETLIB_INVALID_UTF8 = 202,
    /** The feature is not supported by netlib, by this system or by this handle. */
    NETLIB_UNSUPPORTED = 203,
    /** A header name or value is not valid. */
    NETLIB_INVALID_HEADER = 204,
    /** A certificate, a key or a CRL could not be read. */
    NETLIB_INVALID_PEM = 205,
    /** The private key does not belong to the certificate. */
    NETLIB_KEY_MISMATCH = 206,
    /** Verification is required but no trusted certificate could be loaded. */
    NETLIB_NO_TRUST_ANCHORS = 207,
    /** The private key is encrypted and no password was given. */
    NETLIB_PASSWORD_REQUIRED = 208,
    /** The password for the private key is wrong. */
    NETLIB_WRONG_PASSWORD = 209,
    /** The cipher string selects no supported cipher suite. */
    NETLIB_NO_CIPHER_SUITES = 210,
    /** The timeout's clock was already started, or was not started yet. */
    NETLIB_TIMEOUT_STATE_ERROR = 300,
    /** Another call is using this handle. */
    NETLIB_BUSY = 301,
    /** The handle is closed for calls of this kind, or was made by another process. */
    NETLIB_CLOSED = 302,
    /** The body cannot be rewound, so the request cannot be sent again. */
    NETLIB_UNREWINDABLE_BODY = 303,
    /** A callback reported failure or returned an invalid value. */
    NETLIB_CALLBACK_FAILED = 304,
    /** The peer sends more data than allowed. */
    NETLIB_TOO_MUCH_DATA = 305,
    /** Netlib has a bug that caused this error: please report it. */
    NETLIB_INTERNAL = 400,
    /** Memory could not be allocated. */
    NETLIB_OUT_OF_MEMORY = 401,
    /** A system call failed. */
    NETLIB_IO = 402,
    /** The limit was cancelled. */
    NETLIB_CANCELLED = 500,
    /** The limit's deadline passed. */
    NETLIB_DEADLINE_EXCEEDED = 501,
    /** Connecting took longer than the connect timeout. */
    NETLIB_CONNECT_TIMEOUT = 502,
    /** Nothing arrived within the read timeout. */
    NETLIB_READ_TIMEOUT = 503,
    /** Nothing could be sent within the write timeout. */
    NETLIB_WRITE_TIMEOUT = 504,
    /** Data arrived more slowly than the configured minimum throughput. */
    NETLIB_TOO_SLOW = 505,
    /** A signal arrived, and the interrupt check of the limit stopped the wait. */
    NETLIB_INTERRUPTED = 506,
    /** The text is not a valid URL. */
    NETLIB_INVALID_URL = 600,
    /** The host name could not be resolved. */
    NETLIB_NAME_RESOLUTION = 700,
    /** No connection could be made. */
    NETLIB_CONNECT_FAILED = 701,
    /** The proxy could not be used. */
    NETLIB_PROXY_FAILED = 702,
    /** The address policy allows no address of the host. */
    NETLIB_ADDRESS_REFUSED = 703,
    /** The peer's certificate was not accepted. */
    NETLIB_CERTIFICATE_VERIFY = 800,
    /** The peer's certificate is not valid for the expected name. */
    NETLIB_HOSTNAME_MISMATCH = 801,
    /** The certificate does not have the expected fingerprint, or no pin matches. */
    NETLIB_FINGERPRINT_MISMATCH = 802,
    /** The peer does not speak TLS. */
    NETLIB_NOT_TLS = 803,
    /** The peer ended the session with an alert. */
    NETLIB_TLS_ALERT = 804,
    /** The peer broke the TLS protocol. */
    NETLIB_TLS_PROTOCOL = 805,
    /** The connection ended without close_notify. */
    NETLIB_TLS_TRUNCATED = 806,
    /** The connection ended during the TLS handshake. */
    NETLIB_TLS_HANDSHAKE_EOF = 807,
    /** Client and server have no common TLS version, cipher suite, group, ALPN protocol or other parameter. */
    NETLIB_TLS_INCOMPATIBLE = 808,
    /** The server rejected Encrypted Client Hello. */
    NETLIB_TLS_ECH_REJECTED = 809,
    /** The peer broke the HTTP protocol or dropped the connection. */
    NETLIB_PROTOCOL = 900,
    /** The body ended before its announced length. */
    NETLIB_INCOMPLETE_READ = 901,
    /** The header block has defects. */
    NETLIB_HEADER_PARSING = 902,
    /** The response counts as a failed request. */
    NETLIB_RESPONSE_STATUS = 903,
    /** Too many redirects. */
    NETLIB_TOO_MANY_REDIRECTS = 904,
    /** A reused connection ended before the first byte of the response. */
    NETLIB_STALE_CONNECTION = 905,
    /** The retries are used up. */
    NETLIB_MAX_RETRY = 1000,
    /** The redirect profile does not allow the redirect. */
    NETLIB_UNSAFE_REDIRECT = 1001,
    /** The retry budget allows no further retry at present. */
    NETLIB_RETRY_BUDGET_EMPTY = 1002,
    /** The circuit breaker allows no request at present. */
    NETLIB_BREAKER_OPEN = 1003,
    /** The store that processes share could not be used. */
    NETLIB_STORE_UNAVAILABLE = 1004,
    /** The application failed. */
    NETLIB_APPLICATION_ERROR = 1100
};

/** Classes of statuses. `netlib_status_class` returns the class of a status. */
enum netlib_class NETLIB_INT32 {
    /** The status `NETLIB_OK`. */
    NETLIB_CLASS_SUCCESS = 0,
    /** The call did not fail, and stores no error: it would have to wait for input or output, it needs the addresses of
     * a host, its wait timed out, or the stream ended cleanly. */
    NETLIB_CLASS_PROGRESS = 1,
    /** An argument, or a file that an argument names, cannot be used. The error message describes the problem. */
    NETLIB_CLASS_ARGUMENT = 2,
    /** The present state of the handle does not allow the call, a body cannot be rewound, a callback failed, or the
     * peer sent too much data. */
    NETLIB_CLASS_STATE = 3,
    /** The operating system reported a failure, or netlib caught a bug of its own. */
    NETLIB_CLASS_SYSTEM = 4,
    /** A timeout or a deadline passed, data arrived too slowly, a `netlib_limit` was cancelled, or an interrupt check
     * stopped the wait. */
    NETLIB_CLASS_TIME = 5,
    /** The text is not a valid URL. */
    NETLIB_CLASS_URL = 6,
    /** No connection could be made: the name lookup, connect(2) or a proxy failed, or the address policy allows no
     * address. */
    NETLIB_CLASS_CONNECT = 7,
    /** TLS failed: for example, the certificate was refused, an alert ended the session, or the connection ended
     * without close_notify. */
    NETLIB_CLASS_TLS = 8,
    /** The peer broke HTTP's rules or dropped the connection, a response counts as a failed request, or there were too
     * many redirects. */
    NETLIB_CLASS_HTTP = 9,
    /** The retry policy ended the request. */
    NETLIB_CLASS_RETRY = 10,
    /** The application failed. Only the application makes errors of this class, with `netlib_error_new`. */
    NETLIB_CLASS_APPLICATION = 11
};

/** Retry kinds. The retry kind of a failure names the counter of a `netlib_retry` that the failure decrements.
 * `netlib_error_retry_kind` returns the kind of an error, and `netlib_status_retry_kind` the kind of a status. */
enum netlib_retry_kind NETLIB_INT32 {
    /** The request is not retried, because a retry would fail for the same reason, for example an invalid argument, or
     * because a `netlib_limit` or a decision ended the retries. If an error of this kind is passed to
     * `netlib_retry_increment`, the call fails with the error's status. */
    NETLIB_RETRY_KIND_NEVER = 0,
    /** The request did not reach the server. The failure decrements the `connect` counter. */
    NETLIB_RETRY_KIND_CONNECT = 1,
    /** The request was sent in whole or in part, and its effect is unknown. The failure, called a read error,
     * decrements the `read` counter. The request is repeated only if its method is in `allowed_methods`. */
    NETLIB_RETRY_KIND_READ = 2,
    /** Any other failure, such as a refused certificate, decrements the `other` counter. The request is repeated even
     * if its method is not in `allowed_methods`. */
    NETLIB_RETRY_KIND_OTHER = 3,
    /** The kind of the status `NETLIB_PROXY_FAILED`. No error has this kind. An error with the status
     * `NETLIB_PROXY_FAILED` has the kind of its first cause, or OTHER if it has no cause. If the first cause is also a
     * proxy failure, the first cause of that failure determines the kind, and so on. */
    NETLIB_RETRY_KIND_BY_CAUSE = 4
};

/** The decisions of a callback that allows or refuses an address or a client: `netlib_address_fn`,
 * `netlib_tls_servername_fn`. Such a callback has no result: it stores its decision in an output, which netlib presets
 * to `NETLIB_VERDICT_FAILED`. When a callback raises an exception, the foreign-function layers of some languages return
 * to C an arbitrary number, such as the previous result, but they do not change an output. So a filter that raises an
 * exception allows nothing. Any number that is not listed here also means failure. */
enum netlib_verdict NETLIB_INT32 {
    /** The callback failed. The outer call, during which the callback ran, then fails with `NETLIB_CALLBACK_FAILED`. */
    NETLIB_VERDICT_FAILED = 0,
    /** The operation continues. */
    NETLIB_VERDICT_ALLOW = 1,
    /** The callback refuses the address or the client. The comment of the callback's type states the effect. */
    NETLIB_VERDICT_REFUSE = 2
};

/** The outcomes of a callback that performs an action: `netlib_sleep_fn`, `netlib_body_seek_fn`. Such a callback stores
 * its outcome in an output, for the same reason as a callback that stores a `netlib_verdict`. Any number that is not
 * listed here also means failure. */
enum netlib_outcome NETLIB_INT32 {
    /** The callback's action failed. */
    NETLIB_OUTCOME_FAILED = 0,
    /** The callback's action succeeded. */
    NETLIB_OUTCOME_DONE = 1
};

/** An error: a status, a message, and the errors that caused it. **Immutable**. A function that fails stores an error
 * through its last parameter, `err`; free the error with `netlib_error_free`. `netlib_error_new` makes an error with
 * which you report a failure of your HTTP layer to the retry policy. */
struct netlib_error;

/** Optional properties of an error that you make: its cause, its retry kind, the status code of a response, and user
 * data. **One call at a time**. Without a call to a setter, the error has none of these properties, and its status
 * determines its retry kind. */
struct netlib_error_options;

/** The result of every function that can fail: one of `enum netlib_status_code`. A new release may add codes. For a
 * code that your program does not know, use the class that `netlib_status_class` returns. */
typedef int32_t netlib_status;

/** Releases the `ctx` of a callback, or the user data of an error. Every function that takes a callback with a `ctx`
 * also takes a `ctx_free`. A function to which a `ctx_free` is passed takes ownership of `ctx`, even if the function
 * fails. netlib calls `ctx_free` exactly once **for each call that passes it**, as soon as nothing holds the callback
 * any more. If a function cannot keep the callback (NULL options, a failure), or if no callback is passed with `ctx`,
 * the function calls `ctx_free` before it returns. So pass a `ctx` that has a `ctx_free` to one call only. To share a
 * `ctx` between several calls, count its references. Alternatively, pass NULL as `ctx_free`, and release `ctx`
 * yourself once nothing holds the callback any more.
 *
 * Objects made from options hold the options' callbacks. So the last holder of a callback may be a context, a stream,
 * a `netlib_retry`, a decision, or an error from which `netlib_error_retry` returns a `netlib_retry`. Calling a setter
 * again releases the callback of the earlier call, unless something else holds that callback. Several callbacks that
 * are passed to one call share one `ctx`.
 *
 * `ctx_free` runs during a netlib call, on the thread that releases the last holder. netlib holds no lock meanwhile,
 * so `ctx_free` may call netlib. After fork(2), parent and child each have a copy of `ctx`, and each process releases
 * its own copy.
 *
 * A setter of a callback changes its handle before it releases a `ctx`, so `ctx_free` may use and free this handle. If
 * `ctx_free` runs during any other call that may change a handle, and calls a function on the same handle, that
 * function fails with `NETLIB_BUSY` (a setter without a status does nothing), and freeing the handle takes effect when
 * the outer call ends. A `ctx_free` that runs while a handle is freed must not use that handle.
 * @called-by any function that releases the last holder of a callback, or that cannot keep a callback. */
typedef void (*netlib_ctx_free_fn)(void *ctx);

/** Returns the value of the macro `NETLIB_NTS`, for languages that cannot read C macros. */
size_t netlib_nts(void);

/** Returns the version of the loaded library as a constant string: "0.1.0". Never NULL. Compare it with
 * `NETLIB_VERSION`, the version of this header. */
const char *netlib_version(void);

/** Returns the version of the loaded library: major * 1,000,000 + minor * 1,000 + patch. Compare it with
 * `NETLIB_VERSION_NUMBER`. */
int32_t netlib_version_number(void);

/** Returns the name of a status as a constant string, for example "NETLIB_MAX_RETRY"; "NETLIB_UNKNOWN_STATUS" for a
 * number that is no status of this release. Never NULL.
 * @param status any number. */
const char *netlib_status_name(netlib_status status);

/** Returns the meaning of a status in one sentence, as a constant string; "unknown status" for a number that is no
 * status of this release. Never NULL. `netlib_error_message` describes a particular failure.
 * @param status any number. */
const char *netlib_status_text(netlib_status status);

/** Returns the class of a status; `NETLIB_CLASS_SYSTEM` for a number that is no status of this release.
 * @param status any number. */
enum netlib_class netlib_status_class(netlib_status status);

/** Returns the retry kind of a failure for which only the status is known; `NETLIB_RETRY_KIND_NEVER` for a number that
 * is no status of this release. The kinds CONNECT and OTHER hold only if no byte of the request was sent before the
 * failure. If a byte was sent, as early data too, the kind is READ, even for `NETLIB_TLS_HANDSHAKE_EOF`. An error
 * records whether the request was sent, so use `netlib_error_retry_kind` if there is an error, and set READ with
 * `netlib_error_options_set_retry_kind` for an error of your own.
 * @param status any number. */
enum netlib_retry_kind netlib_status_retry_kind(netlib_status status);

/** Makes error options that hold the defaults.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_error_options *netlib_error_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_error_options *netlib_error_options_clone(const netlib_error_options *options);

/** Checks that no setter has recorded an error, as `netlib_error_new` does.
 * @return `NETLIB_INVALID_ARGUMENT` for a retry kind that cannot be set, and for a status code out of range. */
NETLIB_MUST_USE netlib_status netlib_error_options_check(const netlib_error_options *options, netlib_error **err);

/** Releases options. */
void netlib_error_options_free(netlib_error_options *options);

/** Sets the cause of the error. Default: none. A cause makes the new error a read error if the cause records that the
 * request was sent: because the stream or engine had sent application data, because READ was set as the retry kind of
 * the cause, or because the cause is the error of a decision after a response. A `NETLIB_MAX_RETRY` error records that
 * the request was sent if any request in its history may have been sent. There are two exceptions: the status of the
 * new error has the kind NEVER, or `netlib_error_options_set_retry_kind` sets the kind of the new error.
 * @param cause the cause. May be NULL: the error has no cause. */
void netlib_error_options_set_cause(netlib_error_options *options, const netlib_error *cause);

/** Sets the retry kind, which determines the counter that the error decrements. Default: the kind that
 * `netlib_status_retry_kind` returns for the error's status. Choose `NETLIB_RETRY_KIND_READ` for every failure after
 * the first byte of the request was passed to a socket or a stream, and for every failure after a response arrived.
 * Errors made by netlib already have the right kind. If READ is set for an error, and this error becomes the cause of
 * another error, the other error has the kind READ, with the exceptions in the comment of
 * `netlib_error_options_set_cause`.
 *
 * An error with the status `NETLIB_PROXY_FAILED` has the kind of its cause by default. If a CONNECT request to a proxy
 * failed, the request to the server was not sent: choose `NETLIB_RETRY_KIND_CONNECT`, so that even a POST is repeated
 * after a read error on the connection to the proxy.
 * @param kind one of `enum netlib_retry_kind`, but not `NETLIB_RETRY_KIND_BY_CAUSE`; any other value makes
 *        `netlib_error_new` fail with `NETLIB_INVALID_ARGUMENT`.
 */
void netlib_error_options_set_retry_kind(netlib_error_options *options, enum netlib_retry_kind kind);

/** Makes an error, to report a failure of your own HTTP layer to `netlib_attempts_next` or `netlib_retry_decide`.
 * @param status a failure: a status whose class is neither SUCCESS nor PROGRESS. By default, the status determines the
 *        retry kind of the error. Use `NETLIB_IO` or `NETLIB_PROTOCOL`, which are read errors, for a failed send or
 *        receive; `NETLIB_INCOMPLETE_READ` for a body that ended early; `NETLIB_READ_TIMEOUT` for a server that does
 *        not respond in time. Use `NETLIB_APPLICATION_ERROR`, whose retry kind is OTHER, for a failure that no other
 *        status describes, such as an exception of your language.
 * @param message one line that says what failed; it must not contain credentials.
 * @param options the optional properties of the error. May be NULL: the error has the retry kind of `status`, and no
 *        other property.
 * @param error the new error.
 * @param err the reason why no error could be made.
 * @return `NETLIB_INVALID_ARGUMENT` if `status` is not a failure, or for a bad value in `options`;
 *         `NETLIB_INVALID_UTF8`.
 */
NETLIB_MUST_USE netlib_status netlib_error_new(netlib_status status, const char *message,
                                               const netlib_error_options *options, netlib_error **error,
                                               netlib_error **err);

/** Returns another reference to the same error. */
NETLIB_MUST_USE netlib_error *netlib_error_clone(const netlib_error *error);

/** Releases an error. */
void netlib_error_free(netlib_error *error);

/** Returns the status of an error.
 * @return one of `enum netlib_status_code`; `NETLIB_OK` for NULL. */
netlib_status netlib_error_status(const netlib_error *error);

/** Returns the retry kind of an error, which is never `NETLIB_RETRY_KIND_BY_CAUSE`; `NETLIB_RETRY_KIND_NEVER` for NULL.
 * `netlib_retry_increment` and `netlib_retry_decide` use the retry kind.
 *
 * By default, an error has the kind of its status. Once a stream or engine has accepted application data for sending,
 * early data included, or has received application data from the peer, its failures have the kind READ if their
 * statuses have the kind CONNECT or OTHER. For TLS in TLS, only the data of the stream that reports the error counts,
 * because the outer streams have carried only the handshake of that stream and a proxy's CONNECT. An error about a
 * response that breaks HTTP's rules has the kind READ. An error about a request header that cannot be sent has the
 * kind NEVER, and so has an error with which `netlib_retry_decide` or `netlib_decision_sleep` ended the retries. */
enum netlib_retry_kind netlib_error_retry_kind(const netlib_error *error);

/** Returns the error message: one line of UTF-8 that says what failed and, for an invalid input, where. A message that
 * netlib made never contains credentials. */
const char *netlib_error_message(const netlib_error *error, size_t *len);

/** Returns advice for the developer of the application: the one setting that would change the outcome, for example "to
 * trust it: netlib_tls_options_add_ca_file"; NULL if there is no such setting. The advice is not part of the error
 * message, because end users may read the message. The advice never recommends switching verification off.
 *
 * For an unknown issuer, the advice names the authority to add. For a hostname mismatch, the advice lists the names of
 * the certificate, at most eight. The authority and the names come from a peer that is not authenticated, so neither
 * is a reason to trust the peer. */
const char *netlib_error_advice(const netlib_error *error, size_t *len);

/** Returns the report of an error: lines of text for a log or a traceback, with the message, the advice and the causes;
 * NULL when memory is short. The first line is the message. Each line below it is indented by two blanks for each
 * level, and begins with "advice: " before the advice, or with "cause: " before the message of a cause. Several causes
 * are numbered: "cause 1: ", "cause 2: ", …. The lines below a cause contain its own advice and causes:
 *
 *     the proxy failed
 *       cause: no connection to h port 80
 *         cause 1: cannot connect to 192.0.2.1 port 80: Connection refused
 *         cause 2: cannot connect to 192.0.2.2 port 80: No route to host
 *
 * If the message of an error ends with the message of its first cause, as that of `NETLIB_MAX_RETRY` does, the report
 * does not repeat the message of this cause: the cause's own advice and causes are the first lines below the error,
 * and only the other causes of the error are listed and numbered.
 *
 * A line feed separates the lines; the last line has none. A report has at most 65,536 bytes: a longer one is
 * truncated, and ends with "…". The report contains no credentials, unless the application passed a message with
 * credentials to `netlib_error_new`. The first call makes the report, and the error keeps it. */
const char *netlib_error_report(const netlib_error *error, size_t *len);

/** Returns the number of causes of an error. A failure to connect has one cause per address tried. A `NETLIB_MAX_RETRY`
 * error has one cause, the failure that was not retried; for the history of requests, see `netlib_error_retry`. When a
 * `netlib_limit` ends a chain of redirects and retries, the error has one cause for each of the last 16 requests. The
 * tree of an error and its causes has at most 16 levels and 1,024 errors: a cause that would exceed one of these
 * maxima is kept without its own causes. */
size_t netlib_error_cause_count(const netlib_error *error);

/** Returns a cause of an error. */
const netlib_error *netlib_error_cause(const netlib_error *error, size_t index);

/* ---- Facts of an error as values. ---- */

/** The reasons for refusing a peer's certificate. `netlib_error_certificate_problem` returns the reason that an error
 * reports. */
enum netlib_certificate_problem NETLIB_INT32 {
    /** The error is not about a certificate. */
    NETLIB_CERTIFICATE_PROBLEM_NONE = 0,
    /** The certificate has expired. */
    NETLIB_CERTIFICATE_PROBLEM_EXPIRED = 1,
    /** The certificate is not valid yet. */
    NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID = 2,
    /** No trusted certificate issued the last certificate of the chain, for example because a private authority was not
     * added. `netlib_error_advice` names the authority. */
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER = 3,
    /** The certificate is not for the requested host. */
    NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH = 4,
    /** The issuer has revoked the certificate. */
    NETLIB_CERTIFICATE_PROBLEM_REVOKED = 5,
    /** A signature in the chain is wrong. */
    NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE = 6,
    /** The certificate was issued for another purpose: its extendedKeyUsage does not include the purpose, or the
     * keyUsage of the peer's own certificate does not include digitalSignature, although the peer must sign the
     * handshake. */
    NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE = 7,
    /** The certificate cannot be parsed. */
    NETLIB_CERTIFICATE_PROBLEM_MALFORMED = 8,
    /** Any other problem with the certificate, which the error message describes. */
    NETLIB_CERTIFICATE_PROBLEM_OTHER = 9,
    /** The certificate is its own issuer and is not a trusted certificate. */
    NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED = 10,
    /** The peer did not send an intermediate certificate. netlib reports an incomplete chain if the issuer's
     * certificate is missing and there is a sign that the chain continues: the peer sent other certificates that do
     * not belong to the chain, or the peer's certificate names a location from which its issuer's certificate can be
     * downloaded (caIssuers). Without a sign that the chain continues, netlib reports UNKNOWN_ISSUER. */
    NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN = 11,
    /** The peer's own certificate is that of an authority (CA:TRUE), not that of a server or a client. */
    NETLIB_CERTIFICATE_PROBLEM_AUTHORITY_AS_LEAF = 12,
    /** The certificate's key is too small, or of a kind that is no longer safe. */
    NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY = 13,
    /** The certificate's signature uses a digest that is no longer safe, such as SHA-1 or MD5. */
    NETLIB_CERTIFICATE_PROBLEM_WEAK_SIGNATURE = 14,
    /** The certificate's revocation status is unknown: no current CRL of its issuer was added. */
    NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN = 15,
    /** The peer sent no certificate. */
    NETLIB_CERTIFICATE_PROBLEM_MISSING = 16,
    /** No pin matches the certificate or its chain: see `netlib_tls_options_add_pin`. */
    NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED = 17,
    /** An authority above the certificate in the chain has nameConstraints that exclude a name of the certificate. */
    NETLIB_CERTIFICATE_PROBLEM_NAME_CONSTRAINTS = 18,
    /** A certificate of the chain has more authorities below it than its pathlen (basicConstraints) allows. */
    NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH = 19,
    /** A certificate of the chain has a critical extension that netlib does not understand. */
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_CRITICAL_EXTENSION = 20,
    /** The chain is too long, or takes too much work to verify. */
    NETLIB_CERTIFICATE_PROBLEM_TOO_COMPLEX = 21,
    /** A certificate of the chain issued another certificate without permission: its basicConstraints lack CA:TRUE, or
     * its keyUsage lacks keyCertSign. The certificate may be the trusted one at the end of the chain. */
    NETLIB_CERTIFICATE_PROBLEM_NOT_CA = 22
};

/** The timeouts of a `netlib_timeout`. `netlib_error_invalid_timeout` returns the one whose value is not allowed. */
enum netlib_timeout_kind NETLIB_INT32 {
    /** The error is not about a value of a `netlib_timeout`. */
    NETLIB_TIMEOUT_KIND_NONE = 0,
    /** The connect timeout. */
    NETLIB_TIMEOUT_KIND_CONNECT = 1,
    /** The read timeout. */
    NETLIB_TIMEOUT_KIND_READ = 2,
    /** The total timeout. */
    NETLIB_TIMEOUT_KIND_TOTAL = 3
};

/** The reasons why a body cannot be rewound. `netlib_error_rewind_problem` returns the reason that an error reports. */
enum netlib_rewind_problem NETLIB_INT32 {
    /** The error is not about rewinding a body. */
    NETLIB_REWIND_PROBLEM_NONE = 0,
    /** The position is `NETLIB_POSITION_NONE`: no position was recorded. */
    NETLIB_REWIND_PROBLEM_NO_POSITION = 1,
    /** The position is `NETLIB_POSITION_FAILED`: the body could not report its position. */
    NETLIB_REWIND_PROBLEM_POSITION_FAILED = 2,
    /** The body has no `netlib_body_seek_fn`. */
    NETLIB_REWIND_PROBLEM_NO_SEEK = 3,
    /** Seeking failed. For a descriptor, `netlib_error_errno` returns the reason (ESPIPE for a pipe). For an
     * application-defined body, the cause of the error is the failure of its `netlib_body_seek_fn`. */
    NETLIB_REWIND_PROBLEM_SEEK_FAILED = 4
};

/** The defects of a header block that `netlib_assert_header_parsing` checks. `netlib_error_header_defect` returns the
 * defect that an error reports. */
enum netlib_header_defect NETLIB_INT32 {
    /** The error is not about a header block. */
    NETLIB_HEADER_DEFECT_NONE = 0,
    /** A line is neither a header field nor the empty line at the end. The line and all later lines were not parsed. */
    NETLIB_HEADER_DEFECT_NOT_A_HEADER = 1,
    /** A line continues a header field, but no header field precedes it. */
    NETLIB_HEADER_DEFECT_CONTINUATION_FIRST = 2,
    /** A line after the first one is the envelope line of a mail message ("From ..."). */
    NETLIB_HEADER_DEFECT_MISPLACED_ENVELOPE = 3,
    /** The name of a header field is empty. */
    NETLIB_HEADER_DEFECT_NO_NAME = 4,
    /** A multipart Content-Type has no boundary. */
    NETLIB_HEADER_DEFECT_NO_BOUNDARY = 5,
    /** The Content-Type is multipart, and the Content-Transfer-Encoding is not one that multipart allows. */
    NETLIB_HEADER_DEFECT_MULTIPART_ENCODING = 6,
    /** A CR without LF ends the header fields, and further bytes follow, which were not parsed. */
    NETLIB_HEADER_DEFECT_UNREAD_DATA = 7
};

/** Returns the `errno` of the system call that failed; 0 when no system call failed. */
int32_t netlib_error_errno(const netlib_error *error);

/** Returns the `EAI_…` code of the name lookup that failed, for `gai_strerror`; 0 when no lookup failed. */
int32_t netlib_error_resolver_code(const netlib_error *error);

/** Returns the TLS alert that ended the session, sent by the peer or by netlib: a number of RFC 8446 section 6, 0 to
 * 255; -1 when there was no alert, and for NULL. */
int32_t netlib_error_tls_alert(const netlib_error *error);

/** Returns the reason why the peer's certificate was refused; `NETLIB_CERTIFICATE_PROBLEM_NONE` for NULL. */
enum netlib_certificate_problem netlib_error_certificate_problem(const netlib_error *error);

/** Returns the position of the refused certificate in the chain that the peer sent, 0 for the peer's own certificate;
 * -1 when the error is not about a certificate that the peer sent, and for NULL. */
int64_t netlib_error_certificate_index(const netlib_error *error);

/** Returns the byte offset of the problem in the input; -1 when the error is not about a byte of an input, and for
 * NULL. */
int64_t netlib_error_offset(const netlib_error *error);

/** Sets the status code of the response that caused the error: see `netlib_error_http_status`. Default: 0, no response
 * caused the error.
 * @param http_status 100 to 999, or 0; any other number makes `netlib_error_new` fail with `NETLIB_INVALID_ARGUMENT`.
 */
void netlib_error_options_set_http_status(netlib_error_options *options, int32_t http_status);

/** Attaches user data to the error, for example the exception of another language: see `netlib_error_user_data`.
 * Default: none.
 *
 * The options and every error made from them hold the user data. Copies of the error in the history of a
 * `netlib_retry` and among the causes of other errors hold the same user data. `ctx_free` releases the user data once,
 * when the last holder is gone, on the thread that releases this holder: see `netlib_ctx_free_fn`. Errors are shared
 * between threads, so several threads may use the user data at the same time.
 * @param ctx the user data. May be NULL. */
void netlib_error_options_set_user_data(netlib_error_options *options, void *ctx, netlib_ctx_free_fn ctx_free);

/** Returns the user data of an error; NULL when the error has none, and for every error that netlib makes. To find the
 * user data of the failure that ended the retries, get the causes with `netlib_error_cause`. To find the user data of
 * an earlier failure, get its error with `netlib_retry_history_error`. */
void *netlib_error_user_data(const netlib_error *error);

/** Returns the status code of the response that caused an error, for example 503; 0 when no response caused the error.
 *
 * An error of the retry policy has a status code if a response caused the error: `NETLIB_MAX_RETRY`,
 * `NETLIB_RESPONSE_STATUS`, `NETLIB_TOO_MANY_REDIRECTS`, `NETLIB_UNSAFE_REDIRECT`, `NETLIB_INVALID_URL` for a Location
 * that cannot be followed, and `NETLIB_INVALID_HEADER` for a malformed Retry-After. If another error caused a
 * `NETLIB_MAX_RETRY` error, the result is the status code of that cause. An error that `netlib_response_check_tunnel`
 * stores has the status code of the proxy's response. For an error that the application made, the result is the number
 * that was passed to `netlib_error_options_set_http_status`. */
int32_t netlib_error_http_status(const netlib_error *error);

/** Returns the fingerprint that the application passed to `netlib_assert_fingerprint`, in lower-case hex digits without
 * colons; NULL when the error is not a mismatch that `netlib_assert_fingerprint` found. */
const char *netlib_error_expected_fingerprint(const netlib_error *error, size_t *len);

/** Returns the fingerprint of the certificate that does not have the expected fingerprint, in lower-case hex digits;
 * NULL when the error is not `NETLIB_FINGERPRINT_MISMATCH`, or when there was no certificate. The hash function is
 * that of the expected fingerprint (MD5, SHA-1 or SHA-256). If no pin of a context matched
 * (`netlib_tls_options_add_pin`), the result is the SHA-256 fingerprint of the peer's own certificate. */
const char *netlib_error_actual_fingerprint(const netlib_error *error, size_t *len);

/** Returns the pin of the peer's public key if no pin of the context matched: "sha256//" and base64, as
 * `netlib_certificate_public_key_pin` returns it; NULL for any other error. The peer is not authenticated, so the pin
 * is no reason to trust the peer. */
const char *netlib_error_public_key_pin(const netlib_error *error, size_t *len);

/** Returns the timeout whose value `netlib_timeout_new` or `netlib_timeout_from_float` refused;
 * `NETLIB_TIMEOUT_KIND_NONE` for any other error, and for NULL. `netlib_timeout_new` checks the total timeout first,
 * then the connect timeout, then the read timeout. `netlib_timeout_from_float` takes one number for the connect
 * timeout and the read timeout. If it refuses the number, the result is `NETLIB_TIMEOUT_KIND_CONNECT`, because
 * urllib3's error names the connect timeout. */
enum netlib_timeout_kind netlib_error_invalid_timeout(const netlib_error *error);

/** Returns the reason for an error with the status `NETLIB_UNREWINDABLE_BODY`; `NETLIB_REWIND_PROBLEM_NONE` for an
 * error with another status, for an error that the application made, and for NULL. */
enum netlib_rewind_problem netlib_error_rewind_problem(const netlib_error *error);

/** Returns the defect of a header block that an error reports; `NETLIB_HEADER_DEFECT_NONE` for an error that is not
 * about a header block, and for NULL. The error that `netlib_assert_header_parsing` stores reports the first defect,
 * and each cause of this error reports one defect. `netlib_error_offset` returns the offset at which the line with the
 * defect begins. */
enum netlib_header_defect netlib_error_header_defect(const netlib_error *error);

/** Returns the number of the line with the defect that `netlib_error_header_defect` returns, counted from 1; 0 when the
 * error is not about a header block. */
int64_t netlib_error_header_defect_line(const netlib_error *error);

/** Returns the offset in a header block at which `netlib_assert_header_parsing` stopped parsing: the bytes from this
 * offset to the end of the block were not parsed. Returns -1 when the whole block was parsed, for an error that is not
 * about a header block, for the cause of an error, and for NULL. */
int64_t netlib_error_unparsed_offset(const netlib_error *error);

/* ---- Bytes that a function makes from its arguments. ---- */

/** Bytes that a function made from its arguments, for example the decoded form of a text. **Immutable**. netlib
 * overwrites the bytes before it releases their memory, because they may be a credential. */
struct netlib_bytes;

/** Returns the bytes, followed by a NUL that `len` does not count. The bytes need not be UTF-8 and may contain NULs:
 * use `len`, unless the comment of the function that made the bytes says that they contain no NUL. */
const char *netlib_bytes_data(const netlib_bytes *bytes, size_t *len);

/** Returns another reference to the same bytes. */
NETLIB_MUST_USE netlib_bytes *netlib_bytes_clone(const netlib_bytes *bytes);

/** Releases bytes. */
void netlib_bytes_free(netlib_bytes *bytes);

/* ==================================================================================================================
 * limit: Deadlines and cancellation.
 * ================================================================================================================== */

/** The decisions of a `netlib_interrupt_fn`. Any number that is not listed here also means failure. */
enum netlib_interrupt NETLIB_INT32 {
    /** The check failed: the wait ends with `NETLIB_CALLBACK_FAILED`. */
    NETLIB_INTERRUPT_FAILED = 0,
    /** The wait continues for the time that is left. */
    NETLIB_INTERRUPT_CONTINUE = 1,
    /** The wait ends with `NETLIB_INTERRUPTED`. */
    NETLIB_INTERRUPT_STOP = 2
};

/** A limit for waiting: a deadline, and a way to cancel calls that wait. **Thread-safe**. Every call that blocks obeys
 * a limit, if one is passed to the call or set on its handle, and returns within 20 ms of the limit's deadline or
 * cancellation.
 *
 * A limit may have a parent, which is another limit. A child limit ends when its own deadline passes, when it is
 * cancelled, or when its parent ends. With the following two limits, each request may take 10 seconds, and a SIGINT
 * handler that calls `netlib_limit_cancel(all)` ends all requests:
 *
 *     status = netlib_limit_new(NETLIB_TIMEOUT_NONE, NULL, &all, &err); // once per process
 *     status = netlib_limit_new(10.0, all, &request, &err);             // once per request
 *
 * After fork(2), the parent process and the child process each have a limit with the same deadline. Cancelling the
 * limit in one process does not cancel the limit in the other. */
struct netlib_limit;

/** Decides whether a wait continues after a signal. netlib calls this interrupt check on the waiting thread whenever a
 * signal handler has run on that thread and has interrupted the wait (`EINTR`). For a limit with ancestors, netlib
 * calls the interrupt check of the limit, then the one of its parent, and so on, until one of them ends the wait.
 *
 * If several threads wait with one limit, the interrupt check may run on several threads at the same time. An
 * interrupt check usually stores `NETLIB_INTERRUPT_STOP` if a signal handler has set a flag. In a binding, the
 * interrupt check runs the signal handlers of the host language, for example with Python's PyErr_CheckSignals.
 * @param decision out: `NETLIB_INTERRUPT_CONTINUE` to wait for the time that is left; `NETLIB_INTERRUPT_STOP` to end
 *        the wait with `NETLIB_INTERRUPTED`. netlib presets `decision` to `NETLIB_INTERRUPT_FAILED`. Every other value
 *        means failure: the wait ends with `NETLIB_CALLBACK_FAILED`.
 * @called-by every call that waits, if its limit has an interrupt check. */
typedef void (*netlib_interrupt_fn)(void *ctx, enum netlib_interrupt *decision);

/** Makes a limit. The limit's time starts to run at this call.
 * @param seconds the time until the deadline, 0 or more; `NETLIB_TIMEOUT_NONE` for no deadline of its own.
 * @param parent the limit whose end also ends the new limit; of the two deadlines, the earlier one counts. The new
 *        limit keeps a reference to its parent. May be NULL: the limit has no parent.
 * @return `NETLIB_INVALID_ARGUMENT` for a negative number or NaN, and for a parent that has 8 ancestors (its parent,
 *         the parent of its parent, and so on).
 */
NETLIB_MUST_USE netlib_status netlib_limit_new(double seconds, const netlib_limit *parent, netlib_limit **limit,
                                               netlib_error **err);

/** Makes a limit with an interrupt check, with which a signal can end a wait. If neither the limit nor one of its
 * ancestors has an interrupt check, a signal ends a wait only if the signal handler calls `netlib_limit_cancel`.
 *
 * Every call that may return `NETLIB_CANCELLED` because of a limit may also return `NETLIB_INTERRUPTED` and
 * `NETLIB_CALLBACK_FAILED` if the limit or one of its ancestors has an interrupt check. An interrupt check that ends a
 * wait does not end the limit: a later wait with the limit waits again. A signal that arrives shortly before the wait
 * begins does not interrupt the wait. If a call on a stream waits only because another thread is using the stream, a
 * signal does not interrupt this wait.
 * @param seconds the time until the deadline, as for `netlib_limit_new`.
 * @param parent the parent, as for `netlib_limit_new`. May be NULL: the limit has no parent.
 * @param check the interrupt check, which also applies to the children of the limit, to their children, and so on.
 * @param ctx_free is called once, when the last reference to the limit is released, or before this call returns if it
 *        fails. May be NULL: `ctx` must stay usable until the last reference is released.
 * @return `NETLIB_INVALID_ARGUMENT`, as for `netlib_limit_new`. */
NETLIB_MUST_USE netlib_status netlib_limit_new_interruptible(double seconds, const netlib_limit *parent,
                                                             netlib_interrupt_fn check, void *ctx,
                                                             netlib_ctx_free_fn ctx_free, netlib_limit **limit,
                                                             netlib_error **err);

/** Returns another reference to the same limit. Cancelling the limit through one reference cancels it for all
 * references. */
NETLIB_MUST_USE netlib_limit *netlib_limit_clone(const netlib_limit *limit);

/** Releases a limit. Each child of the limit, and each stream and each `netlib_connect` for which the limit is set,
 * keeps its own reference. */
void netlib_limit_free(netlib_limit *limit);

/** Cancels a limit, its children, their children, and so on: all calls that wait and obey one of these limits, now or
 * in the future, end with `NETLIB_CANCELLED`. Cancelling a limit does not cancel its parent. The function is
 * async-signal-safe: a signal handler may call it.
 * @threads any thread, and signal handlers */
void netlib_limit_cancel(const netlib_limit *limit);

/** Checks a limit and its ancestors: whether one of them was cancelled, and whether the deadline of one of them has
 * passed.
 * @return `NETLIB_OK` if none of them was cancelled and no deadline has passed; `NETLIB_CANCELLED`;
 *         `NETLIB_DEADLINE_EXCEEDED`.
 */
NETLIB_MUST_USE netlib_status netlib_limit_check(const netlib_limit *limit, netlib_error **err);

/** Stores a descriptor that becomes readable when the limit ends, and stays readable: when the limit or one of its
 * ancestors is cancelled, and when the deadline of one of them passes. An application that waits for a non-blocking
 * stream in its own event loop adds the limit's descriptor to the loop, and needs no timer for the limit. All
 * references to a limit share one descriptor, so add it to an epoll instance only once. A `netlib_connect` with the
 * limit opens another descriptor for it.
 *
 * Do not read from the descriptor, write to it or close it. After fork(2), call `netlib_limit_fd` again in the child:
 * the child's copy of the limit has a descriptor of its own.
 * @param fd out: the descriptor to poll for `POLLIN` of <poll.h>, borrowed from the limit; -1 on failure.
 * @return `NETLIB_OK`, even if the limit is already cancelled; `NETLIB_IO` if the descriptor cannot be opened. The
 *         first call of `netlib_limit_fd` opens the descriptor; without a deadline, a wait that obeys the limit may
 *         have opened it before. The descriptor of a limit with a parent or with a deadline is an epoll instance or a
 *         kqueue, and netlib opens one further descriptor for the limit, one for each ancestor and, on Linux, one for
 *         the deadline.
 */
NETLIB_MUST_USE netlib_status netlib_limit_fd(const netlib_limit *limit, int *fd, netlib_error **err);

/** Returns the seconds until the earliest deadline of the limit and its ancestors; 0 once this deadline has passed;
 * `NETLIB_TIMEOUT_NONE` if none of them has a deadline, and for NULL. */
double netlib_limit_remaining(const netlib_limit *limit);

/* ==================================================================================================================
 * url: Parsing, building and resolving URLs.
 * ================================================================================================================== */

/** The maximum length of a URL that netlib parses, in bytes: 16 MiB. */
enum NETLIB_INT32 { NETLIB_URL_MAX = 16777216 };

/** A URL: scheme, userinfo, host, port, path, query and fragment, each of which may be absent. **Immutable**.
 *
 * If the scheme is http, https or absent, the URL is normalised (RFC 3986 section 6.2.2): the host is in lower case
 * and in its ASCII form (IDNA: UTS 46, non-transitional), characters that a component may not contain are
 * percent-encoded, and "." and ".." segments are removed. For other schemes, only the scheme is converted to lower
 * case. No component contains CR, LF or NUL. */
struct netlib_url;

/** Parses a URL (RFC 3986, RFC 6874). The parser also accepts an incomplete URL, such as "example.com/a".
 *
 * A scheme is a letter, then letters, digits, "+" and "-", and ends with ":". Every scheme is accepted. Without "//"
 * after the scheme, the URL has no host, and the rest is a path, which gets a leading "/" if it has none. Text that
 * begins with neither a scheme nor "/" begins with the host. Text of the form "name:digits" is a host and its port if
 * the digits are a valid port and "/", "?", "#" or nothing follows them. In the following table, "-" stands for an
 * absent component; urllib3 finds the same components, except in "localhost:8080":
 *
 *     text            scheme  userinfo  host         port  path
 *     mailto:x@y      mailto  -         -            -     /x@y
 *     tel:5551234     tel     -         -            -     /5551234
 *     http:g          http    -         -            -     /g
 *     user:pw@h       user    -         -            -     /pw@h
 *     ftp://U@H/A b   ftp     U         H            -     /A b
 *     //h/x           -       -         h            -     /x
 *     ///x            -       -         -            -     /x
 *     example.com/a   -       -         example.com  -     /a
 *     localhost:8080  -       -         localhost    8080  -
 *     x:99999         x       -         -            -     /99999
 *     a.b://x         -       -         a.b          -     //x
 *
 * A backslash ends the host: the host of "http://user@a\b" is "a". An empty path is absent, unless a query or a
 * fragment follows it; an empty query or fragment is present. Text of length 0 is a URL whose components are all
 * absent. The running time is linear in `len`. Use `netlib_parse_url_strict` for URLs from untrusted sources.
 * @param url the text, in UTF-8.
 * @param err the error's offset is the position of the problem in `url`. The error message names the URL's component,
 *        but quotes nothing from the URL, which may contain credentials.
 * @return `NETLIB_INVALID_URL`, also for text longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`. */
NETLIB_MUST_USE netlib_status netlib_parse_url(const char *url, size_t len, netlib_url **out, netlib_error **err);

/** Parses an absolute http or https URL from an untrusted source. The parser refuses text that `netlib_parse_url` would
 * repair, and text that other programs are known to parse differently. The three kinds of URL parsers that
 * `netlib_url_compare_readers` compares find the same scheme, host and port in every URL that
 * `netlib_parse_url_strict` accepts. The result equals the result of `netlib_parse_url` for the same text. The parser
 * does not check the host's addresses: see `netlib_connect_options_refuse_addresses`.
 *
 * Each component must follow RFC 3986's grammar, which allows no backslash, no blank, no control character and no
 * stray "%" or bracket. Only the host may contain non-ASCII letters. In addition, the following rules apply:
 * - "//" follows the scheme and its colon.
 * - Userinfo, if present, is not empty and contains no percent-encoded control character. The authority contains at
 *   most one "@".
 * - The host is a name, four decimal numbers up to 255 without leading zeros, or an IPv6 address in brackets without a
 *   zone.
 * - A host name consists of letters, digits, "-", "_" and "."; it has at most 253 bytes and no dot at its end. The
 *   labels of a host name have 1 to 63 bytes and neither begin nor end with "-". The last label is neither a decimal
 *   number nor "0x" with hexadecimal digits.
 * - A non-ASCII label of a host name is allowed if IDNA changes nothing but its letter case, and IDNA 2003 and IDNA
 *   2008 map it to the same label. A label that begins with "xn--" is allowed if decoding it and encoding it again
 *   yields the same label.
 * - The port is 1 to 65535 without leading zeros; a ":" without a port is refused.
 * - The path does not climb above its root and has neither %00 nor a percent-encoded "." or ".." segment.
 * @param url the text, in UTF-8.
 * @param err the error's offset is the position of the problem in `url`. The error message names the URL's component,
 *        but quotes nothing from the URL.
 * @return `NETLIB_INVALID_URL`, also for text longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`. */
NETLIB_MUST_USE netlib_status netlib_parse_url_strict(const char *url, size_t len, netlib_url **out,
                                                      netlib_error **err);

/** Makes a URL from its components, and normalises it as `netlib_parse_url` does. Parsing the text of the URL yields
 * the same components. The function therefore refuses components whose text would be parsed as different components,
 * such as a path with a "?", userinfo without a host, or the host "a:80". The function also refuses values with CR or
 * LF.
 * @param scheme a letter, then letters, digits, "+" and "-". May be NULL: the scheme is absent.
 * @param auth the userinfo, as "user" or "user:password", percent-encoded where needed. May be NULL: the userinfo is
 *        absent, as for "".
 * @param host a name, an IPv4 address, or an IPv6 address in brackets, with an optional zone after "%" or "%25". May
 *        be NULL: the host is absent.
 * @param port 0 to 65535; -1 if the port is absent.
 * @param path the path. A path that is not empty gets a leading "/" if it has none. May be NULL: the path is absent.
 * @param query the query, without its "?"; "" is an empty query. May be NULL: the query is absent.
 * @param fragment the fragment, without its "#"; "" is an empty fragment. May be NULL: the fragment is absent.
 * @param err the error's offset, if any, counts from the start of the component that the error message names.
 * @return `NETLIB_INVALID_URL`, also for a component longer than `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`;
 *         `NETLIB_INVALID_ARGUMENT` for a port out of range.
 */
NETLIB_MUST_USE netlib_status netlib_url_new(const char *scheme, const char *auth, const char *host, int32_t port,
                                             const char *path, const char *query, const char *fragment,
                                             netlib_url **url, netlib_error **err);

/** Returns another reference to the same URL. */
NETLIB_MUST_USE netlib_url *netlib_url_clone(const netlib_url *url);

/** Releases a URL. */
void netlib_url_free(netlib_url *url);

/** Returns the scheme of a URL, in lower case, without its colon; NULL when absent. */
const char *netlib_url_scheme(const netlib_url *url, size_t *len);

/** Returns the userinfo, such as "user:password", percent-encoded as in the URL; NULL when absent. */
const char *netlib_url_auth(const netlib_url *url, size_t *len);

/** Stores the user name: the userinfo before its first ":", percent-decoded. The bytes of the user name need not be
 * UTF-8, and may include a ":" that was encoded in the URL.
 * @param username out: the user name, borrowed from `url`; NULL when there is no userinfo.
 * @param len out: the length of the user name, without the NUL. May be NULL.
 * @param err the error's offset is the position of an encoded NUL, counted from the start of the userinfo.
 * @return `NETLIB_INVALID_URL` for an encoded NUL, which would end the string early. */
NETLIB_MUST_USE netlib_status netlib_url_username(const netlib_url *url, const char **username, size_t *len,
                                                  netlib_error **err);

/** Stores the password: the userinfo after its first ":", percent-decoded. The password's bytes need not be UTF-8.
 * @param password out: the password, borrowed from `url`; "" for "user:@host"; NULL when there is no userinfo, or no
 *        ":" in the userinfo.
 * @param len out: the length of the password, without the NUL. May be NULL.
 * @param err the error's offset is the position of an encoded NUL, counted from the start of the userinfo.
 * @return `NETLIB_INVALID_URL` for an encoded NUL, which would end the string early. */
NETLIB_MUST_USE netlib_status netlib_url_password(const netlib_url *url, const char **password, size_t *len,
                                                  netlib_error **err);

/** Returns the host: a name, an IPv4 address, or an IPv6 address in brackets, with its zone after a "%", as in
 * "[fe80::1%eth0]"; NULL when absent. */
const char *netlib_url_host(const netlib_url *url, size_t *len);

/** Returns the same as `netlib_url_host`. Other URL parsers call the host `hostname`. */
const char *netlib_url_hostname(const netlib_url *url, size_t *len);

/** Returns the port that a URL contains, 0 to 65535; -1 when absent and for NULL. To connect, use
 * `netlib_url_port_or_default`. */
int32_t netlib_url_port(const netlib_url *url);

/** Returns the port to connect to, 0 to 65535: the port that the URL contains, or the default port of its scheme, which
 * is 443 for https, and 80 for http and for an absent scheme (RFC 9110 section 4.2); -1 if the URL has another scheme
 * and no port, and for NULL. */
int32_t netlib_url_port_or_default(const netlib_url *url);

/** Returns the path of a URL; NULL when absent. A path that is not empty begins with "/", except a path that
 * `netlib_url_resolve` finds after a scheme without "//", such as "a@b" in "mailto:a@b". */
const char *netlib_url_path(const netlib_url *url, size_t *len);

/** Returns the query of a URL, without its "?"; NULL when absent. */
const char *netlib_url_query(const netlib_url *url, size_t *len);

/** Returns the fragment of a URL, without its "#"; NULL when absent. */
const char *netlib_url_fragment(const netlib_url *url, size_t *len);

/** Returns the authority of a URL, "user:password@host:port" without the components that are absent (RFC 3986 section
 * 3.2); NULL if the host is absent or memory is short. */
const char *netlib_url_authority(const netlib_url *url, size_t *len);

/** Returns "host:port", or only the host if the port is absent; NULL if the host is absent or memory is short. */
const char *netlib_url_netloc(const netlib_url *url, size_t *len);

/** Returns the request target (RFC 9112 section 3.2.1): the path, or "/" if the path is empty or absent, then "?" and
 * the query if there is a query. The text always begins with "/". Returns NULL when memory is short and for NULL. */
const char *netlib_url_request_uri(const netlib_url *url, size_t *len);

/** Returns the whole URL as text, "scheme://user:password@host:port/path?query#fragment" without the components that
 * are absent; NULL when memory is short. The text contains the userinfo: in logs, use `netlib_url_redacted`.
 *
 * Parsing the text with `netlib_parse_url` yields the same URL. So that the parsed URL is the same, the text has "/."
 * before a path that begins with two slashes if there is no host, and "//" before an authority that would parse as a
 * scheme. There are two exceptions: an empty host, as in the text ":", becomes absent; and if the URL has no "//" and
 * was returned by `netlib_url_resolve`, only `netlib_url_resolve` makes the same URL from the text. */
const char *netlib_url_to_string(const netlib_url *url, size_t *len);

/** Returns the URL as text for logs: the text of `netlib_url_to_string` with "***" instead of the userinfo, of each
 * value in the query and of the fragment, which may contain credentials and tokens; NULL when memory is short. Scheme,
 * host, port, path and the names in the query remain, as in "example.com/a?id=***&key=***". The text is one line of
 * printable ASCII.
 *
 * A part of the query without "=" counts as a value. If the host is absent, "***" also replaces the text before the
 * last "@" of the path, because "user:password@host" has the scheme "user". Other secrets in the path are not
 * detected. */
const char *netlib_url_redacted(const netlib_url *url, size_t *len);

/** Resolves a reference, such as the value of a Location header, against a base URL (RFC 3986 section 5).
 *
 * The reference is parsed strictly by RFC 3986, unlike a URL that is passed to `netlib_parse_url`: "g" is a relative
 * path, and "a:80" has the scheme "a". A reference that has a scheme but no "//" is not changed: "mailto:a@b" stays
 * "mailto:a@b", with the path "a@b" and no host.
 * @param base the base URL: the URL of the document that contains the reference.
 * @param reference the reference as text, in UTF-8.
 * @param err the error's offset is the position of the problem in `reference`.
 * @return `NETLIB_INVALID_URL`, also for a reference longer than `NETLIB_URL_MAX` and for a result that is too long;
 *         `NETLIB_INVALID_UTF8`.
 */
NETLIB_MUST_USE netlib_status netlib_url_resolve(const netlib_url *base, const char *reference, size_t len,
                                                 netlib_url **url, netlib_error **err);

/** Returns 1 if scheme, host and port of two URLs are equal, else 0. An absent port is 80 for http and 443 for https,
 * and an absent scheme is http. The comparison is case-insensitive, and ignores userinfo, path, query and fragment.
 * Credentials for one origin must not be sent to another origin.
 * @param b the other URL. May be NULL: 0 is returned. */
int32_t netlib_url_same_origin(const netlib_url *a, const netlib_url *b);

/* ---- Building and changing URLs. ---- */

/** The components from which `netlib_url_from_options` makes a URL. **One call at a time**. A component that no setter
 * has set is absent, unless `netlib_url_to_options` made the options.
 *
 * Except `netlib_url_options_set_credentials`, each setter takes a component in the form in which it appears in a URL,
 * and percent-encodes characters that the component may not contain. Such a setter refuses a value with CR or LF, a
 * value that would begin another component, such as a path with a "?", and a value longer than `NETLIB_URL_MAX`. To
 * put any text into a component, encode the text with `netlib_percent_encode` first. */
struct netlib_url_options;

/** Makes options in which every component is absent.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_url_options *netlib_url_options_new(void);

/** Returns options with the components of a URL, so that setters can change some of the components. The path of a URL
 * without "//", which `netlib_url_resolve` makes from a reference such as "mailto:a@b", gets a leading "/". When
 * memory is short, the options record `NETLIB_OUT_OF_MEMORY`, with which `netlib_url_from_options` then fails. */
NETLIB_MUST_USE netlib_url_options *netlib_url_to_options(const netlib_url *url);

/** Makes a URL from options, as `netlib_url_new` makes a URL from its arguments: the URL is normalised, and parsing its
 * text yields the same components.
 * @param options the components. May be NULL: all components of the URL are absent.
 * @param err the error's offset, if any, counts from the start of the component that the error message names.
 * @return `NETLIB_INVALID_URL` for a component that a setter refused; for an international host name that IDNA does
 *         not allow; for userinfo or a port without a host; for components whose text would be parsed as different
 *         components; `NETLIB_INVALID_UTF8`; `NETLIB_INVALID_ARGUMENT` for a port out of range, and for a password
 *         without a user name.
 */
NETLIB_MUST_USE netlib_status netlib_url_from_options(const netlib_url_options *options, netlib_url **url,
                                                      netlib_error **err);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_url_options *netlib_url_options_clone(const netlib_url_options *options);

/** Checks that no setter has recorded an error, as `netlib_url_from_options` does. Only `netlib_url_from_options` also
 * checks that the components fit together.
 * @return `NETLIB_INVALID_URL` for a component that a setter refused; `NETLIB_INVALID_UTF8`;
 *         `NETLIB_INVALID_ARGUMENT` for a port out of range, and for a password without a user name.
 */
NETLIB_MUST_USE netlib_status netlib_url_options_check(const netlib_url_options *options, netlib_error **err);

/** Releases options. */
void netlib_url_options_free(netlib_url_options *options);

/** Sets the scheme. By default, the scheme is absent.
 * @param scheme a letter, then letters, digits, "+" and "-". May be NULL: the scheme is absent. */
void netlib_url_options_set_scheme(netlib_url_options *options, const char *scheme);

/** Sets the userinfo in the form in which a URL contains it. By default, the userinfo is absent.
 * @param auth "user" or "user:password", percent-encoded where needed. May be NULL: the userinfo is absent, as for "".
 */
void netlib_url_options_set_auth(netlib_url_options *options, const char *auth);

/** Sets the userinfo to a user name and a password, and percent-encodes both. The new userinfo replaces one that was
 * set with `netlib_url_options_set_auth`. By default, the userinfo is absent.
 * @param username the user name: any bytes, not percent-encoded. May be NULL: the userinfo is absent.
 * @param password the password: any bytes, not percent-encoded. May be NULL: the userinfo has no password and no ":".
 */
void netlib_url_options_set_credentials(netlib_url_options *options, const char *username, const char *password);

/** Sets the host. By default, the host is absent.
 * @param host a name, an IPv4 address, or an IPv6 address in brackets, with an optional zone after "%" or "%25". May
 *        be NULL: the host is absent.
 */
void netlib_url_options_set_host(netlib_url_options *options, const char *host);

/** Sets the port. By default, the port is absent.
 * @param port 0 to 65535; -1 if the port is absent. */
void netlib_url_options_set_port(netlib_url_options *options, int32_t port);

/** Sets the path. By default, the path is absent.
 * @param path the path. A path that is not empty gets a leading "/" if it has none. May be NULL: the path is absent. */
void netlib_url_options_set_path(netlib_url_options *options, const char *path);

/** Sets the query. By default, the query is absent.
 * @param query the query, without its "?", such as the result of `netlib_query_to_string`; "" is an empty query. May
 *        be NULL: the query is absent.
 */
void netlib_url_options_set_query(netlib_url_options *options, const char *query);

/** Sets the fragment. By default, the fragment is absent.
 * @param fragment the fragment, without its "#"; "" is an empty fragment. May be NULL: the fragment is absent. */
void netlib_url_options_set_fragment(netlib_url_options *options, const char *fragment);

/* ---- Percent-encoding. ---- */

/** The components of a URL for which data can be percent-encoded (RFC 3986 section 2). Letters, digits, "-", "." and
 * "_" are never encoded. "%" and every byte that is not printable ASCII are always encoded.
 *
 * For data such as a file name or a search term, use USERINFO_PART, PATH_SEGMENT, QUERY_PART or FORM_PART: with these
 * values, every delimiter is encoded, so that the data cannot end the part of the URL that contains it. */
enum netlib_url_component NETLIB_INT32 {
    /** A user name or a password, on one side of the ":" in the userinfo. "~" is not encoded. */
    NETLIB_URL_COMPONENT_USERINFO_PART = 0,
    /** One segment of a path, between two slashes. "~" is not encoded. */
    NETLIB_URL_COMPONENT_PATH_SEGMENT = 1,
    /** A path. "~", "/" and `!$&'()*+,:;=@` are not encoded, so "/" separates the segments. */
    NETLIB_URL_COMPONENT_PATH = 2,
    /** A name or a value in a query. A space becomes "%20", and "+" stands for itself. "~" is not encoded. */
    NETLIB_URL_COMPONENT_QUERY_PART = 3,
    /** A name or a value in the data of an HTML form (application/x-www-form-urlencoded, WHATWG URL Standard section
     * 5), which is sent as a query or as a request body. A space becomes "+", and "+" stands for a space. "*" is not
     * encoded. */
    NETLIB_URL_COMPONENT_FORM_PART = 4,
    /** A whole query, without its "?". "~", "/", "?" and `!$&'()*+,:;=@` are not encoded, so "&" separates the pairs,
     * and "=" separates a name and its value. */
    NETLIB_URL_COMPONENT_QUERY = 5,
    /** A fragment, without its "#". "~", "/", "?" and `!$&'()*+,:;=@` are not encoded. */
    NETLIB_URL_COMPONENT_FRAGMENT = 6
};

/** Percent-encodes data for a component of a URL. Decoding the text with `netlib_percent_decode` and the same component
 * yields the data. The text consists of printable ASCII. `netlib_url_new` and the setters of `netlib_url_options`,
 * except `netlib_url_options_set_credentials`, do not encode the text again.
 * @param component the component that will contain the text.
 * @param data any bytes, at most `NETLIB_URL_MAX`. A "%" is data: text that is already encoded is encoded again.
 * @param text out: the encoded text. Its bytes contain no NUL.
 * @return `NETLIB_INVALID_URL` for data longer than `NETLIB_URL_MAX`, and for the path segments "." and "..", which
 *         parsers remove even if they are encoded; `NETLIB_INVALID_ARGUMENT` for an unknown component.
 */
NETLIB_MUST_USE netlib_status netlib_percent_encode(enum netlib_url_component component, const void *data, size_t len,
                                                    netlib_bytes **text, netlib_error **err);

/** Decodes the percent-encodings in the text of a URL's component. Every byte that is not part of a percent-encoding is
 * kept, except that "+" becomes a space for `NETLIB_URL_COMPONENT_FORM_PART`.
 *
 * Split a component before you decode its parts: the userinfo at its first ":", the path at its slashes, the query
 * with `netlib_query_parse`. A decoded path segment may contain "/" and may be "..": check the segment before you use
 * it as a file name.
 * @param component the component that contained the text.
 * @param text the text, at most `NETLIB_URL_MAX` bytes.
 * @param data out: the decoded bytes, which may contain NULs and need not be UTF-8.
 * @param err the error's offset is the position of the "%" that is not followed by two hexadecimal digits.
 * @return `NETLIB_INVALID_URL` for a "%" that is not followed by two hexadecimal digits, and for text longer than
 *         `NETLIB_URL_MAX`; `NETLIB_INVALID_ARGUMENT` for an unknown component.
 */
NETLIB_MUST_USE netlib_status netlib_percent_decode(enum netlib_url_component component, const char *text, size_t len,
                                                    netlib_bytes **data, netlib_error **err);

/* ---- Query strings. ---- */

/** The two conventions for spaces and plus signs in a query. In both formats, "&" separates pairs, and the first "=" of
 * a pair separates its name and value; ";" separates nothing. */
enum netlib_query_format NETLIB_INT32 {
    /** The format of HTML forms and most servers (application/x-www-form-urlencoded, WHATWG URL Standard section 5). A
     * space is written as "+", and "+" is read as a space. */
    NETLIB_QUERY_FORMAT_FORM = 0,
    /** The format of RFC 3986. A space is written as "%20", and "+" is read as "+". */
    NETLIB_QUERY_FORMAT_RFC3986 = 1,
    /** The maximum number of pairs in a `netlib_query`. */
    NETLIB_QUERY_MAX_PAIRS = 65536
};

/** The names and values of a query, in order. **One call at a time**. Names and values are bytes, without
 * percent-encoding. Names are case-sensitive, and several pairs may have the same name. A query has at most
 * `NETLIB_QUERY_MAX_PAIRS` pairs, whose names, values and separators have at most `NETLIB_URL_MAX` bytes in total. The
 * following code adds a pair to the query of a URL:
 *
 *     status = netlib_query_parse(netlib_url_query(url, NULL), NETLIB_NTS, NETLIB_QUERY_FORMAT_FORM, &query, &err);
 *     if (status == NETLIB_OK) status = netlib_query_append(query, "page", NETLIB_NTS, "2", NETLIB_NTS, &err);
 *     if (status == NETLIB_OK) puts(netlib_query_to_string(query, NULL));
 *     netlib_query_free(query);
 *
 * A pair without "=", such as "wsdl" in "?wsdl", has a name but no value: its value is NULL. The value of the pair
 * "a=" is an empty text. */
struct netlib_query;

/** Parses the text of a query. With NULL or "" as `text`, the call makes an empty query. Empty text between two "&" is
 * not a pair.
 * @param text the query, without its "?", at most `NETLIB_URL_MAX` bytes. May be NULL: the query has no pairs.
 * @param format the format of `text`, and of the text that `netlib_query_to_string` returns.
 * @param err the error's offset is the position in `text` of the "%" that is not followed by two hexadecimal digits.
 * @return `NETLIB_INVALID_URL` for a "%" that is not followed by two hexadecimal digits, for text longer than
 *         `NETLIB_URL_MAX`, and for more than `NETLIB_QUERY_MAX_PAIRS` pairs; `NETLIB_INVALID_ARGUMENT` for an unknown
 *         format.
 */
NETLIB_MUST_USE netlib_status netlib_query_parse(const char *text, size_t len, enum netlib_query_format format,
                                                 netlib_query **query, netlib_error **err);

/** Releases a query. */
void netlib_query_free(netlib_query *query);

/** Returns the number of pairs in a query. */
size_t netlib_query_count(const netlib_query *query);

/** Returns the name of a pair, decoded. The name may contain NULs and need not be UTF-8. The name is valid until this
 * pair is replaced or removed, or the query is freed. */
const char *netlib_query_name(const netlib_query *query, size_t index, size_t *len);

/** Returns the value of a pair, decoded; NULL if the pair has no "=". The value may contain NULs and need not be UTF-8.
 * The value is valid until this pair is replaced or removed, or the query is freed. */
const char *netlib_query_value(const netlib_query *query, size_t index, size_t *len);

/** Returns the index of the first pair with a given name at or after the index `from`. Returns the number of pairs if
 * there is no such pair, so that `netlib_query_value` returns NULL for the returned index.
 * @param name the name: any bytes, not percent-encoded. May be NULL: the number of pairs is returned.
 * @param from the index at which the search begins: 0 to find the first pair with the name; the last result plus 1 to
 *        find the next one.
 */
size_t netlib_query_find(const netlib_query *query, const char *name, size_t len, size_t from);

/** Appends a pair to a query.
 * @param name the name: any bytes, not percent-encoded.
 * @param value the value: any bytes, not percent-encoded. May be NULL: the pair has no "=".
 * @return `NETLIB_INVALID_URL` if the query would have more than `NETLIB_QUERY_MAX_PAIRS` pairs or `NETLIB_URL_MAX`
 *         bytes; `NETLIB_INVALID_ARGUMENT` for an empty name without a value.
 */
NETLIB_MUST_USE netlib_status netlib_query_append(netlib_query *query, const char *name, size_t name_len,
                                                  const char *value, size_t value_len, netlib_error **err);

/** Replaces the first pair that has a given name by a new pair, and removes all other pairs with this name. If no pair
 * has the name, the new pair is appended.
 * @param name the name: any bytes, not percent-encoded.
 * @param value the new value: any bytes, not percent-encoded. May be NULL: the pair has no "=".
 * @return `NETLIB_INVALID_URL` if the query would have more than `NETLIB_QUERY_MAX_PAIRS` pairs or `NETLIB_URL_MAX`
 *         bytes; `NETLIB_INVALID_ARGUMENT` for an empty name without a value.
 */
NETLIB_MUST_USE netlib_status netlib_query_set(netlib_query *query, const char *name, size_t name_len,
                                               const char *value, size_t value_len, netlib_error **err);

/** Removes all pairs that have a given name from a query.
 * @param name the name: any bytes, not percent-encoded.
 * @return the number of removed pairs. */
size_t netlib_query_remove(netlib_query *query, const char *name, size_t len);

/** Returns the text of a query, percent-encoded, without "?"; "" if there are no pairs; NULL when memory is short. The
 * text is printable ASCII without "#", so it can be used as the query of a URL, or as the body of a request that
 * submits a form. The text is valid until the query is changed or freed. */
const char *netlib_query_to_string(const netlib_query *query, size_t *len);

/* ---- Hosts without a proxy. ---- */

/** Returns 1 if the host of a URL matches an entry in a list of hosts that are reached without a proxy, else 0. The
 * list has the syntax of the environment variable NO_PROXY. netlib does not read this variable; you can pass
 * `getenv("no_proxy")`.
 *
 * Commas, spaces, tabs and line breaks separate the entries of the list. An entry is one of the following; any other
 * entry matches nothing:
 *
 *     *                     every host
 *     example.com           this host name and all names below it, such as www.example.com
 *     .example.com          the same host names as example.com
 *     *.example.com         only the names below example.com
 *     192.0.2.1             this address
 *     2001:db8::1           this address, which may also be in brackets
 *     10.0.0.0/8, fc00::/7  every address in this network (CIDR notation)
 *
 * A name, an IPv4 address, a "*", or an IPv6 address in brackets may be followed by ":" and a port. The entry then
 * matches only URLs with this port; a URL without a port has the default port of its scheme, if the scheme is http or
 * https. Names are case-insensitive, and a dot at their end is ignored. An IPv4-mapped IPv6 address equals its IPv4
 * address. The zone of an IPv6 address in the URL is ignored. Names are not resolved: an address in the list never
 * matches a host name.
 * @param list the list. May be NULL: 0 is returned.
 * @param url the URL of the request. May be NULL: 0 is returned, as for a URL without a host. */
int32_t netlib_no_proxy_match(const char *list, const netlib_url *url);

/* ---- Comparison of URL parsers. ---- */

/** URL readers: kinds of URL parsers, each of which splits URLs by its own rules. */
enum netlib_url_reader NETLIB_INT32 {
    /** Splits a URL only at the delimiters of RFC 3986 (appendix B, section 3.2). The RFC 3986 reader checks the
     * scheme, the port, and an address in brackets. Userinfo and a host without brackets may contain any character
     * that is not a delimiter, including backslashes and blanks. Userinfo ends at the last "@". Many filters in front
     * of servers split URLs only at the delimiters of RFC 3986. */
    NETLIB_URL_READER_RFC3986 = 0,
    /** Follows the WHATWG URL Standard, as browsers, Node.js and Rust's url crate do. */
    NETLIB_URL_READER_WHATWG = 1,
    /** Parses URLs as `netlib_parse_url` does. */
    NETLIB_URL_READER_NETLIB = 2
};

/** Differences between the results of two URL readers for one text, as bits. */
enum netlib_url_difference NETLIB_INT32 {
    /** One URL reader finds a URL in the text, and the other URL reader does not. */
    NETLIB_URL_DIFFERENCE_ACCEPTANCE = 1,
    /** The schemes differ. */
    NETLIB_URL_DIFFERENCE_SCHEME = 2,
    /** The hosts differ. Differences in letter case and in the spelling of an IPv6 address are ignored. An absent host
     * counts as an empty host. */
    NETLIB_URL_DIFFERENCE_HOST = 4,
    /** The ports differ. An absent port counts as the default port of the scheme. */
    NETLIB_URL_DIFFERENCE_PORT = 8
};

/** The results of all URL readers (`enum netlib_url_reader`) for one text. **Immutable**. */
struct netlib_url_readings;

/** Parses a text with all three URL readers: by RFC 3986, by the WHATWG URL Standard, and as `netlib_parse_url` does.
 * If the results differ, a filter can accept the URL because of one host, although a program that follows other rules
 * connects to another host: "http://good.example\@evil.example" is such a URL. See `netlib_url_readings_differences`.
 * @param text the text, in UTF-8.
 * @return `NETLIB_OK`, also for text that no reader accepts; `NETLIB_INVALID_URL` for text longer than
 *         `NETLIB_URL_MAX`; `NETLIB_INVALID_UTF8`.
 */
NETLIB_MUST_USE netlib_status netlib_url_compare_readers(const char *text, size_t len, netlib_url_readings **readings,
                                                         netlib_error **err);

/** Returns another reference to the same results of URL readers. */
NETLIB_MUST_USE netlib_url_readings *netlib_url_readings_clone(const netlib_url_readings *readings);

/** Releases the results of URL readers. */
void netlib_url_readings_free(netlib_url_readings *readings);

/** Returns the differences between the results of two URL readers, as a sum of `netlib_url_difference` values; 0 if
 * there is no difference, and if neither reader accepts the text; -1, in which every bit is set, for an unknown reader
 * and for NULL.
 * @param a a `netlib_url_reader`.
 * @param b another `netlib_url_reader`. */
int32_t netlib_url_readings_differences(const netlib_url_readings *readings, enum netlib_url_reader a,
                                        enum netlib_url_reader b);

/** Returns 1 if a URL reader finds a URL with a scheme or a host in the text, else 0; 0 for an unknown reader.
 * @param reader a `netlib_url_reader`. */
int32_t netlib_url_readings_accepted(const netlib_url_readings *readings, enum netlib_url_reader reader);

/** Returns the scheme that a URL reader finds, in lower case; NULL when absent, and for a reader that is unknown or
 * finds no URL.
 * @param reader a `netlib_url_reader`. */
const char *netlib_url_readings_scheme(const netlib_url_readings *readings, enum netlib_url_reader reader,
                                       size_t *len);

/** Returns the host that a URL reader finds, normalised by the rules of that reader; NULL when absent, and for a reader
 * that is unknown or finds no URL.
 * @param reader a `netlib_url_reader`. */
const char *netlib_url_readings_host(const netlib_url_readings *readings, enum netlib_url_reader reader, size_t *len);

/** Returns the port that a URL reader finds: the port in the text, else the default of http, https, ws, wss or ftp. For
 * `NETLIB_URL_READER_RFC3986` the port may exceed 65535; 2147483647 stands for this port and for every larger one. -1
 * when absent, for a reader that is unknown or finds no URL, and for NULL.
 * @param reader a `netlib_url_reader`. */
int32_t netlib_url_readings_port(const netlib_url_readings *readings, enum netlib_url_reader reader);

/* ==================================================================================================================
 * timeout: Connect, read and total time limits.
 * ================================================================================================================== */

/** Three time limits, called connect, read and total, and a clock. The connect limit bounds each connection attempt,
 * the read limit bounds the wait of each read, and the total limit bounds connecting and all reads together, and on a
 * stream also the writes. The
 * application starts the clock when it begins to connect. **One call at a time**. Keep one timeout as your default and
 * clone it for each request: a clone has the same limits, and its clock is not running.
 *
 * Each time limit is a number of seconds above 0, or `NETLIB_TIMEOUT_NONE` for no limit; the connect and read limits
 * may also be `NETLIB_TIMEOUT_DEFAULT`, the process default (`netlib_set_default_timeout`). The read limit bounds the
 * wait for the next bytes, not the time for a whole response: a server that sends a byte now and then never exceeds
 * the read limit. To bound the whole response, set a total limit or use a `netlib_limit`. */
struct netlib_timeout;

/** Reads a clock that replaces the system's clock. If the callback fails, stores no finite number, or, for a
 * `netlib_timeout`, stores a time before the one at which the timeout's clock was started, the outer call fails with
 * `NETLIB_CALLBACK_FAILED`.
 * @param seconds out: the time since some fixed moment, in seconds, never less than at an earlier call. netlib presets
 *        `seconds` to NaN, and the callback must store a value.
 * @return 0 on success; any other number if the clock failed. A callback that returns 0 without storing `seconds` has
 *         also failed.
 * @called-by `netlib_timeout_start_connect`, `netlib_timeout_get_connect_duration`, `netlib_timeout_read_timeout`,
 *       `netlib_stream_use_timeout`, `netlib_connect_options_use_timeout`, `netlib_retry_budget_ask`,
 *       `netlib_retry_budget_report`, `netlib_retry_decide`, `netlib_attempts_next`, `netlib_attempts_decide`,
 *       `netlib_breaker_ask`, `netlib_breaker_report`, `netlib_breaker_state`, `netlib_hedge_start`,
 *       `netlib_hedge_plan_step`, `netlib_hedge_plan_pushback`, `netlib_hedge_plan_free`, `netlib_rate_take` and
 *       `netlib_rate_report`.
 */
typedef int32_t (*netlib_clock_fn)(void *ctx, double *seconds);

/** Makes a timeout.
 * @param total seconds for connecting and reading together, or `NETLIB_TIMEOUT_NONE`. Each read may last until `total`
 *        seconds have passed since the clock was started. If `connect` or `read` is also a number of seconds, the
 *        shorter limit applies.
 * @param connect seconds for each connection attempt, `NETLIB_TIMEOUT_NONE` or `NETLIB_TIMEOUT_DEFAULT`.
 * @param read seconds that a read may wait for the next bytes, `NETLIB_TIMEOUT_NONE` or `NETLIB_TIMEOUT_DEFAULT`.
 * @return `NETLIB_INVALID_ARGUMENT` for 0, NaN or a negative number, except for `NETLIB_TIMEOUT_DEFAULT` as `connect`
 *         or `read`.
 */
NETLIB_MUST_USE netlib_status netlib_timeout_new(double total, double connect, double read, netlib_timeout **timeout,
                                                 netlib_error **err);

/** Makes a timeout with the same limits and the same clock function as another timeout, and with a clock that is not
 * running. Make one clone for each request.
 * @return the clone. */
NETLIB_MUST_USE netlib_timeout *netlib_timeout_clone(const netlib_timeout *timeout);

/** Releases a timeout. */
void netlib_timeout_free(netlib_timeout *timeout);

/** Replaces the function that reads the clock, for tests and simulations. The default is the system's monotonic clock.
 * @param clock the clock function, which later clones of the timeout also use. May be NULL: the system's monotonic
 *        clock.
 * @param ctx_free is called when the timeout and all its clones have been freed or have another clock function. If
 *        this call fails, `ctx_free` is called before the call returns. May be NULL: `ctx` is not released, and must
 *        stay usable as long as the timeout or a clone uses `clock`.
 * @return `NETLIB_TIMEOUT_STATE_ERROR` if the clock has been started. */
NETLIB_MUST_USE netlib_status netlib_timeout_set_clock(netlib_timeout *timeout, netlib_clock_fn clock, void *ctx,
                                                       netlib_ctx_free_fn ctx_free, netlib_error **err);

/** Starts the clock. Call this function when you begin to connect.
 * @return `NETLIB_TIMEOUT_STATE_ERROR` if the clock is already running, in which case it keeps running;
 *         `NETLIB_CALLBACK_FAILED` if the clock function failed, in which case the clock is not started.
 */
NETLIB_MUST_USE netlib_status netlib_timeout_start_connect(netlib_timeout *timeout, netlib_error **err);

/** Stores the time since `netlib_timeout_start_connect` started the clock.
 * @param seconds out: the time in seconds, 0 or more.
 * @return `NETLIB_TIMEOUT_STATE_ERROR` if the clock has not been started; `NETLIB_CALLBACK_FAILED`. */
NETLIB_MUST_USE netlib_status netlib_timeout_get_connect_duration(const netlib_timeout *timeout, double *seconds,
                                                                  netlib_error **err);

/** Returns the time limit for connecting, the shorter one of the connect and total limits: seconds above 0;
 * `NETLIB_TIMEOUT_NONE`; `NETLIB_TIMEOUT_DEFAULT` if the connect limit has that value and there is no total limit, and
 * for NULL. A connect limit of `NETLIB_TIMEOUT_DEFAULT` does not shorten a total limit. The result does not depend on
 * the clock. For netlib's own connect operations, call `netlib_connect_options_use_timeout` instead, which also
 * applies the total limit. */
double netlib_timeout_connect_timeout(const netlib_timeout *timeout);

/** Stores the time limit for the next read: the read limit, or what is left of the total limit if that is shorter. For
 * a `netlib_stream`, call `netlib_stream_use_timeout` instead, which applies both limits to every read.
 * @param seconds out: seconds, 0 when nothing is left of the total limit; `NETLIB_TIMEOUT_NONE`;
 *        `NETLIB_TIMEOUT_DEFAULT` if the read limit has that value and there is no total limit.
 * @return `NETLIB_TIMEOUT_STATE_ERROR` if there is a total limit and the clock has not been started;
 *         `NETLIB_CALLBACK_FAILED`.
 */
NETLIB_MUST_USE netlib_status netlib_timeout_read_timeout(const netlib_timeout *timeout, double *seconds,
                                                          netlib_error **err);

/** Returns the total limit that was passed to `netlib_timeout_new`; `NETLIB_TIMEOUT_NONE` if there is none and for
 * NULL. */
double netlib_timeout_configured_total(const netlib_timeout *timeout);

/** Returns the connect limit that was passed to `netlib_timeout_new`: seconds, `NETLIB_TIMEOUT_NONE` or
 * `NETLIB_TIMEOUT_DEFAULT`; `NETLIB_TIMEOUT_DEFAULT` for NULL. To connect, use `netlib_timeout_connect_timeout`. */
double netlib_timeout_configured_connect(const netlib_timeout *timeout);

/** Returns the read limit that was passed to `netlib_timeout_new`: seconds, `NETLIB_TIMEOUT_NONE` or
 * `NETLIB_TIMEOUT_DEFAULT`; `NETLIB_TIMEOUT_DEFAULT` for NULL. To read, use `netlib_timeout_read_timeout`. */
double netlib_timeout_configured_read(const netlib_timeout *timeout);

/** Returns infinity, the value of the macro `NETLIB_TIMEOUT_NONE`, for languages that cannot read C macros. */
double netlib_timeout_none(void);

/** Sets the process default, the timeout for which `NETLIB_TIMEOUT_DEFAULT` stands, for later calls on all threads.
 * @param seconds more than 0, or `NETLIB_TIMEOUT_NONE`, the initial value.
 * @return `NETLIB_INVALID_ARGUMENT` for 0, a negative number or NaN. */
NETLIB_MUST_USE netlib_status netlib_set_default_timeout(double seconds, netlib_error **err);

/** Returns the process default, the timeout for which `NETLIB_TIMEOUT_DEFAULT` stands: seconds, or
 * `NETLIB_TIMEOUT_NONE`. */
double netlib_default_timeout(void);

/* ==================================================================================================================
 * retry: Retry policy.
 * ================================================================================================================== */

/** The reasons for the wait before the next request. `netlib_retry_delay` stores the reason, and
 * `netlib_decision_delay_reason` returns it. */
enum netlib_delay_reason NETLIB_INT32 {
    /** There is no wait before the next request. */
    NETLIB_DELAY_NONE = 0,
    /** The wait is the exponential backoff. */
    NETLIB_DELAY_BACKOFF = 1,
    /** The server asked for the wait with a Retry-After header. */
    NETLIB_DELAY_RETRY_AFTER = 2,
    /** The server asked for the wait with a pushback header: see `netlib_retry_options_set_pushback_header`. */
    NETLIB_DELAY_PUSHBACK = 3
};

/** A Retry: a retry policy with its counters and its history of requests. **Immutable**. The counter `total` holds the
 * number of retries that are left in all. The counters `connect`, `read`, `redirect`, `status` and `other` hold the
 * numbers of retries that are left for each reason. `netlib_retry_increment` does not change a Retry but makes a new
 * one, so one Retry serves any number of requests. */
struct netlib_retry;

/** Makes a Retry.
 * @param options the settings, which can be used for several calls. May be NULL: urllib3's defaults, see
 *        `netlib_retry_options_new`.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error. */
NETLIB_MUST_USE netlib_status netlib_retry_new(const netlib_retry_options *options, netlib_retry **retry,
                                               netlib_error **err);

/** Returns another reference to the same Retry. */
NETLIB_MUST_USE netlib_retry *netlib_retry_clone(const netlib_retry *retry);

/** Releases a Retry. */
void netlib_retry_free(netlib_retry *retry);

/** Returns options from which `netlib_retry_new` makes an equal Retry, history included. Change some of the options to
 * make a different Retry. */
NETLIB_MUST_USE netlib_retry_options *netlib_retry_to_options(const netlib_retry *retry);

/** Records the outcome of a request after which another request will be sent, and makes the Retry for that next
 * request. `netlib_retry_decide` does the same and also decides what to send next: call `netlib_retry_increment` only
 * if the application makes this decision itself. `netlib_retry_increment` does not use the retry budget of a Retry.
 *
 * The call decrements `total` and one other counter. An error decrements the counter of its retry kind
 * (`netlib_error_retry_kind`); if a response is also passed, an error of the kind CONNECT or OTHER counts as an error
 * of the kind READ. Without an error, a redirect with a Location decrements `redirect`, and any other response
 * decrements `status`. There are two exceptions: with neither an error nor a response, the call decrements `total`
 * only; and a redirect does not decrement `total` if `total_counts_redirects` is 0. The call also adds an entry to the
 * history.
 *
 * The call fails with `NETLIB_MAX_RETRY` if a counter is then negative, regardless of `raise_on_redirect` and
 * `raise_on_status`. The cause of the new error is the failure that is not retried, and `netlib_error_retry` returns
 * the exhausted Retry with the whole history. The call fails with `error` itself if `error` must not be retried:
 * `total` or the counter of the error's kind is `NETLIB_RETRY_DISABLED`; the kind is NEVER; or the error is a read
 * error and the method is NULL or not allowed (see also `netlib_retry_options_set_any_method_if_stale`). If the status
 * of this `error` is `NETLIB_CANCELLED`, `NETLIB_DEADLINE_EXCEEDED` or `NETLIB_INTERRUPTED`, the call fails with a
 * copy of `error` that has the outcomes of earlier requests as further causes, see `netlib_retry_decide`. If `total`
 * is `NETLIB_RETRY_DISABLED` and `error` is NULL, the call fails with `NETLIB_TOO_MANY_REDIRECTS` for a redirect, else
 * with `NETLIB_RESPONSE_STATUS`, but not with `NETLIB_MAX_RETRY`, because no counter was used up.
 *
 * A `NETLIB_MAX_RETRY` error has the retry kind NEVER, so a policy to which this error is passed fails with the same
 * error. For an outer policy that repeats the whole chain of requests, wrap the error in a new one: see
 * `netlib_error_options_set_cause`.
 * @param retry the Retry, which is not changed.
 * @param method the request's method. May be NULL: the method is unknown.
 * @param url the request's URL, for the history and for error messages, which omit the userinfo, the query and the
 *        fragment. May be NULL: the URL is unknown.
 * @param response the response. May be NULL: there was no response.
 * @param error the failure, which takes precedence over `response`. If `response` and `error` are passed, the request
 *        counts as sent. May be NULL: the request did not fail.
 * @return `NETLIB_MAX_RETRY`; the status of `error`; `NETLIB_TOO_MANY_REDIRECTS` or `NETLIB_RESPONSE_STATUS` if
 *         `total` is `NETLIB_RETRY_DISABLED`; `NETLIB_INVALID_ARGUMENT` if the method is not a token; with
 *         `NETLIB_JITTER_DECORRELATED` also `NETLIB_CALLBACK_FAILED`, and `NETLIB_IO` if the system cannot supply
 *         random numbers.
 */
NETLIB_MUST_USE netlib_status netlib_retry_increment(const netlib_retry *retry, const char *method, const char *url,
                                                     const netlib_response *response, const netlib_error *error,
                                                     netlib_retry **next, netlib_error **err);

/** Decides whether a response is retried. The method must be allowed, and the status must be in `status_forcelist`. A
 * status outside of `status_forcelist` suffices if the list of statuses whose Retry-After is obeyed contains it
 * (`netlib_retry_options_set_retry_after_statuses`), the response has a Retry-After header,
 * `respect_retry_after_header` is 1, and `total` is neither 0 nor `NETLIB_NONE` nor `NETLIB_RETRY_DISABLED`.
 * @param method the request's method.
 * @param status_code the response's status.
 * @param has_retry_after 1 if the response has a Retry-After header, else 0.
 * @param is_retry out: 1 if the response is retried, else 0.
 * @return `NETLIB_INVALID_ARGUMENT` if the method is not a token or `has_retry_after` is neither 0 nor 1. */
NETLIB_MUST_USE netlib_status netlib_retry_is_retry(const netlib_retry *retry, const char *method,
                                                    int32_t status_code, int32_t has_retry_after, int32_t *is_retry,
                                                    netlib_error **err);

/** Returns 1 if a counter of a Retry is negative, that is, if more retries were recorded than the counter allows, else
 * 0; 1 for NULL. */
int32_t netlib_retry_is_exhausted(const netlib_retry *retry);

/** Computes the backoff before the next request. Let n be the number of failures in a row: the entries that follow the
 * last redirect in the history. The backoff is 0 if n is 0 or 1. Otherwise, it is `backoff_factor * 2^(n - 1)` seconds
 * plus a random time of up to `backoff_jitter`, and at most `backoff_max`. This formula belongs to the default jitter
 * kind; `enum netlib_jitter_kind` lists the formulas of all jitter kinds. If the formula contains a random number,
 * each call draws a new one, except with `NETLIB_JITTER_DECORRELATED`.
 * @param seconds out: the backoff.
 * @return `NETLIB_CALLBACK_FAILED` if the random callback failed; `NETLIB_IO` if the system cannot supply random
 *         numbers.
 */
NETLIB_MUST_USE netlib_status netlib_retry_get_backoff_time(const netlib_retry *retry, double *seconds,
                                                            netlib_error **err);

/** Parses the Retry-After header of a response (RFC 9110 section 10.2.3), regardless of the response's status.
 * @param response the response.
 * @param seconds out: the wait that the server asks for, in seconds from now, at most `retry_after_max`, or without
 *        this maximum if `NETLIB_LONG_RETRY_AFTER_STOP` is set; 0 for a date that has passed; -1.0 if the header is
 *        absent, and if the header is malformed and malformed headers are ignored.
 * @return `NETLIB_INVALID_HEADER` if the header is neither a number nor a date, unless malformed headers are ignored;
 *         `NETLIB_CALLBACK_FAILED`.
 */
NETLIB_MUST_USE netlib_status netlib_retry_get_retry_after(const netlib_retry *retry, const netlib_response *response,
                                                           double *seconds, netlib_error **err);

/** Parses the value of a Retry-After header: whole seconds, or a date in one of the three forms of HTTP (RFC 9110
 * section 5.6.7). In a date, the weekday and the time zone may be missing, and the zone may be an offset from UTC;
 * without a zone, the date is in UTC.
 * @param value the value of the header.
 * @param seconds out: the wait that the value asks for, in seconds from now, at most `retry_after_max`, or without
 *        this maximum if `NETLIB_LONG_RETRY_AFTER_STOP` is set; 0 for a date that has passed.
 * @return `NETLIB_INVALID_HEADER` if the value is neither a number nor a date; `NETLIB_CALLBACK_FAILED`. */
NETLIB_MUST_USE netlib_status netlib_retry_parse_retry_after(const netlib_retry *retry, const char *value,
                                                             double *seconds, netlib_error **err);

/** Computes the time that `netlib_retry_sleep` waits, and the reason for the wait, for applications that wait in their
 * own event loop.
 *
 * If `respect_retry_after_header` is 1 and the Retry-After of the response's status is obeyed
 * (`netlib_retry_options_set_retry_after_statuses`), the wait is the one that the Retry-After header asks for.
 * Otherwise, and if the header is absent or asks for no wait, the wait is the backoff that
 * `netlib_retry_get_backoff_time` computes. A pushback header (`netlib_retry_options_set_pushback_header`) takes
 * precedence over Retry-After, and `netlib_retry_options_set_retry_after_clamp` limits the wait of both headers.
 * @param retry the Retry for the next request, which `netlib_retry_increment` has made.
 * @param response the last response. May be NULL: there was no response.
 * @param seconds out: the wait in seconds; 0 for no wait.
 * @param reason out: the reason for the wait.
 * @param uncapped out: the wait without the bounds `backoff_max` and `retry_after_max`; infinity when the backoff
 *        exceeds the range of a double.
 * @return `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date, unless malformed headers are ignored;
 *         `NETLIB_MAX_RETRY` if Retry-After or a pushback header ends the retries; `NETLIB_CALLBACK_FAILED`;
 *         `NETLIB_IO` if the system cannot supply random numbers.
 */
NETLIB_MUST_USE netlib_status netlib_retry_delay(const netlib_retry *retry, const netlib_response *response,
                                                 double *seconds, enum netlib_delay_reason *reason, double *uncapped,
                                                 netlib_error **err);

/** Sleeps before the next request for the time that `netlib_retry_delay` computes. The call returns at once if
 * `backoff_factor` and `backoff_jitter` are 0 and there is no Retry-After header.
 * @param retry the Retry for the next request, which `netlib_retry_increment` has made.
 * @param response the last response. May be NULL: there was no response.
 * @return `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` if the limit ends the sleep, with the outcomes of the
 *         requests in the history as causes; the failures of `netlib_retry_delay`.
 */
NETLIB_MUST_USE netlib_status netlib_retry_sleep(const netlib_retry *retry, const netlib_response *response,
                                                 const netlib_limit *limit, netlib_error **err);

/** Sleeps for the time that a response's Retry-After header asks for, regardless of the response's status.
 * @param response the last response. May be NULL: there was no response, so there is no wait.
 * @param slept out: 1 if the call slept; 0 if the response has no Retry-After header, or a malformed one that is
 *        ignored, or one that asks for no wait.
 * @return `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED` if the limit ends the sleep, with the outcomes of the
 *         requests in the history as causes; `NETLIB_INVALID_HEADER` if Retry-After is neither a number nor a date,
 *         unless malformed headers are ignored; `NETLIB_MAX_RETRY` if Retry-After exceeds `retry_after_max` and
 *         therefore ends the retries; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
 */
NETLIB_MUST_USE netlib_status netlib_retry_sleep_for_retry(const netlib_retry *retry, const netlib_response *response,
                                                           const netlib_limit *limit, int32_t *slept,
                                                           netlib_error **err);

/** Returns the Retry of a `NETLIB_MAX_RETRY` error, with the history of all requests; NULL for every other error. The
 * returned Retry is exhausted, unless a header of the response or a retry budget ended the retries: see
 * `NETLIB_LONG_RETRY_AFTER_STOP`, `NETLIB_PUSHBACK_GRPC` and `netlib_retry_options_set_budget`. */
const netlib_retry *netlib_error_retry(const netlib_error *error);

/* ---- The recommended settings. ---- */

/** Makes options that hold the recommended settings, for new programs. `netlib_retry_options_new` makes options with
 * urllib3's defaults instead: 10 retries, without a wait unless a Retry-After header asks for one. By these defaults,
 * a response is retried only if its status is 413, 429 or 503 and it has a Retry-After header, and redirects are
 * followed even from https to http.
 *
 * The recommended settings, each with its reason and source:
 *
 * - `total` is 3, and redirects do not decrement `total`: more than 3 retries rarely help, and multiply the load
 *   during an outage. AWS's SDKs and Google's services make 3 attempts in all [2, 4]; netlib keeps the 3 retries of
 *   urllib3's `Retry.DEFAULT`.
 * - `other` is `NETLIB_RETRY_DISABLED`: a certificate that was refused once will be refused again. Such a failure is
 *   returned unchanged, for example as `NETLIB_CERTIFICATE_VERIFY`, and not as `NETLIB_MAX_RETRY`.
 * - `allowed_methods` has its default: a request that may have reached the server is repeated only if it is idempotent
 *   [3].
 * - `redirect` is 10, as in Go's net/http [6]: a longer chain of redirects is usually a loop.
 * - The redirect profile is `NETLIB_REDIRECT_SAFE`: credentials are sent to their origin only, and no redirect leads
 *   from https to http (RFC 9110 section 15.4).
 * - `status_forcelist` is 429, 502, 503, 504, because overloads and failures behind a gateway are usually temporary
 *   [2, 3]. A 500 may be caused by a bug: a second request would then fail for the same reason.
 * - `backoff_factor` is 0.1 s with `NETLIB_JITTER_FULL`: without jitter, clients that failed together retry together
 *   [1, 5]. AWS's SDKs begin with a backoff of 0.05 s to 1 s [2].
 * - `backoff_max` is 20 s, as in AWS's SDKs [2].
 * - Retry-After is obeyed for every status that is retried: the server knows best when it can answer again (RFC 9110
 *   section 10.2.3).
 * - `retry_after_max` is 120 s with `NETLIB_LONG_RETRY_AFTER_STOP`: a longer Retry-After ends the retries, so that the
 *   caller decides whether to wait that long. If an overloaded server asks for a wait, a request before the end of
 *   that wait adds to the overload [4].
 * - A malformed Retry-After is ignored: the backoff applies instead, as for servers that send no Retry-After.
 *
 * Sources: [1] AWS Architecture Blog, "Exponential Backoff And Jitter". [2] AWS SDKs and Tools Reference Guide, "Retry
 * behavior". [3] Google Cloud Storage documentation, "Retry strategy". [4] Google, "Site Reliability Engineering",
 * chapter "Handling Overload". [5] Google, "Site Reliability Engineering", chapter "Addressing Cascading Failures".
 * [6] Go, package net/http, the documentation of Client.CheckRedirect.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_retry_options *netlib_retry_options_new_recommended(void);

/** Returns a constant Retry with the settings of `netlib_retry_options_new_recommended`. The constant Retry is borrowed
 * and never freed; its clones are freed as usual. Never NULL. The constant Retry has no callbacks: to set callbacks,
 * make a Retry from `netlib_retry_options_new_recommended`. */
const netlib_retry *netlib_retry_recommended(void);

/* ---- Retry settings. ---- */

/** The default value of the `total` counter. */
enum NETLIB_INT32 { NETLIB_RETRY_DEFAULT_TOTAL = 10 };

/** The default of `backoff_max`, in seconds. */
#define NETLIB_RETRY_DEFAULT_BACKOFF_MAX 120.0

/** The default of `retry_after_max`, in seconds: six hours. */
#define NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX 21600.0

/** Redirect profiles: rules for following redirects. `netlib_retry_options_set_redirect_profile` sets the profile. */
enum netlib_redirect_profile NETLIB_INT32 {
    /** Follows redirects as urllib3 does: to any scheme, also from https to http. On 303, the method becomes GET (HEAD
     * stays HEAD); on other statuses, the method does not change. On a redirect to another origin, the headers of
     * `remove_headers_on_redirect` are dropped, by default only Authorization. So Host and headers with secrets, such
     * as Cookie and X-Api-Key, are sent to the other origin, even over plain http, unless another setting drops them.
     * `netlib_retry_options_add_sensitive_headers` makes redirects to another origin drop cookies and API keys. */
    NETLIB_REDIRECT_URLLIB3 = 0,
    /** Follows redirects as browsers and careful clients do. The profile differs from `NETLIB_REDIRECT_URLLIB3` in
     * three rules. On 301 and 302, POST becomes GET. On a redirect to another origin, the headers of
     * `NETLIB_SENSITIVE_HEADERS` and Host are dropped, in addition to those of `remove_headers_on_redirect`. A
     * redirect from https to http, or to a scheme other than http and https, fails with `NETLIB_UNSAFE_REDIRECT`. */
    NETLIB_REDIRECT_SAFE = 1
};

/** Settings from which `netlib_retry_new` makes a Retry. **One call at a time**. */
struct netlib_retry_options;

/** Stores the time of day, for a Retry-After header that contains a date and for the validity of certificates.
 *
 * The following rules hold for the callbacks of type `netlib_wall_clock_fn`, `netlib_sleep_fn` and `netlib_random_fn`
 * of a Retry. A Retry made from another Retry holds the same callbacks. So `ctx` is released only when no Retry,
 * decision, error or options object holds the callback any more. The callbacks run without a lock, on the thread that
 * uses the Retry. If several threads share a Retry, the callbacks may run at the same time, and the data behind `ctx`
 * must be thread-safe.
 * @param seconds out: the seconds since 1970-01-01 00:00:00 UTC, a finite number. netlib presets `seconds` to NaN, and
 *        the callback must store a value.
 * @return 0 on success. If the callback returns any other number, or returns 0 without storing `seconds`, the outer
 *         call fails with `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_retry_get_retry_after`, `netlib_retry_parse_retry_after`, `netlib_retry_delay`,
 *        `netlib_retry_sleep`, `netlib_retry_sleep_for_retry`, `netlib_retry_decide`, `netlib_attempts_next`,
 *        `netlib_attempts_decide` and `netlib_tls_context_verify_chain`; every call that makes a TLS handshake.
 */
typedef int32_t (*netlib_wall_clock_fn)(void *ctx, double *seconds);

/** Waits for a number of seconds. netlib calls this callback instead of waiting itself.
 * @param seconds more than 0; may be infinity if `backoff_max` is `NETLIB_TIMEOUT_NONE`.
 * @param outcome out: `NETLIB_OUTCOME_DONE` once the time has passed. netlib presets `outcome` to
 *        `NETLIB_OUTCOME_FAILED`. Every value except `NETLIB_OUTCOME_DONE` makes the outer call fail with
 *        `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_retry_sleep`, `netlib_retry_sleep_for_retry`, `netlib_decision_sleep` and
 *        `netlib_attempts_next`.
 */
typedef void (*netlib_sleep_fn)(void *ctx, double seconds, enum netlib_outcome *outcome);

/** Stores a random number in `value`. netlib uses this number instead of a random number from the system.
 * @param value out: a random number, 0 or more and less than 1, uniformly distributed. netlib presets `value` to NaN,
 *        and the callback must store a value.
 * @return 0 on success. If the callback returns any other number, or returns 0 without storing `value`, the outer call
 *         fails with `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_retry_increment`, `netlib_retry_get_backoff_time`, `netlib_retry_delay`, `netlib_retry_sleep`,
 *        `netlib_retry_decide`, `netlib_attempts_next`, `netlib_attempts_decide` and `netlib_breaker_ask`.
 */
typedef int32_t (*netlib_random_fn)(void *ctx, double *value);

/** Makes options that hold urllib3's defaults; the comment of each setter states its default. With urllib3's defaults,
 * the headers Cookie and X-Api-Key are sent to every host that a redirect names, even over plain http, and a request
 * is retried up to 10 times, without a wait unless a Retry-After header asks for one. New programs should use
 * `netlib_retry_options_new_recommended`, whose comment gives the reason and the source of each recommended value.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_retry_options *netlib_retry_options_new(void);

/** Returns an independent copy of the options, which includes the history. */
NETLIB_MUST_USE netlib_retry_options *netlib_retry_options_clone(const netlib_retry_options *options);

/** Checks that no setter has recorded an error, as `netlib_retry_new` does.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value. */
NETLIB_MUST_USE netlib_status netlib_retry_options_check(const netlib_retry_options *options, netlib_error **err);

/** Releases options. */
void netlib_retry_options_free(netlib_retry_options *options);

/** Sets the `total` counter: the maximum number of retries for all reasons together, even if the other counters allow
 * more. Redirects are included, unless `netlib_retry_options_set_total_counts_redirects` excludes them. Default:
 * `NETLIB_RETRY_DEFAULT_TOTAL`. Recommended: 3. With 0, the first retry fails with `NETLIB_MAX_RETRY`.
 * @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`, which disables retries and
 *        redirects: `netlib_retry_decide` then fails with its argument `error`, or decides to return the response,
 *        even a redirect. Any other negative number means an exhausted counter.
 */
void netlib_retry_options_set_total(netlib_retry_options *options, int32_t count);

/** Sets whether a redirect decrements the `total` counter in addition to the `redirect` counter. Default: 1, as in
 * urllib3. Recommended: 0, so that redirects leave all retries for failures. If `total` is `NETLIB_RETRY_DISABLED`,
 * redirects are disabled, whether the setting is 0 or 1. */
void netlib_retry_options_set_total_counts_redirects(netlib_retry_options *options, int32_t counts);

/** Sets the `connect` counter: the maximum number of retries after failures to reach the server. After such a failure,
 * a request with any method may be retried, because the server has not processed the request. Default: `NETLIB_NONE`.
 * @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: the error is returned unchanged.
 *        Any other negative number means an exhausted counter.
 */
void netlib_retry_options_set_connect(netlib_retry_options *options, int32_t count);

/** Sets the `read` counter: the maximum number of retries after read errors. A read error means that the request was
 * sent in whole or in part, but that its response did not arrive or was not complete. The server may have processed
 * the request, so the request is repeated only if its method is in `allowed_methods`, or as
 * `netlib_retry_options_set_any_method_if_stale` allows. Default: `NETLIB_NONE`.
 * @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: the error is returned unchanged.
 *        Any other negative number means an exhausted counter.
 */
void netlib_retry_options_set_read(netlib_retry_options *options, int32_t count);

/** Sets the `redirect` counter: the maximum number of redirects that are followed. A redirect is a response with status
 * 301, 302, 303, 307 or 308 and a Location. Default: `NETLIB_NONE`. Recommended: 10. With 0, the first redirect
 * exceeds the counter (see `netlib_retry_options_set_raise_on_redirect`).
 * @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: redirects are returned as
 *        responses, and the getters return 0 for `redirect` and for `raise_on_redirect`. Any other negative number
 *        means an exhausted counter.
 */
void netlib_retry_options_set_redirect(netlib_retry_options *options, int32_t count);

/** Sets the `status` counter: the maximum number of retries because of a response's status. Default: `NETLIB_NONE`.
 * @param count 0 or more, or `NETLIB_NONE` for no maximum; `NETLIB_RETRY_DISABLED` is refused. Any other negative
 *        number means an exhausted counter.
 */
void netlib_retry_options_set_status(netlib_retry_options *options, int32_t count);

/** Sets the `other` counter: the maximum number of retries after failures that are neither connect nor read errors, for
 * example a refused certificate. If the server may have processed the request, the failure is a read error
 * (`netlib_error_retry_kind`). If `total` is `NETLIB_NONE`, set `other` to 0 or `NETLIB_RETRY_DISABLED`, so that a
 * refused certificate is not retried forever. Default: `NETLIB_NONE`. Recommended: `NETLIB_RETRY_DISABLED`.
 * @param count 0 or more; `NETLIB_NONE` for no maximum; or `NETLIB_RETRY_DISABLED`: the error is returned unchanged.
 *        With 0, the first such error ends the retries with `NETLIB_MAX_RETRY`. Any other negative number means an
 *        exhausted counter.
 */
void netlib_retry_options_set_other(netlib_retry_options *options, int32_t count);

/** Sets the methods that may be retried after a read error or because of a status. Default:
 * `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the idempotent methods. See also `netlib_retry_options_allow_any_method`.
 * @param methods an array of `count` method names, compared case-insensitively.
 * @param count the number of methods; with 0, no method is allowed. */
void netlib_retry_options_set_allowed_methods(netlib_retry_options *options, const char *const *methods,
                                              size_t count);

/** Allows requests with any method to be retried, even if the method is not safe to repeat. The call replaces the list
 * that `netlib_retry_options_set_allowed_methods` set. Corresponds to urllib3's `allowed_methods=None`. */
void netlib_retry_options_allow_any_method(netlib_retry_options *options);

/** Sets whether a request with any method may be repeated after `NETLIB_STALE_CONNECTION`: the request was sent on a
 * reused connection, and the connection ended before the first byte of the response. Default: 0, only a request whose
 * method is allowed. With 1, a POST is repeated too, although the server may have processed the request before the
 * connection ended. Set 1 only if a repeated request does no harm, for example if each request has an idempotency key
 * (RFC 9110 section 9.2.2).
 *
 * The repetition decrements `read` and `total`, as after any read error. Send the repeated request on a new
 * connection, with its whole body (see `netlib_rewind_body`). The setting has no effect if a response is passed with
 * the error. */
void netlib_retry_options_set_any_method_if_stale(netlib_retry_options *options, int32_t allow);

/** Sets `status_forcelist`: the response statuses that are retried, if the method is allowed. Default: none.
 * Recommended: 429, 502, 503 and 504.
 * @param codes `count` status codes, 100 to 999. */
void netlib_retry_options_set_status_forcelist(netlib_retry_options *options, const int32_t *codes, size_t count);

/** Sets `backoff_factor`, the factor of the backoff: the delay before the next attempt is `backoff_factor * 2^(n - 1)`
 * seconds after n failures in a row. The jitter kind determines how randomness changes the delay, and whether the
 * first retry is immediate, as it is with the default jitter kind. Default: 0, no delay. Recommended: 0.1.
 * @param seconds 0 or more, finite. */
void netlib_retry_options_set_backoff_factor(netlib_retry_options *options, double seconds);

/** Sets `backoff_max`, the longest backoff. Default: `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`. Recommended: 20. The maximum
 * does not apply to the wait that a Retry-After header asks for.
 * @param seconds 0 or more; `NETLIB_TIMEOUT_NONE` for no maximum. */
void netlib_retry_options_set_backoff_max(netlib_retry_options *options, double seconds);

/** Sets `backoff_jitter`, the upper bound of the random time that is added to a backoff, so that clients do not all
 * retry at once. The setting has an effect only with `NETLIB_JITTER_ADDITIVE`. Default: 0.
 * @param seconds 0 or more, finite. */
void netlib_retry_options_set_backoff_jitter(netlib_retry_options *options, double seconds);

/** Sets `retry_after_max`, the longest wait that a Retry-After header can cause. If a header asks for a longer wait,
 * the wait is shortened to this maximum, or the retries end: see `netlib_retry_options_set_long_retry_after`. Default:
 * `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX`. Recommended: 120.
 * @param seconds 0 or more; `NETLIB_TIMEOUT_NONE` for no maximum. */
void netlib_retry_options_set_retry_after_max(netlib_retry_options *options, double seconds);

/** Sets whether `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when a redirect exceeds the `redirect` or `total`
 * counter. With 0, the decision is to return the response. Default: 1. */
void netlib_retry_options_set_raise_on_redirect(netlib_retry_options *options, int32_t raise);

/** Sets whether `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when a retry because of a status exceeds the
 * `status` or `total` counter. With 0, the decision is to return the response. Default: 1. */
void netlib_retry_options_set_raise_on_status(netlib_retry_options *options, int32_t raise);

/** Sets whether the Retry-After header is obeyed. `netlib_retry_options_set_retry_after_statuses` and
 * `netlib_retry_options_obey_any_retry_after` choose the statuses for which the header is obeyed. Default: 1.
 *
 * The setting does not apply to redirects: like urllib3, `netlib_retry_decide` obeys the Retry-After of every
 * redirect. The setting does not apply to `netlib_retry_sleep_for_retry` either. */
void netlib_retry_options_set_respect_retry_after_header(netlib_retry_options *options, int32_t respect);

/** Sets the headers that are dropped from the request after a redirect to another origin (scheme, host or port), and
 * from all later requests of the same chain of redirects and retries. Default:
 * `NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT`.
 * @param names an array of `count` header names, compared case-insensitively. */
void netlib_retry_options_set_remove_headers_on_redirect(netlib_retry_options *options, const char *const *names,
                                                         size_t count);

/** Adds the names in `NETLIB_SENSITIVE_HEADERS` to the names of the request headers that are dropped on a redirect to
 * another origin. These headers contain cookies, credentials for servers and proxies, and the usual API keys. */
void netlib_retry_options_add_sensitive_headers(netlib_retry_options *options);

/** Sets the only request headers that are kept on a redirect to another origin (scheme, host or port), and in all later
 * requests of the same chain of redirects and retries. Every other header is dropped, including Host and the headers
 * that describe the body, so that an API key under an unlisted name cannot leak. The headers of
 * `remove_headers_on_redirect` and of the redirect profile are dropped even if they are in `names`. Default: not set,
 * see `netlib_retry_options_keep_any_header_on_redirect`.
 * @param names an array of `count` header names, compared case-insensitively.
 * @param count the number of names; with 0, no header is kept. */
void netlib_retry_options_set_keep_headers_on_redirect(netlib_retry_options *options, const char *const *names,
                                                       size_t count);

/** Keeps every request header on a redirect to another origin, unless another setting drops the header. This is the
 * default. The call undoes `netlib_retry_options_set_keep_headers_on_redirect`, which keeps only the headers of a
 * list. */
void netlib_retry_options_keep_any_header_on_redirect(netlib_retry_options *options);

/** Sets the redirect profile. Default: `NETLIB_REDIRECT_URLLIB3`. Recommended: `NETLIB_REDIRECT_SAFE`. */
void netlib_retry_options_set_redirect_profile(netlib_retry_options *options, enum netlib_redirect_profile profile);

/** Adds an entry to the end of the history, as `netlib_retry_increment` does, so that a new Retry continues the history
 * of another Retry.
 * @param method the request's method. May be NULL: the method is unknown.
 * @param url the request's URL, stored unchanged. May be NULL: the URL is unknown.
 * @param error the failure of the request. May be NULL: the request did not fail.
 * @param status the response's status, 100 to 999, or `NETLIB_NONE` if there was no response.
 * @param redirect_location the Location of a redirect. May be NULL: the request was not redirected. */
void netlib_retry_options_add_history(netlib_retry_options *options, const char *method, const char *url,
                                      const netlib_error *error, int32_t status, const char *redirect_location);

/** Replaces the clock by which a date in a Retry-After header is converted to a wait. The default is the system's
 * clock.
 * @param clock the callback. May be NULL: the system's clock. */
void netlib_retry_options_set_wall_clock(netlib_retry_options *options, netlib_wall_clock_fn clock, void *ctx,
                                         netlib_ctx_free_fn ctx_free);

/** Sets the callback with which `netlib_decision_sleep`, `netlib_retry_sleep` and `netlib_retry_sleep_for_retry` wait.
 * With a callback, a limit that is passed to one of these functions is checked before and after the callback, but
 * cannot interrupt the callback. By default, netlib waits itself.
 * @param sleep the callback. May be NULL: netlib waits itself. */
void netlib_retry_options_set_sleep(netlib_retry_options *options, netlib_sleep_fn sleep, void *ctx,
                                    netlib_ctx_free_fn ctx_free);

/** Replaces the source of random numbers for the backoff's jitter. The default is the system's random numbers.
 * @param random the callback. May be NULL: the system's random numbers. */
void netlib_retry_options_set_random(netlib_retry_options *options, netlib_random_fn random, void *ctx,
                                     netlib_ctx_free_fn ctx_free);

/* ---- Delays: jitter and Retry-After. ---- */

/** Jitter kinds: formulas of the backoff. `netlib_retry_options_set_jitter_kind` sets the kind.
 *
 * Jitter makes the waits of clients differ, so that clients that failed at the same time do not retry at the same
 * time. In the formulas, `delay` is `backoff_factor * 2^(n - 1)`, `n` is the number of failures in a row, and `random`
 * is a random number, 0 or more and less than 1. FULL, EQUAL and DECORRELATED also delay the first retry. Source: AWS
 * Architecture Blog, "Exponential Backoff And Jitter". */
enum netlib_jitter_kind NETLIB_INT32 {
    /** The formula of urllib3: `min(backoff_max, delay + random * backoff_jitter)`, and 0 before the first retry. */
    NETLIB_JITTER_ADDITIVE = 0,
    /** `random * min(backoff_max, delay)`: of all jitter kinds, FULL puts the least load on the server. */
    NETLIB_JITTER_FULL = 1,
    /** `half + random * half`, where `half` is `min(backoff_max, delay) / 2`: the backoff is never less than `half`. */
    NETLIB_JITTER_EQUAL = 2,
    /** `min(backoff_max, backoff_factor + random * (3 * previous - backoff_factor))`. `previous` is the backoff before
     * the previous request, or `backoff_factor` after the first failure in a row. `netlib_retry_increment` and
     * `netlib_retry_decide` draw the random number and store it in the Retry that they make, so that all functions
     * return the same delay for one Retry, and the next Retry knows the previous delay. If the Retry contains no
     * random number, for example because `netlib_retry_options_add_history` added the last entry of the history, each
     * call draws a number, with `backoff_factor` as `previous`. */
    NETLIB_JITTER_DECORRELATED = 3,
    /** `min(backoff_max, delay)`, and 0 before the first retry, without randomness. `backoff_jitter` has no effect. */
    NETLIB_JITTER_NONE = 4
};

/** Reactions to a Retry-After header that asks for more than `retry_after_max`.
 * `netlib_retry_options_set_long_retry_after` sets the reaction. */
enum netlib_long_retry_after NETLIB_INT32 {
    /** The wait is `retry_after_max`, so the request is sent again earlier than the server asks for. */
    NETLIB_LONG_RETRY_AFTER_CLAMP = 0,
    /** The retries end, and the request is not sent again. */
    NETLIB_LONG_RETRY_AFTER_STOP = 1
};

/** Sets the jitter kind, the formula of the backoff. Default: `NETLIB_JITTER_ADDITIVE`. Recommended:
 * `NETLIB_JITTER_FULL`. */
void netlib_retry_options_set_jitter_kind(netlib_retry_options *options, enum netlib_jitter_kind kind);

/** Sets the statuses whose Retry-After header is obeyed. A response with one of these statuses and a Retry-After header
 * is retried even if its status is not in `status_forcelist` (`netlib_retry_is_retry` states the other conditions).
 * Default: `NETLIB_RETRY_AFTER_STATUS_CODES`. See also `netlib_retry_options_obey_any_retry_after`.
 *
 * The list of statuses does not apply to redirects: like urllib3, `netlib_retry_decide` obeys the Retry-After of every
 * redirect.
 * @param codes `count` status codes, 100 to 999. */
void netlib_retry_options_set_retry_after_statuses(netlib_retry_options *options, const int32_t *codes, size_t count);

/** Makes the Retry obey the Retry-After header of every response that is retried because its status is in
 * `status_forcelist`. The call removes the list that `netlib_retry_options_set_retry_after_statuses` set: from then
 * on, a Retry-After header alone does not cause a retry. Recommended. */
void netlib_retry_options_obey_any_retry_after(netlib_retry_options *options);

/** Sets the reaction to a Retry-After header that asks for more than `retry_after_max`. Default:
 * `NETLIB_LONG_RETRY_AFTER_CLAMP`. Recommended: `NETLIB_LONG_RETRY_AFTER_STOP`.
 *
 * With STOP, `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` or decides to return the response, depending on
 * `raise_on_status` (for a redirect, on `raise_on_redirect`). The cause of the `NETLIB_MAX_RETRY` error has the status
 * `NETLIB_RESPONSE_STATUS`, and its message names the wait that the server asked for and the maximum.
 * `netlib_error_retry` returns the Retry with the history; the counters of this Retry need not be exhausted. A
 * decision to return the response has the delay 0 with the reason `NETLIB_DELAY_RETRY_AFTER`;
 * `netlib_decision_delay_uncapped` returns the wait that the server asked for. `netlib_retry_delay`,
 * `netlib_retry_sleep` and `netlib_retry_sleep_for_retry` fail with `NETLIB_MAX_RETRY`. `netlib_retry_get_retry_after`
 * and `netlib_retry_parse_retry_after` store the wait that the server asked for, even if it exceeds the maximum. */
void netlib_retry_options_set_long_retry_after(netlib_retry_options *options, enum netlib_long_retry_after over_max);

/** Sets whether a Retry-After header that contains neither a number nor a date counts as absent, so that the backoff
 * applies. With 0, a call that needs the wait in such a header fails with `NETLIB_INVALID_HEADER`, as in urllib3.
 * Default: 0. Recommended: 1, because a malformed header does not mean that the next request would fail.
 *
 * `netlib_retry_parse_retry_after` fails for a malformed value, whether the setting is 0 or 1. */
void netlib_retry_options_set_ignore_malformed_retry_after(netlib_retry_options *options, int32_t ignore);

/** Returns the jitter kind, the formula of the backoff; `NETLIB_JITTER_ADDITIVE` for NULL. */
enum netlib_jitter_kind netlib_retry_jitter_kind(const netlib_retry *retry);

/** Returns 1 if the setting is to obey the Retry-After header of every status in `status_forcelist`, else 0 (see
 * `netlib_retry_options_obey_any_retry_after`). If the result is 1, the list of statuses whose Retry-After is obeyed
 * is empty and not used. */
int32_t netlib_retry_obeys_any_retry_after(const netlib_retry *retry);

/** Returns the number of entries in the list of statuses whose Retry-After header is obeyed. */
size_t netlib_retry_retry_after_status_count(const netlib_retry *retry);

/** Returns a status whose Retry-After header is obeyed, from a sorted list; -1 for NULL. */
int32_t netlib_retry_retry_after_status_at(const netlib_retry *retry, size_t index);

/** Returns the reaction to a Retry-After header that asks for more than `retry_after_max`;
 * `NETLIB_LONG_RETRY_AFTER_CLAMP` for NULL. */
enum netlib_long_retry_after netlib_retry_long_retry_after(const netlib_retry *retry);

/** Returns 1 if a Retry-After header that contains neither a number nor a date counts as absent, else 0. */
int32_t netlib_retry_ignores_malformed_retry_after(const netlib_retry *retry);

/* ---- Responses in which the server asks the client to slow down. ---- */

/** Kinds of pushback headers. A pushback header is a response header in which the server asks the client to wait before
 * a retry, or not to retry. `netlib_retry_options_set_pushback_header` sets the kind. */
enum netlib_pushback NETLIB_INT32 {
    /** The header has the number of milliseconds to wait, like AWS's x-amz-retry-after. The header is ignored if its
     * value is not a number without a sign, or if the response has several such headers. With 0, the wait is the
     * backoff. */
    NETLIB_PUSHBACK_MILLISECONDS = 0,
    /** The header has the number of milliseconds to wait, like gRPC's grpc-retry-pushback-ms (gRPC proposal A6). With
     * 0, the request is sent again at once. The retries end if the value is a negative number, a number above
     * `INT32_MAX` or not a number, or if the response has several such headers. */
    NETLIB_PUSHBACK_GRPC = 1
};

/** Sets the base delay after throttled outcomes. An outcome is throttled if the server asks its clients to slow down. A
 * response is throttled if its status is 429, if its status is 503 and it has a Retry-After header, or if its status
 * is in `statuses`. An error is throttled if its HTTP status (`netlib_error_http_status`) is 429 or in `statuses`.
 *
 * If the last outcome is throttled, `base` replaces `backoff_factor` in the formula of the backoff. For other
 * outcomes, `backoff_factor` applies. `statuses` does not determine which requests are retried: see
 * `netlib_retry_options_set_status_forcelist`. Default: `statuses` is empty, and `backoff_factor` applies to throttled
 * outcomes, too. AWS's SDKs (version 2.1 of their standard mode, as in smithy-rs) use a base of 1 second, and a
 * backoff factor of 0.05 seconds for other failures, with `NETLIB_JITTER_FULL` and a `backoff_max` of 20 seconds.
 * @param base 0 or more, finite, in seconds.
 * @param statuses further statuses that are throttled, 100 to 999.
 * @param count the number of statuses; may be 0. */
void netlib_retry_options_set_throttling(netlib_retry_options *options, double base, const int32_t *statuses,
                                         size_t count);

/** Clamps the wait that the server asks for with Retry-After or a pushback header: the wait is at least the backoff,
 * and at most the backoff plus `more` seconds. Before a redirect, the backoff is 0. `retry_after_max` applies first,
 * so a Retry-After that exceeds `retry_after_max` still ends the retries if `NETLIB_LONG_RETRY_AFTER_STOP` is set.
 * Default: no clamp. AWS's SDKs (version 2.1 of their standard mode, as in smithy-rs) use 5 seconds.
 *
 * The clamp does not apply to `netlib_retry_sleep_for_retry`, `netlib_retry_get_retry_after` and
 * `netlib_retry_parse_retry_after`, which compute no backoff.
 * @param more the seconds by which the wait may exceed the backoff, 0 or more; `NETLIB_TIMEOUT_NONE` for no upper
 *        bound.
 */
void netlib_retry_options_set_retry_after_clamp(netlib_retry_options *options, double more);

/** Sets the response header in which the server asks for a wait in milliseconds. The pushback header takes precedence
 * over Retry-After. It is obeyed for every response that is retried, independently of the status and of
 * `respect_retry_after_header`. The pushback header alone does not cause a retry. The maximum `retry_after_max`
 * applies as for Retry-After. A pushback header that asks not to retry ends the retries in the same way as a
 * Retry-After above `retry_after_max` with `NETLIB_LONG_RETRY_AFTER_STOP`. Pushback headers of redirects are ignored.
 * Default: none.
 * @param name the header's name, case-insensitive. May be NULL: there is no pushback header. */
void netlib_retry_options_set_pushback_header(netlib_retry_options *options, const char *name,
                                              enum netlib_pushback kind);

/** Returns the base delay after throttled outcomes, in seconds; -1.0 if `netlib_retry_options_set_throttling` was not
 * called, and for NULL. */
double netlib_retry_throttling_base(const netlib_retry *retry);

/** Returns the number of statuses that are throttled in addition to 429, and to 503 with a Retry-After header. */
size_t netlib_retry_throttling_status_count(const netlib_retry *retry);

/** Returns the status at `index` in the sorted list of the statuses that are throttled in addition to 429, and to 503
 * with a Retry-After header; -1 for NULL. */
int32_t netlib_retry_throttling_status_at(const netlib_retry *retry, size_t index);

/** Returns 1 if the last outcome in the history was throttled (`netlib_retry_options_set_throttling`), else 0. An entry
 * that `netlib_retry_options_add_history` added with the status 503 is not throttled, unless 503 is in the list,
 * because the entry does not record the headers of a response. */
int32_t netlib_retry_is_throttled(const netlib_retry *retry);

/** Returns the time by which the wait that the server asks for may exceed the backoff, in seconds;
 * `NETLIB_TIMEOUT_NONE` for no upper bound; -1.0 if `netlib_retry_options_set_retry_after_clamp` was not called, and
 * for NULL. */
double netlib_retry_retry_after_clamp(const netlib_retry *retry);

/** Returns the name of the pushback header; NULL if there is none. */
const char *netlib_retry_pushback_header(const netlib_retry *retry, size_t *len);

/** Returns the kind of the pushback header; `NETLIB_PUSHBACK_MILLISECONDS` if there is no pushback header, and for
 * NULL. */
enum netlib_pushback netlib_retry_pushback_kind(const netlib_retry *retry);

/* ---- Decisions after a request. ---- */

/** Next steps after a request. `netlib_decision_action` returns the next step of a decision. */
enum netlib_action NETLIB_INT32 {
    /** Send no further request, and return the response to your caller. */
    NETLIB_ACTION_RETURN_RESPONSE = 0,
    /** Send the request again. */
    NETLIB_ACTION_RETRY = 1,
    /** Send the request to the redirect's target. */
    NETLIB_ACTION_REDIRECT = 2
};

/** The counters of a Retry besides `total`. `netlib_decision_counter` returns the counter that a request
 * decremented. */
enum netlib_counter NETLIB_INT32 {
    /** No counter: the response needs no further request. */
    NETLIB_COUNTER_NONE = 0,
    /** The `connect` counter. */
    NETLIB_COUNTER_CONNECT = 1,
    /** The `read` counter. */
    NETLIB_COUNTER_READ = 2,
    /** The `redirect` counter. */
    NETLIB_COUNTER_REDIRECT = 3,
    /** The `status` counter. */
    NETLIB_COUNTER_STATUS = 4,
    /** The `other` counter. */
    NETLIB_COUNTER_OTHER = 5
};

/** A decision: the next step after a request, and all values that the application needs for this step.
 * **Immutable**. */
struct netlib_decision;

/** Decides what to do after a request with a `method` and a `url`: return its response, send the request again, or
 * follow the redirect. The call does no I/O and does not wait.
 *
 * An error is counted as `netlib_retry_increment` counts it: the call fails if that function would fail, and otherwise
 * the request is sent again. A redirect is followed and counted, unless the redirect profile refuses the redirect. On
 * 303, the method becomes GET (HEAD stays HEAD). The body is dropped on 303, and if a redirect changes POST to GET.
 * For a response that is retried (`netlib_retry_is_retry`), the request is sent again, and the response is counted.
 * Any other response is returned. If a redirect exceeds the `redirect` or `total` counter, the call fails with
 * `NETLIB_MAX_RETRY`, or decides to return the response if `raise_on_redirect` is 0. If a retry because of a status
 * exceeds the `status` or `total` counter, the call fails with `NETLIB_MAX_RETRY`, or decides to return the response
 * if `raise_on_status` is 0. If `total` is `NETLIB_RETRY_DISABLED`, every response is returned; with an `error`, the
 * call fails with that error.
 *
 * Before a retry, the wait is the one that `netlib_retry_delay` computes. Before a redirect, the wait is the one that
 * the redirect's Retry-After asks for. Wait with `netlib_decision_sleep`, or with a timer of your own. A Retry-After
 * above `retry_after_max` is shortened to that maximum, or ends the retries: see
 * `netlib_retry_options_set_long_retry_after`. A pushback header can end the retries in the same way: see
 * `netlib_retry_options_set_pushback_header`.
 *
 * If the Retry has a retry budget (`netlib_retry_options_set_budget`), the call reports the outcome to the budget, and
 * asks the budget as the last step before a retry. If the budget denies the retry, the call ends as if a counter were
 * used up: it fails with `NETLIB_MAX_RETRY`, or decides to return the response if `raise_on_status` is 0.
 *
 * When the limit ends a chain of redirects and retries, the error's causes are the outcomes of the requests, at most
 * the last 16, the oldest first. A response appears as an error with the status `NETLIB_RESPONSE_STATUS`. If the
 * status of `error` is `NETLIB_CANCELLED`, `NETLIB_DEADLINE_EXCEEDED` or `NETLIB_INTERRUPTED`, the call fails with a
 * copy of `error`, in which these outcomes follow the causes of `error`.
 *
 * An error that the call makes ends the retries. The retry kind of such an error is NEVER, so a loop that passes it to
 * `netlib_retry_decide` or `netlib_retry_increment` gets the same error again, and nothing is counted.
 *
 * In a chain of redirects and retries, pass the decision's Retry, method and URL to the next call, and send the
 * headers that `netlib_decision_headers` stores. Retry, method and URL are borrowed from the decision: keep the
 * decision until the next call of `netlib_retry_decide` has returned. The Retry records whether a redirect led to
 * another origin, and whether a redirect dropped the body. The headers that such a redirect dropped stay dropped for
 * the rest of the chain, even if a later redirect leads back to the first origin. There is one exception:
 * `NETLIB_REDIRECT_SAFE` drops Host only from the next request after such a redirect.
 * @param response the response. May be NULL: there was no response.
 * @param error the failure, which takes precedence over `response`. If `response` and `error` are passed, the request
 *        counts as sent. May be NULL: the request did not fail.
 * @param limit the limit of the next request and of the wait before that request.
 * @return `NETLIB_MAX_RETRY` or the status of `error`, as from `netlib_retry_increment`; `NETLIB_CANCELLED` or
 *         `NETLIB_DEADLINE_EXCEEDED` if another request would follow, but the limit was cancelled or would end before
 *         the wait ends; `NETLIB_UNSAFE_REDIRECT` if the redirect profile refuses the redirect; `NETLIB_INVALID_URL`
 *         if the Location is not a URL, or has no host; `NETLIB_INVALID_HEADER` if a Retry-After that would be obeyed
 *         is neither a number nor a date, unless malformed headers are ignored; `NETLIB_INVALID_UTF8` for a Location
 *         that is not UTF-8; `NETLIB_INVALID_ARGUMENT` if the method is not a token, or both `response` and `error`
 *         are NULL; `NETLIB_CALLBACK_FAILED`; `NETLIB_IO` if the system cannot supply random numbers.
 * @blocks never: the call compares the time left until `limit` ends with the wait before the next request, but does
 *        not wait. If the retry budget has a store with a swap callback, the call takes as long as the callback,
 *        whose `timeout` is the remaining time.
 */
NETLIB_MUST_USE netlib_status netlib_retry_decide(const netlib_retry *retry, const char *method,
                                                  const netlib_url *url, const netlib_response *response,
                                                  const netlib_error *error, const netlib_limit *limit,
                                                  netlib_decision **decision, netlib_error **err);

/** Returns another reference to the same decision. */
NETLIB_MUST_USE netlib_decision *netlib_decision_clone(const netlib_decision *decision);

/** Releases a decision. */
void netlib_decision_free(netlib_decision *decision);

/** Returns the next step of a decision; `NETLIB_ACTION_RETURN_RESPONSE` for NULL. */
enum netlib_action netlib_decision_action(const netlib_decision *decision);

/** Returns the Retry for the next request; if the decision is to return a response, the Retry that was passed to
 * `netlib_retry_decide`. Clone the Retry to keep it longer than the decision. */
const netlib_retry *netlib_decision_retry(const netlib_decision *decision);

/** Returns the counter that the request decremented in addition to `total`; `NETLIB_COUNTER_NONE` for NULL. If the
 * decision is to return a response that would otherwise be retried or followed as a redirect, the result is the
 * counter that would have been decremented. */
enum netlib_counter netlib_decision_counter(const netlib_decision *decision);

/** Returns 1 if the outcome for which the decision was made was throttled (`netlib_retry_options_set_throttling`), else
 * 0. A throttled response that is not retried also gives 1. */
int32_t netlib_decision_throttled(const netlib_decision *decision);

/** Returns the wait before the next request, in seconds; 0 for no wait. */
double netlib_decision_delay(const netlib_decision *decision);

/** Returns the reason for the wait before the next request; `NETLIB_DELAY_NONE` for NULL. */
enum netlib_delay_reason netlib_decision_delay_reason(const netlib_decision *decision);

/** Returns the wait before the next request without the maxima `backoff_max` and `retry_after_max`, in seconds. If the
 * decision is to return a response because the Retry-After of the response asks for more than `retry_after_max`, the
 * result is the wait that Retry-After asks for, and `netlib_decision_delay` returns 0. If the decision is to return a
 * response because its pushback header asks not to retry, the result is infinity. */
double netlib_decision_delay_uncapped(const netlib_decision *decision);

/** Waits for the time that `netlib_decision_delay` returns, with the Retry's sleep callback if there is one. When the
 * limit ends the wait, the error's causes are the outcomes of the requests so far, as for `netlib_retry_decide`.
 * @return `NETLIB_OK`, at once if the delay is 0; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`;
 *         `NETLIB_CALLBACK_FAILED`; `NETLIB_IO`.
 */
NETLIB_MUST_USE netlib_status netlib_decision_sleep(const netlib_decision *decision, const netlib_limit *limit,
                                                    netlib_error **err);

/** Returns the URL of the next request. Clone the URL to keep it longer than the decision. For a redirect, the URL is
 * the Location, resolved against the URL of the last request; a Location without a fragment inherits the fragment of
 * that URL (RFC 9110 section 10.2.2). The fragment is not sent: `netlib_url_request_uri` omits it. */
const netlib_url *netlib_decision_url(const netlib_decision *decision);

/** Returns the method of the next request. */
const char *netlib_decision_method(const netlib_decision *decision, size_t *len);

/** Returns 1 if the next request carries the body, if any, of the last request, else 0. Rewind the body before you send
 * it again, see `netlib_rewind_body`. The result is 0 if the chain contains a 303 or a redirect that changed POST to
 * GET, and if there is no next request. */
int32_t netlib_decision_resend_body(const netlib_decision *decision);

/** Returns 1 if the next request must not contain the header `name`, else 0; 1 for NULL. `netlib_decision_headers`
 * drops the headers for which this function returns 1.
 * @param name the header's name, case-insensitive. May be NULL: 1 is returned. */
int32_t netlib_decision_drops_header(const netlib_decision *decision, const char *name);

/** Returns the number of header names that the next request must not contain. After a redirect to another origin, a
 * list that was set with `netlib_retry_options_set_keep_headers_on_redirect` has a further effect: all headers that
 * are not in that list are dropped, but not counted here. */
size_t netlib_decision_dropped_header_count(const netlib_decision *decision);

/** Returns the name, in lower case, of a header that the next request must not contain. The names are sorted. To drop
 * these headers, use `netlib_decision_headers`, or `netlib_decision_drops_header` for each of your headers. */
const char *netlib_decision_dropped_header(const netlib_decision *decision, size_t index, size_t *len);

/** Makes the headers of the next request: the headers of the last request, without those that must be dropped. Headers
 * that describe the body are dropped if a redirect dropped the body. On a redirect to another origin, the profile
 * `NETLIB_REDIRECT_SAFE` drops Host, but the profile `NETLIB_REDIRECT_URLLIB3` does not. Do not include Host in
 * `request_headers`; make Host from the URL of each request (`netlib_url_netloc`).
 * @param request_headers the headers of the last request.
 * @return `NETLIB_OK`. */
NETLIB_MUST_USE netlib_status netlib_decision_headers(const netlib_decision *decision,
                                                      const netlib_headers *request_headers,
                                                      netlib_headers **next_headers, netlib_error **err);

/* ---- Getters of a Retry: counters, settings, history. ---- */

/** Returns the `total` counter: the number of retries that are left, negative when the counter is used up;
 * `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for no limit and for NULL. */
int32_t netlib_retry_total_left(const netlib_retry *retry);

/** Returns the `connect` counter: the number of retries that are left, negative when the counter is used up;
 * `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for no limit and for NULL. */
int32_t netlib_retry_connect_left(const netlib_retry *retry);

/** Returns the `read` counter: the number of retries that are left, negative when the counter is used up;
 * `NETLIB_RETRY_DISABLED`; `NETLIB_NONE` for no limit and for NULL. */
int32_t netlib_retry_read_left(const netlib_retry *retry);

/** Returns the `redirect` counter: the number of redirects that are left, negative when the counter is used up;
 * `NETLIB_NONE` for no limit and for NULL. */
int32_t netlib_retry_redirect_left(const netlib_retry *retry);

/** Returns the `status` counter: the number of retries that are left, negative when the counter is used up;
 * `NETLIB_NONE` for no limit and for NULL. */
int32_t netlib_retry_status_left(const netlib_retry *retry);

/** Returns the `other` counter: the number of retries that are left, negative when the counter is used up;
 * `NETLIB_NONE` for no limit and for NULL. */
int32_t netlib_retry_other_left(const netlib_retry *retry);

/** Returns the factor of the exponential backoff, in seconds. */
double netlib_retry_backoff_factor(const netlib_retry *retry);

/** Returns the longest backoff, in seconds; `NETLIB_TIMEOUT_NONE` for no maximum; `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`
 * for NULL. */
double netlib_retry_backoff_max(const netlib_retry *retry);

/** Returns the upper bound of the random time that `NETLIB_JITTER_ADDITIVE` adds to a backoff, in seconds. */
double netlib_retry_backoff_jitter(const netlib_retry *retry);

/** Returns the longest wait that a Retry-After header can cause, in seconds; `NETLIB_TIMEOUT_NONE` for no maximum;
 * `NETLIB_RETRY_DEFAULT_RETRY_AFTER_MAX` for NULL. */
double netlib_retry_retry_after_max(const netlib_retry *retry);

/** Returns 1 if a redirect decrements the `total` counter, else 0; 1 for NULL. */
int32_t netlib_retry_total_counts_redirects(const netlib_retry *retry);

/** Returns 1 if `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when no redirect is left, and 0 if the decision is
 * then to return the response. */
int32_t netlib_retry_raise_on_redirect(const netlib_retry *retry);

/** Returns 1 if `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` when no retry because of a status is left, and 0 if
 * the decision is then to return the response. */
int32_t netlib_retry_raise_on_status(const netlib_retry *retry);

/** Returns 1 if the Retry-After header is obeyed, else 0. */
int32_t netlib_retry_respect_retry_after_header(const netlib_retry *retry);

/** Returns the redirect profile; `NETLIB_REDIRECT_URLLIB3` for NULL. */
enum netlib_redirect_profile netlib_retry_redirect_profile(const netlib_retry *retry);

/** Returns 1 if every method may be retried, else 0. If the result is 1, the list of allowed methods is empty and
 * unused. */
int32_t netlib_retry_allows_any_method(const netlib_retry *retry);

/** Returns 1 if a request with any method may be repeated after `NETLIB_STALE_CONNECTION`, else 0. */
int32_t netlib_retry_allows_any_method_if_stale(const netlib_retry *retry);

/** Returns the number of entries in the list of allowed methods; 0 if every method is allowed. */
size_t netlib_retry_allowed_method_count(const netlib_retry *retry);

/** Returns an allowed method, in upper case, from a sorted list. */
const char *netlib_retry_allowed_method(const netlib_retry *retry, size_t index, size_t *len);

/** Returns the number of response statuses that are retried. */
size_t netlib_retry_status_forcelist_count(const netlib_retry *retry);

/** Returns a response status that is retried, from a sorted list; -1 for NULL. */
int32_t netlib_retry_status_forcelist_at(const netlib_retry *retry, size_t index);

/** Returns the number of names in `remove_headers_on_redirect`, the list of headers that are dropped on a redirect to
 * another origin. */
size_t netlib_retry_removed_header_count(const netlib_retry *retry);

/** Returns a name, in lower case, from `remove_headers_on_redirect`, the list of headers that are dropped on a redirect
 * to another origin. The names are sorted. */
const char *netlib_retry_removed_header(const netlib_retry *retry, size_t index, size_t *len);

/** Returns 1 if a redirect to another origin keeps every header that no other setting drops, 0 if
 * `netlib_retry_options_set_keep_headers_on_redirect` set a list of headers to keep; 1 for NULL. */
int32_t netlib_retry_keeps_any_header(const netlib_retry *retry);

/** Returns the number of names in the list that `netlib_retry_options_set_keep_headers_on_redirect` set; 0 if the list
 * is empty or was not set (see `netlib_retry_keeps_any_header`). */
size_t netlib_retry_kept_header_count(const netlib_retry *retry);

/** Returns the name, in lower case, of a header that may be kept on a redirect to another origin. The names are
 * sorted. */
const char *netlib_retry_kept_header(const netlib_retry *retry, size_t index, size_t *len);

/** Returns the number of entries in the history. Each call of `netlib_retry_increment`, and each decision to send
 * another request, adds one entry, so the entries are in the order of the requests. */
size_t netlib_retry_history_count(const netlib_retry *retry);

/** Returns the method of a request in the history; NULL when the method is unknown. */
const char *netlib_retry_history_method(const netlib_retry *retry, size_t index, size_t *len);

/** Returns the URL of a request in the history, unchanged; NULL when the URL is unknown. The URL may contain a
 * password: in logs, use `netlib_retry_history_redacted_url`. */
const char *netlib_retry_history_url(const netlib_retry *retry, size_t index, size_t *len);

/** Returns the URL of a request in the history, for logs, in the form in which `netlib_url_redacted` returns a URL:
 * "***" replaces the userinfo, each value in the query and the fragment; NULL when the URL is unknown, and when memory
 * is short. If the text is not a URL, "***" replaces the whole text. */
const char *netlib_retry_history_redacted_url(const netlib_retry *retry, size_t index, size_t *len);

/** Returns the error that was recorded for a request in the history; NULL when no error was recorded, for example
 * because the server responded. For the returned error, `netlib_error_retry` returns NULL. */
const netlib_error *netlib_retry_history_error(const netlib_retry *retry, size_t index);

/** Returns the status code of the response to a request in the history; `NETLIB_NONE` when there was no response, when
 * `netlib_retry_increment` or `netlib_retry_decide` recorded an error instead, and for NULL. */
int32_t netlib_retry_history_status(const netlib_retry *retry, size_t index);

/** Returns the Location to which a request in the history was redirected, as the server sent it; NULL when the request
 * was not redirected. The Location may contain a token: in logs, use
 * `netlib_retry_history_redacted_redirect_location`. */
const char *netlib_retry_history_redirect_location(const netlib_retry *retry, size_t index, size_t *len);

/** Returns the Location to which a request in the history was redirected, for logs, redacted as by
 * `netlib_retry_history_redacted_url`; NULL when the request was not redirected, and when memory is short. */
const char *netlib_retry_history_redacted_redirect_location(const netlib_retry *retry, size_t index, size_t *len);

/* ---- Constants of the retry policy. ---- */

/** Returns `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the methods that may be retried by default (see
 * `netlib_retry_options_set_allowed_methods`): a constant array of constant strings, suitable for the setters. Never
 * NULL. */
const char *const *netlib_retry_default_allowed_methods(size_t *count);

/** Returns `NETLIB_RETRY_DEFAULT_REMOVE_HEADERS_ON_REDIRECT`, the headers that are dropped by default on a redirect to
 * another origin: a constant array of constant strings, suitable for the setters. Never NULL. */
const char *const *netlib_retry_default_remove_headers_on_redirect(size_t *count);

/** Returns `NETLIB_SENSITIVE_HEADERS`, the request headers that carry credentials: a constant array of constant
 * strings, suitable for the setters. Never NULL. See `netlib_retry_options_add_sensitive_headers`. */
const char *const *netlib_sensitive_headers(size_t *count);

/** Returns `NETLIB_RETRY_AFTER_STATUS_CODES`, the statuses whose Retry-After header is obeyed by default (see
 * `netlib_retry_options_set_retry_after_statuses`): a constant array. Never NULL. */
const int32_t *netlib_retry_after_status_codes(size_t *count);

/** Returns `NETLIB_REDIRECT_STATUS_CODES`, the statuses that redirect: a constant array. Never NULL. */
const int32_t *netlib_redirect_status_codes(size_t *count);

/** Returns `NETLIB_RETRY_DEFAULT_BACKOFF_MAX`, the default of `backoff_max`, in seconds. */
double netlib_retry_default_backoff_max(void);

/* ==================================================================================================================
 * overload: Overload protection.
 * ================================================================================================================== */

/** Outcomes of requests. An application reports them with `netlib_retry_budget_report`, `netlib_breaker_report` and
 * `netlib_rate_report`. */
enum netlib_report NETLIB_INT32 {
    /** The server answered the request successfully. */
    NETLIB_REPORT_SUCCESS = 0,
    /** The request failed with an error or a timeout, or its response is one that would be retried. */
    NETLIB_REPORT_FAILURE = 1,
    /** The server asked the client to slow down, for example with the status 429. */
    NETLIB_REPORT_THROTTLED = 2,
    /** The outcome says nothing about the server, for example because the application cancelled the request. */
    NETLIB_REPORT_NONE = 3
};

/** Policies of a budget or a rate for the times when its store is unavailable. A store is unavailable if its file
 * system or its server fails or does not answer in time. */
enum netlib_unavailable NETLIB_INT32 {
    /** Each process uses a state of its own, so N processes together have N times the budget or rate. The state of a
     * rate starts full. The state of a budget starts with the number of tokens that the process read last. */
    NETLIB_UNAVAILABLE_LOCAL = 0,
    /** Every retry and every permission is granted. */
    NETLIB_UNAVAILABLE_OPEN = 1,
    /** No retry and no permission is granted: the call fails with `NETLIB_STORE_UNAVAILABLE`. */
    NETLIB_UNAVAILABLE_CLOSED = 2
};

/* ---- Stores, in which processes share state. ---- */

/** The answers of a swap callback. Any number that is not listed here means failure. */
enum netlib_swap NETLIB_INT32 {
    /** The callback failed because of a bug, for example an exception. The outer call fails with
     * `NETLIB_CALLBACK_FAILED`. */
    NETLIB_SWAP_FAILED = 0,
    /** The word was `expected`, and is now `desired`. */
    NETLIB_SWAP_SWAPPED = 1,
    /** The word was not `expected`, and was not changed. The callback has stored the word in `actual`. */
    NETLIB_SWAP_CHANGED = 2,
    /** The store could not be reached, or did not answer within `timeout`. The `netlib_unavailable` policy applies. */
    NETLIB_SWAP_UNAVAILABLE = 3
};

/** A store, in which several processes share budgets and rates, for example the workers of one server. **Thread-safe**.
 *
 * A store keeps one word of 64 bits for each key of a budget and of a rate. `netlib_store_file` keeps the words in a
 * file, for the processes of one host. With `netlib_store_new`, a callback of the application keeps the words, for
 * example on a Redis server (examples-c/store_redis.c). Pass the store to `netlib_retry_budget_options_set_store` or
 * `netlib_rate_options_set_store`. All processes that share a store must use the same settings of the budget and of
 * the rate, because a word contains no settings.
 *
 * A retry budget accesses the store only before a retry, and never before a first attempt, because an application
 * should not wait for a store when nothing has failed. A process collects the tokens that its outcomes add and take,
 * and reports them to the store with its next retry. A rate accesses the store at each `netlib_rate_take`.
 *
 * If the store loses a word, for example because a server was restarted without its data, the budget or rate of the
 * key starts full. After fork(2), parent and child share the store. */
struct netlib_store;

/** Replaces a word of the store if the word has an expected value (a compare-and-swap). netlib calls the callback
 * without a lock, possibly on several threads at once. The callback must make the comparison and the replacement
 * atomic for all processes that use the store, for example in a Lua script on a Redis server.
 *
 * netlib reads a word by replacing 0 by 0, so a decision that grants needs two calls, and a decision that denies needs
 * one. If other processes change the word between two calls, netlib makes up to 64 calls, and then treats the store as
 * unavailable. If the server does not answer, the callback should store `NETLIB_SWAP_UNAVAILABLE` at once for a
 * while, for example for a second, so that not every decision waits for the timeout.
 * @param key the name of the word: `budget:` or `rate:` and the key that was passed to netlib, which may contain any
 *        bytes. The key is not NUL-terminated. The callback may put a name of the application before it.
 * @param len the length of `key`, at most 1,031.
 * @param expected the expected word. 0 is the word of a key that the store does not have.
 * @param desired the new word.
 * @param ttl the seconds without a change after which the store may forget the word.
 * @param timeout the seconds after which netlib ignores the answer, more than 0. This is the rest of the timeout of
 *        `netlib_store_new`, or of the limit of the outer call if that ends earlier.
 * @param answer out: the answer of the store. netlib presets `answer` to `NETLIB_SWAP_FAILED`. If the value is no
 *        `netlib_swap`, or if the callback did not store an output that the answer requires, the outer call fails with
 *        `NETLIB_CALLBACK_FAILED` under every policy.
 * @param actual out: the word, if it was not `expected`.
 * @param now out: the time of the store in seconds since any fixed moment, 0 to 1.8e10, unless the answer is
 *        `NETLIB_SWAP_UNAVAILABLE`. All processes must get the time from the same clock, such as the clock of the
 *        server. `netlib_rate_options_set_limit` states the effect if the time steps back; a budget does not use the
 *        time. netlib does not use the time of a call that has changed the word. netlib presets `now` to NaN.
 * @called-by `netlib_retry_budget_ask`, `netlib_retry_decide`, `netlib_attempts_next`, `netlib_attempts_decide`,
 *        `netlib_hedge_plan_step` and `netlib_rate_take`.
 */
typedef void (*netlib_store_swap_fn)(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired,
                                     double ttl, double timeout, enum netlib_swap *answer, uint64_t *actual,
                                     double *now);

/** Opens a store in a file, for the processes of one host. The first process creates the file, with the mode 0600. Each
 * process maps the file into its memory and changes words with an atomic instruction, so an update takes no system
 * call and no lock, and a process that is killed at any moment leaves the words intact. Handles of the same file share
 * the words.
 *
 * The hash of a key selects one of the slots, and a slot contains no key. Two keys whose hashes select the same slot
 * therefore share one budget and one rate. With n keys, a key shares its slot with a probability of about n / `slots`,
 * so choose `slots` 100 times as large as the number of keys. The hash depends on a random number in the file, so a
 * server cannot choose names that collide.
 *
 * The time of the store is the system's monotonic clock. The file contains the boot id of the machine, and the first
 * process that opens the file after the machine was started sets all words to 0. On systems without
 * /proc/sys/kernel/random/boot_id, the words are kept, and a rate has no permissions when it is used for the first
 * time after the start.
 *
 * Put the file in a directory that only the user of the workers can write to, on a local file system, such as
 * /run/myapp. Use one file for each container, because the boot id or the clock of a container may differ from those
 * of the host. The file is refused if it is a symbolic link, not a regular file or has several hard links, if its owner
 * is not the effective user, or if its mode gives its group or others any permission. The file is also refused if
 * another program wrote it, or if it has another number of slots, another size or another format. An empty file and a
 * file of zeros are treated as new.
 *
 * Do not truncate the file while a process uses it: the process would be killed by SIGBUS, as for every mapped file. A
 * full disk does no harm on file systems that overwrite blocks in place, such as tmpfs, ext4 and xfs, because each
 * process that opens the file reserves its blocks; btrfs and ZFS write to new blocks. To replace the file, stop
 * all processes that use it.
 * @param path the path of the file. Its directory must exist.
 * @param slots the number of slots, 1 to 1,048,576, which must be the same in all processes. The size of the file is
 *        64 bytes plus 16 bytes for each slot.
 * @return `NETLIB_IO` if the file cannot be created, opened, locked, read, written or mapped;
 *         `NETLIB_STORE_UNAVAILABLE` if the file is refused, or if another process has locked it for 5 seconds. The
 *         message names the path and the reason. `NETLIB_INVALID_ARGUMENT` for a number of slots out of range.
 * @blocks while another process creates or checks the file: usually for some milliseconds, at most 5 seconds. */
NETLIB_MUST_USE netlib_status netlib_store_file(const char *path, size_t slots, netlib_store **store,
                                                netlib_error **err);

/** Makes a store whose words the application keeps, for example on a server. The call does not call `swap`.
 * @param swap the callback that reads and changes a word.
 * @param timeout the seconds that all calls of `swap` for one decision may take together, more than 0, or
 *        `NETLIB_TIMEOUT_NONE`. If the outer call has a limit that ends earlier, that limit applies. After this time,
 *        the store counts as unavailable. netlib cannot interrupt the callback, so the callback must obey its
 *        parameter `timeout`.
 * @param ctx_free is called when the store and everything that uses it have been freed, or before this call returns if
 *        the call fails. May be NULL: `ctx` is not released.
 * @return `NETLIB_INVALID_ARGUMENT` for a timeout that is 0, negative or NaN. */
NETLIB_MUST_USE netlib_status netlib_store_new(netlib_store_swap_fn swap, double timeout, void *ctx,
                                               netlib_ctx_free_fn ctx_free, netlib_store **store, netlib_error **err);

/** Returns another reference to the same store. */
NETLIB_MUST_USE netlib_store *netlib_store_clone(const netlib_store *store);

/** Releases a store. The words stay in the file or on the server. */
void netlib_store_free(netlib_store *store);

/* ---- Retry budgets. ---- */

/** The default maximum number of keys of a budget. */
enum NETLIB_INT32 { NETLIB_RETRY_BUDGET_DEFAULT_MAX_KEYS = 1024 };

/** The default time in seconds after which an unreported lease ends. A lease is the permission to send one request: see
 * `netlib_retry_budget_ask`. */
#define NETLIB_RETRY_BUDGET_DEFAULT_LEASE_TIME 300.0

/** Retry budgets of well-known libraries. `netlib_retry_budget_options_set_preset` selects one. */
enum netlib_budget_preset NETLIB_INT32 {
    /** AWS's SDKs since 2026 ("standard" mode, version 2.1; source: smithy-rs):
     * `netlib_retry_budget_options_set_tokens` with 500, 14, 5 and 1. A full bucket allows 35 transient retries, and
     * 14 successes pay for one more retry. */
    NETLIB_BUDGET_AWS_2026 = 0,
    /** AWS's SDKs since 2020 ("standard" mode, version 2.0; source: aws-c-io): `netlib_retry_budget_options_set_tokens`
     * with 500, 10, 5 and 1. */
    NETLIB_BUDGET_AWS_2020 = 1,
    /** gRPC (source: proposal A6, "Throttling Retry Attempts and Hedged RPCs", the example):
     * `netlib_retry_budget_options_set_failure_tokens` with 10, 0.1 and 0.5. */
    NETLIB_BUDGET_GRPC = 2,
    /** Finagle, Linkerd and tower (source: Finagle's RetryBudget): `netlib_retry_budget_options_set_window` with 0.2,
     * 10 and 10. */
    NETLIB_BUDGET_FINAGLE = 3,
    /** Envoy (source: the defaults of RetryBudget in CircuitBreakers): `netlib_retry_budget_options_set_in_flight` with
     * 0.2 and 3. */
    NETLIB_BUDGET_ENVOY = 4
};

/** Reasons for sending a request: the argument `kind` of `netlib_retry_budget_ask`. */
enum netlib_budget_kind NETLIB_INT32 {
    /** A first attempt. A budget allows every first attempt. */
    NETLIB_BUDGET_REQUEST = 0,
    /** A retry after a failure that is expected to pass, such as a broken connection, a timeout or the status 503. */
    NETLIB_BUDGET_TRANSIENT = 1,
    /** A retry after the server asked the client to slow down, for example with the status 429. */
    NETLIB_BUDGET_THROTTLING = 2,
    /** A hedge: another copy of a request that has no answer yet. A budget treats a hedge as a retry of the kind
     * `NETLIB_BUDGET_TRANSIENT`. */
    NETLIB_BUDGET_HEDGE = 3
};

/** A retry budget, which bounds the retries of all requests together, so that retries do not multiply the load on a
 * failing server. **Thread-safe**.
 *
 * A budget keeps a separate state for each key, which is usually an origin or a tenant. A key is any sequence of at
 * most 1,024 bytes; NULL with the length 0 is also a key, for applications with one server. Keys appear in error
 * messages, so do not use secrets as keys.
 *
 * If a budget has its maximum number of keys, a new key replaces one of the 16 least recently used keys. The replaced
 * key is the one with the most tokens or retries left (`netlib_retry_budget_left`); of several such keys, the least
 * recently used one. A replaced key that is used again starts with a full budget. Keys with fewer tokens are kept
 * because otherwise, a server could refill its own budget by redirecting clients to many other origins.
 *
 * After fork(2), parent and child have separate copies of the state, and count separately, unless the budget has a
 * store. */
struct netlib_retry_budget;

/** Settings from which `netlib_retry_budget_new` makes a retry budget. **One call at a time**. */
struct netlib_retry_budget_options;

/** Makes options that hold the default settings; the comment of each setter states its default.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_retry_budget_options *netlib_retry_budget_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE
netlib_retry_budget_options *netlib_retry_budget_options_clone(const netlib_retry_budget_options *options);

/** Checks that no setter has recorded an error, as `netlib_retry_budget_new` does.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value. */
NETLIB_MUST_USE netlib_status netlib_retry_budget_options_check(const netlib_retry_budget_options *options,
                                                                netlib_error **err);

/** Releases options. */
void netlib_retry_budget_options_free(netlib_retry_budget_options *options);

/** Selects the rule of another library. The call replaces the rule that an earlier call selected: of this function,
 * `netlib_retry_budget_options_set_tokens`, `netlib_retry_budget_options_set_failure_tokens`,
 * `netlib_retry_budget_options_set_window` or `netlib_retry_budget_options_set_in_flight`. Default:
 * `NETLIB_BUDGET_AWS_2026`.
 *
 * The presets refill the budget in different ways. With `NETLIB_BUDGET_AWS_2026`, `NETLIB_BUDGET_AWS_2020` and
 * `NETLIB_BUDGET_GRPC`, only successes refill it. If a few threads repeat their requests until they succeed, they can
 * use up all retries permanently. For such an application, use `NETLIB_BUDGET_FINAGLE`, which refills with time, or
 * `NETLIB_BUDGET_ENVOY`, which refills when a retry ends. */
void netlib_retry_budget_options_set_preset(netlib_retry_budget_options *options, enum netlib_budget_preset preset);

/** Gives each key a bucket of tokens, which is full at first. A retry takes its cost from the bucket, and is denied if
 * the bucket has fewer tokens. A retry that succeeds returns its cost; a first attempt that succeeds adds `gain`; a
 * failure changes nothing. The call replaces the rule of an earlier call, see
 * `netlib_retry_budget_options_set_preset`. Default: 500, 14, 5 and 1.
 *
 * Each number is 0.001 to 4,000,000 and is rounded to thousandths.
 * @param capacity the number of tokens of a full bucket.
 * @param transient_cost the cost of a retry of the kind `NETLIB_BUDGET_TRANSIENT` and of a hedge, at most `capacity`.
 * @param throttling_cost the cost of a retry of the kind `NETLIB_BUDGET_THROTTLING`, at most `capacity`.
 * @param gain the tokens that a first attempt adds when it succeeds. A bucket never has more tokens than `capacity`. */
void netlib_retry_budget_options_set_tokens(netlib_retry_budget_options *options, double capacity,
                                            double transient_cost, double throttling_cost, double gain);

/** Gives each key a bucket of tokens, which is full at first. The outcomes of requests change the bucket: each failure
 * (`NETLIB_REPORT_FAILURE` or `NETLIB_REPORT_THROTTLED`) takes one token, even if the failed request is not retried,
 * and each success adds `gain`. A retry is denied unless the bucket has more than `floor * capacity` tokens; the retry
 * itself takes no token. The call replaces the rule of an earlier call, see `netlib_retry_budget_options_set_preset`.
 * Default: not set; the rule is that of `netlib_retry_budget_options_set_tokens`.
 * @param capacity the number of tokens of a full bucket, 0.001 to 4,000,000, rounded to thousandths.
 * @param gain the tokens that a success adds, 0.001 to 4,000,000, rounded to thousandths. A bucket never has more
 *        tokens than `capacity`.
 * @param floor the fraction of `capacity` above which retries are allowed, 0 or more and less than 1. The product
 *        `floor * capacity` is rounded to thousandths, but stays below `capacity`.
 */
void netlib_retry_budget_options_set_failure_tokens(netlib_retry_budget_options *options, double capacity,
                                                    double gain, double floor);

/** Allows retries in proportion to the first attempts of the last seconds. Within a window of `seconds`, the number of
 * retries is at most `ratio` times the number of first attempts, plus `least_per_second * seconds`. A first attempt
 * counts when `netlib_retry_budget_ask` is called for it, and stops counting between `seconds` and `1.1 * seconds`
 * later. The call replaces the rule of an earlier call, see `netlib_retry_budget_options_set_preset`. Default: not
 * set; the rule is that of `netlib_retry_budget_options_set_tokens`.
 * @param ratio the number of retries for each first attempt: 0, or 0.0001 to 1,000.
 * @param least_per_second the number of retries per second that are allowed in addition, 0 to 1,000,000. With 0, a
 *        client that sends few requests gets no retries, unless `ratio` is large. `ratio` and `least_per_second` must
 *        not both be 0.
 * @param seconds the length of the window, 1 to 60. The window moves in steps of a tenth of its length. */
void netlib_retry_budget_options_set_window(netlib_retry_budget_options *options, double ratio,
                                            double least_per_second, double seconds);

/** Bounds the retries in flight: at any time, at most `least` retries, or `ratio` times all requests in flight if that
 * is more. A request is in flight from the call of `netlib_retry_budget_ask` to the report of its outcome, so a retry
 * that waits for its backoff is in flight. The budget knows only the first attempts for which
 * `netlib_retry_budget_ask` was called. The call replaces the rule of an earlier call, see
 * `netlib_retry_budget_options_set_preset`. Default: not set; the rule is that of
 * `netlib_retry_budget_options_set_tokens`.
 * @param ratio the part of the requests in flight that may be retries, 0 to 1. The number of retries is rounded down.
 *        A retry that asks is not in flight yet.
 * @param least the number of retries in flight that are always allowed, 0 to 1,000,000. With 0, a client with few
 *        requests in flight gets no retries. `ratio` and `least` must not both be 0.
 */
void netlib_retry_budget_options_set_in_flight(netlib_retry_budget_options *options, double ratio, int32_t least);

/** Sets the time after which an unreported lease ends. The cost of its retry is then not returned, and its request no
 * longer counts as in flight. Choose a time that is longer than the wait before a retry plus the retry itself. Each
 * call for the budget ends at most 64 leases, the oldest first. Default: `NETLIB_RETRY_BUDGET_DEFAULT_LEASE_TIME`.
 * @param seconds 0.001 to 1,000,000,000. */
void netlib_retry_budget_options_set_lease_time(netlib_retry_budget_options *options, double seconds);

/** Sets the maximum number of keys. Default: `NETLIB_RETRY_BUDGET_DEFAULT_MAX_KEYS`.
 * @param max_keys 1 to 1,048,576. */
void netlib_retry_budget_options_set_max_keys(netlib_retry_budget_options *options, int32_t max_keys);

/** Sets a store, in which processes share the buckets of tokens. All processes must use the same rule. Only retries and
 * hedges access the store; first attempts never do. A process collects the tokens that its outcomes add and take, and
 * reports them to the store with its next retry. Until then, other processes do not see these changes. One report adds
 * at most twice the cost of a transient retry, or 2 tokens with `netlib_retry_budget_options_set_failure_tokens`;
 * further tokens are lost. The maximum also holds for the first report after the store was unavailable. Without this
 * maximum, the tokens that many processes collected before an outage would refill the bucket again and again during
 * the outage.
 *
 * Only budgets with tokens can have a store: those with `netlib_retry_budget_options_set_tokens`,
 * `netlib_retry_budget_options_set_failure_tokens` or a preset of such a rule. A store may forget a bucket that was
 * not used for an hour; the bucket is then full. If the store is on another host, `netlib_retry_decide` and
 * `netlib_retry_budget_ask` wait for one or two round trips before a retry.
 * @param store the store, to which the options and the budget keep references. May be NULL: no store, which is the
 *        default.
 * @param unavailable the policy for the times when the store is unavailable. With `NETLIB_UNAVAILABLE_LOCAL`, the
 *        process continues with the number of tokens that it read last. With `NETLIB_UNAVAILABLE_LOCAL` and
 *        `NETLIB_UNAVAILABLE_OPEN`, a retry takes its cost from this number, and the process reports it later.
 */
void netlib_retry_budget_options_set_store(netlib_retry_budget_options *options, const netlib_store *store,
                                           enum netlib_unavailable unavailable);

/** Replaces the clock of the budget, for tests and simulations. If a reading is below the latest one by at most 1
 * second, the time stays at the latest reading: two threads may pass their readings in the wrong order. If a reading
 * is lower than that, the clock was set back, and the time continues from the latest reading. A reading above
 * 9,000,000,000 or below -9,000,000,000 seconds is refused. The callback may run on several threads at the same time.
 * Default: the system's monotonic clock, with a resolution of a few milliseconds.
 * @param clock the callback. May be NULL: the system's monotonic clock. */
void netlib_retry_budget_options_set_clock(netlib_retry_budget_options *options, netlib_clock_fn clock, void *ctx,
                                           netlib_ctx_free_fn ctx_free);

/** Makes a retry budget.
 * @param options the settings, which can be used for several calls. May be NULL: the default settings.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error; `NETLIB_UNSUPPORTED` if the
 *         options have a store and a rule without tokens.
 */
NETLIB_MUST_USE netlib_status netlib_retry_budget_new(const netlib_retry_budget_options *options,
                                                      netlib_retry_budget **budget, netlib_error **err);

/** Returns another reference to the same budget. */
NETLIB_MUST_USE netlib_retry_budget *netlib_retry_budget_clone(const netlib_retry_budget *budget);

/** Releases a budget. */
void netlib_retry_budget_free(netlib_retry_budget *budget);

/** Asks whether a request may be sent now. If so, the call takes the cost of the request from the budget, and stores a
 * lease, which is the permission for this request. Before a retry, call this function before the wait, so that waiting
 * retries count. Pass the lease to `netlib_retry_budget_report` when the outcome of the request is known. If the
 * application uses `netlib_retry_decide`, it needs this function only for first attempts with
 * `netlib_retry_budget_options_set_in_flight`.
 *
 * A budget has at most 1,048,576 leases without a report; a further lease ends the oldest one.
 * @param key `len` bytes, at most 1,024.
 * @param kind the reason for which the request is sent. `NETLIB_BUDGET_REQUEST` is always allowed.
 * @param lease out: the number of the lease, never 0; 0 on failure.
 * @return `NETLIB_RETRY_BUDGET_EMPTY` if the request is not allowed; `NETLIB_INVALID_ARGUMENT` for a key of more than
 *         1,024 bytes; `NETLIB_STORE_UNAVAILABLE` if the budget has a store whose policy is
 *         `NETLIB_UNAVAILABLE_CLOSED`; `NETLIB_CALLBACK_FAILED`.
 * @blocks never, except that the call takes as long as the swap callback of a store: at most the timeout of the store,
 *        if the callback obeys it.
 */
NETLIB_MUST_USE netlib_status netlib_retry_budget_ask(const netlib_retry_budget *budget, const char *key, size_t len,
                                                      enum netlib_budget_kind kind, uint64_t *lease,
                                                      netlib_error **err);

/** Reports the outcome of a request, which ends its lease. The call changes nothing if the lease has already ended,
 * because it was reported or is too old, or if the number is no lease. If the clock callback fails, the report counts
 * at the time of the last call that read the clock.
 * @param lease the number that `netlib_retry_budget_ask` stored.
 * @param outcome the outcome; a number that is no `netlib_report` counts as `NETLIB_REPORT_NONE`. */
void netlib_retry_budget_report(const netlib_retry_budget *budget, uint64_t lease, enum netlib_report outcome);

/** Returns the number of tokens that a key has; with `netlib_retry_budget_options_set_window` and
 * `netlib_retry_budget_options_set_in_flight`, the number of retries that the budget allows at present. A key that was
 * never used has a full budget. The call does not make the key the most recently used one, and calls no clock
 * callback: with a clock callback, it uses the time of the last call of `netlib_retry_budget_ask` or
 * `netlib_retry_budget_report`.
 * @param key `len` bytes, at most 1,024.
 * @return the number of tokens or retries, 0 or more; -1.0 for NULL, and if the key has more than 1,024 bytes. */
double netlib_retry_budget_left(const netlib_retry_budget *budget, const char *key, size_t len);

/** Attaches a retry budget to the Retry. `netlib_retry_decide` then reports the outcome of each request to the budget,
 * and asks the budget as the last step before it grants a retry. A retry that the counters, the method, the delay or
 * the limit do not allow costs nothing. A redirect is not a retry: `netlib_retry_decide` does not ask the budget
 * before a redirect. Default: no budget.
 *
 * An outcome is throttled if the server asked the client to slow down (see `netlib_retry_options_set_throttling`). Any
 * other outcome is a success if the response is a redirect, or has a status below 500 and is not retried. It is a
 * failure if the response is retried, or if the request failed. `netlib_retry_options_set_allowed_methods` has no
 * effect on this. A response with a status of 500 or more that is not retried, an error that is never retried, such as
 * a cancellation, and `NETLIB_STALE_CONNECTION`, because servers close idle connections without being overloaded,
 * count as `NETLIB_REPORT_NONE`. A redirect that answers a retry also counts as
 * `NETLIB_REPORT_NONE`, so it does not return the cost of the retry: otherwise, a server that answers retries with
 * redirects to pages that fail would keep its budget full. After a throttled outcome, the retry is of the kind
 * `NETLIB_BUDGET_THROTTLING`, otherwise of the kind `NETLIB_BUDGET_TRANSIENT`.
 *
 * Call `netlib_retry_decide` once for each request, also after a success. A second call for the same outcome asks the
 * budget again, and reports the outcome again if the request was a first attempt. The Retry for the repeated request
 * holds the lease; if this Retry, its clones and its decision are freed before `netlib_retry_decide` was called with
 * it, the lease ends without a known outcome.
 *
 * A first attempt counts when `netlib_retry_decide` is called for it. With
 * `netlib_retry_budget_options_set_in_flight`, also call `netlib_retry_budget_ask` and `netlib_retry_budget_report`
 * for first attempts, because `netlib_retry_decide` does not know when they begin; without these calls, the budget
 * allows `least` retries at a time.
 * @param budget the budget, which several Retrys can share. May be NULL: no budget.
 * @param key the key of every request, at most 1,024 bytes. May be NULL: the key is the origin of the request's URL,
 *        in lower case and with the port, such as "https://example.com:443".
 */
void netlib_retry_options_set_budget(netlib_retry_options *options, const netlib_retry_budget *budget,
                                     const char *key);

/** Returns the retry budget that is attached to a Retry; NULL if there is none. */
const netlib_retry_budget *netlib_retry_attached_budget(const netlib_retry *retry);

/** Returns the key with which a Retry asks its retry budget; NULL if the key is the origin of the request's URL, and if
 * no budget is attached. */
const char *netlib_retry_attached_budget_key(const netlib_retry *retry, size_t *len);

/** Returns the error of the retry budget if the budget denied a retry and the decision is therefore to return the
 * response; otherwise NULL. The error's status is `NETLIB_RETRY_BUDGET_EMPTY` or `NETLIB_STORE_UNAVAILABLE`. For
 * `NETLIB_RETRY_BUDGET_EMPTY`, `netlib_error_budget_key` and `netlib_error_budget_left` return the details. If
 * `netlib_retry_decide` fails with `NETLIB_MAX_RETRY` because a retry was denied, this error is the last cause. */
const netlib_error *netlib_decision_denied(const netlib_decision *decision);

/** Returns the key for which a retry budget denied a retry; NULL for every other error. A key may contain NUL bytes. */
const char *netlib_error_budget_key(const netlib_error *error, size_t *len);

/** Returns the number of tokens that the retry budget had when it denied the retry, as `netlib_retry_budget_left`
 * returns it; -1.0 for NULL and for every other error. */
double netlib_error_budget_left(const netlib_error *error);

/* ---- Circuit breakers. ---- */

/** The default maximum number of keys of a breaker. */
enum NETLIB_INT32 { NETLIB_BREAKER_DEFAULT_MAX_KEYS = 1024 };

/** The default time in seconds after which an unreported permit ends. A permit is the permission to send one request:
 * see `netlib_breaker_ask`. */
#define NETLIB_BREAKER_DEFAULT_PERMIT_TIME 300.0

/** States of a key of a breaker, as `netlib_breaker_state` stores them. */
enum netlib_circuit_state NETLIB_INT32 {
    /** All requests are permitted. */
    NETLIB_CIRCUIT_CLOSED = 0,
    /** No request is permitted. */
    NETLIB_CIRCUIT_OPEN = 1,
    /** Some requests are permitted: a number of probes, or, with `netlib_breaker_options_set_adaptive`, a random
     * fraction of the requests. */
    NETLIB_CIRCUIT_HALF_OPEN = 2
};

/** A circuit breaker, which refuses requests to a server that fails most requests, so that the server can recover and
 * the client does not wait for failures. **Thread-safe**.
 *
 * Ask before each request, and report its outcome:
 *
 *     uint64_t permit = 0;
 *     double seconds = 0;
 *     netlib_status status = netlib_breaker_ask(breaker, "https://a.example", NETLIB_NTS, &permit, &seconds, &err);
 *     if (status == NETLIB_BREAKER_OPEN) return try_again_in(seconds);
 *     if (status != NETLIB_OK) return fail(err);
 *     int http_status = send_request();                    // 0: no response
 *     int failed = http_status == 0 || http_status >= 500;
 *     netlib_breaker_report(breaker, permit, failed ? NETLIB_REPORT_FAILURE : NETLIB_REPORT_SUCCESS);
 *
 * A breaker keeps a separate state for each key, which is usually an origin or a tenant. A key is any sequence of at
 * most 1,024 bytes; NULL with the length 0 is also a key, for applications with one server. Keys appear in error
 * messages, so do not use secrets as keys.
 *
 * If a breaker has its maximum number of keys, a new key replaces one of the 16 least recently used keys. The replaced
 * key is the least recently used one that is closed, or the least recently used one if none of the 16 is closed. A
 * replaced key that is used again starts closed. Closed keys are replaced first because otherwise, a server could close
 * its own key by redirecting clients to many other origins.
 *
 * All clones of a breaker share one state. After fork(2), parent and child have separate copies of the state, and
 * count separately. */
struct netlib_breaker;

/** Settings from which `netlib_breaker_new` makes a breaker. **One call at a time**. */
struct netlib_breaker_options;

/** Makes options that hold the default settings; the comment of each setter states its default.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_breaker_options *netlib_breaker_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_breaker_options *netlib_breaker_options_clone(const netlib_breaker_options *options);

/** Checks that no setter has recorded an error, as `netlib_breaker_new` does.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value. */
NETLIB_MUST_USE netlib_status netlib_breaker_options_check(const netlib_breaker_options *options, netlib_error **err);

/** Releases options. */
void netlib_breaker_options_free(netlib_breaker_options *options);

/** Opens a key when the ratio of failures is too high, as in Polly and resilience4j. The call replaces the settings of
 * `netlib_breaker_options_set_consecutive` and `netlib_breaker_options_set_adaptive`. Default: 0.1, 100, 30, 5 and 1,
 * as in Polly 8. The defaults of resilience4j 2 correspond to 0.5, 100, a window of your choice, 60 and 10.
 *
 * A closed key opens when a failure is reported and two conditions hold: at least `minimum` outcomes were reported
 * within the window, and at least the fraction `ratio` of these outcomes are failures. An outcome counts from the time
 * of its report, so failures count even if the timeout of the requests is longer than the window. An open key permits
 * no request for `open_time` seconds. Then the key is half-open: it permits `probes` requests, which are called
 * probes. When the number of reported failures is at least `ratio * probes`, the key opens again. When `probes`
 * outcomes were reported and fewer of them are failures, the key closes.
 *
 * A probe without an outcome (`NETLIB_REPORT_NONE`, or a permit that ended) is replaced by another probe. If reports
 * are missing, a half-open key permits a further probe whenever no probe was permitted and no outcome was reported for
 * `open_time` seconds. A lost report therefore does not block the key until its permit ends. A late report of an
 * earlier probe still counts.
 * @param ratio the ratio of failures to outcomes at which a key opens, more than 0, at most 1.
 * @param minimum the number of outcomes in the window below which a key stays closed, 1 or more.
 * @param window the length of the window, 0.001 to 1,000,000,000 seconds. The window moves in steps of a tenth of its
 *        length, so an outcome counts for nine tenths of the window at least. The first step begins when the key is
 *        first used, when it closes after probes, and when an outcome is reported to an empty window.
 * @param open_time the time for which a key stays open, 0.001 to 1,000,000,000 seconds.
 * @param probes the number of outcomes that a half-open key needs, 1 or more. */
void netlib_breaker_options_set_ratio(netlib_breaker_options *options, double ratio, int32_t minimum, double window,
                                      double open_time, int32_t probes);

/** Opens a key after consecutive failures, as Envoy's outlier detection ejects a host. The call replaces the settings
 * of `netlib_breaker_options_set_ratio` and `netlib_breaker_options_set_adaptive`. Default: not set. Envoy's defaults
 * are 5, 30, 300 and 10.
 *
 * A key opens after `failures` failures without a success between them. The key stays open for `open_time` seconds
 * times a multiplier, but at most for `open_time_max` seconds. Then it closes; it is never half-open. The multiplier
 * is the number of the key's openings, minus 1 for every 10 seconds for which the key was closed, but at least 1. It
 * grows no further when `open_time` times the multiplier is `open_time_max + open_time` or more. If another key is
 * already open, a key opens only if at most `max_open_percent` percent of the breaker's keys are then open. Otherwise,
 * the key stays closed, and its failures are counted from 0 again.
 * @param failures the number of consecutive failures at which a key opens, 1 or more.
 * @param open_time the time for which a key stays open after its first opening, 0.001 to 1,000,000,000 seconds.
 * @param open_time_max the longest time for which a key stays open, `open_time` to 1,000,000,000 seconds.
 * @param max_open_percent the percentage of the keys that may be open at once, 0 to 100. One key may always be open. */
void netlib_breaker_options_set_consecutive(netlib_breaker_options *options, int32_t failures, double open_time,
                                            double open_time_max, double max_open_percent);

/** Refuses a random fraction of a key's requests, as in the client-side throttling of Google's book "Site Reliability
 * Engineering", chapter "Handling Overload". The call replaces the settings of `netlib_breaker_options_set_ratio` and
 * `netlib_breaker_options_set_consecutive`. Default: not set. The book uses 2, 1, 120 and 1. For Envoy's admission
 * control with the default settings, use 1 / 0.95, 1, 30 and 0.8.
 *
 * Each request is refused with the probability (requests - `multiplier` * accepted) / (requests + 1), which is limited
 * to the range from 0 to `max_probability`. `requests` is the number of calls of `netlib_breaker_ask` within the
 * window, including calls for refused requests; `accepted` is the number of successes that were reported within the
 * window. A request counts as soon as `netlib_breaker_ask` is called for it, so a server that answers no request is
 * detected before the first timeout. Requests that are reported with `NETLIB_REPORT_NONE` do not count. No key is ever
 * open: some requests are always permitted.
 * @param multiplier the number of requests per accepted request up to which no request is refused: at least 1, finite.
 * @param minimum the number of requests within the window below which no request is refused, 1 or more. Choose more
 *        than the number of concurrent requests: when an application starts, its requests count before the first
 *        answer arrives.
 * @param window the length of the window, 0.001 to 1,000,000,000 seconds. The window moves in steps of a tenth of its
 *        length, so a request counts for nine tenths of the window at least. The first step begins when the key is
 *        first used, and with the first call for the key after the window became empty.
 * @param max_probability the highest probability with which a request is refused, more than 0, at most 1. */
void netlib_breaker_options_set_adaptive(netlib_breaker_options *options, double multiplier, int32_t minimum,
                                         double window, double max_probability);

/** Sets the time after which an unreported permit ends, as if `NETLIB_REPORT_NONE` had been reported. Choose a time
 * that is longer than the longest request. Each call for the breaker ends at most 64 permits, the oldest first.
 * Default: `NETLIB_BREAKER_DEFAULT_PERMIT_TIME`.
 * @param seconds 0.001 to 1,000,000,000. */
void netlib_breaker_options_set_permit_time(netlib_breaker_options *options, double seconds);

/** Sets the maximum number of keys. Default: `NETLIB_BREAKER_DEFAULT_MAX_KEYS`.
 * @param max_keys 1 to 1,048,576. */
void netlib_breaker_options_set_max_keys(netlib_breaker_options *options, int32_t max_keys);

/** Replaces the clock of the breaker, for tests and simulations. If a reading is below the latest one by at most 1
 * second, the time stays at the latest reading: two threads may pass their readings in the wrong order. If a reading
 * is lower than that, the clock was set back, and the time continues from the latest reading. A reading above
 * 9,000,000,000 or below -9,000,000,000 seconds is refused. The callback may run on several threads at the same time.
 * Default: the system's monotonic clock, with a resolution of a few milliseconds.
 * @param clock the callback. May be NULL: the system's monotonic clock. */
void netlib_breaker_options_set_clock(netlib_breaker_options *options, netlib_clock_fn clock, void *ctx,
                                      netlib_ctx_free_fn ctx_free);

/** Replaces the source of the random numbers that `netlib_breaker_options_set_adaptive` needs, for tests and
 * simulations. A request is refused if the random number is below the probability. The callback may run on several
 * threads at the same time. Default: a generator that is seeded with a random number of the operating system.
 * @param random the callback. May be NULL: the default. */
void netlib_breaker_options_set_random(netlib_breaker_options *options, netlib_random_fn random, void *ctx,
                                       netlib_ctx_free_fn ctx_free);

/** Makes a breaker.
 * @param options the settings, which can be used for several calls. May be NULL: the default settings.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error; `NETLIB_IO` if the system
 *         provides no random number for the seed that `netlib_breaker_options_set_adaptive` needs.
 */
NETLIB_MUST_USE netlib_status netlib_breaker_new(const netlib_breaker_options *options, netlib_breaker **breaker,
                                                 netlib_error **err);

/** Returns another reference to the same breaker. */
NETLIB_MUST_USE netlib_breaker *netlib_breaker_clone(const netlib_breaker *breaker);

/** Releases a breaker. */
void netlib_breaker_free(netlib_breaker *breaker);

/** Asks whether a request may be sent now. If so, send the request, and pass the permit to `netlib_breaker_report` when
 * the outcome is known. A breaker has at most 1,048,576 permits without a report; a further permit ends the oldest
 * one.
 * @param key `len` bytes, at most 1,024.
 * @param permit out: the number of the permit, never 0; 0 if the request is not permitted.
 * @param seconds out: with `NETLIB_BREAKER_OPEN`, the time after which to ask again, in seconds, at least 0.000001;
 *        otherwise 0. For an open key, this is the time until the key closes or is half-open. For a half-open key, it
 *        is the time until a further probe is permitted, although the key may close sooner. For a request that
 *        `netlib_breaker_options_set_adaptive` refuses, it is the time until the window moves, although a request may
 *        be permitted earlier.
 * @return `NETLIB_BREAKER_OPEN` if the request is not permitted; `NETLIB_INVALID_ARGUMENT` for a key of more than
 *         1,024 bytes; `NETLIB_CALLBACK_FAILED`.
 */
NETLIB_MUST_USE netlib_status netlib_breaker_ask(const netlib_breaker *breaker, const char *key, size_t len,
                                                 uint64_t *permit, double *seconds, netlib_error **err);

/** Reports the outcome of a permitted request, which ends its permit. For `netlib_breaker_options_set_ratio` and
 * `netlib_breaker_options_set_consecutive`, `NETLIB_REPORT_THROTTLED` counts as a failure. The call changes nothing in
 * three cases: the permit has already ended, because it was reported or is too old; the number is no permit; or the
 * key has opened or closed since the request was permitted. If the clock callback fails, the report counts at the time
 * of the last call that read the clock.
 * @param permit the number that `netlib_breaker_ask` stored.
 * @param outcome the outcome; a number that is no `netlib_report` counts as `NETLIB_REPORT_NONE`. */
void netlib_breaker_report(const netlib_breaker *breaker, uint64_t permit, enum netlib_report outcome);

/** Stores the state of a key. A key that was never used is closed. With `netlib_breaker_options_set_adaptive`, a key is
 * half-open while the probability is above 0. The call does not count as a use of the key.
 * @param key `len` bytes, at most 1,024.
 * @param state out: the state; `NETLIB_CIRCUIT_CLOSED` on failure.
 * @return `NETLIB_INVALID_ARGUMENT` for a key of more than 1,024 bytes; `NETLIB_CALLBACK_FAILED`. */
NETLIB_MUST_USE netlib_status netlib_breaker_state(const netlib_breaker *breaker, const char *key, size_t len,
                                                   enum netlib_circuit_state *state, netlib_error **err);

/** Returns the time in seconds that `netlib_breaker_ask` stored together with an error; -1.0 for an error of another
 * function, and for NULL. Bindings that convert errors to exceptions need this function, because a call that raises an
 * exception returns no outputs. */
double netlib_error_breaker_seconds(const netlib_error *error);

/* ---- Hedging. ---- */

/** Events of a hedged request, which the application reports with `netlib_hedge_plan_step`. */
enum netlib_hedge_event NETLIB_INT32 {
    /** The time that `netlib_hedge_plan_timer` returned is reached. An earlier `NETLIB_HEDGE_EVENT_TIMER` changes
     * nothing. */
    NETLIB_HEDGE_EVENT_TIMER = 0,
    /** An attempt has succeeded: its response is the result of the request. */
    NETLIB_HEDGE_EVENT_SUCCESS = 1,
    /** An attempt has failed, but another attempt may succeed, for example after a connection error or a response with
     * status 503. The next attempt starts at once. gRPC calls such a failure non-fatal. */
    NETLIB_HEDGE_EVENT_FAILURE = 2,
    /** An attempt has failed, and every other attempt would fail for the same reason, for example after a response with
     * status 400: its failure is the result of the request. gRPC calls such a failure fatal. */
    NETLIB_HEDGE_EVENT_FATAL = 3
};

/** Next steps of a hedged request, which `netlib_hedge_plan_step` and `netlib_hedge_plan_pushback` store. */
enum netlib_hedge_action NETLIB_INT32 {
    /** Wait for the next event: the answer of a running attempt, or the timer. */
    NETLIB_HEDGE_ACTION_WAIT = 0,
    /** Start another attempt, if possible to another server. `netlib_hedge_plan_attempts` returns its number. The timer
     * has changed. */
    NETLIB_HEDGE_ACTION_START = 1,
    /** The event has decided the request: the success or the fatal failure of its attempt is the result. Cancel all
     * other running attempts. */
    NETLIB_HEDGE_ACTION_CANCEL_OTHERS = 2,
    /** The event has decided the request: the success of its attempt is the result. No other attempt is running. */
    NETLIB_HEDGE_ACTION_DONE = 3,
    /** The request has failed: the failure that was reported last is the result. No attempt is running. */
    NETLIB_HEDGE_ACTION_FAILED = 4
};

/** Hedging: if a request takes longer than usual, the application starts a second attempt, uses the first answer, and
 * cancels the other attempt. A `netlib_hedge` holds the policy and the latencies of each key. **Thread-safe**. Make
 * one for all requests of a process. After fork(2), the parent process and the child process count separately.
 *
 * `netlib_hedge_start` makes a plan for each request. netlib sends nothing and reads no clock: the application reports
 * events and their times to the plan, and takes the next step that the plan stores. In an event loop, a hedged GET is:
 *
 *     status = netlib_hedge_start(hedge, "https://api.example:443", NETLIB_NTS, "GET", &plan, &err);
 *     double start = now();
 *     if (status == NETLIB_OK) send_attempt(1); // the first attempt is never delayed
 *     while (status == NETLIB_OK) {
 *         enum netlib_hedge_action action = NETLIB_HEDGE_ACTION_WAIT;
 *         int attempt = 0; // wait_for_answer stores the number of the attempt; 0 for the timer
 *         enum netlib_hedge_event event = wait_for_answer(start + netlib_hedge_plan_timer(plan), &attempt);
 *         status = netlib_hedge_plan_step(plan, event, attempt, now() - start, &action, &err);
 *         if (action == NETLIB_HEDGE_ACTION_START) send_attempt(netlib_hedge_plan_attempts(plan));
 *         if (action == NETLIB_HEDGE_ACTION_CANCEL_OTHERS) cancel_all_but(attempt);
 *         if (action > NETLIB_HEDGE_ACTION_START) break; // the answer of `attempt` is the result
 *     }
 *     netlib_hedge_plan_free(plan);
 *
 * An application that gives up earlier cancels the running attempts and frees the plan. */
struct netlib_hedge;

/** Settings from which `netlib_hedge_new` makes a `netlib_hedge`. **One call at a time**. */
struct netlib_hedge_options;

/** The plan of one hedged request. **One call at a time**. The plan numbers the attempts from 1, and records which
 * attempts are running. All times are seconds since the start of the first attempt. */
struct netlib_hedge_plan;

/** Makes options that hold the defaults; the comment of each setter states its default.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_hedge_options *netlib_hedge_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_hedge_options *netlib_hedge_options_clone(const netlib_hedge_options *options);

/** Checks that no setter has recorded an error, as `netlib_hedge_new` does.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value. */
NETLIB_MUST_USE netlib_status netlib_hedge_options_check(const netlib_hedge_options *options, netlib_error **err);

/** Releases options. */
void netlib_hedge_options_free(netlib_hedge_options *options);

/** Sets a fixed delay between two attempts. With a fixed delay, no latencies are recorded. The call replaces the
 * percentile. Default: not set; the delay is a percentile. The example of gRPC's proposal A6 uses 0.5 seconds and 4
 * attempts, and Polly 8 uses 2 seconds and 2 attempts.
 * @param seconds 0 to 1,000,000,000. With 0, all attempts start at once. */
void netlib_hedge_options_set_delay(netlib_hedge_options *options, double seconds);

/** Sets the delay between two attempts to a percentile of the key's latencies. With the 95th percentile, about 5 % of
 * the requests get a second attempt (Dean and Barroso, "The Tail at Scale", CACM 2013). The call replaces a fixed
 * delay. Default: 95 and 100.
 *
 * The latencies of a key are the times that its latest 1,000 to 2,000 successful requests took, from the start of the
 * request to `NETLIB_HEDGE_EVENT_SUCCESS`. The time of attempts that failed before the success does not count. For
 * latencies from 0.1 ms to 1,000 s, the percentile is at most 5 % too high or too low; a latency outside of this range
 * counts as 0.1 ms or 1,000 s. The latencies of a key take less than 1 kB of memory, plus the key itself, which is
 * stored twice.
 * @param percentile 50 to 99.9. The number 95 means the 95th percentile; 0.95 is refused.
 * @param minimum_samples 1 to 1,000. While a key has fewer latencies, only `NETLIB_HEDGE_EVENT_FAILURE` starts a
 *        further attempt; the timer does not.
 */
void netlib_hedge_options_set_percentile(netlib_hedge_options *options, double percentile, int32_t minimum_samples);

/** Sets the maximum number of attempts of a request, the first one included. Default: 2.
 * @param max_attempts 2 to 10. Polly 8 has the same maximum. */
void netlib_hedge_options_set_max_attempts(netlib_hedge_options *options, int32_t max_attempts);

/** Sets the methods of requests that may have several attempts. Default: `NETLIB_RETRY_DEFAULT_ALLOWED_METHODS`, the
 * idempotent methods.
 *
 * The server may process all attempts, in any order. An attempt with PUT or DELETE that was cancelled may still reach
 * the server after a later request. If the order of requests matters, allow only GET, HEAD and OPTIONS.
 * @param methods an array of `count` method names, compared case-insensitively.
 * @param count the number of methods; with 0, no method is allowed. */
void netlib_hedge_options_set_allowed_methods(netlib_hedge_options *options, const char *const *methods,
                                              size_t count);

/** Sets the retry budget that bounds the further attempts of all requests together. Default: none. Use the budget that
 * the retries of the same requests use, and the same keys, so that the budget bounds retries and further attempts
 * together. A Retry without a key of its own uses the origin with the port, such as "https://example.com:443".
 *
 * A plan asks the budget for each further attempt, as `NETLIB_BUDGET_HEDGE`. If the budget denies an attempt, the plan
 * starts no further attempt: see `netlib_hedge_plan_denied`. The plan reports the outcome of each further attempt to
 * the budget: success and failure; `NETLIB_REPORT_THROTTLED` after a pushback with a wait; `NETLIB_REPORT_NONE` after
 * `NETLIB_HEDGE_EVENT_FATAL`, and for an attempt that is cancelled. A cancelled attempt therefore does not return its
 * cost.
 *
 * A plan does not report its first attempt. If a Retry has the same budget, call `netlib_retry_decide` once with the
 * outcome of the request: this call reports the first attempt. Otherwise, call `netlib_retry_budget_ask` with
 * `NETLIB_BUDGET_REQUEST` when the request starts, and `netlib_retry_budget_report` when it ends.
 * @param budget the budget. May be NULL: no budget. */
void netlib_hedge_options_set_budget(netlib_hedge_options *options, const netlib_retry_budget *budget);

/** Sets the maximum number of keys whose latencies are kept. A further key replaces the least recently used one.
 * Default: 1,024.
 * @param max_keys 1 to 1,048,576. */
void netlib_hedge_options_set_max_keys(netlib_hedge_options *options, int32_t max_keys);

/** Makes a `netlib_hedge`.
 * @param options the settings, which can be used for several calls. May be NULL: the default settings.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error. */
NETLIB_MUST_USE netlib_status netlib_hedge_new(const netlib_hedge_options *options, netlib_hedge **hedge,
                                               netlib_error **err);

/** Returns another reference to the same `netlib_hedge`. */
NETLIB_MUST_USE netlib_hedge *netlib_hedge_clone(const netlib_hedge *hedge);

/** Releases a `netlib_hedge`. */
void netlib_hedge_free(netlib_hedge *hedge);

/** Returns the delay in seconds between two attempts of a request to `key` that starts now; `NETLIB_TIMEOUT_NONE` if
 * there are not enough latencies, and for NULL. The call does not count as a use of the key.
 * @param key see `netlib_hedge_start`. */
double netlib_hedge_delay(const netlib_hedge *hedge, const char *key, size_t len);

/** Makes the plan of a request. Send the first attempt at once: its number is 1, and its start is the time 0 of the
 * plan.
 *
 * If the method is not one of the allowed methods (`netlib_hedge_options_set_allowed_methods`), the plan starts no
 * further attempt, not even after a failure. The latency of such a request is not recorded, because such requests
 * often take longer than others.
 * @param key the bytes of a key, at most 1,024, for example an origin or a tenant. Each key has its own latencies.
 * @param method the method of the request.
 * @return `NETLIB_INVALID_ARGUMENT` if `key` is too long or the method is not a token. */
NETLIB_MUST_USE netlib_status netlib_hedge_start(const netlib_hedge *hedge, const char *key, size_t len,
                                                 const char *method, netlib_hedge_plan **plan, netlib_error **err);

/** Releases a plan. If the request has not ended, its attempts count as cancelled. */
void netlib_hedge_plan_free(netlib_hedge_plan *plan);

/** Returns the time at which `NETLIB_HEDGE_EVENT_TIMER` is due, in seconds since the start. Every step may change the
 * time. Returns `NETLIB_TIMEOUT_NONE` while no timer is set, and for NULL. */
double netlib_hedge_plan_timer(const netlib_hedge_plan *plan);

/** Returns the number of attempts that were started, the first one included. This number is also the number of the
 * attempt that was started last. */
int32_t netlib_hedge_plan_attempts(const netlib_hedge_plan *plan);

/** Returns the error with which the budget denied a further attempt: `NETLIB_RETRY_BUDGET_EMPTY`;
 * `NETLIB_STORE_UNAVAILABLE` if the budget's store cannot be used and its policy is `NETLIB_UNAVAILABLE_CLOSED`; or
 * `NETLIB_CALLBACK_FAILED` if a callback of the budget or of its store failed. NULL if the budget has denied no
 * attempt. */
const netlib_error *netlib_hedge_plan_denied(const netlib_hedge_plan *plan);

/** Reports an event, and stores the next step. The rules are those of gRPC's proposal A6, "Hedging Policy".
 *
 * The next attempt starts when the timer is due, and at once after `NETLIB_HEDGE_EVENT_FAILURE`, unless a pushback has
 * asked to wait. The timer then starts again, with the delay that was computed when the plan was made. If no attempt
 * is running and no further one may start, the request has failed.
 *
 * After the request has ended, the call changes nothing and stores `NETLIB_HEDGE_ACTION_DONE` or
 * `NETLIB_HEDGE_ACTION_FAILED`. This happens, for example, if a cancelled attempt succeeds before its cancellation
 * takes effect.
 * @param event the event.
 * @param attempt the number of the event's attempt; ignored for `NETLIB_HEDGE_EVENT_TIMER`.
 * @param seconds the time of the event since the start, 0 or more, finite. A time before that of an earlier step
 *        counts as the time of the earlier step.
 * @param action out: the next step.
 * @return `NETLIB_INVALID_ARGUMENT` if the attempt was never started; if the attempt has already failed, unless the
 *         request has ended; for a negative or infinite time or NaN; and if `event` is no event. The plan is then
 *         unchanged.
 * @blocks never, except that the call takes as long as the swap callback of a store: at most the timeout of the store,
 *        if the callback obeys it.
 */
NETLIB_MUST_USE netlib_status netlib_hedge_plan_step(netlib_hedge_plan *plan, enum netlib_hedge_event event,
                                                     int32_t attempt, double seconds,
                                                     enum netlib_hedge_action *action, netlib_error **err);

/** Reports a failed attempt whose response has a pushback, and stores the next step. A pushback is the server's request
 * to wait before the next attempt, or to start no further attempt, for example in a Retry-After header or gRPC's
 * grpc-retry-pushback-ms. The rules are those of gRPC's proposal A6, "Pushback". Apart from the pushback, the call
 * does what `netlib_hedge_plan_step` does for `NETLIB_HEDGE_EVENT_FAILURE`.
 * @param attempt the number of the attempt that has failed.
 * @param wait the wait in seconds before the next attempt starts, at most 1,000,000,000. Failures of other attempts do
 *        not shorten the wait. A negative number, at least -1,000,000,000: the plan starts no further attempt.
 * @param seconds the time of the failure since the start, as in `netlib_hedge_plan_step`.
 * @param action out: the next step.
 * @return `NETLIB_INVALID_ARGUMENT` for a `wait` outside of its range, and in the cases of `netlib_hedge_plan_step`. */
NETLIB_MUST_USE netlib_status netlib_hedge_plan_pushback(netlib_hedge_plan *plan, int32_t attempt, double wait,
                                                         double seconds, enum netlib_hedge_action *action,
                                                         netlib_error **err);

/* ---- Rates. ---- */

/** The default maximum number of keys of a rate. */
enum NETLIB_INT32 { NETLIB_RATE_DEFAULT_MAX_KEYS = 1024 };

/** A rate, which limits how often an application sends requests, so that a server with a quota does not refuse them.
 * **Thread-safe**.
 *
 * Call `netlib_rate_take` before each request, retries included. If it returns `NETLIB_RATE_LIMITED`, wait for the
 * time that it stores, and call it again. For an adaptive rate, also call `netlib_rate_report` after each request.
 *
 * A rate keeps a separate state for each key, which is usually an origin, a tenant or an account with a quota. A key
 * is any sequence of at most 1,024 bytes; NULL with the length 0 is also a key. If a rate has its maximum
 * number of keys, a new key replaces one of the 16 least recently used keys. For a limit, the replaced key is the one
 * that has all its permissions, or will have them first. For an adaptive rate, it is a key that was never throttled, if
 * there is one. Of several such keys, the least recently used one is replaced. A replaced key that is used again starts
 * as a new key.
 *
 * After fork(2), parent and child have separate copies of the state, and count separately, unless the rate has a
 * store. */
struct netlib_rate;

/** Settings from which `netlib_rate_new` makes a rate. **One call at a time**. */
struct netlib_rate_options;

/** Makes options that hold the default settings: an adaptive rate. The comment of each setter states its default.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_rate_options *netlib_rate_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_rate_options *netlib_rate_options_clone(const netlib_rate_options *options);

/** Checks that no setter has recorded an error, as `netlib_rate_new` does.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter refused a value. */
NETLIB_MUST_USE netlib_status netlib_rate_options_check(const netlib_rate_options *options, netlib_error **err);

/** Releases options. */
void netlib_rate_options_free(netlib_rate_options *options);

/** Limits each key to `per_second` permissions per second on average and `burst` permissions at once, by the generic
 * cell rate algorithm (GCRA, ITU-T I.371): in any period of T seconds, at most `per_second * T + burst` permissions
 * are taken. A new key can take `burst` at once. The call replaces `netlib_rate_options_set_adaptive`. Default: not
 * set; the rate is adaptive.
 *
 * If the time of a store steps back, for example because its server was replaced, a key may lose its permissions. The
 * key then gets permissions again at `per_second`, at most one second later than if it had used all of them.
 * @param per_second the permissions per second, more than 0, finite.
 * @param burst the most permissions that one call can take, more than 0, finite. `burst / per_second`, the time in
 *        which a key without permissions gets `burst` permissions, is 0.000000001 to 1,000,000,000 seconds.
 */
void netlib_rate_options_set_limit(netlib_rate_options *options, double per_second, double burst);

/** Makes the rate adaptive, as in the retry mode "adaptive" of AWS's SDKs. This is the default. The call replaces
 * `netlib_rate_options_set_limit`.
 *
 * An adaptive rate limits nothing until the first report of `NETLIB_REPORT_THROTTLED` for a key. From then on, the
 * rate of the key follows the function of CUBIC (RFC 9438) with the constants of botocore and smithy-rs: a report of
 * `NETLIB_REPORT_THROTTLED` lowers the rate to 0.7 times the measured rate, which is the rate of the reports.
 * Afterwards, the rate rises again, slowly near the rate at which the server refused a request. The rate is at most
 * twice the measured rate, and at least 0.5 per second. */
void netlib_rate_options_set_adaptive(netlib_rate_options *options);

/** Sets the maximum number of keys that the process keeps. Default: `NETLIB_RATE_DEFAULT_MAX_KEYS`.
 * @param max_keys 1 to 1,048,576. */
void netlib_rate_options_set_max_keys(netlib_rate_options *options, int32_t max_keys);

/** Sets a store, in which processes share the state of a limit (`netlib_rate_options_set_limit`). All processes must
 * use the same limit. The clock of the store measures the time. Each call of `netlib_rate_take` accesses the store. An
 * adaptive rate cannot have a store.
 * @param store the store, to which the options and the rate keep references. May be NULL: no store, which is the
 *        default.
 * @param unavailable the policy for the times when the store is unavailable. */
void netlib_rate_options_set_store(netlib_rate_options *options, const netlib_store *store,
                                   enum netlib_unavailable unavailable);

/** Replaces the clock of the rate, for tests and simulations. If a reading is below the latest one by at most 1 second,
 * the time stays at the latest reading: two threads may pass their readings in the wrong order. If a reading is lower
 * than that, the clock was set back, and the time continues from the latest reading. A reading above 9,000,000,000 or
 * below -9,000,000,000 seconds is refused. The callback may run on several threads at the same time. Default: the
 * system's monotonic clock.
 *
 * A limit with a store uses the time of the store, and uses this clock only while the store is unavailable;
 * `netlib_rate_options_set_limit` states the effect if the time of the store steps back.
 * @param clock the callback. May be NULL: the system's monotonic clock. */
void netlib_rate_options_set_clock(netlib_rate_options *options, netlib_clock_fn clock, void *ctx,
                                   netlib_ctx_free_fn ctx_free);

/** Makes a rate.
 * @param options the settings, which can be used for several calls. May be NULL: the default settings.
 * @return `NETLIB_INVALID_ARGUMENT` if a setter of the options has recorded an error, or if the options have a store
 *         but no limit.
 */
NETLIB_MUST_USE netlib_status netlib_rate_new(const netlib_rate_options *options, netlib_rate **rate,
                                              netlib_error **err);

/** Returns another reference to the same rate. */
NETLIB_MUST_USE netlib_rate *netlib_rate_clone(const netlib_rate *rate);

/** Releases a rate. */
void netlib_rate_free(netlib_rate *rate);

/** Takes permissions to send requests. The call does not wait, and takes either all `n` permissions or none.
 * @param key `len` bytes, at most 1,024.
 * @param n the number of permissions, usually 1, or the size of a request if the quota counts sizes; more than 0. For
 *        a limit, `n` is at most the limit's burst. For an adaptive rate, `n` is at most 1,000,000,000, and may exceed
 *        the capacity of the key: the permissions are taken as soon as the whole capacity is available, and later
 *        calls wait longer.
 * @param wait out: with `NETLIB_RATE_LIMITED`, the seconds after which to call again, a whole number of microseconds,
 *        at least 1; 0 otherwise.
 * @return `NETLIB_OK` if the permissions were taken; `NETLIB_RATE_LIMITED` if they are not available yet;
 *         `NETLIB_INVALID_ARGUMENT` for a key of more than 1,024 bytes, and if `n` is out of range;
 *         `NETLIB_STORE_UNAVAILABLE` if the policy for an unavailable store is `NETLIB_UNAVAILABLE_CLOSED`;
 *         `NETLIB_CALLBACK_FAILED`.
 * @blocks never, except that the call takes as long as the swap callback of a store: at most the timeout of the store,
 *        if the callback obeys it.
 */
NETLIB_MUST_USE netlib_status netlib_rate_take(const netlib_rate *rate, const char *key, size_t len, double n,
                                               double *wait, netlib_error **err);

/** Reports the outcome of a request to an adaptive rate. Report every request that was answered or has failed, retries
 * included: an adaptive rate counts the reports to measure the rate at which requests are sent. Outcomes other than
 * `NETLIB_REPORT_THROTTLED` let the rate rise. A report of `NETLIB_REPORT_NONE`, and every report to a limit, changes
 * nothing.
 * @param key the key that was passed to `netlib_rate_take`: `len` bytes.
 * @param outcome the outcome, for example `NETLIB_REPORT_THROTTLED` if `netlib_decision_throttled` returns 1.
 * @return `NETLIB_INVALID_ARGUMENT` for a key of more than 1,024 bytes, and for an outcome that is no `netlib_report`;
 *         `NETLIB_CALLBACK_FAILED`.
 */
NETLIB_MUST_USE netlib_status netlib_rate_report(const netlib_rate *rate, const char *key, size_t len,
                                                 enum netlib_report outcome, netlib_error **err);

/* ==================================================================================================================
 * headers: Request headers, and the bytes in which they are sent.
 * ================================================================================================================== */

/** An ordered list of header fields. **Immutable**. Names of fields are case-insensitive, but keep the letter case with
 * which they were added; a name may occur several times. Values of fields are bytes, which need not be UTF-8, but
 * never contain CR, LF or NUL. */
struct netlib_headers;

/** Settings from which `netlib_make_headers` makes request headers. **One call at a time**. Without a call to a setter,
 * there are no headers. For a value with CR, LF or NUL, or a name that is not a token, `netlib_make_headers` fails
 * with `NETLIB_INVALID_HEADER`; the error message contains the header's name and the byte, but never the value. */
struct netlib_headers_options;

/** A header field: a name and a value. */
typedef struct netlib_header_field {
    /** The name, a token (RFC 9110 section 5.1), sent with its letter case unchanged. */
    const char *name;
    /** The value: any bytes except CR and LF; "" is an empty value. */
    const char *value;
} netlib_header_field;

/** Makes a list of header fields in one call:
 *
 *     const netlib_header_field fields[] = {{"accept", "text/html"}, {"connection", "close"}};
 *     netlib_headers *headers = NULL;
 *     status = netlib_headers_new(fields, 2, &headers, &err);
 *
 * For credentials and other common request headers, `netlib_make_headers` makes the values.
 * @param fields the fields, in order. A name may occur several times.
 * @param count the number of fields; with 0, the list is empty.
 * @param err the error's offset is the position of the invalid byte in the name or value that the error message names.
 * @return `NETLIB_INVALID_HEADER` for a name that is not a token, for a value with CR or LF, and if the list would be
 *         larger than 16 MiB; `NETLIB_NULL_ARGUMENT` for a name or a value that is NULL. The error message begins with
 *         the index of the field.
 */
NETLIB_MUST_USE netlib_status netlib_headers_new(const netlib_header_field *fields, size_t count,
                                                 netlib_headers **headers, netlib_error **err);

/** Makes options for an empty list of headers.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_headers_options *netlib_headers_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_headers_options *netlib_headers_options_clone(const netlib_headers_options *options);

/** Checks, as `netlib_make_headers` does, that no setter has recorded an error. The call does not check the total size
 * of the headers, which `netlib_make_headers` limits to 16 MiB.
 * @return `NETLIB_INVALID_HEADER` for a name or value that cannot be sent; `NETLIB_INVALID_ARGUMENT` if a number other
 *         than 0 and 1 was passed to a setter; `NETLIB_INVALID_UTF8` if the text that was passed to
 *         `netlib_headers_options_add_supported_coding` is not UTF-8.
 */
NETLIB_MUST_USE netlib_status netlib_headers_options_check(const netlib_headers_options *options, netlib_error **err);

/** Releases options. */
void netlib_headers_options_free(netlib_headers_options *options);

/** Sets whether the headers include `connection: keep-alive`. Default: 0. */
void netlib_headers_options_set_keep_alive(netlib_headers_options *options, int32_t keep_alive);

/** Sets the value of the header `accept-encoding`, for example "gzip;q=0.5, br". The value replaces the result of
 * earlier calls of `netlib_headers_options_enable_accept_encoding` and `netlib_headers_options_add_accept_encoding`.
 * By default, there is no `accept-encoding`.
 * @param value the value; "" means no header. May be NULL: no header. */
void netlib_headers_options_set_accept_encoding(netlib_headers_options *options, const char *value);

/** Sets whether the header `accept-encoding` lists the codings that the application can decode: "gzip,deflate",
 * followed by the codings that `netlib_headers_options_add_supported_coding` declares. The call replaces the result of
 * earlier calls of `netlib_headers_options_set_accept_encoding` and `netlib_headers_options_add_accept_encoding`.
 * @param enable 0 or 1. Default: 0, no `accept-encoding`. */
void netlib_headers_options_enable_accept_encoding(netlib_headers_options *options, int32_t enable);

/** Appends a coding to the header `accept-encoding`, after a comma. If `netlib_headers_options_set_accept_encoding` or
 * `netlib_headers_options_enable_accept_encoding` has made the header's value, the coding replaces this value.
 * @param coding the coding, for example "gzip" or "br;q=0.5". */
void netlib_headers_options_add_accept_encoding(netlib_headers_options *options, const char *coding);

/** Declares a coding other than gzip and deflate that the application can decode. If
 * `netlib_headers_options_enable_accept_encoding` makes the header `accept-encoding`, the header lists this coding;
 * otherwise the declaration has no effect.
 * @param coding the coding, a token (RFC 9110 section 5.6.2), for example "br" or "zstd". Declaring a coding again
 *        changes nothing.
 */
void netlib_headers_options_add_supported_coding(netlib_headers_options *options, const char *coding);

/** Sets the value of the header `user-agent`. By default, there is no `user-agent`.
 * @param user_agent the value; "" means no header. May be NULL: no header. */
void netlib_headers_options_set_user_agent(netlib_headers_options *options, const char *user_agent);

/** Sets the credentials for the server, in the header `authorization` with the Basic scheme (RFC 7617): "Basic " and
 * the base64 form of the credentials. The server determines the character encoding of the credentials: usually UTF-8,
 * but ISO 8859-1 for older servers. By default, there is no `authorization`.
 * @param credentials "user:password", any bytes; "" means no header. May be NULL: no header. */
void netlib_headers_options_set_basic_auth(netlib_headers_options *options, const char *credentials);

/** Sets the credentials for a proxy, in the header `proxy-authorization`, as `netlib_headers_options_set_basic_auth`
 * sets `authorization`. By default, there is no `proxy-authorization`.
 * @param credentials "user:password", any bytes; "" means no header. May be NULL: no header. */
void netlib_headers_options_set_proxy_basic_auth(netlib_headers_options *options, const char *credentials);

/** Sets whether the headers include `cache-control: no-cache`. Default: 0. */
void netlib_headers_options_set_disable_cache(netlib_headers_options *options, int32_t disable_cache);

/** Adds a header field, which follows the headers that setters make and the fields that earlier calls added. A name may
 * be added several times.
 * @param name the name, a token (RFC 9110 section 5.1), sent with its letter case unchanged.
 * @param value the value: any bytes except CR and LF; "" is an empty value. */
void netlib_headers_options_add_header(netlib_headers_options *options, const char *name, const char *value);

/** Makes request headers: those of `accept-encoding`, `user-agent`, `connection`, `authorization`,
 * `proxy-authorization` and `cache-control` that were set, in this order and with names in lower case, then the
 * headers that were added.
 * @param options the settings. May be NULL: the list of headers is empty.
 * @param err the error's offset is the position of the invalid byte in the name or value that the error message names.
 * @return `NETLIB_INVALID_HEADER` for a name or value that cannot be sent, or if the list would be larger than 16 MiB;
 *         `NETLIB_INVALID_ARGUMENT` if a number other than 0 and 1 was passed to a setter; `NETLIB_INVALID_UTF8` if
 *         the text that was passed to `netlib_headers_options_add_supported_coding` is not UTF-8. If a setter has
 *         recorded the error, the error message begins with the setter's name.
 */
NETLIB_MUST_USE netlib_status netlib_make_headers(const netlib_headers_options *options, netlib_headers **headers,
                                                  netlib_error **err);

/** Returns options from which `netlib_make_headers` makes the same headers. To change or remove a header that a setter
 * made, call the setter again. The options treat all other headers as headers that
 * `netlib_headers_options_add_header` added. When memory is short, the options record `NETLIB_OUT_OF_MEMORY`, with
 * which `netlib_make_headers` then fails. */
NETLIB_MUST_USE netlib_headers_options *netlib_headers_to_options(const netlib_headers *headers);

/** Copies a list and sets one field, for example an Authorization with new credentials: the copy has exactly one field
 * with this name. The value replaces the value of the first field with this name, and further fields with this name
 * are left out; if no field has this name, the new field is the last one.
 * @param headers the list. May be NULL: an empty list.
 * @param name the name, a token (RFC 9110 section 5.1), case-insensitive; the new field has the letter case of `name`.
 * @param value the value: any bytes except CR and LF. May be NULL: the copy has no field with this name.
 * @param changed out: the copy.
 * @param err the error's offset is the position of the invalid byte in the name or value that the error message names.
 * @return `NETLIB_INVALID_HEADER` for a name that is not a token, for a value with CR or LF, and if the list would be
 *         larger than 16 MiB.
 */
NETLIB_MUST_USE netlib_status netlib_headers_with(const netlib_headers *headers, const char *name, const char *value,
                                                  netlib_headers **changed, netlib_error **err);

/** Returns another reference to the same headers. */
NETLIB_MUST_USE netlib_headers *netlib_headers_clone(const netlib_headers *headers);

/** Releases headers. */
void netlib_headers_free(netlib_headers *headers);

/** Returns the number of header fields; a name that occurs several times counts each time. */
size_t netlib_headers_count(const netlib_headers *headers);

/** Returns the name of a header field, with the letter case with which the field was added. */
const char *netlib_headers_name(const netlib_headers *headers, size_t index, size_t *len);

/** Returns the value of a header field. */
const char *netlib_headers_value(const netlib_headers *headers, size_t index, size_t *len);

/** Returns the value of the first field with a given name; NULL when no field has this name.
 * @param name the name of the field, case-insensitive. May be NULL: NULL is returned. */
const char *netlib_headers_get(const netlib_headers *headers, const char *name, size_t *len);

/** Returns the number of fields with a given name.
 * @param name the name of the fields, case-insensitive. May be NULL: 0 is returned. */
size_t netlib_headers_get_count(const netlib_headers *headers, const char *name);

/** Returns the value of the field number `n`, counted from 0, among the fields with a given name.
 * @param name the name of the fields, case-insensitive. May be NULL: NULL is returned.
 * @param n 0 to `netlib_headers_get_count` - 1; for a larger number, NULL is returned. */
const char *netlib_headers_get_at(const netlib_headers *headers, const char *name, size_t n, size_t *len);

/** Returns the headers as bytes to send: "name: value" and CRLF for each field, without the empty line that ends the
 * head of a request; "" for an empty list; NULL when memory is short. The first call makes the text; later calls
 * return the same text. */
const char *netlib_headers_to_wire(const netlib_headers *headers, size_t *len);

/* ==================================================================================================================
 * request: Request heads.
 * ================================================================================================================== */

/** Forms of the request target, which is the second word of the request line (RFC 9112 section 3.2). */
enum netlib_request_form NETLIB_INT32 {
    /** The path and the query, as in "GET /a?b HTTP/1.1": for a request to the server, directly or through a tunnel. */
    NETLIB_REQUEST_FORM_ORIGIN = 0,
    /** The URL without userinfo and fragment, as in "GET http://example.com/a?b HTTP/1.1": for a request to a proxy
     * that passes the request on. */
    NETLIB_REQUEST_FORM_ABSOLUTE = 1,
    /** The host and the port, as in "CONNECT example.com:443 HTTP/1.1": for opening a tunnel through a proxy. */
    NETLIB_REQUEST_FORM_AUTHORITY = 2,
    /** "*", as in "OPTIONS * HTTP/1.1": for a request about the whole server. */
    NETLIB_REQUEST_FORM_ASTERISK = 3
};

/** The head of an HTTP/1.1 request: the request line, the header fields and the empty line after them. **Immutable**.
 *
 *     netlib_request *request = NULL;
 *     size_t len = 0, n = 0;
 *     status = netlib_request_new("GET", url, headers, NETLIB_REQUEST_FORM_ORIGIN, &request, &err);
 *     const char *head = netlib_request_to_wire(request, &len);
 *     if (status == NETLIB_OK) status = netlib_stream_write(stream, head, len, &n, &err);
 *     netlib_request_free(request);
 *
 * The body of the request, if any, follows the head. */
struct netlib_request;

/** Makes the head of a request (RFC 9112 sections 3 and 5).
 *
 * The first field is Host, which is taken from `headers`. If `headers` contain no Host, the call makes its value: the
 * request target for `NETLIB_REQUEST_FORM_AUTHORITY`, and the URL's host and port (`netlib_url_netloc`) for every
 * other form. The call adds no other field: `headers` must contain Content-Length or Transfer-Encoding if the request
 * has a body. The fields after Host keep their order and letter case. The URL's userinfo, its fragment and the zone of
 * its IPv6 address are never sent. An absent path is sent as "/". In the absolute form, an absent scheme is sent as
 * "http".
 *
 * The call refuses the following requests, because two recipients could read them differently:
 * - a byte in the target that a URL may not contain (RFC 3986), such as a blank, a control character or a non-ASCII
 *   byte. The URL parser encodes such bytes if the scheme is http, https or absent, so only URLs with other schemes
 *   contain such bytes.
 * - more than one Host; a Host that is empty or contains a byte that a host and port may not contain; in the absolute
 *   and the authority form, a Host that differs from the host and port of the target.
 * - more than one Content-Length, a Content-Length that is not a number or does not fit an int64_t, Content-Length
 *   together with Transfer-Encoding, more than one Transfer-Encoding, a Transfer-Encoding whose last coding is not
 *   chunked, and a Transfer-Encoding with a tab or with parameters of a coding.
 * - Content-Length and Transfer-Encoding in a CONNECT request, which has no body (RFC 9110 section 9.3.6).
 * - Host, Content-Length or Transfer-Encoding as an option in Connection, which asks a proxy to remove the header (RFC
 *   9110 section 7.6.1).
 * - a control character other than a tab in a header value (RFC 9110 section 5.5).
 *
 * For a CONNECT request to a proxy, pass "CONNECT", the URL of the request that uses the tunnel,
 * `NETLIB_REQUEST_FORM_AUTHORITY`, and only the headers for the proxy, such as `proxy-authorization`
 * (`netlib_headers_options_set_proxy_basic_auth`). The port is the URL's port or the default port of its scheme.
 * `netlib_response_check_tunnel` checks the proxy's response.
 * @param method the method, a token such as "GET". Methods are case-sensitive. CONNECT requires the authority form,
 *        which no other method allows. Only OPTIONS allows the asterisk form.
 * @param url the URL of the request.
 * @param headers the header fields. May be NULL: Host is the only field.
 * @param form the form of the target.
 * @param err the error's offset is the position of the invalid byte in the method, the target, the host or the value
 *        that the error message names.
 * @return `NETLIB_INVALID_ARGUMENT` for a method that is not a token, or that the form does not allow, and for an
 *         unknown form; `NETLIB_INVALID_URL` for an invalid byte in the target, for a URL without a host if the form
 *         or the Host field needs it, and in the authority form for port 0 and for a URL without a port whose scheme
 *         has no default port; `NETLIB_INVALID_HEADER` for an invalid Host, Content-Length, Transfer-Encoding or
 *         Connection, and for a control character in a value.
 */
NETLIB_MUST_USE netlib_status netlib_request_new(const char *method, const netlib_url *url,
                                                 const netlib_headers *headers, enum netlib_request_form form,
                                                 netlib_request **request, netlib_error **err);

/** Returns another reference to the same request. */
NETLIB_MUST_USE netlib_request *netlib_request_clone(const netlib_request *request);

/** Releases a request. The memory of its head is overwritten, because the head may contain credentials. */
void netlib_request_free(netlib_request *request);

/** Returns the head of a request as bytes to send, including the empty line at its end. */
const char *netlib_request_to_wire(const netlib_request *request, size_t *len);

/* ---- The attempts of a request. ---- */

/** The attempts of one request: the first attempt, and the retries and redirects on which a Retry decides.
 * **One call at a time**. The getters describe the present attempt. What they return is borrowed until the next call
 * of `netlib_attempts_next` or `netlib_attempts_decide`, even if that call fails: clone a handle to keep it longer.
 *
 *     do {
 *         netlib_response_free(response), response = NULL;
 *         netlib_error_free(failure), failure = NULL;
 *         send_request(attempts, &response, &failure); // your HTTP code, which stores one of the two
 *         status = netlib_attempts_next(attempts, response, failure, &err);
 *     } while (status == NETLIB_SEND_AGAIN);
 *
 * If the status is then `NETLIB_OK`, `response` is the result of the request; otherwise, `err` says why the request
 * failed. Then free `response`, `failure`, `err` and the attempts. The loop makes the decisions of
 * `netlib_retry_decide`, and passes each decision's Retry, method, URL and headers to the next attempt. */
struct netlib_attempts;

/** Makes the attempts of a request. The first attempt has the method, the URL and the headers that are passed. A
 * reference to each handle is kept.
 * @param retry the policy.
 * @param method the request's method, a token such as "GET".
 * @param url the request's URL.
 * @param headers the request's headers, without Host. May be NULL: no headers.
 * @param has_body 1 if the request has a body, else 0.
 * @param limit bounds the waits between the attempts. Pass the limit to the calls of each attempt too, for example to
 *        `netlib_stream_connect`.
 * @return `NETLIB_INVALID_ARGUMENT` if the method is not a token, or `has_body` is neither 0 nor 1.
 * @blocks never: the limit is stored. */
NETLIB_MUST_USE netlib_status netlib_attempts_new(const netlib_retry *retry, const char *method,
                                                  const netlib_url *url, const netlib_headers *headers,
                                                  int32_t has_body, const netlib_limit *limit,
                                                  netlib_attempts **attempts, netlib_error **err);

/** Releases attempts. */
void netlib_attempts_free(netlib_attempts *attempts);

/** Returns the method of the present attempt. */
const char *netlib_attempts_method(const netlib_attempts *attempts, size_t *len);

/** Returns the URL of the present attempt. For a redirect, the URL is the one that `netlib_decision_url` returns. */
const netlib_url *netlib_attempts_url(const netlib_attempts *attempts);

/** Returns the headers of the present attempt: those that were passed to `netlib_attempts_new`, with the changes of
 * `netlib_attempts_set_header`, and without those that redirects have dropped (`netlib_decision_headers`). */
const netlib_headers *netlib_attempts_headers(const netlib_attempts *attempts);

/** Returns 1 if the present attempt sends the body, else 0: if the request has no body, and after a redirect that
 * dropped the body (`netlib_decision_resend_body`). Before a second attempt with a body, rewind the body: see
 * `netlib_rewind_body`. */
int32_t netlib_attempts_sends_body(const netlib_attempts *attempts);

/** Returns the limit that was passed to `netlib_attempts_new`; NULL if there is none. */
const netlib_limit *netlib_attempts_limit(const netlib_attempts *attempts);

/** Makes the head of the present attempt's request: `netlib_request_new` with its method, URL and headers.
 * @param form the form of the target.
 * @return the failures of `netlib_request_new`: `NETLIB_INVALID_ARGUMENT`, `NETLIB_INVALID_URL` and
 *         `NETLIB_INVALID_HEADER`.
 */
NETLIB_MUST_USE netlib_status netlib_attempts_request(const netlib_attempts *attempts, enum netlib_request_form form,
                                                      netlib_request **request, netlib_error **err);

/** Sets a header of the present attempt and of all attempts that follow, for example Range to continue a download, or
 * Authorization with new credentials. A redirect may drop the header: see `netlib_decision_drops_header`.
 * @param name the name, a token (RFC 9110 section 5.1), case-insensitive.
 * @param value the value, which replaces each earlier value. May be NULL: the header is removed.
 * @return `NETLIB_INVALID_HEADER` as from `netlib_headers_with`. */
NETLIB_MUST_USE netlib_status netlib_attempts_set_header(netlib_attempts *attempts, const char *name,
                                                         const char *value, netlib_error **err);

/** Forgets the failures so far: the next failure counts as the first one, the backoff starts again, and a later error
 * does not list the forgotten outcomes. Call the function before you pass a failure to `netlib_attempts_next` if the
 * attempt has made progress, for example if a download has received bytes that no earlier attempt received. Redirects
 * still count, headers that a redirect dropped stay dropped, and a retry budget or the limit can still end the request.
 */
void netlib_attempts_reset_failures(netlib_attempts *attempts);

/** Returns the last decision. After `NETLIB_SEND_AGAIN`, the decision states the reason for the present attempt and the
 * wait before it. NULL before the first decision, and after a decision that failed. A wait that failed keeps its
 * decision. */
const netlib_decision *netlib_attempts_decision(const netlib_attempts *attempts);

/** Takes the outcome of the present attempt, and decides as `netlib_retry_decide`. If another attempt follows, waits as
 * `netlib_decision_sleep`, and begins it. An event loop calls `netlib_attempts_decide` instead. If the wait fails, the
 * getters describe the attempt for which the call has waited.
 *
 * `NETLIB_OK` and every failure end the request. After the end, a call with an error fails with this error, and counts
 * nothing: an exception handler can pass every error. After `NETLIB_OK`, reading the body can still fail. To let the
 * policy decide whether to send the request again, pass the response and the error of the body. To end the request,
 * pass only the error.
 * @param response the response. May be NULL: there was no response.
 * @param error the failure, which takes precedence over `response`. If `response` and `error` are passed, the request
 *        counts as sent. May be NULL: the request did not fail.
 * @return `NETLIB_SEND_AGAIN` if another attempt follows; `NETLIB_OK` if `response` is the result of the request; the
 *         failures of `netlib_retry_decide` and `netlib_decision_sleep`; `NETLIB_CLOSED` if the request has ended and
 *         `error` is NULL. `NETLIB_INVALID_ARGUMENT` if both parameters are NULL: the request has not ended.
 * @blocks if another attempt follows after a wait. The limit that was passed to `netlib_attempts_new` ends the wait. */
NETLIB_MUST_USE netlib_status netlib_attempts_next(netlib_attempts *attempts, const netlib_response *response,
                                                   const netlib_error *error, netlib_error **err);

/** Does what `netlib_attempts_next` does, but does not wait. After `NETLIB_SEND_AGAIN`, an event loop reads the delay
 * of the decision (`netlib_attempts_decision`, `netlib_decision_delay`), waits with a timer, and then sends the
 * request.
 * @param response the response. May be NULL: there was no response.
 * @param error the failure, as for `netlib_attempts_next`. May be NULL: the request did not fail.
 * @return `NETLIB_SEND_AGAIN`, `NETLIB_OK`, and the failures of `netlib_retry_decide`, as for `netlib_attempts_next`.
 * @blocks never, except in the swap callback of a store: see `netlib_retry_decide`. */
NETLIB_MUST_USE netlib_status netlib_attempts_decide(netlib_attempts *attempts, const netlib_response *response,
                                                     const netlib_error *error, netlib_error **err);

/* ==================================================================================================================
 * response: Response heads, and the framing and decoding of bodies.
 * ================================================================================================================== */

/** The maximum length of a response head in bytes. For `netlib_response_parse_final`, the maximum includes the heads of
 * the interim responses before the final head. A buffer of this size is large enough for every head: the parser
 * refuses an incomplete head that fills the buffer. */
enum NETLIB_INT32 { NETLIB_RESPONSE_HEAD_MAX = 262144 };

/** Body framings: the ways to find the end of a body. `netlib_response_framing` stores the framing of a response. */
enum netlib_body_framing NETLIB_INT32 {
    /** There is no body: the next response begins right after the head. */
    NETLIB_BODY_FRAMING_NONE = 0,
    /** The body has a known length. */
    NETLIB_BODY_FRAMING_LENGTH = 1,
    /** The body has the chunked transfer coding (RFC 9112 section 7.1). The last chunk is empty. */
    NETLIB_BODY_FRAMING_CHUNKED = 2,
    /** The body lasts until the peer closes the connection. */
    NETLIB_BODY_FRAMING_UNTIL_CLOSE = 3
};

/** A response: the head of an HTTP response, and the method of its request. The retry policy and the framing of the
 * body depend on both. **Immutable**. */
struct netlib_response;

/** Makes a response from the result of another HTTP parser, for the retry policy.
 * @param request_method the method of the request, a token such as "GET".
 * @param status the status code of the response, 100 to 999.
 * @param headers the response's headers.
 * @return `NETLIB_INVALID_ARGUMENT` for a method that is not a token, and for a status out of range. */
NETLIB_MUST_USE netlib_status netlib_response_new(const char *request_method, int32_t status,
                                                  const netlib_headers *headers, netlib_response **response,
                                                  netlib_error **err);

/** Parses a response head at the start of the received bytes, for HTTP/1.0 and HTTP/1.1 (RFC 9112 sections 4 and 5).
 *
 * While the head is incomplete, the call returns `NETLIB_WANT_READ`: receive more bytes, append them to the buffer,
 * and call again with the whole buffer. `state` records how much of the head the last call parsed, so that the next
 * call does not start over. Keep one `state` per buffer, initially 0. After every other result, `state` is 0 again,
 * ready for the next head. To read the response from a `netlib_stream`, call `netlib_stream_read_response` instead,
 * which needs no buffer and no loop. The following loop is for bytes from another source, here a descriptor without a
 * stream:
 *
 *     uint64_t state = 0;
 *     while ((status = netlib_response_parse("GET", buf, used, &state, &response, &head_len, &err)) ==
 *            NETLIB_WANT_READ) {
 *         ssize_t n = used < sizeof buf ? recv(fd, buf + used, sizeof buf - used, 0) : -1;
 *         if (n <= 0) break; // the end, an error, or a head larger than buf
 *         used += (size_t)n;
 *     }
 *
 * Until the empty line that ends the head has arrived, the call parses the status line only; errors in header fields
 * are reported once the head is complete. The body begins at `head_len`. A response with a status of 100 to 199,
 * except 101, is an interim response, such as 100 Continue or 103 Early Hints: another head begins at `head_len`. If
 * you do not need interim responses, call `netlib_response_parse_final` instead.
 *
 * The parser accepts lines that end with LF alone, up to 16 empty lines before the status line, a missing reason
 * phrase, any blanks around values, and folded lines, which it joins with a space. The parser refuses NUL, a CR
 * without LF, whitespace before a colon or before the first header, a line without a colon, a name that is no token,
 * more than 1000 fields or 2000 lines, and more than 256 KiB. Bytes that are not HTTP (a TLS alert, an SSH greeting)
 * are refused at the first such byte, without waiting for more.
 * @param request_method the method of the request, a token such as "GET".
 * @param head the bytes received so far.
 * @param len the number of bytes in `head`, or `NETLIB_NTS` for NUL-terminated text, whose length each call determines
 *        anew.
 * @param state in/out: 0 for a new head; otherwise the number that the last call stored for the same buffer, before
 *        more bytes were appended. The number is opaque. A call that returns `NETLIB_WANT_READ` stores a new number; a
 *        call with any other result stores 0. May be NULL: each call parses `head` from its start.
 * @param head_len out: the length of the head in bytes, including the empty line.
 * @param err the error's offset is the position of the defect in `head`.
 * @return `NETLIB_WANT_READ` while the head is incomplete; `NETLIB_PROTOCOL` if the bytes are not a response head;
 *         `NETLIB_INVALID_ARGUMENT` if the method is not a token, or if no call has stored this `state` for these
 *         bytes. If a wrong `state` is not detected, the response may be returned later, or the call may fail with
 *         `NETLIB_PROTOCOL`, but a response that is returned is correct.
 */
NETLIB_MUST_USE netlib_status netlib_response_parse(const char *request_method, const char *head, size_t len,
                                                    uint64_t *state, netlib_response **response, size_t *head_len,
                                                    netlib_error **err);

/** Parses the head of the final response, as `netlib_response_parse` does, and skips the heads of the interim responses
 * before it. A response is interim if its status is 100 to 199, except 101 (RFC 9110 section 15.2).
 *
 * At most 16 interim responses are skipped. The heads of the interim responses and of the final response have at most
 * 256 KiB together. The head of an interim response is refused for the same defects as the head of a final response.
 * The result is the response that repeated calls of `netlib_response_parse` return after the interim responses.
 * @param request_method the method of the request, a token such as "GET".
 * @param head the bytes received so far, including interim responses.
 * @param len the number of bytes in `head`, or `NETLIB_NTS` for NUL-terminated text, whose length each call determines
 *        anew.
 * @param state in/out: as for `netlib_response_parse`. Do not pass a `state` that `netlib_response_parse` stored to
 *        `netlib_response_parse_final`, or the reverse. May be NULL: each call parses `head` from its start.
 * @param head_len out: the length in bytes of all skipped heads and of the final head.
 * @param err the error's offset is the position of the defect in `head`.
 * @return `NETLIB_WANT_READ` while the head of the final response is incomplete; `NETLIB_PROTOCOL` if the bytes are
 *         not response heads, or for more than 16 interim responses; `NETLIB_INVALID_ARGUMENT` if the method is not a
 *         token, or if no call has stored this `state` for these bytes. If a wrong `state` is not detected, the
 *         response may be returned later, or the call may fail with `NETLIB_PROTOCOL`, but a response that is returned
 *         is correct.
 */
NETLIB_MUST_USE netlib_status netlib_response_parse_final(const char *request_method, const char *head, size_t len,
                                                          uint64_t *state, netlib_response **response,
                                                          size_t *head_len, netlib_error **err);

/** Returns another reference to the same response. */
NETLIB_MUST_USE netlib_response *netlib_response_clone(const netlib_response *response);

/** Releases a response. */
void netlib_response_free(netlib_response *response);

/** Returns the status code of a response: 100 to 999. */
int32_t netlib_response_status(const netlib_response *response);

/** Returns the headers of a response, in the order in which they were received. `netlib_headers_clone` makes a
 * reference that outlives the response. */
const netlib_headers *netlib_response_headers(const netlib_response *response);

/** Returns the method of the request to which the response belongs, unchanged. */
const char *netlib_response_request_method(const netlib_response *response, size_t *len);

/** Returns the reason phrase, which is the text after the status code. Use the status code instead of the reason phrase
 * to make decisions: a server may send any text. The bytes need not be UTF-8. The result is "" when the server sent no
 * reason phrase, and NULL when the response was made by `netlib_response_new`. */
const char *netlib_response_reason(const netlib_response *response, size_t *len);

/** Returns the minor version of HTTP/1 that the server sent, 0 or 1; -1 when the response was made by
 * `netlib_response_new`, and for NULL. */
int32_t netlib_response_minor_version(const netlib_response *response);

/** Returns the Location of a response with the status 301, 302, 303, 307 or 308: a URL reference, which
 * `netlib_url_resolve` resolves. Returns NULL for any other status, and if the Location is absent or empty. The text
 * is always UTF-8: bytes that are not UTF-8, which older servers send, are percent-encoded, so that the next request
 * returns the same bytes to the server. Several Location headers are joined with ", ". */
const char *netlib_response_redirect_location(const netlib_response *response, size_t *len);

/** Determines how to find the end of a response's body (RFC 9112 section 6.3).
 *
 * A response has no body if the request's method is HEAD, or if the status is 100 to 199, 204 or 304. A response to
 * CONNECT with a status of 200 to 299 has no body either: the connection is then a tunnel. Methods are case-sensitive:
 * "head" is not HEAD. The rules for the method and the status take precedence over the headers Transfer-Encoding and
 * Content-Length. If there is a Transfer-Encoding whose last coding is chunked, the body comes in chunks; with another
 * last coding, the body lasts until the peer closes the connection. A Content-Length is ignored if there is a
 * Transfer-Encoding. Without a Transfer-Encoding, Content-Length is the length of the body. Without Transfer-Encoding
 * and Content-Length, the body lasts until the peer closes the connection. `netlib_body_decoder_decode` finds the end
 * of the body, and `netlib_response_keeps_alive` tells whether the connection can be used again.
 *
 * A Transfer-Encoding that is not a valid list of codings (RFC 9112 section 7) is refused, because an intermediary may
 * find "chunked" in the invalid list. For example, a list is invalid if a name is empty or not a token, if a parameter
 * has no value, or if a quote is not terminated.
 * @param length out: the length of the body in bytes if `framing` is `NETLIB_BODY_FRAMING_LENGTH`, else -1.
 * @return `NETLIB_PROTOCOL` if there are different Content-Length values, if a Content-Length is not a number or does
 *         not fit an int64_t, if Transfer-Encoding is not a valid list of codings, or if chunked has a parameter or is
 *         not the last coding. After `NETLIB_PROTOCOL`, nothing more can be read from the connection.
 */
NETLIB_MUST_USE netlib_status netlib_response_framing(const netlib_response *response,
                                                      enum netlib_body_framing *framing, int64_t *length,
                                                      netlib_error **err);

/** Checks the response of a proxy to CONNECT: a status of 200 to 299 opens a tunnel (RFC 9110 section 9.3.6).
 *
 * The bytes after the head of a response that opens a tunnel belong to the tunnel; a Content-Length or
 * Transfer-Encoding is ignored. If the protocol inside the tunnel is TLS, in which the client sends first, refuse such
 * bytes, as `netlib_tls_wrap_stream` does: the proxy or an attacker has sent them.
 *
 * `netlib_error_http_status` returns the status code of a refused response. For a status of 500 or more, the error has
 * the retry kind `NETLIB_RETRY_KIND_CONNECT`, because the proxy may reach the server later. For any other status, the
 * error has the retry kind `NETLIB_RETRY_KIND_OTHER`. For 407, the error's advice names the function that sets the
 * credentials.
 * @param response the final response: see `netlib_response_parse_final`.
 * @return `NETLIB_PROXY_FAILED` for a status other than 200 to 299; `NETLIB_INVALID_ARGUMENT` if the request's method
 *         is not CONNECT.
 */
NETLIB_MUST_USE netlib_status netlib_response_check_tunnel(const netlib_response *response, netlib_error **err);

/** Returns 1 if the request's method is HEAD, compared case-insensitively as in urllib3, else 0. To find the end of the
 * body, use `netlib_response_framing`, which compares methods case-sensitively. */
int32_t netlib_is_response_to_head(const netlib_response *response);

/* ---- The bodies of responses, and whether a connection can be used again. ---- */

/** A body decoder: finds the body of a response in the bytes that follow the head. **One call at a time**. The decoder
 * finds the end of the body as `netlib_response_framing` describes, and removes the chunked transfer coding (RFC 9112
 * section 7.1), but no other coding, such as gzip. To read a body from a stream, call `netlib_stream_read_body`. To
 * decode bytes that you have received yourself, call `netlib_body_decoder_decode`, as in the following loop. The bytes
 * from `buf + start` to `buf + end` are received and not decoded; at first, these are the bytes after the head.
 *
 *     do {
 *         status = netlib_body_decoder_decode(decoder, buf + start, end - start, &consumed, &body, &body_len, &err);
 *         start += consumed;
 *         if (status == NETLIB_OK) {
 *             if (fwrite(body, 1, body_len, file) != body_len) break;
 *         } else if (status == NETLIB_WANT_READ) {
 *             start = 0;
 *             status = netlib_stream_read(stream, buf, sizeof buf, &end, &err);
 *             if (status == NETLIB_END_OF_STREAM) status = netlib_body_decoder_end(decoder, &err);
 *         }
 *     } while (status == NETLIB_OK);
 *
 * If `status` is then `NETLIB_END_OF_STREAM`, the body is complete, and the bytes from `buf + start` to `buf + end`
 * follow the body. Receive more bytes only after `NETLIB_WANT_READ`: after the last piece of a body, the peer sends
 * nothing, and a read would wait.
 *
 * The chunked transfer coding is decoded strictly. The decoder refuses a chunk size with a sign, with "0x", with more
 * than 16 digits or above `INT64_MAX`; whitespace in a chunk-size line, except in a quoted string, although RFC 9112
 * section 7.1.1 tolerates whitespace around ";" and "="; a CR without LF; and an LF without CR, unless
 * `netlib_body_decoder_set_allow_bare_lf` allows it. Chunk extensions are checked and dropped. In a trailer, the
 * decoder refuses folded lines, control characters, and the following fields, which a recipient needs before the body
 * (RFC 9110 section 6.5.1):
 *
 * - framing and connection: Connection, Content-Length, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding,
 *   Upgrade
 * - routing: Host, Max-Forwards
 * - authentication: Authorization, Cookie, Proxy-Authenticate, Proxy-Authorization, Set-Cookie, WWW-Authenticate
 * - conditions and other request controls: Expect, If-Match, If-Modified-Since, If-None-Match, If-Range,
 *   If-Unmodified-Since, Pragma, Range
 * - response controls: Age, Cache-Control, Expires, Location, Retry-After, Vary
 * - content: Content-Encoding, Content-Range, Content-Type
 *
 * `netlib_body_decoder_decode` fails with `NETLIB_PROTOCOL` for these trailer fields. */
struct netlib_body_decoder;

/** Makes a decoder for the body of a response.
 * @return `NETLIB_PROTOCOL` for the same responses as `netlib_response_framing`. */
NETLIB_MUST_USE netlib_status netlib_body_decoder_new(const netlib_response *response, netlib_body_decoder **decoder,
                                                      netlib_error **err);

/** Releases a body decoder. */
void netlib_body_decoder_free(netlib_body_decoder *decoder);

/** Sets the limits of a chunked body. Default: 4096 for `max_size_line`, 16384 for `max_trailer` and 100 for
 * `max_trailer_fields`. A limit applies to the bytes that are decoded after this call. If the peer exceeds a limit,
 * `netlib_body_decoder_decode` fails with `NETLIB_PROTOCOL`.
 *
 * A further limit, which cannot be changed, bounds the chunk-size lines of the whole body. Each chunk-size line adds
 * its length to a sum. The chunk then subtracts 16 bytes and twice the length of its data, but the sum never falls
 * below 0. The sum may be at most 16,384 bytes, or `max_size_line` if that is more.
 * @param max_size_line the maximum number of bytes in a chunk-size line, including chunk extensions and without the
 *        line end; 1 to 65536.
 * @param max_trailer the maximum number of bytes in the trailer, including the empty line at its end; 2 to 262144.
 * @param max_trailer_fields the maximum number of trailer fields; 0 to 1000.
 * @return `NETLIB_INVALID_ARGUMENT` for a limit out of range. */
NETLIB_MUST_USE netlib_status netlib_body_decoder_set_limits(netlib_body_decoder *decoder, size_t max_size_line,
                                                             size_t max_trailer, size_t max_trailer_fields,
                                                             netlib_error **err);

/** Sets the maximum size of the body. By default, there is no maximum. Every function that decodes a larger body fails
 * with `NETLIB_TOO_MUCH_DATA`: the first call if the Content-Length is larger, otherwise the call that finds the first
 * byte above the maximum. `netlib_stream_read_whole_body` and `netlib_stream_discard_body` lower the maximum.
 * @param max_size the maximum number of bytes of the whole body, 0 or more.
 * @return `NETLIB_INVALID_ARGUMENT` for a negative number. */
NETLIB_MUST_USE netlib_status netlib_body_decoder_set_max_size(netlib_body_decoder *decoder, int64_t max_size,
                                                               netlib_error **err);

/** Sets whether LF without CR may end a chunk-size line, the data of a chunk or a trailer line. Default: 0, because an
 * intermediary that does not accept LF as a line end would find the end of the body in another place.
 * @param allow 0 or 1. The value applies to the bytes that are decoded after this call.
 * @return `NETLIB_INVALID_ARGUMENT` if `allow` is neither 0 nor 1. */
NETLIB_MUST_USE netlib_status netlib_body_decoder_set_allow_bare_lf(netlib_body_decoder *decoder, int32_t allow,
                                                                    netlib_error **err);

/** Finds the next piece of the body in received bytes. The call copies no bytes of the body: `body` points into `data`.
 *
 * With `NETLIB_OK`, the piece has at least one byte; with any other status, there is no piece. A piece ends at the end
 * of a chunk, at the end of the body or at the end of `data`. The call stores its outputs if it returns `NETLIB_OK`,
 * `NETLIB_WANT_READ` or `NETLIB_END_OF_STREAM`. Every call after a failure fails with the same error.
 * @param data the received bytes that no earlier call has consumed.
 * @param consumed out: the number of bytes at the start of `data` that the caller must not pass again; all bytes, if
 *        the status is `NETLIB_WANT_READ`.
 * @param body out: the piece of the body, which ends at `data + consumed` and is valid as long as `data`. NULL unless
 *        the status is `NETLIB_OK`.
 * @param body_len out: the length of the piece in bytes.
 * @param err the error's offset is the position of the defect, counted from the first byte after the head.
 * @return `NETLIB_OK` with a piece of the body: call again with the bytes after `consumed`; `NETLIB_WANT_READ` if more
 *         bytes are needed: receive them, or, if the peer has closed the connection, call `netlib_body_decoder_end`;
 *         `NETLIB_END_OF_STREAM` when the body is complete: the bytes after `consumed` do not belong to the body;
 *         `NETLIB_PROTOCOL` if the chunked transfer coding is malformed, exceeds a limit, or has a refused trailer
 *         field, and after such a failure; `NETLIB_TOO_MUCH_DATA` if the body is larger than
 *         `netlib_body_decoder_set_max_size` allows;
 *         `NETLIB_INCOMPLETE_READ` after `netlib_body_decoder_end` has returned this status.
 */
NETLIB_MUST_USE netlib_status netlib_body_decoder_decode(netlib_body_decoder *decoder, const void *data, size_t len,
                                                         size_t *consumed, const uint8_t **body, size_t *body_len,
                                                         netlib_error **err);

/** Tells the decoder that the peer has closed the connection. If the body lasts until the peer closes the connection,
 * the body is then complete.
 *
 * Do not call the function after `NETLIB_TLS_TRUNCATED` or another error of a stream: an attacker may have shortened
 * the body.
 * @return `NETLIB_OK` if the body is complete; `NETLIB_INCOMPLETE_READ` if a part of the body is missing;
 *         `NETLIB_PROTOCOL` and `NETLIB_TOO_MUCH_DATA` if an earlier call failed with this status.
 */
NETLIB_MUST_USE netlib_status netlib_body_decoder_end(netlib_body_decoder *decoder, netlib_error **err);

/** Returns 1 if the body is complete and no call has failed, else 0. If the response has no body, the result is 1 from
 * the start. */
int32_t netlib_body_decoder_is_done(const netlib_body_decoder *decoder);

/** Returns the trailer fields, which follow the last chunk of a body; an empty list if the body is complete and has no
 * trailer fields; NULL if the body is not complete. Do not merge trailer fields into the response's headers: a server
 * can send a field in the trailer that an intermediary checks only in the head. A server may omit trailer fields
 * unless the request contains `TE: trailers` (RFC 9110 section 6.5.1). */
const netlib_headers *netlib_body_decoder_trailers(const netlib_body_decoder *decoder);

/** Returns the number of bytes of the body that have been decoded: those that functions have returned or discarded, and
 * those that `netlib_stream_read_whole_body` keeps. */
int64_t netlib_body_decoder_bytes_decoded(const netlib_body_decoder *decoder);

/** Returns the number of bytes that are left of a body with Content-Length; 0 for a complete body; -1 for any other
 * body, and for NULL. */
int64_t netlib_body_decoder_bytes_left(const netlib_body_decoder *decoder);

/** Returns 1 if the next request may be sent on the connection of a response, else 0 (RFC 9112 section 9.3). Call the
 * function after the body was read. Close the connection if the result is 0.
 *
 * The result is 1 if the server keeps the connection open, and the end of the response is unambiguous:
 *     - The Connection headers do not contain `close`, and are lists of tokens.
 *     - The version is HTTP/1.1, or a Connection header contains `keep-alive`. A response from `netlib_response_new`
 *       has no version, and counts as HTTP/1.0.
 *     - The status is at least 200, and the response does not turn the connection into a tunnel (CONNECT).
 *     - The body does not last until the peer closes the connection, and is decoded completely and without an error.
 *     - No header makes the end of the response ambiguous: there is no Transfer-Encoding together with a
 *       Content-Length, no Transfer-Encoding in HTTP/1.0, no Transfer-Encoding or Content-Length that
 *       `netlib_response_framing` refuses, and no announced body for the status 204. This rule also applies to
 *       responses without a body.
 *
 * The function does not know whether the request contained `Connection: close`, or whether the peer has closed the
 * connection after the response: see `netlib_stream_is_dropped`, or `netlib_is_connection_dropped` for a descriptor
 * without a stream. Both also report bytes that follow the body: close the connection then, unless another request is
 * pending.
 * @param decoder the decoder that was made from this response. May be NULL: a body that is not empty then counts as
 *        unread.
 */
int32_t netlib_response_keeps_alive(const netlib_response *response, const netlib_body_decoder *decoder);

/* ---- Ranges: continuing a download that was interrupted. ---- */

/** Reads the Content-Range of a response (RFC 9110 section 14.4). A response with the status 206 (Partial Content)
 * states the bytes that it sends; a response with the status 416 (Range Not Satisfiable) states the length of the
 * representation. Positions count from 0.
 * @param first out: the position of the first byte that the body contains; -1 if the response has no Content-Range,
 *        or if its range is "*", as for the status 416.
 * @param last out: the position of the last byte that the body contains; -1 if `first` is -1.
 * @param total out: the number of bytes of the whole representation; -1 if it is unknown.
 * @return `NETLIB_INVALID_HEADER` if the Content-Range is malformed, has a unit other than bytes, or occurs more than
 *         once.
 */
NETLIB_MUST_USE netlib_status netlib_response_content_range(const netlib_response *response, int64_t *first,
                                                            int64_t *last, int64_t *total, netlib_error **err);

/** Returns the value for the header If-Range, with which a server sends the rest of a representation only if the
 * representation has not changed (RFC 9110 section 13.1.5). This is the ETag if it is strong. Without an ETag, it is
 * Last-Modified, if it is at least 60 seconds before Date. Otherwise, and for a weak ETag, the result is NULL: the
 * download cannot be continued safely. */
const char *netlib_response_range_validator(const netlib_response *response, size_t *len);

/** Returns 1 if the body of a response continues the body of an earlier response at a position, else 0. To continue a
 * download, send Range with "bytes=OFFSET-", and If-Range with the result of `netlib_response_range_validator` for the
 * earlier response. If this function then returns 0, do not append the body. A response with the status 200 contains
 * the whole representation: the representation has changed, or the server ignores Range. With the status 416, the
 * download is complete if the total length that `netlib_response_content_range` finds equals `offset`.
 *
 * The result is 1 if all of the following hold:
 *     - The status is 206, and the Content-Range begins at `offset`.
 *     - The length of the body, if it is known, is the number of bytes in the Content-Range.
 *     - The total lengths, if both responses state them, are equal.
 *     - Both responses have the same ETag. If neither has one, their Last-Modified are the same, or the second
 *       response has none.
 *
 * The server may send fewer bytes than are left: continue again after the last byte of the Content-Range.
 * @param response the response to the request with Range.
 * @param earlier any response of this download whose body has been kept.
 * @param offset the number of bytes of the representation that have arrived. */
int32_t netlib_response_resumes(const netlib_response *response, const netlib_response *earlier, int64_t offset);

/* ==================================================================================================================
 * body: Request bodies that can be rewound.
 * ================================================================================================================== */

/** The body of a request. **One call at a time**. Before you send a body for the first time, record its position with
 * `netlib_set_file_position(body, NETLIB_POSITION_NONE, &pos, &err)`. Before you send the body again, after a redirect
 * or for a retry, move it back to that position with `netlib_rewind_body(body, pos, &err)`, which fails if the body
 * cannot be moved back. */
struct netlib_body;

/** Reads from an application-defined body (`netlib_body_new`). The callback is called only during `netlib_body_read`,
 * on the thread of that call. If the callback makes a call on the same body, that call fails with `NETLIB_BUSY`.
 * @param buf the buffer to fill; its bytes are not initialised.
 * @param len the size of `buf` in bytes, at least 1.
 * @param n out: the number of bytes stored in `buf`, at most `len`; 0 at the end of the body. netlib sets `*n` to
 *        `SIZE_MAX` before the call, and the callback must store a number if it returns 0.
 * @return 0 on success; any other number on failure. If the callback fails, or returns 0 without storing `n`,
 *         `netlib_body_read` fails with `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_body_read`. */
typedef int32_t (*netlib_body_read_fn)(void *ctx, void *buf, size_t len, size_t *n);

/** Stores the read position of an application-defined body (`netlib_body_new`). The callback is called only during
 * `netlib_set_file_position`, on the thread of that call. If the callback makes a call on the same body, that call
 * fails with `NETLIB_BUSY`.
 * @param pos out: the position in bytes from the start of the body, 0 or more. netlib presets `pos` to `INT64_MIN`,
 *        and the callback must store a value.
 * @return 0 on success; any other number if the position is unknown. If the callback does not return 0, or returns 0
 *         without storing `pos`, `netlib_set_file_position` stores `NETLIB_POSITION_FAILED` in `out_pos`.
 * @called-by `netlib_set_file_position`. */
typedef int32_t (*netlib_body_tell_fn)(void *ctx, int64_t *pos);

/** Moves an application-defined body (`netlib_body_new`) to a position. The callback is called only during
 * `netlib_rewind_body` and `netlib_set_file_position`, on the thread of that call. If the callback makes a call on the
 * same body, that call fails with `NETLIB_BUSY`.
 * @param pos the position in bytes from the start of the body, 0 or more.
 * @param outcome out: `NETLIB_OUTCOME_DONE` once the body is at `pos`. netlib presets `outcome` to
 *        `NETLIB_OUTCOME_FAILED`. Every value except `NETLIB_OUTCOME_DONE` means failure, which netlib reports as
 *        `NETLIB_UNREWINDABLE_BODY`.
 * @called-by `netlib_set_file_position` and `netlib_rewind_body`. */
typedef void (*netlib_body_seek_fn)(void *ctx, int64_t pos, enum netlib_outcome *outcome);

/** Stores whether an application-defined body (`netlib_body_new`) has been closed. The callback is called only during
 * `netlib_is_fp_closed`, on the thread of that call. If the callback makes a call on the same body, that call fails
 * with `NETLIB_BUSY`.
 * @param closed out: 1 if the body is closed, else 0. netlib presets `closed` to -1, and the callback must store a
 *        value.
 * @return 0 on success; any other number on failure. If the callback fails, or returns 0 without storing `closed`,
 *         `netlib_is_fp_closed` fails with `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_is_fp_closed`. */
typedef int32_t (*netlib_body_is_closed_fn)(void *ctx, int32_t *closed);

/** Makes a body from a copy of bytes in memory. The body's position is at its start.
 * @return `NETLIB_OK`. */
NETLIB_MUST_USE netlib_status netlib_body_from_memory(const void *data, size_t len, netlib_body **body,
                                                      netlib_error **err);

/** Makes a body that is read from a file, a pipe or a socket, beginning at the descriptor's current position. Reading
 * and rewinding the body moves the descriptor's position; netlib changes nothing else about the descriptor.
 * @param fd an open descriptor, borrowed: keep it open while the body is used, and close it afterwards.
 * @param body out: the body; `netlib_body_free` does not close `fd`.
 * @return `NETLIB_INVALID_ARGUMENT` for a negative descriptor. */
NETLIB_MUST_USE netlib_status netlib_body_from_fd(int fd, netlib_body **body, netlib_error **err);

/** Makes an application-defined body, which the application's callbacks read and move.
 * @param read reads the body.
 * @param tell stores the position of the body. May be NULL: `netlib_set_file_position` records `NETLIB_POSITION_NONE`.
 * @param seek moves the body. May be NULL: the body cannot be rewound.
 * @param is_closed stores whether the body is closed. May be NULL: `netlib_is_fp_closed` fails.
 * @param ctx_free is called once: when the body is freed; if the function fails, before the function returns. May be
 *        NULL: `ctx` must stay usable until the body is freed.
 * @param body out: the body; `netlib_body_free` calls no callback except `ctx_free`.
 * @return `NETLIB_OK`. */
NETLIB_MUST_USE netlib_status netlib_body_new(netlib_body_read_fn read, netlib_body_tell_fn tell,
                                              netlib_body_seek_fn seek, netlib_body_is_closed_fn is_closed, void *ctx,
                                              netlib_ctx_free_fn ctx_free, netlib_body **body, netlib_error **err);

/** Releases a body. The descriptor of a body from `netlib_body_from_fd` stays open. */
void netlib_body_free(netlib_body *body);

/** Sets the limit that ends reads of a body, and keeps a reference to the limit. Later reads obey the limit. Default:
 * no limit, so that a read from a blocking descriptor, such as a pipe, may wait without bound.
 *
 * With a limit, netlib polls a blocking descriptor before it reads from the descriptor. Make sure that no other code
 * reads from the descriptor between the poll and the read. After the limit has ended, netlib no longer calls the read
 * callback, but the limit does not interrupt a running callback. */
void netlib_body_set_limit(netlib_body *body, const netlib_limit *limit);

/** Reads the next bytes of a body. If the body's descriptor is blocking, the call waits for data, at most until the
 * limit of `netlib_body_set_limit` ends; a signal ends the wait only if the limit has an interrupt check
 * (`netlib_limit_new_interruptible`) that stops the wait.
 * @param len the size of `buf` in bytes; with 0, nothing is read, and the call returns `NETLIB_OK`.
 * @param n out: the number of bytes read, which may be less than `len` even before the end of the body.
 * @return `NETLIB_END_OF_STREAM` at the end of the body; `NETLIB_WANT_READ` when a non-blocking descriptor has no data
 *         yet; `NETLIB_IO`, with errno; `NETLIB_CALLBACK_FAILED`; `NETLIB_CANCELLED` and `NETLIB_DEADLINE_EXCEEDED`
 *         when the limit has ended: the body can still be read later.
 * @blocks if no data has arrived. The body's limit ends the wait, but does not interrupt the read callback. */
NETLIB_MUST_USE netlib_status netlib_body_read(netlib_body *body, void *buf, size_t len, size_t *n,
                                               netlib_error **err);

/** Stores the number of bytes of a body that are left to read: the Content-Length of a request that sends the body from
 * its present position.
 * @param length out: the number of bytes; -1 when the length is unknown, as for a pipe or an application-defined body.
 * @return `NETLIB_IO`, with errno. */
NETLIB_MUST_USE netlib_status netlib_body_length(netlib_body *body, int64_t *length, netlib_error **err);

/** Records the position of a body, or moves the body to a position as `netlib_rewind_body` does.
 * @param pos a position in bytes from the start of the body, to move the body there; or `NETLIB_POSITION_NONE`, to
 *        record the position.
 * @param out_pos out: after a move, `pos`; otherwise the recorded position, which you later pass to
 *        `netlib_rewind_body`. If no position was recorded, the value is `NETLIB_POSITION_FAILED` (the body could not
 *        report its position) or `NETLIB_POSITION_NONE` (the body has no `tell` callback).
 * @return `NETLIB_OK`, even when no position could be recorded, because most bodies are sent only once;
 *         `NETLIB_UNREWINDABLE_BODY` when the body cannot be moved to `pos`, or `pos` is `NETLIB_POSITION_FAILED`;
 *         `NETLIB_INVALID_ARGUMENT` for any other negative `pos`; `NETLIB_CALLBACK_FAILED` if `tell` stored a negative
 *         position.
 */
NETLIB_MUST_USE netlib_status netlib_set_file_position(netlib_body *body, int64_t pos, int64_t *out_pos,
                                                       netlib_error **err);

/** Moves a body back to a recorded position, so that it can be sent again.
 * @param pos the position that `netlib_set_file_position` recorded. At a position beyond the end of the memory or the
 *        file, there is nothing to read.
 * @return `NETLIB_UNREWINDABLE_BODY` when the body cannot be moved, and for `NETLIB_POSITION_NONE` and
 *         `NETLIB_POSITION_FAILED`, which mean that no position was recorded; `NETLIB_INVALID_ARGUMENT` for any other
 *         negative `pos`.
 */
NETLIB_MUST_USE netlib_status netlib_rewind_body(netlib_body *body, int64_t pos, netlib_error **err);

/* ---- Chunks of request bodies. ---- */

/** The number of bytes before the data in the buffer that is passed to `netlib_chunk_encode`. */
enum NETLIB_INT32 { NETLIB_CHUNK_PREFIX_SIZE = 18 };

/** The number of bytes after the data in the buffer that is passed to `netlib_chunk_encode`. */
enum NETLIB_INT32 { NETLIB_CHUNK_SUFFIX_SIZE = 2 };

/** Encodes data as a chunk of a request body with the header `Transfer-Encoding: chunked` (RFC 9112 section 7.1). The
 * data begins at `buf + NETLIB_CHUNK_PREFIX_SIZE` and is not moved: the call stores the chunk-size line before the
 * data, and a CRLF after the data. Send a body of unknown length like this:
 *
 *     char buf[NETLIB_CHUNK_PREFIX_SIZE + 16384 + NETLIB_CHUNK_SUFFIX_SIZE];
 *     const uint8_t *chunk;
 *     size_t n, len;
 *     while ((status = netlib_body_read(body, buf + NETLIB_CHUNK_PREFIX_SIZE, 16384, &n, &err)) == NETLIB_OK) {
 *         status = netlib_chunk_encode(buf, sizeof buf, n, &chunk, &len, &err);
 *         if (status == NETLIB_OK) status = netlib_stream_write(stream, chunk, len, &n, &err);
 *         if (status != NETLIB_OK) return status;
 *     }
 *     if (status == NETLIB_END_OF_STREAM) status = netlib_chunk_encode_last(NULL, buf, sizeof buf, &len, &err);
 *     if (status == NETLIB_OK) status = netlib_stream_write(stream, buf, len, &n, &err);
 *
 * If `data_len` is 0, there is nothing to send, because an empty chunk would end the body.
 * @param size the size of `buf` in bytes, at least `NETLIB_CHUNK_PREFIX_SIZE` + `data_len` +
 *        `NETLIB_CHUNK_SUFFIX_SIZE`.
 * @param data_len the length of the data in bytes.
 * @param chunk out: the bytes to send, inside `buf`.
 * @param chunk_len out: the number of bytes to send; 0 if `data_len` is 0.
 * @return `NETLIB_INVALID_ARGUMENT` if `size` is too small. */
NETLIB_MUST_USE netlib_status netlib_chunk_encode(void *buf, size_t size, size_t data_len, const uint8_t **chunk,
                                                  size_t *chunk_len, netlib_error **err);

/** Encodes the end of a chunked request body (RFC 9112 section 7.1): the last chunk, which is empty; the trailer; and
 * the empty line that ends the body.
 * @param trailers the trailer fields. May be NULL: the body has no trailer. Fields that a trailer must not contain are
 *        refused; the comment of struct netlib_body_decoder lists them. Values with control characters, except tabs,
 *        are also refused.
 * @param size the size of `buf` in bytes: at least 5, plus the length of the text that `netlib_headers_to_wire`
 *        returns for the trailer fields.
 * @param len out: the number of bytes to send, which begin at `buf`.
 * @param err the error's offset is the position of the control character in the value that the error message names.
 * @return `NETLIB_INVALID_ARGUMENT` if `size` is too small; `NETLIB_INVALID_HEADER` for a field that a trailer must
 *         not contain, and for a control character in a value.
 */
NETLIB_MUST_USE netlib_status netlib_chunk_encode_last(const netlib_headers *trailers, void *buf, size_t size,
                                                       size_t *len, netlib_error **err);

/* ==================================================================================================================
 * socket: Connecting, and waiting for descriptors.
 * ================================================================================================================== */

/** Connects a TCP socket to a host. The call tries the host's addresses one after the other, in the order of
 * getaddrinfo(3), until a connection is made; `netlib_connect_run` races the addresses instead. At most 64 addresses
 * are tried; the error message states how many addresses the host has.
 *
 * The connected socket is blocking, has no timeout set on it, and is closed by exec. Name lookup and connecting obey
 * `limit`: when the limit ends, the call returns at once, even if the resolver or the peer hangs. With `limit`, or
 * with a total limit in the options (`netlib_connect_options_use_timeout`), the lookup runs on a separate thread,
 * which blocks signals. If a limit ends during the lookup, the thread finishes the lookup after the call has returned.
 * Without any limit, the lookup runs on the calling thread. At most 64 lookup threads run in a process: further
 * lookups wait in a queue until a thread is free, or until a limit of their call ends. TCP allows a socket to connect
 * to itself if no process listens on the port; netlib treats such a connection as refused.
 * @param host a name (RFC 1123; an internationalised name is converted by UTS 46), an IPv4 address, or an IPv6 address
 *        with or without brackets.
 * @param port the port, 0 to 65535.
 * @param fd out: the connected socket; -1 on failure.
 * @param err the error message names the host and the port. The error has one cause for each address tried, including
 *        an attempt that a limit ended, with the address, the errno and the duration of the attempt.
 * @return `NETLIB_NAME_RESOLUTION`, with the resolver's code; `NETLIB_ADDRESS_REFUSED` if the options refuse every
 *         address; `NETLIB_CONNECT_TIMEOUT` if the attempt for the last allowed address timed out, or if the total
 *         limit of the options passed; `NETLIB_CONNECT_FAILED` if the attempt for the last allowed address failed for
 *         another reason, or if the system has no descriptor or thread left (with an errno such as `EMFILE`);
 *         `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_URL` for an
 *         invalid host, for example with an empty label or a label of more than 63 bytes; `NETLIB_INVALID_ARGUMENT`
 *         for a port or an option out of range; `NETLIB_UNSUPPORTED` for an option that the operating system does not
 *         have; `NETLIB_INVALID_UTF8`; `NETLIB_CALLBACK_FAILED` if the address callback or the resolve callback
 *         failed; any failure status that the resolve callback returns.
 */
NETLIB_MUST_USE netlib_status netlib_create_connection(const char *host, int32_t port,
                                                       const netlib_connect_options *options,
                                                       const netlib_limit *limit, int *fd, netlib_error **err);

/* ---- Connect options. ---- */

/** The families of the addresses to connect to: see `netlib_connect_options_set_address_family`. */
enum netlib_address_family NETLIB_INT32 {
    /** IPv4 and IPv6. */
    NETLIB_ADDRESS_FAMILY_ANY = 0,
    /** Only IPv4. */
    NETLIB_ADDRESS_FAMILY_IPV4 = 1,
    /** Only IPv6. */
    NETLIB_ADDRESS_FAMILY_IPV6 = 2
};

/** Settings for connecting to a host or to a Unix domain socket. **One call at a time**. */
struct netlib_connect_options;

/** Makes connect options that hold the defaults.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_connect_options *netlib_connect_options_new(void);

/** Returns an independent copy of the options. */
NETLIB_MUST_USE netlib_connect_options *netlib_connect_options_clone(const netlib_connect_options *options);

/** Checks, as `netlib_connect_new` and `netlib_create_connection` do, that no setter has recorded an error. The system
 * checks the source address, the interface and the added socket options later, at each connection attempt.
 * @return `NETLIB_INVALID_ARGUMENT` for a value out of range; `NETLIB_INVALID_URL` for an invalid source address;
 *         `NETLIB_UNSUPPORTED` for an option that the operating system does not have; `NETLIB_INVALID_UTF8`;
 *         `NETLIB_CALLBACK_FAILED` if the clock function of the timeout failed during
 *         `netlib_connect_options_use_timeout`.
 */
NETLIB_MUST_USE netlib_status netlib_connect_options_check(const netlib_connect_options *options, netlib_error **err);

/** Releases options. */
void netlib_connect_options_free(netlib_connect_options *options);

/** Sets the connect timeout: the time limit for connecting to each address. The time of the name lookup is not
 * included, and `netlib_create_connection`, which tries one address after the other, may take three times as long for
 * a host with three addresses. To bound the whole operation, use a `netlib_limit`.
 * @param timeout in seconds, 0 or more; `NETLIB_TIMEOUT_DEFAULT`, the default, for the process default at the time of
 *        connecting; `NETLIB_TIMEOUT_NONE` to wait as long as the system tries.
 */
void netlib_connect_options_set_timeout(netlib_connect_options *options, double timeout);

/** Copies the limits of a `netlib_timeout`. The connect limit becomes the connect timeout (see
 * `netlib_connect_options_set_timeout`); with a total limit, a connect limit of `NETLIB_TIMEOUT_DEFAULT` stands for
 * `NETLIB_TIMEOUT_NONE`. The total limit bounds the whole connect operation, name lookup included: when the total
 * limit has passed, connecting fails with `NETLIB_CONNECT_TIMEOUT`. Default: no total limit.
 *
 * If `netlib_timeout_start_connect` has started the clock of `timeout`, the time that has already passed counts
 * towards the total limit, and the rest of the total limit begins with this call. Otherwise, the total limit begins
 * with the start of each connect operation. In both cases, netlib uses the system's clock to measure the time that is
 * left, even if `timeout` has a clock function. Later changes of `timeout` have no effect.
 * @param timeout the limits. Only `netlib_stream_connect` uses the read limit: it becomes the read timeout of the
 *        stream.
 */
void netlib_connect_options_use_timeout(netlib_connect_options *options, const netlib_timeout *timeout);

/** Sets the family of the addresses to connect to. A name lookup asks only for addresses of this family. netlib skips
 * an address of another family, whether the host is that address, the resolve callback returns it, or an address list
 * contains it. If no address is left, connecting fails with `NETLIB_NAME_RESOLUTION`. Unix domain sockets are not
 * affected.
 * @param family the default is `NETLIB_ADDRESS_FAMILY_ANY`. */
void netlib_connect_options_set_address_family(netlib_connect_options *options, enum netlib_address_family family);

/** Sets the local address and port to which sockets are bound. By default, the system chooses the local address and
 * port. A connection attempt fails if the family of its address is not that of the local address. Connections to Unix
 * domain sockets ignore the setting.
 *
 * With a fixed local port, only one connection at a time to each remote address and port is possible. All attempts of
 * a race use this port: netlib sets `SO_REUSEADDR`, so that several sockets can be bound to it.
 * @param host an address or name of the local machine; with "", the system chooses the address.
 * @param port the local port, 0 to 65535; with 0, the system chooses the port. */
void netlib_connect_options_set_source_address(netlib_connect_options *options, const char *host, int32_t port);

/** Sets the network interface to which connections are bound, regardless of the routing table: `SO_BINDTODEVICE`, or
 * `IP_BOUND_IF` on systems that have it. Name lookups are not bound to the interface. By default, the routing table
 * determines the interface.
 *
 * Before a TCP socket is bound and connected, netlib sets the socket options in this order: the interface, no-delay,
 * keep-alive, the user timeout, and then the options of `netlib_connect_options_add_socket_option`. If the system
 * refuses an option, the connection attempt fails; the error names the option and has the errno: `ENODEV` for a
 * missing interface, `EPERM` if binding to an interface needs a privilege (before Linux 5.7).
 * @param name the interface's name, as if_nameindex(3) lists it, 1 to 15 bytes. On systems that cannot bind a socket
 *        to an interface, connecting fails with `NETLIB_UNSUPPORTED`.
 */
void netlib_connect_options_set_interface(netlib_connect_options *options, const char *name);

/** Sets `TCP_NODELAY`, which turns Nagle's algorithm off: a small packet is sent before earlier packets are
 * acknowledged. Default: on; with `netlib_create_connection`: not set, so the system's default, which is off. Without
 * `TCP_NODELAY`, a request that is written in pieces, or right after a TLS handshake, may wait 40 milliseconds for an
 * acknowledgement of the server.
 * @param enable 1 to send small packets at once; 0 to leave the system's default. */
void netlib_connect_options_set_no_delay(netlib_connect_options *options, int32_t enable);

/** Turns TCP keep-alive on (`SO_KEEPALIVE`): the system probes an idle connection, which fails with `ETIMEDOUT` if no
 * probe is answered. Default: not set; the system's default is off.
 *
 * netlib rounds times up to whole seconds, the system's unit. On systems that cannot set `TCP_KEEPIDLE`,
 * `TCP_KEEPINTVL` and `TCP_KEEPCNT`, connecting fails with `NETLIB_UNSUPPORTED`, unless all three values are the
 * system's defaults.
 * @param idle the seconds without a packet before the first probe (`TCP_KEEPIDLE`): more than 0, at most 32,767; or
 *        `NETLIB_TIMEOUT_DEFAULT` for the system's default, which is two hours on Linux.
 * @param interval the seconds between probes (`TCP_KEEPINTVL`): more than 0, at most 32,767; or
 *        `NETLIB_TIMEOUT_DEFAULT` for the system's default.
 * @param count the number of unanswered probes in a row after which the connection fails (`TCP_KEEPCNT`): 1 to 127; or
 *        `NETLIB_NONE` for the system's default.
 */
void netlib_connect_options_set_keepalive(netlib_connect_options *options, double idle, double interval,
                                          int32_t count);

/** Sets the TCP user timeout: the time that sent data may stay unacknowledged before the connection fails with
 * `ETIMEDOUT` (`TCP_USER_TIMEOUT`, RFC 5482 without announcing the timeout to the peer). Default: not set; the system
 * tries for about 15 minutes. If keep-alive is on, the connection fails when probes have stayed unanswered for the
 * user timeout; the number of unanswered probes that was passed to `netlib_connect_options_set_keepalive` is ignored.
 *
 * On Linux, the user timeout also ends a connection attempt to which the peer does not respond: the attempt fails with
 * `NETLIB_CONNECT_TIMEOUT`, at the earliest after a second, when the first packet would be sent again. In contrast,
 * the timeout of `netlib_connect_options_set_timeout` is exact.
 * @param seconds more than 0, at most 2,147,483, rounded up to whole milliseconds; or `NETLIB_TIMEOUT_DEFAULT` for the
 *        system's default. On systems without a TCP user timeout, connecting fails with `NETLIB_UNSUPPORTED`.
 */
void netlib_connect_options_set_user_timeout(netlib_connect_options *options, double seconds);

/** Adds a socket option, which netlib sets with setsockopt(2) on each socket before the socket is bound and connected.
 * Added options are set in the order of the calls, after the options that have a dedicated setter, such as
 * `netlib_connect_options_set_no_delay`. So an added option overrides the value or the default of a dedicated setter.
 * By default, no option is added. On Unix domain sockets, only options of the level `SOL_SOCKET` are set.
 * @param level the level of the option, as for setsockopt(2), for example `IPPROTO_TCP`.
 * @param name the number of the option, as for setsockopt(2), for example `TCP_NODELAY`.
 * @param value the value of the option.
 * @param len the length of `value` in bytes; `NETLIB_NTS` if it is NUL-terminated text. */
void netlib_connect_options_add_socket_option(netlib_connect_options *options, int32_t level, int32_t name,
                                              const void *value, size_t len);

/* ---- Address classes and policy. ---- */

/** Classes of addresses, as bits, according to IANA's IPv4 and IPv6 Special-Purpose Address Registries of 2025-10-09.
 * An address has one class or more, so test a class with & and not with ==. For example, 169.254.169.254 has the
 * classes METADATA and LINK_LOCAL.
 *
 * An IPv6 address that embeds an IPv4 address also has all classes of the IPv4 address, except that GLOBAL is dropped
 * if there is another class. The embedded address is found in these forms: IPv4-mapped (::ffff:0:0/96),
 * IPv4-compatible (::/96), IPv4-translated (::ffff:0:0:0/96), NAT64 (64:ff9b::/96, and 64:ff9b:1::/48 in all positions
 * of RFC 6052), 6to4 (2002::/16), Teredo (2001::/32: the addresses of the client and of its server) and ISATAP (any
 * network). For example, ::ffff:127.0.0.1 has the class LOOPBACK, and 2002:7f00:1:: has the classes LOOPBACK and
 * SPECIAL. An address with a network-specific NAT64 prefix cannot be distinguished from a global address. */
enum netlib_address_class NETLIB_INT32 {
    /** The metadata services of Amazon, Google, Azure, Oracle, Alibaba, Tencent, Volcano Engine, Scaleway, Akamai and
     * OpenStack, from which cloud machines fetch their credentials: 169.254.169.254, fd00:ec2::254, 100.100.100.200,
     * 168.63.129.16 and others. The address of a metadata service also has the class of the network that contains the
     * address, except GLOBAL. */
    NETLIB_ADDRESS_CLASS_METADATA = 1,
    /** The local machine: 127.0.0.0/8, ::1. */
    NETLIB_ADDRESS_CLASS_LOOPBACK = 2,
    /** "This network": 0.0.0.0/8, ::. On many systems, connecting to 0.0.0.0 or :: reaches the local machine. */
    NETLIB_ADDRESS_CLASS_UNSPECIFIED = 4,
    /** Link-local addresses: 169.254.0.0/16, fe80::/10. */
    NETLIB_ADDRESS_CLASS_LINK_LOCAL = 8,
    /** Private networks: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 (RFC 1918), fc00::/7 (RFC 4193), fec0::/10
     * (deprecated). */
    NETLIB_ADDRESS_CLASS_PRIVATE = 16,
    /** Addresses that the customers of a carrier share: 100.64.0.0/10 (RFC 6598). */
    NETLIB_ADDRESS_CLASS_SHARED = 32,
    /** Multicast groups: 224.0.0.0/4, ff00::/8. */
    NETLIB_ADDRESS_CLASS_MULTICAST = 64,
    /** Reserved addresses: 240.0.0.0/4, including 255.255.255.255; ::/96, except :: and ::1; ::ffff:0:0:0/96; and all
     * IPv6 addresses outside 2000::/3 that IANA has not assigned to any use. */
    NETLIB_ADDRESS_CLASS_RESERVED = 128,
    /** Addresses for documentation: 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20. */
    NETLIB_ADDRESS_CLASS_DOCUMENTATION = 256,
    /** Addresses for benchmarks: 198.18.0.0/15, 2001:2::/48. */
    NETLIB_ADDRESS_CLASS_BENCHMARKING = 512,
    /** Addresses that are assigned to certain protocols: 192.0.0.0/24, 192.88.99.0/24, 64:ff9b:1::/48, 100::/64,
     * 100:0:0:1::/64, 2001::/23, 2002::/16, 5f00::/16, except those that the registries call globally reachable, such
     * as 192.0.0.9. */
    NETLIB_ADDRESS_CLASS_SPECIAL = 1024,
    /** Unix domain sockets, which have no IP address. */
    NETLIB_ADDRESS_CLASS_UNIX = 2048,
    /** All addresses that have no other class. */
    NETLIB_ADDRESS_CLASS_GLOBAL = 4096,
    /** Every class except `NETLIB_ADDRESS_CLASS_GLOBAL`. An application that fetches URLs from untrusted sources should
     * refuse all these classes. */
    NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL = 4095
};

/** Decides whether to connect to an address. The callback is called on the connecting thread for each connection
 * attempt, before a socket is opened, but not for an address that has a refused class. The attempt connects to exactly
 * the address that is passed to the callback: no name is resolved again. If no descriptor is free for an attempt,
 * netlib may make the attempt again later, and then calls the callback again for the same address. If several threads
 * connect with the same options, they may call the callback at the same time.
 *
 * The callback may call netlib. If a `netlib_connect` invoked the callback, calls on that `netlib_connect` fail with
 * `NETLIB_BUSY`. Freeing that `netlib_connect`, or changing or freeing its options, has no effect on the call in
 * progress. The callback should return quickly: nothing interrupts a running callback, and the other attempts wait
 * until the callback returns.
 * @param address the `sockaddr_in`, `sockaddr_in6` or `sockaddr_un` that is then passed to connect(2); borrowed until
 *        the callback returns.
 * @param classes the classes of the address, as bits of `netlib_address_class`.
 * @param verdict out: `NETLIB_VERDICT_ALLOW` to connect to the address; `NETLIB_VERDICT_REFUSE` to skip the address.
 *        netlib presets `verdict` to `NETLIB_VERDICT_FAILED`. If the callback stores no verdict or any other value, no
 *        further address is tried, and connecting fails with `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_create_connection`, `netlib_create_unix_connection`, `netlib_connect_step`,
 *        `netlib_connect_run` and `netlib_stream_connect`.
 */
typedef void (*netlib_address_fn)(void *ctx, const void *address, size_t len, int32_t classes,
                                  enum netlib_verdict *verdict);

/** Adds classes of addresses to which netlib refuses to connect. By default, netlib connects to addresses of every
 * class.
 *
 * Each connection attempt checks the address that it passes to connect(2), regardless of the resolver that found the
 * address. So a name that suddenly resolves to another address (DNS rebinding), or an unusual spelling of an address,
 * does not evade the check. A refused address is skipped, like an address for which the attempt failed. The local
 * address to which a socket is bound is not checked. Refusing `NETLIB_ADDRESS_CLASS_LOOPBACK` also refuses
 * `NETLIB_ADDRESS_CLASS_UNSPECIFIED`, because 0.0.0.0 and :: lead to the local machine.
 * @param classes a bit mask of `netlib_address_class`, for example `NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL`. For an
 *        unknown bit, connecting fails with `NETLIB_INVALID_ARGUMENT`.
 */
void netlib_connect_options_refuse_addresses(netlib_connect_options *options, int32_t classes);

/** Sets a callback that allows or refuses addresses. The callback is not called for an address with a class that was
 * passed to `netlib_connect_options_refuse_addresses`: such an address is always refused. Default: no callback, so
 * that all other addresses are allowed.
 * @param callback the callback. May be NULL: no callback. */
void netlib_connect_options_set_address_callback(netlib_connect_options *options, netlib_address_fn callback,
                                                 void *ctx, netlib_ctx_free_fn ctx_free);

/** Determines the classes of an address.
 * @param address the address, as for connect(2): a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`.
 * @param classes out: at least one bit of `netlib_address_class`.
 * @return `NETLIB_INVALID_ARGUMENT` for another family, or if `len` is too small for the family. */
NETLIB_MUST_USE netlib_status netlib_classify_address(const void *address, size_t len, int32_t *classes,
                                                      netlib_error **err);

/** Determines the classes of an address written as text. The text must not be a name, nor a number such as "0x7f.1",
 * which getaddrinfo(3) accepts as an address. To check the address to which a host resolves, use
 * `netlib_connect_options_refuse_addresses`.
 * @param text an IPv4 address as four decimal numbers, or an IPv6 address, which may have brackets and a zone.
 * @param classes out: at least one bit of `netlib_address_class`.
 * @return `NETLIB_INVALID_ARGUMENT` for text that is not an address; `NETLIB_INVALID_UTF8`. */
NETLIB_MUST_USE netlib_status netlib_classify_address_text(const char *text, int32_t *classes, netlib_error **err);

/** Returns the name of an address class as a constant string, such as "link-local"; for several classes, the name of
 * the one that comes first in `netlib_address_class`; NULL for 0, and for unknown bits.
 * @param classes bits of `netlib_address_class`. */
const char *netlib_address_class_name(int32_t classes);

/* ---- Custom resolvers: address lists, and a resolver callback. ---- */

/** An address list: the addresses to connect to, in order, at most 1,024. **One call at a time**. */
struct netlib_addresses;

/** Resolves a host name to addresses, in place of the system's resolver. The callback must return within
 * `seconds_left`: nothing interrupts a running callback. The callback is called at most once per `netlib_connect`, and
 * at most once per call of `netlib_create_connection` or `netlib_stream_connect`.
 *
 * The callback may call netlib, for example to connect to a name server. If a `netlib_connect` invoked the callback,
 * calls on that `netlib_connect` fail with `NETLIB_BUSY`. Freeing that `netlib_connect`, or changing or freeing its
 * options, has no effect on the call in progress.
 * @param host the host name, never an address, in ASCII (an internationalised name is converted); borrowed until the
 *        callback returns.
 * @param port the port to connect to.
 * @param seconds_left the time until the limit's deadline, in seconds; `NETLIB_TIMEOUT_NONE` without a limit or a
 *        deadline. The total limit that was passed to `netlib_connect_options_use_timeout` is not included.
 * @param addresses an empty address list, to which the callback appends addresses with `netlib_addresses_add`, in the
 *        order of preference. The list is borrowed until the callback returns: `netlib_addresses_free` has no effect
 *        on this list.
 * @return `NETLIB_OK` after the addresses were added; if none was added, connecting fails with
 *         `NETLIB_NAME_RESOLUTION`. If the callback returns a failure status of netlib (200 or more), connecting fails
 *         with the same status, for example `NETLIB_NAME_RESOLUTION`; but `NETLIB_IO` becomes `NETLIB_CONNECT_FAILED`,
 *         because no request has been sent yet. If the callback returns any other number, connecting fails with
 *         `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_create_connection`, `netlib_connect_step`, `netlib_connect_run` and
 *        `netlib_stream_connect`.
 */
typedef int32_t (*netlib_resolve_fn)(void *ctx, const char *host, int32_t port, double seconds_left,
                                     netlib_addresses *addresses);

/** Makes an empty address list.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_addresses *netlib_addresses_new(void);

/** Releases an address list. */
void netlib_addresses_free(netlib_addresses *addresses);

/** Appends an address to an address list, in the form of `ai_addr` and `ai_addrlen` of getaddrinfo(3). An address that
 * is added twice is tried twice.
 * @param address a `struct sockaddr_in`, `struct sockaddr_in6` or `struct sockaddr_un`; it need not be aligned. A port
 *        of 0 stands for the port that is passed to the connecting function.
 * @param len the length of `address` in bytes. A `sockaddr_in` and a `sockaddr_in6` must be complete. The path of a
 *        `sockaddr_un` ends at a NUL, or at the end of the `len` bytes. An abstract name of Linux, whose first byte is
 *        NUL, ends at the end of the `len` bytes, as for connect(2).
 * @return `NETLIB_INVALID_ARGUMENT` for another family, an address that is too short, a path that
 *         `netlib_create_unix_connection` refuses, or a full list; `NETLIB_UNSUPPORTED` for an abstract name on a
 *         system that has no abstract names.
 */
NETLIB_MUST_USE netlib_status netlib_addresses_add(netlib_addresses *addresses, const void *address, size_t len,
                                                   netlib_error **err);

/** Returns the number of addresses in an address list. */
size_t netlib_addresses_count(const netlib_addresses *addresses);

/** Sets a callback that resolves host names, for resolvers such as c-ares, or DNS over HTTPS. Default: getaddrinfo(3).
 * The callback is called only for host names: a host that is an address needs no resolver. If the source address that
 * was passed to `netlib_connect_options_set_source_address` is a host name, the system resolves this name without the
 * callback.
 *
 * If your resolver is asynchronous, use `netlib_connect_options_set_supply_addresses` instead, or resolve the host
 * name first and pass the addresses to `netlib_connect_new_addresses`.
 * @param resolve the callback. May be NULL: the system's resolver. */
void netlib_connect_options_set_resolve_callback(netlib_connect_options *options, netlib_resolve_fn resolve,
                                                 void *ctx, netlib_ctx_free_fn ctx_free);

/* ---- Racing connections (RFC 8305), by steps in an event loop or in one call. ---- */

/** A connect operation, which races the addresses of a host (RFC 8305, "Happy Eyeballs"). **One call at a time**.
 *
 * The addresses alternate between IPv6 and IPv4, beginning with the family of the resolver's first address; within a
 * family, the resolver's order is kept. Each connection attempt starts 250 ms (the attempt delay) after the previous
 * attempt, or immediately if the previous attempt has failed. An attempt continues until it is connected, fails, or
 * has lasted as long as the connect timeout. The first attempt that is connected wins, and all other attempts are
 * closed. So a network that drops IPv6 packets costs a quarter of a second, and a host with one slow address is still
 * reached. netlib tries at most 64 addresses: the first 64 of the order in which the families alternate.
 *
 * At most 64 lookup threads run in a process. Further lookups wait in a queue until a thread is free, or until their
 * connect operation ends, for example because its limit has ended. An event loop cannot distinguish a queued lookup
 * from a slow lookup.
 *
 * Call `netlib_connect_run`, or call `netlib_connect_step` in an event loop. With the default attempt delay, 63
 * attempts begin within 16 seconds. The following loop needs <poll.h>. Its array `fds` has room for the descriptors of
 * the attempts and for the descriptor of a limit:
 *
 *     while ((status = netlib_connect_step(connect, &fd, &err)) == NETLIB_WANT_WRITE) {
 *         struct pollfd fds[64];
 *         nfds_t count = 0;
 *         for (; count < netlib_connect_wait_count(connect) && count < 64; count++) {
 *             fds[count].fd = netlib_connect_wait_fd(connect, count);
 *             fds[count].events = (short)netlib_connect_wait_events(connect, count);
 *         }
 *         double seconds = netlib_connect_wait_seconds(connect);
 *         poll(fds, count, seconds < 60 ? (int)(seconds * 1000) + 1 : 60000);
 *     }
 *     if (status == NETLIB_OK) use(fd);
 *
 * Every step checks every attempt, so it does not matter which descriptor was ready. A failure is final; make a new
 * connect operation to try again. */
struct netlib_connect;

/** Sets the attempt delay: the time between the starts of two connection attempts of a race, which RFC 8305 calls the
 * Connection Attempt Delay and bounds in section 5. If the most recent attempt fails before the attempt delay has
 * passed, the next attempt starts at once. `netlib_create_connection` ignores the attempt delay, because it tries one
 * address after the other.
 * @param seconds 0.01 to 2; the default is 0.25. */
void netlib_connect_options_set_attempt_delay(netlib_connect_options *options, double seconds);

/** Makes the application supply the addresses of host names, for event loops that have a resolver. The connect
 * operation then looks up no name and calls no resolve callback, so that no step waits for a resolve callback. Until
 * the application has supplied the addresses, each step returns `NETLIB_WANT_ADDRESSES`. Between these steps, the
 * application runs its resolver and waits for the descriptors that `netlib_connect_wait_fd` returns. The application
 * waits at most for the time that `netlib_connect_wait_seconds` returns, because the limit of the operation, or the
 * total limit of the options, may end the operation before the addresses are found. A host that is an address needs no
 * lookup. Default: 0.
 *
 * If `enable` is 1 and the host is a name, `netlib_create_connection` and `netlib_stream_connect` fail with
 * `NETLIB_INVALID_ARGUMENT`. `netlib_connect_run` also fails with this status, unless the addresses have already been
 * supplied. If `enable` is 1 and the source address is a name, all functions that connect to IP addresses fail with
 * `NETLIB_INVALID_ARGUMENT`.
 * @param enable 1 if the application supplies the addresses; 0 if a resolver finds the addresses. */
void netlib_connect_options_set_supply_addresses(netlib_connect_options *options, int32_t enable);

/** Makes a connect operation for a host. The operation starts with the first step.
 * @param host the host, as for `netlib_create_connection`.
 * @param port the port, 0 to 65535.
 * @return `NETLIB_INVALID_URL` for an invalid host; `NETLIB_INVALID_ARGUMENT` for a port out of range;
 *         `NETLIB_INVALID_UTF8`; all that `netlib_connect_options_check` returns.
 */
NETLIB_MUST_USE netlib_status netlib_connect_new(const char *host, int32_t port,
                                                 const netlib_connect_options *options, netlib_connect **connect,
                                                 netlib_error **err);

/** Makes a connect operation for addresses that your own resolver has found. netlib races these addresses as it races
 * addresses from the system's resolver. The comment of `netlib_create_unix_connection` names the options that apply to
 * Unix domain sockets in the list.
 * @param host the host name for error messages: as for `netlib_create_connection`, but not resolved.
 * @param port the port for addresses whose port is 0, and for error messages: 0 to 65535.
 * @param addresses an address list that is not empty.
 * @return all that `netlib_connect_new` returns; `NETLIB_INVALID_ARGUMENT` also for an empty list. */
NETLIB_MUST_USE netlib_status netlib_connect_new_addresses(const char *host, int32_t port,
                                                           const netlib_addresses *addresses,
                                                           const netlib_connect_options *options,
                                                           netlib_connect **connect, netlib_error **err);

/** Releases a connect operation, at any time. The call closes the descriptors of connection attempts, and abandons a
 * name lookup in progress without waiting for its end. A connection that the operation returned belongs to the caller
 * and stays open. */
void netlib_connect_free(netlib_connect *connect);

/** Sets the limit that ends a connect operation, and keeps a reference to the limit. The operation obeys the limit from
 * the next step on. Until the operation ends, `netlib_connect_wait_seconds` returns at most the time until the limit's
 * deadline. The limit adds one descriptor to those that `netlib_connect_wait_fd` returns: the added descriptor wakes
 * the event loop when the limit is cancelled, and the next step then ends the operation. A later call replaces the
 * limit. Default: none.
 *
 * Each connect operation has its own descriptor for the limit, so that operations that share a limit can be watched by
 * one epoll(7) instance. After fork(2), set the limit again in a child process that continues the operation, because a
 * cancellation wakes only the process that set the limit. A name lookup that was in progress starts again in the first
 * step of the child process.
 * @return `NETLIB_IO` if no descriptor can be opened, in which case the previous limit stays. */
NETLIB_MUST_USE netlib_status netlib_connect_set_limit(netlib_connect *connect, const netlib_limit *limit,
                                                       netlib_error **err);

/** Advances a connect operation without waiting. The name lookup runs on a separate thread. A resolve callback
 * (`netlib_connect_options_set_resolve_callback`), however, runs during a step, which waits for the callback.
 *
 * A step does no harm if no descriptor is ready and the time that `netlib_connect_wait_seconds` returned has not
 * passed. If a step is late by several attempt delays, it starts only one attempt.
 * @param fd out: the connected socket, which is blocking, has no timeout, and is closed by exec; -1 on failure, and
 *        while no attempt is connected.
 * @param err the same error as from `netlib_create_connection`, with one cause for each attempt, in the order in which
 *        the attempts began.
 * @return `NETLIB_OK` when connected; `NETLIB_WANT_WRITE` while the operation is in progress: wait until a descriptor
 *         is ready or the time that `netlib_connect_wait_seconds` returns has passed, and step again;
 *         `NETLIB_WANT_ADDRESSES` if the options make the application supply the addresses: call
 *         `netlib_connect_supply_addresses` or `netlib_connect_supply_error`, and step again; `NETLIB_CLOSED` if an
 *         earlier call returned the connection; all failures of `netlib_create_connection`. If all attempts failed,
 *         the status is that of the attempt that ended last; a refused address counts as an attempt only if all
 *         addresses were refused. After a failure, every later step fails with the same error.
 */
NETLIB_MUST_USE netlib_status netlib_connect_step(netlib_connect *connect, int *fd, netlib_error **err);

/** Supplies the addresses of the host after a step returned `NETLIB_WANT_ADDRESSES`. The next step, which should follow
 * at once, connects to the addresses. The address family and the address policy of the options apply to the addresses.
 * @param addresses the addresses in the order of preference, copied. An address with port 0 gets the port of the
 *        operation. If the list is empty, the next step fails with `NETLIB_NAME_RESOLUTION`.
 * @return `NETLIB_INVALID_ARGUMENT` if the operation does not wait for addresses. */
NETLIB_MUST_USE netlib_status netlib_connect_supply_addresses(netlib_connect *connect,
                                                              const netlib_addresses *addresses, netlib_error **err);

/** Supplies the reason why the addresses of the host were not found, after a step returned `NETLIB_WANT_ADDRESSES`. The
 * next step, which should follow at once, ends the operation with the error.
 * @param error the error, for example one that `netlib_error_new` made with the status `NETLIB_NAME_RESOLUTION`. As in
 *        `netlib_resolve_fn`, `NETLIB_IO` becomes `NETLIB_CONNECT_FAILED`.
 * @return `NETLIB_INVALID_ARGUMENT` if the operation does not wait for addresses. */
NETLIB_MUST_USE netlib_status netlib_connect_supply_error(netlib_connect *connect, const netlib_error *error,
                                                          netlib_error **err);

/** Steps a connect operation, and waits between steps, until the operation has succeeded or failed.
 * @param connect the connect operation, for which steps may already have been made.
 * @param limit a limit, which replaces the limit of the operation. May be NULL: the previous limit, if any, stays.
 * @param fd out: the same socket as from `netlib_connect_step`; -1 on failure.
 * @param err the same error as from `netlib_connect_step`.
 * @return all that `netlib_connect_step` returns, except `NETLIB_WANT_WRITE` and `NETLIB_WANT_ADDRESSES`;
 *         `NETLIB_INVALID_ARGUMENT` also if the application must supply the addresses and has not supplied them: the
 *         operation can then continue with `netlib_connect_supply_addresses`.
 */
NETLIB_MUST_USE netlib_status netlib_connect_run(netlib_connect *connect, const netlib_limit *limit, int *fd,
                                                 netlib_error **err);

/** Returns the number of descriptors to wait for until the next step: those of the attempts in progress, of a name
 * lookup, and of the limit. The number is 0 before the first step and after the operation has ended. A Unix domain
 * socket whose backlog is full adds no descriptor.
 *
 * One simple method is correct for every event loop: before each step, and before `netlib_connect_free`, stop watching
 * the descriptors of the previous step; after the step, watch the new descriptors. Event loops such as libuv do not
 * allow a watched descriptor to be closed.
 *
 * With epoll and kqueue, you need not register a descriptor again that `netlib_connect_wait_fd` also returned after
 * the previous step: a number that the function returns after two consecutive steps denotes the same open descriptor
 * both times. A descriptor that the function no longer returns stays open until the next step: remove the descriptor
 * from the event loop before that step. No other connect operation uses the same descriptor, not even an operation
 * with the same limit. The step that ends the operation, and `netlib_connect_free`, close all descriptors except the
 * connection, so that epoll and kqueue remove them. The connection keeps its descriptor number and is still watched:
 * remove the connection from the event loop, or change its events. */
size_t netlib_connect_wait_count(const netlib_connect *connect);

/** Returns a descriptor to wait for; -1 for NULL. Do not read from the descriptor, write to it or close it. Do not
 * query the descriptor's error (`SO_ERROR`), which the system reports only once. */
int netlib_connect_wait_fd(const netlib_connect *connect, size_t index);

/** Returns the event to wait for on a descriptor of `netlib_connect_wait_fd`: `POLLIN` or `POLLOUT` of <poll.h>, which
 * equal Linux's `EPOLLIN` and `EPOLLOUT`. */
int32_t netlib_connect_wait_events(const netlib_connect *connect, size_t index);

/** Returns the time, in seconds, after which you must make the next step even if no descriptor is ready. When that time
 * has passed, the next attempt starts, an attempt or the limit times out, or a Unix domain socket whose backlog was
 * full is tried again. The result is 0 if the next step should follow at once. The result is `NETLIB_TIMEOUT_NONE` if
 * no timer is needed until the next step, after the operation has ended, and for NULL. Round the time up to the
 * resolution of your event loop's timer. */
double netlib_connect_wait_seconds(const netlib_connect *connect);

/** Returns the number of connection attempts so far, each for one address. The index of an attempt is its position in
 * the order in which the attempts began. The function can be called at any time, even after the connect operation has
 * ended. */
size_t netlib_connect_attempt_count(const netlib_connect *connect);

/** Returns the index of the attempt that won the race; -1 while no attempt has won, and for NULL. */
int32_t netlib_connect_winner(const netlib_connect *connect);

/** Returns the address of an attempt as text: "192.0.2.1", "2001:db8::1", "fe80::1%2", the path "/run/socket", the
 * abstract name "@name". In paths and abstract names, an escape such as "\xff" stands for an unprintable byte, and
 * "\\" for a backslash. */
const char *netlib_connect_attempt_address(const netlib_connect *connect, size_t index, size_t *len);

/** Returns the port of an attempt, 0 to 65535; -1 for a Unix domain socket and for NULL. */
int32_t netlib_connect_attempt_port(const netlib_connect *connect, size_t index);

/** Returns the time at which an attempt began, in seconds since the first step of the connect operation; -1.0 for
 * NULL. */
double netlib_connect_attempt_start(const netlib_connect *connect, size_t index);

/** Returns the time at which a step found that an attempt had ended, in seconds since the first step of the connect
 * operation; -1.0 while the attempt is in progress, and for NULL. */
double netlib_connect_attempt_end(const netlib_connect *connect, size_t index);

/** Returns the state of an attempt: `NETLIB_OK` if the attempt won the race; `NETLIB_WANT_WRITE` while the attempt is
 * in progress; `NETLIB_CLOSED` if the attempt was in progress when another attempt won; `NETLIB_CONNECT_FAILED` or
 * `NETLIB_CONNECT_TIMEOUT` if the attempt failed; `NETLIB_ADDRESS_REFUSED` if the address policy of the options
 * refuses the address; `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED` if the limit ended the attempt;
 * `NETLIB_CALLBACK_FAILED` if the address callback failed, for the address of this attempt or of another attempt;
 * `NETLIB_INVALID_ARGUMENT` for an index that is too large; `NETLIB_NULL_ARGUMENT` for NULL. */
netlib_status netlib_connect_attempt_status(const netlib_connect *connect, size_t index);

/** Returns the errno of a failed attempt, such as `ECONNREFUSED`; 0 if no system call failed. */
int32_t netlib_connect_attempt_errno(const netlib_connect *connect, size_t index);

/* ---- Connecting to Unix domain sockets. ---- */

/** Connects a stream socket to a Unix domain socket. Like `netlib_create_connection`, the call obeys `limit` and
 * returns a blocking socket that exec closes.
 *
 * The following options apply: the connect timeout, the address policy, and socket options of the level `SOL_SOCKET`.
 * All other options, such as the source address and `TCP_NODELAY`, are for IP and are ignored.
 *
 * If the backlog of the listening socket is full, netlib tries again every 5 ms until the timeout passes or the limit
 * ends, because Linux does not report when the backlog has room.
 * @param path the socket's path, at most 107 bytes on Linux; or an abstract name of Linux, which begins with a NUL and
 *        has at most 108 bytes including the NUL. The bytes need not be UTF-8.
 * @param len the length of `path` in bytes; `NETLIB_NTS` if it is a NUL-terminated path.
 * @param fd out: the connected socket; -1 on failure.
 * @param err the error message contains the path. An abstract name is written as "@name", and an unprintable byte as
 *        an escape such as "\xff".
 * @return `NETLIB_CONNECT_FAILED`, with the errno: `ENOENT`, `EACCES`, `ECONNREFUSED` if no process listens, or
 *         another errno; `NETLIB_CONNECT_TIMEOUT`; `NETLIB_ADDRESS_REFUSED` if the options refuse
 *         `NETLIB_ADDRESS_CLASS_UNIX`; `NETLIB_CALLBACK_FAILED` if the address callback failed; `NETLIB_CANCELLED` or
 *         `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_ARGUMENT` for a path that is empty, is
 *         too long, contains a NUL or consists only of NULs, and for an option out of range; `NETLIB_UNSUPPORTED` for
 *         an abstract name on a system that has no abstract names.
 */
NETLIB_MUST_USE netlib_status netlib_create_unix_connection(const char *path, size_t len,
                                                            const netlib_connect_options *options,
                                                            const netlib_limit *limit, int *fd, netlib_error **err);

/** Makes a connect operation for a Unix domain socket, for use in an event loop. To race a Unix domain socket against
 * other addresses, add its `sockaddr_un` to the address list of `netlib_connect_new_addresses`.
 *
 * While the backlog of the listening socket is full, the attempt has no descriptor: wait for the time that
 * `netlib_connect_wait_seconds` returns, and for the descriptor of the limit, if any.
 * @param path the path or abstract name, as for `netlib_create_unix_connection`.
 * @param len the length of `path` in bytes; `NETLIB_NTS` if it is a NUL-terminated path.
 * @return `NETLIB_INVALID_ARGUMENT` and `NETLIB_UNSUPPORTED`, for the same reasons as `netlib_create_unix_connection`;
 *         all that `netlib_connect_options_check` returns.
 */
NETLIB_MUST_USE netlib_status netlib_connect_new_unix(const char *path, size_t len,
                                                      const netlib_connect_options *options, netlib_connect **connect,
                                                      netlib_error **err);

/* ---- Waiting for descriptors, and dropped connections. ---- */

/** Waits until a descriptor can be read or written without blocking. netlib waits with poll(2), so descriptors above
 * 1023 work.
 *
 * A descriptor counts as readable and writable at a hang-up and after an error; the next read or write reports which
 * of these happened. If a signal handler runs during the call, the wait continues, unless the interrupt check of the
 * limit ends it.
 * @param events `POLLIN`, `POLLOUT` of <poll.h>, or their sum.
 * @param timeout in seconds: 0 to poll once, `NETLIB_TIMEOUT_DEFAULT` for the process default, `NETLIB_TIMEOUT_NONE`
 *        to wait without bound.
 * @param ready out: `POLLIN`, `POLLOUT` or their sum: those of `events` for which the descriptor is ready; 0 if the
 *        timeout passed first.
 * @return `NETLIB_OK` if the descriptor is ready for at least one of `events`; `NETLIB_TIMED_OUT` if the timeout
 *         passed first; `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED` if the limit ended first;
 *         `NETLIB_INVALID_ARGUMENT` for invalid events or an invalid timeout; `NETLIB_IO` if `fd` is not open (errno
 *         `EBADF`), or if poll(2) failed.
 */
NETLIB_MUST_USE netlib_status netlib_wait(int fd, int32_t events, double timeout, const netlib_limit *limit,
                                          int32_t *ready, netlib_error **err);

/** Waits until a descriptor can be read without blocking. netlib waits with poll(2), so descriptors above 1023 work.
 *
 * A descriptor is also readable at the end of the stream, after a hang-up and after an error; the next read reports
 * which of these happened. If a signal handler runs during the call, the wait continues, unless the interrupt check of
 * the limit ends it.
 * @param timeout in seconds: 0 to poll once, `NETLIB_TIMEOUT_DEFAULT` for the process default, `NETLIB_TIMEOUT_NONE`
 *        to wait without bound.
 * @return `NETLIB_OK` when readable; `NETLIB_TIMED_OUT` if the timeout passed first; `NETLIB_CANCELLED` or
 *         `NETLIB_DEADLINE_EXCEEDED` if the limit ended first; `NETLIB_INVALID_ARGUMENT` for an invalid timeout;
 *         `NETLIB_IO` if `fd` is not open (errno `EBADF`), or if poll(2) failed.
 */
NETLIB_MUST_USE netlib_status netlib_wait_for_read(int fd, double timeout, const netlib_limit *limit,
                                                   netlib_error **err);

/** Waits until a descriptor can be written without blocking. netlib waits with poll(2), so descriptors above 1023 work.
 *
 * A descriptor is also writable after a hang-up and after an error; the next write reports which of these happened. A
 * socket that is connecting becomes writable when it is connected or has failed.
 * @param timeout as for `netlib_wait_for_read`.
 * @return all that `netlib_wait_for_read` returns for the same `fd` and `timeout`; `NETLIB_OK` means writable. */
NETLIB_MUST_USE netlib_status netlib_wait_for_write(int fd, double timeout, const netlib_limit *limit,
                                                    netlib_error **err);

/** Checks whether an idle connection has been dropped, so that it can carry no request and should be closed.
 *
 * An idle HTTP/1 peer sends nothing, so a readable connection counts as dropped: the end of the stream, an error or
 * unsolicited data has arrived. The check does not block. For TLS connections, on which session tickets and key
 * updates may arrive, use `netlib_stream_is_dropped`.
 * @param fd the connection's descriptor, borrowed. A descriptor that is not open counts as dropped, and so does a
 *        negative number, except `NETLIB_FD_MANAGED`, which stands for a connection managed by the application's
 *        platform and is never reported as dropped.
 * @param dropped out: 1 if the connection has been dropped, else 0.
 * @return `NETLIB_IO` if the system could not check the descriptor. */
NETLIB_MUST_USE netlib_status netlib_is_connection_dropped(int fd, int32_t *dropped, netlib_error **err);

/* ---- Minimum throughput for reads of a descriptor. ---- */

/** A throughput guard: a minimum throughput for the reads of one connection, which detects a peer that sends a few
 * bytes now and then, often enough to prevent a read timeout. **One call at a time**. For a `netlib_stream`, use
 * `netlib_stream_set_minimum_throughput`. A throughput guard is for a descriptor that the application reads itself:
 *
 *     while (netlib_throughput_wait_for_read(throughput, fd, 30.0, limit, &err) == NETLIB_OK) {
 *         ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
 *         if (n == 0 || (n < 0 && errno != EAGAIN)) break;
 *         if (n > 0) netlib_throughput_add(throughput, (size_t)n);
 *     }
 *
 * In each period of `seconds` of waiting, `bytes` must arrive; once `bytes` have arrived, the next period begins. The
 * waiting time consists of the time in `netlib_throughput_wait_for_read` and, after a call that returned
 * `NETLIB_TIMED_OUT`, the time until the next call. The time in which the caller processes data does not count. */
struct netlib_throughput;

/** Makes a throughput guard for one connection.
 * @param bytes the number of bytes that must arrive in each period; 0 for no minimum, with any `seconds`.
 * @param seconds the length of a period, more than 0; `NETLIB_TIMEOUT_NONE` for no minimum.
 * @return `NETLIB_INVALID_ARGUMENT` if `bytes` is not 0 and `seconds` is 0, negative or NaN. */
NETLIB_MUST_USE netlib_status netlib_throughput_new(size_t bytes, double seconds, netlib_throughput **throughput,
                                                    netlib_error **err);

/** Releases a throughput guard. */
void netlib_throughput_free(netlib_throughput *throughput);

/** Waits as `netlib_wait_for_read` does, but at most until the current period ends.
 * @param timeout in seconds: 0 to poll once, `NETLIB_TIMEOUT_DEFAULT` for the process default, `NETLIB_TIMEOUT_NONE`
 *        to wait until the period ends.
 * @return `NETLIB_TOO_SLOW` if fewer than `bytes` have arrived in the period; all that `netlib_wait_for_read` returns.
 *         The error message of `NETLIB_TOO_SLOW` states how many bytes have arrived, and the next call begins a new
 *         period.
 */
NETLIB_MUST_USE netlib_status netlib_throughput_wait_for_read(netlib_throughput *throughput, int fd, double timeout,
                                                              const netlib_limit *limit, netlib_error **err);

/** Tells a throughput guard that the caller has read `bytes` bytes. */
void netlib_throughput_add(netlib_throughput *throughput, size_t bytes);

/* ==================================================================================================================
 * stream: Streams: reading and writing over a connection, with or without TLS.
 * ================================================================================================================== */

/** A stream: a connection that is read and written, with or without TLS. A plain stream does not change the bytes:
 * `netlib_stream_new_fd` makes a plain stream on a descriptor, and `netlib_stream_new_callbacks` makes a plain stream
 * on the application's callbacks. A TLS stream encrypts the bytes: see `netlib_tls_wrap_fd`. The functions that take a
 * stream accept both kinds of stream, so a client has one code path for http and https. Corresponds to OpenSSL's SSL
 * and BIO, and to Python's `ssl.SSLSocket` and `socket.socket`. **Concurrent, one reader and one writer**: one thread
 * may read while another thread writes; reads and writes of a third thread fail with `NETLIB_BUSY`. Shutting down
 * counts as writing. Setters and getters may be called from any thread at any time.
 *
 * On a plain stream, getters of TLS properties return NULL, 0 or the enum's value for "none",
 * `netlib_stream_handshake` succeeds without I/O, `netlib_stream_write_early_data` writes no byte,
 * `netlib_stream_take_session` finds no session, and `netlib_stream_set_session` fails with `NETLIB_UNSUPPORTED`.
 *
 * The descriptor of a stream is a connected stream socket. `netlib_stream_connect` makes a stream that owns its
 * descriptor. Every other function borrows the descriptor: the caller keeps the descriptor open while the stream is
 * used, and closes it afterwards. netlib neither changes nor reads the O_NONBLOCK flag of the
 * descriptor: `netlib_stream_set_blocking` determines whether calls wait.
 *
 * A failure of the connection or of the TLS session is final: every later read or write fails with the same error. A
 * failure to send, however, is final only for later writes: received data can still be read. `NETLIB_READ_TIMEOUT`,
 * `NETLIB_WRITE_TIMEOUT`, `NETLIB_TOO_SLOW`, `NETLIB_CANCELLED`, `NETLIB_DEADLINE_EXCEEDED` and `NETLIB_INTERRUPTED`
 * are not failures of the connection: after them, and after a failed interrupt check, the stream can still be used.
 *
 * A stream belongs to the process that made it. In a forked child, reads, writes, handshakes, shutdowns and changes of
 * the stream's settings fail with `NETLIB_CLOSED`, and `netlib_stream_free` only releases memory. This rule also holds
 * for plain streams, because two processes that read from one connection would each receive some of its bytes at
 * random. A child process that takes over a plain connection makes a new stream on the descriptor.
 * `netlib_stream_free` in a child closes only the child's copy of a descriptor that the stream owns. */
struct netlib_stream;

/** Receives bytes from the peer over an application-defined transport: see `netlib_stream_new_callbacks`. netlib
 * invokes the callback only during a call on the stream, on the thread of that call, and never twice at the same time.
 * netlib holds no lock while the callback runs, so the callback may use other streams. If the callback reads from,
 * writes to or shuts down the stream that invoked the callback, that call fails with `NETLIB_BUSY`.
 * @param buf the buffer to fill; its bytes are not initialised.
 * @param len the size of `buf` in bytes, at least 1.
 * @param n out: the number of bytes stored in `buf`, at most `len`; 0 if the peer will send no more bytes. netlib sets
 *        `*n` to `SIZE_MAX` before the call, and the callback must store a number if it returns `NETLIB_OK`.
 * @return `NETLIB_OK` after storing `*n`; if the callback returns `NETLIB_OK` without storing `*n`, the stream fails
 *         with `NETLIB_CALLBACK_FAILED`. `NETLIB_END_OF_STREAM` has the same effect as storing 0 in `*n`.
 *         `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` means that no data is available yet; the call on the stream then
 *         returns the same status. If the callback returns a failure status of netlib (200 or more), the call on the
 *         stream fails with the same status; if the callback returns any other number, the call fails with
 *         `NETLIB_CALLBACK_FAILED`.
 * @called-by `netlib_stream_handshake`, `netlib_stream_read`, `netlib_stream_read_response`,
 *        `netlib_stream_read_body`, `netlib_stream_write`, `netlib_stream_writev`, `netlib_stream_write_early_data`,
 *        `netlib_stream_is_dropped` and `netlib_stream_shutdown_both`.
 */
typedef int32_t (*netlib_stream_read_fn)(void *ctx, void *buf, size_t len, size_t *n);

/** Sends bytes to the peer over an application-defined transport: see `netlib_stream_new_callbacks`. netlib invokes the
 * write callback by the same rules as a `netlib_stream_read_fn`, possibly while the read callback runs on another
 * thread.
 * @param len the number of bytes, at least 1.
 * @param n out: the number of bytes accepted, from 1 to `len`. Later calls of the callback pass the remaining bytes
 *        again. netlib sets `*n` to `SIZE_MAX` before the call, and the callback must store a number if it returns
 *        `NETLIB_OK`.
 * @return `NETLIB_OK` after storing `*n`; if the callback returns `NETLIB_OK` without storing `*n`, the stream fails
 *         with `NETLIB_CALLBACK_FAILED`. Any other result means that no byte was accepted: `NETLIB_WANT_WRITE` or
 *         `NETLIB_WANT_READ` if the transport has no room yet; all other numbers have the same effect as for
 *         `netlib_stream_read_fn`.
 * @called-by `netlib_stream_handshake`, `netlib_stream_read`, `netlib_stream_read_response`,
 *        `netlib_stream_read_body`, `netlib_stream_write`, `netlib_stream_writev`, `netlib_stream_write_early_data`,
 *        `netlib_stream_is_dropped`, `netlib_stream_shutdown` and `netlib_stream_shutdown_both`.
 */
typedef int32_t (*netlib_stream_write_fn)(void *ctx, const void *buf, size_t len, size_t *n);

/** A slice: one piece of the data to write. Corresponds to POSIX's iovec, but is read-only. */
typedef struct netlib_slice {
    /** The bytes of the slice; NULL only if the slice is empty. */
    const void *data;
    /** The number of bytes in the slice. */
    size_t len;
} netlib_slice;

/** Makes a plain stream on a connected descriptor. The call does no I/O. By default, the stream is blocking and waits
 * without a time limit: see `netlib_stream_set_limit` and `netlib_stream_set_read_timeout`. To start TLS on a
 * connection that has carried plain text, as after CONNECT (RFC 9110 section 9.3.6) or STARTTLS (RFC 3207), pass the
 * plain stream to `netlib_tls_wrap_stream`.
 * @param fd a connected stream socket, borrowed. If `fd` is not open, the first read or write fails with `NETLIB_IO`.
 * @return `NETLIB_INVALID_ARGUMENT` for a listening socket, and for an open descriptor that is not a stream socket,
 *         for example a pipe: for such a descriptor, use `netlib_stream_new_callbacks`.
 */
NETLIB_MUST_USE netlib_status netlib_stream_new_fd(int fd, netlib_stream **stream, netlib_error **err);

/** Makes a plain stream on an application-defined transport, which consists of a read callback and a write callback.
 * Corresponds to OpenSSL's BIO. The call does no I/O and calls neither callback.
 *
 * netlib cannot wait for an application-defined transport: even a call on a blocking stream returns the
 * `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` of a callback to the caller, and a write may count fewer bytes than were
 * passed. If the callbacks wait, calls on the stream wait. Before each call of a callback, netlib checks the limit of
 * the stream, and the total limit that was passed to `netlib_stream_use_timeout`. The read timeout and the write
 * timeout of the stream have no effect. If a callback returns `NETLIB_OK` but stores no count or a count larger than
 * `len`, or if the write callback stores the count 0, the stream fails with `NETLIB_CALLBACK_FAILED`, and this failure
 * is final. If a callback returns `NETLIB_PROTOCOL` or `NETLIB_TLS_HANDSHAKE_EOF`, or the read callback of a TLS
 * stream returns `NETLIB_TLS_TRUNCATED`, the failure is final. After any other failure status of a callback, the
 * stream can still be used.
 * @param read_fn receives bytes from the peer.
 * @param write_fn sends bytes to the peer.
 * @param ctx_free is called when the stream and every stream inside it have been freed; if the function fails,
 *        `ctx_free` is called before the function returns. May be NULL: `ctx` must stay usable until `ctx_free` would
 *        be called.
 * @param stream out: the stream; `netlib_stream_free` calls no callback except `ctx_free`.
 * @return `NETLIB_OK`; `NETLIB_NULL_ARGUMENT` for a missing callback. */
NETLIB_MUST_USE netlib_status netlib_stream_new_callbacks(netlib_stream_read_fn read_fn,
                                                          netlib_stream_write_fn write_fn, void *ctx,
                                                          netlib_ctx_free_fn ctx_free, netlib_stream **stream,
                                                          netlib_error **err);

/** Releases a stream. The call does no I/O: to tell the peer that no more data follows, first call
 * `netlib_stream_shutdown`. Close a borrowed descriptor after `netlib_stream_free`; a descriptor that the stream owns
 * is closed by `netlib_stream_free`. No other call on the stream may be in progress. */
void netlib_stream_free(netlib_stream *stream);

/** Sets the limit that ends waiting calls on a stream, and keeps a reference to the limit. Later calls obey the new
 * limit; a call in progress on another thread still obeys the old one. Default: none.
 *
 * On a non-blocking stream with a descriptor, a call that needs input, such as a read or a TLS handshake, fails if the
 * limit has ended. A write that needs no input does not check the limit. In an event loop, the
 * descriptor of `netlib_limit_fd` wakes the loop when the limit ends: call `netlib_limit_check` before each write. */
void netlib_stream_set_limit(netlib_stream *stream, const netlib_limit *limit);

/** Sets the read timeout: the maximum time that a read waits for the next bytes. The timeout bounds the time between
 * two reads of the socket, not the whole call. The timeout also applies while a TLS handshake reads. Default:
 * `NETLIB_TIMEOUT_NONE`.
 * @param seconds 0 or more, `NETLIB_TIMEOUT_NONE`, or `NETLIB_TIMEOUT_DEFAULT` for the present process default.
 * @return `NETLIB_INVALID_ARGUMENT` for a number that `seconds` does not allow. */
NETLIB_MUST_USE netlib_status netlib_stream_set_read_timeout(netlib_stream *stream, double seconds,
                                                             netlib_error **err);

/** Copies the read and total limits of a `netlib_timeout`. The read limit becomes the read timeout (see
 * `netlib_stream_set_read_timeout`). The total limit bounds all later calls on the stream together. After the total
 * limit has passed, a call that receives bytes from the transport, or waits for them, fails with
 * `NETLIB_READ_TIMEOUT`. A call that sends bytes fails with `NETLIB_WRITE_TIMEOUT` if the stream is blocking or has
 * callbacks. Default: no total limit.
 *
 * The total limit begins with `netlib_timeout_start_connect`. The clock of `timeout` measures the time until the call
 * of `netlib_stream_use_timeout`, and the system's clock measures the time after that call. The stream does not keep
 * `timeout`, and later changes of `timeout` have no effect. Before each request on a connection that is kept alive,
 * call the function with the timeout of that request; a timeout without a total limit removes the total limit of an
 * earlier call.
 * @param timeout the limits; its connect limit is not used: see `netlib_connect_options_use_timeout`.
 * @return `NETLIB_TIMEOUT_STATE_ERROR` if there is a total limit and the clock of `timeout` has not been started;
 *         `NETLIB_CALLBACK_FAILED` if the clock function failed. After a failure, the previous limits stay.
 */
NETLIB_MUST_USE netlib_status netlib_stream_use_timeout(netlib_stream *stream, const netlib_timeout *timeout,
                                                        netlib_error **err);

/** Sets the write timeout: the maximum time that a write waits until the transport accepts more bytes. Default:
 * `NETLIB_TIMEOUT_NONE`.
 * @param seconds 0 or more, `NETLIB_TIMEOUT_NONE`, or `NETLIB_TIMEOUT_DEFAULT` for the present process default.
 * @return `NETLIB_INVALID_ARGUMENT` for a number that `seconds` does not allow. */
NETLIB_MUST_USE netlib_status netlib_stream_set_write_timeout(netlib_stream *stream, double seconds,
                                                              netlib_error **err);

/** Sets a minimum throughput for reads, which detects a peer that sends a few bytes now and then, often enough to
 * prevent the read timeout. In each period of `seconds` of waiting, `bytes` must arrive; once `bytes` have arrived,
 * the next period begins. If fewer bytes arrive in a period, the waiting read fails with `NETLIB_TOO_SLOW`, and the
 * next read starts a new period. Default: none. Corresponds to curl's CURLOPT_LOW_SPEED_LIMIT, but the time that the
 * application spends between its reads does not count.
 *
 * netlib counts the bytes that reads return; during a TLS handshake, netlib counts every received byte. For a
 * non-blocking stream, the time from `NETLIB_WANT_READ` to the next call is waiting time; use a timer to make that
 * call even if nothing arrives. The time until the server begins to respond is also waiting time: if that time may be
 * long, set the minimum when the response has begun. Each call of `netlib_stream_set_minimum_throughput` or
 * `netlib_stream_is_dropped` starts a new period. For TLS in TLS, the minimum applies only to calls on the stream for
 * which it is set. If the first call on the inner stream also makes the handshake of the outer stream, no minimum
 * applies to that handshake: to bound the handshake, use a limit.
 * @param bytes the number of bytes that must arrive in each period; 0 for no minimum, with any `seconds`.
 * @param seconds the length of a period, more than 0; `NETLIB_TIMEOUT_NONE` for no minimum.
 * @return `NETLIB_INVALID_ARGUMENT` if `bytes` is not 0 and `seconds` is 0, negative or NaN. */
NETLIB_MUST_USE netlib_status netlib_stream_set_minimum_throughput(netlib_stream *stream, size_t bytes,
                                                                   double seconds, netlib_error **err);

/** Sets whether calls on a stream wait. Default: 1. With 0, a call returns `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE`
 * instead of waiting: poll the descriptor for the event, then make the same call again. The two statuses correspond to
 * OpenSSL's SSL_ERROR_WANT_READ and SSL_ERROR_WANT_WRITE. During a TLS handshake, a read may return
 * `NETLIB_WANT_WRITE`, and a write `NETLIB_WANT_READ`. Before you poll for input, read until `NETLIB_WANT_READ`: a
 * stream may have received plaintext or unread bytes although the descriptor has no more data.
 * @return `NETLIB_INVALID_ARGUMENT` if `blocking` is neither 0 nor 1. */
NETLIB_MUST_USE netlib_status netlib_stream_set_blocking(netlib_stream *stream, int32_t blocking, netlib_error **err);

/** Reads the bytes that are available, at least one and at most `len`. If `netlib_stream_read_response` has received
 * bytes after a head, the call returns those bytes first, without waiting. On a plain stream with a descriptor, a read
 * is one recv(2) if data is available. On a TLS stream, buffers of 16 KiB or more are the fastest, because the
 * plaintext of a whole record fits into them. Corresponds to recv(2) and OpenSSL's SSL_read_ex.
 *
 * On a plain stream, `NETLIB_END_OF_STREAM` does not prove that the data is complete, because anyone on the network
 * path can end the connection: compare the number of bytes with the announced length.
 * @param len the size of `buf` in bytes; with 0, nothing is read.
 * @param n out: the number of bytes read.
 * @return `NETLIB_END_OF_STREAM` when the peer has ended its data: on a plain stream, by closing the connection or its
 *         sending direction, and on a TLS stream by close_notify; `NETLIB_TLS_TRUNCATED` when the connection of a TLS
 *         stream ended without close_notify, so that data may be missing; `NETLIB_PROTOCOL` when the connection was
 *         reset; `NETLIB_WANT_READ` if the stream is non-blocking and no data has arrived, and during a TLS handshake
 *         also `NETLIB_WANT_WRITE`; `NETLIB_READ_TIMEOUT`; `NETLIB_TOO_SLOW`; `NETLIB_CANCELLED`;
 *         `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_CLOSED` in a forked child; `NETLIB_IO`; on a stream with
 *         callbacks, `NETLIB_CALLBACK_FAILED` and the statuses that the callbacks return; on a TLS stream, all that
 *         `netlib_stream_handshake` returns.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_read(netlib_stream *stream, void *buf, size_t len, size_t *n,
                                                 netlib_error **err);

/** Returns the number of bytes that the next read would return without I/O; more bytes may be available to later reads.
 * Unread bytes (see `netlib_stream_read_response`) come first. If there are none, a TLS stream decrypts a record that
 * has already been received, to determine the number; for a plain stream, the number is 0, or 1 if
 * `netlib_stream_is_dropped` has read a byte from the read callback. Corresponds to OpenSSL's SSL_pending. */
size_t netlib_stream_pending(const netlib_stream *stream);

/** Checks whether an idle connection has been dropped, so that it can carry no request and should be closed.
 * `netlib_is_connection_dropped` reports too many TLS connections as dropped, because session tickets and key updates
 * may arrive at any time. On a TLS stream, `netlib_stream_is_dropped` processes session tickets and key updates. The
 * next read still returns the data or the failure that the check found.
 *
 * The check never waits and obeys no limit. If a TLS message of the peer requires an answer, the check sends the
 * answer, unless the transport does not accept it immediately. For a stream with callbacks, the check calls the
 * callbacks; for TLS in TLS, the check also reads from the outer streams. Before the TLS handshake is done, the check
 * leaves input to the handshake, and reports a connection as dropped only if the connection has ended or the handshake
 * has failed.
 * @param dropped out: 1 if the connection has been dropped, else 0.
 * @param why out: `NETLIB_WANT_READ` if the connection has not been dropped. Any other status is the reason why
 *        `dropped` is 1: `NETLIB_OK` if unsolicited data has arrived, or if bytes are unread (see
 *        `netlib_stream_read_response`); `NETLIB_END_OF_STREAM` if the peer has ended its data;
 *        `NETLIB_TLS_TRUNCATED` if the connection of a TLS stream ended without close_notify; `NETLIB_PROTOCOL` if the
 *        connection was reset, or if the last write found the connection closed; `NETLIB_IO` if the descriptor is not
 *        open; `NETLIB_TOO_MUCH_DATA` if the check received tens of kilobytes of session tickets; `NETLIB_CLOSED` if
 *        the stream was shut down for writing; `NETLIB_WANT_WRITE` if the last write was not finished;
 *        `NETLIB_TLS_ALERT`, `NETLIB_TLS_PROTOCOL` or another status if the stream has failed with this status. May be
 *        NULL.
 * @return `NETLIB_BUSY` while another call reads, writes or makes the handshake, and while another stream runs inside
 *         the stream; `NETLIB_CLOSED` in a forked child; `NETLIB_IO` if the system reports an error;
 *         `NETLIB_OUT_OF_MEMORY`; on a stream with callbacks, the statuses that the callbacks return.
 * @threads one call at a time, which counts as reading and as writing */
NETLIB_MUST_USE netlib_status netlib_stream_is_dropped(netlib_stream *stream, int32_t *dropped, netlib_status *why,
                                                       netlib_error **err);

/** Writes data. A blocking stream with a descriptor writes all data. A non-blocking stream, and a stream with
 * callbacks, writes as much as the transport accepts at once. `n` counts the bytes that the operating system or the
 * write callback has accepted. Corresponds to send(2), and to OpenSSL's SSL_write_ex with
 * SSL_MODE_ENABLE_PARTIAL_WRITE and SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER.
 *
 * The next write must begin with the bytes that `n` does not count, because a part of them may have been sent or
 * encrypted already. After a failure, `n` is 0: to continue after `NETLIB_WRITE_TIMEOUT`, `NETLIB_CANCELLED` or
 * `NETLIB_DEADLINE_EXCEEDED`, write the same data again. netlib skips the bytes that it has sent, and sends no byte
 * twice.
 *
 * After a failed write of a request, a server may already have answered: `netlib_stream_read_response` reads a
 * response that has arrived. If a write on a reused stream (see `netlib_stream_read_response`) finds the connection
 * closed, the write looks for input without waiting. If nothing has arrived, the write fails with
 * `NETLIB_STALE_CONNECTION`. If a response has arrived, or while another thread reads, the write fails with
 * `NETLIB_PROTOCOL`.
 * @param len the number of bytes; `NETLIB_NTS` is refused.
 * @param n out: the number of bytes written; less than `len` only if the stream is non-blocking or has callbacks; 0
 *        after a failure.
 * @return `NETLIB_WANT_WRITE` if the stream is non-blocking and no byte can be sent, and during a TLS handshake also
 *         `NETLIB_WANT_READ`; `NETLIB_CLOSED` after a shutdown, and in a forked child; `NETLIB_INVALID_ARGUMENT` when
 *         the call passes fewer bytes than earlier writes have sent or encrypted without counting them;
 *         `NETLIB_PROTOCOL` when the connection is closed; `NETLIB_STALE_CONNECTION`; `NETLIB_WRITE_TIMEOUT`;
 *         `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_IO`; on a stream with callbacks,
 *         `NETLIB_CALLBACK_FAILED` and the statuses that the callbacks return; on a TLS stream, all that
 *         `netlib_stream_handshake` returns.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_write(netlib_stream *stream, const void *buf, size_t len, size_t *n,
                                                  netlib_error **err);

/** Writes data in several pieces, as `netlib_stream_write` writes one piece. Corresponds to writev(2). On a plain
 * stream with a descriptor, up to 32 pieces are sent with one system call. On a TLS stream, small pieces share
 * records, so that they need no more records than one piece of the same total length; netlib copies only bytes that
 * share a record with bytes of another piece. After a write that did not count all bytes, the next write must begin
 * with the bytes that were not counted, but may divide them into other pieces.
 * @param slices the pieces, in order.
 * @param count the number of pieces, at most 1024.
 * @param n out: the number of bytes written from all pieces; less than their total length only if the stream is
 *        non-blocking or has callbacks; 0 after a failure.
 * @return all that `netlib_stream_write` returns; `NETLIB_INVALID_ARGUMENT` also for more than 1024 pieces, and for a
 *         total length that exceeds the address space; `NETLIB_NULL_ARGUMENT` for a piece that is NULL and not empty.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_writev(netlib_stream *stream, const netlib_slice *slices, size_t count,
                                                   size_t *n, netlib_error **err);

/** Tells the peer that no more data follows. On a plain stream with a descriptor, the call is shutdown(2) with SHUT_WR.
 * On a TLS stream, the call sends the bytes that earlier writes encrypted but did not count, then close_notify (RFC
 * 8446 section 6.1), and leaves the descriptor open for sending. If the TLS handshake is not done, the call sends no
 * close_notify: the call that completes the handshake sends it. On a plain stream with callbacks, the call sends
 * nothing: end the transport yourself. Nothing can be written after the call. The peer may still send data, which can
 * be read until `NETLIB_END_OF_STREAM`. Calling the function again is harmless. Corresponds to OpenSSL's SSL_shutdown,
 * called once.
 * @return `NETLIB_WANT_WRITE` if the stream is non-blocking and the call must be repeated; `NETLIB_WRITE_TIMEOUT`;
 *         `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_CLOSED` in a forked child;
 *         `NETLIB_PROTOCOL` when the connection is closed; `NETLIB_IO`; the status with which the stream has failed.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
netlib_status netlib_stream_shutdown(netlib_stream *stream, netlib_error **err);

/** Tells the peer that no more data follows, as `netlib_stream_shutdown` does, and waits until the peer has ended its
 * data. For TLS, the wait is needed only if the transport is used for another purpose afterwards. For a plain stream,
 * the wait ensures that the peer receives all data. Without the wait, the application may close the socket while the
 * peer is sending: data that arrives on a closed socket makes the system reset the connection, and the peer may lose
 * data that it has not read yet. Corresponds to Python's `SSLSocket.unwrap` and OpenSSL's SSL_shutdown, called until
 * it returns 1.
 *
 * While the call waits, it discards the data that arrives, at most 1 MiB over all calls. If the peer may send more
 * than 1 MiB, call `netlib_stream_shutdown`, then read until `NETLIB_END_OF_STREAM`. If the TLS handshake is not done,
 * the call sends no close_notify, and returns `NETLIB_OK` without waiting for the peer.
 * @return `NETLIB_OK` when both sides have ended their data; `NETLIB_WANT_READ` or `NETLIB_WANT_WRITE` if the stream
 *         is non-blocking and the call must be repeated; `NETLIB_TLS_TRUNCATED` when the connection of a TLS stream
 *         ended without the peer's close_notify; `NETLIB_TOO_MUCH_DATA`; `NETLIB_BUSY` when another thread reads or
 *         writes; all that `netlib_stream_shutdown` and `netlib_stream_read` return.
 * @threads one call at a time, which counts as reading and as writing
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
netlib_status netlib_stream_shutdown_both(netlib_stream *stream, netlib_error **err);

/* ---- Connecting to the server of a URL. ---- */

/** Connects to the server of a URL, and makes a stream. The addresses of the URL's host are raced: see
 * `netlib_connect`. For https, the stream is a TLS stream, whose handshake the call makes; the server must prove the
 * host of the URL, as for `netlib_tls_wrap_fd`. For http, the stream is a plain stream. A URL without a scheme counts
 * as an http URL.
 *
 * The stream owns its descriptor: freeing the stream closes the descriptor. If another stream still runs inside the
 * stream, the descriptor is closed when both are freed.
 *
 * The stream is blocking, and keeps `limit`. If the options contain a timeout (`netlib_connect_options_use_timeout`),
 * the stream also gets the read timeout and the rest of the total limit. Otherwise, the read timeout of the stream is
 * the present process default (`netlib_set_default_timeout`). The setters of streams change these settings: before
 * another request on the connection, call `netlib_stream_set_limit` with the limit of that request,
 * and `netlib_stream_use_timeout` with its timeout.
 * @param url a URL with a host, and with the scheme http or https, or without a scheme.
 * @param context the TLS context for https. May be NULL: an https URL is then refused.
 * @param limit bounds the name lookup, the connection attempts and the handshake, and later calls on the stream.
 * @param stream out: the stream, whose handshake is done.
 * @return `NETLIB_UNSUPPORTED` for a scheme other than http and https; `NETLIB_INVALID_URL` for a URL without a host;
 *         `NETLIB_INVALID_ARGUMENT` for an https URL if `context` is NULL; all failures of `netlib_connect_new`,
 *         `netlib_connect_run`, `netlib_tls_wrap_fd` and `netlib_stream_handshake`.
 */
NETLIB_MUST_USE netlib_status netlib_stream_connect(const netlib_url *url, const netlib_tls_context *context,
                                                    const netlib_connect_options *options, const netlib_limit *limit,
                                                    netlib_stream **stream, netlib_error **err);

/** Returns the descriptor that carries the bytes of a stream, to wait for it in an event loop; -1 if callbacks carry
 * the bytes, and for NULL. For a stream inside another stream, the result is the descriptor of the outermost stream.
 * Do not read from the descriptor or write to it, and make no second stream on it. The descriptor of a stream that
 * `netlib_stream_connect` has made is valid until that stream, and every stream inside it, is freed: do not close it.
 */
int netlib_stream_fd(const netlib_stream *stream);

/* ---- Reading responses from a stream. ---- */

/** Reads the head of the final response from a stream, and skips the heads of interim responses, as
 * `netlib_response_parse_final` does. To read the body, make a body decoder, and call `netlib_stream_read_body`.
 *
 *     status = netlib_stream_read_response(stream, "GET", &response, &err);
 *     if (status == NETLIB_OK) status = netlib_body_decoder_new(response, &decoder, &err);
 *     while (status == NETLIB_OK) {
 *         status = netlib_stream_read_body(stream, decoder, buf, sizeof buf, &n, &err);
 *         if (fwrite(buf, 1, n, file) != n) break;
 *     }
 *     // The body is complete if status is NETLIB_END_OF_STREAM.
 *
 * The stream keeps bytes that it has received after the head, at most `NETLIB_RESPONSE_HEAD_MAX`. The kept bytes are
 * the unread bytes of the stream: the next read, of any kind, returns the unread bytes first, without waiting. After
 * the response that opens a tunnel (CONNECT), or a response with the status 101, the unread bytes belong to the new
 * protocol. `netlib_stream_pending` returns the number of unread bytes. If bytes are unread after a response and its
 * body, `netlib_stream_is_dropped` reports the connection as dropped.
 *
 * After any result except `NETLIB_OK`, the bytes of an incomplete or malformed head stay unread. After
 * `NETLIB_WANT_READ`, a timeout or another end of the wait, call the function again: the call continues to parse the
 * head where the last call stopped. After `NETLIB_WANT_READ`, always poll first, even if `netlib_stream_pending`
 * returns a number above 0.
 *
 * If the connection ends before the first byte of the response, the status does not depend on how it ends: with or
 * without close_notify, or with a reset, whose errno `netlib_error_errno` returns. The server may have processed the
 * request. The status is `NETLIB_STALE_CONNECTION` if the stream is reused, otherwise `NETLIB_PROTOCOL`. A stream is
 * reused if `netlib_stream_read_response` and `netlib_stream_read_body` have read a whole response from it, and
 * nothing has been read after that. Servers close idle connections, so a client that reuses connections must expect
 * `NETLIB_STALE_CONNECTION`: see `netlib_retry_options_set_any_method_if_stale`.
 *
 * The call skips a response with the status 100. For a request with `Expect: 100-continue`, call
 * `netlib_stream_read_next_response` first.
 * @param request_method the method of the request, a token such as "GET".
 * @param err for a malformed head, the error's offset is the position of the defect, counted from the start of the
 *        first interim response, or of the head if there is none. If the connection is lost inside the head, the
 *        offset is the number of received bytes. If the connection is lost before the first byte, the error has no
 *        offset.
 * @return `NETLIB_WANT_READ` if the stream is non-blocking and the head is incomplete, and during a TLS handshake also
 *         `NETLIB_WANT_WRITE`; `NETLIB_PROTOCOL` if the bytes are not a response head, if the connection ended before
 *         the end of the head, and for more than 16 interim responses; `NETLIB_STALE_CONNECTION` if a reused
 *         connection ended before the first byte; `NETLIB_INVALID_ARGUMENT` if the method is not a token; all failures
 *         of `netlib_stream_read`.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_read_response(netlib_stream *stream, const char *request_method,
                                                          netlib_response **response, netlib_error **err);

/** Reads the head of the next response from a stream, interim or final. The function is like
 * `netlib_stream_read_response`, but skips no response. A response is interim if its status is 100 to 199, except 101
 * (RFC 9110 section 15.2): call the function until a response is not interim. A peer can send any number of interim
 * responses, so close the connection after too many.
 *
 * A client that sends a request with `Expect: 100-continue` sends the body of the request after a response with the
 * status 100, or after a wait without a response. For this wait, set a read timeout of, for example, one second. If
 * the call fails with `NETLIB_READ_TIMEOUT`, set the old timeout again, send the body, and call the function again. If
 * a final response arrives first, do not send the body. The status 103 announces header fields, such as Link, before
 * the final response.
 * @param request_method the method of the request, a token such as "GET".
 * @param err as for `netlib_stream_read_response`, but the error's offset counts from the start of the head.
 * @return `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` as from `netlib_stream_read_response`; the failures of
 *         `netlib_stream_read_response`, except that no number of interim responses is a failure.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_read_next_response(netlib_stream *stream, const char *request_method,
                                                               netlib_response **response, netlib_error **err);

/** Reads the bytes of a response's body that are available, at least one and at most `len`. The call removes the
 * chunked transfer coding by the rules of `netlib_body_decoder`. Bytes that have arrived after the body are left to
 * the next read. The call receives directly into `buf`, and never receives bytes after a body with a Content-Length.
 *
 * The call does what `netlib_stream_read` and `netlib_body_decoder_decode` do together, so do not call
 * `netlib_body_decoder_end`. If the peer ends its data, the body is complete only if its framing is
 * `NETLIB_BODY_FRAMING_UNTIL_CLOSE`.
 * @param decoder the decoder for the body of the response whose head was read last from the stream.
 * @param len the size of `buf` in bytes; with 0, nothing is read. Buffers of 16 KiB or more are the fastest.
 * @param n out: the number of bytes of the body at the start of `buf`. The call may overwrite the rest of `buf`.
 * @return `NETLIB_END_OF_STREAM` when the body is complete, without I/O if the response has no body:
 *         `netlib_body_decoder_trailers` then returns the trailer fields;
 *         `NETLIB_INCOMPLETE_READ` if the peer has ended its data inside the body; `NETLIB_PROTOCOL` if the chunked
 *         transfer coding is malformed, exceeds a limit, or has a trailer field that `netlib_body_decoder` refuses;
 *         `NETLIB_WANT_READ` if the stream is non-blocking and no
 *         byte of the body has arrived, and during a TLS handshake also `NETLIB_WANT_WRITE`; `NETLIB_TLS_TRUNCATED`;
 *         all failures of `netlib_stream_read`.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_read_body(netlib_stream *stream, netlib_body_decoder *decoder, void *buf,
                                                      size_t len, size_t *n, netlib_error **err);

/** Reads a whole response body into memory, or its rest if `netlib_stream_read_body` has returned bytes before. The
 * rules are those of `netlib_stream_read_body`. Use this function for a body that fits in memory, such as JSON.
 *
 * After `NETLIB_WANT_READ`, a timeout or another end of the wait, call the function again with the same decoder: the
 * decoder keeps the bytes that have arrived. Until the function has returned the body, no other function may read bytes
 * of it.
 * @param decoder the decoder for the body of the response whose head was read last from the stream.
 * @param max_size the maximum number of bytes that the function returns. Calls that continue cannot raise the maximum.
 *        If more bytes are known to be left, the call fails before it reads.
 * @param body out: the bytes.
 * @return `NETLIB_TOO_MUCH_DATA` if the body is too large: close the connection; `NETLIB_INVALID_ARGUMENT` if another
 *         function has read bytes of the body after an earlier call of this function; all failures of
 *         `netlib_stream_read_body`, and `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` as from that function.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_read_whole_body(netlib_stream *stream, netlib_body_decoder *decoder,
                                                            size_t max_size, netlib_bytes **body, netlib_error **err);

/** Reads and discards the rest of a response's body, so that the connection can carry another request. Close the
 * connection instead if the rest is long: a new connection may take less time. After `NETLIB_WANT_READ`, call the
 * function again.
 * @param decoder the decoder for the body of the response whose head was read last from the stream.
 * @param max_size the maximum number of bytes to discard. Calls that continue cannot raise the maximum. If more bytes
 *        are known to be left, the call fails before it reads.
 * @param seconds the maximum time, in addition to the limit and timeouts of the stream; `NETLIB_TIMEOUT_NONE` for no
 *        maximum. On a non-blocking stream, which does not wait, the time has no effect.
 * @return `NETLIB_OK` when the body is complete: see `netlib_response_keeps_alive`; `NETLIB_TOO_MUCH_DATA` if the rest
 *         is longer than `max_size`, and `NETLIB_DEADLINE_EXCEEDED` after `seconds`: close the connection;
 *         `NETLIB_INVALID_ARGUMENT` if `seconds` is negative or NaN, or if the limit of the stream already has 8
 *         ancestors; all failures of `netlib_stream_read_body`, and
 *         `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` as from that function.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_discard_body(netlib_stream *stream, netlib_body_decoder *decoder,
                                                         size_t max_size, double seconds, netlib_error **err);

/* ==================================================================================================================
 * tls: TLS contexts, and TLS streams on descriptors, on callbacks and inside other streams.
 * ================================================================================================================== */

/** A TLS context: the settings that TLS streams share (trusted certificates, the local certificate, TLS versions), and
 * a cache of sessions that can be resumed. Corresponds to OpenSSL's SSL_CTX and Python's `ssl.SSLContext`.
 * **Immutable**: make one context, and use it for any number of streams on any threads.
 *
 * A client makes a context with `netlib_tls_context_new`, then for each connection calls `netlib_tls_wrap_fd`,
 * `netlib_stream_write`, `netlib_stream_read`, `netlib_stream_shutdown` and `netlib_stream_free`. A server also calls
 * `netlib_tls_options_set_identity_files`, and calls `netlib_tls_accept_fd` instead of `netlib_tls_wrap_fd`. Use
 * `netlib_tls_wrap_stream` for TLS inside another stream (after CONNECT or STARTTLS, and TLS in TLS),
 * `netlib_tls_wrap_callbacks` for an application-defined transport, or `netlib_tls_engine_new_client` for bytes in
 * memory.
 *
 * Further functions serve special purposes. `netlib_tls_options_add_pin` restricts the accepted certificates or keys.
 * With a `netlib_tls_session`, the application chooses the session that is resumed; by default, the context chooses
 * the session. `netlib_tls_options_set_early_data` allows a request to be sent with the first message of the
 * handshake. `netlib_tls_context_with_ech` hides the server's name from observers of the connection.
 * `netlib_tls_context_verify_chain` verifies certificates without a connection. `netlib_connection_key` computes keys
 * for connection pools. */
struct netlib_tls_context;

/** The settings from which `netlib_tls_context_new` makes a TLS context. **One call at a time**. The setters read no
 * files: `netlib_tls_context_new` reads them. */
struct netlib_tls_options;

/** Makes TLS options that hold the defaults.
 * @return Never NULL. */
NETLIB_MUST_USE netlib_tls_options *netlib_tls_options_new(void);

/** Returns an independent copy of the TLS options. */
NETLIB_MUST_USE netlib_tls_options *netlib_tls_options_clone(const netlib_tls_options *options);

/** Checks that no setter has recorded an error. `netlib_tls_context_new` makes the same check, and then reads files,
 * parses certificates, CRLs and keys, decrypts the private key, and compares settings with each other.
 * @return `NETLIB_INVALID_ARGUMENT` for a value that is not allowed; `NETLIB_UNSUPPORTED`; `NETLIB_NO_CIPHER_SUITES`
 *         for a cipher string that selects no cipher suite.
 */
NETLIB_MUST_USE netlib_status netlib_tls_options_check(const netlib_tls_options *options, netlib_error **err);

/** Releases TLS options. The contexts that were made from the options are not affected. */
void netlib_tls_options_free(netlib_tls_options *options);

/** Makes a TLS context. The call reads the system's certificate store and the files that the options name; netlib does
 * not read them again later. Corresponds to OpenSSL's SSL_CTX_new and urllib3's create_urllib3_context.
 * @param options the settings; later changes to them do not affect the context. May be NULL: the defaults, for a
 *        client with TLS 1.2 and 1.3 that trusts the system's authorities.
 * @param err the error message begins with the name of the setter whose value is invalid.
 * @return `NETLIB_INVALID_ARGUMENT` for a value that is not allowed, or settings that leave no TLS version;
 *         `NETLIB_UNSUPPORTED`; `NETLIB_NO_CIPHER_SUITES`; `NETLIB_IO` for a file that cannot be read, or a key log
 *         file that cannot be opened; `NETLIB_INVALID_PEM` for a file without a usable certificate or key;
 *         `NETLIB_NO_TRUST_ANCHORS`; for the private key, `NETLIB_PASSWORD_REQUIRED`, `NETLIB_WRONG_PASSWORD` and
 *         `NETLIB_KEY_MISMATCH`.
 * @blocks while files are read. */
NETLIB_MUST_USE netlib_status netlib_tls_context_new(const netlib_tls_options *options, netlib_tls_context **context,
                                                     netlib_error **err);

/** Returns another reference to the same TLS context. */
NETLIB_MUST_USE netlib_tls_context *netlib_tls_context_clone(const netlib_tls_context *context);

/** Releases a TLS context. Streams that use the context keep references of their own. */
void netlib_tls_context_free(netlib_tls_context *context);

/* ---- Trusted authorities. ---- */

/** Trusts the certificates in a file, in addition to those of earlier calls. Corresponds to OpenSSL's CAfile and curl's
 * --cacert. Default: none. Once a certificate is added, the system's authorities are no longer trusted by default: see
 * `netlib_tls_options_set_system_trust`.
 *
 * The file may contain certificates of authorities and certificates of peers. netlib uses both kinds as `openssl
 * verify -partial_chain` does:
 *
 * - An authority may issue certificates for any name, within the validity, pathlen, extendedKeyUsage, keyUsage and
 *   nameConstraints of its own certificate. A certificate belongs to an authority if its basicConstraints say CA:TRUE,
 *   if it has no basicConstraints and its keyUsage includes keyCertSign, or if it is self-signed and of version 1. A
 *   certificate does not belong to an authority if its keyUsage lacks keyCertSign, or if it has a critical extension
 *   that netlib does not understand.
 * - Any other certificate, such as the certificate of a server, matches only itself, byte for byte, and its holder
 *   cannot issue certificates.
 * - A peer may present a certificate from the file as the peer's own certificate, regardless of the certificate's
 *   issuer, and even if the certificate says CA:TRUE, as the certificates of `openssl req -x509` do. netlib accepts
 *   such a certificate if its validity dates, name, purpose and key are acceptable. If CRLs were added, netlib also
 *   checks that the certificate is not revoked: see `netlib_tls_options_add_crl_file`. Prefer certificates with
 *   CA:FALSE for peers, because the holder of the key of a certificate with CA:TRUE can issue certificates for any
 *   name.
 *
 * netlib skips a certificate that cannot be used, and `netlib_tls_context_trust_source_skipped` lists the skipped
 * certificates. netlib also skips PEM sections of OpenSSL's type "TRUSTED CERTIFICATE", because netlib does not
 * support their trust settings. A missing file, malformed PEM, or a file without any usable certificate makes
 * `netlib_tls_context_new` fail, with the path in the error message.
 * @param path the path of the file, in PEM or DER; up to 16 MiB. The file may be a pipe that ends within 5 seconds,
 *        such as a shell's `<(...)`.
 */
void netlib_tls_options_add_ca_file(netlib_tls_options *options, const char *path);

/** Trusts the certificates in the files of a directory, in addition to those of earlier calls. Corresponds to OpenSSL's
 * CApath, but netlib reads all files when the context is made. Default: none.
 *
 * If there are files with hashed names such as `5ed36f99.0`, which `c_rehash` makes and OpenSSL looks for, netlib
 * reads only these files, so that netlib and OpenSSL trust the same authorities. Otherwise, netlib reads every file
 * that is not hidden, but no subdirectory. netlib skips a file that cannot be used, and
 * `netlib_tls_context_trust_source_skipped` lists the skipped files. A directory that cannot be read, or that contains
 * no usable certificate, makes `netlib_tls_context_new` fail, with the path in the error message. CRLs with hashed
 * names such as `5ed36f99.r0` are also skipped and listed: to add CRLs, use `netlib_tls_options_add_crl_file`.
 * @param path the path of the directory, with up to 10,000 files in PEM or DER, each up to 16 MiB, together up to 64
 *        MiB.
 */
void netlib_tls_options_add_ca_dir(netlib_tls_options *options, const char *path);

/** Trusts certificates from memory, as `netlib_tls_options_add_ca_file` does from a file. Corresponds to Python's
 * cadata. Default: none.
 * @param data certificates in PEM, or in DER one after the other; up to 16 MiB. */
void netlib_tls_options_add_ca_data(netlib_tls_options *options, const void *data, size_t len);

/** Sets whether the system's authorities are trusted. Corresponds to Python's load_default_certs. Default: 1, unless
 * other certificates were added, the built-in authorities were requested, or no chains are verified (with
 * `NETLIB_CERT_NONE`, with `netlib_tls_options_set_pins_replace_chain`, or with `netlib_tls_options_set_server_only`
 * if the server requests no client certificates). If `netlib_tls_options_set_system_trust` sets 1, the system's
 * authorities are trusted in addition to all other trusted certificates. If the system has no authorities, those built
 * into netlib are used instead. The rules of `netlib_tls_options_add_ca_file` also apply to the certificates of the
 * system's store. */
void netlib_tls_options_set_system_trust(netlib_tls_options *options, int32_t on);

/** Sets whether the context is for servers only. With 1, making a client's stream or engine fails with
 * `NETLIB_INVALID_ARGUMENT`. With 1, netlib reads the system's authorities only if
 * `netlib_tls_options_set_verify_mode` requests client certificates or `netlib_tls_options_set_system_trust` sets 1.
 * Not reading a store of 140 authorities saves a few milliseconds. Default: 0, because netlib cannot distinguish the
 * settings of a server from those of a client with a certificate. With 1 and without a local certificate,
 * `netlib_tls_context_new` fails with `NETLIB_INVALID_ARGUMENT`. Corresponds to Python's PROTOCOL_TLS_SERVER and
 * OpenSSL's TLS_server_method. */
void netlib_tls_options_set_server_only(netlib_tls_options *options, int32_t on);

/** Sets whether a context keeps the DER of its trusted certificates, so that `netlib_tls_context_trust_anchor` can
 * return it. Default: 0, because verification needs only the names and keys of authorities. With 1, a context needs
 * more memory: the size of the certificates in DER, for example 160 KB for a system with 144 authorities. Corresponds
 * to OpenSSL's X509_STORE, which always keeps the certificates. */
void netlib_tls_options_set_keep_trust_anchors(netlib_tls_options *options, int32_t on);

/** Sets whether the built-in authorities are trusted: the authorities of Mozilla's root programme, which are compiled
 * into netlib. The built-in authorities are the same on every machine, and as old as the library. Corresponds to
 * Python's package certifi. Default: 0, so that the built-in authorities are trusted only if the system has no
 * authorities. With 1, the built-in authorities replace the system's authorities, unless
 * `netlib_tls_options_set_system_trust` is also set to 1.
 *
 * Of each built-in authority, netlib knows the name, the key and the nameConstraints, but not the certificate. So
 * netlib does not check the validity dates of built-in authorities, and does not accept their certificates as a peer's
 * own certificate. */
void netlib_tls_options_set_embedded_trust(netlib_tls_options *options, int32_t on);

/* ---- The local certificate and private key. ---- */

/** Sets the identity, which is the local certificate and its private key, from files. A server needs an identity; a
 * client sends the certificate only to a server that requests one. Corresponds to Python's `load_cert_chain`, and to
 * curl's --cert and --key. Default: none.
 *
 * The key is an RSA key of 2048 to 8192 bits, an EC key on P-256, P-384 or P-521, or an Ed25519 key, in the format
 * PKCS#8, PKCS#1 or SEC1. An encrypted key needs `netlib_tls_options_set_key_password`. The supported encryptions are
 * PKCS#8 with PBES2 (AES-128-CBC, AES-192-CBC, AES-256-CBC or DES-EDE3-CBC; scrypt, or PBKDF2 with HMAC-SHA1 to
 * HMAC-SHA512), PKCS#8 with the schemes of PKCS#12 (SHA-1 with 3DES or RC2), and traditional PEM encryption (a
 * DEK-Info header with one of the ciphers of PBES2). If the PEM contains several keys, netlib uses the first; other
 * sections, such as EC PARAMETERS, are skipped.
 *
 * Certificate and key may be in one PKCS#12 file (.p12, .pfx; RFC 7292), as exported by browsers, Windows and Java;
 * the format is detected automatically. For a PKCS#12 file, pass NULL as `key_path`, and set the password of the file.
 * The MAC of the file, with SHA-1 to SHA-512 or PBMAC1 (RFC 9579), is verified before anything is decrypted. A file
 * without a MAC is accepted. netlib uses the first key that has a matching certificate, the matching certificate (if
 * several match, the one with the key's localKeyID), and the certificates of its issuers, which may be in the file in
 * any order. Everything else in the file is skipped.
 *
 * `netlib_tls_context_new` fails with `NETLIB_PASSWORD_REQUIRED` for an encrypted key without a password,
 * `NETLIB_WRONG_PASSWORD` for a wrong password, `NETLIB_KEY_MISMATCH` for a key that does not belong to the first
 * certificate, `NETLIB_INVALID_PEM` for a malformed key or certificate, or a file without a key or certificate,
 * `NETLIB_INVALID_ARGUMENT` for a separate key in addition to PKCS#12, and `NETLIB_UNSUPPORTED` for a key of another
 * kind, a key with another encryption, or a key whose decryption costs too much: more than 2,000,000 iterations of
 * PBKDF2 (8,000,000 for all parts of PKCS#12), more than 128 MiB for scrypt, or a scrypt N*r*p of more than 2,097,152.
 * @param chain_path the path of the file with the local certificate, followed by the certificates that lead to an
 *        authority, in PEM or DER; or the path of the PKCS#12 file. The file has up to 16 MiB, and may be a pipe that
 *        ends within 5 seconds.
 * @param key_path the path of the file with the private key; the limits of `chain_path` apply. May be NULL: the key is
 *        in the file of `chain_path`.
 */
void netlib_tls_options_set_identity_files(netlib_tls_options *options, const char *chain_path, const char *key_path);

/** Sets the identity, which is the local certificate and its private key, from memory, as
 * `netlib_tls_options_set_identity_files` does from files. The later call of the two functions replaces the identity
 * of the earlier call. Default: none. Corresponds to OpenSSL's SSL_CTX_use_certificate and SSL_CTX_use_PrivateKey, and
 * for PKCS#12 to PKCS12_parse.
 * @param chain the local certificate, followed by the certificates that lead to an authority, in PEM, or in DER one
 *        after the other; or PKCS#12 data. Up to 16 MiB. netlib copies the data, and wipes the copy when the last
 *        options or context that holds the copy is freed.
 * @param key the private key, in PEM or DER; up to 16 MiB. netlib copies the key, and wipes the copy as it wipes the
 *        copy of `chain`. May be NULL: the key is in `chain`.
 */
void netlib_tls_options_set_identity(netlib_tls_options *options, const void *chain, size_t chain_len,
                                     const void *key, size_t key_len);

/** Sets the password of the private key or of the PKCS#12 file. The password can be set before or after the key.
 * Corresponds to the `password` of Python's `load_cert_chain` and to curl's --pass. Default: none. The password is
 * ignored when nothing is encrypted.
 *
 * The encryption schemes of PKCS#12 use the password as text. netlib first decodes the password as UTF-8, as OpenSSL
 * does. If the password is not UTF-8, or does not open the file, netlib then decodes each byte as one character, as
 * older programs do. A file that was made without a password opens with an empty password, and a file that was made
 * with an empty password opens without one.
 * @param password the password: any bytes, up to 1024; with `len` 0, an empty password. netlib copies the password,
 *        and wipes each copy when the options or the context that holds it is freed. May be NULL: no password.
 */
void netlib_tls_options_set_key_password(netlib_tls_options *options, const void *password, size_t len);

/* ---- Verification of the peer's certificate: host names, pins, revocation, flags, time. ---- */

/** Verify modes: whether a certificate of the peer is requested and verified. The numbers are those of Python's `ssl`
 * module. */
enum netlib_verify_mode NETLIB_INT32 {
    /** The peer's certificate is not verified. A server does not request a certificate. */
    NETLIB_CERT_NONE = 0,
    /** A server requests a certificate, accepts a client without a certificate, and refuses an invalid certificate. For
     * a client, the mode is the same as `NETLIB_CERT_REQUIRED`, because a server always has a certificate. */
    NETLIB_CERT_OPTIONAL = 1,
    /** The peer must send a certificate. The certificate must be trusted itself, or a chain must lead from it to a
     * trusted authority. */
    NETLIB_CERT_REQUIRED = 2
};

/** Verify flags: bits for `netlib_tls_options_set_verify_flags`, with the numbers of OpenSSL's X509_V_FLAG_ and
 * Python's `ssl.VerifyFlags`. */
enum netlib_verify_flag NETLIB_INT32 {
    /** Adds no check to the verification of the chain. */
    NETLIB_VERIFY_FLAG_DEFAULT = 0,
    /** The peer's own certificate must not be revoked, and a CRL of its issuer must have been added. */
    NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF = 4,
    /** No certificate of the chain, except that of the trusted authority, may be revoked, and a CRL of each issuer must
     * have been added. */
    NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN = 12,
    /** Every certificate of the chain, including that of the trusted authority, must obey additional rules of RFC 5280;
     * an authority that is built into netlib is not checked. Every certificate must have a subject or a critical
     * subjectAltName, and a subjectAltName must not be empty. Every certificate that is not itself trusted must have a
     * positive serial number of at most 20 bytes, and an authorityKeyIdentifier, which a self-issued certificate may
     * lack. The certificate of an authority must also have a subject, a subjectKeyIdentifier, critical
     * basicConstraints, and a keyUsage with keyCertSign. Other certificates must have neither keyCertSign nor a
     * pathLenConstraint. If the peer's own certificate is itself trusted, only the rule about keyCertSign counts. */
    NETLIB_VERIFY_FLAG_X509_STRICT = 32,
    /** In OpenSSL, the flag allows proxy certificates (RFC 3820). netlib does not support proxy certificates:
     * `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. */
    NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS = 64,
    /** When netlib builds a chain, it tries trusted authorities before certificates that the peer sent. netlib always
     * behaves as if the flag were set. */
    NETLIB_VERIFY_FLAG_X509_TRUSTED_FIRST = 32768,
    /** A trusted authority ends the chain, even if another authority issued its certificate. netlib always behaves as
     * if the flag were set. */
    NETLIB_VERIFY_FLAG_X509_PARTIAL_CHAIN = 524288
};

/** Sets the verify mode: whether a certificate of the peer is requested and verified. Corresponds to Python's
 * `ssl.SSLContext.verify_mode`. Default: `NETLIB_CERT_REQUIRED` for a client, `NETLIB_CERT_NONE` for a server. As in
 * Python, `NETLIB_CERT_NONE` is an invalid value after `netlib_tls_options_set_check_hostname` with 1. */
void netlib_tls_options_set_verify_mode(netlib_tls_options *options, enum netlib_verify_mode mode);

/** Sets whether the server's certificate must be for the server's host name. Corresponds to Python's `check_hostname`.
 * Default: 1, or 0 if the verify mode is `NETLIB_CERT_NONE`. Setting 1 changes the verify mode `NETLIB_CERT_NONE` to
 * `NETLIB_CERT_REQUIRED`. With 0, a certificate for any name is accepted, and `netlib_tls_wrap_fd` needs no host name.
 */
void netlib_tls_options_set_check_hostname(netlib_tls_options *options, int32_t on);

/** Adds a pin: the peer's chain must contain one of the pinned certificates or keys, in addition to all other checks.
 * Corresponds to curl's CURLOPT_PINNEDPUBLICKEY and urllib3's assert_fingerprint, but netlib checks pins in every
 * handshake, before any application data is sent. One matching pin suffices, so also pin a key that you keep in
 * reserve (RFC 7469). Default: none.
 *
 * netlib compares the pins with the verified chain: the peer's own certificate, the intermediate certificates, and the
 * trusted authority at the end of the chain (the authority's key, and its certificate if the certificate was added to
 * the options). Certificates that the peer sent but that are not part of the verified chain are ignored, because
 * anyone can send a copy of a certificate. With `NETLIB_CERT_NONE`, and after
 * `netlib_tls_options_set_pins_replace_chain`, netlib compares only the peer's own certificate and its key, because
 * the handshake proves possession of that key only. If no pin matches, the handshake fails with
 * `NETLIB_FINGERPRINT_MISMATCH`, and the error message contains the pin of the peer's key.
 *
 * A server compares its clients' certificates with the pins. By default, a server requests no certificate: if the
 * context has pins, `netlib_tls_accept_fd` and its variants then fail with `NETLIB_INVALID_ARGUMENT`. With
 * `NETLIB_CERT_OPTIONAL`, a client without a certificate is accepted. Streams resume only sessions of the same
 * context, so the pins also hold for resumed sessions.
 * @param pin one of two forms. 64 hex digits, case-insensitive, with optional colons, are the SHA-256 of a
 *        certificate, as from `openssl x509 -fingerprint -sha256` and `netlib_certificate_fingerprint`, or of a key
 *        (SubjectPublicKeyInfo). "sha256//" followed by base64 is the SHA-256 of a key, in the form that curl accepts
 *        and `netlib_certificate_public_key_pin` returns.
 */
void netlib_tls_options_add_pin(netlib_tls_options *options, const char *pin);

/** Sets whether a pin for the peer's own certificate replaces the verification of the chain, for example for a
 * self-issued certificate. Corresponds to curl's CURLOPT_PINNEDPUBLICKEY with CURLOPT_SSL_VERIFYPEER 0. Default: 0. A
 * pin then does not replace the chain: the peer needs a matching pin and a chain to an authority. With 1 and without a
 * pin, `netlib_tls_context_new` fails.
 *
 * With 1, issuer, validity dates, purpose and revocation are no longer checked, and no authority is needed. netlib
 * still checks that a pin matches the certificate or its key, that the peer proves possession of that key, that the
 * key is strong enough, and that the certificate is for the host name. The check of the host name can be turned off
 * with `netlib_tls_options_set_check_hostname`, and is off by default with `NETLIB_CERT_NONE`. */
void netlib_tls_options_set_pins_replace_chain(netlib_tls_options *options, int32_t on);

/** Adds certificate revocation lists (CRLs, RFC 5280) from a file to those of earlier calls. Corresponds to curl's
 * --crlfile and Python's load_verify_locations. Default: none; netlib never downloads a CRL.
 *
 * Once a CRL is added, netlib looks up every certificate of a chain in the CRLs, or with
 * `NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF` only the peer's own certificate. A revoked certificate is refused with the
 * problem `NETLIB_CERTIFICATE_PROBLEM_REVOKED`. A certificate is refused with
 * `NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN` if no CRL of its issuer was added, or only an expired one. If
 * several CRLs of an issuer cover a certificate, the newest is used. A CRL is used only if its issuer may sign CRLs:
 * the keyUsage, if any, of the issuer's certificate must include cRLSign, even if the certificate is trusted.
 *
 * netlib does not look up trusted authorities in the CRLs. A peer's own certificate that is itself trusted is looked
 * up in the CRLs of its issuer (a self-signed certificate in the CRLs that its key signed), regardless of other
 * certificates that the peer sends. If netlib accepts a peer certificate only because that certificate itself is
 * trusted, and not through a chain to an authority, the issuer of the certificate must be trusted too, so that netlib
 * can check whether the certificate is revoked. If the issuer is not trusted, netlib refuses the certificate, because
 * netlib verifies a CRL only with the key of a trusted certificate. So adding a CRL makes netlib refuse a trusted
 * self-signed peer certificate whose key has signed no CRL, as `openssl verify -partial_chain -crl_check` does. A CRL
 * with an issuingDistributionPoint covers only the certificates that this extension names.
 * @param path the path of the file, in PEM or DER; up to 16 MiB. In PEM, all sections "X509 CRL" are read and other
 *        sections are skipped. The file may be a pipe that ends within 5 seconds. For delta and indirect CRLs,
 *        `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
 */
void netlib_tls_options_add_crl_file(netlib_tls_options *options, const char *path);

/** Adds CRLs from memory, as `netlib_tls_options_add_crl_file` does from a file. Corresponds to OpenSSL's
 * X509_STORE_add_crl. Default: none.
 * @param data CRLs in PEM, or in DER one after the other; up to 16 MiB. */
void netlib_tls_options_add_crl_data(netlib_tls_options *options, const void *data, size_t len);

/** Sets the verify flags: additional checks of certificates, for clients and servers. Corresponds to Python's
 * `ssl.SSLContext.verify_flags`. Default: `NETLIB_VERIFY_FLAG_DEFAULT`. If CRLs were added, but no flag checks CRLs,
 * netlib adds `NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN`. If a flag checks CRLs, but no CRL was added,
 * `netlib_tls_context_new` fails. `NETLIB_VERIFY_FLAG_X509_STRICT` is off by default; urllib3 sets it with Python 3.13
 * or newer.
 * @param flags bits of `enum netlib_verify_flag`. */
void netlib_tls_options_set_verify_flags(netlib_tls_options *options, int32_t flags);

/** Sets the clock for the validity of certificates and CRLs. Corresponds to OpenSSL's X509_VERIFY_PARAM_set_time.
 * Default: the system's clock.
 *
 * The clock callback is called once per handshake, before the handshake starts, on the thread that makes the
 * handshake. If the handshake cannot verify a chain (`NETLIB_CERT_NONE`, or
 * `netlib_tls_options_set_pins_replace_chain` with 1), the callback is not called. The callback may run on several
 * threads at once, and may be called until all contexts and options that hold it are freed. While the callback runs,
 * netlib holds no lock: the callback may call the getters and setters of the stream whose handshake starts, but must
 * not read from that stream, write to it or make its handshake. If the callback was called for the handshake of an
 * engine, calls of the callback on that engine fail with `NETLIB_BUSY`. When a session is resumed, no certificate is
 * verified: the full handshake verified the certificates. A client resumes no session after a certificate of the
 * server's chain has expired. A server fails the handshake if the certificate of a client that resumes a session has
 * expired.
 * @param clock the clock callback, which stores a finite number, 0 or more. If the callback stores another value or
 *        fails, the handshake fails with `NETLIB_CALLBACK_FAILED`. May be NULL: the system's clock.
 */
void netlib_tls_options_set_wall_clock(netlib_tls_options *options, netlib_wall_clock_fn clock, void *ctx,
                                       netlib_ctx_free_fn ctx_free);

/* ---- Versions, application protocols, resumption, the key log, the environment. ---- */

/** TLS versions, with their numbers in TLS messages. Corresponds to Python's `ssl.TLSVersion`. */
enum netlib_tls_version NETLIB_INT32 {
    /** The oldest TLS version that netlib supports. */
    NETLIB_TLS_VERSION_MINIMUM_SUPPORTED = -2,
    /** The newest TLS version that netlib supports. */
    NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED = -1,
    /** No version has been negotiated yet. Getters may return `NETLIB_TLS_VERSION_NONE`, but setters refuse it. */
    NETLIB_TLS_VERSION_NONE = 0,
    /** TLS 1.2 (RFC 5246), only with AEAD cipher suites, and with the extended master secret of RFC 7627 if the peer
     * supports it. */
    NETLIB_TLS_VERSION_1_2 = 771,
    /** TLS 1.3 (RFC 8446). */
    NETLIB_TLS_VERSION_1_3 = 772
};

/** Sets the oldest TLS version that is accepted. Corresponds to Python's `minimum_version` and urllib3's
 * ssl_minimum_version. Default: TLS 1.2. The numbers of SSL 3.0, TLS 1.0 and TLS 1.1 (768, 769 and 770) set TLS 1.2,
 * the oldest version that netlib supports; `netlib_tls_context_minimum_version` then returns TLS 1.2. If the minimum
 * is above the maximum, `netlib_tls_context_new` fails. */
void netlib_tls_options_set_minimum_version(netlib_tls_options *options, enum netlib_tls_version version);

/** Sets the newest TLS version that is offered. Corresponds to Python's `maximum_version` and urllib3's
 * ssl_maximum_version. Default: TLS 1.3. For SSL 3.0, TLS 1.0 and TLS 1.1 (768, 769 and 770), which netlib does not
 * support, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. */
void netlib_tls_options_set_maximum_version(netlib_tls_options *options, enum netlib_tls_version version);

/** Adds an application protocol (ALPN, RFC 7301). Add the most preferred protocol first. Corresponds to Python's
 * `set_alpn_protocols`, but takes one name per call, and refuses lists such as "h2,http/1.1" and the length-prefixed
 * list of OpenSSL's SSL_CTX_set_alpn_protos. Default: none.
 * @param protocol the protocol's name, for example "http/1.1": 1 to 255 bytes without a comma. All names together,
 *        with one additional byte for each name, have at most 8192 bytes.
 */
void netlib_tls_options_add_alpn_protocol(netlib_tls_options *options, const char *protocol);

/** Sets whether clients and servers cache and resume sessions, in TLS 1.2 and 1.3. Corresponds to OpenSSL's
 * SSL_CTX_set_session_cache_mode; 0 corresponds to SSL_SESS_CACHE_OFF and also turns off session tickets. Default: 1,
 * so that a stream resumes a session of another stream with the same context and server name; see
 * `netlib_tls_session`. TLS 1.3 servers send sessions after the handshake, so a client that never reads receives no
 * session. */
void netlib_tls_options_set_resumption(netlib_tls_options *options, int32_t on);

/** Sets whether session tickets (RFC 5077) are used in TLS 1.2. Corresponds to OpenSSL's SSL_OP_NO_TICKET with the
 * opposite value: `netlib_tls_options_set_session_tickets` and the bit `NETLIB_OP_NO_TICKET` change the same setting,
 * and the later call wins. Default: 0, as in urllib3, because tickets of TLS 1.2 are sent in the clear, under a key
 * that outlives many sessions; without tickets, TLS 1.2 sessions are resumed by their session ID. The tickets of TLS
 * 1.3 are not affected. */
void netlib_tls_options_set_session_tickets(netlib_tls_options *options, int32_t on);

/** Sets the key log file, to which netlib appends the secrets of the context's sessions, so that a program such as
 * Wireshark can decrypt captured traffic. Anyone who can read the key log file can decrypt the sessions. Corresponds
 * to Python's `keylog_filename`. Default: the file that the environment variable SSLKEYLOGFILE names, if any, as in
 * urllib3, but without expansion of "$" in the name; see `netlib_tls_options_set_use_environment`.
 *
 * `netlib_tls_context_new` opens the key log file, or fails with `NETLIB_IO`; the file stays open as long as the
 * context or one of its streams exists. Opening the file is the last step, so that a context that cannot be made for
 * another reason leaves no empty file. netlib creates the file so that only its owner can read and write it. netlib
 * writes the lines of NSS' key log format, each with one write(2); a line that cannot be written does not end the
 * session. A pipe must have a reader; netlib does not wait for the reader, so lines for which the pipe has no room are
 * lost.
 * @param path the path of the file. May be NULL: no secrets are written, even if SSLKEYLOGFILE is set. */
void netlib_tls_options_set_keylog_file(netlib_tls_options *options, const char *path);

/** Sets whether the environment variables SSL_CERT_FILE and SSL_CERT_DIR name the system's authorities, as in OpenSSL,
 * and whether SSLKEYLOGFILE names the file to which secrets are written. Default: 1, except in a program with raised
 * privileges (see secure_getenv(3)). Only `netlib_tls_context_new` reads the environment variables.
 * `netlib_tls_context_new` fails with `NETLIB_NO_TRUST_ANCHORS` if SSL_CERT_FILE or SSL_CERT_DIR is set, but no
 * certificate is found in the files and directories that they name. */
void netlib_tls_options_set_use_environment(netlib_tls_options *options, int32_t on);

/* ---- Cipher suites and key exchange groups. ---- */

/** Sets the cipher suites with a cipher string, in the language of OpenSSL. Corresponds to Python's `set_ciphers` and
 * curl's --ciphers. Default: all nine suites of netlib, each with forward secrecy and an AEAD, the fastest first:
 * AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305 on processors with AES instructions; ChaCha20-Poly1305, AES-128-GCM,
 * AES-256-GCM on other processors.
 *
 * The cipher string consists of words, separated by `:`, `,`, `;` or blanks, which are applied from left to right. A
 * word is the OpenSSL name ("ECDHE-RSA-AES128-GCM-SHA256") or the IANA name of a suite, or an alias of OpenSSL 3.0
 * ("HIGH", "ECDHE", "AESGCM", "aRSA", …). Words joined by `+` select the suites that all of these words select. A word
 * appends its suites to the list of selected suites. A word after `!` removes its suites permanently; a word after `-`
 * removes its suites until they are added again; a word after `+` moves its suites to the end. "DEFAULT" at the start
 * selects all suites, in OpenSSL's order. "@STRENGTH" sorts the suites by the length of their key. "@SECLEVEL=0", "=1"
 * and "=2" change nothing, because netlib always requires about level 2. For a security level above 2, and for
 * "SUITEB128" and its variants, `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
 *
 * The cipher string determines the TLS 1.2 suites and their order. All TLS 1.3 suites are offered, in OpenSSL's order,
 * unless the string names a TLS 1.3 suite ("TLS_AES_128_GCM_SHA256"): then only the named TLS 1.3 suites are offered,
 * in the order of the string; a name after `!` or `-` removes its suite. (OpenSSL has a separate setting for TLS 1.3
 * suites.) If no suite is left for a TLS version, that version is not offered.
 *
 * As in OpenSSL, a misspelt word, or a word for a suite that netlib does not have, selects nothing: see
 * `netlib_tls_context_unknown_ciphers`. If the cipher string selects no suite, `netlib_tls_context_new` fails with
 * `NETLIB_NO_CIPHER_SUITES`, and the error message lists the available suites. If the text is not a cipher string,
 * `netlib_tls_context_new` fails with `NETLIB_INVALID_ARGUMENT` and the offset of the problem. On a server, the kind
 * of the private key also limits the suites: "aECDSA" needs an EC or Ed25519 key.
 * @param ciphers the cipher string; at most 16 KiB. May be NULL, or empty: the default. */
void netlib_tls_options_set_ciphers(netlib_tls_options *options, const char *ciphers);

/** Sets the groups for the key exchange, in order of preference. Corresponds to OpenSSL's SSL_CTX_set1_groups_list,
 * Go's `CurvePreferences` and curl's --curves. Default: "X25519MLKEM768:x25519:secp256r1:secp384r1". The first group
 * of the default also resists attacks with a quantum computer.
 *
 * Groups have their IANA or OpenSSL names ("secp256r1", "P-256", "prime256v1"), which are case-insensitive and
 * separated by `:`. In addition to the default groups, SecP256r1MLKEM768, MLKEM768 and MLKEM1024 are available. All
 * groups with MLKEM in their name require TLS 1.3. If `groups` names no group for a TLS version, that version is not
 * offered. An unknown group makes `netlib_tls_context_new` fail with `NETLIB_INVALID_ARGUMENT`; an unknown group after
 * `?` is ignored, as in OpenSSL 3.3. A group may be named only once.
 *
 * A client sends a key share for the first group. If the first group is X25519MLKEM768 and x25519 is also listed, the
 * client also sends a key share for x25519, at no extra cost. A server that prefers another group requests a key share
 * for that group, which takes one more round trip. If resumption is on (`netlib_tls_options_set_resumption`), the
 * client remembers the group, and sends a key share for that group at once in the next handshake with that server.
 * Servers of netlib select the group that the client prefers most among the groups that both sides list.
 * @param groups the names of the groups; at most 4096 bytes. May be NULL, or empty: the default. */
void netlib_tls_options_set_key_exchange_groups(netlib_tls_options *options, const char *groups);

/* ---- Servers with several host names (SNI). ---- */

/** Chooses a server's context by the host name that a client requests (SNI, RFC 6066 section 3). The callback is called
 * once per handshake, when the ClientHello is complete, on the thread that makes the handshake; netlib holds no lock
 * while the callback runs. The callback may run on several threads at once. The callback may call the getters of the
 * stream whose handshake invoked the callback, but must not read from that stream, write to it or make its handshake.
 * If the callback was called for the handshake of an engine, calls of the callback on that engine fail with
 * `NETLIB_BUSY`.
 * @param server_name the requested host name: a DNS name in lower case, in its ASCII form, borrowed until the callback
 *        returns. May be NULL: the client sent no name, or sent an IP address.
 * @param replacement in/out: `*replacement` is NULL when the callback is called. A context that the callback stores
 *        replaces the server's context: the handshake uses the certificate, TLS versions, application protocols and
 *        client verification of the new context, but does not call the new context's callback. netlib takes ownership
 *        of the stored reference, regardless of the verdict: store a clone (`netlib_tls_context_clone`).
 * @param verdict out: `NETLIB_VERDICT_ALLOW` to continue with `*replacement`, or with the server's context if
 *        `*replacement` is NULL; `NETLIB_VERDICT_REFUSE` to refuse the client with the alert unrecognized_name (112,
 *        RFC 8446 section 6). After a refusal, the server's handshake fails with `NETLIB_CALLBACK_FAILED`, and
 *        `netlib_error_tls_alert` returns the alert. netlib presets `verdict` to `NETLIB_VERDICT_FAILED`. If the
 *        callback stores no verdict or any other value, or stores a context that `netlib_tls_accept_fd` would refuse
 *        (for example, because the context has no local certificate), the handshake fails with
 *        `NETLIB_CALLBACK_FAILED`, and the client receives the alert internal_error (80).
 * @called-by every call that makes a TLS handshake on a server. */
typedef void (*netlib_tls_servername_fn)(void *ctx, const char *server_name, netlib_tls_context **replacement,
                                         enum netlib_verdict *verdict);

/** Sets a callback with which a server chooses its context by the host name that the client requests. Corresponds to
 * Python's `sni_callback` and OpenSSL's SSL_CTX_set_tlsext_servername_callback. Default: no callback, so that all
 * clients are served with the same context.
 *
 * The context with the callback also needs a local certificate, for clients for which the callback stores no other
 * context. A ClientHello is buffered until it is complete, up to 64 KiB. On a client's stream or engine, the callback
 * has no effect.
 * @param callback the callback. May be NULL: no callback. */
void netlib_tls_options_set_servername_callback(netlib_tls_options *options, netlib_tls_servername_fn callback,
                                                void *ctx, netlib_ctx_free_fn ctx_free);

/* ---- TLS streams on descriptors, and the handshake. ---- */

/** Makes a client's TLS stream on a connected descriptor. The call does no I/O: the first read or write, or
 * `netlib_stream_handshake`, makes the handshake. By default, the stream is blocking and waits without a time limit:
 * see `netlib_stream_set_limit` and `netlib_stream_set_read_timeout`.
 *
 * `server_hostname` is a DNS name (Unicode is converted to IDNA by UTS 46) or an IP address, with or without brackets.
 * The server's certificate must be for this name or address (RFC 9525). A DNS name is also sent to the server, which
 * selects its certificate by the name (SNI, RFC 6066 section 3). One trailing dot is dropped, and a zone ID
 * (fe80::1%eth0) is ignored. A stream resumes only sessions of streams with the same context, name and offered
 * application protocols.
 *
 * Corresponds to Python's `wrap_socket` with do_handshake_on_connect=False, and to OpenSSL's SSL_set_fd with
 * SSL_set1_host and SSL_set_tlsext_host_name.
 * @param fd a connected stream socket, borrowed. For an invalid descriptor, the handshake fails with `NETLIB_IO`.
 * @param server_hostname the host name that the server must prove. May be NULL, or empty, only if the context does not
 *        check host names (`netlib_tls_options_set_check_hostname` with 0).
 * @return `NETLIB_INVALID_ARGUMENT` for an invalid or missing host name, for an IP address if the context has an
 *         ECHConfigList, and for a listening socket; `NETLIB_INVALID_UTF8`; `NETLIB_NO_TRUST_ANCHORS` if the context
 *         verifies chains but has no trusted certificates.
 */
NETLIB_MUST_USE netlib_status netlib_tls_wrap_fd(const netlib_tls_context *context, int fd,
                                                 const char *server_hostname, netlib_stream **stream,
                                                 netlib_error **err);

/** Makes a server's TLS stream on a descriptor from accept(2). Like `netlib_tls_wrap_fd`, the call does no I/O. If the
 * server's context and the client both list application protocols, the two lists must have a protocol in common.
 * Corresponds to Python's `wrap_socket` with server_side=True.
 * @param context the server's context, which must have a local certificate.
 * @param fd a connected stream socket, borrowed. For an invalid descriptor, the handshake fails with `NETLIB_IO`.
 * @return `NETLIB_INVALID_ARGUMENT` if the context has no local certificate, has pins but requests no certificate, or
 *         sends Encrypted Client Hello (`netlib_tls_context_with_ech`, `netlib_tls_options_set_ech_grease`), and for a
 *         listening socket.
 */
NETLIB_MUST_USE netlib_status netlib_tls_accept_fd(const netlib_tls_context *context, int fd, netlib_stream **stream,
                                                   netlib_error **err);

/** Makes the TLS handshake, unless the handshake is already done. On a plain stream, the call succeeds without I/O.
 * Reads and writes make the handshake implicitly; call `netlib_stream_handshake` to verify the peer before any data is
 * sent. If another thread is making the handshake, the call waits for that thread; on a non-blocking stream, the call
 * fails with `NETLIB_BUSY`. Corresponds to OpenSSL's SSL_do_handshake and Python's `do_handshake`.
 *
 * If the handshake fails, `netlib_error_message` describes the failure, `netlib_error_advice` names the setting, if
 * any, that would change the outcome, and `netlib_error_certificate_problem` and `netlib_error_tls_alert` return the
 * reason as numbers. If netlib ends the handshake because of a message or a certificate of the peer, it sends an alert
 * to the peer before the call returns, unless the transport does not accept the alert immediately. In TLS 1.3, a
 * server verifies the client's certificate after the client has completed the handshake: if the server refuses the
 * certificate, the client's first read fails.
 * @return `NETLIB_WANT_READ` and `NETLIB_WANT_WRITE` if the stream is non-blocking; `NETLIB_CERTIFICATE_VERIFY`;
 *         `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the context matches; `NETLIB_NOT_TLS`
 *         when the peer speaks another protocol; `NETLIB_TLS_ALERT` when the peer refuses the handshake;
 *         `NETLIB_TLS_INCOMPATIBLE` when netlib finds no TLS version, cipher suite or other parameter in common with
 *         the peer; `NETLIB_TLS_ECH_REJECTED` (see `netlib_error_ech_retry_configs`); `NETLIB_TLS_PROTOCOL`;
 *         `NETLIB_TLS_HANDSHAKE_EOF` when the connection ends during the handshake, with errno if it was reset;
 *         `NETLIB_CALLBACK_FAILED` if the callback of `netlib_tls_options_set_wall_clock` or
 *         `netlib_tls_options_set_servername_callback` failed; `NETLIB_READ_TIMEOUT`; `NETLIB_WRITE_TIMEOUT`;
 *         `NETLIB_TOO_SLOW`; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`; `NETLIB_BUSY`; `NETLIB_IO`; on a stream
 *         with callbacks, the statuses that the callbacks return.
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_handshake(netlib_stream *stream, netlib_error **err);

/* ---- Negotiated parameters of a stream. ---- */

/** Returns the number of certificates that the peer sent; 0 before the handshake is done, and after a handshake that
 * failed. A resumed session has the certificates of the original session. */
size_t netlib_stream_peer_certificate_count(const netlib_stream *stream);

/** Returns a certificate of the chain that the peer sent, in DER. `netlib_certificate_parse` parses the DER;
 * `netlib_assert_fingerprint` compares a certificate with a fingerprint. With `NETLIB_CERT_NONE`, the certificate was
 * not verified. Corresponds to Python's `getpeercert(True)` and OpenSSL's SSL_get_peer_cert_chain.
 * @param index a number from 0 (the peer's own certificate) to the number of certificates minus 1; for a larger index,
 *        NULL is returned.
 */
const uint8_t *netlib_stream_peer_certificate(const netlib_stream *stream, size_t index, size_t *len);

/** Returns the application protocol that was negotiated (RFC 7301); NULL when there is none, and before the handshake
 * is done. Corresponds to Python's `selected_alpn_protocol`. */
const char *netlib_stream_alpn_protocol(const netlib_stream *stream, size_t *len);

/** Returns the server's host name; NULL when there is none, and before the handshake is done. On a client, the result
 * is the host name with which the stream was made, in the form in which names are compared: lower case, IDNA as ASCII,
 * no trailing dot; with Encrypted Client Hello, the hidden name. The server has proved this name, unless the context
 * does not check host names. On a server, the result is the DNS name that the client requested (SNI). Corresponds to
 * Python's `SSLSocket.server_hostname` and OpenSSL's SSL_get_servername. */
const char *netlib_stream_server_name(const netlib_stream *stream, size_t *len);

/** Returns the TLS version that was negotiated: `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`;
 * `NETLIB_TLS_VERSION_NONE` before the handshake is done and for NULL. Corresponds to OpenSSL's SSL_version, which has
 * the same numbers. */
enum netlib_tls_version netlib_stream_tls_version(const netlib_stream *stream);

/** Returns the IANA name of the cipher suite that was negotiated, for example "TLS_AES_256_GCM_SHA384"; NULL before the
 * handshake is done. Corresponds to OpenSSL's SSL_CIPHER_standard_name. */
const char *netlib_stream_cipher_suite(const netlib_stream *stream, size_t *len);

/** Returns the length of the negotiated cipher suite's symmetric key in bits: 128 or 256; 0 before the handshake is
 * done. Corresponds to OpenSSL's SSL_CIPHER_get_bits, and to the last item of Python's `SSLSocket.cipher()`. */
int32_t netlib_stream_cipher_suite_bits(const netlib_stream *stream);

/** Returns the IANA name of the key exchange group, for example "X25519MLKEM768" (which also resists attacks with a
 * quantum computer), "x25519" or "secp256r1"; NULL before the handshake is done, and for a resumed TLS 1.2 session,
 * which exchanges no keys. Corresponds to OpenSSL's SSL_get0_group_name. */
const char *netlib_stream_key_exchange_group(const netlib_stream *stream, size_t *len);

/** Returns 1 if the handshake resumed an earlier session (`netlib_tls_session`) of the same context and host name; 0 if
 * the handshake resumed no session, or is not done. In a resumed session, the server does not prove its identity
 * again. Corresponds to Python's `SSLSocket.session_reused`. */
int32_t netlib_stream_is_resumed(const netlib_stream *stream);

/* ---- TLS streams inside other streams, and on callbacks. ---- */

/** Makes a client's TLS stream inside another stream. Inside a plain stream, TLS begins on a connection that has
 * carried plain text: after an http proxy has answered CONNECT, or after STARTTLS. Inside a TLS stream, the result is
 * TLS in TLS, for example to an origin server through an https proxy; corresponds to urllib3's SSLTransport
 * (tls_in_tls). The call does no I/O: the first read or write, or `netlib_stream_handshake`, makes the handshake. If
 * the handshake of an outer TLS stream is not done yet, the same call makes both handshakes: first the outer one, then
 * the inner one. Each of the two peers proves its own host name. Before the call, read exactly the response to CONNECT
 * or STARTTLS from the outer stream: the bytes after the response belong to the inner stream. If the outer stream has
 * unread bytes (see `netlib_stream_read_response`), the call fails: in TLS the client sends first, so the peer or an
 * attacker has sent them too early.
 *
 * While the inner stream exists, reads, writes, handshakes and shutdowns of the outer stream fail with `NETLIB_BUSY`,
 * and so does making another stream inside the outer stream. The getters of the outer stream still work, and you may
 * free the outer stream: the inner stream keeps it alive. If the inner stream is non-blocking, poll the
 * descriptor of the outermost stream.
 *
 * The inner stream begins with the limit, the read and write timeouts and the total limit of the outer stream, as they
 * are at the time of the call. The setters of the inner stream replace them; later changes on the outer stream have no
 * effect on the inner stream. The new stream is blocking and has no minimum throughput. A call on the inner stream
 * obeys only the settings of the inner stream, also while it uses the outer stream.
 *
 * To end both streams, shut down the inner stream, free it, and shut down the outer stream. To use the outer stream
 * for another purpose afterwards, call `netlib_stream_shutdown_both` on the inner stream before freeing it; otherwise
 * bytes that the inner stream has read from the outer stream are lost. If the inner stream finds that a plain outer
 * stream has ended or failed, later calls on the outer stream return the same result. If the outer stream ends before
 * the inner peer's close_notify, the inner stream fails with `NETLIB_TLS_TRUNCATED`, even if the outer stream ended
 * with a close_notify. If an outer TLS stream ended without close_notify, its error is a cause of the inner stream's
 * error.
 * @param outer a plain stream, or a client's or a server's TLS stream.
 * @param server_hostname the host name that the inner server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or
 *        empty, only if the context does not check host names.
 * @return `NETLIB_BUSY` when another call is using `outer`, another stream runs inside `outer`, or a write to `outer`
 *         must be repeated, because it has sent or encrypted bytes that it did not count; `NETLIB_TLS_PROTOCOL` when
 *         `outer` has unread bytes; `NETLIB_CLOSED` when `outer` was shut down; the status with which `outer` has
 *         failed; `NETLIB_UNSUPPORTED` for the 17th nested TLS stream; all that `netlib_tls_wrap_fd` returns.
 */
NETLIB_MUST_USE netlib_status netlib_tls_wrap_stream(const netlib_tls_context *context, netlib_stream *outer,
                                                     const char *server_hostname, netlib_stream **stream,
                                                     netlib_error **err);

/** Makes a server's TLS stream inside `outer`, as `netlib_tls_wrap_stream` makes a client's. The `context` must have a
 * local certificate.
 * @return `NETLIB_OK`; the failures of `netlib_tls_wrap_stream` that concern `outer`; all that `netlib_tls_accept_fd`
 *         returns.
 */
NETLIB_MUST_USE netlib_status netlib_tls_accept_stream(const netlib_tls_context *context, netlib_stream *outer,
                                                       netlib_stream **stream, netlib_error **err);

/** Makes a client's TLS stream on an application-defined transport, which consists of a read callback and a write
 * callback. The callbacks must obey the rules that `netlib_stream_new_callbacks` describes. The call does no I/O and
 * calls neither callback.
 * @param server_hostname the host name that the server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or empty,
 *        only if the context does not check host names.
 * @param read_fn receives bytes from the peer.
 * @param write_fn sends bytes to the peer.
 * @param ctx_free is called when the stream and every stream inside it have been freed; if the function fails,
 *        `ctx_free` is called before the function returns. May be NULL: even then, `ctx` must stay usable until the
 *        stream and every stream inside it have been freed.
 * @param stream out: the stream; `netlib_stream_free` calls no callback except `ctx_free`.
 * @return `NETLIB_OK`, or a failure of `netlib_tls_wrap_fd` that concerns the context or the host name. */
NETLIB_MUST_USE netlib_status netlib_tls_wrap_callbacks(const netlib_tls_context *context,
                                                        const char *server_hostname, netlib_stream_read_fn read_fn,
                                                        netlib_stream_write_fn write_fn, void *ctx,
                                                        netlib_ctx_free_fn ctx_free, netlib_stream **stream,
                                                        netlib_error **err);

/** Makes a server's TLS stream on an application-defined transport, as `netlib_tls_wrap_callbacks` makes a client's.
 * The `context` must have a local certificate.
 * @param read_fn receives bytes from the peer.
 * @param write_fn sends bytes to the peer.
 * @param ctx_free is called when the stream and every stream inside it have been freed; if the function fails,
 *        `ctx_free` is called before the function returns. May be NULL: even then, `ctx` must stay usable until the
 *        stream and every stream inside it have been freed.
 * @return `NETLIB_OK`, or a failure of `netlib_tls_accept_fd` that concerns the context. */
NETLIB_MUST_USE netlib_status netlib_tls_accept_callbacks(const netlib_tls_context *context,
                                                          netlib_stream_read_fn read_fn,
                                                          netlib_stream_write_fn write_fn, void *ctx,
                                                          netlib_ctx_free_fn ctx_free, netlib_stream **stream,
                                                          netlib_error **err);

/* ---- TLS engines: TLS sessions over a transport of your own. ---- */

/** A TLS engine: a TLS session in memory, for a transport of your own, such as an event loop, a message queue or
 * another protocol. Corresponds to Python's `SSLContext.wrap_bio` and OpenSSL's memory BIOs. **One call at a time**.
 *
 * An engine does no network I/O, never waits, and reads the clock only to check the validity of certificates and
 * sessions.
 *
 * Pass bytes from the network to `netlib_tls_engine_feed`, and send the bytes of `netlib_tls_engine_drain` to the
 * network. Drain the engine after each call of any other function, even if the call failed, because the output may
 * contain an alert for the peer. After `NETLIB_WANT_READ`, drain the engine, then feed more bytes.
 *
 * A failure of the session is final: every later feed, handshake, read, write or shutdown fails with the same error.
 * Even then, the output can be drained. The engine's buffers are bounded: 68 KiB of input, one record of plaintext,
 * and 321 KiB of output, not counting the output of the handshake.
 *
 * An engine belongs to the process that made it: in a forked child, the engine's functions that return a status fail
 * with `NETLIB_CLOSED`. */
struct netlib_tls_engine;

/** Makes a client's TLS engine. The engine's first output is available after `netlib_tls_engine_handshake`, a read or a
 * write.
 * @param server_hostname the host name that the server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or empty,
 *        only if the context does not check host names.
 * @return `NETLIB_INVALID_ARGUMENT` for an invalid or missing host name, and for an IP address if the context has an
 *         ECHConfigList; `NETLIB_INVALID_UTF8`; `NETLIB_NO_TRUST_ANCHORS` if the context verifies chains but has no
 *         trusted certificates.
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_new_client(const netlib_tls_context *context,
                                                           const char *server_hostname, netlib_tls_engine **engine,
                                                           netlib_error **err);

/** Makes a server's TLS engine. The `context` must have a local certificate.
 * @return `NETLIB_INVALID_ARGUMENT` if the context has no local certificate, has pins but requests no certificate, has
 *         an ECHConfigList, or sends GREASE (`netlib_tls_options_set_ech_grease`).
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_new_server(const netlib_tls_context *context,
                                                           netlib_tls_engine **engine, netlib_error **err);

/** Releases a TLS engine. Output that was not drained is lost. */
void netlib_tls_engine_free(netlib_tls_engine *engine);

/** Passes bytes from the network to an engine, as many as the engine has room for. A later handshake, read or write
 * processes the bytes. If `n` is less than `len`, read until `NETLIB_WANT_READ` (during the handshake,
 * `netlib_tls_engine_handshake` also makes room), then feed the rest. Bytes after the peer's close_notify are accepted
 * and ignored.
 * @param len the number of bytes; `NETLIB_NTS` is refused.
 * @param n out: the number of bytes that the engine accepted.
 * @return `NETLIB_OK`, even if no byte was accepted; `NETLIB_CLOSED` after `netlib_tls_engine_feed_eof`;
 *         `NETLIB_TLS_PROTOCOL` for a handshake message of more than 64 KiB; the status with which the session has
 *         failed.
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_feed(netlib_tls_engine *engine, const void *data, size_t len,
                                                     size_t *n, netlib_error **err);

/** Tells an engine that the transport has ended. Data that was fed before can still be read. If the peer's close_notify
 * was not fed, reads then fail with `NETLIB_TLS_TRUNCATED`, and the handshake with `NETLIB_TLS_HANDSHAKE_EOF`. Calling
 * the function again is harmless. */
void netlib_tls_engine_feed_eof(netlib_tls_engine *engine);

/** Moves output, which is the bytes to send to the peer, from an engine to `buf`, in order.
 * @param n out: the number of bytes stored in `buf`; 0 if there is no output.
 * @return `NETLIB_OK`, even if the session has failed or has ended; `NETLIB_CLOSED` in a forked child. */
NETLIB_MUST_USE netlib_status netlib_tls_engine_drain(netlib_tls_engine *engine, void *buf, size_t len, size_t *n,
                                                      netlib_error **err);

/** Returns the number of output bytes that were not drained yet. */
size_t netlib_tls_engine_output_pending(const netlib_tls_engine *engine);

/** Makes the handshake with the bytes that were fed, unless the handshake is already done. Reads and writes make the
 * handshake implicitly. After every result, there may be output to drain.
 * @return `NETLIB_OK` when the handshake is done; `NETLIB_WANT_READ` when the handshake needs more input;
 *         `NETLIB_CERTIFICATE_VERIFY`; `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the
 *         context matches; `NETLIB_NOT_TLS` if the peer does not speak TLS; `NETLIB_TLS_ALERT` if the peer refuses the
 *         handshake; `NETLIB_TLS_INCOMPATIBLE` if netlib finds no TLS version, cipher suite or other parameter in
 *         common with the peer; `NETLIB_TLS_ECH_REJECTED` (see `netlib_error_ech_retry_configs`);
 *         `NETLIB_TLS_PROTOCOL`; `NETLIB_TLS_HANDSHAKE_EOF` if the transport ends or the peer closes the session
 *         during the handshake; `NETLIB_CALLBACK_FAILED` if the callback of `netlib_tls_options_set_wall_clock` or
 *         `netlib_tls_options_set_servername_callback` failed.
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_handshake(netlib_tls_engine *engine, netlib_error **err);

/** Reads the plaintext of the bytes that were fed, at least one byte and at most `len`. Buffers of 16 KiB or more are
 * the fastest, because the plaintext of a whole record fits into them.
 * @param len the size of `buf` in bytes; with 0, nothing is read.
 * @param n out: the number of bytes read.
 * @return `NETLIB_WANT_READ` when more bytes must be fed; `NETLIB_END_OF_STREAM` after the peer's close_notify;
 *         `NETLIB_TLS_TRUNCATED` when the transport ended without close_notify, so that data may be missing; all that
 *         `netlib_tls_engine_handshake` returns.
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_read(netlib_tls_engine *engine, void *buf, size_t len, size_t *n,
                                                     netlib_error **err);

/** Returns the number of plaintext bytes that can be read without more input, from the next record with data only: a
 * read into a large buffer may return more bytes. The result is 0 if this record is incomplete, and before the
 * handshake is done. To count the bytes, the function decrypts the record. */
size_t netlib_tls_engine_pending(netlib_tls_engine *engine);

/** Encrypts data into the output of an engine, as much as there is room for. While 256 KiB or more of output are
 * waiting to be drained, the engine accepts no further data. One call may exceed this limit by up to 64 KiB of data
 * and its encryption overhead, so at most 321 KiB of output wait for a peer that does not read.
 * @param len the number of bytes; `NETLIB_NTS` is refused.
 * @param n out: the number of bytes written. If `n` is less than `len`, drain the engine, then write the rest.
 * @return `NETLIB_OK` when something was written; `NETLIB_WANT_WRITE` when nothing was written because the engine must
 *         be drained first; `NETLIB_WANT_READ` when the handshake needs input first; `NETLIB_CLOSED` after a shutdown;
 *         all that `netlib_tls_engine_handshake` returns.
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_write(netlib_tls_engine *engine, const void *buf, size_t len,
                                                      size_t *n, netlib_error **err);

/** Appends close_notify (RFC 8446 section 6.1) to the output of an engine. Nothing can be written after the call, but
 * data can be read until `NETLIB_END_OF_STREAM`. If the handshake is not done yet, close_notify is appended when the
 * handshake ends. Calling the function again is harmless.
 * @return `NETLIB_OK`, or the status with which the session has failed. */
netlib_status netlib_tls_engine_shutdown(netlib_tls_engine *engine, netlib_error **err);

/** Returns for an engine what `netlib_stream_peer_certificate_count` returns for a stream: 0 before the handshake is
 * done. */
size_t netlib_tls_engine_peer_certificate_count(const netlib_tls_engine *engine);

/** Returns for an engine what `netlib_stream_peer_certificate` returns for a stream.
 * @param index a number from 0 (the peer's own certificate) to the number of certificates minus 1; for a larger index,
 *        NULL is returned.
 */
const uint8_t *netlib_tls_engine_peer_certificate(const netlib_tls_engine *engine, size_t index, size_t *len);

/** Returns for an engine what `netlib_stream_alpn_protocol` returns for a stream. */
const char *netlib_tls_engine_alpn_protocol(const netlib_tls_engine *engine, size_t *len);

/** Returns for an engine what `netlib_stream_server_name` returns for a stream. */
const char *netlib_tls_engine_server_name(const netlib_tls_engine *engine, size_t *len);

/** Returns for an engine what `netlib_stream_tls_version` returns for a stream: `NETLIB_TLS_VERSION_1_2` or
 * `NETLIB_TLS_VERSION_1_3`; `NETLIB_TLS_VERSION_NONE` before the handshake is done and for NULL. */
enum netlib_tls_version netlib_tls_engine_version(const netlib_tls_engine *engine);

/** Returns for an engine what `netlib_stream_cipher_suite` returns for a stream. */
const char *netlib_tls_engine_cipher_suite(const netlib_tls_engine *engine, size_t *len);

/** Returns for an engine what `netlib_stream_cipher_suite_bits` returns for a stream. */
int32_t netlib_tls_engine_cipher_suite_bits(const netlib_tls_engine *engine);

/** Returns for an engine what `netlib_stream_key_exchange_group` returns for a stream. */
const char *netlib_tls_engine_key_exchange_group(const netlib_tls_engine *engine, size_t *len);

/** Returns 1 if the engine's handshake resumed an earlier session; 0 if not, or if the handshake is not done. See
 * `netlib_stream_is_resumed`. */
int32_t netlib_tls_engine_is_resumed(const netlib_tls_engine *engine);

/* ---- Session resumption. ---- */

/** A TLS session that a client can resume in a later handshake without certificates, which is cheaper for client and
 * server. Corresponds to Python's `ssl.SSLSession` and OpenSSL's SSL_SESSION. **Thread-safe**.
 *
 * Few applications need this handle: a context caches sessions, and its streams and engines resume them without
 * further calls (`netlib_tls_options_set_resumption`). Take a session out of the cache to choose the connection that
 * resumes it. A session can be resumed only with the context that made it, for the same server name and with the same
 * application protocols offered. A session is not bound to a port, an address or a proxy: only a server that has
 * proved the name, or that shares the keys of that server, can resume the session. If no session is set for a stream,
 * the stream resumes a session from the context's cache.
 *
 * A TLS 1.3 session is a ticket for one connection, so that an observer cannot link two connections of one client (RFC
 * 8446 appendix C.4). A TLS 1.2 session can be used several times. A session cannot be serialised: it does not outlive
 * the process. A forked child has a copy of each session; use a ticket in only one of the two processes. */
struct netlib_tls_session;

/** Returns another reference to the same session. If a session is used up through one reference, it is used up for all
 * references. */
NETLIB_MUST_USE netlib_tls_session *netlib_tls_session_clone(const netlib_tls_session *session);

/** Releases a session. When the last reference is released, netlib overwrites the secret of the session. */
void netlib_tls_session_free(netlib_tls_session *session);

/** Returns the host name that the server of a session has proved, or the unchecked name if the context does not check
 * host names, in the form of `netlib_stream_server_name`. */
const char *netlib_tls_session_server_name(const netlib_tls_session *session, size_t *len);

/** Returns the TLS version of a session: `NETLIB_TLS_VERSION_1_2` or `NETLIB_TLS_VERSION_1_3`;
 * `NETLIB_TLS_VERSION_NONE` for NULL. Corresponds to OpenSSL's SSL_SESSION_get_protocol_version. */
enum netlib_tls_version netlib_tls_session_version(const netlib_tls_session *session);

/** Returns the time at which the client received a session from the server, by the system's clock, in seconds since
 * 1970-01-01 00:00:00 UTC. Corresponds to Python's `SSLSession.time` and OpenSSL's SSL_SESSION_get_time. */
int64_t netlib_tls_session_time(const netlib_tls_session *session);

/** Returns 1 if a session can still be resumed, else 0. A session can be resumed if it is not used up and not older
 * than seven days, and if the server's certificates and CRLs have not expired. The function considers neither the
 * clock of `netlib_tls_options_set_wall_clock` nor a shorter lifetime that the server has set. If the session has
 * expired by this clock or by the server's lifetime, or if the server no longer accepts the session, the handshake is
 * a full handshake. */
int32_t netlib_tls_session_is_resumable(const netlib_tls_session *session);

/** Takes a session out of the context's cache: the newest session that the server has sent to a client's stream.
 * Corresponds to Python's `SSLSocket.session` and OpenSSL's SSL_get1_session, but each session can be taken only once.
 *
 * TLS 1.3 servers send sessions after the handshake, usually two together with the first data, so read data before you
 * take a session. The context caches only the latest sessions, at most 8 per server name and 256 in all, so take a
 * session soon.
 * @param session out: the session. NULL if there is none: the server sends no sessions, or none has arrived yet; all
 *        sessions of the stream were already taken, or another stream has used up the ticket; the context no longer
 *        caches the session; the context does not resume sessions; the stream has no host name; or the stream is a
 *        plain stream.
 * @return `NETLIB_OK`, even if there is no session; `NETLIB_INVALID_ARGUMENT` for a server's stream. */
netlib_status netlib_stream_take_session(netlib_stream *stream, netlib_tls_session **session, netlib_error **err);

/** Sets the session that a client's stream resumes. Call this function before the handshake. Corresponds to Python's
 * `wrap_socket(session=…)` and OpenSSL's SSL_set_session. Default: a session from the context's cache, if there is
 * one.
 *
 * If the server does not accept the session, the handshake is a full handshake: see `netlib_stream_is_resumed`. A
 * TLS 1.3 session is used up once it is set, and a TLS 1.2 session is used up if the handshake fails. If setting the
 * session fails, the stream is unchanged. A later call replaces the session of an earlier call.
 * @param session the session. May be NULL: no session is resumed, so the new connection does not reveal earlier
 *        connections of the same client. Even then, the context caches the sessions that the server sends.
 * @param err the reason why the stream cannot resume the session.
 * @return `NETLIB_INVALID_ARGUMENT` if the session belongs to another context, another server name or other offered
 *         application protocols, is used up, or is too old, or if the context does not resume sessions. Even without a
 *         session, `NETLIB_INVALID_ARGUMENT` if the handshake has begun, and for a server's stream;
 *         `NETLIB_UNSUPPORTED` for a plain stream; `NETLIB_BUSY` if another stream runs inside the stream; the status
 *         with which the stream has failed.
 */
netlib_status netlib_stream_set_session(netlib_stream *stream, const netlib_tls_session *session, netlib_error **err);

/** Takes the newest session of a client's engine out of the context's cache, as `netlib_stream_take_session` does
 * for a stream.
 * @param session out: the session; NULL if there is none.
 * @return `NETLIB_OK`, even if there is no session; `NETLIB_INVALID_ARGUMENT` for a server's engine. */
netlib_status netlib_tls_engine_take_session(netlib_tls_engine *engine, netlib_tls_session **session,
                                             netlib_error **err);

/** Sets the session that a client's engine resumes, as `netlib_stream_set_session` does for a stream. Default: a
 * session from the context's cache, if there is one.
 * @param session the session. May be NULL: no session is resumed.
 * @param err the reason why the engine cannot resume the session.
 * @return `NETLIB_INVALID_ARGUMENT` in the cases that `netlib_stream_set_session` lists; the status with which the
 *         engine has failed.
 */
netlib_status netlib_tls_engine_set_session(netlib_tls_engine *engine, const netlib_tls_session *session,
                                            netlib_error **err);

/** Returns the number of sessions in the context's cache that a client could resume, at most 256. Corresponds to
 * OpenSSL's SSL_CTX_sess_number. */
size_t netlib_tls_context_session_count(const netlib_tls_context *context);

/** Removes all clients' sessions from the context's cache: the next connection to each server makes a full handshake,
 * in which the server proves its identity again. Sessions that were taken out of the cache remain usable. Corresponds
 * to OpenSSL's SSL_CTX_flush_sessions. */
void netlib_tls_context_forget_sessions(const netlib_tls_context *context);

/* ---- Early data (0-RTT). ---- */

/** Outcomes of early data, with the numbers of OpenSSL's `SSL_EARLY_DATA_…`. */
enum netlib_early_data_status NETLIB_INT32 {
    /** No early data was sent: the application wrote none, or early data was not possible. */
    NETLIB_EARLY_DATA_NOT_SENT = 0,
    /** The server ignored the early data: if the data is still needed, write the data again. As with all early data,
     * another server may have accepted a copy. */
    NETLIB_EARLY_DATA_REJECTED = 1,
    /** The server accepted the early data as the beginning of the application data. */
    NETLIB_EARLY_DATA_ACCEPTED = 2,
    /** Early data was sent, and the server has not answered yet whether it accepts the data. If the session has failed,
     * the server may or may not have acted on the early data. */
    NETLIB_EARLY_DATA_UNDECIDED = 3
};

/** Sets whether clients may send early data (0-RTT, RFC 8446 section 2.3): bytes that are sent with the first message
 * of the handshake, and so save a round trip. Early data is possible when the handshake resumes a TLS 1.3 session for
 * which the server allowed early data, as OpenSSL's servers do with SSL_CTX_set_max_early_data. Default: 0.
 *
 * **Early data can be replayed.** An observer of the connection can send early data to the server again, any number of
 * times, and the server may act on it each time. Early data has no forward secrecy. Use early data only for requests
 * whose repetition changes nothing: a GET, HEAD or OPTIONS without side effects, never a POST, a payment, a login, or
 * a body that cannot be read twice. A server that refuses to act on early data answers 425 (Too Early, RFC 8470): send
 * the same request after the handshake.
 *
 * The setting itself sends nothing: `netlib_stream_write_early_data` sends early data. The context may offer at
 * most one application protocol, because early data is written before a protocol is negotiated. If a server negotiates
 * TLS 1.2 with a client that offers early data, the handshake fails with `NETLIB_TLS_INCOMPATIBLE`; connect again
 * without early data. Servers of netlib neither allow nor accept early data.
 * @param on 0 or 1. With 1, `netlib_tls_context_new` fails if there are several application protocols, or if
 *        resumption is off.
 */
void netlib_tls_options_set_early_data(netlib_tls_options *options, int32_t on);

/** Returns 1 if clients may send early data, else 0: see `netlib_tls_options_set_early_data`. A context with an
 * ECHConfigList resumes no session and sends no early data. */
int32_t netlib_tls_context_early_data(const netlib_tls_context *context);

/** Writes early data, as much as the server allowed, on a client's stream whose handshake is not done. See
 * `netlib_tls_options_set_early_data` for data that must never be sent as early data. Corresponds to OpenSSL's
 * SSL_write_early_data.
 *
 * If early data is not possible, the call succeeds with `n` 0. Early data is not possible if no session is resumed, if
 * the ticket of the session allows no early data, if the bytes that the ticket allows are used up, if the server has
 * already ignored the early data, after the handshake, and on a server's stream or a plain stream. The call encrypts
 * the `n` bytes that it takes; they are sent by the same call or by the next read, write or handshake. netlib never
 * sends early data a second time. To send a request as early data:
 *
 *     status = netlib_stream_write_early_data(stream, request, len, &n, &err);
 *     if (status == NETLIB_OK) status = netlib_stream_handshake(stream, &err);
 *     if (netlib_stream_early_data_status(stream) != NETLIB_EARLY_DATA_ACCEPTED) n = 0;
 *     if (status == NETLIB_OK) status = netlib_stream_write(stream, request + n, len - n, &written, &err);
 *
 * Check the status of each call. The handshake must precede the write, because the handshake shows whether the server
 * accepted the early data. A write before the handshake would send only the rest of the request, even if the server
 * ignores the early data.
 *
 * Until the handshake is done, the server has not proved its identity again. Only a server that can decrypt the
 * ticket, which is the server of the resumed session, can read early data.
 * @param len the number of bytes; `NETLIB_NTS` is refused.
 * @param n out: the number of bytes that the call has taken from `buf`. For a non-blocking stream, call again with the
 *        rest until the call returns `NETLIB_OK` with `n` 0.
 * @return `NETLIB_OK`, even when no early data is possible; `NETLIB_WANT_WRITE` if the stream is non-blocking and the
 *         call took no byte, because earlier bytes could not be sent yet; `NETLIB_CLOSED` after a shutdown; all that
 *         `netlib_stream_handshake` returns. A failed call sets `n` to 0, but may have taken bytes:
 *         `netlib_stream_early_data_written` counts them.
 * @threads one reader and one writer at the same time
 * @blocks if the stream is blocking. The stream's limit and timeouts end the wait. */
NETLIB_MUST_USE netlib_status netlib_stream_write_early_data(netlib_stream *stream, const void *buf, size_t len,
                                                             size_t *n, netlib_error **err);

/** Returns the outcome of a stream's early data, which is final when the handshake is done;
 * `NETLIB_EARLY_DATA_NOT_SENT` for NULL. Corresponds to OpenSSL's SSL_get_early_data_status. */
enum netlib_early_data_status netlib_stream_early_data_status(const netlib_stream *stream);

/** Returns the number of bytes of early data that may still be written; 0 when no early data is possible. Corresponds
 * to OpenSSL's SSL_SESSION_get_max_early_data minus the bytes already written. The number is known before the first
 * byte is sent. */
size_t netlib_stream_early_data_left(const netlib_stream *stream);

/** Returns the number of bytes of early data that `netlib_stream_write_early_data` has taken from the application,
 * including the bytes that failed calls took. The number does not tell whether the server accepted the bytes. */
size_t netlib_stream_early_data_written(const netlib_stream *stream);

/** Encrypts early data into the output of an engine, as `netlib_stream_write_early_data` does for a stream. See
 * `netlib_tls_options_set_early_data` for data that must never be sent as early data.
 * @param len the number of bytes; `NETLIB_NTS` is refused.
 * @param n out: the number of bytes that the call has taken from `buf`; 0 with `NETLIB_OK` when no more early data is
 *        possible.
 * @return `NETLIB_OK`, even when no early data is possible; `NETLIB_WANT_WRITE` when the call took no byte, because
 *         256 KiB or more of output were not drained yet; `NETLIB_CLOSED` after a shutdown; all that
 *         `netlib_tls_engine_handshake` returns except `NETLIB_WANT_READ`.
 */
NETLIB_MUST_USE netlib_status netlib_tls_engine_write_early_data(netlib_tls_engine *engine, const void *buf,
                                                                 size_t len, size_t *n, netlib_error **err);

/** Returns for an engine what `netlib_stream_early_data_status` returns for a stream; `NETLIB_EARLY_DATA_NOT_SENT` for
 * NULL. */
enum netlib_early_data_status netlib_tls_engine_early_data_status(const netlib_tls_engine *engine);

/** Returns for an engine what `netlib_stream_early_data_left` returns for a stream; 0 if early data is impossible. */
size_t netlib_tls_engine_early_data_left(const netlib_tls_engine *engine);

/** Returns the number of bytes of early data that `netlib_tls_engine_write_early_data` has accepted. */
size_t netlib_tls_engine_early_data_written(const netlib_tls_engine *engine);

/* ---- Encrypted Client Hello. ---- */

/** Outcomes of Encrypted Client Hello (ECH): see `netlib_stream_ech_status`. Corresponds to OpenSSL's
 * SSL_ech_get1_status. */
enum netlib_ech_status NETLIB_INT32 {
    /** The ClientHello had no Encrypted Client Hello extension. A server's session always has the outcome
     * `NETLIB_ECH_NOT_OFFERED`. */
    NETLIB_ECH_NOT_OFFERED = 0,
    /** The ClientHello had an Encrypted Client Hello extension with random content: see
     * `netlib_tls_options_set_ech_grease`. */
    NETLIB_ECH_GREASE = 1,
    /** The client offers Encrypted Client Hello, and the outcome is not known: the handshake is not done yet, or has
     * failed for a reason other than a rejection of Encrypted Client Hello. */
    NETLIB_ECH_OFFERED = 2,
    /** The server decrypted the ClientHello: no observer has seen the server's name. */
    NETLIB_ECH_ACCEPTED = 3,
    /** The server could not decrypt the ClientHello. No observer has seen the server's name, and the handshake has
     * failed. */
    NETLIB_ECH_REJECTED = 4
};

/** Sets the ECHConfigList with which clients encrypt their ClientHello (Encrypted Client Hello, RFC 9849): an observer
 * of the connection sees the list's public name instead of the server's name. An ECHConfigList is for one server name:
 * it is the `ech` parameter of that name's HTTPS record in the DNS (RFC 9848, RFC 9460). Query the HTTPS record over
 * an encrypted connection, because otherwise an observer can read the server name in the query.
 * `netlib_tls_context_with_ech` adds an ECHConfigList to a copy of an existing context. Corresponds to OpenSSL's
 * SSL_set1_ech_config_list and curl's CURLOPT_ECH with "ecl:". Default: none.
 *
 * A context with an ECHConfigList offers only TLS 1.3 (RFC 9849 section 6.1). `netlib_tls_context_new` fails if the
 * other options exclude TLS 1.3. A client's stream or engine needs a DNS name as `server_hostname`, and the functions
 * that make a server's stream or engine refuse the context. The context resumes no sessions
 * (`netlib_tls_context_resumption`), because an attacker who forges a HelloRetryRequest could see a ticket, which
 * identifies the server. Therefore the context sends no early data either. An observer still sees the application
 * protocols (ALPN), the public name, the server's address, and the size and time of messages.
 *
 * If a server cannot decrypt the ClientHello, it rejects Encrypted Client Hello. The handshake then verifies the
 * server's certificate for the public name, by the usual rules, so that pins also apply to this certificate. The
 * client sends no certificate. If the server's certificate is accepted, the handshake fails with
 * `NETLIB_TLS_ECH_REJECTED`, otherwise with the error of the verification. To try again, see
 * `netlib_error_ech_retry_configs`.
 * @param config_list the bytes of the ECHConfigList, or their base64 form, as dig and curl print it. netlib uses the
 *        first supported configuration (RFC 9849 section 4). A supported configuration has the version 0xfe0d, no
 *        mandatory extension, and an HPKE suite of X25519, P-256, P-384 or P-521 with the SHA-2 hash for that curve,
 *        and AES-GCM or ChaCha20-Poly1305. For a malformed list, `netlib_tls_context_new` fails with
 *        `NETLIB_INVALID_ARGUMENT` and the offset in the list; for a list without a supported configuration, with
 *        `NETLIB_UNSUPPORTED`. May be NULL: no Encrypted Client Hello.
 */
void netlib_tls_options_set_ech_config_list(netlib_tls_options *options, const void *config_list, size_t len);

/** Sets whether clients without an ECHConfigList send an extension that looks like an encrypted ClientHello (GREASE,
 * RFC 9849 section 6.2), so that an observer cannot distinguish them from clients with an ECHConfigList. The setting
 * does not hide the server's name, and the server need not support Encrypted Client Hello. Corresponds to OpenSSL's
 * SSL_OP_ECH_GREASE and curl's CURLOPT_ECH with "grease". Default: 0, because a context with this setting offers only
 * TLS 1.3, so that servers without TLS 1.3 refuse the handshake. The functions that make a server's stream or engine
 * refuse a context with this setting. */
void netlib_tls_options_set_ech_grease(netlib_tls_options *options, int32_t on);

/** Makes a context like `context`, but with an ECHConfigList, which is for one server name. The new context offers only
 * TLS 1.3 and resumes no sessions: see `netlib_tls_options_set_ech_config_list`. The call reads no file and copies no
 * authorities, so the new context is cheap enough for a single connection.
 * @param context the original context, which is not changed.
 * @param config_list the bytes of the ECHConfigList, or their base64 form.
 * @return `NETLIB_INVALID_ARGUMENT` for a malformed list, with the offset, and if the context excludes TLS 1.3;
 *         `NETLIB_UNSUPPORTED` for a list without a supported configuration; `NETLIB_NO_TRUST_ANCHORS` if the context
 *         verifies chains but has no trusted certificates.
 */
NETLIB_MUST_USE netlib_status netlib_tls_context_with_ech(const netlib_tls_context *context, const void *config_list,
                                                          size_t len, netlib_tls_context **with_ech,
                                                          netlib_error **err);

/** Returns the bytes of a context's ECHConfigList, from `netlib_tls_context_with_ech` or
 * `netlib_tls_options_set_ech_config_list`; NULL when the context has no ECHConfigList. */
const uint8_t *netlib_tls_context_ech_config_list(const netlib_tls_context *context, size_t *len);

/** Returns the public name in a context's ECHConfigList, which clients send in the clear instead of the server's name;
 * NULL when the context has no ECHConfigList. */
const char *netlib_tls_context_ech_public_name(const netlib_tls_context *context, size_t *len);

/** Returns the value that was passed to `netlib_tls_options_set_ech_grease`, 1 or 0. */
int32_t netlib_tls_context_ech_grease(const netlib_tls_context *context);

/** Returns the outcome of Encrypted Client Hello, even after the handshake has failed; `NETLIB_ECH_NOT_OFFERED` for
 * NULL. */
enum netlib_ech_status netlib_stream_ech_status(const netlib_stream *stream);

/** Returns for an engine what `netlib_stream_ech_status` returns for a stream; `NETLIB_ECH_NOT_OFFERED` for NULL. */
enum netlib_ech_status netlib_tls_engine_ech_status(const netlib_tls_engine *engine);

/** Returns the bytes of the ECHConfigList for another attempt after `NETLIB_TLS_ECH_REJECTED` (RFC 9849 section 6.1.6);
 * NULL when the server sent no ECHConfigList, and for other errors. Pass the bytes to `netlib_tls_context_with_ech`,
 * together with the context without Encrypted Client Hello, and connect once more; a second rejection is final. If
 * there are no bytes, or they contain no supported configuration (`NETLIB_UNSUPPORTED`), the server has turned
 * Encrypted Client Hello off: the application may connect without Encrypted Client Hello, which reveals the server's
 * name. The server that sent the bytes is authenticated only if the context verifies certificates and host names; with
 * `NETLIB_CERT_NONE`, anyone may have sent them. */
const uint8_t *netlib_error_ech_retry_configs(const netlib_error *error, size_t *len);

/* ---- Parsed certificates, and fingerprints. ---- */

/** Kinds of names in a certificate. The function `netlib_certificate_name_kind` returns the kind of a name. */
enum netlib_certificate_name_kind NETLIB_INT32 {
    /** There is no name with the requested index. */
    NETLIB_CERTIFICATE_NAME_NONE = 0,
    /** A host name, in ASCII; the first label may be `*`. */
    NETLIB_CERTIFICATE_NAME_DNS = 1,
    /** An IP address. */
    NETLIB_CERTIFICATE_NAME_IP = 2,
    /** An email address. */
    NETLIB_CERTIFICATE_NAME_EMAIL = 3,
    /** A URI. */
    NETLIB_CERTIFICATE_NAME_URI = 4
};

/** The distinguished names of a certificate, for `netlib_certificate_attribute_count` and the getters of attributes. */
enum netlib_distinguished_name NETLIB_INT32 {
    /** The certificate's subject. */
    NETLIB_DISTINGUISHED_NAME_SUBJECT = 0,
    /** The certificate's issuer. */
    NETLIB_DISTINGUISHED_NAME_ISSUER = 1
};

/** A parsed certificate. **Immutable**. Parsing a certificate does not verify it. To parse a peer's certificate, pass
 * the bytes of `netlib_stream_peer_certificate` to `netlib_certificate_parse`.
 *
 * The text that getters of a certificate return contains no NUL and no control character. A backslash and two hex
 * digits stand for each byte of a control character, of invalid UTF-8, of a line or paragraph separator, and of a
 * character that is invisible or changes the writing direction. Two backslashes stand for a backslash. */
struct netlib_certificate;

/** Parses one certificate. Corresponds to OpenSSL's d2i_X509 and PEM_read_bio_X509. Parsing is lenient: a certificate
 * that breaks a rule of RFC 5280, so that a handshake would refuse the certificate, is accepted if its fields can be
 * parsed.
 * @param data one certificate in DER, up to 65,535 bytes; or PEM, up to 16 MiB, from which the first certificate is
 *        parsed and everything else is ignored.
 * @param len the length of `data` in bytes, or `NETLIB_NTS` for PEM.
 * @param err the error message names the field that cannot be parsed; for DER, `netlib_error_offset` returns the
 *        field's position.
 * @return `NETLIB_INVALID_PEM` for data that is not a certificate, and for a certificate of more than 65,535 bytes;
 *         `NETLIB_INVALID_ARGUMENT` for data of more than 16 MiB; `NETLIB_OUT_OF_MEMORY`.
 */
NETLIB_MUST_USE netlib_status netlib_certificate_parse(const void *data, size_t len, netlib_certificate **certificate,
                                                       netlib_error **err);

/** Returns another reference to the same certificate. */
NETLIB_MUST_USE netlib_certificate *netlib_certificate_clone(const netlib_certificate *certificate);

/** Releases a certificate. */
void netlib_certificate_free(netlib_certificate *certificate);

/** Returns the name of a certificate's subject in the form of RFC 4514: "CN=example.com,O=Example\, Inc.,C=DE"; "" for
 * an empty name. The attributes are in reverse order, the last attribute of the certificate first, as in OpenSSL's
 * `-nameopt RFC2253,-esc_msb,utf8`; Python's getpeercert keeps the certificate's order. If OpenSSL has no name for an
 * attribute, the attribute appears as "1.2.3=#0C0161", with its value in DER. The check of the host name ignores the
 * subject: `netlib_certificate_name` returns the host names for which a certificate is valid. */
const char *netlib_certificate_subject(const netlib_certificate *certificate, size_t *len);

/** Returns the name of a certificate's issuer, in the form of `netlib_certificate_subject`; "" for an empty name. */
const char *netlib_certificate_issuer(const netlib_certificate *certificate, size_t *len);

/** Returns the number of attributes of a certificate's subject or issuer. The attributes have the order of the
 * certificate, the first relative distinguished name (RDN) first. The attributes correspond to the items `subject` and
 * `issuer` of Python's getpeercert.
 * @param name the subject or the issuer; for any other number, 0 is returned. */
size_t netlib_certificate_attribute_count(const netlib_certificate *certificate, enum netlib_distinguished_name name);

/** Returns the object identifier of an attribute's type, for example "2.5.4.3".
 * @param name the subject or the issuer; for any other number, NULL is returned. */
const char *netlib_certificate_attribute_oid(const netlib_certificate *certificate,
                                             enum netlib_distinguished_name name, size_t index, size_t *len);

/** Returns OpenSSL's short name of an attribute's type as a constant string, for example "CN" for 2.5.4.3; NULL for a
 * type to which `netlib_certificate_subject` gives no name.
 * @param name the subject or the issuer; for any other number, NULL is returned. */
const char *netlib_certificate_attribute_short_name(const netlib_certificate *certificate,
                                                    enum netlib_distinguished_name name, size_t index, size_t *len);

/** Returns the value of an attribute, for example "Example, Inc."; only the escapes that `struct netlib_certificate`
 * describes occur, not those of RFC 4514. For a value that is not a string, the text is "#" and the value in DER, in
 * hex digits: "#020107". If a string begins with "#", the text begins with "\23" instead.
 * @param name the subject or the issuer; for any other number, NULL is returned. */
const char *netlib_certificate_attribute_value(const netlib_certificate *certificate,
                                               enum netlib_distinguished_name name, size_t index, size_t *len);

/** Returns the index of the RDN that contains an attribute: 0 for the first RDN; -1 when there is no attribute with
 * this index, and for NULL. Almost every RDN has one attribute; if an RDN has several attributes, the result is the
 * same for all of them.
 * @param name the subject or the issuer; for any other number, -1 is returned. */
int32_t netlib_certificate_attribute_rdn(const netlib_certificate *certificate, enum netlib_distinguished_name name,
                                         size_t index);

/** Returns the serial number of a certificate in upper-case hex, as `openssl x509 -serial` prints it: "9F885F", "-01",
 * "00". Corresponds to the item `serialNumber` of Python's getpeercert. */
const char *netlib_certificate_serial(const netlib_certificate *certificate, size_t *len);

/** Returns the X.509 version of a certificate, usually 3; the number in the encoded certificate is one less. */
int32_t netlib_certificate_version(const netlib_certificate *certificate);

/** Returns the first second at which a certificate is valid (notBefore), in seconds since 1970-01-01 00:00:00 UTC;
 * negative for an earlier time. Every certificate has a notBefore. Corresponds to OpenSSL's X509_get0_notBefore. */
double netlib_certificate_not_before(const netlib_certificate *certificate);

/** Returns the last second at which a certificate is valid (notAfter), in seconds since 1970-01-01 00:00:00 UTC;
 * negative for an earlier time. Every certificate has a notAfter. Corresponds to OpenSSL's X509_get0_notAfter. */
double netlib_certificate_not_after(const netlib_certificate *certificate);

/** Returns the time of `netlib_certificate_not_before` as text, for example "2026-03-09 17:05:00 UTC". */
const char *netlib_certificate_not_before_text(const netlib_certificate *certificate, size_t *len);

/** Returns the time of `netlib_certificate_not_after` as text, for example "2026-03-09 17:05:00 UTC". */
const char *netlib_certificate_not_after_text(const netlib_certificate *certificate, size_t *len);

/** Returns the number of names in the certificate's subjectAltName that have one of the kinds of `enum
 * netlib_certificate_name_kind`. Corresponds to the item `subjectAltName` of Python's getpeercert. */
size_t netlib_certificate_name_count(const netlib_certificate *certificate);

/** Returns a name in the certificate's subjectAltName, such as "example.com", "*.example.com", "192.0.2.1",
 * "2001:db8::1". For an IP address with a wrong length, the text is "#" and the bytes in hex. */
const char *netlib_certificate_name(const netlib_certificate *certificate, size_t index, size_t *len);

/** Returns the kind of a name; `NETLIB_CERTIFICATE_NAME_NONE` for NULL. */
enum netlib_certificate_name_kind netlib_certificate_name_kind(const netlib_certificate *certificate, size_t index);

/** Returns the algorithm of the certificate's public key: "RSA", "RSA-PSS", "EC", "ED25519", "ED448", "DSA", as
 * OpenSSL's EVP_PKEY_get0_type_name returns it; for an unknown algorithm, the object identifier, such as "1.2.3". */
const char *netlib_certificate_public_key_algorithm(const netlib_certificate *certificate, size_t *len);

/** Returns the IANA name of an EC key's curve as a constant string, for example "secp256r1", which OpenSSL calls
 * prime256v1; NULL for other keys and unknown curves. */
const char *netlib_certificate_public_key_curve(const netlib_certificate *certificate, size_t *len);

/** Returns the size of the certificate's public key in bits: the size of the modulus of an RSA key, of the prime of a
 * DSA key or of the field of an EC key; 256 for Ed25519 and 456 for Ed448; 0 for an unknown kind of key or an unknown
 * curve. Corresponds to OpenSSL's EVP_PKEY_get_bits, which returns 253 for Ed25519. */
size_t netlib_certificate_public_key_bits(const netlib_certificate *certificate);

/** Returns OpenSSL's name of the algorithm that signed the certificate: "sha256WithRSAEncryption", "ecdsa-with-SHA384",
 * "rsassaPss", "ED25519"; for an unknown algorithm, the object identifier, such as "1.2.3". */
const char *netlib_certificate_signature_algorithm(const netlib_certificate *certificate, size_t *len);

/** Returns 1 if a certificate claims to belong to an authority, else 0. A certificate claims to belong to an authority
 * if its basicConstraints say CA:TRUE, or if it is self-issued, of version 1 or 2, and without basicConstraints.
 * Corresponds to the results 1 and 3 of OpenSSL's X509_check_ca. The function does not verify the claim. */
int32_t netlib_certificate_is_ca(const netlib_certificate *certificate);

/** Returns 1 if the certificate's subject and issuer are equal, as in a self-signed certificate, else 0. Corresponds to
 * OpenSSL's EXFLAG_SI. The function does not verify the signature. */
int32_t netlib_certificate_is_self_issued(const netlib_certificate *certificate);

/** Returns the certificate in DER.
 * @param len out: the length of the DER in bytes. May be NULL. */
const uint8_t *netlib_certificate_der(const netlib_certificate *certificate, size_t *len);

/** Returns the certificate's fingerprint: the SHA-256 of the DER in 64 lower-case hex digits, which
 * `netlib_assert_fingerprint` and `netlib_tls_options_add_pin` accept. `openssl x509 -fingerprint -sha256` prints the
 * same digest in upper case and with colons. */
const char *netlib_certificate_fingerprint(const netlib_certificate *certificate, size_t *len);

/** Returns the pin of the certificate's key: "sha256//" and the SHA-256 of the SubjectPublicKeyInfo in base64, which
 * `netlib_tls_options_add_pin` and curl's --pinnedpubkey accept. The pin stays the same when a certificate is renewed
 * with the same key. */
const char *netlib_certificate_public_key_pin(const netlib_certificate *certificate, size_t *len);

/* ---- Verifying certificate chains without a session. ---- */

/** Purposes of a certificate. Corresponds to Python's `ssl.Purpose`, with OpenSSL's numbers of X509_PURPOSE_SSL_CLIENT
 * and X509_PURPOSE_SSL_SERVER. */
enum netlib_purpose NETLIB_INT32 {
    /** The certificate authenticates a TLS client. */
    NETLIB_PURPOSE_CLIENT_AUTH = 1,
    /** The certificate authenticates a TLS server. */
    NETLIB_PURPOSE_SERVER_AUTH = 2
};

/** Verifies a chain of certificates as a handshake with a context does: with the context's authorities, CRLs, pins,
 * verify flags and clock. Corresponds to OpenSSL's X509_verify_cert, `openssl verify` and Go's Certificate.Verify. The
 * call verifies the chain even if the context's verify mode is `NETLIB_CERT_NONE`, but not if a pin replaces the
 * verification (`netlib_tls_options_set_pins_replace_chain`). A context with the verify mode `NETLIB_CERT_NONE` trusts
 * the system's authorities only after `netlib_tls_options_set_system_trust` with 1.
 *
 * The call does not prove that the peer possesses the certificate's private key; only a handshake does.
 * @param chain the peer's own certificate first, then other certificates in any order: in PEM, whose other sections
 *        are skipped, or in DER, one after the other. Up to 256 certificates, each up to 65,535 bytes.
 * @param len the length of `chain` in bytes, or `NETLIB_NTS` for PEM.
 * @param name the host name or IP address for which the certificate must be valid, as for `netlib_tls_wrap_fd`, but
 *        not empty. The name is checked even after `netlib_tls_options_set_check_hostname` with 0. May be NULL: a
 *        certificate for any name is accepted.
 * @param time the time for which the chain is verified, in seconds since 1970-01-01 00:00:00 UTC, 0 or more. May be
 *        NULL: now, by the context's clock.
 * @param err the same error as from a failed handshake, but without an alert. `netlib_error_certificate_index` returns
 *        a position in `chain`, and `netlib_error_advice` names the setting with which a handshake would accept the
 *        chain.
 * @return `NETLIB_CERTIFICATE_VERIFY`; `NETLIB_HOSTNAME_MISMATCH`; `NETLIB_FINGERPRINT_MISMATCH` if no pin of the
 *         context matches; `NETLIB_INVALID_PEM` for data without a certificate; `NETLIB_NO_TRUST_ANCHORS`;
 *         `NETLIB_INVALID_ARGUMENT` for an invalid name, a purpose or time out of range, and data that is too large;
 *         `NETLIB_INVALID_UTF8`; `NETLIB_CALLBACK_FAILED` if the clock failed; `NETLIB_OUT_OF_MEMORY`.
 */
NETLIB_MUST_USE netlib_status netlib_tls_context_verify_chain(const netlib_tls_context *context, const void *chain,
                                                              size_t len, enum netlib_purpose purpose,
                                                              const char *name, const double *time,
                                                              netlib_error **err);

/* ---- Getters of a context. ---- */

/** Kinds of trust sources, which are the places from which a context has loaded trusted certificates.
 * `netlib_tls_context_trust_source_kind` returns one kind, and `netlib_tls_context_trust_kinds` a sum of bits. */
enum netlib_trust_kind NETLIB_INT32 {
    /** The context trusts no certificate, or has no trust source with the requested index. */
    NETLIB_TRUST_NONE = 0,
    /** The operating system's certificate store, or the file and the directories that the environment variables
     * SSL_CERT_FILE and SSL_CERT_DIR name. */
    NETLIB_TRUST_SYSTEM = 1,
    /** The authorities that are built into netlib, if the options request them or the system has no certificate
     * store. */
    NETLIB_TRUST_EMBEDDED = 2,
    /** A file, directory or data that was passed to `netlib_tls_options_add_ca_file`, `netlib_tls_options_add_ca_dir`
     * or `netlib_tls_options_add_ca_data`. */
    NETLIB_TRUST_CUSTOM = 4
};

/** Returns options from which `netlib_tls_context_new` makes an equal context. Change some of the options to make a
 * different context. The new context reads files and the environment again, and has a session cache of its own. */
NETLIB_MUST_USE netlib_tls_options *netlib_tls_context_to_options(const netlib_tls_context *context);

/** Returns the number of certificates that a context trusts, those of authorities and those of peers. Certificates with
 * the same name and key count once, even if several trust sources contain them. Corresponds to the length of Python's
 * `get_ca_certs()`. */
size_t netlib_tls_context_trust_anchor_count(const netlib_tls_context *context);

/** Returns a certificate that a context trusts, in DER, which `netlib_certificate_parse` parses; NULL for a built-in
 * authority, whose certificate netlib does not have, and for every certificate if
 * `netlib_tls_options_set_keep_trust_anchors` was not called with 1. If several trusted certificates have the same
 * name and key, the result is the one that expires last. Corresponds to Python's `get_ca_certs(binary_form=True)`.
 * @param index 0 to `netlib_tls_context_trust_anchor_count` - 1; for a larger index, NULL is returned. */
const uint8_t *netlib_tls_context_trust_anchor(const netlib_tls_context *context, size_t index, size_t *len);

/** Returns the kinds of all trust sources, as a sum of bits of `enum netlib_trust_kind`; 0 when the context trusts no
 * certificate. */
int32_t netlib_tls_context_trust_kinds(const netlib_tls_context *context);

/** Returns the number of trust sources that were loaded. The order of trust sources is: the sources that the options
 * name, in the order of the calls; the sources of the system; the built-in authorities. */
size_t netlib_tls_context_trust_source_count(const netlib_tls_context *context);

/** Returns the kind of a trust source; `NETLIB_TRUST_NONE` for NULL. */
enum netlib_trust_kind netlib_tls_context_trust_source_kind(const netlib_tls_context *context, size_t index);

/** Returns the location of a trust source: the path of a file or directory, byte for byte; "CA data" for memory;
 * "system" for a store of the system that is not a file; "embedded" for the built-in authorities. */
const char *netlib_tls_context_trust_source_name(const netlib_tls_context *context, size_t index, size_t *len);

/** Returns the number of trusted certificates in a trust source, including certificates that other sources also
 * contain; 0 only for a source of the system that could not be read or contains no usable certificate. Certificates
 * with the same name and key count once. */
size_t netlib_tls_context_trust_source_anchor_count(const netlib_tls_context *context, size_t index);

/** Returns the number of lines that `netlib_tls_context_trust_source_skipped` returns for a trust source, at most 101.
 * If more than 100 items were skipped, the last line states how many more there are. */
size_t netlib_tls_context_trust_source_skipped_count(const netlib_tls_context *context, size_t index);

/** Returns one line of text about an item that netlib skipped in a trust source: the file (for a directory), the
 * certificate, and the reason.
 * @param skipped 0 to `netlib_tls_context_trust_source_skipped_count` - 1; for a larger number, NULL is returned. */
const char *netlib_tls_context_trust_source_skipped(const netlib_tls_context *context, size_t index, size_t skipped,
                                                    size_t *len);

/** Returns the verify mode of a client; `NETLIB_CERT_REQUIRED` for NULL. A server requests a certificate only if the
 * verify mode was set explicitly. */
enum netlib_verify_mode netlib_tls_context_verify_mode(const netlib_tls_context *context);

/** Returns 1 if the server's certificate must be for the server's host name, else 0; 1 for NULL. */
int32_t netlib_tls_context_check_hostname(const netlib_tls_context *context);

/** Returns the number of pins of a context: see `netlib_tls_options_add_pin`. */
size_t netlib_tls_context_pin_count(const netlib_tls_context *context);

/** Returns 1 if a pin replaces the verification of the chain, else 0: see
 * `netlib_tls_options_set_pins_replace_chain`. */
int32_t netlib_tls_context_pins_replace_chain(const netlib_tls_context *context);

/** Returns the verify flags in force, as bits of `enum netlib_verify_flag`: the flags that were set, those that are
 * always in force, and those that CRLs turn on; `NETLIB_VERIFY_FLAG_DEFAULT` for NULL. */
int32_t netlib_tls_context_verify_flags(const netlib_tls_context *context);

/** Returns the oldest TLS version that can be negotiated; `NETLIB_TLS_VERSION_1_2` for NULL. A version does not count
 * if `netlib_tls_options_set_option_bits` excludes it, or if there is no cipher suite for it. Corresponds to Python's
 * `minimum_version`. */
enum netlib_tls_version netlib_tls_context_minimum_version(const netlib_tls_context *context);

/** Returns the newest TLS version that can be negotiated; `NETLIB_TLS_VERSION_1_3` for NULL. A version does not count
 * if `netlib_tls_options_set_option_bits` excludes it, or if there is no cipher suite for it. Corresponds to Python's
 * `maximum_version`. */
enum netlib_tls_version netlib_tls_context_maximum_version(const netlib_tls_context *context);

/** Returns the number of application protocols that a context offers. */
size_t netlib_tls_context_alpn_protocol_count(const netlib_tls_context *context);

/** Returns an application protocol that a context offers; index 0 is the most preferred protocol. */
const char *netlib_tls_context_alpn_protocol(const netlib_tls_context *context, size_t index, size_t *len);

/** Returns the number of cipher suites that a context offers. Corresponds to the length of Python's `get_ciphers()`. */
size_t netlib_tls_context_cipher_suite_count(const netlib_tls_context *context);

/** Returns the IANA name of a cipher suite that a context offers, as a constant string. Index 0 is the most preferred
 * suite; the TLS 1.3 suites precede the TLS 1.2 suites. */
const char *netlib_tls_context_cipher_suite(const netlib_tls_context *context, size_t index, size_t *len);

/** Returns the words of a context's cipher string that name no suite of netlib, misspelt words included, in the order
 * of the string, separated by ":"; NULL when there are none. */
const char *netlib_tls_context_unknown_ciphers(const netlib_tls_context *context, size_t *len);

/** Returns the number of key exchange groups that a context offers. */
size_t netlib_tls_context_key_exchange_group_count(const netlib_tls_context *context);

/** Returns the IANA name of a key exchange group that a context offers, as a constant string. Index 0 is the most
 * preferred group. */
const char *netlib_tls_context_key_exchange_group(const netlib_tls_context *context, size_t index, size_t *len);

/** Returns 1 if a context resumes sessions, else 0; 1 for NULL. A context with an ECHConfigList resumes no sessions.
 * See `netlib_tls_options_set_resumption`. */
int32_t netlib_tls_context_resumption(const netlib_tls_context *context);

/** Returns the path of a context's key log file, to which the secrets of sessions are written; NULL when there is no
 * key log file. Corresponds to Python's `keylog_filename`. */
const char *netlib_tls_context_keylog_file(const netlib_tls_context *context, size_t *len);

/* ---- Keys for connection pools. ---- */

/** The number of bytes that `netlib_connection_key` stores, including the NUL. */
enum NETLIB_INT32 { NETLIB_CONNECTION_KEY_SIZE = 65 };

/** Computes the key under which a connection pool keeps a connection. A connection may serve a request only if the key
 * of the connection equals the key of the request: then the connection leads to the server of the request, over the
 * proxy of the request, with the trusted certificates, pins and identities of the request. Corresponds to urllib3's
 * `PoolKey`.
 *
 * The key depends on the scheme, host, port, user name and password of each URL, in normalised form, but not on the
 * path, query and fragment. The key also depends on all settings that `netlib_tls_context_digest` covers, and on every
 * connect option except the total and read limits of a `netlib_timeout`. For a callback, the key depends on the
 * callback's address and its `ctx`; each setter call that passes a `ctx_free` gives a different key. Pass everything
 * else on which your connections depend as `slices`: the path of a Unix domain socket, a server name that differs from
 * the URL's host, the digest of the context for the proxy, credentials that authenticate a whole connection (NTLM,
 * Negotiate).
 *
 * The key is a SHA-256 digest, which does not contain its inputs. Anyone who reads a key can test guesses of a
 * password: if you log keys, pass random bytes of your own as a slice. Compare keys only within one process, because
 * another version of netlib may compute different keys.
 * @param proxy the URL of the proxy. May be NULL: no proxy.
 * @param context the TLS context. May be NULL: no TLS.
 * @param slices further inputs, in order.
 * @param count the number of slices, at most 1024.
 * @param key out: 64 lower-case hex digits and a NUL; empty after a failure.
 * @param size the size of `key` in bytes, at least `NETLIB_CONNECTION_KEY_SIZE`.
 * @return `NETLIB_INVALID_ARGUMENT` for a `url` or a `proxy` without a host, a `size` that is too small, or too many
 *         slices; the status with which `netlib_connect_new` fails if a setter of `connect_options` refused a value;
 *         `NETLIB_OUT_OF_MEMORY`.
 */
NETLIB_MUST_USE netlib_status netlib_connection_key(const netlib_url *url, const netlib_url *proxy,
                                                    const netlib_tls_context *context,
                                                    const netlib_connect_options *connect_options,
                                                    const netlib_slice *slices, size_t count, char *key, size_t size,
                                                    netlib_error **err);

/** Returns a digest of a context's settings, the SHA-256 in 64 lower-case hex digits; NULL when memory is short.
 * Contexts with equal digests have the same authorities, CRLs, pins, identity and TLS parameters. The digest covers
 * the content of files, the path of a key log file, and the address and the `ctx` of callbacks. Contexts with equal
 * digests do not share sessions.
 *
 * The digest covers the identity, but not the password of the private key. The first call computes the digest. Compare
 * digests only within one process. */
const char *netlib_tls_context_digest(const netlib_tls_context *context, size_t *len);

/* ==================================================================================================================
 * compatibility: For programs ported from urllib3, Python's ssl or OpenSSL. New programs do not need this section.
 * ================================================================================================================== */


/* ---- Helper functions of urllib3. ---- */

/** Makes a Retry from a number of retries, as urllib3's Retry.from_int does.
 * @param count the `total` of the new Retry. `NETLIB_RETRY_DISABLED` disables retrying; with `NETLIB_NONE`, the result
 *        is a reference to the default Retry.
 * @param redirect 1 to follow redirects, else 0. The value does not apply to the default Retry.
 * @param default_retry the default Retry. May be NULL: a Retry with a `total` of 3.
 * @return `NETLIB_INVALID_ARGUMENT` if `redirect` is neither 0 nor 1. */
NETLIB_MUST_USE netlib_status netlib_retry_from_int(int32_t count, int32_t redirect,
                                                    const netlib_retry *default_retry, netlib_retry **retry,
                                                    netlib_error **err);

/** Chooses the Retry of a request: the request's own Retry, or the Retry of its pool, or a Retry with a `total` of 3.
 * @param per_request the request's own Retry. May be NULL: `pool_default` is returned.
 * @param pool_default the pool's Retry. May be NULL: the pool has no Retry.
 * @return borrowed: one of the two arguments, or a constant Retry that is never freed. Never NULL. */
const netlib_retry *netlib_retry_resolve(const netlib_retry *per_request, const netlib_retry *pool_default);

/** Makes a timeout from one number, which becomes the connect limit and the read limit. The timeout has no total limit.
 * @param timeout seconds, `NETLIB_TIMEOUT_NONE` or `NETLIB_TIMEOUT_DEFAULT`.
 * @return `NETLIB_INVALID_ARGUMENT` for 0, for NaN, and for a negative number except `NETLIB_TIMEOUT_DEFAULT`. */
NETLIB_MUST_USE netlib_status netlib_timeout_from_float(double timeout, netlib_timeout **out, netlib_error **err);

/** Checks a raw header block for defects. The block consists of the lines after the status line, up to the empty line.
 * Bytes after the empty line are ignored.
 *
 * The defects are: a line that is not a header field, which ends parsing; a continuation line without a header field
 * before it; a header field without a name; a mail envelope line ("From ...") after the first line; bytes after a CR
 * without LF, which ends the header fields; and a multipart Content-Type without a boundary or with a
 * Content-Transfer-Encoding that multipart does not allow. `netlib_response_parse` may refuse a block without defects,
 * because it parses HTTP and not mail.
 * @param block the bytes of the header block.
 * @param err the error has one cause for each of the first 100 defects, in the order of their lines.
 *        `netlib_error_header_defect` and `netlib_error_header_defect_line` return the defect and line of a cause, and
 *        the offset of a cause is the start of the line. `netlib_error_unparsed_offset` returns where parsing ended.
 * @return `NETLIB_OK` if there is no defect; `NETLIB_HEADER_PARSING`. */
NETLIB_MUST_USE netlib_status netlib_assert_header_parsing(const char *block, size_t len, netlib_error **err);

/** Checks whether the source of a body has been closed. A body in memory is never closed. A body that reads from a
 * descriptor counts as closed when the descriptor is not open.
 * @param closed out: 1 if the source of the body has been closed, else 0.
 * @return `NETLIB_INVALID_ARGUMENT` for a body that has callbacks but no `is_closed` callback;
 *         `NETLIB_CALLBACK_FAILED`.
 */
NETLIB_MUST_USE netlib_status netlib_is_fp_closed(netlib_body *body, int32_t *closed, netlib_error **err);

/** Returns the address family for name lookups: `AF_UNSPEC`, for IPv6 and IPv4 addresses, if the system can bind the
 * IPv6 loopback address, or has no descriptor left for this test; else `AF_INET`. Each call tests the system again. */
int32_t netlib_allowed_gai_family(void);

/** Returns the time of the monotonic clock `CLOCK_MONOTONIC`, in seconds. Only the difference between two such times is
 * meaningful. */
double netlib_current_time(void);

/** Checks that a certificate has the expected fingerprint, as urllib3's assert_fingerprint does. For pins that hold for
 * all streams of a context, use `netlib_tls_options_add_pin`. To pin a server's certificate with
 * `netlib_assert_fingerprint`, call it after `netlib_stream_handshake` and before any data is written; the context
 * also verifies the certificate, unless its verify mode is `NETLIB_CERT_NONE`. Use SHA-256, because MD5 and SHA-1 are
 * broken. The digests are compared in constant time.
 * @param cert the certificate in DER, as `netlib_stream_peer_certificate` returns it. PEM is refused;
 *        `netlib_certificate_parse` converts PEM to DER. May be NULL if the peer sent no certificate: the call fails
 *        with `NETLIB_FINGERPRINT_MISMATCH`.
 * @param cert_len the length of `cert` in bytes; 0 has the same effect as NULL.
 * @param fingerprint 32 hex digits for MD5, 40 for SHA-1 or 64 for SHA-256, in upper or lower case, with optional
 *        colons.
 * @param err for a mismatch, the error message contains the expected and the actual fingerprint.
 * @return `NETLIB_FINGERPRINT_MISMATCH` if the certificate has another fingerprint, and if there is no certificate;
 *         `NETLIB_INVALID_ARGUMENT` for PEM, and for a fingerprint with another length or other characters.
 */
NETLIB_MUST_USE netlib_status netlib_assert_fingerprint(const void *cert, size_t cert_len, const char *fingerprint,
                                                        netlib_error **err);

/* ---- Functions and settings of Python's ssl module and urllib3's ssl_wrap_socket. ---- */

/** Protocol methods of Python's `ssl` module, with Python's numbers: see `netlib_resolve_ssl_version`. */
enum netlib_ssl_version NETLIB_INT32 {
    /** The peers negotiate the newest TLS version that both of them support. */
    NETLIB_SSL_VERSION_TLS = 2,
    /** Only TLS 1.2 is allowed. */
    NETLIB_SSL_VERSION_TLSv1_2 = 5,
    /** The same as `NETLIB_SSL_VERSION_TLS`. */
    NETLIB_SSL_VERSION_TLS_CLIENT = 16,
    /** Negotiates the TLS version as `NETLIB_SSL_VERSION_TLS` does, but cannot be combined with
     * `netlib_tls_options_set_minimum_version` or `netlib_tls_options_set_maximum_version`. */
    NETLIB_SSL_VERSION_TLS_SERVER = 17
};

/** Makes a client's stream on a connected descriptor and makes the handshake, as urllib3's ssl_wrap_socket does. The
 * following setters of options replace the parameters of ssl_wrap_socket that this function does not have:
 *
 *     keyfile, certfile   netlib_tls_options_set_identity_files
 *     key_password        netlib_tls_options_set_key_password
 *     cert_reqs           netlib_tls_options_set_verify_mode
 *     ca_certs            netlib_tls_options_add_ca_file
 *     ca_cert_dir         netlib_tls_options_add_ca_dir
 *     ca_cert_data        netlib_tls_options_add_ca_data
 *     ssl_version         netlib_tls_options_set_ssl_version
 *     ciphers             netlib_tls_options_set_ciphers
 *
 * The function `netlib_tls_wrap_stream` replaces the parameter tls_in_tls.
 *
 * Without a context, the call makes a context from the options. With a context, the call uses only the following
 * options:
 *
 * - trusted certificates and CRLs: they are added to those of the context
 * - an identity with its password: it replaces that of the context
 * - pins: the peer must match them; if the context also has pins, the call fails with `NETLIB_INVALID_ARGUMENT`
 * - an ECHConfigList: it replaces that of the context
 * - application protocols: the stream offers them, or "http/1.1" if there are none; those of the context are not used
 *
 * If trusted certificates, CRLs, an identity, pins or an ECHConfigList are set, the call makes another context, which
 * resumes no session and, unless only an ECHConfigList is set, reads all files again. For many connections, make that
 * context once, from the options that `netlib_tls_context_to_options` returns.
 *
 * The limit bounds the handshake only: for later calls on the stream, see `netlib_stream_set_limit`. Before the
 * handshake, the call reads the files that the options name. If the limit has already ended, the call fails before it
 * reads files. The stream is blocking. If the call fails, it returns no stream; the descriptor stays open, but bytes
 * may have been sent to the peer.
 * @param fd a connected stream socket, borrowed.
 * @param tls_options the settings of a new context or, if `context` is passed, the settings that are added to those of
 *        `context` or replace them, as described above.
 * @param context a context, with which most of `tls_options` has no effect, as described above. May be NULL: the call
 *        makes a context from `tls_options`.
 * @param server_hostname the host name that the server must prove, as for `netlib_tls_wrap_fd`. May be NULL, or empty,
 *        only if host names are not checked.
 * @param limit ends the handshake.
 * @return `NETLIB_OK`; all that `netlib_tls_context_new`, `netlib_tls_wrap_fd` and `netlib_stream_handshake`
 *         return.
 */
NETLIB_MUST_USE netlib_status netlib_ssl_wrap_socket(int fd, const netlib_tls_options *tls_options,
                                                     const netlib_tls_context *context, const char *server_hostname,
                                                     const netlib_limit *limit, netlib_stream **stream,
                                                     netlib_error **err);

/** Converts text to the number of a verify mode, as urllib3's resolve_cert_reqs does. The text is a constant of
 * Python's `ssl` module, such as "CERT_REQUIRED", or its abbreviation, such as "REQUIRED". Unlike urllib3's function,
 * the call also accepts a decimal number as text, such as "2", and does not check the number.
 * @param candidate the text. May be NULL: CERT_REQUIRED.
 * @param number out: the number, which need not be a verify mode. Cast the number to `enum netlib_verify_mode` for
 *        `netlib_tls_options_set_verify_mode`, which checks it.
 * @return `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`. */
NETLIB_MUST_USE netlib_status netlib_resolve_cert_reqs(const char *candidate, int32_t *number, netlib_error **err);

/** Converts text to the number of a protocol method, as urllib3's resolve_ssl_version does. The text is a constant of
 * Python's `ssl` module, such as "PROTOCOL_TLSv1_2", or its abbreviation, such as "TLSv1_2". Unlike urllib3's
 * function, the call also accepts a decimal number as text, such as "5", and does not check the number. The result is
 * not a number of `enum netlib_tls_version`.
 * @param candidate the text. May be NULL: PROTOCOL_TLS, whose number is 2.
 * @param number out: the number, which need not be a protocol method. Cast the number to `enum netlib_ssl_version` for
 *        `netlib_tls_options_set_ssl_version`, which checks it.
 * @return `NETLIB_INVALID_ARGUMENT` for any other text; `NETLIB_INVALID_UTF8`. */
NETLIB_MUST_USE netlib_status netlib_resolve_ssl_version(const char *candidate, int32_t *number, netlib_error **err);

/** Returns `NETLIB_SSL_VERSION_TLS_CLIENT`, also for NULL, because every context negotiates the TLS version, like the
 * contexts that urllib3 makes. Corresponds to Python's `SSLContext.protocol`. */
enum netlib_ssl_version netlib_tls_context_protocol(const netlib_tls_context *context);

/** Sets the protocols of Next Protocol Negotiation, which ALPN has replaced. Corresponds to Python's
 * `set_npn_protocols`. Default: none. netlib does not support Next Protocol Negotiation: with a protocol,
 * `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`.
 * @param protocols an array of `count` protocol names.
 * @param count the number of protocol names; 0 is the default. */
void netlib_tls_options_set_npn_protocols(netlib_tls_options *options, const char *const *protocols, size_t count);

/** Sets whether a certificate without subject alternative names may prove a host name by its common name. Corresponds
 * to Python's `hostname_checks_common_name`, which urllib3 sets to false. Default: 0. With 1, `netlib_tls_context_new`
 * fails with `NETLIB_UNSUPPORTED`. */
void netlib_tls_options_set_hostname_checks_common_name(netlib_tls_options *options, int32_t on);

/** Returns 0, because a certificate's common name never proves a host name. Corresponds to Python's
 * `hostname_checks_common_name`. */
int32_t netlib_tls_context_hostname_checks_common_name(const netlib_tls_context *context);

/** Sets whether a server may request a certificate after the handshake (RFC 8446 section 4.6.2). Corresponds to
 * Python's `post_handshake_auth`, which urllib3 sets to true. Default: 0. With 1, `netlib_tls_context_new` fails with
 * `NETLIB_UNSUPPORTED`. */
void netlib_tls_options_set_post_handshake_auth(netlib_tls_options *options, int32_t on);

/** Returns 0, because netlib does not support requests for a certificate after the handshake. Corresponds to Python's
 * `post_handshake_auth`. */
int32_t netlib_tls_context_post_handshake_auth(const netlib_tls_context *context);

/* ---- Option bits and cipher suite names of OpenSSL. ---- */

/** OpenSSL 3's SSL_OP_ALL, with Python's number: workarounds for bugs of other implementations. The bits have no
 * effect. */
#define NETLIB_OP_ALL 2147483728

/** Bits for `netlib_tls_options_set_option_bits`, with the numbers of OpenSSL's `SSL_OP_…` and Python's `OP_…`. A bit
 * of OpenSSL that is not listed here is accepted if its setting is always in force or makes no difference; otherwise,
 * `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. */
enum netlib_tls_option NETLIB_INT32 {
    /** Connects to servers that do not support RFC 5746. The bit has no effect: netlib always connects to such servers,
     * because RFC 5746 protects renegotiation, which netlib does not support. */
    NETLIB_OP_LEGACY_SERVER_CONNECT = 4,
    /** Uses the kernel's TLS. netlib does not support the kernel's TLS: `netlib_tls_context_new` fails with
     * `NETLIB_UNSUPPORTED`. */
    NETLIB_OP_ENABLE_KTLS = 8,
    /** Treats the end of a connection without close_notify as a clean end. netlib does not support this bit:
     * `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. After an end without close_notify, a read always fails
     * with `NETLIB_TLS_TRUNCATED`, which the application may ignore. */
    NETLIB_OP_IGNORE_UNEXPECTED_EOF = 128,
    /** Disables session tickets in TLS 1.2, as `netlib_tls_options_set_session_tickets` with 0 does. Set by default. */
    NETLIB_OP_NO_TICKET = 16384,
    /** Disables compression. Always in force. */
    NETLIB_OP_NO_COMPRESSION = 131072,
    /** Enables the middlebox compatibility mode of TLS 1.3. Always in force. */
    NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT = 1048576,
    /** Makes a server choose the cipher suite by its own order of preference, not by the client's. Set by default. The
     * bit has no effect for a client. */
    NETLIB_OP_CIPHER_SERVER_PREFERENCE = 4194304,
    /** Disables SSL 3.0. Always in force. */
    NETLIB_OP_NO_SSLv3 = 33554432,
    /** Disables TLS 1.0. Always in force. */
    NETLIB_OP_NO_TLSv1 = 67108864,
    /** Disables TLS 1.2. */
    NETLIB_OP_NO_TLSv1_2 = 134217728,
    /** Disables TLS 1.1. Always in force. */
    NETLIB_OP_NO_TLSv1_1 = 268435456,
    /** Disables TLS 1.3. */
    NETLIB_OP_NO_TLSv1_3 = 536870912,
    /** Disables renegotiation. Always in force. */
    NETLIB_OP_NO_RENEGOTIATION = 1073741824,
    /** The value is 0, as in OpenSSL, because SSL 2.0 is no longer supported. */
    NETLIB_OP_NO_SSLv2 = 0,
    /** The value is 0, as in OpenSSL, because every key exchange uses a new key. */
    NETLIB_OP_SINGLE_DH_USE = 0,
    /** The value is 0, for the same reason as `NETLIB_OP_SINGLE_DH_USE`. */
    NETLIB_OP_SINGLE_ECDH_USE = 0
};

/** Sets OpenSSL's option bits, all at once, like an assignment to Python's `SSLContext.options`. (urllib3 adds bits to
 * Python's defaults instead.) Default: `NETLIB_OP_NO_TICKET` and `NETLIB_OP_CIPHER_SERVER_PREFERENCE`; a call with 0
 * turns both off. Bits that are always in force may be set or not. `netlib_tls_context_new` fails with
 * `NETLIB_UNSUPPORTED` for bits of unsupported features, and with `NETLIB_INVALID_ARGUMENT` for unknown bits, and for
 * `NETLIB_OP_NO_TLSv1_2` and `NETLIB_OP_NO_TLSv1_3` if they leave no TLS version.
 * @param bits values of `enum netlib_tls_option`, joined by `|`. */
void netlib_tls_options_set_option_bits(netlib_tls_options *options, int64_t bits);

/** Returns OpenSSL's option bits in force: the bits that were set, and the bits that are always in force. (Python's
 * `SSLContext.options` has only the bits that were set.) */
int64_t netlib_tls_context_option_bits(const netlib_tls_context *context);

/** Returns the name that OpenSSL and Python use for a cipher suite that a context offers, as a constant string.
 * `netlib_tls_context_cipher_suite` returns the IANA names in the same order.
 * @param index 0, for the most preferred suite, to count - 1; for a larger index, NULL is returned. */
const char *netlib_tls_context_cipher_suite_openssl_name(const netlib_tls_context *context, size_t index,
                                                         size_t *len);

/** Returns the name that OpenSSL and Python use for the cipher suite that a stream negotiated, for example
 * "ECDHE-RSA-AES128-GCM-SHA256", as a constant string; NULL before the handshake is done. `netlib_stream_cipher_suite`
 * returns the IANA name. Corresponds to OpenSSL's SSL_CIPHER_get_name. */
const char *netlib_stream_cipher_suite_openssl_name(const netlib_stream *stream, size_t *len);

/** Returns for an engine what `netlib_stream_cipher_suite_openssl_name` returns for a stream. */
const char *netlib_tls_engine_cipher_suite_openssl_name(const netlib_tls_engine *engine, size_t *len);

/* ---- Old names of urllib3. ---- */

/** The old name of `netlib_retry_options_set_allowed_methods`. If the same options are passed to the functions with the
 * old and the new name, `netlib_retry_new` fails.
 * @param methods an array of `count` method names, compared case-insensitively.
 * @param count the number of methods; with 0, no method is allowed. */
NETLIB_DEPRECATED_NOTE("use netlib_retry_options_set_allowed_methods")
void netlib_retry_options_set_method_whitelist(netlib_retry_options *options, const char *const *methods,
                                               size_t count);

/** The old name of `netlib_retry_default_allowed_methods`.
 * @return a constant array of constant strings. Never NULL. */
NETLIB_DEPRECATED_NOTE("use netlib_retry_default_allowed_methods")
const char *const *netlib_retry_default_method_whitelist(size_t *count);

/** The old name of `netlib_retry_default_remove_headers_on_redirect`.
 * @return a constant array of constant strings. Never NULL. */
NETLIB_DEPRECATED_NOTE("use netlib_retry_default_remove_headers_on_redirect")
const char *const *netlib_retry_default_redirect_headers_blacklist(size_t *count);

/** Returns urllib3's old constant BACKOFF_MAX, in seconds, as `netlib_retry_default_backoff_max` does.
 * (`netlib_retry_backoff_max` is the getter of a Retry.) */
NETLIB_DEPRECATED_NOTE("use netlib_retry_default_backoff_max")
double netlib_backoff_max(void);

/** Returns urllib3's old constant `Retry.DEFAULT`: a Retry with a `total` of 3 and otherwise urllib3's defaults.
 * `netlib_retry_recommended` returns a Retry with other settings. The returned Retry is borrowed and never freed.
 * Never NULL. `netlib_retry_resolve` returns the same Retry if both its arguments are NULL. */
NETLIB_DEPRECATED_NOTE("use netlib_retry_resolve")
const netlib_retry *netlib_retry_default(void);

/** Parses a URL, as urllib3's old function get_host does. A URL without a scheme gets the scheme "http".
 * @param url the text, in UTF-8.
 * @param out the URL, whose scheme, host and port are the results of urllib3's function.
 * @return `NETLIB_INVALID_URL`, also for text longer than 16 MiB; `NETLIB_INVALID_UTF8`. */
NETLIB_DEPRECATED_NOTE("use netlib_parse_url")
NETLIB_MUST_USE netlib_status netlib_get_host(const char *url, size_t len, netlib_url **out, netlib_error **err);

/** Finds the first occurrence of any delimiter in a text, and splits the text there. The first part is `text[0]` to
 * `text[*before_end - 1]`, and the second part is `text[*after_start]` to the end of the text. When no delimiter is
 * found, both offsets are the text's length. If two delimiters begin at the same byte, the call finds the delimiter
 * that comes first in `delimiters`. One UTF-8 character between the two parts is left out, even if the delimiter is
 * longer or empty. The running time grows with `count`.
 * @param text the text, in UTF-8.
 * @param delimiters `count` NUL-terminated strings, none of them NULL.
 * @param before_end out: the offset in bytes at which the first part ends.
 * @param after_start out: the offset in bytes at which the second part begins.
 * @param delimiter out: the index of the delimiter found; -1 when no delimiter was found.
 * @return `NETLIB_OK`, even if no delimiter was found; `NETLIB_INVALID_UTF8`. */
NETLIB_DEPRECATED_NOTE("use strstr or strpbrk")
NETLIB_MUST_USE netlib_status netlib_split_first(const char *text, size_t len, const char *const *delimiters,
                                                 size_t count, size_t *before_end, size_t *after_start,
                                                 int64_t *delimiter, netlib_error **err);

/** Sets a protocol method of Python's `ssl` module, as urllib3's parameter ssl_version does. Default:
 * `NETLIB_SSL_VERSION_TLS`, which negotiates the TLS version, as `NETLIB_SSL_VERSION_TLS_CLIENT` and
 * `NETLIB_SSL_VERSION_TLS_SERVER` do. `NETLIB_SSL_VERSION_TLSv1_2` allows TLS 1.2 only. With SSLv2, SSLv3, TLS 1.0 and
 * TLS 1.1 (0, 1, 3, 4), `netlib_tls_context_new` fails with `NETLIB_UNSUPPORTED`. `NETLIB_SSL_VERSION_TLSv1_2` and, as
 * in urllib3, `NETLIB_SSL_VERSION_TLS_SERVER` cannot be combined with `netlib_tls_options_set_minimum_version` or
 * `netlib_tls_options_set_maximum_version`.
 * @param version a value of `enum netlib_ssl_version`, or a number that `netlib_resolve_ssl_version` stored; not a
 *        value of `enum netlib_tls_version`.
 */
NETLIB_DEPRECATED_NOTE("use netlib_tls_options_set_minimum_version")
void netlib_tls_options_set_ssl_version(netlib_tls_options *options, enum netlib_ssl_version version);


#if !defined(NETLIB_PLAIN_C) && !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(enum netlib_status_code) == 4 && sizeof(enum netlib_class) == 4 &&
               sizeof(enum netlib_retry_kind) == 4 && sizeof(enum netlib_verdict) == 4 &&
               sizeof(enum netlib_outcome) == 4 && sizeof(enum netlib_certificate_problem) == 4 &&
               sizeof(enum netlib_timeout_kind) == 4 && sizeof(enum netlib_rewind_problem) == 4 &&
               sizeof(enum netlib_header_defect) == 4 && sizeof(enum netlib_interrupt) == 4 &&
               sizeof(enum netlib_url_component) == 4 && sizeof(enum netlib_query_format) == 4 &&
               sizeof(enum netlib_url_reader) == 4 && sizeof(enum netlib_url_difference) == 4 &&
               sizeof(enum netlib_delay_reason) == 4 && sizeof(enum netlib_redirect_profile) == 4 &&
               sizeof(enum netlib_jitter_kind) == 4 && sizeof(enum netlib_long_retry_after) == 4 &&
               sizeof(enum netlib_pushback) == 4 && sizeof(enum netlib_action) == 4 &&
               sizeof(enum netlib_counter) == 4 && sizeof(enum netlib_report) == 4 &&
               sizeof(enum netlib_unavailable) == 4 && sizeof(enum netlib_swap) == 4 &&
               sizeof(enum netlib_budget_preset) == 4 && sizeof(enum netlib_budget_kind) == 4 &&
               sizeof(enum netlib_circuit_state) == 4 && sizeof(enum netlib_hedge_event) == 4 &&
               sizeof(enum netlib_hedge_action) == 4 && sizeof(enum netlib_request_form) == 4 &&
               sizeof(enum netlib_body_framing) == 4 && sizeof(enum netlib_address_family) == 4 &&
               sizeof(enum netlib_address_class) == 4 && sizeof(enum netlib_verify_mode) == 4 &&
               sizeof(enum netlib_verify_flag) == 4 && sizeof(enum netlib_tls_version) == 4 &&
               sizeof(enum netlib_early_data_status) == 4 && sizeof(enum netlib_ech_status) == 4 &&
               sizeof(enum netlib_certificate_name_kind) == 4 &&
               sizeof(enum netlib_distinguished_name) == 4 && sizeof(enum netlib_purpose) == 4 &&
               sizeof(enum netlib_trust_kind) == 4 && sizeof(enum netlib_ssl_version) == 4 &&
               sizeof(enum netlib_tls_option) == 4,
               "an enum of netlib has four bytes: compile without -fshort-enums");
#endif

#ifdef __cplusplus
}
#endif

#endif /* NETLIB_H */
