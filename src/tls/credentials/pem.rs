//! Reads files, splits PEM text into sections, and decodes certificates.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use zeroize::Zeroizing;

use super::key::pkcs8;
use crate::error::{Error, Result, truncated};
use crate::memory;
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;
use crate::tls::x509;

/// The largest accepted size of a file in bytes. The largest known CA bundle has about 1 MiB.
pub(crate) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The timeout for reading a file that is not a regular file, for example the pipe of a shell's `<(…)`.
/// `netlib_tls_context_new` waits only for such files, and never longer than this timeout for each file, so the
/// function has no parameter for a limit.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of bytes that are reserved for the content of a pipe; a private key has fewer bytes.
const PIPE: u64 = 64 * 1024;

/// Refuses input larger than [`MAX_FILE`], because the memory for parsing grows with the size of the input. `name`: the
/// name of the parameter, for the error.
pub(crate) fn bounded<'a>(bytes: &'a [u8], name: &str) -> Result<&'a [u8]> {
    if bytes.len() as u64 > MAX_FILE {
        let message = format!("{name} must have at most 16 MiB; it has {} bytes", bytes.len());
        return Err(Error::new(Status::InvalidArgument, message));
    }
    Ok(bytes)
}

/// Reads a whole file. `what` names the role of the file in error messages, for example "CA file".
pub(crate) fn read_file(path: &Path, what: &str) -> Result<Vec<u8>> {
    read_within(path, what, PATIENCE).map(|mut bytes| mem::take(&mut *bytes))
}

/// Reads a file like [`read_file`], but the bytes are wiped when dropped.
pub(crate) fn read_secret_file(path: &Path, what: &str) -> Result<Zeroizing<Vec<u8>>> {
    read_within(path, what, PATIENCE)
}

fn read_within(path: &Path, what: &str, patience: Duration) -> Result<Zeroizing<Vec<u8>>> {
    let failed = |error: io::Error| {
        let status = if error.kind() == io::ErrorKind::OutOfMemory { Status::OutOfMemory } else { Status::Io };
        Error::from_io(status, format!("cannot read {what} {}", path.display()), &error)
    };
    // With O_NONBLOCK, opening a FIFO does not wait for a writer. O_NONBLOCK has no effect on regular files.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let mut bytes = Zeroizing::new(Vec::new());
    let mut input = (&file).take(MAX_FILE + 1);
    let metadata = file.metadata().map_err(failed)?;
    let is_regular = metadata.is_file();
    // Reserves the expected size at once, because growing the vector would leave parts of a key in freed memory.
    let expected = if is_regular { metadata.len().min(MAX_FILE) } else { PIPE };
    memory::reserve(&mut bytes, expected as usize + 1, what)?;
    let deadline = Instant::now() + patience;
    // Reading from a FIFO that has no writer yet returns end of file, so a FIFO is polled before the first read.
    read_to_end(
        &mut input,
        &mut bytes,
        !is_regular,
        || {
            let left = deadline.saturating_duration_since(Instant::now());
            if wait(file.as_raw_fd(), sys::POLL_IN, Some(left), None)? {
                return Ok(());
            }
            let seconds = patience.as_secs_f64();
            let message =
                format!("cannot read {what} {}: end of file was not reached within {seconds} s", path.display());
            Err(Error::new(Status::Io, message).with_errno(libc::ETIMEDOUT))
        },
        failed,
    )?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::new(Status::InvalidPem, format!("{what} {} is larger than 16 MiB", path.display())));
    }
    Ok(bytes)
}

