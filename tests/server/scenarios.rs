//! What the server does at which path: one table, and the code that acts it out.

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

/// What is done with one request.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Exactly these bytes (to HEAD, those of the head), then the end.
    Say(&'static str, End),
    /// The `Location` is on the port of this name; "" is a relative reference on the same one.
    Redirect(u16, &'static str, &'static str),
    /// Resets the connection once it has read the head.
    ResetAfterHead,
    /// … the head and half of the body.
    ResetMidBody,
    /// … all of the request.
    ResetAfterBody,
    /// Closes without a word.
    HangUp,
    /// Answers with a broken record of TLS, once it has read all of the request.
    Garble,
    /// Keeps the connection, and never answers.
    NeverAnswer,
    /// A body of one byte a second that does not end.
    Drip,
    /// A body that does not end, as fast as it is taken.
    Flood,
    /// 32 MiB with their checksum in `x-sha256`. `x-authorization` says whether the request carried one.
    Large,
    /// 200 with the request, exactly as it came, as the body.
    Echo,
    /// Answers when so many requests for the same target have come, on whichever ports, and none before.
    Together(usize),
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// With TLS's closing message.
    Close,
    /// Without it.
    Cut,
    Reset,
}

/// What a TLS client says first. It is answered in clear, as servers do.
const TLS_HANDSHAKE: u8 = 0x16;

const UNAVAILABLE: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 5\r\n\r\nbusy\n";
const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";

