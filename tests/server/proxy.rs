//! Answers CONNECT requests as a proxy (RFC 9110 section 9.3.6). The table ANSWERS defines the answers.
//!
//! The proxy connects to the local machine for every host under `.test`, so that a client can request names that only a
//! proxy resolves. The proxy answers requests other than CONNECT itself, like an origin server.

use std::io::{BufReader, Result, Write};
use std::net::{Ipv4Addr, TcpStream};

use socket2::Socket;

use crate::connection::Connection;
use crate::request::Request;
use crate::scenarios::{self, SharedState};
use crate::tunnel;
use Reply::*;

#[derive(Clone, Copy)]
enum Reply {
    /// Sends the response and opens the tunnel.
    Open(&'static str),
    /// Opens the tunnel with status 200 if the request has the given credentials. Otherwise answers with status 407.
    OpenFor(&'static str),
    /// Sends the response and closes the connection.
    Say(&'static str),
    /// Sends status 200 and closes the connection.
    Cut,
    /// Sends an endless response head.
    Babble,
    HangUp,
    NeverAnswer,
}

const OPENED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";
const BAD_GATEWAY: &str = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 8\r\n\r\nnowhere\n";
const AUTHENTICATION_REQUIRED: &str = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"tests\"\r\nContent-Length: 0\r\n\r\n";

/// The answers, selected by the first label of the host, for example "garbage" of "garbage.origin.test". The nth
/// request for the same target on the same port gets the nth answer; further requests get the last answer. The proxy
/// opens a tunnel for hosts that the table does not list.
const ANSWERS: &[(&str, &[Reply])] = &[
    // The credentials are the base64 encoding of "me:pass word@:".
    ("password", &[OpenFor("Basic bWU6cGFzcyB3b3JkQDo=")]),
    ("forbidden", &[Say("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")]),
    ("elsewhere", &[Say("HTTP/1.1 302 Found\r\nLocation: http://localhost/\r\nContent-Length: 0\r\n\r\n")]),
    ("bad-gateway", &[Say(BAD_GATEWAY)]),
    ("bad-gateway-once", &[Say(BAD_GATEWAY), Open(OPENED)]),
    ("garbage", &[Say("SSH-2.0-Nonsense\r\n\r\n")]),
    ("half-head", &[Say("HTTP/1.1 200 Connection estab")]),
    ("babble", &[Babble]),
    ("hang-up", &[HangUp]),
    ("hang-up-once", &[HangUp, Open(OPENED)]),
    ("never", &[NeverAnswer]),
    // The response that opens a tunnel has no body, even if its headers announce one.
    ("framed", &[Open("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n")]),
    ("interim", &[Open("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 299 Connection established\r\n\r\n")]),
    ("early", &[Say("HTTP/1.1 200 Connection established\r\n\r\ntoo early")]),
    ("cut", &[Cut]),
];

/// Answers one request and ends the connection.
pub fn serve(state: &SharedState, port: &'static str, connection: Connection) {
    let mut from = BufReader::new(connection);
    // Errors are ignored, because a client may disconnect or refuse the certificate.
    let _ = match scenarios::read_request(state, port, &mut from) {
        Ok(Some(request)) if request.method == "CONNECT" => connect(state, port, &request, from.into_inner()),
        Ok(Some(request)) => scenarios::answer(state, port, request, from),
        Ok(None) => scenarios::refuse_tls(from.into_inner()),
        Err(error) => Err(error),
    };
}

fn connect(state: &SharedState, port: &'static str, request: &Request, mut client: Connection) -> Result<()> {
    let word = request.target.split('.').next().unwrap_or("");
    let answers = ANSWERS.iter().find(|(name, _)| *name == word).map_or(&[Open(OPENED)][..], |(_, answers)| answers);
    let visit = state.visit(port, &request.target);
    match answers[visit.min(answers.len() - 1)] {
        Open(head) => open(state, request, client, head),
        OpenFor(credentials) if request.header("proxy-authorization") == Some(credentials) => {
            open(state, request, client, OPENED)
        }
        OpenFor(_) => say(client, AUTHENTICATION_REQUIRED),
        Say(text) => say(client, text),
        Cut => say(client, OPENED),
        Babble => babble(&mut client),
        HangUp => {
            client.close();
            Ok(())
        }
        NeverAnswer => {
            client.stay_silent();
            Ok(())
        }
    }
}

fn open(state: &SharedState, request: &Request, mut client: Connection, head: &str) -> Result<()> {
    match find(state, &request.target) {
        Some(origin) => {
            client.write_all(head.as_bytes())?;
            client.flush()?;
            tunnel::join(client, origin);
            Ok(())
        }
        None => say(client, BAD_GATEWAY),
    }
}

/// Connects to the port in the request's authority, which must be a port of this server.
fn find(state: &SharedState, authority: &str) -> Option<Socket> {
    let (host, port) = authority.rsplit_once(':')?;
    let here = host.ends_with(".test") || ["localhost", "127.0.0.1", "[::1]"].contains(&host);
    let port = port.parse().ok().filter(|&port| here && state.has_port(port))?;
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok().map(Socket::from)
}

fn say(mut client: Connection, text: &str) -> Result<()> {
    client.write_all(text.as_bytes())?;
    client.close();
    Ok(())
}

/// Sends the endless response head until the client disconnects.
fn babble(client: &mut Connection) -> Result<()> {
    client.write_all(b"HTTP/1.1 200 Connection established\r\n")?;
    loop {
        client.write_all(b"X-More: and more and more and more and more and more and more and more and more\r\n")?;
    }
}
