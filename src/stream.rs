//! Reads and writes over a descriptor, over callbacks, or through another stream, with or without TLS.
//!
//! A [`Stream`] is a [`PlainStream`] or a [`TlsStream`]. Both have the same parts:
//! - `transport`: moves bytes and waits for them, within the time that a `wait_policy` allows.
//! - `state`: the settings, and the thread that currently reads, writes, sends or performs the handshake (its roles).
//! - `call`: one public call, which holds the lock between I/O operations.
//! - `exchange`, `minimum_throughput`, `shutdown`, `probe`, `read`, `rest_of_body`, `write`: the parts of calls that
//!   plain streams and TLS streams share.
//! - `last_response`: how much of the last response has been read.
//! - `unread`: received application data that no read has returned yet.

mod call;
mod callbacks;
mod connect_url;
mod exchange;
mod fault;
mod last_response;
mod minimum_throughput;
mod outer;
mod pieces;
mod plain;
mod probe;
mod read;
mod rest_of_body;
mod shutdown;
mod state;
mod tls;
mod transport;
mod unread;
mod wait_policy;
mod write;

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::response::BodyDecoder;
use crate::socket::throughput::Throughput;
use crate::status::Status;
use crate::timeout::{self, Timeout};
use crate::tls::config::EchStatus;
use crate::tls::{Context, EarlyData, Io, Negotiated, SavedSession, SessionInfo, TlsOptions};

pub use callbacks::Callbacks;
pub use plain::PlainStream;
pub use read::ResponseRead;
pub use rest_of_body::BodyRead;
pub use tls::TlsStream;
pub use transport::Transport;
pub use unread::Heads;

/// A stream. One thread may read while another thread writes. A stream that uses this stream as its transport holds a
/// reference of its own to this stream.
pub enum Stream {
    Plain(Arc<PlainStream>),
    Tls(Arc<TlsStream>),
}

/// Calls a method that both kinds of stream have.
macro_rules! on_each {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self {
            Stream::Plain($stream) => $call,
            Stream::Tls($stream) => $call,
        }
    };
}

impl Stream {
    /// Creates a plain stream on a descriptor. Performs no I/O.
    pub fn plain_on_descriptor(fd: RawFd) -> Result<Stream> {
        Ok(Stream::Plain(Arc::new(PlainStream::descriptor(fd)?)))
    }

    /// Creates a plain stream on callbacks. Calls no callback.
    pub fn plain_on_callbacks(callbacks: Callbacks) -> Stream {
        Stream::Plain(Arc::new(PlainStream::callbacks(callbacks)))
    }

    /// Creates a client's TLS stream on a descriptor. Performs no I/O.
    pub fn client(context: &Arc<Context>, fd: RawFd, server_hostname: Option<&str>) -> Result<Stream> {
        Stream::client_over(context, Transport::descriptor(fd)?, server_hostname)
    }

    /// Creates a server's TLS stream on a descriptor. Performs no I/O.
    pub fn server(context: &Arc<Context>, fd: RawFd) -> Result<Stream> {
        Stream::server_over(context, Transport::descriptor(fd)?)
    }

    pub fn client_over(
        context: &Arc<Context>,
        transport: Transport,
        server_hostname: Option<&str>,
    ) -> Result<Stream> {
        Ok(Stream::Tls(Arc::new(TlsStream::client_over(context, transport, server_hostname)?)))
    }

    pub fn server_over(context: &Arc<Context>, transport: Transport) -> Result<Stream> {
        Ok(Stream::Tls(Arc::new(TlsStream::server_over(context, transport)?)))
    }

    /// Creates a client's TLS stream and performs the handshake.
    pub fn connected(
        options: &TlsOptions,
        context: Option<&Arc<Context>>,
        fd: RawFd,
        server_hostname: Option<&str>,
        limit: Option<Arc<Limit>>,
    ) -> Result<Stream> {
        Ok(Stream::Tls(Arc::new(TlsStream::connected(options, context, fd, server_hostname, limit)?)))
    }

    /// Makes this stream the transport of another stream. The application's calls on this stream fail with
    /// `NETLIB_BUSY` until the transport is dropped.
    pub fn to_transport(&self) -> Result<Transport> {
        match self {
            Stream::Plain(stream) => outer::over_plain(Arc::clone(stream)),
            Stream::Tls(stream) => outer::over_tls(Arc::clone(stream)),
        }
    }

