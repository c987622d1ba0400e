//! Tests which authorities are loaded from the application's sources, the system's store and the built-in list.

use super::*;
use crate::status::Status;

const CA: &[u8] = include_bytes!("../../../../tests/certs/ca.pem");

fn set(custom: &[Source], system: bool, environment: &Environment) -> Result<Trust> {
    load(&TrustConfig { custom, system, ..TrustConfig::default() }, environment)
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certs").join(path)
}

#[test]
fn authorities_are_loaded_only_from_the_configured_sources() {
    let custom = [Source::Data(CA.to_vec().into())];
    let environment = Environment { file: Some(file("other-ca.pem")), directories: vec![] };
    let alone = set(&custom, false, &environment).unwrap();
    assert_eq!((alone.sources, alone.anchors.len()), (CUSTOM, 1));
    let both = set(&custom, true, &environment).unwrap();
    assert_eq!((both.sources, both.anchors.len()), (CUSTOM | SYSTEM, 2));
    let system = set(&[], true, &environment).unwrap();
    assert_eq!((system.sources, system.anchors.len()), (SYSTEM, 1));
    assert_eq!(set(&[], false, &environment).unwrap().sources, 0);
}

#[test]
fn system_or_built_in_roots_are_loaded_without_environment_variables() {
    let trust = set(&[], true, &Environment::default()).unwrap();
    assert!(trust.sources == SYSTEM || trust.sources == EMBEDDED);
    assert!(trust.anchors.len() > 50);
}

#[test]
fn built_in_authorities_replace_a_missing_or_empty_system_store() {
    let roots = webpki_roots::TLS_SERVER_ROOTS.len();
    let empty = || vec![("/etc/ssl/certs".into(), LoadedAnchors::default())];
    let own = [Source::File(file("ca.pem"))];
    for (custom, system, embedded, sources, anchors) in [
        (&[][..], Some(vec![]), false, EMBEDDED, roots),
        (&[], Some(empty()), false, EMBEDDED, roots),
        (&own, Some(vec![]), false, CUSTOM | EMBEDDED, 1 + roots),
        (&own, None, false, CUSTOM, 1),
        (&[], None, false, 0, 0),
        (&[], None, true, EMBEDDED, roots),
    ] {
        let config = TrustConfig { custom, system: system.is_some(), embedded, ..TrustConfig::default() };
        let trust = load_with(&config, || Ok(system.unwrap_or_default())).unwrap();
        assert_eq!((trust.sources, trust.anchors.len()), (sources, anchors));
    }
}

#[test]
fn a_missing_ssl_cert_file_is_an_error_unless_ssl_cert_dir_has_certificates() {
    let environment = Environment { file: Some("/nonexistent.pem".into()), directories: vec![file("")] };
    // As in OpenSSL, a missing SSL_CERT_FILE is no error if the directory SSL_CERT_DIR contains certificates.
    assert_eq!(set(&[], true, &environment).unwrap().sources, SYSTEM);
    let environment = Environment { file: Some("/nonexistent.pem".into()), directories: vec![] };
    let error = set(&[], true, &environment).err().unwrap();
    assert_eq!(error.status(), Status::NoTrustAnchors);
    assert!(error.message().contains("/nonexistent.pem"), "{error}");
}

#[test]
fn ca_files_without_certificates_cause_an_error() {
    let missing = set(&[Source::File(file("nonexistent.pem"))], false, &Environment::default()).err().unwrap();
    assert_eq!((missing.status(), missing.errno()), (Status::Io, 2));
    for (path, status) in [("make.sh", Status::InvalidPem), ("server.key", Status::InvalidPem)] {
        let error = set(&[Source::File(file(path))], false, &Environment::default()).err().unwrap();
        assert_eq!(error.status(), status);
        assert!(error.message().contains(path), "{error}");
    }
    let truncated = set(&[Source::Data(CA[..100].to_vec().into())], false, &Environment::default()).err().unwrap();
    assert_eq!(truncated.status(), Status::InvalidPem);
}

/// Returns the kind, the name, the number of anchors and the skipped certificates of each source.
fn summary(trust: &Trust) -> Vec<(i32, &str, usize, Vec<&str>)> {
    trust
        .loaded
        .iter()
        .map(|loaded| {
            let skipped = loaded.skipped().iter().map(|text| text.to_str().unwrap()).collect();
            (loaded.kind(), loaded.name().to_str().unwrap(), loaded.anchors(), skipped)
        })
        .collect()
}

