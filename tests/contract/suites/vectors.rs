//! Runs the programs of c-tests/vectors, which call netlib through the C ABI and compare its results with those
//! recorded from urllib3. Every case with different results belongs to a class of the table `differences`. Every class
//! that the table marks as compared by the vectors has a case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::data::Table;
use crate::env::{Env, Ran, has, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::{VALGRIND, take_counts};
use crate::suites::named_tests::NamedTests;

const SECONDS: u64 = 300;
/// The maximum number of classes of differences that have cases.
const CLASSES: usize = 27;

/// For each class of differences, the number of cases whose results differ.
pub type Hits = BTreeMap<String, usize>;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("vectors");
    let programs = env.files("c-tests/vectors", "", ".c");
    let mut hits = Hits::new();
    for (source, ran) in
        programs.iter().zip(parallel(&programs, |source| program(env, source, &scratch, env.library(), &[], &[])))
    {
        match ran {
            Ok(ran) => take(stem(source), &ran, &mut hits, report),
            Err(text) => report.fail(format!("{} does not compile\n{text}", source.display())),
        }
    }
    check(env, &Table::load(env, "differences"), &hits, report);
}

/// Runs a sample of the cases under valgrind to find memory errors; [`run`] checks the results of all cases.
pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let (library, scratch) = (env.development_library(), env.scratch("vectors-leaks"));
    let mut under_valgrind = vec!["valgrind"];
    under_valgrind.extend(VALGRIND);
    let programs = env.files("c-tests/vectors", "", ".c");
    for (source, ran) in programs
        .iter()
        .zip(parallel(&programs, |source| program(env, source, &scratch, library, &under_valgrind, &["50".as_ref()])))
    {
        let text = ran.map_or_else(Some, |ran| (!ran.ok).then_some(ran.text));
        report.check(text.is_none(), format!("{} under valgrind\n{}", stem(source), text.unwrap_or_default()));
    }
}

/// Compiles and runs a program. `before` is a command that runs the program, for example valgrind with its arguments;
/// it may be empty.
pub fn program(
    env: &Env,
    source: &Path,
    scratch: &Path,
    library: &Path,
    before: &[&str],
    arguments: &[&Path],
) -> Result<Ran, String> {
    let program = scratch.join(stem(source));
    env.compile(source, &program, library)?;
    let mut command: Vec<PathBuf> = before.iter().map(PathBuf::from).collect();
    command.push(program);
    command.extend(arguments.iter().map(PathBuf::from));
    Ok(env.command(&command[0]).args(&command[1..]).load_from(library).run(SECONDS))
}

/// Adds the numbers of passed and failed cases, and the number of cases of each class. Reports the versions that the
/// program prints.
pub fn take(what: &str, ran: &Ran, hits: &mut Hits, report: &mut Report) {
    take_counts(what, ran, report);
    for line in ran.out.lines() {
        let class = line.strip_prefix("class ").and_then(|rest| rest.strip_suffix(" cases")?.split_once(": "));
        if let Some((class, count)) = class {
            *hits.entry(class.to_owned()).or_default() += count.parse::<usize>().unwrap_or(0);
        } else if line.contains(" vectors, urllib3 ") {
            report.note(line);
        }
    }
}

/// Compares the table `differences` with the classes of the cases that the programs ran.
pub fn check(env: &Env, table: &Table, hits: &Hits, report: &mut Report) {
    let tests = NamedTests::of(env);
    let mut counts = BTreeMap::new();
    for row in &table.rows {
        let [class, compared_by, _, _, reason, named] = row.as_slice() else {
            unreachable!("the table has six columns")
        };
        match compared_by.as_str() {
            "vectors" => {
                let count = hits.get(class).copied().unwrap_or(0);
                report.check(count > 0, format!("no case of the vectors is of the class {class}"));
                counts.insert(class.as_str(), count);
            }
            "tests" => {}
            other => report.fail(format!("{class} is compared by \"{other}\", neither vectors nor tests")),
        }
        report.check(
            ["specification", "project decision", "RFC "].iter().any(|source| reason.contains(source)),
            format!("the reason of {class} names neither the specification, nor a project decision, nor an RFC"),
        );
        report.problems(class, tests.missing(named));
    }
    report.check(counts.len() <= CLASSES, format!("{} classes with cases, more than {CLASSES}", counts.len()));
    for (class, count) in hits.iter().filter(|(class, _)| !counts.contains_key(class.as_str())) {
        report.fail(format!("no class {class} in the table, but {count} cases"));
    }
    let counted: Vec<String> = counts.iter().map(|(class, count)| format!("{class} {count}")).collect();
    report.note(format!("cases that differ, by class: {}", counted.join(", ")));
}
