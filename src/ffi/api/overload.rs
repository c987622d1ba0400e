//! Overload protection.

pub mod budget;
pub mod breaker;
pub mod hedge;
pub mod store;

/// The outcomes of requests, which an application reports so that later requests do not overload the server.
/// `netlib_retry_budget_report` and `netlib_breaker_report` take an outcome.
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
