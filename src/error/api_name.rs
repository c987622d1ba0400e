//! Names of API functions and types in error messages and advice. Only `src/ffi` knows their C names.

use std::borrow::Cow;

/// A function or type of the public API that an error message or advice names.
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
    SetBudgetStore,
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
    SetProxyBasicAuth,
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

/// Advice for a failed operation: a purpose, and the API function for this purpose, for example "to offer no early
/// data: set_early_data with 0".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    purpose: Cow<'static, str>,
    name: Option<ApiName>,
    usage: &'static str,
}

impl Advice {
    /// Returns advice to use an API function for a purpose.
    pub const fn new(purpose: &'static str, name: ApiName) -> Advice {
        Advice::with_usage(purpose, name, "")
    }

    /// Returns advice to use an API function for a purpose. `usage`, for example " with 0", follows the function's name
    /// in the text.
    pub const fn with_usage(purpose: &'static str, name: ApiName, usage: &'static str) -> Advice {
        Advice { purpose: Cow::Borrowed(purpose), name: Some(name), usage }
    }

    /// Does what [`Advice::with_usage`] does, for a purpose that contains details of the failed operation.
    pub fn for_purpose(purpose: String, name: ApiName, usage: &'static str) -> Advice {
        Advice { purpose: Cow::Owned(purpose), name: Some(name), usage }
    }

    /// Returns advice that names no API function.
    pub const fn text(text: &'static str) -> Advice {
        Advice { purpose: Cow::Borrowed(text), name: None, usage: "" }
    }

    /// Does what [`Advice::text`] does, for text that contains details of the failed operation.
    pub fn owned_text(text: String) -> Advice {
        Advice { purpose: Cow::Owned(text), name: None, usage: "" }
    }

    /// Returns the advice as text. `name_of` returns the text of an API name.
    pub fn render(&self, name_of: fn(ApiName) -> &'static str) -> Cow<'_, str> {
        match self.name {
            Some(name) => Cow::Owned(format!("{}: {}{}", self.purpose, name_of(name), self.usage)),
            None => Cow::Borrowed(&self.purpose),
        }
    }
}
