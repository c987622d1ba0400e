//! How many bytes are looked at, counted per thread in debug builds: a test can then say that the work is linear
//! without a clock.

#[cfg(debug_assertions)]
thread_local! {
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// So many bytes were looked at once more.
#[inline]
pub(super) fn visit(bytes: usize) {
    #[cfg(debug_assertions)]
    VISITS.with(|visits| visits.set(visits.get().saturating_add(bytes)));
    #[cfg(not(debug_assertions))]
    let _ = bytes;
}

/// What `run` looks at.
#[cfg(all(test, debug_assertions))]
pub(super) fn count(run: impl FnOnce()) -> usize {
    VISITS.with(|visits| visits.set(0));
    run();
    VISITS.with(std::cell::Cell::get)
}
