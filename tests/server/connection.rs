//! An accepted connection, in plaintext or over TLS, and the ways in which the server can end it.

use std::io::{Read, Result, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::Socket;

pub enum Connection {
    Plain(Socket),
    Tls(Box<StreamOwned<ServerConnection, Socket>>),
}

impl Connection {
    /// Creates a connection; over TLS if `tls` is given. The TLS handshake is done by the first read.
    pub fn new(socket: Socket, tls: Option<&Arc<ServerConfig>>) -> std::result::Result<Connection, rustls::Error> {
        Ok(match tls {
            None => Connection::Plain(socket),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config))?;
                Connection::Tls(Box::new(StreamOwned::new(session, socket)))
            }
        })
    }

    fn socket(&self) -> &Socket {
        match self {
            Connection::Plain(socket) => socket,
            Connection::Tls(tls) => &tls.sock,
        }
    }

    /// Returns the TLS session, if there is one, and the socket.
    pub fn into_parts(self) -> (Option<ServerConnection>, Socket) {
        match self {
            Connection::Plain(socket) => (None, socket),
            Connection::Tls(tls) => {
                let (session, socket) = tls.into_parts();
                (Some(session), socket)
            }
        }
    }

    /// Ends the connection cleanly: sends all pending data and close_notify, and waits until the peer closes.
    pub fn close(mut self) {
        if let Connection::Tls(tls) = &mut self {
            tls.conn.send_close_notify();
        }
        let _ = self.flush();
        self.cut();
    }

    /// Ends the connection without close_notify, after delivering data that was sent before.
    pub fn cut(self) {
        let mut socket = self.socket();
        let _ = socket.shutdown(Shutdown::Write);
        // Reads the remaining input, because close(2) with unread input would reset the connection and discard data in
        // flight.
        let _ = socket.set_read_timeout(Some(Duration::from_secs(5)));
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    }

    /// Sends a TLS record that the peer cannot decrypt, then ends the connection.
    pub fn garble(self) {
        let mut record = [0; 37];
        record[..5].copy_from_slice(&[0x17, 3, 3, 0, 32]);
        let mut socket = self.socket();
        let _ = socket.write_all(&record);
        self.cut();
    }

    /// Resets a TCP connection; closes a Unix domain socket.
    pub fn reset(self) {
        let _ = self.socket().set_linger(Some(Duration::ZERO));
    }

    /// Sends no more data, and waits until the peer closes the connection.
    pub fn stay_silent(mut self) {
        let _ = std::io::copy(&mut self, &mut std::io::sink());
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Connection::Plain(socket) => socket.read(buffer),
            Connection::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Connection::Plain(socket) => socket.write(bytes),
            Connection::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Connection::Plain(socket) => socket.flush(),
            Connection::Tls(tls) => tls.flush(),
        }
    }
}
