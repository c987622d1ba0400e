use super::*;
use crate::socket::sockaddr;
use crate::socket::sys::bytes_of_sockaddr;
use socket2::SockAddr;
use std::net::SocketAddr;

const GLOBAL: Classes = Classes::GLOBAL;
const METADATA: Classes = Classes::METADATA;
const LOOPBACK: Classes = Classes::LOOPBACK;
const UNSPECIFIED: Classes = Classes::UNSPECIFIED;
const LINK_LOCAL: Classes = Classes::LINK_LOCAL;
const PRIVATE: Classes = Classes::PRIVATE;
const SHARED: Classes = Classes::SHARED;
const MULTICAST: Classes = Classes::MULTICAST;
const RESERVED: Classes = Classes::RESERVED;
const DOCUMENTATION: Classes = Classes::DOCUMENTATION;
const BENCHMARKING: Classes = Classes::BENCHMARKING;
const SPECIAL: Classes = Classes::SPECIAL;

fn class_of(text: &str) -> Classes {
    classify(text.parse().unwrap())
}

/// The whole IPv4 address space in ascending order. The classes of a row apply from the address of the row up to the
/// address of the next row.
const V4: &[(&str, Classes)] = &[
    ("0.0.0.0", UNSPECIFIED),
    ("1.0.0.0", GLOBAL),
    ("10.0.0.0", PRIVATE),
    ("11.0.0.0", GLOBAL),
    ("100.64.0.0", SHARED),
    ("100.96.0.96", SHARED.union(METADATA)),
    ("100.96.0.97", SHARED),
    ("100.100.100.200", SHARED.union(METADATA)),
    ("100.100.100.201", SHARED),
    ("100.128.0.0", GLOBAL),
    ("127.0.0.0", LOOPBACK),
    ("128.0.0.0", GLOBAL),
    ("168.63.129.16", METADATA),
    ("168.63.129.17", GLOBAL),
    ("169.254.0.0", LINK_LOCAL),
    ("169.254.0.23", LINK_LOCAL.union(METADATA)),
    ("169.254.0.24", LINK_LOCAL),
    ("169.254.42.42", LINK_LOCAL.union(METADATA)),
    ("169.254.42.43", LINK_LOCAL),
    ("169.254.169.254", LINK_LOCAL.union(METADATA)),
    ("169.254.169.255", LINK_LOCAL),
    ("169.254.170.2", LINK_LOCAL.union(METADATA)),
    ("169.254.170.3", LINK_LOCAL),
    ("169.254.170.23", LINK_LOCAL.union(METADATA)),
    ("169.254.170.24", LINK_LOCAL),
    ("169.255.0.0", GLOBAL),
    ("172.16.0.0", PRIVATE),
    ("172.32.0.0", GLOBAL),
    ("192.0.0.0", SPECIAL),
    ("192.0.0.9", GLOBAL),
    ("192.0.0.11", SPECIAL),
    ("192.0.0.192", SPECIAL.union(METADATA)),
    ("192.0.0.193", SPECIAL),
    ("192.0.1.0", GLOBAL),
    ("192.0.2.0", DOCUMENTATION),
    ("192.0.3.0", GLOBAL),
    ("192.88.99.0", SPECIAL),
    ("192.88.100.0", GLOBAL),
    ("192.168.0.0", PRIVATE),
    ("192.169.0.0", GLOBAL),
    ("198.18.0.0", BENCHMARKING),
    ("198.20.0.0", GLOBAL),
    ("198.51.100.0", DOCUMENTATION),
    ("198.51.101.0", GLOBAL),
    ("203.0.113.0", DOCUMENTATION),
    ("203.0.114.0", GLOBAL),
    ("224.0.0.0", MULTICAST),
    ("240.0.0.0", RESERVED),
];

