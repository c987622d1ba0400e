//! Runs the simulations of examples-c/storm, and compares their output with the recorded output in docs/pictures. The
//! numbers of the recorded table must show that budgets bound the load, and that the server recovers with them.

use crate::env::{Env, parallel};
use crate::pictures::STORM_RECORDINGS;
use crate::report::Report;
use crate::suites::examples;

/// Runs the simulations. Returns the path of each recording, and the text to record.
pub fn outputs(env: &Env) -> Result<Vec<(&'static str, String)>, String> {
    let program = env.scratch("storm").join("storm");
    let example = examples::programs(env).into_iter().find(|example| example.name == "storm");
    examples::build(env, &example.ok_or("there is no examples-c/storm.c")?, &program, env.library())?;
    let run = |(file, argument): &(&'static str, &str)| {
        let ran = env.command(&program).arg(argument).load_from(env.library()).run(900);
        if ran.ok { Ok((*file, ran.out)) } else { Err(format!("storm {argument} failed\n{}", ran.text)) }
    };
    parallel(STORM_RECORDINGS, run).into_iter().collect()
}

pub fn run(env: &Env, report: &mut Report) {
    match outputs(env) {
        Ok(outputs) => {
            for (file, text) in outputs {
                compare(file, &env.read(file), &text, report);
                match file {
                    "docs/pictures/storm.txt" => check_table(&text, report),
                    "docs/pictures/storm-phases.csv" => check_phases(&text, report),
                    _ => {}
                }
            }
        }
        Err(text) => report.fail(text),
    }
}

/// Fails if the recorded output differs from a new one, and names the first line that differs.
fn compare(file: &str, recorded: &str, text: &str, report: &mut Report) {
    let differing = recorded.lines().zip(text.lines()).enumerate().find(|(_, (old, new))| old != new);
    let what = match differing {
        Some((line, (old, new))) => format!("line {}: recorded \"{old}\", printed \"{new}\"", line + 1),
        None => format!("recorded {} lines, printed {}", recorded.lines().count(), text.lines().count()),
    };
    report.check(recorded == text, format!("{file} is not what examples-c/storm prints: {what}; run `make storm`"));
}

/// The policies with only a budget, without a breaker and hedging; and the policies that retry without a budget.
const BUDGETS: &[&str] = &["aws-2026", "aws-2020", "grpc", "finagle", "envoy"];
const UNBOUNDED: &[&str] = &["immediate", "backoff", "jitter"];
/// The servers that a storm of retries can keep overloaded, at 70 % load.
const SERVERS: &[&str] = &["queue", "database"];

/// Checks the numbers of the table: with every budget, the server recovers from every trigger; without a budget, it
/// does not recover from some triggers; and no budget exceeds its bound.
pub fn check_table(table: &str, report: &mut Report) {
    let mut server = "";
    let (mut recoveries, mut storms, mut bounds) = (0, 0, 0);
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let has = |names: &[&str]| words.first().is_some_and(|name| names.contains(name));
        match words.as_slice() {
            [name, ..] if name.ends_with(':') => server = name.trim_end_matches(':'),
            // The row of a policy and a trigger, which ends with the time of recovery.
            [policy, trigger, .., "%", _, "s"] if has(BUDGETS) && SERVERS.contains(&server) => {
                recoveries += usize::from(words.len() == 13);
                report.check(words.len() == 13, format!("{server}, {policy}, {trigger}: {line}"));
            }
            [policy, trigger, .., "never"] if SERVERS.contains(&server) && words.len() == 12 => {
                storms += usize::from(has(UNBOUNDED));
                report.check(has(UNBOUNDED), format!("{server} recovers from {trigger} with {policy}"));
            }
            [policy, outage, "s", requests, retries, _, "%", _, "%", held, ..] => {
                bounds += 1;
                report.check(*held == "yes", format!("{policy} keeps its bound in an outage of {outage} s"));
                check_extra_load(policy, requests, retries, report);
            }
            _ => {}
        }
    }
    report.check(recoveries == BUDGETS.len() * SERVERS.len() * 5, format!("{recoveries} rows with a budget recover"));
    report.check(storms == 21, format!("{storms} rows without a budget never recover"));
    report.check(bounds == 21, format!("the table has {bounds} rows with bounds"));
}

/// Checks that the retries of AWS_2026 and GRPC are at most 10 % of the requests plus the burst of the ten processes.
fn check_extra_load(policy: &str, requests: &str, retries: &str, report: &mut Report) {
    let burst = match policy {
        "aws-2026" => 10.0 * 500.0 / 14.0,
        "grpc" => 10.0 * 5.0,
        _ => return,
    };
    let (requests, retries) = (requests.parse().unwrap_or(0.0), retries.parse().unwrap_or(f64::INFINITY));
    report.check(
        retries <= 0.1 * requests + burst,
        format!("{policy} sends {retries} retries for {requests} requests"),
    );
}

/// Checks the diagram: without a budget, the server does not recover from some spikes; with a budget, it recovers from
/// all.
pub fn check_phases(csv: &str, report: &mut Report) {
    let lost = |has_budget: bool| {
        let rows = csv.lines().skip(1).filter(|line| line.contains("budget") == has_budget);
        let rows: Vec<&str> = rows.collect();
        (rows.len(), rows.iter().filter(|line| line.ends_with(",-1")).count())
    };
    report.check(lost(true) == (90, 0), format!("with a budget, simulations and failures: {:?}", lost(true)));
    report.check(lost(false).1 > 30, format!("without a budget, simulations and failures: {:?}", lost(false)));
}
