//! TLS contexts and streams.
//!
//! A [`Context`] is made once: it reads the files, the system's certificate store and the environment, and holds one
//! configuration that all its streams share. Each session has three layers, and each layer knows only the one below:
//!
//! - [`stream`]: a session on a transport (a descriptor, another stream, or callbacks): waiting, limits, threads.
//! - [`session::engine`]: a session over buffers, without I/O.
//! - [`session::record`]: the interface to rustls: records in, plaintext and records out.
//!
//! [`config`] holds the settings, [`credentials`] the caller's certificates and keys, [`x509`] reads certificates, and
//! [`verify`] judges the peer's.

pub mod config;
pub mod context;
pub mod session;
pub mod stream;
pub mod verify;
pub mod x509;

mod credentials;
mod error_text;
mod io;
mod per_thread;

pub use config::ech::EchStatus;
pub use config::options::TlsOptions;
pub use config::server_name_callback::{Choice, ServerNameCallback};
pub use context::Context;
pub use io::Io;
pub use session::engine::early_data::EarlyData;
pub use session::engine::memory::MemoryEngine;
pub use session::negotiated::{Negotiated, SessionInfo};
pub use session::store::SavedSession;
pub use stream::{Callbacks, Stream, Transport};
pub use x509::certificate_text::Certificate;
