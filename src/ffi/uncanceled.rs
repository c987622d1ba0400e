//! No thread is canceled (pthread_cancel(3)) inside netlib: glibc unwinds it then, which Rust answers by ending the
//! process, and musl leaves its locks held. It ends at its next cancellation point after the call.
//!
//! This is for deferred cancellation. A thread that can be canceled at any instruction may call three functions
//! (POSIX), and none of them is here.

/// Lives as long as the calling thread is not to be canceled.
pub(super) struct Uncanceled(system::State);

impl Uncanceled {
    pub(super) fn begin() -> Uncanceled {
        Uncanceled(system::disable())
    }
}

impl Drop for Uncanceled {
    fn drop(&mut self) {
        system::restore(self.0);
    }
}

#[cfg(all(unix, not(target_os = "android")))]
mod system {
    use std::ffi::c_int;

    const DISABLED: c_int = if cfg!(any(target_vendor = "apple", target_os = "hurd")) { 0 } else { 1 };

    unsafe extern "C" {
        // SAFETY: POSIX: any number is taken, or refused, and the old one is stored through the reference.
        safe fn pthread_setcancelstate(state: c_int, old: &mut c_int) -> c_int;
    }

    pub(super) type State = c_int;

    pub(super) fn disable() -> State {
        let mut before = DISABLED;
        pthread_setcancelstate(DISABLED, &mut before);
        before
    }

    pub(super) fn restore(before: State) {
        // An old state is wanted nowhere, but not everywhere may it be NULL.
        pthread_setcancelstate(before, &mut { before });
    }
}

/// There is no pthread_cancel(3).
#[cfg(not(all(unix, not(target_os = "android"))))]
mod system {
    pub(super) type State = ();

    pub(super) fn disable() -> State {}

    pub(super) fn restore((): State) {}
}
