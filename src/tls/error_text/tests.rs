//! Tests the texts for all error variants of the pinned releases of rustls and webpki.

use std::sync::Arc;

use rustls::{AlertDescription, CertRevocationListError as C, CertificateError as V, ExtendedKeyPurpose, OtherError};
use rustls_pki_types::{ServerName, UnixTime};
use webpki::{
    DerTypeId, Error as W, InvalidNameContext, UnsupportedSignatureAlgorithmContext,
    UnsupportedSignatureAlgorithmForPublicKeyContext,
};

use super::*;
use crate::tls::session::{Restrictions, diagnose::SessionFacts};

/// Mixed-case words that may occur in error messages: a unit, and names in RFC 8446, RFC 9849 and RFC 5280.
const STANDARD: [&str; 9] = [
    "KiB",
    "HelloRetryRequest",
    "ClientHello",
    "ServerHello",
    "ECHConfigList",
    "extendedKeyUsage",
    "pathLenConstraint",
    "notBefore",
    "notAfter",
];

/// rustls' names for the fields of TLS messages.
const PARTS: [&str; 37] = [
    "u8",
    "u16",
    "u24",
    "u32",
    "u64",
    "Empty",
    "SessionID",
    "Random",
    "MessageHash",
    "HelloRetryRequest",
    "ClientHelloPayload",
    "ServerHelloPayload",
    "ClientExtensions",
    "ServerExtensions",
    "NewSessionTicketExtensions",
    "CertificateExtensions",
    "CertificateRequestExtensions",
    "HandshakeMessagePayload",
    "AlertMessagePayload",
    "ChangeCipherSpecPayload",
    "EndOfEarlyData",
    "ServerHelloDone",
    "PskIdentities",
    "PskBinders",
    "PskKeyExchangeModes",
    "ECPointFormats",
    "SingleProtocolName",
    "ProtocolNames",
    "PayloadU24",
    "ProtocolVersion",
    "CipherSuites",
    "Compressions",
    "CertificateCompressionAlgorithms",
    "HpkeSymmetricCipherSuites",
    "EchConfigExtension",
    "NamedGroups",
    "DistinguishedName",
];

fn invalid_messages() -> Vec<InvalidMessage> {
    use InvalidMessage as M;
    let parts = PARTS.iter().flat_map(|part| {
        [M::MissingData(part), M::TrailingData(part), M::UnexpectedMessage(part), M::IllegalEmptyList(part)]
    });
    parts
        .chain([
            M::CertificatePayloadTooLarge,
            M::HandshakePayloadTooLarge,
            M::InvalidCcs,
            M::InvalidContentType,
            M::InvalidCertificateStatusType,
            M::InvalidCertRequest,
            M::InvalidDhParams,
            M::InvalidEmptyPayload,
            M::InvalidKeyUpdate,
            M::InvalidServerName,
            M::MessageTooLarge,
            M::MessageTooShort,
            M::MissingKeyExchange,
            M::NoSignatureSchemes,
            M::UnknownProtocolVersion,
            M::UnsupportedCompression,
            M::UnsupportedCurveType,
            M::EmptyTicketValue,
            M::IllegalEmptyValue,
            M::DuplicateExtension(43),
            M::PreSharedKeyIsNotFinalExtension,
            M::UnknownHelloRetryRequestExtension,
            M::UnknownCertificateExtension,
        ])
        .collect()
}

