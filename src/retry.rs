//! The retry policy: which requests are sent again, how often, and after which delay.
//!
//! A [`Retry`] is immutable: [`Retry::increment`] returns the Retry for the next request. [`Retry::decide`] combines
//! counters, redirects and delays into one decision.

mod attached_budget;
mod attempts;
mod backoff;
mod classify;
mod constants;
mod count;
mod decide;
mod history;
mod increment;
mod outcome;
mod policy;
mod pushback;
mod recommended;
mod redirect;
mod retry_after;
mod throttling;
mod delay;

use std::ffi::CStr;
use std::sync::Arc;

use once_cell::race::OnceBox;

pub use crate::name_set::NameSet;
pub use attached_budget::AttachedBudget;
pub use attempts::Attempts;
pub use backoff::{Backoff, JitterKind};
pub use constants::{
    DEFAULT_ALLOWED_METHODS, DEFAULT_REMOVE_HEADERS_ON_REDIRECT, RETRY_AFTER_STATUS_CODES, SENSITIVE_HEADERS,
};
pub use count::Count;
pub use decide::{Action, Attempt, Decision};
pub use delay::{Delay, DelayReason};
pub use history::{History, HistoryEntry};
pub use outcome::Counter;
pub use policy::{Counts, Methods, MethodsSetting, Policy, RedirectProfile, RetryOptions};
pub use pushback::{PushbackHeader, PushbackKind};
pub use retry_after::{LongRetryAfter, RetryAfterStatuses};
pub use throttling::Throttling;

use crate::error::{Error, Result};
use crate::name_set;
use attached_budget::RetryLease;
use backoff::DecorrelatedDraw;
use redirect::ChainState;

/// The statuses of redirects. A response with one of these statuses is a redirect only if it has a Location.
pub const REDIRECT_STATUS_CODES: &[i32] = &[301, 302, 303, 307, 308];

/// A retry policy with its remaining counts and the history of the request.
#[derive(Clone, Debug)]
pub struct Retry {
    counts: Counts,
    policy: Arc<Policy>,
    history: History,
    chain: ChainState,
    backoff_draw: Option<DecorrelatedDraw>,
    /// The lease of the request that this Retry is for, if a budget has granted the request.
    lease: Option<Arc<RetryLease>>,
}

impl Retry {
    pub fn new(options: RetryOptions) -> Retry {
        let RetryOptions { mut counts, mut policy, history, chain, backoff_draw, lease, .. } = options;
        if counts.total == Count::False || counts.redirect == Count::False {
            counts.redirect = Count::Number(0);
            Arc::make_mut(&mut policy).raise_on_redirect = false;
        }
        Retry { counts, policy, history, chain, backoff_draw, lease }
    }

