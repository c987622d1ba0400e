//! Implements the server's behaviour for each path, which a table defines.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Result, Write};
use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::connection::Connection;
use crate::ports::Port;
use crate::request::Request;
use Act::*;

/// The server's behaviour for one request.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Sends exactly these bytes (only the head if the request is HEAD), then ends the connection.
    Say(&'static str, End),
    /// Redirects to the named port, or with a relative reference if the name is "".
    Redirect(u16, &'static str, &'static str),
    /// Resets the connection after reading the request's head.
    ResetAfterHead,
    /// Resets the connection after reading the request's head and half of its body.
    ResetMidBody,
    /// Resets the connection after reading the whole request.
    ResetAfterBody,
    /// Closes the connection without a response.
    HangUp,
    /// Sends a broken TLS record after reading the whole request.
    Garble,
    /// Keeps the connection open and never answers.
    NeverAnswer,
    /// Sends one byte of the body per second, until the client disconnects.
    Drip,
    /// Sends an endless body as fast as the client reads.
    Flood,
    /// Sends 32 MiB with their checksum in `x-sha256`. The header `x-authorization` says whether the request had an
    /// Authorization header.
    Large,
    /// Answers with status 200. The body of the response contains the method, the target, the header fields and the
    /// body of the request.
    Echo,
    /// Answers only after this number of requests for the same target has arrived, on any ports.
    Together(usize),
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// Ends the connection with close_notify.
    Close,
    /// Ends the connection without close_notify.
    Cut,
    Reset,
}

/// The first byte of a ClientHello. A plaintext port answers a ClientHello in plaintext HTTP, as common servers do.
const TLS_HANDSHAKE: u8 = 0x16;

const UNAVAILABLE: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 5\r\n\r\nbusy\n";
const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";
const LAST_HELLO: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nhello\n";

/// The paths whose responses leave the connection open for the next request, and the number of responses after which
/// the server closes a connection.
const KEEP_ALIVE: &[(&str, usize)] = &[("/keep-alive", usize::MAX), ("/keep-alive-10", 10)];

