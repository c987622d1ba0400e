/*
 * netlib.h - the hard small parts of an HTTP client
 *
 * Retry policy, time limits, URLs, request headers, TLS on a socket you already have, connecting, rewinding a
 * body, checking a response head. Each part works alone; none of them owns your event loop.
 *
 * Generated from the library's sources: change those, then run `make header`.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A complete program (cc example.c $(pkg-config --cflags --libs netlib)):
 *
 *     #include <netlib.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         netlib_url *url = NULL;
 *         netlib_error *err = NULL;
 *         if (netlib_parse_url("HTTPS://Example.com:443/a/../b?q#f", NETLIB_NTS, &url, &err) != NETLIB_OK) {
 *             fprintf(stderr, "%s\n", netlib_error_message(err, NULL));
 *             netlib_error_free(err);
 *             return 1;
 *         }
 *         printf("%s port %d\n", netlib_url_host(url, NULL), (int)netlib_url_port(url));
 *         netlib_url_free(url);
 *         return 0;
 *     }
 *
 * OWNERSHIP. What a function stores through a `netlib_x **` parameter, or returns as a non-const `netlib_x *`, is
 * yours: free it once with netlib_x_free, which accepts NULL and does no I/O. What is returned as `const`
 * (text or handle) is borrowed from the handle it was asked of and lives as long as that. No call consumes a handle.
 * Inputs are copied before a call returns. Outputs are zeroed first, filled only on success, and must not alias an
 * input or each other.
 *
 * ERRORS. A function that can fail returns a netlib_status, 0 being NETLIB_OK, and takes a `netlib_error **err` last.
 * NULL there means you do not want the details; otherwise *err is overwritten, never freed: with NULL on success and
 * on the statuses of NETLIB_CLASS_PROGRESS, else with an error that is yours. Beside the statuses listed at each
 * function, any of them may return NETLIB_NULL_ARGUMENT (a pointer documented as "Not NULL" was NULL; the message
 * names it), NETLIB_OUT_OF_MEMORY, and NETLIB_INTERNAL (a bug of netlib, caught). Small allocations that fail abort
 * the process.
 *
 * THREADS. Each type's comment carries its tag:
 *     Immutable    use it from any threads at once; what "changes" one returns a new one; cloning is cheap.
 *     Thread-safe  call it from any threads at once.
 *     Single       any thread, one call at a time.
 * "@threads any" at a function means that the tags of its arguments are all it asks. There is no thread affinity, no
 * initialisation, no thread-local last error, and no global state but the default timeout.
 *
 * TEXT. Names, paths, methods, header names and values are NUL-terminated `const char *`, in UTF-8 unless said
 * otherwise. What arrives in buffers (URLs, response heads, PEM, DER) is a pointer and a length, which may be
 * NETLIB_NTS for a NUL-terminated string. Text lent to you is NUL-terminated; a `size_t *len` beside it may be NULL.
 * NULL means absent, "" means present and empty.
 *
 * NUMBERS. Seconds are double. Counts are int32_t, where NETLIB_NONE and NETLIB_FALSE stand for None and False and
 * a negative count is an exhausted one. Truth values go in as int32_t, 0 or 1, and come out as bool.
 *
 * OPTIONS. A netlib_x_options is filled by setters that return nothing; the first bad value is kept, and reported
 * with the setter's name by the function that uses the options. NULL options are all defaults.
 */
#ifndef NETLIB_H
#define NETLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The first number of this header's version. */
#define NETLIB_VERSION_MAJOR 0
/** The second number of this header's version. */
#define NETLIB_VERSION_MINOR 1
/** The third number of this header's version. */
#define NETLIB_VERSION_PATCH 0
/** The version of this header, as text: compare with netlib_version(), the library's. */
#define NETLIB_VERSION "0.1.0"
/** The version of this header: compare with netlib_version_number(), the library's. */
#define NETLIB_VERSION_NUMBER (NETLIB_VERSION_MAJOR * 1000000 + NETLIB_VERSION_MINOR * 1000 + NETLIB_VERSION_PATCH)

