//! Counts the bytes that parsers visit, per thread and in debug builds only: a test can then show without a clock that
//! the work is linear.

#[cfg(debug_assertions)]
thread_local! {
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds `bytes` visited bytes.
#[inline]
pub(crate) fn visit(bytes: usize) {
    #[cfg(debug_assertions)]
    VISITS.with(|visits| visits.set(visits.get().saturating_add(bytes)));
    #[cfg(not(debug_assertions))]
    let _ = bytes;
}

/// Returns how many bytes `run` visits.
#[cfg(all(test, debug_assertions))]
pub(crate) fn count(run: impl FnOnce()) -> usize {
    VISITS.with(|visits| visits.set(0));
    run();
    VISITS.with(std::cell::Cell::get)
}
