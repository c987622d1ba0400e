//! Tests key updates in a TLS 1.3 session: openssl updates its own keys and requests that netlib update its keys, and
//! both peers can read later data.

use std::fs;
use std::sync::atomic::Ordering;

use super::process::{Ended, Input};
use super::{BYTES, Harness, openssl};
use crate::env::has;
use crate::report::Report;

pub fn run(harness: &Harness, report: &mut Report) {
    take(harness, "server", of_a_server(harness), report);
    match has("stdbuf") {
        true => take(harness, "client", of_a_client(harness), report),
        false => report.skip("stdbuf is not installed, for new keys with s_server"),
    }
}

fn take(harness: &Harness, what: &str, result: Result<(), String>, report: &mut Report) {
    harness.sessions.fetch_add(1, Ordering::Relaxed);
    report.check(result.is_ok(), format!("new keys, netlib as {what}: {}", result.err().unwrap_or_default()));
}

/// s_server and s_client treat a line with a single letter as a command only if one read returns nothing but that line.
const CHANGE_BOTH: &[u8] = b"K\n";

fn of_a_client(harness: &Harness) -> Result<(), String> {
    let messages = harness.file("messages").display().to_string();
    // s_server's output must be line-buffered; otherwise its message about the key update appears only when s_server
    // ends.
    let mut words = harness.words("stdbuf -oL openssl s_server -accept 127.0.0.1:0 -naccept 1 -tls1_3 -msg -msgfile");
    words.push(messages.clone());
    words.extend(harness.words("-cert {server-p256.pem} -key {server-p256.key} -cert_chain {middle.pem}"));
    let (mut server, port) = harness.openssl_server(&words)?;
    let mut words = harness.words("client how=receive ca={root.pem} ciphers=TLS_AES_256_GCM_SHA384");
    words.extend([format!("port={port}"), format!("bytes={BYTES}")]);
    let netlib = harness.netlib(words)?;
    server.line_after("CIPHER is ", false)?;
    server.write_input(CHANGE_BOTH);
    server.line_after("SSL_do_handshake -> 1", false)?;
    server.write_input(harness.data.as_bytes());
    let (netlib, server) = (netlib.finish(), server.finish());
    judge(&netlib, &server, &messages, 2)
}

fn of_a_server(harness: &Harness) -> Result<(), String> {
    let messages = harness.file("messages").display().to_string();
    let mut words = harness
        .words("server how=peer-first verify=none identity={server-p256-both.pem} ciphers=TLS_AES_256_GCM_SHA384");
    words.push(format!("bytes={BYTES}"));
    let netlib = harness.netlib(words)?;
    let port = netlib.line_after("port ", false)?;
    let mut words = harness.words("openssl s_client -servername localhost -CAfile {root.pem} -tls1_3 -msg -msgfile");
    words.extend([messages.clone(), harness.word("-connect"), format!("127.0.0.1:{port}")]);
    let mut client = harness.start(&words, Input::Pipe)?;
    client.line_after("Verify return code: 0 (ok)", false)?;
    client.write_input(CHANGE_BOTH);
    client.line_after("KEYUPDATE", true)?;
    client.write_input(harness.data.as_bytes());
    client.wait_for(harness.data.as_bytes());
    let (client, netlib) = (client.finish(), netlib.finish());
    let judged = judge(&netlib, &client, &messages, 0);
    match client.out.contains(&harness.data) {
        true => judged,
        false => Err(format!("the client did not receive the data that it sent\n{}", client.transcript())),
    }
}

fn judge(netlib: &Ended, other: &Ended, messages: &str, certificates: usize) -> Result<(), String> {
    let expected = format!(
        "handshake=NETLIB_OK version=1.3 suite=TLS_AES_256_GCM_SHA384 group=x25519 \
         resumed=no name=localhost alpn=- certificates={certificates} bytes={BYTES} \
         intact=yes data=NETLIB_OK end=NETLIB_END_OF_STREAM shutdown=NETLIB_OK alert=-1 problem=0"
    );
    let messages = fs::read_to_string(messages).unwrap_or_default();
    let updates = [">>>", "<<<"].map(|direction| openssl::count(&messages, direction, "KeyUpdate"));
    let mut problems = Vec::new();
    if !netlib.has_line(&expected) {
        problems.push(format!("netlib does not print \"{expected}\""));
    }
    if updates != [1, 1] {
        problems.push(format!("{updates:?} changes of keys sent and received, not one each"));
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{}\n{}", problems.join("\n"), netlib.transcript(), other.transcript())),
    }
}
