//! Opens the server's ports. Each row of `open` is a port with its service and its certificate.

use std::io::Result;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::sync::Arc;

use rustls::ServerConfig;
use socket2::{Domain, Socket, Type};

use crate::certificates::Certificates;
use crate::connection::Connection;
use crate::proxy;
use crate::scenarios::{self, SharedState};

pub struct Port {
    pub name: &'static str,
    pub number: u16,
    kind: Kind,
}

enum Kind {
    /// Answers requests as in scenarios.rs, in plaintext or over TLS.
    Serve(TcpListener, Option<Arc<ServerConfig>>),
    /// Answers requests as in scenarios.rs, and opens tunnels for CONNECT.
    Proxy(TcpListener, Option<Arc<ServerConfig>>),
    /// Accepts connections and sends no data, not even TLS messages; logs the connections that send data.
    Mute(TcpListener),
    /// Reserves the port without serving it.
    Reserve { _held: (Socket, Vec<Socket>) },
}

pub fn open(certificates: &Certificates) -> Result<Vec<Port>> {
    let tls = |config: &Arc<ServerConfig>| Some(Arc::clone(config));
    let mut ports = vec![
        serve("http", None)?,
        serve("http2nd", None)?,
        serve("https", tls(&certificates.good))?,
        serve("https2nd", tls(&certificates.good))?,
        serve("expired", tls(&certificates.expired))?,
        serve("wronghost", tls(&certificates.wrong_host))?,
        serve("untrusted", tls(&certificates.untrusted))?,
        serve("revoked", tls(&certificates.revoked))?,
        serve("tls12", tls(&certificates.tls12))?,
        serve("tls13", tls(&certificates.tls13))?,
        serve("clients", tls(&certificates.known_clients))?,
        serve("origin", tls(&certificates.origin))?,
        proxy("proxy", None)?,
        proxy("tlsproxy", tls(&certificates.proxy))?,
        proxy("wrongproxy", tls(&certificates.wrong_proxy))?,
    ];
    ports.push(mute("mute")?);
    ports.push(mute("mute2nd")?);
    ports.push(closed()?);
    ports.push(full()?);
    ports.extend(half()?);
    Ok(ports)
}

fn listen() -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}

fn serve(name: &'static str, tls: Option<Arc<ServerConfig>>) -> Result<Port> {
    let listener = listen()?;
    Ok(Port { name, number: listener.local_addr()?.port(), kind: Kind::Serve(listener, tls) })
}

fn proxy(name: &'static str, tls: Option<Arc<ServerConfig>>) -> Result<Port> {
    let listener = listen()?;
    Ok(Port { name, number: listener.local_addr()?.port(), kind: Kind::Proxy(listener, tls) })
}

fn mute(name: &'static str) -> Result<Port> {
    let listener = listen()?;
    Ok(Port { name, number: listener.local_addr()?.port(), kind: Kind::Mute(listener) })
}

fn bound() -> Result<(Socket, SocketAddrV4)> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?.as_socket_ipv4().expect("an IPv4 address was bound");
    Ok((socket, address))
}

/// Returns a port that refuses connections: its socket is bound, so that no other program gets the port, but does not
/// listen.
fn closed() -> Result<Port> {
    let (socket, address) = bound()?;
    Ok(Port { name: "closed", number: address.port(), kind: Kind::Reserve { _held: (socket, Vec::new()) } })
}

/// Returns a port that never completes a connection, because its backlog has the minimum length and is full.
fn full() -> Result<Port> {
    let (socket, address) = bound()?;
    fill("full", socket, address)
}

/// Returns two addresses with the same port: 127.0.0.1 never completes a connection, and 127.0.0.2 answers requests.
fn half() -> Result<[Port; 2]> {
    // Tries several ports, because a port that is free on one address may be in use on the other.
    for _ in 0..100 {
        let (socket, address) = bound()?;
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 2), address.port())) {
            let served = Port { name: "half", number: address.port(), kind: Kind::Serve(listener, None) };
            return Ok([served, fill("half-silent", socket, address)?]);
        }
    }
    Err(std::io::ErrorKind::AddrInUse.into())
}

fn fill(name: &'static str, socket: Socket, address: SocketAddrV4) -> Result<Port> {
    socket.listen(0)?;
    let mut fillers = Vec::new();
    for _ in 0..4 {
        let filler = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        filler.set_nonblocking(true)?;
        // The non-blocking connect(2) fails with EINPROGRESS, which is expected.
        let _ = filler.connect(&address.into());
        fillers.push(filler);
    }
    Ok(Port { name, number: address.port(), kind: Kind::Reserve { _held: (socket, fillers) } })
}

/// Starts a thread for each port that accepts connections, and one for each connection. Returns the ports that accept
/// no connections: the caller must keep them, so that their sockets reserve the port numbers.
pub fn start(ports: Vec<Port>, state: &Arc<SharedState>) -> Vec<Port> {
    let mut reserved = Vec::new();
    for port in ports {
        let (name, state) = (port.name, Arc::clone(state));
        match port.kind {
            Kind::Reserve { .. } => reserved.push(port),
            Kind::Mute(listener) => {
                each(listener, move |socket| scenarios::stay_silent(&state, name, Connection::Plain(socket)))
            }
            Kind::Serve(listener, tls) => accept(listener, name, tls, move |it| scenarios::serve(&state, name, it)),
            Kind::Proxy(listener, tls) => accept(listener, name, tls, move |it| proxy::serve(&state, name, it)),
        }
    }
    reserved
}

pub fn accept(
    listener: impl Into<Socket>,
    name: &'static str,
    tls: Option<Arc<ServerConfig>>,
    serve: impl Fn(Connection) + Send + Sync + 'static,
) {
    each(listener, move |socket| match Connection::new(socket, tls.as_ref()) {
        Ok(connection) => serve(connection),
        Err(error) => eprintln!("misbehaving-server: {name}: {error}"),
    });
}

fn each(listener: impl Into<Socket>, serve: impl Fn(Socket) + Send + Sync + 'static) {
    let (listener, serve) = (listener.into(), Arc::new(serve));
    std::thread::spawn(move || {
        loop {
            if let Ok((socket, _)) = listener.accept() {
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || serve(socket));
            }
        }
    });
}
