//! The retry budget of a Retry, and the leases of the retries that the budget has granted.

use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::limit::Limit;
use crate::memory;
use crate::overload::Report;
use crate::overload::budget::{Budget, Kind};
use crate::url::Url;

/// A budget and the key that is used for every request; `None` stands for the origin of the request's URL.
#[derive(Clone, Debug)]
pub struct AttachedBudget {
    budget: Arc<Budget>,
    key: Option<CString>,
}

impl AttachedBudget {
    pub(super) fn new(budget: Arc<Budget>, key: Option<&CStr>) -> Result<AttachedBudget> {
        let key = match key {
            Some(key) => {
                Budget::check_key(key.to_bytes())?;
                Some(memory::copy_c_string(key.to_bytes(), "a key")?)
            }
            None => None,
        };
        Ok(AttachedBudget { budget, key })
    }

    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    pub fn key(&self) -> Option<&CStr> {
        self.key.as_deref()
    }

    /// Records a first attempt that has ended.
    pub(super) fn record_request(&self, url: &Url, report: Report) -> Result<()> {
        self.with_key(url, |key| self.budget.record_request(key, report))
    }

    /// Asks for a retry, and waits for a store at most until `limit` ends. Fails with `RetryBudgetEmpty` or
    /// `StoreUnavailable` if the budget denies the retry.
    pub(super) fn ask(&self, url: &Url, kind: Kind, limit: Option<&Limit>) -> Result<RetryLease> {
        let number = self.with_key(url, |key| self.budget.ask_within(key, kind, limit))?;
        Ok(RetryLease { budget: Arc::clone(&self.budget), number: AtomicU64::new(number) })
    }

    /// Calls `use_key` with the key of requests to this URL.
    fn with_key<T>(&self, url: &Url, use_key: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        match &self.key {
            Some(key) => use_key(key.to_bytes()),
            None => {
                // The DNS allows no host name that makes the key too long, so truncating the key does no harm.
                let origin = url.origin()?;
                use_key(&origin[..origin.len().min(Budget::MAX_KEY_LENGTH)])
            }
        }
    }
}

/// The lease of a retry that was granted. The Retry for the repeated request holds the lease. When the last owner drops
/// the lease, the outcome of the retry counts as unknown, unless [`RetryLease::report`] was called.
#[derive(Debug)]
pub(super) struct RetryLease {
    budget: Arc<Budget>,
    /// The number of the lease; 0 once an outcome was reported.
    number: AtomicU64,
}

impl RetryLease {
    pub(super) fn report(&self, report: Report) {
        // If two threads decide with the same Retry, only one of them reports.
        let number = self.number.swap(0, Ordering::Relaxed);
        if number != 0 {
            self.budget.report(number, report);
        }
    }
}

impl Drop for RetryLease {
    fn drop(&mut self) {
        let number = *self.number.get_mut();
        if number != 0 {
            self.budget.cancel(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overload::budget::BudgetOptions;

    #[test]
    fn two_reports_of_one_lease_return_its_cost_once() {
        let budget = Arc::new(Budget::new(BudgetOptions::default()).unwrap());
        let attached = AttachedBudget::new(Arc::clone(&budget), Some(c"key")).unwrap();
        let lease = attached.ask(&Url::parse(b"http://h/").unwrap(), Kind::Transient, None).unwrap();
        assert_eq!(budget.left(b"key").unwrap(), 486.0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| lease.report(Report::Success));
            }
        });
        assert_eq!(budget.left(b"key").unwrap(), 500.0);
    }
}
