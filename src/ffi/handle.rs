//! Handles: how a C pointer owns a Rust value. Each handle type declares it once, and the compiler checks it.
//!
//! A handle type such as `netlib_url` is an opaque struct in C. Its [`Handle`] implementation names the Rust value
//! behind the pointer and the kind of ownership: [`Shared`] (an `Arc`: immutable, `_clone` counts a reference),
//! [`Counted`] (the value counts its own references) or [`Unique`] (a [`UniqueInner`] with one owner). A `Unique` handle cannot be
//! cloned, or freed as a `Shared` one, because there is no code for that.
//!
//! A callback may call the handle that it runs for. A call that changes a `Unique` value marks the value as busy. Until that
//! call ends, any other call fails with `NETLIB_BUSY`, and a `_free` is deferred to the end of the call. A call on a
//! `Shared` value that may run callbacks holds a reference of its own: [`borrow_and_keep_alive`].

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

/// The smart pointer that a raw handle pointer was made from.
pub(crate) trait Ownership<V> {
    type Owned;
    type Borrowed<'a>: Deref<Target = V>
    where
        V: 'a;

    fn into_raw(owned: Self::Owned) -> *mut ();

    /// Takes the owner back.
    ///
    /// # Safety
    /// `raw` came from `into_raw` and has not been given back since.
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
    /// As [`Ownership::borrow`], but the value may be changed.
    unsafe fn is_busy(_raw: *const ()) -> bool {
        false
    }

    /// Releases the pointer that `into_raw` returned.
    ///
    /// # Safety
    /// As [`Ownership::from_raw`].
    unsafe fn release(raw: *mut ()) {
        // SAFETY: the caller's promise.
        drop(unsafe { Self::from_raw(raw) });
    }
}

/// The kinds of ownership under which a value may have several handles.
pub(crate) trait Sharing<V>: Ownership<V> {
    fn as_raw(owned: &Self::Owned) -> *const ();

    fn add_reference(owned: &Self::Owned) -> Self::Owned;
}

/// Counted references to an immutable value.
pub(crate) enum Shared {}

/// The value is itself a counted reference to something immutable.
pub(crate) enum Counted {}

/// The value has one owner.
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
        // SAFETY: the caller's promise is the requirement of `Arc::from_raw`.
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

/// A reference that is not counted: the handle that it was borrowed from owns the count.
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
        // SAFETY: the caller's promise is the requirement of `ThinArc::from_raw`.
        Url::from_thin(unsafe { ThinArc::from_raw(raw.cast()) })
    }

    unsafe fn borrow<'a>(raw: *const ()) -> UncountedRef<Url>
    where
        Url: 'a,
    {
        // SAFETY: the value lives, and this reference to it is never released.
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

/// The value of a `Unique` handle, and its state. Nothing here is atomic: only one thread at a time uses such a handle,
/// so only a callback can make a nested call.
pub(crate) struct UniqueInner<V> {
    /// An [`Exclusive`] exists.
    busy: Cell<bool>,
    /// The handle was freed while it was busy. The end of that call drops the value.
    freed: Cell<bool>,
    /// netlib owns the value and lends it to a callback. A `_free` does nothing.
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
        // SAFETY: the caller's promise: `into_raw` made the pointer from a `Box`.
        Box::new(unsafe { Box::from_raw(raw.cast::<UniqueInner<V>>()) }.value.into_inner())
    }

    unsafe fn borrow<'a>(raw: *const ()) -> &'a V
    where
        V: 'a,
    {
        // SAFETY: a live handle is a slot, and by the caller's promise nothing changes its value.
        unsafe { &*(*raw.cast::<UniqueInner<V>>()).value.get() }
    }

    unsafe fn is_busy(raw: *const ()) -> bool {
        // SAFETY: a live handle is a slot, and only the slot's value is ever borrowed mutably.
        unsafe { &*raw.cast::<UniqueInner<V>>() }.busy.get()
    }

    unsafe fn release(raw: *mut ()) {
        // SAFETY: as in `is_busy`. The reference ends before the slot is dropped.
        let is_kept = unsafe { &*raw.cast::<UniqueInner<V>>() }.outlives_free();
        if !is_kept {
            // SAFETY: the caller gives up the handle, and no call uses it.
            drop(unsafe { Box::from_raw(raw.cast::<UniqueInner<V>>()) });
        }
    }
}

impl<V> UniqueInner<V> {
    /// Handles a `_free`. Returns whether the value stays, because netlib owns it or the current call will drop it.
    fn outlives_free(&self) -> bool {
        if self.lent.get() {
            return true;
        }
        self.freed.set(self.busy.get());
        self.busy.get()
    }
}

/// The value of a `Unique` handle, for one call that may change it or run callbacks.
pub(crate) struct Exclusive<'a, V> {
    inner: NonNull<UniqueInner<V>>,
    value: PhantomData<&'a mut V>,
}

