//! docs/spec-map.md carries every row of the specification, and what it says is so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::ExitCode;

use crate::env::{Env, name};
use crate::model::Header;
use crate::report::Report;
use crate::suites::{self, incidents};

const FILE: &str = "docs/spec-map.md";

/// How many rows each section of the specification has. It is a document of its own and does not change; where it lies
/// beside the project the map's rows are compared with its rows one by one.
const ROWS: &[(&str, usize)] = &[
    ("1", 8),
    ("2.1", 20),
    ("2.1.1", 5),
    ("2.2", 6),
    ("2.3", 6),
    ("2.4", 13),
    ("2.5", 1),
    ("3.1", 6),
    ("3.2", 3),
    ("4", 1),
    ("4.1", 9),
    ("4.2", 7),
    ("4.3", 4),
    ("4.4", 7),
    ("4.5", 18),
    ("4.6", 6),
    ("4.7", 6),
    ("5", 4),
    ("6", 1),
    ("7", 7),
    ("8", 10),
    ("9", 12),
];

struct Row {
    section: String,
    label: String,
    names: Vec<String>,
    tests: Vec<String>,
    state: State,
    line: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Done,
    NotYet,
    NoMeaning,
    Unknown,
}

pub fn run(env: &Env, report: &mut Report) {
    let spec = ["../shared/spec.md", "../../shared/spec.md"].map(|path| fs::read_to_string(env.root.join(path)));
    let spec = spec.into_iter().find_map(Result::ok);
    check(env, &env.read(FILE), &env.header(), spec.as_deref(), report);
}

pub fn check(env: &Env, map: &str, header: &Header, spec: Option<&str>, report: &mut Report) {
    let rows = rows_of_map(map);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.label.starts_with('…')) {
        *counts.entry(&row.section).or_default() += 1;
    }
    for &(section, count) in ROWS {
        let found = counts.remove(section).unwrap_or(0);
        report
            .check(found == count, format!("section {section} has {count} rows in the specification, {found} here"));
    }
    report.problems("every section is the specification's", counts.keys().map(|key| key.to_string()).collect());
    match spec {
        Some(spec) => compare(&rows, spec, report),
        None => report.note("the specification is not here: rows were counted, not compared"),
    }
    let tests = Tests::of(env);
    for row in &rows {
        report.problems(
            format!("{FILE} line {}, {} {}", row.line, row.section, row.label),
            problems(row, header, &tests),
        );
    }
    let count = |state: State| rows.iter().filter(|row| row.state == state).count();
    report.note(format!(
        "{} rows done, {} not built yet, {} without a meaning in C",
        count(State::Done),
        count(State::NotYet),
        count(State::NoMeaning)
    ));
    let ready =
        rows.iter().filter(|row| row.state == State::NotYet && is_ready(row, header, &tests).is_some()).count();
    if ready > 0 {
        report.note(format!("{ready} rows could be marked as done: `make spec-map` lists them"));
    }
}

fn problems(row: &Row, header: &Header, tests: &Tests) -> Vec<String> {
    let mut problems = Vec::new();
    match row.state {
        State::Unknown => problems.push("its state is none of the three".to_owned()),
        State::NoMeaning if !row.names.is_empty() => problems.push("it has names and no meaning".to_owned()),
        State::NoMeaning | State::NotYet => {}
        State::Done => {
            if row.names.is_empty() || row.tests.is_empty() {
                problems.push("it is done without a name or without a test".to_owned());
            }
            problems.extend(
                row.names.iter().filter(|name| !header.declares(name)).map(|name| format!("netlib.h has no {name}")),
            );
            problems.extend(
                row.tests.iter().filter(|test| tests.text(test).is_none()).map(|test| format!("no test {test} runs")),
            );
            problems.extend(
                row.names
                    .iter()
                    .filter(|name| {
                        !row.tests.iter().any(|test| !test.starts_with("netns/") && tests.mentions(test, name))
                    })
                    .map(|name| format!("none of its tests uses {name}")),
            );
            let of_use = |test: &&String| row.names.iter().any(|name| tests.mentions(test, name));
            problems.extend(
                // A story connects by story.h, which uses the names.
                row.tests
                    .iter()
                    .filter(|test| !of_use(test) && !test.starts_with("netns/"))
                    .map(|test| format!("{test} uses none of its names")),
            );
        }
    }
    problems
}

