//! Builders for options. A setter returns nothing: the builder records the value that a setter refuses, and the function
//! that uses the options reports the first refused value that no later call replaced.

use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ffi::callback_context::{CallbackContext, CtxFreeFn};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::handle::{self, Handle, Ownership, Shared, Unique};

/// Groups of setters that replace each other's values. A setter that is in no group replaces only its own value.
const ALTERNATIVES: &[&[&str]] = &[
    &[
        "netlib_breaker_options_set_ratio",
        "netlib_breaker_options_set_consecutive",
        "netlib_breaker_options_set_adaptive",
    ],
    &[
        "netlib_headers_options_set_accept_encoding",
        "netlib_headers_options_enable_accept_encoding",
        "netlib_headers_options_add_accept_encoding",
    ],
    &[
        "netlib_retry_budget_options_set_preset",
        "netlib_retry_budget_options_set_tokens",
        "netlib_retry_budget_options_set_failure_tokens",
        "netlib_retry_budget_options_set_window",
        "netlib_retry_budget_options_set_in_flight",
    ],
    &["netlib_hedge_options_set_delay", "netlib_hedge_options_set_percentile"],
    &["netlib_rate_options_set_adaptive", "netlib_rate_options_set_limit"],
    &["netlib_retry_options_set_allowed_methods", "netlib_retry_options_allow_any_method"],
    &["netlib_retry_options_set_keep_headers_on_redirect", "netlib_retry_options_keep_any_header_on_redirect"],
    &["netlib_retry_options_set_retry_after_statuses", "netlib_retry_options_obey_any_retry_after"],
    &["netlib_tls_options_set_identity", "netlib_tls_options_set_identity_files"],
    &["netlib_url_options_set_auth", "netlib_url_options_set_credentials"],
];

