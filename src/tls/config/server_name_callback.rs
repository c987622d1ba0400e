//! The callback that chooses a server's context by the server name (SNI) that the client sends.

use std::any::Any;
use std::ffi::CStr;
use std::sync::Arc;

use crate::error::Result;

/// The callback's decision about a client, whether or not that client has sent a server name.
pub enum Choice {
    /// Continue the handshake with the context that the session was created with.
    Stay,
    /// Continue the handshake with this `Arc<Context>`. `dyn Any` avoids a cycle of types: a context holds the options,
    /// and the options hold this callback.
    Use(Arc<dyn Any + Send + Sync>),
    /// End the handshake with the alert unrecognized_name.
    Refuse,
}

pub type ServerNameCallback = Arc<dyn Fn(Option<&CStr>) -> Result<Choice> + Send + Sync>;
