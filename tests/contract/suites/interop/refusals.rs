//! Tests sessions that must fail. Each row has netlib's expected status, alert and certificate problem, and the peer's
//! expected error message, which may contain the number of netlib's alert.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::Ordering;

use super::Harness;
use super::matrix::{Side, Tool};
use super::process::{Ended, Input};
use crate::report::Report;

/// The expected status of netlib, its alert (-1 for none) and its certificate problem.
type Outcome = (&'static str, i32, i32);

#[derive(Clone, Copy)]
pub struct Refusal {
    pub(super) name: &'static str,
    pub(super) tool: Tool,
    pub(super) netlib: Side,
    /// The settings of peer.c, the netlib side of the session, other than its trusted authority.
    pub(super) settings: &'static str,
    /// The arguments of the other implementation's program.
    pub(super) other: &'static str,
    pub(super) outcome: Outcome,
    pub(super) says: &'static str,
    /// True if the handshake succeeds and a later call fails: in TLS 1.3 the client completes its handshake before the
    /// server has verified the client's certificate.
    pub(super) late: bool,
}

const INCOMPATIBLE: &str = "NETLIB_TLS_INCOMPATIBLE";
const NO_VERSION: Outcome = (INCOMPATIBLE, 70, 0);
const NO_SUITE: Outcome = (INCOMPATIBLE, 40, 0);
const NO_GROUP: Outcome = (INCOMPATIBLE, 40, 0);
const NO_PROTOCOL: Outcome = (INCOMPATIBLE, 120, 0);
const NO_CERTIFICATE: Outcome = ("NETLIB_CERTIFICATE_VERIFY", 116, 16);
const UNKNOWN_ISSUER: Outcome = ("NETLIB_CERTIFICATE_VERIFY", 48, 3);
const EXPIRED: Outcome = ("NETLIB_CERTIFICATE_VERIFY", 45, 1);
const WRONG_NAME: Outcome = ("NETLIB_HOSTNAME_MISMATCH", 42, 4);
const WRONG_PURPOSE: Outcome = ("NETLIB_CERTIFICATE_VERIFY", 43, 7);
const AUTHORITY: Outcome = ("NETLIB_CERTIFICATE_VERIFY", 43, 12);

const fn alert(number: i32) -> Outcome {
    ("NETLIB_TLS_ALERT", number, 0)
}

const fn client(
    name: &'static str,
    settings: &'static str,
    other: &'static str,
    outcome: Outcome,
    says: &'static str,
) -> Refusal {
    Refusal { name, tool: Tool::OpenSsl, netlib: Side::Client, settings, other, outcome, says, late: false }
}

const fn server(
    name: &'static str,
    settings: &'static str,
    other: &'static str,
    outcome: Outcome,
    says: &'static str,
) -> Refusal {
    Refusal { netlib: Side::Server, ..client(name, settings, other, outcome, says) }
}

const fn late(refusal: Refusal) -> Refusal {
    Refusal { late: true, ..refusal }
}

const fn gnutls(refusal: Refusal) -> Refusal {
    Refusal { tool: Tool::GnuTls, ..refusal }
}

pub const ALL: &[Refusal] = &[
    // netlib connects to s_server.
    client("only 1.2 here", "max=1.2", "{p256} -tls1_3", alert(70), "unsupported protocol"),
    client("only 1.3 here", "min=1.3", "{p256} -tls1_2", alert(70), "unsupported protocol"),
    client("only 1.1 there", "", "{p256} -tls1_1 -cipher DEFAULT@SECLEVEL=0", alert(70), "unsupported protocol"),
    client("no suite, 1.2", "", "{p256} -tls1_2 -cipher AES128-SHA", alert(40), "no shared cipher"),
    client("no suite, 1.3", "", "{p256} -tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256", alert(40), "no shared cipher"),
    client("no group", "", "{p256} -groups P-521", alert(40), "no suitable key share"),
    client("no signature scheme", "", "{rsa-pss}", alert(40), "no suitable signature algorithm"),
    client("no protocol", "alpn=http/1.1", "{p256} -alpn h2", alert(120), "no application protocol"),
    client("no client certificate, 1.2", "", "{p256} {asks} -tls1_2", alert(40), "peer did not return a certificate"),
    late(client(
        "no client certificate, 1.3",
        "",
        "{p256} {asks} -tls1_3",
        alert(116),
        "peer did not return a certificate",
    )),
    client("a stranger, 1.2", "{stranger}", "{p256} {asks} -tls1_2", alert(48), "certificate verify failed"),
    late(client("a stranger, 1.3", "{stranger}", "{p256} {asks} -tls1_3", alert(48), "certificate verify failed")),
    client("another name, 1.2", "", "{elsewhere} -tls1_2", WRONG_NAME, "SSL alert number 42"),
    client("another name, 1.3", "", "{elsewhere} -tls1_3", WRONG_NAME, "SSL alert number 42"),
    client("expired, 1.2", "", "{expired} -tls1_2", EXPIRED, "SSL alert number 45"),
    client("expired, 1.3", "", "{expired} -tls1_3", EXPIRED, "SSL alert number 45"),
    client("untrusted", "ca-is-another", "{p256}", UNKNOWN_ISSUER, "SSL alert number 48"),
    client("incomplete", "", "{alone}", UNKNOWN_ISSUER, "SSL alert number 48"),
    client("a client's", "", "{a-client's}", WRONG_PURPOSE, "SSL alert number 43"),
    client("an authority's", "", "{authority}", AUTHORITY, "SSL alert number 43"),
    // s_client connects to netlib.
    server("only 1.3 here", "{p256} min=1.3", "-tls1_2", NO_VERSION, "SSL alert number 70"),
    server("only 1.2 here", "{p256} max=1.2", "-tls1_3", NO_VERSION, "SSL alert number 70"),
    server(
        "no suite, 1.2",
        "{rsa}",
        "-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256",
        NO_SUITE,
        "SSL alert number 40",
    ),
    server(
        "no suite, 1.3",
        "{p256}",
        "-tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256",
        NO_SUITE,
        "SSL alert number 40",
    ),
    server("no exchange", "{p256}", "-tls1_2 -cipher AES128-SHA", NO_GROUP, "SSL alert number 40"),
    server("no group", "{p256}", "-groups P-521", NO_GROUP, "SSL alert number 40"),
    server("no protocol", "{p256} alpn=h2", "-alpn http/1.1", NO_PROTOCOL, "SSL alert number 120"),
    server("no client certificate, 1.2", "{p256} {asks}", "-tls1_2", NO_CERTIFICATE, "SSL alert number 116"),
    server("no client certificate, 1.3", "{p256} {asks}", "-tls1_3", NO_CERTIFICATE, "SSL alert number 116"),
    server("a stranger, 1.2", "{p256} {asks}", "-tls1_2 {stranger}", UNKNOWN_ISSUER, "SSL alert number 48"),
    server("a stranger, 1.3", "{p256} {asks}", "-tls1_3 {stranger}", UNKNOWN_ISSUER, "SSL alert number 48"),
    server("an expired client", "{p256} {asks}", "{expired}", EXPIRED, "SSL alert number 45"),
    server("a server's", "{p256} {asks}", "{p256}", WRONG_PURPOSE, "SSL alert number 43"),
    server("it wants another name", "{p256}", "-verify_hostname other.test", alert(42), "hostname mismatch"),
    server("it finds it expired", "{expired}", "", alert(45), "certificate has expired"),
    server("it does not trust", "{p256}", "ca-is-another", alert(48), "unable to get local issuer certificate"),
    // netlib connects to gnutls-serv.
    gnutls(client("only 1.2 here", "max=1.2", "{p256} {1.3}", alert(70), "illegal or unsupported version")),
    gnutls(client("only 1.3 here", "min=1.3", "{p256} {1.2}", alert(40), "No supported cipher suites")),
    gnutls(client("no suite", "", "{p256} {1.2}:-CIPHER-ALL:+AES-128-CBC", alert(40), "No supported cipher suites")),
    gnutls(client(
        "no protocol",
        "alpn=http/1.1",
        "{p256} --alpn h2 --alpn-fatal",
        alert(120),
        "No common application",
    )),
    gnutls(client("no client certificate, 1.2", "", "{p256} {asks} {1.2}", alert(50), "No certificate was found")),
    gnutls(late(client(
        "no client certificate, 1.3",
        "",
        "{p256} {asks} {1.3}",
        alert(116),
        "Certificate is required",
    ))),
    gnutls(client("a stranger, 1.2", "{stranger}", "{p256} {asks} {1.2}", alert(49), "Error in the certificate")),
    gnutls(late(client(
        "a stranger, 1.3",
        "{stranger}",
        "{p256} {asks} {1.3}",
        alert(49),
        "Error in the certificate",
    ))),
    gnutls(client("another name", "", "{elsewhere}", WRONG_NAME, "Alert[2|42]")),
    gnutls(client("expired", "", "{expired}", EXPIRED, "Alert[2|45]")),
    gnutls(client("untrusted", "ca-is-another", "{p256}", UNKNOWN_ISSUER, "Alert[2|48]")),
    gnutls(client("incomplete", "", "{alone}", UNKNOWN_ISSUER, "Alert[2|48]")),
    // gnutls-cli connects to netlib.
    gnutls(server("only 1.3 here", "{p256} min=1.3", "{1.2}", NO_VERSION, "*** Received alert [70]")),
    gnutls(server("only 1.2 here", "{p256} max=1.2", "{1.3}", NO_VERSION, "*** Received alert [70]")),
    gnutls(server("no suite", "{p256}", "{1.2}:-CIPHER-ALL:+AES-128-CBC", NO_SUITE, "*** Received alert [40]")),
    gnutls(server("no protocol", "{p256} alpn=h2", "--alpn http/1.1", NO_PROTOCOL, "*** Received alert [120]")),
    gnutls(server(
        "no client certificate, 1.2",
        "{p256} {asks}",
        "{1.2}",
        NO_CERTIFICATE,
        "*** Received alert [116]",
    )),
    gnutls(server(
        "no client certificate, 1.3",
        "{p256} {asks}",
        "{1.3}",
        NO_CERTIFICATE,
        "*** Received alert [116]",
    )),
    gnutls(server("a stranger, 1.2", "{p256} {asks}", "{1.2} {stranger}", UNKNOWN_ISSUER, "*** Received alert [48]")),
    gnutls(server("a stranger, 1.3", "{p256} {asks}", "{1.3} {stranger}", UNKNOWN_ISSUER, "*** Received alert [48]")),
    gnutls(server(
        "it wants another name",
        "{p256}",
        "--verify-hostname other.test",
        alert(42),
        "does not match the expected",
    )),
    gnutls(server("it finds it expired", "{expired}", "", alert(42), "uses expired certificate")),
    gnutls(server("it does not trust", "{p256}", "ca-is-another", alert(42), "The certificate issuer is unknown")),
];

/// Peers that do not use TLS at all.
pub fn not_tls(harness: &Harness, report: &mut Report) {
    for (what, result) in [("server", plaintext_server(harness)), ("client", plaintext_client(harness))] {
        harness.refusals.fetch_add(1, Ordering::Relaxed);
        report.check(result.is_ok(), format!("a {what} that speaks HTTP: {}", result.err().unwrap_or_default()));
    }
}

impl Refusal {
    pub fn title(&self) -> String {
        let side = if self.netlib == Side::Client { "client" } else { "server" };
        format!("refusal, netlib as {side} of {}, {}", self.tool.name(), self.name)
    }

    pub fn run_case(&self, harness: &Harness) -> Result<(), String> {
        let (netlib, other) = match self.netlib {
            Side::Client => self.run_client(harness)?,
            Side::Server => self.run_server(harness)?,
        };
        let mut problems = self.outcome_problems(&netlib);
        if !other.contains(self.says) {
            problems.push(format!("the other peer does not print \"{}\"", self.says));
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(format!("{}\n{}\n{}", problems.join("\n"), netlib.transcript(), other.transcript())),
        }
    }

    fn outcome_problems(&self, netlib: &Ended) -> Vec<String> {
        let (status, alert, problem) = self.outcome;
        let (handshake, end) = if self.late { ("NETLIB_OK", status) } else { (status, "NETLIB_OK") };
        facts_differ(
            netlib,
            &[
                ("handshake", handshake.to_owned()),
                ("end", end.to_owned()),
                ("alert", alert.to_string()),
                ("problem", problem.to_string()),
                ("bytes", "0".to_owned()),
            ],
        )
    }

    fn run_client(&self, harness: &Harness) -> Result<(Ended, Ended), String> {
        let (server, port) = match self.tool {
            Tool::OpenSsl => {
                let mut words = harness.words("openssl s_server -accept 127.0.0.1:0 -rev -naccept 1");
                words.extend(openssl_words(harness, self.other));
                harness.openssl_server(&words)?
            }
            Tool::GnuTls => {
                let mut words = harness.words("gnutls-serv --port 0 --echo --debug 5");
                words.extend(gnutls_words(harness, self.other));
                harness.gnutls_server(&words)?
            }
        };
        let mut words = harness.words("client how=read");
        words.push(format!("port={port}"));
        words.extend(netlib_words(harness, self.settings));
        let netlib = harness.netlib(words)?.finish();
        if self.tool == Tool::GnuTls {
            server.terminate();
        }
        Ok((netlib, server.finish()))
    }

    fn run_server(&self, harness: &Harness) -> Result<(Ended, Ended), String> {
        let mut words = harness.words("server how=read");
        words.extend(netlib_words(harness, self.settings));
        if !self.settings.contains("{asks}") {
            words.push(harness.word("verify=none"));
        }
        let netlib = harness.netlib(words)?;
        let port = netlib.line_after("port ", false)?;
        let words = match self.tool {
            Tool::OpenSsl => {
                let mut words = harness.words("openssl s_client -servername localhost -verify_return_error -ign_eof");
                words.extend([harness.word("-connect"), format!("127.0.0.1:{port}")]);
                words.extend(openssl_words(harness, self.other));
                if !self.other.contains("ca-is-another") {
                    words.extend(harness.words("-CAfile {root.pem}"));
                }
                words
            }
            Tool::GnuTls => {
                let mut words = harness.words("gnutls-cli --port");
                words.push(port);
                words.extend(gnutls_words(harness, self.other));
                if !self.other.contains("ca-is-another") {
                    words.extend(harness.words("--x509cafile {root.pem}"));
                }
                words.push(harness.word("localhost"));
                words
            }
        };
        // The input of gnutls-cli stays open, because gnutls-cli would exit at the end of its input, before it reads
        // the alert.
        let client = harness.start(&words, Input::Pipe)?;
        client.wait_for_end();
        Ok((netlib.finish(), client.finish()))
    }
}

/// Returns the expected facts that netlib's output does not contain.
fn facts_differ(netlib: &Ended, facts: &[(&str, String)]) -> Vec<String> {
    let line = netlib.out.lines().find(|line| line.starts_with("handshake=")).unwrap_or_default();
    let actual = |name: &str| {
        line.split_whitespace().filter_map(|word| word.split_once('=')).find(|word| word.0 == name).map(|word| word.1)
    };
    let wrong = facts.iter().filter(|(name, expected)| actual(name) != Some(expected));
    wrong
        .map(|(name, expected)| format!("netlib: {name} is {}, not {expected}", actual(name).unwrap_or("?")))
        .collect()
}

fn netlib_words(harness: &Harness, settings: &str) -> Vec<String> {
    let mut words = Vec::new();
    if !settings.contains("ca-is-another") {
        words.extend(harness.words("ca={root.pem}"));
    }
    for word in settings.split_whitespace() {
        words.extend(harness.words(match word {
            "ca-is-another" => "ca={other-root.pem}",
            "{asks}" => "verify=required",
            "{p256}" => "identity={server-p256-both.pem}",
            "{rsa}" => "identity={server-rsa-both.pem}",
            "{expired}" => "identity={expired-both.pem}",
            "{stranger}" => "identity={stranger-both.pem}",
            other => other,
        }));
    }
    words
}

fn openssl_words(harness: &Harness, words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in words.split_whitespace() {
        all.extend(harness.words(match word {
            "ca-is-another" => "-CAfile {other-root.pem}",
            "{asks}" => "-Verify 3 -verify_return_error -CAfile {root.pem}",
            "{p256}" => "-cert {server-p256.pem} -key {server-p256.key} -cert_chain {middle.pem}",
            "{rsa-pss}" => "-cert {server-rsa-pss.pem} -key {server-rsa-pss.key} -cert_chain {middle.pem}",
            "{elsewhere}" => "-cert {elsewhere.pem} -key {elsewhere.key} -cert_chain {middle.pem}",
            "{expired}" => "-cert {expired.pem} -key {expired.key} -cert_chain {middle.pem}",
            "{alone}" => "-cert {server-p256.pem} -key {server-p256.key}",
            "{a-client's}" => "-cert {client-p256.pem} -key {client-p256.key} -cert_chain {middle.pem}",
            "{authority}" => "-cert {authority.pem} -key {authority.key} -cert_chain {middle.pem}",
            "{stranger}" => "-cert {stranger.pem} -key {stranger.key}",
            other => other,
        }));
    }
    all
}

fn gnutls_words(harness: &Harness, words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in words.split_whitespace() {
        // The placeholder "{1.2}" and the word after it form one GnuTLS priority string.
        if let Some((version, rest)) = word.strip_prefix('{').and_then(|word| word.split_once('}'))
            && ["1.2", "1.3"].contains(&version)
        {
            all.extend([harness.word("--priority"), format!("NORMAL:-VERS-ALL:+VERS-TLS{version}{rest}")]);
            continue;
        }
        all.extend(harness.words(match word {
            "ca-is-another" => "--x509cafile {other-root.pem}",
            "{asks}" => "--require-client-cert --verify-client-cert --x509cafile {root.pem}",
            "{p256}" => "--x509certfile {server-p256-chain.pem} --x509keyfile {server-p256.key}",
            "{elsewhere}" => "--x509certfile {elsewhere-chain.pem} --x509keyfile {elsewhere.key}",
            "{expired}" => "--x509certfile {expired-chain.pem} --x509keyfile {expired.key}",
            "{alone}" => "--x509certfile {server-p256.pem} --x509keyfile {server-p256.key}",
            "{stranger}" => "--x509certfile {stranger.pem} --x509keyfile {stranger.key}",
            other => other,
        }));
    }
    all
}

const NOT_TLS: &str = "NETLIB_NOT_TLS";

fn plaintext_server(harness: &Harness) -> Result<(), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let server = std::thread::spawn(move || {
        if let Ok((mut connection, _)) = listener.accept() {
            let mut buffer = [0; 4096];
            let _ = connection.read(&mut buffer);
            let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            while connection.read(&mut buffer).is_ok_and(|n| n > 0) {}
        }
    });
    let mut words = harness.words("client how=read ca={root.pem}");
    words.push(format!("port={port}"));
    let netlib = harness.netlib(words)?.finish();
    // The server ends after one connection. If netlib did not connect, another connection makes the server end.
    let _ = TcpStream::connect(("127.0.0.1", port));
    let _ = server.join();
    is_not_tls(&netlib)
}

fn plaintext_client(harness: &Harness) -> Result<(), String> {
    let netlib = harness.netlib(harness.words("server how=read verify=none identity={server-p256-both.pem}"))?;
    let port: u16 = netlib.line_after("port ", false)?.parse().map_err(|_| "no port")?;
    let mut connection = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    connection.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").map_err(|error| error.to_string())?;
    let _ = connection.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer);
    if answer != DECODE_ERROR {
        return Err(format!("the client was told {answer:?}"));
    }
    is_not_tls(&netlib.finish())
}

/// A plaintext record with the alert decode_error, as sent before keys are negotiated.
const DECODE_ERROR: &[u8] = &[21, 3, 3, 0, 2, 2, 50];

fn is_not_tls(netlib: &Ended) -> Result<(), String> {
    let problems = facts_differ(netlib, &[("handshake", NOT_TLS.to_owned()), ("alert", "50".to_owned())]);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n") + "\n" + &netlib.transcript()) }
}