/// A value that setters replace or add to, identified by the name of its setter, or of the first of its alternative
/// setters.
#[derive(Clone, Copy, PartialEq)]
struct Setting(&'static str);

impl Setting {
    fn of(setter: &'static str) -> Setting {
        let alternatives = ALTERNATIVES.iter().find(|setters| setters.contains(&setter));
        Setting(alternatives.and_then(|setters| setters.first()).unwrap_or(&setter))
    }
}

/// The value of every `netlib_…_options` handle. The options are reference counted, so that clones of the options, and
/// objects made from them, can share them. A setter first copies shared options, and then changes the copy.
#[derive(Clone, Default)]
pub(crate) struct Options<T> {
    value: Arc<T>,
    /// The error of each setting whose value was refused, in the order of the calls. There is at most one error for
    /// each setting, so the number of settings bounds the length of the list.
    refused: Vec<(Setting, Error)>,
}

impl<T: Clone> Options<T> {
    pub(crate) fn new(value: impl Into<Arc<T>>) -> Options<T> {
        Options { value: value.into(), refused: Vec::new() }
    }

    /// Makes options from the result of `function`, which converts an object to options. If `function` failed, the
    /// options record its error, which no setter removes.
    pub(crate) fn converted(function: &'static str, value: Result<T>) -> Options<T>
    where
        T: Default,
    {
        match value {
            Ok(value) => Options::new(value),
            Err(error) => {
                Options { value: Arc::default(), refused: vec![(Setting(function), error.prefixed(function))] }
            }
        }
    }

    /// Records the result of a setter's call.
    fn record(&mut self, setter: &'static str, effect: Effect, result: Result<()>) {
        let setting = Setting::of(setter);
        if effect == Effect::Replace {
            self.refused.retain(|(refused, _)| *refused != setting);
        }
        if let Err(error) = result
            && self.refused.iter().all(|(refused, _)| *refused != setting)
        {
            self.refused.push((setting, error.prefixed(setter)));
        }
    }

    /// Returns the collected options, or the error of the first refused value.
    fn check(&self) -> Result<&Arc<T>> {
        match self.refused.first() {
            Some((_, error)) => Err(error.clone()),
            None => Ok(&self.value),
        }
    }
}

/// The effect of a setter's call on earlier calls for the same setting.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    /// The call replaces the value of the earlier calls.
    Replace,
    /// The call adds to the value of the earlier calls.
    Add,
}

/// Runs the body of a setter that replaces the value of its setting. If the setter refuses the new value, the options
/// record an error that begins with the setter's name; otherwise the options no longer record an error for the setting.
/// NULL options are ignored, because there is no builder to record the error.
///
/// # Safety
/// `options` is NULL or a live handle that no other call is using.
pub(crate) unsafe fn set<H, T>(options: *mut H, setter: &'static str, apply: impl FnOnce(&mut T) -> Result<()>)
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone,
    Unique: Ownership<Options<T>>,
{
    debug_assert!(!setter.contains("_options_add_"), "{setter} adds to its setting");
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { change(options, setter, Effect::Replace, apply) }
}

/// Runs the body of a setter that adds to the value of its setting. A later call of the setter does not replace a value
/// that the setter refused, because the later call adds a further value.
///
/// # Safety
/// The conditions of [`set`] apply.
pub(crate) unsafe fn add<H, T>(options: *mut H, setter: &'static str, apply: impl FnOnce(&mut T) -> Result<()>)
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone,
    Unique: Ownership<Options<T>>,
{
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { change(options, setter, Effect::Add, apply) }
}

/// # Safety
/// The conditions of [`set`] apply.
unsafe fn change<H, T>(
    options: *mut H,
    setter: &'static str,
    effect: Effect,
    apply: impl FnOnce(&mut T) -> Result<()>,
) where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone,
    Unique: Ownership<Options<T>>,
{
    guard::nothing(|| {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        let Ok(mut options) = (unsafe { handle::borrow_mut(options, "options") }) else { return };
        let result = apply(Arc::make_mut(&mut options.value));
        options.record(setter, effect, result);
    });
}

/// Runs the body of a setter for a callback, and takes ownership of `ctx` in every case. `replace` returns the previous
/// callback.
///
/// The previous callback is dropped only after the borrow of the options has ended, because its `ctx_free` may use and
/// free the options.
///
/// # Safety
/// The conditions of [`set`] apply.
pub(crate) unsafe fn set_callback<H, T, Old>(
    options: *mut H,
    setter: &'static str,
    (ctx, ctx_free): (*mut c_void, Option<CtxFreeFn>),
    replace: impl FnOnce(&mut T, CallbackContext) -> Option<Old>,
) where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone,
    Unique: Ownership<Options<T>>,
{
    guard::nothing(|| {
        let ctx = CallbackContext::new(ctx, ctx_free);
        let mut replaced = None;
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        unsafe {
            set(options, setter, |value| {
                replaced = replace(value, ctx.clone());
                Ok(())
            });
        }
        // The previous callback is dropped before `ctx`, which is released at the end of this closure if the options
        // have not kept it.
        drop(replaced);
    });
}

/// Runs the body of a `_clone` function: returns a handle with the same options and errors. Returns NULL for NULL.
///
/// # Safety
/// `options` is NULL or a live handle that no other call is using.
pub(crate) unsafe fn clone<H, T>(options: *const H) -> *mut H
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone + 'static,
    for<'a> Unique: Ownership<Options<T>, Owned = Box<Options<T>>, Borrowed<'a> = &'a Options<T>>,
{
    guard::value(std::ptr::null_mut(), || {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        let options = unsafe { handle::borrow(options, "options") }?;
        Ok(handle::give(Box::new(options.clone())))
    })
}

/// Runs the body of a `_check` function. NULL stands for the default options, in which no value was refused.
///
/// # Safety
/// `options` is NULL or a live handle that no other call is using. `err` is NULL or points to a writable pointer.
pub(crate) unsafe fn check<H, T, E>(options: *const H, err: *mut *mut E) -> i32
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone + 'static,
    for<'a> Unique: Ownership<Options<T>, Borrowed<'a> = &'a Options<T>>,
    E: Handle<Value = Error, Ownership = Shared>,
{
    let body = || {
        if options.is_null() {
            return Ok(());
        }
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        unsafe { handle::borrow(options, "options") }?.check().map(drop)
    };
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { guard::status(err, body) }
}

/// Borrows the value of options, without a copy, because the value may be several megabytes large. NULL stands for the
/// default options.
///
/// # Safety
/// `options` is NULL or a live handle that stays alive for `'a`.
pub(crate) unsafe fn borrowed<'a, H, T>(options: *const H) -> Result<Cow<'a, T>>
where
    H: Handle<Value = Options<T>, Ownership = Unique> + 'a,
    T: Clone + Default + 'a,
    Unique: Ownership<Options<T>, Borrowed<'a> = &'a Options<T>>,
{
    if options.is_null() {
        return Ok(Cow::Owned(T::default()));
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { handle::borrow(options, "options") }?.check().map(|value| Cow::Borrowed(&**value))
}

/// Returns the value of options as a counted reference that the caller may keep. NULL stands for the default options.
///
/// # Safety
/// `options` is NULL or a live handle.
pub(crate) unsafe fn shared<H, T>(options: *const H) -> Result<Arc<T>>
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone + Default,
    for<'a> Unique: Ownership<Options<T>, Borrowed<'a> = &'a Options<T>>,
{
    if options.is_null() {
        return Ok(Arc::default());
    }
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { handle::borrow(options, "options") }?.check().map(Arc::clone)
}

/// Returns a copy of the value of options. NULL stands for the default options.
///
/// # Safety
/// `options` is NULL or a live handle.
pub(crate) unsafe fn get<H, T>(options: *const H) -> Result<T>
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone + Default,
    for<'a> Unique: Ownership<Options<T>, Borrowed<'a> = &'a Options<T>>,
{
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    unsafe { borrowed(options) }.map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    const ENCODING: &str = "netlib_headers_options_set_accept_encoding";
    const ENABLE: &str = "netlib_headers_options_enable_accept_encoding";
    const ADD_ENCODING: &str = "netlib_headers_options_add_accept_encoding";

    /// Records the calls, and returns the message of the error that is reported.
    fn reported(calls: &[(&'static str, Effect, Option<&str>)]) -> Option<String> {
        let mut options = Options::<()>::default();
        for (setter, effect, refusal) in calls {
            let result = refusal.map_or(Ok(()), |why| Err(Error::new(Status::InvalidArgument, why)));
            options.record(setter, *effect, result);
        }
        options.check().err().map(|error| error.message().to_owned())
    }

    #[test]
    fn the_first_refused_value_that_no_later_call_replaced_is_reported() {
        use Effect::{Add, Replace};
        let encoding = |why: &str| Some(format!("{ENCODING}: {why}"));
        for (calls, expected) in [
            (&[][..], None),
            (&[("a", Replace, Some("1"))], Some("a: 1".to_owned())),
            (&[("a", Replace, Some("1")), ("a", Replace, None)], None),
            (&[("a", Replace, None), ("a", Replace, Some("1"))], Some("a: 1".to_owned())),
            (&[("a", Replace, Some("1")), ("a", Replace, Some("2"))], Some("a: 2".to_owned())),
            (&[("a", Replace, Some("1")), ("b", Replace, None)], Some("a: 1".to_owned())),
            (&[("a", Replace, Some("1")), ("b", Replace, Some("2"))], Some("a: 1".to_owned())),
            (&[("a", Replace, Some("1")), ("b", Replace, Some("2")), ("a", Replace, None)], Some("b: 2".to_owned())),
            (
                &[("a", Replace, Some("1")), ("b", Replace, Some("2")), ("a", Replace, Some("3"))],
                Some("b: 2".to_owned()),
            ),
            (&[("a", Add, Some("1")), ("a", Add, None)], Some("a: 1".to_owned())),
            (&[("a", Add, Some("1")), ("a", Add, Some("2"))], Some("a: 1".to_owned())),
            (&[(ENCODING, Replace, Some("1")), (ENABLE, Replace, None)], None),
            (&[(ADD_ENCODING, Add, Some("1")), (ENCODING, Replace, None)], None),
            (&[(ADD_ENCODING, Add, Some("1")), (ENCODING, Replace, Some("2"))], encoding("2")),
            (&[(ENCODING, Replace, Some("1")), (ADD_ENCODING, Add, None)], encoding("1")),
            (&[(ENCODING, Replace, Some("1")), (ADD_ENCODING, Add, Some("2"))], encoding("1")),
        ] {
            assert_eq!(reported(calls), expected);
        }
    }

    #[test]
    fn a_failed_conversion_to_options_is_reported_after_every_setter() {
        let failed = Err(Error::new(Status::OutOfMemory, "no memory"));
        let mut options = Options::<u8>::converted("netlib_headers_to_options", failed);
        options.record(ENCODING, Effect::Replace, Ok(()));
        let error = options.check().unwrap_err();
        assert_eq!(error.message(), "netlib_headers_to_options: no memory");
        assert_eq!(error.status(), Status::OutOfMemory);
        assert_eq!(**Options::<u8>::converted("netlib_headers_to_options", Ok(5)).check().unwrap(), 5);
    }

    #[test]
    fn options_record_at_most_one_error_for_each_setting() {
        let mut options = Options::<()>::default();
        for _ in 0..1000 {
            for effect in [Effect::Add, Effect::Replace] {
                for setter in ["a", "b", ENCODING, ADD_ENCODING] {
                    options.record(setter, effect, Err(Error::new(Status::InvalidArgument, "x")));
                }
            }
        }
        assert_eq!(options.refused.len(), 3);
    }

    #[test]
    fn every_setter_named_in_alternatives_is_in_the_header() {
        let header = include_str!("../../include/netlib.h");
        for setter in ALTERNATIVES.iter().flat_map(|setters| setters.iter()) {
            assert!(header.contains(&format!("void {setter}(")), "{setter}");
        }
    }
}
