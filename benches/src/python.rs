//! Compares Python programs that use netlib with programs that use Python's own modules: HTTPS requests with urllib3,
//! whose TLS is that of the ssl module or that of netlib, and URLs. Each program runs in a process of its own on the first
//! processor; the server runs on the second one.

use std::process::Command;

use crate::chart::{self, Bar, Group};
use crate::client::server::Server;
use crate::processors::{Processor, pin};
use crate::program::Program;
use crate::report::Table;
use crate::rng::Rng;
use crate::timing::{median, median_ratio};

const ROUNDS: usize = 11;
/// The script that runs the program. `scripts/bench` builds the package only if the tools are installed.
const PROGRAM: &str = "bindings/python/speed";
const BUILT: &str = "target/bench/built-python";
const AUTHORITY: &str = "tests/certs/ca.pem";

/// The work for a line of input: its name, the line, the number of operations, and the unit of the rate.
struct Work {
    title: &'static str,
    line: &'static str,
    count: usize,
    unit: &'static str,
    variants: &'static [&'static str],
}

/// The names of the variants of bindings/python/speed.py. The first one of each work is the reference.
const TLS: &[&str] = &["ssl", "netlib", "netlib, no resumption"];
const WORKS: &[Work] = &[
    Work { title: "new connections", line: "connections 200", count: 200, unit: "connections/s", variants: TLS },
    Work { title: "keep-alive", line: "requests 1000", count: 1000, unit: "requests/s", variants: TLS.split_at(2).0 },
    Work { title: "download", line: "download 128", count: 128, unit: "MiB/s", variants: TLS.split_at(2).0 },
    Work { title: "parse_url", line: "urls 5000", count: 5000, unit: "URLs/s", variants: &["urllib3", "netlib"] },
];

/// Runs the programs in rounds, and prints the table.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    if !std::path::Path::new(BUILT).exists() {
        eprintln!("python: skipped: the Python package is not built");
        return Ok(());
    }
    let server = Server::start()?;
    pin(Processor::Client);
    println!(
        "Python: processor time of the program and rate; medians of {ROUNDS} rounds in shuffled order; ratios are made \
         in each round\n"
    );
    let url = format!("https://localhost:{}/", server.port);
    let mut table = Table::new(&["", "us of processor time", "ratio", "rate", "", "ratio"]);
    let mut groups = Vec::new();
    for work in WORKS {
        let mut programs = Vec::new();
        for variant in work.variants {
            programs.push(Program::start(variant, Command::new(PROGRAM).args([variant, &url[..], AUTHORITY]))?);
        }
        let mut processor = vec![Vec::new(); programs.len()];
        let mut elapsed = vec![Vec::new(); programs.len()];
        let mut order: Vec<usize> = (0..programs.len()).collect();
        for round in 0..=ROUNDS {
            rng.shuffle(&mut order);
            for &i in &order {
                let pass = programs[i].pass(work.line)?;
                if pass.printed != work.count.to_string() {
                    return Err(format!("{}: {}: printed {}", work.title, work.variants[i], pass.printed));
                }
                if round > 0 {
                    processor[i].push(pass.processor / work.count as f64);
                    elapsed[i].push(pass.elapsed / work.count as f64);
                }
            }
        }
        let mut bars = Vec::new();
        for (i, variant) in work.variants.iter().enumerate() {
            let (us, rate) = (median(&processor[i]) / 1e3, 1e9 / median(&elapsed[i]));
            table.row(vec![
                format!("{}: {variant}", work.title),
                format!("{us:.1}"),
                format!("{:.3}", median_ratio(&processor[i], &processor[0])),
                format!("{rate:.0}"),
                work.unit.to_owned(),
                format!("{:.3}", median_ratio(&elapsed[0], &elapsed[i])),
            ]);
            let text = format!("{us:.1} µs; {rate:.0} {}", work.unit);
            let is_netlib = variant.starts_with("netlib");
            bars.push(Bar { label: (*variant).to_owned(), value: us, text, is_netlib });
        }
        groups.push(Group { name: format!("{}: processor time, rate", work.title), bars });
    }
    table.print();
    chart::write("python", "Python: processor time of the program", &groups)
}
