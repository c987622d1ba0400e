//! Implements rustls' verifier traits with [`verify`]. Called once per full handshake.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::refusal::{Refusal, unfit_key};
use super::{Policy, Purpose, VerifyRequest, verify};
use crate::error::{CertificateProblem as Problem, Error, Result};
use crate::status::Status;
use crate::tls::per_thread::PerThread;
use crate::tls::x509::Certificate;

/// The common part of both verifiers.
struct ChainVerifier {
    /// `None` accepts any chain.
    policy: Option<Arc<Policy>>,
    algorithms: WebPkiSupportedAlgorithms,
    times: Option<Arc<Times>>,
    notes: Arc<Notes>,
}

/// Verifies servers.
pub(crate) struct ServerVerifier {
    verify_with: ChainVerifier,
    check_hostname: bool,
}

/// Verifies clients.
pub(crate) struct ClientVerifier {
    verify_with: ChainVerifier,
    mandatory: bool,
    /// The authority names in the CertificateRequest.
    hints: Vec<DistinguishedName>,
}

/// The identity that a server is verified for. After a rejected Encrypted Client Hello it is the public name instead of
/// the requested one.
#[derive(Clone, Copy, Default)]
struct ReferenceIdentity<'a> {
    server: Option<&'a ServerName<'a>>,
    /// True if the certificate must match the name.
    checks: bool,
}

/// The settings of a verifier besides its policy.
#[derive(Clone)]
pub(crate) struct VerifierConfig {
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
    /// The times from a callback clock. Without one, rustls supplies the time.
    pub(crate) times: Option<Arc<Times>>,
    pub(crate) notes: Arc<Notes>,
}

impl ServerVerifier {
    pub(crate) fn new(policy: Option<Arc<Policy>>, check_hostname: bool, means: VerifierConfig) -> ServerVerifier {
        ServerVerifier { verify_with: ChainVerifier::new(policy, means), check_hostname }
    }
}

impl ClientVerifier {
    pub(crate) fn new(policy: Arc<Policy>, mandatory: bool, means: VerifierConfig) -> ClientVerifier {
        let hints = if policy.verifies_chain { policy.anchors.subjects() } else { Vec::new() };
        ClientVerifier { verify_with: ChainVerifier::new(Some(policy), means), mandatory, hints }
    }
}

impl ChainVerifier {
    fn new(
        policy: Option<Arc<Policy>>,
        VerifierConfig { algorithms, times, notes }: VerifierConfig,
    ) -> ChainVerifier {
        ChainVerifier { policy, algorithms, times, notes }
    }

    fn chain(
        &self,
        end_entity: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        purpose: Purpose,
        ReferenceIdentity { server, checks }: ReferenceIdentity<'_>,
        now: UnixTime,
    ) -> std::result::Result<(), rustls::Error> {
        let Some(policy) = &self.policy else { return Ok(()) };
        let time = match &self.times {
            Some(times) if policy.verifies_chain => {
                times.take().unwrap_or_else(|| Err(unasked())).map_err(|error| {
                    self.notes.set(Note::Failed(error));
                    rustls::Error::General("the time of the verification is not known".to_owned())
                })?
            }
            _ => now,
        };
        let name = server.filter(|_| checks);
        let request = VerifyRequest { end_entity, others, purpose, name, time };
        verify(policy, &request).map_err(|refusal| {
            self.refuse(Refusal { server: server.map(|name| name.to_str().into_owned()), ..refusal })
        })
    }

    /// Always checks that the peer holds its certificate's key.
    fn signature(
        &self,
        certificate: &CertificateDer<'_>,
        verified: std::result::Result<HandshakeSignatureValid, rustls::Error>,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verified.map_err(|error| {
            // Other errors are not about the certificate: a signature scheme that was not offered is a protocol
            // violation.
            let rustls::Error::InvalidCertificate(_) = error else { return error };
            let Ok(certificate) = Certificate::parse(certificate) else { return error };
            let refusal = match unfit_key(&certificate.public_key) {
                Some(why) => Refusal::new(Problem::WeakKey, why),
                None => Refusal::new(
                    Problem::BadSignature,
                    "is perhaps another's: the peer did not prove that it has its key (the handshake's signature is wrong)",
                ),
            };
            self.refuse(refusal.at(0, &certificate))
        })
    }

    fn refuse(&self, refusal: Refusal) -> rustls::Error {
        let told = rustls::Error::InvalidCertificate(refusal.for_rustls());
        self.notes.set(Note::Refused(refusal));
        told
    }

    fn tls12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.signature(certificate, verify_tls12_signature(message, certificate, signature, &self.algorithms))
    }

    fn tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.signature(certificate, verify_tls13_signature(message, certificate, signature, &self.algorithms))
    }
}

fn unasked() -> Error {
    Error::new(Status::Internal, "nobody request the program's clock before its time was needed")
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let (server, checks) = (Some(server_name), self.check_hostname);
        self.verify_with.chain(
            end_entity,
            intermediates,
            Purpose::Server,
            ReferenceIdentity { server, checks },
            now,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.verify_with.tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.verify_with.tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verify_with.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for ClientVerifier {
    fn client_auth_mandatory(&self) -> bool {
        self.mandatory
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> std::result::Result<ClientCertVerified, rustls::Error> {
        self.verify_with.chain(end_entity, intermediates, Purpose::Client, ReferenceIdentity::default(), now)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.verify_with.tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.verify_with.tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verify_with.algorithms.supported_schemes()
    }
}

impl fmt::Debug for ServerVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerVerifier").finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientVerifier").finish_non_exhaustive()
    }
}

/// Why the verifier refused.
#[derive(Debug)]
pub(crate) enum Note {
    Refused(Refusal),
    /// Verification could not be completed.
    Failed(Error),
}

/// The current time, passed from the session to its verifier. The clock callback runs earlier, while no lock is held.
pub(crate) type Times = PerThread<Result<UnixTime>>;

/// The verifier's detailed refusal. Only one of rustls' errors can carry it, and that one always sends the alert
/// certificate_unknown, where a more precise alert is better.
pub(crate) type Notes = PerThread<Note>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::credentials::pem;

    #[test]
    fn only_certificate_errors_blame_the_certificate() {
        use rustls::{CertificateError, PeerMisbehaved};
        let algorithms = rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
        let notes = Arc::new(Notes::default());
        let verify_with =
            ChainVerifier::new(None, VerifierConfig { algorithms, times: None, notes: Arc::clone(&notes) });
        let certificate = pem::certificates(include_bytes!("../../../tests/certs/server.pem"), "").unwrap().remove(0);
        let wrong = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(verify_with.signature(&certificate, Err(wrong.clone())).unwrap_err(), wrong);
        assert!(matches!(notes.take(), Some(Note::Refused(refusal)) if refusal.problem == Problem::BadSignature));
        let unasked = rustls::Error::from(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme);
        assert_eq!(verify_with.signature(&certificate, Err(unasked.clone())).unwrap_err(), unasked);
        assert!(notes.take().is_none());
    }
}
