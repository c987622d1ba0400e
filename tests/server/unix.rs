//! Opens the server's Unix domain sockets, which answer requests as in scenarios.rs.

use std::io::Result;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::certificates::Certificates;
use crate::ports::accept;
use crate::proxy;
use crate::scenarios::{self, SharedState};

/// Creates the sockets in the current directory, because the path of a socket may have at most 107 bytes. Returns the
/// name of the socket in the abstract namespace, without its leading NUL; the name contains the process ID, so it is
/// unique.
pub fn start(certificates: &Certificates, state: &Arc<SharedState>) -> Result<String> {
    let name = format!("misbehaving-server-{}", std::process::id());
    serve("http.sock", "http.sock", None, state)?;
    serve("https.sock", "https.sock", Some(Arc::clone(&certificates.good)), state)?;
    serve("abstract", &format!("\0{name}"), None, state)?;
    let state = Arc::clone(state);
    accept(listen("proxy.sock")?, "proxy.sock", None, move |it| proxy::serve(&state, "proxy.sock", it));
    Ok(name)
}

fn serve(name: &'static str, path: &str, tls: Option<Arc<ServerConfig>>, state: &Arc<SharedState>) -> Result<()> {
    let state = Arc::clone(state);
    accept(listen(path)?, name, tls, move |it| scenarios::serve(&state, name, it));
    Ok(())
}

/// Listens on a socket; deletes a socket file that an earlier server left behind.
fn listen(path: &str) -> Result<Socket> {
    if Path::new(path).exists() {
        std::fs::remove_file(path)?;
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    socket.listen(128)?;
    Ok(socket)
}
