//! Sockets: resolving, connecting, waiting.

pub(crate) mod sys;
