//! Tests that `increment` never changes the Retry on which it is called.

use std::ffi::CStr;
use std::sync::Arc;

use super::answer;
use crate::error::Error;
use crate::retry::{
    Count, HistoryEntry, JitterKind, LongRetryAfter, MethodsSetting, NameSet, PushbackKind, RedirectProfile, Retry,
    RetryOptions,
};
use crate::status::Status;
use crate::tests::random::Random;

/// Returns the values of all getters of a Retry as text.
fn all_values(retry: &Retry) -> String {
    fn listed(names: Option<&NameSet>) -> Option<Vec<&CStr>> {
        names.map(|names| names.iter().collect())
    }
    let history: Vec<_> = retry
        .history()
        .iter()
        .map(|e| {
            let error = e.error().map(|error| (error.status(), error.message().to_owned(), error.causes().len()));
            (e.method(), e.url(), error, e.status(), e.redirect_location())
        })
        .collect();
    format!(
        "{:?} {:?} {} {:?} {:?} {:?} {:?} {:?} {:?} {} {} {} {} {:?} {:?} {:?} {:?} {:?} {}",
        retry.counts(),
        listed(retry.methods().listed()),
        retry.allows_any_method_if_stale(),
        retry.status_forcelist(),
        retry.backoff(),
        retry.backoff_draw,
        retry.policy.retry_after,
        retry.pushback_header(),
        retry.throttling(),
        retry.is_throttled(),
        retry.total_counts_redirects(),
        retry.raise_on_redirect(),
        retry.raise_on_status(),
        listed(Some(retry.remove_headers_on_redirect())),
        listed(retry.keep_headers_on_redirect()),
        retry.redirect_profile(),
        retry.chain,
        history,
        retry.is_exhausted(),
    )
}

fn random_retry(random: &mut Random) -> Retry {
    let counts = [Count::None, Count::None, Count::None, Count::Number(0), Count::Number(2), Count::Number(7)];
    let any_count = [&counts[..], &[Count::False]].concat();
    let mut o = RetryOptions::default();
    o.set_total(random.pick(&any_count));
    o.set_connect(random.pick(&any_count));
    o.set_read(random.pick(&any_count));
    o.set_redirect(random.pick(&any_count));
    o.set_status(random.pick(&counts)).unwrap();
    o.set_other(random.pick(&any_count));
    match random.below(3) {
        0 => {}
        1 => o.allow_any_method().unwrap(),
        _ => o.set_allowed_methods(MethodsSetting::AllowedMethods, [c"POST"]).unwrap(),
    }
    o.set_any_method_if_stale(random.one_in(2));
    let codes: Vec<i32> = (0..random.below(4)).map(|_| 400 + random.below(200) as i32).collect();
    o.set_status_forcelist(&codes).unwrap();
    o.set_backoff_factor(random.pick(&[0.0, 0.1, 3.0])).unwrap();
    o.set_backoff_max(random.pick(&[0.0, 2.0, f64::INFINITY])).unwrap();
    o.set_backoff_jitter(random.pick(&[0.0, 0.5])).unwrap();
    let kinds = [JitterKind::Additive, JitterKind::Full, JitterKind::Decorrelated];
    o.set_jitter_kind(random.pick(&kinds));
    o.set_retry_after_max(random.pick(&[1.0, f64::INFINITY])).unwrap();
    o.set_retry_after_over_max(random.pick(&[LongRetryAfter::Clamp, LongRetryAfter::Stop]));
    o.set_ignore_malformed_retry_after(random.one_in(2));
    if random.one_in(2) {
        o.set_retry_after_clamp(5.0).unwrap();
    }
    if random.one_in(2) {
        o.set_pushback_header(Some(c"X-Wait"), PushbackKind::Grpc).unwrap();
    }
    if random.one_in(2) {
        o.set_throttling(random.pick(&[0.0, 1.0]), &codes).unwrap();
    }
    o.set_total_counts_redirects(random.one_in(2));
    o.set_raise_on_redirect(random.one_in(2));
    o.set_raise_on_status(random.one_in(2));
    o.set_respect_retry_after_header(random.one_in(2));
    if random.one_in(2) {
        o.set_remove_headers_on_redirect([c"X-A", c"Cookie"]).unwrap();
    }
    if random.one_in(3) {
        o.set_keep_headers_on_redirect([c"Accept"]).unwrap();
    }
    o.set_redirect_profile(random.pick(&[RedirectProfile::Reference, RedirectProfile::Safe]));
    for _ in 0..random.below(4) {
        let location = random.pick(&[None, Some(c"/b")]);
        o.add_history(
            HistoryEntry::new(Some(c"GET"), None, None, random.pick(&[None, Some(500)]), location).unwrap(),
        );
    }
    Retry::new(o)
}

#[test]
fn increment_does_not_change_the_original_retry() {
    let random = &mut Random(1);
    let failures: Vec<Status> = Status::ALL.iter().copied().filter(|status| *status as i32 > 2).collect();
    let (mut made, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let mut retry = random_retry(random);
        for _ in 0..6 {
            let before = all_values(&retry);
            let error = random.one_in(2).then(|| Arc::new(Error::new(random.pick(&failures), "what failed")));
            let response = random.one_in(2).then(|| {
                let status = random.pick(&[200, 301, 302, 303, 307, 308, 429, 500, 503]);
                answer(status, random.pick(&[None, Some("/next"), Some("")]))
            });
            let method = random.pick(&[None, Some(c"GET"), Some(c"post"), Some(c"PATCH")]);
            let url = random.pick(&[None, Some(c"http://user:pw@a/"), Some(c"not a url")]);
            let outcome = retry.increment(method, url, response.as_ref(), error.as_ref());
            assert_eq!(all_values(&retry), before);
            let next = match &outcome {
                Ok(next) => next,
                Err(error) => {
                    refused += 1;
                    let Some(exhausted) = Retry::from_error(error) else { continue };
                    exhausted
                }
            };
            assert_eq!(next.history().len(), retry.history().len() + 1);
            for (old, new) in retry.history().iter().zip(next.history().iter()) {
                assert!(std::ptr::eq(old, new), "entries are shared");
            }
            let last = next.history().last().unwrap();
            assert_eq!((last.method(), last.url()), (method, url));
            let used = |(old, new): (Count, Count)| old != new;
            let pairs = retry.counts().all().into_iter().zip(next.counts().all());
            assert!(pairs.filter(|pair| used(*pair)).count() <= 2);
            if let Ok(next) = outcome {
                made += 1;
                // Making another Retry from `next` changes neither `retry` nor `next`.
                let after = all_values(&next);
                let _ = Retry::new(next.to_options()).increment(Some(c"GET"), None, None, None);
                assert_eq!((all_values(&retry), all_values(&next)), (before, after));
                retry = next;
            }
        }
    }
    assert!(made > 2_000 && refused > 2_000, "{made} {refused}");
}
