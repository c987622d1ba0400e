//! Helpers shared by the unit tests of several modules.

pub(crate) mod random;
