//! Tests early data and the first key share of a resuming client: s_server accepts early data, rejects it, or allows
//! less of it than netlib offers, and a client offers the group that the server requested in an earlier session. The
//! second session resumes the first one and sends the same data; the test counts how often the server receives the
//! data.

use std::sync::atomic::Ordering;

use super::Harness;
use crate::report::Report;

/// The number of bytes that netlib sends in each session. The first line of the data is longer.
const BYTES_SENT: usize = 60;

#[derive(Clone, Copy)]
pub struct Row {
    pub(super) name: &'static str,
    /// The arguments of s_server.
    pub(super) server: &'static str,
    /// The settings of netlib's client.
    pub(super) settings: &'static str,
    /// The number of bytes that netlib writes as early data.
    pub(super) early: usize,
    pub(super) group: &'static str,
    pub(super) alpn: &'static str,
    /// The expected output about early data in the second session; `end` is the status and the alert with which the
    /// session ends.
    pub(super) outcome: &'static str,
    pub(super) end: (&'static str, i32),
    /// The number of times that the server's output contains the early data, and the number of times that it contains
    /// all data in one piece.
    pub(super) got: (usize, usize),
}

pub(super) const ACCEPTED: Row = Row {
    name: "accepted",
    server: "-early_data -max_early_data 1000",
    settings: "",
    early: 40,
    group: "x25519",
    alpn: "-",
    outcome: "early=NETLIB_OK allowed=1000 written=40 accepted",
    end: ("NETLIB_END_OF_STREAM", -1),
    got: (2, 1),
};

const ROWS: &[Row] = &[
    ACCEPTED,
    // The ticket allows early data, but the server rejects early data.
    Row {
        name: "rejected",
        server: "-max_early_data 1000",
        outcome: "early=NETLIB_OK allowed=1000 written=40 rejected",
        got: (2, 2),
        ..ACCEPTED
    },
    Row {
        name: "more than the ticket allows",
        server: "-early_data -max_early_data 30",
        outcome: "early=NETLIB_OK allowed=30 written=30 accepted",
        got: (2, 1),
        ..ACCEPTED
    },
    Row {
        name: "more than the server takes",
        server: "-early_data -max_early_data 1000 -recv_max_early_data 39",
        end: ("NETLIB_TLS_ALERT", 10),
        got: (1, 1),
        ..ACCEPTED
    },
    Row {
        name: "not allowed",
        server: "-early_data -max_early_data 0",
        outcome: "early=NETLIB_OK allowed=0 written=0 not-sent",
        got: (2, 2),
        ..ACCEPTED
    },
    Row {
        name: "with an ALPN protocol",
        server: "-early_data -max_early_data 1000 -alpn h2,http/1.1",
        settings: "alpn=http/1.1",
        alpn: "http/1.1",
        ..ACCEPTED
    },
    // The server answers the first session's ClientHello with a HelloRetryRequest. The second session sends the right
    // key share at once, without which early data would be rejected.
    Row {
        name: "a HelloRetryRequest in the first session",
        server: "-early_data -max_early_data 1000 -groups P-384",
        group: "secp384r1",
        ..ACCEPTED
    },
    Row { name: "the first group of the client", settings: "groups=P-256:x25519", group: "secp256r1", ..ACCEPTED },
    Row {
        name: "a group that the server does not know",
        settings: "groups=MLKEM1024:X25519MLKEM768:P-384:P-256",
        server: "-early_data -max_early_data 1000 -groups P-256:P-384",
        group: "secp256r1",
        ..ACCEPTED
    },
];

pub fn run(harness: &Harness, report: &mut Report) {
    run_rows(harness, ROWS, report);
}

pub fn run_rows(harness: &Harness, rows: &[Row], report: &mut Report) {
    for row in rows {
        harness.sessions.fetch_add(2, Ordering::Relaxed);
        let result = run_case(harness, row);
        report.check(result.is_ok(), format!("early data, {}: {}", row.name, result.err().unwrap_or_default()));
    }
}

fn run_case(harness: &Harness, row: &Row) -> Result<(), String> {
    let mut words = harness.words("openssl s_server -accept 127.0.0.1:0 -naccept 2 -tls1_3");
    words.extend(harness.words("-cert {server-p256.pem} -key {server-p256.key} -cert_chain {middle.pem}"));
    words.extend(harness.words(row.server));
    let (server, port) = harness.openssl_server(&words)?;
    let mut words = harness.words("client how=say connections=2 ca={root.pem} ciphers=TLS_AES_128_GCM_SHA256");
    words.extend([format!("port={port}"), format!("bytes={BYTES_SENT}"), format!("early={}", row.early)]);
    words.extend(harness.words(row.settings));
    let (netlib, server) = (harness.netlib(words)?.finish(), server.finish());
    let line = |early: &str, resumed: &str, end: (&str, i32)| {
        format!(
            "{early} handshake=NETLIB_OK version=1.3 suite=TLS_AES_128_GCM_SHA256 group={} resumed={resumed} \
             name=localhost alpn={} certificates=2 bytes=0 intact=yes data=NETLIB_OK end={} shutdown=NETLIB_OK \
             alert={} problem=0",
            row.group, row.alpn, end.0, end.1
        )
    };
    let lines = [
        line("early=NETLIB_OK allowed=0 written=0 not-sent", "no", ("NETLIB_END_OF_STREAM", -1)),
        line(row.outcome, "yes", row.end),
    ];
    let mut problems: Vec<String> = lines
        .iter()
        .filter(|line| !netlib.has_line(line))
        .map(|line| format!("netlib does not print \"{line}\""))
        .collect();
    // s_server prints a line between the early data and the other data.
    let early = row.outcome.split_once("written=").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    let early = early.filter(|early| *early > 0).unwrap_or(row.early);
    let got = [early, BYTES_SENT].map(|count| server.out.matches(&harness.data[..count]).count());
    if got != [row.got.0, row.got.1] {
        problems.push(format!("s_server got {got:?} times what was written early, and all of it, not {:?}", row.got));
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("{}\n{}\n{}", problems.join("\n"), netlib.transcript(), server.transcript())),
    }
}
