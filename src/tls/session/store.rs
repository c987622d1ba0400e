//! Stores the sessions that clients can resume. A context stores sessions by server name and offered application
//! protocols. Two contexts share a store only if one is derived from the other and they differ only in the offered
//! protocols. The application may take a session out and keep it ([`SavedSession`]).
//!
//! rustls calls the store while a connection is created or processes input, but does not pass the connection. So the
//! store first marks a new session with the current thread. Before a call of the engine returns, the engine marks the
//! new sessions of this thread with its connection.

mod entries;
mod saved_session;

use std::ffi::CString;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;

use crate::fork::{LockGuard, Mutex};
use crate::tls::per_thread::{PerThread, ThreadId};
pub(crate) use entries::Validity;
use entries::{MAX_SESSIONS_PER_NAME, NameEntries, Origin, Protocols, Secret, Session, now};
pub use saved_session::SavedSession;

/// The session, or `None`, that rustls gets instead of a stored session while the current thread creates a connection.
pub(crate) enum SessionOverride {
    Use(Arc<SavedSession>),
    None,
}

/// The store of a context, and of contexts derived from it that differ only in the offered protocols.
#[derive(Default)]
pub(crate) struct Sessions {
    entries: Mutex<NameEntries>,
    /// The number of sessions ever added. A connection compares this number with its previous value to find out,
    /// without a lock, whether there are new sessions. A connection only looks for sessions that its own thread has
    /// added, so relaxed ordering is enough.
    arrivals: AtomicUsize,
    connections: AtomicUsize,
    session_override: PerThread<SessionOverride>,
    /// For each thread, the period in which the offered session's server certificate is valid. The offered session is
    /// that of the connection which the thread is creating.
    offered_validity: PerThread<Validity>,
}