/// The tests that would make a row done, if its names are in the header and each stands in a test.
fn is_ready(row: &Row, header: &Header, tests: &Tests) -> Option<Vec<String>> {
    let of_use = |test: &&String| row.names.iter().any(|name| tests.mentions(test, name));
    let mut needed: Vec<String> = row.tests.iter().filter(of_use).cloned().collect();
    for name in &row.names {
        if !header.declares(name) {
            return None;
        }
        if !needed.iter().any(|test| tests.mentions(test, name)) {
            needed.push(tests.c_programs().find(|test| tests.mentions(test, name))?.to_owned());
        }
    }
    (!row.names.is_empty()).then_some(needed)
}

/// The tests a map may name, with their text: C programs, stories of networks, Rust files with unit tests, suites. Also one
/// function of a file. Stories do not run on every machine, so a name needs another test beside one.
struct Tests(BTreeMap<String, String>);

impl Tests {
    fn of(env: &Env) -> Tests {
        let mut tests = BTreeMap::new();
        for file in env.c_tests() {
            tests.insert(name(&file).to_owned(), fs::read_to_string(&file).unwrap_or_default());
        }
        for file in env.files("c-tests/netns", "", ".c") {
            tests.insert(format!("netns/{}", name(&file)), fs::read_to_string(&file).unwrap_or_default());
        }
        for file in suites::unsafe_code::rust_files(&env.root.join("src")) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            if text.contains("#[test]") {
                let path = file.strip_prefix(&env.root).unwrap_or(&file);
                tests.insert(path.to_string_lossy().into_owned(), text);
            }
        }
        // What a suite checks is not in one text: it is taken at its word.
        tests.extend(suites::ALL.iter().map(|suite| (suite.name.to_owned(), String::new())));
        Tests(tests)
    }

    /// Of "file:function" it is the text of the function.
    fn text(&self, test: &str) -> Option<&str> {
        match test.split_once(':') {
            Some((file, function)) => incidents::body_of_test(file, self.0.get(file)?, function),
            None => self.0.get(test).map(String::as_str),
        }
    }

    fn c_programs(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|name| name.ends_with(".c"))
    }

    fn mentions(&self, test: &str, name: &str) -> bool {
        match self.text(test) {
            Some("") => true,
            Some(text) => text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name),
            None => false,
        }
    }
}

fn rows_of_map(map: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut section = String::new();
    for (at, line) in map.lines().enumerate() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.split(' ').next().unwrap_or("").to_owned();
        }
        let cells: Vec<&str> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|') || section.is_empty() || cells.len() != 4 || cells[0] == "row" {
            continue;
        }
        let words = |cell: &str| {
            let words = cell.split_whitespace().map(|word| word.trim_matches('`').to_owned());
            words.filter(|word| word != "—").collect::<Vec<_>>()
        };
        let state = match cells[3] {
            "done" => State::Done,
            state if state.starts_with("not built yet, issue ") => State::NotYet,
            state if state.strip_prefix("no C meaning: ").is_some_and(|why| !why.is_empty()) => State::NoMeaning,
            _ => State::Unknown,
        };
        rows.push(Row {
            section: section.clone(),
            label: cells[0].to_owned(),
            names: words(cells[1]),
            tests: words(cells[2]),
            state,
            line: at + 1,
        });
    }
    rows
}

/// The map's rows against the specification's, one by one.
fn compare(rows: &[Row], spec: &str, report: &mut Report) {
    let mut mapped = rows.iter().filter(|row| !row.label.starts_with('…'));
    for (section, label) in rows_of_spec(spec) {
        let row = mapped.next();
        let same = row.is_some_and(|row| row.section == section && row.label == label);
        let here = row.map_or("nothing".to_owned(), |row| format!("{} {}", row.section, row.label));
        if !report.check(same, format!("the specification has \"{section} {label}\" where the map has \"{here}\"")) {
            return;
        }
    }
    report.check(mapped.next().is_none(), "the map has rows after the specification's last");
}

