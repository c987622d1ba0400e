//! Shaking hands.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::exchange::is_broken;
use super::transport::Waiting;
use super::{Core, Held, Io, Role, Stream, Terms};
use crate::error::{Error, Result};
use crate::limit::Limit;
use crate::status::Status;
use crate::tls::thread::ThreadMark;
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
        // Before files are read in vain.
        limit.as_deref().map_or(Ok(()), Limit::check)?;
        let stream = Stream::client(&Context::for_socket(options, context)?, fd, server_hostname)?;
        stream.set_limit(limit)?;
        stream.handshake()?;
        stream.set_limit(None)?;
        Ok(stream)
    }

    /// Makes sure of the handshake. `Some`: it is not done, and would have to wait.
    pub(super) fn shake(&self, terms: Terms<'_>) -> Result<Option<Io>> {
        // Whoever does this has been let in already.
        self.shake_as(self.enter_handshake(terms, |_| Ok(()))?, terms)
    }

    pub(super) fn shake_as(&self, shaker: Option<Held<'_>>, terms: Terms<'_>) -> Result<Option<Io>> {
        let Some(_shaker) = shaker else { return Ok(None) };
        loop {
            let done = self.work(terms)?;
            if let Some(want) = self.send_flight(done, terms)? {
                return Ok(Some(want));
            }
            if done {
                self.lock()?.shake_done();
                return Ok(None);
            }
            if let Some(want) = self.receive(terms)? {
                return Ok(Some(want));
            }
        }
    }

    /// Works on what has come, and has the program asked. True: the handshake is done.
    pub(super) fn work(&self, terms: Terms<'_>) -> Result<bool> {
        loop {
            let (outcome, question) = {
                let mut core = self.lock()?;
                let outcome = core.engine.handshake();
                (outcome, core.engine.take_question())
            };
            if let Some(question) = question {
                // The program's function may use this stream, so it runs without the lock.
                let answer = question.ask();
                self.lock()?.engine.answer(answer);
                continue;
            }
            if outcome.is_err() {
                // The alert that tells the peer why.
                let _ = self.flush(terms.at_once());
            }
            return outcome;
        }
    }

    /// Sends what the handshake has to say. `Some`: the rest would have to wait.
    pub(super) fn send_flight(&self, done: bool, terms: Terms<'_>) -> Result<Option<Io>> {
        match self.flush(terms) {
            // A peer that is gone may have left something to read.
            Err(error) if is_broken(&error) && done => Ok(None),
            Err(error) if is_broken(&error) => {
                let reason = self.last_words(error, terms);
                Err(self.lock()?.engine.fail(reason))
            }
            sent => sent,
        }
    }

    /// The right to shake hands, or `None` when there is no need to.
    pub(super) fn enter_handshake(
        &self,
        terms: Terms<'_>,
        check: impl Fn(&Core) -> Result<()>,
    ) -> Result<Option<Held<'_>>> {
        let mut core = self.lock()?;
        check(&core)?;
        while core.is_taken(Role::Shaker) {
            if !terms.blocking {
                return Err(Error::new(Status::Busy, "another thread is shaking hands on this stream"));
            }
            core = self.glance(core, terms)?;
            check(&core)?;
        }
        if core.shaken {
            return Ok(None);
        }
        core.taken[Role::Shaker as usize] = Some(ThreadMark::here());
        Ok(Some(Held { stream: self, role: Role::Shaker }))
    }

    /// The peer refused to take more: an alert that it sent before says why better than the broken pipe does.
    fn last_words(&self, error: Error, terms: Terms<'_>) -> Error {
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
            let received =
                self.transport.receive(input.space(), terms.at_once(), Waiting::Before).map_or(0, Io::count);
            input.add(received);
            let Ok(mut core) = self.lock() else { return error };
            core.engine.take_back(input);
            if received == 0 {
                return error;
            }
        }
        error
    }
}
