//! Disables pthread_cancel(3) during calls of netlib. glibc cancels a thread by unwinding its stack, and Rust aborts
//! the process when the unwinding reaches Rust frames. musl does not unwind, so netlib's locks would stay locked. A
//! thread that was cancelled during a call ends at its next cancellation point after the call.
//!
//! Only deferred cancellation is disabled safely. POSIX allows a thread with asynchronous cancellation to call only
//! three functions, and none of them is in netlib.

/// Cancellation of the calling thread is disabled while this value lives.
pub(crate) struct DisableCancellation(system::State);

impl DisableCancellation {
    pub(crate) fn begin() -> DisableCancellation {
        DisableCancellation(system::disable())
    }
}

impl Drop for DisableCancellation {
    fn drop(&mut self) {
        system::restore(self.0);
    }
}

#[cfg(not(target_os = "android"))]
mod system {
    use std::ffi::c_int;

    const DISABLED: c_int = if cfg!(any(target_vendor = "apple", target_os = "hurd")) { 0 } else { 1 };

    unsafe extern "C" {
        // SAFETY: by POSIX, the call accepts or refuses any number, and stores the old state through the pointer.
        safe fn pthread_setcancelstate(state: c_int, old: &mut c_int) -> c_int;
    }

    pub(super) type State = c_int;

    pub(super) fn disable() -> State {
        let mut before = DISABLED;
        pthread_setcancelstate(DISABLED, &mut before);
        before
    }

    pub(super) fn restore(before: State) {
        // The old state is not needed, but not every system accepts NULL for it.
        pthread_setcancelstate(before, &mut { before });
    }
}

/// Does nothing, because Android has no pthread_cancel(3).
#[cfg(target_os = "android")]
mod system {
    pub(super) type State = ();

    pub(super) fn disable() -> State {}

    pub(super) fn restore((): State) {}
}
