//! The error type of netlib: a status, a one-line message, and further details.

mod api_name;
mod options;

use std::any::Any;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::memory;
use crate::status::{RetryKind, Status, StatusClass};

pub use api_name::{Advice, ApiName};
pub use options::ErrorOptions;

/// The maximum depth of a chain of causes. In a deeper chain, only the causes nearest to the error are kept, so that
/// neither dropping nor printing an error can recurse without bound.
const MAX_DEPTH: usize = 16;

pub type Result<T> = std::result::Result<T, Error>;

/// The maximum number of errors in the tree of an error, its causes, and the causes of its causes. A cause whose tree
/// would exceed the maximum is added without its own causes. Without this bound, walking a tree of shared causes could
/// take exponential time.
const MAX_ERRORS: usize = 1024;

/// An error of netlib. The data is behind a pointer, because every `Result` is at least as large as its error, even on
/// success.
#[derive(Clone, Debug)]
pub struct Error(Box<ErrorInner>);

#[derive(Clone, Debug)]
struct ErrorInner {
    status: Status,
    /// Replaces the retry kind of the status, as [`Error::retry_kind`] describes. The value is never `ByCause`.
    retry_kind: Option<RetryKind>,
    message: CString,
    /// The API name that [`Error::with_names`] inserts into the message, and the byte offset in the message at which
    /// the name is inserted.
    name: Option<(ApiName, usize)>,
    errno: i32,
    resolver_code: i32,
    tls_alert: Option<u8>,
    certificate_problem: CertificateProblem,
    certificate_index: Option<u16>,
    offset: Option<usize>,
    advice: Option<Advice>,
    advice_text: Option<CString>,
    causes: Vec<Arc<Error>>,
    payload: Option<Arc<dyn Any + Send + Sync>>,
    ech_retry_configs: Option<Vec<u8>>,
    depth: usize,
    /// The number of errors in the tree of this error, its causes, and the causes of its causes.
    errors: usize,
}

/// The reason why a peer's certificate was refused.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CertificateProblem {
    #[default]
    None = 0,
    Expired = 1,
    NotYetValid = 2,
    UnknownIssuer = 3,
    NameMismatch = 4,
    Revoked = 5,
    BadSignature = 6,
    WrongPurpose = 7,
    Malformed = 8,
    Other = 9,
    SelfSigned = 10,
    IncompleteChain = 11,
    AuthorityAsLeaf = 12,
    WeakKey = 13,
    WeakSignature = 14,
    RevocationUnknown = 15,
    Missing = 16,
    NotPinned = 17,
    NameConstraints = 18,
    PathLength = 19,
    UnknownCriticalExtension = 20,
    TooComplex = 21,
    NotCa = 22,
}

impl Error {
    /// Creates an error. Control characters and NUL in the message are escaped, so that the message has one line.
    pub fn new(status: Status, message: impl AsRef<str>) -> Error {
        // If memory runs out, the message becomes empty. netlib's own messages are short, so this hardly happens.
        Error::with_message(status, one_line(message.as_ref()).unwrap_or_default())
    }

    fn with_message(status: Status, message: CString) -> Error {
        Error(Box::new(ErrorInner {
            status,
            retry_kind: None,
            message,
            name: None,
            errno: 0,
            resolver_code: 0,
            tls_alert: None,
            certificate_problem: CertificateProblem::None,
            certificate_index: None,
            offset: None,
            advice: None,
            advice_text: None,
            causes: Vec::new(),
            payload: None,
            ech_retry_configs: None,
            depth: 0,
            errors: 1,
        }))
    }

    /// Creates an error whose message is `before`, an API name, and `after`.
    pub fn naming(status: Status, before: &str, name: ApiName, after: &str) -> Error {
        let mut error = Error::new(status, format!("{before}{after}"));
        error.0.name = Some((name, before.len()));
        error
    }

