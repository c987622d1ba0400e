//! Writes the secrets of sessions to a file in the NSS key log format, so that captured traffic can be decrypted.

use std::ffi::{CStr, CString, OsStr};
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use once_cell::race::OnceBox;
use rustls::KeyLog;
use zeroize::Zeroizing;

use super::options::{KeylogSetting, TlsOptions};
use crate::error::{ApiName, Error, Result};
use crate::memory;
use crate::socket::sys;
use crate::status::Status;

/// A key log file. It is opened when everything else that a context or a session needs is ready, because opening it
/// creates it. It stays open as long as its context or one of its streams exists.
#[derive(Debug)]
pub(crate) struct KeylogFile {
    path: CString,
    /// The path comes from the variable SSLKEYLOGFILE.
    is_from_environment: bool,
    file: OnceBox<File>,
}

impl KeylogFile {
    /// Returns the key log file that the options or the variable SSLKEYLOGFILE name, without opening it.
    pub(crate) fn of(options: &TlsOptions) -> Result<Option<KeylogFile>> {
        let (path, is_from_environment) = match &options.keylog {
            KeylogSetting::Nowhere => (None, false),
            KeylogSetting::To(path) => (Some(path.as_os_str().to_owned()), false),
            KeylogSetting::Environment if options.use_environment => {
                (sys::environment_variable(c"SSLKEYLOGFILE").filter(|path| !path.is_empty()), true)
            }
            KeylogSetting::Environment => (None, false),
        };
        path.map(|path| KeylogFile::new(&path, is_from_environment)).transpose()
    }

    fn new(path: &OsStr, is_from_environment: bool) -> Result<KeylogFile> {
        let path = memory::copy_c_string(path.as_encoded_bytes(), "a path")?;
        Ok(KeylogFile { path, is_from_environment, file: OnceBox::new() })
    }

    /// Opens the file, unless it is open.
    pub(crate) fn open(&self) -> Result<()> {
        if self.file.get().is_some() {
            return Ok(());
        }
        let path = Path::new(OsStr::from_bytes(self.path.to_bytes()));
        // Mode 0600: other users must not read the secrets. O_NONBLOCK: opening a FIFO without a reader fails instead
        // of blocking, and a line for a full FIFO is dropped instead of delaying the connection.
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(path);
        let file = file.map_err(|error| {
            let error = Error::from_io(Status::Io, format!("cannot open key log {}", path.display()), &error);
            match self.is_from_environment {
                true => error.prefixed("SSLKEYLOGFILE"),
                false => error.with_setting(ApiName::SetKeylogFile),
            }
        })?;
        // If another thread has opened the file, this descriptor is closed.
        let _ = self.file.set(Box::new(file));
        Ok(())
    }

    pub(crate) fn path(&self) -> &CStr {
        &self.path
    }
}

impl KeyLog for KeylogFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let Some(file) = self.file.get() else { return };
        let mut line =
            Zeroizing::new(String::with_capacity(label.len() + 2 * (client_random.len() + secret.len()) + 3));
        line.push_str(label);
        for bytes in [client_random, secret] {
            line.push(' ');
            for byte in bytes {
                let _ = write!(line, "{byte:02x}");
            }
        }
        line.push('\n');
        // A single call of write(2) keeps the lines of several processes from mixing. A failed write to the key log
        // does not fail the connection.
        let _ = sys::write_without_signal(file.as_raw_fd(), line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn open(path: &Path) -> KeylogFile {
        let log = KeylogFile::new(path.as_os_str(), false).unwrap();
        log.open().unwrap();
        log
    }

    #[test]
    fn key_log_appends_whole_lines_to_an_existing_file() {
        let path = std::env::temp_dir().join(format!("netlib-keylog-{}", std::process::id()));
        for _ in 0..2 {
            let log = open(&path);
            log.log("CLIENT_RANDOM", &[0x01, 0xab], &[0xff]);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "CLIENT_RANDOM 01ab ff\n".repeat(2));
    }

    #[test]
    fn writing_the_key_log_to_a_pipe_neither_blocks_nor_raises_sigpipe() {
        let (mut read, write) = std::io::pipe().unwrap();
        let log = open(Path::new(&format!("/dev/fd/{}", write.as_raw_fd())));
        drop(write);
        // Writes more bytes than the pipe's buffer holds.
        for _ in 0..100 {
            log.log("X", &[0; 1000], &[0; 1000]);
        }
        let mut line = vec![0; 4004];
        read.read_exact(&mut line).unwrap();
        assert_eq!((line[0], line[4003]), (b'X', b'\n'));
        drop(read);
        let before = sys::is_signal_blocked(libc::SIGPIPE);
        log.log("X", &[], &[]);
        assert_eq!(sys::is_signal_blocked(libc::SIGPIPE), before);
    }
}
