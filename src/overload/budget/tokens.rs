//! Token buckets: retries or failures take tokens, and successes add tokens. Each update is a pure function of the
//! number of tokens, so the number can also be part of a word in memory that processes share.

use crate::error::{Error, Result};
use crate::overload::Report;
use crate::overload::budget::kind::Kind;
use crate::overload::range;
use crate::status::Status;

/// A number of tokens in thousandths. Sums of integers are exact, so that ten gains of 0.1 are one token.
pub(crate) type Millitokens = u32;

const ONE: Millitokens = 1000;

/// The range of numbers of tokens. 32 bits hold the thousandths of the largest number.
const MIN_TOKENS: f64 = 0.001;
const MAX_TOKENS: f64 = 4_000_000.0;

/// The rules of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenRule {
    /// A retry takes its cost. A retry that succeeds returns its cost, and a first attempt that succeeds adds `gain`.
    Costs { capacity: Millitokens, transient: Millitokens, throttling: Millitokens, gain: Millitokens },
    /// Each failure takes one token, and each success adds `gain`. Retries are allowed while there are more tokens than
    /// `floor`.
    Failures { capacity: Millitokens, gain: Millitokens, floor: Millitokens },
}

impl TokenRule {
    pub(crate) fn costs(capacity: f64, transient: f64, throttling: f64, gain: f64) -> Result<TokenRule> {
        let (capacity, transient) = (tokens(capacity, "capacity")?, tokens(transient, "transient_cost")?);
        let (throttling, gain) = (tokens(throttling, "throttling_cost")?, tokens(gain, "gain")?);
        for (cost, name) in [(transient, "transient_cost"), (throttling, "throttling_cost")] {
            if cost > capacity {
                let message = format!("{name} must be at most capacity; otherwise no retry would be allowed");
                return Err(Error::new(Status::InvalidArgument, message));
            }
        }
        Ok(TokenRule::Costs { capacity, transient, throttling, gain })
    }

    /// `floor` is a fraction of `capacity`.
    pub(crate) fn failures(capacity: f64, gain: f64, floor: f64) -> Result<TokenRule> {
        let (capacity, gain) = (tokens(capacity, "capacity")?, tokens(gain, "gain")?);
        let floor = (range::check_below(floor, 0.0, 1.0, "floor")? * f64::from(capacity)).round() as Millitokens;
        // Rounding must not raise the floor to the capacity, because no retry would be allowed.
        Ok(TokenRule::Failures { capacity, gain, floor: floor.min(capacity - 1) })
    }

    /// Returns the number of tokens of a new key.
    pub(crate) fn capacity(&self) -> Millitokens {
        match *self {
            TokenRule::Costs { capacity, .. } | TokenRule::Failures { capacity, .. } => capacity,
        }
    }

    /// Returns the number of tokens after a request that is about to be sent; `None` if the request is not allowed.
    pub(crate) fn take(&self, tokens: Millitokens, kind: Kind) -> Option<Millitokens> {
        match *self {
            TokenRule::Failures { floor, .. } => (kind == Kind::Request || tokens > floor).then_some(tokens),
            TokenRule::Costs { .. } => tokens.checked_sub(self.cost(kind)),
        }
    }

    /// Returns the number of tokens after a request that is sent although it may not be allowed.
    pub(crate) fn take_available(&self, tokens: Millitokens, kind: Kind) -> Millitokens {
        tokens.saturating_sub(self.cost(kind))
    }

    /// Returns the number of tokens after the outcome of a request of this kind.
    pub(crate) fn after(&self, tokens: Millitokens, kind: Kind, report: Report) -> Millitokens {
        match (self, report) {
            (TokenRule::Costs { capacity, gain, .. }, Report::Success) => {
                let gain = if kind == Kind::Request { *gain } else { self.cost(kind) };
                tokens.saturating_add(gain).min(*capacity)
            }
            (TokenRule::Failures { capacity, gain, .. }, Report::Success) => {
                tokens.saturating_add(*gain).min(*capacity)
            }
            (TokenRule::Failures { .. }, Report::Failure | Report::Throttled) => tokens.saturating_sub(ONE),
            (TokenRule::Failures { .. }, Report::None) | (TokenRule::Costs { .. }, _) => tokens,
        }
    }

