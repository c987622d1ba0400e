//! The exported functions, one module per section of netlib.h. The order of the `pub mod` lines, here and in each
//! section, is that of the header.
//!
//! The functions are `unsafe extern "C"`. Their safety contract is their documentation in the header.
#![allow(non_camel_case_types, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

pub mod basics;
pub mod limit;
pub mod url;
pub mod timeout;
pub mod retry;
pub mod headers;
pub mod response;
pub mod body;
pub mod socket;
pub mod tls;
pub mod compatibility;
#[cfg(feature = "self-test")]
mod self_test;
