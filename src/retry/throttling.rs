//! Throttled outcomes: responses and errors with which a server asks its clients to slow down.

use std::sync::Arc;

/// Too Many Requests (RFC 6585 section 4).
const TOO_MANY_REQUESTS: u16 = 429;
/// Service Unavailable (RFC 9110 section 15.6.4).
const SERVICE_UNAVAILABLE: u16 = 503;

/// The settings for throttled outcomes.
#[derive(Clone, Debug, Default)]
pub struct Throttling {
    /// The seconds that replace the backoff factor after a throttled outcome. `None` keeps the backoff factor.
    pub base: Option<f64>,
    /// The statuses that are throttled in addition to 429, and to 503 with Retry-After; sorted and unique.
    pub(super) statuses: Arc<Vec<i32>>,
}

impl Throttling {
    pub fn statuses(&self) -> &[i32] {
        &self.statuses
    }

    /// Returns true if a response with this status asks the client to slow down.
    pub(super) fn contains(&self, status: u16, has_retry_after: bool) -> bool {
        status == TOO_MANY_REQUESTS
            || (status == SERVICE_UNAVAILABLE && has_retry_after)
            || self.statuses.binary_search(&i32::from(status)).is_ok()
    }
}
