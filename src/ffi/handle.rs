//! Defines handles, which are C pointers that own Rust values. Each handle type declares its kind of ownership once,
//! and the compiler checks every use.
//!
//! A handle type such as `netlib_url` is an opaque struct in C. The [`Handle`] implementation of a handle type names
//! the Rust value behind the pointer and the kind of ownership: [`Shared`] (an `Arc`: immutable, `_clone` counts a
//! reference), [`Counted`] (the value counts its own references) or [`Unique`] (a [`UniqueInner`] with one owner). A
//! `Unique` handle cannot be cloned or freed as a `Shared` handle, because such code does not compile.
//!
//! A callback may use the handle of the call that runs it. A call that changes a `Unique` value marks the value as
//! busy. While a value is busy, any other call with its handle fails with `NETLIB_BUSY`, and a `_free` is deferred to
//! the end of the busy call. A call that may run callbacks keeps its `Shared` value alive with
//! [`borrow_and_keep_alive`].

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use triomphe::ThinArc;

use crate::error::{Error, Result};
use crate::ffi::guard::nonblocking as guard;
use crate::status::Status;
use crate::url::Url;

/// A C handle type.
pub(crate) trait Handle: Sized {
    type Value: Send;
    type Ownership: Ownership<Self::Value>;
}

/// The smart pointer that owns the value of a handle, and its conversion to and from a raw pointer.
pub(crate) trait Ownership<V> {
    type Owned;
    type Borrowed<'a>: Deref<Target = V>
    where
        V: 'a;

    fn into_raw(owned: Self::Owned) -> *mut ();

    /// Converts the raw pointer back to the smart pointer.
    ///
    /// # Safety
    /// `raw` came from `into_raw` and has not been passed to `from_raw` or `release` since.
    unsafe fn from_raw(raw: *mut ()) -> Self::Owned;

    /// Borrows the value.
    ///
    /// # Safety
    /// `raw` came from `into_raw` or `as_raw` of a value that lives and is not changed during `'a`.
    unsafe fn borrow<'a>(raw: *const ()) -> Self::Borrowed<'a>
    where
        V: 'a;

    /// Returns whether a call is changing the value, so that no other call may read or change it.
    ///
    /// # Safety
    /// The conditions of [`Ownership::borrow`] apply, but another call may be changing the value.
    unsafe fn is_busy(_raw: *const ()) -> bool {
        false
    }

    /// Releases the handle whose raw pointer `into_raw` returned.
    ///
    /// # Safety
    /// The conditions of [`Ownership::from_raw`] apply.
    unsafe fn release(raw: *mut ()) {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        drop(unsafe { Self::from_raw(raw) });
    }
}

/// The kinds of ownership that allow several handles for one value.
pub(crate) trait Sharing<V>: Ownership<V> {
    fn as_raw(owned: &Self::Owned) -> *const ();

    fn add_reference(owned: &Self::Owned) -> Self::Owned;
}

/// Each handle is a counted reference to an immutable value.
pub(crate) enum Shared {}

/// The value is itself a counted reference to immutable data.
pub(crate) enum Counted {}

/// The value has exactly one handle.
pub(crate) enum Unique {}

// The `Sync` bound guarantees that a shared handle can be used from any number of threads.
impl<V: Send + Sync> Ownership<V> for Shared {
    type Owned = Arc<V>;
    type Borrowed<'a>
        = &'a V
    where
        V: 'a;

    fn into_raw(owned: Arc<V>) -> *mut () {
        Arc::into_raw(owned).cast_mut().cast()
    }

    unsafe fn from_raw(raw: *mut ()) -> Arc<V> {
        // SAFETY: the caller guarantees the requirements of `Arc::from_raw`.
        unsafe { Arc::from_raw(raw.cast::<V>()) }
    }

    unsafe fn borrow<'a>(raw: *const ()) -> &'a V
    where
        V: 'a,
    {
        // SAFETY: a pointer from an `Arc` points to its value.
        unsafe { &*raw.cast::<V>() }
    }
}

