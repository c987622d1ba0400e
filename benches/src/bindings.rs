//! Measures the cost of a call in each language: a program for each language in `bindings`, and one in C, do the same
//! work in processes of their own. A further program for each language does it with the language's own URL parser.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::chart;
use crate::program::Program;
use crate::report::{Measured, Row, Table};
use crate::rng::Rng;
use crate::timing::{median, median_ratio};

const URL: &str = "https://user@www.example.com:8443/documents/2026/report.html?page=2&lang=en#results";
/// The number of URLs that a program parses in each round.
const COUNT: usize = 20_000;
const ROUNDS: usize = 11;

const C: &str = "C";
/// The program in C, which `scripts/bench` compiles.
const C_PROGRAM: &str = "target/bench/bindings-c";

/// The languages whose program `cost` has no URL parser of the language.
const WITHOUT_OWN: [&str; 2] = [C, "luajit"];

/// Runs the programs in rounds, and prints the table.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    let mut programs = Vec::new();
    let mut rows = Vec::new();
    for (name, path) in paths()? {
        for own in [None, Some("own")].into_iter().take(if WITHOUT_OWN.contains(&&name[..]) { 1 } else { 2 }) {
            let count = COUNT.to_string();
            let arguments = [URL, &count].into_iter().chain(own);
            programs.push(Program::start(&name, Command::new(&path).args(arguments))?);
            rows.push(Row::new(&own.map_or(name.clone(), |_| own_name(&name))));
        }
    }
    let mut order: Vec<usize> = (0..programs.len()).collect();
    let mut results = BTreeSet::new();
    // The first rounds are a warm-up: the just-in-time compilers of Java and JavaScript work while the program runs.
    for round in 0..ROUNDS + 2 {
        rng.shuffle(&mut order);
        for &i in &order {
            let pass = programs[i].pass("")?;
            results.insert(pass.printed);
            if round >= 2 {
                rows[i].times.push(pass.processor / COUNT as f64);
            }
        }
    }
    if results.len() != 1 {
        return Err(format!("bindings: the programs have different results: {results:?}"));
    }
    println!(
        "Bindings: ns of processor time to parse a URL, get five components and free the URL; the median of {ROUNDS} \
         rounds in shuffled order; ratios are made in each round\n"
    );
    let times = |name: &str| rows.iter().find(|row| row.name == name).map(|row| &row.times);
    let mut table = Table::new(&["", "netlib, ns", "ratio to C", "own parser, ns", "ratio of netlib to it"]);
    for row in rows.iter().filter(|row| !row.name.ends_with(OWN)) {
        let own = times(&own_name(&row.name));
        table.row(vec![
            row.name.clone(),
            format!("{:.1}", median(&row.times)),
            times(C).map_or("-".into(), |c| format!("{:.2}", median_ratio(&row.times, c))),
            own.map_or("-".into(), |own| format!("{:.1}", median(own))),
            own.map_or("-".into(), |own| format!("{:.2}", median_ratio(&row.times, own))),
        ]);
    }
    table.print();
    let measured = Measured { name: "parse_url, five getters, free".into(), references: &[C], rows };
    chart::write("bindings", "Bindings: parse a URL, get five components, free the URL", &chart::times(&[measured]))
}

/// The end of the name of a row for the URL parser of a language.
const OWN: &str = ", own parser";

fn own_name(language: &str) -> String {
    format!("{language}{OWN}")
}

/// Returns the languages, in alphabetical order after C, with their programs. `scripts/bench` has built the packages;
/// languages without a package are left out.
fn paths() -> Result<Vec<(String, String)>, String> {
    let entries = fs::read_dir("bindings").map_err(|e| format!("bindings: {e}"))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let built: BTreeSet<String> =
        names.filter(|name| fs::exists(format!("target/bench/built-{name}")).unwrap_or(false)).collect();
    let others = built.into_iter().map(|name| (name.clone(), format!("bindings/{name}/cost")));
    Ok([(C.to_owned(), C_PROGRAM.to_owned())].into_iter().chain(others).collect())
}
