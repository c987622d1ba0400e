//! Connection keys: texts that identify connections in a pool. Two requests with different keys must not share a
//! connection.

use std::ffi::CString;

use crate::digest::{Digest, Settings};
use crate::error::{Error, Result};
use crate::socket::connect_options::ConnectOptions;
use crate::status::Status;
use crate::tls::Context;
use crate::url::Url;

/// The size of a key, including its NUL.
pub const SIZE: usize = 65;

/// The settings that determine the peer of a connection and the identity with which the caller connects.
pub struct KeyInput<'a> {
    pub url: &'a Url,
    pub proxy: Option<&'a Url>,
    pub context: Option<&'a Context>,
    pub options: &'a ConnectOptions,
    /// Further data from the caller that the key must depend on.
    pub extra: &'a [&'a [u8]],
}

pub fn of(parts: &KeyInput<'_>) -> Result<CString> {
    let proxy = parts.proxy.map(|proxy| origin_digest(proxy, "proxy")).transpose()?;
    let context = parts.context.map(Context::digest).transpose()?;
    Ok(Settings::new("connection")
        .with("url", &origin_digest(parts.url, "url")?)
        .with_option("proxy", proxy.as_ref().map(Digest::as_slice))
        .with_option("context", context.map(|text| text.to_bytes()))
        .with("options", &parts.options.digest())
        .with_list("extra", parts.extra.iter().copied())
        .finish_hex())
}

/// Returns the digest of a URL's scheme, host, port and userinfo. A missing scheme means http, and a missing port is
/// the scheme's default port. Letter case is ignored in the scheme, and in the host of http and https URLs.
fn origin_digest(url: &Url, parameter: &str) -> Result<Digest> {
    let Some(host) = url.host().filter(|host| !host.is_empty()) else {
        let message = format!("{parameter} has no host");
        return Err(Error::new(Status::InvalidArgument, message));
    };
    let scheme = url.scheme().map_or(&b"http"[..], |scheme| scheme.to_bytes()).to_ascii_lowercase();
    let mut host = host.to_bytes().to_vec();
    if matches!(&scheme[..], b"http" | b"https") {
        // The zone of an IPv6 address keeps its letter case, because names of network interfaces may differ only in
        // case.
        let zone = host.iter().position(|byte| *byte == b'%' && host.starts_with(b"[")).unwrap_or(host.len());
        host.get_mut(..zone).unwrap_or_default().make_ascii_lowercase();
    }
    let port = url.effective_port().map(u16::to_be_bytes);
    Ok(Settings::new("end")
        .with("scheme", &scheme)
        .with("host", &host)
        .with_option("port", port.as_ref().map(<[u8; 2]>::as_slice))
        .with_option("auth", url.auth().map(|auth| auth.to_bytes()))
        .finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str, proxy: Option<&str>, extra: &[&[u8]]) -> Result<CString> {
        let url = Url::parse(url.as_bytes()).unwrap();
        let proxy = proxy.map(|proxy| Url::parse(proxy.as_bytes()).unwrap());
        let options = ConnectOptions::default();
        of(&KeyInput { url: &url, proxy: proxy.as_ref(), context: None, options: &options, extra })
    }

    #[test]
    fn connection_keys_contain_the_normalised_scheme_userinfo_host_and_port() {
        for (urls, are_one) in [
            (["http://example.com/", "HTTP://EXAMPLE.com:80/a?b#c"], true),
            (["https://example.com", "https://example.com:443/"], true),
            (["//example.com/", "http://example.com"], true),
            (["http://b\u{fc}cher.example", "http://xn--bcher-kva.example/"], true),
            (["HTTP://[FE80::1%25a]/", "http://[fe80::1%25a]/"], true),
            (["http+unix://%2Frun%2FS/", "http+unix://%2Frun%2Fs/"], false),
            (["http://example.com/", "https://example.com/"], false),
            (["http://example.com/", "https://example.com:80/"], false),
            (["http://example.com/", "http://example.com:8080/"], false),
            (["http://example.com/", "http://example.com./"], false),
            (["http://example.com/", "http://www.example.com/"], false),
            (["http://example.com/", "http://user@example.com/"], false),
            (["http://user@example.com/", "http://User@example.com/"], false),
            (["http://user:a@example.com/", "http://user:b@example.com/"], false),
            (["http://user@example.com/", "http://user:@example.com/"], false),
            (["http://@example.com/", "http://example.com/"], true),
            (["ftp://example.com/", "ftp://example.com:21/"], false),
            (["http://[fe80::1%25a]/", "http://[fe80::1%25b]/"], false),
            (["http://[fe80::1%25eth0]/", "http://[fe80::1%25ETH0]/"], false),
            (["ftp://[fe80::1%25eth0]/", "ftp://[fe80::1%25ETH0]/"], false),
        ] {
            let keys = urls.map(|url| key(url, None, &[]).unwrap());
            assert_eq!(keys[0] == keys[1], are_one, "{urls:?}");
            let keys = urls.map(|url| key("http://a/", Some(url), &[]).unwrap());
            assert_eq!(keys[0] == keys[1], are_one, "proxies {urls:?}");
        }
    }

    #[test]
    fn connection_keys_differ_if_host_or_proxy_or_extra_data_differ() {
        let mut keys: Vec<_> = [
            key("http://a/", None, &[]),
            key("http://b/", None, &[]),
            key("http://a/", Some("http://b/"), &[]),
            key("http://b/", Some("http://a/"), &[]),
            key("http://a/", None, &[b""]),
            key("http://a/", None, &[b"", b""]),
            key("http://a/", None, &[b"ab"]),
            key("http://a/", None, &[b"a", b"b"]),
            key("http://a/", None, &[b"b", b"a"]),
            key("http://a/", None, &[b"http://b/"]),
        ]
        .into_iter()
        .map(Result::unwrap)
        .collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_connection_key_for_a_url_without_a_host_is_refused() {
        for (url, proxy, message) in [("/a", None, "url has no host"), ("http://a/", Some("/b"), "proxy has no host")]
        {
            let error = key(url, proxy, &[]).unwrap_err();
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, message));
        }
    }
}
