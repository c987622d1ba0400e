//! System calls about the process: environment variables, blocked signals, the monotonic clock, and handlers of
//! fork(2).

use std::ffi::{CStr, OsString};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::AtomicU64;

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn secure_getenv(name: *const libc::c_char) -> *mut libc::c_char;
}

/// Returns an environment variable; always `None` in a program that runs with elevated privileges, such as set-user-ID.
pub(crate) fn environment_variable(name: &CStr) -> Option<OsString> {
    // SAFETY: the name is NUL-terminated. The result is NUL-terminated and lives until the application changes its
    // environment. getenv(3) forbids a change while another thread calls it.
    unsafe {
        #[cfg(target_os = "linux")]
        let value = secure_getenv(name.as_ptr());
        #[cfg(not(target_os = "linux"))]
        let value = if libc::issetugid() != 0 { std::ptr::null_mut() } else { libc::getenv(name.as_ptr()) };
        if value.is_null() { None } else { Some(OsString::from_vec(CStr::from_ptr(value).to_bytes().to_vec())) }
    }
}

/// While this value lives, all signals are blocked on the current thread and on the threads that it starts.
pub(crate) struct SignalsBlocked {
    before: Option<libc::sigset_t>,
    /// Keeps the type from being `Send`, because the signal mask belongs to this thread.
    _thread: PhantomData<*const ()>,
}

impl SignalsBlocked {
    pub(crate) fn new() -> SignalsBlocked {
        // SAFETY: both signal sets are written before they are read.
        let before = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            (libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before) == 0).then_some(before)
        };
        SignalsBlocked { before, _thread: PhantomData }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: `before` is a signal set that pthread_sigmask wrote.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
        }
    }
}

/// Returns the time of the monotonic clock, in seconds.
pub(crate) fn monotonic_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable. CLOCK_MONOTONIC exists on every system that netlib builds for.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Returns the time of the monotonic clock, in seconds, with a resolution of a few milliseconds. On Linux, the call
/// takes a fifth of the time of [`monotonic_seconds`].
pub(crate) fn coarse_monotonic_seconds() -> f64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_COARSE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable. The clock exists on every system for which the constant is chosen.
    unsafe { libc::clock_gettime(CLOCK, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Returns an integer that is 0 in every forked child, even if no fork handler ran: the kernel wipes its memory page
/// (MADV_WIPEONFORK, Linux 4.14). `None` if the system cannot wipe pages.
pub(crate) fn wipe_on_fork_word() -> Option<&'static AtomicU64> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: a new private mapping is zeroed, aligned for any integer, and never unmapped, so the reference stays
    // valid for as long as the process lives. madvise(2) changes only the new mapping. The call with the unknown advice
    // -1 detects versions of QEMU that accept every advice and follow none.
    unsafe {
        const NO_ADVICE: i32 = -1;
        let size = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).ok()?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        if libc::madvise(page, size, NO_ADVICE) == 0 || libc::madvise(page, size, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, size);
            return None;
        }
        Some(&*page.cast::<AtomicU64>())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    None
}

/// Handlers that run before and after each fork(2) of the process, on the thread that calls fork(2).
pub(crate) trait ForkHandler {
    fn before_fork();
    fn in_parent();
    fn in_child();
}

/// Installs a fork handler for the lifetime of the process, because the library is never unloaded (`-z nodelete`).
/// Returns false if memory runs out.
pub(crate) fn at_fork<H: ForkHandler>() -> bool {
    extern "C" fn before_fork<H: ForkHandler>() {
        H::before_fork();
    }
    extern "C" fn in_parent<H: ForkHandler>() {
        H::in_parent();
    }
    extern "C" fn in_child<H: ForkHandler>() {
        H::in_child();
    }
    // SAFETY: the three functions live as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork::<H>), Some(in_parent::<H>), Some(in_child::<H>)) == 0 }
}

#[cfg(test)]
pub(crate) fn is_signal_blocked(signal: i32) -> bool {
    // SAFETY: the signal set is written before it is read.
    unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
        libc::sigismember(&mask, signal) == 1
    }
}
