//! Handles: how a C pointer owns a Rust value, said once per type and checked by the compiler.
//!
//! A handle type such as `netlib_url` is an empty struct that C never sees inside. Its [`Handle`] implementation names
//! the Rust value behind the pointer and who owns it: [`Shared`] (an `Arc`: immutable, `_clone` counts) or [`Unique`]
//! (a `Box`: one owner). A `Unique` handle cannot be freed as a `Shared` one, or cloned: there is no code for it.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ffi::guard;
use crate::status::Status;

/// A C handle type.
pub(crate) trait Handle: Sized {
    type Value: Send;
    type Ownership: Ownership<Self::Value>;
}

/// The smart pointer that a raw handle pointer was made from.
pub(crate) trait Ownership<V> {
    type Owned;

    fn into_raw(owned: Self::Owned) -> *mut V;

    /// # Safety
    /// `raw` came from `into_raw` and has not been given back since.
    unsafe fn from_raw(raw: *mut V) -> Self::Owned;
}

/// Counted references to an immutable value.
pub(crate) enum Shared {}

/// One owner.
pub(crate) enum Unique {}

// The `Sync` bound is the promise that a shared handle may be used from any number of threads.
impl<V: Send + Sync> Ownership<V> for Shared {
    type Owned = Arc<V>;

    fn into_raw(owned: Arc<V>) -> *mut V {
        Arc::into_raw(owned).cast_mut()
    }

    unsafe fn from_raw(raw: *mut V) -> Arc<V> {
        // SAFETY: the caller's promise is the requirement of `Arc::from_raw`.
        unsafe { Arc::from_raw(raw) }
    }
}

impl<V: Send> Ownership<V> for Unique {
    type Owned = Box<V>;

    fn into_raw(owned: Box<V>) -> *mut V {
        Box::into_raw(owned)
    }

    unsafe fn from_raw(raw: *mut V) -> Box<V> {
        // SAFETY: the caller's promise is the requirement of `Box::from_raw`.
        unsafe { Box::from_raw(raw) }
    }
}

/// What a handle type owns when it owns it.
pub(crate) type Owned<H> = <<H as Handle>::Ownership as Ownership<<H as Handle>::Value>>::Owned;

/// Gives the value to C.
pub(crate) fn give<H: Handle>(owned: Owned<H>) -> *mut H {
    H::Ownership::into_raw(owned).cast()
}

/// Lends a value that lives inside another handle, until that handle is freed.
pub(crate) fn lend<H: Handle<Ownership = Shared>>(value: Option<&Arc<H::Value>>) -> *const H
where
    Shared: Ownership<H::Value>,
{
    value.map_or(std::ptr::null(), |value| Arc::as_ptr(value).cast())
}

/// # Safety
/// `handle` is NULL or a live handle of type `H` that stays alive for `'a`.
pub(crate) unsafe fn borrow<'a, H: Handle>(handle: *const H, name: &str) -> Result<&'a H::Value> {
    // SAFETY: a live handle points to an initialised `H::Value`.
    unsafe { handle.cast::<H::Value>().as_ref() }.ok_or_else(|| null_argument(name))
}

/// # Safety
/// As [`borrow`]; and, as netlib.h asks of a single-threaded handle, no other call is using it.
pub(crate) unsafe fn borrow_mut<'a, H: Handle<Ownership = Unique>>(
    handle: *mut H,
    name: &str,
) -> Result<&'a mut H::Value>
where
    Unique: Ownership<H::Value>,
{
    // SAFETY: a live handle points to an initialised `H::Value`, and the caller promises exclusive use.
    unsafe { handle.cast::<H::Value>().as_mut() }.ok_or_else(|| null_argument(name))
}

/// Another reference to the value of a shared handle.
///
/// # Safety
/// As [`borrow`].
pub(crate) unsafe fn share<H: Handle<Ownership = Shared>>(handle: *const H, name: &str) -> Result<Arc<H::Value>>
where
    Shared: Ownership<H::Value>,
{
    if handle.is_null() {
        return Err(null_argument(name));
    }
    let value = handle.cast::<H::Value>();
    // SAFETY: a live shared handle came from `Arc::into_raw` (or points into one that is alive), so its count is at
    // least one; raising it first makes the new reference ours.
    unsafe {
        Arc::increment_strong_count(value);
        Ok(Arc::from_raw(value))
    }
}

/// The body of a `_clone`: another reference to a shared value, NULL for NULL.
///
/// # Safety
/// As [`borrow`].
pub(crate) unsafe fn clone<H: Handle<Ownership = Shared>>(handle: *const H) -> *mut H
where
    Shared: Ownership<H::Value, Owned = Arc<H::Value>>,
{
    // SAFETY: the caller's promise.
    guard::value(std::ptr::null_mut(), || Ok(give::<H>(unsafe { share(handle, "handle") }?)))
}

/// # Safety
/// `handle` is NULL or owned by the caller, who gives it up.
pub(crate) unsafe fn free<H: Handle>(handle: *mut H) {
    if !handle.is_null() {
        // SAFETY: an owned handle came from `give` and is given back once.
        drop(unsafe { H::Ownership::from_raw(handle.cast()) });
    }
}

pub(crate) fn null_argument(name: &str) -> Error {
    Error::new(Status::NullArgument, format!("{name} must not be NULL"))
}
