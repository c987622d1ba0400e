//! The settings of a Retry, and the builder that collects them.

use std::ffi::CStr;
use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::callback::{Random, Sleep, WallClock};
use crate::error::{Error, Result};
use crate::memory;
use crate::overload::budget::Budget;
use crate::retry::Retry;
use crate::retry::attached_budget::{AttachedBudget, RetryLease};
use crate::retry::backoff::{Backoff, DecorrelatedDraw, JitterKind};
use crate::retry::constants::{DEFAULT_ALLOWED_METHODS, DEFAULT_REMOVE_HEADERS_ON_REDIRECT};
use crate::retry::count::Count;
use crate::retry::history::{History, HistoryEntry};
use crate::retry::name_set::{self, Case, NameSet};
use crate::retry::pushback::{PushbackHeader, PushbackKind};
use crate::retry::redirect::{self, ChainState};
use crate::retry::retry_after::{LongRetryAfter, RetryAfterRules, RetryAfterStatuses};
use crate::retry::throttling::Throttling;
use crate::status::Status;

/// The number of retries left, in total and for each kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub total: Count,
    pub connect: Count,
    pub read: Count,
    pub redirect: Count,
    pub status: Count,
    pub other: Count,
}

impl Counts {
    pub const DEFAULT_TOTAL: i32 = 10;

    pub(super) fn all(&self) -> [Count; 6] {
        [self.total, self.connect, self.read, self.redirect, self.status, self.other]
    }
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            total: Count::Number(Counts::DEFAULT_TOTAL),
            connect: Count::None,
            read: Count::None,
            redirect: Count::None,
            status: Count::None,
            other: Count::None,
        }
    }
}

/// The methods of requests that may be retried after a read error or because of the response status.
#[derive(Clone, Debug)]
pub enum Methods {
    Any,
    Only(Arc<NameSet>),
}

impl Methods {
    pub fn listed(&self) -> Option<&NameSet> {
        match self {
            Methods::Any => None,
            Methods::Only(names) => Some(names),
        }
    }

    pub(super) fn allow(&self, method: &CStr) -> bool {
        match self {
            Methods::Any => true,
            Methods::Only(names) => names.contains(method.to_bytes()),
        }
    }
}

/// How redirects are followed.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RedirectProfile {
    /// Follows redirects as urllib3 does.
    #[default]
    Reference = 0,
    /// Follows redirects as browsers do.
    Safe = 1,
}

impl RedirectProfile {
    pub fn from_code(code: i32) -> Option<RedirectProfile> {
        match code {
            0 => Some(RedirectProfile::Reference),
            1 => Some(RedirectProfile::Safe),
            _ => None,
        }
    }
}

/// The application's callbacks. Without a callback, the system's clock, sleep or random source is used.
#[derive(Clone, Default)]
pub(super) struct Callbacks {
    pub(super) wall_clock: Option<WallClock>,
    pub(super) sleep: Option<Sleep>,
    pub(super) random: Option<Random>,
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        let names = [
            ("wall_clock", self.wall_clock.is_some()),
            ("sleep", self.sleep.is_some()),
            ("random", self.random.is_some()),
        ];
        set.entries(names.iter().filter(|(_, given)| *given).map(|(name, _)| name)).finish()
    }
}

/// The settings of a Retry. A Retry shares its settings with the Retry that `increment` returns. Lists are reference
/// counted, so that a clone does not copy them.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) methods: Methods,
    /// A request with any method may be repeated if its connection was stale.
    pub(super) any_method_if_stale: bool,
    /// The statuses for which a request is retried, sorted and without duplicates.
    pub(super) status_forcelist: Arc<Vec<i32>>,
    pub(super) backoff: Backoff,
    pub(super) throttling: Throttling,
    pub(super) retry_after: RetryAfterRules,
    pub(super) pushback: Option<PushbackHeader>,
    pub(super) total_counts_redirects: bool,
    pub(super) raise_on_redirect: bool,
    pub(super) raise_on_status: bool,
    pub(super) remove_headers_on_redirect: Arc<NameSet>,
    pub(super) keep_headers_on_redirect: Option<Arc<NameSet>>,
    pub(super) redirect_profile: RedirectProfile,
    pub(super) budget: Option<AttachedBudget>,
    pub(super) callbacks: Callbacks,
}

impl Policy {
    pub const DEFAULT_RETRY_AFTER_MAX: f64 = RetryAfterRules::DEFAULT_MAX;
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            methods: Methods::Only(Arc::new(NameSet::of_constants(Case::Upper, DEFAULT_ALLOWED_METHODS))),
            any_method_if_stale: false,
            status_forcelist: Arc::default(),
            backoff: Backoff::default(),
            throttling: Throttling::default(),
            retry_after: RetryAfterRules::default(),
            pushback: None,
            total_counts_redirects: true,
            raise_on_redirect: true,
            raise_on_status: true,
            remove_headers_on_redirect: Arc::new(NameSet::of_constants(
                Case::Lower,
                DEFAULT_REMOVE_HEADERS_ON_REDIRECT,
            )),
            keep_headers_on_redirect: None,
            redirect_profile: RedirectProfile::default(),
            budget: None,
            callbacks: Callbacks::default(),
        }
    }
}

