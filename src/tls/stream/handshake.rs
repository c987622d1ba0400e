//! Shaking hands.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::call::{Call, Role};
use super::exchange::is_broken;
use super::transport::Waiting;
use super::{Core, Io, Stream, Terms};
use crate::error::{Error, Result};
use crate::limit::Limit;
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
        // Before files are read in vain.
        limit.as_deref().map_or(Ok(()), Limit::check)?;
        let stream = Stream::client(&Context::for_socket(options, context)?, fd, server_hostname)?;
        stream.set_limit(limit)?;
        stream.handshake()?;
        stream.set_limit(None)?;
        Ok(stream)
    }
}

impl Call<'_> {
    /// Makes sure of the handshake. `Some`: it is not done, and would have to wait.
    #[inline(always)]
    pub(super) fn shake(&mut self, terms: Terms<'_>) -> Result<Option<Io>> {
        if self.core()?.shaken { Ok(None) } else { self.shake_first(terms) }
    }

    #[cold]
    fn shake_first(&mut self, terms: Terms<'_>) -> Result<Option<Io>> {
        // Whoever does this has been let in already.
        if !self.enter_handshake(terms, |_| Ok(()))? {
            return Ok(None);
        }
        self.shake_as_shaker(terms)
    }

    pub(super) fn shake_as_shaker(&mut self, terms: Terms<'_>) -> Result<Option<Io>> {
        self.done_as(Role::Shaker, |call| {
            loop {
                let done = call.work(terms)?;
                if let Some(want) = call.send_flight(done, terms)? {
                    return Ok(Some(want));
                }
                if done {
                    call.core()?.shake_done();
                    return Ok(None);
                }
                if let Some(want) = call.receive(terms)? {
                    return Ok(Some(want));
                }
            }
        })
    }

    /// Works on what has come, and has the program asked. True: the handshake is done.
    pub(super) fn work(&mut self, terms: Terms<'_>) -> Result<bool> {
        loop {
            let core = self.core()?;
            let outcome = core.engine.handshake();
            if let Some(question) = core.engine.take_question() {
                // The program's function may use this stream.
                self.let_go();
                let answer = question.ask();
                self.core()?.engine.answer(answer);
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
    pub(super) fn send_flight(&mut self, done: bool, terms: Terms<'_>) -> Result<Option<Io>> {
        match self.flush(terms) {
            // A peer that is gone may have left something to read.
            Err(error) if is_broken(&error) && done => Ok(None),
            Err(error) if is_broken(&error) => {
                let reason = self.last_words(error, terms);
                Err(self.core()?.engine.fail(reason))
            }
            sent => sent,
        }
    }

    /// Takes the right to shake hands. False: there is no need to.
    pub(super) fn enter_handshake(&mut self, terms: Terms<'_>, check: impl Fn(&Core) -> Result<()>) -> Result<bool> {
        check(self.core()?)?;
        while self.core()?.is_taken(Role::Shaker) {
            if !terms.blocking {
                return Err(Error::new(Status::Busy, "another thread is shaking hands on this stream"));
            }
            self.glance(terms)?;
            check(self.core()?)?;
        }
        if self.core()?.shaken {
            return Ok(false);
        }
        self.assume(Role::Shaker)?;
        Ok(true)
    }

    /// The peer refused to take more: an alert that it sent before says why better than the broken pipe does.
    fn last_words(&mut self, error: Error, terms: Terms<'_>) -> Error {
        // A flight of a server fits few buffers; whatever comes, this ends.
        for _ in 0..8 {
            let Ok(core) = self.core() else { return error };
            match core.engine.handshake() {
                Err(reason) => return reason,
                Ok(true) => return error,
                Ok(false) => {}
            }
            let Ok(mut input) = core.engine.lend_input() else { return error };
            let received =
                self.transport().receive(input.space(), terms.at_once(), Waiting::Before).map_or(0, Io::count);
            input.add(received);
            let Ok(core) = self.core() else { return error };
            core.engine.take_back(input);
            if received == 0 {
                return error;
            }
        }
        error
    }
}
