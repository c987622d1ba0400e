//! Token buckets, which retries or failures empty and successes fill. Each update is a pure function of the number of
//! tokens, so the number may also be part of a word in memory that processes share.

use crate::error::{Error, Result};
use crate::overload::Report;
use crate::overload::budget::Kind;
use crate::status::Status;

/// A number of tokens in thousandths. Sums of integers are exact, so that ten gains of 0.1 are one token.
pub(crate) type Millitokens = u32;

const ONE: Millitokens = 1000;

/// The largest capacity in tokens. 32 bits hold its thousandths.
const MAX_TOKENS: f64 = 4_000_000.0;

/// The rules of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenRule {
    /// A retry takes its cost. A retry that succeeds returns its cost, and a first attempt that succeeds adds `gain`.
    Costs { capacity: Millitokens, transient: Millitokens, throttling: Millitokens, gain: Millitokens },
}

impl TokenRule {
    pub(crate) fn costs(capacity: f64, transient: f64, throttling: f64, gain: f64) -> Result<TokenRule> {
        let (capacity, transient) = (tokens(capacity, "capacity")?, tokens(transient, "transient_cost")?);
        let (throttling, gain) = (tokens(throttling, "throttling_cost")?, tokens(gain, "gain")?);
        for (cost, name) in [(transient, "transient_cost"), (throttling, "throttling_cost")] {
            if cost > capacity {
                return Err(invalid(format!("{name} is larger than capacity, so that no retry would be allowed")));
            }
        }
        Ok(TokenRule::Costs { capacity, transient, throttling, gain })
    }

    /// Returns the number of tokens of a new key.
    pub(crate) fn capacity(&self) -> Millitokens {
        match *self {
            TokenRule::Costs { capacity, .. } => capacity,
        }
    }

    /// Returns the number of tokens that `kind` takes from the bucket.
    pub(crate) fn cost(&self, kind: Kind) -> Millitokens {
        let TokenRule::Costs { transient, throttling, .. } = *self;
        match kind {
            Kind::Request => 0,
            Kind::Transient | Kind::Hedge => transient,
            Kind::Throttling => throttling,
        }
    }

    /// Returns the number of tokens after a request that is about to be sent; `None` if the request is not allowed.
    pub(crate) fn take(&self, tokens: Millitokens, kind: Kind) -> Option<Millitokens> {
        tokens.checked_sub(self.cost(kind))
    }

    /// Returns the number of tokens after the outcome of a request of this kind.
    pub(crate) fn after(&self, tokens: Millitokens, kind: Kind, report: Report) -> Millitokens {
        let TokenRule::Costs { capacity, gain, .. } = *self;
        match (report, kind) {
            (Report::Success, Kind::Request) => tokens.saturating_add(gain).min(capacity),
            (Report::Success, _) => tokens.saturating_add(self.cost(kind)).min(capacity),
            _ => tokens,
        }
    }
}

/// Converts a number of tokens to thousandths. Returns NaN and infinities as errors, and numbers out of range.
fn tokens(value: f64, name: &str) -> Result<Millitokens> {
    let thousandths = (value * f64::from(ONE)).round();
    if (1.0..=MAX_TOKENS * f64::from(ONE)).contains(&thousandths) {
        return Ok(thousandths as Millitokens);
    }
    Err(invalid(format!("{name} must be 0.001 to {MAX_TOKENS}; it is {value}")))
}

/// Converts thousandths to a number of tokens.
pub(crate) fn to_tokens(millitokens: Millitokens) -> f64 {
    f64::from(millitokens) / f64::from(ONE)
}

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}
