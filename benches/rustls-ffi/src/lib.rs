//! rustls-ffi as a shared library. Its crate makes a static one; its `extern "C"` functions are exported from here.

pub use rustls_ffi::*;
