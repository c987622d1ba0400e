//! Tests sessions between netlib and other TLS implementations: the clients and servers of the openssl command and of
//! GnuTLS. Client and server print facts about a session, such as version and cipher suite, which the suite compares
//! with the expected facts.
//!
//! The program `c-tests/interop/peer.c`, which uses netlib.h and the library, is the netlib side of each session.
//! `c-tests/interop/certs.sh` creates the certificates in each run. Every wait in these tests has a time limit, which
//! no passing test reaches.

pub mod ech;
pub mod early;
pub mod gnutls;
pub mod matrix;
pub mod mistaken;
pub mod openssl;
pub mod process;
pub mod refusals;
pub mod rekeying;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::env::{Env, has, parallel};
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;
use matrix::{ClientCertificate, Row, Side, Tickets, Tool};
use process::{Ended, Input, Process};
use refusals::Refusal;

/// The number of bytes that each session transfers: more than a dozen records, and more than the buffers of a socket
/// hold.
pub const BYTES: usize = 200_000;

/// Runs a session for each cipher suite with each kind of key, every session that must fail, key updates, and early
/// data.
pub fn run(env: &Env, report: &mut Report) {
    let Some(harness) = Harness::new(env, env.library(), "interop", &[], report) else { return };
    harness.run_all(&matrix::core(), report);
    harness.refuse_all(refusals::ALL, report);
    refusals::not_tls(&harness, report);
    rekeying::run(&harness, report);
    early::run(&harness, report);
    harness.counts(report);
}

/// Runs the combinations that [`run`] leaves out.
pub fn run_rest(env: &Env, report: &mut Report) {
    let Some(harness) = Harness::new(env, env.library(), "interop-all", &[], report) else { return };
    let core: BTreeSet<String> = matrix::core().iter().map(Row::name).collect();
    let rest: Vec<Row> = matrix::all().into_iter().filter(|row| !core.contains(&row.name())).collect();
    harness.run_all(&rest, report);
    harness.counts(report);
}

/// Runs some combinations with peer.c under valgrind.
pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let mut before = vec!["valgrind"];
    before.extend(VALGRIND);
    let library = env.development_library();
    let Some(harness) = Harness::new(env, library, "interop-valgrind", &before, report) else { return };
    let with_all =
        |row: &Row| row.resume && row.alpn.agreed.is_some() && row.client != ClientCertificate::NotRequested;
    let rows: Vec<Row> = matrix::core().into_iter().filter(with_all).step_by(3).collect();
    harness.run_all(&rows, report);
    harness.counts(report);
}

/// The programs, certificates and data that the sessions use.
pub struct Harness<'a> {
    library: &'a Path,
    scratch: PathBuf,
    program: PathBuf,
    before: &'a [&'a str],
    pub data: String,
    files: AtomicUsize,
    pub sessions: AtomicUsize,
    pub refusals: AtomicUsize,
}

