//! Builders for options. A setter returns nothing: the builder keeps the error of the first invalid value, and the
//! function that uses the options reports it.

use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ffi::callback_context::{CallbackContext, CtxFreeFn};
use crate::ffi::guard::nonblocking as guard;
use crate::ffi::handle::{self, Handle, Ownership, Unique};

/// The value of every `netlib_…_options` handle. The options are reference counted, so that an object made from options
/// can keep them without a copy. If such an object still keeps the options, a setter copies them first and changes the
/// copy.
#[derive(Default)]
pub(crate) struct Options<T> {
    value: Arc<T>,
    first_error: Option<Error>,
}

impl<T: Clone> Options<T> {
    pub(crate) fn new(value: impl Into<Arc<T>>) -> Options<T> {
        Options { value: value.into(), first_error: None }
    }

    /// Returns the collected options, or the error of the first invalid value.
    fn check(&self) -> Result<&Arc<T>> {
        match &self.first_error {
            Some(error) => Err(error.clone()),
            None => Ok(&self.value),
        }
    }
}

/// Runs the body of a setter. The error that the builder keeps begins with the setter's name. NULL options are ignored,
/// because there is no builder to keep the error.
///
/// # Safety
/// `options` is NULL or a live handle that no other call is using.
pub(crate) unsafe fn set<H, T>(options: *mut H, setter: &str, apply: impl FnOnce(&mut T) -> Result<()>)
where
    H: Handle<Value = Options<T>, Ownership = Unique>,
    T: Clone,
    Unique: Ownership<Options<T>>,
{
    guard::nothing(|| {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        let Ok(mut options) = (unsafe { handle::borrow_mut(options, "options") }) else { return };
        if options.first_error.is_none() {
            let result = apply(Arc::make_mut(&mut options.value));
            options.first_error = result.err().map(|error| error.prefixed(setter));
        }
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
    setter: &str,
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
