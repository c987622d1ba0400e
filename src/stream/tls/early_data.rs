//! Writes the early data of a client stream. Early data is sent after the ClientHello, so writing early data begins the
//! handshake.

use super::{TlsCall, TlsStream};
use crate::error::Result;
use crate::stream::call::Call;
use crate::stream::state::Role;
use crate::stream::wait_policy::WaitPolicy;
use crate::tls::Io;
use crate::tls::session::EarlyData;

impl TlsStream {
    /// Writes as much early data as may be sent before the server answers. Bytes that are reported as written are sent
    /// by this call or by a later call.
    pub fn write_early(&self, data: &[u8]) -> Result<Io> {
        self.core.classified(|| {
            let (settings, mut call) = Call::begin(&self.core, Role::Writer)?;
            let written = call.begin_early(data, settings.wait_policy());
            call.end_writing(settings.wait_policy())?;
            written
        })
    }

    pub fn early_data(&self) -> EarlyData {
        self.core.lock().map_or(EarlyData::NotSent, |state| state.protocol.engine.early_data())
    }

    /// Returns the number of bytes of early data that may still be written.
    pub fn early_data_left(&self) -> usize {
        self.core.lock().map_or(0, |state| state.protocol.engine.early_data_left())
    }

    pub fn early_data_written(&self) -> usize {
        self.core.lock().map_or(0, |state| state.protocol.engine.early_data_written())
    }
}

