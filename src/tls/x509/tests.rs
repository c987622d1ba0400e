//! Compares real certificates with openssl's output. tests/certs/make.sh writes both.

use sha2::{Digest, Sha256};

use super::certificate::Certificate;
use super::der::Malformed;
use super::fingerprint::key_pin;
use super::general_name::GeneralName;
use super::public_key::{Hash, SignatureAlgorithm};
use super::time;
use crate::tls::credentials::pem;

macro_rules! shapes {
    ($($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("../../../tests/certs/shapes/", $name, ".pem")),
             include_str!(concat!("../../../tests/certs/shapes/", $name, ".txt")))),*]
    };
}

const SHAPES: &[(&str, &[u8], &str)] =
    shapes!["rich" "authority" "brainpool" "ed25519" "ed448" "md5" "pss" "pss-key" "dsa" "version1"];

const SERVER: &[u8] = include_bytes!("../../../tests/certs/server.der");

fn der_of(name: &str) -> Vec<u8> {
    let (_, pem, _) = SHAPES.iter().find(|shape| shape.0 == name).unwrap();
    pem::certificates(pem, name).unwrap()[0].to_vec()
}

/// Describes a certificate in the format of the files tests/certs/shapes/NAME.txt.
fn description(der: &[u8], certificate: &Certificate<'_>) -> String {
    let date = |seconds| time::utc(seconds).replace(" UTC", "Z");
    let digest: Vec<String> = Sha256::digest(der).iter().map(|byte| format!("{byte:02X}")).collect();
    let mut lines = vec![
        format!("serial={}", certificate.serial_text()),
        format!("subject={}", certificate.subject.text()),
        format!("issuer={}", certificate.issuer.text()),
        format!("notBefore={}", date(certificate.not_before)),
        format!("notAfter={}", date(certificate.not_after)),
        format!("sha256 Fingerprint={}", digest.join(":")),
        format!("Version: {} (0x{})", certificate.version, certificate.version - 1),
    ];
    let signature = format!("Signature Algorithm: {}", certificate.signature_algorithm.text());
    lines.push(signature.clone());
    // openssl prints no size for Ed25519 and Ed448 keys.
    if !certificate.public_key.algorithm().starts_with("ED") {
        lines.push(format!("Public-Key: ({} bit)", certificate.public_key.bits()));
        if let Some(curve) = certificate.public_key.curve() {
            lines.push(format!("ASN1 OID: {}", curve.name().to_str().unwrap()));
        }
        lines.push(signature);
    }
    lines.push(format!("Pin: {}", key_pin(certificate.public_key_info)));
    lines.join("\n")
}

#[test]
fn certificate_fields_equal_the_output_of_openssl() {
    for (name, _, expected) in SHAPES {
        let der = der_of(name);
        let certificate = Certificate::parse(&der).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
        assert_eq!(description(&der, &certificate), expected.join("\n"), "{name}");
        assert!(certificate.is_self_issued());
        let validity = certificate.not_before as u64..certificate.not_after as u64;
        assert_eq!(Certificate::validity_of(&der).unwrap(), validity, "{name}");
    }
}

