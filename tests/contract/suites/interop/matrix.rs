//! Lists the combinations that the suite tests: the other implementation, netlib's role, versions, cipher suites, keys,
//! client certificates, ALPN protocols, resumption and key exchange groups.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    OpenSsl,
    GnuTls,
}

impl Tool {
    pub fn name(self) -> &'static str {
        if self == Tool::OpenSsl { "openssl" } else { "GnuTLS" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// Each pair is another implementation and netlib's role in the sessions with it, in the order of the rows.
pub const PAIRS: &[(Tool, Side)] = &[
    (Tool::OpenSsl, Side::Client),
    (Tool::OpenSsl, Side::Server),
    (Tool::GnuTls, Side::Client),
    (Tool::GnuTls, Side::Server),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Tls12,
    Tls13,
}

impl Version {
    pub const ALL: &[Version] = &[Version::Tls12, Version::Tls13];

    pub fn number(self) -> &'static str {
        match self {
            Version::Tls12 => "1.2",
            Version::Tls13 => "1.3",
        }
    }
}

/// A cipher suite: its IANA name, which netlib uses, and its names in the other implementations.
pub struct Suite {
    pub version: Version,
    pub name: &'static str,
    pub openssl: &'static str,
    pub gnutls: &'static str,
    /// The kinds of keys that a certificate may have with this cipher suite: any kind in TLS 1.3.
    signed_by: &'static [Key],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Key {
    pub const ALL: &[Key] = &[Key::Rsa, Key::P256, Key::P384, Key::Ed25519];

    pub fn name(self) -> &'static str {
        match self {
            Key::Rsa => "rsa",
            Key::P256 => "p256",
            Key::P384 => "p384",
            Key::Ed25519 => "ed25519",
        }
    }
}

const ECDSA: &[Key] = &[Key::P256, Key::P384, Key::Ed25519];

const fn tls13(name: &'static str, gnutls: &'static str) -> Suite {
    Suite { version: Version::Tls13, name, openssl: name, gnutls, signed_by: Key::ALL }
}

const fn tls12(name: &'static str, openssl: &'static str, gnutls: &'static str, signed_by: &'static [Key]) -> Suite {
    Suite { version: Version::Tls12, name, openssl, gnutls, signed_by }
}

pub const SUITES: &[Suite] = &[
    tls13("TLS_AES_128_GCM_SHA256", "AES-128-GCM"),
    tls13("TLS_AES_256_GCM_SHA384", "AES-256-GCM"),
    tls13("TLS_CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
    tls12("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", "AES-128-GCM", ECDSA),
    tls12("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", "AES-256-GCM", ECDSA),
    tls12(
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "CHACHA20-POLY1305",
        ECDSA,
    ),
    tls12("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "AES-128-GCM", &[Key::Rsa]),
    tls12("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "AES-256-GCM", &[Key::Rsa]),
    tls12(
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-CHACHA20-POLY1305",
        "CHACHA20-POLY1305",
        &[Key::Rsa],
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    NotRequested,
    /// The server requests a certificate and continues without one.
    NotSent,
    Sent(Key),
}

/// The ALPN protocols of the client and of the server, and the protocol that they negotiate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpn {
    pub client: &'static [&'static str],
    pub server: &'static [&'static str],
    pub agreed: Option<&'static str>,
}

pub const NO_ALPN: Alpn = Alpn { client: &[], server: &[], agreed: None };
const ALPN: Alpn = Alpn { client: &["http/1.1", "h2"], server: &["other", "h2"], agreed: Some("h2") };

/// Returns ALPN lists of the client only, of the server only, and lists in different orders. netlib and openssl servers
/// prefer the server's order, GnuTLS servers the client's order.
fn alpn_alone_and_ordered(tool: Tool, netlib: Side) -> [Alpn; 3] {
    let first = if (tool, netlib) == (Tool::GnuTls, Side::Client) { "http/1.1" } else { "h2" };
    [
        Alpn { client: &["h2"], server: &[], agreed: None },
        Alpn { client: &[], server: &["h2"], agreed: None },
        Alpn { client: &["http/1.1", "h2"], server: &["h2", "http/1.1"], agreed: Some(first) },
    ]
}

/// netlib's settings for resumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tickets {
    /// Resumption with session IDs in TLS 1.2, and with tickets in TLS 1.3.
    Default,
    /// Resumption with tickets in TLS 1.2 and in TLS 1.3; the peer does not store sessions.
    Tls12,
    /// Resumption is disabled.
    Refused,
}

