//! For programs ported from urllib3, Python's ssl or OpenSSL. New programs do not need this section.

pub mod urllib3;
pub mod python_ssl;
pub mod openssl;
pub mod old_names;
