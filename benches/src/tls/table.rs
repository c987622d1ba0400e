//! Prints the TLS tables, with goals and whether they are met.

use std::collections::HashMap;

use super::operations::{DOWNLOAD, DOWNLOAD_AES128, ECHO_16K, ECHO_64, FULL, RESUMED, UPLOAD_16, UPLOAD_64};
use super::processes::{PROCESSES, Process};
use super::{NETLIB, NETLIB_UNLIMITED, OPENSSL, RIVALS, RUSTLS_FFI, Share, client};
use crate::Counts;
use crate::report::{Measured, Table};
use crate::timing::{median, median_ratio};

/// The goals: the highest allowed ratios of netlib's time to OpenSSL's time and to rustls-ffi's time, by operation.
const GOALS: &[(&str, f64, f64)] = &[
    (FULL, 0.45, 1.03),
    (RESUMED, 0.54, 1.03),
    (DOWNLOAD, 0.60, 0.93),
    (UPLOAD_16, 0.66, 1.05),
    (UPLOAD_64, 0.62, 1.05),
    (ECHO_64, 0.85, 1.00),
    (ECHO_16K, 0.76, 0.92),
    (FRESH, 0.60, 0.06),
];
const FRESH: &str = "fresh process: load, context, first handshake";

/// The goals for the number of socket reads per 16 KiB.
const READS: &[(&str, f64)] = &[(DOWNLOAD, 0.3), (ECHO_16K, 1.0)];

/// The goal for the memory of an idle connection, in bytes.
const IDLE_GOAL: f64 = 5.0 * 1024.0;

pub fn print(groups: &[Measured], processes: &[Process], counts: impl Fn(&str, &str) -> Option<Counts>) {
    println!(
        "TLS 1.3, AES-256-GCM, X25519, a certificate of ECDSA P-256 verified with its name: us of the client's processor time; rounds \
         of {PROCESSES} processes; all clients have a read timeout and a limit\n"
    );
    for rival in RIVALS {
        match client(rival, Share::Classical) {
            Ok(client) => println!("  {rival}: {}", client.version()),
            Err(reason) => println!("  {rival}: skipped: {reason}"),
        }
    }
    println!();
    let mut table = Table::new(&titles(&["/ OpenSSL", "goal", "", "/ rustls-ffi", "goal", ""]));
    for group in groups {
        let mut times: HashMap<&str, &[f64]> =
            group.rows.iter().map(|row| (row.name.as_str(), row.times.as_slice())).collect();
        table.row(times_row(&group.name, &times));
        if let Some(unlimited) = times.remove(NETLIB_UNLIMITED) {
            times.insert(NETLIB, unlimited);
            table.row(times_row("  netlib without timeout and limit", &times));
        }
    }
    let fresh = processes.iter().map(|process| (process.rival, process.fresh.as_slice())).collect();
    table.row(times_row(FRESH, &fresh));
    table.print();
    aes128(groups);
    counted(groups, &counts);
    idle(processes);
}

fn titles<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut titles = vec![""];
    titles.extend(RIVALS);
    titles.extend(more);
    titles
}

/// Returns the table row of an operation: the median time of each library, and netlib's ratios with their goals.
fn times_row(name: &str, times: &HashMap<&str, &[f64]>) -> Vec<String> {
    let mut row = vec![name.to_owned()];
    row.extend(
        RIVALS.map(|rival| times.get(rival).map_or("-".into(), |times| format!("{:.2}", median(times) / 1e3))),
    );
    let goals = GOALS.iter().find(|goal| goal.0 == name);
    for (rival, goal) in [(OPENSSL, goals.map(|goal| goal.1)), (RUSTLS_FFI, goals.map(|goal| goal.2))] {
        let ratio = times.get(NETLIB).zip(times.get(rival)).map(|(ours, theirs)| median_ratio(ours, theirs));
        row.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.3}")));
        row.extend(verdict(ratio, goal));
    }
    row
}

fn verdict(value: Option<f64>, goal: Option<f64>) -> [String; 2] {
    let Some(goal) = goal else { return ["".into(), "".into()] };
    let verdict = match value {
        Some(value) if value <= goal => "met",
        Some(_) => "missed",
        None => "",
    };
    [format!("{goal:.2}"), verdict.into()]
}

/// Prints the ratio of the times for AES-128-GCM and AES-256-GCM.
fn aes128(groups: &[Measured]) {
    let times = |name: &str| {
        let group = groups.iter().find(|group| group.name == name)?;
        Some(&group.rows.iter().find(|row| row.name == NETLIB)?.times)
    };
    if let (Some(short), Some(long)) = (times(DOWNLOAD_AES128), times(DOWNLOAD)) {
        println!("  netlib, download: AES-128-GCM / AES-256-GCM: {:.3}\n", median_ratio(short, long));
    }
}

/// Prints the table of allocations and system calls per operation.
fn counted(groups: &[Measured], counts: &impl Fn(&str, &str) -> Option<Counts>) {
    println!("Reads, writes and waits (system calls), and allocations; of a handshake, a round trip or 16 KiB\n");
    let mut table = Table::new(&titles(&["reads", "goal", ""]));
    for group in groups {
        let mut row = vec![group.name.clone()];
        row.extend(RIVALS.map(|rival| {
            counts(&group.name, rival)
                .map_or("-".into(), |c| format!("{:.2} {:.2} {:.2} {:.1}", c.reads, c.writes, c.waits, c.allocations))
        }));
        if let Some(&(_, goal)) = READS.iter().find(|(name, _)| *name == group.name) {
            let reads = counts(&group.name, NETLIB).map(|counts| counts.reads);
            row.push(reads.map_or("-".into(), |reads| format!("{reads:.2}")));
            row.extend(verdict(reads, Some(goal)));
        }
        table.row(row);
    }
    table.print();
}

fn idle(processes: &[Process]) {
    println!("Resident memory of a connection, idle after 16 KiB each way: bytes\n");
    let mut table = Table::new(&["", "bytes", "goal", ""]);
    for process in processes.iter().filter(|process| !process.idle.is_empty()) {
        let bytes = median(&process.idle);
        let mut row = vec![process.rival.to_owned(), format!("{bytes:.0}")];
        if process.rival == NETLIB {
            row.extend([format!("{IDLE_GOAL:.0}"), if bytes <= IDLE_GOAL { "met" } else { "missed" }.into()]);
        }
        table.row(row);
    }
    table.print();
}
