//! A session over buffers: bytes of the network in, bytes for the network out, plaintext both ways. It never waits and
//! makes no system call; who moves the bytes is [`crate::tls::stream`], or a program that has its own transport
//! ([`memory`]). What a reader gets is in [`reading`]; what the program is asked before the handshake goes on is in
//! [`pending_callback`] and [`client_hello`].

pub mod early_data;
pub mod client_hello;
pub mod memory;
mod network;
mod offered_version;
mod pending_callback;
mod reading;
mod protocol_error;
mod resume;

use std::num::NonZeroUsize;
use std::sync::Arc;

use rustls::ProtocolVersion;
use rustls_pki_types::{IpAddr, Ipv4Addr, ServerName};

use super::diagnose::SessionFacts;
use super::peer_request::PeerRequest;
use super::pool::{Pool, RecordBuffer, copy_into};
use super::record::{self, Failure, Outgoing, Received, Session, Step};
use super::store::{SavedSession, Validity};
use crate::error::{Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::config::ech::EchStatus;
use crate::tls::context::Context;
use crate::tls::per_thread::PerThread;
use crate::tls::verify::server_name;
use client_hello::ClientHelloState;
use early_data::EarlyDataState;
use offered_version::Layout;
use pending_callback::CertificateTime;
pub(crate) use reading::Read;

pub(crate) struct Engine {
    context: Arc<Context>,
    /// A context that a server-name callback replaced, or that it chose and that cannot be used. Kept until the session is
    /// dropped: to drop the last reference to a context may call a `ctx_free`, which must not happen under the stream's
    /// lock.
    unused_context: Option<Arc<Context>>,
    /// Of the context that it began with.
    pool: Arc<Pool>,
    session: Session,
    is_server: bool,
    /// The name that the server must prove.
    name: Option<Box<str>>,
    ech: EchStatus,
    /// What the peer asked for.
    peer_request: Option<Box<PeerRequest>>,
    /// What there is to do before the session may see anything.
    client_hello: Option<Box<ClientHelloState>>,
    certificate_time: CertificateTime,
    early: EarlyDataState,
    /// By what the context knows this connection's sessions, once it has some.
    connection: Option<NonZeroUsize>,
    /// What the program wants to be resumed, while it is not known whether that goes well.
    resuming: Option<Arc<SavedSession>>,
    /// When the proof is good behind the session that is offered, where that matters; then, behind those that have come.
    validity: Option<Box<Validity>>,
    has_adopted: bool,
    /// rustls has been at work.
    begun: bool,
    /// Records that came; `None` while there are none, or while they are lent.
    incoming: Option<RecordBuffer>,
    /// How many bytes of their front rustls must see again in whatever it does next; see [`record::has_unconsumed_record`].
    unconsumed: usize,
    /// A copy of those bytes while the records are lent.
    unconsumed_copy: Box<[u8]>,
    /// How many bytes there were when the records were lent.
    lent: usize,
    /// rustls has looked at all that came, and needs more.
    needs_input: bool,
    /// Plaintext that found no room in its reader's buffer.
    pending_plaintext: Option<RecordBuffer>,
    outgoing: Outgoing,
    /// Bytes of records since the last plaintext.
    bytes_without_data: usize,
    received_any: bool,
    received_record: bool,
    /// On a server: the newest version in a ClientHello that it refuses.
    newest_offered: Option<u16>,
    /// Application data was accepted for sending, early data included, or came from the peer.
    has_application_data: bool,
    peer_closed: bool,
    end_of_input: bool,
    /// Why the transport gave no more, when that was not its plain end.
    end_cause: Option<Arc<Error>>,
    /// Nothing more is to be written.
    closed: bool,
    /// The closing message has been queued.
    close_queued: bool,
    /// Why nothing works any more; every later call answers with it.
    failure: Option<Error>,
    /// Why nothing can be sent any more, though the peer's last words may still be read.
    send_failure: Option<Error>,
}

impl Engine {
    /// A client's side. Without a name, only if the context does not check names.
    pub(crate) fn client(context: &Arc<Context>, server_hostname: Option<&str>) -> Result<Engine> {
        let _delay = fork::delay();
        let server_hostname = server_hostname.filter(|name| !name.is_empty());
        let name = server_hostname.map(server_name::parse).transpose()?;
        let ech = context.ech().begun(name.as_ref())?;
        let (session, name) = match name {
            Some(name) => {
                let text = name.to_str().into();
                (Session::client(context.client_config(true)?, name)?, Some(text))
            }
            None if context.check_hostname() => {
                let message = "server_hostname is missing: a server that proves no name proves nothing";
                return Err(Error::new(Status::InvalidArgument, message));
            }
            None => {
                // rustls wants some name; an address is not sent to the server.
                let nobody = ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0, 0, 0, 0])));
                (Session::client(context.client_config(false)?, nobody)?, None)
            }
        };
        let mut engine = Engine { ech, ..Engine::new(context, session, false, name) };
        engine.record_offer();
        Ok(engine)
    }

    /// A server's side.
    pub(crate) fn server(context: &Arc<Context>) -> Result<Engine> {
        let mut engine = Engine::new(context, Session::server(context.server_config()?)?, true, None);
        engine.client_hello = ClientHelloState::of(context).map(Box::new);
        Ok(engine)
    }

    fn new(context: &Arc<Context>, session: Session, is_server: bool, name: Option<Box<str>>) -> Engine {
        Engine {
            context: Arc::clone(context),
            unused_context: None,
            pool: Arc::clone(context.pool()),
            session,
            is_server,
            name,
            ech: EchStatus::NotOffered,
            peer_request: None,
            client_hello: None,
            certificate_time: CertificateTime::new(context, is_server),
            early: EarlyDataState::default(),
            connection: None,
            resuming: None,
            validity: None,
            has_adopted: false,
            begun: false,
            incoming: None,
            unconsumed: 0,
            unconsumed_copy: Box::default(),
            lent: 0,
            needs_input: true,
            pending_plaintext: None,
            outgoing: Outgoing::new(Arc::clone(context.pool())),
            bytes_without_data: 0,
            received_any: false,
            received_record: false,
            newest_offered: None,
            has_application_data: false,
            peer_closed: false,
            end_of_input: false,
            end_cause: None,
            closed: false,
            close_queued: false,
            failure: None,
            send_failure: None,
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.session.state().is_handshaking()
    }

    /// Of a client: the name that the server must prove. Of a server: the name that the client asked for.
    pub(crate) fn server_name(&self) -> Option<&str> {
        match (&self.name, self.peer_request.as_deref()) {
            (Some(name), _) => Some(name),
            (None, Some(PeerRequest::Session { name, .. })) => name.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn ech_status(&self) -> EchStatus {
        self.ech
    }

    /// Works on what is there. True: the handshake is done. False: it needs more input, once the output is sent; or, if
    /// there is one, the answer to [`Engine::take_pending_callback`].
    pub(crate) fn handshake(&mut self) -> Result<bool> {
        self.check()?;
        let was_handshaking = self.is_handshaking();
        // The last flight is still inside rustls when the handshake is done; taking it out opens no record.
        while self.is_handshaking() || self.session.state().wants_write() {
            match self.step(&mut [])?.1 {
                Step::PeerClosed if self.is_handshaking() => {
                    // rustls lets no such message end a handshake. If it did, nothing more would come of it.
                    let failure = self.truncated().with_tls_alert(0);
                    return Err(self.fail(failure));
                }
                Step::Blocked if self.is_waiting_for_callback() => return Ok(false),
                Step::Blocked if self.is_handshaking() => {
                    return if self.end_of_input { Err(self.truncated()) } else { Ok(false) };
                }
                _ => {}
            }
        }
        if was_handshaking {
            self.check_resumed_client()?;
        }
        self.resuming = None;
        self.queue_close()?;
        Ok(true)
    }

    /// Whether the session can do nothing any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Encrypts from the front of `data` into the output; how much, at most [`record::WRITE_SIZE`].
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<usize> {
        self.check_sending()?;
        let data = data.get(..record::WRITE_SIZE).unwrap_or(data);
        if data.is_empty() {
            return Ok(0);
        }
        self.has_application_data = true;
        self.transmit(|session, unconsumed, outgoing| session.send(unconsumed, data, outgoing))?;
        Ok(data.len())
    }

    /// Ends writing. The closing message is queued, once; as long as there is no session, nobody needs one.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.check()?;
        self.check_transport()?;
        self.closed = true;
        self.queue_close()
    }

    fn queue_close(&mut self) -> Result<()> {
        if self.closed && !self.close_queued && !self.is_handshaking() {
            self.close_queued = true;
            self.transmit(|session, unconsumed, outgoing| session.close(unconsumed, outgoing))?;
        }
        Ok(())
    }

    /// Whether the session is over, and why.
    fn check(&self) -> Result<()> {
        self.failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Whether the network takes nothing any more, and why.
    fn check_transport(&self) -> Result<()> {
        self.send_failure.as_ref().map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Whether writing is over, and why.
    #[inline(always)]
    pub(crate) fn check_sending(&self) -> Result<()> {
        self.check()?;
        self.check_transport()?;
        if self.closed {
            return Err(Error::new(Status::Closed, "the stream was shut down for writing"));
        }
        Ok(())
    }

    /// Sets the retry kind of an error that is returned to the caller, from the state of this session. Until then an
    /// error has the kind of its status, because a stream inside this one is judged by its own data alone.
    #[cold]
    pub(crate) fn classify(&self, error: Error) -> Error {
        if self.has_application_data { error.after_request_was_sent() } else { error }
    }

    /// The end of the session: the first failure stays.
    pub(crate) fn fail(&mut self, failure: Error) -> Error {
        if let Some(session) = self.resuming.take() {
            session.mark_used();
        }
        Error::clone(self.failure.get_or_insert(failure))
    }

    pub(crate) fn has_peer_closed(&self) -> bool {
        self.peer_closed
    }

    pub(crate) fn peer(&self) -> String {
        self.facts().peer()
    }

    /// " during the TLS handshake", where that is so.
    pub(crate) fn during(&self) -> &'static str {
        self.facts().during()
    }

    /// One step of the session on the incoming records: how much plaintext went into `room`; the rest is spilt. What few
    /// records of data meet is cold, so that the way of the others lies together.
    fn step(&mut self, room: &mut [u8]) -> Result<(usize, Step)> {
        let was_handshaking = self.is_handshaking();
        // A handshake uses shared keys, random numbers and stores, and sets per-thread data that is taken below.
        let _delay = was_handshaking.then(fork::delay);
        if let Some(step) = self.read_client_hello()? {
            self.unconsumed = self.incoming.as_ref().map_or(0, |incoming| incoming.bytes().len());
            return Ok((0, step));
        }
        let mut delivered = 0;
        let pending_plaintext = &mut self.pending_plaintext;
        let pool = &self.pool;
        let deliver = |plaintext: &[u8]| {
            let now = copy_into(room.get_mut(delivered..).unwrap_or(&mut []), plaintext);
            delivered += now;
            match plaintext.get(now..) {
                Some(later) if !later.is_empty() => keep_pending_plaintext(pending_plaintext, pool, later),
                _ => Ok(()),
            }
        };
        if was_handshaking {
            set_certificate_time(&self.context, &self.certificate_time);
        }
        let mut records = self.incoming.as_mut().map_or(&mut [][..], RecordBuffer::bytes_mut);
        if self.client_hello.is_some() {
            records = first_record(records);
        }
        self.begun = true;
        let arrivals = self.context.sessions().arrivals();
        let Received { consumed, outcome } = self.session.receive(records, &mut self.outgoing, deliver);
        let has_plaintext = delivered > 0 || self.pending_plaintext.is_some();
        self.has_application_data |= has_plaintext;
        if was_handshaking {
            self.collect_thread_results();
        }
        // A server that rejects ends the handshake: with it rustls lets nothing go on.
        if self.ech == EchStatus::Offered && !self.is_handshaking() {
            self.ech = EchStatus::Accepted;
        }
        if arrivals != self.context.sessions().arrivals() {
            self.adopt_sessions();
        }
        if outcome.is_err() {
            self.record_offered_version(Layout::Joined);
        }
        if let Some(mut incoming) = self.incoming.take() {
            incoming.consume(consumed);
            self.keep_input(incoming);
        }
        self.received_record |= consumed > 0;
        let step = match outcome {
            Ok(Step::Data) => Step::Data,
            Ok(step) => self.finish_step_without_data(step, consumed),
            Err(failure) => return Err(self.fail_with_alert(failure)),
        };
        self.unconsumed = if step == Step::Blocked { self.find_unconsumed() } else { 0 };
        // What was queued meanwhile comes behind the data.
        let is_all_data = step == Step::Data && self.incoming.is_none() && !self.session.state().wants_write();
        self.needs_input = step == Step::Blocked || is_all_data;
        self.peer_closed |= step == Step::PeerClosed;
        if !was_handshaking {
            self.limit_bytes_without_data(consumed, has_plaintext)?;
        }
        Ok((delivered, step))
    }

    /// What the handshake has left on this thread. A note that stayed would be taken for one of the thread's next session.
    #[cold]
    fn collect_thread_results(&mut self) {
        self.context.times().map(PerThread::take);
        if let Some(request) = self.context.peer_requests().take() {
            self.peer_request = Some(Box::new(request));
        }
    }

    /// For the explanation of an error in the first message.
    #[cold]
    fn record_offered_version(&mut self, layout: Layout) {
        if self.is_server && !self.received_record {
            self.newest_offered =
                self.incoming.as_ref().and_then(|input| offered_version::newest(input.bytes(), layout));
        }
    }

    /// A step that has brought no plaintext.
    #[cold]
    fn finish_step_without_data(&mut self, step: Step, consumed: usize) -> Step {
        match self.update_early_data(step) {
            // Of what stands before the hello one record is shown at a time.
            Step::Blocked if self.client_hello.is_some() && consumed > 0 && self.incoming.is_some() => Step::Progress,
            step => step,
        }
    }

    /// Elsewhere than at the end of the input rustls holds nothing: it opens plaintext, and changes keys, only between whole
    /// handshake messages.
    #[cold]
    fn find_unconsumed(&self) -> usize {
        let left = self.incoming.as_ref().map_or(&[][..], RecordBuffer::bytes);
        if record::has_unconsumed_record(left) { left.len() } else { 0 }
    }

    /// Lets the session send. It is shown only what it holds: were it shown whole new records, it would open them,
    /// and their plaintext belongs to the reader.
    fn transmit(
        &mut self,
        act: impl FnOnce(&mut Session, &mut [u8], &mut Outgoing) -> std::result::Result<bool, Failure>,
    ) -> Result<()> {
        let unconsumed = match &mut self.incoming {
            Some(incoming) => incoming.bytes_mut().get_mut(..self.unconsumed).unwrap_or(&mut []),
            None => &mut self.unconsumed_copy[..],
        };
        match act(&mut self.session, unconsumed, &mut self.outgoing) {
            Ok(peer_closed) => {
                self.peer_closed |= peer_closed;
                Ok(())
            }
            Err(failure) => {
                let failure = self.explain(failure);
                Err(self.fail(failure))
            }
        }
    }

    /// Not a failure of the session: writing may go on, as to a peer that has only shut down its own direction.
    fn truncated(&self) -> Error {
        let truncated = self.facts().truncated(!self.received_any);
        match &self.end_cause {
            Some(cause) => truncated.with_cause(Arc::clone(cause)),
            None => truncated,
        }
    }

    fn explain(&mut self, failure: Failure) -> Error {
        match failure {
            Failure::Own(error) => error,
            Failure::Tls(error) => {
                let note = self.context.notes().take();
                if self.ech == EchStatus::Offered && self.facts().is_rejected(&error, note.as_ref()) {
                    self.ech = EchStatus::Rejected;
                }
                self.facts().explain(&error, note)
            }
        }
    }

    /// Whether the peer may still refuse what it asked for. A client's handshake ends before a server of TLS 1.3 has looked
    /// at its certificate.
    fn may_still_be_refused(&self) -> bool {
        let state = self.session.state();
        state.is_handshaking() || state.protocol_version() == Some(ProtocolVersion::TLSv1_3)
    }

    fn facts(&self) -> SessionFacts<'_> {
        let bytes = self.incoming.as_ref().map_or(&[][..], RecordBuffer::bytes);
        SessionFacts {
            is_server: self.is_server,
            name: self.name.as_deref(),
            public_name: self
                .context
                .ech_public_name()
                .and_then(|name| name.to_str().ok())
                .filter(|_| !self.is_server),
            is_rejected: self.ech == EchStatus::Rejected,
            restrictions: self.context.restrictions(),
            peer_request: self.peer_request.as_deref().filter(|_| self.may_still_be_refused()),
            handshaking: self.is_handshaking(),
            unread: bytes,
            received_record: self.received_record,
            newest_offered: self.newest_offered,
        }
    }
}

/// For a reader whose buffer is full.
#[cold]
fn keep_pending_plaintext(pending_plaintext: &mut Option<RecordBuffer>, pool: &Pool, plaintext: &[u8]) -> Result<()> {
    let mut rest = match pending_plaintext.take() {
        Some(rest) => rest,
        None => pool.borrow()?,
    };
    let is_all = rest.push(plaintext) == plaintext.len();
    *pending_plaintext = Some(rest);
    let no_room = || Error::new(Status::Internal, format!("a record of {} bytes fits no buffer", plaintext.len()));
    if is_all { Ok(()) } else { Err(no_room()) }
}

/// What stands before the first message, and not what follows.
#[cold]
fn first_record(records: &mut [u8]) -> &mut [u8] {
    let first = record::whole_record(records).unwrap_or(records.len());
    records.get_mut(..first).unwrap_or(&mut [])
}

/// For the judge of certificates, which runs on this thread.
#[cold]
fn set_certificate_time(context: &Context, certificate_time: &CertificateTime) {
    if let (Some(times), CertificateTime::FromCallback(callback_time)) = (context.times(), certificate_time) {
        times.set(Result::clone(&callback_time.time));
    }
}

#[cfg(test)]
mod tests;
