//! Builds rustls-ffi as a shared library. The crate rustls-ffi itself only builds a static library; this crate exports
//! the `extern "C"` functions of rustls-ffi.

pub use rustls_ffi::*;
