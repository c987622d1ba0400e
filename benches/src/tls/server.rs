//! The TLS server for all clients, a separate process on another processor. The server uses OpenSSL, so only OpenSSL's
//! client has a peer that uses the client's library.

use std::ffi::CStr;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::openssl::{Accepted, Acceptor};
use crate::processors::{Processor, hand_down, pin};

pub const RECORD: usize = 16 * 1024;
/// The length of a full TLS record on the wire: the plaintext, the record header, the content type and the tag.
pub const WIRE_RECORD: usize = RECORD + 5 + 1 + 16;

/// The services of the server, each on its own port.
#[derive(Clone, Copy)]
pub enum Service {
    /// Does the handshake and sends nothing after it, not even tickets.
    Silent,
    /// Does the handshake, then sends session tickets and one byte.
    Tickets,
    /// Executes the client's `Order`s, with the cipher suite AES-256-GCM.
    Orders,
    /// Executes the client's `Order`s, with the cipher suite AES-128-GCM.
    Aes128,
}

const SERVICES: [Service; 4] = [Service::Silent, Service::Tickets, Service::Orders, Service::Aes128];

/// A command from the client to the server: a letter and a number of bytes.
pub enum Order {
    /// Sends this number of bytes in full records.
    Send = b'S' as isize,
    /// Reads this number of bytes, then sends one byte.
    Take = b'T' as isize,
    /// From now on, reads pieces of this size and sends each piece back.
    Echo = b'E' as isize,
}

pub fn order(order: Order, bytes: usize) -> [u8; 9] {
    let mut text = [order as u8; 9];
    text[1..].copy_from_slice(&(bytes as u64).to_le_bytes());
    text
}

/// The server process, which ends when this value is dropped.
pub struct Server {
    child: Child,
    ports: Vec<u16>,
}

impl Server {
    pub fn start() -> Result<Server, String> {
        let mut child = program()?
            .arg("server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("the TLS server: {e}"))?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("the TLS server has no output")?;
        BufReader::new(stdout).read_line(&mut line).map_err(|e| e.to_string())?;
        let ports: Vec<u16> = line.split_whitespace().filter_map(|port| port.parse().ok()).collect();
        if ports.len() != SERVICES.len() {
            return Err("the TLS server did not start".into());
        }
        Ok(Server { child, ports })
    }

    pub fn port(&self, service: Service) -> u16 {
        self.ports[service as usize]
    }

    pub fn connect(&self, service: Service) -> TcpStream {
        connect(self.port(service))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command of the program `tls`, which runs the server and the client processes.
pub fn program() -> Result<Command, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut program = Command::new(this.with_file_name("tls"));
    hand_down(&mut program);
    Ok(program)
}

/// Connects to the server. Requests socket buffers of 4 MiB, which the system may reduce.
pub fn connect(port: u16) -> TcpStream {
    unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        prepare(fd);
        let on = 1_i32;
        libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, (&raw const on).cast(), 4);
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_port = port.to_be();
        address.sin_addr.s_addr = u32::from(Ipv4Addr::LOCALHOST).to_be();
        let status =
            libc::connect(fd, (&raw const address).cast(), size_of::<libc::sockaddr_in>() as libc::socklen_t);
        assert_eq!(status, 0, "connect: {}", std::io::Error::last_os_error());
        <TcpStream as std::os::fd::FromRawFd>::from_raw_fd(fd)
    }
}

/// Sets options of a client's socket, or of a listener. The connections that a listener accepts inherit its options.
fn prepare(fd: RawFd) {
    let size: i32 = 4 << 20;
    for option in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, (&raw const size).cast(), 4) };
    }
    // Selects the congestion control Reno, which is always available. With BBR, the default of some systems, the kernel
    // may set a timer for each write, depending on its measurements of the connection, and the timers would cause most
    // of the difference between two libraries.
    let control = "reno";
    unsafe {
        let len = control.len() as libc::socklen_t;
        libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, control.as_ptr().cast(), len);
    }
}

/// Waits until `bytes` bytes can be read, for at most a second.
pub fn wait_for(socket: &TcpStream, bytes: usize) {
    let mut there = 0_i32;
    for _ in 0..20_000 {
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONREAD, &mut there) };
        if there as usize >= bytes {
            return;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// Polls without yielding the processor until a byte can be read or the time has passed.
fn spin_for(socket: &TcpStream, time: Duration) {
    let (start, mut there) = (Instant::now(), 0_i32);
    while there == 0 && start.elapsed() < time {
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONREAD, &mut there) };
    }
}

/// Runs the server until its standard input ends.
pub fn run() -> Result<(), String> {
    pin(Processor::Peer);
    let mut ports = Vec::new();
    for service in SERVICES {
        let (suite, tickets): (&CStr, usize) = match service {
            Service::Silent => (c"TLS_AES_256_GCM_SHA384", 0),
            Service::Tickets | Service::Orders => (c"TLS_AES_256_GCM_SHA384", 2),
            Service::Aes128 => (c"TLS_AES_128_GCM_SHA256", 2),
        };
        let acceptor = Arc::new(Acceptor::new(suite, tickets)?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
        prepare(listener.as_raw_fd());
        ports.push(listener.local_addr().map_err(|e| e.to_string())?.port().to_string());
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let acceptor = Arc::clone(&acceptor);
                std::thread::spawn(move || {
                    let _ = socket.set_nodelay(true);
                    if let Some(accepted) = acceptor.accept(socket.as_raw_fd()) {
                        serve(service, &accepted, &socket);
                    }
                });
            }
        });
    }
    println!("{}", ports.join(" "));
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}

/// Serves a connection until the client closes it.
fn serve(service: Service, client: &Accepted, socket: &TcpStream) {
    match service {
        Service::Silent => {}
        Service::Tickets => client.write(b"x"),
        Service::Orders | Service::Aes128 => return obey(client, socket),
    }
    client.read_exact(&mut [0]);
}

fn obey(client: &Accepted, socket: &TcpStream) {
    let mut buffer = vec![0x5A; 64 * 1024];
    let mut order = [0; 9];
    while client.read_exact(&mut order) {
        let [what, bytes @ ..] = order;
        let mut left = u64::from_le_bytes(bytes) as usize;
        while left > 0 {
            let piece = match what {
                b'S' => RECORD.min(left),
                b'T' => buffer.len().min(left),
                _ => left,
            };
            if what == b'E' && Processor::Peer.number().is_some() {
                // The server polls instead of sleeping: waking a sleeping server would make the client's write cost
                // more than the rest of a round trip.
                spin_for(socket, Duration::from_millis(1));
            }
            if what != b'S' && !client.read_exact(&mut buffer[..piece]) {
                return;
            }
            if what != b'T' {
                client.write(&buffer[..piece]);
            }
            // The server echoes until the client closes the connection.
            left -= if what == b'E' { 0 } else { piece };
        }
        if what == b'T' {
            client.write(b"x");
        }
    }
}
