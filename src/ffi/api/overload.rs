//! Overload protection.

pub mod store;
pub mod budget;
pub mod breaker;
pub mod hedge;
pub mod rate;

/// The outcomes of requests, which an application reports so that later requests do not overload the server.
/// `netlib_retry_budget_report`, `netlib_breaker_report` and `netlib_rate_report` take an outcome.
#[repr(C)]
pub enum netlib_report {
    /// The server answered as wanted.
    NETLIB_REPORT_SUCCESS = 0,
    /// The request failed with an error or a timeout, or its response is one that would be retried.
    NETLIB_REPORT_FAILURE = 1,
    /// The server asked the client to slow down, for example with the status 429.
    NETLIB_REPORT_THROTTLED = 2,
    /// The outcome says nothing about the server, for example because the application cancelled the request.
    NETLIB_REPORT_NONE = 3,
}

/// The policies of a budget or a rate while its store is unavailable, because the file system or the server of the
/// store fails or does not answer in time.
#[repr(C)]
pub enum netlib_unavailable {
    /// Each process decides by a state of its own, so N processes together have N times the budget or rate. For a rate,
    /// this state starts full. A budget continues with the number of tokens that the process saw last.
    NETLIB_UNAVAILABLE_LOCAL = 0,
    /// Everything is granted.
    NETLIB_UNAVAILABLE_OPEN = 1,
    /// Nothing is granted: a call that asks for a retry or for permissions fails with `NETLIB_STORE_UNAVAILABLE`.
    NETLIB_UNAVAILABLE_CLOSED = 2,
}