impl<'a> Harness<'a> {
    pub fn new(
        env: &'a Env,
        library: &'a Path,
        suite: &str,
        before: &'a [&'a str],
        report: &mut Report,
    ) -> Option<Harness<'a>> {
        if !has("openssl") {
            report.skip("openssl is not installed, which makes the certificates");
            return None;
        }
        let scratch = env.scratch(suite);
        let program = scratch.join("peer");
        if let Err(text) = env.compile(&env.root.join("c-tests/interop/peer.c"), &program, library) {
            report.fail(format!("c-tests/interop/peer.c does not compile\n{text}"));
            return None;
        }
        let script = env.root.join("c-tests/interop/certs.sh");
        let mut make = env.command("env");
        make.arg("-C").arg(&scratch).args(["OPENSSL_CONF=/dev/null", "sh"]).arg(script);
        if let Err(text) = make.run(process::SECONDS).or_text() {
            report.fail(format!("c-tests/interop/certs.sh\n{text}"));
            return None;
        }
        let data: String = (0..BYTES).map(letter_at).collect();
        fs::write(scratch.join("data"), &data).expect("target is writable");
        let [files, sessions, refusals] = [const { AtomicUsize::new(0) }; 3];
        Some(Harness { library, scratch, program, before, data, files, sessions, refusals })
    }

    pub fn certificate(&self, name: &str) -> String {
        self.scratch.join(name).display().to_string()
    }

    pub fn word(&self, word: &str) -> String {
        word.to_owned()
    }

    /// Splits a command line into words, and replaces `{name}` by the path of the certificate file `name`.
    pub fn words(&self, line: &str) -> Vec<String> {
        let word = |word: &str| match word
            .split_once('{')
            .and_then(|(start, rest)| Some((start, rest.strip_suffix('}')?)))
        {
            Some((start, name)) => format!("{start}{}", self.certificate(name)),
            None => word.to_owned(),
        };
        line.split_whitespace().map(word).collect()
    }

    /// Returns the path of a file that no other row uses.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(format!("{name}-{}", self.files.fetch_add(1, Ordering::Relaxed)))
    }

    pub fn start(&self, words: &[String], input: Input) -> Result<Process, String> {
        Process::start(words, self.library, input)
    }

    /// Starts peer.c, the netlib side of a session.
    pub fn netlib(&self, words: Vec<String>) -> Result<Process, String> {
        let mut line: Vec<String> = self.before.iter().map(|&word| word.to_owned()).collect();
        line.push(self.program.display().to_string());
        line.extend(words);
        self.start(&line, Input::Nothing)
    }

    pub fn openssl_server(&self, words: &[String]) -> Result<(Process, String), String> {
        let server = self.start(words, Input::Pipe)?;
        let address = server.line_after("ACCEPT ", false)?;
        Ok((server, after_colon(&address)))
    }

    pub fn gnutls_server(&self, words: &[String]) -> Result<(Process, String), String> {
        let server = self.start(words, Input::Pipe)?;
        server.line_after("Echo Server listening on IPv4", true)?;
        let port = gnutls::listening_port(server.id()).ok_or("gnutls-serv does not listen")?;
        Ok((server, port))
    }

    pub fn refuse_all(&self, rows: &[Refusal], report: &mut Report) {
        let rows: Vec<&Refusal> =
            rows.iter().filter(|row| row.tool == Tool::OpenSsl || gnutls_is_installed()).collect();
        for (row, result) in rows.iter().zip(parallel(&rows, |row| row.run_case(self))) {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            report.check(result.is_ok(), format!("{}: {}", row.title(), result.err().unwrap_or_default()));
        }
    }

    pub fn run_all(&self, rows: &[Row], report: &mut Report) {
        let rows = self.installed(rows, report);
        for (row, result) in rows.iter().zip(parallel(&rows, |row| self.run_case(row))) {
            self.sessions.fetch_add(row.connections(), Ordering::Relaxed);
            report.check(result.is_ok(), format!("{}: {}", row.name(), result.err().unwrap_or_default()));
        }
    }

    fn installed(&self, rows: &[Row], report: &mut Report) -> Vec<Row> {
        if !gnutls_is_installed() {
            report.skip("gnutls-cli or gnutls-serv is not installed");
        }
        rows.iter().filter(|row| row.tool == Tool::OpenSsl || gnutls_is_installed()).copied().collect()
    }

    fn counts(&self, report: &mut Report) {
        let version = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let said = self.start(&words, Input::Nothing).map(|process| process.finish().out).unwrap_or_default();
            said.lines().next().unwrap_or("-").split(" (").next().unwrap_or("-").to_owned()
        };
        let mut with = version(&["openssl", "version"]);
        if gnutls_is_installed() {
            with += &format!(", {}", version(&["gnutls-cli", "--version"]));
        }
        let (sessions, refusals) = (self.sessions.load(Ordering::Relaxed), self.refusals.load(Ordering::Relaxed));
        let and = if refusals > 0 { format!(" and {refusals} refusals") } else { String::new() };
        report.note(format!("{sessions} sessions{and} with {with}"));
    }

    /// Runs the sessions of one row: starts both peers, and compares their output with the expected output.
    fn run_case(&self, row: &Row) -> Result<(), String> {
        let mut outcome = Outcome { problems: Vec::new(), transcripts: Vec::new() };
        match row.netlib {
            Side::Client => self.run_client(row, &mut outcome)?,
            Side::Server => self.run_server(row, &mut outcome)?,
        }
        match outcome.problems.is_empty() {
            true => Ok(()),
            false => Err(format!("{}\n{}", outcome.problems.join("\n"), outcome.transcripts.join("\n"))),
        }
    }

    fn run_client(&self, row: &Row, outcome: &mut Outcome) -> Result<(), String> {
        let (page, messages) = (self.file("page"), self.file("messages"));
        let (server, port) = match row.tool {
            Tool::OpenSsl => self.openssl_server(&openssl::server(self, row, &messages))?,
            Tool::GnuTls => self.gnutls_server(&gnutls::server(self, row))?,
        };
        let mut words = self.words("client ca={root.pem}");
        words.push(format!("port={port}"));
        words.push(format!("connections={}", row.connections()));
        match (row.page(), row.tool) {
            (true, _) => words.extend([self.word("how=get"), format!("page={}", page.display())]),
            (false, Tool::OpenSsl) => words.extend([self.word("how=reversed"), format!("bytes={BYTES}")]),
            (false, Tool::GnuTls) => words.extend([self.word("how=echo"), format!("bytes={BYTES}")]),
        }
        words.extend(row.alpn.client.iter().map(|protocol| format!("alpn={protocol}")));
        words.extend(choices(row));
        if let ClientCertificate::Sent(key) = row.client {
            words.extend(self.words(&format!("identity={{client-{}.p12}}", key.name())));
        }
        outcome.netlib(row, self.netlib(words)?.finish());
        if row.tool == Tool::GnuTls {
            server.terminate();
        }
        let server = server.finish();
        match row.tool {
            Tool::OpenSsl => {
                let pages = fs::read_to_string(&page).unwrap_or_default();
                outcome.openssl_server(row, &server, &pages);
                outcome.hellos(row, &messages);
                if !pages.is_empty() {
                    outcome.transcripts.push(pages);
                }
            }
            Tool::GnuTls => {
                let sessions: Vec<&str> = server.out.split("* Accepted connection").skip(1).collect();
                outcome.gnutls(row, &sessions);
            }
        }
        outcome.transcripts.push(server.transcript());
        Ok(())
    }

    fn run_server(&self, row: &Row, outcome: &mut Outcome) -> Result<(), String> {
        let mut words =
            self.words(&format!("server ca={{root.pem}} identity={{server-{}-both.pem}}", row.key.name()));
        words.push(self.word(match row.client {
            ClientCertificate::NotRequested => "verify=none",
            ClientCertificate::NotSent => "verify=optional",
            ClientCertificate::Sent(_) => "verify=required",
        }));
        words.extend(row.alpn.server.iter().map(|protocol| format!("alpn={protocol}")));
        words.extend(choices(row));
        words.extend([format!("connections={}", row.connections()), format!("bytes={BYTES}")]);
        if row.tool == Tool::GnuTls {
            words.push(self.word("how=peer-first"));
        }
        let netlib = self.netlib(words)?;
        let port = netlib.line_after("port ", false)?;
        let messages = self.file("messages");
        let clients = match row.tool {
            Tool::OpenSsl => {
                let session = self.file("session").display().to_string();
                let mut clients = Vec::new();
                for turn in 0..row.connections() {
                    let mut words = openssl::client(self, row, &port, &messages);
                    // If resumption is disabled, s_client stores no session, so the file does not exist.
                    if row.resume && (turn == 0 || Path::new(&session).exists()) {
                        words.extend([self.word(["-sess_out", "-sess_in"][turn]), session.clone()]);
                    }
                    clients.push(self.start(&words, Input::File(&self.scratch.join("data")))?.finish());
                }
                clients
            }
            Tool::GnuTls => {
                let mut client = self.start(&gnutls::client(self, row, &port), Input::Pipe)?;
                client.write_input(self.data.as_bytes());
                client.wait_for(self.data.as_bytes());
                vec![client.finish()]
            }
        };
        if clients.iter().any(|client| client.code != Some(0)) {
            // After the client has failed, peer.c as the server may wait for a session that never starts.
            netlib.terminate();
        }
        outcome.netlib(row, netlib.finish());
        for (turn, client) in clients.iter().enumerate() {
            outcome.check(client.code == Some(0), "the client did not exit with 0");
            outcome.check(client.out.contains(&self.data), "the client did not receive the data that it sent");
            if row.tool == Tool::OpenSsl {
                openssl::session(row, row.resumed(turn)).iter().for_each(|line| outcome.has_line(client, line));
                outcome.hellos(row, &messages);
            }
        }
        if row.tool == Tool::GnuTls {
            let sessions: Vec<&str> = clients[0].out.split("- Connecting again- trying to resume").collect();
            outcome.gnutls(row, &sessions);
        }
        outcome.transcripts.extend(clients.iter().map(Ended::transcript));
        Ok(())
    }
}