    /// Creates an error for a failure in the application's own code. `code` is the number of the error's status.
    pub fn reported(code: i32, message: &str, options: &ErrorOptions) -> Result<Error> {
        let status = Status::from_code(code)
            .filter(|status| !matches!(status.class(), StatusClass::Success | StatusClass::Progress))
            .ok_or_else(|| Error::new(Status::InvalidArgument, format!("status {code} is not a failure")))?;
        Ok(options.apply(Error::with_message(status, one_line(message)?)))
    }

    /// Creates the error for a failed system call. The message begins with `what`, for example "cannot connect to
    /// 127.0.0.1 port 80".
    pub fn from_io(status: Status, what: impl AsRef<str>, error: &std::io::Error) -> Error {
        let errno = error.raw_os_error().unwrap_or(0);
        Error::new(status, format!("{}: {}", what.as_ref(), describe_io(error))).with_errno(errno)
    }

    pub fn with_errno(mut self, errno: i32) -> Error {
        self.0.errno = errno;
        self
    }

    pub fn with_resolver_code(mut self, code: i32) -> Error {
        self.0.resolver_code = code;
        self
    }

    pub fn with_tls_alert(mut self, alert: u8) -> Error {
        self.0.tls_alert = Some(alert);
        self
    }

    pub fn with_certificate_problem(mut self, problem: CertificateProblem) -> Error {
        self.0.certificate_problem = problem;
        self
    }

    /// Sets the position, in the peer's chain, of the certificate that the error is about. The peer's own certificate
    /// has index 0.
    pub fn at_certificate(mut self, index: Option<usize>) -> Error {
        self.0.certificate_index = index.and_then(|index| u16::try_from(index).ok());
        self
    }

    /// Sets the offset of the input byte that the error is about.
    pub fn at(mut self, offset: usize) -> Error {
        self.0.offset = Some(offset);
        self
    }

    pub fn with_advice(mut self, advice: impl Into<Option<Advice>>) -> Error {
        self.0.advice = advice.into();
        self
    }

    /// Puts the name of the setting that caused the error before the message, as in "set_total: …".
    pub fn with_setting(mut self, setting: ApiName) -> Error {
        self.0.name = Some((setting, 0));
        self
    }

    /// Inserts the names of API functions and types into the messages and the advice of the error and its causes.
    /// `src/ffi` calls this function before it returns an error to C.
    pub fn with_names(mut self, name_of: fn(ApiName) -> &'static str) -> Error {
        self.insert_names(name_of);
        self
    }

    fn insert_names(&mut self, name_of: fn(ApiName) -> &'static str) {
        if let Some((name, offset)) = self.0.name.take() {
            let (before, after) = self.message().split_at_checked(offset).unwrap_or(("", self.message()));
            let separator = if offset == 0 { ": " } else { "" };
            self.0.message = one_line(&format!("{before}{}{separator}{after}", name_of(name))).unwrap_or_default();
        }
        if let Some(advice) = self.0.advice.take() {
            self.0.advice_text = one_line(&advice.render(name_of)).ok();
        }
        for cause in self.0.causes.iter_mut().filter(|cause| cause.has_names()) {
            Arc::make_mut(cause).insert_names(name_of);
        }
    }

    fn has_names(&self) -> bool {
        self.0.name.is_some() || self.0.advice.is_some() || self.0.causes.iter().any(|cause| cause.has_names())
    }

    /// Adds a cause to the error. If the cause records that the request was sent, this error becomes a read error,
    /// unless this error is never retried.
    pub fn with_cause(mut self, cause: Arc<Error>) -> Error {
        if cause.0.retry_kind == Some(RetryKind::Read) {
            self = self.after_request_was_sent();
        }
        let too_many = cause.0.depth + 1 >= MAX_DEPTH || self.0.errors.saturating_add(cause.0.errors) > MAX_ERRORS;
        let cause = if too_many { Arc::new(cause.without_causes()) } else { cause };
        self.0.depth = self.0.depth.max(cause.0.depth + 1);
        self.0.errors = self.0.errors.saturating_add(cause.0.errors);
        self.0.causes.push(cause);
        self
    }

