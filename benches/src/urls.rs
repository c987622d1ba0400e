//! Parsing URLs: the table of `make bench BENCH=url`.

use crate::compare::{Agreement, compare};
use crate::corpus::Corpus;
use crate::report::Table;
use crate::rivals::{Ada, Curl, Netlib, Reading, Timed, Uriparser, UrlCrate};
use crate::rng::Rng;
use crate::timing::{ROUNDS, geometric_mean, median, median_ratio, rounds};

const NETLIB: &str = "target/netlib/libnetlib.so";
const PORTABLE: &str = "target/netlib-portable/libnetlib.so";
const REFERENCE: &str = "ada, g++";

/// netlib first. What cannot be loaded is left out, with the reason.
pub fn parsers() -> Result<Vec<Box<dyn Timed>>, String> {
    let mut parsers: Vec<Box<dyn Timed>> = vec![
        Box::new(Netlib::load("netlib", NETLIB)?),
        Box::new(Ada::load(REFERENCE, "target/bench/libada-g++.so")?),
        Box::new(UrlCrate),
    ];
    let mut optional = |name: &str, parser: Result<Box<dyn Timed>, String>| match parser {
        Ok(parser) => parsers.push(parser),
        Err(reason) => println!("{name}: skipped: {reason}"),
    };
    optional("netlib, portable", Netlib::load("netlib, portable", PORTABLE).map(|p| Box::new(p) as _));
    optional("ada, clang++", Ada::load("ada, clang++", "target/bench/libada-clang++.so").map(|p| Box::new(p) as _));
    optional("uriparser", Uriparser::load().map(|p| Box::new(p) as _));
    optional("libcurl", Curl::load().map(|p| Box::new(p) as _));
    Ok(parsers)
}

/// False: a corpus does not count.
pub fn run(rng: &mut Rng) -> Result<bool, String> {
    let parsers = parsers()?;
    let corpora = Corpus::all();
    println!("\nURLs: parse; read scheme, host, port, path and query with their lengths; free");
    println!(
        "ns per URL of processor time, median of {ROUNDS} shuffled rounds; beside it the ratio to {REFERENCE}, made in each round\n"
    );
    let agreed = agreement(&parsers, &corpora);
    table(rng, &parsers, &corpora, Reading::Five);
    println!("Also read: URL, authority, host with port, request target (of others what they have of these)\n");
    table(rng, &parsers, &corpora, Reading::Nine);
    Ok(agreed)
}

fn agreement(parsers: &[Box<dyn Timed>], corpora: &[Corpus]) -> bool {
    let mut table = Table::new(&[
        "answers",
        "URLs",
        "mean length",
        "equal",
        "equal, normalised",
        "refused by netlib",
        "by the other",
        "by both",
        "different",
    ]);
    let mut all = true;
    for corpus in corpora {
        table.row(vec![corpus.name.into(), corpus.len().to_string(), format!("{:.1}", corpus.mean_length())]);
        for rival in &parsers[1..] {
            let Agreement {
                equal,
                equal_normalised,
                refused_by_netlib,
                refused_by_rival,
                refused_by_both,
                different,
            } = compare(parsers[0].as_ref(), rival.as_ref(), corpus);
            let counts =
                [equal, equal_normalised, refused_by_netlib, refused_by_rival, refused_by_both, different.len()];
            let mut row = vec![format!("  {}", rival.name()), String::new(), String::new()];
            row.extend(counts.map(|count| count.to_string()));
            table.row(row);
            if !different.is_empty() {
                println!(
                    "DOES NOT COUNT: {} on {}: {} answers differ, such as",
                    rival.name(),
                    corpus.name,
                    different.len()
                );
                different.iter().take(5).for_each(|example| println!("  {example}"));
                all = false;
            }
        }
    }
    table.print();
    all
}

fn table(rng: &mut Rng, parsers: &[Box<dyn Timed>], corpora: &[Corpus], reading: Reading) {
    let reference = parsers.iter().position(|parser| parser.name() == REFERENCE).unwrap_or(0);
    let times: Vec<Vec<Vec<f64>>> = corpora
        .iter()
        .map(|corpus| {
            let mut passes: Vec<Box<dyn FnMut() + '_>> =
                parsers.iter().map(|parser| Box::new(|| parser.pass(corpus, reading)) as _).collect();
            rounds(rng, &mut passes)
        })
        .collect();
    let mut titles = vec!["ns per URL"];
    for corpus in corpora {
        titles.extend([corpus.name, "ratio"]);
    }
    titles.extend(["geometric mean", "highest"]);
    let mut table = Table::new(&titles);
    for (i, parser) in parsers.iter().enumerate() {
        let mut row = vec![parser.name().to_owned()];
        let mut ratios = Vec::new();
        for (corpus, times) in corpora.iter().zip(&times) {
            ratios.push(median_ratio(&times[i], &times[reference]));
            row.push(format!("{:.1}", median(&times[i]) / corpus.len() as f64));
            row.push(format!("{:.3}", ratios[ratios.len() - 1]));
        }
        let (mean, highest) = (geometric_mean(&ratios), ratios.iter().copied().fold(0.0, f64::max));
        row.extend([format!("{mean:.3}"), format!("{highest:.3}")]);
        table.row(row);
    }
    table.print();
}
