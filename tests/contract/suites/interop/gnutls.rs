//! Builds the command lines of gnutls-serv and gnutls-cli, and the output that the suite expects from them.

use std::fs;
use std::path::Path;

use super::Harness;
use super::matrix::{ClientCertificate, Row, Side, Tickets, Version};

/// Returns a GnuTLS priority string with one version, one cipher suite and, if the row restricts the groups, one group.
fn priority(row: &Row) -> String {
    let exchange = match (row.suite.version, row.suite.openssl.split_once("-ECDSA")) {
        (Version::Tls13, _) => "",
        (Version::Tls12, Some(_)) => ":-KX-ALL:+ECDHE-ECDSA",
        (Version::Tls12, None) => ":-KX-ALL:+ECDHE-RSA",
    };
    let group = row.group.map_or(String::new(), |group| {
        let first = if row.retried && row.netlib == Side::Server { "+GROUP-SECP521R1:" } else { "" };
        format!(":-GROUP-ALL:{first}+GROUP-{}", group.gnutls)
    });
    if row.restricted_by_netlib {
        return "NORMAL".to_owned();
    }
    let version = row.suite.version.number();
    format!("NORMAL:-VERS-ALL:+VERS-TLS{version}:-CIPHER-ALL:+{}{exchange}{group}", row.suite.gnutls)
}

fn identity(harness: &Harness, name: &str) -> Vec<String> {
    let mut words = vec!["--x509certfile".to_owned(), harness.certificate(&format!("{name}-chain.pem"))];
    words.extend(["--x509keyfile".to_owned(), harness.certificate(&format!("{name}.key"))]);
    words
}

fn common(row: &Row, protocols: &[&str]) -> Vec<String> {
    let mut words = vec!["--priority".to_owned(), priority(row)];
    protocols.iter().for_each(|protocol| words.extend(["--alpn".to_owned(), (*protocol).to_owned()]));
    words
}

pub fn server(harness: &Harness, row: &Row) -> Vec<String> {
    let mut words = harness.words("gnutls-serv --port 0 --echo");
    words.extend(common(row, row.alpn.server));
    if row.tickets == Tickets::Tls12 {
        words.push("--nodb".to_owned());
    }
    words.extend(identity(harness, &format!("server-{}", row.key.name())));
    words.extend(match row.client {
        ClientCertificate::NotRequested => harness.words("--disable-client-cert"),
        ClientCertificate::NotSent => harness.words("--x509cafile {root.pem}"),
        ClientCertificate::Sent(_) => {
            harness.words("--require-client-cert --verify-client-cert --x509cafile {root.pem}")
        }
    });
    words
}

pub fn client(harness: &Harness, row: &Row, port: &str) -> Vec<String> {
    let mut words = harness.words("gnutls-cli --x509cafile {root.pem} --port");
    words.push(port.to_owned());
    words.extend(common(row, row.alpn.client));
    if let ClientCertificate::Sent(key) = row.client {
        words.extend(identity(harness, &format!("client-{}", key.name())));
    }
    if row.resume {
        words.push("--resume".to_owned());
        if row.suite.version == Version::Tls13 {
            words.push("--waitresumption".to_owned());
        }
    }
    words.push("localhost".to_owned());
    words
}

const RESUMED: &str = "*** This is a resumed session";

/// Returns the lines that gnutls-serv or gnutls-cli must print for a session.
pub fn lines(row: &Row, resumed: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if resumed {
        lines.push(RESUMED.to_owned());
    }
    if let Some(protocol) = row.alpn.agreed {
        lines.push(format!("- Application protocol: {protocol}"));
    }
    match (row.netlib, row.client) {
        (Side::Client, ClientCertificate::Sent(_)) if !resumed => {
            lines.push("- Got a certificate list of 2 certificates.".to_owned());
        }
        (Side::Server, ClientCertificate::Sent(_)) if !resumed => {
            lines.push("- Successfully sent 2 certificate(s) to server.".to_owned());
        }
        _ => {}
    }
    if row.netlib == Side::Client {
        lines.push(format!("- Version: TLS{}", row.suite.version.number()));
        lines.push(format!("- Cipher: {}", row.suite.gnutls));
        lines.push("- Given server name[1]: localhost".to_owned());
        if let Some(group) = row.group {
            lines.push(format!("- Using curve: {}", group.gnutls));
        }
    } else if !resumed {
        lines.push("- Status: The certificate is trusted.".to_owned());
    }
    lines
}

/// Returns the lines that gnutls-serv or gnutls-cli must not print for a session.
pub fn never(row: &Row, resumed: bool) -> Vec<&'static str> {
    let mut lines = Vec::new();
    if !resumed {
        lines.push(RESUMED);
    }
    if row.alpn.agreed.is_none() {
        lines.push("- Application protocol:");
    }
    if !matches!(row.client, ClientCertificate::Sent(_)) {
        lines.push(if row.netlib == Side::Client { "- Got a certificate list" } else { "- Successfully sent 2" });
    }
    lines
}

/// Checks GnuTLS's description of a session, such as
/// "(TLS1.3-X.509)-(ECDHE-X25519)-(ECDSA-SECP256R1-SHA256)-(AES-256-GCM)". The description of a resumed session has no
/// key exchange.
pub fn described(row: &Row, resumed: bool, said: &str) -> Result<(), String> {
    let version = format!("(TLS{}", row.suite.version.number());
    let cipher = format!("({})", row.suite.gnutls);
    let group = row.group.map_or(String::new(), |group| format!("(ECDHE-{})", group.gnutls));
    let mut descriptions = said.lines().filter_map(|line| line.strip_prefix("- Description: "));
    let fits = |line: &str| {
        line.starts_with(&version)
            && line.ends_with(&cipher)
            && (resumed || group.is_empty() || line.contains(&group))
    };
    match (descriptions.next(), descriptions.next()) {
        (Some(line), None) if fits(line) => Ok(()),
        (line, _) => Err(format!("\"{}\" is not of {version} {group} {cipher}", line.unwrap_or("no description"))),
    }
}

/// Returns the port on which a process listens. gnutls-serv does not print its port, so the function looks for the
/// process's sockets in /proc/net/tcp.
pub fn listening_port(process: u32) -> Option<String> {
    let sockets: Vec<String> = fs::read_dir(format!("/proc/{process}/fd"))
        .ok()?
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter_map(|link| Some(inode(&link)?.to_owned()))
        .collect();
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().find_map(|line| {
        const LISTENS: &str = "0A";
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (cells.get(1)?, cells.get(3)?, cells.get(9)?);
        if *state != LISTENS || !sockets.iter().any(|socket| socket == inode) {
            return None;
        }
        let port = u16::from_str_radix(local.split_once(':')?.1, 16).ok()?;
        Some(port.to_string())
    })
}

/// Returns the inode number in a symbolic link "socket:[12345]" of /proc.
fn inode(link: &Path) -> Option<&str> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')
}