#[test]
fn certificate_extensions_are_parsed() {
    let rich = der_of("rich");
    let rich = Certificate::parse(&rich).unwrap();
    let names: Vec<GeneralName<'_>> = rich.names().collect();
    assert_eq!(
        names,
        [
            GeneralName::Dns(b"example.com"),
            GeneralName::Dns(b"*.example.com"),
            GeneralName::Ip(&[192, 0, 2, 1]),
            GeneralName::Email(b"who@example.com"),
            GeneralName::Uri(b"https://example.com/a?b"),
            GeneralName::Ip(&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ]
    );
    let constraints = rich.extensions.basic_constraints.unwrap();
    assert_eq!((constraints.critical, constraints.ca, constraints.path_len), (false, false, None));
    let usage = rich.extensions.key_usage.unwrap();
    assert_eq!((usage.digital_signature(), usage.key_cert_sign(), usage.crl_sign()), (true, false, false));
    let purposes = rich.extensions.extended_key_usage.unwrap();
    assert_eq!(
        (purposes.any, purposes.server_auth, purposes.client_auth, purposes.others),
        (false, true, true, true)
    );
    assert!(!rich.is_ca());

    let authority = der_of("authority");
    let authority = Certificate::parse(&authority).unwrap();
    let constraints = authority.extensions.basic_constraints.unwrap();
    assert_eq!((constraints.critical, constraints.ca, constraints.path_len), (true, true, Some(3)));
    let usage = authority.extensions.key_usage.unwrap();
    assert_eq!((usage.digital_signature(), usage.key_cert_sign(), usage.crl_sign()), (false, true, true));
    assert!(authority.extensions.extended_key_usage.is_none() && authority.extensions.subject_alt_name.is_none());
    assert!(authority.is_ca());

    let old = der_of("version1");
    assert!(Certificate::parse(&old).unwrap().is_ca());
    assert_eq!(Certificate::parse(&old).unwrap().names().count(), 0);

    let server = Certificate::parse(SERVER).unwrap();
    let ca = pem::certificates(include_bytes!("../../../tests/certs/ca.pem"), "ca").unwrap();
    let ca = Certificate::parse(&ca[0]).unwrap();
    assert_eq!(server.issuer, ca.subject);
    assert_eq!(server.extensions.authority_key_id.unwrap(), ca.extensions.subject_key_id.unwrap());
    assert_ne!(server.public_key_info, ca.public_key_info);
    assert!(!server.is_self_issued() && !server.is_ca());
}

#[test]
fn md5_and_sha1_signatures_are_detected_as_broken() {
    for (name, hash, broken) in [
        ("md5", Some(Hash::Md5), true),
        ("brainpool", Some(Hash::Sha1), true),
        ("pss", Some(Hash::Sha256), false),
        ("pss-key", Some(Hash::Sha384), false),
        ("rich", Some(Hash::Sha384), false),
        ("ed25519", None, false),
    ] {
        let der = der_of(name);
        let algorithm = Certificate::parse(&der).unwrap().signature_algorithm;
        assert_eq!((algorithm.hash(), algorithm.hash().is_some_and(Hash::is_broken)), (hash, broken), "{name}");
    }
    let pss = der_of("pss");
    assert_eq!(Certificate::parse(&pss).unwrap().signature_algorithm, SignatureAlgorithm::RsaPss(Hash::Sha256));
}

#[test]
fn certificate_parse_errors_state_the_byte_offset() {
    let error = |der: &[u8]| Certificate::parse(der).unwrap_err();
    assert_eq!(error(b""), Malformed { what: "the certificate", at: 0 });
    assert_eq!(error(&SERVER[..100]), Malformed { what: "the certificate", at: 0 });
    let longer = [SERVER, b"x"].concat();
    assert_eq!(error(&longer), Malformed { what: "the end of the certificate", at: SERVER.len() });
    // The offset of the month in notBefore.
    let at = SERVER.windows(6).position(|window| window == b"200101").unwrap();
    let mut wrong = SERVER.to_vec();
    wrong[at + 2] = b'2';
    assert_eq!(error(&wrong), Malformed { what: "the validity", at });
}

/// Parses a certificate and calls the functions that format or interpret its fields. Returns false if the certificate
/// cannot be parsed.
fn ask(der: &[u8]) -> bool {
    let Ok(certificate) = Certificate::parse(der) else { return false };
    let texts = certificate.names().map(|name| name.text());
    let texts = texts.chain([
        certificate.subject.text(),
        certificate.issuer.text(),
        certificate.serial_text(),
        certificate.signature_algorithm.text(),
        certificate.public_key.algorithm(),
    ]);
    for text in texts {
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
    time::utc(certificate.not_before);
    let _ = (certificate.is_ca(), certificate.public_key.bits());
    true
}

#[test]
fn parsing_corrupted_certificates_never_panics() {
    for (name, _, _) in SHAPES {
        let der = der_of(name);
        assert!(ask(&der));
        for end in 0..der.len() {
            assert!(!ask(&der[..end]), "{name} of {end} bytes");
        }
        let mut altered = der.clone();
        let mut readable = 0;
        for at in 0..der.len() {
            for bits in [0x01, 0x20, 0x80, 0xff] {
                altered[at] = der[at] ^ bits;
                readable += usize::from(ask(&altered));
            }
            altered[at] = der[at];
        }
        // Many altered certificates can be parsed, because the bytes of the key and the signature may have any value.
        assert!(readable > der.len(), "{name}: {readable}");
    }
}
