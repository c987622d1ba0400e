//! Compiles and runs the programs that documents print: those in README.md and docs/, and those on the first pages of
//! netlib.h and netlib.hpp. The rows of [`RUNS`] state the exit code and the output of each program. Programs that need a
//! server connect to the misbehaving server. In addition, a program that needs arguments must print its usage on stderr
//! and exit with 2, and a program that writes a body must fail if the write fails. The suite `printed-leaks` runs the
//! rows under valgrind, which must find no leak and no use of freed memory. Only valgrind also finds freed memory that the
//! library reads, because the library is not instrumented.

use std::fs;
use std::path::Path;

use crate::env::{Env, Ran, has, parallel};
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;
use crate::suites::cpp;
use crate::suites::fetch::server::Server;
use crate::suites::named_tests::files_below;

/// A program that a document prints.
pub struct Printed {
    /// The path of the document.
    pub page: String,
    /// The number of the program among the programs of the page in the same language, from 1.
    pub number: usize,
    /// The language of the fenced block: "c" or "cpp".
    pub language: &'static str,
    pub text: String,
}

/// A run of a program. Placeholders such as `{https}` stand for ports of the misbehaving server.
pub struct Run {
    pub page: &'static str,
    pub language: &'static str,
    pub number: usize,
    /// Texts of the program that the run replaces, each with its replacement.
    pub edits: &'static [(&'static str, &'static str)],
    /// The arguments, separated by spaces. The program trusts the authorities of the server and of tests/certs.
    pub arguments: &'static str,
    pub code: i32,
    /// The expected standard output; if it ends with "…", the start of the output.
    pub printed: &'static str,
    /// A part of the expected standard error.
    pub error: &'static str,
}

