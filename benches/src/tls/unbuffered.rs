//! A TLS client of rustls through its unbuffered interface, which shows the performance of rustls without a C
//! interface. The client reads 64 KiB at a time into buffers that a connection borrows only while they contain bytes.

use std::cell::RefCell;
use std::ffi::CStr;
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{ClientConfig, HandshakeKind, RootCertStore};

use super::waiting::{set_nonblocking, wait, would_block};
use super::{AUTHORITY, Client, Session};

/// The size of a buffer: room for a read of 64 KiB after a partial record, or for four full records to send.
const BUFFER: usize = 68 * 1024;
const WRITE: usize = 64 * 1024;

type Pool = Rc<RefCell<Vec<Vec<u8>>>>;

pub struct Unbuffered {
    config: Arc<ClientConfig>,
    pool: Pool,
}

impl Unbuffered {
    pub fn new() -> Result<Unbuffered, String> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_file(AUTHORITY.to_str().unwrap_or_default());
        roots.add(authority.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Unbuffered { config: Arc::new(config), pool: Pool::default() })
    }
}

impl Client for Unbuffered {
    fn connect_to(&self, host: &CStr, fd: RawFd) -> Box<dyn Session> {
        let name = ServerName::try_from(host.to_str().unwrap_or_default()).expect("a name").to_owned();
        let connection = UnbufferedClientConnection::new(Arc::clone(&self.config), name).expect("a connection");
        set_nonblocking(fd);
        let pool = Rc::clone(&self.pool);
        let mut connection = Connection { connection, fd, pool, incoming: None, spill: Vec::new(), drained: true };
        let mut output = connection.borrow();
        let mut queued = 0;
        while connection.connection.is_handshaking() || queued > 0 || connection.connection.wants_write() {
            let (used, records) = match &mut connection.incoming {
                Some(incoming) => (true, &mut incoming.bytes[incoming.start..incoming.end]),
                None => (false, &mut [][..]),
            };
            let UnbufferedStatus { discard, state } = connection.connection.process_tls_records(records);
            let mut blocked = false;
            match state.expect("a handshake") {
                ConnectionState::EncodeTlsData(mut message) => match message.encode(&mut output[queued..]) {
                    Ok(count) => queued += count,
                    Err(EncodeError::InsufficientSize(_) | EncodeError::AlreadyEncoded) => panic!("no room"),
                },
                ConnectionState::TransmitTlsData(transmit) => {
                    send(fd, &output[..queued]);
                    queued = 0;
                    transmit.done();
                }
                ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) => blocked = true,
                other => panic!("{other:?} in a handshake"),
            }
            if used {
                connection.discard(discard);
            }
            if blocked && connection.connection.is_handshaking() {
                connection.receive();
            }
        }
        connection.give_back(output);
        Box::new(connection)
    }

    fn version(&self) -> String {
        "rustls 0.23".into()
    }
}

struct Incoming {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

struct Connection {
    connection: UnbufferedClientConnection,
    fd: RawFd,
    pool: Pool,
    incoming: Option<Incoming>,
    /// Plaintext that did not fit in the caller's buffer.
    spill: Vec<u8>,
    /// True if the last read emptied the socket.
    drained: bool,
}

impl Connection {
    fn borrow(&self) -> Vec<u8> {
        self.pool.borrow_mut().pop().unwrap_or_else(|| vec![0; BUFFER])
    }

    fn give_back(&self, buffer: Vec<u8>) {
        self.pool.borrow_mut().push(buffer);
    }

    fn receive(&mut self) {
        let mut incoming =
            self.incoming.take().unwrap_or_else(|| Incoming { bytes: self.borrow(), start: 0, end: 0 });
        incoming.bytes.copy_within(incoming.start..incoming.end, 0);
        (incoming.start, incoming.end) = (0, incoming.end - incoming.start);
        let room = &mut incoming.bytes[incoming.end..];
        // As in netlib, if the last read emptied the socket, the client waits before it reads, because the socket is
        // probably still empty.
        if self.drained {
            wait(self.fd, libc::POLLIN);
        }
        let count = loop {
            let count = unsafe { libc::recv(self.fd, room.as_mut_ptr().cast(), room.len(), 0) };
            if count >= 0 || !would_block() {
                break count;
            }
            wait(self.fd, libc::POLLIN);
        };
        assert!(count > 0, "the connection has ended");
        self.drained = (count as usize) < room.len();
        incoming.end += count as usize;
        self.incoming = Some(incoming);
    }

    /// Discards the first `count` received bytes, which rustls has processed.
    fn discard(&mut self, count: usize) {
        let Some(incoming) = &mut self.incoming else { return };
        incoming.start += count;
        if incoming.start == incoming.end
            && let Some(incoming) = self.incoming.take()
        {
            self.give_back(incoming.bytes);
        }
    }
}

impl Session for Connection {
    fn read(&mut self, room: &mut [u8]) -> usize {
        let mut filled = self.spill.len().min(room.len());
        room[..filled].copy_from_slice(&self.spill[..filled]);
        self.spill.drain(..filled);
        while filled == 0 {
            let Some(incoming) = &mut self.incoming else {
                self.receive();
                continue;
            };
            let records = &mut incoming.bytes[incoming.start..incoming.end];
            let UnbufferedStatus { mut discard, state } = self.connection.process_tls_records(records);
            let blocked = match state.expect("records") {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.expect("a record");
                        discard += record.discard;
                        let now = record.payload.len().min(room.len() - filled);
                        room[filled..filled + now].copy_from_slice(&record.payload[..now]);
                        filled += now;
                        self.spill.extend_from_slice(&record.payload[now..]);
                    }
                    false
                }
                _ => true,
            };
            self.discard(discard);
            if blocked && filled == 0 {
                self.receive();
            }
        }
        filled
    }

    fn write(&mut self, data: &[u8]) {
        let mut output = self.borrow();
        for piece in data.chunks(WRITE) {
            let UnbufferedStatus { state, .. } = self.connection.process_tls_records(&mut []);
            let ConnectionState::WriteTraffic(mut traffic) = state.expect("a session") else {
                panic!("the session cannot send")
            };
            let count = traffic.encrypt(piece, &mut output).expect("room for four records");
            send(self.fd, &output[..count]);
        }
        self.give_back(output);
    }

    fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    fn agreed(&self) -> String {
        let group = self.connection.negotiated_key_exchange_group().map(|group| group.name());
        let suite = self.connection.negotiated_cipher_suite().map(|suite| suite.suite());
        match (group, suite) {
            (Some(group), Some(suite)) => format!("{group:?}, {suite:?}"),
            _ => String::new(),
        }
    }
}

fn send(fd: RawFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let count = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        if count < 0 && would_block() {
            wait(fd, libc::POLLOUT);
            continue;
        }
        assert!(count > 0, "send");
        bytes = &bytes[count as usize..];
    }
}
