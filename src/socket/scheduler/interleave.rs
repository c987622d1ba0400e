//! Orders addresses for racing attempts as in RFC 8305 section 4.

use crate::socket::endpoint::Endpoint;

/// Alternates the address families, starting with the family of the first address, and keeps the order within a family.
/// The "First Address Family Count" of RFC 8305 is 1. If Unix domain sockets make a third family, the second and the
/// third family are treated as one.
pub(super) fn interleave_families(addresses: Vec<Endpoint>) -> Vec<Endpoint> {
    let first_family = addresses.first().map(Endpoint::domain);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| Some(address.domain()) == first_family);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut order = Vec::with_capacity(first.len() + second.len());
    while first.len() + second.len() > 0 {
        order.extend(first.next());
        order.extend(second.next());
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::endpoint::UnixAddress;
    use std::net::SocketAddr;

    /// Parses a test address: `4a` is an IPv4 address, `6a` an IPv6 address, `ua` a path.
    fn address(name: &str) -> Endpoint {
        let letter = name.as_bytes()[1];
        match name.as_bytes()[0] {
            b'4' => SocketAddr::from(([192, 0, 2, letter], 80)).into(),
            b'6' => SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(letter)], 80)).into(),
            _ => Endpoint::Unix(UnixAddress::new(name.as_bytes()).unwrap()),
        }
    }

    #[test]
    fn interleaving_alternates_families_and_keeps_the_order_within_each() {
        for (given, expected) in [
            ("", ""),
            ("4a", "4a"),
            ("6a", "6a"),
            ("6a 6b 4a 4b", "6a 4a 6b 4b"),
            ("4a 4b 6a 6b", "4a 6a 4b 6b"),
            ("6a 4a 6b 4b", "6a 4a 6b 4b"),
            ("6a 6b 6c 6d 4a", "6a 4a 6b 6c 6d"),
            ("4a 6a 6b 6c", "4a 6a 6b 6c"),
            ("6a 4a 4b 4c", "6a 4a 4b 4c"),
            ("4c 4b 4a", "4c 4b 4a"),
            ("6b 4b 4a 6a", "6b 4b 6a 4a"),
            ("6a 6a 4a 4a", "6a 4a 6a 4a"),
            ("ua 4a 6a ub", "ua 4a ub 6a"),
            ("6a 6b ua 4a 4b", "6a ua 6b 4a 4b"),
        ] {
            let list = |names: &str| names.split_whitespace().map(address).collect::<Vec<_>>();
            assert_eq!(interleave_families(list(given)), list(expected), "{given}");
        }
    }
}
