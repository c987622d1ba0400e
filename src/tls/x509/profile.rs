//! Checks rules of RFC 5280 that public authorities follow and older private authorities may violate.

use super::Certificate;

/// Returns the first rule that the certificate violates, as text for an error message. `is_leaf`: true for the peer's
/// own certificate.
pub(crate) fn broken_rule(certificate: &Certificate<'_>, is_leaf: bool) -> Option<&'static str> {
    let extensions = &certificate.extensions;
    let rules = [
        (
            is_positive(certificate.serial) && certificate.serial.len() <= 20,
            "its serial number is not positive, or is longer than 20 bytes (4.1.2.2)",
        ),
        (
            certificate.is_self_issued() || extensions.authority_key_id.is_some(),
            "it has no authorityKeyIdentifier (4.2.1.1)",
        ),
        (
            !certificate.subject.content.is_empty() || extensions.subject_alt_name.is_some(),
            "it has neither a subject nor a subjectAltName (4.1.2.6)",
        ),
    ];
    let of_authorities = [
        (extensions.subject_key_id.is_some(), "it has no subjectKeyIdentifier (4.2.1.2)"),
        (
            extensions.basic_constraints.is_some_and(|constraints| constraints.critical),
            "its basicConstraints are not marked critical (4.2.1.9)",
        ),
        (
            extensions.key_usage.is_some_and(|usage| usage.key_cert_sign()),
            "it may not sign certificates: its keyUsage lacks keyCertSign (4.2.1.3)",
        ),
        (!certificate.subject.content.is_empty(), "it is a CA certificate without a subject (4.1.2.6)"),
    ];
    let of_peers = [(
        extensions.key_usage.is_none_or(|usage| usage.digital_signature()),
        "it may not sign handshakes: its keyUsage lacks digitalSignature (4.2.1.3)",
    )];
    let of_authorities = of_authorities.iter().filter(|_| certificate.is_ca());
    let of_peers = of_peers.iter().filter(|_| is_leaf);
    rules.iter().chain(of_authorities).chain(of_peers).find(|(kept, _)| !kept).map(|(_, rule)| *rule)
}

fn is_positive(serial: &[u8]) -> bool {
    serial.first().is_some_and(|first| *first < 0x80) && serial.iter().any(|byte| *byte != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_positive_is_false_for_zero_and_negative_serial_numbers() {
        for (serial, positive) in [
            (&[1][..], true),
            (&[0x7f], true),
            (&[0, 0x80], true),
            (&[0], false),
            (&[0x80], false),
            (&[0xff, 1], false),
        ] {
            assert_eq!(is_positive(serial), positive, "{serial:?}");
        }
    }
}
