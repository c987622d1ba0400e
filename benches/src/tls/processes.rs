//! What is measured in a process of its own: a first handshake, and the memory of idle connections.

use std::net::TcpStream;
use std::os::fd::AsRawFd;

use super::server::{Order, RECORD, Server, Service, connect, order, program, run};
use super::{NETLIB, OPENSSL, RIVALS, RUSTLS_FFI, Session, Share, client};
use crate::rng::Rng;
use crate::sockets::peers::pin;
use crate::timing::ROUNDS;

const WARM: usize = 32;
const IDLE: usize = 256;
const IDLE_TIMES: usize = 3;

/// What came out of the processes of a rival.
pub struct Process {
    pub rival: &'static str,
    /// ns of the process, by round.
    pub fresh: Vec<f64>,
    /// Bytes of a connection, by time.
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
            // The first reads the library from the disk.
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

/// `None`: the rival is not here.
fn number(what: &str, rival: &str, port: u16) -> Result<Option<f64>, String> {
    let output = program()?.args([what, rival, &port.to_string()]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match (output.status.code(), text.trim().parse()) {
        (Some(0), Ok(number)) => Ok(Some(number)),
        (Some(MISSING), _) => Ok(None),
        _ => Err(format!("{what} {rival}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The exit status where a library is not here.
const MISSING: i32 = 3;

/// The program that those are made of, and the server.
pub fn main(arguments: &[String]) -> Result<(), String> {
    let [what, rest @ ..] = arguments else { return Err("server, fresh or idle".into()) };
    let [rival, port] = rest else { return run() };
    let port = port.parse().map_err(|_| "no port")?;
    let rival = [OPENSSL, RUSTLS_FFI, NETLIB].into_iter().find(|name| name == rival).unwrap_or(super::UNBUFFERED);
    pin(0);
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

/// The library is loaded, a context made, a hand shaken: ns of all threads.
fn fresh(rival: &'static str, port: u16) -> Result<f64, String> {
    let socket = connect(port);
    let start = process_time();
    let client = client(rival, Share::PostQuantum)?;
    let session = client.connect(socket.as_raw_fd());
    let time = process_time() - start;
    drop(session);
    Ok(time)
}

fn process_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// By how much resident memory grows with each connection that has carried 16 KiB each way.
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
