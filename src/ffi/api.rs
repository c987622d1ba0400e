//! The exported functions, one module per section of netlib.h. The order of the `pub mod` lines, here and in the
//! modules of the sections, is the order of the header.
//!
//! The functions are `unsafe extern "C"`. The header documents the safety contract of each function.
#![allow(non_camel_case_types, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

pub mod basics;
pub mod limit;
pub mod url;
pub mod timeout;
pub mod retry;
pub mod overload;
pub mod headers;
pub mod request;
pub mod response;
pub mod body;
pub mod socket;
pub mod stream;
pub mod tls;
pub mod compatibility;
#[cfg(feature = "self-test")]
mod self_test;
