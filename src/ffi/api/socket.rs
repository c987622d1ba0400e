//! Connecting, and waiting for descriptors.
