//! The reasons for which requests are sent.

/// The reason for which a request is sent.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A first attempt, which every budget allows.
    Request = 0,
    /// A retry after a failure that is expected to pass.
    Transient = 1,
    /// A retry after the server asked the client to slow down.
    Throttling = 2,
    /// A hedge: another copy of a request that has no answer yet.
    Hedge = 3,
}

impl Kind {
    pub fn from_code(code: i32) -> Option<Kind> {
        [Kind::Request, Kind::Transient, Kind::Throttling, Kind::Hedge].into_iter().find(|kind| *kind as i32 == code)
    }

    /// Returns the noun for error messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::Request => "first attempt",
            Kind::Transient => "retry",
            Kind::Throttling => "retry after throttling",
            Kind::Hedge => "hedge",
        }
    }
}
