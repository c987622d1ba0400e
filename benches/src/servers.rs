//! Measures the wall time of the first HTTPS request on a new connection to real servers. The clients run on the first
//! processor, the server on the second one. docs/contributing/benchmarks.md describes the method.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::chart::{self, Bar, Group};
use crate::processors::{Processor, pin};
use crate::program::Program;
use crate::report::Table;
use crate::rng::Rng;
use crate::timing::{median, median_ratio};

const ROUNDS: usize = 50;

/// The arguments of benches/servers/start, which skips a server that is not installed.
const SERVERS: [&str; 4] = ["nginx", "go", "node", "openssl"];
const START: &str = "benches/servers/start";
const NOT_INSTALLED: i32 = 77;
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of a client in the table, its program and its argument. The first client is the reference.
const CLIENTS: [(&str, &str, &[&str]); 3] = [
    ("libcurl", "target/bench/servers-libcurl", &[]),
    ("netlib", "target/bench/servers-netlib", &[]),
    ("netlib, no-delay off", "target/bench/servers-netlib", &["no-delay-off"]),
];

/// A server process, which ends when this value is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    /// Starts a server, and waits until it accepts connections. Returns `None` if the server is not installed.
    pub(crate) fn start(name: &str) -> Result<Option<Server>, String> {
        pin(Processor::Peer);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|e| e.to_string())?.port();
        let child = Command::new(START).args([name, &port.to_string()]).spawn();
        let mut server = Server { child: child.map_err(|e| format!("{START}: {e}"))?, port };
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            match server.child.try_wait().map_err(|e| e.to_string())? {
                Some(status) if status.code() == Some(NOT_INSTALLED) => return Ok(None),
                Some(status) => return Err(format!("{START} {name}: {status}")),
                None if began.elapsed() > START_TIMEOUT => return Err(format!("{START} {name}: no server")),
                None => sleep(Duration::from_millis(10)),
            }
        }
        Ok(Some(server))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the clients in rounds, and prints the table. Without the client for libcurl, prints why there is no table.
pub fn run(rng: &mut Rng) -> Result<(), String> {
    if !Path::new(CLIENTS[0].1).exists() {
        eprintln!("servers: skipped: libcurl's header is missing; the package libcurl4-openssl-dev contains it");
        return Ok(());
    }
    println!(
        "First requests on new connections: wall time; medians of {ROUNDS} rounds in shuffled order; ratios are made in \
         each round\n"
    );
    let names = CLIENTS.map(|(name, ..)| format!("{name}, ms"));
    let mut table = Table::new(&["", &names[0], &names[1], "ratio", &names[2], "ratio"]);
    let mut groups = Vec::new();
    for name in SERVERS {
        let Some(server) = Server::start(name)? else { continue };
        pin(Processor::Client);
        let times = rounds(rng, &format!("https://127.0.0.1:{}/body", server.port))?;
        let mut cells = vec![name.to_owned()];
        let mut bars = Vec::new();
        for (i, (client, ..)) in CLIENTS.iter().enumerate() {
            let ms = median(&times[i]) / 1e6;
            cells.push(format!("{ms:.2}"));
            if i > 0 {
                cells.push(format!("{:.2}", median_ratio(&times[i], &times[0])));
            }
            let (label, is_netlib) = ((*client).to_owned(), client.starts_with("netlib"));
            bars.push(Bar { label, value: ms, text: format!("{ms:.2} ms"), is_netlib });
        }
        table.row(cells);
        groups.push(Group { name: name.to_owned(), bars });
    }
    table.print();
    chart::write("servers", "First HTTPS request on a new connection: wall time", &groups)
}

/// Sends a request with each client in each round. Returns the times in ns by client; the first round warms up and is
/// not included.
fn rounds(rng: &mut Rng, url: &str) -> Result<[Vec<f64>; 3], String> {
    let mut programs = Vec::new();
    for (name, program, arguments) in CLIENTS {
        programs.push(Program::start(name, Command::new(program).args(arguments))?);
    }
    let mut times = [const { Vec::new() }; 3];
    let mut order = [0, 1, 2];
    for round in 0..=ROUNDS {
        rng.shuffle(&mut order);
        for i in order {
            let printed = programs[i].pass(url)?.printed;
            let ns = printed.parse().map_err(|_| format!("{}: {printed}", CLIENTS[i].0))?;
            if round > 0 {
                times[i].push(ns);
            }
        }
    }
    Ok(times)
}
