//! Counts the bytes that parsers look at, per thread and in debug builds only: a test can then show without a clock that
//! the work is linear.

#[cfg(debug_assertions)]
thread_local! {
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts `bytes` that are looked at once more.
#[inline]
pub(crate) fn visit(bytes: usize) {
    #[cfg(debug_assertions)]
    VISITS.with(|visits| visits.set(visits.get().saturating_add(bytes)));
    #[cfg(not(debug_assertions))]
    let _ = bytes;
}

/// How many bytes `run` looks at.
#[cfg(all(test, debug_assertions))]
pub(crate) fn count(run: impl FnOnce()) -> usize {
    VISITS.with(|visits| visits.set(0));
    run();
    VISITS.with(std::cell::Cell::get)
}