const fn c(
    (page, number): (&'static str, usize),
    edits: &'static [(&'static str, &'static str)],
    arguments: &'static str,
    (code, printed, error): (i32, &'static str, &'static str),
) -> Run {
    Run { page, language: "c", number, edits, arguments, code, printed, error }
}

/// Connects to a port of the server instead of the port of https.
const TO_SERVER: &[(&str, &str)] = &[(", 443,", ", {https},")];
const TO_HELLO: &[(&str, &str)] = &[TO_SERVER[0], ("-1, NULL,", "-1, \"/hello\",")];
/// Connects to a port without a server.
const TO_CLOSED: &[(&str, &str)] = &[(", 443,", ", {closed},")];
/// Lets the program of the guide about untrusted URLs fetch from the server, which has a loopback address.
const TO_LOOPBACK: &[(&str, &str)] = &[
    ("port == 80 || port == 443", "port > 0"),
    (ALL_BUT_GLOBAL, "NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL & ~NETLIB_ADDRESS_CLASS_LOOPBACK"),
];
const TO_LOOPBACK_FAST: &[(&str, &str)] = &[TO_LOOPBACK[0], TO_LOOPBACK[1], ("1024, 3.0", "1024, 0.05")];

/// Returns the lines about a retry that the budget denies.
macro_rules! denied {
    ($request:literal) => {
        concat!(
            "request ",
            $request,
            ": the retry budget allows no further retry for GET https://example.com/: the server answered 503\n",
            "  cause: the retry budget of https://example.com:443 has 10 tokens left; a retry costs 14\n",
        )
    };
}

const ALL_BUT_GLOBAL: &str = "NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL";
const UNTRUSTED: (&str, usize) = ("docs/guide/untrusted-urls.md", 2);

pub const RUNS: &[Run] = &[
    c(
        ("README.md", 1),
        &[],
        "",
        (0, "https://example.com/report: status 503\nhttps://example.com/report: status 200\nfinal status 200\n", ""),
    ),
    Run { language: "cpp", ..c(("README.md", 1), &[], "", (0, "status 503\nstatus 200\nfinal status 200\n", "")) },
    Run { language: "cpp", ..c(("include/netlib.hpp", 1), &[], "", (0, "example.com 8443\n", "")) },
    c(("include/netlib.h", 1), &[], "https://127.0.0.1:{https}/hello?first", (0, "hello\n", "")),
    c(("include/netlib.h", 1), &[], "https://127.0.0.1:{https}/until-close?first", (0, "until the end\n", "")),
    c(
        ("include/netlib.h", 1),
        &[],
        "https://127.0.0.1:{https}/hang-up?first",
        (1, "", "closed the connection without a response\n"),
    ),
    c(("include/netlib.h", 1), &[], "https://127.0.0.1:{wronghost}/hello?first", (1, "", "\n  advice: ")),
    c(
        ("include/netlib.h", 1),
        &[],
        "https://127.0.0.1:{https}/cut-length?first",
        (1, "only this\n", "after 10 of 100 bytes of the body\n"),
    ),
    // The suite `examples` runs the same program as examples-c/get.c.
    c(
        ("docs/guide/first-request.md", 1),
        &[],
        "https://127.0.0.1:{https}/redirect-other-origin?guide",
        (0, "GET /echo\nHost: 127.0.0.1:{https2nd}\nconnection: close\n\n", ""),
    ),
    c(
        ("docs/guide/tls-client.md", 1),
        TO_HELLO,
        "127.0.0.1 {server}ca.pem tests/certs/client.pem tests/certs/client.key {sha256}",
        (0, "hello\n", ""),
    ),
    c(
        ("docs/guide/tls-client.md", 1),
        TO_HELLO,
        "127.0.0.1 {server}ca.pem tests/certs/client.pem tests/certs/ca.pem {sha256}",
        (1, "", "netlib_tls_options_set_identity_files: tests/certs/ca.pem contains no private key\n"),
    ),
    c(("docs/guide/event-loop.md", 1), TO_HELLO, "127.0.0.1", (0, "hello\n", "")),
    c(("docs/guide/event-loop.md", 1), TO_CLOSED, "127.0.0.1", (1, "", "Connection refused\n")),
    c(
        ("docs/guide/event-loop.md", 2),
        &[],
        "",
        (
            1,
            "received 28 bytes, sent …",
            "the server \"example.com\" does not speak TLS on this connection: it answered in plain HTTP\n",
        ),
    ),
    c(
        ("docs/guide/proxies.md", 1),
        &[],
        "http://127.0.0.1:{proxy} https://127.0.0.1:{https}",
        (0, "connected to 127.0.0.1 with TLS_AES_128_GCM_SHA256\n", ""),
    ),
    c(
        ("docs/guide/proxies.md", 1),
        &[],
        "https://127.0.0.1:{tlsproxy} https://127.0.0.1:{https}",
        (0, "connected to 127.0.0.1 with TLS_AES_128_GCM_SHA256\n", ""),
    ),
    c(
        ("docs/guide/proxies.md", 1),
        &[],
        "http://127.0.0.1:{proxy} https://127.0.0.1:{wronghost}",
        (1, "", "is for other.test\n"),
    ),
    c(
        ("docs/guide/proxies.md", 1),
        &[],
        "http://127.0.0.1:{http} https://127.0.0.1:{https}",
        (1, "", "the proxy answered CONNECT with 404 Not Found\n"),
    ),
    c(("docs/guide/urls.md", 1), &[], "", (0, "https://example.com/files/50%25%20off%3F.pdf?q=a+b&page=2\n", "")),
    c(
        ("docs/guide/retries-at-scale.md", 1),
        &[],
        "",
        (0, concat!(denied!(36), denied!(37), denied!(38), denied!(39), denied!(40),), ""),
    ),
    c(
        ("docs/guide/untrusted-urls.md", 1),
        &[],
        "",
        (
            0,
            "accepted: https://example.com/feed?key=***\n\
             refused: the userinfo has a character that RFC 3986 does not allow there, at byte 19\n\
             refused: the host ends in a number and is not a dotted-decimal IPv4 address, at byte 7\n\
             refused by policy: http://example.com:6379/\n\
             refused by policy: http://***@example.com/\n",
            "",
        ),
    ),
    c(UNTRUSTED, TO_LOOPBACK, "https://127.0.0.1:{https}/hello?untrusted", (0, "hello\n", "")),
    c(
        UNTRUSTED,
        TO_LOOPBACK,
        "https://127.0.0.1:{https}/redirect-other-origin?untrusted accept text/plain cookie secret",
        (0, "GET /echo\nHost: 127.0.0.1:{https2nd}\nconnection: close\naccept: text/plain\n\n", ""),
    ),
    c(
        UNTRUSTED,
        TO_LOOPBACK_FAST,
        "https://127.0.0.1:{https}/drip?untrusted",
        (1, "", "; the minimum is 1024 in 0.05 s\n"),
    ),
    c(
        UNTRUSTED,
        TO_LOOPBACK,
        "https://127.0.0.1:{https}/missing?untrusted",
        (0, "none\n", "the response has the status 404\n"),
    ),
    c(UNTRUSTED, TO_LOOPBACK, "https://127.0.0.1:{https}/large?untrusted", (1, "", "the body is too large\n")),
    c(UNTRUSTED, TO_LOOPBACK, "https://127.0.0.1:{https}/redirect-loop?untrusted", (1, "", ": too many redirects\n")),
    c(
        UNTRUSTED,
        TO_LOOPBACK,
        "https://127.0.0.1:{https}/redirect-to-plain?untrusted",
        (1, "", "a redirect from https to http is refused\n"),
    ),
    c(
        UNTRUSTED,
        TO_LOOPBACK,
        "http://127.0.0.1:{http}/redirect-to-private?untrusted",
        (1, "", "the address policy refuses 10.0.0.1: private\n"),
    ),
    c(UNTRUSTED, &[], "http://127.0.0.1/", (1, "", "the address policy refuses 127.0.0.1: loopback\n")),
    c(UNTRUSTED, &[], "http://example.com:6379/", (1, "", "a port other than 80 and 443\n")),
    c(
        ("docs/howto/verify-a-chain.md", 1),
        &[],
        "tests/certs/server.pem localhost",
        (0, "valid until 2120-01-01 00:00:00 UTC\n", ""),
    ),
    c(
        ("docs/howto/verify-a-chain.md", 1),
        &[],
        "tests/certs/server.pem other.test",
        (1, "", "certificate 0: the certificate of the server \"other.test\" (CN=localhost) is for "),
    ),
    c(
        ("docs/howto/verify-a-chain.md", 1),
        &[],
        "tests/certs/none.pem localhost",
        (1, "", "tests/certs/none.pem: No such file"),
    ),
    c(("docs/howto/resume-sessions.md", 1), TO_SERVER, "127.0.0.1", (0, "full handshake\nresumed\n", "")),
    c(("docs/howto/resume-sessions.md", 1), TO_CLOSED, "127.0.0.1", (1, "", "Connection refused\n")),
    c(
        ("docs/howto/ech.md", 1),
        TO_CLOSED,
        "localhost AAAA",
        (1, "", "config_list has bytes after its end (at byte 2)\n"),
    ),
];

pub fn run(env: &Env, report: &mut Report) {
    run_all(env, "printed", &[], env.library(), report);
}

pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let under_valgrind: Vec<&str> = std::iter::once("valgrind").chain(VALGRIND.iter().copied()).collect();
    run_all(env, "printed-leaks", &under_valgrind, env.development_library(), report);
}

