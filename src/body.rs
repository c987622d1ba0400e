//! Bodies that can be moved back.