    /// Records that the server may have acted on the request. An error that may be retried becomes a read error.
    pub fn after_request_was_sent(mut self) -> Error {
        if self.retry_kind() != RetryKind::Never {
            self.0.retry_kind = Some(RetryKind::Read);
        }
        self
    }

    /// Records that the error must never be retried, because the same request would fail with the same error.
    pub fn never_retried(mut self) -> Error {
        self.0.retry_kind = Some(RetryKind::Never);
        self
    }

    /// Attaches a value whose type this module does not know, such as the Retry that `Retry::from_error` returns.
    pub fn with_payload<T: Any + Send + Sync>(mut self, payload: T) -> Error {
        self.0.payload = Some(Arc::new(payload));
        self
    }

    /// Sets the ECHConfigList that a server sent when it rejected Encrypted Client Hello, for the next attempt.
    pub fn with_ech_retry_configs(mut self, list: Option<Vec<u8>>) -> Error {
        self.0.ech_retry_configs = list;
        self
    }

    /// Puts `prefix` and a colon before the message, as in "Location: …".
    pub fn prefixed(mut self, prefix: &str) -> Error {
        let length = self.message().len();
        self.0.message = one_line(&format!("{prefix}: {}", self.message())).unwrap_or_default();
        let added = self.message().len().saturating_sub(length);
        self.0.name = self.0.name.map(|(name, offset)| (name, offset + added));
        self
    }

    /// Returns a copy of the error without causes and payload. A copy of a proxy error keeps the retry kind that the
    /// first cause determined.
    fn without_causes(&self) -> Error {
        let is_by_cause = self.0.status.retry_kind() == RetryKind::ByCause;
        let retry_kind = if is_by_cause { Some(self.retry_kind()) } else { self.0.retry_kind };
        Error(Box::new(ErrorInner {
            causes: Vec::new(),
            payload: None,
            retry_kind,
            depth: 0,
            errors: 1,
            ..ErrorInner::clone(&self.0)
        }))
    }

    /// Returns the error without its payload and the payloads of its causes. A Retry's history contains only errors
    /// without payloads. With payloads, an error could contain a Retry whose history contains an error with a Retry,
    /// and so on, and dropping the error would recurse without bound.
    pub fn without_payload(self: &Arc<Error>) -> Arc<Error> {
        if !self.has_payload() {
            return Arc::clone(self);
        }
        let causes = self.0.causes.iter().map(Error::without_payload).collect();
        Arc::new(Error(Box::new(ErrorInner { causes, payload: None, ..ErrorInner::clone(&self.0) })))
    }

    fn has_payload(&self) -> bool {
        self.0.payload.is_some() || self.0.causes.iter().any(|cause| cause.has_payload())
    }

    pub fn status(&self) -> Status {
        self.0.status
    }

    pub fn message(&self) -> &str {
        self.0.message.to_str().unwrap_or("")
    }

    pub fn message_c(&self) -> &CStr {
        &self.0.message
    }

    /// Returns the errno, or 0 if no system call failed.
    pub fn errno(&self) -> i32 {
        self.0.errno
    }

    /// Returns the `EAI_*` code of a failed lookup, or 0 if no lookup failed.
    pub fn resolver_code(&self) -> i32 {
        self.0.resolver_code
    }

    pub fn tls_alert(&self) -> Option<u8> {
        self.0.tls_alert
    }

    pub fn certificate_problem(&self) -> CertificateProblem {
        self.0.certificate_problem
    }

    pub fn certificate_index(&self) -> Option<usize> {
        self.0.certificate_index.map(usize::from)
    }

    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    pub fn advice(&self) -> Option<&Advice> {
        self.0.advice.as_ref()
    }

    /// Returns the advice as text; `None` before [`Error::with_names`] has made the text.
    pub fn advice_text(&self) -> Option<&CStr> {
        self.0.advice_text.as_deref()
    }

    pub fn causes(&self) -> &[Arc<Error>] {
        &self.0.causes
    }

