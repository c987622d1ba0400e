//! Describes rustls' and webpki's errors. The descriptions never contain a Rust identifier, which a C programmer could
//! not look up.
//!
//! Each description completes a sentence that the caller has begun, for example `the server "example.com" broke the TLS
//! protocol: it …`. The error enums are non-exhaustive, so each function ends with a general text for variants of later
//! releases; a test in `error_text/tests.rs` fails if a variant of the pinned releases gets the general text.

mod certificates;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rustls::{
    ContentType, EncryptedClientHelloError, Error as TlsError, HandshakeType, InconsistentKeys, InvalidMessage,
    PeerIncompatible, PeerMisbehaved,
};

pub(crate) use certificates::{certificate, revocation_list, webpki};

/// Returns text that completes a sentence that begins with "sent a malformed TLS message:".
pub(crate) fn invalid_message(error: &InvalidMessage) -> Cow<'static, str> {
    use InvalidMessage as M;
    Cow::Borrowed(match error {
        M::CertificatePayloadTooLarge => "its certificate chain is larger than 64 KiB",
        M::HandshakePayloadTooLarge => "a handshake message is larger than 64 KiB",
        M::InvalidCcs => "a change_cipher_spec message has a wrong value",
        M::InvalidContentType => "a record is of an unknown type",
        M::InvalidCertificateStatusType => "a certificate status is of an unknown type",
        M::InvalidCertRequest => "a certificate request has a context during the handshake",
        M::InvalidDhParams => "the Diffie-Hellman parameters of the key exchange are invalid",
        M::InvalidEmptyPayload => "a record that must have contents is empty",
        M::InvalidKeyUpdate => "a key update has an invalid value",
        M::InvalidServerName => "the server name is not a host name",
        M::MessageTooLarge => "a record or a field is larger than TLS allows",
        M::MessageTooShort => "a message is too short",
        M::MissingData(what) => return format!("{} is truncated", part(what)).into(),
        M::MissingKeyExchange => "a message of the key exchange came before a key exchange was chosen",
        M::NoSignatureSchemes => "a list of signature schemes is empty",
        M::TrailingData(what) => return format!("there is data after the end of {}", part(what)).into(),
        M::UnexpectedMessage(what) => return format!("{} is not allowed here", part(what)).into(),
        M::UnknownProtocolVersion => "a record names a protocol version that is not a version of TLS",
        M::UnsupportedCompression => "it chose compression, which is not offered",
        M::UnsupportedCurveType => "the key exchange has a curve of an unknown type",
        M::UnsupportedKeyExchangeAlgorithm(_) => "it chose an unknown key exchange",
        M::EmptyTicketValue => "a session ticket is empty",
        M::IllegalEmptyList(what) => return format!("{} is empty", part(what)).into(),
        M::IllegalEmptyValue => "a field that must have a value is empty",
        M::DuplicateExtension(number) => return format!("extension {number} occurs twice").into(),
        M::PreSharedKeyIsNotFinalExtension => "the pre_shared_key extension is not the last one",
        M::UnknownHelloRetryRequestExtension => "a HelloRetryRequest has an unknown extension",
        M::UnknownCertificateExtension => "a certificate message has an unknown extension",
        _ => "it does not have the form that TLS requires",
    })
}

/// Returns the name of the message field that rustls could not parse, in words.
fn part(name: &str) -> Cow<'static, str> {
    Cow::Borrowed(match name {
        "u8" | "u16" | "u24" | "u32" | "u64" => "a number",
        "Empty" => "an extension that has no contents",
        "SessionID" => "the session ID",
        "Random" => "the random value",
        "MessageHash" => "a message_hash message",
        "HelloRetryRequest" => "a HelloRetryRequest",
        "ClientHelloPayload" => "the ClientHello",
        "ServerHelloPayload" => "the ServerHello",
        "ClientExtensions" => "the extensions of the ClientHello",
        "ServerExtensions" => "the server's extensions",
        "NewSessionTicketExtensions" => "the extensions of a session ticket",
        "CertificateExtensions" => "the extensions of a certificate",
        "CertificateRequestExtensions" => "the extensions of a certificate request",
        "HandshakeMessagePayload" => "a handshake message",
        "AlertMessagePayload" => "an alert",
        "ChangeCipherSpecPayload" => "a change_cipher_spec message",
        "EndOfEarlyData" => "the end_of_early_data message",
        "ServerHelloDone" => "the server_hello_done message",
        "PskIdentities" => "the list of pre-shared keys",
        "PskBinders" => "the list of binders of pre-shared keys",
        "PskKeyExchangeModes" => "the list of modes of pre-shared keys",
        "ECPointFormats" => "the list of point formats",
        "SingleProtocolName" => "the ALPN protocol",
        "ProtocolNames" => "the list of ALPN protocols",
        "PayloadU8" | "PayloadU16" | "PayloadU24" => "a field",
        name => return format!("the field \"{}\"", spaced(name)).into(),
    })
}

