//! Provides the engine for applications that move the bytes themselves: the application feeds received bytes and drains
//! the bytes to send. No function of the engine waits or does network I/O, and the memory for input and output is
//! bounded.

use std::sync::Arc;

use once_cell::race::OnceBox;

use super::early_data::EarlyData;
use super::{Engine, Read};
use crate::error::Result;
use crate::fork::Process;
use crate::tls::config::EchStatus;
use crate::tls::context::Context;
use crate::tls::io::Io;
use crate::tls::session::negotiated::{Negotiated, SessionInfo};
use crate::tls::session::pool::copy_into;
use crate::tls::session::store::SavedSession;

/// The limit for queued output: once the application has left this many bytes undrained, no more data is encrypted. One
/// call may exceed the limit by up to `record::WRITE_SIZE` bytes and their overhead.
pub const BACKLOG: usize = 256 * 1024;

pub struct MemoryEngine {
    /// The process that created the engine.
    process: Process,
    engine: Engine,
    info: OnceBox<SessionInfo>,
}

impl MemoryEngine {
    pub fn client(context: &Arc<Context>, server_hostname: Option<&str>) -> Result<MemoryEngine> {
        Ok(MemoryEngine::new(Engine::client(context, server_hostname)?))
    }

    pub fn server(context: &Arc<Context>) -> Result<MemoryEngine> {
        Ok(MemoryEngine::new(Engine::server(context)?))
    }

    fn new(engine: Engine) -> MemoryEngine {
        MemoryEngine { process: Process::current(), engine, info: OnceBox::new() }
    }

    /// Returns the engine; fails in a forked child.
    fn own(&mut self) -> Result<&mut Engine> {
        self.process.check_owner("engine")?;
        Ok(&mut self.engine)
    }

    /// Runs a public call and sets the retry kind of its error.
    fn classified<T>(&mut self, act: impl FnOnce(&mut MemoryEngine) -> Result<T>) -> Result<T> {
        act(self).map_err(|error| self.engine.classify(error))
    }

    /// Takes as many bytes from the front of `data` as there is space for.
    pub fn feed(&mut self, data: &[u8]) -> Result<usize> {
        self.classified(|this| this.own()?.feed(data))
    }

    /// Reports that no more input will follow.
    pub fn feed_end(&mut self) {
        self.engine.end_input();
    }

    /// Copies bytes to send into `buffer` and returns the number of copied bytes.
    pub fn drain(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let engine = self.own()?;
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            let Some(mut piece) = engine.next_output() else { break };
            let count = copy_into(room, piece.bytes());
            filled += count;
            piece.consume(count);
            engine.return_output(piece);
        }
        Ok(filled)
    }

    pub fn output_pending(&self) -> usize {
        self.engine.output_len()
    }

    pub fn ech_status(&self) -> EchStatus {
        self.engine.ech_status()
    }

    pub fn handshake(&mut self) -> Result<Io> {
        self.classified(MemoryEngine::do_handshake)
    }

    /// Reads at least one byte of plaintext. Returns `WantRead` if no plaintext is available, and `End` after
    /// close_notify.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Io> {
        self.classified(|this| this.do_read(buffer))
    }

    /// Encrypts as much data as the limit of undrained output allows.
    pub fn write(&mut self, data: &[u8]) -> Result<Io> {
        self.classified(|this| this.do_write(data))
    }

    /// Encrypts as much early data as the ticket and the limit of undrained output allow.
    pub fn write_early(&mut self, data: &[u8]) -> Result<Io> {
        self.classified(|this| this.do_write_early(data))
    }

    fn do_handshake(&mut self) -> Result<Io> {
        loop {
            let done = self.own()?.handshake()?;
            // A session has at most two callbacks: the server-name callback and the clock callback.
            match self.engine.take_pending_callback() {
                Some(pending) => self.engine.finish_callback(pending.invoke()),
                None => return Ok(if done { Io::Done(0) } else { Io::WantRead }),
            }
        }
    }

    fn do_read(&mut self, buffer: &mut [u8]) -> Result<Io> {
        if buffer.is_empty() {
            return Ok(Io::Done(0));
        }
        if let want @ Io::WantRead = self.do_handshake()? {
            return Ok(want);
        }
        Ok(match self.engine.read(buffer)? {
            Read::Data(count) => Io::Done(count),
            Read::Blocked => Io::WantRead,
            Read::End => Io::End,
        })
    }

    fn do_write(&mut self, data: &[u8]) -> Result<Io> {
        self.own()?.check_sending()?;
        if let want @ Io::WantRead = self.do_handshake()? {
            return Ok(want);
        }
        let mut written = 0;
        while let Some(rest) = data.get(written..).filter(|rest| !rest.is_empty()) {
            if self.engine.output_len() >= BACKLOG {
                return Ok(if written > 0 { Io::Done(written) } else { Io::WantWrite });
            }
            written += self.engine.write(rest)?;
        }
        Ok(Io::Done(written))
    }

    fn do_write_early(&mut self, data: &[u8]) -> Result<Io> {
        self.own()?.check_sending()?;
        if self.engine.early_data_left() == 0 {
            return Ok(Io::Done(0));
        }
        self.do_handshake()?;
        let mut written = 0;
        while let Some(rest) = data.get(written..).filter(|rest| !rest.is_empty()) {
            if self.engine.output_len() >= BACKLOG {
                return Ok(if written > 0 { Io::Done(written) } else { Io::WantWrite });
            }
            match self.engine.write_early(rest)? {
                0 => break,
                count => written += count,
            }
        }
        Ok(Io::Done(written))
    }

    pub fn early_data(&self) -> EarlyData {
        self.engine.early_data()
    }

    pub fn early_data_left(&self) -> usize {
        self.engine.early_data_left()
    }

    pub fn early_data_written(&self) -> usize {
        self.engine.early_data_written()
    }

    pub fn shutdown(&mut self) -> Result<()> {
        self.classified(|this| this.own()?.close())
    }

    pub fn pending(&mut self) -> usize {
        self.own().map_or(0, Engine::pending)
    }

    pub fn take_session(&mut self) -> Result<Option<SavedSession>> {
        self.classified(|this| this.own()?.take_session())
    }

    pub fn set_session(&mut self, session: Option<&Arc<SavedSession>>) -> Result<()> {
        self.classified(|this| this.own()?.set_session(session))
    }

    /// Returns the negotiated parameters; `None` before the handshake is done.
    pub fn negotiated(&self) -> Option<Negotiated> {
        Negotiated::of(&self.engine)
    }

    /// Returns the negotiated parameters that callers borrow, such as names and certificates.
    pub fn session(&self) -> Option<&SessionInfo> {
        if self.info.get().is_none() {
            let _ = self.info.set(Box::new(SessionInfo::of(&self.engine)?));
        }
        self.info.get()
    }
}
