//! What an address is for: the class, or classes, of the network that it belongs to.

mod registries;
#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::error::{Error, Result, shown};
use crate::socket::sockaddr::{self, Sockaddr};
use crate::status::Status;

/// A set of classes. An address has one class, or more: 169.254.169.254 is METADATA and LINK_LOCAL. What an IPv6 address
/// leads to by an IPv4 address inside of it counts too, so that whoever refuses a class refuses every way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(i32);

impl Classes {
    pub const METADATA: Classes = Classes(1 << 0);
    pub const LOOPBACK: Classes = Classes(1 << 1);
    pub const UNSPECIFIED: Classes = Classes(1 << 2);
    pub const LINK_LOCAL: Classes = Classes(1 << 3);
    pub const PRIVATE: Classes = Classes(1 << 4);
    pub const SHARED: Classes = Classes(1 << 5);
    pub const MULTICAST: Classes = Classes(1 << 6);
    pub const RESERVED: Classes = Classes(1 << 7);
    pub const DOCUMENTATION: Classes = Classes(1 << 8);
    pub const BENCHMARKING: Classes = Classes(1 << 9);
    pub const SPECIAL: Classes = Classes(1 << 10);
    pub const UNIX: Classes = Classes(1 << 11);
    /// Always alone.
    pub const GLOBAL: Classes = Classes(1 << 12);

    const NONE: Classes = Classes(0);

    /// By bit.
    const NAMES: [&CStr; 13] = [
        c"metadata",
        c"loopback",
        c"unspecified",
        c"link-local",
        c"private",
        c"shared",
        c"multicast",
        c"reserved",
        c"documentation",
        c"benchmarking",
        c"special-purpose",
        c"unix",
        c"global",
    ];

    /// `None` for a number with bits that are no class.
    pub fn from_bits(bits: i32) -> Option<Classes> {
        (bits >> Classes::NAMES.len() == 0).then_some(Classes(bits))
    }

    pub fn bits(self) -> i32 {
        self.0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn and(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }

    pub fn common(self, other: Classes) -> Classes {
        Classes(self.0 & other.0)
    }

    /// Of the class that says most about why an address is to be avoided. `None` for no class at all.
    pub fn name(self) -> Option<&'static CStr> {
        Classes::NAMES.get(self.0.trailing_zeros() as usize).copied()
    }

    /// Global is only what is nothing else.
    fn settled(self) -> Classes {
        if self == Classes::GLOBAL { self } else { Classes(self.0 & !Classes::GLOBAL.0) }
    }
}

pub fn classify(address: IpAddr) -> Classes {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> Classes {
    let bits = address.to_bits();
    let metadata = if registries::METADATA_V4.contains(&bits) { Classes::METADATA } else { Classes::NONE };
    let row = registries::V4.iter().find(|row| row.contains(bits));
    row.map_or(Classes::RESERVED, |row| row.classes).and(metadata).settled()
}

fn classify_v6(address: Ipv6Addr) -> Classes {
    let bits = address.to_bits();
    let metadata = if registries::METADATA_V6.contains(&bits) { Classes::METADATA } else { Classes::NONE };
    let (own, holds) = match registries::V6.iter().find(|row| row.contains(bits)) {
        Some(row) => (row.classes, row.holds),
        None => (Classes::RESERVED, registries::NOTHING),
    };
    holds
        .iter()
        .chain(registries::isatap(bits))
        .filter_map(|held| held(bits))
        .fold(own.and(metadata), |classes, held| classes.and(classify_v4(Ipv4Addr::from_bits(held))))
        .settled()
}

/// Of an address written as text: IPv4 in four decimals, IPv6 with or without brackets and a zone.
pub fn classify_text(text: &str) -> Result<Classes> {
    let refused = || {
        let what =
            "is not an address in four decimals or of IPv6; a name, or a number in another form, has to be resolved";
        Error::new(Status::InvalidArgument, format!("{:?} {what}", shown(text)))
    };
    let inner = match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or_else(refused)?,
        None => text,
    };
    let address = match inner.split_once('%') {
        Some((address, zone)) if !zone.is_empty() => address.parse().map(IpAddr::V6),
        _ => inner.parse(),
    };
    address.map(classify).map_err(|_| refused())
}

/// Of an address as connect(2) takes it: the bytes of a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`.
pub fn classify_sockaddr(bytes: &[u8]) -> Result<Classes> {
    Ok(match sockaddr::read(bytes)? {
        Sockaddr::Ip(address) => classify(address.ip()),
        // Whatever its path, one that nobody can connect to included.
        Sockaddr::Unix(_) => Classes::UNIX,
    })
}
