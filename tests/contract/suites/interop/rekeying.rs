//! Key updates in a TLS 1.3 session: openssl updates its own keys and requests an update of netlib's, and later data is
//! readable on both sides.

use std::fs;
use std::sync::atomic::Ordering;

use super::process::{Ended, Input};
use super::{BYTES, Stage, openssl};
use crate::env::has;
use crate::report::Report;

pub fn run(stage: &Stage, report: &mut Report) {
    take(stage, "server", of_a_server(stage), report);
    match has("stdbuf") {
        true => take(stage, "client", of_a_client(stage), report),
        false => report.skip("stdbuf is not installed, for new keys with s_server"),
    }
}

fn take(stage: &Stage, what: &str, played: Result<(), String>, report: &mut Report) {
    stage.sessions.fetch_add(1, Ordering::Relaxed);
    report.check(played.is_ok(), format!("new keys, netlib as {what}: {}", played.err().unwrap_or_default()));
}

/// s_server and s_client read a line with a single letter as a command, if it arrives alone.
const CHANGE_BOTH: &[u8] = b"K\n";

fn of_a_client(stage: &Stage) -> Result<(), String> {
    let messages = stage.file("messages").display().to_string();
    // s_server buffers the message about the update until it ends, unless its output is line-buffered.
    let mut words = stage.words("stdbuf -oL openssl s_server -accept 127.0.0.1:0 -naccept 1 -tls1_3 -msg -msgfile");
    words.push(messages.clone());
    words.extend(stage.words("-cert {server-p256.pem} -key {server-p256.key} -cert_chain {middle.pem}"));
    let (mut server, port) = stage.openssl_server(&words)?;
    let mut words = stage.words("client how=receive ca={root.pem} ciphers=TLS_AES_256_GCM_SHA384");
    words.extend([format!("port={port}"), format!("bytes={BYTES}")]);
    let netlib = stage.netlib(words)?;
    server.line_after("CIPHER is ", false)?;
    server.say(CHANGE_BOTH);
    server.line_after("SSL_do_handshake -> 1", false)?;
    server.say(stage.data.as_bytes());
    let (netlib, server) = (netlib.finish(), server.finish());
    judge(&netlib, &server, &messages, 2)
}

fn of_a_server(stage: &Stage) -> Result<(), String> {
    let messages = stage.file("messages").display().to_string();
    let mut words = stage
        .words("server how=peer-first verify=none identity={server-p256-both.pem} ciphers=TLS_AES_256_GCM_SHA384");
    words.push(format!("bytes={BYTES}"));
    let netlib = stage.netlib(words)?;
    let port = netlib.line_after("port ", false)?;
    let mut words = stage.words("openssl s_client -servername localhost -CAfile {root.pem} -tls1_3 -msg -msgfile");
    words.extend([messages.clone(), stage.word("-connect"), format!("127.0.0.1:{port}")]);
    let mut client = stage.start(&words, Input::Kept)?;
    client.line_after("Verify return code: 0 (ok)", false)?;
    client.say(CHANGE_BOTH);
    client.line_after("KEYUPDATE", true)?;
    client.say(stage.data.as_bytes());
    client.wait_for(stage.data.as_bytes());
    let (client, netlib) = (client.finish(), netlib.finish());
    let judged = judge(&netlib, &client, &messages, 0);
    match client.out.contains(&stage.data) {
        true => judged,
        false => Err(format!("what the client got is not what it sent\n{}", client.story())),
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
    if !netlib.says(&expected) {
        problems.push(format!("netlib does not say \"{expected}\""));
    }
    if updates != [1, 1] {
        problems.push(format!("{updates:?} changes of keys sent and received, not one each"));
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{}\n{}", problems.join("\n"), netlib.story(), other.story())),
    }
}
