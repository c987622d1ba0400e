//! For programs ported from urllib3, Python's ssl or OpenSSL. A new program needs none of this.

pub mod urllib3;
pub mod python_ssl;
pub mod openssl;
pub mod old_names;
