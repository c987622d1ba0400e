//! Classifies IP addresses: loopback, private, link-local and so on.

mod registries;
#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::error::{Error, Result, truncated};
use crate::status::Status;

/// A set of address classes. An address may have several classes: 169.254.169.254 is METADATA and LINK_LOCAL. An IPv6
/// address also has the classes of the IPv4 addresses that it embeds, so that a refused class cannot be reached through
/// an IPv6 address.
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
    /// GLOBAL is never combined with another class.
    pub const GLOBAL: Classes = Classes(1 << 12);

    const NONE: Classes = Classes(0);

    /// The names of the classes, in the order of the bits.
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

    /// Converts a bit mask to a set of classes; `None` if a bit belongs to no class.
    pub fn from_bits(bits: i32) -> Option<Classes> {
        (bits >> Classes::NAMES.len() == 0).then_some(Classes(bits))
    }

    pub fn bits(self) -> i32 {
        self.0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn union(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }

    pub fn intersection(self, other: Classes) -> Classes {
        Classes(self.0 & other.0)
    }

    /// Returns the name of the class with the lowest bit, which is the most specific class of the set. `None` for the
    /// empty set.
    pub fn name(self) -> Option<&'static CStr> {
        Classes::NAMES.get(self.0.trailing_zeros() as usize).copied()
    }

    /// Removes GLOBAL from the set unless GLOBAL is its only class.
    fn normalized(self) -> Classes {
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
    row.map_or(Classes::RESERVED, |row| row.classes).union(metadata).normalized()
}

fn classify_v6(address: Ipv6Addr) -> Classes {
    let bits = address.to_bits();
    let metadata = if registries::METADATA_V6.contains(&bits) { Classes::METADATA } else { Classes::NONE };
    let (own, embedded) = match registries::V6.iter().find(|row| row.contains(bits)) {
        Some(row) => (row.classes, row.embedded),
        None => (Classes::RESERVED, registries::EMBEDS_NOTHING),
    };
    embedded
        .iter()
        .chain(registries::isatap(bits))
        .filter_map(|find| find(bits))
        .fold(own.union(metadata), |classes, v4| classes.union(classify_v4(Ipv4Addr::from_bits(v4))))
        .normalized()
}

/// Classifies an address written as text: IPv4 as four decimal numbers, IPv6 with or without brackets and zone.
pub fn classify_text(text: &str) -> Result<Classes> {
    let refused = || {
        let what =
            "is neither a dotted-decimal IPv4 address nor an IPv6 address; resolve host names and other forms first";
        Error::new(Status::InvalidArgument, format!("{:?} {what}", truncated(text)))
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
