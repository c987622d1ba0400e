//! Versions, statuses and errors.

pub mod error_facts;
pub mod bytes;

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::error::{Error, ErrorOptions};
use crate::ffi::args::{NTS, arg_shared_opt, arg_str};
use crate::ffi::enums::{enum_netlib_class, enum_netlib_retry_kind};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Handle, Options, Shared, Unique, handle, options};
use crate::status::{RetryKind, Status, StatusClass};

/// The result of every function that can fail: one of `enum netlib_status_code`. A new release may add codes. For a
/// code that your program does not know, use the class that `netlib_status_class` returns.
pub type netlib_status = i32;

/// Classes of statuses. `netlib_status_class` returns the class of a status.
#[repr(C)]
pub enum netlib_class {
    /// The status `NETLIB_OK`.
    NETLIB_CLASS_SUCCESS = 0,
    /// The call did not fail, and stores no error: it would have to wait for input or output, it needs the addresses of
    /// a host, its wait timed out, or the stream ended cleanly.
    NETLIB_CLASS_PROGRESS = 1,
    /// An argument, or a file that an argument names, cannot be used. The error message describes the problem.
    NETLIB_CLASS_ARGUMENT = 2,
    /// The present state of the handle does not allow the call, a body cannot be rewound, a callback failed, or the
    /// peer sent too much data.
    NETLIB_CLASS_STATE = 3,
    /// The operating system reported a failure, or netlib caught a bug of its own.
    NETLIB_CLASS_SYSTEM = 4,
    /// A timeout or a deadline passed, data arrived too slowly, a `netlib_limit` was cancelled, or an interrupt check
    /// stopped the wait.
    NETLIB_CLASS_TIME = 5,
    /// The text is not a valid URL.
    NETLIB_CLASS_URL = 6,
    /// No connection could be made: the name lookup, connect(2) or a proxy failed, or the address policy allows no
    /// address.
    NETLIB_CLASS_CONNECT = 7,
    /// TLS failed: for example, the certificate was refused, an alert ended the session, or the connection ended
    /// without close_notify.
    NETLIB_CLASS_TLS = 8,
    /// The peer broke HTTP's rules or dropped the connection, a response counts as a failed request, or there were too
    /// many redirects.
    NETLIB_CLASS_HTTP = 9,
    /// The retry policy ended the request.
    NETLIB_CLASS_RETRY = 10,
    /// The application failed. Only the application makes errors of this class, with `netlib_error_new`.
    NETLIB_CLASS_APPLICATION = 11,
}

/// Retry kinds. The retry kind of a failure names the counter of a `netlib_retry` that the failure decrements.
/// `netlib_error_retry_kind` returns the kind of an error, and `netlib_status_retry_kind` the kind of a status.
#[repr(C)]
pub enum netlib_retry_kind {
    /// The request is not retried, because a retry would fail for the same reason, for example an invalid argument, or
    /// because a `netlib_limit` or a decision ended the retries. If an error of this kind is passed to
    /// `netlib_retry_increment`, the call fails with the error's status.
    NETLIB_RETRY_KIND_NEVER = 0,
    /// The request did not reach the server. The failure decrements the `connect` counter.
    NETLIB_RETRY_KIND_CONNECT = 1,
    /// The request was sent in whole or in part, and its effect is unknown. The failure, called a read error,
    /// decrements the `read` counter. The request is repeated only if its method is in `allowed_methods`.
    NETLIB_RETRY_KIND_READ = 2,
    /// Any other failure, such as a refused certificate, decrements the `other` counter. The request is repeated even
    /// if its method is not in `allowed_methods`.
    NETLIB_RETRY_KIND_OTHER = 3,
    /// The kind of the status `NETLIB_PROXY_FAILED`. No error has this kind. An error with the status
    /// `NETLIB_PROXY_FAILED` has the kind of its first cause, or OTHER if it has no cause. If the first cause is also a
    /// proxy failure, the first cause of that failure determines the kind, and so on.
    NETLIB_RETRY_KIND_BY_CAUSE = 4,
}

