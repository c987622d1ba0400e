//! Sessions between netlib and other TLS implementations: the clients and servers of the openssl command and of GnuTLS.
//! The suite compares the facts that both ends print about a session with the expected ones.
//!
//! `c-tests/interop/peer.c` is netlib's end, a program that uses netlib.h and the released library. The certificates
//! are created by `c-tests/interop/certs.sh` in each run. Every wait has a time limit, and no result depends on one.

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

/// More than a dozen records, and more than the buffers of a socket hold.
pub const BYTES: usize = 200_000;

/// Runs each suite with each key, and each kind of refusal.
pub fn run(env: &Env, report: &mut Report) {
    let Some(stage) = Stage::new(env, env.library(), "interop", &[], report) else { return };
    stage.play_all(&matrix::core(), report);
    stage.refuse_all(refusals::ALL, report);
    refusals::not_tls(&stage, report);
    rekeying::run(&stage, report);
    early::run(&stage, report);
    stage.counts(report);
}

/// Runs the combinations that the core leaves out.
pub fn run_rest(env: &Env, report: &mut Report) {
    let Some(stage) = Stage::new(env, env.library(), "interop-all", &[], report) else { return };
    let core: BTreeSet<String> = matrix::core().iter().map(Row::name).collect();
    let rest: Vec<Row> = matrix::all().into_iter().filter(|row| !core.contains(&row.name())).collect();
    stage.play_all(&rest, report);
    stage.counts(report);
}

/// Runs some combinations with netlib's end under valgrind.
pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let mut before = vec!["valgrind"];
    before.extend(VALGRIND);
    let library = env.development_library();
    let Some(stage) = Stage::new(env, library, "interop-valgrind", &before, report) else { return };
    let with_all = |row: &Row| row.resume && row.alpn.agreed.is_some() && row.client != ClientCertificate::NotAsked;
    let rows: Vec<Row> = matrix::core().into_iter().filter(with_all).step_by(3).collect();
    stage.play_all(&rows, report);
    stage.counts(report);
}

/// The programs, certificates and data of a suite.
pub struct Stage<'a> {
    library: &'a Path,
    scratch: PathBuf,
    program: PathBuf,
    before: &'a [&'a str],
    pub data: String,
    files: AtomicUsize,
    pub sessions: AtomicUsize,
    pub refusals: AtomicUsize,
}

