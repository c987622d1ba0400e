//! Measures whole HTTPS clients: programs that use netlib and libcurl's multi interface, in C with epoll. Each client
//! runs in a process of its own and sends the same requests to one server, which runs in another process on another
//! processor. docs/contributing/benchmarks.md describes the method.

pub mod server;

use std::path::Path;
use std::process::Command;

use crate::chart::{self, Bar, Group};
use crate::processors::{Processor, pin};
use crate::report::Table;
use crate::rng::Rng;
use crate::timing::{median, median_ratio};
use server::{Served, Server};

const REQUESTS: usize = 2000;
const PARALLEL: usize = 50;
/// The size of a response's body in bytes. benches/client/client.h has the same number.
pub const BODY: usize = 8192;
const ROUNDS: usize = 11;

const AUTHORITY: &str = "tests/certs/ca.pem";

const LIBCURL: &str = "libcurl";
const NETLIB: &str = "netlib";
const RIVALS: [&str; 2] = [LIBCURL, NETLIB];
/// The program that uses no library.
const EMPTY: &str = "empty";

struct Scenario {
    name: &'static str,
    keep_alive: bool,
    resume: bool,
    /// The goals: the highest allowed ratios of netlib's processor time and memory to those of libcurl.
    time: Option<f64>,
    memory: Option<f64>,
}

const SCENARIOS: [Scenario; 3] = [
    Scenario { name: "new connections", keep_alive: false, resume: true, time: Some(0.60), memory: Some(0.50) },
    Scenario {
        name: "new connections without resumption",
        keep_alive: false,
        resume: false,
        time: None,
        memory: None,
    },
    Scenario { name: "keep-alive", keep_alive: true, resume: true, time: Some(0.80), memory: Some(0.50) },
];

/// What a client has printed, and what the server has done for it.
struct Run {
    /// The client's processor time in ns.
    time: f64,
    /// Resident memory in bytes: at the start of main, the peak, and the pages of files at the end.
    start: f64,
    peak: f64,
    file: f64,
    version: String,
    served: Served,
}

/// Runs the clients in rounds, and prints the table. Without the client for libcurl, prints why there is no table.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    if !Path::new(&program(LIBCURL)).exists() {
        eprintln!("client: skipped: libcurl's header is missing; the package libcurl4-openssl-dev contains it");
        return Ok(());
    }
    let mut server = Server::start()?;
    pin(Processor::Client);
    let empty = client(EMPTY, &SCENARIOS[0], &mut server)?.peak;
    println!(
        "HTTPS clients: {REQUESTS} requests, {PARALLEL} at a time, with responses of {BODY} bytes; medians of \
         {ROUNDS} rounds in shuffled order; ratios are made in each round\n"
    );
    let mut table = Table::new(&["", LIBCURL, NETLIB, "ratio", "goal", ""]);
    let mut notes = Vec::new();
    let (mut groups, mut versions) = (Vec::new(), Vec::new());
    for scenario in &SCENARIOS {
        let runs = rounds(rng, scenario, &mut server)?;
        let [libcurl, netlib] = &runs;
        let mut row = |name: &str, unit: f64, goal: Option<f64>, value: &dyn Fn(&Run) -> f64| {
            let [theirs, ours]: [Vec<f64>; 2] = [libcurl, netlib].map(|runs| runs.iter().map(value).collect());
            let ratio = median_ratio(&ours, &theirs);
            let mut cells = vec![format!("{}: {name}", scenario.name)];
            cells.extend([theirs, ours].map(|values| format!("{:.1}", median(&values) / unit)));
            cells.push(format!("{ratio:.3}"));
            cells.extend(goal.map(|goal| format!("{goal:.2}")));
            cells.extend(goal.map(|goal| if ratio <= goal { "met" } else { "missed" }.to_owned()));
            table.row(cells);
        };
        row("us of processor time per request", 1e3 * REQUESTS as f64, scenario.time, &|run| run.time);
        row("peak memory above an empty program, KiB", 1024.0, scenario.memory, &|run| run.peak - empty);
        row("peak memory above the start of main, KiB", 1024.0, scenario.memory, &|run| run.peak - run.start);
        row("private memory, KiB", 1024.0, None, &|run| run.peak - run.file);
        // The chart shows the scenarios with goals.
        if scenario.time.is_some() {
            let per_request = 1e3 * REQUESTS as f64;
            groups.push(group(scenario, "processor time per request", ("µs", per_request), &runs, &|run| run.time));
            groups.push(group(scenario, "peak memory above an empty program", ("KiB", 1024.0), &runs, &|run| {
                run.peak - empty
            }));
        }
        for (rival, runs) in RIVALS.iter().zip(&runs) {
            let (Some(run), times) = (runs.last(), runs.iter().map(|run| run.served.time).collect::<Vec<_>>()) else {
                continue;
            };
            let Served { connections, resumed, agreed, .. } = &run.served;
            notes.push(format!(
                "{}, {rival}: {connections} connections, {resumed} resumed; {agreed}; server: {:.1} us per request",
                scenario.name,
                median(&times) / 1e3 / REQUESTS as f64
            ));
            if notes.len() <= RIVALS.len() {
                println!("  {rival}: {}", run.version);
                // The first two words are the versions of the library and of its TLS library.
                let words: Vec<&str> = run.version.split(' ').take(2).collect();
                versions.push(words.join(if *rival == NETLIB { " " } else { " with " }));
            }
        }
    }
    println!();
    table.print();
    notes.iter().for_each(|note| println!("  {note}"));
    println!();
    chart::write(
        "client",
        &format!("HTTPS clients: {} (in brackets: ratio in one run)", versions.join(" and ")),
        &groups,
    )
}

