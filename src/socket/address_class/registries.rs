//! Lists the address blocks with their classes, from IANA's registries of 2025-10-09:
//!
//! * [4] IANA IPv4 Special-Purpose Address Registry: <https://www.iana.org/assignments/iana-ipv4-special-registry>
//! * [6] IANA IPv6 Special-Purpose Address Registry: <https://www.iana.org/assignments/iana-ipv6-special-registry>
//! * [A] Internet Protocol Version 6 Address Space: <https://www.iana.org/assignments/ipv6-address-space>
//! * [M] IANA Multicast Address Space Registries, IPv4 and IPv6
//!
//! An address block is GLOBAL if IANA's registry calls it globally reachable; "N/A" counts as not reachable. The first
//! row that contains an address applies, so a smaller block precedes the block that contains it.

use super::Classes;

pub(super) struct V4Row {
    pub network: u32,
    pub len: u32,
    pub classes: Classes,
}

impl V4Row {
    pub(super) fn contains(&self, address: u32) -> bool {
        (address ^ self.network).checked_shr(32 - self.len).unwrap_or(0) == 0
    }
}

const fn v4(network: [u8; 4], len: u32, classes: Classes) -> V4Row {
    V4Row { network: u32::from_be_bytes(network), len, classes }
}

pub(super) const V4: &[V4Row] = &[
    v4([0, 0, 0, 0], 8, Classes::UNSPECIFIED), // [4] "This network": RFC 791 section 3.2, RFC 1122 3.2.1.3
    v4([10, 0, 0, 0], 8, Classes::PRIVATE),    // [4] Private-Use: RFC 1918
    v4([100, 64, 0, 0], 10, Classes::SHARED),  // [4] Shared Address Space: RFC 6598
    v4([127, 0, 0, 0], 8, Classes::LOOPBACK),  // [4] Loopback: RFC 1122 section 3.2.1.3
    v4([169, 254, 0, 0], 16, Classes::LINK_LOCAL), // [4] Link Local: RFC 3927
    v4([172, 16, 0, 0], 12, Classes::PRIVATE), // [4] Private-Use: RFC 1918
    v4([192, 0, 0, 9], 32, Classes::GLOBAL),   // [4] Port Control Protocol Anycast: RFC 7723
    v4([192, 0, 0, 10], 32, Classes::GLOBAL),  // [4] Traversal Using Relays around NAT Anycast: RFC 8155
    v4([192, 0, 0, 0], 24, Classes::SPECIAL),  // [4] IETF Protocol Assignments: RFC 6890, 7335, 7600, 8880
    v4([192, 0, 2, 0], 24, Classes::DOCUMENTATION), // [4] TEST-NET-1: RFC 5737
    v4([192, 31, 196, 0], 24, Classes::GLOBAL), // [4] AS112-v4: RFC 7535
    v4([192, 52, 193, 0], 24, Classes::GLOBAL), // [4] AMT: RFC 7450
    v4([192, 88, 99, 0], 24, Classes::SPECIAL), // [4] 6to4 Relay Anycast, deprecated: RFC 7526; 6a44: RFC 6751
    v4([192, 168, 0, 0], 16, Classes::PRIVATE), // [4] Private-Use: RFC 1918
    v4([192, 175, 48, 0], 24, Classes::GLOBAL), // [4] Direct Delegation AS112 Service: RFC 7534
    v4([198, 18, 0, 0], 15, Classes::BENCHMARKING), // [4] Benchmarking: RFC 2544
    v4([198, 51, 100, 0], 24, Classes::DOCUMENTATION), // [4] TEST-NET-2: RFC 5737
    v4([203, 0, 113, 0], 24, Classes::DOCUMENTATION), // [4] TEST-NET-3: RFC 5737
    v4([224, 0, 0, 0], 4, Classes::MULTICAST), // [M] RFC 5771
    v4([240, 0, 0, 0], 4, Classes::RESERVED),  // [4] Reserved: RFC 1112 section 4; Limited Broadcast: RFC 919
    v4([0, 0, 0, 0], 0, Classes::GLOBAL),
];

/// Returns the IPv4 address that is embedded in the bits of an IPv6 address; `None` if it embeds none.
type EmbeddedAddress = fn(u128) -> Option<u32>;

pub(super) struct V6Row {
    pub network: u128,
    pub len: u32,
    /// The classes of the IPv6 address itself, without the classes of the IPv4 addresses that it embeds.
    pub classes: Classes,
    pub embedded: &'static [EmbeddedAddress],
}

impl V6Row {
    pub(super) fn contains(&self, address: u128) -> bool {
        (address ^ self.network).checked_shr(128 - self.len).unwrap_or(0) == 0
    }
}

