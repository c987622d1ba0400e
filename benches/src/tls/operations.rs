//! The measured TLS operations: one group per operation, with one row per library.

use std::cell::RefCell;
use std::ffi::CString;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use super::server::{Order, RECORD, Server, Service, WIRE_RECORD, connect, order, wait_for};
use super::{Client, HOST, NETLIB, NETLIB_BEFORE, NETLIB_BEFORE_UNLIMITED, NETLIB_UNLIMITED, OPENSSL, RUSTLS_FFI};
use super::{Session, Share, UNBUFFERED, client};
use crate::processors::{Processor, pin};
use crate::{Group, Operation, Section};

const HANDSHAKES: usize = 64;
const ROUND_TRIPS: usize = 256;
/// The number of connections for round trips. A pass uses one connection and a round uses all of them, because the
/// kernel's time differs by 1 % between connections.
const CONNECTIONS: usize = 4;
/// The number of batches of records that a download reads per round. A batch fits in the socket's buffers. Its time
/// depends on its addresses in memory, and several batches average out this effect.
const BATCHES: usize = 4;
/// The number of bytes of an upload, several times the size of the sockets' buffers (8 to 16 MiB), because the time
/// does not include sending the data that is still in the buffers at the end.
const UPLOAD: usize = 4096 * RECORD;

