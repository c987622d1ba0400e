//! Overload protection: retry budgets, circuit breakers, hedging and rates. The requests to an origin share one state.
//!
//! Each object keeps a bounded number of keys, such as origins or tenants ([`key_table`]). A call that asks for
//! permission returns the number of a lease, with which a later call reports the outcome ([`lease_table`]). Decisions
//! are pure functions of the state, the time and random numbers. Callbacks of the application can supply the time and
//! the random numbers.

pub mod breaker;
pub mod budget;
pub mod hedge;
mod key_table;
mod lease_table;
mod range;
pub mod rate;
pub mod store;
mod time_source;

/// The outcome of a request, which the application or a Retry reports.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The server answered the request successfully.
    Success = 0,
    /// An error, a timeout, or a response that would be retried.
    Failure = 1,
    /// The server asked the client to slow down.
    Throttled = 2,
    /// The outcome says nothing about the server, for example because the application cancelled the request.
    None = 3,
}

impl Report {
    pub fn from_code(code: i32) -> Option<Report> {
        [Report::Success, Report::Failure, Report::Throttled, Report::None]
            .into_iter()
            .find(|report| *report as i32 == code)
    }
}