/// The whole IPv6 address space in ascending order. `None` means that the classes depend on the embedded IPv4 address,
/// so other tests check these classes.
const V6: &[(&str, Option<Classes>)] = &[
    ("::", Some(UNSPECIFIED)),
    ("::1", Some(LOOPBACK)),
    ("::2", None), // IPv4-compatible
    ("::1:0:0", Some(RESERVED)),
    ("::ffff:0:0", None), // IPv4-mapped
    ("::1:0:0:0", Some(RESERVED)),
    ("::ffff:0:0:0", None), // IPv4-translated
    ("::ffff:1:0:0", Some(RESERVED)),
    ("64:ff9b::", None),
    ("64:ff9b::1:0:0", Some(RESERVED)),
    ("64:ff9b:1::", None),
    ("64:ff9b:2::", Some(RESERVED)),
    ("100::", Some(SPECIAL)),
    ("100:0:0:2::", Some(RESERVED)),
    ("2000::", Some(GLOBAL)),
    ("2001::", None), // Teredo
    ("2001:1::", Some(SPECIAL)),
    ("2001:1::1", Some(GLOBAL)),
    ("2001:1::4", Some(SPECIAL)),
    ("2001:2::", Some(BENCHMARKING)),
    ("2001:2:1::", Some(SPECIAL)),
    ("2001:3::", Some(GLOBAL)),
    ("2001:4::", Some(SPECIAL)),
    ("2001:4:112::", Some(GLOBAL)),
    ("2001:4:113::", Some(SPECIAL)),
    ("2001:20::", Some(GLOBAL)),
    ("2001:40::", Some(SPECIAL)),
    ("2001:200::", Some(GLOBAL)),
    ("2001:db8::", Some(DOCUMENTATION)),
    ("2001:db9::", Some(GLOBAL)),
    ("2002::", None), // 6to4
    ("2003::", Some(GLOBAL)),
    ("3fff::", Some(DOCUMENTATION)),
    ("3fff:1000::", Some(GLOBAL)),
    ("4000::", Some(RESERVED)),
    ("5f00::", Some(SPECIAL)),
    ("5f01::", Some(RESERVED)),
    ("fc00::", Some(PRIVATE)),
    ("fd00:42::42", Some(PRIVATE.union(METADATA))),
    ("fd00:42::43", Some(PRIVATE)),
    ("fd00:c1::a9fe:a9fe", Some(PRIVATE.union(METADATA))),
    ("fd00:c1::a9fe:a9ff", Some(PRIVATE)),
    ("fd00:100::100:200", Some(PRIVATE.union(METADATA))),
    ("fd00:100::100:201", Some(PRIVATE)),
    ("fd00:ec2::23", Some(PRIVATE.union(METADATA))),
    ("fd00:ec2::24", Some(PRIVATE)),
    ("fd00:ec2::254", Some(PRIVATE.union(METADATA))),
    ("fd00:ec2::255", Some(PRIVATE)),
    ("fd00:a9fe:a9fe::1", Some(PRIVATE.union(METADATA))),
    ("fd00:a9fe:a9fe::2", Some(PRIVATE)),
    ("fd20:ce::254", Some(PRIVATE.union(METADATA))),
    ("fd20:ce::255", Some(PRIVATE)),
    ("fe00::", Some(RESERVED)),
    ("fe80::", Some(LINK_LOCAL)),
    ("fe80::a9fe:a9fe", Some(LINK_LOCAL.union(METADATA))),
    ("fe80::a9fe:a9ff", Some(LINK_LOCAL)),
    ("fec0::", Some(PRIVATE)),
    ("ff00::", Some(MULTICAST)),
];

#[test]
fn the_first_and_last_address_of_each_ipv4_block_have_its_class() {
    let starts: Vec<u32> = V4.iter().map(|(text, _)| text.parse::<Ipv4Addr>().unwrap().to_bits()).collect();
    assert!(starts.is_sorted_by(|a, b| a < b));
    for (i, (text, expected)) in V4.iter().enumerate() {
        let last = starts.get(i + 1).map_or(u32::MAX, |next| next - 1);
        for bits in [starts[i], starts[i] + (last - starts[i]) / 2, last] {
            let address = Ipv4Addr::from_bits(bits);
            assert_eq!(classify(address.into()), *expected, "{address}, from {text}");
        }
    }
}

