//! The Unix domain sockets that serve the scenarios. One row of `start` each.

use std::io::Result;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::certificates::Certificates;
use crate::ports::accept;
use crate::proxy;
use crate::scenarios::{self, World};

/// Creates the sockets. They are in the current directory, because a path may have at most 107 bytes. Returns the name
/// of the socket without a path, without its NUL; the name is unique on this machine.
pub fn start(certificates: &Certificates, world: &Arc<World>) -> Result<String> {
    let name = format!("misbehaving-server-{}", std::process::id());
    serve("http.sock", "http.sock", None, world)?;
    serve("https.sock", "https.sock", Some(Arc::clone(&certificates.good)), world)?;
    serve("abstract", &format!("\0{name}"), None, world)?;
    let world = Arc::clone(world);
    accept(listen("proxy.sock")?, "proxy.sock", None, move |it| proxy::serve(&world, "proxy.sock", it));
    Ok(name)
}

fn serve(name: &'static str, path: &str, tls: Option<Arc<ServerConfig>>, world: &Arc<World>) -> Result<()> {
    let world = Arc::clone(world);
    accept(listen(path)?, name, tls, move |it| scenarios::serve(&world, name, it));
    Ok(())
}

/// Replaces a socket that an earlier server left.
fn listen(path: &str) -> Result<Socket> {
    if Path::new(path).exists() {
        std::fs::remove_file(path)?;
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    socket.listen(128)?;
    Ok(socket)
}
