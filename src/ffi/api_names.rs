//! The C names of the functions and types that error messages mention.

use crate::error::ApiName;

pub(super) fn c_name(name: ApiName) -> &'static str {
    match name {
        ApiName::AddAlpnProtocol => "netlib_tls_options_add_alpn_protocol",
        ApiName::AddCaData => "netlib_tls_options_add_ca_data",
        ApiName::AddCaDir => "netlib_tls_options_add_ca_dir",
        ApiName::AddCaFile => "netlib_tls_options_add_ca_file",
        ApiName::AddCrl => "netlib_tls_options_add_crl_file or netlib_tls_options_add_crl_data",
        ApiName::AddCrlData => "netlib_tls_options_add_crl_data",
        ApiName::AddCrlFile => "netlib_tls_options_add_crl_file",
        ApiName::AddPin => "netlib_tls_options_add_pin",
        ApiName::AddTrust => {
            "netlib_tls_options_add_ca_file, netlib_tls_options_add_ca_data or netlib_tls_options_set_system_trust"
        }
        ApiName::EchRetryConfigs => "netlib_tls_context_with_ech and netlib_error_ech_retry_configs",
        ApiName::ParseCertificate => {
            "netlib_certificate_parse, whose certificate has a netlib_certificate_fingerprint too"
        }
        ApiName::Purpose => "enum netlib_purpose",
        ApiName::ResolveSslVersion => "netlib_resolve_ssl_version",
        ApiName::RetryKind => "netlib_retry_kind",
        ApiName::SetBudgetStore => "netlib_retry_budget_options_set_store",
        ApiName::SetCiphers => "netlib_tls_options_set_ciphers",
        ApiName::SetEarlyData => "netlib_tls_options_set_early_data",
        ApiName::SetEchConfigList => "netlib_tls_options_set_ech_config_list",
        ApiName::SetEchGrease => "netlib_tls_options_set_ech_grease",
        ApiName::SetIdentity => "netlib_tls_options_set_identity",
        ApiName::SetIdentityFiles => "netlib_tls_options_set_identity_files",
        ApiName::SetKeyExchangeGroups => "netlib_tls_options_set_key_exchange_groups",
        ApiName::SetKeyPassword => "netlib_tls_options_set_key_password",
        ApiName::SetKeylogFile => "netlib_tls_options_set_keylog_file",
        ApiName::SetMinimumVersion => "netlib_tls_options_set_minimum_version",
        ApiName::SetOptionBits => "netlib_tls_options_set_option_bits",
        ApiName::SetPinsReplaceChain => "netlib_tls_options_set_pins_replace_chain",
        ApiName::SetProxyBasicAuth => "netlib_headers_options_set_proxy_basic_auth",
        ApiName::SetResumption => "netlib_tls_options_set_resumption",
        ApiName::SetServerOnly => "netlib_tls_options_set_server_only",
        ApiName::SetSslVersion => "netlib_tls_options_set_ssl_version",
        ApiName::SetSystemTrust => "netlib_tls_options_set_system_trust",
        ApiName::SetVerifyFlags => "netlib_tls_options_set_verify_flags",
        ApiName::SetVerifyMode => "netlib_tls_options_set_verify_mode",
        ApiName::SetVersions => "netlib_tls_options_set_minimum_version and netlib_tls_options_set_maximum_version",
        ApiName::TlsVersion => "enum netlib_tls_version",
        ApiName::VerifyFlag => "enum netlib_verify_flag",
        ApiName::VerifyMode => "enum netlib_verify_mode",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_api_name_in_error_messages_is_in_the_header() {
        let words = |text: &'static str| text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let header: std::collections::HashSet<&str> = words(include_str!("../../include/netlib.h")).collect();
        let names: Vec<&str> =
            words(include_str!("api_names.rs")).filter(|word| word.starts_with("netlib_")).collect();
        assert!(names.len() > 30);
        for name in names.into_iter().filter(|name| *name != "netlib_") {
            assert!(header.contains(name), "{name}");
        }
    }
}
