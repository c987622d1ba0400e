//! What a context is made from.

use std::path::PathBuf;

use super::engine::greeting::ServerNameCallback;
use super::names::Version;
use super::{identity, pem, trust};
use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// What fits beside everything else into the first message of a handshake, whose lengths have 16 bits.
const MAX_ALPN: usize = 8192;

/// What is asked of the peer's certificate, with the numbers of Python's `ssl` module.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMode {
    None = 0,
    Optional = 1,
    Required = 2,
}

/// The setters of netlib.h, for errors that are found only when a context is made.
pub(crate) mod setter {
    pub(crate) const CA_FILE: &str = "netlib_tls_options_add_ca_file";
    pub(crate) const CA_DATA: &str = "netlib_tls_options_add_ca_data";
    pub(crate) const SYSTEM_TRUST: &str = "netlib_tls_options_set_system_trust";
    pub(crate) const MINIMUM_VERSION: &str = "netlib_tls_options_set_minimum_version";
    pub(crate) const IDENTITY: &str = "netlib_tls_options_set_identity";
    pub(crate) const IDENTITY_FILES: &str = "netlib_tls_options_set_identity_files";
}

#[derive(Clone)]
pub struct TlsOptions {
    pub(crate) custom_trust: Vec<trust::Source>,
    pub(crate) system_trust: Option<bool>,
    pub(crate) verify_mode: Option<VerifyMode>,
    pub(crate) check_hostname: Option<bool>,
    pub(crate) minimum_version: Version,
    pub(crate) maximum_version: Version,
    pub(crate) alpn: Vec<Vec<u8>>,
    pub(crate) identity: Option<identity::Source>,
    pub(crate) server_name_callback: Option<ServerNameCallback>,
    pub(crate) use_environment: bool,
}

impl Default for TlsOptions {
    fn default() -> TlsOptions {
        TlsOptions {
            custom_trust: Vec::new(),
            system_trust: None,
            verify_mode: None,
            check_hostname: None,
            minimum_version: Version::Tls12,
            maximum_version: Version::Tls13,
            alpn: Vec::new(),
            identity: None,
            server_name_callback: None,
            use_environment: true,
        }
    }
}

impl TlsOptions {
    pub fn add_ca_file(&mut self, path: PathBuf) {
        self.custom_trust.push(trust::Source::File(path));
    }

    pub fn add_ca_data(&mut self, bytes: &[u8]) -> Result<()> {
        let data = copied(bytes, "data")?;
        memory::push(&mut self.custom_trust, trust::Source::Data(data), "CA data")
    }

    pub fn set_system_trust(&mut self, on: bool) {
        self.system_trust = Some(on);
    }

