//! The sessions of a client's side: what comes is completed with what only the engine knows, and taken out or brought in
//! when the program wants that. And what a server asks of those who resume one.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::HandshakeKind;
use rustls_pki_types::UnixTime;

use super::Engine;
use super::early::Early;
use super::questions::Moment;
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::record::Session;
use crate::tls::server_name;
use crate::tls::sessions::{SavedSession, Validity};
use crate::tls::verify::refusal;
use crate::tls::x509::Certificate;

impl Engine {
    /// Takes the newest session that the server has given, if the context still remembers one.
    pub(crate) fn take_session(&mut self) -> Result<Option<SavedSession>> {
        self.check_client("take a session from")?;
        Ok(self.connection.and_then(|connection| self.context.sessions().take_out(connection)))
    }

    /// Has this session resumed, before anything has been said.
    pub(crate) fn set_session(&mut self, saved: &Arc<SavedSession>) -> Result<()> {
        self.check_client("give a session to")?;
        self.check()?;
        let refused = |why: &str| Err(Error::new(Status::InvalidArgument, why));
        if self.begun {
            return refused("the handshake has begun: a session is given before it");
        }
        if !self.context.resumption() {
            return refused("the context resumes no sessions: netlib_tls_options_set_resumption");
        }
        let config = self.context.client_config(self.name.is_some())?;
        saved.check(self.context.sessions(), self.name.as_deref(), &config.alpn_protocols)?;
        let Some(name) = &self.name else { return Ok(()) };
        let name = server_name::parse(name)?;
        // What this one was made with is dropped unseen.
        self.session = self.context.sessions().with(saved, || Session::client(config, name))?;
        self.note_offer();
        self.resuming = Some(Arc::clone(saved));
        Ok(())
    }

    fn check_client(&self, what: &str) -> Result<()> {
        if self.is_server {
            let message = format!("there is no way to {what} a server's side: clients keep sessions");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(())
    }

    /// Sessions have come to the context, perhaps from this connection.
    #[cold]
    pub(super) fn adopt_sessions(&mut self) {
        let sessions = self.context.sessions();
        let connection = *self.connection.get_or_insert_with(|| sessions.next_connection());
        if !self.context.minds_time() {
            return sessions.adopt(connection, None, None);
        }
        let is_told = matches!(self.moment, Moment::Told(_));
        let now = self.now();
        // Read once a connection: a server may send tickets by the thousand.
        let validity = match self.validity.take() {
            Some(known) if self.has_adopted => known,
            _ => Box::new(self.found_validity(now)),
        };
        sessions.adopt(connection, Some(validity.end.saturating_sub(now)), is_told.then_some(&*validity));
        // What came may have been for another thread's, and this one's server has proved nothing yet.
        if self.session.state().peer_certificates().is_some() {
            self.validity = Some(validity);
            self.has_adopted = true;
        }
    }

    /// By the clock that the peer is judged by.
    fn now(&self) -> u64 {
        match &self.moment {
            Moment::Told(time) => time.as_ref().as_ref().map_or(0, UnixTime::as_secs),
            _ => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }

    /// Of a server whose handshake is done: a client that resumes a session shows no certificate, and the one that it once
    /// showed may have expired since. rustls does not look.
    pub(super) fn check_resumed_client(&mut self) -> Result<()> {
        let state = self.session.state();
        let is_resumed = self.is_server && state.handshake_kind() == Some(HandshakeKind::Resumed);
        if !is_resumed || !self.context.minds_time_of_clients() {
            return Ok(());
        }
        let now = i64::try_from(self.now()).unwrap_or(i64::MAX);
        let leaf = state.peer_certificates().and_then(|chain| chain.first());
        let Some(Ok(leaf)) = leaf.map(|der| Certificate::parse(der)) else { return Ok(()) };
        if now <= leaf.not_after {
            return Ok(());
        }
        let error = refusal::expired(leaf.not_after, now).at(0, &leaf).explained(&self.peer());
        Err(self.complain(error))
    }

    /// When what the server has proved can be taken for good: while its certificate is valid, and so are the others that
    /// it sent and the lists of revoked ones, except those that were not valid when the chain was judged and so had no
    /// part in it.
    fn found_validity(&self, now: u64) -> Validity {
        let chain = self.session.state().peer_certificates().unwrap_or(&[]);
        let mut found = 0..0;
        for (index, der) in chain.iter().enumerate() {
            let validity = Certificate::parse(der).map_or(0..0, |certificate| certificate.validity());
            if index == 0 {
                found = validity;
            } else if validity.contains(&now) {
                found = found.start.max(validity.start)..found.end.min(validity.end);
            }
        }
        found.start..self.context.lists_end(now).map_or(found.end, |end| found.end.min(end))
    }

    /// Of the session that this thread has just made: what comes with the one that it offers to resume.
    pub(super) fn note_offer(&mut self) {
        self.early = Early::of_new(&self.context);
        self.validity = self.context.sessions().take_validity().map(Box::new);
    }

    /// The program has said what time it is, and nothing has been sent. A session may rest on a certificate that would not
    /// be accepted any more, because that clock was set since; it is not offered then.
    pub(super) fn reconsider_offer(&mut self, time: u64) {
        let is_over = self.validity.as_ref().is_some_and(|validity| !validity.contains(&time));
        let Some(name) = self.name.as_deref().filter(|_| is_over && !self.begun) else { return };
        self.context.sessions().drop_invalid(time);
        let remade =
            server_name::parse(name).and_then(|name| Session::client(self.context.client_config(true)?, name));
        match remade {
            Ok(session) => {
                self.session = session;
                self.note_offer();
            }
            Err(error) => {
                self.fail(error);
            }
        }
        if let Some(saved) = self.resuming.take() {
            saved.use_up();
        }
    }
}
