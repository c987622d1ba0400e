//! The rule of a budget, and the state that it keeps for each key.

use crate::overload::Report;
use crate::overload::budget::in_flight::{InFlight, InFlightRule};
use crate::overload::budget::kind::Kind;
use crate::overload::budget::shared_bucket::Bucket;
use crate::overload::budget::tokens::{TokenRule, to_tokens};
use crate::overload::budget::window::{Window, WindowRule};

/// The rule of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Tokens(TokenRule),
    Window(WindowRule),
    InFlight(InFlightRule),
}

/// The state of a key. The variant matches the budget's rule.
pub(crate) enum KeyState {
    Tokens(Bucket),
    /// In a separate allocation, because a window is much larger than the other states.
    Window(Box<Window>),
    InFlight(InFlight),
}

impl Rule {
    /// Returns the state of a new key.
    pub(crate) fn start(&self, now: f64) -> KeyState {
        match self {
            Rule::Tokens(rule) => KeyState::Tokens(Bucket::new(rule.capacity())),
            Rule::Window(rule) => KeyState::Window(Box::new(rule.start(now))),
            Rule::InFlight(_) => KeyState::InFlight(InFlight::default()),
        }
    }

    pub(crate) fn allows(&self, state: &mut KeyState, kind: Kind, now: f64) -> bool {
        match (self, state) {
            (Rule::Tokens(rule), KeyState::Tokens(bucket)) => rule.take(bucket.tokens, kind).is_some(),
            (Rule::Window(rule), KeyState::Window(window)) => rule.allows(window, kind, now),
            (Rule::InFlight(rule), KeyState::InFlight(requests)) => rule.allows(*requests, kind),
            _ => false,
        }
    }

    /// Records a request that is allowed and about to be sent.
    pub(crate) fn take(&self, state: &mut KeyState, kind: Kind, now: f64) {
        match (self, state) {
            (Rule::Tokens(rule), KeyState::Tokens(bucket)) => bucket.take(rule, kind),
            (Rule::Window(rule), KeyState::Window(window)) => rule.take(window, kind, now),
            (_, KeyState::InFlight(requests)) => *requests = requests.after_start(kind),
            _ => {}
        }
    }

    /// Records the outcome of a request that was recorded with [`Rule::take`].
    pub(crate) fn end(&self, state: &mut KeyState, kind: Kind, report: Report) {
        match (self, state) {
            (Rule::Tokens(rule), KeyState::Tokens(bucket)) => {
                bucket.change(rule, rule.after(bucket.tokens, kind, report))
            }
            (_, KeyState::InFlight(requests)) => *requests = requests.after_end(kind),
            _ => {}
        }
    }

    /// Returns true if a first attempt that has ended leaves the state of a new key unchanged.
    pub(crate) fn ignores_first(&self, report: Report) -> bool {
        match self {
            Rule::Tokens(rule) => rule.after(rule.capacity(), Kind::Request, report) == rule.capacity(),
            Rule::Window(_) => false,
            Rule::InFlight(_) => true,
        }
    }

    /// Returns the number of tokens, or, for rules without tokens, the number of retries that are allowed at present.
    pub(crate) fn left(&self, state: &mut KeyState, now: f64) -> f64 {
        match (self, state) {
            (Rule::Tokens(_), KeyState::Tokens(bucket)) => to_tokens(bucket.tokens),
            (Rule::Window(rule), KeyState::Window(window)) => rule.left(window, now),
            (Rule::InFlight(rule), KeyState::InFlight(requests)) => rule.left(*requests),
            _ => 0.0,
        }
    }

    /// Describes, for an error message, why a request is denied. Completes the sentence "The retry budget …".
    pub(crate) fn describe_denial(&self, state: &KeyState, kind: Kind) -> String {
        match (self, state) {
            (Rule::Tokens(rule), KeyState::Tokens(bucket)) => rule.describe_denial(bucket.tokens, kind),
            (Rule::Window(rule), _) => rule.describe_denial(kind),
            (Rule::InFlight(rule), KeyState::InFlight(requests)) => rule.describe_denial(*requests, kind),
            _ => String::from("is used up"),
        }
    }
}