/// The behaviour for each path. The nth request for the same target on the same port gets the nth behaviour; further
/// requests get the last one. Requests with different queries are counted separately, so that tests are independent.
const SCENARIOS: &[(&str, &[Act])] = &[
    ("/demo", &[ResetAfterHead, Say(UNAVAILABLE, End::Close), Redirect(302, "https2nd", "/large")]),
    ("/large", &[Large]),
    ("/hello", &[Say(HELLO, End::Close)]),
    ("/echo", &[Echo]),
    // Paths that need concurrent requests: a client that sends one request after the other waits forever.
    ("/when-two-ask", &[Together(2)]),
    ("/when-forty-ask", &[Together(40)]),
    ("/when-fifty-ask", &[Together(50)]),
    // Framing.
    ("/empty", &[Say("HTTP/1.1 204 No Content\r\n\r\n", End::Close)]),
    ("/zero", &[Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", End::Close)]),
    (
        "/chunked",
        &[Say(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
         1\r\nh\r\n00004;name=value;flag\r\nello\r\nA;q=\"a;b\"\r\n, chunked \r\n6\r\nworld\n\r\n0\r\n\
         X-Trailer: one\r\nX-Other: two\r\n\r\n",
            End::Close,
        )],
    ),
    ("/until-close", &[Say("HTTP/1.1 200 OK\r\n\r\nuntil the end\n", End::Close)]),
    ("/http10", &[Say("HTTP/1.0 200 OK\r\n\r\nfrom the past\n", End::Close)]),
    (
        "/interim",
        &[Say(
            "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfinal\n",
            End::Close,
        )],
    ),
    // The body has the announced length, so a client must accept the missing close_notify.
    ("/no-goodbye", &[Say(HELLO, End::Cut)]),
    // Bodies that end early or are malformed.
    ("/cut-length", &[Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this\n", End::Close)]),
    ("/cut-chunked", &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nonly this\n", End::Close)]),
    (
        "/cut-between-chunks",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nonly this\n\r\n", End::Close)],
    ),
    // A body without a length, which over TLS is complete only if close_notify follows.
    ("/cut-until-close", &[Say("HTTP/1.1 200 OK\r\n\r\nonly this\n", End::Cut)]),
    ("/reset-mid-body", &[Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this\n", End::Reset)]),
    ("/bad-chunk", &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", End::Close)]),
    (
        "/huge-chunk",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000001\r\nx\r\n", End::Close)],
    ),
    (
        "/blank-after-chunk-size",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n", End::Close)],
    ),
    (
        "/overlong-chunk",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n", End::Close)],
    ),
    // The first response is truncated, the second one is complete.
    (
        "/cut-once",
        &[
            Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this, more than the whole\n", End::Close),
            Say(HELLO, End::Close),
        ],
    ),
    // Paths whose first request gets no response, an invalid response, or a response that does not end.
    // Downloads that continue after an interruption. A client that asks for another offset starts again, and fails.
    (
        "/resume",
        &[
            Say("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 12\r\n\r\nhello", End::Reset),
            Say(
                "HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 5-11/12\r\n\
                Content-Length: 7\r\n\r\n wo",
                End::Close,
            ),
            Say(
                "HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 8-9/12\r\n\
                Content-Length: 2\r\n\r\nrl",
                End::Close,
            ),
            Say(
                "HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 10-11/12\r\n\
                Content-Length: 2\r\n\r\nd\n",
                End::Close,
            ),
        ],
    ),
    (
        "/resume-end",
        &[
            Say("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello\n\r\n", End::Close),
            Say("HTTP/1.1 416 None\r\nContent-Range: bytes */6\r\nContent-Length: 0\r\n\r\n", End::Close),
        ],
    ),
    (
        "/resume-changed",
        &[
            Say("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 12\r\n\r\nhello", End::Close),
            Say("HTTP/1.1 200 OK\r\nETag: \"b\"\r\nContent-Length: 6\r\n\r\nother\n", End::Close),
        ],
    ),
    (
        "/resume-mixed",
        &[
            Say("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 12\r\n\r\nhello", End::Close),
            Say(
                "HTTP/1.1 206 Partial\r\nETag: \"b\"\r\nContent-Range: bytes 5-11/12\r\n\
                Content-Length: 7\r\n\r\n world\n",
                End::Close,
            ),
        ],
    ),
    ("/never", &[NeverAnswer]),
    ("/hang-up", &[HangUp]),
    ("/hang-up-once", &[HangUp, Echo]),
    ("/hang-up-then-hello", &[HangUp, Say(HELLO, End::Close)]),
    ("/garble-once", &[Garble, Say(HELLO, End::Close)]),
    ("/drip", &[Drip]),
    ("/drip-once", &[Drip, Say(HELLO, End::Close)]),
    ("/flood", &[Flood]),
    ("/garbage", &[Say("SSH-2.0-Nonsense\r\n\r\n", End::Close)]),
    ("/half-head", &[Say("HTTP/1.1 200 OK\r\nContent-Le", End::Close)]),
    ("/bad-length", &[Say("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", End::Close)]),
    // Statuses.
    ("/busy-once", &[Say(UNAVAILABLE, End::Close), Say(HELLO, End::Close)]),
    ("/busy", &[Say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nbusy\n", End::Close)]),
    (
        "/come-back-tomorrow",
        &[Say(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 86400\r\nContent-Length: 5\r\n\r\nbusy\n",
            End::Close,
        )],
    ),
    (
        "/come-back-in-a-minute",
        &[Say("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 60\r\nContent-Length: 5\r\n\r\nbusy\n", End::Close)],
    ),
    (
        "/bad-retry-after",
        &[Say(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: soon\r\nContent-Length: 5\r\n\r\nbusy\n",
            End::Close,
        )],
    ),
    ("/missing", &[Say("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnone\n", End::Close)]),
    // Redirects.
    ("/redirect", &[Redirect(302, "", "/echo")]),
    ("/redirect-303", &[Redirect(303, "", "/echo")]),
    ("/redirect-307", &[Redirect(307, "", "/echo")]),
    ("/redirect-other-origin", &[Redirect(302, "https2nd", "/echo")]),
    ("/redirect-other-port", &[Redirect(307, "http2nd", "/echo")]),
    ("/redirect-to-clients", &[Redirect(302, "clients", "/echo")]),
    ("/redirect-to-plain", &[Redirect(302, "http", "/echo")]),
    ("/redirect-loop", &[Redirect(302, "", "/redirect-loop")]),
    ("/redirect-nowhere", &[Say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", End::Close)]),
    (
        "/redirect-to-gopher",
        &[Say("HTTP/1.1 302 Found\r\nLocation: gopher://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", End::Close)],
    ),
    // Redirects that a client must refuse.
    (
        "/redirect-to-private",
        &[Say("HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n", End::Close)],
    ),
    (
        "/redirect-to-metadata",
        &[Say(
            "HTTP/1.1 307 Elsewhere\r\nLocation: http://[::ffff:169.254.169.254]/latest/\r\nContent-Length: 0\r\n\r\n",
            End::Close,
        )],
    ),
    (
        "/redirect-to-inside",
        &[Say("HTTP/1.1 302 Found\r\nLocation: http://inside.test/\r\nContent-Length: 0\r\n\r\n", End::Close)],
    ),
    // Paths at which a client must send a request twice.
    ("/reset-after-head", &[ResetAfterHead, Echo]),
    ("/reset-mid-request", &[ResetMidBody, Echo]),
    ("/reset-after-request", &[ResetAfterBody, Echo]),
];

/// The state that all connections share.
pub struct SharedState {
    ports: HashMap<&'static str, u16>,
    visits: Mutex<HashMap<(&'static str, String), usize>>,
    gathered: Mutex<HashMap<String, usize>>,
    one_more: Condvar,
    requests: File,
    large: Vec<u8>,
    large_sha256: String,
}

impl SharedState {
    pub fn new(dir: &Path, ports: &[Port]) -> Result<SharedState> {
        let large = noise(32 * 1024 * 1024);
        Ok(SharedState {
            ports: ports.iter().map(|port| (port.name, port.number)).collect(),
            visits: Mutex::new(HashMap::new()),
            gathered: Mutex::new(HashMap::new()),
            one_more: Condvar::new(),
            requests: File::options().create(true).append(true).open(dir.join("requests"))?,
            large_sha256: sha256(&large),
            large,
        })
    }

    fn next_act(&self, port: &'static str, request: &Request) -> Option<Act> {
        let (_, acts) = SCENARIOS.iter().find(|(path, _)| *path == request.path())?;
        acts.get(self.visit(port, &request.target)).or(acts.last()).copied()
    }

    /// Counts a request for the target on the port, and returns the number of earlier requests for the same target on
    /// the same port.
    pub fn visit(&self, port: &'static str, target: &str) -> usize {
        let mut visits = self.visits.lock().unwrap();
        let visit = visits.entry((port, target.to_owned())).or_insert(0);
        *visit += 1;
        *visit - 1
    }

    /// Waits until this function has been called `count` times for the target.
    fn gather(&self, target: &str, count: usize) {
        let mut gathered = self.gathered.lock().unwrap();
        *gathered.entry(target.to_owned()).or_insert(0) += 1;
        self.one_more.notify_all();
        drop(self.one_more.wait_while(gathered, |gathered| gathered[target] < count).unwrap());
    }

    pub fn has_port(&self, number: u16) -> bool {
        self.ports.values().any(|&port| port == number)
    }

    /// Appends a line to the log with one call of write(2), so that lines of different threads do not mix.
    fn log(&self, port: &str, request: &Request) -> Result<()> {
        let names: Vec<String> = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let line = format!("{port} {} {} {}\n", request.method, request.target, names.join(","));
        (&self.requests).write_all(line.as_bytes())
    }
}

/// Answers the requests on a connection, until an answer ends the connection.
pub fn serve(state: &SharedState, port: &'static str, connection: Connection) {
    let mut from = BufReader::new(connection);
    let mut responses = 0;
    // Errors are ignored, because a client may disconnect or refuse the certificate.
    let _ = loop {
        match read_request(state, port, &mut from) {
            Ok(Some(request)) => {
                let limit = KEEP_ALIVE.iter().find(|(path, _)| *path == request.path()).map(|(_, limit)| *limit);
                responses += 1;
                match limit {
                    Some(limit) if responses < limit => match from.get_mut().write_all(HELLO.as_bytes()) {
                        Ok(()) => {}
                        Err(error) => break Err(error),
                    },
                    Some(_) => break say(from.into_inner(), &request, LAST_HELLO, End::Close),
                    None => break answer(state, port, request, from),
                }
            }
            Ok(None) => break refuse_tls(from.into_inner()),
            Err(error) => break Err(error),
        }
    };
}

/// Reads until the peer ends the connection, and answers nothing. The log gets the port's name when data arrives.
pub fn stay_silent(state: &SharedState, port: &str, connection: Connection) {
    let mut from = BufReader::new(connection);
    // An error ends the connection, which is all that this function waits for.
    if from.fill_buf().is_ok_and(|bytes| !bytes.is_empty()) {
        let _ = (&state.requests).write_all(format!("{port}\n").as_bytes());
    }
    from.into_inner().stay_silent();
}

/// Reads and logs the head of the request. Returns `None` if the client sends a ClientHello instead of a request.
pub fn read_request(state: &SharedState, port: &str, from: &mut BufReader<Connection>) -> Result<Option<Request>> {
    if from.fill_buf()?.first() == Some(&TLS_HANDSHAKE) {
        return Ok(None);
    }
    let request = Request::read_head(from)?;
    state.log(port, &request)?;
    Ok(Some(request))
}

pub fn refuse_tls(mut to: Connection) -> Result<()> {
    to.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
    to.close();
    Ok(())
}

pub fn answer(
    state: &SharedState,
    port: &'static str,
    mut request: Request,
    mut from: BufReader<Connection>,
) -> Result<()> {
    let act = state.next_act(port, &request);
    match act {
        Some(ResetAfterHead) => {}
        Some(ResetMidBody) => request.read_body(&mut from, true)?,
        _ => request.read_body(&mut from, false)?,
    }
    let mut to = from.into_inner();
    match act {
        None => say(to, &request, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", End::Close)?,
        Some(Say(text, end)) => say(to, &request, text, end)?,
        Some(Redirect(status, port, path)) => {
            let location = location(state, port, path);
            let head = format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            say(to, &request, &head, End::Close)?;
        }
        Some(Together(count)) => {
            state.gather(&request.target, count);
            say(to, &request, HELLO, End::Close)?;
        }
        Some(ResetAfterHead | ResetMidBody | ResetAfterBody) => to.reset(),
        Some(HangUp) => to.close(),
        Some(Garble) => to.garble(),
        Some(NeverAnswer) => to.stay_silent(),
        Some(Drip) => drip(&mut to)?,
        Some(Flood) => flood(&mut to)?,
        Some(Large) => {
            send_large(state, &request, &mut to)?;
            to.close();
        }
        Some(Echo) => {
            let body = as_it_came(&request);
            write!(to, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len())?;
            if request.method != "HEAD" {
                to.write_all(&body)?;
            }
            to.close();
        }
    }
    Ok(())
}

fn say(mut to: Connection, request: &Request, text: &str, end: End) -> Result<()> {
    let head_only = request.method == "HEAD";
    let head = text.find("\r\n\r\n").map_or(text.len(), |end| end + 4);
    to.write_all(if head_only { &text.as_bytes()[..head] } else { text.as_bytes() })?;
    to.flush()?;
    match end {
        End::Close => to.close(),
        End::Cut => to.cut(),
        End::Reset => {
            // Gives the client time to read: a reset discards data that the client has not read.
            std::thread::sleep(Duration::from_millis(100));
            to.reset();
        }
    }
    Ok(())
}

fn location(state: &SharedState, port: &str, path: &str) -> String {
    match state.ports.get(port) {
        Some(number) => {
            let scheme = if ["http", "http2nd"].contains(&port) { "http" } else { "https" };
            format!("{scheme}://127.0.0.1:{number}{path}")
        }
        None => path.to_owned(),
    }
}

/// Sends one byte of the body per second, until the client disconnects.
fn drip(to: &mut Connection) -> Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
    loop {
        to.write_all(b".")?;
        to.flush()?;
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Sends an endless body as fast as possible until the client disconnects.
fn flood(to: &mut Connection) -> Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    loop {
        to.write_all(&[b'.'; 16 * 1024])?;
    }
}

fn send_large(state: &SharedState, request: &Request, to: &mut Connection) -> Result<()> {
    let authorized = if request.header("authorization").is_some() { "present" } else { "absent" };
    write!(
        to,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nX-SHA256: {}\r\nX-Authorization: {authorized}\r\n\r\n",
        state.large.len(),
        state.large_sha256,
    )?;
    if request.method != "HEAD" {
        to.write_all(&state.large)?;
    }
    to.flush()
}

fn as_it_came(request: &Request) -> Vec<u8> {
    let mut text = format!("{} {}\n", request.method, request.target);
    for (name, value) in &request.headers {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text.push('\n');
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(&request.body);
    bytes
}

/// Returns pseudo-random bytes, the same in every run (xorshift).
fn noise(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
