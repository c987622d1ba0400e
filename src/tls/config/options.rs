//! Holds the options from which a TLS context is created.

pub(crate) mod bits;
#[cfg(test)]
mod tests;
mod versions;

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use zeroize::Zeroizing;

pub(crate) use versions::Offer;

use super::ciphers::Selection;
use super::code_points::Version;
use super::ech::{ConfigList, Ech};
use super::groups::{self, Group};
use super::server_name_callback::ServerNameCallback;
use crate::callback::{CallbackId, WallClock};
use crate::digest::Settings;
use crate::error::{Advice, ApiName, Error, Result};
use crate::memory;
use crate::status::Status;
use crate::tls::credentials::{identity, key::Password, pem};
use crate::tls::verify::{Pin, crl, trust};

/// The maximum total length of the offered ALPN protocols. The limit leaves room for the other extensions of a
/// ClientHello, whose extension block has a 16-bit length.
const MAX_ALPN: usize = 8192;

/// How the peer's certificate is verified. The numbers of the variants equal those of Python's `ssl` module.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMode {
    None = 0,
    Optional = 1,
    Required = 2,
}

/// The destination of the key log.
#[derive(Clone, Debug)]
pub(crate) enum KeylogSetting {
    /// The file that the environment variable SSLKEYLOGFILE names, if the variable is set and `use_environment` is
    /// true.
    Environment,
    Nowhere,
    To(PathBuf),
}

#[derive(Clone)]
pub struct TlsOptions {
    pub(crate) custom_trust: Vec<trust::Source>,
    pub(crate) system_trust: Option<bool>,
    pub(crate) crls: Vec<crl::Source>,
    pub(crate) embedded_trust: bool,
    pub(crate) verify_mode: Option<VerifyMode>,
    /// Verification flags, which are bits of [`crl::flag`].
    pub(crate) verify_flags: Option<i32>,
    pub(crate) wall_clock: Option<WallClock>,
    pub(crate) wall_clock_id: CallbackId,
    pub(crate) check_hostname: Option<bool>,
    pub(crate) pins: Vec<Pin>,
    pub(crate) pins_replace_chain: bool,
    pub(crate) minimum_version: Version,
    pub(crate) maximum_version: Version,
    /// True if a minimum or maximum version was set.
    pub(crate) has_version_range: bool,
    pub(crate) ssl_version: Option<versions::Method>,
    /// The SSL_OP_ bits that the caller set.
    pub(crate) bits: i64,
    pub(crate) resumption: bool,
    pub(crate) early_data: bool,
    pub(crate) ciphers: Option<Selection>,
    /// The key exchange groups to offer. The list is never empty.
    pub(crate) groups: Option<Vec<Group>>,
    pub(crate) ech: Ech,
    pub(crate) keylog: KeylogSetting,
    pub(crate) alpn: Vec<Vec<u8>>,
    pub(crate) identity: Option<identity::Source>,
    pub(crate) key_password: Option<Password>,
    pub(crate) server_name_callback: Option<ServerNameCallback>,
    pub(crate) server_name_id: CallbackId,
    pub(crate) use_environment: bool,
    pub(crate) server_only: bool,
    /// True if contexts keep the certificates of the trust anchors in DER.
    pub(crate) keeps_trust_anchors: bool,
}

impl Default for TlsOptions {
    fn default() -> TlsOptions {
        TlsOptions {
            custom_trust: Vec::new(),
            system_trust: None,
            crls: Vec::new(),
            embedded_trust: false,
            verify_mode: None,
            verify_flags: None,
            wall_clock: None,
            wall_clock_id: CallbackId::default(),
            check_hostname: None,
            pins: Vec::new(),
            pins_replace_chain: false,
            minimum_version: Version::Tls12,
            maximum_version: Version::Tls13,
            has_version_range: false,
            ssl_version: None,
            bits: bits::DEFAULT,
            resumption: true,
            early_data: false,
            ciphers: None,
            groups: None,
            ech: Ech::default(),
            keylog: KeylogSetting::Environment,
            alpn: Vec::new(),
            identity: None,
            key_password: None,
            server_name_callback: None,
            server_name_id: CallbackId::default(),
            use_environment: true,
            server_only: false,
            keeps_trust_anchors: false,
        }
    }
}