/// Reads to the end of file. If `waits_first` is true, calls `wait` before each read; otherwise calls `wait` only once
/// a read has failed with EWOULDBLOCK. Reading some files in /proc can fail with EWOULDBLOCK, although these files look
/// like regular files.
fn read_to_end(
    input: &mut impl Read,
    bytes: &mut Vec<u8>,
    waits_first: bool,
    mut wait: impl FnMut() -> Result<()>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<()> {
    let mut waits = waits_first;
    loop {
        if waits {
            wait()?;
        }
        match input.read_to_end(bytes) {
            Ok(_) => return Ok(()),
            // `bytes` keeps the bytes that were read before the error.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => waits = true,
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Reads all certificates in PEM text or in concatenated DER. Other PEM sections and keys in DER are skipped. `what`
/// names the input in error messages.
pub(crate) fn certificates(bytes: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    certificates_or(bytes, what, "")
}

/// Reads certificates like [`certificates`]. `others` names further formats that the caller accepts, and is appended to
/// the error message "neither PEM nor DER certificates".
pub(crate) fn certificates_or(bytes: &[u8], what: &str, others: &str) -> Result<Vec<CertificateDer<'static>>> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    let mut certificates = Vec::new();
    if is_pem(bytes) {
        // The PEM decoder aborts the process if an allocation fails, so check first that the memory for the largest
        // section is available: its text without CR and LF, and the decoded bytes.
        let largest = Sections::of(bytes).flatten().map(|section| section.whole.len()).max().unwrap_or(0);
        memory::check_available(largest.saturating_mul(2), "a certificate")?;
        for certificate in objects(bytes, b"CERTIFICATE") {
            let certificate = certificate.map_err(|error| bad(&format!("is not valid PEM: {error}")))?;
            memory::push(&mut certificates, certificate, "certificates")?;
        }
    } else {
        let neither = || bad(&format!("contains neither PEM nor DER certificates{others}"));
        let elements = x509::split_sequences(bytes).ok_or_else(neither)?;
        for der in elements.into_iter().filter(|der| !pkcs8::is_private_key(der)) {
            let certificate = CertificateDer::from(memory::copy(der, "a certificate")?);
            memory::push(&mut certificates, certificate, "certificates")?;
        }
    }
    if certificates.is_empty() {
        return Err(bad("contains no certificate"));
    }
    Ok(certificates)
}

/// Decodes the PEM sections with a given label. Sections with another label are not decoded, because they may contain a
/// private key.
pub(crate) fn objects<'a, T: PemObject + 'a>(
    text: &'a [u8],
    label: &'a [u8],
) -> impl Iterator<Item = std::result::Result<T, String>> + 'a {
    Sections::of(text).filter_map(move |section| match section {
        Ok(section) if section.label != label => None,
        section => {
            Some(section.and_then(|section| T::from_pem_slice(section.whole).map_err(|error| error.to_string())))
        }
    })
}

/// A PEM section: the text between a BEGIN line and its END line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) label: &'a [u8],
    /// The text of the section from its BEGIN line to its END line.
    pub(crate) whole: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// Iterates over the PEM sections of a text, and skips all text between sections. After an error, the iteration
/// continues after the malformed section.
pub(crate) struct Sections<'a> {
    rest: &'a [u8],
}

impl<'a> Sections<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Sections<'a> {
        Sections { rest: text }
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = std::result::Result<Section<'a>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        // The section whose END line has not been found yet: its label, the text from its BEGIN line on, and the text
        // after its BEGIN line.
        let mut begun: Option<(&'a [u8], &'a [u8], &'a [u8])> = None;
        while !self.rest.is_empty() {
            let here = mem::take(&mut self.rest);
            let (line, after) = split_line(here);
            if let Some(label) = line.strip_prefix(b"-----BEGIN ") {
                let label = match label.trim_ascii_end().strip_suffix(b"-----") {
                    Some(label) if begun.is_none() => label,
                    Some(_) => {
                        self.rest = here;
                        return Some(Err(no_end(begun)));
                    }
                    None => {
                        self.rest = after;
                        return Some(Err("a BEGIN line does not end with five dashes".to_owned()));
                    }
                };
                begun = Some((label, here, after));
            } else if let (Some((label, whole, body)), Some(end)) = (begun, line.strip_prefix(b"-----END "))
                && end.strip_prefix(label).is_some_and(|rest| rest.starts_with(b"-----"))
            {
                self.rest = after;
                let whole = whole.get(..whole.len() - after.len()).unwrap_or_default();
                let body = body.get(..body.len() - here.len()).unwrap_or_default();
                return Some(Ok(Section { label, whole, body }));
            }
            self.rest = after;
        }
        begun.map(|_| Err(no_end(begun)))
    }
}

fn no_end(begun: Option<(&[u8], &[u8], &[u8])>) -> String {
    let label = begun.map(|(label, ..)| String::from_utf8_lossy(label)).unwrap_or_default();
    format!("the section \"{}\" has no END line", truncated(&label))
}

/// Splits off the first line, without its line end. A CR or an LF ends a line, so CR LF yields an empty line after each
/// line.
pub(crate) fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr2(b'\n', b'\r', text) {
        Some(end) => (text.get(..end).unwrap_or_default(), text.get(end + 1..).unwrap_or_default()),
        None => (text, &[]),
    }
}

