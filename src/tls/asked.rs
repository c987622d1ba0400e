//! Whom a client asked for. rustls tells a server's unbuffered session no such thing afterwards, but shows the name to
//! whatever picks the certificate, once for each of the client's first messages.

use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::thread::Notes;

/// The names that clients asked for, as notes of the threads whose sessions are inside a call.
pub(crate) type Asked = Notes<Option<String>>;

/// Always the same certificate; and a note of the name.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) key: Arc<CertifiedKey>,
    pub(crate) asked: Arc<Asked>,
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.asked.leave(hello.server_name().map(str::to_owned));
        Some(Arc::clone(&self.key))
    }
}