    /// Returns the value attached by [`Error::with_payload`]; `None` if there is none, or if its type is not `T`.
    pub fn payload<T: Any>(&self) -> Option<&T> {
        self.0.payload.as_ref()?.downcast_ref()
    }

    pub fn ech_retry_configs(&self) -> Option<&[u8]> {
        self.0.ech_retry_configs.as_deref()
    }

    /// Returns the retry kind of this error, which selects the retry counter that the error decrements: the kind set
    /// for the error, otherwise the kind of its status. A proxy error has the kind of its first cause, or `Other`
    /// without a cause. Never returns `ByCause`.
    pub fn retry_kind(&self) -> RetryKind {
        match self.0.retry_kind.unwrap_or(self.0.status.retry_kind()) {
            // A proxy error whose cause is a read error must be a read error too, because a forward proxy may have
            // passed the request on.
            RetryKind::ByCause => self.0.causes.first().map_or(RetryKind::Other, |cause| cause.retry_kind()),
            kind => kind,
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// Escapes control characters, so that the text has one line. Fails if memory runs out, because the caller may choose
/// the length of the text.
fn one_line(text: &str) -> Result<CString> {
    let escaped = |c: char| if c.is_control() { c.escape_default().len() } else { c.len_utf8() };
    let mut clean = Vec::new();
    memory::reserve(&mut clean, text.chars().map(escaped).sum::<usize>() + 1, "a message")?;
    for c in text.chars() {
        if c.is_control() {
            clean.extend(c.escape_default().map(|escaped| escaped as u8));
        } else {
            clean.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    clean.push(0);
    Ok(CString::from_vec_with_nul(clean).unwrap_or_default())
}

/// Truncates a text from the caller for an error message. The truncated text is long enough to recognise the original.
pub(crate) fn truncated(text: &str) -> &str {
    const SHOWN: usize = 80;
    text.char_indices().nth(SHOWN).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// Returns the system's message without Rust's " (os error N)" suffix, because the number has its own accessor.
pub(crate) fn describe_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_error_messages_are_escaped() {
        let error = Error::new(Status::InvalidUrl, "a\nb\0c\u{7f}é");
        assert_eq!(error.message(), "a\\nb\\u{0}c\\u{7f}é");
    }

    #[test]
    fn api_names_are_inserted_into_messages_and_advice() {
        let name_of = |name| if name == ApiName::SetCiphers { "set_ciphers" } else { "add_pin" };
        let error = |message| Error::new(Status::Io, message);
        let naming = |before, after| Error::naming(Status::Io, before, ApiName::SetCiphers, after);
        for (error, expected) in [
            (error("x"), "x"),
            (error("x").with_setting(ApiName::SetCiphers), "set_ciphers: x"),
            (error("").with_setting(ApiName::SetCiphers), "set_ciphers: "),
            (naming("say ", " or \n"), "say set_ciphers or \\n"),
            (naming("say ", ""), "say set_ciphers"),
            (naming("say ", "").prefixed("\u{e9}\n"), "\u{e9}\\n: say set_ciphers"),
        ] {
            let outer = Error::new(Status::Io, "outer").with_cause(Arc::new(error.clone())).with_names(name_of);
            assert_eq!((outer.message(), outer.causes()[0].message()), ("outer", expected));
            let error = error.with_names(name_of);
            assert_eq!((error.message(), error.advice_text()), (expected, None));
            assert_eq!(error.with_names(name_of).message(), expected, "the second call changes nothing");
        }
        for (advice, expected) in [
            (Advice::new("to add one", ApiName::AddPin), c"to add one: add_pin"),
            (Advice::with_usage("to choose", ApiName::SetCiphers, " with NULL"), c"to choose: set_ciphers with NULL"),
            (Advice::text("wait"), c"wait"),
            (Advice::owned_text("a\nb".to_owned()), c"a\\nb"),
        ] {
            let error = error("x").with_advice(advice.clone());
            assert_eq!((error.advice(), error.advice_text()), (Some(&advice), None));
            assert_eq!(error.with_names(name_of).advice_text(), Some(expected));
        }
    }

    #[test]
    fn a_long_chain_of_causes_is_truncated() {
        let mut error = Arc::new(Error::new(Status::Io, "0"));
        for i in 1..100_000 {
            error = Arc::new(Error::new(Status::Io, i.to_string()).with_cause(error));
        }
        let mut depth = 0;
        let mut at = &error;
        while let Some(cause) = at.causes().first() {
            (depth, at) = (depth + 1, cause);
        }
        assert!((1..=MAX_DEPTH).contains(&depth), "{depth}");
    }

    /// Each of 8 levels has 16 causes, which are all the same shared error. If netlib kept all causes, the tree would
    /// have more than 16^8 errors.
    #[test]
    fn a_large_tree_of_causes_is_truncated() {
        fn count_errors(error: &Error) -> usize {
            1 + error.causes().iter().map(|cause| count_errors(cause)).sum::<usize>()
        }
        let mut error = Arc::new(Error::new(Status::Io, "leaf"));
        for _ in 0..8 {
            let wide = Error::new(Status::Io, "wide");
            error = Arc::new((0..16).fold(wide, |wide, _| wide.with_cause(Arc::clone(&error))));
            assert_eq!(error.causes().len(), 16);
            assert!((17..=MAX_ERRORS).contains(&count_errors(&error)), "{}", count_errors(&error));
        }
    }

    #[test]
    fn a_proxy_error_has_the_retry_kind_of_its_cause() {
        let kind = |status| {
            let cause = Arc::new(Error::new(status, "cause"));
            Error::new(Status::ProxyFailed, "proxy").with_cause(cause).retry_kind()
        };
        for &status in Status::ALL.iter().filter(|&&status| status != Status::ProxyFailed) {
            assert_eq!(kind(status), status.retry_kind(), "{status:?}");
        }
        assert_eq!(Error::new(Status::ProxyFailed, "alone").retry_kind(), RetryKind::Other);
    }

    /// A cause whose own causes are dropped keeps the retry kind that the dropped causes determined.
    #[test]
    fn nested_proxy_errors_have_the_retry_kind_of_the_innermost_cause() {
        for status in [Status::ConnectFailed, Status::ReadTimeout, Status::CertificateVerify, Status::Cancelled] {
            let mut error = Arc::new(Error::new(status, "cause"));
            for depth in 1..3 * MAX_DEPTH {
                error = Arc::new(Error::new(Status::ProxyFailed, "proxy").with_cause(error));
                assert_eq!(error.retry_kind(), status.retry_kind(), "{status:?} {depth}");
            }
        }
    }

    #[test]
    fn an_error_after_the_request_was_sent_becomes_a_read_error() {
        for &status in Status::ALL {
            let error = Error::new(status, "x");
            let is_never = error.retry_kind() == RetryKind::Never;
            let sent = error.after_request_was_sent();
            let expected = if is_never { RetryKind::Never } else { RetryKind::Read };
            assert_eq!(sent.retry_kind(), expected, "{status:?}");
            // An error with the cause `sent` becomes a read error, unless this error or `sent` is never retried.
            for outer in
                [Status::ProxyFailed, Status::ConnectFailed, Status::TlsProtocol, Status::MaxRetry, Status::Cancelled]
            {
                let outer = Error::new(outer, "y");
                let expected = match (outer.status(), outer.retry_kind()) {
                    (Status::ProxyFailed, _) if is_never => RetryKind::Never,
                    (_, kind) if is_never || kind == RetryKind::Never => kind,
                    _ => RetryKind::Read,
                };
                assert_eq!(outer.with_cause(Arc::new(sent.clone())).retry_kind(), expected, "{status:?}");
            }
        }
        let never = Error::new(Status::InvalidHeader, "x").never_retried();
        assert_eq!(never.after_request_was_sent().retry_kind(), RetryKind::Never);
    }
}
