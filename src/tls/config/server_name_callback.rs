//! The callback by which a server chooses a context for the name that a client asks for.

use std::any::Any;
use std::ffi::CStr;
use std::sync::Arc;

use crate::error::Result;

/// The decision about a client that asks for a name, or for none.
pub enum Choice {
    /// Continue with the context that the session was made with.
    Stay,
    /// Continue with this context: an `Arc<Context>`. Its type is opaque here, because a context holds the options that
    /// hold this callback.
    Use(Arc<dyn Any + Send + Sync>),
    /// End the handshake with the alert unrecognized_name.
    Refuse,
}

pub type ServerNameCallback = Arc<dyn Fn(Option<&CStr>) -> Result<Choice> + Send + Sync>;
