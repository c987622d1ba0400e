//! Reading and writing, which make sure of the handshake first.

use super::call::{Call, Role};
use super::gather::Pieces;
use super::{Io, Terms};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::engine::Read;

impl Call<'_> {
    pub(super) fn read(&mut self, buffer: &mut [u8], terms: Terms<'_>) -> Result<Io> {
        if buffer.is_empty() {
            return Ok(Io::Done(0));
        }
        let mut received = false;
        loop {
            if let Some(want) = self.shake(terms)? {
                return Ok(want);
            }
            let core = self.core()?;
            let outcome = core.engine.read(buffer);
            if let Ok(Read::Data(count)) = outcome {
                core.count_plaintext(count, terms);
            }
            if core.engine.has_output() {
                self.send_without_waiting(terms)?;
            }
            match outcome? {
                Read::Data(count) => return Ok(Io::Done(count)),
                Read::End => return Ok(Io::End),
                Read::Blocked if received => terms.check_throughput()?,
                Read::Blocked => {}
            }
            if let Some(want) = self.receive(terms)? {
                return Ok(want);
            }
            received = true;
        }
    }

    /// Of the writer.
    pub(super) fn write(&mut self, data: Pieces<'_>, terms: Terms<'_>) -> Result<Io> {
        let outcome = self.begin_write(data, terms);
        self.end_writing(terms)?;
        outcome
    }

    fn begin_write(&mut self, mut data: Pieces<'_>, terms: Terms<'_>) -> Result<Io> {
        self.core()?.engine.check_sending()?;
        if let Some(want) = self.shake(terms)? {
            return Ok(want);
        }
        let (uncounted, len) = (self.core()?.uncounted, data.len());
        if len < uncounted {
            let message = format!(
                "a write must be continued with the bytes that were not counted: at least {uncounted}, not {len}"
            );
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let mut counted = 0;
        match self.write_all(&mut data, &mut counted, terms) {
            Ok(Some(want)) if counted == 0 => Ok(want),
            Ok(_) => Ok(Io::Done(counted)),
            Err(error) => {
                // The caller learns of no byte, so he passes all of them again, if he goes on.
                self.core()?.uncounted += counted;
                Err(error)
            }
        }
    }

    /// `None`: nothing is left of `data`. `Some`: the rest would have to wait.
    fn write_all(&mut self, data: &mut Pieces<'_>, counted: &mut usize, terms: Terms<'_>) -> Result<Option<Io>> {
        let mut gathered = None;
        loop {
            if let Some(want) = self.flush(terms)? {
                return Ok(Some(want));
            }
            let core = self.core()?;
            let sent = std::mem::take(&mut core.uncounted);
            *counted += sent;
            data.advance(sent);
            if data.is_empty() {
                return Ok(None);
            }
            let next = data.front(&mut gathered, || core.engine.buffer())?;
            core.uncounted = core.engine.write(next)?;
        }
    }

    /// Writing is over, though perhaps not the call.
    pub(super) fn end_writing(&mut self, terms: Terms<'_>) -> Result<()> {
        self.give_up(Role::Writer);
        // What a reader left to the writer.
        let core = self.core()?;
        if core.uncounted == 0 && core.engine.has_output() {
            self.send_without_waiting(terms)?;
        }
        Ok(())
    }
}
