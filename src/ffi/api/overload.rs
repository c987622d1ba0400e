//! Overload protection.

pub mod store;
pub mod budget;
pub mod breaker;
pub mod hedge;
pub mod rate;

/// Outcomes of requests. An application reports them with `netlib_retry_budget_report`, `netlib_breaker_report` and
/// `netlib_rate_report`.
#[repr(C)]
pub enum netlib_report {
    /// The server answered the request successfully.
    NETLIB_REPORT_SUCCESS = 0,
    /// The request failed with an error or a timeout, or its response is one that would be retried.
    NETLIB_REPORT_FAILURE = 1,
    /// The server asked the client to slow down, for example with the status 429.
    NETLIB_REPORT_THROTTLED = 2,
    /// The outcome says nothing about the server, for example because the application cancelled the request.
    NETLIB_REPORT_NONE = 3,
}

/// Policies of a budget or a rate for the times when its store is unavailable. A store is unavailable if its file
/// system or its server fails or does not answer in time.
#[repr(C)]
pub enum netlib_unavailable {
    /// Each process uses a state of its own, so N processes together have N times the budget or rate. The state of a
    /// rate starts full. The state of a budget starts with the number of tokens that the process read last.
    NETLIB_UNAVAILABLE_LOCAL = 0,
    /// Every retry and every permission is granted.
    NETLIB_UNAVAILABLE_OPEN = 1,
    /// No retry and no permission is granted: the call fails with `NETLIB_STORE_UNAVAILABLE`.
    NETLIB_UNAVAILABLE_CLOSED = 2,
}