/// The differences between the expected and the actual output of both peers, and the transcripts of their output.
struct Outcome {
    problems: Vec<String>,
    transcripts: Vec<String>,
}

impl Outcome {
    fn check(&mut self, ok: bool, problem: impl Into<String>) {
        if !ok {
            self.problems.push(problem.into());
        }
    }

    fn has_line(&mut self, ended: &Ended, line: &str) {
        self.check(ended.has_line(line), format!("the other peer does not print \"{line}\""));
    }

    /// Checks that the client sends two ClientHello messages if the row expects a HelloRetryRequest, and otherwise one.
    fn hellos(&mut self, row: &Row, messages: &Path) {
        if row.group.is_some() {
            let messages = fs::read_to_string(messages).unwrap_or_default();
            let hellos = ["<<<", ">>>"].map(|direction| openssl::count(&messages, direction, "ClientHello"));
            let (hellos, expected) = (hellos[0] + hellos[1], if row.retried { 2 } else { 1 });
            self.check(hellos == expected, format!("{hellos} hellos of the client, not {expected}"));
        }
    }

    fn netlib(&mut self, row: &Row, netlib: Ended) {
        let facts: Vec<&str> = netlib.out.lines().filter(|line| line.starts_with("handshake=")).collect();
        for turn in 0..row.connections() {
            let expected = expected_facts(row, turn);
            let found = facts.get(turn).copied().unwrap_or("nothing");
            self.check(found == expected, format!("netlib says\n  {found}\nnot\n  {expected}"));
        }
        self.check(facts.len() <= row.connections(), "more sessions than expected");
        self.check(netlib.code == Some(0), "netlib's end failed");
        self.transcripts.push(netlib.transcript());
    }

