//! Facts of an error as values.

use std::ffi::{c_char, c_void};

use crate::error::{Error, ErrorOptions};
use crate::ffi::api::basics::{netlib_ctx_free_fn, netlib_error, netlib_error_options};
use crate::ffi::callback_context::CallbackContext;
use crate::ffi::enums::{
    enum_netlib_certificate_problem, enum_netlib_header_defect, enum_netlib_rewind_problem, enum_netlib_timeout_kind,
};
use crate::ffi::options;
use crate::ffi::strings::{lend_text, read};

/// The reasons for refusing a peer's certificate. `netlib_error_certificate_problem` returns the reason that an error
/// reports.
#[repr(C)]
pub enum netlib_certificate_problem {
    /// The error is not about a certificate.
    NETLIB_CERTIFICATE_PROBLEM_NONE = 0,
    /// The certificate has expired.
    NETLIB_CERTIFICATE_PROBLEM_EXPIRED = 1,
    /// The certificate is not valid yet.
    NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID = 2,
    /// No trusted certificate issued the last certificate of the chain, for example because a private authority was not
    /// added. `netlib_error_advice` names the authority.
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER = 3,
    /// The certificate is not for the requested host.
    NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH = 4,
    /// The issuer has revoked the certificate.
    NETLIB_CERTIFICATE_PROBLEM_REVOKED = 5,
    /// A signature in the chain is wrong.
    NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE = 6,
    /// The certificate was issued for another purpose: its extendedKeyUsage does not include the purpose, or the
    /// keyUsage of the peer's own certificate does not include digitalSignature, although the peer must sign the
    /// handshake.
    NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE = 7,
    /// The certificate cannot be parsed.
    NETLIB_CERTIFICATE_PROBLEM_MALFORMED = 8,
    /// Any other problem with the certificate, which the error message describes.
    NETLIB_CERTIFICATE_PROBLEM_OTHER = 9,
    /// The certificate is its own issuer and is not a trusted certificate.
    NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED = 10,
    /// The peer did not send an intermediate certificate. netlib reports an incomplete chain if the issuer's
    /// certificate is missing and there is a sign that the chain continues: the peer sent other certificates that do
    /// not belong to the chain, or the peer's certificate names a location from which its issuer's certificate can be
    /// downloaded (caIssuers). Without a sign that the chain continues, netlib reports UNKNOWN_ISSUER.
    NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN = 11,
    /// The peer's own certificate is that of an authority (CA:TRUE), not that of a server or a client.
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
    /// An authority above the certificate in the chain has nameConstraints that exclude a name of the certificate.
    NETLIB_CERTIFICATE_PROBLEM_NAME_CONSTRAINTS = 18,
    /// A certificate of the chain has more authorities below it than its pathlen (basicConstraints) allows.
    NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH = 19,
    /// A certificate of the chain has a critical extension that netlib does not understand.
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_CRITICAL_EXTENSION = 20,
    /// The chain is too long, or takes too much work to verify.
    NETLIB_CERTIFICATE_PROBLEM_TOO_COMPLEX = 21,
    /// A certificate of the chain issued another certificate without permission: its basicConstraints lack CA:TRUE, or
    /// its keyUsage lacks keyCertSign. The certificate may be the trusted one at the end of the chain.
    NETLIB_CERTIFICATE_PROBLEM_NOT_CA = 22,
}

/// The timeouts of a `netlib_timeout`. `netlib_error_invalid_timeout` returns the one whose value is not allowed.
#[repr(C)]
pub enum netlib_timeout_kind {
    /// The error is not about a value of a `netlib_timeout`.
    NETLIB_TIMEOUT_KIND_NONE = 0,
    /// The connect timeout.
    NETLIB_TIMEOUT_KIND_CONNECT = 1,
    /// The read timeout.
    NETLIB_TIMEOUT_KIND_READ = 2,
    /// The total timeout.
    NETLIB_TIMEOUT_KIND_TOTAL = 3,
}

