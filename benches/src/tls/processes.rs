//! Runs measurements in separate processes. All operations are repeated in several processes, because the times depend
//! on the addresses of a library's memory, and more rounds in one process would not average out this effect. A first
//! handshake and the memory of idle connections are measured in new processes.

use std::net::TcpStream;
use std::os::fd::AsRawFd;

use super::operations::section;
use super::server::{Order, RECORD, Server, Service, connect, order, program, run};
use super::{NETLIB, OPENSSL, RIVALS, RUSTLS_FFI, Session, Share, client};
use crate::processors::{Processor, pin};
use crate::report::{Measured, Row};
use crate::rng::Rng;
use crate::timing::{self, ROUNDS, process_time};

const WARM: usize = 32;
const IDLE: usize = 256;
const IDLE_TIMES: usize = 3;

/// The number of processes; each process measures `ROUNDS` rounds.
pub const PROCESSES: usize = 5;

/// Returns the operations of the TLS section, with the times of all rounds in all processes.
pub fn rounds(rng: &mut Rng) -> Result<Vec<Measured>, String> {
    let mut measured: Vec<Measured> = Vec::new();
    for process in 0..PROCESSES {
        let output = program()?.args(["rounds", &rng.number().to_string()]).output().map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(said.into_owned());
        }
        // All processes skip the same libraries, so only the messages of the first process are printed.
        if process == 0 {
            eprint!("{said}");
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let [group, name, times] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
            let group = entry(&mut measured, |known| known.name == group, || Measured::new(group));
            let row = entry(&mut group.rows, |known| known.name == name, || Row::new(name));
            row.times.extend(times.split(' ').filter_map(|time| time.parse::<f64>().ok()));
        }
    }
    Ok(measured)
}

/// Returns the first entry for which `is` returns true. If there is none, adds a new entry at the end and returns it.
fn entry<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(is).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    });
    &mut all[at]
}

/// Measures the operations in one of the processes. Prints a line per operation: the group, the operation and the
/// times, separated by tabs; spaces separate the times.
fn print_rounds(seed: u64) -> Result<(), String> {
    let mut rng = Rng::new(seed);
    for mut group in section()?.groups {
        let times = timing::rounds(&mut rng, &mut group.operations);
        for (operation, times) in group.operations.iter().zip(times) {
            let times: Vec<String> = times.iter().map(f64::to_string).collect();
            println!("{}\t{}\t{}", group.name, operation.name, times.join(" "));
        }
    }
    Ok(())
}

/// The measurements of one library in new processes.
pub struct Process {
    pub rival: &'static str,
    /// The processor time of a process that does one handshake, in ns, by round.
    pub fresh: Vec<f64>,
    /// The memory per idle connection in bytes, by repetition.
    pub idle: Vec<f64>,
}

pub fn measure(rng: &mut Rng) -> Result<Vec<Process>, String> {
    let server = Server::start()?;
    let mut processes: Vec<Process> =
        RIVALS.iter().map(|rival| Process { rival, fresh: Vec::new(), idle: Vec::new() }).collect();
    let mut order: Vec<usize> = (0..processes.len()).collect();
    for round in 0..=ROUNDS {
        rng.shuffle(&mut order);
        for &i in &order {
            let process = &mut processes[i];
            // The first round is not counted, because it reads the library from the disk.
            if let Some(time) = number("fresh", process.rival, server.port(Service::Silent))?.filter(|_| round > 0) {
                process.fresh.push(time);
            }
            if round < IDLE_TIMES {
                process.idle.extend(number("idle", process.rival, server.port(Service::Orders))?);
            }
        }
    }
    processes.retain(|process| !process.fresh.is_empty());
    Ok(processes)
}

/// Runs the program for one library and returns the number that it prints, or `None` if the library is missing.
fn number(what: &str, rival: &str, port: u16) -> Result<Option<f64>, String> {
    let output = program()?.args([what, rival, &port.to_string()]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match (output.status.code(), text.trim().parse()) {
        (Some(0), Ok(number)) => Ok(Some(number)),
        (Some(MISSING), _) => Ok(None),
        _ => Err(format!("{what} {rival}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The exit code of a process whose library is missing.
const MISSING: i32 = 3;

/// The main function of the measured processes and of the server process.
pub fn main(arguments: &[String]) -> Result<(), String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (what, rival, port) = match arguments[..] {
        ["server"] => return run(),
        ["rounds", seed] => return print_rounds(seed.parse().map_err(|_| "no seed")?),
        [what @ ("fresh" | "idle"), rival, port] => (what, rival, port),
        _ => return Err("server, rounds, fresh or idle".into()),
    };
    let port = port.parse().map_err(|_| "no port")?;
    let rival = [OPENSSL, RUSTLS_FFI, NETLIB].into_iter().find(|name| *name == rival).unwrap_or(super::UNBUFFERED);
    pin(Processor::Client);
    let result = if what == "fresh" { fresh(rival, port) } else { idle(rival, port) };
    match result {
        Ok(number) => println!("{number}"),
        Err(reason) => {
            eprintln!("{reason}");
            std::process::exit(MISSING);
        }
    }
    Ok(())
}

/// Loads the library, creates a context and does a handshake. Returns the processor time of all threads in ns.
fn fresh(rival: &'static str, port: u16) -> Result<f64, String> {
    let socket = connect(port);
    let start = process_time();
    let client = client(rival, Share::PostQuantum)?;
    let session = client.connect(socket.as_raw_fd());
    let time = process_time() - start;
    drop(session);
    Ok(time)
}

/// Returns the growth of resident memory per open connection that has transferred 16 KiB in each direction.
fn idle(rival: &'static str, port: u16) -> Result<f64, String> {
    let client = client(rival, Share::PostQuantum)?;
    let mut kept: Vec<(Box<dyn Session>, TcpStream)> = Vec::with_capacity(WARM + IDLE);
    let (data, mut room) = (vec![0x5A; RECORD], vec![0; RECORD]);
    let mut before = 0;
    for i in 0..WARM + IDLE {
        if i == WARM {
            before = resident();
        }
        let socket = connect(port);
        let mut session = client.connect(socket.as_raw_fd());
        session.write(&order(Order::Echo, RECORD));
        session.write(&data);
        session.read_exact(&mut room);
        kept.push((session, socket));
    }
    Ok((resident() - before) as f64 / IDLE as f64)
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize
}
