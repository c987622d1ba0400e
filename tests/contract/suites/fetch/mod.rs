//! Runs examples-c/fetch against the misbehaving server, and checks its output, exit code and duration. The suite runs
//! the program once directly and once under valgrind.

mod cases;
pub mod server;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use crate::env::{Env, Ran, has, name};
use crate::pictures;
use crate::report::Report;
use crate::suites::c_tests::VALGRIND;
use cases::Case;
use server::Server;

pub fn run(env: &Env, report: &mut Report) {
    run_cases(env, report, "fetch", &[], &cases::all());
}

pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let mut before = vec!["valgrind"];
    before.extend(VALGRIND);
    run_cases(env, report, "fetch-valgrind", &before, &cases::all());
}

/// Runs `make demo` and checks its output, also against the recorded output in docs/pictures.
pub fn demo(env: &Env, report: &mut Report) {
    env.release_library();
    let builds = builds_of_c_code(env);
    let ran = env.command("scripts/demo.sh").env("CARGO_TARGET_DIR", &env.target).run(600);
    report.check(ran.ok, format!("scripts/demo.sh ended with {:?}\n{}", ran.code, ran.text));
    let is_reused = !builds.is_empty() && builds == builds_of_c_code(env);
    report.check(is_reused, "the demo reuses what scripts/build-lib has compiled");
    for said in [
        "attempt 4: GET",
        "Connection reset",
        "waits 1 s",
        "drops the header authorization",
        "no credentials at the other origin",
        "inside the TLS session with the proxy",
        "read by nobody on the way",
        "is for other.test",
        "\"stranger.test\"",
        "is for origin.test",
        "the address policy refuses",
    ] {
        report.check(ran.text.contains(said), format!("the demo says {said:?}"));
    }
    let difference = pictures::difference(&env.read(pictures::RECORDING), &ran.out);
    report.check(
        difference.is_none(),
        format!("{}: {}; run `make pictures`", pictures::RECORDING, difference.unwrap_or_default()),
    );
}

/// Returns the outputs of aws-lc's build script for release builds, with their modification times. The build script runs
/// again if the demo builds its server with other flags than the library.
fn builds_of_c_code(env: &Env) -> Vec<(PathBuf, Option<SystemTime>)> {
    let entries = std::fs::read_dir(env.target.join("release/build")).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| name(path).starts_with("aws-lc-sys-"));
    let outputs = folders.map(|folder| folder.join("output")).filter(|output| output.is_file());
    let mut builds: Vec<_> = outputs
        .map(|output| {
            let changed = std::fs::metadata(&output).and_then(|file| file.modified()).ok();
            (output, changed)
        })
        .collect();
    builds.sort();
    builds
}

fn run_cases(env: &Env, report: &mut Report, suite: &str, before: &[&str], cases: &[&Case]) {
    let scratch = env.scratch(suite);
    let setup = compile(env, &scratch).and_then(|program| Ok((program, Server::start(env, &scratch)?)));
    let (program, server) = match setup {
        Ok(setup) => setup,
        Err(text) => return report.fail(text),
    };
    let harness = Harness { env, scratch, program, server, before };
    for one in run_concurrently(cases, |case| harness.run_case(case)) {
        report.merge(one);
    }
}

/// Runs six cases at the same time, even on fewer processors, because fetch spends most of its time waiting.
fn run_concurrently(cases: &[&Case], run_case: impl Fn(&Case) -> Report + Sync) -> Vec<Report> {
    const AT_ONCE: usize = 6;
    let next = AtomicUsize::new(0);
    let run_next_cases = || {
        let mine = std::iter::from_fn(|| cases.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.map(|case| run_case(case)).collect::<Vec<Report>>()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(run_next_cases)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a case is not a panic")).collect()
    })
}

/// Compiles fetch, which needs only netlib.h and the library.
fn compile(env: &Env, scratch: &Path) -> Result<PathBuf, String> {
    let program = scratch.join("fetch");
    let mut cc = env.strict_cc();
    cc.arg("examples-c/fetch.c").args(env.files("examples-c/fetch", "", ".c"));
    cc.arg("-o").arg(&program).link_to(env.library()).run(300).or_text()?;
    Ok(program)
}