/** The compiler warns when the result is ignored. Define it empty to do without. */
#ifndef NETLIB_MUST_USE
#if defined(__GNUC__) || defined(__clang__)
#define NETLIB_MUST_USE __attribute__((warn_unused_result))
#else
#define NETLIB_MUST_USE
#endif
#endif

/** The compiler warns when an old name is used. Define it empty to do without. */
#ifndef NETLIB_DEPRECATED_NOTE
#if defined(__GNUC__) || defined(__clang__)
#define NETLIB_DEPRECATED_NOTE(note) __attribute__((deprecated(note)))
#else
#define NETLIB_DEPRECATED_NOTE(note)
#endif
#endif

/** As a length: the text ends at its NUL. */
#define NETLIB_NTS ((size_t)-1)
/** As a count: None, no cap. */
#define NETLIB_NONE INT32_MIN
/** As a count: False, disabled. */
#define NETLIB_FALSE (INT32_MIN + 1)
/** As a timeout in seconds: the process default, see netlib_set_default_timeout. */
#define NETLIB_TIMEOUT_DEFAULT (-1.0)
/** As a timeout in seconds: none, wait for ever. It is infinity, the HUGE_VAL of <math.h>. */
#if defined(__GNUC__) || defined(__clang__)
#define NETLIB_TIMEOUT_NONE __builtin_inf()
#else
#include <math.h>
#define NETLIB_TIMEOUT_NONE HUGE_VAL
#endif
/** As a body position: not recorded. */
#define NETLIB_POSITION_NONE ((int64_t)-1)
/** As a body position: the body could not tell its position. */
#define NETLIB_POSITION_FAILED ((int64_t)-2)
/** As a descriptor: a connection that its platform manages, never reported as dropped. */
#define NETLIB_FD_MANAGED (-2)

/* The handles, in the order of their sections. */
typedef struct netlib_error netlib_error;
typedef struct netlib_limit netlib_limit;

