//! Request headers, ready for the wire.
