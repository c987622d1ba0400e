//! Checks rules of RFC 5280 that public authorities follow and older private authorities may violate.

use super::Certificate;

/// The role of a certificate in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A certificate that the peer sent: its own, or that of an intermediate authority.
    Sent,
    /// The peer's own certificate, which is itself trusted.
    TrustedPeer,
    /// The trusted certificate at the end of a chain.
    Anchor,
}

/// Returns the first rule that the certificate violates, as text for an error message.
pub(crate) fn broken_rule(certificate: &Certificate<'_>, role: Role) -> Option<&'static str> {
    let extensions = &certificate.extensions;
    let has_subject = !certificate.subject.content.is_empty();
    // Nine roots that Mozilla trusts have the serial number 0. A trusted certificate needs no key identifier to be
    // found.
    let of_issued = [
        (
            is_positive(certificate.serial) && certificate.serial.len() <= 20,
            "its serial number is not positive, or is longer than 20 bytes (4.1.2.2)",
        ),
        (
            certificate.is_self_issued() || extensions.authority_key_id.is_some(),
            "it has no authorityKeyIdentifier (4.2.1.1)",
        ),
    ];
    let of_chains = [
        (
            has_subject || extensions.subject_alt_name.is_some(),
            "it has neither a subject nor a subjectAltName (4.1.2.6)",
        ),
        (
            has_subject || extensions.is_subject_alt_name_critical,
            "it has no subject, and its subjectAltName is not marked critical (4.2.1.6)",
        ),
        (
            extensions.subject_alt_name.is_none_or(|names| !names.is_empty()),
            "its subjectAltName contains no name (4.2.1.6)",
        ),
        (
            certificate.is_ca()
                || extensions.basic_constraints.is_none_or(|constraints| constraints.path_len.is_none()),
            "it has a pathLenConstraint, but it is not a CA certificate (4.2.1.9)",
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
        (has_subject, "it is a CA certificate without a subject (4.1.2.6)"),
    ];
    // OpenSSL applies only this rule to a chain of one certificate.
    let of_all = [(
        certificate.is_ca() || extensions.key_usage.is_none_or(|usage| !usage.key_cert_sign()),
        "its keyUsage has keyCertSign, but it is not a CA certificate (4.2.1.3)",
    )];
    let of_issued = of_issued.iter().filter(|_| role == Role::Sent);
    let of_chains = of_chains.iter().filter(|_| role != Role::TrustedPeer);
    let of_authorities = of_authorities.iter().filter(|_| role != Role::TrustedPeer && certificate.is_ca());
    let rules = of_issued.chain(of_chains).chain(of_authorities).chain(&of_all);
    rules.copied().find(|(kept, _)| !kept).map(|(_, rule)| rule)
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

    /// `openssl verify -x509_strict` also refuses chains that end at a root without a subjectKeyIdentifier.
    #[test]
    fn all_roots_that_mozilla_trusts_except_one_obey_the_rules_for_anchors() {
        let broken: Vec<_> = webpki_root_certs::TLS_SERVER_ROOT_CERTS
            .iter()
            .filter_map(|der| {
                let root = Certificate::parse(der).unwrap();
                broken_rule(&root, Role::Anchor).map(|rule| (root.subject.for_message().to_string(), rule))
            })
            .collect();
        let twca = "CN=TWCA Global Root CA,OU=Root CA,O=TAIWAN-CA,C=TW".to_owned();
        assert_eq!(broken, [(twca, "it has no subjectKeyIdentifier (4.2.1.2)")]);
    }
}