impl TlsOptions {
    /// Adds to a context's digest those options whose values enter the digest unchanged. This function ignores the
    /// other options: the digest contains values that the context computes from these options, except for
    /// `keeps_trust_anchors`, which does not affect sessions.
    pub(crate) fn plain_settings(&self, digest: Settings) -> Settings {
        // The pattern lists every option, so that a new option causes a compile error here until somebody adds it.
        let TlsOptions {
            custom_trust: _,
            system_trust: _,
            crls: _,
            embedded_trust: _,
            verify_mode: _,
            verify_flags: _,
            wall_clock: _,
            wall_clock_id,
            check_hostname: _,
            pins: _,
            pins_replace_chain,
            minimum_version: _,
            maximum_version: _,
            has_version_range: _,
            ssl_version: _,
            bits,
            resumption,
            early_data,
            ciphers: _,
            groups: _,
            ech,
            keylog: _,
            alpn: _,
            identity: _,
            key_password: _,
            server_name_callback: _,
            server_name_id,
            use_environment: _,
            server_only,
            keeps_trust_anchors: _,
        } = self;
        digest
            .with_number("pins replace chain", i32::from(*pins_replace_chain))
            .with("wall clock", &wall_clock_id.to_bytes())
            .with("server-name callback", &server_name_id.to_bytes())
            .with_number("options", *bits)
            .with_number("server only", i32::from(*server_only))
            .with_number("resumption", i32::from(*resumption))
            .with_number("early data", i32::from(*early_data))
            .with_option("ech", ech.list.as_ref().map(|list| list.bytes.as_slice()))
            .with_number("ech grease", i32::from(ech.grease))
    }

    pub fn add_ca_file(&mut self, path: PathBuf) {
        self.custom_trust.push(trust::Source::File(path));
    }

    pub fn add_ca_dir(&mut self, path: PathBuf) {
        self.custom_trust.push(trust::Source::Directory(path));
    }

    pub fn add_ca_data(&mut self, bytes: &[u8]) -> Result<()> {
        let data = copy_bounded(bytes, "data")?;
        memory::push(&mut self.custom_trust, trust::Source::Data(data.into()), "CA data")
    }

    pub fn add_crl_file(&mut self, path: PathBuf) {
        self.crls.push(crl::Source::File(path));
    }

    pub fn add_crl_data(&mut self, bytes: &[u8]) -> Result<()> {
        let data = copy_bounded(bytes, "data")?;
        memory::push(&mut self.crls, crl::Source::Data(data.into()), "CRL data")
    }

    pub fn set_verify_flags(&mut self, flags: i32) -> Result<()> {
        self.verify_flags = Some(crl::checked_flags(flags)?);
        Ok(())
    }

    /// Sets the wall clock. Returns the previous clock, which the caller drops.
    pub fn set_wall_clock(&mut self, clock: Option<WallClock>) -> Option<WallClock> {
        mem::replace(&mut self.wall_clock, clock)
    }

    pub fn set_system_trust(&mut self, on: bool) {
        self.system_trust = Some(on);
    }

    pub fn set_embedded_trust(&mut self, on: bool) {
        self.embedded_trust = on;
    }

    /// Returns true if the system's trust store is used. By default the system's trust store is used if certificate
    /// chains are verified and the application has set no other source of trusted authorities.
    pub(crate) fn trusts_system(&self) -> bool {
        let is_chosen = !self.custom_trust.is_empty() || self.embedded_trust;
        let verifies_nobody = self.server_only && self.server_mode() == VerifyMode::None;
        self.system_trust.unwrap_or(!is_chosen && self.verifies_chain() && !verifies_nobody)
    }

