//! Checks that each incident in the table has a rule, and names tests that exist and run.

use crate::data::Table;
use crate::env::Env;
use crate::report::Report;
use crate::suites::named_tests::NamedTests;

pub fn run(env: &Env, report: &mut Report) {
    check(env, &Table::load(env, "incidents"), report);
}

pub fn check(env: &Env, table: &Table, report: &mut Report) {
    let tests = NamedTests::of(env);
    for (at, row) in table.rows.iter().enumerate() {
        let (id, used) = (&row[0], &row[2]);
        report.check(*id == format!("R{}", at + 1), format!("incident {id} stands where R{} belongs", at + 1));
        report.problems(id, tests.missing(used));
    }
    report.check(table.rows.len() >= INCIDENTS, format!("only {} of {INCIDENTS} incidents", table.rows.len()));
}

/// The minimum number of incidents in the table. Incidents may be added to the table, but never removed.
const INCIDENTS: usize = 54;