/// The nth request for the same target on the same port gets the nth act; the last one stays. A query makes another
/// target of the same path, so that tests do not disturb each other.
const SCENARIOS: &[(&str, &[Act])] = &[
    ("/demo", &[ResetAfterHead, Say(UNAVAILABLE, End::Close), Redirect(302, "https2nd", "/large")]),
    ("/large", &[Large]),
    ("/hello", &[Say(HELLO, End::Close)]),
    ("/echo", &[Echo]),
    // Who asks for one after the other waits for ever.
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
         1\r\nh\r\n00004;name=value;flag\r\nello\r\nA ; q=\"a;b\"\r\n, chunked \r\n6\r\nworld\n\r\n0\r\n\
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
    // The announced body is complete, and that is enough.
    ("/no-goodbye", &[Say(HELLO, End::Cut)]),
    // Bodies that break.
    ("/cut-length", &[Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this\n", End::Close)]),
    ("/cut-chunked", &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nonly this\n", End::Close)]),
    (
        "/cut-between-chunks",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nonly this\n\r\n", End::Close)],
    ),
    // Over TLS, nothing but the closing message tells that this body is all.
    ("/cut-until-close", &[Say("HTTP/1.1 200 OK\r\n\r\nonly this\n", End::Cut)]),
    ("/reset-mid-body", &[Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this\n", End::Reset)]),
    ("/bad-chunk", &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", End::Close)]),
    (
        "/huge-chunk",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000001\r\nx\r\n", End::Close)],
    ),
    (
        "/overlong-chunk",
        &[Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n", End::Close)],
    ),
    // The second answer is whole.
    (
        "/cut-once",
        &[
            Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this, more than the whole\n", End::Close),
            Say(HELLO, End::Close),
        ],
    ),
    // No answers.
    ("/never", &[NeverAnswer]),
    ("/hang-up", &[HangUp]),
    ("/hang-up-once", &[HangUp, Echo]),
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
    // Where a server should not get anybody to go.
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
    // Requests that have to be sent twice.
    ("/reset-after-head", &[ResetAfterHead, Echo]),
    ("/reset-mid-request", &[ResetMidBody, Echo]),
    ("/reset-after-request", &[ResetAfterBody, Echo]),
];

/// What all connections share.
pub struct World {
    ports: HashMap<&'static str, u16>,
    visits: Mutex<HashMap<(&'static str, String), usize>>,
    gathered: Mutex<HashMap<String, usize>>,
    one_more: Condvar,
    requests: File,
    large: Vec<u8>,
    large_sha256: String,
}

impl World {
    pub fn new(dir: &Path, ports: &[Port]) -> Result<World> {
        let large = noise(32 * 1024 * 1024);
        Ok(World {
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

    /// How often this target was asked for before.
    pub fn visit(&self, port: &'static str, target: &str) -> usize {
        let mut visits = self.visits.lock().unwrap();
        let visit = visits.entry((port, target.to_owned())).or_insert(0);
        *visit += 1;
        *visit - 1
    }

    /// Returns when `count` calls for this target have been made.
    fn gather(&self, target: &str, count: usize) {
        let mut gathered = self.gathered.lock().unwrap();
        *gathered.entry(target.to_owned()).or_insert(0) += 1;
        self.one_more.notify_all();
        drop(self.one_more.wait_while(gathered, |gathered| gathered[target] < count).unwrap());
    }

    pub fn has_port(&self, number: u16) -> bool {
        self.ports.values().any(|&port| port == number)
    }

    /// One write, so that lines do not mix.
    fn note(&self, port: &str, request: &Request) -> Result<()> {
        let names: Vec<String> = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let line = format!("{port} {} {} {}\n", request.method, request.target, names.join(","));
        (&self.requests).write_all(line.as_bytes())
    }
}

/// Answers one request, and ends the connection.
pub fn serve(world: &World, port: &'static str, connection: Connection) {
    let mut from = BufReader::new(connection);
    // A client that goes away, or refuses the certificate, is no news.
    let _ = match read_request(world, port, &mut from) {
        Ok(Some(request)) => answer(world, port, request, from),
        Ok(None) => refuse_tls(from.into_inner()),
        Err(error) => Err(error),
    };
}

/// The head of the request, noted; `None` when it is TLS that comes.
pub fn read_request(world: &World, port: &str, from: &mut BufReader<Connection>) -> Result<Option<Request>> {
    if from.fill_buf()?.first() == Some(&TLS_HANDSHAKE) {
        return Ok(None);
    }
    let request = Request::read_head(from)?;
    world.note(port, &request)?;
    Ok(Some(request))
}

pub fn refuse_tls(mut to: Connection) -> Result<()> {
    to.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
    to.close();
    Ok(())
}

pub fn answer(
    world: &World,
    port: &'static str,
    mut request: Request,
    mut from: BufReader<Connection>,
) -> Result<()> {
    let act = world.next_act(port, &request);
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
            let location = location(world, port, path);
            let head = format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            say(to, &request, &head, End::Close)?;
        }
        Some(Together(count)) => {
            world.gather(&request.target, count);
            say(to, &request, HELLO, End::Close)?;
        }
        Some(ResetAfterHead | ResetMidBody | ResetAfterBody) => to.reset(),
        Some(HangUp) => to.close(),
        Some(Garble) => to.garble(),
        Some(NeverAnswer) => to.stay_silent(),
        Some(Drip) => drip(&mut to)?,
        Some(Flood) => flood(&mut to)?,
        Some(Large) => {
            send_large(world, &request, &mut to)?;
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
            // Time for the client to take what was sent: a reset destroys what it has not read.
            std::thread::sleep(Duration::from_millis(100));
            to.reset();
        }
    }
    Ok(())
}

fn location(world: &World, port: &str, path: &str) -> String {
    match world.ports.get(port) {
        Some(number) => {
            let scheme = if ["http", "http2nd"].contains(&port) { "http" } else { "https" };
            format!("{scheme}://127.0.0.1:{number}{path}")
        }
        None => path.to_owned(),
    }
}

/// Ends when the client has gone.
fn drip(to: &mut Connection) -> Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
    loop {
        to.write_all(b".")?;
        to.flush()?;
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Ends when the client has gone.
fn flood(to: &mut Connection) -> Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    loop {
        to.write_all(&[b'.'; 16 * 1024])?;
    }
}

fn send_large(world: &World, request: &Request, to: &mut Connection) -> Result<()> {
    let authorized = if request.header("authorization").is_some() { "present" } else { "absent" };
    write!(
        to,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nX-SHA256: {}\r\nX-Authorization: {authorized}\r\n\r\n",
        world.large.len(),
        world.large_sha256,
    )?;
    if request.method != "HEAD" {
        to.write_all(&world.large)?;
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

/// Bytes without a pattern, the same in every run (xorshift).
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
