//! Whom a client asked for. rustls tells a server's unbuffered session no such thing afterwards, but shows the name to
//! whatever picks the certificate, once for each of the client's first messages.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Always the same certificate; and a note of the name.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) key: Arc<CertifiedKey>,
    pub(crate) asked: Arc<Asked>,
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.asked.note(hello.server_name());
        Some(Arc::clone(&self.key))
    }
}

/// The names of the sessions that are inside a call. Many sessions have one [`Identity`], but it runs inside a session's
/// call on the calling thread, which takes the note before that call returns.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<Vec<(usize, String)>>);

impl Asked {
    fn note(&self, name: Option<&str>) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let this = this_thread();
        notes.retain(|(thread, _)| *thread != this);
        if let Some(name) = name {
            notes.push((this, name.to_owned()));
        }
    }

    /// This thread's note.
    pub(crate) fn take(&self) -> Option<String> {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let this = this_thread();
        let index = notes.iter().position(|(thread, _)| *thread == this)?;
        Some(notes.swap_remove(index).1)
    }
}

/// A number that no other living thread has. std's ThreadId would allocate for a thread that C has made.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