/// Returns the bars of a chart that compare a value of the clients, with netlib's ratio.
fn group(
    scenario: &Scenario,
    measure: &str,
    (unit, size): (&str, f64),
    runs: &[Vec<Run>; 2],
    value: &dyn Fn(&Run) -> f64,
) -> Group {
    let [theirs, ours] = runs.each_ref().map(|runs| runs.iter().map(value).collect::<Vec<f64>>());
    let bar = |label: &str, values: &[f64], ratio: &str| {
        let value = median(values) / size;
        let text = format!("{value:.0} {unit}{ratio}");
        Bar { label: label.to_owned(), value, text, is_netlib: label == NETLIB }
    };
    let ratio = format!(" ({:.2})", median_ratio(&ours, &theirs));
    let bars = vec![bar(LIBCURL, &theirs, ""), bar(NETLIB, &ours, &ratio)];
    Group { name: format!("{}: {measure}", scenario.name), bars }
}

/// Runs both clients in each round. Returns the runs by client; the first round warms up and is not included.
fn rounds(rng: &mut Rng, scenario: &Scenario, server: &mut Server) -> Result<[Vec<Run>; 2], String> {
    let mut runs = [Vec::new(), Vec::new()];
    let mut order = [0, 1];
    for round in 0..=ROUNDS {
        rng.shuffle(&mut order);
        for i in order {
            let run = client(RIVALS[i], scenario, server)?;
            if run.served.responses != REQUESTS {
                return Err(format!("{}: the server sent {} responses", RIVALS[i], run.served.responses));
            }
            if round > 0 {
                runs[i].push(run);
            }
        }
    }
    Ok(runs)
}

/// Returns the path of a client that `scripts/bench` has compiled.
fn program(name: &str) -> String {
    format!("target/bench/client-{name}")
}

/// Runs a client, on the processor to which this thread is pinned.
fn client(name: &str, scenario: &Scenario, server: &mut Server) -> Result<Run, String> {
    let output = Command::new(program(name))
        .args([&format!("https://127.0.0.1:{}/", server.port), AUTHORITY])
        .args(
            [REQUESTS, PARALLEL, scenario.keep_alive.into(), scenario.resume.into()].map(|number| number.to_string()),
        )
        .output()
        .map_err(|e| format!("client-{name}: {e}"))?;
    if !output.status.success() {
        return Err(format!("client-{name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut fields = text.trim_end().splitn(5, ' ');
    let mut number = || fields.next().and_then(|field| field.parse().ok()).ok_or(format!("client-{name}: {text}"));
    let (time, start, peak, file) = (number()?, number()?, number()?, number()?);
    Ok(Run { time, start, peak, file, version: fields.next().unwrap_or("").to_owned(), served: server.served()? })
}
