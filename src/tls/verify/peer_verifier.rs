//! [`verify`] as rustls asks for it, once a handshake, on both sides of a session.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::refusal::{Refusal, unfit_key};
use super::{Policy, Purpose, Question, verify};
use crate::error::{CertificateProblem as Problem, Error, Result};
use crate::status::Status;
use crate::tls::per_thread::PerThread;
use crate::tls::x509::Certificate;

/// What both judges have.
struct Judge {
    /// `None`: nothing is asked of the chain.
    policy: Option<Arc<Policy>>,
    algorithms: WebPkiSupportedAlgorithms,
    times: Option<Arc<Times>>,
    notes: Arc<Notes>,
}

/// The client's judge of servers.
pub(crate) struct ServerVerifier {
    judge: Judge,
    check_hostname: bool,
}

/// The server's judge of clients.
pub(crate) struct ClientVerifier {
    judge: Judge,
    mandatory: bool,
    /// What the client is told that it may choose its certificate by.
    hints: Vec<DistinguishedName>,
}

/// As whom a server is judged: when it rejects Encrypted Client Hello, not as the one that was asked for.
#[derive(Clone, Copy, Default)]
struct Whose<'a> {
    server: Option<&'a ServerName<'a>>,
    /// The certificate must have the name.
    checks: bool,
}

/// What a judge is made of beside its policy.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
    /// Of a clock of the program's; otherwise it is rustls that knows the time.
    pub(crate) times: Option<Arc<Times>>,
    pub(crate) notes: Arc<Notes>,
}

impl ServerVerifier {
    pub(crate) fn new(policy: Option<Arc<Policy>>, check_hostname: bool, means: Means) -> ServerVerifier {
        ServerVerifier { judge: Judge::new(policy, means), check_hostname }
    }
}

impl ClientVerifier {
    pub(crate) fn new(policy: Arc<Policy>, mandatory: bool, means: Means) -> ClientVerifier {
        let hints = if policy.verifies_chain { policy.anchors.subjects() } else { Vec::new() };
        ClientVerifier { judge: Judge::new(Some(policy), means), mandatory, hints }
    }
}

impl Judge {
    fn new(policy: Option<Arc<Policy>>, Means { algorithms, times, notes }: Means) -> Judge {
        Judge { policy, algorithms, times, notes }
    }

    fn chain(
        &self,
        end_entity: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        purpose: Purpose,
        Whose { server, checks }: Whose<'_>,
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
        let asked = Question { end_entity, others, purpose, name, time };
        verify(policy, &asked).map_err(|refusal| {
            self.refuse(Refusal { server: server.map(|name| name.to_str().into_owned()), ..refusal })
        })
    }

    /// That the peer holds its certificate's key is checked whatever else is not.
    fn signature(
        &self,
        certificate: &CertificateDer<'_>,
        verified: std::result::Result<HandshakeSignatureValid, rustls::Error>,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verified.map_err(|error| {
            // Anything else is no matter of the certificate: a scheme that was never offered breaks the protocol.
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
    Error::new(Status::Internal, "nobody asked the program's clock before its time was needed")
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
        self.judge.chain(end_entity, intermediates, Purpose::Server, Whose { server, checks }, now)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.judge.tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.judge.tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.algorithms.supported_schemes()
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
        self.judge.chain(end_entity, intermediates, Purpose::Client, Whose::default(), now)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.judge.tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.judge.tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.algorithms.supported_schemes()
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

/// Why a judge said no.
#[derive(Debug)]
pub(crate) enum Note {
    Refused(Refusal),
    /// It could not judge.
    Failed(Error),
}

/// What time it is, as notes of sessions to their judge: the program was asked before, while no lock was held.
pub(crate) type Times = PerThread<Result<UnixTime>>;

/// What a judge has to say beside its no. Of rustls' errors only one can carry facts, and for that it has one alert,
/// certificate_unknown; the peer shall be told more.
pub(crate) type Notes = PerThread<Note>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::credentials::pem;

    #[test]
    fn only_what_is_wrong_with_a_certificate_is_told_of_it() {
        use rustls::{CertificateError, PeerMisbehaved};
        let algorithms = rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
        let notes = Arc::new(Notes::default());
        let judge = Judge::new(None, Means { algorithms, times: None, notes: Arc::clone(&notes) });
        let certificate = pem::certificates(include_bytes!("../../../tests/certs/server.pem"), "").unwrap().remove(0);
        let wrong = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(judge.signature(&certificate, Err(wrong.clone())).unwrap_err(), wrong);
        assert!(matches!(notes.take(), Some(Note::Refused(refusal)) if refusal.problem == Problem::BadSignature));
        let unasked = rustls::Error::from(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme);
        assert_eq!(judge.signature(&certificate, Err(unasked.clone())).unwrap_err(), unasked);
        assert!(notes.take().is_none());
    }
}
