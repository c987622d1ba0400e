//! Tests Encrypted Client Hello with a server that uses Go's crypto/tls, `c-tests/interop/ech.go`. No other packaged
//! TLS library supports ECH for servers today. The tests in `src/tls/config/ech/tests.rs` run on every machine.

use std::path::{Path, PathBuf};

use super::process::{Ended, Input};
use super::{BYTES, Harness};
use crate::env::{Env, find, parallel};
use crate::report::Report;

const OLDEST_GO: (u32, u32) = (1, 24);

const ACCEPTED: &str = "handshake=NETLIB_OK version=1.3 * name=hidden.wild.test * bytes=200000 intact=yes data=NETLIB_OK end=NETLIB_END_OF_STREAM ech=3 shutdown=NETLIB_OK alert=-1 problem=0";
const REJECTED: &str = "handshake=NETLIB_TLS_ECH_REJECTED version=- * name=- alpn=- certificates=0 bytes=0 * ech=4 shutdown=NETLIB_OK alert=121 problem=0";
const GREASE_SENT: &str = "handshake=NETLIB_OK version=1.3 * name=hidden.wild.test * bytes=200000 intact=yes data=NETLIB_OK end=NETLIB_END_OF_STREAM ech=1 shutdown=NETLIB_OK alert=-1 problem=0";
const REFUSED: &str = "handshake=NETLIB_TLS_ALERT version=- * ech=2 shutdown=NETLIB_OK alert=70 problem=0";
/// netlib's output if the certificate does not match the public name, so that the server's retry configurations cannot
/// be trusted.
const UNTRUSTED_RETRY: &str =
    "handshake=NETLIB_HOSTNAME_MISMATCH version=- * ech=4 shutdown=NETLIB_OK alert=42 problem=4";

const DECRYPTED: &str = "session accepted=true name=hidden.wild.test resumed=false alpn=h2 bytes=200000 error=<nil>";
const NOT_DECRYPTED: &str = "session accepted=false name=localhost resumed=false alpn=h2 bytes=0 error=remote error: tls: encrypted client hello required";
const UNENCRYPTED: &str = "session accepted=false name=hidden.wild.test resumed=* alpn=h2 bytes=200000 error=<nil>";

/// A row of the test. The server is ech.go in the mode `mode`, with the certificate `certificate`. The client is netlib,
/// with the ECH setting `ech`. `netlib` and `go` contain the expected output of the client and the server, one line for
/// each connection; "*" in a line matches any text.
pub struct Row {
    mode: &'static str,
    ech: &'static str,
    certificate: &'static str,
    netlib: &'static [&'static str],
    go: &'static [&'static str],
}

const fn row(
    mode: &'static str,
    ech: &'static str,
    netlib: &'static [&'static str],
    go: &'static [&'static str],
) -> Row {
    Row { mode, ech, certificate: "server", netlib, go }
}

/// The rows of the test. If the server rejects ECH and sends retry configurations, the client uses them for the next
/// connection.
const ROWS: &[Row] = &[
    row("good", "LIST", &[ACCEPTED, ACCEPTED], &[DECRYPTED, DECRYPTED]),
    row("good-retry", "LIST", &[ACCEPTED, ACCEPTED], &[DECRYPTED, DECRYPTED]),
    row("other", "LIST", &[REJECTED, ACCEPTED, ACCEPTED], &[NOT_DECRYPTED, DECRYPTED, DECRYPTED]),
    row("other-retry", "LIST", &[REJECTED, ACCEPTED], &[NOT_DECRYPTED, DECRYPTED]),
    row("off", "LIST", &[REJECTED, REJECTED], &[NOT_DECRYPTED, NOT_DECRYPTED]),
    row("off-retry", "LIST", &[REJECTED], &[NOT_DECRYPTED]),
    row("off-1.2", "LIST", &[REFUSED], &["refused: tls: client offered only unsupported versions: [304]"]),
    row("good", "grease", &[GREASE_SENT, GREASE_SENT], &[UNENCRYPTED, UNENCRYPTED]),
    row("good-retry", "grease", &[GREASE_SENT], &[UNENCRYPTED]),
    row("off", "grease", &[GREASE_SENT], &[UNENCRYPTED]),
    row(
        "off-1.2",
        "grease",
        &["handshake=NETLIB_TLS_ALERT version=- * ech=1 shutdown=NETLIB_OK alert=70 problem=0"],
        &["refused: *"],
    ),
    Row {
        mode: "other",
        ech: "LIST",
        certificate: "wrong-name",
        netlib: &[UNTRUSTED_RETRY],
        go: &["refused: remote error: tls: bad certificate"],
    },
];

