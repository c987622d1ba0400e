//! The `ctx` of a callback, and the function that releases it.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::callback::CallbackId;
use crate::socket::sys::DisableCancellation;

/// Releases the `ctx` of a callback.
pub(crate) type CtxFreeFn = unsafe extern "C" fn(ctx: *mut c_void);

/// The `ctx` of one or more callbacks. Each closure that calls one of the callbacks has a clone of the context.
/// Dropping the last clone calls `ctx_free`.
///
/// netlib never drops the last clone while it holds a lock, because `ctx_free` may call netlib.
#[derive(Clone)]
pub(crate) struct CallbackContext(Arc<Owned>);

struct Owned {
    ctx: *mut c_void,
    ctx_free: Option<CtxFreeFn>,
    /// Distinguishes this `ctx` from a later `ctx` at the same address. 0 without a `ctx_free`: then only the address
    /// identifies the `ctx`, and the caller must not reuse the address.
    serial: u64,
}

// SAFETY: netlib only passes the pointer to callbacks; netlib.h requires that they accept it on any thread.
unsafe impl Send for Owned {}
// SAFETY: netlib only passes the pointer to callbacks; netlib.h requires that they accept it on several threads at
// once.
unsafe impl Sync for Owned {}

impl CallbackContext {
    /// Takes ownership of `ctx`.
    pub(super) fn new(ctx: *mut c_void, ctx_free: Option<CtxFreeFn>) -> CallbackContext {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let serial = if ctx_free.is_some() { NEXT.fetch_add(1, Ordering::Relaxed) } else { 0 };
        CallbackContext(Arc::new(Owned { ctx, ctx_free, serial }))
    }

    // A closure that calls this method captures the whole `CallbackContext`. A closure that accesses the field directly
    // would capture only the pointer, which is not `Send`.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.0.ctx
    }

    /// Returns the identity of a callback that is set as an option. If `function` is `None`, there is no callback, and
    /// the identity is `CallbackId::default()` for any `ctx`.
    pub(crate) fn id(&self, function: Option<*const ()>) -> CallbackId {
        function.map_or_else(CallbackId::default, |function| CallbackId {
            function: function.addr(),
            ctx: self.0.ctx.addr(),
            serial: self.0.serial,
        })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(ctx_free) = self.ctx_free else { return };
        // The last clone may be dropped in a call whose guard does not disable cancellation.
        let _disabled = DisableCancellation::begin();
        // SAFETY: netlib.h requires that `ctx_free` accepts the `ctx` with which it was set. `ctx_free` is called once.
        unsafe { ctx_free(self.ctx) };
    }
}