/// The section and label of each table row, list item and paragraph. A label is the first cell, with the second where
/// the first says too little, or the beginning of the text.
fn rows_of_spec(spec: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut section = None;
    let mut lines = spec.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            let number = line.trim_start_matches('#').trim().split(' ').next().unwrap_or("").trim_end_matches('.');
            if number.starts_with(|c: char| c.is_ascii_digit()) {
                section = Some(number.to_owned());
            }
            continue;
        }
        let Some(section) = &section else { continue };
        if line.starts_with('|') {
            // The head and the rule under it.
            lines.next();
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push((
                    section.clone(),
                    row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect(),
                ));
            }
        } else if !line.is_empty() && !line.ends_with(':') {
            let item = line.strip_prefix("- ").unwrap_or(line);
            let item = match item.split_once(". ") {
                Some((number, text)) if number.chars().all(|c| c.is_ascii_digit()) => text,
                _ => item,
            };
            rows.push((section.clone(), vec![item.to_owned()]));
        }
    }
    let firsts: Vec<(String, String)> =
        rows.iter().map(|(section, cells)| (section.clone(), cells[0].clone())).collect();
    let repeated: BTreeSet<&(String, String)> =
        firsts.iter().filter(|first| firsts.iter().filter(|other| other == first).count() > 1).collect();
    let label = |((section, cells), first): (&(String, Vec<String>), &(String, String))| {
        let unclear = repeated.contains(first) || cells[0].chars().all(|c| c.is_ascii_digit());
        let label =
            if cells.len() > 1 && unclear { format!("{} · {}", cells[0], cells[1]) } else { cells[0].clone() };
        (section.clone(), shorten(&label))
    };
    rows.iter().zip(&firsts).map(label).collect()
}

fn shorten(label: &str) -> String {
    if label.chars().count() <= 70 {
        return label.to_owned();
    }
    let start: String = label.chars().take(70).collect();
    format!("{} …", start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words))
}

/// Prints what could be marked as done, and marks it when asked to.
pub fn flip(env: &Env, write: bool) -> ExitCode {
    let map = env.read(FILE);
    let (header, tests) = (env.header(), Tests::of(env));
    let mut lines: Vec<String> = map.lines().map(str::to_owned).collect();
    let mut changed = 0;
    for row in rows_of_map(&map) {
        let found = problems(&row, &header, &tests);
        for problem in &found {
            println!("line {}, {} {}: {problem}", row.line, row.section, row.label);
        }
        if row.state != State::NotYet {
            continue;
        }
        let missing: Vec<&str> = row.names.iter().filter(|name| !header.declares(name)).map(String::as_str).collect();
        match is_ready(&row, &header, &tests) {
            Some(needed) => {
                println!(
                    "line {}, {} {}: could be done, tests {}",
                    row.line,
                    row.section,
                    row.label,
                    needed.join(" ")
                );
                let cells: Vec<&str> = lines[row.line - 1].split(" | ").collect();
                lines[row.line - 1] = format!("{} | {} | {} | done |", cells[0], cells[1], needed.join(" "));
                changed += 1;
            }
            None if missing.is_empty() => {
                println!(
                    "line {}, {} {}: its names are there, but a C test of one is not",
                    row.line, row.section, row.label
                );
            }
            None if missing.len() < row.names.len() => {
                println!("line {}, {} {}: still missing {}", row.line, row.section, row.label, missing.join(" "));
            }
            None => {}
        }
    }
    println!("{changed} rows could be marked as done");
    if write && changed > 0 {
        if let Err(error) = fs::write(env.root.join(FILE), lines.join("\n") + "\n") {
            eprintln!("{FILE}: {error}");
            return ExitCode::FAILURE;
        }
        println!("and are, in {FILE}: look at the difference");
    }
    ExitCode::SUCCESS
}
