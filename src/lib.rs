//! netlib: the parts of an HTTP client that are hard to get right, usable on their own, from C, C++ and any language
//! with a C FFI.
//!
//! The modules are declared in the order of the sections of netlib.h. The module [`ffi`] implements the C ABI; no other
//! module depends on it. Unsafe code is denied, except in the files that tests/contract/suites/unsafe_code.rs lists.
#![deny(unsafe_code)]

#[cfg(not(unix))]
compile_error!("netlib supports Unix systems only, such as Linux, macOS and FreeBSD; Windows is not supported.");

pub mod callback;
mod digest;
pub mod error;
mod fork;
mod http_date;
pub mod limit;
mod memory;
mod name_set;
mod parse_cost;
pub mod status;

pub mod url;

pub mod timeout;

mod overload;

pub mod retry;

pub mod headers;

pub mod request;

pub mod response;

pub mod body;

pub mod socket;

pub mod stream;

pub mod tls;

pub mod connection_key;

pub mod ffi;

#[cfg(test)]
mod tests;
