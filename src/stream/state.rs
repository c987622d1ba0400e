//! Holds the parts of a stream that are the same for each protocol: the transport, the lock, the settings, and the
//! roles of the threads that are in a call.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::call::Call;
use super::last_response::LastResponse;
use super::pieces::Pieces;
use super::transport::Transport;
use super::unread::Unread;
use super::wait_policy::{DEFAULT_SETTINGS, Settings, WaitPolicy};
use crate::error::{Error, Result};
use crate::fork::Process;
use crate::limit::Limit;
use crate::socket::throughput::Throughput;
use crate::status::Status;
use crate::tls::{Io, ThreadId};

/// The protocol that turns the application's data into the bytes on the transport: [`Plain`](super::plain::Plain)
/// passes the data on unchanged, and [`Tls`](super::tls::Tls) encrypts and decrypts it. The functions of the trait
/// return the facts that errors depend on, and record failures.
pub(super) trait Protocol {
    /// Returns the name of the peer for error messages.
    fn peer(&self) -> String;

    /// Returns " during the TLS handshake" during the handshake, otherwise "".
    fn during(&self) -> &'static str;

    /// Returns the status of a connection that the peer or the network has ended.
    fn disconnect_status(&self) -> Status;

    /// Fails if no data can be written.
    fn check_sending(&self) -> Result<()>;

    fn has_failed(&self) -> bool;

    /// Records that the stream has failed. Returns the first failure.
    fn fail(&mut self, failure: Error) -> Error;

    /// Records that sending has failed. Received data can still be read. Returns the first failure of sending.
    fn fail_sending(&mut self, failure: Error) -> Error;

    /// Sets the retry kind of an error before the error is returned to the application.
    fn classify(&self, error: Error) -> Error;

    /// Reads application data from the transport, at least one byte and as many as are available and fit.
    fn read(call: &mut Call<'_, Self>, buffer: &mut [u8], policy: WaitPolicy<'_>) -> Result<Io>
    where
        Self: Sized;

    /// Writes application data in the writer role, which the call already holds.
    fn write(call: &mut Call<'_, Self>, data: Pieces<'_>, policy: WaitPolicy<'_>) -> Result<Io>
    where
        Self: Sized;

    /// Returns the status that a read would return, without waiting, and leaves application data to the next read. The
    /// call holds the reader role.
    fn peek(call: &mut Call<'_, Self>) -> Result<Status>
    where
        Self: Sized;
}

pub(super) struct Core<P> {
    /// The process that created the stream. A forked child must not use the stream's keys or wait for its lock.
    process: Process,
    pub(super) transport: Transport,
    state: Mutex<State<P>>,
    /// The condition variable that is notified when a role is released.
    pub(super) changed: Condvar,
}

/// What a call does with the stream: it reads, writes, performs the handshake, or sends queued records. A call may hold
/// several roles, and at most one call at a time holds each role. Another call that needs the reader or the writer role
/// fails with `NETLIB_BUSY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reader = 0,
    Writer = 1,
    Handshaker = 2,
    Sender = 3,
}

impl Role {
    pub(super) const COUNT: usize = 4;
}

pub(super) struct State<P> {
    pub(super) protocol: P,
    pub(super) settings: Settings,
    /// The minimum throughput of the application's reads.
    pub(super) throughput: Option<Box<Throughput>>,
    /// Received application data that no read has returned yet, for example the bytes after a response head. Every read
    /// returns these bytes first.
    pub(super) unread: Unread,
    pub(super) last_response: LastResponse,
    /// The thread that holds each [`Role`].
    pub(super) roles: [Option<ThreadId>; Role::COUNT],
    /// A failed write holds the reader role while it looks for a response. It does not wait, so a reader waits for it.
    pub(super) is_writer_looking: bool,
    /// Another stream uses this stream as its transport.
    pub(super) has_inner_stream: bool,
    /// The number of threads that wait for a role.
    pub(super) waiters: usize,
    /// The last receive operation left no input, so the next one probably has to wait.
    pub(super) drained: bool,
    /// A recv(2) that should block returned EAGAIN, so the descriptor has O_NONBLOCK.
    pub(super) nonblocking: bool,
    /// The number of bytes that the stream has accepted but not reported as written. The writer passes these bytes
    /// again in its next call.
    pub(super) unreported: usize,
    /// The number of bytes discarded while waiting for the end of the peer's data.
    pub(super) discarded: usize,
}

impl<P> State<P> {
    pub(super) fn is_held(&self, role: Role) -> bool {
        self.roles[role as usize].is_some()
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.roles.iter().any(Option::is_some)
    }