impl<'a> Stage<'a> {
    pub fn new(
        env: &'a Env,
        library: &'a Path,
        suite: &str,
        before: &'a [&'a str],
        report: &mut Report,
    ) -> Option<Stage<'a>> {
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
        Some(Stage { library, scratch, program, before, data, files, sessions, refusals })
    }

    pub fn certificate(&self, name: &str) -> String {
        self.scratch.join(name).display().to_string()
    }

    pub fn word(&self, word: &str) -> String {
        word.to_owned()
    }

    /// Splits a command line, in which {name} stands for a file of certificates.
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

    /// Starts netlib's end.
    pub fn netlib(&self, words: Vec<String>) -> Result<Process, String> {
        let mut line: Vec<String> = self.before.iter().map(|&word| word.to_owned()).collect();
        line.push(self.program.display().to_string());
        line.extend(words);
        self.start(&line, Input::Nothing)
    }

    pub fn openssl_server(&self, words: &[String]) -> Result<(Process, String), String> {
        let server = self.start(words, Input::Kept)?;
        let address = server.line_after("ACCEPT ", false)?;
        Ok((server, after_colon(&address)))
    }

    pub fn gnutls_server(&self, words: &[String]) -> Result<(Process, String), String> {
        let server = self.start(words, Input::Kept)?;
        server.line_after("Echo Server listening on IPv4", true)?;
        let port = gnutls::listening_port(server.id()).ok_or("gnutls-serv does not listen")?;
        Ok((server, port))
    }

    pub fn refuse_all(&self, rows: &[Refusal], report: &mut Report) {
        let rows: Vec<&Refusal> =
            rows.iter().filter(|row| row.tool == Tool::OpenSsl || gnutls_is_installed()).collect();
        for (row, played) in rows.iter().zip(parallel(&rows, |row| row.play(self))) {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            report.check(played.is_ok(), format!("{}: {}", row.title(), played.err().unwrap_or_default()));
        }
    }

    pub fn play_all(&self, rows: &[Row], report: &mut Report) {
        let rows = self.installed(rows, report);
        for (row, played) in rows.iter().zip(parallel(&rows, |row| self.play(row))) {
            self.sessions.fetch_add(row.connections(), Ordering::Relaxed);
            report.check(played.is_ok(), format!("{}: {}", row.name(), played.err().unwrap_or_default()));
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

    /// Plays one row: runs both ends and compares their output with the expected one.
    fn play(&self, row: &Row) -> Result<(), String> {
        let mut told = Told { problems: Vec::new(), stories: Vec::new() };
        match row.netlib {
            Side::Client => self.play_client(row, &mut told)?,
            Side::Server => self.play_server(row, &mut told)?,
        }
        match told.problems.is_empty() {
            true => Ok(()),
            false => Err(format!("{}\n{}", told.problems.join("\n"), told.stories.join("\n"))),
        }
    }

    fn play_client(&self, row: &Row, told: &mut Told) -> Result<(), String> {
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
        if let ClientCertificate::Shown(key) = row.client {
            words.extend(self.words(&format!("identity={{client-{}.p12}}", key.name())));
        }
        told.netlib(row, self.netlib(words)?.finish());
        if row.tool == Tool::GnuTls {
            server.terminate();
        }
        let server = server.finish();
        match row.tool {
            Tool::OpenSsl => {
                let pages = fs::read_to_string(&page).unwrap_or_default();
                told.openssl_server(row, &server, &pages);
                told.hellos(row, &messages);
                if !pages.is_empty() {
                    told.stories.push(pages);
                }
            }
            Tool::GnuTls => {
                let sessions: Vec<&str> = server.out.split("* Accepted connection").skip(1).collect();
                told.gnutls(row, &sessions);
            }
        }
        told.stories.push(server.story());
        Ok(())
    }

    fn play_server(&self, row: &Row, told: &mut Told) -> Result<(), String> {
        let mut words =
            self.words(&format!("server ca={{root.pem}} identity={{server-{}-both.pem}}", row.key.name()));
        words.push(self.word(match row.client {
            ClientCertificate::NotAsked => "verify=none",
            ClientCertificate::NotShown => "verify=optional",
            ClientCertificate::Shown(_) => "verify=required",
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
                    // Without resumption there is no session to store, and no file.
                    if row.resume && (turn == 0 || Path::new(&session).exists()) {
                        words.extend([self.word(["-sess_out", "-sess_in"][turn]), session.clone()]);
                    }
                    clients.push(self.start(&words, Input::File(&self.scratch.join("data")))?.finish());
                }
                clients
            }
            Tool::GnuTls => {
                let mut client = self.start(&gnutls::client(self, row, &port), Input::Kept)?;
                client.say(self.data.as_bytes());
                client.wait_for(self.data.as_bytes());
                vec![client.finish()]
            }
        };
        if clients.iter().any(|client| client.code != Some(0)) {
            // netlib's end may wait for a session that is never started.
            netlib.terminate();
        }
        told.netlib(row, netlib.finish());
        for (turn, client) in clients.iter().enumerate() {
            told.check(client.code == Some(0), "the client ended otherwise than with 0");
            told.check(client.out.contains(&self.data), "what the client got is not what it sent");
            if row.tool == Tool::OpenSsl {
                openssl::session(row, row.resumed(turn)).iter().for_each(|line| told.says(client, line));
                told.hellos(row, &messages);
            }
        }
        if row.tool == Tool::GnuTls {
            let sessions: Vec<&str> = clients[0].out.split("- Connecting again- trying to resume").collect();
            told.gnutls(row, &sessions);
        }
        told.stories.extend(clients.iter().map(Ended::story));
        Ok(())
    }
}

/// The output of both ends, and the differences found in it.
struct Told {
    problems: Vec<String>,
    stories: Vec<String>,
}

impl Told {
    fn check(&mut self, ok: bool, problem: impl Into<String>) {
        if !ok {
            self.problems.push(problem.into());
        }
    }

    fn says(&mut self, ended: &Ended, line: &str) {
        self.check(ended.says(line), format!("the other end does not say \"{line}\""));
    }

    /// Checks that there is a second hello if and only if the row expects one.
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
        self.stories.push(netlib.story());
    }

    fn openssl_server(&mut self, row: &Row, server: &Ended, pages: &str) {
        self.check(server.code == Some(0), "s_server ended otherwise than with 0");
        if !row.page() {
            return openssl::summary(row).iter().for_each(|line| self.says(server, line));
        }
        let pages: Vec<&str> = pages.split_inclusive("</HTML>").filter(|page| page.contains("<HTML>")).collect();
        self.check(pages.len() == row.connections(), format!("{} pages", pages.len()));
        for (turn, page) in pages.iter().enumerate() {
            for line in openssl::page(row, row.resumed(turn)) {
                let there = page.lines().any(|said| said.trim() == line);
                self.check(there, format!("page {} does not say \"{line}\"", turn + 1));
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
                self.check(there, format!("session {} of GnuTLS does not say \"{line}\"", turn + 1));
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

/// Returns netlib's settings for versions, suites and resumption.
fn choices(row: &Row) -> Vec<String> {
    let mut words = Vec::new();
    if row.chosen_here {
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

/// Returns the line that netlib's end must print for a session.
pub fn expected_facts(row: &Row, turn: usize) -> String {
    let shown = match (row.netlib, row.client) {
        (Side::Client, _) | (_, ClientCertificate::Shown(_)) => 2,
        _ => 0,
    };
    // gnutls-cli sends nothing in the session that it will resume. The bytes of a page are not counted; its start and
    // end are checked.
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

/// As in c-tests/interop/peer.c.
fn letter_at(i: usize) -> char {
    const LINE: usize = 1000;
    if i % LINE == LINE - 1 {
        return '\n';
    }
    let mixed = (i as u32).wrapping_mul(2_654_435_761) >> 29;
    char::from(b'a' + mixed as u8)
}
