//! Counts the bytes that parsers examine, separately for each thread, because tests run in parallel.

use std::cell::Cell;

thread_local! {
    static EXAMINED: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn add(bytes: usize) {
    EXAMINED.set(EXAMINED.get().saturating_add(bytes));
}

/// Returns how many bytes `parse` examines.
pub(crate) fn measure(parse: impl FnOnce()) -> usize {
    EXAMINED.set(0);
    parse();
    EXAMINED.get()
}
