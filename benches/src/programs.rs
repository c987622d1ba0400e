//! Measures the first program of each README: one HTTPS download, from the start of the process to its end, beside the
//! same download with the HTTP client that the language has.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::chart::{self, Bar, Group};
use crate::processors::{Processor, pin};
use crate::report::Table;
use crate::rng::Rng;
use crate::servers::Server;
use crate::timing::{median, median_ratio};

const ROUNDS: usize = 15;
/// The script that runs the program with the language's own client, and the one that runs the program of the README.
const SCRIPTS: [&str; 2] = ["benches/programs/own", "benches/programs/first"];
const LANGUAGES: [&str; 7] = ["c", "go", "java", "node", "php", "python", "ruby"];
/// The file that the server sends.
const BODY: &str = "target/bench/servers/body";
/// The authority of the server's certificate. The variables are those of OpenSSL, Go and netlib, and of Node.js.
const AUTHORITY: &str = "tests/certs/ca.pem";
const VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];

/// Runs the programs in rounds, and prints the table. `scripts/bench` has built the packages; languages without a
/// package are left out.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    let Some(server) = Server::start("go")? else { return Ok(()) };
    let url = format!("https://localhost:{}/body", server.port);
    let body = fs::read(BODY).map_err(|e| format!("{BODY}: {e}"))?;
    pin(Processor::Client);
    println!(
        "First programs: wall time of the process; medians of {ROUNDS} rounds in shuffled order; ratios are made in each \
         round\n"
    );
    let mut table = Table::new(&["", "own client, ms", "netlib, ms", "ratio"]);
    let mut groups = Vec::new();
    for language in LANGUAGES.iter().filter(|language| Path::new(&built(language)).exists()) {
        let mut times = [Vec::new(), Vec::new()];
        let mut order = [0, 1];
        for round in 0..=ROUNDS {
            rng.shuffle(&mut order);
            for i in order {
                let ms = time(Command::new(SCRIPTS[i]).args([language, &url[..]]), &body)?;
                if round > 0 {
                    times[i].push(ms);
                }
            }
        }
        let (own, netlib) = (median(&times[0]), median(&times[1]));
        let ratio = format!("{:.2}", median_ratio(&times[1], &times[0]));
        table.row(vec![language.to_string(), format!("{own:.1}"), format!("{netlib:.1}"), ratio]);
        let bar = |label: &str, value: f64| Bar {
            label: label.to_owned(),
            value,
            text: format!("{value:.1} ms"),
            is_netlib: label == "netlib",
        };
        groups.push(Group { name: language.to_string(), bars: vec![bar("own client", own), bar("netlib", netlib)] });
    }
    table.print();
    chart::write("programs", "First programs: wall time of one HTTPS download", &groups)
}

/// The file that states that the programs of a language can run.
fn built(language: &str) -> String {
    match language {
        "c" => "target/bench/programs-first-c".to_owned(),
        _ => format!("target/bench/built-{language}"),
    }
}

/// Returns the time of a program in ms.
fn time(command: &mut Command, body: &[u8]) -> Result<f64, String> {
    let name = format!("{command:?}");
    let start = Instant::now();
    let output = command.envs(VARIABLES.map(|variable| (variable, AUTHORITY))).stdin(Stdio::null()).output();
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let output = output.map_err(|e| format!("{name}: {e}"))?;
    if output.stdout != body {
        return Err(format!("{name}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(ms)
}
