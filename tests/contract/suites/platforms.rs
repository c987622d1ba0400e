//! Checks that the first table of docs/reference/platforms.md has one row for each target of scripts/cross, in the same
//! order.

use crate::env::Env;
use crate::report::Report;

pub const PAGE: &str = "docs/reference/platforms.md";

pub fn run(env: &Env, report: &mut Report) {
    check(&env.read("scripts/cross"), &env.read(PAGE), report);
}

pub fn check(script: &str, page: &str, report: &mut Report) {
    let assigned = script.split_once("\ntargets='").and_then(|(_, rest)| rest.split_once('\''));
    let targets: Vec<&str> = assigned.map_or("", |(targets, _)| targets).split_whitespace().collect();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let rows: Vec<&str> = cells.map(|(target, _)| target).collect();
    report.check(!targets.is_empty(), "scripts/cross assigns its targets to the variable targets");
    report.check(targets == rows, format!("{PAGE} has rows for {rows:?}; scripts/cross has the targets {targets:?}"));
}
