//! The store of resumable sessions of clients. A context keeps sessions by verified server name and offered application
//! protocols. Other settings cannot differ, because each context has its own store. The application may take a session
//! out and keep it ([`SavedSession`]).
//!
//! rustls calls the store while a connection is created or processes input, and does not say for which connection. So a
//! new session is first marked with its thread. The engine, which knows the connection, adopts the session before its
//! call returns.

use std::ffi::{CStr, CString};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;

use crate::error::{Error, Result};
use crate::fork::{LockGuard, Mutex};
use crate::status::Status;
use crate::tls::config::code_points::Version;
use crate::tls::per_thread::{PerThread, ThreadId};

/// The maximum number of sessions in total, and of names. It is small enough for a linear search.
pub(crate) const MAX_SESSIONS: usize = 256;
/// The maximum number of sessions per name, because a server may send any number of tickets.
pub(crate) const MAX_SESSIONS_PER_NAME: usize = 8;
/// The limit of RFC 8446 section 4.6.1, in seconds. rustls enforces this limit and the server's own lifetime, which it
/// does not report.
const MAX_AGE: u64 = 7 * 24 * 60 * 60;

type Protocols = Arc<[Vec<u8>]>;

/// The secret of a session, as rustls stores it.
enum Secret {
    /// A session that can be used for any number of handshakes.
    Tls12(Tls12ClientSessionValue),
    /// A ticket that is used once: an observer of two uses could link them to one client (RFC 8446 appendix C.4).
    Tls13(Tls13ClientSessionValue),
}

impl Secret {
    fn version(&self) -> Version {
        match self {
            Secret::Tls12(_) => Version::Tls12,
            Secret::Tls13(_) => Version::Tls13,
        }
    }
}

/// The connection that received a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The connection that is in a call on this thread.
    Thread(ThreadId),
    Connection(NonZeroUsize),
}

struct Session {
    secret: Secret,
    origin: Origin,
    /// The time in seconds since 1970.
    received_at: u64,
    /// When the server's certificate expires, in seconds since 1970; `u64::MAX` if expiry is not checked.
    expires_at: u64,
    /// The validity of that certificate, by the clock that verified it.
    validity: Option<Validity>,
}

/// A range of times in seconds since 1970.
pub(crate) type Validity = Range<u64>;

impl Session {
    fn new(secret: Secret) -> Session {
        Session {
            secret,
            origin: Origin::Thread(ThreadId::current()),
            received_at: now(),
            expires_at: u64::MAX,
            validity: None,
        }
    }

    fn is_fresh(&self, now: u64) -> bool {
        is_fresh(self.received_at, self.expires_at, now)
    }
}

