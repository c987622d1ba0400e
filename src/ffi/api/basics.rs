//! Versions, statuses and errors.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use crate::error::{Error, ErrorOptions};
use crate::ffi::args::{NTS, arg_shared_opt, arg_str};
use crate::ffi::enums::{enum_netlib_certificate_problem, enum_netlib_class, enum_netlib_retry_kind};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::out::outs;
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Handle, Options, Shared, Unique, handle, options};
use crate::status::{RetryKind, Status, StatusClass};

/// The result of every function that can fail: one of `enum netlib_status_code`. New codes may come with a new release;
/// `netlib_status_class` gives the class of an unknown code.
pub type netlib_status = i32;

/// Groups of statuses. Returned by `netlib_status_class`.
#[repr(C)]
pub enum netlib_class {
    /// `NETLIB_OK`.
    NETLIB_CLASS_SUCCESS = 0,
    /// No error, and no error object: more input, more output, a wait that ended, a clean end.
    NETLIB_CLASS_PROGRESS = 1,
    /// The caller passed something that cannot be used; the message names the parameter.
    NETLIB_CLASS_ARGUMENT = 2,
    /// The handle is not in a state in which this call can be made.
    NETLIB_CLASS_STATE = 3,
    /// A failure of the operating system, or a bug of netlib that was caught.
    NETLIB_CLASS_SYSTEM = 4,
    /// A time limit passed, or the wait was cancelled.
    NETLIB_CLASS_TIME = 5,
    /// The text is not a URL.
    NETLIB_CLASS_URL = 6,
    /// No connection could be made: the name lookup, the connect or a proxy failed.
    NETLIB_CLASS_CONNECT = 7,
    /// A failure of TLS: verification, names, alerts, a broken stream.
    NETLIB_CLASS_TLS = 8,
    /// A defect of the peer's HTTP, or the status of its response.
    NETLIB_CLASS_HTTP = 9,
    /// The retry policy ended the request.
    NETLIB_CLASS_RETRY = 10,
}

/// The counter of a `netlib_retry` that a failure consumes. `netlib_error_retry_kind` returns it for an error,
/// `netlib_status_retry_kind` for a status alone.
#[repr(C)]
pub enum netlib_retry_kind {
    /// Not a failure of the request: never retried. `netlib_retry_increment` fails with the error itself.
    NETLIB_RETRY_KIND_NEVER = 0,
    /// The request did not reach the server: the `connect` counter.
    NETLIB_RETRY_KIND_CONNECT = 1,
    /// The request, or a part of it, was sent and its effect is unknown: the `read` counter. Such a request is repeated
    /// only if its method is in `allowed_methods`.
    NETLIB_RETRY_KIND_READ = 2,
    /// Any other failure, such as a refused certificate: the `other` counter. It applies to every method, including a
    /// method that is not in `allowed_methods`.
    NETLIB_RETRY_KIND_OTHER = 3,
    /// The kind of the status `NETLIB_PROXY_FAILED`, never of an error: an error with this status has the kind of its
    /// first cause, or OTHER if it has no cause. If its cause is also a proxy failure, the innermost cause determines
    /// the kind.
    NETLIB_RETRY_KIND_BY_CAUSE = 4,
}

