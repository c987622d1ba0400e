//! Measures the cost of a call in each language: a program for each language in `bindings`, and one in C, do the same
//! work in processes of their own.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::chart;
use crate::program::Program;
use crate::report::{self, Measured, Row};
use crate::rng::Rng;

const URL: &str = "https://user@www.example.com:8443/documents/2026/report.html?page=2&lang=en#results";
/// The number of URLs that a program parses in each round.
const COUNT: usize = 20_000;
const ROUNDS: usize = 11;

const C: &str = "C";
/// The program in C, which `scripts/bench` compiles.
const C_PROGRAM: &str = "target/bench/bindings-c";

/// Runs the programs in rounds, and prints the table.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    let mut programs = Vec::new();
    let mut rows = Vec::new();
    for (name, path) in paths()? {
        programs.push(Program::start(&name, Command::new(path).args([URL, &COUNT.to_string()]))?);
        rows.push(Row::new(&name));
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
    let measured = Measured { name: "parse_url, five getters, free".into(), references: &[C], rows };
    report::without_allocations(&measured);
    chart::write("bindings", "Bindings: parse a URL, get five components, free the URL", &chart::times(&[measured]))
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