/// The option that set the allowed methods: `allowed_methods` or its old name, `method_whitelist`. Setting both options
/// is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodsSetting {
    AllowedMethods,
    MethodWhitelist,
}

/// Collects the settings of a Retry. A setter that fails changes nothing.
#[derive(Clone, Debug, Default)]
pub struct RetryOptions {
    pub(super) counts: Counts,
    pub(super) policy: Arc<Policy>,
    pub(super) history: History,
    pub(super) chain: ChainState,
    pub(super) backoff_draw: Option<DecorrelatedDraw>,
    pub(super) lease: Option<Arc<RetryLease>>,
    methods_setting: Option<MethodsSetting>,
}

impl RetryOptions {
    pub(super) fn of(retry: &Retry) -> RetryOptions {
        RetryOptions {
            counts: retry.counts,
            policy: Arc::clone(&retry.policy),
            history: retry.history.clone(),
            chain: retry.chain,
            backoff_draw: retry.backoff_draw,
            lease: retry.lease.clone(),
            methods_setting: None,
        }
    }

    /// Returns a mutable reference to the settings. If a Retry shares the settings, they are copied first.
    fn policy(&mut self) -> &mut Policy {
        Arc::make_mut(&mut self.policy)
    }

    pub fn set_total(&mut self, count: Count) {
        self.counts.total = count;
    }

    pub fn set_connect(&mut self, count: Count) {
        self.counts.connect = count;
    }

    pub fn set_read(&mut self, count: Count) {
        self.counts.read = count;
    }

    pub fn set_redirect(&mut self, count: Count) {
        self.counts.redirect = count;
    }

    pub fn set_status(&mut self, count: Count) -> Result<()> {
        if count == Count::False {
            return Err(invalid(
                "this count cannot be NETLIB_RETRY_DISABLED: use 0 for none, NETLIB_NONE for no cap",
            ));
        }
        self.counts.status = count;
        Ok(())
    }

    pub fn set_other(&mut self, count: Count) {
        self.counts.other = count;
    }