impl TlsCall<'_> {
    fn begin_early(&mut self, data: &[u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let state = self.state()?;
        state.protocol.engine.check_sending()?;
        if state.protocol.engine.early_data_left() == 0
            || data.is_empty()
            || !self.enter_handshake(policy, |_| Ok(()))?
        {
            return Ok(Io::Done(0));
        }
        self.in_role(Role::Handshaker, |call| call.send_early(data, policy))
    }

    fn send_early(&mut self, data: &[u8], policy: WaitPolicy<'_>) -> Result<Io> {
        let mut rest = data;
        loop {
            let done = self.process_handshake(policy)?;
            let written = data.len() - rest.len();
            match self.send_flight(done, policy)? {
                Some(_) if written > 0 => return Ok(Io::Done(written)),
                Some(want) => return Ok(want),
                None => {}
            }
            match self.state()?.protocol.engine.write_early(rest)? {
                0 => return Ok(Io::Done(written)),
                count => rest = rest.get(count..).unwrap_or(&[]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::io::Read as _;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::{ServerConfig, ServerConnection};
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject as _;

    use super::*;
    use crate::limit::Limit;
    use crate::socket::throughput::Throughput;
    use crate::status::Status;
    use crate::tls::Choice;
    use crate::tls::x509::fingerprint;
    use crate::tls::{Context, TlsOptions};

    /// The size of early data that the server accepts: more than a socket's send buffer holds.
    const ALLOWED: u32 = 4_000_000;

    fn context() -> Arc<Context> {
        context_with(|_| {})
    }

    fn context_with(change: impl FnOnce(&mut TlsOptions)) -> Arc<Context> {
        super::super::tests::context_with(|options| {
            options.set_early_data(true);
            change(options);
        })
    }

    /// Returns a configuration for servers that accept early data. Clones of the configuration share one session store.
    fn accepting(context: &Context) -> Arc<ServerConfig> {
        let mut config = ServerConfig::clone(&context.server_config().unwrap());
        config.max_early_data_size = ALLOWED;
        Arc::new(config)
    }

    struct Pair {
        stream: TlsStream,
        _near: UnixStream,
        far: UnixStream,
        server: ServerConnection,
        early: Vec<u8>,
    }

    impl Pair {
        fn new(context: &Arc<Context>, config: &Arc<ServerConfig>) -> Pair {
            let (near, far) = UnixStream::pair().unwrap();
            far.set_nonblocking(true).unwrap();
            Pair {
                stream: TlsStream::client(context, near.as_raw_fd(), Some("localhost")).unwrap(),
                _near: near,
                far,
                server: ServerConnection::new(Arc::clone(config)).unwrap(),
                early: Vec::new(),
            }
        }

        /// Lets the server process all available input and answer.
        fn serve(&mut self) {
            while self.server.read_tls(&mut self.far).is_ok_and(|count| count > 0) {
                self.server.process_new_packets().unwrap();
                if let Some(mut early) = self.server.early_data() {
                    early.read_to_end(&mut self.early).unwrap();
                }
            }
            while self.server.wants_write() {
                self.server.write_tls(&mut self.far).unwrap();
            }
        }

        fn complete_handshake(&mut self) {
            self.stream.set_blocking(false).unwrap();
            while self.stream.handshake().unwrap() != Io::Done(0) || self.server.is_handshaking() {
                self.serve();
            }
            // Receives the session tickets.
            self.serve();
            assert_eq!(self.stream.read(&mut [0]).unwrap(), Io::WantRead);
        }
    }

    /// Returns a client stream with a session that allows early data, and its server.
    fn resuming() -> Pair {
        let context = context();
        let config = accepting(&context);
        Pair::new(&context, &config).complete_handshake();
        let pair = Pair::new(&context, &config);
        assert_eq!(pair.stream.early_data_left(), ALLOWED as usize);
        pair
    }

    /// Trust settings, callbacks, key exchange groups, ECH GREASE and a single ALPN protocol do not prevent early data.
    #[test]
    fn options_unrelated_to_early_data_do_not_prevent_it() {
        use std::time::SystemTime;
        fn leaf() -> String {
            let certificate = include_bytes!("../../../tests/certs/server.pem");
            fingerprint::sha256(&CertificateDer::from_pem_slice(certificate).unwrap())
        }
        type Row = (&'static str, fn(&mut TlsOptions));
        let changes: [Row; 8] = [
            ("pin", |options| options.add_pin(leaf().as_bytes()).unwrap()),
            ("pins alone", |options| {
                options.add_pin(leaf().as_bytes()).unwrap();
                options.set_pins_replace_chain(true);
            }),
            ("not verified", |options| {
                options.set_check_hostname(false);
                options.set_verify_mode(0).unwrap();
            }),
            ("clock", |options| {
                let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
                options.set_wall_clock(Some(Arc::new(move || Ok(now()))));
            }),
            ("server name", |options| {
                let asked = |_: Option<&CStr>| -> Result<Choice> { unreachable!("a client was asked") };
                options.set_server_name_callback(Some(Arc::new(asked)));
            }),
            ("groups", |options| options.set_key_exchange_groups(Some(b"secp384r1:x25519")).unwrap()),
            ("grease", |options| options.set_ech_grease(true)),
            ("protocol", |options| options.add_alpn_protocol(b"http/1.1").unwrap()),
        ];
        let config = accepting(&context());
        for (label, change) in changes {
            let context = context_with(change);
            Pair::new(&context, &config).complete_handshake();
            let mut pair = Pair::new(&context, &config);
            // Writing early data does not wait for the server: with this minimum throughput, a wait would fail.
            pair.stream.set_minimum_throughput(Throughput::new(1_000_000, 0.001).unwrap()).unwrap();
            assert_eq!(pair.stream.early_data_left(), ALLOWED as usize, "{label}");
            assert_eq!(pair.stream.write_early(b"GET /").unwrap(), Io::Done(5), "{label}");
            pair.serve();
            assert_eq!((&pair.early[..], pair.server.is_handshaking()), (&b"GET /"[..], true), "{label}");
            pair.stream.set_minimum_throughput(Throughput::new(1, 1000.0).unwrap()).unwrap();
            pair.complete_handshake();
            assert_eq!(pair.stream.early_data(), EarlyData::Accepted, "{label}");
        }
    }

    #[test]
    fn a_nonblocking_stream_sends_early_data_in_pieces() {
        let mut pair = resuming();
        let data: Vec<u8> = (0..ALLOWED as usize + 5).map(|i| (i % 251) as u8).collect();
        pair.stream.set_blocking(false).unwrap();
        let (mut written, mut full) = (0, 0);
        loop {
            match pair.stream.write_early(&data[written..]).unwrap() {
                Io::Done(0) => break,
                Io::Done(count) => written += count,
                Io::WantWrite => {
                    full += 1;
                    pair.serve();
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((written, full > 5), (ALLOWED as usize, true));
        assert_eq!((pair.stream.early_data(), pair.stream.early_data_left()), (EarlyData::Undecided, 0));
        assert_eq!(pair.stream.early_data_written(), written);
        pair.complete_handshake();
        assert_eq!(pair.stream.early_data(), EarlyData::Accepted);
        assert!(pair.early == data[..written]);
    }

    /// The bytes that a failed call has encrypted count as written, and a later call sends them.
    #[test]
    fn cancellation_or_a_timeout_ends_a_waiting_write_of_early_data() {
        let mut pair = resuming();
        let data = vec![7; ALLOWED as usize];
        pair.stream.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        assert_eq!(pair.stream.write_early(&data).unwrap_err().status(), Status::WriteTimeout);
        let written = pair.stream.early_data_written();
        assert!(written > 100_000 && written < data.len(), "{written}");
        pair.stream.set_write_timeout(None).unwrap();
        let limit = Arc::new(Limit::new(f64::INFINITY).unwrap());
        limit.cancel();
        pair.stream.set_limit(Some(limit)).unwrap();
        assert_eq!(pair.stream.write_early(b"x").unwrap_err().status(), Status::Cancelled);
        assert_eq!(pair.stream.early_data_written(), written);
        pair.stream.set_limit(None).unwrap();
        pair.complete_handshake();
        assert_eq!((pair.stream.early_data(), pair.early.len()), (EarlyData::Accepted, written));
    }

    #[test]
    fn early_data_of_a_short_request_is_sent_with_the_client_hello() {
        let mut pair = resuming();
        assert_eq!(pair.stream.write_early(b"").unwrap(), Io::Done(0));
        assert_eq!(pair.stream.write_early(b"GET /").unwrap(), Io::Done(5));
        assert!(pair.stream.session().is_none());
        pair.serve();
        assert_eq!((&pair.early[..], pair.server.is_handshaking()), (&b"GET /"[..], true));
        // A write of data that is not early data waits for the handshake.
        pair.stream.set_blocking(false).unwrap();
        pair.complete_handshake();
        assert_eq!(
            (pair.stream.early_data(), pair.stream.write_early(b"x").unwrap()),
            (EarlyData::Accepted, Io::Done(0))
        );
        assert_eq!(pair.stream.write(b"later").unwrap(), Io::Done(5));
        pair.serve();
        let mut room = [0; 10];
        assert_eq!((pair.server.reader().read(&mut room).unwrap(), &pair.early[..]), (5, &b"GET /"[..]));
    }
}
