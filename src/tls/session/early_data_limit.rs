//! Finds out how much early data (RFC 8446 section 2.3) a ticket allows. rustls does not report this limit for an
//! unbuffered connection. But rustls takes each ticket from netlib's session store, which reads the limit in the
//! ticket.

use std::sync::Arc;

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;

use crate::tls::per_thread::PerThread;

/// For each thread, the limit of the ticket that rustls took for the connection that the thread creates.
pub(crate) type EarlyDataLimits = PerThread<u32>;

/// A session store that stores the early data limit of each ticket that it returns to rustls.
#[derive(Debug)]
pub(crate) struct LimitRecorder {
    pub(crate) store: Arc<dyn ClientSessionStore>,
    pub(crate) early_data_limits: Arc<EarlyDataLimits>,
}

impl ClientSessionStore for LimitRecorder {
    fn set_kx_hint(&self, server: ServerName<'static>, group: NamedGroup) {
        self.store.set_kx_hint(server, group);
    }

    fn kx_hint(&self, server: &ServerName<'_>) -> Option<NamedGroup> {
        self.store.kx_hint(server)
    }

    fn set_tls12_session(&self, server: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.store.set_tls12_session(server, session);
    }

    fn tls12_session(&self, server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.store.tls12_session(server)
    }

    fn remove_tls12_session(&self, server: &ServerName<'static>) {
        self.store.remove_tls12_session(server);
    }

    fn insert_tls13_ticket(&self, server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.store.insert_tls13_ticket(server, ticket);
    }

    fn take_tls13_ticket(&self, server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let ticket = self.store.take_tls13_ticket(server)?;
        self.early_data_limits.set(ticket.max_early_data_size());
        Some(ticket)
    }
}
