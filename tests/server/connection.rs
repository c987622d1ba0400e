//! One accepted connection, plain or TLS, and the ways it can end.

use std::io::{Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::SockRef;

pub enum Connection {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Connection {
    /// TLS when there is a configuration. The first read shakes hands.
    pub fn new(tcp: TcpStream, tls: Option<&Arc<ServerConfig>>) -> std::result::Result<Connection, rustls::Error> {
        Ok(match tls {
            None => Connection::Plain(tcp),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config))?;
                Connection::Tls(Box::new(StreamOwned::new(session, tcp)))
            }
        })
    }

    fn tcp(&self) -> &TcpStream {
        match self {
            Connection::Plain(tcp) => tcp,
            Connection::Tls(tls) => &tls.sock,
        }
    }

    /// The TLS session, if there is one, and what it runs over.
    pub fn into_parts(self) -> (Option<ServerConnection>, TcpStream) {
        match self {
            Connection::Plain(tcp) => (None, tcp),
            Connection::Tls(tls) => {
                let (session, tcp) = tls.into_parts();
                (Some(session), tcp)
            }
        }
    }

    /// The polite end: everything is delivered, TLS says goodbye, and the peer closes first.
    pub fn close(mut self) {
        if let Connection::Tls(tls) = &mut self {
            tls.conn.send_close_notify();
        }
        let _ = self.flush();
        self.cut();
    }

    /// The stream just ends, without TLS's closing message. What was sent is delivered.
    pub fn cut(self) {
        let tcp = self.tcp();
        let _ = tcp.shutdown(Shutdown::Write);
        // Closing with unread input would reset the connection and destroy what is still on its way.
        let _ = tcp.set_read_timeout(Some(Duration::from_secs(5)));
        let _ = std::io::copy(&mut &*tcp, &mut std::io::sink());
    }

    /// A TCP reset.
    pub fn reset(self) {
        let _ = SockRef::from(self.tcp()).set_linger(Some(Duration::ZERO));
    }

    /// Says nothing more until the peer has gone.
    pub fn stay_silent(mut self) {
        let _ = std::io::copy(&mut self, &mut std::io::sink());
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Connection::Plain(tcp) => tcp.read(buffer),
            Connection::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Connection::Plain(tcp) => tcp.write(bytes),
            Connection::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Connection::Plain(tcp) => tcp.flush(),
            Connection::Tls(tls) => tls.flush(),
        }
    }
}
