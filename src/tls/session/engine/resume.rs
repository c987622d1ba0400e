//! Implements session resumption. A client's engine marks the sessions that it receives with its connection. The
//! application can take a session from the engine, and can set the session that an engine resumes. A server's engine
//! checks the certificates of clients that resume.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Engine;
use super::certificate_time::CertificateTime;
use super::early_data::EarlyDataState;
use crate::error::{ApiName, Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::session::record::Connection;
use crate::tls::session::store::{SavedSession, SessionOverride, Validity};
use crate::tls::verify::{refusal, server_name};
use crate::tls::x509::Certificate;

impl Engine {
    /// Takes the newest session of this connection from the session store.
    pub(crate) fn take_session(&mut self) -> Result<Option<SavedSession>> {
        self.check_client("take a session from")?;
        Ok(self.store_key.and_then(|connection| self.context.sessions().take(connection)))
    }

    /// Sets the session that the connection resumes; with `None`, the connection resumes no session. Fails once the
    /// handshake has begun.
    pub(crate) fn set_session(&mut self, saved: Option<&Arc<SavedSession>>) -> Result<()> {
        self.check_client("give a session to")?;
        self.check()?;
        let refused = |why: &str| Err(Error::new(Status::InvalidArgument, why));
        if self.begun {
            return refused("the handshake has begun: set the session before it");
        }
        if !self.context.resumption() && saved.is_some() {
            let message = "resumption is off in the context: ";
            return Err(Error::naming(Status::InvalidArgument, message, ApiName::SetResumption, ""));
        }
        let config = self.context.client_config(self.name.is_some())?;
        if let Some(saved) = saved {
            saved.check(self.context.sessions(), self.name.as_deref(), &config.alpn_protocols)?;
        }
        // Sessions are stored by server name, so a connection without a server name resumes no session.
        let Some(name) = &self.name else { return Ok(()) };
        let name = server_name::parse(name)?;
        let session_override = saved.map_or(SessionOverride::None, |saved| SessionOverride::Use(Arc::clone(saved)));
        let _delay = fork::delay();
        // Replaces the connection of rustls, which has not sent anything yet.
        self.connection = self.context.sessions().with(session_override, || Connection::client(config, name))?;
        self.record_offer();
        self.resuming = saved.cloned();
        Ok(())
    }

    /// Removes the sessions of a connection that a fatal alert has ended: the sessions that the connection received
    /// (RFC 8446 section 6.2) and, with TLS 1.2, the session that it resumed (RFC 5246 section 7.2.2). A TLS 1.3 ticket
    /// need not be removed, because the store removes it when a connection offers it.
    pub(crate) fn forget_sessions(&self) {
        let sessions = self.context.sessions();
        if let Some(connection) = self.store_key {
            sessions.forget_of(connection);
        }
        let name = self.name.as_deref().filter(|_| self.is_handshaking()).map(server_name::parse);
        if let (Some(Ok(name)), Ok(config)) = (name, self.context.client_config(true)) {
            sessions.forget_tls12(&name, &config.alpn_protocols);
        }
    }

    fn check_client(&self, what: &str) -> Result<()> {
        if self.is_server {
            let message = format!("cannot {what} a server's stream: only clients store and resume sessions");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        Ok(())
    }

    /// Assigns the new sessions in the context's store to this connection, if this connection has received them.
    #[cold]
    pub(crate) fn adopt_sessions(&mut self) {
        let sessions = self.context.sessions();
        let connection = *self.store_key.get_or_insert_with(|| sessions.next_connection());
        if !self.context.checks_validity_dates() {
            return sessions.adopt(connection, None);
        }
        let now = self.now();
        // The validity period of the server's certificate is computed once per connection, because a server may send
        // thousands of tickets. On a resumed connection, the period is that of the certificate in the original
        // handshake.
        let is_resumed = self.connection.is_resumed();
        let known = self.validity.take_if(|_| self.has_adopted || is_resumed);
        let validity = known.unwrap_or_else(|| Box::new(self.proof_validity(now)));
        sessions.adopt(connection, Some((&validity, now)));
        // A connection that has not received a certificate has no sessions: the new sessions belong to the connection
        // of another thread.
        if self.connection.peer_certificates().is_some() {
            self.validity = Some(validity);
            self.has_adopted = true;
        }
    }

    /// Returns the current time of the clock that is used to verify the peer's certificate.
    fn now(&self) -> u64 {
        match &self.certificate_time {
            CertificateTime::FromCallback(callback_time) => callback_time.now(),
            _ => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }

    /// Fails a server's session if the context checks the validity dates of clients' certificates and the certificate
    /// of a resuming client has expired. The client presented that certificate in the original handshake. rustls does
    /// not check again whether that certificate is valid.
    pub(crate) fn check_resumed_client(&mut self) -> Result<()> {
        let connection = &self.connection;
        let is_resumed = self.is_server && connection.is_resumed();
        if !is_resumed || !self.context.checks_client_validity_dates() {
            return Ok(());
        }
        let now = i64::try_from(self.now()).unwrap_or(i64::MAX);
        let leaf = connection.peer_certificates().and_then(|chain| chain.first());
        let Some(Ok(leaf)) = leaf.map(|der| Certificate::parse(der)) else { return Ok(()) };
        if now <= leaf.not_after {
            return Ok(());
        }
        let error = refusal::expired(leaf.not_after, now).at(0, &leaf).explained(&self.peer());
        Err(self.send_decode_error(error))
    }

    /// Returns the time during which the server's verified chain stays valid: the intersection of the validity periods
    /// of all certificates that the server sent, up to the earliest coming nextUpdate of a CRL. Certificates that were
    /// not valid at verification are ignored, because the verified path does not contain them.
    fn proof_validity(&self, now: u64) -> Validity {
        let chain = self.connection.peer_certificates().unwrap_or(&[]);
        let mut found = 0..0;
        for (index, der) in chain.iter().enumerate() {
            let validity = Certificate::validity_of(der).unwrap_or(0..0);
            if index == 0 {
                found = validity;
            } else if validity.contains(&now) {
                found = found.start.max(validity.start)..found.end.min(validity.end);
            }
        }
        found.start..self.context.next_crl_update(now).map_or(found.end, |end| found.end.min(end))
    }

    /// Stores the offered session's early data limit, and the period in which the session's server certificate is
    /// valid. Must be called on the thread that has created the connection, before the thread creates another
    /// connection.
    pub(crate) fn record_offer(&mut self) {
        self.early = EarlyDataState::new(&self.context);
        self.validity = self.context.sessions().take_validity().map(Box::new);
    }

    /// Withdraws an offered session whose certificate is not valid at `time`. Called with the result of the clock
    /// callback, before anything is sent. The clock may have been changed since the session was received.
    pub(crate) fn drop_expired_offer(&mut self, time: u64) {
        let is_over = self.validity.as_ref().is_some_and(|validity| !validity.contains(&time));
        let Some(name) = self.name.as_deref().filter(|_| is_over && !self.begun) else { return };
        self.context.sessions().drop_invalid(time);
        let remade =
            server_name::parse(name).and_then(|name| Connection::client(self.context.client_config(true)?, name));
        match remade {
            Ok(session) => {
                self.connection = session;
                self.record_offer();
            }
            Err(error) => {
                self.fail(error);
            }
        }
        if let Some(saved) = self.resuming.take() {
            saved.mark_used();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::HandshakeKind;
    use rustls_pki_types::UnixTime;

    use super::super::Read;
    use super::super::certificate_time::CallbackTime;
    use super::super::tests::{complete_handshake, context, drain, feed, pair};
    use super::*;
    use crate::tls::Context;
    use crate::tls::config::Version;

    /// Returns a client and a server whose handshake is done. The client has received the server's tickets.
    fn connected(context: &Arc<Context>) -> (Engine, Engine) {
        let (mut client, mut server) = pair(context);
        complete_handshake(&mut client, &mut server, usize::MAX);
        assert_eq!(client.read(&mut [0]).unwrap(), Read::Blocked);
        (client, server)
    }

    /// A client may receive sessions long after the clock callback has returned, so netlib adds the time that has
    /// passed since then.
    #[test]
    fn time_passed_since_the_clock_callback_is_added_to_its_result() {
        let (mut client, _) = connected(&context(|_| {}));
        let mut valid_at = |seconds: u64, before: u64| {
            let at = SystemTime::now() - Duration::from_secs(before);
            let time = Ok(UnixTime::since_unix_epoch(Duration::from_secs(seconds)));
            client.certificate_time = CertificateTime::FromCallback(Box::new(CallbackTime { time, at }));
            let now = client.now();
            client.proof_validity(now).end.saturating_sub(now)
        };
        let whole = valid_at(0, 0);
        for (seconds, before, passed) in [(1000, 0, 1000), (1000, 500, 1500), (whole - 500, 400, whole - 100)] {
            assert!((passed..passed + 5).contains(&(whole - valid_at(seconds, before))), "{seconds}, {before}");
        }
        assert_eq!(valid_at(whole - 500, 1000), 0);
    }

    /// In the last step, a fatal alert answers a ClientHello. With TLS 1.3, the store had two tickets and the
    /// ClientHello has used one of them; the store keeps the second ticket, because the connection that received it did
    /// not fail.
    #[test]
    fn a_fatal_alert_removes_the_sessions_of_its_connection_from_the_store() {
        const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
        for (version, received_at, after_failure) in [(Version::Tls12, 1, 0), (Version::Tls13, 2, 1)] {
            let context = context(|options| options.set_maximum_version(version as i32).unwrap());
            let (mut client, mut server) = connected(&context);
            assert_eq!(context.session_count(), received_at, "{version:?}");
            server.write(b"data").unwrap();
            let mut spoilt = drain(&mut server);
            *spoilt.last_mut().unwrap() ^= 1;
            feed(&mut client, &spoilt);
            assert_eq!(client.read(&mut [0]).unwrap_err().status(), Status::TlsProtocol, "{version:?}");
            assert_eq!(context.session_count(), 0, "{version:?}");

            // The truncation of a connection does not invalidate its sessions.
            let (mut client, _) = connected(&context);
            client.end_input();
            assert_eq!(client.read(&mut [0]).unwrap_err().status(), Status::TlsTruncated, "{version:?}");
            assert_eq!(context.session_count(), received_at, "{version:?}");

            let mut client = Engine::client(&context, Some("localhost")).unwrap();
            client.handshake().unwrap();
            feed(&mut client, ALERT);
            assert_eq!(client.handshake().unwrap_err().tls_alert(), Some(40), "{version:?}");
            assert_eq!(context.session_count(), after_failure, "{version:?}");
        }
    }

    /// A server that does not resume the offered session may present a certificate other than that of the session.
    #[test]
    fn only_a_resumed_connection_keeps_the_certificate_validity_of_its_session() {
        let offering = context(|_| {});
        let other = context(|_| {});
        for (serving, kind) in [(&other, HandshakeKind::Full), (&offering, HandshakeKind::Resumed)] {
            let (first, _) = connected(&offering);
            let of_before = first.validity.as_deref().cloned().unwrap();
            let mut client = Engine::client(&offering, Some("localhost")).unwrap();
            assert_eq!(client.validity.as_deref(), Some(&of_before));
            let marked = of_before.start..of_before.end - 1;
            client.validity = Some(Box::new(marked.clone()));
            let mut server = Engine::server(serving).unwrap();
            complete_handshake(&mut client, &mut server, usize::MAX);
            assert_eq!(client.read(&mut [0]).unwrap(), Read::Blocked);
            assert_eq!(client.connection().handshake_kind(), Some(kind));
            let expected = if kind == HandshakeKind::Resumed { &marked } else { &of_before };
            assert_eq!(client.validity.as_deref(), Some(expected), "{kind:?}");
        }
    }
}
