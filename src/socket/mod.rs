//! Sockets: resolving, connecting, waiting.

pub(crate) mod address;
mod attempt;
pub(crate) mod connect;
mod dropped;
pub(crate) mod endpoint;
pub(crate) mod options;
pub(crate) mod policy;
mod lookup_queue;
mod query;
pub(crate) mod race;
mod resolve;
pub(crate) mod sockaddr;
pub(crate) mod sys;
mod tcp;
pub(crate) mod throughput;
pub(crate) mod wait;

pub(crate) use dropped::is_connection_dropped;
pub(crate) use query::Resolve;
pub(crate) use resolve::allowed_gai_family;
