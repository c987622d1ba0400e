//! Checks whether an idle session is still usable.

use super::{TlsCall, TlsStream};
use crate::error::Result;
use crate::status::Status;
use crate::stream::call::Call;
use crate::stream::state::Role;
use crate::stream::wait_policy::{NO_WAITING, WaitPolicy};
use crate::tls::session::{BUFFER_SIZE, Read};

/// The maximum number of bytes in records without data that an idle peer may send. Servers usually send two session
/// tickets, which have a few hundred bytes.
const MAX_IDLE_BYTES: u64 = BUFFER_SIZE as u64;

impl TlsStream {
    /// Returns the status that a read would return, or the reason why nothing can be written. `WantRead` means that the
    /// session is idle and usable. Session tickets and key updates are processed; application data stays unread.
    ///
    /// The probe never waits, so the limit and the timeouts that were set for earlier requests do not apply.
    pub fn probe(&self) -> Result<Status> {
        self.core.classified(|| self.probe_within(MAX_IDLE_BYTES))
    }

    fn probe_within(&self, most: u64) -> Result<Status> {
        let (_, mut call) = Call::begin(&self.core, Role::Writer)?;
        call.take(Role::Reader)?;
        let policy = NO_WAITING.wait_policy().without_throughput();
        let looked = call.probe(policy, most);
        call.end_writing(policy)?;
        call.state()?.conclude_probe(looked)
    }
}