/// The available libraries, each with a client context.
struct Clients(Vec<(&'static str, Rc<dyn Client>)>);

impl Clients {
    fn load(share: Share) -> Clients {
        let mut clients = Vec::new();
        let rivals = match crate::before() {
            None => vec![OPENSSL, RUSTLS_FFI, UNBUFFERED, NETLIB, NETLIB_UNLIMITED],
            Some(_) => vec![NETLIB, NETLIB_BEFORE, NETLIB_UNLIMITED, NETLIB_BEFORE_UNLIMITED],
        };
        for rival in rivals {
            match client(rival, share) {
                // The client with unbuffered rustls sends the same key shares for both values of `share`, so it is
                // measured only once.
                Ok(_) if rival == UNBUFFERED && share == Share::PostQuantum => {}
                Ok(client) => clients.push((rival, Rc::from(client))),
                Err(reason) => eprintln!("{rival}: skipped: {reason}"),
            }
        }
        Clients(clients)
    }

    fn group(&self, name: &str, operation: impl Fn(&'static str, &Rc<dyn Client>) -> Operation) -> Group {
        let operations = self.0.iter().map(|(rival, client)| operation(rival, client)).collect();
        Group { name: name.into(), references: &[OPENSSL, RUSTLS_FFI], operations }
    }
}

/// The names of the groups, to which the table of goals refers.
pub const FULL: &str = "full handshake";
pub const FULL_UNKNOWN: &str = "full handshake, default key shares, unknown server";
pub const RESUMED: &str = "resumed handshake";
pub const DOWNLOAD: &str = "download, 16 KiB reads";
pub const DOWNLOAD_AES128: &str = "download, AES-128-GCM";
pub const UPLOAD_16: &str = "upload, 16 KiB writes";
pub const UPLOAD_64: &str = "upload, 64 KiB writes";
pub const UPLOAD_16_NODELAY: &str = "upload, 16 KiB writes, TCP_NODELAY";
pub const UPLOAD_64_NODELAY: &str = "upload, 64 KiB writes, TCP_NODELAY";
pub const ECHO_64: &str = "round trip of 64 bytes";
pub const ECHO_16K: &str = "round trip of 16 KiB";

pub fn section() -> Result<Section, String> {
    pin(Processor::Client);
    // The server runs until this process ends, because the server reads its standard input from a pipe of this process.
    let server = Box::leak(Box::new(Server::start()?));
    // The resumed handshakes use separate contexts, so that the contexts of the full handshakes never have a ticket
    // that the server would accept.
    let (classical, post_quantum) = (Clients::load(Share::Classical), Clients::load(Share::PostQuantum));
    let resuming = Clients::load(Share::Classical);
    let clients = &classical;
    let (silent, tickets) = (server.port(Service::Silent), server.port(Service::Tickets));
    let groups = vec![
        clients.group(FULL, |rival, client| full(rival, client, silent, |_| HOST.into())),
        post_quantum.group(FULL_UNKNOWN, |rival, client| full(rival, client, silent, unknown)),
        resuming.group(RESUMED, |rival, client| resumed(rival, client, tickets)),
        clients.group(DOWNLOAD, |rival, client| download(rival, Peer::new(server, client, Service::Orders))),
        clients.group(DOWNLOAD_AES128, |rival, client| download(rival, Peer::new(server, client, Service::Aes128))),
        clients.group(UPLOAD_16, |rival, client| upload(rival, server, client, RECORD, Nagle::On)),
        clients.group(UPLOAD_64, |rival, client| upload(rival, server, client, 4 * RECORD, Nagle::On)),
        clients.group(UPLOAD_16_NODELAY, |rival, client| upload(rival, server, client, RECORD, Nagle::Off)),
        clients.group(UPLOAD_64_NODELAY, |rival, client| upload(rival, server, client, 4 * RECORD, Nagle::Off)),
        clients.group(ECHO_64, |rival, client| echo(rival, server, client, 64)),
        clients.group(ECHO_16K, |rival, client| echo(rival, server, client, RECORD)),
    ];
    Ok(Section { name: "tls", title: "TLS", groups })
}

/// Returns a list of sockets for a pass, and a function that fills the list with connected sockets before the pass.
fn sockets(port: u16) -> (Rc<RefCell<Vec<TcpStream>>>, impl FnMut()) {
    let sockets = Rc::new(RefCell::new(Vec::new()));
    let shared = Rc::clone(&sockets);
    let prepare = move || {
        let mut sockets = shared.borrow_mut();
        sockets.clear();
        sockets.extend((0..HANDSHAKES).map(|_| connect(port)));
    };
    (sockets, prepare)
}

/// Returns a server name for which the server's certificate is valid, a different one for each number. rustls remembers
/// by server name which group a server has selected, and sends a key share for X25519MLKEM768 to unknown servers.
fn unknown(number: usize) -> CString {
    CString::new(format!("n{number}.wild.test")).unwrap_or_default()
}

/// Measures a full handshake, from the creation of the session until the session is freed.
fn full(rival: &str, client: &Rc<dyn Client>, port: u16, name: fn(usize) -> CString) -> Operation {
    let mut count = 0;
    let client = Rc::clone(client);
    let (sockets, prepare) = sockets(port);
    let pass = move || {
        for socket in sockets.borrow().iter() {
            count += 1;
            let session = client.connect_to(&name(count), socket.as_raw_fd());
            assert!(!session.is_resumed(), "a handshake was resumed");
        }
    };
    Operation::new(rival, HANDSHAKES, pass).prepared(prepare)
}

/// Measures a resumed handshake, and the read of the byte that the server sends after new tickets.
fn resumed(rival: &str, client: &Rc<dyn Client>, port: u16) -> Operation {
    let client = Rc::clone(client);
    let (sockets, prepare) = sockets(port);
    let first = connect(port);
    client.connect(first.as_raw_fd()).read_exact(&mut [0]);
    let pass = move || {
        for socket in sockets.borrow().iter() {
            let mut session = client.connect(socket.as_raw_fd());
            session.read_exact(&mut [0]);
            assert!(session.is_resumed(), "a handshake was not resumed");
        }
    };
    Operation::new(rival, HANDSHAKES, pass).prepared(prepare)
}

/// A TLS session that stays open, and its socket.
struct Peer {
    session: Box<dyn Session>,
    socket: TcpStream,
    /// The number of bytes of a batch, which fits in the socket's buffers.
    batch: usize,
}

impl Peer {
    fn new(server: &Server, client: &Rc<dyn Client>, service: Service) -> Rc<RefCell<Peer>> {
        let socket = server.connect(service);
        let session = client.connect(socket.as_raw_fd());
        let mut room = 0_i32;
        let mut len = 4;
        unsafe {
            let option = (&raw mut room).cast();
            libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, option, &mut len);
        }
        let batch = (room as usize / 4).clamp(4 * RECORD, 64 * RECORD) / (4 * RECORD) * (4 * RECORD);
        Rc::new(RefCell::new(Peer { session, socket, batch }))
    }

    fn order(&mut self, what: Order, bytes: usize) {
        self.session.write(&order(what, bytes));
    }
}

/// Measures reads of data that has arrived before the first read.
fn download(rival: &str, peer: Rc<RefCell<Peer>>) -> Operation {
    let batch = peer.borrow().batch;
    let shared = Rc::clone(&peer);
    let prepare = move || {
        let mut peer = shared.borrow_mut();
        peer.order(Order::Send, batch);
        wait_for(&peer.socket, batch / RECORD * WIRE_RECORD);
    };
    let mut room = vec![0; RECORD];
    let pass = move || {
        let session = &mut peer.borrow_mut().session;
        let mut left = batch;
        while left > 0 {
            left -= session.read(&mut room);
        }
    };
    Operation::new(rival, batch / RECORD, pass).prepared(prepare).repeated(BATCHES)
}

/// The state of Nagle's algorithm: if on, which is the default, the kernel may delay a write until earlier data has
/// been acknowledged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nagle {
    On,
    Off,
}

/// Measures writes, while the server reads the data as it arrives.
fn upload(rival: &str, server: &Server, client: &Rc<dyn Client>, size: usize, nagle: Nagle) -> Operation {
    let peer = Peer::new(server, client, Service::Orders);
    let shared = Rc::clone(&peer);
    let mut before = false;
    let prepare = move || {
        let mut peer = shared.borrow_mut();
        if std::mem::replace(&mut before, true) {
            // Reads the byte that the server sends when it has read all data of the previous pass.
            peer.session.read_exact(&mut [0]);
        }
        let _ = peer.socket.set_nodelay(nagle == Nagle::Off);
        peer.order(Order::Take, UPLOAD);
    };
    let data = vec![0x5A; size];
    let pass = move || {
        let session = &mut peer.borrow_mut().session;
        for _ in 0..UPLOAD / size {
            session.write(&data);
        }
    };
    Operation::new(rival, UPLOAD / RECORD, pass).prepared(prepare)
}

fn echo(rival: &str, server: &Server, client: &Rc<dyn Client>, size: usize) -> Operation {
    let connections = [(); CONNECTIONS].map(|()| {
        let peer = Peer::new(server, client, Service::Orders);
        peer.borrow_mut().order(Order::Echo, size);
        peer
    });
    let mut next = 0;
    let (data, mut room) = (vec![0x5A; size], vec![0; size]);
    let round_trips = Rc::new(RefCell::new(move |times: usize| {
        let session = &mut connections[next].borrow_mut().session;
        for _ in 0..times {
            session.write(&data);
            session.read_exact(&mut room);
        }
        if times == ROUND_TRIPS {
            next = (next + 1) % CONNECTIONS;
        }
    }));
    let first = Rc::clone(&round_trips);
    // A round trip before the measurement wakes the server, and reads the messages that the server sends after the
    // handshake.
    let prepare = move || (first.borrow_mut())(1);
    let pass = move || (round_trips.borrow_mut())(ROUND_TRIPS);
    Operation::new(rival, ROUND_TRIPS, pass).prepared(prepare).repeated(CONNECTIONS)
}
