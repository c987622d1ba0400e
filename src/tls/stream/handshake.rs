//! Shaking hands on a descriptor.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::transport::is_broken;
use super::{Held, Io, Role, Stream};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::socket::sys;
use crate::status::Status;
use crate::tls::{Context, TlsOptions};

impl Stream {
    /// A client's side that has shaken hands, as urllib3's ssl_wrap_socket; the limit ends that and nothing after it.
    pub fn connected(
        options: &TlsOptions,
        context: Option<&Arc<Context>>,
        fd: RawFd,
        server_hostname: Option<&str>,
        limit: Option<Arc<Limit>>,
    ) -> Result<Stream> {
        let stream = Stream::client(&Context::for_socket(options, context)?, fd, server_hostname)?;
        stream.set_limit(limit)?;
        stream.handshake()?;
        stream.set_limit(None)?;
        Ok(stream)
    }

    /// Makes sure of the handshake. `Some`: it is not done, and would have to wait.
    pub(super) fn shake(&self) -> Result<Option<Io>> {
        let Some(_shaker) = self.enter_handshake()? else { return Ok(None) };
        loop {
            let (outcome, question, blocking) = {
                let mut core = self.lock()?;
                let outcome = core.engine.handshake();
                (outcome, core.engine.take_question(), core.settings.blocking)
            };
            if let Some(question) = question {
                // The program's function may use this stream, so it runs without the lock.
                let answer = question.ask();
                self.lock()?.engine.answer(answer);
                continue;
            }
            let done = match outcome {
                Ok(done) => done,
                Err(error) => {
                    // The alert that tells the peer why.
                    let _ = self.flush(false);
                    return Err(error);
                }
            };
            match self.flush(blocking) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(Io::WantWrite)),
                // A peer that is gone may have left something to read.
                Err(error) if is_broken(&error) && done => {}
                Err(error) if is_broken(&error) => {
                    let reason = self.last_words(error);
                    return Err(self.lock()?.engine.fail(reason));
                }
                Err(error) => return Err(error),
            }
            if done {
                self.lock()?.shaken = true;
                return Ok(None);
            }
            if !self.receive()? {
                return Ok(Some(Io::WantRead));
            }
        }
    }

    /// The right to shake hands, or `None` when there is no need to.
    fn enter_handshake(&self) -> Result<Option<Held<'_>>> {
        let mut core = self.lock()?;
        while core.is_taken(Role::Shaker) {
            if !core.settings.blocking {
                return Err(Error::new(Status::Busy, "another thread is shaking hands on this stream"));
            }
            core = self.glance(core)?;
        }
        if core.shaken {
            return Ok(None);
        }
        core.taken[Role::Shaker as usize] = true;
        Ok(Some(Held { stream: self, role: Role::Shaker }))
    }

    /// The peer refused to take more: an alert that it sent before says why better than the broken pipe does.
    fn last_words(&self, error: Error) -> Error {
        // A flight of a server fits few buffers; whatever comes, this ends.
        for _ in 0..8 {
            let Ok(mut core) = self.lock() else { return error };
            match core.engine.handshake() {
                Err(reason) => return reason,
                Ok(true) => return error,
                Ok(false) => {}
            }
            let Ok(mut input) = core.engine.lend_input() else { return error };
            drop(core);
            let received = sys::recv(self.fd, input.space(), sys::DONT_WAIT);
            input.add(*received.as_ref().unwrap_or(&0));
            let Ok(mut core) = self.lock() else { return error };
            core.engine.take_back(input);
            if !received.is_ok_and(|count| count > 0) {
                return error;
            }
        }
        error
    }
}