/// Splits CamelCase identifiers in a text from rustls or aws-lc-rs into words, for example in "failed to parse RSA
/// private key: InvalidEncoding".
fn without_identifiers(text: &str) -> String {
    let words = text.split(' ').map(|word| if is_camel_case(word) { spaced(word) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns true if a capital letter follows a small letter in the word.
fn is_camel_case(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| matches!(pair, [b'a'..=b'z', b'A'..=b'Z']))
}

/// Splits a CamelCase identifier into words: "ProtocolVersion" becomes "protocol version". Abbreviations keep their
/// capitals.
fn spaced(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut text = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let neighbour = |at: Option<usize>| at.and_then(|at| letters.get(at)).copied().unwrap_or('A');
        let (before, after) = (neighbour(at.checked_sub(1)), neighbour(at.checked_add(1)));
        let begins_word = letter.is_ascii_uppercase() && (!before.is_ascii_uppercase() || after.is_ascii_lowercase());
        if begins_word && at > 0 {
            text.push(' ');
        }
        text.push(if begins_word && !after.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { *letter });
    }
    text
}

/// Returns text that completes a sentence that begins with "broke the TLS protocol: it".
pub(crate) fn peer_misbehaved(error: &PeerMisbehaved) -> &'static str {
    use PeerMisbehaved as M;
    match error {
        M::AttemptedDowngradeToTls12WhenTls13IsSupported => {
            "chose TLS 1.2 although it supports TLS 1.3: an attacker may have changed its answer"
        }
        M::BadCertChainExtensions => "sent an invalid extension with its certificate",
        M::CipherSuiteDifferedOnRetry | M::SelectedDifferentCipherSuiteAfterRetry => {
            "changed the cipher suite after a HelloRetryRequest"
        }
        M::DisallowedEncryptedExtension => "sent an extension that is not allowed among the encrypted extensions",
        M::DuplicateClientHelloExtensions
        | M::DuplicateEncryptedExtensions
        | M::DuplicateHelloRetryRequestExtensions
        | M::DuplicateNewSessionTicketExtensions
        | M::DuplicateServerHelloExtensions => "sent an extension twice",
        M::DuplicateServerNameTypes => "sent two server names of one type",
        M::EarlyDataAttemptedInSecondClientHello => "offered early data again after a HelloRetryRequest",
        M::EarlyDataExtensionWithoutResumption => "accepted early data without resuming the session",
        M::EarlyDataOfferedWithVariedCipherSuite => "accepted early data with another cipher suite",
        M::EchAcceptanceVariedAfterRetry => "changed its answer to Encrypted Client Hello after a HelloRetryRequest",
        M::HandshakeHashVariedAfterRetry => "changed the hash of the handshake after a HelloRetryRequest",
        M::IllegalHelloRetryRequestWithEmptyCookie => "sent a HelloRetryRequest with an empty cookie",
        M::IllegalHelloRetryRequestWithNoChanges => "sent a HelloRetryRequest that requires no change",
        M::IllegalHelloRetryRequestWithOfferedGroup => {
            "sent a HelloRetryRequest for a key-exchange group whose share it already had"
        }
        M::IllegalHelloRetryRequestWithUnofferedCipherSuite => {
            "sent a HelloRetryRequest with a cipher suite that was not offered"
        }
        M::IllegalHelloRetryRequestWithUnofferedNamedGroup => {
            "sent a HelloRetryRequest for a key-exchange group that was not offered"
        }
        M::IllegalHelloRetryRequestWithUnsupportedVersion => {
            "sent a HelloRetryRequest for a version that was not offered"
        }
        M::IllegalHelloRetryRequestWithWrongSessionId => "sent a HelloRetryRequest with another session ID",
        M::IllegalHelloRetryRequestWithInvalidEch => {
            "sent a HelloRetryRequest with an invalid answer to Encrypted Client Hello"
        }
        M::IllegalMiddleboxChangeCipherSpec => "sent a change_cipher_spec message where none is allowed",
        M::IllegalTlsInnerPlaintext => "sent an encrypted record without a content type",
        M::IncorrectBinder => "offered a session with a wrong binder, so it does not have the session's key",
        M::InvalidCertCompression => "sent a compressed certificate that does not decompress",
        M::InvalidMaxEarlyDataSize => "sent a ticket with an invalid limit for early data",
        M::InvalidKeyShare => "sent an invalid key share",
        M::KeyEpochWithPendingFragment => "changed its keys in the middle of a handshake message",
        M::KeyUpdateReceivedInQuicConnection => "sent a key update, which QUIC does not have",
        M::MessageInterleavedWithHandshakeMessage => "sent another message in the middle of a handshake message",
        M::MissingBinderInPskExtension => "offered a session without a binder",
        M::MissingKeyShare => "sent no key share",
        M::MissingPskExtensionInSecondClientHello => {
            "offered a session and did not offer it again after a HelloRetryRequest"
        }
        M::MissingPskModesExtension => "offered a session without the psk_key_exchange_modes extension",
        M::MissingQuicTransportParameters => "sent no QUIC transport parameters",
        M::OfferedDuplicateCertificateCompressions => "offered a certificate compression twice",
        M::OfferedDuplicateKeyShares => "sent two key shares of one group",
        M::OfferedEarlyDataWithOldProtocolVersion => "answered an offer of early data with TLS 1.2, which has none",
        M::OfferedEmptyApplicationProtocol => "offered an ALPN protocol without a name",
        M::OfferedIncorrectCompressions => "offered compression with TLS 1.3, which has none",
        M::PskExtensionMustBeLast => "sent the pre_shared_key extension before others",
        M::PskExtensionWithMismatchedIdsAndBinders => "offered a different number of sessions and binders",
        M::RefusedToFollowHelloRetryRequest => "did not make the change that a HelloRetryRequest required",
        M::RejectedEarlyDataInterleavedWithHandshakeMessage => "sent early data in the middle of a handshake message",
        M::ResumptionAttemptedWithVariedEms | M::ResumptionOfferedWithVariedEms => {
            "resumed a session with a change in its use of the extended master secret (RFC 7627)"
        }
        M::ResumptionOfferedWithVariedCipherSuite => "resumed a session with another cipher suite",
        M::ResumptionOfferedWithIncompatibleCipherSuite => "resumed a session with a cipher suite of another hash",
        M::SelectedInvalidPsk => "chose a session that was not offered",
        M::SelectedTls12UsingTls13VersionExtension => {
            "chose TLS 1.2 in the supported_versions extension, which is for TLS 1.3"
        }
        M::SelectedUnofferedApplicationProtocol => "chose an ALPN protocol that was not offered",
        M::SelectedUnofferedCertCompression => "chose a certificate compression that was not offered",
        M::SelectedUnofferedCipherSuite => "chose a cipher suite that was not offered",
        M::SelectedUnofferedCompression => "chose compression, which was not offered",
        M::SelectedUnofferedKxGroup => "chose a key-exchange group that was not offered",
        M::SelectedUnofferedPsk => "resumed a session although none was offered",
        M::SelectedUnusableCipherSuiteForVersion => "chose a cipher suite of another TLS version",
        M::ServerEchoedCompatibilitySessionId => "resumed a TLS 1.2 session although none was offered",
        M::ServerHelloMustOfferUncompressedEcPoints => "does not offer uncompressed points for elliptic curves",
        M::ServerNameDifferedOnRetry => "requested another server name after a HelloRetryRequest",
        M::ServerNameMustContainOneHostName => "sent a server name that is not one host name",
        M::SignedKxWithWrongAlgorithm => {
            "signed its key exchange with an algorithm that does not match the cipher suite"
        }
        M::SignedHandshakeWithUnadvertisedSigScheme => {
            "signed the handshake with a scheme that was not offered, or that does not match its certificate"
        }
        M::TooManyEmptyFragments => "sent too many empty records in a row",
        M::TooManyKeyUpdateRequests => "sent too many key updates in a row",
        M::TooManyRenegotiationRequests => "requested a renegotiation too many times",
        M::TooManyWarningAlertsReceived => "sent too many warning alerts",
        M::TooMuchEarlyDataReceived => "sent more early data than was allowed",
        M::UnexpectedCleartextExtension => "sent an extension in the clear that must be encrypted",
        M::UnsolicitedCertExtension => "sent an extension with its certificate that was not requested",
        M::UnsolicitedEncryptedExtension | M::UnsolicitedServerHelloExtension => {
            "sent an extension that was not requested"
        }
        M::UnsolicitedSctList => "sent certificate timestamps that were not requested",
        M::WrongGroupForKeyShare => "sent a key share of another group",
        M::UnsolicitedEchExtension => "answered an Encrypted Client Hello that was not offered",
        _ => "violated the rules of the handshake",
    }
}