    /// Returns the maximum number of tokens that one report of a process adds to a shared bucket: twice the cost of a
    /// transient retry or of a failure.
    pub(crate) fn max_reported_gain(&self) -> Millitokens {
        match *self {
            TokenRule::Costs { transient, .. } => transient.saturating_mul(2),
            TokenRule::Failures { .. } => 2 * ONE,
        }
    }

    /// Describes, for an error message, why a request of this kind is denied.
    pub(crate) fn describe_denial(&self, tokens: Millitokens, kind: Kind) -> String {
        let left = to_tokens(tokens);
        match *self {
            TokenRule::Costs { .. } => {
                format!("has {left} tokens left; a {} costs {}", kind.noun(), to_tokens(self.cost(kind)))
            }
            TokenRule::Failures { floor, .. } => {
                format!("has {left} tokens left; a {} needs more than {}", kind.noun(), to_tokens(floor))
            }
        }
    }

    /// Returns the number of tokens that a request of this kind takes from the bucket.
    fn cost(&self, kind: Kind) -> Millitokens {
        match (self, kind) {
            (TokenRule::Failures { .. }, _) | (_, Kind::Request) => 0,
            (TokenRule::Costs { transient, .. }, Kind::Transient | Kind::Hedge) => *transient,
            (TokenRule::Costs { throttling, .. }, Kind::Throttling) => *throttling,
        }
    }
}

/// Converts a number of tokens to thousandths.
fn tokens(value: f64, name: &str) -> Result<Millitokens> {
    Ok((range::check(value, MIN_TOKENS, MAX_TOKENS, name)? * f64::from(ONE)).round() as Millitokens)
}

/// Converts thousandths to a number of tokens.
pub(crate) fn to_tokens(millitokens: Millitokens) -> f64 {
    f64::from(millitokens) / f64::from(ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWS_2026: TokenRule =
        TokenRule::Costs { capacity: 500_000, transient: 14_000, throttling: 5_000, gain: 1_000 };

    #[test]
    fn costs_are_taken_and_returned_exactly() {
        for (tokens, kind, expected) in [
            (500_000, Kind::Request, Some(500_000)),
            (500_000, Kind::Transient, Some(486_000)),
            (500_000, Kind::Hedge, Some(486_000)),
            (500_000, Kind::Throttling, Some(495_000)),
            (14_000, Kind::Transient, Some(0)),
            (13_999, Kind::Transient, None),
            (0, Kind::Request, Some(0)),
        ] {
            assert_eq!(AWS_2026.take(tokens, kind), expected, "{tokens} {kind:?}");
        }
        for (tokens, kind, report, expected) in [
            (486_000, Kind::Transient, Report::Success, 500_000),
            (499_500, Kind::Request, Report::Success, 500_000),
            (400_000, Kind::Request, Report::Success, 401_000),
            (400_000, Kind::Throttling, Report::Success, 405_000),
            (400_000, Kind::Transient, Report::Failure, 400_000),
            (400_000, Kind::Transient, Report::Throttled, 400_000),
            (400_000, Kind::Transient, Report::None, 400_000),
        ] {
            assert_eq!(AWS_2026.after(tokens, kind, report), expected, "{tokens} {kind:?} {report:?}");
        }
    }

    #[test]
    fn ten_gains_of_a_tenth_lift_the_tokens_to_the_floor_but_not_above() {
        let rule = TokenRule::failures(10.0, 0.1, 0.5).unwrap();
        let mut tokens = 4_000;
        for _ in 0..10 {
            tokens = rule.after(tokens, Kind::Request, Report::Success);
        }
        assert_eq!((tokens, rule.take(tokens, Kind::Transient)), (5_000, None));
        assert_eq!(rule.take(tokens + 1, Kind::Transient), Some(5_001));
    }

    #[test]
    fn a_floor_just_below_1_leaves_a_full_bucket_that_allows_retries() {
        let rule = TokenRule::failures(0.001, 0.001, 0.999).unwrap();
        assert_eq!(rule.take(rule.capacity(), Kind::Transient), Some(1));
    }
}
