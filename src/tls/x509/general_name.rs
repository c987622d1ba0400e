//! Reads the names in the subjectAltName extension: host names, IP addresses, email addresses and URIs.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::der::{Der, tag};
use super::name::push_escaped;

/// A name in the subjectAltName extension, of a kind that netlib reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneralName<'a> {
    Email(&'a [u8]),
    Dns(&'a [u8]),
    Uri(&'a [u8]),
    /// An IP address: four or sixteen bytes in valid certificates.
    Ip(&'a [u8]),
}

impl GeneralName<'_> {
    /// Returns the name as text, escaped as in [`super::name::Name::text`].
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        match self {
            GeneralName::Email(text) | GeneralName::Dns(text) | GeneralName::Uri(text) => {
                push_escaped(&mut out, text, "\\");
            }
            GeneralName::Ip(address) => {
                if let Ok(v4) = <[u8; 4]>::try_from(*address) {
                    return Ipv4Addr::from(v4).to_string();
                }
                if let Ok(v6) = <[u8; 16]>::try_from(*address) {
                    return Ipv6Addr::from(v6).to_string();
                }
                out.push('#');
                out.extend(address.iter().map(|byte| format!("{byte:02x}")));
            }
        }
        out
    }
}

/// Iterates over the names of a subjectAltName extension in their order. Names of the kinds that [`GeneralName`] lacks
/// are skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeneralNames<'a>(pub(super) Der<'a>);

impl GeneralNames<'_> {
    /// Returns true if no name is left, not even one of a kind that is skipped.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Iterator for GeneralNames<'a> {
    type Item = GeneralName<'a>;

    fn next(&mut self) -> Option<GeneralName<'a>> {
        const EMAIL: u8 = tag::implicit(1);
        const DNS: u8 = tag::implicit(2);
        const URI: u8 = tag::implicit(6);
        const IP: u8 = tag::implicit(7);
        loop {
            let name = self.0.next()?;
            return Some(match name.tag {
                EMAIL => GeneralName::Email(name.content),
                DNS => GeneralName::Dns(name.content),
                URI => GeneralName::Uri(name.content),
                IP => GeneralName::Ip(name.content),
                _ => continue,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_names_are_formatted_and_escaped() {
        for (name, expected) in [
            (GeneralName::Dns(b"*.example.com"), "*.example.com"),
            (GeneralName::Dns(b"good.example\0.evil.example"), "good.example\\00.evil.example"),
            (GeneralName::Dns(b"a, DNS:b"), "a, DNS:b"),
            (GeneralName::Dns(b"a\\00"), "a\\\\00"),
            (GeneralName::Dns(b" a "), " a "),
            (GeneralName::Uri(b"https://a/?b#c"), "https://a/?b#c"),
            (GeneralName::Email(b"a\n@b"), "a\\0A@b"),
            (GeneralName::Ip(&[127, 0, 0, 1]), "127.0.0.1"),
            (GeneralName::Ip(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), "::1"),
            (GeneralName::Ip(&[10, 0, 0, 0, 255, 0, 0, 0]), "#0a000000ff000000"),
            (GeneralName::Ip(&[]), "#"),
        ] {
            assert_eq!(name.text(), expected);
        }
    }
}
