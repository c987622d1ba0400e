//! Implements TLS contexts and sessions.
//!
//! A [`Context`] reads files, the system's certificate store and the environment when it is created, and holds the
//! configuration that its streams share. A TLS session has three layers, each of which uses only the layer below:
//!
//! - `crate::stream::tls`: runs a session on a transport (a descriptor, another stream, or callbacks), with waiting,
//!   limits and locks.
//! - `session::engine`: runs a session over buffers, without network I/O.
//! - `session::record`: calls rustls, which turns received records into plaintext and plaintext into records.
//!
//! [`config`] holds the settings, [`credentials`] loads the caller's certificates and keys, [`x509`] parses
//! certificates, and [`verify`] verifies the peer's chain.

pub mod config;
pub mod context;
pub mod session;
pub mod verify;
pub mod x509;

mod credentials;
mod error_text;
mod io;
mod per_thread;

pub use config::{Choice, EchStatus, ServerNameCallback, TlsOptions};
pub use context::Context;
pub use io::Io;
pub(crate) use per_thread::ThreadId;
pub use session::{EarlyData, MemoryEngine, Negotiated, SavedSession, SessionInfo};
pub use x509::certificate_text::Certificate;