/// The decisions of a callback that allows or refuses an address or a client: `netlib_address_fn`,
/// `netlib_tls_servername_fn`. Such a callback has no result: it stores its decision in an output, which netlib presets
/// to `NETLIB_VERDICT_FAILED`. When a callback raises an exception, the foreign-function layers of some languages return
/// to C an arbitrary number, such as the previous result, but they do not change an output. So a filter that raises an
/// exception allows nothing. Any number that is not listed here also means failure.
#[repr(C)]
pub enum netlib_verdict {
    /// The callback failed. The outer call, during which the callback ran, then fails with `NETLIB_CALLBACK_FAILED`.
    NETLIB_VERDICT_FAILED = 0,
    /// The operation continues.
    NETLIB_VERDICT_ALLOW = 1,
    /// The callback refuses the address or the client. The comment of the callback's type states the effect.
    NETLIB_VERDICT_REFUSE = 2,
}

/// The outcomes of a callback that performs an action: `netlib_sleep_fn`, `netlib_body_seek_fn`. Such a callback stores
/// its outcome in an output, for the same reason as a callback that stores a `netlib_verdict`. Any number that is not
/// listed here also means failure.
#[repr(C)]
pub enum netlib_outcome {
    /// The callback's action failed.
    NETLIB_OUTCOME_FAILED = 0,
    /// The callback's action succeeded.
    NETLIB_OUTCOME_DONE = 1,
}

/// Releases the `ctx` of a callback, or the user data of an error. Every function that takes a callback with a `ctx`
/// also takes a `ctx_free`. A function to which a `ctx_free` is passed takes ownership of `ctx`, even if the function
/// fails. netlib calls `ctx_free` exactly once **for each call that passes it**, as soon as nothing holds the callback
/// any more. If a function cannot keep the callback (NULL options, a failure), or if no callback is passed with `ctx`,
/// the function calls `ctx_free` before it returns. So pass a `ctx` that has a `ctx_free` to one call only. To share a
/// `ctx` between several calls, count its references. Alternatively, pass NULL as `ctx_free`, and release `ctx`
/// yourself once nothing holds the callback any more.
///
/// Objects made from options hold the options' callbacks. So the last holder of a callback may be a context, a stream,
/// a `netlib_retry`, a decision, or an error from which `netlib_error_retry` returns a `netlib_retry`. Calling a setter
/// again releases the callback of the earlier call, unless something else holds that callback. Several callbacks that
/// are passed to one call share one `ctx`.
///
/// `ctx_free` runs during a netlib call, on the thread that releases the last holder. netlib holds no lock meanwhile,
/// so `ctx_free` may call netlib. After fork(2), parent and child each have a copy of `ctx`, and each process releases
/// its own copy.
///
/// A setter of a callback changes its handle before it releases a `ctx`, so `ctx_free` may use and free this handle. If
/// `ctx_free` runs during any other call that may change a handle, and calls a function on the same handle, that
/// function fails with `NETLIB_BUSY` (a setter without a status does nothing), and freeing the handle takes effect when
/// the outer call ends. A `ctx_free` that runs while a handle is freed must not use that handle.
/// @called-by any function that releases the last holder of a callback, or that cannot keep a callback.
pub type netlib_ctx_free_fn = Option<unsafe extern "C" fn(ctx: *mut c_void)>;

/// An error: a status, a message, and the errors that caused it. **Immutable**. A function that fails stores an error
/// through its last parameter, `err`; free the error with `netlib_error_free`. `netlib_error_new` makes an error with
/// which you report a failure of your HTTP layer to the retry policy.
pub struct netlib_error {
    _private: [u8; 0],
}

impl Handle for netlib_error {
    type Value = Error;
    type Ownership = Shared;
}