/// The reasons why a body cannot be rewound. `netlib_error_rewind_problem` returns the reason that an error reports.
#[repr(C)]
pub enum netlib_rewind_problem {
    /// The error is not about rewinding a body.
    NETLIB_REWIND_PROBLEM_NONE = 0,
    /// The position is `NETLIB_POSITION_NONE`: no position was recorded.
    NETLIB_REWIND_PROBLEM_NO_POSITION = 1,
    /// The position is `NETLIB_POSITION_FAILED`: the body could not report its position.
    NETLIB_REWIND_PROBLEM_POSITION_FAILED = 2,
    /// The body has no `netlib_body_seek_fn`.
    NETLIB_REWIND_PROBLEM_NO_SEEK = 3,
    /// Seeking failed. For a descriptor, `netlib_error_errno` returns the reason (ESPIPE for a pipe). For an
    /// application-defined body, the cause of the error is the failure of its `netlib_body_seek_fn`.
    NETLIB_REWIND_PROBLEM_SEEK_FAILED = 4,
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
/// 255; -1 when there was no alert, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_tls_alert(error: *const netlib_error) -> i32 {
    read(error, -1, |error| error.tls_alert().map_or(-1, i32::from))
}

/// Returns the reason why the peer's certificate was refused; `NETLIB_CERTIFICATE_PROBLEM_NONE` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_certificate_problem(
    error: *const netlib_error,
) -> enum_netlib_certificate_problem {
    read(error, 0, |error| error.certificate_problem() as i32)
}

/// Returns the position of the refused certificate in the chain that the peer sent, 0 for the peer's own certificate;
/// -1 when the error is not about a certificate that the peer sent, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_certificate_index(error: *const netlib_error) -> i64 {
    read(error, -1, |error| error.certificate_index().and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

/// Returns the byte offset of the problem in the input; -1 when the error is not about a byte of an input, and for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_offset(error: *const netlib_error) -> i64 {
    read(error, -1, |error| error.offset().and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

/// The defects of a header block that `netlib_assert_header_parsing` checks. `netlib_error_header_defect` returns the
/// defect that an error reports.
#[repr(C)]
pub enum netlib_header_defect {
    /// The error is not about a header block.
    NETLIB_HEADER_DEFECT_NONE = 0,
    /// A line is neither a header field nor the empty line at the end. The line and all later lines were not parsed.
    NETLIB_HEADER_DEFECT_NOT_A_HEADER = 1,
    /// A line continues a header field, but no header field precedes it.
    NETLIB_HEADER_DEFECT_CONTINUATION_FIRST = 2,
    /// A line after the first one is the envelope line of a mail message ("From ...").
    NETLIB_HEADER_DEFECT_MISPLACED_ENVELOPE = 3,
    /// The name of a header field is empty.
    NETLIB_HEADER_DEFECT_NO_NAME = 4,
    /// A multipart Content-Type has no boundary.
    NETLIB_HEADER_DEFECT_NO_BOUNDARY = 5,
    /// The Content-Type is multipart, and the Content-Transfer-Encoding is not one that multipart allows.
    NETLIB_HEADER_DEFECT_MULTIPART_ENCODING = 6,
    /// A CR without LF ends the header fields, and further bytes follow, which were not parsed.
    NETLIB_HEADER_DEFECT_UNREAD_DATA = 7,
}

/// Sets the status code of the response that caused the error: see `netlib_error_http_status`. Default: 0, no response
/// caused the error.
///
/// @param http_status 100 to 999, or 0; any other number makes `netlib_error_new` fail with `NETLIB_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_set_http_status(options: *mut netlib_error_options, http_status: i32) {
    options::set(options, "netlib_error_options_set_http_status", |options: &mut ErrorOptions| {
        options.set_http_status(http_status)
    });
}

/// Attaches user data to the error, for example the exception of another language: see `netlib_error_user_data`.
/// Default: none.
///
/// The options and every error made from them hold the user data. Copies of the error in the history of a
/// `netlib_retry` and among the causes of other errors hold the same user data. `ctx_free` releases the user data once,
/// when the last holder is gone, on the thread that releases this holder: see `netlib_ctx_free_fn`. Errors are shared
/// between threads, so several threads may use the user data at the same time.
///
/// @param ctx the user data. May be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_options_set_user_data(
    options: *mut netlib_error_options,
    ctx: *mut c_void,
    ctx_free: netlib_ctx_free_fn,
) {
    options::set_callback(
        options,
        "netlib_error_options_set_user_data",
        (ctx, ctx_free),
        |options: &mut ErrorOptions, ctx| options.set_user_data(ctx),
    );
}

/// Returns the user data of an error; NULL when the error has none, and for every error that netlib makes. To find the
/// user data of the failure that ended the retries, get the causes with `netlib_error_cause`. To find the user data of
/// an earlier failure, get its error with `netlib_retry_history_error`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_user_data(error: *const netlib_error) -> *mut c_void {
    read(error, std::ptr::null_mut(), |error| {
        error.user_data::<CallbackContext>().map_or(std::ptr::null_mut(), CallbackContext::pointer)
    })
}

