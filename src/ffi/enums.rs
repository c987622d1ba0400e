//! The types of parameters and results that are values of C enums. `enum_netlib_x` in Rust becomes `enum netlib_x` in
//! netlib.h, so that C compilers warn about a value of another enum. In Rust the type is a plain number, because C may
//! pass any number, and each function checks the number.
//!
//! `tests/contract/header.rs` renames the types when it generates the header. Bit masks and `netlib_status` are
//! integers both in Rust and in netlib.h.
#![allow(non_camel_case_types)]

pub type enum_netlib_action = i32;
pub type enum_netlib_address_family = i32;
pub type enum_netlib_body_framing = i32;
pub type enum_netlib_budget_kind = i32;
pub type enum_netlib_budget_preset = i32;
pub type enum_netlib_certificate_name_kind = i32;
pub type enum_netlib_certificate_problem = i32;
pub type enum_netlib_circuit_state = i32;
pub type enum_netlib_class = i32;
pub type enum_netlib_counter = i32;
pub type enum_netlib_delay_reason = i32;
pub type enum_netlib_distinguished_name = i32;
pub type enum_netlib_early_data_status = i32;
pub type enum_netlib_ech_status = i32;
pub type enum_netlib_header_defect = i32;
pub type enum_netlib_hedge_action = i32;
pub type enum_netlib_hedge_event = i32;
pub type enum_netlib_interrupt = i32;
pub type enum_netlib_jitter_kind = i32;
pub type enum_netlib_outcome = i32;
pub type enum_netlib_long_retry_after = i32;
pub type enum_netlib_purpose = i32;
pub type enum_netlib_pushback = i32;
pub type enum_netlib_query_format = i32;
pub type enum_netlib_redirect_profile = i32;
pub type enum_netlib_report = i32;
pub type enum_netlib_request_form = i32;
pub type enum_netlib_retry_kind = i32;
pub type enum_netlib_rewind_problem = i32;
pub type enum_netlib_ssl_version = i32;
pub type enum_netlib_swap = i32;
pub type enum_netlib_timeout_kind = i32;
pub type enum_netlib_tls_version = i32;
pub type enum_netlib_trust_kind = i32;
pub type enum_netlib_unavailable = i32;
pub type enum_netlib_url_component = i32;
pub type enum_netlib_url_reader = i32;
pub type enum_netlib_verdict = i32;
pub type enum_netlib_verify_mode = i32;
