//! Holds a session that the application has taken out of the store.

use std::ffi::{CStr, CString};
use std::sync::{Arc, Weak};

use rustls::client::{Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;

use super::Sessions;
use super::entries::{Protocols, Secret, Session, Validity, now};
use crate::error::{Error, Result};
use crate::fork::{LockGuard, Mutex};
use crate::status::Status;
use crate::tls::config::Version;

/// A session that the application holds. Only one connection can resume a TLS 1.3 session, but any number of
/// connections can resume a TLS 1.2 session.
pub struct SavedSession {
    pub(super) sessions: Weak<Sessions>,
    pub(super) name: ServerName<'static>,
    pub(super) text: CString,
    pub(super) protocols: Protocols,
    pub(super) version: Version,
    pub(super) received_at: u64,
    /// The session; `None` after use.
    pub(super) session: Mutex<Option<Session>>,
}

impl SavedSession {
    fn lock(&self) -> LockGuard<'_, Option<Session>> {
        self.session.lock()
    }

    pub(super) fn take_ticket(&self) -> Option<Tls13ClientSessionValue> {
        if self.version != Version::Tls13 {
            return None;
        }
        match self.lock().take()?.secret {
            Secret::Tls13(ticket) => Some(ticket),
            Secret::Tls12(_) => None,
        }
    }

    pub(super) fn copy_tls12(&self) -> Option<Tls12ClientSessionValue> {
        match &self.lock().as_ref()?.secret {
            Secret::Tls12(value) => Some(value.clone()),
            Secret::Tls13(_) => None,
        }
    }

    pub(super) fn validity(&self) -> Option<Validity> {
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

    /// Returns the time at which the session was received, in seconds since 1970.
    pub fn time(&self) -> u64 {
        self.received_at
    }

    /// Returns whether the session is neither used nor expired. The server may still refuse to resume the session.
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
