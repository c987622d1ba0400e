//! Runs the simulations of examples-c/storm, and compares their output with the recorded output in docs/pictures. The
//! numbers of the recorded table must show that budgets bound the load, and that the server recovers with them. The guide
//! must quote the same numbers.

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
                    "docs/pictures/storm.txt" => {
                        check_table(&text, report);
                        check_guide(&env.read("docs/guide/retries-at-scale.md"), &text, report);
                    }
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

/// Checks that the guide quotes the numbers of the table.
pub fn check_guide(guide: &str, table: &str, report: &mut Report) {
    let guide = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = |heading: &str, start: &str| -> Vec<&str> {
        let rows = table.lines().skip_while(|line| !line.starts_with(heading));
        let words = rows.map(|line| line.split_whitespace().collect::<Vec<_>>());
        let start: Vec<&str> = start.split(' ').collect();
        words.into_iter().find(|words| words.starts_with(&start)).unwrap_or_default()
    };
    let word =
        |heading: &str, start: &str, at: usize| row(heading, start).get(at).copied().unwrap_or("no row").to_owned();
    let outages = |policy: &str, at| thousands(&word("Retries in outages", &format!("{policy} 600 s"), at));
    let mut phrases = vec![
        format!("retries of ten processes for {} requests, with an outage of ten minutes", outages("aws-2026", 3)),
        format!(
            "goodput during a ramp is {} requests per second with hedging, and {} without",
            word("queue:", "hedge ramp", 5),
            word("queue:", "aws-2026 ramp", 5)
        ),
        format!("the server needs {} seconds to recover", word("The thousand clients", "aws-2026 1000", 4)),
    ];
    phrases.extend(BUDGETS.iter().map(|policy| format!("| {} |", outages(policy, 4))));
    for phrase in phrases {
        report.check(guide.contains(&phrase), format!("the guide does not contain \"{phrase}\""));
    }
    let recoveries: Vec<String> =
        BUDGETS.iter().map(|policy| word("queue:", &format!("{policy} outage"), 11)).collect();
    let (first, last) = (recoveries.iter().min(), recoveries.iter().max());
    report.check(
        first.is_some_and(|seconds| seconds == "2") && last.is_some_and(|seconds| seconds == "5"),
        format!("the guide says that the queue recovers in two to five seconds, and the table says {recoveries:?}"),
    );
    for policy in BUDGETS {
        let never = ["finagle", "envoy"].contains(policy);
        let text = "the guide says that FINAGLE and ENVOY never recover, and the other presets do";
        let spike = row("database-280:", &format!("{policy} spike"));
        report.check(spike.ends_with(&["never"]) == never, format!("{text}: {spike:?}"));
        let processes = row("The thousand clients", &format!("{policy} 1000"));
        report.check(processes.ends_with(&["never"]) == never, format!("{text}: {processes:?}"));
    }
}

/// Writes a number with a comma after each thousand.
fn thousands(number: &str) -> String {
    let groups: Vec<_> = number.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
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