fn misbehaviours() -> Vec<PeerMisbehaved> {
    use PeerMisbehaved as M;
    vec![
        M::AttemptedDowngradeToTls12WhenTls13IsSupported,
        M::BadCertChainExtensions,
        M::CipherSuiteDifferedOnRetry,
        M::DisallowedEncryptedExtension,
        M::DuplicateClientHelloExtensions,
        M::DuplicateEncryptedExtensions,
        M::DuplicateHelloRetryRequestExtensions,
        M::DuplicateNewSessionTicketExtensions,
        M::DuplicateServerHelloExtensions,
        M::DuplicateServerNameTypes,
        M::EarlyDataAttemptedInSecondClientHello,
        M::EarlyDataExtensionWithoutResumption,
        M::EarlyDataOfferedWithVariedCipherSuite,
        M::EchAcceptanceVariedAfterRetry,
        M::HandshakeHashVariedAfterRetry,
        M::IllegalHelloRetryRequestWithEmptyCookie,
        M::IllegalHelloRetryRequestWithNoChanges,
        M::IllegalHelloRetryRequestWithOfferedGroup,
        M::IllegalHelloRetryRequestWithUnofferedCipherSuite,
        M::IllegalHelloRetryRequestWithUnofferedNamedGroup,
        M::IllegalHelloRetryRequestWithUnsupportedVersion,
        M::IllegalHelloRetryRequestWithWrongSessionId,
        M::IllegalHelloRetryRequestWithInvalidEch,
        M::IllegalMiddleboxChangeCipherSpec,
        M::IllegalTlsInnerPlaintext,
        M::IncorrectBinder,
        M::InvalidCertCompression,
        M::InvalidMaxEarlyDataSize,
        M::InvalidKeyShare,
        M::KeyEpochWithPendingFragment,
        M::KeyUpdateReceivedInQuicConnection,
        M::MessageInterleavedWithHandshakeMessage,
        M::MissingBinderInPskExtension,
        M::MissingKeyShare,
        M::MissingPskExtensionInSecondClientHello,
        M::MissingPskModesExtension,
        M::MissingQuicTransportParameters,
        M::OfferedDuplicateCertificateCompressions,
        M::OfferedDuplicateKeyShares,
        M::OfferedEarlyDataWithOldProtocolVersion,
        M::OfferedEmptyApplicationProtocol,
        M::OfferedIncorrectCompressions,
        M::PskExtensionMustBeLast,
        M::PskExtensionWithMismatchedIdsAndBinders,
        M::RefusedToFollowHelloRetryRequest,
        M::RejectedEarlyDataInterleavedWithHandshakeMessage,
        M::ResumptionAttemptedWithVariedEms,
        M::ResumptionOfferedWithVariedCipherSuite,
        M::ResumptionOfferedWithVariedEms,
        M::ResumptionOfferedWithIncompatibleCipherSuite,
        M::SelectedDifferentCipherSuiteAfterRetry,
        M::SelectedInvalidPsk,
        M::SelectedTls12UsingTls13VersionExtension,
        M::SelectedUnofferedApplicationProtocol,
        M::SelectedUnofferedCertCompression,
        M::SelectedUnofferedCipherSuite,
        M::SelectedUnofferedCompression,
        M::SelectedUnofferedKxGroup,
        M::SelectedUnofferedPsk,
        M::SelectedUnusableCipherSuiteForVersion,
        M::ServerEchoedCompatibilitySessionId,
        M::ServerHelloMustOfferUncompressedEcPoints,
        M::ServerNameDifferedOnRetry,
        M::ServerNameMustContainOneHostName,
        M::SignedKxWithWrongAlgorithm,
        M::SignedHandshakeWithUnadvertisedSigScheme,
        M::TooManyEmptyFragments,
        M::TooManyKeyUpdateRequests,
        M::TooManyRenegotiationRequests,
        M::TooManyWarningAlertsReceived,
        M::TooMuchEarlyDataReceived,
        M::UnexpectedCleartextExtension,
        M::UnsolicitedCertExtension,
        M::UnsolicitedEncryptedExtension,
        M::UnsolicitedSctList,
        M::UnsolicitedServerHelloExtension,
        M::WrongGroupForKeyShare,
        M::UnsolicitedEchExtension,
    ]
}

fn incompatibilities() -> Vec<PeerIncompatible> {
    use PeerIncompatible as P;
    vec![
        P::EcPointsExtensionRequired,
        P::ExtendedMasterSecretExtensionRequired,
        P::IncorrectCertificateTypeExtension,
        P::KeyShareExtensionRequired,
        P::NamedGroupsExtensionRequired,
        P::NoCertificateRequestSignatureSchemesInCommon,
        P::NoCipherSuitesInCommon,
        P::NoEcPointFormatsInCommon,
        P::NoKxGroupsInCommon,
        P::NoSignatureSchemesInCommon,
        P::NullCompressionRequired,
        P::ServerDoesNotSupportTls12Or13,
        P::ServerSentHelloRetryRequestWithUnknownExtension,
        P::ServerTlsVersionIsDisabledByOurConfig,
        P::SignatureAlgorithmsExtensionRequired,
        P::SupportedVersionsExtensionRequired,
        P::Tls12NotOffered,
        P::Tls12NotOfferedOrEnabled,
        P::Tls13RequiredForQuic,
        P::UncompressedEcPointsRequired,
        P::UnsolicitedCertificateTypeExtension,
        P::ServerRejectedEncryptedClientHello(None),
    ]
}

