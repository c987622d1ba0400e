//! Runs examples-c/epoll, which fetches many URLs in one thread, against the misbehaving server, and checks its output
//! and exit code. The server answers requests for `/when-fifty-ask` only after it has received fifty of them, so the
//! requests must run concurrently. The suite runs the program once directly and once under valgrind.

use std::path::{Path, PathBuf};

use super::examples;
use super::fetch::server::Server;
use crate::env::{Env, Ran, has, parallel};
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;

struct Case {
    name: &'static str,
    /// The options of the program; every run also trusts the servers' CA. `{timeout}` stands for a timeout that is long
    /// enough for requests that must succeed, and `{half}` for half of that timeout.
    args: &'static [&'static str],
    /// The number of requests for each URL.
    urls: &'static [(usize, &'static str)],
    /// A shell script that runs the program as "$@".
    shell: &'static str,
    code: i32,
    /// The lines that the program prints, in any order: the URL, the number of such lines, the response with bytes and
    /// attempts, and the error.
    lines: &'static [(&'static str, usize, &'static str, &'static str)],
}

const NOTHING: Case = Case { name: "", args: &[], urls: &[], shell: "", code: 0, lines: &[] };

const HELLO: &str = "200  6 bytes  T  1/1 127.0.0.1";
const NO_ANSWER: &str = "---  0 bytes  T  1/1 127.0.0.1";
const NO_CONNECTION: &str = "---  0 bytes  T  0/1 -";
const HELLO_AGAIN: &str = "200  6 bytes  T  0/0 -";
const NOT_BEGUN: &str = "---  0 bytes  T  0/0 -";