/// Returns the status code of the response that caused an error, for example 503; 0 when no response caused the error.
///
/// An error of the retry policy has a status code if a response caused the error: `NETLIB_MAX_RETRY`,
/// `NETLIB_RESPONSE_STATUS`, `NETLIB_TOO_MANY_REDIRECTS`, `NETLIB_UNSAFE_REDIRECT`, `NETLIB_INVALID_URL` for a Location
/// that cannot be followed, and `NETLIB_INVALID_HEADER` for a malformed Retry-After. If another error caused a
/// `NETLIB_MAX_RETRY` error, the result is the status code of that cause. An error that `netlib_response_check_tunnel`
/// stores has the status code of the proxy's response. For an error that the application made, the result is the number
/// that was passed to `netlib_error_options_set_http_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_http_status(error: *const netlib_error) -> i32 {
    read(error, 0, |error| error.http_status().map_or(0, i32::from))
}

/// Returns the fingerprint that the application passed to `netlib_assert_fingerprint`, in lower-case hex digits without
/// colons; NULL when the error is not a mismatch that `netlib_assert_fingerprint` found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_expected_fingerprint(
    error: *const netlib_error,
    len: *mut usize,
) -> *const c_char {
    lend_text(error, len, Error::expected_fingerprint)
}

/// Returns the fingerprint of the certificate that does not have the expected fingerprint, in lower-case hex digits;
/// NULL when the error is not `NETLIB_FINGERPRINT_MISMATCH`, or when there was no certificate. The hash function is
/// that of the expected fingerprint (MD5, SHA-1 or SHA-256). If no pin of a context matched
/// (`netlib_tls_options_add_pin`), the result is the SHA-256 fingerprint of the peer's own certificate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_actual_fingerprint(
    error: *const netlib_error,
    len: *mut usize,
) -> *const c_char {
    lend_text(error, len, Error::actual_fingerprint)
}

/// Returns the pin of the peer's public key if no pin of the context matched: "sha256//" and base64, as
/// `netlib_certificate_public_key_pin` returns it; NULL for any other error. The peer is not authenticated, so the pin
/// is no reason to trust the peer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_public_key_pin(error: *const netlib_error, len: *mut usize) -> *const c_char {
    lend_text(error, len, Error::public_key_pin)
}

/// Returns the timeout whose value `netlib_timeout_new` or `netlib_timeout_from_float` refused;
/// `NETLIB_TIMEOUT_KIND_NONE` for any other error, and for NULL. `netlib_timeout_new` checks the total timeout first,
/// then the connect timeout, then the read timeout. `netlib_timeout_from_float` takes one number for the connect
/// timeout and the read timeout. If it refuses the number, the result is `NETLIB_TIMEOUT_KIND_CONNECT`, because
/// urllib3's error names the connect timeout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_invalid_timeout(error: *const netlib_error) -> enum_netlib_timeout_kind {
    read(error, 0, |error| error.invalid_timeout().map_or(0, |kind| kind as i32))
}

/// Returns the reason for an error with the status `NETLIB_UNREWINDABLE_BODY`; `NETLIB_REWIND_PROBLEM_NONE` for an
/// error with another status, for an error that the application made, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_rewind_problem(error: *const netlib_error) -> enum_netlib_rewind_problem {
    read(error, 0, |error| error.rewind_problem().map_or(0, |problem| problem as i32))
}

/// Returns the defect of a header block that an error reports; `NETLIB_HEADER_DEFECT_NONE` for an error that is not
/// about a header block, and for NULL. The error that `netlib_assert_header_parsing` stores reports the first defect,
/// and each cause of this error reports one defect. `netlib_error_offset` returns the offset at which the line with the
/// defect begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_header_defect(error: *const netlib_error) -> enum_netlib_header_defect {
    read(error, 0, |error| error.header_defect().map_or(0, |defect| defect.kind as i32))
}

/// Returns the number of the line with the defect that `netlib_error_header_defect` returns, counted from 1; 0 when the
/// error is not about a header block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_header_defect_line(error: *const netlib_error) -> i64 {
    read(error, 0, |error| error.header_defect().and_then(|defect| i64::try_from(defect.line).ok()).unwrap_or(0))
}

/// Returns the offset in a header block at which `netlib_assert_header_parsing` stopped parsing: the bytes from this
/// offset to the end of the block were not parsed. Returns -1 when the whole block was parsed, for an error that is not
/// about a header block, for the cause of an error, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_error_unparsed_offset(error: *const netlib_error) -> i64 {
    read(error, -1, |error| error.unparsed().and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}
