//! The HTTPS server of all clients: a separate process on another processor, which uses OpenSSL.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::BODY;
use crate::processors::{Processor, hand_down, pin};
use crate::timing::process_time;
use crate::tls::openssl::Acceptor;

/// The cipher suites of TLS 1.3 in OpenSSL's default order.
const SUITES: &std::ffi::CStr = c"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
/// OpenSSL's default.
const TICKETS: usize = 2;
/// More than the clients have open connections.
const THREADS: usize = 128;

/// The counters of a server, for one client.
#[derive(Clone, Default)]
pub struct Served {
    pub connections: usize,
    pub resumed: usize,
    pub responses: usize,
    /// The server's processor time, in ns.
    pub time: f64,
    /// The key exchange group and the cipher suite of the last full handshake.
    pub agreed: String,
}

/// The server process, which ends when this value is dropped.
pub struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub port: u16,
}

impl Server {
    pub fn start() -> Result<Server, String> {
        let this = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut program = Command::new(this.with_file_name("https"));
        hand_down(&mut program);
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("the HTTPS server: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the HTTPS server has no pipes".into());
        };
        let mut server = Server { child, input, output: BufReader::new(output), port: 0 };
        server.port = server.line()?.parse().map_err(|_| "the HTTPS server did not start")?;
        Ok(server)
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|e| e.to_string())?;
        Ok(line.trim_end().to_owned())
    }

    /// Returns what the server has done since the last call.
    pub fn served(&mut self) -> Result<Served, String> {
        self.input.write_all(b"\n").map_err(|e| e.to_string())?;
        let line = self.line()?;
        let mut fields = line.splitn(5, ' ');
        let mut number = || fields.next().and_then(|field| field.parse().ok()).unwrap_or(0);
        let (connections, resumed, responses, time) = (number(), number(), number(), number());
        let agreed = fields.next().unwrap_or("").to_owned();
        Ok(Served { connections, resumed, responses, time: time as f64, agreed })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Default)]
struct Counters {
    connections: AtomicUsize,
    resumed: AtomicUsize,
    responses: AtomicUsize,
    agreed: Mutex<String>,
}

/// Runs the server until its standard input ends. Prints the port, then a line for each line of standard input.
pub fn run() -> Result<(), String> {
    pin(Processor::Peer);
    let acceptor = Acceptor::new(SUITES, TICKETS)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
    println!("{}", listener.local_addr().map_err(|e| e.to_string())?.port());
    let shared = Arc::new((acceptor, listener, Counters::default()));
    for _ in 0..THREADS {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || {
            for socket in shared.1.incoming().flatten() {
                let _ = serve(&socket, &shared.0, &shared.2);
            }
        });
    }
    let mut start = process_time();
    for _ in std::io::stdin().lines() {
        let counters = &shared.2;
        let time = process_time();
        println!(
            "{} {} {} {:.0} {}",
            counters.connections.swap(0, Relaxed),
            counters.resumed.swap(0, Relaxed),
            counters.responses.swap(0, Relaxed),
            time - start,
            counters.agreed.lock().map_err(|e| e.to_string())?
        );
        start = time;
    }
    Ok(())
}

/// The largest number of bytes that one call writes.
const PIECE: usize = 1 << 16;

/// Returns the size of the body for a request: the path states it after the "/". Without a number, it is `BODY`.
fn body_size(request: &[u8]) -> usize {
    let path = request.split(|&byte| byte == b' ').nth(1).and_then(|path| path.strip_prefix(b"/"));
    path.and_then(|path| std::str::from_utf8(path).ok()?.parse().ok()).unwrap_or(BODY)
}

/// Serves a connection until a peer closes it. Returns `None` if the connection fails.
fn serve(socket: &TcpStream, acceptor: &Acceptor, counters: &Counters) -> Option<()> {
    let _ = socket.set_nodelay(true);
    let client = acceptor.accept(socket.as_raw_fd())?;
    counters.connections.fetch_add(1, Relaxed);
    if client.is_resumed() {
        counters.resumed.fetch_add(1, Relaxed);
    } else {
        *counters.agreed.lock().ok()? = client.agreed();
    }
    let mut request = vec![0; 4096];
    loop {
        let mut len = 0;
        while !request[..len].ends_with(b"\r\n\r\n") {
            len += client.read(&mut request[len..])?;
        }
        let closes = request[..len].windows(17).any(|part| part.eq_ignore_ascii_case(b"connection: close"));
        let connection = if closes { "Connection: close\r\n" } else { "" };
        counters.responses.fetch_add(1, Relaxed);
        let size = body_size(&request[..len]);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n{connection}\r\n");
        let first = size.min(PIECE);
        client.write(&[head.as_bytes(), &vec![b'x'; first]].concat());
        for sent in (first..size).step_by(PIECE) {
            client.write(&vec![b'x'; PIECE.min(size - sent)]);
        }
        if closes {
            client.shutdown();
            return Some(());
        }
    }
}
