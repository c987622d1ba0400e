//! Connects to the server of a URL.

use std::ffi::CStr;
use std::sync::Arc;
use std::time::Instant;

use super::Stream;
use super::plain::PlainStream;
use super::transport::Transport;
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::connect::Connect;
use crate::socket::connect_options::ConnectOptions;
use crate::status::Status;
use crate::timeout;
use crate::tls::Context;
use crate::url::Url;

impl Stream {
    /// Connects to the host and port of a URL. If the scheme is https, makes a TLS stream and performs the handshake.
    /// The stream owns its descriptor. `limit`, the read timeout and the total timeout also apply to later calls on the
    /// stream.
    pub fn connect(
        url: &Url,
        context: Option<&Arc<Context>>,
        options: Arc<ConnectOptions>,
        limit: Option<Arc<Limit>>,
    ) -> Result<Stream> {
        let context = if is_https(url)? { Some(context.ok_or_else(missing_context_error)?) } else { None };
        let (host, port) = host_and_port(url)?;
        let read_timeout = timeout::resolve(options.read_timeout, "read")?;
        let total_deadline = options.total.and_then(|total| total.deadline(Instant::now()));
        let socket = Connect::new(host, port, options)?.run(limit.clone())?;
        let transport = Transport::owned(socket);
        let stream = match context {
            Some(context) => Stream::client_over(context, transport, Some(host))?,
            None => Stream::Plain(Arc::new(PlainStream::new(transport))),
        };
        stream.set_limit(limit)?;
        stream.set_timeouts(read_timeout, total_deadline)?;
        stream.handshake()?;
        Ok(stream)
    }
}

/// The maximum number of bytes of a scheme that an error message quotes.
const MAX_SHOWN: usize = 32;

/// Returns whether the scheme is https. A missing scheme means http, as in [`Url::effective_port`].
fn is_https(url: &Url) -> Result<bool> {
    match url.scheme().map_or(&b"http"[..], CStr::to_bytes) {
        b"https" => Ok(true),
        b"http" => Ok(false),
        other => {
            let scheme = String::from_utf8_lossy(other.get(..MAX_SHOWN).unwrap_or(other));
            let message = format!("url has the scheme {scheme:?}; only http and https are supported");
            Err(Error::new(Status::Unsupported, message))
        }
    }
}

fn missing_context_error() -> Error {
    Error::new(Status::InvalidArgument, "context must not be NULL for a URL with the scheme https")
}

fn host_and_port(url: &Url) -> Result<(&str, u16)> {
    let host = url.host().and_then(|host| host.to_str().ok()).filter(|host| !host.is_empty());
    match (host, url.effective_port()) {
        (Some(host), Some(port)) => Ok((host, port)),
        _ => Err(Error::new(Status::InvalidUrl, "url has no host to connect to")),
    }
}
