//! Counts the bytes that parsers examine, so that a unit test can show without a clock that parsing is linear.

#[cfg(test)]
pub(crate) mod tests;

/// Adds `bytes` to the number of bytes that parsers have examined. Does nothing outside of unit tests.
#[inline]
pub(crate) fn examined(bytes: usize) {
    #[cfg(test)]
    tests::add(bytes);
    #[cfg(not(test))]
    let _ = bytes;
}