    /// Python's tie between the two settings: NONE is refused once names are to be checked.
    pub fn set_verify_mode(&mut self, code: i32) -> Result<()> {
        let mode = match code {
            0 => VerifyMode::None,
            1 => VerifyMode::Optional,
            2 => VerifyMode::Required,
            _ => {
                let message = format!("mode must be one of enum netlib_verify_mode; it is {code}");
                return Err(Error::new(Status::InvalidArgument, message));
            }
        };
        if mode == VerifyMode::None && self.check_hostname == Some(true) {
            let message = "NETLIB_CERT_NONE needs check_hostname to be turned off before";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.verify_mode = Some(mode);
        Ok(())
    }

    /// The other half of the tie: a name can only be checked on a certificate that is.
    pub fn set_check_hostname(&mut self, on: bool) {
        self.check_hostname = Some(on);
        if on && self.verify_mode == Some(VerifyMode::None) {
            self.verify_mode = Some(VerifyMode::Required);
        }
    }

    pub fn set_minimum_version(&mut self, code: i32) -> Result<()> {
        self.minimum_version = Version::from_code(code)?;
        Ok(())
    }

    pub fn set_maximum_version(&mut self, code: i32) -> Result<()> {
        self.maximum_version = Version::from_code(code)?;
        Ok(())
    }

    pub fn add_alpn_protocol(&mut self, protocol: &[u8]) -> Result<()> {
        if protocol.is_empty() || protocol.len() > 255 {
            let message = format!("protocol must have 1 to 255 bytes; it has {}", protocol.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let offered: usize = self.alpn.iter().map(|protocol| protocol.len() + 1).sum();
        if offered + protocol.len() + 1 > MAX_ALPN {
            let message =
                format!("all protocols together must have at most {MAX_ALPN} bytes, one more for each included");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.alpn.push(protocol.to_vec());
        Ok(())
    }

    pub fn set_identity(&mut self, chain: &[u8], key: Option<&[u8]>) -> Result<()> {
        let (chain, key) = (copied(chain, "chain")?, key.map(|key| copied(key, "key")).transpose()?);
        self.identity = Some(identity::Source::Data { chain, key });
        Ok(())
    }

    pub fn set_identity_files(&mut self, chain: PathBuf, key: Option<PathBuf>) {
        self.identity = Some(identity::Source::Files { chain, key });
    }

    pub fn set_server_name_callback(&mut self, callback: Option<ServerNameCallback>) {
        self.server_name_callback = callback;
    }

    pub fn set_use_environment(&mut self, on: bool) {
        self.use_environment = on;
    }

    /// What a client asks of a server.
    pub(crate) fn client_mode(&self) -> VerifyMode {
        self.verify_mode.unwrap_or(VerifyMode::Required)
    }

    /// What a server asks of a client: nothing unless told.
    pub(crate) fn server_mode(&self) -> VerifyMode {
        self.verify_mode.unwrap_or(VerifyMode::None)
    }

    /// Unless set: on whenever a certificate is verified. urllib3 makes contexts that leave it off for OPTIONAL, and then
    /// compares the name itself; here nobody comes after.
    pub(crate) fn checks_hostname(&self) -> bool {
        self.check_hostname.unwrap_or(self.client_mode() != VerifyMode::None)
    }
}

/// A copy of what is not larger than a file may be: what is parsed from it grows with it.
fn copied(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    if bytes.len() as u64 > pem::MAX_FILE {
        let message = format!("{name} must have at most 16 MiB; it has {} bytes", bytes.len());
        return Err(Error::new(Status::InvalidArgument, message));
    }
    memory::copy(bytes, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_bounded_each_and_together() {
        let mut options = TlsOptions::default();
        for protocol in [&b""[..], &[b'x'; 256]] {
            assert_eq!(options.add_alpn_protocol(protocol).unwrap_err().status(), Status::InvalidArgument);
        }
        for _ in 0..MAX_ALPN / 256 {
            options.add_alpn_protocol(&[b'x'; 255]).unwrap();
        }
        assert_eq!(options.add_alpn_protocol(b"h2").unwrap_err().status(), Status::InvalidArgument);
    }

    #[test]
    fn the_mode_and_the_name_are_tied() {
        let made = |steps: &[(&str, i32)]| {
            let mut options = TlsOptions::default();
            for (what, value) in steps {
                match *what {
                    "mode" => options.set_verify_mode(*value).map_err(|error| error.status())?,
                    _ => options.set_check_hostname(*value == 1),
                }
            }
            Ok((options.client_mode() as i32, options.checks_hostname()))
        };
        let refused = Err(Status::InvalidArgument);
        for (steps, expected) in [
            (&[][..], Ok((2, true))),
            (&[("mode", 2)], Ok((2, true))),
            (&[("mode", 1)], Ok((1, true))),
            (&[("mode", 0)], Ok((0, false))),
            (&[("name", 0)], Ok((2, false))),
            (&[("name", 0), ("mode", 0)], Ok((0, false))),
            (&[("mode", 1), ("name", 0)], Ok((1, false))),
            (&[("mode", 1), ("name", 1)], Ok((1, true))),
            (&[("mode", 0), ("name", 1)], Ok((2, true))),
            (&[("name", 1), ("mode", 0)], refused),
            (&[("mode", 3)], refused),
            (&[("mode", -1)], refused),
        ] {
            assert_eq!(made(steps), expected, "{steps:?}");
        }
    }
}