/// Returns text that completes a sentence that begins with "this side cannot speak with the server: it".
pub(crate) fn peer_incompatible(error: &PeerIncompatible) -> &'static str {
    use PeerIncompatible as P;
    match error {
        P::EcPointsExtensionRequired | P::NoEcPointFormatsInCommon | P::UncompressedEcPointsRequired => {
            "does not offer uncompressed points for elliptic curves"
        }
        P::ExtendedMasterSecretExtensionRequired => "does not support the extended master secret (RFC 7627)",
        P::IncorrectCertificateTypeExtension => "wants a certificate of a type other than X.509",
        P::KeyShareExtensionRequired => "sent no key share (the key_share extension)",
        P::NamedGroupsExtensionRequired => "named no key-exchange groups (the supported_groups extension)",
        P::NoCertificateRequestSignatureSchemesInCommon | P::NoSignatureSchemesInCommon => {
            "has no signature scheme in common with this side"
        }
        P::NoCipherSuitesInCommon => "has no cipher suite in common with this side",
        P::NoKxGroupsInCommon => "has no key-exchange group in common with this side",
        P::NullCompressionRequired => "insists on compression, which is never used",
        P::ServerDoesNotSupportTls12Or13 => "offers neither TLS 1.2 nor TLS 1.3",
        P::ServerSentHelloRetryRequestWithUnknownExtension => "sent a HelloRetryRequest with an unknown extension",
        P::ServerTlsVersionIsDisabledByOurConfig => "chose a TLS version that the options exclude",
        P::SignatureAlgorithmsExtensionRequired => "named no signature schemes (the signature_algorithms extension)",
        P::SupportedVersionsExtensionRequired | P::Tls12NotOffered | P::Tls12NotOfferedOrEnabled => {
            "has no TLS version in common with this side"
        }
        P::Tls13RequiredForQuic => "does not offer TLS 1.3, which QUIC needs",
        P::UnsolicitedCertificateTypeExtension => "chose a certificate type that was not offered",
        P::ServerRejectedEncryptedClientHello(_) => "rejected Encrypted Client Hello",
        _ => "requires a feature that this side does not support",
    }
}

