//! Accepting or refusing the peer's certificate. webpki judges; what is not asked for is forgiven here, in one place.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::x509::{self, Parties};

/// The client's judge of servers.
#[derive(Debug)]
pub(crate) struct ServerVerifier {
    /// `None`: nothing is asked of the chain.
    chain: Option<Arc<WebPkiServerVerifier>>,
    check_hostname: bool,
    algorithms: WebPkiSupportedAlgorithms,
    refused: Arc<Refused>,
}

impl ServerVerifier {
    pub(crate) fn new(
        chain: Option<Arc<WebPkiServerVerifier>>,
        check_hostname: bool,
        algorithms: WebPkiSupportedAlgorithms,
        refused: Arc<Refused>,
    ) -> ServerVerifier {
        ServerVerifier { chain, check_hostname, algorithms, refused }
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // webpki looks at the name last, so everything else about the chain was right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.check_hostname => Ok(ServerCertVerified::assertion()),
            Err(error) => {
                self.refused.note(end_entity);
                Err(error)
            }
            accepted => accepted,
        }
    }

    // That the peer holds its certificate's key is checked whatever else is not.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Who the certificate that was just refused is of, for the explanation: rustls' error for an unknown issuer does not
/// say. The verifier belongs to many sessions, but it runs inside a session's call on the calling thread, which takes
/// the note before that call returns.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<Vec<(usize, Parties)>>);

impl Refused {
    fn note(&self, end_entity: &CertificateDer<'_>) {
        if let Some(parties) = x509::parties(end_entity) {
            let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let this = this_thread();
            notes.retain(|(thread, _)| *thread != this);
            notes.push((this, parties));
        }
    }

    /// This thread's note.
    pub(crate) fn take(&self) -> Option<Parties> {
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
