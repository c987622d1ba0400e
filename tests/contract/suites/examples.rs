//! Compiles, with all warnings, the programs in examples-c, and runs each program. The suite `examples-leaks` runs each
//! program under valgrind, which must find no leak. Runs of a program with arguments are rows of [`RUNS`], or are in a
//! suite for this program. The programs must leave sockets and HTTP to netlib.

pub mod sources;

use std::path::{Path, PathBuf};

use crate::env::{Env, STRICT, has, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;
use crate::suites::fetch::server::Server;
use crate::suites::fleet;

/// Returns arguments of the example program `pool`: the given text, and a URL with the given path at each of three
/// origins.
macro_rules! three_origins {
    ($start:literal, $path:literal) => {
        concat!(
            $start,
            " https://127.0.0.1:{https}/",
            $path,
            " https://127.0.0.1:{https2nd}/",
            $path,
            " http://127.0.0.1:{http}/",
            $path
        )
    };
}

/// Runs of examples with arguments: the program, its arguments, the exit code, the expected text on standard output,
/// and a part of the expected text on standard error. An expected text that ends with "…" is only the start of the text
/// on standard output. Placeholders such as `{https}` stand for ports of the misbehaving server, whose CA is the
/// authority that the program trusts by default.
const RUNS: &[(&str, &str, i32, &str, &str)] = &[
    (
        "engine",
        "tests/certs/server.pem tests/certs/server.key tests/certs/ca.pem localhost",
        0,
        "HELLO OVER TLS\n",
        "",
    ),
    ("get", "https://127.0.0.1:{https}/hello?get", 0, "hello\n", ""),
    ("get", "http://127.0.0.1:{http}/hello?get", 0, "hello\n", ""),
    ("get", "https://127.0.0.1:{https}/busy-once?get", 0, "hello\n", ""),
    ("get", "https://127.0.0.1:{https}/until-close?get", 0, "until the end\n", ""),
    ("get", "https://127.0.0.1:{https}/interim?get", 0, "final\n", ""),
    ("get", "https://127.0.0.1:{https}/zero?get", 0, "", ""),
    ("get", "https://127.0.0.1:{https}/missing?get", 0, "none\n", "the response has the status 404\n"),
    (
        "get",
        "https://127.0.0.1:{https}/redirect-other-origin?get",
        0,
        "GET /echo\nHost: 127.0.0.1:{https2nd}\nconnection: close\n\n",
        "",
    ),
    ("get", "https://127.0.0.1:{https}/redirect-to-plain?get", 1, "", "a redirect from https to http is refused\n"),
    ("get", "https://127.0.0.1:{https}/hang-up?get", 1, "", "closed the connection without a response\n"),
    ("get", "https://127.0.0.1:{https}/garbage?get", 1, "", ": the peer is an SSH server at byte 0\n"),
    ("get", "https://127.0.0.1:{https}/cut-length?get", 1, "only this\n", "after 10 of 100 bytes of the body\n"),
    ("get", "https://127.0.0.1:{https}/cut-until-close?get", 1, "only this\n", "without close_notify"),
    ("get", "https://127.0.0.1:{https}/bad-chunk?get", 1, "", "\"x\" is not allowed in a chunk size at byte 0\n"),
    ("get", "https://127.0.0.1:{wronghost}/hello?get", 1, "", "is for other.test\n"),
    ("get", "https://127.0.0.1:{untrusted}/hello?get", 1, "", "\n  advice: "),
    ("get", "http://127.0.0.1:{closed}/", 1, "", "\n  cause: 127.0.0.1 port {closed}: Connection refused"),
    ("get", "https:example.com", 1, "", "the scheme is not followed by \"://\" at byte 5\n"),
    ("download", "https://127.0.0.1:{https}/hello?download /dev/stdout", 0, "hello\n", ""),
    ("download", "https://127.0.0.1:{https}/resume?download /dev/stdout", 0, "hello world\n", ""),
    ("download", "http://127.0.0.1:{http}/resume?download /dev/stdout", 0, "hello world\n", ""),
    ("download", "https://127.0.0.1:{https}/resume-end?download /dev/stdout", 0, "hello\n", ""),
    (
        "download",
        "https://127.0.0.1:{https}/cut-length?download /dev/stdout",
        1,
        "only this\nonly this\nonly this\nonly this\n",
        "after 10 of 100 bytes of the body\n",
    ),
    // A file would be overwritten; the pipe shows both bodies.
    ("download", "https://127.0.0.1:{https}/resume-changed?download /dev/stdout", 0, "helloother\n", ""),
    (
        "download",
        "https://127.0.0.1:{https}/resume-mixed?download /dev/stdout",
        1,
        "hello",
        "the response has the status 206\nthe response does not contain the file\n",
    ),
    (
        "download",
        "https://127.0.0.1:{https}/missing?download /dev/stdout",
        1,
        "",
        "the response has the status 404\nthe response does not contain the file\n",
    ),
    (
        "pool",
        three_origins!("1 200", "keep-alive"),
        0,
        "200 of 200 requests succeeded\n3 connections, reused 197 times (98.5 % of the attempts)\n",
        "",
    ),
    (
        "pool",
        three_origins!("1 200", "keep-alive-10"),
        0,
        "200 of 200 requests succeeded\n21 connections, reused 179 times (89.5 % of the attempts)\n",
        "",
    ),
    ("pool", three_origins!("4 200", "keep-alive"), 0, "200 of 200 requests succeeded\n…", ""),
    ("pool", three_origins!("1 6", "hello?pool"), 0, "6 of 6 requests succeeded\n…", ""),
    ("pool", "1 1 https://127.0.0.1:{https}/busy-once?pool", 0, "1 of 1 requests succeeded\n…", ""),
    (
        "pool",
        three_origins!("2 3", "cut-length?pool"),
        1,
        "0 of 3 requests succeeded\n…",
        "after 10 of 100 bytes of the body\n",
    ),
    ("storm", "run queue jitter flood 1", 2, "", "no such server, policy, trigger or time: queue jitter flood 1\n"),
];

pub struct Example {
    pub name: String,
    pub sources: Vec<PathBuf>,
}

impl Example {
    /// Returns the linker flags for the libraries that the example needs in addition to netlib.
    pub fn libraries(&self) -> &'static [&'static str] {
        if self.name == WITH_HIREDIS { &["-lhiredis", "-lm"] } else { &["-lm"] }
    }
}

