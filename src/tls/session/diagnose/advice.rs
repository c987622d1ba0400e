//! Defines the advice on settings that would change the result of a handshake.

use crate::error::{Advice, ApiName};

/// The settings that may exclude a version, cipher suite or group that netlib supports: `versions` is true if only one
/// version is offered; `ciphers` and `groups` are true if the application has set them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Restrictions {
    pub(crate) versions: bool,
    pub(crate) ciphers: bool,
    pub(crate) groups: bool,
    /// Encrypted Client Hello excludes TLS 1.2.
    pub(crate) ech: bool,
}

impl Restrictions {
    pub(super) fn versions(self) -> Option<Advice> {
        self.versions.then_some(if self.ech { WITHOUT_ECH } else { VERSIONS })
    }

    pub(super) fn ciphers(self) -> Option<Advice> {
        self.ciphers.then_some(CIPHERS)
    }

    pub(super) fn groups(self) -> Option<Advice> {
        self.groups.then_some(GROUPS)
    }
}

pub(super) const A_CERTIFICATE: Advice = Advice::new("to present a certificate", ApiName::SetIdentity);
pub(super) const OWN_CERTIFICATE: Advice = Advice::new("to present another certificate", ApiName::SetIdentity);
pub(super) const PROTOCOLS: Advice = Advice::new("to offer other protocols", ApiName::AddAlpnProtocol);
pub(super) const CIPHERS: Advice = Advice::new("to allow other cipher suites", ApiName::SetCiphers);
pub(super) const EARLY_DATA: Advice = Advice::with_usage("to offer no early data", ApiName::SetEarlyData, " with 0");
pub(super) const GROUPS: Advice = Advice::new("to allow other groups", ApiName::SetKeyExchangeGroups);
pub(super) const VERSIONS: Advice = Advice::new("to allow other versions", ApiName::SetVersions);

pub(super) const WITHOUT_ECH: Advice =
    Advice::text("Encrypted Client Hello needs TLS 1.3; a context without Encrypted Client Hello can use TLS 1.2");
pub(super) const RETRY_ECH: Advice = Advice::new("to try again on a new connection", ApiName::EchRetryConfigs);
pub(super) const RETRY_WITHOUT_ECH: Advice = Advice::text(
    "to connect without Encrypted Client Hello, with a visible server name: use a context without an ECHConfigList",
);