const CASES: &[Case] = &[
    Case {
        name: "fifty",
        urls: &[
            (25, "http://127.0.0.1:{http}/when-fifty-ask?all"),
            (25, "https://127.0.0.1:{https}/when-fifty-ask?all"),
        ],
        lines: &[
            ("http://127.0.0.1:{http}/when-fifty-ask?all", 25, HELLO, ""),
            ("https://127.0.0.1:{https}/when-fifty-ask?all", 25, HELLO, ""),
        ],
        ..NOTHING
    },
    // Ten requests that fail in different ways do not affect the other forty.
    Case {
        name: "fifty-of-which-ten-fail",
        args: &["--timeout", "{timeout}"],
        urls: &[
            (1, "http://127.0.0.1:{closed}/"),
            (1, "http://127.0.0.1:{http}/hang-up"),
            (1, "https://127.0.0.1:{https}/reset-after-head"),
            (1, "https://127.0.0.1:{https}/cut-length"),
            (1, "https://127.0.0.1:{wronghost}/hello"),
            (20, "http://127.0.0.1:{http}/when-forty-ask?some"),
            (1, "http://127.0.0.1:{http}/never"),
            (1, "https://127.0.0.1:{https}/never"),
            (1, "http://127.0.0.1:{full}/"),
            (1, "https://127.0.0.1:{mute}/"),
            (1, "http://127.0.0.1:{http}/missing"),
            (20, "https://127.0.0.1:{https}/when-forty-ask?some"),
        ],
        code: 1,
        lines: &[
            ("http://127.0.0.1:{http}/when-forty-ask?some", 20, HELLO, ""),
            ("https://127.0.0.1:{https}/when-forty-ask?some", 20, HELLO, ""),
            ("http://127.0.0.1:{http}/missing", 1, "404  5 bytes  T  1/1 127.0.0.1", ""),
            (
                "http://127.0.0.1:{closed}/",
                1,
                NO_CONNECTION,
                "cannot connect to 127.0.0.1 port {closed}: Connection refused (NETLIB_CONNECT_FAILED)",
            ),
            (
                "http://127.0.0.1:{http}/hang-up",
                1,
                NO_ANSWER,
                "waiting for the answer: the peer closed the connection without a response (NETLIB_PROTOCOL)",
            ),
            (
                "https://127.0.0.1:{https}/reset-after-head",
                1,
                NO_ANSWER,
                "waiting for the answer: the server \"127.0.0.1\" closed the connection without a response: Connection \
                 reset by peer (NETLIB_PROTOCOL)",
            ),
            (
                "https://127.0.0.1:{https}/cut-length",
                1,
                "200  10 bytes  T  1/1 127.0.0.1",
                "reading the body: the peer closed the connection after 10 of 100 bytes of the body (NETLIB_INCOMPLETE_READ)",
            ),
            (
                "https://127.0.0.1:{wronghost}/hello",
                1,
                NO_ANSWER,
                "in the TLS handshake: the certificate of the server \"127.0.0.1\" (CN=netlib test leaf) is for \
                 other.test (NETLIB_HOSTNAME_MISMATCH)",
            ),
            (
                "http://127.0.0.1:{http}/never",
                1,
                NO_ANSWER,
                "waiting for the answer: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
            (
                "https://127.0.0.1:{https}/never",
                1,
                NO_ANSWER,
                "waiting for the answer: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
            (
                "http://127.0.0.1:{full}/",
                1,
                NO_CONNECTION,
                "cannot connect to 127.0.0.1 port {full}: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
            (
                "https://127.0.0.1:{mute}/",
                1,
                NO_ANSWER,
                "in the TLS handshake: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
        ],
        ..NOTHING
    },
    // The server answers the two requests of a pair only when it has received both. With two concurrent requests, both
    // pairs finish. With one request at a time, the first request of a pair waits until its timeout, and the waiting
    // uses no processor time.
    Case {
        name: "two-at-a-time",
        args: &["--parallel", "2"],
        urls: &[
            (2, "http://127.0.0.1:{http}/when-two-ask?first"),
            (2, "https://127.0.0.1:{https}/when-two-ask?second"),
        ],
        lines: &[
            ("http://127.0.0.1:{http}/when-two-ask?first", 2, HELLO, ""),
            ("https://127.0.0.1:{https}/when-two-ask?second", 2, HELLO, ""),
        ],
        ..NOTHING
    },
    Case {
        name: "one-at-a-time",
        args: &["--parallel", "1", "--timeout", "{timeout}"],
        urls: &[(2, "http://127.0.0.1:{http}/when-two-ask?third")],
        shell: "ulimit -t {half}; exec \"$@\"",
        code: 1,
        lines: &[
            ("http://127.0.0.1:{http}/when-two-ask?third", 1, HELLO, ""),
            (
                "http://127.0.0.1:{http}/when-two-ask?third",
                1,
                NO_ANSWER,
                "waiting for the answer: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
        ],
    },
    // The overall time limit ends the requests in progress and those that have not started.
    Case {
        name: "max-time",
        args: &["--parallel", "1", "--max-time", "{timeout}"],
        urls: &[(1, "http://127.0.0.1:{http}/never"), (1, "https://127.0.0.1:{https}/hello")],
        code: 1,
        lines: &[
            (
                "http://127.0.0.1:{http}/never",
                1,
                NO_ANSWER,
                "waiting for the answer: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
            (
                "https://127.0.0.1:{https}/hello",
                1,
                NOT_BEGUN,
                "cannot connect to 127.0.0.1 port {https}: the limit's deadline has passed (NETLIB_DEADLINE_EXCEEDED)",
            ),
        ],
        ..NOTHING
    },
    // The interrupt comes when the first request was sent and the third one's TLS handshake has begun.
    Case {
        name: "interrupted",
        args: &["--parallel", "3"],
        urls: &[
            (1, "https://127.0.0.1:{https}/never?interrupted"),
            (1, "http://127.0.0.1:{full}/"),
            (1, "https://127.0.0.1:{mute2nd}/"),
            (1, "http://127.0.0.1:{http}/hello"),
        ],
        shell: "\"$@\" & \
                until grep -q 'never?interrupted' '{requests}' && grep -q mute2nd '{requests}'; do sleep 0.1; done; \
                kill -TERM $!; wait $!",
        code: 1,
        lines: &[
            (
                "https://127.0.0.1:{https}/never?interrupted",
                1,
                NO_ANSWER,
                "waiting for the answer: the limit was cancelled (NETLIB_CANCELLED)",
            ),
            (
                "http://127.0.0.1:{full}/",
                1,
                NO_CONNECTION,
                "cannot connect to 127.0.0.1 port {full}: the limit was cancelled (NETLIB_CANCELLED)",
            ),
            (
                "https://127.0.0.1:{mute2nd}/",
                1,
                NO_ANSWER,
                "in the TLS handshake: the limit was cancelled (NETLIB_CANCELLED)",
            ),
            (
                "http://127.0.0.1:{http}/hello",
                1,
                NOT_BEGUN,
                "cannot connect to 127.0.0.1 port {http}: the limit was cancelled (NETLIB_CANCELLED)",
            ),
        ],
    },
    // A response that arrives faster than it can be read delays neither the other requests nor an interrupt.
    Case {
        name: "flooded",
        urls: &[
            (1, "http://127.0.0.1:{http}/flood"),
            (1, "https://127.0.0.1:{https}/flood"),
            (1, "https://127.0.0.1:{https}/hello?flooded"),
        ],
        shell: "\"$@\" > '{server}flooded' & until grep -q flooded '{server}flooded'; do sleep 0.1; done; \
                kill -INT $!; wait $!; code=$?; sed 's/ [0-9]* bytes/ N bytes/' '{server}flooded'; exit $code",
        code: 1,
        lines: &[
            (
                "http://127.0.0.1:{http}/flood",
                1,
                "200  N bytes  T  1/1 127.0.0.1",
                "reading the body: the limit was cancelled (NETLIB_CANCELLED)",
            ),
            (
                "https://127.0.0.1:{https}/flood",
                1,
                "200  N bytes  T  1/1 127.0.0.1",
                "reading the body: the limit was cancelled (NETLIB_CANCELLED)",
            ),
            ("https://127.0.0.1:{https}/hello?flooded", 1, "200  N bytes  T  1/1 127.0.0.1", ""),
        ],
        ..NOTHING
    },
    Case {
        name: "framing",
        urls: &[
            (1, "https://127.0.0.1:{https}/chunked"),
            (1, "http://127.0.0.1:{http}/until-close"),
            (1, "https://127.0.0.1:{https}/cut-until-close"),
            (1, "https://127.0.0.1:{https}/interim"),
            (1, "http://127.0.0.1:{http}/empty"),
            (1, "https://127.0.0.1:{https}/large"),
            (1, "http://127.0.0.1:{http}/redirect"),
            (1, "http://127.0.0.1:{http}/cut-chunked"),
            (1, "http://127.0.0.1:{http}/bad-chunk"),
            (1, "http://127.0.0.1:{http}/overlong-chunk"),
            (1, "http://127.0.0.1:{http}/half-head"),
            (1, "http://127.0.0.1:{http}/garbage"),
        ],
        code: 1,
        lines: &[
            ("https://127.0.0.1:{https}/chunked", 1, "200  21 bytes  T  1/1 127.0.0.1", ""),
            ("http://127.0.0.1:{http}/until-close", 1, "200  14 bytes  T  1/1 127.0.0.1", ""),
            (
                "https://127.0.0.1:{https}/cut-until-close",
                1,
                "200  10 bytes  T  1/1 127.0.0.1",
                "reading the body: the server \"127.0.0.1\" closed the connection without close_notify: the received data may be truncated (NETLIB_TLS_TRUNCATED)",
            ),
            ("https://127.0.0.1:{https}/interim", 1, HELLO, ""),
            ("http://127.0.0.1:{http}/empty", 1, "204  0 bytes  T  1/1 127.0.0.1", ""),
            ("https://127.0.0.1:{https}/large", 1, "200  33554432 bytes  T  1/1 127.0.0.1", ""),
            ("http://127.0.0.1:{http}/redirect", 1, "302  0 bytes  T  1/1 127.0.0.1", ""),
            (
                "http://127.0.0.1:{http}/cut-chunked",
                1,
                "200  10 bytes  T  1/1 127.0.0.1",
                "reading the body: the peer closed the connection inside a chunked body, after 14 bytes (NETLIB_INCOMPLETE_READ)",
            ),
            (
                "http://127.0.0.1:{http}/bad-chunk",
                1,
                "200  0 bytes  T  1/1 127.0.0.1",
                "reading the body: \"x\" is not allowed in a chunk size at byte 0 (NETLIB_PROTOCOL)",
            ),
            (
                "http://127.0.0.1:{http}/overlong-chunk",
                1,
                "200  2 bytes  T  1/1 127.0.0.1",
                "reading the body: \"c\" follows the data of a chunk; CRLF must follow at byte 5 (NETLIB_PROTOCOL)",
            ),
            (
                "http://127.0.0.1:{http}/half-head",
                1,
                NO_ANSWER,
                "waiting for the answer: the peer closed the connection inside the response head, after 27 bytes \
                 (NETLIB_PROTOCOL)",
            ),
            (
                "http://127.0.0.1:{http}/garbage",
                1,
                NO_ANSWER,
                "waiting for the answer: the peer is an SSH server at byte 0 (NETLIB_PROTOCOL)",
            ),
        ],
        ..NOTHING
    },
    // A transfer uses the connection of an earlier transfer to the same origin, unless the server closes it.
    Case {
        name: "kept-connections",
        args: &["--parallel", "1"],
        urls: &[
            (12, "https://127.0.0.1:{https}/keep-alive-10"),
            (3, "http://127.0.0.1:{http}/keep-alive"),
            (2, "https://127.0.0.1:{https}/keep-alive"),
            (2, "http://127.0.0.1:{http}/hello?kept"),
            (1, "http://127.0.0.1:{http}/keep-alive?last"),
        ],
        lines: &[
            ("https://127.0.0.1:{https}/keep-alive-10", 2, HELLO, ""),
            ("https://127.0.0.1:{https}/keep-alive-10", 10, HELLO_AGAIN, ""),
            ("http://127.0.0.1:{http}/keep-alive", 1, HELLO, ""),
            ("http://127.0.0.1:{http}/keep-alive", 2, HELLO_AGAIN, ""),
            ("https://127.0.0.1:{https}/keep-alive", 2, HELLO_AGAIN, ""),
            ("http://127.0.0.1:{http}/hello?kept", 1, HELLO_AGAIN, ""),
            ("http://127.0.0.1:{http}/hello?kept", 1, HELLO, ""),
            ("http://127.0.0.1:{http}/keep-alive?last", 1, HELLO, ""),
        ],
        ..NOTHING
    },
    // If the server closes a kept connection without a response, the transfer uses a new connection, once.
    Case {
        name: "kept-connections-that-the-server-closes",
        args: &["--parallel", "1"],
        urls: &[
            (1, "https://127.0.0.1:{https}/keep-alive?once"),
            (1, "https://127.0.0.1:{https}/hang-up-then-hello?kept"),
            (1, "http://127.0.0.1:{http}/keep-alive?always"),
            (1, "http://127.0.0.1:{http}/hang-up?kept"),
        ],
        code: 1,
        lines: &[
            ("https://127.0.0.1:{https}/keep-alive?once", 1, HELLO, ""),
            ("https://127.0.0.1:{https}/hang-up-then-hello?kept", 1, HELLO, ""),
            ("http://127.0.0.1:{http}/keep-alive?always", 1, HELLO, ""),
            (
                "http://127.0.0.1:{http}/hang-up?kept",
                1,
                NO_ANSWER,
                "waiting for the answer: the peer closed the connection without a response (NETLIB_PROTOCOL)",
            ),
        ],
        ..NOTHING
    },
    Case {
        name: "no-urls-of-ours",
        urls: &[(1, "nothing"), (1, "ftp://127.0.0.1/"), (1, "http://me:secret@127.0.0.1/")],
        code: 1,
        lines: &[
            ("nothing", 1, NOT_BEGUN, UNUSABLE),
            ("ftp://127.0.0.1/", 1, NOT_BEGUN, UNUSABLE),
            ("http://***@127.0.0.1/", 1, NOT_BEGUN, UNUSABLE),
        ],
        ..NOTHING
    },
    Case {
        name: "from-standard-input",
        urls: &[(1, "-")],
        shell: "printf 'http://127.0.0.1:{http}/hello\\r\\n\\nhttps://127.0.0.1:{https}/hello' | \"$@\"",
        lines: &[("http://127.0.0.1:{http}/hello", 1, HELLO, ""), ("https://127.0.0.1:{https}/hello", 1, HELLO, "")],
        ..NOTHING
    },
    // The program looks up a host name that may also have an IPv6 address, at which no server listens.
    Case {
        name: "by-name",
        urls: &[(20, "https://localhost:{https}/hello"), (20, "http://localhost:{http}/hello")],
        shell: "told=$(\"$@\"); code=$?; echo \"$told\" | sed 's|  [12]/[12] |  N/N |'; exit $code",
        lines: &[
            ("https://localhost:{https}/hello", 20, "200  6 bytes  T  N/N 127.0.0.1", ""),
            ("http://localhost:{http}/hello", 20, "200  6 bytes  T  N/N 127.0.0.1", ""),
        ],
        ..NOTHING
    },
    Case {
        name: "no-such-name",
        urls: &[(1, "http://no-such-host.invalid/"), (1, "http://localhost:{http}/missing")],
        shell: "told=$(\"$@\"); code=$?; echo \"$told\" | sed 's|  [12]/[12] |  N/N |; s|: [^:]* (NET|: why (NET|'; \
                exit $code",
        code: 1,
        lines: &[
            (
                "http://no-such-host.invalid/",
                1,
                NOT_BEGUN,
                "cannot resolve no-such-host.invalid: why (NETLIB_NAME_RESOLUTION)",
            ),
            ("http://localhost:{http}/missing", 1, "404  5 bytes  T  N/N 127.0.0.1", ""),
        ],
        ..NOTHING
    },
    // Cases about the command line of the program.
    Case { name: "no-url", code: 2, ..NOTHING },
    Case { name: "no-number", args: &["--parallel", "65"], urls: &[(1, "http://127.0.0.1/")], code: 2, ..NOTHING },
    Case { name: "no-time", args: &["--timeout", "0"], urls: &[(1, "http://127.0.0.1/")], code: 2, ..NOTHING },
    Case {
        name: "no-ca-file",
        args: &["--cacert", "{server}/none.pem"],
        urls: &[(1, "http://127.0.0.1/")],
        code: 2,
        ..NOTHING
    },
];

const UNUSABLE: &str = "an http:// or https:// URL with a host and without a user is required (NETLIB_INVALID_URL)";

pub fn run(env: &Env, report: &mut Report) {
    each_case(env, report, "epoll", &[], 6);
}

pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let before: Vec<&str> = std::iter::once("valgrind").chain(VALGRIND.iter().copied()).collect();
    each_case(env, report, "epoll-valgrind", &before, 40);
}

fn each_case(env: &Env, report: &mut Report, suite: &str, before: &[&str], timeout: u32) {
    let scratch = env.scratch(suite);
    let setup = compile(env, &scratch).and_then(|program| Ok((program, Server::start(env, &scratch)?)));
    let (program, server) = match setup {
        Ok(setup) => setup,
        Err(text) => return report.fail(text),
    };
    for one in parallel(CASES, |case| {
        let fill_in = |text: &str| {
            server.fill_in(
                &text.replace("{timeout}", &timeout.to_string()).replace("{half}", &(timeout / 2).to_string()),
            )
        };
        let mut command: Vec<String> = before.iter().map(|&word| word.to_owned()).collect();
        let always = ["--cacert", "{server}ca.pem", "--timeout", "200"];
        command.push(program.display().to_string());
        command.extend(always.iter().chain(case.args).map(|arg| fill_in(arg)));
        command.extend(case.urls.iter().flat_map(|(times, url)| vec![fill_in(url); *times]));
        if !case.shell.is_empty() {
            command.splice(0..0, ["sh".to_owned(), "-c".to_owned(), fill_in(case.shell), "sh".to_owned()]);
        }
        let ran = env.command(&command[0]).args(&command[1..]).load_from(env.library()).run(300);
        let mut report = Report::default();
        let problems = otherwise(case, &ran, fill_in);
        report.check(problems.is_empty(), format!("{}: {}\n{}", case.name, problems.join("\n"), ran.text));
        report
    }) {
        report.merge(one);
    }
}

fn compile(env: &Env, scratch: &Path) -> Result<PathBuf, String> {
    let example = examples::programs(env).into_iter().find(|example| example.name == "epoll");
    let program = scratch.join("epoll");
    examples::build(env, &example.ok_or("there is no examples-c/epoll.c")?, &program, env.library())?;
    Ok(program)
}

/// Compares the exit code and the output with the expectations of the case.
fn otherwise(case: &Case, ran: &Ran, fill_in: impl Fn(&str) -> String) -> Vec<String> {
    let mut problems = Vec::new();
    if ran.code != Some(case.code) {
        problems.push(format!("ended with {:?}, not {}", ran.code, case.code));
    }
    let line = |(url, times, answer, wrong): &(&str, usize, &str, &str)| {
        let wrong = if wrong.is_empty() { String::new() } else { format!(": {wrong}") };
        vec![fill_in(&format!("{answer}  {url}{wrong}")); *times]
    };
    let mut expected: Vec<String> = case.lines.iter().flat_map(line).collect();
    let mut printed: Vec<String> = ran.out.lines().map(without_time).collect();
    expected.sort();
    printed.sort();
    problems.extend(expected.iter().filter(|line| !printed.contains(line)).map(|line| format!("lacks {line}")));
    problems.extend(printed.iter().filter(|line| !expected.contains(line)).map(|line| format!("has {line}")));
    if problems.is_empty() && printed != expected {
        problems.push("has a line more or less often than it should".to_owned());
    }
    problems
}

/// Replaces the seconds of a line `200  6 bytes  0.123 s  …` by `T`.
fn without_time(line: &str) -> String {
    let mut parts: Vec<&str> = line.splitn(4, "  ").collect();
    let seconds = parts.get(2).and_then(|part| part.strip_suffix(" s")).and_then(|number| number.parse::<f64>().ok());
    if seconds.is_some() {
        parts[2] = "T";
    }
    parts.join("  ")
}
