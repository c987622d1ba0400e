//! Request headers.
