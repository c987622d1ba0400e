//! The settings of a TLS context: options, versions, cipher suites, groups, the key log and Encrypted Client Hello.

pub mod options;
pub mod python_names;

pub(crate) mod ciphers;
pub(crate) mod code_points;
pub(crate) mod ech;
pub(crate) mod groups;
pub(crate) mod keylog;
pub(crate) mod server_name_callback;