/// The example that needs the library hiredis.
const WITH_HIREDIS: &str = "store_redis";

/// Returns the examples. Each `NAME.c` is the main file of a program, whose other sources are in the folder `NAME`.
/// Leaves out the example whose library is not installed.
pub fn programs(env: &Env) -> Vec<Example> {
    let program = |main: PathBuf| {
        let name = stem(&main).to_owned();
        let parts = env.files(format!("examples-c/{name}"), "", ".c");
        Example { name, sources: std::iter::once(main).chain(parts).collect() }
    };
    let has_hiredis = fleet::has_hiredis(env);
    let programs = env.files("examples-c", "", ".c").into_iter().map(program);
    programs.filter(|example| has_hiredis || example.name != WITH_HIREDIS).collect()
}

/// Compiles an example with the compiler's default C version and all warnings.
pub fn build(env: &Env, example: &Example, program: &Path, library: &Path) -> Result<(), String> {
    let mut cc = env.cc();
    cc.args(["-g", "-Iinclude"]).args(STRICT).args(&example.sources).arg("-o").arg(program);
    cc.args(example.libraries());
    cc.link_to(library).run(300).or_text()
}

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("examples");
    if !fleet::has_hiredis(env) {
        report.skip(format!("{WITH_HIREDIS}: hiredis, the C client of Redis, is not installed"));
    }
    check_sources(env, &programs(env), report);
    check(env, &programs(env), &scratch, report);
}

pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let scratch = env.scratch("examples-leaks");
    check_leaks(env, &programs(env), &scratch, report);
}