#[test]
fn the_first_and_last_address_of_each_ipv6_block_have_its_class() {
    let starts: Vec<u128> = V6.iter().map(|(text, _)| text.parse::<Ipv6Addr>().unwrap().to_bits()).collect();
    assert!(starts.is_sorted_by(|a, b| a < b));
    for (i, (text, expected)) in V6.iter().enumerate() {
        let Some(expected) = expected else { continue };
        let last = starts.get(i + 1).map_or(u128::MAX, |next| next - 1);
        for bits in [starts[i], starts[i] + (last - starts[i]) / 2, last] {
            let address = Ipv6Addr::from_bits(bits);
            assert_eq!(classify(address.into()), *expected, "{address}, from {text}");
        }
    }
}

#[test]
fn no_earlier_row_of_an_address_registry_covers_a_later_row() {
    for (i, row) in registries::V4.iter().enumerate() {
        assert_eq!(row.network.checked_shl(row.len).unwrap_or(0), 0, "row {i} has bits beyond its length");
        assert!(
            registries::V4[..i].iter().all(|before| before.len > row.len || !before.contains(row.network)),
            "row {i}"
        );
    }
    for (i, row) in registries::V6.iter().enumerate() {
        assert_eq!(row.network.checked_shl(row.len).unwrap_or(0), 0, "row {i} has bits beyond its length");
        assert!(
            registries::V6[..i].iter().all(|before| before.len > row.len || !before.contains(row.network)),
            "row {i}"
        );
    }
}

/// Embeds an IPv4 address in an IPv6 address.
type Wrap = fn(u32) -> u128;

/// Each way to embed an IPv4 address, and the class of the IPv6 address itself. The expressions follow the diagrams of
/// the RFCs, not the code under test.
const WRAPPERS: &[(&str, Wrap, Option<Classes>)] = &[
    ("mapped", |a| 0xffff_0000_0000 | u128::from(a), None),
    ("compatible", |a| u128::from(a), Some(RESERVED)),
    ("translated", |a| 0xffff_0000_0000_0000 | u128::from(a), Some(RESERVED)),
    ("NAT64", |a| v6("64:ff9b::") | u128::from(a), None),
    ("local NAT64 /96", |a| v6("64:ff9b:1:fffe:fd:fcfb::") | u128::from(a), Some(SPECIAL)),
    ("local NAT64 /64", |a| v6("64:ff9b:1:fffe::") | (u128::from(a) << 24), Some(SPECIAL)),
    (
        "local NAT64 /56",
        |a| v6("64:ff9b:1:fe00::") | (u128::from(a >> 24) << 64) | (u128::from(a & 0xff_ffff) << 32),
        Some(SPECIAL),
    ),
    (
        "local NAT64 /48",
        |a| v6("64:ff9b:1::") | (u128::from(a >> 16) << 64) | (u128::from(a & 0xffff) << 40),
        Some(SPECIAL),
    ),
    ("6to4", |a| v6("2002::1") | (u128::from(a) << 80), Some(SPECIAL)),
    ("Teredo's client", |a| v6("2001:0:808:808::") | u128::from(!a), Some(SPECIAL)),
    ("Teredo's server", |a| v6("2001::f7f7:f7f7") | (u128::from(a) << 64), Some(SPECIAL)),
    ("ISATAP", |a| v6("2a00::5efe:0:0") | u128::from(a), None),
    ("ISATAP, universal", |a| v6("2a00::200:5efe:0:0") | u128::from(a), None),
];

fn v6(text: &str) -> u128 {
    text.parse::<Ipv6Addr>().unwrap().to_bits()
}