/// Optional properties of an error that you make: its cause, its retry kind, the status code of a response, and user
/// data. **One call at a time**. Without a call to a setter, the error has none of these properties, and its status
/// determines its retry kind.
pub struct netlib_error_options {
    _private: [u8; 0],
}

impl Handle for netlib_error_options {
    type Value = Options<ErrorOptions>;
    type Ownership = Unique;
}

/// Returns the value of the macro `NETLIB_NTS`, for languages that cannot read C macros.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_nts() -> usize {
    guard::value(NTS, || Ok(NTS))
}

/// Returns the version of the loaded library as a constant string: "0.1.0". Never NULL. Compare it with
/// `NETLIB_VERSION`, the version of this header.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    guard::value(VERSION.as_ptr(), || Ok(VERSION.as_ptr()))
}

/// Returns the version of the loaded library: major * 1,000,000 + minor * 1,000 + patch. Compare it with
/// `NETLIB_VERSION_NUMBER`.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_version_number() -> i32 {
    const fn number(text: &str) -> i32 {
        let mut value = 0;
        let mut i = 0;
        while i < text.len() {
            value = value * 10 + (text.as_bytes()[i] - b'0') as i32;
            i += 1;
        }
        value
    }
    const NUMBER: i32 = number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 1_000
        + number(env!("CARGO_PKG_VERSION_PATCH"));
    guard::value(NUMBER, || Ok(NUMBER))
}

/// Returns the name of a status as a constant string, for example "NETLIB_MAX_RETRY"; "NETLIB_UNKNOWN_STATUS" for a
/// number that is no status of this release. Never NULL.
///
/// @param status any number.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_status_name(status: netlib_status) -> *const c_char {
    const UNKNOWN: &CStr = c"NETLIB_UNKNOWN_STATUS";
    guard::value(UNKNOWN.as_ptr(), || Ok(Status::from_code(status).map_or(UNKNOWN, Status::name).as_ptr()))
}

/// Returns the meaning of a status in one sentence, as a constant string; "unknown status" for a number that is no
/// status of this release. Never NULL. `netlib_error_message` describes a particular failure.
///
/// @param status any number.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_status_text(status: netlib_status) -> *const c_char {
    const UNKNOWN: &CStr = c"unknown status";
    guard::value(UNKNOWN.as_ptr(), || Ok(Status::from_code(status).map_or(UNKNOWN, Status::text).as_ptr()))
}

/// Returns the class of a status; `NETLIB_CLASS_SYSTEM` for a number that is no status of this release.
///
/// @param status any number.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_status_class(status: netlib_status) -> enum_netlib_class {
    const UNKNOWN: StatusClass = StatusClass::System;
    guard::value(UNKNOWN as i32, || Ok(Status::from_code(status).map_or(UNKNOWN, Status::class) as i32))
}

/// Returns the retry kind of a failure for which only the status is known; `NETLIB_RETRY_KIND_NEVER` for a number that
/// is no status of this release. The kinds CONNECT and OTHER hold only if no byte of the request was sent before the
/// failure. If a byte was sent, as early data too, the kind is READ, even for `NETLIB_TLS_HANDSHAKE_EOF`. An error
/// records whether the request was sent, so use `netlib_error_retry_kind` if there is an error, and set READ with
/// `netlib_error_options_set_retry_kind` for an error of your own.
///
/// @param status any number.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_status_retry_kind(status: netlib_status) -> enum_netlib_retry_kind {
    guard::value(0, || Ok(Status::from_code(status).map_or(0, |status| status.retry_kind() as i32)))
}

/// Makes error options that hold the defaults.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_error_options_new() -> *mut netlib_error_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(ErrorOptions::default())))))
}

/// Returns an independent copy of the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_clone(
    options: *const netlib_error_options,
) -> *mut netlib_error_options {
    options::clone(options)
}