fn certificate_errors() -> (Vec<V>, Vec<C>, Vec<W>) {
    let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(1));
    let name = ServerName::try_from("a.example").unwrap();
    let other = OtherError(Arc::new(std::io::Error::other("failed: NoSuchThing")));
    let algorithm =
        UnsupportedSignatureAlgorithmContext { signature_algorithm_id: vec![], supported_algorithms: vec![] };
    let algorithm_for_key = UnsupportedSignatureAlgorithmForPublicKeyContext {
        signature_algorithm_id: vec![],
        public_key_algorithm_id: vec![],
    };
    (
        vec![
            V::BadEncoding,
            V::Expired,
            V::ExpiredContext { time: now, not_after: now },
            V::NotValidYet,
            V::NotValidYetContext { time: now, not_before: now },
            V::Revoked,
            V::UnhandledCriticalExtension,
            V::UnknownIssuer,
            V::UnknownRevocationStatus,
            V::ExpiredRevocationList,
            V::ExpiredRevocationListContext { time: now, next_update: now },
            V::BadSignature,
            V::UnsupportedSignatureAlgorithmContext { signature_algorithm_id: vec![], supported_algorithms: vec![] },
            V::UnsupportedSignatureAlgorithmForPublicKeyContext {
                signature_algorithm_id: vec![],
                public_key_algorithm_id: vec![],
            },
            V::NotValidForName,
            V::NotValidForNameContext { expected: name.clone(), presented: vec![] },
            V::InvalidPurpose,
            V::InvalidPurposeContext { required: ExtendedKeyPurpose::ServerAuth, presented: vec![] },
            V::InvalidOcspResponse,
            V::ApplicationVerificationFailure,
            V::Other(other.clone()),
        ],
        vec![
            C::BadSignature,
            C::UnsupportedSignatureAlgorithmContext { signature_algorithm_id: vec![], supported_algorithms: vec![] },
            C::UnsupportedSignatureAlgorithmForPublicKeyContext {
                signature_algorithm_id: vec![],
                public_key_algorithm_id: vec![],
            },
            C::InvalidCrlNumber,
            C::InvalidRevokedCertSerialNumber,
            C::IssuerInvalidForCrl,
            C::Other(other.clone()),
            C::ParseError,
            C::UnsupportedCrlVersion,
            C::UnsupportedCriticalExtension,
            C::UnsupportedDeltaCrl,
            C::UnsupportedIndirectCrl,
            C::UnsupportedRevocationReason,
        ],
        vec![
            W::BadDer,
            W::BadDerTime,
            W::CaUsedAsEndEntity,
            W::CertDistrusted,
            W::CertExpired { time: now, not_after: now },
            W::CertNotValidForName(InvalidNameContext { expected: name.clone(), presented: vec![] }),
            W::CertNotValidYet { time: now, not_before: now },
            W::CertRevoked,
            W::CrlExpired { time: now, next_update: now },
            W::EmptyEkuExtension,
            W::EndEntityUsedAsCa,
            W::ExtensionValueInvalid,
            W::InvalidCertValidity,
            W::InvalidCrlNumber,
            W::InvalidNetworkMaskConstraint,
            W::InvalidSerialNumber,
            W::InvalidCrlSignatureForPublicKey,
            W::InvalidSignatureForPublicKey,
            W::IssuerNotCrlSigner,
            W::MalformedDnsIdentifier,
            W::MalformedExtensions,
            W::MalformedNameConstraint,
            W::MaximumNameConstraintComparisonsExceeded,
            W::MaximumPathBuildCallsExceeded,
            W::MaximumPathDepthExceeded,
            W::MaximumSignatureChecksExceeded,
            W::NameConstraintViolation,
            W::PathLenConstraintViolated,
            W::SignatureAlgorithmMismatch,
            W::TrailingData(DerTypeId::Certificate),
            W::UnknownIssuer,
            W::UnknownRevocationStatus,
            W::UnsupportedCertVersion,
            W::UnsupportedCriticalExtension,
            W::UnsupportedCrlIssuingDistributionPoint,
            W::UnsupportedCrlVersion,
            W::UnsupportedDeltaCrl,
            W::UnsupportedIndirectCrl,
            W::UnsupportedNameType,
            W::UnsupportedRevocationReason,
            W::UnsupportedRevocationReasonsPartitioning,
            W::UnsupportedCrlSignatureAlgorithmContext(algorithm.clone()),
            W::UnsupportedSignatureAlgorithmContext(algorithm.clone()),
            W::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(algorithm_for_key.clone()),
            W::UnsupportedSignatureAlgorithmForPublicKeyContext(algorithm_for_key.clone()),
        ],
    )
}

