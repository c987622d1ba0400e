//! The settings of a TLS context: options, versions, cipher suites, groups, the key log and Encrypted Client Hello.

pub mod options;
pub mod python_names;

pub(crate) mod ciphers;
pub(crate) mod code_points;
pub(crate) mod ech;
pub(crate) mod groups;
pub(crate) mod keylog;
pub(crate) mod server_name_callback;

pub(crate) use code_points::Version;
pub use ech::EchStatus;
pub(crate) use keylog::KeylogFile;
pub use options::TlsOptions;
pub(crate) use options::{Offer, VerifyMode};
pub use server_name_callback::{Choice, ServerNameCallback};
