//! Sessions that must fail: netlib's status, alert and certificate problem, and the peer's message, with the number of
//! netlib's alert if the peer prints one.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::Ordering;

use super::Stage;
use super::matrix::{Side, Tool};
use super::process::{Ended, Input};
use crate::report::Report;

/// Status, alert (-1 for none), certificate problem.
type Outcome = (&'static str, i32, i32);

#[derive(Clone, Copy)]
pub struct Refusal {
    pub(super) name: &'static str,
    pub(super) tool: Tool,
    pub(super) netlib: Side,
    /// Settings of netlib's end, in addition to its trusted authority.
    pub(super) settings: &'static str,
    /// Arguments of the peer.
    pub(super) other: &'static str,
    pub(super) outcome: Outcome,
    pub(super) says: &'static str,
    /// In TLS 1.3 the client's handshake is done before the server has received the client's certificate.
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
pub fn not_tls(stage: &Stage, report: &mut Report) {
    for (what, played) in [("server", plaintext_server(stage)), ("client", plaintext_client(stage))] {
        stage.refusals.fetch_add(1, Ordering::Relaxed);
        report.check(played.is_ok(), format!("a {what} that speaks HTTP: {}", played.err().unwrap_or_default()));
    }
}

impl Refusal {
    pub fn title(&self) -> String {
        let side = if self.netlib == Side::Client { "client" } else { "server" };
        format!("refusal, netlib as {side} of {}, {}", self.tool.name(), self.name)
    }

    pub fn play(&self, stage: &Stage) -> Result<(), String> {
        let (netlib, other) = match self.netlib {
            Side::Client => self.play_client(stage)?,
            Side::Server => self.play_server(stage)?,
        };
        let mut problems = self.told_otherwise(&netlib);
        if !other.contains(self.says) {
            problems.push(format!("the other end does not say \"{}\"", self.says));
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(format!("{}\n{}\n{}", problems.join("\n"), netlib.story(), other.story())),
        }
    }

    fn told_otherwise(&self, netlib: &Ended) -> Vec<String> {
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

    fn play_client(&self, stage: &Stage) -> Result<(Ended, Ended), String> {
        let (server, port) = match self.tool {
            Tool::OpenSsl => {
                let mut words = stage.words("openssl s_server -accept 127.0.0.1:0 -rev -naccept 1");
                words.extend(openssl_words(stage, self.other));
                stage.openssl_server(&words)?
            }
            Tool::GnuTls => {
                let mut words = stage.words("gnutls-serv --port 0 --echo --debug 5");
                words.extend(gnutls_words(stage, self.other));
                stage.gnutls_server(&words)?
            }
        };
        let mut words = stage.words("client how=read");
        words.push(format!("port={port}"));
        words.extend(netlib_words(stage, self.settings));
        let netlib = stage.netlib(words)?.finish();
        if self.tool == Tool::GnuTls {
            server.terminate();
        }
        Ok((netlib, server.finish()))
    }

    fn play_server(&self, stage: &Stage) -> Result<(Ended, Ended), String> {
        let mut words = stage.words("server how=read");
        words.extend(netlib_words(stage, self.settings));
        if !self.settings.contains("{asks}") {
            words.push(stage.word("verify=none"));
        }
        let netlib = stage.netlib(words)?;
        let port = netlib.line_after("port ", false)?;
        let words = match self.tool {
            Tool::OpenSsl => {
                let mut words = stage.words("openssl s_client -servername localhost -verify_return_error -ign_eof");
                words.extend([stage.word("-connect"), format!("127.0.0.1:{port}")]);
                words.extend(openssl_words(stage, self.other));
                if !self.other.contains("ca-is-another") {
                    words.extend(stage.words("-CAfile {root.pem}"));
                }
                words
            }
            Tool::GnuTls => {
                let mut words = stage.words("gnutls-cli --port");
                words.push(port);
                words.extend(gnutls_words(stage, self.other));
                if !self.other.contains("ca-is-another") {
                    words.extend(stage.words("--x509cafile {root.pem}"));
                }
                words.push(stage.word("localhost"));
                words
            }
        };
        // Keeps the input open: when it ends, gnutls-cli would exit before it reads the alert.
        let client = stage.start(&words, Input::Kept)?;
        client.wait_for_end();
        Ok((netlib.finish(), client.finish()))
    }
}

/// Returns the facts that netlib reports differently.
fn facts_differ(netlib: &Ended, facts: &[(&str, String)]) -> Vec<String> {
    let line = netlib.out.lines().find(|line| line.starts_with("handshake=")).unwrap_or_default();
    let told = |name: &str| {
        line.split_whitespace().filter_map(|word| word.split_once('=')).find(|word| word.0 == name).map(|word| word.1)
    };
    let wrong = facts.iter().filter(|(name, expected)| told(name) != Some(expected));
    wrong.map(|(name, expected)| format!("netlib: {name} is {}, not {expected}", told(name).unwrap_or("?"))).collect()
}

fn netlib_words(stage: &Stage, settings: &str) -> Vec<String> {
    let mut words = Vec::new();
    if !settings.contains("ca-is-another") {
        words.extend(stage.words("ca={root.pem}"));
    }
    for word in settings.split_whitespace() {
        words.extend(stage.words(match word {
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

fn openssl_words(stage: &Stage, words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in words.split_whitespace() {
        all.extend(stage.words(match word {
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

fn gnutls_words(stage: &Stage, words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in words.split_whitespace() {
        // "{1.2}" and the word after it are one priority string.
        if let Some((version, rest)) = word.strip_prefix('{').and_then(|word| word.split_once('}'))
            && ["1.2", "1.3"].contains(&version)
        {
            all.extend([stage.word("--priority"), format!("NORMAL:-VERS-ALL:+VERS-TLS{version}{rest}")]);
            continue;
        }
        all.extend(stage.words(match word {
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

fn plaintext_server(stage: &Stage) -> Result<(), String> {
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
    let mut words = stage.words("client how=read ca={root.pem}");
    words.push(format!("port={port}"));
    let netlib = stage.netlib(words)?.finish();
    // The server ends after one connection. This is that connection if the client could not connect.
    let _ = TcpStream::connect(("127.0.0.1", port));
    let _ = server.join();
    is_not_tls(&netlib)
}

fn plaintext_client(stage: &Stage) -> Result<(), String> {
    let netlib = stage.netlib(stage.words("server how=read verify=none identity={server-p256-both.pem}"))?;
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

/// The alert in plaintext, as it is sent before there are keys.
const DECODE_ERROR: &[u8] = &[21, 3, 3, 0, 2, 2, 50];

fn is_not_tls(netlib: &Ended) -> Result<(), String> {
    let problems = facts_differ(netlib, &[("handshake", NOT_TLS.to_owned()), ("alert", "50".to_owned())]);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n") + "\n" + &netlib.story()) }
}