fn others() -> Vec<TlsError> {
    use EncryptedClientHelloError as Ech;
    let handshake_types = (0..=255).map(HandshakeType::from);
    let unexpected = handshake_types.map(|kind| TlsError::InappropriateHandshakeMessage {
        expect_types: vec![HandshakeType::CertificateVerify, HandshakeType::Finished],
        got_type: kind,
    });
    let content_types = (0..=255).map(ContentType::from);
    let records = content_types
        .map(|kind| TlsError::InappropriateMessage { expect_types: vec![ContentType::Handshake], got_type: kind });
    let alerts = (0..=255).map(|number| TlsError::AlertReceived(AlertDescription::from(number)));
    unexpected
        .chain(records)
        .chain(alerts)
        .chain([
            TlsError::InvalidEncryptedClientHello(Ech::InvalidConfigList),
            TlsError::InvalidEncryptedClientHello(Ech::NoCompatibleConfig),
            TlsError::InvalidEncryptedClientHello(Ech::SniRequired),
            TlsError::NoCertificatesPresented,
            TlsError::UnsupportedNameType,
            TlsError::DecryptError,
            TlsError::EncryptError,
            TlsError::General("failed to parse RSA private key: InvalidEncoding".to_owned()),
            TlsError::FailedToGetCurrentTime,
            TlsError::FailedToGetRandomBytes,
            TlsError::HandshakeNotComplete,
            TlsError::PeerSentOversizedRecord,
            TlsError::NoApplicationProtocol,
            TlsError::BadMaxFragmentSize,
            TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch),
            TlsError::InconsistentKeys(InconsistentKeys::Unknown),
            TlsError::Other(OtherError(Arc::new(std::io::Error::other("NoSuchThing")))),
        ])
        .collect()
}

/// Fails if the message contains a Rust identifier, the general text for unknown variants, or Debug output.
fn check(message: &str, error: &dyn std::fmt::Debug) {
    for word in message.split(|c: char| !c.is_ascii_alphanumeric()) {
        let is_version = word.starts_with("TLS");
        assert!(!is_camel_case(word) || STANDARD.contains(&word) || is_version, "{error:?}: {message}");
    }
    for general in [
        "does not have the form that TLS requires",
        "violated the rules of the handshake",
        "requires a feature that this side does not support",
        "has no description",
        "cannot be used",
    ] {
        assert!(!message.contains(general), "{error:?}: {message}");
    }
    assert!(!message.contains(['{', '\\', '[']), "{error:?}: {message}");
}

#[test]
fn error_messages_contain_no_rust_identifiers() {
    let mut errors = others();
    errors.extend(invalid_messages().into_iter().map(TlsError::InvalidMessage));
    errors.extend(misbehaviours().into_iter().map(TlsError::PeerMisbehaved));
    errors.extend(incompatibilities().into_iter().map(TlsError::PeerIncompatible));
    let (certificates, lists, webpki_errors) = certificate_errors();
    errors.extend(certificates.into_iter().map(TlsError::InvalidCertificate));
    errors.extend(lists.into_iter().map(TlsError::InvalidCertRevocationList));
    for error in &errors {
        check(&other(error), error);
        for (is_server, handshaking, received_record, unread) in [
            (false, true, false, &b"HTTP/1.1 400"[..]),
            (false, true, true, b""),
            (false, false, true, b"\x15\x03\x03\x00\x02\x01\x00HTTP/1.1 400"),
            (true, true, false, b"\x16\x03\x01\x00\x05"),
            (true, false, true, b""),
        ] {
            let situation = SessionFacts {
                is_server,
                name: Some("a.example"),
                public_name: None,
                is_rejected: false,
                restrictions: Restrictions::default(),
                peer_request: None,
                handshaking,
                unread,
                received_record,
                newest_offered: Some(0x0302),
            };
            check(situation.explain(error, None).message(), error);
        }
    }
    for error in &webpki_errors {
        check(webpki(error), error);
    }
}

#[test]
fn camel_case_field_names_become_words() {
    for (name, words) in [
        ("ProtocolVersion", "protocol version"),
        ("SessionID", "session ID"),
        ("ECPointFormats", "EC point formats"),
        ("u16", "u16"),
        ("Random", "random"),
        ("HpkeKEM", "hpke KEM"),
        ("", ""),
    ] {
        assert_eq!(spaced(name), words, "{name}");
    }
    assert_eq!(without_identifiers("cannot parse a key: InvalidEncoding"), "cannot parse a key: invalid encoding");
}