/// Describes any rustls error in a complete phrase, for callers without a sentence of their own.
pub(crate) fn other(error: &TlsError) -> Cow<'static, str> {
    use EncryptedClientHelloError as Ech;
    Cow::Borrowed(match error {
        TlsError::InappropriateMessage { expect_types, got_type } => {
            return unexpected(content_type(*got_type), expect_types.iter().map(|kind| content_type(*kind)));
        }
        TlsError::InappropriateHandshakeMessage { expect_types, got_type } => {
            return unexpected(handshake_type(*got_type), expect_types.iter().map(|kind| handshake_type(*kind)));
        }
        TlsError::InvalidEncryptedClientHello(Ech::InvalidConfigList) => "the ECHConfigList is invalid",
        TlsError::InvalidEncryptedClientHello(Ech::NoCompatibleConfig) => {
            "the ECHConfigList has no configuration that is supported here"
        }
        TlsError::InvalidEncryptedClientHello(Ech::SniRequired) => "Encrypted Client Hello needs a server name",
        TlsError::InvalidEncryptedClientHello(_) => "Encrypted Client Hello is not possible",
        TlsError::InvalidMessage(error) => return invalid_message(error),
        TlsError::NoCertificatesPresented => "the peer presented no certificate",
        TlsError::UnsupportedNameType => "the server name is of a type that is not supported",
        TlsError::DecryptError => "a record could not be decrypted",
        TlsError::EncryptError => "a record could not be encrypted",
        TlsError::PeerIncompatible(error) => peer_incompatible(error),
        TlsError::PeerMisbehaved(error) => return format!("the peer {}", peer_misbehaved(error)).into(),
        TlsError::AlertReceived(alert) => {
            let number = u8::from(*alert);
            return format!("the peer sent alert {number} ({})", crate::tls::config::code_points::alert(number))
                .into();
        }
        TlsError::InvalidCertificate(error) => return format!("the certificate {}", certificate(error)).into(),
        TlsError::InvalidCertRevocationList(error) => {
            return format!("the CRL {}", revocation_list(error)).into();
        }
        TlsError::General(why) => return without_identifiers(why).into(),
        TlsError::FailedToGetCurrentTime => "the system clock could not be read",
        TlsError::FailedToGetRandomBytes => "the system provided no random numbers",
        TlsError::HandshakeNotComplete => "the handshake is not complete",
        TlsError::PeerSentOversizedRecord => "a record is larger than TLS allows",
        TlsError::NoApplicationProtocol => "there is no ALPN protocol in common",
        TlsError::BadMaxFragmentSize => "the size of records is out of range",
        TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the private key does not belong to the certificate"
        }
        TlsError::InconsistentKeys(_) => "it is unknown whether the private key belongs to the certificate",
        TlsError::Other(error) => return without_identifiers(&error.to_string()).into(),
        _ => "of a failure that has no description",
    })
}

