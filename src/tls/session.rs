//! TLS sessions without I/O: the engine, the interface to rustls, record buffers, and the store of resumable sessions.

pub mod engine;
pub mod negotiated;
pub mod store;

pub(crate) mod diagnose;
pub(crate) mod early_data_limit;
pub(crate) mod peer_request;
pub(crate) mod pool;
pub(crate) mod record;
pub(crate) mod suites;

mod hkdf;
mod sealing;
