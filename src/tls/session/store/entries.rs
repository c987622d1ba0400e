//! Holds the stored sessions by server name and list of offered protocols.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::NamedGroup;
use rustls::client::{Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;

use crate::tls::config::Version;
use crate::tls::per_thread::ThreadId;

/// The maximum number of sessions in a store, and the maximum number of entries. Each entry is for one server name and
/// one list of offered protocols. A linear search through 256 entries is fast enough.
pub(super) const MAX_SESSIONS: usize = 256;
/// The maximum number of sessions for one server name and one list of offered protocols. A server may send any number
/// of tickets.
pub(super) const MAX_SESSIONS_PER_NAME: usize = 8;
/// The maximum age of a session in seconds (RFC 8446 section 4.6.1). rustls enforces this limit and the lifetime that
/// the server sets, but does not report that lifetime.
const MAX_AGE: u64 = 7 * 24 * 60 * 60;

pub(super) type Protocols = Arc<[Vec<u8>]>;

/// The value that rustls needs to resume a session.
pub(super) enum Secret {
    /// A TLS 1.2 session, which any number of handshakes can resume.
    Tls12(Tls12ClientSessionValue),
    /// A TLS 1.3 ticket, which is used once: an observer of two uses could link them to one client (RFC 8446 appendix
    /// C.4).
    Tls13(Tls13ClientSessionValue),
}

impl Secret {
    pub(super) fn version(&self) -> Version {
        match self {
            Secret::Tls12(_) => Version::Tls12,
            Secret::Tls13(_) => Version::Tls13,
        }
    }
}

/// The connection that received a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The connection whose engine is executing a call on this thread.
    Thread(ThreadId),
    Connection(NonZeroUsize),
}

pub(super) struct Session {
    pub(super) secret: Secret,
    pub(super) origin: Origin,
    /// The time at which the session was received, in seconds since 1970.
    pub(super) received_at: u64,
    /// The time of the system's clock at which the server's verified chain expires, in seconds since 1970; `u64::MAX`
    /// if validity dates are not checked.
    pub(super) expires_at: u64,
    /// The period in which the server's verified chain is valid; `None` if validity dates are not checked.
    pub(super) validity: Option<Validity>,
}

/// A range of times in seconds since 1970.
pub(crate) type Validity = Range<u64>;

impl Session {
    pub(super) fn new(secret: Secret) -> Session {
        Session {
            secret,
            origin: Origin::Thread(ThreadId::current()),
            received_at: now(),
            expires_at: u64::MAX,
            validity: None,
        }
    }

    pub(super) fn is_fresh(&self, now: u64) -> bool {
        is_fresh(self.received_at, self.expires_at, now)
    }
}

fn is_fresh(received_at: u64, expires_at: u64, now: u64) -> bool {
    now < expires_at && now <= received_at.saturating_add(MAX_AGE)
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The sessions for one server name and one list of offered protocols.
pub(super) struct NameEntry {
    pub(super) name: ServerName<'static>,
    pub(super) protocols: Protocols,
    pub(super) group: Option<NamedGroup>,
    /// The sessions, of which at most one is a TLS 1.2 session. The newest session is last.
    pub(super) sessions: Vec<Session>,
}

/// Compares DNS names byte by byte first, because equal names are usually spelled equally, and then case-insensitively.
pub(super) fn is_same(a: &ServerName<'_>, b: &ServerName<'_>) -> bool {
    match (a, b) {
        (ServerName::DnsName(a), ServerName::DnsName(b)) if a.as_ref() == b.as_ref() => true,
        _ => a == b,
    }
}

/// All entries, with the least recently used entry first.
#[derive(Default)]
pub(super) struct NameEntries(pub(super) Vec<NameEntry>);

impl NameEntries {
    pub(super) fn find(&mut self, name: &ServerName<'_>, protocols: &[Vec<u8>]) -> Option<&mut NameEntry> {
        let same = |entry: &NameEntry| is_same(&entry.name, name) && *entry.protocols == *protocols;
        let index = self.0.iter().position(same)?;
        // Moves the entry to the end, because it is now the most recently used one.
        self.0.get_mut(index..)?.rotate_left(1);
        self.0.last_mut()
    }

    pub(super) fn find_or_add(&mut self, name: ServerName<'static>, protocols: &Protocols) -> Option<&mut NameEntry> {
        if self.find(&name, protocols).is_none() {
            if self.0.len() >= MAX_SESSIONS {
                self.0.remove(0);
            }
            let protocols = Arc::clone(protocols);
            self.0.push(NameEntry { name, protocols, group: None, sessions: Vec::new() });
        }
        self.0.last_mut()
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|entry| entry.sessions.len()).sum()
    }

    pub(super) fn sessions(&mut self) -> impl Iterator<Item = &mut Session> {
        self.0.iter_mut().flat_map(|entry| &mut entry.sessions)
    }

    /// Removes sessions of the least recently used entries until the total is within the limit.
    pub(super) fn evict(&mut self) {
        while self.count() > MAX_SESSIONS {
            let Some(entry) = self.0.iter_mut().find(|entry| !entry.sessions.is_empty()) else { return };
            entry.sessions.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_expires_after_a_week_or_with_the_certificate() {
        const WEEK: u64 = 604_800;
        for (received_at, expires_at, now, expected) in [
            (1000, u64::MAX, 1000, true),
            (1000, u64::MAX, 1000 + WEEK, true),
            (1000, u64::MAX, 1001 + WEEK, false),
            (1000, 1001, 1000, true),
            (1000, 1001, 1001, false),
            (1000, 1000, 1000, false),
            // The system clock was set back after the session was received.
            (1000, u64::MAX, 0, true),
            (u64::MAX, u64::MAX, u64::MAX - 1, true),
        ] {
            assert_eq!(is_fresh(received_at, expires_at, now), expected, "{received_at} {expires_at} {now}");
        }
    }
}