/// A key exchange group: its name in netlib and in the other implementations, and the description that s_client prints.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    pub name: &'static str,
    pub openssl: &'static str,
    pub gnutls: &'static str,
    pub temporary_key: &'static str,
}

pub const GROUPS: &[Group] = &[
    Group { name: "x25519", openssl: "X25519", gnutls: "X25519", temporary_key: "X25519, 253 bits" },
    Group { name: "secp256r1", openssl: "P-256", gnutls: "SECP256R1", temporary_key: "ECDH, prime256v1, 256 bits" },
    Group { name: "secp384r1", openssl: "P-384", gnutls: "SECP384R1", temporary_key: "ECDH, secp384r1, 384 bits" },
];

#[derive(Clone, Copy)]
pub struct Row {
    pub tool: Tool,
    pub netlib: Side,
    pub suite: &'static Suite,
    pub key: Key,
    pub client: ClientCertificate,
    pub alpn: Alpn,
    /// True to run two sessions, of which the second resumes the first.
    pub resume: bool,
    /// True if netlib's settings restrict the version and the cipher suite; false if the peer's arguments do.
    pub restricted_by_netlib: bool,
    pub tickets: Tickets,
    /// The only key exchange group that the peer supports; `None` for the peer's defaults.
    pub group: Option<&'static Group>,
    /// True if the client's first key share is for a group that the session does not use, so that the server sends a
    /// HelloRetryRequest.
    pub retried: bool,
    /// The openssl options that change the size or padding of records.
    pub records: &'static str,
}

impl Row {
    /// Returns true if s_server answers with a page about the session instead of reversing each line.
    pub fn page(&self) -> bool {
        self.tool == Tool::OpenSsl && self.netlib == Side::Client && (self.resume || self.alpn != NO_ALPN)
    }

    /// Returns true if the session with the index `turn` resumes an earlier session.
    pub fn resumed(&self, turn: usize) -> bool {
        self.resume && turn == 1 && self.tickets != Tickets::Refused
    }

    /// Returns the group that the session negotiates. GnuTLS's client prefers P-256, all other clients prefer X25519.
    pub fn agreed_group(&self, turn: usize) -> &'static str {
        match (self.group, self.tool, self.netlib) {
            _ if self.resumed(turn) && self.suite.version == Version::Tls12 => "-",
            (Some(group), _, _) => group.name,
            (None, Tool::GnuTls, Side::Server) => GROUPS[1].name,
            (None, _, _) => GROUPS[0].name,
        }
    }

    pub fn connections(&self) -> usize {
        if self.resume { 2 } else { 1 }
    }

    pub fn name(&self) -> String {
        let tool = self.tool.name();
        let side = if self.netlib == Side::Client { "client" } else { "server" };
        let mut name = format!("netlib as {side} of {tool}: {}, key {}", self.suite.name, self.key.name());
        match self.client {
            ClientCertificate::NotRequested => {}
            ClientCertificate::NotSent => name += ", no client certificate",
            ClientCertificate::Sent(key) => name += &format!(", client certificate {}", key.name()),
        }
        if self.alpn != NO_ALPN {
            name += &format!(", ALPN {:?} of {:?}", self.alpn.client, self.alpn.server);
        }
        if let Some(group) = self.group {
            name += &format!(", {}{}", group.openssl, if self.retried { " after a second hello" } else { "" });
        }
        if !self.records.is_empty() {
            name += &format!(", {}", self.records);
        }
        if self.restricted_by_netlib {
            name += ", chosen by netlib";
        }
        match (self.resume, self.tickets) {
            (false, _) => name,
            (true, Tickets::Default) => name + ", resumed",
            (true, Tickets::Tls12) => name + ", resumed by a ticket",
            (true, Tickets::Refused) => name + ", not resumed",
        }
    }
}

fn plain(tool: Tool, netlib: Side, suite: &'static Suite, key: Key) -> Row {
    Row {
        tool,
        netlib,
        suite,
        key,
        client: ClientCertificate::NotRequested,
        alpn: NO_ALPN,
        resume: false,
        restricted_by_netlib: false,
        tickets: Tickets::Default,
        group: None,
        retried: false,
        records: "",
    }
}

fn suites_and_keys() -> impl Iterator<Item = (&'static Suite, Key)> {
    SUITES.iter().flat_map(|suite| suite.signed_by.iter().map(move |&key| (suite, key)))
}

