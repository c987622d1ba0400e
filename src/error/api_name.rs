//! Names of the public API in the texts of errors. Only `src/ffi` knows how C spells them.

use std::borrow::Cow;

/// A function or type of the public API that a message or an advice names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiName {
    AddAlpnProtocol,
    AddCaData,
    AddCaDir,
    AddCaFile,
    AddCrl,
    AddCrlData,
    AddCrlFile,
    AddPin,
    AddTrust,
    EchRetryConfigs,
    ParseCertificate,
    Purpose,
    ResolveSslVersion,
    RetryKind,
    SetCiphers,
    SetEarlyData,
    SetEchConfigList,
    SetEchGrease,
    SetIdentity,
    SetIdentityFiles,
    SetKeyExchangeGroups,
    SetKeyPassword,
    SetKeylogFile,
    SetMinimumVersion,
    SetOptionBits,
    SetPinsReplaceChain,
    SetResumption,
    SetServerOnly,
    SetSslVersion,
    SetSystemTrust,
    SetVerifyFlags,
    SetVerifyMode,
    SetVersions,
    TlsVersion,
    VerifyFlag,
    VerifyMode,
}

/// The setting that would change the outcome of a failed operation: "to offer none: set_early_data with 0".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    purpose: Cow<'static, str>,
    name: Option<ApiName>,
    usage: &'static str,
}

impl Advice {
    /// Advises to use this part of the API for this purpose.
    pub const fn new(purpose: &'static str, name: ApiName) -> Advice {
        Advice::with_usage(purpose, name, "")
    }

    /// Like [`Advice::new`]; `usage` follows the name, as in " with 0".
    pub const fn with_usage(purpose: &'static str, name: ApiName, usage: &'static str) -> Advice {
        Advice { purpose: Cow::Borrowed(purpose), name: Some(name), usage }
    }

    /// Like [`Advice::with_usage`], for a purpose that contains details of the failed operation.
    pub fn for_purpose(purpose: String, name: ApiName, usage: &'static str) -> Advice {
        Advice { purpose: Cow::Owned(purpose), name: Some(name), usage }
    }

    /// Returns advice that names no part of the API.
    pub const fn text(text: &'static str) -> Advice {
        Advice { purpose: Cow::Borrowed(text), name: None, usage: "" }
    }

    /// Like [`Advice::text`], for text that contains details of the failed operation.
    pub fn owned_text(text: String) -> Advice {
        Advice { purpose: Cow::Owned(text), name: None, usage: "" }
    }

    /// Returns the text of the advice. `name_of` returns the spelling of a name.
    pub fn render(&self, name_of: fn(ApiName) -> &'static str) -> Cow<'_, str> {
        match self.name {
            Some(name) => Cow::Owned(format!("{}: {}{}", self.purpose, name_of(name), self.usage)),
            None => Cow::Borrowed(&self.purpose),
        }
    }
}