    /// Sets the verify mode. CERT_NONE is refused if the application has turned check_hostname on, as in Python.
    pub fn set_verify_mode(&mut self, code: i32) -> Result<()> {
        let mode = match code {
            0 => VerifyMode::None,
            1 => VerifyMode::Optional,
            2 => VerifyMode::Required,
            _ => {
                let (before, after) = ("mode must be one of ", format!("; it is {code}"));
                return Err(Error::naming(Status::InvalidArgument, before, ApiName::VerifyMode, &after));
            }
        };
        if mode == VerifyMode::None && self.check_hostname == Some(true) {
            let message = "NETLIB_CERT_NONE requires that check_hostname is turned off first";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.verify_mode = Some(mode);
        Ok(())
    }

    /// Turns the host name check on or off. Turning the check on changes CERT_NONE to CERT_REQUIRED, as in Python.
    pub fn set_check_hostname(&mut self, on: bool) {
        self.check_hostname = Some(on);
        if on && self.verify_mode == Some(VerifyMode::None) {
            self.verify_mode = Some(VerifyMode::Required);
        }
    }

    pub fn add_pin(&mut self, text: &[u8]) -> Result<()> {
        memory::push(&mut self.pins, Pin::parse(text)?, "pins")
    }

    pub fn set_pins_replace_chain(&mut self, on: bool) {
        self.pins_replace_chain = on;
    }

    pub fn set_minimum_version(&mut self, code: i32) -> Result<()> {
        self.minimum_version = Version::minimum_from_code(code)?;
        self.has_version_range = true;
        Ok(())
    }

    pub fn set_maximum_version(&mut self, code: i32) -> Result<()> {
        self.maximum_version = Version::from_code(code)?;
        self.has_version_range = true;
        Ok(())
    }

    /// Sets the TLS versions from `code`, which is one of Python's PROTOCOL_ numbers.
    pub fn set_ssl_version(&mut self, code: i32) -> Result<()> {
        self.ssl_version = Some(versions::Method::from_code(code)?);
        Ok(())
    }

    /// Replaces the SSL_OP_ bits by `bits`.
    pub fn set_options(&mut self, bits: i64) -> Result<()> {
        bits::check(bits)?;
        self.bits = bits;
        Ok(())
    }

    /// Clears or sets OP_NO_TICKET.
    pub fn set_session_tickets(&mut self, on: bool) {
        self.bits = if on { self.bits & !bits::NO_TICKET } else { self.bits | bits::NO_TICKET };
    }

    pub fn set_resumption(&mut self, on: bool) {
        self.resumption = on;
    }

    pub fn set_early_data(&mut self, on: bool) {
        self.early_data = on;
    }

    /// Fails if early data contradicts another option. Early data is sent before ALPN negotiation, so at most one
    /// protocol may be offered.
    pub(crate) fn check_early_data(&self) -> Result<()> {
        let refused = |message: &str, advice| {
            let error = Error::new(Status::InvalidArgument, message).with_setting(ApiName::SetEarlyData);
            Err(error.with_advice(advice))
        };
        if self.early_data && self.alpn.len() > 1 {
            let message =
                "early data is sent before an ALPN protocol is negotiated, and several protocols are offered";
            let advice = Advice::with_usage("to offer a single protocol", ApiName::AddAlpnProtocol, ", called once");
            return refused(message, advice);
        }
        if self.early_data && !self.resumption {
            let message = "early data needs resumption, which is off";
            return refused(message, Advice::with_usage("to turn it on", ApiName::SetResumption, " with 1"));
        }
        Ok(())
    }

    /// Selects the cipher suites. `None` or an empty string selects the default suites, as in urllib3.
    pub fn set_ciphers(&mut self, string: Option<&[u8]>) -> Result<()> {
        let string = string.filter(|string| !string.is_empty());
        self.ciphers = string.map(Selection::parse).transpose()?;
        Ok(())
    }

    /// Selects the key exchange groups. `None` or an empty string selects the default groups.
    pub fn set_key_exchange_groups(&mut self, list: Option<&[u8]>) -> Result<()> {
        self.groups = list.filter(|list| !list.is_empty()).map(groups::parse).transpose()?;
        Ok(())
    }

    /// Sets the ECHConfigList; `None` clears the list.
    pub fn set_ech_config_list(&mut self, list: Option<&[u8]>) -> Result<()> {
        self.ech.list = list.map(ConfigList::parse).transpose()?.map(Arc::new);
        Ok(())
    }

    pub fn set_ech_grease(&mut self, on: bool) {
        self.ech.grease = on;
    }

    /// Sets the key log's path. `None` disables the key log, even if SSLKEYLOGFILE is set.
    pub fn set_keylog_file(&mut self, path: Option<PathBuf>) {
        self.keylog = path.map_or(KeylogSetting::Nowhere, KeylogSetting::To);
    }

    /// Returns an error unless the list of NPN protocols is empty. NPN was never standardised, and all TLS libraries
    /// have removed it.
    pub fn set_npn_protocols(&mut self, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let message = "NPN was replaced by ALPN (RFC 7301): ";
        Err(Error::naming(Status::Unsupported, message, ApiName::AddAlpnProtocol, ""))
    }

    pub fn set_hostname_checks_common_name(&mut self, on: bool) -> Result<()> {
        unsupported_if(on, "host names are compared with subject alternative names only (RFC 9525)")
    }

    pub fn set_post_handshake_auth(&mut self, on: bool) -> Result<()> {
        unsupported_if(on, "a client certificate is sent only during the handshake")
    }

    pub fn add_alpn_protocol(&mut self, protocol: &[u8]) -> Result<()> {
        if protocol.is_empty() || protocol.len() > 255 {
            let message = format!("protocol must have 1 to 255 bytes; it has {}", protocol.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        if let Some((at, why)) = find_list_separator(protocol) {
            let message = format!("protocol {why} (at byte {at}): it must be a single protocol name");
            let advice = Advice::with_usage("to offer several", ApiName::AddAlpnProtocol, " for each");
            return Err(Error::new(Status::InvalidArgument, message).at(at).with_advice(advice));
        }
        let offered: usize = self.alpn.iter().map(|protocol| protocol.len() + 1).sum();
        if offered + protocol.len() + 1 > MAX_ALPN {
            let message = format!(
                "all protocols together must have at most {MAX_ALPN} bytes, including one length byte for each"
            );
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.alpn.push(protocol.to_vec());
        Ok(())
    }

    pub fn set_identity(&mut self, chain: &[u8], key: Option<&[u8]>) -> Result<()> {
        let secret = |bytes: &[u8], name: &str| copy_bounded(bytes, name).map(|copy| Arc::new(Zeroizing::new(copy)));
        let (chain, key) = (secret(chain, "chain")?, key.map(|key| secret(key, "key")).transpose()?);
        self.identity = Some(identity::Source::Data { chain, key });
        Ok(())
    }

    pub fn set_identity_files(&mut self, chain: PathBuf, key: Option<PathBuf>) {
        self.identity = Some(identity::Source::Files { chain, key });
    }

    /// Sets the password of the private key, for an identity that is set before or after this call. `None` clears the
    /// password.
    pub fn set_key_password(&mut self, password: Option<&[u8]>) -> Result<()> {
        self.key_password = password.map(Password::new).transpose()?;
        Ok(())
    }

    /// Sets the server name callback. Returns the previous callback, which the caller drops.
    pub fn set_server_name_callback(&mut self, callback: Option<ServerNameCallback>) -> Option<ServerNameCallback> {
        mem::replace(&mut self.server_name_callback, callback)
    }

    pub fn set_use_environment(&mut self, on: bool) {
        self.use_environment = on;
    }

    /// Sets whether the context creates only server sessions. A context that creates only server sessions loads
    /// authorities only if it requests client certificates.
    pub fn set_server_only(&mut self, on: bool) {
        self.server_only = on;
    }

    pub fn set_keep_trust_anchors(&mut self, on: bool) {
        self.keeps_trust_anchors = on;
    }

    /// Returns the verification mode of clients.
    pub(crate) fn client_mode(&self) -> VerifyMode {
        self.verify_mode.unwrap_or(VerifyMode::Required)
    }

    /// Returns the verification mode of servers. By default servers request no certificate.
    pub(crate) fn server_mode(&self) -> VerifyMode {
        self.verify_mode.unwrap_or(VerifyMode::None)
    }

    /// Returns true if the peer's certificate must chain to a trusted authority. A server verifies client certificates
    /// only if it requests them.
    pub(crate) fn verifies_chain(&self) -> bool {
        self.client_mode() != VerifyMode::None && !self.pins_replace_chain
    }

    /// Returns true if the host name is checked. By default the host name is checked unless the verify mode is
    /// CERT_NONE. This default includes CERT_OPTIONAL. For CERT_OPTIONAL, urllib3 turns this check off and compares the
    /// host name after the handshake, but netlib has no check after the handshake.
    pub(crate) fn checks_hostname(&self) -> bool {
        self.check_hostname.unwrap_or(self.client_mode() != VerifyMode::None)
    }
}

/// If `protocol` is probably a list of several ALPN protocols instead of one, returns the offset of the first sign of a
/// list, and a text that describes the sign. RFC 7301 allows any bytes, but no registered protocol name contains a
/// comma or begins with its own length. In OpenSSL's list format, each name follows a byte with its length.
fn find_list_separator(protocol: &[u8]) -> Option<(usize, &'static str)> {
    if let Some(at) = memchr::memchr(b',', protocol) {
        return Some((at, "has a comma"));
    }
    let mut rest = protocol;
    while let [length @ 1..b' ', after @ ..] = rest {
        rest = after.get(usize::from(*length)..)?;
    }
    rest.is_empty().then_some((0, "contains length bytes"))
}

fn unsupported_if(on: bool, reason: &str) -> Result<()> {
    if on { Err(Error::new(Status::Unsupported, reason)) } else { Ok(()) }
}

fn copy_bounded(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    memory::copy(pem::bounded(bytes, name)?, name)
}