fn run_all(env: &Env, suite: &str, before: &[&str], library: &Path, report: &mut Report) {
    let scratch = env.scratch(suite);
    let server = match Server::start(env, &scratch) {
        Ok(server) => server,
        Err(text) => return report.fail(text),
    };
    let has_cpp = has("g++");
    if !has_cpp {
        report.skip("g++ is not installed: the C++ programs do not run");
    }
    let mut programs = programs(env);
    programs.retain(|program| has_cpp || program.language == "c");
    let authorities = ["{server}ca.pem", "{server}proxy-ca.pem", "tests/certs/ca.pem"];
    let trusted = scratch.join("trusted.pem");
    fs::write(&trusted, authorities.map(|file| env.read(&server.fill_in(file))).concat())
        .expect("target is writable");
    let fill_in = |text: &str| server.fill_in(&text.replace("{trusted}", &trusted.display().to_string()));
    let place = Place { scratch: &scratch, before, library };
    check(env, &place, &programs, RUNS, &fill_in, report);
}

/// Returns the programs of the documents.
pub fn programs(env: &Env) -> Vec<Printed> {
    let page = |page: &str, language| Printed {
        page: page.to_owned(),
        number: 1,
        language,
        text: program_of_header(&env.read(page)),
    };
    let mut programs = vec![page("include/netlib.h", "c"), page("include/netlib.hpp", "cpp")];
    let mut pages = vec![env.root.join("README.md")];
    pages.extend(files_below(&env.root.join("docs"), "md"));
    for page in &pages {
        let text = fs::read_to_string(page).unwrap_or_default();
        for language in ["c", "cpp"] {
            let blocks = programs_of_markdown(&text, language).into_iter().zip(1..);
            let page = page.strip_prefix(&env.root).unwrap_or(page).display().to_string();
            programs.extend(blocks.map(|(text, number)| Printed { page: page.clone(), number, language, text }));
        }
    }
    programs
}

/// Returns the example program on the first page of a header: the indented lines after "The program below".
pub fn program_of_header(header: &str) -> String {
    let lines = header.lines().skip_while(|line| !line.contains("The program below")).skip(1);
    let mut text = String::new();
    for line in lines.map(|line| line.trim_start_matches(" *")) {
        match line.strip_prefix("     ") {
            Some(code) => text = text + code + "\n",
            None if line.trim().is_empty() => text.push('\n'),
            None => break,
        }
    }
    text
}

