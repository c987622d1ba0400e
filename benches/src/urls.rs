//! Measures parsing URLs with netlib and with other parsers.

use std::rc::Rc;

use crate::compare::{Agreement, compare};
use crate::corpus::Corpus;
use crate::report::Table;
use crate::rivals::{Ada, Curl, Netlib, Reading, Timed, Uriparser, UrlCrate};
use crate::{Group, Operation, PORTABLE, Section};

/// The shared libraries of ada: the same version, compiled by two compilers.
const REFERENCES: &[&str] = &["ada, g++", "ada, clang++"];

/// A parser, or the reason why it is not available.
type Candidate = (&'static str, Result<Rc<dyn Timed>, String>);

fn candidates() -> Vec<Candidate> {
    let netlib = |name, path: &str| (name, Netlib::load(name, path).map(|parser| Rc::new(parser) as Rc<dyn Timed>));
    let ada = |name, path| (name, Ada::load(name, path).map(|parser| Rc::new(parser) as Rc<dyn Timed>));
    vec![
        netlib("netlib", &crate::netlib()),
        netlib("netlib, portable", PORTABLE),
        ada(REFERENCES[0], "target/bench/libada-g++.so"),
        ada(REFERENCES[1], "target/bench/libada-clang++.so"),
        ("url crate", Ok(Rc::new(UrlCrate))),
        ("uriparser", Uriparser::load().map(|parser| Rc::new(parser) as _)),
        ("libcurl", Curl::load().map(|parser| Rc::new(parser) as _)),
    ]
}

/// Returns the parsers, netlib first.
fn parsers() -> Result<Vec<Rc<dyn Timed>>, String> {
    let mut parsers = Vec::new();
    for (name, parser) in candidates() {
        match parser {
            Ok(parser) => parsers.push(parser),
            Err(reason) if name == "netlib" => return Err(reason),
            Err(_) => {}
        }
    }
    Ok(parsers)
}

pub fn sections() -> Result<Vec<Section>, String> {
    let parsers = parsers()?;
    let corpora: Vec<Rc<Corpus>> = Corpus::all().into_iter().map(Rc::new).collect();
    let groups = |reading| corpora.iter().map(|corpus| group(&parsers, corpus, reading)).collect();
    Ok(vec![
        Section {
            name: "url",
            title: "URLs: parse; read scheme, host, port, path and query with their lengths; free",
            groups: groups(Reading::Five),
        },
        Section {
            name: "url, all",
            title: "The same, and read the URL, its authority, host with port, and request target (others: what they have of these)",
            groups: groups(Reading::Nine),
        },
    ])
}

fn group(parsers: &[Rc<dyn Timed>], corpus: &Rc<Corpus>, reading: Reading) -> Group {
    let operation = |parser: &Rc<dyn Timed>| {
        let (parser, corpus) = (Rc::clone(parser), Rc::clone(corpus));
        Operation::new(parser.name().to_owned(), corpus.len(), move || parser.pass(&corpus, reading))
    };
    Group { name: corpus.name.into(), references: REFERENCES, operations: parsers.iter().map(operation).collect() }
}

/// Prints which parsers are missing and why, describes the corpora, and prints how many results are equal. Returns
/// false if the results of two parsers differ.
pub fn check() -> Result<bool, String> {
    for (name, parser) in candidates() {
        if let Err(reason) = parser {
            println!("{name}: skipped: {reason}");
        }
    }
    let parsers = parsers()?;
    let mut agree = true;
    let mut table = Table::new(&[
        "URLs and answers",
        "count",
        "mean length",
        "equal",
        "equal, normalised",
        "refused by netlib",
        "by the other",
        "by both",
        "different",
    ]);
    for corpus in Corpus::all() {
        table.row(vec![corpus.name.into(), corpus.len().to_string(), format!("{:.1}", corpus.mean_length())]);
        for rival in &parsers[1..] {
            let answers = compare(parsers[0].as_ref(), rival.as_ref(), &corpus);
            table.row(row(rival.name(), &answers));
            let count = answers.different.len();
            if count > 0 {
                agree = false;
                println!("DOES NOT COUNT: {} on {}: {count} answers differ, such as", rival.name(), corpus.name);
                answers.different.iter().take(5).for_each(|example| println!("  {example}"));
            }
        }
    }
    println!();
    table.print();
    Ok(agree)
}

fn row(name: &str, answers: &Agreement) -> Vec<String> {
    let counts = [
        answers.equal,
        answers.equal_normalised,
        answers.refused_by_netlib,
        answers.refused_by_rival,
        answers.refused_by_both,
        answers.different.len(),
    ];
    let mut row = vec![format!("  {name}"), String::new(), String::new()];
    row.extend(counts.map(|count| count.to_string()));
    row
}
