//! What urllib3 answered, compared through the C ABI: the programs of c-tests/vectors. And docs/differences.md, which must
//! have the classes of the cases that differ, and no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::env::{Env, Ran, has, parallel, stem};
use crate::report::Report;
use crate::suites::c_tests::{VALGRIND, take_counts};

const FILE: &str = "docs/differences.md";
const SECONDS: u64 = 300;
/// The title behind which no class has cases.
const WITHOUT_VECTORS: &str = "\n# Differences without vectors\n";
/// How many classes with cases there may be.
const CLASSES: usize = 27;
/// What each class says of itself, at the beginnings of lines.
const SAYS: [&str; 4] = ["- netlib: ", "- urllib3: ", "- Reason: ", "- Tests: "];

/// How many cases each class covers.
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
    check(env, &env.read(FILE), &hits, report);
}

/// One case of many: what is looked for are the programs' ways, not the answers.
pub fn valgrind(env: &Env, report: &mut Report) {
    if !has("valgrind") {
        return report.skip("valgrind is not installed");
    }
    let (library, scratch) = (env.unoptimised_library(), env.scratch("vectors-leaks"));
    let mut under_valgrind = vec!["valgrind"];
    under_valgrind.extend(VALGRIND);
    let programs = env.files("c-tests/vectors", "", ".c");
    for (source, ran) in programs.iter().zip(parallel(&programs, |source| {
        program(env, source, &scratch, &library, &under_valgrind, &["50".as_ref()])
    })) {
        let text = ran.map_or_else(Some, |ran| (!ran.ok).then_some(ran.text));
        report.check(text.is_none(), format!("{} under valgrind\n{}", stem(source), text.unwrap_or_default()));
    }
}

/// Compiles and runs one of the programs; `before` stands before it on its command line.
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

/// Takes the counts, and notes what the program says of the versions.
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

/// The classes of a part of the document, by name, each item in one line.
fn classes_in(part: &str) -> BTreeMap<&str, String> {
    let sections = part.split("\n## ").skip(1);
    let named = sections.map(|section| section.split_once('\n').unwrap_or((section, "")));
    named.map(|(name, text)| (name.trim(), text.replace("\n  ", " "))).collect()
}

/// The document against what the programs met.
pub fn check(env: &Env, document: &str, hits: &Hits, report: &mut Report) {
    let (with_vectors, without) = document.split_once(WITHOUT_VECTORS).unwrap_or((document, ""));
    let (classes, others) = (classes_in(with_vectors), classes_in(without));
    report.check(
        classes.len() <= CLASSES,
        format!("{FILE} has {} classes; {CLASSES} are all there may be", classes.len()),
    );
    for class in classes.keys() {
        report.check(hits.contains_key(*class), format!("{FILE}: no case of the vectors is of the class {class}"));
    }
    for (class, text) in classes.iter().chain(&others) {
        for says in SAYS {
            report
                .check(text.lines().any(|line| line.starts_with(says)), format!("{FILE}: {class} has no \"{says}\""));
        }
        let said = |says: &str| text.lines().find_map(|line| line.strip_prefix(says)).unwrap_or_default();
        let reason = said("- Reason: ");
        report.check(
            ["specification ", "settled", "RFC "].iter().any(|source| reason.contains(source)),
            format!("{FILE}: the reason of {class} is neither the specification, nor settled, nor an RFC"),
        );
        for test in said("- Tests: ").split(' ') {
            report.check(env.root.join(test).is_file(), format!("{FILE}: {class} has no test \"{test}\""));
        }
    }
    for (class, count) in hits {
        report.check(
            classes.contains_key(class.as_str()),
            format!("{FILE} has no class {class}, of which there are {count} cases"),
        );
    }
    let cases = |class: &&str| hits.get(*class).map_or(0, |count| *count);
    let counted: Vec<String> = classes.keys().map(|class| format!("{class} {}", cases(class))).collect();
    report.note(format!("cases that differ, by class: {}", counted.join(", ")));
}