pub fn run(env: &Env, report: &mut Report) {
    let Some(go) = compiler(env) else { return report.skip("Go is not installed") };
    let version = version(env, &go);
    if version < OLDEST_GO {
        let ((major, minor), (oldest_major, oldest_minor)) = (version, OLDEST_GO);
        return report.skip(format!(
            "Go {major}.{minor} is installed; the suite needs Go {oldest_major}.{oldest_minor} or newer"
        ));
    }
    let Some(harness) = Harness::new(env, env.library(), "ech", &[], report) else { return };
    let server = harness.scratch.join("server");
    if let Err(text) = build(env, &go, &harness.scratch, &server) {
        return report.fail(format!("c-tests/interop/ech.go does not compile\n{text}"));
    }
    for (row, result) in ROWS.iter().zip(parallel(ROWS, |row| run_case(&harness, env, &server, row))) {
        let title = format!("a server that is {} ({}), a client with {}", row.mode, row.certificate, row.ech);
        report.check(result.is_ok(), format!("{title}: {}", result.err().unwrap_or_default()));
    }
    let sessions: usize = ROWS.iter().map(|row| row.netlib.len()).sum();
    report.note(format!("{sessions} sessions with Go {}.{}", version.0, version.1));
}

/// Finds the Go compiler that scripts/prerequisites installs if the system has none that is new enough.
fn compiler(env: &Env) -> Option<PathBuf> {
    let installed = env.root.join("target/go/go/bin/go");
    if installed.is_file() { Some(installed) } else { find("go") }
}

fn version(env: &Env, go: &Path) -> (u32, u32) {
    let said = env.command(go).args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").run(60).out;
    let mut numbers = said.trim().trim_start_matches("go").split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Compiles the server with Go's standard library only, without network access.
fn build(env: &Env, go: &Path, scratch: &Path, out: &Path) -> Result<(), String> {
    let mut go = env.command(go);
    go.args(["build", "-o"]).arg(out).arg(env.root.join("c-tests/interop/ech.go"));
    for (name, value) in
        [("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOTELEMETRY", "off"), ("GO111MODULE", "off")]
    {
        go.env(name, value);
    }
    go.env("GOPATH", scratch.join("go")).env("GOCACHE", scratch.join("cache")).run(600).or_text()
}

fn run_case(harness: &Harness, env: &Env, server: &Path, row: &Row) -> Result<(), String> {
    let certs = env.root.join("tests/certs").display().to_string();
    let count = row.netlib.len();
    let mut words = vec![server.display().to_string()];
    words.extend(["pem", "key"].map(|end| format!("{certs}/{}.{end}", row.certificate)));
    words.extend([row.mode.to_owned(), count.to_string()]);
    let server = harness.start(&words, Input::Nothing)?;
    let list = server.line_after("list ", false)?;
    let port = server.line_after("port ", false)?;
    let ech = if row.ech == "LIST" { &list } else { row.ech };
    let words = harness.words(&format!(
        "client port={port} ca={certs}/ca.pem name=hidden.wild.test alpn=h2 bytes={BYTES} connections={count} ech={ech}"
    ));
    let netlib = harness.netlib(words)?.finish();
    let server = server.finish();
    let told = |ended: &Ended, wanted: &[&str], skipped: usize| {
        let lines: Vec<&str> = ended.out.lines().skip(skipped).collect();
        lines.len() == wanted.len() && wanted.iter().zip(&lines).all(|(wanted, line)| fits(wanted, line))
    };
    match told(&netlib, row.netlib, 0) && told(&server, row.go, 2) {
        true => Ok(()),
        false => Err(format!("{}\n{}", netlib.transcript(), server.transcript())),
    }
}

fn fits(wanted: &str, line: &str) -> bool {
    let mut rest = line;
    let mut parts = wanted.split('*');
    let Some(start) = parts.next() else { return false };
    let Some(after) = rest.strip_prefix(start) else { return false };
    rest = after;
    for part in parts {
        match rest.find(part) {
            // The text after the last "*" must be at the end of the line.
            Some(_) if wanted.ends_with(part) && rest.ends_with(part) => rest = "",
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}