struct Harness<'a> {
    env: &'a Env,
    scratch: PathBuf,
    program: PathBuf,
    server: Server,
    before: &'a [&'a str],
}

impl Harness<'_> {
    fn run_case(&self, case: &Case) -> Report {
        let mut report = Report::default();
        let dir = self.scratch.join(case.name);
        std::fs::create_dir_all(&dir).expect("a directory under target");
        for (name, text) in case.files {
            std::fs::write(dir.join(name), text).expect("a file under target");
        }

        let mut command: Vec<String> = self.before.iter().map(|&word| word.to_owned()).collect();
        command.push(self.program.display().to_string());
        for (option, authority) in [("--cacert", "ca.pem"), ("--proxy-cacert", "proxy-ca.pem")] {
            command.extend([option.to_owned(), self.server.file(authority).display().to_string()]);
        }
        command.extend(case.args.iter().map(|arg| self.fill_in(arg, &dir)));
        if !case.shell.is_empty() {
            let script = self.fill_in(case.shell, &dir);
            command.splice(0..0, ["sh".to_owned(), "-c".to_owned(), script, "sh".to_owned()]);
        }
        let start = Instant::now();
        let ran = self.env.command(&command[0]).args(&command[1..]).load_from(self.env.library()).run(120);
        let seconds = start.elapsed().as_secs_f64();

        let mut problems = Vec::new();
        if ran.code != Some(case.code) {
            problems.push(format!("ended with {:?}, not {}", ran.code, case.code));
        }
        // Under valgrind, fetch is slower, so a time limit may expire at another step and change the output.
        if self.before.is_empty() {
            problems.extend(output_problems(case, &ran, |part| self.fill_in(part, &dir)));
            problems.extend(unexpected_files(case, &dir));
            let (from, until) = case.seconds;
            if seconds < from || seconds > until {
                problems.push(format!("took {seconds:.2} s, not {from} to {until}"));
            }
        }
        report.check(problems.is_empty(), format!("{}: {}\n{}", case.name, problems.join(", "), ran.text));
        report
    }

    /// Replaces placeholders: `{dir}` stands for the case's own directory and `{certs}` for tests/certs;
    /// `Server::fill_in` replaces the others.
    fn fill_in(&self, arg: &str, dir: &Path) -> String {
        let text = arg.replace("{dir}", &dir.display().to_string());
        self.server.fill_in(&text.replace("{certs}", &self.env.root.join("tests/certs").display().to_string()))
    }
}

/// Compares the exit code and the output with the expectations of the case.
fn output_problems(case: &Case, ran: &Ran, fill_in: impl Fn(&str) -> String) -> Vec<String> {
    let error = ran.text.strip_prefix(&ran.out).unwrap_or(&ran.text);
    let missing = |what: &'static str, text: &str, wanted: &[&str]| {
        let missing = wanted.iter().map(|part| fill_in(part)).filter(|part| !text.contains(part.as_str()));
        missing.map(|part| format!("{what} lacks {part:?}")).collect::<Vec<_>>()
    };
    let mut problems = missing("standard output", &ran.out, case.out);
    problems.extend(missing("standard error", error, case.err));
    problems
        .extend(case.never.iter().filter(|part| ran.text.contains(**part)).map(|part| format!("contains {part:?}")));
    if case.body.is_some_and(|body| body != ran.out) {
        problems.push("standard output is not the expected body".to_owned());
    }
    if error.contains("netlib_") {
        problems.push("the error message names a function of netlib".to_owned());
    }
    let complaints = error.lines().filter(|line| line.starts_with("fetch: ")).count();
    if complaints != usize::from(case.code != 0) {
        problems.push(format!("{complaints} lines begin with \"fetch: \""));
    }
    problems
}

fn unexpected_files(case: &Case, dir: &Path) -> Vec<String> {
    let found = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let wrong = case.leaves.iter().filter(|(name, text)| found(name).as_deref() != *text);
    wrong.map(|(name, _)| format!("leaves {name} as {:?}", found(name))).collect()
}