/// Checks that no setter has recorded an error, as `netlib_error_new` does.
///
/// @return `NETLIB_INVALID_ARGUMENT` for a retry kind that cannot be set, and for a status code out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_check(
    options: *const netlib_error_options,
    err: *mut *mut netlib_error,
) -> netlib_status {
    options::check(options, err)
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_free(options: *mut netlib_error_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets the cause of the error. Default: none. A cause makes the new error a read error if the cause records that the
/// request was sent: because the stream or engine had sent application data, because READ was set as the retry kind of
/// the cause, or because the cause is the error of a decision after a response. A `NETLIB_MAX_RETRY` error records that
/// the request was sent if any request in its history may have been sent. There are two exceptions: the status of the
/// new error has the kind NEVER, or `netlib_error_options_set_retry_kind` sets the kind of the new error.
///
/// @param cause the cause. May be NULL: the error has no cause.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_set_cause(
    options: *mut netlib_error_options,
    cause: *const netlib_error,
) {
    options::set(options, "netlib_error_options_set_cause", |options: &mut ErrorOptions| {
        options.set_cause(arg_shared_opt!(cause));
        Ok(())
    });
}

/// Sets the retry kind, which determines the counter that the error decrements. Default: the kind that
/// `netlib_status_retry_kind` returns for the error's status. Choose `NETLIB_RETRY_KIND_READ` for every failure after
/// the first byte of the request was passed to a socket or a stream, and for every failure after a response arrived.
/// Errors made by netlib already have the right kind. If READ is set for an error, and this error becomes the cause of
/// another error, the other error has the kind READ, with the exceptions in the comment of
/// `netlib_error_options_set_cause`.
///
/// An error with the status `NETLIB_PROXY_FAILED` has the kind of its cause by default. If a CONNECT request to a proxy
/// failed, the request to the server was not sent: choose `NETLIB_RETRY_KIND_CONNECT`, so that even a POST is repeated
/// after a read error on the connection to the proxy.
///
/// @param kind one of `enum netlib_retry_kind`, but not `NETLIB_RETRY_KIND_BY_CAUSE`; any other value makes
///        `netlib_error_new` fail with `NETLIB_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_set_retry_kind(
    options: *mut netlib_error_options,
    kind: enum_netlib_retry_kind,
) {
    options::set(options, "netlib_error_options_set_retry_kind", |options: &mut ErrorOptions| {
        options.set_retry_kind(kind)
    });
}

/// Makes an error, to report a failure of your own HTTP layer to `netlib_attempts_next` or `netlib_retry_decide`.
///
/// @param status a failure: a status whose class is neither SUCCESS nor PROGRESS. By default, the status determines the
///        retry kind of the error. Use `NETLIB_IO` or `NETLIB_PROTOCOL`, which are read errors, for a failed send or
///        receive; `NETLIB_INCOMPLETE_READ` for a body that ended early; `NETLIB_READ_TIMEOUT` for a server that does
///        not respond in time. Use `NETLIB_APPLICATION_ERROR`, whose retry kind is OTHER, for a failure that no other
///        status describes, such as an exception of your language.
/// @param message one line that says what failed; it must not contain credentials.
/// @param options the optional properties of the error. May be NULL: the error has the retry kind of `status`, and no
///        other property.
/// @param error the new error.
/// @param err the reason why no error could be made.
/// @return `NETLIB_INVALID_ARGUMENT` if `status` is not a failure, or for a bad value in `options`;
///         `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_new(
    status: netlib_status,
    message: *const c_char,
    options: *const netlib_error_options,
    error: *mut *mut netlib_error,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let error = outs!(error);
        let message = arg_str!(message);
        let options = options::borrowed::<_, ErrorOptions>(options)?;
        error.give(Arc::new(Error::reported(status, message, &options)?));
        Ok(())
    })
}

/// Returns another reference to the same error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_clone(error: *const netlib_error) -> *mut netlib_error {
    handle::clone(error)
}

/// Releases an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_free(error: *mut netlib_error) {
    guard::nothing(|| handle::free(error));
}

