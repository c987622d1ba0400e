//! Implements rustls' verifier traits with [`verify`]. rustls calls the verifiers once per full handshake.

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

/// Verifies certificate chains and handshake signatures for ServerVerifier and ClientVerifier.
struct ChainVerifier {
    /// The policy for verifying chains; with `None`, any chain is accepted.
    policy: Option<Arc<Policy>>,
    algorithms: WebPkiSupportedAlgorithms,
    times: Option<Arc<Times>>,
    verifier_errors: Arc<VerifierErrors>,
}

/// Verifies the certificates of servers.
pub(crate) struct ServerVerifier {
    chain_verifier: ChainVerifier,
    check_hostname: bool,
}

/// Verifies the certificates of clients.
pub(crate) struct ClientVerifier {
    chain_verifier: ChainVerifier,
    mandatory: bool,
    /// The authority names in the CertificateRequest.
    hints: Vec<DistinguishedName>,
}

/// The identity that a server's certificate is verified against: the requested host name, or, if the server has
/// rejected Encrypted Client Hello, the public name.
#[derive(Clone, Copy, Default)]
struct ReferenceIdentity<'a> {
    server: Option<&'a ServerName<'a>>,
    /// True if the certificate must match the name.
    checks: bool,
}

/// The settings of a verifier other than its policy.
#[derive(Clone)]
pub(crate) struct VerifierConfig {
    pub(crate) algorithms: WebPkiSupportedAlgorithms,
    /// The times from the application's clock callback. Without a callback, rustls supplies the time.
    pub(crate) times: Option<Arc<Times>>,
    pub(crate) verifier_errors: Arc<VerifierErrors>,
}

impl ServerVerifier {
    pub(crate) fn new(
        policy: Option<Arc<Policy>>,
        check_hostname: bool,
        verifier_config: VerifierConfig,
    ) -> ServerVerifier {
        ServerVerifier { chain_verifier: ChainVerifier::new(policy, verifier_config), check_hostname }
    }
}

impl ClientVerifier {
    pub(crate) fn new(policy: Arc<Policy>, mandatory: bool, verifier_config: VerifierConfig) -> ClientVerifier {
        let hints = if policy.verifies_chain { policy.anchors.subjects() } else { Vec::new() };
        ClientVerifier { chain_verifier: ChainVerifier::new(Some(policy), verifier_config), mandatory, hints }
    }
}

impl ChainVerifier {
    fn new(
        policy: Option<Arc<Policy>>,
        VerifierConfig { algorithms, times, verifier_errors }: VerifierConfig,
    ) -> ChainVerifier {
        ChainVerifier { policy, algorithms, times, verifier_errors }
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
                times.take().unwrap_or_else(|| Err(no_time())).map_err(|error| {
                    self.verifier_errors.set(VerifierError::Failed(error));
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

    /// Turns a failed handshake signature into a refusal: the peer has not proved possession of its certificate's key.
    /// No setting switches off the check of the handshake signature.
    fn signature(
        &self,
        certificate: &CertificateDer<'_>,
        verified: std::result::Result<HandshakeSignatureValid, rustls::Error>,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verified.map_err(|error| {
            // Passes on errors that do not concern the certificate. For example, a signature scheme that was not
            // offered is a violation of the TLS protocol.
            let rustls::Error::InvalidCertificate(_) = error else { return error };
            let Ok(certificate) = Certificate::parse(certificate) else { return error };
            let refusal = match unfit_key(&certificate.public_key) {
                Some(why) => Refusal::new(Problem::WeakKey, why),
                None => Refusal::new(
                    Problem::BadSignature,
                    "may belong to another peer: this peer did not prove that it has the private key (the handshake signature is wrong)",
                ),
            };
            self.refuse(refusal.at(0, &certificate))
        })
    }

    fn refuse(&self, refusal: Refusal) -> rustls::Error {
        let error = rustls::Error::InvalidCertificate(refusal.for_rustls());
        self.verifier_errors.set(VerifierError::Refused(refusal));
        error
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

fn no_time() -> Error {
    Error::new(Status::Internal, "the clock callback was not called before its time was needed")
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
        self.chain_verifier.chain(
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
        self.chain_verifier.tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.chain_verifier.tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain_verifier.algorithms.supported_schemes()
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
        self.chain_verifier.chain(end_entity, intermediates, Purpose::Client, ReferenceIdentity::default(), now)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.chain_verifier.tls12(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.chain_verifier.tls13(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain_verifier.algorithms.supported_schemes()
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

/// The reason why a verifier returned an error to rustls.
#[derive(Debug)]
pub(crate) enum VerifierError {
    Refused(Refusal),
    /// Verification could not be completed, for example because the clock callback failed.
    Failed(Error),
}

/// Passes the current time from a session to the verifier. The session calls the clock callback before rustls calls the
/// verifier, while no lock is held.
pub(crate) type Times = PerThread<Result<UnixTime>>;

/// Passes the verifier's detailed error to the session. rustls has only one error that could contain these details, and
/// for that error rustls always sends the alert certificate_unknown instead of a more precise alert.
pub(crate) type VerifierErrors = PerThread<VerifierError>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::credentials::pem;

    #[test]
    fn only_an_invalid_signature_is_recorded_as_a_certificate_problem() {
        use rustls::{CertificateError, PeerMisbehaved};
        let algorithms = rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
        let verifier_errors = Arc::new(VerifierErrors::default());
        let chain_verifier = ChainVerifier::new(
            None,
            VerifierConfig { algorithms, times: None, verifier_errors: Arc::clone(&verifier_errors) },
        );
        let certificate = pem::certificates(include_bytes!("../../../tests/certs/server.pem"), "").unwrap().remove(0);
        let wrong = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(chain_verifier.signature(&certificate, Err(wrong.clone())).unwrap_err(), wrong);
        assert!(
            matches!(verifier_errors.take(), Some(VerifierError::Refused(refusal)) if refusal.problem == Problem::BadSignature)
        );
        let protocol_violation = rustls::Error::from(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme);
        assert_eq!(
            chain_verifier.signature(&certificate, Err(protocol_violation.clone())).unwrap_err(),
            protocol_violation
        );
        assert!(verifier_errors.take().is_none());
    }
}
