//! Resolves names, connects sockets, and waits for descriptors.

pub(crate) mod address_class;
pub(crate) mod address_policy;
mod attempt;
pub(crate) mod connect;
pub(crate) mod connect_options;
mod dropped;
pub(crate) mod endpoint;
mod host_port;
mod lookup_queue;
pub(crate) mod scheduler;
mod resolver;
pub(crate) mod sockaddr;
pub(crate) mod sys;
mod tcp_options;
pub(crate) mod throughput;
pub(crate) mod wait;

pub(crate) use dropped::is_connection_dropped;
pub(crate) use host_port::ResolveCallback;
pub(crate) use resolver::allowed_gai_family;