#ifdef __cplusplus
extern "C" {
#endif

/* ==================================================================================================================
 * basics: versions, statuses and errors.
 * ================================================================================================================== */

/** Every status. A code's hundreds are its class. */
enum netlib_status_code {
    /** Success. */
    NETLIB_OK = 0,
    /** More input is needed: wait until the descriptor is readable and call again. */
    NETLIB_WANT_READ = 100,
    /** Output is waiting: wait until the descriptor is writable and call again. */
    NETLIB_WANT_WRITE = 101,
    /** The wait ended before the event came. */
    NETLIB_TIMEOUT = 102,
    /** The stream ended cleanly. */
    NETLIB_END_OF_STREAM = 103,
    /** A pointer that must not be NULL is NULL. */
    NETLIB_NULL_ARGUMENT = 200,
    /** An argument's value is not allowed. */
    NETLIB_INVALID_ARGUMENT = 201,
    /** Text is not valid UTF-8. */
    NETLIB_INVALID_UTF8 = 202,
    /** This library does not offer what was asked, by design. */
    NETLIB_UNSUPPORTED = 203,
    /** A header's name or value is not valid. */
    NETLIB_INVALID_HEADER = 204,
    /** A certificate or key could not be read. */
    NETLIB_INVALID_PEM = 205,
    /** The private key does not belong to the certificate. */
    NETLIB_KEY_MISMATCH = 206,
    /** Verification is required but no trusted certificate could be loaded. */
    NETLIB_NO_TRUST_ANCHORS = 207,
    /** The timeout's clock is not in the state this call needs. */
    NETLIB_TIMEOUT_STATE = 300,
    /** Another call is using this handle. */
    NETLIB_BUSY = 301,
    /** The stream has been closed for this direction. */
    NETLIB_CLOSED = 302,
    /** The body cannot be moved back, so the request cannot be sent again. */
    NETLIB_UNREWINDABLE_BODY = 303,
    /** A callback reported failure or returned a value that makes no sense. */
    NETLIB_CALLBACK_FAILED = 304,
    /** An error inside this library was caught: please report it. */
    NETLIB_INTERNAL = 400,
    /** Memory could not be reserved. */
    NETLIB_OUT_OF_MEMORY = 401,
    /** A system call failed. */
    NETLIB_IO = 402,
    /** Too many name lookups are outstanding. */
    NETLIB_TOO_MANY_LOOKUPS = 403,
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
    /** The text is not a URL. */
    NETLIB_INVALID_URL = 600,
    /** The host name could not be resolved. */
    NETLIB_NAME_RESOLUTION = 700,
    /** No connection could be made. */
    NETLIB_NEW_CONNECTION = 701,
    /** The proxy could not be used. */
    NETLIB_PROXY = 702,
    /** The peer's certificate was not accepted. */
    NETLIB_CERTIFICATE_VERIFY = 800,
    /** The peer's certificate is for another name. */
    NETLIB_HOSTNAME_MISMATCH = 801,
    /** The certificate's fingerprint is not the expected one. */
    NETLIB_FINGERPRINT_MISMATCH = 802,
    /** The peer does not speak TLS. */
    NETLIB_NOT_TLS = 803,
    /** The peer ended the session with an alert. */
    NETLIB_TLS_ALERT = 804,
    /** The peer broke the TLS protocol. */
    NETLIB_TLS_PROTOCOL = 805,
    /** The connection ended without the TLS closing message. */
    NETLIB_TLS_TRUNCATED = 806,
    /** The peer broke the HTTP protocol or dropped the connection. */
    NETLIB_PROTOCOL = 900,
    /** The body ended before its announced length. */
    NETLIB_INCOMPLETE_READ = 901,
    /** The header block has defects. */
    NETLIB_HEADER_PARSING = 902,
    /** Too many error responses. */
    NETLIB_RESPONSE_STATUS = 903,
    /** Too many redirects. */
    NETLIB_TOO_MANY_REDIRECTS = 904,
    /** The retries are used up. */
    NETLIB_MAX_RETRY = 1000,
    /** The redirect is not allowed by the redirect profile. */
    NETLIB_UNSAFE_REDIRECT = 1001
};

/** Groups of statuses. Returned by `netlib_status_class`. */
enum netlib_class {
    /** `NETLIB_OK`. */
    NETLIB_CLASS_SUCCESS = 0,
    /** Not an error, and no error object: more input, more output, a wait that ended, a clean end. */
    NETLIB_CLASS_PROGRESS = 1,
    /** The caller passed something that cannot be used; the message names the parameter. */
    NETLIB_CLASS_ARGUMENT = 2,
    /** The handle is not in a state in which this call can be made. */
    NETLIB_CLASS_STATE = 3,
    /** The operating system, or a caught bug of netlib. */
    NETLIB_CLASS_SYSTEM = 4,
    /** A time limit passed, or the wait was cancelled. */
    NETLIB_CLASS_TIME = 5,
    /** Text that is not a URL. */
    NETLIB_CLASS_URL = 6,
    /** No connection: resolution, refusal, a proxy. */
    NETLIB_CLASS_CONNECT = 7,
    /** TLS: verification, names, alerts, a broken stream. */
    NETLIB_CLASS_TLS = 8,
    /** The peer's HTTP, or the status it answered. */
    NETLIB_CLASS_HTTP = 9,
    /** The retry policy ended the request. */
    NETLIB_CLASS_RETRY = 10
};

/** Which counter of a `netlib_retry` a failure consumes. Returned by `netlib_status_retry_kind`. */
enum netlib_retry_kind {
    /** Not a failure of the request: never retried. `netlib_retry_increment` hands such an error back. */
    NETLIB_RETRY_KIND_NEVER = 0,
    /** The request did not reach the server: the `connect` counter. */
    NETLIB_RETRY_KIND_CONNECT = 1,
    /** The request was sent and its effect is unknown: the `read` counter. */
    NETLIB_RETRY_KIND_READ = 2,
    /** Any other failure: the `other` counter. */
    NETLIB_RETRY_KIND_OTHER = 3,
    /** A proxy's failure: the error's cause decides between `connect` and `other`. */
    NETLIB_RETRY_KIND_BY_CAUSE = 4
};

/** Why a peer's certificate was refused. Returned by `netlib_error_certificate_problem`. */
enum netlib_certificate_problem {
    /** The error is not about a certificate. */
    NETLIB_CERTIFICATE_OK = 0,
    /** Its validity has ended. */
    NETLIB_CERTIFICATE_EXPIRED = 1,
    /** Its validity has not begun. */
    NETLIB_CERTIFICATE_NOT_YET_VALID = 2,
    /** No trusted certificate issued it: a private authority, an incomplete chain, or a self-signed certificate. */
    NETLIB_CERTIFICATE_UNKNOWN_ISSUER = 3,
    /** It names other hosts than the one asked for. */
    NETLIB_CERTIFICATE_NAME_MISMATCH = 4,
    /** Its authority has withdrawn it. */
    NETLIB_CERTIFICATE_REVOKED = 5,
    /** A signature in the chain is wrong. */
    NETLIB_CERTIFICATE_BAD_SIGNATURE = 6,
    /** It was issued for another purpose, or it is an authority's own certificate. */
    NETLIB_CERTIFICATE_WRONG_PURPOSE = 7,
    /** It cannot be parsed. */
    NETLIB_CERTIFICATE_MALFORMED = 8,
    /** Any other problem: the message says which. */
    NETLIB_CERTIFICATE_OTHER = 9
};

/**
 * An error: what failed, on which input, and why. **Immutable**: share it between threads freely. Functions that
 * fail store one through their last parameter, `err`; free it with `netlib_error_free`. Make one of your own with
 * `netlib_error_new` to report a failure of your HTTP layer to the retry policy.
 */
struct netlib_error;

/**
 * The result of every function that can fail: one of `enum netlib_status_code`. New codes may come with a new
 * release; `netlib_status_class` tells what to do with one you do not know.
 */
typedef int32_t netlib_status;

/**
 * The version of the library that is loaded, as text: "0.1.0". Compare with `NETLIB_VERSION`, which is the version
 * of this header.
 *
 * @return a constant string, never NULL.
 * @threads any
 * @since 0.1.0
 */
const char *netlib_version(void);

/**
 * The version of the library that is loaded, as a number: major * 1,000,000 + minor * 1,000 + patch, as
 * `NETLIB_VERSION_NUMBER`.
 *
 * @return the number.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_version_number(void);

/**
 * The constant's name of a status, as "NETLIB_MAX_RETRY".
 *
 * @param status any number.
 * @return a constant string; "NETLIB_UNKNOWN_STATUS" for a number that is no status of this release. Never NULL.
 * @threads any
 * @since 0.1.0
 */
const char *netlib_status_name(netlib_status status);

/**
 * What a status means, in one sentence. An error's own message says more: see `netlib_error_message`.
 *
 * @param status any number.
 * @return a constant string; "unknown status" for a number that is no status of this release. Never NULL.
 * @threads any
 * @since 0.1.0
 */
const char *netlib_status_text(netlib_status status);

/**
 * The group a status belongs to.
 *
 * @param status any number.
 * @return one of `enum netlib_class`; `NETLIB_CLASS_SYSTEM` for a number that is no status of this release.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_status_class(netlib_status status);

/**
 * Which retry counter a failure with this status consumes.
 *
 * @param status any number.
 * @return one of `enum netlib_retry_kind`; `NETLIB_RETRY_KIND_NEVER` for a number that is no status of this release.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_status_retry_kind(netlib_status status);

/**
 * Makes an error, to report a failure of your own HTTP layer to `netlib_retry_increment` or `netlib_retry_decide`.
 *
 * @param status a failure: a status whose class is neither SUCCESS nor PROGRESS. Its retry kind decides how the
 *        failure is counted.
 * @param message one line saying what failed; it must not contain credentials. Copied. Not NULL.
 * @param cause what led to it; the new error keeps its own reference. May be NULL: no cause.
 * @param error out, owned: the new error. Not NULL.
 * @param err out, owned: why none could be made. May be NULL.
 * @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` if `status` is not a failure; `NETLIB_INVALID_UTF8`.
 * @threads any
 * @since 0.1.0
 */
netlib_status netlib_error_new(netlib_status status,
                               const char *message,
                               const netlib_error *cause,
                               netlib_error **error,
                               netlib_error **err);

/**
 * Another reference to the same error.
 *
 * @param error the error. May be NULL: NULL is returned.
 * @return owned: free it with `netlib_error_free`.
 * @threads any
 * @since 0.1.0
 */
netlib_error *netlib_error_clone(const netlib_error *error);

/**
 * Releases an error. What was borrowed from it ends with its last reference.
 *
 * @param error owned. May be NULL: nothing happens.
 * @threads any
 * @since 0.1.0
 */
void netlib_error_free(netlib_error *error);

/**
 * The status of an error.
 *
 * @param error the error. May be NULL: `NETLIB_OK` is returned.
 * @return one of `enum netlib_status_code`.
 * @threads any
 * @since 0.1.0
 */
netlib_status netlib_error_status(const netlib_error *error);

/**
 * What failed, on which input and at which byte, in one line of UTF-8. It never contains credentials.
 *
 * @param error the error. May be NULL: NULL is returned.
 * @param len out: the length in bytes without the NUL. May be NULL.
 * @return borrowed from `error`, NUL-terminated.
 * @threads any
 * @since 0.1.0
 */
const char *netlib_error_message(const netlib_error *error, size_t *len);

/**
 * The `errno` of the system call that failed.
 *
 * @param error the error. May be NULL: 0 is returned.
 * @return 0 when no system call failed.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_error_errno(const netlib_error *error);

/**
 * The `EAI_…` code of the name lookup that failed; `gai_strerror` has its text.
 *
 * @param error the error. May be NULL: 0 is returned.
 * @return 0 when no lookup failed.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_error_resolver_code(const netlib_error *error);

/**
 * The TLS alert that ended the session: the number of RFC 8446 section 6, whether the peer or netlib sent it.
 *
 * @param error the error. May be NULL: -1 is returned.
 * @return 0 to 255; -1 when there was none.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_error_tls_alert(const netlib_error *error);

/**
 * Why the peer's certificate was refused.
 *
 * @param error the error. May be NULL: `NETLIB_CERTIFICATE_OK` is returned.
 * @return one of `enum netlib_certificate_problem`.
 * @threads any
 * @since 0.1.0
 */
int32_t netlib_error_certificate_problem(const netlib_error *error);

/**
 * Where in the input the problem is.
 *
 * @param error the error. May be NULL: -1 is returned.
 * @return the offset in bytes from the input's start; -1 when the error is not about a place in an input.
 * @threads any
 * @since 0.1.0
 */
int64_t netlib_error_offset(const netlib_error *error);

/**
 * How many causes an error has: a failed connect has one per address tried, `NETLIB_MAX_RETRY` has its reason.
 *
 * @param error the error. May be NULL: 0 is returned.
 * @return the count.
 * @threads any
 * @since 0.1.0
 */
size_t netlib_error_cause_count(const netlib_error *error);

/**
 * One cause of an error.
 *
 * @param error the error. May be NULL: NULL is returned.
 * @param index 0 to count - 1; beyond, NULL is returned.
 * @return borrowed from `error`.
 * @threads any
 * @since 0.1.0
 */
const netlib_error *netlib_error_cause(const netlib_error *error, size_t index);

/* ==================================================================================================================
 * limit: limits: the one way to stop waiting.
 * ================================================================================================================== */

/**
 * A deadline and a cancel trigger. **Thread-safe**: every call may be made from any thread at any time. Whatever
 * blocks in netlib takes one, or holds one, and returns within 20 ms of its deadline or its cancellation.
 */
struct netlib_limit;

/**
 * Makes a limit whose clock starts now.
 *
 * @param seconds how long until the deadline, in seconds: 0 or more, or `NETLIB_TIMEOUT_NONE` for no deadline, so
 *        that only `netlib_limit_cancel` ends it.
 * @param limit out, owned: free it with `netlib_limit_free`. Not NULL.
 * @param err out, owned. May be NULL.
 * @return `NETLIB_OK`; `NETLIB_INVALID_ARGUMENT` for a negative number or NaN.
 * @threads any
 * @since 0.1.0
 */
netlib_status netlib_limit_new(double seconds, netlib_limit **limit, netlib_error **err);

/**
 * Another reference to the same limit: cancelling one cancels both.
 *
 * @param limit the limit. May be NULL: NULL is returned.
 * @return owned: free it with `netlib_limit_free`.
 * @threads any
 * @since 0.1.0
 */
netlib_limit *netlib_limit_clone(const netlib_limit *limit);

/**
 * Releases a limit. A stream that holds it keeps its own reference.
 *
 * @param limit owned. May be NULL: nothing happens.
 * @threads any
 * @since 0.1.0
 */
void netlib_limit_free(netlib_limit *limit);

/**
 * Ends every wait that obeys this limit, now and in the future, with `NETLIB_CANCELLED`. Async-signal-safe: it may be
 * called from a signal handler.
 *
 * @param limit the limit. May be NULL: nothing happens.
 * @threads any, and signal handlers
 * @since 0.1.0
 */
void netlib_limit_cancel(const netlib_limit *limit);

/**
 * Says whether waiting must stop.
 *
 * @param limit the limit. Not NULL.
 * @param err out, owned. May be NULL.
 * @return `NETLIB_OK` while there is time; `NETLIB_CANCELLED`; `NETLIB_DEADLINE_EXCEEDED`.
 * @threads any
 * @since 0.1.0
 */
netlib_status netlib_limit_check(const netlib_limit *limit, netlib_error **err);

/**
 * The time left until the deadline.
 *
 * @param limit the limit. May be NULL: `NETLIB_TIMEOUT_NONE` is returned.
 * @return seconds; 0 once the deadline has passed; `NETLIB_TIMEOUT_NONE` without a deadline.
 * @threads any
 * @since 0.1.0
 */
double netlib_limit_remaining(const netlib_limit *limit);

/* ==================================================================================================================
 * url: parsing URLs, and what they are made of.
 * ================================================================================================================== */


/* ==================================================================================================================
 * timeout: connect, read and total time limits.
 * ================================================================================================================== */


/* ==================================================================================================================
 * retry: how often, for which failures, and after which delay a request is sent again.
 * ================================================================================================================== */


/* ==================================================================================================================
 * headers: request headers, ready for the wire.
 * ================================================================================================================== */


/* ==================================================================================================================
 * response: response heads: parsing them and asking them.
 * ================================================================================================================== */


/* ==================================================================================================================
 * body: request bodies that can be sent again.
 * ================================================================================================================== */


/* ==================================================================================================================
 * socket: connecting, and waiting for descriptors.
 * ================================================================================================================== */


/* ==================================================================================================================
 * tls: tLS on a socket you already have.
 * ================================================================================================================== */


/* ==================================================================================================================
 * deprecated: old names, kept for programs that use them.
 * ================================================================================================================== */



#ifdef __cplusplus
}
#endif

#endif /* NETLIB_H */
