//! Encrypted Client Hello with a server of Go's crypto/tls, `c-tests/interop/ech.go`: no other packaged implementation
//! supports ECH on the server side today. Go is not a prerequisite of the project; the tests in
//! `src/tls/config/ech/tests.rs` run on every machine.

use std::path::Path;

use super::process::{Ended, Input};
use super::{BYTES, Stage};
use crate::env::{Env, has, parallel};
use crate::report::Report;

const SINCE: (u32, u32) = (1, 24);

const ACCEPTED: &str = "handshake=NETLIB_OK version=1.3 * name=hidden.wild.test * bytes=200000 intact=yes data=NETLIB_OK end=NETLIB_END_OF_STREAM ech=3 shutdown=NETLIB_OK alert=-1 problem=0";
const REJECTED: &str = "handshake=NETLIB_TLS_ECH_REJECTED version=- * name=- alpn=- certificates=0 bytes=0 * ech=4 shutdown=NETLIB_OK alert=121 problem=0";
const GREASED: &str = "handshake=NETLIB_OK version=1.3 * name=hidden.wild.test * bytes=200000 intact=yes data=NETLIB_OK end=NETLIB_END_OF_STREAM ech=1 shutdown=NETLIB_OK alert=-1 problem=0";
const REFUSED: &str = "handshake=NETLIB_TLS_ALERT version=- * ech=2 shutdown=NETLIB_OK alert=70 problem=0";
/// The certificate is not for the public name, so nobody has proved that the new list is authentic.
const UNPROVED: &str = "handshake=NETLIB_HOSTNAME_MISMATCH version=- * ech=4 shutdown=NETLIB_OK alert=42 problem=4";

const READ: &str = "session accepted=true name=hidden.wild.test resumed=false alpn=h2 bytes=200000 error=<nil>";
const UNREAD: &str = "session accepted=false name=localhost resumed=false alpn=h2 bytes=0 error=remote error: tls: encrypted client hello required";
const IN_THE_OPEN: &str = "session accepted=false name=hidden.wild.test resumed=* alpn=h2 bytes=200000 error=<nil>";

/// The server's configuration, the client's, the certificate, and the expected output of both for each connection. "*"
/// matches anything.
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

/// After a rejection with another list, the client uses that list.
const ROWS: &[Row] = &[
    row("good", "LIST", &[ACCEPTED, ACCEPTED], &[READ, READ]),
    row("good-retry", "LIST", &[ACCEPTED, ACCEPTED], &[READ, READ]),
    row("other", "LIST", &[REJECTED, ACCEPTED, ACCEPTED], &[UNREAD, READ, READ]),
    row("other-retry", "LIST", &[REJECTED, ACCEPTED], &[UNREAD, READ]),
    row("off", "LIST", &[REJECTED, REJECTED], &[UNREAD, UNREAD]),
    row("off-retry", "LIST", &[REJECTED], &[UNREAD]),
    row("off-1.2", "LIST", &[REFUSED], &["refused: tls: client offered only unsupported versions: [304]"]),
    row("good", "grease", &[GREASED, GREASED], &[IN_THE_OPEN, IN_THE_OPEN]),
    row("good-retry", "grease", &[GREASED], &[IN_THE_OPEN]),
    row("off", "grease", &[GREASED], &[IN_THE_OPEN]),
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
        netlib: &[UNPROVED],
        go: &["refused: remote error: tls: bad certificate"],
    },
];

pub fn run(env: &Env, report: &mut Report) {
    let version = version(env);
    if version < SINCE {
        return report.skip("Go 1.24 or newer is not installed");
    }
    let Some(stage) = Stage::new(env, env.library(), "ech", &[], report) else { return };
    let server = stage.scratch.join("server");
    if let Err(text) = build(env, &stage.scratch, &server) {
        return report.fail(format!("c-tests/interop/ech.go does not compile\n{text}"));
    }
    for (row, played) in ROWS.iter().zip(parallel(ROWS, |row| play(&stage, env, &server, row))) {
        let title = format!("a server that is {} ({}), a client with {}", row.mode, row.certificate, row.ech);
        report.check(played.is_ok(), format!("{title}: {}", played.err().unwrap_or_default()));
    }
    let sessions: usize = ROWS.iter().map(|row| row.netlib.len()).sum();
    report.note(format!("{sessions} sessions with Go {}.{}", version.0, version.1));
}

/// Returns (0, 0) if Go is not installed.
fn version(env: &Env) -> (u32, u32) {
    if !has("go") {
        return (0, 0);
    }
    let said = env.command("go").args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").run(60).out;
    let mut numbers = said.trim().trim_start_matches("go").split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Compiles the server with Go's standard library only, without network access.
fn build(env: &Env, scratch: &Path, out: &Path) -> Result<(), String> {
    let mut go = env.command("go");
    go.args(["build", "-o"]).arg(out).arg(env.root.join("c-tests/interop/ech.go"));
    for (name, value) in
        [("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOTELEMETRY", "off"), ("GO111MODULE", "off")]
    {
        go.env(name, value);
    }
    go.env("GOPATH", scratch.join("go")).env("GOCACHE", scratch.join("cache")).run(600).or_text()
}

fn play(stage: &Stage, env: &Env, server: &Path, row: &Row) -> Result<(), String> {
    let certs = env.root.join("tests/certs").display().to_string();
    let count = row.netlib.len();
    let mut words = vec![server.display().to_string()];
    words.extend(["pem", "key"].map(|end| format!("{certs}/{}.{end}", row.certificate)));
    words.extend([row.mode.to_owned(), count.to_string()]);
    let server = stage.start(&words, Input::Nothing)?;
    let list = server.line_after("list ", false)?;
    let port = server.line_after("port ", false)?;
    let ech = if row.ech == "LIST" { &list } else { row.ech };
    let words = stage.words(&format!(
        "client port={port} ca={certs}/ca.pem name=hidden.wild.test alpn=h2 bytes={BYTES} connections={count} ech={ech}"
    ));
    let netlib = stage.netlib(words)?.finish();
    let server = server.finish();
    let told = |ended: &Ended, wanted: &[&str], skipped: usize| {
        let lines: Vec<&str> = ended.out.lines().skip(skipped).collect();
        lines.len() == wanted.len() && wanted.iter().zip(&lines).all(|(wanted, line)| fits(wanted, line))
    };
    match told(&netlib, row.netlib, 0) && told(&server, row.go, 2) {
        true => Ok(()),
        false => Err(format!("{}\n{}", netlib.story(), server.story())),
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
            // The last part must be at the end.
            Some(_) if wanted.ends_with(part) && rest.ends_with(part) => rest = "",
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}
