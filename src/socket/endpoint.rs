//! The address of a connection: an IP address with a port, or a Unix domain socket.

use std::ffi::OsStr;
use std::fmt;
use std::mem::offset_of;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;

use libc::sockaddr_un;
use socket2::{Domain, SockAddr};

use crate::error::{Error, Result};
use crate::socket::address_class::{Classes, classify};
use crate::status::Status;

/// An address that can be passed to connect(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Ip(SocketAddr),
    Unix(UnixAddress),
}

impl Endpoint {
    pub(crate) fn all_ip(addresses: Vec<SocketAddr>) -> Vec<Endpoint> {
        addresses.into_iter().map(Endpoint::Ip).collect()
    }

    /// Returns the sockaddr that is passed to connect(2) and to the address callback.
    pub(crate) fn to_sockaddr(&self) -> SockAddr {
        match self {
            Endpoint::Ip(address) => SockAddr::from(*address),
            Endpoint::Unix(address) => address.0.clone(),
        }
    }

    pub(crate) fn domain(&self) -> Domain {
        match self {
            Endpoint::Ip(address) => Domain::for_address(*address),
            Endpoint::Unix(_) => Domain::UNIX,
        }
    }

    pub(crate) fn classes(&self) -> Classes {
        match self {
            Endpoint::Ip(address) => classify(address.ip()),
            Endpoint::Unix(_) => Classes::UNIX,
        }
    }

    pub(crate) fn port(&self) -> Option<u16> {
        match self {
            Endpoint::Ip(address) => Some(address.port()),
            Endpoint::Unix(_) => None,
        }
    }

    /// Returns the address without the port as text: "192.0.2.1", "fe80::1%2", "/run/socket", "@abstract".
    pub(crate) fn name(&self) -> String {
        match self {
            Endpoint::Ip(SocketAddr::V6(v6)) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
            Endpoint::Ip(address) => address.ip().to_string(),
            Endpoint::Unix(address) => address.printable(),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint::Ip(address)
    }
}

/// Formats the address for error messages: "192.0.2.1 port 80".
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port() {
            Some(port) => write!(f, "{} port {port}", self.name()),
            None => f.write_str(&self.name()),
        }
    }
}

/// The address of a Unix domain socket: a path or, on Linux, an abstract name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnixAddress(SockAddr);

/// The size of `sun_path`. A path needs one byte for its NUL; an abstract name may use all bytes.
const SUN_PATH: usize = size_of::<sockaddr_un>() - offset_of!(sockaddr_un, sun_path);
const HAS_ABSTRACT_NAMES: bool = cfg!(any(target_os = "linux", target_os = "android"));

impl UnixAddress {
    /// Creates a Unix socket address. `name` is a path without its NUL, or an abstract name with its leading NUL.
    pub fn new(name: &[u8]) -> Result<UnixAddress> {
        let refused = |message| Err(Error::new(Status::InvalidArgument, message));
        let is_abstract = name.first() == Some(&0);
        let (what, most) = if is_abstract { ("abstract name", SUN_PATH) } else { ("path", SUN_PATH - 1) };
        if name.is_empty() {
            return refused("the path of a Unix domain socket is empty".to_owned());
        }
        // If all bytes are 0, the caller has passed a zeroed sockaddr_un without writing a path into it.
        if name.iter().all(|byte| *byte == 0) {
            return refused("the address of a Unix domain socket has only NUL bytes".to_owned());
        }
        if is_abstract && !HAS_ABSTRACT_NAMES {
            let message = "this system does not support abstract names of Unix domain sockets";
            return Err(Error::new(Status::Unsupported, message));
        }
        if name.len() > most {
            let with_nul = if is_abstract { ", including the leading NUL" } else { "" };
            return refused(format!(
                "the {what} of a Unix domain socket has {} bytes{with_nul}; at most {most} fit",
                name.len()
            ));
        }
        if let Some(at) = name.iter().position(|byte| *byte == 0).filter(|_| !is_abstract) {
            return refused(format!("the path of a Unix domain socket has a NUL at byte {at}")).map_err(|e| e.at(at));
        }
        match SockAddr::unix(OsStr::from_bytes(name)) {
            Ok(address) => Ok(UnixAddress(address)),
            Err(error) => {
                Err(Error::from_io(Status::InvalidArgument, format!("the {what} is not a valid address"), &error))
            }
        }
    }