/// The reason for which a peer's certificate was refused. Returned by `netlib_error_certificate_problem`.
#[repr(C)]
pub enum netlib_certificate_problem {
    /// The error is not about a certificate.
    NETLIB_CERTIFICATE_PROBLEM_NONE = 0,
    /// The certificate has expired.
    NETLIB_CERTIFICATE_PROBLEM_EXPIRED = 1,
    /// The certificate is not valid yet.
    NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID = 2,
    /// No trusted certificate issued the last certificate of the chain, for example because a private authority was not
    /// added. The advice names the authority.
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER = 3,
    /// The certificate is for other hosts than the requested one.
    NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH = 4,
    /// The issuer has revoked the certificate.
    NETLIB_CERTIFICATE_PROBLEM_REVOKED = 5,
    /// A signature in the chain is wrong.
    NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE = 6,
    /// The certificate was issued for another purpose.
    NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE = 7,
    /// The certificate cannot be parsed.
    NETLIB_CERTIFICATE_PROBLEM_MALFORMED = 8,
    /// Any other problem, which the message describes.
    NETLIB_CERTIFICATE_PROBLEM_OTHER = 9,
    /// The certificate is its own issuer, and was not added as trusted.
    NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED = 10,
    /// The peer did not send an intermediate certificate. netlib reports this if the issuer's certificate is missing
    /// and there is a sign that the chain continues: the peer sent other certificates that do not belong to the chain,
    /// or the peer's certificate names a location from which its issuer's certificate can be downloaded (caIssuers).
    /// Otherwise it reports UNKNOWN_ISSUER.
    NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN = 11,
    /// The peer's own certificate is an authority's (CA:TRUE) instead of a server's or a client's.
    NETLIB_CERTIFICATE_PROBLEM_AUTHORITY_AS_LEAF = 12,
    /// The certificate's key is too small, or of a kind that is no longer safe.
    NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY = 13,
    /// The certificate's signature uses a digest that is no longer safe, such as SHA-1 or MD5.
    NETLIB_CERTIFICATE_PROBLEM_WEAK_SIGNATURE = 14,
    /// The certificate's revocation status is unknown: no current CRL of its issuer was added.
    NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN = 15,
    /// The peer sent no certificate.
    NETLIB_CERTIFICATE_PROBLEM_MISSING = 16,
    /// No pin matches the certificate or its chain: see `netlib_tls_options_add_pin`.
    NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED = 17,
    /// The certificate has a name that an authority above it may not certify (nameConstraints).
    NETLIB_CERTIFICATE_PROBLEM_NAME_CONSTRAINTS = 18,
    /// A certificate of the chain has more authorities below it than its pathlen (basicConstraints) allows.
    NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH = 19,
    /// A certificate of the chain has a critical extension that netlib does not understand.
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_CRITICAL_EXTENSION = 20,
    /// The chain is too long, or takes too much work to verify.
    NETLIB_CERTIFICATE_PROBLEM_TOO_COMPLEX = 21,
    /// A certificate of the chain has issued another certificate, but may not: its basicConstraints lack CA:TRUE, or
    /// its keyUsage lacks keyCertSign. It may be the trusted certificate at the end of the chain.
    NETLIB_CERTIFICATE_PROBLEM_NOT_CA = 22,
}

/// The result of a callback that decides: `netlib_address_fn`, `netlib_tls_servername_fn`. 0 means failure because many
/// foreign-function layers (ctypes, cffi, JNA, Perl) return 0 to C when the callback raises an exception, and a filter
/// that raises must not let anything through. Any number that is not listed here also means failure.
#[repr(C)]
pub enum netlib_verdict {
    /// The callback failed. The call fails with `NETLIB_CALLBACK_FAILED`.
    NETLIB_VERDICT_FAILED = 0,
    /// Go on.
    NETLIB_VERDICT_ALLOW = 1,
    /// Do not go on. The comment of the callback states the effect.
    NETLIB_VERDICT_REFUSE = 2,
}

/// The result of a callback that performs an action and stores no result: `netlib_sleep_fn`, `netlib_body_seek_fn`. 0
/// means failure, for the same reason as in `netlib_verdict`. Any number that is not listed here also means failure.
///
/// A callback that stores a result through a pointer returns 0 for success instead. netlib presets the result to an
/// invalid value, so a callback that raised an exception before it stored a result also counts as failed.
#[repr(C)]
pub enum netlib_outcome {
    /// The action failed.
    NETLIB_OUTCOME_FAILED = 0,
    /// The action succeeded.
    NETLIB_OUTCOME_DONE = 1,
}

