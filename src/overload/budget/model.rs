//! Compares budgets with a model that uses lists instead of tables, for random sequences of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::overload::Report;
use crate::overload::budget::{Budget, BudgetOptions, Kind};
use crate::status::Status;
use crate::tests::random::Random;

const LEASE_TIME: f64 = 5.0;
const MAX_KEYS: usize = 2;

/// The rules of the model. All amounts are multiples of 1/8, so that sums are exact.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Capacity 20, costs 4.5 and 2.25, gain 0.75.
    Costs,
    /// Capacity 10, gain 0.5, floor 5.
    Failures,
    /// Half a retry for each request of the last 2 s, and 1 retry per second.
    Window,
    /// A quarter of the requests, at least 2.
    InFlight,
}

impl Rule {
    fn set(self, options: &mut BudgetOptions) {
        match self {
            Rule::Costs => options.set_tokens(20.0, 4.5, 2.25, 0.75),
            Rule::Failures => options.set_failure_tokens(10.0, 0.5, 0.5),
            Rule::Window => options.set_window(0.5, 1.0, 2.0),
            Rule::InFlight => options.set_in_flight(0.25, 2),
        }
        .unwrap();
    }
}

/// A key. Removing it from the model's list drops it. A new key with the same name has another identity.
struct Key {
    name: u8,
    identity: u64,
    tokens: f64,
    /// The time and the amount of each deposit and withdrawal.
    amounts: Vec<(f64, f64)>,
}

struct Lease {
    number: u64,
    key: u64,
    kind: Kind,
    given: f64,
}

struct Model {
    rule: Rule,
    now: f64,
    /// The least recently used key is the first one.
    keys: Vec<Key>,
    leases: Vec<Lease>,
    next_identity: u64,
}

impl Model {
    fn use_key(&mut self, name: u8) {
        let key = match self.keys.iter().position(|key| key.name == name) {
            Some(at) => self.keys.remove(at),
            None => {
                if self.keys.len() == MAX_KEYS {
                    let [first, second] = [0, 1].map(|at| self.left(Some(&self.keys[at])));
                    self.keys.remove(usize::from(second > first));
                }
                self.next_identity += 1;
                Key { name, identity: self.next_identity, tokens: self.capacity(), amounts: Vec::new() }
            }
        };
        self.keys.push(key);
    }

    fn capacity(&self) -> f64 {
        if let Rule::Costs = self.rule { 20.0 } else { 10.0 }
    }

    fn cost(kind: Kind) -> f64 {
        match kind {
            Kind::Request => 0.0,
            Kind::Throttling => 2.25,
            Kind::Transient | Kind::Hedge => 4.5,
        }
    }

    fn end_old_leases(&mut self) {
        let oldest = self.now - LEASE_TIME;
        self.leases.retain(|lease| lease.given >= oldest);
    }

    /// Returns the tokens or retries that are left for the key that was used last, or for a new key.
    fn left(&self, key: Option<&Key>) -> f64 {
        let in_flight = |only_retries: bool| {
            let is_counted = |lease: &&Lease| {
                key.is_some_and(|key| key.identity == lease.key) && (!only_retries || lease.kind != Kind::Request)
            };
            self.leases.iter().filter(is_counted).count() as f64
        };
        match self.rule {
            Rule::Costs | Rule::Failures => key.map_or(self.capacity(), |key| key.tokens),
            Rule::Window => {
                // A slot has 0.2 s; an amount counts in its slot and the ten slots that follow.
                let slot = |time: f64| (time / 0.2).floor();
                let is_live = |(time, _): &&(f64, f64)| slot(self.now) - slot(*time) <= 10.0;
                let sum: f64 =
                    key.map_or(0.0, |key| key.amounts.iter().filter(is_live).map(|(_, amount)| amount).sum());
                (2.0 + sum).max(0.0).floor()
            }
            Rule::InFlight => ((in_flight(false) * 0.25).floor().max(2.0) - in_flight(true)).max(0.0),
        }
    }

    fn allows(&self, kind: Kind) -> bool {
        let left = self.left(self.keys.last());
        match self.rule {
            _ if kind == Kind::Request => true,
            Rule::Costs => left >= Model::cost(kind),
            Rule::Failures => left > 5.0,
            Rule::Window | Rule::InFlight => left >= 1.0,
        }
    }

