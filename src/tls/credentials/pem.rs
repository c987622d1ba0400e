//! Files, and the sections of PEM text in them.

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

use super::key;
use crate::error::{Error, Result, shown};
use crate::memory;
use crate::socket::sys;
use crate::socket::wait::wait;
use crate::status::Status;
use crate::tls::x509;

/// The largest file that is read. The biggest bundle of authorities in use is about 1 MiB.
pub(crate) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// How long what is no regular file, such as the pipe of a shell's `<(…)`, may take to be read: making a context waits
/// for nothing else, so it takes no limit.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a pipe is expected to bring; more than any key has.
const PIPE: u64 = 64 * 1024;

/// Refuses what is larger than a file may be: what is parsed from it grows with it. `name` is the parameter's.
pub(crate) fn bounded<'a>(bytes: &'a [u8], name: &str) -> Result<&'a [u8]> {
    if bytes.len() as u64 > MAX_FILE {
        let message = format!("{name} must have at most 16 MiB; it has {} bytes", bytes.len());
        return Err(Error::new(Status::InvalidArgument, message));
    }
    Ok(bytes)
}

/// `what` names the file's role in a message, as in "CA file".
pub(crate) fn read_file(path: &Path, what: &str) -> Result<Vec<u8>> {
    read_within(path, what, PATIENCE).map(|mut bytes| mem::take(&mut *bytes))
}

/// As [`read_file`]: what holds a key is wiped when dropped.
pub(crate) fn read_secret_file(path: &Path, what: &str) -> Result<Zeroizing<Vec<u8>>> {
    read_within(path, what, PATIENCE)
}

fn read_within(path: &Path, what: &str, patience: Duration) -> Result<Zeroizing<Vec<u8>>> {
    let failed = |error: io::Error| {
        let status = if error.kind() == io::ErrorKind::OutOfMemory { Status::OutOfMemory } else { Status::Io };
        Error::from_io(status, format!("cannot read {what} {}", path.display()), &error)
    };
    // So that the opening of a pipe waits for no writer. It has no meaning for a regular file.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let mut bytes = Zeroizing::new(Vec::new());
    let mut input = (&file).take(MAX_FILE + 1);
    let metadata = file.metadata().map_err(failed)?;
    let is_regular = metadata.is_file();
    // At once, so that no outgrown part of a key stays behind in memory.
    let expected = if is_regular { metadata.len().min(MAX_FILE) } else { PIPE };
    memory::reserve(&mut bytes, expected as usize + 1, what)?;
    let deadline = Instant::now() + patience;
    // A pipe that nobody has opened for writing yet would look as one at its end: it is polled before it is read.
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
            let message = format!("cannot read {what} {}: it did not end within {seconds} s", path.display());
            Err(Error::new(Status::Io, message).with_errno(libc::ETIMEDOUT))
        },
        failed,
    )?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::new(Status::InvalidPem, format!("{what} {} is larger than 16 MiB", path.display())));
    }
    Ok(bytes)
}

/// `wait` is called before the next try where there was nothing to read, of which some files of the system make
/// readers wait that look like regular ones; and before each if `waits_first`.
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
            // What was read before stays read.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => waits = true,
            Err(error) => return Err(failed(error)),
        }
    }
}

/// All certificates in PEM text, where other sections are passed over, or in DER, one after the other, where a key
/// beside them is. `what` names the input in a message.
pub(crate) fn certificates(bytes: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    certificates_or(bytes, what, "")
}

/// As [`certificates`]; `others` are the forms that the caller would have taken too, behind "neither PEM nor DER
/// certificates".
pub(crate) fn certificates_or(bytes: &[u8], what: &str, others: &str) -> Result<Vec<CertificateDer<'static>>> {
    let bad = |why: &str| Error::new(Status::InvalidPem, format!("{what} {why}"));
    let mut certificates = Vec::new();
    if is_pem(bytes) {
        // Of the largest one, its text without line ends, and what that says: the decoder does not ask.
        let largest = Sections::of(bytes).flatten().map(|section| section.whole.len()).max().unwrap_or(0);
        memory::probe(largest.saturating_mul(2), "a certificate")?;
        for certificate in objects(bytes, b"CERTIFICATE") {
            let certificate = certificate.map_err(|error| bad(&format!("is not valid PEM: {error}")))?;
            memory::push(&mut certificates, certificate, "certificates")?;
        }
    } else {
        let neither = || bad(&format!("holds neither PEM nor DER certificates{others}"));
        let elements = x509::split_sequences(bytes).ok_or_else(neither)?;
        for der in elements.into_iter().filter(|der| !key::looks_like_one(der)) {
            let certificate = CertificateDer::from(memory::copy(der, "a certificate")?);
            memory::push(&mut certificates, certificate, "certificates")?;
        }
    }
    if certificates.is_empty() {
        return Err(bad("holds no certificate"));
    }
    Ok(certificates)
}

/// What stands in the sections of PEM text that have this label. The others are not even decoded: a key may be among
/// them, encrypted or not.
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

/// A section of PEM text: what stands between a BEGIN line and its END line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) label: &'a [u8],
    /// The two lines included.
    pub(crate) whole: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// The sections of PEM text, one after the other; text around them is passed over. After an error come those that
/// begin behind it.
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
        // What a section begins with: its label, the text from its first line, the text from its second.
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
    format!("the section \"{}\" has no END line", shown(&label))
}

/// A line without its end, and what comes after it. CR, LF or both end a line; both leave an empty one between.
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
        assert_eq!(*reader.join().unwrap(), text);
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

    /// Gives what stands there, one after the other; `None` is nothing for now.
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

    /// As /proc/kmsg, which says that it is a regular file.
    #[test]
    fn what_has_nothing_for_now_is_waited_for() {
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
    fn what_never_ends_is_too_large() {
        for path in ["/dev/zero", "/dev/null"] {
            let read = read_file(Path::new(path), "CA file").map_err(|error| error.status());
            assert_eq!(read, if path == "/dev/null" { Ok(vec![]) } else { Err(Status::InvalidPem) });
        }
        assert_eq!(read_file(Path::new("/"), "CA file").unwrap_err().errno(), libc::EISDIR);
    }

    /// Its headers are no base64.
    #[test]
    fn a_key_beside_certificates_is_not_decoded() {
        let key = include_bytes!("../../../tests/certs/rsa-encrypted-pkcs1.key");
        let chain = include_bytes!("../../../tests/certs/rsa.pem");
        assert_eq!(certificates(&[&key[..], chain].concat(), "chain").unwrap().len(), 1);
    }

    #[test]
    fn sections_between_other_text() {
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