/// Releases the `ctx` of a callback. Each function that takes a callback with a `ctx` also takes a `ctx_free`, and
/// takes ownership of `ctx`, whatever it returns. `ctx_free` is called exactly once **for each such call**, when
/// nothing holds the callback any more. It is called at once if the function cannot keep the callback (NULL options, a
/// failure), or if there is no callback for `ctx`. So give one `ctx` with a `ctx_free` to one call only. To share a
/// `ctx` between several calls, count its references, or pass NULL as `ctx_free`: then `ctx` must stay usable as long
/// as anything holds the callback, and you release it yourself.
///
/// Objects made from options also hold their callbacks. So the last holder may be a context, a stream, a
/// `netlib_retry`, a decision, or an error that lends a `netlib_retry`. A later call of the same setter releases the
/// callback that it replaces, unless something else holds it. Several callbacks given in one call share one `ctx`.
///
/// `ctx_free` runs on the thread that releases the last holder, during a netlib call. netlib holds no lock meanwhile,
/// so `ctx_free` may call netlib. After fork(2), parent and child each have a copy of `ctx`, and each process releases
/// its own.
///
/// A setter of a callback releases a `ctx` after it has changed the options (or the timeout). So `ctx_free` may use and
/// free the handle that the setter was called for. During other calls that may change a handle, a call of `ctx_free` on
/// that handle fails with `NETLIB_BUSY` (a setter without a status does nothing), and a `_free` takes effect when the
/// outer call ends. A `ctx_free` that runs in a `_free` must not use the handle being freed.
pub type netlib_ctx_free_fn = Option<unsafe extern "C" fn(ctx: *mut c_void)>;

/// An error with its cause, message and context. **Immutable**. Functions that fail store an error through their last
/// parameter, `err`; free it with `netlib_error_free`. Make your own error with `netlib_error_new` to report a failure
/// of your HTTP layer to the retry policy.
pub struct netlib_error {
    _private: [u8; 0],
}

impl Handle for netlib_error {
    type Value = Error;
    type Ownership = Shared;
}

/// Optional properties of an error that you make: its cause and its retry kind. **Single**. Without any call to a
/// setter the error has no cause, and its status determines its retry kind.
pub struct netlib_error_options {
    _private: [u8; 0],
}

impl Handle for netlib_error_options {
    type Value = Options<ErrorOptions>;
    type Ownership = Unique;
}

/// Returns `NETLIB_NTS`, for languages that cannot read C macros.
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
/// status of this release. Never NULL. `netlib_error_message` says more about an error.
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

/// Returns the retry counter that a failure with this status consumes if nothing else is known about it;
/// `NETLIB_RETRY_KIND_NEVER` for a number that is no status of this release. An error records more, for example whether
/// the request was sent before the failure: see `netlib_error_retry_kind`.
///
/// @param status any number.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_status_retry_kind(status: netlib_status) -> enum_netlib_retry_kind {
    guard::value(0, || Ok(Status::from_code(status).map_or(0, |status| status.retry_kind() as i32)))
}

/// Makes options with the defaults.
///
/// @return Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn netlib_error_options_new() -> *mut netlib_error_options {
    guard::value(std::ptr::null_mut(), || Ok(handle::give(Box::new(Options::new(ErrorOptions::default())))))
}

/// Releases options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_free(options: *mut netlib_error_options) {
    guard::nothing(|| handle::free(options));
}

/// Sets the cause of the error. Default: none. If the cause is a read error because application data was sent, or
/// because its own retry kind was set to READ, the new error is also a read error. This does not apply if the kind of
/// the new error's status is NEVER, or if `netlib_error_options_set_retry_kind` sets the kind.
///
/// @param cause May be NULL: no cause.
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

/// Sets the retry kind: how a Retry counts the error. Default: `netlib_status_retry_kind` of its status. Choose
/// `NETLIB_RETRY_KIND_READ` for every failure after the first byte of the request was passed to a socket or a stream,
/// and for every failure after a response arrived. An error that netlib made already has the right kind. If this is
/// READ, an error that has it as its cause is also READ.
///
/// An error with the status `NETLIB_PROXY_FAILED` has the kind of its cause by default. If a CONNECT request to a proxy
/// failed, the request itself was not sent: choose `NETLIB_RETRY_KIND_CONNECT`, so that even a POST is repeated after a
/// read error of the proxy.
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

