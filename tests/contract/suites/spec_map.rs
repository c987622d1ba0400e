//! Checks that each row of the specification has C names that netlib.h declares, and tests that exist, run and use
//! these names. A row without a meaning in C has a reason instead.

use crate::data::Table;
use crate::env::Env;
use crate::model::Header;
use crate::report::Report;
use crate::suites::named_tests::NamedTests;

/// The number of rows of the specification, which does not change because the specification is complete.
const ROWS: usize = 173;

pub fn run(env: &Env, report: &mut Report) {
    check(env, &Table::load(env, "specification"), &env.header(), report);
}

pub fn check(env: &Env, table: &Table, header: &Header, report: &mut Report) {
    report.check(table.rows.len() == ROWS, format!("{} rows instead of {ROWS}", table.rows.len()));
    let tests = NamedTests::of(env);
    for row in &table.rows {
        let [section, label, names, used] = row.as_slice() else { unreachable!("the table has four columns") };
        let has_meaning = names != "-";
        let problems = match has_meaning {
            true => problems(names, used, header, &tests),
            false if used.starts_with("no C meaning: ") => Vec::new(),
            false => vec!["neither names nor \"no C meaning: \"".to_owned()],
        };
        report.problems(format!("{section} {label}"), problems);
    }
}

fn problems(names: &str, used: &str, header: &Header, tests: &NamedTests) -> Vec<String> {
    let names: Vec<&str> = names.split(' ').collect();
    // Programs in c-tests/netns need not contain the C names, because they call netlib's functions through scenario.h
    // and cannot run on every machine.
    let used_here: Vec<&str> = used.split(' ').filter(|test| !test.starts_with("netns/")).collect();
    let mut problems = tests.missing(used);
    for name in &names {
        if !header.declares(name) {
            problems.push(format!("netlib.h has no {name}"));
        }
        if !used_here.iter().any(|test| tests.mentions(test, name)) {
            problems.push(format!("none of its tests uses {name}"));
        }
    }
    for test in used_here {
        if tests.text(test).is_some() && !names.iter().any(|name| tests.mentions(test, name)) {
            problems.push(format!("{test} uses none of its names"));
        }
    }
    problems
}
