//! docs/incidents.md has every incident that netlib answers for by now, and each names tests that run.

use std::collections::BTreeSet;
use std::fs;

use crate::env::Env;
use crate::report::Report;

const FILE: &str = "docs/incidents.md";

/// How many incidents there are to answer for.
const INCIDENTS: u32 = 38;

pub fn run(env: &Env, report: &mut Report) {
    check(env, &env.read(FILE), report);
}

pub fn check(env: &Env, table: &str, report: &mut Report) {
    let mut seen = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| R")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let &[row, rule, tests] = cells.as_slice() else {
            report.fail(format!("{FILE}: not a row, a rule and tests: {line}"));
            continue;
        };
        let number = row.strip_prefix('R').and_then(|number| number.parse::<u32>().ok());
        report.check(number.is_some_and(|number| seen.insert(number)), format!("{FILE} {row}: a number, once"));
        report.check(!rule.is_empty(), format!("{FILE} {row}: it has no rule"));
        report.problems(format!("{FILE} {row}"), problems(env, tests));
    }
    let missing = (1..=INCIDENTS).filter(|number| !seen.contains(number));
    report.problems("every incident has its row", missing.map(|number| format!("{FILE} has no R{number}")).collect());
}

/// `file`: `test`, `test`; `other file`: `test`.
fn problems(env: &Env, tests: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut file, mut named) = (None, 0);
    for name in tests.split('`').skip(1).step_by(2) {
        if name.contains('/') {
            file = fs::read_to_string(env.root.join(name)).ok().map(|text| (name, text));
            if file.is_none() {
                problems.push(format!("there is no {name}"));
            }
            continue;
        }
        named += 1;
        match &file {
            Some((path, text)) if body_of_test(path, text, name).is_none() => {
                problems.push(format!("no test {name} runs in {path}"));
            }
            Some(_) => {}
            None => problems.push(format!("{name} is in no file")),
        }
    }
    if named == 0 {
        problems.push("it names no test".to_owned());
    }
    problems
}

/// The text of a test function, if it would run: in C and in a suite one that is called, or stands in a row of a table,
/// else one marked as a test.
pub fn body_of_test<'a>(file: &str, text: &'a str, function: &str) -> Option<&'a str> {
    let in_c = file.ends_with(".c");
    let definition = if in_c { format!("static void {function}(") } else { format!("fn {function}(") };
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.trim_start().starts_with(&definition))?;
    let runs = match in_c || file.starts_with("tests/") {
        true => {
            let call = format!("{function}(");
            // Behind the quoted name.
            let words = |row: &'a str| row.split('"').skip(2).step_by(2).flat_map(|rest| rest.split([' ', ',', '}']));
            let is_in_row = |row: &'a str| row.starts_with("{\"") && words(row).any(|word| word == function);
            lines
                .iter()
                .filter(|line| line.starts_with(' '))
                .map(|line| line.trim_start())
                .any(|line| line.starts_with(&call) || in_c && is_in_row(line))
        }
        // Other attributes may stand between.
        false => lines[..start]
            .iter()
            .rev()
            .map(|line| line.trim())
            .take_while(|line| line.starts_with("#["))
            .any(|line| line == "#[test]"),
    };
    let indent = lines[start].len() - lines[start].trim_start().len();
    let brace = format!("{}}}", " ".repeat(indent));
    let end = start + lines[start..].iter().position(|line| *line == brace)?;
    let offset = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    runs.then(|| text.get(offset(lines[start])..offset(lines[end]) + brace.len()))?
}
