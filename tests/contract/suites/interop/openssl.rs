//! Builds the command lines of `openssl s_server` and `s_client`, and the output that the suite expects from them.

use std::path::Path;

use super::Harness;
use super::matrix::{ClientCertificate, Row, Tickets, Version};

fn versions_suites_records(row: &Row) -> Vec<String> {
    let (version, option) = match row.suite.version {
        Version::Tls12 => ("-tls1_2", "-cipher"),
        Version::Tls13 => ("-tls1_3", "-ciphersuites"),
    };
    let words = if row.restricted_by_netlib { &[][..] } else { &[version, option, row.suite.openssl] };
    words.iter().copied().chain(row.records.split_whitespace()).map(str::to_owned).collect()
}

fn identity(harness: &Harness, name: &str) -> Vec<String> {
    let file = |suffix: &str| harness.certificate(&format!("{name}{suffix}"));
    vec![
        "-cert".to_owned(),
        file(".pem"),
        "-key".to_owned(),
        file(".key"),
        "-cert_chain".to_owned(),
        harness.certificate("middle.pem"),
    ]
}

/// Returns the command line of s_server. If the row checks handshake messages, openssl writes a log of them to the file
/// `messages`.
pub fn server(harness: &Harness, row: &Row, messages: &Path) -> Vec<String> {
    let mut words = harness.words("openssl s_server -accept 127.0.0.1:0");
    words.extend([harness.word("-naccept"), row.connections().to_string()]);
    words.push(harness.word(if row.page() { "-www" } else { "-rev" }));
    words.extend(versions_suites_records(row));
    words.extend(identity(harness, &format!("server-{}", row.key.name())));
    match row.client {
        ClientCertificate::NotRequested => {}
        ClientCertificate::NotSent => {
            words.extend(harness.words("-verify 3 -verify_return_error -CAfile {root.pem}"))
        }
        ClientCertificate::Sent(_) => {
            words.extend(harness.words("-Verify 3 -verify_return_error -CAfile {root.pem}"))
        }
    }
    if row.tickets == Tickets::Tls12 {
        words.push(harness.word("-no_cache"));
    }
    if !row.alpn.server.is_empty() {
        words.extend([harness.word("-alpn"), row.alpn.server.join(",")]);
    }
    if let Some(group) = row.group {
        words.extend(["-groups", group.openssl, "-msg", "-msgfile"].map(str::to_owned));
        words.push(messages.display().to_string());
    }
    words
}

/// Returns the lines that `s_server -rev` must print for a session.
pub fn summary(row: &Row) -> Vec<String> {
    let mut lines = vec![
        format!("Protocol version: TLSv{}", row.suite.version.number()),
        format!("Ciphersuite: {}", row.suite.openssl),
        "CONNECTION CLOSED".to_owned(),
    ];
    match row.client {
        ClientCertificate::Sent(key) => {
            lines.push(format!("Peer certificate: CN = client {}", key.name()));
            lines.push("Verification: OK".to_owned());
        }
        _ => lines.push("No peer certificate".to_owned()),
    }
    lines
}

/// Returns the lines that the page of `s_server -www` must contain.
pub fn page(row: &Row, resumed: bool) -> Vec<String> {
    let start = if resumed { "Reused" } else { "New" };
    let version = row.suite.version.number();
    let mut lines = vec![
        "HTTP/1.0 200 ok".to_owned(),
        format!("{start}, TLSv{version}, Cipher is {}", row.suite.openssl),
        format!("Protocol  : TLSv{version}"),
        format!("Cipher    : {}", row.suite.openssl),
        "</pre></BODY></HTML>".to_owned(),
    ];
    match row.client {
        ClientCertificate::Sent(key) => {
            lines.push(format!("Subject: CN=client {}", key.name()));
            lines.push("Verify return code: 0 (ok)".to_owned());
        }
        _ => lines.push("no client certificate available".to_owned()),
    }
    lines
}

pub fn client(harness: &Harness, row: &Row, port: &str, messages: &Path) -> Vec<String> {
    let mut words = harness.words("openssl s_client -servername localhost -verify_hostname localhost");
    words.extend(harness.words("-verify_return_error -ign_eof -CAfile {root.pem}"));
    words.extend([harness.word("-connect"), format!("127.0.0.1:{port}")]);
    words.extend(versions_suites_records(row));
    if let ClientCertificate::Sent(key) = row.client {
        words.extend(identity(harness, &format!("client-{}", key.name())));
    }
    if !row.alpn.client.is_empty() {
        words.extend([harness.word("-alpn"), row.alpn.client.join(",")]);
    }
    if let Some(group) = row.group {
        let groups = if row.retried { format!("P-521:{}", group.openssl) } else { group.openssl.to_owned() };
        words.extend(["-groups", &groups, "-msg", "-msgfile"].map(str::to_owned));
        words.push(messages.display().to_string());
    }
    words
}

/// Returns the lines that `s_client` must print for a session.
pub fn session(row: &Row, resumed: bool) -> Vec<String> {
    let start = if resumed { "Reused" } else { "New" };
    let mut lines = vec![
        format!("{start}, TLSv{}, Cipher is {}", row.suite.version.number(), row.suite.openssl),
        "Verify return code: 0 (ok)".to_owned(),
        row.alpn.agreed.map_or("No ALPN negotiated".to_owned(), |protocol| format!("ALPN protocol: {protocol}")),
        // s_client prints "closed" when it receives the server's close_notify, and an error if close_notify is missing.
        "closed".to_owned(),
    ];
    if row.tickets == Tickets::Tls12 {
        lines.push("TLS session ticket:".to_owned());
    }
    // Rows with a group do not resume a session, because a resumed TLS 1.2 session has no key exchange.
    if let Some(group) = row.group {
        lines.push(format!("Server Temp Key: {}", group.temporary_key));
    }
    match row.client {
        ClientCertificate::NotRequested if !resumed => lines.push("No client certificate CA names sent".to_owned()),
        ClientCertificate::NotRequested => {}
        _ if !resumed => lines.push("CN = interop root".to_owned()),
        _ => {}
    }
    lines
}

/// Counts the lines of openssl's -msg output about a handshake message in one direction.
pub fn count(messages: &str, direction: &str, message: &str) -> usize {
    let (end, handshake) = (format!(", {message}"), ", Handshake ");
    messages
        .lines()
        .filter(|line| line.starts_with(direction) && line.contains(handshake) && line.ends_with(&end))
        .count()
}
