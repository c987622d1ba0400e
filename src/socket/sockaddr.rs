//! Parses socket addresses from C: the bytes of a sockaddr_in, sockaddr_in6 or sockaddr_un.

use std::mem::offset_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use libc::{sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_un};

use crate::error::{Error, Result};
use crate::memory;
use crate::socket::address_class::{self, Classes};
use crate::socket::endpoint::{Endpoint, UnixAddress};
use crate::status::Status;

/// The maximum number of addresses in an address list.
const MAX_ADDRESSES: usize = 1024;

/// A list of addresses to connect to, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressList(Vec<Endpoint>);

impl AddressList {
    pub(crate) fn add(&mut self, sockaddr: &[u8]) -> Result<()> {
        if self.0.len() >= MAX_ADDRESSES {
            let message = format!("an address list has at most {MAX_ADDRESSES} addresses");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        memory::push(&mut self.0, endpoint(sockaddr)?, "a list of addresses")
    }

    pub(crate) fn as_slice(&self) -> &[Endpoint] {
        &self.0
    }

    pub(crate) fn into_vec(self) -> Vec<Endpoint> {
        self.0
    }
}

/// A parsed sockaddr.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sockaddr<'a> {
    Ip(SocketAddr),
    /// The bytes of `sun_path`; empty for an unbound socket.
    Unix(&'a [u8]),
}

/// Returns the address classes of a sockaddr.
pub fn classify(bytes: &[u8]) -> Result<Classes> {
    Ok(match read(bytes)? {
        Sockaddr::Ip(address) => address_class::classify(address.ip()),
        // Any path is classified, even one to which no socket can be bound.
        Sockaddr::Unix(_) => Classes::UNIX,
    })
}

/// Parses a sockaddr. The sockaddr may have more bytes than its address family needs, for example if it is a
/// sockaddr_storage.
pub(crate) fn read(sockaddr: &[u8]) -> Result<Sockaddr<'_>> {
    let family = bytes_at(sockaddr, offset_of!(sockaddr, sa_family)).map(sa_family_t::from_ne_bytes);
    let found = match family.map(i32::from) {
        Some(libc::AF_INET) => read_v4(sockaddr).map(|address| Sockaddr::Ip(address.into())),
        Some(libc::AF_INET6) => read_v6(sockaddr).map(|address| Sockaddr::Ip(address.into())),
        Some(libc::AF_UNIX) => sockaddr.get(offset_of!(sockaddr_un, sun_path)..).map(Sockaddr::Unix),
        Some(other) => {
            let message = format!("the address's family is neither AF_INET, AF_INET6 nor AF_UNIX: {other}");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        None => None,
    };
    found.ok_or_else(|| {
        let whole = match family.map(i32::from) {
            Some(libc::AF_INET) => format!("a sockaddr_in has {}", size_of::<sockaddr_in>()),
            Some(libc::AF_INET6) => format!("a sockaddr_in6 has {}", size_of::<sockaddr_in6>()),
            _ => "too few for a family".to_owned(),
        };
        Error::new(Status::InvalidArgument, format!("the address has a length of {} bytes: {whole}", sockaddr.len()))
    })
}

/// Parses a sockaddr that can be passed to connect(2).
pub(crate) fn endpoint(sockaddr: &[u8]) -> Result<Endpoint> {
    match read(sockaddr)? {
        Sockaddr::Ip(address) => Ok(Endpoint::Ip(address)),
        // An abstract name ends where the sockaddr ends; a path ends at its NUL.
        Sockaddr::Unix(name) if name.first() == Some(&0) => UnixAddress::new(name).map(Endpoint::Unix),
        Sockaddr::Unix(path) => {
            let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
            UnixAddress::new(path.get(..end).unwrap_or(path)).map(Endpoint::Unix)
        }
    }
}

fn read_v4(bytes: &[u8]) -> Option<SocketAddrV4> {
    check_size::<sockaddr_in>(bytes)?;
    let address: [u8; 4] = bytes_at(bytes, offset_of!(sockaddr_in, sin_addr))?;
    let port = bytes_at(bytes, offset_of!(sockaddr_in, sin_port)).map(u16::from_be_bytes)?;
    Some(SocketAddrV4::new(Ipv4Addr::from(address), port))
}

fn read_v6(bytes: &[u8]) -> Option<SocketAddrV6> {
    check_size::<sockaddr_in6>(bytes)?;
    let address: [u8; 16] = bytes_at(bytes, offset_of!(sockaddr_in6, sin6_addr))?;
    let port = bytes_at(bytes, offset_of!(sockaddr_in6, sin6_port)).map(u16::from_be_bytes)?;
    // The byte order of flow label and scope id is kept, because the standard library passes both to connect(2)
    // unchanged.
    let flow = bytes_at(bytes, offset_of!(sockaddr_in6, sin6_flowinfo)).map(u32::from_ne_bytes)?;
    let scope = bytes_at(bytes, offset_of!(sockaddr_in6, sin6_scope_id)).map(u32::from_ne_bytes)?;
    Some(SocketAddrV6::new(Ipv6Addr::from(address), port, flow, scope))
}

fn check_size<T>(bytes: &[u8]) -> Option<()> {
    (bytes.len() >= size_of::<T>()).then_some(())
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(address: &str) -> Vec<u8> {
        crate::socket::sys::bytes_of_sockaddr(&Endpoint::Ip(address.parse().unwrap()).to_sockaddr())
    }

    /// Returns the bytes of a sockaddr_un with this `sun_path`.
    fn unix(sun_path: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; offset_of!(sockaddr_un, sun_path)];
        let at = offset_of!(sockaddr, sa_family);
        let family = (libc::AF_UNIX as sa_family_t).to_ne_bytes();
        bytes[at..at + family.len()].copy_from_slice(&family);
        bytes.extend_from_slice(sun_path);
        bytes
    }