/// Describes an unexpected message, for example "it sent finished where certificate or certificate_request was
/// expected".
fn unexpected(got: String, expected: impl Iterator<Item = String>) -> Cow<'static, str> {
    let expected: Vec<_> = expected.collect();
    match expected.as_slice() {
        [] => format!("it sent {got}, which is not expected now").into(),
        expected => format!("it sent {got} where {} was expected", expected.join(" or ")).into(),
    }
}

/// Returns a description of the record's content type (RFC 8446 section 5.1).
fn content_type(kind: ContentType) -> String {
    let name = match kind {
        ContentType::ChangeCipherSpec => "change_cipher_spec",
        ContentType::Alert => "an alert",
        ContentType::Handshake => "a handshake message",
        ContentType::ApplicationData => "application data",
        ContentType::Heartbeat => "a heartbeat",
        other => return format!("a record of type {}", u8::from(other)),
    };
    name.to_owned()
}

/// Returns the handshake message's name in the IANA registry "TLS HandshakeType".
fn handshake_type(kind: HandshakeType) -> String {
    let name = match kind {
        HandshakeType::HelloRequest => "hello_request",
        HandshakeType::ClientHello => "client_hello",
        HandshakeType::ServerHello => "server_hello",
        HandshakeType::HelloVerifyRequest => "hello_verify_request",
        HandshakeType::NewSessionTicket => "new_session_ticket",
        HandshakeType::EndOfEarlyData => "end_of_early_data",
        HandshakeType::HelloRetryRequest => "hello_retry_request",
        HandshakeType::EncryptedExtensions => "encrypted_extensions",
        HandshakeType::Certificate => "certificate",
        HandshakeType::ServerKeyExchange => "server_key_exchange",
        HandshakeType::CertificateRequest => "certificate_request",
        HandshakeType::ServerHelloDone => "server_hello_done",
        HandshakeType::CertificateVerify => "certificate_verify",
        HandshakeType::ClientKeyExchange => "client_key_exchange",
        HandshakeType::Finished => "finished",
        HandshakeType::CertificateURL => "certificate_url",
        HandshakeType::CertificateStatus => "certificate_status",
        HandshakeType::KeyUpdate => "key_update",
        HandshakeType::CompressedCertificate => "compressed_certificate",
        HandshakeType::MessageHash => "message_hash",
        other => return format!("a handshake message of type {}", u8::from(other)),
    };
    name.to_owned()
}