impl<V> Exclusive<'_, V> {
    fn inner(&self) -> &UniqueInner<V> {
        // SAFETY: the slot lives until this is dropped, because a `_free` in the meantime is deferred until then.
        unsafe { self.inner.as_ref() }
    }
}

impl<V> Deref for Exclusive<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        // SAFETY: the slot lives, and nothing else borrows its value while it is busy.
        unsafe { &*self.inner().value.get() }
    }
}

impl<V> DerefMut for Exclusive<'_, V> {
    fn deref_mut(&mut self) -> &mut V {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.inner().value.get() }
    }
}

impl<V> Drop for Exclusive<'_, V> {
    fn drop(&mut self) {
        self.inner().busy.set(false);
        if self.inner().freed.get() {
            // SAFETY: the owner freed the handle during the call that ends here.
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

/// The type that owns the value of a handle type.
pub(crate) type Owned<H> = <<H as Handle>::Ownership as Ownership<<H as Handle>::Value>>::Owned;

/// The type through which a call accesses a handle's value.
pub(crate) type Borrowed<'a, H> = <<H as Handle>::Ownership as Ownership<<H as Handle>::Value>>::Borrowed<'a>;

/// Gives the value to C.
pub(crate) fn give<H: Handle>(owned: Owned<H>) -> *mut H {
    H::Ownership::into_raw(owned).cast()
}

/// Lends a value to a callback until [`take`] takes it back: the callback cannot free it.
pub(crate) fn lend_to_callback<H: Handle<Ownership = Unique>>(owned: Box<H::Value>) -> *mut H {
    let raw = Unique::into_raw(owned);
    // SAFETY: the pointer was made from a slot above.
    unsafe { &*raw.cast::<UniqueInner<H::Value>>() }.lent.set(true);
    raw.cast()
}

/// Lends a value that lives inside another handle, until that handle is freed.
pub(crate) fn lend<H: Handle>(value: Option<&Owned<H>>) -> *const H
where
    H::Ownership: Sharing<H::Value>,
{
    value.map_or(std::ptr::null(), |value| H::Ownership::as_raw(value).cast())
}

/// Borrows the value of a handle. `name` is the name of the parameter in the error.
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
    // SAFETY: as above, and no call is changing the value.
    Ok(unsafe { H::Ownership::borrow(handle.cast()) })
}

/// Borrows the value of a single-threaded handle for one call. If a callback of that call uses the handle, it gets
/// `NETLIB_BUSY`.
///
/// # Safety
/// As [`borrow`]; and, as netlib.h requires for a single-threaded handle, no call on another thread is using it.
pub(crate) unsafe fn borrow_mut<'a, H: Handle<Ownership = Unique>>(
    handle: *mut H,
    name: &str,
) -> Result<Exclusive<'a, H::Value>>
where
    Unique: Ownership<H::Value>,
{
    let inner = NonNull::new(handle.cast::<UniqueInner<H::Value>>()).ok_or_else(|| null_argument(name))?;
    // SAFETY: a live handle is a slot, and only the slot's value is ever borrowed mutably.
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

/// Like [`borrow`], but counts a reference if `may_call_back` returns true. The check is cheaper than counting.
///
/// # Safety
/// As [`borrow`].
pub(crate) unsafe fn borrow_and_keep_alive<'a, H: Handle<Ownership = Shared>>(
    handle: *const H,
    name: &str,
    may_call_back: impl FnOnce(&H::Value) -> bool,
) -> Result<KeptAlive<'a, H::Value>>
where
    H::Value: Sync + 'a,
{
    // SAFETY: the caller's promise.
    let value: &'a H::Value = unsafe { borrow(handle, name) }?;
    // SAFETY: as above.
    let count = if may_call_back(value) { Some(unsafe { share(handle, name) }?) } else { None };
    Ok(KeptAlive { value, _count: count })
}

/// Counts and returns another reference to the value of a shared handle.
///
/// # Safety
/// As [`borrow`].
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

/// Runs the body of a `_clone`: returns another reference to a shared value, NULL for NULL.
///
/// # Safety
/// As [`borrow`].
pub(crate) unsafe fn clone<H: Handle>(handle: *const H) -> *mut H
where
    H::Ownership: Sharing<H::Value>,
{
    // SAFETY: the caller's promise.
    guard::value(std::ptr::null_mut(), || Ok(give::<H>(unsafe { share(handle, "handle") }?)))
}

/// Runs the body of a `_free`.
///
/// # Safety
/// `handle` is NULL or owned by the caller, who gives it up.
pub(crate) unsafe fn free<H: Handle>(handle: *mut H) {
    if !handle.is_null() {
        // SAFETY: an owned handle came from `give` and is given back once.
        unsafe { H::Ownership::release(handle.cast()) };
    }
}

/// Takes ownership of a handle that the caller gives up; `None` for NULL.
///
/// # Safety
/// As [`free`].
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
