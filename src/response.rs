//! Response heads.