impl Sessions {
    fn lock(&self) -> LockGuard<'_, NameEntries> {
        self.entries.lock()
    }

    pub(crate) fn arrivals(&self) -> usize {
        self.arrivals.load(Ordering::Relaxed)
    }

    /// Returns a number that identifies a connection in the store.
    pub(crate) fn next_connection(&self) -> NonZeroUsize {
        NonZeroUsize::MIN.saturating_add(self.connections.fetch_add(1, Ordering::Relaxed))
    }

    /// Assigns to `connection` the sessions that this thread has added, and lets these sessions expire together with
    /// the server's certificate. `proof` contains the validity period of the certificate, and the current time of the
    /// clock that was used to verify the certificate; `None` if validity dates are not checked.
    pub(crate) fn adopt(&self, connection: NonZeroUsize, proof: Option<(&Validity, u64)>) {
        let here = Origin::Thread(ThreadId::current());
        for session in self.lock().sessions().filter(|session| session.origin == here) {
            session.origin = Origin::Connection(connection);
            session.expires_at = proof.map_or(u64::MAX, |(validity, now)| {
                session.received_at.saturating_add(validity.end.saturating_sub(now))
            });
            session.validity = proof.map(|(validity, _)| validity.clone());
        }
    }

    /// Takes the period in which the offered session's server certificate is valid. The offered session is that of the
    /// connection which this thread has just created.
    pub(crate) fn take_validity(&self) -> Option<Validity> {
        self.offered_validity.take()
    }

    fn give(&self, validity: Option<Validity>) {
        if let Some(validity) = validity {
            self.offered_validity.set(validity);
        }
    }

    /// Removes sessions whose certificate is not valid at `time`, which comes from the clock callback.
    pub(crate) fn drop_invalid(&self, time: u64) {
        let is_good = |session: &Session| session.validity.as_ref().is_none_or(|validity| validity.contains(&time));
        self.lock().0.iter_mut().for_each(|entry| entry.sessions.retain(is_good));
    }

    /// Takes the newest session of a connection.
    pub(crate) fn take(self: &Arc<Self>, connection: NonZeroUsize) -> Option<SavedSession> {
        let origin = Origin::Connection(connection);
        let mut entries = self.lock();
        entries.0.iter_mut().find_map(|entry| {
            let index = entry.sessions.iter().rposition(|session| session.origin == origin)?;
            let session = entry.sessions.remove(index);
            Some(SavedSession {
                sessions: Arc::downgrade(self),
                name: entry.name.clone(),
                text: CString::new(entry.name.to_str().as_bytes()).unwrap_or_default(),
                protocols: Arc::clone(&entry.protocols),
                version: session.secret.version(),
                received_at: session.received_at,
                session: Mutex::new(Some(session)),
            })
        })
    }

    /// Runs `make`, which creates a connection. If rustls requests a session on this thread while `make` runs, rustls
    /// gets `session_override` instead of a stored session.
    pub(crate) fn with<T>(&self, session_override: SessionOverride, make: impl FnOnce() -> T) -> T {
        self.session_override.set(session_override);
        let made = make();
        self.session_override.take();
        made
    }

    /// Returns the number of sessions that have not expired.
    pub(crate) fn count(&self) -> usize {
        let now = now();
        self.lock().sessions().filter(|session| session.is_fresh(now)).count()
    }

    pub(crate) fn forget(&self) {
        // The sessions are dropped after the lock is released.
        let _forgotten = std::mem::take(&mut *self.lock());
    }

    /// Removes the sessions that a connection received.
    pub(crate) fn forget_of(&self, connection: NonZeroUsize) {
        for entry in &mut self.lock().0 {
            entry.sessions.retain(|session| session.origin != Origin::Connection(connection));
        }
    }

    /// Removes the TLS 1.2 session for a server name and a list of offered protocols.
    pub(crate) fn forget_tls12(&self, name: &ServerName<'_>, protocols: &[Vec<u8>]) {
        if let Some(entry) = self.lock().find(name, protocols) {
            entry.sessions.retain(|session| !matches!(session.secret, Secret::Tls12(_)));
        }
    }

    fn add(&self, name: ServerName<'static>, protocols: &Protocols, session: Session) {
        let mut entries = self.lock();
        let is_tls12 = |session: &Session| matches!(session.secret, Secret::Tls12(_));
        if let Some(entry) = entries.find_or_add(name, protocols) {
            let replaces = is_tls12(&session);
            entry.sessions.retain(|earlier| !(replaces && is_tls12(earlier)));
            if entry.sessions.len() >= MAX_SESSIONS_PER_NAME {
                entry.sessions.remove(0);
            }
            entry.sessions.push(session);
        }
        entries.evict();
        drop(entries);
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the newest TLS 1.3 ticket for a server name and a list of offered protocols.
    fn take_ticket(&self, name: &ServerName<'_>, protocols: &Protocols) -> Option<Tls13ClientSessionValue> {
        let now = now();
        let mut entries = self.lock();
        let entry = entries.find(name, protocols)?;
        entry.sessions.retain(|session| session.is_fresh(now));
        let index = entry.sessions.iter().rposition(|session| matches!(session.secret, Secret::Tls13(_)))?;
        let Session { secret, validity, .. } = entry.sessions.remove(index);
        self.give(validity);
        match secret {
            Secret::Tls13(ticket) => Some(ticket),
            Secret::Tls12(_) => None,
        }
    }

    fn copy_tls12(&self, name: &ServerName<'_>, protocols: &Protocols) -> Option<Tls12ClientSessionValue> {
        let now = now();
        let mut entries = self.lock();
        let mut sessions = entries.find(name, protocols)?.sessions.iter().filter(|session| session.is_fresh(now));
        sessions.find_map(|session| match &session.secret {
            Secret::Tls12(value) => {
                self.give(session.validity.clone());
                Some(value.clone())
            }
            Secret::Tls13(_) => None,
        })
    }
}

