//! Parses the name that a server's certificate is verified against: a DNS name or an IP address.

use std::net::{IpAddr, Ipv6Addr};

use rustls_pki_types::{DnsName, ServerName};

use crate::error::{Error, Result};
use crate::status::Status;

/// The longest host name that an error message quotes; DNS names have at most 253 bytes.
const MAX_SHOWN: usize = 256;
/// The longest accepted host name. A valid name has at most this many bytes before IDNA processing.
const MAX_HOST: usize = 4096;

/// Parses a host as written in a URL: a DNS name or an IP address, which may be in brackets. A zone identifier
/// ("%eth0") names a local network interface and is used neither for matching nor for SNI. Non-ASCII names are
/// converted by IDNA (UTS 46). One trailing dot is dropped, because names in certificates have no trailing dot.
pub(crate) fn parse(host: &str) -> Result<ServerName<'static>> {
    of_parameter(host, "server_hostname")
}

/// Parses a host like [`parse`]; error messages call the host `parameter`.
pub(crate) fn of_parameter(host: &str, parameter: &str) -> Result<ServerName<'static>> {
    let invalid = || {
        // The error message quotes neither a host with "@", which may contain a password, nor a very long host.
        let shown = if host.contains('@') || host.len() > MAX_SHOWN { String::new() } else { format!("{host:?} ") };
        Error::new(Status::InvalidArgument, format!("{parameter} {shown}is not a host name"))
    };
    if host.len() > MAX_HOST {
        return Err(invalid());
    }
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Some(address) = parse_address(bare) {
        return Ok(ServerName::IpAddress(address.into()));
    }
    if bare.len() != host.len() {
        return Err(invalid());
    }
    let ascii = idna::domain_to_ascii(host).map_err(|_| invalid())?;
    let name = ascii.strip_suffix('.').unwrap_or(&ascii);
    if name.ends_with('.') {
        return Err(invalid());
    }
    let name = DnsName::try_from(name).map_err(|_| invalid())?;
    Ok(ServerName::DnsName(name.to_owned()))
}

fn parse_address(text: &str) -> Option<IpAddr> {
    match text.split_once('%') {
        Some((address, zone)) if !zone.is_empty() => address.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_parsed_as_dns_names_or_ip_addresses_or_refused() {
        for (host, expected) in [
            ("localhost", "localhost"),
            ("Example.COM", "example.com"),
            ("example.com.", "example.com"),
            ("a_b.example", "a_b.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("faß.de", "xn--fa-hia.de"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("fe80::1%eth0", "fe80::1"),
            ("[fe80::1%25eth0]", "fe80::1"),
        ] {
            let name = parse(host).unwrap();
            assert_eq!(name.to_str(), expected, "{host}");
            assert_eq!(matches!(name, ServerName::IpAddress(_)), expected.parse::<IpAddr>().is_ok());
        }
        for host in [
            "",
            ".",
            "a..b",
            "example.com..",
            "a b",
            "[example.com]",
            "::1%",
            "127.0.0.1%eth0",
            "a/b",
            "-a",
            "xn--a",
            "1.2.3.256",
            "user:password@localhost",
        ] {
            assert_eq!(parse(host).map_err(|error| error.status()), Err(Status::InvalidArgument), "{host}");
        }
    }

    #[test]
    fn error_messages_omit_hosts_over_256_bytes_and_hosts_with_an_at_sign() {
        for host in ["user:password@localhost".to_owned(), "a b".repeat(1000), "a".repeat(MAX_HOST + 1)] {
            let error = parse(&host).unwrap_err();
            assert_eq!(error.message(), "server_hostname is not a host name");
        }
        assert_eq!(parse("a b").unwrap_err().message(), "server_hostname \"a b\" is not a host name");
    }
}
