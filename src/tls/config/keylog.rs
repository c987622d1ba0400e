//! Writes the secrets of sessions to a file in the NSS key log format, so that captured traffic can be decrypted.

use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustls::KeyLog;
use zeroize::Zeroizing;

use super::options::{KeylogSetting, TlsOptions};
use crate::error::{ApiName, Error, Result};
use crate::memory;
use crate::socket::sys;
use crate::status::Status;

/// An open key log file, which stays open as long as its context or one of its streams exists.
#[derive(Debug)]
pub(crate) struct KeylogFile {
    path: std::ffi::CString,
    file: File,
}

/// Opens the key log file that the options or the variable SSLKEYLOGFILE name.
pub(crate) fn open(options: &TlsOptions) -> Result<Option<KeylogFile>> {
    match &options.keylog {
        KeylogSetting::Nowhere => Ok(None),
        KeylogSetting::To(path) => {
            KeylogFile::open(path).map(Some).map_err(|error| error.with_setting(ApiName::SetKeylogFile))
        }
        KeylogSetting::Environment => {
            let variable = if options.use_environment { sys::environment_variable(c"SSLKEYLOGFILE") } else { None };
            let path = variable.filter(|path| !path.is_empty()).map(PathBuf::from);
            path.map(|path| KeylogFile::open(&path).map_err(|error| error.prefixed("SSLKEYLOGFILE"))).transpose()
        }
    }
}

impl KeylogFile {
    fn open(path: &Path) -> Result<KeylogFile> {
        let name = memory::copy_c_string(path.as_os_str().as_encoded_bytes(), "a path")?;
        // Mode 0600: other users must not read the secrets. O_NONBLOCK: opening a FIFO without a reader fails instead
        // of blocking, and a line for a full FIFO is dropped instead of delaying the connection.
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(path);
        let file = file
            .map_err(|error| Error::from_io(Status::Io, format!("cannot open key log {}", path.display()), &error))?;
        Ok(KeylogFile { path: name, file })
    }

    pub(crate) fn path(&self) -> &std::ffi::CStr {
        &self.path
    }
}

impl KeyLog for KeylogFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
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
        let _ = sys::write_without_signal(self.file.as_raw_fd(), line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn key_log_appends_whole_lines_to_an_existing_file() {
        let path = std::env::temp_dir().join(format!("netlib-keylog-{}", std::process::id()));
        for _ in 0..2 {
            let log = KeylogFile::open(&path).unwrap();
            log.log("CLIENT_RANDOM", &[0x01, 0xab], &[0xff]);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "CLIENT_RANDOM 01ab ff\n".repeat(2));
    }

    #[test]
    fn writing_the_key_log_to_a_pipe_neither_blocks_nor_raises_sigpipe() {
        let (mut read, write) = std::io::pipe().unwrap();
        let log = KeylogFile::open(Path::new(&format!("/dev/fd/{}", write.as_raw_fd()))).unwrap();
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
