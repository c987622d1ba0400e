//! Sockets: resolving, connecting, waiting.

pub(crate) mod sys;
pub(crate) mod wait;
