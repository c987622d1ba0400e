//! What is generated from the sources is committed, and is what the sources generate.

use std::fs;
use std::process::ExitCode;

use crate::env::Env;
use crate::header;
use crate::model::Header;
use crate::report::Report;

/// Each generated file and its text.
fn files(env: &Env) -> Vec<(&'static str, String)> {
    let text = header::generate(&env.root);
    let exports = exports(&Header::parse(&text));
    vec![("include/netlib.h", text), ("include/netlib.exports", exports)]
}

/// The functions of the header, sorted: what the libraries export.
fn exports(header: &Header) -> String {
    let mut names: Vec<&str> = header.functions.iter().map(|function| function.name.as_str()).collect();
    names.sort_unstable();
    names.join("\n") + "\n"
}

pub fn bless(env: &Env) -> ExitCode {
    for (file, text) in files(env) {
        let path = env.root.join(file);
        // An unchanged file keeps its time, so that nothing is rebuilt for it.
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if let Err(error) = fs::write(&path, text) {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
        println!("wrote {file}");
    }
    ExitCode::SUCCESS
}

pub fn run(env: &Env, report: &mut Report) {
    for (file, text) in files(env) {
        let committed = fs::read_to_string(env.root.join(file)).unwrap_or_default();
        drift(file, &committed, &text, report);
    }
}

/// Fails when a committed file is not what is generated, with the first line that differs.
pub fn drift(file: &str, committed: &str, generated: &str, report: &mut Report) {
    if report.check(committed == generated, format!("{file} is not what the sources generate: run `make header`")) {
        return;
    }
    let same = committed.lines().zip(generated.lines()).take_while(|(old, new)| old == new).count();
    report.note(format!(
        "{file} line {}: committed \"{}\", generated \"{}\"",
        same + 1,
        committed.lines().nth(same).unwrap_or("(end)"),
        generated.lines().nth(same).unwrap_or("(end)"),
    ));
}