impl<V: Send + Sync> Sharing<V> for Shared {
    fn as_raw(owned: &Arc<V>) -> *const () {
        Arc::as_ptr(owned).cast()
    }

    fn add_reference(owned: &Arc<V>) -> Arc<V> {
        Arc::clone(owned)
    }
}

/// A reference that is not counted, because the handle from which it was borrowed keeps the value alive.
pub(crate) struct UncountedRef<V>(ManuallyDrop<V>);

impl<V> Deref for UncountedRef<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0
    }
}

impl Ownership<Url> for Counted {
    type Owned = Url;
    type Borrowed<'a> = UncountedRef<Url>;

    fn into_raw(owned: Url) -> *mut () {
        owned.into_thin().into_raw().cast_mut().cast()
    }

    unsafe fn from_raw(raw: *mut ()) -> Url {
        // SAFETY: the caller guarantees the requirements of `ThinArc::from_raw`.
        Url::from_thin(unsafe { ThinArc::from_raw(raw.cast()) })
    }

    unsafe fn borrow<'a>(raw: *const ()) -> UncountedRef<Url>
    where
        Url: 'a,
    {
        // SAFETY: the value lives, and `ManuallyDrop` keeps this reference from being released.
        UncountedRef(ManuallyDrop::new(unsafe { Self::from_raw(raw.cast_mut()) }))
    }
}

impl Sharing<Url> for Counted {
    fn as_raw(owned: &Url) -> *const () {
        owned.as_thin().as_ptr().cast()
    }

    fn add_reference(owned: &Url) -> Url {
        owned.clone()
    }
}

/// The value of a `Unique` handle, and the state of the handle. The fields are not atomic, because only one thread at a
/// time uses a `Unique` handle; only a callback can make a nested call.
pub(crate) struct UniqueInner<V> {
    /// Whether an [`Exclusive`] for the value exists.
    busy: Cell<bool>,
    /// Whether the handle was freed while it was busy. The value is dropped when the busy call ends.
    freed: Cell<bool>,
    /// Whether netlib owns the value and lends it to a callback, so that `_free` does nothing.
    lent: Cell<bool>,
    value: UnsafeCell<V>,
}

impl<V: Send> Ownership<V> for Unique {
    type Owned = Box<V>;
    type Borrowed<'a>
        = &'a V
    where
        V: 'a;

    fn into_raw(owned: Box<V>) -> *mut () {
        let (busy, freed, lent) = (Cell::new(false), Cell::new(false), Cell::new(false));
        let inner = UniqueInner { busy, freed, lent, value: UnsafeCell::new(*owned) };
        Box::into_raw(Box::new(inner)).cast()
    }

    unsafe fn from_raw(raw: *mut ()) -> Box<V> {
        // SAFETY: the caller guarantees that `into_raw` made the pointer from a `Box`.
        Box::new(unsafe { Box::from_raw(raw.cast::<UniqueInner<V>>()) }.value.into_inner())
    }

    unsafe fn borrow<'a>(raw: *const ()) -> &'a V
    where
        V: 'a,
    {
        // SAFETY: a live handle points to a `UniqueInner`, and the caller guarantees that nothing changes its value.
        unsafe { &*(*raw.cast::<UniqueInner<V>>()).value.get() }
    }

    unsafe fn is_busy(raw: *const ()) -> bool {
        // SAFETY: a live handle points to a `UniqueInner`, and only the field `value` is ever borrowed mutably.
        unsafe { &*raw.cast::<UniqueInner<V>>() }.busy.get()
    }

    unsafe fn release(raw: *mut ()) {
        // SAFETY: a live handle points to a `UniqueInner`, and only the field `value` is ever borrowed mutably. The
        // reference ends before the `UniqueInner` is dropped.
        let is_kept = unsafe { &*raw.cast::<UniqueInner<V>>() }.outlives_free();
        if !is_kept {
            // SAFETY: the caller gives up ownership of the handle, and no call uses it.
            drop(unsafe { Box::from_raw(raw.cast::<UniqueInner<V>>()) });
        }
    }
}