/// The session store that rustls calls, for one list of offered protocols.
pub(crate) struct Store {
    pub(crate) sessions: Arc<Sessions>,
    protocols: Protocols,
}

impl Store {
    pub(crate) fn new(sessions: &Arc<Sessions>, protocols: &[Vec<u8>]) -> Store {
        Store { sessions: Arc::clone(sessions), protocols: protocols.into() }
    }
}

/// The debug output contains no sessions.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        if let Some(entry) = self.sessions.lock().find_or_add(name, &self.protocols) {
            entry.group = Some(group);
        }
    }

    fn kx_hint(&self, name: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions.lock().find(name, &self.protocols)?.group
    }

    fn set_tls12_session(&self, name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.sessions.add(name, &self.protocols, Session::new(Secret::Tls12(value)));
    }

    fn tls12_session(&self, name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        match self.sessions.session_override.take() {
            Some(SessionOverride::Use(session)) => {
                self.sessions.give(session.validity());
                session.copy_tls12()
            }
            Some(SessionOverride::None) => None,
            None => self.sessions.copy_tls12(name, &self.protocols),
        }
    }

    fn remove_tls12_session(&self, name: &ServerName<'static>) {
        self.sessions.forget_tls12(name, &self.protocols);
    }

    fn insert_tls13_ticket(&self, name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.sessions.add(name, &self.protocols, Session::new(Secret::Tls13(value)));
    }

    /// Takes a ticket. rustls calls this function first, and then `tls12_session` if there is no ticket.
    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // Discards a validity period that a connection may have left behind because its creation failed.
        self.sessions.offered_validity.take();
        match self.sessions.session_override.take() {
            Some(SessionOverride::Use(session)) => {
                self.sessions.give(session.validity());
                let ticket = session.take_ticket();
                if ticket.is_none() {
                    self.sessions.session_override.set(SessionOverride::Use(session));
                }
                ticket
            }
            Some(SessionOverride::None) => {
                self.sessions.session_override.set(SessionOverride::None);
                None
            }
            None => self.sessions.take_ticket(name, &self.protocols),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::entries::MAX_SESSIONS;
    use super::*;

    #[test]
    fn a_new_connection_discards_the_certificate_validity_of_a_failed_one() {
        let sessions = Arc::<Sessions>::default();
        sessions.give(Some(1..2));
        let name = ServerName::try_from("localhost").unwrap();
        assert!(Store::new(&sessions, &[]).take_tls13_ticket(&name).is_none());
        assert_eq!(sessions.take_validity(), None);
    }

    /// Stores key exchange hints, because sessions cannot be created without a handshake; the C tests cover sessions.
    #[test]
    fn session_store_entries_are_limited_and_separate_for_each_alpn_list() {
        let sessions = Arc::<Sessions>::default();
        let store = |protocols: &[&str]| {
            Store::new(&sessions, &protocols.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>())
        };
        let name = |i: usize| ServerName::try_from(format!("host{i}.example")).unwrap();
        let (h2, http) = (store(&["h2"]), store(&["http/1.1"]));
        for i in 0..MAX_SESSIONS {
            h2.set_kx_hint(name(i), NamedGroup::X25519);
        }
        assert_eq!((h2.kx_hint(&name(0)), http.kx_hint(&name(0))), (Some(NamedGroup::X25519), None));
        // A lookup makes a name the most recently used name.
        http.set_kx_hint(name(0), NamedGroup::secp256r1);
        assert_eq!(sessions.lock().0.len(), MAX_SESSIONS);
        assert_eq!((h2.kx_hint(&name(1)), h2.kx_hint(&name(0))), (None, Some(NamedGroup::X25519)));
        assert_eq!(http.kx_hint(&name(0)), Some(NamedGroup::secp256r1));
        assert_eq!(format!("{h2:?}"), "Store { .. }");
        sessions.forget();
        assert_eq!((h2.kx_hint(&name(0)), sessions.count()), (None, 0));
    }
}