    pub fn set_limit(&self, limit: Option<Arc<Limit>>) -> Result<()> {
        on_each!(self, stream => stream.core.set_limit(limit))
    }

    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        on_each!(self, stream => stream.core.set_read_timeout(timeout))
    }

    /// Copies the read timeout and the rest of the total timeout. Fails if there is a total timeout whose clock is not
    /// running.
    pub fn use_timeout(&self, timeout: &Timeout) -> Result<()> {
        let read = timeout::resolve(timeout.read(), "read")?;
        let total_deadline = timeout.total_deadline()?;
        self.set_timeouts(read, total_deadline)
    }

    fn set_timeouts(&self, read: Option<Duration>, total_deadline: Option<Instant>) -> Result<()> {
        on_each!(self, stream => stream.core.set_timeouts(read, total_deadline))
    }

    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        on_each!(self, stream => stream.core.set_write_timeout(timeout))
    }

    pub fn set_minimum_throughput(&self, throughput: Throughput) -> Result<()> {
        on_each!(self, stream => stream.core.set_minimum_throughput(throughput))
    }

    pub fn set_blocking(&self, blocking: bool) -> Result<()> {
        on_each!(self, stream => stream.core.set_blocking(blocking))
    }

    /// Performs the handshake, unless it is done. A plain stream has no handshake.
    pub fn handshake(&self) -> Result<Io> {
        on_each!(self, stream => stream.handshake())
    }

    /// Reads at least one byte, and as many as are available and fit.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Io> {
        on_each!(self, stream => stream.read(buffer))
    }

    /// Reads the head of a response. The bytes that follow the head stay unread.
    pub fn read_response(&self, request_method: &str, heads: Heads) -> Result<ResponseRead> {
        on_each!(self, stream => stream.core.read_response(request_method, heads))
    }

    /// Reads bytes of a response's body, at least one unless `buffer` is empty; `Io::End` after the end of the body.
    /// The bytes that follow the body stay unread.
    pub fn read_body(&self, decoder: &mut BodyDecoder, buffer: &mut [u8]) -> Result<Io> {
        on_each!(self, stream => stream.core.read_body(decoder, buffer))
    }

    /// Reads the rest of a response's body, which may have at most `max_size` bytes. A call that could not finish keeps
    /// the bytes that have arrived in `decoder`.
    pub fn read_whole_body(&self, decoder: &mut BodyDecoder, max_size: u64) -> Result<BodyRead> {
        on_each!(self, stream => stream.core.read_whole_body(decoder, max_size))
    }

    /// Reads and discards the rest of a response's body, which may have at most `max_size` bytes, in at most `seconds`.
    pub fn discard_body(&self, decoder: &mut BodyDecoder, max_size: u64, seconds: f64) -> Result<Io> {
        on_each!(self, stream => stream.core.discard_body(decoder, max_size, seconds))
    }

    /// Writes data of one piece, like [`Stream::write_pieces`].
    pub fn write(&self, data: &[u8]) -> Result<Io> {
        self.write_pieces(&[data])
    }

    /// Writes all of `pieces` if the stream is blocking, otherwise as much as can be sent. Bytes that are not reported
    /// as written must be passed again in the next call. The sum of the lengths of all pieces must fit in a `usize`.
    pub fn write_pieces(&self, pieces: &[&[u8]]) -> Result<Io> {
        on_each!(self, stream => stream.write_pieces(pieces))
    }

    /// Returns the descriptor that carries the bytes; `None` if callbacks carry them.
    pub fn descriptor(&self) -> Option<RawFd> {
        on_each!(self, stream => stream.core.transport.fd())
    }

    /// Returns the number of bytes that a read returns without using the transport.
    pub fn pending(&self) -> usize {
        on_each!(self, stream => stream.pending())
    }

    /// Returns the status that a read would return, or the reason why nothing can be written. `WantRead` means that the
    /// stream is idle and usable. The probe never waits, and leaves application data to the next read.
    pub fn probe(&self) -> Result<Status> {
        on_each!(self, stream => stream.probe())
    }

    /// Shuts down the sending direction. Does not wait for the end of the peer's data.
    pub fn shutdown(&self) -> Result<Io> {
        on_each!(self, stream => stream.shutdown())
    }

    /// Shuts down the sending direction, and waits for the end of the peer's data.
    pub fn shutdown_both(&self) -> Result<Io> {
        on_each!(self, stream => stream.shutdown_both())
    }
}

/// The functions that concern TLS. On a plain stream, each getter returns the value that stands for "none", for example
/// 0 or `NotSent`.
impl Stream {
    fn tls(&self) -> Option<&TlsStream> {
        match self {
            Stream::Plain(_) => None,
            Stream::Tls(stream) => Some(stream),
        }
    }

    /// Writes as much early data as may be sent before the server answers.
    pub fn write_early(&self, data: &[u8]) -> Result<Io> {
        match self {
            Stream::Plain(stream) => stream.write_early(),
            Stream::Tls(stream) => stream.write_early(data),
        }
    }

    pub fn early_data(&self) -> EarlyData {
        self.tls().map_or(EarlyData::NotSent, TlsStream::early_data)
    }

    /// Returns the number of bytes of early data that may still be written.
    pub fn early_data_left(&self) -> usize {
        self.tls().map_or(0, TlsStream::early_data_left)
    }

    pub fn early_data_written(&self) -> usize {
        self.tls().map_or(0, TlsStream::early_data_written)
    }

    pub fn take_session(&self) -> Result<Option<SavedSession>> {
        self.tls().map_or(Ok(None), TlsStream::take_session)
    }

    pub fn set_session(&self, session: Option<&Arc<SavedSession>>) -> Result<()> {
        let refused = || Error::new(Status::Unsupported, "this is a plain stream, which has no TLS session");
        self.tls().ok_or_else(refused)?.set_session(session)
    }

    /// Returns the negotiated parameters; `None` before the handshake is done.
    pub fn negotiated(&self) -> Option<Negotiated> {
        self.tls()?.negotiated()
    }

    /// Returns the negotiated parameters that callers borrow, such as names and certificates.
    pub fn session(&self) -> Option<&SessionInfo> {
        self.tls()?.session()
    }

    pub fn ech_status(&self) -> EchStatus {
        self.tls().map_or(EchStatus::NotOffered, TlsStream::ech_status)
    }
}