fn is_fresh(received_at: u64, expires_at: u64, now: u64) -> bool {
    now < expires_at && now <= received_at.saturating_add(MAX_AGE)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The sessions for one name and one list of offered protocols.
struct NameEntry {
    name: ServerName<'static>,
    protocols: Protocols,
    group: Option<NamedGroup>,
    /// At most one of TLS 1.2. The newest is last.
    sessions: Vec<Session>,
}

/// Compares DNS names byte by byte first, which usually decides, and then case-insensitively.
fn is_same(a: &ServerName<'_>, b: &ServerName<'_>) -> bool {
    match (a, b) {
        (ServerName::DnsName(a), ServerName::DnsName(b)) if a.as_ref() == b.as_ref() => true,
        _ => a == b,
    }
}

/// The entries, the least recently used one first.
#[derive(Default)]
struct NameEntries(Vec<NameEntry>);

impl NameEntries {
    fn find(&mut self, name: &ServerName<'_>, protocols: &[Vec<u8>]) -> Option<&mut NameEntry> {
        let same = |entry: &NameEntry| is_same(&entry.name, name) && *entry.protocols == *protocols;
        let index = self.0.iter().position(same)?;
        // Moves the entry to the end, because it is now the most recently used one.
        self.0.get_mut(index..)?.rotate_left(1);
        self.0.last_mut()
    }

    fn find_or_add(&mut self, name: ServerName<'static>, protocols: &Protocols) -> Option<&mut NameEntry> {
        if self.find(&name, protocols).is_none() {
            if self.0.len() >= MAX_SESSIONS {
                self.0.remove(0);
            }
            let protocols = Arc::clone(protocols);
            self.0.push(NameEntry { name, protocols, group: None, sessions: Vec::new() });
        }
        self.0.last_mut()
    }

    fn count(&self) -> usize {
        self.0.iter().map(|entry| entry.sessions.len()).sum()
    }

    fn sessions(&mut self) -> impl Iterator<Item = &mut Session> {
        self.0.iter_mut().flat_map(|entry| &mut entry.sessions)
    }

    /// Removes sessions of the least recently used names until the total is within the limit.
    fn evict(&mut self) {
        while self.count() > MAX_SESSIONS {
            let Some(entry) = self.0.iter_mut().find(|entry| !entry.sessions.is_empty()) else { return };
            entry.sessions.remove(0);
        }
    }
}

/// Replaces the store while a thread creates a connection.
pub(crate) enum SessionOverride {
    Use(Arc<SavedSession>),
    None,
}

/// The store of a context, and of contexts derived from it that differ only in the offered protocols.
#[derive(Default)]
pub(crate) struct Sessions {
    entries: Mutex<NameEntries>,
    /// The number of sessions ever added, so that a connection can see without a lock that there are no new ones. A
    /// connection only looks for sessions that its own thread has added, so relaxed ordering is enough.
    arrivals: AtomicUsize,
    connections: AtomicUsize,
    session_override: PerThread<SessionOverride>,
    /// The validity of the session that a thread's new connection offers.
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

    /// Assigns the sessions that this thread has added to the connection, and lets them expire together with the
    /// server's certificate. `proof` is the certificate's validity and the current time by the clock that verified it;
    /// `None` if validity is not checked.
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

    /// Takes the certificate validity of the session that this thread's new connection offers.
    pub(crate) fn take_validity(&self) -> Option<Validity> {
        self.offered_validity.take()
    }

    fn give(&self, validity: Option<Validity>) {
        if let Some(validity) = validity {
            self.offered_validity.set(validity);
        }
    }

    /// Removes sessions whose certificate is not valid at `time` by the clock callback.
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

    /// Runs `make`. If rustls requests a session on this thread during that time, it gets the override.
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
        // Dropped after the lock is released.
        let _forgotten = std::mem::take(&mut *self.lock());
    }

    /// Removes the sessions of a connection.
    pub(crate) fn forget_of(&self, connection: NonZeroUsize) {
        for entry in &mut self.lock().0 {
            entry.sessions.retain(|session| session.origin != Origin::Connection(connection));
        }
    }

    /// Removes a server's session of TLS 1.2.
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

    /// Takes the newest ticket for a name.
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

/// The store in the form that rustls uses: the sessions for one list of offered protocols.
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

    /// Takes a ticket. rustls calls this first, and `tls12_session` if there is no ticket.
    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // The value may be left over from a connection that was not created.
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

/// A session that the application holds. With TLS 1.3 it serves one connection, with TLS 1.2 any number.
pub struct SavedSession {
    sessions: Weak<Sessions>,
    name: ServerName<'static>,
    text: CString,
    protocols: Protocols,
    version: Version,
    received_at: u64,
    /// `None` after use.
    session: Mutex<Option<Session>>,
}

impl SavedSession {
    fn lock(&self) -> LockGuard<'_, Option<Session>> {
        self.session.lock()
    }

    fn take_ticket(&self) -> Option<Tls13ClientSessionValue> {
        if self.version != Version::Tls13 {
            return None;
        }
        match self.lock().take()?.secret {
            Secret::Tls13(ticket) => Some(ticket),
            Secret::Tls12(_) => None,
        }
    }

    fn copy_tls12(&self) -> Option<Tls12ClientSessionValue> {
        match &self.lock().as_ref()?.secret {
            Secret::Tls12(value) => Some(value.clone()),
            Secret::Tls13(_) => None,
        }
    }

    fn validity(&self) -> Option<Validity> {
        self.lock().as_ref()?.validity.clone()
    }

    /// Marks the session as used: its connection has failed, or its ticket was sent.
    pub(crate) fn mark_used(&self) {
        let _used = self.lock().take();
    }

    pub fn server_name(&self) -> &CStr {
        &self.text
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns when the session was received, in seconds since 1970.
    pub fn time(&self) -> u64 {
        self.received_at
    }

    /// Returns whether the session is neither used nor expired. The server may still refuse it.
    pub fn is_resumable(&self) -> bool {
        self.lock().as_ref().is_some_and(|session| session.is_fresh(now()))
    }

    /// Fails if a connection with these parameters must not resume the session.
    pub(crate) fn check(&self, sessions: &Arc<Sessions>, name: Option<&str>, protocols: &[Vec<u8>]) -> Result<()> {
        let refused = |why: String| Err(Error::new(Status::InvalidArgument, format!("session {why}")));
        if !Weak::ptr_eq(&self.sessions, &Arc::downgrade(sessions)) {
            return refused(
                "was created by another context, which may have other trust anchors and client certificates"
                    .to_owned(),
            );
        }
        let own = self.name.to_str();
        match name {
            Some(name) if name == own => {}
            Some(name) => return refused(format!("belongs to the server \"{own}\", not to \"{name}\"")),
            None => {
                return refused(format!("belongs to the server \"{own}\", but this connection has no server name"));
            }
        }
        if *self.protocols != *protocols {
            return refused("was created with other ALPN protocols".to_owned());
        }
        match &*self.lock() {
            None if self.version == Version::Tls13 => {
                refused("was already used: a TLS 1.3 ticket is for one connection only".to_owned())
            }
            None => refused("has failed in a handshake".to_owned()),
            Some(session) if !session.is_fresh(now()) => refused("is too old to be resumed".to_owned()),
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_after_a_week_or_with_the_certificate() {
        const WEEK: u64 = 604_800;
        for (received_at, expires_at, now, expected) in [
            (1000, u64::MAX, 1000, true),
            (1000, u64::MAX, 1000 + WEEK, true),
            (1000, u64::MAX, 1001 + WEEK, false),
            (1000, 1001, 1000, true),
            (1000, 1001, 1001, false),
            (1000, 1000, 1000, false),
            // The clock was set back.
            (1000, u64::MAX, 0, true),
            (u64::MAX, u64::MAX, u64::MAX - 1, true),
        ] {
            assert_eq!(is_fresh(received_at, expires_at, now), expected, "{received_at} {expires_at} {now}");
        }
    }

    #[test]
    fn the_validity_of_a_connection_that_was_not_created_is_dropped() {
        let sessions = Arc::<Sessions>::default();
        sessions.give(Some(1..2));
        let name = ServerName::try_from("localhost").unwrap();
        assert!(Store::new(&sessions, &[]).take_tls13_ticket(&name).is_none());
        assert_eq!(sessions.take_validity(), None);
    }

    /// Only key exchange hints can be created without a handshake; the C tests cover sessions.
    #[test]
    fn names_are_bounded_and_protocol_lists_kept_apart() {
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
        // A lookup moves a name to the end.
        http.set_kx_hint(name(0), NamedGroup::secp256r1);
        assert_eq!(sessions.lock().0.len(), MAX_SESSIONS);
        assert_eq!((h2.kx_hint(&name(1)), h2.kx_hint(&name(0))), (None, Some(NamedGroup::X25519)));
        assert_eq!(http.kx_hint(&name(0)), Some(NamedGroup::secp256r1));
        assert_eq!(format!("{h2:?}"), "Store { .. }");
        sessions.forget();
        assert_eq!((h2.kx_hint(&name(0)), sessions.count()), (None, 0));
    }
}
