//! Implements TLS sessions without I/O: the engine, the interface to rustls, record buffers, and the store of resumable
//! sessions.

pub(crate) mod diagnose;
pub(crate) mod suites;

mod early_data_limit;
mod engine;
mod hkdf;
mod negotiated;
mod peer_request;
mod pool;
mod record;
mod sealing;
mod store;

pub(crate) use diagnose::Restrictions;
pub(crate) use early_data_limit::{EarlyDataLimits, LimitRecorder};
pub use engine::early_data::EarlyData;
pub use engine::memory::MemoryEngine;
pub(crate) use engine::{Engine, Read};
pub use negotiated::{Negotiated, SessionInfo};
pub(crate) use peer_request::{IdentityResolver, PeerRequests};
pub(crate) use pool::{BUFFER_SIZE, Pool, RecordBuffer, copy_into};
pub(crate) use record::{RECORD_SIZE, WRITE_SIZE};
pub use store::SavedSession;
pub(crate) use store::{Sessions, Store};