    /// Returns the Retry for callers that choose no policy: three retries in total.
    pub fn default_retry() -> &'static Arc<Retry> {
        static DEFAULT: OnceBox<Arc<Retry>> = OnceBox::new();
        DEFAULT.get_or_init(|| {
            let mut options = RetryOptions::default();
            options.set_total(Count::Number(3));
            Box::new(Arc::new(Retry::new(options)))
        })
    }

    /// Returns a Retry for callers that pass only a number of retries and a redirect flag.
    pub fn from_int(count: Count, redirect: bool, default: Option<Arc<Retry>>) -> Arc<Retry> {
        if count == Count::None {
            return default.unwrap_or_else(|| Arc::clone(Retry::default_retry()));
        }
        let mut options = RetryOptions::default();
        options.set_total(count);
        options.set_redirect(if redirect { Count::None } else { Count::False });
        Arc::new(Retry::new(options))
    }

    /// Returns options that make an equal Retry.
    pub fn to_options(&self) -> RetryOptions {
        RetryOptions::of(self)
    }

    /// Returns whether the policy retries a request whose response has this status. `has_retry_after` states whether
    /// the response has a Retry-After header.
    pub fn is_retry(&self, method: &CStr, status: i32, has_retry_after: bool) -> Result<bool> {
        name_set::check_token("method", method)?;
        Ok(self.is_retryable(method, status, has_retry_after))
    }

    /// Does what [`Retry::is_retry`] does, for a method that was already checked.
    fn is_retryable(&self, method: &CStr, status: i32, has_retry_after: bool) -> bool {
        self.policy.methods.allow(method)
            && (self.policy.status_forcelist.binary_search(&status).is_ok()
                || (self.counts.total.is_nonzero()
                    && has_retry_after
                    && self.policy.retry_after.causes_retry(status)))
    }

    pub fn attached_budget(&self) -> Option<&AttachedBudget> {
        self.policy.budget.as_ref()
    }

    /// Returns the Retry that a `MaxRetry` error carries.
    pub fn from_error(error: &Error) -> Option<&Arc<Retry>> {
        error.payload()
    }

    /// Returns whether the policy or its budget has a callback.
    pub fn may_call_back(&self) -> bool {
        let callbacks = &self.policy.callbacks;
        callbacks.wall_clock.is_some()
            || callbacks.sleep.is_some()
            || callbacks.random.is_some()
            || self.attached_budget().is_some_and(|attached| attached.budget().may_call_back())
    }

    /// Returns whether retries are disabled: nothing is retried, no redirect is followed, and no error is `MaxRetry`.
    pub(crate) fn is_disabled(&self) -> bool {
        self.counts.total == Count::False
    }

    /// Returns whether one of the counts is below zero.
    pub fn is_exhausted(&self) -> bool {
        self.counts.all().into_iter().any(Count::is_exhausted)
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    pub fn methods(&self) -> &Methods {
        &self.policy.methods
    }

    /// Returns whether a request with any method may be repeated if its connection was stale.
    pub fn allows_any_method_if_stale(&self) -> bool {
        self.policy.any_method_if_stale
    }

    pub fn status_forcelist(&self) -> &[i32] {
        &self.policy.status_forcelist
    }

    pub fn backoff(&self) -> &Backoff {
        &self.policy.backoff
    }

    /// Returns the maximum number of seconds that a Retry-After may request; infinity without a maximum.
    pub fn retry_after_max(&self) -> f64 {
        self.policy.retry_after.max
    }

    /// Returns the number of seconds by which the server's wait may exceed the backoff. `None` if the server's wait is
    /// not clamped.
    pub fn retry_after_clamp(&self) -> Option<f64> {
        self.policy.retry_after.clamp
    }

    pub fn pushback_header(&self) -> Option<&PushbackHeader> {
        self.policy.pushback.as_ref()
    }

    pub fn retry_after_over_max(&self) -> LongRetryAfter {
        self.policy.retry_after.over_max
    }

    pub fn retry_after_statuses(&self) -> &RetryAfterStatuses {
        &self.policy.retry_after.statuses
    }

    pub fn ignore_malformed_retry_after(&self) -> bool {
        self.policy.retry_after.ignore_malformed
    }

    pub fn total_counts_redirects(&self) -> bool {
        self.policy.total_counts_redirects
    }

    pub fn raise_on_redirect(&self) -> bool {
        self.policy.raise_on_redirect
    }

    pub fn raise_on_status(&self) -> bool {
        self.policy.raise_on_status
    }

    pub fn respect_retry_after_header(&self) -> bool {
        self.policy.retry_after.respect
    }

    pub fn remove_headers_on_redirect(&self) -> &NameSet {
        &self.policy.remove_headers_on_redirect
    }

    /// Returns the only headers that are kept on a redirect to another origin. `None` if the policy has no such list:
    /// then it keeps all headers except those that it removes.
    pub fn keep_headers_on_redirect(&self) -> Option<&NameSet> {
        self.policy.keep_headers_on_redirect.as_deref()
    }

    pub fn redirect_profile(&self) -> RedirectProfile {
        self.policy.redirect_profile
    }

    pub fn history(&self) -> &History {
        &self.history
    }
}

#[cfg(test)]
mod tests;
