//! The type of secret bytes, and the errors of reading and decrypting keys.

use zeroize::Zeroizing;

use super::shape::Shape;
use crate::error::{Advice, ApiName, Error};
use crate::memory;
use crate::status::Status;

/// Secret DER or text, which is wiped when dropped.
pub(crate) type Secret = Zeroizing<Vec<u8>>;

/// The reason why a key cannot be read or decrypted. [`Refusal::error`] converts the reason into an error.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The input has no private key in a known format.
    Absent(String),
    Malformed(String),
    /// The encryption scheme is unknown, or one of its parameters is not supported or exceeds a limit.
    Unsupported(String),
    PasswordRequired,
    WrongPassword,
    OutOfMemory(Error),
}

pub(crate) type Opened<T> = std::result::Result<T, Refusal>;

impl Refusal {
    pub(crate) fn malformed(why: impl Into<String>) -> Refusal {
        Refusal::Malformed(why.into())
    }

    pub(super) fn error(self, what: &str) -> Error {
        self.error_of("private key", what)
    }

    /// Converts the reason into an error. `thing` names the kind of object in the message, such as "private key".
    /// `what` names the input that contains the object.
    pub(crate) fn error_of(self, thing: &str, what: &str) -> Error {
        match self {
            Refusal::Absent(why) => Error::new(Status::InvalidPem, format!("{what} {why}")),
            Refusal::Malformed(why) => {
                Error::new(Status::InvalidPem, format!("the {thing} in {what} is malformed: {why}"))
            }
            Refusal::Unsupported(why) => {
                let message = format!("the {thing} in {what} is encrypted in a way that is not supported: {why}");
                Error::new(Status::Unsupported, message)
            }
            Refusal::PasswordRequired => {
                let message = format!("the {thing} in {what} is encrypted, and no password was given");
                let advice = Advice::new("to give the password", ApiName::SetKeyPassword);
                Error::new(Status::PasswordRequired, message).with_advice(advice)
            }
            Refusal::WrongPassword => {
                Error::new(Status::WrongPassword, format!("the password for the {thing} in {what} is wrong"))
            }
            Refusal::OutOfMemory(error) => error.prefixed(what),
        }
    }
}

impl From<Error> for Refusal {
    /// Converts the error of a function that fails only if memory runs out.
    fn from(error: Error) -> Refusal {
        Refusal::OutOfMemory(error)
    }
}

pub(crate) fn copy(bytes: &[u8]) -> Opened<Secret> {
    memory::copy(bytes, "a private key").map(Zeroizing::new).map_err(Refusal::OutOfMemory)
}

/// Returns the plaintext of a decrypted key, which is the first `len` bytes of `buffer`. Fails with `WrongPassword` if
/// `len` is `None` (wrong padding) or the plaintext has no known key format.
pub(super) fn opened(mut buffer: Secret, len: Option<usize>) -> Opened<Secret> {
    buffer.truncate(len.ok_or(Refusal::WrongPassword)?);
    if Shape::of(&buffer).is_some() { Ok(buffer) } else { Err(Refusal::WrongPassword) }
}
