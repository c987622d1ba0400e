//! Describes errors in certificates and CRLs. The returned texts complete a sentence that begins with "the certificate"
//! or "the CRL".

use std::borrow::Cow;

use rustls::{CertRevocationListError, CertificateError};
use webpki::Error as WebpkiError;

use super::without_identifiers;

/// Returns text that completes a sentence that begins with "the certificate".
pub(crate) fn certificate(error: &CertificateError) -> Cow<'static, str> {
    use CertificateError as C;
    Cow::Borrowed(match error {
        C::BadEncoding => "is not valid DER",
        C::Expired | C::ExpiredContext { .. } => "has expired",
        C::NotValidYet | C::NotValidYetContext { .. } => "is not valid yet",
        C::Revoked => "has been revoked by its authority",
        C::UnhandledCriticalExtension => "has an unknown extension that is marked critical",
        C::UnknownIssuer => "was not issued by a trusted authority",
        C::UnknownRevocationStatus => "is not covered by any CRL",
        C::ExpiredRevocationList | C::ExpiredRevocationListContext { .. } => {
            "was issued by an authority whose CRL has expired"
        }
        C::BadSignature => "has a signature that was not made with its issuer's key",
        C::UnsupportedSignatureAlgorithmContext { .. }
        | C::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "is signed with an algorithm that is not supported"
        }
        C::NotValidForName | C::NotValidForNameContext { .. } => "is not valid for the expected name",
        C::InvalidPurpose | C::InvalidPurposeContext { .. } => "is not for this purpose",
        C::InvalidOcspResponse => "came with an invalid OCSP response",
        C::ApplicationVerificationFailure => "was not accepted",
        C::Other(error) => return without_identifiers(&error.to_string()).into(),
        // Variants that rustls has deprecated, and variants of later releases.
        _ => "was not accepted",
    })
}

/// Returns text that completes a sentence that begins with "a CRL".
pub(crate) fn revocation_list(error: &CertRevocationListError) -> Cow<'static, str> {
    use CertRevocationListError as C;
    Cow::Borrowed(match error {
        C::BadSignature => "has a signature that was not made with its issuer's key",
        C::UnsupportedSignatureAlgorithmContext { .. }
        | C::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "is signed with an algorithm that is not supported"
        }
        C::InvalidCrlNumber => "has an invalid number",
        C::InvalidRevokedCertSerialNumber => "has an invalid serial number",
        C::IssuerInvalidForCrl => "is from an issuer that may not sign CRLs",
        C::Other(error) => return without_identifiers(&error.to_string()).into(),
        C::ParseError => "is not valid DER",
        C::UnsupportedCrlVersion => "is not of version 2",
        C::UnsupportedCriticalExtension => "has an unknown extension that is marked critical",
        C::UnsupportedDeltaCrl => "is a delta CRL, which is not supported",
        C::UnsupportedIndirectCrl => "is an indirect CRL, which is not supported",
        C::UnsupportedRevocationReason => "has a revocation reason that is not supported",
        _ => "cannot be used",
    })
}

/// Returns text that completes a sentence that begins with "the certificate" or "the CRL".
pub(crate) fn webpki(error: &WebpkiError) -> &'static str {
    use WebpkiError as W;
    match error {
        W::BadDer => "is not valid DER",
        W::BadDerTime => "has an invalid time",
        W::CaUsedAsEndEntity => "is a CA certificate, not one of a server or a client",
        W::CertDistrusted => "is distrusted",
        W::CertExpired { .. } => "has expired",
        W::CertNotValidForName(_) => "is not valid for the expected name",
        W::CertNotValidYet { .. } => "is not valid yet",
        W::CertRevoked => "has been revoked by its authority",
        W::CrlExpired { .. } => "was issued by an authority whose CRL has expired",
        W::EmptyEkuExtension => "has an extendedKeyUsage extension without a purpose",
        W::EndEntityUsedAsCa => "has issued another certificate, but is not a CA certificate",
        W::ExtensionValueInvalid => "has an extension with an invalid value",
        W::InvalidCertValidity => "has a notAfter before its notBefore",
        W::InvalidCrlNumber => "has an invalid number",
        W::InvalidNetworkMaskConstraint => "has a name constraint with an invalid network mask",
        W::InvalidSerialNumber => "has an invalid serial number",
        W::InvalidCrlSignatureForPublicKey => "was issued by an authority whose CRL has a wrong signature",
        W::InvalidSignatureForPublicKey => "has a signature that was not made with its issuer's key",
        W::IssuerNotCrlSigner => "was issued by an authority that may not sign CRLs",
        W::MalformedDnsIdentifier => "has a malformed host name",
        W::MalformedExtensions => "has malformed extensions",
        W::MalformedNameConstraint => "has a malformed name constraint",
        W::MaximumNameConstraintComparisonsExceeded => "has too many names and name constraints to compare",
        W::MaximumPathBuildCallsExceeded => "has too many possible chains to try",
        W::MaximumPathDepthExceeded => "has too long a chain",
        W::MaximumSignatureChecksExceeded => "has too many signatures to check",
        W::NameConstraintViolation => "is for a name that an authority above it may not certify",
        W::PathLenConstraintViolated => "is further below an authority than its pathLenConstraint allows",
        W::RequiredEkuNotFoundContext(_) => "is not for this purpose (extendedKeyUsage)",
        W::SignatureAlgorithmMismatch => "names two different signature algorithms",
        W::TrailingData(_) => "has data after its end",
        W::UnknownIssuer => "was not issued by a trusted authority",
        W::UnknownRevocationStatus => "is not covered by any CRL",
        W::UnsupportedCertVersion => "is not of version 3",
        W::UnsupportedCriticalExtension => "has an unknown extension that is marked critical",
        W::UnsupportedCrlIssuingDistributionPoint => "has an issuing distribution point that is not supported",
        W::UnsupportedCrlVersion => "is not of version 2",
        W::UnsupportedDeltaCrl => "is a delta CRL, which is not supported",
        W::UnsupportedIndirectCrl => "is an indirect CRL, which is not supported",
        W::UnsupportedNameType => "has a name of a type that is not supported",
        W::UnsupportedRevocationReason => "has a revocation reason that is not supported",
        W::UnsupportedRevocationReasonsPartitioning => "is for some revocation reasons only, which is not supported",
        W::UnsupportedCrlSignatureAlgorithmContext(_) | W::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(_) => {
            "was issued by an authority whose CRL is signed with an unsupported algorithm"
        }
        W::UnsupportedSignatureAlgorithmContext(_) | W::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "is signed with an algorithm that is not supported"
        }
        _ => "cannot be used",
    }
}