impl<V> UniqueInner<V> {
    /// Records that C has called `_free` for the handle. Returns whether the value must not be dropped now, because
    /// netlib owns it or the busy call will drop it.
    fn outlives_free(&self) -> bool {
        if self.lent.get() {
            return true;
        }
        self.freed.set(self.busy.get());
        self.busy.get()
    }
}

/// Exclusive access to the value of a `Unique` handle, for one call that may change the value or run callbacks.
pub(crate) struct Exclusive<'a, V> {
    inner: NonNull<UniqueInner<V>>,
    value: PhantomData<&'a mut V>,
}

impl<V> Exclusive<'_, V> {
    fn inner(&self) -> &UniqueInner<V> {
        // SAFETY: the `UniqueInner` lives until this `Exclusive` is dropped, because a `_free` is deferred until then.
        unsafe { self.inner.as_ref() }
    }
}

impl<V> Deref for Exclusive<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        // SAFETY: the `UniqueInner` lives, and nothing else borrows the value while it is busy.
        unsafe { &*self.inner().value.get() }
    }
}

impl<V> DerefMut for Exclusive<'_, V> {
    fn deref_mut(&mut self) -> &mut V {
        // SAFETY: this `Exclusive` has marked the value as busy, so there is no other reference to the value.
        unsafe { &mut *self.inner().value.get() }
    }
}

impl<V> Drop for Exclusive<'_, V> {
    fn drop(&mut self) {
        self.inner().busy.set(false);
        if self.inner().freed.get() {
            // SAFETY: the application freed the handle during the call that ends here, so no other code uses it.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

/// The smart pointer that owns the value of a handle of type `H`.
pub(crate) type Owned<H> = <<H as Handle>::Ownership as Ownership<<H as Handle>::Value>>::Owned;

/// The type through which a call accesses the value of a handle of type `H`.
pub(crate) type Borrowed<'a, H> = <<H as Handle>::Ownership as Ownership<<H as Handle>::Value>>::Borrowed<'a>;

/// Converts a value to a handle that C owns.
pub(crate) fn give<H: Handle>(owned: Owned<H>) -> *mut H {
    H::Ownership::into_raw(owned).cast()
}

/// Makes a handle for a callback, which the callback cannot free. After the callback, [`take`] gets the value back from
/// the handle.
pub(crate) fn lend_to_callback<H: Handle<Ownership = Unique>>(owned: Box<H::Value>) -> *mut H {
    let raw = Unique::into_raw(owned);
    // SAFETY: `into_raw` made the pointer from a `UniqueInner` above.
    unsafe { &*raw.cast::<UniqueInner<H::Value>>() }.lent.set(true);
    raw.cast()
}

/// Returns a borrowed handle for a value inside another handle. The borrowed handle is valid until the handle that
/// contains the value is freed.
pub(crate) fn lend<H: Handle>(value: Option<&Owned<H>>) -> *const H
where
    H::Ownership: Sharing<H::Value>,
{
    value.map_or(std::ptr::null(), |value| H::Ownership::as_raw(value).cast())
}

/// Borrows the value of a handle. `name` is the parameter's name for error messages.
///
/// # Safety
/// `handle` is NULL or a live handle of type `H` that stays alive for `'a`.
pub(crate) unsafe fn borrow<'a, H: Handle>(handle: *const H, name: &str) -> Result<Borrowed<'a, H>> {
    if handle.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: a live handle came from `give` or `lend`.
    if unsafe { H::Ownership::is_busy(handle.cast()) } {
        return Err(busy_argument(name));
    }
    // SAFETY: a live handle came from `give` or `lend`, and no call is changing the value.
    Ok(unsafe { H::Ownership::borrow(handle.cast()) })
}

/// Borrows the value of a single-threaded handle for one call. If a callback uses the handle during this call, the
/// callback gets `NETLIB_BUSY`.
///
/// # Safety
/// The conditions of [`borrow`] apply; and, as netlib.h requires for a single-threaded handle, no call on another
/// thread is using it.
pub(crate) unsafe fn borrow_mut<'a, H: Handle<Ownership = Unique>>(
    handle: *mut H,
    name: &str,
) -> Result<Exclusive<'a, H::Value>>
where
    Unique: Ownership<H::Value>,
{
    let inner = NonNull::new(handle.cast::<UniqueInner<H::Value>>()).ok_or_else(|| null_argument(name))?;
    // SAFETY: a live handle points to a `UniqueInner`, and only the field `value` is ever borrowed mutably.
    if unsafe { inner.as_ref() }.busy.replace(true) {
        return Err(busy_argument(name));
    }
    Ok(Exclusive { inner, value: PhantomData })
}

/// The value of a shared handle, kept alive for a call that may run a callback, because the callback may free the
/// handle.
pub(crate) struct KeptAlive<'a, V> {
    value: &'a V,
    _count: Option<Arc<V>>,
}

