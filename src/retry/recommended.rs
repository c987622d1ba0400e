//! The recommended retry settings. The documentation of `netlib_retry_options_new_recommended` states the reason and
//! the source of each setting.

use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::retry::{Count, JitterKind, LongRetryAfter, RedirectProfile, Retry, RetryAfterStatuses, RetryOptions};

impl RetryOptions {
    pub fn recommended() -> RetryOptions {
        let mut options = RetryOptions::default();
        options.counts.total = Count::Number(3);
        options.counts.other = Count::False;
        options.counts.redirect = Count::Number(10);
        let policy = Arc::make_mut(&mut options.policy);
        policy.total_counts_redirects = false;
        policy.redirect_profile = RedirectProfile::Safe;
        policy.status_forcelist = Arc::new(vec![429, 502, 503, 504]);
        policy.backoff.factor = 0.1;
        policy.backoff.max = 20.0;
        policy.backoff.jitter_kind = JitterKind::Full;
        policy.retry_after.max = 120.0;
        policy.retry_after.over_max = LongRetryAfter::Stop;
        policy.retry_after.statuses = RetryAfterStatuses::Retried;
        policy.retry_after.ignore_malformed = true;
        options
    }
}

impl Retry {
    pub fn recommended() -> &'static Arc<Retry> {
        static RECOMMENDED: OnceBox<Arc<Retry>> = OnceBox::new();
        RECOMMENDED.get_or_init(|| Box::new(Arc::new(Retry::new(RetryOptions::recommended()))))
    }
}