/// Checks the sources and headers of the programs.
fn check_sources(env: &Env, programs: &[Example], report: &mut Report) {
    let folder = env.root.join("examples-c");
    let headers = programs.iter().flat_map(|program| env.files(folder.join(&program.name), "", ".h"));
    let sources = programs.iter().flat_map(|program| program.sources.clone());
    let read = |file: PathBuf| {
        let path = file.strip_prefix(&folder).expect("the file is in examples-c").display().to_string();
        (path, std::fs::read_to_string(file).expect("the file is readable"))
    };
    sources::check(&sources.chain(headers).map(read).collect::<Vec<_>>(), report);
}

fn runs(name: &str) -> impl Iterator<Item = &'static (&'static str, &'static str, i32, &'static str, &'static str)> {
    RUNS.iter().filter(move |(program, ..)| *program == name)
}

/// Starts the misbehaving server if a program has a run with arguments.
fn server(env: &Env, programs: &[Example], scratch: &Path) -> Result<Option<Server>, String> {
    match programs.iter().any(|example| runs(&example.name).next().is_some()) {
        true => Server::start(env, scratch).map(Some),
        false => Ok(None),
    }
}

pub fn check(env: &Env, programs: &[Example], scratch: &Path, report: &mut Report) {
    let library = env.library();
    let server = match server(env, programs, scratch) {
        Ok(server) => server,
        Err(text) => return report.fail(text),
    };
    let fill_in = |text: &str| server.as_ref().map_or(text.to_owned(), |server| server.fill_in(text));
    for one in parallel(programs, |example| {
        let mut report = Report::default();
        let program = scratch.join(&example.name);
        if let Err(text) = build(env, example, &program, library) {
            report.fail(format!("{} does not compile\n{text}", example.name));
            return report;
        }
        report.check(true, "");
        let ran = env.command(&program).load_from(library).run(60);
        report.check(ran.code.is_some(), format!("{} without arguments ends by itself\n{}", example.name, ran.text));
        for (_, arguments, code, printed, error) in runs(&example.name) {
            let arguments = fill_in(arguments);
            let mut command = env.command(&program);
            command.args(arguments.split(' ')).load_from(library).env("SSL_CERT_FILE", fill_in("{server}ca.pem"));
            let ran = command.run(60);
            let prints = match printed.strip_suffix('…') {
                Some(start) => ran.out.starts_with(&fill_in(start)),
                None => ran.out == fill_in(printed),
            };
            let right = ran.code == Some(*code) && prints && ran.text.contains(&fill_in(error));
            let what = format!("{} {arguments} ends with {code} and prints {printed:?}, {error:?}", example.name);
            report.check(right, format!("{what}\n{}", ran.text));
        }
        report
    }) {
        report.merge(one);
    }
}

/// Runs each program under valgrind, without arguments and with the arguments of its rows of [`RUNS`].
pub fn check_leaks(env: &Env, programs: &[Example], scratch: &Path, report: &mut Report) {
    let library = env.development_library();
    let server = match server(env, programs, scratch) {
        Ok(server) => server,
        Err(text) => return report.fail(text),
    };
    let fill_in = |text: &str| server.as_ref().map_or(text.to_owned(), |server| server.fill_in(text));
    let mut cases = Vec::new();
    for (example, built) in programs.iter().zip(parallel(programs, |example| {
        let program = scratch.join(&example.name);
        build(env, example, &program, library).map(|()| program)
    })) {
        match built {
            Ok(program) => {
                let arguments = std::iter::once("").chain(runs(&example.name).map(|row| row.1));
                cases.extend(arguments.map(|arguments| (program.clone(), fill_in(arguments))));
            }
            Err(text) => report.fail(format!("{} does not compile\n{text}", example.name)),
        }
    }
    for one in parallel(&cases, |(program, arguments)| {
        let mut report = Report::default();
        let mut valgrind = env.command("valgrind");
        valgrind.args(VALGRIND).arg(program).args(arguments.split_whitespace()).load_from(library);
        let ran = valgrind.env("SSL_CERT_FILE", fill_in("{server}ca.pem")).run(120);
        // valgrind exits with 99 after memory errors, and with 127 if the program cannot be loaded.
        let clean = ran.code.is_some_and(|code| code != 99 && code != 127);
        report.check(clean, format!("{} {arguments} under valgrind\n{}", stem(program), ran.text));
        report
    }) {
        report.merge(one);
    }
}