#[test]
fn loaded_sources_are_listed_with_their_number_of_anchors() {
    let environment = Environment { file: Some(file("other-ca.pem")), directories: vec!["/nonexistent".into()] };
    let other = std::fs::read(file("other-ca.pem")).unwrap();
    let both = [CA, &other, CA].concat();
    let custom = [Source::Data(both.into()), Source::File(file("ca.pem"))];
    let trust =
        load(&TrustConfig { custom: &custom, system: true, embedded: true, ..TrustConfig::default() }, &environment)
            .unwrap();
    let roots = webpki_roots::TLS_SERVER_ROOTS.len();
    let (ca, other) = (file("ca.pem"), file("other-ca.pem"));
    assert_eq!(
        summary(&trust),
        [
            (CUSTOM, "CA data", 2, vec![]),
            (CUSTOM, ca.to_str().unwrap(), 1, vec![]),
            (SYSTEM, other.to_str().unwrap(), 1, vec![]),
            (SYSTEM, "/nonexistent", 0, vec!["cannot read directory: No such file or directory"]),
            (EMBEDDED, "embedded", roots, vec![]),
        ]
    );
    assert_eq!((trust.sources, trust.anchors.len()), (CUSTOM | SYSTEM | EMBEDDED, 2 + roots));
    assert_eq!(trust.custom.len(), 2);
    assert!(trust.custom.is_sorted_by_key(|certificate| certificate.as_ref()));

    let trust = load(&TrustConfig { embedded: true, ..TrustConfig::default() }, &Environment::default()).unwrap();
    assert_eq!((trust.sources, trust.anchors.len(), trust.custom.len()), (EMBEDDED, roots, 0));
}

#[test]
fn unusable_certificates_in_the_systems_store_are_skipped() {
    let broken = b"-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n";
    let mut loaded = LoadedAnchors::default();
    let cut = b"-----BEGIN CERTIFICATE-----\nMIIB\n";
    loaded.add_store(&[broken, &cut[..], CA, broken].concat());
    assert!(!loaded.is_empty());
    let (anchors, skipped) = loaded.into_parts();
    assert_eq!((anchors.anchors().len(), skipped.len()), (1, 3));
}

#[test]
fn at_most_100_skipped_certificates_are_listed_and_the_rest_counted() {
    let elements = [0x30, 0].repeat(1000);
    let error = set(&[Source::Data(elements.clone().into())], false, &Environment::default()).err().unwrap();
    let expected = "CA data contains no usable certificate: certificate 0 cannot be \
                    read: the signed part at its byte 2; and 999 more";
    assert_eq!((error.status(), error.message()), (Status::InvalidPem, expected));

    let der = pem::certificates(CA, "CA").unwrap();
    let data = [&elements, der[0].as_ref()].concat();
    let trust = set(&[Source::Data(data.into())], false, &Environment::default()).unwrap();
    let skipped = trust.loaded[0].skipped();
    assert_eq!((skipped.len(), skipped[100].to_str().unwrap()), (101, "900 more"));
}

/// A certificate that netlib's parser cannot read is skipped, because its restrictions could not be enforced.
#[test]
fn unparsable_certificates_are_not_trusted() {
    let trust = set(&[Source::File(file("verify/odd.pem"))], false, &Environment::default()).unwrap();
    let skipped: Vec<_> = trust.loaded[0].skipped().iter().map(|text| text.to_str().unwrap()).collect();
    assert_eq!((trust.anchors.len(), skipped), (1, vec!["certificate 0 cannot be read: keyUsage at its byte 301"]));
}

/// A renewed root has the name and the key of the old root, and belongs to the same anchor.
#[test]
fn the_certificate_that_expires_last_is_kept_for_a_renewed_root() {
    let old = pem::certificates(CA, "CA data").unwrap().remove(0);
    let replaced = |from: &[u8], to: &[u8]| {
        let at = memchr::memmem::rfind(&old, from).unwrap();
        let mut der = old.to_vec();
        der[at..at + from.len()].copy_from_slice(to);
        der
    };
    let older = replaced(b"21200101000000Z", b"21190101000000Z");
    let newer = replaced(b"21200101000000Z", b"21210101000000Z");
    for order in [[&older, &newer], [&newer, &older]] {
        let custom: Vec<_> =
            [&old.to_vec(), order[0], order[1]].into_iter().map(|der| Source::Data(der.clone().into())).collect();
        let config = TrustConfig { custom: &custom, keeps_certificates: true, ..TrustConfig::default() };
        let trust = load(&config, &Environment::default()).unwrap();
        assert_eq!((trust.anchors.len(), trust.kept), (1, vec![Some(newer.clone())]));
    }
}
