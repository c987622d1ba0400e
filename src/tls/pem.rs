//! Certificates and keys as they are written down: PEM, or DER.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::x509;
use crate::error::{Error, Result};
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;

/// The largest file that is read. The biggest bundle of authorities in use is about 1 MiB.
pub(crate) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// How long what is no regular file, such as the pipe of a shell's `<(…)`, may take to be read: making a context waits
/// for nothing else, so it takes no limit.
const PATIENCE: Duration = Duration::from_secs(5);

/// `what` names the file's role in a message, as in "CA file".
pub(crate) fn read_file(path: &Path, what: &str) -> Result<Vec<u8>> {
    read_within(path, what, PATIENCE)
}

fn read_within(path: &Path, what: &str, patience: Duration) -> Result<Vec<u8>> {
    let failed = |error: io::Error| {
        let status = if error.kind() == io::ErrorKind::OutOfMemory { Status::OutOfMemory } else { Status::Io };
        Error::from_io(status, format!("cannot read {what} {}", path.display()), &error)
    };
    // So that the opening of a pipe waits for no writer. It has no meaning for a regular file.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut input = (&file).take(MAX_FILE + 1);
    let is_regular = file.metadata().map_err(failed)?.is_file();
    let deadline = Instant::now() + patience;
    loop {
        // A pipe that nobody has opened for writing yet would look as one at its end: it is polled before it is read.
        let left = deadline.saturating_duration_since(Instant::now());
        if !is_regular && !wait(file.as_raw_fd(), sys::POLL_IN, Some(left), None)? {
            let seconds = patience.as_secs_f64();
            let message = format!("cannot read {what} {}: it did not end within {seconds} s", path.display());
            return Err(Error::new(Status::Io, message).with_errno(libc::ETIMEDOUT));
        }
        match input.read_to_end(&mut bytes) {
            Ok(_) => break,
            // What was read before stays read.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::new(Status::InvalidPem, format!("{what} {} is larger than 16 MiB", path.display())));
    }
    Ok(bytes)
}

/// All certificates in PEM text, where other sections are passed over, or in DER, one after the other.
/// `what` names the input in a message.
pub(crate) fn certificates(bytes: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    let certificates: Vec<CertificateDer<'static>> = if is_pem(bytes) {
        CertificateDer::pem_slice_iter(bytes)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| bad(&format!("is not valid PEM: {error}")))?
    } else {
        let elements = x509::split_sequences(bytes).ok_or_else(|| bad("holds neither PEM nor DER certificates"))?;
        elements.into_iter().map(|der| CertificateDer::from(der.to_vec())).collect()
    };
    if certificates.is_empty() {
        return Err(bad("holds no certificate"));
    }
    Ok(certificates)
}

/// The private key in PEM text, where other sections are passed over, or in DER: PKCS#8, PKCS#1 or SEC1.
pub(crate) fn private_key(bytes: &[u8], what: &str) -> Result<PrivateKeyDer<'static>> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    if is_pem(bytes) {
        if contains(bytes, b"-----BEGIN ENCRYPTED PRIVATE KEY-----") || contains(bytes, b"Proc-Type: 4,ENCRYPTED") {
            let why = "holds an encrypted private key, which this release cannot open: decrypt it first";
            return Err(Error::new(Status::Unsupported, format!("{what} {why}")));
        }
        return PrivateKeyDer::from_pem_slice(bytes).map_err(|error| match error {
            rustls_pki_types::pem::Error::NoItemsFound => bad("holds no private key"),
            error => bad(&format!("is not valid PEM: {error}")),
        });
    }
    PrivateKeyDer::try_from(bytes.to_vec()).map_err(|_| bad("holds neither a PEM nor a DER private key"))
}

pub(crate) fn is_pem(bytes: &[u8]) -> bool {
    contains(bytes, b"-----BEGIN ")
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Write};
    use std::path::PathBuf;

    fn path_of(pipe: &PipeReader) -> PathBuf {
        format!("/dev/fd/{}", pipe.as_raw_fd()).into()
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let (read, mut write) = io::pipe().unwrap();
        let path = path_of(&read);
        let reader = std::thread::spawn(move || read_within(&path, "CA file", Duration::from_secs(30)).unwrap());
        // More than a pipe holds, so that the writer waits for the reader and the reader for the writer.
        let text = vec![b'x'; 200_000];
        for part in text.chunks(7_000) {
            write.write_all(part).unwrap();
        }
        drop(write);
        assert_eq!(reader.join().unwrap(), text);
    }

    #[test]
    fn a_pipe_that_does_not_end_is_given_up() {
        let (read, mut write) = io::pipe().unwrap();
        write.write_all(b"x").unwrap();
        let path = path_of(&read);
        let error = read_within(&path, "CA file", Duration::from_millis(20)).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::Io, libc::ETIMEDOUT));
        let expected = format!("cannot read CA file {}: it did not end within 0.02 s", path.display());
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn what_never_ends_is_too_large() {
        for path in ["/dev/zero", "/dev/null"] {
            let read = read_file(Path::new(path), "CA file").map_err(|error| error.status());
            assert_eq!(read, if path == "/dev/null" { Ok(vec![]) } else { Err(Status::InvalidPem) });
        }
        assert_eq!(read_file(Path::new("/"), "CA file").unwrap_err().errno(), libc::EISDIR);
    }
}