/// Returns the status of an error.
///
/// @return one of `enum netlib_status_code`; `NETLIB_OK` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_status(error: *const netlib_error) -> netlib_status {
    read(error, Status::Ok as i32, |error| error.status() as i32)
}

/// Returns the retry kind of an error, which is never `NETLIB_RETRY_KIND_BY_CAUSE`; `NETLIB_RETRY_KIND_NEVER` for NULL.
/// `netlib_retry_increment` and `netlib_retry_decide` use the retry kind.
///
/// By default, an error has the kind of its status. Once a stream or engine has accepted application data for sending,
/// early data included, or has received application data from the peer, its failures have the kind READ if their
/// statuses have the kind CONNECT or OTHER. For TLS in TLS, only the data of the stream that reports the error counts,
/// because the outer streams have carried only the handshake of that stream and a proxy's CONNECT. An error about a
/// response that breaks HTTP's rules has the kind READ. An error about a request header that cannot be sent has the
/// kind NEVER, and so has an error with which `netlib_retry_decide` or `netlib_decision_sleep` ended the retries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_retry_kind(error: *const netlib_error) -> enum_netlib_retry_kind {
    read(error, RetryKind::Never as i32, |error| error.retry_kind() as i32)
}

/// Returns the error message: one line of UTF-8 that says what failed and, for an invalid input, where. A message that
/// netlib made never contains credentials.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_message(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_text(error, len, |error| Some(error.message_c()))
}

/// Returns advice for the developer of the application: the one setting that would change the outcome, for example "to
/// trust it: netlib_tls_options_add_ca_file"; NULL if there is no such setting. The advice is not part of the error
/// message, because end users may read the message. The advice never recommends switching verification off.
///
/// For an unknown issuer, the advice names the authority to add. For a hostname mismatch, the advice lists the names of
/// the certificate, at most eight. The authority and the names come from a peer that is not authenticated, so neither
/// is a reason to trust the peer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_advice(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_text(error, len, Error::advice_text)
}

/// Returns the report of an error: lines of text for a log or a traceback, with the message, the advice and the causes;
/// NULL when memory is short. The first line is the message. Each line below it is indented by two blanks for each
/// level, and begins with "advice: " before the advice, or with "cause: " before the message of a cause. Several causes
/// are numbered: "cause 1: ", "cause 2: ", …. The lines below a cause contain its own advice and causes:
///
///     the proxy failed
///       cause: no connection to h port 80
///         cause 1: cannot connect to 192.0.2.1 port 80: Connection refused
///         cause 2: cannot connect to 192.0.2.2 port 80: No route to host
///
/// If the message of an error ends with the message of its first cause, as that of `NETLIB_MAX_RETRY` does, the report
/// does not repeat the message of this cause: the cause's own advice and causes are the first lines below the error,
/// and only the other causes of the error are listed and numbered.
///
/// A line feed separates the lines; the last line has none. A report has at most 65,536 bytes: a longer one is
/// truncated, and ends with "…". The report contains no credentials, unless the application passed a message with
/// credentials to `netlib_error_new`. The first call makes the report, and the error keeps it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_report(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_text(error, len, Error::report)
}

/// Returns the number of causes of an error. A failure to connect has one cause per address tried. A `NETLIB_MAX_RETRY`
/// error has one cause, the failure that was not retried; for the history of requests, see `netlib_error_retry`. When a
/// `netlib_limit` ends a chain of redirects and retries, the error has one cause for each of the last 16 requests. The
/// tree of an error and its causes has at most 16 levels and 1,024 errors: a cause that would exceed one of these
/// maxima is kept without its own causes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_cause_count(error: *const netlib_error) -> usize {
    read(error, 0, |error| error.causes().len())
}

/// Returns a cause of an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_cause(error: *const netlib_error, index: usize) -> *const netlib_error {
    read(error, std::ptr::null(), |error| handle::lend(error.causes().get(index)))
}
