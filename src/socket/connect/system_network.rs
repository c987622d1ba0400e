//! The network of the operating system, which the scheduler uses outside of tests.

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Instant;

use socket2::Socket;

use crate::error::Error;
use crate::socket::attempt::{self, AttemptFailure, Progress, SourceAddresses};
use crate::socket::connect_options::ConnectOptions;
use crate::socket::endpoint::Endpoint;
use crate::socket::scheduler::Network;
use crate::socket::sys::{self, poll_fd};
use crate::status::Status;

/// Opens sockets of the operating system with the options of a connection.
pub(super) struct SystemNetwork {
    options: Arc<ConnectOptions>,
    source: Option<SourceAddresses>,
    /// Whether connect(2) may block the calling thread.
    blocking: bool,
    /// The default of TCP_NODELAY.
    no_delay: bool,
}

impl SystemNetwork {
    pub(super) fn new(
        options: Arc<ConnectOptions>,
        source: Option<SourceAddresses>,
        blocking: bool,
        no_delay: bool,
    ) -> SystemNetwork {
        SystemNetwork { options, source, blocking, no_delay }
    }

    /// Makes the connected socket blocking, because the caller gets a blocking socket.
    fn make_blocking(&self, socket: &Socket) -> Result<(), AttemptFailure> {
        if self.blocking { Ok(()) } else { attempt::make_blocking(socket) }
    }

    fn connected(&self, socket: &Socket, progress: Progress) -> Result<Progress, AttemptFailure> {
        if progress == Progress::Connected {
            self.make_blocking(socket)?;
        }
        Ok(progress)
    }
}

impl Network for SystemNetwork {
    type Socket = Socket;

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn start(&mut self, endpoint: &Endpoint) -> Result<(Socket, Progress), AttemptFailure> {
        let (socket, progress) =
            attempt::start(endpoint, &self.options, self.source.as_ref(), self.blocking, self.no_delay)?;
        let progress = self.connected(&socket, progress)?;
        Ok((socket, progress))
    }

    fn retry(&mut self, socket: &Socket, endpoint: &Endpoint) -> Result<Progress, AttemptFailure> {
        attempt::connect(socket, endpoint).and_then(|progress| self.connected(socket, progress))
    }

    fn result(&mut self, socket: &Socket, endpoint: &Endpoint) -> Option<Result<(), AttemptFailure>> {
        let mut fds = [poll_fd(socket.as_raw_fd(), sys::POLL_OUT)];
        match sys::poll_now(&mut fds) {
            Ok(0) => None,
            // If the application has closed the descriptor, one of the following system calls fails.
            Ok(_) => Some(
                attempt::result(socket, endpoint)
                    .and_then(|()| check_has_peer(socket, fds[0].revents))
                    .and_then(|()| self.make_blocking(socket)),
            ),
            Err(error) => {
                let error = Error::from_io(Status::Io, "cannot check a socket", &error);
                Some(Err(AttemptFailure::from_wait(&error)))
            }
        }
    }
}

/// Fails if the socket has no peer. The system reports a socket's error (SO_ERROR) only once. If the application's
/// event loop has read SO_ERROR, the failed connection is still recognisable: poll(2) reports a hang-up and the socket
/// has no peer.
fn check_has_peer(socket: &Socket, events: i16) -> Result<(), AttemptFailure> {
    if events & sys::POLL_HANG_UP == 0 || socket.peer_addr().is_ok() {
        return Ok(());
    }
    let message = "connecting failed, but the application has already read the socket's error (SO_ERROR)";
    Err(AttemptFailure::from_wait(&Error::new(Status::Io, message)))
}
