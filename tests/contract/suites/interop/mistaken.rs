//! Rows with wrong expectations, for the suite `negative`, each with the failure message that the row must cause.

use super::matrix::{Alpn, GROUPS, Group, PAIRS, Row, Side, Tool, core};
use super::refusals::{ALL, Refusal};
use super::{early, gnutls_is_installed};

static MISTAKEN: Group = Group { temporary_key: "X448, 448 bits", gnutls: "X448", ..GROUPS[1] };

pub fn rows() -> Vec<(Row, &'static str)> {
    let mut rows = Vec::new();
    for &(tool, side) in PAIRS {
        let agreed = row(tool, side, |row| row.alpn.agreed.is_some() && row.resume);
        let mistaken = Row { alpn: Alpn { agreed: Some("x"), ..agreed.alpn }, ..agreed };
        rows.push((mistaken, "netlib says\n  handshake=NETLIB_OK"));
        rows.push((
            mistaken,
            match (tool, side) {
                (Tool::OpenSsl, Side::Client) => "ALPN of s_server: [\"h2\", \"h2\"], not [\"x\", \"x\"]",
                (Tool::OpenSsl, Side::Server) => "does not print \"ALPN protocol: x\"",
                (Tool::GnuTls, _) => "session 2 of GnuTLS does not print \"- Application protocol: x\"",
            },
        ));
        rows.push((Row { alpn: Alpn { agreed: None, ..agreed.alpn }, ..agreed }, "alpn=- "));
    }
    let p256 = |row: &Row| row.retried && row.group == Some(&GROUPS[1]);
    let x25519 = |row: &Row| row.suite.openssl.starts_with("TLS_") && row.group == Some(&GROUPS[0]);
    let (retried, at_once) = (row(Tool::OpenSsl, Side::Client, p256), row(Tool::OpenSsl, Side::Client, x25519));
    rows.push((Row { retried: false, ..retried }, "2 hellos of the client, not 1"));
    rows.push((Row { retried: true, ..at_once }, "1 hellos of the client, not 2"));
    let served = row(Tool::OpenSsl, Side::Server, p256);
    rows.push((Row { group: Some(&MISTAKEN), ..served }, "does not print \"Server Temp Key: X448, 448 bits\""));
    rows.retain(|(row, _)| row.tool == Tool::OpenSsl || gnutls_is_installed());
    rows
}

fn row(tool: Tool, netlib: Side, wanted: impl Fn(&Row) -> bool) -> Row {
    let fits = |row: &Row| row.tool == tool && row.netlib == netlib && wanted(row);
    core().into_iter().find(fits).expect("there is such a row")
}

pub fn refusals() -> Vec<(Refusal, &'static str)> {
    let first = ALL[0];
    let (status, alert, problem) = first.outcome;
    vec![
        (Refusal { outcome: ("NETLIB_OK", alert, problem), ..first }, "handshake is NETLIB_TLS_ALERT, not NETLIB_OK"),
        (Refusal { outcome: (status, 71, problem), ..first }, "alert is 70, not 71"),
        (Refusal { outcome: (status, alert, 3), ..first }, "problem is 0, not 3"),
        (Refusal { says: "nothing at all", ..first }, "the other peer does not print \"nothing at all\""),
    ]
}

pub fn early() -> Vec<(early::Row, &'static str)> {
    let rejected = "early=NETLIB_OK allowed=1000 written=40 rejected";
    vec![
        (
            early::Row { outcome: rejected, ..early::ACCEPTED },
            "netlib does not print \"early=NETLIB_OK allowed=1000 written=40 rejected",
        ),
        (early::Row { end: ("NETLIB_OK", -1), ..early::ACCEPTED }, "end=NETLIB_OK"),
        (early::Row { got: (2, 2), ..early::ACCEPTED }, "s_server got [2, 1] times"),
    ]
}
