//! Details that an error records as values, in addition to its message.

use std::any::Any;
use std::ffi::CString;
use std::sync::Arc;

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

/// The kinds of timeouts of a request. An error records the kind of the timeout that is invalid.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    Connect = 1,
    Read = 2,
    Total = 3,
}

/// The reason why a body cannot be rewound.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewindProblem {
    /// No position was recorded, so the position to which to rewind the body is unknown.
    NoPosition = 1,
    /// The body could not report its position when the position was to be recorded.
    PositionFailed = 2,
    /// The body has no seek callback.
    NoSeek = 3,
    /// Seeking failed.
    SeekFailed = 4,
}

/// The kinds of defects in a raw header block.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefectKind {
    /// A line that is neither a header nor the end of the block. Parsing ends before this line.
    NotAHeader = 1,
    /// A continuation line without a header before it.
    ContinuationFirst = 2,
    /// An envelope line of a mail message ("From ...") between headers.
    MisplacedEnvelope = 3,
    /// A line that begins with a colon.
    NoName = 4,
    /// A multipart Content-Type without a boundary parameter.
    NoBoundary = 5,
    /// A Content-Transfer-Encoding that a multipart body cannot have.
    MultipartEncoding = 6,
    /// Bytes after the end of the headers.
    UnreadData = 7,
}

/// A defect in a raw header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderDefect {
    pub kind: DefectKind,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The byte offset of the line.
    pub offset: usize,
}

/// A value that the application attached to an error. netlib stores and drops the value, but never reads it.
pub(super) type UserData = Arc<dyn Any + Send + Sync>;

/// The facts that few errors record. They are in a separate allocation, so that errors without such facts stay small.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) http_status: Option<u16>,
    pub(super) invalid_timeout: Option<TimeoutKind>,
    pub(super) rewind_problem: Option<RewindProblem>,
    pub(super) header_defect: Option<HeaderDefect>,
    /// The offset of the bytes of a header block that were not parsed.
    pub(super) unparsed: Option<usize>,
    pub(super) expected_fingerprint: Option<CString>,
    pub(super) actual_fingerprint: Option<CString>,
    pub(super) public_key_pin: Option<CString>,
    pub(super) ech_retry_configs: Option<Vec<u8>>,
    pub(super) user_data: Option<UserData>,
    pub(super) denied_budget: Option<DeniedBudget>,
}

/// The budget that denied a retry.
#[derive(Clone, Debug)]
pub(super) struct DeniedBudget {
    /// The bytes of the key, followed by a NUL.
    pub(super) key: Vec<u8>,
    pub(super) left: f64,
}
