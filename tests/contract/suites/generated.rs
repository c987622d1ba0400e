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
use crate::suites::named_tests::files_below;
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
    programs(env, report);
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
    let guide = programs_of_markdown(&env.read("docs/guide/first-request.md"));
    let example = code(&env.read("examples-c/get.c"));
    report.check(code(&guide.concat()) == example, "the program of docs/guide/first-request.md is examples-c/get.c");
}

/// Compiles and runs the programs in the documentation: the one on the first page of netlib.h, and those in README and
/// docs/.
fn programs(env: &Env, report: &mut Report) {
    let scratch = env.scratch("header");
    let mut programs = vec![("the program of netlib.h".to_owned(), program_of_header(&env.header_text()))];
    let mut pages = vec![env.root.join("README.md")];
    pages.extend(files_below(&env.root.join("docs"), "md"));
    for page in &pages {
        let text = fs::read_to_string(page).unwrap_or_default();
        let what = format!("a program of {}", page.strip_prefix(&env.root).unwrap_or(page).display());
        programs.extend(programs_of_markdown(&text).into_iter().map(|text| (what.clone(), text)));
    }
    for (i, (what, text)) in programs.iter().enumerate() {
        let (source, program) = (scratch.join(format!("program_{i}.c")), scratch.join(format!("program_{i}")));
        fs::write(&source, text).expect("target is writable");
        let built = env.compile(&source, &program, env.library());
        if let Err(text) = &built {
            report.fail(format!("{what} does not compile\n{text}"));
            continue;
        }
        let ran = env.command(&program).load_from(env.library()).run(60);
        if text.contains("usage: ") {
            let is_refused = ran.code == Some(2) && ran.out.is_empty() && ran.text.contains("usage: ");
            report.check(is_refused, format!("{what} prints its usage on stderr and exits with 2\n{}", ran.text));
        } else {
            report.check(ran.ok && !ran.out.is_empty(), format!("{what} runs and prints\n{}", ran.text));
        }
    }
}

/// Returns the example program on the first page of the header: the indented lines after "The program below".
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

/// Returns the fenced C blocks that have a `main`.
fn programs_of_markdown(text: &str) -> Vec<String> {
    let fenced = text.split("```c\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    fenced.map(|(code, _)| code.to_owned() + "\n").filter(|code| code.contains("int main(")).collect()
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
