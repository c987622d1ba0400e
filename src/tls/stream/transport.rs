//! Moving bytes between a stream's engine and its descriptor. Here are all of its system calls, made without its lock.

use std::io;
use std::sync::MutexGuard;
use std::time::Duration;

use super::{Core, Held, Role, Settings, Stream};
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;
use crate::tls::engine::Engine;
use crate::tls::pool::Filled;

impl Stream {
    /// Brings in bytes, or the news that there will be no more. False: not without waiting, which is not wanted.
    pub(super) fn receive(&self) -> Result<bool> {
        loop {
            let (settings, drained) = {
                let core = self.lock()?;
                (core.settings.clone(), core.drained)
            };
            if settings.blocking && drained {
                // Asking an empty socket costs a system call, and a buffer for as long as it stays empty.
                self.wait_for(sys::POLL_IN, settings.read_timeout, &settings, Status::ReadTimeout)?;
            } else if let Some(limit) = &settings.limit {
                limit.check()?;
            }
            let mut input = self.lock()?.engine.lend_input()?;
            let room = input.space().len();
            let received = sys::recv(self.fd, input.space(), sys::DONT_WAIT);
            let mut core = self.lock()?;
            match received {
                Ok(0) => {
                    core.engine.take_back(input);
                    core.engine.end_input();
                    return Ok(true);
                }
                Ok(count) => {
                    input.add(count);
                    core.drained = count < room;
                    core.engine.take_back(input);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    core.drained = true;
                    core.engine.take_back(input);
                    if !settings.blocking {
                        return Ok(false);
                    }
                }
                Err(error) => {
                    core.engine.take_back(input);
                    let error = self.transport_failure("receive from", &core.engine, &error);
                    return Err(if is_broken(&error) { core.engine.fail(error) } else { error });
                }
            }
        }
    }

    /// Sends what is queued. True: all of it. False: the rest would have to wait, which is not wanted.
    pub(super) fn flush(&self, blocking: bool) -> Result<bool> {
        loop {
            let mut core = self.lock()?;
            while core.is_taken(Role::Sender) {
                if !blocking {
                    return Ok(false);
                }
                core = self.glance(core)?;
            }
            let Some((piece, settings, sender)) = self.begin_sending(core) else { return Ok(true) };
            if !self.send(piece, blocking, &settings, sender)? {
                return Ok(false);
            }
        }
    }

    /// What a reader has to send, as far as that goes without waiting, also for another sender.
    pub(super) fn send_without_waiting(&self) -> Result<()> {
        loop {
            let core = self.lock()?;
            if core.is_taken(Role::Sender) || core.is_taken(Role::Writer) {
                return Ok(());
            }
            let Some((piece, settings, sender)) = self.begin_sending(core) else { return Ok(()) };
            // A failure is told to whoever writes next; what is read is not the worse for it.
            if !self.send(piece, false, &settings, sender).is_ok_and(|all| all) {
                return Ok(());
            }
        }
    }

    /// The next piece of output and the right to send it.
    fn begin_sending(&self, mut core: MutexGuard<'_, Core>) -> Option<(Filled, Settings, Held<'_>)> {
        let piece = core.engine.next_output()?;
        core.taken[Role::Sender as usize] = true;
        Some((piece, core.settings.clone(), Held { stream: self, role: Role::Sender }))
    }

    /// Sends one piece of output; what is left of it goes back to the front of the queue. True: nothing is.
    fn send(&self, mut piece: Filled, blocking: bool, settings: &Settings, sender: Held<'_>) -> Result<bool> {
        let outcome = self.send_piece(&mut piece, blocking, settings);
        if !piece.is_empty() {
            let mut core = self.lock()?;
            if core.engine.may_send() {
                core.engine.return_output(piece);
            }
        }
        drop(sender);
        outcome
    }

    fn send_piece(&self, piece: &mut Filled, blocking: bool, settings: &Settings) -> Result<bool> {
        while !piece.is_empty() {
            if let (true, Some(limit)) = (blocking, &settings.limit) {
                limit.check()?;
            }
            match sys::send(self.fd, piece.bytes(), sys::DONT_WAIT) {
                Ok(0) => return Err(Error::new(Status::Io, "the descriptor takes no bytes: it is no stream socket")),
                Ok(count) => piece.consume(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !blocking {
                        return Ok(false);
                    }
                    self.wait_for(sys::POLL_OUT, settings.write_timeout, settings, Status::WriteTimeout)?;
                }
                Err(error) => {
                    let mut core = self.lock()?;
                    let error = self.transport_failure("send to", &core.engine, &error);
                    let broken = is_broken(&error);
                    return Err(if broken { core.engine.fail_sending(error) } else { error });
                }
            }
        }
        Ok(true)
    }

    fn wait_for(&self, events: i16, timeout: Option<Duration>, settings: &Settings, late: Status) -> Result<()> {
        if wait(self.fd, events, timeout, settings.limit.as_deref())? {
            return Ok(());
        }
        let seconds = timeout.unwrap_or_default().as_secs_f64();
        let core = self.lock()?;
        let shaking = if core.engine.is_handshaking() { " during the TLS handshake" } else { "" };
        let what = match late {
            Status::ReadTimeout => format!("nothing came from {} for {seconds} s{shaking}", core.engine.peer()),
            _ => format!("nothing could be sent to {} for {seconds} s{shaking}", core.engine.peer()),
        };
        Err(Error::new(late, what))
    }

    /// A failed system call: the connection's end is the peer's or the network's doing, anything else the program's.
    fn transport_failure(&self, what: &str, engine: &Engine, error: &io::Error) -> Error {
        let broken = [
            libc::ECONNRESET,
            libc::EPIPE,
            libc::ECONNABORTED,
            libc::ECONNREFUSED,
            libc::ETIMEDOUT,
            libc::ENETDOWN,
            libc::ENETRESET,
            libc::ENETUNREACH,
            libc::EHOSTDOWN,
            libc::EHOSTUNREACH,
        ];
        let is_gone = error.raw_os_error().is_some_and(|errno| broken.contains(&errno));
        let status = match (is_gone, engine.is_handshaking()) {
            (false, _) => Status::Io,
            // Nothing of a request has been sent yet.
            (true, true) => Status::TlsHandshakeEof,
            (true, false) => Status::Protocol,
        };
        let shaking = if engine.is_handshaking() { " during the TLS handshake" } else { "" };
        Error::from_io(status, format!("cannot {what} {}{shaking}", engine.peer()), error)
    }
}

/// Whether the connection is no more, as [`Stream::transport_failure`] says it.
pub(super) fn is_broken(error: &Error) -> bool {
    matches!(error.status(), Status::Protocol | Status::TlsHandshakeEof)
}
