//! Checks that the generated files in the repository are up to date with their sources.

use std::fs;
use std::process::ExitCode;

use crate::cdef;
use crate::cpp;
use crate::description;
use crate::env::Env;
use crate::header;
use crate::model::Header;
use crate::pages;
use crate::pictures;
use crate::report::Report;
use crate::suites::printed::programs_of_markdown;
use crate::suites::{packaging, statuses};

/// Returns the path and text of each generated file.
fn files(env: &Env) -> Vec<(String, String)> {
    let text = header::generate(&env.root);
    let parsed = Header::parse(&text);
    let symbols = packaging::symbols(env, &parsed);
    let mut files = vec![
        ("include/netlib.api.json", description::generate(&parsed)),
        ("include/netlib.cdef.h", cdef::generate(&parsed)),
        ("include/netlib.hpp", cpp::generate(&env.root, &parsed)),
        ("include/netlib.h", text),
        ("docs/reference/statuses.md", statuses::page()),
    ];
    files.extend(pages::all(env));
    files.extend(pictures::all(env));
    files.into_iter().map(|(file, text)| (file.to_owned(), text)).chain([symbols]).collect()
}

pub fn bless(env: &Env) -> ExitCode {
    for (file, text) in files(env) {
        let path = env.root.join(&file);
        // Unchanged files are not written, so that their modification time causes no rebuild.
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
        let committed = fs::read_to_string(env.root.join(&file)).unwrap_or_default();
        drift(&file, &committed, &text, report);
    }
    first_guide(env, report);
    boundary(env, report);
}

/// Checks that the README and the first page of netlib.h have the same paragraph about features that netlib lacks.
fn boundary(env: &Env, report: &mut Report) {
    let paragraph = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "*").collect();
        words.join(" ")
    };
    let of = |text: &str, end: &str| {
        let start = text.find("netlib does not implement HTTP/2")?;
        text[start..].split(end).next().map(paragraph)
    };
    let (readme, header) = (of(&env.read("README.md"), "\n\n"), of(&env.header_text(), "\n *\n"));
    report.check(
        readme.is_some() && readme == header,
        format!("README and netlib.h state the same features that netlib lacks\n{readme:?}\n{header:?}"),
    );
}

/// Checks that the program of the first guide is examples-c/get.c, except its usage line and its comment at the top.
fn first_guide(env: &Env, report: &mut Report) {
    let code = |text: &str| {
        let lines = text.lines().skip_while(|line| !line.starts_with("#include"));
        lines.filter(|line| !line.contains("usage:")).map(|line| line.to_owned() + "\n").collect::<String>()
    };
    let guide = programs_of_markdown(&env.read("docs/guide/first-request.md"), "c");
    let example = code(&env.read("examples-c/get.c"));
    report.check(code(&guide.concat()) == example, "the program of docs/guide/first-request.md is examples-c/get.c");
}

/// Fails if the committed file differs from the generated text, and names the first line that differs.
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
