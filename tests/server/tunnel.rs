//! Copies bytes between the client and the origin server until both have closed their direction.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::Shutdown;
use std::sync::Mutex;

use rustls::ServerConnection;
use socket2::Socket;

use crate::connection::Connection;

/// Copies bytes in both directions, each on its own thread.
pub fn join(client: Connection, origin: Socket) {
    let (session, client) = client.into_parts();
    let session = session.map(Mutex::new);
    let ended = |done: Result<()>| {
        // The end of one direction leaves the other direction open. An error ends both directions of the tunnel.
        if done.is_err() {
            let _ = client.shutdown(Shutdown::Both);
            let _ = origin.shutdown(Shutdown::Both);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| ended(up(session.as_ref(), &client, &origin)));
        ended(down(session.as_ref(), &origin, &client));
    });
}

/// Copies from the client to the origin.
fn up(session: Option<&Mutex<ServerConnection>>, mut client: &Socket, mut origin: &Socket) -> Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        let received = client.read(&mut buffer)?;
        if received == 0 {
            return origin.shutdown(Shutdown::Write);
        }
        match session {
            None => origin.write_all(&buffer[..received])?,
            Some(session) => origin.write_all(&decrypt(&mut session.lock().unwrap(), &buffer[..received])?)?,
        }
    }
}

/// Copies from the origin to the client. Holds the lock of the TLS session while writing, so that records do not mix.
fn down(session: Option<&Mutex<ServerConnection>>, mut origin: &Socket, mut client: &Socket) -> Result<()> {
    let mut buffer = [0; 16 * 1024];
    loop {
        let received = origin.read(&mut buffer)?;
        match session {
            None => client.write_all(&buffer[..received])?,
            Some(session) => {
                let mut session = session.lock().unwrap();
                match received {
                    0 => session.send_close_notify(),
                    _ => session.writer().write_all(&buffer[..received])?,
                }
                while session.wants_write() {
                    session.write_tls(&mut client)?;
                }
            }
        }
        if received == 0 {
            return client.shutdown(Shutdown::Write);
        }
    }
}

fn decrypt(session: &mut ServerConnection, mut records: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    while !records.is_empty() {
        session.read_tls(&mut records)?;
        session.process_new_packets().map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?;
        match session.reader().read_to_end(&mut plain) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
    Ok(plain)
}