    fn openssl_server(&mut self, row: &Row, server: &Ended, pages: &str) {
        self.check(server.code == Some(0), "s_server did not exit with 0");
        if !row.page() {
            return openssl::summary(row).iter().for_each(|line| self.has_line(server, line));
        }
        let pages: Vec<&str> = pages.split_inclusive("</HTML>").filter(|page| page.contains("<HTML>")).collect();
        self.check(pages.len() == row.connections(), format!("{} pages", pages.len()));
        for (turn, page) in pages.iter().enumerate() {
            for line in openssl::page(row, row.resumed(turn)) {
                let there = page.lines().any(|said| said.trim() == line);
                self.check(there, format!("page {} does not print \"{line}\"", turn + 1));
            }
        }
        let agreed: Vec<&str> =
            server.out.lines().filter_map(|line| line.strip_prefix("ALPN protocols selected: ")).collect();
        let expected: Vec<&str> = row.alpn.agreed.iter().cycle().take(row.connections()).copied().collect();
        let expected = if row.alpn.agreed.is_some() { expected } else { Vec::new() };
        self.check(agreed == expected, format!("ALPN of s_server: {agreed:?}, not {expected:?}"));
    }

    fn gnutls(&mut self, row: &Row, sessions: &[&str]) {
        self.check(sessions.len() == row.connections(), format!("{} sessions of GnuTLS", sessions.len()));
        for (turn, said) in sessions.iter().enumerate() {
            for line in gnutls::lines(row, row.resumed(turn)) {
                let there = said.lines().any(|said| said.trim() == line);
                self.check(there, format!("session {} of GnuTLS does not print \"{line}\"", turn + 1));
            }
            for line in gnutls::never(row, row.resumed(turn)) {
                let there = said.lines().any(|said| said.trim().starts_with(line));
                self.check(!there, format!("session {} of GnuTLS says \"{line}\"", turn + 1));
            }
            if let Err(problem) = gnutls::described(row, row.resumed(turn), said) {
                self.problems.push(problem);
            }
        }
    }
}

