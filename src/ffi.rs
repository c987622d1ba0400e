//! The C ABI. [`api`] has one module per section of the header and contains no logic: each function checks its
//! arguments, converts them, calls the core and stores the result. The other modules of `ffi` contain the code that
//! checks, converts and stores.
//!
//! netlib.h states a contract for every pointer. The macros of `args` and `out` turn a pointer into a Rust reference, or
//! into an error that names the parameter, so that the modules of `api` contain no pointer arithmetic.
#![allow(unsafe_code)]

pub mod api;
mod api_names;
pub mod enums;
mod args;
mod body_callbacks;
mod callback;
mod callback_context;
mod guard;
mod handle;
mod header_fields;
mod options;
mod out;
mod resolve_callback;
mod slices;
mod stream_callbacks;
mod strings;
mod swap_callback;
mod tls_callbacks;

pub(crate) use handle::{Counted, Handle, Shared, Unique};
pub(crate) use options::Options;
