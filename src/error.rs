//! The error type of netlib: a status, a one-line message, and further details.

mod api_name;
mod facts;
mod options;
mod report;

use std::any::Any;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::memory;
use crate::status::{RetryKind, Status, StatusClass};

use facts::{DeniedBudget, Facts};
use report::{CachedReport, ReportWriter};

pub use api_name::{Advice, ApiName};
pub use facts::{CertificateProblem, DefectKind, HeaderDefect, RewindProblem, TimeoutKind};
pub use options::ErrorOptions;

/// The maximum depth of a chain of causes. In a deeper chain, only the causes nearest to the error are kept, so that
/// neither dropping nor printing an error can recurse without bound.
const MAX_DEPTH: usize = 16;

pub type Result<T> = std::result::Result<T, Error>;

/// The maximum number of errors in the tree of an error, its causes, and the causes of its causes. A cause with which
/// the tree would exceed the maximum is added without its causes, or is dropped if the tree has the maximum already.
/// Without this bound, walking a tree of shared causes could take exponential time.
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
    /// The error records that the server may have acted on the request.
    was_sent: bool,
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
    facts: Option<Box<Facts>>,
    report: CachedReport,
    depth: usize,
    /// The number of errors in the tree of this error, its causes, and the causes of its causes.
    errors: usize,
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
            was_sent: false,
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
            facts: None,
            report: CachedReport::default(),
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
        self.0.report = CachedReport::default();
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

    /// Adds a cause to the error. If the cause records that the request was sent, this error records it too.
    pub fn with_cause(mut self, cause: Arc<Error>) -> Error {
        self.0.was_sent |= cause.0.was_sent;
        if self.0.errors >= MAX_ERRORS {
            return self;
        }
        let too_many = cause.0.depth + 1 >= MAX_DEPTH || self.0.errors.saturating_add(cause.0.errors) > MAX_ERRORS;
        let cause = if too_many { Arc::new(cause.without_causes()) } else { cause };
        self.0.depth = self.0.depth.max(cause.0.depth + 1);
        self.0.errors += cause.0.errors;
        self.0.causes.push(cause);
        self
    }

    /// Records that the server may have acted on the request. An error that may be retried becomes a read error.
    pub fn after_request_was_sent(mut self) -> Error {
        self.0.was_sent = true;
        self
    }

    /// Sets the retry kind. `Read` records that the request was sent; any other kind replaces such a record.
    fn with_retry_kind(mut self, kind: RetryKind) -> Error {
        self.0.retry_kind = Some(kind);
        self.0.was_sent = kind == RetryKind::Read;
        self
    }

    /// Records that the error must never be retried, because the same request would fail with the same error, or
    /// because a decision has ended the retries.
    pub fn never_retried(mut self) -> Error {
        self.0.retry_kind = Some(RetryKind::Never);
        self
    }

    /// Attaches a value whose type this module does not know, such as the Retry that `Retry::from_error` returns.
    pub fn with_payload<T: Any + Send + Sync>(mut self, payload: T) -> Error {
        self.0.payload = Some(Arc::new(payload));
        self
    }

    /// Records the status code of the HTTP response that caused the error. `None` leaves the error unchanged.
    pub fn with_http_status(mut self, status: Option<u16>) -> Error {
        if status.is_some() {
            self.facts_mut().http_status = status;
        }
        self
    }

    pub fn with_invalid_timeout(mut self, kind: TimeoutKind) -> Error {
        self.facts_mut().invalid_timeout = Some(kind);
        self
    }

    pub fn with_rewind_problem(mut self, problem: RewindProblem) -> Error {
        self.facts_mut().rewind_problem = Some(problem);
        self
    }

    /// Records a defect of a header block. Sets the error's offset to the offset of the defect.
    pub fn with_header_defect(mut self, defect: HeaderDefect) -> Error {
        self.facts_mut().header_defect = Some(defect);
        self.at(defect.offset)
    }

    /// Records the offset of the bytes of a header block that were not parsed. `None` leaves the error unchanged.
    pub fn with_unparsed(mut self, offset: Option<usize>) -> Error {
        if offset.is_some() {
            self.facts_mut().unparsed = offset;
        }
        self
    }

    /// Records the fingerprint that the application expects of a certificate, in hex digits.
    pub fn with_expected_fingerprint(mut self, digits: String) -> Error {
        self.facts_mut().expected_fingerprint = CString::new(digits).ok();
        self
    }

    /// Records the fingerprint of the refused certificate, in hex digits.
    pub fn with_actual_fingerprint(mut self, digits: String) -> Error {
        self.facts_mut().actual_fingerprint = CString::new(digits).ok();
        self
    }

    /// Records the pin of the refused certificate's public key.
    pub fn with_public_key_pin(mut self, pin: String) -> Error {
        self.facts_mut().public_key_pin = CString::new(pin).ok();
        self
    }

    /// Records the ECHConfigList that a server sent when it rejected Encrypted Client Hello, for the next attempt.
    pub fn with_ech_retry_configs(mut self, list: Option<Vec<u8>>) -> Error {
        if list.is_some() {
            self.facts_mut().ech_retry_configs = list;
        }
        self
    }

    /// Records the key for which a retry budget denied a retry, and the tokens that the budget had left.
    pub fn with_denied_budget(mut self, key: &[u8], left: f64) -> Error {
        // If memory runs out, the error has no key. A key is short, so this hardly happens.
        if let Ok(mut copy) = memory::copy(key, "a key")
            && memory::push(&mut copy, 0, "a key").is_ok()
        {
            self.facts_mut().denied_budget = Some(DeniedBudget { key: copy, left });
        }
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

    /// Returns the advice as text; `None` if the error has no advice, or if [`Error::with_names`] has not made the
    /// text.
    pub fn advice_text(&self) -> Option<&CStr> {
        self.0.advice_text.as_deref()
    }

    /// Returns messages and advice of the error and its causes as indented lines; `None` if memory runs out. The error
    /// keeps the report that the first call makes.
    pub fn report(&self) -> Option<&CStr> {
        self.0.report.get_or_make(|report| self.write_report(report, 0, ""))
    }

    fn write_report(&self, report: &mut ReportWriter, level: usize, label: &str) {
        report.line(level, label, self.message());
        self.write_advice_and_causes(report, level + 1);
    }

    fn write_advice_and_causes(&self, report: &mut ReportWriter, level: usize) {
        if let Some(advice) = self.advice_text() {
            report.line(level, "advice: ", &advice.to_string_lossy());
        }
        let mut causes = self.causes();
        if let [first, others @ ..] = causes
            && self.quotes(first)
        {
            first.write_advice_and_causes(report, level);
            causes = others;
        }
        for (index, cause) in causes.iter().enumerate() {
            if !report.is_open() {
                return;
            }
            let label = if causes.len() == 1 { "cause: " } else { &format!("cause {}: ", index + 1) };
            cause.write_report(report, level, label);
        }
    }

    /// Returns whether the message ends with ": " and the message of the cause.
    fn quotes(&self, cause: &Error) -> bool {
        self.message().strip_suffix(cause.message()).is_some_and(|start| start.ends_with(": "))
    }

    pub fn causes(&self) -> &[Arc<Error>] {
        &self.0.causes
    }

    /// Returns the value attached by [`Error::with_payload`]; `None` if there is none, or if its type is not `T`.
    pub fn payload<T: Any>(&self) -> Option<&T> {
        self.0.payload.as_ref()?.downcast_ref()
    }

    /// Returns the value that [`ErrorOptions::set_user_data`] attached; `None` if there is none, or if its type is not
    /// `T`.
    pub fn user_data<T: Any>(&self) -> Option<&T> {
        self.facts()?.user_data.as_ref()?.downcast_ref()
    }

    pub fn http_status(&self) -> Option<u16> {
        self.facts()?.http_status
    }

    pub fn invalid_timeout(&self) -> Option<TimeoutKind> {
        self.facts()?.invalid_timeout
    }

    pub fn header_defect(&self) -> Option<HeaderDefect> {
        self.facts()?.header_defect
    }

    pub fn unparsed(&self) -> Option<usize> {
        self.facts()?.unparsed
    }

    pub fn rewind_problem(&self) -> Option<RewindProblem> {
        self.facts()?.rewind_problem
    }

    pub fn expected_fingerprint(&self) -> Option<&CStr> {
        self.facts()?.expected_fingerprint.as_deref()
    }

    pub fn actual_fingerprint(&self) -> Option<&CStr> {
        self.facts()?.actual_fingerprint.as_deref()
    }

    pub fn public_key_pin(&self) -> Option<&CStr> {
        self.facts()?.public_key_pin.as_deref()
    }

    pub fn ech_retry_configs(&self) -> Option<&[u8]> {
        self.facts()?.ech_retry_configs.as_deref()
    }

    /// Returns the key for which a retry budget denied a retry, followed by a NUL, and the tokens that the budget had
    /// left.
    pub fn denied_budget(&self) -> Option<(&[u8], f64)> {
        self.facts()?.denied_budget.as_ref().map(|denied| (&*denied.key, denied.left))
    }

    fn facts_mut(&mut self) -> &mut Facts {
        self.0.facts.get_or_insert_default()
    }

    fn facts(&self) -> Option<&Facts> {
        self.0.facts.as_deref()
    }

    /// Returns the retry kind of this error, which selects the retry counter that a retry after the error decrements:
    /// the kind set for the error, otherwise the kind of its status. A proxy error has the kind of its first cause, or
    /// `Other` without a cause. If the error records that the request was sent, the kind is `Read` or `Never`. Never
    /// returns `ByCause`.
    pub fn retry_kind(&self) -> RetryKind {
        let kind = match self.0.retry_kind.unwrap_or(self.0.status.retry_kind()) {
            // A proxy error whose cause is a read error must be a read error too, because a forward proxy may have
            // passed the request on.
            RetryKind::ByCause => self.0.causes.first().map_or(RetryKind::Other, |cause| cause.retry_kind()),
            kind => kind,
        };
        if self.0.was_sent && kind != RetryKind::Never { RetryKind::Read } else { kind }
    }

    /// Returns whether the server may have acted on the request.
    pub fn was_sent(&self) -> bool {
        self.0.was_sent || self.retry_kind() == RetryKind::Read
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
mod tests;
