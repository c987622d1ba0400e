//! A budget that bounds the retries in flight by a fraction of all requests in flight: Envoy's retry budget.

use crate::error::{Error, Result};
use crate::overload::budget::kind::Kind;
use crate::overload::range;
use crate::status::Status;

/// The rules of a budget for requests in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InFlightRule {
    ratio: f64,
    least: u32,
}

impl InFlightRule {
    pub(crate) fn new(ratio: f64, least: i32) -> Result<InFlightRule> {
        let ratio = range::check(ratio, 0.0, 1.0, "ratio")?;
        let least = range::check_count(least, 0, 1_000_000, "least")? as u32;
        if ratio == 0.0 && least == 0 {
            let message = "ratio and least must not both be 0, because no retry would be allowed";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(InFlightRule { ratio, least })
    }

    pub(crate) fn allows(&self, state: InFlight, kind: Kind) -> bool {
        kind == Kind::Request || state.retries < self.max_retries(state)
    }

    /// Returns the number of retries that are allowed at present.
    pub(crate) fn left(&self, state: InFlight) -> f64 {
        f64::from(self.max_retries(state).saturating_sub(state.retries))
    }

    pub(crate) fn describe_denial(&self, state: InFlight, kind: Kind) -> String {
        let (retries, max) = (state.retries, self.max_retries(state));
        format!("allows no further {}: {retries} of at most {max} retries are in flight", kind.noun())
    }

    /// Rounds down, like Envoy.
    fn max_retries(&self, state: InFlight) -> u32 {
        ((self.ratio * f64::from(state.active)) as u32).max(self.least)
    }
}

/// The requests in flight with one key: the outcome of each is unknown, and a retry counts from the start of its wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// All requests, the retries among them.
    active: u32,
    retries: u32,
}

impl InFlight {
    pub(crate) fn after_start(self, kind: Kind) -> InFlight {
        InFlight { active: self.active.saturating_add(1), retries: self.retries.saturating_add(retries_of(kind)) }
    }

    pub(crate) fn after_end(self, kind: Kind) -> InFlight {
        InFlight { active: self.active.saturating_sub(1), retries: self.retries.saturating_sub(retries_of(kind)) }
    }
}

fn retries_of(kind: Kind) -> u32 {
    u32::from(kind != Kind::Request)
}