pub(crate) fn is_pem(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"-----BEGIN ").is_some()
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
    fn pipes_are_read_to_their_end() {
        let (read, mut write) = io::pipe().unwrap();
        let path = path_of(&read);
        let reader = std::thread::spawn(move || read_within(&path, "CA file", Duration::from_secs(30)).unwrap());
        // The text is larger than a pipe's buffer, so reader and writer wait for each other.
        let text = vec![b'x'; 200_000];
        for part in text.chunks(7_000) {
            write.write_all(part).unwrap();
        }
        drop(write);
        assert_eq!(*reader.join().unwrap(), text);
    }

    #[test]
    fn reading_a_pipe_that_stays_open_times_out() {
        let (read, mut write) = io::pipe().unwrap();
        write.write_all(b"x").unwrap();
        let path = path_of(&read);
        let error = read_within(&path, "CA file", Duration::from_millis(20)).unwrap_err();
        assert_eq!((error.status(), error.errno()), (Status::Io, libc::ETIMEDOUT));
        let expected = format!("cannot read CA file {}: end of file was not reached within 0.02 s", path.display());
        assert_eq!(error.message(), expected);
    }

    /// A reader that returns the chunks from the last to the first, and EWOULDBLOCK for `None`.
    struct Hesitant(Vec<Option<&'static [u8]>>);

    impl Read for Hesitant {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.pop() {
                None => Ok(0),
                Some(None) => Err(io::ErrorKind::WouldBlock.into()),
                Some(Some(mut bytes)) => bytes.read(buffer),
            }
        }
    }

    /// Tests a file like /proc/kmsg, which claims to be a regular file although reading it can block.
    #[test]
    fn reading_waits_after_ewouldblock() {
        let read = |patience: usize| {
            let mut input = Hesitant(vec![Some(b"c"), None, None, Some(b"b"), None, Some(b"a")]);
            let (mut bytes, mut waits) = (Vec::new(), 0);
            let wait = || {
                waits += 1;
                if waits > patience { Err(Error::new(Status::Io, "no")) } else { Ok(()) }
            };
            let status = read_to_end(&mut input, &mut bytes, false, wait, |_| Error::new(Status::Internal, "failed"))
                .map_err(|error| error.status());
            (status, waits, bytes)
        };
        assert_eq!(read(3), (Ok(()), 3, b"abc".to_vec()));
        assert_eq!(read(2), (Err(Status::Io), 3, b"ab".to_vec()));
    }

    #[test]
    fn endless_files_are_refused_as_too_large() {
        for path in ["/dev/zero", "/dev/null"] {
            let read = read_file(Path::new(path), "CA file").map_err(|error| error.status());
            assert_eq!(read, if path == "/dev/null" { Ok(vec![]) } else { Err(Status::InvalidPem) });
        }
        assert_eq!(read_file(Path::new("/"), "CA file").unwrap_err().errno(), libc::EISDIR);
    }

    /// Decoding the encrypted key would fail, because its headers are not base64.
    #[test]
    fn keys_among_certificates_are_not_decoded() {
        let key = include_bytes!("../../../tests/certs/rsa-encrypted-pkcs1.key");
        let chain = include_bytes!("../../../tests/certs/rsa.pem");
        assert_eq!(certificates(&[&key[..], chain].concat(), "chain").unwrap().len(), 1);
    }

    #[test]
    fn pem_sections_are_found_among_other_text() {
        let read = |text: &'static str| {
            Sections::of(text.as_bytes())
                .map(|section| section.map(|section| (section.label, section.body)))
                .collect::<Vec<std::result::Result<(&[u8], &[u8]), String>>>()
        };
        let ok = |label: &'static str, body: &'static str| Ok((label.as_bytes(), body.as_bytes()));
        for (text, expected) in [
            ("", vec![]),
            ("text\n-----END A-----\n", vec![]),
            ("text\n-----BEGIN A-----\nx\n-----END A-----\nmore", vec![ok("A", "x\n")]),
            (
                "-----BEGIN A-----\r\nx\r\n-----END A-----\r\n-----BEGIN B C-----  \n-----END B C-----",
                vec![ok("A", "\nx\r\n"), ok("B C", "")],
            ),
            ("-----BEGIN A-----\rx\r-----END A-----\r", vec![ok("A", "x\r")]),
            ("-----BEGIN A-----\n-----END AB-----\n-----END A-----", vec![ok("A", "-----END AB-----\n")]),
            ("-----BEGIN A-----\nx", vec![Err("the section \"A\" has no END line".to_owned())]),
            (
                "-----BEGIN A-----\n-----BEGIN B-----\n-----END B-----\n",
                vec![Err("the section \"A\" has no END line".to_owned()), ok("B", "")],
            ),
            (
                "-----BEGIN A-----\n-----BEGIN B\n-----BEGIN C-----\n-----END C-----\n",
                vec![Err("a BEGIN line does not end with five dashes".to_owned()), ok("C", "")],
            ),
            ("-----BEGIN A--\n", vec![Err("a BEGIN line does not end with five dashes".to_owned())]),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
        let text = b"x\n-----BEGIN A-----\ny\n-----END A-----\nz";
        assert_eq!(Sections::of(text).next().unwrap().unwrap().whole, b"-----BEGIN A-----\ny\n-----END A-----\n");
    }
}
