//! The settings of a budget.

use std::sync::Arc;

use crate::callback::Clock;
use crate::error::Result;
use crate::overload::budget::in_flight::InFlightRule;
use crate::overload::budget::rule::Rule;
use crate::overload::budget::tokens::TokenRule;
use crate::overload::budget::window::WindowRule;
use crate::overload::range;
use crate::overload::store::{SharedStore, Store, UnavailablePolicy};

/// Retry budgets of well-known libraries, with their values.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Preset {
    /// AWS's SDKs, "standard" mode, version 2.1, as in smithy-rs (token_bucket.rs).
    #[default]
    Aws2026 = 0,
    /// AWS's SDKs, "standard" mode, version 2.0, as in aws-c-io (standard_retry_strategy.c).
    Aws2020 = 1,
    /// The example of gRPC's proposal A6, section "Throttling Retry Attempts and Hedged RPCs".
    Grpc = 2,
    /// Finagle's RetryBudget and tower's TpsBudget.
    Finagle = 3,
    /// The defaults of Envoy's RetryBudget.
    Envoy = 4,
}

impl Preset {
    pub fn from_code(code: i32) -> Option<Preset> {
        [Preset::Aws2026, Preset::Aws2020, Preset::Grpc, Preset::Finagle, Preset::Envoy]
            .into_iter()
            .find(|preset| *preset as i32 == code)
    }

    fn rule(self) -> Result<Rule> {
        Ok(match self {
            Preset::Aws2026 => Rule::Tokens(TokenRule::costs(500.0, 14.0, 5.0, 1.0)?),
            Preset::Aws2020 => Rule::Tokens(TokenRule::costs(500.0, 10.0, 5.0, 1.0)?),
            Preset::Grpc => Rule::Tokens(TokenRule::failures(10.0, 0.1, 0.5)?),
            Preset::Finagle => Rule::Window(WindowRule::new(0.2, 10.0, 10.0)?),
            Preset::Envoy => Rule::InFlight(InFlightRule::new(0.2, 3)?),
        })
    }
}

/// The settings of a [`Budget`](super::Budget).
#[derive(Clone)]
pub struct BudgetOptions {
    rule: Option<Rule>,
    pub(super) lease_time: f64,
    pub(super) max_keys: usize,
    pub(super) clock: Option<Clock>,
    pub(super) store: Option<SharedStore>,
}

impl BudgetOptions {
    pub const DEFAULT_LEASE_TIME: f64 = 300.0;
    pub const DEFAULT_MAX_KEYS: i32 = 1024;

    /// Returns the chosen rule, or that of the default preset.
    pub(super) fn rule(&self) -> Result<Rule> {
        self.rule.map_or_else(|| Preset::default().rule(), Ok)
    }

    pub fn set_preset(&mut self, preset: Preset) -> Result<()> {
        self.rule = Some(preset.rule()?);
        Ok(())
    }

    pub fn set_tokens(&mut self, capacity: f64, transient_cost: f64, throttling_cost: f64, gain: f64) -> Result<()> {
        self.rule = Some(Rule::Tokens(TokenRule::costs(capacity, transient_cost, throttling_cost, gain)?));
        Ok(())
    }

    pub fn set_failure_tokens(&mut self, capacity: f64, gain: f64, floor: f64) -> Result<()> {
        self.rule = Some(Rule::Tokens(TokenRule::failures(capacity, gain, floor)?));
        Ok(())
    }

    pub fn set_window(&mut self, ratio: f64, least_per_second: f64, seconds: f64) -> Result<()> {
        self.rule = Some(Rule::Window(WindowRule::new(ratio, least_per_second, seconds)?));
        Ok(())
    }

    pub fn set_in_flight(&mut self, ratio: f64, least: i32) -> Result<()> {
        self.rule = Some(Rule::InFlight(InFlightRule::new(ratio, least)?));
        Ok(())
    }

    pub fn set_lease_time(&mut self, seconds: f64) -> Result<()> {
        self.lease_time = range::check(seconds, 0.001, 1e9, "seconds")?;
        Ok(())
    }

    pub fn set_max_keys(&mut self, max_keys: i32) -> Result<()> {
        self.max_keys = range::check_count(max_keys, 1, 1 << 20, "max_keys")? as usize;
        Ok(())
    }

    /// Sets the store; `None` means that the process counts by itself. Returns the previous store, which the caller
    /// drops.
    pub fn set_store(&mut self, store: Option<Arc<Store>>, policy: UnavailablePolicy) -> Option<SharedStore> {
        std::mem::replace(&mut self.store, store.map(|store| SharedStore::new(store, policy)))
    }

    /// Sets the clock; `None` means the system's clock. Returns the previous clock, which the caller drops.
    pub fn set_clock(&mut self, clock: Option<Clock>) -> Option<Clock> {
        std::mem::replace(&mut self.clock, clock)
    }
}

impl Default for BudgetOptions {
    fn default() -> BudgetOptions {
        BudgetOptions {
            rule: None,
            lease_time: BudgetOptions::DEFAULT_LEASE_TIME,
            max_keys: BudgetOptions::DEFAULT_MAX_KEYS as usize,
            clock: None,
            store: None,
        }
    }
}