    #[test]
    fn ip_sockaddrs_are_parsed_and_truncated_ones_refused() {
        for text in ["192.0.2.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[2001:db8::1]:443", "[fe80::1%3]:1"] {
            let mut bytes = bytes_of(text);
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(read(&bytes).unwrap(), Sockaddr::Ip(address));
            for len in 0..bytes.len() {
                let error = read(&bytes[..len]).unwrap_err();
                let whole = match address {
                    _ if len < offset_of!(sockaddr, sa_data) => "too few for a family",
                    SocketAddr::V4(_) => "a sockaddr_in has 16",
                    SocketAddr::V6(_) => "a sockaddr_in6 has 28",
                };
                let message = format!("the address has a length of {len} bytes: {whole}");
                assert_eq!((error.status(), error.message()), (Status::InvalidArgument, &*message));
            }
            bytes.resize(128, 0xff);
            assert_eq!(endpoint(&bytes).unwrap(), Endpoint::Ip(address), "the rest of a sockaddr_storage is ignored");
        }
        // Parsing keeps the flow label and the scope id of an IPv6 address.
        let labelled = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0x1234, 3);
        let bytes = crate::socket::sys::bytes_of_sockaddr(&Endpoint::Ip(labelled.into()).to_sockaddr());
        assert_eq!(endpoint(&bytes).unwrap(), Endpoint::Ip(labelled.into()));
        for family in [libc::AF_UNSPEC, 255] {
            let mut bytes = bytes_of("192.0.2.1:80");
            let at = offset_of!(sockaddr, sa_family);
            bytes[at..at + size_of::<sa_family_t>()].copy_from_slice(&(family as sa_family_t).to_ne_bytes());
            let expected = format!("the address's family is neither AF_INET, AF_INET6 nor AF_UNIX: {family}");
            assert_eq!(read(&bytes).unwrap_err().message(), expected);
        }
    }

    #[test]
    fn valid_unix_sockaddrs_are_parsed_and_others_refused() {
        let of = |name: &[u8]| Ok(Endpoint::Unix(UnixAddress::new(name).unwrap()));
        let refused = |message: &str| Err(format!("the {message}"));
        let zeros = "address of a Unix domain socket has only NUL bytes";
        let path_108 = [b'p'; 108];
        for (sun_path, expected) in [
            // The path is given without a NUL, with its NUL, in a whole sockaddr_un, and with other bytes after the
            // NUL.
            (b"/s".as_slice(), of(b"/s")),
            (b"/s\0", of(b"/s")),
            (&[b"/s".as_slice(), &[0; 106]].concat(), of(b"/s")),
            (&[b"/s\0left".as_slice(), &[0xff; 119]].concat(), of(b"/s")),
            (&path_108[..107], of(&[b'p'; 107])),
            // Trailing NUL bytes are part of an abstract name.
            (b"\0n", of(b"\0n")),
            (b"\0n\0\0", of(b"\0n\0\0")),
            (b"", refused("path of a Unix domain socket is empty")),
            (b"\0", refused(zeros)),
            (&[0; 108], refused(zeros)),
            (&path_108, refused("path of a Unix domain socket has 108 bytes; at most 107 fit")),
            (
                &[b"\0n".as_slice(), &[0; 124]].concat(),
                refused(
                    "abstract name of a Unix domain socket has 126 bytes, including the leading NUL; at most 108 fit",
                ),
            ),
        ] {
            let found = endpoint(&unix(sun_path)).map_err(|error| error.message().to_owned());
            assert_eq!(found, expected, "{sun_path:?}");
        }
        // accept(2) returns an empty path for an unbound client: a valid address to which nobody can connect.
        assert_eq!(read(&unix(b"")).unwrap(), Sockaddr::Unix(b""));
        assert!(read(&unix(b"")[..1]).is_err());
    }

    #[test]
    fn an_address_list_refuses_more_than_1024_addresses() {
        let mut list = AddressList::default();
        let bytes = bytes_of("192.0.2.1:80");
        for _ in 0..MAX_ADDRESSES {
            list.add(&bytes).unwrap();
        }
        assert_eq!(list.add(&bytes).unwrap_err().message(), "an address list has at most 1024 addresses");
        assert_eq!(list.as_slice().len(), MAX_ADDRESSES);
    }
}
