//! TLS contexts and streams.
//!
//! Making a [`Context`] reads everything that is read (files, the system's store, the environment) and builds one
//! configuration that all its streams share. Of a session there are three layers, each knowing only the one below:
//! [`record`] (rustls: records in, plaintext and records out), [`engine`] (a session over buffers, without I/O) and
//! [`stream`] (an engine on a transport, which is a descriptor, another stream, or functions of the program: waiting,
//! limits, threads).

pub mod certificate;
pub mod context;
pub mod crl;
pub mod engine;
pub mod fingerprint;
pub mod info;
pub mod options;
pub mod resolve;
pub mod sessions;
pub mod stream;

mod anchors;
mod asked;
mod chain;
mod ciphers;
mod diagnose;
mod early;
mod groups;
pub(crate) mod ech;
mod hkdf;
mod identity;
mod key;
mod keylog;
mod names;
mod pem;
mod pins;
mod pkcs12;
mod pool;
mod record;
mod sealing;
mod server_name;
mod suites;
mod thread;
pub(crate) mod trust;
mod verify;
mod wording;
mod x509;

pub use certificate::Certificate;
pub use context::Context;
pub use ech::EchStatus;
pub use engine::early::EarlyData;
pub use engine::greeting::{Choice, ServerNameCallback};
pub use engine::memory::MemoryEngine;
pub use info::{Agreed, SessionInfo};
pub use options::TlsOptions;
pub use sessions::SavedSession;
pub use stream::{Callbacks, Io, Stream, Transport};
