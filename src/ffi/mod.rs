//! The C ABI. The machinery is here; `api` holds one file per section of the header, and no logic:
//! each function checks its arguments, converts them, calls the core and stores the result.
//!
//! Every pointer arrives under the contract that netlib.h states for it. The machinery turns it into a Rust
//! reference or an error that names the parameter, so that the files under `api` hold no pointer arithmetic.
#![allow(unsafe_code)]

pub mod api;
pub mod enums;
mod args;
mod body_callbacks;
mod callback;
mod callback_context;
mod guard;
mod handle;
mod options;
mod out;
mod slices;
mod strings;
mod tls_callbacks;
mod uncanceled;

pub(crate) use handle::{Counted, Handle, Shared, Unique};
pub(crate) use options::Options;