/// Makes an error, to report a failure of your own HTTP layer to `netlib_retry_increment` or `netlib_retry_decide`.
///
/// @param status a failure: a status whose class is neither SUCCESS nor PROGRESS. Its retry kind determines how the
///        failure is counted, unless `options` sets another kind. Use `NETLIB_IO` or `NETLIB_PROTOCOL`, which are read
///        errors, for a failed send or receive; `NETLIB_INCOMPLETE_READ` for a body that ended early;
///        `NETLIB_READ_TIMEOUT` for a peer that does not answer in time.
/// @param message one line saying what failed; it must not contain credentials.
/// @param options the cause and the retry kind. May be NULL: no cause, and the retry kind of `status`.
/// @param error the new error.
/// @param err the reason for which no error could be made.
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

/// Returns the retry counter that the failure consumes, never `NETLIB_RETRY_KIND_BY_CAUSE`; `NETLIB_RETRY_KIND_NEVER`
/// for NULL. `netlib_retry_increment` and `netlib_retry_decide` use it.
///
/// By default it is the kind of the error's status. Once a TLS stream or engine has accepted application data for
/// sending, early data included, or has received application data from the peer, each failure that would be CONNECT or
/// OTHER is READ. For TLS in TLS, only the data of the stream that reports the error counts, because the outer streams
/// have carried only its handshake and a proxy's CONNECT. A defect of a response is READ. A request header that cannot
/// be sent is NEVER.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_retry_kind(error: *const netlib_error) -> enum_netlib_retry_kind {
    read(error, RetryKind::Never as i32, |error| error.retry_kind() as i32)
}

/// Returns the failure in one line of UTF-8: what failed, on which input, and at which byte. The message never contains
/// credentials.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_message(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_text(error, len, |error| Some(error.message_c()))
}

/// Returns advice for the developer of the application: the one setting that would change the outcome, for example "to
/// trust it: netlib_tls_options_add_ca_file"; NULL if there is no such setting. The advice is not part of the message,
/// because end users may read the message. The advice never recommends switching verification off.
///
/// For an unknown issuer, the advice names the authority to add. For a hostname mismatch, it lists the names of the
/// certificate, at most eight. Both come from a peer that is not authenticated, so neither is a reason to trust it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_advice(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_text(error, len, Error::advice_text)
}

/// Returns the `errno` of the system call that failed; 0 when no system call failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_errno(error: *const netlib_error) -> i32 {
    read(error, 0, Error::errno)
}

/// Returns the `EAI_…` code of the name lookup that failed, for `gai_strerror`; 0 when no lookup failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_resolver_code(error: *const netlib_error) -> i32 {
    read(error, 0, Error::resolver_code)
}

/// Returns the TLS alert that ended the session, sent by the peer or by netlib: a number of RFC 8446 section 6, 0 to
/// 255; -1 when there was none and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_tls_alert(error: *const netlib_error) -> i32 {
    read(error, -1, |error| error.tls_alert().map_or(-1, i32::from))
}

/// Returns the reason for which the peer's certificate was refused; `NETLIB_CERTIFICATE_PROBLEM_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_certificate_problem(
    error: *const netlib_error,
) -> enum_netlib_certificate_problem {
    read(error, 0, |error| error.certificate_problem() as i32)
}

/// Returns the position of the refused certificate in the chain that the peer sent, 0 for the peer's own; -1 when the
/// error is not about one of these certificates and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_certificate_index(error: *const netlib_error) -> i64 {
    read(error, -1, |error| error.certificate_index().and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

/// Returns the byte offset in the input at which the problem is; -1 when the error is not about a place in an input and
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_offset(error: *const netlib_error) -> i64 {
    read(error, -1, |error| error.offset().and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

/// Returns the number of causes of an error. A failed connect has one cause per address tried. A `NETLIB_MAX_RETRY`
/// error has its reason as a cause (for its history, see `netlib_error_retry`). When a limit ends a chain of requests,
/// the error has one cause per request. The tree of an error and its causes holds at most 1,024 errors: a cause that
/// would exceed this is kept without its own causes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_cause_count(error: *const netlib_error) -> usize {
    read(error, 0, |error| error.causes().len())
}

/// Returns a cause of an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_cause(error: *const netlib_error, index: usize) -> *const netlib_error {
    read(error, std::ptr::null(), |error| handle::lend(error.causes().get(index)))
}