    /// Fails if another stream uses this stream as its transport, or if the call comes from a callback of this stream.
    #[inline(always)]
    pub(super) fn check_reentry(&self) -> Result<()> {
        self.check_no_inner_stream()?;
        if self.is_in_use() && self.roles.contains(&Some(ThreadId::current())) {
            let message =
                "this thread is already in a call of this stream: a callback must not use the stream that calls it";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }

    /// Fails if `data` is shorter than the bytes that the previous write accepted but did not report as written,
    /// because the caller must pass these bytes again.
    pub(super) fn check_repeats(&self, data: Pieces<'_>) -> Result<()> {
        let (unreported, len) = (self.unreported, data.len());
        if len < unreported {
            let message = format!(
                "this write must repeat the bytes that the previous write did not report as written: at least \
                 {unreported} bytes, not {len}"
            );
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(())
    }

    fn check_no_inner_stream(&self) -> Result<()> {
        if self.has_inner_stream {
            let message = "another stream uses this one as its transport: use that stream, or free it first";
            return Err(Error::new(Status::Busy, message));
        }
        Ok(())
    }
}

impl<P: Protocol> Core<P> {
    pub(super) fn new(protocol: P, transport: Transport) -> Core<P> {
        let settings = transport.outer_settings().unwrap_or_else(|| DEFAULT_SETTINGS.clone());
        Core {
            process: Process::current(),
            transport,
            state: Mutex::new(State {
                protocol,
                settings,
                throughput: None,
                unread: Unread::default(),
                last_response: LastResponse::default(),
                roles: [None; Role::COUNT],
                is_writer_looking: false,
                has_inner_stream: false,
                waiters: 0,
                drained: true,
                nonblocking: false,
                unreported: 0,
                discarded: 0,
            }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn set_limit(&self, limit: Option<Arc<Limit>>) -> Result<()> {
        let previous = std::mem::replace(&mut self.lock()?.settings.limit, limit);
        // Releases the lock first, because the last reference to the previous limit may run `ctx_free`.
        drop(previous);
        Ok(())
    }

    pub(super) fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.lock()?.settings.read_timeout = timeout;
        Ok(())
    }

    /// Sets the read timeout, and the time at which the total timeout passes.
    pub(super) fn set_timeouts(&self, read: Option<Duration>, total_deadline: Option<Instant>) -> Result<()> {
        let mut state = self.lock()?;
        state.settings.read_timeout = read;
        state.settings.total_deadline = total_deadline;
        Ok(())
    }

    pub(super) fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.lock()?.settings.write_timeout = timeout;
        Ok(())
    }

    pub(super) fn set_blocking(&self, blocking: bool) -> Result<()> {
        self.lock()?.settings.blocking = blocking;
        Ok(())
    }

    /// Returns the settings with which an inner stream begins: the limit and the timeouts of this stream, and blocking
    /// calls.
    pub(super) fn settings_for_inner_stream(&self) -> Option<Settings> {
        Some(Settings { blocking: true, ..self.lock().ok()?.settings.clone() })
    }

    /// Makes this stream the transport of another stream. The application's calls on this stream fail with
    /// `NETLIB_BUSY` until [`Core::return_from_inner_stream`].
    pub(super) fn lend_to_inner_stream(&self) -> Result<()> {
        let mut state = self.lock()?;
        state.check_no_inner_stream()?;
        if state.is_in_use() {
            return Err(Error::new(Status::Busy, "another call is using the outer stream"));
        }
        if state.unreported > 0 {
            let message = format!("a write of {} bytes to the outer stream is not finished", state.unreported);
            return Err(Error::new(Status::Busy, message));
        }
        if !state.unread.is_empty() {
            let message = format!(
                "the outer stream has {} unread bytes, which the peer sent before the TLS handshake",
                state.unread.len()
            );
            return Err(Error::new(Status::TlsProtocol, message));
        }
        state.protocol.check_sending()?;
        state.has_inner_stream = true;
        // The inner stream reads bytes that are not recorded here.
        state.last_response = LastResponse::Unknown;
        Ok(())
    }

    pub(super) fn return_from_inner_stream(&self) {
        if let Ok(mut state) = self.lock() {
            state.has_inner_stream = false;
            // The unreported bytes are records of the inner stream. These records are still sent, and no caller
            // passes them again.
            state.unreported = 0;
        }
    }

    /// Runs a public call and sets the retry kind of its error from the state of this stream. A stream that uses this
    /// stream as its transport calls the functions of `outer` instead: they do not set the retry kind, because it
    /// depends only on the application data of the calling stream.
    #[inline(always)]
    pub(super) fn classified<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        act().map_err(|error| self.classify(error))
    }

    #[cold]
    fn classify(&self, error: Error) -> Error {
        match self.lock() {
            Ok(state) => state.protocol.classify(error),
            Err(_) => error.after_request_was_sent(),
        }
    }
}

impl<P> Core<P> {
    #[inline(always)]
    pub(super) fn lock(&self) -> Result<MutexGuard<'_, State<P>>> {
        self.process.check_owner("stream")?;
        self.state.lock().map_err(|_| poisoned())
    }

    /// Returns whether no thread holds the lock.
    #[cfg(test)]
    pub(super) fn is_unlocked(&self) -> bool {
        self.state.try_lock().is_ok()
    }
}

#[cold]
pub(super) fn poisoned() -> Error {
    Error::new(Status::Internal, "an earlier error inside netlib has left this stream unusable")
}