/// Returns the fenced blocks of a language that have a `main`.
pub fn programs_of_markdown(text: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let fenced = text.split(&start).skip(1).filter_map(|rest| rest.split_once("\n```"));
    fenced.map(|(code, _)| code.to_owned() + "\n").filter(|code| code.contains("int main(")).collect()
}

/// The directory for the programs, the command that runs them (such as valgrind with its options, or empty), and the
/// directory of the library.
pub struct Place<'a> {
    pub scratch: &'a Path,
    pub before: &'a [&'a str],
    pub library: &'a Path,
}

/// Checks each program with its runs. `fill_in` replaces the placeholders.
pub fn check(
    env: &Env,
    place: &Place,
    programs: &[Printed],
    runs: &[Run],
    fill_in: &(dyn Fn(&str) -> String + Sync),
    report: &mut Report,
) {
    let is_of = |run: &Run, program: &Printed| {
        run.page == program.page && run.language == program.language && run.number == program.number
    };
    for program in programs {
        let has_run = runs.iter().any(|run| is_of(run, program));
        report.check(has_run, format!("{} has a row in RUNS", title(program)));
    }
    let pairs: Vec<(usize, &Run, Option<&Printed>)> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| (at, run, programs.iter().find(|program| is_of(run, program))))
        .collect();
    for one in parallel(&pairs, |&(at, run, program)| {
        let mut report = Report::default();
        match program {
            Some(program) => check_run(env, place, (at, program), run, fill_in, &mut report),
            // Without g++, the C++ programs are left out.
            None if run.language == "cpp" && !has("g++") => {}
            None => report.fail(format!("{} has no program {} in {}", run.page, run.number, run.language)),
        }
        report
    }) {
        report.merge(one);
    }
}

fn title(program: &Printed) -> String {
    format!("program {} of {} in {}", program.number, program.page, program.language)
}

fn check_run(
    env: &Env,
    place: &Place,
    (at, program): (usize, &Printed),
    run: &Run,
    fill_in: &(dyn Fn(&str) -> String + Sync),
    report: &mut Report,
) {
    let title = title(program);
    let mut text = program.text.clone();
    for (from, to) in run.edits {
        report.check(text.contains(from), format!("{title} contains {from:?}"));
        text = text.replace(from, &fill_in(to));
    }
    let source = place.scratch.join(format!("program_{at}.{}", program.language));
    let built = source.with_extension("");
    fs::write(&source, &text).expect("target is writable");
    if let Err(text) = compile(env, program.language, &source, &built, place.library) {
        return report.fail(format!("{title} does not compile\n{text}"));
    }
    let execute = |before: &[&str], arguments: &str| -> Ran {
        let words: Vec<&Path> = before.iter().map(Path::new).chain([built.as_path()]).collect();
        let mut command = env.command(words[0]);
        command.args(&words[1..]).args(arguments.split_whitespace()).load_from(place.library);
        command.env("SSL_CERT_FILE", fill_in("{trusted}")).run(120)
    };
    let (arguments, printed, error) = (fill_in(run.arguments), fill_in(run.printed), fill_in(run.error));
    let ran = execute(place.before, &arguments);
    let prints = match printed.strip_suffix('…') {
        Some(start) => ran.out.starts_with(start),
        None => ran.out == printed,
    };
    let is_right = ran.code == Some(run.code) && prints && ran.text[ran.out.len()..].contains(&error);
    let expected = format!("ends with {} and prints {printed:?}, {error:?}", run.code);
    report.check(
        is_right,
        format!("{title} with {arguments:?} {expected}; it ended with {:?}\n{}", ran.code, ran.text),
    );
    if !place.before.is_empty() {
        return;
    }
    if text.contains("usage: ") {
        let ran = execute(&[], "");
        let is_refused = ran.code == Some(2) && ran.out.is_empty() && ran.text.contains("usage: ");
        report.check(is_refused, format!("{title} prints its usage on stderr and exits with 2\n{}", ran.text));
    }
    if text.contains("fwrite(") && run.code == 0 && !printed.is_empty() {
        let ran = execute(&["sh", "-c", "exec \"$@\" >/dev/full", "sh"], &arguments);
        report.check(ran.code == Some(1), format!("{title} fails if it cannot write: {:?}\n{}", ran.code, ran.text));
    }
}

fn compile(env: &Env, language: &str, source: &Path, program: &Path, library: &Path) -> Result<(), String> {
    match language {
        "cpp" => cpp::compile(env, source, program, library),
        _ => env.compile(source, program, library),
    }
}