/// Makes a row for an IPv6 network. `head` contains the first 16-bit groups of the network's address; the other groups
/// are 0.
const fn v6(head: &[u16], len: u32, classes: Classes, embedded: &'static [EmbeddedAddress]) -> V6Row {
    V6Row { network: groups(head), len, classes, embedded }
}

const fn groups(head: &[u16]) -> u128 {
    let mut network = 0;
    let mut i = 0;
    while i < head.len() {
        network |= (head[i] as u128) << (112 - 16 * i);
        i += 1;
    }
    network
}

pub(super) const EMBEDS_NOTHING: &[EmbeddedAddress] = &[];
const LAST_32_BITS: &[EmbeddedAddress] = &[|bits| Some(bits as u32)];
/// RFC 3056 section 2 (6to4): the IPv4 address follows the first 16 bits.
const SIX_TO_FOUR: &[EmbeddedAddress] = &[|bits| Some((bits >> 80) as u32)];
/// RFC 4380 section 4 (Teredo): the bits embed the client's IPv4 address, inverted, and the address of the client's
/// Teredo server, which gets the first packet.
const TEREDO: &[EmbeddedAddress] = &[|bits| Some(!(bits as u32)), |bits| Some((bits >> 64) as u32)];
/// RFC 8215 leaves the prefix length to the network, so the IPv4 address may start at any of the four bit offsets of
/// RFC 6052 section 2.2, and skips bits 64 to 71. An address has the classes of all four possible IPv4 addresses,
/// except those in 0.0.0.0/8: a translator forwards nothing to 0.0.0.0/8, and a wrong offset usually gives such an
/// address.
const LOCAL_TRANSLATION: &[EmbeddedAddress] = &[
    |bits| if_translated((bits >> 48) as u32 & 0xffff_0000 | (bits >> 40) as u32 & 0xffff),
    |bits| if_translated((bits >> 40) as u32 & 0xff00_0000 | (bits >> 32) as u32 & 0x00ff_ffff),
    |bits| if_translated((bits >> 24) as u32),
    |bits| if_translated(bits as u32),
];

fn if_translated(address: u32) -> Option<u32> {
    (address >> 24 != 0).then_some(address)
}