#[test]
fn ipv6_addresses_have_the_classes_of_embedded_ipv4_addresses() {
    let held = [
        ("127.0.0.1", LOOPBACK),
        ("169.254.169.254", METADATA.union(LINK_LOCAL)),
        ("168.63.129.16", METADATA),
        ("10.1.2.3", PRIVATE),
        ("100.64.0.1", SHARED),
        ("224.0.0.1", MULTICAST),
        ("255.255.255.255", RESERVED),
        ("192.0.2.1", DOCUMENTATION),
        ("8.8.8.8", GLOBAL),
    ];
    for (name, wrap, own) in WRAPPERS {
        for (text, classes) in held {
            let address = Ipv6Addr::from_bits(wrap(text.parse::<Ipv4Addr>().unwrap().to_bits()));
            let found = classify(address.into());
            let expected = match own {
                None => classes,
                Some(own) if classes == GLOBAL => *own,
                Some(own) => own.union(classes),
            };
            // An address with a local translation prefix (RFC 8215) may embed an IPv4 address at any of four offsets.
            // The bytes at the other three offsets may add classes.
            let at_least = name.starts_with("local");
            let common = if at_least { found.intersection(expected) } else { found };
            assert_eq!(common, expected, "{name} of {text}: {address} is {found:?}");
            assert!(at_least || (found == GLOBAL) == (expected == GLOBAL), "{name} of {text}: {address}");
        }
    }
}

#[test]
fn known_ipv6_addresses_with_embedded_ipv4_have_the_expected_classes() {
    for (text, expected) in [
        ("::ffff:127.0.0.1", LOOPBACK),
        ("::ffff:7f00:1", LOOPBACK),
        ("::ffff:169.254.169.254", METADATA.union(LINK_LOCAL)),
        ("::ffff:8.8.8.8", GLOBAL),
        ("::ffff:0.0.0.0", UNSPECIFIED),
        ("::ffff:255.255.255.255", RESERVED),
        ("::ffff:192.0.0.9", GLOBAL),
        ("::127.0.0.1", LOOPBACK.union(RESERVED)),
        ("::a9fe:a9fe", METADATA.union(LINK_LOCAL).union(RESERVED)),
        ("::2", UNSPECIFIED.union(RESERVED)),
        ("::ffff:0:127.0.0.1", LOOPBACK.union(RESERVED)),
        ("64:ff9b::127.0.0.1", LOOPBACK),
        ("64:ff9b::", UNSPECIFIED),
        ("64:ff9b::ffff:ffff", RESERVED),
        ("64:ff9b::8.8.8.8", GLOBAL),
        ("64:ff9b:1::", SPECIAL),
        ("64:ff9b:1::7f00:1", LOOPBACK.union(SPECIAL)),
        ("64:ff9b:1::169.254.169.254", METADATA.union(LINK_LOCAL).union(SPECIAL)),
        ("64:ff9b:1::8.8.8.8", SPECIAL),
        ("64:ff9b:1:7f00:0:100::", LOOPBACK.union(SPECIAL)),
        ("64:ff9b:1:7f:0:1::", LOOPBACK.union(SPECIAL)),
        ("64:ff9b:1:0:7f:0:100:0", LOOPBACK.union(SPECIAL)),
        ("2002:7f00:1::", LOOPBACK.union(SPECIAL)),
        ("2002:a9fe:a9fe::1", METADATA.union(LINK_LOCAL).union(SPECIAL)),
        ("2002:808:808::1", SPECIAL),
        ("2002::", UNSPECIFIED.union(SPECIAL)),
        ("2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", RESERVED.union(SPECIAL)),
        // The example of RFC 4380 section 4: the client is 192.0.2.45, its Teredo server 65.54.227.120.
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", DOCUMENTATION.union(SPECIAL)),
        ("2001:0:4136:e378:8000:63bf:80ff:fffe", LOOPBACK.union(SPECIAL)),
        ("2001:0:7f00:1:8000:63bf:f7f7:f7f7", LOOPBACK.union(SPECIAL)),
        ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", SPECIAL),
        ("fe80::5efe:127.0.0.1", LOOPBACK.union(LINK_LOCAL)),
        ("2a00:1450::5efe:10.0.0.1", PRIVATE),
        ("2a00:1450::200:5efe:8.8.8.8", GLOBAL),
        ("2a00:1450::100:5efe:10.0.0.1", GLOBAL),
    ] {
        assert_eq!(class_of(text), expected, "{text}");
    }
}

