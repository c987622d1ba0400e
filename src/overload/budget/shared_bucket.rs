//! A token bucket that processes share through a store. Each process keeps a local copy of the bucket: the number of
//! tokens that it read last, and its unreported changes, which are not in the store yet. Only a retry accesses the
//! store; it also reports the changes.

use crate::overload::budget::kind::Kind;
use crate::overload::budget::tokens::{Millitokens, TokenRule};

/// The seconds after which a store may forget a bucket that no process has changed. The bucket is then full.
pub(crate) const TIME_TO_LIVE: f64 = 3600.0;

/// The local copy of the bucket of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub tokens: Millitokens,
    /// The sum of the changes since the last report to the store. Not used without a store.
    unreported: i64,
}

impl Bucket {
    pub(crate) fn new(tokens: Millitokens) -> Bucket {
        Bucket { tokens, unreported: 0 }
    }

    pub(crate) fn change(&mut self, rule: &TokenRule, tokens: Millitokens) {
        self.add_unreported(rule, i64::from(tokens) - i64::from(self.tokens));
        self.tokens = tokens;
    }

    /// Adds new changes, or changes that [`Bucket::take_unreported`] returned but that did not reach the store. The sum
    /// is at most [`TokenRule::max_reported_gain`]. Otherwise, the successes that each process has collected before an
    /// outage would refill the shared bucket during the outage.
    pub(crate) fn add_unreported(&mut self, rule: &TokenRule, changes: i64) {
        self.unreported = (self.unreported + changes).min(i64::from(rule.max_reported_gain()));
    }

    /// Takes the cost of a request, or all tokens if there are fewer.
    pub(crate) fn take(&mut self, rule: &TokenRule, kind: Kind) {
        self.change(rule, rule.take_available(self.tokens, kind));
    }

    /// Returns the changes that were not reported to the store, and marks them as reported.
    pub(crate) fn take_unreported(&mut self) -> i64 {
        std::mem::take(&mut self.unreported)
    }

    /// Replaces the local number of tokens by that of the shared bucket, plus the unreported changes, which other
    /// threads may have made meanwhile.
    pub(crate) fn refresh(&mut self, shared: Millitokens, rule: &TokenRule) {
        self.tokens = add(shared, self.unreported, rule);
    }
}

/// The result of asking for a retry, with the tokens that are left in the shared bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedAnswer {
    Granted(Millitokens),
    Denied(Millitokens),
}

/// Decides on a retry: adds the unreported changes of the process to the word of a bucket, and takes the cost.
pub(crate) fn ask(word: u64, unreported: i64, kind: Kind, rule: &TokenRule) -> SharedAnswer {
    let tokens = add(tokens_of(word, rule), unreported, rule);
    match rule.take(tokens, kind) {
        Some(rest) => SharedAnswer::Granted(rest),
        None => SharedAnswer::Denied(tokens),
    }
}

/// Returns the word of the bucket after this answer.
pub(crate) fn word_after(answer: SharedAnswer) -> u64 {
    let (SharedAnswer::Granted(tokens) | SharedAnswer::Denied(tokens)) = answer;
    u64::from(tokens) + 1
}

/// Decodes a word: 0 and words that are too large mean a full bucket; any other word is the number of tokens plus 1.
fn tokens_of(word: u64, rule: &TokenRule) -> Millitokens {
    let tokens = word.checked_sub(1).and_then(|tokens| Millitokens::try_from(tokens).ok());
    tokens.unwrap_or(Millitokens::MAX).min(rule.capacity())
}

fn add(tokens: Millitokens, change: i64, rule: &TokenRule) -> Millitokens {
    // The result is at most the capacity, so it fits.
    i64::from(tokens).saturating_add(change).clamp(0, i64::from(rule.capacity())) as Millitokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overload::Report;

    const AWS_2026: TokenRule =
        TokenRule::Costs { capacity: 500_000, transient: 14_000, throttling: 5_000, gain: 1_000 };

    #[test]
    fn a_retry_takes_its_cost_from_the_shared_word_after_the_unreported_changes() {
        use SharedAnswer::{Denied, Granted};
        for (word, unreported, expected) in [
            (0, 0, Granted(486_000)),
            (500_001, 0, Granted(486_000)),
            (500_002, 0, Granted(486_000)),
            (u64::MAX, 0, Granted(486_000)),
            (14_001, 0, Granted(0)),
            (14_000, 0, Denied(13_999)),
            (14_000, 1, Granted(0)),
            (1, 0, Denied(0)),
            (1, -5, Denied(0)),
            (1, i64::MAX, Granted(486_000)),
            (499_001, 5_000, Granted(486_000)),
            (14_001, -1, Denied(13_999)),
        ] {
            assert_eq!(ask(word, unreported, Kind::Transient, &AWS_2026), expected, "{word} {unreported}");
        }
        assert_eq!((word_after(Granted(0)), word_after(Denied(13_999))), (1, 14_000));
    }

    #[test]
    fn a_local_copy_collects_the_changes_that_were_not_reported() {
        let mut bucket = Bucket::new(AWS_2026.capacity());
        bucket.change(&AWS_2026, AWS_2026.after(bucket.tokens, Kind::Request, Report::Success));
        assert_eq!(bucket, Bucket { tokens: 500_000, unreported: 0 });
        bucket.refresh(2_000, &AWS_2026);
        bucket.change(&AWS_2026, AWS_2026.after(bucket.tokens, Kind::Request, Report::Success));
        bucket.change(&AWS_2026, AWS_2026.after(bucket.tokens, Kind::Transient, Report::Success));
        assert_eq!(bucket, Bucket { tokens: 17_000, unreported: 15_000 });
        let unreported = bucket.take_unreported();
        assert_eq!((unreported, bucket), (15_000, Bucket { tokens: 17_000, unreported: 0 }));
        bucket.change(&AWS_2026, 18_000);
        bucket.add_unreported(&AWS_2026, unreported);
        assert_eq!(bucket, Bucket { tokens: 18_000, unreported: 16_000 });
        bucket.refresh(0, &AWS_2026);
        assert_eq!(bucket, Bucket { tokens: 16_000, unreported: 16_000 });
        bucket.add_unreported(&AWS_2026, 20_000);
        assert_eq!(bucket, Bucket { tokens: 16_000, unreported: 28_000 });
    }

    #[test]
    fn a_report_adds_at_most_the_cost_of_two_retries() {
        let grpc = TokenRule::failures(10.0, 0.1, 0.5).unwrap();
        for (rule, successes, expected) in
            [(&AWS_2026, 28, 28_000), (&AWS_2026, 1_000, 28_000), (&grpc, 20, 2_000), (&grpc, 100, 2_000)]
        {
            let mut bucket = Bucket::new(rule.capacity());
            bucket.refresh(0, rule);
            for _ in 0..successes {
                bucket.change(rule, rule.after(bucket.tokens, Kind::Request, Report::Success));
            }
            assert_eq!(bucket.take_unreported(), expected, "{rule:?} {successes}");
        }
    }
}