pub(super) const V6: &[V6Row] = &[
    v6(&[], 128, Classes::UNSPECIFIED, EMBEDS_NOTHING), // [6] Unspecified Address: RFC 4291
    v6(&[0, 0, 0, 0, 0, 0, 0, 1], 128, Classes::LOOPBACK, EMBEDS_NOTHING), // [6] Loopback Address: RFC 4291
    v6(&[], 96, Classes::RESERVED, LAST_32_BITS),       // IPv4-compatible, deprecated: RFC 4291 section 2.5.5.1
    // [6] IPv4-mapped Address: RFC 4291. The system connects to the IPv4 address, so an IPv4-mapped address has only
    // the classes of the IPv4 address.
    v6(&[0, 0, 0, 0, 0, 0xffff], 96, Classes::NONE, LAST_32_BITS),
    v6(&[0, 0, 0, 0, 0xffff, 0], 96, Classes::RESERVED, LAST_32_BITS), // IPv4-translated, obsolete: RFC 2765 section 2.1
    v6(&[0x64, 0xff9b], 96, Classes::GLOBAL, LAST_32_BITS),            // [6] IPv4-IPv6 Translation: RFC 6052
    v6(&[0x64, 0xff9b, 1], 48, Classes::SPECIAL, LOCAL_TRANSLATION),   // [6] local-use translation: RFC 8215
    v6(&[0x100], 64, Classes::SPECIAL, EMBEDS_NOTHING),                // [6] Discard-Only Address Block: RFC 6666
    v6(&[0x100, 0, 0, 1], 64, Classes::SPECIAL, EMBEDS_NOTHING),       // [6] Dummy IPv6 Prefix: RFC 9780
    v6(&[0x2001], 32, Classes::SPECIAL, TEREDO),                       // [6] TEREDO: RFC 4380
    v6(&[0x2001, 1, 0, 0, 0, 0, 0, 1], 128, Classes::GLOBAL, EMBEDS_NOTHING), // [6] Port Control Protocol Anycast: RFC 7723
    v6(&[0x2001, 1, 0, 0, 0, 0, 0, 2], 128, Classes::GLOBAL, EMBEDS_NOTHING), // [6] TURN Anycast: RFC 8155
    v6(&[0x2001, 1, 0, 0, 0, 0, 0, 3], 128, Classes::GLOBAL, EMBEDS_NOTHING), // [6] DNS-SD SRP Anycast: RFC 9665
    v6(&[0x2001, 2], 48, Classes::BENCHMARKING, EMBEDS_NOTHING),              // [6] Benchmarking: RFC 5180
    v6(&[0x2001, 3], 32, Classes::GLOBAL, EMBEDS_NOTHING),                    // [6] AMT: RFC 7450
    v6(&[0x2001, 4, 0x112], 48, Classes::GLOBAL, EMBEDS_NOTHING),             // [6] AS112-v6: RFC 7535
    v6(&[0x2001, 0x20], 28, Classes::GLOBAL, EMBEDS_NOTHING),                 // [6] ORCHIDv2: RFC 7343
    v6(&[0x2001, 0x30], 28, Classes::GLOBAL, EMBEDS_NOTHING),                 // [6] Drone Remote ID: RFC 9374
    v6(&[0x2001], 23, Classes::SPECIAL, EMBEDS_NOTHING), // [6] IETF Protocol Assignments: RFC 2928; 4843
    v6(&[0x2001, 0xdb8], 32, Classes::DOCUMENTATION, EMBEDS_NOTHING), // [6] Documentation: RFC 3849
    v6(&[0x2002], 16, Classes::SPECIAL, SIX_TO_FOUR),    // [6] 6to4: RFC 3056
    v6(&[0x2620, 0x4f, 0x8000], 48, Classes::GLOBAL, EMBEDS_NOTHING), // [6] Direct Delegation AS112 Service: RFC 7534
    v6(&[0x3fff], 20, Classes::DOCUMENTATION, EMBEDS_NOTHING), // [6] Documentation: RFC 9637
    v6(&[0x2000], 3, Classes::GLOBAL, EMBEDS_NOTHING),   // [A] Global Unicast: RFC 4291
    v6(&[0x5f00], 16, Classes::SPECIAL, EMBEDS_NOTHING), // [6] Segment Routing (SRv6) SIDs: RFC 9602
    v6(&[0xfc00], 7, Classes::PRIVATE, EMBEDS_NOTHING),  // [6] Unique-Local: RFC 4193
    v6(&[0xfe80], 10, Classes::LINK_LOCAL, EMBEDS_NOTHING), // [6] Link-Local Unicast: RFC 4291
    v6(&[0xfec0], 10, Classes::PRIVATE, EMBEDS_NOTHING), // [A] Site-Local, deprecated: RFC 3879
    v6(&[0xff00], 8, Classes::MULTICAST, EMBEDS_NOTHING), // [M] RFC 4291 section 2.7
    v6(&[], 0, Classes::RESERVED, EMBEDS_NOTHING),       // [A] Reserved by IETF: RFC 4291 section 2.4
];

/// Returns the functions that extract the IPv4 address from an ISATAP address (RFC 5214 section 6.1). An ISATAP address
/// may be in any network; the last 32 bits of its interface identifier are the IPv4 address. For ISATAP, IANA reserves
/// the interface identifiers that begin with 0000:5efe or 0200:5efe.
pub(super) fn isatap(bits: u128) -> &'static [EmbeddedAddress] {
    const UNIVERSAL: u32 = 0x0200_0000;
    if (bits >> 32) as u32 & !UNIVERSAL == 0x0000_5efe { LAST_32_BITS } else { EMBEDS_NOTHING }
}

/// The addresses of cloud metadata services, which return credentials. If several clouds use the same address, its
/// comment names only some of them.
pub(super) const METADATA_V4: &[u32] = &[
    address([169, 254, 169, 254]), // Amazon EC2, Azure, Google Cloud, Oracle, OpenStack and most others
    address([169, 254, 170, 2]),   // Amazon ECS: credentials of a task
    address([169, 254, 170, 23]),  // Amazon EKS: Pod Identity Agent
    address([169, 254, 0, 23]),    // Tencent Cloud
    address([169, 254, 42, 42]),   // Scaleway
    address([100, 100, 100, 200]), // Alibaba Cloud
    address([100, 96, 0, 96]),     // Volcano Engine, BytePlus
    address([168, 63, 129, 16]),   // Azure: WireServer, an address that is public otherwise
    address([192, 0, 0, 192]),     // Oracle Cloud Infrastructure Classic
];

pub(super) const METADATA_V6: &[u128] = &[
    groups(&[0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]),      // Amazon EC2
    groups(&[0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23]),       // Amazon EKS: Pod Identity Agent
    groups(&[0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]),       // Google Cloud
    groups(&[0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe]), // Oracle Cloud Infrastructure
    groups(&[0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200]),  // Alibaba Cloud
    groups(&[0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42]),        // Scaleway
    groups(&[0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1]),    // Akamai
    groups(&[0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe]),    // OpenStack
];

const fn address(octets: [u8; 4]) -> u32 {
    u32::from_be_bytes(octets)
}