#[test]
fn address_classes_convert_to_bits_and_names() {
    for (bit, (classes, name)) in [
        (METADATA, "metadata"),
        (LOOPBACK, "loopback"),
        (UNSPECIFIED, "unspecified"),
        (LINK_LOCAL, "link-local"),
        (PRIVATE, "private"),
        (SHARED, "shared"),
        (MULTICAST, "multicast"),
        (RESERVED, "reserved"),
        (DOCUMENTATION, "documentation"),
        (BENCHMARKING, "benchmarking"),
        (SPECIAL, "special-purpose"),
        (Classes::UNIX, "unix"),
        (GLOBAL, "global"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(classes.bits(), 1 << bit);
        assert_eq!(Classes::from_bits(1 << bit), Some(classes));
        assert_eq!(classes.name().unwrap().to_str().unwrap(), name);
    }
    assert_eq!(METADATA.union(LINK_LOCAL).name(), METADATA.name());
    assert_eq!(Classes::default().name(), None);
    assert_eq!(Classes::from_bits(0), Some(Classes::default()));
    for bits in [1 << 13, i32::MIN, -1, i32::MAX] {
        assert_eq!(Classes::from_bits(bits), None);
    }
}

#[test]
fn ip_address_texts_are_classified_and_other_texts_refused() {
    for (text, expected) in [
        ("127.0.0.1", LOOPBACK),
        ("[127.0.0.1]", LOOPBACK),
        ("::1", LOOPBACK),
        ("[::1]", LOOPBACK),
        ("fe80::1%eth0", LINK_LOCAL),
        ("[fe80::1%25]", LINK_LOCAL),
        ("::FFFF:127.0.0.1", LOOPBACK),
    ] {
        assert_eq!(classify_text(text).unwrap(), expected, "{text}");
    }
    for text in [
        "",
        "[",
        "]",
        "[]",
        "[::1",
        "::1]",
        "[[::1]]",
        "127.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.01",
        "2130706433",
        " 127.0.0.1",
        "127.0.0.1 ",
        "127.0.0.1:80",
        "127.0.0.1%lo",
        "fe80::1%",
        "localhost",
        "::1::",
        "%",
    ] {
        let error = classify_text(text).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{text}");
        assert!(error.message().starts_with(&format!("{text:?} is neither a dotted-decimal")), "{}", error.message());
    }
}

#[test]
fn sockaddrs_are_converted_to_address_classes() {
    for (address, expected) in [
        ("127.0.0.1:80", LOOPBACK),
        ("8.8.8.8:80", GLOBAL),
        ("[::ffff:10.0.0.1]:443", PRIVATE),
        ("[fd00:ec2::254]:80", METADATA.union(PRIVATE)),
    ] {
        let address: SocketAddr = address.parse().unwrap();
        let bytes = bytes_of_sockaddr(&SockAddr::from(address));
        assert_eq!(sockaddr::classify(&bytes).unwrap(), expected, "{address}");
        let longer = [&bytes[..], &[0; 100]].concat();
        assert_eq!(sockaddr::classify(&longer).unwrap(), expected, "{address}, in more bytes");
        assert_eq!(sockaddr::classify(&bytes[..bytes.len() - 1]).unwrap_err().status(), Status::InvalidArgument);
    }
    // A Unix domain socket with a path, with an abstract name, and without a name.
    for path in ["/run/socket", "\0name", ""] {
        let bytes = bytes_of_sockaddr(&SockAddr::unix(path).unwrap());
        assert_eq!(sockaddr::classify(&bytes).unwrap(), Classes::UNIX, "{path:?}");
    }
}

/// The networks that Python 3.11 and netlib classify differently, with the reason for netlib's class. `true`: only
/// Python calls the network global; `false`: only netlib does.
const UNLIKE_PYTHON: &[(&str, u32, bool, &str)] = &[
    ("224.0.0.0", 4, true, "Python calls every multicast address global that is in no special-purpose block"),
    ("ff00::", 8, true, "Python calls every multicast address global that is in no special-purpose block"),
    ("192.0.0.0", 24, true, "Python excludes only two parts of the block"),
    ("192.88.99.0", 24, true, "6to4 relay anycast, deprecated by RFC 7526"),
    ("::", 8, true, "reserved; contains addresses with embedded IPv4 addresses"),
    ("100:0:0:1::", 64, true, "RFC 9780 is newer than this version of Python"),
    ("100::", 8, true, "reserved: outside 2000::/3"),
    ("200::", 7, true, "reserved: outside 2000::/3"),
    ("400::", 6, true, "reserved: outside 2000::/3"),
    ("800::", 5, true, "reserved: outside 2000::/3"),
    ("1000::", 4, true, "reserved: outside 2000::/3"),
    ("2001:1::", 120, false, "globally reachable according to the registry"),
    ("2001:3::", 32, false, "globally reachable according to the registry"),
    ("2001:4:112::", 48, false, "globally reachable according to the registry"),
    ("2001:20::", 28, false, "globally reachable according to the registry"),
    ("2001:30::", 28, false, "globally reachable according to the registry"),
    ("2002::", 16, true, "6to4: the registry states no reachability; contains an embedded IPv4 address"),
    ("3fff::", 20, true, "RFC 9637 is newer than this version of Python"),
    ("4000::", 2, true, "reserved: outside 2000::/3; contains 5f00::/16 of RFC 9602"),
    ("8000::", 2, true, "reserved: outside 2000::/3"),
    ("c000::", 3, true, "reserved: outside 2000::/3"),
    ("e000::", 4, true, "reserved: outside 2000::/3"),
    ("f000::", 5, true, "reserved: outside 2000::/3"),
    ("f800::", 6, true, "reserved: outside 2000::/3"),
    ("fe00::", 9, true, "reserved: outside 2000::/3"),
    ("fec0::", 10, true, "site-local addresses, deprecated by RFC 3879, are private"),
];

#[test]
fn netlib_and_python_differ_on_global_addresses_only_in_listed_networks() {
    let same_network = |a: IpAddr, b: IpAddr, len: u32| match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()) >> (32 - len) == 0,
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()) >> (128 - len) == 0,
        _ => false,
    };
    let answers = include_str!("../../../tests/vectors/python-3.11/addresses.txt");
    let mut used = [false; UNLIKE_PYTHON.len()];
    let mut count = 0;
    for line in answers.lines().filter(|line| !line.starts_with('#')) {
        let (address, letters) = line.split_once(' ').unwrap();
        let address: IpAddr = address.parse().unwrap();
        let classes = classify(address);
        let has = |class: Classes| !classes.intersection(class).is_empty();
        for (letter, class) in [('l', LOOPBACK), ('k', LINK_LOCAL), ('m', MULTICAST), ('u', UNSPECIFIED)] {
            // netlib may find more classes than Python: the classes of embedded addresses, and `UNSPECIFIED` for all of
            // 0.0.0.0/8.
            assert!(!letters.contains(letter) || has(class), "{line}: {classes:?}");
        }
        let theirs = letters.contains('g');
        if theirs != (classes == GLOBAL) {
            let listed = |(network, len, python, _): &(&str, u32, bool, &str)| {
                *python == theirs && same_network(address, network.parse().unwrap(), *len)
            };
            let index = UNLIKE_PYTHON.iter().position(listed);
            used[index.unwrap_or_else(|| panic!("{line}: {classes:?}"))] = true;
        }
        count += 1;
    }
    assert!(count > 1700);
    let unused: Vec<_> = UNLIKE_PYTHON.iter().zip(used).filter(|(_, used)| !used).map(|(row, _)| row.0).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