impl<V> Deref for KeptAlive<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        self.value
    }
}

/// Borrows the value of a shared handle, and counts a reference if `may_call_back` returns true. Calling
/// `may_call_back` is cheaper than counting a reference.
///
/// # Safety
/// The conditions of [`borrow`] apply.
pub(crate) unsafe fn borrow_and_keep_alive<'a, H: Handle<Ownership = Shared>>(
    handle: *const H,
    name: &str,
    may_call_back: impl FnOnce(&H::Value) -> bool,
) -> Result<KeptAlive<'a, H::Value>>
where
    H::Value: Sync + 'a,
{
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    let value: &'a H::Value = unsafe { borrow(handle, name) }?;
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    let count = if may_call_back(value) { Some(unsafe { share(handle, name) }?) } else { None };
    Ok(KeptAlive { value, _count: count })
}

/// Returns another counted reference to the value of a shared handle.
///
/// # Safety
/// The conditions of [`borrow`] apply.
pub(crate) unsafe fn share<H: Handle>(handle: *const H, name: &str) -> Result<Owned<H>>
where
    H::Ownership: Sharing<H::Value>,
{
    if handle.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: a live shared handle came from `give` or `lend`, so its count is at least one, and `ManuallyDrop` keeps
    // this reference from being released.
    let owned = ManuallyDrop::new(unsafe { H::Ownership::from_raw(handle.cast_mut().cast()) });
    Ok(H::Ownership::add_reference(&owned))
}

/// Runs the body of a `_clone` function: returns another handle for a shared value; NULL for NULL.
///
/// # Safety
/// The conditions of [`borrow`] apply.
pub(crate) unsafe fn clone<H: Handle>(handle: *const H) -> *mut H
where
    H::Ownership: Sharing<H::Value>,
{
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    guard::value(std::ptr::null_mut(), || Ok(give::<H>(unsafe { share(handle, "handle") }?)))
}

/// Runs the body of a `_free` function.
///
/// # Safety
/// `handle` is NULL, or owned by the caller, which gives up the ownership.
pub(crate) unsafe fn free<H: Handle>(handle: *mut H) {
    if !handle.is_null() {
        // SAFETY: an owned handle came from `give` and is given back once.
        unsafe { H::Ownership::release(handle.cast()) };
    }
}

/// Takes the value out of a handle whose ownership the caller gives up; `None` for NULL.
///
/// # Safety
/// The conditions of [`free`] apply.
pub(crate) unsafe fn take<H: Handle>(handle: *mut H) -> Option<Owned<H>> {
    // SAFETY: an owned handle came from `give` and is given back once.
    if handle.is_null() { None } else { Some(unsafe { H::Ownership::from_raw(handle.cast()) }) }
}

pub(crate) fn null_argument(name: &str) -> Error {
    Error::new(Status::NullArgument, format!("{name} must not be NULL"))
}

#[cold]
fn busy_argument(name: &str) -> Error {
    let message = format!("{name} is in use: a callback cannot use the handle that is calling it");
    Error::new(Status::Busy, message)
}
