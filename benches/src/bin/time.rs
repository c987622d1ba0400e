//! `make bench` runs this program, which measures times and prints the tables. Arguments select sections.

use std::collections::HashMap;
use std::process::{Command, ExitCode};

use netlib_bench::report::{self, Measured, Row};
use netlib_bench::rng::Rng;
use netlib_bench::timing::{ROUNDS, rounds};
use netlib_bench::{
    Counts, before, bindings, chart, client, compare_with, growth, overload, programs, python, sections, servers,
    size, sockets, tls, urls,
};

const NAMES: &[&str] = &[
    "url", "resolve", "policy", "heads", "overload", "growth", "sockets", "races", "stopping", "tls", "client",
    "servers", "python", "bindings", "programs", "size",
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the selected benchmarks and prints their tables. Returns false if the results of two URL parsers differ.
fn run() -> Result<bool, String> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = wanted.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(format!("no table {unknown}; there are {}", NAMES.join(" ")));
    }
    if wanted.is_empty() {
        wanted = NAMES.iter().map(|name| name.to_string()).collect();
    }
    let wants = |name: &str| wanted.iter().any(|wanted| wanted == name);
    // The seed determines the order of operations within the rounds, so each run uses the same order.
    let mut rng = Rng::new(1);
    if let Some(path) = before() {
        if wants("size") {
            size::run(Some(&path))?;
        }
        if wanted.iter().any(|name| name != "size") {
            compare_with(&path, &mut rng, wants)?;
        }
        return Ok(true);
    }
    if wants("size") {
        size::run(None)?;
        if wanted.len() == 1 {
            return Ok(true);
        }
    }
    let agree = !wants("url") || urls::check()?;
    let counts = counts(&wanted)?;
    println!(
        "Times: ns of this thread's processor time, the median of {ROUNDS} rounds in shuffled order; ratios are made in each round\n"
    );
    for section in sections(|name| name != "tls" && wants(name))? {
        let mut results = Vec::new();
        for mut group in section.groups {
            let times = rounds(&mut rng, &mut group.operations);
            let rows = group.operations.into_iter().zip(times).map(|(operation, times)| Row {
                allocations: counts
                    .get(&key(section.name, &group.name, &operation.name))
                    .map(|counts| counts.allocations),
                name: operation.name,
                times,
            });
            let rows = rows.collect();
            results.push(Measured { name: group.name, references: group.references, rows });
        }
        println!("{}\n", section.title);
        match section.name {
            "url" | "url, all" => report::side_by_side(&results),
            _ => results.iter().for_each(report::below),
        }
        chart::write(section.name, section.title, &chart::times(&results))?;
        if section.name == "url" {
            report::targets(&results);
        }
        if section.name == "sockets" {
            report::goals(&results, sockets::costs::GOALS);
        }
    }
    if wants("tls") {
        let counts = |group: &str, rival: &str| counts.get(&key("tls", group, rival)).copied();
        match tls::processes::rounds(&mut rng) {
            Ok(rounds) => {
                tls::print(&rounds, &tls::processes::measure(&mut rng)?, counts);
                chart::write("tls", "TLS: processor time of the client", &chart::times(&rounds))?;
            }
            Err(reason) => eprintln!("tls: skipped: {reason}"),
        }
    }
    if wants("overload") {
        overload::run()?;
    }
    if wants("growth") {
        growth::run(&mut rng)?;
    }
    if wants("races") {
        sockets::races(&mut rng)?;
    }
    if wants("stopping") {
        stopping()?;
    }
    if wants("bindings") {
        bindings::run(&mut rng)?;
    }
    // The last tables, because they pin this thread to a processor.
    if wants("client") {
        client::run(&mut rng)?;
    }
    if wants("servers") {
        servers::run(&mut rng)?;
    }
    if wants("programs") {
        programs::run(&mut rng)?;
    }
    if wants("python") {
        python::run(&mut rng)?;
    }
    Ok(agree)
}

fn key(section: &str, group: &str, operation: &str) -> String {
    [section, group, operation].join("\t")
}

/// Returns a command that runs a program in the directory of this program.
fn beside(name: &str) -> Result<Command, String> {
    std::env::current_exe().map(|program| Command::new(program.with_file_name(name))).map_err(|e| e.to_string())
}

/// Runs the program `stopping`, which prints three tables. The comment in stopping.rs explains why `stopping` is a
/// separate program.
fn stopping() -> Result<(), String> {
    let status = beside("stopping")?.status().map_err(|e| format!("stopping: {e}"))?;
    if status.success() { Ok(()) } else { Err("stopping failed".into()) }
}

/// Runs the program `count`, and returns the allocations and system calls per operation that it counted.
fn counts(wanted: &[String]) -> Result<HashMap<String, Counts>, String> {
    let output = beside("count")?.args(wanted).output().map_err(|e| format!("count: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let counts = lines.lines().filter_map(|line| {
        let mut fields = line.rsplitn(5, '\t');
        let mut number = || fields.next()?.parse::<f64>().ok();
        let (waits, writes, reads, allocations) = (number()?, number()?, number()?, number()?);
        Some((fields.next()?.to_owned(), Counts { allocations, reads, writes, waits }))
    });
    Ok(counts.collect())
}