/// Returns the arguments of peer.c for versions, cipher suites and resumption.
fn choices(row: &Row) -> Vec<String> {
    let mut words = Vec::new();
    if row.restricted_by_netlib {
        let version = row.suite.version.number();
        words.extend([format!("min={version}"), format!("max={version}"), format!("ciphers={}", row.suite.openssl)]);
    }
    match row.tickets {
        Tickets::Default => {}
        Tickets::Tls12 => words.push("tickets=1".to_owned()),
        Tickets::Refused => words.push("resumption=0".to_owned()),
    }
    words
}

/// Returns the line that peer.c must print for a session.
pub fn expected_facts(row: &Row, turn: usize) -> String {
    let shown = match (row.netlib, row.client) {
        (Side::Client, _) | (_, ClientCertificate::Sent(_)) => 2,
        _ => 0,
    };
    // gnutls-cli sends no data in the session that it will resume. The bytes of s_server's page are not counted,
    // because the test checks the start and the end of the page.
    let silent = row.tool == Tool::GnuTls && row.netlib == Side::Server && row.resume && turn == 0;
    let bytes = if silent || row.page() { 0 } else { BYTES };
    let (data, end) = match silent {
        true => ("NETLIB_END_OF_STREAM", "NETLIB_OK"),
        false => ("NETLIB_OK", "NETLIB_END_OF_STREAM"),
    };
    format!(
        "handshake=NETLIB_OK version={} suite={} group={} resumed={} name=localhost alpn={} certificates={shown} bytes={bytes} intact=yes data={data} \
         end={end} shutdown=NETLIB_OK alert=-1 problem=0",
        row.suite.version.number(),
        row.suite.name,
        row.agreed_group(turn),
        if row.resumed(turn) { "yes" } else { "no" },
        row.alpn.agreed.unwrap_or("-"),
    )
}

pub fn gnutls_is_installed() -> bool {
    has("gnutls-cli") && has("gnutls-serv")
}

fn after_colon(address: &str) -> String {
    address.rsplit(':').next().unwrap_or_default().to_owned()
}

/// The data of a session. c-tests/interop/peer.c generates identical data.
fn letter_at(i: usize) -> char {
    const LINE: usize = 1000;
    if i % LINE == LINE - 1 {
        return '\n';
    }
    let mixed = (i as u32).wrapping_mul(2_654_435_761) >> 29;
    char::from(b'a' + mixed as u8)
}