    pub(crate) fn is_abstract(&self) -> bool {
        self.0.as_pathname().is_none()
    }

    /// Returns the path, or "@" and the abstract name. Unprintable bytes and backslashes are escaped as in C.
    fn printable(&self) -> String {
        let (mark, name) = match self.0.as_pathname() {
            Some(path) => ("", path.as_os_str().as_bytes()),
            None => ("@", self.0.as_abstract_namespace().unwrap_or(&[])),
        };
        let mut text = mark.to_owned();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
        for chunk in name.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => text.push_str("\\\\"),
                    c if c.is_control() => text.push_str(&hex(c.encode_utf8(&mut [0; 4]).as_bytes())),
                    c => text.push(c),
                }
            }
            text.push_str(&hex(chunk.invalid()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::sys::bytes_of_sockaddr;

    fn text_of_name(name: &[u8]) -> String {
        Endpoint::Unix(UnixAddress::new(name).unwrap()).to_string()
    }

    #[test]
    fn endpoints_are_formatted_as_printable_text() {
        for (name, text) in [
            (b"/run/socket".as_slice(), "/run/socket"),
            (b"relative", "relative"),
            ("/tmp/ü 💡".as_bytes(), "/tmp/ü 💡"),
            (b"/a\xffb\xc3", "/a\\xffb\\xc3"),
            (b"/a\nb\x7f\\x", "/a\\x0ab\\x7f\\\\x"),
            ("/\u{85}".as_bytes(), "/\\xc2\\x85"),
            (b"\0name", "@name"),
            (b"\0a\0b\0", "@a\\x00b\\x00"),
            (b"\0\0a", "@\\x00a"),
            (b"\0\xfe", "@\\xfe"),
        ] {
            assert_eq!(text_of_name(name), text);
        }
        let ip = |text: &str| Endpoint::Ip(text.parse().unwrap());
        assert_eq!(ip("192.0.2.1:80").to_string(), "192.0.2.1 port 80");
        assert_eq!(ip("[2001:db8::1]:80").to_string(), "2001:db8::1 port 80");
        assert_eq!(ip("[fe80::1%7]:80").name(), "fe80::1%7");
    }

    #[test]
    fn invalid_unix_addresses_are_refused() {
        let socket = "of a Unix domain socket";
        for (name, message, at) in [
            (b"".as_slice(), format!("the path {socket} is empty"), None),
            (b"\0", format!("the address {socket} has only NUL bytes"), None),
            (&[0; 108], format!("the address {socket} has only NUL bytes"), None),
            (b"/a\0b", format!("the path {socket} has a NUL at byte 2"), Some(2)),
            (b"/a\0", format!("the path {socket} has a NUL at byte 2"), Some(2)),
            (&[b'a'; 108], format!("the path {socket} has 108 bytes; at most 107 fit"), None),
            (&[b'a'; 5000], format!("the path {socket} has 5000 bytes; at most 107 fit"), None),
            (
                &[&[0], [b'a'; 108].as_slice()].concat(),
                format!("the abstract name {socket} has 109 bytes, including the leading NUL; at most 108 fit"),
                None,
            ),
        ] {
            let error = UnixAddress::new(name).unwrap_err();
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, &*message));
            assert_eq!(error.offset(), at);
        }
    }

    #[test]
    fn unix_addresses_convert_to_sockaddr_bytes() {
        let family = (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes();
        let longest = [b'p'; 107];
        let longest_abstract = [&[0], [b'n'; 107].as_slice()].concat();
        for (name, end) in [
            (b"/s".as_slice(), b"\0".as_slice()),
            (&longest, b"\0"),
            // An abstract name has no NUL after it: the length of the sockaddr determines its end.
            (b"\0n", b""),
            (b"\0n\0", b""),
            (&longest_abstract, b""),
        ] {
            let endpoint = Endpoint::Unix(UnixAddress::new(name).unwrap());
            assert_eq!(bytes_of_sockaddr(&endpoint.to_sockaddr()), [&family, name, end].concat());
            assert_eq!((endpoint.classes(), endpoint.port()), (Classes::UNIX, None));
        }
    }
}