    fn grant(&mut self, number: u64, kind: Kind) {
        let (now, rule) = (self.now, self.rule);
        let key = self.keys.last_mut().unwrap();
        match rule {
            Rule::Costs => key.tokens -= Model::cost(kind),
            Rule::Window => key.amounts.push((now, if kind == Kind::Request { 0.5 } else { -1.0 })),
            Rule::Failures | Rule::InFlight => {}
        }
        self.leases.push(Lease { number, key: key.identity, kind, given: now });
    }

    fn report(&mut self, number: u64, report: Report) {
        let Some(at) = self.leases.iter().position(|lease| lease.number == number) else { return };
        let lease = self.leases.remove(at);
        let (capacity, rule) = (self.capacity(), self.rule);
        let Some(key) = self.keys.iter_mut().find(|key| key.identity == lease.key) else { return };
        key.tokens = match (rule, report) {
            (Rule::Costs, Report::Success) if lease.kind == Kind::Request => key.tokens + 0.75,
            (Rule::Costs, Report::Success) => key.tokens + Model::cost(lease.kind),
            (Rule::Failures, Report::Success) => key.tokens + 0.5,
            (Rule::Failures, Report::Failure | Report::Throttled) => key.tokens - 1.0,
            _ => key.tokens,
        }
        .clamp(0.0, capacity);
    }
}

#[test]
fn budgets_agree_with_a_model_for_random_sequences_of_calls() {
    let random = &mut Random(1);
    for rule in [Rule::Costs, Rule::Failures, Rule::Window, Rule::InFlight] {
        let time = Arc::new(AtomicU64::new(0));
        let reading = Arc::clone(&time);
        let mut options = BudgetOptions::default();
        rule.set(&mut options);
        options.set_lease_time(LEASE_TIME).unwrap();
        options.set_max_keys(MAX_KEYS as i32).unwrap();
        options.set_clock(Some(Arc::new(move || Ok(f64::from_bits(reading.load(Ordering::Relaxed))))));
        let budget = Budget::new(options).unwrap();
        let mut model = Model { rule, now: 0.0, keys: Vec::new(), leases: Vec::new(), next_identity: 0 };
        let mut numbers = vec![0, 1];
        let (mut granted, mut denied) = (0, 0);
        for step in 0..20_000 {
            // Most calls follow at once, and some calls follow after leases have aged out.
            model.now += random.pick(&[0.0, 0.0, 0.0, 0.0625, 0.125, 0.5, 6.0]) * f64::from(u8::from(step % 4 == 0));
            time.store(model.now.to_bits(), Ordering::Relaxed);
            model.end_old_leases();
            if random.one_in(2) {
                let name = if random.one_in(100) { b'c' } else { random.pick(b"aab") };
                let kind = random.pick(&[Kind::Request, Kind::Transient, Kind::Throttling, Kind::Hedge]);
                model.use_key(name);
                let expected = model.allows(kind);
                match budget.ask(&[name], kind) {
                    Ok(number) => {
                        assert!(expected, "{rule:?} {step} {kind:?}");
                        model.grant(number, kind);
                        numbers.push(number);
                        granted += 1;
                    }
                    Err(error) => {
                        assert_eq!((error.status(), expected), (Status::RetryBudgetEmpty, false), "{rule:?} {step}");
                        denied += 1;
                    }
                }
            } else {
                // Usually one of the last leases, which has not ended.
                let recent = numbers.len() - 1 - random.below(numbers.len().min(8));
                let number = numbers[recent];
                let report = random.pick(&[
                    Report::Success,
                    Report::Failure,
                    Report::Failure,
                    Report::Throttled,
                    Report::None,
                ]);
                budget.report(number, report);
                model.report(number, report);
            }
            for name in [b'a', b'b', b'c'] {
                let key = model.keys.iter().find(|key| key.name == name);
                assert_eq!(budget.left(&[name]).unwrap(), model.left(key), "{rule:?} {step} {}", name as char);
            }
        }
        assert!(granted > 1_000 && denied > 500, "{rule:?} {granted} {denied}");
    }
}