    pub fn set_allowed_methods<'a>(
        &mut self,
        setting: MethodsSetting,
        methods: impl IntoIterator<Item = &'a CStr>,
    ) -> Result<()> {
        let methods = NameSet::new(Case::Upper, "method", methods)?;
        self.set_methods(setting, Methods::Only(Arc::new(methods)))
    }

    pub fn allow_any_method(&mut self) -> Result<()> {
        self.set_methods(MethodsSetting::AllowedMethods, Methods::Any)
    }

    fn set_methods(&mut self, setting: MethodsSetting, methods: Methods) -> Result<()> {
        if self.methods_setting.is_some_and(|earlier| earlier != setting) {
            return Err(invalid("allowed_methods and its old name method_whitelist must not both be set"));
        }
        self.methods_setting = Some(setting);
        self.policy().methods = methods;
        Ok(())
    }

    pub fn set_any_method_if_stale(&mut self, allow: bool) {
        self.policy().any_method_if_stale = allow;
    }

    pub fn set_status_forcelist(&mut self, codes: &[i32]) -> Result<()> {
        self.policy().status_forcelist = Arc::new(status_codes(codes)?);
        Ok(())
    }

    pub fn set_backoff_factor(&mut self, seconds: f64) -> Result<()> {
        self.policy().backoff.factor = check_finite(seconds)?;
        Ok(())
    }

    pub fn set_backoff_max(&mut self, seconds: f64) -> Result<()> {
        self.policy().backoff.max = check_not_negative(seconds)?;
        Ok(())
    }

    pub fn set_backoff_jitter(&mut self, seconds: f64) -> Result<()> {
        self.policy().backoff.jitter = check_finite(seconds)?;
        Ok(())
    }

    pub fn set_jitter_kind(&mut self, kind: JitterKind) {
        self.policy().backoff.jitter_kind = kind;
    }

    pub fn set_throttling(&mut self, base: f64, statuses: &[i32]) -> Result<()> {
        let base = check_finite(base).map_err(|error| error.prefixed("base"))?;
        let statuses = status_codes(statuses).map_err(|error| error.prefixed("statuses"))?;
        self.policy().throttling = Throttling { base: Some(base), statuses: Arc::new(statuses) };
        Ok(())
    }

    pub fn set_retry_after_max(&mut self, seconds: f64) -> Result<()> {
        self.policy().retry_after.max = check_not_negative(seconds)?;
        Ok(())
    }

    pub fn set_retry_after_over_max(&mut self, over_max: LongRetryAfter) {
        self.policy().retry_after.over_max = over_max;
    }

    pub fn set_retry_after_clamp(&mut self, more: f64) -> Result<()> {
        let more = check_not_negative(more).map_err(|error| error.prefixed("more"))?;
        self.policy().retry_after.clamp = Some(more);
        Ok(())
    }

    /// Sets the pushback header; without a name, no header is a pushback header.
    pub fn set_pushback_header(&mut self, name: Option<&CStr>, kind: PushbackKind) -> Result<()> {
        let header = |name: &CStr| -> Result<PushbackHeader> {
            name_set::check_token("header name", name)?;
            Ok(PushbackHeader { name: Arc::new(name_set::copy(name)?), kind })
        };
        self.policy().pushback = name.map(header).transpose()?;
        Ok(())
    }

    pub fn set_retry_after_statuses(&mut self, codes: &[i32]) -> Result<()> {
        self.policy().retry_after.statuses = RetryAfterStatuses::Listed(Arc::new(status_codes(codes)?));
        Ok(())
    }

    pub fn obey_any_retry_after(&mut self) {
        self.policy().retry_after.statuses = RetryAfterStatuses::Retried;
    }

    pub fn set_ignore_malformed_retry_after(&mut self, ignore: bool) {
        self.policy().retry_after.ignore_malformed = ignore;
    }

    pub fn set_total_counts_redirects(&mut self, counts: bool) {
        self.policy().total_counts_redirects = counts;
    }

    pub fn set_raise_on_redirect(&mut self, raise: bool) {
        self.policy().raise_on_redirect = raise;
    }

    pub fn set_raise_on_status(&mut self, raise: bool) {
        self.policy().raise_on_status = raise;
    }

    pub fn set_respect_retry_after_header(&mut self, respect: bool) {
        self.policy().retry_after.respect = respect;
    }

    pub fn set_remove_headers_on_redirect<'a>(&mut self, names: impl IntoIterator<Item = &'a CStr>) -> Result<()> {
        self.policy().remove_headers_on_redirect = Arc::new(NameSet::new(Case::Lower, "header name", names)?);
        Ok(())
    }

    pub fn set_keep_headers_on_redirect<'a>(&mut self, names: impl IntoIterator<Item = &'a CStr>) -> Result<()> {
        self.policy().keep_headers_on_redirect = Some(Arc::new(NameSet::new(Case::Lower, "header name", names)?));
        Ok(())
    }

    pub fn keep_any_header_on_redirect(&mut self) {
        self.policy().keep_headers_on_redirect = None;
    }

    /// Adds the sensitive headers to `remove_headers_on_redirect`.
    pub fn add_sensitive_headers(&mut self) -> Result<()> {
        let mut names = NameSet::empty(Case::Lower);
        names.add(&self.policy.remove_headers_on_redirect)?;
        names.add(redirect::sensitive_headers())?;
        self.policy().remove_headers_on_redirect = Arc::new(names);
        Ok(())
    }

    pub fn set_redirect_profile(&mut self, profile: RedirectProfile) {
        self.policy().redirect_profile = profile;
    }

    /// Attaches a budget; `None` detaches it. The key of every request is `key`, or the origin of the request's URL.
    pub fn set_budget(&mut self, budget: Option<Arc<Budget>>, key: Option<&CStr>) -> Result<()> {
        let attached = budget.map(|budget| AttachedBudget::new(budget, key)).transpose()?;
        self.policy().budget = attached;
        Ok(())
    }

    pub fn add_history(&mut self, entry: HistoryEntry) {
        self.history = self.history.with(entry);
        // The stored random number was drawn for the previous entry, not for the entry that this call adds.
        self.backoff_draw = None;
    }

    /// Sets the wall clock callback. Like `set_sleep` and `set_random`, returns the previous callback, which the caller
    /// drops.
    pub fn set_wall_clock(&mut self, clock: Option<WallClock>) -> Option<WallClock> {
        mem::replace(&mut self.policy().callbacks.wall_clock, clock)
    }

    pub fn set_sleep(&mut self, sleep: Option<Sleep>) -> Option<Sleep> {
        mem::replace(&mut self.policy().callbacks.sleep, sleep)
    }

    pub fn set_random(&mut self, random: Option<Random>) -> Option<Random> {
        mem::replace(&mut self.policy().callbacks.random, random)
    }
}

/// Checks status codes and returns them sorted and without duplicates.
fn status_codes(codes: &[i32]) -> Result<Vec<i32>> {
    if let Some(code) = codes.iter().find(|code| !(100..=999).contains(*code)) {
        return Err(invalid(format!("status codes must be 100 to 999; one is {code}")));
    }
    let mut list = Vec::new();
    memory::reserve(&mut list, codes.len(), "a list of status codes")?;
    list.extend_from_slice(codes);
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

fn check_finite(seconds: f64) -> Result<f64> {
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(seconds + 0.0);
    }
    Err(invalid(format!("must be 0 or more and finite; it is {seconds}")))
}

fn check_not_negative(seconds: f64) -> Result<f64> {
    if seconds >= 0.0 {
        return Ok(seconds + 0.0);
    }
    Err(invalid(format!("must be 0 or more, or NETLIB_TIMEOUT_NONE for no bound; it is {seconds}")))
}

fn invalid(message: impl AsRef<str>) -> Error {
    Error::new(Status::InvalidArgument, message)
}