impl TlsCall<'_> {
    /// Returns the status that a read would return, without waiting.
    pub(super) fn peek(&mut self) -> Result<Status> {
        self.probe(NO_WAITING.wait_policy().without_throughput(), MAX_IDLE_BYTES)
    }

    fn probe(&mut self, policy: WaitPolicy<'_>, most: u64) -> Result<Status> {
        if !self.state()?.unread.is_empty() {
            return Ok(Status::Ok);
        }
        // During the handshake, one receive operation is enough to find out whether the connection is open.
        if !self.enter_handshake(policy, |_| Ok(()))? {
            return self.probe_records(policy, most, false);
        }
        self.in_role(Role::Handshaker, |call| call.probe_records(policy, most, true))
    }

    fn probe_records(&mut self, policy: WaitPolicy<'_>, most: u64, is_handshaking: bool) -> Result<Status> {
        let before = self.state()?.protocol.bytes_received;
        loop {
            let state = self.state()?;
            match state.protocol.engine.peek()? {
                Read::Data(_) => return Ok(Status::Ok),
                Read::End => return Ok(Status::EndOfStream),
                Read::Blocked if is_handshaking && state.protocol.engine.is_read_ready() => {
                    return Ok(Status::WantRead);
                }
                Read::Blocked if state.protocol.bytes_received - before > most => return Ok(Status::TooMuchData),
                Read::Blocked => {}
            }
            if self.receive(policy)?.is_some() {
                return Ok(Status::WantRead);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use rustls::{ServerConfig, ServerConnection};

    use super::*;
    use crate::socket::throughput::Throughput;
    use crate::tls::{Context, Io, TlsOptions};

    /// A client stream connected to a rustls server, which can send messages that a netlib server never sends.
    struct Session {
        stream: TlsStream,
        far: UnixStream,
        server: ServerConnection,
        _near: UnixStream,
    }

    impl Session {
        fn new(tickets: usize) -> Session {
            let mut session = Session::before_handshake(tickets);
            session.complete_handshake();
            session
        }

        fn before_handshake(tickets: usize) -> Session {
            let mut options = TlsOptions::default();
            options.set_use_environment(false);
            options.add_ca_data(include_bytes!("../../../tests/certs/ca.pem")).unwrap();
            options
                .set_identity(
                    include_bytes!("../../../tests/certs/server.pem"),
                    Some(include_bytes!("../../../tests/certs/server.key")),
                )
                .unwrap();
            let context = Arc::new(Context::new(&options).unwrap());
            let mut config = ServerConfig::clone(&context.server_config().unwrap());
            config.send_tls13_tickets = tickets;
            let (near, far) = UnixStream::pair().unwrap();
            far.set_nonblocking(true).unwrap();
            let session = Session {
                stream: TlsStream::client(&context, near.as_raw_fd(), Some("localhost")).unwrap(),
                far,
                server: ServerConnection::new(Arc::new(config)).unwrap(),
                _near: near,
            };
            session.stream.set_blocking(false).unwrap();
            session
        }

        fn complete_handshake(&mut self) {
            for _ in 0..3 {
                self.stream.handshake().unwrap();
                self.exchange();
            }
            assert!(!self.server.is_handshaking());
        }

        /// Moves all available bytes between client and server.
        fn exchange(&mut self) {
            while self.server.read_tls(&mut self.far).is_ok_and(|count| count > 0) {
                self.server.process_new_packets().unwrap();
            }
            let mut records = Vec::new();
            while self.server.wants_write() {
                self.server.write_tls(&mut records).unwrap();
            }
            self.far.write_all(&records).unwrap();
        }
    }

    #[test]
    fn a_connection_with_key_updates_does_not_count_as_dropped() {
        let mut session = Session::new(2);
        assert_eq!(session.stream.probe().unwrap(), Status::WantRead);
        for _ in 0..3 {
            session.server.refresh_traffic_keys().unwrap();
            session.exchange();
            assert_eq!(session.stream.probe().unwrap(), Status::WantRead);
        }
        // With the updated keys, data passes in both directions.
        assert_eq!(session.stream.write(b"ping").unwrap(), Io::Done(4));
        session.exchange();
        let mut room = [0; 10];
        assert_eq!(session.server.reader().read(&mut room).unwrap(), 4);
        session.server.writer().write_all(b"pong").unwrap();
        session.exchange();
        assert_eq!(session.stream.probe().unwrap(), Status::Ok);
        assert_eq!(session.stream.read(&mut room).unwrap(), Io::Done(4));
        assert_eq!(session.stream.probe().unwrap(), Status::WantRead);
    }

    #[test]
    fn the_minimum_throughput_window_restarts_when_the_handshake_ends() {
        let throughput = || Throughput::new(usize::MAX, 10.0).unwrap();
        let state = |session: &Session| format!("{:?}", session.stream.lock().unwrap().throughput.as_ref().unwrap());
        let mut session = Session::before_handshake(2);
        session.stream.set_minimum_throughput(throughput()).unwrap();
        session.stream.handshake().unwrap();
        assert_ne!(state(&session), format!("{:?}", throughput()), "the wait has begun");
        session.complete_handshake();
        assert_eq!(state(&session), format!("{:?}", throughput()));
    }

    #[test]
    fn time_before_a_probe_does_not_count_in_the_minimum_throughput_check() {
        let mut session = Session::new(2);
        session.stream.set_minimum_throughput(Throughput::new(1, 10.0).unwrap()).unwrap();
        let mut room = [0; 10];
        assert_eq!(session.stream.read(&mut room).unwrap(), Io::WantRead);
        // Moves the start of the wait 20 seconds into the past.
        let back = |session: &Session| {
            let mut state = session.stream.lock().unwrap();
            let throughput = state.throughput.as_mut().unwrap();
            throughput.restart();
            throughput.begin_wait(Instant::now() - Duration::from_secs(20)).unwrap();
        };
        back(&session);
        assert_eq!(session.stream.probe().unwrap(), Status::WantRead);
        assert_eq!(session.stream.read(&mut room).unwrap(), Io::WantRead);
        // Without a probe between the two waits, both count as one wait, which fails because nothing has arrived.
        back(&session);
        let error = session.stream.read(&mut room).unwrap_err();
        assert_eq!(error.status(), Status::TooSlow);
        assert!(error.message().starts_with("0 bytes arrived from the server \"localhost\" in 20."));
        back(&session);
        session.server.writer().write_all(b"late").unwrap();
        session.exchange();
        assert_eq!(session.stream.read(&mut room).unwrap(), Io::Done(4));
        assert_eq!(session.stream.read(&mut room).unwrap(), Io::WantRead);
    }

    #[test]
    fn a_probe_returns_the_status_too_much_data_if_tickets_exceed_its_bound() {
        // The bound is exact: if the tickets have one byte more than the bound, the probe returns TooMuchData.
        let received = |session: &Session| session.stream.lock().unwrap().protocol.bytes_received;
        let session = Session::new(300);
        let before = received(&session);
        assert_eq!(session.stream.probe().unwrap(), Status::WantRead);
        let tickets = received(&session) - before;
        assert!(tickets > 10_000);
        for (most, expected) in [(tickets, Status::WantRead), (tickets - 1, Status::TooMuchData)] {
            assert_eq!(Session::new(300).stream.probe_within(most).unwrap(), expected, "{most} of {tickets}");
        }
    }
}
