//! Lets the application's callbacks carry the bytes of a stream. The results of callbacks are checked before use.

use super::fault::Fault;
use crate::error::Error;
use crate::status::{Status, StatusClass};
use crate::tls::Io;

/// A callback's return value, and the count that it stored; `usize::MAX` if it stored none.
pub type Answer = (i32, usize);

pub type ReadCallback = Box<dyn Fn(&mut [u8]) -> Answer + Send + Sync>;
pub type WriteCallback = Box<dyn Fn(&[u8]) -> Answer + Send + Sync>;

/// The callbacks of a transport. Each callback runs on at most one thread at a time.
pub struct Callbacks {
    pub read: ReadCallback,
    pub write: WriteCallback,
}

impl Callbacks {
    pub(super) fn receive(&self, room: &mut [u8]) -> Result<Io, Fault> {
        match outcome("read", (self.read)(room), room.len())? {
            Io::Done(0) => Ok(Io::End),
            io => Ok(io),
        }
    }

    pub(super) fn send(&self, bytes: &[u8]) -> Result<Io, Fault> {
        match outcome("write", (self.write)(bytes), bytes.len())? {
            Io::Done(0) => Err(contract_violation("the write callback reported success without writing a byte")),
            Io::End => Err(failed("write", Status::EndOfStream as i32)),
            io => Ok(io),
        }
    }
}

fn outcome(name: &str, (code, count): Answer, len: usize) -> Result<Io, Fault> {
    match Status::from_code(code) {
        Some(Status::Ok) if count == usize::MAX => {
            Err(contract_violation(&format!("the {name} callback stored no count")))
        }
        Some(Status::Ok) if count > len => {
            Err(contract_violation(&format!("the {name} callback reported {count} bytes for a buffer of {len}")))
        }
        Some(Status::Ok) => Ok(Io::Done(count)),
        Some(Status::WantRead) => Ok(Io::WantRead),
        Some(Status::WantWrite) => Ok(Io::WantWrite),
        Some(Status::EndOfStream) => Ok(Io::End),
        // The callback returned a failure status of netlib, for example the status of another stream or a limit.
        Some(status) if !matches!(status.class(), StatusClass::Success | StatusClass::Progress) => {
            let reported = status.name().to_string_lossy();
            Err(Fault::Passthrough(Error::new(status, format!("the {name} callback reported {reported}"))))
        }
        _ => Err(failed(name, code)),
    }
}

fn failed(name: &str, code: i32) -> Fault {
    Fault::Passthrough(Error::new(Status::CallbackFailed, format!("the {name} callback reported failure: {code}")))
}

/// Makes the error of a callback that broke its contract. The number of bytes that the callback transferred is unknown,
/// so the transport cannot be used again.
fn contract_violation(message: &str) -> Fault {
    Fault::Fatal(Error::new(Status::CallbackFailed, message))
}
