//! Socket addresses as C has them: the bytes of a sockaddr_in or sockaddr_in6.

use std::mem::offset_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use libc::{sa_family_t, sockaddr, sockaddr_in, sockaddr_in6};

use crate::error::{Error, Result};
use crate::memory;
use crate::status::Status;

/// More than any name has, and more than anybody should try.
const MOST: usize = 1024;

/// Addresses to connect to, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressList(Vec<SocketAddr>);

impl AddressList {
    pub(crate) fn add(&mut self, sockaddr: &[u8]) -> Result<()> {
        if self.0.len() >= MOST {
            let message = format!("a list has at most {MOST} addresses");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        memory::push(&mut self.0, read(sockaddr)?, "a list of addresses")
    }

    pub(crate) fn as_slice(&self) -> &[SocketAddr] {
        &self.0
    }

    pub(crate) fn into_vec(self) -> Vec<SocketAddr> {
        self.0
    }
}

/// The address in a sockaddr, which may be longer than its family needs, as a sockaddr_storage is.
pub(crate) fn read(sockaddr: &[u8]) -> Result<SocketAddr> {
    let family = part(sockaddr, offset_of!(sockaddr, sa_family)).map(sa_family_t::from_ne_bytes);
    let found = match family.map(i32::from) {
        Some(libc::AF_INET) => read_v4(sockaddr).map(SocketAddr::V4),
        Some(libc::AF_INET6) => read_v6(sockaddr).map(SocketAddr::V6),
        Some(other) => {
            let message = format!("the address is of family {other}, neither AF_INET nor AF_INET6");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        None => None,
    };
    found.ok_or_else(|| {
        let message = format!("an address of {} bytes is too short for its family", sockaddr.len());
        Error::new(Status::InvalidArgument, message)
    })
}

fn read_v4(bytes: &[u8]) -> Option<SocketAddrV4> {
    whole::<sockaddr_in>(bytes)?;
    let address: [u8; 4] = part(bytes, offset_of!(sockaddr_in, sin_addr))?;
    let port = part(bytes, offset_of!(sockaddr_in, sin_port)).map(u16::from_be_bytes)?;
    Some(SocketAddrV4::new(Ipv4Addr::from(address), port))
}

fn read_v6(bytes: &[u8]) -> Option<SocketAddrV6> {
    whole::<sockaddr_in6>(bytes)?;
    let address: [u8; 16] = part(bytes, offset_of!(sockaddr_in6, sin6_addr))?;
    let port = part(bytes, offset_of!(sockaddr_in6, sin6_port)).map(u16::from_be_bytes)?;
    // As getaddrinfo's are taken over, and as the standard library hands them to connect(2).
    let flow = part(bytes, offset_of!(sockaddr_in6, sin6_flowinfo)).map(u32::from_ne_bytes)?;
    let scope = part(bytes, offset_of!(sockaddr_in6, sin6_scope_id)).map(u32::from_ne_bytes)?;
    Some(SocketAddrV6::new(Ipv6Addr::from(address), port, flow, scope))
}

fn whole<T>(bytes: &[u8]) -> Option<()> {
    (bytes.len() >= size_of::<T>()).then_some(())
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockAddr;

    fn bytes_of(address: &str) -> Vec<u8> {
        let address = SockAddr::from(address.parse::<SocketAddr>().unwrap());
        let full = crate::socket::sys::bytes_of_sockaddr(&address);
        assert_eq!(full.len(), address.len() as usize);
        full
    }

    #[test]
    fn what_is_written_is_read() {
        for text in ["192.0.2.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[2001:db8::1]:443", "[fe80::1%3]:1"] {
            let mut bytes = bytes_of(text);
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(read(&bytes).unwrap(), address);
            let too_short = read(&bytes[..bytes.len() - 1]).unwrap_err();
            assert_eq!(too_short.status(), Status::InvalidArgument);
            bytes.resize(128, 0xff);
            assert_eq!(read(&bytes).unwrap(), address, "the rest of a sockaddr_storage is not looked at");
        }
        for len in 0..2 {
            assert!(read(&[0; 2][..len]).unwrap_err().message().contains("too short"));
        }
        let error = read(&[0; 16]).unwrap_err();
        assert_eq!(error.message(), "the address is of family 0, neither AF_INET nor AF_INET6");
    }

    #[test]
    fn a_list_has_an_end() {
        let mut list = AddressList::default();
        let bytes = bytes_of("192.0.2.1:80");
        for _ in 0..MOST {
            list.add(&bytes).unwrap();
        }
        assert_eq!(list.add(&bytes).unwrap_err().message(), "a list has at most 1024 addresses");
        assert_eq!(list.as_slice().len(), MOST);
    }
}