/// Applies one of the eight combinations of client certificate, ALPN and resumption; `turn` selects the client's key.
fn combined(row: Row, combination: usize, turn: usize) -> Row {
    let sent = ClientCertificate::Sent(Key::ALL[turn % Key::ALL.len()]);
    Row {
        client: if combination & 1 != 0 { sent } else { ClientCertificate::NotRequested },
        alpn: if combination & 2 != 0 { ALPN } else { NO_ALPN },
        resume: combination & 4 != 0,
        ..row
    }
}

/// Returns the rows of the suite `interop`: each cipher suite with each kind of key in one of the eight combinations,
/// which take turns; each cipher suite once selected by netlib's settings instead of the peer's; and the rows of
/// `special`.
pub fn core() -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, &(tool, netlib)) in PAIRS.iter().enumerate() {
        for (turn, (suite, key)) in suites_and_keys().enumerate() {
            rows.push(combined(plain(tool, netlib, suite, key), turn + at, turn / 2));
        }
        let chosen = SUITES.iter().map(|suite| plain(tool, netlib, suite, suite.signed_by[0]));
        rows.extend(chosen.map(|row| Row { restricted_by_netlib: true, ..row }));
    }
    rows.extend(special());
    rows
}

/// Returns all rows: each cipher suite with each kind of key in each of the eight combinations, and once selected by
/// netlib's settings instead of the peer's; each kind of client key with each version, with and without resumption; and
/// the rows of `special`.
pub fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(tool, netlib) in PAIRS {
        for (turn, (suite, key)) in suites_and_keys().enumerate() {
            rows.extend((0..8).map(|combination| combined(plain(tool, netlib, suite, key), combination, turn)));
            rows.push(Row { restricted_by_netlib: true, ..plain(tool, netlib, suite, key) });
        }
        for &version in Version::ALL {
            for &client in Key::ALL {
                let client = ClientCertificate::Sent(client);
                for resume in [false, true] {
                    rows.push(Row { client, resume, ..plain(tool, netlib, first_of(version, Key::P256), Key::P256) });
                }
            }
        }
    }
    rows.extend(special());
    rows
}

fn first_of(version: Version, key: Key) -> &'static Suite {
    let fits = |suite: &&Suite| suite.version == version && suite.signed_by.contains(&key);
    SUITES.iter().find(fits).expect("each key has a suite of each version")
}

/// Returns the rows that are not combined with others: groups, a requested certificate that the client does not send,
/// ALPN protocols of only one peer, and padded and short records.
fn special() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(tool, netlib) in PAIRS {
        for &version in Version::ALL {
            let row = plain(tool, netlib, first_of(version, Key::P256), Key::P256);
            // Rows about groups use an RSA key, because a client's list of groups also restricts the curves of
            // certificates.
            let keyed = plain(tool, netlib, first_of(version, Key::Rsa), Key::Rsa);
            for group in GROUPS {
                // A netlib client sends its first key share for X25519. The clients of other implementations are
                // configured to send their first key share for a group that netlib does not support.
                let retried = version == Version::Tls13 && (netlib == Side::Server || group.openssl != "X25519");
                rows.push(Row { group: Some(group), retried, ..keyed });
            }
            if (version, netlib) == (Version::Tls13, Side::Server) {
                rows.extend(GROUPS.iter().map(|group| Row { group: Some(group), ..keyed }));
            }
            rows.push(Row { client: ClientCertificate::NotSent, ..row });
            for alpn in alpn_alone_and_ordered(tool, netlib) {
                rows.push(Row { alpn, ..row });
            }
            if version == Version::Tls12 {
                rows.push(Row { resume: true, tickets: Tickets::Tls12, ..row });
            }
            // gnutls-cli would wait for a TLS 1.3 ticket that is never sent.
            if (tool, netlib, version) != (Tool::GnuTls, Side::Server, Version::Tls13) {
                rows.push(Row { resume: true, tickets: Tickets::Refused, ..row });
            }
            let records: &[&str] = match (tool, version) {
                (Tool::OpenSsl, Version::Tls13) => &["-record_padding 4000", "-max_send_frag 512"],
                (Tool::OpenSsl, Version::Tls12) => &["-max_send_frag 512"],
                (Tool::GnuTls, _) => &[],
            };
            rows.extend(records.iter().map(|records| Row { records, ..row }));
        }
    }
    rows
}
