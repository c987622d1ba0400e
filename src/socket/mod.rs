//! Sockets: resolving, connecting, waiting.

mod attempt;
pub(crate) mod connect;
mod dropped;
mod resolve;
pub(crate) mod sys;
pub(crate) mod wait;

pub(crate) use dropped::is_connection_dropped;
pub(crate) use resolve::allowed_gai_family;
